#!/usr/bin/env python3
"""Predicts the times of bench/model's programs without a GPU, and compares with those measured.

    bench/model/predict.py --warplens WARPLENS [--programs BUILT] [--sizes small] PREDICTED.csv
    bench/model/predict.py --show PREDICTED.csv

A prediction is what the device works. The times were taken between two events in a stream that
had nothing else to do, so that what such events add to an empty kernel is added to each prediction
first.

Every variant runs once under `warplens profile --backend emulate`; its time is the sum of what the
model says of its launches, those of the program's preparation (prepare_...) left out.
"""
import argparse
import collections
import csv
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile

import measure

SAME = 0.01  # of a prediction that is made anew
MOST_ERROR, LEAST_RANK = 0.2, 0.9  # the median, of times and of changes; the rank correlation of either
FEWEST = 10
COLUMNS = ["program", "variant", "size", "seconds", "low", "high", "bound"]


def chosen(path, sizes, only):
    """Variants and sizes that were measured."""
    with open(path, newline="") as f:
        rows = [(row["program"], row["variant"], int(row["size"])) for row in csv.DictReader(f)]
    least = {}
    for program, _, size in rows:
        least[program] = min(size, least.get(program, size))
    return [row for row in rows if (sizes == "all" or (row[2] == least[row[0]]) == (sizes == "small")) and (not only or row[0] in only)]


def build(nvcc, folder, programs):
    for program in programs:
        subprocess.run([nvcc, "-std=c++17", "-O3", "-lineinfo", "-arch=sm_90", "-allow-unsupported-compiler", "-o",
                        os.path.join(folder, program), os.path.join(measure.HERE, "programs", program + ".cu")], check=True)


def models(warplens, command, folder):
    profile = os.path.join(folder, "model.wlprof")
    subprocess.run([warplens, "profile", "-q", "--backend", "emulate", "--device", "h200", "-f", "-o", profile, "--", *command],
                   check=True, stdout=subprocess.DEVNULL)
    text = subprocess.run([warplens, "stats", "--format", "json", profile], check=True, capture_output=True, text=True).stdout
    return [launch["model"] for launch in json.loads(text)["launches"] if not launch["kernel"].startswith("prepare_")]


def predict(o):
    rows = chosen(o.times, o.sizes, o.only)
    with tempfile.TemporaryDirectory() as folder:
        programs = o.programs or folder
        if not o.programs:
            build(o.nvcc, folder, sorted({program for program, _, _ in rows}))
        with open(o.predicted, "w", newline="") as f:
            table = csv.writer(f, lineterminator="\n")
            table.writerow(COLUMNS)
            for program, variant, size in rows:
                of = models(o.warplens, [os.path.join(programs, program), variant, str(size)], folder)
                longest = max(of, key=lambda model: model["seconds"])
                table.writerow([program, variant, size, *(f"{sum(model[key] for model in of):.9f}" for key in ("seconds", "low", "high")),
                                longest["bound"]])
                f.flush()


def read(path, *columns):
    with open(path, newline="") as f:
        return {(row["program"], row["variant"], int(row["size"])): [row[name] for name in columns] for row in csv.DictReader(f)}


def events():
    """What two events add to a kernel, in a stream that waits for it."""
    with open(os.path.join(measure.HERE, "..", "..", "devices", "h200.json")) as f:
        figures = json.load(f)["measured"]["figures"]
    return figures["launch_timed_idle"][0] - figures["launch_by_itself"][0]


def as_timed(predicted):
    added = events()
    return {key: [*(float(value) + added for value in row[:3]), row[3]] for key, row in predicted.items()}


def ranks(values):
    order = sorted(range(len(values)), key=lambda i: values[i])
    found = [0.0] * len(values)
    first = 0
    while first < len(order):
        end = first
        while end < len(order) and values[order[end]] == values[order[first]]:
            end += 1
        for i in order[first:end]:
            found[i] = (first + end - 1) / 2
        first = end
    return found


def rank_correlation(a, b):
    """Spearman's: equal values share a rank."""
    return statistics.correlation(ranks(a), ranks(b)) if len(a) > 1 else math.nan


def is_good(errors, rank):
    return statistics.median(errors) <= MOST_ERROR and rank >= LEAST_RANK


def print_times(times, predicted):
    ratios = {key: float(predicted[key][0]) / float(times[key][0]) for key in predicted}
    for key in sorted(ratios, key=lambda key: (key[0], key[2], key[1])):
        print(f"{key[0]:10} {key[1]:28} {key[2]:9} measured {float(times[key][0]) * 1e6:10.1f} us, predicted {float(predicted[key][0]) * 1e6:10.1f} us, "
              f"{ratios[key]:6.2f}  {predicted[key][3]}")
    errors = [abs(ratio - 1) for ratio in ratios.values()]
    rank = rank_correlation([float(times[key][0]) for key in ratios], [float(predicted[key][0]) for key in ratios])
    off = sorted(max(ratio, 1 / ratio) for ratio in ratios.values())
    print(f"{len(off)} times: median error {100 * statistics.median(errors):.0f} %, 90 % within {off[int(len(off) * 0.9)]:.2f}x, "
          f"rank correlation {rank:.3f}")
    print_residuals(residuals(times, predicted))
    return is_good(errors, rank)


