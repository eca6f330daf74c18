"""test_batch.py WARPLENS DRIVER PROGRAM: the rows of volumes that one call copies, and calls on a
stream that is being captured. DRIVER does nothing; PROGRAM is programs/batch.c."""

import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest

WARPLENS, DRIVER, PROGRAM = sys.argv[1:4]
CAPTURED = 1  # of a call's flags


class Batch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        path = os.path.join(cls.folder.name, "p.wlprof")
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("WARPLENS_", "NULL_DRIVER_"))}
        done = subprocess.run([WARPLENS, "profile", "--backend", "inline", "-o", path, "--", PROGRAM],
                              env={**environment, "WARPLENS_DRIVER": DRIVER}, capture_output=True, check=False, text=True, timeout=60)
        assert done.stdout == "done\n", (done.stdout, done.stderr)
        cls.database = sqlite3.connect(path)

    @classmethod
    def tearDownClass(cls):
        cls.database.close()
        cls.folder.cleanup()

    def query(self, text):
        return self.database.execute(text).fetchall()

    def test_each_copy_has_its_shape(self):
        shapes = self.query("SELECT bytes, width, rows, slices, source_pitch, source_rows, target_pitch, target_rows "
                            "FROM calls WHERE api = 'cuMemcpy3DBatchAsync_v2' ORDER BY id")
        self.assertEqual(shapes, [(256, 32, 4, 2, 64, 8, 32, 4), (32, *[None] * 7)])

    def test_what_is_captured_says_so(self):
        captured = self.query(f"SELECT api, flags & {CAPTURED} FROM calls WHERE api IN "
                              "('cuMemFreeAsync', 'cuGraphLaunch', 'cuMemcpy3DBatchAsync_v2') ORDER BY id")
        self.assertEqual(captured, [("cuMemcpy3DBatchAsync_v2", 0)] * 2 + [("cuMemFreeAsync", 1), ("cuGraphLaunch", 1)])
        # A graph frees it, not the call.
        self.assertEqual(self.query("SELECT freed_how FROM v_objects ORDER BY id"), [("program",), ("exit",)])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
