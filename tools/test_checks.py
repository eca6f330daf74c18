#!/usr/bin/env python3
"""Tests of the checks: each must find what it is there to find, and let pass what is right."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parent


class Check(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def run_tool(self, name, *arguments):
        run = subprocess.run([sys.executable, TOOLS / name, "--root", self.root, *arguments],
                             capture_output=True, text=True, check=False)
        return run.returncode, run.stdout


class Includes(Check):
    def includes(self):
        return self.run_tool("check_includes.py")

    def test_right_order_passes(self):
        self.write("src/ptx/ir.h", '#include "base/arena.h"\n#include "ptx/types.def"\n#include <stdio.h>\n')
        self.write("src/report/html.c", '#include "profile/profile.h"\n#include "capture/capture.h"\n'
                                        '#include "cuda/devices.h"\n#include "warplens/profile.h"\n')
        code, out = self.includes()
        self.assertEqual(code, 0, out)
        self.assertIn("6 includes, 0 against", out)

    def test_backwards_is_found(self):
        self.write("src/base/arena.c", '#include "base/arena.h"\n\n#include "ptx/ir.h"\n')
        code, out = self.includes()
        self.assertEqual(code, 1)
        self.assertIn("src/base/arena.c:3: ptx/ir.h: ptx stands below base", out)

    def test_emulator_does_not_know_observers(self):
        self.write("src/emu/exec.c", '  #  include "observe/observe.h"\n')
        code, out = self.includes()
        self.assertEqual(code, 1)
        self.assertIn("src/emu/exec.c:1:", out)

    def test_after_the_run_shares_only_the_capture(self):
        self.write("src/profile/import.c", '#include "capture/capture.h"\n#include "emu/emu.h"\n')
        self.write("src/analysis/model.c", '#include "replay/memo.h"\n')
        code, out = self.includes()
        self.assertEqual(code, 1)
        self.assertIn("src/profile/import.c:2: emu/emu.h", out)
        self.assertIn("src/analysis/model.c:1: replay/memo.h", out)
        self.assertNotIn("capture/capture.h:", out)

    def test_command_line_stays_out_of_the_application(self):
        self.write("src/cli/profile.c", '#include "replay/replay.h"\n#include "emu/emu.h"\n')
        self.assertEqual(self.includes()[0], 0)
        self.write("src/cli/stats.c", '#include "device/device.h"\n#include "shim/driver/driver.h"\n')
        code, out = self.includes()
        self.assertEqual(code, 1)
        self.assertIn("device lives inside the application", out)
        self.assertIn("shim/driver lives inside the application", out)

    def test_rooms_of_one_house_are_ordered(self):
        self.write("src/api/driver/memory.c", '#include "api/both/entry.h"\n')
        self.assertEqual(self.includes()[0], 0)
        self.write("src/api/both/entry.c", '#include "api/driver/driver.h"\n')
        code, out = self.includes()
        self.assertEqual(code, 1)
        self.assertIn("api/driver stands below api/both", out)
        self.write("src/shim/driver/module.c", '#include "shim/hooks/hook.h"\n')
        self.assertIn("shim/hooks stands below shim/driver", self.includes()[1])

    def test_inside_of_a_room_is_its_own(self):
        self.write("src/device/memory.c", '#include "device/impl.h"\n#include "device/graph_impl.h"\n')
        self.assertEqual(self.includes()[0], 0)
        self.write("src/api/runtime/memory.c", '#include "device/impl.h"\n#include "device/graph_impl.h"\n')
        code, out = self.includes()
        self.assertEqual(code, 1)
        self.assertIn("2 against", out)
        self.assertIn("it is the inside of device", out)

    def test_bare_and_relative_includes_are_found(self):
        self.write("src/ptx/lexer.c", '#include "lexer.h"\n#include "../base/arena.h"\n')
        code, out = self.includes()
        self.assertEqual(code, 1)
        self.assertIn("2 includes, 2 against", out)

    def test_unknown_folder_and_empty_tree_are_found(self):
        self.assertEqual(self.includes()[0], 1)
        self.write("src/ptx/a.c", '#include "ptx/a.h"\n')
        self.assertEqual(self.includes()[0], 0)
        self.write("src/misc/b.c", "int b;\n")
        self.assertEqual(self.includes()[0], 1)


class Figures(Check):
    """A copy of the project's pages and results, spoilt."""

    def setUp(self):
        super().setUp()
        project = TOOLS.parent
        for pattern in ("README.md", "docs/*.md", "bench/*/*.md", "bench/*/*.csv", "bench/*/*/*.csv", "examples/*/*.csv", "devices/*.json"):
            for path in project.glob(pattern):
                self.write(str(path.relative_to(project)), path.read_text(encoding="utf-8"))

    def spoil(self, path, old, new):
        text = (self.root / path).read_text(encoding="utf-8")
        self.assertIn(old, text)
        self.write(path, text.replace(old, new))

    def test_pages_that_agree_pass(self):
        code, out = self.run_tool("figures.py", "--check")
        self.assertEqual(code, 0, out)

    def test_a_figure_that_differs_is_found_and_drawn(self):
        self.spoil("README.md", "1.02<!-- figure overhead.auto.trace", "0.97<!-- figure overhead.auto.trace")
        code, out = self.run_tool("figures.py", "--check")
        self.assertEqual(code, 1)
        self.assertIn("overhead.auto.trace is 0.97, the results give 1.02", out)
        self.assertEqual(self.run_tool("figures.py")[0], 0)
        self.assertEqual(self.run_tool("figures.py", "--check")[0], 0)

    def test_a_result_that_changes_is_found(self):
        self.spoil("bench/replay/results.md", "| on | 3.4 | 0.37 |", "| on | 3.4 | 0.87 |")
        self.assertEqual(self.run_tool("figures.py", "--check")[0], 1)

    def test_names_are_known_and_used(self):
        self.spoil("README.md", "figure overhead.auto.trace", "figure overhead.auto.trail")
        code, out = self.run_tool("figures.py", "--check")
        self.assertEqual(code, 1)
        self.assertIn("no figure has the name overhead.auto.trail", out)
        self.assertIn("no page has the figure overhead.auto.trace", out)


