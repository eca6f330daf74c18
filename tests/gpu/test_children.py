"""test_children.py WARPLENS LIBRARIES RUNTIME PROGRAM: a script that starts PROGRAM twice, under
both backends: all processes lie in one profile, or none of them with --target-processes
application-only. No GPU is needed."""

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest

WARPLENS, LIBRARIES, RUNTIME, PROGRAM = sys.argv[1:5]
INLINE = {"LD_LIBRARY_PATH": RUNTIME, "WARPLENS_DRIVER": os.path.join(LIBRARIES, "emulate", "libcuda.so.1")}
TWICE = f"'{PROGRAM}' & '{PROGRAM}'; wait"


class Children(unittest.TestCase):
    def profile(self, backend, script, *options):
        """The profile's processes, its launches, and what the script printed."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "p.wlprof")
            command = [WARPLENS, "profile", "--backend", backend, "--keep-exitcode", *options, "-o", path, "--", "sh", "-c", script]
            environment = {**os.environ, **(INLINE if backend == "inline" else {})}
            done = subprocess.run(command, env=environment, capture_output=True, check=False, text=True, timeout=120)
            self.assertEqual(done.returncode, 0, done.stderr)
            if not os.path.exists(path):
                return [], [], done.stdout
            export = subprocess.run([WARPLENS, "export", "--type", "json", "-o", "-", path], capture_output=True, check=True, text=True)
            with sqlite3.connect(path) as database:
                processes = database.execute("SELECT pid, parent_pid, collector FROM processes ORDER BY pid").fetchall()
            return processes, json.loads(export.stdout)["launches"], done.stdout

    def check(self, backend):
        single, launches, output = self.profile(backend, f"exec '{PROGRAM}'")
        self.assertEqual(len(single), 1)
        both, twice, outputs = self.profile(backend, TWICE)
        self.assertEqual(outputs, 2 * output)
        self.assertEqual([collector for _, _, collector in both], [backend, backend])
        self.assertEqual(len({parent for _, parent, _ in both}), 1)
        self.assertEqual(len(twice), 2 * len(launches))

    def check_only(self, backend):
        none, launches, outputs = self.profile(backend, TWICE, "--target-processes", "application-only")
        self.assertEqual((none, launches), ([], []))
        self.assertEqual(outputs, self.profile(backend, TWICE)[2])
        own, launches, _ = self.profile(backend, f"'{PROGRAM}'; exec '{PROGRAM}'", "--target-processes", "application-only")
        self.assertEqual(len(own), 1)  # what the shell became
        self.assertTrue(launches)

    def test_emulated(self):
        self.check("emulate")

    def test_inline(self):
        self.check("inline")

    def test_application_only_emulated(self):
        self.check_only("emulate")

    def test_application_only_inline(self):
        self.check_only("inline")

    def test_wrong_value(self):
        done = subprocess.run([WARPLENS, "profile", "--target-processes", "some", "--", "true"], capture_output=True, check=False, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("application-only", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
