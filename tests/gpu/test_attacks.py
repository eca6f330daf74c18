#!/usr/bin/env python3
"""What a program may do to a collector that lives in it, on a GPU or on the emulator's driver in
NVIDIA's place: kills, forks, threads, a lost preload, many launches, faults of the device, no
memory left on it.

    test_attacks.py --warplens CMD --libraries DIR --runtime DIR PROGRAM      without a GPU
    test_attacks.py --warplens CMD --gpu [--results FILE.csv] PROGRAM         with one

PROGRAM is tests/gpu/programs/attack.cu. Its output and status must be its own, every profile that
is announced opens, and no launch is missing that was complete when the program last said so.
--results keeps a row for each attack. --seed and --kills choose the random kills.
"""
import argparse
import collections
import concurrent.futures
import csv
import glob
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

SIGNALS = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGSEGV, signal.SIGABRT]


class Bench:
    def __init__(self, o):
        self.o = o
        self.rows = []
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("WARPLENS_")}
        if not o.gpu:
            self.environment.update(WARPLENS_DEVICE="h200", LD_LIBRARY_PATH=o.runtime,
                                    WARPLENS_DRIVER=os.path.join(o.libraries, "emulate", "libcuda.so.1"))

    def command(self, path, arguments, *options):
        return [self.o.warplens, "profile", "--backend", "inline", "--keep-exitcode", *options, "-o", path, "--", *arguments]

    def run(self, command, **options):
        return subprocess.run(command, env=self.environment, capture_output=True, check=False, text=True, timeout=500, **options)

    def native(self, arguments):
        """Without a GPU there is none: what the emulator says."""
        if self.o.gpu:
            return self.run(arguments)
        with tempfile.TemporaryDirectory() as folder:
            return self.run([self.o.warplens, "profile", "-q", "--backend", "emulate", "--keep-exitcode", "-o",
                             os.path.join(folder, "p.wlprof"), "--", *arguments])

    def opened(self, path):
        """The profile as the command line shows it; None where it does not open."""
        export = self.run([self.o.warplens, "export", "--type", "json", "-o", "-", path])
        return json.loads(export.stdout) if export.returncode == 0 else None

    def note(self, attack, detail, seconds, profile, wrong):
        launches = seen(profile)
        ways = collections.Counter(one.get("way", "not observed") for one in profile["launches"]) if profile else {}
        self.rows.append({"attack": attack, "detail": detail, "seconds": f"{seconds:.2f}", "launches": launches,
                          "replayed": ways.get("replay", 0), "probed": ways.get("probe", 0), "result": wrong or "passed"})
        print(f"{'FAILED ' if wrong else 'passed '} {attack} {detail}: {launches} launches, {dict(ways)}, {seconds:.2f} s {wrong}",
              flush=True)


def seen(profile):
    return profile["coverage"]["launches_seen"] if profile else 0


def compare(bench, name, arguments, least=0, says=None, options=(), prefix=()):
    """The same output and status as natively, and a profile of at least so many launches."""
    program = [*prefix, bench.o.program, *arguments]
    native = bench.native([bench.o.program, *arguments])
    with tempfile.TemporaryDirectory() as folder:
        path, start = os.path.join(folder, "p.wlprof"), time.monotonic()
        done = bench.run(bench.command(path, program, *options))
        seconds, wrong = time.monotonic() - start, ""
        if (done.returncode, done.stdout) != (native.returncode, native.stdout):
            wrong = (f"natively {native.returncode} {native.stdout[-400:]!r}, profiled {done.returncode} {done.stdout[-400:]!r} "
                     f"{done.stderr[-800:]}")
        profile = bench.opened(path) if os.path.exists(path) else None
        if least and not profile:
            wrong = wrong or f"no profile that opens: {done.stderr[-800:]}"
        if seen(profile) < least:
            wrong = wrong or f"{seen(profile)} launches, not {least}: {done.stderr[-800:]}"
        if says and not re.search(says, done.stderr):
            wrong = wrong or f"it does not say {says!r}: {done.stderr[-800:]}"
        bench.note(name, " ".join(arguments), seconds, profile, wrong)


def children_of(pid):
    found = []
    for path in glob.glob(f"/proc/{pid}/task/*/children"):
        try:
            with open(path) as f:
                found += [int(one) for one in f.read().split()]
        except OSError:
            pass  # the thread has ended
    return found


def strike(process, whom, number):
    """False where the target was gone already."""
    try:
        if whom == "group":
            os.killpg(process.pid, number)
        elif whom == "warplens":
            process.send_signal(number)
        else:
            for pid in children_of(process.pid):
                os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


