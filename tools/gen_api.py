#!/usr/bin/env python3
"""The tables of CUDA's functions: src/cuda/driver_api.def and src/cuda/runtime_api.def.

  gen_api.py update --toolkit DIR [--toolkit DIR ...]
      writes both tables from the headers and libcudart of the given toolkits (folders with include/
      and lib/), oldest first, and tools/driver_symbols.txt: what libcuda.so.1 exports and no header
      declares
  gen_api.py check --toolkit DIR
      fails where the committed tables do not say what this toolkit's headers and library say
  gen_api.py entries --library FILE
      fails where the collector (not stripped) defines an entry point that NVIDIA's libraries do not
      have
  gen_api.py exports --out DIR
      writes the lists that the libraries in front of the collector are built from (no toolkit
      needed)

The driver's table has a row for each exported symbol of libcuda.so.1, sorted by base:
  CU(symbol, base, version, stream, return type, (arguments))
cuGetProcAddress(base, version) finds it from `version` on (0: only by dlsym); stream is LEGACY,
PTDS or PTSZ. The runtime's table has a row for each exported symbol of libcudart.so.N and
signature:
  CUDART(symbol, first, last, return type, (arguments))
first and last are the first and last of the known toolkits (11070: CUDA 11.7) that have it so.
"""

import argparse
import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLES = ROOT / "src" / "cuda"
STREAMS = {"": "LEGACY", "_ptds": "PTDS", "_ptsz": "PTSZ"}

Driver = collections.namedtuple("Driver", "symbol base version stream ret args")
Runtime = collections.namedtuple("Runtime", "symbol first last ret args")


def fail(message):
    sys.exit("gen_api: " + message)


def preprocess(include, header, internal):
    """The header as the C compiler sees it, on one line, without attributes."""
    command = ["cc", "-E", "-P", "-x", "c", "-I", str(include), "-"]
    if internal:
        command.insert(1, "-D__CUDA_API_VERSION_INTERNAL")
    done = subprocess.run(command, input=f"#include <{header}>\n", capture_output=True, check=False, text=True)
    if done.returncode:
        fail(f"{header} of {include} does not preprocess:\n{done.stderr}")
    return strip(done.stdout)


def strip(text):
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"//[^\n]*", " ", text)
    text = re.sub(r"__attribute__ ?\(\((?:[^()]|\([^()]*\))*\)\)", " ", text)
    text = re.sub(r"\b(extern|__host__|__device__|__cudart_builtin__|CUDARTAPI|CUDAAPI)\b", " ", text)
    return re.sub(r"\s+", " ", text)


def tidy(args):
    args = re.sub(r"\s*=\s*[^,]+", "", args)  # default arguments of C++
    args = re.sub(r"\s+", " ", args).strip()
    args = re.sub(r" ?\* ?", " *", args).replace("* *", "**").replace("* *", "**")
    args = re.sub(r" ?, ?", ", ", args)
    return "(" + (args or "void") + ")"


def typedefs(text):
    """{base: {(version, suffix): arguments}} of the PFN_* types."""
    found = collections.defaultdict(dict)
    pattern = r"typedef CUresult ?\( ?\* ?PFN_(cu\w+?)_v(\d+)(_ptds|_ptsz)?\) ?\((.*?)\) ?;"
    for base, version, suffix, args in re.findall(pattern, text):
        found[base][(int(version), suffix)] = tidy(args)
    return found


def version_of(include):
    match = re.search(r"#define CUDART_VERSION\s+(\d+)", (include / "cuda_runtime_api.h").read_text())
    if not match:
        fail(f"no CUDART_VERSION in {include}")
    return int(match.group(1))


# ---- the driver ----


def driver_prototypes(include):
    text = preprocess(include, "cuda.h", True)
    pattern = r"CUresult (cu[A-Z]\w*) ?\(((?:[^()]|\([^()]*\))*)\) ?;"
    return {symbol: tidy(args) for symbol, args in re.findall(pattern, text)}


def symbols_in_order(base, suffix, known):
    names = [f"{base}{suffix}"] + [f"{base}_v{n}{suffix}" for n in range(2, 10)]
    return [name for name in names if known is None or name in known]


def driver_rows(include):
    """Of a base's versions the oldest is the plain symbol, the next one _v2, and so on: the headers
    have no other link between cudaTypedefs.h and cuda.h. Where a header declares no prototypes
    (OpenGL, EGL) that order is all there is."""
    prototypes = driver_prototypes(include)
    groups = [(typedefs(preprocess(include, "cudaTypedefs.h", True)), prototypes)]
    for extra in ("cudaProfilerTypedefs.h", "cudaGLTypedefs.h", "cudaVDPAUTypedefs.h", "cudaEGLTypedefs.h"):
        if (include / extra).exists():
            text = (include / extra).read_text()
            groups.append((typedefs(strip(re.sub(r"(?m)^\s*#.*$", "", text))), None))
    rows = []
    for types, known in groups:
        for base, versions in types.items():
            if base == "cuWGLGetDevice":  # Windows
                continue
            for suffix, stream in STREAMS.items():
                of_stream = sorted(v for v, s in versions if s == suffix)
                symbols = symbols_in_order(base, suffix, known)
                if suffix and known is not None and len(symbols) > len(of_stream):
                    fail(f"{base}{suffix}: more symbols than versions")
                if suffix and known is None:
                    symbols = [s + suffix for s in symbols_in_order(base, "", None)][1:]
                if known is not None and len(of_stream) != len(symbols):
                    fail(f"{base}{suffix}: versions {of_stream} but symbols {symbols}")
                for version, symbol in zip(of_stream, symbols, strict=False):
                    rows.append(Driver(symbol, base, version, stream, "CUresult", versions[(version, suffix)]))
    unversioned = set(prototypes) - {row.symbol for row in rows}
    if unversioned:
        fail(f"without a version: {sorted(unversioned)}")
    return rows


