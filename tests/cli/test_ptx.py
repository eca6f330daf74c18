#!/usr/bin/env python3
"""What `warplens ptx` says of kernels like those of GMProf, worked out by hand from paper.cu:
test_ptx.py WARPLENS"""
import json
import os
import re
import subprocess
import sys
import unittest

WARPLENS = sys.argv[1]
HERE = os.path.dirname(os.path.abspath(__file__))
PTX = os.path.join(HERE, "paper.ptx")
STRIDED = "ceil((-ntid.x*ctaid.x - tid.x + param{0})/(ntid.x*nctaid.x))"


def run(*arguments):
    done = subprocess.run([WARPLENS, "ptx", *arguments], capture_output=True, check=True, text=True, timeout=120)
    return done.stdout


def line_of(text):
    with open(os.path.join(HERE, "paper.cu")) as source:
        return 1 + next(i for i, line in enumerate(source) if text in line)


KERNELS = {k["symbol"]: k for f in json.loads(run("--format", "json", PTX))["files"] for k in f["kernels"]}


def array(kernel, name):
    return next(a for a in KERNELS[kernel]["arrays"] if a["array"].endswith(name))


def writes(kernel, name):
    return [(w["line"], w["write"], w["origin"], w["copied"]) for w in array(kernel, name)["writes"]]


def uses(kernel, text, op=""):
    return [u for a in KERNELS[kernel]["accesses"] if a["line"] == line_of(text) and a["op"].startswith(op)
            for u in a["uses"]]


class Loops(unittest.TestCase):
    def test_trip_counts(self):
        def found(kernel):
            return [(loop["counter"], loop.get("times"), loop["end"]) for loop in KERNELS[kernel]["loops"]]
        # nvcc makes two loops of one: by fours, and what is left.
        self.assertEqual(found("jacobi"), [("i0", "ceil((param2 - (param2 & 3))/4)", "counted"),
                                           ("i1", "(param2 & 3)", "counted")])
        self.assertEqual(found("em"), [("i0", "ceil((-tid.x - 128*ctaid.x + param3)/(128*nctaid.x))", "counted")])
        self.assertEqual(found("histogram"), [("i0", STRIDED.format(2), "counted")])
        self.assertEqual([times for _, times, _ in found("dxtc")], ["param2", "64"])

    def test_loops_within_loops(self):
        loops = {loop["counter"]: loop for loop in KERNELS["coclustering"]["loops"]}
        self.assertEqual((loops["i2"]["inside"], loops["i2"]["times"]), ("i1", "param6"))
        self.assertEqual((loops["i3"]["inside"], loops["i1"]["times"]), ("i2", STRIDED.format(5)))


class Accesses(unittest.TestCase):
    def test_forms_and_rules(self):
        loads = uses("jacobi", "tile[t] + tile[t + 2]", "ld.shared")
        self.assertEqual({u["form"][-4:] for u in loads}, {"tile", " + 8"})
        self.assertTrue(all(u["rules"] == ["static", "loop-invariant"] and u["bound"] == "exact" for u in loads))
        first = uses("jacobi", "tile[t + 1] = in[i + pass]", "ld.global")[0]
        self.assertEqual((first["form"], first["rules"]), ("4*ntid.x*ctaid.x + 4*tid.x + param0 + 16*i0", ["static", "affine"]))
        self.assertEqual(first["conditions"], ["param2 - 1 >= 3", "param2 >= 1"])

    def test_sizes_of_clusters_are_the_same_for_each_row(self):
        (size,) = uses("coclustering", "if (size[rc] > 0)", "ld.shared")
        self.assertEqual((size["form"], size["rules"], size["invariant_in"]), ("&size + 4*i2", ["static", "affine"], ["i1"]))
        self.assertEqual(size["times"], "param6*" + STRIDED.format(5))

    def test_what_data_decides_is_the_most(self):
        inner = uses("coclustering", "distance += data", "ld.global")
        self.assertTrue(all(u["bound"] == "most" and u["conditions"][0] == "data loaded from memory says so" for u in inner))
        gathered = [u for u in inner if "loaded" in u["form"]]
        self.assertTrue(gathered and all(not u["rules"] for u in gathered))

    def test_functions_are_told_in_the_terms_of_their_callers(self):
        stores = uses("dxtc", "place[at] = value")
        self.assertEqual([u["form"].split("dxtc")[1] for u in stores], ["E7palette", "E5error"])
        self.assertTrue(all(u["form"].startswith("4*tid.x + &") and u["times"] == "1" for u in stores))
        self.assertEqual([u["calls"][0]["line"] for u in stores],
                         [line_of("put(palette, t"), line_of("put(error, t")])
        (load,) = uses("dxtc", "return place[at]")
        self.assertEqual(load["form"], "&_ZZ4dxtcE7palette + 4*(tid.x ^ 1)")
        sums = uses("dxtc", "sum += place[i]")
        self.assertEqual([u["times"] for u in sums], ["param2", "64"])
        self.assertEqual([u["conditions"] for u in sums], [["param2 >= 1"], []])
        self.assertTrue(all("affine" in u["rules"] and "thread-invariant" in u["rules"] for u in sums))


