#!/usr/bin/env python3
"""Replays launches of the oracle by this repository's replay.

    replay.py PROGRAM CUBINS SET HALF [SECONDS] >REPLAY

PROGRAM is bench_oracle_replay (ninja bench_oracle_replay), CUBINS the folder that `oracle.py fetch`
fills. A launch that takes longer than SECONDS (60) is left out; so is one that the program dies of,
and the output says so.
"""
import concurrent.futures
import json
import os
import subprocess
import sys

import store


def replay(program, cubins, seconds, launches):
    """Lines of the program for all of the launches."""
    lines = []
    while len(lines) < len(launches):
        rest = "".join(json.dumps(launch) + "\n" for launch in launches[len(lines):])
        done = subprocess.run([program, cubins, seconds], input=rest, stdout=subprocess.PIPE, check=False, text=True)
        lines += [line for line in done.stdout.splitlines() if line.endswith("}")]
        if done.returncode == 0:
            break
        failed = {"launch": launches[len(lines)]["id"], "reason": f"the replay ended with {done.returncode}"}
        lines.append(json.dumps(failed))
    return lines


def main():
    program, cubins, name, half = sys.argv[1:5]
    seconds = sys.argv[5] if len(sys.argv) > 5 else "60"
    launches = store.read_launches(name, half)[1]
    workers = os.cpu_count() or 1
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        parts = [pool.submit(replay, program, cubins, seconds, launches[i::workers]) for i in range(workers)]
        for part in parts:
            for line in part.result():
                print(line)


if __name__ == "__main__":
    main()
