#!/usr/bin/env python3
"""Measures what warplens does after a run: makes profiles of captures that runs on a GPU left.

    after.py [--out F] CAPTURES... [--build DIR] [--label L] [--threads N] [--budget B] [--repeat N]

CAPTURES are folders of .wlcap files, named after their programs, which stay as they are. A line
of F (or of what is printed) has the program, the fastest run's seconds, the least processor
seconds and what they came to: launches, those observed, uses of objects by kernels, and those
counted by number."""
import argparse
import csv
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
COLUMNS = ["label", "program", "cores", "threads", "budget", "wall_s", "processor_s", "launches", "observed", "uses", "counted"]
PROBES = "touch,frequency,shared"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("captures", nargs="+", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=HERE.parent.parent / "build/release")
    parser.add_argument("--label", default="")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="WARPLENS_THREADS (all cores)")
    parser.add_argument("--budget", default="auto,4G", help="WARPLENS_REPLAY_BUDGET (auto,4G)")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--out", type=pathlib.Path)
    return parser.parse_args()


def run_import(o, warplens, captures, profile, folder):
    """Seconds and processor seconds of one import, which takes the captures away."""
    shutil.copytree(captures, folder, ignore=lambda _, names: [n for n in names if not n.endswith(".wlcap")])
    env = dict(os.environ, WARPLENS_PROBES=PROBES, WARPLENS_THREADS=str(o.threads), WARPLENS_REPLAY_BUDGET=o.budget)
    begin = time.monotonic()
    process = subprocess.Popen([warplens, "import", "-q", "-f", "-o", profile, folder], env=env)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.monotonic() - begin
    shutil.rmtree(folder, ignore_errors=True)
    if process.returncode:
        sys.exit(f"after: {captures} cannot be imported")
    return seconds, usage.ru_utime + usage.ru_stime


def read_counts(warplens, profile):
    done = subprocess.run([warplens, "export", "--type", "json", "-o", "-", profile], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    uses = found["uses"]
    return {"launches": found["coverage"]["launches_seen"], "observed": found["coverage"]["launches_observed"],
            "uses": len(uses), "counted": sum(u.get("loads") is not None for u in uses)}


def measure(o, captures):
    warplens = str(o.build.resolve() / "bin/warplens")
    with tempfile.TemporaryDirectory() as scratch:
        profile = f"{scratch}/after.wlprof"
        runs = [run_import(o, warplens, captures, profile, f"{scratch}/captures") for _ in range(o.repeat)]
        counts = read_counts(warplens, profile)
    return {"label": o.label, "program": captures.name, "cores": len(os.sched_getaffinity(0)),
            "threads": o.threads, "budget": o.budget, "wall_s": f"{min(w for w, _ in runs):.2f}", "processor_s": f"{min(p for _, p in runs):.2f}", **counts}


def main():
    o = arguments()
    fresh = o.out is None or not o.out.exists()
    with o.out.open("a", newline="") if o.out else sys.stdout as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if fresh:
            writer.writeheader()
        for captures in o.captures:
            writer.writerow(measure(o, captures))
            file.flush()


if __name__ == "__main__":
    main()
