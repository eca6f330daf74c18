#!/usr/bin/env python3
"""Runs the pinned clang-tidy over the project's C files, leaving out those that passed before and
have not changed.

A file has not changed where its own text, that of every project header it includes, its compiler
flags, the files .clang-tidy and the linter's version are the same; what passed is remembered in
.deps/tidy/.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TIDY = ROOT / ".deps/bin/clang-tidy"
CACHE = ROOT / ".deps/tidy"
CHECKED = ("src/", "include/", "tests/", "bench/")


def commands(build):
    """The compile commands of the project's sources: {path relative to ROOT: arguments}."""
    entries = json.loads((build / "compile_commands.json").read_text())
    found = {}
    for entry in entries:
        path = pathlib.Path(entry["directory"], entry["file"]).resolve()
        if path.is_relative_to(ROOT) and path.is_relative_to(build) is False:
            name = str(path.relative_to(ROOT))
            if name.startswith(CHECKED) and name.endswith(".c"):
                found.setdefault(name, (entry["directory"], shlex.split(entry["command"])))
    return found


def dependencies(directory, arguments):
    """The project's files that the source is made of, by the compiler's own account."""
    arguments = [a for a in arguments if a != "-c"]
    if "-o" in arguments:
        at = arguments.index("-o")
        del arguments[at:at + 2]
    made = subprocess.run([*arguments, "-MM", "-MT", "x"], cwd=directory, capture_output=True, check=True, text=True)
    names = made.stdout.replace("\\\n", " ").split()[1:]
    return sorted({str(pathlib.Path(directory, name).resolve()) for name in names})


def key(version, directory, arguments):
    digest = hashlib.sha256()
    digest.update(version)
    for rules in sorted(ROOT.glob("*/.clang-tidy")):
        digest.update(rules.read_bytes())
    digest.update((ROOT / ".clang-tidy").read_bytes())
    digest.update("\0".join(arguments).encode())
    for name in dependencies(directory, arguments):
        digest.update(name.encode() + b"\0" + pathlib.Path(name).read_bytes())
    return digest.hexdigest()


def tidy(build, version, name, directory, arguments):
    """(name, passed, from memory, output) for one file."""
    try:
        mark = CACHE / key(version, directory, arguments)
    except subprocess.CalledProcessError as error:
        return name, False, False, error.stderr
    if mark.exists():
        os.utime(mark)
        return name, True, True, ""
    run = subprocess.run([TIDY, "--quiet", "-p", build, ROOT / name], cwd=ROOT, capture_output=True, check=False,
                         text=True)
    if run.returncode == 0:
        mark.touch()
    return name, run.returncode == 0, False, run.stdout + (run.stderr if run.returncode and not run.stdout else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("files", nargs="*", help="paths from the project's root; all where none is given")
    options = parser.parse_args()
    if not TIDY.exists():
        print(f"tidy: {TIDY} is missing: run tools/bootstrap.sh check")
        return 1
    build = options.build.resolve()
    CACHE.mkdir(parents=True, exist_ok=True)
    version = subprocess.run([TIDY, "--version"], capture_output=True, check=True).stdout
    work = {n: c for n, c in commands(build).items() if not options.files or n in options.files}
    if not work:
        print("tidy: nothing to check: configure the build first")
        return 1
    failed = remembered = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(tidy, build, version, name, *command) for name, command in sorted(work.items())]
        for job in concurrent.futures.as_completed(jobs):
            name, passed, known, output = job.result()
            remembered += known
            if not passed:
                failed += 1
                print(f"-- {name}\n{output.rstrip()}", flush=True)
    print(f"tidy: {len(work)} files, {remembered} unchanged since they passed, {failed} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
