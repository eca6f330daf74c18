#!/usr/bin/env python3
"""What Nsight Compute counted at each instruction: `report.py REPORT.ncu-rep > LAUNCHES.jsonl`.

Uses the module ncu_report that comes with Nsight Compute (extras/python). Of the code only the
opcode's name is kept.
"""
import glob
import json
import sys

METRICS = {  # ours -> Nsight Compute's, counted at each instruction
    "executions": "inst_executed",
    "threads": "thread_inst_executed",
    "threads_on": "thread_inst_executed_true",
    "sectors": "memory_l2_theoretical_sectors_global",
    "sectors_ideal": "memory_l2_theoretical_sectors_global_ideal",
    "sectors_local": "memory_l2_theoretical_sectors_local",
    "tags": "memory_l1_tag_requests_global",
    "wavefronts": "memory_l1_wavefronts_shared",
    "wavefronts_ideal": "memory_l1_wavefronts_shared_ideal",
}
SHAPE = {"grid": ["launch__grid_dim_x", "launch__grid_dim_y", "launch__grid_dim_z"],
         "block": ["launch__block_dim_x", "launch__block_dim_y", "launch__block_dim_z"]}


def load_ncu_report():
    try:
        import ncu_report
    except ImportError:
        folders = glob.glob("/opt/nvidia/nsight-compute/*/extras/python") + \
            glob.glob("/usr/local/cuda*/nsight-compute*/extras/python")
        sys.path += sorted(folders, reverse=True)
        import ncu_report
    return ncu_report


def opcode_of(sass):
    """`@!P0 LDG.E.64 R2, desc[UR4][R2.64]` -> LDG"""
    words = sass.replace("{", " ").split()
    while words and words[0].startswith("@"):
        words.pop(0)
    return words[0].rstrip(";").split(".")[0] if words else ""


def instances(action, name):
    metric = action.metric_by_name(name)
    if metric is None or not metric.has_correlation_ids():
        return None
    ids = metric.correlation_ids()
    return {ids.as_uint64(i): metric.as_uint64(i) for i in range(metric.num_instances())}


def read_shape(action, names):
    values = [action.metric_by_name(n) for n in names]
    return [int(v.as_uint64()) for v in values] if all(v is not None for v in values) else None


def read_launch(module, action):
    found = {ours: instances(action, theirs) for ours, theirs in METRICS.items()}
    found = {name: values for name, values in found.items() if values is not None}
    pcs = sorted(set().union(*found.values())) if found else []
    out = {"kernel": action.name(module.IAction.NameBase_MANGLED)}
    out.update({name: read_shape(action, metrics) for name, metrics in SHAPE.items()})
    out["pcs"] = [pc - pcs[0] for pc in pcs]
    out["opcodes"] = [opcode_of(action.sass_by_pc(pc)) for pc in pcs]
    out["counts"] = {name: [values.get(pc, 0) for pc in pcs] for name, values in found.items()}
    return out


def main():
    module = load_ncu_report()
    context = module.load_report(sys.argv[1])
    for r in range(context.num_ranges()):
        actions = context.range_by_idx(r)
        for i in range(actions.num_actions()):
            json.dump(read_launch(module, actions.action_by_idx(i)), sys.stdout, separators=(",", ":"))
            print()


if __name__ == "__main__":
    main()
