"""Finds again the cubins that the data name by their hashes: in public wheels, by name and version,
and in this repository's programs, compiled anew. Needs pip, and cuobjdump and nvcc of
tools/requirements-cuda.txt (or on PATH)."""
import glob
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile

import cubin
import store

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
PACKAGES = {  # package -> its libraries with device code
    "torch": ["libtorch_cuda.so"],
    "nvidia-cublas": ["libcublas.so.13", "libcublasLt.so.13"],
    "nvidia-cudnn-cu13": ["libcudnn_engines_precompiled.so.9", "libcudnn_ops.so.9", "libcudnn_adv.so.9", "libcudnn_cnn.so.9",
                          "libcudnn_engines_runtime_compiled.so.9"],
    "nvidia-cufft": ["libcufft.so.12"],
    "nvidia-cusparse": ["libcusparse.so.12"],
    "nvidia-cusolver": ["libcusolver.so.12"],
    "cupy-cuda13x": ["cub.cpython-312-x86_64-linux-gnu.so", "thrust.cpython-312-x86_64-linux-gnu.so"],
}
PLATFORMS = ["manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64"]
NVCC_OPTIONS = ["-w", "-std=c++17", "-O3", "-lineinfo", "-cudart", "shared"]
SM_90 = ["-gencode", "arch=compute_90,code=sm_90"]
OPTIONS_OF = {"cutlass_bulk": ["-gencode", "arch=compute_90a,code=sm_90a", "--expt-relaxed-constexpr", "-DNDEBUG"]}  # in the place of sm_90
CUTLASS = "nvidia-cutlass==3.8.0.0"
FATBIN, MACHINE_CODE = struct.pack("<I", 0xBA55ED50), 2


def tool(name):
    return shutil.which(name) or os.path.join(ROOT, ".deps/cuda/bin", name)


# ---- what is wanted ----

class Wanted:
    """Cubins by hash, with the code that was launched of each."""

    def __init__(self, sets):
        self.code, self.library, self.versions, self.found = {}, {}, {}, set()
        for which in sets:
            for half in store.HALVES:
                header, launches = store.read_launches(which, half)
                self.versions.update(header["packages"])
                for launch in launches:
                    self.code.setdefault(launch["cubin"], {})[launch["kernel"]] = launch["code"]
                    self.library[launch["cubin"]] = launch["library"]

    def missing(self):
        return {h: library for h, library in self.library.items() if h not in self.found}

    def take(self, path, folder):
        """Keeps the file if it is wanted. A cubin that was compiled anew may differ in its tables
        of lines: then its code decides, and the name is the recorded one."""
        with open(path, "rb") as f:
            data = f.read()
        own = cubin.hash_of(data)
        if own not in self.code:
            own = self.find_by_code(data)
        if own:
            self.found.add(own)
            shutil.copyfile(path, os.path.join(folder, own + ".cubin"))

    def find_by_code(self, data):
        have = {name: cubin.hash_of(code) for name, code in cubin.kernels(data).items()}
        for wanted, code in self.code.items():
            if wanted not in self.found and all(have.get(name) == h for name, h in code.items()):
                return wanted
        return None


# ---- where it may be ----

