#!/usr/bin/env python3
"""VACUUM and FSCK REPAIR TABLE as a user meets them: what goes, what stays, what is said; tables with links, odd names, absolute paths, inventories; damage that must not become loss."""
import glob, json, os, shutil, signal, subprocess, sys, time
sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", d) for d in ("support", "fault")]
import silt_script as s
from process import as_nobody
from silt_script import equal, fails, ok, silt, sql, value

OFF = ("--conf", "spark.databricks.delta.retentionDurationCheck.enabled=false")
DAY = 86400
T = "spark-warehouse/t"


def old(*paths, days=10):
    for p in paths: os.utime(p, (time.time() - days * DAY,) * 2, follow_symlinks=False)


def put(*paths, days=10):
    for p in paths:
        s.write(p, "x" * 7)
        if days: old(p, days=days)


def age_log(table, versions, days=10):
    """These commits, what they removed and what they wrote are some days old."""
    import re
    for v in versions:
        name = "%s/_delta_log/%020d.json" % (table, v)
        text = s.read(name).decode()
        s.write(name, re.sub(r'("deletionTimestamp":)\d+', lambda m: m[1] + str(int((time.time() - days * DAY) * 1000)), text))
        os.utime(name, (time.time() - days * DAY + v,) * 2)
    for f in glob.glob(table + "/_delta_log/*.crc"): os.remove(f)


def age_files(table, days=10):
    for f in s.data_files(table): old(os.path.join(table, f), days=days)


def dry(statement, *more, **how):
    """The rows of a dry run, relative to the table."""
    root = os.getcwd() + "/" + T + "/"
    found = [r["path"] for r in sql(statement, *more, **how)]
    assert all(p.startswith("file:" + root) for p in found), found
    return [p[len("file:" + root):] for p in found]


def make(properties="", partitioned=False):
    ok("sql", "CREATE TABLE t (id BIGINT, p STRING) USING DELTA %s %s; INSERT INTO t VALUES (1, 'a'), (2, 'b'); INSERT INTO t VALUES (3, 'c'); DELETE FROM t WHERE id = 3"
       % ("PARTITIONED BY (p)" if partitioned else "", properties))


def history(n):
    return sql("DESCRIBE HISTORY t LIMIT %d" % n)


# ---- what goes and what stays ----------------------------------------------------------------------------------------------

def test_young_files_of_writers_stay():
    make()
    put(T + "/writing.parquet", days=0)
    put(T + "/six_days.parquet", days=6.9)
    put(T + "/eight_days.parquet", days=7.1)
    equal(dry("VACUUM t DRY RUN"), ["eight_days.parquet"])
    ok("sql", "VACUUM t")
    equal(sorted(f for f in s.data_files(T) if "days" in f or "writing" in f), ["six_days.parquet", "writing.parquet"])
    ok("sql", "VACUUM t RETAIN 0 HOURS", *OFF)
    equal(sorted(f for f in s.data_files(T) if "days" in f or "writing" in f), [])
    equal(value("SELECT count(*) FROM t"), 2)


def test_orphans_wherever_they_are():
    ok("sql", "CREATE TABLE t (id BIGINT, _x INT) USING DELTA PARTITIONED BY (_x); INSERT INTO t VALUES (1, 1)")
    orphans = ["orphan", "sub/dir/orphan", "_change_data/orphan", "_x=1/orphan", "_delta_index/orphan", "metadata/orphan"]
    kept = ["_delta_log/.tmp", "_delta_log/_x=1/deep", ".hidden", "_tmp", "_y=1/orphan", "_dir/orphan", ".dir/orphan"]
    put(*[T + "/" + f for f in orphans + kept])
    equal(dry("VACUUM t DRY RUN"), sorted(orphans))
    equal(sql("VACUUM t"), [{"path": "file:%s/%s" % (os.getcwd(), T)}])
    for f in orphans: assert not os.path.exists(T + "/" + f), f
    for f in kept: assert os.path.exists(T + "/" + f), f
    equal(value("SELECT count(*) FROM t"), 1)


def test_a_relative_path_is_the_same_table():
    make()
    put(T + "/orphan")
    equal([os.path.basename(r["path"]) for r in sql("VACUUM '%s' DRY RUN" % T)], ["orphan"])
    ok("sql", "VACUUM delta.`./%s/`" % T)
    assert not os.path.exists(T + "/orphan")