class Words(Check):
    def test_sentences_that_keep_to_the_terms_pass(self):
        self.write("src/report/a.c", '/* What was seen. */\nputs("observed after the run");\nput("typical");\n')
        self.write("docs/man/warplens.1", "captures that a run left behind\n")
        self.write("docs/patterns/hot.md", "# hot\n```\nbehind\n```\nsaid of `typical` blocks\n")
        self.write("viewer/src/a.ts", "const a = `${program.collector} of ${b.slice(1)} runs`;\n")
        code, out = self.run_tool("check_words.py")
        self.assertEqual(code, 0, out)

    def test_words_that_are_not_said_are_found(self):
        self.write("src/report/a.c", '/* x\n */\nputs("launches Replayed or probed");\n')
        self.write("README.md", "read behind the end\n")
        self.write("viewer/src/views/a.tsx", "const a = `a typical block of ${b}`;\n")
        code, out = self.run_tool("check_words.py")
        self.assertEqual(code, 1)
        self.assertIn('src/report/a.c:3: "Replayed": say computed after the run', out)
        self.assertIn('README.md:1: "behind": say after', out)
        self.assertIn('viewer/src/views/a.tsx:1: "typical"', out)
        self.assertIn("3 words", out)


class Paths(Check):
    def setUp(self):
        super().setUp()
        self.write("src/emu/run.c", "int a;\n")
        self.write("src/flow/graph.c", "int a;\n")
        self.write("tests/emu/test_run.c", "int a;\n")

    def paths(self, text):
        self.write("docs/page.md", text)
        return self.run_tool("check_paths.py")

    def test_paths_that_exist_pass(self):
        code, out = self.paths("# Running: src/emu\n\n`run.c`, `emu/run.c`, `flow/graph.c` and "
                               "[a test](../tests/emu/test_run.c); tests/*/test_<name>.c, "
                               "src/{emu,flow}, `cuda.h`.\n\n    cat src/emu/run.c\n")
        self.assertEqual((code, out), (0, "check_paths: 1 pages, 0 dead paths\n"))

    def test_dead_paths_are_found(self):
        for text in ("src/emu/walk.c", "`emu/walk.c`", "`walk.c`", "[walk](../src/emu/walk.c)",
                     "    cat src/emu/walk.c", "src/{emu,walk}", "tests/emu/walk_*.c"):
            code, out = self.paths("# Page\n\nSee " + text + ".\n")
            self.assertEqual(code, 1, text)
            self.assertIn("docs/page.md:3: ", out)

    def test_a_name_lies_in_the_folder_of_its_section(self):
        code, out = self.paths("# Page\n\n## Running: src/emu\n\nSee `graph.c`.\n")
        self.assertEqual(code, 1)
        self.assertIn("there is no graph.c in src/emu", out)
        self.assertEqual(self.paths("# Page\n\n## src/emu\n\nIn src/flow, `graph.c`.\n")[0], 0)
        self.assertEqual(self.paths("# Page\n\nSee `graph.c`.\n")[0], 0)


