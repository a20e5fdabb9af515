#!/usr/bin/env python3
"""PUBLISH TABLE: the copy's rows are the table's whatever the table's features, only what changed is written, foreign folders stay, readers never see a half, and a stopped run is completed."""
import glob, json, os, random, shutil, subprocess, sys, threading, time
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import silt_script as s
from silt_script import equal, fails, ok, sql, value


def publish(table="t", folder="copy", full=""):
    (row,) = sql("PUBLISH TABLE %s TO '%s' %s" % (table, os.path.abspath(folder), full))
    return row


def rows(text):
    return sorted(map(json.dumps, sql(text)))


def same(table="t", folder="copy", columns="*"):
    """The copy as a reader of plain Parquet finds it."""
    equal(rows("SELECT %s FROM parquet.`%s`" % (columns, os.path.abspath(folder))), rows("SELECT %s FROM %s" % (columns, table)))


def files(folder="copy"):
    return sorted(os.path.relpath(f, folder) for f in glob.glob(folder + "/**/*.parquet", recursive=True))


def left_overs():
    """Of a run that no longer keeps for readers what has left."""
    ok("publish", "t", "./copy", "--conf", "silt.publish.keepSeconds=0")
    return glob.glob(".*silt-publish*") + glob.glob("**/.*silt*tmp*", recursive=True)


def test_what_left_stays_for_a_while():
    """Who opened a folder before the change and lists it after finds it whole."""
    make()
    publish()
    opened, before = os.open("copy/p=z", os.O_RDONLY), sorted(os.listdir("copy/p=z"))
    ok("sql", "UPDATE t SET id = id + 100 WHERE p = 'z'")
    publish()
    equal(sorted(os.listdir(opened)), before)
    assert sorted(os.listdir("copy/p=z")) != before
    publish()
    equal(sorted(os.listdir(opened)), before)                  # not ten minutes later
    equal(left_overs(), [])
    equal(os.listdir(opened), [])
    os.close(opened)
    ok("sql", "INSERT INTO t VALUES (1, 'x', 'entirely new')")
    publish()
    equal(glob.glob(".*silt-publish*"), [])                    # nothing left the copy
    fails("INVALID_PARAMETER_VALUE", "publish", "t", "./copy", "--conf", "silt.publish.keepSeconds=soon")


def make(properties="'delta.enableDeletionVectors' = 'true'"):
    ok("sql", "CREATE TABLE t (id INT, s STRING, p STRING) USING DELTA PARTITIONED BY (p) TBLPROPERTIES (%s);"
       "INSERT INTO t SELECT CAST(id AS INT), concat('s', id), CASE id %% 4 WHEN 0 THEN 'a b' WHEN 1 THEN NULL WHEN 2 THEN 'é/x' ELSE 'z' END FROM range(40)" % properties)


def test_only_what_changed_is_written():
    make()
    row = publish()
    equal((row["version"], row["partitions_written"], row["files_copied"], row["files_rewritten"]), (1, 4, 4, 0))
    same()
    equal(publish(), {"version": 1, "partitions_written": 0, "partitions_removed": 0, "partitions_unchanged": 4, "files_copied": 0, "files_rewritten": 0})
    before = {f: os.stat("copy/" + f).st_ino for f in files()}
    ok("sql", "DELETE FROM t WHERE id = 4")
    row = publish()
    equal((row["partitions_written"], row["partitions_unchanged"], row["files_rewritten"]), (1, 3, 1))
    after = {f: os.stat("copy/" + f).st_ino for f in files()}
    equal(sum(before[f] == after.get(f) for f in before), 3)
    same()
    ok("sql", "DELETE FROM t WHERE p = 'z'; INSERT INTO t VALUES (100, 'new', 'w')")
    row = publish()
    equal((row["partitions_written"], row["partitions_removed"]), (1, 1))
    same()
    equal(os.path.exists("copy/p=z"), False)
    equal(left_overs(), [])
    row = publish(full="FULL")
    equal(row["partitions_written"], 4)
    same()


def test_without_partitions():
    ok("sql", "CREATE TABLE t (id INT) USING DELTA")
    publish()
    equal(files(), [])
    ok("sql", "INSERT INTO t VALUES (1), (2); INSERT INTO t VALUES (3)")
    equal(publish()["files_copied"], 2)
    same()
    equal(publish()["partitions_unchanged"], 1)
    ok("sql", "DELETE FROM t WHERE id = 1")
    publish()
    same()
    equal(left_overs(), [])


