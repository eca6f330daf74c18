"""Times of kernels by themselves, in a program as it runs: activity.c, built and loaded into it."""
import os
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def library(cuda, folder):
    """activity.c, built with the toolkit's CUPTI."""
    path = os.path.join(folder, "activity.so")
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", f"-I{cuda}/include", os.path.join(HERE, "activity.c"), "-o", path, f"-L{cuda}/lib64",
                    "-lcupti", f"-Wl,-rpath,{cuda}/lib64"], check=True)
    return path


def times(injected, run):
    """Launches of what `run` starts with these settings of the environment, in the order in which
    they end: mangled name, grid and block as AxBxC, seconds."""
    with tempfile.TemporaryDirectory() as scratch:
        log = os.path.join(scratch, "times.tsv")
        run({"CUDA_INJECTION64_PATH": injected, "WARPLENS_ACTIVITY": log})
        launches = []
        if os.path.exists(log):
            with open(log) as f:
                launches = [line.rstrip("\n").split("\t") for line in f if line.endswith("\n")]
    return [(one[0], "x".join(one[1:4]), "x".join(one[4:7]), float(one[7]) * 1e-9) for one in launches]
