#!/usr/bin/env python3
"""Checks live ranges of shared arrays in programs whose ranges can be worked out by hand.

    check_ranges.py --warplens CMD --nvcc NVCC --work DIR EXAMPLES

An access per range is one after the store that begins it: what Zheng et al. ("GMProf") count, which
has the store as well, is one more. Their Jacobi has 2 before and 4 after the change; so have these.
"""
import json
import os
import subprocess
import sys

# Program, and for each shared array: ranges, and accesses in all of them.
TILES = 4 * (512 // 8) * (512 // 32)  # launches, tiles down and across
BLOCKS, STEPS = 1024, 255
PROGRAMS = {
    # Each word of a tile is stored once and read once.
    "jacobi_out": [(TILES * 8 * 32, TILES * 8 * 32)],
    # 10 x 34 words, of which each of 8 x 32 threads reads four.
    "jacobi_in": [(TILES * 10 * 34, TILES * 8 * 32 * 4)],
    # Each step reads two words and updates one, by as many threads as there are steps left;
    # then each word is read once, and the first twice.
    "binomial_shared": [(BLOCKS * (STEPS + 1), BLOCKS * (3 * STEPS * (STEPS + 1) // 2 + STEPS + 1 + 1))],
}


def uses(warplens, nvcc, work, source):
    program = os.path.join(work, os.path.basename(source)[:-3])
    path = program + ".wlprof"
    subprocess.run([nvcc, "-O3", "-lineinfo", "-o", program, source], check=True)
    subprocess.run([warplens, "profile", "--backend", "emulate", "--probes", "shared", "-q", "-f", "-o", path, "--", program], check=True,
                   stdout=subprocess.DEVNULL)
    text = subprocess.run([warplens, "stats", "--format", "json", path], check=True, capture_output=True, text=True).stdout
    return [u for u in json.loads(text)["uses"] if u["space"] == "shared"]


def main():
    options = dict(zip(sys.argv[1:7:2], sys.argv[2:8:2], strict=True))
    work = options["--work"]
    os.makedirs(work, exist_ok=True)
    for name, wanted in PROGRAMS.items():
        rows = uses(options["--warplens"], options["--nvcc"], work, os.path.join(sys.argv[7], "onchip", name + ".cu"))
        got = sorted((u["ranges"], round(u["ranges"] * u["accesses_per_range"])) for u in rows)
        print(f"{name}: {got}")
        if got != wanted:
            sys.exit(f"FAIL: {name} has ranges and accesses {got}, not {wanted}")


main()
