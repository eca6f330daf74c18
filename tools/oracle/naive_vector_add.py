#!/usr/bin/env python3
"""A replay that anybody can check: the kernel vector_add of examples/explorer/sums.cu, thread by
thread. Prints what `oracle.py compare programs development` takes.

out[i] = a[i] + b[i]. Its machine code loads twice (0xa0, 0xb0) and stores once (0xe0), and 16
instructions run, all of them in all warps.
"""
import json
import struct

import store

KERNEL = "_Z10vector_addPfPKfS1_"
INSTRUCTIONS, LOADS, STORE = 16, (0xa0, 0xb0), 0xe0


def sectors_of(base, block, warp, threads):
    return len({(base + 4 * (block * threads + 32 * warp + lane)) // 32 for lane in range(32)})


def replay(launch):
    blocks, threads = launch["grid"][0], launch["block"][0]
    out, a, b = struct.unpack("<QQQ", bytes.fromhex(launch["params"])[:24])
    warps = [(block, warp) for block in range(blocks) for warp in range(threads // 32)]
    claims = {16 * i: {"executions": len(warps), "threads": 32 * len(warps)} for i in range(INSTRUCTIONS)}
    for pc, base in zip((*LOADS, STORE), (a, b, out), strict=True):
        claims[pc]["sectors"] = sum(sectors_of(base, block, warp, threads) for block, warp in warps)
    return {"launch": launch["id"], "claims": claims}


def main():
    for launch in store.read_launches("programs", "development")[1]:
        if launch["kernel"] == KERNEL:
            print(json.dumps(replay(launch)))


if __name__ == "__main__":
    main()