def test_iceberg_metadata_stays_while_it_is_in_use():
    make()
    name = T + "/_delta_log/%020d.json" % 0
    s.write(name, s.read(name).decode().replace('"configuration":{', '"configuration":{"delta.universalFormat.enabledFormats":"iceberg"'))
    for f in glob.glob(T + "/_delta_log/*.crc"): os.remove(f)
    put(T + "/metadata/v1.metadata.json", T + "/orphan")
    equal(dry("VACUUM t DRY RUN"), ["orphan"])


def test_empty_folders_go_from_the_deepest_up():
    make()
    os.makedirs(T + "/a/b/c")
    os.makedirs(T + "/used/empty")
    os.makedirs(T + "/fresh")
    put(T + "/used/young", days=0)
    old(T + "/a/b/c", T + "/a/b", T + "/a", T + "/used/empty", T + "/used")
    equal(dry("VACUUM t DRY RUN"), ["a", "a/b", "a/b/c", "used/empty"])
    ok("sql", "VACUUM t")
    equal([os.path.exists(T + "/" + d) for d in ("a", "used", "used/empty", "fresh")], [False, True, False, True])
    equal(history(1)[0]["operationMetrics"], [["numDeletedFiles", "4"], ["numVacuumedDirectories", "7"]])
    ok("sql", "VACUUM t RETAIN 0 HOURS", *OFF)
    assert not os.path.exists(T + "/fresh")


def test_a_folder_emptied_by_it_goes_the_next_time():
    make(partitioned=True)
    put(T + "/gone/orphan")
    ok("sql", "VACUUM t RETAIN 0 HOURS", *OFF)
    assert os.path.isdir(T + "/gone") and not os.listdir(T + "/gone")
    ok("sql", "VACUUM t RETAIN 0 HOURS", *OFF)
    assert not os.path.exists(T + "/gone")


def test_checksums_of_hadoop_go_with_their_files():
    make()
    put(T + "/orphan", T + "/.orphan.crc", T + "/.lonely.crc")
    equal(dry("VACUUM t DRY RUN"), ["orphan"])
    ok("sql", "VACUUM t")
    equal([os.path.exists(T + "/" + f) for f in ("orphan", ".orphan.crc", ".lonely.crc")], [False, False, True])


def test_leftovers_of_dead_writers():
    make()
    put(T + "/.silt-0123.tmp", T + "/p=1/.silt-0456.tmp")
    put(T + "/.silt-young.tmp", days=0)
    equal(dry("VACUUM t DRY RUN"), [".silt-0123.tmp", "p=1/.silt-0456.tmp"])


def test_odd_partition_values():
    ok("sql", "CREATE TABLE t (id INT, p STRING) USING DELTA PARTITIONED BY (p); INSERT INTO t VALUES (1, 'a b'), (2, 'x/y%z'), (3, 'é'), (4, '10:30'), (5, 'q=1'), (6, NULL), (7, '100%25')")
    age_files(T)
    equal(dry("VACUUM t RETAIN 0 HOURS DRY RUN", *OFF), [])
    ok("sql", "DELETE FROM t WHERE id > 2")
    equal(len(dry("VACUUM t RETAIN 0 HOURS DRY RUN", *OFF)), 5)
    ok("sql", "VACUUM t RETAIN 0 HOURS", *OFF)
    equal([r["id"] for r in sql("SELECT id FROM t ORDER BY id")], [1, 2])


# ---- links and absolute paths ----------------------------------------------------------------------------------------------

def test_nothing_outside_is_touched():
    make()
    put("outside/file", "outside/dir/file")
    os.symlink(os.path.abspath("outside"), T + "/link")
    os.symlink(os.path.abspath("outside/file"), T + "/link_to_file")
    os.symlink("nowhere", T + "/dangling")
    old(T + "/link", T + "/link_to_file", T + "/dangling")
    put(T + "/orphan")
    equal(dry("VACUUM t DRY RUN"), ["orphan"])
    ok("sql", "VACUUM t RETAIN 0 HOURS", *OFF)
    equal([os.path.exists(f) for f in ("outside/file", "outside/dir/file")], [True, True])
    assert os.path.islink(T + "/link") and os.path.islink(T + "/link_to_file")


