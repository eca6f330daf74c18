#!/usr/bin/env python3
"""Tensors of PyTorch's allocator as objects with their lines in Python, without PyTorch and a GPU:
a program in Python over libraries that report as PyTorch's do, on the emulator.

    test_torch.py WARPLENS WORK COMPILER
"""
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import unittest

WARPLENS, WORK, COMPILER = sys.argv[1:4]
HERE = os.path.dirname(os.path.abspath(__file__))
TRAIN = os.path.join(HERE, "train.py")
DRIVER = os.path.join(os.path.dirname(WARPLENS), "..", "lib", "warplens", "emulate", "libcuda.so.1")
PACKAGES = os.path.join(WORK, "site-packages")


def run(*command, **variables):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("WARPLENS_")}
    environment.update(variables, PYTHONPATH=PACKAGES)
    done = subprocess.run(command, env=environment, capture_output=True, check=False, text=True, timeout=240)
    assert done.returncode == 0, (command, done.returncode, done.stdout, done.stderr)
    return done


def compile_library(name, *needs):
    libraries = [f"-L{PACKAGES}", "-Wl,-rpath,$ORIGIN", *[f"-l{need}" for need in needs]] if needs else []
    run(COMPILER, "-shared", "-fPIC", "-g", "-O1", "-Wall", "-Wextra", "-Werror", os.path.join(HERE, name + ".c"), "-o",
        os.path.join(PACKAGES, f"lib{name}.so"), *libraries)


def line_of(comment, path=TRAIN):
    with open(path, encoding="utf-8") as file:
        return 1 + [line.rstrip().endswith("# " + comment) for line in file].index(True)


class Emulated(unittest.TestCase):
    backend = "emulate"
    variables = {}

    @classmethod
    def setUpClass(cls):
        os.makedirs(PACKAGES, exist_ok=True)
        compile_library("c10")
        compile_library("c10_cuda", "c10")
        shutil.copy(os.path.join(HERE, "packages", "tensors.py"), PACKAGES)
        cls.path = path = os.path.join(WORK, cls.backend + ".wlprof")
        cls.done = run(WARPLENS, "profile", "-f", "-o", path, "--backend", cls.backend, "--probes", "frequency", "--",
                       sys.executable, TRAIN, **cls.variables)
        cls.profile = json.loads(run(WARPLENS, "export", "--type", "json", "-o", "-", path).stdout)
        cls.objects = cls.profile["objects"]

    def at(self, comment):
        return [o for o in self.objects if o.get("tag") == "tensor" and o.get("line") == line_of(comment)]

    def test_reports_go_on_to_pytorch(self):
        self.assertEqual(self.done.stdout, f"{4 * 1024} {4 << 50}\n")

    def test_each_tensor_has_its_line(self):
        lines = {comment: [o["bytes"] for o in self.at(comment)]
                 for comment in ("the weight", "the input", "the activation", "the result", "on a thread of its own")}
        self.assertEqual(lines, {"the weight": [4096], "the input": [2048], "the activation": [1024, 1024],
                                 "the result": [1024, 1024], "on a thread of its own": [4096]})
        self.assertEqual(len(self.objects), 8)

    def test_names(self):
        name = self.at("the input")[0]["name"]
        self.assertEqual(name, f"tensor (train.py:{line_of('the input')} in main)")
        segment = self.objects[0]
        function = "Net.__init__" if sys.version_info >= (3, 11) else "__init__"
        self.assertEqual(segment["name"], f"PyTorch segment (train.py:{line_of('the weight')} in {function})")
        self.assertEqual({o["parent"] for o in self.objects[1:]}, {segment["id"]})

    def test_lives(self):
        how = {comment: {o["freed_how"] for o in self.at(comment)} for comment in ("the input", "the activation")}
        self.assertEqual(how, {"the input": {"program"}, "the activation": {"program"}})

    def test_accesses_are_those_of_tensors(self):
        self.assertEqual([(o["loads"], o["stores"]) for o in self.at("the activation")], [(32, 32)] * 2)
        self.assertEqual([(o["loads"], o["stores"]) for o in self.at("the input")], [(64, 0)])

    def test_pool(self):
        """Most is in use when the thread's tensor has come."""
        pool, = self.profile["memory"]["pools"]
        self.assertEqual((pool["name"], pool["kind"]), ("PyTorch segment", "program"))
        self.assertEqual((pool["most_reserved_bytes"], pool["reserved_bytes"]), (1 << 20, 1 << 20))
        self.assertEqual((pool["most_used_bytes"], pool["free_bytes"]), (2 * 4096 + 2048, (1 << 20) - 2 * 4096 - 2048))
        self.assertEqual(pool["objects"], [o["name"] for c in ("the weight", "on a thread of its own", "the input")
                                           for o in self.at(c)])

    def test_what_was_refused(self):
        with sqlite3.connect(self.path) as profile:
            rows = profile.execute("SELECT bytes, line FROM v_calls WHERE api LIKE 'CUDACachingAllocator%' AND result")
            self.assertEqual(rows.fetchall(), [(4 << 50, line_of("too large"))])

    def test_who_held_memory_then(self):
        """The thread's tensor has gone, and the input: the rest is not handed out."""
        refusal, = [f["refusal"] for f in self.profile["findings"] if f["pattern"] == "out-of-memory"]
        self.assertEqual([(h["name"].split(" (")[0], h["bytes"], h.get("rest", False)) for h in refusal["held"]],
                         [("PyTorch segment", (1 << 20) - 4096, True), ("tensor", 4096, False)])
        self.assertEqual(refusal["in_use"], 1 << 20)

    def test_lines_of_launches(self):
        with sqlite3.connect(self.path) as profile:
            rows = profile.execute("SELECT line FROM v_calls WHERE kind = 'launch'").fetchall()
        lines = [line_of(comment) + 1 for comment in ("the activation", "the result")]
        self.assertEqual([line for line, in rows], lines * 2)


