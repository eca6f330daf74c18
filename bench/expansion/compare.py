#!/usr/bin/env python3
"""Compares what whole kernels are expected to become with what ptxas makes of them.

    bench/expansion/compare.py [BENCH_EXPANSION] [--cuda .deps/cuda]

BENCH_EXPANSION is bin/bench_expansion of a build; without it, kernels.csv is drawn anew. The
kernels are those of examples/, of the tests, and of other benchmarks: the table was measured with
none of them. Writes kernels.csv and results.md. Each kernel is assembled twice, as it is and with
loops that ptxas may not unroll.
"""
import argparse
import collections
import concurrent.futures
import csv
import glob
import os
import re
import statistics
import subprocess
import sys
import tempfile

import sass

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", ".."))
ARCH = "sm_90"
PROGRAMS = ("examples/*/*.cu", "tests/*/*.cu", "bench/model/programs/*.cu", "bench/overhead/programs/*.cu")

Kernel = collections.namedtuple("Kernel", "program name ptx expected counted rolled")


def programs():
    return sorted(path for pattern in PROGRAMS for path in glob.glob(os.path.join(ROOT, pattern)))


def rolled_up(ptx):
    """The same PTX, whose loops ptxas has to leave as they are."""
    return re.sub(r"^(\$\w+:)", r'\1\n\t.pragma "nounroll";', ptx, flags=re.MULTILINE)


def assembled(tools, ptx, path):
    with open(path, "w", encoding="utf-8") as f:
        f.write(ptx)
    subprocess.run([tools["ptxas"], f"-arch={ARCH}", "-o", path + ".cubin", path], check=True,
                   capture_output=True)
    return sass.functions_of(path + ".cubin", tools["nvdisasm"])


def by_class(numbers):
    return dict(zip(sass.CLASSES, map(float, numbers), strict=True))


def kernels_of(tools, program, folder):
    path = os.path.join(folder, "a.ptx")
    subprocess.run([tools["nvcc"], "-std=c++17", "-O3", f"-arch={ARCH}", "-ptx", "-o", path, program],
                   check=True, capture_output=True)
    with open(path, encoding="utf-8") as f:
        ptx = f.read()
    plain = assembled(tools, ptx, os.path.join(folder, "plain"))
    rolled = assembled(tools, rolled_up(ptx), os.path.join(folder, "rolled"))
    lines = subprocess.run([tools["bench_expansion"], path], check=True, capture_output=True, text=True)
    for line in lines.stdout.splitlines():
        name, *numbers = line.split("\t")
        half = len(sass.CLASSES)
        yield Kernel(os.path.relpath(program, ROOT), name, by_class(numbers[:half]), by_class(numbers[half:]),
                     sass.count(plain, name), sass.count(rolled, name))


def kernels_if_any(tools, program):
    """The kernels of a program; none of one that does not compile by itself."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            return list(kernels_of(tools, program, folder))
        except subprocess.CalledProcessError as error:
            print(f"{os.path.relpath(program, ROOT)}: {error.stderr!r:.300}", file=sys.stderr)
            return []


def all_kernels(tools):
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return [k for found in pool.map(lambda program: kernels_if_any(tools, program), programs())
                for k in found]


# ---- what is written ----

def total(counts):
    return sum(n for cls, n in counts.items() if cls in sass.CLASSES)


def write_kernels(kernels):
    with open(os.path.join(HERE, "kernels.csv"), "w", newline="", encoding="utf-8") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["program", "kernel", "class", "ptx", "expected", "counted", "counted_rolled"])
        for k in kernels:
            for cls in sass.CLASSES:
                row = [k.ptx[cls], k.expected[cls], k.counted.get(cls, 0), k.rolled.get(cls, 0)]
                if any(row):
                    out.writerow([k.program, k.name, cls, *(f"{n:g}" for n in row)])


HEAD = """# What PTX instructions become in machine code

`measure.py` assembles small kernels with ptxas, counts the machine instructions of each of the forms in [forms.txt](forms.txt),
and writes the table of `src/ir/expansions.def`: ptxas 13.0.88, sm_90. For sm_80 the forms in
[architectures.csv](architectures.csv) become something else: parameters are operands there, where sm_90 loads them, fences take an
instruction less, and some registers more or less are moved.

Where a program holds machine code, its instructions are counted there instead; [executed.md](executed.md) compares both with what a GPU
counted.

## Whole kernels

