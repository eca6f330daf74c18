#!/bin/sh
# Runs every fuzzer for FUZZ_SECONDS (60), or those named, e.g. `tools/fuzz.sh ptx`. What they find stays in
# build/fuzz/corpus. Stops at nothing: all run, then the failed ones are named. See tests/fuzz/README.md.
set -u
cd "$(dirname "$0")/.." || exit
seconds=${FUZZ_SECONDS:-60}
failed=

# The words of PTX, from the tables that the parser uses.
mkdir -p build/fuzz
grep -oh '"[^"]*"' src/ir/*.def | tr -c 'a-z0-9_\n' '\n' | grep '[a-z]' | sort -u | sed 's/.*/"&"/' >build/fuzz/ptx.dict

# kernel takes what ptx takes.
of_ptx() {
    [ "$1" = kernel ] && echo ptx || echo "$1"
}

fuzz() {
    corpus=build/fuzz/corpus/$1
    seeds=tests/fuzz/$(of_ptx "$1")
    dictionary=tests/fuzz/$1.dict
    [ "$(of_ptx "$1")" = ptx ] && dictionary=build/fuzz/ptx.dict
    mkdir -p "$corpus"
    set -- "build/fuzz/fuzz/fuzz_$1" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 \
        -artifact_prefix="build/fuzz/$1-" "$corpus" "$seeds"
    [ -e "$dictionary" ] && set -- "$@" -dict="$dictionary"
    "$@"
}

if [ $# -eq 0 ]; then
    for program in build/fuzz/fuzz/fuzz_*; do
        [ -e "$program" ] && set -- "$@" "${program##*/fuzz_}"
    done
fi
[ $# -gt 0 ] || { echo "fuzz: no fuzzers were built" >&2; exit 1; }

for name; do
    echo "fuzz: $name for $seconds s"
    log=build/fuzz/$name.log
    if fuzz "$name" >"$log" 2>&1; then
        grep -E '^Done|^#.*DONE' "$log"
    else
        tail -60 "$log"
        failed="$failed $name"
    fi
done

[ -z "$failed" ] || { echo "fuzz: FAILED:$failed; the input is in build/fuzz/, see its log there" >&2; exit 1; }
