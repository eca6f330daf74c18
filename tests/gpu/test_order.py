#!/usr/bin/env python3
"""What the records of calls say beside what was moved, as programs/order.c makes them, by both
collectors alike: test_order.py WARPLENS LIBRARIES PROGRAM
"""
import contextlib
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest

WARPLENS, LIBRARIES, PROGRAM = sys.argv[1:4]
CAPTURED, NODE, FAILED, ASYNC = 1, 2, 4, 8  # cap_call's flags
KINDS = ["alloc", "free", "copy", "set", "launch", "sync", "other"]
WAYS = {"emulate": {}, "inline": {"WARPLENS_DRIVER": os.path.join(LIBRARIES, "emulate", "libcuda.so.1")}}


class Order(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.profiles = {}
        with tempfile.TemporaryDirectory() as folder:
            for backend, more in WAYS.items():
                environment = {name: value for name, value in os.environ.items() if not name.startswith("WARPLENS_")}
                path = os.path.join(folder, backend + ".wlprof")
                done = subprocess.run(
                    [WARPLENS, "profile", "-q", "--backend", backend, "-o", path, "--", PROGRAM],
                    env=environment | {"WARPLENS_DEVICE": "h200,h200"} | more, capture_output=True, text=True, timeout=60, check=False)
                assert done.returncode == 0, done.stdout + done.stderr
                assert done.stdout == "too much: 2\ngraph: 1 0\n", done.stdout
                with contextlib.closing(sqlite3.connect(path)) as database:
                    cls.profiles[backend] = sqlite3.connect(":memory:")
                    database.backup(cls.profiles[backend])

    @classmethod
    def tearDownClass(cls):
        for database in cls.profiles.values():
            database.close()

    def each(self, query, *arguments):
        """The rows by either collector, one after the other."""
        for backend, database in self.profiles.items():
            with self.subTest(backend):
                yield database.execute(query, arguments).fetchall()

    def test_one_order(self):
        for rows in self.each("SELECT ordinal FROM calls UNION ALL SELECT ordinal FROM launches ORDER BY 1"):
            self.assertEqual([ordinal for ordinal, in rows], list(range(1, len(rows) + 1)))

    def test_a_graph_runs_in_its_order(self):
        query = ("SELECT what FROM (SELECT kind AS what, ordinal FROM calls WHERE parent NOT NULL "
                 "UNION ALL SELECT 'kernel', ordinal FROM launches) ORDER BY ordinal")
        for rows in self.each(query):
            names = [what if what == "kernel" else KINDS[what] for what, in rows]
            self.assertEqual(names, ["set", "kernel", "copy"] * 2)

    def test_nodes_name_the_launch_of_their_graph(self):
        query = ("SELECT p.api, c.flags, c.ordinal > p.ordinal, p.flags FROM calls c JOIN calls p ON p.id = c.parent")
        for rows in self.each(query):
            self.assertEqual(rows, [("cuGraphLaunch", NODE | ASYNC, 1, ASYNC)] * 4)
        query = "SELECT c.api, l.ordinal > c.ordinal FROM launches l JOIN calls c ON c.id = l.call"
        for rows in self.each(query):
            self.assertEqual(rows, [("cuGraphLaunch", 1)] * 2)

    def test_streams_are_told_apart(self):
        query = "SELECT stream, flags FROM calls WHERE api = 'cuMemsetD8Async' ORDER BY ordinal"
        for rows in self.each(query):
            self.assertEqual([flags for _, flags in rows], [ASYNC] * 3)
            self.assertEqual(len({stream for stream, _ in rows}), 3)  # two by turns, a default one
            self.assertTrue(all(stream > 0 for stream, _ in rows))
        query = ("SELECT s.flags, s.priority, s.device FROM calls c JOIN streams s USING (process, stream) "
                 "WHERE c.api = 'cuMemsetD8Async' ORDER BY c.ordinal")
        for rows in self.each(query):
            self.assertEqual(rows, [(1, -1, 0), (1, -1, 0), (0, 0, 1)])

    def test_devices(self):
        query = "SELECT api, device, context > 1 FROM calls WHERE device = 1 ORDER BY ordinal"
        for rows in self.each(query):
            self.assertEqual(rows, [(api, 1, 1) for api in ("cuMemAlloc_v2", "cuMemsetD8Async", "cuMemFree_v2")])
        for rows in self.each("SELECT DISTINCT device, stream FROM launches"):
            self.assertEqual(rows, [(0, 0)])

    def test_events(self):
        query = ("SELECT event, version FROM calls WHERE api IN ('cuEventRecord', 'cuStreamWaitEvent', 'cuEventSynchronize') "
                 "ORDER BY ordinal")
        for rows in self.each(query):
            first, second = rows[0][0], rows[1][0]
            self.assertNotEqual(first, second)
            self.assertEqual(rows, [(first, 1), (second, 1), (first, 2), (first, 2), (second, 1)])

    def test_rows(self):
        query = "SELECT api, bytes, width, rows, slices, source_pitch, target_pitch FROM calls WHERE rows NOT NULL ORDER BY ordinal"
        for rows in self.each(query):
            self.assertEqual(rows, [("cuMemcpy2D_v2", 256, 64, 4, 1, 64, 128), ("cuMemsetD2D8_v2", 256, 64, 4, 1, None, 128)])

    def test_starts(self):
        """Only a device has them; a node of a graph has none."""
        query = "SELECT count(device_start) FROM calls WHERE parent IS NULL UNION ALL SELECT count(device_start) FROM calls WHERE parent NOT NULL"
        [(emulated,), (of_emulated_nodes,)], [(timed,), (of_nodes,)] = self.each(query)
        self.assertEqual((emulated, of_emulated_nodes, of_nodes), (0, 0, 0))
        self.assertGreater(timed, 0)

    def test_what_failed(self):
        for rows in self.each("SELECT api, result, bytes, flags FROM calls WHERE result != 0"):
            self.assertEqual(rows, [("cuMemAlloc_v2", 2, 1 << 50, FAILED)])

    def test_what_was_captured(self):
        for rows in self.each("SELECT api, flags FROM calls WHERE api = 'cuLaunchKernel'"):
            self.assertEqual(rows, [("cuLaunchKernel", CAPTURED | ASYNC)])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
