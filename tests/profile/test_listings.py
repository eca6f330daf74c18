"""test_listings.py WARPLENS CUDA_HOME NVCC FOLDER ROOT: what a report and `stats --code` say of a
program's machine code and PTX, against what nvdisasm says of the same cubin: each instruction's
text, its source line and the line of the PTX that it was made from."""

import base64
import gzip
import json
import os
import re
import subprocess
import sys

WARPLENS, CUDA, NVCC, FOLDER, ROOT = sys.argv[1:]
sys.path.insert(0, os.path.join(ROOT, "tests", "sass"))
import test_nvdisasm  # noqa: E402

SOURCE = os.path.join(ROOT, "examples", "gemm", "gemm_tiled.cu")
NVDISASM, CUOBJDUMP = (os.path.join(CUDA, "bin", name) for name in ("nvdisasm", "cuobjdump"))
SKIPPED = 77


def run(*command, cwd=FOLDER):
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=cwd, timeout=200).stdout


def build(name, *options):
    program = os.path.join(FOLDER, name)
    run(NVCC, "-std=c++17", "-O3", "-allow-unsupported-compiler", *options, "-o", program, SOURCE)
    return program


def profiled(program, *options):
    profile = program + ".wlprof"
    run(WARPLENS, "profile", "-q", "-f", "-o", profile, *options, program)
    return profile


class Report:
    """The only kernel of a report: the forms of its code."""

    def __init__(self, profile):
        path = profile + ".html"
        run(WARPLENS, "report", "-q", "-f", "-o", path, profile)
        with open(path, encoding="utf-8") as file:
            text = re.search(r'<script[^>]*application/octet-stream[^>]*>([^<]*)', file.read())[1]
        self.parts = text.strip().split(".")
        payload = self.part(0)
        self.kernel = payload["kernels"][0]
        self.paths = {f["id"]: f["path"] for f in payload["files"]}
        self.listings = {row["form"]: row for row in self.kernel.get("listings", [])}

    def part(self, number):
        return json.loads(gzip.decompress(base64.b64decode(self.parts[number])))

    def code(self, form):
        holder = self.kernel if self.kernel["code_form"] == form else self.listings[form]
        return self.part(holder["code"])


def expect(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}: {got}, not {wanted}")


def squeezed(guard, op, operands):
    """Without blanks, and without the places that nvdisasm has labels for."""
    text = (f"@{guard}" if guard else "") + op + re.sub(r"`\([^)]*\)", "", operands)
    return re.sub(r"\s", "", text)


def without_target(text, had_label):
    return re.sub(r"0x[0-9a-f]+$", "", re.sub(r"\s", "", text)) if had_label else re.sub(r"\s", "", text)


def source_lines(cubin):
    """By offset in the kernel."""
    lines, line = {}, 0
    for row in run(NVDISASM, "-c", "-g", cubin).splitlines():
        if found := re.match(r'\s*//## File "([^"]+)", line (\d+)', row):
            expect("nvdisasm's file", os.path.realpath(found[1]), os.path.realpath(SOURCE))
            line = int(found[2])
        elif found := re.match(r"\s+/\*([0-9a-f]+)\*/\s", row):
            lines[int(found[1], 16)] = line
    return lines


def cubin_of(program):
    folder = program + ".cubins"
    os.makedirs(folder, exist_ok=True)
    run(CUOBJDUMP, "-xelf", "all", program, cwd=folder)
    found = [os.path.join(folder, name) for name in os.listdir(folder)]
    expect("cubins", len(found), 1)
    return found[0]


def agrees_with_nvdisasm(program, code, paths):
    """Each instruction, but for those that fill the section up."""
    cubin = cubin_of(program)
    (insns, _), = test_nvdisasm.printed(NVDISASM, cubin).values()
    lines = source_lines(cubin)
    expect("what is left out", [i.op for i in insns[len(code):] if i.op not in ("NOP", "BRA")], [])
    for row, wanted in zip(code, insns, strict=False):
        where = f"{wanted.offset:04x} {wanted.op} {wanted.operands}"
        expect(where, row["pc"] * 16, wanted.offset)
        expect(where, without_target(row["text"], "`" in wanted.operands), squeezed(wanted.guard, wanted.op, wanted.operands))
        expect(f"PTX line of {where}", row.get("ptx_line", 0), wanted.line)
        expect(f"line of {where}", row.get("line", 0), lines[wanted.offset])
        expect(f"file of {where}", os.path.realpath(paths[row["file"]]), os.path.realpath(SOURCE))
    return len(code)


