#!/usr/bin/env python3
"""Measures what warplens costs on a GPU; README.md says what, how and what the figures are to be.

    run.py                          everything, for as long as it takes
    run.py --budget 500             as much as goes into 500 s; the same command goes on from there
    run.py --programs gemm,spmv --probes objects --collect auto --repeat 3
    run.py --merge A/samples.jsonl B/samples.jsonl    tables from what several runs measured
    run.py --emulate                without a GPU: the programs themselves, small, emulated
    run.py --stand-in RUNTIME       without a GPU: all of this, small, with the emulator as driver

Exits with 77 where there is no GPU (or nothing to choose how to collect on it), with 1 where a
program failed or gave other results than natively.
"""
import argparse
import collections
import datetime
import json
import os
import pathlib
import shutil
import subprocess
import sys

import machine
import suite
import tables

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SKIP = 77
NATIVE_EVERY = 4  # runs between two native ones


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="where warplens was built")
    parser.add_argument("--out", type=pathlib.Path, help="folder of samples and tables (BUILD/overhead)")
    for name, values in (("programs", [p.name for p in suite.SUITE]), ("collect", suite.COLLECTS),
                         ("probes", suite.PROBES), ("what", ["kernels", "cache", "tools"])):
        parser.add_argument("--" + name, type=lambda text: text.split(","), default=values, help=",".join(values))
    parser.add_argument("--repeat", type=int, default=10, help="processes of each kind (10)")
    parser.add_argument("--budget", type=float, help="seconds after which nothing new is begun")
    parser.add_argument("--limit", type=float, default=180, help="seconds that one run may take (180)")
    parser.add_argument("--tool-limit", type=float, default=60, help="seconds that one run of another tool may take (60)")
    parser.add_argument("--fresh", action="store_true", help="forget what the folder of samples holds")
    parser.add_argument("--options", default="", help="more options of warplens profile; with a folder of its own (--out)")
    parser.add_argument("--merge", nargs="+", metavar="FILE", help="only write tables, from these samples as well")
    parser.add_argument("--emulate", action="store_true")
    parser.add_argument("--stand-in", type=pathlib.Path, metavar="RUNTIME",
                        help="folder of a libcudart.so that takes the emulator's driver (tests/gpu/runtime)")
    o = parser.parse_args()
    o.out = (o.out or o.build / "overhead").resolve()
    o.build = o.build.resolve()
    unknown = set(o.programs) - {p.name for p in suite.SUITE} | set(o.probes) - set(suite.PROBES)
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    o.small = o.emulate or o.stand_in is not None
    return o


