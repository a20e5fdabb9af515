#!/usr/bin/env python3
"""CONVERT TO DELTA as a user meets it: folders of many shapes, what is refused and by which words, the catalog, counting before and after, a run that is stopped."""
import json, os, shutil, sqlite3, sys, time
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import silt_script as s
from silt_script import equal, fails, ok, sql, value


def make(folder, select, partition_by=""):
    """A folder of Parquet files: a table without its log."""
    path = os.path.abspath(folder)
    ok("sql", "CREATE TABLE delta.`%s` USING DELTA %s AS %s" % (path, "PARTITIONED BY (%s)" % partition_by if partition_by else "", select))
    shutil.rmtree(path + "/_delta_log")
    return path


def actions(folder, kind):
    return [a[kind] for l in s.read(folder + "/_delta_log/" + "%020d.json" % 0).splitlines() for a in [json.loads(l)] if kind in a]


def convert(path, clause="", *more):
    return sql("CONVERT TO DELTA parquet.`%s` %s" % (path, clause), *more)


def test_values_are_those_of_the_folders():
    path = make("t", "SELECT id, CASE WHEN id < 128 THEN concat('v', char(id), 'w') WHEN id = 128 THEN 'é' WHEN id = 129 THEN '%41' END AS p FROM range(1, 131)", "p")
    before = sql("SELECT p, count(*) AS n, sum(id) AS ids FROM parquet.`%s` GROUP BY p ORDER BY ids" % path)
    convert(path, "PARTITIONED BY (p STRING)")
    equal(sql("SELECT p, count(*) AS n, sum(id) AS ids FROM delta.`%s` GROUP BY p ORDER BY ids" % path), before)
    equal(len(before), 130)
    equal(value("SELECT count(*) FROM delta.`%s` WHERE p = 'v%%w'" % path), 1)
    equal(convert(path), [], "again: nothing to do")
    equal(len(s.log_files("t")), 1)


def test_counts_are_told_and_compared():
    path = make("t", "SELECT id, id % 3 AS p FROM range(10)", "p")
    os.rename(path + "/p=1", path + "/p=001")
    rows = convert(path, "PARTITIONED BY (p INT)", "--conf", "silt.convert.verify=true")
    equal(rows, [{"partition": "p=%d" % p, "rows_before": n, "rows_after": n} for p, n in ((0, 4), (1, 3), (2, 3))])
    equal(actions("t", "add")[0]["partitionValues"]["p"] in ("0", "001", "2"), True)


def test_statistics_bound_the_data():
    columns = {"i": "CAST(id AS INT)", "d": "CASE WHEN id % 7 = 0 THEN double('NaN') ELSE -id / 3 END", "f": "CAST(id AS FLOAT)", "s": "concat(repeat('é', CAST(id AS INT)), 'x')", "n": "CASE WHEN id > 2 THEN id END",
               "t": "timestampadd(MICROSECOND, id * 1001, TIMESTAMP'1969-12-31 23:59:59.999')", "st": "CASE WHEN id <> 3 THEN struct(id AS x, 'y' AS y) END", "dec": "CAST(id / 7 AS DECIMAL(30,5))", "dt": "date_add(DATE'1500-01-01', CAST(id AS INT))"}
    path = make("t", "SELECT id % 4 AS p, " + ", ".join("%s AS %s" % (e, c) for c, e in columns.items()) + " FROM range(40)", "p")
    plain = os.path.abspath("plain")
    shutil.copytree(path, plain)
    for mode in ("exact", "footer"):
        shutil.rmtree(path + "/_delta_log", ignore_errors=True)
        convert(path, "PARTITIONED BY (p INT)", "--conf", "silt.convert.stats=" + mode)
        stats = [json.loads(a["stats"]) for a in actions("t", "add")]
        equal(sorted(x["numRecords"] for x in stats), [10] * 4)
        for x in stats:
            assert ("d" in x["maxValues"]) == (mode == "exact"), (mode, x)
            equal("NaN" in json.dumps(x["maxValues"]), mode == "exact")
        for where in ("i = 39", "d < -10", "isnan(d)", "s LIKE 'é%x'", "n IS NULL", "t < TIMESTAMP'1970-01-01'", "st.x = 7", "st IS NULL", "dec > 5", "dt = DATE'1500-01-05'", "f >= 38"):
            equal(value("SELECT count(*) FROM delta.`%s` WHERE %s" % (path, where)), value("SELECT count(*) FROM parquet.`%s` WHERE %s" % (plain, where)), "%s, %s" % (mode, where))
    fails("INVALID_PARAMETER_VALUE", "sql", "CONVERT TO DELTA parquet.`%s` PARTITIONED BY (p INT)" % plain, "--conf", "silt.convert.stats=some")


