"""silt load of Parquet files that it takes as they are: files by Spark, pyarrow, DuckDB and arrow-rs (deltalake) with every type that may be taken. Each is loaded twice, the second time as an append; Spark and
deltalake then read the table and find what they find in the file itself. And files of the forms that must be written anew. Names: load/as_is_…
"""
import datetime
import glob
import importlib.util
import os
import shutil

from convert_cases import duck, spark_write
from report import Differs, equal
from spark_peer import rows

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli", "parquet")

SPARK_TYPES = """SELECT CAST(id AS BYTE) b, CAST(id AS SHORT) sh, CAST(id AS INT) i, id l, CAST(id / 3 AS FLOAT) f, CASE id WHEN 3 THEN double('NaN') WHEN 4 THEN -0.0D ELSE id / 7D END d,
  CAST(id / 7 AS DECIMAL(9,2)) d9, CAST(id / 7 AS DECIMAL(18,4)) d18, CAST(-id * 1000000 / 7 AS DECIMAL(38,10)) d38, concat(repeat('é', CAST(id * 11 AS INT)), id) s,
  CAST(concat('b', id) AS BINARY) bin, id % 2 = 0 bo, date_add(DATE'1960-01-01', CAST(id * 9999 AS INT)) dt, timestampadd(MICROSECOND, id * 777777777, TIMESTAMP'1969-12-31 23:59:59.999999') ts,
  CAST(timestampadd(MICROSECOND, id, TIMESTAMP'2024-02-29 12:00:00.000001') AS TIMESTAMP_NTZ) ntz,
  CASE WHEN id = 2 THEN NULL ELSE struct(id AS x, struct(concat('n', id) AS y, CAST(id AS DOUBLE) AS z) AS inner) END st, array(id, NULL) ar, map('k', id) m, CASE WHEN id > 100 THEN 'never' END AS nul FROM range(6)"""

DUCK_TYPES = """SELECT i::TINYINT AS t, i::SMALLINT AS s, i::INTEGER AS i, i::BIGINT AS l, (i / 7)::DECIMAL(4,1) AS d4, (i / 7)::DECIMAL(9,3) AS d9, (i / 7)::DECIMAL(18,3) AS d18, (i * 1e15)::DECIMAL(30,3) AS d30,
  CASE i WHEN 2 THEN 'nan'::DOUBLE ELSE i / 3 END AS nan, (i / 3)::FLOAT AS f, repeat('é', (i * 60)::INT) AS text, ('b' || i)::BLOB AS bin, DATE '1969-12-30' + i::INT AS dt,
  TIMESTAMPTZ '2024-01-01 00:00:00.123456+00' + to_seconds(i) AS tz, TIMESTAMP '1950-01-01 00:00:00.000001' + to_seconds(i) AS ts, CASE WHEN i = 1 THEN NULL ELSE {'x': i, 'y': {'z': 'q' || i}} END AS st,
  [i, NULL] AS li, map {'k': i} AS m, NULL::INT AS nul, i % 2 = 0 AS b FROM range(4) t(i)"""


def arrow_words(folder):
    """What Arrow's own schema in the file says beyond Parquet's."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    at = datetime.datetime(2024, 2, 29, 12, 0, 0, 123456)
    pq.write_table(pa.table({"large": pa.array(["a", None, "c"], pa.large_string()), "words": pa.array(["one", "two", "one"]).dictionary_encode(), "view": pa.array(["x", "y" * 40, None], pa.string_view()),
                             "bytes": pa.array([b"a", None, b"\xff"], pa.large_binary()), "there": pa.array([at, None, at], pa.timestamp("us", "America/New_York")), "l": pa.array([[1], None, []], pa.large_list(pa.int64())),
                             "long": pa.array([1, 2, None], pa.duration("us"))}), os.path.join(folder, "a.parquet"))


def by_deltalake(folder, has_float):
    """Without lists, whose elements it calls otherwise than the format's description does."""
    import pyarrow as pa
    from deltalake import write_deltalake
    write_deltalake(folder, pa.table({"id": pa.array([1, 2, None], pa.int64()), **({"f": pa.array([1.5, float("nan"), None])} if has_float else {}), "s": pa.array(["a" * 50, "", None]), "d": pa.array([datetime.date(2024, 1, 1), None, None]),
                                      "t": pa.array([datetime.datetime(2024, 1, 1), None, None], pa.timestamp("us", "UTC")), "st": pa.array([{"x": 1}, None, {"x": None}], pa.struct([("x", pa.int32())])), "b": pa.array([True, False, None])}))


