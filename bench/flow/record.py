#!/usr/bin/env python3
"""Adds to proven.csv what `warplens ptx --summary` says about the PTX of a corpus.

record.py WARPLENS CORPUS COMPILER PTX... : CORPUS and COMPILER are names for the table, e.g. cuda-samples@c94ff36 and
"nvcc 13.0 -O3 sm_90". Only numbers are recorded; nothing of the corpus is kept.
"""
import csv
import datetime
import json
import pathlib
import subprocess
import sys

COLUMNS = ["date", "compiler", "corpus", "files", "kernels", "duplicates", "independent", "half_or_more", "less_than_half",
           "none", "no_memory", "accesses", "proven", "independent_percent", "proven_percent", "reasons"]


def percent(part, whole):
    return f"{100 * part / whole:.1f}" if whole else ""


def main():
    warplens, corpus, compiler, *files = sys.argv[1:]
    done = subprocess.run([warplens, "ptx", "--summary", "--format", "json", *files], stdout=subprocess.PIPE)
    totals = json.loads(done.stdout)["totals"]
    reasons = sorted(totals.pop("reasons"), key=lambda r: -r["accesses"])
    row = {name: totals[name] for name in COLUMNS if name in totals}
    row["files"] -= totals["unread"]
    row.update(
        date=datetime.date.today().isoformat(), compiler=compiler, corpus=corpus,
        independent_percent=percent(totals["independent"], totals["kernels"]),
        proven_percent=percent(totals["proven"], totals["accesses"]),
        reasons="; ".join(f"{r['through']} {r['reason']} {r['accesses']} in {r['kernels']}" for r in reasons))
    table = pathlib.Path(__file__).with_name("proven.csv")
    new = not table.exists()
    with table.open("a", newline="") as out:
        writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow(row)


main()
