#!/usr/bin/env python3
"""Pairs what a capture says of a process's launches with what Nsight Compute counted in another run
of the same program: `pair.py CAPTURE COUNTS.jsonl SET/NAME [--cubins DIR]` prints a line of JSON
for each launch.

Launches pair in order. Kernel, grid and block must be the same, and so must the code: where the
names of the opcodes that Nsight Compute shows do not go with the opcode numbers of the capture's
cubin, the launch is left out. --cubins keeps the cubins that no library on disk holds (compiled
while the program ran).
"""
import argparse
import json
import os
import struct
import sys

import cubin

import capture

OBJECT_KINDS = ["device", "pinned", "managed", "registered", "symbol", "const", "heap", "array"]  # cap_object_kind


class Process:
    """A process as far as its capture was read: modules, and what is alive."""

    def __init__(self):
        self.modules, self.objects, self.symbols, self.tensors = {}, {}, {}, {}

    def take(self, kind, record):
        if kind == "module":
            is_cubin = record["kind"] == 1
            self.modules[record["id"]] = {"name": record["name"], "code": record["code"] if is_cubin else None,
                                          "hash": cubin.hash_of(record["code"]),
                                          "kernels": cubin.kernels(record["code"]) if is_cubin else {}}
        elif kind == "object" and not record.get("parent"):  # parts lie in one that counts already
            self.objects[record["id"]] = [record["base"], record["bytes"], OBJECT_KINDS[record["kind"]]]
        elif kind == "free":
            self.objects.pop(record["object"], None)
        elif kind == "symbol":
            self.symbols.setdefault(record["object"], []).append([record["offset"], record["data"].hex()])
        elif kind == "tensor":
            record["map"] = struct.pack("<16Q", *record["map"]).hex()
            self.tensors[record["map"]] = record

    def launch(self, note):
        module = self.modules.get(note["module"])
        code = module["kernels"].get(note["kernel"]) if module else None
        out = {"kernel": note["kernel"], "cubin": module["hash"] if module else None,
               "library": library_of(module["name"]) if module else None,
               "code": cubin.hash_of(code) if code else None, "instructions": len(code) // cubin.INSTRUCTION if code else 0}
        for key in ("grid", "block", "cluster", "dynamic_shared", "static_shared", "local_bytes", "registers", "flags"):
            out[key] = note[key]
        out["params"] = note["params"].hex()
        out["objects"] = sorted(self.objects.values())
        constants = [[self.objects[o], writes] for o, writes in self.symbols.items() if o in self.objects]
        if constants:
            out["constants"] = constants
        tensors = self.tensors_in([out["params"], *(data for _, writes in constants for _, data in writes)])
        if tensors:
            out["tensors"] = tensors
        return out, code

    def tensors_in(self, texts):
        """Tensor maps whose first 64 bytes are in there: kernels of cuBLAS (nvjet) have no more of
        them."""
        return [record for data, record in self.tensors.items() if any(data[:128] in text for text in texts)]


def library_of(path):
    """Without the folders, which differ from machine to machine."""
    return os.path.basename(path)


def read_launches(path):
    """Launches with their machine code, in order; and the process."""
    process, launches = Process(), []
    for kind, record in capture.records(path):
        process.take(kind, record)
        if kind == "note":
            launches.append(process.launch(record))
    return launches, process


# ---- pairing ----

def same_launch(launch, counted):
    """Nsight Compute gives some names demangled, or cut: then the shape decides alone."""
    if counted["grid"] and (counted["grid"] != launch["grid"] or counted["block"] != launch["block"]):
        return False
    return counted["kernel"] == launch["kernel"] or not counted["kernel"].startswith("_Z")


def opcodes_agree(numbers, counted, names):
    """`names` collects which name goes with which number, over all launches."""
    for pc, name in zip(counted["pcs"], counted["opcodes"], strict=True):
        at = pc // cubin.INSTRUCTION
        if at >= len(numbers) or names.setdefault(numbers[at], name) != name:
            return False
    return True


def truth_of(counted, instructions):
    """Columns by instruction, in place of lists of pcs. What is not listed never ran."""
    places = [pc // cubin.INSTRUCTION for pc in counted["pcs"]]
    out = {"opcodes": [""] * instructions, "counts": {}}
    for place, opcode in zip(places, counted["opcodes"], strict=True):
        out["opcodes"][place] = opcode
    for name, values in counted["counts"].items():
        if any(values):
            column = out["counts"][name] = [0] * instructions
            for place, value in zip(places, values, strict=True):
                column[place] = value
    return out


def pair(launches, counts, prefix, say):
    """Lines of the data file. Where the two runs part, the rest is left out."""
    names, lines = {}, []
    for i, ((launch, code), counted) in enumerate(zip(launches, counts, strict=False)):
        if not same_launch(launch, counted):
            say(f"{prefix}: launch {i} is {launch['kernel']} {launch['grid']} in the capture, {counted['kernel']} "
                f"{counted['grid']} in the counts; left out from there on")
            break
        if not code:
            say(f"{prefix}: launch {i}: no machine code of {launch['kernel']} in the capture")
        elif not opcodes_agree(cubin.opcode_numbers(code), counted, names):
            say(f"{prefix}: launch {i}: other code of {launch['kernel']} was counted")
        else:
            launch["id"] = f"{prefix}/{i}"
            lines.append({"launch": launch, "truth": truth_of(counted, launch["instructions"])})
    if len(launches) != len(counts):
        say(f"{prefix}: {len(launches)} launches in the capture, {len(counts)} in the counts")
    return lines


def keep_cubins(process, launched, folder):
    """Those that were compiled while the program ran, and those of the program itself."""
    os.makedirs(folder, exist_ok=True)
    for module in process.modules.values():
        if module["code"] and module["hash"] in launched and ".so" not in os.path.basename(module["name"]):
            with open(os.path.join(folder, module["hash"] + ".cubin"), "wb") as f:
                f.write(module["code"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("capture")
    parser.add_argument("counts")
    parser.add_argument("prefix")
    parser.add_argument("--cubins")
    o = parser.parse_args()
    launches, process = read_launches(o.capture)
    with open(o.counts, encoding="utf-8") as f:
        counts = [json.loads(line) for line in f]
    lines = pair(launches, counts, o.prefix, lambda text: print(text, file=sys.stderr))
    for line in lines:
        print(json.dumps(line, separators=(",", ":")))
    if o.cubins:
        keep_cubins(process, {line["launch"]["cubin"] for line in lines}, o.cubins)


if __name__ == "__main__":
    main()
