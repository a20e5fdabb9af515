#!/usr/bin/env python3
"""silt load takes Parquet files as they are where that gives the same table as writing their rows anew (src/ops/take_files.h): which files, into which tables, and what becomes of bad ones.
tests/cli/parquet holds files of other writers (make_parquet.py); the judge here is the load with --rewrite, that of the files themselves is tests/interop (load/…)."""
import filecmp, json, os, shutil, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import silt_script as s
from silt_script import equal, fails, ok, sql, value, write

FILES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "parquet")
TAKEN, TAKEN_ALL, ANEW = "the file was taken as it is\n", "the files were taken as they are\n", "the rows were written anew: "


def fixture(name): return os.path.join(FILES, name + ".parquet")


def load(*argv, **how): return ok("load", "--verbose", *argv, **how).out.split("\n", 1)[1]


def taken(*argv, **how): equal(load(*argv, **how), TAKEN, str(argv))


def anew(reason, *argv, **how):
    out = load(*argv, **how)
    assert out.startswith(ANEW) and reason in out, "%r of %r: %r" % (reason, argv, out)


def actions(table, kind):
    return [json.loads(line)[kind] for version in s.versions(table) for line in open("%s/_delta_log/%020d.json" % (table, version), encoding="utf-8") if line.startswith('{"%s"' % kind)]


def stats(table): return [json.loads(a["stats"]) for a in actions(table, "add")]


def without_lists(stats):
    """A footer does not tell how many lists and maps are null."""
    return dict(stats, nullCount={k: v for k, v in stats["nullCount"].items() if k not in ("list", "map", "structs")})


def parquet(name, query): ok("sql", "--format", "parquet", "-o", name, query)


def rows(table): return sorted(json.dumps(r) for r in sql("SELECT * FROM delta.`%s`" % os.path.abspath(table)))


def create(columns, properties="", clause=""):
    sql("CREATE TABLE t (%s) USING DELTA %s %s" % (columns, clause, "TBLPROPERTIES (%s)" % properties if properties else ""))


def rows_of_many(tables):
    """The rows of many tables by one command: texts, sorted."""
    done = ok("sql", "--format", "jsonl", ";\n".join("SELECT %d AS `next table`;\nSELECT * FROM %s" % (i, table) for i, table in enumerate(tables)))
    found = []
    for line in done.out.splitlines():
        if line.startswith('{"next table"'): found.append([])
        else: found[-1].append(line)
    return [sorted(lines) for lines in found]


def comparable(info):
    info = {k: v for k, v in info.items() if k not in ("timestamp", "txnId")}
    info["operationMetrics"] = {k: v for k, v in info["operationMetrics"].items() if k != "numOutputBytes"}
    return info


def test_files_of_other_writers():
    names, was_taken = sorted(f[:-8] for f in os.listdir(FILES) if f.endswith(".parquet")), {}
    for name in names:
        was_taken[name] = load(fixture(name), "--into", "./" + name) == TAKEN
        equal(load(fixture(name), "--into", "./%s_anew" % name, "--rewrite"), ANEW + "silt.load.rewrite asks for it\n")
        equal(was_taken[name], name.startswith("taken_"), name)
        equal(stats(name), [without_lists(x) for x in stats(name + "_anew")] if was_taken[name] else stats(name + "_anew"), name)
        equal(actions(name, "metaData")[0]["schemaString"], actions(name + "_anew", "metaData")[0]["schemaString"], name)
        equal(comparable(actions(name, "commitInfo")[0]), comparable(actions(name + "_anew", "commitInfo")[0]), name)
        if not was_taken[name]: continue
        assert filecmp.cmp(fixture(name), os.path.join(name, s.data_files(name)[0]), shallow=False), name
        equal(actions(name, "add")[0]["size"], os.path.getsize(fixture(name)))
    here = os.getcwd()
    loaded, again, source = (rows_of_many([how % n for n in names]) for how in ("delta.`" + here + "/%s`", "delta.`" + here + "/%s_anew`", "parquet.`" + FILES + "/%s.parquet`"))
    for i, name in enumerate(names):
        if name != "taken_minus_zero": equal(loaded[i], again[i], name)  # the engine's dictionaries have one zero
        if was_taken[name]: equal(loaded[i], source[i], name)


