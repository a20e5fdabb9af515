#!/usr/bin/env python3
"""A long log: opening it reads few files, cleaning it up leaves what is needed, log compaction files stand for commits."""
import glob, json, os, shutil, subprocess, sys, time
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import silt_script as s
from silt_script import equal, ok, sql, value

DAY = 86400
T = "t"
METADATA = {"id": "m", "format": {"provider": "parquet", "options": {}}, "partitionColumns": [], "createdTime": 5,
            "schemaString": json.dumps({"type": "struct", "fields": [{"name": "a", "type": "long", "nullable": True, "metadata": {}}]})}


def log(name): return "%s/_delta_log/%s" % (T, name)


def tiny_commits(n, days, **configuration):
    """Versions 0 … n-1: each adds one file and removes the one before, a second apart, the last so many days ago."""
    os.makedirs(T + "/_delta_log")
    began = time.time() - days * DAY - n
    for v in range(n):
        lines = [{"commitInfo": {"operation": "WRITE", "timestamp": int((began + v) * 1000)}}]
        if v == 0: lines += [{"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}, {"metaData": dict(METADATA, configuration=configuration)}]
        if v > 0: lines.append({"remove": {"path": "f%d" % (v - 1), "deletionTimestamp": int((began + v) * 1000), "dataChange": True}})
        lines.append({"add": {"path": "f%d" % v, "partitionValues": {}, "size": 1, "modificationTime": 1, "dataChange": True, "stats": '{"numRecords":1}'}})
        with open(log("%020d.json" % v), "w") as f: f.write("".join(json.dumps(a) + "\n" for a in lines))
        os.utime(log("%020d.json" % v), (began + v,) * 2)


def kinds():
    names = os.listdir(T + "/_delta_log")
    return [n for n in names if n.endswith(".checkpoint.parquet")], [n for n in names if len(n) == 25 and n.endswith(".json")]


def files_read(*command):
    """Log files that a run of the command opens; None where that cannot be seen."""
    if not shutil.which("strace"): raise s.Skip("no strace to count the files with")
    p = subprocess.run(["strace", "-f", "-qq", "-e", "trace=open,openat", "-o", "trace", s.SILT, *command], capture_output=True, env=s.environment())
    if p.returncode or not os.path.exists("trace"): raise s.Skip("strace does not work here")
    import re
    return sorted({m[1] for m in re.finditer(r'"[^"]*/_delta_log/([^"]+)"[^\n]* = \d+', s.read("trace").decode("utf-8", "replace")) if "." in m[1] and not m[1].endswith("/")})


def test_opening_a_long_log():
    n = 1000 if s.SANITIZED else 10000
    tiny_commits(n - 5, 1)
    ok("checkpoint", T)
    for v in range(n - 5, n): s.write(log("%020d.json" % v), json.dumps({"commitInfo": {}}) + "\n")
    began = time.monotonic()
    equal(json.loads(ok("show", T, "--format", "json").out)["version"], n - 1)
    took = time.monotonic() - began
    read = files_read("show", T, "--format", "json")
    assert len(read) <= 7, read
    assert took < (30 if s.SANITIZED else 5), "%.2f s" % took  # the bench measures; this only tells a listing from a replay


def test_a_long_log_is_cleaned_up():
    n = 1000 if s.SANITIZED else 20000
    tiny_commits(n, 3, **{"delta.logRetentionDuration": "interval 0 days", "delta.deletedFileRetentionDuration": "interval 0 days", "delta.checkpointInterval": "10"})
    ok("checkpoint", T)
    ok("sql", "; ".join(["INSERT INTO delta.`%s/%s` VALUES (1)" % (os.getcwd(), T)] * 10))
    checkpoints, commits = kinds()
    assert len(checkpoints) <= 2, checkpoints
    oldest = min(int(c[:20]) for c in checkpoints)
    equal(sorted(int(c[:20]) for c in commits), list(range(oldest, n + 10)))
    assert oldest >= n - 1, oldest
    size = sum(os.path.getsize(f) for f in glob.glob(T + "/_delta_log/*"))
    assert size < 1 << 20, size
    equal(value("SELECT count(*) FROM delta.`%s/%s` VERSION AS OF %d WHERE false" % (os.getcwd(), T, n + 5)), 0)
    equal(json.loads(ok("show", T, "--format", "json").out)["numFiles"], 11)


def test_log_compaction_files():
    table = "delta.`%s/%s`" % (os.getcwd(), T)
    conf = ("--conf", "silt.logCompaction.interval=4")
    ok("sql", "CREATE TABLE %s (id INT) USING DELTA TBLPROPERTIES ('delta.checkpointInterval' = '10', 'delta.enableRowTracking' = 'true'); " % table
       + "; ".join("INSERT INTO %s VALUES (%d)" % (table, i) for i in range(12)) + "; DELETE FROM %s WHERE id = 3" % table, *conf)
    equal(sorted(os.path.basename(f) for f in glob.glob(log("*.compacted.json"))), ["%020d.%020d.compacted.json" % (v, v + 3) for v in (0, 4, 8)])
    equal(sorted(r["id"] for r in sql("SELECT id FROM %s" % table)), [i for i in range(12) if i != 3])
    for f in glob.glob(log("*.checkpoint.parquet")) + glob.glob(log("*.crc")) + [log("_last_checkpoint")]: os.remove(f)
    for v in range(12): s.write(log("%020d.json" % v), "{")  # readers do not look at them
    equal(sorted(r["id"] for r in sql("SELECT id FROM %s" % table)), [i for i in range(12) if i != 3])


def test_a_compaction_that_fails_does_not_fail_the_statement():
    table = "delta.`%s/%s`" % (os.getcwd(), T)
    ok("sql", "CREATE TABLE %s (id INT) USING DELTA" % table)
    done = ok("sql", "INSERT INTO %s VALUES (1)" % table, "--conf", "silt.logCompaction.interval=one")
    assert "log compaction" in done.err and "INVALID_PARAMETER_VALUE" in done.err, done
    equal(value("SELECT count(*) FROM %s" % table), 1)


if __name__ == "__main__":
    s.main(globals())
