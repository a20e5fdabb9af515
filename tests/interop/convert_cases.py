"""CONVERT TO DELTA: one folder of Parquet files in two copies, converted by Spark and by Silt. Compared are the outcome (or the condition of the error), schema, protocol,
configuration, commitInfo, every add with its statistics, and the rows as both engines read both tables; then both write on. Folders are written by Spark, pyarrow and DuckDB.
Names: convert/…

Deliberate differences: statistics leave out the null count of lists and maps; files without rows stay in the table; a TIMESTAMP partition value has its zone.
"""
import datetime
import decimal
import json
import os
import shutil

import delta_files
from report import Differs, Skip, equal
from silt_cli import Failed
from spark_peer import condition, path_table, rows

SPARK_TYPES = """SELECT CAST(id AS BYTE) b, CAST(id AS SHORT) sh, CAST(id AS INT) i, id l, CAST(id / 3 AS FLOAT) f, CASE id WHEN 3 THEN double('NaN') WHEN 4 THEN -0.0D ELSE id / 7D END d,
  CAST(id / 7 AS DECIMAL(9,2)) d9, CAST(id / 7 AS DECIMAL(18,4)) d18, CAST(-id * 1000000 / 7 AS DECIMAL(38,10)) d38, concat(repeat('é', CAST(id * 11 AS INT)), id) s,
  CASE WHEN id % 2 = 0 THEN concat(repeat('x', 31), chr(128512), 'tail') ELSE 'y' END s2, CAST(concat('b', id) AS BINARY) bin, id % 2 = 0 bo,
  date_add(DATE'1960-01-01', CAST(id * 9999 AS INT)) dt, timestampadd(MICROSECOND, id * 777777777, TIMESTAMP'1969-12-31 23:59:59.999999') ts,
  CAST(timestampadd(MICROSECOND, id, TIMESTAMP'2024-02-29 12:00:00.000001') AS TIMESTAMP_NTZ) ntz,
  CASE WHEN id = 2 THEN NULL ELSE struct(id AS x, struct(concat('n', id) AS y, CAST(id AS DOUBLE) AS z) AS inner) END st, array(id, NULL) ar, map('k', id) m,
  CASE WHEN id > 100 THEN 'never' END AS nul, CASE WHEN id = 2 THEN NULL ELSE id END AS some, 'two
lines' AS `select` FROM range(6)"""


def spark_write(run, folder, query, partition_by=(), **conf):
    for k, v in conf.items():
        run.spark.conf.set(k, v)
    try:
        run.spark.sql(query).coalesce(1).write.partitionBy(*partition_by).mode("append").parquet(folder)
    finally:
        for k in conf:
            run.spark.conf.unset(k)


def arrow_types(folder):
    import pyarrow as pa
    import pyarrow.parquet as pq
    us = datetime.datetime(2024, 2, 29, 12, 0, 0, 123456)
    t = pa.table({
        "i8": pa.array([-128, None, 127], pa.int8()), "u8": pa.array([255, 0, None], pa.uint8()), "u16": pa.array([65535, 1, 2], pa.uint16()),
        "u32": pa.array([2**32 - 1, 0, None], pa.uint32()), "u64": pa.array([2**64 - 1, 0, None], pa.uint64()), "f": pa.array([1.5, float("nan"), None], pa.float32()),
        "d": pa.array([1.5, -2.5, None]), "nan": pa.array([float("nan")] * 3), "s": pa.array(["é" * 50, "", None]), "ls": pa.array(["a", "b", None], pa.large_string()),
        "dict": pa.array(["one", "two", "one"]).dictionary_encode(), "ms": pa.array([us, None, us], pa.timestamp("ms")), "us": pa.array([us, None, us], pa.timestamp("us", tz="UTC")),
        "dec": pa.array([decimal.Decimal("1.10"), None, decimal.Decimal("-99999.99")], pa.decimal128(7, 2)),
        "big": pa.array([decimal.Decimal("12345678901234567890.5"), None, decimal.Decimal("-1.5")], pa.decimal128(38, 1)),
        "date": pa.array([datetime.date(1500, 1, 1), None, datetime.date(9999, 12, 31)]), "bin": pa.array([b"\xff", b"", None]), "b": pa.array([True, False, None]),
        "st": pa.array([{"x": 1, "y": {"z": "q"}}, None, {"x": None, "y": None}], pa.struct([("x", pa.int32()), ("y", pa.struct([("z", pa.string())]))])),
        "l": pa.array([[1, None], [], None], pa.list_(pa.int32())), "m": pa.array([[("k", 1)], [], None], pa.map_(pa.string(), pa.int32())),
        "same": pa.array(["x" * 40] * 3), "none": pa.array([None, None, None], pa.string())})
    os.makedirs(folder)
    pq.write_table(t, os.path.join(folder, "a.parquet"))
    pq.write_table(t, os.path.join(folder, "groups.parquet"), row_group_size=1)
    pq.write_table(t, os.path.join(folder, "nostats.parquet"), write_statistics=False)


