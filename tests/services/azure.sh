#!/bin/bash
# Azure Blob storage: azurite. It checks shared keys, not the hierarchical namespace. usage: azure.sh install|start [FOLDER]|stop [FOLDER]
# PORT overrides the one chosen here. The container is yet to be made.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
service=azure version=3.37.0
account=siltaccount key=${ACCOUNT_KEY:-$(printf 'silt azurite test account key 0815' | base64 -w0)}

program() { echo "$home/npm/node_modules/azurite/dist/src/blob/main.js"; }
installed() { [ -f "$(program)" ]; }
install() { npm_install "azurite@$version"; }
launch() {
    port=$(free_port "${PORT:-}")
    AZURITE_ACCOUNTS="$account:$key" background azurite node "$(program)" --blobHost 127.0.0.1 --blobPort "$port" --location "$run/data" --silent \
        --skipApiVersionCheck --disableTelemetry
}
ready() { listens "$port"; }
tell() {
    echo "SILT_TEST_AZURE=http://127.0.0.1:$port"
    printf 'SILT_TEST_AZURE_%s\n' "ACCOUNT=$account" "KEY=$key" CONTAINER=silt-test
}
service_main "$@"
