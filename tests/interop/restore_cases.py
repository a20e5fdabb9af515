"""RESTORE, CLONE, GENERATE, and what DESCRIBE HISTORY and DETAIL say: the same statement by Spark on one copy of a table and by Silt on another must leave the same entry in the log,
and each engine goes on with what the other left. Names: restore/…"""
import glob
import json
import os
import shutil

import delta_files
from feature_cases import both_read
from report import Differs, equal
from silt_cli import Failed
from spark_peer import path_table, rows

VOLATILE = ("timestamp", "txnId", "engineInfo", "inCommitTimestamp")


def plain(action):
    """An action without what differs from run to run, with JSON texts read."""
    kind, value = next(iter(action.items()))
    value = dict(value)
    if kind == "commitInfo":
        value = {k: v for k, v in value.items() if k not in VOLATILE}
    if kind == "remove":
        value.pop("deletionTimestamp")
    if kind == "metaData":
        value["schemaString"] = json.loads(value["schemaString"])
        value["configuration"] = dict(sorted(value["configuration"].items()))
    if kind == "protocol":
        value = {k: sorted(v) if isinstance(v, list) else v for k, v in value.items()}
    if kind == "domainMetadata":
        value["configuration"] = json.loads(value["configuration"])
    if isinstance(value.get("stats"), str):
        value["stats"] = json.loads(value["stats"])
    return {kind: value}


def entry(path, drop=()):
    """The newest commit as a sorted list of its actions; drop: keys of metaData that are to differ."""
    out = []
    for action in delta_files.commits(path)[max(delta_files.commits(path))]:
        action = plain(action)
        for key in drop:
            action.get("metaData", {}).pop(key, None)
        for key in [k for k in action.get("metaData", {}).get("configuration", {}) if "inCommitTimestampEnablementTimestamp" in k]:
            action["metaData"]["configuration"].pop(key)
        out.append(action)
    return sorted(out, key=lambda a: json.dumps(a, sort_keys=True))


def history(engine_rows):
    """DESCRIBE HISTORY without time and engine; maps without order."""
    return [[sorted(v, key=str) if isinstance(v, list) else v for i, v in enumerate(r) if i not in (1, 14)] for r in engine_rows]


def described(run, path):
    """Both engines tell the same of a table."""
    t = path_table(path)
    equal("history", history(run.silt.sql("DESCRIBE HISTORY %s" % t)), history(rows(run.spark.sql("DESCRIBE HISTORY %s" % t))))
    one = lambda found: [sorted(v, key=str) if isinstance(v, list) else v for v in found[0]]
    equal("detail", one(run.silt.sql("DESCRIBE DETAIL %s" % t)), one(rows(run.spark.sql("DESCRIBE DETAIL %s" % t))))


TABLES = {
    "plain": ("", ["INSERT INTO @ VALUES (1, 'a', 1), (2, 'b', 2)", "INSERT INTO @ VALUES (3, 'c', 1)", "DELETE FROM @ WHERE p = 1", "INSERT OVERWRITE @ VALUES (9, 'z', 9)"], 2),
    "vectors": ("TBLPROPERTIES ('delta.enableDeletionVectors' = 'true', 'delta.enableChangeDataFeed' = 'true')",
                ["INSERT INTO @ SELECT id, 'a', 1 FROM range(500)", "DELETE FROM @ WHERE id % 3 = 0", "UPDATE @ SET v = 'u' WHERE id % 3 = 1 AND id < 400"], 2),
    "row_ids": ("TBLPROPERTIES ('delta.enableRowTracking' = 'true')",
                ["INSERT INTO @ VALUES (1, 'a', 1), (2, 'b', 2)", "UPDATE @ SET v = 'u' WHERE id = 1", "INSERT INTO @ VALUES (3, 'c', 1)", "ALTER TABLE @ SET TBLPROPERTIES ('delta.enableRowTracking' = 'false')"], 1),
    "upgraded": ("", ["INSERT INTO @ VALUES (1, 'a', 1)", "ALTER TABLE @ SET TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'true', 'k' = 'v')", "ALTER TABLE @ ADD COLUMNS (w INT)",
                      "ALTER TABLE @ SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')", "ALTER TABLE @ RENAME COLUMN v TO x"], 1),
    "times": ("", ["INSERT INTO @ VALUES (1, 'a', 1)", "ALTER TABLE @ SET TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'true')", "INSERT INTO @ VALUES (2, 'b', 1)", "DELETE FROM @ WHERE id = 1"], 3),
}


