"""Clustered tables and Z-order by turns: what one engine has clustered the other takes as clustered, both choose the same files, and rows never change. Names: cluster/…"""
import json

import delta_files
from feature_cases import both_read, fails
from report import equal
from spark_peer import path_table, rows

NO_CUBE_IS_SMALL = {"spark.databricks.delta.optimize.clustering.mergeStrategy.minCubeSize.threshold": "1",
                    "spark.databricks.delta.optimize.clustering.mergeStrategy.minCubeSize.targetCubeSize": "1000000"}


def live_files(path):
    """{path: add} after all commits (no checkpoint is younger than these tables' first commit)."""
    out = {}
    for _, actions in sorted(delta_files.commits(path).items()):
        for a in actions:
            if "remove" in a:
                out.pop(a["remove"]["path"], None)
        for a in actions:
            if "add" in a:
                out[a["add"]["path"]] = a["add"]
    return out


def cubes(path):
    """Files of each cube, as a sorted list of numbers; and those of none."""
    counts, none = {}, 0
    for add in live_files(path).values():
        tags = add.get("tags") or {}
        if "ZCUBE_ID" not in tags:
            none += 1
            continue
        equal("provider", add.get("clusteringProvider"), "liquid")
        key = (tags["ZCUBE_ID"], tags["ZCUBE_ZORDER_BY"])
        counts[key] = counts.get(key, 0) + 1
    return sorted((json.loads(by), n) for (_, by), n in counts.items()), none


def spark_sql(spark, statement, conf=()):
    for k, v in dict(conf).items():
        spark.conf.set(k, v)
    try:
        return rows(spark.sql(statement))
    finally:
        for k in dict(conf):
            spark.conf.unset(k)


def stats_of(row):
    return json.loads(json.dumps(row[1]))["clusteringStats"]


def taken(row):
    """How many files left, how many came, and of which kinds they were."""
    s = stats_of(row)
    return [row[1]["numFilesRemoved"], s and [s["inputZCubeFiles"]["numFiles"], s["inputOtherFiles"]["numFiles"], s["inputNumZCubes"], s["mergedFiles"]["numFiles"], s["numOutputZCubes"]]]


def by_turns(run, first):
    """The same story whoever begins: small cubes grow with what is new, one cube alone is left as it is, other columns need FULL."""
    engines = {"spark": lambda s: spark_sql(run.spark, s), "silt": run.silt.sql}
    one, other = engines[first], engines["silt" if first == "spark" else "spark"]
    path = run.fresh("cluster_turns_" + first)
    t = path_table(path)
    one("CREATE TABLE %s (id BIGINT, a INT, b STRING, g STRUCT<x: INT>) USING DELTA CLUSTER BY (a, g.x)" % t)
    insert = "INSERT INTO %s SELECT id, CAST(id %% 17 AS INT), concat('b', id), named_struct('x', CAST(id %% 5 AS INT)) FROM range(%d, %d)"
    one(insert % (t, 0, 500))
    one(insert % (t, 500, 1000))
    new = len(live_files(path))
    equal("first", taken(one("OPTIMIZE " + t)[0]), [new, [0, new, 0, new, 1]])
    equal("one cube", cubes(path), ([(["a", "g.x"], 1)], 0))
    equal("again by the other", taken(other("OPTIMIZE " + t)[0]), [0, [1, 0, 1, 0, 0]])
    other(insert % (t, 1000, 1500))
    new = len(live_files(path)) - 1
    equal("new rows and the small cube", taken(other("OPTIMIZE " + t)[0]), [new + 1, [1, new, 1, new + 1, 1]])
    equal("still one", cubes(path), ([(["a", "g.x"], 1)], 0))
    equal("again by the first", taken(one("OPTIMIZE " + t)[0]), [0, [1, 0, 1, 0, 0]])
    one("ALTER TABLE %s CLUSTER BY (id)" % t)
    one(insert % (t, 1500, 2000))
    new = len(live_files(path)) - 1
    equal("the old cube stays", taken(other("OPTIMIZE " + t)[0]), [new, [0, new + 1, 0, new, 1]])
    equal("two kinds", cubes(path), ([(["a", "g.x"], 1), (["id"], 1)], 0))
    equal("FULL takes it", taken(one("OPTIMIZE %s FULL" % t)[0]), [2, [2, 0, 2, 2, 1]])
    equal("one kind", cubes(path), ([(["id"], 1)], 0))
    equal("nothing is left for FULL", taken(other("OPTIMIZE %s FULL" % t)[0])[0], 0)
    equal("rows", both_read(run, "sums", "SELECT count(*), sum(id), sum(a), sum(g.x), count(distinct b) FROM " + t), [[2000, 1999000, sum(i % 17 for i in range(2000)), sum(i % 5 for i in range(2000)), 2000]])
    equal("domain", [json.loads(d["configuration"])["clusteringColumns"] for _, d in delta_files.actions(path, "domainMetadata")][-1], [["id"]])


