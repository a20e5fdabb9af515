"""Writer features that need more than the same statements on both sides: Spark 4.1 with Delta 4.3 makes generated and identity columns by its builder only, a change
feed is written by one and read by the other, and so on. Each case: one makes a table, both write to it in turn, both read the same. Names: features/…"""
import glob
import json
import os

import delta_files
from report import Differs, equal
from silt_cli import Failed
from spark_peer import path_table, rows


def build(run, path, columns, partition_by=()):
    """A table by Delta's column builder. columns: (name, type, {generated|always|default: …})"""
    spark = run.spark
    builder_class = spark._jvm.io.delta.tables.DeltaTable
    builder = builder_class.create(spark._jsparkSession).location(run.at(path))
    for name, kind, more in columns:
        c = builder_class.columnBuilder(spark._jsparkSession, name).dataType(kind)
        if "generated" in more:
            c = c.generatedAlwaysAs(more["generated"])
        if "always" in more:
            c = c.generatedAlwaysAsIdentity(*more["always"])
        if "default" in more:
            c = c.generatedByDefaultAsIdentity(*more["default"])
        builder = builder.addColumn(c.build())
    if partition_by:
        names = spark.sparkContext._gateway.new_array(spark._jvm.java.lang.String, len(partition_by))
        for i, name in enumerate(partition_by):
            names[i] = name
        builder = builder.partitionedBy(names)
    builder.execute()
    run.written(path)


def spark_rows(spark, query):
    return sorted(rows(spark.sql(query)), key=str)


def silt_rows(silt, query):
    return sorted(silt.sql(query), key=str)


def fails(what, condition, action):
    try:
        action()
    except Failed as e:
        return equal(what, e.condition(), condition)
    except Exception as e:
        text = str(e)
        if condition not in text:
            raise Differs("%s: %s" % (what, text[:300]))
        return None
    raise Differs("%s: did not fail with %s" % (what, condition))


def both_read(run, what, query):
    ours, theirs = silt_rows(run.silt, query), spark_rows(run.spark, query)
    equal(what, ours, theirs)
    return ours


def generated(run):
    spark, silt, case = run.spark, run.silt, run.report.case
    columns = [("id", "INT", {}), ("ts", "TIMESTAMP", {}), ("twice", "INT", {"generated": "id * 2"}), ("day", "DATE", {"generated": "CAST(ts AS DATE)"}),
               ("s", "STRING", {"generated": "concat('n', cast(id as string))"})]
    with case("features/generated_by_spark"):
        path = run.fresh("generated_by_spark")
        t = path_table(path)
        build(run, path, columns, ["day"])
        silt.sql("INSERT INTO %s (id, ts) VALUES (1, TIMESTAMP'2020-02-29 23:59:59'), (2, null)" % t)
        spark.sql("INSERT INTO %s (id, ts) VALUES (3, TIMESTAMP'2021-01-01 00:00:00')" % t)
        silt.sql("INSERT INTO %s VALUES (4, TIMESTAMP'2022-01-01 00:00:00', 8, DATE'2022-01-01', 'n4')" % t)
        fails("a wrong value by Silt", "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES", lambda: silt.sql("INSERT INTO %s (id, twice) VALUES (5, 11)" % t))
        silt.sql("UPDATE %s SET id = id + 10 WHERE id <= 2" % t)
        spark.sql("UPDATE %s SET id = id + 100 WHERE id = 11" % t)
        silt.sql("MERGE INTO %s t USING (SELECT 3 AS k UNION ALL SELECT 77) s ON t.id = s.k WHEN MATCHED THEN UPDATE SET ts = TIMESTAMP'2030-05-05 12:00:00' WHEN NOT MATCHED THEN INSERT (id) VALUES (s.k)" % t)
        both_read(run, "rows", "SELECT * FROM %s" % t)
        both_read(run, "pruned", "SELECT id FROM %s WHERE ts >= '2021-06-01'" % t)
        equal("all hold", silt.sql("SELECT count_if(twice <=> id * 2 AND day <=> CAST(ts AS DATE) AND s <=> concat('n', id)), count(*) FROM %s" % t), [[5, 5]])
    with case("features/generated_by_silt"):
        path = run.fresh("generated_by_silt")
        t = path_table(path)
        silt.sql("CREATE TABLE %s (id INT, ts TIMESTAMP, twice INT GENERATED ALWAYS AS (id * 2), day DATE GENERATED ALWAYS AS (CAST(ts AS DATE))) USING DELTA PARTITIONED BY (day)" % t)
        spark.sql("INSERT INTO %s (id, ts) VALUES (1, TIMESTAMP'2020-02-29 23:59:59')" % t)
        fails("a wrong value by Spark", "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES", lambda: spark.sql("INSERT INTO %s (id, twice) VALUES (5, 11)" % t))
        silt.sql("INSERT INTO %s (id, ts) SELECT id, TIMESTAMP'2020-03-01 00:00:00' FROM range(5)" % t)
        spark.sql("DELETE FROM %s WHERE id = 3" % t)
        both_read(run, "rows", "SELECT * FROM %s" % t)
        both_read(run, "pruned", "SELECT id FROM %s WHERE ts < '2020-03-01'" % t)


