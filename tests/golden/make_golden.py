#!/usr/bin/env python3
"""Makes the golden tables with Spark 4.1.2 and Delta 4.3.1, and what must be read from them.

usage: make_golden.py [NAME…]             (run it with the Python that tests/interop/setup.sh made)

Each function below makes one table in tables/NAME; its doc line goes into CATALOGUE.md. Then Spark reads every version, and expected/NAME.json
gets the counts, schemas and checksums (check_golden.py tells how they are made). The tables are committed: run this only to add one.
"""
import glob
import json
import os
import shutil
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "interop"), HERE]
import spark_peer
from check_golden import canon, checksum

TABLES = {}


def table(f):
    TABLES[f.__name__] = f
    return f


class Maker:
    """What a table's function works with: SQL in which {t} is the table, and files to read or change."""

    def __init__(self, spark, name):
        self.spark, self.name = spark, name
        self.path = os.path.join(HERE, "tables", name)
        self.t = spark_peer.path_table(self.path)
        self.queries = []

    def sql(self, *statements, **conf):
        for k, v in conf.items():
            self.spark.conf.set(k.replace("__", "."), v)
        try:
            for s in statements:
                self.spark.sql(s.replace("{t}", self.t))
        finally:
            for k in conf:
                self.spark.conf.unset(k.replace("__", "."))

    def query(self, *statements):
        self.queries += statements

    def log(self, name):
        return os.path.join(self.path, "_delta_log", name)

    def checkpoint(self, **conf):
        for k, v in conf.items():
            self.spark.conf.set(k.replace("__", "."), v)
        jvm = self.spark._jvm
        log = jvm.org.apache.spark.sql.delta.DeltaLog.forTable(self.spark._jsparkSession, self.path)
        log.checkpoint()
        for k in conf:
            self.spark.conf.unset(k.replace("__", "."))

    def forget(self, *versions):
        """Removes commits that a checkpoint covers."""
        for v in versions:
            for end in (".json", ".crc"):
                if os.path.exists(self.log("%020d%s" % (v, end))):
                    os.remove(self.log("%020d%s" % (v, end)))


# ---- the tables ---------------------------------------------------------------------------------------------------------------

@table
def plain(m):
    """appends, INSERT OVERWRITE, DELETE and UPDATE by rewriting; protocol 1/2"""
    m.sql("CREATE TABLE {t} (id INT, v STRING, x DOUBLE) USING DELTA",
          "INSERT INTO {t} VALUES (1, 'a', 1.5), (2, 'b', null)", "INSERT INTO {t} VALUES (3, null, -0.0D), (4, '', double('NaN'))",
          "DELETE FROM {t} WHERE id = 2", "UPDATE {t} SET v = 'A' WHERE id = 1",
          "INSERT OVERWRITE {t} VALUES (9, 'z', double('Infinity'))", "INSERT INTO {t} VALUES (10, 'y', 0)")
    m.query("SELECT id FROM {table} WHERE x > 1 ORDER BY id", "SELECT count(*), min(id), max(id) FROM {table}",
            "SELECT id FROM {table} VERSION AS OF 2 WHERE x = double('NaN')", "SELECT count(*) FROM {table} VERSION AS OF 2 WHERE v IS NULL")


@table
def empty(m):
    """a table that never had a file"""
    m.sql("CREATE TABLE {t} (id INT, s STRUCT<a: ARRAY<MAP<STRING, DECIMAL(38,18)>>>) USING DELTA")
    m.query("SELECT count(*), max(id) FROM {table}")


@table
def all_types(m):
    """every type with nulls, extremes, NaN, ±0, infinities, dates before 1582 and timestamps before 1970, nested and empty collections"""
    m.sql("""CREATE TABLE {t} (k INT, bo BOOLEAN, ti TINYINT, sm SMALLINT, i INT, l BIGINT, f FLOAT, d DOUBLE, d1 DECIMAL(5,2), d2 DECIMAL(18,0), d3 DECIMAL(38,18),
             s STRING, b BINARY, da DATE, ts TIMESTAMP, nt TIMESTAMP_NTZ, st STRUCT<a: INT, b: STRUCT<c: STRING, d: DATE>>, ar ARRAY<INT>,
             mp MAP<STRING, DECIMAL(10,2)>, aa ARRAY<ARRAY<STRING>>, ast ARRAY<STRUCT<x: INT, y: TIMESTAMP>>, ms MAP<INT, STRUCT<p: BINARY, q: ARRAY<DOUBLE>>>) USING DELTA""",
          """INSERT INTO {t} VALUES
             (1, true, 127, 32767, 2147483647, 9223372036854775807, 3.4E38, 1.7976931348623157E308, 999.99, 999999999999999999, 99999999999999999999.999999999999999999,
              'snow ☃ 😀', X'00FF10', DATE'9999-12-31', TIMESTAMP'9999-12-31 23:59:59.999999', TIMESTAMP_NTZ'9999-12-31 23:59:59.999999',
              named_struct('a', 1, 'b', named_struct('c', 'x', 'd', DATE'2020-02-29')), array(1, null, 3), map('k', 1.50, '', null),
              array(array('a', null), array(), null), array(named_struct('x', 1, 'y', TIMESTAMP'2020-01-01 00:00:00.000001'), null), map(1, named_struct('p', X'01', 'q', array(double('NaN'), -0.0D)), 2, null)),
             (2, false, -128, -32768, -2147483648, -9223372036854775808, float('-Infinity'), double('NaN'), -999.99, -999999999999999999, -0.000000000000000001,
              '', X'', DATE'0001-01-01', TIMESTAMP'0001-01-01 00:00:00', TIMESTAMP_NTZ'0001-01-01 00:00:00', named_struct('a', null, 'b', null), array(), map(), array(), array(), map()),
             (3, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null)""",
          """INSERT INTO {t} (k, f, d, s, da, ts, nt, st) VALUES
             (4, float('-0'), -0.0D, 'tab\\tquote"back\\\\slash\\nline', DATE'1582-10-10', TIMESTAMP'1582-10-04 23:59:59.999999', TIMESTAMP_NTZ'1582-10-15 00:00:00', named_struct('a', null, 'b', named_struct('c', null, 'd', null))),
             (5, float('NaN'), double('-Infinity'), 'é', DATE'1969-12-31', TIMESTAMP'1969-12-31 23:59:59.999999', TIMESTAMP_NTZ'1969-12-31 23:59:59.999999', null),
             (6, 1.17549435E-38F, 4.9E-324D, repeat('x', 40), DATE'1900-01-01', TIMESTAMP'1900-01-01 00:00:00', TIMESTAMP_NTZ'1900-01-01 00:00:00', null)""")
    m.query("SELECT k FROM {table} WHERE d > 1e308 ORDER BY k", "SELECT k FROM {table} WHERE d <= 0 ORDER BY k", "SELECT k FROM {table} WHERE f = 0 ORDER BY k",
            "SELECT k FROM {table} WHERE da < DATE'1582-10-15' ORDER BY k", "SELECT k FROM {table} WHERE ts = TIMESTAMP'1969-12-31 23:59:59.999999'",
            "SELECT k FROM {table} WHERE ts > TIMESTAMP'9999-12-31 23:59:59' ORDER BY k", "SELECT k FROM {table} WHERE s LIKE 'xxx%'", "SELECT k FROM {table} WHERE d3 < 0 ORDER BY k",
            "SELECT k FROM {table} WHERE st.b.c = 'x'", "SELECT k FROM {table} WHERE st IS NULL ORDER BY k", "SELECT k FROM {table} WHERE st.a IS NULL ORDER BY k",
            "SELECT max(d), min(d), max(f), min(f) FROM {table}", "SELECT k, mp['k'], ar[0], ast.x FROM {table} ORDER BY k")


