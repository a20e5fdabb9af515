#!/usr/bin/env python3
"""silt load: CSV, JSON and Parquet files into tables; modes, schemas, partitioning, evolution, idempotence."""
import json, os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import silt_script as s
from silt_script import equal, fails, ok, silt, sql, value, write

CSV = "id,day,city,temperature\n1,2026-01-30,Oslo,-7.5\n2,2026-01-30,Nice,11.0\n3,2026-01-31,,\n"


def columns(table): return [(r["col_name"], r["data_type"]) for r in sql("DESCRIBE QUERY SELECT * FROM %s" % table)]


def test_csv_types_are_found_out():
    write("a.csv", CSV)
    done = ok("load", "a.csv", "--into", "readings")
    equal(done.out, "3 rows in 1 file, version 1\n" if len(s.versions("spark-warehouse/readings")) == 2 else "3 rows in 1 file, version 0\n")
    equal(columns("readings"), [("id", "int"), ("day", "date"), ("city", "string"), ("temperature", "double")])
    equal(sql("SELECT * FROM readings ORDER BY id"), [
        {"id": 1, "day": "2026-01-30", "city": "Oslo", "temperature": -7.5}, {"id": 2, "day": "2026-01-30", "city": "Nice", "temperature": 11.0},
        {"id": 3, "day": "2026-01-31", "city": None, "temperature": None}])


def test_csv_into_a_path():
    write("a.csv", CSV)
    ok("load", "a.csv", "--into", "./lake/readings")
    equal(value("SELECT count(*) FROM delta.`%s/lake/readings`" % os.getcwd()), 3)
    assert not os.path.exists("spark-warehouse/readings")
    ok("load", "a.csv", "--into", os.getcwd() + "/lake/readings")
    equal(value("SELECT count(*) FROM delta.`%s/lake/readings`" % os.getcwd()), 6)


def test_csv_options():
    write("a.txt", "1;'a;b';n/a;31.01.2026\n2;'c''d';x;01.02.2026\n")
    ok("load", "a.txt", "--into", "t", "--input-format", "csv", "--option", "header=false", "--option", "sep=;", "--option", "quote='", "--option", "escape='",
       "--option", "nullValue=n/a", "--option", "dateFormat=dd.MM.yyyy", "--schema", "id BIGINT, a STRING, b STRING, d DATE")
    equal(sql("SELECT * FROM t ORDER BY id"), [{"id": 1, "a": "a;b", "b": None, "d": "2026-01-31"}, {"id": 2, "a": "c'd", "b": "x", "d": "2026-02-01"}])


def test_csv_given_schema():
    write("a.csv", "id,v\n1,007\n")
    ok("load", "a.csv", "--into", "t", "--schema", "id BIGINT, v STRING")
    equal(columns("t"), [("id", "bigint"), ("v", "string")])
    equal(sql("SELECT * FROM t"), [{"id": 1, "v": "007"}])


def test_csv_into_existing_types():
    write("a.csv", "id,v\n1,1.5\n")
    ok("sql", "CREATE TABLE t (id INT, v DOUBLE) USING DELTA")
    ok("load", "a.csv", "--into", "t", "--schema", "id INT, v DOUBLE")
    equal(sql("SELECT * FROM t"), [{"id": 1, "v": 1.5}])


def test_csv_line_ends_quotes_and_unicode():
    write("a.csv", 'a,b\r\n"x\ny","q""q"\r\n"é 😀","  z "\r\n')
    ok("load", "a.csv", "--into", "t", "--option", "multiLine=true", "--option", "escape=\"")
    equal(sql("SELECT * FROM t ORDER BY a DESC")[-1], {"a": "x\ny", "b": 'q"q'})
    equal(value("SELECT count(*) FROM t WHERE a = 'é 😀'"), 1)


def test_several_files_are_one_version():
    write("a.csv", CSV)
    write("b.csv", "id,day,city,temperature\n4,2026-02-01,Riga,1.0\n")
    ok("load", "a.csv", "b.csv", "--into", "t")
    equal(value("SELECT count(*) FROM t"), 4)
    writes = [r for r in sql("DESCRIBE HISTORY t") if r["operationMetrics"]]
    equal(len(writes), 1)