def duck(statement):
    import duckdb
    duckdb.sql("SET TimeZone = 'UTC'")
    duckdb.sql(statement)


DUCK_TYPES = """SELECT i::TINYINT AS t, i::UTINYINT AS ut, i::USMALLINT AS us, i::UINTEGER AS ui, i::UBIGINT AS ub, (i / 7)::DECIMAL(4,1) AS d4, (i / 7)::DECIMAL(9,3) AS d9, (i / 7)::DECIMAL(18,3) AS d18,
  (i * 1e15)::DECIMAL(30,3) AS d30, i / 3 AS dbl, CASE i WHEN 2 THEN 'nan'::DOUBLE ELSE i END AS nan, (i / 3)::FLOAT AS f, repeat('é', (i * 60)::INT) AS s, 'v' || i AS s2, ('b' || i)::BLOB AS bin,
  DATE '1969-12-30' + i::INT AS dt, TIMESTAMPTZ '2024-01-01 00:00:00.123456+00' + to_seconds(i) AS tz, TIMESTAMP '1950-01-01 00:00:00.000001' + to_seconds(i) AS ts,
  CASE WHEN i = 1 THEN NULL ELSE {'x': i, 'y': {'z': 'q' || i}} END AS st, [i, NULL] AS l, map {'k': i} AS m, NULL::INT AS nul, i % 2 = 0 AS b FROM range(4) t(i)"""


class Folder:
    """One folder, made once, in two copies."""

    def __init__(self, run, name):
        self.run, self.name = run, name
        self.made, self.ours, self.theirs = (run.fresh("convert_%s_%s" % (name, x)) for x in ("made", "ours", "theirs"))

    def copy(self):
        for to in (self.ours, self.theirs):
            shutil.rmtree(to, ignore_errors=True)
            shutil.copytree(self.made, to, symlinks=True)


def outcome(action):
    """None, or the condition of the error."""
    try:
        action()
    except Failed as e:
        return e.condition() or e.message
    except Exception as e:
        return condition(e) or str(e)[:300]
    return None


def convert_both(f, clause="", conf=(), name="parquet"):
    statement = lambda path: "CONVERT TO DELTA %s.`%s` %s" % (name, path, clause)
    if "TIMESTAMP" in clause:                        # Delta's grammar does not know the type here
        columns = clause[clause.index("(") + 1:-1]
        theirs = outcome(lambda: f.run.spark._jvm.io.delta.tables.DeltaTable.convertToDelta(f.run.spark._jsparkSession, "%s.`%s`" % (name, f.run.at(f.theirs)), columns))
        f.run.written(f.theirs)
    else:
        theirs = outcome(lambda: f.run.spark_sql(statement(f.theirs), conf).collect())
    ours = outcome(lambda: f.run.silt.sql(statement(f.ours), conf))
    return ours, theirs


def adds_by_path(path):
    return {a["path"]: a for _, a in delta_files.actions(path, "add")}


LEFT_OUT = ("array", "map")


def drop_left_out(stats, schema):
    """Spark's statistics without what Silt leaves out on purpose."""
    def walk(counts, t):
        for f in t["fields"]:
            kind = f["type"]
            if isinstance(kind, dict) and kind["type"] in LEFT_OUT:
                counts.pop(f["name"], None)
            elif isinstance(kind, dict) and isinstance(counts.get(f["name"]), dict):
                walk(counts[f["name"]], kind)
    if stats and "nullCount" in stats:
        walk(stats["nullCount"], schema)
    return stats