def test_what_filters_find():
    for name, tests in (("taken_nan", ("v > 5", "v > 1e300", "v = 'NaN'", "v < 0", "v IS NULL")), ("taken_only_nan", ("v > 1e30", "v = 'NaN'", "v < 0", "v IS NOT NULL")), ("taken_minus_zero", ("v < 0", "v >= 0", "v = 0", "v <= -0.0")),
                        ("taken_long_text", ("v > 'zzzz'", "v > '😀'", "v < 'z'", "v LIKE 'z%7'")), ("taken_old_days", ("v < DATE '0001-01-03'", "v > DATE '0001-01-19'", "v IS NULL")),
                        ("taken_without_statistics", ("text > 'é'", "day > DATE '2024-03-10'", "at < TIMESTAMP '2024-02-29 14:00:00Z'", "large < 0", "`struct`.x = 4", "bytes IS NULL"))):
        load(fixture(name), "--into", "./t")
        for where in tests:
            equal(value("SELECT count(*) FROM delta.`%s/t` WHERE %s" % (os.getcwd(), where)), value("SELECT count(*) FROM parquet.`%s` WHERE %s" % (fixture(name), where)), name + ": " + where)
        shutil.rmtree("t")


def test_names_of_the_copies():
    for name, end in (("taken_gzip", ".gz.parquet"), ("taken_zstd", ".zstd.parquet"), ("taken_uncompressed", "-c000.parquet"), ("taken_all_types", ".snappy.parquet")):
        taken(fixture(name), "--into", "./" + name)
        (file,) = s.data_files(name)
        assert file.startswith("part-00000-") and file.endswith(end), file


def test_appending():
    parquet("a.parquet", "SELECT id, CAST(id AS STRING) AS v FROM range(5)")
    taken("a.parquet", "--into", "t")
    taken("a.parquet", "--into", "t")
    equal(value("SELECT sum(id) FROM t"), 20)
    taken("a.parquet", "--into", "t", "--mode", "overwrite")
    equal((value("SELECT count(*) FROM t"), actions("spark-warehouse/t", "commitInfo")[-1]["operationParameters"]["mode"]), (5, "Overwrite"))
    taken("a.parquet", "--into", "t", "--txn-app", "x", "--txn-version", "1")
    equal(ok("load", "a.parquet", "--into", "t", "--txn-app", "x", "--txn-version", "1", "--verbose").out, "nothing was written\n")
    equal(ok("load", "a.parquet", "--into", "t", "--mode", "ignore").out, "nothing was written\n")
    equal(value("SELECT count(*) FROM t"), 10)
    fails("TABLE_OR_VIEW_ALREADY_EXISTS", "load", "a.parquet", "--into", "t", "--mode", "error")
    equal(ok("load", "a.parquet", "--into", "t", "--quiet", "--verbose").out, "")


def test_several_files():
    for i in range(3): parquet("%d.parquet" % i, "SELECT id + %d AS id FROM range(10)" % (i * 10))
    equal(load("0.parquet", "1.parquet", "2.parquet", "--into", "./t"), TAKEN_ALL)
    equal((value("SELECT sum(id) FROM delta.`%s/t`" % os.getcwd()), len(s.data_files("t")), len(s.versions("t"))), (435, 3, 1))
    equal(load("0.parquet", "0.parquet", "--into", "./twice"), TAKEN_ALL)
    equal(value("SELECT sum(id) FROM delta.`%s/twice`" % os.getcwd()), 90)
    os.mkdir("many")
    for i in range(9): shutil.copy("%d.parquet" % (i % 3), "many/%d.parquet" % i)
    anew("many small files", "many", "--input-format", "parquet", "--into", "./small")
    equal(len(s.data_files("small")), 1)
    parquet("b.parquet", "SELECT id, 'x' AS more FROM range(3)")
    anew("is none of the load's", "0.parquet", "b.parquet", "--into", "./first")
    equal(load("b.parquet", "0.parquet", "--into", "./wide"), TAKEN_ALL)
    equal(rows("wide"), sorted(json.dumps(r) for r in [{"id": i, "more": "x"} for i in range(3)] + [{"id": i, "more": None} for i in range(10)]))
    equal(stats("wide")[1]["nullCount"], {"id": 0, "more": 10})


