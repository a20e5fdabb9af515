#!/usr/bin/env python3
"""Judges Silt by Spark 4.1.2 with Delta 4.3.1 and by deltalake, in both directions, in one JVM, two areas at a time.

usage: run_interop.py [--only GLOB] [--fresh] [--store s3,hdfs,azure,gcs] [--jobs N]        SILT names the binary (default build/silt); SILT=spark lets Spark play Silt's part

--store: the cases with their tables in a store, or in one after the other (remote_tables.py), all of them or what --only names.

  write/CASE/…    both write the same statements (write_cases.py); content of every version, schema, protocol, history, statistics, folders,
                  pruned files and checksums are compared; deltalake reads what Silt wrote
  checkpoint/…    Spark reads a table of which only Silt's checkpoint and the commits after it are left
  read/TABLE      Silt reads what Spark wrote: the committed golden tables, and with --fresh newly made ones
  both/…          both append to one table, in turn and at once
  load/…, txn/…   silt load; idempotent writes
  fuzz/N          random row-level changes by both on copies of one table (fuzz_dml.py), drawn by SILT_INTEROP_SEED (a number)
  isolation/…     what Spark says to the loser of a pair in tests/isolation/specs (replay_isolation.py): some, drawn by the seed
  convert/…       CONVERT TO DELTA of folders that Spark, pyarrow and DuckDB wrote (convert_cases.py)
  features/…      writer features: one makes the table, both write, both read the same (feature_cases.py)
  cluster/…       clustered tables and Z-order, by turns (cluster_cases.py)
  optimize/…      OPTIMIZE and REORG by both on copies of one table, auto compaction (optimize_cases.py)
  vacuum/…        VACUUM by both on two copies of a table, log compaction files (vacuum_cases.py)
  restore/…       RESTORE, CLONE, GENERATE, DESCRIBE HISTORY and DETAIL: the same entry by both on two copies of a table (restore_cases.py)
  store/…         tables in each store by both, by turns and at once (store_cases.py), and a few of the cases above with their tables in each store; with the servers of tests/services, where they are
                  installed
  sql/AREA        Spark's recorded answers (tests/sql/spark)
  tpch/qNN        the 22 queries at scale 0.01, on tables that Spark wrote

Prints 'ok NAME', 'not ok NAME: why' or 'skip NAME: reason', and last 'N passed, N failed, N skipped'. A writer feature that Silt refuses by name counts as skipped.
"""
import argparse
import concurrent.futures
import copy
import datetime
import functools
import glob
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, "..", "golden")
sys.path[:0] = [HERE, GOLDEN]
import check_golden
import delta_files
import fuzz_dml
import convert_cases
import cluster_cases
import load_cases
import feature_cases
import optimize_cases
import remote_tables
import replay_isolation
import restore_cases
import store_cases
import vacuum_cases
import spark_peer
from report import Differs, Report, Skip, equal
from silt_cli import Failed, Silt, SparkAsSilt
from spark_peer import path_table
from write_cases import CASES

REFUSALS = ("DELTA_UNSUPPORTED", "DELTA_UNKNOWN_FEATURE", "UNSUPPORTED_FEATURE", "DELTA_FEATURE", "SILT_")


