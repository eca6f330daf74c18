#!/usr/bin/env python3
"""Measures the pairs of examples/memory on a GPU: what warplens costs them, and what they gain.

    run.py                          as much as goes into 240 s, with the compilation
    run.py --repeat 1 --programs hydro,conv
    run.py --stand-in RUNTIME       without a GPU: the emulator as driver; times say nothing
    run.py --report                 only writes the page anew, from OUT/results.csv

Every program is compiled twice: as it is, for the process's time and what warplens says of memory,
and with watch.cu before the runtime's calls, for kernels' time and what CUDA says of memory. Writes
results.csv, one row for each program, twin and tool (medians of its processes), and results.md.
Exits with 77 where there is no GPU, with 1 where a program failed.
"""
import argparse
import collections
import concurrent.futures
import csv
import datetime
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "overhead"))
import machine  # noqa: E402

SKIP = 77
EXAMPLES = ROOT / "examples/memory"
TWINS = ("wasteful", "mended")
# Tools, and with which twin each is run how often: in every turn, or once for what it says.
NATIVE, OBJECTS, DEFAULT, TOUCH = "native", "objects", "default", "touch"
PROBES = {OBJECTS: "objects", TOUCH: "trace,blocks,touch"}
EVERY = [("wasteful", NATIVE), ("wasteful", OBJECTS), ("mended", NATIVE), ("wasteful", DEFAULT)]
ONCE = [("wasteful", TOUCH), ("mended", OBJECTS)]
TIMES = ("process_ms", "wall_ms", "kernel_ms", "later_ms")
COLUMNS = ("date", "chip", "driver", "program", "size", "twin", "tool", "processes", *TIMES, "launches", "in_use_bytes",
           "peak_bytes", "peak_bytes_after")


def pairs():
    with open(EXAMPLES / "pairs.csv", newline="", encoding="utf-8") as f:
        return {row["program"]: row for row in csv.DictReader(f)}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = list(pairs())
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="where warplens was built")
    parser.add_argument("--out", type=pathlib.Path, help="folder of what is written (BUILD/bench/objects)")
    parser.add_argument("--programs", type=lambda text: text.split(","), default=names, help=",".join(names))
    parser.add_argument("--repeat", type=int, default=5, help="processes of each kind (5)")
    parser.add_argument("--budget", type=float, default=240, help="seconds after which nothing new is begun (240)")
    parser.add_argument("--limit", type=float, default=60, help="seconds that one run may take (60)")
    parser.add_argument("--stand-in", type=pathlib.Path, metavar="RUNTIME",
                        help="folder of a libcudart.so that takes the emulator's driver (tests/gpu/runtime)")
    parser.add_argument("--kernels", action="store_true", help="only the time of kernels")
    parser.add_argument("--report", action="store_true")
    o = parser.parse_args()
    if set(o.programs) - set(names):
        parser.error(f"unknown: {', '.join(sorted(set(o.programs) - set(names)))}")
    o.build = o.build.resolve()
    o.out = (o.out or o.build / "bench/objects").resolve()
    return o


# ---- programs ----

