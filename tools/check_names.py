#!/usr/bin/env python3
"""Checks that no name of a static function of src/ stands in several files: whoever searches for a
name, or reads it in a debugger, shall find one function. A name says what a function acts on
(take_node, not take); a function that two files need has one place."""

import argparse
import collections
import pathlib
import re
import sys

DEFINITION = re.compile(r"^static (?!const\b)(?!__attribute__)[^;={}()]*?\b(\w+)\([^;]*?\)\s*\{", re.M)


def definitions(root):
    """{name: files that define a static function of that name}"""
    found = collections.defaultdict(set)
    for path in sorted((root / "src").rglob("*.c")):
        for match in DEFINITION.finditer(path.read_text(encoding="utf-8")):
            found[match[1]].add(str(path.relative_to(root)))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    found = definitions(parser.parse_args().root)
    several = {name: files for name, files in found.items() if len(files) > 1}
    for name, files in sorted(several.items()):
        print(f"{name}: {', '.join(sorted(files))}")
    print(f"check_names: {len(found)} static functions, {len(several)} names in several files")
    return 1 if several or not found else 0


if __name__ == "__main__":
    sys.exit(main())
