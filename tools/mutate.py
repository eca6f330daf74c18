#!/usr/bin/env python3
"""Plants defects at random places of src/ and runs the nearest tests: what no test notices is told.

    tools/mutate.py --folder base --count 20 --seed 1 --results build/mutate/base.csv

A defect (a mutant) is one change of one place (tools/mutants.py). It is built in a copy of the
tree, build/mutate/<worker>, and the tests of its folder run there, by the table in tests/README.md;
where they pass, quick tests of the folders that include it, and of the commands. Tests that fail
without any defect, or that take longer than --slowest, have no say.

The results of a mutant:
    killed            a test failed, hung or crashed
    survived          none did
    equivalent        the machine code is that of the original
    judged            it behaves like the original: tests/mutants/equivalent.csv says why
    does not compile
The rate is killed over killed and survived. Tests run confined (tools/confine.sh), since a defect
may remove files and end processes.
"""

import argparse
import collections
import csv
import dataclasses
import functools
import hashlib
import json
import os
import pathlib
import queue
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time

import check_includes
import mutants

COLUMNS = ["file", "line", "column", "kind", "before", "after", "result", "test", "seconds"]
RESULTS = ["killed", "survived", "equivalent", "judged", "does not compile"]
# How a worker compiles: quickly, with lines for the tests that want them; warnings stop nothing.
CONFIGURE = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_C_FLAGS_RELEASE=-O1 -g1 -DNDEBUG",
             "-DCMAKE_C_FLAGS=-w", "-DWL_WERROR=OFF"]
# Tests that every folder's defects may fail in the end: whole programs.
COMMANDS = ("cli", "examples")
# Seconds of tests started together: a hang costs four times that and SLACK.
BATCH, SLACK = 5.0, 20.0
# Seconds of the second ring in all.
RING = 20.0
# Seconds that a test is thought to take before it has passed once.
UNKNOWN = 2.0


TOOLS = pathlib.Path(__file__).resolve().parent


def load_clang():
    """clang's bindings: what bootstrap.sh installed, or the system's."""
    sys.path.insert(0, str(TOOLS.parent / ".deps" / "mutate"))
    try:
        from clang import cindex
    except ImportError:
        sys.exit("mutate: clang's Python bindings are missing: tools/bootstrap.sh check")
    return cindex


# --- where to plant ----------------------------------------------------------------------------

def sources(root, folders, files):
    """Files of src/ in these folders or of these names; all where neither is given."""
    found = [str(path.relative_to(root)) for path in sorted((root / "src").rglob("*")) if path.suffix in (".c", ".h", ".def")]
    if not folders and not files:
        return found
    chosen = tuple(f"src/{folder.removeprefix('src/').rstrip('/')}/" for folder in folders)
    return [file for file in found if file in files or file.startswith(chosen or ("/",))]


@functools.cache
def clang_headers():
    """The folder of the headers that belong to the compiler; the bindings bring none."""
    shown = subprocess.run(["clang", "-print-resource-dir"], capture_output=True, text=True, check=True)
    return shown.stdout.strip() + "/include"


def compile_arguments(root, commands, file):
    """What clang needs to read a file: the compiler's -I and -D of it, or of one beside it."""
    folder = str(pathlib.Path(file).parent)
    command = commands.get(file) or next((commands[name] for name in sorted(commands) if name.startswith(folder + "/")), "")
    kept = [word for word in shlex.split(command) if word.startswith(("-I", "-D", "-std="))]
    return ["-x", "c", *(kept or [f"-I{root}/src"]), "-isystem", clang_headers()]


def all_sites(root, files, commands):
    """Every site of the files, in order."""
    cindex = load_clang()
    found = []
    for file in files:
        if file.endswith(".def"):
            found += sorted(mutants.of_table(root / file, file))
        else:
            found += sorted(mutants.of_c(cindex, root / file, file, compile_arguments(root, commands, file)))
    return found


