"""What the tests of the command line share: programs/, runs of them, a folder for each test."""
import json
import os
import shutil
import subprocess
import sys
import unittest

WARPLENS, WORK = sys.argv[1], sys.argv[2]
NVCC = sys.argv[3] if len(sys.argv) > 3 else ""
HERE = os.path.dirname(os.path.abspath(__file__))


def run(*command, **options):
    options.setdefault("timeout", 120)
    return subprocess.run(command, capture_output=True, check=False, text=True, **options)


def compile_program(name, *flags, lines=("-lineinfo",)):
    """The compiled program; made anew where the source is younger."""
    c, cu = (os.path.join(HERE, "programs", name + end) for end in (".c", ".cu"))
    target = os.path.join(WORK, "-".join([name, *flags, *([] if lines else ["nolines"])]).replace(" ", ""))
    source = c if os.path.exists(c) else cu
    if source == cu and not NVCC:
        raise unittest.SkipTest("no nvcc here")
    newest = max(os.path.getmtime(source), os.path.getmtime(os.path.join(HERE, "programs", "common.h")))
    if not os.path.exists(target) or os.path.getmtime(target) < newest:
        command = ["cc", "-O1", *flags, "-o", target, source] if source == c else \
            [NVCC, *lines, *flags, "-o", target, source]
        subprocess.run(command, check=True)
    return target


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = os.path.join(WORK, self.id())
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        self.wlprof = os.path.join(self.folder, "p.wlprof")

    def profile(self, *arguments, options=(), **run_options):
        return run(WARPLENS, "profile", "-o", self.wlprof, *options, "--", *arguments, **run_options)

    def stats(self):
        done = run(WARPLENS, "stats", "--format", "json", self.wlprof)
        self.assertIn(done.returncode, (0, 3), done.stderr)
        return json.loads(done.stdout)

    def assert_says(self, done, *texts):
        for text in texts:
            self.assertIn(text, done.stderr)
        for line in done.stderr.splitlines():
            self.assertNotIn("(null)", line)

    def assert_nothing_left(self, *names):
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(names))


def main():
    os.makedirs(WORK, exist_ok=True)
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
