#!/usr/bin/env python3
"""Programs on the emulator both ways, from their PTX and from their machine code (`--code`): what
they print is the same, and what is counted of machine code is what can be worked out by hand, and
what Nsight Compute counted on an H200: test_ways.py WARPLENS NVCC WORK"""
import collections
import json
import os
import sqlite3
import subprocess
import sys
import unittest

WARPLENS, NVCC, WORK = sys.argv[1:4]
SKIPPED = 77
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "../..")
ORACLE = os.path.join(ROOT, "tools/oracle")
sys.path.insert(0, ORACLE)
import emulated  # noqa: E402
import fetch  # noqa: E402
import store  # noqa: E402

fetch.tool = lambda name: NVCC if name == "nvcc" else os.path.join(os.path.dirname(NVCC), name)
COUNTED = ["merged_loads", "examples.spmv.spmv_scalar", "examples.cells.cells_sorted", "examples.explorer.haar"]


def compile_program(source, *options):
    made = os.path.join(WORK, os.path.basename(source)[:-3] + "".join(options))
    if not os.path.exists(made) or os.path.getmtime(made) < os.path.getmtime(source):
        both = "arch=compute_90,code=[sm_90,compute_90]"
        subprocess.run([NVCC, "-allow-unsupported-compiler", "-lineinfo", *(options or ["-gencode", both]), "-o", made, source],
                       check=True)
    return made


def profile(program, code, *options, **variables):
    out = os.path.join(WORK, f"{os.path.basename(program)}.{code}.wlprof")
    done = subprocess.run([WARPLENS, "profile", "-q", "-f", "--code", code, *options, "-o", out, "--", program], capture_output=True,
                          check=False, text=True, timeout=300, env={**os.environ, **variables})
    return done, out


def instructions(out):
    return json.loads(say("stats", out, "--format", "json"))["instructions"]


def say(command, out, *options):
    return subprocess.run([WARPLENS, command, *options, out], capture_output=True, check=False, text=True, timeout=60).stdout


def kinds_of_code(out):
    """By kernel: of what it was counted."""
    return dict(sqlite3.connect(out).execute("SELECT short_name, n.name FROM kernels k JOIN modules m ON m.id = k.module JOIN names n "
                                             "ON n.kind = 'module' AND n.value = m.kind"))


def shared_loads(out, kernel):
    """Requests, and wavefronts."""
    return [(i["requests"], i["wavefronts"]) for i in instructions(out)
            if i["kernel"].startswith(kernel) and i["space"] == "shared" and i["op"] == "load"]