def test_mapped_names_and_evolved_columns():
    make("'delta.columnMapping.mode' = 'name', 'delta.enableRowTracking' = 'true', 'delta.enableDeletionVectors' = 'true'")
    ok("sql", "ALTER TABLE t RENAME COLUMN s TO `new name`; ALTER TABLE t ADD COLUMN st STRUCT<x INT>; INSERT INTO t (id, p, st) VALUES (77, 'q', named_struct('x', 5)); UPDATE t SET id = id + 1 WHERE id = 3")
    equal(publish()["files_copied"], 0)
    same(columns="id, st, p")
    equal(value("SELECT count(*) FROM parquet.`%s` WHERE `new name` = 's7'" % os.path.abspath("copy")), 1)
    equal([f for f in files() if not f.startswith("p=")], [])


def test_older_files_get_the_new_columns():
    ok("sql", "CREATE TABLE t (id INT) USING DELTA; INSERT INTO t VALUES (1); ALTER TABLE t ADD COLUMN more STRING; INSERT INTO t VALUES (2, 'x')")
    row = publish()
    equal((row["files_copied"], row["files_rewritten"]), (1, 1))
    same()


def test_clone_with_absolute_paths():
    make()
    ok("sql", "CREATE TABLE c SHALLOW CLONE t; INSERT INTO c VALUES (5, 'own', 'z')")
    publish("c")
    same("c")


def test_folders_of_others_stay():
    make()
    s.write("copy/precious.txt", "x")
    fails("PUBLISH_FOLDER_NOT_OWN", "sql", "PUBLISH TABLE t TO '%s'" % os.path.abspath("copy"))
    shutil.rmtree("copy")
    for bad in ("spark-warehouse/t", "spark-warehouse/t/inner", "spark-warehouse", "."):
        fails("PUBLISH_FOLDER_NOT_OWN", "sql", "PUBLISH TABLE t TO '%s'" % os.path.abspath(bad))
    ok("sql", "CREATE TABLE delta.`%s` (id INT) USING DELTA" % os.path.abspath("other"))
    fails("PUBLISH_FOLDER_NOT_OWN", "sql", "PUBLISH TABLE t TO '%s'" % os.path.abspath("other"))
    fails("PUBLISH_FOLDER_NOT_OWN", "sql", "PUBLISH TABLE t TO '%s'" % os.path.abspath("other/sub"))
    publish()
    ok("sql", "CREATE TABLE u (id INT) USING DELTA")
    fails("PUBLISH_FOLDER_NOT_OWN", "sql", "PUBLISH TABLE u TO '%s'" % os.path.abspath("copy"))
    s.write("copy/p=z/mine.parquet", "x")
    ok("sql", "DELETE FROM t WHERE p = 'a b' AND id = 4")
    publish()                                                  # the partition with the foreign file has not changed
    ok("sql", "DELETE FROM t WHERE id = 3")
    done = fails("PUBLISH_FOLDER_NOT_OWN", "sql", "PUBLISH TABLE t TO '%s'" % os.path.abspath("copy"))
    assert "mine.parquet" in done.err, done
    equal(s.read("copy/p=z/mine.parquet"), b"x")
    fails("DELTA_ONLY_OPERATION", "sql", "PUBLISH TABLE parquet.`%s` TO '%s'" % (os.path.abspath("copy"), os.path.abspath("copy2")))


def test_table_partitioned_anew():
    make()
    publish()
    ok("sql", "CREATE OR REPLACE TABLE t (id INT, q INT) USING DELTA PARTITIONED BY (q); INSERT INTO t VALUES (1, 1), (2, 2)")
    publish()
    same()
    equal([f.split("/")[0] for f in files()], ["q=1", "q=2"])
    ok("sql", "CREATE OR REPLACE TABLE t (id INT) USING DELTA; INSERT INTO t VALUES (9)")
    publish()
    same()
    equal(left_overs(), [])


def partition_sums(folder):
    """What a reader of plain Parquet does: list the folder, then read the files it has listed. None where a listed file is gone."""
    names = [os.path.join(folder, n) for n in os.listdir(folder) if not n.startswith(("_", "."))]
    try:
        return sorted(s.read(n) for n in names)
    except FileNotFoundError:
        return None


def test_readers_beside_it():
    """Every version has two files per partition; a reader that lists a partition's folder and reads what it listed gets the two of one version, or fails."""
    ok("sql", "CREATE TABLE t (v INT, half INT, p INT) USING DELTA PARTITIONED BY (p)")
    publish()
    contents, found, stop = set(), set(), threading.Event()

    def read():
        while not stop.is_set():
            try:
                seen = partition_sums("copy/p=1")
            except FileNotFoundError:
                continue                                       # before the first version
            if seen is not None: found.add(tuple(seen))
    readers = [threading.Thread(target=read) for _ in range(2)]
    for r in readers: r.start()
    try:
        for v in range(2 if s.SANITIZED else 6):
            ok("sql", "DELETE FROM t WHERE p = 1; INSERT INTO t VALUES (%d, 1, 1); INSERT INTO t VALUES (%d, 2, 1)" % (v, v))
            publish()
            contents.add(tuple(partition_sums("copy/p=1")))
    finally:
        stop.set()
        for r in readers: r.join()
    assert found and found <= contents, "a mixture was read"
    assert all(len(c) == 2 for c in contents)


