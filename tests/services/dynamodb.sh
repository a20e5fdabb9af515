#!/bin/bash
# DynamoDB: dynalite, in memory. It checks conditions, not signatures. usage: dynamodb.sh install|start [FOLDER]|stop [FOLDER]
# PORT overrides the one chosen here.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
service=dynamodb version=4.0.0

program() { echo "$home/npm/node_modules/dynalite/cli.js"; }
installed() { [ -f "$(program)" ]; }
install() { npm_install "dynalite@$version"; }
launch() {
    port=$(free_port "${PORT:-}")
    background dynalite node "$(program)" --host 127.0.0.1 --port "$port" --createTableMs 5 --deleteTableMs 5
}
ready() { listens "$port"; }
tell() { echo "SILT_TEST_DYNAMODB=http://127.0.0.1:$port"; }
service_main "$@"
