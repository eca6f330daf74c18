"""test_ends.py WARPLENS DRIVER PROGRAM: however a program ends, its status is its own and finished
launches are kept. DRIVER is one that does nothing."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest

WARPLENS, DRIVER, PROGRAM = sys.argv[1:4]


class Ends(unittest.TestCase):
    def setUp(self):
        temp = tempfile.TemporaryDirectory()
        self.addCleanup(temp.cleanup)
        self.out = os.path.join(temp.name, "p.wlprof")

    def start(self, how):
        return subprocess.Popen([WARPLENS, "profile", "--backend", "inline", "-o", self.out, "--", PROGRAM, how],
                                env={**os.environ, "WARPLENS_DRIVER": DRIVER}, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, start_new_session=True)

    def launches(self):
        export = subprocess.run([WARPLENS, "export", "--type", "json", "-o", "-", self.out], capture_output=True, check=True, text=True)
        # A row stands for several where there are more than 10,000.
        return sum(launch.get("count", 1) for launch in json.loads(export.stdout)["launches"])

    def finish(self, process, status, launches=3):
        output, errors = process.communicate(timeout=60)
        self.assertEqual((process.returncode, output), (status, "launched\n"), errors)
        if launches is not None:
            self.assertEqual(self.launches(), launches)

    def test_orderly(self):
        for how in "exit", "quick_exit", "_exit":
            with self.subTest(how):
                self.finish(self.start(how), 7)
                os.remove(self.out)

    def test_crash(self):
        self.finish(self.start("crash"), 128 + signal.SIGSEGV)

    def test_abort(self):
        self.finish(self.start("abort"), 128 + signal.SIGABRT)

    def test_crash_while_another_thread_launches(self):
        self.finish(self.start("thread"), 128 + signal.SIGSEGV, None)
        self.assertGreater(self.launches(), 3)

    def interrupt(self, number, whole_group):
        process = self.start("hang")
        line = process.stdout.readline()
        self.assertEqual(line, "launched\n")
        if whole_group:  # as the terminal does
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 128 + number, errors)
        self.assertEqual(self.launches(), 3)

    def test_interrupt(self):
        self.interrupt(signal.SIGINT, True)

    def test_terminate(self):
        self.interrupt(signal.SIGTERM, False)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background has it ignored, and programs keep that
    unittest.main(argv=sys.argv[:1], verbosity=2)
