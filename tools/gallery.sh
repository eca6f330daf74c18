#!/bin/sh
# Makes the pictures of docs/explorer.md: builds examples/explorer, profiles them on the emulator, opens them in the explorer and
# takes pictures of them. Needs a CUDA toolkit (NVCC may name its nvcc), node and a Chromium; --out FOLDER puts them elsewhere.
set -eu
cd "$(dirname "$0")/.."
warplens=$PWD/build/release/bin/warplens
nvcc=${NVCC:-.deps/cuda/bin/nvcc}
folder=${TMPDIR:-/tmp}/examples # stands in the pictures

mkdir -p "$folder/common" "$folder/explorer"
cp examples/common/example.h "$folder/common"
cp examples/explorer/*.cu "$folder/explorer"
for source in "$folder"/explorer/*.cu; do
    name=$(basename "$source" .cu)
    "$nvcc" -O3 -lineinfo -arch=sm_90 -o "$folder/$name" "$source"
    "$warplens" profile --backend emulate --set sequences -q -f -o "$folder/$name.wlprof" -- "$folder/$name" >"$folder/$name.out"
    "$warplens" explore --no-open -q -f -o "$folder/$name.html" "$folder/$name.wlprof"
done
node viewer/test/gallery.mjs "$folder" "$@"
