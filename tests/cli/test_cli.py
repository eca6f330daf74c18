#!/usr/bin/env python3
"""The command line end to end, the failure cases above all.

    test_cli.py WARPLENS WORK [NVCC] [-- unittest arguments]

Each program in programs/ is compiled once. Without nvcc the tests that need CUDA programs are
skipped.
"""
import contextlib
import fcntl
import glob
import json
import os
import pty
import re
import resource
import signal
import sqlite3
import struct
import subprocess
import sys
import termios

from case import HERE, NVCC, WARPLENS, WORK, Case, compile_program, main, run


def in_terminal(columns, environment, *command):
    """What the command prints in a terminal of so many columns."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    child = subprocess.Popen(command, stdout=its, stderr=its, stdin=its,
                             env={**os.environ, "TERM": "xterm", **environment})
    os.close(its)
    shown = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    child.wait()
    os.close(ours)
    return shown.decode().replace("\r\n", "\n")


NO_PROFILE = 125  # the program did well, but nothing came of profiling it


class Usage(Case):
    def test_help_lists_every_command(self):
        done = run(WARPLENS, "--help")
        self.assertEqual(done.returncode, 0)
        for name in ("profile", "stats", "report", "explore", "export", "import", "devices", "doctor"):
            self.assertIn(f"  {name} ", done.stdout)
            self.assertEqual(run(WARPLENS, name, "--help").returncode, 0)

    def test_man_pages_name_every_option(self):
        man = os.path.join(HERE, "..", "..", "docs", "man")
        for name in ("profile", "stats", "report", "explore", "export", "import", "devices", "doctor"):
            with open(os.path.join(man, f"warplens-{name}.1")) as f:
                page = f.read().replace("\\-", "-")
            for word in run(WARPLENS, name, "--help").stdout.split():
                option = word.split("=")[0].strip("[],")
                if option.startswith("--") and option not in ("--", "--help", "--usage"):
                    self.assertIn(option, page, f"warplens-{name}.1")

    def test_wrong_command_lines(self):
        for command in ([], ["nothing"], ["profile"], ["stats"], ["stats", "a", "b"], ["profile", "--frobnicate", "x"],
                        ["profile", "--block", "1;2", "x"], ["profile", "--threads", "two", "x"],
                        ["profile", "--set", "some", "x"], ["profile", "--backend", "sass", "x"],
                        ["export", "--type", "xml", "x"], ["stats", "--format", "yaml", "x"]):
            done = run(WARPLENS, *command)
            self.assertEqual(done.returncode, 2, (command, done.stderr))
            self.assertTrue(done.stderr)

    def test_what_was_meant(self):
        for command, meant in ((["proflie"], "'profile'"), (["stat"], "'stats'"), (["help", "exprot"], "'export'"),
                               (["stats", "--formt", "json", "x"], "'--format'"), (["profile", "--kernel", "a", "x"], "'--kernel-name'"),
                               (["report", "--ouptut=a.html", "x"], "'--output'"), (["profile", "--device", "h20", "x"], "h200")):
            done = run(WARPLENS, *command)
            self.assertEqual(done.returncode, 2, command)
            self.assert_says(done, "did you mean " + meant)
        for command in (["zzz"], ["stats", "--zzz", "x"]):
            self.assertNotIn("did you mean", run(WARPLENS, *command).stderr)
        self.assert_says(run(WARPLENS, "./" + os.path.basename(sys.executable), cwd=os.path.dirname(sys.executable)),
                         "'warplens profile ./")

    def test_help_of_a_command(self):
        for name in ("profile", "stats", "ptx"):
            self.assertEqual(run(WARPLENS, "help", name).stdout, run(WARPLENS, name, "--help").stdout)

    def test_options_without_effect(self):
        for command in (["stats", "--table", "objects", "x"], ["stats", "--format", "json", "-k", "a", "x"],
                        ["stats", "--format", "csv", "--all", "x"], ["stats", "--finding", "1", "--all", "x"],
                        ["stats", "--finding", "-1", "x"], ["stats", "-k", "regex:(", "x"], ["ptx", "-k", "regex:(", "x"],
                        ["profile", "--backend", "emulate", "--collect", "probe", "x"],
                        ["profile", "--device", "a100", "--replay-budget", "9s", "x"]):
            done = run(WARPLENS, *command)
            self.assertEqual(done.returncode, 2, (command, done.stderr))
        done = run(WARPLENS, "profile", "-o", self.wlprof, "--collect", "probe", "--", "true",
                   env={**os.environ, "WARPLENS_DRIVER": "/nowhere"})
        self.assert_says(done, "--collect has no effect here")

    def test_thresholds(self):
        table = os.path.join(HERE, "..", "..", "src", "analysis", "thresholds.def")
        with open(table) as f:
            known = re.findall(r"^X\((\w+), ([\d.e]+),", f.read(), re.M)
        done = run(WARPLENS, "stats", "--thresholds", "--set-threshold", "idle_calls=7", "--width", "80")
        self.assertEqual(done.returncode, 0, done.stderr)
        listed = re.findall(r"^  (\w+)  (\S+)  \(default (\S+)\)\n      \S", done.stdout, re.M)
        self.assertEqual([row[0] for row in listed], [name for name, _ in known])
        for (name, value, default), (_, initial) in zip(listed, known, strict=True):
            self.assertEqual(float(default), float(initial), name)
            self.assertEqual(float(value), 7 if name == "idle_calls" else float(initial), name)
        self.assertTrue(all(len(line) <= 80 for line in done.stdout.splitlines()))
        for command in ("stats", "advise", "report", "export"):
            for setting, text in (("idle_cals=3", "did you mean 'idle_calls'?"), ("idle_calls=x", "not 'x'"),
                                  ("idle_calls", "a number from 0")):
                done = run(WARPLENS, command, "--set-threshold", setting, "x")
                self.assertEqual(done.returncode, 2, (command, setting))
                self.assert_says(done, f"{command}: --set-threshold {setting}: ", text)
        for command in (["stats", "--thresholds", "x"], ["stats", "--thresholds", "--all"],
                        ["stats", "--thresholds", "--format", "json"], ["stats", "--objects", "--format", "json", "x"],
                        ["stats", "--objects", "-k", "a", "x"], ["stats", "--objects", "--thresholds"],
                        ["export", "--type", "sqlite", "--set-threshold", "idle_calls=3", "-o", "y", "x"]):
            self.assertEqual(run(WARPLENS, *command).returncode, 2, command)

    def test_backend_from_the_environment(self):
        def profile(backend, *options):
            return run(WARPLENS, "profile", *options, "-o", self.wlprof, "--", "true", env={**os.environ, "WARPLENS_BACKEND": backend})

        self.assertIn("not 'voodoo'", profile("voodoo").stderr)
        self.assertEqual(profile("voodoo").returncode, 2)
        # `true` makes no CUDA call: it runs, and there is nothing to profile
        self.assertEqual(profile("voodoo", "--backend", "emulate").returncode, NO_PROFILE)
        self.assertEqual(profile("auto", "-f").returncode, NO_PROFILE)
        self.assertEqual(profile("auto", "-f", "--device", "a100").returncode, NO_PROFILE)

    def test_devices(self):
        done = run(WARPLENS, "devices")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("h200", done.stdout)
        self.assertIn("(default)", done.stdout)
        self.assertIn("compute capability", run(WARPLENS, "devices", "h200").stdout)
        self.assertRegex(run(WARPLENS, "devices", "c2050").stdout, r"cited from Sim et al.*Table 3\n(  .*\n)*  departure_delay +20  cycles\n")
        unknown = run(WARPLENS, "devices", "voodoo2")
        self.assertEqual(unknown.returncode, 1)
        self.assert_says(unknown, "voodoo2", "h200")

    def test_the_collector_leaves_the_libraries_of_an_application_alone(self):
        library = os.path.join(os.path.dirname(os.path.dirname(WARPLENS)), "lib/warplens/emulate/libwarplens_emulate.so")
        names = subprocess.run(["nm", "-D", "--undefined-only", library], capture_output=True, text=True, check=True).stdout
        self.assertIn(" dlopen", names)
        self.assertNotRegex(names, r" U (json|sqlite3|ZSTD|XXH)_")

    def test_doctor(self):
        done = run(WARPLENS, "doctor")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertNotIn("BAD", done.stdout)

    def test_doctor_counts_descriptions_of_devices(self):
        folder = os.path.join(self.folder, "devices")
        for file, status, text in ((None, 1, f'BAD +device descriptions +no folder .*"{folder}"'),
                                   ("notes.txt", 1, f"BAD +device descriptions +none in {folder}"),
                                   ("one.json", 0, f"ok +device descriptions +1 in {folder}")):
            if file:
                os.makedirs(folder, exist_ok=True)
                open(os.path.join(folder, file), "w").close()
            done = run(WARPLENS, "doctor", env={**os.environ, "WARPLENS_DEVICES": folder})
            self.assertRegex(done.stdout, text)
            self.assertEqual(done.returncode, status, done.stdout)

    def test_totals_of_ptx(self):
        """Of two files with the same kernels and one that is none."""
        kernels = {"direct": "st.global.u32 [%d0], 1;", "timed": "mov.u64 %d1, %clock64; st.global.u32 [%d1], 1;", "nothing": "",
                   "less": "ld.global.u64 %d1, [%d0]; st.global.u32 [%d1], 1; st.global.u32 [%d1+4], 1;",
                   "half": "ld.global.u64 %d1, [%d0]; st.global.u32 [%d1], 1;"}
        good, bad = os.path.join(self.folder, "good.ptx"), os.path.join(self.folder, "bad.ptx")
        with open(good, "w") as f:
            f.write(".version 8.0\n.target sm_80\n.address_size 64\n" + "".join(
                f".visible .entry {name}(.param .u64 p)\n{{ .reg .u64 %d<2>; ld.param.u64 %d0, [p]; {body} ret; }}\n"
                for name, body in kernels.items()))
        with open(bad, "w") as f:
            f.write("no PTX")
        done = run(WARPLENS, "ptx", "--format", "json", "--summary", good, good, bad)
        self.assertEqual(done.returncode, 1)
        totals = json.loads(done.stdout)["totals"]
        reasons = {(r["reason"], r["through"]): (r["accesses"], r["kernels"]) for r in totals.pop("reasons")}
        self.assertEqual(totals, {"files": 3, "unread": 1, "kernels": 5, "duplicates": 5, "independent": 1, "half_or_more": 1,
                                  "less_than_half": 1, "none": 1, "no_memory": 1, "accesses": 7, "proven": 3})
        self.assertEqual(reasons[("loaded", "address")], (3, 2))


class PlainPrograms(Case):
    def test_streams_and_status_pass_through(self):
        done = self.profile(compile_program("plain"), "7", input="some input\n")
        self.assertEqual(done.returncode, 7)
        self.assertEqual(done.stdout, "some input\n")
        self.assert_says(done, "to stderr", "made no CUDA call")
        self.assert_nothing_left()

    def test_error_exitcode(self):
        done = self.profile(compile_program("plain"), options=["--error-exitcode", "9"], input="")
        self.assertEqual(done.returncode, 9)

    def test_nothing_measured_is_no_success(self):
        plain = compile_program("plain")
        self.assertEqual(self.profile(plain, "0", input="").returncode, NO_PROFILE)
        self.assertEqual(self.profile(plain, "0", input="", options=["--keep-exitcode"]).returncode, 0)
        self.assertEqual(self.profile(plain, "7", input="").returncode, 7)
        quiet = self.profile(plain, "0", input="", options=["-q"])
        self.assert_says(quiet, "no profile was written")
        with open(self.wlprof, "w") as f:
            f.write("of yesterday")
        self.assert_says(self.profile(plain, "0", input="", options=["-f"]), "p.wlprof is the profile of an earlier run")

    def test_signals(self):
        """Those that come to warplens alone go to the program; ignored ones stay ignored."""
        wait = ("import os, signal, sys\n"
                "def got(*_):\n    os.write(1, b'got\\n')\n    os._exit(5)\n"
                "signal.signal(signal.SIG%s, got)\nos.write(1, b'ready\\n')\nsignal.pause()")
        for name in ("TERM", "HUP", "USR1", "USR2", "ALRM", "INT"):
            process = subprocess.Popen([WARPLENS, "profile", "-o", self.wlprof, "--", sys.executable, "-c", wait % name],
                                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            self.assertEqual(process.stdout.readline(), "ready\n")
            process.send_signal(getattr(signal, "SIG" + name))
            self.assertEqual(process.communicate(timeout=60)[0], "got\n", name)
            self.assertEqual(process.returncode, 5, name)
        done = subprocess.run(["nohup", WARPLENS, "profile", "-o", self.wlprof, "--", "sh", "-c", "kill -HUP $$; echo alive"],
                              capture_output=True, check=False, text=True, stdin=subprocess.DEVNULL)
        self.assertEqual(done.stdout, "alive\n")

    def test_the_limit_of_files_ends_programs_as_it_did(self):
        """warplens survives SIGXFSZ itself; the program has it as warplens was given it."""
        for ignored in (False, True):
            action = signal.SIG_IGN if ignored else signal.SIG_DFL
            done = self.profile("grep", "SigIgn", "/proc/self/status", restore_signals=False,
                                preexec_fn=lambda action=action: signal.signal(signal.SIGXFSZ, action))
            mask = int(done.stdout.split()[1], 16)
            self.assertEqual(bool(mask >> (signal.SIGXFSZ - 1) & 1), ignored, done.stderr)

    def test_no_such_program(self):
        done = self.profile(os.path.join(self.folder, "missing"))
        self.assertEqual(done.returncode, 127)
        self.assertEqual(run(WARPLENS, "profile", "no-such-program-along-PATH").returncode, 127)
        self.assert_says(done, "missing")
        self.assert_nothing_left()

    def test_folder_that_is_not_there(self):
        done = run(WARPLENS, "profile", "-o", os.path.join(self.folder, "no", "p.wlprof"), "--", compile_program("plain"),
                   input="")
        self.assertEqual(done.returncode, 1)
        self.assert_says(done, "cannot write")

    def test_not_a_profile(self):
        for content in (b"", b"not a profile", b"SQLite format 3\0" + bytes(100)):
            with open(self.wlprof, "wb") as f:
                f.write(content)
            for command in ("stats", "report", "export"):
                done = run(WARPLENS, command, self.wlprof)
                self.assertEqual(done.returncode, 1, (command, content))
                self.assert_says(done, "p.wlprof")
        self.assertEqual(run(WARPLENS, "stats", self.wlprof + ".gone").returncode, 1)


class CudaPrograms(Case):
    def test_simple(self):
        done = self.profile(compile_program("simple"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "ok\n")
        stats = self.stats()
        self.assertEqual(stats["schema"], "warplens/1")
        self.assertEqual(stats["coverage"]["launches_seen"], 8)
        self.assertEqual(stats["coverage"]["launches_observed"], 8)
        self.assertEqual(stats["memory"]["peak_bytes"], 4 * 40000)
        self.assert_nothing_left("p.wlprof")

    def test_the_program_chooses_what_is_observed(self):
        program = compile_program("profiler")
        for choice, blocks in (("on", [8, 2, 2, 3]), ("off", [2, 2])):
            self.setUp()
            done = self.profile(program, options=["--profile-from-start", choice])
            self.assertEqual((done.returncode, done.stdout), (0, "ok\n"), done.stderr)
            stats = self.stats()
            self.assertEqual([launch["grid"][0] for launch in stats["launches"]], blocks)
            reasons = [skipped["reason"] for skipped in stats["coverage"]["skipped"]]
            self.assertEqual(stats["coverage"]["launches_seen"], 4)
            self.assertEqual(any("--profile-from-start off" in reason for reason in reasons), choice == "off")
            self.assertEqual(stats["memory"]["peak_bytes"], 4000)

    def test_what_a_prediction_is_not_sure_of(self):
        """64 lanes that change one word by compare and swap wait for each other."""
        done = self.profile(compile_program("swaps"), options=["--threads", "1", "--device", "h200"])
        self.assertEqual(done.returncode, 0, done.stderr)
        models = [one["model"] for one in self.stats()["launches"]]
        unsure = [one.get("unsure", []) for one in models]
        self.assertEqual(unsure, [["compare-and-swap"]] * 3 + [[], ["managed-memory"], []])
        add, apart, larger = models[:3]
        with open(os.path.join(HERE, "..", "..", "devices", "h200.json")) as f:
            figures = {key: value[0] for key, value in json.load(f)["measured"]["figures"].items()}
        rounds = 64 * figures["cas_latency"] / figures["clock"] + 64 * 32 / figures["cas_lanes"]
        self.assertAlmostEqual(add["resources"]["atomics"], rounds + 64 / figures["atomic_same_requests"], delta=1e-12)
        self.assertLess(add["low"], add["seconds"] - rounds)
        self.assertLess(apart["resources"]["atomics"], rounds / 20)
        self.assertLess(larger["resources"]["atomics"], rounds / 20)
        self.assertGreaterEqual(larger["high"], larger["seconds"] + 0.9 * rounds)

    def test_heat_maps_of_some_launches(self):
        """Of five launches of each of seven shapes, observed each: all are counted."""
        sums = {}
        for first, mapped in (("0", 35), ("16", 35), ("2", 28), ("1", 28)):
            done = self.profile(compile_program("many"), "35", options=["-f", "--heat-launches", first],
                                env={**os.environ, "WARPLENS_MEMO": "0"})
            self.assertEqual(done.returncode, 0, done.stderr)
            stats = self.stats()
            self.assertEqual(stats["coverage"]["launches_observed"], 35)
            self.assertEqual(stats["coverage"]["launches_mapped"], mapped, first)
            sums[first] = [(i["requests"], i["sectors"]) for i in stats["instructions"]]
        self.assertEqual(sums["0"], sums["1"])
        self.assertIn("in 28 of 35 launches", run(WARPLENS, "stats", self.wlprof).stdout)

    def test_progress(self):
        """By a clock that goes on a second at each look: lines, one in a terminal, none with -q."""
        clock = {"LD_PRELOAD": os.path.join(os.path.dirname(WORK), "clock.so")}
        options = [WARPLENS, "profile", "-f", "-o", self.wlprof]
        program = ["--", compile_program("many"), "40"]
        launch = r"==WARPLENS== launch (\d+), of fill: block 1 of \d"
        lines = run(*options, *program, env={**os.environ, **clock})
        self.assertEqual(lines.returncode, 0, lines.stderr)
        told = [int(n) for n in re.findall(launch, lines.stderr)]
        self.assertGreater(len(told), 3)
        self.assertLess(len(told), 35)  # not of each launch
        self.assertEqual(told, sorted(set(told)))
        self.assertNotIn("\r", lines.stderr)
        self.assertNotIn("launch", run(*options, "-q", *program, env={**os.environ, **clock}).stderr)
        self.assertRegex(in_terminal(100, clock, *options, *program), "\r" + launch)
        self.assertNotIn("block 1", run(*options, *program).stderr)

    def test_memory_of_two_devices(self):
        done = self.profile(compile_program("devices"), options=["--device", "h200,h200"])
        self.assertEqual(done.stdout, "done\n", done.stderr)
        memory = self.stats()["memory"]
        peaks = [(d["device"], d["peak_bytes"] >> 10) for d in memory["devices"]]
        self.assertEqual(peaks, [(0, 700), (1, 900)])
        course = [[m["bytes"] >> 10 for m in d["over_time"]] for d in memory["devices"]]
        self.assertEqual(course, [[600, 700, 100, 0], [900, 0, 300, 0]])
        self.assertEqual(memory["peak_bytes"], 900 << 10)
        self.assertEqual(len(memory["peaks"][1]["objects"]), 2)
        shown = run(WARPLENS, "stats", self.wlprof).stdout
        for line in ("memory     700 KiB at the peak on device 0", "900 KiB at the peak on device 1"):
            self.assertIn(line, shown)

    def query(self, sql):
        with contextlib.closing(sqlite3.connect(self.wlprof)) as database:
            return database.execute(sql).fetchall()

    def test_what_became_of_objects(self):
        done = self.profile(compile_program("lives"))
        self.assertEqual((done.returncode, done.stdout), (0, "done\n"), done.stderr)
        self.assertEqual(self.query("SELECT bytes / 1024, freed_how, freed_by, pool FROM v_objects WHERE kind = 'device' ORDER BY 1"), [
            (1, "program", "cudaFree", None),
            (2, "program", "cudaFreeAsync", 1),
            (3, "program", "cudaFreeAsync", 2),
            (4, "program", "cudaFreeAsync", 3),
            (5, "context", None, None),
            (6, "exit", None, None),
            (7, "program", "cudaFree", None),
        ])
        self.assertEqual(self.query("SELECT pool, kind, device, objects, bytes / 1024 FROM v_pools ORDER BY 1"),
                         [(1, "default", 0, 1, 2), (2, "created", 0, 1, 3), (3, "created", 0, 1, 4)])
        frees = "SELECT o.bytes / 1024, c.bytes / 1024 FROM calls c JOIN objects o ON o.id = c.source_object WHERE c.api = 'cudaFreeAsync' ORDER BY 1"
        self.assertEqual(self.query(frees), [(2, 2), (3, 3), (4, 4)])
        objects = {o["bytes"] >> 10: o for o in self.stats()["objects"]}
        self.assertEqual([objects[kib]["freed_how"] for kib in range(1, 7)], ["program"] * 4 + ["context", "exit"])
        self.assertEqual([objects[kib].get("pool") for kib in range(1, 7)], [None, 1, 2, 3, None, None])

    def test_what_kernels_allocate(self):
        told = "SELECT bytes / 1024, made_by, name, freed_how, allocated_by, freed_by FROM v_objects WHERE kind = 'heap' ORDER BY id"
        runs = []
        for threads in "1", "2":
            done = self.profile(compile_program("lives"), options=["-f", "--threads", threads])
            self.assertEqual((done.returncode, done.stdout), (0, "done\n"), done.stderr)
            runs.append(self.query(told))
        self.assertEqual(runs[0], runs[1])
        lines = {}
        with open(os.path.join(HERE, "programs", "lives.cu")) as f:
            for number, line in enumerate(f, 1):
                lines.update({line.split("*")[1].split()[0]: number} if "= static_cast<char *>(malloc" in line else {})
        first, third, second, fourth = (
            f"{name} #{number}, {kib} KiB (lives.cu:{lines[name]})"
            for name, kib in (("shortly", 10), ("longer", 11)) for number in (1, 2))
        launch = "cudaLaunchKernel"
        self.assertEqual(runs[0][:4], [
            (10, "cut", first, "kernel", launch, launch),
            (11, "cut", second, "kernel", launch, launch),
            (10, "cut", third, "kernel", launch, launch),
            (11, "cut", fourth, "context", launch, None),
        ])
        self.assertEqual({row[:2] + row[3:] for row in runs[0][4:]}, {(12, "litter", "exit", launch, None)})
        self.assertEqual(len(runs[0][4:]), 256)  # of 600
        written = self.query("SELECT object, requests FROM v_instructions WHERE kernel = 'cut' AND access = 'store' AND object LIKE 'longer%'")
        self.assertEqual(sorted(written), [(second, 1), (fourth, 1)])
        stats = self.stats()
        self.assertEqual(stats["coverage"]["objects_dropped"], 344)
        self.assertEqual({o.get("made_by") for o in stats["objects"]}, {None, "cut(char**)", "litter()"})
        self.assertEqual(stats["memory"]["peak_bytes"], 7 * 1024)  # the heap is not the program's
        self.assertIn("344 allocations by kernels are not objects of their own", run(WARPLENS, "stats", self.wlprof).stdout)

    def keys(self, folder, source):
        """What a build of the source in a folder of its own gives: the keys of its kernels by name,
        of its objects, of its findings; and the lines that those name."""
        os.makedirs(folder)
        path = os.path.join(folder, os.path.basename(folder) + ".cu")
        with open(path, "w") as f:
            f.write(source)
        program = path[:-3]
        include = os.path.join(HERE, "programs")
        subprocess.run([NVCC, "-g", "-lineinfo", "-I", include, "-o", program, path], check=True)
        done = self.profile(program, options=["-f"])
        self.assertEqual(done.returncode, 0, done.stderr)
        stats = self.stats()
        lines = [at["line"] for f in stats["findings"] for at in f["lines"]]
        return ({k["name"]: k["key"] for k in stats["kernels"]}, [o["key"] for o in stats["objects"]],
                [(f["pattern"], f["key"]) for f in stats["findings"]], lines)

    def test_keys_survive_a_build_and_moved_lines(self):
        if not NVCC:
            self.skipTest("no nvcc here")
        with open(os.path.join(HERE, "programs", "keys.cu")) as f:
            source = f.read()
        *before, lines = self.keys(os.path.join(self.folder, "one"), source)
        *after, moved = self.keys(os.path.join(self.folder, "two"), source.replace("// here", "\n" * 7))
        self.assertEqual(before, after)
        kernels, objects, findings = before
        self.assertEqual(len(set(kernels.values())), 4, kernels)
        self.assertEqual(len(set(objects)), len(objects))
        self.assertGreaterEqual(len(set(findings)), 2)
        self.assertTrue(lines and all(a < b for a, b in zip(lines, moved, strict=True)), (lines, moved))

    def test_options_without_effect_are_refused(self):
        """Before anything is written or run."""
        self.assertEqual(self.profile(compile_program("simple")).returncode, 0)
        out = os.path.join(self.folder, "out")
        ptx = os.path.join(self.folder, "k.ptx")
        with open(ptx, "w") as f:
            f.write(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n")
        trace = os.path.join(self.folder, "started")
        for command in (["report", "-f", "-o", "-"], ["report", "--open", "-o", "-"], ["export", "-f"], ["export", "-f", "-o", "-"],
                        ["export", "--table", "launches"], ["export", "--type", "sarif", "--table", "launches", "-o", out],
                        ["export", "--type", "sqlite", "--table", "launches", "-o", out],
                        ["stats", "--format", "json", "--width", "80"], ["stats", "--format", "csv", "-a"]):
            self.refuse(command[0], [*command, self.wlprof])
        for options in (["--everything"], ["--alone"], ["--summary", "--dump", "cfg"]):
            self.refuse("ptx", ["ptx", *options, ptx])
        for options in (["--block", "0", "--set", "basic"], ["--heat-launches", "3", "--set", "basic"],
                        ["--keep-exitcode", "--error-exitcode", "3"], ["--probe-launches", "3", "--collect", "replay"],
                        ["--device-memory", "3", "--collect", "replay"],
                        ["--wait", "all", "--target-processes", "application-only"]):
            self.refuse("profile", ["profile", *options, "-o", out, "--", "touch", trace])
        for command in (["devices", "h200", "a100"], ["doctor", "/bin/true", "/bin/false"]):
            self.refuse(command[0], command, "not several")
        self.assert_nothing_left("p.wlprof", "k.ptx")

    def refuse(self, name, command, *texts):
        done = run(WARPLENS, *command)
        self.assertEqual(done.returncode, 2, (command, done.stderr))
        self.assertEqual(done.stdout, "", command)
        self.assert_says(done, name + ": ", *(texts or ["no effect"]))

    def test_refuses_to_overwrite(self):
        self.assertEqual(self.profile(compile_program("simple")).returncode, 0)
        before = os.stat(self.wlprof).st_mtime_ns
        again = self.profile(compile_program("simple"))
        self.assertEqual(again.returncode, 1)
        self.assert_says(again, "-f replaces it")
        self.assertEqual(os.stat(self.wlprof).st_mtime_ns, before)
        self.assertEqual(self.profile(compile_program("simple"), options=["-f"]).returncode, 0)

    def test_name_patterns(self):
        run(WARPLENS, "profile", "-o", os.path.join(self.folder, "%q{WHO}-%p.wlprof"), "--", compile_program("simple"),
            env={**os.environ, "WHO": "me"})
        self.assertRegex(" ".join(os.listdir(self.folder)), r"^me-\d+\.wlprof$")

    def test_kernel_filters(self):
        self.profile(compile_program("simple"), options=["-k", "scale", "-c", "3"])
        stats = self.stats()
        self.assertEqual(stats["coverage"]["launches_observed"], 3)
        self.assertEqual(stats["coverage"]["launches_seen"], 8)
        self.assertTrue(all("scale" in launch["kernel"] for launch in stats["launches"]))
        self.assertTrue(stats["coverage"]["skipped"])

    def test_findings_follow_thresholds(self):
        """A finding is gone above its threshold, and what is shown says that it was set."""
        self.assertEqual(self.profile(compile_program("findings")).returncode, 0)
        usual = self.stats()
        self.assertNotIn("thresholds", usual)
        self.assertEqual({f["pattern"] for f in usual["findings"]}, {"bank-conflict", "misaligned", "strided"})
        setting = ("--set-threshold", "misaligned_share=1.5", "--set-threshold", "bank_ratio=33")
        done = run(WARPLENS, "stats", "--format", "json", *setting, self.wlprof)
        found = json.loads(done.stdout)
        self.assertEqual({f["pattern"] for f in found["findings"]}, {"strided"})
        self.assertEqual(found["thresholds"], [{"name": "misaligned_share", "value": 1.5, "initial": 0.25},
                                               {"name": "bank_ratio", "value": 33, "initial": 1.1}])
        exported = run(WARPLENS, "export", "--type", "json", *setting, self.wlprof)
        self.assertEqual(exported.stdout, done.stdout)
        told = "other thresholds than usual: misaligned_share 1.5 (default 0.25), bank_ratio 33 (default 1.1)"
        for command in ("stats", "advise"):
            self.assertIn(told, " ".join(run(WARPLENS, command, *setting, self.wlprof).stdout.split()))
            self.assertNotIn("thresholds", run(WARPLENS, command, self.wlprof).stdout)

    def test_the_newest_run_has_the_name(self):
        command = [WARPLENS, "profile", "-c", "1", "--", compile_program("simple")]
        self.assertEqual(run(*command, cwd=self.folder).returncode, 0)
        self.assertEqual(run(WARPLENS, "stats", cwd=os.path.join(self.folder, "..")).returncode, 2)
        again = run(*command[:2], "-c", "2", *command[4:], cwd=self.folder)
        self.assert_says(again, "the profile of the previous run is now simple.1.wlprof")
        third = run(*command[:2], "-c", "3", *command[4:], cwd=self.folder)
        self.assert_says(third, "now simple.2.wlprof")
        counts = {name: json.loads(run(WARPLENS, "stats", "--format", "json", name, cwd=self.folder).stdout)
                  ["coverage"]["launches_observed"] for name in os.listdir(self.folder)}
        self.assertEqual(counts, {"simple.1.wlprof": 1, "simple.2.wlprof": 2, "simple.wlprof": 3})
        newest = run(WARPLENS, "stats", "--format", "json", cwd=self.folder)
        self.assertEqual(json.loads(newest.stdout)["coverage"]["launches_observed"], 3)
        self.assert_says(newest, "simple.wlprof, the newest in this folder")

    def test_a_replaced_file_keeps_its_mode(self):
        self.profile(compile_program("simple"))
        os.chmod(self.wlprof, 0o600)
        self.profile(compile_program("simple"), options=["-f"])
        self.assertEqual(os.stat(self.wlprof).st_mode & 0o777, 0o600)

    def test_options_stand_anywhere(self):
        self.profile(compile_program("simple"))
        self.assertEqual(json.loads(run(WARPLENS, "stats", self.wlprof, "--format", "json").stdout), self.stats())
        self.assertEqual(run(WARPLENS, "report", self.wlprof, "-o", self.wlprof + ".html", "-f").returncode, 0)

    def test_what_stats_shows(self):
        """Three findings whole, a line for each other; kernels by name, all that match."""
        self.profile(compile_program("findings"))
        def shown(*options):
            done = run(WARPLENS, "stats", self.wlprof, *options)
            self.assertEqual(done.returncode, 0, done.stderr)
            whole = [int(n) for n in re.findall(r"^ *(\d+)\. .*\n.*(?:avoidable|of the)", done.stdout, re.M)]
            brief = re.search(r"^Further findings.*?\n\n", done.stdout + "\n\n", re.M | re.S)
            rows = [int(n) for n in re.findall(r"^ +(\d+)\. ", brief[0], re.M)] if brief else []
            return [n for n in whole if n not in rows], rows, done.stdout

        everything, none, _ = shown("--all")
        self.assertGreater(len(everything), 4)
        self.assertEqual((everything, none), (sorted(everything), []))
        self.assertEqual(shown()[:2], (everything[:3], everything[3:]))
        self.assertEqual(shown("-n", "1")[:2], (everything[:1], everything[1:]))
        self.assertEqual(shown("--finding", "4")[:2], ([4], []))
        self.assertEqual(run(WARPLENS, "stats", "--finding", "99", self.wlprof).returncode, 2)
        self.assertEqual(len(re.findall(r"^Lines of", shown("-k", "regex:^column")[2], re.M)), 2)
        self.assertEqual(len(re.findall(r"^Lines of", shown("-k", "column_a")[2], re.M)), 1)
        missing = run(WARPLENS, "stats", "-k", "column_c", self.wlprof)
        self.assertEqual(missing.returncode, 3)
        self.assert_says(missing, "did you mean 'column_a'")

    def test_outputs(self):
        self.profile(compile_program("simple"))
        text = run(WARPLENS, "stats", self.wlprof)
        self.assertEqual(text.returncode, 0)
        self.assertIn("scale<int>", text.stdout)
        self.assertNotIn("\033", text.stdout)
        with contextlib.closing(sqlite3.connect(self.wlprof)) as db:
            self.assertEqual(db.execute("select value from info where key = 'command'").fetchone()[0],
                             f"warplens profile -o {self.wlprof} -- {compile_program('simple')}")
        report = os.path.join(self.folder, "p.html")
        written = run(WARPLENS, "report", self.wlprof)
        self.assertEqual(written.returncode, 0)
        self.assert_says(written, f"report: {report}\n")
        self.assertGreater(os.path.getsize(report), 10000)
        self.assertEqual(run(WARPLENS, "report", "-o", "-", self.wlprof).stderr, "")
        refused = run(WARPLENS, "report", self.wlprof)  # it is there
        self.assertEqual(refused.returncode, 1)
        self.assertNotIn("report: ", refused.stderr)
        self.assertEqual(run(WARPLENS, "report", "-f", "--maps", "all", self.wlprof).returncode, 0)
        wrong = run(WARPLENS, "report", "-f", "--maps", "many", self.wlprof)
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("--maps is some or all, not 'many'", wrong.stderr)
        csv = run(WARPLENS, "export", "--type", "csv", self.wlprof)
        self.assertIn("requests", csv.stdout.splitlines()[0])
        sarif = json.loads(run(WARPLENS, "export", "--type", "sarif", self.wlprof).stdout)
        self.assertEqual(sarif["version"], "2.1.0")
        copy = os.path.join(self.folder, "copy.sqlite")
        self.assertEqual(run(WARPLENS, "export", "--type", "sqlite", "-o", copy, self.wlprof).returncode, 0)
        self.assertEqual(sqlite3.connect(copy).execute("pragma integrity_check").fetchone()[0], "ok")
        self.assertEqual(json.loads(run(WARPLENS, "export", self.wlprof).stdout), self.stats())

    def samples(self, *options):
        done = self.profile(compile_program("odd"), options=["-f", *options])
        self.assertEqual(done.returncode, 0, done.stderr)
        kernels = {launch["id"]: launch["kernel"].split("(")[0] for launch in self.stats()["launches"]}
        return [(kernels[s["launch"]], s["block"], s["why"], s.get("alike"), s["of"], s["mapped"])
                for s in self.stats()["samples"]]

    def test_blocks_that_stand_for_others(self):
        self.assertEqual(self.samples(), [("one_odd", [0, 0, 0], "typical", 99, 100, True),
                                          ("one_odd", [47, 0, 0], "outlier", 1, 100, True),
                                          ("edges", [0, 0, 0], "typical", 60, 256, True),
                                          ("edges", [5, 4, 0], "typical", 196, 256, True)])
        self.assertEqual(self.samples("--block", "auto", "--threads", "1"), self.samples("--threads", "5"))

    def test_blocks_asked_for(self):
        self.assertEqual(self.samples("--block", "3", "--block", "2,1"), [("one_odd", [3, 0, 0], "asked", None, 100, True),
                                                                          ("edges", [3, 0, 0], "asked", None, 256, True),
                                                                          ("edges", [2, 1, 0], "asked", None, 256, True)])
        self.assertEqual(len(self.samples("--block", "all")), 100 + 256)
        self.assertEqual(self.samples("--set", "basic"), [])
        both = self.profile(compile_program("odd"), options=["-f", "--block", "all", "--block", "1"])
        self.assertEqual(both.returncode, 2)
        self.assert_says(both, "stands alone")

    def test_elements(self):
        done = self.profile(compile_program("elements"), options=["--probes", "touch,frequency,shared"])
        self.assertEqual((done.returncode, done.stdout), (0, "128\n"), done.stderr)
        keys = "bytes", "touched_bytes", "loads", "stores", "atomics", "accesses_mean", "accesses_max", "rarely_used_bytes"
        self.assertEqual({one["name"].split(" ")[0]: tuple(one[key] for key in keys) for one in self.stats()["objects"]},
                         {"data": (2048, 1024, 256, 0, 0, 0.5, 1, 0),
                          "weights": (64, 32, 8 * 256, 0, 0, 128, 256, 0),  # 8 of 16, by every thread
                          "out": (1024, 512, 0, 128, 0, 0.5, 1, 0),
                          "count": (4, 4, 0, 0, 128, 128, 128, 0),
                          "tile": (256, 256, 4 * 64 * 8, 4 * 64, 0, 36, 36, 0)})  # in 4 blocks
        tile = {use["object"].split(" ")[0]: use for use in self.stats()["uses"]}["tile"]  # each word is stored once, and loaded 8 times
        self.assertEqual((tile["ranges"], tile["accesses_per_range"], tile["accesses_per_block_element"]), (4 * 64, 8, 9))
        self.assertEqual((tile["blocks"], tile["block_elements"], tile["block_elements_max"]), (4, 4 * 64, 64))
        text = run(WARPLENS, "stats", "--width", "200", self.wlprof).stdout
        self.assertRegex(text, r"weights \S+ +global +64 B +50 % +2,048 +128 +256")
        self.assertIn("weigh accesses an element of weights", " ".join(text.split()))
        self.assertIn("there is room in shared memory for both", " ".join(text.split()))
        view = sqlite3.connect(self.wlprof).execute("select object, touched, mean, least, most from v_uses where space = 'shared'")
        self.assertEqual([row[1:] for row in view], [(1.0, 36.0, 36, 36)])

    def test_static_facts(self):
        """The profile says of blocks, loops and addresses what `warplens ptx` prints."""
        program = compile_program("odd")
        self.profile(program)
        sql = sqlite3.connect(self.wlprof)
        launched = {name for name, in sql.execute("select mangled from kernels")}

        def in_profile(query):
            return sorted(sql.execute("select mangled, " + query))

        def printed(*options):
            return run(WARPLENS, "ptx", *options, program).stdout

        kernels = json.loads(printed("--format", "json"))["files"][0]["kernels"]
        addresses = [(k["symbol"], a["pc"], a["address"]) for k in kernels if k["symbol"] in launched
                     for a in k["accesses"] if "address" in a]
        self.assertGreater(len(addresses), 4)
        self.assertEqual(in_profile("pc, form from forms join kernels on id = kernel where position = 0"), sorted(addresses))

        def dumped(name, pattern):
            texts = re.split(r"^kernel ", printed("--dump", name), flags=re.M)[1:]
            return sorted((kernel, int(first), *rest) for text in texts for kernel in text.split()[:1] if kernel in launched
                          for first, *rest in re.findall(pattern, text, re.M))

        blocks = [(kernel, int(pc), *ofs) for kernel, _, *ofs, pc in
                  dumped("ilp", r"^block (\d+) ILP (\S+) MLP (\S+) chain (\d+) loads (\d+) shared (\d+)\n(?: +phi .*\n)* +(\d+) ")]
        self.assertGreater(len(blocks), len(launched))
        self.assertEqual(in_profile("first_pc, printf('%.2f', ilp), printf('%.2f', ifnull(mlp, 0)), "
                                    "(select cast(sum(chain) as text) from static_mix m where m.kernel = b.kernel and "
                                    "m.first_pc = b.first_pc), cast(chain_loads as text), cast(chain_shared as text) "
                                    "from static_blocks b join kernels on id = kernel"), sorted(blocks))
        loops = dumped("affine", r"^loop (\d+) at block \d+, depth (\d+): (.*)$")
        self.assertTrue(loops)
        self.assertEqual(in_profile("number, cast(depth as text), trips from loops join kernels on id = kernel"), loops)

    def test_elements_touched(self):
        self.profile(compile_program("elements"), options=["--probes", "touch"])
        objects = {one["name"].split(" ")[0]: one for one in self.stats()["objects"]}
        self.assertEqual(objects["weights"]["touched_bytes"], 32)
        self.assertNotIn("loads", objects["weights"])
        self.assertNotIn("touched_bytes", objects["tile"])

    def test_elements_are_not_counted_unasked(self):
        self.profile(compile_program("elements"))
        self.assertFalse(any("touched_bytes" in one for one in self.stats()["objects"]))
        self.assertNotIn("Elements", run(WARPLENS, "stats", self.wlprof).stdout)

    def test_elements_in_part(self):
        """Of launches that were not observed nothing is known: what is told is the least."""
        self.profile(compile_program("simple"), options=["--probes", "frequency", "-k", "fill", "-c", "1"])
        told = [one for one in self.stats()["objects"] if one.get("touched_bytes")]
        self.assertEqual([(one["touched_bytes"], one["touched_partial"]) for one in told], [(40000, True)])
        self.assertIn(">= 100 %", run(WARPLENS, "stats", self.wlprof).stdout)

    def test_stats_in_a_terminal(self):
        self.profile(compile_program("simple"))
        profile = self.wlprof
        plain = run(WARPLENS, "stats", profile).stdout
        self.assertNotIn("\x1b", plain)
        for columns in (60, 100):
            shown = in_terminal(columns, {}, WARPLENS, "stats", profile)
            self.assertIn("\x1b[1m", shown)
            text = re.sub("\x1b\\[[0-9;]*m", "", shown)
            self.assertLessEqual(max(map(len, text.splitlines())), columns, text)
            self.assertNotIn("\x1b", in_terminal(columns, {"NO_COLOR": "1"}, WARPLENS, "stats", profile))

    def test_report_opens(self):
        self.profile(compile_program("simple"))
        tools = os.path.join(self.folder, "tools")
        os.makedirs(tools)
        with open(os.path.join(tools, "xdg-open"), "w") as f:
            f.write('#!/bin/sh\necho "$1" > "$0.was-given"\n')
        os.chmod(f.name, 0o755)
        html = os.path.join(self.folder, "opened.html")
        done = run(WARPLENS, "report", "--open", "-o", html, self.wlprof,
                   env=dict(os.environ, PATH=tools + ":" + os.environ["PATH"]))
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(f.name + ".was-given") as given:
            self.assertEqual(given.read().strip(), html)
        os.remove(f.name)
        done = run(WARPLENS, "report", "--open", "-f", "-o", html, self.wlprof, env=dict(os.environ, PATH=tools))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("by hand", done.stderr)

    def test_explorer_opens(self):
        self.profile(compile_program("simple"), options=("--set", "sequences"))
        tools = os.path.join(self.folder, "tools")
        os.makedirs(tools)
        with open(os.path.join(tools, "xdg-open"), "w") as f:
            f.write('#!/bin/sh\necho "$1" > "$0.was-given"\n')
        os.chmod(f.name, 0o755)
        environment = dict(os.environ, PATH=tools + ":" + os.environ["PATH"])
        for _ in range(2):  # its own file is replaced
            done = run(WARPLENS, "explore", "-k", "scale", self.wlprof, env=environment)
            self.assertEqual(done.returncode, 0, done.stderr)
        html = os.path.join(self.folder, "p.explore.html")
        with open(f.name + ".was-given") as given:
            self.assertEqual(given.read().strip(), html)
        self.assertGreater(os.path.getsize(html), 10000)
        refused = run(WARPLENS, "explore", "--no-open", "-o", html, self.wlprof)
        self.assertEqual(refused.returncode, 1, refused.stderr)
        self.assertEqual(run(WARPLENS, "explore", "--no-open", "-f", "-o", html, self.wlprof).returncode, 0)
        for command, status, says in ((["-f"], 2, "-f has no effect"), (["--no-open", "-o", "-"], 2, "--no-open has no effect"),
                                      (["--no-open", "-k", "scle"], 3, "did you mean"), (["-k", "regex:("], 2, "-k regex:(")):
            wrong = run(WARPLENS, "explore", *command, self.wlprof)
            self.assertEqual(wrong.returncode, status, (command, wrong.stderr))
            self.assertIn(says, wrong.stderr)

    def test_explorer_needs_steps(self):
        self.profile(compile_program("simple"))
        done = run(WARPLENS, "explore", "--no-open", self.wlprof)
        self.assertEqual(done.returncode, 3)
        self.assertIn("--set sequences", done.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "p.explore.html")))

    def test_crash_keeps_finished_launches(self):
        done = self.profile(compile_program("crash"))
        self.assertEqual(done.returncode, 128 + signal.SIGSEGV)
        self.assertEqual(done.stdout, "launched\n")
        self.assert_says(done, "signal 11")
        self.assertEqual(self.stats()["coverage"]["launches_observed"], 1)

    def kill_during(self, which, target_is_warplens):
        process = subprocess.Popen([WARPLENS, "profile", "-o", self.wlprof, "--", compile_program("sleep")],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.assertEqual(process.stdout.readline(), "launched\n")
        if target_is_warplens:
            process.send_signal(which)
        else:
            os.killpg(process.pid, which)
        _, errors = process.communicate(timeout=60)
        return process.returncode, errors

    def test_interrupt_keeps_finished_launches(self):
        status, _ = self.kill_during(signal.SIGINT, False)
        self.assertEqual(status, 128 + signal.SIGINT)
        self.assertEqual(self.stats()["coverage"]["launches_observed"], 1)

    def test_terminate_is_passed_on(self):
        status, _ = self.kill_during(signal.SIGTERM, True)
        self.assertEqual(status, 128 + signal.SIGTERM)
        self.assertEqual(self.stats()["coverage"]["launches_observed"], 1)

    def test_killed_warplens_leaves_captures_to_import(self):
        self.kill_during(signal.SIGKILL, False)
        folders = [name for name in os.listdir(self.folder) if ".captures-" in name]
        self.assertEqual(len(folders), 1)
        done = run(WARPLENS, "import", "-o", self.wlprof, os.path.join(self.folder, folders[0]))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.stats()["coverage"]["launches_observed"], 1)
        self.assert_nothing_left("p.wlprof")

    def test_truncated_and_damaged_captures(self):
        self.kill_during(signal.SIGKILL, False)
        folder = os.path.join(self.folder, next(n for n in os.listdir(self.folder) if ".captures-" in n))
        capture = glob.glob(os.path.join(folder, "*.wlcap"))[0]
        with open(capture, "rb") as f:
            whole = f.read()
        for content, status in ((whole[:-7], 0), (whole[:-200] + bytes(200), 0), (whole[:9], 1), (b"", 1), (b"x" * 500, 1)):
            with open(capture, "wb") as f:
                f.write(content)
            done = run(WARPLENS, "import", "-f", "-o", self.wlprof, folder)
            self.assertEqual(done.returncode, status, (len(content), done.stderr))
            if status:
                self.assert_says(done, os.path.basename(capture))
            os.makedirs(folder, exist_ok=True)

    def test_fork(self):
        done = self.profile(compile_program("fork"))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(sorted(done.stdout.split("\n")), ["", "child ok", "parent ok"])
        self.assertEqual(self.stats()["coverage"]["launches_observed"], 2)

    def test_out_of_device_memory(self):
        done = self.profile(compile_program("memory"))
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stdout, "cudaErrorMemoryAllocation\nok\n")

    def test_out_of_bounds(self):
        done = self.profile(compile_program("bounds"))
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stdout, "cudaErrorIllegalAddress\ncudaErrorIllegalAddress\n")
        self.assert_says(done, "shift", "bounds.cu:7", "block", "thread")
        stats = self.stats()
        self.assertEqual(stats["coverage"]["launches_seen"], 2)

    def test_failures_are_told_first(self):
        """The first line of text, a key of their own in JSON, an object's name; never 'none'."""
        self.profile(compile_program("bounds"))
        text = run(WARPLENS, "stats", self.wlprof).stdout
        self.assertTrue(text.startswith("FAILED: launch 2 (shift) failed: access outside of any allocation at bounds.cu:7"))
        self.assertIn("12,288 bytes after the end of data", " ".join(text.split()))
        self.assertNotIn("none: no access pattern", text)
        self.assertIn("1 of 2 launches observed", text)
        self.assertIn("\x1b[1;31mFAILED", in_terminal(100, {}, WARPLENS, "stats", self.wlprof))
        stats = self.stats()
        self.assertEqual(list(stats)[1], "failures")
        self.assertEqual([(f["launch"], f["line"]) for f in stats["failures"]], [(2, 7)])
        self.assertEqual(stats["objects"][stats["failures"][0]["object"] - 1]["name"].split()[0], "data")
        self.assertIn("after the end of data", stats["launches"][1]["failed"])
        self.assertEqual((stats["coverage"]["launches_observed"], stats["coverage"]["launches_failed"]), (1, 1))
        self.profile(compile_program("crash"), options=["-f"])
        self.assertIn("FAILED: the recording of process", run(WARPLENS, "stats", self.wlprof).stdout.splitlines()[0])
        self.profile(compile_program("simple"), options=["-f"])
        self.assertNotIn("FAILED", run(WARPLENS, "stats", self.wlprof).stdout)

    def test_deadlock(self):
        done = self.profile(compile_program("deadlock"))
        self.assertEqual(done.stdout, "cudaErrorLaunchTimeout\n")
        self.assert_says(done, "barrier", "deadlock.cu:6")

    def test_lanes_that_do_not_name_themselves(self):
        done = self.profile(compile_program("mask"))
        self.assertEqual((done.returncode, done.stdout), (125, "cudaErrorIllegalInstruction\n"))
        self.assert_says(done, "kernel before", "block (0,0,0), thread (0,0,0)", "not itself", "no launch was observed")
        self.assertNotIn("ran on the GPU", done.stderr)
        self.assertIn("mask.cu:6", run(WARPLENS, "stats", self.wlprof).stdout.splitlines()[0])

    def test_stripped_program_is_refused_with_advice(self):
        program = compile_program("simple")
        stripped = os.path.join(self.folder, "stripped")
        subprocess.run(["strip", "-o", stripped, program], check=True)
        done = self.profile(stripped)
        self.assertEqual(done.returncode, 1)
        self.assert_says(done, "-cudart shared")
        self.assertEqual(run(WARPLENS, "doctor", stripped).returncode, 1)
        self.assertEqual(run(WARPLENS, "doctor", program).returncode, 0)

    def test_doctor_looks_at_programs(self):
        def lines(*options, bad=False):
            done = run(WARPLENS, "doctor", compile_program("simple", *options, lines=()),
                       env={**os.environ, "WARPLENS_DRIVER": "/nowhere"})
            self.assertEqual(done.returncode, 1 if bad else 0, done.stdout)
            return done.stdout

        good = lines("-g", "-lineinfo", "-arch=sm_90")
        self.assertRegex(good, r"ok +CUDA runtime +CUDA \d+, linked statically")
        self.assertRegex(good, r"ok +device code +1 module; PTX: sm_90; machine code: sm_90")
        self.assertRegex(good, r"ok +source lines")
        self.assertRegex(good, r"ok +debug information")
        self.assertNotRegex(good, "note +(device|source|debug|CUDA)")
        bare = lines("-cudart", "shared", "-arch=compute_90", "-code=sm_90", bad=True)
        self.assertRegex(bare, r"ok +CUDA runtime +shared")
        self.assertRegex(bare, r"device code +1 module; PTX: none; machine code: sm_90")
        self.assertRegex(bare, r"BAD +device code +there is no PTX that fits sm_90.*code=compute_90")
        self.assertRegex(bare, r"note +debug information")
        later = lines("-arch=compute_100", "-code=compute_100", bad=True)
        self.assertRegex(later, r"BAD +device code +there is no PTX that fits sm_90")
        self.assertRegex(lines("-arch=sm_90"), r"note +source lines")

    def test_no_room_for_the_capture(self):
        """A file-size limit stands in for a full disk: writes fail in the same way."""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))

        done = self.profile(compile_program("simple"), preexec_fn=limit)
        self.assertEqual(done.stdout, "ok\n", done.stderr)  # the application does not notice
        self.assertIn("==WARPLENS==", done.stderr)
        self.assertFalse(os.path.exists(self.wlprof))

    def test_full_disk(self):
        mounted = run("mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", self.folder)
        if mounted.returncode:
            self.skipTest("cannot mount a small file system here")
        try:
            done = self.profile(compile_program("simple"))
            self.assertEqual(done.stdout, "ok\n", done.stderr)
            self.assert_says(done, "no space left")
        finally:
            run("umount", self.folder)

    def test_profile_of_another_version(self):
        self.profile(compile_program("simple"))
        with sqlite3.connect(self.wlprof) as db:
            db.execute("pragma user_version = 999")
        done = run(WARPLENS, "stats", self.wlprof)
        self.assertEqual(done.returncode, 1)
        self.assert_says(done, "version")

    def same_content(self, *variants):
        """Runs each (program, options) and compares all that two runs share."""
        seen = []
        for program, options in variants:
            self.assertEqual(self.profile(program, options=["-f", *options]).returncode, 0)
            stats = self.stats()
            for launch in stats["launches"]:
                launch.pop("host_seconds", None)
            stats.pop("command", None)
            seen.append(stats)
        for other in seen[1:]:
            self.assertEqual(seen[0]["instructions"], other["instructions"])
            self.assertEqual(seen[0]["findings"], other["findings"])
            self.assertEqual(seen[0]["launches"], other["launches"])
            self.assertEqual([{k: v for k, v in o.items() if k != "address"} for o in seen[0]["objects"]],
                             [{k: v for k, v in o.items() if k != "address"} for o in other["objects"]])

    def test_same_content_whatever_the_threads(self):
        program = compile_program("fork")
        self.same_content((program, ["--threads", "1"]), (program, ["--threads", "2"]), (program, []))

    def test_same_content_however_linked(self):
        self.same_content((compile_program("fork"), []), (compile_program("fork", "-cudart", "shared"), []))


if __name__ == "__main__":
    main()
