#!/usr/bin/env python3
"""Measures the GPU of this machine, and writes what it can do into its description.

    bench/device/run.py [--nvcc NVCC] [--cuda FOLDER] [--processes 5] [--program BUILT] [--print]
                        devices/h200.json

The figures stand in src/cuda/figures.def. Each process takes the median of eleven runs of each.
Written are the median of the processes, and the lowest and the highest of all runs. --print writes
the description to stdout instead.
"""
import argparse
import datetime
import glob
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

import activity

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def build(nvcc, folder):
    program = os.path.join(folder, "device")
    sources = sorted(glob.glob(os.path.join(ROOT, "bench", "device", "*.cu")))
    subprocess.run([nvcc, "-std=c++17", "-arch=native", "-O3", "-o", program, *sources], check=True)
    return program


def measure(program, processes):
    """Of each figure the medians of the processes, and the extremes."""
    figures = {}
    for _ in range(processes):
        for line in subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines():
            one = json.loads(line)
            values, low, high = figures.setdefault(one["key"], ([], [], []))
            values.append(one["value"])
            low.append(one["low"])
            high.append(one["high"])
    return {key: [statistics.median(values), min(low), max(high)] for key, (values, low, high) in figures.items()}


def measure_by_itself(program, cuda, folder):
    """An empty kernel, as CUPTI notes it: it knows more exactly than any events around it."""
    def start(settings):
        subprocess.run([program, "--empty"], check=True, env={**os.environ, **settings})
    seconds = [one[3] for one in activity.times(activity.library(cuda, folder), start)]
    return [statistics.median(seconds), min(seconds), max(seconds)]


def known():
    with open(os.path.join(ROOT, "src", "cuda", "figures.def")) as f:
        return re.findall(r"^FIGURE\((\w+)", f.read(), re.MULTILINE)


def gpu():
    text = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], check=True, capture_output=True,
                          text=True).stdout
    return [part.strip() for part in text.splitlines()[0].split(",")]


def write(description, measured):
    """A figure a line, as the files are written by hand."""
    figures = measured.pop("figures")
    description.pop("measured", None)
    text = json.dumps({**description, "measured": {**measured, "figures": {}}}, indent=4)
    rows = ",\n".join(f'            "{key}": {json.dumps(value)}' for key, value in figures.items())
    return text.replace('"figures": {}', '"figures": {\n' + rows + "\n        }") + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("description")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--cuda", default="/usr/local/cuda", help="the toolkit that has CUPTI")
    parser.add_argument("--processes", type=int, default=5)
    parser.add_argument("--program", help="built before")
    parser.add_argument("--print", action="store_true")
    o = parser.parse_args()
    with open(o.description) as f:
        description = json.load(f)
    name, driver = gpu()
    if name != description["name"]:
        sys.exit(f"this machine has an {name}, the description is of an {description['name']}")
    with tempfile.TemporaryDirectory() as folder:
        program = o.program or build(o.nvcc, folder)
        figures = measure(program, o.processes)
        figures["launch_by_itself"] = measure_by_itself(program, o.cuda, folder)
    if sorted(figures) != sorted(known()):
        sys.exit(f"measured, or named in figures.def, alone: {sorted(set(figures) ^ set(known()))}")
    text = write(description, {"date": datetime.date.today().isoformat(), "driver": driver, "processes": o.processes,
                               "figures": figures})
    if o.print:
        sys.stdout.write(text)
    else:
        with open(o.description, "w") as f:
            f.write(text)


if __name__ == "__main__":
    main()
