"""test_playback.py WARPLENS LIBRARIES PLAYBACK DRIVER PROGRAM [--works]: every function of the
driver fails, once or for good, whoever calls it. PROGRAM (programs/playback.c) calls many of them
through the library before the driver; PLAYBACK (playback.c) stands before DRIVER, fails what a
script says, and writes down what each call gave. Whatever fails, the program sees what the driver
gave to its own call, failures of other calls leave no trace in what it sees, and the profile has
every launch that succeeded, and says of those that did not record why not. With --works DRIVER runs
kernels, and has functions that the null driver lacks."""

import collections
import concurrent.futures
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest

WARPLENS, LIBRARIES, PLAYBACK, DRIVER, PROGRAM = sys.argv[1:6]
WORKS = "--works" in sys.argv[6:]
SHIM = os.path.join(LIBRARIES, "inline", "libcuda.so.1")
FAILED = 719  # no function of the driver gives this by itself
# Waits: what we call with the same name comes after the program's. Elsewhere it comes before.
WAITS = {"cuStreamSynchronize", "cuEventSynchronize", "cuCtxSynchronize"}
LAUNCHES = {"cuLaunchKernel", "cuLaunchKernelEx"}
# Scripts, how many of the six launches record then, and what the profile says of it.
REFUSED = "since the driver refused the memory, the copies or the events that recording takes"
MISSING = {
    "cuStreamCreate 2 719": (0, REFUSED),  # ours, on which recordings are prepared
    "cuMemAlloc_v2 3+ 2": (0, REFUSED),
    "cuEventCreate 6+ 2": (0, REFUSED),
    "cuMemsetD8Async 2 719": (5, REFUSED),
    "cuMemcpyHtoDAsync_v2 1 719": (5, REFUSED),
    "cuMemcpyHtoDAsync_v2 2 719": (5, REFUSED),
    "cuMemcpyDtoHAsync_v2 1 719": (6, "What 1 launches recorded is lost"),
    "cuMemcpyDtoHAsync_v2 2 719": (6, "What 1 launches recorded is lost"),
    "cuStreamSynchronize 2 719": (6, "What 1 launches recorded is lost"),
    "cuModuleLoadDataEx 1 719": (0, "gather has no probes: the driver refused it with probes (error 719)"),
    "cuModuleGetFunction 2 719": (0, "gather has no probes: the driver refused it with probes (error 719)"),
    "cuCtxRecordEvent 1 719": (5, "the device was busy, so that their code could not be loaded"),
    "cuEventQuery 2 719": (5, "the device was busy, so that their code could not be loaded"),
    "cuLaunchKernel 1 719": (5, "the driver refused them with probes"),
    "cuLaunchKernelEx 1 719": (5, "the driver refused them with probes"),
    "cuFuncGetParamInfo 1 719": (6, "the driver does not say how its parameters are laid out"),
    "cuCtxGetCurrent 2 719": (0, "it is not known that their module is in the current context"),
}

Run = collections.namedtuple("Run", "status output steps calls launches told gaps")


def read_log(path):
    """Of each call of the program its name, its result, and the driver's calls in it."""
    steps, within = [], []
    with open(path) as log:
        for line in log:
            words = line.split()
            if words[0] == "=":
                steps.append((words[1], int(words[2]), within))
                within = []
            else:
                within.append((words[0], int(words[1])))
    return steps, within


def foreign(errors):
    """What we have not said ourselves."""
    return "".join(line for line in errors.splitlines(True) if not line.startswith("==WARPLENS== "))


