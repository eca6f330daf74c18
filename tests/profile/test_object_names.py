"""test_object_names.py WARPLENS NVCC FOLDER SOURCE: what objects are called, in a program whose
allocations stand several on a line, in helpers, templates, lambdas and classes; optimized and
not."""

import os
import sqlite3
import subprocess
import sys

WARPLENS, NVCC, FOLDER, SOURCE = sys.argv[1:]
HELPER = SOURCE.replace("names.cu", "names_helper.cu")
KB = 1024
NAMES = {1: "dX", 2: "dY", 3: "dA", 4: "dB", 5: "wide", 6: "a", 7: "b", 8: "out", 9: "other", 10: "x", 11: "y",
         12: "A.values", 13: "A.cols", 14: "t", 15: "u", 16: "first", 17: "second", 18: "parts[i]", 20: "state",
         21: "residual", 22: "owned", 23: "held",
         24: "from_other_file", 25: "reserved", 26: "buffers", 27: "pushed", 28: "net.layers[i].weights",
         29: "net.layers[].bias", 30: "net.scratch", 31: "net.activations", 32: "made", 33: "smart", 34: "listed",
         35: "listed", 36: 'by_name["weights"]', 37: "through_function", 38: "arrays", 39: "arrays", 40: "lone"}


def build(name, *options):
    program = os.path.join(FOLDER, name)
    subprocess.run([NVCC, *options, "-std=c++17", "-arch=sm_90", "-o", program, SOURCE, HELPER], check=True)
    return program


def names_of(program):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("WARPLENS_")}
    out = program + ".wlprof"
    subprocess.run([WARPLENS, "profile", "-q", "-f", "-o", out, "--backend", "emulate", "--", program], check=True,
                   env=environment, timeout=120)
    with sqlite3.connect(out) as database:
        rows = database.execute("SELECT bytes / ?1, variable FROM objects WHERE alloc_call IS NOT NULL AND "
                                "bytes >= ?1 AND bytes % ?1 = 0 AND variable NOT LIKE '\\_\\_%' ESCAPE '\\'", (KB,))
        return dict(rows.fetchall())


def main():
    os.makedirs(FOLDER, exist_ok=True)
    for name, *options in (("plain", "-g"), ("optimized", "-g", "-O2")):
        got = names_of(build(name, *options))
        wrong = {kb: (got.get(kb), want) for kb, want in NAMES.items() if got.get(kb) != want}
        if wrong:
            sys.exit(f"{name}: by KB, what is said and what is right: {wrong}")


main()
