#!/usr/bin/env python3
"""Has Nsight Compute count what requests.cu asks of memory, launch by launch.

    count.py PROGRAM CSV [SECONDS]     on a machine with a GPU and ncu; PROGRAM: requests.cu, built

CSV gets a row a launch: its number, kernel, and counters summed over it; absent where they do not
apply, or where the SECONDS did not suffice. tests/gpu/requests/data has what was measured.
"""
import csv
import re
import subprocess
import sys
import time

CHUNK = 140
SECTORS = {"global_loads": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld", "global_stores": "l1tex__t_sectors_pipe_lsu_mem_global_op_st",
           "load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld", "store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st"}
WAVEFRONTS = {"shared_loads": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld",
              "shared_stores": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st",
              "load_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld",
              "store_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st"}
COLUMNS = [*SECTORS, *WAVEFRONTS]
ALL = {**SECTORS, **WAVEFRONTS}


def output(*command):
    return subprocess.run(command, capture_output=True, check=False, text=True).stdout


def count(program, first, number, names):
    """Rows of these launches, in their order."""
    command = ["ncu", "--clock-control", "none", "--cache-control", "none", "--csv", "--page", "raw", "--print-units", "base",
               "--kernel-name-base", "function", "--log-file", "requests.log", "--metrics", ",".join(ALL[n] + ".sum" for n in names),
               program, str(first), str(number)]
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    with open("requests.log") as file:
        lines = file.read().splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if done.returncode or start is None:
        sys.exit(f"ncu failed: {done.returncode} {done.stdout[-300:]} {done.stderr[-300:]} {lines[-5:]}")
    rows = [r for r in csv.DictReader(lines[start:]) if r["ID"]]
    if len(rows) != number:
        sys.exit(f"ncu counted {len(rows)} of {number} launches")
    return [{"launch": first + i, "kernel": re.sub(r"^void |\(.*", "", r["Kernel Name"]),
             **{n: r[ALL[n] + ".sum"].replace(",", "") for n in names}} for i, r in enumerate(rows)]


def main():
    program, path = sys.argv[1:3]
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 3600
    launches, begin, longest = int(output(program, "0", "0")), time.time(), 0
    gpu = output("nvidia-smi", "--query-gpu=name,driver_version,compute_cap", "--format=csv,noheader").strip()
    with open(path, "w", newline="") as file:
        file.write(f"# Counters of the hardware, by tests/gpu/requests/count.py. date: {time.strftime('%Y-%m-%d')}; "
                   f"gpu, driver, capability: {gpu}; ncu {output('ncu', '--version').splitlines()[-1].strip()}\n")
        table = csv.DictWriter(file, ["launch", "kernel", *COLUMNS], lineterminator="\n")
        table.writeheader()
        for first in range(0, launches, CHUNK):
            started = time.time()
            if started - begin + longest > seconds:
                print(f"out of time before launch {first}")
                break
            part = first * 5 // launches  # global loads, global stores, shared loads, shared stores, all
            names = SECTORS if part < 2 else WAVEFRONTS if part < 4 else ALL
            table.writerows(count(program, first, min(CHUNK, launches - first), list(names)))
            file.flush()
            longest = max(longest, time.time() - started)
            print(f"launches from {first}: {time.time() - begin:.0f} s", flush=True)


if __name__ == "__main__":
    main()
