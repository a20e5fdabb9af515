"""What both Silt and Spark write, statement by statement, so that the two tables can be compared (run_interop.py does).

A case: name, statements ({t} is the table's path name; a tuple is a statement and its configuration), predicates whose pruned files are compared.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden"))

DYNAMIC = {"spark.sql.sources.partitionOverwriteMode": "dynamic"}
EVOLVE = {"spark.databricks.delta.schema.autoMerge.enabled": "true"}


class Case:
    def __init__(self, name, *statements, predicates=(), managed=False, deltalake=True):
        self.name, self.predicates, self.managed, self.deltalake = name, predicates, managed, deltalake
        self.statements = [s if isinstance(s, tuple) else (s, {}) for s in statements]


def golden(name, **more):
    """The statements of a golden table that consists of CREATE and INSERT only."""
    import make_golden

    class Recorder:
        path = "/nowhere"
        t = "{t}"

        def __init__(self):
            self.statements = []

        def sql(self, *statements, **conf):
            self.statements += [(s, {k.replace("__", "."): v for k, v in conf.items()}) for s in statements]

        def query(self, *statements):
            pass
    r = Recorder()
    make_golden.TABLES[name](r)
    return Case(name, *r.statements, **more)


def text(s):
    return "'" + s.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\t", "\\t") + "'"


STRINGS = ["", " ", "a", "x" * 31, "x" * 32, "x" * 33, "x" * 200, "é" * 32, "é" * 33, "é" * 100, "x" * 31 + "é", "x" * 31 + "éé", "x" * 31 + "😀y", "x" * 32 + "😀",
           "😀" * 16, "😀" * 32, "😀" * 33, "b" * 31 + "\u00ff" + "c", "\uffff" * 40, "\U0010ffff" * 40, "a" * 31 + "\ud7ff" * 3, "a" * 20 + "\U0010ffff" * 20, "\x7f" * 40,
           "quote\"back\\slash", "tab\tnew\nline", "nul-free\x01", "z" * 31 + "\U0010ffff" + "x", "\u3042" * 40, "'single'"]

CASES = [
    golden("all_types", predicates=("d > 1e308", "k = 4", "da < DATE'1582-10-15'", "ts < '1583-01-01'", "s LIKE 'xxx%'", "st.b.c = 'x'", "d3 > 0", "nt IS NULL", "l < 0")),
    golden("partition_types", predicates=("bo", "s = 'ünï ☃ 😀'", "da = '9999-12-31'", "l > 0 AND de >= 0", "ts IS NULL", "b = X'25'")),
    golden("partition_empty_string"),
    golden("timestamp_ntz", predicates=("t < TIMESTAMP_NTZ'1970-01-01 00:00:00'",)),
    golden("wide", predicates=("c31 > 100", "c35 = 35")),
    golden("char_varchar"),
    Case("strings", "CREATE TABLE {t} (s STRING, n STRUCT<s: STRING>) USING DELTA", *["INSERT INTO {t} VALUES (%s, named_struct('s', %s))" % (text(s), text(s)) for s in STRINGS],
         "INSERT INTO {t} VALUES " + ", ".join("(%s, null)" % text(s) for s in STRINGS[:6]), predicates=("s = 'a'", "s > 'xy'", "n.s LIKE '😀%'", "s < 'a'")),
    Case("numbers", "CREATE TABLE {t} (i INT, l BIGINT, ti TINYINT, f FLOAT, d DOUBLE, p DECIMAL(38,0), q DECIMAL(38,38), r DECIMAL(10,2), b BOOLEAN) USING DELTA",
         "INSERT INTO {t} VALUES (1, 1, 1, 0.1F, 0.1D, 1, 0.1, 1, true), (2, 9007199254740993, 2, 16777217, 1e-7D, 99999999999999999999999999999999999999, 0.00000000000000000000000000000000000001, -0.01, false)",
         "INSERT INTO {t} (f, d) VALUES (float('NaN'), double('NaN'))", "INSERT INTO {t} (f, d) VALUES (float('NaN'), 5D), (1, double('NaN'))", "INSERT INTO {t} (f, d) VALUES (0.0F, 0.0D), (float('-0'), -0.0D)",
         "INSERT INTO {t} (f, d) VALUES (float('-0'), -0.0D)", "INSERT INTO {t} (f, d) VALUES (float('Infinity'), double('-Infinity'))", "INSERT INTO {t} (f, d) VALUES (1.4E-45F, 4.9E-324D), (3.4E38, 1.7976931348623157E308)",
         "INSERT INTO {t} (f, d) VALUES (1e10F, 1e21D), (123456.789F, 12345678.9D)", "INSERT INTO {t} (p, q, r) VALUES (-1, -0.5, 0), (0, 0, 0.00)", "INSERT INTO {t} (i) VALUES (null)", predicates=("d = double('NaN')", "i > 1", "q > 0", "f = 0")),
    Case("times", "CREATE TABLE {t} (id INT, d DATE, t TIMESTAMP, n TIMESTAMP_NTZ) USING DELTA", "INSERT INTO {t} VALUES (1, DATE'2020-02-29', TIMESTAMP'2020-02-29 12:34:56.789999', TIMESTAMP_NTZ'2020-02-29 12:34:56.789999')",
         "INSERT INTO {t} VALUES (2, DATE'1969-12-31', TIMESTAMP'1969-12-31 23:59:59.999999', TIMESTAMP_NTZ'1969-12-31 23:59:59.999999')", "INSERT INTO {t} VALUES (3, DATE'1582-10-10', TIMESTAMP'1582-10-10 00:00:00.000001', TIMESTAMP_NTZ'1582-10-10 00:00:00.000001')",
         "INSERT INTO {t} VALUES (4, DATE'0001-01-01', TIMESTAMP'0001-01-01 00:00:00', TIMESTAMP_NTZ'0001-01-01 00:00:00'), (5, DATE'9999-12-31', TIMESTAMP'9999-12-31 23:59:59.999999', TIMESTAMP_NTZ'9999-12-31 23:59:59.999999')",
         "INSERT INTO {t} VALUES (6, null, TIMESTAMP'1900-01-01 00:00:00', null)", predicates=("t = TIMESTAMP'2020-02-29 12:34:56.789999'", "t = TIMESTAMP'1969-12-31 23:59:59.999999'", "n > TIMESTAMP_NTZ'2020-01-01 00:00:00'", "d < '1600-01-01'")),
    Case("nested", "CREATE TABLE {t} (a ARRAY<INT>, m MAP<STRING, INT>, s STRUCT<x: INT, y: STRUCT<z: STRING, w: ARRAY<INT>>, b: BINARY>, l ARRAY<STRUCT<q: INT>>) USING DELTA",
         "INSERT INTO {t} VALUES (array(1), map('k', 1), named_struct('x', 1, 'y', named_struct('z', 'z', 'w', array(1)), 'b', X'01'), array(named_struct('q', 1)))",
         "INSERT INTO {t} VALUES (null, null, null, null), (array(), map(), named_struct('x', null, 'y', null, 'b', null), array())", "INSERT INTO {t} VALUES (array(null), map('a', null), named_struct('x', 5, 'y', named_struct('z', null, 'w', null), 'b', X''), array(null))",
         predicates=("s.x = 5", "s.y.z = 'z'", "s IS NULL", "a IS NULL")),
    Case("indexed_cols", "CREATE TABLE {t} (a INT, s STRUCT<b: INT, c: INT>, d INT) USING DELTA TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '2')", "INSERT INTO {t} VALUES (1, named_struct('b', 2, 'c', 3), 4)"),
    Case("indexed_cols_none", "CREATE TABLE {t} (a INT) USING DELTA TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '0')", "INSERT INTO {t} VALUES (1)"),
    Case("indexed_cols_all", "CREATE TABLE {t} (%s) USING DELTA TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '-1')" % ", ".join("c%d INT" % i for i in range(36)), "INSERT INTO {t} VALUES (%s)" % ", ".join(map(str, range(36)))),
    Case("stats_columns", "CREATE TABLE {t} (a INT, `b c` STRING, s STRUCT<x: INT, y: INT>, p INT) USING DELTA PARTITIONED BY (p) TBLPROPERTIES ('delta.dataSkippingStatsColumns' = 's.y,a', 'delta.columnMapping.mode' = 'name')",
         "INSERT INTO {t} VALUES (1, 'b', named_struct('x', 2, 'y', 3), 4)"),
    Case("stats_columns_plain", "CREATE TABLE {t} (a INT, b STRING, s STRUCT<x: INT, y: INT>) USING DELTA TBLPROPERTIES ('delta.dataSkippingStatsColumns' = 's,b')", "INSERT INTO {t} VALUES (1, 'b', named_struct('x', 2, 'y', 3))"),
    Case("string_prefix", "CREATE TABLE {t} (a STRING) USING DELTA", ("INSERT INTO {t} VALUES ('abcdefgh'), ('abcz')", {"spark.databricks.delta.stats.skippingStringPrefixLength": "4"})),
    Case("mapping_name", "CREATE TABLE {t} (id INT, `a b.c,d` STRING, s STRUCT<`x y`: INT, l: ARRAY<STRUCT<e: INT>>>, `p q` STRING) USING DELTA PARTITIONED BY (`p q`) TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
         "INSERT INTO {t} VALUES (1, 'one', named_struct('x y', 1, 'l', array(named_struct('e', 1))), 'p/1'), (2, null, null, null)", predicates=("s.`x y` = 1", "`p q` = 'p/1'")),
    Case("mapping_id", "CREATE TABLE {t} (id INT, m MAP<STRING, STRUCT<v: INT>>, s STRUCT<x: INT>) USING DELTA TBLPROPERTIES ('delta.columnMapping.mode' = 'id')", "INSERT INTO {t} VALUES (1, map('k', named_struct('v', 1)), named_struct('x', 1)), (2, null, null)"),
    Case("insert_forms", "CREATE TABLE {t} (id INT, v STRING, d DECIMAL(10,2)) USING DELTA COMMENT 'words' TBLPROPERTIES ('my.own' = 'x')", "INSERT INTO {t} (v, id) VALUES ('a', 1)", "INSERT INTO {t} BY NAME SELECT 2.5 AS d, 'b' AS v, 2 AS id",
         "INSERT INTO {t} SELECT id + 10, v, d FROM {t}", "INSERT INTO {t} VALUES ('7', 8, 9)", "INSERT INTO {t} SELECT * FROM {t} WHERE false"),
    Case("overwrite", "CREATE TABLE {t} (id INT, p STRING) USING DELTA PARTITIONED BY (p)", "INSERT INTO {t} VALUES (1, 'a'), (2, 'b'), (3, null)", "INSERT OVERWRITE {t} PARTITION (p = 'a') VALUES (10)", ("INSERT OVERWRITE {t} VALUES (20, 'b'), (30, 'c')", DYNAMIC),
         "INSERT INTO {t} PARTITION (p = 'd') VALUES (40)", "INSERT OVERWRITE {t} VALUES (99, 'z')", "INSERT OVERWRITE {t} SELECT * FROM {t} WHERE false"),
    Case("overwrite_unpartitioned", "CREATE TABLE {t} (id INT) USING DELTA", "INSERT INTO {t} VALUES (1)", "INSERT OVERWRITE {t} VALUES (2)", "INSERT OVERWRITE TABLE {t} SELECT id + 1 FROM {t}"),
    Case("ctas", "CREATE TABLE {t} USING DELTA PARTITIONED BY (p) TBLPROPERTIES ('delta.appendOnly' = 'true') AS SELECT id, id * 1.5 AS x, 'p' || id % 2 AS p FROM range(4)"),
    Case("ctas_empty", "CREATE TABLE {t} USING DELTA AS SELECT 1 AS a, 'x' AS b WHERE false"),
    Case("managed_replace", "CREATE TABLE managed_replace (id INT NOT NULL COMMENT 'c', s STRUCT<a: INT NOT NULL>) USING DELTA COMMENT 'first'", "INSERT INTO managed_replace VALUES (1, named_struct('a', 1))", "CREATE OR REPLACE TABLE managed_replace (x STRING) USING DELTA TBLPROPERTIES ('k' = 'v')",
         "INSERT INTO managed_replace VALUES ('a')", "REPLACE TABLE managed_replace USING DELTA PARTITIONED BY (d) AS SELECT 1 AS c, DATE'2020-01-01' AS d", "CREATE OR REPLACE TABLE managed_replace USING DELTA AS SELECT 'end' AS e", managed=True),
    Case("managed_ctas", "CREATE TABLE managed_ctas USING DELTA COMMENT 'made' AS SELECT 1 AS id, CAST(null AS STRING) AS s", "INSERT INTO managed_ctas VALUES (2, 'b')", managed=True),
    Case("evolve", "CREATE TABLE {t} (id INT, s STRUCT<a: INT>) USING DELTA", "INSERT INTO {t} VALUES (1, named_struct('a', 1))", ("INSERT INTO {t} SELECT 2 AS id, named_struct('a', 2, 'b', 'x') AS s, 5L AS extra", EVOLVE), "INSERT INTO {t} VALUES (3, null, null)"),
    Case("not_null", "CREATE TABLE {t} (id INT NOT NULL, s STRUCT<a: INT NOT NULL, b: STRING>) USING DELTA", "INSERT INTO {t} VALUES (1, named_struct('a', 1, 'b', null))"),
    Case("checkpointed", "CREATE TABLE {t} (id INT, p DATE, s STRING) USING DELTA PARTITIONED BY (p) TBLPROPERTIES ('delta.checkpointInterval' = '3')", *["INSERT INTO {t} VALUES (%d, DATE'2020-01-0%d', 'v%d')" % (i, i % 3 + 1, i) for i in range(7)], "INSERT OVERWRITE {t} PARTITION (p = '2020-01-01') VALUES (100, 'o')", predicates=("id > 4", "p = '2020-01-02'")),
    Case("stats_as_struct", "CREATE TABLE {t} (id INT, s STRING, n STRUCT<d: DECIMAL(20,2), t: TIMESTAMP, b: BINARY>) USING DELTA TBLPROPERTIES ('delta.checkpointInterval' = '2', 'delta.checkpoint.writeStatsAsStruct' = 'true', 'delta.checkpoint.writeStatsAsJson' = 'false')",
         *["INSERT INTO {t} VALUES (%d, 's%d', named_struct('d', %d.25, 't', TIMESTAMP'2020-01-01 00:00:0%d.123456', 'b', X'0%d'))" % (i, i, i, i, i) for i in range(4)], predicates=("id > 2", "n.d < 2")),
    Case("in_commit_timestamps", "CREATE TABLE {t} (id INT) USING DELTA TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'true')", "INSERT INTO {t} VALUES (1)", "INSERT INTO {t} VALUES (2)"),
    Case("deletion_vectors_on", "CREATE TABLE {t} (id INT) USING DELTA TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')", "INSERT INTO {t} VALUES (1)"),
    Case("row_tracking", "CREATE TABLE {t} (id INT) USING DELTA TBLPROPERTIES ('delta.enableRowTracking' = 'true')", "INSERT INTO {t} VALUES (1), (2)", "INSERT INTO {t} VALUES (3)"),
    Case("clustered", "CREATE TABLE {t} (id INT, v STRING) USING DELTA CLUSTER BY (id)", "INSERT INTO {t} VALUES (1, 'a')"),
    Case("v2_checkpoint", "CREATE TABLE {t} (id INT) USING DELTA TBLPROPERTIES ('delta.checkpointPolicy' = 'v2', 'delta.checkpointInterval' = '2')", "INSERT INTO {t} VALUES (1)", "INSERT INTO {t} VALUES (2)", "INSERT INTO {t} VALUES (3)"),
    Case("column_defaults", "CREATE TABLE {t} (id INT, v STRING DEFAULT 'none') USING DELTA TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')", "INSERT INTO {t} (id) VALUES (1)", "INSERT INTO {t} VALUES (2, DEFAULT)"),
    Case("change_feed_on", "CREATE TABLE {t} (id INT) USING DELTA TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')", "INSERT INTO {t} VALUES (1)", "INSERT OVERWRITE {t} VALUES (2)"),
    Case("variants", "CREATE TABLE {t} (id INT, v VARIANT) USING DELTA", "INSERT INTO {t} SELECT 1, parse_json('{\"a\":[1,2.5,null,\"x\"]}')", "INSERT INTO {t} VALUES (2, null)"),
    Case("versions_wanted", "CREATE TABLE {t} (id INT) USING DELTA TBLPROPERTIES ('delta.minReaderVersion' = '2', 'delta.minWriterVersion' = '5')", "INSERT INTO {t} VALUES (1)"),
    Case("compressed", "CREATE TABLE {t} (id INT) USING DELTA", ("INSERT INTO {t} VALUES (1)", {"spark.sql.parquet.compression.codec": "zstd"})),
]