def drawn(sites, texts, count, seed):
    """`count` sites on lines of their own, the same for the same seed: lines are drawn, then what
    to change there, so that long formulas get no more than others."""
    lines = collections.defaultdict(list)
    for site in sites:
        lines[site.file, site.line(texts[site.file])].append(site)
    rng = random.Random(seed)
    chosen = rng.sample(sorted(lines), min(count, len(lines)))
    return sorted(rng.choice(lines[line]) for line in chosen)


def judged_equivalent(root):
    path = root / "tests" / "mutants" / "equivalent.csv"
    if not path.exists():
        return set()
    with path.open(encoding="utf-8", newline="") as file:
        return {(row["file"], row["before"], row["after"]) for row in csv.DictReader(file)}


# --- which tests are near ----------------------------------------------------------------------

def labels_by_folder(root):
    """From tests/README.md: folder of src/ -> labels of its tests."""
    labels = collections.defaultdict(list)
    for line in (root / "tests" / "README.md").read_text(encoding="utf-8").splitlines():
        row = re.match(r"\| ([a-z, ]+) \|(.*)\|$", line)
        if row:
            for folder in row[1].split(", "):
                labels[folder] += re.findall(r"\[\w+\]\((\w+)\)", row[2])
    return labels


def includers(root, folder):
    """Folders that include `folder`, by however many steps."""
    graph = collections.defaultdict(set)
    for path in (root / "src").rglob("*.[ch]"):
        own = path.relative_to(root / "src").parts[0]
        for target in re.findall(r'^#include "(\w+)/', path.read_text(encoding="utf-8"), re.M):
            graph[target].add(own)
    found, todo = set(), [folder]
    while todo:
        new = graph[todo.pop()] - found
        found |= new
        todo += new
    order = [room.split("/")[0] for room in check_includes.ROOMS]
    return sorted(found - {folder}, key=lambda name: order.index(name) if name in order else -1)


@dataclasses.dataclass
class Test:
    """A test of ctest: what must be built before it runs, and the seconds that it takes."""
    name: str
    labels: list
    targets: list
    seconds: float = 0.0  # 0: not known


# --- a copy of the tree ------------------------------------------------------------------------