@table
def partition_types(m):
    """partition columns of every type: null, special characters, extremes; some files without any row of a value"""
    m.sql("""CREATE TABLE {t} (id INT, bo BOOLEAN, ti TINYINT, sm SMALLINT, l BIGINT, f FLOAT, d DOUBLE, de DECIMAL(38,10), s STRING, b BINARY, da DATE, ts TIMESTAMP, nt TIMESTAMP_NTZ)
             USING DELTA PARTITIONED BY (bo, ti, sm, l, f, d, de, s, b, da, ts, nt)""",
          """INSERT INTO {t} VALUES
             (1, true, 1, 2, 3, 1.5, 2.5, 12345678901234567890.0123456789, 'plain', X'616263', DATE'2020-02-29', TIMESTAMP'2020-02-29 12:34:56.789012', TIMESTAMP_NTZ'2020-02-29 12:34:56'),
             (2, null, null, null, null, null, null, null, null, null, null, null, null),
             (3, false, -128, -32768, -9223372036854775808, float('NaN'), double('-Infinity'), -0.0000000001, 'a/b=c%20 d:e?f#g"h\\\\i{j}[k]*', X'', DATE'0001-01-01', TIMESTAMP'1582-10-10 00:00:00', TIMESTAMP_NTZ'1969-12-31 23:59:59.999999'),
             (4, false, 127, 32767, 9223372036854775807, -0.0F, 1e300, 0, 'ünï ☃ 😀', X'C3A9', DATE'9999-12-31', TIMESTAMP'9999-12-31 23:59:59.999999', TIMESTAMP_NTZ'0001-01-01 00:00:00'),
             (5, true, 0, 0, 0, 0, 0, 0, '__HIVE_DEFAULT_PARTITION__x', X'25', DATE'1970-01-01', TIMESTAMP'1970-01-01 00:00:00', TIMESTAMP_NTZ'1970-01-01 00:00:00'),
             (6, true, 0, 0, 0, 0, 0, 0, ' lead', X'20', DATE'1970-01-01', TIMESTAMP'2020-07-01 00:00:00', TIMESTAMP_NTZ'1970-01-01 00:00:00')""")
    m.query("SELECT id FROM {table} WHERE bo IS NULL", "SELECT id FROM {table} WHERE de < 0", "SELECT id FROM {table} WHERE s LIKE 'a/b%'", "SELECT id FROM {table} WHERE ts >= '2020-02-29 12:34:56.789012' ORDER BY id",
            "SELECT id FROM {table} WHERE da < '1582-10-15'", "SELECT id FROM {table} WHERE f = double('NaN')", "SELECT id FROM {table} WHERE d < -1e300", "SELECT id FROM {table} WHERE b = X'616263'",
            "SELECT id FROM {table} WHERE nt = TIMESTAMP_NTZ'1969-12-31 23:59:59.999999'", "SELECT s, count(*) FROM {table} GROUP BY s ORDER BY s", "SELECT max(l), min(da), count(DISTINCT sm) FROM {table}")


@table
def partition_empty_string(m):
    """the empty string as partition value becomes null; __HIVE_DEFAULT_PARTITION__ too; multi-column; INSERT OVERWRITE dynamic and static"""
    m.sql("CREATE TABLE {t} (id INT, p STRING, q INT) USING DELTA PARTITIONED BY (p, q)",
          "INSERT INTO {t} VALUES (1, '', 1), (2, null, 1), (3, 'x', null), (4, 'x', 2)")
    m.sql("INSERT OVERWRITE {t} VALUES (5, 'x', 2), (6, 'new', 3)", spark__sql__sources__partitionOverwriteMode="dynamic")
    m.sql("INSERT OVERWRITE {t} PARTITION (p = 'x', q = 2) VALUES (7)")
    m.query("SELECT id FROM {table} WHERE p = '' ORDER BY id", "SELECT id FROM {table} WHERE p IS NULL ORDER BY id")


@table
def mapping_name(m):
    """column mapping by name from the start: nested renames, dropped and re-added columns (the old values must not come back), partitioned"""
    m.sql("""CREATE TABLE {t} (id INT, `a b.c` STRING, s STRUCT<x: INT, y: STRUCT<z: STRING, w: INT>>, l ARRAY<STRUCT<e: INT, f: STRING>>, mp MAP<STRING, STRUCT<g: INT>>, p STRING)
             USING DELTA PARTITIONED BY (p) TBLPROPERTIES ('delta.columnMapping.mode' = 'name')""",
          "INSERT INTO {t} VALUES (1, 'one', named_struct('x', 1, 'y', named_struct('z', 'z1', 'w', 10)), array(named_struct('e', 1, 'f', 'f1')), map('k', named_struct('g', 1)), 'p1')",
          "ALTER TABLE {t} RENAME COLUMN `a b.c` TO title", "ALTER TABLE {t} RENAME COLUMN s.y.z TO zed", "ALTER TABLE {t} RENAME COLUMN l.element.e TO ee",
          "ALTER TABLE {t} RENAME COLUMN p TO `part/x`",
          "INSERT INTO {t} VALUES (2, 'two', named_struct('x', 2, 'y', named_struct('zed', 'z2', 'w', 20)), array(named_struct('ee', 2, 'f', 'f2'), null), map('k', null), 'p2')",
          "ALTER TABLE {t} DROP COLUMN s.x", "ALTER TABLE {t} DROP COLUMN title", "ALTER TABLE {t} ADD COLUMNS (title STRING, s.x BIGINT)",
          "INSERT INTO {t} VALUES (3, named_struct('y', named_struct('zed', 'z3', 'w', 30), 'x', 3), null, null, null, 'new')",
          "UPDATE {t} SET title = 'fixed' WHERE id = 1")
    m.query("SELECT id, s.y.zed FROM {table} WHERE s.y.zed >= 'z2' ORDER BY id", "SELECT id FROM {table} WHERE `part/x` = 'p1'", "SELECT id, title FROM {table} WHERE title IS NULL", "SELECT id, l.ee, mp['k'].g FROM {table} ORDER BY id")


