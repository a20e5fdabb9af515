#!/usr/bin/env python3
"""silt sql: statements from every source, output formats, options, exit codes, and what goes to which stream."""
import base64, json, math, os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import silt_script as s
from silt_script import equal, fails, ok, silt, sql, value, write

# Column, Spark SQL, JSON by the rules of `silt help formats`, text as Spark's CAST(x AS STRING).
VALUES = [
    ("b", "true", True, "true"),
    ("i8", "-128Y", -128, "-128"),
    ("i16", "32767S", 32767, "32767"),
    ("i32", "-2147483648", -2147483648, "-2147483648"),
    ("i64", "9223372036854775807L", 9223372036854775807, "9223372036854775807"),
    ("f32", "CAST('1.1' AS FLOAT)", 1.1, "1.1"),
    ("f64", "0.1D", 0.1, "0.1"),
    ("big", "1e20D", 1e20, "1.0E20"),
    ("small", "1.5e-7D", 1.5e-7, "1.5E-7"),
    ("whole", "3D", 3.0, "3.0"),
    ("nan", "double('NaN')", "NaN", "NaN"),
    ("inf", "double('Infinity')", "Infinity", "Infinity"),
    ("ninf", "float('-Infinity')", "-Infinity", "-Infinity"),
    ("de", "CAST(1.5 AS DECIMAL(10,3))", "1.500", "1.500"),
    ("de38", "CAST('-12345678901234567890123456789012345678' AS DECIMAL(38,0))", "-12345678901234567890123456789012345678",
     "-12345678901234567890123456789012345678"),
    ("small_de", "CAST(-0.01 AS DECIMAL(4,2))", "-0.01", "-0.01"),
    ("s", "'it''s \"q\", é 😀'", 'it\'s "q", é 😀', 'it\'s "q", é 😀'),
    ("empty", "''", "", ""),
    ("bin", "X'00ff10'", base64.b64encode(b"\x00\xff\x10").decode(), None),
    ("d", "DATE'2026-01-31'", "2026-01-31", "2026-01-31"),
    ("old", "DATE'0001-01-01'", "0001-01-01", "0001-01-01"),
    ("ts", "TIMESTAMP'2026-01-31 10:00:00'", "2026-01-31T10:00:00.000000Z", "2026-01-31 10:00:00"),
    ("ts6", "TIMESTAMP'1969-12-31 23:59:59.999999'", "1969-12-31T23:59:59.999999Z", "1969-12-31 23:59:59.999999"),
    ("nt", "TIMESTAMP_NTZ'2026-01-31 10:00:00.5'", "2026-01-31T10:00:00.500000", "2026-01-31 10:00:00.5"),
    ("arr", "array(1, NULL, 3)", [1, None, 3], "[1, NULL, 3]"),
    ("noarr", "CAST(array() AS ARRAY<INT>)", [], "[]"),
    ("m", "map('a', 1, 'b', NULL)", [["a", 1], ["b", None]], "{a -> 1, b -> NULL}"),
    ("st", "named_struct('x', 1, 'y', 'z')", {"x": 1, "y": "z"}, "{1, z}"),
    ("deep", "array(named_struct('m', map(1, array(DATE'2026-01-31'))))", [{"m": [[1, ["2026-01-31"]]]}], "[{{1 -> [2026-01-31]}}]"),
    ("nul", "CAST(NULL AS STRING)", None, None),
]
UTC = ("--conf", "spark.sql.session.timeZone=UTC")


def select(values=VALUES): return "SELECT " + ", ".join("%s AS %s" % (v[1], v[0]) for v in values)


def same(got, expected, name):
    if isinstance(expected, float) and not isinstance(got, bool): assert isinstance(got, float) and math.isclose(got, expected, rel_tol=1e-15), "%s: %r, expected %r" % (name, got, expected)
    else: equal(got, expected, name)


def test_format_jsonl():
    (row,) = sql(select(), *UTC)
    equal(list(row), [v[0] for v in VALUES])
    for name, _, expected, _ in VALUES: same(row[name], expected, name)


