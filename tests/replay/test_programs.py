"""test_programs.py WARPLENS NVCC FOLDER SOURCE...: profiles CUDA programs on the emulator, which
replays every launch, too, on memory that is not there (WARPLENS_CHECK_REPLAY), and says where the
two differ, elements and sequences included. Then profiles them with and without the memo: what the
profiles say must be the same, number for number. (Not of those after --slices, where that says
little, or whose threads launch in any order.) A source may be followed by arguments, in one word; a
program that is no .cu is run as it is."""

import json
import os
import re
import subprocess
import sys

WARPLENS, NVCC, FOLDER, SOURCES = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
LAUNCH = re.compile(r"==WARPLENS== replay of (\S+): (agrees|DIFFERS|was not possible): (.*)")
ROWS = re.compile(r"(\d+) of (\d+) rows, \d+ heat maps, (\d+) sequences")


def build(source):
    path, *arguments = source.split()
    if not path.endswith(".cu"):
        return source
    program = os.path.join(FOLDER, os.path.basename(path)[:-3])
    subprocess.run([NVCC, "-g", "-lineinfo", "-std=c++17", "-arch=sm_90", "-cudart", "shared", "-o", program, path], check=True)
    return " ".join([program, *arguments])


def profile(program, out, **variables):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("WARPLENS_")}
    environment.update(variables, WARPLENS_REPLAY_BUDGET="none")
    command = [WARPLENS, "profile", "-q", "-f", "-o", out, "--set", "sequences", "--probes",
               "touch,frequency,shared", "--", *program.split()]
    return subprocess.run(command, env=environment, capture_output=True, check=False, text=True, timeout=600)


def check_slices(program, out):
    done = profile(program, out, WARPLENS_CHECK_REPLAY="1", WARPLENS_MEMO="0")
    launches = LAUNCH.findall(done.stderr)
    wrong = [" ".join(launch) for launch in launches if launch[1] != "agrees"]
    if wrong or not launches:
        sys.exit(f"{program}: {len(wrong)} of {len(launches)} launches\n" + "\n".join(wrong[:10]) + done.stderr[-500:])
    return [tuple(map(int, ROWS.match(text).groups())) for _, _, text in launches]


def say(out):
    export = subprocess.run([WARPLENS, "export", "--type", "json", "-o", "-", out], capture_output=True, text=True, check=True)
    said = json.loads(export.stdout)
    for launch in said["launches"]:
        launch.pop("host_seconds", None)
    return said


def check_memo(program, out):
    said = []
    for memo in "1", "0":
        done = profile(program, out, WARPLENS_MEMO=memo, WARPLENS_HEAT_LAUNCHES="0")
        said.append((done.returncode, done.stdout, say(out)))
    if said[0] != said[1]:
        different = [key for key in said[1][2] if said[0][2].get(key) != said[1][2][key]]
        sys.exit(f"{program}: the memo makes a difference: {different}")


def main():
    os.makedirs(FOLDER, exist_ok=True)
    out = os.path.join(FOLDER, "program.wlprof")
    shown = total = sequences = 0
    slices = SOURCES.index("--slices") if "--slices" in SOURCES else len(SOURCES)
    for i, source in enumerate(SOURCES):
        if source == "--slices":
            continue
        program = build(source)
        rows = check_slices(program, out)
        if i < slices:
            check_memo(program, out)
        shown += sum(row[0] for row in rows)
        total += sum(row[1] for row in rows)
        sequences += sum(row[2] for row in rows)
        print(f"{os.path.basename(program.split()[0])}: {len(rows)} launches, {sum(row[0] for row in rows)} of "
              f"{sum(row[1] for row in rows)} rows")
    print(f"{shown} of {total} rows shown, {sequences} sequences")
    if not sequences:
        sys.exit("no sequences were compared")


if __name__ == "__main__":
    main()
