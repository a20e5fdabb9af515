#!/usr/bin/env python3
"""VACUUM of a table on S3 is in its history, so that a RESTORE beside one that has not ended is refused; and it is not where the setting says so."""
import json, os, re, subprocess, sys, urllib.parse
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib_remote as remote

LOGGING = "spark.databricks.delta.vacuum.logging.enabled"


def silt(s, sql, conf=None):
    words = [w for kv in {**remote.settings(s), "spark.databricks.delta.retentionDurationCheck.enabled": "false", **(conf or {})}.items() for w in ("--conf", "%s=%s" % kv)]
    done = subprocess.run([remote.SILT, "sql", "--format", "jsonl", *words, sql], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
    return done.returncode, done.stdout, done.stderr


def must(s, sql, conf=None):
    status, out, err = silt(s, sql, conf)
    if status: raise RuntimeError("%s: %s" % (sql, err))
    return [json.loads(line) for line in out.splitlines()]


def make(s, name):
    table = "delta.`%s`" % remote.location(s, "vacuum-%s-%d" % (name, os.getpid()))
    must(s, "CREATE TABLE %s (id INT) USING delta; INSERT INTO %s VALUES (1); INSERT OVERWRITE %s VALUES (2); OPTIMIZE %s" % ((table,) * 4))
    return table


def operations(s, table): return [row["operation"] for row in must(s, "DESCRIBE HISTORY %s" % table)]


def is_told(store):
    s = remote.server(store)
    table = make(s, "told-" + store)
    must(s, "VACUUM %s RETAIN 0 HOURS" % table)
    found, rows = operations(s, table), must(s, "SELECT id FROM %s" % table)
    problems = [] if found[:2] == ["VACUUM END", "VACUUM START"] else ["history: %s" % found]
    return problems + ([] if rows == [{"id": 2}] else ["rows: %s" % rows])


def is_not_told(store):
    s = remote.server(store)
    table = make(s, "untold-" + store)
    before = operations(s, table)
    must(s, "VACUUM %s RETAIN 0 HOURS" % table, {LOGGING: "false"})
    return [] if operations(s, table) == before else ["history: %s" % operations(s, table)]


def data_files(s, prefix):
    """{key: bytes} of the data files below it."""
    status, _, body = remote.s3_request(s, "GET", "/%s/" % s["BUCKET"], query="list-type=2&prefix=" + urllib.parse.quote(prefix, safe=""))
    keys = re.findall(r"<Key>([^<]+\.parquet)</Key>", body.decode()) if status == 200 else []
    return {key: remote.s3_request(s, "GET", "/%s/%s" % (s["BUCKET"], key))[2] for key in keys if "/_delta_log/" not in key}


def restore_waits(store):
    """A VACUUM as it stands in the middle: its end is not told yet, and what it is about to remove is still there."""
    s = remote.server(store)
    table = make(s, "restore-" + store)
    prefix = table.split("/", 3)[3].rstrip("`") + "/"
    files = data_files(s, prefix)
    must(s, "VACUUM %s RETAIN 0 HOURS" % table)
    removed = set(files) - set(data_files(s, prefix))
    end = max(row["version"] for row in must(s, "DESCRIBE HISTORY %s" % table))
    for suffix in (".json", ".crc"):
        status = remote.s3_request(s, "DELETE", "/%s/%s_delta_log/%020d%s" % (s["BUCKET"], prefix, end, suffix))[0]
        if status not in (200, 204): return ["DELETE of %d%s: %d" % (end, suffix, status)]
    for key in removed: remote.upload(s, key, files[key])
    status, _, err = silt(s, "RESTORE TABLE %s TO VERSION AS OF 1" % table)
    problems = [] if removed and status == 1 and "RESTORE_BESIDE_VACUUM" in err else ["removed %d, status %d: %s" % (len(removed), status, err)]
    return problems + ([] if must(s, "SELECT id FROM %s" % table) == [{"id": 2}] else ["the rows have changed"])


def main():
    results = remote.Results()
    for case in (is_told, is_not_told, restore_waits): results.run("vacuum/s3/%s" % case.__name__, case, "s3")
    results.run("vacuum/dynamodb/is_told", is_told, "dynamodb")
    results.exit()


if __name__ == "__main__": main()