def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Worker:
    """A copy of the tree with a build of its own."""

    def __init__(self, root, number, ninja_jobs, slowest):
        self.root, self.folder = root, root / "build" / "mutate" / str(number)
        self.build = self.folder / "build" / "mutate"
        self.ninja_jobs, self.slowest = ninja_jobs, slowest
        self.environment = dict(os.environ, WARPLENS_BACKEND="emulate", CCACHE_DISABLE="1", LC_ALL="C",
                                HOME=str(self.folder / "tmp"), TMPDIR="/tmp")
        self.original = {}   # of the file at hand: object -> digest
        self.file = None
        self.running = None  # the tests at hand
        self.passed = {}     # seconds of tests that passed for the first time

    def copy_tree(self):
        """The checkout's files, as they are now; what did not change keeps its time."""
        listed = subprocess.run(["git", "-C", self.root, "ls-files", "-coz", "--exclude-standard"], capture_output=True,
                                check=True).stdout.decode().split("\0")
        names = {name for name in listed if name and (self.root / name).is_file()}
        for name in sorted(names):
            source, copy = self.root / name, self.folder / name
            if not copy.exists() or copy.read_bytes() != source.read_bytes():
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, copy)
        for top in ("src", "tests", "tools", "examples", "bench"):
            for path in (self.folder / top).rglob("*"):
                if path.is_file() and str(path.relative_to(self.folder)) not in names and "__pycache__" not in path.parts:
                    path.unlink()
        for link in (".deps", "viewer/node_modules"):
            if (self.root / link).exists() and not (self.folder / link).exists():
                (self.folder / link).symlink_to((self.root / link).resolve())

    def prepare(self):
        """Copies and builds everything; later builds are of what changed."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.copy_tree()
        if not (self.build / "build.ninja").exists():
            self.run(["cmake", "-S", self.folder, "-B", self.build, *CONFIGURE], check=True)
        first = dict(self.environment)
        del first["CCACHE_DISABLE"]
        if self.run(["ninja", "-C", self.build, f"-j{self.ninja_jobs}", "all", "tests"], env=first).returncode:
            sys.exit(f"mutate: the tree does not build; see `ninja -C {self.build} all tests`")
        rules = (self.build / "build.ninja").read_text(encoding="utf-8")
        self.known_targets = set(re.findall(r"^build (\S+):", rules, re.M))
        self.dependents = self.read_dependents()

    def run(self, command, check=False, **options):
        options.setdefault("env", self.environment)
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                             check=False, **options)
        if check and run.returncode:
            sys.exit(f"mutate: failed: {shlex.join(map(str, command))}\n{run.stdout}")
        return run

    def ninja(self, targets):
        return self.run(["ninja", "-C", self.build, f"-j{self.ninja_jobs}", *targets]).returncode == 0

    def read_dependents(self):
        """File of the tree -> the objects that are compiled from it."""
        objects = collections.defaultdict(list)
        current = None
        for line in self.run(["ninja", "-C", self.build, "-t", "deps"]).stdout.splitlines():
            if line.startswith("    "):
                path = (self.build / line.strip()).resolve()
                if path.is_relative_to(self.folder):
                    objects[str(path.relative_to(self.folder))].append(current)
            elif ": #deps" in line:
                current = line.split(":")[0]
        return objects

    def commands(self):
        """File -> compiler's command line."""
        path = self.build / "compile_commands.json"
        rows = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
        return {str(pathlib.Path(row["file"]).relative_to(self.folder)): row["command"] for row in rows
                if row["file"].startswith(f"{self.folder}/src/")}

    def digests(self, objects):
        """What the objects hold, without debug information: columns are in there."""
        bare = self.folder / "bare.o"
        found = {}
        for name in objects:
            self.run(["strip", "--strip-debug", "-o", bare, self.build / name], check=True)
            found[name] = digest(bare)
        return found

    # --- one defect

    def enter(self, file):
        """Before the first defect of a file: what its objects are without any."""
        if self.file != file:
            self.ninja(self.dependents[file])
            self.original = self.digests(self.dependents[file])
            self.file = file

    def optimised(self, file):
        """Digest of a C file compiled as the release is; None where that cannot be told."""
        command = self.commands().get(file)
        if not command:
            return None
        bare = self.folder / "bare.o"
        words = [word for word in shlex.split(command) if not word.startswith(("-O1", "-g"))]
        words[words.index("-o") + 1] = str(bare)
        done = self.run([*words, "-O2"], cwd=self.build)
        return digest(bare) if done.returncode == 0 else None

    def plant(self, site, rings):
        """Result and test of one defect; the file is as it was afterwards."""
        path = self.folder / site.file
        text = path.read_bytes()
        self.enter(site.file)
        try:
            path.write_bytes(site.planted(text))
            if not self.ninja(self.dependents[site.file]):
                return "does not compile", ""
            if self.dependents[site.file] and self.digests(self.dependents[site.file]) == self.original:
                return "equivalent", ""
            verdict, test = self.judge(rings)
            changed = self.optimised(site.file) if verdict == "survived" else None
        finally:
            path.write_bytes(text)
        if changed and changed == self.optimised(site.file):
            return "equivalent", ""
        return verdict, test

    def judge(self, rings):
        for batch in rings:
            targets = sorted({target for test in batch for target in test.targets})
            if not self.ninja(targets):
                return "does not compile", ""
            failed = self.ctest(batch)
            if failed:
                return "killed", failed
        return "survived", ""

    def ctest(self, batch):
        """Runs tests; the name of the first that failed or hung, or None."""
        names = "|".join(re.escape(test.name) for test in batch)
        command = [TOOLS / "confine.sh", self.folder, "ctest", "--test-dir", self.build, "-R", f"^({names})$",
                   "--stop-on-failure"]
        seconds = sum(test.seconds for test in batch)
        output = self.output_within(command, SLACK + 4 * seconds if seconds else self.slowest)
        passed = {name: max(float(seconds), 0.01) for name, seconds in
                  re.findall(r"Test +#\d+: (\S+) \.* *Passed +([0-9.]+) sec", output)}
        self.passed.update({test.name: passed[test.name] for test in batch if test.name in passed and not test.seconds})
        bad = re.search(r"Test +#\d+: (\S+) \.*\*\*\*", output)
        if bad:
            return bad[1]
        started = [name for name in re.findall(r"Start +\d+: (\S+)", output) if name not in passed]
        return started[0] if started else None

    def output_within(self, command, limit):
        """What a command prints; it and all that it started end after `limit` seconds."""
        shutil.rmtree(self.folder / "tmp", ignore_errors=True)
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              env=self.environment, start_new_session=True) as self.running:
            try:
                return self.running.communicate(timeout=limit)[0]
            except subprocess.TimeoutExpired:
                self.stop()
                return self.running.communicate()[0]

    def stop(self):
        if self.running and self.running.poll() is None:
            os.killpg(self.running.pid, signal.SIGKILL)

    # --- the tests that there are

    def tests(self):
        """All tests of the build by name."""
        shown = subprocess.run(["ctest", "--test-dir", self.build, "--show-only=json-v1"], capture_output=True, check=True)
        found = {}
        for row in json.loads(shown.stdout)["tests"]:
            properties = {p["name"]: p["value"] for p in row["properties"]}
            labels = properties.get("LABELS", [])
            found[row["name"]] = Test(row["name"], labels, self.targets_of(row["command"], properties, labels))
        return found

    def targets_of(self, command, properties, labels):
        """A program of ours alone, or everything and what the folder's tests need."""
        program = os.path.relpath(command[0], self.build)
        if program in self.known_targets and "FIXTURES_REQUIRED" not in properties:
            return [program]
        return ["all", *(f"tests_{label}" for label in labels if f"tests_{label}" in self.known_targets)]