def test_killed_at_any_moment():
    random.seed(11)
    ok("sql", "CREATE TABLE t (id INT, p INT) USING DELTA PARTITIONED BY (p); INSERT INTO t SELECT CAST(id AS INT), CAST(id % 20 AS INT) FROM range(200)")
    publish()
    for attempt in range(2 if s.SANITIZED else 6):
        ok("sql", "UPDATE t SET id = id + 1000 WHERE id % 3 = 0")
        p = subprocess.Popen([s.SILT, "sql", "PUBLISH TABLE t TO '%s'" % os.path.abspath("copy")], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=s.environment())
        time.sleep(random.random() * 0.4)
        p.kill()
        p.wait()
        equal(value("SELECT count(*) FROM parquet.`%s`" % os.path.abspath("copy")), 200, "every partition is whole")
        publish()
        same()
    for stage in glob.glob(".copy.silt-publish-*"): os.utime(stage, (time.time() - 2 * 86400,) * 2)
    ok("sql", "UPDATE t SET id = 0 WHERE p = 1")
    publish()
    same()
    equal(left_overs(), [])


def markers(stage): return glob.glob(glob.escape(stage) + "/p=*/_silt_publish.json")


def kill_when_half_built():
    """A run that is killed when a part of its partitions is finished: its stage, and the finished files in it with their inodes."""
    p = subprocess.Popen([s.SILT, "sql", "PUBLISH TABLE t TO '%s'" % os.path.abspath("copy")], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=s.environment())
    try:
        while p.poll() is None and not any(len(markers(stage)) >= 10 for stage in glob.glob(".copy.silt-publish-*")): pass
    finally:
        p.kill()
        p.wait()
    stages = glob.glob(".copy.silt-publish-*")
    equal(len(stages), 1)
    return {os.path.relpath(f, stages[0]): os.stat(f).st_ino for m in markers(stages[0]) for f in glob.glob(glob.escape(os.path.dirname(m)) + "/*.parquet")}


def test_killed_run_is_gone_on_with():
    """Partitions that a killed run had finished are not made again, whether their files were copied or written anew; what has changed since then is."""
    ok("sql", "CREATE TABLE t (id INT, p INT) USING DELTA PARTITIONED BY (p) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true');"
       "INSERT INTO t SELECT CAST(id AS INT), CAST(id % 400 AS INT) FROM range(4000); DELETE FROM t WHERE id % 7 = 0 AND p % 2 = 0")
    for change in ("", "DELETE FROM t WHERE p = 0"):
        shutil.rmtree("copy", ignore_errors=True)
        finished = kill_when_half_built()
        if change: ok("sql", change)
        publish()
        same()
        kept = {f for f in finished if os.path.exists("copy/" + f) and os.stat("copy/" + f).st_ino == finished[f]}
        equal(kept, {f for f in finished if not (change and f.startswith("p=0/"))}, "what was finished and is right is kept")
        assert not change or all(not f.startswith("p=0/") for f in files()), files()
        equal(left_overs(), [])


def test_what_a_copy_cannot_hold():
    ok("sql", "CREATE TABLE t (id INT, v VARIANT) USING DELTA")
    fails("PUBLISH_UNSUPPORTED", "sql", "PUBLISH TABLE t TO '%s'" % os.path.abspath("copy"))
    equal(os.path.exists("copy"), False)


def test_typed_partitions():
    ok("sql", "CREATE TABLE t (id INT, d DATE, ts TIMESTAMP, x DOUBLE) USING DELTA PARTITIONED BY (d, ts, x);"
       "INSERT INTO t VALUES (1, DATE'2024-02-29', TIMESTAMP'2024-01-01 12:00:00.5', 1.5), (2, NULL, NULL, double('NaN'))")
    publish()
    equal(sorted(os.path.dirname(f) for f in files()), ["d=2024-02-29/ts=2024-01-01 12%3A00%3A00.5/x=1.5", "d=__HIVE_DEFAULT_PARTITION__/ts=__HIVE_DEFAULT_PARTITION__/x=NaN"])
    ok("sql", "ALTER TABLE t ADD COLUMN more INT")
    equal(publish()["files_rewritten"], 2)
    equal(sorted(os.path.dirname(f) for f in files()), ["d=2024-02-29/ts=2024-01-01 12%3A00%3A00.5/x=1.5", "d=__HIVE_DEFAULT_PARTITION__/ts=__HIVE_DEFAULT_PARTITION__/x=NaN"])


if __name__ == "__main__":
    s.main(globals())
