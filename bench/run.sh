#!/bin/bash
# make bench: times Silt beside its peers on this machine, side by side in one run. Data are made once, under ${SILT_BENCH_DIR:-$HOME/.cache/silt/bench}
# (2.5 GB). Arguments go to bench.py: --only NAME, --rounds N, --record (writes RESULTS.md).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
"$here/../tests/interop/setup.sh"
[ -x /usr/bin/time ] || { [ "$(id -u)" = 0 ] && apt-get install -y -q time >/dev/null; } || { echo "bench: type: sudo apt-get install -y time" >&2; exit 1; }
exec "${SILT_SERVICES:-$HOME/.cache/silt/services}/venv/bin/python" "$here/bench.py" "$@"
