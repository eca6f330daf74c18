#!/usr/bin/env python3
"""The oracle for kernels without PTX: what Nsight Compute counted of real launches. See README.md.

    oracle.py list [SET]                   launches of the development halves
    oracle.py launches SET HALF            all that a replay may know of them, as JSON lines
    oracle.py truth LAUNCH                 what was counted of one, of a development half
    oracle.py compare SET HALF REPLAY [--detail] [--json]
    oracle.py store SET MACHINE DATE PAIRED...  the data files, from what record.sh brought
    oracle.py fetch FOLDER [SET]           the cubins, out of wheels and of programs built anew
    oracle.py check FOLDER [SET]           the opcodes of the data against nvdisasm's
"""
import argparse
import json
import lzma
import sys

import compare
import store


def command_list(o):
    for which in [o.set] if o.set else store.recorded():
        for launch in store.read_launches(which, "development")[1]:
            print(f"{launch['id']:40} {compare.class_of(launch['kernel']):12} {launch['instructions']:6} {launch['grid']} "
                  f"{launch['block']} {launch['kernel'][:100]}")


def command_launches(o):
    for launch in store.read_launches(o.set, o.half)[1]:
        print(json.dumps(launch))


def command_truth(o):
    truth = store.read_truth(o.launch.split("/")[0], "development").get(o.launch)
    if not truth:
        sys.exit(f"oracle: {o.launch} is no launch of a development half")
    print("pc\topcode\t" + "\t".join(truth["counts"]))
    for at, opcode in enumerate(truth["opcodes"]):
        print(f"{16 * at:#06x}\t{opcode}\t" + "\t".join(str(column[at]) for column in truth["counts"].values()))


def command_compare(o):
    if o.half == "frozen" and o.detail:
        sys.exit("oracle: of the frozen half only totals are told; --detail is for the development half")
    launches = store.read_launches(o.set, o.half)[1]
    result = compare.compare(launches, store.read_truth(o.set, o.half), compare.read_replay(o.replay))
    if o.half == "frozen":
        result["differing"] = len(result["differing"])
    if result["unknown_launches"]:
        print(f"oracle: {len(result['unknown_launches'])} launches of the replay are not of this half", file=sys.stderr)
    print(json.dumps(result, indent=1) if o.json else compare.as_text(result, o.detail))


def read_versions(path):
    """A file of lines: the GPU and its driver, ncu's version, then packages with their versions."""
    with open(path, encoding="utf-8") as f:
        lines = [line.split() for line in f if line.strip()]
    gpu, driver = " ".join(lines[0]).rsplit(", ", 1)
    return {"gpu": gpu, "driver": driver, "ncu": lines[1][1], "packages": {name: version for name, version in lines[2:]}}


def command_store(o):
    lines = []
    for path in o.paired:
        with lzma.open(path, "rt", encoding="utf-8") as f:
            lines += [json.loads(line) for line in f]
    counts = store.write_set(o.set, {"date": o.date, **read_versions(o.machine)}, lines)
    print(f"{o.set}: " + ", ".join(f"{n} launches {half}" for half, n in counts.items()))


def command_fetch(o):
    import fetch
    sys.exit(fetch.fetch(o.folder, [o.set] if o.set else store.recorded()))


def command_check(o):
    import check
    sys.exit(check.check(o.folder, [o.set] if o.set else store.recorded()))


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)

    def command(name, function, *arguments, **sets):
        p = commands.add_parser(name)
        for argument in arguments:
            p.add_argument(argument)
        p.set_defaults(function=function)
        if sets:
            p.add_argument("set", choices=store.SETS, **sets)
        return p

    command("list", command_list, nargs="?")
    launches = command("launches", command_launches)
    launches.add_argument("set", choices=store.SETS)
    launches.add_argument("half", choices=store.HALVES)
    command("truth", command_truth, "launch")
    judged = command("compare", command_compare)
    judged.add_argument("set", choices=store.SETS)
    judged.add_argument("half", choices=store.HALVES)
    judged.add_argument("replay")
    judged.add_argument("--detail", action="store_true")
    judged.add_argument("--json", action="store_true")
    made = command("store", command_store)
    made.add_argument("set", choices=store.SETS)
    for argument in ("machine", "date"):
        made.add_argument(argument)
    made.add_argument("paired", nargs="+")
    command("fetch", command_fetch, "folder", nargs="?")
    command("check", command_check, "folder", nargs="?")
    return parser.parse_args()


if __name__ == "__main__":
    options = parse()
    options.function(options)
