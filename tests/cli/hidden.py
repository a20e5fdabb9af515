#!/usr/bin/env python3
"""Secrets that a user types are neither shown again nor kept; settings that cannot be meant are refused by name."""
import os, pty, re, select, sys, time
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import silt_script as s
from silt_script import SILT, Skip, equal, fails, ok, read, silt, sql, write

SECRET = "TOPSECRETVALUE"


def hidden(done, *wanted):
    text = done.out + done.err
    for piece in (SECRET, SECRET[:9], SECRET[5:]): assert piece not in text, done
    for w in wanted: assert w in text, "%r is not told\n%s" % (w, done)


def test_statements_that_errors_quote():
    hidden(fails("PARSE_SYNTAX_ERROR", "sql", "SETT fs.s3a.secret.key=" + SECRET), "SETT", "fs.s3a.secret.key")
    hidden(fails("PARSE_SYNTAX_ERROR", "sql", "SELECT 1; SETT fs.s3a.secret.key = " + SECRET + " more"))
    hidden(silt("sql", "SET fs.s3a.secret.key='" + SECRET))
    hidden(silt("sql", "SET fs.s3a.secret.key=\"" + SECRET))
    hidden(silt("sql", "SET fs.s3a.secret.key=`" + SECRET))
    hidden(fails("INVALID_SET_SYNTAX", "sql", "SET fs.s3a.secret.key " + SECRET))
    hidden(fails("INVALID_SET_SYNTAX", "sql", "SET fs.s3a.secret.key " + SECRET + " = 1"))
    hidden(silt("sql", "SET fs.azure.account.key.x.blob.core.windows.net=" + SECRET + "; SELEC 1"))
    hidden(silt("sql", "SET fs.s3a.secret.key=" + SECRET + " (;"))
    hidden(silt("sql", "SELECT * FROM delta.`https://127.0.0.1:1/x?sig=%s` WHER a = 1 b" % SECRET))
    hidden(silt("sql", "SETT fs.s3a.secret.key=" + "x" * 150 + SECRET + " /* open"))
    hidden(silt("sql", "-- %s\nSETT k.password='%s\n%s" % ("a comment", SECRET, SECRET)))


def test_the_caret_stays_where_it_was():
    done = fails("PARSE_SYNTAX_ERROR", "sql", "SETT fs.s3a.secret.key=" + SECRET)
    lines = done.err.splitlines()
    (at,) = [i for i, line in enumerate(lines) if line.strip() == "^"]
    equal(lines[at - 1], "SETT fs.s3a.secret.key=" + "*" * len(SECRET))


def test_options():
    done = silt("sql", "--conf", "fs.s3a.secret.key" + SECRET, "SELECT 1")
    equal(done.code, 2)
    hidden(done, "KEY=VALUE")
    hidden(silt("sql", "--conf", "=" + SECRET, "SELECT 1"))
    hidden(silt("sql", "--config=fs.s3a.secret.key=" + SECRET, "SELECT 1"), "--config")
    hidden(ok("sql", "--conf", "fs.s3a.secret.key=" + SECRET, "SET"))
    hidden(silt("sql", "--conf", "silt.s3.secret.key=" + SECRET, "SELECT 1"), "SETTING_UNKNOWN")


def test_urls():
    for query in ("sig=" + SECRET, "X-Amz-Signature=%s&X-Amz-Date=1" % SECRET, SECRET):
        for words in (("show",), ("history",), ("files",), ("doctor",), ("schema",)):
            done = silt(*words, "https://127.0.0.1:1/x?" + query)
            assert done.code != 0, done
            hidden(done)
    hidden(silt("show", "s3a://key:%s@bucket/x" % SECRET))
    hidden(silt("load", "https://127.0.0.1:1/x.csv?sig=" + SECRET, "--into", "t"))
    hidden(silt("sql", "SELECT * FROM delta.`https://127.0.0.1:1/x?sig=%s`" % SECRET))


