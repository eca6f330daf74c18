#!/usr/bin/env python3
"""What profiling costs whole steps of programs without PTX, and what it explains of them.

    steps.py --warplens CMD --out FOLDER [--programs a,b] [--pairs N] [--ncu]

For each program: N pairs of a process by itself and one under `warplens profile`, in turn; with
--ncu also what Nsight Compute counts of its launches' sectors, held against the profile's, launch
by launch. Writes steps.csv.
"""
import argparse
import collections
import csv
import datetime
import itertools
import json
import os
import re
import sqlite3
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = "transformer", "resnet", "jax_step", "cupy_kmeans"
FLAT = "--xla_gpu_deterministic_ops=true --xla_gpu_autotune_level=0 --xla_gpu_enable_command_buffer="  # no graphs, which ncu counts as one
SECTORS = "memory_l2_theoretical_sectors_global"
COLUMNS = ("date", "chip", "driver", "program", "pairs", "native_ms", "profiled_ms", "ratio", "same_results", "run_s", "after_s", "launches",
           "explained_launches", "kernels", "counted_launches", "counted_sectors", "explained_sectors", "launches_that_differ")


def run(command, log):
    """Its output, and how many seconds it took."""
    begin = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    with open(log, "w") as f:
        f.write(done.stderr)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.returncode}: {done.stderr[-600:]}")
    return done.stdout, time.monotonic() - begin


def steps_of(text):
    return [float(ms) for ms in re.findall(r"^step (\S+)$", text, re.M)]


def result_of(text):
    return re.search(r"^result (\S+)$", text, re.M).group(1)


def launches_of(profile):
    """Each launch's kernel, grid and block, way, whether all of it was worked out, and sectors of
    global memory (None where nothing was)."""
    return [(row[0], row[1:7], *row[7:]) for row in sqlite3.connect(profile).execute("""
        SELECT k.name, l.grid_x, l.grid_y, l.grid_z, l.block_x, l.block_y, l.block_z, w.name,
               NOT l.estimated AND NOT EXISTS (SELECT 1 FROM gaps g WHERE g.launch = l.rows_of),
               (SELECT sum(i.sectors) FROM instructions i WHERE i.launch = l.rows_of AND i.space = 0)
        FROM launches l JOIN kernels k ON k.id = l.kernel LEFT JOIN names w ON w.kind = 'way' AND w.value = l.way
        ORDER BY l.number""")]


def count(command, folder, name):
    """Kernel, grid and block, and sectors of each launch, by Nsight Compute."""
    report = f"{folder}/{name}.ncu-rep"
    run(["ncu", "--metrics", f"inst_executed,{SECTORS}", "--clock-control", "none", "-f", "-o", report[:-8], *command], f"{folder}/{name}.ncu.log")
    text = subprocess.run([sys.executable, f"{HERE}/../../tools/oracle/report.py", report], capture_output=True, text=True, check=True).stdout
    os.remove(report)
    return [(launch["kernel"], tuple(launch["grid"] + launch["block"]), sum(launch["counts"].get("sectors", [])))
            for launch in map(json.loads, text.splitlines())]


def compare(ours, counted, folder, name):
    """Launch by launch, where both saw as many of the same shapes, in the same order."""
    found = collections.Counter()
    if [launch[1] for launch in ours] != [launch[1] for launch in counted]:
        with open(f"{folder}/{name}.shapes", "w") as f:
            f.writelines(f"{a}\t{b}\n" for a, b in itertools.zip_longest(ours, counted))
        print(f"steps: {name}: {len(ours)} launches were profiled and {len(counted)} counted, which are not the same", file=sys.stderr)
        return {}
    with open(f"{folder}/{name}.launches.csv", "w", newline="") as f:
        out = csv.writer(f)
        out.writerow(("kernel", "way", "whole", "sectors", "counted"))
        for (kernel, _, way, whole, sectors), (_, _, truth) in zip(ours, counted, strict=True):
            out.writerow((kernel, way, whole, sectors, truth))
            found["launches"] += 1
            found["sectors"] += truth
            if sectors is None:
                continue
            differs = sectors > truth or (whole and sectors != truth)
            found["explained"] += 0 if differs else sectors
            found["differ"] += differs
    return dict(counted_launches=found["launches"], counted_sectors=found["sectors"], explained_sectors=found["explained"],
                launches_that_differ=found["differ"])


def time_pairs(o, command, profiled, name):
    native_ms, profiled_ms, results, runs, afters = [], [], set(), [], []
    for _ in range(o.pairs):
        for tool, times, log in ([], native_ms, "native"), (profiled, profiled_ms, "profile"):
            text, seconds = run([*tool, *command], f"{o.out}/{name}.{log}.log")
            times.append(statistics.median(steps_of(text)))
            results.add(result_of(text))
            (afters if tool else runs).append(seconds - (runs[-1] if tool else 0))
    return dict(pairs=o.pairs, native_ms=f"{statistics.median(native_ms):.3f}", profiled_ms=f"{statistics.median(profiled_ms):.3f}",
                ratio=f"{statistics.median(p / n for p, n in zip(profiled_ms, native_ms, strict=True)):.3f}", same_results=len(results) == 1,
                run_s=f"{statistics.median(runs):.2f}", after_s=f"{statistics.median(afters):.2f}")


def measure(o, name, machine):
    command = [sys.executable, f"{HERE}/programs/{name}.py"]
    profile = f"{o.out}/{name}.wlprof"
    profiled = [o.warplens, "profile", "-f", "-o", profile, *o.options.split()]
    row = dict(machine, program=name)
    if o.pairs:
        row.update(time_pairs(o, command, profiled, name))
        launches = launches_of(profile)
        row.update(launches=len(launches), explained_launches=sum(launch[4] is not None for launch in launches),
                   kernels=len({launch[0] for launch in launches}))
    if o.ncu:
        short = [*command, "--warm-up", "1", "--rounds", "1"]
        os.environ["XLA_FLAGS"] = FLAT
        run([*profiled, "--replay-budget", "100s,8G", *short], f"{o.out}/{name}.short.log")
        row.update(compare(launches_of(profile), count(short, o.out, name), o.out, name))
    return row


def machine():
    chip, driver = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True,
                                  text=True, check=True).stdout.splitlines()[0].split(", ")
    return dict(date=datetime.date.today().isoformat(), chip=chip, driver=driver)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--warplens", default="warplens")
    parser.add_argument("--out", required=True)
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--options", default="", help="further options for warplens profile")
    parser.add_argument("--ncu", action="store_true")
    o = parser.parse_args()
    os.makedirs(o.out, exist_ok=True)
    with open(f"{o.out}/steps.csv", "w", newline="") as f:
        out = csv.DictWriter(f, COLUMNS)
        out.writeheader()
        for name in o.programs.split(","):
            try:
                out.writerow(measure(o, name, machine()))
            except Exception as error:  # the other programs are measured all the same
                print(f"steps: {name} was not measured: {error}", file=sys.stderr)
            f.flush()


main()
