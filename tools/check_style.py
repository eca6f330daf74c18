#!/usr/bin/env python3
"""Checks what a reader of the diff should not have to: the format of C, what linters find in Python
and shell scripts, ends of files, programs that cannot be executed, no package registry's address,
one version of CMake.

`--fix` rewrites the C files in the project's format, mends what the Python linter can mend, and
leaves the rest to you. tools/tidy.py lints C.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

C_SUFFIXES = (".c", ".h")
LONG_FILE = 1000
# What a lock file or a configuration would name; people's package managers know where their
# registry is.
REGISTRY = re.compile(
    r"registry[.](npmjs|yarnpkg|npmmirror)|npm[.]pkg[.]github|pypi[.](org|python)|pythonhosted[.]org"
    r"|--(extra-)?index-url|(deb|security)[.]debian[.]org|archive[.]ubuntu[.]com")
SETTING = re.compile(r"^\s*(index-url|extra-index-url|[@\w:-]*registry)\s*=", re.MULTILINE)
SETTING_FILES = (".npmrc", ".yarnrc", "pip.conf", ".toml", ".cfg", ".ini")
RESOLVED = re.compile(r'^\s*"resolved"\s*:', re.MULTILINE)
CMAKE_VERSION = re.compile(r"^cmake_minimum_required\(VERSION ([0-9.]+)\)", re.MULTILINE)


IGNORED = {".git", ".deps", "build", "node_modules", "dist", "__pycache__"}


def walked(root):
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in IGNORED]
        for name in files:
            yield str(pathlib.Path(folder, name).relative_to(root))


def project_files(root):
    """Tracked and new files; outside a git checkout all files but build output."""
    git = subprocess.run(["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                         capture_output=True, check=False)
    paths = filter(None, git.stdout.decode().split("\0")) if git.returncode == 0 else walked(root)
    return [p for p in sorted(set(paths)) if (root / p).is_file() and not (root / p).is_symlink()]


def text_of(path):
    data = path.read_bytes()
    if b"\0" in data:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def content_problems(root, path):
    """Problems of one file's content, and notes that fail nothing."""
    text = text_of(root / path)
    if text is None or path == "tools/check_style.py":
        return [], []
    problems, notes = [], []
    settings = SETTING.finditer(text) if path.endswith(SETTING_FILES) else ()
    for match in [*REGISTRY.finditer(text), *settings]:
        line = text.count("\n", 0, match.start()) + 1
        problems.append(f"{path}:{line}: names a package registry: {match[0].strip()}")
    if path.endswith("package-lock.json") and RESOLVED.search(text):
        problems.append(f'{path}: has "resolved" lines: set omit-lockfile-registry-resolved in .npmrc')
    if path.endswith(C_SUFFIXES + (".def", ".py", ".sh", ".cmake", ".ts", ".md", ".txt")):
        if text and not text.endswith("\n"):
            problems.append(f"{path}: no newline at the end")
    if path.endswith((".py", ".sh")) and text.startswith("#!") and not os.access(root / path, os.X_OK):
        problems.append(f"{path}: starts as a program, and cannot be executed: chmod +x")
    if path.endswith(C_SUFFIXES) and text.count("\n") > LONG_FILE:
        notes.append(f"{path}: {text.count(chr(10))} lines: more than {LONG_FILE}, better split")
    return problems, notes


def version_problems(root, paths):
    """Files that ask for another version of CMake than the presets do."""
    if "CMakePresets.json" not in paths:
        return []
    asked = json.loads((root / "CMakePresets.json").read_text())["cmakeMinimumRequired"]
    wanted = f"{asked['major']}.{asked['minor']}"
    lists = [path for path in paths if path.endswith("CMakeLists.txt")]
    return [f"{path}: asks for CMake {found}, CMakePresets.json for {wanted}" for path in lists
            for found in CMAKE_VERSION.findall((root / path).read_text()) if found != wanted]


def passes(root, program, arguments, files):
    """Runs a formatter or linter over the files; it prints its findings. True where all is well."""
    if not program or not pathlib.Path(program).exists():
        print(f"check_style: {program or arguments[0]} is missing: run tools/bootstrap.sh check")
        return False
    return not files or subprocess.run([program, *arguments, *files], cwd=root, check=False).returncode == 0


def clang_format(root, files, fix):
    action = ["-i"] if fix else ["--dry-run", "--Werror", "--ferror-limit=3"]
    return passes(root, root / ".deps/bin/clang-format", ["--style=file", *action], files)


def ruff(root, files, fix):
    """The rules are those of .ruff.toml."""
    action = ["--fix"] if fix else []
    return passes(root, root / ".deps/bin/ruff", ["check", "--quiet", "--no-cache", *action], files)


def shellcheck(root, files):
    """The distribution's: those that bootstrap knows have the same version."""
    return passes(root, shutil.which("shellcheck") or "shellcheck", ["--severity=style"], files)


def is_shell(root, path):
    with open(root / path, "rb") as file:
        return path.endswith(".sh") or file.readline().startswith(b"#!/bin/sh")


def programs_pass(root, paths, fix):
    """What formatters and linters fail in, in words for the summary; all of them run."""
    of_c = [path for path in paths if path.endswith(C_SUFFIXES)]
    python = [path for path in paths if path.endswith(".py")]
    shell = [path for path in paths if is_shell(root, path)]
    results = {"format differs: make format": clang_format(root, of_c, fix),
               "findings in Python": ruff(root, python, fix),
               "findings in shell scripts": shellcheck(root, shell)}
    return [words for words, passed in results.items() if not passed]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--fix", action="store_true", help="mend what programs can mend")
    parser.add_argument("--text-only", action="store_true", help="run no formatter and no linter")
    options = parser.parse_args()
    paths = project_files(options.root)
    problems = version_problems(options.root, paths)
    for path in paths:
        found, notes = content_problems(options.root, path)
        problems += found
        for note in notes:
            print("note:", note)
    for problem in problems:
        print(problem)
    failed = [] if options.text_only else programs_pass(options.root, paths, options.fix)
    print("; ".join([f"check_style: {len(paths)} files, {len(problems)} problems", *failed]))
    return 1 if problems or failed else 0


if __name__ == "__main__":
    os.environ.setdefault("LC_ALL", "C.UTF-8")
    sys.exit(main())
