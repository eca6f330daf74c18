#!/bin/sh
# tools/confine.sh <folder> <command ...>: runs the command where it can write into that folder, and into a /tmp of its own
# inside it, nowhere else, and where it sees no other process; what it started ends with it. For programs with a defect.
set -eu
folder=$(readlink -f "$1")
shift
mkdir -p "$folder/tmp"
who=
[ "$(id -u)" = 0 ] || who="--user --map-root-user"
cd "$folder"
# The folder may stand in /tmp, which goes out of sight: "." still leads to it.
# shellcheck disable=SC2016,SC2086
exec unshare $who --mount --pid --fork --kill-child --mount-proc sh -c '
    set -eu
    mount --no-canonicalize --bind tmp /tmp
    mkdir -p "$0"
    mount --no-canonicalize --bind . "$0"
    mount -o remount,bind,ro /
    cd "$0"
    exec "$@"' "$folder" "$@"
