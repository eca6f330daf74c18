#!/bin/sh
# Compiles transpose.cu to the PTX that is committed beside it: regenerate.sh NVCC [OUTPUT]
# Paths in the line table are made relative to the project, so that the result is the same everywhere.
set -eu
nvcc=$1
here=$(cd "$(dirname "$0")" && pwd)
output=${2:-$here/transpose.ptx}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$nvcc" -ptx -lineinfo -arch=compute_75 -o "$scratch/out.ptx" "$here/transpose.cu"
sed -e '/^\/\//d' -e "s|\"$here/|\"examples/transpose_demo/|" "$scratch/out.ptx" > "$output"
