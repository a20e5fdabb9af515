#!/bin/bash
# Google Cloud Storage: fake-gcs-server, in memory. It checks generations, no authorization. usage: gcs.sh install|start [FOLDER]|stop [FOLDER]
# PORT overrides the one chosen here.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
service=gcs version=v1.56.1

installed() { [ -x "$home/fake-gcs-server" ]; }
install() { go_install "github.com/fsouza/fake-gcs-server@$version"; }
launch() {
    port=$(free_port "${PORT:-}")
    mkdir -p "$run/data/silt-test"  # a folder is a bucket
    background gcs "$home/fake-gcs-server" -scheme http -host 127.0.0.1 -port "$port" -backend memory -data "$run/data" -public-host "127.0.0.1:$port" -log-level warn
}
ready() { listens "$port"; }
tell() {
    echo "SILT_TEST_GCS=http://127.0.0.1:$port"
    echo SILT_TEST_GCS_BUCKET=silt-test
}
service_main "$@"