@table
def mapping_id(m):
    """column mapping by id: field ids in Parquet, renames and drops, nested"""
    m.sql("""CREATE TABLE {t} (id INT, a STRING, s STRUCT<x: INT, y: STRING>, p INT) USING DELTA PARTITIONED BY (p) TBLPROPERTIES ('delta.columnMapping.mode' = 'id')""",
          "INSERT INTO {t} VALUES (1, 'one', named_struct('x', 1, 'y', 'y1'), 7), (2, null, null, null)",
          "ALTER TABLE {t} RENAME COLUMN a TO b", "ALTER TABLE {t} RENAME COLUMN s.x TO xx", "ALTER TABLE {t} ADD COLUMNS (a DOUBLE)",
          "INSERT INTO {t} VALUES (3, 'three', named_struct('xx', 3, 'y', null), 8, 3.5)", "ALTER TABLE {t} DROP COLUMN b", "DELETE FROM {t} WHERE id = 2")
    m.query("SELECT id, s.xx FROM {table} WHERE s.xx > 1", "SELECT id FROM {table} WHERE a IS NULL")


@table
def mapping_upgrade(m):
    """written without mapping, then upgraded to name mode: swap of two names, drop and re-add under the old name"""
    m.sql("CREATE TABLE {t} (id INT, a STRING, b STRING, c INT) USING DELTA", "INSERT INTO {t} VALUES (1, 'a1', 'b1', 10), (2, 'a2', 'b2', 20)",
          "ALTER TABLE {t} SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name', 'delta.minReaderVersion' = '2', 'delta.minWriterVersion' = '5')",
          "ALTER TABLE {t} RENAME COLUMN a TO tmp", "ALTER TABLE {t} RENAME COLUMN b TO a", "ALTER TABLE {t} RENAME COLUMN tmp TO b",
          "ALTER TABLE {t} DROP COLUMN c", "ALTER TABLE {t} ADD COLUMNS (c STRING)", "INSERT INTO {t} VALUES (3, 'a3', 'b3', 'c3')")
    m.query("SELECT id FROM {table} WHERE a = 'b1'", "SELECT id, c FROM {table} ORDER BY id", "SELECT id FROM {table} WHERE c IS NULL ORDER BY id")


@table
def deletion_vectors(m):
    """deletion vectors: DELETE, UPDATE and MERGE on files of several rows, one file deleted as a whole, two vectors over time for one file"""
    m.sql("CREATE TABLE {t} (id INT, v STRING) USING DELTA TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",
          "INSERT INTO {t} SELECT /*+ COALESCE(1) */ id, 'v' || id FROM range(100)", "INSERT INTO {t} SELECT /*+ COALESCE(1) */ id, 'w' || id FROM range(100, 110)",
          "DELETE FROM {t} WHERE id % 10 = 3", "DELETE FROM {t} WHERE id BETWEEN 20 AND 25", "UPDATE {t} SET v = 'updated' WHERE id = 50",
          "DELETE FROM {t} WHERE id >= 100",
          "MERGE INTO {t} t USING (SELECT 60 AS id, 'merged' AS v UNION ALL SELECT 1000, 'inserted') s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
          "DELETE FROM {t} WHERE v = 'updated'")
    m.query("SELECT count(*), min(id), max(id), sum(id) FROM {table}", "SELECT v FROM {table} WHERE id IN (20, 50, 60, 1000) ORDER BY id", "SELECT id FROM {table} ORDER BY id DESC LIMIT 3", "SELECT max(id), count(v) FROM {table} WHERE id < 30",
            "SELECT count(*) FROM {table} WHERE 100 / (id - 13) IS NOT NULL")


@table
def deletion_vectors_mapped(m):
    """deletion vectors with column mapping, partitions with special characters and a V2 checkpoint; then PURGE"""
    m.sql("""CREATE TABLE {t} (id INT, p STRING, n STRUCT<a: INT>) USING DELTA PARTITIONED BY (p) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true', 'delta.columnMapping.mode' = 'name', 'delta.checkpointPolicy' = 'v2')""",
          "INSERT INTO {t} SELECT /*+ COALESCE(1) */ id, if(id % 2 = 0, 'e v/en', null), named_struct('a', id) FROM range(20)", "DELETE FROM {t} WHERE id < 6", "ALTER TABLE {t} RENAME COLUMN id TO key")
    m.checkpoint()
    m.sql("DELETE FROM {t} WHERE key = 10")
    m.query("SELECT count(*), min(key) FROM {table} WHERE p IS NULL", "SELECT n.a FROM {table} WHERE n.a > 16 ORDER BY 1")


@table
def timestamp_ntz(m):
    """timestamp_ntz as data, nested and as partition column"""
    m.sql("CREATE TABLE {t} (id INT, t TIMESTAMP_NTZ, s STRUCT<t: TIMESTAMP_NTZ>, p TIMESTAMP_NTZ) USING DELTA PARTITIONED BY (p)",
          "INSERT INTO {t} VALUES (1, TIMESTAMP_NTZ'2020-03-29 02:30:00.123456', named_struct('t', TIMESTAMP_NTZ'1500-01-01 00:00:00'), TIMESTAMP_NTZ'2020-01-01 00:00:00.5'), (2, null, null, null)",
          "INSERT INTO {t} VALUES (3, TIMESTAMP_NTZ'1969-12-31 23:59:59.999999', null, TIMESTAMP_NTZ'1960-06-06 06:06:06')")
    m.query("SELECT id FROM {table} WHERE t < TIMESTAMP_NTZ'2020-03-29 02:30:00.123457' ORDER BY id", "SELECT id FROM {table} WHERE p = TIMESTAMP_NTZ'2020-01-01 00:00:00.5'", "SELECT id FROM {table} WHERE t = TIMESTAMP_NTZ'1969-12-31 23:59:59.999999'")