def goes_with_ptx(ptx, sass, program_ptx):
    """Lines of the PTX are those of its text, and machine code was made from them."""
    with open(program_ptx, encoding="utf-8") as file:
        text = file.read().splitlines()
    for row in ptx:
        op = row["text"].split()[1 if row["text"].startswith("@") else 0].rstrip(";")
        if op not in text[row["ptx_line"] - 1]:
            sys.exit(f"line {row['ptx_line']} of the PTX is {text[row['ptx_line'] - 1]}, not {row['text']}")
    of = {row["ptx_line"]: row for row in ptx}
    stores = [row for row in sass if row["text"].split()[0].startswith("STG")]
    if not stores or any(not of[row["ptx_line"]]["text"].startswith("st.global") for row in stores):
        sys.exit("stores of the machine code were not made from stores of the PTX")


def both_forms():
    program = build("both", "-lineinfo", "-gencode", "arch=compute_80,code=[sm_80,compute_80]")
    run(NVCC, "-std=c++17", "-O3", "-allow-unsupported-compiler", "-lineinfo", "-arch=compute_80", "-ptx", "-o", "both.ptx", SOURCE)
    profile = profiled(program)
    report = Report(profile)
    expect("what is measured", report.kernel["code_form"], "ptx")
    listing = report.listings["sass"]
    expect("its devices", (listing["sm"], listing["device_sm"], listing.get("apart")), (80, 90, None))
    sass, ptx = report.code("sass"), report.code("ptx")
    seen = agrees_with_nvdisasm(program, sass, report.paths)
    goes_with_ptx(ptx, sass, os.path.join(FOLDER, "both.ptx"))
    expect("counts of what did not run", [row for row in sass if "executions" in row], [])
    if not all(row["executions"] >= 0 for row in ptx) or ptx[0]["executions"] == 0:
        sys.exit("executions of the PTX are missing")
    said = run(WARPLENS, "stats", "--code", profile)
    for words in ("SASS is for sm_80: the program has none for the device's sm_90.", "Counts are of PTX.", "LDG.E"):
        expect(f"'{words}' in stats --code", words in " ".join(said.split()), True)
    for wrong in (["--objects"], ["--format", "json"], ["--all"], ["--by", "kernel"]):
        done = subprocess.run([WARPLENS, "stats", "--code", *wrong, profile], capture_output=True, text=True, check=False)
        expect(f"status of --code {wrong}", (done.returncode, "only -k and --width" in done.stderr), (2, True))
    return program, seen


def as_machine_code(program):
    """The same program, run from its machine code: that is counted, and PTX stands beside it."""
    report = Report(profiled(program, "--device", "a100", "--code", "machine"))
    expect("what is measured", report.kernel["code_form"], "sass")
    sass, ptx = report.code("sass"), report.code("ptx")
    agrees_with_nvdisasm(program, sass, report.paths)
    expect("counts of what did not run", [row for row in ptx if "executions" in row], [])
    if not sass[0]["executions"]:
        sys.exit("executions of the machine code are missing")
    goes_with_ptx(ptx, sass, os.path.join(FOLDER, "both.ptx"))


def what_is_not_known():
    report = Report(profiled(build("plain", "-gencode", "arch=compute_80,code=[sm_80,compute_80]")))
    expect("without lines", report.listings["sass"]["apart"], "its machine code has no line information (nvcc -lineinfo)")
    expect("lines", [row for row in report.code("sass") if "line" in row or "ptx_line" in row], [])
    report = Report(profiled(build("ptx", "-gencode", "arch=compute_80,code=compute_80")))
    expect("without machine code", report.listings["sass"], {"form": "sass", "device_sm": 90,
                                                             "missing": "the program has no machine code of it"})


def main():
    if not all(os.access(tool, os.X_OK) for tool in (NVDISASM, CUOBJDUMP)):
        print("skipped: there is no nvdisasm")
        return SKIPPED
    os.makedirs(FOLDER, exist_ok=True)
    os.environ.update({name: "" for name in os.environ if name.startswith("WARPLENS_")})
    program, seen = both_forms()
    as_machine_code(program)
    what_is_not_known()
    print(f"{seen} instructions")
    return 0


sys.exit(main())