def test_no_statistics():
    path = make("t", "SELECT id FROM range(5)")
    convert(path, "NO STATISTICS")
    equal("stats" in actions("t", "add")[0], False)
    equal(actions("t", "commitInfo")[0]["operationParameters"], {"numFiles": 1, "partitionedBy": "[]", "collectStats": False, "sourceFormat": "parquet"})
    equal(value("SELECT sum(id) FROM delta.`%s`" % path), 10)


def test_timestamps_keep_their_instant():
    path = make("t", "SELECT 1 AS id, 'x' AS p")
    os.mkdir(path + "/ts=2024-07-01 12%3A00%3A00")
    for f in s.data_files("t"): os.rename("t/" + f, "t/ts=2024-07-01 12%3A00%3A00/" + f)
    zone = ("--conf", "spark.sql.session.timeZone=America/New_York")
    convert(path, "PARTITIONED BY (ts TIMESTAMP)", *zone)
    equal(actions("t", "add")[0]["partitionValues"]["ts"], "2024-07-01T16:00:00.000000Z")
    equal(value("SELECT unix_seconds(ts) FROM delta.`%s`" % path), 1719849600)


def test_bytes_escaped_as_other_writers_do():
    path = make("t", "SELECT 1 AS id")
    for f in s.data_files("t"):
        for folder in ("p=%C3%A9", "p=%E9", "p=a%2Fb c", "p=10:30"):
            os.makedirs("t/" + folder)
            shutil.copy("t/" + f, "t/" + folder)
        os.remove("t/" + f)
    convert(path, "PARTITIONED BY (p STRING)")
    equal(sorted(r["p"] for r in sql("SELECT p FROM delta.`%s`" % path)), ["10:30", "a/b c", "é", "é"])
    equal([a["path"].split("/")[0] for a in actions("t", "add") if a["partitionValues"]["p"] == "10:30"], ["p=10%3A30"])


def test_hidden_links_and_empty_folders():
    path = make("t", "SELECT id FROM range(3)")
    data = s.data_files("t")[0]
    for name in ("_hidden.parquet", ".hidden.parquet", "_dir/a.parquet", "sub/.x/b.parquet"):
        s.write("t/" + name, "no Parquet")
    os.makedirs("t/empty/er")
    shutil.copytree("t", "elsewhere", ignore=shutil.ignore_patterns("_*", ".*", "sub", "empty"))
    os.symlink(os.path.abspath("elsewhere"), "t/linked")
    os.symlink("nowhere", "t/dangling.parquet")
    convert(path)
    equal(sorted(a["path"] for a in actions("t", "add")), sorted([data, "linked/" + data]))
    equal(value("SELECT count(*) FROM delta.`%s`" % path), 6)


def test_links_in_a_circle_end():
    path = make("t", "SELECT 1 AS id")
    os.symlink(path, "t/again")
    done = fails(None, "sql", "CONVERT TO DELTA parquet.`%s`" % path)
    assert done.condition in ("UNSUPPORTED_FEATURE", "IO_ERROR"), done
    equal(os.path.exists("t/_delta_log"), False)


