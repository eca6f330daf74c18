#!/usr/bin/env python3
"""Calls that few programs make, before the library in front of the driver: output and status stay,
and the profile says what each part of programs/rare.c did, as written down here.

    test_rare.py WARPLENS LIBRARIES PROGRAM           on the emulator's driver; it lacks some parts
    test_rare.py WARPLENS LIBRARIES PROGRAM --gpu     on NVIDIA's
"""
import contextlib
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest

WARPLENS, LIBRARIES, PROGRAM = sys.argv[1:4]
GPU = "--gpu" in sys.argv[4:]
NOT_HERE = 77
COPY, SET = 2, 3  # cap_call_kind
K4 = 4096

# Of each part: its objects in order of allocation, (call, bytes); what was copied and set, (call,
# from, to, bytes) with the objects' places in that list, 0 for host memory, in any order; how often
# each kernel ran; what is named as not observed.
PARTS = {
    "old_launch": {
        "objects": [("cuMemAlloc_v2", K4)] * 2,
        "moves": [("cuMemcpyHtoD_v2", 0, 1, K4), ("cuMemcpyHtoD_v2", 0, 2, K4), ("cuMemcpyDtoH_v2", 1, 0, K4)],
        "launches": {"plus": 2, "permute": 1},
    },
    "virtual_memory": {
        "objects": [("cuMemMap", 2 << 20)] * 2,
        "moves": [("cuMemcpyHtoD_v2", 0, 1, K4), ("cuMemcpyDtoH_v2", 1, 0, K4)],
        "launches": {"plus": 1},
    },
    "graph_memory": {  # what the graph allocates is there anew with each launch
        "objects": [("cuMemAlloc_v2", K4)] + [("cuGraphLaunch", K4)] * 3,
        "moves": [move for own in (2, 3, 4)
                  for move in [("cuGraphLaunch", 0, own, K4), ("cuGraphLaunch", own, 1, K4), ("cuGraphLaunch", 1, 0, K4)]],
        "launches": {"plus": 3},
    },
    "graph_kernels": {
        "objects": [("cuMemAlloc_v2", K4)],
        "moves": [("cuMemcpyHtoD_v2", 0, 1, K4), ("cuMemcpyDtoH_v2", 1, 0, K4)],
        "launches": {"plus": 2},
        "blocks": [8, 4],
    },
    "values": {
        "objects": [("cuMemAlloc_v2", K4), ("cuMemAlloc_v2", 64)],
        "moves": [("cuMemsetD32_v2", 0, 2, 64), ("cuMemcpyHtoD_v2", 0, 1, K4), ("cuMemcpyDtoH_v2", 1, 0, K4)],
        "launches": {"plus": 1},
    },
    "value_batch": {
        "objects": [("cuMemAlloc_v2", 64)],
        "moves": [("cuMemcpyDtoH_v2", 1, 0, 8)],
        "launches": {},
    },
    "extended": {
        "objects": [("cuMemAlloc_v2", K4)] * 2,
        "moves": [("cuMemcpyHtoD_v2", 0, 1, K4), ("cuMemcpyHtoD_v2", 0, 2, K4), ("cuMemcpyDtoH_v2", 1, 0, K4)],
        "launches": {"plus": 3, "permute": 1},
    },
    "library": {
        "objects": [("cuMemAlloc_v2", K4)],
        "moves": [("cuMemcpyHtoD_v2", 0, 1, K4), ("cuMemcpyDtoH_v2", 1, 0, K4)],
        "launches": {"plus": 3},
    },
    "large": {  # with a limit on what probes add
        "objects": [("cuMemAlloc_v2", K4)] * 2,
        "moves": [("cuMemcpyHtoD_v2", 0, 1, K4), ("cuMemcpyHtoD_v2", 0, 2, K4), ("cuMemcpyDtoH_v2", 1, 0, K4)],
        "launches": {"large": 1, "permute": 1},
        "options": ["--probes", "trace,touch"],
        "message": "large has no probes: compiling it with probes would take too long",
        "gaps": 6999,
    },
    "managed": {
        "objects": [("cuMemAllocManaged", K4)],
        "moves": [],
        "launches": {"plus": 2},
    },
    "copy_batch": {
        "objects": [("cuMemAlloc_v2", K4)] * 2,
        "moves": [("cuMemcpyHtoD_v2", 0, 1, K4), ("cuMemsetD32_v2", 0, 2, K4), ("cuMemcpyBatchAsync_v2", 1, 2, 64),
                  ("cuMemcpyBatchAsync_v2", 1, 2, K4 // 2), ("cuMemcpy3DBatchAsync_v2", 1, 2, 32 * 4 * 2),
                  ("cuMemcpyDtoH_v2", 2, 0, K4)],
        "launches": {},
    },
    "conditional": {
        "objects": [("cuMemAlloc_v2", K4)],
        "moves": [("cuMemcpyHtoD_v2", 0, 1, K4), ("cuMemcpyDtoH_v2", 1, 0, K4)],
        "launches": {"plus": 1},
        "skipped": ["(kernels of a conditional node)"],
    },
    "green": {
        "objects": [("cuMemAlloc_v2", K4)] * 2,
        "moves": [("cuMemcpyHtoD_v2", 0, 1, K4), ("cuMemcpyHtoD_v2", 0, 2, K4), ("cuMemcpyDtoH_v2", 1, 0, K4)],
        "launches": {"plus": 3, "permute": 3},
    },
    "devices": {
        "objects": [("cuMemAlloc_v2", K4), ("cuMemAllocAsync", K4)] * 2 + [("cuMemAllocManaged", K4)],
        "moves": [("cuMemcpyHtoD_v2", 0, 1, K4), ("cuMemcpyPeerAsync", 1, 3, K4), ("cuMemcpyPeer", 3, 2, K4),
                  ("cuMemcpyPeer", 1, 4, K4), ("cuMemcpyDtoH_v2", 2, 0, K4), ("cuMemcpyDtoH_v2", 3, 0, K4),
                  ("cuMemcpyDtoH_v2", 4, 0, K4)],
        "launches": {"plus": 6},
        "pools": [("default", 0, 1), ("default", 1, 1)],
    },
    "ipc": {
        "objects": [("cuIpcOpenMemHandle_v2", K4), ("cuMemAlloc_v2", K4)],
        "moves": [("cuMemcpyHtoD_v2", 0, 2, K4), ("cuMemcpyDtoH_v2", 2, 0, K4)],
        "launches": {"plus": 1},
    },
    "pool": {
        "objects": [("cuMemPoolImportPointer", K4), ("cuMemAllocFromPoolAsync", K4)],
        "moves": [("cuMemcpyHtoD_v2", 0, 2, K4), ("cuMemcpyDtoH_v2", 2, 0, K4)],
        "launches": {"plus": 1},
    },
}
EMULATED = {"virtual_memory", "graph_memory", "graph_kernels", "values", "extended", "library", "large", "managed", "devices"}  # by the driver that stands in


def run(command):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("WARPLENS_")}
    if not GPU:
        driver = os.path.join(LIBRARIES, "emulate", "libcuda.so.1")
        environment.update(WARPLENS_DRIVER=driver, WARPLENS_DEVICE="h200,h200")
    return subprocess.run(command, env=environment, capture_output=True, check=False, text=True, timeout=120)