def last_count(output):
    counts = re.findall(r"^launches (\d+)$", output, re.MULTILINE)
    return int(counts[-1]) if counts else 0


def left_behind(bench, path):
    """The profile of captures that stayed when warplens was killed, or was interrupted while it
    wrote the profile."""
    captures = glob.glob(path + ".captures-*")
    if not captures:
        return None
    bench.run([bench.o.warplens, "import", "-q", "-f", "-o", path, captures[0]])
    return bench.opened(path) if os.path.exists(path) else None


def kill(bench, number, whom, delay, way):
    with tempfile.TemporaryDirectory() as folder:
        path, start = os.path.join(folder, "p.wlprof"), time.monotonic()
        output = os.path.join(folder, "output")
        with open(output, "w") as out, open(os.path.join(folder, "errors"), "w") as errors:
            process = subprocess.Popen(bench.command(path, [bench.o.program, way, str(bench.o.rounds)]), env=bench.environment, stdout=out,
                                       stderr=errors, start_new_session=True)
        time.sleep(delay)
        struck = strike(process, whom, number)
        wrong = ""
        try:
            process.wait(timeout=240)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            wrong = "warplens did not end"
        while not wrong and process_group_lives(process.pid) and time.monotonic() - start < 240:
            time.sleep(0.05)  # a program goes on when warplens itself was killed
        with open(output) as out, open(os.path.join(folder, "errors")) as text:
            said, errors = last_count(out.read()), text.read()
        profile = None
        if os.path.exists(path):
            profile = bench.opened(path)
            wrong = wrong or ("" if profile else f"the profile does not open: {errors[-600:]}")
        else:
            profile = left_behind(bench, path)
        if seen(profile) < said:
            wrong = wrong or f"{seen(profile)} launches, the program had said {said}: {errors[-600:]}"
        bench.note("kill", f"{way} {signal.Signals(number).name} {whom} after {delay:.2f} s{'' if struck else ' (over)'}",
                   time.monotonic() - start, profile, wrong)


def process_group_lives(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def kills(bench, count, seed, longest):
    choose = random.Random(seed)
    chosen = [(choose.choice(SIGNALS), choose.choice(["program", "warplens", "group"]), choose.uniform(0, longest),
               choose.choice(["launches", "leave"])) for _ in range(count)]
    with concurrent.futures.ThreadPoolExecutor(bench.o.jobs) as pool:
        for done in [pool.submit(kill, bench, *one) for one in chosen]:
            done.result()


def program_attacks(bench, many):
    compare(bench, "launches", ["launches", "30"], 61)
    compare(bench, "many", ["many", str(many)], many + 1)
    compare(bench, "threads", ["threads", "50"], 8 * 101)
    compare(bench, "forks", ["forks", "10"], 21 + 1 + 34)
    compare(bench, "forks beside launches", ["forks-beside", "40"], 81)
    for how in "0", "1", "2":
        compare(bench, "fault", ["fault", how], 4)
    compare(bench, "reset", ["reset", "3"], 9)
    for probes in "auto", "probe":
        compare(bench, f"reset, --collect {probes}", ["reset", "2"], 6, options=("--collect", probes))
        compare(bench, f"fault, --collect {probes}", ["fault", "1"], 4, options=("--collect", probes))
    if bench.o.gpu:  # without one the program has no driver but the one that it lost
        compare(bench, "no preload", ["launches", "10"], prefix=["env", "-u", "LD_PRELOAD"], says="not attached|no CUDA|LD_PRELOAD")
        for megabytes in "4", "64", "1024":
            compare(bench, "full memory", ["full", megabytes], 43)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--gpu", action="store_true", help="this machine has one")
    parser.add_argument("--results", metavar="FILE.csv")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--many", type=int, default=2000, help="launches in a row")
    parser.add_argument("--rounds", type=int, default=400, help="of two launches, of a program that is to be killed")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--longest", type=float, default=2.0, help="seconds until a kill, at most")
    parser.add_argument("--warplens", required=True)
    parser.add_argument("--libraries")
    parser.add_argument("--runtime")
    bench = Bench(parser.parse_args())
    program_attacks(bench, bench.o.many)
    kills(bench, bench.o.kills, bench.o.seed, bench.o.longest)
    if bench.o.results:
        with open(bench.o.results, "w", newline="") as f:
            table = csv.DictWriter(f, bench.rows[0].keys())
            table.writeheader()
            table.writerows(bench.rows)
    failed = [row for row in bench.rows if row["result"] != "passed"]
    print(f"{len(bench.rows)} attacks, {len(failed)} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
