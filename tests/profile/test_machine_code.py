"""test_machine_code.py WARPLENS NVCC FOLDER ROOT: machine instructions of a program's kernels are
counted in its machine code, as a GPU counted them; without what that needs, they are estimated, and
it is said."""

import os
import sqlite3
import subprocess
import sys

WARPLENS, NVCC, FOLDER, ROOT = sys.argv[1:]
sys.path.insert(0, os.path.join(ROOT, "bench", "expansion"))
import executed  # noqa: E402

PROGRAM = "reduce"
CLOSE = 0.1  # of what the GPU counted


def build(name, *options):
    program = os.path.join(FOLDER, name)
    source = os.path.join(ROOT, "bench", "model", "programs", PROGRAM + ".cu")
    subprocess.run([NVCC, "-std=c++17", "-O3", "-allow-unsupported-compiler", *options, "-o", program, source], check=True)
    return executed.profiled(WARPLENS, program, ["each"], FOLDER)


def asked(profile, query):
    with sqlite3.connect(profile) as db:
        return sorted(set(db.execute(query).fetchall()))


def sources(profile):
    return asked(profile, "SELECT machine_sm, machine_missing FROM kernels")


def expect(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}: {got}, not {wanted}")


def main():
    os.makedirs(FOLDER, exist_ok=True)
    os.environ.update({name: "" for name in os.environ if name.startswith("WARPLENS_")})
    truth = executed.executed()[PROGRAM]
    by_table = build("plain", "-arch=sm_90")
    expect("without lines", sources(by_table), [(None, "its machine code has no line information (nvcc -lineinfo)")])
    table = [ratio["all"] for ratio in executed.ratios(truth, executed.said(by_table))]
    counted = build("lines", "-lineinfo", "-arch=sm_90")
    expect("with lines", sources(counted), [(90, "")])
    expect("registers", asked(counted, "SELECT n.name FROM launches l JOIN names n ON n.kind = 'registers' AND n.value = l.registers_by"),
           [("ptxas",)])
    machine = [ratio["all"] for ratio in executed.ratios(truth, executed.said(counted))]
    far = [ratio for ratio in machine if abs(ratio - 1) > CLOSE]
    if far or max(abs(ratio - 1) for ratio in table) <= CLOSE:
        sys.exit(f"told to counted: {machine} with machine code, {table} without")
    near = build("near", "-lineinfo", "-gencode", "arch=compute_80,code=[sm_80,compute_80]")
    expect("of another device", sources(near), [(80, "")])
    expect("its registers", asked(near, "SELECT n.name FROM launches l JOIN names n ON n.kind = 'registers' AND n.value = l.registers_by"),
           [("estimate",)])


main()
