#!/usr/bin/env python3
"""check_limits.py FOLDER: compares the tables in FOLDER (bench/overhead/results where none is
given) with the limits, a line each. Exits with 0 where all are kept, 1 where one is not, 3 where
something was not measured."""
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


def line(what, value, limit, unit, notes=(), verdict=None):
    if verdict is None:
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


def most(rows, probe):
    """The kernel that takes the longest, in times of native, with --collect auto."""
    these = [r for r in rows if (r["collect"], r["probe"]) == ("auto", probe) and suite.counts(r)]
    worst = max(these, key=lambda r: float(r["ratio"]), default=None)
    return line(f"the slowest kernel, --collect auto, {probe}", float(worst["ratio"]) if worst else None, suite.MOST[probe], "x",
                [worst["kernel"] if worst else ""])


def paired_row(rows, program):
    """What was measured in pairs, or None."""
    these = [r for r in rows if (r["program"], r["collect"], r["probe"], r["cache"]) == (program, *suite.PAIRED, "with")]
    return these[0] if these else None


def process(rows, program, what, value, limit, unit):
    """VALUE makes a figure of a row and a difference between profiled and native processes. The
    limit is kept where it is at the upper end of what the pairs leave open, and broken where it is
    at the lower one."""
    row = paired_row(rows, program)
    few = row and int(row["pairs"]) < tables.FULL
    middle, low, high = (value(row, float(row[name])) if row and row[name] else None
                         for name in ("difference_ms", "low_ms", "high_ms"))
    kept, broken = high is not None and high <= limit and not few, low is not None and low > limit
    note = "" if low is None else f"{low:.3f} to {high:.3f}, from {row['pairs']} pairs"
    return line(what, middle, limit, unit, [note, "too few pairs" if few else ""],
                KEPT if kept else BROKEN if broken else UNKNOWN)


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "results"
    kernels, processes = read(folder / "kernels.csv"), read(folder / "processes.csv")
    samples = {(r["collect"], r["probe"]): int(r["least_samples"]) for r in read(folder / "means.csv")
               if r.get("kind", "all") == "all"}
    verdicts = [mean(kernels, samples, c, p) for c in suite.COLLECTS for p in suite.PROBES]
    verdicts += [most(kernels, p) for p in suite.MOST]
    verdicts.append(process(processes, "loop", "process, loop of 10,000 launches",
                            lambda r, more: 1 + more / float(r["native_ms"]), suite.LOOP_PROCESS_RATIO, "x"))
    row = paired_row(processes, "loop")
    verdicts.append(line("after the loop", float(row["after_ms"]) / 1e3 if row else None, suite.LOOP_AFTER_SECONDS, " s"))
    verdicts.append(process(processes, "empty", "start-up, empty program", lambda _row, more: more, suite.START_UP_MS, " ms"))
    sys.exit(BROKEN if BROKEN in verdicts else UNKNOWN if UNKNOWN in verdicts else KEPT)


if __name__ == "__main__":
    main()
