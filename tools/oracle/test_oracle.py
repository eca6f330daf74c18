#!/usr/bin/env python3
"""Tests of the oracle, without a GPU: what is worked out by hand here must come out."""
import contextlib
import functools
import io
import json
import math
import os
import re
import struct
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import compare
import cubin
import naive_vector_add
import oracle
import pair
import store

import capture

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))


@functools.cache
def launches_of(which, half):
    return store.read_launches(which, half)[1]


@functools.cache
def truth_of(which, half):
    return store.read_truth(which, half)


def numbered_opcode(number):
    return struct.pack("<H", number) + bytes(14)


def make_elf(sections):
    """An ELF file that has these sections and nothing else."""
    names, table, body = b"\0", [(0,) * 10], b""
    for name, data in [*sections.items(), (".shstrtab", None)]:
        begin = len(names)
        names += name.encode() + b"\0"
        content = names if data is None else data
        table.append((begin, 1, 0, 0, 64 + len(body), len(content), 0, 0, 1, 0))
        body += content
    header = b"\x7fELF\2" + bytes(0x28 - 5) + struct.pack("<Q", 64 + len(body)) + bytes(0x3A - 0x30)
    header += struct.pack("<HHH", 64, len(table), len(table) - 1)
    return header + body + b"".join(struct.pack("<IIQQQQIIQQ", *entry) for entry in table)


class Cubins(unittest.TestCase):
    def test_code_of_kernels(self):
        code = numbered_opcode(0x381) + numbered_opcode(0xF94D)
        data = make_elf({".text.add": code, ".nv.info.add": b"x"})
        self.assertEqual(cubin.kernels(data), {"add": code})
        self.assertEqual(cubin.opcode_numbers(code), [0x381, 0x94D])

    def test_other_files_are_refused(self):
        with self.assertRaises(ValueError):
            cubin.kernels(b"#!/bin/sh")


class Captures(unittest.TestCase):
    """Of a program that ran on a GPU: examples/broadcast, 32,768 blocks of a warp, 3 pointers."""

    def test_note(self):
        path = os.path.join(ROOT, "tests/golden/gpu/broadcast_shared.wlcap")
        found = list(capture.records(path))
        note, = [record for kind, record in found if kind == "note"]
        self.assertEqual((note["kernel"], note["grid"], note["block"]), ("_Z5placePKjPjS1_", [32768, 1, 1], [32, 1, 1]))
        pointers = struct.unpack("<QQQ", note["params"])
        objects = [record for kind, record in found if kind == "object"]
        self.assertEqual(set(pointers), {record["base"] for record in objects})

    def test_a_torn_record_ends_the_list(self):
        with open(os.path.join(ROOT, "tests/golden/gpu/broadcast_shared.wlcap"), "rb") as f:
            data = f.read()
        with tempfile.NamedTemporaryFile() as f:
            f.write(data[:-5])
            f.flush()
            kinds = [kind for kind, _ in capture.records(f.name)]
        self.assertEqual((kinds[0], "end" in kinds), ("process", False))


