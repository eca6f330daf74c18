#!/usr/bin/env python3
"""Compares what src/sass reads of a cubin beside code with the file itself and with nvdisasm.

    test_places.py PRINT_CODE CUDA_HOME NVCC

PRINT_CODE is test_sass_print. Compared are, for kernels compiled for several devices: where
parameters begin and how long they are (known for each device, and with 24,000 bytes of them),
constant banks and relocations (read from the ELF file by struct), and the targets of branches
through tables (nvdisasm names them).
"""
import os
import re
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
SKIPPED = 77
SOURCE = os.path.join(ROOT, "tests", "sass", "places.cu")
BASES = {80: {"small": 0x160, "large": 0x1a80}, 90: {"small": 0x210, "large": 0x210}, 100: {"small": 0x380, "large": 0x380}}
BYTES = {"small": 12, "large": 24012}
CODE = 32  # where src/sass has the number of a bank


class Elf:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        table = struct.unpack_from("<Q", self.data, 40)[0]
        count, names = struct.unpack_from("<HH", self.data, 60)
        self.headers = [struct.unpack_from("<IIQQQQIIQQ", self.data, table + 64 * i) for i in range(count)]
        self.names = [self.text(names, header[0]) for header in self.headers]

    def text(self, section, offset):
        begin = self.headers[section][4] + offset
        return self.data[begin:self.data.index(b"\0", begin)].decode()

    def links(self, target):
        """(offset, name of the symbol) of a section's relocations."""
        for header in self.headers:
            width = {4: 24, 9: 16}.get(header[1])
            if width and header[7] == target:
                symbols = self.headers[header[6]]
                for at in range(header[4], header[4] + header[5], width):
                    offset, info = struct.unpack_from("<QQ", self.data, at)
                    name = struct.unpack_from("<I", self.data, symbols[4] + 24 * (info >> 32))[0]
                    yield offset, self.text(symbols[6], name)

    def expected(self, kernel):
        lines = set()
        for index, name in enumerate(self.names):
            found = re.fullmatch(r"\.nv\.constant(\d+)(\..+)?", name)
            bank = int(found[1]) if found and found[2] in (None, "." + kernel) else CODE if name == ".text." + kernel else None
            if bank is None:
                continue
            if bank != CODE:
                lines.add(f"bank {bank} {self.headers[index][5]}")
            lines.update(f"link {bank} {offset} {symbol}" for offset, symbol in self.links(index))
        return lines


def jumps(nvdisasm, cubin, kernel):
    """As nvdisasm names the targets of BRX, in the same form as print_code."""
    text = subprocess.run([nvdisasm, "-c", cubin], check=True, capture_output=True, text=True).stdout
    text = text.split(f".section\t.text.{kernel},", 1)[1].split(".section\t", 1)[0]
    places, labels, tables, index = {}, [], [], 0
    for row in text.splitlines():
        if found := re.match(r"([\w.$]+):$", row):
            labels.append(found[1])
        elif found := re.match(r"\s+/\*([0-9a-f]+)\*/", row):
            index = int(found[1], 16) // 16
            places.update(dict.fromkeys(labels, index))
            labels = []
            if found := re.search(r'BRANCH_TARGETS ([^"]*)"', row):
                tables.append((index, found[1].split(",")))
    return {f"jump {index} " + " ".join(str(places[label.strip()]) for label in targets) for index, targets in tables}


def wrong(o, cubin, sm, kernel, short):
    text = subprocess.run([o["print"], cubin, str(sm), "--places", kernel], check=True, capture_output=True, text=True).stdout
    found = {row for row in text.splitlines() if re.match("(params|bank|link|jump) ", row)}
    expected = Elf(cubin).expected(kernel) | jumps(o["nvdisasm"], cubin, kernel)
    if short in BYTES:
        expected.add(f"params {BASES[sm][short]} {BYTES[short]}")
    else:
        found = {row for row in found if not row.startswith("params ")}
    return [f"sm_{sm} {short}: only in the file: {sorted(expected - found)}, only read: {sorted(found - expected)}"] if expected != found else []


def main():
    o = {"print": sys.argv[1], "nvdisasm": os.path.join(sys.argv[2], "bin", "nvdisasm")}
    nvcc, mistakes, seen = sys.argv[3], [], set()
    if not os.access(nvcc, os.X_OK) or not os.access(o["nvdisasm"], os.X_OK):
        print("skipped: there is no nvcc or nvdisasm")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        for sm in BASES:
            cubin = os.path.join(folder, f"places.{sm}.cubin")
            subprocess.run([nvcc, "-cubin", f"-arch=sm_{sm}", "-allow-unsupported-compiler", "-o", cubin, SOURCE], check=True)
            for name in Elf(cubin).names:
                if name.startswith(".text."):
                    short = re.match(r"_Z\d+([a-z]+?)(?=P|i|4Many)", name[6:])[1]
                    mistakes += wrong(o, cubin, sm, name[6:], short)
                    seen.add(short)
                    if short == "chosen" and not jumps(o["nvdisasm"], cubin, name[6:]):
                        mistakes.append(f"sm_{sm}: there is no branch through a table to compare")
    print(*mistakes, f"{len(seen)} kernels, {len(mistakes)} mistakes", sep="\n")
    return 1 if mistakes or seen != {"small", "large", "chosen", "asserted"} else 0


if __name__ == "__main__":
    sys.exit(main())
