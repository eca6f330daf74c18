#!/usr/bin/env python3
"""Checks that includes between the rooms of src/ never point backwards. There are no exceptions.

A room is a folder of src/, or of a folder that holds rooms (src/api/both). It includes only itself
and rooms above it in ROOMS. What runs after the application (from `profile` on) shares with what
runs inside it only the capture's format and the rooms that know nothing of a process (PURE). The
command line, which asks before the run and starts the rest, may include any room but those that
live inside the application.
A room's inside (impl.h, ..._impl.h) is for the room alone.
Public headers ("warplens/...") are open to all. Includes of the project's headers are written from
src/.
"""

import argparse
import pathlib
import re
import sys

ROOMS = ["base", "access", "ir", "ptx", "sass", "flow", "rewrite", "cuda", "emu", "observe", "capture", "program", "inject", "record", "replay",
         "device", "api/both", "api/driver", "api/runtime",
         "shim/driver", "shim/probe", "shim/patch", "shim/hooks", "nvtx",
         "profile", "analysis", "report", "cli"]
# Folders whose folders are rooms.
HOUSES = {room.split("/")[0] for room in ROOMS if "/" in room}

AFTER = ["profile", "analysis", "report", "cli"]
PURE = {"base", "access", "ir", "ptx", "sass", "flow", "cuda"}
# The two libraries that live inside the application: what only they hold.
APPLICATION = {room for room in ROOMS if room.split("/")[0] in ("inject", "record", "device", "api", "shim", "nvtx")}

# Headers that only their own room includes.
INSIDE = re.compile(r"(^|[/_])impl\.h$")

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')
SUFFIXES = {".c", ".h", ".def", ".inc", ".S"}


def room_of(path):
    """The room of a path below src/, "device/call.h" or "api/both/entry.h"."""
    parts = path.split("/")
    return "/".join(parts[: 2 if parts[0] in HOUSES else 1])


def allowed(room, header):
    """Why a file of `room` may not include `header`; None where it may."""
    target = room_of(header)
    if target in ("warplens", room):
        return None
    if "/" not in header or target not in ROOMS:
        return 'project headers are included as "room/header.h"'
    if INSIDE.search(header):
        return f"it is the inside of {target}"
    if ROOMS.index(target) > ROOMS.index(room):
        return f"{target} stands below {room}"
    if room == "cli":
        return f"{target} lives inside the application" if target in APPLICATION else None
    if room in AFTER and target not in AFTER and target not in PURE | {"capture"}:
        return f"{room} runs after the application and shares only the capture's format with it"
    return None


def offenders(root):
    """Lines "path:line: include: reason" of all includes that point backwards, and the number of
    includes seen."""
    found, seen = [], 0
    for path in sorted((root / "src").rglob("*")):
        if path.suffix not in SUFFIXES:
            continue
        room = room_of(str(path.relative_to(root / "src")))
        if room not in ROOMS:
            found.append(f"{path.relative_to(root)}: {room} is not in the order of rooms")
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            seen += 1
            reason = allowed(room, match[1])
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
