#!/usr/bin/env python3
"""Runs one example end to end and compares what warplens finds with what its source says.

    check_example.py --warplens CMD --work DIR SOURCE.cu [--nvcc NVCC [--flags "..."] | --program
    PROGRAM]

A comment "finds: <pattern> <object>, ..." in the source names the findings at its line; "(<gain>)"
behind one says that mending it gains little, and why. "advises: <words>" says that the advice of a
finding has these words, "never advises: <words>" that none has. The example must pass its own
check, fail it when no kernel runs, and give these findings and no others, but for memory that is
left to the end of the process: the examples are no longer than what they show.
"""
import argparse
import json
import os
import re
import subprocess
import sys

MARKER = re.compile(r"//\s*finds:\s*(.*)")
ADVICE = re.compile(r"//\s*(never )?advises:\s*(.*)")


def expected(source):
    with open(source) as f:
        return {(*(one.split() + ["(full)"])[:3], n) for n, line in enumerate(f, 1) for m in [MARKER.search(line)] if m
                for one in m[1].split(",")}


def found(stats, source):
    """(pattern, object, gain, line) of every finding; a finding counts at each of its lines in the
    source."""
    name = os.path.basename(source)
    rows = set()
    for f in stats["findings"]:
        if f["verdict"] == "at-exit":
            continue
        lines = [at["line"] for at in f.get("lines", []) if os.path.basename(at.get("file", "")) == name]
        objects = [o["name"] for o in stats["objects"] if o["id"] == f["object"]] if isinstance(f.get("object"), int) \
            else [f.get("object", "-")]
        variable = re.split(r"[ (]", objects[0])[0] if objects else "?"
        rows |= {(f["pattern"], variable, "(%s)" % f["verdict"], line) for line in lines or [0]}
    return rows


def wrong_advice(stats, source):
    """What the source says of advice and does not hold."""
    advice = " ".join(f["advice"] for f in stats["findings"])
    with open(source) as f:
        marks = [m for m in map(ADVICE.search, f) if m]
    return [m[0] for m in marks if (m[2].strip() in advice) == bool(m[1])]


def run(command, **options):
    return subprocess.run(command, capture_output=True, check=False, text=True, timeout=240, **options)


def profile(o, program, name, *arguments):
    path = os.path.join(o.work, name + ".wlprof")
    done = run([o.warplens, "profile", "-q", "-f", "-o", path, "--", program, *arguments])
    return path, done


def fail(text, done=None):
    print("FAIL:", text)
    if done:
        print("exit status", done.returncode, "\nstdout:", done.stdout[-3000:], "\nstderr:", done.stderr[-3000:])
    sys.exit(1)


def build(o):
    program = os.path.join(o.work, os.path.basename(o.source)[:-3])
    done = run([o.nvcc, "-g", "-lineinfo", *o.flags.split(), "-o", program, o.source])
    if done.returncode:
        fail("nvcc", done)
    return program


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("source")
    for name in ("warplens", "work", "nvcc", "program"):
        parser.add_argument("--" + name)
    parser.add_argument("--flags", default="")
    o = parser.parse_args()
    os.makedirs(o.work, exist_ok=True)
    program = o.program or build(o)
    _, control = profile(o, program, "control", "--skip-kernel")
    if control.returncode != 1 or "wrong" not in control.stdout:
        fail("without its kernel the example does not notice a wrong result", control)
    path, done = profile(o, program, "profile")
    if done.returncode or "ok" not in done.stdout:
        fail("the example's own check", done)
    stats = run([o.warplens, "stats", "--format", "json", path])
    if stats.returncode:
        fail("stats", stats)
    want, got = expected(o.source), found(json.loads(stats.stdout), o.source)
    wrong = wrong_advice(json.loads(stats.stdout), o.source)
    for line in wrong:
        print("FAIL: the advice is otherwise:", line)
    for row in sorted(want - got):
        print("FAIL: not found: %s on %s %s in line %d" % row)
    for row in sorted(got - want):
        print("FAIL: found, but not expected: %s on %s %s in line %d" % row)
    if want != got or wrong:
        sys.exit(1)
    print("%s: %d findings as expected" % (os.path.basename(o.source), len(want)))


main()