class Arrays(unittest.TestCase):
    """CuPy's, by a hook among its own."""

    def test_arrays_of_cupy(self):
        shutil.copytree(os.path.join(HERE, "packages", "cupy"), os.path.join(PACKAGES, "cupy"), dirs_exist_ok=True)
        program, path = os.path.join(HERE, "arrays.py"), os.path.join(WORK, "arrays.wlprof")
        done = run(WARPLENS, "profile", "-f", "-o", path, "--backend", "emulate", "--keep-exitcode", "--", sys.executable, program)
        self.assertEqual(done.stdout, "['warplens']\n")
        profile = json.loads(run(WARPLENS, "export", "--type", "json", "-o", "-", path).stdout)
        segment, *arrays = profile["objects"]
        self.assertEqual([(o["tag"], o["bytes"], os.path.basename(o["file"]), o["line"], o["parent"]) for o in arrays], [
            ("array", 3072, "arrays.py", line_of("the first", program), segment["id"]),
            ("array", 1024, "arrays.py", line_of("the sum", program), segment["id"]),
            ("array", 1024, "arrays.py", line_of("the sum", program), segment["id"])])
        self.assertTrue(all(o["freed_how"] == "program" for o in arrays))
        self.assertEqual(profile["memory"]["pools"][0]["most_used_bytes"], 4096)
        unused = [f for f in profile["findings"] if f["pattern"] == "unused-allocation"]
        self.assertEqual([(f["pool"], f["saves_bytes"], f["plan_step"]) for f in unused],
                         [("CuPy segment", 3072, 1), ("CuPy segment", 1024, 3)])
        self.assertEqual(profile["memory"]["peak_bytes_after"], 1 << 20)  # the device's is the segment


class Inline(Emulated):
    """The same by the library before NVIDIA's driver, with the emulator's in its place."""
    backend = "inline"
    variables = {"WARPLENS_DRIVER": DRIVER}


if __name__ == "__main__":
    os.makedirs(WORK, exist_ok=True)
    unittest.main(argv=sys.argv[:1], verbosity=2)