def test_format_json_is_one_array():
    done = ok("sql", "--format", "json", "SELECT id FROM range(3) ORDER BY id")
    equal(json.loads(done.out), [{"id": 0}, {"id": 1}, {"id": 2}])
    equal(json.loads(ok("sql", "--format", "json", "SELECT id FROM range(3) WHERE id > 9").out), [])
    (row,) = json.loads(ok("sql", "--format", "json", *UTC, select()).out)
    for name, _, expected, _ in VALUES: same(row[name], expected, name)


def test_format_json_control_characters():
    equal(sql("SELECT concat('a', chr(9), chr(10), chr(1), chr(92), 'b') AS x")[0]["x"], "a\t\n\x01\\b")


def test_format_variant():
    (row,) = sql("""SELECT parse_json('{"a": [1, "x", null, true, 1.5]}') AS v, parse_json('null') AS n""")
    equal(row, {"v": {"a": [1, "x", None, True, 1.5]}, "n": None})


def test_format_csv():
    import csv, io
    done = ok("sql", "--format", "csv", *UTC, select())
    head, row = list(csv.reader(io.StringIO(done.out, newline="")))
    equal(head, [v[0] for v in VALUES])
    for (name, _, _, text), got in zip(VALUES, row):
        if text is not None: equal(got, text, name)
    done = ok("sql", "--format", "csv", "SELECT * FROM VALUES ('', NULL, 'a,b', 'q\"q', 'l\\nl') AS t(`a b`, n, `c,d`, q, l)")
    equal(done.out, 'a b,n,"c,d",q,l\n"",,"a,b","q""q","l\nl"\n')


def test_format_table():
    done = ok("sql", "SELECT * FROM VALUES (1, 'a', 1.5D), (22, NULL, -0.25D) AS t(id, name, score) ORDER BY id")
    equal(done.out, " id  name  score\n---  ----  -----\n  1  a       1.5\n 22  NULL  -0.25\n(2 rows)\n")
    equal(ok("sql", "--format", "table", "SELECT 'x' AS a").out, "a\n---\nx\n(1 row)\n")
    equal(ok("sql", "SELECT 1 AS a WHERE false").out, "  a\n---\n(0 rows)\n")


def test_format_table_keeps_a_cell_on_its_line():
    done = ok("sql", "SELECT concat('a', chr(10), 'b', chr(27), '[2J') AS x")
    assert "a\\nb\\x1b[2J" in done.out and "\x1b" not in done.out, done


def test_format_table_wide_characters_line_up():
    done = ok("sql", "SELECT * FROM VALUES ('é', 1), ('漢字', 2), ('abc', 3) AS t(s, n) ORDER BY n")
    equal(done.out, "s       n\n----  ---\né       1\n漢字    2\nabc     3\n(3 rows)\n")


def test_format_markdown():
    done = ok("sql", "--format", "markdown", "SELECT * FROM VALUES (1, 'a|b'), (2, NULL) AS t(id, s) ORDER BY id")
    lines = done.out.splitlines()
    equal([[c.strip() for c in l.replace("\\|", "\0").strip("|").split("|")] for l in lines],
          [["id", "s"], ["----:", "------"], ["1", "a\0b"], ["2", "NULL"]])


def test_format_parquet():
    ok("sql", "--format", "parquet", "-o", "out.parquet", *UTC, select([v for v in VALUES if v[0] != "noarr"]))
    assert s.read("out.parquet")[:4] == b"PAR1"
    equal(os.listdir("."), ["out.parquet"])
    (row,) = sql("SELECT * FROM parquet.`%s/out.parquet`" % os.getcwd(), *UTC)
    for name, _, expected, _ in VALUES:
        if name != "noarr": same(row[name], expected, name)


def test_format_parquet_needs_a_file():
    equal(silt("sql", "--format", "parquet", "SELECT 1").code, 2)


