#!/usr/bin/env python3
"""Programs that annotate their memory: compiled as C and C++ with all warnings, not profiled, and
profiled with each runtime.

    test_annotate.py WARPLENS WORK INCLUDE COMPILERS NVCC

COMPILERS: of C and C++, "cc:c++ clang:clang++"; NVCC may be empty.
"""
import json
import os
import sqlite3
import subprocess
import sys
import unittest

WARPLENS, WORK, INCLUDE, COMPILERS, NVCC = sys.argv[1:6]
HERE = os.path.dirname(os.path.abspath(__file__))
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-Wshadow", "-Wundef", "-I" + INCLUDE]
C = ["-xc", "-DUNIT=annotate_in_c", '-DWARPLENS_TEST_NAME="c"', "-Wstrict-prototypes"]
CPP = ["-xc++", "-DUNIT=annotate_in_cpp", '-DWARPLENS_TEST_NAME="cpp"']


def run(*command, status=0):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("WARPLENS_")}
    done = subprocess.run(command, env=environment, capture_output=True, check=False, text=True, timeout=240)
    assert done.returncode == status, (command, done.returncode, done.stdout, done.stderr)
    return done


def at(name):
    return os.path.join(WORK, name)


def source(name):
    return os.path.join(HERE, name)


def compile_units(c, cpp, c_standard="c99", cpp_standard="c++11", flags=()):
    """The objects of the two units."""
    run(c, *WARNINGS, *flags, *C, "-std=" + c_standard, "-c", source("unit.c"), "-o", at("unit_c.o"))
    run(cpp, *WARNINGS, *flags, *CPP, "-std=" + cpp_standard, "-c", source("unit.c"), "-o", at("unit_cpp.o"))
    return [at("unit_c.o"), at("unit_cpp.o")]


class Unprofiled(unittest.TestCase):
    def check(self, c, cpp, c_standard, cpp_standard, flags=()):
        units = compile_units(c, cpp, c_standard, cpp_standard, flags)
        for compiler, language, standard in ((c, "-xc", c_standard), (cpp, "-xc++", cpp_standard)):
            run(compiler, *WARNINGS, *flags, language, "-std=" + standard, source("unprofiled.c"), "-xnone", *units,
                "-o", at("unprofiled"))
            self.assertEqual(run(at("unprofiled")).stderr, "")

    def test_each_standard(self):
        for pair in COMPILERS.split():
            c, cpp = pair.split(":")
            for standards in (("c99", "c++11"), ("c11", "c++17"), ("c17", "c++20")):
                with self.subTest(compiler=c, standards=standards):
                    self.check(c, cpp, *standards)

    def test_linked_otherwise(self):
        c, cpp = COMPILERS.split()[0].split(":")
        for flags in (["-O2", "-fPIE", "-pie"], ["-O2", "-fno-pie", "-no-pie"], ["-static"]):
            with self.subTest(flags=flags):
                self.check(c, cpp, "c99", "c++11", flags)

    def test_asks_for_no_library(self):
        """The only symbol that is asked for is one that need not be there."""
        units = compile_units(*COMPILERS.split()[0].split(":"))
        wanted = run("nm", "-u", units[0]).stdout.split()
        kinds = dict(zip(wanted[1::2], wanted[::2], strict=True))
        kinds.pop("_GLOBAL_OFFSET_TABLE_", None)
        self.assertEqual(kinds, {"dlsym": "w"})


@unittest.skipUnless(NVCC, "no nvcc")
class Profiled(unittest.TestCase):
    def profile(self, cudart):
        units = compile_units(*COMPILERS.split()[0].split(":"), flags=["-g", "-fPIC"])
        program = at("program_" + cudart)
        run(NVCC, "-g", "-lineinfo", "-cudart", cudart, "-I" + INCLUDE, source("program.cu"), *units, "-o", program)
        path = program + ".wlprof"
        done = run(WARPLENS, "profile", "-f", "-o", path, "--backend", "emulate", "--probes", "frequency", "--", program)
        self.assertEqual(done.stdout, "33686018 0\n")
        self.assertEqual(done.stderr.count("was left out: CUDA knows of no memory there"), 1)
        with sqlite3.connect(path) as database:
            rows = database.execute("SELECT launch, kind, domain, name FROM v_launch_ranges").fetchall()
        self.assertEqual(rows, [(1, "pushed", "", "step")])
        return json.loads(run(WARPLENS, "export", "--type", "json", "-o", "-", path).stdout)

    def check(self, cudart):
        profile = self.profile(cudart)
        objects = {o["name"]: o for o in profile["objects"]}
        self.assertEqual(list(objects), [
            "block (program.cu:19)", "input (program.cu:21, in block of program.cu:19)",
            "c of a unit (unit.c:18, in block of program.cu:19)",
            "warplens_alloc (unit.c:19, in c of a unit of unit.c:18)",
            "cpp of a unit (unit.c:18, in block of program.cu:19)",
            "warplens_alloc (unit.c:19, in cpp of a unit of unit.c:18)"])
        block, source_, to = list(objects.values())[:3]
        self.assertEqual((block["stores"], block["loads"], block.get("parent")), (0, 0, None))
        self.assertEqual((source_["loads"], source_["touched_bytes"], source_["parent"]), (64, 256, block["id"]))
        self.assertEqual((to["stores"], to["element_bytes"], to["bytes"]), (64, 4, 1024))
        self.assertTrue(all(o["freed_how"] == "program" for o in profile["objects"]))

    def test_static(self):
        self.check("static")

    def test_shared(self):
        self.check("shared")


if __name__ == "__main__":
    os.makedirs(WORK, exist_ok=True)
    unittest.main(argv=sys.argv[:1], verbosity=2)
