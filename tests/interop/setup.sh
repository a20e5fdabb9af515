#!/bin/bash
# Installs the engines that judge Silt: a JDK, PySpark 4.1.2 with the Delta 4.3.1 and the stores' jars, deltalake, duckdb and pyarrow.
#
# Everything lands under ${SILT_SERVICES:-$HOME/.cache/silt/services}: venv/ (Python) and spark-jars/ (Maven). A stamp holds
# the checksum of what was asked for, so that a second run does nothing and needs no network. Debian packages that are missing
# (a Java 17 or 21 runtime, Maven, python3-venv) are installed when run as root; otherwise the command to type is printed.
#
# usage: tests/interop/setup.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
services=${SILT_SERVICES:-$HOME/.cache/silt/services}
venv=$services/venv
jars=$services/spark-jars
say() { echo "interop setup: $1" >&2; }

want=$(cat "$here/requirements.txt" "$here/pom.xml" | sha256sum | cut -d' ' -f1)
stamp=$services/interop.stamp

have_java() {   # Spark 4.1 runs on Java 17 and 21
    command -v java >/dev/null 2>&1 || return 1
    java -version 2>&1 | grep -Eq 'version "(17|21)'
}

done_already() {
    [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$want" ] && [ -x "$venv/bin/python" ] && have_java &&
        ls "$jars"/delta-spark_4.1_2.13-*.jar >/dev/null 2>&1
}
if done_already; then exit 0; fi

packages=
have_java || packages="$packages openjdk-17-jre-headless"
command -v mvn >/dev/null 2>&1 || packages="$packages maven"
python3 -c 'import ensurepip' >/dev/null 2>&1 || packages="$packages python3-venv"
if [ -n "$packages" ]; then
    if [ "$(id -u)" != 0 ]; then
        echo "interop setup: missing Debian packages; type: sudo apt-get install -y --no-install-recommends$packages" >&2
        exit 1
    fi
    say "installing$packages"
    apt-get update -q >/dev/null
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $packages >/dev/null
fi
have_java || { echo "interop setup: the java on the PATH is not 17 or 21, which Spark 4.1 needs" >&2; exit 1; }

mkdir -p "$services" "$jars"
[ -x "$venv/bin/python" ] || { say "creating $venv"; python3 -m venv "$venv"; }
say "installing pyspark, deltalake, duckdb, pyarrow (about 700 MB)"
"$venv/bin/python" -m pip install -q --disable-pip-version-check -r "$here/requirements.txt"

say "fetching the jars of Delta 4.3.1 and of the stores (70 MB)"
mvn -q -B -f "$here/pom.xml" dependency:copy-dependencies -DincludeScope=runtime \
    -DincludeGroupIds=io.delta,com.google.cloud.bigdataoss,io.unitycatalog,org.apache.hadoop,software.amazon.awssdk,software.amazon.eventstream,software.amazon.s3.analyticsaccelerator,org.reactivestreams,org.wildfly.openssl \
    -DexcludeArtifactIds=hadoop-client-api,hadoop-client-runtime -DoutputDirectory="$jars"
ls "$jars"/delta-spark_4.1_2.13-4.3.1.jar >/dev/null

echo "$want" > "$stamp"
say "ready in $services"