@table
def type_widening(m):
    """every widening that Delta allows, one after the other, top level, in structs, arrays and maps, and of a partition column"""
    m.sql("""CREATE TABLE {t} (b TINYINT, s SMALLINT, i INT, f FLOAT, bd TINYINT, idb INT, de DECIMAL(5,2), ide INT, da DATE, st STRUCT<x: TINYINT, y: DECIMAL(4,1)>, ar ARRAY<SMALLINT>, mp MAP<TINYINT, INT>, p SMALLINT)
             USING DELTA PARTITIONED BY (p) TBLPROPERTIES ('delta.enableTypeWidening' = 'true', 'delta.feature.timestampNtz' = 'supported')""",
          "INSERT INTO {t} VALUES (127, 32767, 2147483647, 1.1, 1, 7, 123.45, 42, DATE'2020-02-29', named_struct('x', 1, 'y', 1.5), array(1, null), map(1, 1), 3)",
          "ALTER TABLE {t} ALTER COLUMN b TYPE SMALLINT", "ALTER TABLE {t} ALTER COLUMN b TYPE BIGINT", "ALTER TABLE {t} ALTER COLUMN s TYPE INT", "ALTER TABLE {t} ALTER COLUMN i TYPE BIGINT",
          "ALTER TABLE {t} ALTER COLUMN f TYPE DOUBLE", "ALTER TABLE {t} ALTER COLUMN bd TYPE DOUBLE", "ALTER TABLE {t} ALTER COLUMN idb TYPE DOUBLE",
          "ALTER TABLE {t} ALTER COLUMN de TYPE DECIMAL(10,2)", "ALTER TABLE {t} ALTER COLUMN de TYPE DECIMAL(38,10)", "ALTER TABLE {t} ALTER COLUMN ide TYPE DECIMAL(15,2)",
          "ALTER TABLE {t} ALTER COLUMN da TYPE TIMESTAMP_NTZ", "ALTER TABLE {t} ALTER COLUMN st.x TYPE INT", "ALTER TABLE {t} ALTER COLUMN st.y TYPE DECIMAL(12,4)",
          "ALTER TABLE {t} ALTER COLUMN ar.element TYPE BIGINT", "ALTER TABLE {t} ALTER COLUMN mp.key TYPE INT", "ALTER TABLE {t} ALTER COLUMN mp.value TYPE BIGINT", "ALTER TABLE {t} ALTER COLUMN p TYPE BIGINT",
          "INSERT INTO {t} VALUES (9223372036854775807, 2147483647, 9223372036854775807, 1e300, 0.5, 0.25, 1234567890123456789.0123456789, 0.01, TIMESTAMP_NTZ'2020-02-29 12:00:00', named_struct('x', 2147483647, 'y', 1.2345), array(9223372036854775807), map(2147483647, 9223372036854775807), 3000000000)")
    m.query("SELECT b FROM {table} WHERE b > 127 ORDER BY b", "SELECT f, bd, idb FROM {table} WHERE f < 2", "SELECT de FROM {table} WHERE de = 123.45", "SELECT da FROM {table} WHERE da = TIMESTAMP_NTZ'2020-02-29 00:00:00'",
            "SELECT st.y, ar, mp[1] FROM {table} WHERE st.x = 1", "SELECT p FROM {table} WHERE p < 1000")


@table
def checkpoint_v2_json(m):
    """V2 checkpoint with a JSON top file and sidecars; older commits are gone"""
    m.sql("CREATE TABLE {t} (id INT, p INT) USING DELTA PARTITIONED BY (p) TBLPROPERTIES ('delta.checkpointPolicy' = 'v2', 'delta.checkpointInterval' = '100')",
          "INSERT INTO {t} SELECT id, id % 4 FROM range(12)", "DELETE FROM {t} WHERE p = 3", "INSERT INTO {t} VALUES (100, 0)")
    m.checkpoint(spark__databricks__delta__checkpointV2__topLevelFileFormat="json", spark__databricks__delta__checkpoint__partSize="2")
    m.sql("INSERT INTO {t} VALUES (200, 1)")
    m.forget(0, 1, 2)


@table
def checkpoint_v2_parquet(m):
    """V2 checkpoint with a Parquet top file and sidecars, and deletion vectors; older commits are gone"""
    m.sql("CREATE TABLE {t} (id INT, v STRING) USING DELTA TBLPROPERTIES ('delta.checkpointPolicy' = 'v2', 'delta.enableDeletionVectors' = 'true', 'delta.checkpointInterval' = '100')",
          "INSERT INTO {t} SELECT /*+ COALESCE(1) */ id, 'v' FROM range(10)", "INSERT INTO {t} SELECT /*+ COALESCE(1) */ id, 'w' FROM range(10, 20)", "DELETE FROM {t} WHERE id IN (3, 15)")
    m.checkpoint(spark__databricks__delta__checkpointV2__topLevelFileFormat="parquet", spark__databricks__delta__checkpoint__partSize="1")
    m.sql("INSERT INTO {t} VALUES (200, 'x')")
    m.forget(0, 1, 2)


@table
def checkpoint_multipart(m):
    """classic checkpoint in several parts with tombstones, written twice; older commits are gone; _last_checkpoint is stale"""
    m.sql("CREATE TABLE {t} (id INT, p INT) USING DELTA PARTITIONED BY (p) TBLPROPERTIES ('delta.checkpointInterval' = '100')", "INSERT INTO {t} SELECT id, id FROM range(6)", "DELETE FROM {t} WHERE id = 5")
    m.checkpoint(spark__databricks__delta__checkpoint__partSize="3")
    stale = open(m.log("_last_checkpoint")).read()
    m.sql("INSERT INTO {t} VALUES (7, 7)", "DELETE FROM {t} WHERE id = 0")
    m.checkpoint(spark__databricks__delta__checkpoint__partSize="3")
    open(m.log("_last_checkpoint"), "w").write(stale)
    m.sql("INSERT INTO {t} VALUES (8, 8)")
    m.forget(0, 1)


@table
def checkpoint_incomplete(m):
    """a part of the newest multi-part checkpoint is missing: the older checkpoint and the commits after it count"""
    m.sql("CREATE TABLE {t} (id INT) USING DELTA TBLPROPERTIES ('delta.checkpointInterval' = '100')", "INSERT INTO {t} VALUES (1)", "INSERT INTO {t} VALUES (2)")
    m.checkpoint()
    m.sql("INSERT INTO {t} VALUES (3)", "INSERT INTO {t} VALUES (4)")
    m.checkpoint(spark__databricks__delta__checkpoint__partSize="2")
    parts = sorted(glob.glob(m.log("*.checkpoint.*.*.parquet")))
    os.remove(parts[-1])
    os.remove(m.log("_last_checkpoint"))
    m.forget(0, 1)


