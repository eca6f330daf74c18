"""test_patches.py WARPLENS DRIVER PLAYBACK PROGRAM PTXAS SANITIZER OLD: a kernel without PTX whose
accesses depend on data, with a library in the place of the Compute Sanitizer's
(stand_in_sanitizer.c). What that counts must be in the profile, of launches that record; whatever
fails, the program runs as it would, and the profile says what is not known, and why."""

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest

WARPLENS, DRIVER, PLAYBACK, PROGRAM, PTXAS, SANITIZER, OLD = sys.argv[1:8]
PTX = """.version 7.8
.target sm_90
.address_size 64
.visible .entry gather(.param .u64 p, .param .u32 n)
{
    .reg .b64 d<6>;
    ld.param.u64 d1, [p];
    ld.global.u64 d2, [d1];
    add.u64 d3, d1, d2;
    ld.global.u32 d4, [d3];
    st.global.u64 [d1+8], d4;
    ret;
}
.visible .entry fill(.param .u64 p, .param .u32 n)
{
    .reg .b64 d<3>; .reg .b32 r<3>;
    ld.param.u64 d1, [p];
    ld.param.u32 r1, [n];
    st.global.u32 [d1], r1;
    ret;
}
"""
FOUR = ["wl_global", "wl_shared", "wl_local", "wl_copied"]
ONCE = [*FOUR, "patch", "place", "arm", "disarm", "unpatch"]
DEPENDS = "its address depends on data loaded from memory"


