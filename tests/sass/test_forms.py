#!/usr/bin/env python3
"""Compares operands and modifiers that src/sass reads in machine code with what nvdisasm prints.

    test_forms.py PRINT_WORDS CUDA_HOME NVCC [--cubins FOLDER] [--flips N] [--least SHARE]

PRINT_WORDS is test_sass_words. Each instruction that it knows, of this repository's programs
compiled for several devices, must be printed as nvdisasm prints it, and it must know at least a
share of them. --cubins: of the cubins in a folder, named NAME.SM.cubin or NAME.sm_SM.cubin, in
place of these. --flips: also of N of them with one or two bits turned, which finds bits that mean
something else than the table says; slow, since nvdisasm stops at what is no instruction.
"""
import argparse
import collections
import glob
import os
import random
import re
import subprocess
import sys
import tempfile

import words

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
SKIPPED = 77
PROGRAMS = ("examples/gemm/gemm_tiled.cu", "bench/model/programs/reduce.cu",
            "tests/flow/kernels.cu", "tests/sass/forms.cu")
ARCHITECTURES = (80, 90, 100)
UNKNOWN = "UNKNOWN"
BATCH = 20000


class Result:
    def __init__(self):
        self.seen = self.known = 0
        self.mistakes, self.unknown = [], collections.Counter()

    def add(self, what, word, expected, got):
        self.seen += 1
        if got == UNKNOWN:
            self.unknown[(expected or "?").split()[0 if expected and expected[0] != "@" else -1].split(".")[0]] += 1
            return
        self.known += 1
        if got != expected:
            self.mistakes.append(f"{what} {word:032x}: {got}\n    nvdisasm: {expected}")


def compare_section(o, tool, sm, what, code, result):
    for begin in range(0, len(code), BATCH):
        batch = code[begin:begin + BATCH]
        got = words.read(o.print_words, sm, batch, range(len(batch)))
        for word, expected, text in zip(batch, tool.texts(batch), got, strict=True):
            result.add(what, word, expected, text)


def flipped(code, count):
    chosen = random.Random(1)
    for _ in range(count):
        word = words.with_usual_control(chosen.choice(code))
        for _ in range(chosen.choice((1, 1, 2))):
            word ^= 1 << chosen.choice([*range(12, 105), 122, 123, 124])
        yield word


def compare_flipped(o, tool, sm, code, result):
    made = list(flipped(code, o.flips))
    got = words.read(o.print_words, sm, made, [0] * len(made))
    for word, text in zip(made, got, strict=True):
        if text != UNKNOWN:
            result.add(f"flipped, sm_{sm}", word, tool.texts([word])[0], text)


def compiled(nvcc, folder):
    for program in PROGRAMS:
        for sm in ARCHITECTURES:
            path = os.path.join(folder, f"{os.path.basename(program)[:-3]}.{sm}.cubin")
            subprocess.run([nvcc, "-std=c++17", "-O3", "-cubin", f"-arch=sm_{sm}", "-allow-unsupported-compiler",
                            "-Wno-deprecated-gpu-targets", "-o", path, os.path.join(ROOT, program)], check=True, capture_output=True)
            yield path, sm


def given(folder):
    for path in sorted(glob.glob(os.path.join(folder, "*.cubin"))):
        if found := re.search(r"(\d+)[af]?\.cubin$", path):
            yield path, int(found[1])


def report(result, least):
    for mistake in result.mistakes[:50]:
        print(mistake)
    share = result.known / result.seen if result.seen else 0
    print(f"{result.seen} instructions, {result.known} known ({share:.2%}), {len(result.mistakes)} mistakes;"
          f" most often not known: {', '.join(f'{name} {count}' for name, count in result.unknown.most_common(8)) or 'none'}")
    return 1 if result.mistakes or share < least else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("print_words")
    parser.add_argument("cuda")
    parser.add_argument("nvcc")
    parser.add_argument("--cubins", metavar="FOLDER")
    parser.add_argument("--flips", type=int, default=0)
    parser.add_argument("--least", type=float, default=0.99)
    o = parser.parse_args()
    nvdisasm = os.path.join(o.cuda, "bin", "nvdisasm")
    missing = [path for path in [nvdisasm, *([] if o.cubins else [o.nvcc])] if not os.access(path, os.X_OK)]
    if missing:
        print("skipped: there is no", ", ".join(missing))
        return SKIPPED
    result, flips, codes = Result(), Result(), collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        for path, sm in given(o.cubins) if o.cubins else compiled(o.nvcc, folder):
            for code in words.of_cubin(path):
                compare_section(o, words.Disassembler(nvdisasm, sm), sm, os.path.basename(path), code, result)
                codes[sm] += code if o.flips else []
    for sm, code in codes.items():
        compare_flipped(o, words.Disassembler(nvdisasm, sm), sm, code, flips)
    return report(result, o.least) | (report(flips, 0) if o.flips else 0)


if __name__ == "__main__":
    sys.exit(main())
