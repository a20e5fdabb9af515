#!/bin/bash
# HDFS: a real NameNode and a real DataNode, with WebHDFS. usage: hdfs.sh install|start [FOLDER]|stop [FOLDER]
# Its pages of a listing are of 200 names, so that fewer files make many pages.
# PORT (WebHDFS) and RPC_PORT override those chosen here. Permissions are checked; the superuser is "hdfs"; /silt-test is everybody's.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
service=hdfs version=3.5.0
export HADOOP_USER_NAME=hdfs

installed() { [ -f "$home/ready-$version" ]; }
install() {
    need java "a Java 17 or newer runtime" && need mvn "Maven" || return
    rm -rf "$home/lib"
    mvn -q -B -f "$here/hdfs.pom.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$home/lib" >&2 || return
    touch "$home/ready-$version"
}

property() { printf '<property><name>%s</name><value>%s</value></property>\n' "$@"; }
configure() {
    mkdir -p "$run/conf/webapps/hdfs" "$run/conf/webapps/datanode" "$run/hadoop" # the jars lack these folders, without which no HTTP server begins
    { echo '<configuration>'; property fs.defaultFS "hdfs://127.0.0.1:$rpc" hadoop.tmp.dir "$run/hadoop" hadoop.security.authentication simple; echo '</configuration>'; } >"$run/conf/core-site.xml"
    { echo '<configuration>'
      property dfs.replication 1 dfs.namenode.name.dir "file://$run/data/name" dfs.datanode.data.dir "file://$run/data/data" dfs.webhdfs.enabled true dfs.permissions.enabled true \
        dfs.namenode.rpc-address "127.0.0.1:$rpc" dfs.namenode.http-address "127.0.0.1:$port" dfs.namenode.https-address 127.0.0.1:0 dfs.datanode.address 127.0.0.1:0 \
        dfs.datanode.http.address 127.0.0.1:0 dfs.datanode.ipc.address 127.0.0.1:0 dfs.datanode.hostname 127.0.0.1 dfs.client.use.datanode.hostname true \
        dfs.namenode.datanode.registration.ip-hostname-check false dfs.namenode.safemode.extension 0 dfs.namenode.fs-limits.min-block-size 1024 \
        dfs.namenode.edits.noeditlogchannelflush true dfs.ls.limit 200 dfs.heartbeat.interval 1 dfs.permissions.superusergroup supergroup \
        dfs.client.block.write.locateFollowingBlock.initial.delay.ms 5 # else each small file takes 400 ms to close
      echo '</configuration>'; } >"$run/conf/hdfs-site.xml"
    printf '%s\n' 'log4j.rootLogger=WARN,F' 'log4j.appender.F=org.apache.log4j.ConsoleAppender' 'log4j.appender.F.layout=org.apache.log4j.PatternLayout' \
        'log4j.appender.F.layout.ConversionPattern=%d %p %c{1}: %m%n' >"$run/conf/log4j.properties"
}
# Replaces the shell that calls it, so that the pid kept is the server's.
hadoop() {
    exec java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xmx256m -Djava.net.preferIPv4Stack=true -Dhadoop.log.dir="$run" -cp "$run/conf:$home/lib/*" \
        "org.apache.hadoop.hdfs.server.$1" "${@:2}"
}
launch() {
    port=$(free_port "${PORT:-}") rpc=$(free_port "${RPC_PORT:-}")
    configure
    (hadoop namenode.NameNode -format -nonInteractive) >"$run/format.log" 2>&1 || return
    background namenode hadoop namenode.NameNode
    background datanode hadoop datanode.DataNode
}
http() { python3 - "$@" <<'PY'
import sys, urllib.request
method, url = sys.argv[1:]
print(urllib.request.urlopen(urllib.request.Request(url, method=method), timeout=5).read().decode())
PY
}
# Out of safe mode and one live DataNode; then the folder of the tests.
ready() {
    listens "$port" || return
    local state
    state=$(http GET "http://127.0.0.1:$port/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState" 2>/dev/null) || return
    [[ $state == *'"NumLiveDataNodes" : 1'* && $state == *'"FSState" : "Operational"'* ]] || return
    http PUT "http://127.0.0.1:$port/webhdfs/v1/silt-test?op=MKDIRS&permission=1777&user.name=hdfs" >/dev/null 2>&1
}
tell() {
    echo "SILT_TEST_HDFS=http://127.0.0.1:$port"
    echo "SILT_TEST_HDFS_RPC=127.0.0.1:$rpc"
    echo "SILT_TEST_HDFS_FOLDER=/silt-test"
}
service_main "$@"