class Patches(unittest.TestCase):
    def setUp(self):
        temp = tempfile.TemporaryDirectory()
        self.addCleanup(temp.cleanup)
        self.folder = temp.name
        self.cubin = self.path("gather.cubin")
        with open(self.path("gather.ptx"), "w") as f:
            f.write(PTX)
        subprocess.run([PTXAS, "-arch=sm_90", self.path("gather.ptx"), "-o", self.cubin], check=True)
        code = subprocess.run([WARPLENS, "code", "--dump=sass", self.cubin], capture_output=True, check=True, text=True).stdout
        gather = code[code.index("gather\n"):].split("fill\n")[0]
        lines = [line.split() for line in gather.splitlines() if line.startswith("    ")]
        self.size = 16 * len(lines)
        self.loads = [int(words[0], 16) // 16 for words in lines if words[1].startswith("LDG")]

    def path(self, name):
        return os.path.join(self.folder, name)

    def profile(self, *options, sanitizer=SANITIZER, times=1, kernel="gather", **variables):
        out, log = self.path("p.wlprof"), self.path("log")
        if os.path.exists(log):
            os.remove(log)
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("WARPLENS_", "NULL_DRIVER_", "STAND_IN_"))}
        environment.update({"WARPLENS_DRIVER": DRIVER, "NULL_DRIVER_MEMORY": "1", "STAND_IN_LOG": log, "STAND_IN_SIZE": str(self.size),
                            **variables})
        done = subprocess.run([WARPLENS, "profile", "--backend", "inline", "--device-times", "none", "--sanitizer", sanitizer,
                               *options, "-f", "-o", out, "--", PROGRAM, "load", self.cubin, kernel, str(times)],
                              env=environment, capture_output=True, check=False, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (0, f"launched {kernel}\n"), done.stderr)
        self.calls = open(log).read().split() if os.path.exists(log) else []
        self.stats = json.loads(subprocess.run([WARPLENS, "stats", "--format", "json", out], capture_output=True, check=True).stdout)
        with sqlite3.connect(out) as database:
            self.gaps = [reason for (reason,) in database.execute("SELECT reason FROM gaps")]
            self.told = [text for (text,) in database.execute("SELECT text FROM messages")]
            self.launches = database.execute("SELECT l.recorded, v.way, v.estimated FROM launches l JOIN v_launches v USING (id) ORDER BY l.id").fetchall()

    def rows(self, pc):
        return [i for i in self.stats["instructions"] if i["pc"] == pc]

    def test_counts_fill_what_depends_on_data(self):
        self.profile()
        self.assertEqual(self.calls, ["subscribe", "add", *ONCE])
        first, second = self.loads
        self.assertEqual([(r["requests"], r["sectors"]) for r in self.rows(first)], [(1, 1)], "what is proven is replayed")
        self.assertEqual([(r["op"], r["space"], r["requests"], r["sectors"], r["sectors_min"], r["active_lanes"]) for r in self.rows(second)],
                         [("load", "global", second + 1, 2 * (second + 1), second + 1, 32 * (second + 1))])
        self.assertEqual((self.gaps, self.told, self.launches), ([], [], [(1, "patch", 0)]))

    def test_launches_that_record(self):
        self.profile("--probe-launches", "2", times=20)
        self.assertEqual(self.calls, ["subscribe", "add", *(6 * ONCE)])
        self.assertEqual([n for n, launch in enumerate(self.launches) if launch[0]], [0, 1, 2, 4, 8, 16])
        self.assertEqual(self.gaps, [])
        self.assertTrue(all(way == "patch" for _, way, _ in self.launches), self.launches)
        self.assertEqual([n for n, launch in enumerate(self.launches) if not launch[2]], [0, 1, 2, 4, 8, 16])

    def test_what_is_proven_is_not_patched(self):
        self.profile(kernel="fill")
        self.assertEqual(self.calls, ["subscribe"])
        self.assertEqual((self.gaps, self.told, self.launches), ([], [], [(0, "replay", 0)]))

    def test_off(self):
        for options in (["--sanitizer", "off"], ["--collect", "replay"]):
            with self.subTest(options):
                self.profile(*options)
                self.assertEqual((self.calls, self.gaps, self.told), ([], [DEPENDS], []))

    def check_unpatched(self, words):
        self.assertEqual(self.gaps, [DEPENDS])
        self.assertTrue(any(words in text for text in self.told), self.told)
        self.assertEqual(self.launches, [(0, "replay", 0)])

    def test_no_library(self):
        self.profile(sanitizer=self.path("none.so"))
        self.check_unpatched(f"{self.path('none.so')}, which --sanitizer names, cannot be read")
        self.profile(sanitizer=self.cubin)
        self.check_unpatched("the Compute Sanitizer cannot be loaded")

    def test_another_version(self):
        self.profile(sanitizer=OLD)
        self.check_unpatched("has no sanitizerUnpatchModule: it is another version")
        self.assertEqual(self.calls, [])

    def test_failures(self):
        failures = {"subscribe": "refuses this process or driver (error 1)", "add": "does not take the code that counts (error 1)",
                    "wl_global": "does not let its instructions be patched (error 1)",
                    "wl_copied": "does not let its instructions be patched (error 1)", "patch": "cannot patch its module (error 1)",
                    "place": "does not say where its code lies (error 1)", "arm": "does not take the place to count in (error 1)"}
        for function, words in failures.items():
            with self.subTest(function):
                self.profile(STAND_IN_FAILS=function)
                self.check_unpatched(words)
                self.assertEqual(self.calls.count("unpatch"), self.calls.count("patch") - (function == "patch"))
        for size in (0, self.size + 16):
            self.profile(STAND_IN_SIZE=str(size))
            self.check_unpatched("does not say where its code lies")

    def test_patches_that_stay(self):
        for function in ("unpatch", "disarm"):
            with self.subTest(function):
                self.profile(times=5, STAND_IN_FAILS=function)
                self.assertEqual(self.calls, ["subscribe", "add", *ONCE])
                self.assertEqual([launch[0] for launch in self.launches], [1, 0, 0, 0, 0])
                self.assertTrue(any("does not take its code out of the module of gather" in text for text in self.told), self.told)

    def test_it_is_given_up(self):
        self.profile(times=10, STAND_IN_FAILS="patch")
        self.assertEqual(self.calls.count("patch"), 3)
        self.assertTrue(any("No more kernels without PTX are patched" in text for text in self.told), self.told)

    def play(self, script):
        self.profile(WARPLENS_DRIVER=PLAYBACK, PLAYBACK_DRIVER=DRIVER, PLAYBACK_SCRIPT=script)

    def test_the_driver_refuses_the_patched_launch(self):
        self.play("cuLaunchKernel 1 701")
        self.check_unpatched("the driver refused it with patches (error 701)")
        self.assertEqual(self.calls, ["subscribe", "add", *ONCE])

    def test_the_device_is_busy(self):
        self.play("cuEventQuery 1+ 600")
        self.check_unpatched("1 launches ran without patches: the device was busy")
        self.assertEqual(self.calls, ["subscribe"])

    def test_a_launch_that_does_not_end(self):
        self.play("cuEventQuery 2+ 600")
        self.assertEqual(self.launches[0][0], 1)
        self.assertTrue(any("What patches counted in 1 launches is lost" in text for text in self.told), self.told)
        self.assertEqual(self.gaps, ["what it recorded could not be read from the device"])
        self.assertNotIn("unpatch", self.calls, "the API would wait for the launch")

    def test_memory_that_the_driver_refuses(self):
        for call in ("cuMemAlloc_v2 2 2", "cuMemsetD8Async 1 719", "cuMemcpyHtoDAsync_v2 1 719", "cuStreamCreate 1 719",
                     "cuFuncGetModule 1 719"):
            with self.subTest(call):
                self.play(call)
                self.check_unpatched("gather was not patched: the driver ")
        self.play("cuMemcpyDtoHAsync_v2 1 719")
        self.assertTrue(any("What patches counted in 1 launches is lost" in text for text in self.told), self.told)
        self.assertEqual(self.calls[-1], "unpatch")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
