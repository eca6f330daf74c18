"""test_shim.py PROGRAM WARPLENS LIBRARIES FOLDER: runs PROGRAM on the emulator's driver, bare and
with the library that stands before the driver in between. Output and status must be the same, and
the capture of the latter must say what the program did. No GPU is needed."""

import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import unittest

PROGRAM, WARPLENS, LIBRARIES, FOLDER = sys.argv[1:5]
DRIVER = os.path.join(LIBRARIES, "emulate", "libcuda.so.1")
SHIM = os.path.join(LIBRARIES, "inline", "libcuda.so.1")


def run(command, **variables):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("WARPLENS_")}
    environment.update(variables)
    return subprocess.run(command, env=environment, capture_output=True, check=False, text=True, timeout=120)


class Shim(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temp = tempfile.TemporaryDirectory(dir=FOLDER)
        cls.bare = run([PROGRAM, "fork"], LD_LIBRARY_PATH=os.path.dirname(DRIVER))
        cls.shimmed = cls.run_shimmed("captures", WARPLENS_DEVICE_TIMES="all")
        cls.profile = cls.import_ours("captures")
        cls.profile_path = cls.path

    @classmethod
    def tearDownClass(cls):
        cls.temp.cleanup()

    @classmethod
    def run_shimmed(cls, folder, **variables):
        os.mkdir(os.path.join(cls.temp.name, folder))
        captures = os.path.join(cls.temp.name, folder)
        return run([PROGRAM, "fork"], LD_PRELOAD=SHIM, WARPLENS_DRIVER=DRIVER, WARPLENS_CAPTURE_DIR=captures, **variables)

    @classmethod
    def import_ours(cls, folder):
        captures = os.path.join(cls.temp.name, folder)
        out = os.path.join(cls.temp.name, folder + ".wlprof")
        done = run([WARPLENS, "import", "-o", out, captures])
        assert done.returncode == 0, done.stderr
        cls.path = out
        export = run([WARPLENS, "export", "--type", "json", "-o", "-", out])
        assert export.stdout, export.stderr
        return json.loads(export.stdout)

    def test_nothing_changes(self):
        self.assertEqual(self.bare.returncode, 3, self.bare.stdout + self.bare.stderr)
        self.assertEqual(self.shimmed.returncode, self.bare.returncode, self.shimmed.stderr)
        self.assertEqual(self.shimmed.stdout, self.bare.stdout)

    def messages(self, folder, **variables):
        """What a run with probes tells; its output must be the bare one's."""
        done = self.run_shimmed(folder, **variables)
        self.assertEqual((done.returncode, done.stdout), (3, self.bare.stdout), done.stderr)
        self.import_ours(folder)
        with sqlite3.connect(self.path) as database:
            return " ".join(text for text, in database.execute("SELECT text FROM messages"))

    def test_probes(self):
        self.assertNotIn("probes", self.messages("replay", WARPLENS_COLLECT="replay"))
        told = self.messages("probed", WARPLENS_COLLECT="probe")
        self.assertRegex(told, r"With probes scale takes \d+ registers")
        self.assertNotIn("ran without probes", told)

    def test_memory_bound(self):
        told = self.messages("bound", WARPLENS_COLLECT="probe", WARPLENS_DEVICE_MEMORY="0")
        self.assertRegex(told, r"15 launches ran without probes")

    def test_launches(self):
        launches = self.profile["launches"]
        self.assertEqual(self.profile["collector"], "inline")
        self.assertEqual(len(launches), 19)  # three, three of each of four threads, two in each of two launches of a graph
        for launch in launches:
            self.assertEqual((launch["kernel"], launch["grid"], launch["block"]), ("scale", [8, 1, 1], [128, 1, 1]))
        timed = [launch for launch in launches if launch.get("device_seconds") is not None]
        self.assertEqual(len(timed), 15)
        self.assertTrue(all(launch["device_seconds"] > 0 for launch in timed))
        self.assertEqual(len({launch["stream"] for launch in timed}), 5)

    def test_copies(self):
        """Those that are not in graphs have times, too: at least the first two of each function."""
        copies = {row["direction"]: row for row in self.profile["copies"]}
        for row in copies.values():
            self.assertGreater(row["timed"], 0, row)
            self.assertLessEqual(row["timed"], row["calls"])
            self.assertGreater(row["device_seconds"], 0)
        self.assertIn("host_to_device", copies)
        self.assertIn("device_to_host", copies)

    def test_starts(self):
        """What is timed has a beginning, too: in its stream after the end of what came before."""
        with sqlite3.connect(self.profile_path) as database:
            work = "SELECT stream, device_start, device_seconds, ordinal FROM {} WHERE device_seconds NOT NULL"
            rows = database.execute(f"{work.format('launches')} UNION ALL {work.format('calls')} ORDER BY 1, 4").fetchall()
        self.assertEqual(min(start for _, start, _, _ in rows), 0)
        for (stream, start, seconds, _), (next_stream, later, _, _) in zip(rows, rows[1:], strict=False):
            if stream == next_stream:
                self.assertLessEqual(start + seconds, later + 1e-6)

    def test_few_times(self):
        """Unasked for, the first two launches of a kernel and shape are timed, and few of the
        others."""
        for folder, variables, most in (("some", {}, 15), ("none", {"WARPLENS_DEVICE_TIMES": "none"}, 0)):
            self.run_shimmed(folder, **variables)
            launches = self.import_ours(folder)["launches"]
            timed = [launch["id"] for launch in launches if launch.get("device_seconds") is not None]
            self.assertEqual(timed[:2], [1, 2][:most])
            self.assertLessEqual(len(timed), most)

    def test_coverage(self):
        coverage = self.profile["coverage"]
        # 19 that ran, one that failed
        self.assertEqual((coverage["launches_seen"], coverage["launches_observed"]), (20, 19))
        reasons = {skip["reason"] for skip in coverage["skipped"]}
        self.assertEqual(len(reasons), 1, reasons)
        self.assertTrue(any("failed (error 1)" in reason for reason in reasons))

    def test_objects(self):
        kinds = sorted(item["bytes"] for item in self.profile["objects"])
        self.assertEqual(kinds, [4, 8, 1024, 4000, 4000, 4000, 4000, 4000, 4096])

    def test_arrays(self):
        """An object of 64 x 4 floats, without an address, and the copies to and from it."""
        with sqlite3.connect(self.profile_path) as database:
            [(number, base)] = database.execute("SELECT id, base FROM objects WHERE bytes = 1024").fetchall()
            copies = database.execute("SELECT api, bytes FROM calls WHERE target_object = ? AND kind = 2 "
                                      "UNION SELECT api, bytes FROM calls WHERE source_object = ? AND kind = 2",
                                      (number, number)).fetchall()
        self.assertEqual(base, 0)
        self.assertEqual(copies, [("cuMemcpyAtoH_v2", 256), ("cuMemcpyHtoA_v2", 256)])

    def test_options(self):
        done = self.run_shimmed("limited", WARPLENS_LAUNCH_COUNT="2", WARPLENS_DEVICE_TIMES="none")
        self.assertEqual(done.returncode, 3, done.stderr)
        profile = self.import_ours("limited")
        self.assertEqual(len(profile["launches"]), 2)
        self.assertTrue(all(launch.get("device_seconds") is None for launch in profile["launches"]))
        self.assertTrue(any("--launch-count" in skip["reason"] for skip in profile["coverage"]["skipped"]))

    def test_without_a_capture(self):
        done = run([PROGRAM], LD_PRELOAD=SHIM, WARPLENS_DRIVER=DRIVER)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(done.stdout + "in the child 3\n", self.bare.stdout)

    def test_without_a_driver(self):
        done = run([PROGRAM], LD_PRELOAD=SHIM, WARPLENS_DRIVER="/nowhere/libcuda.so.1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("driver", done.stderr)

    def test_exports(self):
        def names(library):
            text = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
            return set(re.findall(r" T (\w+)", text.stdout))

        reports = {f"_ZN3c1027report{what}ToProfilerE{bytes_}NS_6DeviceE" for what, bytes_ in (
            ("MemoryUsage", "Pvlmm"), ("MemoryUsage", "Pvlll"), ("OutOfMemory", "lmm"), ("OutOfMemory", "lll"))}
        self.assertEqual(names(SHIM) - names(DRIVER), reports)  # PyTorch's
        self.assertEqual(names(DRIVER) - names(SHIM), set())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
