"""What is measured: the programs, the ways to profile them, and the limits that the figures are to
keep."""
import dataclasses

PROBES = ["objects", "trace", "touch", "frequency", "shared", "blocks", "path"]
COLLECTS = ["auto", "probe"]

# Kernel time, profiled to native, geometric mean over the suite.
LIMITS = {
    "auto": {"objects": 1.01, "trace": 1.03, "touch": 1.15, "frequency": 1.35, "shared": 1.1, "blocks": 1.1, "path": 1.1},
    "probe": {"objects": 1.05, "trace": 1.15, "touch": 1.5, "frequency": 2.5, "shared": 1.3, "blocks": 1.2, "path": 1.2},
}
# The same of any one kernel.
MOST = {"touch": 2.0, "frequency": 3.0, "shared": 2.0}
LOOP_PROCESS_RATIO = 1.02  # the loop of 10,000 launches, --collect auto: the process's own time
LOOP_AFTER_SECONDS = 10    # and what warplens does after it
START_UP_MS = 50           # the empty program: what the process takes longer than natively
PAIRED = ("auto", "objects")  # what processes' times are compared with

COLUMNS = ["date", "chip", "driver", "program", "kernel", "collect", "way", "probe", "native_ms", "probed_ms", "ratio"]
PROCESS_COLUMNS = ["date", "chip", "driver", "program", "collect", "probe", "cache", "native_ms", "process_ms", "ratio",
                   "after_ms", "replay_ms", "native_mib", "process_mib", "warplens_mib", "samples", "pairs", "difference_ms",
                   "low_ms", "high_ms", "native_busy_ms", "busy_ms", "native_span_ms", "span_ms"]
COMPARISON_COLUMNS = ["date", "chip", "driver", "program", "kernel", "tool", "native_ms", "tool_ms", "ratio", "note"]
MEAN_COLUMNS = ["date", "chip", "driver", "collect", "probe", "kind", "kernels", "least_samples", "unobserved", "ratio", "limit",
                "most", "of"]
KINDS = ["all", "regular", "irregular"]


@dataclasses.dataclass
class Program:
    name: str
    kernels: list
    small: str = ""        # its size where it is emulated; the size that is measured is the program's own default
    file: str = ""         # where it differs from the name
    arguments: tuple = ()
    rounds: bool = True    # takes --rounds
    irregular: tuple = ()  # those of its kernels in which loaded data decides what is accessed
    mean: bool = True      # its kernels are part of the suite's mean; of the loop the process's time is what counts
    processes: int = 10    # at most so many of a kind: one of many rounds gives enough samples
    pairs: int = 1         # of a native and a profiled process in each turn, where the process's own time has a limit

    def times(self, config):
        """How often a turn has the configuration."""
        return self.pairs if (config.get("collect"), config.get("probe")) == PAIRED else 1

    @property
    def python(self):
        return self.file.endswith(".py")


SUITE = [
    Program("gemm", ["gemm_v00", "gemm_v01", "gemm_tiled"], "64"),
    Program("vecadd", ["vector_add"], "20000"),
    Program("transpose", ["transpose_naive", "transpose_tiled"], "100"),
    Program("spmv", ["spmv_scalar"], "20000", irregular=("spmv_scalar",)),
    Program("bfs", ["bfs_expand"], "3000", irregular=("bfs_expand",)),
    Program("gramschmidt", ["kernel3"], "40"),
    Program("reduction", ["reduce"], "300000"),
    Program("stencil", ["stencil_5", "stencil_7"], "34"),
    Program("histogram", ["histogram_global", "histogram_shared"], "5000", irregular=("histogram_global", "histogram_shared")),
    Program("radix_sort", ["radix_count", "radix_scan", "radix_scatter"], "9000", irregular=("radix_count", "radix_scatter")),
    Program("llm", ["softmax", "layer_norm", "embedding_gather"], "8", irregular=("embedding_gather",)),
    Program("gather", ["gather"], "20000", irregular=("gather",)),
    Program("rows", ["rows_warp"], "500", irregular=("rows_warp",)),
    Program("hash", ["hash_insert", "hash_find"], "6000", irregular=("hash_insert", "hash_find")),
    Program("search", ["binary_search"], "8000", irregular=("binary_search",)),
    Program("bins", ["bins_static", "bins_dynamic"], "30000", irregular=("bins_static", "bins_dynamic")),
    Program("compaction", ["compact_count", "compact_scan", "compact_write"], "20000", irregular=("compact_write",)),
    Program("chase", ["pointer_chase"], "8000", irregular=("pointer_chase",)),
    Program("loop", ["add_one"], "50", mean=False, pairs=4),
    Program("empty", [], rounds=False, pairs=4),
    Program("torch_eager", ["step_eager"], file="torch_step.py", arguments=("eager",), processes=3),
    Program("torch_compile", ["step_compile"], file="torch_step.py", arguments=("compile",), processes=3),
]


def kind(row):
    """Of a row of kernels.csv: regular or irregular."""
    return "irregular" if any(row["kernel"] in p.irregular for p in SUITE if p.name == row["program"]) else "regular"


def counts(row):
    """Whether a row of kernels.csv is part of the suite's mean."""
    return all(p.mean for p in SUITE if p.name == row["program"])
