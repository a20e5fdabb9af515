#!/usr/bin/env python3
"""Whole processes under bad conditions: killed at any moment, a full disk, no permission, many writers at once, a table replaced underneath, wide tables."""
import json, os, random, shutil, signal, subprocess, sys, time
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import silt_script as s
from silt_script import SILT, Skip, equal, fails, ok, silt, sql, value

TABLE = "spark-warehouse/t"


def start(*argv):
    return subprocess.Popen([SILT, *map(str, argv)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=s.environment())


def contiguous(table):
    v = s.versions(table)
    equal(v, list(range(len(v))), "the versions")
    return v


# ---- killed ----

def test_killed_at_any_moment():
    """A script inserts rows n = 0, 1, 2 …, one a commit, and prints n after each; it is killed. What it printed is there, and at most one more."""
    random.seed(20260131)
    ok("sql", "CREATE TABLE t (n INT, payload STRING) USING DELTA TBLPROPERTIES ('delta.checkpointInterval' = '3')")
    per_run = 30
    script = "".join("INSERT INTO t SELECT %s + {base}, repeat('x', 1000) FROM range(1); SELECT %s + {base} AS done;\n" % (n, n) for n in range(per_run))
    base = 0
    for attempt in range(12):
        p = start("sql", "--format", "jsonl", script.format(base=base))
        time.sleep(0.05 + random.random() * 0.5)
        p.kill()
        out, _ = p.communicate()
        told = [json.loads(l)["done"] for l in out.decode().splitlines() if l.endswith("}")]
        contiguous(TABLE)
        rows = sorted(r["n"] for r in sql("SELECT n FROM t WHERE n >= %d" % base))
        equal(rows, list(range(base, base + len(rows))), "attempt %d: no row lost, none doubled" % attempt)
        acknowledged = told[-1] - base + 1 if told else 0
        assert acknowledged <= len(rows) <= acknowledged + 1, "attempt %d: %d told, %d there" % (attempt, acknowledged, len(rows))
        equal(value("SELECT count(*) FROM t"), json.loads(ok("show", "t", "--format", "json").out)["numRecords"])
        base += len(rows)
    ok("sql", "INSERT INTO t VALUES (-1, 'after')")
    equal(value("SELECT count(*) FROM t"), base + 1)


def test_killed_while_creating():
    random.seed(7)
    for attempt in range(8):
        p = start("sql", "CREATE TABLE c%d USING DELTA AS SELECT id, md5(CAST(id AS STRING)) AS h FROM range(300000)" % attempt)
        time.sleep(0.02 + random.random() * 0.6)
        p.kill()
        p.communicate()
        done = silt("sql", "--format", "jsonl", "SELECT count(*) AS n FROM c%d" % attempt)
        if done.code == 0: equal(done.rows(), [{"n": 300000}])
        else: equal(done.condition, "TABLE_OR_VIEW_NOT_FOUND", str(done))


def test_killed_while_checkpointing():
    random.seed(11)
    ok("sql", "CREATE TABLE t (n INT) USING DELTA TBLPROPERTIES ('delta.checkpointInterval' = '1000'); " + ";".join("INSERT INTO t VALUES (%d)" % n for n in range(20)))
    for attempt in range(8):
        p = start("checkpoint", "t")
        time.sleep(0.01 + random.random() * 0.15)
        p.kill()
        p.communicate()
        equal(value("SELECT sum(n) FROM t"), 190)
    ok("checkpoint", "t")
    equal(value("SELECT sum(n) FROM t"), 190)


def test_killed_leaves_its_temporary_folder_to_the_next():
    """What a killed process had spilled and staged goes with the next one; what a living one has stays."""
    base = os.path.abspath("temporary")
    os.mkdir(base)
    long = "SELECT count(*) FROM range(100000000000) WHERE sqrt(id) < -1"

    def begin(there):
        p = subprocess.Popen([SILT, "sql", long], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=s.environment({"TMPDIR": base}))
        s.wait_for(lambda: len(os.listdir(base)) == there, what="its folder")
        return p

    living = begin(1)
    kept = os.listdir(base)
    killed = begin(2)
    with open(os.path.join(base, *set(os.listdir(base)) - set(kept), "spilled"), "w", encoding="utf-8") as f: f.write("x")
    killed.kill()
    killed.communicate()
    equal(len(os.listdir(base)), 2, "what the killed one left")
    ok("sql", "--format", "csv", "SELECT 1", env={"TMPDIR": base})
    equal(os.listdir(base), kept, "after the next process")
    living.send_signal(signal.SIGINT)
    living.communicate(timeout=s.TIMEOUT)
    equal(os.listdir(base), [], "when all have ended")


# ---- at once ----

def test_two_that_spill_share_a_temporary_folder():
    """What the engine spills has the same names in every process: each has a folder of its own in silt.temp.dir."""
    base = os.path.abspath("temporary")
    query = "SELECT sum(r * h) AS s FROM (SELECT row_number() OVER (ORDER BY md5(CAST(id AS STRING))) % 1000 AS r, id % 1000 AS h FROM range(1500000))"
    both = [start("sql", "--conf", "silt.temp.dir=" + base, "--conf", "silt.memory.limit=60MB", "--format", "jsonl", query) for _ in range(2)]
    spilled = 0
    while any(p.poll() is None for p in both):
        spilled = max([spilled] + [len(files) for _, _, files in os.walk(base)])
        time.sleep(0.02)
    told = [p.communicate() for p in both]
    equal([p.returncode for p in both], [0, 0], str(told))
    equal(told[0][0], told[1][0])
    assert spilled, "nothing was spilled: the limit of memory is no longer low enough"
    equal(os.listdir(base), [])


def test_sixteen_writers_at_once():
    ok("sql", "CREATE TABLE t (writer INT, n INT) USING DELTA")
    writers = [start("sql", ";".join("INSERT INTO t VALUES (%d, %d)" % (w, n) for n in range(5))) for w in range(16)]
    for w in writers:
        out, err = w.communicate(timeout=s.TIMEOUT)
        equal((w.returncode, err.decode()), (0, ""))
    contiguous(TABLE)
    equal(len(s.versions(TABLE)), 81)
    equal(sql("SELECT count(*) AS n, count(DISTINCT writer * 100 + n) AS d FROM t"), [{"n": 80, "d": 80}])


def test_two_creators_of_one_table():
    for attempt in range(4):
        name = "race%d" % attempt
        both = [start("sql", "CREATE TABLE %s (id INT) USING DELTA" % name) for _ in range(4)]
        codes = []
        for p in both:
            _, err = p.communicate(timeout=s.TIMEOUT)
            codes.append(p.returncode)
            assert p.returncode == 0 or b"ALREADY_EXISTS" in err, err
        assert codes.count(0) >= 1, codes
        equal(s.versions("spark-warehouse/" + name), [0])
        ok("sql", "INSERT INTO %s VALUES (1)" % name)


def test_creators_if_not_exists():
    all_of = [start("sql", "CREATE TABLE IF NOT EXISTS t (id INT) USING DELTA; INSERT INTO t VALUES (%d)" % i) for i in range(6)]
    for p in all_of:
        _, err = p.communicate(timeout=s.TIMEOUT)
        equal((p.returncode, err.decode()), (0, ""))
    equal(value("SELECT count(*) FROM t"), 6)


def test_creators_as_select():
    """Whoever comes while another's rows are written and its log is not there yet waits a moment for the table; after that, files in its folder are a reason to refuse."""
    for n, (form, told) in enumerate((("CREATE TABLE IF NOT EXISTS", b"NON_EMPTY_LOCATION"), ("CREATE TABLE", b"ALREADY_EXISTS"), ("CREATE OR REPLACE TABLE", b"2D521"))):
        all_of = [start("sql", "%s s%d USING DELTA AS SELECT %d AS id" % (form, n, i)) for i in range(4)]
        codes = []
        for p in all_of:
            _, err = p.communicate(timeout=s.TIMEOUT)
            codes.append(p.returncode)
            assert p.returncode == 0 or told in err or b"NON_EMPTY_LOCATION" in err, err
        assert codes.count(0) >= 1, codes
        equal(value("SELECT count(*) FROM s%d" % n), 1)


def test_files_without_a_log_are_told_of_by_their_age():
    file = s.write("spark-warehouse/f/part-0.parquet", "x")
    young = fails("DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION", "sql", "CREATE TABLE f USING DELTA AS SELECT 1 AS id").err
    os.utime(file, (time.time() - 3600,) * 2)
    old = fails("DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION", "sql", "CREATE TABLE f USING DELTA AS SELECT 1 AS id").err
    assert "making this table just now" in young and "making this table" not in old, young + old


def test_readers_while_writing():
    ok("sql", "CREATE TABLE t (a INT, b INT) USING DELTA TBLPROPERTIES ('delta.checkpointInterval' = '5'); INSERT INTO t VALUES (0, 0)")
    writer = start("sql", ";".join("INSERT OVERWRITE t SELECT %d, -%d FROM range(%d)" % (n, n, n) for n in range(1, 31)))
    seen = set()
    while writer.poll() is None:
        (row,) = sql("SELECT count(*) AS n, min(a) AS lo, max(a) AS hi, sum(a + b) AS zero FROM t")
        assert row["lo"] == row["hi"] and row["zero"] == 0 and row["n"] == max(row["lo"], 1), "a version in part: %s" % row
        seen.add(row["lo"])
    _, err = writer.communicate()
    equal((writer.returncode, err.decode()), (0, ""))
    equal(value("SELECT max(a) FROM t"), 30)


# ---- a table replaced underneath ----

def test_replaced_underneath():
    """One session reads; between its statements other processes replace, drop and re-create the table."""
    import pty
    ok("sql", "CREATE TABLE t (id INT) USING DELTA; INSERT INTO t VALUES (1), (2)")
    try: pid, fd = pty.fork()
    except OSError as e: raise Skip("no pseudo-terminal here: %s" % e)
    if pid == 0:
        os.environ.update(s.environment({"TERM": "dumb"}))
        os.execv(SILT, [SILT, "shell", "--format", "jsonl"])
    seen = [b""]

    def until(text):
        limit = time.monotonic() + 60
        while text not in seen[0]:
            assert time.monotonic() < limit, "%r did not come: %r" % (text, seen[0])
            try: seen[0] += os.read(fd, 65536)
            except OSError: raise AssertionError("the session ended: %r" % seen[0])
        before, _, seen[0] = seen[0].partition(text)
        return before

    def ask(text):
        os.write(fd, text.encode() + b"\n")
        return until(b"silt> ").decode("utf-8", "replace")

    until(b"silt> ")
    assert '{"n":2}' in ask("SELECT count(*) AS n FROM t;")
    ok("sql", "CREATE OR REPLACE TABLE t (name STRING, d DATE) USING DELTA; INSERT INTO t VALUES ('a', DATE'2026-01-31')")
    assert '{"name":"a","d":"2026-01-31"}' in ask("SELECT * FROM t;")
    ok("sql", "DROP TABLE t")
    assert "TABLE_OR_VIEW_NOT_FOUND" in ask("SELECT * FROM t;")
    ok("sql", "CREATE TABLE t (x DOUBLE) USING DELTA; INSERT INTO t VALUES (0.5), (1.5), (2.5)")
    assert '{"n":3,"m":2.5}' in ask("SELECT count(*) AS n, max(x) AS m FROM t;")
    # the folder itself is exchanged: same path, same version number, other table
    ok("sql", "DROP TABLE t; CREATE TABLE t (x DOUBLE) USING DELTA; INSERT INTO t VALUES (9.5)")
    shown = ask("SELECT count(*) AS n, max(x) AS m FROM t;")
    assert '{"n":1,"m":9.5}' in shown or "[" in shown and "DELTA" in shown, shown
    assert '{"n":1,"m":9.5}' in ask("SELECT count(*) AS n, max(x) AS m FROM t;")
    ask("INSERT INTO t VALUES (10.5);")
    equal(value("SELECT max(x) FROM t"), 10.5)
    os.write(fd, b".quit\n")
    os.waitpid(pid, 0)
    os.close(fd)


# ---- disk and permissions ----

def test_full_disk():
    os.mkdir("small")
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1500k", "tmpfs", "small"], capture_output=True)
    if mounted.returncode: raise Skip("tmpfs cannot be mounted here: %s" % mounted.stderr.decode().strip())
    try:
        path = os.getcwd() + "/small/t"
        ok("sql", "CREATE TABLE delta.`%s` (id BIGINT, h STRING) USING DELTA; INSERT INTO delta.`%s` VALUES (1, 'a')" % (path, path))
        before, files = s.versions(path), s.data_files(path)
        for text in ("INSERT INTO delta.`%s` SELECT id, sha2(CAST(id AS STRING), 512) FROM range(200000)" % path,
                     "INSERT OVERWRITE delta.`%s` SELECT id, sha2(CAST(id AS STRING), 512) FROM range(200000)" % path):
            done = fails("NO_SPACE_LEFT", "sql", text)
            assert "nothing was committed" in done.err, done
            equal(s.versions(path), before)
            equal(s.data_files(path), files, "no stray file")
            equal(value("SELECT count(*) FROM delta.`%s`" % path), 1)
        # a file that is copied as it is: what is full is where it goes
        ok("sql", "SELECT id, sha2(CAST(id AS STRING), 512) AS h FROM range(50000)", "--format", "parquet", "-o", "big.parquet")
        assert "taken as it is" in ok("load", "big.parquet", "--into", "elsewhere", "--verbose").out
        done = fails("NO_SPACE_LEFT", "load", "big.parquet", "--into", path)
        assert "while writing %s/" % path in done.err, done
        equal(s.versions(path), before)
        equal(s.data_files(path), files, "no stray file")
        fails("NO_SPACE_LEFT", "sql", "CREATE TABLE delta.`%s2` USING DELTA AS SELECT id, sha2(CAST(id AS STRING), 512) AS h FROM range(200000)" % path)
        # no room even for a log entry
        filler = os.open("small/filler", os.O_CREAT | os.O_WRONLY)
        try:
            while os.write(filler, b"x" * 4096): pass
        except OSError: pass
        os.close(filler)
        silt("sql", "INSERT INTO delta.`%s` VALUES (2, 'b')" % path)
        silt("checkpoint", path)
        os.remove("small/filler")
        contiguous(path)
        n = value("SELECT count(*) FROM delta.`%s`" % path)
        equal(n, len(s.versions(path)) - 1, "a row for each commit")
        ok("sql", "INSERT INTO delta.`%s` VALUES (3, 'c')" % path)
        equal(value("SELECT count(*) FROM delta.`%s`" % path), n + 1)
        done = silt("sql", "--format", "csv", "-o", "small/out.csv", "SELECT sha2(CAST(id AS STRING), 512) FROM range(200000)")
        equal(done.code, 1)
        assert "No space left" in done.err, done
        equal([n for n in os.listdir("small") if n.startswith("out")], [])
    finally:
        subprocess.run(["umount", "-l", "small"])


NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")


def as_nobody():
    """How to start the command as another user: a prefix, () when this one is not root. The command and its libraries may lie where only root can look, so they are copied."""
    if os.geteuid() != 0: return ()
    os.chmod(".", 0o755)
    here = os.getcwd() + "/command"
    os.mkdir(here)
    listed = subprocess.run(["ldd", SILT], capture_output=True, text=True).stdout
    for line in listed.splitlines():
        path = line.split("=>")[-1].strip().split(" ")[0]
        if path.startswith("/") and not path.startswith(("/lib", "/usr/lib")): shutil.copyfile(os.path.realpath(path), os.path.join(here, line.strip().split(" ")[0]))
    shutil.copyfile(os.path.join(os.path.dirname(os.path.realpath(SILT)), "..", "lib", "silt", "libduckdb.so"), here + "/libduckdb.so")
    shutil.copyfile(SILT, here + "/silt")
    os.chmod(here + "/silt", 0o755)
    prefix = (*NOBODY, "env", "LD_LIBRARY_PATH=" + here, "sh", "-c", 'shift; exec "%s/silt" "$@"' % here, "sh")
    try: tried = subprocess.run([*prefix, SILT, "--version"], capture_output=True, text=True, env=s.environment())
    except OSError as e: raise Skip("setpriv: %s" % e)
    if tried.returncode: raise Skip("the command cannot run as another user here: %s" % tried.stderr.strip())
    return prefix


def test_no_permission():
    user = as_nobody()
    path = os.getcwd() + "/t"
    ok("sql", "CREATE TABLE delta.`%s` (id INT) USING DELTA; INSERT INTO delta.`%s` VALUES (1)" % (path, path))
    subprocess.run(["chmod", "-R", "a+rX,go-w", path], check=True)
    os.mkdir("wh", 0o777)
    os.chmod("wh", 0o777)
    wh = ("--warehouse", os.getcwd() + "/wh")
    read = "SELECT count(*) FROM delta.`%s`" % path
    if user:
        equal(value(read, *wh, prefix=user), 1, "reading needs no right to write")
        done = fails("PERMISSION_DENIED", "sql", *wh, "INSERT INTO delta.`%s` VALUES (2)" % path, prefix=user)
        equal((s.versions(path), done.out), ([0, 1], ""))
        fails("PERMISSION_DENIED", "checkpoint", *wh, path, prefix=user)
    (data,) = s.data_files(path)
    for target, mode in ((os.path.join(path, data), 0), (path + "/_delta_log/%020d.json" % 1, 0), (path + "/_delta_log", 0), (path, 0)):
        was = os.stat(target).st_mode
        os.chmod(target, mode)
        try:
            done = silt("sql", *wh, "SELECT * FROM delta.`%s`" % path, prefix=user)
            if user or os.geteuid() != 0:
                equal(done.code, 1, target)
                assert done.condition in ("PERMISSION_DENIED", "FAILED_READ_FILE", "DELTA_TABLE_NOT_FOUND"), done
                assert done.condition == "PERMISSION_DENIED" or "ermission" in done.err, done
        finally: os.chmod(target, was)
    equal(value(read, *wh, prefix=user), 1)
    if user:
        done = silt("sql", "CREATE TABLE x (id INT) USING DELTA", "--warehouse", "/root/nowhere/wh", prefix=user)
        equal(done.code, 1)
        assert "ermission" in done.err, done


def test_read_only_warehouse():
    user = as_nobody()
    if not user: raise Skip("only root can make a folder that this user cannot write")
    ok("sql", "CREATE TABLE t (id INT) USING DELTA; INSERT INTO t VALUES (1)")
    subprocess.run(["chmod", "-R", "a+rX,go-w", "spark-warehouse"], check=True)
    equal(value("SELECT count(*) FROM t", prefix=user), 1)
    done = silt("sql", "INSERT INTO t VALUES (2)", prefix=user)
    equal((done.code, done.condition), (1, "PERMISSION_DENIED"))
    done = silt("sql", "CREATE TABLE u (id INT) USING DELTA", prefix=user)
    equal(done.code, 1)
    assert "INTERNAL" not in done.condition, done


# ---- size ----

def test_ten_thousand_columns():
    n = 10000
    began = time.monotonic()
    ok("sql", "-f", "-", stdin="CREATE TABLE t (%s) USING DELTA" % ", ".join("c%d INT" % i for i in range(n)))
    ok("sql", "-f", "-", stdin="INSERT INTO t VALUES (%s)" % ", ".join(str(i) for i in range(n)))
    equal(sql("SELECT c0, c31, c32, c9999 FROM t WHERE c5000 = 5000"), [{"c0": 0, "c31": 31, "c32": 32, "c9999": 9999}])
    equal(sum(sql("SELECT * FROM t")[0].values()), n * (n - 1) // 2)
    equal(len(json.loads(ok("schema", "t", "--format", "json").out)["fields"]), n)
    if not s.SANITIZED: assert time.monotonic() - began < 60, "it took %.0f s" % (time.monotonic() - began)


def test_many_statements():
    script = "CREATE TABLE t (n INT) USING DELTA;\n" + "SELECT 1 AS a;\n" * 2000
    equal(ok("sql", "--format", "jsonl", "-f", "-", stdin=script).out.count("\n"), 2000)


def test_deep_nesting():
    for text in ("SELECT " + "(" * 20000 + "1" + ")" * 20000, "SELECT " + "1+" * 20000 + "1", "SELECT " + "NOT " * 20000 + "true", "SELECT " + "array(" * 5000 + "1" + ")" * 5000,
                 "SELECT * FROM " + "(SELECT * FROM " * 3000 + "range(1)" + ")" * 3000, "SELECT CAST(1 AS " + "ARRAY<" * 20000 + "INT" + ">" * 20000 + ")",
                 "SELECT " + "CASE WHEN true THEN " * 5000 + "1" + " END" * 5000):
        done = silt("sql", "--format", "jsonl", "-f", "-", stdin=text)
        assert done.code in (0, 1), done
        if done.code: assert done.condition and "INTERNAL" not in done.condition, "%s…: %s" % (text[:40], done.err[:500])


if __name__ == "__main__": s.main(globals())
