#!/usr/bin/env python3
"""Draws the figures in README.md and docs/ from recorded results, so that both say the same.

A figure is a number before a comment that names it, which a reader of the page does not see:

    time on the device is 1.02<!-- figure overhead.auto.trace --> times what it is without

FIGURES below says which result each name stands for. Without arguments the numbers are written
anew; `--check` only says which are not what the results give, or bear a name that is not known.
"""

import argparse
import csv
import importlib.util
import pathlib
import re
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MARK = re.compile(r"([0-9][0-9.,]*)?(<!-- figure (\S+) -->)")


def rows(root, path):
    """The rows of a CSV file, each a dictionary."""
    with open(root / path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def tables(root, path):
    """The tables of a Markdown page, each a list of rows by column name; column "" is the first."""
    found, columns = [], None
    for line in (root / path).read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            columns = None
        elif columns is None:
            columns = ["", *cells[1:]]
            found.append([])
        elif set(line) - set("|- :"):
            found[-1].append(dict(zip(columns, cells, strict=False)))
    return found


def cell(root, path, table, row, column):
    """A cell of the page's table with that number, in the first row that begins with `row`."""
    return next(r for r in tables(root, path)[table] if r[""].startswith(row))[column]


# ---- bench/overhead: kernel time to native ----

# Programs that are measured beside the suite, for other reasons than their kernels' time.
BESIDE = ("torch_eager", "torch_compile", "loop")


def suite(root):
    kernels = rows(root, "bench/overhead/results/kernels.csv")
    return [row for row in kernels if row["program"] not in BESIDE]


def overhead_kernels(root):
    return str(len({row["kernel"] for row in suite(root)}))


PROBES = ("objects", "trace", "touch", "frequency", "shared", "blocks")


def overhead(collect, probe, of=statistics.geometric_mean):
    def draw(root):
        ratios = [float(row["ratio"]) for row in suite(root)
                  if (row["collect"], row["probe"]) == (collect, probe)]
        return f"{of(ratios):.2f}"
    return draw


def overheads():
    """The mean and the slowest kernel of each probe, in both ways to collect."""
    figures = {}
    for collect in ("auto", "probe"):
        for probe in PROBES + (("path",) if collect == "auto" else ()):
            figures[f"overhead.{collect}.{probe}"] = overhead(collect, probe)
            figures[f"overhead.{collect}.{probe}.most"] = overhead(collect, probe, max)
    return figures


def overhead_launch(root):
    """Microseconds that each of the loop's 10,000 launches takes longer."""
    row = next(row for row in rows(root, "bench/overhead/results/processes.csv")
               if (row["program"], row["collect"], row["cache"]) == ("loop", "auto", "with"))
    return f"{(float(row['span_ms']) - float(row['native_span_ms'])) / 10:.1f}"


# ---- bench/emulator, bench/flow, bench/replay: tables of their pages ----


def emulator_observed(choose):
    def draw(root):
        whole_path = tables(root, "bench/emulator/results.md")[1]
        return f"{choose(int(row['1 thread']) for row in whole_path) / 1000:.1f}"
    return draw


def flow_all(column, pattern):
    def draw(root):
        row = next(r for r in tables(root, "bench/flow/results.md")[0]
                   if r["corpus"].startswith("all of these"))
        return re.search(pattern, row[column])[1]
    return draw


def flow_kernels(root):
    return f"{int(flow_all('kernels', '([0-9]+)')(root)):,}"


def replay_ratio(choose):
    def draw(root):
        kernels = tables(root, "bench/replay/results.md")[0]
        return f"{choose(float(row['observed / slice']) for row in kernels):.1f}"
    return draw


def replay_loop(root):
    seconds = cell(root, "bench/replay/results.md", 1, "10000, 5", "replay and import, s")
    return f"{float(seconds):.1f}"


# ---- bench/inline: the last line of its table ----


def inline(column, decimals):
    def draw(root):
        last = rows(root, "bench/inline/results.csv")[-1]
        return f"{float(last[column]):.{decimals}f}"
    return draw


def inline_start(root):
    last = rows(root, "bench/inline/results.csv")[-1]
    return f"{float(last['start_no_times_ms']) - float(last['start_native_ms']):.0f}"


# ---- bench/onchip: the model's formula against spins.csv ----


def formula_of_spins():
    spec = importlib.util.spec_from_file_location("spins", ROOT / "bench" / "onchip" / "spins.py")
    formula = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(formula)
    return formula


def spins(of):
    def draw(root):
        formula = formula_of_spins()
        parts = formula.parts_of(root / "bench" / "onchip" / "spins.csv", root / "devices" / "h200.json")
        return of(parts, formula.tenths_of(parts))
    return draw


def spin_tenth(number):
    return spins(lambda _, tenths: f"{tenths[number - 1]:.2f}")


# ---- examples/memory: peaks that a test holds ----


def reductions(root):
    """By how many percent the peak of each mended program is lower."""
    return {row["program"]: 100 - 100 * int(row["mended_bytes"]) / int(row["peak_bytes"])
            for row in rows(root, "examples/memory/pairs.csv")}


def pairs(choose):
    return lambda root: f"{choose(reductions(root)):.0f}"


def pair_figures():
    figures = {f"pairs.{name}": pairs(lambda all_, name=name: all_[name]) for name in reductions(ROOT)}
    return {**figures, "pairs.least": pairs(lambda all_: min(all_.values())),
            "pairs.most": pairs(lambda all_: max(all_.values()))}


FIGURES = {
    "overhead.kernels": overhead_kernels,
    **overheads(),
    "overhead.launch": overhead_launch,
    "emulator.observed.least": emulator_observed(min),
    "emulator.observed.most": emulator_observed(max),
    "flow.kernels": flow_kernels,
    "flow.independent": flow_all("independent", r"\(([0-9]+)"),
    "replay.loop": replay_loop,
    "replay.slice.least": replay_ratio(min),
    "replay.slice.most": replay_ratio(max),
    "inline.launch": inline("launch_no_times_us", 1),
    "inline.launch.timed": inline("launch_recorded_us", 1),
    "inline.launch.cold": inline("cold_no_times_us", 0),
    "inline.launch.library": inline("launch_library_us", 2),
    "inline.start": inline_start,
    "spins.cases": spins(lambda parts, _: str(len(parts))),
    "spins.least": spin_tenth(1),
    "spins.median": spin_tenth(5),
    "spins.most": spin_tenth(9),
    **pair_figures(),
}


def pages(root):
    return [root / "README.md", *sorted((root / "docs").rglob("*.md"))]


def drawn(root, page, problems):
    """The page's text with all figures as the results give them; says what differs."""
    text = page.read_text(encoding="utf-8")
    name = page.relative_to(root)

    def replace(match):
        line = text.count("\n", 0, match.start()) + 1
        if match[3] not in FIGURES:
            problems.append(f"{name}:{line}: no figure has the name {match[3]}")
            return match[0]
        value = FIGURES[match[3]](root)
        if value != match[1]:
            problems.append(f"{name}:{line}: {match[3]} is {match[1] or 'absent'}, "
                            f"the results give {value}")
        return value + match[2]

    return text, MARK.sub(replace, text)


def unused(root):
    used = {match[3] for page in pages(root) for match in MARK.finditer(page.read_text("utf-8"))}
    return [f"tools/figures.py: no page has the figure {name}" for name in FIGURES
            if name not in used]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=ROOT)
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a figure "
                        "is not what the results give")
    options = parser.parse_args()
    problems = []
    for page in pages(options.root):
        before, after = drawn(options.root, page, problems)
        if before != after and not options.check:
            page.write_text(after, encoding="utf-8")
    problems += unused(options.root)
    for problem in problems:
        print(problem)
    print(f"figures: {len(FIGURES)} known, {len(problems)} differences")
    return 1 if options.check and problems else 0


if __name__ == "__main__":
    sys.exit(main())