class Names(Check):
    def test_names_in_several_files_are_found(self):
        self.write("src/emu/a.c", "static int take_node(int a)\n{\n    return a;\n}\n")
        self.write("src/emu/b.c", "static int take_edge(int a);\nstatic int take_edge(int a)\n{\n    return a;\n}\n")
        self.assertEqual(self.run_tool("check_names.py")[0], 0)
        self.write("src/ptx/c.c", "static void take_node(void)\n{\n}\n")
        code, out = self.run_tool("check_names.py")
        self.assertEqual(code, 1)
        self.assertIn("take_node: src/emu/a.c, src/ptx/c.c", out)


class Dead(Check):
    """Two files of src/ and what a build says of them."""

    def setUp(self):
        super().setUp()
        self.write("include/warplens/a.h", "int public_name(void);\n")
        self.write("src/emu/a.c", "int take_node(void);\nint take_node(void)\n{\n    return 1;\n}\n")

    def dead(self, *sources):
        units = []
        for source in sources:
            output = self.root / source.replace("/", "_").replace(".c", ".o")
            command = ["cc", "-O2", "-c", str(self.root / source), "-o", str(output)]
            subprocess.run(command, check=True)
            units.append({"directory": str(self.root), "file": str(self.root / source), "command": " ".join(command)})
        self.write("build/compile_commands.json", json.dumps(units))
        return self.run_tool("check_dead.py", "--build", self.root / "build")

    def test_what_another_file_uses_passes(self):
        self.write("src/ptx/b.c", "int take_node(void);\nint main(void)\n{\n    return take_node();\n}\n")
        code, out = self.dead("src/emu/a.c", "src/ptx/b.c")
        self.assertEqual(code, 0, out)

    def test_what_only_its_file_or_a_test_uses_is_found(self):
        self.write("src/ptx/b.c", "int take_node(void);\nint public_name(void);\nstatic int own(void)\n{\n"
                                  "    return 2;\n}\nint public_name(void)\n{\n    return own();\n}\n")
        self.write("tests/emu/t.c", "int take_node(void);\nint main(void)\n{\n    return take_node();\n}\n")
        code, out = self.dead("src/emu/a.c", "src/ptx/b.c", "tests/emu/t.c")
        self.assertEqual(code, 1)
        self.assertIn("src/emu/a.c: take_node: no other file of src/ uses it", out)
        self.assertIn("2 object files, 1 problems", out)

    def test_exceptions_do_not_outlive_their_reason(self):
        self.write("src/ptx/b.c", "int find_with(void);\nint find_with(void)\n{\n    return 2;\n}\n")
        self.write("src/emu/a.c", "int find_with(void);\nint main(void)\n{\n    return find_with();\n}\n")
        code, out = self.dead("src/emu/a.c", "src/ptx/b.c")
        self.assertEqual(code, 1)
        self.assertIn("src/ptx/b.c: find_with: another file uses it now", out)

    def test_what_is_not_built_is_no_pass(self):
        self.write("build/compile_commands.json", "[]")
        code, out = self.run_tool("check_dead.py", "--build", self.root / "build")
        self.assertEqual(code, 1)
        self.assertIn("build all first", out)


