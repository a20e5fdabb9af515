#!/usr/bin/env python3
"""What an operator does with a table in a store: every command says what it did (or that there was nothing to do), leaves the rows that it must, names the table by its URI where it fails, and asks
the store no more often than it needs to. usage: maintenance.py [--store NAME]..."""
import json, os, re, subprocess, sys, tempfile, urllib.parse
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib_remote as remote

INSERTS, DELETED = 12, 3
ROWS = [i for i in range(100 * INSERTS) if i % 10 != DELETED]
NO_CHECK = {"spark.databricks.delta.retentionDurationCheck.enabled": "false"}
PARTITION = "element_at(array('a b', 'x/y%z', 'é'), CAST(id % 3 + 1 AS INT))"


class Operator:
    def __init__(self, server, proxy):
        self.server, self.proxy, self.problems = server, proxy, []
        self.conf, self.folder = remote.settings(server, proxy.endpoint), "maintenance-%d" % os.getpid()

    def at(self, name): return remote.location(self.server, self.folder + "/" + name, self.proxy.endpoint)

    def run(self, *command, says="", most=None, status=0, **conf):
        """stdout; what it says is a pattern, what it may ask for a number of requests."""
        before = self.proxy.counts()["requests"]
        words = [w for kv in {**self.conf, **conf.get("conf", {})}.items() for w in ("--conf", "%s=%s" % kv)]
        done = subprocess.run([remote.SILT, *command, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
        asked, what = self.proxy.counts()["requests"] - before, " ".join(command)[:120]
        if done.returncode != status: self.problems.append("%s: status %d: %s" % (what, done.returncode, done.stderr[-300:]))
        elif not re.search(says, done.stdout if status == 0 else done.stderr, re.S): self.problems.append("%s: says %r, not %r" % (what, (done.stdout + done.stderr)[-300:], says))
        if most is not None and asked > most: self.problems.append("%s: %d requests, at most %d" % (what, asked, most))
        return done.stdout

    def rows(self, name, expected=ROWS):
        told = self.run("sql", "SELECT count(*), sum(id), count(DISTINCT id) FROM delta.`%s`" % self.at(name), "--format", "csv")
        if told.splitlines()[1:] != ["%d,%d,%d" % (len(expected), sum(expected), len(expected))]: self.problems.append("rows of %s: %s" % (name, told))

    def files(self, name): return [urllib.parse.unquote(json.loads(line)["path"]) for line in self.run("files", self.at(name), "--format", "jsonl").splitlines()]


def make(o):
    table = "delta.`%s`" % o.at("t")
    o.run("sql", "; ".join(["CREATE TABLE %s (id BIGINT, p STRING) USING delta PARTITIONED BY (p) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')" % table] +
                           ["INSERT INTO %s SELECT id, %s FROM range(%d, %d)" % (table, PARTITION, 100 * i, 100 * i + 100) for i in range(INSERTS)] + ["DELETE FROM %s WHERE id %% 10 = %d" % (table, DELETED)]), most=280)


def tell(o):
    """What only looks: few requests, whatever the number of data files (36)."""
    t = o.at("t")
    o.run("show", t, says="version +13 .*rows +1080\nfiles +36", most=8)
    o.run("history", t, "--limit", "2", says=r"DELETE", most=4)
    o.run("doctor", t, says="healthy: 1 table", most=24)
    o.run("sql", "DESCRIBE DETAIL delta.`%s`" % t, says=re.escape(t), most=6)
    o.run("repair", t, says="every file of the table is there", most=12)
    o.run("vacuum", t, "--dry-run", says="Found 0 files", most=20)
    with tempfile.TemporaryDirectory() as folder:
        o.run("inspect", t, "--html", folder + "/page.html", says="written", most=80)
        if not os.path.exists(folder + "/page.html") or not os.path.getsize(folder + "/page.html"): o.problems.append("inspect: an empty page")


def change(o):
    t, version = o.at("t"), "delta.`%s` VERSION AS OF 13" % o.at("t")
    o.run("optimize", t, says="compacted 36 files .* into 3 ", most=70)
    o.run("optimize", t, says="nothing to do", most=8)
    o.rows("t")
    o.run("restore", t, "--version", "5", says="restored: 15 files brought back", most=35)
    o.rows("t", list(range(500)))
    o.run("restore", t, "--version", "13", says="36 files", most=50)
    o.run("purge", t, says="rewrote 36 files .* into 3 ", most=25)
    o.run("purge", t, says="nothing to do", most=12)
    o.run("checkpoint", t, says="checkpoint of version 17 written", most=25)
    o.run("generate", t, says="the manifest of .* is written", most=20)
    o.run("clone", t, o.at("deep"), "--deep", says="3 of them copied", most=40)
    o.run("clone", t, o.at("deep"), "--deep", "--replace", says="0 of them copied", most=12)
    o.run("clone", t, o.at("shallow"), says="shared with it; nothing was copied", most=20)
    o.run("sql", "SELECT count(*) FROM " + version, says="1080")
    o.run("vacuum", t, "--retain", "0h", says="must be at least 168 hours", status=1, most=8)
    o.run("vacuum", t, "--retain", "0h", says="Removed 4[0-9] files", most=110, conf=NO_CHECK)
    o.run("vacuum", t, "--retain", "0h", says="Removed 0 files", most=60, conf=NO_CHECK)
    for name in ("t", "deep", "shallow"): o.rows(name)
    o.run("restore", t, "--version", "13", says="RESTORE_FILES_MISSING", status=1)


def crowded(o):
    """A folder with far more in it than the table's files, where asking for these is cheaper than listing."""
    c = o.at("crowded")
    o.run("sql", "CREATE TABLE delta.`%s` (id BIGINT) USING delta; " % c + "; ".join("INSERT INTO delta.`%s` VALUES (%d)" % (c, i) for i in range(INSERTS)))
    for i in range(60): remote.upload(o.server, "%s/crowded/_hidden-%d/x" % (o.folder, i), b"x")
    o.run("repair", c, says="every file of the table is there", most=45)
    o.rows("crowded", list(range(INSERTS)))


def publish(o):
    with tempfile.TemporaryDirectory() as folder:
        o.run("publish", o.at("t"), folder + "/copy", says="published version", most=16)
        o.run("sql", "SELECT count(*), sum(id) FROM parquet.`%s/copy`" % folder, "--format", "csv", says="%d,%d" % (len(ROWS), sum(ROWS)), most=0)
        o.run("publish", o.at("t"), o.at("copy"), says="publishing into anything but a local folder", status=1)


def mend(o):
    """A data file that somebody removed."""
    t, gone = o.at("t"), next(f for f in o.files("t") if f.startswith("p=a b/"))
    remove(o.server, "%s/t/%s" % (o.folder, gone))
    name = re.escape(gone.rsplit("/", 1)[1])
    with tempfile.TemporaryDirectory() as nothing_kept:
        o.run("sql", "SELECT sum(id) FROM delta.`%s`" % t, says="DELTA_FILE_NOT_FOUND_DETAILED.*%s/p=a b/%s" % (re.escape(t), name), status=1, conf={"silt.cache.dir": nothing_kept})
    o.run("sql", "FSCK REPAIR TABLE delta.`%s` DRY RUN" % t, says=name, most=12)
    o.run("repair", t, says=name + ".*1 missing file taken out of the log", most=30)
    o.rows("t", [i for i in ROWS if i % 3])


def remove(s, path):
    if s.store.startswith("s3"): status = remote.s3_request(s, "DELETE", "/%s/%s" % (s["BUCKET"], path))[0]
    elif s.store == "azure": status = remote.azure_request(s, "DELETE", "/%s/%s" % (s["CONTAINER"], path))[0]
    elif s.store == "gcs": status = remote.request("DELETE", "%s/storage/v1/b/%s/o/%s" % (s.endpoint, s["BUCKET"], urllib.parse.quote(path, safe="")))[0]
    else: status = remote.request("DELETE", "%s/webhdfs/v1%s/%s?op=DELETE&user.name=hdfs" % (s.endpoint, s["FOLDER"], urllib.parse.quote(path)))[0]
    if status not in (200, 202, 204): raise RuntimeError("%s: removal of %s: status %d" % (s.store, path, status))


def convert(o):
    """Plain Parquet files, which a copy of the table is when its log is left out."""
    o.run("sql", "CREATE TABLE delta.`%s` USING delta PARTITIONED BY (p) AS SELECT id, %s AS p FROM range(60)" % (o.at("made"), PARTITION))
    for f in o.files("made"): remote.upload(o.server, "%s/plain/%s" % (o.folder, f), fetch(o.server, "%s/made/%s" % (o.folder, f)))
    o.run("convert", o.at("plain"), says="DELTA_UNEXPECTED_NUM_PARTITION_COLUMNS_FROM_FILE_NAME.*" + re.escape(o.at("plain")), status=1)
    o.run("convert", o.at("plain"), "--partitioned-by", "p STRING", "--verify", says="3 files with 60 rows converted, version 0")
    o.run("convert", o.at("plain"), "--partitioned-by", "p STRING", says="it is a Delta table already", most=4)
    o.rows("plain", list(range(60)))
    o.run("sql", "DELETE FROM delta.`%s` WHERE p = 'x/y%%z'; INSERT INTO delta.`%s` VALUES (1000, 'x/y%%z')" % (o.at("plain"), o.at("plain")))
    o.rows("plain", [i for i in range(60) if i % 3 != 1] + [1000])


def fetch(s, path):
    if s.store.startswith("s3"): status, _, body = remote.s3_request(s, "GET", "/%s/%s" % (s["BUCKET"], path))
    elif s.store == "azure": status, _, body = remote.azure_request(s, "GET", "/%s/%s" % (s["CONTAINER"], path))
    elif s.store == "gcs": status, _, body = remote.request("GET", "%s/storage/v1/b/%s/o/%s?alt=media" % (s.endpoint, s["BUCKET"], urllib.parse.quote(path, safe="")))
    else: status, _, body = remote.request("GET", "%s/webhdfs/v1%s/%s?op=OPEN&user.name=hdfs" % (s.endpoint, s["FOLDER"], urllib.parse.quote(path)))
    if status != 200: raise RuntimeError("%s: %s: status %d" % (s.store, path, status))
    return body


def rename(o):
    """A managed table's folder goes where its new name says, or the table keeps its name: under another name the old one would be taken to be free, and its files with it."""
    with tempfile.TemporaryDirectory() as names:
        conf = {"spark.sql.warehouse.dir": o.at("warehouse"), "silt.catalog.dir": names}
        o.run("sql", "CREATE TABLE a (id INT) USING delta; INSERT INTO a VALUES (1); CREATE TABLE e (id INT) USING delta LOCATION '%s'" % o.at("external"), conf=conf)
        if o.server.store == "hdfs":
            o.run("sql", "ALTER TABLE a RENAME TO b; CREATE TABLE a (id INT) USING delta; SELECT id FROM b", says="1", conf=conf)
            o.run("sql", "DROP TABLE a; SELECT id FROM b", says="1", conf=conf)
        else:
            o.run("sql", "ALTER TABLE a RENAME TO b", says=r"\[UNSUPPORTED_FEATURE.RENAME_IN_OBJECT_STORE\].*" + re.escape(o.at("warehouse/a")), status=1, conf=conf)
            o.run("sql", "SELECT id FROM b", says="TABLE_OR_VIEW_NOT_FOUND", status=1, conf=conf)
            o.run("sql", "SELECT id FROM a", says="1", conf=conf)
        o.run("sql", "ALTER TABLE e RENAME TO e2; INSERT INTO e2 VALUES (7); SELECT id FROM delta.`%s`" % o.at("external"), says="7", conf=conf)


def nothing_there(o):
    """A wrong name is an error that repeats it, at the price of a look."""
    none = o.at("none")
    for command in (("optimize", none), ("vacuum", none), ("restore", none, "--version", "0"), ("doctor", none), ("generate", none), ("show", none), ("repair", none), ("convert", none), ("purge", none), ("history", none),
                    ("inspect", none, "--html", "-"), ("checkpoint", none), ("clone", none, o.at("never")), ("publish", none, "/nowhere")):
        o.run(*command, says=re.escape(none), status=1, most=8)


STEPS = (make, tell, change, crowded, publish, mend, convert, rename, nothing_there)


def main():
    options, results = remote.options_of(__doc__).parse_args(), remote.Results()
    for server in remote.servers("maintenance", results, options.store):
        with remote.Proxy(server.port) as proxy:
            o = Operator(server, proxy)
            for step in STEPS:
                o.problems = []
                results.run("maintenance/%s/%s" % (server.store, step.__name__), lambda: step(o) or o.problems)  # pylint: disable=cell-var-from-loop
    results.exit()


if __name__ == "__main__": main()