def compare_adds(f, schema, times_have_zone):
    ours, theirs = adds_by_path(f.ours), adds_by_path(f.theirs)
    equal("paths", sorted(ours), sorted(theirs))
    for path, a in ours.items():
        b = theirs[path]
        for key in ("size", "dataChange") + (() if times_have_zone else ("partitionValues",)):
            equal("%s of %s" % (key, path), a.get(key), b.get(key))
        got, want = drop_left_out(delta_files.statistics(a, {}), schema), drop_left_out(delta_files.statistics(b, {}), schema)
        found = delta_files.differences(got, want) if (got is None) == (want is None) else ["%s, expected %s" % (got, want)]
        if found:
            raise Differs("statistics of %s: %s" % (path, "; ".join(found)[:500]))


def comparable_info(path):
    info = dict(delta_files.newest(path, "commitInfo"))
    for k in ("timestamp", "engineInfo", "txnId"):
        info.pop(k)
    return info


def compare_logs(f, times_have_zone=False):
    a, b = delta_files.newest(f.ours, "metaData"), delta_files.newest(f.theirs, "metaData")
    equal("schema", delta_files.comparable_schema(json.loads(a["schemaString"])), delta_files.comparable_schema(json.loads(b["schemaString"])))
    equal("partition columns", a["partitionColumns"], b["partitionColumns"])
    equal("configuration", a["configuration"], b["configuration"])
    equal("protocol", delta_files.newest(f.ours, "protocol"), delta_files.newest(f.theirs, "protocol"))
    equal("commitInfo", comparable_info(f.ours), comparable_info(f.theirs))
    compare_adds(f, json.loads(a["schemaString"]), times_have_zone)


def read_all(run, path):
    query = "SELECT * FROM " + path_table(path)
    return sorted(run.silt.sql(query), key=str), sorted(rows(run.spark.sql(query)), key=str)


def compare_rows(f):
    silt_ours, spark_ours = read_all(f.run, f.ours)
    silt_theirs, spark_theirs = read_all(f.run, f.theirs)
    equal("Spark reads what Silt converted", spark_ours, spark_theirs)
    equal("Silt reads what Silt converted", silt_ours, spark_theirs)
    equal("Silt reads what Spark converted", silt_theirs, spark_theirs)
    return silt_ours


def write_on(f):
    """Both append and delete on the table that Silt converted."""
    t = path_table(f.ours)
    before = f.run.silt.sql("SELECT count(*) FROM " + t)[0][0]
    f.run.spark.sql("INSERT INTO %s SELECT * FROM %s" % (t, t))
    f.run.silt.sql("INSERT INTO %s SELECT * FROM %s LIMIT 1" % (t, t))
    equal("rows after both wrote", f.run.spark.sql("SELECT count(*) FROM " + t).collect()[0][0], 2 * before + 1)
    f.run.silt.sql("DELETE FROM " + t)
    equal("rows after DELETE", f.run.spark.sql("SELECT count(*) FROM " + t).collect()[0][0], 0)


def good(run, name, make, clause="", conf=(), times_have_zone=False, writes=False):
    if not run.report.wants("convert/" + name):
        return
    with run.report.case("convert/" + name):
        f = Folder(run, name)
        make(f.made)
        f.copy()
        ours, theirs = convert_both(f, clause, conf)
        if ours or theirs:
            raise Differs("Silt: %s, Spark: %s" % (ours, theirs))
        compare_logs(f, times_have_zone)
        compare_rows(f)
        equal("again", outcome(lambda: run.silt.sql("CONVERT TO DELTA parquet.`%s`" % f.ours)), None)
        equal("versions", len(delta_files.commits(f.ours)), 1)
        if writes:
            write_on(f)


def bad(run, name, make, clause="", want=None, provider="parquet", conf=()):
    """Both refuse, by the same condition (or by that one, where Spark's error has none)."""
    if not run.report.wants("convert/" + name):
        return
    with run.report.case("convert/" + name):
        f = Folder(run, name)
        make(f.made)
        f.copy()
        ours, theirs = convert_both(f, clause, conf, provider)
        if not theirs:
            raise Differs("Spark converts it; Silt: %s" % ours)
        equal("condition", ours, want or theirs)
        equal("nothing is left", os.path.exists(os.path.join(f.ours, "_delta_log")), False)


