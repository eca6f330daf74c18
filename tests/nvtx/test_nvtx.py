#!/usr/bin/env python3
"""NVTX's memory extension: a program that was compiled with NVTX's headers, on the emulator.

    test_nvtx.py WARPLENS WORK COMPILER INCLUDE

INCLUDE: the folder that holds nvtx3.
"""
import json
import os
import subprocess
import sys
import unittest

WARPLENS, WORK, COMPILER, INCLUDE = sys.argv[1:5]
HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(WORK, "program")
NOT_TRACKED = -2  # what NVTX gives for the depth of ranges without a tool that serves them


def run(*command, **variables):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("WARPLENS_", "NVTX_"))}
    environment.update(variables)
    done = subprocess.run(command, env=environment, capture_output=True, check=False, text=True, timeout=240)
    assert done.returncode == 0, (command, done.returncode, done.stdout, done.stderr)
    return done


def profile(name, **variables):
    path = os.path.join(WORK, name + ".wlprof")
    done = run(WARPLENS, "profile", "-f", "-o", path, "--backend", "emulate", "--keep-exitcode", "--", PROGRAM, **variables)
    return done.stdout, json.loads(run(WARPLENS, "export", "--type", "json", "-o", "-", path).stdout)


class Memory(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        run(COMPILER, "-g", "-O1", "-Wall", "-Werror", "-isystem", INCLUDE, os.path.join(HERE, "program.c"), "-o", PROGRAM,
            "-ldl")
        cls.printed, cls.profile = profile("program")

    def test_program_gets_handle_and_depth(self):
        self.assertEqual(self.printed, "1 0\n")

    def test_heap_is_a_pool(self):
        heap = self.profile["objects"][0]
        self.assertEqual((heap["tag"], heap["bytes"]), ("the heap", 16384))
        pool, = self.profile["memory"]["pools"]
        self.assertEqual((pool["name"], pool["most_reserved_bytes"], pool["most_used_bytes"]), ("the heap", 16384, 6144))
        self.assertEqual((pool["free_bytes"], pool["largest_free_bytes"]), (10240, 6144))

    def test_regions_are_objects(self):
        heap, *regions = self.profile["objects"]
        self.assertEqual([(r.get("tag", ""), r["bytes"], r["parent"]) for r in regions],
                         [("first", 4096, heap["id"]), ("second", 2048, heap["id"]), ("", 6144, heap["id"]),
                          ("", 4096, heap["id"])])
        self.assertTrue(all(r["freed_how"] == "program" for r in regions))

    def test_lines_are_the_programs(self):
        with open(os.path.join(HERE, "program.c"), encoding="utf-8") as file:
            line = 1 + [text.endswith("/* here */\n") for text in file].index(True)
        self.assertEqual([(os.path.basename(r["file"]), r["line"]) for r in self.profile["objects"][1:3]],
                         [("program.c", line)] * 2)

    def test_a_tool_of_the_users_stays(self):
        """Then heaps and regions are not heard of."""
        tool = os.path.join(WORK, "tool.so")
        run(COMPILER, "-shared", "-fPIC", os.path.join(HERE, "tool.c"), "-o", tool)
        printed, found = profile("tool", NVTX_INJECTION64_PATH=tool)
        self.assertEqual(printed, f"the user's tool\n0 {NOT_TRACKED}\n")
        self.assertEqual(len(found["objects"]), 1)


if __name__ == "__main__":
    os.makedirs(WORK, exist_ok=True)
    unittest.main(argv=sys.argv[:1], verbosity=2)