def test_format_parquet_failing_query_leaves_nothing():
    fails("DIVIDE_BY_ZERO", "sql", "--format", "parquet", "-o", "out.parquet", "SELECT 1 / (id - 5) FROM range(10)")
    equal(os.listdir("."), [])


def test_several_statements():
    done = ok("sql", "--format", "jsonl", "CREATE TABLE t (id INT) USING DELTA; INSERT INTO t VALUES (1), (2);; SELECT count(*) AS n FROM t; SELECT 'a;b' AS s -- end; really\n;")
    equal(done.rows(), [{"n": 2}, {"s": "a;b"}])


def test_explain_shows_no_names_that_cannot_be_read():
    sql("CREATE TABLE e (id INT, v INT) USING DELTA; INSERT INTO e VALUES (1, 1), (2, 2)")
    for statement in ("MERGE INTO e USING (SELECT 1 AS id, 5 AS v) s ON e.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT *",
                      "UPDATE e SET v = v + 1 WHERE id = 2", "DELETE FROM e WHERE id = 1"):
        plan = "\n".join(r["plan"] for r in ok("sql", "--format", "jsonl", "EXPLAIN " + statement).rows())
        assert "== Query ==" in plan and plan.replace("\n", "").isprintable() and "silt_c" not in plan, plan


def test_script_stops_at_the_first_failure():
    done = fails("TABLE_OR_VIEW_NOT_FOUND", "sql", "--format", "jsonl", "SELECT 1 AS a; SELECT * FROM nosuch; SELECT 2 AS a")
    equal(done.rows(), [{"a": 1}])


def test_file_and_stdin():
    write("job.sql", "-- a comment\nSELECT 1 AS a;\n/* another; */ SELECT 2 AS a\n")
    for argv, stdin in ((("-f", "job.sql"), None), (("--file=job.sql",), None), (("-f", "-"), s.read("job.sql")), ((), s.read("job.sql"))):
        equal(ok("sql", "--format", "jsonl", *argv, stdin=stdin).rows(), [{"a": 1}, {"a": 2}], str(argv))
    write("two.sql", "SELECT 3 AS a")
    equal(ok("sql", "--format", "jsonl", "-f", "job.sql", "-f", "two.sql", "SELECT 4 AS a").rows(), [{"a": 1}, {"a": 2}, {"a": 3}, {"a": 4}])


def test_file_missing():
    done = silt("sql", "-f", "nosuch.sql")
    equal((done.code, done.out), (1, ""))
    assert "nosuch.sql" in done.err, done


def test_nothing_to_run():
    for text in ("", "  \n", "-- only a comment", ";;"): equal(ok("sql", text).out, "", repr(text))


def test_output_file_is_whole_or_absent():
    ok("sql", "--format", "csv", "-o", "out.csv", "SELECT 1 AS a")
    equal(s.read("out.csv"), b"a\n1\n")
    fails("DIVIDE_BY_ZERO", "sql", "--format", "csv", "-o", "out.csv", "SELECT 1 / (id - 99999) AS a FROM range(100000)")
    equal(s.read("out.csv"), b"a\n1\n", "the old file stays")
    fails("DIVIDE_BY_ZERO", "sql", "--format", "csv", "-o", "new.csv", "SELECT 7 AS a; SELECT 1 / 0")
    equal(os.listdir("."), ["out.csv"])
    done = silt("sql", "-o", "no/such/folder/x", "SELECT 1")
    equal((done.code, done.out), (1, ""))


def test_parameters():
    equal(sql("SELECT :a AS a, :b || '!' AS b", "--param", "a=x y=z", "--param", "b="), [{"a": "x y=z", "b": "!"}])
    equal(value("SELECT count(*) FROM range(10) WHERE id < :n", "--param", "n=4"), 4)
    fails("UNBOUND_SQL_PARAMETER", "sql", "SELECT :nosuch")
    equal(silt("sql", "--param", "novalue", "SELECT 1").code, 2)