@table
def checkpoint_stats_struct(m):
    """classic checkpoint with statistics and partition values as structs only, checkpoint interval 3, commits below it gone, no _last_checkpoint"""
    m.sql("""CREATE TABLE {t} (id INT, s STRING, d DECIMAL(20,3), n STRUCT<a: DATE, b: TIMESTAMP>, p DATE) USING DELTA PARTITIONED BY (p)
             TBLPROPERTIES ('delta.checkpoint.writeStatsAsStruct' = 'true', 'delta.checkpoint.writeStatsAsJson' = 'false', 'delta.checkpointInterval' = '3')""",
          "INSERT INTO {t} VALUES (1, 'a', 1.5, named_struct('a', DATE'2020-01-01', 'b', TIMESTAMP'2020-01-01 00:00:00.123456'), DATE'2020-01-01')", "INSERT INTO {t} VALUES (2, 'b', -2.5, null, null)",
          "INSERT INTO {t} VALUES (3, repeat('long', 20), 99999999999999999.999, named_struct('a', null, 'b', TIMESTAMP'1950-01-01 00:00:00'), DATE'1500-01-01')", "DELETE FROM {t} WHERE id = 2", "INSERT INTO {t} VALUES (5, null, null, null, DATE'2020-01-01')")
    m.forget(0, 1, 2)
    os.remove(m.log("_last_checkpoint"))
    m.query("SELECT id FROM {table} WHERE n.b < '1960-01-01'", "SELECT id FROM {table} WHERE d > 100", "SELECT id FROM {table} WHERE s = repeat('long', 20)", "SELECT id FROM {table} WHERE p < '1600-01-01'", "SELECT count(*), min(id), max(id) FROM {table}",
            "SELECT count(*) FROM {table} VERSION AS OF 1")


@table
def in_commit_timestamp(m):
    """in-commit timestamps from the start; time travel by them (file times say nothing)"""
    m.sql("CREATE TABLE {t} (id INT) USING DELTA TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'true')")
    for i in range(3):
        time.sleep(0.05)
        m.sql("INSERT INTO {t} VALUES (%d)" % i)
    stamps = [json.loads(open(m.log("%020d.json" % v)).readline())["commitInfo"]["inCommitTimestamp"] for v in range(4)]
    at = lambda ms: "SELECT count(*) FROM {table} TIMESTAMP AS OF '%s'" % spark_peer.timestamp_text(ms * 1000, "").replace("T", " ")
    m.query(at(stamps[1]), at(stamps[1] + 1), at(stamps[2] - 1), at(stamps[2]), at(stamps[3]), at(stamps[0]), at(stamps[0] - 1), at(stamps[3] + 1000))


@table
def in_commit_timestamp_later(m):
    """in-commit timestamps switched on at version 2, with the enablement version and time in the configuration"""
    m.sql("CREATE TABLE {t} (id INT) USING DELTA", "INSERT INTO {t} VALUES (1)", "ALTER TABLE {t} SET TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'true')", "INSERT INTO {t} VALUES (2)")


@table
def row_tracking(m):
    """row ids and row commit versions: fresh, after UPDATE (materialised), DELETE with deletion vectors and OPTIMIZE"""
    m.sql("CREATE TABLE {t} (id INT, v STRING) USING DELTA TBLPROPERTIES ('delta.enableRowTracking' = 'true', 'delta.enableDeletionVectors' = 'true')",
          "INSERT INTO {t} SELECT /*+ COALESCE(1) */ id, 'a' FROM range(5)", "INSERT INTO {t} SELECT /*+ COALESCE(1) */ id, 'b' FROM range(5, 8)",
          "UPDATE {t} SET v = 'u' WHERE id = 1", "DELETE FROM {t} WHERE id = 6", "OPTIMIZE {t}", "INSERT INTO {t} VALUES (9, 'c')")
    m.query("SELECT id, v, _metadata.row_id, _metadata.row_commit_version FROM {table} ORDER BY id", "SELECT id, _metadata.row_id FROM {table} VERSION AS OF 3 ORDER BY id")


@table
def clustering(m):
    """CLUSTER BY with its domain metadata; clustering columns changed; OPTIMIZE"""
    m.sql("CREATE TABLE {t} (a INT, b STRING, s STRUCT<c: DATE>) USING DELTA CLUSTER BY (a, s.c)", "INSERT INTO {t} SELECT id, 'b' || id, named_struct('c', date_add(DATE'2020-01-01', int(id))) FROM range(20)", "OPTIMIZE {t}",
          "ALTER TABLE {t} CLUSTER BY (b)", "INSERT INTO {t} VALUES (100, 'x', null)")
    m.query("SELECT a FROM {table} WHERE s.c = '2020-01-05'")


@table
def defaults_and_constraints(m):
    """column defaults, CHECK constraints and NOT NULL"""
    m.sql("CREATE TABLE {t} (id INT NOT NULL, v STRING DEFAULT 'none', n INT DEFAULT 1 + 1) USING DELTA TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')",
          "ALTER TABLE {t} ADD CONSTRAINT positive CHECK (id > 0)", "INSERT INTO {t} (id) VALUES (1)", "INSERT INTO {t} VALUES (2, DEFAULT, 5)", "ALTER TABLE {t} ALTER COLUMN v SET DEFAULT 'other'", "INSERT INTO {t} (id) VALUES (3)")


@table
def generated_and_identity(m):
    """generated columns (one is a partition column) and an identity column"""
    session, delta = m.spark._jsparkSession, m.spark._jvm.io.delta.tables.DeltaTable
    column = lambda name, kind: delta.columnBuilder(session, name).dataType(kind)
    builder = delta.create(session).location(m.path).addColumn(column("id", "BIGINT").generatedAlwaysAsIdentity(10, 5).build()).addColumn(column("ts", "TIMESTAMP").build())
    builder = builder.addColumn(column("day", "DATE").generatedAlwaysAs("CAST(ts AS DATE)").build()).addColumn(column("y", "INT").generatedAlwaysAs("YEAR(ts)").build())
    names = m.spark.sparkContext._gateway.new_array(m.spark._jvm.java.lang.String, 1)
    names[0] = "day"
    builder.partitionedBy(names).execute()
    m.sql("INSERT INTO {t} (ts) VALUES (TIMESTAMP'2020-02-29 23:59:59'), (null)", "INSERT INTO {t} (ts) VALUES (TIMESTAMP'1999-12-31 00:00:00')")
    m.query("SELECT y FROM {table} WHERE ts > '2020-01-01'", "SELECT count(*) FROM {table} WHERE day = '1999-12-31'")


@table
def variant(m):
    """variants, unshredded: every JSON kind, nested in struct, array and map"""
    m.sql("CREATE TABLE {t} (id INT, v VARIANT, s STRUCT<v: VARIANT>, l ARRAY<VARIANT>) USING DELTA",
          """INSERT INTO {t} SELECT 1, parse_json('{"a":1,"b":[true,null,"x",1.5],"c":{"d":"deep"}}'), named_struct('v', parse_json('[1,2]')), array(parse_json('"s"'), null)""",
          "INSERT INTO {t} SELECT 2, parse_json('null'), null, null", "INSERT INTO {t} SELECT 3, null, named_struct('v', null), array()",
          "INSERT INTO {t} SELECT 4, parse_json('123456789012345678'), named_struct('v', parse_json('true')), null")
    m.query("SELECT id, variant_get(v, '$.a', 'int'), variant_get(v, '$.c.d', 'string') FROM {table} ORDER BY id")