# ---- the runtime ----


def runtime_symbols(library):
    done = subprocess.run(["nm", "-D", "--defined-only", str(library)], capture_output=True, check=False, text=True)
    if done.returncode:
        fail(f"nm {library}: {done.stderr}")
    names = re.findall(r" [TW] (\w+)(?:@\S+)?$", done.stdout, flags=re.M)
    return sorted(name for name in names if name.startswith(("cuda", "__cuda")))


def runtime_prototypes(include):
    pattern = r"((?:const )?\w[\w ]*?\**) ?\b((?:__)?cuda[A-Z]\w*) ?\(((?:[^()]|\([^()]*\))*)\) ?;"
    found = {}
    texts = [preprocess(include, "cuda_runtime_api.h", internal) for internal in (True, False)]
    for name in ("cuda_profiler_api.h", "cuda_runtime.h", "crt/host_runtime.h", "crt/device_functions.h"):
        if (include / name).exists():
            texts.insert(0, strip(re.sub(r"(?m)^\s*#(?:[^\n]*\\\n)*[^\n]*$", "", (include / name).read_text())))
    for text in texts:
        for before, symbol, args in re.findall(pattern, text):
            ret = re.sub(r"\b(static|inline|__inline__|struct (?=\w+ \w)|unsigned(?= struct))\b", "",
                         re.sub(r'^.*"C" ?', "", before)).strip()
            if ret and not ret.startswith(("return", "typedef", "else")) and "#" not in ret:
                found[symbol] = (re.sub(r"\s*\*", " *", ret).replace("* *", "**"), tidy(args))
    return found


def runtime_rows(include, library):
    version = version_of(include)
    prototypes = runtime_prototypes(include)
    rows = []
    for symbol in runtime_symbols(library):
        plain = re.sub(r"_(ptds|ptsz)$", "", symbol)
        ret, args = prototypes.get(symbol) or prototypes.get(plain) or ("cudaError_t", "()")
        rows.append(Runtime(symbol, version, version, ret, args))
    return rows


def merge_runtime(tables):
    """Consecutive toolkits that agree on a symbol share a row."""
    rows = []
    for table in tables:
        for row in table:
            last = next((r for r in reversed(rows) if r.symbol == row.symbol), None)
            if last and (last.ret, last.args) == (row.ret, row.args):
                rows[rows.index(last)] = last._replace(last=row.last)
            elif last and row.args == "()":
                rows[rows.index(last)] = last._replace(last=row.last)
            else:
                rows.append(row)
    return sorted(rows)


# ---- files ----


def toolkit(folder):
    folder = pathlib.Path(folder)
    libraries = [p for sub in ("lib64", "lib") for p in sorted((folder / sub).glob("libcudart.so.*"))]
    if not (folder / "include" / "cuda.h").exists() or not libraries:
        fail(f"{folder} has no include/cuda.h or no libcudart.so")
    return folder / "include", libraries[0]


def driver_text(row):
    return f"CU({row.symbol}, {row.base}, {row.version}, {row.stream}, {row.ret}, {row.args})\n"


def runtime_text(row):
    return f"CUDART({row.symbol}, {row.first}, {row.last}, {row.ret}, {row.args})\n"


HEAD = "/* Written by tools/gen_api.py from the CUDA toolkit's headers; see there for the columns. Do not edit. */\n"


def read_table(name, pattern, make):
    lines = (TABLES / name).read_text().splitlines()
    return [make(*match.groups()) for match in (re.fullmatch(pattern, line) for line in lines) if match]


def read_driver():
    return read_table(
        "driver_api.def",
        r"CU\((\w+), (\w+), (\d+), (\w+), ([^,]+), (\(.*\))\)",
        lambda symbol, base, version, *rest: Driver(symbol, base, int(version), *rest),
    )


def read_runtime():
    return read_table(
        "runtime_api.def",
        r"CUDART\((\w+), (\d+), (\d+), ([^,]+), (\(.*\))\)",
        lambda symbol, first, last, *rest: Runtime(symbol, int(first), int(last), *rest),
    )


