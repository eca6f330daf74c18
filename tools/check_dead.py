#!/usr/bin/env python3
"""Checks that src/ defines nothing for other files that no other file of src/ uses: a function or a
table that one file needs is static, one that only tests need stands in tests/support, and one that
nobody needs goes. It reads the symbols of the object files of a build, as `nm` lists them. What the
public headers (include/warplens) declare is for others to use; further exceptions are in KEPT."""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys

# What src/ defines for others and only tests use, each with the reason why it stands there.
KEPT = {
    "main": "the C library calls it",
    "cap_open_memory": "fuzzers read captures that are no files",
    "find_with": "tests search with detectors of their own",
    "ir_add_front": "front ends beside PTX make themselves known by it",
    "ir_forms_problem": "a test asks whether ops.def is right, instead of every start",
    "prog_driver_in_cache": "tests give it linker's caches that are damaged",
    "replay_repeats_free": "a process keeps its repeats to its end, a test has many",
    "rw_operands_fit": "a test asks for operands at which rw_emit() would abort",
    "sass_lift_code": "fuzzers and a test lift code that is in no cubin",
}
# Names that a loader or an application looks for in our libraries (_ZN3c10: PyTorch's); the writers
# of records, which events.def makes; what sanitizers add.
MADE = re.compile(r"^(cu[A-Z]|_ZN3c10|InitializeInjectionNvtx|cuda[A-Z]|__cuda|_cuda|cap_write_|__odr_asan|__asan)")


def sources(root, build):
    """{object file: source file} of src/, as this build compiles them."""
    found = {}
    for unit in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        source = pathlib.Path(unit["directory"], unit["file"])
        output = re.search(r" -o (\S+)", unit["command"])
        if output and source.is_relative_to(root / "src"):
            found[pathlib.Path(unit["directory"], output[1])] = source
    return found


def symbols(paths):
    """(object file, name, kind) of all that the object files define for others or use of others."""
    run = subprocess.run(["nm", "-A", "--extern-only", "--format=posix", *paths],
                         capture_output=True, text=True, check=True)
    for line in run.stdout.splitlines():
        path, rest = line.split(": ", 1)
        yield pathlib.Path(path), *rest.split()[:2]


def public_names(root):
    """Every word of the public headers: what they declare is among them."""
    words = set()
    for header in (root / "include").rglob("*.h"):
        words.update(re.findall(r"\w+", header.read_text(encoding="utf-8")))
    return words


def homes_and_users(objects):
    """{name: source files that define it for others}, {name: source files that use it}. A source
    that is compiled several times is one file."""
    homes, users = collections.defaultdict(set), collections.defaultdict(set)
    for path, name, kind in symbols(objects):
        (users if kind in "Uvw" else homes)[name].add(objects[path])
    return homes, users


def problems(root, objects):
    """Lines that say what is wrong."""
    homes, users = homes_and_users(objects)
    public = public_names(root)
    found = []
    for name, files in homes.items():
        used = any(users[name] - {source} for source in files)
        where = ", ".join(sorted(str(source.relative_to(root)) for source in files))
        if used and name in KEPT:
            found.append(f"{where}: {name}: another file uses it now: take it out of KEPT")
        elif not used and name not in KEPT and name not in public and not MADE.match(name):
            found.append(f"{where}: {name}: no other file of src/ uses it")
    return sorted(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--build", type=pathlib.Path, help="a folder with a build of all (build/release)")
    arguments = parser.parse_args()
    root, build = arguments.root, arguments.build or arguments.root / "build/release"
    objects = sources(root, build)
    missing = [path for path in objects if not path.exists()]
    if missing or not objects:
        print(f"check_dead: {len(missing)} of {len(objects)} object files are not built: build all first")
        return 1
    found = problems(root, objects)
    for line in found:
        print(line)
    print(f"check_dead: {len(objects)} object files, {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