def residuals(times, predicted):
    """Measured over predicted, by what bounds it: how many, where the middle eight of ten lie."""
    by_bound = collections.defaultdict(list)
    for key, row in predicted.items():
        for bound in row[3], "":
            by_bound[bound].append(float(times[key][0]) / float(row[0]))
    found = {}
    for bound, ratios in by_bound.items():
        ratios.sort()
        found[bound] = (len(ratios), *(ratios[round(part * (len(ratios) - 1))] for part in (0.1, 0.9)))
    return found


def print_residuals(found):
    for bound, (count, low, high) in sorted(found.items()):
        print(f"bound by {bound or 'any':10} {count:3} times, measured over predicted from {low:.2f} to {high:.2f}")


def write_residuals(path, found, ratios):
    """A row for each resource; one that bounds few launches has that of all. And one of changes."""
    with open(os.path.join(measure.HERE, "..", "..", "src", "analysis", "model", "resources.def")) as f:
        resources = re.findall(r'^(?:X|PIPE)\((\w+), "(\w+)"', f.read(), re.M)
    rows = []
    for name, key in resources:
        launches, _, low, high = found[key] if found.get(key, (0, 0))[1] >= FEWEST else found[""]
        rows.append(f"X({name}, {min(low, 1):.2f}, {max(high, 1):.2f}, {launches})\n")
    low, high = (sorted(ratios)[round(part * (len(ratios) - 1))] for part in (0.1, 0.9))
    rows.append(f"CHANGES({low:.2f}, {high:.2f}, {len(ratios)})\n")
    with open(path, "w") as f:
        f.write("/* Measured over predicted seconds of launches that a resource bounds, where eight of ten lie:\n"
                " * X(ID, low, high, launches). Made by bench/model/foreign.py --residuals from foreign programs; a\n"
                f" * resource that bounds those of fewer than {FEWEST} programs has the row of all. CHANGES: the same of measured\n"
                " * over predicted speed-ups, by the pairs of predict.py. */\n#ifndef CHANGES\n#define CHANGES(low, high, changes)\n#endif\n" + "".join(rows) + "#undef CHANGES\n")


def changes(times, predicted):
    """Of each pair at each size: pair, size, what the change was worth, what was predicted."""
    for pair in measure.pairs():
        for program, variant, size in sorted(predicted):
            before, after = (program, variant, size), (program, pair["after"], size)
            if (program, variant) == (pair["program"], pair["before"]) and after in predicted:
                yield pair, size, *(float(rows[before][0]) / float(rows[after][0]) for rows in (times, predicted))


def ratios_of_changes():
    """Measured over predicted, of the tables that are kept."""
    times = read(os.path.join(measure.HERE, "times.csv"), "warm")
    predicted = as_timed(read(os.path.join(measure.HERE, "predicted.csv"), "seconds", "low", "high", "bound"))
    return [m / p for _, _, m, p in changes(times, predicted)]


def print_changes(times, predicted):
    measured, expected, errors, wrong = [], [], [], 0
    for pair, size, m, p in changes(times, predicted):
        measured.append(m)
        expected.append(p)
        errors.append(abs(p / m - 1))
        if max(m, 1 / m) > 1.1 and (m > 1) != (p > 1):
            wrong += 1
            print(f"wrong sign: {pair['program']} {size}, {pair['before']} to {pair['after']}: measured {m:.2f}x, predicted {p:.2f}x")
    rank = rank_correlation(measured, expected)
    print(f"{len(errors)} changes: median error {100 * statistics.median(errors):.0f} %, rank correlation {rank:.3f}, {wrong} of the wrong "
          "sign where the change exceeds a tenth")
    return is_good(errors, rank)


def differing(path, predicted):
    """Predictions that are not those of the table."""
    known = read(path, "seconds")
    for key, row in predicted.items():
        if abs(float(row[0]) / float(known[key][0]) - 1) > SAME:
            yield f"{key}: {row[0]} s, {known[key][0]} s in {path}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("predicted")
    parser.add_argument("--warplens", default="warplens")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--programs", help="folder where they were built before")
    parser.add_argument("--sizes", choices=("small", "large", "all"), default="all")
    parser.add_argument("--only", action="append", metavar="PROGRAM", help="this program; repeatable")
    parser.add_argument("--compare", metavar="FILE.csv", help="fail where predictions differ from those")
    parser.add_argument("--times", default=os.path.join(measure.HERE, "times.csv"))
    parser.add_argument("--state", choices=("warm", "cold"), default="warm", help="with what they access in L2, or with L2 empty")
    parser.add_argument("--show", action="store_true", help="what was predicted before")
    o = parser.parse_args()
    if not o.show:
        predict(o)
    times, predicted = read(o.times, o.state), read(o.predicted, "seconds", "low", "high", "bound")
    unknown = [key for key in predicted if key not in times]
    if unknown:
        sys.exit(f"{o.predicted}: not measured: {unknown}")
    if o.compare:
        wrong = list(differing(o.compare, predicted))
        print("\n".join([*wrong, f"{len(predicted)} predictions, {len(wrong)} other than in {o.compare}"]))
        sys.exit(1 if wrong else 0)
    predicted = as_timed(predicted)
    good = [print_times(times, predicted), print_changes(times, predicted)]
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
