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
         35: "listed", 36: 'by_name["weights"]', 37: "through_function", 38: "arrays", 39: "arrays", 40: "lone", 41: "p", 42: "p"}
CALLED = (41, 42)  # by a helper that keeps them: its callers tell them apart


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
        return dict(rows.fetchall()), dict(database.execute("SELECT bytes / ?, name FROM objects", (KB,)))


def line_of(text, file):
    with open(file) as f:
        return next(i for i, line in enumerate(f, 1) if text in line)


def main():
    os.makedirs(FOLDER, exist_ok=True)
    whole = {kb: f"p (names_helper.cu:{line_of('cudaMalloc((void', HELPER)}, called at names.cu:{line_of(f'{kb} * KB', SOURCE)})"
             for kb in CALLED}
    for name, *options in (("plain", "-g"), ("optimized", "-g", "-O2")):
        got, names = names_of(build(name, *options))
        wrong = {kb: (got.get(kb), want) for kb, want in NAMES.items() if got.get(kb) != want}
        wrong.update({kb: (names.get(kb), want) for kb, want in whole.items() if names.get(kb) != want})
        if wrong:
            sys.exit(f"{name}: by KB, what is said and what is right: {wrong}")


main()