# ---- folders ------------------------------------------------------------------------------------------------------------------------------

def odd_partitions(run):
    def make(folder):
        # every ASCII character and some others; Spark itself cannot write a slash-only value's folder otherwise
        spark_write(run, folder, "SELECT CASE WHEN id = 0 THEN NULL WHEN id < 128 THEN concat('v', chr(id), 'w') WHEN id = 128 THEN 'é' WHEN id = 129 THEN '😀 %41' WHEN id = 130 THEN '' "
                    "ELSE concat(' ', id, ' ') END AS p, CAST(id % 3 AS INT) AS q, id AS v FROM range(133)", ["p", "q"])
    good(run, "partitions_odd", make, "PARTITIONED BY (p STRING, q INT)", writes=True)


def duckdb_partitions(run):
    """DuckDB escapes the bytes of é, which Spark takes for two characters: Silt's values are the ones that were written."""
    with run.report.case("convert/duckdb_partitions"):
        path = run.fresh("convert_duckdb_partitions")
        duck("COPY (SELECT i AS v, 'a/b é' || (i %% 3) AS p FROM range(9) t(i)) TO '%s' (FORMAT parquet, PARTITION_BY (p))" % path)
        run.silt.sql("CONVERT TO DELTA parquet.`%s` PARTITIONED BY (p STRING)" % path)
        silt, spark = read_all(run, path)
        equal("Silt", silt, sorted([[i, "a/b é%d" % (i % 3)] for i in range(9)], key=str))
        equal("Spark", spark, silt)


def typed_partitions(run):
    import pyarrow as pa
    import pyarrow.parquet as pq

    def folder_of(*names):
        def make(folder):
            for n, name in enumerate(names):
                os.makedirs(os.path.join(folder, name))
                pq.write_table(pa.table({"v": [n]}), os.path.join(folder, name, "f.parquet"))
        return make
    null = "__HIVE_DEFAULT_PARTITION__"
    good(run, "partitions_typed", folder_of("i=7/d=2024-02-29/x=1.5/n=1.50/b=true", "i=007/d=2024-02-29/x=NaN/n=-3/b=false", "i=+3/d=1500-01-01/x=-0.0/n=0/b=true", "i=-1/d=9999-12-31/x=1E10/n=0.1/b=" + null,
                                             "i=%s/d=%s/x=%s/n=%s/b=%s" % ((null,) * 5)), "PARTITIONED BY (i INT, d DATE, x DOUBLE, n DECIMAL(10,2), b BOOLEAN)", writes=True)
    good(run, "partitions_case", folder_of("P=1/sub", "p=2"), "PARTITIONED BY (P INT COMMENT 'the part')")
    good(run, "partitions_timestamp", folder_of("ts=2024-01-01 00%3A00%3A00", "ts=2024-07-01 12%3A30%3A00.5"), "PARTITIONED BY (ts TIMESTAMP)", times_have_zone=True)
    bad(run, "partitions_unnamed", folder_of("p=1"))
    bad(run, "partitions_too_many_named", folder_of("p=1"), "PARTITIONED BY (p INT, q INT)")
    bad(run, "partitions_none_there", folder_of("sub"), "PARTITIONED BY (p INT)")
    bad(run, "partitions_order", folder_of("p=1/q=2"), "PARTITIONED BY (q INT, p INT)")
    bad(run, "partitions_cast", folder_of("p=1", "p=x"), "PARTITIONED BY (p INT)")
    bad(run, "partitions_cast_range", folder_of("p=300"), "PARTITIONED BY (p TINYINT)")
    bad(run, "partitions_gap", folder_of("p=1/sub/q=2"), "PARTITIONED BY (p INT, q INT)")