class Run:
    def __init__(self, spark, silt, work, report):
        self.spark, self.silt, self.work, self.home, self.report, self.mirror = spark, silt, work, work, report, None
        self.references = {}     # Spark's table of a write case, made once however many stores there are
        self.logs = {}           # of each table that Spark was asked for: its log's files then
        self.latest = None, None     # the table that was compared last, and its rows by Spark
        self.seed = int(os.environ.get("SILT_INTEROP_SEED", "739950"))      # of what is drawn at random: the same in every run unless asked otherwise

    def at(self, path):
        """Where Spark reads and writes a table of the run, as it is now (remote_tables.py)."""
        return path

    def written(self, path):
        """Spark wrote it otherwise than by SQL."""

    # ---- what Spark sees ----

    def spark_sql(self, statement, conf=()):
        for k, v in dict(conf).items():
            self.spark.conf.set(k, v)
        try:
            return self.spark.sql(statement)
        finally:
            for k in dict(conf):
                self.spark.conf.unset(k)

    def look_anew(self, path):
        """Lets Spark forget a table whose log has changed since it was asked for last: what it then says is read from the files."""
        folder = os.path.join(path, "_delta_log")
        log = sorted((e.name, e.stat().st_size, e.stat().st_mtime_ns) for e in os.scandir(folder)) if os.path.isdir(folder) else []
        if self.logs.get(path) != log:
            jvm = self.spark._jvm
            jvm.org.apache.spark.sql.delta.DeltaLog.invalidateCache(self.spark._jsparkSession, jvm.org.apache.hadoop.fs.Path(self.at(path)))
            self.logs[path] = log

    def snapshot(self, path, version=None):
        self.look_anew(path)
        log = self.spark._jvm.org.apache.spark.sql.delta.DeltaLog.forTable(self.spark._jsparkSession, self.at(path))
        if version is None:
            return log.update(False, getattr(log, "update$default$2")(), getattr(log, "update$default$3")())
        return log.getSnapshotAt(version, getattr(log, "getSnapshotAt$default$2")(), getattr(log, "getSnapshotAt$default$3")(), False)

    def spark_schema(self, path, version=None):
        return json.loads(self.snapshot(path, version).metadata().schemaString())

    def spark_rows(self, path, version=None):
        """Canonical rows, sorted."""
        self.look_anew(path)
        reader = self.spark.read.format("delta")
        if version is not None:
            reader = reader.option("versionAsOf", version)
        frame = reader.load(self.at(path))
        schema = frame.schema.jsonValue()
        names = [f["name"] for f in schema["fields"]]
        return sorted(check_golden.canon(dict(zip(names, r)), schema) for r in spark_peer.rows(frame))

    def silt_rows(self, path, version=None):
        schema = self.silt.show(path, version)["schema"]
        names = [f["name"] for f in schema["fields"]]
        sql = "SELECT * FROM " + path_table(path) + ("" if version is None else " VERSION AS OF %d" % version)
        return sorted(check_golden.canon(dict(zip(names, r)), schema) for r in self.silt.sql(sql))

    def history(self, path):
        rows = self.spark.sql("DESCRIBE HISTORY " + path_table(path)).collect()
        return sorted((r.asDict() for r in rows), key=lambda r: r["version"])

    def fresh(self, name):
        path = os.path.join(self.work, name)
        shutil.rmtree(path, ignore_errors=True)
        return path

    def fuzz(self):
        """A short run of fuzz_dml.py; the seed is in the failure's text."""
        if self.silt.name == "spark":
            return self.report.skip("fuzz", "Silt alone is tried")
        runner = fuzz_dml.Runner(self.spark, self.silt, self.work, self.at)
        for number in range(6):
            name = "fuzz/%d" % number
            if self.report.wants(name):
                with self.report.case(name):
                    runner.run(self.seed, number, 8)

    # ---- Silt writes, Spark and deltalake read ----

    def reference(self, case):
        """The table that Spark makes of a case, on local disk wherever Silt's is."""
        if case.name not in self.references:
            warehouse = self.spark.conf.get("spark.sql.warehouse.dir").replace("file:", "")
            theirs = os.path.join(warehouse if case.managed else os.path.join(self.home, "local"), "spark_" * (not case.managed) + case.name)
            for statement, conf in case.statements:
                self.spark_sql(statement.replace("{t}", path_table(theirs)), conf).collect()
            self.references[case.name] = theirs
        return self.references[case.name]

    def write_case(self, case):
        name = "write/" + case.name
        ours = self.fresh("silt_" + case.name)
        if case.managed:
            ours = os.path.join(self.silt.warehouse, case.name)
            if self.silt.name == "spark":
                return self.report.skip(name, "one catalog cannot play both sides")
        try:
            theirs = self.reference(case)
        except Exception as e:
            return self.report.not_ok(name, "Spark itself refuses: %s" % str(e)[:200])
        try:
            for statement, conf in case.statements:
                self.silt.sql(statement.replace("{t}", path_table(ours)), conf)
        except Failed as e:
            if e.status == 1 and any(r in e.message for r in REFUSALS):
                return self.report.skip(name, "refused: " + e.message.split("\n")[0])
            return self.report.not_ok(name, "%s  [%s]" % (e, statement[:150]))
        checks = [("content", self.same_content), ("metadata", self.same_metadata), ("history", self.same_rewrite_history if case.rewrites else self.same_history)]
        if not case.rewrites:
            checks += [("statistics", self.same_statistics), ("files", self.same_files)]
        checks += [("checksum", self.rewrite_checksum_holds if case.rewrites else self.checksum_holds)]
        if case.changes:
            checks += [("changes", self.same_changes)]
        if case.row_ids:
            checks += [("row_ids", lambda a, b: self.same_row_ids(a, b, case.row_ids))]
        for part, check in checks:
            with self.report.case(name + "/" + part):
                check(ours, theirs)
        if case.predicates:
            with self.report.case(name + "/skipping"):
                self.same_skipping(ours, theirs, case.predicates, case.rewrites)
        with self.report.case(name + "/deltalake"):
            self.deltalake_reads(ours, theirs)

    def same_content(self, ours, theirs):
        versions = sorted(delta_files.commits(theirs))
        equal("versions", sorted(delta_files.commits(ours)), versions)
        for v in versions[-1:] if self.mirror else versions if len(versions) < 6 else versions[1:2] + versions[-2:]:      # Spark needs its time for each
            want = self.spark_rows(theirs, v)
            equal("Spark's rows of version %d of Silt's table" % v, self.spark_rows(ours, v), want)
            equal("Silt's rows of version %d of its table" % v, self.silt_rows(ours, v), want)
        self.latest = ours, want

    def same_metadata(self, ours, theirs):
        for v in sorted(delta_files.commits(theirs)):
            for kind in ("metaData", "protocol"):
                find = lambda path: [a[kind] for a in delta_files.commits(path)[v] if kind in a]
                a, b = find(ours), find(theirs)
                equal("number of %s actions in version %d" % (kind, v), len(a), len(b))
                for x, y in zip(a, b):
                    if kind == "protocol":
                        for p in (x, y):
                            for k in ("readerFeatures", "writerFeatures"):
                                if k in p:
                                    p[k] = sorted(p[k])
                        equal("protocol of version %d" % v, x, y)
                        continue
                    sx, sy = (delta_files.comparable_schema(json.loads(m["schemaString"])) for m in (x, y))
                    equal("schema of version %d" % v, json.dumps(sx, ensure_ascii=False), json.dumps(sy, ensure_ascii=False))
                    for k in ("partitionColumns", "format", "description", "name"):
                        equal("%s of version %d" % (k, v), x.get(k), y.get(k))
                    hidden = lambda c: {k: ("…" if "materialized" in k else w) for k, w in c.items()}
                    equal("configuration of version %d" % v, sorted(hidden(x["configuration"]).items()), sorted(hidden(y["configuration"]).items()))
                    if not x.get("id") or not isinstance(x.get("createdTime"), int):
                        raise Differs("metaData without id or createdTime: %s" % x)

    def same_rewrite_history(self, ours, theirs):
        self.same_history(ours, theirs, ("numDeletedRows", "numUpdatedRows", "numTargetRowsInserted", "numTargetRowsUpdated", "numTargetRowsDeleted"))

    def same_history(self, ours, theirs, metrics=("numOutputRows", "numFiles", "numRemovedFiles", "numDeletedRows")):
        a, b = self.history(ours), self.history(theirs)
        equal("number of entries", len(a), len(b))
        why = []
        for x, y in zip(a, b):
            for k in ("version", "operation", "readVersion", "isolationLevel", "isBlindAppend", "userMetadata"):
                if x[k] != y[k]:
                    why.append("%s of version %d: %r, expected %r" % (k, y["version"], x[k], y[k]))
            # a predicate is each engine's own text, with numbered columns in Spark's: how many there are is compared
            def predicates(k, w):
                if k.endswith(("predicate", "Predicates")):
                    return len(json.loads(w)) if w.startswith("[") else re.sub(r"(\d)L\b", r"\1", w)      # Spark shows the type that it gave the literal
                unordered = k == "columns" and y["operation"] == "CHANGE COLUMNS"                             # Spark deals them out of a hash map
                return sorted(json.dumps(c, sort_keys=True) for c in json.loads(w)) if unordered else w
            hidden = lambda p: {k: predicates(k, w) if k != "properties" else json.loads(re.sub(r"(_row-(id|commit-version)-col)-[0-9a-f-]{36}", r"\1", w)) for k, w in p.items()}
            if hidden(x["operationParameters"]) != hidden(y["operationParameters"]):
                why.append("operationParameters of version %d: %s, expected %s" % (y["version"], hidden(x["operationParameters"]), hidden(y["operationParameters"])))
            mx, my = x["operationMetrics"] or {}, y["operationMetrics"] or {}
            if sorted(mx) != sorted(my):
                why.append("operationMetrics of version %d: %s, expected %s" % (y["version"], sorted(mx), sorted(my)))
            for k in metrics:
                if k in mx and k in my and mx[k] != my[k] and my.get("numOutputRows") != "0":      # Spark counts a file without rows that it does not add
                    why.append("metric %s of version %d: %s, expected %s" % (k, y["version"], mx[k], my[k]))
            if not x["engineInfo"] or (self.silt.name == "silt" and "silt" not in x["engineInfo"].lower()):
                why.append("engineInfo of version %d: %r" % (y["version"], x["engineInfo"]))
            if abs((x["timestamp"] - y["timestamp"]).total_seconds()) > 3600:
                why.append("timestamp of version %d: %s" % (y["version"], x["timestamp"]))
        for v, infos in ((v, [a["commitInfo"] for a in c if "commitInfo" in a]) for v, c in delta_files.commits(ours).items()):
            if not infos or not infos[0].get("txnId") or not isinstance(infos[0].get("timestamp"), int):
                why.append("commitInfo of version %d without txnId or timestamp" % v)
        if why:
            raise Differs("; ".join(why[:6]) + (" … %d in all" % len(why) if len(why) > 6 else ""))

    def adds(self, path, v):
        names = delta_files.physical_names(json.loads([m for w, m in delta_files.actions(path, "metaData") if w <= v][-1]["schemaString"]))
        return [(a["add"], names) for a in delta_files.commits(path)[v] if "add" in a]

    def same_statistics(self, ours, theirs):
        why = []
        for v in sorted(delta_files.commits(theirs)):
            def keyed(path):
                out = {}
                for add, names in self.adds(path, v):
                    values = json.dumps({names.get(k, k): x for k, x in add["partitionValues"].items()}, sort_keys=True, ensure_ascii=False)
                    out.setdefault(values, []).append(delta_files.statistics(add, names))
                return out
            a, b = keyed(ours), keyed(theirs)
            equal("partition values of version %d" % v, sorted(a), sorted(b))
            for k in b:
                equal("files of %s in version %d" % (k, v), len(a[k]), len(b[k]))
                order = lambda s: sorted(s, key=lambda x: json.dumps(x, sort_keys=True))
                for x, y in zip(order(a[k]), order(b[k])):
                    why += ["version %d%s: %s" % (v, "" if k == "{}" else " " + k, d) for d in delta_files.differences(x, y)]
        if why:
            raise Differs("; ".join(why[:5]) + (" … %d in all" % len(why) if len(why) > 5 else ""))

    def same_files(self, ours, theirs):
        """Names, folders and flags of the actions, and the paths of the Parquet leaves."""
        import urllib.parse
        import pyarrow.parquet as pq
        for v in sorted(delta_files.commits(theirs)):
            a, b = self.adds(ours, v), self.adds(theirs, v)
            equal("folders of version %d" % v, sorted(delta_files.folder(x["path"], n) for x, n in a), sorted(delta_files.folder(x["path"], n) for x, n in b))
            keys = lambda adds: sorted({tuple(sorted(k for k in x if k not in ("clusteringProvider", "defaultRowCommitVersion", "baseRowId"))) for x, _ in adds})
            equal("members of add in version %d" % v, keys(a), keys(b))
            removes = lambda path: [x["remove"] for x in delta_files.commits(path)[v] if "remove" in x]
            equal("removes of version %d" % v, len(removes(ours)), len(removes(theirs)))
            members = lambda path: sorted({tuple(sorted(k for k in x if k != "stats")) for x in removes(path)})      # stats are optional there
            equal("members of remove in version %d" % v, members(ours), members(theirs))
            equal("kinds of actions in version %d" % v, sorted(k for x in delta_files.commits(ours)[v] for k in x), sorted(k for x in delta_files.commits(theirs)[v] for k in x))
            for x, names in a:
                if not re.fullmatch(r"part-\d{5}-[0-9a-f-]{36}(-c\d{3}|\.c\d{3})?(\.[a-z0-9]+)?\.parquet", x["path"].split("/")[-1]):
                    raise Differs("name of a data file: " + x["path"])
                file = os.path.join(ours, urllib.parse.unquote(x["path"]))
                equal("size in the log of " + x["path"], x["size"], os.path.getsize(file))
            def leaves(path, adds):
                out = set()
                for x, names in adds:
                    meta = pq.ParquetFile(os.path.join(path, urllib.parse.unquote(x["path"]))).metadata
                    for i in range(len(meta.schema)):
                        c = meta.schema.column(i)
                        kind = "TIMESTAMP" if c.physical_type == "INT96" or "Timestamp" in str(c.logical_type) else c.physical_type
                        kind = "DECIMAL" if "Decimal" in str(c.logical_type) else kind
                        codec = meta.row_group(0).column(i).compression if meta.num_row_groups else ""
                        out.add((".".join(names.get(p, p) for p in c.path.split(".")), kind, codec))
                return sorted(out)
            equal("Parquet columns of version %d" % v, leaves(ours, a), leaves(theirs, b))

    def checksum_holds(self, ours, theirs):
        snapshot = self.snapshot(ours)
        option = snapshot.checksumOpt()
        if not option.isDefined():
            raise Differs("no version checksum")
        self.spark.conf.set("spark.databricks.delta.checksum.mismatchIsFatal", "true")
        snapshot.validateChecksum(getattr(snapshot, "validateChecksum$default$1")())
        read = lambda path, v: json.load(open(os.path.join(path, "_delta_log", "%020d.crc" % v)))
        for v in sorted(delta_files.commits(theirs)):
            if os.path.exists(os.path.join(theirs, "_delta_log", "%020d.crc" % v)):
                if not os.path.exists(os.path.join(ours, "_delta_log", "%020d.crc" % v)):
                    raise Differs("no checksum of version %d" % v)
                a, b = read(ours, v), read(theirs, v)
                for k in ("numFiles", "numMetadata", "numProtocol", "numDeletedRecordsOpt", "numDeletionVectorsOpt"):
                    if k in b:
                        equal("%s of the checksum of version %d" % (k, v), a.get(k), b[k])
                equal("tableSizeBytes of version %d" % v, a.get("tableSizeBytes"), delta_files.size_at(ours, v))

    def rewrite_checksum_holds(self, ours, theirs):
        snapshot = self.snapshot(ours)
        if not snapshot.checksumOpt().isDefined():
            raise Differs("no version checksum")
        self.spark.conf.set("spark.databricks.delta.checksum.mismatchIsFatal", "true")
        snapshot.validateChecksum(getattr(snapshot, "validateChecksum$default$1")())
        for v in sorted(delta_files.commits(ours)):
            checksum = os.path.join(ours, "_delta_log", "%020d.crc" % v)
            if not os.path.exists(checksum):            # optional; the newest one was asked for above
                continue
            with open(checksum) as f:
                equal("tableSizeBytes of version %d" % v, json.load(f).get("tableSizeBytes"), delta_files.size_at(ours, v))

    def same_changes(self, ours, theirs):
        """The change data feed of all versions: Spark's reading of both tables, and Silt's of its own."""
        def feed(path):
            df = self.spark.read.format("delta").option("readChangeFeed", "true").option("startingVersion", "0").load(self.at(path)).drop("_commit_timestamp")
            return sorted(spark_peer.dumps(r) for r in spark_peer.rows(df))
        want = feed(theirs)
        equal("changes by Spark", feed(ours), want)
        rows = self.silt.sql("SELECT * EXCEPT (_commit_timestamp) FROM table_changes_by_path('%s', 0)" % ours)
        equal("changes by Silt", sorted(spark_peer.dumps(r) for r in rows), want)

    def same_row_ids(self, ours, theirs, column):
        """Ids of the rows that were there from the first write on, and the versions in which all rows changed last."""
        def ids(path, v):
            df = self.spark.read.format("delta").option("versionAsOf", v).load(self.at(path)).selectExpr(column, "_metadata.row_id", "_metadata.row_commit_version")
            return sorted([tuple(r) for r in df.collect()])
        tracked = lambda v: self.snapshot(theirs, v).metadata().configuration().get("delta.enableRowTracking").isDefined()
        versions = [v for v in sorted(delta_files.commits(theirs))[1:] if tracked(v)]
        first = {path: {key: i for key, i, _ in ids(path, versions[0])} for path in (ours, theirs)}
        kept = lambda path, v: [(key, first[path].get(key) == i, version) for key, i, version in ids(path, v)]      # how ids are dealt out is each engine's own
        for v in versions:
            equal("row ids of version %d" % v, kept(ours, v), kept(theirs, v))

    def same_skipping(self, ours, theirs, predicates, rewrites):
        for p in predicates:
            count = lambda path: len(self.spark.read.format("delta").load(self.at(path)).where(p).inputFiles())
            rows = lambda path: self.spark.read.format("delta").load(self.at(path)).where(p).count()
            if not rewrites:
                equal("files that Spark reads for %s" % p, count(ours), count(theirs))
            want = rows(theirs)
            equal("rows of %s" % p, rows(ours), want)
            equal("rows by Silt of %s" % p, self.silt.sql("SELECT count(*) FROM %s WHERE %s" % (path_table(ours), p))[0][0], want)

    def deltalake_reads(self, path, theirs):
        schema = self.spark_schema(path)
        if '"variant"' in json.dumps(schema):
            raise Skip("deltalake gives a variant's bytes")
        try:
            got = deltalake_rows(path, schema, self.mirror)
        except BaseException as e:                                # its panics are no Exception
            if any(w in str(e).lower() for w in ("unsupported", "not supported", "features")):
                raise Skip("deltalake: " + str(e)[:150])
            try:                                                  # is it Silt's table, or deltalake itself?
                deltalake_rows(theirs, schema)
            except BaseException as e2:
                raise Skip("deltalake fails on Spark's own table as well: " + str(e2)[:150])
            raise Differs("deltalake: " + str(e)[:300])
        want = self.latest[1] if self.latest[0] == path else self.spark_rows(path)
        if got != want and deltalake_rows(theirs, schema) == got:
            raise Skip("deltalake reads Spark's own table in the same way, differently from Spark")
        equal("deltalake's rows", got, want)

    def checkpoints(self):
        for kind, properties in (("plain", ""), ("struct", "TBLPROPERTIES ('delta.checkpoint.writeStatsAsStruct' = 'true', 'delta.checkpoint.writeStatsAsJson' = 'false')"), ("mapped", "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")):
            with self.report.case("checkpoint/" + kind):
                path = self.fresh("ckpt_" + kind)
                t = path_table(path)
                self.silt.sql("CREATE TABLE %s (id INT, v STRING, n STRUCT<d: DECIMAL(20,3), t: TIMESTAMP>, p DATE) USING DELTA PARTITIONED BY (p) %s" % (t, properties))
                for i in range(4):
                    self.silt.sql("INSERT INTO %s VALUES (%d, 'v%d', named_struct('d', %d.125, 't', TIMESTAMP'1969-12-31 23:59:5%d.999999'), DATE'2020-01-0%d'), (%d, null, null, null)" % (t, i, i, i, i, i % 2 + 1, i + 100))
                self.silt.sql("INSERT OVERWRITE %s PARTITION (p = '2020-01-01') VALUES (77, 'o', null)" % t)
                before = self.spark_rows(path)
                self.silt.run("checkpoint", path)
                self.silt.sql("INSERT INTO %s VALUES (500, 'after', null, null)" % t)
                for v in range(5):
                    for end in (".json", ".crc"):
                        if os.path.exists(os.path.join(path, "_delta_log", "%020d%s" % (v, end))):
                            os.remove(os.path.join(path, "_delta_log", "%020d%s" % (v, end)))
                for junk in glob.glob(os.path.join(path, "_delta_log", ".*.crc")):
                    os.remove(junk)
                equal("rows of the checkpoint's version", self.spark_rows(path, 5), before)
                equal("rows after it", len(self.spark_rows(path)), len(before) + 1)
                equal("rows by Silt", self.silt_rows(path), self.spark_rows(path))
                for p in ("id = 2", "n.d > 2", "p = '2020-01-02'", "v IS NULL"):
                    frame = self.spark.read.format("delta").load(self.at(path)).where(p)
                    equal("rows of " + p, self.silt.sql("SELECT count(*) FROM %s WHERE %s" % (t, p))[0][0], frame.count())
                read = len(self.spark.read.format("delta").load(self.at(path)).where("id = 2").inputFiles())
                if read > 1:
                    raise Differs("Spark reads %d files for id = 2: the checkpoint's statistics do not prune" % read)
                self.spark_sql("INSERT INTO %s VALUES (501, 'spark', null, null)" % t)
                equal("rows after Spark's append", len(self.silt_rows(path)), len(before) + 2)
                last = json.load(open(os.path.join(path, "_delta_log", "_last_checkpoint")))
                equal("version of _last_checkpoint", last["version"], 5)
                equal("deltalake's version", by_deltalake(path, self.mirror).version(), 7)

    # ---- Spark writes, Silt reads ----

    def golden_arguments(self):
        class Args:
            silt, timeout = self.silt.binary, 120
        return Args

    def read_golden(self):
        if self.silt.name != "silt":
            return self.report.skip("read", "the golden tables are Spark's own")
        if self.mirror:
            return self.report.skip("read", "tests/remote/golden.py reads the golden tables in the stores")
        for file in sorted(glob.glob(os.path.join(GOLDEN, "expected", "*.json"))):
            e = json.load(open(file, encoding="utf-8"))
            if self.report.wants("read/" + e["table"]):
                with self.report.case("read/" + e["table"]):
                    check_golden.check(self.golden_arguments(), e)

    def fresh_golden(self):
        import make_golden
        make_golden.HERE = check_golden.HERE = os.path.join(self.work, "golden")
        for name, make in make_golden.TABLES.items():
            if self.report.wants("fresh/" + name):
                with self.report.case("fresh/" + name):
                    m = make_golden.Maker(self.spark, name)
                    make(m)
                    check_golden.check(self.golden_arguments(), make_golden.expect(m))

    # ---- both write ----

    def both(self):
        with self.report.case("both/in_turn"):
            path = self.fresh("turn")
            t = path_table(path)
            self.silt.sql("CREATE TABLE %s (id INT, who STRING) USING DELTA TBLPROPERTIES ('delta.checkpointInterval' = '4')" % t)
            for i in range(6):
                self.silt.sql("INSERT INTO %s VALUES (%d, 'silt')" % (t, 2 * i))
                self.spark_sql("INSERT INTO %s VALUES (%d, 'spark')" % (t, 2 * i + 1))
                equal("ids by Silt", [r[0] for r in self.silt.sql("SELECT id FROM %s ORDER BY id" % t)], list(range(2 * i + 2)))
            equal("ids by Spark", sorted(r[0] for r in self.spark.read.format("delta").load(self.at(path)).collect()), list(range(12)))
            equal("version", self.silt.show(path)["version"], 12)
        with self.report.case("both/overwrite_after"):
            self.spark_sql("INSERT OVERWRITE %s SELECT 1, 'spark'" % t)
            self.silt.sql("INSERT OVERWRITE %s SELECT id + 1, 'silt' FROM %s" % (t, t))
            equal("rows", self.spark_rows(path), ['{"id":2,"who":"silt"}'])
            equal("rows of the past", self.silt.sql("SELECT count(*) FROM %s VERSION AS OF 12" % t)[0][0], 12)
        if self.silt.name != "silt":
            return self.report.skip("both/at_once", "needs processes")
        with self.report.case("both/at_once"):
            if self.mirror and self.mirror.store not in remote_tables.AT_ONCE:
                raise Skip("only on HDFS and Google's do Spark's commits keep from replacing what another has committed")
            path = self.fresh("once")
            t = path_table(path)
            self.spark_sql("CREATE TABLE %s (id INT, who STRING) USING DELTA TBLPROPERTIES ('delta.checkpointInterval' = '5')" % t)
            errors = []

            def spark_appends():
                try:
                    for i in range(8):
                        self.spark.sql("INSERT INTO %s VALUES (%d, 'spark')" % (t, i))
                except Exception as e:
                    errors.append("spark: " + str(e)[:300])

            def silt_appends(n):
                for i in range(8):
                    p = self.silt.start("sql", "INSERT INTO %s VALUES (%d, 'silt%d')" % (t, i, n))
                    out, err = p.communicate()
                    if p.returncode:
                        errors.append("silt%d: %s" % (n, err.decode("utf-8", "replace")[:300]))
            threads = [threading.Thread(target=spark_appends)] + [threading.Thread(target=silt_appends, args=(n,)) for n in range(4)]
            for x in threads:
                x.start()
            for x in threads:
                x.join()
            equal("errors", errors, [])
            got = sorted((r[1], r[0]) for r in self.spark.read.format("delta").load(self.at(path)).collect())
            equal("rows", got, sorted((w, i) for w in ["spark"] + ["silt%d" % n for n in range(4)] for i in range(8)))
            equal("rows by Silt", self.silt.sql("SELECT count(*), count(DISTINCT who, id) FROM %s" % t)[0], [40, 40])
            equal("versions", sorted(delta_files.commits(path)), list(range(41)))
            self.checksum_holds(path, path)
        with self.report.case("both/sixteen_processes"):
            path = self.fresh("sixteen")
            t = path_table(path)
            self.silt.sql("CREATE TABLE %s (id INT) USING DELTA" % t)
            running = [self.silt.start("sql", "INSERT INTO %s VALUES (%d)" % (t, i)) for i in range(16)]
            for p in running:
                out, err = p.communicate()
                if p.returncode:
                    raise Differs("a process failed: " + err.decode("utf-8", "replace")[:300])
            equal("ids by Spark", sorted(r[0] for r in self.spark.read.format("delta").load(self.at(path)).collect()), list(range(16)))
            equal("versions", sorted(delta_files.commits(path)), list(range(17)))

    def txn(self):
        with self.report.case("txn/session_options"):
            path = self.fresh("txn")
            t = path_table(path)
            self.silt.sql("CREATE TABLE %s (id INT) USING DELTA" % t)
            conf = lambda v: {"spark.databricks.delta.write.txnAppId": "job", "spark.databricks.delta.write.txnVersion": str(v)}
            self.silt.sql("INSERT INTO %s VALUES (1)" % t, conf(1))
            self.silt.sql("INSERT INTO %s VALUES (1)" % t, conf(1))
            self.spark.range(5, 6).selectExpr("cast(id as int) id").write.format("delta").mode("append").option("txnAppId", "job").option("txnVersion", 1).save(self.at(path))
            self.written(path)
            self.silt.sql("INSERT INTO %s VALUES (2)" % t, conf(2))
            self.spark.range(7, 8).selectExpr("cast(id as int) id").write.format("delta").mode("append").option("txnAppId", "job").option("txnVersion", 3).save(self.at(path))
            self.written(path)
            self.silt.sql("INSERT INTO %s VALUES (3)" % t, conf(3))
            equal("ids", [r[0] for r in self.silt.sql("SELECT id FROM %s ORDER BY id" % t)], [1, 2, 7])
            equal("transactions", [(x["appId"], x["version"]) for _, x in delta_files.actions(path, "txn")], [("job", 1), ("job", 2), ("job", 3)])

        if self.silt.name == "silt":
            with self.report.case("txn/load"):
                path, file = self.fresh("txn_load"), os.path.join(self.work, "txn.csv")
                open(file, "w").write("id\n1\n")
                for version in ("1", "1", "2", "1"):
                    self.silt.run("load", file, "--into", path, "--mode", "append", "--txn-app", "job", "--txn-version", version)
                equal("rows by Spark", self.spark.read.format("delta").load(self.at(path)).count(), 2)

    def load(self):
        folder = self.fresh("files")
        os.makedirs(folder)
        self.spark.sql("SELECT id, 'n' || id AS name, id % 3 AS k, DATE'2020-01-01' + int(id) AS d FROM range(10)").coalesce(1).write.parquet(folder + "/parquet")
        parquet = glob.glob(folder + "/parquet/*.parquet")[0]
        open(folder + "/a.csv", "w").write("id,name,x\n1,one,1.5\n2,\"two, with comma\",\n3,,2.25\n")
        open(folder + "/a.json", "w").write('{"id":1,"s":{"a":[1,2]},"t":"x"}\n{"id":2,"s":null}\n')
        with self.report.case("load/parquet"):
            path = self.fresh("load_parquet")
            self.silt.run("load", parquet, "--into", path, "--mode", "append", "--partition-by", "k")
            self.silt.run("load", parquet, "--into", path, "--mode", "append")
            equal("rows by Spark", self.spark.read.format("delta").load(self.at(path)).count(), 20)
            equal("partition columns", self.silt.show(path)["partitionColumns"], ["k"])
            equal("schema", self.spark.read.format("delta").load(self.at(path)).dtypes, [("id", "bigint"), ("name", "string"), ("k", "bigint"), ("d", "date")])
            self.silt.run("load", parquet, "--into", path, "--mode", "overwrite")
            equal("rows by Spark after overwrite", self.spark.read.format("delta").load(self.at(path)).count(), 10)
            self.silt.run("load", parquet, "--into", path, "--mode", "ignore")
            equal("version after ignore", self.silt.show(path)["version"], 2)
            try:
                self.silt.run("load", parquet, "--into", path, "--mode", "error")
            except Failed as e:
                equal("exit status", e.status, 1)
            else:
                raise Differs("--mode error succeeded on a table that exists")
        with self.report.case("load/csv"):
            path = self.fresh("load_csv")
            self.silt.run("load", folder + "/a.csv", "--into", path, "--mode", "append")
            equal("rows", sorted(spark_peer.rows(self.spark.read.format("delta").load(self.at(path))), key=str), [[1, "one", 1.5], [2, "two, with comma", None], [3, None, 2.25]])
        with self.report.case("load/json"):
            path = self.fresh("load_json")
            self.silt.run("load", folder + "/a.json", "--into", path, "--mode", "append")
            equal("rows", sorted(spark_peer.rows(self.spark.read.format("delta").load(self.at(path)).select("id", "s", "t")), key=str), [[1, {"a": [1, 2]}, "x"], [2, None, None]])
        load_cases.run_all(self)

    def steps(self):
        """(area or case, what to do with a run, does it need Spark) of what the report wants; the stores late, whose servers may still be built, and the small write cases last, to fill the end. The golden tables of --fresh are not among them."""
        modules = (("convert", convert_cases), ("features", feature_cases), ("restore", restore_cases), ("vacuum", vacuum_cases), ("optimize", optimize_cases), ("cluster", cluster_cases))
        found = [(name, module.run_all, True) for name, module in modules]
        found += [("checkpoint", Run.checkpoints, True), ("both", Run.both, True), ("txn", Run.txn, True), ("load", Run.load, True), ("fuzz", Run.fuzz, True)]
        found = [("sql", Run.sql_answers, False), ("read", Run.read_golden, False), ("tpch", Run.tpch, True)] + found
        if self.mirror is None:
            found += [("isolation", replay_isolation.run_all, True), ("store", store_cases.run_all, True)]
        return [f for f in found if self.report.wants_any(f[0])] + \
               [("write/" + c.name, functools.partial(Run.write_case, case=c), True) for c in CASES if self.report.wants("write/" + c.name)]

    def all_areas(self):
        self.report.begin()
        for name, step, _ in self.steps():
            self.step(name, step)

    def step(self, name, step):
        try:
            step(self)
        except Exception as e:
            self.report.not_ok(name, repr(e))

    def apart(self, name, step):
        """A step in this thread, with a session of its own."""
        there = copy.copy(self)
        there.logs = {}
        self.report.begin()
        if self.spark:
            there.spark = self.spark.newSession()
            self.spark._jvm.org.apache.spark.sql.classic.SparkSession.setActiveSession(there.spark._jsparkSession)
        there.step(name, step)

    # ---- answers ----

    def sql_answers(self):
        import check_sql
        files = sorted(glob.glob(os.path.join(HERE, "..", "sql", "spark", "*.test")) + glob.glob(os.path.join(HERE, "..", "sql", "tpch", "*.test")))
        if self.silt.name != "silt":
            return self.report.skip("sql", "the answers are Spark's own")
        for file in files:
            name = "sql/" + os.path.basename(file)[:-5]
            if not self.report.wants(name):
                continue
            there = ["--store", self.mirror.store] if self.mirror else []
            p = subprocess.run([sys.executable, os.path.join(HERE, "check_sql.py"), "--silt", self.silt.binary, *there, file], stdout=subprocess.PIPE)
            lines = p.stdout.decode("utf-8", "replace").strip().split("\n")
            m = re.match(r"(\d+) passed, (\d+) failed, (\d+) skipped", lines[-1])
            if m and m[2] == "0":
                self.report.ok("%s (%s answers)" % (name, m[1]))
                if m[3] != "0":
                    self.report.skip(name + "/differences", "%s answers are known to differ (tests/sql/spark/differences.txt)" % m[3])
            else:
                for line in [x for x in lines if x.startswith("not ok")][:400]:
                    self.report.line("# " + line[:400])
                self.report.not_ok(name, lines[-1])

    def tpch(self):
        import make_tpch
        folder = self.fresh("tpch")
        os.makedirs(folder)
        make_tpch.generate(folder, 0.01)
        for table in make_tpch.TABLES:
            self.spark.read.parquet(os.path.join(folder, table + ".parquet")).write.format("delta").save(self.at(os.path.join(folder, table)))
            self.written(folder)
            create = "CREATE TABLE %s USING DELTA LOCATION '%s'" % (table, os.path.join(folder, table))
            self.spark.sql(create)
            if self.silt.name == "silt":
                self.silt.sql(create)
        with self.report.case("tpch/written_by_silt"):
            path = self.fresh("tpch_silt")
            self.silt.sql("CREATE TABLE %s USING DELTA AS SELECT * FROM parquet.`%s/lineitem.parquet`" % (path_table(path), folder))
            equal("rows of lineitem", self.spark_rows(path), self.spark_rows(os.path.join(folder, "lineitem")))
        for name, sql in make_tpch.queries():
            if not self.report.wants("tpch/" + name):
                continue
            with self.report.case("tpch/" + name):
                want = spark_peer.rows(self.spark.sql(sql))
                equal("rows", self.silt.sql(sql), want)