class Pairs(unittest.TestCase):
    CODE = numbered_opcode(0x381) + numbered_opcode(0x94D)

    def launch(self, kernel="_Z1kv", code=CODE):
        return {"kernel": kernel, "grid": [1, 1, 1], "block": [32, 1, 1], "instructions": 2}, code

    def counted(self, kernel="_Z1kv", opcodes=("LDG", "EXIT")):
        return {"kernel": kernel, "grid": [1, 1, 1], "block": [32, 1, 1], "pcs": [0, 16], "opcodes": list(opcodes),
                "counts": {"executions": [1, 1], "sectors": [4, 0], "wavefronts": [0, 0]}}

    def pair(self, launches, counts):
        said = []
        return pair.pair(launches, counts, "s/n", said.append), said

    def test_paired(self):
        lines, said = self.pair([self.launch()], [self.counted()])
        self.assertEqual(said, [])
        self.assertEqual(lines[0]["launch"]["id"], "s/n/0")
        self.assertEqual(lines[0]["truth"], {"opcodes": ["LDG", "EXIT"], "counts": {"executions": [1, 1], "sectors": [4, 0]}})

    def test_other_kernel_ends_the_pairing(self):
        lines, said = self.pair([self.launch(), self.launch("_Z1jv"), self.launch()], [self.counted()] * 3)
        self.assertEqual((len(lines), len(said)), (1, 1))

    def test_other_code_is_left_out(self):
        lines, said = self.pair([self.launch(), self.launch(), self.launch()],
                                [self.counted(), self.counted(opcodes=("LDS", "EXIT")), self.counted()])
        self.assertEqual([line["launch"]["id"] for line in lines], ["s/n/0", "s/n/2"])
        self.assertIn("other code", said[0])


    def test_tensor_maps_of_a_launch(self):
        """Those whose bytes its parameters have."""
        process, words = pair.Process(), [0x1122334455667788, *range(15)]
        process.take("tensor", {"map": words, "rank": 2})
        process.take("tensor", {"map": [5] * 16, "rank": 3})
        data = struct.pack("<16Q", *words)
        note = {key: 0 for key in ("module", "dynamic_shared", "static_shared", "local_bytes", "registers", "flags")}
        note |= {"kernel": "k", "grid": [1, 1, 1], "block": [1, 1, 1], "cluster": [0, 0, 0]}
        launch, _ = process.launch({**note, "params": bytes(64) + data[:64]})
        self.assertEqual(launch["tensors"], [{"map": data.hex(), "rank": 2}])
        self.assertNotIn("tensors", process.launch({**note, "params": bytes(256)})[0])


def truth(**counts):
    return {"opcodes": ["LDG", "LDG", "STG"], "counts": counts}


class Comparisons(unittest.TestCase):
    """Three launches of two kernels; 0x0 is claimed right, 0x10 wrong, 0x20 not at all."""

    LAUNCHES = [{"id": "a", "kernel": "CatArrayBatchedCopy"}, {"id": "b", "kernel": "CatArrayBatchedCopy"},
                {"id": "c", "kernel": "index_select"}]
    TRUTHS = {"a": truth(executions=[8, 8, 8], sectors=[32, 32, 16]), "b": truth(executions=[1, 1, 0], sectors=[4, 4, 0]),
              "c": truth(executions=[2, 2, 2], sectors=[0, 64, 0])}
    REPLAY = {"a": {"claims": {0: {"sectors": 32, "executions": 8}, 16: {"sectors": 31, "executions": 8}},
                    "gaps": {32: "loads its index"}, "reason": ""},
              "b": {"claims": {0: {"sectors": 4, "executions": 1}, 16: {"sectors": 4, "executions": 1}}, "gaps": {}, "reason": ""}}

    def setUp(self):
        self.result = compare.compare(self.LAUNCHES, self.TRUTHS, self.REPLAY)

    def test_totals(self):
        total = self.result["total"]
        self.assertEqual((total["launches"], total["launches_explained"]["sectors"]), (3, 1))
        self.assertEqual((total["kernels"], total["kernels_explained"]), (2, 0))
        self.assertEqual(total["sectors"], {"equal": {"instructions": 3, "counted": 40},
                                            "differ": {"instructions": 1, "counted": 32},
                                            "open": {"instructions": 2, "counted": 80}, "void": {"equal": 0, "differ": 0}})
        self.assertEqual(total["executions"]["open"], {"instructions": 4, "counted": 14})

    def test_classes(self):
        self.assertEqual({name: t["launches"] for name, t in self.result["classes"].items()}, {"cat": 2, "index": 1})

    def test_reasons_ranked(self):
        self.assertEqual(self.result["reasons"], [{"reason": "the launch is not in the replay", "sectors": 64},
                                                  {"reason": "loads its index", "sectors": 16}])

    def test_what_differs(self):
        self.assertEqual(self.result["differing"], [("a", "CatArrayBatchedCopy", 16, "LDG", "sectors", 32, 31)])

    def test_a_launch_that_moves_nothing_is_not_explained(self):
        result = compare.compare(self.LAUNCHES, {**self.TRUTHS, "c": truth(executions=[2, 2, 2])}, self.REPLAY)["total"]
        self.assertEqual((result["launches"], result["launches_counting"]["sectors"],
                          result["launches_explained"]["sectors"], result["kernels"]), (3, 2, 1, 1))

    def test_claims_of_nothing_differ(self):
        for pc in (8, 48):
            replay = {"b": {"claims": {pc: {"executions": 0}}, "gaps": {}, "reason": ""}}
            result = compare.compare(self.LAUNCHES[1:2], self.TRUTHS, replay)
            self.assertEqual(result["differing"], [("b", "CatArrayBatchedCopy", pc, "no instruction", "executions", None, 0)])

    def test_counts_that_contradict_themselves(self):
        """No sectors of two lines: a claim of them is neither right nor wrong."""
        counted = {"b": truth(executions=[1, 1, 0], tags=[1, 2, 0], sectors=[4, 0, 0], wavefronts=[0, 0, 0])}
        replay = {"b": {"claims": {0: {"sectors": 4}, 16: {"sectors": 8, "wavefronts": 0, "executions": 2}}, "gaps": {}, "reason": ""}}
        result = compare.compare(self.LAUNCHES[1:2], counted, replay)
        total = result["total"]
        self.assertEqual([total["sectors"][o]["instructions"] for o in ("equal", "differ", "open")], [1, 0, 0])
        self.assertEqual(total["sectors"]["void"], {"equal": 0, "differ": 1})
        self.assertNotIn("wavefronts", total)
        self.assertEqual(total["executions"]["differ"]["instructions"], 1)
        self.assertEqual(total["launches_explained"]["sectors"], 0)
        self.assertIn("1 claims of sectors, of which 1 would differ", compare.as_text(result, False))

    def test_claims_of_zero_count(self):
        replay = {"b": {"claims": {32: {"wavefronts": 0}, 16: {"wavefronts": 1}}, "gaps": {}, "reason": ""}}
        result = compare.compare(self.LAUNCHES[1:2], self.TRUTHS, replay)["total"]
        self.assertEqual([result["wavefronts"][o]["instructions"] for o in ("equal", "differ")], [1, 1])


