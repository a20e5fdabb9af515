"""OPTIMIZE and REORG: Spark makes a table, Silt works on one copy of it and Spark on another; the answer's row and the log's entry must be the same but for the new files' sizes, the rows
must be, and each engine goes on with what the other left. Names: optimize/…"""
import json
import shutil

import delta_files
from report import equal
from spark_peer import path_table, rows

VECTORS, TRACKED = "'delta.enableDeletionVectors' = 'true'", "'delta.enableRowTracking' = 'true', 'delta.columnMapping.mode' = 'name', 'delta.enableChangeDataFeed' = 'true'"

# name, columns and properties, how Spark fills it, statements, session settings
TABLES = (
    ("partitions", "(p INT, q STRING, ts TIMESTAMP, a INT, s STRING) USING DELTA PARTITIONED BY (p, q, ts) TBLPROPERTIES (%s)" % VECTORS,
     ["INSERT INTO {t} VALUES (1, 'x', TIMESTAMP'2020-01-01 00:00:00', 0, 'a'), (2, 'y z', null, 0, 'b'), (3, null, null, 7, 'c')",
      "INSERT INTO {t} VALUES (1, 'x', TIMESTAMP'2020-01-01 00:00:00', 1, 'a'), (2, 'y z', null, 1, 'b'), (3, '', null, 8, null)",
      "INSERT INTO {t} SELECT 1, 'x', TIMESTAMP'2020-01-01 00:00:00', CAST(id AS INT), 's' FROM range(0, 40, 1, 1)", "DELETE FROM {t} WHERE a BETWEEN 5 AND 20"],
     ["OPTIMIZE {t} WHERE p = 1 AND q = 'x'", "OPTIMIZE {t} WHERE q IS NULL", "OPTIMIZE {t} WHERE p IN (2, 3) OR p >= 10", "OPTIMIZE {t}", "OPTIMIZE {t} WHERE p = 1 ZORDER BY (a, s)", "OPTIMIZE {t}"], {}),
    ("batches", "(p INT, a INT) USING DELTA PARTITIONED BY (p)", ["INSERT INTO {t} VALUES (1, 1), (2, 2), (3, 3)", "INSERT INTO {t} VALUES (1, 4), (2, 5), (3, 6)"], ["OPTIMIZE {t}", "OPTIMIZE {t}"],
     {"spark.databricks.delta.optimize.batchSize": "1"}),
    ("features", "(id BIGINT, g STRUCT<a: INT, b: ARRAY<STRING>>, gone INT) USING DELTA TBLPROPERTIES (%s, %s)" % (VECTORS, TRACKED),
     ["INSERT INTO {t} SELECT id, named_struct('a', CAST(id AS INT), 'b', array('x', null)), 1 FROM range(0, 20, 1, 1)", "INSERT INTO {t} SELECT id, null, 2 FROM range(20, 40, 1, 1)",
      "DELETE FROM {t} WHERE id % 3 = 0", "UPDATE {t} SET gone = 3 WHERE id = 4", "ALTER TABLE {t} DROP COLUMN gone"],
     ["REORG TABLE {t} APPLY (PURGE)", "REORG TABLE {t} APPLY (PURGE)", "OPTIMIZE {t}"], {}),
    ("clustered", "(id BIGINT, v INT) USING DELTA CLUSTER BY (v, id)", ["INSERT INTO {t} SELECT id, CAST(id % 7 AS INT) FROM range(0, 50, 1, 2)"], ["OPTIMIZE {t}", "OPTIMIZE {t}", "OPTIMIZE {t} FULL"], {}),
)
OPERATION_KEYS = ("operation", "operationParameters", "readVersion", "isolationLevel", "isBlindAppend", "tags")
EXACT = ("numRemovedFiles", "numRemovedBytes", "numDeletionVectorsRemoved", "numAddedFiles")


def answer(row):
    """The metrics without time and the size of what was written, in their order of fields."""
    metrics = dict(row[1])
    metrics["filesAdded"] = {"totalFiles": metrics["filesAdded"]["totalFiles"]}
    metrics["startTimeMs"] = 0
    return json.dumps(metrics)


def commit(path, version):
    """One entry, of the sizes only what must hold."""
    info = next(a["commitInfo"] for a in delta_files.commits(path)[version] if "commitInfo" in a)
    metrics = info["operationMetrics"]
    sizes = [int(metrics[k]) for k in ("minFileSize", "p25FileSize", "p50FileSize", "p75FileSize", "maxFileSize")]
    equal("sizes in order", sizes, sorted(sizes))
    adds = [a["add"] for a in delta_files.commits(path)[version] if "add" in a]
    equal("bytes", int(metrics["numAddedBytes"]), sum(a["size"] for a in adds))
    equal("no rows change", {a[k]["dataChange"] for a in delta_files.commits(path)[version] for k in ("add", "remove") if k in a}, {False})
    return [{k: info.get(k) for k in OPERATION_KEYS}, {k: metrics[k] for k in EXACT}, sorted(metrics), sorted(a["remove"]["path"] for a in delta_files.commits(path)[version] if "remove" in a and len(adds) == 0)]


