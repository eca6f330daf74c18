#!/usr/bin/env python3
"""Tests of tools/mutate.py: a small file's defects by name, and a small project all the way."""

import csv
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import mutants
import mutate

TOOLS = pathlib.Path(__file__).resolve().parent

needs_clang = unittest.skipUnless((TOOLS.parent / ".deps/mutate").exists(), "clang's bindings are not installed")

SOURCE = """\
#define LIMIT 8 // how many
#define TWICE(x) ((x) + (x))
enum { RED = 3 };
static int table[4];
void note(int a, int b);
int within(int value, const char *name);
int within(int value, const char *name)
{
    int bits = value;
    bits |= 1;
    note(value, bits);
    if (!name && value <= 9)
        return TWICE(value);
    // a < b in a comment
    return table[value > RED ? 0 : 2];
}
"""


def named(sites, text):
    """Sites as (line, kind, what was there, what comes)."""
    return {(site.line(text), site.kind, text[site.start:site.end].decode(), site.after.decode()) for site in sites}


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file


class Sites(Folder):
    @needs_clang
    def test_every_defect_of_a_file(self):
        path = self.write("src/base/a.c", SOURCE)
        sites = mutants.of_c(mutate.load_clang(), path, "src/base/a.c", ["-x", "c"])
        self.assertEqual(named(sites, path.read_bytes()), {
            (1, "number", "8", "7"), (1, "number", "8", "9"),
            (10, "assignment", "|=", "&="), (10, "number", "1", "0"), (10, "number", "1", "2"), (10, "removed", "bits |= 1", ""),
            (11, "swapped", "value, bits", "bits, value"), (11, "removed", "note(value, bits)", ""),
            (12, "negation", "!", ""), (12, "negation", "!name && value <= 9", "!(!name && value <= 9)"),
            (12, "logical", "&&", "||"), (12, "relational", "<=", "<"), (12, "relational", "<=", ">"),
            (12, "number", "9", "8"), (12, "number", "9", "10"),
            (13, "return", "TWICE(value)", "0"),
            (15, "return", "table[value > RED ? 0 : 2]", "0"), (15, "negation", "value > RED", "!(value > RED)"),
            (15, "relational", ">", ">="), (15, "relational", ">", "<="),
            (15, "number", "0", "1"), (15, "number", "2", "1"), (15, "number", "2", "3"),
        })

    def test_every_defect_of_a_table(self):
        path = self.write("src/base/a.def", '/* X(no, 1) */\nX(share, 0.05,\n  "a, (b)", "c")\nX(one, 8, 0x10u, two)\n')
        self.assertEqual(named(mutants.of_table(path, "src/base/a.def"), path.read_bytes()), {
            (2, "number", "0.05", "0.06"), (2, "number", "0.05", "0.04"),
            (3, "swapped", '"a, (b)", "c"', '"c", "a, (b)"'),
            (4, "number", "8", "9"), (4, "number", "8", "7"), (4, "number", "0x10u", "0x11u"), (4, "number", "0x10u", "0xfu"),
            (4, "swapped", "8, 0x10u", "0x10u, 8"),
        })

    def test_lines_stay_where_they_are(self):
        text = b"int a;\ncall(1,\n  2);\nint b;\n"
        site = mutants.Site("a.c", 7, 19, "removed", b"")
        self.assertEqual(site.planted(text), b"int a;\n\n;\nint b;\n")
        self.assertEqual(site.shown(text), ("call(1, 2);", ";"))

    @needs_clang
    def test_a_seed_draws_the_same_again_and_lines_once(self):
        self.write("src/base/a.c", SOURCE)
        sites = mutate.all_sites(self.root, ["src/base/a.c"], {})
        texts = {"src/base/a.c": SOURCE.encode()}
        first = mutate.drawn(sites, texts, 5, 7)
        self.assertEqual(first, mutate.drawn(sites, texts, 5, 7))
        self.assertNotEqual(first, mutate.drawn(sites, texts, 5, 8))
        lines = [site.line(SOURCE.encode()) for site in mutate.drawn(sites, texts, 100, 1)]
        self.assertEqual(lines, [1, 10, 11, 12, 13, 15])