class Replays(unittest.TestCase):
    def read(self, text):
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as f:
            f.write(text)
            f.flush()
            return compare.read_replay(f.name)

    def test_format(self):
        found = self.read('{"launch": "a", "claims": {"16": {"sectors": 3}}, "gaps": {"32": "why"}}\n')
        self.assertEqual(found, {"a": {"claims": {16: {"sectors": 3}}, "gaps": {32: "why"}, "reason": ""}})

    def test_what_is_wrong_is_said(self):
        for text, said in (('{"launch": "a", "claims": {"16": {"sector": 3}}}', "no counter is called sector"), ("{", "line 1"),
                           ('{"claims": {}}', "launch"), ('{"launch": "a", "claims": {"x": {}}}', "line 1"), ("[]", "line 1")):
            with self.assertRaisesRegex(ValueError, said):
                self.read(text + "\n")


class Data(unittest.TestCase):
    """The recorded files. Of the frozen halves only the shape is looked at."""

    def test_split_rule(self):
        self.assertEqual(store.half_of("_Z10vector_addPfPKfS1_"), "development")
        self.assertEqual(store.half_of("_Z6vecaddPKfS0_Pfi"), "frozen")
        for which in store.recorded():
            for half in store.HALVES:
                launches = launches_of(which, half)
                self.assertEqual({store.half_of(launch["kernel"]) for launch in launches}, {half})

    def test_shape(self):
        for which in store.recorded():
            for half in store.HALVES:
                launches = {launch["id"]: launch for launch in launches_of(which, half)}
                truths = truth_of(which, half)
                self.assertEqual(set(launches), set(truths))
                for name, truth_ in truths.items():
                    sizes = {len(column) for column in [truth_["opcodes"], *truth_["counts"].values()]}
                    self.assertEqual(sizes, {launches[name]["instructions"]}, name)
                    self.assertTrue(all(re.fullmatch("[A-Z0-9_]*", opcode) for opcode in truth_["opcodes"]), name)
                    self.assertTrue(set(truth_["counts"]) <= set(compare.COUNTERS))

    def test_counts_go_with_the_shape(self):
        """All threads of a launch begin: a launch that was paired with another's counts would show
        here. And no count is beyond what it is a part of."""
        for which in store.recorded():
            for half in store.HALVES:
                truths = truth_of(which, half)
                for launch in launches_of(which, half):
                    counts, none = truths[launch["id"]]["counts"], [0] * launch["instructions"]
                    blocks, threads = math.prod(launch["grid"]), math.prod(launch["block"])
                    self.assertEqual(counts["executions"][0], blocks * math.ceil(threads / 32))
                    self.assertEqual(counts["threads"][0], blocks * threads)
                    lanes = [32 * n for n in counts["executions"]]
                    for part, whole in ((counts["threads"], lanes), (counts["threads_on"], counts["threads"]),
                                        *((counts.get(c + "_ideal", none), counts.get(c, none))
                                          for c in ("sectors", "wavefronts"))):
                        self.assertTrue(all(map(int.__le__, part, whole)), launch["id"])

    def test_naive_vector_add(self):
        launch, = [x for x in launches_of("programs", "development") if x["kernel"] == naive_vector_add.KERNEL]
        claims = naive_vector_add.replay(launch)["claims"]
        verdict = compare.judge(truth_of("programs", "development")[launch["id"]],
                                {"claims": claims, "gaps": {}, "reason": ""})
        self.assertEqual(verdict.differing, [])
        self.assertEqual(verdict.counts["sectors", "equal"], 3 * 2048)
        self.assertTrue(verdict.explained("sectors") and verdict.explained("executions"))

    def test_staircase(self):
        """workloads/merged_loads.cu: threads whose number divides by 13 skip the loop, those with
        remainders of 1 to 3 the part that takes four at once. 256 = 19 * 13 + 9, so of each block
        20 threads have each remainder up to 8."""
        found = [x for x in launches_of("programs", "development") if "staircase" in x["kernel"]]
        at = truth_of("programs", "development")[found[0]["id"]]["counts"]
        self.assertEqual(at["threads"][0], 16 * 256)
        self.assertEqual(at["threads_on"][0xc0 // 16], 16 * 20)
        self.assertEqual(at["threads"][0xd0 // 16], 16 * 236)
        self.assertEqual(at["threads"][0x140 // 16], 16 * (236 - 3 * 20))


class Commands(unittest.TestCase):
    def run_command(self, *arguments):
        out, argv = io.StringIO(), sys.argv
        sys.argv = ["oracle.py", *arguments]
        try:
            with contextlib.redirect_stdout(out):
                options = oracle.parse()
                options.function(options)
        finally:
            sys.argv = argv
        return out.getvalue()

    def replay_file(self, f):
        launch, = [x for x in launches_of("programs", "development") if x["kernel"] == naive_vector_add.KERNEL]
        f.write(json.dumps(naive_vector_add.replay(launch)) + "\n")
        f.flush()
        return f.name

    def test_compare(self):
        with tempfile.NamedTemporaryFile("w") as f:
            path = self.replay_file(f)
            result = json.loads(self.run_command("compare", "programs", "development", path, "--json"))
            self.assertEqual(result["total"]["launches_explained"]["sectors"], 1)
            self.assertIn("sectors that were not claimed", self.run_command("compare", "programs", "development", path))

    def test_frozen_half_tells_totals_only(self):
        with tempfile.NamedTemporaryFile("w") as f:
            with self.assertRaises(SystemExit):
                self.run_command("compare", "programs", "frozen", self.replay_file(f), "--detail")
        with self.assertRaises(SystemExit):
            frozen = launches_of("programs", "frozen")[0]["id"]
            self.run_command("truth", frozen)


if __name__ == "__main__":
    unittest.main()
