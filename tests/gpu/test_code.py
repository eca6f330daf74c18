#!/usr/bin/env python3
"""Kernels that a GPU runs, counted by their machine code (`--code machine`), without a GPU: the
library before the driver, with the emulator's driver in NVIDIA's place, which runs their PTX.

    test_code.py --warplens CMD --libraries DIR --runtime DIR --work DIR --nvcc NVCC SOURCE.cu...

What replay makes of the machine code is what the emulator counts when it runs the same machine
code, access for access; a launch that does not follow from its parameters is counted by its PTX, as
without the option, and the report says why. What Nsight Compute counted on an H200 of programs in
the development half of the oracle is the same.
"""
import argparse
import collections
import os
import sqlite3
import subprocess
import sys

import test_program

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/oracle"))
import emulated
import fetch
import store

COUNTED = ["merged_loads", "examples.explorer.haar"]


def build(o, source, code="[sm_90,compute_90]"):
    made = os.path.join(o.work, os.path.basename(source)[:-3] + ("" if code.startswith("[") else "_ptx"))
    if not os.path.exists(made) or os.path.getmtime(made) < os.path.getmtime(source):
        subprocess.run([o.nvcc, "-lineinfo", "-std=c++17", "-gencode", f"arch=compute_90,code={code}", "-allow-unsupported-compiler",
                        "-cudart", "shared", "-o", made, source], check=True)
    return made


def stand_in(o):
    return {"LD_LIBRARY_PATH": o.runtime, "WARPLENS_DEVICE": "h200",
            "WARPLENS_DRIVER": os.path.join(o.libraries, "emulate", "libcuda.so.1")}


def profile(o, program, backend, *options, **variables):
    if backend == "inline":
        options, variables = ("--replay-budget", "none", *options), {**stand_in(o), **variables}
    o.arguments = []
    return test_program.profile(o, program, backend, *options, **variables)


def ask(o, backend, statement):
    with sqlite3.connect(os.path.join(o.work, backend + ".wlprof")) as database:
        return database.execute(statement).fetchall()


def codes(o, backend):
    """By launch: of which code its kernel is, and how it is known."""
    return {launch: (kind, way) for launch, kind, way in ask(
        o, backend, "SELECT l.id, n.name, w.name FROM launches l JOIN kernels k ON k.id = l.kernel JOIN modules m ON m.id = k.module "
        "JOIN names n ON n.kind = 'module' AND n.value = m.kind JOIN names w ON w.kind = 'way' AND w.value = l.way")}


def blocks(o, backend, wanted):
    rows = collections.Counter(ask(o, backend, "SELECT l.id, b.first_pc, b.ninsns, b.executions, b.lanes FROM launches l "
                                               "JOIN blocks b ON b.launch = l.rows_of"))
    return {row: n for row, n in rows.items() if row[0] in wanted}


def rows(profiled, wanted):
    return sorted((one["launch"], one["pc"], *(one[key] for key in sorted(one))) for one in profiled["instructions"]
                  if one["launch"] in wanted)


def compare(o, source):
    """Launches by machine code on both sides have the same rows, with their source lines, and the
    same basic blocks; the others are as by PTX."""
    program = build(o, source)
    emulated, theirs = profile(o, program, "emulate", "--code", "machine", WARPLENS_DEVICE="h200")
    ran = codes(o, "emulate")
    done, by_ptx = profile(o, program, "inline", "--collect", "replay")
    done, ours = profile(o, program, "inline", "--collect", "replay", "--code", "machine")
    if (done.returncode, done.stdout) != (emulated.returncode, emulated.stdout):
        test_program.fail(f"{source}: output or status", done)
    replayed = codes(o, "inline")
    wanted = {one for one, (kind, way) in replayed.items() if (kind, way) == ("cubin", "replay")}
    told = {one["launch"] for one in theirs["instructions"]}  # not of what faults in the emulator
    both = {one for one in wanted & told if ran[one][0] == "cubin"}  # nor what prints or asserts, which it does by PTX
    mine = rows(ours, both)
    test_program.same(f"{source}: rows", mine, rows(theirs, both))
    counted, whole = blocks(o, "inline", both), blocks(o, "emulate", both)
    test_program.same(f"{source}: basic blocks", [row for row in counted if row not in whole], [])
    others = {one["id"] for one in ours["launches"]} - wanted
    test_program.same(f"{source}: rows by PTX", rows(ours, others), rows(by_ptx, others))
    says = test_program.messages(o)
    for kernel in {one["kernel"] for one in ours["launches"] if one["id"] in others}:
        if " are counted by their PTX, not by machine code: " not in says and f"{kernel} is counted by its PTX, not by its machine code: " not in says:
            test_program.fail(f"{source}: the report does not say why {kernel} is counted by its PTX: {says}")
    print(f"{os.path.basename(source)}: {len(both)} of {len(replayed)} launches by machine code as emulated, {len(mine)} rows")
    return len(both)


def compare_counted(o):
    """Each counter that replay claims. The compiler may make other code than was counted."""
    launches, truths = store.read_launches("programs", "development")[1], store.read_truth("programs", "development")
    for name in COUNTED:
        own = [one for one in launches if one["id"].split("/")[1] == name]
        claims, wrong = 0, []
        for line in emulated.replay_program(o.warplens, name, o.work, own, "--backend", "inline", "--replay-budget", "none", "--collect",
                                            "replay", **stand_in(o)):
            truth = truths[line["launch"]]
            for pc, claimed in line.get("claims", {}).items():
                for counter, value in claimed.items():
                    claims += 1
                    if truth["counts"].get(counter, [0] * len(truth["opcodes"]))[int(pc) // 16] != value:
                        wrong.append((line["launch"], pc, counter, value))
        if wrong:
            test_program.fail(f"{name}: not what was counted: {wrong}")
        print(f"{name}: {claims} counters as on the GPU")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sources", nargs="+")
    for name in ("warplens", "libraries", "runtime", "work", "nvcc"):
        parser.add_argument("--" + name, required=True)
    o = parser.parse_args()
    os.makedirs(o.work, exist_ok=True)
    fetch.tool = lambda name: os.path.join(os.path.dirname(o.nvcc), name)
    compare_counted(o)
    if not sum([compare(o, source) for source in o.sources]):
        test_program.fail("no launch was counted by machine code")


if __name__ == "__main__":
    sys.exit(main())
