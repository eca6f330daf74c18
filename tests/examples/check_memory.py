#!/usr/bin/env python3
"""Profiles a program that wastes device memory, and the same program mended as advised: the peak
that is predicted of the first is the one that the second has, to the byte.

    check_memory.py --warplens CMD --nvcc NVCC --work DIR WASTEFUL.cu MENDED.cu
"""
import argparse
import json
import os
import subprocess
import sys


def run(command):
    done = subprocess.run(command, capture_output=True, check=False, text=True, timeout=240)
    if done.returncode:
        print("FAIL:", command, "\nstdout:", done.stdout[-3000:], "\nstderr:", done.stderr[-3000:])
        sys.exit(1)
    return done.stdout


def stats(o, source):
    program = os.path.join(o.work, os.path.basename(source)[:-3])
    run([o.nvcc, "-g", "-lineinfo", "-o", program, source])
    run([o.warplens, "profile", "-q", "-f", "-o", program + ".wlprof", "--", program])
    return json.loads(run([o.warplens, "stats", "--format", "json", program + ".wlprof"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("warplens", "nvcc", "work"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("wasteful")
    parser.add_argument("mended")
    o = parser.parse_args()
    os.makedirs(o.work, exist_ok=True)
    wasteful, mended = stats(o, o.wasteful)["memory"], stats(o, o.mended)["memory"]
    print("%d bytes at the peak, %d predicted; mended %d, %d predicted" % (
        wasteful["peak_bytes"], wasteful["peak_bytes_after"], mended["peak_bytes"], mended["peak_bytes_after"]))
    if not wasteful["peak_bytes_after"] == mended["peak_bytes"] == mended["peak_bytes_after"] < wasteful["peak_bytes"]:
        print("FAIL: what is predicted is not what the mended program takes")
        sys.exit(1)


main()