class Rules(unittest.TestCase):
    def test_every_folder_has_its_tests_in_the_table(self):
        root = TOOLS.parent
        labels = mutate.labels_by_folder(root)
        for folder in (root / "src").iterdir():
            self.assertTrue(labels[folder.name], f"tests/README.md names no tests of src/{folder.name}")
            for label in labels[folder.name]:
                self.assertTrue((root / "tests" / label).is_dir(), label)

    def test_those_who_include_a_folder(self):
        self.assertEqual(mutate.includers(TOOLS.parent, "cli"), [])
        self.assertEqual(mutate.includers(TOOLS.parent, "report"), ["cli"])
        self.assertIn("analysis", mutate.includers(TOOLS.parent, "base"))

    def test_rate_leaves_out_what_is_equivalent(self):
        rows = [{"file": "src/base/a.c", "result": result} for result in
                ["killed"] * 3 + ["survived", "equivalent", "judged", "does not compile"]]
        self.assertRegex(mutate.totals(rows)[1], r"^base +3 +1 +1 +1 +1 +75$")

    def test_what_needs_everything_is_built_apart(self):
        tests = [mutate.Test("a", [], ["tests/a"], 1.0), mutate.Test("b", [], ["tests/b"], 3.0),
                 mutate.Test("c", [], ["tests/c"], 2.0), mutate.Test("d", [], ["all"], 0.1), mutate.Test("e", [], ["all"])]
        self.assertEqual([[test.name for test in batch] for batch in mutate.batches(tests)], [["a", "b"], ["c"], ["d"], ["e"]])


def can_confine(folder):
    return shutil.which("unshare") and subprocess.run(
        [TOOLS / "confine.sh", folder, "true"], capture_output=True, check=False).returncode == 0


PROJECT = {
    "CMakeLists.txt": "cmake_minimum_required(VERSION 3.23)\nproject(small C)\nenable_testing()\n"
                      "add_executable(test_a src/base/a.c tests/base/test_a.c)\nadd_custom_target(tests DEPENDS test_a)\n"
                      "add_test(NAME a COMMAND test_a)\nset_tests_properties(a PROPERTIES LABELS base)\n",
    "tests/README.md": "| folder | its tests |\n|---|---|\n| base | [base](base) |\n",
    "tests/base/test_a.c": "int large(int n);\nint main(void) { return !(large(5) && !large(1)); }\n",
    "src/base/a.c": "int large(int n);\nint large(int n)\n{\n    return n >= 3 ? 1 : 0;\n}\n"
                    "int same(int n);\nint same(int n)\n{\n    return n + 0;\n}\n",
    "tests/mutants/equivalent.csv": "file,before,after,reason\nsrc/base/a.c,return n + 0;,return 0;,nobody calls it\n",
}


@needs_clang
class Whole(Folder):
    """A project of two functions: what its test notices, what not, and what is no defect."""

    def test_results(self):
        if not can_confine(self.root):
            self.skipTest("tests cannot be confined here")
        for path, text in PROJECT.items():
            self.write(path, text)
        subprocess.run(["git", "init", "-q", self.root], check=True)
        results = self.root / "build" / "results.csv"
        run = subprocess.run([sys.executable, TOOLS / "mutate.py", "--root", self.root, "--every", "--results", results],
                             capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        with results.open(encoding="utf-8", newline="") as file:
            found = {row["after"]: (row["result"], row["test"]) for row in csv.DictReader(file)}
        self.assertEqual(found["return n < 3 ? 1 : 0;"], ("killed", "a"))
        self.assertEqual(found["return n > 3 ? 1 : 0;"], ("survived", ""))
        self.assertEqual(found["return n >= 3 ? 2 : 0;"], ("survived", ""))
        self.assertEqual(found["return n - 0;"], ("equivalent", ""))
        self.assertEqual(found["return n + 1;"], ("survived", ""))
        self.assertEqual(found["return 0;"], ("judged", ""))
        self.assertEqual(PROJECT["src/base/a.c"], (self.root / "src/base/a.c").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
