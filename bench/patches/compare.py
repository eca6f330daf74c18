#!/usr/bin/env python3
"""compare.py PROFILE.json COUNTS.jsonl [--differ]: what warplens says of a run's launches (`stats
--format json`) beside what Nsight Compute counted in another run of the program
(tools/oracle/report.py), instruction by instruction. Prints CSV: of each launch and counter how
many instructions have the same count, how many another, and the sums. --differ prints the
instructions that differ instead."""
import argparse
import collections
import csv
import json
import sys

COUNTERS = {"sectors": ("global", "sectors"), "sectors_min": ("global", "sectors_ideal"),
            "wavefronts": ("shared", "wavefronts"), "wavefronts_min": ("shared", "wavefronts_ideal")}
ACCESSES = ("LD", "ST", "ATOM", "RED")
INSTRUCTION = 16  # bytes


def rows_by_launch(profile):
    found = collections.defaultdict(collections.Counter)
    for row in profile["instructions"]:
        for ours, (space, _) in COUNTERS.items():
            if row["space"] == space:
                found[row["launch"]][row["pc"] * INSTRUCTION, ours] += row[ours]
    return found


def compared(launch, ours, counted):
    """(counter, pc, opcode, ours, theirs) where either is not zero."""
    if (launch["grid"], launch["block"]) != (counted["grid"], counted["block"]):
        sys.exit(f"launch {launch['id']} is another one: the runs do not pair")
    for i, (pc, opcode) in enumerate(zip(counted["pcs"], counted["opcodes"], strict=True)):
        if not opcode.startswith(ACCESSES) or opcode.startswith("LDL"):
            continue
        for name, (_, theirs) in COUNTERS.items():
            pair = ours[pc, name], counted["counts"].get(theirs, [0] * (i + 1))[i]
            if any(pair):
                yield name, pc, opcode, *pair


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("profile")
    parser.add_argument("counts")
    parser.add_argument("--differ", action="store_true")
    args = parser.parse_args()
    with open(args.profile, encoding="utf-8") as f:
        profile = json.load(f)
    with open(args.counts, encoding="utf-8") as f:
        counts = [json.loads(line) for line in f]
    ours, out = rows_by_launch(profile), csv.writer(sys.stdout, lineterminator="\n")
    launches = sorted(profile["launches"], key=lambda one: one["id"])
    if len(launches) != len(counts):
        sys.exit(f"{len(launches)} launches, and {len(counts)} that were counted: the runs do not pair")
    out.writerow(["launch", "kernel", "way"] + (["pc", "opcode", "counter", "warplens", "ncu"] if args.differ
                                               else ["counter", "equal", "differ", "warplens", "ncu"]))
    for launch, counted in zip(launches, counts, strict=True):
        head = [launch["id"], launch["kernel"].split("<")[0].split("::")[-1].removeprefix("void "), launch.get("way", "none")]
        rows = list(compared(launch, ours[launch["id"]], counted))
        for row in rows if args.differ else ():
            if row[3] != row[4]:
                out.writerow([*head, hex(row[1]), row[2], row[0], *row[3:]])
        for name in () if args.differ else COUNTERS:
            pairs = [row[3:] for row in rows if row[0] == name]
            if pairs:
                equal = sum(a == b for a, b in pairs)
                out.writerow([*head, name, equal, len(pairs) - equal, sum(a for a, _ in pairs), sum(b for _, b in pairs)])


if __name__ == "__main__":
    main()
