#!/usr/bin/env python3
"""Commits through DynamoDB as Delta's S3DynamoDBLogStore makes them: the table and its entries attribute by attribute, racing processes on a server that overwrites, commits that a
writer left half done (written here by hand), and the refusal of writers that are not so configured.

What is expected is what Delta Lake's open source (storage-s3-dynamodb) and its documentation, "Multi-cluster setup", say."""
import contextlib, json, os, re, subprocess, sys, tempfile, time
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib_remote as remote
from lib_overwriting_s3 import Overwriting

WRITERS, COMMITS = 4, 6
UUID = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"


class World:
    """A server that overwrites, the endpoint of a DynamoDB, and a table in them."""

    def __init__(self, s3, dynamodb, name):
        self.s3, self.dynamodb, self.table, self.location = s3, dynamodb, "silt_%s_%d" % (name, os.getpid()), "s3a://lake/" + name
        self.log = "/lake/%s/_delta_log/" % name

    def conf(self):
        prefix = "spark.io.delta.storage.S3DynamoDBLogStore.ddb."
        return {"fs.s3a.endpoint": self.s3.endpoint, "fs.s3a.endpoint.region": "us-east-1", "fs.s3a.access.key": "a", "fs.s3a.secret.key": "b",
                "spark.delta.logStore.s3a.impl": "io.delta.storage.S3DynamoDBLogStore", prefix + "region": "us-east-1", prefix + "tableName": self.table,
                "silt.s3.dynamodb.endpoint": self.dynamodb}

    def begin(self, sql, without=()):
        conf = {k: v for k, v in self.conf().items() if k not in without}
        words = [remote.SILT, "sql", "--format", "jsonl"] + [w for kv in conf.items() for w in ("--conf", "%s=%s" % kv)] + [sql.replace("TABLE_", "delta.`%s`" % self.location)]
        return subprocess.Popen(words, env=dict(os.environ, HOME=tempfile.gettempdir()), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def silt(self, sql, without=()):
        """(status, rows, stderr)"""
        with self.begin(sql, without) as p: out, err = p.communicate(timeout=120)
        return p.returncode, [json.loads(line) for line in out.splitlines() if line], err

    def must(self, sql):
        status, rows, err = self.silt(sql)
        assert status == 0, "%s: %s" % (sql, err)
        return rows

    def call(self, target, **body):
        headers = {"X-Amz-Target": "DynamoDB_20120810." + target, "Content-Type": "application/x-amz-json-1.0", "X-Amz-Date": time.strftime("%Y%m%dT%H%M%SZ", time.gmtime()),
                   "Authorization": "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0"}
        status, _, answer = remote.request("POST", self.dynamodb + "/", headers, json.dumps(dict(body, TableName=self.table)).encode())
        assert status == 200, "%s: %s" % (target, answer)
        return json.loads(answer)

    def items(self): return sorted(self.call("Scan")["Items"], key=lambda i: i["fileName"]["S"])

    def commits(self): return sorted(k for k in self.s3.objects if re.fullmatch(re.escape(self.log) + r"\d{20}\.json", k))

    def undo(self, item, keeps_object):
        """As its writer would have left the newest commit if it had died after the entry was put, or after the object was."""
        if not keeps_object: del self.s3.objects[self.log + item["fileName"]["S"]]
        self.call("PutItem", Item={k: v for k, v in dict(item, complete={"S": "false"}).items() if k != "expireTime"})


@contextlib.contextmanager
def world(dynamodb, name):
    with Overwriting() as s3: yield World(s3, dynamodb, name)


def entries(dynamodb):
    with world(dynamodb, "entries") as w:
        before = time.time()
        w.must("CREATE TABLE TABLE_ (id INT) USING delta; INSERT INTO TABLE_ VALUES (1); INSERT INTO TABLE_ VALUES (2)")
        made = w.call("DescribeTable")["Table"]
        problems = []
        if made["KeySchema"] != [{"AttributeName": "tablePath", "KeyType": "HASH"}, {"AttributeName": "fileName", "KeyType": "RANGE"}]: problems.append("keys: %s" % made["KeySchema"])
        if (made["ProvisionedThroughput"]["ReadCapacityUnits"], made["ProvisionedThroughput"]["WriteCapacityUnits"]) != (5, 5): problems.append("throughput: %s" % made)
        items = w.items()
        if [i["fileName"]["S"] for i in items] != ["%020d.json" % v for v in range(3)]: problems.append("file names: %s" % items)
        for i in items:
            name = i["fileName"]["S"]
            if {k: list(v) for k, v in i.items()} != {"tablePath": ["S"], "fileName": ["S"], "tempPath": ["S"], "complete": ["S"], "expireTime": ["N"]}: problems.append("attributes: %s" % i)
            if i["tablePath"]["S"] != w.location or i["complete"]["S"] != "true": problems.append("values: %s" % i)
            if not re.fullmatch(re.escape(".tmp/%s." % name) + UUID, i["tempPath"]["S"]): problems.append("temporary path: %s" % i)
            if not before + 86400 - 2 <= int(i["expireTime"]["N"]) <= time.time() + 86400 + 2: problems.append("expires: %s" % i)
            if w.s3.objects[w.log + name] != w.s3.objects[w.log + i["tempPath"]["S"]]: problems.append("%s differs from its temporary file" % name)
    return problems


def racing_processes(dynamodb):
    with world(dynamodb, "racing") as w:
        w.must("CREATE TABLE TABLE_ (id INT) USING delta")
        writers = [w.begin(";".join("INSERT INTO TABLE_ VALUES (%d)" % (n * 100 + i) for i in range(COMMITS))) for n in range(WRITERS)]
        failures = [p.communicate(timeout=240)[1] for p in writers]
        problems = [f for p, f in zip(writers, failures) if p.returncode]
        rows = sorted(r["id"] for r in w.must("SELECT id FROM TABLE_"))
        if rows != sorted(n * 100 + i for n in range(WRITERS) for i in range(COMMITS)): problems.append("rows: %s" % rows)
        if len(w.commits()) != WRITERS * COMMITS + 1: problems.append("commits: %d" % len(w.commits()))
        if len(w.items()) != WRITERS * COMMITS + 1 or any(i["complete"]["S"] != "true" for i in w.items()): problems.append("entries: %s" % w.items())
    return problems


def half_done(dynamodb, name, keeps_object, next_statement, rows_after):
    with world(dynamodb, name) as w:
        w.must("CREATE TABLE TABLE_ (id INT) USING delta; INSERT INTO TABLE_ VALUES (1); INSERT INTO TABLE_ VALUES (2)")
        newest, bytes_before = w.items()[-1], w.s3.objects[w.commits()[-1]]
        w.undo(newest, keeps_object)
        w.must(next_statement)
        problems = []
        if w.s3.objects.get(w.log + newest["fileName"]["S"]) != bytes_before: problems.append("the commit is not what it was")
        done = {i["fileName"]["S"]: i for i in w.items()}[newest["fileName"]["S"]]
        if done["complete"]["S"] != "true" or "expireTime" not in done or done["tempPath"] != newest["tempPath"]: problems.append("the entry: %s" % done)
        rows = sorted(r["id"] for r in w.must("SELECT id FROM TABLE_"))
        if rows != rows_after: problems.append("rows: %s" % rows)
    return problems


def a_reader_completes_a_commit(dynamodb): return half_done(dynamodb, "reader", False, "SELECT * FROM TABLE_", [1, 2])
def a_writer_completes_a_commit(dynamodb): return half_done(dynamodb, "writer", False, "INSERT INTO TABLE_ VALUES (3)", [1, 2, 3])
def a_reader_acknowledges_a_commit(dynamodb): return half_done(dynamodb, "acknowledged", True, "SELECT * FROM TABLE_", [1, 2])


def others_refuse_to_write(dynamodb):
    """A writer by conditional PUT, or by none, would pass by the guard; it may read."""
    problems = []
    with world(dynamodb, "mismatch") as w:
        w.must("CREATE TABLE TABLE_ (id INT) USING delta; INSERT INTO TABLE_ VALUES (1)")
        for key in [k for k in w.s3.objects if "/.tmp/" in k]: del w.s3.objects[key]  # as a rule of the bucket does that cleans up
        before = dict(w.s3.objects)
        for way in ("", "SET silt.s3.commit=single-writer;"):
            status, _, err = w.silt(way + "INSERT INTO TABLE_ VALUES (2)", without=("spark.delta.logStore.s3a.impl",))
            if status != 1 or "DynamoDB" not in err: problems.append("%s: status %d, %s" % (way, status, err))
        if {k: v for k, v in w.s3.objects.items() if "_delta_log" in k} != {k: v for k, v in before.items() if "_delta_log" in k}: problems.append("the log was touched")
        status, rows, err = w.silt("SELECT id FROM TABLE_", without=("spark.delta.logStore.s3a.impl",))
        if status or rows != [{"id": 1}]: problems.append("reading: %s %s" % (rows, err))
    return problems


def main():
    results = remote.Results()
    tests = (entries, racing_processes, a_reader_completes_a_commit, a_writer_completes_a_commit, a_reader_acknowledges_a_commit, others_refuse_to_write)
    try: dynamodb = remote.server("dynamodb").dynamodb
    except remote.Missing as e:
        for test in tests: results.skip("dynamodb/" + test.__name__, e)
        return
    for test in tests: results.run("dynamodb/" + test.__name__, test, dynamodb)
    results.exit()


if __name__ == "__main__": main()
