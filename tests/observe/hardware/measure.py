"""Builds measure.cu, runs the patterns under Nsight Compute and writes what the counters say.

    python3 measure.py OUTDIR [SECONDS]        on a machine with a GPU, nvcc and ncu
    python3 measure.py --join OUTDIR NAME      writes ../data/NAME_{shared,global}.csv from it

OUTDIR gets hardware.csv (a row a pattern, a column a counter: sums over the launch), patterns.csv,
info.txt and metrics.txt. Stops in time: patterns not measured by then are simply not in the files.
"""
import csv
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CHUNK = 130
OPS = {"lds": "ld", "ldsm": "ld", "ldgsts": "st", "sts": "st", "atoms": "atom",
       "ldg": "ld", "stg": "st", "atomg": "atom", "redg": "red", "ldl": "ld", "stl": "st"}
WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared"
CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared"
SECTORS = "l1tex__t_sectors_pipe_lsu_mem_{}_op_{}"
REQUESTS = "l1tex__t_requests_pipe_lsu_mem_{}_op_{}"
SHARED = [f"{n}{op}.sum" for n in (WAVEFRONTS, CONFLICTS) for op in ("", "_op_ld", "_op_st", "_op_atom")]
GLOBAL = [n.format(space, op) + ".sum" for n in (SECTORS, REQUESTS) for space in ("global", "local")
          for op in ("ld", "st", "atom", "red") if space == "global" or op in ("ld", "st")]
# What is measured together, the most wanted first.
GROUPS = [(SHARED, "lds", "8 16"), (GLOBAL, "ldg stg", "1 2 4 8 16"), (SHARED, "sts", "8 16"),
          (SHARED, "lds sts", "1 2 4"), (SHARED, "atoms ldsm ldgsts", "4 8 16"),
          (GLOBAL, "ldl stl redg atomg", "1 2 4 8 16")]


def output(*command):
    return subprocess.run(command, capture_output=True, check=False, text=True).stdout


def ncu(metrics, patterns, log):
    """A dict a launch, or None where the run failed (a name that ncu does not know fails it)."""
    command = ["ncu", "--clock-control", "none", "--cache-control", "none", "--csv", "--page", "raw", "--print-units",
               "base", "--log-file", log, "--metrics", ",".join(metrics), "./measure", patterns]
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    with open(log) as file:
        lines = file.read().splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if done.returncode or start is None:
        print("ncu failed:", done.returncode, done.stdout[-300:], done.stderr[-300:], "\n".join(lines[-5:]))
        return None
    rows = [r for r in csv.DictReader(lines[start:]) if r["ID"]]
    return [{n.removesuffix(".sum"): r[n].replace(",", "") for n in metrics if n in r} for r in rows]


class Table:
    """Rows of counters by pattern number, written anew after every chunk."""

    def __init__(self, path):
        self.path, self.rows = path, {}

    def add(self, ids, rows):
        if rows and len(rows) == len(ids):
            self.rows.update(zip(ids, rows, strict=True))
            self.write()
        else:
            print("chunk lost:", len(ids), rows and len(rows))

    def write(self):
        names = sorted({n for r in self.rows.values() for n in r})
        with open(self.path, "w", newline="") as file:
            w = csv.writer(file, lineterminator="\n")
            w.writerow(["id"] + names)
            for i, r in sorted(self.rows.items()):
                w.writerow([i] + [r.get(n, "") for n in names])


def chunks(lines):
    for metrics, kinds, sizes in GROUPS:
        mine = [row for row in lines if row.split(",")[1] in kinds.split() and row.split(",")[2] in sizes.split()]
        for at in range(0, len(mine), CHUNK):
            yield metrics, mine[at:at + CHUNK]


def describe(out):
    with open(f"{out}/info.txt", "w") as file:
        file.write(time.strftime("date: %Y-%m-%d\n"))
        file.write("gpu, driver, capability: " + output(
            "nvidia-smi", "--query-gpu=name,driver_version,compute_cap", "--format=csv,noheader"))
        file.write(output("ncu", "--version") + output("nvcc", "--version"))
    known = sorted({line.split()[0] for line in output("ncu", "--query-metrics").splitlines()
                    if re.match(r"(l1tex|smsp)__\w+ ", line)})
    with open(f"{out}/metrics.txt", "w") as file:
        file.write("\n".join(known))


def measure(out, seconds):
    start = time.time()
    os.makedirs(out, exist_ok=True)
    text = output(sys.executable, f"{HERE}/patterns.py")
    with open(f"{out}/patterns.csv", "w") as file:
        file.write(text)
    header, *lines = text.splitlines()
    subprocess.run(["nvcc", "-O2", "-arch=native", "-o", "measure", f"{HERE}/measure.cu"], check=True)
    describe(out)
    table, longest = Table(f"{out}/hardware.csv"), 0
    for metrics, part in chunks(lines):
        began = time.time()
        if began - start + longest > seconds:
            print(f"out of time before {part[0][:30]}", flush=True)
            break
        with open("chunk.csv", "w") as file:
            file.write("\n".join([header] + part) + "\n")
        table.add([int(row.split(",")[0]) for row in part], ncu(metrics, "chunk.csv", "chunk.log"))
        longest = max(longest, time.time() - began)
        print(f"{part[0][:30]}.. {len(part)} patterns, {time.time() - start:.0f} s", flush=True)


def counts(kind, row):
    """The two numbers of a pattern: wavefronts and conflicts, or sectors and requests."""
    op = OPS[kind]
    if kind in ("lds", "sts", "atoms", "ldsm", "ldgsts"):
        return row[f"{WAVEFRONTS}_op_{op}"], row[f"{CONFLICTS}_op_{op}"]
    space = "local" if kind in ("ldl", "stl") else "global"
    return row[SECTORS.format(space, op)], row[REQUESTS.format(space, op)]


def join(out, name):
    with open(f"{out}/info.txt") as file:
        info = [line.strip() for line in file]
    with open(f"{out}/patterns.csv") as file:
        patterns = list(csv.DictReader(file))
    with open(f"{out}/hardware.csv") as file:
        rows = {r["id"]: r for r in csv.DictReader(file)}
    for part, kinds, columns in (("shared", ("lds", "sts", "atoms", "ldsm", "ldgsts"), "wavefronts,conflicts"),
                                 ("global", ("ldg", "stg", "atomg", "redg", "ldl", "stl"), "sectors,requests")):
        with open(f"{HERE}/../data/{name}_{part}.csv", "w") as file:
            file.write(f"# Counters of the hardware, by tests/observe/hardware. {'; '.join(info[:2])}; ncu {info[4]}\n")
            file.write(f"kind,bytes,mask,name,offsets,{columns}\n")
            for p in patterns:
                if p["kind"] in kinds and p["id"] in rows:
                    values = ",".join(counts(p["kind"], rows[p["id"]]))
                    file.write(f"{p['kind']},{p['bytes']},{p['mask']},{p['name']},{p['offsets']},{values}\n")


if __name__ == "__main__":
    if sys.argv[1] == "--join":
        join(sys.argv[2], sys.argv[3])
    else:
        measure(sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 3600)