@table
def variant_shredded(m):
    """variants with shredding on: files whose Parquet holds typed_value columns"""
    m.sql("CREATE TABLE {t} (id INT, v VARIANT) USING DELTA TBLPROPERTIES ('delta.enableVariantShredding' = 'true')",
          """INSERT INTO {t} SELECT id, parse_json('{"k":' || id || ',"name":"n' || id || '","tags":["a",' || id || '],"o":{"p":' || id * 1.5 || '}}') FROM range(10)""",
          """INSERT INTO {t} SELECT id, if(id % 2 = 0, parse_json('{"k":"text"}'), parse_json('[' || id || ']')) FROM range(10, 14)""", "INSERT INTO {t} VALUES (20, null)")
    m.query("SELECT id FROM {table} WHERE variant_get(v, '$.k', 'string') = '3'")


@table
def char_varchar(m):
    """char and varchar columns (padded by the writer), top level and nested"""
    m.sql("CREATE TABLE {t} (id INT, c CHAR(5), v VARCHAR(5), s STRUCT<c: CHAR(3)>) USING DELTA", "INSERT INTO {t} VALUES (1, 'ab', 'ab', named_struct('c', 'x')), (2, null, '', null), (3, 'é😀', '12345', named_struct('c', null))")
    m.query("SELECT id, length(c) FROM {table} WHERE c = 'ab'", "SELECT id FROM {table} WHERE v = '' ")


@table
def change_feed(m):
    """change data feed: _change_data files beside the table's own, which a read must not see"""
    m.sql("CREATE TABLE {t} (id INT, v STRING, p STRING) USING DELTA PARTITIONED BY (p) TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')",
          "INSERT INTO {t} VALUES (1, 'a', 'x'), (2, 'b', 'x'), (3, 'c', 'y')", "UPDATE {t} SET v = 'B' WHERE id = 2", "DELETE FROM {t} WHERE id = 1",
          "MERGE INTO {t} t USING (SELECT 3 AS id, 'C' AS v, 'y' AS p UNION ALL SELECT 4, 'd', 'z') s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *")


@table
def change_feed_vectors(m):
    """change data feed with deletion vectors: rows that a new vector deletes, rows that RESTORE brings back, change files, renamed and added columns"""
    m.sql("""CREATE TABLE {t} (id INT, v STRING, p INT) USING DELTA PARTITIONED BY (p) TBLPROPERTIES
             ('delta.enableChangeDataFeed' = 'true', 'delta.enableDeletionVectors' = 'true', 'delta.columnMapping.mode' = 'name')""",
          "INSERT INTO {t} SELECT /*+ REPARTITION(1) */ id, 'a', id % 2 FROM range(12)", "DELETE FROM {t} WHERE id IN (2, 3)", "DELETE FROM {t} WHERE id = 4",
          "UPDATE {t} SET v = 'u' WHERE id IN (5, 6)", "RESTORE TABLE {t} TO VERSION AS OF 2", "ALTER TABLE {t} ADD COLUMN n INT", "INSERT INTO {t} VALUES (20, 'b', 1, 7)",
          "MERGE INTO {t} t USING (SELECT 5 AS id UNION ALL SELECT 30) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET n = 1 WHEN NOT MATCHED THEN INSERT (id, v, p, n) VALUES (s.id, 'm', 0, 2)",
          "DELETE FROM {t} WHERE p = 1", "OPTIMIZE {t}", "ALTER TABLE {t} RENAME COLUMN v TO w", "INSERT OVERWRITE {t} VALUES (40, 'o', 0, 3)")
    m.query("SELECT id, v, p, n, _change_type, _commit_version FROM table_changes('{table}', 0, 10) ORDER BY _commit_version, id, _change_type",
            "SELECT id, v, _change_type FROM table_changes('{table}', 0, 5) WHERE _commit_version = 5 ORDER BY id, _change_type", "SELECT id, w, n, _change_type FROM table_changes('{table}', 11) ORDER BY id, _change_type",
            "SELECT _change_type, count(*) FROM table_changes('{table}', 1, 9) WHERE p = 0 GROUP BY 1 ORDER BY 1")


@table
def schema_evolution(m):
    """mergeSchema adds columns (nested too): old files miss them; then overwriteSchema changes types and partitioning"""
    s = m.spark
    w = lambda q, mode, **o: s.sql(q).coalesce(1).write.format("delta").mode(mode).options(**o).save(m.path)
    w("SELECT 1 AS id, named_struct('a', 1) AS s, array(named_struct('x', 1)) AS l", "append")
    w("SELECT 2 AS id, named_struct('a', 2, 'b', 'b2') AS s, array(named_struct('x', 2, 'y', DATE'2020-01-01')) AS l, 1.5D AS d", "append", mergeSchema="true")
    w("SELECT 3 AS id, 'late' AS t", "append", mergeSchema="true")
    m.sql("ALTER TABLE {t} ADD COLUMNS (first_col STRING FIRST, s.c INT AFTER a)", "INSERT INTO {t} (id, first_col) VALUES (4, 'f')")
    w("SELECT 'five' AS id, 5 AS part", "overwrite", overwriteSchema="true", partitionBy="part")
    m.query("SELECT id FROM {table} VERSION AS OF 4 WHERE t IS NULL ORDER BY id", "SELECT id, s.b, l[0].y FROM {table} VERSION AS OF 4 ORDER BY id", "SELECT id FROM {table} VERSION AS OF 4 WHERE d > 1")


@table
def timestamps_int96(m):
    """timestamps stored as INT96, and in one file as milliseconds, in one as microseconds"""
    m.sql("CREATE TABLE {t} (id INT, t TIMESTAMP) USING DELTA")
    values = "(%d, TIMESTAMP'2020-02-29 12:34:56.789123'), (%d, TIMESTAMP'1960-01-01 00:00:00.000001'), (%d, TIMESTAMP'1582-10-10 01:02:03'), (%d, null)"
    for i, kind in enumerate(("INT96", "TIMESTAMP_MICROS", "TIMESTAMP_MILLIS")):
        m.sql("INSERT INTO {t} VALUES " + values % tuple(10 * i + k for k in range(4)), spark__sql__parquet__outputTimestampType=kind)
    m.query("SELECT id FROM {table} WHERE t > '2020-02-29 12:34:56.789' ORDER BY id", "SELECT id FROM {table} WHERE t < '1582-10-15' ORDER BY id", "SELECT min(t), max(t) FROM {table}")


