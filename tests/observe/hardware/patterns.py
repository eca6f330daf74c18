"""Access patterns whose cost measure.py reads from the hardware's counters.

A pattern is one warp instruction: kind, bytes a lane, mask of active lanes, 32 byte offsets. They
are drawn from a fixed seed, so that two runs measure the same. Prints CSV:
id,kind,bytes,mask,name,offsets (space-separated). Kinds: lds sts atoms (shared load, store, atomic
add), ldsm (ldmatrix x1, x2, x4: bytes is 16, the mask says which lanes give a row), ldgsts
(cp.async; offsets are shared addresses), ldg stg atomg redg (global), ldl stl (local).
"""
import random
import sys

FULL = 0xFFFFFFFF
SHARED = 32 * 1024
GLOBAL = 1 << 20


def bits(pred):
    return sum(1 << i for i in range(32) if pred(i))


MASKS = {
    "low": 0x0000FFFF, "high": 0xFFFF0000, "even": 0x55555555, "odd": 0xAAAAAAAA, "quarters02": 0x00FF00FF,
    "quarters13": 0xFF00FF00, "one": 0x00000020, "two": 0x00010001, "fourth": 0x11111111, "tail": 0x000007FF,
    "mid": 0x00FFFF00, "low1": 0x00000001, "pairs": 0x33333333, "q0": 0xFF, "q1": 0xFF00, "q3": 0xFF000000,
}


def random_mask(rng):
    kind = rng.randrange(4)
    if kind == 0:
        return FULL
    if kind == 1:
        return rng.getrandbits(32) or 1
    if kind == 2:
        return (rng.getrandbits(32) & rng.getrandbits(32)) or 2
    return (1 << rng.randrange(1, 32)) - 1


