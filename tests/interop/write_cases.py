"""What both Silt and Spark write, statement by statement, so that the two tables can be compared (run_interop.py does).

A case: name, statements ({t} is the table's path name; a tuple is a statement and its configuration), predicates whose pruned files are compared.
rewrites: statements change rows, and into how many files each engine puts them is its own affair: numbers and statistics of files are not compared.
changes: the change data feed is. row_ids: a column by which the rows' ids and versions are compared.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden"))

DYNAMIC = {"spark.sql.sources.partitionOverwriteMode": "dynamic"}
EVOLVE = {"spark.databricks.delta.schema.autoMerge.enabled": "true"}


class Case:
    def __init__(self, name, *statements, predicates=(), managed=False, deltalake=True, rewrites=False, changes=False, row_ids=None):
        self.name, self.predicates, self.managed, self.deltalake = name, predicates, managed, deltalake
        self.rewrites, self.changes, self.row_ids = rewrites, changes, row_ids
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

ROWS = "INSERT INTO {t} SELECT /*+ COALESCE(1) */ id, concat('v', id), CAST(id % 3 AS INT), id / 4 FROM range(0, 40, 1, 1)"
TYPES = ("CREATE TABLE {t} (id INT, b TINYINT, s SMALLINT, l BIGINT, f FLOAT, d DOUBLE, c DECIMAL(20,4), t STRING, x BINARY, o BOOLEAN, da DATE, ts TIMESTAMP, tn TIMESTAMP_NTZ, a ARRAY<INT>, m MAP<STRING,INT>, "
         "st STRUCT<u: INT, v: STRING, w: STRUCT<y: ARRAY<STRUCT<z: DATE>>>>, ch CHAR(3), vc VARCHAR(5)) USING DELTA%s")
TYPE_ROWS = ("INSERT INTO {t} VALUES (1,1,1,1,1.5,1.5,1.5,'t',X'01',true,DATE'2020-01-01',TIMESTAMP'2020-01-01 00:00:00.123456',TIMESTAMP_NTZ'2020-01-01 00:00:00',array(1,null),map('a',1),named_struct('u',1,'v','x','w',named_struct('y',array(named_struct('z',DATE'2020-01-01')))),'a','b'),"
             "(2,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null),"
             "(3,-1,-1,-1,-1.5,double('NaN'),-1.5,'',X'',false,DATE'1969-12-31',TIMESTAMP'1969-12-31 23:59:59.999999',TIMESTAMP_NTZ'1969-12-31 23:59:59.5',array(),map(),named_struct('u',null,'v',null,'w',null),'abc','abcde'),"
             "(4,4,4,4,4,4,4,'four',X'04',true,DATE'2024-02-29',TIMESTAMP'2024-02-29 12:00:00',TIMESTAMP_NTZ'2024-02-29 12:00:00',array(4),map('d',4),named_struct('u',4,'v','d','w',named_struct('y',array())),'d','d')")


def table(*properties, partition="", columns="id BIGINT, v STRING, p INT, x DOUBLE"):
    on = ", ".join("'%s' = '%s'" % tuple(p.split("=")) for p in properties)
    return "CREATE TABLE {t} (%s) USING DELTA%s%s" % (columns, " PARTITIONED BY (%s)" % partition if partition else "", " TBLPROPERTIES (%s)" % on if on else "")


VECTORS, FEED, TRACKED = "delta.enableDeletionVectors=true", "delta.enableChangeDataFeed=true", "delta.enableRowTracking=true"
CHANGES = ["DELETE FROM {t} WHERE id IN (3, 4)", "UPDATE {t} SET v = 'u', x = x + 1 WHERE id = 6", "DELETE FROM {t} WHERE id = 6", "UPDATE {t} SET p = p + 1 WHERE id % 5 = 0", "DELETE FROM {t} WHERE v LIKE 'v1%'",
           "INSERT INTO {t} VALUES (100, 'late', 1, null)", "UPDATE {t} SET v = null WHERE x > 8", "DELETE FROM {t} WHERE v IS NULL AND id > 35", "UPDATE {t} SET x = -x", "DELETE FROM {t} WHERE p = 2", "DELETE FROM {t} WHERE id >= 0 AND id < 8"]

CASES += [
    Case("dml_copies", table(), ROWS, *CHANGES, rewrites=True, predicates=("id < 20", "v IS NULL")),
    Case("dml_vectors", table(VECTORS), ROWS, *CHANGES, rewrites=True, predicates=("id < 20", "v IS NULL")),
    Case("dml_partitions", table(partition="p"), ROWS, *CHANGES, rewrites=True),
    Case("dml_partition_vectors", table(VECTORS, partition="p"), ROWS, *CHANGES, rewrites=True),
    Case("dml_feed", table(FEED), ROWS, *CHANGES, rewrites=True, changes=True),
    Case("dml_feed_partitions", table(FEED, partition="p"), ROWS, *CHANGES, rewrites=True, changes=True),
    Case("dml_feed_vectors", table(FEED, VECTORS, partition="p"), ROWS, *CHANGES, rewrites=True, changes=True),
    Case("dml_row_ids", table(TRACKED), ROWS, *CHANGES, rewrites=True, row_ids="id"),
    Case("dml_row_ids_vectors", table(TRACKED, VECTORS), ROWS, *CHANGES, rewrites=True, row_ids="id"),
    Case("dml_everything", table(TRACKED, VECTORS, FEED, "delta.columnMapping.mode=name", "delta.enableInCommitTimestamps=true", "delta.checkpointInterval=3", partition="p"), ROWS, *CHANGES, rewrites=True, changes=True, row_ids="id"),
    Case("dml_mapping_name", table(VECTORS, "delta.columnMapping.mode=name", columns="id BIGINT, `v w` STRUCT<`a b`: STRING, c: INT>, `p q` STRING", partition="`p q`"),
         "INSERT INTO {t} VALUES (1, named_struct('a b', 'x', 'c', 1), 'p/1'), (2, null, 'p/1'), (3, named_struct('a b', null, 'c', 3), null)", "UPDATE {t} SET `v w`.`a b` = 'y' WHERE id = 1", "DELETE FROM {t} WHERE `v w` IS NULL",
         "UPDATE {t} SET `p q` = 'moved' WHERE `p q` IS NULL", "DELETE FROM {t} WHERE `v w`.c = 3", rewrites=True),
    Case("dml_mapping_id", table("delta.columnMapping.mode=id", columns="id BIGINT, s STRUCT<a: INT, l: ARRAY<STRUCT<e: INT>>>"), "INSERT INTO {t} VALUES (1, named_struct('a', 1, 'l', array(named_struct('e', 1)))), (2, null), (3, named_struct('a', 3, 'l', null))",
         "UPDATE {t} SET s.a = 10 WHERE id < 3", "DELETE FROM {t} WHERE s.a = 3", rewrites=True),
    Case("dml_types", TYPES % "", TYPE_ROWS, "DELETE FROM {t} WHERE ts < TIMESTAMP'1970-01-01 00:00:00'", "UPDATE {t} SET st.u = 9, st.w.y = array(named_struct('z', DATE'1582-10-10')), a = array(7), m = map('z', null), ch = 'q' WHERE id = 1",
         "UPDATE {t} SET b = 2, s = 3, l = 4, f = 5, d = double('NaN'), c = 7, t = 8, x = X'09', o = false, da = DATE'0001-01-01', ts = TIMESTAMP'9999-12-31 23:59:59.999999', tn = TIMESTAMP_NTZ'2021-01-01 01:00:00' WHERE id = 2", "DELETE FROM {t} WHERE t = 'four'", rewrites=True),
    Case("dml_types_vectors", TYPES % " TBLPROPERTIES ('delta.enableDeletionVectors' = 'true', 'delta.enableChangeDataFeed' = 'true')", TYPE_ROWS, "UPDATE {t} SET st.v = 'new', d = -0.0D WHERE id <> 2", "DELETE FROM {t} WHERE da IS NULL", rewrites=True, changes=True),
    Case("dml_partition_types", "CREATE TABLE {t} (id INT, s STRING, d DATE, ts TIMESTAMP, dc DECIMAL(10,2), bo BOOLEAN) USING DELTA PARTITIONED BY (s, d, ts, dc, bo)",
         "INSERT INTO {t} VALUES (1, 'a b/c=d%e', DATE'2020-01-01', TIMESTAMP'2020-01-01 10:00:00.5', 1.5, true), (2, '', null, null, null, null), (3, 'ünï ☃', DATE'9999-12-31', TIMESTAMP'1969-12-31 23:59:59.999999', -0.01, false)",
         "DELETE FROM {t} WHERE s = 'a b/c=d%e' AND ts = TIMESTAMP'2020-01-01 10:00:00.5'", "UPDATE {t} SET dc = 7, s = '' WHERE bo = false", "DELETE FROM {t} WHERE s IS NULL AND d IS NULL", rewrites=True),
    Case("dml_constraints", "CREATE TABLE {t} (id INT NOT NULL, q INT, v VARCHAR(4)) USING DELTA TBLPROPERTIES ('delta.constraints.pos' = 'q > 0')", "INSERT INTO {t} VALUES (1, 1, 'a'), (2, 2, 'b')", "UPDATE {t} SET q = q + 1, v = 'long' WHERE id = 1", "DELETE FROM {t} WHERE q = 2 AND id = 2", rewrites=True),
    Case("dml_many_vectors", table(VECTORS, FEED), "INSERT INTO {t} SELECT /*+ REPARTITION(8) */ id, concat('v', id), CAST(id % 3 AS INT), id / 4 FROM range(40000)", "DELETE FROM {t} WHERE id % 3 = 0", "DELETE FROM {t} WHERE id % 7 = 1", "UPDATE {t} SET v = 'u' WHERE id % 100 = 1",
         "DELETE FROM {t} WHERE id BETWEEN 10000 AND 20000", rewrites=True),
    Case("dml_checkpointed", table(VECTORS, "delta.checkpointInterval=2"), ROWS, *["DELETE FROM {t} WHERE id = %d" % i for i in range(6)], rewrites=True),
    Case("replace_where", table(partition="p"), ROWS, "INSERT INTO {t} REPLACE WHERE p = 1 VALUES (500, 'r', 1, 0.5)", "INSERT INTO {t} REPLACE WHERE id < 10 SELECT id, 'again', p, x FROM {t} WHERE id < 5", "INSERT INTO {t} REPLACE WHERE p = 9 VALUES (900, 'n', 9, null)",
         "INSERT INTO {t} REPLACE WHERE p = 9 SELECT * FROM {t} WHERE false", rewrites=True),
    Case("replace_where_feed", table(FEED), ROWS, "INSERT INTO {t} REPLACE WHERE id < 10 VALUES (5, 'five', 1, 0.5)", "INSERT INTO {t} REPLACE WHERE v = 'five' VALUES (6, 'five', 1, 0.5), (7, 'five', 2, null)", rewrites=True, changes=True),
    Case("replace_where_vectors", table(FEED, VECTORS, TRACKED), ROWS, "INSERT INTO {t} REPLACE WHERE id < 10 VALUES (5, 'five', 1, 0.5)", "INSERT INTO {t} REPLACE WHERE v = 'v30' VALUES (30, 'v30', 1, 0.5)", rewrites=True, changes=True),
    Case("truncate", table(FEED, partition="p"), ROWS, "TRUNCATE TABLE {t}", "INSERT INTO {t} VALUES (1, 'a', 1, 1)", "DELETE FROM {t}", changes=True, rewrites=True),
]

NESTED = "id INT, s STRUCT<x: INT, y: STRUCT<z: STRING>>, ar ARRAY<STRUCT<e: INT>>, m MAP<STRING, STRUCT<v: INT>>, p STRING"
NESTED_ROW = "INSERT INTO {t} VALUES (1, named_struct('x', 1, 'y', named_struct('z', 'q')), array(named_struct('e', 1)), map('k', named_struct('v', 1)), 'a')"
RENAMES = ["ALTER TABLE {t} RENAME COLUMN s.x TO xx", "ALTER TABLE {t} RENAME COLUMN ar.element.e TO ee", "ALTER TABLE {t} RENAME COLUMN p TO pp", "ALTER TABLE {t} RENAME COLUMN id TO `i d,`"]

CASES += [
    Case("alter_add", "CREATE TABLE {t} (%s) USING DELTA PARTITIONED BY (p)" % NESTED, NESTED_ROW, "ALTER TABLE {t} ADD COLUMN c1 INT", "ALTER TABLE {t} ADD COLUMNS (c2 STRING COMMENT 'two' FIRST, c3 DECIMAL(5,2) AFTER id)",
         "ALTER TABLE {t} ADD COLUMNS (ar.element.f INT COMMENT 'f', m.value.u STRING FIRST, s.y.q DATE, s.w INT AFTER x, vc VARCHAR(3))",
         "INSERT INTO {t} VALUES ('two', 2, 2.5, named_struct('x', 2, 'w', 3, 'y', named_struct('z', 'zz', 'q', DATE'2020-01-01')), array(named_struct('e', 5, 'f', 6)), map('k', named_struct('u', 'u', 'v', 7)), 'b', 9, 'abc')"),
    Case("alter_change", "CREATE TABLE {t} (%s) USING DELTA" % NESTED, NESTED_ROW, "ALTER TABLE {t} ALTER COLUMN id COMMENT 'key'", "ALTER TABLE {t} ALTER COLUMN p FIRST", "ALTER TABLE {t} ALTER COLUMN s.y FIRST",
         "ALTER TABLE {t} ALTER COLUMN id COMMENT 'one', p COMMENT 'two'", "ALTER TABLE {t} ALTER COLUMN ar.element.e COMMENT 'inner'", "ALTER TABLE {t} CHANGE COLUMN id id INT COMMENT 'hive' AFTER s",
         "ALTER TABLE {t} ALTER COLUMN id TYPE INT", "INSERT INTO {t} VALUES ('b', named_struct('y', named_struct('z', 'r'), 'x', 5), 2, array(), map())"),
    Case("alter_replace_columns", "CREATE TABLE {t} (a INT COMMENT 'first', b STRING, s STRUCT<x: INT, y: INT>) USING DELTA", "INSERT INTO {t} VALUES (1, 'b', named_struct('x', 1, 'y', 2))",
         "ALTER TABLE {t} REPLACE COLUMNS (b STRING COMMENT 'second', s STRUCT<y: INT, x: INT, z: STRING>, a INT, c DOUBLE)", "INSERT INTO {t} VALUES ('c', named_struct('y', 1, 'x', 2, 'z', 'z'), 3, 4)"),
    Case("alter_rename_drop", "CREATE TABLE {t} (%s, n INT) USING DELTA PARTITIONED BY (p) TBLPROPERTIES ('delta.columnMapping.mode' = 'name')" % NESTED, NESTED_ROW.replace("'a')", "'a', 5)"), *RENAMES,
         "ALTER TABLE {t} DROP COLUMN n", "ALTER TABLE {t} DROP COLUMNS (m, s.y)", "ALTER TABLE {t} ADD COLUMN n STRING", "INSERT INTO {t} VALUES (2, named_struct('xx', 2), array(named_struct('ee', 3)), 'b', 'new')", predicates=("`i d,` = 2", "pp = 'a'", "s.xx = 1")),
    Case("alter_mapping_upgrade", "CREATE TABLE {t} (%s) USING DELTA PARTITIONED BY (p)" % NESTED, NESTED_ROW, "ALTER TABLE {t} SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')", *RENAMES,
         "INSERT INTO {t} VALUES (2, named_struct('xx', 2, 'y', null), null, null, 'b')", predicates=("`i d,` = 2", "pp = 'a'", "s.xx = 1")),
    Case("alter_mapping_removed", "CREATE TABLE {t} (%s) USING DELTA PARTITIONED BY (p) TBLPROPERTIES ('delta.columnMapping.mode' = 'name')" % NESTED, NESTED_ROW, *RENAMES[:3], "ALTER TABLE {t} DROP COLUMN m",
         "ALTER TABLE {t} SET TBLPROPERTIES ('delta.columnMapping.mode' = 'none')", "INSERT INTO {t} VALUES (2, named_struct('xx', 2, 'y', null), null, 'b')", rewrites=True),
    Case("alter_widen", "CREATE TABLE {t} (b TINYINT, i INT, l BIGINT, f FLOAT, d DECIMAL(5,2), s STRUCT<x: INT>, ar ARRAY<INT>, m MAP<INT, FLOAT>) USING DELTA", "INSERT INTO {t} VALUES (1, 2, 3, 1.5, 1.25, named_struct('x', 4), array(5), map(6, 7.5F))",
         "ALTER TABLE {t} SET TBLPROPERTIES ('delta.enableTypeWidening' = 'true')", *["ALTER TABLE {t} ALTER COLUMN %s" % c for c in ("b TYPE SMALLINT", "b TYPE INT", "i TYPE BIGINT", "l TYPE DECIMAL(20,0)", "f TYPE DOUBLE", "d TYPE DECIMAL(9,4)",
         "s.x TYPE BIGINT", "ar.element TYPE BIGINT", "m.key TYPE BIGINT", "m.value TYPE DOUBLE")], "INSERT INTO {t} VALUES (100000, 5000000000, 12345678901, 1e300, 12345.6789, named_struct('x', 5000000000), array(5000000000), map(5000000000, 1e300))", predicates=("i > 3", "d > 2", "b = 1")),
    Case("alter_defaults", "CREATE TABLE {t} (a INT NOT NULL, b STRING) USING DELTA", "ALTER TABLE {t} SET TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')", "ALTER TABLE {t} ALTER COLUMN a SET DEFAULT 3 + 4",
         "INSERT INTO {t} (b) VALUES ('x')", "ALTER TABLE {t} ALTER COLUMN a DROP NOT NULL", "ALTER TABLE {t} ALTER COLUMN a DROP DEFAULT", "INSERT INTO {t} (b) VALUES ('y')"),
    Case("alter_constraints", "CREATE TABLE {t} (a INT, b STRING) USING DELTA", "INSERT INTO {t} VALUES (1, 'x')", "ALTER TABLE {t} ADD CONSTRAINT Pos CHECK (a > 0)", "ALTER TABLE {t} ADD CONSTRAINT two CHECK (b IS NOT NULL AND a < 100)", "INSERT INTO {t} VALUES (2, 'y')",
         "ALTER TABLE {t} DROP CONSTRAINT two", "ALTER TABLE {t} DROP CONSTRAINT IF EXISTS two", "INSERT INTO {t} VALUES (200, null)"),
    Case("alter_properties", "CREATE TABLE {t} (a INT) USING DELTA COMMENT 'c' TBLPROPERTIES ('mine' = '1')", "INSERT INTO {t} VALUES (1)", "ALTER TABLE {t} SET TBLPROPERTIES ('mine' = '2', 'DELTA.logRetentionDuration' = 'interval 40 days')", "ALTER TABLE {t} UNSET TBLPROPERTIES ('mine', 'nope')",
         "ALTER TABLE {t} SET TBLPROPERTIES ('comment' = 'd')", "COMMENT ON TABLE {t} IS 'e'", "ALTER TABLE {t} UNSET TBLPROPERTIES ('comment')", "ALTER TABLE {t} SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true', 'delta.enableChangeDataFeed' = 'true')",
         "ALTER TABLE {t} SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'false')", "ALTER TABLE {t} SET TBLPROPERTIES ('delta.checkpointPolicy' = 'v2', 'delta.checkpointInterval' = '2')", "INSERT INTO {t} VALUES (2)", "INSERT INTO {t} VALUES (3)"),
    Case("alter_row_tracking", "CREATE TABLE {t} (a INT) USING DELTA", "INSERT INTO {t} VALUES (1), (2)", "INSERT INTO {t} VALUES (3)", "ALTER TABLE {t} SET TBLPROPERTIES ('delta.enableRowTracking' = 'true', 'delta.enableDeletionVectors' = 'true')", "INSERT INTO {t} VALUES (4)",
         "DELETE FROM {t} WHERE a = 2", rewrites=True, row_ids="a"),
    Case("alter_clustering", "CREATE TABLE {t} (a INT, s STRUCT<d: INT>) USING DELTA", "INSERT INTO {t} VALUES (1, null)", "ALTER TABLE {t} CLUSTER BY (s.d, a)", "ALTER TABLE {t} CLUSTER BY NONE", "ALTER TABLE {t} CLUSTER BY (a)", "INSERT INTO {t} VALUES (2, null)"),
    Case("alter_timestamps", "CREATE TABLE {t} (a INT) USING DELTA", "INSERT INTO {t} VALUES (1)", "ALTER TABLE {t} ADD COLUMN b INT", "INSERT INTO {t} VALUES (2, 2)"),
    Case("drop_check_constraints", "CREATE TABLE {t} (a INT) USING DELTA TBLPROPERTIES ('delta.constraints.c' = 'a > 0')", "INSERT INTO {t} VALUES (1)", "ALTER TABLE {t} DROP CONSTRAINT c", "ALTER TABLE {t} DROP FEATURE checkConstraints", "INSERT INTO {t} VALUES (0)"),
    Case("drop_deletion_vectors", "CREATE TABLE {t} (a INT) USING DELTA TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')", "INSERT INTO {t} SELECT /*+ COALESCE(1) */ id FROM range(0, 10000, 1, 1)", "DELETE FROM {t} WHERE a % 7 = 3", "ALTER TABLE {t} DROP FEATURE deletionVectors", "INSERT INTO {t} VALUES (100)", rewrites=True),
    Case("drop_type_widening", "CREATE TABLE {t} (a INT, l ARRAY<INT>) USING DELTA TBLPROPERTIES ('delta.enableTypeWidening' = 'true')", "INSERT INTO {t} VALUES (1, array(2))", "ALTER TABLE {t} ALTER COLUMN a TYPE BIGINT", "ALTER TABLE {t} ALTER COLUMN l.element TYPE BIGINT", "INSERT INTO {t} VALUES (5000000000, null)",
         "ALTER TABLE {t} DROP FEATURE typeWidening", "INSERT INTO {t} VALUES (5000000001, null)", rewrites=True),
    Case("drop_column_mapping", "CREATE TABLE {t} (a INT, b STRING) USING DELTA TBLPROPERTIES ('delta.columnMapping.mode' = 'name')", "INSERT INTO {t} VALUES (1, 'x')", "ALTER TABLE {t} RENAME COLUMN b TO c", "ALTER TABLE {t} DROP FEATURE columnMapping", "INSERT INTO {t} VALUES (2, 'y')", rewrites=True),
    Case("drop_row_tracking", "CREATE TABLE {t} (a INT) USING DELTA TBLPROPERTIES ('delta.enableRowTracking' = 'true')", "INSERT INTO {t} VALUES (1)", "ALTER TABLE {t} DROP FEATURE rowTracking", "ALTER TABLE {t} DROP FEATURE domainMetadata", "INSERT INTO {t} VALUES (2)", rewrites=True),
    Case("drop_in_commit_timestamp", "CREATE TABLE {t} (a INT) USING DELTA TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'true')", "INSERT INTO {t} VALUES (1)", "ALTER TABLE {t} DROP FEATURE inCommitTimestamp", "INSERT INTO {t} VALUES (2)", rewrites=True),
    Case("drop_vacuum_protocol_check", "CREATE TABLE {t} (a INT) USING DELTA TBLPROPERTIES ('delta.feature.vacuumProtocolCheck' = 'supported')", "INSERT INTO {t} VALUES (1)", "ALTER TABLE {t} DROP FEATURE vacuumProtocolCheck", "INSERT INTO {t} VALUES (2)", rewrites=True),
    Case("drop_v2_checkpoint", "CREATE TABLE {t} (a INT) USING DELTA TBLPROPERTIES ('delta.checkpointPolicy' = 'v2', 'delta.checkpointInterval' = '2')", "INSERT INTO {t} VALUES (1)", "INSERT INTO {t} VALUES (2)", "ALTER TABLE {t} DROP FEATURE v2Checkpoint", "INSERT INTO {t} VALUES (3)", rewrites=True),
    Case("iceberg_compat", "CREATE TABLE {t} (a INT, m MAP<STRING, ARRAY<INT>>, ts TIMESTAMP) USING DELTA PARTITIONED BY (a) TBLPROPERTIES ('delta.enableIcebergCompatV2' = 'true')", "INSERT INTO {t} VALUES (1, map('k', array(1)), TIMESTAMP'2020-01-01 00:00:00')", "ALTER TABLE {t} ADD COLUMN e ARRAY<ARRAY<STRUCT<x: INT>>>",
         "INSERT INTO {t} VALUES (2, null, null, array(array(named_struct('x', 1))))"),
]

NEW = "(SELECT /*+ COALESCE(1) */ id * 2 AS id, concat('n', id) AS v, CAST(id % 4 AS INT) AS p, id / 8 AS x FROM range(0, 12, 1, 1))"
MERGES = ["MERGE INTO {t} t USING " + NEW + " s ON t.id = s.id WHEN MATCHED AND s.id < 6 THEN UPDATE SET v = s.v, x = t.x + s.x WHEN MATCHED AND t.id = 8 THEN DELETE WHEN NOT MATCHED THEN INSERT *",
          "MERGE INTO {t} t USING (SELECT 3L AS id UNION ALL SELECT 1000L) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = 'three', p = 2 WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, 'thousand')",
          "MERGE INTO {t} t USING (SELECT 5L AS id, 'five' AS v, 1 AS p, 0.5D AS x) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED BY SOURCE AND t.id > 30 THEN DELETE WHEN NOT MATCHED BY SOURCE AND t.id = 29 THEN UPDATE SET x = -1",
          "MERGE INTO {t} t USING (SELECT * FROM VALUES (2000L), (2001L) v(id)) s ON t.id = s.id WHEN NOT MATCHED AND s.id > 2000 THEN INSERT (id, p) VALUES (s.id, 0)",
          "MERGE INTO {t} t USING (SELECT 12L AS id UNION ALL SELECT 12L UNION ALL SELECT 13L) s ON t.id = s.id WHEN MATCHED THEN DELETE",
          "MERGE INTO {t} t USING (SELECT 14L AS id) s ON t.id = s.id AND t.p = 2 WHEN MATCHED THEN UPDATE SET p = 1"]

CASES += [
    Case("merge_copies", table(), ROWS, *MERGES, rewrites=True, predicates=("id < 20", "v IS NULL")),
    Case("merge_vectors", table(VECTORS), ROWS, *MERGES, rewrites=True, predicates=("id < 20", "v IS NULL")),
    Case("merge_partitions", table(partition="p"), ROWS, *MERGES, rewrites=True),
    Case("merge_feed", table(FEED), ROWS, *MERGES, rewrites=True, changes=True),
    Case("merge_feed_vectors", table(FEED, VECTORS, partition="p"), ROWS, *MERGES, rewrites=True, changes=True),
    Case("merge_row_ids", table(TRACKED), ROWS, *MERGES, rewrites=True, row_ids="id"),
    Case("merge_row_ids_vectors", table(TRACKED, VECTORS), ROWS, *MERGES, rewrites=True, row_ids="id"),
    Case("merge_everything", table(TRACKED, VECTORS, FEED, "delta.columnMapping.mode=name", "delta.enableInCommitTimestamps=true", "delta.checkpointInterval=3", partition="p"), ROWS, *MERGES, rewrites=True, changes=True, row_ids="id"),
    Case("merge_evolves", table(FEED, "delta.enableTypeWidening=true", columns="id INT, s STRUCT<a: INT, b: STRING>"), "INSERT INTO {t} VALUES (1, named_struct('a', 1, 'b', 'x')), (2, null), (3, named_struct('a', 3, 'b', null))",
         "MERGE WITH SCHEMA EVOLUTION INTO {t} t USING (SELECT 1L AS id, named_struct('a', 10, 'c', 1.5D) AS s, DATE'2020-01-01' AS extra UNION ALL SELECT 5000000000L, null, null) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
         ("MERGE INTO {t} t USING (SELECT 2L AS id, 'auto' AS more) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET more = s.more", EVOLVE), rewrites=True),
    Case("merge_constraints", "CREATE TABLE {t} (id INT NOT NULL, q INT, v VARCHAR(4)) USING DELTA TBLPROPERTIES ('delta.constraints.pos' = 'q > 0')", "INSERT INTO {t} VALUES (1, 1, 'a'), (2, 2, 'b')",
         "MERGE INTO {t} t USING (SELECT 1 AS id, 9 AS q, 'long' AS v UNION ALL SELECT 3, 3, 'c') s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *", rewrites=True),
]