def build(o, sm="90"):
    """The programs, for a compute capability; gives the folder that they are in."""
    runtime = "shared" if o.stand_in else "static"
    folder = o.build / "bench" / f"overhead-{runtime}"
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    for command in (["cmake", "-S", HERE, "-B", folder, *generator, f"-DWL_BENCH_CUDART={runtime}",
                     f"-DWL_BENCH_SM={sm}"],
                    ["cmake", "--build", folder, "--target", "bench_overhead_programs"]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{done.stdout}{done.stderr}overhead: the programs cannot be built")
    return folder


def label(sample):
    cache = "without cache" if sample["cache"] == "without" else ""
    return " ".join(filter(None, [sample["program"], sample["tool"], sample["collect"], sample["probe"], cache]))


class Runner:
    """Runs programs, one process at a time, and keeps a sample of each."""

    def __init__(self, o, gpu, folder):
        self.o, self.gpu, self.folder = o, gpu, folder
        self.session = f"{datetime.datetime.now():%Y%m%dT%H%M%S}-{os.getpid()}"
        self.file = o.out / "samples.jsonl"
        if o.fresh:
            self.file.unlink(missing_ok=True)
        self.samples = tables.read([self.file]) if self.file.exists() else []
        self.expected = {}  # program and rounds: results of a native run
        self.failures = collections.Counter()
        self.scratch = o.out / "scratch"
        self.scratch.mkdir(parents=True, exist_ok=True)

    def program(self, p, rounds):
        command = [sys.executable, HERE / "programs" / p.file, *p.arguments] if p.python else [self.folder / p.name]
        if self.o.small:
            command += [p.small] * bool(p.small)
        return [str(c) for c in command] + (["--rounds", str(rounds)] if rounds and p.rounds else [])

    def command(self, p, config, rounds):
        clocked = [str(self.folder / "clock"), str(self.scratch / "clock"), *self.program(p, rounds)]
        if config["tool"] == "warplens":
            return machine.profile_command(self.o, self.scratch / "profile", config["collect"], config["probe"]) + clocked
        return machine.TOOLS[config["tool"]] + clocked

    def environment(self, config):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("WARPLENS_", "CUDA_CACHE_"))}
        env["CUDA_CACHE_PATH"] = str(self.o.out / "cache")
        if config["cache"] == "without":
            env["CUDA_CACHE_DISABLE"] = "1"
        env["TORCHINDUCTOR_CACHE_DIR"] = str(self.o.out / f"inductor-{config['tool']}")
        if self.o.stand_in:
            env.update(machine.stand_in(self.o, config["tool"] == "warplens"))
        return env

    def run(self, p, rounds=None, tool="native", collect="", probe="", cache="with"):
        config = dict(tool=tool, collect=collect, probe=probe, cache=cache)
        clock = self.scratch / "clock"
        clock.unlink(missing_ok=True)
        limit = self.o.limit if tool in ("native", "warplens") else self.o.tool_limit
        done = machine.execute(self.command(p, config, rounds), self.environment(config), limit)
        sample = dict(date=f"{datetime.date.today()}", **self.gpu, session=self.session, number=len(self.samples),
                      program=p.name, rounds=rounds, **config, wall_ms=done.wall_ms, tool_kib=done.kib, process_ms=None,
                      process_kib=None, busy_ms=None, span_ms=None, kernels={}, results={}, ways={}, replay_ms=None, error=done.error)
        if clock.exists():
            ms, kib, busy = clock.read_text().split()
            sample.update(process_ms=float(ms), process_kib=int(kib), busy_ms=float(busy))
        machine.read_output(done.output, sample)
        if tool == "warplens" and not sample["error"]:
            machine.read_profile(self.o, self.scratch / "profile", sample)
        self.judge(p, sample)
        self.keep(sample)

    def judge(self, p, sample):
        run = p.name, sample["rounds"]
        if not sample["error"] and sample["process_ms"] is None:
            sample["error"] = "the process's time is missing"
        if not sample["error"] and set(sample["kernels"]) != set(p.kernels):
            sample["error"] = f"times of kernels {sorted(sample['kernels'])} instead of {sorted(p.kernels)}"
        if not sample["error"] and sample["tool"] == "native":
            self.expected.setdefault(run, sample["results"])
        if not sample["error"] and sample["results"] != self.expected.get(run, sample["results"]):
            sample["error"] = f"OTHER RESULTS than natively: {sample['results']} instead of {self.expected[run]}"

    def keep(self, sample):
        self.samples.append(sample)
        with self.file.open("a") as f:
            f.write(json.dumps(sample) + "\n")
        name = label(sample)
        if sample["error"]:
            print(f"FAILED {name}: {sample['error']}", flush=True)
            self.failures[tables.key(sample)] += 1
        else:
            print(f"{name}: {sample['process_ms']:.0f} ms, {sample['wall_ms']:.0f} ms in all", flush=True)

    def missing(self, p, turn, **config):
        """Whether this turn's run is still to be made; what failed twice is not tried again, nor
        what fails natively."""
        wanted = dict(dict(program=p.name, tool="warplens", collect="", probe="", cache="with"), **config)
        done = sum(all(s[k] == v for k, v in wanted.items()) for s in tables.good(self.samples))
        native = dict(wanted, tool="native", collect="", probe="")
        hopeless = self.failures[tables.key(wanted)] >= 2 or self.failures[tables.key(native)]
        return turn < p.processes and done < (turn + 1) * p.times(config) and not hopeless