# --- rings of tests ----------------------------------------------------------------------------

class Rings:
    """For each folder its tests in the order in which they are tried."""

    def __init__(self, worker, files, say):
        self.worker, self.say = worker, say
        self.tests = worker.tests()
        self.labels = labels_by_folder(worker.root)
        self.kills = collections.Counter()
        self.times_file = worker.folder / "seconds.json"
        self.times = json.loads(self.times_file.read_text(encoding="utf-8")) if self.times_file.exists() else {}
        self.wide = {folder: self.wide_labels(folder) for folder in {file.split("/")[1] for file in files}}
        for test in self.tests.values():
            test.seconds = self.times.get(test.name) or 0.0

    def wide_labels(self, folder):
        return [label for other in includers(self.worker.root, folder) for label in self.labels[other]] + list(COMMANDS)

    def learn(self, passed):
        """Notes the seconds of tests that passed, for later batches and runs."""
        self.times.update(passed)
        self.times_file.write_text(json.dumps(self.times), encoding="utf-8")
        for name, seconds in passed.items():
            self.tests[name].seconds = seconds

    def labelled(self, labels):
        """Tests of these labels that have a say, the quick ones first."""
        return sorted((test for test in self.tests.values() if set(labels) & set(test.labels) and 0 < (self.times.get(test.name, UNKNOWN) or 0) <= self.worker.slowest),
                      key=lambda test: (test.seconds or UNKNOWN, test.name))

    def of(self, file):
        """Batches of tests for a file's defects: those that noticed one in it before, its
        folder's, the wider ones'."""
        folder = file.split("/")[1]
        near = self.labelled(self.labels[folder])
        known = [test for test in near if self.kills[file, test.name]]
        known.sort(key=lambda test: (-self.kills[file, test.name], test.seconds))
        # Programs alone come before what needs everything linked.
        rest = sorted((test for test in near if test not in known), key=lambda test: "all" in test.targets)
        wide, budget = [], RING
        for test in self.labelled(self.wide[folder]):
            if test not in near and budget >= (test.seconds or UNKNOWN):
                wide.append(test)
                budget -= test.seconds or UNKNOWN
        wide.sort(key=lambda test: "all" in test.targets)
        return batches(known[:3]) + batches(rest + known[3:]) + batches(wide)

    def silence(self, test):
        """Takes its say from a test that fails without a defect."""
        self.say(f"mutate: {test} fails without a defect, too")
        self.times[test] = None

    def noticed(self, file, test):
        self.kills[file, test] += 1


