#!/bin/sh
# tools/build.sh <preset> [target ...]: configures where needed and builds the targets; without targets, configures only.
set -eu
cd "$(dirname "$0")/.."
preset=$1
shift

# A first configuration, and one more when CUDA's compiler has come since.
if [ ! -e "build/$preset/build.ninja" ] ||
    { [ -e .deps/cuda/bin/nvcc ] && grep -q '^WL_NVCC:FILEPATH=$' "build/$preset/CMakeCache.txt"; }; then
    cmake --preset "$preset"
fi
if [ $# -gt 0 ]; then
    cmake --build "build/$preset" --target "$@"
fi
