#!/usr/bin/env python3
"""NVIDIA's assembler must take every rewritten module; registers, shared memory and stack before
and after.

test_ptxas.py WARPLENS PTXAS SCRATCH [--table TABLE] FILE...: PTX files. Each is rewritten with all
probes, for unproven accesses and for everything, and assembled for sm_80 and sm_90, or its own
target where that is later; with each probe alone for the last of these, everything probed (with
--table: unproven accesses, too).
"""
import argparse
import csv
import pathlib
import re
import subprocess
import sys

FREE_SHARED = 7296 - 1024  # bytes of a block that never keep another from a multiprocessor, at most (sm_90)
PROBES = ["objects", "trace", "touch", "frequency", "shared", "blocks", "all"]
SKIPPED = 77
COLUMNS = ["file", "kernel", "arch", "probe", "collect", "registers", "registers_probed", "shared", "shared_probed",
           "stack", "stack_probed", "spilled_probed"]


def architectures(ptx):
    target = re.search(r"^\.target\s+(sm_(\d+)(\w?))", ptx, re.M)
    number = int(target[2])
    if target[3] or number > 90:
        return [target[1]]
    return [f"sm_{arch}" for arch in (80, 90) if arch >= number]


def used(text):
    """name -> (registers, shared bytes, stack bytes, spilled bytes) from ptxas -v."""
    kernels = {}
    name = None
    stack = spilled = 0
    for line in text.splitlines():
        if found := re.search(r"Compiling entry function '(\S+)'", line):
            name = found[1]
        elif found := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores", line):
            stack, spilled = int(found[1]), int(found[2])
        elif (found := re.search(r"Used (\d+) registers", line)) and name:
            shared = re.search(r"(\d+) bytes smem", line)
            kernels[name] = (int(found[1]), int(shared[1]) if shared else 0, stack, spilled)
            name = None
    return kernels


def assemble(ptxas, path, arch):
    done = subprocess.run([ptxas, "-c", "-v", f"-arch={arch}", path, "-o", path.with_suffix(".cubin")],
                          capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stdout + done.stderr


def rewrite(warplens, path, probe, everything, out):
    with open(out, "w") as f:
        subprocess.run([warplens, "ptx", "-q", "--rewrite", probe, *(["--everything"] if everything else []), path],
                       stdout=f, check=True)


def modules_of_their_own(args, path, arch):
    """Each kernel in one, with all probes; says how many were taken, and how many were not."""
    done = subprocess.run([args.warplens, "ptx", "-q", "--rewrite", "all", "--everything", "--alone", path],
                          stdout=subprocess.PIPE, text=True, check=False)
    texts = re.split(r"^(?=\.version)", done.stdout, flags=re.M)[1:]
    failures = 0
    for text in texts:
        out = args.scratch / "alone.ptx"
        out.write_text(text)
        accepted, said = assemble(args.ptxas, out, arch)
        if not accepted or len(used(said)) != 1:
            print(f"{path.name}: a kernel in a module of its own for {arch}:\n{said[:2000]}")
            failures += 1
    return len(texts), failures


def combinations(archs, table):
    for arch in archs:
        yield "all", "auto", arch
        yield "all", "probe", arch
    for probe in PROBES[:-1]:
        yield probe, "probe", archs[-1]
        if table:
            yield probe, "auto", archs[-1]


def check(args, path):
    rows, failures = [], 0
    out = args.scratch / "probed.ptx"
    archs = architectures(path.read_text())
    plain = {arch: used(assemble_or_fail(args.ptxas, path, arch, args.scratch)) for arch in archs}
    for probe, collect, arch in combinations(archs, args.table):
        rewrite(args.warplens, path, probe, collect == "probe", out)
        accepted, said = assemble(args.ptxas, out, arch)
        if not accepted:
            print(f"{path.name}: {probe} ({collect}) for {arch} is refused:\n{said[:2000]}")
            failures += 1
            continue
        probed = used(said)
        if set(probed) != set(plain[arch]):
            print(f"{path.name}: {probe}: other kernels than before")
            failures += 1
        for name, before in plain[arch].items():
            after = probed[name]
            room = FREE_SHARED if probe in ("shared", "all") else 0
            if after[1] != before[1] and not before[1] < after[1] <= room:
                print(f"{path.name}: {name}: {probe} changes shared memory: {before[1]} to {after[1]} bytes")
                failures += 1
            rows.append([path.stem, name, arch, probe, collect, before[0], after[0], before[1], after[1], before[2],
                         after[2], after[3]])
    return rows, failures


def assemble_or_fail(ptxas, path, arch, scratch):
    copy = scratch / "plain.ptx"
    copy.write_text(path.read_text())
    accepted, said = assemble(ptxas, copy, arch)
    if not accepted:
        raise SystemExit(f"{path}: {said}")
    return said


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("warplens")
    parser.add_argument("ptxas")
    parser.add_argument("scratch", type=pathlib.Path)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--table")
    args = parser.parse_intermixed_args()
    if not pathlib.Path(args.ptxas).exists():
        print("skipped: no ptxas")
        return SKIPPED
    args.scratch.mkdir(parents=True, exist_ok=True)
    rows, failures = [], 0
    alone = 0
    for path in args.files:
        some, bad = check(args, path)
        rows += some
        failures += bad
        own, bad = modules_of_their_own(args, path, architectures(path.read_text())[-1])
        alone += own
        failures += bad
    print(f"{len(args.files)} files, {len(rows)} kernels assembled with probes, {alone} in modules of their own, "
          f"{failures} failures")
    if args.table:
        with open(args.table, "w", newline="") as f:
            csv.writer(f, lineterminator="\n").writerows([COLUMNS, *rows])
    return 1 if failures or not rows or not alone else 0


if __name__ == "__main__":
    sys.exit(main())
