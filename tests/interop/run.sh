#!/bin/bash
# make interop: sets up the peers if need be and judges Silt by them, in both directions. Arguments go to run_interop.py.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
"$here/setup.sh"
exec "${SILT_SERVICES:-$HOME/.cache/silt/services}/venv/bin/python" "$here/run_interop.py" "$@" 2> >(grep -vE ' (WARN|INFO) |^WARNING: Using incubator|log4j|^Setting default log level|^To adjust logging|^Using Spark.s default' >&2)
