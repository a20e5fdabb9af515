"""Tables on S3 (versitygw on this machine) with 20 ms added to each request by tests/support/fault_proxy.c, against deltalake there.

  remote_open      opens a table of 1,000 commits without any checkpoint: 1,000 files to be fetched
  remote_appended  opens a table as deltalake leaves it after 1,050 appends, with the checkpoints that it makes by itself: the last one and 50 files are to be fetched
  remote_scan      sum and maximum of two columns of lineitem SF1 in 200 files, nothing cached; Silt's bytes by the proxy's count against those columns' bytes
  remote_warm      the same again, cached, against the same table on the local disk
  remote_append    lineitem SF1 appended, against the bare upload of the files that it wrote

The server keeps connections open, as S3 does; by itself versitygw closes each after one answer.
"""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "remote"))
import lib_remote
from measuring import DATA, compare, expect, once, python, timed_python

GOALS = {"remote_open": ">= 3 times faster", "remote_appended": ">= 3 times faster", "remote_scan": ">= 2 times faster, <= 1.1 of the columns' bytes", "remote_warm": "<= 1.1 of local", "remote_append": "<= 1.2 of the bare upload"}
COMMITS, APPENDS, FILES, LATENCY_MS = 1000, 1050, 200, 20
COLUMNS = ("l_quantity", "l_shipdate")
QUERY = "SELECT sum(l_quantity), max(l_shipdate) FROM delta.`%s`"


def make_commits(path):
    from deltalake import write_deltalake
    import pyarrow as pa
    write_deltalake(path, pa.table({"id": pa.array([0], pa.int64())}))
    first = os.path.join(path, "_delta_log", "%020d.json" % 0)
    add = next(json.loads(line)["add"] for line in open(first, encoding="utf-8") if '"add"' in line)
    for v in range(1, COMMITS):
        lines = [{"commitInfo": {"timestamp": add["modificationTime"] + v, "operation": "WRITE", "operationParameters": {"mode": "Append"}}}, {"add": dict(add, path="f%06d.parquet" % v)}]
        with open(os.path.join(path, "_delta_log", "%020d.json" % v), "w", encoding="utf-8") as f:
            f.write("".join(json.dumps(x, separators=(",", ":")) + "\n" for x in lines))


def make_appended(path):
    from deltalake import write_deltalake
    import pyarrow as pa
    for i in range(APPENDS): write_deltalake(path, pa.table({"id": pa.array([i], pa.int64())}), mode="append")


def make_files(lineitem):
    def make(path):
        import duckdb
        from deltalake import write_deltalake
        con = duckdb.connect()
        rows = con.execute("SELECT count(*) FROM '%s/lineitem.parquet'" % lineitem).fetchone()[0]
        table = con.execute("SELECT * FROM '%s/lineitem.parquet'" % lineitem).arrow()
        table = table.read_all() if hasattr(table, "read_all") else table
        for i in range(FILES):
            a, b = rows * i // FILES, rows * (i + 1) // FILES
            write_deltalake(path, table.slice(a, b - a), mode="append")
    return make


def column_bytes(path):
    import pyarrow.parquet as pq
    total = 0
    for f in glob.glob(os.path.join(path, "*.parquet")):
        m = pq.ParquetFile(f).metadata
        for g in range(m.num_row_groups):
            for c in range(m.num_columns):
                if m.row_group(g).column(c).path_in_schema in COLUMNS: total += m.row_group(g).column(c).total_compressed_size
    return total


