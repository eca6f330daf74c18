#!/usr/bin/env python3
"""Checks that a remedy that was tried comes true: the example that follows the advice.

    check_remedy.py --warplens CMD --nvcc NVCC --work DIR BEFORE.cu AFTER.cu REMEDY COUNT

Of the finding whose first remedy is REMEDY, the counts after it (COUNT: sectors or wavefronts) must
be those of the same instructions in AFTER, which must pass its own check: exactly, since all
addresses follow from the launch. Where the compiler makes another number of requests of AFTER, that
holds of the count for each request.
"""
import json
import os
import subprocess
import sys


def arguments():
    names = {"--warplens": None, "--nvcc": None, "--work": None}
    rest = []
    given = iter(sys.argv[1:])
    for word in given:
        if word in names:
            names[word] = next(given)
        else:
            rest.append(word)
    return names["--warplens"], names["--nvcc"], names["--work"], *rest


def profile(warplens, nvcc, work, source):
    program = os.path.join(work, os.path.basename(source)[:-3])
    path = program + ".wlprof"
    subprocess.run([nvcc, "-g", "-lineinfo", "-o", program, source], check=True)
    subprocess.run([warplens, "profile", "-q", "-f", "-o", path, "--", program], check=True, stdout=subprocess.DEVNULL)
    return json.loads(subprocess.run([warplens, "stats", "--format", "json", path], check=True, capture_output=True, text=True).stdout)


def counted(stats, finding, remedy, count):
    """Requests and counts of the instructions that the remedy is about, of the finding's kernel."""
    rows = [i for i in stats["instructions"] if i["kernel"] == finding["kernel"]]
    if remedy == "pad-shared-array": # the only one of the kernel
        rows = [i for i in rows if i["space"] == "shared"]
    return sum(i["requests"] for i in rows), sum(i.get(count, 0) for i in rows)


def main():
    warplens, nvcc, work, before, after, remedy, count = arguments()
    os.makedirs(work, exist_ok=True)
    stats = profile(warplens, nvcc, work, before)
    findings = [f for f in stats["findings"] if f.get("remedies") and f["remedies"][0]["name"] == remedy]
    if not findings:
        sys.exit(f"FAIL: no finding of {before} is advised to {remedy}")
    finding = findings[0]
    tried = finding["remedies"][0]
    if not tried["counted"] or tried["advice"] != finding["advice"]:
        sys.exit("FAIL: the remedy was not tried, or something else is advised")
    now = counted(stats, finding, remedy, count)
    then = counted(profile(warplens, nvcc, work, after), finding, remedy, count)
    print(f"{tried['advice']}\nrequests, {count}: {now} before; {tried['after']} after, as tried; {then} in {os.path.basename(after)}")
    if (tried["before"]["requests"], tried["before"][count]) != now:
        sys.exit(f"FAIL: the counts before are {tried['before']}")
    if tried["after"][count] * then[0] != then[1] * tried["after"]["requests"]:
        sys.exit("FAIL: the program that follows the advice does otherwise")


main()
