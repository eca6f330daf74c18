#!/usr/bin/env python3
"""The explorer's own figures for compute capability 9.0 against the counters of an H200.

    test_requests.py WARPLENS EXPLORED NVCC WORK DATA.csv

The emulator runs requests.cu with `--set sequences`; EXPLORED (explored.c) adds up what the
explorer makes of each request, launch by launch; DATA is what the hardware counted (count.py).
No GPU is needed.
"""
import csv
import os
import subprocess
import sys

COLUMNS = ("global_loads", "global_stores", "load_requests", "store_requests", "shared_loads", "shared_stores", "load_conflicts",
           "store_conflicts")
# Where warps load and store at once, the hardware counts further wavefronts of stores, and as many
# conflicts: from launch to launch another number, at most this in what was measured. Most likely a
# store that finds the banks busy with another warp's load takes its turn again.
COLLISIONS = 16


def expected(row, name, ours):
    """What the hardware may count where the explorer says `ours`: from, to."""
    if row["kernel"] == "mixed<16>" and name in ("shared_loads", "load_conflicts"):
        # Of two loads that cost the same ptxas drops one, of what was stored right before.
        return ours // 2, ours // 2
    if row["kernel"].startswith("mixed") and name in ("shared_stores", "store_conflicts"):
        return ours, ours + COLLISIONS
    return ours, ours


def differences_of(row, ours):
    """The columns of a launch that differ, in words."""
    collisions = set()
    for name in COLUMNS:
        theirs, mine = row[name], int(ours[name])
        if not theirs:
            continue
        least, most = expected(row, name, mine)
        if not least <= int(theirs) <= most:
            yield f"launch {row['launch']} {row['kernel']}: {name} {mine}, the hardware counts {theirs}"
        if name in ("shared_stores", "store_conflicts"):
            collisions.add(int(theirs) - mine)
    if len(collisions) > 1:
        yield f"launch {row['launch']} {row['kernel']}: wavefronts of stores differ by something else than conflicts"


def main():
    warplens, explored, nvcc, work, data = sys.argv[1:6]
    os.makedirs(work, exist_ok=True)
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "requests.cu")
    program, profile = os.path.join(work, "requests"), os.path.join(work, "requests.wlprof")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("WARPLENS_")}
    subprocess.run([nvcc, "-std=c++17", "-arch=sm_90", "-o", program, source], check=True)
    subprocess.run([warplens, "profile", "-q", "--backend", "emulate", "--device", "h200", "--set", "sequences", "--heat-launches", "0",
                    "-f", "-o", profile, "--", program], check=True, env=environment, stdout=subprocess.DEVNULL)
    ours = list(csv.DictReader(subprocess.run([explored, profile], check=True, capture_output=True, text=True).stdout.splitlines()))
    with open(data) as file:
        theirs = list(csv.DictReader(line for line in file if not line.startswith("#")))
    if len(theirs) != len(ours) or not theirs:
        sys.exit(f"FAIL: {len(ours)} launches, {len(theirs)} were measured")
    wrong = [text for row in theirs for text in differences_of(row, ours[int(row["launch"])])]
    compared = sum(1 for row in theirs for name in COLUMNS if row[name])
    print(f"{compared} sums of {len(theirs)} launches compared, {len(wrong)} differ")
    if wrong:
        sys.exit("\n".join(["FAIL", *wrong[:40]]))


if __name__ == "__main__":
    main()
