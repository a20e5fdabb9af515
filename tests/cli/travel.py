#!/usr/bin/env python3
"""Travel to a time, with commit times that the test sets: the cases of Spark 4.1.2 with Delta 4.3.1."""
import json, os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import silt_script as s
from silt_script import equal, fails, ok, sql, value

TABLE = "spark-warehouse/t"
T0 = 1700000000                                                   # 2023-11-14 22:13:20 UTC


def make(count, *times, options=""):
    """Versions 0 … count: version v has v rows. Times of the commits in seconds."""
    text = "CREATE TABLE t (id INT) USING DELTA %s" % options
    ok("sql", "; ".join([text] + ["INSERT INTO t VALUES (%d)" % v for v in range(count)]))
    for version, at in enumerate(times):
        ns = int(round(at * 1000)) * 1000000
        os.utime("%s/_delta_log/%020d.json" % (TABLE, version), ns=(ns, ns))


def rows_at(text, *argv): return value("SELECT count(*) FROM t TIMESTAMP AS OF %s" % text, "--conf", "spark.sql.session.timeZone=UTC", *argv)


def test_adjusted_times():
    # 1 and 2 are not later than the ones before: Spark moves them on by a millisecond each.
    make(4, T0, T0 + 10, T0 + 10, T0 + 5, T0 + 259200)
    history = {r["version"]: r["timestamp"] for r in sql("DESCRIBE HISTORY t", "--conf", "spark.sql.session.timeZone=UTC")}
    equal(history, {0: "2023-11-14T22:13:20.000000Z", 1: "2023-11-14T22:13:30.000000Z", 2: "2023-11-14T22:13:30.001000Z", 3: "2023-11-14T22:13:30.002000Z",
                    4: "2023-11-17T22:13:20.000000Z"})
    for text, version in (("'2023-11-14 22:13:20'", 0), ("'2023-11-14 22:13:20.001'", 0), ("'2023-11-14 22:13:29.999'", 0), ("'2023-11-14 22:13:30'", 1),
                          ("'2023-11-14 22:13:30.001'", 2), ("'2023-11-14 22:13:30.002'", 3), ("'2023-11-14 22:13:30.003'", 3), ("'2023-11-17 22:13:19.999'", 3),
                          ("'2023-11-17 22:13:20'", 4)):
        equal(rows_at(text), version, text)
    fails("DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION", "sql", "SELECT * FROM t TIMESTAMP AS OF '2023-11-14 22:13:19.999 UTC'")
    fails("DELTA_TIMESTAMP_GREATER_THAN_COMMIT", "sql", "SELECT * FROM t TIMESTAMP AS OF '2023-11-17 22:13:20.001 UTC'")


def test_zones_dates_and_expressions():
    make(2, T0, T0 + 86400, T0 + 2 * 86400)
    equal(rows_at("'2023-11-14T23:13:20+01:00'"), 0)
    equal(rows_at("'2023-11-14 17:13:20 America/New_York'"), 0)
    equal(value("SELECT count(*) FROM t TIMESTAMP AS OF '2023-11-14 17:13:20'", "--conf", "spark.sql.session.timeZone=America/New_York"), 0)
    equal(rows_at("'2023-11-16'"), 1, "midnight of the day")
    equal(rows_at("DATE'2023-11-16'"), 1)
    equal(rows_at("TIMESTAMP'2023-11-15 22:13:20'"), 1)
    equal(rows_at("timestamp_seconds(%d) + INTERVAL 1 DAY" % T0), 1)
    equal(rows_at("date_add(DATE'2023-11-14', 2)"), 1)
    equal(value("SELECT count(*) FROM t FOR SYSTEM_TIME AS OF TIMESTAMP'2023-11-15 22:13:20Z'"), 1)
    fails("DELTA_TIMESTAMP_GREATER_THAN_COMMIT", "sql", "SELECT * FROM t TIMESTAMP AS OF current_timestamp()")
    for text in ("'garbage'", "1700000000", "NULL"): fails("DELTA_TIMESTAMP_INVALID", "sql", "SELECT * FROM t TIMESTAMP AS OF %s" % text)


def test_retention_refusal_on_request():
    # Decision 005: an old version is read while its files are there; Spark's own key asks for Spark's refusal.
    key = "spark.databricks.delta.vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration"
    make(2, T0, T0 + 10, T0 + 20)
    equal(value("SELECT count(*) FROM t VERSION AS OF 1"), 1)
    fails("DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_DELETED_FILE_RETENTION_DURATION", "sql", "--conf", key + "=true", "SELECT * FROM t VERSION AS OF 1")
    equal(value("SELECT count(*) FROM t VERSION AS OF 2", "--conf", key + "=true"), 2, "the newest version")
    equal(value("SELECT count(*) FROM t", "--conf", key + "=true"), 2)