def update(toolkits):
    """The newest toolkit's word on a driver function counts; older ones add what it no longer
    declares."""
    driver, tables = {}, []
    for folder in toolkits:
        include, library = toolkit(folder)
        driver.update({row.symbol: row for row in driver_rows(include)})
        tables.append((version_of(include), runtime_rows(include, library)))
    for symbol in (ROOT / "tools" / "driver_symbols.txt").read_text().split():
        driver.setdefault(symbol, Driver(symbol, symbol, 0, "LEGACY", "CUresult", "()"))
    runtime = merge_runtime([table for _, table in sorted(tables)])
    rows = sorted(driver.values(), key=lambda row: (row.base, row.version, row.symbol))
    (TABLES / "driver_api.def").write_text(HEAD + "".join(map(driver_text, rows)))
    (TABLES / "runtime_api.def").write_text(HEAD + "".join(map(runtime_text, runtime)))
    print(f"{len(driver)} driver symbols, {len(runtime)} runtime rows")


def check(folder):
    """Strict for the releases that the tables were made from. Of others only that what we know has
    our signature."""
    include, library = toolkit(folder)
    version, wrong = version_of(include), []
    table, driver = read_runtime(), {row.symbol: row for row in read_driver()}
    known = version in {row.first for row in table} | {row.last for row in table}
    for row in driver_rows(include):
        ours = driver.get(row.symbol)
        if (known or ours) and (ours is None or ours[:5] != row[:5]):
            wrong.append(f"the toolkit has {driver_text(row)}the table {driver_text(ours) if ours else 'nothing'}")
    theirs = runtime_rows(include, library)
    for row in theirs:
        ours = [r for r in table if r.symbol == row.symbol and (not known or r.first <= version <= r.last)]
        if (known or ours) and not any(row.args in (r.args, "()") for r in ours):
            wrong.append(f"the toolkit has {runtime_text(row)}the table does not")
    expected = {row.symbol for row in table if row.first <= version <= row.last}
    for symbol in sorted(expected - {row.symbol for row in theirs}):
        wrong.append(f"{symbol} is not in this libcudart")
    if wrong:
        fail("the tables differ from the toolkit:\n" + "\n".join(wrong))
    print(f"{len(driver)} driver symbols and {len(theirs)} runtime symbols agree with CUDA {version}")


# ---- the libraries in front of the collector ----

SONAMES = {"libcuda.so.1": 0, "libcudart.so.11.0": 11, "libcudart.so.12": 12, "libcudart.so.13": 13}


# What the library before the driver exports besides (src/record/exports.c, torch.c).
OURS = ["warplens_collector_1", "_ZN3c10*"]


def exported(major):
    if major == 0:
        return sorted(row.symbol for row in read_driver())
    rows = [row for row in read_runtime() if row.first // 1000 <= major <= row.last // 1000]
    return sorted({row.symbol for row in rows})


def write_exports(folder):
    """A library's list, FRONT(index, symbol), and its version script: the node is the SONAME for
    libcudart, as in NVIDIA's. That of the library before the driver has our own names, too."""
    folder.mkdir(parents=True, exist_ok=True)
    for soname, major in SONAMES.items():
        symbols = exported(major)
        lines = "".join(f"FRONT({index}, {symbol})\n" for index, symbol in enumerate(symbols))
        (folder / f"{soname}.inc").write_text(lines)
        names = "".join(f"    {symbol};\n" for symbol in symbols)
        node = soname + " " if major else ""
        (folder / f"{soname}.map").write_text(f"{node}{{\nglobal:\n{names}local:\n    *;\n}};\n")
    names = "".join(f"    {symbol};\n" for symbol in exported(0) + OURS)
    (folder / "inline.map").write_text(f"{{\nglobal:\n{names}local:\n    *;\n}};\n")


def entries(library):
    """src/api/both/entry.h and src/shim/hooks/hook.h register each entry point in a variable that
    bears its name."""
    done = subprocess.run(["nm", library], capture_output=True, check=False, text=True)
    defined = re.findall(r" entry_(dr|also|rt|hook)_(\w+)$", done.stdout, flags=re.M)
    driver, runtime = set(exported(0)), {row.symbol for row in read_runtime()}
    wrong = [name for kind, name in defined if kind != "rt" and name not in driver]
    wrong += [name for kind, name in defined if kind == "rt" and re.sub(r"_\d+$", "", name) not in runtime]
    if wrong or not defined:
        fail(f"no such functions: {sorted(wrong)}" if wrong else f"{library} has no entry points")
    print(f"{len(defined)} entry points, all of them NVIDIA's")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("update")
    command.add_argument("--toolkit", action="append", required=True)
    command = commands.add_parser("check")
    command.add_argument("--toolkit", required=True)
    command = commands.add_parser("entries")
    command.add_argument("--library", required=True)
    command = commands.add_parser("exports")
    command.add_argument("--out", required=True)
    args = parser.parse_args()
    if args.command == "update":
        update(args.toolkit)
    elif args.command == "check":
        check(args.toolkit)
    elif args.command == "entries":
        entries(args.library)
    else:
        write_exports(pathlib.Path(args.out))


if __name__ == "__main__":
    main()