@table
def statistics(m):
    """which columns have statistics: dataSkippingStatsColumns, then dataSkippingNumIndexedCols, strings cut with their tie-breaker"""
    m.sql("CREATE TABLE {t} (a STRING, b STRING, c STRUCT<d: INT, e: STRING>, f DOUBLE) USING DELTA TBLPROPERTIES ('delta.dataSkippingStatsColumns' = 'b,c.e')",
          "INSERT INTO {t} VALUES (repeat('a', 50), repeat('b', 40), named_struct('d', 1, 'e', repeat('\\uDBFF\\uDFFF', 40)), 1.5)",
          "ALTER TABLE {t} UNSET TBLPROPERTIES ('delta.dataSkippingStatsColumns')", "ALTER TABLE {t} SET TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '2')",
          "INSERT INTO {t} VALUES (repeat('😀', 40), repeat('b', 31) || 'cd', named_struct('d', 2, 'e', 'x'), double('NaN')), ('a', null, null, null)",
          "ALTER TABLE {t} SET TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '0')", "INSERT INTO {t} VALUES (null, null, null, null)",
          "ALTER TABLE {t} SET TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '-1')", "INSERT INTO {t} VALUES ('z', 'z', named_struct('d', 9, 'e', 'z'), -0.0D)")
    m.query("SELECT f FROM {table} WHERE a = repeat('😀', 40)", "SELECT f FROM {table} WHERE b = repeat('b', 40)", "SELECT f FROM {table} WHERE b > repeat('b', 33)", "SELECT c.d FROM {table} WHERE c.e LIKE 'x%'", "SELECT count(*) FROM {table} WHERE b IS NULL", "SELECT a FROM {table} WHERE f > 1e9",
            "SELECT min(a), max(b), min(f), count(*) FROM {table}", "SELECT count(*) FROM {table} WHERE a IS NOT NULL")


@table
def wide(m):
    """forty columns: only the first 32 have statistics"""
    m.sql("CREATE TABLE {t} (%s) USING DELTA" % ", ".join("c%d INT" % i for i in range(40)), "INSERT INTO {t} VALUES (%s)" % ", ".join(str(i) for i in range(40)), "INSERT INTO {t} VALUES (%s)" % ", ".join("null" if i == 35 else str(i * 10) for i in range(40)))
    m.query("SELECT c0 FROM {table} WHERE c35 = 35", "SELECT c0 FROM {table} WHERE c35 IS NULL", "SELECT max(c39), min(c31) FROM {table}")


@table
def strange_names(m):
    """columns named like DuckDB's virtual columns, keywords, in other scripts, with quotes and dots"""
    m.sql("CREATE TABLE {t} (file_index INT, file_row_number INT, filename STRING, rowid INT, `select` INT, `ünïcödé` INT, `日本` INT, `a\"b` INT, `c'd` INT, `e.f` INT, `back\\\\slash` INT, `_metadata_` INT, `Mixed` INT, n STRUCT<`x.y`: INT, filename: STRING>) USING DELTA TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",
          "INSERT INTO {t} SELECT /*+ COALESCE(1) */ id, id + 1, 'f' || id, id + 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, named_struct('x.y', 12, 'filename', 'n') FROM range(3)", "DELETE FROM {t} WHERE file_index = 1")
    m.query("SELECT file_row_number, filename FROM {table} WHERE file_index > 0", "SELECT MIXED, n.`x.y`, `e.f`, `日本` FROM {table} WHERE rowid = 2", "SELECT count(*) FROM {table} WHERE filename = 'f1'")


@table
def optional_features(m):
    """features that only have to be tolerated: vacuumProtocolCheck, icebergCompatV2, domain metadata, append-only, an unknown property"""
    m.sql("""CREATE TABLE {t} (id INT, l ARRAY<INT>) USING DELTA TBLPROPERTIES ('delta.feature.vacuumProtocolCheck' = 'supported', 'delta.enableIcebergCompatV2' = 'true', 'delta.columnMapping.mode' = 'name',
             'delta.feature.domainMetadata' = 'supported', 'delta.appendOnly' = 'true', 'my.own' = 'x')""", "INSERT INTO {t} VALUES (1, array(1, 2)), (2, null)")


@table
def dropped_feature(m):
    """a feature dropped again: checkpointProtection (writer only) stays"""
    m.sql("CREATE TABLE {t} (id INT) USING DELTA TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')", "INSERT INTO {t} SELECT /*+ COALESCE(1) */ id FROM range(5)", "DELETE FROM {t} WHERE id = 2",
          "ALTER TABLE {t} DROP FEATURE deletionVectors", "INSERT INTO {t} VALUES (10)")


@table
def restored(m):
    """OPTIMIZE, RESTORE to an older version and ZORDER: files are removed and come back"""
    m.sql("CREATE TABLE {t} (id INT, v STRING) USING DELTA", "INSERT INTO {t} VALUES (1, 'a')", "INSERT INTO {t} VALUES (2, 'b')", "OPTIMIZE {t}", "DELETE FROM {t}", "RESTORE TABLE {t} TO VERSION AS OF 2", "OPTIMIZE {t} ZORDER BY (id)", "INSERT INTO {t} VALUES (3, 'c')")


@table
def replaced(m):
    """CREATE OR REPLACE with another schema and other partition columns: older versions keep theirs"""
    m.sql("CREATE TABLE replaced USING DELTA PARTITIONED BY (p) LOCATION '%s' AS SELECT 1 AS id, 'x' AS p" % m.path, "CREATE OR REPLACE TABLE replaced USING DELTA LOCATION '%s' AS SELECT DATE'2020-01-01' AS d, 2.50 AS m" % m.path,
          "CREATE OR REPLACE TABLE replaced (z STRING) USING DELTA LOCATION '%s'" % m.path, "INSERT INTO replaced VALUES ('end')", "DROP TABLE replaced")


@table
def converted(m):
    """CONVERT TO DELTA of Parquet files: no statistics for some, partition folders as they were"""
    m.spark.sql("SELECT id, 'n' || id AS name, id % 2 AS k FROM range(6)").coalesce(1).write.partitionBy("k").parquet(m.path)
    m.spark.sql("CONVERT TO DELTA parquet.`%s` NO STATISTICS PARTITIONED BY (k BIGINT)" % m.path)
    m.sql("INSERT INTO {t} VALUES (100, 'new', 7)")
    m.query("SELECT id FROM {table} WHERE k = 1 ORDER BY id", "SELECT max(id), count(*) FROM {table}")


@table
def transactions(m):
    """application transaction ids (txn) beside the data, and user metadata in the commits"""
    w = lambda q, **o: m.spark.sql(q).coalesce(1).write.format("delta").mode("append").options(**o).save(m.path)
    w("SELECT 1 AS id", txnAppId="app", txnVersion=1)
    w("SELECT 2 AS id", txnAppId="app", txnVersion=2)
    w("SELECT 99 AS id", txnAppId="app", txnVersion=2)
    w("SELECT 3 AS id", txnAppId="other", txnVersion=7, userMetadata="noted")


