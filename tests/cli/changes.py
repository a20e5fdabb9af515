#!/usr/bin/env python3
"""silt changes, times in the change data feed, what a scan of it prunes, partitions pruned by generated columns, and identity columns under concurrent writers."""
import json, os, re, subprocess, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import silt_script as s
from silt_script import equal, fails, ok, sql, value

TABLE = "spark-warehouse/t"
T0 = 1700000000                                                   # 2023-11-14 22:13:20 UTC
UTC = ("--conf", "spark.sql.session.timeZone=UTC")


def make():
    """Version 1 has rows 0 to 9, version 2 deletes 3, version 3 changes 4, version 4 adds 10; a day between them."""
    ok("sql", "CREATE TABLE t (id INT, v STRING) USING DELTA TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true'); INSERT INTO t SELECT id, 'a' FROM range(10); DELETE FROM t WHERE id = 3; "
              "UPDATE t SET v = 'b' WHERE id = 4; INSERT INTO t VALUES (10, 'c')")
    for version in range(5):
        at = T0 + version * 86400
        os.utime("%s/_delta_log/%020d.json" % (TABLE, version), (at, at))


def changes(*argv):
    return [json.loads(line) for line in ok("changes", *argv, "--format", "jsonl").out.splitlines()]


def test_command():
    make()
    rows = changes(TABLE, "--from", "2")
    equal([(r["id"], r["v"], r["_change_type"], r["_commit_version"]) for r in rows if r["_commit_version"] != 3], [(3, "a", "delete", 2), (10, "c", "insert", 4)])
    equal(sorted((r["id"], r["v"], r["_change_type"]) for r in rows if r["_commit_version"] == 3), [(4, "a", "update_preimage"), (4, "b", "update_postimage")])
    equal([r["_commit_version"] for r in rows], [2, 3, 3, 4], "in the order of versions")
    equal({r["_commit_timestamp"] for r in rows if r["_commit_version"] == 4}, {"2023-11-18T22:13:20.000000Z"})
    equal(len(changes("t", "--from", "0", "--to", "1")), 10, "a catalog name")
    equal(len(changes("delta.`%s`" % os.path.abspath(TABLE), "--from", "0", "--limit", "4")), 4)
    equal(list(changes(TABLE, "--from", "4")[0]), ["id", "v", "_change_type", "_commit_version", "_commit_timestamp"])
    ok("changes", TABLE, "--from", "1", "-o", "out.csv", "--format", "csv")
    equal(len(open("out.csv").read().splitlines()), 15)
    fails(None, "changes", TABLE, code=2)
    fails(None, "changes", "--from", "1", code=2)
    fails("DELTA_CDC_START_VERSION_AFTER_LATEST", "changes", TABLE, "--from", "5")
    fails("DELTA_MISSING_DELTA_TABLE", "changes", "/no/such/table", "--from", "0")
    assert "delta.enableChangeDataFeed" in ok("help", "changes").out


def test_times():
    make()
    for start, first in (("2023-11-14 22:13:20", 0), ("2023-11-14 22:13:20.001", 1), ("2020-01-01", 0), ("2023-11-16 22:13:20", 2), ("2023-11-17T00:00:00Z", 3)):
        equal(value("SELECT min(_commit_version) FROM table_changes('t', '%s')" % start, *UTC), max(first, 1), start)
    for end, last in (("2023-11-16 22:13:19.999", 1), ("2023-11-16 22:13:20", 2), ("2023-11-18 22:13:20", 4)):
        equal(value("SELECT max(_commit_version) FROM table_changes('t', 0, '%s')" % end, *UTC), last, end)
    fails("DELTA_TIMESTAMP_GREATER_THAN_COMMIT", "sql", "SELECT * FROM table_changes('t', '2023-11-18 22:13:20.001')", *UTC)
    fails("DELTA_TIMESTAMP_GREATER_THAN_COMMIT", "sql", "SELECT * FROM table_changes('t', 0, '2023-11-19')", *UTC)
    fails("DELTA_INVALID_CDC_RANGE", "sql", "SELECT * FROM table_changes('t', '2023-11-16 00:00:00', '2023-11-15 23:00:00')", *UTC)
    equal(value("SELECT count(*) FROM table_changes('t', '2030-01-01')", *UTC, "--conf", "spark.databricks.delta.changeDataFeed.timestampOutOfRange.enabled=true"), 0)
    equal(value("SELECT count(*) FROM t WITH (readChangeFeed = true, startingTimestamp = '2023-11-16', endingVersion = 2)", *UTC), 1)


def scans(query):
    """(files read, files) of each scan of a query's EXPLAIN."""
    text = ok("sql", "EXPLAIN " + query, "--format", "csv").out
    return [tuple(map(int, x)) for x in re.findall(r"files: (\d+) of (\d+) read", text)]


