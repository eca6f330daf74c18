#!/usr/bin/env python3
"""NVTX's ranges: a program that was compiled with NVTX's headers, on the emulator and behind the
library before NVIDIA's driver.

    test_ranges.py WARPLENS WORK COMPILER NVCC INCLUDE

INCLUDE: the folder that holds nvtx3.
"""
import json
import os
import re
import sqlite3
import subprocess
import sys
import unittest

WARPLENS, WORK, COMPILER, NVCC, INCLUDE = sys.argv[1:6]
HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(WORK, "ranges")
DRIVER = os.path.join(os.path.dirname(WARPLENS), "..", "lib", "warplens", "emulate", "libcuda.so.1")
WIDE = "größe \U0001f600"
RANGES = {1: [], 2: ["outer"], 3: ["outer", WIDE], 4: ["outer"], 5: ["layer", "within"], 6: ["within"],
          7: ["load", "other", "on a thread"], 8: ["load", "other"], 9: ["other"], 10: [], 11: ["loop", "step 0"],
          12: ["replayed"]}
EVERY = set(RANGES)


def run(*command, status=0, **variables):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("WARPLENS_", "NVTX_"))}
    environment.update(variables)
    done = subprocess.run(command, env=environment, capture_output=True, check=False, text=True, timeout=240)
    assert done.returncode == status, (command, done.returncode, done.stdout, done.stderr)
    return done


def profile(name, *options, program=PROGRAM, backend="emulate", **variables):
    path = os.path.join(WORK, name + ".wlprof")
    done = run(WARPLENS, "profile", "-f", "-o", path, "--backend", backend, *options, "--", program, **variables)
    return done, path


def query(path, sql):
    with sqlite3.connect(path) as database:
        return database.execute(sql).fetchall()


