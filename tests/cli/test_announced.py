#!/usr/bin/env python3
"""Every profile that is announced opens: after kills at any moment of an emulated run, and of
captures whose records say something else than what was recorded.

    test_announced.py WARPLENS WORK [NVCC] --mutate PROGRAM [--kills N] [--mutants N] [--seed N]

PROGRAM is mutate_capture. What is random follows from the seed; moments of kills are fractions of
the time that the run takes, and what is expected holds at each of them.
"""
import argparse
import collections
import concurrent.futures
import glob
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

from case import NVCC, WARPLENS, WORK, compile_program, run

SIGNALS = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGSEGV, signal.SIGBUS,
           signal.SIGABRT, signal.SIGUSR1, signal.SIGALRM]
LAUNCHES = 4000


def fresh(name):
    folder = os.path.join(WORK, name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    return folder


def why_not_open(profile):
    """What the commands that read a profile say when they do not; "" when they do."""
    for command in (["stats", "--format", "json"], ["report", "-f", "-o", "/dev/null"]):  # all that there is, and the heat maps
        done = run(WARPLENS, *command, profile, errors="replace")
        if done.returncode not in (0, 3):  # 3: there is nothing to show
            return f"{' '.join(command)}: {done.returncode} {done.stderr.strip()}"
    return ""


def launches_seen(profile):
    return json.loads(run(WARPLENS, "export", "--type", "json", profile).stdout)["coverage"]["launches_seen"]


# ---- kills ----

def children_of(pid):
    found = []
    for path in glob.glob(f"/proc/{pid}/task/*/children"):
        try:
            with open(path) as f:
                found += [int(one) for one in f.read().split()]
        except OSError:
            pass  # it has ended
    return found


def strike(process, whom, number):
    try:
        if whom == "group":
            os.killpg(process.pid, number)
        elif whom == "warplens":
            process.send_signal(number)
        else:
            for pid in children_of(process.pid):
                os.kill(pid, number)
    except ProcessLookupError:
        pass  # over already


def wait_for_group(group):
    """A program goes on when warplens alone was killed."""
    for _ in range(12000):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.01)


def judge_kill(folder, said, errors, status):
    """"" or what is wrong."""
    profile = os.path.join(folder, "p.wlprof")
    announced = f"profile: {profile}" in errors
    if announced and not os.path.exists(profile):
        return "the profile that was announced is not there"
    left = sorted(os.listdir(folder))
    captures = [name for name in left if ".captures-" in name]
    if status >= 0 and set(left) - {"p.wlprof", *captures}:
        return f"left behind: {left}"  # warplens itself went to its end
    if not os.path.exists(profile) and captures:
        done = run(WARPLENS, "import", "-o", profile, os.path.join(folder, captures[0]))
        if done.returncode not in (0, 1):
            return f"import gave {done.returncode}: {done.stderr}"
    if not os.path.exists(profile):
        return f"the program had said {said} launches, and nothing is left of them" if said else ""
    wrong = why_not_open(profile)
    if not wrong and launches_seen(profile) < said:
        wrong = f"{launches_seen(profile)} launches, the program had said {said}"
    return wrong


def kill(number, which, whom, delay):
    folder = fresh(f"kill-{number}")
    command = [WARPLENS, "profile", "-o", os.path.join(folder, "p.wlprof"), "--", compile_program("steps"), str(LAUNCHES)]
    with open(folder + ".out", "w+") as out, open(folder + ".err", "w+") as err:
        process = subprocess.Popen(command, stdout=out, stderr=err, start_new_session=True)
        time.sleep(delay)
        strike(process, whom, which)
        status = process.wait(timeout=300)
        wait_for_group(process.pid)
        out.seek(0)
        err.seek(0)
        counts, errors = re.findall(r"^launches (\d+)$", out.read(), re.MULTILINE), err.read()
    wrong = judge_kill(folder, int(counts[-1]) if counts else 0, errors, status)
    there = os.path.exists(os.path.join(folder, "p.wlprof"))
    kind = "nothing recorded" if not there else "whole" if counts and int(counts[-1]) == LAUNCHES else "a part"
    if wrong:
        wrong = f"kill {number}, {which.name} to {whom} after {delay:.3f} s: {wrong}"
    else:
        shutil.rmtree(folder)
    return kind, wrong


def kills(count, seed, jobs):
    choose = random.Random(seed)
    command = [WARPLENS, "profile", "-o", os.path.join(fresh("whole"), "p.wlprof"), "--", compile_program("steps"), str(LAUNCHES)]
    start = time.monotonic()
    run(*command)
    longest = 0.7 * (time.monotonic() - start)  # most while the program runs, some while its profile is written
    chosen = [(i, choose.choice(SIGNALS), choose.choice(["program", "warplens", "group"]), choose.uniform(0, longest))
              for i in range(count)]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return [done.result() for done in [pool.submit(kill, *one) for one in chosen]]


# ---- captures that say something else ----

def capture_of(name):
    """What the program records, with all that can be recorded."""
    folder = fresh("capture-" + name)
    libraries = os.path.join(os.path.dirname(os.path.dirname(WARPLENS)), "lib", "warplens", "emulate")
    run(compile_program(name), env={**os.environ, "LD_LIBRARY_PATH": libraries, "WARPLENS_CAPTURE_DIR": folder, "WARPLENS_PROBES": "all",
                                    "WARPLENS_SET": "sequences", "LD_PRELOAD": os.path.join(libraries, "libwarplens_emulate.so")})
    return glob.glob(os.path.join(folder, "*.wlcap"))[0]


def mutant(tool, capture, seed):
    folder = fresh(f"mutant-{seed}")
    profile, captures = os.path.join(folder, "p.wlprof"), os.path.join(folder, "captures")
    os.mkdir(captures)
    run(tool, str(seed), capture, os.path.join(captures, "1-0.wlcap"))
    done = run(WARPLENS, "import", "-o", profile, captures, errors="replace")
    wrong, kind = "", "refused"
    if done.returncode == 0:
        kind, wrong = "imported", why_not_open(profile)
    elif done.returncode != 1 or "==WARPLENS==" not in done.stderr:
        wrong = f"import gave {done.returncode}: {done.stderr}"
    elif os.path.exists(profile) or not os.listdir(captures):
        wrong = "the import failed, and did not leave everything as it was"
    elif "cannot be opened again" in done.stderr:
        kind = "not announced, since it would not open"
    if wrong:
        wrong = f"mutant {seed} of {capture}: {wrong}"
    else:
        shutil.rmtree(folder)
    return kind, wrong


def mutants(count, tool, seed, jobs):
    captures = [capture_of(name) for name in ("findings", "lives", "elements")]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(mutant, tool, captures[i % len(captures)], seed + i) for i in range(count)]
        return [done.result() for done in futures]


def tell(what, results):
    """The number of those that are wrong."""
    wrong = [text for _, text in results if text]
    counts = ", ".join(f"{n} {kind}" for kind, n in sorted(collections.Counter(kind for kind, _ in results).items()))
    print(f"{len(results)} {what}: {counts}; {len(wrong)} wrong")
    for text in wrong:
        print("  " + text)
    return len(wrong)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("paths", nargs="+", metavar="WARPLENS WORK NVCC")
    parser.add_argument("--mutate", required=True)
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--mutants", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    o = parser.parse_args()
    if not NVCC:
        print("no nvcc here")
        return 77
    os.makedirs(WORK, exist_ok=True)
    wrong = tell("kills", kills(o.kills, o.seed, o.jobs)) + tell("changed captures", mutants(o.mutants, o.mutate, o.seed, o.jobs))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