def test_what_links_in_the_table_lead_to_stays():
    ok("sql", "CREATE TABLE t (id INT, p INT) USING DELTA PARTITIONED BY (p); INSERT INTO t VALUES (1, 1)")
    os.rename(T + "/p=1", T + "/moved")
    os.symlink("moved", T + "/p=1")
    age_files(T)
    put(T + "/orphan")
    ok("sql", "VACUUM t RETAIN 0 HOURS", *OFF)
    equal(value("SELECT id FROM t"), 1)
    assert not os.path.exists(T + "/orphan")


def test_absolute_paths_into_the_table():
    make()
    os.symlink(os.path.abspath("spark-warehouse"), "other_name")
    name = T + "/_delta_log/%020d.json" % 1
    lines = [json.loads(line) for line in s.read(name).decode().splitlines()]
    for a in lines:
        if "add" in a: a["add"]["path"] = "file:%s/other_name/t/%s" % (os.getcwd(), a["add"]["path"])
    s.write(name, "".join(json.dumps(a) + "\n" for a in lines))
    for f in glob.glob(T + "/_delta_log/*.crc"): os.remove(f)
    age_files(T)
    equal(value("SELECT count(*) FROM t"), 2)
    ok("sql", "VACUUM t RETAIN 0 HOURS", *OFF)
    equal(value("SELECT count(*) FROM t"), 2)


def test_tables_inside_of_a_table_are_left_alone():
    make()
    ok("sql", "CREATE TABLE delta.`%s/%s/sub/inner` (id INT) USING DELTA; INSERT INTO delta.`%s/%s/sub/inner` VALUES (1)" % (os.getcwd(), T, os.getcwd(), T))
    age_files(T + "/sub/inner")
    put(T + "/sub/orphan", T + "/sub/inner/orphan", T + "/sub/inner_not/orphan")
    done = ok("sql", "--format", "jsonl", "VACUUM t DRY RUN")
    equal([r["path"].split("/t/")[1] for r in done.rows()], ["sub/inner_not/orphan", "sub/orphan"])
    assert "Delta tables of their own" in done.err and "sub/inner" in done.err, done.err
    ok("sql", "VACUUM t RETAIN 0 HOURS", *OFF)
    equal(value("SELECT count(*) FROM delta.`%s/%s/sub/inner`" % (os.getcwd(), T)), 1)


def test_the_root_may_be_a_link():
    make()
    os.symlink("spark-warehouse/t", "alias")
    put(T + "/orphan")
    equal([r["path"].endswith("/orphan") for r in sql("VACUUM '%s/alias' DRY RUN" % os.getcwd())], [True])
    ok("sql", "VACUUM '%s/alias' RETAIN 0 HOURS" % os.getcwd(), *OFF)
    equal(value("SELECT count(*) FROM t"), 2)
    assert not os.path.exists(T + "/orphan")


# ---- retention ---------------------------------------------------------------------------------------------------------------

def test_retain_is_obeyed():
    make()
    put(T + "/h1", days=1.5 / 24)
    put(T + "/d10", days=10)
    put(T + "/d60", days=60)
    equal(dry("VACUUM t RETAIN 1000 HOURS DRY RUN"), ["d60"])
    equal(dry("VACUUM t RETAIN 168 HOURS DRY RUN"), ["d10", "d60"])
    equal(dry("VACUUM t RETAIN 1 HOURS DRY RUN", *OFF), ["d10", "d60", "h1"])
    equal(dry("VACUUM t RETAIN 1.9 HOURS DRY RUN", *OFF), ["d10", "d60"])
    as_spark = ("--conf", "spark.databricks.delta.vacuum.retentionWindowIgnore.enabled=true")
    equal(dry("VACUUM t RETAIN 1000 HOURS DRY RUN", *as_spark), ["d10", "d60"])
    equal(dry("VACUUM t RETAIN 1 HOURS DRY RUN", *as_spark), ["d10", "d60"])
    fails("DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT", "sql", "VACUUM t RETAIN 0 HOURS", *as_spark)
    fails("DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT", "sql", "VACUUM t RETAIN 167 HOURS")
    fails("DELTA_VACUUM_RETENTION_PERIOD_NEGATIVE", "sql", "VACUUM t RETAIN -1 HOURS")
    fails("DELTA_VACUUM_RETENTION_PERIOD_NEGATIVE", "sql", "VACUUM t RETAIN -1 HOURS", *OFF)


