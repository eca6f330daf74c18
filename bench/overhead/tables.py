"""From samples, a line of JSON for each process that was run, to tables."""
import collections
import csv
import json
import math
import statistics

import suite

FULL = 10  # samples that a figure should rest on


def read(paths):
    """Samples of all files; a run that two files hold counts once."""
    samples = {}
    for path in paths:
        with open(path) as f:
            for line in f:
                sample = json.loads(line)
                samples[(sample["session"], sample["number"])] = sample
    return list(samples.values())


def good(samples):
    return [s for s in samples if not s["error"]]


def key(sample):
    return sample["program"], sample["tool"], sample["collect"], sample["probe"], sample["cache"]


class Natives:
    """Native samples of a program, of the sessions in which something else was measured."""

    def __init__(self, samples):
        self.samples = [s for s in samples if s["tool"] == "native"]

    def beside(self, group):
        first, sessions = group[0], {s["session"] for s in group}
        return [s for s in self.samples if s["program"] == first["program"] and s["cache"] == first["cache"]
                and s["rounds"] == first["rounds"] and s["session"] in sessions]


def median(values):
    values = [v for v in values if v is not None]
    return statistics.median(values) if values else None


def times(samples, kernel):
    return [ms for s in samples for ms in s["kernels"].get(kernel, [])]


def number(value, digits=4):
    return "" if value is None else f"{value:.{digits}g}" if abs(value) < 1 else f"{value:.{digits}f}"


def groups(samples, tool):
    found = collections.defaultdict(list)
    for s in samples:
        if s["tool"] == tool:
            found[key(s)].append(s)
    return found


def head(sample):
    return {"date": sample["date"], "chip": sample["chip"], "driver": sample["driver"], "program": sample["program"]}


def ways(group, kernel):
    """How the kernel's accesses were had; for a step of many kernels, all ways that occur. Empty:
    not at all."""
    seen = set()
    for s in group:
        named = s["ways"].get(kernel)
        seen |= set(named if named is not None else [w for all_ways in s["ways"].values() for w in all_ways])
    return "+".join(sorted(seen))


def kernel_rows(samples):
    """Rows of kernels.csv, each with the number of samples that it rests on under "samples"."""
    natives, rows = Natives(samples), []
    for group in groups(samples, "warplens").values():
        first = group[0]
        if first["cache"] != "with":
            continue
        beside = natives.beside(group)
        for kernel in first["kernels"]:
            native, probed = times(beside, kernel), times(group, kernel)
            if not native or not probed:
                continue
            n, p = median(native), median(probed)
            rows.append(dict(head(first), kernel=kernel, collect=first["collect"], way=ways(group, kernel),
                             probe=first["probe"], native_ms=n, probed_ms=p, ratio=p / n,
                             samples=min(len(native), len(probed))))
    return rows


def pairs_of(group, beside):
    """Each profiled process with the latest native one before it in the session that no other is
    paired with."""
    free = {s["session"]: sorted((n for n in beside if n["session"] == s["session"]), key=lambda n: n["number"]) for s in group}
    pairs = []
    for s in sorted(group, key=lambda s: (s["session"], s["number"])):
        earlier = [n for n in free[s["session"]] if n["number"] < s["number"]]
        if earlier:
            pairs.append((earlier[-1], s))
            free[s["session"]].remove(earlier[-1])
    return pairs


def median_interval(values, confidence=0.95):
    """What the median lies in, whatever the distribution: two order statistics, by the binomial
    one. None: too few values."""
    values, n, tail, k = sorted(values), len(values), 0.0, 0
    while k < n // 2:  # values[k] and values[n - 1 - k] leave out no more than the rest
        tail += math.comb(n, k) / 2 ** n
        if tail > (1 - confidence) / 2:
            break
        k += 1
    return (values[k - 1], values[n - k]) if k else (None, None)


def difference(group, beside):
    """What profiled processes take longer than the native ones beside them: the median of pairs,
    and its interval."""
    ms = [p["process_ms"] - n["process_ms"] for n, p in pairs_of(group, beside)]
    low, high = median_interval(ms)
    return dict(pairs=len(ms), difference_ms=median(ms), low_ms=low, high_ms=high)


