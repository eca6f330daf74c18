#!/usr/bin/env python3
"""Objects that a kernel reaches through pointers out of memory, as the probe `objects` sees them:
test_pointers.py WARPLENS LIBRARIES PROGRAM
"""
import contextlib
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest

WARPLENS, LIBRARIES, PROGRAM = sys.argv[1:4]
DRIVER = os.path.join(LIBRARIES, "emulate", "libcuda.so.1")


class Pointers(unittest.TestCase):
    def rows(self, query, *options, arguments=()):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("WARPLENS_")}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "p.wlprof")
            done = subprocess.run([WARPLENS, "profile", "-q", "--backend", "inline", "--replay-budget", "none", *options, "-o", path,
                                   "--", PROGRAM, *arguments],
                                  env=environment | {"WARPLENS_DRIVER": DRIVER, "WARPLENS_DEVICE": "h200"}, capture_output=True, text=True,
                                  timeout=60, check=False)
            self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
            with contextlib.closing(sqlite3.connect(path)) as database:
                return database.execute(query).fetchall()

    def test_what_was_reached(self):
        """The memory of 4, 8 and 12 KiB, not that of 16; the table itself is the parameter's."""
        query = "SELECT o.bytes, v.loads, v.stores, v.atomics, v.launches FROM v_indirect_reaches v JOIN objects o ON o.name = v.object ORDER BY 1"
        rows = self.rows(query, "--probes", "objects", "--collect", "probe")
        self.assertEqual(rows, [(4096, 0, 1, 0, 2), (8192, 1, 0, 0, 2), (12288, 0, 0, 1, 2)])

    def test_through_the_parameter(self):
        rows = self.rows("SELECT v.position, o.bytes FROM v_parameters v JOIN objects o ON o.name = v.object", "--probes", "objects")
        self.assertEqual(rows, [(0, 32)])

    def test_largest_objects_are_left_out_first(self):
        """Where tables of the elements of all objects (4 MiB, 8, 12 and 16) are more than half of
        the memory that recording may take; the kernel leaves the last one alone."""
        mib, table = 1 << 20, 32
        query = "SELECT o.bytes FROM uses u JOIN objects o ON o.id = u.object WHERE u.known > 0 GROUP BY o.id ORDER BY 1"
        for memory, known in (("1", []), ("4", [4]), ("8", [4, 8]), ("16", [4, 8, 12])):
            with self.subTest(memory):
                rows = self.rows(query, "--probes", "touch", "--collect", "probe", "--device-memory", memory, arguments=["1024"])
                self.assertEqual([size for size, in rows], [table, *(n * mib for n in known)])

    def test_nobody_looked(self):
        self.assertEqual(self.rows("SELECT * FROM indirect_reaches", "--collect", "replay"), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
