"""Hand-worked samples: what the tables and the comparison with the limits make of them, and that
other results are noticed."""
import contextlib
import io
import json
import pathlib
import sys
import tempfile
import types
import unittest
from unittest import mock

import check_limits
import run
import suite
import tables

GPU = {"chip": "C", "driver": "D"}


def sample(number, program, times, **rest):
    s = dict(date="2026-01-02", **GPU, session="s", number=number, program=program, rounds=None, tool="native", collect="",
             probe="", cache="with", wall_ms=30.0, tool_kib=4096, process_ms=10.0, process_kib=2048, kernels=times,
             results={"r": "1"}, ways={}, replay_ms=None, error="")
    s.update(rest)
    return s


def warplens(number, program, times, probe="objects", collect="auto", **rest):
    return sample(number, program, times, tool="warplens", collect=collect, probe=probe, **rest)


class Tables(unittest.TestCase):
    def test_rows_and_mean(self):
        samples = [
            sample(0, "p", {"a": [1.0, 9.0, 2.0], "b": [4.0]}),
            sample(1, "p", {"a": [3.0], "b": [4.0]}),
            warplens(2, "p", {"a": [5.0, 5.0], "b": [1.0]}, ways={"a": ["probe"], "b": ["replay"]}),
            warplens(3, "p", {"a": [99.0], "b": [1.0]}, error="wrong"),
        ]
        a, b = tables.kernel_rows(tables.good(samples))
        self.assertEqual((a["native_ms"], a["probed_ms"], a["ratio"], a["way"], a["samples"]), (2.5, 5.0, 2.0, "probe", 2))
        self.assertEqual((b["ratio"], b["way"], b["samples"]), (0.25, "replay", 1))
        mean, regular = tables.mean_rows([a, b])
        self.assertEqual((mean["kind"], regular["kind"]), ("all", "regular"))
        self.assertEqual((mean["most"], mean["of"], regular["limit"]), (2.0, "a", None))
        self.assertAlmostEqual(mean["ratio"], 0.5 ** 0.5)  # of 2 and 1/4
        self.assertEqual((mean["kernels"], mean["least_samples"], mean["unobserved"], mean["limit"]), (2, 1, 0, 1.01))

    def test_regular_and_irregular_kernels_have_means_of_their_own(self):
        samples = [sample(0, "radix_sort", {"radix_count": [1.0], "radix_scan": [1.0], "radix_scatter": [1.0]}),
                   warplens(1, "radix_sort", {"radix_count": [4.0], "radix_scan": [3.0], "radix_scatter": [9.0]})]
        means = {m["kind"]: m for m in tables.mean_rows(tables.kernel_rows(samples))}
        self.assertAlmostEqual(means["all"]["ratio"], 108 ** (1 / 3))
        self.assertAlmostEqual(means["regular"]["ratio"], 3.0)
        self.assertAlmostEqual(means["irregular"]["ratio"], 6.0)  # of 4 and 9
        self.assertEqual((means["irregular"]["most"], means["irregular"]["of"]), (9.0, "radix_scatter"))

    def test_native_runs_of_the_same_session_count(self):
        samples = [sample(0, "p", {"a": [1.0]}), sample(0, "p", {"a": [8.0]}, session="t"),
                   warplens(1, "p", {"a": [16.0]}, session="t"), sample(2, "p", {"a": [2.0]}, session="t", rounds=1)]
        (row,) = tables.kernel_rows(samples)
        self.assertEqual(row["ratio"], 2.0)

    def test_steps_of_many_kernels_have_all_ways(self):
        samples = [sample(0, "p", {"step": [1.0]}),
                   warplens(1, "p", {"step": [1.0]}, ways={"x": ["replay"], "y": ["probe"], "z": []})]
        self.assertEqual(tables.kernel_rows(samples)[0]["way"], "probe+replay")

    def test_processes(self):
        samples = [sample(0, "p", {}, cache="without"), sample(1, "p", {}),
                   warplens(2, "p", {}, process_ms=15.0, wall_ms=115.0, replay_ms=60.0, process_kib=4096),
                   warplens(3, "p", {}, cache="without", process_ms=40.0)]
        first, second = tables.process_rows(samples)
        self.assertEqual((first["ratio"], first["after_ms"], first["replay_ms"], first["process_mib"]), (1.5, 100.0, 60.0, 4.0))
        self.assertEqual((second["cache"], second["ratio"]), ("without", 4.0))

    def test_pairs(self):
        samples = [sample(0, "p", {}, process_ms=10.0), sample(1, "p", {}, process_ms=20.0),
                   warplens(2, "p", {}, process_ms=21.0, busy_ms=3.0), warplens(3, "p", {}, process_ms=14.0, busy_ms=5.0),
                   sample(4, "p", {}, process_ms=30.0, busy_ms=2.0), warplens(5, "p", {}, process_ms=36.0),
                   warplens(6, "p", {}, process_ms=99.0)]
        (row,) = tables.process_rows(samples)
        self.assertEqual((row["pairs"], row["difference_ms"], row["low_ms"]), (3, 4.0, None))  # 21 - 20, 14 - 10, 36 - 30
        self.assertEqual((row["native_busy_ms"], row["busy_ms"], row["span_ms"]), (2.0, 4.0, None))

    def test_interval_of_a_median(self):
        self.assertEqual(tables.median_interval([1, 2, 3, 4, 5]), (None, None))  # each end leaves out 1/32 > 2.5 %
        self.assertEqual(tables.median_interval([6, 5, 4, 3, 2, 1]), (1, 6))     # 1/64, with another value 7/64
        self.assertEqual(tables.median_interval(range(10)), (1, 8))              # 11/1024, with another value 56/1024

    def test_comparison(self):
        samples = [sample(0, "p", {"a": [1.0]}, rounds=1), sample(1, "p", {"a": [30.0]}, rounds=1, tool="memcheck"),
                   sample(2, "p", {"a": [50.0]}, rounds=1, tool="ncu", process_ms=500.0),
                   sample(3, "q", {}, rounds=1, tool="ncu", process_ms=None, error="not done after 5 s")]
        rows = {(r["program"], r["tool"], r["kernel"]): r for r in tables.comparison_rows(samples)}
        self.assertEqual(rows["p", "memcheck", "a"]["ratio"], 30.0)
        self.assertEqual(rows["p", "ncu", ""]["ratio"], 50.0)
        self.assertNotIn(("p", "ncu", "a"), rows)
        self.assertEqual((rows["q", "ncu", ""]["ratio"], rows["q", "ncu", ""]["note"]), (None, "not done after 5 s"))

    def test_a_run_in_two_files_counts_once(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "samples.jsonl")
            path.write_text(json.dumps(sample(0, "p", {})) + "\n" + json.dumps(sample(1, "p", {})) + "\n")
            self.assertEqual(len(tables.read([path, path])), 2)


