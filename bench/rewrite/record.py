#!/usr/bin/env python3
"""Records what probes cost on paper: registers and stack as ptxas tells, and instructions as the
emulator counts them.

record.py BUILD PTXAS: BUILD is a build folder with the tests. Writes ptxas.csv, instructions.csv
and results.md beside this file.
"""
import collections
import csv
import math
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent
TESTS = ROOT / "tests/rewrite"
PROBES = ["objects", "trace", "touch", "frequency", "shared", "blocks", "all"]
HEAD = """# What probes cost

Drawn by `record.py`. *auto*: accesses that follow from the launch carry no probe, and kernels without others stay as they are;
*probe*: all do. What the trace costs on a GPU is in [trace.md](trace.md).

## On paper

From `ptxas.csv` and `instructions.csv`, over the kernels of `tests/rewrite/programs.cu`.

- **Instructions**: PTX instructions that warps execute, with probes over without, geometric mean; the trace is of one block. What
  one PTX instruction costs differs much: most of a probe is integer arithmetic.
- **Registers**: of the whole kernel, which holds the original body too; sm_90, mean change and the most.
- **Stack**: kernels that get some (or more), spilled registers included.

Over 222 public programs (cuda-samples, HeCBench and others, nvcc 13; 230 modules, 957 kernels), with all probes on everything:
890 kernels carry probes, and every rewritten module is parsed and verified again without a complaint.

| probe | collect | kernels with probes | instructions, mean | most | registers, mean | most | stack |
|---|---|---|---|---|---|---|---|
"""

GPU = """
## On a GPU

{date}, {chip}, driver {driver}: kernel time with probes over without, from `gpu.csv` (`bench/overhead` says
what is timed: all that is on the stream, too; its own figures are what is claimed). One to three processes each, without a
kernel before them that hides the host's time to launch. By themselves, with buffers and states of one process and all variants in turn, objects cost
spmv_scalar 0.45 us of 26.4, bfs_expand 0.26 of 41.2, radix_scatter 0.29 of 33.0, with `probe` radix_scan 0.39 of 25.5; all other kernels stay as they
are. In brackets, where it was measured, the figure of the
same day's morning: then blocks counted every branch at 32 addresses, shared memory was counted at one table for all blocks, every
access set a bit of its own at one address, and 10 to 20 us a launch were the preparation of the state on the stream.

"""

COMPILING = """
## What compiling takes

    warplens ptx --rewrite trace,blocks FILE.ptx >probed.ptx
    time ptxas -arch=sm_90 -o /dev/null FILE.ptx; time ptxas -arch=sm_90 -o /dev/null probed.ptx

HeCBench's attention-paged, `nvcc -O3 -lineinfo -ptx`, ptxas 13.0, 2026-11-20, processor time on one core: 3.0 MB in 2.0 s, with probes
20.1 MB in 76 s: four seconds a megabyte. Each kernel's text is held to 4 MiB for that (`REWRITE_QUICK_BYTES`).
"""


def rows_of(path):
    with open(path, newline="") as f:
        return list(csv.DictReader(f))


def measure(build, ptxas):
    subprocess.run([build / "tests/test_rewrite_programs", HERE / "instructions.csv"], check=True,
                   stdout=subprocess.DEVNULL)
    subprocess.run([sys.executable, TESTS / "test_ptxas.py", build / "bin/warplens", ptxas, build / "tests/rewrite/record",
                    "--table", HERE / "ptxas.csv", TESTS / "programs.ptx"], check=True)


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def gpu_table():
    """Of gpu.csv: ratios of kernel time by kernel, a column a probe; in brackets before what its
    last lines change."""
    rows = rows_of(HERE / "gpu.csv")
    columns = list(dict.fromkeys((row["probe"], row["collect"]) for row in rows))
    cells = collections.defaultdict(dict)
    for row in rows:
        before = f" ({float(row['ratio_before']):.2f})" if row["ratio_before"] else ""
        cells[row["kernel"]][row["probe"], row["collect"]] = f"{float(row['ratio']):.2f}{before}"
    lines = [GPU.format(**rows[0]), "| kernel | " + " | ".join(f"{p}, {c}" for p, c in columns) + " |\n",
             "|---" * (len(columns) + 1) + "|\n"]
    for kernel, by in cells.items():
        lines.append(f"| {kernel} | " + " | ".join(by.get(c, "") for c in columns) + " |\n")
    means = [geometric_mean([float(row["ratio"]) for row in rows if (row["probe"], row["collect"]) == c]) for c in columns]
    return "".join(lines) + "| mean | " + " | ".join(f"{mean:.3f}" for mean in means) + " |\n"


def draw():
    ran, built = collections.defaultdict(list), collections.defaultdict(list)
    for row in rows_of(HERE / "instructions.csv"):
        ran[row["probe"], row["collect"]].append(row)
    for row in rows_of(HERE / "ptxas.csv"):
        if row["arch"] == "sm_90":
            built[row["probe"], row["collect"]].append(row)
    lines = []
    for probe in PROBES:
        for collect in ("auto", "probe"):
            key = probe, collect
            probed = [row for row in ran[key] if int(row["with_probes"]) != int(row["instructions"])]
            ratios = [float(row["ratio"]) for row in probed] or [1.0]
            names = {row["kernel"] for row in probed}
            extra = [int(row["registers_probed"]) - int(row["registers"]) for row in built[key]
                     if row["kernel"] in names] or [0]
            stack = sum(int(row["stack_probed"]) > int(row["stack"]) for row in built[key])
            lines.append(f"| {probe} | {collect} | {len(probed)} | {geometric_mean(ratios):.2f} | {max(ratios):.2f} | "
                         f"{sum(extra) / len(extra):+.1f} | {max(extra):+d} | {stack} |\n")
    (HERE / "results.md").write_text(HEAD + "".join(lines) + gpu_table() + COMPILING)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        measure(pathlib.Path(sys.argv[1]), sys.argv[2])
    draw()
