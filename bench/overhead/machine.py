"""Running programs and reading what they and warplens print."""
import dataclasses
import functools
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time

# In front of the program; its children, the program among them, are followed.
TOOLS = {
    "native": [],
    "memcheck": ["compute-sanitizer", "--tool", "memcheck", "--target-processes", "all"],
    "ncu": ["ncu", "--clock-control", "none", "--target-processes", "all", "--section", "MemoryWorkloadAnalysis",
            "--section", "MemoryWorkloadAnalysis_Tables"],
}


class Stopwatch:
    def __init__(self, budget):
        self.end = time.monotonic() + budget if budget else None

    def over(self):
        return self.end is not None and time.monotonic() > self.end


def gpu():
    """The first GPU's name, driver and compute capability, or None."""
    if not shutil.which("nvidia-smi"):
        return None
    done = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version,compute_cap", "--format=csv,noheader"],
                          capture_output=True, text=True, check=False)
    lines = done.stdout.strip().splitlines()
    if done.returncode or not lines:
        return None
    chip, driver, capability = (part.strip() for part in lines[0].split(","))
    return {"chip": chip, "driver": driver}, capability.replace(".", "")


@dataclasses.dataclass
class Outcome:
    output: str
    error: str  # empty: all went well
    wall_ms: float
    kib: int    # the greatest resident memory of any process in it


def execute(command, env, limit):
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        begin = time.monotonic()
        process = subprocess.Popen(command, env=env, stdout=out, stderr=err, start_new_session=True)
        late = threading.Event()

        def stop():
            late.set()
            os.killpg(process.pid, signal.SIGKILL)

        timer = threading.Timer(limit, stop)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        wall_ms = (time.monotonic() - begin) * 1e3
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), err.seek(0)
        output, errors = out.read(), err.read()
    error = ""
    if late.is_set():
        error = f"not done after {limit:.0f} s"
    elif process.returncode:
        error = f"exit status {process.returncode}: " + " | ".join((output + errors).strip().splitlines()[-3:])
    return Outcome(output, error, wall_ms, usage.ru_maxrss)


def read_output(output, sample):
    """Lines that the programs print (programs/common.cuh); other lines are somebody else's."""
    for line in output.splitlines():
        words = line.split()
        if len(words) == 3 and words[0] == "kernel":
            sample["kernels"].setdefault(words[1], []).append(float(words[2]))
        elif len(words) == 3 and words[0] == "result":
            sample["results"][words[1]] = words[2]
        elif len(words) == 2 and words[0] == "span":
            sample["span_ms"] = float(words[1])


# ---- warplens ----

def warplens(o):
    return str(o.build / "bin/warplens")


@functools.cache
def takes(command, option):
    """Whether this warplens's profile command has the option."""
    done = subprocess.run([command, "profile", "--help"], capture_output=True, text=True, check=False)
    return f"--{option}" in done.stdout + done.stderr


def can_collect(o):
    return takes(warplens(o), "collect") and takes(warplens(o), "probes")


def profile_command(o, path, collect, probe):
    """Every launch is probed: what is left out of many equal ones by default would make the figures
    better."""
    every = ["--probe-launches", "0"] if takes(warplens(o), "probe-launches") else []
    return [warplens(o), "profile", "-q", "-f", "-o", str(path), "--backend", "inline", "--collect", collect,
            "--probes", probe, "--kernel-name-exclude", "bench_hold", *every, *o.options.split(), "--"]


def exported(o, path):
    done = subprocess.run([warplens(o), "export", "--type", "json", "-o", "-", str(path)], capture_output=True, text=True,
                          check=False)
    return json.loads(done.stdout) if done.stdout else None


def base_name(kernel):
    return kernel.split("(")[0].split("<")[0].split()[-1]


def read_profile(o, path, sample):
    """Which way each kernel's accesses were had, and what the replay took."""
    profile = exported(o, path)
    if profile is None:
        sample["error"] = "the profile cannot be read"
        return
    for launch in profile["launches"]:
        ways = sample["ways"].setdefault(base_name(launch["kernel"]), [])
        if launch.get("way") in ("replay", "probe") and launch["way"] not in ways:
            ways.append(launch["way"])
    sample["replay_ms"] = profile.get("replay", {}).get("seconds", 0) * 1e3 or None


# ---- without a GPU ----

def stand_in(o, profiled):
    """The emulator's driver in the place of NVIDIA's, below a runtime library that takes it."""
    driver = o.build / "lib/warplens/emulate"
    if profiled:
        return {"LD_LIBRARY_PATH": str(o.stand_in), "WARPLENS_DRIVER": str(driver / "libcuda.so.1")}
    return {"LD_LIBRARY_PATH": f"{o.stand_in}:{driver}"}


def emulated(o, command, threads):
    """What the program printed, as a sample, and its profile."""
    path = o.out / "emulated.wlprof"
    done = execute([warplens(o), "profile", "-q", "-f", "-o", str(path), "--backend", "emulate", "--threads", threads,
                    "--set", "basic", "--", *map(str, command)], dict(os.environ), 120)
    sample = {"kernels": {}, "results": {}, "error": done.error}
    read_output(done.output, sample)
    return sample, exported(o, path) if not done.error else None


def compare_emulated(program, runs):
    """What is wrong with two emulated runs of a program; empty: nothing."""
    (first, profile), (second, _) = runs
    error = first["error"] or second["error"]
    if error:
        return error
    if first["results"] != second["results"]:
        return f"results {first['results']} on one thread, {second['results']} on two"
    if set(first["kernels"]) != set(program.kernels) or bool(program.kernels) != bool(first["results"]):
        return f"printed {first}, expected kernels {program.kernels} and results"
    coverage = profile["coverage"]
    if not coverage["launches_seen"] or coverage["launches_observed"] != coverage["launches_seen"]:
        return f"{coverage['launches_observed']} of {coverage['launches_seen']} launches observed"
    missing = set(program.kernels) - {base_name(launch["kernel"]) for launch in profile["launches"]}
    return f"no launch of {sorted(missing)}" if missing else ""