def test_what_is_refused():
    path = make("t", "SELECT id, id % 2 AS p FROM range(4)", "p")
    text = lambda clause="", p=path: "CONVERT TO DELTA parquet.`%s` %s" % (p, clause)
    done = fails("DELTA_UNEXPECTED_NUM_PARTITION_COLUMNS_FROM_FILE_NAME", "sql", text())
    assert "PARTITIONED BY" in done.err, done
    fails("DELTA_UNEXPECTED_PARTITION_COLUMN_FROM_FILE_NAME", "sql", text("PARTITIONED BY (q INT)"))
    os.rename("t/p=1", "t/p=one")
    done = fails("DELTA_FAILED_CAST_PARTITION_VALUE", "sql", text("PARTITIONED BY (p INT)"))
    assert "one" in done.err, done
    ok("sql", "--conf", "spark.databricks.delta.convert.partitionValues.ignoreCastFailure=true", text("PARTITIONED BY (p INT)"))
    equal(value("SELECT count(*) FROM delta.`%s` WHERE p IS NULL" % path), 2)
    shutil.rmtree("t/_delta_log")
    os.rename("t/p=one", "t/p=")
    fails("PARTITION_FOLDER_INVALID", "sql", text("PARTITIONED BY (p INT)"))
    os.rename("t/p=", "t/p=1")
    for name, data, condition in (("zero.parquet", b"", "DELTA_FAILED_READ_FILE_FOOTER"), ("text.txt", b"no columns in here at all", "DELTA_FAILED_READ_FILE_FOOTER"),
                                  ("x.orc", b"ORC" + b"\0" * 50, "DELTA_CONVERT_NON_PARQUET_TABLE"), ("x.avro", b"Obj\x01" + b"\0" * 50, "DELTA_CONVERT_NON_PARQUET_TABLE"),
                                  ("torn.parquet", b"PAR1" + b"\xff" * 60 + b"\x30\0\0\0PAR1", "DELTA_FAILED_READ_FILE_FOOTER"), ("secret.parquet", b"PARE" + b"\xff" * 60 + b"\x30\0\0\0PARE", "DELTA_FAILED_READ_FILE_FOOTER")):
        s.write("t/p=1/" + name, data)
        done = fails(condition, "sql", text("PARTITIONED BY (p INT)"))
        assert name in done.err, done
        if condition == "DELTA_FAILED_READ_FILE_FOOTER":
            done = ok("sql", "--conf", "spark.sql.files.ignoreCorruptFiles=true", text("PARTITIONED BY (p INT)"))
            equal(len(actions("t", "add")), 2)
            shutil.rmtree("t/_delta_log")
        os.remove("t/p=1/" + name)
    os.mkdir("empty")
    fails("DELTA_EMPTY_DIRECTORY", "sql", text(p=os.path.abspath("empty")))
    fails("DELTA_DIRECTORY_NOT_FOUND", "sql", text(p=os.path.abspath("nothing")))
    fails("DELTA_MISSING_PROVIDER_FOR_CONVERT", "sql", "CONVERT TO DELTA `%s`" % path)
    fails("DELTA_CONVERT_NON_PARQUET_TABLE", "sql", "CONVERT TO DELTA orc.`%s`" % path)
    fails("UNSUPPORTED_FEATURE", "sql", "CONVERT TO DELTA iceberg.`%s`" % path)
    fails("DELTA_TABLE_NOT_FOUND", "sql", "CONVERT TO DELTA delta.`%s`" % path)
    equal(os.path.exists("t/_delta_log"), False)


