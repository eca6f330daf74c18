"""test_quiet.py WARPLENS LIBRARIES DRIVER PROGRAM THREADS: what lies on streams beside launches
that record. DRIVER does nothing but write down what it is given; PROGRAM (programs/quiet.c) says
there which situation begins. THREADS (programs/threads.c) launches on many threads at once."""

import collections
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest

WARPLENS, LIBRARIES, DRIVER, PROGRAM, THREADS = sys.argv[1:6]
SHIM = os.path.join(LIBRARIES, "inline", "libcuda.so.1")
STREAM, OTHER = 100, 101  # the program's; ours come behind them
CALLS = {"launch", "event", "wait", "set", "write", "read", "read-rows", "destroy", "load", "look"}
# What lies on the program's stream in each situation.
TIMED = ["event", "launch", "event"]
EXPECTED = {
    "first": TIMED, "again": TIMED, "another-shape": TIMED, "another-stream": TIMED, "three": ["launch"] * 3,
    "three-again": ["launch"] * 3, "more-memory": TIMED, "captured": TIMED, "busy": TIMED, "early": TIMED + ["launch"],
    "graph": TIMED, "sync": [], "captured-elsewhere": ["launch"], "busy-device": ["launch"], "idle-device": ["launch"],
    "unloaded": ["launch"] * 3 + ["event"], "destroyed": ["launch", "event", "destroy"], "exit": [],
}
# How many launches are read then.
READ = {"first": 1, "again": 1, "another-shape": 1, "another-stream": 1, "three": 3, "three-again": 3, "more-memory": 1,
        "captured-elsewhere": 0, "busy-device": 0, "idle-device": 1, "captured": 0, "busy": 1, "early": 1, "graph": 0, "sync": 2, "not-prepared": 1, "unloaded": 2, "destroyed": 0, "exit": 1}
# What is loaded then: nothing while the device is busy, and nobody asks whether it is while a
# stream is captured.
LOADED = {"first": ["look", "load"], "busy-device": ["look"], "idle-device": ["look", "load"]}


class Quiet(unittest.TestCase):
    def run_with(self, **variables):
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "log")
            environment = {k: v for k, v in os.environ.items() if not k.startswith(("WARPLENS_", "NULL_DRIVER_"))}
            environment.update(LD_PRELOAD=SHIM, WARPLENS_DRIVER=DRIVER, WARPLENS_CAPTURE_DIR=folder, NULL_DRIVER_LOG=log,
                               WARPLENS_DEVICE_TIMES="none", WARPLENS_PROBE_LAUNCHES="0", **variables)
            done = subprocess.run([PROGRAM], env=environment, capture_output=True, check=False, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
            with open(log) as f:
                lines = [(what, int(stream)) for what, stream in (line.split() for line in f)]
        situations = []
        for what, stream in lines:
            if what not in CALLS:
                situations.append((what, []))
            elif situations:
                situations[-1][1].append((what, stream))
        return situations

    def judge(self, probes, refilled, not_prepared):
        """`refilled`: situations in which a launch needs what was not prepared for it."""
        expected = {**EXPECTED, "not-prepared": not_prepared}
        situations = self.run_with(WARPLENS_PROBES=probes)
        seen = collections.Counter(name for name, _ in situations)
        self.assertEqual(seen, collections.Counter({"again": 3, **dict.fromkeys(expected.keys() - {"again"}, 1)}))
        for name, calls in situations:
            stream = OTHER if name in ("another-stream", "destroyed") else STREAM
            with self.subTest(name, calls=calls):
                self.assertEqual([what for what, where in calls if where == stream], expected[name])
                self.assertEqual([where for what, where in calls if what in ("set", "write", "read", "read-rows") and where <= OTHER], [])
                launched = max((i for i, call in enumerate(calls) if call[0] == "launch"), default=0)
                self.assertEqual(any(what == "write" for what, _ in calls[:launched]), name in refilled)
                self.assertEqual([what for what, _ in calls if what in ("load", "look")], LOADED.get(name, []))
                read = sum(what == "read" for what, _ in calls)
                self.assertEqual(read, 2 * READ[name], "the head, then the rest")

    def test_trace(self):
        """One that was prepared earlier serves."""
        self.judge("trace,blocks", {"first", "another-shape", "three", "idle-device"}, ["launch"])

    def test_objects(self):
        """Those that were prepared earlier do not know of the memory since: the stream waits for
        the latest."""
        self.judge("objects", {"first", "three", "more-memory", "idle-device", "early", "not-prepared", "unloaded"}, ["wait", "launch"])

    def test_threads(self):
        """Whatever the threads do, each launch is read once."""
        for probes in ("trace,blocks", "objects"):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "p.wlprof")
                environment = {k: v for k, v in os.environ.items() if not k.startswith("WARPLENS_")}
                environment.update(WARPLENS_DRIVER=DRIVER)
                command = [WARPLENS, "profile", "-q", "--backend", "inline", "--collect", "auto", "--probes", probes,
                           "--probe-launches", "0", "-o", path, "--", THREADS, "8"]
                done = subprocess.run(command, env=environment, capture_output=True, check=False, text=True, timeout=100)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                with sqlite3.connect(path) as database:
                    found = database.execute("SELECT count(*), sum(recorded) FROM launches").fetchone()
                    told = [text for text, in database.execute("SELECT text FROM messages") if "lost" in text or "memory" in text]
                self.assertEqual((found, told), ((int(done.stdout), int(done.stdout)), []))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
