#!/bin/sh
# What `make bench` runs once all is built: every program of bench/ that needs no GPU, with the sizes that its results were
# recorded with. With the argument `short` each does little: whether they run through, which CI wants to know, not how
# fast, which it cannot know. All run, then the failed ones are named.
set -u
cd "$(dirname "$0")/.." || exit
build=build/release
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=

# bench <name> <command> [argument ...]
bench() {
    name=$1
    shift
    echo "== $name: $*"
    "$@" || failed="$failed $name"
}

case ${1:-} in
'')
    bench emulator $build/bin/bench_emulator -r 15
    bench findings $build/bin/bench_findings -n 40
    bench inline $build/bin/bench_inline
    bench observe $build/bin/bench_observe
    bench replay $build/bin/bench_replay -r 7
    bench report $build/bin/bench_report "$scratch"
    bench report-page node bench/report/page.mjs "$scratch/large.html" --limits
    bench memory $build/bin/bench_memory "$scratch"
    bench memory-page node bench/report/memory.mjs "$scratch/memory.html" --limits
    bench explorer $build/bin/bench_explorer "$scratch"
    bench explorer-page node bench/report/explorer.mjs "$scratch/explorer.html" --limits
    bench scale bench/scale/scale.py $build
    bench traces $build/bin/bench_traces
    ;;
short)
    bench emulator $build/bin/bench_emulator -r 1
    bench findings $build/bin/bench_findings -n 1
    bench inline $build/bin/bench_inline --runs 1 --launches 1000
    bench observe $build/bin/bench_observe 500
    bench replay $build/bin/bench_replay -r 1
    bench report $build/bin/bench_report "$scratch" 16384
    bench report-page node bench/report/page.mjs "$scratch/large.html"
    bench memory $build/bin/bench_memory "$scratch" 2000
    bench memory-page node bench/report/memory.mjs "$scratch/memory.html"
    bench explorer $build/bin/bench_explorer "$scratch" 500
    bench explorer-page node bench/report/explorer.mjs "$scratch/explorer.html"
    bench scale-launches bench/scale/scale.py $build launches 200
    bench traces $build/bin/bench_traces 100000
    ;;
*)
    echo "usage: tools/bench.sh [short]" >&2
    exit 2
    ;;
esac

[ -z "$failed" ] || { echo "bench: FAILED:$failed" >&2; exit 1; }
