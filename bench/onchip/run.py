#!/usr/bin/env python3
"""What moving data into shared memory, or out of it, is predicted to be worth, and what it is.

    bench/onchip/run.py --predict PREDICTED.csv [--warplens PATH] [--nvcc PATH]
    bench/onchip/run.py --measure MEASURED.csv --cuda DIR    (on a machine with a GPU)
    bench/onchip/run.py --show PREDICTED.csv MEASURED.csv

PAIRS has programs of examples/ before and after what a finding of the first advises. Prediction
profiles both in the emulator: seconds of the kernel, and what the finding says to gain, with its
range. Measuring runs each program's main function ROUNDS times in one process, kernels timed by
CUPTI as they run; the first round is not counted, the median of the others is taken. The two
programs take turns.
"""
import argparse
import concurrent.futures
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "..", "..", "examples")
sys.path.insert(0, os.path.join(HERE, "..", "device"))
ROUNDS = 9
# name, before, after, size, pattern whose finding advises it
PAIRS = [
    ("jacobi", "onchip/jacobi_out", "onchip/jacobi_in", 2048, "shared-thread-local"),
    ("em", "onchip/em_points", "onchip/em_clusters", 1 << 18, "hot"),
    ("binomial", "onchip/binomial_device", "onchip/binomial_shared", 4096, "promote"),
    ("dxtc", "onchip/dxtc_device", "onchip/dxtc_shared", 1 << 14, "hot"),
    ("differences", "differences/differences_tile", "differences/differences_direct", 1 << 23, "shared-used-once"),
    ("permuted", "permuted/permuted_plain", "permuted/permuted_swizzled", 2048, "bank-conflict"),
    ("tables", "tables/tables_waits", "tables/tables_goes_on", 1 << 20, "superfluous-barrier"),
    ("reversed", "reversed/reversed_block", "reversed/reversed_warp", 1 << 24, "superfluous-barrier"),
    ("windows", "windows/windows_large", "windows/windows_small", 1 << 23, "unused-shared-memory"),
    ("places", "places/places_rows", "places/places_table", 1 << 23, "swap-arrays"),
]
# A program whose main function is called so often.
ROUNDS_OF = """#define main example_main
#include "%s"
#undef main
int main(int argc, char **argv)
{
    int wrong = 0;
    for (int i = 0; i < %d; i++)
        wrong |= example_main(argc, argv);
    return wrong;
}
"""


def build(nvcc, folder, example, rounds):
    source = os.path.join(folder, os.path.basename(example) + ".cu")
    with open(source, "w") as f:
        f.write(ROUNDS_OF % (os.path.abspath(os.path.join(EXAMPLES, example + ".cu")), rounds))
    program = source[:-3]
    subprocess.run([nvcc, "-O3", "-lineinfo", "-arch=sm_90", "-o", program, source], check=True)
    return program


def build_all(nvcc, folder, rounds):
    """Of each pair the programs before and after."""
    examples = [example for _, before, after, _, _ in PAIRS for example in (before, after)]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        programs = list(pool.map(lambda example: build(nvcc, folder, example, rounds), examples))
    return list(zip(programs[::2], programs[1::2], strict=True))


def stats(o, program, size):
    path = program + ".wlprof"
    subprocess.run([o.warplens, "profile", "--backend", "emulate", "--probes", "trace,blocks,shared", "-q", "-f", "-o", path, "--",
                    program, str(size)], check=True, stdout=subprocess.DEVNULL)
    return json.loads(subprocess.run([o.warplens, "stats", "--format", "json", path], check=True, capture_output=True, text=True).stdout)


def seconds(profile):
    """Of a launch of the kernel, the mean."""
    models = [launch["model"] for launch in profile["launches"] if "model" in launch]
    return statistics.mean(m["seconds"] for m in models)


def gain(profile, pattern):
    """By following what the findings of the pattern advise: of the kernel's time, and the range in
    us."""
    groups = [g["gain"] for g in profile["groups"] if g["pattern"] == pattern]
    most = max(groups, key=lambda g: g["of_kernel"], default=None)
    return [most["of_kernel"], f"{most['low'] * 1e6:.3f}", f"{most['high'] * 1e6:.3f}"] if most else [""] * 3


def write(path, columns, rows):
    with open(path, "w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(columns)
        out.writerows(rows)


def predict(o):
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, before, after, size, pattern in PAIRS:
            now = stats(o, build(o.nvcc, folder, before, 1), size)
            then = stats(o, build(o.nvcc, folder, after, 1), size)
            rows.append([name, size, pattern, f"{seconds(now) * 1e6:.3f}", f"{seconds(then) * 1e6:.3f}", *gain(now, pattern)])
            print(*rows[-1])
    write(o.predict, ["pair", "size", "pattern", "before_us", "after_us", "gain_of_kernel", "gain_low_us", "gain_high_us"], rows)


def measured(injected, program, size):
    import activity  # pylint: disable=import-outside-toplevel
    launches = activity.times(injected, lambda env: subprocess.run([program, str(size)], check=True, env={**os.environ, **env},
                                                                    stdout=subprocess.DEVNULL))
    of_round = len(launches) // ROUNDS
    return statistics.median(time for _, _, _, time in launches[of_round:])


def measure(o):
    import activity  # pylint: disable=import-outside-toplevel
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        injected = activity.library(o.cuda, folder)
        built = build_all(os.path.join(o.cuda, "bin", "nvcc"), folder, ROUNDS)
        for (name, _, _, size, _), programs in zip(PAIRS, built, strict=True):
            times = [[measured(injected, program, size) for program in programs] for _ in range(3)]
            rows.append([name, size, *(f"{statistics.median(t[i] for t in times) * 1e6:.3f}" for i in (0, 1))])
            print(*rows[-1])
    write(o.measure, ["pair", "size", "before_us", "after_us"], rows)


def show(predicted, real):
    with open(predicted, newline="") as p, open(real, newline="") as r:
        for one, other in zip(csv.DictReader(p), csv.DictReader(r), strict=True):
            speedup = [float(row["before_us"]) / float(row["after_us"]) for row in (one, other)]
            said = f"{1 / (1 - float(one['gain_of_kernel'])):.2f}" if one["gain_of_kernel"] else "none"
            saved = float(other["before_us"]) - float(other["after_us"])
            inside = one["gain_low_us"] and float(one["gain_low_us"]) <= saved <= float(one["gain_high_us"])
            print(f"{one['pair']:12} {one['pattern']:20} before {other['before_us']:>9} us (predicted {one['before_us']:>9}), "
                  f"after {other['after_us']:>9} us ({one['after_us']:>9}): {speedup[1]:.2f}x, predicted {speedup[0]:.2f}x, "
                  f"by the finding {said}x; saved {saved:.1f} us ({one['gain_low_us']} to {one['gain_high_us']})"
                  + ("" if inside else ", NOT IN THE RANGE"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--predict", metavar="CSV")
    parser.add_argument("--measure", metavar="CSV")
    parser.add_argument("--show", nargs=2, metavar="CSV")
    parser.add_argument("--warplens", default="warplens")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--cuda", default="/usr/local/cuda")
    o = parser.parse_args()
    if o.predict:
        predict(o)
    if o.measure:
        measure(o)
    if o.show:
        show(*o.show)


main()
