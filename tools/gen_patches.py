#!/usr/bin/env python3
"""Compiles src/shim/patch/counter.cu to counter.ptx, which is built in: `gen_patches.py` writes it,
`gen_patches.py check` says whether what is there is what the source gives. Needs nvcc (--nvcc).

Comments are left out, and the version of PTX is the lowest that has all of it, so that older
compilers take it.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "src/shim/patch"
VERSION, TARGET = "6.4", "75"


def compiled(nvcc):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "counter.ptx"
        subprocess.run([nvcc, f"-arch=sm_{TARGET}", "--ptx", "--compile-as-tools-patch", "-o", out, FOLDER / "counter.cu"], check=True)
        text = out.read_text(encoding="utf-8")
    text = re.sub(r"//[^\n]*", "", text).replace("\t", " ")
    text = re.sub(r"^\.version .*$", f".version {VERSION}", text, flags=re.M)
    return "\n".join(re.sub(r" +", " ", line).strip() for line in text.splitlines() if line.strip()) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="?", choices=["write", "check"], default="write")
    parser.add_argument("--nvcc", default=str(ROOT / ".deps/cuda/bin/nvcc"))
    args = parser.parse_args()
    path, text = FOLDER / "counter.ptx", compiled(args.nvcc)
    if args.what == "write":
        path.write_text(text, encoding="utf-8")
        return 0
    same = path.read_text(encoding="utf-8") == text
    if not same:
        print(f"{path} is not what counter.cu gives: run tools/gen_patches.py", file=sys.stderr)
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