def test_configuration():
    zone = "SELECT CAST(TIMESTAMP'2026-01-31 10:00:00Z' AS STRING)"
    equal(value(zone, "--conf", "spark.sql.session.timeZone=America/New_York"), "2026-01-31 05:00:00")
    write("spark.conf", "# comment\n\nspark.sql.session.timeZone   Asia/Tokyo\nspark.app.name=my job  \r\nspark.executor.memory 4g\n")
    equal(value(zone, "--properties-file", "spark.conf"), "2026-01-31 19:00:00")
    equal(sql("SET spark.app.name", "--properties-file", "spark.conf"), [{"key": "spark.app.name", "value": "my job"}])
    equal(value(zone, "--properties-file", "spark.conf", "--conf", "spark.sql.session.timeZone=UTC"), "2026-01-31 10:00:00", "the later one wins")
    fails("DIVIDE_BY_ZERO", "sql", "SELECT 1/0")
    fails("UNSUPPORTED_FEATURE", "sql", "--conf", "spark.sql.ansi.enabled=false", "SELECT 1")
    equal(silt("sql", "--properties-file", "nosuch", "SELECT 1").code in (1, 2), True)
    equal(silt("sql", "--conf", "nonsense", "SELECT 1").code, 2)


def test_csv_and_table_show_the_sessions_zone():
    text = "SELECT TIMESTAMP'2026-07-01 10:00:00Z' AS t, TIMESTAMP_NTZ'2026-07-01 10:00:00' AS n"
    equal(ok("sql", "--format", "csv", "--conf", "spark.sql.session.timeZone=America/New_York", text).out, "t,n\n2026-07-01 06:00:00,2026-07-01 10:00:00\n")
    equal(sql(text, "--conf", "spark.sql.session.timeZone=America/New_York"), [{"t": "2026-07-01T10:00:00.000000Z", "n": "2026-07-01T10:00:00.000000"}])


def test_warehouse():
    ok("sql", "--warehouse", "wh", "CREATE TABLE t (id INT) USING DELTA")
    assert os.path.isdir("wh/t/_delta_log") and not os.path.exists("spark-warehouse")
    equal(value("SELECT count(*) FROM t", "--warehouse", os.path.abspath("wh")), 0)
    fails("TABLE_OR_VIEW_NOT_FOUND", "sql", "SELECT * FROM t")


def test_errors_go_to_stderr_only():
    done = fails("UNRESOLVED_COLUMN", "sql", "--format", "jsonl", "SELECT nosuch FROM VALUES (1) AS t(a)")
    equal(done.out, "")
    assert "SQLSTATE: 42703" in done.err and "`nosuch`" in done.err, done


def test_syntax_error_has_a_caret():
    text = "SELECT a,\n       b FORM t"
    done = fails("PARSE_SYNTAX_ERROR", "sql", text)
    lines = done.err.splitlines()
    at = next((i for i, l in enumerate(lines) if l.strip().startswith("^")), None)
    assert at is not None, done
    source, caret = lines[at - 1], lines[at].index("^")
    assert source[caret:].split()[0] in ("FORM", "t"), done          # FORM reads as an alias of b: the error is there or at t
    assert "SQLSTATE: 42601" in done.err, done
    done = fails("PARSE_SYNTAX_ERROR", "sql", "SELECT (1 + ")
    assert "^" in done.err and done.out == "", done


def test_a_statement_that_breaks_off_is_told_as_such():
    open("broken.sql", "w").write("SELECT 1;\nSELECT 1 FROM\n;\n")
    for arguments in (["SELECT 1 FROM"], ["UPDATE t SET"], ["SELECT 1 +;"], ["-f", "broken.sql"]):
        done = fails("PARSE_SYNTAX_ERROR", "sql", *arguments)
        assert "near 'end of input'" in done.err and ";" not in done.err, done