def test_json_lines():
    write("a.json", '{"id": 1, "tags": ["x", "y"], "at": {"lat": 1.5, "lon": 2}}\n{"id": 2, "extra": true}\n')
    ok("load", "a.json", "--into", "t")
    equal(sorted(columns("t")), [("at", "struct<lat:double,lon:bigint>"), ("extra", "boolean"), ("id", "bigint"), ("tags", "array<string>")])
    equal(sql("SELECT id, tags, at, extra FROM t ORDER BY id"), [
        {"id": 1, "tags": ["x", "y"], "at": {"lat": 1.5, "lon": 2}, "extra": None}, {"id": 2, "tags": None, "at": None, "extra": True}])


def test_json_given_schema():
    write("a.json", '{"id": 1, "d": "2026-01-31", "z": 1}\n')
    ok("load", "a.json", "--into", "t", "--schema", "id INT, d DATE, missing STRING")
    equal(sql("SELECT * FROM t"), [{"id": 1, "d": "2026-01-31", "missing": None}])


def test_parquet():
    ok("sql", "--format", "parquet", "-o", "a.parquet", "SELECT id, CAST(id AS DECIMAL(10,2)) AS d, array(id) AS a, timestamp_seconds(id) AS t FROM range(5)")
    ok("load", "a.parquet", "--into", "t")
    equal(columns("t"), [("id", "bigint"), ("d", "decimal(10,2)"), ("a", "array<bigint>"), ("t", "timestamp")])
    equal(sql("SELECT * FROM t WHERE id = 3"), [{"id": 3, "d": "3.00", "a": [3], "t": "1970-01-01T00:00:03.000000Z"}])


def test_modes():
    write("a.csv", "id\n1\n")
    write("b.csv", "id\n2\n3\n")
    ok("load", "a.csv", "--into", "t", "--mode", "error")
    fails("TABLE_OR_VIEW_ALREADY_EXISTS", "load", "b.csv", "--into", "t", "--mode", "error")
    equal(value("SELECT count(*) FROM t"), 1)
    equal(ok("load", "b.csv", "--into", "t", "--mode", "ignore").out, "nothing was written\n")
    equal(value("SELECT count(*) FROM t"), 1)
    ok("load", "b.csv", "--into", "t", "--mode", "append")
    equal(value("SELECT count(*) FROM t"), 3)
    ok("load", "b.csv", "--into", "t", "--mode", "overwrite")
    equal([r["id"] for r in sql("SELECT id FROM t ORDER BY id")], [2, 3])
    ok("load", "a.csv", "--into", "./p", "--mode", "error")
    fails("DELTA_PATH_EXISTS", "load", "a.csv", "--into", "./p", "--mode", "error")
    ok("load", "a.csv", "--into", "t")
    equal(value("SELECT count(*) FROM t"), 3, "append is the default")


def test_partition_by():
    write("a.csv", CSV)
    ok("load", "a.csv", "--into", "t", "--partition-by", "day", "--property", "delta.checkpointInterval=5", "--property", "owner=me")
    equal(sorted({os.path.dirname(f) for f in s.data_files("spark-warehouse/t")}), ["day=2026-01-30", "day=2026-01-31"])
    (detail,) = sql("DESCRIBE DETAIL t")
    equal((detail["partitionColumns"], dict(detail["properties"])), (["day"], {"delta.checkpointInterval": "5", "owner": "me"}))
    ok("load", "a.csv", "--into", "two", "--partition-by", "day,city")
    equal(sql("DESCRIBE DETAIL two")[0]["partitionColumns"], ["day", "city"])
    equal(value("SELECT count(*) FROM two WHERE city IS NULL"), 1)


def test_partitioning_must_agree():
    write("a.csv", CSV)
    ok("load", "a.csv", "--into", "t", "--partition-by", "day")
    fails("DELTA_METADATA_MISMATCH", "load", "a.csv", "--into", "t", "--partition-by", "city")
    ok("load", "a.csv", "--into", "t")
    equal(value("SELECT count(*) FROM t"), 6)


