#!/usr/bin/env python3
"""The verbs that only make a statement: what they say, their rows, their options, and names that try to be more than names."""
import json, os, shutil, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import silt_script as s
from silt_script import equal, fails, ok, silt, sql, value, versions

VERBS = ("optimize", "vacuum", "restore", "convert", "clone", "repair", "purge", "generate", "publish")
T = "spark-warehouse/t"


def make(n=4, name="t", properties=""):
    ok("sql", ";".join(["CREATE TABLE %s (id BIGINT, day STRING) USING DELTA PARTITIONED BY (day)%s" % (name, properties)] + ["INSERT INTO %s VALUES (%d, '%s')" % (name, i, "ab"[i % 2]) for i in range(n)]))


def ids(table="t"):
    return [r["id"] for r in sql("SELECT id FROM %s ORDER BY id" % table)]


def operations(table="t"):
    return [r["operation"] for r in sql("DESCRIBE HISTORY %s" % table)]


def parameters(table="t"):
    return dict(sql("DESCRIBE HISTORY %s LIMIT 1" % table)[0]["operationParameters"])


def test_help_of_each():
    listed = ok("help").out
    for verb in VERBS:
        text = ok("help", verb).out
        assert text.startswith("silt %s " % verb) and "\n  silt %s " % verb in text, text
        assert "\n  %s " % verb in listed, verb
        equal(ok(verb, "--help").out, text)
        fails(None, verb, code=2)
        fails(None, verb, "a", "b", "c", code=2)
        fails(None, verb, "t", "--no-such-option", code=2)


def test_optimize():
    make(6)
    assert ok("optimize", "t", "--where", "day = 'a'").out.startswith("compacted 3 files ("), operations()
    assert "day" in parameters()["predicate"], parameters()
    equal(len(s.live_files(T)), 4)
    assert " into 1 (" in ok("optimize", "t").out
    equal(ok("optimize", "t").out, "nothing to do: the files are as they should be\n")
    equal((len(s.live_files(T)), ids()), (2, list(range(6))))
    rows = ok("optimize", T, "--format", "jsonl").rows()
    equal(list(rows[0]), ["path", "metrics"])
    equal(rows[0]["metrics"]["numFilesAdded"], 0)


def test_optimize_zorder():
    make(4)
    assert ok("optimize", "t", "--zorder", "id").out.startswith("ordered 4 files")
    equal(parameters()["zOrderBy"], '["id"]')
    fails(None, "optimize", "t", "--zorder", "nope")
    equal(ids(), list(range(4)))


def test_vacuum():
    make(4)
    ok("optimize", "t")
    for n in s.data_files(T): os.utime(os.path.join(T, n), (1, 1))
    fails(None, "vacuum", "t", "--retain", "0h")
    off = ("--conf", "spark.databricks.delta.retentionDurationCheck.enabled=false")
    listed = ok("vacuum", "t", "--dry-run", "--retain", "0", *off, "--format", "jsonl").rows()
    equal(len(listed), 4)
    equal(len(s.data_files(T)), 6)
    said = ok("vacuum", "t", "--dry-run", "--retain", "0", *off).out
    assert said.count(".parquet") == 4, said
    ok("vacuum", "t", "--retain", "0h", *off)
    equal((sorted(s.data_files(T)), ids()), (sorted(s.live_files(T)), list(range(4))))
    for bad in ("-1h", "7w", "h", "", "1e", "7dd", "0x10"): fails(None, "vacuum", "t", "--retain", bad, code=2)
    fails(None, "vacuum", "t", "--full", "--lite", code=2)


def test_restore():
    make(4)
    said = ok("restore", "t", "--version", 2).out
    assert said.startswith("restored: 0 files brought back") and "2 taken out" in said, said
    equal(ids(), [0, 1])
    equal(ok("restore", "t", "--version", 4, "--format", "jsonl").rows()[0]["num_restored_files"], 2)
    fails(None, "restore", "t", code=2)
    fails(None, "restore", "t", "--version", 1, "--timestamp", "2026-01-01", code=2)
    fails(None, "restore", "t", "--version", 99)
    equal(ids(), [0, 1, 2, 3])


def test_convert():
    make(4)
    os.makedirs("pq/n=1")
    os.makedirs("pq/n=2")
    for i, name in enumerate(sorted(s.live_files(T))): os.rename(os.path.join(T, name), "pq/n=%d/%d.parquet" % (1 + i % 2, i))
    done = ok("convert", "./pq", "--partitioned-by", "n INT", "--verify")
    assert "every count is the same" in done.out and " rows before, " in done.out, done
    equal(value("SELECT count(*) FROM delta.`%s/pq` WHERE n = 2" % os.getcwd()), 2)
    ok("convert", "pq/", "--partitioned-by", "n INT")  # a no-op
    for verb in ("optimize", "history", "doctor"): assert "./pq" in fails("TABLE_OR_VIEW_NOT_FOUND", verb, "pq").err, verb