@table
def materialized_partitions(m):
    """partition columns also written into the Parquet files: the log's values count"""
    m.sql("CREATE TABLE {t} (id INT, p STRING) USING DELTA PARTITIONED BY (p) TBLPROPERTIES ('delta.enableMaterializePartitionColumnsFeature' = 'true')", "INSERT INTO {t} VALUES (1, 'a'), (2, null), (3, '')")
    m.query("SELECT id FROM {table} WHERE p IS NULL ORDER BY id")


# ---- what must be read --------------------------------------------------------------------------------------------------------

def snapshot_facts(spark, path, version):
    log = spark._jvm.org.apache.spark.sql.delta.DeltaLog.forTable(spark._jsparkSession, path)
    snapshot = log.getSnapshotAt(version, getattr(log, "getSnapshotAt$default$2")(), getattr(log, "getSnapshotAt$default$3")(), False)
    metadata, protocol = snapshot.metadata(), snapshot.protocol()
    return {"version": snapshot.version(), "num_files": snapshot.allFiles().count(), "delta_schema": json.loads(metadata.schemaString()),
            "partition_columns": list(spark._jvm.scala.jdk.javaapi.CollectionConverters.asJava(metadata.partitionColumns())),
            "protocol": {"minReaderVersion": protocol.minReaderVersion(), "minWriterVersion": protocol.minWriterVersion()},
            "features": sorted(json.loads(protocol.json())["protocol"].get("writerFeatures", []))}


def bare(t):
    """A Delta schema without metadata: what the expectations need."""
    if not isinstance(t, dict):
        return t
    if t["type"] == "struct":
        return {"type": "struct", "fields": [{"name": f["name"], "type": bare(f["type"]), "nullable": f["nullable"]} for f in t["fields"]]}
    if t["type"] == "array":
        return {"type": "array", "elementType": bare(t["elementType"]), "containsNull": t["containsNull"]}
    return {"type": "map", "keyType": bare(t["keyType"]), "valueType": bare(t["valueType"]), "valueContainsNull": t["valueContainsNull"]}


def read_rows(spark, path, version, schema):
    df = spark.read.format("delta").option("versionAsOf", version).load(path)
    names = [f["name"] for f in schema["fields"]]
    return [canon(dict(zip(names, r)), schema) for r in spark_peer.rows(df)]


def expect(m):
    spark, path = m.spark, m.path
    versions = sorted(int(os.path.basename(f)[:20]) for f in glob.glob(os.path.join(path, "_delta_log", "*.json")) if len(os.path.basename(f)) == 25)
    e = {"table": m.name, "path": "tables/" + m.name}
    newest = snapshot_facts(spark, path, versions[-1])
    e.update({k: newest[k] for k in ("version", "num_files", "partition_columns", "protocol", "features")})
    e["delta_schema"] = bare(newest["delta_schema"])
    rows = read_rows(spark, path, versions[-1], e["delta_schema"])
    e["row_count"], e["sum64"], e["versions"] = len(rows), checksum(rows), {}
    for v in versions[:-1]:
        try:
            facts = snapshot_facts(spark, path, v)
        except Exception:                                         # its commits are gone
            continue
        schema = bare(facts["delta_schema"])
        rows_v = read_rows(spark, path, v, schema)
        e["versions"][str(v)] = {"num_files": facts["num_files"], "row_count": len(rows_v), "sum64": checksum(rows_v)}
        if schema != e["delta_schema"]:
            e["versions"][str(v)]["delta_schema"] = schema
    queries = []
    for q in m.queries:
        try:
            queries.append({"sql": q, "rows": spark_peer.rows(spark.sql(q.replace("{table}", m.t)))})
        except Exception as x:
            found = spark_peer.condition(x)
            if not found:
                raise
            queries.append({"sql": q, "error": found})
    if queries:
        e["queries"] = queries
    e["sample"] = sorted(rows)[:3]
    return e


def write_expectation(e):
    os.makedirs(os.path.join(HERE, "expected"), exist_ok=True)
    parts = ["%s: %s" % (json.dumps(k), json.dumps(v, ensure_ascii=False) if k not in ("queries", "versions") else
                         ("[\n  " + ",\n  ".join(json.dumps(q, ensure_ascii=False) for q in v) + "]" if k == "queries" else
                          "{" + ",".join("\n  %s: %s" % (json.dumps(n), json.dumps(x, ensure_ascii=False)) for n, x in v.items()) + "}")) for k, v in e.items()]
    with open(os.path.join(HERE, "expected", e["table"] + ".json"), "w", encoding="utf-8") as f:
        f.write("{\n " + ",\n ".join(parts) + "\n}\n")


def catalogue():
    lines = []
    for name, f in TABLES.items():
        path = os.path.join(HERE, "expected", name + ".json")
        if os.path.exists(path):
            e = json.load(open(path, encoding="utf-8"))
            p = "%d/%d" % (e["protocol"]["minReaderVersion"], e["protocol"]["minWriterVersion"]) + (" " + ", ".join(e["features"]) if e["features"] else "")
            lines.append("| %s | %s | %s | v%d, %d files, %d rows, %d older versions, %d queries |" % (name, f.__doc__.replace("|", "\\|"), p, e["version"], e["num_files"], e["row_count"], len(e["versions"]), len(e.get("queries", []))))
    text = open(os.path.join(HERE, "CATALOGUE.md"), encoding="utf-8").read()
    head = text.split("| table | what it holds |")[0]
    with open(os.path.join(HERE, "CATALOGUE.md"), "w", encoding="utf-8") as f:
        f.write(head + "| table | what it holds | protocol | expected |\n|---|---|---|---|\n" + "\n".join(lines) + "\n")


def main():
    names = sys.argv[1:] or list(TABLES)
    work = tempfile.mkdtemp(prefix="silt-golden-")
    spark = spark_peer.session(work)
    failed = []
    try:
        for name in names:
            m = Maker(spark, name)
            shutil.rmtree(m.path, ignore_errors=True)
            try:
                TABLES[name](m)
                for junk in glob.glob(os.path.join(m.path, "**", ".*.crc"), recursive=True):     # Hadoop's own checksums of local files
                    os.remove(junk)
                e = expect(m)
                write_expectation(e)
                print("%s: v%d, %d files, %d rows" % (name, e["version"], e["num_files"], e["row_count"]))
            except Exception as x:
                failed.append(name)
                print("FAILED %s: %s" % (name, " ".join(l for l in str(x).split("\n")[:3])[:600]))
            sys.stdout.flush()
        catalogue()
    finally:
        spark.stop()
        shutil.rmtree(work, ignore_errors=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
