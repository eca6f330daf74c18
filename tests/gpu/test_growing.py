#!/usr/bin/env python3
"""Launches on ever larger objects record in memory that earlier ones gave back:
test_growing.py WARPLENS LIBRARIES PROGRAM
"""
import contextlib
import os
import sqlite3
import subprocess
import sys
import tempfile

WARPLENS, LIBRARIES, PROGRAM = sys.argv[1:4]
DRIVER = os.path.join(LIBRARIES, "emulate", "libcuda.so.1")
TIMES, MIB = 12, 1 << 20
MEMORY = 60  # MiB for recordings: for any one or two of these, not for all together


def main():
    environment = {name: value for name, value in os.environ.items() if not name.startswith("WARPLENS_")}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "p.wlprof")
        done = subprocess.run([WARPLENS, "profile", "-q", "--backend", "inline", "--probes", "frequency", "--collect", "probe",
                               "--device-memory", str(MEMORY), "-o", path, "--", PROGRAM],
                              env=environment | {"WARPLENS_DRIVER": DRIVER, "WARPLENS_DEVICE": "h200"}, capture_output=True, text=True,
                              timeout=60, check=False)
        if done.returncode or done.stdout:
            sys.exit(f"{done.returncode} {done.stdout} {done.stderr}")
        with contextlib.closing(sqlite3.connect(path)) as database:
            counted = database.execute("SELECT o.bytes FROM uses u JOIN objects o ON o.id = u.object WHERE u.known > 0 AND "
                                       "u.space = 0 ORDER BY 1").fetchall()
    if [size for size, in counted] != [n * MIB for n in range(1, TIMES + 1)]:
        sys.exit(f"elements are counted of objects of {[size / MIB for size, in counted]} MiB")


main()
