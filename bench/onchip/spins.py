#!/usr/bin/env python3
"""How near the model's formula for sums of floating point in shared memory comes to spins.csv.

    bench/onchip/spins.py [SPINS.csv [DEVICE.json]]

The formula (docs/model.md) is that of src/analysis/model/atomics.c and predict.c, written anew,
with the figures that were measured of the device. Told is what it gives, in parts of what was
measured: where eight of ten cases lie, the median and all.
"""
import csv
import json
import os
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
LANES = 32
# Suffix of the figures and words of an element.
TYPES = {"float": ("f32", 1), "double": ("f64", 2)}


def figures_of(path):
    with open(path, encoding="utf-8") as file:
        return {name: values[0] for name, values in json.load(file)["measured"]["figures"].items()}


def clocks_of(case, figures):
    """Of a multiprocessor for a request of a warp: what its passes take and what its warps wait,
    which the model adds."""
    suffix, wide = TYPES[case["type"]]
    warps, words, tries = int(case["threads"]) / LANES, int(case["words"]), float(case["wavefronts"])
    apart = LANES / figures[f"shared_atomic_lanes_{suffix}"]
    bank = LANES / figures[f"shared_atomic_bank_{suffix}"]
    of_pass = max(0, (bank / LANES - apart / wide) / (LANES - wide))
    passes = tries ** 2 / (2 if words == 1 else 1)
    busy = tries * (apart / wide - of_pass * wide) + passes * of_pass
    others = max(0, LANES * warps / words - tries)
    waits = tries * figures[f"shared_atomic_latency_{suffix}"] + others / figures[f"shared_atomic_same_{suffix}"]
    return busy + waits / (warps * int(case["blocks_of_sm"]))


def parts_of(spins, device):
    """What the formula gives of what each case took, ascending."""
    figures = figures_of(device)
    with open(spins, encoding="utf-8", newline="") as file:
        return sorted(clocks_of(case, figures) / float(case["clocks"]) for case in csv.DictReader(file))


def tenths_of(parts):
    """What one of ten, two of ten ... nine of ten cases are below."""
    return statistics.quantiles(parts, n=10, method="inclusive")


def main():
    given = sys.argv[1:] + [None, None]
    parts = parts_of(given[0] or os.path.join(HERE, "spins.csv"), given[1] or os.path.join(HERE, "..", "..", "devices", "h200.json"))
    tenths = tenths_of(parts)
    print(f"{len(parts)} cases: the formula gives {tenths[0]:.2f} to {tenths[-1]:.2f} of what eight of ten take, "
          f"{tenths[4]:.2f} in the median, {parts[0]:.2f} to {parts[-1]:.2f} of all")


if __name__ == "__main__":
    main()
