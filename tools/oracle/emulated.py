#!/usr/bin/env python3
"""Runs this repository's programs on the emulator from their machine code, and tells what was
counted as a replay does.

    emulated.py WARPLENS FOLDER [PROGRAM...] >REPLAY

Of the development half of `programs`: all, or those named (`examples.spmv.spmv_scalar`). FOLDER
keeps what is compiled. A launch is claimed where the kernel's code is that which ncu counted, byte
for byte, and as many different launches of its kernel and shape ran as were counted. Programs of
bench/ are left out: they were counted with arguments.
"""
import glob
import json
import os
import sqlite3
import subprocess
import sys
import tempfile

import cubin
import fetch
import store

SPACES = {"global": "sectors", "local": "sectors_local", "shared": "wavefronts"}
ASYNC, BULK, TEXTURE = 1, 2, 64  # access/access.h
UNCLEAR = 1 << 17  # observe/summary.h


def build(program, folder):
    made = os.path.join(folder, program)
    if not os.path.exists(made):
        options = [word.replace("code=sm_90", "code=[sm_90,compute_90]") for word in [*fetch.NVCC_OPTIONS, *fetch.SM_90]]
        done = subprocess.run([fetch.tool("nvcc"), *options, "-o", made, fetch.source_of(program)], cwd=fetch.ROOT, check=False,
                              stdout=sys.stderr)
        if done.returncode:
            return None
    return made


def codes_of(program):
    """Hashes of the machine code of its kernels, by name."""
    codes = {}
    with tempfile.TemporaryDirectory() as work:
        subprocess.run([fetch.tool("cuobjdump"), "-xelf", "sm_90", os.path.abspath(program)], cwd=work, check=True,
                       stdout=subprocess.DEVNULL)
        for path in glob.glob(os.path.join(work, "*.cubin")):
            with open(path, "rb") as f:
                codes.update({name: cubin.hash_of(code) for name, code in cubin.kernels(f.read()).items()})
    return codes


def claims_of(profile, launch):
    claims = {}

    def add(pc, counter, value):
        claim = claims.setdefault(str(16 * pc), {})
        claim[counter] = claim.get(counter, 0) + value

    for first, count, executions, lanes in profile.execute(
            "SELECT first_pc, ninsns, executions, lanes FROM launch_blocks WHERE launch = ?", (launch,)):
        for pc in range(first, first + count):
            add(pc, "executions", executions)
            add(pc, "threads", lanes)
    for pc, space, flags, sectors, wavefronts in profile.execute(
            "SELECT pc, n.name, flags, sectors, wavefronts FROM launch_instructions i JOIN names n "
            "ON n.kind = 'space' AND n.value = i.space WHERE launch = ?", (launch,)):
        if space in SPACES and not flags & (TEXTURE | BULK) and not (flags & (ASYNC | UNCLEAR) and space == "shared"):
            add(pc, SPACES[space], wavefronts if space == "shared" else sectors)
    return claims


def shape_of(launch):
    return launch["kernel"], tuple(launch["grid"]), tuple(launch["block"]), launch["dynamic_shared"]


def run(warplens, made, folder, *options, **variables):
    """What was counted from machine code, by kernel and shape: each that is unlike the others. One
    thread runs block after block, so that what depends on their order is the same each time."""
    out = os.path.join(folder, "run.wlprof")
    subprocess.run([warplens, "profile", "-q", "-f", "--code", "machine", "--threads", "1", *options, "-o", out, "--", made], cwd=folder,
                   check=False, stdin=subprocess.DEVNULL, stdout=sys.stderr, timeout=600, env={**os.environ, **variables})
    found, profile = {}, sqlite3.connect(out)
    for launch, kernel, *numbers in profile.execute(
            "SELECT l.id, k.mangled, grid_x, grid_y, grid_z, block_x, block_y, block_z, dynamic_shared FROM launches l "
            "JOIN kernels k ON k.id = l.kernel JOIN modules m ON m.id = k.module WHERE m.kind = "
            "(SELECT value FROM names WHERE kind = 'module' AND name = 'cubin') ORDER BY l.id"):
        shape = kernel, tuple(numbers[:3]), tuple(numbers[3:6]), numbers[6]
        claims = claims_of(profile, launch)
        if claims not in found.setdefault(shape, []):
            found[shape].append(claims)
    return found


def replay_program(warplens, program, folder, launches, *options, **variables):
    made = build(program, folder)
    if not made:
        return [{"launch": x["id"], "reason": "the program could not be compiled"} for x in launches]
    codes, found = codes_of(made), run(warplens, made, folder, *options, **variables)
    lines = []
    for launch in launches:
        alike = [x for x in launches if shape_of(x) == shape_of(launch)]
        claims = found.get(shape_of(launch), [])
        if codes.get(launch["kernel"]) != launch["code"]:
            lines.append({"launch": launch["id"], "reason": "the compiler makes other code of it"})
        elif len(claims) != len(alike):
            lines.append({"launch": launch["id"], "reason": f"{len(claims)} launches of its kernel and shape ran from machine code, "
                                                            f"{len(alike)} were counted"})
        else:
            lines.append({"launch": launch["id"], "claims": claims[alike.index(launch)], "gaps": {}, "reason": ""})
    return lines


def main():
    warplens, folder = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    os.makedirs(folder, exist_ok=True)
    programs = {}
    for launch in store.read_launches("programs", "development")[1]:
        programs.setdefault(launch["id"].split("/")[1], []).append(launch)
    for program in sys.argv[3:] or [name for name in programs if not name.startswith("bench.")]:
        for line in replay_program(warplens, program, folder, programs[program]):
            print(json.dumps(line))


if __name__ == "__main__":
    main()
