#!/usr/bin/env python3
"""Runs an ordinary CUDA program through the library before the driver, without a GPU, and compares
with the emulator.

    test_program.py --warplens CMD --libraries DIR --runtime DIR --work DIR --nvcc NVCC \
        SOURCE.cu [arguments]
    test_program.py ... --gpu [--record DIR]     with a GPU: on NVIDIA's runtime and driver
    test_program.py ... --golden FILE.wlcap      what was recorded so in place of a run
    test_program.py ... --built                  SOURCE.cu is the program itself

The program is linked with the shared runtime and runs on a runtime library for tests, our library,
and the emulator's driver. Output and status must be those of `warplens profile --backend emulate`,
and so must what the profile says: launches, objects with their names and places; whether kernels
run as they are, or with probes.
"""
import argparse
import collections
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

NEAR = 0.1  # relative error of counts that are estimates


def run(command, **variables):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("WARPLENS_")}
    environment.update(variables)
    return subprocess.run(command, env=environment, capture_output=True, check=False, text=True, timeout=240)


def fail(text, done=None):
    print("FAIL:", text)
    if done:
        print("exit status", done.returncode, "\nstdout:", done.stdout[-3000:], "\nstderr:", done.stderr[-3000:])
    sys.exit(1)


def build(o):
    if o.built:
        return o.source
    program = os.path.join(o.work, os.path.basename(o.source)[:-3])
    cudart = o.cudart or ("static" if o.gpu else "shared")
    done = run([o.nvcc, "-g", "-lineinfo", "-std=c++17", "-arch=sm_90", "-allow-unsupported-compiler", "-cudart", cudart,
                "-o", program, o.source])
    if done.returncode:
        fail("nvcc", done)
    return program


def profile(o, program, backend, *options, **variables):
    path = os.path.join(o.work, backend + ".wlprof")
    done = run([o.warplens, "profile", "-q", "--backend", backend, "--set", "sequences", *options, "-f", "-o", path, "--",
                program, *o.arguments], **variables)
    export = run([o.warplens, "export", "--type", "json", "-o", "-", path])
    if export.returncode:
        fail(f"the profile of {backend}: {export.stderr}", done)
    return done, json.loads(export.stdout)


def messages(o):
    with sqlite3.connect(os.path.join(o.work, "inline.wlprof")) as database:
        return "\n".join(text for text, in database.execute("SELECT text FROM messages"))


def launches(profiled, threads):
    """A stream's number is one of its own: only which launches share one is compared. Threads come
    in any order."""
    numbers = {}
    rows = [(one["kernel"], *one["grid"], *one["block"], numbers.setdefault(one["stream"], len(numbers)))
            for one in profiled["launches"]]
    return sorted(row[:-1] for row in rows) if threads else rows


def objects(profiled, threads):
    """Shared and local memory are known from accesses only. Which allocations of one place are
    there at the same time, and so have numbers, depends on the threads."""
    number = re.compile(r" #\d+(, [\d.]+ \w+)?(?=$| \()") if threads else re.compile("^$")
    return sorted((number.sub("", one["name"]), one["space"], one["bytes"], one.get("file", ""), one.get("line", 0))
                  for one in profiled["objects"] if one["space"] not in ("shared", "local"))


def instructions(profiled, wanted, gaps):
    """What each of the wanted launches did, row for row, without the instructions that are not
    replayed."""
    return sorted((one["launch"], one["pc"], *(one[key] for key in sorted(one) if key not in ("line", "file")))
                  for one in profiled["instructions"]
                  if one["launch"] in wanted and (one["kernel"], one["pc"]) not in gaps)


def compare_instructions(ours, theirs, way):
    """Launches that fault while they are emulated have no rows there, and may have some where they
    are replayed."""
    gaps = {(gap["kernel"], gap["pc"]) for gap in ours["coverage"].get("gaps", [])}
    known = {one["id"] for one in ours["launches"] if one.get("way") == way}
    estimated = {one["id"] for one in ours["launches"] if one.get("estimated")}
    silent = {one["id"] for one in theirs["launches"]} - {one["launch"] for one in theirs["instructions"]}
    rows = instructions(ours, known - silent - estimated, gaps)
    same(f"instructions, {way}", rows, instructions(theirs, known - silent - estimated, gaps))
    near = compare_estimates(ours, theirs, known & estimated - silent, gaps)
    print(f"{len(known)} launches by {way}, {len(rows)} rows of {len(theirs['instructions'])} the same, {near} estimated, "
          f"{len(gaps)} instructions not known")