class Arrays(unittest.TestCase):
    def test_a_tile_is_filled_in_each_pass(self):
        tile = array("jacobi", "tile")
        self.assertEqual((tile["bytes"], tile["accesses"], tile["rules"]["static"]), (1032, 15, 15))
        self.assertEqual(set(writes("jacobi", "tile")), {(line_of("tile[t + 1] = in"), "fills", "device", True)})
        # Two reads for each write: the paper's two accesses of a live range.
        reads, stores = (re.sub(r"where[^;]*", "", tile[key]) for key in ("thread_reads", "thread_writes"))
        self.assertEqual(reads.split(";"), ["8*ceil((param2 - (param2 & 3))/4) ", " 2*(param2 & 3) "])
        self.assertEqual(stores.split(";"), ["4*ceil((param2 - (param2 & 3))/4) ", " (param2 & 3) "])

    def test_buffers_that_take_turns_are_filled(self):
        self.assertEqual({w[1:3] for w in writes("binomial", "1a")}, {("fills", "device"), ("fills", "computed")})
        self.assertEqual({w[1:3] for w in writes("binomial", "1b")}, {("fills", "computed")})

    def test_a_sum_in_place_is_updated(self):
        self.assertEqual(writes("em", "mean"), [(line_of("mean[t] = means[t]"), "fills", "device", True)])
        first, *others = writes("em", "sum")
        self.assertEqual(first, (line_of("sum[t] = best"), "fills", "device", False))
        self.assertEqual(len(others), 7)
        self.assertEqual(set(others), {(line_of("sum[t] += sum[t + s]"), "updates", "computed", False)})
        self.assertEqual(array("em", "mean")["thread_reads"], "16 where tid.x + 128*ctaid.x < param3")
        self.assertTrue(array("em", "sum")["thread_reads"].startswith("2 where tid.x <= 63; 2 where tid.x <= 31; "))

    def test_bins_are_zeroed_and_updated(self):
        self.assertEqual([w[1:] for w in writes("histogram", "bins")],
                         [("fills", "computed", False), ("updates", "computed", False)])
        self.assertEqual(array("histogram", "bins")["rules"]["counted"], 1)

    def test_dynamic_shared_memory(self):
        self.assertNotIn("bytes", array("coclustering", "size"))
        self.assertEqual([w[1:] for w in writes("coclustering", "size")], [("fills", "device", True)])

    def test_words_that_only_the_run_tells_apart(self):
        (error,) = array("dxtc", "error")["writes"]
        self.assertEqual((error["write"], error["origin"], error["certain"]), ("either", "device", True))
        self.assertEqual({(r["line"], r["scope"]) for r in error["reads"]},
                         {(line_of("return place[at]"), "thread"), (line_of("sum += place[i]"), "thread")})
        self.assertEqual([r["earlier"] for r in error["reads"]], [False, True])


class Text(unittest.TestCase):
    def test_all_is_printed(self):
        text = run("-k", "dxtc", PTX)
        self.assertIn("at 4*tid.x + &_ZZ4dxtcE7palette, 1 time a thread, called at paper.cu:%d: static\n"
                      % line_of("put(palette, t"), text)
        self.assertIn("called at paper.cu:%d: 64 times\n" % line_of("= add_up(error, 64)"), text)
        self.assertIn("_ZZ4dxtcE7palette, 256 bytes; accesses: 2 static; 1 static, thread-invariant, affine\n", text)
        self.assertIn("      a thread reads 1; param2 where param2 >= 1\n      a thread writes 1\n", text)
        self.assertIn("      filled or updated at paper.cu:%d: device, if the word is one that is read at paper.cu:%d, "
                      % (line_of("place[at] = value"), line_of("return place[at]")), text)
        text = run("-k", "histogram", PTX)
        self.assertIn("      filled at paper.cu:%d: computed\n" % line_of("bins[t] = 0"), text)


unittest.main(argv=sys.argv[:1])
