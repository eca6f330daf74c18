#!/usr/bin/env python3
"""What is told of warps that do not all do the same: programs/warps.cu, run by the emulator.

    test_warps.py WARPLENS WORK NVCC [CASE]
"""
import os
import sys
import unittest

import case
from case import HERE, WARPLENS, compile_program, run

TILE = 16


def line_of(mark):
    with open(os.path.join(HERE, "programs", "warps.cu")) as source:
        return "warps.cu:%d" % next(i for i, text in enumerate(source, 1) if "// " + mark in text)


def passes(pitch):
    """Wavefronts of a warp's store to a tile of two rows, and of its load of two columns."""
    def most(words):
        return max(len({w for w in words if w % 32 == bank}) for bank in range(32))
    rows = [y * pitch + x for y in range(2) for x in range(TILE)]
    columns = [x * pitch + y for y in range(2) for x in range(TILE)]
    return most(rows) + most(columns)


class Warps(case.Case):
    def launches(self):
        done = self.profile(compile_program("warps"), options=["-q", "--set", "sequences"])
        self.assertEqual(done.returncode, 0, done.stderr)
        return {launch["kernel"].split("(")[0].split()[-1]: launch["warps"] for launch in self.stats()["launches"]}

    def expect(self, warps, count, alike, *outliers):
        self.assertEqual((warps["count"], warps["alike"]), (count, alike))
        self.assertEqual([(o["which"], o["why"]) for o in warps["outliers"]], list(outliers))
        differences = [o["difference"] for o in warps["outliers"]]
        self.assertEqual(differences, sorted(differences, reverse=True))
        self.assertEqual(count, alike + sum(o["warps"] for o in warps["outliers"]))

    def test_what_stands_out(self):
        all_launches = self.launches()
        self.expect(all_launches["leave"], 64, 48,
                    ("warps 12 to 15 of every block", f"leave the loop at {line_of('leave: the loop')} after 3 of 8 rounds"))
        outlier = all_launches["leave"]["outliers"][0]
        self.assertEqual((outlier["block"], outlier["warp"], outlier["warps"]), ([0, 0, 0], 12, 16))
        self.assertEqual(f"warps.cu:{outlier['line']}", line_of("leave: the loop"))
        self.assertEqual(outlier["than"], all_launches["leave"]["representative"])
        # The rounds that are left out have as many operations each.
        longer = all_launches["leave"]["operations"] - outlier["operations"]
        self.assertEqual(longer % 5, 0)
        self.assertAlmostEqual(outlier["difference"], longer / all_launches["leave"]["operations"])
        self.expect(all_launches["branch"], 8, 7,
                    ("warp 1 of block 2", f"does not enter the branch at {line_of('branch: what')}"))
        lanes = [o for o in all_launches["lanes"]["outliers"] if o["which"] == "all warps of block 1"]
        self.assertEqual(len(lanes), 1)
        self.assertTrue(lanes[0]["why"].startswith(f"have 8 of 32 lanes active at {line_of('lanes: a')}, not 32"), lanes)
        self.expect(all_launches["sectors"], 16, 12,
                    ("all warps of block 2", f"move 32 sectors a request at {line_of('sectors: block')} (x), not 4"))
        self.expect(all_launches["guard"], 16, 14,
                    ("all warps of block 7", f"do not enter the branch at {line_of('guard: where')}"))

    def test_transposes_of_the_paper(self):
        # 1,024 blocks of 8 warps that all do alike. Of a tile of 16 x 16, a warp is two rows: it
        # loads four sectors, and stores to as many, or to one for each column.
        all_launches = self.launches()
        for name, sectors, wavefronts in (("transpose_naive", 4 + TILE, 0), ("transpose_tile<16>", 8, passes(TILE)),
                                          ("transpose_tile<17>", 8, passes(TILE + 1))):
            warps = next(w for k, w in all_launches.items() if k.replace("(int)", "") == name)
            self.expect(warps, 8192, 8192)
            self.assertEqual((warps["blocks"], warps["sectors"], warps["wavefronts"], warps["lanes"]),
                             (1024, sectors, wavefronts, 32))
        self.assertEqual(passes(TILE), 1 + 8)  # eight lanes of each column in one bank

    def test_wavelet_of_the_paper(self):
        # Warps go idle one after another, and block 0 runs about a fifth longer.
        warps = self.launches()["haar"]
        levels, alone = line_of("haar: warps"), line_of("haar: what block 0")
        self.assertEqual((warps["count"], warps["blocks"], warps["representative"]["block"]), (256, 16, [1, 0, 0]))
        self.assertEqual(warps["representative"]["warp"], 8)
        where = {o["which"]: o for o in warps["outliers"]}
        for which, times in (("warp 0 of blocks 1 to 15", 9), ("warp 1 of blocks 1 to 15", 4),
                             ("warps 2 and 3 of blocks 1 to 15", 3), ("warps 4 to 7 of blocks 1 to 15", 2)):
            self.assertEqual(where[which]["why"].replace(f" {times} times, not 1", ""), f"enter the branch at {levels}")
        self.assertTrue(where["all warps of block 0"]["why"].startswith(f"enter the loop at {alone}, for 4 rounds"))
        each = [where["warp 0 of blocks 1 to 15"]["operations"], where["warp 1 of blocks 1 to 15"]["operations"]]
        each += 2 * [where["warps 2 and 3 of blocks 1 to 15"]["operations"]]
        each += 4 * [where["warps 4 to 7 of blocks 1 to 15"]["operations"]] + 8 * [warps["operations"]]
        longer = where["all warps of block 0"]["operations"] - warps["operations"]
        self.assertEqual(where["all warps of block 0"]["operations_most"] - each[0], longer)
        self.assertTrue(0.15 < 16 * longer / sum(each) < 0.25, 16 * longer / sum(each))

    def test_text(self):
        self.launches()
        done = run(WARPLENS, "stats", "--warps", "-k", "leave", "--width", "200", self.wlprof)
        self.assertEqual(done.returncode, 0, done.stderr)
        words = " ".join(done.stdout.split())
        self.assertIn("Warp 0 of block 0 stands for 48 of the 64 warps of 4 blocks: ", words)
        self.assertIn("warps 12 to 15 of every block leave the loop at " + line_of("leave: the loop"), words)
        self.assertNotIn("launch 2", words)

    def test_nothing_kept(self):
        self.profile(compile_program("warps"), options=["-q"])
        self.assertNotIn("warps", self.stats()["launches"][0])
        done = run(WARPLENS, "stats", "--warps", self.wlprof)
        self.assertIn("--set sequences", done.stdout)
        for wrong in (["--warps", "--objects"], ["--warps", "--format", "json"], ["--warps", "-n", "3"]):
            self.assertEqual(run(WARPLENS, "stats", *wrong, self.wlprof).returncode, 2)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