def test_path_forms():
    make(2, T0, T0 + 10, T0 + 20)
    here = os.getcwd() + "/" + TABLE
    utc = ("--conf", "spark.sql.session.timeZone=UTC")
    equal(value("SELECT count(*) FROM delta.`%s@20231114221330000`" % here, *utc), 1)
    equal(value("SELECT count(*) FROM delta.`%s@20231114221329999`" % here, *utc), 0)
    fails("DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION", "sql", *utc, "SELECT * FROM delta.`%s@20231114221319999`" % here)
    fails("DELTA_TIMESTAMP_GREATER_THAN_COMMIT", "sql", *utc, "SELECT * FROM delta.`%s@20231114221340001`" % here)


def test_restore_tells_the_time_in_the_zone_of_the_process():
    """As java.sql.Timestamp prints: in the zone of the process, not of the session (seen on Spark 4.1.2 in a process in UTC, with sessions elsewhere)."""
    for zone, shown in (("UTC", "2023-11-14 22:13:25.0"), ("Asia/Tokyo", "2023-11-15 07:13:25.0")):
        for session in ("UTC", "America/New_York"):
            make(2, T0, T0 + 10, T0 + 20)
            ok("sql", "--conf", "spark.sql.session.timeZone=%s" % session, "RESTORE t TO TIMESTAMP AS OF timestamp_seconds(%d)" % (T0 + 5), env={"TZ": zone})
            newest = s.read("%s/_delta_log/%020d.json" % (TABLE, max(s.versions(TABLE)))).splitlines()[0]
            equal(json.loads(newest)["commitInfo"]["operationParameters"], {"version": None, "timestamp": shown})
            ok("sql", "DROP TABLE t")


def test_cleaned_up_versions():
    make(4, T0, T0 + 1, T0 + 2, T0 + 3, T0 + 4)
    ok("checkpoint", "t")
    ok("sql", "INSERT INTO t VALUES (9)")
    for v in (0, 1, 2):
        for end in (".json", ".crc"):
            if os.path.exists("%s/_delta_log/%020d%s" % (TABLE, v, end)): os.remove("%s/_delta_log/%020d%s" % (TABLE, v, end))
    equal(value("SELECT count(*) FROM t"), 5)
    equal(value("SELECT count(*) FROM t VERSION AS OF 4"), 4)
    for v in (0, 2):
        done = fails(None, "sql", "SELECT * FROM t VERSION AS OF %d" % v)
        assert done.condition in ("DELTA_VERSION_NOT_FOUND", "DELTA_TRUNCATED_TRANSACTION_LOG"), done
    fails("DELTA_VERSION_NOT_FOUND", "sql", "SELECT * FROM t VERSION AS OF 99")


def test_in_commit_timestamps():
    """The commit's own time counts, whatever the file system says."""
    make(2, options="TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'true')")
    for v in range(3): os.utime("%s/_delta_log/%020d.json" % (TABLE, v), (T0 + 1000 - v, T0 + 1000 - v))
    times = []
    for v in range(3):
        first = json.loads(s.read("%s/_delta_log/%020d.json" % (TABLE, v)).splitlines()[0])
        equal(list(first["commitInfo"])[0], "inCommitTimestamp")
        times.append(first["commitInfo"]["inCommitTimestamp"])
    equal(times, sorted(set(times)), "strictly increasing")
    for v in range(3): equal(value("SELECT count(*) FROM t TIMESTAMP AS OF timestamp_millis(%d)" % times[v]), v)
    fails("DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION", "sql", "SELECT * FROM t TIMESTAMP AS OF timestamp_millis(%d)" % (times[0] - 1))


def test_old_files_that_are_gone():
    make(0)
    ok("sql", "INSERT INTO t VALUES (1); INSERT OVERWRITE t VALUES (2)")
    live = s.live_files(TABLE)
    for f in s.data_files(TABLE):
        if f not in live: os.remove(os.path.join(TABLE, f))
    equal(value("SELECT max(id) FROM t"), 2)
    done = fails(None, "sql", "SELECT * FROM t VERSION AS OF 1")
    assert done.condition in ("DELTA_FILE_NOT_FOUND_DETAILED", "FAILED_READ_FILE") and "part-" in done.err, done


if __name__ == "__main__": s.main(globals())
