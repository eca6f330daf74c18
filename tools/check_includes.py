#!/usr/bin/env python3
"""Checks that includes between the folders of src/ never point backwards.

A folder includes only itself and folders to its left in FOLDERS. What runs after the application (from `profile` on)
shares with what runs inside it only the capture's format, and the vocabularies that the format speaks in.
Public headers ("warplens/...") are open to all. Includes of the project's headers are written from src/.
"""

import argparse
import pathlib
import re
import sys

FOLDERS = ["base", "ptx", "flow", "rewrite", "cuda", "emu", "observe", "capture", "collect",
           "profile", "analysis", "report", "cli"]

INSIDE = FOLDERS[: FOLDERS.index("profile")]

# What the folders from `profile` on may use of those before: whole folders, or headers by the start of their path.
SHARED = ("base/", "ptx/", "capture/", "cuda/device")
# The command line checks a program before it starts it, says what the emulator runs on, and analyses PTX without a profile.
ALSO = {
    "cli": ("flow/", "rewrite/rewrite.h", "cuda/fatbin.h", "cuda/store.h", "collect/target.h", "collect/driver_path.h",
            "collect/options.h", "collect/replay/replay.h", "emu/emu.h"),
}

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')
SUFFIXES = {".c", ".h", ".def", ".inc"}


def allowed(folder, header):
    """Why a file of `folder` may not include `header`; None where it may."""
    target = header.split("/")[0]
    if target == "warplens" or target == folder:
        return None
    if "/" not in header or target not in FOLDERS:
        return 'project headers are included as "folder/header.h"'
    if FOLDERS.index(target) > FOLDERS.index(folder):
        return f"{target} stands to the right of {folder}"
    if folder not in INSIDE and target in INSIDE:
        if not header.startswith(SHARED + ALSO.get(folder, ())):
            return f"{folder} runs after the application and shares only the capture's format"
    return None


def offenders(root):
    """Lines "path:line: include: reason" of all includes that point backwards, and the number of includes seen."""
    found, seen = [], 0
    for path in sorted((root / "src").rglob("*")):
        if path.suffix not in SUFFIXES:
            continue
        folder = path.relative_to(root / "src").parts[0]
        if folder not in FOLDERS:
            found.append(f"{path.relative_to(root)}: {folder} is not in the order of folders")
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            seen += 1
            reason = allowed(folder, match[1])
            if reason:
                found.append(f"{path.relative_to(root)}:{number}: {match[1]}: {reason}")
    return found, seen


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    found, seen = offenders(parser.parse_args().root)
    for line in found:
        print(line)
    if seen == 0:
        print("check_includes: no includes found: wrong --root?")
    else:
        print(f"check_includes: {seen} includes, {len(found)} against the order")
    return 1 if found or seen == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