def plan(o, runner, programs):
    """What is to be run, in order: (program, arguments of Runner.run). Native runs and others
    alternate, and rounds over the whole suite follow one another, so that a run that is cut short
    has a little of everything."""
    missing = runner.missing
    for turn in range(o.repeat):
        for p in programs:
            configs = [dict(tool="warplens", collect=c, probe=b) for c in o.collect for b in o.probes if "kernels" in o.what]
            left = [c for c in configs for _ in range(p.times(c)) if missing(p, turn, **c)]
            for i, config in enumerate(left):
                if i % NATIVE_EVERY == 0 or p.times(config) > 1:
                    yield p, {}
                if missing(p, turn, **config):
                    yield p, config
            config = dict(tool="warplens", collect="auto", probe="objects", cache="without")
            if "cache" in o.what and not p.python and missing(p, turn, **config):
                yield p, dict(cache="without")
                yield p, config
        if turn == 0 and "tools" in o.what:
            for p in programs:
                for tool in machine.TOOLS:
                    if tool != "native" and missing(p, 0, tool=tool) and shutil.which(machine.TOOLS[tool][0]):
                        yield p, dict(rounds=1)
                        yield p, dict(tool=tool, rounds=1)


def available(o):
    found = []
    for p in suite.SUITE:
        if p.name not in o.programs or (o.small and p.python):
            continue
        if p.python and subprocess.run([sys.executable, "-c", "import torch"], capture_output=True, check=False).returncode:
            print(f"overhead: {p.name} is left out: {sys.executable} has no torch")
            continue
        found.append(p)
    return found


def measure(o, gpu, sm):
    clock = machine.Stopwatch(o.budget)
    programs = available(o)
    for tool, command in machine.TOOLS.items():
        if "tools" in o.what and command and not shutil.which(command[0]):
            print(f"overhead: {tool} is left out: there is no {command[0]}")
    runner = Runner(o, gpu, build(o, sm))
    for p, config in plan(o, runner, programs):
        if clock.over():
            print(f"overhead: {o.budget:.0f} s are over; the same command goes on from here")
            break
        runner.run(p, **config)
    report(o, runner.samples)
    failed = [s for s in runner.samples if s["error"] and s["tool"] in ("native", "warplens")]
    for s in failed:
        print(f"FAILED {label(s)}: {s['error']}", file=sys.stderr)
    return 1 if failed else 0


def report(o, samples):
    rows = tables.write_all(o.out, samples)
    thin = sum(row["samples"] < tables.FULL for row in rows)
    print(f"overhead: {len(samples)} samples, {len(rows)} rows in {o.out}/kernels.csv"
          + (f", {thin} of them from fewer than {tables.FULL} samples" if thin else ""))
    print(f"overhead: bench/overhead/check_limits.py {o.out} compares with the limits")


def emulate(o):
    """Each program on one thread of the emulator and on two: right by its own check, the same to
    the bit, and observed."""
    folder, failed = build(o), 0
    o.out.mkdir(parents=True, exist_ok=True)
    for p in available(o):
        results = []
        for threads in ("1", "2"):
            command = [folder / p.name, *[p.small] * bool(p.small), *(["--rounds", "1", "--check"] if p.rounds else [])]
            results.append(machine.emulated(o, command, threads))
        wrong = machine.compare_emulated(p, results)
        failed += bool(wrong)
        print(f"{p.name}: {wrong or 'ok'}")
    return 1 if failed else 0


def main():
    o = arguments()
    if o.emulate:
        return emulate(o)
    o.out.mkdir(parents=True, exist_ok=True)
    if o.merge:
        report(o, tables.read(o.merge + [f for f in [o.out / "samples.jsonl"] if f.exists()]))
        return 0
    found = ({"chip": "emulated", "driver": "none"}, "90") if o.stand_in else machine.gpu()
    if not found:
        print("overhead: skipped, this machine has no GPU")
        return SKIP
    if not machine.can_collect(o):
        print("overhead: skipped, this warplens has no --collect and --probes")
        return SKIP
    return measure(o, *found)


if __name__ == "__main__":
    sys.exit(main())