def identity(run):
    spark, silt, case = run.spark, run.silt, run.report.case
    for maker in ("spark", "silt"):
        if not run.report.wants("features/identity_by_" + maker): continue
        with case("features/identity_by_" + maker):
            path = run.fresh("identity_by_" + maker)
            t = path_table(path)
            if maker == "spark":
                build(run, path, [("a", "BIGINT", {"always": (10, 5)}), ("d", "BIGINT", {"default": (1, -1)}), ("v", "STRING", {})])
            else:
                silt.sql("CREATE TABLE %s (a BIGINT GENERATED ALWAYS AS IDENTITY (START WITH 10 INCREMENT BY 5), d BIGINT GENERATED BY DEFAULT AS IDENTITY (START WITH 1 INCREMENT BY -1), v STRING) USING DELTA" % t)
            for i in range(3):
                silt.sql("INSERT INTO %s (v) VALUES ('silt'), ('silt')" % t)
                spark.sql("INSERT INTO %s (v) VALUES ('spark')" % t)
            silt.sql("INSERT INTO %s (d, v) VALUES (500, 'given')" % t)
            fails("explicit by Silt", "DELTA_IDENTITY_COLUMNS_EXPLICIT_INSERT_NOT_SUPPORTED", lambda: silt.sql("INSERT INTO %s VALUES (1, 1, 'x')" % t))
            silt.sql("MERGE INTO %s t USING (SELECT 'merged' AS v) s ON t.v = s.v WHEN NOT MATCHED THEN INSERT (v) VALUES (s.v)" % t)
            spark.sql("INSERT INTO %s (v) VALUES ('last')" % t)
            got = both_read(run, "rows", "SELECT * FROM %s" % t)
            equal("no value twice", len({r[0] for r in got}), len(got))
            equal("on the grid", [r for r in got if (r[0] - 10) % 5 or r[0] < 10], [])
            equal("the other counts down", sorted((r[1] for r in got if r[1] != 500), reverse=True)[0], 1)
            equal("tagged", [i["operation"] for _, i in delta_files.actions(path, "commitInfo") if i.get("tags", {}).get("delta.identity.schemaUpdate") == "true" and "Silt" in i.get("engineInfo", "")],
                  ["WRITE"] * 4 + ["MERGE"])


def change_feed(run):
    spark, silt, case = run.spark, run.silt, run.report.case
    for name, properties in (("copied", ""), ("vectors", ", 'delta.enableDeletionVectors' = 'true'"), ("mapped", ", 'delta.columnMapping.mode' = 'name'"), ("row_ids", ", 'delta.enableRowTracking' = 'true'"),
                             ("in_commit_times", ", 'delta.enableInCommitTimestamps' = 'true'")):
        if not run.report.wants("features/change_feed_" + name): continue
        with case("features/change_feed_" + name):
            path = run.fresh("change_feed_" + name)
            t = path_table(path)
            silt.sql("CREATE TABLE %s (id INT, v STRING, p INT) USING DELTA PARTITIONED BY (p) TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true'%s)" % (t, properties))
            silt.sql("INSERT INTO %s SELECT id, 'a', id %% 2 FROM range(20)" % t)
            spark.sql("UPDATE %s SET v = 'spark' WHERE id < 3" % t)
            silt.sql("UPDATE %s SET v = 'silt', p = 5 WHERE id IN (3, 4, 11)" % t)
            silt.sql("DELETE FROM %s WHERE id = 5" % t)
            spark.sql("DELETE FROM %s WHERE id > 17" % t)
            silt.sql("MERGE INTO %s t USING (SELECT 6 AS id, 'm' AS v UNION ALL SELECT 7, 'd' UNION ALL SELECT 99, 'n') s ON t.id = s.id WHEN MATCHED AND s.v = 'd' THEN DELETE WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (id, v, p) VALUES (s.id, s.v, 0)" % t)
            silt.sql("DELETE FROM %s WHERE p = 5" % t)
            silt.sql("INSERT OVERWRITE %s VALUES (1, 'o', 1)" % t)
            both_read(run, "changes", "SELECT * FROM table_changes_by_path('%s', 0)" % path)
            both_read(run, "changes of a part", "SELECT id, _change_type FROM table_changes_by_path('%s', 2, 4) WHERE p = 0" % path)
            both_read(run, "rows", "SELECT * FROM %s" % t)


