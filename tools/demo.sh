#!/bin/sh
# Profiles an example on the emulator and writes its report: no GPU and no CUDA toolkit needed.
set -eu
cd "$(dirname "$0")/.."
warplens=build/release/bin/warplens
profile=build/demo/transpose.wlprof
report=build/demo/report.html

mkdir -p build/demo
$warplens profile --backend emulate -f -o $profile -- build/release/examples/transpose_demo
$warplens stats $profile
$warplens report -q -f -o $report $profile
echo "report: $PWD/$report"
