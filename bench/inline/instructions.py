#!/usr/bin/env python3
"""Prints how many instructions a launch takes with the library before the driver in front of it, by
callgrind: a number that is the same however busy the machine is, where times are not.

instructions.py BUILD... : build folders with bench_inline and its library, e.g. build/release; each
is compared with the first. Needs valgrind. What counts is the difference between two runs of
bench_inline's program, one with 10,000 launches more than the other (1,000 between events); the
driver does nothing.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

# Name, whether it records, whether all launches are timed, whether they record on the device,
# prefix of the number of launches as bench_inline's program takes it.
VARIANTS = [
    ("library, nothing recorded", False, False, False, ""),
    ("recorded, no device times", True, False, False, ""),
    ("recorded, all timed", True, True, False, ""),
    ("recording on the device", True, False, True, ""),
    ("between two events, all timed", True, True, False, "e"),
]


def environment(build, folder, variant):
    _, capture, timed, probes, _ = variant
    return {
        "BENCH_LIBRARY": "libcuda.so.1",
        "LD_PRELOAD": f"{build}/lib/warplens/inline/libcuda.so.1",
        "WARPLENS_DRIVER": f"{build}/tests/gpu/null_driver.so",
        "WARPLENS_CAPTURE_DIR": folder if capture else "",
        "WARPLENS_DEVICE_TIMES": "all" if timed else "none",
        "WARPLENS_COLLECT": "auto" if probes else "replay",
        "WARPLENS_PROBES": "objects",
        "WARPLENS_PROBE_LAUNCHES": "0",
    }


def instructions(build, variant, launches):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/callgrind",
             f"{build}/bin/bench_inline", "child", f"{variant[4]}{launches}"],
            env=environment(build, folder, variant), capture_output=True, text=True, check=True)
    return int(re.search(r"Collected : (\d+)", done.stderr)[1])


def a_launch(build, variant):
    first, more = (200, 1000) if variant[4] else (2000, 10000)
    return (instructions(build, variant, first + more) - instructions(build, variant, first)) / more


def main():
    builds = [pathlib.Path(name).resolve() for name in sys.argv[1:]]
    if not builds:
        sys.exit(__doc__)
    for variant in VARIANTS:
        counts = [a_launch(build, variant) for build in builds]
        rest = "".join(f"{count:9.0f} ({count / counts[0]:.2f})" for count in counts[1:])
        print(f"{variant[0]:30}{counts[0]:9.0f}{rest}", flush=True)


if __name__ == "__main__":
    main()