def large_cubes(run):
    """Cubes that have their size are left alone by both."""
    path = run.fresh("cluster_large")
    t = path_table(path)
    engines = (lambda s: spark_sql(run.spark, s, NO_CUBE_IS_SMALL), lambda s: run.silt.sql(s, conf=NO_CUBE_IS_SMALL))
    engines[0]("CREATE TABLE %s (id BIGINT, a INT) USING DELTA CLUSTER BY (id, a) TBLPROPERTIES ('delta.columnMapping.mode' = 'name', 'delta.enableDeletionVectors' = 'true', 'delta.enableRowTracking' = 'true')" % t)
    for i in range(4):
        engines[i % 2]("INSERT INTO %s SELECT id, CAST(id %% 7 AS INT) FROM range(%d, %d)" % (t, 100 * i, 100 * i + 100))
        new = len(live_files(path)) - i
        equal("round %d" % i, taken(engines[(i + 1) % 2]("OPTIMIZE " + t)[0]), [new, [i, new, i, new, 1]])
        equal("cubes %d" % i, cubes(path), ([(["id", "a"], 1)] * (i + 1), 0))
    engines[1]("DELETE FROM %s WHERE id %% 3 = 0" % t)
    both_read(run, "row ids", "SELECT id, a, _metadata.row_id FROM " + t)


def zorder(run):
    """By Silt, by Spark, and twice: rows and row ids stay, and conditions read fewer files."""
    path = run.fresh("cluster_zorder")
    t = path_table(path)
    spark, silt = run.spark, run.silt
    small = {"spark.databricks.delta.optimize.maxFileSize": "60000"}
    spark.sql("CREATE TABLE %s (p INT, x INT, y STRING, n DECIMAL(20, 3), w TIMESTAMP) USING DELTA PARTITIONED BY (p) TBLPROPERTIES ('delta.columnMapping.mode' = 'name', 'delta.enableDeletionVectors' = 'true', 'delta.enableRowTracking' = 'true')" % t)
    spark.sql("INSERT INTO %s SELECT CAST(id %% 2 AS INT), CAST((id * 7919) %% 20000 AS INT), IF(id %% 50 = 0, NULL, concat('value ', lpad((id * 104729) %% 20011, 6, '0'))), CAST(id AS DECIMAL(20, 3)), CAST(id AS TIMESTAMP) FROM range(0, 40000, 1, 4)" % t)
    spark.sql("DELETE FROM %s WHERE x %% 10 = 3" % t)
    query = "SELECT p, x, y, n, w, _metadata.row_id FROM " + t
    before = both_read(run, "before", query)
    files = len(live_files(path))
    row = silt.sql("OPTIMIZE %s ZORDER BY (x, y, w)" % t, conf=small)[0]
    equal("all files", row[1]["numFilesRemoved"], files)
    equal("zOrderStats", row[1]["zOrderStats"]["inputOtherFiles"]["num"], files)
    made = len(live_files(path))
    if made < 8:
        raise AssertionError("only %d files" % made)
    equal("after Silt", both_read(run, "after Silt", query) == before, True)
    narrow = "SELECT count(*) FROM %s WHERE p = 1 AND x BETWEEN 5000 AND 5500" % t
    both_read(run, "narrow", narrow)
    plan = "\n".join(str(r[0]) for r in silt.sql("EXPLAIN " + narrow))
    if "pruned" not in plan and "skipped" not in plan:
        raise AssertionError("nothing was skipped: " + plan)
    spark_row = spark_sql(spark, "OPTIMIZE %s ZORDER BY (y)" % t, small)[0]
    equal("Spark takes Silt's", spark_row[1]["numFilesRemoved"], made)
    made = len(live_files(path))
    equal("again by Silt", silt.sql("OPTIMIZE %s WHERE p = 0 ZORDER BY (y, x)" % t, conf=small)[0][1]["partitionsOptimized"], 1)
    equal("in the end", both_read(run, "in the end", query) == before, True)