def restore(run):
    spark, silt = run.spark, run.silt
    for name, (properties, steps, version) in TABLES.items():
        if not run.report.wants("restore/" + name):
            continue
        with run.report.case("restore/" + name):
            ours, theirs = run.fresh("restore_%s_silt" % name), run.fresh("restore_%s_spark" % name)
            t, u = path_table(ours), path_table(theirs)
            silt.sql("; ".join(s.replace("@", t) for s in ["CREATE TABLE @ (id INT, v STRING, p INT) USING DELTA PARTITIONED BY (p) " + properties] + steps))
            shutil.copytree(ours, theirs)
            want = rows(spark.sql("RESTORE %s TO VERSION AS OF %d" % (u, version)))
            equal("result", silt.sql("RESTORE %s TO VERSION AS OF %d" % (t, version)), want)
            equal("entry", entry(ours), entry(theirs))
            described(run, ours)
            spark.sql("INSERT INTO %s VALUES (100, 'spark', 1)" % t)
            silt.sql("INSERT INTO %s VALUES (100, 'spark', 1)" % u)
            both_read(run, "rows", "SELECT * FROM %s" % t)
            equal("the same in both", silt.sql("SELECT * FROM %s ORDER BY 1, 2, 3" % u), silt.sql("SELECT * FROM %s ORDER BY 1, 2, 3" % t))


def clustered(run):
    with run.report.case("restore/clustered"):
        ours, theirs = run.fresh("restore_clustered_silt"), run.fresh("restore_clustered_spark")
        t, u = path_table(ours), path_table(theirs)
        run.silt.sql("CREATE TABLE @ (a INT, b STRING) USING DELTA; INSERT INTO @ VALUES (1, 'x'); ALTER TABLE @ CLUSTER BY (b); ALTER TABLE @ CLUSTER BY (a, b); INSERT INTO @ VALUES (2, 'y')".replace("@", t))
        shutil.copytree(ours, theirs)
        for version in (2, 1, 3):
            run.spark.sql("RESTORE %s TO VERSION AS OF %d" % (u, version))
            run.silt.sql("RESTORE %s TO VERSION AS OF %d" % (t, version))
            equal("entry of %d" % version, entry(ours), entry(theirs))
        described(run, ours)


def clone(run):
    source = run.fresh("clone_source")
    s = path_table(source)
    run.silt.sql("""CREATE TABLE @ (id INT, v STRING, p STRING) USING DELTA PARTITIONED BY (p) COMMENT 'source' TBLPROPERTIES ('k' = 'v', 'delta.enableDeletionVectors' = 'true', 'delta.enableChangeDataFeed' = 'true');
        INSERT INTO @ SELECT id, 'a', CASE WHEN id % 2 = 0 THEN 'x y/z%' END FROM range(60000); DELETE FROM @ WHERE id % 5 = 0""".replace("@", s))
    for name, step in (("restore/shallow_clone", lambda: shallow_clone(run, s)), ("restore/clone_with_row_ids", lambda: clone_with_row_ids(run))):
        if run.report.wants(name): step()
    if run.report.wants("restore/deep_clone"):
        deep_clone(run, s)


def shallow_clone(run, s):
    spark, silt = run.spark, run.silt
    with run.report.case("restore/shallow_clone"):
        ours, theirs = run.fresh("clone_silt"), run.fresh("clone_spark")
        t, u = path_table(ours), path_table(theirs)
        want = rows(spark.sql("CREATE TABLE %s SHALLOW CLONE %s TBLPROPERTIES ('k' = 'w', 'delta.appendOnly' = 'false')" % (u, s)))
        equal("result", silt.sql("CREATE TABLE %s SHALLOW CLONE %s TBLPROPERTIES ('k' = 'w', 'delta.appendOnly' = 'false')" % (t, s)), want)
        equal("entry", entry(ours, ["id"]), entry(theirs, ["id"]))
        described(run, ours)
        spark.sql("DELETE FROM %s WHERE id = 7" % t)
        silt.sql("DELETE FROM %s WHERE id = 7; UPDATE %s SET v = 'b' WHERE id = 8" % (u, u))
        spark.sql("UPDATE %s SET v = 'b' WHERE id = 8" % t)
        both_read(run, "rows", "SELECT * FROM %s" % t)
        both_read(run, "rows of Spark's clone", "SELECT * FROM %s" % u)


def clone_with_row_ids(run):
    spark, silt = run.spark, run.silt
    with run.report.case("restore/clone_with_row_ids"):
        ours, theirs, other = run.fresh("clone_ids_silt"), run.fresh("clone_ids_spark"), run.fresh("clone_ids")
        t, u, o = path_table(ours), path_table(theirs), path_table(other)
        silt.sql("""CREATE TABLE @ (a INT, b STRING) USING DELTA CLUSTER BY (b) TBLPROPERTIES ('delta.enableRowTracking' = 'true', 'delta.enableInCommitTimestamps' = 'true', 'delta.columnMapping.mode' = 'name');
            INSERT INTO @ VALUES (1, 'x'), (2, 'y'); UPDATE @ SET b = 'z' WHERE a = 1""".replace("@", o))
        spark.sql("CREATE TABLE %s SHALLOW CLONE %s" % (u, o))
        silt.sql("CREATE TABLE %s SHALLOW CLONE %s" % (t, o))

        def unnamed(path):
            text = json.dumps(entry(path, ["id"]))
            for key in ("materializedRowIdColumnName", "materializedRowCommitVersionColumnName"):
                text = text.replace(delta_files.newest(path, "metaData")["configuration"]["delta.rowTracking." + key], key)
            return text
        equal("entry", unnamed(ours), unnamed(theirs))
        spark.sql("INSERT INTO %s VALUES (3, 's')" % t)
        both_read(run, "rows", "SELECT *, _metadata.row_id FROM %s" % t)