def files_of(path):
    return sorted(glob.glob(path + "/**/*.parquet", recursive=True))


def field_ids(file):
    import pyarrow.parquet as pq
    out = {}

    def walk(field, at):
        out[at + field.name] = (field.metadata or {}).get(b"PARQUET:field_id")
        kind = field.type
        for i in range(getattr(kind, "num_fields", 0)):
            walk(kind.field(i), at + field.name + ".")
    for field in pq.ParquetFile(file).schema_arrow:
        walk(field, "")
    return out


def iceberg(run):
    spark, silt, case = run.spark, run.silt, run.report.case
    with case("features/iceberg_compat"):
        path = run.fresh("iceberg_compat")
        t = path_table(path)
        silt.sql("CREATE TABLE %s (a INT, p INT, l ARRAY<INT>, m MAP<STRING, STRUCT<q: ARRAY<ARRAY<INT>>>>, ts TIMESTAMP, d DECIMAL(5,2)) USING DELTA PARTITIONED BY (p) TBLPROPERTIES ('delta.enableIcebergCompatV2' = 'true')" % t)
        insert = "INSERT INTO %s VALUES (%d, 2, array(1), map('k', named_struct('q', array(array(5)))), TIMESTAMP'2020-01-01 00:00:00', 1.5)"
        silt.sql(insert % (t, 1))
        ours = files_of(path)
        spark.sql(insert % (t, 2))
        theirs = [f for f in files_of(path) if f not in ours]
        both_read(run, "rows", "SELECT * FROM %s" % t)

        equal("field ids", field_ids(ours[0]), field_ids(theirs[0]))
        adds = [a for _, a in delta_files.actions(path, "add")]
        equal("tags", [a.get("tags") for a in adds], [{"ICEBERG_COMPAT_VERSION": "2"}] * 2)
        fails("vectors", "DELTA_ICEBERG_COMPAT_VIOLATION.DELETION_VECTORS_SHOULD_BE_DISABLED", lambda: silt.sql("ALTER TABLE %s SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')" % t))
        silt.sql("UPDATE %s SET a = 10 WHERE a = 1" % t)
        silt.sql("DELETE FROM %s WHERE a = 2" % t)
        both_read(run, "rows after changes", "SELECT * FROM %s" % t)
    with case("features/iceberg_compat_v1"):
        path = run.fresh("iceberg_compat_v1")
        t = path_table(path)
        silt.sql("CREATE TABLE %s (a INT, s STRUCT<x: DATE>) USING DELTA TBLPROPERTIES ('delta.enableIcebergCompatV1' = 'true')" % t)
        silt.sql("INSERT INTO %s VALUES (1, named_struct('x', DATE'2020-01-01'))" % t)
        spark.sql("INSERT INTO %s VALUES (2, null)" % t)
        both_read(run, "rows", "SELECT * FROM %s" % t)
        fails("an array", "DELTA_ICEBERG_COMPAT_VIOLATION.UNSUPPORTED_DATA_TYPE", lambda: silt.sql("ALTER TABLE %s ADD COLUMN l ARRAY<INT>" % t))


TRACKED = "SELECT *, _metadata.row_id, _metadata.row_commit_version FROM %s"