def test_history_of_the_shell():
    try: pid, fd = pty.fork()
    except OSError as e: raise Skip("no pseudo-terminal here: %s" % e)
    if pid == 0:
        os.environ.update(s.environment({"TERM": "dumb", "COLUMNS": "200"}))
        os.execv(SILT, [SILT])
    seen, prompts = b"", 0
    lines = ["SELECT 41;", "SET fs.s3a.secret.key=%s;" % SECRET, "SET", "  fs.azure.sas.fixed.token = '%s';" % SECRET, "SETT fs.s3a.secret.key=%s;" % SECRET, "SELECT 43;", ".quit"]
    for line in lines:
        limit = time.monotonic() + 60
        while not re.search(rb"(silt> |   -> )[^\n]*$", seen):
            assert time.monotonic() < limit, seen
            if select.select([fd], [], [], 0.1)[0]: seen += os.read(fd, 65536)
        seen = b""
        os.write(fd, line.encode() + b"\n")
        time.sleep(0.2)
    try:
        while os.read(fd, 65536): pass
    except OSError: pass
    equal(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
    kept = read(".silt_history").decode()
    assert "41" in kept and "43" in kept, kept
    assert SECRET not in kept, kept


def test_unknown_settings():
    done = fails("SETTING_UNKNOWN", "sql", "--conf", "silt.s3.comit=dynamodb", "SELECT 1")
    assert "silt.s3.comit" in done.err and "silt.s3.commit" in done.err.split("hint:")[1], done
    fails("SETTING_UNKNOWN", "sql", "SET silt.thread=4")
    fails("SETTING_UNKNOWN", "sql", "--conf", "spark.hadoop.silt.azure.endpont=http://h/a", "SELECT 1")
    fails("SETTING_UNKNOWN", "sql", "SET silt.=4")
    fails("SETTING_UNKNOWN", "sql", "SET silt.%s=4" % ("x" * 400))
    ok("sql", "--conf", "silt.hdfs.nn1:8020.http=h:9870", "--conf", "silt.hdfs.ns.token=t", "--conf", "silt.S3.commit=dynamodb", "--conf", "spark.anything=1", "SET SILT.THREADS=2; SET fs.any.thing=1")
    assert not [r for r in sql("SET") if r["value"] is None], "keys without a default are not listed"


def test_every_setting_that_the_sources_ask_for_is_known():
    """The one table against what is looked up: a key that is missing there could no longer be set."""
    asked = set()
    for folder, _, names in os.walk(os.path.join(s.ROOT, "src")):
        for n in names:
            if n.endswith((".c", ".h")): asked |= set(re.findall(r'"(silt\.[A-Za-z0-9.]*[A-Za-z0-9])"', read(os.path.join(folder, n)).decode()))
    asked -= {"silt.type"}  # of a column's metadata in Arrow
    assert "silt.s3.commit" in asked and len(asked) > 30, asked
    for key in sorted(asked):
        done = silt("sql", "RESET", "--conf", key + "=")
        assert "SETTING_UNKNOWN" not in done.err, (key, done)


def test_properties_file():
    write("spark.conf", "# comment\n\n  spark.app.name  x y  \r\n\nfs.s3a.secret.key%s\n" % SECRET)
    done = silt("sql", "--properties-file", "spark.conf", "SELECT 1")
    equal(done.code, 2)
    hidden(done, "spark.conf", "line 5")
    write("spark.conf", "=" + SECRET)
    hidden(silt("sql", "--properties-file", "spark.conf", "SELECT 1"), "line 1")
    write("spark.conf", "spark.a=\nspark.b = c\nspark.d\te\n")
    equal(sql("SET spark.b", "--properties-file", "spark.conf"), [{"key": "spark.b", "value": "c"}])
    write("spark.conf", "silt.s3.comit=dynamodb\n")
    fails("SETTING_UNKNOWN", "sql", "--properties-file", "spark.conf", "SELECT 1")


def test_what_the_environment_names_is_there():
    done = fails("HDFS_CONFIGURATION_INVALID", "show", "hdfs://127.0.0.1:1/t", env={"HADOOP_CONF_DIR": "/nowhere/conf"})
    assert "HADOOP_CONF_DIR names no folder" in done.err and "/nowhere/conf" in done.err, done
    done = fails("INVALID_PARAMETER_VALUE", "show", "s3a://bucket/t", "--conf", "fs.s3a.endpoint=http://127.0.0.1:1", env={"AWS_PROFILE": "nope", "AWS_EC2_METADATA_DISABLED": "true"})
    assert "AWS_PROFILE" in done.err and "nope" in done.err, done


def test_a_load_that_does_not_fit_names_the_schema():
    write("a.csv", "id,n\n1,x\n")
    ok("sql", "CREATE TABLE t (id INT, n STRING) USING DELTA")
    write("a.json", '{"id": 5000000000, "n": "y"}\n')
    done = fails("DELTA_FAILED_TO_MERGE_FIELDS", "load", "a.json", "--into", "t")
    assert '--schema "id INT, …"' in done.err, done
    write("b.json", '{"id": 5, "n": "y"}\n')
    ok("load", "b.json", "--into", "t", "--schema", "id INT, n STRING")
    equal(sql("SELECT * FROM t"), [{"id": 5, "n": "y"}])


if __name__ == "__main__": s.main(globals())