def by_spark(**conf): return lambda run, folder: spark_write(run, folder, SPARK_TYPES, **{"spark.sql.parquet." + k: v for k, v in {"outputTimestampType": "TIMESTAMP_MICROS", **conf}.items()})


MAKERS = {"spark": by_spark(),
          "spark_zstd": by_spark(**{"compression.codec": "zstd"}),
          "duckdb": lambda run, folder: duck("COPY (%s) TO '%s/a.parquet' (FORMAT parquet)" % (DUCK_TYPES, folder)),
          "duckdb_zstd": lambda run, folder: duck("COPY (%s) TO '%s/a.parquet' (FORMAT parquet, COMPRESSION zstd)" % (DUCK_TYPES, folder)),
          "arrow_words": lambda run, folder: arrow_words(folder),
          "deltalake": lambda run, folder: by_deltalake(folder, False)}
NOT_TAKEN = {"spark_int96": by_spark(outputTimestampType="INT96"),
             "spark_legacy": by_spark(writeLegacyFormat="true"),
             "deltalake_nan": lambda run, folder: by_deltalake(folder, True)}
JUDGED = ("all_types", "several_groups", "pages_of_the_second_form", "checksums_uncompressed", "gzip", "required", "old_days", "long_text")


def fixture(name):
    return lambda run, folder: shutil.copy(os.path.join(FIXTURES, name + ".parquet"), folder)


def sorted_rows(frame): return sorted(map(str, rows(frame)))


def by_delta_rs(run, path):
    from deltalake import DeltaTable
    where, options = run.mirror.deltalake(path) if run.mirror else (path, None)
    return DeltaTable(where, storage_options=options).to_pyarrow_table().to_pylist()


def load_one(run, name, make, is_taken):
    folder, path = run.fresh("load_as_is_%s_files" % name), run.fresh("load_as_is_%s" % name)
    os.makedirs(folder, exist_ok=True)
    make(run, folder)
    (file,) = glob.glob(folder + "/*.parquet")
    said = [run.silt.run("load", file, "--into", path, "--mode", "append", "--verbose") for _ in range(2)]
    for text in said:
        if ("taken as it is" in text) != is_taken: raise Differs("%s: %s" % (file, text))
    source, table = run.spark.read.parquet(file), run.spark.read.format("delta").load(run.at(path))
    if is_taken: equal("types by Spark", table.dtypes, source.dtypes)
    want = sorted_rows(source) * 2 if is_taken else None
    if want is not None: equal("rows by Spark", sorted_rows(table), sorted(want))
    equal("number of rows", table.count(), 2 * source.count())
    ours = [str(r) for r in run.silt.sql("SELECT * FROM delta.`%s`" % path)]
    equal("number of rows by Silt", len(ours), 2 * source.count())
    if is_taken and name in MAKERS: check_filters(run, path, source)
    import pyarrow.parquet as pq
    if is_taken and name != "arrow_words": equal("rows by deltalake", sorted(map(str, by_delta_rs(run, path))), sorted(map(str, pq.read_table(file).to_pylist() * 2)))
    else: equal("number of rows by deltalake", len(by_delta_rs(run, path)), 2 * source.count())


def check_filters(run, path, source):
    """The greatest value of each column is found, which a bound that is too narrow would hide."""
    columns = [c for c, t in source.dtypes if not t.startswith(("array", "map", "struct", "binary", "boolean"))]
    row, table = source.selectExpr(*["max(`%s`) AS `%s`" % (c, c) for c in columns]).first(), run.spark.read.format("delta").load(run.at(path))
    for c in columns:
        if row[c] is not None and table.where(table[c] == row[c]).count() == 0: raise Differs("%s = %r finds nothing" % (c, row[c]))


def run_all(run):
    if run.silt.name != "silt": return
    cases = [(n, m, True) for n, m in MAKERS.items()]
    cases += [(n, m, False) for n, m in NOT_TAKEN.items()] + [(n, fixture("taken_" + n), True) for n in JUDGED]
    cases += [(n, fixture("rewritten_" + n), False) for n in ("int96", "decimal_of_bytes", "list_of_items", "unsigned")]
    for name, make, is_taken in cases:
        with run.report.case("load/as_is_" + name):
            load_one(run, name, make, is_taken)