def compile_program(o, sm, name, twin, watched):
    nvcc = shutil.which("nvcc", path=f"{ROOT}/.deps/cuda/bin:{os.environ['PATH']}:/usr/local/cuda/bin")
    if not nvcc:
        sys.exit("objects: there is no nvcc")
    path = o.out / f"{name}_{twin}{'_watched' * watched}"
    more = ["-Xlinker", "--wrap=cudaMalloc,--wrap=cudaLaunchKernel,--wrap=__cudaLaunchKernel", HERE / "watch.cu"] * watched
    done = subprocess.run([nvcc, "-O3", "-std=c++17", "-g", "-lineinfo", "-cudart", "shared" if o.stand_in else "static",
                           f"-gencode=arch=compute_{sm},code=[sm_{sm},compute_{sm}]", "-o", path,
                           EXAMPLES / f"{name}_{twin}.cu", *more], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{done.stdout}{done.stderr}objects: {path.name} cannot be built")


def build(o, sm):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(compile_program, o, sm, name, twin, watched)
                for name in o.programs for twin in TWINS for watched in (False, True)]
        for job in jobs:
            job.result()
    done = subprocess.run(["cc", "-O2", "-D_GNU_SOURCE", "-o", o.out / "clock", HERE.parent / "overhead/programs/clock.c"],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{done.stderr}objects: clock.c cannot be built")


# ---- runs ----

def profile_command(o, tool, watched):
    """Of the watched processes only what they print is wanted: nothing is computed after them."""
    probes = ["--probes", PROBES[tool]] if tool in PROBES else []
    probes += ["--replay-budget", "1s"] if watched else []
    return [machine.warplens(o), "profile", "-q", "-f", "-o", str(o.out / "run.wlprof"), "--backend", "inline", *probes,
            "--kernel-name-exclude", "bench_hold", "--"]


def run(o, row, twin, tool, watched):
    """One process; what is known of it, and what went wrong."""
    clock = o.out / "clock.txt"
    clock.unlink(missing_ok=True)
    program = o.out / f"{row['program']}_{twin}{'_watched' * watched}"
    size = [row["size"]] if row["size"] and not o.stand_in else []
    command = [str(o.out / "clock"), str(clock), str(program), *size]
    env = {k: v for k, v in os.environ.items() if not k.startswith("WARPLENS_")}
    env["CUDA_CACHE_PATH"] = str(o.out / "cache")
    if o.stand_in:
        env.update(machine.stand_in(o, tool != NATIVE))
    done = machine.execute((profile_command(o, tool, watched) if tool != NATIVE else []) + command, env, o.limit)
    error = done.error or ("" if "ok" in done.output.split() else "the program's own check failed: " + done.output[-200:])
    found = {}
    if clock.exists() and not watched:
        found = {"process_ms": float(clock.read_text().split()[0]), "wall_ms": done.wall_ms}
    for words in map(str.split, done.output.splitlines()):
        if watched and len(words) == 2 and words[0] in ("kernels", "later", "launches", "in_use"):
            name = {"kernels": "kernel_ms", "later": "later_ms", "in_use": "in_use_bytes"}.get(words[0], words[0])
            found[name] = float(words[1]) if "_ms" in name else int(words[1])
    if tool != NATIVE and not watched and not error:
        error = read_memory(o, found)
    return found, error


def read_memory(o, found):
    done = subprocess.run([machine.warplens(o), "stats", "--format", "json", str(o.out / "run.wlprof")], capture_output=True,
                          text=True, check=False)
    if done.returncode:
        return "the profile cannot be read: " + done.stderr[-200:]
    memory = json.loads(done.stdout)["memory"]
    found.update({name: memory[name] for name in ("peak_bytes", "peak_bytes_after")})
    return ""


def plan(o, rows):
    """(row, twin, tool) in order: a turn over all programs after another, native and profiled runs
    in turn."""
    for turn in range(o.repeat):
        for row in rows:
            for twin, tool in EVERY + ONCE * (turn == 0 and not o.kernels):
                yield row, twin, tool


def measure(o, gpu, sm):
    clock = machine.Stopwatch(o.budget)
    build(o, sm)
    rows = [row for name, row in pairs().items() if name in o.programs]
    samples, failed = collections.defaultdict(list), 0
    for row, twin, tool in plan(o, rows):
        if clock.over():
            print(f"objects: {o.budget:.0f} s are over")
            break
        for watched in ((True,) if o.kernels else (False, True))[:1 + ((twin, tool) in EVERY)]:
            found, error = run(o, row, twin, tool, watched)
            failed += bool(error)
            print(f"{'FAILED ' * bool(error)}{row['program']} {twin} {tool}: {error or found}", flush=True)
            if not error:
                samples[row["program"], twin, tool].append(found)
    write_results(o, gpu, rows, samples)
    report(o)
    return 1 if failed else 0


def write_results(o, gpu, rows, samples):
    with open(o.out / "results.csv", "w", newline="", encoding="utf-8") as f:
        out = csv.DictWriter(f, COLUMNS)
        out.writeheader()
        for row in rows:
            for twin, tool in EVERY + ONCE:
                out.writerow(median_row(gpu, row, twin, tool, samples[row["program"], twin, tool]))


def median_row(gpu, row, twin, tool, samples):
    result = dict(gpu, date=f"{datetime.date.today()}", program=row["program"], size=row["size"], twin=twin, tool=tool,
                  processes=sum("process_ms" in s for s in samples))
    for name in COLUMNS[COLUMNS.index("process_ms"):]:
        values = [s[name] for s in samples if name in s]
        if values:
            result[name] = f"{statistics.median(values):.4f}" if name in TIMES else max(values)
    return result


# ---- the page ----

def ratio(results, name, above, below):
    values = [results.get(k, {}).get(name) for k in (above, below)]
    return float(values[0]) / float(values[1]) if all(values) and float(values[1]) else None


def text(value, form="{:.2f}"):
    return "-" if value in (None, "") else form.format(value)


def mib(value):
    return text(value and int(value) / 2**20, "{:.2f}")


def cost_line(row, results):
    native = results.get(("wasteful", NATIVE), {})
    cells = [text(native.get(n) and float(native[n]), "{:.3g}") for n in ("process_ms", "kernel_ms")]
    for tool in (OBJECTS, DEFAULT):
        cells += [text(ratio(results, n, ("wasteful", tool), ("wasteful", NATIVE))) for n in ("process_ms", "wall_ms", "later_ms")]
    return [row["program"], row["size"] or "own", *cells]


def gain_line(row, results):
    touch, mended = results.get(("wasteful", TOUCH), {}), results.get(("mended", OBJECTS), {})
    in_use = [results.get((t, NATIVE), {}).get("in_use_bytes") for t in TWINS]
    share = ratio(results, "peak_bytes", ("mended", OBJECTS), ("wasteful", TOUCH))
    return [row["program"], row["paper"], *map(mib, (touch.get("peak_bytes"), touch.get("peak_bytes_after"), mended.get("peak_bytes"))),
            text(share and 100 * (1 - share), "{:.0f} %"), f"{row['reduction']} %" if row["reduction"] else "-",
            " to ".join(map(mib, in_use)), text(ratio(results, "kernel_ms", ("wasteful", NATIVE), ("mended", NATIVE))),
            row["speedup"] or "-"]


def table(head, lines):
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *lines]) + "\n"


