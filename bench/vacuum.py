"""VACUUM of a table of 1,000,000 files in a checkpoint with 1,100,000 files on disk: what a dry run over all of them costs.

  vacuum_dry_run   lists 1,100,000 files in 1,000 partitions, finds the 100,000 that no version needs, removes nothing
"""
import glob
import json
import os
import random
import time

from measuring import compare, expect, once, timed_python

FILES, ORPHANS, PARTITIONS, COMMITS = 1000000, 100000, 1000, 10
AGE = 30 * 86400
GOALS = {"vacuum_dry_run": "< 10 s, peak < 500 MB"}
SCHEMA = {"type": "struct", "fields": [{"name": n, "type": t, "nullable": True, "metadata": {}} for n, t in (("id", "long"), ("part", "integer"))]}


def touch(path, when):
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o644))
    os.utime(path, (when, when))


def file_name(rng, i):
    h = "%032x" % rng.getrandbits(128)
    return "part-%05d-%s-%s-4%s-8%s-%s.c000.snappy.parquet" % (i % 100000, h[:8], h[8:12], h[13:16], h[17:20], h[20:])


def add_line(path, partition, n, ms):
    stats = json.dumps({"numRecords": 1000, "minValues": {"id": n}, "maxValues": {"id": n + 999}, "nullCount": {"id": 0}})
    return json.dumps({"add": {"path": path, "partitionValues": {"part": str(partition)}, "size": 65536, "modificationTime": ms, "dataChange": True, "stats": stats}}, separators=(",", ":"))


def make_table(path):
    from deltalake import DeltaTable
    rng = random.Random(1)
    when = int(time.time()) - AGE
    log = os.path.join(path, "_delta_log")
    os.makedirs(log)
    for p in range(PARTITIONS):
        os.makedirs(os.path.join(path, "part=%d" % p))
    for c in range(COMMITS):
        lines = [json.dumps({"commitInfo": {"timestamp": when * 1000, "operation": "WRITE", "operationParameters": {"mode": "Append", "partitionBy": "[]"}}})]
        if c == 0:
            lines.append('{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}')
            lines.append(json.dumps({"metaData": {"id": "5c1d2f0e-0000-4000-8000-000000000002", "format": {"provider": "parquet", "options": {}}, "schemaString": json.dumps(SCHEMA, separators=(",", ":")), "partitionColumns": ["part"], "configuration": {}, "createdTime": when * 1000}}))
        for i in range(c * FILES // COMMITS, (c + 1) * FILES // COMMITS):
            name = "part=%d/%s" % (i % PARTITIONS, file_name(rng, i))
            touch(os.path.join(path, name), when)
            lines.append(add_line(name, i % PARTITIONS, i * 1000, when * 1000))
        with open(os.path.join(log, "%020d.json" % c), "w") as f:
            f.write("\n".join(lines) + "\n")
    for i in range(ORPHANS):
        touch(os.path.join(path, "part=%d/%s" % (i % PARTITIONS, file_name(rng, i))), when)
    DeltaTable(path).create_checkpoint()
    for f in sorted(glob.glob(os.path.join(log, "*.json")))[:-1]:
        os.remove(f)
    for f in glob.glob(os.path.join(log, "*")):
        os.utime(f, (when, when))


def dry_run(silt, rounds):
    path = once("vacuum_1m", make_table)

    def check_silt(out):
        expect("files", len(out.splitlines()) - 1, ORPHANS)

    def check_delta(out):
        expect("files", int(out.split()[0]), ORPHANS)
    code = timed_python("from deltalake import DeltaTable", "print(len(DeltaTable(%r).vacuum(dry_run=True, full=True)))" % path)
    return compare(rounds, [("silt", [silt, "sql", "VACUUM '%s' DRY RUN" % path, "--format", "csv"], None, check_silt), ("deltalake", code, None, check_delta)])


def steps(silt, rounds):
    """{name: run}"""
    return {"vacuum_dry_run": lambda: dry_run(silt, rounds)}
