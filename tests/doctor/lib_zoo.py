"""The zoo: tables that are sick in one way each, written by hand (the log as text, data files as bytes of the right number) or by the command and then damaged.

Each function makes its table in a fresh folder and returns (what to give to `silt doctor`, further arguments, the findings that are expected: {check: severity}). The doctor reads no
data files, so that theirs need no content.
"""
import json, os, shutil, sqlite3, sys, time
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from silt_script import ok, sql, read, write

DAY = 86400
SCHEMA = [("id", "long"), ("name", "string")]


class Table:
    """A log written by hand. Times are `age` seconds ago and go on by a second per version."""

    def __init__(self, path, schema=SCHEMA, partition=(), properties=None, reader=1, writer=2, features=None, age=3600):
        self.path, self.version, self.time = path, -1, time.time() - age
        fields = [{"name": n, "type": t, "nullable": True, "metadata": {}} for n, t in schema]
        self.meta = {"id": "5fba94ed-9794-4965-ba6e-6ee3c0d22af9", "format": {"provider": "parquet", "options": {}}, "schemaString": json.dumps({"type": "struct", "fields": fields}),
                     "partitionColumns": list(partition), "configuration": dict(properties or {}), "createdTime": int(self.time * 1000)}
        self.protocol = {"minReaderVersion": reader, "minWriterVersion": writer}
        if features is not None: self.protocol.update(readerFeatures=features, writerFeatures=features)
        self.commit("CREATE TABLE", [{"protocol": self.protocol}, {"metaData": self.meta}])

    def log(self, version, suffix=".json"):
        return "%s/_delta_log/%020d%s" % (self.path, version, suffix)

    def commit(self, operation, actions, **info):
        self.version, self.time = self.version + 1, self.time + 1
        info = {"timestamp": int(self.time * 1000), "operation": operation, "operationParameters": {}, "isBlindAppend": True, "engineInfo": "zoo", **info}
        write(self.log(self.version), "".join(json.dumps(a) + "\n" for a in [{"commitInfo": info}, *actions]))
        os.utime(self.log(self.version), (self.time, self.time))

    def schema(self, columns):
        fields = [{"name": n, "type": t, "nullable": True, "metadata": {}} for n, t in columns]
        self.meta = dict(self.meta, schemaString=json.dumps({"type": "struct", "fields": fields}))
        self.commit("CHANGE COLUMNS", [{"metaData": self.meta}])

    def file(self, name, size=1024, old=False):
        """Bytes on the disk; sparse, so that large ones cost nothing."""
        path = os.path.join(self.path, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f: f.truncate(size)
        if old: os.utime(path, (time.time() - 60 * DAY,) * 2)
        return name

    def add(self, name, size=1024, values=None, stats={"numRecords": 10}, on_disk=True, old=False, **more):
        if on_disk: self.file(name, size, old)
        action = {"path": name.replace("%", "%25").replace(" ", "%20"), "partitionValues": values or {}, "size": size, "modificationTime": int(self.time * 1000), "dataChange": True}
        if stats is not None: action["stats"] = json.dumps(stats)
        return {"add": {**action, **more}}

    def remove(self, name, size=1024, age=40 * DAY):
        return {"remove": {"path": name, "deletionTimestamp": int((time.time() - age) * 1000), "dataChange": True, "extendedFileMetadata": True, "partitionValues": {}, "size": size}}

    def fill(self, n, **how):
        self.commit("WRITE", [self.add("part-%05d.parquet" % i, **how) for i in range(n)])
        return self


def silt_table(*statements, properties="'delta.checkpointInterval' = '1000'"):
    ok("sql", ";".join(("CREATE TABLE delta.`%s/t` (id BIGINT, name STRING) USING DELTA TBLPROPERTIES (%s)" % (os.getcwd(), properties),) + statements))
    return "t"


def insert(n=1):
    return "INSERT INTO delta.`%s/t` SELECT id, 'x' FROM range(%d)" % (os.getcwd(), n)


# ---- the log ----

def log_gap_behind_checkpoint():
    t = Table("t").fill(1)
    for i in range(3): t.commit("WRITE", [])
    os.remove(t.log(2))
    return "./t", [], {"log-gaps": "danger"}


def log_gap_before_checkpoint():
    table = silt_table(*[insert()] * 4)
    ok("checkpoint", "./t")
    os.remove("t/_delta_log/%020d.json" % 2)
    return "./t", [], {"log-gaps": "warning"}


def commit_of_no_bytes():
    t = Table("t").fill(3)
    t.commit("WRITE", [])
    write(t.log(2), "")
    return "./t", [], {"commit-empty": "danger"}


def commit_of_blanks_between_others():
    t = Table("t").fill(3)
    for i in range(3): t.commit("WRITE", [])
    write(t.log(3), "\n \n")
    os.utime(t.log(3), (t.time - 1,) * 2)
    return "./t", [], {"commit-empty": "danger"}


def log_unreadable_line():
    t = Table("t").fill(1)
    write(t.log(1), '{"add":{"path":\n')
    return "./t", [], {"log-unreadable": "danger"}


def log_of_the_future():
    t = Table("t", reader=3, writer=7, features=["tomorrowsFeature"]).fill(1)
    return "./t", [], {"log-unreadable": "warning"}


def checkpoint_truncated():
    silt_table(*[insert()] * 3)
    ok("checkpoint", "./t")
    path = "t/_delta_log/%020d.checkpoint.parquet" % 3
    write(path, read(path)[:100])
    return "./t", [], {"checkpoint-corrupt": "danger"}


def checkpoint_empty_and_log_cleaned():
    silt_table(*[insert()] * 3)
    ok("checkpoint", "./t")
    write("t/_delta_log/%020d.checkpoint.parquet" % 3, b"")
    for v in range(3): os.remove("t/_delta_log/%020d.json" % v)
    return "./t", [], {"checkpoint-corrupt": "danger"}


def checkpoint_hint_damaged():
    silt_table(*[insert()] * 3)
    ok("checkpoint", "./t")
    write("t/_delta_log/_last_checkpoint", '{"version":')
    return "./t", [], {"checkpoint-corrupt": "warning"}


def checkpoint_hint_to_nowhere():
    silt_table(*[insert()] * 3)
    ok("checkpoint", "./t")
    os.remove("t/_delta_log/%020d.checkpoint.parquet" % 3)
    return "./t", [], {"checkpoint-corrupt": "warning"}


def checkpoint_part_missing():
    t = Table("t").fill(1)
    write(t.log(1, ".checkpoint.%010d.%010d.parquet" % (1, 2)), b"PAR1")
    return "./t", [], {"checkpoint-corrupt": "warning"}


def checkpoint_sidecar_missing():
    silt_table(*[insert()] * 3, properties="'delta.checkpointPolicy' = 'v2', 'delta.checkpointInterval' = '1000'")
    ok("checkpoint", "./t")
    shutil.rmtree("t/_delta_log/_sidecars")
    return "./t", [], {"checkpoint-corrupt": "danger"}


def checkpoint_never():
    t = Table("t").fill(1)
    for i in range(120): t.commit("WRITE", [])
    return "./t", [], {"checkpoint-stale": "warning"}


def checkpoint_stale():
    silt_table(insert(), properties="'owner' = 'me'")
    ok("checkpoint", "./t")
    line = '{"commitInfo":{"timestamp":%d,"operation":"WRITE","operationParameters":{}}}\n'
    for v in range(2, 123): write("t/_delta_log/%020d.json" % v, line % (time.time() * 1000 + v))
    return "./t", [], {"checkpoint-stale": "warning"}


def commit_clock_backwards():
    t = Table("t").fill(1)
    for i in range(4): t.commit("WRITE", [])
    os.utime(t.log(3), (t.time - 1000,) * 2)
    return "./t", [], {"commit-clock": "warning"}


# ---- files ----

def files_missing():
    t = Table("t").fill(5)
    os.remove("t/part-00002.parquet")
    return "./t", [], {"files-missing": "danger"}


def vector_file_missing():
    t = Table("t", reader=3, writer=7, features=["deletionVectors"])
    dv = {"storageType": "u", "pathOrInlineDv": "vBn[lx{q8@P<9BNH/isA", "offset": 1, "sizeInBytes": 36, "cardinality": 2}
    t.commit("WRITE", [t.add("a.parquet", deletionVector=dv)])
    return "./t", [], {"files-missing": "danger"}


def file_cut_short():
    t = Table("t").fill(5)
    t.file("part-00003.parquet", 1000)
    return "./t", [], {"files-missing": "danger"}


def files_orphaned():
    t = Table("t").fill(3)
    for i in range(12): t.file("orphan-%d.parquet" % i, old=True)
    t.file("_temporary/0/part.parquet", old=True)
    t.file(".hidden.parquet", old=True)
    t.file("young.parquet")
    return "./t", [], {"files-orphaned": "warning"}


def vacuum_overdue():
    t = Table("t", age=50 * DAY)
    t.commit("WRITE", [t.add("old-%d.parquet" % i, old=True) for i in range(120)])
    t.commit("WRITE", [t.remove("old-%d.parquet" % i) for i in range(120)] + [t.add("new.parquet")])
    return "./t", [], {"vacuum-overdue": "warning"}


def file_retention_short():
    Table("t", properties={"delta.deletedFileRetentionDuration": "interval 1 hours"}).fill(1)
    return "./t", [], {"file-retention": "warning"}


def file_retention_shorter_than_the_longest_job():
    Table("t").fill(1)
    return "./t", ["--longest-job", "10 days"], {"file-retention": "warning"}


def log_retention_short():
    Table("t", properties={"delta.logRetentionDuration": "interval 2 days"}).fill(1)
    return "./t", [], {"log-retention": "warning"}


def small_files():
    t = Table("t", [("id", "long"), ("day", "string")], ["day"])
    t.commit("WRITE", [t.add("day=%d/part-%d.parquet" % (i % 2, i), values={"day": str(i % 2)}) for i in range(260)])
    return "./t", [], {"small-files": "warning"}


def partition_skew():
    t = Table("t", [("id", "long"), ("country", "string")], ["country"])
    t.commit("WRITE", [t.add("country=%s/a.parquet" % c, (12 << 30) if c == "CN" else (200 << 20), {"country": c}) for c in ("CN", "NO", "FI", "IS", "LV")])
    return "./t", [], {"partition-skew": "warning"}


def partition_explosion():
    t = Table("t", [("id", "long"), ("user", "string"), ("day", "string")], ["user", "day"])
    t.commit("WRITE", [t.add("user=%d/day=%d/a.parquet" % (i, i % 3), values={"user": str(i), "day": str(i % 3)}) for i in range(1000)])
    return "./t", [], {"partition-explosion": "warning"}


def deletion_vectors_past_their_worth():
    t = Table("t", reader=3, writer=7, features=["deletionVectors"])
    dv = {"storageType": "i", "pathOrInlineDv": "wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L", "sizeInBytes": 40, "cardinality": 300}
    t.commit("DELETE", [t.add("part-%d.parquet" % i, stats={"numRecords": 1000}, deletionVector=dv) for i in range(12)])
    return "./t", [], {"deletion-vectors": "warning"}


def statistics_missing():
    Table("t").fill(25, stats=None)
    return "./t", [], {"statistics-missing": "warning"}


def statistics_missing_on_a_filter():
    Table("t", properties={"delta.dataSkippingNumIndexedCols": "1"}).fill(1)
    return "./t", ["--filters", "name"], {"statistics-missing": "warning"}


def statistics_missing_on_a_clustering_column():
    t = Table("t", properties={"delta.dataSkippingNumIndexedCols": "1"}, reader=1, writer=7)
    t.protocol["writerFeatures"] = ["clustering", "domainMetadata"]
    t.commit("CLUSTER BY", [{"protocol": t.protocol}, {"domainMetadata": {"domain": "delta.clustering", "configuration": json.dumps({"clusteringColumns": [["name"]]}), "removed": False}}])
    return "./t", [], {"statistics-missing": "warning"}


# ---- schemas, readers, names ----

def schema_flips():
    t = Table("t").fill(1)
    for kind in ("string", "long", "string"): t.schema([("id", kind), ("name", "string")])
    return "./t", [], {"schema-drift": "warning"}


def column_comes_and_goes():
    t = Table("t").fill(1)
    t.schema([("id", "long")])
    t.schema(SCHEMA)
    return "./t", [], {"schema-drift": "warning"}


def reader_too_old():
    Table("t", reader=3, writer=7, features=["deletionVectors"]).fill(1)
    return "./t", ["--readers", "spark-4.1,delta-2.0"], {"reader-support": "danger"}


def reader_hive_with_column_mapping():
    Table("t", properties={"delta.columnMapping.mode": "name"}, reader=2, writer=5).fill(1)
    return "./t", ["--readers", "trino-455,hive"], {"reader-support": "danger"}


def reader_lists_the_folder():
    t = Table("t").fill(2)
    t.commit("DELETE", [t.remove("part-00001.parquet", age=10)])
    return "./t", ["--readers", "parquet"], {"reader-support": "danger"}


def reader_without_manifest():
    Table("t").fill(2)
    return "./t", ["--readers", "manifest"], {"reader-support": "danger"}


def names_by_case():
    Table("t", [("id", "long"), ("Name", "string"), ("name", "string")]).fill(1)
    return "./t", [], {"names": "warning"}


def names_reserved():
    Table("t", [("id", "long"), ("_change_type", "string")]).fill(1)
    return "./t", [], {"names": "warning"}


def partition_value_of_hives_null():
    t = Table("t", [("id", "long"), ("p", "string")], ["p"])
    t.commit("WRITE", [t.add("p=x/a.parquet", values={"p": "__HIVE_DEFAULT_PARTITION__"}), t.add("p=y/a.parquet", values={"p": "v" * 300})])
    return "./t", [], {"names": "warning"}


def partition_values_by_case():
    t = Table("t", [("id", "long"), ("p", "string")], ["p"])
    t.commit("WRITE", [t.add("p=oslo/a.parquet", values={"p": "oslo"}), t.add("p=Oslo/b.parquet", values={"p": "Oslo"})])
    return "./t", [], {"names": "warning"}


# ---- the catalog's neighbours ----

def catalog(*rows):
    """Entries of the local catalog as another program could have made them: (name, provider, location, managed)."""
    ok("sql", "SHOW TABLES; CREATE TABLE IF NOT EXISTS _any (id BIGINT) USING DELTA; DROP TABLE _any")
    db = sqlite3.connect("spark-warehouse/.silt-catalog.sqlite")
    (table,) = [n for (n,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'") if "table" in n.lower()]
    names = [c[1] for c in db.execute("PRAGMA table_info(%s)" % table)]
    for name, provider, location, managed in rows:
        values = {"database": "default", "name": name, "provider": provider, "location": location, "is_managed": managed, "is_view": 0, "view_text": None, "comment": None, "created_ms": 0}
        used = [n for n in names if n in values]
        db.execute("INSERT INTO %s (%s) VALUES (%s)" % (table, ", ".join(used), ", ".join("?" * len(used))), [values[n] for n in used])
    db.commit()
    db.close()


def foreign_parquet_table():
    Table("t").fill(1)
    catalog(("sales", "delta", os.path.abspath("t"), 0), ("sales_raw", "parquet", os.path.abspath("t"), 0))
    return "sales", [], {"foreign-table": "danger"}


def foreign_iceberg_metadata():
    t = Table("t").fill(1)
    write("t/metadata/v3.metadata.json", "{}")
    return "./t", [], {"foreign-table": "warning"}


def managed_folder_shared():
    ok("sql", "CREATE TABLE mine (id BIGINT) USING DELTA; INSERT INTO mine VALUES (1); CREATE TABLE yours USING DELTA LOCATION '%s/spark-warehouse/mine'" % os.getcwd())
    return "mine", [], {"shared-files": "danger"}


def table_inside_of_a_managed_one():
    ok("sql", "CREATE TABLE mine (id BIGINT) USING DELTA; INSERT INTO mine VALUES (1)")
    Table("spark-warehouse/mine/inner").fill(1)
    catalog(("inner", "delta", os.path.abspath("spark-warehouse/mine/inner"), 0))
    return "mine", [], {"shared-files": "danger"}


def source_of_a_shallow_clone():
    ok("sql", "CREATE TABLE mine (id BIGINT) USING DELTA; INSERT INTO mine VALUES (1)")
    t = Table("clone")
    t.version = -1
    t.commit("CLONE", [{"protocol": t.protocol}, {"metaData": t.meta}], operationParameters={"source": "spark_catalog.default.mine", "sourceVersion": 1}, operationMetrics={"numCopiedFiles": "0", "sourceNumOfFiles": "1"})
    catalog(("clone", "delta", os.path.abspath("clone"), 0))
    return "mine", [], {"shared-files": "danger"}


def source_of_a_clone_made_by_statement():
    ok("sql", "CREATE TABLE mine (id BIGINT) USING DELTA; INSERT INTO mine VALUES (1); CREATE TABLE clone SHALLOW CLONE mine")
    return "mine", [], {"shared-files": "danger"}


def source_of_a_clone_by_path():
    ok("sql", "CREATE TABLE delta.`{0}/t` (id BIGINT) USING DELTA; INSERT INTO delta.`{0}/t` VALUES (1); CREATE TABLE clone SHALLOW CLONE delta.`{0}/t`".format(os.getcwd()))
    return "./t", [], {"shared-files": "warning"}


def source_of_a_deep_clone():
    ok("sql", "CREATE TABLE mine (id BIGINT) USING DELTA; INSERT INTO mine VALUES (1)")
    ok("clone", "mine", "copy", "--deep")
    return "mine", [], {}


def clone_made_by_statement():
    ok("sql", "CREATE TABLE mine (id BIGINT) USING DELTA; INSERT INTO mine VALUES (1); CREATE TABLE clone SHALLOW CLONE mine")
    return "clone", [], {"files-outside": "info"}


def clone_whose_source_was_dropped():
    ok("sql", "CREATE TABLE mine (id BIGINT) USING DELTA; INSERT INTO mine VALUES (1); CREATE TABLE clone SHALLOW CLONE mine; DROP TABLE mine")
    return "clone", [], {"files-outside": "info", "files-missing": "danger"}


def shallow_clone():
    source = Table("source").fill(1)
    t = Table("t")
    t.commit("CLONE", [t.add("file://" + os.path.abspath("source/part-00000.parquet"), on_disk=False)])
    return "./t", [], {"files-outside": "info"}


ALL = [f for n, f in list(globals().items()) if type(f) is type(catalog) and f.__module__ == __name__ and f.__code__.co_argcount == 0 and f not in (catalog, silt_table)]