def test_the_lost_versions_are_named():
    make()
    equal(ok("sql", "VACUUM t RETAIN 168 HOURS DRY RUN", *OFF).err, "")
    said = ok("sql", "VACUUM t RETAIN 0 HOURS DRY RUN", *OFF).err
    assert "versions 0 to 2 would lose" in said and "time travel to before 20" in said, said
    said = ok("sql", "VACUUM t RETAIN 0 HOURS", *OFF).err
    assert "versions 0 to 2 lose" in said, said
    equal(ok("sql", "VACUUM t RETAIN 0 HOURS", *OFF).err, "")
    fails(None, "sql", "SELECT * FROM t VERSION AS OF 2")


def test_a_longer_retention_than_the_checkpoints():
    """The checkpoint forgets tombstones by the table's retention; RETAIN 1000 HOURS finds them in the commits."""
    make("TBLPROPERTIES ('delta.checkpointInterval' = '100')")
    age_log(T, range(4), days=20)
    age_files(T, days=30)
    ok("checkpoint", "t")
    equal(dry("VACUUM t RETAIN 1000 HOURS DRY RUN"), [])
    equal(len(dry("VACUUM t DRY RUN")), 1)
    ok("sql", "VACUUM t RETAIN 1000 HOURS")
    equal(value("SELECT count(*) FROM t VERSION AS OF 2"), 3)


def test_a_tables_own_retention():
    make("TBLPROPERTIES ('delta.deletedFileRetentionDuration' = 'interval 90 minutes')")
    put(T + "/h1", days=1 / 24)
    put(T + "/h2", days=2 / 24)
    equal(dry("VACUUM t DRY RUN"), ["h2"])
    said = fails("DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT", "sql", "VACUUM t RETAIN 1 HOURS").err
    assert "at least 2 hours" in said, said


def test_history():
    make()
    put(T + "/orphan", T + "/orphan2")
    ok("sql", "VACUUM t RETAIN 200 HOURS")
    end, start = history(2)
    equal((start["operation"], end["operation"]), ("VACUUM START", "VACUUM END"))
    equal(dict(start["operationParameters"]), {"retentionCheckEnabled": "true", "defaultRetentionMillis": "604800000", "specifiedRetentionMillis": "720000000"})
    equal((dict(start["operationMetrics"]), dict(end["operationMetrics"])), ({"numFilesToDelete": "2", "sizeOfDataToDelete": "14"}, {"numDeletedFiles": "2", "numVacuumedDirectories": "1"}))
    equal((end["operationParameters"], end["isolationLevel"], end["isBlindAppend"], end["readVersion"] - start["readVersion"]), ([["status", "COMPLETED"]], "SnapshotIsolation", True, 1))
    version = max(s.versions(T))
    ok("sql", "VACUUM t", "--conf", "spark.databricks.delta.vacuum.logging.enabled=false")
    ok("sql", "VACUUM t DRY RUN")
    equal(max(s.versions(T)), version)


# ---- LITE and INVENTORY --------------------------------------------------------------------------------------------------------

def test_lite_goes_by_the_log():
    make("TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')", partitioned=True)
    ok("sql", "UPDATE t SET id = 20 WHERE id = 2; INSERT INTO t VALUES (9, 'a')")
    put(T + "/orphan")
    lite = dry("VACUUM t LITE RETAIN 0 HOURS DRY RUN", *OFF)
    equal((len(lite), "orphan" in lite), (3, False))  # c, the old b, and the change file
    ok("sql", "VACUUM t LITE RETAIN 0 HOURS", *OFF)
    equal(dry("VACUUM t LITE RETAIN 0 HOURS DRY RUN", *OFF), [])
    equal(json.loads(s.read(T + "/_delta_log/_last_vacuum_info")), {"latestCommitVersionOutsideOfRetentionWindow": 5})
    equal(value("SELECT count(*) FROM t"), 3)
    equal(history(1)[0]["operationMetrics"], [["numDeletedFiles", "3"], ["numVacuumedDirectories", "1"]])
    equal(dry("VACUUM t DRY RUN", "--conf", "spark.databricks.delta.vacuum.lite.enabled=true"), [])
    equal(dry("VACUUM t FULL DRY RUN", "--conf", "spark.databricks.delta.vacuum.lite.enabled=true"), ["orphan"])