def compare_estimates(ours, theirs, wanted, gaps):
    """Rows that were scaled from some blocks: the same ones, and near."""
    def rows(profiled):
        return {(one["launch"], one["pc"], one["op"], one.get("object")): one for one in profiled["instructions"]
                if one["launch"] in wanted and (one["kernel"], one["pc"]) not in gaps}

    mine, whole = rows(ours), rows(theirs)
    same("estimated rows", sorted(map(str, mine)), sorted(map(str, whole)))
    for key, one in mine.items():
        for count in "requests", "sectors", "wavefronts", "active_lanes":
            if abs(one[count] - whole[key][count]) > NEAR * whole[key][count]:
                fail(f"{key}: {one[count]} {count}, {whole[key][count]} emulated")
    return len(mine)


def sequences(o, backend):
    """By launch that has it: which blocks are sampled; what their warps did, to the byte, over
    objects of what size."""
    with sqlite3.connect(os.path.join(o.work, backend + ".wlprof")) as database:
        def pages(table, of, number):
            return tuple(database.execute(f"SELECT bytes, data FROM {table} WHERE {of} = ? ORDER BY page", (number,)))

        def slots(launch, group):
            return tuple(database.execute(
                "SELECT w.slot, w.space, o.bytes FROM launch_warps w LEFT JOIN objects o ON o.id = w.object "
                "WHERE w.launch = ? AND w.warps = ? ORDER BY w.slot", (launch, group)))

        known = {launch: [blocks, dropped] for launch, dropped, blocks in database.execute(
            "SELECT l.id, l.warps_dropped, (SELECT group_concat(s.block) FROM (SELECT block FROM launch_samples "
            "WHERE launch = l.id ORDER BY block) s) FROM launches l WHERE l.warps_dropped IS NOT NULL")}
        for launch, group, sequence in database.execute(
                "SELECT l.id, w.id, w.sequence FROM launches l JOIN warp_groups w ON w.launch = l.rows_of ORDER BY l.id, w.id"):
            known[launch].append((slots(launch, group), pages("warp_pages", "warps", group),
                                  pages("sequence_pages", "sequence", sequence)))
    return known


def compare_sequences(o, ours, theirs, backend):
    """Replayed launches have them where all of their accesses follow from the launch; what is known
    of traced blocks may lack instructions without accesses, and is compared elsewhere, lane by lane
    (test_steps.py). Which blocks stand for the others depends on all that they did, and a slice
    does less."""
    replayed = {one["id"] for one in ours["launches"] if one.get("way") == "replay"}
    estimated = {one["id"] for one in ours["launches"] if one.get("estimated")}
    silent = {one["id"] for one in theirs["launches"]} - {one["launch"] for one in theirs["instructions"]}
    mine, emulated = sequences(o, backend), sequences(o, "emulate")
    compared = [launch for launch in mine
                if launch in replayed - estimated - silent and mine[launch][0] == emulated.get(launch, [None])[0]]
    for launch in compared:
        if mine[launch] != emulated[launch]:
            fail(f"what the warps of launch {launch} did is not the same")
    print(f"{len(compared)} of {len(mine)} launches with sequences, {sum(len(mine[one]) - 2 for one in compared)} groups of "
          "warps the same")


def compare_counts(o, ours, theirs, backend):
    """Launches of several threads have no numbers of their own, and nothing is compared."""
    if o.threads:
        return
    compare_instructions(ours, theirs, "replay")
    if not o.any_order:
        compare_instructions(ours, theirs, "probe")
        compare_sequences(o, ours, theirs, backend)


def findings(profiled):
    return sorted((one["pattern"], one["kernel"], *((line["file"], line["line"]) for line in one.get("lines", [])))
                  for one in profiled["findings"])


def check_exact(ours):
    inexact = [one["id"] for one in ours["launches"] if one.get("estimated") or one.get("way") != "probe"]
    if inexact or ours["coverage"].get("gaps") or ours["coverage"]["records_dropped"]:
        fail(f"launches {inexact} are not known exactly: {ours['coverage']}")


def same(what, ours, theirs):
    if ours != theirs:
        for one in collections.Counter(ours) - collections.Counter(theirs):
            print("  more inline:", one)
        for one in collections.Counter(theirs) - collections.Counter(ours):
            print("  more emulated:", one)
        fail(f"{what}: {len(ours)}, {len(theirs)} emulated")


