#!/usr/bin/env python3
"""Where a program's processes begin and end otherwise than usual.

    test_edges.py WARPLENS WORK [NVCC] [-- unittest arguments]
"""
import contextlib
import glob
import os
import shutil
import signal
import sqlite3
import subprocess
import time

from case import WARPLENS, Case, compile_program, main, run


class Outliving(Case):
    """A daemon that goes on launching after the program has ended."""
    LAUNCHES = 5000

    def setUp(self):
        super().setUp()
        self.go_on = os.path.join(self.folder, "go-on")

    def captures(self):
        return glob.glob(self.wlprof + ".captures-*")

    def let_it_end(self):
        """The daemon has what it waits for; its capture is whole when nobody has it open."""
        with open(self.go_on, "w"):
            pass
        capture = glob.glob(os.path.join(self.captures()[0], "*.wlcap"))[0]
        pid = os.path.basename(capture).split("-")[0]
        for _ in range(3000):
            if not os.path.exists(f"/proc/{pid}"):
                break
            time.sleep(0.01)
        os.unlink(self.go_on)

    def begin(self, *options):
        """The run, with the daemon's launches done and the daemon waiting."""
        command = [WARPLENS, "profile", "-o", self.wlprof, *options, "--", compile_program("outlive"), str(self.LAUNCHES), self.go_on]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(process.stdout.readline(), "launched\n")
        return process

    def test_waited_for(self):
        done = self.profile(compile_program("outlive"), "20000")
        self.assertEqual((done.returncode, done.stdout), (0, "launched\n"), done.stderr)
        stats = self.stats()
        self.assertEqual((stats["coverage"]["launches_seen"], stats["coverage"]["launches_observed"]), (20000, 20000))
        self.assertEqual(stats["failures"], [])
        self.assert_nothing_left("p.wlprof")

    def test_said_while_it_lasts(self):
        process = self.begin()
        line = process.stderr.readline()
        self.assertIn("outlive (", line)
        self.assertIn("Ctrl-C", line)
        with open(self.go_on, "w"):
            pass
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, errors)
        self.assertEqual(self.stats()["coverage"]["launches_observed"], self.LAUNCHES + 1)
        os.unlink(self.go_on)
        self.assert_nothing_left("p.wlprof")

    def check_cut(self, process, errors):
        """What there was is in the profile, which says so; all of it can still be had."""
        self.assertEqual(process.returncode, 0, errors)
        self.assertIn("still runs", errors)
        stats = self.stats()
        self.assertEqual(stats["coverage"]["launches_observed"], self.LAUNCHES)
        self.assertIn("still ran when the profile was made", stats["failures"][0]["why"])
        self.assertIn("still ran when the profile was made", run(WARPLENS, "stats", self.wlprof).stdout)
        self.let_it_end()
        done = run(WARPLENS, "import", "-f", "-o", self.wlprof, self.captures()[0])
        self.assertEqual(done.returncode, 0, done.stderr)
        stats = self.stats()
        self.assertEqual((stats["coverage"]["launches_observed"], stats["failures"]), (self.LAUNCHES + 1, []))
        self.assert_nothing_left("p.wlprof")

    def test_interrupted_wait(self):
        for which in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process = self.begin("-f")
            process.stderr.readline()  # it waits
            process.send_signal(which)
            _, errors = process.communicate(timeout=60)
            self.check_cut(process, errors)

    def test_primary(self):
        process = self.begin("--wait", "primary")
        _, errors = process.communicate(timeout=60)
        if not os.path.exists(self.wlprof):  # the program was over before its daemon had begun
            self.assertIn("is kept in", errors)
            self.let_it_end()
            done = run(WARPLENS, "import", "-o", self.wlprof, self.captures()[0])
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.stats()["coverage"]["launches_observed"], self.LAUNCHES + 1)
            return
        self.let_it_end()
        done = run(WARPLENS, "import", "-f", "-o", self.wlprof, self.captures()[0])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.stats()["coverage"]["launches_observed"], self.LAUNCHES + 1)
        self.assert_nothing_left("p.wlprof")

    def test_import_of_a_capture_in_use(self):
        """By a command that is no ancestor of the process."""
        process = self.begin()
        other = os.path.join(self.folder, "other.wlprof")
        done = run(WARPLENS, "import", "-o", other, self.captures()[0])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_says(done, "still runs")
        with open(self.go_on, "w"):
            pass
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, errors)
        self.assertEqual(self.stats()["coverage"]["launches_observed"], self.LAUNCHES + 1)

    def test_not_recorded(self):
        """Nobody waits for processes that are not recorded."""
        process = self.begin("--target-processes", "application-only", "--keep-exitcode")
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, errors)
        self.assertIn("no CUDA call", errors)
        self.assertEqual(self.captures(), [])
        with open(self.go_on, "w"):
            pass

    def test_children_ignored(self):
        """Whoever started us may have told us not to be told of children."""
        done = self.profile("/bin/sh", "-c", "exit 7", options=["--keep-exitcode"],
                            preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertEqual(done.returncode, 7, done.stderr)

    def test_wrong_value(self):
        done = self.profile("true", options=["--wait", "some"])
        self.assertEqual(done.returncode, 2)
        self.assert_says(done, "primary")


class Places(Case):
    """Installed where the dynamic linker would take the path apart."""

    def install(self, name):
        """A copy of warplens below a folder of that name: its command."""
        build = os.path.dirname(os.path.dirname(WARPLENS))
        prefix = os.path.join(self.folder, name)
        os.makedirs(os.path.join(prefix, "bin"))
        shutil.copy(WARPLENS, os.path.join(prefix, "bin"))
        shutil.copytree(os.path.join(build, "lib", "warplens"), os.path.join(prefix, "lib", "warplens"))
        os.symlink(os.path.join(build, "share"), os.path.join(prefix, "share"))
        return os.path.join(prefix, "bin", "warplens")

    def test_odd_paths(self):
        temporary = os.path.join(self.folder, "tmp")
        os.mkdir(temporary)
        for name in ("my tools", "a:b", "c;d", "$LIB/e"):
            command = self.install(name)
            done = run(command, "profile", "-f", "-o", self.wlprof, "--", compile_program("simple"), cwd=self.folder,
                       env={**os.environ, "TMPDIR": temporary})
            self.assertEqual((done.returncode, done.stdout), (0, "ok\n"), done.stderr)
            self.assertNotIn("ld.so", done.stderr)
            self.assertEqual(self.stats()["coverage"]["launches_observed"], 8)
            self.assertEqual(os.listdir(temporary), [])

    def test_children_find_it(self):
        """Programs that the program starts, from another folder."""
        done = run(self.install("my tools"), "profile", "-o", self.wlprof, "--", "/bin/sh", "-c", 'cd / && "$1" && "$1"', "sh",
                   compile_program("simple"))
        self.assertEqual((done.returncode, done.stdout), (0, "ok\nok\n"), done.stderr)
        self.assertEqual(self.stats()["coverage"]["launches_observed"], 16)

    def test_a_device_of_ones_own(self):
        """Its file is the one of the folder that the command was typed in."""
        shutil.copy(os.path.join(os.path.dirname(os.path.dirname(WARPLENS)), "share/warplens/devices/a100.json"),
                    os.path.join(self.folder, "mine.json"))
        done = self.profile("/bin/sh", "-c", 'cd / && exec "$1"', "sh", compile_program("simple"), cwd=self.folder,
                            options=["--device", "h200,mine.json,./mine.json"])
        self.assertEqual((done.returncode, done.stdout), (0, "ok\n"), done.stderr)
        self.assertNotIn("mine.json", done.stderr)
        with contextlib.closing(sqlite3.connect(self.wlprof)) as profile:
            self.assertEqual(profile.execute("SELECT file FROM devices ORDER BY ordinal").fetchall(), [("h200",), ("mine",), ("mine",)])

    def test_no_entry_is_empty(self):
        """An empty entry would be the program's current folder."""
        for old in ({}, {"LD_LIBRARY_PATH": "", "LD_PRELOAD": ""}):
            environment = {**{k: v for k, v in os.environ.items() if not k.startswith("LD_")}, **old}
            done = self.profile("/bin/sh", "-c", "echo $LD_LIBRARY_PATH; echo $LD_PRELOAD", env=environment,
                                options=["--keep-exitcode"])
            for value in done.stdout.splitlines():
                self.assertTrue(all(entry.startswith("/") for entry in value.split(":")), value)


if __name__ == "__main__":
    main()
