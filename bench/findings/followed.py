#!/usr/bin/env python3
"""What findings said of ordinary programs, and what came when the advice was followed as it reads.

    bench/findings/followed.py FOLLOWED.csv [--warplens PATH] [--nvcc PATH] [--only NAME]
        [--compare KNOWN.csv]

FOLLOWED has the program before, the one that follows, and the remedy of the finding that it
follows. All runs are in the emulator, on the CPU: times are the model's, none is measured. It fails
where the two do not print the same, to the bit, where the finding stays as large, or where the time
that came is not in the range that was said.
"""
import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
FOLLOWED = [
    ("aos", "aos_split", "split-records"),
    ("colmv", "colmv_transposed", "transpose-data"),
    ("transpose", "transpose_padded", "pad-shared-array"),
    ("hist", "hist_copies", "private-copies"),
    ("stencil", "stencil_wide", "widen-blocks"),
    ("batched", "batched_transposed", "transpose-data"),
    ("batched_transposed", "batched_all", "let-lanes-take-neighbours"),
    ("gather", "gather_sorted", "renumber-index"),
    ("softmax", "softmax_transposed", "transpose-data"),
    ("softmax_transposed", "softmax_smaller", "start-smaller-blocks"),
]
COLUMNS = ["before", "after", "pattern", "remedy", "tried", "excess_before", "excess_after", "before_us", "said_us", "low_us", "high_us", "came_us"]


def profiled(o, folder, name):
    """What it prints, and what stats has to say of it."""
    program = os.path.join(folder, name)
    if not os.path.exists(program):
        subprocess.run([o.nvcc, "-O3", "-lineinfo", "-arch=sm_90", "-o", program, os.path.join(HERE, "followed", name + ".cu")], check=True)
    done = subprocess.run([o.warplens, "profile", "-q", "-f", "--backend", "emulate", "--device", "h200", "-o", program + ".wlprof", "--", program],
                          check=True, capture_output=True, text=True)
    stats = subprocess.run([o.warplens, "stats", "--format", "json", program + ".wlprof"], check=True, capture_output=True, text=True).stdout
    return done.stdout, json.loads(stats)


def excess(stats, pattern):
    keys = ("excess_sectors", "excess_wavefronts", "excess_instructions")
    return sum(f.get(key, 0) for f in stats["findings"] if f["pattern"] == pattern for key in keys)


def said_of(stats, remedy):
    """The group that saves most of those with the remedy, and what is said of it."""
    found = []
    for group in stats["groups"]:
        first = next(f for f in stats["findings"] if f["number"] == group["number"])
        at = next((i for i, r in enumerate(first.get("remedies", [])) if r["name"] == remedy), None)
        if at is not None:
            told = first["remedies"][at]
            found.append((group["gain"] if at == 0 else told["gain"], group["pattern"], told["counted"]))
    return max(found, key=lambda one: one[0]["seconds"])


def row_of(o, folder, before, after, remedy):
    printed, stats = profiled(o, folder, before)
    same, changed = profiled(o, folder, after)
    gain, pattern, tried = said_of(stats, remedy)
    came = changed["launches"][0]["model"]["seconds"]
    left = excess(changed, pattern)
    wrong = [text for bad, text in ((printed != same, "prints something else"), (left >= excess(stats, pattern), "has the finding as before"),
                                    (not gain["after_low"] <= came <= gain["after_high"], "does not take what was said")) if bad]
    times = [gain["before"], gain["after"], gain["after_low"], gain["after_high"], came]
    return [before, after, pattern, remedy, "yes" if tried else "no", excess(stats, pattern), left, *(f"{1e6 * t:.1f}" for t in times)], wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("followed")
    parser.add_argument("--warplens", default="warplens")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--only", action="append", metavar="NAME", help="this program before; repeatable")
    parser.add_argument("--compare", metavar="KNOWN.csv", help="fail where rows differ from those")
    o = parser.parse_args()
    bad, rows = 0, []
    with tempfile.TemporaryDirectory() as folder:
        for before, after, remedy in FOLLOWED:
            if o.only and before not in o.only:
                continue
            row, wrong = row_of(o, folder, before, after, remedy)
            rows.append([str(cell) for cell in row])
            bad += len(wrong)
            print(*row, *(f"FAIL: {after} {text}" for text in wrong), flush=True)
    with open(o.followed, "w", newline="") as f:
        csv.writer(f, lineterminator="\n").writerows([COLUMNS, *rows])
    if o.compare:
        with open(o.compare, newline="") as f:
            known = list(csv.reader(f))
        other = [row for row in rows if row not in known]
        print(f"{len(other)} rows other than in {o.compare}: {other}")
        bad += len(other)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
