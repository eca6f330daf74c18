#!/bin/sh
# What `make check` runs once bootstrap is through, and with the argument `all` what `make check-all` runs: every step,
# whatever the steps before gave, then a summary.
set -u
cd "$(dirname "$0")/.." || exit
jobs=$(nproc)
failed=
begin=$(date +%s)

step() {
    name=$1
    shift
    echo "== $name"
    start=$(date +%s)
    if "$@"; then
        echo "== $name: passed, $(($(date +%s) - start)) s"
    else
        echo "== $name: FAILED, $(($(date +%s) - start)) s"
        failed="$failed $name"
        return 1
    fi
}

step style tools/check_style.py
if step build tools/build.sh release all tests; then
    step tests ctest --preset release -j "$jobs"
    step tidy tools/tidy.py
fi

# sanitizers <preset>
sanitizers() {
    step "$1-build" tools/build.sh "$1" all tests && step "$1" ctest --preset "$1" -j "$jobs"
}

if [ "${1:-}" = all ]; then
    step bench-build tools/build.sh release bench && step bench tools/bench.sh short
    sanitizers asan
    sanitizers tsan
    export FUZZ_SECONDS="${FUZZ_SECONDS:-20}"
    step fuzz-build tools/build.sh fuzz fuzzers && step fuzz tools/fuzz.sh
fi

echo "== $(($(date +%s) - begin)) s in all"
if [ -n "$failed" ]; then
    echo "check: FAILED:$failed"
    exit 1
fi
echo "check: passed"
