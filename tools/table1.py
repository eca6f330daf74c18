#!/usr/bin/env python3
"""Table I of the heat-map paper, remade: the patterns that warplens finds in examples/, beside
those that the paper lists.

    table1.py --warplens CMD --nvcc NVCC --work DIR [--output|--check docs/table1.md]

Compiles and profiles the examples without a GPU and reads `warplens stats --format json`. Fails
where a pattern of the paper is not found on its object, or a fixed program has a finding. --check
compares the page with what the programs give now.
"""
import argparse
import json
import os
import re
import subprocess
import sys

# (domain, application, kernel in the paper, (kernel, object, pattern) ... here, program, mended
# program)
ROWS = [
    ("Linear algebra", "GEMM", "gemm_v00", "A", "hot", "gemm/gemm_swapped", "gemm", "d_A", ["hot"], "gemm/gemm_tiled"),
    ("", "", "", "B", "false shared", "gemm/gemm_swapped", "gemm", "d_B", ["false-sharing"], "gemm/gemm_tiled"),
    ("", "", "", "C", "false shared", "gemm/gemm_swapped", "gemm", "d_C", ["false-sharing"], "gemm/gemm_tiled"),
    ("", "", "gemm_v01", "B", "hot", "gemm/gemm_coalesced", "gemm", "d_B", ["hot"], "gemm/gemm_tiled"),
    ("", "SpMV", "spmv_csr", "rowOffsets", "misaligned", "spmv/spmv_scalar", "spmv", "d_offsets", ["misaligned"],
     "spmv/spmv_vector"),
    ("", "", "", "x", "hot-random", "spmv/spmv_scalar", "spmv", "d_x", ["hot-random"], "spmv/spmv_vector"),
    ("Tensor algebra", "PASTA", "spt_TTMRankRBNnzKernelSM", "Y_shr", "abused shared memory", "ttm/ttm_shared", "ttm",
     "Y_shr", ["shared-thread-local"], "ttm/ttm_registers"),
    ("Solver", "GRAMSCHM", "kernel2", "q", "strided", "gramschmidt/gramschmidt_rows", "kernel2", "d_q", ["strided"],
     "gramschmidt/gramschmidt_staged"),
    ("", "", "kernel3", "r (q in the text)", "strided, hot", "gramschmidt/gramschmidt_rows", "kernel3", "d_q",
     ["strided", "hot"], "gramschmidt/gramschmidt_staged"),
    ("Compression", "cuSZp", "cuSZp_compress_kernel_*", "exel_sum", "abused shared memory", "broadcast/broadcast_shared",
     "place", "excl_sum", ["shared-warp-local"], "broadcast/broadcast_shuffle"),
    ("", "", "", "base_idx", "abused shared memory", "broadcast/broadcast_shared", "place", "base_idx",
     ["shared-warp-local"], "broadcast/broadcast_shuffle"),
    ("Molecular dynamics", "GPUMD", "find_cell_counts", "cell_count", "strided, false shared", "cells/cells_scattered",
     "find_cell_counts", "d_cell_count", ["strided", "false-sharing"], "cells/cells_sorted"),
    ("", "", "find_cell_contents", "cell_count", "strided, false shared", "cells/cells_scattered", "find_cell_contents",
     "d_cell_count", ["strided", "false-sharing"], "cells/cells_sorted"),
    ("", "", "", "cell_count_sum", "strided, false shared", "cells/cells_scattered", "find_cell_contents",
     "d_cell_count_sum", ["strided", "false-sharing"], "cells/cells_sorted"),
]
TRAPS = [
    ("traps/trap_table", "a small table that stays in the cache"),
    ("traps/trap_tiny", "a kernel that does not matter"),
    ("histogram/histogram_private", "bank conflicts in a kernel that waits for atomics"),
]
SIZES = {"gemm": "1024"}  # as in the paper; the others' own sizes are like the paper's
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples")

HEAD = """# Table I, remade

Table I of the paper that the heat maps come from (cuThermo) lists patterns that its authors saw, in pictures, in programs of
others. Here warplens finds the same patterns by itself, on the same objects, in kernels written for [examples/](../examples)
that do what those of the paper do, at sizes like the paper's; in the fixed programs it finds none. This page is made, and
checked, by `tools/table1.py`.

*Cost* is what fixing it would save, as a share of what the kernel moves (sectors; in shared memory its wavefronts).

| application | kernel | object | pattern in the paper | found | cost | program | fixed: findings |
|---|---|---|---|---|---|---|---|
"""

