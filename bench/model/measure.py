#!/usr/bin/env python3
"""Times the programs of bench/model on this machine's GPU.

    bench/model/measure.py [--nvcc NVCC] [--programs BUILT] [--processes 3] TIMES.csv
    bench/model/measure.py --show TIMES.csv      the pairs and what each change was worth

TIMES.csv gets a row for each variant and size: the median of the processes' medians of fifteen
launches, with what they access in L2 (warm) and with L2 emptied before (cold), the lowest and the
highest of the processes, and the GPU, driver and date. It fails where the two of a pair
(pairs.csv) do not compute the same.
"""
import argparse
import csv
import datetime
import glob
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def build(nvcc, folder):
    for source in sorted(glob.glob(os.path.join(HERE, "programs", "*.cu"))):
        subprocess.run([nvcc, "-std=c++17", "-O3", "-lineinfo", "-arch=native", "-o",
                        os.path.join(folder, os.path.basename(source)[:-3]), source], check=True)
    return folder


def times(folder, processes):
    rows = {}
    for source in sorted(glob.glob(os.path.join(HERE, "programs", "*.cu"))):
        program = os.path.join(folder, os.path.basename(source)[:-3])
        for _ in range(processes):
            for line in subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines():
                one = json.loads(line)
                rows.setdefault((one["program"], one["variant"], one["size"]), []).append(one)
    return rows


def pairs():
    with open(os.path.join(HERE, "pairs.csv"), newline="") as f:
        return list(csv.DictReader(f))


def unequal(rows):
    """Pairs that do not compute the same."""
    results = {key: runs[0]["result"] for key, runs in rows.items()}
    for pair in pairs():
        sizes = sorted(size for program, variant, size in rows if (program, variant) == (pair["program"], pair["before"]))
        for size in sizes:
            before, after = (results[pair["program"], pair[which], size] for which in ("before", "after"))
            if not math.isclose(before, after, rel_tol=1e-3) or before == 0:
                yield f"{pair['program']} {size}: {pair['before']} gives {before}, {pair['after']} {after}"


def gpu():
    text = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], check=True,
                          capture_output=True, text=True).stdout
    return [part.strip() for part in text.splitlines()[0].split(",")]


def write(path, rows):
    name, driver = gpu()
    with open(path, "w", newline="") as f:
        table = csv.writer(f)
        table.writerow(["program", "variant", "size", "warm", "warm_low", "warm_high", "cold", "cold_low", "cold_high", "gpu", "driver",
                        "date"])
        for (program, variant, size), runs in rows.items():
            figures = []
            for state in "warm", "cold":
                values = [run[state] for run in runs]
                figures += [f"{one:.9f}" for one in (statistics.median(values), min(values), max(values))]
            table.writerow([program, variant, size, *figures, name, driver, datetime.date.today().isoformat()])


def speedups(path):
    """Of each pair and size: how many times faster it got, with a warm and with an empty L2."""
    with open(path, newline="") as f:
        rows = {(row["program"], row["variant"], int(row["size"])): row for row in csv.DictReader(f)}
    for pair in pairs():
        found = sorted(size for program, variant, size in rows if (program, variant) == (pair["program"], pair["before"]))
        if len(found) != 2:
            sys.exit(f"{path}: not both sizes of {pair['program']} {pair['before']}")
        for size in found:
            before, after = (rows[pair["program"], pair[which], size] for which in ("before", "after"))
            yield pair, size, *(float(before[state]) / float(after[state]) for state in ("warm", "cold"))


def show(path):
    gains = []
    for pair, size, warm, cold in speedups(path):
        gains.append(warm)
        print(f"{pair['program']:10} {size:9} {warm:8.2f}x warm {cold:8.2f}x cold  {pair['before']} to {pair['after']}: {pair['change']}")
    print(f"{len(gains)} changes: {sum(gain > 1.1 for gain in gains)} faster by more than a tenth, "
          f"{sum(gain < 1 / 1.1 for gain in gains)} slower, {sum(1 / 1.1 <= gain <= 1.1 for gain in gains)} neither")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("times")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--programs", help="folder where they were built before")
    parser.add_argument("--processes", type=int, default=3)
    parser.add_argument("--show", action="store_true", help="what was measured before")
    o = parser.parse_args()
    if o.show:
        show(o.times)
        return
    with tempfile.TemporaryDirectory() as folder:
        rows = times(o.programs or build(o.nvcc, folder), o.processes)
    write(o.times, rows)
    wrong = list(unequal(rows))
    print("\n".join(wrong + [f"{len(rows)} rows, {len(pairs())} pairs, {len(wrong)} of them not the same"]))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
