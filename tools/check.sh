#!/bin/sh
# What `make check` runs once bootstrap is through: every step, whatever the steps before gave, then a summary.
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
    step tests ctest --preset release -j "$jobs" -LE long
    step tidy tools/tidy.py
fi

echo "== $(($(date +%s) - begin)) s in all"
if [ -n "$failed" ]; then
    echo "check: FAILED:$failed"
    exit 1
fi
echo "check: passed"
