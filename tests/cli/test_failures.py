#!/usr/bin/env python3
"""What goes wrong around warplens, and what it says then.

    test_failures.py WARPLENS WORK [NVCC] [-- unittest arguments]

Everywhere: a message that says what to do, an exit status that tells, nothing lost and nothing left
lying about.
"""
import contextlib
import glob
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import unittest

from case import HERE, NVCC, WARPLENS, WORK, Case, compile_program, main, run


@contextlib.contextmanager
def file_system(folder, size, fill=False):
    """A small file system of its own; `fill` leaves no room in it."""
    if run("mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder).returncode:
        raise unittest.SkipTest("cannot mount a file system here")
    try:
        if fill:
            with contextlib.suppress(OSError), open(os.path.join(folder, "filling"), "wb", buffering=0) as f:
                while True:
                    f.write(bytes(4096))
        yield
    finally:
        run("umount", "-l", folder)


class WithProfile(Case):
    """Begins with a profile of `simple`."""

    def setUp(self):
        super().setUp()
        done = self.profile(compile_program("simple"))
        self.assertEqual(done.returncode, 0, done.stderr)

    def path(self, name):
        return os.path.join(self.folder, name)

    def readers(self, profile=None):
        """Every command that reads a profile, with its output away from the folder where it needs
        one."""
        profile = profile or self.wlprof
        yield [WARPLENS, "stats", profile]
        yield [WARPLENS, "stats", "--format", "json", profile]
        yield [WARPLENS, "report", "-o", "-", profile]
        for kind in ("json", "csv", "sarif"):
            yield [WARPLENS, "export", "--type", kind, profile]


class Applications(Case):
    """What an application does passes through."""

    def test_input_output_and_status(self):
        program = compile_program("talk")
        done = self.profile(program, "0", "32", "77", input="in\n")
        self.assertEqual(done.returncode, 77, done.stderr)
        self.assertEqual(done.stdout.splitlines()[0], "in")
        self.assertEqual(sorted(done.stdout.splitlines()[1:]), sorted(f"thread {i}" for i in range(32)))

    def test_huge_output(self):
        done = self.profile(compile_program("talk"), "64", str(1 << 16), "0", input="")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(done.stdout.split("thread")[0]), 64 << 20)
        self.assertEqual(done.stdout.count("thread"), 1 << 16)
        self.assertEqual(self.stats()["coverage"]["launches_observed"], 1)

    def test_output_that_nobody_reads(self):
        """The application's own SIGPIPE, as it would be without us."""
        process = subprocess.Popen([WARPLENS, "profile", "-o", self.wlprof, "--", compile_program("talk"), "8", "32", "0"],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.read(10)
        process.stdout.close()
        errors = process.stderr.read().decode()
        process.stderr.close()
        self.assertEqual(process.wait(60), 128 + signal.SIGPIPE, errors)

    def test_closed_streams(self):
        """Nothing of ours is opened in the place of a stream that the application was started
        without."""
        done = run("sh", "-c", '"$@" >&- <&-', "sh", WARPLENS, "profile", "-o", self.wlprof, "--", compile_program("simple"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.stats()["coverage"]["launches_observed"], 8)
        with open(self.wlprof, "rb") as f:
            self.assertEqual(f.read(6), b"SQLite")

    def test_started_by_a_shell(self):
        done = self.profile("/bin/sh", "-c", '"$1" && exec "$1"', "sh", compile_program("simple"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "ok\nok\n")
        self.assertEqual(self.stats()["coverage"]["launches_observed"], 16)

    def test_every_signal_that_ends_it(self):
        for which in (signal.SIGTERM, signal.SIGABRT, signal.SIGKILL, signal.SIGFPE):
            done = self.profile("/bin/sh", "-c", f'"$1"; kill -{int(which)} $$', "sh", compile_program("simple"),
                                options=["-f"])
            self.assertEqual(done.returncode, 128 + which)
            self.assert_says(done, f"signal {int(which)}")
            self.assertEqual(self.stats()["coverage"]["launches_observed"], 8)

    def test_long_names(self):
        done = self.profile(compile_program("templates"))
        self.assertEqual(done.returncode, 0, done.stderr)
        stats = self.stats()
        name = next(k["kernel"] for k in stats["launches"] if "column" in k["kernel"])
        self.assertGreater(len(name), 2000)
        self.assertIn("strided", [f["pattern"] for f in stats["findings"]])
        text = run(WARPLENS, "stats", "--width", "80", self.wlprof)
        self.assertEqual(text.returncode, 0)
        self.assertIn("column<", text.stdout)
        self.assertLessEqual(max(map(len, text.stdout.splitlines())), 80)

    def test_names_with_control_characters(self):
        """A terminal is shown them, and does not obey them."""
        done = run(WARPLENS, "stats", os.path.join(self.folder, "\x1b[31mred\x07\x7f\x9b.wlprof"))
        self.assertEqual(done.returncode, 1)
        self.assert_says(done, "\\x1b[31mred\\x07\\x7f\\x9b.wlprof")
        self.assertNotIn("\x1b", done.stderr)

    def test_names_that_are_not_utf8(self):
        """Of folder, program and profile."""
        folder = os.fsencode(self.folder) + b"/caf\xe9"
        os.mkdir(folder)
        program, profile = folder + b"/pr\xf6gram", folder + b"/\xff.wlprof"
        shutil.copy(compile_program("simple"), program)
        done = subprocess.run([WARPLENS, "profile", "-o", profile, "--", program, b"\xfe"], capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        for command in self.readers_of(profile):
            shown = subprocess.run(command, capture_output=True, check=False)
            self.assertEqual(shown.returncode, 0, (command, shown.stderr))
            shown.stdout.decode("utf-8")
        self.assertEqual(sorted(os.listdir(folder)), sorted([b"pr\xf6gram", b"\xff.wlprof", b"\xff.html"]))

    def readers_of(self, profile):
        return [[WARPLENS, "stats", profile], [WARPLENS, "export", profile], [WARPLENS, "report", profile]]

    def test_long_paths(self):
        """Programs lie anywhere; SQLite's files do not."""
        folder = self.folder
        while len(folder) < 3700:
            folder = os.path.join(folder, "d" * 200)
        os.makedirs(folder)
        program = os.path.join(folder, "simple")
        shutil.copy(compile_program("simple"), program)
        done = self.profile(program)
        self.assertEqual((done.returncode, done.stdout), (0, "ok\n"), done.stderr)
        self.assertEqual(self.stats()["coverage"]["launches_observed"], 8)
        for name, says in ((os.path.join(folder, "p.wlprof"), "too long for a profile"), ("n" * 300, "File name too long")):
            done = run(WARPLENS, "profile", "-o", name, "--", program)
            self.assertEqual((done.returncode, done.stdout), (1, ""))  # told before the program runs
            self.assert_says(done, says)
        shutil.copy(self.wlprof, folder)
        self.assert_says(run(WARPLENS, "stats", os.path.join(folder, "p.wlprof")), "too long for a profile")

    def test_other_locales_and_terminals(self):
        done = self.profile(compile_program("simple"), env={**os.environ, "LC_ALL": "C", "TERM": "dumb"})
        self.assertEqual(done.returncode, 0, done.stderr)
        plain = run(WARPLENS, "stats", self.wlprof, env={**os.environ, "LC_ALL": "C", "LANG": "C"}).stdout
        self.assertEqual(plain, run(WARPLENS, "stats", self.wlprof, env={**os.environ, "LC_ALL": "C.UTF-8"}).stdout)
        shown = run("script", "-qec", f"{WARPLENS} stats {self.wlprof}", "/dev/null", env={**os.environ, "TERM": "dumb"})
        self.assertNotIn("\033", shown.stdout)

    def test_little_memory(self):
        """The emulator reserves addresses that a limit forbids: the application is told as CUDA
        would, and goes on."""
        done = self.profile("/bin/sh", "-c", 'ulimit -v 1000000; exec "$1"', "sh", compile_program("memory"))
        self.assertGreaterEqual(done.returncode, 0)
        self.assertLess(done.returncode, 128, done.stderr)
        self.assertIn("cudaError", done.stdout + done.stderr)


class Disk(WithProfile):
    """No room, nothing to write to, names that are taken."""

    def test_no_room_for_a_profile(self):
        captures = self.capture()
        os.mkdir(self.path("small"))
        with file_system(self.path("small"), "64k"):
            done = run(WARPLENS, "import", "-o", self.path("small/p.wlprof"), captures)
            self.assertEqual(done.returncode, 1)
            self.assert_says(done, "no space left")
            self.assertEqual(os.listdir(self.path("small")), [])
        self.assertEqual(run(WARPLENS, "import", "-o", self.path("again.wlprof"), captures).returncode, 0)

    def capture(self):
        """A folder of captures, as a profile command leaves behind that was killed."""
        process = subprocess.Popen([WARPLENS, "profile", "-o", self.path("killed"), "--", compile_program("sleep")],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
        process.stdout.readline()
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return glob.glob(self.path("killed.captures-*"))[0]

    def test_no_room_for_other_outputs(self):
        os.mkdir(self.path("small"))
        with file_system(self.path("small"), "32k", fill=True):
            for command in (["report"], ["export", "--type", "json"], ["export", "--type", "sqlite"]):
                done = run(WARPLENS, *command, "-o", self.path("small/out"), self.wlprof)
                self.assertEqual(done.returncode, 1, command)
                self.assertRegex(done.stderr, "(?i)no space left|is there room")
                self.assertEqual(os.listdir(self.path("small")), ["filling"], command)

    def test_a_folder_that_cannot_be_written(self):
        folder = self.path("readonly")
        os.mkdir(folder)
        with file_system(folder, "4m"):
            shutil.copy(self.wlprof, folder)
            if run("mount", "-o", "remount,ro", folder).returncode:
                self.skipTest("cannot make a file system read-only here")
            profile = os.path.join(folder, "p.wlprof")
            for command in self.readers(profile):
                self.assertEqual(run(*command).returncode, 0, command)
            done = run(WARPLENS, "report", profile)
            self.assertEqual(done.returncode, 1)
            self.assert_says(done, "Read-only file system")
            done = run(WARPLENS, "profile", "-o", os.path.join(folder, "q.wlprof"), "--", compile_program("simple"))
            self.assertEqual((done.returncode, done.stdout), (1, ""))  # told before the program runs
            self.assert_says(done, "cannot write", "-o NAME")

    def test_files_that_cannot_be_read(self):
        self.assertEqual(run(WARPLENS, "import", "-o", self.path("x"), self.path("nowhere")).returncode, 1)
        self.assertEqual(run(WARPLENS, "import", "-o", self.path("x"), self.folder).returncode, 1)  # no captures
        for what in (self.folder, "/dev/null", self.path("gone")):
            for command in self.readers(what):
                done = run(*command)
                self.assertEqual(done.returncode, 1, command)
                self.assert_says(done, what)
        if os.getuid() == 0:
            self.skipTest("root reads everything")
        os.chmod(self.wlprof, 0)
        for command in self.readers():
            self.assert_says(run(*command), "Permission denied")

    def test_a_capture_of_which_nothing_was_written(self):
        """Left by a process that was killed while it began; the others count."""
        captures = self.capture()
        with open(os.path.join(captures, "1-0.wlcap"), "wb"):
            pass
        done = run(WARPLENS, "import", "-f", "-o", self.wlprof, captures)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_says(done, "left out", "1-0.wlcap")
        self.assertEqual(os.listdir(captures), ["1-0.wlcap"])
        self.assertEqual(self.stats()["coverage"]["launches_observed"], 1)

    def test_captures_that_vanish_during_the_run(self):
        process = subprocess.Popen([WARPLENS, "profile", "-o", self.path("q.wlprof"), "--", compile_program("sleep")],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        process.stdout.readline()
        shutil.rmtree(glob.glob(self.path("q.wlprof.captures-*"))[0])
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)
        self.assertIn("cannot read", errors)

    def test_names_that_are_taken(self):
        """Each output is refused without -f, and the file stays as it is."""
        with open(self.path("taken"), "w") as f:
            f.write("mine")
        for command in (["report"], ["export", "--type", "json"], ["export", "--type", "sqlite"]):
            done = run(WARPLENS, *command, "-o", self.path("taken"), self.wlprof)
            self.assertEqual(done.returncode, 1, command)
            self.assert_says(done, "taken is there already", "-f")
            with open(self.path("taken")) as f:
                self.assertEqual(f.read(), "mine")
            missing = run(WARPLENS, *command, "-o", self.path("no/such"), self.wlprof)
            self.assertEqual(missing.returncode, 1, command)
            self.assert_says(missing, "no/such", "No such file")
        for command in (["report"], ["export", "--type", "json"], ["export", "--type", "sqlite"]):
            self.assertEqual(run(WARPLENS, *command, "-f", "-o", self.path("taken"), self.wlprof).returncode, 0)
            self.assertGreater(os.path.getsize(self.path("taken")), 1000)
        self.assertEqual(sorted(os.listdir(self.folder)), ["p.wlprof", "taken"])

    def test_a_failure_keeps_the_old_file(self):
        with open(self.path("old"), "w") as f:
            f.write("old report")
        with open(self.wlprof, "r+b") as f:
            f.seek(8192)
            f.write(b"\xff" * 8192)
        done = run(WARPLENS, "report", "-f", "-o", self.path("old"), self.wlprof)
        self.assertEqual(done.returncode, 1)
        with open(self.path("old")) as f:
            self.assertEqual(f.read(), "old report")

    def test_links_pipes_and_devices(self):
        os.symlink("target", self.path("link"))
        with open(self.path("target"), "w"):
            pass
        for command in (["report"], ["export", "--type", "sqlite"]):
            self.assertEqual(run(WARPLENS, *command, "-f", "-o", self.path("link"), self.wlprof).returncode, 0)
            self.assertTrue(os.path.islink(self.path("link")))
            self.assertGreater(os.path.getsize(self.path("target")), 1000)
        os.mkfifo(self.path("pipe"))
        for command in (["report"], ["export"]):
            done = run(WARPLENS, *command, "-o", self.path("pipe"), self.wlprof, timeout=20)
            self.assertEqual(done.returncode, 1)
            self.assert_says(done, "a pipe that nobody reads")
        kept_open = os.open(self.path("pipe"), os.O_RDWR)
        with subprocess.Popen(["cat", self.path("pipe")], stdout=subprocess.PIPE) as reader:
            self.assertEqual(run(WARPLENS, "export", "-o", self.path("pipe"), self.wlprof).returncode, 0)
            os.close(kept_open)
            self.assertEqual(json.loads(reader.stdout.read())["schema"], "warplens/1")
        for command in (["stats"], ["report"], ["export"], ["import", "-o", self.path("new")]):
            self.assertEqual(run(WARPLENS, *command, self.path("pipe"), timeout=20).returncode, 1)
        for where in (self.path("pipe"), "/dev/null"):
            done = run(WARPLENS, "profile", "-f", "-o", where, "--", compile_program("simple"))
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assert_says(done, "is not a regular file")
            done = run(WARPLENS, "export", "--type", "sqlite", "-f", "-o", where, self.wlprof)
            self.assertEqual(done.returncode, 1)
        self.assertFalse(os.path.isfile("/dev/null"))
        done = run(WARPLENS, "profile", "-f", "-o", self.folder, "--", compile_program("simple"))
        self.assertEqual(done.returncode, 1)

    def test_two_at_once(self):
        """Two runs that choose the same name: each gets one of its own."""
        command = [WARPLENS, "profile", "--", compile_program("simple")]
        runs = [subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                for _ in range(3)]
        for process in runs:
            _, errors = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0, errors)
        self.assertEqual(sorted(os.listdir(self.folder)),
                         ["p.wlprof", "simple.1.wlprof", "simple.2.wlprof", "simple.wlprof"])


class Interrupts(Case):
    """Ctrl-C at each point at which files change (interrupt.c). During the run: test_cli.py."""

    def setUp(self):
        super().setUp()
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it

    def at_point(self, number, which, *command):
        """The command's result, and whether it got as far as to that point, where the signal was
        raised."""
        seen = os.path.join(WORK, "seen-" + self.id())
        with contextlib.suppress(FileNotFoundError):
            os.unlink(seen)
        done = run(*command, env={**os.environ, "LD_PRELOAD": os.path.join(os.path.dirname(WORK), "interrupt.so"),
                                  "INTERRUPT_AT": str(number), "INTERRUPT_BY": str(int(which)), "INTERRUPT_SEEN": seen})
        return done, os.path.exists(seen)

    def captures(self):
        """What a killed run leaves behind, by name; the folder is gone."""
        folder = Disk.capture(self)
        files = {}
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), "rb") as f:
                files[name] = f.read()
        shutil.rmtree(folder)
        return files

    path = WithProfile.path

    def make_folder(self, files):
        folder = self.path("captures")
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
        for name, content in files.items():
            with open(os.path.join(folder, name), "wb") as f:
                f.write(content)
        return folder

    def check_imported(self, done):
        """All is there, or nothing of it and the captures as they were. Returns whether it is."""
        if done.returncode == 0:
            self.assertEqual(self.stats()["coverage"]["launches_observed"], 1)
            self.assert_nothing_left("p.wlprof")
            os.unlink(self.wlprof)
            return True
        self.assertIn("cancelled", done.stderr)
        self.assert_nothing_left("captures")
        return False

    def test_import(self):
        files = self.captures()
        for which in (signal.SIGINT, signal.SIGUSR1):
            outcomes, number, reached = set(), 1, True
            while reached:
                folder = self.make_folder(files)
                done, reached = self.at_point(number, which, WARPLENS, "import", "-o", self.wlprof, folder)
                self.assertIn(done.returncode, (0, 128 + which), (number, done.stderr))
                outcomes.add(self.check_imported(done))
                number += 1
            self.assertEqual(outcomes, {True, False})
            self.assertGreater(number, 10)
            self.assertEqual(done.returncode, 0)

    def test_outputs(self):
        """The old file or the new one, whole, and nothing beside it."""
        self.assertEqual(self.profile(compile_program("simple")).returncode, 0)
        for command in (["report"], ["export", "--type", "json"], ["export", "--type", "sqlite"]):
            with self.subTest(command=command):
                self.interrupt_output(command, signal.SIGINT)
        self.interrupt_output(["export", "--type", "sqlite"], signal.SIGUSR1)

    def interrupt_output(self, command, which):
        output, number, reached, contents = self.path("out"), 1, True, set()
        while reached:
            with open(output, "wb") as f:
                f.write(b"old")
            done, reached = self.at_point(number, which, WARPLENS, *command, "-f", "-o", output, self.wlprof)
            if reached and "sqlite" not in command:
                self.assertEqual(done.returncode, -which, (number, done.stderr))
            else:  # where it is nearly done, a copy of a profile is finished
                self.assertIn(done.returncode, (0, 128 + which) if reached else (0,), (number, done.stderr))
            with open(output, "rb") as f:
                contents.add(f.read())
            self.assert_nothing_left("p.wlprof", "out")
            number += 1
        self.assertEqual(len(contents), 2)
        self.assertIn(b"old", contents)
        self.assertGreater(number, 6)
        os.unlink(output)

    def test_profile(self):
        """Before the program, after it, and while its profile is written."""
        number, reached, statuses = 1, True, set()
        while reached:
            done, reached = self.at_point(number, signal.SIGINT, WARPLENS, "profile", "-o", self.wlprof, "--",
                                          compile_program("simple"))
            self.assertIn(done.returncode, (0, -signal.SIGINT, 128 + signal.SIGINT), (number, done.stderr))
            statuses.add(done.returncode)
            left = os.listdir(self.folder)
            if done.returncode == 128 + signal.SIGINT and "tries again" in done.stderr:
                self.assertEqual([".captures-" in name for name in left], [True], (number, left))
                shutil.rmtree(self.path(left[0]))
            else:
                self.assertEqual(left, ["p.wlprof"] if done.returncode == 0 else [], (number, done.stderr))
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.wlprof)
            number += 1
        self.assertIn(0, statuses)
        self.assertIn(128 + signal.SIGINT, statuses)


class Outputs(WithProfile):
    """stdout that is full, closed, or read by nobody."""

    def test_full(self):
        with open("/dev/full", "w") as full:
            for command in [*self.readers(), [WARPLENS, "--help"], [WARPLENS, "--version"], [WARPLENS, "devices"],
                            [WARPLENS, "doctor"], [WARPLENS, "export", "-o", "/dev/full", self.wlprof]]:
                done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
                self.assertEqual(done.returncode, 1, command)
                self.assertRegex(done.stderr, "No space left|is there room", command)

    def test_closed(self):
        for command in self.readers():
            done = run("sh", "-c", '"$@" >&-', "sh", *command)
            self.assertEqual(done.returncode, 1, command)
            self.assertIn("cannot write", done.stderr, command)

    def test_read_by_nobody(self):
        for command in self.readers():
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
                process.stdout.close()
                self.assertEqual(process.stderr.read(), "", command)
            self.assertEqual(process.returncode, -signal.SIGPIPE, command)


class Hostile(WithProfile):
    """Bytes changed at random: never a crash, never silence. The fuzzers go deeper; this goes
    through the commands."""

    def damaged(self, whole, rng):
        data = bytearray(whole)
        for _ in range(rng.choice((1, 4, 64))):
            data[rng.randrange(len(data))] = rng.choice((0, 255, rng.randrange(256)))
        return bytes(data[:rng.randrange(len(data))] if rng.random() < 0.2 else data)

    def check(self, command, seed):
        done = subprocess.run(command, capture_output=True, check=False, timeout=120)
        self.assertIn(done.returncode, (0, 1, 3), (seed, command, done.stderr))
        if done.returncode == 1:
            self.assertIn(b"==WARPLENS==", done.stderr, (seed, command))

    def test_profiles(self):
        with open(self.wlprof, "rb") as f:
            whole = f.read()
        bad = self.path("bad.wlprof")
        for seed in range(40):
            with open(bad, "wb") as f:
                f.write(self.damaged(whole, random.Random(seed)))
            for command in [*self.readers(bad),
                            [WARPLENS, "export", "--type", "sqlite", "-f", "-o", self.path("copy"), bad]]:
                self.check(command, seed)

    def test_captures(self):
        captures = Disk.capture(self)
        name = glob.glob(os.path.join(captures, "*.wlcap"))[0]
        with open(name, "rb") as f:
            whole = f.read()
        for seed in range(100):
            os.makedirs(captures, exist_ok=True)
            with open(name, "wb") as f:
                f.write(self.damaged(whole, random.Random(seed)))
            self.check([WARPLENS, "import", "-f", "-o", self.path("x.wlprof"), captures], seed)

    def test_a_schema_of_somebody_else(self):
        for statement in ("DROP TABLE instructions; CREATE VIEW instructions AS SELECT * FROM launches",
                          "CREATE TABLE extra (x)", "DELETE FROM kernels", "UPDATE objects SET name = randomblob(1000)"):
            copy = self.path("copy.wlprof")
            shutil.copy(self.wlprof, copy)
            with contextlib.closing(sqlite3.connect(copy)) as db:
                db.executescript(statement)
            for command in self.readers(copy):
                self.check(command, statement)


class Sources(Case):
    """What a program lacks that explains its kernels."""

    def setUp(self):
        super().setUp()
        self.source = os.path.join(self.folder, "column.cu")
        self.program = os.path.join(self.folder, "column")
        shutil.copy(os.path.join(HERE, "programs", "templates.cu"), self.source)
        shutil.copy(os.path.join(HERE, "programs", "common.h"), self.folder)

    def build(self, *flags):
        if not NVCC:
            self.skipTest("no nvcc here")
        subprocess.run([NVCC, *flags, "-o", self.program, self.source], check=True)

    def profiled(self):
        done = self.profile(self.program)
        self.assertEqual((done.returncode, done.stdout), (0, "ok\n"), done.stderr)
        text = run(WARPLENS, "stats", self.wlprof)
        self.assertEqual(text.returncode, 0, text.stderr)
        report = run(WARPLENS, "report", "-f", self.wlprof)
        self.assertEqual(report.returncode, 0, report.stderr)
        finding = next(f for f in self.stats()["findings"] if f["pattern"] == "strided")
        return text.stdout, finding

    def test_no_line_information(self):
        self.build()
        text, finding = self.profiled()
        self.assertEqual(finding["lines"], [])
        self.assertIn("-lineinfo", text)

    def test_a_source_that_is_gone(self):
        self.build("-lineinfo")
        os.unlink(self.source)
        text, finding = self.profiled()
        self.assertEqual(os.path.basename(finding["lines"][0]["file"]), "column.cu")
        self.assertIn("column.cu:", text)
        self.assertIn("column.cu (not found)", text)

    def test_a_source_that_was_changed(self):
        self.build("-lineinfo")
        with open(self.source, "a") as f:
            f.write("// later\n")
        later = os.path.getmtime(self.program) + 10
        os.utime(self.source, (later, later))
        text, _ = self.profiled()
        self.assertIn("column.cu was changed after", text)

    def test_stored_sources_outlive_the_files(self):
        self.build("-lineinfo")
        self.profiled()
        os.unlink(self.source)
        self.assertIn("data[i] +=", run(WARPLENS, "stats", self.wlprof).stdout)


if __name__ == "__main__":
    main()
