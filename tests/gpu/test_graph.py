#!/usr/bin/env python3
"""The edges of a graph that was launched, as programs/fork.c makes it, by both collectors alike:
test_graph.py WARPLENS LIBRARIES PROGRAM
"""
import contextlib
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest

WARPLENS, LIBRARIES, PROGRAM = sys.argv[1:4]
WAYS = {"emulate": {}, "inline": {"WARPLENS_DRIVER": os.path.join(LIBRARIES, "emulate", "libcuda.so.1")}}

# In the order in which they run: the nodes of the child graph follow it.
NODES = ["set", "left", "right", "join", "graph", "set", "copy", "empty"]
EDGES = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7)]


def profile(folder, backend, more):
    path = os.path.join(folder, backend + ".wlprof")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("WARPLENS_")}
    done = subprocess.run([WARPLENS, "profile", "-q", "--backend", backend, "-o", path, "--", PROGRAM],
                          env=environment | {"WARPLENS_DEVICE": "h200"} | more, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "4 4\n", done.stdout
    return path


class Graph(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.profiles = {}
        with tempfile.TemporaryDirectory() as folder:
            for backend, more in WAYS.items():
                with contextlib.closing(sqlite3.connect(profile(folder, backend, more))) as database:
                    cls.profiles[backend] = sqlite3.connect(":memory:")
                    database.backup(cls.profiles[backend])

    @classmethod
    def tearDownClass(cls):
        for database in cls.profiles.values():
            database.close()

    def each(self, query):
        """The rows by either collector, one after the other."""
        for backend, database in self.profiles.items():
            with self.subTest(backend):
                yield database.execute(query).fetchall()

    def test_the_graph_is_there_once(self):
        for rows in self.each("SELECT id, edges_known FROM graphs"):
            self.assertEqual(rows, [(1, 1)])
        for rows in self.each("SELECT source, target FROM graph_edges ORDER BY target, source"):
            self.assertEqual(rows, sorted(EDGES, key=lambda edge: edge[::-1]))

    def test_nodes_of_each_launch(self):
        query = "SELECT coalesce(kernel, type), ordinal NOTNULL, launch NOTNULL, node_call NOTNULL FROM v_graph_nodes ORDER BY call, node"
        for rows in self.each(query):
            kernel, moved, nothing = (1, 1, 0), (1, 0, 1), (0, 0, 0)
            did = [moved, kernel, kernel, kernel, nothing, moved, moved, nothing]
            whole = [(name, *what) for name, what in zip(NODES, did, strict=True)]
            disabled = [("kernel", *nothing) if row[0] == "right" else row for row in whole]
            self.assertEqual(rows, whole + whole + disabled)

    def test_what_waited_ran_later(self):
        query = ("SELECT coalesce(source_kernel, source_type), coalesce(target_kernel, target_type), source_ordinal < target_ordinal "
                 "FROM v_graph_edges ORDER BY call, target, source LIMIT 8")
        for rows in self.each(query):
            known = [1, 1, 1, 1, None, None, 1, None]
            self.assertEqual(rows, [(NODES[a], NODES[b], later) for (a, b), later in zip(EDGES, known, strict=True)])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