Drawn by `compare.py` from [kernels.csv](kernels.csv): the {kernels} kernels of examples/, of the tests and of bench/model and bench/overhead,
compiled with `nvcc -O3`. None of them was used for the table. Compared are static instructions of a whole kernel, without slow paths and
padding. *loops left*: ptxas may not unroll (`.pragma "nounroll"`), so that each loop's body stands there once, as in PTX.

| of a kernel's instructions | median error | nine of ten within | worst | sum of all to that of ptxas |
|---|---|---|---|---|
"""

CLASSES_HEAD = """
By class, of all kernels, loops left; the error is that of a kernel, where ptxas makes at least eight of the class:

| class | PTX instructions | expected | ptxas makes | kernels with eight | median error |
|---|---|---|---|---|---|
"""

WORST_HEAD = """
The ten kernels that are expected worst, loops left:

| program | kernel | PTX instructions | expected | ptxas makes |
|---|---|---|---|---|
"""

TAIL = """
An instruction is expected by itself. What ptxas makes of several together is left out: a product and a sum of addresses become one
`IMAD.WIDE`, sums of three one `IADD3`, and what is worked out twice is worked out once. So integers are expected high, half as many again. Moves (parameters, constants, pairs of registers) are expected low by as much,
and the two make up for each other in the sums above: where a class matters, trust its own line. Marks for lanes
that went apart (`BSSY`, `BSYNC`) and what a kernel does once at its start have no PTX instruction: control is expected low. All of a
kernel counts alike, run or not. None of these kernels computes in double or half precision or on tensor cores; what the table says
of those is of single instructions.
"""


def read_kernels():
    """What write_kernels() wrote."""
    kernels = {}
    with open(os.path.join(HERE, "kernels.csv"), newline="", encoding="utf-8") as f:
        for row in csv.DictReader(f):
            k = kernels.setdefault((row["program"], row["kernel"]), Kernel(row["program"], row["kernel"], {}, {}, {}, {}))
            for counts, column in ((k.ptx, "ptx"), (k.expected, "expected"), (k.counted, "counted"), (k.rolled, "counted_rolled")):
                counts[row["class"]] = float(row[column])
    return list(kernels.values())


def error(predicted, counted):
    return abs(predicted / counted - 1)


def in_percent(share):
    return f"{100 * share:.0f} %"


def summary(kernels, name, predicted, counted):
    pairs = [(total(getattr(k, predicted)), total(getattr(k, counted))) for k in kernels]
    errors = sorted(error(*pair) for pair in pairs)
    ratio = sum(p for p, _ in pairs) / sum(c for _, c in pairs)
    return (f"| {name} | {in_percent(statistics.median(errors))} | {in_percent(errors[len(errors) * 9 // 10])} | "
            f"{in_percent(errors[-1])} | {ratio:.2f} |\n")


def class_line(kernels, cls):
    pairs = [(k.expected.get(cls, 0), k.rolled[cls]) for k in kernels if k.rolled.get(cls, 0) >= 8]
    sums = [sum(getattr(k, field).get(cls, 0) for k in kernels) for field in ("ptx", "expected", "rolled")]
    typical = in_percent(statistics.median(error(*pair) for pair in pairs)) if pairs else ""
    return f"| {cls} | {sums[0]:.0f} | {sums[1]:.0f} | {sums[2]:.0f} | {len(pairs)} | {typical} |\n"


def draw(kernels):
    worst = sorted(kernels, key=lambda k: -error(total(k.expected), total(k.rolled)))[:10]
    return "".join([
        HEAD.format(kernels=len(kernels)),
        summary(kernels, "expected, loops left", "expected", "rolled"),
        summary(kernels, "one for each PTX instruction, loops left", "ptx", "rolled"),
        summary(kernels, "expected", "expected", "counted"),
        summary(kernels, "one for each PTX instruction", "ptx", "counted"),
        CLASSES_HEAD, *(class_line(kernels, cls) for cls in sass.CLASSES),
        WORST_HEAD,
        *(f"| {k.program} | {k.name} | {total(k.ptx):.0f} | {total(k.expected):.0f} | {total(k.rolled):.0f} |\n" for k in worst),
        TAIL])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench_expansion", nargs="?")
    parser.add_argument("--cuda", default=os.path.join(ROOT, ".deps", "cuda"))
    o = parser.parse_args()
    tools = {name: os.path.join(o.cuda, "bin", name) for name in ("nvcc", "ptxas", "nvdisasm")}
    if o.bench_expansion:
        write_kernels(all_kernels({**tools, "bench_expansion": o.bench_expansion}))
    with open(os.path.join(HERE, "results.md"), "w", encoding="utf-8") as f:
        f.write(draw(read_kernels()))


if __name__ == "__main__":
    main()