def hidden_files(run):
    import pyarrow as pa
    import pyarrow.parquet as pq

    def make(folder):
        for name in ("p=1/a.parquet", "p=1/_hidden.parquet", "p=1/.hidden.parquet", "_tmp/b.parquet", ".tmp/c.parquet", "_SUCCESS", "p=2/d", "p=2/_temporary/0/e.parquet"):
            os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
            pq.write_table(pa.table({"v": [1]}), os.path.join(folder, name))
        os.makedirs(os.path.join(folder, "p=3/empty"))
        os.symlink("p=2", os.path.join(folder, "p=4"))
    good(run, "hidden_files", make, "PARTITIONED BY (p INT)")

    def make_underscore(folder):
        for name in ("_p=1/a.parquet", "_p=2/b.parquet"):
            os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
            pq.write_table(pa.table({"v": [1]}), os.path.join(folder, name))
    good(run, "hidden_partition_name", make_underscore, "PARTITIONED BY (_p INT)")


def stream_folder(run):
    def make(folder):
        source = run.fresh("convert_stream_source")
        os.makedirs(source)
        run.spark.range(3).coalesce(1).write.mode("overwrite").json(source)
        run.spark.readStream.schema("id LONG").json(source).writeStream.format("parquet").option("checkpointLocation", run.fresh("convert_stream_checkpoint")) \
            .option("path", run.at(folder)).trigger(availableNow=True).start().awaitTermination()
        run.written(folder)
    with run.report.case("convert/stream_log"):
        for name, move in (("ours", run.silt.sql), ("theirs", lambda s: run.spark.sql(s))):
            path = run.fresh("convert_stream_" + name)            # its log names files by absolute path: each is written where it is converted
            make(path)
            import pyarrow as pa
            import pyarrow.parquet as pq
            pq.write_table(pa.table({"id": [77]}), os.path.join(path, "stray.parquet"))
            move("CONVERT TO DELTA parquet.`%s`" % path)
            equal(name, run.spark.sql("SELECT count(*), max(id) FROM " + path_table(path)).collect()[0], (3, 2))


def schemas(run):
    import pyarrow as pa
    import pyarrow.parquet as pq

    def files(*tables):
        def make(folder):
            os.makedirs(folder)
            for n, t in enumerate(tables):
                pq.write_table(t, os.path.join(folder, "f%d.parquet" % n))
        return make
    table = lambda **columns: pa.table({k: pa.array(*v) if isinstance(v, tuple) else v for k, v in columns.items()})
    with run.report.case("convert/schemas_merged"):
        f = Folder(run, "schemas_merged")
        files(table(a=([1], pa.int8()), s=[{"x": 1}]), table(a=([300], pa.int16()), s=[{"X": 2, "y": "q"}], more=["z"]), table(A=([70000], pa.int32()), s=[{"x": 3}]))(f.made)
        f.copy()
        ours, theirs = convert_both(f)
        if ours or theirs:
            raise Differs("Silt: %s, Spark: %s" % (ours, theirs))
        a, b = (json.loads(delta_files.newest(p, "metaData")["schemaString"]) for p in (f.ours, f.theirs))
        fields = lambda s: sorted((x["name"].lower(), json.dumps(x["type"]).lower()) for x in s["fields"])
        equal("schema", fields(a), fields(b))
        silt, spark = read_all(run, f.ours)
        equal("rows", silt, spark)
        plain = lambda found: sorted(sorted(str(v).lower() for v in r) for r in found)
        equal("same rows as Spark's", plain(spark), plain(read_all(run, f.theirs)[1]))
    bad(run, "schemas_int_long", files(table(a=([1], pa.int32())), table(a=([1], pa.int64()))), want="DELTA_FAILED_MERGE_SCHEMA_FILE")
    bad(run, "schemas_string_int", files(table(a=["x"]), table(a=[1])), want="DELTA_FAILED_MERGE_SCHEMA_FILE")
    bad(run, "schemas_decimal", files(table(a=([decimal.Decimal("1.1")], pa.decimal128(9, 1))), table(a=([decimal.Decimal("1.1")], pa.decimal128(10, 2)))), want="DELTA_FAILED_MERGE_SCHEMA_FILE")
    bad(run, "schemas_double_name", files(pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["a", "A"])), want="DELTA_DUPLICATE_COLUMNS_FOUND")
    bad(run, "schemas_name_with_space", files(pa.table({"a b": [1]})))
    bad(run, "types_time", files(table(t=([datetime.time(1, 2)], pa.time32("ms")))))
    bad(run, "types_nanos", files(table(t=([1], pa.timestamp("ns")))))
    bad(run, "types_time_of_day", files(table(t=([datetime.time(1, 2)], pa.time64("us")))), want="PARQUET_TYPE_NOT_SUPPORTED")        # a type that Spark has and Delta has not
    good(run, "types_binary_as_string", files(table(t=([b"b", b"a"], pa.binary()))), conf=[("spark.sql.parquet.binaryAsString", "true")])