ERRORS = (
    ("OPTIMIZE {p} ZORDER BY (p)", "DELTA_ZORDERING_ON_PARTITION_COLUMN"), ("OPTIMIZE {p} ZORDER BY (a, P)", "DELTA_ZORDERING_ON_PARTITION_COLUMN"),
    ("OPTIMIZE {p} ZORDER BY (nothing)", "DELTA_ZORDERING_COLUMN_DOES_NOT_EXIST"), ("OPTIMIZE {p} ZORDER BY (g.nothing)", "FIELD_NOT_FOUND"),
    ("OPTIMIZE {p} ZORDER BY (late)", "DELTA_ZORDERING_ON_COLUMN_WITHOUT_STATS"), ("OPTIMIZE {p} ZORDER BY (a, g.late)", "DELTA_ZORDERING_ON_COLUMN_WITHOUT_STATS"),
    ("OPTIMIZE {p} ZORDER BY (late, p)", "DELTA_ZORDERING_ON_PARTITION_COLUMN"), ("OPTIMIZE {p} FULL", "DELTA_OPTIMIZE_FULL_NOT_SUPPORTED"),
    ("OPTIMIZE {c} ZORDER BY (a)", "DELTA_CLUSTERING_WITH_ZORDER_BY"), ("OPTIMIZE {c} WHERE a = 1", "DELTA_CLUSTERING_WITH_PARTITION_PREDICATE"),
    ("OPTIMIZE {c} WHERE a = 1 ZORDER BY (a)", "DELTA_CLUSTERING_WITH_PARTITION_PREDICATE"), ("OPTIMIZE {n} FULL", "DELTA_OPTIMIZE_FULL_NOT_SUPPORTED"),
    ("OPTIMIZE {n} ZORDER BY (a)", "DELTA_CLUSTERING_WITH_ZORDER_BY"))


def errors(run):
    names = {k: path_table(run.fresh("cluster_errors_" + k)) for k in "pcn"}
    run.spark.sql("CREATE TABLE {p} (p INT, a INT, g STRUCT<x: INT, late: INT>, late INT) USING DELTA PARTITIONED BY (p) TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '2')".format(**names))
    run.spark.sql("CREATE TABLE {c} (a INT) USING DELTA CLUSTER BY (a)".format(**names))
    run.spark.sql("CREATE TABLE {n} (a INT) USING DELTA CLUSTER BY (a)".format(**names))
    run.spark.sql("ALTER TABLE {n} CLUSTER BY NONE".format(**names))
    for statement, condition in ERRORS:
        s = statement.format(**names)
        fails("Spark: " + statement, condition, lambda: run.spark.sql(s))
        fails("Silt: " + statement, condition, lambda: run.silt.sql(s))
    off = {"spark.databricks.delta.optimize.zorder.checkStatsCollection.enabled": "false"}
    spark_sql(run.spark, "OPTIMIZE {p} ZORDER BY (late)".format(**names), off)
    run.silt.sql("OPTIMIZE {p} ZORDER BY (late)".format(**names), conf=off)
    spark_sql(run.spark, "OPTIMIZE {n}".format(**names))
    run.silt.sql("OPTIMIZE {n}".format(**names))


def run_all(run):
    if not run.report.wants_any("cluster"):
        return
    for name, step, arguments in (("turns_spark", by_turns, ("spark",)), ("turns_silt", by_turns, ("silt",)), ("large", large_cubes, ()), ("zorder", zorder, ()), ("errors", errors, ())):
        if not run.report.wants("cluster/" + name): continue
        with run.report.case("cluster/" + name):
            step(run, *arguments)