def test_folders_that_are_something_else():
    path = make("t", "SELECT 1 AS id")
    for name, word in (("metadata/00001-x.metadata.json", "iceberg"), (".hoodie/hoodie.properties", "hudi"), ("delta_0000001_0000001/x", "transactional Hive"), ("base_0000007/x", "transactional Hive")):
        s.write("t/" + name, "{}")
        done = fails("DELTA_CONVERT_NON_PARQUET_TABLE", "sql", "CONVERT TO DELTA parquet.`%s`" % path)
        assert word in done.err, done
        shutil.rmtree("t/" + name.split("/")[0])
    ok("sql", "CREATE TABLE delta.`%s/inner` (id INT) USING DELTA" % path)
    fails("CONVERT_NESTED_TABLE", "sql", "CONVERT TO DELTA parquet.`%s`" % path)
    shutil.rmtree("t/inner")
    convert(path)
    os.makedirs("t/deeper/still")
    for f in s.data_files("t"): shutil.copy("t/" + f, "t/deeper/still/x.parquet")
    done = fails("CONVERT_NESTED_TABLE", "sql", "CONVERT TO DELTA parquet.`%s/deeper/still`" % path)
    assert path in done.err, done


def test_schemas_are_merged_or_refused():
    make("a", "SELECT 1 AS Id, struct(1 AS x) AS st")
    make("b", "SELECT CAST(2 AS SHORT) AS id, struct(2 AS X, 'q' AS y) AS st, 'new' AS extra")
    make("c", "SELECT 'text' AS id")
    os.mkdir("t")
    for n, folder in enumerate("ab"):
        for f in s.data_files(folder): shutil.copy(folder + "/" + f, "t/%d.parquet" % n)
    path = os.path.abspath("t")
    convert(path)
    equal(sql("SELECT * FROM delta.`%s` ORDER BY Id" % path), [{"Id": 1, "st": {"x": 1, "y": None}, "extra": None}, {"Id": 2, "st": {"x": 2, "y": "q"}, "extra": "new"}])
    equal([json.loads(a["stats"])["nullCount"] for a in sorted(actions("t", "add"), key=lambda a: a["path"])], [{"Id": 0, "st": {"x": 0, "y": 1}, "extra": 1}, {"Id": 0, "st": {"x": 0, "y": 0}, "extra": 0}])
    shutil.rmtree("t/_delta_log")
    for f in s.data_files("c"): shutil.copy("c/" + f, "t/2.parquet")
    done = fails("DELTA_FAILED_MERGE_SCHEMA_FILE", "sql", "CONVERT TO DELTA parquet.`%s`" % path)
    assert "2.parquet" in done.err and "'Id'" in done.err, done


def test_a_streams_folder():
    path = make("t", "SELECT id FROM range(3)")
    (good,) = s.data_files("t")
    shutil.copy("t/" + good, "t/failed.parquet")
    entry = lambda name, action="add": json.dumps({"path": "file://%s/%s" % (path, name), "size": os.path.getsize("t/" + good), "isDir": False, "modificationTime": 1700000000000, "blockReplication": 1, "blockSize": 1, "action": action})
    s.write("t/_spark_metadata/0", "v1\n" + entry("failed.parquet"))
    s.write("t/_spark_metadata/1.compact", "v1\n" + entry(good) + "\n" + entry("failed.parquet"))
    s.write("t/_spark_metadata/2", "v1\n" + entry("failed.parquet", "delete"))
    done = ok("sql", "CONVERT TO DELTA parquet.`%s`" % path)
    assert "_spark_metadata" in done.err + done.out, done
    equal([a["path"] for a in actions("t", "add")], [good])
    shutil.rmtree("t/_delta_log")
    convert(path, "", "--conf", "spark.databricks.delta.convert.useMetadataLog=false")
    equal(len(actions("t", "add")), 2)
    shutil.rmtree("t/_delta_log")
    s.write("t/_spark_metadata/3", "v9\n")
    fails("FAILED_READ_FILE", "sql", "CONVERT TO DELTA parquet.`%s`" % path)


