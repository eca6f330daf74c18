#!/usr/bin/env python3
"""A trace of a small program, read by Perfetto's trace processor.

test_perfetto.py WARPLENS WORK TOOLS NVCC"""

import json
import os
import subprocess
import sys
import unittest

from processor import Processor, engine_folder

WARPLENS, WORK, TOOLS, NVCC = sys.argv[1:5]
HERE = os.path.dirname(os.path.abspath(__file__))
N = 4096
OBJECT_BYTES = {"first": 4 * N, "second": 4 * N, "spare": 8 * N, "kept": 4 * N}


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    if done.returncode:
        raise AssertionError((command, done.returncode, done.stdout, done.stderr))
    return done.stdout


def line_of(text):
    with open(os.path.join(HERE, "program.cu")) as f:
        return next(i for i, line in enumerate(f, 1) if text in line)


def argument(name):
    return f"extract_arg(s.arg_set_id, 'args.{name}')"


class Trace(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.makedirs(WORK, exist_ok=True)
        program = os.path.join(WORK, "program")
        profile, cls.trace = program + ".wlprof", program + ".json"
        run(NVCC, "-g", "-lineinfo", "-o", program, os.path.join(HERE, "program.cu"))
        run(WARPLENS, "profile", "-f", "-o", profile, program)
        run(WARPLENS, "export", "--type", "perfetto", "-f", "-o", cls.trace, profile)
        cls.stats = json.loads(run(WARPLENS, "stats", "--format", "json", profile))
        cls.processor = Processor(TOOLS, cls.trace)

    @classmethod
    def tearDownClass(cls):
        cls.processor.close()

    def query(self, sql):
        return self.processor.query(sql)

    def on_threads(self, like):
        """Slices of the tracks whose name fits, in order: name, track, begin, end."""
        return self.query(
            "SELECT s.name AS slice, t.name AS thread, s.ts, s.ts + s.dur AS stop FROM slice s "
            "JOIN thread_track k ON k.id = s.track_id JOIN thread t USING (utid) "
            f"WHERE t.name GLOB '{like}' ORDER BY s.ts, s.id"
        )

    def test_nothing_is_lost(self):
        self.assertEqual(
            self.query("SELECT name, value FROM stats WHERE severity <> 'info' AND value > 0"), []
        )
        with open(self.trace) as f:
            slices = sum(e["ph"] in "Xb" for e in json.load(f)["traceEvents"])
        self.assertEqual(self.query("SELECT count(*) AS n FROM slice"), [(slices,)])

    def test_process(self):
        (name,) = self.query("SELECT name FROM process WHERE name IS NOT NULL")[0]
        self.assertRegex(name, r"^program \(process \d+\)$")

    def test_calls(self):
        calls = [row[0] for row in self.on_threads("host thread 1")]
        self.assertEqual(calls.count("cudaMalloc"), 4)
        self.assertEqual(calls.count("cudaFree"), 3)
        self.assertEqual(calls.count("cudaGraphLaunch"), 1)
        self.assertLess(calls.index("cudaMemset"), calls.index("cudaStreamSynchronize"))
        ((site, size, target),) = self.query(
            f"SELECT {argument('site')} AS site, {argument('bytes')} AS bytes, {argument('to')} AS target "
            "FROM slice s WHERE name = 'cudaMemset'"
        )
        self.assertEqual(site, f"program.cu:{line_of('cudaMemset(')}")
        self.assertEqual(size, 4 * N)
        self.assertEqual(target, f"second (program.cu:{line_of('&second')})")

    def test_streams(self):
        self.assertEqual([r[0] for r in self.on_threads("default stream*")], ["set"])
        rows = self.on_threads("stream *")
        by_stream = {}
        for name, thread, start, stop in rows:
            by_stream.setdefault(thread, []).append((name, start, stop))
        self.assertEqual(
            sorted([row[0] for row in rows] for rows in by_stream.values()),
            [["fill"], ["fill", "twice", "twice", "copy"]],
        )
        for rows in by_stream.values():  # one after the other
            for before, after in zip(rows, rows[1:], strict=False):
                self.assertLessEqual(before[2], after[1])
        self.assertEqual(
            self.query(
                f"SELECT DISTINCT {argument('grid')} AS grid, {argument('block')} AS block, "
                f"{argument('time')} AS time FROM slice s WHERE name = 'twice'"
            ),
            [("16, 1, 1", "256, 1, 1", "not measured: of the host's call")],
        )

    def test_memory(self):
        rows = self.query(
            "SELECT t.name, c.value FROM counter c JOIN counter_track t ON t.id = c.track_id ORDER BY c.ts, c.id"
        )
        self.assertEqual({name for name, _ in rows}, {"memory in use, device 0 bytes"})
        sizes = [4, 8, 16, 8, 12, 8, 4]
        self.assertEqual([value for _, value in rows], [N * size for size in sizes])
        self.assertEqual(max(value for _, value in rows), self.stats["memory"]["peak_bytes"])

    def test_objects(self):
        rows = self.query(
            f"SELECT s.name, s.ts, s.ts + s.dur AS stop, {argument('bytes')} AS bytes, {argument('site')} AS site, "
            f"{argument('freed_how')} AS freed, {argument('patterns')} AS patterns, t.type AS type FROM slice s "
            "JOIN track t ON t.id = s.track_id WHERE s.category = 'object'"
        )
        objects = {row[0].split()[0]: row for row in rows}
        self.assertEqual(set(objects), set(OBJECT_BYTES))
        found = {}
        for finding in self.stats["findings"]:
            found.setdefault(finding["object"].split()[0], set()).add(finding["pattern"])
        self.assertIn("unused-allocation", found["spare"])
        self.assertEqual(
            {name: set(row[6].split(", ")) for name, row in objects.items() if row[6]}, found
        )
        for name, row in objects.items():
            self.assertEqual(row[3], OBJECT_BYTES[name])
            self.assertEqual(row[4], f"program.cu:{line_of('cudaMalloc(&' + name)}")
            self.assertEqual(row[5], "exit" if name == "kept" else "program")
            self.assertEqual(row[7], "legacy_async_process_slice")
        self.assertLess(objects["spare"][2], objects["kept"][1])  # one was freed before the other came
        ((last,),) = self.query("SELECT max(ts + dur) AS stop FROM slice")
        self.assertEqual(objects["kept"][2], last)

    def test_arrows(self):
        """From each allocation to its free, from each launch to what ran."""
        rows = self.query(
            "SELECT a.name AS one, b.name AS other FROM flow f JOIN slice a ON a.id = f.slice_out "
            "JOIN slice b ON b.id = f.slice_in"
        )
        self.assertEqual(
            sorted(rows),
            [("cudaGraphLaunch", "twice")] * 2
            + [("cudaLaunchKernel", "fill")] * 2
            + [("cudaMalloc", "cudaFree")] * 3,
        )


if not NVCC or not engine_folder(TOOLS):
    print("no nvcc here, or no trace processor: tools/bootstrap.sh check installs them")
    sys.exit(77)
unittest.main(argv=sys.argv[:1])
