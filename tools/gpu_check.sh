#!/bin/sh
# Runs programs on a GPU, natively and under `warplens profile --backend inline`: output and exit status must be the same,
# and the profile must say what the program did. BUILD (build/release) is where warplens was built. Exits 0 with a message
# where there is no GPU or no nvcc.
set -u
cd "$(dirname "$0")/.." || exit
warplens=${BUILD:-build/release}/bin/warplens
work=$(mktemp -d) || exit
trap 'rm -rf "$work"' EXIT
nvcc=${NVCC:-$(command -v nvcc || echo .deps/cuda/bin/nvcc)}
failed=0

if ! nvidia-smi -L >"$work/gpus" 2>&1 || ! [ -s "$work/gpus" ]; then
    echo "gpu-check: skipped, this machine has no GPU"
    exit 0
fi
if ! command -v "$nvcc" >/dev/null; then
    echo "gpu-check: skipped, there is no nvcc"
    exit 0
fi
cat "$work/gpus"
"$warplens" doctor || failed=1

fail() {
    echo "FAILED  $*"
    failed=1
}

# check NAME "SETTINGS" PROGRAM ARGUMENTS...
check() {
    name=$1
    settings=$2
    shift 2
    "$@" >"$work/native" 2>"$work/native.err"
    native=$?
    "$warplens" profile -q --backend inline --device-times all -f -o "$work/$name.wlprof" -- "$@" >"$work/ours" 2>"$work/ours.err"
    ours=$?
    if [ $native -ne $ours ] || ! cmp -s "$work/native" "$work/ours"; then
        fail "$name: exit $native natively, $ours under warplens; output:"
        diff "$work/native" "$work/ours" | head -20
        head -20 "$work/ours.err"
        return
    fi
    "$warplens" export --type json -f -o "$work/$name.json" "$work/$name.wlprof" 2>"$work/err"
    # shellcheck disable=SC2086
    if [ -s "$work/$name.json" ] && python3 tests/gpu/check_profile.py "$work/$name.json" $settings; then
        echo "passed  $name"
    else
        fail "$name: the profile"
        cat "$work/err" "$work/ours.err"
    fi
}

programs=tests/gpu/programs
capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)
arch=-arch=sm_$capability # with PTX, unlike native
for source in mixed loop fault; do
    "$nvcc" "$arch" -std=c++17 -lineinfo -o "$work/$source" $programs/$source.cu || fail "nvcc $source.cu"
    "$nvcc" "$arch" -std=c++17 -lineinfo -cudart shared -o "$work/${source}_shared" $programs/$source.cu || fail "nvcc $source.cu"
done
"$nvcc" "$arch" -o "$work/vecadd_driver" -x cu tests/api/programs/vecadd_driver.c -lcuda 2>"$work/err" ||
    gcc -I"$(dirname "$nvcc")/../include" -o "$work/vecadd_driver" tests/api/programs/vecadd_driver.c -lcuda ||
    fail "vecadd_driver"
"$nvcc" "$arch" -ptx -o "$work/vecadd.ptx" tests/api/programs/vecadd.cu || fail "vecadd.ptx"
gcc -std=gnu17 -Isrc -o "$work/calls" $programs/calls.c -ldl -lpthread || fail "calls.c"
strip -o "$work/mixed_stripped" "$work/mixed"

# 2 + 1 + 1 + 4 x 50 launches; 3 launches of a graph of 2 kernels, which have no time; 1 launch that the driver refuses
mixed="launches=210 seen=211 objects=8 timed=0.97 kernels=scale,clustered,together"
check mixed "$mixed" "$work/mixed"
check mixed_shared "$mixed" "$work/mixed_shared"
check mixed_stripped "$mixed" "$work/mixed_stripped"
check calls "launches=19 seen=20 objects=9 timed=0.78 kernels=scale" "$work/calls"
check loop "launches=2001 objects=1 timed=1 kernels=add" "$work/loop" 2000 65536
check fault "launches=1 kernels=fault" "$work/fault"
check vecadd_driver "launches=1 objects=5 timed=1 kernels=vecadd" "$work/vecadd_driver" "$work/vecadd.ptx"