def test_columns():
    create("id BIGINT, v STRING")
    parquet("turned.parquet", "SELECT CAST(id AS STRING) AS v, id FROM range(5)")
    parquet("one.parquet", "SELECT id FROM range(5)")
    parquet("more.parquet", "SELECT id, 'x' AS v, 1 AS w FROM range(5)")
    parquet("case.parquet", "SELECT id AS ID, 'x' AS v FROM range(5)")
    parquet("narrow.parquet", "SELECT CAST(id AS INT) AS id, 'x' AS v FROM range(5)")
    taken("turned.parquet", "--into", "t")
    taken("one.parquet", "--into", "t")
    anew("column ID", "case.parquet", "--into", "t")
    before = len(s.data_files("spark-warehouse/t"))
    fails("DELTA_METADATA_MISMATCH", "load", "more.parquet", "--into", "t")
    equal(len(s.data_files("spark-warehouse/t")), before)
    taken("more.parquet", "--into", "t", "--merge-schema")
    equal(sql("SELECT v, w, count(*) AS n FROM t GROUP BY ALL ORDER BY v, w")[0], {"v": None, "w": None, "n": 5})
    plain = ok("load", "narrow.parquet", "--into", "t", "--rewrite", "--verbose").out
    anew("column id", "narrow.parquet", "--into", "t")
    assert "written anew" in plain
    anew("is none of the load's", "more.parquet", "--into", "t", "--schema", "id BIGINT, w INT")
    equal(value("SELECT count(*) FROM t WHERE v IS NULL AND w = 1"), 5)


def test_nested_columns():
    parquet("a.parquet", "SELECT id, named_struct('x', id, 'y', 'a') AS s, array(named_struct('p', id)) AS l FROM range(3)")
    create("id BIGINT, s STRUCT<x: BIGINT, y: STRING>, l ARRAY<STRUCT<p: BIGINT>>")
    taken("a.parquet", "--into", "t")
    for i, columns in enumerate(("id BIGINT, s STRUCT<y: STRING, x: BIGINT>, l ARRAY<STRUCT<p: BIGINT>>", "id BIGINT, s STRUCT<x: BIGINT, y: STRING, z: INT>, l ARRAY<STRUCT<p: BIGINT>>", "id BIGINT, s STRUCT<X: BIGINT, y: STRING>, l ARRAY<STRUCT<p: BIGINT>>",
                                 "id BIGINT, s STRUCT<x: BIGINT NOT NULL, y: STRING>, l ARRAY<STRUCT<p: BIGINT>>")):
        sql("CREATE TABLE n%d (%s) USING DELTA" % (i, columns))
        anew("column", "a.parquet", "--into", "n%d" % i)
        equal(sql("SELECT s.x AS x, s.y AS y, l[0].p AS p FROM n%d WHERE id = 2" % i), [{"x": 2, "y": "a", "p": 2}], columns)


def test_not_null():
    create("id BIGINT NOT NULL, v BIGINT NOT NULL")
    taken(fixture("taken_no_nulls"), "--into", "t")
    parquet("a.parquet", "SELECT id, nullif(id, 3) AS v FROM range(5)")
    fails("DELTA_NOT_NULL_CONSTRAINT_VIOLATED", "load", "a.parquet", "--into", "t")
    equal(len(s.data_files("spark-warehouse/t")), 1)
    sql("CREATE TABLE r (id BIGINT NOT NULL, v STRING NOT NULL) USING DELTA")
    taken(fixture("taken_required"), "--into", "r")
    parquet("b.parquet", "SELECT id FROM range(5)")
    fails("DELTA_MISSING_NOT_NULL_COLUMN_VALUE", "load", "b.parquet", "--into", "r")
    sql("CREATE TABLE w (%s) USING DELTA" % ", ".join(c + (" NOT NULL" if c.startswith("id ") else "") for c in columns_of(fixture("taken_without_statistics"))))
    anew("has no nulls", fixture("taken_without_statistics"), "--into", "w")


def columns_of(file): return ["`%s` %s" % (r["col_name"], r["data_type"]) if r["col_name"] in ("struct", "map", "list") else "%s %s" % (r["col_name"], r["data_type"]) for r in sql("DESCRIBE QUERY SELECT * FROM parquet.`%s`" % file)]


