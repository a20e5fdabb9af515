#!/usr/bin/env python3
"""silt show, history, files, schema, checkpoint and demo; a TABLE by name, path and URI; travel in time by options."""
import json, os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import silt_script as s
from silt_script import equal, fails, ok, silt, sql, value

MAKE = """CREATE TABLE t (id BIGINT, day DATE COMMENT 'the day') USING DELTA PARTITIONED BY (day) COMMENT 'my table' TBLPROPERTIES ('delta.checkpointInterval' = '100', 'owner' = 'me');
INSERT INTO t VALUES (1, DATE'2026-01-30'), (2, DATE'2026-01-31');
INSERT INTO t VALUES (3, DATE'2026-01-31')"""
FOLDER = "spark-warehouse/t"


def set_times(table, *seconds):
    """Give the commits their times, as the log's modification times."""
    for version, at in enumerate(seconds): os.utime("%s/_delta_log/%020d.json" % (table, version), (at, at))


def test_show_json():
    ok("sql", MAKE)
    d = json.loads(ok("show", "t", "--format", "json").out)
    for member in ("location", "version", "protocol", "id", "name", "schema", "partitionColumns", "configuration", "numFiles", "sizeInBytes", "numRecords"): assert member in d, member
    equal((d["version"], d["partitionColumns"], d["numFiles"], d["numRecords"]), (2, ["day"], 3, 3))
    equal(d["configuration"], {"delta.checkpointInterval": "100", "owner": "me"})
    equal((d["protocol"]["minReaderVersion"], d["protocol"]["minWriterVersion"]), (1, 2))
    schema = d["schema"] if isinstance(d["schema"], dict) else json.loads(d["schema"])
    equal(schema, {"type": "struct", "fields": [{"name": "id", "type": "long", "nullable": True, "metadata": {}},
                                                {"name": "day", "type": "date", "nullable": True, "metadata": {"comment": "the day"}}]})
    equal(d["sizeInBytes"], sum(os.path.getsize(os.path.join(FOLDER, f)) for f in s.live_files(FOLDER)))
    assert d["location"].rstrip("/").endswith("/" + FOLDER), d["location"]
    equal(len(d["id"]), 36)


def test_show_json_unknown_rows():
    ok("sql", MAKE)
    path = FOLDER + "/_delta_log/%020d.json" % 2
    lines = [json.loads(l) for l in s.read(path).decode().splitlines()]
    for action in lines:
        if "add" in action: action["add"].pop("stats", None)
    s.write(path, "".join(json.dumps(a) + "\n" for a in lines))
    if os.path.exists(path.replace(".json", ".crc")): os.remove(path.replace(".json", ".crc"))
    equal(json.loads(ok("show", "t", "--format", "json").out)["numRecords"], None)
    assert "unknown" in ok("show", "t").out
    equal(value("SELECT count(*) FROM t"), 3)


def test_show_for_people():
    ok("sql", MAKE)
    out = ok("show", "t").out
    for text in ("version      2 ", "rows         3\n", "files        3, ", "my table", "owner"): assert text in out, (text, out)


def test_table_by_name_path_and_uri():
    ok("sql", MAKE)
    here = os.getcwd()
    for name in ("t", "default.t", "spark_catalog.default.t", FOLDER, "./" + FOLDER, "%s/%s" % (here, FOLDER), "%s/%s/" % (here, FOLDER), "file://%s/%s" % (here, FOLDER),
                 "file:%s/%s" % (here, FOLDER), "delta.`%s/%s`" % (here, FOLDER)):
        equal(json.loads(ok("show", name, "--format", "json").out)["version"], 2, name)
        equal(len(ok("history", name, "--format", "jsonl").rows()), 3, name)
        equal(len(ok("files", name, "--format", "jsonl").rows()), 3, name)
        ok("schema", name)


def test_names_that_need_quotes():
    ok("sql", "CREATE TABLE `we``ird.näme 表` (`a b` INT) USING DELTA TBLPROPERTIES ('delta.columnMapping.mode' = 'name'); INSERT INTO `we``ird.näme 表` VALUES (1)")
    equal(json.loads(ok("show", "`we``ird.näme 表`", "--format", "json").out)["numRecords"], 1)
    os.makedirs("sp ace'q\"`b")
    path = os.getcwd() + "/sp ace'q\"`b/t%20x"
    ok("sql", "CREATE TABLE delta.`%s` (id INT) USING DELTA; INSERT INTO delta.`%s` VALUES (1), (2)" % ((path.replace("`", "``"),) * 2))
    assert os.path.isdir(path + "/_delta_log")
    equal(json.loads(ok("show", path, "--format", "json").out)["numRecords"], 2)
    equal(len(ok("history", path, "--format", "jsonl").rows()), 2)