def inline(o, program, way, *options):
    if o.gpu:
        return profile(o, program, "inline", "--collect", way, *options)
    return profile(o, program, "inline", "--replay-budget", "none", "--collect", way, *options, WARPLENS_DEVICE=o.devices,
                   LD_LIBRARY_PATH=o.runtime, WARPLENS_DRIVER=os.path.join(o.libraries, "emulate", "libcuda.so.1"))


def record(o, program):
    """The capture as the application left it, before anything is worked out."""
    name = os.path.basename(program)
    with tempfile.TemporaryDirectory() as folder:
        variables = {} if o.gpu else {"LD_LIBRARY_PATH": o.runtime, "WARPLENS_DEVICE": o.devices,
                                      "WARPLENS_DRIVER": os.path.join(o.libraries, "emulate", "libcuda.so.1")}
        run([program, *o.arguments], LD_PRELOAD=os.path.join(o.libraries, "inline", "libcuda.so.1"),
            WARPLENS_CAPTURE_DIR=folder, WARPLENS_BLOCKS="all" if o.exact else "auto", **variables)
        captures = os.listdir(folder)
        if len(captures) != 1:
            fail(f"{len(captures)} captures")
        os.makedirs(o.record, exist_ok=True)
        shutil.copy(os.path.join(folder, captures[0]), os.path.join(o.record, name + ".wlcap"))
        print(f"recorded {name}.wlcap, {os.path.getsize(os.path.join(o.record, name + '.wlcap'))} bytes")


def compare_golden(o, theirs):
    """A capture is completed where it lies, so a copy is."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(o.golden, folder)
        path = os.path.join(o.work, "golden.wlprof")
        done = run([o.warplens, "import", "-q", "-f", "-o", path, folder], WARPLENS_SET="sequences")
        if done.returncode:
            fail("import", done)
    ours = json.loads(run([o.warplens, "export", "--type", "json", "-o", "-", path]).stdout)
    same("launches", launches(ours, o.threads), launches(theirs, o.threads))
    compare_counts(o, ours, theirs, "golden")
    if o.exact:
        check_exact(ours)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("source")
    parser.add_argument("arguments", nargs="*")
    parser.add_argument("--gpu", action="store_true", help="this machine has one")
    parser.add_argument("--built", action="store_true", help="the source is the program")
    parser.add_argument("--cudart", choices=("static", "shared"))
    parser.add_argument("--record", metavar="DIR", help="keep the capture of the run there")
    parser.add_argument("--golden", metavar="FILE", help="a capture that was kept")
    parser.add_argument("--devices", default="h200", help="what the emulator has")
    parser.add_argument("--exact", action="store_true", help="all is recorded: nothing may be unknown or an estimate")
    parser.add_argument("--says", metavar="PATTERN", help="what the report must say where all kernels have probes")
    parser.add_argument("--threads", action="store_true", help="several threads launch")
    parser.add_argument("--any-order", action="store_true",
                        help="what a kernel does depends on the order of atomics: only what is proven is compared")
    for name in ("warplens", "libraries", "runtime", "work", "nvcc"):
        parser.add_argument("--" + name, required=True)
    o = parser.parse_args()
    os.makedirs(o.work, exist_ok=True)
    program = build(o)
    options = ["--block", "all"] if o.exact else []
    emulated, theirs = profile(o, program, "emulate", *options, WARPLENS_DEVICE=o.devices)
    if o.golden:
        compare_golden(o, theirs)
        return
    for way in "replay", "auto", "probe":
        done, ours = inline(o, program, way, *options)
        if (done.returncode, done.stdout) != (emulated.returncode, emulated.stdout):
            print("emulated:", emulated.returncode, emulated.stdout[-3000:])
            fail(f"output or status, {way}", done)
        if ours["collector"] != "inline":
            fail(f"the collector is {ours['collector']}")
        same(f"launches, {way}", launches(ours, o.threads), launches(theirs, o.threads))
        same(f"objects, {way}", objects(ours, o.threads), objects(theirs, o.threads))
        compare_counts(o, ours, theirs, "inline")
        if o.exact and way != "replay":
            check_exact(ours)
            same(f"findings, {way}", findings(ours), findings(theirs))
        if o.says and way == "probe" and not re.search(o.says, messages(o)):
            fail(f"the report does not say {o.says}: {messages(o)}")
        print(f"{way}: {len(ours['launches'])} launches, {len(ours['objects'])} objects as emulated")
    if o.record:
        record(o, program)


if __name__ == "__main__":
    main()
