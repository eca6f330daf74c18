"""test_helper_lines.py WARPLENS NVCC FOLDER SOURCE: findings on what inlined helpers access show
the caller's line first, then the helper's; and the object with the kernel's parameter."""

import json
import os
import subprocess
import sys

WARPLENS, NVCC, FOLDER, SOURCE = sys.argv[1:]
# By object: the lines that its findings begin with, the parameters, what the text says of it.
WANTED = {
    "dX": (["of operator", "in operator"], ["x"], "dX (helpers.cu:{}) x "),
    "dY": (["of fetch", "in fetch"], ["y"], "dY (helpers.cu:{}) y "),
    "dZ": (["sum 1"], ["z"], "object dZ (helpers.cu:{}), parameter z of whole "),
    "dW": (["in lambda"], None, "kernel each<lambda in main> object dW (helpers.cu:{}) "),
}


def run(*command):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("WARPLENS_")}
    return subprocess.run(command, check=True, env=environment, timeout=120, stdout=subprocess.PIPE, text=True).stdout


def expect(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}: {got}, not {wanted}")


def main():
    os.makedirs(FOLDER, exist_ok=True)
    program, profile = os.path.join(FOLDER, "helpers"), os.path.join(FOLDER, "helpers.wlprof")
    subprocess.run([NVCC, "-g", "-O2", "-lineinfo", "--extended-lambda", "-std=c++17", "-arch=sm_90", "-o", program,
                    SOURCE], check=True)
    run(WARPLENS, "profile", "-q", "-f", "-o", profile, "--backend", "emulate", "--", program)
    with open(SOURCE) as source:
        lines = {line.split("//")[1].strip(): n for n, line in enumerate(source, 1) if "//" in line}
    findings = json.loads(run(WARPLENS, "stats", "--format", "json", profile))["findings"]
    text = " ".join(run(WARPLENS, "stats", "--all", profile).split())
    for name, (places, parameters, said) in WANTED.items():
        found = [f for f in findings if f.get("object", "").split(" ")[0] == name]
        if not found:
            sys.exit(f"no finding on {name}")
        got = found[0]["lines"][: len(places)]
        expect(name, [row["line"] for row in got], [lines[place] for place in places])
        expect(f"{name}, inside", [row.get("inside", False) for row in got], [False, True][: len(places)])
        expect(f"{name}, parameters", found[0].get("parameters"), parameters)
        if said.format(lines[f"makes {name}"]) not in text:
            sys.exit(f"{name}: the text does not say {said!r}:\n{text}")


main()
