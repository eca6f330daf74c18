"""test_sampling.py WARPLENS LIBRARIES RUNTIME PROGRAM: which launches of a kernel record. PROGRAM (programs/chase.cu) launches
one whose accesses depend on data, nine times. No GPU is needed."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

WARPLENS, LIBRARIES, RUNTIME, PROGRAM = sys.argv[1:5]
INLINE = {"LD_LIBRARY_PATH": RUNTIME, "WARPLENS_DRIVER": os.path.join(LIBRARIES, "emulate", "libcuda.so.1")}


class Sampling(unittest.TestCase):
    def ways(self, *options):
        """How it is known what each launch of chase did, and why not of all accesses."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "p.wlprof")
            done = subprocess.run([WARPLENS, "profile", "--backend", "inline", *options, "-o", path, "--", PROGRAM],
                                  env={**os.environ, **INLINE}, capture_output=True, text=True, timeout=120)
            self.assertEqual((done.returncode, done.stdout), (0, "9\n"), done.stderr)
            export = subprocess.run([WARPLENS, "export", "--type", "json", "-o", "-", path], capture_output=True, text=True)
            profile = json.loads(export.stdout)
        return [launch.get("way") for launch in profile["launches"] if "chase" in launch["kernel"]], {gap["reason"] for gap in profile["coverage"].get("gaps", [])}

    def recorded(self, *options):
        ways, _ = self.ways(*options)
        return [number for number, way in enumerate(ways) if way == "probe"]

    def test_first_and_powers_of_two(self):
        self.assertEqual(self.recorded("--probe-launches", "3"), [0, 1, 2, 4, 8])
        self.assertEqual(self.ways("--probe-launches", "3")[1], {"only some launches recorded it (--probe-launches)"})
        self.assertEqual(self.ways("--probe-launches", "0")[1], set())

    def test_all(self):
        self.assertEqual(self.recorded("--probe-launches", "0"), list(range(9)))

    def test_default(self):
        self.assertEqual(self.recorded(), list(range(9)))

    def test_none(self):
        for options in (["--collect", "replay"], ["--probes", "none"], ["--device-memory", "0"]):
            self.assertEqual(self.recorded(*options), [])

    def test_launches_asked_for(self):
        self.assertEqual(self.recorded("-s", "2", "-c", "3"), [0, 1, 2])  # numbers among those that are kept


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