def added(path, version):
    """What the log says of the new files' rows."""
    names = delta_files.physical_names(json.loads(delta_files.newest(path, "metaData")["schemaString"]))
    return sorted(json.dumps([sorted(a["add"]["partitionValues"].items(), key=str), delta_files.statistics(a["add"], names), a["add"].get("clusteringProvider"), sorted(a["add"].get("tags") or {})], sort_keys=True)
                  for a in delta_files.commits(path)[version] if "add" in a)


def spark_sql(spark, statement, conf):
    for k, v in conf.items():
        spark.conf.set(k, v)
    try:
        return rows(spark.sql(statement))
    finally:
        for k in conf:
            spark.conf.unset(k)


def same_steps(run, name, columns, fill, statements, conf):
    spark, silt = run.spark, run.silt
    path, ours = run.fresh("optimize_" + name), run.fresh("optimize_%s_silt" % name)
    spark.sql("CREATE TABLE %s %s" % (path_table(path), columns))
    for s in fill:
        spark.sql(s.format(t=path_table(path)))
    tracked = "enableRowTracking" in columns
    contents = lambda engine, p: sorted(engine("SELECT *%s FROM %s" % (", _metadata.row_id, _metadata.row_commit_version" if tracked else "", path_table(p))), key=str)
    before = contents(silt.sql, path)
    for s in statements:
        # both from the same files: what Spark left
        shutil.rmtree(ours, ignore_errors=True)
        shutil.copytree(path, ours)
        version = max(delta_files.commits(path))
        got, want = silt.sql(s.format(t=path_table(ours)), conf=conf)[0], spark_sql(spark, s.format(t=path_table(path)), conf)[0]
        equal("answer of " + s, answer(got), answer(want))
        equal("versions after " + s, max(delta_files.commits(ours)), max(delta_files.commits(path)))
        for v in range(version + 1, max(delta_files.commits(path)) + 1):
            equal("entry of " + s, commit(ours, v)[:3], commit(path, v)[:3])
            if "ZORDER" not in s and "CLUSTER" not in columns and "batches" != name:
                equal("files of " + s, added(ours, v), added(path, v))
        equal("rows after " + s, contents(silt.sql, ours), before)
    read = lambda p: sorted(rows(spark.sql("SELECT *%s FROM %s" % (", _metadata.row_id, _metadata.row_commit_version" if tracked else "", path_table(p)))), key=str)
    equal("Spark's rows of what Silt wrote", read(ours), before)
    # each goes on with what the other left
    for by, left in ((spark.sql, ours), (silt.sql, path)):
        t = path_table(left)
        by("INSERT INTO %s SELECT * FROM %s" % (t, t))
        by("OPTIMIZE " + t)
        by("DELETE FROM %s WHERE true" % t if "id" not in columns else "DELETE FROM %s WHERE id > 10" % t)
        equal("rows in the end", contents(silt.sql, left), read(left))


def auto_compaction(run):
    """After the write that fills a partition up, both compact it and say so in the same words."""
    conf, infos = {"spark.databricks.delta.autoCompact.minNumFiles": "3"}, []
    for engine in ("spark", "silt"):
        path = run.fresh("auto_" + engine)
        sql = run.silt.sql if engine == "silt" else lambda s, conf: spark_sql(run.spark, s, conf)
        sql("CREATE TABLE %s (p INT, q STRING, a INT) USING DELTA PARTITIONED BY (p, q) TBLPROPERTIES ('delta.autoOptimize.autoCompact' = 'true')" % path_table(path), conf)
        for i in range(4):
            sql("INSERT INTO %s VALUES (1, null, %d)" % (path_table(path), i), conf)
        infos.append([[{k: i.get(k) for k in OPERATION_KEYS}, {k: i["operationMetrics"].get(k) for k in ("numRemovedFiles", "numAddedFiles")}] for v, i in delta_files.actions(path, "commitInfo") if v > 0])
        equal("rows", sorted(run.silt.sql("SELECT a FROM " + path_table(path))), [[0], [1], [2], [3]])
    equal("history", infos[1], infos[0])


def run_all(run):
    if not run.report.wants_any("optimize"):
        return
    for name, columns, fill, statements, conf in TABLES:
        if not run.report.wants("optimize/" + name): continue
        with run.report.case("optimize/" + name):
            same_steps(run, name, columns, fill, statements, conf)
    if not run.report.wants("optimize/auto"): return
    with run.report.case("optimize/auto"):
        auto_compaction(run)