def test_conditions_of_thousands_of_terms():
    ok("sql", "CREATE TABLE t (id INT) USING DELTA; INSERT INTO t SELECT CAST(id AS INT) FROM range(10000)")
    ors, ands = (word.join(form % i for i in range(0, 9000, 3)) for word, form in ((" OR ", "id = %d"), (" AND ", "id <> %d")))
    equal(value("SELECT count(*) FROM t WHERE " + ors), 3000)
    ok("sql", "MERGE INTO t USING (SELECT 1 AS k) s ON t.id = s.k AND (%s) WHEN MATCHED THEN DELETE" % ands)
    equal(value("DELETE FROM t WHERE " + ands), 6999)
    equal(value("UPDATE t SET id = -1 WHERE " + ors), 3000)


def test_unsupported_statements_are_named():
    ok("sql", "CREATE TABLE t (id INT) USING DELTA")
    for text, word in (("ANALYZE TABLE t COMPUTE STATISTICS", "ANALYZE TABLE"), ("MSCK REPAIR TABLE t", "MSCK REPAIR TABLE"), ("CACHE TABLE t", "CACHE TABLE"), ("COPY INTO t FROM '/x'", "COPY INTO")):
        done = fails("UNSUPPORTED_FEATURE", "sql", text)
        assert word in done.err, done


def test_usage_errors_are_status_2():
    for argv in (("nosuch",), ("sql", "--nosuch", "SELECT 1"), ("sql", "--format", "xml", "SELECT 1"), ("sql", "--format"), ("show",), ("show", "a", "b"), ("load", "x.csv"),
                 ("load", "--into", "t"), ("show", "t", "--version", "x"), ("show", "t", "--version", "-1"), ("show", "t", "--version", "1", "--timestamp", "2026-01-01"),
                 ("history", "t", "--limit", "many"), ("checkpoint",), ("schema",), ("files",), ("help", "nosuch"), ("load", "x.csv", "--into", "t", "--mode", "merge"),
                 ("load", "x.csv", "--into", "t", "--txn-app", "a"), ("load", "x.csv", "--into", "t", "--txn-app", "a", "--txn-version", "x")):
        done = silt(*argv)
        equal((done.code, done.out), (2, ""), " ".join(argv))
        assert done.err.startswith("silt: "), done


def test_help_and_version():
    done = ok("--version")
    assert done.out.startswith("silt "), done
    for argv in (("help",), ("--help",), ("-h",)):
        done = ok(*argv)
        for word in ("sql", "shell", "load", "show", "history", "files", "schema", "checkpoint", "demo"): assert "\n  %s " % word in done.out, (argv, word)
        equal(done.err, "")
    for topic in ("sql", "shell", "load", "show", "history", "files", "schema", "checkpoint", "demo", "formats", "exit"):
        assert ok("help", topic).out.strip(), topic
    for command in ("sql", "shell", "load", "show", "history", "files", "schema", "checkpoint", "demo"): equal(ok(command, "--help").out, ok("help", command).out, command)


def test_dashes_end_the_options():
    equal(ok("sql", "--format", "jsonl", "--", "-- comment\nSELECT 1 AS a").rows(), [{"a": 1}])


def test_set_never_prints_secrets():
    secret = "s3cr3t-Value"
    keys = ("spark.hadoop.fs.s3a.secret.key", "fs.azure.account.key.acc.dfs.core.windows.net", "spark.hadoop.fs.s3a.access.key", "my.PASSWORD", "spark.hadoop.fs.s3a.session.token",
            "fs.azure.account.oauth2.client.secret", "spark.ssl.keyPassword", "spark.hadoop.fs.azure.sas.container.account", "my.credentials")
    conf = [a for k in keys for a in ("--conf", "%s=%s" % (k, secret))]
    for text in ("SET", "SET -v") + tuple("SET %s" % k for k in keys) + ("SET my.password=%s" % secret,):
        done = ok("sql", *conf, text)
        assert secret not in done.out + done.err, "%s\n%s" % (text, done)
    equal(sql("SET spark.app.name", "--conf", "spark.app.name=x"), [{"key": "spark.app.name", "value": "x"}])


def test_result_messages_stay_out_of_pipes():
    done = ok("sql", "CREATE TABLE t (id INT) USING DELTA; INSERT INTO t VALUES (1)")
    equal(done.err, "")


if __name__ == "__main__": s.main(globals())
