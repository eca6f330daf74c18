#!/bin/bash
# On a machine with the GPU and Nsight Compute: runs programs twice, once with warplens's library, which notes what is launched,
# and once under ncu, which counts, and pairs the two.
#
#     record.sh LIBRARY FOLDER < JOBS
#
# LIBRARY is warplens's for a GPU (lib/warplens/inline/libcuda.so.1). A job is a line: SET NAME LAUNCHES COMMAND..., LAUNCHES
# the most that are counted; a program that fails in either run is left out. FOLDER gets SET.jsonl.xz, cubins.tar.xz, the logs, and
# machine.txt with all versions (what `oracle.py store` asks for). PARALLEL (12) jobs run at once.
set -u
here=$(cd "$(dirname "$0")" && pwd)
export here library=$1 folder=$2
work=$(mktemp -d) || exit
export work PYTHONHASHSEED=0 XLA_PYTHON_CLIENT_PREALLOCATE=false
export XLA_FLAGS="--xla_gpu_autotune_level=0 --xla_gpu_enable_command_buffer="
export metrics NCU_OPTIONS=${NCU_OPTIONS:-}
metrics=$(python3 -c "import sys; sys.path.insert(0, '$here'); import report; print(','.join(report.METRICS.values()))")

record() {
    read -r set name launches command <<<"$1"
    own=$work/$set.$name
    mkdir -p "$own/capture" "$own/cache1" "$own/cache2"
    began=$SECONDS
    # shellcheck disable=SC2086
    CUPY_CACHE_DIR=$own/cache1 WARPLENS_CAPTURE_DIR=$own/capture WARPLENS_COLLECT=replay WARPLENS_DEVICE_TIMES=none \
        LD_PRELOAD=$library timeout 100 $command >"$own/noted.log" 2>&1 || {
        echo "$set/$name: left out, exit $? with warplens's library"
        return
    }
    noted=$SECONDS
    # shellcheck disable=SC2086
    CUPY_CACHE_DIR=$own/cache2 timeout 300 ncu $NCU_OPTIONS --metrics "$metrics" --clock-control none --replay-mode kernel --launch-count "$launches" \
        -f -o "$own/counts" $command >"$own/ncu.log" 2>&1 || {
        echo "$set/$name: left out, exit $? under ncu"
        return
    }
    counted=$SECONDS
    capture=$(find "$own/capture" -name '*.wlcap' -printf '%s %p\n' | sort -rn | head -n 1 | cut -d ' ' -f 2-)
    python3 "$here/report.py" "$own/counts.ncu-rep" >"$own/counts.jsonl" 2>"$own/report.log"
    python3 "$here/pair.py" "$capture" "$own/counts.jsonl" "$set/$name" --cubins "$work/cubins" >"$own/paired.jsonl" 2>"$own/pair.log"
    cat "$own/pair.log"
    echo "$set/$name: $(wc -l <"$own/paired.jsonl") launches; $((noted - began)) s noting, $((counted - noted)) s counting," \
        "$((SECONDS - counted)) s pairing"
    grep -hE "Error|error" "$own/noted.log" "$own/report.log" | head -n 3
    rm -rf "$own/counts.ncu-rep" "$own/capture" "$own"/cache?
}
export -f record

# shellcheck disable=SC2016
tr '\n' '\0' | xargs -0 -n 1 -P "${PARALLEL:-12}" bash -c 'record "$0"'
mkdir -p "$folder"
{
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -n 1
    ncu --version | grep Version
    python3 -m pip list 2>/dev/null | grep -E '^(cupy|jax|numpy|nvidia|scipy|torch|triton)'
} >"$folder/machine.txt"
for set in $(find "$work" -name paired.jsonl -printf '%P\n' | cut -d . -f 1 | sort -u); do
    cat "$work/$set".*/paired.jsonl | xz -T0 -6 >"$folder/$set.jsonl.xz"
done
[ -d "$work/cubins" ] && tar -C "$work" -cJf "$folder/cubins.tar.xz" cubins
(cd "$work" && tar -cJf "$folder/logs.tar.xz" ./*/*.log)
rm -rf "$work"
