#!/usr/bin/env python3
"""silt schema --diff and --expect."""
import json, os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import silt_script as s
from silt_script import equal, fails, ok, silt

MAKE = """CREATE TABLE t (id BIGINT NOT NULL, name STRING, n INT, a STRUCT<x: INT, y: STRING>) USING DELTA TBLPROPERTIES ('delta.columnMapping.mode' = 'name', 'delta.enableTypeWidening' = 'true');
ALTER TABLE t ADD COLUMN day DATE;
ALTER TABLE t RENAME COLUMN name TO title;
ALTER TABLE t DROP COLUMN a.y;
ALTER TABLE t ALTER COLUMN n TYPE BIGINT;
ALTER TABLE t ALTER COLUMN id DROP NOT NULL"""


def diff(*versions):
    return [tuple(r[k] for k in ("column", "change", "before", "after", "breaking")) for r in ok("schema", "t", "--diff", *versions, "--format", "jsonl").rows() if r["change"] != "metadata"]


def test_diff():
    ok("sql", MAKE)
    equal(diff(0, 1), [("day", "added", None, "date", False)])
    equal(diff(1, 2), [("title", "renamed", "name", "title", True)])
    equal(diff(2, 3), [("a.y", "dropped", "string", None, True)])
    equal(diff(3, 4), [("n", "type", "int", "bigint", False)])
    equal(diff(4, 5), [("id", "nullability", "not null", "nullable", False)])
    equal(sorted(c[1] for c in diff(0, 5)), ["added", "dropped", "nullability", "renamed", "type"])
    equal(diff(4, 3), [("n", "type", "bigint", "int", True)], "backwards")
    equal(diff("2..3"), [("a.y", "dropped", "string", None, True)])


def test_diff_for_people():
    ok("sql", MAKE)
    out = ok("schema", "t", "--diff", 0, 4).out
    for line in ("+ day  date\n", "~ title  renamed from name  (breaks readers)\n", "- a.y  string  (breaks readers)\n", "~ n  type changed: int, now bigint\n"): assert line in out, (line, out)
    equal(ok("schema", "t", "--diff", 0, 0).out, "versions 0 and 0 have the same columns\n")


def test_diff_of_versions_that_are_not_there():
    ok("sql", MAKE)
    fails("DELTA_VERSION_NOT_FOUND", "schema", "t", "--diff", 0, 99)
    fails(None, "schema", "t", "--diff", "0", code=2)
    fails(None, "schema", "t", "--diff", "a", "b", code=2)
    fails(None, "schema", "t", "--diff", "0..", code=2)
    fails(None, "schema", "t", "--diff", 0, 1, "--version", 1, code=2)


def test_expected():
    ok("sql", "CREATE TABLE t (id BIGINT NOT NULL COMMENT 'key', day DATE, v DECIMAL(10,2)) USING DELTA")
    s.write("now.json", ok("schema", "t", "--format", "json").out)
    for text in ("id BIGINT NOT NULL, day DATE, v DECIMAL(10,2)", "v DECIMAL(10,2), day DATE, id BIGINT NOT NULL"):
        s.write("now.ddl", text)
        equal(ok("schema", "t", "--expect", "now.ddl").out, "the table has the expected columns\n")
    ok("schema", "t", "--expect", "now.json")
    ok("sql", "ALTER TABLE t ADD COLUMN w STRING")
    done = silt("schema", "t", "--expect", "now.json", statuses=(3,))
    equal(done.out, "+ w  string\nthe table does not have the expected columns: 1 difference\n")
    rows = silt("schema", "t", "--expect", "now.json", "--format", "jsonl", statuses=(3,)).rows()
    equal([(r["column"], r["change"]) for r in rows], [("w", "added")])
    ok("schema", "t", "--expect", "now.json", "--version", 0)
    s.write("other.ddl", "id INT NOT NULL, day DATE, v DECIMAL(10,2), w STRING")
    assert "~ id  type changed: int, now bigint\n" in silt("schema", "t", "--expect", "other.ddl", statuses=(3,)).out


def test_expected_that_is_no_schema():
    ok("sql", "CREATE TABLE t (id BIGINT) USING DELTA")
    s.write("bad.json", '{"type":"struct","fields":[{"name":"id"')
    assert silt("schema", "t", "--expect", "bad.json").code == 1
    s.write("bad.ddl", "id BIGINT,, x")
    assert silt("schema", "t", "--expect", "bad.ddl").code == 1
    assert silt("schema", "t", "--expect", "nope.json").code == 1


def test_expected_is_by_name_and_not_by_id():
    ok("sql", "CREATE TABLE t (a BIGINT, b BIGINT) USING DELTA TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
    s.write("now.json", ok("schema", "t", "--format", "json").out)
    ok("sql", "CREATE OR REPLACE TABLE t (b BIGINT, a BIGINT) USING DELTA TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
    ok("schema", "t", "--expect", "now.json")


if __name__ == "__main__": s.main(globals())