def deep_clone(run, s):
    spark, silt = run.spark, run.silt
    with run.report.case("restore/deep_clone"):
        ours = run.fresh("clone_deep")
        t = path_table(ours)
        silt.sql("CREATE TABLE %s DEEP CLONE %s" % (t, s))
        silt.sql("INSERT INTO %s VALUES (1000, 'n', 'q'); DELETE FROM %s WHERE id = 1" % (s, s))
        silt.sql("CREATE OR REPLACE TABLE %s DEEP CLONE %s" % (t, s))
        equal("copied the second time", delta_files.newest(ours, "commitInfo")["operationMetrics"]["numCopiedFiles"], "2")      # the new file, and the one with another vector
        equal("nothing of the source is named", [a["path"] for _, a in delta_files.actions(ours, "add") if a["path"].startswith("file:") or "://" in a["path"]], [])
        got = both_read(run, "rows", "SELECT * FROM %s" % t)
        equal("as the source", got, sorted(silt.sql("SELECT * FROM %s" % s), key=str))
        spark.sql("UPDATE %s SET v = 'spark' WHERE id = 2" % t)
        both_read(run, "rows that Spark changed", "SELECT * FROM %s" % t)
        described(run, ours)


def manifests(path):
    out = {}
    root = os.path.join(path, "_symlink_format_manifest")
    for f in glob.glob(root + "/**/manifest", recursive=True):
        out[os.path.relpath(f, root)] = sorted(open(f, encoding="utf-8").read().splitlines(True))
    return out


def generate(run):
    spark, silt = run.spark, run.silt
    with run.report.case("restore/generate"):
        path = run.fresh("generate")
        t = path_table(path)
        silt.sql("CREATE TABLE @ (a INT, s STRING, d DATE, t TIMESTAMP) USING DELTA PARTITIONED BY (s, d, t); INSERT INTO @ VALUES (1, 'a b', DATE'2020-01-01', TIMESTAMP'2020-01-01 01:02:03.5'), "
                 "(2, null, null, null), (3, 'x=y/z%é', DATE'2020-01-02', null), (4, 'gone', null, null)".replace("@", t))
        spark.sql("GENERATE symlink_format_manifest FOR TABLE %s" % t)
        theirs, read = manifests(path), lambda: sorted(r[0] for r in spark.read.text(os.path.join(run.at(path), "_symlink_format_manifest", "*", "*", "*", "manifest")).collect())
        want = read()
        silt.sql("GENERATE symlink_format_manifest FOR TABLE %s" % t)
        equal("manifests", manifests(path), theirs)
        equal("Hadoop reads what Silt wrote over", read(), want)
        equal("a file of each partition", len(set(want)), 4)
        silt.sql("DELETE FROM %s WHERE s = 'gone'; GENERATE symlink_format_manifest FOR TABLE %s" % (t, t))
        equal("the partition is gone", sorted(theirs.keys() - manifests(path).keys()), ["s=gone/d=__HIVE_DEFAULT_PARTITION__/t=__HIVE_DEFAULT_PARTITION__/manifest"])


def manifests_kept(run):
    spark, silt = run.spark, run.silt
    with run.report.case("restore/manifests_kept"):
        path = run.fresh("manifests_kept")
        t = path_table(path)
        silt.sql("CREATE TABLE @ (a INT, p INT) USING DELTA PARTITIONED BY (p) TBLPROPERTIES ('delta.compatibility.symlinkFormatManifest.enabled' = 'true'); INSERT INTO @ VALUES (1, 1), (2, 2)".replace("@", t))
        spark.sql("INSERT INTO %s VALUES (3, 2), (4, 3)" % t)
        silt.sql("DELETE FROM %s WHERE p = 1; UPDATE %s SET a = 5 WHERE p = 3" % (t, t))
        kept = manifests(path)
        spark.sql("GENERATE symlink_format_manifest FOR TABLE %s" % t)
        equal("as a full run", kept, manifests(path))
        equal("partitions", sorted(kept), ["p=2/manifest", "p=3/manifest"])
        try:
            silt.sql("ALTER TABLE %s SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')" % t)
            raise Differs("deletion vectors beside manifests are not refused")
        except Failed as e:
            equal("vectors", e.condition().split(".")[0], "DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED")


STEPS = ((restore, ["restore/" + n for n in TABLES]), (clustered, ["restore/clustered"]), (clone, ["restore/shallow_clone", "restore/clone_with_row_ids", "restore/deep_clone"]),
         (generate, ["restore/generate"]), (manifests_kept, ["restore/manifests_kept"]))


def run_all(run):
    if run.silt.name != "silt":
        return run.report.skip("restore", "compares with Spark itself")
    for step, names in STEPS:
        if any(run.report.wants(name) for name in names):
            try:
                step(run)
            except Exception as e:
                run.report.not_ok("restore/" + step.__name__, repr(e))
    return None