def test_lite_needs_the_commits():
    make()
    ok("checkpoint", "t")
    os.remove(T + "/_delta_log/%020d.json" % 0)
    fails("DELTA_CANNOT_VACUUM_LITE", "sql", "VACUUM t LITE RETAIN 0 HOURS", *OFF)
    ok("sql", "VACUUM t RETAIN 0 HOURS", *OFF)
    ok("sql", "DELETE FROM t WHERE id = 1; VACUUM t LITE RETAIN 0 HOURS", *OFF)  # the full one has told where it ended
    s.write(T + "/_delta_log/_last_vacuum_info", "not json")
    fails("DELTA_CANNOT_VACUUM_LITE", "sql", "VACUUM t LITE RETAIN 0 HOURS", *OFF)


def test_lite_never_leaves_the_table_nor_enters_the_log():
    make()
    put("spark-warehouse/victim", "elsewhere/victim", T + "/ok")
    os.symlink(os.path.abspath("elsewhere"), T + "/link")
    paths = ["../victim", "a/../../victim", "file:%s/elsewhere/victim" % os.getcwd(), "link/victim", "_delta_log/%020d.json" % 0, "./_delta_log/%020d.json" % 1, "ok", "_hidden", "sub/../ok"]
    s.write(T + "/_delta_log/%020d.json" % 4, "".join(json.dumps({"remove": {"path": p, "deletionTimestamp": 5, "dataChange": True}}) + "\n" for p in paths))
    equal([p for p in dry("VACUUM t LITE RETAIN 0 HOURS DRY RUN", *OFF) if not p.startswith("part-")], ["ok"])
    ok("sql", "VACUUM t LITE RETAIN 0 HOURS", *OFF)
    equal([os.path.exists(f) for f in ("spark-warehouse/victim", "elsewhere/victim", T + "/ok")], [True, True, False])
    equal(value("SELECT count(*) FROM t"), 2)


def test_inventory():
    make()
    here = "%s/%s" % (os.getcwd(), T)
    put(T + "/listed", T + "/not_listed", T + "/claimed_old", T + "/a%20b", "outside")
    old_ms = int((time.time() - 20 * DAY) * 1000)
    put(T + "/claimed_old", days=0)  # the list says it is old, the store knows better
    os.makedirs(T + "/empty")
    os.makedirs(T + "/full")
    put(T + "/full/young", days=0)
    old(T + "/empty", T + "/full")
    live = s.live_files(T)
    rows = [("file:%s/%s" % (here, f), 7, False, old_ms) for f in ("listed", "claimed_old", "gone", "a%20b", "_hidden", *live)]
    rows += [("file:%s/listed" % here, 7, False, old_ms + 1), ("file:///%s/listed2" % here, 7, False, int(time.time() * 1000)), ("file:%s/outside" % os.getcwd(), 7, False, old_ms), ("%s/../t2/x" % here, 1, False, old_ms),
             ("file:%s/empty" % here, 0, True, old_ms), ("file:%s/full" % here, 0, True, old_ms), ("file:%s/_delta_log/%020d.json" % (here, 0), 1, False, old_ms), ("file:%s/x/_delta_log/y" % here, 1, False, old_ms)]
    values = ", ".join("('%s', %dL, %s, %dL)" % (p, n, str(d).lower(), t) for p, n, d, t in rows)
    query = "SELECT * FROM VALUES %s AS i(path, length, isDir, modificationTime)" % values
    equal(dry("VACUUM t USING INVENTORY (%s) DRY RUN" % query), ["a%20b", "empty", "listed"])
    ok("sql", "CREATE TABLE inv (extra INT, modificationTime BIGINT, path STRING, length BIGINT, isDir BOOLEAN) USING DELTA; INSERT INTO inv BY NAME " + query)
    equal(dry("VACUUM t USING INVENTORY inv DRY RUN"), ["a%20b", "empty", "listed"])
    ok("sql", "VACUUM t USING INVENTORY default.inv")
    equal([os.path.exists(T + "/" + f) for f in ("listed", "empty", "not_listed", "claimed_old", "full/young", "a%20b")], [False, False, True, True, True, False])
    equal(history(1)[0]["operationMetrics"], [["numDeletedFiles", "3"], ["numVacuumedDirectories", "3"]])
    fails("DELTA_INVALID_INVENTORY_SCHEMA", "sql", "VACUUM t USING INVENTORY (SELECT 'x' AS path)")
    fails("TABLE_OR_VIEW_NOT_FOUND", "sql", "VACUUM t USING INVENTORY nosuch")


