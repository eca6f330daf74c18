#!/bin/sh
# Brings the compilers and runtimes of CUDA 11.8 and 12.4, from Debian's packages, into .deps/cuda-11 and .deps/cuda-12: where
# they are there, tests build programs with them, too. 2 GB are fetched, 0.4 GB stay. What is installed does not change.
set -eu
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# shellcheck disable=SC2016  # apt-get fills in what stands in $()
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep '/debian/*$' | head -n 1)
[ -n "$mirror" ] || { echo "old_cuda: this machine installs from no mirror of Debian" >&2; exit 1; }

# apt-get with a list of packages of its own.
apt() {
    apt-get -q -o Dir::Etc::SourceList="$scratch/sources" -o Dir::Etc::SourceParts=/dev/null -o APT::Sandbox::User=root \
        -o Dir::State::Lists="$scratch/lists" -o Dir::Cache="$scratch" -o Dir::State::status="$scratch/status" "$@"
}

# toolkit FOLDER RELEASE RUNTIME: what a release of Debian has of CUDA, without its libraries of mathematics
toolkit() {
    [ ! -x "$1/bin/nvcc" ] || return 0
    echo "old_cuda: $1 from $2"
    rm -rf "$scratch/lists" "$scratch/root" "$scratch"/*.deb
    mkdir -p "$scratch/lists/partial" "$scratch/archives/partial" "$scratch/root"
    : >"$scratch/status"
    echo "deb [arch=amd64] $mirror $2 main non-free" >"$scratch/sources"
    apt update
    (cd "$scratch" && apt download nvidia-cuda-toolkit nvidia-cuda-dev libcu++-dev "$3")
    for package in "$scratch"/*.deb; do
        dpkg-deb --fsys-tarfile "$package" | tar -x -C "$scratch/root" ./usr/bin ./usr/include ./usr/lib/nvidia-cuda-toolkit \
            --wildcards './usr/lib/x86_64-linux-gnu/libcuda*' 2>"$scratch/missing" || true # no package has all of them
        rm "$package"
    done
    lay_out "$1" "$scratch/root/usr"
}

# Where nvcc looks for its parts when it is not installed.
lay_out() {
    rm -rf "$1"
    mkdir -p "$1/nvvm"
    mv "$2/bin" "$2/include" "$1/"
    mv "$2/lib/x86_64-linux-gnu" "$1/lib64"
    own=$2/lib/nvidia-cuda-toolkit
    cp -a "$own/bin/crt" "$1/bin/"
    mkdir "$1/nvvm/bin"
    mv "$own/bin/cicc" "$1/nvvm/bin/"
    mv "$own/bin/nvcc" "$1/bin/nvcc"
    mv "$own/libdevice" "$1/nvvm/"
    cat >"$1/bin/nvcc.profile" <<'END'
TOP = $(_HERE_)/..
CICC_PATH = $(TOP)/nvvm/bin
NVVMIR_LIBRARY_DIR = $(TOP)/nvvm/libdevice
PATH += $(TOP)/nvvm/bin:$(_HERE_):
INCLUDES += "-I$(TOP)/include" $(_SPACE_)
LIBRARIES =+ $(_SPACE_) "-L$(TOP)/lib64"
END
    "$1/bin/nvcc" --version | tail -n 1
}

toolkit .deps/cuda-12 trixie libcudart12
toolkit .deps/cuda-11 bookworm libcudart11.0