def batches(tests):
    """Tests in their order, in lists of about BATCH seconds, programs alone apart from the rest;
    those whose time is not known by themselves."""
    lists = []
    for test in tests:
        last = lists[-1] if lists else None
        alone = "all" not in test.targets
        known = last and last[0].seconds and test.seconds
        if known and sum(t.seconds for t in last) + test.seconds <= BATCH and ("all" not in last[0].targets) == alone:
            last.append(test)
        else:
            lists.append([test])
    return lists


# --- the run -----------------------------------------------------------------------------------

class Run:
    """Defects over workers, and what came of them."""

    def __init__(self, options, workers, sites, texts):
        self.options, self.workers, self.texts = options, workers, texts
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self.end)
        self.judged = judged_equivalent(options.root)
        self.rings = Rings(workers[0], {site.file for site in sites}, self.say)
        self.trusted = set()  # tests that were seen to pass in these very sources
        self.rows, self.lock = [], threading.Lock()
        self.total = len(sites)
        self.files = queue.SimpleQueue()
        files = sorted({site.file for site in sites})
        random.Random(options.seed).shuffle(files)  # a run that is ended early has seen some of all
        for file in files:
            self.files.put([site for site in sites if site.file == file])

    def say(self, line):
        print(line, file=sys.stderr, flush=True)

    def work(self, worker):
        """Takes files, each with all of its defects, until there are none."""
        while True:
            try:
                sites = self.files.get_nowait()
            except queue.Empty:
                return
            for site in sites:
                self.note(site, *self.result(worker, site))

    def result(self, worker, site):
        text = self.texts[site.file]
        began = time.monotonic()
        if (site.file, *site.shown(text)) in self.judged:
            return "judged", "", 0.0
        verdict, test = worker.plant(site, self.rings.of(site.file))
        with self.lock:
            self.rings.learn(worker.passed)
            worker.passed.clear()
        if test and not self.trust(worker, test):
            return self.result(worker, site)
        return verdict, test, time.monotonic() - began

    def trust(self, worker, name):
        """Whether a test that is said to have noticed a defect passes without one."""
        test = self.rings.tests[name]
        if name in self.trusted or not worker.ninja(test.targets):
            return True
        if worker.ctest([test]):
            self.rings.silence(name)
            return False
        self.trusted.add(name)
        return True

    def note(self, site, verdict, test, seconds):
        text = self.texts[site.file]
        column = site.start - text.rfind(b"\n", 0, site.start)
        row = [site.file, site.line(text), column, site.kind, *site.shown(text), verdict, test, f"{seconds:.1f}"]
        with self.lock:
            self.rings.noticed(site.file, test)
            self.rows.append(dict(zip(COLUMNS, row, strict=True)))
            self.say(f"{len(self.rows)}/{self.total} {verdict}{' by ' + test if test else ''} ({seconds:.1f} s)  "
                     f"{site.file}:{site.line(text)}: {row[4][:70]}  ->  {row[5][:70]}")
            self.write()

    def write(self):
        """All results so far, in the order of the sources."""
        if not self.options.results:
            return
        self.options.results.parent.mkdir(parents=True, exist_ok=True)
        with self.options.results.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(sorted(self.rows, key=lambda row: (row["file"], row["line"], row["column"])))

    def end(self, number, _):
        """Ends the tests, too, which run in sessions of their own."""
        for worker in self.workers:
            worker.stop()
        print_summary(self.rows)
        sys.stdout.flush()
        os._exit(128 + number)

    def whole(self):
        threads = [threading.Thread(target=self.work, args=(worker,)) for worker in self.workers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return self.rows


def totals(rows):
    """A table of the results by folder, as lines."""
    by_folder = collections.defaultdict(collections.Counter)
    for row in rows:
        by_folder[row["file"].split("/")[1]][row["result"]] += 1
        by_folder["all"][row["result"]] += 1
    lines = [f"{'folder':10}" + "".join(f"{name:>18}" for name in RESULTS) + f"{'percent killed':>18}"]
    for folder in sorted(by_folder, key=lambda name: (name == "all", name)):
        count = by_folder[folder]
        told = count["killed"] + count["survived"]
        rate = f"{100 * count['killed'] / told:.0f}" if told else "-"
        lines.append(f"{folder:10}" + "".join(f"{count[name]:18}" for name in RESULTS) + f"{rate:>18}")
    return lines


def print_summary(rows):
    for row in rows:
        if row["result"] == "survived":
            print(f"survived: {row['file']}:{row['line']}:{row['column']}: {row['before']}  ->  {row['after']}")
    print("\n".join(totals(rows)))
    seconds = sorted(float(row["seconds"]) for row in rows)
    if seconds:
        print(f"median {seconds[len(seconds) // 2]:.1f} s a mutant, {sum(seconds):.0f} s in all")


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=TOOLS.parent)
    parser.add_argument("--seed", type=int, default=1, help="another seed draws other places (1)")
    parser.add_argument("--count", type=int, default=50, help="how many defects in all (50)")
    parser.add_argument("--every", action="store_true", help="every defect that there is, for --file")
    parser.add_argument("--folder", action="append", default=[], metavar="src/x", help="only there; repeatable")
    parser.add_argument("--file", action="append", default=[], help="only in this file; repeatable")
    parser.add_argument("--jobs", type=int, default=1, help="workers, each with its copy of the tree (1)")
    parser.add_argument("--ninja-jobs", type=int, default=1, help="compilers that each worker runs (1)")
    parser.add_argument("--slowest", type=float, default=45, metavar="SECONDS", help="leave out slower tests (45)")
    parser.add_argument("--widest", type=int, default=60, metavar="OBJECTS",
                        help="leave out files that more objects come from, which take long to build (60)")
    parser.add_argument("--list", action="store_true", help="print the drawn places and build nothing")
    parser.add_argument("--results", type=pathlib.Path, metavar="FILE.csv", help="a row for each defect")
    return parser.parse_args()


def main():
    options = parse_options()
    options.root = options.root.resolve()
    files = sources(options.root, options.folder, options.file)
    if not files:
        sys.exit("mutate: no such folder or file in src/")
    if not shutil.which("unshare"):
        sys.exit("mutate: needs unshare, of util-linux, to keep defects from harm")
    workers = [Worker(options.root, number, options.ninja_jobs, options.slowest) for number in range(options.jobs)]
    for worker in workers if not options.list else []:
        worker.prepare()
    # The copy, once there is one: the checkout may change under a long run.
    tree = options.root if options.list else workers[0].folder
    if not options.list and not options.file:
        files = [file for file in files if len(workers[0].dependents[file]) <= options.widest]
    sites = all_sites(tree, files, workers[0].commands())
    texts = {file: (tree / file).read_bytes() for file in {site.file for site in sites}}
    if not options.every:
        sites = drawn(sites, texts, options.count, options.seed)
    if options.list:
        for site in sites:
            text = texts[site.file]
            print(f"{site.file}:{site.line(text)}: {site.kind}: {'  ->  '.join(site.shown(text))}")
        return
    print_summary(Run(options, workers, sites, texts).whole())


if __name__ == "__main__":
    main()
