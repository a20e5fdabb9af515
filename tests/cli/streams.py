#!/usr/bin/env python3
"""Long results and interruptions: a closed pipe, Ctrl-C, bounded memory, a full output device."""
import os, resource, signal, subprocess, sys, time
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import silt_script as s
from silt_script import SILT, Skip, equal, fails, ok, silt, sql, value

TABLE = "spark-warehouse/t"
MEMORY_MIB = 300


def start(*argv, **how):
    return subprocess.Popen([SILT, *argv], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=s.environment(), **how)


def test_closed_pipe():
    """silt sql … | head: it ends soon, by its own status, without a word."""
    for form in ("csv", "jsonl", "json", "table", "markdown"):
        p = start("sql", "--format", form, "SELECT id, 'some text to fill the pipe' AS x FROM range(50000000)")
        equal(p.stdout.readline() != b"", True)
        p.stdout.close()
        try: code = p.wait(30)
        except subprocess.TimeoutExpired:
            p.kill()
            raise AssertionError("%s: still running 30 s after its reader went" % form)
        err = p.stderr.read().decode()
        assert code in (0, 1), "%s: status %d: %s" % (form, code, err)
        equal(err, "", form)


def test_closed_pipe_commits_what_ran_before():
    p = start("sql", "--format", "csv", "CREATE TABLE t (id INT) USING DELTA; INSERT INTO t VALUES (1); SELECT id FROM range(9000000)")
    p.stdout.readline()
    p.stdout.close()
    p.wait(30)
    p.stderr.close()
    equal(value("SELECT count(*) FROM t"), 1)


def test_full_output_device():
    if not os.path.exists("/dev/full"): raise Skip("no /dev/full here")
    with open("/dev/full", "w") as full:
        p = subprocess.run([SILT, "sql", "--format", "csv", "SELECT id FROM range(100000)"], stdout=full, stderr=subprocess.PIPE, env=s.environment(), timeout=s.TIMEOUT)
    equal(p.returncode, 1)
    assert b"No space left" in p.stderr, p.stderr
    with open("/dev/full", "w") as full: p = subprocess.run([SILT, "sql", "SELECT 1"], stdout=full, stderr=subprocess.PIPE, env=s.environment(), timeout=s.TIMEOUT)
    equal((p.returncode, b"No space left" in p.stderr), (1, True), "a short result too")


def peak_kib(argv):
    """Largest resident size of one run whose output goes nowhere, in KiB."""
    with open(os.devnull, "w") as null: p = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=null, stderr=subprocess.PIPE, env=s.environment())
    err = p.stderr.read().decode()
    _, status, used = os.wait4(p.pid, 0)
    p.returncode = os.waitstatus_to_exitcode(status)
    equal(p.returncode, 0, err)
    return used.ru_maxrss


def test_bounded_memory():
    """5 million rows of a table stream through every row format and into a Parquet file."""
    if s.SANITIZED: raise Skip("a sanitizer's memory is not the command's")
    ok("sql", "CREATE TABLE t USING DELTA AS SELECT id, concat('row number ', id) AS s, id * 0.5D AS d FROM range(5000000)")
    for form, text in (("csv", "SELECT * FROM t"), ("jsonl", "SELECT id FROM t"), ("table", "SELECT d FROM t LIMIT 2000000")):
        peak = peak_kib([SILT, "sql", "--format", form, text])
        assert peak < MEMORY_MIB * 1024, "%s: %d MiB" % (form, peak // 1024)
    peak = peak_kib([SILT, "sql", "--format", "parquet", "-o", "out.parquet", "SELECT * FROM t"])
    assert peak < 2 * MEMORY_MIB * 1024, "parquet: %d MiB" % (peak // 1024)


def interrupted(sign, statement, seen):
    p = start("sql", statement)
    s.wait_for(seen, 60, "the write's first file")
    time.sleep(0.2)
    p.send_signal(sign)
    try: out, err = p.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        p.kill()
        raise AssertionError("still running 30 s after the signal")
    return p.returncode, err.decode()


LONG = "SELECT id, md5(CAST(id AS STRING)) AS h, sha2(CAST(id AS STRING), 512) AS g FROM range(%d)"


def test_interrupt_leaves_nothing():
    ok("sql", "CREATE TABLE t (id BIGINT, h STRING, g STRING) USING DELTA; INSERT INTO t VALUES (1, 'a', 'b')")
    before, versions = set(s.data_files(TABLE)), s.versions(TABLE)
    for sign in (signal.SIGINT, signal.SIGTERM):
        code, err = interrupted(sign, "INSERT INTO t " + LONG % 200000000, lambda: set(s.data_files(TABLE)) - before)
        assert code == 1 and "OPERATION_CANCELLED" in err, (code, err)
        equal(s.versions(TABLE), versions, "no commit")
        equal(set(s.data_files(TABLE)), before, "no stray data file")
        equal(value("SELECT count(*) FROM t"), 1)


def test_interrupt_of_a_new_table():
    code, err = interrupted(signal.SIGINT, "CREATE TABLE t USING DELTA AS " + LONG % 200000000, lambda: os.path.isdir(TABLE) and s.data_files(TABLE))
    assert code == 1 and "OPERATION_CANCELLED" in err, (code, err)
    equal([f for f in s.data_files(TABLE)] if os.path.isdir(TABLE) else [], [])
    fails("TABLE_OR_VIEW_NOT_FOUND", "sql", "SELECT * FROM t")
    ok("sql", "CREATE TABLE t (id INT) USING DELTA")


def test_interrupt_of_a_query_with_an_output_file():
    code, err = interrupted(signal.SIGINT, "SELECT count(*) FROM (%s) AS x JOIN range(1000) AS y ON x.id <> y.id WHERE x.h < 'f'" % (LONG % 20000000), lambda: True)
    assert code == 1 and "OPERATION_CANCELLED" in err, (code, err)


def test_second_interrupt_ends_at_once():
    p = start("sql", "SELECT count(*) FROM (%s) AS x JOIN range(1000) AS y ON x.id <> y.id WHERE x.h < 'f'" % (LONG % 20000000))
    time.sleep(0.5)
    p.send_signal(signal.SIGINT)
    p.send_signal(signal.SIGINT)
    try: p.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        p.kill()
        raise AssertionError("still running")
    assert p.returncode in (1, 130), p.returncode


def test_many_small_rows_to_a_file():
    ok("sql", "--format", "csv", "-o", "out.csv", "SELECT id FROM range(1000000)")
    with open("out.csv") as f: equal(sum(1 for _ in f), 1000001)


if __name__ == "__main__": s.main(globals())
