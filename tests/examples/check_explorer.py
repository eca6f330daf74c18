#!/usr/bin/env python3
"""Checks what the explorer's examples do, against figures worked out by hand.

    check_explorer.py --warplens CMD --nvcc NVCC --work DIR EXAMPLES

The transposes are those of Rosen, "A visual approach to investigating shared and global memory
behavior of CUDA kernels": his 32 transactions and 32 serialised ones are of compute capability 1.x,
whose rows tests/analysis/test_transactions.c checks; here they are those of later GPUs.
"""

import json
import os
import subprocess
import sys

WARPS = 1024 * 8  # of a transpose

# By kernel, what is accessed in which way, over all lines: requests, and sectors or wavefronts.
ACCESSES = {
    # Rows of two 64-byte pieces; columns of 16 pieces, each of two neighbours.
    "transpose_naive": {"global load": (WARPS, 4 * WARPS), "global store": (WARPS, 16 * WARPS)},
    # Two rows of a tile are 32 words; of two columns 8 words lie in each of 4 banks.
    "transpose_shared": {"shared store": (WARPS, WARPS), "shared load": (WARPS, 8 * WARPS)},
    # Rows of 17 words: the first and the last of 32 words share a bank, and so they do in columns.
    "transpose_padded": {"shared store": (WARPS, 2 * WARPS), "shared load": (WARPS, 2 * WARPS)},
    "vector_add": {"global load": (2 * 512, 8 * 512), "global store": (512, 4 * 512)},
    # Each of 8 rounds has two loads: 5 rounds keep all 8 warps of 64 blocks busy, then 4, 2 and 1
    # go on; and there is a load at last.
    "scalar_product": {"shared load": (64 * (2 * (5 * 8 + 4 + 2 + 1) + 1),) * 2},
    # Rounds of 4, 2 and then 1 warp.
    "reduction": {"shared load": (64 * (2 * (4 + 2 + 6) + 1),) * 2},
    # 8 pairs of tiles, 16 steps each: of A two words a warp, which are broadcast, of B 16.
    "multiply": {"shared load": (2 * 8 * 16 * 512,) * 2, "global load": (2 * 8 * 512, 4 * 2 * 8 * 512)},
}

# By kernel: warps, blocks, and whether any stands out.
KINDS = {
    "transpose_naive": (WARPS, 1024, False),
    "transpose_shared": (WARPS, 1024, False),
    "transpose_padded": (WARPS, 1024, False),
    "haar": (256, 16, True),
    "vector_add": (512, 64, False),
    "scalar_product": (512, 64, True),
    "reduction": (512, 64, True),
    "multiply": (512, 64, False),
    "histogram": (256, 32, True),
}


def profiled(options, source):
    """What stats has to say of the program, as JSON."""
    program = os.path.join(options["--work"], os.path.basename(source)[:-3])
    path = program + ".wlprof"
    warplens = options["--warplens"]
    subprocess.run([options["--nvcc"], "-O3", "-lineinfo", "-o", program, source], check=True)
    collect = [warplens, "profile", "--backend", "emulate", "--set", "sequences", "-q", "-f", "-o", path, "--", program]
    subprocess.run(collect, check=True, stdout=subprocess.DEVNULL)
    stats = subprocess.run([warplens, "stats", "--format", "json", path], check=True, capture_output=True, text=True)
    return json.loads(stats.stdout)


def accesses(data, kernel):
    """Requests, and sectors or wavefronts, by space and operation."""
    sums = {}
    for i in data["instructions"]:
        if i["kernel"].split("(")[0] == kernel:
            cost = i["wavefronts"] if i["space"] == "shared" else i["sectors"]
            requests, costs = sums.get(f"{i['space']} {i['op']}", (0, 0))
            sums[f"{i['space']} {i['op']}"] = (requests + i["requests"], costs + cost)
    return sums


def wrong_of(data):
    """What is not as it was worked out."""
    for launch in data["launches"]:
        kernel, warps = launch["kernel"].split("(")[0], launch["warps"]
        got = (warps["count"], warps["blocks"], bool(warps["outliers"]))
        if got != KINDS[kernel]:
            yield f"{kernel}: warps, blocks and outliers are {got}, not {KINDS[kernel]}"
        found = accesses(data, kernel)
        for what, wanted in ACCESSES.get(kernel, {}).items():
            if found.get(what) != wanted:
                yield f"{kernel}: {what} has {found.get(what)}, not {wanted}"


def wrong_of_haar(data):
    """Block 0 runs about a fifth longer than any other."""
    outliers = data["launches"][0]["warps"]["outliers"]
    first = max(o["operations_most"] for o in outliers if o["block"][0] == 0)
    others = max(o["operations_most"] for o in outliers if o["block"][0] > 0)
    if not 1.15 < first / others < 1.25:
        yield f"haar: block 0 runs {first} operations, the others {others}"


def main():
    options = dict(zip(sys.argv[1:7:2], sys.argv[2:8:2], strict=True))
    os.makedirs(options["--work"], exist_ok=True)
    wrong, seen = [], set()
    for name in sorted(os.listdir(sys.argv[7])):
        data = profiled(options, os.path.join(sys.argv[7], name))
        seen |= {launch["kernel"].split("(")[0] for launch in data["launches"]}
        wrong += wrong_of(data)
        if name == "haar.cu":
            wrong += wrong_of_haar(data)
    if seen != set(KINDS):
        wrong.append(f"kernels are {sorted(seen)}")
    print("\n".join(wrong) or f"{len(seen)} kernels as worked out")
    sys.exit(1 if wrong else 0)


main()