def iceberg_v3(run):
    """Delta 4.3 takes the property and the feature, and none of the rules: what makes the table Iceberg's is Silt's part, Spark reads and writes it as any other."""
    spark, silt, case = run.spark, run.silt, run.report.case
    for mode in ("name", "id"):
        if not run.report.wants("features/iceberg_compat_v3_" + mode):
            continue
        with case("features/iceberg_compat_v3_" + mode):
            path = run.fresh("iceberg_compat_v3_" + mode)
            t = path_table(path)
            silt.sql("CREATE TABLE %s (a INT, p INT, l ARRAY<INT>, m MAP<STRING, STRUCT<q: ARRAY<ARRAY<INT>>>>, ts TIMESTAMP, v VARIANT) USING DELTA PARTITIONED BY (p) TBLPROPERTIES ('delta.enableIcebergCompatV3' = 'true', 'delta.columnMapping.mode' = '%s')" % (t, mode))
            insert = "INSERT INTO %s VALUES (%d, 2, array(1), map('k', named_struct('q', array(array(5)))), TIMESTAMP'2020-01-01 00:00:00', parse_json('[1]')), (%d, 3, null, null, null, null)"
            silt.sql(insert % (t, 1, 2))
            spark.sql(insert % (t, 3, 4))
            both_read(run, "rows", TRACKED % t)
            before = files_of(path)
            silt.sql("UPDATE %s SET a = a + 10 WHERE p = 2" % t)
            ours = field_ids([f for f in files_of(path) if f not in before][0])
            equal("field ids", sorted(int(i) for name, i in ours.items() if i is not None and "." not in name), [1, 2, 3, 4, 6, 7, 2147483539, 2147483540])
            equal("nested ids", [sum(name.endswith(end) and i is not None for name, i in ours.items()) for end in (".element", ".key", ".value")], [3, 1, 1])
            equal("tags", [a["tags"] for _, a in delta_files.actions(path, "add") if a.get("tags")], [{"ICEBERG_COMPAT_VERSION": "3"}] * 3)
            spark.sql("UPDATE %s SET a = a + 100 WHERE p = 3" % t)
            spark.sql("ALTER TABLE %s ADD COLUMN more ARRAY<INT>" % t)
            silt.sql("ALTER TABLE %s ADD COLUMN other ARRAY<STRUCT<x: INT>>" % t)
            spark.sql("INSERT INTO %s VALUES (5, 2, null, null, null, null, array(1), array(named_struct('x', 1)))" % t)
            silt.sql("ALTER TABLE %s SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')" % t)
            silt.sql("DELETE FROM %s WHERE a = 11" % t)
            spark.sql("DELETE FROM %s WHERE a = 104" % t)
            silt.sql("MERGE INTO %s t USING (SELECT 5 AS a UNION ALL SELECT 6) s ON t.a = s.a WHEN MATCHED THEN UPDATE SET p = 7 WHEN NOT MATCHED THEN INSERT (a, p) VALUES (s.a, 7)" % t)
            both_read(run, "rows after changes", TRACKED % t)
            silt.sql("OPTIMIZE %s" % t)
            both_read(run, "rows optimized", TRACKED % t)
            spark.sql("OPTIMIZE %s" % t)
            equal("rows in the end", len(both_read(run, "rows optimized by both", TRACKED % t)), 4)


