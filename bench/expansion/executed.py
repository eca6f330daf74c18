#!/usr/bin/env python3
"""Compares machine instructions that launches execute, as warplens says, with what a GPU counted.

    executed.py --build FOLDER [--nvcc NVCC]   compiles the programs
    executed.py --collect FOLDER               on a GPU: ncu counts, executed.csv is written
    executed.py --compare FOLDER --warplens W  profiles them in the emulator, writes executed.md

The programs are those of bench/model, each variant once at the smaller size, and examples that
nothing here was chosen by. Counted are warp instructions by class, as bench/expansion/sass.py has
the classes. Compared is also what the table of src/ir/expansions.def expects of the same PTX.
"""
import argparse
import collections
import csv
import datetime
import glob
import os
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile

import sass

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", ".."))
EXECUTED = os.path.join(HERE, "executed.csv")
EXAMPLES = ("blur/blur_wide", "cells/cells_scattered", "gemm/gemm_tiled", "gemm/gemm_square_tiles", "gramschmidt/gramschmidt_staged",
            "histogram/histogram_private", "nearest/nearest_registers", "scan/scan_padded", "spmv/spmv_vector", "spmv/spmv_scalar")
METRICS = "inst_executed"
LEAST = 0.03  # of a launch's instructions, for a class to be compared

Launch = collections.namedtuple("Launch", "kernel counts")


def programs():
    """{name: (source, arguments)}"""
    found = {os.path.basename(path)[:-3]: (path, ["each"]) for path in glob.glob(os.path.join(ROOT, "bench/model/programs/*.cu"))}
    found.update({f"example_{os.path.basename(name)}": (os.path.join(ROOT, "examples", name + ".cu"), []) for name in EXAMPLES})
    return dict(sorted(found.items()))


def build(nvcc, folder):
    """With machine code and its lines; and in `ptx` with PTX alone, for the table."""
    os.makedirs(os.path.join(folder, "ptx"), exist_ok=True)
    for name, (source, _) in programs().items():
        for out, options in ((name, ["-lineinfo", "-arch=sm_90"]), (os.path.join("ptx", name), ["-gencode", "arch=compute_90,code=compute_90"])):
            subprocess.run([nvcc, "-std=c++17", "-O3", *options, "-allow-unsupported-compiler",
                            "-I" + os.path.join(ROOT, "examples", "common"), "-o", os.path.join(folder, out), source], check=True)


# ---- on a GPU ----

def instruction(text):
    found = re.match(r"\s*(?:@(!?U?P\w+) )?\s*(\S+)(?: (.*?))?\s*;?$", text)
    return sass.Instruction(found[1] or "", found[2], found[3] or "")


def counted(report):
    """The launches of a report of ncu, each with its counts by class."""
    import ncu_report  # comes with Nsight Compute: extras/python
    ranges = ncu_report.load_report(report)
    for number in range(ranges.num_ranges()):
        actions = ranges.range_by_idx(number)
        for index in range(actions.num_actions()):
            action, counts = actions.action_by_idx(index), collections.Counter()
            executed = action.metric_by_name(METRICS)
            places = executed.correlation_ids()
            for i in range(executed.num_instances()):
                cls = sass.class_of(instruction(action.sass_by_pc(places.as_uint64(i))))
                counts[cls or "padding"] += executed.as_uint64(i)
            yield Launch(action.name(), counts)


def collect(folder):
    gpu = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], check=True, capture_output=True,
                         text=True).stdout.splitlines()[0].split(", ")
    with tempfile.TemporaryDirectory() as reports, open(EXECUTED, "w", newline="", encoding="utf-8") as f:
        table = csv.writer(f, lineterminator="\n")
        table.writerow(["program", "launch", "kernel", "class", "executed", "gpu", "driver", "date"])
        for name, (_, arguments) in programs().items():
            report = os.path.join(reports, name)
            subprocess.run(["ncu", "--clock-control", "none", "--cache-control", "none", "-o", report, "--metrics", METRICS,
                            os.path.join(folder, name), *arguments], check=True, stdout=subprocess.DEVNULL)
            for number, launch in enumerate(counted(report + ".ncu-rep")):
                for cls in sorted(launch.counts):
                    if launch.counts[cls]:
                        table.writerow([name, number, launch.kernel, cls, launch.counts[cls], *gpu, datetime.date.today().isoformat()])


# ---- against warplens ----

def executed():
    """{program: [Launch]} as the GPU counted them."""
    found = {}
    with open(EXECUTED, newline="", encoding="utf-8") as f:
        for row in csv.DictReader(f):
            launches = found.setdefault(row["program"], [])
            if int(row["launch"]) == len(launches):
                launches.append(Launch(row["kernel"], collections.Counter()))
            if row["class"] in sass.CLASSES:
                launches[-1].counts[row["class"]] += int(row["executed"])
    return found


def profiled(warplens, program, arguments, folder):
    profile = os.path.join(folder, "executed.wlprof")
    subprocess.run([warplens, "profile", "-q", "-f", "-o", profile, "--backend", "emulate", "--device", "h200", "--", program, *arguments],
                   check=True, stdout=subprocess.DEVNULL)
    return profile


