#!/usr/bin/env python3
"""What is known of elements (--probes touch,frequency,shared) is the same, number for number,
whether the emulator ran a program, its launches were replayed, or the device recorded them.

    test_elements.py --warplens CMD --libraries DIR --runtime DIR --work DIR --nvcc NVCC SOURCE...
    test_elements.py ... --gpu SOURCE...     with a GPU: on NVIDIA's runtime and driver

A SOURCE may have the program's arguments after a comma: "programs/search.cu,8000 --rounds 1".

A launch of which something was not seen must say nothing, and not less than there is. Each program
must have launches that are known when everything is recorded where that can be.
"""
import argparse
import os
import sqlite3
import subprocess
import sys

USES = """SELECT l.number, u.space, o.name, u.known, u.elements, u.touched, u.loads, u.stores, u.atomics, u.least, u.most,
                 u.squares, s.bytes, s.data
          FROM launches l JOIN uses u ON u.launch = l.rows_of
          LEFT JOIN moves m ON m.id = l.moves AND m.object = u.object
          LEFT JOIN objects o ON o.id = coalesce(m.becomes, u.object)
          LEFT JOIN spans s ON s.id = u.spans ORDER BY 1, 2, 3"""
# What blocks did each by itself, and the live ranges of arrays.
WITHIN = """SELECT l.number, u.space, o.name, u.ranges_loaded, u.ranges_copied, u.ranges_computed, u.accesses_loaded, u.accesses_copied,
                   u.accesses_computed, u.accesses_unfilled, u.block_words, u.block_words_most, u.block_accesses, u.blocks,
                   (SELECT group_concat(v.origin || ':' || v.accesses || ':' || v.ranges, ' ')
                    FROM live_ranges v WHERE v.launch = l.rows_of AND v.object = u.object)
            FROM launches l JOIN uses u ON u.launch = l.rows_of
            LEFT JOIN moves m ON m.id = l.moves AND m.object = u.object
            LEFT JOIN objects o ON o.id = coalesce(m.becomes, u.object)
            WHERE u.block_words IS NOT NULL ORDER BY 1, 2, 3"""
# Live ranges alone, which recorded launches know as well, and the accesses in them.
RANGES = """SELECT l.number, o.name, u.ranges_loaded, u.ranges_copied, u.ranges_computed, u.accesses_unfilled, v.accesses_per_range,
                   u.accesses_loaded, u.accesses_copied, u.accesses_computed
            FROM launches l JOIN uses u ON u.launch = l.rows_of JOIN objects o ON o.id = u.object
            JOIN v_uses v ON v.launch = l.rows_of AND v.object = o.name
            WHERE u.space = 1 ORDER BY 1, 2"""
GLOBAL, SHARED = 0, 1
TOUCHED, COUNTED = 1, 2
ALL_RANGES = "bins", "compaction", "ranges"  # whose arrays' live ranges are known, whatever data decides


def fail(text):
    sys.exit("FAIL: " + text)


def build(o, source):
    """The program, and its arguments."""
    source, _, arguments = source.partition(",")
    program = os.path.join(o.work, os.path.basename(source)[:-3])
    subprocess.run([o.nvcc, "-g", "-lineinfo", "-std=c++17", "-arch=sm_90", "-cudart", "static" if o.gpu else "shared", "-o",
                    program, source], check=True)
    return [program, *arguments.split()]


def profile(o, program, *options, **variables):
    """Uses by launch, what blocks did, live ranges, what launches know of objects, arrays, way."""
    path = os.path.join(o.work, "elements.wlprof")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("WARPLENS_")}
    environment.update(variables)
    done = subprocess.run([o.warplens, "profile", "-q", "-f", "-o", path, *options, "--", *program], env=environment,
                          capture_output=True, check=False, text=True, timeout=240)
    if done.returncode:
        fail(f"{program[0]} {options}: {done.returncode} {done.stderr[-500:]}")
    with sqlite3.connect(path) as db:
        known = {number: row for number, *row in
                 db.execute("SELECT number, objects_known, arrays_known, way, estimated FROM launches")}
        return db.execute(USES).fetchall(), db.execute(WITHIN).fetchall(), db.execute(RANGES).fetchall(), known