def iceberg_v3_later(run):
    spark, silt, case = run.spark, run.silt, run.report.case
    with case("features/iceberg_compat_v3_of_spark"):
        path = run.fresh("iceberg_compat_v3_of_spark")
        t = path_table(path)
        spark.sql("CREATE TABLE %s (a INT, l ARRAY<INT>, p DECIMAL(5,2)) USING DELTA PARTITIONED BY (p) TBLPROPERTIES ('delta.enableIcebergCompatV3' = 'true', 'delta.columnMapping.mode' = 'name', 'delta.enableRowTracking' = 'true', 'delta.enableDeletionVectors' = 'true')" % t)
        spark.sql("INSERT INTO %s VALUES (1, array(1), 1.5), (2, null, 2.5)" % t)
        silt.sql("INSERT INTO %s VALUES (3, array(1), 1.5)" % t)
        silt.sql("UPDATE %s SET a = 10 WHERE a = 1" % t)
        spark.sql("UPDATE %s SET a = 30 WHERE a = 3" % t)
        both_read(run, "rows", TRACKED % t)
    with case("features/iceberg_compat_v3_mended"):
        path = run.fresh("iceberg_compat_v3_mended")
        t = path_table(path)
        spark.sql("CREATE TABLE %s (a INT, l ARRAY<INT>) USING DELTA TBLPROPERTIES ('delta.enableIcebergCompatV3' = 'true')" % t)
        spark.sql("INSERT INTO %s VALUES (1, array(1))" % t)
        both_read(run, "rows", "SELECT * FROM %s" % t)
        fails("no column mapping", "DELTA_ICEBERG_COMPAT_VIOLATION.WRONG_REQUIRED_TABLE_PROPERTY", lambda: silt.sql("INSERT INTO %s VALUES (2, array(1))" % t))
        silt.sql("ALTER TABLE %s SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')" % t)
        silt.sql("INSERT INTO %s VALUES (2, array(1))" % t)
        spark.sql("INSERT INTO %s VALUES (3, array(1))" % t)
        silt.sql("UPDATE %s SET a = a + 10" % t)
        both_read(run, "rows after", TRACKED % t)
    with case("features/iceberg_compat_v3_upgrade"):
        path = run.fresh("iceberg_compat_v3_upgrade")
        t = path_table(path)
        silt.sql("CREATE TABLE %s (a INT, l ARRAY<INT>) USING DELTA TBLPROPERTIES ('delta.enableIcebergCompatV2' = 'true')" % t)
        spark.sql("INSERT INTO %s VALUES (1, array(1))" % t)
        fails("two versions", "DELTA_ICEBERG_COMPAT_VIOLATION.VERSION_MUTUAL_EXCLUSIVE", lambda: silt.sql("ALTER TABLE %s SET TBLPROPERTIES ('delta.enableIcebergCompatV3' = 'true')" % t))
        silt.sql("ALTER TABLE %s SET TBLPROPERTIES ('delta.enableIcebergCompatV3' = 'true', 'delta.enableIcebergCompatV2' = 'false')" % t)
        silt.sql("UPDATE %s SET a = 10" % t)
        spark.sql("INSERT INTO %s VALUES (2, null)" % t)
        both_read(run, "rows", TRACKED % t)
        silt.sql("ALTER TABLE %s SET TBLPROPERTIES ('delta.enableIcebergCompatV3' = 'false')" % t)
        for feature in ("icebergCompatV3", "icebergCompatV2"):
            for who in (silt, spark):
                fails("drop", "DELTA_FEATURE_DROP_NONREMOVABLE_FEATURE", lambda: who.sql("ALTER TABLE %s DROP FEATURE %s" % (t, feature)))
        both_read(run, "rows without", TRACKED % t)


def variants(run):
    with run.report.case("features/variants_inside"):
        path = run.fresh("variants_inside")
        t = path_table(path)
        run.silt.sql("CREATE TABLE %s (id INT, v VARIANT, s STRUCT<v: VARIANT, n: INT>, l ARRAY<VARIANT>, m MAP<STRING, STRUCT<a: ARRAY<VARIANT>>>) USING DELTA" % t)
        insert = "INSERT INTO %s SELECT %d, parse_json('{\"a\":[1,true,null,\"x\"]}'), named_struct('v', parse_json('[1,2]'), 'n', 5), array(parse_json('\"s\"'), null), map('k', named_struct('a', array(parse_json('{\"x\":7}'))))"
        run.silt.sql(insert % (t, 1))
        run.spark.sql(insert % (t, 2))
        run.silt.sql("INSERT INTO %s VALUES (3, null, null, null, null), (4, null, named_struct('v', null, 'n', 1), array(null), map('k', null))" % t)
        run.silt.sql("UPDATE %s SET id = id + 10 WHERE id = 2" % t)
        both_read(run, "nulls", "SELECT id, v IS NULL, s.v IS NULL, l[0] IS NULL, m['k'] IS NULL FROM %s" % t)
        both_read(run, "values", "SELECT id, to_json(v), to_json(s.v), to_json(l[0]), to_json(m['k'].a[0]), variant_get(v, '$.a[0]', 'int') FROM %s WHERE id IN (1, 12)" % t)


