#!/usr/bin/env python3
"""Which path each warp took (--probes path) is the same, hash for hash, whether the emulator ran a
program or the device recorded it, and whichever other probes were there.

    test_paths.py --warplens CMD --libraries DIR --runtime DIR --work DIR --nvcc NVCC SOURCE...
    test_paths.py ... --gpu SOURCE...     with a GPU: on NVIDIA's runtime and driver

A SOURCE may have the program's arguments after a comma. Its kernels must have paths that data
decides; those of one thread wait for a time, never alike.
"""
import argparse
import json
import os
import sqlite3
import subprocess
import sys

from test_elements import build, fail

PATHS = """SELECT l.number, p.path, p.hash, p.instructions, p.lane_instructions, p.warps, p.first, r.bytes, r.data
           FROM launches l JOIN paths p ON p.launch = l.rows_of JOIN path_runs r ON r.launch = l.rows_of WHERE l.block_x > 1 ORDER BY 1, 2"""
WARPS = """SELECT l.number, ((l.block_x * l.block_y * l.block_z + 31) / 32) * l.grid_x * l.grid_y * l.grid_z, l.way, l.thread_instructions,
                  l.mix_whole, (SELECT sum(p.warps) FROM paths p WHERE p.launch = l.rows_of),
                  (SELECT sum(p.warps * p.lane_instructions) FROM paths p WHERE p.launch = l.rows_of)
           FROM launches l WHERE l.block_x > 1 AND EXISTS (SELECT 1 FROM paths p WHERE p.launch = l.rows_of)"""


def profile(o, program, *options, **variables):
    """Paths of the launches, and what says how many warps and instructions they have."""
    path = os.path.join(o.work, "paths.wlprof")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("WARPLENS_")}
    environment.update(variables)
    done = subprocess.run([o.warplens, "profile", "-q", "-f", "-o", path, *options, "--", *program], env=environment,
                          capture_output=True, check=False, text=True, timeout=240)
    if done.returncode:
        fail(f"{program[0]} {options}: {done.returncode} {done.stderr[-500:]}")
    with sqlite3.connect(path) as db:
        paths, warps = db.execute(PATHS).fetchall(), db.execute(WARPS).fetchall()
    check_json(o, path, paths)
    return paths, warps


def check_json(o, path, paths):
    """JSON tells of the same launches as many paths."""
    done = subprocess.run([o.warplens, "stats", "--format", "json", path], capture_output=True, check=True, text=True)
    told = [w for row in json.loads(done.stdout)["launches"] if (w := row.get("warps")) and row["block"][0] > 1]
    if any(w["known_by"] != "hashes" or "requests" in w or not 0 < w["alike"] <= w["count"] for w in told):
        fail(f"{path}: what is known of warps by hashes")
    of_launch = {}
    for row in paths:
        of_launch.setdefault(row[0], []).append(row[3])
    if sorted(w["sequences"] for w in told) != sorted(len(counts) for counts in of_launch.values()):
        fail(f"{path}: JSON tells of {len(told)} launches with paths, there are {len(of_launch)}")
    longest = max((x["instructions"] for w in told for x in w["outliers"]), default=0)
    if longest > max((n for counts in of_launch.values() for n in counts), default=0):
        fail(f"{path}: an outlier of {longest} instructions")


def inline(o, program, *options):
    if o.gpu:
        return profile(o, program, "--backend", "inline", "--replay-budget", "none", *options)
    return profile(o, program, "--backend", "inline", "--replay-budget", "none", *options, WARPLENS_DEVICE="h200",
                   LD_LIBRARY_PATH=o.runtime, WARPLENS_DRIVER=os.path.join(o.libraries, "emulate", "libcuda.so.1"))


def check_whole(program, warps):
    """Each warp has a path, and what these ran is what the launch ran."""
    for number, all_warps, _, executed, whole, known, ran in warps:
        if known != all_warps or (whole and ran != executed):
            fail(f"{program[0]}: launch {number} has {all_warps} warps, {known} with paths; {executed} instructions, {ran} on paths")


def compare(o, program):
    emulated, warps = profile(o, program, "--backend", "emulate", "--probes", "path")
    if not emulated or len({row[2] for row in emulated}) < 2:
        fail(f"{program[0]}: the emulator tells no paths")
    check_whole(program, warps)
    for options in (["--probes", "path"], ["--probes", "path,trace,blocks"], ["--probes", "path,objects"], ["--probes", "path,touch"],
                    ["--probes", "path", "--collect", "probe"]):
        ours, known = inline(o, program, *options)
        check_whole(program, known)
        launches = {row[0] for row in ours}
        # With too many registers for the blocks of the program nothing is recorded.
        if (not launches and "path,touch" not in options) or ours != [row for row in emulated if row[0] in launches]:
            fail(f"{program[0]} {options}: paths of {len(launches)} launches are not as emulated")
        print(f"{os.path.basename(program[0])} {' '.join(options)}: {len(launches)} launches, {len(ours)} paths, "
              f"{sum(row[1] for row in known)} warps")
    if inline(o, program, "--probes", "path", "--collect", "replay")[0] not in ([], emulated):
        fail(f"{program[0]}: without recording there are other paths")
    small, _ = inline(o, program, "--probes", "path", "--device-memory", "0")
    if small and small != emulated:
        fail(f"{program[0]}: without memory there are other paths")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sources", nargs="+")
    parser.add_argument("--gpu", action="store_true", help="this machine has one")
    for name in ("warplens", "libraries", "runtime", "work", "nvcc"):
        parser.add_argument("--" + name, required=True)
    o = parser.parse_args()
    os.makedirs(o.work, exist_ok=True)
    for source in o.sources:
        compare(o, build(o, source))


if __name__ == "__main__":
    sys.exit(main())
