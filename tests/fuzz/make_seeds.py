#!/usr/bin/env python3
"""Makes the fuzzers' seeds anew from seed.cu: make_seeds.py NVCC PREFIX, the latter build/release.

tests/fuzz/<fuzzer>/real-* is what this writes; everything else there was written or kept by hand.
"""
import glob
import os
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../sass"))
import words  # noqa: E402

PREFIX = os.path.abspath(sys.argv[2])
CUDA = os.path.dirname(os.path.dirname(os.path.abspath(sys.argv[1])))

FATBINS = {
    "plain": ["-arch=sm_90", "--no-compress"],
    "packed": ["-arch=sm_90", "-Xfatbin", "-compress-all"],
    "many": ["-gencode", "arch=compute_75,code=compute_75", "-gencode", "arch=compute_90a,code=compute_90a"],
    "relocatable": ["-rdc=true", "-gencode", "arch=compute_80,code=compute_80"],
    "cubin": ["-gencode", "arch=compute_80,code=sm_80", "-Xfatbin", "-compress-all"],
}
LAUNCH, BY_HAND = 8, (29, 24, 25, 26)  # types of records: the latter INDIRECT, GRAPH, GRAPH_RUN, STARTS
SASS = {1: 80, 4: 90, 5: 100}  # by their numbers in fuzz_sass.c
PTX = {"lines": ["-arch=compute_90", "-lineinfo"], "plain": ["-arch=compute_75", "-O1"]}


def write(fuzzer, name, content):
    folder = os.path.join(HERE, fuzzer)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "real-" + name), "wb") as f:
        f.write(content)


def nvcc(scratch, *arguments):
    subprocess.run([os.path.join(scratch, "cuda/bin/nvcc"), *arguments, os.path.join(scratch, "seed.cu")], check=True)


def compiled(kind, flags, scratch):
    target = os.path.join(scratch, "out")
    nvcc(scratch, kind, *flags, "-o", target)
    with open(target, "rb") as f:
        return f.read()


def machine_code(flags, scratch):
    """All words of a cubin's kernels."""
    target = os.path.join(scratch, "out.cubin")
    nvcc(scratch, *flags, "-o", target)
    return b"".join(word.to_bytes(words.BYTES, "little") for section in words.of_cubin(target) for word in section)


def capture(scratch):
    """The bytes of one capture of the program, with what replay adds; with a copy of the collector,
    so that it names no folder of ours."""
    program, folder, kept = (os.path.join(scratch, name) for name in ("seed", "captures", "kept"))
    collector = os.path.join(scratch, "lib/warplens/emulate")
    os.mkdir(folder)
    shutil.copytree(os.path.join(PREFIX, "lib/warplens/emulate"), collector)
    shutil.copytree(os.path.join(HERE, "../../devices"), os.path.join(scratch, "share/warplens/devices"))
    nvcc(scratch, "-lineinfo", "-arch=compute_90", "-o", program)
    subprocess.run([program], check=True, cwd="/", env={
        "LD_PRELOAD": os.path.join(collector, "libwarplens_emulate.so"), "WARPLENS_CAPTURE_DIR": folder,
        "WARPLENS_THREADS": "1", "WARPLENS_PROBES": "touch,frequency,shared,path", "WARPLENS_SET": "sequences", "WARPLENS_COMMAND": "profile seed"})
    os.link(glob.glob(os.path.join(folder, "*.wlcap"))[0], kept)  # import removes its own
    warplens = os.path.join(PREFIX, "bin/warplens")
    subprocess.run([warplens, "import", "-q", "-o", os.path.join(scratch, "profile"), folder], check=True)
    with open(kept, "rb") as f:
        return f.read()


def records(content):
    """(type, flags, payload) of each record; src/capture/capture.h has the format."""
    at = 16
    while at < len(content):
        kind, flags, size, _ = struct.unpack_from("<IIQQ", content, at)
        at += 24
        yield kind, flags, content[at:at + size]
        at += size


def short(content):
    """(type, payload) of the records that are neither compressed nor long. The system's libraries
    get another name, for the fuzzer would read all their debugging information again and again."""
    content = content.replace(b"/lib", b"/bil")
    return [(kind, payload) for kind, flags, payload in records(content) if flags == 0 and len(payload) < 1 << 16]


def unframed(pairs):
    """What fuzz_import takes: records, each behind type and length."""
    return b"".join(struct.pack("<BH", kind, len(payload)) + payload for kind, payload in pairs)


def with_graphs(pairs):
    """The same with records that seed.cu does not lead to, behind the last launch: from the seeds
    that were written by hand."""
    at = max(i for i, (kind, _) in enumerate(pairs) if kind == LAUNCH) + 1
    added = []
    for kind in BY_HAND:
        with open(os.path.join(HERE, f"capture/payload-{kind}"), "rb") as f:
            added.append((kind, f.read()[2:]))
    return pairs[:at] + added + pairs[at:]


def main():
    with tempfile.TemporaryDirectory() as scratch:
        os.symlink(CUDA, os.path.join(scratch, "cuda"))
        shutil.copy(os.path.join(HERE, "seed.cu"), scratch)
        for name, flags in FATBINS.items():
            write("fatbin", name, compiled("-fatbin", flags, scratch))
        write("fatbin", "lines", compiled("-cubin", ["-arch=sm_90", "-lineinfo"], scratch))
        for number, sm in SASS.items():
            write("sass", f"sm{sm}", bytes([number]) + machine_code(["-cubin", f"-arch=sm_{sm}"], scratch))
        for name, flags in PTX.items():
            write("ptx", name, compiled("-ptx", flags, scratch))
        whole = capture(scratch)
        write("capture", "whole", b"\0" + whole)
        for kind, flags, payload in records(whole):
            if not flags:
                write("capture", f"payload-{kind}", bytes([2, kind]) + payload)
        write("import", "whole", unframed(short(whole)))
        write("import", "graphs", unframed(with_graphs(short(whole))))
        print({kind: (flags, len(payload)) for kind, flags, payload in records(whole)})


main()
