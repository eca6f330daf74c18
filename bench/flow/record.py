#!/usr/bin/env python3
"""Adds to proven.csv what `warplens ptx --summary` says about the PTX of a corpus, and draws
results.md from all of it.

record.py WARPLENS CORPUS COMPILER FILE... : CORPUS and COMPILER are names for the table, e.g.
cuda-samples@c94ff36 and "nvcc 13.0 -O3 sm_90"; FILEs are PTX or programs that hold it. Only numbers
are recorded; nothing of the corpus is kept.
record.py --launch BENCH_LAUNCH CORPUS COMPILER FILE... adds to launch.csv, in the same way, what
bench_launch says about them.
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
TABLE, LAUNCHES, PAGE = HERE / "proven.csv", HERE / "launch.csv", HERE / "results.md"
COLUMNS = ["date", "compiler", "corpus", "files", "kernels", "duplicates", "independent", "half_or_more", "less_than_half",
           "none", "no_memory", "accesses", "proven", "independent_percent", "proven_percent", "reasons"]
HEAD = """# How much is proven

Kernels whose control flow and addresses follow from the launch alone (*independent*: replay needs no probe), and memory
instructions that do. Drawn by `record.py` from `proven.csv`, the newest row of each corpus; `warplens ptx --summary FILE...`
prints the same for any PTX, or any program that holds it. docs/flow.md says what is taken for dependent, and why.

"""

LAUNCH_HEAD = """Kernels that are not independent, asked about 24 launches with drawn parameters, grids and blocks (`bench_launch`): in how
many the launch decides a guard for all threads, in how many that proves more than is proven of the kernel as it is, and in
how many all that still runs. A drawn launch may be of no use to anybody: this says of how many kernels launches may decide,
not how many launches do. Kernels with the same code count each time, and files are those of a corpus that compile by themselves.

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


def ask_about_launches(bench, corpus, compiler, files):
    done = subprocess.run([bench, *files], stdout=subprocess.PIPE, text=True, check=True)
    (row,) = csv.DictReader(done.stdout.splitlines())
    return {"date": datetime.date.today().isoformat(), "compiler": compiler, "corpus": corpus, "files": len(files), **row}


def add(table, row):
    new = not table.exists()
    with table.open("a", newline="") as out:
        writer = csv.DictWriter(out, list(row) if table == LAUNCHES else COLUMNS, lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow(row)


def newest(table):
    with table.open(newline="") as f:
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


def launches(rows):
    """Of the kernels that are not independent, how many some launch decides about."""
    yield "| date | corpus | kernels, all counted | not independent | some guard is decided | more is proven | all is | memory instructions proven | at best |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for r in rows:
        def of(name, r=r):
            return f"{r[name]} ({percent(int(r[name]), int(r['unproven']))} %)"
        yield (f"| {r['date']} | {r['corpus']} ({r['compiler']}) | {r['kernels']} | {r['unproven']} | {of('decided')} | {of('more')} "
               f"| {of('whole')} | {percent(int(r['proven']), int(r['accesses']))} % | {percent(int(r['best']), int(r['accesses']))} % |")


def draw():
    rows = list(newest(TABLE))
    parts = [HEAD, "\n".join(corpora(rows)), "\n"]
    for row in rows:
        if row["reasons"]:
            parts += [f"\n## Why not: {row['corpus']}\n\n", "\n".join(reasons(row)), "\n"]
    parts += ["\n## What a launch may decide\n\n", LAUNCH_HEAD, "\n".join(launches(newest(LAUNCHES))), "\n"]
    PAGE.write_text("".join(parts))


def main():
    if sys.argv[1:2] == ["--launch"]:
        add(LAUNCHES, ask_about_launches(*sys.argv[2:5], sys.argv[5:]))
    elif len(sys.argv) > 1:
        warplens, corpus, compiler, *files = sys.argv[1:]
        add(TABLE, measure(warplens, corpus, compiler, files))
    draw()


main()
