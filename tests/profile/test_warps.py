"""test_warps.py WARPLENS RECOUNT NVCC FOLDER SOURCE...: profiles CUDA programs on the emulator with
what every warp did, and sums that up: executions of each basic block, requests, lanes and sectors
of each instruction on each object must be those that the counters say. One, two and four threads
must give the same warps, also where there is no room for all."""

import os
import sqlite3
import subprocess
import sys

WARPLENS, RECOUNT, NVCC, FOLDER, SOURCES = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4], sys.argv[5:]


def build(source):
    program = os.path.join(FOLDER, os.path.basename(source)[:-3])
    subprocess.run([NVCC, "-lineinfo", "-std=c++17", "-arch=sm_90", "-o", program, source], check=True)
    return program


def warps_of(program, threads, **variables):
    """What RECOUNT says, and the profile."""
    out = f"{program}.{threads}.wlprof"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("WARPLENS_")}
    environment.update(variables, WARPLENS_MEMO="0")
    command = [WARPLENS, "profile", "-q", "-f", "-o", out, "--backend", "emulate", "--set", "sequences",
               "--threads", str(threads), "--", program]
    subprocess.run(command, env=environment, capture_output=True, check=True, timeout=300)
    return subprocess.run([RECOUNT, out], capture_output=True, check=True, text=True).stdout, out


def rows(said, kind):
    return [tuple(map(int, line.split()[1:])) for line in said.splitlines() if line.startswith(kind + " ")]


def expect(what, program, got, want):
    if got != want:
        sys.exit(f"{program}: {what} of the warps are not the counters': {sorted(set(got) ^ set(want))[:6]}")


def check_counters(program, said, out):
    """Returns how many warps there are."""
    db = sqlite3.connect(out)
    launches = rows(said, "launch")
    blocks = db.execute("SELECT launch, first_pc, executions, lanes FROM launch_blocks WHERE executions AND ninsns "
                        "ORDER BY 1, 2").fetchall()
    insns = db.execute("SELECT launch, pc, space, coalesce(object, 0), sum(requests), sum(active_lanes), sum(sectors) "
                       "FROM launch_instructions GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4").fetchall()
    warps = db.execute("SELECT sum(blocks_observed * ((block_x * block_y * block_z + 31) / 32)) FROM launches "
                       "WHERE warps_dropped IS NOT NULL").fetchone()[0]
    db.close()
    if any(dropped for _, _, dropped in launches):
        sys.exit(f"{program}: warps found no room")
    expect("entries", program, sorted(rows(said, "block")), blocks)
    expect("requests", program, sorted(rows(said, "insn")), insns)
    found = sum(count for _, count, _ in launches)
    if found != warps or not found:
        sys.exit(f"{program}: {found} warps of {warps}")
    return found


def check_limit(program):
    """With too little room: the same warps whoever ran them. Returns whether any found none."""
    few = {threads: warps_of(program, threads, WARPLENS_SEQUENCE_LIMIT="6000")[0] for threads in (1, 4)}
    if few[1] != few[4]:
        sys.exit(f"{program}: four threads keep other warps than one, where not all have room")
    return any(dropped for _, _, dropped in rows(few[1], "launch"))


def main():
    os.makedirs(FOLDER, exist_ok=True)
    limited = 0
    for source in SOURCES:
        program = build(source)
        said, out = warps_of(program, 1)
        found = check_counters(program, said, out)
        for threads in 2, 4:
            if warps_of(program, threads)[0] != said:
                sys.exit(f"{program}: {threads} threads give other warps than one")
        limited += check_limit(program)
        print(f"{os.path.basename(program)}: {found} warps")
    if not limited:
        sys.exit("no program had too little room")


if __name__ == "__main__":
    main()
