"""VACUUM by both engines on two copies of the same table: a dry run names the same files, a run removes the same files and leaves the same entries in the history, and each engine goes on
with what the other left. Also log compaction files, which Silt writes and Spark reads. Names: vacuum/…"""
import glob
import json
import os
import re
import shutil
import time

import delta_files
from feature_cases import both_read
from report import equal
from spark_peer import path_table, rows

DAY = 86400
CHECK_OFF = {"spark.databricks.delta.retentionDurationCheck.enabled": "false", "spark.sql.sources.parallelPartitionDiscovery.parallelism": "1"}  # Spark lists with so many tasks
PARTITIONS = ("a b", "x/y%z", "é", "10:30", "q=1")

TABLES = {
    "odd_values": "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')",
    "mapped_vectors": "TBLPROPERTIES ('delta.columnMapping.mode' = 'name', 'delta.enableDeletionVectors' = 'true')",
}
STEPS = ["INSERT INTO @ SELECT CAST(id AS INT), element_at(array(%s), CAST(id %% 5 + 1 AS INT)) FROM range(1000)" % ", ".join("'%s'" % p for p in PARTITIONS),
         "UPDATE @ SET id = id + 10000 WHERE id % 100 = 3", "DELETE FROM @ WHERE id % 7 = 4", "DELETE FROM @ WHERE p = 'x/y%z'", "INSERT INTO @ VALUES (50, 'a b'), (51, NULL)", "DELETE FROM @ WHERE id % 11 = 5"]
RECENT = 2  # the last so many commits are of today, the others ten days old


def age(path):
    """Everything but the newest commits and what they added is ten days old; then files that nobody knows."""
    versions = sorted(delta_files.commits(path))
    young, recent = set(), versions[-RECENT:]
    for v in recent:
        for action in delta_files.commits(path)[v]:
            for kind in ("add", "cdc"):
                if kind in action:
                    young.add(action[kind]["path"].rsplit("/", 1)[-1])
    old = time.time() - 10 * DAY
    for f in glob.glob(os.path.join(path, "_delta_log", "*")) + glob.glob(os.path.join(path, "_delta_log", ".*")):
        if re.search(r"\.crc$|_last_checkpoint|checkpoint", f):
            os.remove(f)
    for v in versions:
        name = os.path.join(path, "_delta_log", "%020d.json" % v)
        if v in recent:
            continue
        text = open(name, encoding="utf-8").read()
        with open(name, "w", encoding="utf-8") as out:
            out.write(re.sub(r'("deletionTimestamp":)\d+', lambda m: m[1] + str(int(old * 1000) + v), text))
        os.utime(name, (old + v, old + v))
    for folder, _, files in os.walk(path):
        for f in files:
            if "_delta_log" not in folder and f not in young and f.lstrip(".")[:-4] not in young:
                os.utime(os.path.join(folder, f), (old, old))
    os.makedirs(os.path.join(path, "sub", "deep"))
    os.makedirs(os.path.join(path, "empty"))
    os.makedirs(os.path.join(path, "_other=1"))
    for name, when in (("orphan.parquet", old), ("sub/deep/orphan", old), ("young", time.time()), (".hidden", old), ("_hidden", old), ("_other=1/kept", old)):
        with open(os.path.join(path, name), "w") as out:
            out.write("x" * 10)
        os.utime(os.path.join(path, name), (when, when))
    os.utime(os.path.join(path, "empty"), (old, old))


def copies(run, name, path):
    """One for each engine, times kept."""
    out = []
    for engine in ("silt", "spark"):
        copy = run.fresh("%s_for_%s" % (name, engine))
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(path, copy)
        for folder, folders, files in os.walk(path):
            for f in files + folders:
                there = os.stat(os.path.join(folder, f))
                os.utime(os.path.join(copy, os.path.relpath(folder, path), f), (there.st_atime, there.st_mtime))
        out.append(copy)
    return out


