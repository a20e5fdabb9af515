#!/bin/bash
# The tests of remote stores: installs their servers, starts each once, runs the suite `remote` with them, and ends them. What cannot be installed is skipped, with the reason.
#
# usage: tests/remote/run.sh BUILD_FOLDER [arguments of tests/run_all.py]
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
build=$1
shift
names=(s3 s3-weed dynamodb azure gcs hdfs)
folder=$(mktemp -d "${TMPDIR:-/tmp}/silt-servers-XXXXXX")
export SILT_TEST_SERVICES=${SILT_SERVICES:-$HOME/.cache/silt/services}

end() {
    local name
    for name in "${names[@]}"; do tests/services/"$name".sh stop "$folder/$name"; done
    rm -rf "$folder"
}
trap end EXIT
trap 'exit 130' INT TERM

tests/services/setup.sh "${names[@]}"
for name in "${names[@]}"; do
    tests/services/"$name".sh installed && tests/services/"$name".sh start "$folder/$name" >"$folder/$name.told" 2>"$folder/$name.log" &
done
wait
for name in "${names[@]}"; do
    if [ -s "$folder/$name.told" ]; then
        while IFS= read -r line; do export "${line?}"; done <"$folder/$name.told"
    elif tests/services/"$name".sh installed; then
        echo "service $name did not start:"
        tail -n 20 "$folder/$name.log"
    fi
done
python3 tests/run_all.py --build "$build" --suite remote --jobs 6 "$@" # they wait for servers more than they compute
