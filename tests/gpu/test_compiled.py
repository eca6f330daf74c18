"""test_compiled.py WARPLENS LIBRARIES DRIVER PROGRAM PTXAS: cubins that a program compiles while it
runs. The stand-in for ptxas must do what ptxas does, and the PTX must be found when the cubin is
loaded. DRIVER is one that does nothing."""

import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import unittest

WARPLENS, LIBRARIES, DRIVER, PROGRAM, PTXAS = sys.argv[1:6]
STAND_IN = os.path.join(LIBRARIES, "warplens-ptxas")
PTX = """.version 8.0
.target sm_90
.address_size 64
.visible .entry fill(.param .u64 p, .param .u32 n)
{
    .reg .b64 d<3>; .reg .b32 r<3>;
    ld.param.u64 d1, [p]; ld.param.u32 r1, [n];
    cvta.to.global.u64 d2, d1; st.global.u32 [d2], r1; ret;
}
"""


def run(command, **variables):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("WARPLENS_", "TRITON_"))}
    environment.update(variables)
    return subprocess.run(command, env=environment, capture_output=True, check=False, timeout=120)


class Compiled(unittest.TestCase):
    def setUp(self):
        temp = tempfile.TemporaryDirectory()
        self.addCleanup(temp.cleanup)
        self.folder = temp.name
        self.ptx, self.cubin = self.path("fill.ptx"), self.path("fill.cubin")
        self.cache = self.path("cache")
        self.store = os.path.join(self.cache, "warplens", "ptx")
        with open(self.ptx, "w") as f:
            f.write(PTX)

    def path(self, name):
        return os.path.join(self.folder, name)

    def kept(self):
        texts = []
        for name in os.listdir(self.store) if os.path.isdir(self.store) else []:
            with open(os.path.join(self.store, name)) as f:
                texts.append(f.read())
        return texts

    def stand_in(self, *arguments):
        return run([STAND_IN, *arguments], WARPLENS_PTXAS=PTXAS, WARPLENS_PTX_STORE=self.store)

    def same(self, *arguments):
        def timeless(text):
            return re.sub(rb"[\d.]+ ms", b"", text)

        ours, theirs = self.stand_in(*arguments), run([PTXAS, *arguments])
        self.assertEqual((ours.returncode, ours.stdout), (theirs.returncode, theirs.stdout))
        self.assertEqual(timeless(ours.stderr), timeless(theirs.stderr))
        return ours

    def test_as_the_real_one(self):
        self.assertIn(b"release", self.same("--version").stdout)
        self.assertEqual(self.same("-v", "--gpu-name=sm_90", self.ptx, "-o", self.cubin).returncode, 0)
        with open(self.ptx, "a") as f:
            f.write("nonsense")
        self.assertNotEqual(self.same("--gpu-name=sm_90", self.ptx, "-o", self.path("bad.cubin")).returncode, 0)
        self.assertNotEqual(self.same("--gpu-name=sm_90", self.path("missing.ptx")).returncode, 0)

    def test_keeps_the_text(self):
        for output in (["-o", self.cubin], ["--output-file", self.cubin], [f"--output-file={self.cubin}"]):
            self.assertEqual(self.stand_in("-arch=sm_90", self.ptx, *output).returncode, 0)
            self.assertEqual(self.kept(), [PTX])
        self.assertEqual(self.stand_in("-arch=sm_90", self.ptx, "-o", "/nowhere/a.cubin").returncode, run(
            [PTXAS, "-arch=sm_90", self.ptx, "-o", "/nowhere/a.cubin"]).returncode)
        self.assertEqual(self.kept(), [PTX])

    def test_without_a_real_one(self):
        done = run([STAND_IN, "--version"], PATH="/nowhere")
        self.assertEqual(done.returncode, 127)
        self.assertIn(b"not found", done.stderr)
        junk = self.path("junk")
        with open(junk, "wb") as f:
            f.write(b"\0 no program")
        os.chmod(junk, 0o755)
        for variables in ({}, {"WARPLENS_PTX_STORE": self.store}):
            done = run([STAND_IN, self.ptx], WARPLENS_PTXAS=junk, **variables)
            self.assertEqual((done.returncode, done.stderr), (127, f"ptxas: cannot run {junk}: Exec format error\n".encode()))

    def profile(self, *command, options=(), launches=1, **variables):
        """What `warplens profile` tells with the driver that does nothing."""
        out = self.path("p.wlprof")
        done = run([WARPLENS, "profile", "--backend", "inline", *options, "-f", "-o", out, "--", *command],
                   WARPLENS_DRIVER=DRIVER, XDG_CACHE_HOME=self.cache, **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        export = run([WARPLENS, "export", "--type", "json", "-o", "-", out])
        profile = json.loads(export.stdout)
        self.assertEqual([launch["kernel"] for launch in profile["launches"]], ["fill"] * launches)
        return profile

    def noted(self, *command, options=(), **variables):
        """As profile(), of a run whose launches are not replayed."""
        return self.profile(*command, options=["--replay-budget", "none", *options], **variables)

    def kinds(self, *command, **variables):
        """Of the modules of the kernels that are launched: "ptx" or "cubin"."""
        self.noted(*command, **variables)
        with sqlite3.connect(self.path("p.wlprof")) as database:
            kinds = database.execute("SELECT n.name FROM modules m JOIN kernels k ON k.module = m.id "
                                     "JOIN names n ON n.kind = 'module' AND n.value = m.kind").fetchall()
        return [kind for kind, in kinds]

    def test_cubin_found(self):
        self.assertEqual(run([PTXAS, "-arch=sm_90", self.ptx, "-o", self.cubin]).returncode, 0)
        self.assertEqual(self.kinds(PROGRAM, "load", self.cubin, "fill"), ["cubin"])
        with open(self.cubin, "rb") as f, sqlite3.connect(self.path("p.wlprof")) as database:
            modules = database.execute("SELECT n.name, m.bytes, k.mangled FROM modules m JOIN kernels k ON k.module = m.id "
                                       "JOIN names n ON n.kind = 'module' AND n.value = m.kind").fetchall()
            self.assertEqual(modules, [("cubin", len(f.read()), "fill")])
            reached = database.execute("SELECT r.offset, o.bytes, r.object_offset FROM reaches r JOIN objects o ON o.id = r.object")
            self.assertEqual(reached.fetchall(), [(0, 4096, 0)])
        # The program compiles it itself, by what TRITON_PTXAS_PATH names.
        script = f'"$TRITON_PTXAS_PATH" -arch=sm_90 "{self.ptx}" -o "{self.cubin}" && "{PROGRAM}" load "{self.cubin}" fill'
        self.assertEqual(self.kinds("sh", "-c", script, TRITON_PTXAS_PATH=PTXAS), ["ptx"])
        # Compiled in an earlier run.
        self.assertEqual(self.kinds(PROGRAM, "load", self.cubin, "fill"), ["ptx"])

    def test_cubin_replayed(self):
        """What a kernel without PTX accessed is known from its machine code."""
        self.assertEqual(run([PTXAS, "-arch=sm_90", self.ptx, "-o", self.cubin]).returncode, 0)
        profile = self.profile(PROGRAM, "load", self.cubin, "fill")
        self.assertEqual(profile["coverage"]["skipped"], [])
        row, = profile["instructions"]
        self.assertEqual((row["op"], row["space"], row["requests"], row["sectors"], row["executions"], row["active_lanes"]),
                         ("store", "global", 1, 1, 1, 32))
        with sqlite3.connect(self.path("p.wlprof")) as database:
            code = database.execute("SELECT text, op FROM code WHERE pc = ?", (row["pc"],)).fetchall()
            before = database.execute("SELECT count(*) FROM code WHERE pc < ? AND op = 'EXIT'", (row["pc"],)).fetchone()
        self.assertRegex(code[0][0], r"^STG\.E .*R\d+$")
        self.assertEqual((code[0][1], before), ("STG.E", (0,)))

    def test_constants_of_cubins(self):
        """Each second word is stored to, then each eighth: as a constant says."""
        with open(self.ptx, "w") as f:
            f.write(""".version 8.0
.target sm_90
.address_size 64
.const .align 4 .u32 stride = 2;
.visible .entry fill(.param .u64 p, .param .u32 n)
{
    .reg .b64 d<4>; .reg .b32 r<4>;
    ld.const.u32 r1, [stride]; mov.u32 r2, %tid.x; mul.lo.u32 r3, r1, r2; mul.wide.u32 d3, r3, 4;
    ld.param.u64 d1, [p]; cvta.to.global.u64 d2, d1; add.u64 d2, d2, d3; st.global.u32 [d2], r1; ret;
}
""")
        self.assertEqual(run([PTXAS, "-arch=sm_90", self.ptx, "-o", self.cubin]).returncode, 0)
        profile = self.profile(PROGRAM, "set", self.cubin, "fill", "stride", "8", launches=2)
        self.assertEqual(profile["coverage"]["skipped"], [])
        self.assertEqual([row["sectors"] for row in profile["instructions"]], [8, 32])
        self.assertIn(("stride", 4), [(o["name"], o["bytes"]) for o in profile["objects"]])

    def test_shared_memory_of_cubins(self):
        """Machine code has no names of arrays."""
        with open(self.ptx, "w") as f:
            f.write(""".version 8.0
.target sm_90
.address_size 64
.visible .entry fill(.param .u64 p, .param .u32 n)
{
    .reg .b32 r<4>; .shared .align 4 .b8 tile[4096];
    mov.u32 r1, %tid.x; mov.u32 r2, tile; mad.lo.u32 r3, r1, 128, r2; st.volatile.shared.u32 [r3], r1; ret;
}
""")
        self.assertEqual(run([PTXAS, "-arch=sm_90", self.ptx, "-o", self.cubin]).returncode, 0)
        profile = self.profile(PROGRAM, "load", self.cubin, "fill")
        self.assertEqual([o["name"] for o in profile["objects"] if o["space"] == "shared"], ["shared memory (fill)"])
        self.assertEqual([row["wavefronts"] for row in profile["instructions"]], [32])

    def test_parameters_of_cubins(self):
        """With a driver that tells how parameters lie, and with one that does not."""
        self.assertEqual(run([PTXAS, "-arch=sm_90", self.ptx, "-o", self.cubin]).returncode, 0)
        for variables in ({}, {"NULL_DRIVER_OLD": "1"}):
            with self.subTest(**variables):
                self.noted(PROGRAM, "load", self.cubin, "fill", **variables)
                with sqlite3.connect(self.path("p.wlprof")) as database:
                    parameters = database.execute("SELECT position, offset, bytes FROM parameters ORDER BY position")
                    self.assertEqual(parameters.fetchall(), [(0, 0, 8), (1, 8, 4)])
                    reached = database.execute("SELECT v.position, o.bytes, v.launches FROM v_parameters v JOIN objects o ON o.name = v.object")
                    self.assertEqual(reached.fetchall(), [(0, 4096, 1)])

    def test_linked(self):
        self.assertEqual(run([PTXAS, "-arch=sm_90", self.ptx, "-o", self.cubin]).returncode, 0)
        self.assertEqual(self.kinds(PROGRAM, "link", self.ptx, "fill", NULL_DRIVER_CUBIN=self.cubin), ["ptx"])
        self.assertEqual(self.kinds(PROGRAM, "link", self.cubin, "fill", NULL_DRIVER_CUBIN=self.cubin), ["cubin"])

    def messages(self):
        with sqlite3.connect(self.path("p.wlprof")) as database:
            return " ".join(text for text, in database.execute("SELECT text FROM messages"))

    def test_starts(self):
        """When launches began on the device; what is near is told apart after minutes, too."""
        step = 0.5000003
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "p.wlprof")
            done = run([WARPLENS, "profile", "--backend", "inline", "--collect", "replay", "--device-times", "all", "-o", out, "--",
                        PROGRAM, "load", self.ptx, "fill", "300"], WARPLENS_DRIVER=DRIVER, NULL_DRIVER_STEP=str(1000 * step))
            self.assertEqual(done.returncode, 0, done.stderr)
            with sqlite3.connect(out) as database:
                rows = database.execute("SELECT device_start, device_seconds FROM launches ORDER BY ordinal").fetchall()
        self.assertEqual((len(rows), rows[0][0]), (300, 0))
        for (start, seconds), (later, _) in zip(rows, rows[1:], strict=False):
            self.assertAlmostEqual(seconds, step, delta=1e-6)
            self.assertAlmostEqual(later - start, 2 * step, delta=1e-6)
        self.assertAlmostEqual(rows[-1][0], 299 * 2 * step, delta=1e-4)

    def test_driver_refuses_probes(self):
        command = [PROGRAM, "load", self.ptx, "fill"]
        self.noted(*command, options=["--collect", "probe"])
        self.assertNotIn("refused", self.messages())
        self.noted(*command, options=["--collect", "probe"], NULL_DRIVER_REFUSES="__wl_")
        self.assertIn("refused it with probes (error 218)", self.messages())
        self.noted(*command, options=["--collect", "replay"], NULL_DRIVER_REFUSES="__wl_")
        self.assertNotIn("refused", self.messages())

    def test_blocks_as_large_as_without(self):
        """With probes a kernel takes more registers: what the program can launch without them, it
        can with them."""
        command = [PROGRAM, "load", self.ptx, "fill"]
        self.noted(*command, options=["--collect", "probe"], NULL_DRIVER_LARGE="__wl_")
        self.assertNotIn("has no probes", self.messages())  # fewer registers sufficed
        self.noted(*command, options=["--collect", "probe"], NULL_DRIVER_LARGE="__wl_", NULL_DRIVER_STUBBORN="1")
        self.assertIn("blocks could not be as large as without", self.messages())

    def options(self, *given, **variables):
        """Those with which the text with probes is compiled, where the program gave `given`."""
        log = self.path("log")
        self.noted(PROGRAM, "compile", self.ptx, "fill", *(f"{option}={value}" for option, value in given),
                     options=["--collect", "probe"], NULL_DRIVER_LOG=log, **variables)
        with open(log) as f:
            told = [(int(option), int(value)) for option, value in re.findall(r"^option-(\d+) (\d+)$", f.read(), re.M)]
        self.assertEqual(told[:len(given)], list(given))
        return told[len(given):]

    def test_options_of_the_compiler(self):
        """A kernel with probes is compiled as the program compiles it, but for what the text
        does not say."""
        registers, threads, level, log_bytes = 0, 1, 7, 4
        self.assertEqual(self.options((registers, 96)), [(registers, 96)])
        every = [(registers, 96), (log_bytes, 8), (threads, 256), (level, 2), (log_bytes, 9), (level, 3), (level, 4), (registers, 72)]
        self.assertEqual(self.options(*every), [(registers, 72), (threads, 256), (level, 4)])
        # Blocks that became too small: once more, with fewer registers.
        self.assertEqual(self.options((registers, 96), (level, 2), NULL_DRIVER_LARGE="__wl_"),
                         [(registers, 96), (level, 2), (registers, 64), (level, 2)])
        with open(self.ptx, "w") as f:
            f.write(PTX.replace("sm_90", "sm_90, debug"))
        self.assertEqual(self.options((level, 3)), [(level, 0)])

    def test_driver_refuses_launches(self):
        """The program's own is made in the place of one with probes."""
        command = [PROGRAM, "load", self.ptx, "fill"]
        self.noted(*command, options=["--collect", "probe"], NULL_DRIVER_LAUNCHES="__wl_")
        self.assertIn("the driver refused them with probes", self.messages())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