class Limits(unittest.TestCase):
    def verdict(self, ratio, count=10, leave_out=(), way="replay", start_up=20.0):
        """Every kernel with every probe at a ratio of the limit to the power of RATIO; gives exit
        status and lines."""
        samples, starts = [], start_up if isinstance(start_up, list) else [start_up]
        for p in suite.SUITE:
            if p.name in leave_out:
                continue
            processes = 1 if p.kernels and p.mean else count  # those whose process's time is compared
            times = {k: [1.0] * (count if processes == 1 else 1) for k in p.kernels}
            samples += [sample(len(samples) + i, p.name, times) for i in range(processes)]
            for collect in suite.COLLECTS:
                for probe in suite.PROBES:
                    ms = suite.LIMITS[collect][probe] ** ratio
                    samples += [warplens(len(samples) + i, p.name, {k: [ms] * len(times[k]) for k in times}, probe, collect,
                                         ways={k: [way] if way else [] for k in times},
                                         process_ms=10.0 + (starts[i % len(starts)] if p.name == "empty" else 0.1))
                                for i in range(processes)]
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as out:
            tables.write_all(pathlib.Path(folder), samples)
            with mock.patch.object(sys, "argv", ["check_limits.py", folder]), self.assertRaises(SystemExit) as end:
                check_limits.main()
        return end.exception.code, out.getvalue().splitlines()

    def test_all_kept(self):
        status, lines = self.verdict(0.9)
        self.assertEqual(status, 0, lines)
        self.assertEqual(len(lines), 20)
        self.assertTrue(all(text.startswith("pass") for text in lines), lines)

    def test_broken(self):
        status, lines = self.verdict(1.1)
        self.assertEqual(status, 1)
        self.assertEqual(sum(text.startswith("FAIL") for text in lines), 14)
        self.assertEqual(self.verdict(0.9, start_up=51.0)[0], 1)
        self.assertEqual(self.verdict(0.9, start_up=[40.0, 60.0])[0], 3)  # from 40 to 60: nobody knows

    def test_one_slow_kernel_breaks_a_limit(self):
        row = {"collect": "auto", "probe": "touch", "program": "spmv", "kernel": "spmv_scalar", "ratio": "2.1"}
        fast = dict(row, kernel="fast", ratio="0.1")
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(check_limits.most([fast, row], "touch"), check_limits.BROKEN)
            self.assertEqual(check_limits.most([fast, row], "frequency"), check_limits.UNKNOWN)  # of touch only
            self.assertEqual(check_limits.most([dict(row, ratio="1.9")], "touch"), check_limits.KEPT)

    def test_what_is_missing_is_no_pass(self):
        self.assertEqual(self.verdict(0.9, leave_out=["spmv"])[0], 3)
        self.assertEqual(self.verdict(0.9, leave_out=["loop"])[0], 3)
        self.assertEqual(self.verdict(0.9, count=9)[0], 3)
        self.assertEqual(self.verdict(0.9, way="")[0], 3)
        self.assertEqual(self.verdict(0.9, leave_out=[p.name for p in suite.SUITE])[0], 3)


class Results(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.runner = run.Runner(types.SimpleNamespace(out=pathlib.Path(folder.name), fresh=False), GPU, None)
        self.program = suite.Program("p", ["a"])

    def judged(self, **rest):
        s = sample(0, "p", {"a": [1.0]}, **rest)
        self.runner.judge(self.program, s)
        return s["error"]

    def test_results_must_agree(self):
        self.assertEqual(self.judged(), "")
        self.assertEqual(self.judged(tool="warplens"), "")
        self.assertIn("OTHER RESULTS", self.judged(tool="warplens", results={"r": "2"}))
        self.assertIn("OTHER RESULTS", self.judged(tool="warplens", results={}))

    def test_a_failed_native_run_is_no_measure(self):
        self.assertIn("broken", self.judged(error="broken", results={}))
        self.assertEqual(self.judged(), "")

    def test_kernels_must_be_there(self):
        self.assertIn("times of kernels", self.judged(kernels={"b": [1.0]}))


if __name__ == "__main__":
    unittest.main(verbosity=2)
