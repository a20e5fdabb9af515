#!/bin/bash
# S3: versitygw over a folder. It checks signatures, If-None-Match and If-Match. usage: s3.sh install|start [FOLDER]|stop [FOLDER]
# PORT, ACCESS_KEY, SECRET_KEY, CERT and CERT_KEY (PEM files: then https) override what is chosen here.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
service=s3 version=v1.8.0
access_key=${ACCESS_KEY:-SILTVERSITYACCESS} secret_key=${SECRET_KEY:-silt+versity/secret=0815}

installed() { [ -x "$home/versitygw" ]; }
install() { go_install github.com/versity/versitygw/cmd/versitygw@$version; }
launch() {
    port=$(free_port "${PORT:-}")
    mkdir -p "$run/data/silt-test"  # a folder is a bucket
    ROOT_ACCESS_KEY=$access_key ROOT_SECRET_KEY=$secret_key background s3 \
        "$home/versitygw" --port "127.0.0.1:$port" --quiet ${CERT:+--cert "$CERT" --key "$CERT_KEY"} posix "$run/data"
}
ready() { listens "$port"; }
tell() {
    echo "SILT_TEST_S3=http${CERT:+s}://127.0.0.1:$port"
    printf 'SILT_TEST_S3_%s\n' "ACCESS_KEY=$access_key" "SECRET_KEY=$secret_key" BUCKET=silt-test "DATA=$run/data/silt-test"
}
service_main "$@"