def means(by_program):
    lines = []
    for name, what in (("process_ms", "the process's own time"), ("wall_ms", "the command's, until the profile is there"),
                       ("later_ms", "time of kernels but for the first launch of each")):
        cells = [what]
        for tool in (OBJECTS, DEFAULT):
            values = [v for r in by_program.values() for v in [ratio(r, name, ("wasteful", tool), ("wasteful", NATIVE))] if v]
            cells += [f"{f(values):.2f}" if values else "-" for f in (statistics.geometric_mean, statistics.median, max)]
        lines.append(cells)
    return lines


def report(o):
    with open(o.out / "results.csv", newline="", encoding="utf-8") as f:
        rows = list(csv.DictReader(f))
    by_program = collections.defaultdict(dict)
    for r in rows:
        by_program[r["program"]][r["twin"], r["tool"]] = {k: v for k, v in r.items() if v}
    known = pairs()
    first = rows[0]
    processes = min(int(r["processes"]) for r in rows if r["tool"] == NATIVE)
    few = "one process each" if processes == 1 else f"medians of at least {processes} processes"
    page = f"""# The pairs of examples/memory on a GPU

{first['chip']}, driver {first['driver']}, {first['date']}; {few}. Made by `bench/objects/run.py`, from [results.csv](results.csv). The programs are ours, in the manner of those in Table 4 of the
paper (DrGPUM); its figures stand beside them.

## What warplens costs

Times relative to a run without it, of the wasteful programs. Of kernels the first launch of each is left out (the driver loads it between the
events around it, and warplens prepares it on the host), so that programs which launch each once have none. The paper's mean over its twelve programs, for the whole process on an A100: 2.28
for objects (median 1.30), 3.31 for elements (median 4.13).

{table(['', 'objects: mean', 'median', 'most', 'default: mean', 'median', 'most'], means(by_program))}
{table(['program', 'size', 'process, ms', 'kernels, ms', 'objects: process', 'with the profile', 'kernels', 'default: process',
        'with the profile', 'kernels'], [cost_line(known[n], r) for n, r in by_program.items()])}
## What following the advice gains

Peaks in MiB: as warplens sees it, as it predicts it (with `--probes trace,blocks,touch`), and that of the mended program; then what CUDA says is in use
at most (it gives memory out in pieces of 2 MiB), before and after. The paper's reduction and speedup (A100) are those of Table 4.

{table(['program', 'like', 'peak', 'predicted', 'mended', 'less', "the paper's", 'in use, CUDA', 'kernels faster', "the paper's"],
       [gain_line(known[n], r) for n, r in by_program.items()])}"""
    (o.out / "results.md").write_text(page, encoding="utf-8")
    print(f"objects: {o.out}/results.csv, results.md")


def main():
    o = arguments()
    o.out.mkdir(parents=True, exist_ok=True)
    if o.report:
        report(o)
        return 0
    found = ({"chip": "emulated", "driver": "none"}, "90") if o.stand_in else machine.gpu()
    if not found:
        print("objects: skipped, this machine has no GPU")
        return SKIP
    return measure(o, *found)


if __name__ == "__main__":
    sys.exit(main())
