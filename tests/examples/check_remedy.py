#!/usr/bin/env python3
"""Checks that a remedy that was tried comes true: the example that follows the advice.

    check_remedy.py --warplens CMD --nvcc NVCC --work DIR BEFORE.cu AFTER.cu REMEDY COUNT

The kernel's counts (COUNT: sectors or wavefronts), less what the findings whose first remedy is
REMEDY save by it, must be those of the kernel in AFTER, which must pass its own check: exactly,
since all addresses follow from the launch. Where the compiler makes another number of requests of
AFTER, that holds of the count for each request. What is staged takes the place of requests to
global memory: these are compared, and so are the wavefronts of shared memory beyond those of
BEFORE. What takes the place of an array moves as many sectors as was said. What is read directly
moves more sectors, by as many as was said, and none of it passes through shared memory.

And the time that was said comes true: what the model says of AFTER, profiled in the same way, is
hardly more than what it said of the change, and in its range.

    check_remedy.py --time ... BEFORE.cu AFTER.cu REMEDY [MORE]   checks the time alone

MORE says what AFTER does beside the advice: then it may take less.
"""
import json
import os
import subprocess
import sys

STAGES = ("stage-in-shared-memory", "combine-atomics", "private-copies", "keep-in-shared-memory")
DIRECT = "read-directly"
EXCHANGE = "exchange-arrays"
MOST_OVER = 1.3  # of the time that came, over the one that was said
SEVERAL = "follows several findings"
UNROLLED = "the compiler unrolls what has the tile's size"
# What changes all that is counted of the kernel.
WHOLE = ("swap-indices", "widen-blocks", "pad-shared-array", "swizzle-shared-array")


def arguments():
    names = {"--warplens": None, "--nvcc": None, "--work": None}
    rest = []
    given = iter(sys.argv[1:])
    for word in given:
        if word in names:
            names[word] = next(given)
        else:
            rest.append(word)
    return names["--warplens"], names["--nvcc"], names["--work"], *rest


def profile(warplens, nvcc, work, source):
    program = os.path.join(work, os.path.basename(source)[:-3])
    path = program + ".wlprof"
    subprocess.run([nvcc, "-g", "-lineinfo", "-o", program, source], check=True)
    subprocess.run([warplens, "profile", "-q", "-f", "-o", path, "--", program], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "WARPLENS_REPLAY_BUDGET": "none"})
    return json.loads(subprocess.run([warplens, "stats", "--format", "json", path], check=True, capture_output=True, text=True).stdout)


def counted(stats, kernel, remedy, count):
    """Requests and counts of the kernel; of the memory alone that the remedy is about."""
    rows = [i for i in stats["instructions"] if i["kernel"].split("(")[0] == kernel]
    if remedy in ("pad-shared-array", "swizzle-shared-array"):
        rows = [i for i in rows if i["space"] == "shared"]
    elif remedy in STAGES or remedy in (DIRECT, EXCHANGE):
        rows = [i for i in rows if i["space"] == "global"]
    return [sum(i["requests"] for i in rows), sum(i.get(count, 0) for i in rows)]


def advised(stats, remedy, before):
    """The findings whose first remedy it is; all must have been tried."""
    findings = [f for f in stats["findings"] if f.get("remedies") and f["remedies"][0]["name"] == remedy]
    if not findings:
        sys.exit(f"FAIL: no finding of {before} is advised to {remedy}")
    for f in findings:
        if not f["remedies"][0]["counted"] or f["remedies"][0]["advice"] != f["advice"]:
            sys.exit("FAIL: the remedy was not tried, or something else is advised")
    return findings


def passes(stats, kernel):
    return sum(i["wavefronts"] for i in stats["instructions"] if i["kernel"].split("(")[0] == kernel and i["space"] == "shared")


def check_passes(findings, before, after, kernel):
    """Of shared memory, where data is staged."""
    tried = sum(f["remedies"][0]["after"]["wavefronts"] for f in findings)
    print(f"wavefronts: {tried} as tried; {passes(after, kernel)} after")
    if tried + passes(before, kernel) != passes(after, kernel):
        sys.exit("FAIL: the program that follows the advice passes through shared memory otherwise")


def seconds_of(stats, kernel):
    """Of a launch of the kernel by the model, the mean; of the only kernel where it is called
    otherwise."""
    kernels = {i["kernel"].split("(")[0] for i in stats["launches"]}
    kernel = kernel if kernel in kernels or len(kernels) > 1 else next(iter(kernels))
    times = [i["model"]["seconds"] for i in stats["launches"] if i["kernel"].split("(")[0] == kernel]
    return sum(times) / len(times)


def check_time(stats, changed, remedy, more=""):
    """The group of findings that saves most by the remedy: what a launch takes then, as said."""
    numbers = [f["number"] for f in stats["findings"] if f.get("remedies") and f["remedies"][0]["name"] == remedy]
    group = max((g for g in stats["groups"] if g["number"] in numbers), key=lambda g: g["gain"]["seconds"])
    said, kernel = group["gain"], group["kernels"][0].split("(")[0]
    came = seconds_of(changed, kernel)
    print(f"{said['before'] * 1e6:.2f} us a launch; {said['after'] * 1e6:.2f} as said, {said['after_low'] * 1e6:.2f} to "
          f"{said['after_high'] * 1e6:.2f}; {came * 1e6:.2f} came {more and '(' + more + ')'}")
    if came > MOST_OVER * said["after"] or came > said["after_high"]:
        sys.exit("FAIL: the program that follows the advice takes longer than was said")
    if came < said["after_low"] and not more:
        sys.exit("FAIL: the program that follows the advice takes less than was said")


def main_of_time(warplens, nvcc, work, before, after, remedy, more=""):
    os.makedirs(work, exist_ok=True)
    check_time(profile(warplens, nvcc, work, before), profile(warplens, nvcc, work, after), remedy, more)


def main():
    if "--time" in sys.argv:
        sys.argv.remove("--time")
        main_of_time(*arguments())
        return
    warplens, nvcc, work, before, after, remedy, count = arguments()
    os.makedirs(work, exist_ok=True)
    stats = profile(warplens, nvcc, work, before)
    findings = advised(stats, remedy, before)
    kernel = findings[0]["kernel"].split("(")[0]
    now = counted(stats, kernel, remedy, count)
    tried = list(now)
    for f in findings:
        changes = f["remedies"][0]
        for at, key in enumerate(("requests", count)):
            tried[at] += changes["after"][key] - changes["before"][key]
        if remedy in WHOLE and [changes["before"]["requests"], changes["before"][count]] != now:
            sys.exit(f"FAIL: the counts before are {changes['before']}")
    changed = profile(warplens, nvcc, work, after)
    then = counted(changed, kernel, remedy, count)
    print(f"{findings[0]['advice']}\nrequests, {count}: {now} before; {tried} after, as tried; {then} in {os.path.basename(after)}")
    if remedy == DIRECT:
        if tried[1] != then[1] or passes(changed, kernel):
            sys.exit("FAIL: the program that follows the advice does otherwise")
    elif remedy == EXCHANGE:
        if tried[1] >= now[1] or tried[1] != then[1]:
            sys.exit("FAIL: the program that follows the advice does otherwise")
    elif tried[1] >= now[1] or tried[1] * then[0] != then[1] * tried[0]:
        sys.exit("FAIL: the program that follows the advice does otherwise")
    if remedy in STAGES:
        check_passes(findings, stats, changed, kernel)
    check_time(stats, changed, remedy, UNROLLED if "gemm_tiles" in after else SEVERAL if "vecadd" in after else "")


main()