class Emulated(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        run(NVCC, "-g", "-std=c++17", "-isystem", INCLUDE, os.path.join(HERE, "ranges.cu"), "-o", PROGRAM, "-ldl", "-lpthread")
        cls.done, cls.path = profile("emulated")

    def test_program_gets_levels(self):
        self.assertEqual(self.done.stdout, "0 1 1 0 1\n0 0\n%d\n" % (sum(EVERY) + 2 * 11))

    def test_ranges_of_launches(self):
        found = {}
        for launch, grid, name in query(self.path, "SELECT l.id, l.grid_x, r.name FROM launches l LEFT JOIN v_launch_ranges r "
                                                   "ON r.launch = l.id ORDER BY l.id DESC, r.position"):
            found.setdefault(grid, {}).setdefault(launch, []).append(name)
        first = {grid: [n for n in min(launches.items())[1] if n] for grid, launches in found.items()}
        self.assertEqual(first, RANGES)
        self.assertEqual(sorted(found[11].values()), [["loop", f"step {i}"] for i in range(3)])

    def test_each_time_is_a_range(self):
        """What no call is made in is none."""
        rows = query(self.path, "SELECT kind, domain, name, count(*), count(thread) FROM ranges GROUP BY name")
        self.assertEqual({name: rest for *rest, name, count, threads in rows for rest in [(*rest, count, threads)]}, {
            "captured": (0, "", 1, 1), "layer": (0, "model", 1, 1), "load": (1, "", 1, 0), "loop": (0, "", 3, 3),
            "on a thread": (0, "", 1, 1), "other": (1, "data", 1, 0), "outer": (0, "", 1, 1), "replayed": (0, "", 1, 1),
            "step 0": (0, "", 1, 1), "step 1": (0, "", 1, 1), "step 2": (0, "", 1, 1), "within": (0, "", 1, 1),
            WIDE: (0, "", 1, 1)})

    def test_what_they_cost(self):
        """Against sums over launches one by one."""
        want, times = {}, {}
        sectors = dict(query(self.path, "SELECT launch, sum(sectors) FROM launch_traffic GROUP BY launch"))
        for launch, moved in sectors.items():
            path = ()
            for number, domain, name in query(self.path, "SELECT range, domain, name FROM v_launch_ranges "
                                                         f"WHERE launch = {launch} ORDER BY position"):
                path += ((domain, re.sub(r"(?<=step )\d+$", "*", name)),)
                launches, sum_ = want.get(path, (0, 0))
                want[path] = (launches + 1, sum_ + moved)
                times.setdefault(path, set()).add(number)
        profile = json.loads(run(WARPLENS, "stats", "--format", "json", self.path).stdout)
        found, paths = {}, []
        for r in profile["ranges"]:
            paths.append((paths[r["parent"]] if "parent" in r else ()) + ((r.get("domain", ""), r["name"]),))
            found[paths[-1]] = (r["launches"], r["sectors"])
            self.assertEqual(r["times"], len(times[paths[-1]]))
            self.assertAlmostEqual(r["share"], r["sectors"] / sum(sectors.values()))
        self.assertEqual(found, want)
        self.assertEqual([p for p in paths if len(p) == 1], sorted((p for p in want if len(p) == 1), key=lambda p: -want[p][1]))

    def test_launches_tell_their_ranges(self):
        profile = json.loads(run(WARPLENS, "export", "--type", "json", "-o", "-", self.path).stdout)
        named = {launch["grid"][0]: launch.get("ranges") for launch in reversed(profile["launches"])}
        self.assertEqual((named[1], named[3], named[5], named[7]),
                         (None, ["outer", WIDE], ["model@layer", "within"], ["load", "data@other", "on a thread"]))

    def test_tables(self):
        by_range = run(WARPLENS, "stats", "--by", "range", self.path).stdout.splitlines()
        rows = [line.split()[:-5] for line in by_range[3:]]
        self.assertIn(["loop", "3", "3"], [row[:3] for row in rows])
        self.assertIn(["step", "*", "3", "3"], [row[:4] for row in rows])
        self.assertIn("(in no range)", by_range[-1])
        whole = run(WARPLENS, "stats", self.path).stdout
        self.assertIn("\nRanges ", whole)
        for text in (whole, run(WARPLENS, "stats", "--by", "family", self.path).stdout):
            lines = [line.split() for line in text.split("\nKernels")[1].splitlines()[2:5]]
            self.assertEqual([line[:2] for line in lines], [["kernel", "(2)"], ["int", "9"], ["unsigned", "int"]])
        by_kernel = run(WARPLENS, "stats", "--by", "kernel", self.path).stdout
        self.assertEqual({line.split()[0] for line in by_kernel.splitlines()[3:]}, {"kernel<int>", "kernel<unsigned"})

    def observed(self, *options):
        """By their grids."""
        _, path = profile("chosen", *options)
        launches = {grid for grid, in query(path, "SELECT DISTINCT grid_x FROM launches")}
        skipped = query(path, "SELECT reason, sum(count) FROM skips GROUP BY reason")
        self.assertEqual([reason for reason, _ in skipped],
                         ["left out by --nvtx-include or --nvtx-exclude"] if skipped else [])
        total = len(EVERY) + 2
        self.assertEqual(sum(count for _, count in skipped) + query(path, "SELECT count(*) FROM launches")[0][0], total)
        return launches

    def test_chosen(self):
        for options, launches in ((["outer"], {2, 3, 4}), (["outer/"], {2, 3, 4}), (["outer", "other"], {2, 3, 4, 7, 8, 9}),
                                  (["load/"], set()), (["model@layer"], {5}), (["data@layer"], set()),
                                  (["regex:^step [12]$"], {11}), (["loop/step 1"], {11}), (["outer/]"], {2, 4})):
            with self.subTest(options=options):
                if launches:
                    self.assertEqual(self.observed(*[word for o in options for word in ("--nvtx-include", o)]), launches)
                else:
                    _, path = profile("none", "--keep-exitcode", "--nvtx-include", options[0])
                    self.assertEqual(query(path, "SELECT count(*) FROM launches"), [(0,)])

    def test_left_out(self):
        self.assertEqual(self.observed("--nvtx-exclude", "loop", "--nvtx-exclude", "outer"), EVERY - {2, 3, 4, 11})
        self.assertEqual(self.observed("--nvtx-include", "outer", "--nvtx-exclude", "outer/*/" + WIDE), {2, 4})


class Inline(unittest.TestCase):
    """By the library before NVIDIA's driver, with the emulator's in its place."""

    @classmethod
    def setUpClass(cls):
        cls.program = os.path.join(WORK, "driver")
        run(COMPILER, "-g", "-Wall", "-Werror", "-isystem", INCLUDE, os.path.join(HERE, "driver.c"), "-o", cls.program, "-ldl")

    def launches(self, *options):
        """The ranges of each, by its grid."""
        done, path = profile("inline", *options, program=self.program, backend="inline", WARPLENS_DRIVER=DRIVER)
        self.assertEqual(done.stdout, "000000")
        return dict(query(path, "SELECT grid_x, (SELECT group_concat(name) FROM v_launch_ranges r WHERE r.launch = l.id) "
                                "FROM launches l"))

    def test_ranges_of_launches(self):
        self.assertEqual(self.launches(), {1: None, 2: "outer", 3: "outer,inner", 4: "outer", 5: "load", 6: None})

    def test_chosen(self):
        self.assertEqual(list(self.launches("--nvtx-include", "outer", "--nvtx-exclude", "inner")), [2, 4])


class Refused(unittest.TestCase):
    def test_tables(self):
        for options, reason in ((["--by", "step"], "range, family or kernel"), (["--by", "range", "--objects"], "one table"),
                                (["--by", "range", "--format", "json"], "one table")):
            self.assertIn(reason, run(WARPLENS, "stats", *options, "none.wlprof", status=2).stderr)

    def test_what_is_no_pattern(self):
        for value, reason in (("regex:(", "Unmatched"), ("", "takes range, regex:EXPRESSION"), ("/", "a range has a name"),
                              ("a/]/b", "nothing follows a ]")):
            with self.subTest(value=value):
                done = run(WARPLENS, "profile", "--nvtx-include", value, "--", "true", status=2)
                self.assertIn(reason, done.stderr)


if __name__ == "__main__":
    os.makedirs(WORK, exist_ok=True)
    unittest.main(argv=sys.argv[:1], verbosity=2)