def inline(o, program, *options):
    if o.gpu:
        return profile(o, program, "--backend", "inline", "--replay-budget", "none", *options)
    return profile(o, program, "--backend", "inline", "--replay-budget", "none", *options, WARPLENS_DEVICE="h200",
                   LD_LIBRARY_PATH=o.runtime, WARPLENS_DRIVER=os.path.join(o.libraries, "emulate", "libcuda.so.1"))


def told(uses, known):
    """Rows of launches that know of objects, or arrays, whatever they were."""
    return [row for row in uses if known[row[0]][row[1]] and not known[row[0]][3]]


def compare_ranges(what, want, have, sure):
    """Of how many arrays ranges are known: the emulator's. Accesses by origin may be missing."""
    want = {row[:2]: row for row in want}
    have = [row for row in have if row[0] in sure and row[2] is not None]
    for row in have:
        length = 7 if row[7] is None else 10
        if row[:length] != want[row[:2]][:length]:
            fail(f"{what}: live ranges {row}, emulated {want[row[:2]]}")
    return len(have)


def compare(o, program, probes, level, all_ranges):
    uses, within, ranges, emulated = profile(o, program, "--backend", "emulate", "--probes", probes)
    if not uses or any(row[0] != level for row in emulated.values()):
        fail(f"{program[0]}: the emulator does not know what it touches")
    if len(within) < len(uses) or (level == COUNTED and any(row[1] == SHARED and row[3] is None for row in within)):
        fail(f"{program[0]}: the emulator does not know what its blocks do")
    for way in "replay", "auto", "probe":
        ours, blocks, ours_ranges, known = inline(o, program, "--collect", way, "--probes", probes)
        sure = {number for number, row in known.items() if not row[3]}
        want = [row for row in uses if row[0] in sure and known[row[0]][row[1]]]
        have = told(ours, known)
        if want != have:
            for mine, theirs in zip(have, want, strict=False):
                if mine != theirs:
                    print("  inline  ", mine[:13], "\n  emulated", theirs[:13])
            fail(f"{program[0]} {probes} {way}: {len(have)} rows, {len(want)} emulated")
        exact = [row for row in blocks if row[0] in sure]
        if any(row not in within for row in exact):
            fail(f"{program[0]} {probes} {way}: what blocks do differs")
        if way == "replay" and len(exact) < len(have):
            fail(f"{program[0]} {probes} {way}: what blocks do is known of {len(exact)} objects, not of {len(have)}")
        told_ranges = compare_ranges(f"{program[0]} {probes} {way}", ranges, ours_ranges, sure)
        if all_ranges and way == "auto" and told_ranges < sum(row[0] in sure and bool(known[row[0]][1]) for row in ranges):
            fail(f"{program[0]} {probes} {way}: live ranges of {told_ranges} of {len(ranges)} arrays are known")
        unsure = [row for row in ours if row[0] in sure and not known[row[0]][row[1]] and row[3]]
        if any(row not in uses for row in unsure):
            fail(f"{program[0]} {probes} {way}: rows of launches that are not known differ")
        print(f"{os.path.basename(program[0])} {probes} {way}: {len(have)} rows the same, {len(exact)} within blocks, "
              f"live ranges of {told_ranges}, "
              f"{sum(bool(row[0]) for row in known.values())} of {len(known)} launches known")
        if way != "replay" and not any(row[0] for row in known.values()):
            fail(f"{program[0]}: nothing is known of any launch")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sources", nargs="+")
    parser.add_argument("--gpu", action="store_true", help="this machine has one")
    for name in ("warplens", "libraries", "runtime", "work", "nvcc"):
        parser.add_argument("--" + name, required=True)
    o = parser.parse_args()
    os.makedirs(o.work, exist_ok=True)
    for source in o.sources:
        program = build(o, source)
        all_ranges = os.path.basename(program[0]) in ALL_RANGES
        compare(o, program, "touch,frequency,shared", COUNTED, all_ranges)
        compare(o, program, "touch", TOUCHED, False)


if __name__ == "__main__":
    main()