# Calls that few programs make, each as tests/gpu/test_rare.py says.
libraries=$(dirname "$warplens")/../lib/warplens
gcc -std=gnu17 -Wno-deprecated-declarations -I"$(dirname "$nvcc")/../include" -o "$work/rare" $programs/rare.c \
    "$libraries/emulate/libcuda.so.1" -Wl,-z,lazy || fail "rare.c"
if python3 tests/gpu/test_rare.py "$warplens" "$libraries" "$work/rare" --gpu >"$work/rare.log" 2>&1; then
    echo "passed  rare ($(tail -n 1 "$work/rare.log"))"
    grep skipped "$work/rare.log"
else
    fail "rare:"
    tail -40 "$work/rare.log"
fi

# The same programs as in the tests, on NVIDIA's runtime and driver: what they did must be what the emulator says, as they are
# and with probes. Their captures are kept for machines without a GPU to compare with.
golden=${GOLDEN:-$work/golden}
compare() {
    options=$1
    shift
    # shellcheck disable=SC2086
    if python3 tests/gpu/test_program.py --gpu --record "$golden" --warplens "$warplens" \
        --libraries "$libraries" --runtime none --work "$work/compare" --nvcc "$nvcc" $options "$@" \
        >"$work/compared" 2>&1; then
        echo "passed  $(basename "$1") as emulated"
    else
        fail "$(basename "$1") is not as emulated:"
        tail -20 "$work/compared"
    fi
}
for source in examples/*/*.cu; do
    case $source in
    examples/transpose_demo/transpose.cu) ;;
    examples/select/*) compare --any-order "$source" ;; # places are taken in the order of atomics
    *) compare "" "$source" ;;
    esac
done
compare --exact $programs/exact.cu
compare "" $programs/graphs.cu
compare "" $programs/library.cu
compare "" $programs/variables.cu
compare "" $programs/modules.cu
compare --threads $programs/mixed.cu
# And which elements of their objects, how often.
if python3 tests/gpu/test_elements.py --gpu --warplens "$warplens" --libraries "$libraries" --runtime none --work "$work/elements" \
    --nvcc "$nvcc" $programs/exact.cu examples/spmv/*.cu examples/cells/*.cu examples/ttm/*.cu examples/traps/*.cu \
    >"$work/elements.log" 2>&1; then
    echo "passed  elements as emulated"
else
    fail "elements are not as emulated:"
    tail -20 "$work/elements.log"
fi

# What a program may do to a collector that lives in it, and 100 kills at random moments.
"$nvcc" "$arch" -lineinfo -std=c++17 -o "$work/attack" $programs/attack.cu || fail "nvcc attack.cu"
if python3 tests/gpu/test_attacks.py --gpu --warplens "$warplens" --kills 100 --many 100000 --rounds 20000 --longest 3 --jobs 8 \
    ${ATTACKS:+--results "$ATTACKS"} "$work/attack" >"$work/attacks.log" 2>&1; then
    echo "passed  attacks ($(tail -n 1 "$work/attacks.log"))"
else
    fail "attacks:"
    grep -v '^passed' "$work/attacks.log"
fi

# Programs of older releases of CUDA, with their runtimes.
path=${LD_LIBRARY_PATH:-}
golden=$work/golden_of_others
for release in 11 12; do
    toolkit=.deps/cuda-$release
    if ! [ -x $toolkit/bin/nvcc ]; then
        echo "gpu-check: programs of CUDA $release skipped, tools/old_cuda.sh brings their compiler"
        continue
    fi
    nvcc=$toolkit/bin/nvcc
    export LD_LIBRARY_PATH="$PWD/$toolkit/lib64${path:+:$path}"
    for cudart in static shared; do
        for name in mixed graphs exact; do
            compare "--threads --cudart $cudart" $programs/$name.cu
        done
    done
done

if [ -n "${GOLDEN:-}" ]; then
    echo "gpu-check: captures are in $GOLDEN: commit those under 1 MiB to tests/golden/gpu"
    find "$GOLDEN" -name '*.wlcap' -size -1024k
else
    echo "gpu-check: GOLDEN=DIR keeps the captures of these runs"
fi

[ $failed -eq 0 ] && echo "gpu-check: passed" || echo "gpu-check: FAILED"
exit $failed
