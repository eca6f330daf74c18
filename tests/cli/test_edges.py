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

from case import NVCC, WARPLENS, Case, compile_program, main, run


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
            self.assertIn("still run are kept in", errors)
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


class Attaching(Case):
    """The preload that is lost on the way. The program runs as it would without warplens, or the
    libraries that stand for CUDA's finish what LD_PRELOAD did not begin."""
    WITHOUT = ("/usr/bin/env", "-u", "LD_PRELOAD")

    def setUp(self):
        super().setUp()
        self.libraries = os.path.join(os.path.dirname(os.path.dirname(WARPLENS)), "lib", "warplens")

    def native(self, *command, **variables):
        return run(*command, env={**os.environ, **variables})

    def check_untouched(self, native, done, *says):
        self.assertEqual((done.returncode, done.stdout), (native.returncode, native.stdout), done.stderr)
        self.assert_says(done, *says)

    def test_static_runtime(self):
        """It has begun with NVIDIA's driver, or none, and goes on with it."""
        program = compile_program("simple")
        for prefix in (self.WITHOUT, ("/usr/bin/env", "LD_PRELOAD=" + self.allocator())):
            done = self.profile(*prefix, program, options=["-f", "--keep-exitcode"])
            self.check_untouched(self.native(program), done, "not attached", "LD_PRELOAD", program)
            self.assertIn("not attached", run(WARPLENS, "stats", self.wlprof).stdout)

    def test_driver_of_the_system(self):
        """Where there is a driver the program gets it: here one whose functions do nothing."""
        program, folder = compile_program("simple"), os.path.join(self.folder, "driver")
        os.mkdir(folder)
        os.symlink(compile_program("driver", "-shared", "-fPIC"), os.path.join(folder, "libcuda.so.1"))
        native = self.native(program, LD_LIBRARY_PATH=folder)
        self.assertIn("asked for cuInit", native.stderr)
        done = self.profile(*self.WITHOUT, program, options=["--keep-exitcode", "--backend", "emulate"],
                            env={**os.environ, "LD_LIBRARY_PATH": folder})
        self.check_untouched(native, done, "not attached", "asked for cuInit")

    def test_stripped(self):
        """A child whose runtime cannot be redirected has the driver that it would have."""
        program = os.path.join(self.folder, "stripped")
        subprocess.run(["strip", "-o", program, compile_program("simple")], check=True)
        done = self.profile("sh", "-c", f"'{program}'; exit $?", options=["--keep-exitcode"])
        self.check_untouched(self.native(program), done, "do not strip it")

    def test_shared_runtime(self):
        program = compile_program("simple", "-cudart", "shared")
        for prefix in (self.WITHOUT, ("/usr/bin/env", "LD_PRELOAD=" + self.allocator())):
            done = self.profile(*prefix, program, options=["-f"])
            self.assertEqual((done.returncode, done.stdout), (0, "ok\n"), done.stderr)
            self.assertEqual(self.stats()["coverage"]["launches_observed"], 8)

    def test_runtime_from_elsewhere(self):
        """LD_PRELOAD arrives, LD_LIBRARY_PATH does not."""
        if not NVCC:
            self.skipTest("no nvcc here")
        program = compile_program("simple", "-cudart", "shared")
        real = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(NVCC))), "lib64")
        if not glob.glob(os.path.join(real, "libcudart.so.*")):
            self.skipTest("no shared runtime of NVIDIA's here")
        done = self.profile("/usr/bin/env", "LD_LIBRARY_PATH=" + real, program, options=["--keep-exitcode"])
        self.check_untouched(self.native(program, LD_LIBRARY_PATH=real), done, "LD_LIBRARY_PATH", "libcudart.so")

    def allocator(self):
        return compile_program("allocator", "-shared", "-fPIC")

    def test_allocators(self):
        """One that aborts on memory that it did not give, before warplens and the program alike."""
        for flags in ((), ("-cudart", "shared")):
            done = self.profile(compile_program("simple", *flags), options=["-f"],
                                env={**os.environ, "LD_PRELOAD": self.allocator()})
            self.assertEqual((done.returncode, done.stdout), (0, "ok\n"), done.stderr)
            self.assertEqual(self.stats()["coverage"]["launches_observed"], 8)

    def check_lost(self, *options, **variables):
        for lost in (["/usr/bin/env", "-u", "LD_PRELOAD"], ["/usr/bin/env", "-i"]):
            done = self.profile(*lost, "/bin/sh", "-c", "exit 5", options=options, env={**os.environ, **variables})
            self.assertEqual(done.returncode, 5)
            self.assert_says(done, "attached to 'env', but not to 'sh'", "LD_PRELOAD")
            self.assert_nothing_left()
        done = self.profile("/bin/sh", "-c", "/usr/bin/env -i true; exit 5", options=options, env={**os.environ, **variables})
        self.assert_says(done, "no CUDA call", "also attached to env")
        done = self.profile("/bin/sh", "-c", "exit 5", options=options, env={**os.environ, **variables})
        self.assert_says(done, "no CUDA call")
        self.assertNotIn("attached", done.stderr)

    def test_lost_entirely(self):
        self.check_lost("--backend", "emulate")

    def test_lost_on_a_gpu(self):
        self.check_lost("--backend", "inline", WARPLENS_DRIVER=compile_program("driver", "-shared", "-fPIC"))


if __name__ == "__main__":
    main()
