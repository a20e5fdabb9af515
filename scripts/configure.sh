#!/bin/bash
# Configure one preset's build folder, only if it is not configured for this source, this libduckdb and this preset already.
# usage: scripts/configure.sh PRESET
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
preset=$1
dir=build/$preset
asked="$PWD ${SILT_DEPS:-} ${SILT_DUCKDB_LIBRARY:-} ${SILT_DUCKDB_INCLUDE:-} $(cksum < CMakePresets.json)"
if [ -f "$dir/build.ninja" ] && [ "$(cat "$dir/asked" 2>/dev/null)" = "$asked" ]; then exit 0; fi
echo "configuring $dir" >&2
rm -rf "$dir/CMakeCache.txt" "$dir/CMakeFiles"
mkdir -p "$dir"
if ! cmake --preset "$preset" >"$dir/configure.log" 2>&1; then
    cat "$dir/configure.log" >&2
    exit 1
fi
grep -A6 'CMake Warning' "$dir/configure.log" >&2 || true
echo "$asked" > "$dir/asked"