def play(script="", **variables):
    with tempfile.TemporaryDirectory() as folder:
        log, out = os.path.join(folder, "log"), os.path.join(folder, "p.wlprof")
        captures = os.path.join(folder, "captures")
        os.mkdir(captures)
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("WARPLENS_", "NULL_DRIVER_"))}
        environment.update(LD_PRELOAD=SHIM, WARPLENS_DRIVER=PLAYBACK, PLAYBACK_DRIVER=DRIVER, PLAYBACK_LOG=log, PLAYBACK_SCRIPT=script,
                           WARPLENS_CAPTURE_DIR=captures, WARPLENS_PROBES="objects,trace,blocks", WARPLENS_DEVICE_TIMES="all",
                           WARPLENS_PROBE_LAUNCHES="0")
        environment.update(variables)
        done = subprocess.run([PROGRAM], env=environment, capture_output=True, check=False, text=True, timeout=60)
        steps, rest = read_log(log)
        launches, told, gaps = [], [], []
        if os.listdir(captures):
            made = subprocess.run([WARPLENS, "import", "-o", out, captures], capture_output=True, check=False, text=True, timeout=60)
            if made.returncode == 0:
                with sqlite3.connect(out) as database:
                    launches = database.execute("SELECT recorded, device_seconds IS NOT NULL FROM launches ORDER BY id").fetchall()
                    gaps = database.execute("SELECT reason, count(*) FROM gaps GROUP BY reason ORDER BY reason").fetchall()
                    told = [text for (text,) in database.execute("SELECT text FROM messages UNION ALL SELECT reason FROM skips")]
            else:
                told = [f"import: {made.stderr}"]
    calls = [call for _, _, within in steps for call in within] + rest
    return Run(done.returncode, done.stdout + foreign(done.stderr), steps, calls, launches, told, gaps)


def launched(run):
    """How many launches succeeded, those of the graph that was captured when that was launched."""
    count, captured, capturing = 0, 0, False
    for name, result, _ in run.steps:
        if result == 0:
            capturing = name == "cuStreamBeginCapture_v2" or (capturing and name != "cuStreamEndCapture")
            captured += name in LAUNCHES and capturing
            count += captured if name == "cuGraphLaunch" else name in LAUNCHES and not capturing
    return count


def chosen(count):
    some = {1, count} if WORKS else {1, 2, 3, (count + 1) // 2, count}
    return sorted(some & set(range(1, count + 1)))


class Playback(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.normal = play()
        cls.counts = collections.Counter(name for name, _ in cls.normal.calls)

    def results(self, run):
        return [(name, result) for name, result, _ in run.steps]

    def check_own_results(self, run):
        """Each result is that of the program's own call."""
        for name, result, within in run.steps:
            given = [value for function, value in within if function == name]
            if given:
                self.assertEqual(result, given[0 if name in WAITS else -1], (name, within))

    def check_profile(self, run):
        untold = run.told.count("the driver did not tell them")
        self.assertEqual(len(run.launches) + untold, launched(run), run.told)
        if sum(recorded for recorded, _ in run.launches) < len(run.launches):
            self.assertTrue(run.told, "launches that did not record, and no word of it")

    def check_missing(self, run, recorded, words):
        self.assertEqual(sum(probed for probed, _ in run.launches), recorded)
        self.assertEqual(len(run.launches), 6)
        self.assertTrue(any(words in text for text in run.told), run.told)

    def play_all(self, scripts):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            yield from zip(scripts, pool.map(play, scripts), strict=True)

    def test_nothing_fails(self):
        self.assertEqual((self.normal.status, self.normal.output), (0, ""))
        self.check_own_results(self.normal)
        self.check_profile(self.normal)
        self.assertGreater(len(self.counts), 30)
        if not WORKS:
            self.assertEqual((self.normal.launches, self.normal.told), ([(1, 1)] * 6, []))

    def test_one_call_fails(self):
        scripts = [f"{name} {call} {FAILED}" for name, count in self.counts.items() for call in chosen(count)]
        for script, run in self.play_all(scripts):
            with self.subTest(script):
                self.assertEqual((run.status, run.output), (0, ""))
                self.check_own_results(run)
                self.assertIn((script.split()[0], FAILED), run.calls)
                if FAILED not in [result for _, result, _ in run.steps]:
                    self.assertEqual(self.results(run), self.results(self.normal))
                self.check_profile(run)

    @unittest.skipIf(WORKS, "the order of calls is another one")
    def test_what_is_missing_is_told(self):
        for script, run in self.play_all(list(MISSING)):
            with self.subTest(script):
                self.check_missing(run, *MISSING[script])

    def test_all_calls_fail(self):
        for result in (FAILED,) if WORKS else (2, FAILED, 801):
            for script, run in self.play_all([f"{name} 1+ {result}" for name in self.counts]):
                with self.subTest(script):
                    self.assertEqual((run.status, run.output), (0, ""))
                    self.check_own_results(run)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
