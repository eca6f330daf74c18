#!/usr/bin/env python3
"""`warplens ptx` from outside: test_command.py WARPLENS WORK [NVCC]"""
import json
import os
import subprocess
import sys

WARPLENS, WORK = sys.argv[1], sys.argv[2]
NVCC = sys.argv[3] if len(sys.argv) > 3 else ""
HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = os.path.join(HERE, "kernels.ptx")
INDEPENDENT = {"copy", "tiled", "reduce", "shuffle_sum", "shared_table", "pair_in_local", "call_clean", "local_table",
               "faults_aside"}


def run(*arguments, status=0):
    done = subprocess.run([WARPLENS, "ptx", *arguments], capture_output=True, check=False, text=True, timeout=120)
    assert done.returncode == status, (arguments, done.returncode, done.stderr)
    return done.stdout if status == 0 else done.stderr


def line_of(text):
    with open(os.path.join(HERE, "kernels.cu")) as source:
        return 1 + next(i for i, line in enumerate(source) if text in line)


def check_json(path):
    result = json.loads(run("--format", "json", path))
    assert result["schema"] == "warplens-ptx/1"
    kernels = {k["symbol"]: k for f in result["files"] for k in f["kernels"]}
    assert {name for name, k in kernels.items() if k["class"] == "independent"} == INDEPENDENT
    totals = result["totals"]
    assert totals["kernels"] == len(kernels) and totals["independent"] == len(INDEPENDENT)
    assert totals["proven"] == sum(k["proven"] for k in kernels.values())
    assert sum(r["accesses"] for r in totals["reasons"]) == totals["accesses"] - totals["proven"]
    first, second, store = kernels["gather"]["accesses"]
    assert first["proven"] and store["proven"] and not second["proven"]
    assert second["reason"] == "loaded" and second["through"] == "address" and second["source"]["pc"] == first["pc"]
    assert first["points_to"] == "param 0" and store["points_to"] == "param 1"
    assert first["address"] == "4*ntid.x*ctaid.x + 4*tid.x + param0"
    assert first["line"] == line_of("out[i] = in[in[i]]")
    blocked = [a for a in kernels["conditional"]["accesses"] if not a["proven"]]
    assert blocked and all(a["branch"]["line"] == line_of("value % 3 == 0") for a in blocked)


def check_text():
    text = run("-k", "gather", KERNELS)
    assert "gather: partly, 2 of 3 memory instructions from the launch alone" in text, text
    assert "its address depends on data loaded from memory" in text, text
    assert "26 kernels in 1 file" in run("--summary", KERNELS)
    assert "26 kernels in 2 files, 26 more with the same code" in run("--summary", KERNELS, KERNELS)
    for name in "objects cfg values origins uniform taint affine ilp".split():
        assert "kernel tiled" in run("--dump", name, "-k", "tiled", KERNELS)


def check_failures():
    run(status=2)
    run("--format", "xml", KERNELS, status=2)
    run("--dump", "nothing", KERNELS, status=2)
    assert "nowhere.ptx" in run("nowhere.ptx", status=1)
    run("-k", "no such kernel", KERNELS, status=3)
    damaged = os.path.join(WORK, "damaged.ptx")
    with open(damaged, "w") as out:
        out.write(".version 8.3\n.target sm_90\n.address_size 64\n.entry k() { bra nowhere; }\n")
    assert "damaged.ptx:4:" in run(damaged, status=1)


def check_object():
    if not NVCC:
        print("no nvcc: object files are not tested")
        return
    target = os.path.join(WORK, "kernels.o")
    subprocess.run([NVCC, "-c", "-O3", "-lineinfo", "-arch=sm_80", "-o", target, os.path.join(HERE, "kernels.cu")], check=True)
    check_json(target)


os.makedirs(WORK, exist_ok=True)
check_json(KERNELS)
check_text()
check_failures()
check_object()
