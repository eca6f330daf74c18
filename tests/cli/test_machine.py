#!/usr/bin/env python3
"""What `warplens code` lists of machine code, by hand and against cuobjdump and nvdisasm:
test_machine.py WARPLENS CUDA_HOME NVCC"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

WARPLENS, CUDA, NVCC = sys.argv[1:4]
SKIPPED = 77
BASES = {80: 0x160, 90: 0x210, 100: 0x380}  # docs/machine-code.md
SOURCE = """
__global__ void tile(int *a, char c, int n)
{
    __shared__ int t[100];
    t[threadIdx.x] = a[n];
    __syncthreads();
    a[threadIdx.x] = t[99 - threadIdx.x] + c;
}

__global__ void plain(double *a)
{
    *a = *a * 3 + 1;
}
"""
PARAMETERS = {"_Z4tilePici": [(0, 8), (8, 1), (12, 4)], "_Z5plainPd": [(0, 8)]}
NAMES = {"_Z4tilePici": "tile(int*, char, int)", "_Z5plainPd": "plain(double*)"}


def code(*arguments):
    return subprocess.run([WARPLENS, "code", *arguments], capture_output=True, check=False, text=True, timeout=120)


def listed(*arguments):
    """The JSON of one file, and of all."""
    done = code("--format", "json", *arguments)
    whole = json.loads(done.stdout)
    return whole["files"][0]["machine_code"], whole, done


def tool(name, *arguments):
    return subprocess.run([os.path.join(CUDA, "bin", name), *arguments], capture_output=True, check=True, text=True).stdout


class Machine(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        with open(cls.path("k.cu"), "w") as file:
            file.write(SOURCE)
        for sm in BASES:
            cls.compile("-cubin", f"-arch=sm_{sm}", "-o", cls.path(f"k{sm}.cubin"))
        real = [f"-gencode=arch=compute_{sm},code=sm_{sm}" for sm in BASES]
        cls.compile("-fatbin", *real, "-no-compress", "-o", cls.path("k.fatbin"))
        cls.compile("-fatbin", *real, "-gencode=arch=compute_80,code=compute_80", "-o", cls.path("both.fatbin"))

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder.name, name)

    @classmethod
    def compile(cls, *options):
        subprocess.run([NVCC, "-allow-unsupported-compiler", "-Wno-deprecated-gpu-targets", *options, cls.path("k.cu")],
                       capture_output=True, check=True)

    def test_kernels_of_cubins(self):
        for sm, base in BASES.items():
            cubin = self.path(f"k{sm}.cubin")
            kernels, whole, _ = listed(cubin)
            used = {name: (int(registers), int(shared)) for name, registers, shared in
                    re.findall(r"Function (\w+):\s+REG:(\d+) .*?SHARED:(\d+)", tool("cuobjdump", "-res-usage", cubin))}
            self.assertEqual({k["symbol"]: k["kernel"] for k in kernels}, NAMES)
            for k in kernels:
                found = [(p["offset"], p["bytes"]) for p in k["parameters"]]
                self.assertEqual((k["sm"], k["parameter_base"], found), (sm, base, PARAMETERS[k["symbol"]]))
                self.assertEqual((k["registers"], k["shared_bytes"]), used[k["symbol"]])
            self.assertEqual(whole["machine_totals"], {"kernels": 2, "instructions": sum(k["instructions"] for k in kernels),
                                                       "known": sum(k["known"] for k in kernels)})

    def test_instructions(self):
        for sm in BASES:
            cubin = self.path(f"k{sm}.cubin")
            expected = re.findall(r"^\s+/\*([0-9a-f]{4})\*/\s+(?:\{ )?(?:@!?U?P\w+ )?([A-Z]\w*)", tool("nvdisasm", "-c", cubin), re.M)
            done = code("--dump=sass", cubin)
            found = re.findall(r"^    ([0-9a-f]{4})  (?:@!?U?P\w+ )?([A-Z]\w*)", done.stdout, re.M)
            self.assertEqual(found, expected)
            kernels, _, _ = listed(cubin)
            self.assertEqual(sum(k["instructions"] for k in kernels), len(expected))
            self.assertEqual(sum(k["known"] for k in kernels), sum(name != "UNKNOWN" for _, name in found))

    def test_text(self):
        done = code("-k", "tile", self.path("k80.cubin"))
        self.assertRegex(done.stdout, r"\Atile\(int\*, char, int\)\n  sm_80, \d+ registers, 3 parameters \(16 bytes from "
                                      r"c\[0x0\]\[0x160\] on\), 400 bytes of shared memory, \d+ instructions, 100\.00 % known\n"
                                      r"  independent, 4 of 4 memory instructions from the launch alone, by \d+ of \d+ instructions\n"
                                      r"  0x\w+ +LDG\.E R\d+, \[R\d+\.64\] +follows from the launch\n")
        self.assertRegex(done.stdout, r"\n1 kernel of machine code, \d+ instructions, 100\.00 % known\n1 kernel in 1 file\n")
        self.assertRegex(code("--summary", self.path("k80.cubin")).stdout, r"\A2 kernels of machine code, [^\n]*\n2 kernels in 1 file\n")

    def test_json_has_proofs(self):
        kernels, whole, _ = listed(self.path("k90.cubin"))
        for kernel in kernels:
            self.assertEqual((kernel["class"], kernel["proven"]), ("independent", kernel["memory"]))
            self.assertTrue(all(re.match(r"(LD|ST)[GS]", access["op"]) for access in kernel["accesses"]))
        self.assertEqual(whole["totals"]["kernels"], 2)

    def test_lifted(self):
        done = code("--dump=lifted", "-k", "plain", self.path("k90.cubin"))
        with open(self.path("lifted.ptx"), "w") as file:
            file.write(done.stdout)
        self.assertRegex(done.stdout, r"\n    // 00[0-9a-f]0  DFMA [^\n]*\n[^/]*fma\.rn\.f64 ")
        self.assertRegex(code(self.path("lifted.ptx")).stdout, r"\Aplain\(double\*\): independent, 2 of 2 memory")

    def test_fat_binaries(self):
        kernels, _, _ = listed(self.path("k.fatbin"))
        self.assertEqual(sorted((k["sm"], k["symbol"]) for k in kernels), sorted((sm, name) for sm in BASES for name in NAMES))
        kernels, whole, _ = listed(self.path("both.fatbin"))  # of what has PTX, that is analysed
        self.assertEqual((kernels, whole["totals"]["kernels"]), ([], 2))
        self.assertEqual(code("--dump=sass", self.path("both.fatbin")).stdout.count(" parameter"), 2 * len(BASES))

    def test_damage_is_told_and_what_is_good_is_listed(self):
        with open(self.path("k.fatbin"), "rb") as file:
            data = bytearray(file.read())
        for i in range(len(data) - 400, len(data) - 100):  # section headers of the last cubin
            data[i] ^= 0x5a
        with open(self.path("damaged.fatbin"), "wb") as file:
            file.write(data)
        kernels, whole, done = listed(self.path("damaged.fatbin"))
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"damaged\.fatbin: the machine code for sm_100 is damaged; compile again")
        self.assertEqual({k["sm"] for k in kernels}, {80, 90})
        self.assertEqual((whole["machine_totals"]["kernels"], whole["totals"]["unread"]), (4, 1))

    def test_files_without(self):
        for arguments, reason in (([], "holds no PTX"), (["--dump=sass"], "holds no machine code")):
            done = code(*arguments, "/bin/true")
            self.assertEqual(done.returncode, 1)
            self.assertIn("/bin/true " + reason, done.stderr)


if __name__ == "__main__":
    if not all(os.access(path, os.X_OK) for path in (NVCC, os.path.join(CUDA, "bin", "cuobjdump"), os.path.join(CUDA, "bin", "nvdisasm"))):
        print("skipped: there is no nvcc, cuobjdump or nvdisasm")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1])
