#!/usr/bin/env python3
"""The steps of traced blocks (--set sequences, of kernels that data decides) are what the
emulator saw, lane by lane.

    test_steps.py --warplens CMD --steps CMD --libraries DIR --runtime DIR --work DIR --nvcc NVCC \
        SOURCE...
    test_steps.py ... --golden CAPTURE SOURCE     what a GPU recorded of the program

What replay computes and what probes trace is put into one order: each lane's accesses must come in
the order in which it made them, between the entries and barriers that replay knows. A SOURCE may
have the program's arguments after a comma. At least one launch of a program must have steps of a
block that was traced.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

from test_elements import build, fail


def lanes_of(o, profile):
    """What each lane did, by launch, block, warp and lane."""
    done = subprocess.run([o.steps, profile], check=True, capture_output=True, text=True)
    rows = (line.split(":", 1) for line in done.stdout.splitlines())
    return {tuple(int(n) for n in head.split()): steps.split() for head, steps in rows}


def run(command, **variables):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("WARPLENS_")}
    environment.update(variables)
    done = subprocess.run(command, env=environment, capture_output=True, check=False, text=True, timeout=240)
    if done.returncode:
        fail(f"{command}: {done.returncode} {done.stderr[-500:]}")


def profile(o, program, *options, **variables):
    path = os.path.join(o.work, "steps.wlprof")
    run([o.warplens, "profile", "-q", "-f", "-o", path, "--set", "sequences", "--heat-launches", "0", *options, "--", *program], **variables)
    return lanes_of(o, path)


def of_golden(o):
    path = os.path.join(o.work, "golden.wlprof")
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(o.golden, folder)
        run([o.warplens, "import", "-q", "-f", "-o", path, folder], WARPLENS_SET="sequences", WARPLENS_REPLAY_BUDGET="none")
    return lanes_of(o, path)


def inline(o, program, *options):
    return profile(o, program, "--backend", "inline", "--replay-budget", "none", *options, WARPLENS_DEVICE="h200",
                   LD_LIBRARY_PATH=o.runtime, WARPLENS_DRIVER=os.path.join(o.libraries, "emulate", "libcuda.so.1"))


def renamed(ours, emulated):
    """What a GPU recorded elsewhere knows allocations by other names: one stands for one."""
    names, taken = {}, {}
    for key, steps in ours.items():
        accesses = [s.split(":") for s in emulated.get(key, []) if s[0] == "A"]
        for mine, theirs in zip((s.split(":") for s in steps if s[0] == "A"), accesses, strict=False):
            names.setdefault(mine[2], theirs[2])
    for mine, theirs in names.items():
        if taken.setdefault(theirs, mine) != mine:
            fail(f"{mine} and {taken[theirs]} both stand for {theirs}")

    def new(step):
        pc, space, name, at = step.split(":")
        return ":".join((pc, space, names[name], at))

    return {key: [new(s) if s[0] == "A" else s for s in steps] for key, steps in ours.items()}


def compare(ours, emulated, what):
    """Of entries and barriers those are compared of which ours has any: others, data decides."""
    known = {(key[0], step) for key, steps in ours.items() for step in steps if step[0] in "EB"}
    differ = 0
    for key, steps in sorted(ours.items()):
        theirs = [s for s in emulated.get(key, ["nothing"]) if s[0] == "A" or (key[0], s) in known]
        if steps != theirs:
            differ += 1
            if differ == 1:
                at = next((i for i, (a, b) in enumerate(zip(steps, theirs, strict=False)) if a != b), min(len(steps), len(theirs)))
                first = f"launch, block, warp, lane {key}, step {at}: {steps[max(0, at - 3):at + 4]}, not {theirs[max(0, at - 3):at + 4]}"
    if differ:
        fail(f"{what}: {differ} of {len(ours)} lanes differ, first {first}")
    if not ours:
        fail(f"{what}: there are no steps")
    warps = {key[:3] for key in ours}
    print(f"{what}: {len(warps)} warps of {len({key[0] for key in ours})} launches, {sum(map(len, ours.values()))} steps of lanes")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sources", nargs="+")
    parser.add_argument("--golden", metavar="FILE")
    for name in ("warplens", "steps", "libraries", "runtime", "work", "nvcc"):
        parser.add_argument("--" + name, required=True)
    o = parser.parse_args()
    o.gpu = False
    os.makedirs(o.work, exist_ok=True)
    for source in o.sources:
        program = build(o, source)
        emulated = profile(o, program, "--backend", "emulate")
        name = os.path.basename(program[0])
        if o.golden:
            compare(renamed(of_golden(o), emulated), emulated, f"{name}, on a GPU")
            continue
        for options in (["--probes", "trace,path"], ["--collect", "probe"]):
            compare(inline(o, program, *options), emulated, f"{name} {' '.join(options)}")


if __name__ == "__main__":
    sys.exit(main())