def test_tables_with_rules():
    parquet("a.parquet", "SELECT id, CAST(id AS STRING) AS v FROM range(5)")
    for name, reason, statement in (
            ("p", "partitioned", "(id BIGINT, v STRING) USING DELTA PARTITIONED BY (v)"),
            ("mapped", "maps its columns", "(id BIGINT, v STRING) USING DELTA TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"),
            ("iceberg", "maps its columns", "(id BIGINT, v STRING) USING DELTA TBLPROPERTIES ('delta.enableIcebergCompatV2' = 'true', 'delta.columnMapping.mode' = 'name')"),
            ("checked", "CHECK", "(id BIGINT, v STRING) USING DELTA TBLPROPERTIES ('delta.constraints.c' = 'id < 10')"),
            ("random", "random prefixes", "(id BIGINT, v STRING) USING DELTA TBLPROPERTIES ('delta.randomizeFilePrefixes' = 'true')"),
            ("generated", "rules of its own for the column w", "(id BIGINT, v STRING, w BIGINT GENERATED ALWAYS AS (id + 1)) USING DELTA"),
            ("identity", "rules of its own for the column w", "(id BIGINT, v STRING, w BIGINT GENERATED ALWAYS AS IDENTITY) USING DELTA"),
            ("defaulted", "rules of its own for the column w", "(id BIGINT, v STRING, w BIGINT DEFAULT 7) USING DELTA TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')"),
            ("short", "rules of its own for the column v", "(id BIGINT, v VARCHAR(10)) USING DELTA")):
        sql("CREATE TABLE %s %s" % (name, statement))
        anew(reason, "a.parquet", "--into", name)
        equal(value("SELECT sum(id) FROM %s" % name), 10, name)
    equal(sorted(r["w"] for r in sql("SELECT w FROM generated")), [1, 2, 3, 4, 5])
    equal(sorted(r["w"] for r in sql("SELECT w FROM identity")), [1, 2, 3, 4, 5])
    equal(value("SELECT sum(w) FROM defaulted"), 35)
    parquet("b.parquet", "SELECT id + 8 AS id, 'longer than ten characters' AS v FROM range(5)")
    fails("DELTA_VIOLATE_CONSTRAINT_WITH_VALUES", "load", "b.parquet", "--into", "checked")
    fails("DELTA_EXCEED_CHAR_VARCHAR_LIMIT", "load", "b.parquet", "--into", "short")


