#!/usr/bin/env python3
"""Compares what src/sass reads of machine code with what nvdisasm prints of it.

    test_nvdisasm.py PRINT_CODE CUDA_HOME NVCC [--cubins FOLDER]

PRINT_CODE is test_sass_print. Compared is each instruction of kernels of this repository's
programs, compiled for several devices: its name, class (the rules of bench/expansion/sass.py),
whether and where it branches, and the line of the PTX that it was made from; and each kernel's
registers. --cubins: of the cubins in a folder, named NAME.SM.cubin, in place of these.
"""
import argparse
import collections
import glob
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "bench", "expansion"))
import sass  # noqa: E402

SKIPPED = 77
PROGRAMS = ("examples/gemm/gemm_tiled.cu",
            "bench/model/programs/reduce.cu", "bench/model/programs/chains.cu", "tests/flow/kernels.cu")
ARCHITECTURES = (75, 80, 90, 100, 120)
BRANCHES = {"BRA": 1, "CALL": 2, "RET": 3, "EXIT": 4, "BRX": 5, "JMX": 5}

Expected = collections.namedtuple("Expected", "offset guard op operands line")


def printed(nvdisasm, cubin):
    """Of each section of code: its instructions, and where its labels stand."""
    text = subprocess.run([nvdisasm, "-c", "-gp", cubin], check=True, capture_output=True, text=True).stdout
    sections, line, labels = {}, 0, []
    for row in text.splitlines():
        if found := re.match(r"\s*\.section\s+\.text\.([^,]+),", row):
            insns, places, line, labels = [], {}, 0, []
            sections[found[1]] = insns, places
        elif found := re.match(r'\s*//## File "\.nv_debug_ptx_txt", line (\d+)', row):
            line = int(found[1])
        elif found := re.match(r"([\w.$]+):$", row):
            labels.append(found[1])
        elif found := re.match(r"\s+/\*([0-9a-f]+)\*/\s+(?:@(!?U?P\w+) )?\s*(\S+)(?: (.*?))?\s*;", row):
            places.update(dict.fromkeys(labels, len(insns)))
            labels = []
            insns.append(Expected(int(found[1], 16), found[2], found[3], found[4] or "", line))
    return sections


def read(print_code, cubin, sm, kernels):
    text = subprocess.run([print_code, cubin, str(sm), *kernels], check=True, capture_output=True, text=True).stdout
    found = {}
    for row in text.splitlines():
        if row.startswith("kernel "):
            _, name, registers = row.split()
            insns = found[name] = (int(registers), [])
        else:
            insns[1].append(row.split())
    return found


def registers(cuobjdump, cubin):
    text = subprocess.run([cuobjdump, "-res-usage", cubin], check=True, capture_output=True, text=True).stdout
    return {name: int(count) for name, count in re.findall(r"Function (\S+):\n\s*REG:(\d+)", text)}


def wrong(expected, index, places, row):
    """What src/sass says otherwise of an instruction; empty where all agrees."""
    cost, flow, conditional, target, line, name = row
    base = expected.op.split(".")[0]
    wanted = sass.class_of(sass.Instruction(expected.guard or "", expected.op, expected.operands)) or "padding"
    goes = BRANCHES.get(base, 0) if expected.op != "BRA.DIV" else 0
    if base == "BRA" and places.get(sass.target_of(expected)) == index:
        wanted = "padding"  # to itself
    if cost != wanted:
        yield f"class {cost}, not {wanted}"
    if base not in name.split("|"):
        yield f"name {name}"
    if int(flow) != goes:
        yield f"control flow {flow}"
    if int(line) != expected.line:
        yield f"line {line}, not {expected.line}"
    if base == "BRA" and goes:
        label = sass.target_of(expected)
        if int(target) != places.get(label, int(target)):
            yield f"target {target}, not {places[label]}"
        own = re.match(r"!?U?P\w+, ", expected.operands)
        if (conditional == "1") != bool(expected.guard or own):
            yield f"conditional {conditional}"


def compare(o, tools, cubin, sm):
    """Mistakes, and the number of instructions compared."""
    sections, mistakes, seen = printed(tools["nvdisasm"], cubin), [], 0
    found, usage = read(o.print_code, cubin, sm, sections), registers(tools["cuobjdump"], cubin)
    for kernel, (insns, places) in sections.items():
        count, rows = found[kernel]
        if count != usage.get(kernel, count):
            mistakes.append(f"{kernel}: {count} registers, not {usage[kernel]}")
        if len(rows) != len(insns):
            mistakes.append(f"{kernel}: {len(rows)} instructions, not {len(insns)}")
        for index, (expected, row) in enumerate(zip(insns, rows, strict=False)):
            seen += 1
            for what in wrong(expected, index, places, row):
                mistakes.append(f"{os.path.basename(cubin)} {kernel} {expected.offset:04x} {expected.op} {expected.operands}: {what}")
    return mistakes, seen


def compiled(nvcc, folder):
    for program in PROGRAMS:
        for sm in ARCHITECTURES:
            path = os.path.join(folder, f"{os.path.basename(program)[:-3]}.{sm}.cubin")
            subprocess.run([nvcc, "-std=c++17", "-O3", "-lineinfo", "-cubin", f"-arch=sm_{sm}", "-allow-unsupported-compiler",
                            "-Wno-deprecated-gpu-targets", "-o", path, os.path.join(ROOT, program)], check=True, capture_output=True)
            yield path, sm


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("print_code")
    parser.add_argument("cuda")
    parser.add_argument("nvcc")
    parser.add_argument("--cubins", metavar="FOLDER")
    o = parser.parse_args()
    tools = {name: os.path.join(o.cuda, "bin", name) for name in ("nvdisasm", "cuobjdump")}
    missing = [path for path in [*tools.values(), *([] if o.cubins else [o.nvcc])] if not os.access(path, os.X_OK)]
    if missing:
        print("skipped: there is no", ", ".join(missing))
        return SKIPPED
    mistakes, seen, files = [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        cubins = ((path, int(re.search(r"(\d+)a?\.cubin$", path)[1])) for path in sorted(glob.glob(os.path.join(o.cubins, "*.cubin")))) \
            if o.cubins else compiled(o.nvcc, folder)
        for path, sm in cubins:
            more, count = compare(o, tools, path, sm)
            mistakes, seen, files = mistakes + more, seen + count, files + 1
    for mistake in mistakes[:50]:
        print(mistake)
    print(f"{seen} instructions of {files} cubins, {len(mistakes)} mistakes")
    return 1 if mistakes or not seen else 0


if __name__ == "__main__":
    sys.exit(main())
