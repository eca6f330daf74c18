#!/usr/bin/env python3
"""The queries of docs/queries.md give the answers that stand below them.

test_queries.py WARPLENS NVCC WORK [update]   update: writes the answers into the page
"""

import os
import re
import sqlite3
import subprocess
import sys

WARPLENS, NVCC, WORK, *WHAT = sys.argv[1:]
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PAGE = os.path.join(ROOT, "docs", "queries.md")
PROGRAM = os.path.join(ROOT, "examples", "stages", "stages_kept.cu")
QUERY = re.compile(r"```sql\n(.*?)```\n(?:\n((?:\|[^\n]*\n)+))?", re.S)
LEAST = 10  # queries


def profile():
    os.makedirs(WORK, exist_ok=True)
    program = os.path.join(WORK, "stages_kept")
    subprocess.run([NVCC, "-g", "-lineinfo", "-o", program, PROGRAM], check=True)
    subprocess.run(
        [WARPLENS, "profile", "-q", "-f", "-o", program + ".wlprof", "--backend", "emulate", "--", program],
        check=True,
    )
    return program + ".wlprof"


def cell(value):
    if value is None:
        return ""
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)


def answer(database, query):
    cursor = database.execute(query)
    rows = [[name for name, *_ in cursor.description], *cursor.fetchall()]
    lines = ["| " + " | ".join(map(cell, row)) + " |" for row in rows]
    lines.insert(1, "|---" * len(rows[0]) + "|")
    return [re.sub(r" +", " ", line) + "\n" for line in lines]


def main():
    with open(PAGE) as f:
        page = f.read()
    with sqlite3.connect(profile()) as database:
        wrong, count = [], 0
        for query, table in QUERY.findall(page):
            got = answer(database, query)
            count += 1
            if len(got) < 3:
                wrong.append(f"no rows:\n{query}")
            elif table != "".join(got):
                wrong.append(f"{query}says\n{''.join(got)}")
        if WHAT == ["update"]:
            with open(PAGE, "w") as f:
                f.write(QUERY.sub(lambda m: f"```sql\n{m[1]}```\n\n{''.join(answer(database, m[1]))}", page))
            return
    if wrong or count < LEAST:
        sys.exit(f"{count} queries; " + "\n".join(wrong))


main()