def test_clone():
    make(3)
    assert "shared with it" in ok("clone", "t", "shallow").out
    assert "3 of them copied" in ok("clone", "t", "./deep/er", "--deep").out
    equal((ids("shallow"), ids("delta.`%s/deep/er`" % os.getcwd())), ([0, 1, 2],) * 2)
    ok("clone", "t", "old", "--version", 1)
    equal(ids("old"), [0])
    fails(None, "clone", "t", "old")
    for more in ((), ("--deep",)): # a Delta table is not "also not a Delta table", and CONVERT is no way out
        told = fails("DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION", "clone", "t", "./deep/er", *more).err
        assert "holds a Delta table already" in told and "--replace" in told and "CONVERT" not in told, told
    equal(ids("delta.`%s/deep/er`" % os.getcwd()), [0, 1, 2])
    shutil.copytree("deep/er", "spark-warehouse/leftover")
    told = fails("DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION", "sql", "CREATE TABLE leftover (id BIGINT) USING DELTA").err
    assert "holds a Delta table already" in told and "LOCATION" in told, told
    ok("sql", "CREATE TABLE leftover USING DELTA LOCATION '%s/spark-warehouse/leftover'" % os.getcwd()) # as the hint says
    equal(ids("leftover"), [0, 1, 2])
    ok("sql", "INSERT INTO t VALUES (9, 'b')")
    assert "1 of them copied" in ok("clone", "t", "./deep/er", "--deep", "--replace").out
    equal(ids("delta.`%s/deep/er`" % os.getcwd()), [0, 1, 2, 9])


def test_repair():
    make(3)
    gone = sorted(s.live_files(T))[0]
    os.remove(os.path.join(T, gone))
    before = versions(T)
    dry = ok("repair", "t", "--dry-run").out
    assert os.path.basename(gone) in dry, dry
    equal(versions(T), before)
    ok("repair", "t")
    equal(len(ids()), 2)


def test_purge():
    make(2, properties=" TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
    ok("sql", "INSERT INTO t SELECT id, 'a' FROM range(100); DELETE FROM t WHERE id = 7")
    assert ok("purge", "t").out.startswith("rewrote 1 file"), operations()
    equal(ok("purge", "t").out, "nothing to do: no file hides deleted rows\n")


def test_generate_and_publish():
    make(3)
    ok("generate", "t")
    assert os.path.isdir(T + "/_symlink_format_manifest")
    ok("publish", "t", "copy of it")
    equal(value("SELECT count(*) FROM parquet.`%s/copy of it`" % os.getcwd()), 3)


def test_quiet_and_output():
    make(2)
    equal(ok("optimize", "t", "-q").out, "")
    equal(ok("restore", "t", "--version", 1, "-o", "rows.json", "--format", "json").out, "")
    equal(list(json.loads(s.read("rows.json"))[0])[0], "table_size_after_restore")
    fails(None, "optimize", "t", "--format", "parquet", code=2)


# ---- names that try to be more ----

def test_names_stay_names():
    make(2)
    make(2, name="`o'hara``; DROP TABLE t; --`")
    before = operations()
    for i, evil in enumerate(("t; DROP TABLE t", "t ZORDER BY (id)", "t DRY RUN", "t RETAIN 0 HOURS", "t -- ", "t/*", "t WHERE 1 = 1", "`t` FULL", "t` FULL", "", ".", "t.", "delta.`x` FULL", "`t")):
        for verb in {VERBS[i % len(VERBS)], "optimize", "vacuum"}:  # they share one way of naming a table
            more = {"restore": ["--version", "0"], "clone": ["c"], "publish": ["p"]}.get(verb, [])
            done = silt(verb, evil, *more)
            assert done.code in (1, 2), (verb, evil, str(done))
    equal(operations(), before)
    equal(ids(), [0, 1])
    ok("optimize", "`o'hara``; DROP TABLE t; --`")
    ok("vacuum", "default.`o'hara``; DROP TABLE t; --`", "--dry-run")
    equal(ids(), [0, 1])


def test_paths_stay_paths():
    folder = "x`; DROP TABLE t; --'\\ %20"
    make(1)
    ok("sql", stdin="CREATE TABLE delta.`%s/%s` (id BIGINT) USING DELTA; INSERT INTO delta.`%s/%s` VALUES (1)" % ((os.getcwd(), folder.replace("`", "``")) * 2))
    ok("optimize", "./" + folder)
    ok("vacuum", os.getcwd() + "/" + folder, "--dry-run")
    ok("clone", "./" + folder, "./clone " + folder, "--deep")
    ok("doctor", "./" + folder)
    ok("publish", "./" + folder, "./out " + folder)
    assert os.path.isdir("out " + folder) and os.path.isdir("clone " + folder), os.listdir(".")
    equal(ids(), [0])


def test_predicates_stay_predicates():
    make(2)
    fails(None, "optimize", "t", "--where", "day = 'a'; DROP TABLE t")
    fails(None, "optimize", "t", "--where", "day = 'a' ZORDER BY (id)", "--zorder", "id")
    ok("optimize", "t", "--where", "day = 'a' -- comment", "--zorder", "id")
    equal(parameters()["zOrderBy"], '["id"]')
    fails(None, "optimize", "t", "--zorder", "id) -- ")
    fails(None, "optimize", "t", "--zorder", "id` , `day", code=2)
    fails(None, "restore", "t", "--timestamp", "2026-01-01' OR '1")
    equal(ids(), [0, 1])


if __name__ == "__main__": s.main(globals())
