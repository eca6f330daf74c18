"""The data files: which launches there are, and what is true of them. README.md says what the
fields mean.

    data/SET.HALF.launches.jsonl.xz     a header, then a launch a line: all that a replay may know
    data/SET.HALF.truth.jsonl.xz        a header, then what was counted of each
"""
import hashlib
import json
import lzma
import os

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")
SETS = ("torch", "library", "programs", "library2", "requests")
HALVES = ("development", "frozen")
VERSION = 1


def half_of(kernel):
    """The rule of the split: a kernel is in one half, with all of its launches."""
    return HALVES[hashlib.sha256(kernel.encode()).digest()[0] & 1]


def path_of(which, half, kind, folder=DATA):
    return os.path.join(folder, f"{which}.{half}.{kind}.jsonl.xz")


def recorded():
    """The sets that there are."""
    return [which for which in SETS if os.path.exists(path_of(which, HALVES[0], "launches"))]


def read_lines(path):
    """The header, and the lines behind it."""
    with lzma.open(path, "rt", encoding="utf-8") as f:
        lines = [json.loads(line) for line in f]
    if not lines or lines[0].get("oracle") != VERSION:
        raise ValueError(f"{path} is not of this version of the oracle ({VERSION})")
    return lines[0], lines[1:]


def write_lines(path, header, lines):
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in [header, *lines])
    with open(path, "wb") as f:
        f.write(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))


# ---- launches and truth ----

def read_launches(which, half, folder=DATA):
    return read_lines(path_of(which, half, "launches", folder))


def read_truth(which, half, folder=DATA):
    """Launch -> {"opcodes": name by instruction, "counts": {counter: number by instruction}}. Of
    the frozen half nobody but the comparison reads this."""
    header, lines = read_lines(path_of(which, half, "truth", folder))
    opcodes = header["opcodes"]
    return {line["id"]: {"opcodes": opcodes[line["code"]], "counts": line["counts"]} for line in lines}


def same_counts(line):
    """Launches that agree in this are one, that came several times."""
    launch = line["launch"]
    key = [launch[k] for k in ("kernel", "code", "grid", "block", "dynamic_shared")] + [line["truth"]["counts"]]
    return hashlib.sha256(json.dumps(key, sort_keys=True).encode()).digest()


def fold_repeats(lines):
    first = {}
    for line in lines:
        known = first.setdefault(same_counts(line), line)
        known["launch"]["times"] = known["launch"].get("times", 0) + 1
    return list(first.values())


def write_half(which, half, header, lines, folder=DATA):
    opcodes = {line["launch"]["code"]: line["truth"]["opcodes"] for line in lines}
    header = {"oracle": VERSION, "set": which, "half": half, **header}
    write_lines(path_of(which, half, "launches", folder), header, [line["launch"] for line in lines])
    truth = [{"id": line["launch"]["id"], "code": line["launch"]["code"], "counts": line["truth"]["counts"]} for line in lines]
    write_lines(path_of(which, half, "truth", folder), {**header, "opcodes": opcodes}, truth)


def write_set(which, header, lines, folder=DATA):
    """Splits what pair.py printed. Returns how many launches each half has."""
    os.makedirs(folder, exist_ok=True)
    lines = fold_repeats(lines)
    halves = {half: [line for line in lines if half_of(line["launch"]["kernel"]) == half] for half in HALVES}
    for half, members in halves.items():
        write_half(which, half, header, members, folder)
    return {half: len(members) for half, members in halves.items()}