class Style(Check):
    def setUp(self):
        super().setUp()
        subprocess.run(["git", "init", "-q", self.root], check=True)

    def style(self):
        return self.run_tool("check_style.py", "--text-only")

    def test_clean_tree_passes(self):
        self.write("src/base/a.c", "int a;\n")
        self.write("viewer/package-lock.json", '{"packages": {"node_modules/x": {"version": "1.0.0"}}}\n')
        self.assertEqual(self.style(), (0, "check_style: 2 files, 0 problems\n"))

    @unittest.skipUnless((TOOLS.parent / ".deps/bin/clang-format").exists(), "clang-format is not installed")
    def test_format_is_checked_and_mended(self):
        (self.root / ".deps").symlink_to(TOOLS.parent / ".deps")
        (self.root / ".clang-format").symlink_to(TOOLS.parent / ".clang-format")
        self.write(".gitignore", ".deps\n")
        self.write("src/base/a.c", "int  a( void ){ return 1; }\n")
        self.assertEqual(self.run_tool("check_style.py")[0], 1)
        self.assertEqual(self.run_tool("check_style.py", "--fix")[0], 0)
        self.assertEqual((self.root / "src/base/a.c").read_text(), "int a(void)\n{\n    return 1;\n}\n")
        self.assertEqual(self.run_tool("check_style.py")[0], 0)

    @unittest.skipUnless((TOOLS.parent / ".deps/bin/ruff").exists(), "ruff is not installed")
    def test_python_and_shell_are_linted(self):
        (self.root / ".deps").symlink_to(TOOLS.parent / ".deps")
        self.write(".gitignore", ".deps\n")
        self.write("tools/a.py", "import os\n")
        self.write(".ci/run", "#!/bin/sh\nrm $1\n")
        code, out = self.run_tool("check_style.py")
        self.assertEqual(code, 1)
        self.assertIn("F401", out)
        self.assertIn("SC2086", out)
        self.assertIn("findings in Python; findings in shell scripts", out)

    def test_versions_of_cmake_are_compared(self):
        self.write("CMakePresets.json", '{"cmakeMinimumRequired": {"major": 3, "minor": 23, "patch": 0}}\n')
        self.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.23)\n")
        self.assertEqual(self.style()[0], 0)
        self.write("bench/CMakeLists.txt", "cmake_minimum_required(VERSION 3.22)\n")
        code, out = self.style()
        self.assertEqual(code, 1)
        self.assertIn("bench/CMakeLists.txt: asks for CMake 3.22, CMakePresets.json for 3.23", out)

    def test_works_outside_git(self):
        (self.root / ".git").rename(self.root / "git")
        self.write("src/base/errors.def", "X(OK)")
        self.write("build/generated.def", "X(OK)")
        code, out = self.style()
        self.assertEqual(code, 1)
        self.assertIn("src/base/errors.def: no newline", out)
        self.assertNotIn("build/", out)

    def test_registries_are_found(self):
        self.write("viewer/package-lock.json", '{\n  "resolved": "x"\n}\n')
        self.write("viewer/.npmrc", "registry" + " = somewhere\n")
        self.write("docs/a.md", "see https://pypi." + "org/x\n")
        code, out = self.style()
        self.assertEqual(code, 1)
        self.assertIn("viewer/package-lock.json: has", out)
        self.assertIn("viewer/.npmrc:1:", out)
        self.assertIn("docs/a.md:1:", out)

    def test_programs_can_be_executed(self):
        self.write("tools/run.py", '#!/usr/bin/env python3\n"""Does nothing."""\n')
        code, out = self.style()
        self.assertEqual(code, 1)
        self.assertIn("tools/run.py: starts as a program", out)
        (self.root / "tools/run.py").chmod(0o755)
        self.assertEqual(self.style()[0], 0)

    def test_missing_newline_is_found_and_long_files_are_named(self):
        self.write("src/base/errors.def", "X(OK)")
        self.write("src/base/long.c", "int a;\n" * 1001)
        code, out = self.style()
        self.assertEqual(code, 1)
        self.assertIn("src/base/errors.def: no newline", out)
        self.assertIn("note: src/base/long.c: 1001 lines", out)


if __name__ == "__main__":
    unittest.main()
