"""Tables in each store that both engines work on: each reads what the other wrote, and on HDFS and Google's both write at once. On S3 and on Azure without a hierarchical namespace, which is what there is
a server of, they take turns: there Spark's commits are for one writer at a time. And a few cases of the other areas with their tables in each store (`run_interop.py --store NAME` has all of them). Names: store/…"""
import os
import sys
import threading

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "remote"))
import lib_remote as remote
import remote_tables
from report import Skip, equal

PARTITIONS = "element_at(array('a b', 'x+y%z', 'é', '10:30', 'q=1/#?'), CAST(id % 5 + 1 AS INT))"
QUERY = "SELECT p, count(*), sum(id), min(s), max(s) FROM @ GROUP BY p ORDER BY p"
MAKE = ["CREATE TABLE @ (id BIGINT, s STRING, p STRING) USING delta PARTITIONED BY (p) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true', 'delta.checkpointInterval' = '4')",
        "INSERT INTO @ SELECT id, concat('text ', id), " + PARTITIONS + " FROM range(1000)", "DELETE FROM @ WHERE id % 7 = 3", "UPDATE @ SET s = 'changed' WHERE id % 11 = 5",
        "INSERT INTO @ SELECT id + 5000, 'more', " + PARTITIONS + " FROM range(50)", "DELETE FROM @ WHERE p = '10:30'", "INSERT INTO @ VALUES (-1, NULL, NULL)"]
APPENDS = {"silt": 12, "spark": 5}
# Of each command one case, of each store what differs there.
CASES = {"s3": "features/change_feed_vectors,convert/partitions_odd,restore/vectors,restore/deep_clone,optimize/batches,features/v2_checkpoint_parts", "hdfs": "vacuum/mapped_vectors_by_silt,restore/shallow_clone,features/identity_by_silt,"
         "cluster/zorder,convert/partitions_odd", "azure": "write/merge_vectors,features/change_feed_mapped,vacuum/log_compaction,restore/shallow_clone,convert/stream_log",
         "gcs": "write/dml_everything,features/v2_checkpoint_parquet,restore/generate,restore/shallow_clone,vacuum/lite"}


class Place:
    """A store, and how each engine names it."""

    def __init__(self, run, store):
        self.run, self.server = run, remote.server(store)
        self.settings, self.store = remote.settings(self.server), store
        for k, v in remote_tables.spark_settings(self.server).items(): run.spark.conf.set(k, v)

    def table(self, engine, name):
        """By RPC for Spark and by HTTP for Silt, on HDFS."""
        if self.store == "hdfs" and engine == "spark": return "delta.`hdfs://%s%s/%s`" % (self.server["RPC"], self.server["FOLDER"], name)
        return "delta.`%s`" % remote_tables.location(self.server, name)

    def sql(self, engine, statement, name):
        text = statement.replace("@", self.table(engine, name))
        if engine == "silt": return self.run.silt.sql(text, self.settings)
        return [list(r) for r in self.run.spark.sql(text).collect()]


def both_directions(place, writer, reader):
    name = "interop-by-%s-%d" % (writer, os.getpid())
    for statement in MAKE: place.sql(writer, statement, name)
    equal("what %s reads" % reader, place.sql(reader, QUERY, name), place.sql(writer, QUERY, name))
    place.sql(reader, "DELETE FROM @ WHERE id < 100", name)
    place.sql(writer, "INSERT INTO @ VALUES (99999, 'last', 'a b')", name)
    equal("after a change by each", place.sql(reader, QUERY, name), place.sql(writer, QUERY, name))
    equal("history", [r[0] for r in place.sql("silt", "DESCRIBE HISTORY @", name)], list(range(len(MAKE) + 1, -1, -1)))


def at_once(place):
    name, problems = "interop-both-%d" % os.getpid(), []
    place.sql("spark", "CREATE TABLE @ (id BIGINT, writer STRING) USING delta TBLPROPERTIES ('delta.checkpointInterval' = '5')", name)

    def append(engine, writer):
        try:
            for i in range(APPENDS[engine]): place.sql(engine, "INSERT INTO @ VALUES (%d, '%s')" % (i, writer), name)
        except Exception as e: problems.append("%s: %s" % (writer, e))

    threads = [threading.Thread(target=append, args=a) for a in (("silt", "silt1"), ("silt", "silt2"), ("spark", "spark"))]
    for t in threads: t.start()
    for t in threads: t.join()
    equal("failures", problems, [])
    for engine in ("silt", "spark"):
        equal("what %s reads" % engine, place.sql(engine, "SELECT writer, count(*), count(DISTINCT id) FROM @ GROUP BY writer ORDER BY writer", name),
              [["silt1", 12, 12], ["silt2", 12, 12], ["spark", 5, 5]])


def run_all(run):
    for store in remote.FOUR:
        names = ["store/%s/%s" % (store, n) for n in ("silt_writes", "spark_writes", "both_at_once") if n != "both_at_once" or store in remote_tables.AT_ONCE]
        wanted = [n for n in names if run.report.wants(n)]
        if not wanted: continue
        try: place = Place(run, store)
        except remote.Missing as e:
            for n in wanted:
                with run.report.case(n): raise Skip(str(e))
            continue
        for n in wanted:
            with run.report.case(n):
                if n.endswith("silt_writes"): both_directions(place, "silt", "spark")
                elif n.endswith("spark_writes"): both_directions(place, "spark", "silt")
                else: at_once(place)
    for store, names in CASES.items():
        prefix = "store/%s/" % store
        if not any(run.report.wants(prefix + n) for n in names.split(",")): continue
        try: remote_tables.run_at(run, store, prefix, names).all_areas()
        except remote.Missing as e:
            for n in names.split(","):
                with run.report.case(prefix + n): raise Skip(str(e))