# ---- trouble -------------------------------------------------------------------------------------------------------------------

def test_files_that_may_not_be_removed():
    make()
    put(T + "/locked/orphan", T + "/orphan")
    prefix = as_nobody()
    subprocess.run(["chmod", "-R", "a+rwX", os.getcwd()], check=True)
    os.chmod(T + "/locked", 0o555)
    done = ok("sql", "VACUUM t", prefix=prefix)
    assert "1 files could not be removed" in done.err and "PERMISSION_DENIED" in done.err, done
    equal([os.path.exists(T + "/" + f) for f in ("locked/orphan", "orphan")], [True, False])
    equal(history(1)[0]["operationMetrics"], [["numDeletedFiles", "1"], ["numVacuumedDirectories", "2"]])


def test_a_folder_that_may_not_be_read_stops_it():
    make()
    put(T + "/orphan")
    os.makedirs(T + "/secret")
    prefix = as_nobody()
    subprocess.run(["chmod", "-R", "a+rwX", os.getcwd()], check=True)
    os.chmod(T + "/secret", 0)
    version = max(s.versions(T))
    fails("PERMISSION_DENIED", "sql", "VACUUM t", prefix=prefix)
    os.chmod(T + "/secret", 0o777)
    assert os.path.exists(T + "/orphan")
    equal(max(s.versions(T)), version)


def test_a_log_that_cannot_be_read_stops_it():
    make()
    age_files(T)
    s.write(T + "/_delta_log/%020d.json" % 3, '{"remove":\n')
    before = s.data_files(T)
    fails("DELTA_LOG_FILE_CORRUPT", "sql", "VACUUM t RETAIN 0 HOURS", *OFF)
    equal(s.data_files(T), before)


