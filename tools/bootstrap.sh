#!/bin/sh
# Installs what building and testing warplens needs, on Debian 12, as root or with sudo. It knows the names of
# Ubuntu 24.04's packages, too, but was never run there.
# Does nothing, fast, when all is there.
#
#   tools/bootstrap.sh build   what `make build` and `make demo` need
#   tools/bootstrap.sh check   that, and what `make check` and `make check-all` need: linters, clang, a browser, CUDA's compiler
#
# Everything that is not a distribution package goes into .deps/ (ignored by git; safe to delete) and
# viewer/node_modules.
set -eu
cd "$(dirname "$0")/.."

level=${1:-check}
case $level in
build | check) ;;
*) echo "usage: tools/bootstrap.sh build|check" >&2; exit 2 ;;
esac

libraries="sqlite3 libzstd liblz4 libdw libelf libunwind jansson libmicrohttpd popt libxxhash zlib cmocka"
packages="build-essential git python3 libcmocka-dev libsqlite3-dev libzstd-dev liblz4-dev libdw-dev libelf-dev
    libunwind-dev libjansson-dev libmicrohttpd-dev uthash-dev libpopt-dev libxxhash-dev zlib1g-dev"
commands="cc c++ cmake ninja pkg-config git python3 node npm"
if [ "$level" = check ]; then
    packages="$packages mandoc shellcheck"
    commands="$commands clang shellcheck"
fi

say() {
    echo "bootstrap: $*" >&2
}

have() {
    command -v "$1" >/dev/null 2>&1
}

# --- is all there? -------------------------------------------------------------------------------------------------

stamp=.deps/stamp-$level
key() {
    cat tools/bootstrap.sh tools/requirements-*.txt viewer/package-lock.json /etc/os-release 2>/dev/null | sha256sum
}

# The stamp says that a whole run ended well with these lists; the rest catches what was removed since.
all_there() {
    [ "$(cat "$stamp" 2>/dev/null)" = "$(key)" ] || return 1
    for command in $commands; do
        have "$command" || return 1
    done
    # shellcheck disable=SC2086
    pkg-config --exists $libraries || return 1
    [ ! -e viewer/package-lock.json ] || [ -d viewer/node_modules ] || return 1
    [ "$level" = build ] && return 0
    [ -x .deps/bin/clang-tidy ] && [ -x .deps/bin/ruff ] && [ -d .deps/mutate ] && [ -d .deps/perfetto ] && { have nvcc || [ -x .deps/cuda/bin/nvcc ]; }
}

if all_there; then
    exit 0
fi

# --- distribution packages -----------------------------------------------------------------------------------------

as_root() {
    if [ "$(id -u)" = 0 ]; then
        env DEBIAN_FRONTEND=noninteractive "$@"
    else
        sudo env DEBIAN_FRONTEND=noninteractive "$@"
    fi
}

installed() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

apt_updated=
apt_install() {
    if ! have apt-get; then
        say "this is neither Debian nor Ubuntu; please install what corresponds to: $*"
        exit 1
    fi
    if [ "$(id -u)" != 0 ] && ! have sudo; then
        say "neither root nor sudo; as root, run: apt-get install --no-install-recommends $*"
        exit 1
    fi
    if [ -z "$apt_updated" ]; then
        as_root apt-get update -q
        apt_updated=yes
    fi
    as_root apt-get install -y -q --no-install-recommends -o DPkg::Lock::Timeout=300 "$@" </dev/null
}

# Prints "package" unless the command that it brings is there, from wherever.
unless_have() {
    have "$1" || echo "$2"
}

missing_packages() {
    unless_have cmake cmake
    unless_have ninja ninja-build
    unless_have pkg-config pkg-config
    unless_have node nodejs
    unless_have npm npm
    if ! have apt-get; then
        # shellcheck disable=SC2086
        have pkg-config && pkg-config --exists $libraries || echo "$packages"
        return 0
    fi
    for package in $packages; do
        installed "$package" || echo "$package"
    done
    if [ "$level" = check ]; then
        python3 -m pip --version >/dev/null 2>&1 || echo python3-pip
        unless_have clang clang
        wants_browser && echo chromium
    fi
    return 0
}