def bare(part):
    if GPU:
        return run([PROGRAM, part])
    return run(["env", "LD_PRELOAD=" + os.path.join(LIBRARIES, "inline", "libcuda.so.1"), PROGRAM, part])


class Rare(unittest.TestCase):
    def check(self, part, way):
        native = bare(part)
        if native.returncode == NOT_HERE:
            self.assertTrue(GPU or part not in EMULATED, native.stdout)
            self.skipTest(native.stdout.strip() or "this machine cannot do it")
        self.assertEqual(native.returncode, 0, native.stdout + native.stderr)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rare.wlprof")
            done = run([WARPLENS, "profile", "-q", "--backend", "inline", "--device-times", "all", "--keep-exitcode", "--collect", way,
                        "--replay-budget", "none", *PARTS[part].get("options", []), "-o", path, "--", PROGRAM, part])
            self.assertEqual((done.returncode, done.stdout), (0, native.stdout), done.stderr)
            with contextlib.closing(sqlite3.connect(path)) as database:
                self.check_profile(database, PARTS[part])

    def check_profile(self, database, expected):
        objects = database.execute("SELECT id, name, bytes, free_call FROM objects ORDER BY id").fetchall()
        self.assertTrue(all(freed is not None for *_, freed in objects), objects)
        freed = database.execute("SELECT DISTINCT freed_how FROM v_objects").fetchall()
        self.assertEqual(freed, [("program",)])
        pools = database.execute("SELECT kind, device, objects FROM v_pools ORDER BY pool").fetchall()
        held = database.execute("SELECT most_used, most_reserved FROM v_pools WHERE most_used NOTNULL").fetchall()
        self.assertEqual(len(held), len(expected.get("pools", held)))
        self.assertTrue(all(K4 <= used <= reserved for used, reserved in held), held)
        self.assertEqual(pools, expected.get("pools", pools))
        places = self.places([(number, (name.split(" ")[0], size)) for number, name, size, _ in objects], expected["objects"])
        moves = [(api, places[source], places[target], size) for api, source, target, size in database.execute(
            "SELECT api, ifnull(source_object, 0), ifnull(target_object, 0), bytes FROM calls "
            "WHERE kind IN (?, ?) AND bytes > 0", (COPY, SET))]
        self.assertEqual(sorted(moves), sorted(expected["moves"]))
        launches = database.execute("SELECT kernels.name, count(*), min(way) FROM launches "
                                    "JOIN kernels ON kernels.id = kernel GROUP BY kernels.name").fetchall()
        self.assertEqual({name: count for name, count, _ in launches}, expected["launches"])
        self.assertTrue(all(way > 0 for *_, way in launches), launches)
        blocks = [x for x, in database.execute("SELECT grid_x FROM launches ORDER BY id")]
        self.assertEqual(blocks, expected.get("blocks", blocks))
        skipped = [name for name, in database.execute("SELECT kernel FROM skips")]
        self.assertEqual(skipped, expected.get("skipped", []))
        messages = "\n".join(text for text, in database.execute("SELECT text FROM messages"))
        self.assertIn(expected.get("message", ""), messages)
        [(gaps,)] = database.execute("SELECT count(*) FROM kernel_gaps")
        self.assertEqual(gaps, expected.get("gaps", gaps))

    def places(self, objects, expected):
        """Where each object stands in the list of those expected; processes come in any order. 0:
        host memory."""
        found, left = {0: 0}, list(expected)
        for number, what in objects:
            self.assertIn(what, left)
            found[number] = left.index(what) + 1
            left[found[number] - 1] = None
        self.assertEqual([what for what in left if what], [])
        return found


def add_tests():
    for part in PARTS:
        for way in "auto", "probe":
            setattr(Rare, f"test_{part}_{way}", lambda self, part=part, way=way: self.check(part, way))


add_tests()
if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