def test_feed_is_pruned():
    make()
    equal(scans("SELECT * FROM table_changes('t', 0) WHERE _commit_version = 1"), [(1, 2), (0, 2)])
    equal(scans("SELECT * FROM table_changes('t', 0) WHERE _change_type = 'delete'"), [(0, 2), (2, 2)])
    equal(scans("SELECT * FROM table_changes('t', 1, 1) WHERE id > 100"), [(0, 1)])
    equal(scans("SELECT * FROM table_changes('t', 4, 4)"), [(1, 1)])


def test_readers_after_vacuum_see_the_missing_file():
    make()
    for name in os.listdir(TABLE):
        if name.endswith(".parquet"): os.remove(os.path.join(TABLE, name))
    fails("DELTA_FILE_NOT_FOUND_DETAILED", "changes", TABLE, "--from", "1", "--to", "1")
    equal(len(changes(TABLE, "--from", "2", "--to", "3")), 3, "change files are still there")


def test_generated_partitions_are_pruned():
    ok("sql", "CREATE TABLE days (ts TIMESTAMP, v INT, day DATE GENERATED ALWAYS AS (CAST(ts AS DATE))) USING DELTA PARTITIONED BY (day) TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '0'); "
              "INSERT INTO days (ts, v) SELECT TIMESTAMP'2020-01-01 12:00:00' + make_interval(0, 0, 0, id), id FROM range(30)", *UTC)
    equal(scans("SELECT v FROM days WHERE ts >= '2020-01-20 12:00:00'"), [(12, 30)], "26 hours of zones before the first")
    equal(scans("SELECT v FROM days WHERE ts = '2020-01-20 12:00:00'"), [(3, 30)])
    equal(scans("SELECT v FROM days WHERE ts IN ('2020-01-02 12:00:00', '2020-01-20 12:00:00')"), [(6, 30)])
    equal(scans("SELECT v FROM days WHERE ts IS NULL"), [(0, 30)])
    equal(scans("SELECT v FROM days WHERE ts >= '2020-01-20' OR v = 5"), [(30, 30)], "an OR with something else")
    ok("sql", "CREATE TABLE hours (t TIMESTAMP_NTZ, y INT GENERATED ALWAYS AS (year(t)), m INT GENERATED ALWAYS AS (month(t)), d INT GENERATED ALWAYS AS (day(t))) USING DELTA PARTITIONED BY (y, m, d) "
              "TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '0'); INSERT INTO hours (t) SELECT TIMESTAMP_NTZ'2019-12-20 00:00:00' + make_interval(0, 0, 0, id) FROM range(60)")
    equal(scans("SELECT t FROM hours WHERE t >= '2020-01-31 05:00:00'"), [(18, 60)])
    equal(scans("SELECT t FROM hours WHERE t < '2020-01-02'"), [(14, 60)], "inclusive: the day of the literal too")
    equal(scans("SELECT t FROM hours WHERE t BETWEEN '2019-12-31' AND '2020-01-01'"), [(2, 60)])
    ok("sql", "CREATE TABLE texts (s STRING, n INT, p STRING GENERATED ALWAYS AS (substring(s, 1, 2)), h INT GENERATED ALWAYS AS (n % 4)) USING DELTA PARTITIONED BY (p, h) "
              "TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '0'); INSERT INTO texts (s, n) SELECT concat(chr(int(97 + id)), 'x', id), int(id) FROM range(10)")
    equal(scans("SELECT s FROM texts WHERE s >= 'dx'"), [(7, 10)])
    equal(scans("SELECT s FROM texts WHERE s = 'dx3'"), [(1, 10)])
    equal(scans("SELECT s FROM texts WHERE n = 7"), [(2, 10)], "equality goes through any function")
    equal(scans("SELECT s FROM texts WHERE n > 7"), [(10, 10)], "order does not")
    ok("sql", "UPDATE days SET v = -1 WHERE ts = '2020-01-20 12:00:00'; DELETE FROM days WHERE ts < '2020-01-03'; MERGE INTO days t USING (SELECT TIMESTAMP'2020-01-29 12:00:00' AS ts) s ON t.ts = s.ts WHEN MATCHED THEN UPDATE SET v = -2", *UTC)
    equal(sql("SELECT count(*) AS n, min(v) AS least FROM days"), [{"n": 28, "least": -2}])


def test_identity_under_concurrent_writers():
    ok("sql", "CREATE TABLE ids (id BIGINT GENERATED ALWAYS AS IDENTITY (START WITH 100), who INT) USING DELTA")
    running = [subprocess.Popen([s.SILT, "sql", "; ".join(["INSERT INTO ids (who) VALUES (%d), (%d)" % (k, k)] * 3)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=s.environment()) for k in range(6)]
    for p in running:
        _, err = p.communicate(timeout=s.TIMEOUT)
        assert p.returncode == 0, err.decode()
    equal(sql("SELECT count(*) AS n, count(DISTINCT id) AS distinct, min(id) AS least, max(id) AS most FROM ids"), [{"n": 36, "distinct": 36, "least": 100, "most": 135}])


if __name__ == "__main__":
    s.main(globals())
