#!/bin/bash
# Installs the servers that tests/remote talks to, those named or all. What cannot be had is named with the reason and left out: its tests are then reported as skipped.
# Who needs a server while this runs beside it (.ci/run) waits for its lock (tests/remote/lib_remote.py).
# usage: setup.sh [NAME…]
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
names=("$@")
[ $# -gt 0 ] || names=(s3 s3-weed dynamodb azure gcs hdfs)
. "$here/common.sh"
mkdir -p "$services" && exec 9>"$services/.setup.lock" && flock 9
for name in "${names[@]}"; do
    began=$SECONDS
    timeout "${SILT_SERVICE_INSTALL_S:-600}" "$here/$name.sh" install 9>&- || echo "services setup: $name is not there" >&2
    [ $((SECONDS - began)) -lt 3 ] || echo "services setup: $name took $((SECONDS - began)) s" >&2
done
