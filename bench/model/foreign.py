#!/usr/bin/env python3
"""Programs that were set aside while the model was made: what it predicts, what was measured.

    bench/model/foreign.py --predict COMMANDS FOREIGN.csv [--warplens PATH] [--profiles FOLDER]
    bench/model/foreign.py --measure COMMANDS FOREIGN.csv [--warplens PATH]   on a GPU
    bench/model/foreign.py --show FOREIGN.csv [--set held] [--stated RESULTS.md] [--worst N]
    bench/model/foreign.py --residuals src/analysis/model/residuals.def FOREIGN.csv

COMMANDS has a program a line: its set, its name, the folder to run in, the command. Of each kernel
the first launches count, of each program a few: a row of FOREIGN.csv each. `predicted` is from a
profile made in the emulator, without a GPU; `measured` is the kernel by itself in the program as it
runs (bench/device/activity.py, by CUPTI), and hit rates are ncu's, with clocks and caches as they
are. Where the table is there already, --predict keeps what was measured of launches that stay the
same, and programs that COMMANDS does not name.
What the model says that it cannot know (`unsure`: loops of compare and swap, pages of managed
memory) is told apart: only the first table has all launches.
So that no program with many launches decides, figures are also told with all programs weighing the
same. --stated fails where the page does not have the rows that are printed.
"""
import argparse
import collections
import csv
import datetime
import io
import json
import math
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

import measure
import predict

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "device"))
import activity

OF_KERNEL, OF_PROGRAM = 4, 12  # launches
LEAST_SECTORS = 1000  # of a cache that hit rates are told of: fewer are noise
LAUNCH = ["set", "program", "arguments", "kernel", "launch", "grid", "block"]
PREDICTED = [*LAUNCH, "predicted", "low", "high", "bound", "unsure", "l1_predicted", "l2_predicted"]
MEASURED = ["measured", "l1_measured", "l1_sectors", "l2_measured", "l2_sectors", "gpu", "driver", "date"]
LOADS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld"
READS = "lts__t_sectors_srcunit_tex_op_read"
METRICS = [LOADS + ".sum", LOADS + "_lookup_hit.sum", READS + ".sum", READS + "_lookup_hit.sum"]


def commands(path):
    """Set, name, folder and command of each program."""
    with open(path) as f:
        for line in f:
            of, name, folder, *command = shlex.split(line)
            yield of, name, folder, command


def first_of_kernels(launches, count=OF_KERNEL):
    """The first of each kernel, in the order of launches, with their number among the kernel's."""
    seen = collections.Counter()
    for launch in launches:
        seen[launch["kernel"]] += 1
        if seen[launch["kernel"]] <= count:
            yield seen[launch["kernel"]], launch