def test_a_catalogs_table():
    path = make("t", "SELECT id, id % 2 AS p FROM range(4)", "p")
    ok("sql", "CREATE DATABASE d; CREATE TABLE d.x (id INT) USING DELTA LOCATION '%s'" % os.path.abspath("other"))
    catalog = sqlite3.connect("spark-warehouse/.silt-catalog.sqlite")
    columns = [r[1] for r in catalog.execute("PRAGMA table_info(tables)")]
    assert "provider" in columns and "location" in columns, columns
    catalog.execute("UPDATE tables SET provider = 'parquet', location = ? WHERE name = 'x'", (path,))
    catalog.commit()
    ok("sql", "CONVERT TO DELTA d.x")
    equal(catalog.execute("SELECT provider FROM tables WHERE name = 'x'").fetchone()[0], "delta")
    info = actions("t", "commitInfo")[0]["operationParameters"]
    equal((info["catalogTable"], info["partitionedBy"]), ("`spark_catalog`.`d`.`x`", "[]"))
    equal(sql("SELECT p, count(*) AS n FROM d.x GROUP BY p ORDER BY p"), [{"p": 0, "n": 2}, {"p": 1, "n": 2}])
    equal(sql("CONVERT TO DELTA d.x"), [])
    catalog.execute("UPDATE tables SET provider = 'parquet' WHERE name = 'x'")        # a run that was stopped before it told the catalog
    catalog.commit()
    ok("sql", "CONVERT TO DELTA d.x")
    equal(catalog.execute("SELECT provider FROM tables WHERE name = 'x'").fetchone()[0], "delta")
    equal(len(s.log_files("t")), 1)


def test_defaults_of_the_session():
    path = make("t", "SELECT id FROM range(4)")
    prefix = "spark.databricks.delta.properties.defaults."
    fails("DELTA_CONVERSION_UNSUPPORTED_COLUMN_MAPPING", "sql", "--conf", prefix + "columnMapping.mode=name", "CONVERT TO DELTA parquet.`%s`" % path)
    fails("DELTA_CONVERT_TO_DELTA_ROW_TRACKING_WITHOUT_STATS", "sql", "--conf", prefix + "enableRowTracking=true", "CONVERT TO DELTA parquet.`%s` NO STATISTICS" % path)
    convert(path, "", "--conf", prefix + "enableRowTracking=true", "--conf", prefix + "enableDeletionVectors=true")
    (add,) = actions("t", "add")
    equal((add["baseRowId"], add["defaultRowCommitVersion"], json.loads(add["stats"])["tightBounds"]), (0, 0, True))
    ok("sql", "DELETE FROM delta.`%s` WHERE id = 1" % path)
    equal(value("SELECT count(*) FROM delta.`%s`" % path), 3)


def test_killed_at_any_moment():
    import random
    random.seed(7)
    path = make("t", "SELECT id, id % 50 AS p, id / 7 AS d FROM range(500)", "p")
    for attempt in range(3 if s.SANITIZED else 8):
        import subprocess
        p = subprocess.Popen([s.SILT, "sql", "CONVERT TO DELTA parquet.`%s` PARTITIONED BY (p INT)" % path], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=s.environment())
        time.sleep(random.random() * 0.25)
        p.kill()
        p.wait()
        if os.path.exists("t/_delta_log") and s.log_files("t"): equal(value("SELECT count(*) FROM delta.`%s`" % path), 500)
        shutil.rmtree("t/_delta_log", ignore_errors=True)
    equal(len(s.data_files("t")), 50)


def test_two_at_once():
    import subprocess
    path = make("t", "SELECT id, id % 50 AS p FROM range(500)", "p")
    start = lambda: subprocess.Popen([s.SILT, "sql", "CONVERT TO DELTA parquet.`%s` PARTITIONED BY (p INT)" % path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=s.environment())
    both = [start(), start()]
    codes = [p.wait() for p in both]
    assert 0 in codes, [p.stderr.read() for p in both]
    equal(s.versions("t"), [0])
    equal(value("SELECT count(*) FROM delta.`%s`" % path), 500)


if __name__ == "__main__":
    s.main(globals())
