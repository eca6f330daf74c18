"""test_parameters.py WARPLENS NVCC FOLDER SOURCE: the names of kernels' parameters, of a program
with debug information, of one without, and of one whose source has changed since."""

import os
import shutil
import sqlite3
import subprocess
import sys

WARPLENS, NVCC, FOLDER, SOURCE = sys.argv[1:]
TYPES = {"plain": ["float const*", "float*", "int"], "of_type<float>": ["float*", "Box", "int"],
         "in_c": ["", "", "", ""], "inner::hidden": ["int*"], "(anonymous namespace)::nowhere": ["int*"]}
NAMES = {"plain": ["in", "out", "n"], "of_type<float>": ["data", "box", "count"],
         "in_c": ["values", "boxes", "", "last"], "inner::hidden": ["where"],
         "(anonymous namespace)::nowhere": ["there"]}
TEMPLATES = {"of_type<float>"}  # whose names the debug information has itself


def build(source, name, *options):
    program = os.path.join(FOLDER, name)
    subprocess.run([NVCC, *options, "-std=c++17", "-arch=sm_90", "-o", program, source], check=True)
    return program


def parameters(program):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("WARPLENS_")}
    out = program + ".wlprof"
    subprocess.run([WARPLENS, "profile", "-q", "-f", "-o", out, "--backend", "emulate", "--", program], check=True,
                   env=environment, timeout=120)
    types, names = {}, {}
    with sqlite3.connect(out) as database:
        for kernel, type_, name in database.execute(
                "SELECT k.short_name, p.type, p.name FROM parameters p JOIN kernels k ON k.id = p.kernel "
                "ORDER BY k.id, p.position"):
            types.setdefault(kernel, []).append(type_)
            names.setdefault(kernel, []).append(name)
    expect("types", types, TYPES)
    return names


def expect(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}: {got}, not {wanted}")


def unnamed(but=()):
    return {kernel: list(names) if kernel in but else [""] * len(names) for kernel, names in NAMES.items()}


def main():
    os.makedirs(FOLDER, exist_ok=True)
    source = shutil.copy(SOURCE, FOLDER)
    with_names = build(source, "with", "-g")
    expect("with debug information", parameters(with_names), NAMES)
    expect("optimized", parameters(build(source, "optimized", "-g", "-O2")), NAMES)
    expect("without", parameters(build(source, "without")), unnamed())
    later = os.path.getmtime(with_names) + 60
    os.utime(source, (later, later))
    expect("with a source that has changed", parameters(with_names), unnamed(but=TEMPLATES))
    os.remove(source)
    expect("without the source", parameters(with_names), unnamed(but=TEMPLATES))


if __name__ == "__main__":
    main()