class Ways(unittest.TestCase):
    maxDiff = None

    def test_a_kernel_does_the_same_either_way(self):
        program = compile_program(os.path.join(HERE, "ways.cu"))
        (ptx, of_ptx), (machine, of_machine) = profile(program, "ptx"), profile(program, "machine")
        self.assertEqual((ptx.returncode, ptx.stdout), (machine.returncode, machine.stdout))
        self.assertTrue(ptx.stdout.endswith("lane 0\nlane 1\ndone\n"), ptx.stdout)
        self.assertEqual(set(kinds_of_code(of_ptx).values()), {"ptx"})
        kinds = kinds_of_code(of_machine)
        by_ptx = {"printing": "ptx", "asserting": "ptx"}  # which say something, and machine code alone would not
        self.assertEqual(kinds, {name: by_ptx.get(name, "cubin") for name in kinds})
        self.assertEqual(len(kinds), 6)
        text = say("stats", of_machine)
        self.assertIn("printing(int) is counted by its PTX, not by its machine code: it calls vprintf", " ".join(text.split()))
        self.assertIn("ways are counted by its machine code for sm_90", " ".join(text.split()))

    def test_lines_are_those_of_the_source(self):
        program = compile_program(os.path.join(HERE, "ways.cu"))
        _, out = profile(program, "machine")
        with open(os.path.join(HERE, "ways.cu"), encoding="utf-8") as file:
            lines = file.read().splitlines()
        stores = [i for i in instructions(out)
                  if i["kernel"].startswith("from_constants") and i["op"] == "store"]
        self.assertTrue(stores)
        self.assertEqual({lines[i["line"] - 1].strip() for i in stores}, {"out[i] = (float)(i * factors[i & 3]) + offset;"})

    def test_no_machine_code_and_no_need_of_it(self):
        source = os.path.join(HERE, "ways.cu")
        only_ptx = compile_program(source, "-gencode=arch=compute_80,code=compute_80")
        done, out = profile(only_ptx, "machine")
        self.assertTrue(done.stdout.endswith("done\n"))
        self.assertEqual(set(kinds_of_code(out).values()), {"ptx"})
        self.assertIn("not by its machine code: the device code holds no machine code for sm_90", " ".join(say("stats", out).split()))
        _, out = profile(compile_program(source), "machine", "--probes", "shared")
        self.assertEqual(set(kinds_of_code(out).values()), {"ptx"})
        self.assertIn("the probe `shared` needs it", " ".join(say("stats", out).split()))

    def test_repeats(self):
        """Launches that do what an earlier one did are its repeats, which changes nothing."""
        program, said, kept = compile_program(os.path.join(HERE, "ways.cu")), [], []
        for memo in "1", "0":
            _, out = profile(program, "machine", "--threads", "1", WARPLENS_MEMO=memo, WARPLENS_HEAT_LAUNCHES="0")
            said.append(json.loads(say("export", out, "--type", "json", "-o", "-")))
            for launch in said[-1]["launches"]:
                launch.pop("host_seconds", None)
            kept.append(sqlite3.connect(out).execute("SELECT count(*), count(DISTINCT rows_of) FROM launches").fetchone())
        self.assertEqual(said[0], said[1])
        launches, different = kept[0]
        self.assertEqual(kept[1], (launches, launches))
        self.assertLess(different, launches)

    def test_loads_that_ptxas_merges(self):
        """A lane adds up a row of 128 words, four times as long as all banks: 256 blocks of 3 warps
        load a word 128 times, or 16 bytes 32 times. Either way the words of all 32 lanes lie in as
        many banks as a lane loads words, 32 to a bank."""
        program = compile_program(os.path.join(ROOT, "examples/permuted/permuted_plain.cu"))
        warps = 256 * 3
        for code, loads, words in ("ptx", 128, 1), ("machine", 32, 4):
            found = shared_loads(profile(program, code)[1], "sum_rows")
            requests, wavefronts = map(sum, zip(*found, strict=True))
            self.assertEqual((code, requests, wavefronts), (code, warps * loads, warps * loads * 32))
            self.assertEqual(loads * words, 128)

    def test_counts_that_ptxas_combines(self):
        """Lanes that count the same thing: in global memory one lane of a warp adds what all of
        them would have added."""
        program = compile_program(os.path.join(ORACLE, "workloads/merged_loads.cu"))
        _, out = profile(program, "machine")
        found = [(i["op"], i["requests"], i["active_lanes"]) for i in instructions(out)
                 if i["kernel"].startswith("counted") and i["space"] == "global" and i["op"] in ("atomic", "reduction")]
        blocks, warps, bins = 64, 8, 16
        self.assertEqual(sorted(found), [("reduction", blocks, blocks * bins), ("reduction", blocks * warps, blocks * warps)])

    def test_boxes_of_tensors(self):
        """Copies by maps in constant memory: a box has the same rows either way, so as many
        sectors. The other kernel has maps as parameters, which lie elsewhere in machine code."""
        program, sectors = compile_program(os.path.join(ROOT, "tests/api/programs/tensors.cu")), {}
        for code in "ptx", "machine":
            done, out = profile(program, code)
            self.assertEqual((done.returncode, done.stdout), (0, "ok\n"))
            kinds = kinds_of_code(out)
            self.assertEqual((kinds["multiply"], kinds["transpose"]),
                             ("ptx" if code == "ptx" else "cubin", "ptx"))
            sectors[code] = collections.Counter()
            for i in instructions(out):
                if i["kernel"].startswith("multiply") and i["space"] == "global":
                    sectors[code][i["op"]] += i["sectors"]
        self.assertEqual(sectors["ptx"], sectors["machine"])
        self.assertEqual(set(sectors["ptx"]), {"load", "reduction"})

    def test_what_ncu_counted(self):
        """Sectors, wavefronts, and how often each instruction ran; lanes may come to a BSYNC at
        once or one after the other, so that how often that ran differs."""
        launches, truths = store.read_launches("programs", "development")[1], store.read_truth("programs", "development")
        compared = 0
        for name in COUNTED:
            own = [x for x in launches if x["id"].split("/")[1] == name]
            for line in emulated.replay_program(WARPLENS, name, WORK, own):
                if "claims" not in line:
                    self.assertIn("the compiler makes other code of it", line["reason"])
                    continue
                truth = truths[line["launch"]]
                opcodes = [truth["opcodes"][int(pc) // 16] for pc, _, _, _ in self.differing(truth, line)]
                self.assertLessEqual(set(opcodes), {"BSYNC"}, self.differing(truth, line))
                compared += 1
        if not compared:
            self.skipTest("the compiler makes other code")
        self.assertGreaterEqual(compared, 5)

    def differing(self, truth, line):
        found = []
        for counter in ("executions", "sectors", "wavefronts"):
            for at, counted in enumerate(truth["counts"].get(counter, [0] * len(truth["opcodes"]))):
                claim = line["claims"].get(str(16 * at), {})
                claimed = claim.get(counter, None if counter == "executions" else 0)  # how often a block runs may not be known
                if claimed not in (None, counted):
                    found.append((16 * at, counter, counted, claimed))
        return found


if __name__ == "__main__":
    if not NVCC or not os.access(NVCC, os.X_OK):
        print("skipped: there is no nvcc")
        sys.exit(SKIPPED)
    os.makedirs(WORK, exist_ok=True)
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