def by_deltalake(path, mirror=None):
    """The table as deltalake opens it; in the mirror's store, if there is one."""
    from deltalake import DeltaTable
    where, options = mirror.deltalake(path) if mirror else (path, None)
    return DeltaTable(where, storage_options=options)


def deltalake_rows(path, schema, mirror=None):
    """The canonical rows as deltalake's query engine reads them, sorted."""
    import pyarrow as pa
    from deltalake import QueryBuilder
    table = pa.table(QueryBuilder().register("t", by_deltalake(path, mirror)).execute("SELECT * FROM t").read_all())
    names = [f["name"] for f in schema["fields"]]
    return sorted(check_golden.canon(dict(zip(names, (arrow_value(r[f["name"]], f["type"]) for f in schema["fields"]))), schema) for r in table.to_pylist())


def arrow_value(v, t):
    """A Python value of a pyarrow table as its jsonl value."""
    import base64
    if v is None:
        return None
    if isinstance(t, dict):
        if t["type"] == "struct":
            return {f["name"]: arrow_value(v.get(f["name"]), f["type"]) for f in t["fields"]}
        if t["type"] == "array":
            return [arrow_value(x, t["elementType"]) for x in v]
        return [[arrow_value(k, t["keyType"]), arrow_value(x, t["valueType"])] for k, x in (v.items() if isinstance(v, dict) else v)]
    if t.startswith("decimal"):
        return format(v, "f")
    if t == "binary":
        return base64.b64encode(v).decode()
    if isinstance(v, datetime.datetime):
        return v.strftime("%04d-%%m-%%dT%%H:%%M:%%S.%%f" % v.year) + ("Z" if t == "timestamp" else "")
    if isinstance(v, datetime.date):
        return "%04d-%02d-%02d" % (v.year, v.month, v.day)
    return v


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--only", default="*", help="names to run, as write/strings,both,tpch/q*")
    ap.add_argument("--fresh", action="store_true", help="also make the golden tables anew")
    ap.add_argument("--store", help="where the tables are, instead of on local disk: one or some of s3,hdfs,azure,gcs")
    ap.add_argument("--jobs", type=int, default=2, help="areas and cases at a time; with --store always one")
    ap.add_argument("--keep", action="store_true", help="leave the tables")
    a = ap.parse_args()
    unknown = [s for s in (a.store or "").split(",") if s and s not in store_cases.remote.FOUR]
    if unknown: ap.error("no store is named %s" % ", ".join(unknown))
    binary = os.environ.get("SILT") or os.path.join(HERE, "..", "..", "build", "silt")
    if binary != "spark" and not os.access(binary, os.X_OK):
        print("not ok interop: no executable at %s" % binary)
        print("0 passed, 1 failed, 0 skipped")
        return 1
    work = tempfile.mkdtemp(prefix="silt-interop-")
    report = Report("*" if a.store else a.only)
    warehouse = os.path.join(work, "silt-warehouse")
    os.makedirs(warehouse)
    silt, spark = Silt(os.path.abspath(binary), warehouse) if binary != "spark" else None, None
    run = Run(spark, silt, work, report)
    try:
        # What needs no Spark runs beside its start; then two steps at a time, since one alone leaves a core idle for most of the time.
        with concurrent.futures.ThreadPoolExecutor(max(1, a.jobs)) as pool:
            steps = run.steps() if silt and not a.store else []
            ended = [pool.submit(run.apart, name, step) for name, step, needed in steps if not needed]
            spark = run.spark = spark_peer.session(os.path.join(work, "spark-warehouse"), **spark_peer.LEAN)
            ended += [pool.submit(run.apart, name, step) for name, step, needed in steps if needed]
            for e in ended:
                e.result()
        if not silt:
            run.silt = SparkAsSilt(spark, warehouse)
            run.all_areas()
        elif a.store:
            for store in a.store.split(","):
                remote_tables.run_at(run, store, store + "/", a.only).all_areas()
        if a.fresh and silt:
            run.fresh_golden()
    finally:
        if spark:
            spark.stop()
        if a.keep:
            print("# tables in " + work)
        else:
            shutil.rmtree(work, ignore_errors=True)
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
