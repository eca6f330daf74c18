#!/usr/bin/env python3
"""Checks what a reader of the diff should not have to: format of C, ends of files, no package registry's address.

`--fix` rewrites the C files in the project's format and leaves the rest to you.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys

C_SUFFIXES = (".c", ".h")
LONG_FILE = 1000
# What a lock file or a configuration would name; people's package managers know where their registry is.
REGISTRY = re.compile(
    r"registry[.](npmjs|yarnpkg|npmmirror)|npm[.]pkg[.]github|pypi[.](org|python)|pythonhosted[.]org"
    r"|--(extra-)?index-url|(deb|security)[.]debian[.]org|archive[.]ubuntu[.]com")
SETTING = re.compile(r"^\s*(index-url|extra-index-url|[@\w:-]*registry)\s*=", re.MULTILINE)
SETTING_FILES = (".npmrc", ".yarnrc", "pip.conf", ".toml", ".cfg", ".ini")
RESOLVED = re.compile(r'^\s*"resolved"\s*:', re.MULTILINE)


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
    if path.endswith(C_SUFFIXES) and text.count("\n") > LONG_FILE:
        notes.append(f"{path}: {text.count(chr(10))} lines: more than {LONG_FILE}, better split")
    return problems, notes


def clang_format(root, files, fix):
    """Runs the pinned clang-format; prints its findings. True where all is well."""
    program = root / ".deps/bin/clang-format"
    if not program.exists():
        print(f"check_style: {program} is missing: run tools/bootstrap.sh check")
        return False
    if not files:
        return True
    action = ["-i"] if fix else ["--dry-run", "--Werror", "--ferror-limit=3"]
    return subprocess.run([program, "--style=file", *action, *files], cwd=root, check=False).returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--fix", action="store_true", help="rewrite C files in the project's format")
    parser.add_argument("--no-format", action="store_true", help="leave clang-format out")
    options = parser.parse_args()
    paths = project_files(options.root)
    problems = []
    for path in paths:
        found, notes = content_problems(options.root, path)
        problems += found
        for note in notes:
            print("note:", note)
    for problem in problems:
        print(problem)
    c_files = [path for path in paths if path.endswith(C_SUFFIXES)]
    formatted = options.no_format or clang_format(options.root, c_files, options.fix)
    print(f"check_style: {len(paths)} files, {len(c_files)} of C, {len(problems)} problems"
          + ("" if formatted else "; format differs: make format"))
    return 1 if problems or not formatted else 0


if __name__ == "__main__":
    os.environ.setdefault("LC_ALL", "C.UTF-8")
    sys.exit(main())