NOTES = """
The table in the paper names r for kernel3 of GRAMSCHM; its listing and its text name q, which is what a thread walks
through down a column there, and what warplens finds. cuSZp's broadcast stands in `place` of broadcast_shared.cu: a warp's sum, and where
its output begins. What fixing is predicted to gain is judged apart from all this: of the kernels of GRAMSCHM the first is a small part
of the program, so that its findings come last (the paper measures a gain of 5 %), and in the second q is worth staging (the paper: 20 %).

Programs show more than the paper lists; every finding stands as a comment at its line, and a test compares them.
The table is about accesses: that some of these launches have too few blocks for the device, and
that all blocks of `place` update one counter, is not in it.

## Traps

Patterns that are there, but that fixing would gain nothing from. warplens says so, and lists them after all others.

| program | pattern | object | excess, of the kernel's traffic | of the program's | what warplens says |
|---|---|---|---|---|---|
"""


def run(command):
    done = subprocess.run(command, capture_output=True, check=False, text=True, timeout=560)
    if done.returncode:
        sys.exit("%s: exit status %d\n%s%s" % (" ".join(command), done.returncode, done.stdout, done.stderr))
    return done.stdout


def profile(o, example):
    program = os.path.join(o.work, os.path.basename(example))
    result = program + ".wlprof"
    run([o.nvcc, "-g", "-lineinfo", "-o", program, os.path.join(EXAMPLES, example + ".cu")])
    size = SIZES.get(example.split("/")[0])
    run([o.warplens, "profile", "-q", "-f", "-o", result, "--", program] + ([size] if size else []))
    findings = json.loads(run([o.warplens, "stats", "--format", "json", result]))["findings"]
    # Of kernels; the paper has neither of these two.
    return [f for f in findings if "kernel" in f and f["pattern"] not in ("too-few-blocks", "same-address")]


def pick(findings, kernel, obj, pattern):
    for f in findings:
        name = re.split(r"[<(]", f["kernel"])[0].split()[-1]
        if name == kernel and re.split(r"[ (]", f.get("object", "-"))[0] == obj and f["pattern"] == pattern:
            return f
    return None


def percent(share):
    return ("%d %%" if share >= 0.01 else "%.1g %%") % (100 * share + (0.5 if share >= 0.01 else 0))


def link(example):
    return "[%s](../examples/%s.cu)" % (os.path.basename(example), example)


def row(profiles, r, missing):
    _, application, kernel, thing, paper, example, our_kernel, obj, patterns, mended = r
    found = [pick(profiles[example], our_kernel, obj, p) for p in patterns]
    missing += ["%s: no %s on %s" % (example, p, obj) for p, f in zip(patterns, found, strict=True) if not f]
    left = profiles[mended]
    missing += ["%s: %s on %s" % (mended, f["pattern"], f.get("object", "-")) for f in left]
    return "| %s | %s | %s | %s | %s on `%s` | %s | %s | %s: %s |\n" % (
        application, "`%s`" % kernel if kernel else "", "`%s`" % thing if " " not in thing else thing, paper,
        ", ".join(patterns), obj, ", ".join(percent(f["share_of_kernel"]) for f in found if f), link(example), link(mended),
        len(left) or "none")


def trap(profiles, example, missing):
    findings = profiles[example]
    if len(findings) != 1 or findings[0]["verdict"] == "full":
        missing.append("%s: not one finding of little gain" % example)
    f = findings[0]
    return "| %s | %s | `%s` | %s | %s | %s |\n" % (
        link(example), f["pattern"], re.split(r"[ (]", f.get("object", "-"))[0], percent(f["share_of_kernel"]),
        percent(f["share_of_program"]), f.get("verdict_note", ""))


def main():
    parser = argparse.ArgumentParser()
    for name in ("warplens", "nvcc", "work", "output", "check"):
        parser.add_argument("--" + name)
    o = parser.parse_args()
    os.makedirs(o.work, exist_ok=True)
    programs = sorted({r[5] for r in ROWS} | {r[9] for r in ROWS} | {t[0] for t in TRAPS})
    profiles = {p: profile(o, p) for p in programs}
    missing = []
    page = HEAD + "".join(row(profiles, r, missing) for r in ROWS)
    page += NOTES + "".join(trap(profiles, t[0], missing) for t in TRAPS)
    if o.output:
        with open(o.output, "w") as f:
            f.write(page)
    if o.check and open(o.check).read() != page:
        missing.append("%s is not what the programs give; tools/table1.py --output makes it anew:\n%s" % (o.check, page))
    for problem in sorted(set(missing)):
        print("FAIL:", problem)
    print("%d rows, %d traps" % (len(ROWS), len(TRAPS)))
    sys.exit(bool(missing))


if __name__ == "__main__":
    main()