def test_protocols_that_are_not_understood():
    make()
    put(T + "/orphan")
    name = T + "/_delta_log/%020d.json" % 0
    text = s.read(name).decode()
    for protocol, condition in (({"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": ["futureFeature"]}, "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE"),
                                ({"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": ["futureFeature"], "writerFeatures": ["futureFeature"]}, "DELTA_UNSUPPORTED_FEATURES_FOR_READ"),
                                ({"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": ["coordinatedCommits-preview", "inCommitTimestamp", "vacuumProtocolCheck"]}, None)):
        s.write(name, "".join(json.dumps({"protocol": protocol}) + "\n" if '"protocol"' in line else line + "\n" for line in text.splitlines()))
        for f in glob.glob(T + "/_delta_log/*.crc"): os.remove(f)
        fails(condition, "sql", "VACUUM t")
        fails(condition, "sql", "VACUUM t DRY RUN")
        assert os.path.exists(T + "/orphan")
    s.write(name, "".join(json.dumps({"protocol": {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": ["vacuumProtocolCheck"], "writerFeatures": ["vacuumProtocolCheck"]}}) + "\n" if '"protocol"' in line else line + "\n" for line in text.splitlines()))
    ok("sql", "VACUUM t")
    assert not os.path.exists(T + "/orphan")


def test_interrupted():
    """SIGINT while it removes: what is gone was garbage, the next one goes on."""
    make()
    n = 3000 if s.SANITIZED else 30000
    for d in range(10):
        os.makedirs("%s/d%d" % (T, d))
        for i in range(n // 10): open("%s/d%d/f%d" % (T, d, i), "w").close()
        for i in range(n // 10): os.utime("%s/d%d/f%d" % (T, d, i), (1e9, 1e9))
    p = subprocess.Popen([s.SILT, "sql", "VACUUM t"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=s.environment())
    s.wait_for(lambda: len(os.listdir(T + "/d0")) < n // 10 or p.poll() is not None, what="removing")
    if p.poll() is None: p.send_signal(signal.SIGINT)
    p.communicate(timeout=s.TIMEOUT)
    assert p.returncode in (0, 1, 130, -signal.SIGINT), p.returncode
    equal(value("SELECT count(*) FROM t"), 2)
    ok("sql", "VACUUM t")
    equal([f for f in s.data_files(T) if f.startswith("d")], [])
    equal(value("SELECT count(*) FROM t"), 2)


def test_what_is_no_table():
    fails("TABLE_OR_VIEW_NOT_FOUND", "sql", "VACUUM nosuch")
    fails(None, "sql", "VACUUM '%s/nothing'" % os.getcwd())
    put("plain/file")
    fails(None, "sql", "VACUUM '%s/plain'" % os.getcwd())
    assert os.path.exists("plain/file")
    ok("sql", "CREATE VIEW v AS SELECT 1 AS a")
    fails("EXPECT_TABLE_NOT_VIEW", "sql", "VACUUM v")


# ---- FSCK ------------------------------------------------------------------------------------------------------------------------

def test_fsck_removes_entries_of_missing_files():
    ok("sql", "CREATE TABLE t (id INT, p STRING) USING DELTA PARTITIONED BY (p) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true'); INSERT INTO t VALUES (1, 'a b'), (2, 'c'); INSERT INTO t SELECT id + 3, 'd' FROM range(3000); DELETE FROM t WHERE id % 3 = 0")
    equal(sql("FSCK REPAIR TABLE t DRY RUN"), [])
    equal(sql("FSCK REPAIR TABLE t"), [])
    version = max(s.versions(T))
    (data,) = glob.glob(T + "/p=a b/*.parquet")
    (vector,) = glob.glob(T + "/*.bin")
    os.rename(vector, "kept.bin")
    os.remove(data)
    fails(None, "sql", "SELECT * FROM t")
    rows = sql("FSCK REPAIR TABLE t DRY RUN")
    equal(sorted((r["dataFilePath"].split("/")[0], r["dataFileMissing"], r["deletionVectorPath"], r["deletionVectorFileMissing"]) for r in rows),
          [("p=a%20b", True, None, False), ("p=d", False, os.path.basename(vector), True)])
    equal(max(s.versions(T)), version)
    os.rename("kept.bin", vector)
    equal(len(sql("FSCK REPAIR TABLE t")), 1)
    equal(sorted(r["id"] for r in sql("SELECT id FROM t"))[:4], [2, 4, 5, 7])
    (entry,) = history(1)
    equal((entry["operation"], dict(entry["operationMetrics"])), ("FSCK", {"numRemovedFiles": "1", "numFilesScanned": "3"}))
    equal(sql("FSCK REPAIR TABLE t"), [])


def test_fsck_never_takes_trouble_for_absence():
    make(partitioned=True)
    prefix = as_nobody()
    subprocess.run(["chmod", "-R", "a+rwX", os.getcwd()], check=True)
    os.chmod(T + "/p=a", 0)
    fails("PERMISSION_DENIED", "sql", "FSCK REPAIR TABLE t", prefix=prefix)
    fails("PERMISSION_DENIED", "sql", "FSCK REPAIR TABLE t DRY RUN", prefix=prefix)
    os.chmod(T + "/p=a", 0o777)
    equal(value("SELECT count(*) FROM t"), 2)


def test_fsck_and_files_of_another_table():
    """A clone's files: one that is gone from its folder is missing, one whose whole folder is gone may only be out of reach."""
    ok("sql", "CREATE TABLE t (id INT) USING DELTA; INSERT INTO t VALUES (1)")
    put("other/here", "other/there", "mounted/x")
    add = lambda p: json.dumps({"add": {"path": "file:%s/%s" % (os.getcwd(), p), "partitionValues": {}, "size": 7, "modificationTime": 1, "dataChange": True}})
    s.write(T + "/_delta_log/%020d.json" % 2, "\n".join(add(p) for p in ("other/here", "other/there", "mounted/x")) + "\n")
    equal(sql("FSCK REPAIR TABLE t"), [])
    os.remove("other/there")
    shutil.rmtree("mounted")
    done = ok("sql", "--format", "jsonl", "FSCK REPAIR TABLE t")
    equal([r["dataFilePath"].endswith("/other/there") for r in done.rows()], [True])
    assert "1 files outside of the table" in done.err, done.err


def test_fsck_of_an_append_only_table():
    ok("sql", "CREATE TABLE t (id INT) USING DELTA TBLPROPERTIES ('delta.appendOnly' = 'true'); INSERT INTO t VALUES (1)")
    os.remove(glob.glob(T + "/*.parquet")[0])
    equal(len(sql("FSCK REPAIR TABLE t DRY RUN")), 1)
    fails("DELTA_CANNOT_MODIFY_APPEND_ONLY", "sql", "FSCK REPAIR TABLE t")


if __name__ == "__main__":
    s.main(globals())