def checkpoints(run):
    spark, silt = run.spark, run.silt
    for name, conf in (("parquet", {"spark.databricks.delta.checkpointV2.topLevelFileFormat": "parquet"}), ("parts", {"spark.databricks.delta.checkpoint.partSize": "2"}),
                       ("parquet_parts", {"spark.databricks.delta.checkpointV2.topLevelFileFormat": "parquet", "spark.databricks.delta.checkpoint.partSize": "3"})):
        if not run.report.wants("features/v2_checkpoint_" + name): continue
        with run.report.case("features/v2_checkpoint_" + name):
            path = run.fresh("v2_checkpoint_" + name)
            t = path_table(path)
            silt.sql("CREATE TABLE %s (id INT) USING DELTA TBLPROPERTIES ('delta.checkpointPolicy' = 'v2', 'delta.checkpointInterval' = '6')" % t)
            for i in range(4):
                silt.sql("INSERT INTO %s VALUES (%d)" % (t, i), conf)
            silt.sql("DELETE FROM %s WHERE id = 2" % t, conf)
            silt.sql("INSERT INTO %s VALUES (9)" % t, conf)
            top = [f for f in os.listdir(path + "/_delta_log") if ".checkpoint." in f]
            equal("top-level file", [f.rsplit(".", 1)[1] for f in top], ["parquet" if "parquet" in name else "json"])
            equal("sidecars", len(os.listdir(path + "/_delta_log/_sidecars")), {"parquet": 1, "parts": 3, "parquet_parts": 2}[name])
            for v in range(6):
                for end in (".json", ".crc"):
                    file = path + "/_delta_log/%020d%s" % (v, end)
                    if os.path.exists(file):
                        os.remove(file)
            spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
            equal("rows", both_read(run, "rows", "SELECT id FROM %s" % t), [[0], [1], [3], [9]])
            spark.sql("INSERT INTO %s VALUES (10)" % t)
            silt.sql("INSERT INTO %s VALUES (11)" % t)
            both_read(run, "rows after", "SELECT id FROM %s" % t)