def said(profile):
    """The launches of a profile with machine instructions by class."""
    with sqlite3.connect(profile) as db:
        classes = dict(db.execute("SELECT value, name FROM names WHERE kind = 'class'"))
        for kernel, name, rows in db.execute("SELECT l.kernel, k.mangled, l.rows_of FROM launches l JOIN kernels k ON k.id = l.kernel "
                                             "ORDER BY l.id").fetchall():
            counts = db.execute("SELECT m.class, total(b.executions * m.machine) FROM blocks b JOIN static_mix m ON m.kernel = ? AND "
                                "m.first_pc = b.first_pc WHERE b.launch = ? GROUP BY m.class", (kernel, rows))
            yield Launch(name, collections.Counter({classes[cls]: count for cls, count in counts}))


def registers(profile):
    """{kernel: of a thread}"""
    with sqlite3.connect(profile) as db:
        return dict(db.execute("SELECT k.mangled, l.registers FROM launches l JOIN kernels k ON k.id = l.kernel"))


def ratios(truth, told):
    """Of each launch: what is told to what was counted, by class and of all. A class that is little
    of it is left out."""
    for counted_launch, told_launch in zip(truth, told, strict=True):
        if counted_launch.kernel.split("(")[0].split("<")[0].split()[-1] not in told_launch.kernel:
            sys.exit(f"{told_launch.kernel} is not {counted_launch.kernel}: not the same launches")
        whole = sum(counted_launch.counts.values())
        of = {cls: told_launch.counts[cls] / n for cls, n in counted_launch.counts.items() if n >= LEAST * whole}
        yield {**of, "all": sum(told_launch.counts.values()) / whole}


def errors(found):
    error = sorted(abs(ratio - 1) for ratio in found)
    return [f"{100 * statistics.median(error):.1f} %", f"{100 * statistics.mean(error):.1f} %", f"{100 * error[int(0.9 * len(error))]:.0f} %"]


def table_of(by_way, keys):
    rows = ["| class | launches | median error, table | mean | nine of ten within | median error, machine code | mean | nine of ten within |",
            "|---|---|---|---|---|---|---|---|"]
    for key in keys:
        found = [[launch[key] for launch in way if key in launch] for way in by_way]
        if found[0]:
            rows.append(" | ".join(["| " + key, str(len(found[0])), *errors(found[0]), *errors(found[1])]) + " |")
    return rows


def device():
    with open(EXECUTED, newline="", encoding="utf-8") as f:
        row = next(csv.DictReader(f))
    return f"{row['gpu']}, driver {row['driver']}, {row['date']}"


def compare(warplens, folder):
    ways, registers_of = {"expected": {}, "machine": {}}, {"expected": {}, "machine": {}}
    truth = executed()
    with tempfile.TemporaryDirectory() as profiles:
        for name, (_, arguments) in programs().items():
            for way, at in (("expected", "ptx"), ("machine", "")):
                profile = profiled(warplens, os.path.join(folder, at, name), arguments, profiles)
                ways[way][name] = list(ratios(truth[name], said(profile)))
                registers_of[way].update({(name, kernel): count for kernel, count in registers(profile).items()})
    lines = ["# Executed machine instructions, against a GPU's count", "",
             f"Drawn by `executed.py --compare` from [executed.csv](executed.csv): {device()}, warp instructions of each launch by opcode (ncu).",
             "*Table*: what expansions.def expects of the PTX; *machine code*: what is counted in the program's cubin, as "
             "[model.md](../../docs/model.md) says. Both times executions of basic blocks from the emulator. A class counts where it is "
             f"at least {100 * LEAST:.0f} % of a launch's instructions.", ""]
    for title, prefix in (("The programs of bench/model", False), ("Examples, which nothing was chosen by", True)):
        by_way = [[launch for name, launches in found.items() if name.startswith("example_") == prefix for launch in launches]
                  for found in ways.values()]
        lines += [f"## {title}", "", *table_of(by_way, ["all", *sass.CLASSES]), ""]
    estimated = [count / registers_of["machine"][kernel] for kernel, count in registers_of["expected"].items()]
    median, _, most = errors(estimated)
    lines += ["## Registers", "", f"As estimated from the PTX, of {len(estimated)} kernels, against ptxas: median error {median}, nine of ten within {most}; "
              f"the estimate is {statistics.median(estimated):.2f} of ptxas's number in the median.", ""]
    with open(os.path.join(HERE, "executed.md"), "w", encoding="utf-8") as f:
        f.write("\n".join(lines[:-1]) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", metavar="FOLDER")
    parser.add_argument("--collect", metavar="FOLDER")
    parser.add_argument("--compare", metavar="FOLDER")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--warplens", default="warplens")
    o = parser.parse_args()
    if o.build:
        build(o.nvcc, o.build)
    if o.collect:
        collect(o.collect)
    if o.compare:
        compare(o.warplens, o.compare)


if __name__ == "__main__":
    main()
