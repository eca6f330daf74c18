#!/bin/sh
# Runs every fuzzer for FUZZ_SECONDS (60). Inputs found so far stay in build/fuzz/corpus; tests/fuzz/<name>/, where
# there is one, holds the seeds.
set -eu
cd "$(dirname "$0")/.."
seconds=${FUZZ_SECONDS:-60}

for program in build/fuzz/fuzz/fuzz_*; do
    [ -x "$program" ] || { echo "fuzz: no fuzzers were built" >&2; exit 1; }
    name=${program##*/fuzz_}
    corpus=build/fuzz/corpus/$name
    seeds=tests/fuzz/$name
    mkdir -p "$corpus"
    [ -d "$seeds" ] || seeds=
    echo "fuzz: $name for $seconds s"
    "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=4096 -print_final_stats=1 \
        -artifact_prefix="$corpus-" "$corpus" ${seeds:+"$seeds"}
done
