#!/usr/bin/env python3
"""loop.py BUILD NVCC [LAUNCHES]: what many launches of few shapes cost after the run. The program
(loop.cu) runs on the library before the driver, with the emulator's driver in NVIDIA's place; then
its captures are replayed and imported (warplens import), with and without the memo, and read
(warplens stats). Lines of a Markdown table: seconds and the most memory of a process."""

import os
import shutil
import subprocess
import sys
import tempfile

BUILD, NVCC = (os.path.abspath(path) for path in sys.argv[1:3])
LAUNCHES = sys.argv[3] if len(sys.argv) > 3 else "10000"
HERE = os.path.dirname(os.path.abspath(__file__))
WARPLENS = os.path.join(BUILD, "bin", "warplens")
LIBRARIES = os.path.join(BUILD, "lib", "warplens")


def measured(command, **variables):
    """Wall seconds and the peak of resident memory in MiB."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("WARPLENS_")}
    environment.update(variables)
    done = subprocess.run(["/usr/bin/time", "-f", "%e %M", *command], env=environment, capture_output=True, check=False, text=True)
    if done.returncode:
        sys.exit(f"{command}: {done.stderr}")
    seconds, kilobytes = done.stderr.splitlines()[-1].split()
    return float(seconds), float(kilobytes) / 1024


def main():
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "loop")
        subprocess.run([NVCC, "-arch=sm_90", "-lineinfo", "-cudart", "shared", "-o", program,
                        os.path.join(HERE, "loop.cu")], check=True)
        print("| launches, shapes | memo | capture, MiB | replay and import, s | memory, MiB | profile, MiB | stats, s | memory, MiB |")
        print("|---|---|---|---|---|---|---|---|")
        for shapes in "5", "50":
            for memo in "1", "0":
                captures, profile = os.path.join(folder, "captures"), os.path.join(folder, "loop.wlprof")
                os.mkdir(captures)
                measured([program, LAUNCHES, shapes], LD_PRELOAD=os.path.join(LIBRARIES, "inline", "libcuda.so.1"),
                         LD_LIBRARY_PATH=os.path.join(BUILD, "tests", "gpu", "runtime"), WARPLENS_CAPTURE_DIR=captures,
                         WARPLENS_COLLECT="replay", WARPLENS_DRIVER=os.path.join(LIBRARIES, "emulate", "libcuda.so.1"))
                size = sum(os.path.getsize(os.path.join(captures, name)) for name in os.listdir(captures))
                seconds, memory = measured([WARPLENS, "import", "-q", "-f", "-o", profile, captures], WARPLENS_MEMO=memo,
                                           WARPLENS_REPLAY_BUDGET="none")
                read, read_memory = measured([WARPLENS, "stats", profile])
                print(f"| {LAUNCHES}, {shapes} | {'on' if memo == '1' else 'off'} | {size / 2**20:.1f} | {seconds:.2f} | {memory:.0f} "
                      f"| {os.path.getsize(profile) / 2**20:.1f} | {read:.2f} | {read_memory:.0f} |")
                shutil.rmtree(captures, ignore_errors=True)


if __name__ == "__main__":
    main()