def process_rows(samples):
    natives, rows = Natives(samples), []
    for group in groups(samples, "warplens").values():
        first, beside = group[0], natives.beside(group)
        if not beside:
            continue
        native = median(s["process_ms"] for s in beside)
        process = median(s["process_ms"] for s in group)
        mib = {name: value / 1024 if value else None for name, value in (
            ("native_mib", median(s["process_kib"] for s in beside)),
            ("process_mib", median(s["process_kib"] for s in group)),
            ("warplens_mib", median(s["tool_kib"] for s in group)))}
        rows.append(dict(head(first), collect=first["collect"], probe=first["probe"], cache=first["cache"],
                         native_ms=native, process_ms=process, ratio=process / native,
                         after_ms=median(s["wall_ms"] - s["process_ms"] for s in group),
                         replay_ms=median(s["replay_ms"] for s in group), samples=min(len(beside), len(group)), **mib,
                         **difference(group, beside), **both("busy_ms", group, beside), **both("span_ms", group, beside)))
    return rows


def comparison_rows(samples):
    """memcheck by kernel and process; ncu, which repeats kernels and waits between them, by process
    only."""
    natives, rows = Natives(good(samples)), []
    for tool in ("memcheck", "ncu"):
        for group in groups(samples, tool).values():
            first, fine, beside = group[0], good(group), natives.beside(group)
            native, ms = median(s["process_ms"] for s in beside), median(s["process_ms"] for s in fine)
            both = native is not None and ms is not None
            note = "" if fine else first["error"]
            rows.append(dict(head(first), kernel="", tool=tool, native_ms=native, tool_ms=ms,
                             ratio=ms / native if both else None, note=note))
            for kernel in (first["kernels"] if tool == "memcheck" and fine and beside else ()):
                n, t = median(times(beside, kernel)), median(times(fine, kernel))
                if n and t:
                    rows.append(dict(head(first), kernel=kernel, tool=tool, native_ms=n, tool_ms=t, ratio=t / n, note=""))
    return rows


def both(name, group, beside):
    return {"native_" + name: median(s.get(name) for s in beside), name: median(s.get(name) for s in group)}


def geometric_mean(ratios):
    return math.exp(statistics.fmean(map(math.log, ratios)))


def mean_row(rows, collect, probe, kind):
    """The mean of these rows, and the kernel that takes the longest, in times of native."""
    worst = max(rows, key=lambda r: r["ratio"])
    return dict({k: rows[0][k] for k in ("date", "chip", "driver")}, collect=collect, probe=probe, kind=kind, kernels=len(rows),
                least_samples=min(r["samples"] for r in rows), unobserved=sum(not r["way"] for r in rows),
                ratio=geometric_mean([r["ratio"] for r in rows]),
                limit=suite.LIMITS[collect][probe] if kind == "all" else None, most=worst["ratio"], of=worst["kernel"])


def mean_rows(rows):
    """A row for each (collect, probe): of all kernels, of the regular and of the irregular ones."""
    found = []
    for collect in suite.COLLECTS:
        for probe in suite.PROBES:
            for kind in suite.KINDS:
                these = [r for r in rows if (r["collect"], r["probe"]) == (collect, probe) and suite.counts(r)
                         and kind in ("all", suite.kind(r))]
                if these:
                    found.append(mean_row(these, collect, probe, kind))
    return found


def write(path, columns, rows):
    with open(path, "w", newline="") as f:
        writer = csv.DictWriter(f, columns, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({name: number(value) if isinstance(value, float) or value is None else value
                             for name, value in row.items()})


def write_all(folder, samples):
    """Writes the four tables; gives the rows of kernels.csv."""
    rows = kernel_rows(good(samples))
    write(folder / "kernels.csv", suite.COLUMNS, rows)
    write(folder / "means.csv", suite.MEAN_COLUMNS, mean_rows(rows))
    write(folder / "processes.csv", suite.PROCESS_COLUMNS, process_rows(good(samples)))
    write(folder / "comparison.csv", suite.COMPARISON_COLUMNS, comparison_rows(samples))
    return rows