def columns(run):
    """What is stored with a column and counts at each write."""
    spark, silt, case = run.spark, run.silt, run.report.case
    with case("features/defaults"):
        path = run.fresh("defaults")
        t = path_table(path)
        silt.sql("CREATE TABLE %s (id INT, v STRING DEFAULT 'none', n INT DEFAULT 1 + 1) USING DELTA TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')" % t)
        for who in (silt, spark):
            who.sql("INSERT INTO %s (id) VALUES (1)" % t)
            who.sql("INSERT INTO %s VALUES (2, DEFAULT, DEFAULT)" % t)
            who.sql("UPDATE %s SET v = 'set', n = 7 WHERE id = 2" % t)
            who.sql("UPDATE %s SET v = DEFAULT WHERE id = 2" % t)
            if who is silt:                              # Spark's MERGE does not know the word
                who.sql("MERGE INTO %s t USING (SELECT 2 AS k UNION ALL SELECT 3) s ON t.id = s.k AND false WHEN NOT MATCHED THEN INSERT (id, v, n) VALUES (s.k, DEFAULT, DEFAULT)" % t)
        both_read(run, "rows", "SELECT * FROM %s" % t)
    with case("features/invariants"):
        path = run.fresh("invariants")
        t = path_table(path)
        spark.sql("CREATE TABLE %s (id INT NOT NULL, n INT) USING DELTA" % t)
        file = path + "/_delta_log/%020d.json" % 0
        lines = open(file).read().split("\n")
        at = next(i for i, x in enumerate(lines) if x.startswith('{"metaData"'))
        meta = json.loads(lines[at])
        schema = json.loads(meta["metaData"]["schemaString"])
        schema["fields"][1]["metadata"]["delta.invariants"] = json.dumps({"expression": {"expression": "n > 3"}})
        meta["metaData"]["schemaString"] = json.dumps(schema)
        lines[at] = json.dumps(meta)
        open(file, "w").write("\n".join(lines))
        for stale in (file[:-5] + ".crc", path + "/_delta_log/.%020d.json.crc" % 0):      # Delta's checksum, and that of Spark's file system
            if os.path.exists(stale):
                os.remove(stale)
        spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
        silt.sql("INSERT INTO %s VALUES (1, 5)" % t)
        spark.sql("INSERT INTO %s VALUES (2, 6)" % t)
        for who in (silt, spark):
            fails("n > 3", "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES", lambda: who.sql("INSERT INTO %s VALUES (3, 3)" % t))
            fails("NULL", "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES", lambda: who.sql("INSERT INTO %s VALUES (3, null)" % t))
            fails("NOT NULL", "DELTA_NOT_NULL_CONSTRAINT_VIOLATED", lambda: who.sql("INSERT INTO %s VALUES (null, 5)" % t))
            fails("an update", "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES", lambda: who.sql("UPDATE %s SET n = 1" % t))
        both_read(run, "rows", "SELECT * FROM %s" % t)
    with case("features/append_only"):
        path = run.fresh("append_only")
        t = path_table(path)
        silt.sql("CREATE TABLE %s (id INT) USING DELTA TBLPROPERTIES ('delta.appendOnly' = 'true')" % t)
        for who in (silt, spark):
            who.sql("INSERT INTO %s VALUES (1)" % t)
            for statement in ("DELETE FROM %s WHERE id = 1", "UPDATE %s SET id = 2", "INSERT OVERWRITE %s VALUES (5)",
                              "MERGE INTO %s t USING (SELECT 1 AS k) s ON t.id = s.k WHEN MATCHED THEN DELETE"):
                fails(statement, "DELTA_CANNOT_MODIFY_APPEND_ONLY", lambda: who.sql(statement % t))
            who.sql("MERGE INTO %s t USING (SELECT 2 AS k) s ON t.id = s.k WHEN NOT MATCHED THEN INSERT (id) VALUES (s.k)" % t)
        both_read(run, "rows", "SELECT * FROM %s" % t)
    with case("features/in_commit_timestamps_later"):
        path = run.fresh("ict_later")
        t = path_table(path)
        silt.sql("CREATE TABLE %s (id INT) USING DELTA; INSERT INTO %s VALUES (1)" % (t, t))
        silt.sql("ALTER TABLE %s SET TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'true')" % t)
        spark.sql("INSERT INTO %s VALUES (2)" % t)
        silt.sql("INSERT INTO %s VALUES (3)" % t)
        history = lambda who: [(r[0], r[1]) for r in who]
        equal("history", history(silt.sql("DESCRIBE HISTORY %s" % t)), history(rows(spark.sql("DESCRIBE HISTORY %s" % t))))
    with case("features/supported_only"):
        path = run.fresh("supported_only")
        t = path_table(path)
        names = ("vacuumProtocolCheck", "domainMetadata", "timestampNtz")
        silt.sql("CREATE TABLE %s (id INT, t TIMESTAMP_NTZ) USING DELTA TBLPROPERTIES (%s)" % (t, ", ".join("'delta.feature.%s' = 'supported'" % n for n in names)))
        silt.sql("INSERT INTO %s VALUES (1, TIMESTAMP_NTZ'2020-01-01 00:00:00')" % t)
        spark.sql("UPDATE %s SET t = TIMESTAMP_NTZ'2021-01-01 00:00:00'" % t)
        silt.sql("UPDATE %s SET id = 2" % t)
        both_read(run, "rows", "SELECT * FROM %s" % t)


STEPS = ((generated, ("generated_by_spark", "generated_by_silt")), (identity, ("identity_by_spark", "identity_by_silt")),
         (change_feed, ("change_feed_copied", "change_feed_vectors", "change_feed_mapped", "change_feed_row_ids", "change_feed_in_commit_times")),
         (iceberg, ("iceberg_compat", "iceberg_compat_v1")), (iceberg_v3, ("iceberg_compat_v3_name", "iceberg_compat_v3_id")), (iceberg_v3_later, ("iceberg_compat_v3_of_spark", "iceberg_compat_v3_mended", "iceberg_compat_v3_upgrade")), (variants, ("variants_inside",)), (checkpoints, ("v2_checkpoint_parquet", "v2_checkpoint_parts", "v2_checkpoint_parquet_parts")),
         (columns, ("defaults", "invariants", "append_only", "in_commit_timestamps_later", "supported_only")))


def run_all(run):
    if run.silt.name != "silt":
        return run.report.skip("features", "compares with Spark itself")
    for step, names in STEPS:
        if any(run.report.wants("features/" + name) for name in names):
            try:
                step(run)
            except Exception as e:
                run.report.not_ok("features/" + step.__name__, repr(e))
    return None