def shared_structured():
    """(name, mask, element indices)"""
    for s in (0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33):
        yield f"stride{s}", FULL, [i * s for i in range(32)]
    for k in (1, 2, 4, 8, 16):
        yield f"same^{k}", FULL, [i & ~k for i in range(32)]
        yield f"same^{k}conflict", FULL, [(i & ~k) * 32 for i in range(32)]
        yield f"xor{k}", FULL, [i ^ k for i in range(32)]
    for s in (2, 3, 4, 6, 8, 16):
        yield f"group{s}", FULL, [i // s for i in range(32)]
        yield f"mod{s}", FULL, [i % s for i in range(32)]
        yield f"group{s}conflict", FULL, [(i // s) * 32 for i in range(32)]
        yield f"mod{s}conflict", FULL, [(i % s) * 32 for i in range(32)]
    yield "reverse", FULL, [31 - i for i in range(32)]
    yield "bitreverse", FULL, [int(f"{i:05b}"[::-1], 2) for i in range(32)]
    yield "offset1", FULL, [i + 1 for i in range(32)]
    yield "halves+64", FULL, [i % 16 + 64 * (i // 16) for i in range(32)]
    yield "quarters+64", FULL, [i % 8 + 64 * (i // 8) for i in range(32)]
    yield "low1high2", FULL, [(i & ~1) if i < 16 else (i & ~2) for i in range(32)]
    yield "low1highall", FULL, [(i & ~1) if i < 16 else i for i in range(32)]
    yield "q0q1same", FULL, [(i & ~1) if i < 16 else i * 5 for i in range(32)]
    yield "q1only", FULL, [(i & ~1) if 8 <= i < 16 else i for i in range(32)]
    yield "transposed8", FULL, [(i % 8) * 32 + i // 8 for i in range(32)]
    yield "gemm a", FULL, [(i // 8) * 2 for i in range(32)]
    yield "gemm b", FULL, [i % 8 for i in range(32)]
    yield "gemm c", FULL, [(i // 16) * 8 + (i % 2) for i in range(32)]
    yield "gemm d", FULL, [(i // 16) * 4 + (i % 8) // 2 for i in range(32)]
    for name, m in MASKS.items():
        yield f"mask {name}", m, list(range(32))
        yield f"mask {name} uniform", m, [3] * 32
        yield f"mask {name} conflict", m, [i * 32 for i in range(32)]
        yield f"mask {name} pair", m, [i // 2 for i in range(32)]


def shared_random(b, rng, n):
    for k in range(n):
        span = rng.choice((8, 16, 32, 64, 128, 512, SHARED // b))
        idx = [rng.randrange(span) for _ in range(32)]
        m = random_mask(rng)
        form = rng.randrange(6)
        if form == 1:
            idx = [idx[i & ~1] for i in range(32)]
        elif form == 2:
            idx = [idx[i & ~2] for i in range(32)]
        elif form == 3:
            g = rng.choice((2, 4, 8, 16))
            idx = [idx[i // g] for i in range(32)]
        elif form == 4:
            q = rng.randrange(4)
            idx = [idx[i & ~1] if i // 8 == q or i // 8 == (q ^ 1) else idx[i] for i in range(32)]
        elif form == 5:
            p = list(range(32))
            rng.shuffle(p)
            idx = p
        yield f"random{k}", m, idx


def shared(rng):
    for kind, sizes in (("lds", ((4, 40), (8, 60), (16, 90), (1, 8), (2, 8))),
                        ("sts", ((4, 30), (8, 50), (16, 60), (1, 10), (2, 10))),
                        ("atoms", ((4, 25), (8, 15)))):
        for b, n in sizes:
            pats = list(shared_random(b, rng, n))
            wide = b >= 4 if kind == "lds" else b >= 8
            structured = list(shared_structured())
            if not wide or kind == "atoms":
                structured = structured[:14] + structured[29:41] if b >= 4 else structured[:14]
            if kind == "lds" and b == 4:
                structured = [p for p in structured if "mask" not in p[0]] + structured[-20:]
            if kind == "sts" and b >= 8:
                structured = [p for p in structured if "mask" not in p[0]] + structured[-24:]
            for name, m, idx in structured + pats:
                yield kind, b, m, name, [(i * b) % SHARED for i in idx]
    for rows in (8, 16, 32):
        m = (1 << rows) - 1
        for name, idx in (("rows128", [i * 8 for i in range(32)]), ("rows16", list(range(32))),
                          ("rows144", [i * 9 for i in range(32)]), ("rows64", [i * 4 for i in range(32)]),
                          ("rows32", [i * 2 for i in range(32)]), ("same", [0] * 32),
                          ("pairs", [i // 2 for i in range(32)]),
                          ("swizzle", [(i % 8) * 8 + ((i % 8) ^ (i // 8)) for i in range(32)])):
            yield "ldsm", 16, m, name, [i * 16 for i in idx]
        for k in range(6):
            yield "ldsm", 16, m, f"random{k}", [rng.randrange(64) * 16 for _ in range(32)]
    for b in (4, 8, 16):
        for name, m, idx in list(shared_structured())[:16:2] + list(shared_random(b, rng, 6)):
            yield "ldgsts", b, m, name, [(i * b) % SHARED for i in idx]


def global_structured(b):
    for s in (0, 1, 2, 3, 4, 5, 8, 16, 32, 33):
        yield f"stride{s}", FULL, [i * s * b for i in range(32)]
    for o in (b, 2 * b, 16, 32, 48):
        if o % b == 0:
            yield f"offset{o}", FULL, [o + i * b for i in range(32)]
    yield "reverse", FULL, [(31 - i) * b for i in range(32)]
    yield "pairs", FULL, [(i // 2) * b for i in range(32)]
    yield "halves same", FULL, [(i % 16) * b for i in range(32)]
    yield "quarters same", FULL, [(i % 8) * b for i in range(32)]
    yield "interleaved halves", FULL, [(2 * (i % 16) + i // 16) * b for i in range(32)]
    yield "interleaved quarters", FULL, [(4 * (i % 8) + i // 8) * b for i in range(32)]
    for name in ("low", "even", "one", "tail", "fourth"):
        yield f"mask {name}", MASKS[name], [i * b for i in range(32)]
        yield f"mask {name} stride5", MASKS[name], [i * b * 5 for i in range(32)]


def global_patterns(rng):
    for kind, sizes in (("ldg", (4, 8, 16, 1, 2)), ("stg", (4, 8, 16, 1)), ("redg", (4, 8)), ("atomg", (4, 8))):
        for b in sizes:
            pats = list(global_structured(b))
            if kind in ("redg", "atomg"):
                pats = pats[:18]
            for k in range(8):
                span = rng.choice((64, 256, 1024, 4096, GLOBAL))
                pats.append((f"random{k}", random_mask(rng), [rng.randrange(span // b) * b for _ in range(32)]))
            for name, m, off in pats:
                yield kind, b, m, name, off


def local_patterns(rng):
    for kind in ("ldl", "stl"):
        for b in (4, 8, 16, 1, 2):
            for name, m, idx in (("same", FULL, [3] * 32), ("first", FULL, [0] * 32), ("lane", FULL, list(range(32))),
                                 ("one", MASKS["one"], [2] * 32), ("even", MASKS["even"], [1] * 32),
                                 ("low", MASKS["low"], [1] * 32), ("tail", MASKS["tail"], [5] * 32),
                                 ("pair", FULL, [i // 2 for i in range(32)]),
                                 ("halves", FULL, [i // 16 for i in range(32)]),
                                 ("random", random_mask(rng), [rng.randrange(32) for _ in range(32)])):
                yield kind, b, m, name, [i * b for i in idx]


def main():
    rng = random.Random(20240607)
    out = sys.stdout
    out.write("id,kind,bytes,mask,name,offsets\n")
    rows = list(shared(rng)) + list(global_patterns(rng)) + list(local_patterns(rng))
    for n, (kind, b, m, name, off) in enumerate(rows):
        assert all(o % b == 0 for o in off), name
        out.write(f"{n},{kind},{b},{m:08x},{name},{' '.join(map(str, off))}\n")


if __name__ == "__main__":
    main()
