#!/usr/bin/env python3
"""Gains that findings predict, and what such changes were measured to be worth.

    bench/model/gains.py GAINS.csv [--warplens PATH] [--nvcc PATH] [--sizes small]
    bench/model/gains.py --show GAINS.csv

advised.csv names the changes of pairs.csv that do what a finding advises. The program before the
change is profiled in the emulator; of the findings with that pattern in its kernels the one that
saves most gives the predicted speed-up of its kernel.
"""
import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile

import measure
import predict

COLUMNS = ["program", "before", "after", "size", "pattern", "verdict", "predicted"]
NOTHING = 1.1  # changes worth less, either way, have no sign


def advised():
    with open(os.path.join(measure.HERE, "advised.csv"), newline="") as f:
        return list(csv.DictReader(f))


def finding(profile, warplens, pattern):
    """Verdict and predicted speed-up; none: no such finding."""
    text = subprocess.run([warplens, "stats", "--format", "json", profile], check=True, capture_output=True, text=True).stdout
    groups = [g for g in json.loads(text)["groups"]
              if g["pattern"] == pattern and not any(k.startswith(("prepare_", "harness_")) for k in g["kernels"])]
    best = max(groups, key=lambda g: g["gain"]["seconds"], default=None)
    return (best["verdict"], 1 / (1 - best["gain"]["of_kernel"])) if best else ("none", 1.0)


def predict_gains(o):
    times, known = predict.read(o.times, "warm"), {}
    with tempfile.TemporaryDirectory() as folder:
        rows = [row for row in advised() if not o.only or row["program"] in o.only]
        if not o.programs:
            predict.build(o.nvcc, folder, sorted({row["program"] for row in rows}))
        for row in rows:
            sizes = sorted(s for p, v, s in times if (p, v) == (row["program"], row["before"]))
            for size in sizes[:1] if o.sizes == "small" else sizes:
                profile = os.path.join(o.profiles or folder, f"{row['program']}.{row['before']}.{size}.wlprof")
                if not os.path.exists(profile):
                    command = [os.path.join(o.programs or folder, row["program"]), row["before"], str(size)]
                    subprocess.run([o.warplens, "profile", "-q", "--backend", "emulate", "--device", "h200", "-o", profile, "--",
                                    *command], check=True, stdout=subprocess.DEVNULL)
                verdict, ratio = finding(profile, o.warplens, row["pattern"])
                known[row["program"], row["before"], row["after"], str(size)] = [row["pattern"], verdict, f"{ratio:.3f}"]
    with open(o.gains, "w", newline="") as f:
        writer = csv.writer(f, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows([*key, *values] for key, values in known.items())


def read_gains(path):
    with open(path, newline="") as f:
        return list(csv.DictReader(f))


def compare(path, known):
    """Says which rows are not those of the table; how many."""
    rows = {tuple(row[c] for c in COLUMNS[:4]): row for row in read_gains(known)}
    other = [row for row in read_gains(path) if rows.get(tuple(row[c] for c in COLUMNS[:4])) != row]
    print("\n".join([*(f"{row}, not so in {known}" for row in other), f"{len(other)} gains other than in {known}"]))
    return len(other)


def is_wrong(measured, predicted):
    return max(measured, 1 / measured) > NOTHING and max(predicted, 1 / predicted) > NOTHING and (measured > 1) != (predicted > 1)


def show(o):
    """True where the median error is small, ranks agree, and no sign is wrong."""
    times = predict.read(o.times, "warm")
    measured, expected, wrong, missed = [], [], 0, 0
    for row in read_gains(o.gains):
        before, after = ((row["program"], row[at], int(row["size"])) for at in ("before", "after"))
        m, p = float(times[before][0]) / float(times[after][0]), float(row["predicted"])
        bad, hidden = is_wrong(m, p), m > NOTHING and row["verdict"] != "full"
        measured.append(m)
        expected.append(p)
        wrong += bad
        missed += hidden
        print(f"{row['program']:10} {row['size']:>9} {row['before']:>18} to {row['after']:20} {row['pattern']:18} {row['verdict']:7}"
              f"predicted {p:7.2f}x, measured {m:7.2f}x{'  WRONG SIGN' if bad else '  MISSED' if hidden else ''}")
    errors, rank = [abs(p / m - 1) for m, p in zip(measured, expected, strict=True)], predict.rank_correlation(measured, expected)
    print(f"{len(errors)} changes: median error {100 * statistics.median(errors):.0f} %, rank correlation {rank:.3f}, {wrong} of the wrong "
          f"sign, {missed} worth more than a tenth and told to gain little, or not at all")
    return predict.is_good(errors, rank) and not wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gains")
    parser.add_argument("--warplens", default="warplens")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--programs", help="folder where they were built before")
    parser.add_argument("--profiles", help="folder for profiles, which are taken where they are there")
    parser.add_argument("--only", action="append", metavar="PROGRAM", help="this program; repeatable")
    parser.add_argument("--sizes", choices=("small", "all"), default="all")
    parser.add_argument("--times", default=os.path.join(measure.HERE, "times.csv"))
    parser.add_argument("--compare", metavar="FILE.csv", help="fail where gains differ from those")
    parser.add_argument("--show", action="store_true", help="what was predicted before")
    o = parser.parse_args()
    if not o.show:
        predict_gains(o)
    if o.compare:
        sys.exit(1 if compare(o.gains, o.compare) else 0)
    sys.exit(0 if show(o) else 1)


if __name__ == "__main__":
    main()