def test_schema_evolution():
    write("a.csv", "id,v\n1,x\n")
    write("b.csv", "id,w\n2,1.5\n")
    ok("load", "a.csv", "--into", "t")
    fails("DELTA_METADATA_MISMATCH", "load", "b.csv", "--into", "t")
    ok("load", "b.csv", "--into", "t", "--merge-schema")
    equal(sql("SELECT * FROM t ORDER BY id"), [{"id": 1, "v": "x", "w": None}, {"id": 2, "v": None, "w": 1.5}])
    write("c.csv", "other\ntext\n")
    fails("DELTA_METADATA_MISMATCH", "load", "c.csv", "--into", "t", "--mode", "overwrite")
    ok("load", "c.csv", "--into", "t", "--mode", "overwrite", "--overwrite-schema")
    equal(sql("SELECT * FROM t"), [{"other": "text"}])
    equal(value("SELECT count(*) FROM t VERSION AS OF %d" % (max(s.versions("spark-warehouse/t")) - 1)), 2)


def test_idempotence():
    write("a.csv", "id\n1\n")
    for version, rows in ((3, 1), (3, 1), (2, 1), (4, 2)):
        done = ok("load", "a.csv", "--into", "t", "--txn-app", "nightly", "--txn-version", version)
        equal(value("SELECT count(*) FROM t"), rows, "after version %d: %s" % (version, done.out))
    ok("load", "a.csv", "--into", "t", "--txn-app", "other", "--txn-version", "1")
    equal(value("SELECT count(*) FROM t"), 3)


def test_user_metadata():
    write("a.csv", "id\n1\n")
    ok("load", "a.csv", "--into", "t", "--user-metadata", "from the 'source'")
    equal(sql("DESCRIBE HISTORY t LIMIT 1")[0]["userMetadata"], "from the 'source'")


def test_bad_files_write_nothing():
    write("a.csv", "id\n1\n")
    ok("load", "a.csv", "--into", "t")
    before = s.versions("spark-warehouse/t")
    done = fails(None, "load", "nosuch.csv", "--into", "t")
    equal(done.condition, "PATH_NOT_FOUND")
    write("bad.csv", "id\nabc\n")
    fails(None, "load", "bad.csv", "--into", "t", "--schema", "id INT", "--option", "mode=FAILFAST")
    write("bad.json", '{"id": 1}\n{"id": \n')
    fails(None, "load", "bad.json", "--into", "t", "--option", "mode=FAILFAST")
    write("bad.parquet", "PAR1 this is none PAR1")
    done = fails(None, "load", "bad.parquet", "--into", "t")
    assert "INTERNAL" not in done.condition, done
    fails(None, "load", "bad.parquet", "--into", "new")
    equal(s.versions("spark-warehouse/t"), before)
    assert not os.path.exists("spark-warehouse/new/_delta_log"), "no table of a failed load"
    fails("TABLE_OR_VIEW_NOT_FOUND", "sql", "SELECT * FROM new")


def test_type_mismatch_writes_nothing():
    ok("sql", "CREATE TABLE t (id INT) USING DELTA")
    write("a.csv", "id\nabc\n")
    fails("DELTA_FAILED_TO_MERGE_FIELDS", "load", "a.csv", "--into", "t")
    equal(value("SELECT count(*) FROM t"), 0)
    equal(s.data_files("spark-warehouse/t"), [])


def test_replace_where():
    write("a.csv", CSV)
    ok("load", "a.csv", "--into", "t")
    write("b.csv", "id,day,city,temperature\n7,2026-01-30,Oslo,1.5\n")
    ok("load", "b.csv", "--into", "t", "--mode", "overwrite", "--replace-where", "day = '2026-01-30'")
    equal(sql("SELECT id FROM t ORDER BY id"), [{"id": 3}, {"id": 7}])
    fails("DELTA_REPLACE_WHERE_MISMATCH", "load", "b.csv", "--into", "t", "--mode", "overwrite", "--replace-where", "day = '2026-01-31'")
    equal(value("SELECT count(*) FROM t"), 2)
    equal(silt("load", "b.csv", "--into", "t", "--replace-where", "id = 7").code, 2)


def test_unknown_format():
    write("a.xyz", "1")
    done = silt("load", "a.xyz", "--into", "t")
    assert done.code in (1, 2) and "format" in done.err, done


def test_quiet():
    write("a.csv", "id\n1\n")
    done = ok("load", "-q", "a.csv", "--into", "t")
    equal((done.out, done.err), ("", ""))


if __name__ == "__main__": s.main(globals())