def broken(run):
    def make_with(name, data):
        def make(folder):
            os.makedirs(folder)
            run.spark.range(3).coalesce(1).write.mode("overwrite").parquet(os.path.join(folder, "sub"))
            if name:
                with open(os.path.join(folder, name), "wb") as f:
                    f.write(data)
        return make
    bad(run, "broken_empty_file", make_with("z.parquet", b""))
    bad(run, "broken_text_file", make_with("notes.txt", b"these are no columns at all"))
    bad(run, "broken_footer", make_with("z.parquet", b"PAR1" + b"\xff" * 200 + b"\x20\x00\x00\x00PAR1"), want="DELTA_FAILED_READ_FILE_FOOTER")
    bad(run, "folder_empty", lambda folder: os.makedirs(folder))
    bad(run, "folder_of_hidden", lambda folder: (os.makedirs(folder), open(os.path.join(folder, "_x"), "w").close()))
    with run.report.case("convert/folder_missing"):
        statement = "CONVERT TO DELTA parquet.`%s`" % run.fresh("convert_missing")
        equal("condition", outcome(lambda: run.silt.sql(statement)), "DELTA_DIRECTORY_NOT_FOUND")        # Spark's has no condition
    with run.report.case("convert/no_provider"):
        statement = "CONVERT TO DELTA `%s`" % run.fresh("convert_missing")
        equal("condition", outcome(lambda: run.silt.sql(statement)), outcome(lambda: run.spark.sql(statement)))


def defaults(run):
    make = lambda folder: spark_write(run, folder, "SELECT id AS a, concat('s', id) AS b FROM range(4)")
    prefix = "spark.databricks.delta.properties.defaults."
    good(run, "no_statistics", make, "NO STATISTICS", writes=True)
    good(run, "defaults_append_only", make, conf=[(prefix + "appendOnly", "true")])
    good(run, "defaults_deletion_vectors", make, conf=[(prefix + "enableDeletionVectors", "true")], writes=True)
    good(run, "defaults_indexed", make, conf=[(prefix + "dataSkippingNumIndexedCols", "1")])
    bad(run, "defaults_row_tracking_no_stats", make, "NO STATISTICS", conf=[(prefix + "enableRowTracking", "true")])
    bad(run, "defaults_mapping", make, conf=[(prefix + "columnMapping.mode", "name")])
    good(run, "user_metadata", make, conf=[("spark.databricks.delta.commitInfo.userMetadata", "by hand")])


def run_all(run):
    if run.silt.name == "spark":
        return run.report.skip("convert", "Silt and Spark work on copies")
    good(run, "spark_types", lambda folder: spark_write(run, folder, SPARK_TYPES), writes=True)
    good(run, "spark_types_micros", lambda folder: spark_write(run, folder, SPARK_TYPES, **{"spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS"}))
    good(run, "spark_types_legacy", lambda folder: spark_write(run, folder, SPARK_TYPES.replace(" ntz,", " ntz,"), **{"spark.sql.parquet.writeLegacyFormat": "true"}))
    good(run, "arrow_types", arrow_types)
    good(run, "duckdb_types", lambda folder: (os.makedirs(folder), duck("COPY (%s) TO '%s/a.parquet' (FORMAT parquet)" % (DUCK_TYPES, folder))))
    for step, name in ((duckdb_partitions, "duckdb_partitions"), (odd_partitions, None), (typed_partitions, None), (hidden_files, None), (schemas, "schemas_merged"), (broken, "folder_missing"), (defaults, None),
                       (stream_folder, "stream_log")):  # None: each of its cases asks
        if name is None or run.report.wants("convert/" + name): step(run)