def test_no_such_table():
    for name in ("nosuch", "./nosuch", "/nosuch/path", "file:///nosuch"):
        for command in ("show", "history", "files", "schema", "checkpoint"):
            done = fails(None, command, name)
            assert done.condition in ("TABLE_OR_VIEW_NOT_FOUND", "DELTA_TABLE_NOT_FOUND", "DELTA_PATH_DOES_NOT_EXIST", "DELTA_MISSING_DELTA_TABLE", "DELTA_TABLE_ONLY_OPERATION"), done
            equal(done.out, "")
    os.mkdir("plain")
    s.write("plain/file.txt", "x")
    done = fails(None, "show", "./plain")
    assert done.condition in ("DELTA_TABLE_NOT_FOUND", "DELTA_PATH_DOES_NOT_EXIST"), done
    equal(os.listdir("plain"), ["file.txt"])
    done = fails(None, "show", "s3://bucket/table")
    assert "s3" in done.err and "INTERNAL" not in done.condition, done


def test_travel():
    ok("sql", MAKE)
    set_times(FOLDER, 1700000000, 1700000010, 1700000020)          # 2023-11-14 22:13:20 UTC and on
    for argv, version in ((("--version", 1), 1), (("--version", "0"), 0), (("--timestamp", "2023-11-14 22:13:30"), 1), (("--timestamp", "2023-11-14 22:13:39.999"), 1),
                          (("--timestamp", "2023-11-14T22:13:40Z"), 2)):
        equal(json.loads(ok("show", "t", "--format", "json", *argv).out)["version"], version, str(argv))
        equal(len(ok("files", "t", "--format", "jsonl", *argv).rows()), [0, 2, 3][version], str(argv))
    fails("DELTA_VERSION_NOT_FOUND", "show", "t", "--version", "3")
    fails("DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION", "show", "t", "--timestamp", "2023-11-14 22:13:19")
    fails("DELTA_TIMESTAMP_GREATER_THAN_COMMIT", "show", "t", "--timestamp", "2023-11-14 22:13:40.001")
    fails("DELTA_TIMESTAMP_INVALID", "show", "t", "--timestamp", "garbage")
    equal(json.loads(ok("show", FOLDER + "@v1", "--format", "json").out)["version"], 1)
    equal(json.loads(ok("show", "./%s@20231114221330000" % FOLDER, "--format", "json").out)["version"], 1)


def test_history():
    ok("sql", MAKE)
    rows = ok("history", "t", "--format", "jsonl").rows()
    equal([r["version"] for r in rows], [2, 1, 0])
    equal([r["operation"] for r in rows], ["WRITE", "WRITE", "CREATE TABLE"])
    metrics = dict(rows[0]["operationMetrics"])
    equal((metrics["numFiles"], metrics["numOutputRows"]), ("1", "1"))
    equal(dict(rows[0]["operationParameters"])["mode"], "Append")
    equal((rows[0]["readVersion"], rows[0]["isBlindAppend"], rows[0]["isolationLevel"]), (1, True, "Serializable"))
    equal([r["version"] for r in ok("history", "t", "--limit", "1", "--format", "json").rows()[0:1][0]], [2])
    equal(ok("history", "t", "--limit", "2", "--format", "csv").out.count("\n"), 3)
    ok("history", "t", "-o", "h.jsonl", "--format", "jsonl")
    equal(len(s.read("h.jsonl").splitlines()), 3)


def test_files():
    ok("sql", MAKE)
    rows = ok("files", "t", "--format", "jsonl").rows()
    equal({r["path"].split(FOLDER + "/")[-1].replace("%3D", "=") for r in rows}, s.live_files(FOLDER))
    assert all(r["size"] > 0 for r in rows), rows


def test_schema():
    ok("sql", MAKE)
    schema = json.loads(ok("schema", "t", "--format", "json").out)
    equal([f["name"] for f in schema["fields"]], ["id", "day"])
    rows = ok("schema", "t", "--format", "jsonl").out
    assert '"type":"struct"' in rows or '"col_name"' in rows
    assert "bigint" in ok("schema", "t").out
    ok("sql", "INSERT INTO t WITH ('mergeSchema' = 'true') SELECT 4L AS id, DATE'2026-02-01' AS day, 'x' AS note")
    equal([f["name"] for f in json.loads(ok("schema", "t", "--format", "json").out)["fields"]], ["id", "day", "note"])
    equal([f["name"] for f in json.loads(ok("schema", "t", "--format", "json", "--version", "2").out)["fields"]], ["id", "day"])


def test_checkpoint():
    ok("sql", MAKE)
    done = ok("checkpoint", "t")
    assert "version 2" in done.out, done
    assert os.path.exists(FOLDER + "/_delta_log/%020d.checkpoint.parquet" % 2)
    equal(json.loads(s.read(FOLDER + "/_delta_log/_last_checkpoint"))["version"], 2)
    for v in (0, 1): os.remove(FOLDER + "/_delta_log/%020d.json" % v)
    equal(value("SELECT count(*) FROM t"), 3, "read from the checkpoint")
    ok("checkpoint", "-q", "t")


def test_demo():
    done = ok("demo")
    for text in ("CREATE TABLE readings", "INSERT OVERWRITE", "EXPLAIN", "VERSION AS OF 1", "DESCRIBE HISTORY", "the log says 6 rows"): assert text in done.out, (text, done)
    equal((os.listdir("."), done.err), ([], ""))


def test_demo_keeps_its_folder():
    ok("demo", "kept")
    equal(value("SELECT count(*) FROM readings", "--warehouse", "kept/warehouse"), 6)


if __name__ == "__main__": s.main(globals())
