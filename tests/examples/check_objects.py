#!/usr/bin/env python3
"""`stats --objects` of examples/stages/stages_kept.cu, whose calls are few enough to count them.

    check_objects.py --warplens CMD --nvcc NVCC --work DIR SOURCE.cu
"""
import argparse
import csv
import io
import json
import os
import re
import subprocess

MIB = 1 << 20


def run(command):
    return subprocess.run(command, capture_output=True, check=True, text=True, timeout=240).stdout


def expected(source):
    """Of each object: bytes, first and last access, patterns, what following one saves; the calls
    that make and free it."""
    with open(source) as f:
        lines = list(f)

    def at(api, text):
        line = next(i for i, code in enumerate(lines, 1) if text in code)
        return f"{api} ({os.path.basename(source)}:{line})"

    square, smooth = at("square", "square<<<"), at("smooth", "smooth<<<")
    lives = {
        "in": (MIB, at("cudaMemset", "cudaMemset("), square, ["late-deallocation", "dead-write"], None),
        "mid": (MIB, square, smooth, [], None),
        "out": (MIB, smooth, at("cudaMemcpy", "cudaMemcpy(results"), ["early-allocation", "redundant-allocation"], MIB),
        "spare": (MIB // 2, None, None, ["unused-allocation"], MIB // 2),
    }
    return lives, {name: (at("cudaMalloc", f"cudaMalloc(&{name}"), at("cudaFree", f"cudaFree({name})"))
                   for name in lives}


def check(condition, *what):
    if not condition:
        raise SystemExit(f"FAIL: {what}")


def check_object(row, want, calls):
    size, first, last, patterns, saves = want
    check(row["bytes"] == row["bytes_at_peak"] == size, row)
    check((row.get("first_access"), row.get("last_access")) == (first, last), row)
    check((row["allocated_by"], row["freed_by"]) == calls, row)
    check(row.get("patterns", []) == patterns and row.get("saves_bytes") == saves, row)
    check(row["calls_alive"] == 8, row)  # they are freed in the order of their allocation


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("warplens", "nvcc", "work"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("source")
    o = parser.parse_args()
    os.makedirs(o.work, exist_ok=True)
    program = os.path.join(o.work, "program")
    run([o.nvcc, "-g", "-lineinfo", "-o", program, o.source])
    run([o.warplens, "profile", "-q", "-f", "-o", program + ".wlprof", "--", program])
    stats = [o.warplens, "stats", program + ".wlprof"]
    objects = {row["name"].split()[0]: row for row in json.loads(run([*stats, "--format", "json"]))["objects"]}
    wanted, calls = expected(o.source)
    for name, want in wanted.items():
        check_object(objects[name], want, calls[name])
    table = csv.DictReader(io.StringIO(run([*stats, "--objects", "--format", "csv"])))
    for row in table:
        same = objects[row["name"].split()[0]]
        check(row["patterns"] == ", ".join(same.get("patterns", [])), row)
        check(row["first_access"] == same.get("first_access", ""), row)
        check(row["bytes_at_peak"] == str(same["bytes_at_peak"]), row)
    text = run([*stats, "--objects", "--width", "200"])
    check(re.findall(r"^  (\w+) \(", text, re.M) == ["in", "mid", "out", "spare"], text)
    check("late-deallocation, dead-write" in text and "512 KiB" in text, text)


main()