def files_of(path):
    return sorted(os.path.relpath(os.path.join(folder, f), path) for folder, folders, files in os.walk(path) for f in files + folders if "_delta_log" not in os.path.join(folder, f))


def same_rest(what, ours, theirs):
    """The same files are left, and no folder that Spark removes. Of folders in folders that held nothing else Spark takes one level with each run."""
    folders = lambda path: [f for f in files_of(path) if os.path.isdir(os.path.join(path, f))]
    equal(what + ": files that are left", [f for f in files_of(ours) if f not in folders(ours)], [f for f in files_of(theirs) if f not in folders(theirs)])
    equal(what + ": folders that only Spark removes", sorted(set(folders(ours)) - set(folders(theirs))), [])
    equal(what + ": folders that only Silt removes, but for sub", sorted(set(folders(theirs)) - set(folders(ours)) - {"sub"}), [])


def named(found, path):
    """A dry run's rows, relative to the table."""
    return sorted(r[0].split(path + "/", 1)[-1] for r in found)


def entries(path):
    """operation, parameters and metrics of each commit of a VACUUM."""
    return [(i["operation"], i["operationParameters"], i.get("operationMetrics"), i.get("isolationLevel"), i.get("isBlindAppend"), i.get("readVersion"))
            for _, i in delta_files.actions(path, "commitInfo") if i["operation"].startswith("VACUUM")]


class Conf:
    """Settings of the Spark session for a while."""
    def __init__(self, spark, settings):
        self.spark, self.settings = spark, settings

    def __enter__(self):
        for k, v in self.settings.items():
            self.spark.conf.set(k, v)

    def __exit__(self, *_):
        for k in self.settings:
            self.spark.conf.unset(k)


def compare(run, what, ours, theirs, clause, dry_run=True):
    """The same VACUUM by each engine on its copy; what a dry run names before."""
    t, u = path_table(ours), path_table(theirs)
    dry = []
    with Conf(run.spark, CHECK_OFF):
        if dry_run:
            dry = named(rows(run.spark.sql("VACUUM %s %s DRY RUN" % (u, clause))), theirs)
            equal(what + ": named by a dry run", named(run.silt.sql("VACUUM %s %s DRY RUN" % (t, clause), conf=CHECK_OFF), ours), dry)
        equal(what + ": row", [r[0].replace(ours, "@") for r in run.silt.sql("VACUUM %s %s" % (t, clause), conf=CHECK_OFF)], [r[0].replace(theirs, "@") for r in rows(run.spark.sql("VACUUM %s %s" % (u, clause)))])
    same_rest(what, ours, theirs)
    ours, theirs = entries(ours), entries(theirs)
    if run.mirror and run.mirror.store == "s3":  # where Spark, to which commits there are unsafe, makes none
        equal(what + ": entries", ([e[0] for e in ours][-2:], theirs), (["VACUUM START", "VACUUM END"], []))
        return dry
    if run.mirror and not run.mirror.files.folders:  # Spark counts what its client keeps for folders there
        for e in ours + theirs: (e[2] or {}).pop("numVacuumedDirectories", None)
    if "LITE" in clause:  # Spark counts of a vector's file the bytes of the vector, Silt those of the file
        for e in ours + theirs:
            (e[2] or {}).pop("sizeOfDataToDelete", None)
    # Hadoop's local file system takes a checksum file away with its file: whether Spark then still finds it to delete depends on the order of its tasks
    for x, y in zip(ours, theirs):
        if x[0] == "VACUUM END" and x[2] and y[2]:
            n, m = (int(e[2].pop("numDeletedFiles")) for e in (x, y))
            equal(what + ": files deleted, but for checksum files", n == m or m < n == int(ours[-2][2].get("numFilesToDelete", n)), True)
    equal(what + ": entries", ours, theirs)
    return dry


