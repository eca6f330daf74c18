#!/usr/bin/env python3
"""Time and memory of warplens at scale, against the emulation alone: scale.py PREFIX
[launches|equal|distinct|maps|objects [ARGUMENT...]]

PREFIX is where warplens lies, e.g. build/release. Each step runs once, as a process of its own;
memory is the peak of its resident set, which is never shown below this program's own 14 MB.
"emulation" is the program under the emulator with nothing observed, "observation" the same with a
capture written, which import then makes a profile of; "profile" is the command that does both.
"""
import argparse
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = ["launches", "equal", "distinct", "maps", "objects"]


class Run:
    """What one process took."""

    def __init__(self, name, command, environment=None):
        begin = time.monotonic()
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, **(environment or {})}) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit(f"{name}: exit status {process.returncode}: {' '.join(command)}")
        self.name = name
        self.seconds, self.cpu = time.monotonic() - begin, usage.ru_utime + usage.ru_stime
        self.megabytes = usage.ru_maxrss / 1024


def measure(prefix, program, arguments, folder):
    warplens = os.path.join(prefix, "bin/warplens")
    preload = os.path.join(prefix, "lib/warplens/emulate/libwarplens_emulate.so")
    captures, whole, imported, report = (os.path.join(folder, n) for n in ("captures", "a.wlprof", "b.wlprof", "r.html"))
    os.mkdir(captures)
    command = [program, *arguments]
    yield Run("emulation", command, {"LD_PRELOAD": preload, "WARPLENS_CAPTURE_DIR": ""})
    yield Run("observation", command, {"LD_PRELOAD": preload, "WARPLENS_CAPTURE_DIR": captures})
    sizes = {"capture": sum(map(os.path.getsize, glob.glob(captures + "/*")))}
    yield Run("import", [warplens, "import", "-q", "-o", imported, captures])
    yield Run("profile", [warplens, "profile", "-q", "-o", whole, "--", *command])
    yield Run("stats", [warplens, "stats", whole])
    yield Run("stats --format json", [warplens, "stats", "--format", "json", whole])
    yield Run("report", [warplens, "report", "-q", "-o", report, whole])
    sizes.update(profile=os.path.getsize(whole), report=os.path.getsize(report))
    yield sizes


def show(name, results):
    base = results[0]
    print(f"\n{name}\n\n| step | seconds | of emulation | CPU seconds | MB | of emulation |\n|---|---|---|---|---|---|")
    for run in results[:-1]:
        print(f"| {run.name} | {run.seconds:.2f} | {run.seconds / base.seconds:.2f} | {run.cpu:.2f} "
              f"| {run.megabytes:.0f} | {run.megabytes / base.megabytes:.2f} |")
    print("\n" + ", ".join(f"{what} {size / 1e6:.1f} MB" for what, size in results[-1].items()), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("prefix")
    parser.add_argument("case", nargs="?", choices=CASES)
    parser.add_argument("arguments", nargs="*")
    options = parser.parse_args()
    nvcc = shutil.which("nvcc", path=os.path.join(HERE, "../../.deps/cuda/bin") + os.pathsep + os.environ["PATH"])
    if not nvcc:
        sys.exit("scale: no nvcc here; tools/bootstrap.sh check installs it")
    for case in [options.case] if options.case else CASES:
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, case)
            subprocess.run([nvcc, "-O2", "-std=c++17", "-lineinfo", "-o", program, os.path.join(HERE, case + ".cu")], check=True)
            show(" ".join([case, *options.arguments]), list(measure(options.prefix, program, options.arguments, folder)))


main()
