#!/usr/bin/env python3
"""Runs an ordinary CUDA program through the library before the driver, without a GPU, and compares with the emulator.

    test_program.py --warplens CMD --libraries DIR --runtime DIR --work DIR --nvcc NVCC SOURCE.cu [arguments]

The program is linked with the shared runtime and runs on a runtime library for tests, our library, and the emulator's driver.
Output and status must be those of `warplens profile --backend emulate`, and so must what the profile says: launches, objects
with their names and places.
"""
import argparse
import json
import os
import subprocess
import sys


def run(command, **variables):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("WARPLENS_")}
    environment.update(variables)
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)


def fail(text, done=None):
    print("FAIL:", text)
    if done:
        print("exit status", done.returncode, "\nstdout:", done.stdout[-3000:], "\nstderr:", done.stderr[-3000:])
    sys.exit(1)


def build(o):
    program = os.path.join(o.work, os.path.basename(o.source)[:-3])
    done = run([o.nvcc, "-g", "-lineinfo", "-std=c++17", "-arch=sm_90", "-cudart", "shared", "-o", program, o.source])
    if done.returncode:
        fail("nvcc", done)
    return program


def profile(o, program, backend, **variables):
    path = os.path.join(o.work, backend + ".wlprof")
    done = run([o.warplens, "profile", "-q", "--backend", backend, "-f", "-o", path, "--", program, *o.arguments], **variables)
    export = run([o.warplens, "export", "--type", "json", "-f", "-o", "-", path])
    if export.returncode:
        fail(f"the profile of {backend}: {export.stderr}", done)
    return done, json.loads(export.stdout)


def launches(profiled):
    """A stream's number is one of its own: only which launches share one is compared."""
    numbers = {}
    return [(one["kernel"], one["grid"], one["block"], numbers.setdefault(one["stream"], len(numbers)))
            for one in profiled["launches"]]


def objects(profiled):
    """Shared memory is known from accesses only."""
    return sorted((one["name"], one["space"], one["bytes"], one.get("file", ""), one.get("line", 0))
                  for one in profiled["objects"] if one["space"] != "shared")


def same(what, ours, theirs):
    if ours != theirs:
        for one in [one for one in ours if one not in theirs]:
            print("  only inline:", one)
        for one in [one for one in theirs if one not in ours]:
            print("  only emulated:", one)
        fail(f"{what}: {len(ours)}, {len(theirs)} emulated")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("source")
    parser.add_argument("arguments", nargs="*")
    for name in ("warplens", "libraries", "runtime", "work", "nvcc"):
        parser.add_argument("--" + name, required=True)
    o = parser.parse_args()
    os.makedirs(o.work, exist_ok=True)
    program = build(o)
    emulated, theirs = profile(o, program, "emulate")
    inline, ours = profile(o, program, "inline", LD_LIBRARY_PATH=o.runtime,
                           WARPLENS_DRIVER=os.path.join(o.libraries, "emulate", "libcuda.so.1"))
    if (inline.returncode, inline.stdout) != (emulated.returncode, emulated.stdout):
        print("emulated:", emulated.returncode, emulated.stdout[-3000:])
        fail("output or status", inline)
    if ours["collector"] != "inline":
        fail(f"the collector is {ours['collector']}")
    same("launches", launches(ours), launches(theirs))
    same("objects", objects(ours), objects(theirs))
    print(f"{len(ours['launches'])} launches, {len(ours['objects'])} objects as emulated")


if __name__ == "__main__":
    main()