def extract(library, wanted, folder, work):
    """All cubins for the chip in a library or fat binary. Returns how many there were."""
    target = tempfile.mkdtemp(dir=work)
    subprocess.run([tool("cuobjdump"), "-xelf", "sm_90", os.path.abspath(library)], cwd=target, check=False,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    found = glob.glob(os.path.join(target, "*.cubin"))
    for path in found:
        wanted.take(path, folder)
    shutil.rmtree(target)
    return len(found)


def hidden_fatbins(data):
    """Fat binaries with machine code for the chip, wherever they lie: cuFFT's are in no section of
    their own."""
    at = data.find(FATBIN)
    while at >= 0:
        _, version, header, size = struct.unpack_from("<IHHQ", data, at)
        end = at + header + size
        if version == 1 and end <= len(data):
            kind, = struct.unpack_from("<H", data, at + header)
            arch, = struct.unpack_from("<I", data, at + header + 28)
            if (kind, arch) == (MACHINE_CODE, 90):
                yield data[at:end]
        at = data.find(FATBIN, at + 1)


def extract_hidden(library, wanted, folder, work):
    path = os.path.join(work, "hidden.fatbin")
    with open(library, "rb") as f:
        data = f.read()
    for fatbin in hidden_fatbins(data):
        with open(path, "wb") as f:
            f.write(fatbin)
        extract(path, wanted, folder, work)


def download(package, version, wheels):
    found = glob.glob(os.path.join(wheels, f"{package.replace('-', '_')}-{version}-*.whl"))
    if not found:
        platforms = [word for p in PLATFORMS for word in ("--platform", p)]
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "--python-version",
                        "3.12", "--implementation", "cp", *platforms, "-d", wheels, f"{package}=={version}"], check=True)
        found = glob.glob(os.path.join(wheels, f"{package.replace('-', '_')}-{version}-*.whl"))
    return found[0]


def fetch_package(package, wanted, folder, wheels, work):
    with zipfile.ZipFile(download(package, wanted.versions[package], wheels)) as wheel:
        for name in wheel.namelist():
            if os.path.basename(name) in PACKAGES[package]:
                library = wheel.extract(name, work)
                if not extract(library, wanted, folder, work):
                    extract_hidden(library, wanted, folder, work)


def cutlass_headers(wheels, work):
    if not glob.glob(os.path.join(wheels, "nvidia_cutlass-*.whl")):
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", wheels, CUTLASS], check=True)
    with zipfile.ZipFile(glob.glob(os.path.join(wheels, "nvidia_cutlass-*.whl"))[0]) as wheel:
        members = [n for n in wheel.namelist() if "/source/include/" in n or "/source/tools/util/include/" in n]
        wheel.extractall(work, members)
    source = os.path.join(work, members[0].split("/source/")[0], "source")
    return ["-I", os.path.join(source, "include"), "-I", os.path.join(source, "tools/util/include")]


def source_of(program):
    """`examples.spmv.spmv_scalar` -> examples/spmv/spmv_scalar.cu; else of workloads/."""
    if "." in program:
        return program.replace(".", "/") + ".cu"
    return f"tools/oracle/workloads/{program}.cu"


def build_program(program, wanted, folder, wheels, work):
    source = source_of(program)
    options = OPTIONS_OF.get(program, SM_90) + (cutlass_headers(wheels, work) if "cutlass" in program else [])
    made = os.path.join(work, "made.cubin")
    done = subprocess.run([tool("nvcc"), *NVCC_OPTIONS, *options, "-cubin", "-o", made, source], cwd=ROOT, check=False)
    if done.returncode == 0:
        wanted.take(made, folder)


def is_program(library):
    return os.path.exists(os.path.join(ROOT, source_of(library))) if re.fullmatch(r"[\w.]+", library) else False


def fetch(folder, sets):
    """Returns the exit status: 0 where all was found that a wheel or source can give."""
    os.makedirs(os.path.join(folder, "wheels"), exist_ok=True)
    wanted = Wanted(sets)
    with tempfile.TemporaryDirectory(dir=folder) as work:
        for program in sorted(set(wanted.library.values())):
            if is_program(program):
                build_program(program, wanted, folder, os.path.join(folder, "wheels"), work)
        libraries = set(wanted.missing().values())
        for package, own in PACKAGES.items():
            if libraries & {*own, "memory"}:
                fetch_package(package, wanted, folder, os.path.join(folder, "wheels"), work)
    left = wanted.missing()
    print(f"{len(wanted.found)} of {len(wanted.library)} cubins are in {folder}")
    for h, library in sorted(left.items(), key=lambda item: item[1]):
        print(f"  {h} of {library}: {', '.join(sorted(wanted.code[h]))[:100]}")
    print("Those of `memory` that are left were compiled while the program ran: record.sh brings them from a machine with the GPU.")
    return 1 if any(library != "memory" for library in left.values()) else 0