def test_tables_with_features():
    parquet("a.parquet", "SELECT id, CAST(id AS STRING) AS v FROM range(5)")
    sql("CREATE TABLE tracked (id BIGINT, v STRING COMMENT 'it''s a comment') USING DELTA TBLPROPERTIES ('delta.enableRowTracking' = 'true')")
    taken("a.parquet", "--into", "tracked")
    taken("a.parquet", "--into", "tracked")
    equal([r["r"] for r in sql("SELECT _metadata.row_id AS r FROM tracked ORDER BY r")], list(range(10)))
    sql("CREATE TABLE fed (id BIGINT, v STRING) USING DELTA TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')")
    taken("a.parquet", "--into", "fed")
    equal(sorted((r["_change_type"], r["id"]) for r in sql("SELECT * FROM table_changes('fed', 0)")), [("insert", i) for i in range(5)])
    sql("CREATE TABLE vectors (id BIGINT, v STRING) USING DELTA TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
    taken("a.parquet", "--into", "vectors")
    equal(stats("spark-warehouse/vectors")[0]["tightBounds"], True)
    sql("DELETE FROM vectors WHERE id = 2")
    equal(value("SELECT count(*) FROM vectors"), 4)
    sql("CREATE TABLE clustered (id BIGINT, v STRING) USING DELTA CLUSTER BY (id)")
    taken("a.parquet", "--into", "clustered")
    equal(stats("spark-warehouse/clustered")[0]["maxValues"]["id"], 4)
    sql("CREATE TABLE counted (id BIGINT, v STRING) USING DELTA TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '1')")
    taken("a.parquet", "--into", "counted")
    equal(stats("spark-warehouse/counted")[0], {"numRecords": 5, "minValues": {"id": 0}, "maxValues": {"id": 4}, "nullCount": {"id": 0}})
    sql("CREATE TABLE bare (id BIGINT, v STRING) USING DELTA")
    taken("a.parquet", "--into", "bare", "--conf", "spark.databricks.delta.stats.collect=false")
    assert "stats" not in actions("spark-warehouse/bare", "add")[0]
    for table in ("tracked", "fed", "vectors", "clustered", "counted", "bare"): ok("doctor", table)


def test_what_the_session_asks_for():
    parquet("a.parquet", "SELECT id FROM range(50)")
    anew("silt.load.rewrite", "a.parquet", "--into", "t", "--conf", "silt.load.rewrite=true")
    anew("not compressed as is asked for", "a.parquet", "--into", "t", "--conf", "spark.sql.parquet.compression.codec=zstd")
    taken(fixture("taken_zstd"), "--into", "z", "--conf", "spark.sql.parquet.compression.codec=zstd")
    anew("more rows", "a.parquet", "--into", "t", "--conf", "spark.sql.files.maxRecordsPerFile=20")
    anew("more than twice", "a.parquet", "--into", "t", "--conf", "spark.databricks.delta.targetFileSize=100")
    parquet("two.parquet", "SELECT id, id % 2 AS p FROM range(5)")
    anew("partitioned", "two.parquet", "--into", "p", "--partition-by", "p")
    os.makedirs("hive/day=7")
    shutil.copy("a.parquet", "hive/day=7/")
    anew("folders are columns", "hive", "--input-format", "parquet", "--into", "h")
    equal(value("SELECT sum(day) FROM h"), 350)
    write("a.csv", "id\n1\n")
    equal(load("a.csv", "--into", "c"), "", "of other files there is nothing to say")


def test_replace_where_checks_the_rows():
    parquet("a.parquet", "SELECT id FROM range(5)")
    ok("load", "a.parquet", "--into", "t")
    fails("DELTA_REPLACE_WHERE_MISMATCH", "load", "a.parquet", "--into", "t", "--mode", "overwrite", "--replace-where", "id < 3")
    ok("load", "a.parquet", "--into", "t", "--mode", "overwrite", "--replace-where", "id < 9")
    equal(value("SELECT sum(id) FROM t"), 10)


def damaged(name, change):
    with open(fixture(name), "rb") as f: data = bytearray(f.read())
    change(data)
    with open("bad.parquet", "wb") as f: f.write(data)


def flip(at):
    def change(data): data[at] ^= 0x10
    return change


def test_checksums():
    parquet("good.parquet", "SELECT id FROM range(5)")
    first, found = range(4, 2000, 97), 0
    ok("load", fixture("taken_checksums_uncompressed"), "--into", "./good")
    good = rows("good")
    for at in first:
        damaged("taken_checksums_uncompressed", flip(at))
        done = s.silt("load", "bad.parquet", "--into", "./t", "--verbose")
        if done.condition == "LOAD_FILE_DAMAGED": found += 1
        elif not done.code and ANEW not in done.out: equal(rows("t"), good, "byte %d, of what no reader needs" % at)
        if done.code: assert not os.path.exists("t") or not s.data_files("t"), "byte %d" % at
        shutil.rmtree("t", ignore_errors=True)
    assert found > len(first) // 2, "%d of %d" % (found, len(first))
    damaged("taken_checksums_uncompressed", flip(101))
    fails("LOAD_FILE_DAMAGED", "load", "good.parquet", "bad.parquet", "--into", "./t", "--schema", ", ".join(columns_of(fixture("taken_checksums"))))
    assert not os.path.exists("t") or not s.data_files("t")


def test_damaged_files():
    parquet("a.parquet", "SELECT id, 'x' AS v FROM range(5)")
    sql("CREATE TABLE t (id BIGINT, v BIGINT) USING DELTA")

    def zero(data): data[4:40] = bytes(36)

    def cut(data): del data[50:100]

    def no_magic(data): data[:4] = b"XXXX"

    def long_footer(data): data[-8:-4] = b"\xff\xff\xff\x7f"
    for change in (zero, cut, no_magic, long_footer):
        damaged("taken_no_nulls", change)
        done = s.silt("load", "bad.parquet", "--into", "t", "--verbose")
        again = s.silt("load", "bad.parquet", "--into", "t", "--rewrite", "--verbose")
        equal((done.code, done.condition), (again.code, again.condition), change.__name__)
        if not done.code: assert ANEW in done.out, done
    kept = {a["path"] for a in actions("spark-warehouse/t", "add")}
    equal(set(s.data_files("spark-warehouse/t")), kept, "nothing is left of loads that failed")


def test_files_that_are_none():
    write("a.parquet", "no columns in here")
    write("empty.parquet", "")
    with open("secret.parquet", "wb") as f: f.write(b"PARE" + b"\xff" * 60 + b"\x30\0\0\0PARE")
    for name in ("a", "empty", "secret"):
        done = fails(None, "load", name + ".parquet", "--into", "./t")
        equal(done.condition, fails(None, "load", name + ".parquet", "--into", "./t", "--rewrite").condition, name)
    assert not os.path.exists("t/_delta_log")


def test_links_and_the_table_itself():
    parquet("a.parquet", "SELECT id FROM range(5)")
    os.symlink("a.parquet", "link.parquet")
    taken("link.parquet", "--into", "./t")
    (file,) = s.data_files("t")
    assert not os.path.islink("t/" + file)
    os.remove("a.parquet")
    taken("t/" + file, "--into", "./t")
    equal((value("SELECT count(*) FROM delta.`%s/t`" % os.getcwd()), len(set(s.data_files("t")))), (10, 2))


s.main(globals())
