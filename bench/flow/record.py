#!/usr/bin/env python3
"""Adds to proven.csv what `warplens ptx --summary` says about the PTX of a corpus, and draws
results.md from all of it.

record.py WARPLENS CORPUS COMPILER FILE... : CORPUS and COMPILER are names for the table, e.g.
cuda-samples@c94ff36 and "nvcc 13.0 -O3 sm_90"; FILEs are PTX or programs that hold it. Only numbers
are recorded; nothing of the corpus is kept.
record.py without arguments only draws results.md.
"""
import csv
import datetime
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
TABLE, PAGE = HERE / "proven.csv", HERE / "results.md"
COLUMNS = ["date", "compiler", "corpus", "files", "kernels", "duplicates", "independent", "half_or_more", "less_than_half",
           "none", "no_memory", "accesses", "proven", "independent_percent", "proven_percent", "reasons"]
HEAD = """# How much is proven

Kernels whose control flow and addresses follow from the launch alone (*independent*: replay needs no probe), and memory
instructions that do. Drawn by `record.py` from `proven.csv`, the newest row of each corpus; `warplens ptx --summary FILE...`
prints the same for any PTX, or any program that holds it. docs/flow.md says what is taken for dependent, and why.

"""


def percent(part, whole):
    return f"{100 * part / whole:.1f}" if whole else ""


def measure(warplens, corpus, compiler, files):
    done = subprocess.run([warplens, "ptx", "--summary", "--format", "json", *files], stdout=subprocess.PIPE, check=False)
    totals = json.loads(done.stdout)["totals"]
    reasons = sorted(totals.pop("reasons"), key=lambda r: -r["accesses"])
    row = {name: totals[name] for name in COLUMNS if name in totals}
    row["files"] -= totals["unread"]
    row.update(
        date=datetime.date.today().isoformat(), compiler=compiler, corpus=corpus,
        independent_percent=percent(totals["independent"], totals["kernels"]),
        proven_percent=percent(totals["proven"], totals["accesses"]),
        reasons="; ".join(f"{r['through']} {r['reason']} {r['accesses']} in {r['kernels']}" for r in reasons))
    return row


def add(row):
    new = not TABLE.exists()
    with TABLE.open("a", newline="") as out:
        writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow(row)


def newest():
    with TABLE.open(newline="") as f:
        return {row["corpus"]: row for row in csv.DictReader(f)}.values()


def corpora(rows):
    yield "| date | corpus | kernels | independent | half or more | fewer | no memory | memory instructions | proven |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for r in rows:
        fewer = int(r["less_than_half"]) + int(r["none"])
        yield (f"| {r['date']} | {r['corpus']} ({r['compiler']}) | {r['kernels']} | {r['independent']} ({r['independent_percent']} %) "
               f"| {r['half_or_more']} | {fewer} | {r['no_memory']} | {r['accesses']} | {r['proven_percent']} % |")


def reasons(row):
    """What blocks the rest: through the address, or through the branch that decides whether the
    instruction runs."""
    rest = int(row["accesses"]) - int(row["proven"])
    yield "| through | depends on | memory instructions | of the rest | kernels |"
    yield "|---|---|---|---|---|"
    for through, reason, accesses, kernels in re.findall(r"(\S+) (\S+) (\d+) in (\d+)", row["reasons"]):
        yield f"| {through} | {reason} | {accesses} | {percent(int(accesses), rest)} % | {kernels} |"


def draw():
    rows = list(newest())
    parts = [HEAD, "\n".join(corpora(rows)), "\n"]
    for row in rows:
        if row["reasons"]:
            parts += [f"\n## Why not: {row['corpus']}\n\n", "\n".join(reasons(row)), "\n"]
    PAGE.write_text("".join(parts))


def main():
    if len(sys.argv) > 1:
        warplens, corpus, compiler, *files = sys.argv[1:]
        add(measure(warplens, corpus, compiler, files))
    draw()


main()