class Bench:
    def __init__(self, silt, rounds):
        self.silt, self.rounds = silt, rounds
        os.environ["VGW_KEEP_ALIVE"] = "true"
        self.server = lib_remote.server("s3", fresh=True)
        proxy = os.path.join(DATA, "tests", "fault_proxy")
        os.makedirs(os.path.dirname(proxy), exist_ok=True)
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "support", "fault_proxy.c")
        subprocess.run(["cc", "-std=c11", "-O2", "-D_GNU_SOURCE", "-o", proxy, source, "-lpthread"], check=True)
        lib_remote.BUILD = DATA
        self.proxy = lib_remote.Proxy(self.server.port)
        self.proxy.tell("latency %d" % LATENCY_MS)
        self.folder = tempfile.mkdtemp(dir=DATA)
        self.conf = [w for kv in lib_remote.settings(self.server, self.proxy.endpoint).items() for w in ("--conf", "%s=%s" % kv)]
        self.options = {"AWS_ENDPOINT_URL": self.proxy.endpoint, "AWS_ALLOW_HTTP": "true", "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": self.server["ACCESS_KEY"],
                        "AWS_SECRET_ACCESS_KEY": self.server["SECRET_KEY"]}

    def close(self):
        self.proxy.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def put(self, path, name):
        """A bucket is a folder of versitygw's; files that are put there are objects."""
        for folder, _, files in os.walk(path):
            for f in files:
                with open(os.path.join(folder, f), "rb") as opened:
                    lib_remote.upload(self.server, name + "/" + os.path.relpath(os.path.join(folder, f), path), opened.read())

    def sql(self, text, cache):
        return [self.silt, "sql", text, "--format", "csv", "--conf", "silt.cache.dir=" + os.path.join(self.folder, cache), *self.conf]

    def deltalake(self, name, code):
        return python("from deltalake import DeltaTable\nt = DeltaTable('s3://%s/%s', storage_options=%r)\n%s" % (self.server["BUCKET"], name, self.options, code))

    def open(self, name, make, versions):
        self.put(once("remote_" + name, make), name)
        table = lib_remote.location(self.server, name)
        cache = os.path.join(self.folder, "cache")
        conf = ["--conf", "silt.cache.dir=" + cache, *self.conf]
        return compare(self.rounds, [("silt schema, nothing cached", [self.silt, "schema", table, *conf], lambda: shutil.rmtree(cache, ignore_errors=True), None),
                                     ("cached: silt schema", [self.silt, "schema", table, *conf], None, None),
                                     ("deltalake", self.deltalake(name, "print(t.version())"), None, lambda out: expect("version", out.strip(), str(versions - 1)))])

    def scan(self, path, warm):
        self.put(path, "lineitem")
        table, counted = lib_remote.location(self.server, "lineitem"), []

        def fresh():
            shutil.rmtree(os.path.join(self.folder, "cache"), ignore_errors=True)
            self.proxy.tell("zero")

        def count(_): counted.append(self.proxy.counts())
        code = "import pyarrow.compute as pc\nd = t.to_pyarrow_table(columns=%r)\nprint(pc.sum(d['l_quantity']), pc.max(d['l_shipdate']))" % (list(COLUMNS),)
        if warm:
            subprocess.run(self.sql(QUERY % table, "cache"), check=True, stdout=subprocess.DEVNULL)
            time.sleep(3)  # of a checkpoint that was fetched less than two seconds before, Silt asks once more whether it is still the same
            return compare(self.rounds, [("silt, cached", self.sql(QUERY % table, "cache"), None, None), ("silt, local disk", self.sql(QUERY % path, "cache"), None, None)])
        result = compare(self.rounds, [("silt, cold", self.sql(QUERY % table, "cache"), fresh, count), ("deltalake", self.deltalake("lineitem", code), None, None)])
        if counted:
            least, wanted = min(c["out"] for c in counted), column_bytes(path)
            print("# remote_scan: %d requests, %d bytes moved, %.3f of the two columns' %d" % (counted[0]["requests"], least, least / wanted, wanted))
        return result

    def append(self, lineitem):
        table, file = lib_remote.location(self.server, "appended"), os.path.join(lineitem, "lineitem.parquet")
        load = [self.silt, "load", file, "--into", table, "--mode", "append", *self.conf]
        done = subprocess.run(load, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        if done.returncode: raise RuntimeError(done.stderr.decode())
        local = os.path.join(self.folder, "local")
        subprocess.run([self.silt, "load", file, "--into", local, "--mode", "append"], check=True, stdout=subprocess.DEVNULL)
        files = glob.glob(os.path.join(local, "**", "*.parquet"), recursive=True)
        upload = timed_python("import sys\nsys.path.append(%r)\nimport lib_remote as r\ns = r.Server('s3', %r)" % (os.path.dirname(lib_remote.__file__), dict(self.server.told, SILT_TEST_S3=self.proxy.endpoint)),
                              "for i, f in enumerate(%r):\n    r.upload(s, 'raw/%%d' %% i, open(f, 'rb').read())" % files)
        local_load = [self.silt, "load", file, "--into", local, "--mode", "append"]
        return compare(self.rounds, [("silt load to S3", load, None, None), ("silt load to the local disk", local_load, None, None), ("bare upload of the files", upload, None, None)])


def steps(silt, lineitem, rounds):
    """By name, each with its own server and proxy for as long as it runs; lineitem() gives the folder of lineitem.parquet."""
    def with_server(work):
        def step():
            bench = Bench(silt, rounds)
            try: return work(bench)
            finally: bench.close()
        return step

    def files(): return once("remote_lineitem", make_files(lineitem()))

    return {"remote_open": with_server(lambda b: b.open("commits", make_commits, COMMITS)), "remote_appended": with_server(lambda b: b.open("appended", make_appended, APPENDS)),
            "remote_scan": with_server(lambda b: b.scan(files(), False)), "remote_warm": with_server(lambda b: b.scan(files(), True)), "remote_append": with_server(lambda b: b.append(lineitem()))}
