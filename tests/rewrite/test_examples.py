#!/usr/bin/env python3
"""Compiles the examples to PTX and runs their kernels with probes on the emulator.

test_examples.py PROGRAM NVCC EXAMPLES SCRATCH [TABLE]: PROGRAM is test_rewrite_examples.
"""
import pathlib
import subprocess
import sys

SKIPPED = 77


def compile_all(nvcc, examples, scratch):
    scratch.mkdir(parents=True, exist_ok=True)
    sources = sorted(p for p in examples.glob("*/*.cu") if p.parent.name != "transpose_demo")
    if not sources:
        raise SystemExit("no examples found")
    for source in sources:
        out = scratch / (source.stem + ".ptx")
        newest = max(p.stat().st_mtime for p in (*source.parent.iterdir(), *(examples / "common").iterdir()))
        if not out.exists() or out.stat().st_mtime < newest:
            subprocess.run([nvcc, "-ptx", "-std=c++17", "-O3", "-arch=sm_80", source, "-o", out], check=True)


def main(program, nvcc, examples, scratch, *table):
    if not nvcc:
        print("skipped: no nvcc")
        return SKIPPED
    compile_all(nvcc, pathlib.Path(examples), pathlib.Path(scratch))
    return subprocess.run([program, scratch, *table], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
