"""test_sampling.py WARPLENS LIBRARIES RUNTIME PROGRAM: which launches of a kernel record. PROGRAM
(programs/chase.cu) launches one whose accesses depend on data, nine times. No GPU is needed."""

import contextlib
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import unittest

WARPLENS, LIBRARIES, RUNTIME, PROGRAM = sys.argv[1:5]
INLINE = {"LD_LIBRARY_PATH": RUNTIME, "WARPLENS_DRIVER": os.path.join(LIBRARIES, "emulate", "libcuda.so.1")}


class Sampling(unittest.TestCase):
    def launches(self, *options, arguments=()):
        """The launches of chase, and why not all of their accesses are known."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "p.wlprof")
            done = subprocess.run([WARPLENS, "profile", "--backend", "inline", "--replay-budget", "none", *options, "-o", path,
                                   "--", PROGRAM, *arguments],
                                  env={**os.environ, **INLINE}, capture_output=True, check=False, text=True, timeout=120)
            self.assertEqual((done.returncode, done.stdout), (0, "9\n"), done.stderr)
            export = subprocess.run([WARPLENS, "export", "--type", "json", "-o", "-", path], capture_output=True, check=True, text=True)
            profile = json.loads(export.stdout)
            stats = subprocess.run([WARPLENS, "stats", path], capture_output=True, check=True, text=True)
            said = re.search(r"([\d,]+) of ([\d,]+) blocks counted", stats.stdout)
            self.blocks = tuple(int(n.replace(",", "")) for n in said.groups()) if said else None
        return [launch for launch in profile["launches"] if "chase" in launch["kernel"]], profile

    def recorded(self, *options, **more):
        launches, _ = self.launches(*options, **more)
        return [n for n, launch in enumerate(launches) if launch.get("way") == "probe" and not launch.get("estimated")]

    def test_first_and_powers_of_two(self):
        self.assertEqual(self.recorded("--probe-launches", "3"), [0, 1, 2, 4, 8])

    def test_estimates_from_launches_alike(self):
        launches, profile = self.launches("--probe-launches", "3")
        self.assertEqual([n for n, launch in enumerate(launches) if launch.get("estimated")], [3, 5, 6, 7])
        self.assertNotIn("gaps", profile["coverage"])
        all_recorded = self.launches("--probe-launches", "0")[1]
        self.assertEqual(self.rows(profile), self.rows(all_recorded))
        self.assertGreater(len(self.rows(profile)), 9)

    def test_why_blocks_have_maps(self):
        for options, why in (([], {"traced"}), (["--block", "0"], {"asked"})):
            launches, profile = self.launches(*options)
            own = {launch["id"] for launch in launches}
            self.assertEqual({sample["why"] for sample in profile["samples"] if sample["launch"] in own}, why)

    def test_blocks_that_were_not_traced_are_not_counted(self):
        """An estimate and the number of blocks that were counted say the same."""
        for blocks in (2, 64):
            launches, _ = self.launches(arguments=["apart", str(blocks)])
            estimated = any(launch.get("estimated") for launch in launches)
            counted, of = self.blocks
            self.assertEqual(estimated, blocks == 64)
            self.assertEqual(of, 10 * blocks)
            self.assertEqual(counted < of, estimated, f"{counted} of {of}")

    def rows(self, profile):
        return [[row[key] for key in ("launch", "pc", "requests", "sectors")] for row in profile["instructions"]
                if "requests" in row]

    def test_no_estimate_from_another_shape(self):
        launches, profile = self.launches("--probe-launches", "3", arguments=["apart"])
        self.assertEqual([n for n, launch in enumerate(launches) if launch.get("way") == "probe"], [0, 1, 2, 4, 8])
        reasons = {gap["reason"] for gap in profile["coverage"]["gaps"]}
        self.assertEqual(reasons, {"only some launches of the kernel record accesses (--probe-launches 0: all do)"})

    def test_what_did_not_run_is_no_gap(self):
        def gaps(*options):
            return {gap["pc"] for gap in self.launches(*options)[1]["coverage"]["gaps"] if "chase" in gap["kernel"]}

        idle = gaps("--collect", "replay") - gaps("--probes", "objects")
        self.assertEqual(len(idle), 1)
        profile = self.launches("--probes", "trace")[1]
        self.assertNotIn(idle.pop(), {row["pc"] for row in profile["instructions"]})

    def test_all(self):
        self.assertEqual(self.recorded("--probe-launches", "0"), list(range(9)))

    def test_default(self):
        self.assertEqual(self.recorded(), list(range(9)))

    def test_launches_that_recorded_the_same(self):
        """They are worked out once, and the profile says the same as where each is."""
        told, own = {}, {}
        for memo in "01":
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "p.wlprof")
                subprocess.run([WARPLENS, "profile", "--backend", "inline", "--replay-budget", "none", "--probes", "touch,frequency",
                                "-o", path, "--", PROGRAM], env={**os.environ, **INLINE, "WARPLENS_MEMO": memo}, capture_output=True,
                               check=True, timeout=120)
                export = subprocess.run([WARPLENS, "export", "--type", "json", "-o", "-", path], capture_output=True, check=True)
                told[memo] = json.loads(export.stdout)
                with contextlib.closing(sqlite3.connect(path)) as db:
                    own[memo] = db.execute("SELECT count(DISTINCT rows_of), sum(count) FROM launch_kinds").fetchone()
        self.assertEqual(own, {"0": (10, 10), "1": (2, 10)})
        self.assertEqual([launch["way"] for launch in told["1"]["launches"]], ["replay"] + 9 * ["probe"])
        for part in ("instructions", "uses", "objects", "coverage"):
            self.assertEqual(told["0"][part], told["1"][part], part)

    def test_none(self):
        for options in (["--collect", "replay"], ["--probes", "none"], ["--device-memory", "0"]):
            self.assertEqual(self.recorded(*options), [])

    def test_launches_asked_for(self):
        self.assertEqual(self.recorded("-s", "2", "-c", "3"), [0, 1, 2])  # numbers among those that are kept


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