def run(command, folder, limit):
    """Its output; what it had done when it was stopped counts, too. Kernels are loaded at once."""
    environment = {**os.environ, "CUDA_MODULE_LOADING": "EAGER"}
    return subprocess.run(["timeout", "-k", "5", str(limit), *command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", check=False).stdout


def launches_of(profile, warplens):
    """None where nothing was measured."""
    if not os.path.exists(profile):
        return []
    text = subprocess.run([warplens, "stats", "--format", "json", profile], check=False, capture_output=True, text=True).stdout
    return json.loads(text)["launches"] if text else []


def text_of(size):
    return "x".join(map(str, size))


# ---- predicting ----


def emulated(o, name, folder, command):
    """The program's launches; profiles are kept where they are asked for."""
    with tempfile.TemporaryDirectory() as scratch:
        profile = os.path.join(o.profiles or scratch, name + ".wlprof")
        if not os.path.exists(profile):
            run([o.warplens, "profile", "-q", "--backend", "emulate", "--device", "h200", "-o", profile, "--", "timeout", "-k", "5",
                 str(o.limit), *command], folder, 3 * o.limit)
        return launches_of(profile, o.warplens)


def chosen(launches):
    """Round by round one of each kernel, so that none is left out; in the order of launches."""
    numbered = list(enumerate(first_of_kernels(launches)))
    return [one for _, one in sorted(sorted(numbered, key=lambda one: (one[1][0], one[0]))[:OF_PROGRAM])]


def was_emulated(launch):
    """To its end: a model of what ran until a launch failed predicts nothing."""
    return "model" in launch and "failed" not in launch


def row_of(of, name, command, number, launch):
    m = launch["model"]
    return {"set": of, "program": name, "arguments": shlex.join(command[1:]), "kernel": launch["kernel"], "launch": str(number),
            "grid": text_of(launch["grid"]), "block": text_of(launch["block"]), "bound": m["bound"], "unsure": " ".join(m.get("unsure", [])),
            **{to: f"{m[key]:.9f}" for to, key in (("predicted", "seconds"), ("low", "low"), ("high", "high"))},
            **{key + "_predicted": f"{m[key + '_hit_rate']:.4f}" for key in ("l1", "l2") if key + "_hit_rate" in m}}


def launch_of(row):
    """What a launch is known by, however it is predicted."""
    return tuple(row[name] for name in LAUNCH)


def predict_all(o):
    """Written when all are predicted: what was measured outlives an end before that."""
    before = read_rows(o.foreign) if os.path.exists(o.foreign) else []
    measured = {launch_of(row): {name: row[name] for name in MEASURED} for row in before if row["measured"]}
    programs = list(commands(o.predict))
    named = {(of, name) for of, name, _, _ in programs}
    rows = [row for row in before if (row["set"], row["program"]) not in named]
    for of, name, folder, command in programs:
        found = [row_of(of, name, command, *one) for one in chosen(emulated(o, name, folder, command)) if was_emulated(one[1])]
        rows += [row | measured.get(launch_of(row), {}) for row in found]
        print(f"{name}: {len(found)} launches", flush=True)
    write_rows(o.foreign, rows)


# ---- measuring ----


def timed(o, injected, folder, command):
    """Every launch as it ran in the program by itself: mangled name, grid, block, seconds."""
    def start(settings):
        named = [f"{name}={value}" for name, value in settings.items()]
        run(["env", *named, "timeout", "-k", "5", str(o.limit), *command], folder, 3 * o.limit)
    return activity.times(injected, start)


def counted(o, folder, command):
    """The first launches of each kernel as ncu has them: mangled name, grid, block, metrics."""
    with tempfile.TemporaryDirectory() as scratch:
        log = os.path.join(scratch, "ncu.csv")
        run(["ncu", "--target-processes", "all", "--clock-control", "none", "--cache-control", "none", "--kernel-name-base", "mangled",
             "--print-kernel-base", "mangled", "--kernel-id", f":::[1-{OF_KERNEL}]", "--metrics", ",".join(METRICS), "--csv", "--page", "raw",
             "--print-units", "base", "--log-file", log, "timeout", "-k", "5", str(o.limit), *command], folder, 3 * o.limit)
        text = ""
        if os.path.exists(log):
            with open(log) as f:
                text = f.read()
    at = text.find('"ID"')
    return [(row["Kernel Name"], of_ncu(row["Grid Size"]), of_ncu(row["Block Size"]), [number_of(row[m]) for m in METRICS])
            for row in (csv.DictReader(io.StringIO(text[at:])) if at >= 0 else []) if row["ID"]]


def of_ncu(size):
    return size.strip("()").replace(", ", "x")


def number_of(text):
    return float(text.replace(",", ""))


def demangled(names):
    text = subprocess.run(["c++filt"], input="\n".join(names), check=True, capture_output=True, text=True).stdout
    return text.splitlines()


def numbered(launches):
    """By kernel, its number among them, grid and block: values of the first launches."""
    seen, found = collections.Counter(), {}
    for kernel, (_, grid, block, values) in zip(demangled([one[0] for one in launches]), launches, strict=True):
        seen[kernel] += 1
        if seen[kernel] <= OF_KERNEL:
            found[kernel, str(seen[kernel]), grid, block] = values
    return found


def put_counts(row, values):
    loads, load_hits, reads, read_hits = values
    for cache, asked, hits in (("l1", loads, load_hits), ("l2", reads, read_hits)):
        row[cache + "_sectors"] = f"{asked:.0f}"
        row[cache + "_measured"] = f"{hits / asked:.4f}" if asked else ""


def rows_measured(o, injected, of, program, folder, command):
    """A row for each launch that was timed, with what ncu counts of it, if it ran there, too."""
    counts = numbered(counted(o, folder, command))
    for key, seconds in numbered(timed(o, injected, folder, command)).items():
        row = dict(zip(LAUNCH, (of, program, shlex.join(command[1:]), *key), strict=True)) | {"measured": f"{seconds:.9f}"}
        if key in counts:
            put_counts(row, counts[key])
        yield row


def measure_all(o):
    """Rows of launches that nobody has predicted yet have no more than what was measured."""
    rows = read_rows(o.foreign) if os.path.exists(o.foreign) else []
    name, driver = measure.gpu()
    stamp = {"gpu": name, "driver": driver, "date": datetime.date.today().isoformat()}
    with tempfile.TemporaryDirectory() as scratch:
        injected = activity.library(o.cuda, scratch)
        for of, program, folder, command in commands(o.measure):
            found = {launch_of(row): row | stamp for row in rows_measured(o, injected, of, program, folder, command)}
            rows = [row | found.pop(launch_of(row), {}) for row in rows]
            rows += found.values()
            print(f"{program}: measured", flush=True)
            write_rows(o.foreign, rows)


# ---- showing ----


def read_rows(path):
    with open(path, newline="") as f:
        return list(csv.DictReader(f))


def write_rows(path, rows):
    with open(path, "w", newline="") as f:
        table = csv.DictWriter(f, PREDICTED + MEASURED, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def weights(rows, same):
    """One each; or so that each program has the same, whatever its launches."""
    of = collections.Counter(row["program"] for row in rows)
    return [1 / of[row["program"]] if same else 1.0 for row in rows]


def quantile(values, weight, part):
    """The value that so much of the weight lies at or below."""
    pairs, below = sorted(zip(values, weight, strict=True)), 0.0
    for value, w in pairs:
        below += w
        if below >= part * sum(weight) - 1e-9:
            return value
    return math.nan


def correlation(a, b, weight):
    total = sum(weight)
    mean_a, mean_b = (sum(w * v for w, v in zip(weight, values, strict=True)) / total for values in (a, b))
    both = sum(w * (x - mean_a) * (y - mean_b) for w, x, y in zip(weight, a, b, strict=True))
    of_a, of_b = (sum(w * (v - m) ** 2 for w, v in zip(weight, values, strict=True)) for values, m in ((a, mean_a), (b, mean_b)))
    return both / math.sqrt(of_a * of_b) if of_a * of_b > 0 else math.nan


def off_by(ratio):
    return max(ratio, 1 / ratio)


def times_row(rows, same):
    """A row of the table of times."""
    weight = weights(rows, same)
    predicted, measured = ([float(row[name]) for row in rows] for name in ("predicted", "measured"))
    ratios = [p / m for p, m in zip(predicted, measured, strict=True)]
    inside = sum(w for row, w, m in zip(rows, weight, measured, strict=True) if float(row["low"]) <= m <= float(row["high"]))
    rank = correlation(predict.ranks(predicted), predict.ranks(measured), weight)
    return (f"| {'programs' if same else 'launches'} | {len(rows)} | {len({row['program'] for row in rows})} "
            f"| {100 * quantile([abs(r - 1) for r in ratios], weight, 0.5):.0f} % | {quantile([off_by(r) for r in ratios], weight, 0.9):.2f}x "
            f"| {rank:.3f} | {100 * inside / sum(weight):.0f} % |")


def bounds(rows):
    """Rows of the table by what bounds a launch: programs weigh the same within each."""
    for bound, _ in collections.Counter(row["bound"] for row in rows).most_common():
        some = [row for row in rows if row["bound"] == bound]
        weight = weights(some, True)
        ratios = [float(row["predicted"]) / float(row["measured"]) for row in some]
        yield (f"| {bound} | {len(some)} | {len({row['program'] for row in some})} "
               f"| {quantile(ratios, weight, 0.1):.2f} | {quantile(ratios, weight, 0.5):.2f} | {quantile(ratios, weight, 0.9):.2f} |")


def hits_row(rows, cache, same):
    """A row of the table of hit rates: launches that ask the cache for enough."""
    rows = [row for row in rows if row[cache + "_predicted"] and row[cache + "_measured"] and int(row[cache + "_sectors"]) >= LEAST_SECTORS]
    weight = weights(rows, same)
    errors = [100 * (float(row[cache + "_predicted"]) - float(row[cache + "_measured"])) for row in rows]
    points = [abs(error) for error in errors]
    return (f"| {cache.upper()} | {'programs' if same else 'launches'} | {len(rows)} | {len({row['program'] for row in rows})} "
            f"| {quantile(points, weight, 0.5):.1f} | {quantile(points, weight, 0.9):.1f} "
            f"| {100 * sum(w for w, p in zip(weight, points, strict=True) if p <= 10) / sum(weight):.0f} % "
            f"| {quantile(errors, weight, 0.5):+.1f} |")


def residuals(rows):
    """Measured over predicted, by what bounds a launch and of all (""): launches, programs, and
    where the middle eight of ten lie."""
    found = {}
    for bound in {row["bound"] for row in rows} | {""}:
        some = [row for row in rows if bound in ("", row["bound"])]
        ratios, weight = [float(row["measured"]) / float(row["predicted"]) for row in some], weights(some, True)
        found[bound] = (len(some), len({row["program"] for row in some}), quantile(ratios, weight, 0.1), quantile(ratios, weight, 0.9))
    return found


def is_whole(row):
    return bool(row["predicted"] and row["measured"])


def is_sure(row):
    return is_whole(row) and not row["unsure"]


def write_residuals(o):
    found = residuals([row for row in read_rows(o.foreign) if is_sure(row)])
    predict.write_residuals(o.residuals, found, predict.ratios_of_changes())


def worst(rows, count):
    """Kernels that are furthest off, by their median launch."""
    of = collections.defaultdict(list)
    for row in rows:
        of[row["program"], row["kernel"]].append((off_by(float(row["predicted"]) / float(row["measured"])), row))
    middle = [sorted(found, key=lambda one: one[0])[len(found) // 2] for found in of.values()]
    for _, row in sorted(middle, key=lambda one: -one[0])[:count]:
        p, m = float(row["predicted"]), float(row["measured"])
        print(f"{row['program']:18} {row['kernel'][:40]:40} measured {m * 1e6:9.1f} us, "
              f"predicted {p * 1e6:9.1f} us, {p / m:5.2f}  {row['bound']}")


def lines(rows):
    yield from (times_row([row for row in rows if is_whole(row)], same) for same in (False, True) if rows)
    rows = [row for row in rows if is_sure(row)]
    if rows:
        yield from (times_row(rows, same) for same in (False, True))
        yield from bounds(rows)
        yield from (hits_row(rows, cache, same) for cache in ("l1", "l2") for same in (False, True))


def show(o):
    """How many rows the page does not have."""
    rows = [row for row in read_rows(o.foreign) if row["set"] == o.set and row["predicted"]]
    worst([row for row in rows if is_sure(row)], o.worst)
    measured, sure = sum(is_whole(row) for row in rows), sum(is_sure(row) for row in rows)
    found = [f"{o.set}: {len(rows)} launches of {len({row['program'] for row in rows})} programs, {measured} of them measured, {sure} of these "
             "sure", *lines(rows)]
    print("\n".join(found))
    if not o.stated:
        return 0
    with open(o.stated) as f:
        text = f.read()
    missing = [line for line in found if line not in text]
    print("\n".join([*(f"{o.stated} does not say: {line}" for line in missing), f"{len(found)} rows, {len(missing)} of them not stated"]))
    return len(missing)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("foreign")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--predict", metavar="COMMANDS", help="run them in the emulator, and write their rows anew")
    what.add_argument("--measure", metavar="COMMANDS", help="run them on this machine's GPU, and fill in the table")
    what.add_argument("--show", action="store_true", help="what was predicted and measured before")
    what.add_argument("--residuals", metavar="FILE", help="write what the ranges of predictions are taken from")
    parser.add_argument("--warplens", default="warplens")
    parser.add_argument("--profiles", metavar="FOLDER", help="for profiles, which are taken where they are there")
    parser.add_argument("--cuda", default="/usr/local/cuda", help="the toolkit that has CUPTI")
    parser.add_argument("--limit", type=int, default=30, metavar="SECONDS", help="of a program; what it did until then counts")
    parser.add_argument("--set", default="held", help="the programs of this set (default: held)")
    parser.add_argument("--stated", metavar="RESULTS.md", help="fail where this page does not say the same")
    parser.add_argument("--worst", type=int, default=0, metavar="N", help="so many kernels that are furthest off")
    o = parser.parse_args()
    o.warplens = os.path.abspath(shutil.which(o.warplens) or o.warplens)  # programs run in folders of their own
    if o.predict:
        predict_all(o)
    elif o.measure:
        measure_all(o)
    elif o.residuals:
        write_residuals(o)
    else:
        sys.exit(1 if show(o) else 0)


if __name__ == "__main__":
    main()
