#!/usr/bin/env python3
"""Profiles a program that wastes device memory, and the same program mended as advised: the
patterns are found, and the peak that is predicted of the first is the one that the second has, to
the byte.

    check_memory.py --warplens CMD --nvcc NVCC --work DIR [--probes A,B] [--thresholds "A=1 ..."]
        [--patterns "PATTERN OBJECT|..."] [--peaks BYTES,BYTES] WASTEFUL.cu MENDED.cu

Each is an example, too: the findings are those that the comments in its source name. That elements
are accessed unevenly counts as found, too, where another finding on the object has it as evidence.
"""
import re
import sys

import check_example


def patterns_of(stats):
    """{"pattern object"} of the findings."""
    found = set()
    for f in stats["findings"]:
        variable = re.split(r"[ (]", str(f.get("object", "-")))[0]
        found.add("%s %s" % (f["pattern"], variable))
        if "variation" in f.get("evidence", {}):
            found.add("non-uniform-access %s" % variable)
    return found


def main():
    o = check_example.options(**{"wasteful": {}, "mended": {}, "--patterns": {"default": ""}, "--peaks": {}})
    wasteful, mended = (check_example.measure(o, check_example.build(o, s)) for s in (o.wasteful, o.mended))
    good = [check_example.compare(s, source) for s, source in ((wasteful, o.wasteful), (mended, o.mended))]
    for pattern in sorted(set(filter(None, o.patterns.split("|"))) - patterns_of(wasteful)):
        print("FAIL: not found:", pattern)
        good.append(False)
    before, after = wasteful["memory"], mended["memory"]
    print("%d bytes at the peak, %d predicted; mended %d, %d predicted" % (
        before["peak_bytes"], before["peak_bytes_after"], after["peak_bytes"], after["peak_bytes_after"]))
    if not before["peak_bytes_after"] == after["peak_bytes"] == after["peak_bytes_after"] < before["peak_bytes"]:
        print("FAIL: what is predicted is not what the mended program takes")
        good.append(False)
    if o.peaks and o.peaks != "%d,%d" % (before["peak_bytes"], after["peak_bytes"]):
        print("FAIL: the table has the peaks", o.peaks)
        good.append(False)
    if not all(good):
        sys.exit(1)


main()
