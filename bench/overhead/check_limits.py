#!/usr/bin/env python3
"""check_limits.py FOLDER: compares the tables in FOLDER (bench/overhead/results where none is given) with the limits, a line
each. Exits with 0 where all are kept, 1 where one is not, 3 where something was not measured."""
import csv
import pathlib
import sys

import suite
import tables

KEPT, BROKEN, UNKNOWN = 0, 1, 3


def read(path):
    if not path.exists():
        return []
    with path.open(newline="") as f:
        return list(csv.DictReader(f))


def line(what, value, limit, unit, notes=()):
    verdict = UNKNOWN if value is None else KEPT if value <= limit else BROKEN
    word = {KEPT: "pass", BROKEN: "FAIL", UNKNOWN: "????"}[verdict]
    measured = "not measured" if value is None else f"{value:.3f}{unit}"
    print(f"{word}  {what:<42} {measured:>14}   at most {limit}{unit}" + "".join(f"; {n}" for n in notes if n))
    return verdict


def mean(rows, samples, collect, probe):
    these = [r for r in rows if (r["collect"], r["probe"]) == (collect, probe) and suite.counts(r)]
    missing = {(p.name, k) for p in suite.SUITE if p.mean for k in p.kernels} - {(r["program"], r["kernel"]) for r in these}
    unseen = [r["kernel"] for r in these if not r["way"]]
    few = [n for key, n in samples.items() if key == (collect, probe) and n < tables.FULL]
    ratio = tables.geometric_mean([float(r["ratio"]) for r in these]) if these else None
    verdict = line(f"kernel time, --collect {collect}, {probe}", ratio, suite.LIMITS[collect][probe], "x", [
        f"{len(these)} kernels" if these else "",
        f"without {', '.join(sorted(k for _, k in missing))}" if these and missing else "",
        f"{len(unseen)} of them neither replayed nor probed" if unseen else "",
        f"some from {min(few)} samples only" if few else ""])
    return UNKNOWN if verdict == KEPT and (missing or unseen or few) else verdict


def processes(rows, program, column):
    return [float(r[column]) for r in rows if r["program"] == program and r["collect"] == "auto" and r[column]]


def worst(values):
    return max(values) if values else None


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "results"
    kernels, process = read(folder / "kernels.csv"), read(folder / "processes.csv")
    samples = {(r["collect"], r["probe"]): int(r["least_samples"]) for r in read(folder / "means.csv")}
    verdicts = [mean(kernels, samples, c, p) for c in suite.COLLECTS for p in suite.PROBES]
    with_cache = [r for r in process if r["cache"] == "with"]
    verdicts.append(line("process, loop of 10,000 launches", worst(processes(with_cache, "loop", "ratio")),
                         suite.LOOP_PROCESS_RATIO, "x"))
    after = worst(processes(with_cache, "loop", "after_ms"))
    verdicts.append(line("after the loop", None if after is None else after / 1e3, suite.LOOP_AFTER_SECONDS, " s"))
    start = [float(r["process_ms"]) - float(r["native_ms"]) for r in with_cache
             if r["program"] == "empty" and r["collect"] == "auto"]
    verdicts.append(line("start-up, empty program", worst(start), suite.START_UP_MS, " ms"))
    sys.exit(BROKEN if BROKEN in verdicts else UNKNOWN if UNKNOWN in verdicts else KEPT)


if __name__ == "__main__":
    main()
