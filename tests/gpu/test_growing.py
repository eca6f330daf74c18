#!/usr/bin/env python3
"""Launches record in memory that earlier ones gave back, on ever larger objects and on new ones:
test_growing.py WARPLENS LIBRARIES PROGRAM PLAYBACK
"""
import contextlib
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest

WARPLENS, LIBRARIES, PROGRAM, PLAYBACK = sys.argv[1:5]
DRIVER = os.path.join(LIBRARIES, "emulate", "libcuda.so.1")
TIMES, MIB = 12, 1 << 20
MEMORY = 60  # MiB for recordings: for any one or two of the largest, not for all together


class Growing(unittest.TestCase):
    def counted(self, folder, *arguments, **variables):
        """MiB of the objects whose elements were counted, in each launch."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("WARPLENS_")}
        path = os.path.join(folder, "p.wlprof")
        done = subprocess.run([WARPLENS, "profile", "-q", "-f", "--backend", "inline", "--probes", "frequency", "--collect", "probe",
                               "--device-memory", str(MEMORY), "-o", path, "--", PROGRAM, *arguments],
                              env=environment | {"WARPLENS_DRIVER": DRIVER, "WARPLENS_DEVICE": "h200"} | variables,
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        with contextlib.closing(sqlite3.connect(path)) as database:
            rows = database.execute("SELECT o.bytes FROM uses u JOIN objects o ON o.id = u.object WHERE u.known > 0 AND "
                                    "u.space = 0 ORDER BY u.launch").fetchall()
        return [size / MIB for size, in rows]

    def test_larger_objects(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.counted(folder), list(range(1, TIMES + 1)))

    def test_memory_is_used_again(self):
        """What was prepared for an object that is gone serves the next one."""
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "log")
            played = {"WARPLENS_DRIVER": PLAYBACK, "PLAYBACK_DRIVER": DRIVER, "PLAYBACK_LOG": log}
            self.assertEqual(len(self.counted(folder, "0", **played)), TIMES)
            with open(log, encoding="utf-8") as file:
                taken = sum(line.startswith("cuMemAlloc_v2 ") for line in file)
            self.assertLess(taken - TIMES, TIMES // 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
