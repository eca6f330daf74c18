#!/usr/bin/env python3
"""Runs one example end to end and compares what warplens finds with what its source says.

    check_example.py --warplens CMD --work DIR SOURCE.cu [--nvcc NVCC [--flags "..."] | --program
    PROGRAM]

A comment "finds: <pattern> <object>, ..." in the source, or in a header of its folder, names the
findings at its line, or at the next one where it has a line of its own; "(<gain>)" behind one says
that mending it gains little, and why. "advises: <words>" says that the advice of a finding has
these words, "never advises: <words>" that none has. The example must pass its own check, fail it
when no kernel runs, and give these findings and no others, but for memory that is left to the end
of the process: the examples are no longer than what they show.
"""
import argparse
import json
import os
import re
import subprocess
import sys

MARKER = re.compile(r"//\s*finds:\s*(.*)")
ADVICE = re.compile(r"//\s*(never )?advises:\s*(.*)")


def sources_of(path):
    """The source and what it includes of its folder."""
    paths, queue = [], [path]
    while queue:
        at = queue.pop()
        paths.append(at)
        with open(at) as f:
            names = re.findall(r'^#include "([^"/]+)"', f.read(), re.MULTILINE)
        queue += [p for p in (os.path.join(os.path.dirname(at), n) for n in names) if p not in paths + queue]
    return paths


def expected(source):
    rows = set()
    for path in sources_of(source):
        with open(path) as f:
            rows |= {(*(one.split() + ["(full)"])[:3], "%s:%d" % (os.path.basename(path), n + line.lstrip().startswith("//")))
                     for n, line in enumerate(f, 1) for m in [MARKER.search(line)] if m for one in m[1].split(",")}
    return rows


def found(stats, source):
    """(pattern, object, gain, line) of every finding; a finding counts at each of its lines in the
    source and its headers."""
    names = {os.path.basename(path) for path in sources_of(source)}
    rows = set()
    for f in stats["findings"]:
        if f["verdict"] == "at-exit":
            continue
        lines = ["%s:%d" % (os.path.basename(at["file"]), at["line"]) for at in f.get("lines", [])
                 if os.path.basename(at.get("file", "")) in names]
        objects = [o["name"] for o in stats["objects"] if o["id"] == f["object"]] if isinstance(f.get("object"), int) \
            else [f.get("object", "-")]
        variable = re.split(r"[ (]", objects[0])[0] if objects else "?"
        rows |= {(f["pattern"], variable, "(%s)" % f["verdict"], line) for line in lines or ["no line"]}
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
    probes = ["--probes", o.probes] if o.probes else []
    done = run([o.warplens, "profile", "-q", "-f", *probes, "-o", path, "--", program, *arguments],
               env={**os.environ, "WARPLENS_REPLAY_BUDGET": "none"})
    return path, done


def fail(text, done=None):
    print("FAIL:", text)
    if done:
        print("exit status", done.returncode, "\nstdout:", done.stdout[-3000:], "\nstderr:", done.stderr[-3000:])
    sys.exit(1)


def build(o, source):
    program = os.path.join(o.work, os.path.basename(source)[:-3])
    done = run([o.nvcc, "-g", "-lineinfo", *o.flags.split(), "-o", program, source])
    if done.returncode:
        fail("nvcc", done)
    return program


def measure(o, program):
    """What stats gives of the program, which must pass its own check, and fail it without
    kernels."""
    name = os.path.basename(program)
    _, control = profile(o, program, name + "_control", "--skip-kernel")
    if control.returncode != 1 or "wrong" not in control.stdout:
        fail("without its kernel the example does not notice a wrong result", control)
    path, done = profile(o, program, name)
    if done.returncode or "ok" not in done.stdout:
        fail("the example's own check", done)
    thresholds = ["--set-threshold=" + t for t in o.thresholds.split()]
    stats = run([o.warplens, "stats", "--format", "json", *thresholds, path])
    if stats.returncode:
        fail("stats", stats)
    return json.loads(stats.stdout)


def compare(stats, source):
    """Are the findings those that the source names?"""
    want, got = expected(source), found(stats, source)
    wrong = wrong_advice(stats, source)
    for line in wrong:
        print("FAIL: the advice is otherwise:", line)
    for row in sorted(want - got):
        print("FAIL: not found: %s on %s %s in %s" % row)
    for row in sorted(got - want):
        print("FAIL: found, but not expected: %s on %s %s in %s" % row)
    if want == got and not wrong:
        print("%s: %d findings as expected" % (os.path.basename(source), len(want)))
    return want == got and not wrong


def options(**more):
    parser = argparse.ArgumentParser()
    for name in ("warplens", "work", "nvcc", "program"):
        parser.add_argument("--" + name)
    for name in ("flags", "probes", "thresholds"):
        parser.add_argument("--" + name, default="")
    for name, settings in more.items():
        parser.add_argument(name, **settings)
    o = parser.parse_args()
    os.makedirs(o.work, exist_ok=True)
    return o


def main():
    o = options(source={})
    if not compare(measure(o, o.program or build(o, o.source)), o.source):
        sys.exit(1)


if __name__ == "__main__":
    main()