def both_ways(run):
    for name, properties in TABLES.items():
        for maker in (run.spark, run.silt):
            by = "silt" if maker is run.silt else "spark"
            if not run.report.wants("vacuum/%s_by_%s" % (name, by)): continue
            with run.report.case("vacuum/%s_by_%s" % (name, by)):
                path = run.fresh("vacuum_%s_%s" % (name, by))
                t = path_table(path)
                for s in ["CREATE TABLE @ (id INT, p STRING) USING DELTA PARTITIONED BY (p) " + properties] + STEPS:
                    maker.sql(s.replace("@", t))
                age(path)
                ours, theirs = copies(run, "vacuum_%s_%s" % (name, by), path)
                if run.mirror is None or run.mirror.files.keeps_times:  # elsewhere a file's time is that of its upload, and none is old
                    found = compare(run, "default", ours, theirs, "")
                    equal("it found some", "orphan.parquet" in found and "sub/deep/orphan" in found and len(found) > 4, True)
                compare(run, "all", ours, theirs, "RETAIN 0 HOURS", dry_run=False)
                a, b = path_table(ours), path_table(theirs)
                equal("rows", sorted(both_read(run, "after Silt's", "SELECT * FROM " + a), key=str), sorted(both_read(run, "after Spark's", "SELECT * FROM " + b), key=str))
                run.spark.sql("INSERT INTO %s VALUES (70, 'new')" % a)
                run.spark.sql("DELETE FROM %s WHERE id = 6" % a)
                run.silt.sql("INSERT INTO %s VALUES (70, 'new'); DELETE FROM %s WHERE id = 6" % (b, b))
                both_read(run, "Spark goes on", "SELECT * FROM " + a)
                both_read(run, "Silt goes on", "SELECT * FROM " + b)


def lite(run):
    with run.report.case("vacuum/lite"):
        path = run.fresh("vacuum_lite")  # without partitions: Spark also names folders of which it removes one file, and may or may not remove them
        t = path_table(path)
        run.silt.sql("; ".join(s.replace("@", t) for s in ["CREATE TABLE @ (id INT, p STRING) USING DELTA TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"] + STEPS))
        age(path)
        ours, theirs = copies(run, "vacuum_lite", path)
        found = compare(run, "lite", ours, theirs, "LITE")
        equal("no orphans", "orphan.parquet" in found, False)
        last = [json.load(open(os.path.join(p, "_delta_log", "_last_vacuum_info"))) for p in (ours, theirs)]
        equal("where it ended", last[0], last[1])
        run.spark.sql("VACUUM %s LITE" % path_table(ours))
        run.silt.sql("VACUUM %s LITE" % path_table(theirs))
        equal("each goes on from the other's", files_of(ours), files_of(theirs))
        both_read(run, "rows", "SELECT * FROM " + path_table(ours))


def compaction(run):
    with run.report.case("vacuum/log_compaction"):
        path = run.fresh("vacuum_log_compaction")
        t = path_table(path)
        run.silt.sql("; ".join(s.replace("@", t) for s in ["CREATE TABLE @ (id INT, p STRING) USING DELTA PARTITIONED BY (p) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"] + STEPS),
                     conf={"silt.logCompaction.interval": "3"})
        found = sorted(os.path.basename(f) for f in glob.glob(os.path.join(path, "_delta_log", "*.compacted.json")))
        equal("files", found, ["%020d.%020d.compacted.json" % (v, v + 2) for v in (0, 3)])
        for f in glob.glob(os.path.join(path, "_delta_log", "*.crc")):
            os.remove(f)
        both_read(run, "rows", "SELECT * FROM " + t)
        run.spark.sql("INSERT INTO %s VALUES (80, 'more')" % t)
        both_read(run, "rows after Spark's", "SELECT * FROM " + t)


def run_all(run):
    for step, name in ((compaction, "log_compaction"), (lite, "lite"), (both_ways, None)):
        if name is None or run.report.wants("vacuum/" + name): step(run)