# Ubuntu's chromium package only leads to a snap, which cannot open our files; there the tests use a browser that is
# already installed, or skip.
wants_browser() {
    for browser in chromium chromium-browser google-chrome; do
        have "$browser" && return 1
    done
    ! grep -q '^ID=ubuntu' /etc/os-release 2>/dev/null
}

# The fuzzers link clang's runtime, a package with clang's version in its name.
install_clang_runtime() {
    [ -e "$(clang -print-file-name=libclang_rt.fuzzer-x86_64.a)" ] && return 0
    [ -e "$(clang -print-resource-dir)/lib/linux/libclang_rt.fuzzer-$(uname -m).a" ] && return 0
    major=$(clang -dumpversion | cut -d. -f1)
    apt_install "libclang-rt-$major-dev"
}

missing=$(missing_packages)
if [ -n "$missing" ]; then
    # shellcheck disable=SC2086
    apt_install $missing
fi
if [ "$level" = check ]; then
    install_clang_runtime
    if ! wants_browser && ! have chromium && ! have chromium-browser && ! have google-chrome; then
        say "no browser here: the viewer's browser tests will be skipped"
    fi
fi
if [ "$(node -p 'process.versions.node.split(".")[0] >= 18')" != true ]; then
    say "node $(node --version) is too old: the viewer's build needs 18 or newer"
    exit 1
fi

# --- PyPI: linters, what tests read traces with, CUDA's compiler --------------------------------------------------------------------------------

# pip_into <folder> <requirements>: installs whole or not at all.
pip_into() {
    [ "$(cat "$1/.requirements" 2>/dev/null)" = "$(cat "$2")" ] && return 0
    rm -rf "$1" "$1.new"
    say "installing $2 into $1"
    python3 -m pip install --quiet --no-deps --only-binary :all: --require-hashes --no-warn-script-location \
        --root-user-action ignore --disable-pip-version-check --target "$1.new" -r "$2" </dev/null
    cp "$2" "$1.new/.requirements"
    mv "$1.new" "$1"
}

install_linters() {
    pip_into .deps/lint tools/requirements-lint.txt
    pip_into .deps/mutate tools/requirements-mutate.txt
    pip_into .deps/perfetto tools/requirements-perfetto.txt
    mkdir -p .deps/bin
    for tool in format tidy; do
        ln -sfn "../lint/clang_$tool/data/bin/clang-$tool" ".deps/bin/clang-$tool"
    done
    ln -sfn ../lint/bin/ruff .deps/bin/ruff
}

install_cuda() {
    pip_into .deps/cuda-wheels tools/requirements-cuda.txt
    toolkit=.deps/cuda-wheels/nvidia/cu13
    [ -e $toolkit/lib64 ] || ln -s lib $toolkit/lib64
    [ -e $toolkit/lib/libcudart.so ] || ln -s libcudart.so.13 $toolkit/lib/libcudart.so
    ln -sfn cuda-wheels/nvidia/cu13 .deps/cuda
}

mkdir -p .deps
if [ "$level" = check ]; then
    install_linters
    have nvcc || install_cuda
fi

# --- npm: the viewer -----------------------------------------------------------------------------------------------

if [ -e viewer/package-lock.json ]; then
    lock=$(sha256sum <viewer/package-lock.json)
    if [ ! -d viewer/node_modules ] || [ "$(cat .deps/viewer-lock 2>/dev/null)" != "$lock" ]; then
        say "installing the viewer's npm packages"
        (cd viewer && npm ci --no-audit --no-fund --ignore-scripts --loglevel=error </dev/null)
        echo "$lock" >.deps/viewer-lock
    fi
fi

key >"$stamp"
