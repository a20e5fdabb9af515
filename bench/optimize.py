"""Compacting 10,000 small files: Silt against deltalake.

  compact_10000   ten partitions of 1,000 files with 100 rows each (3.6 kB a file), written by 100 commits of 100 files
"""
import json
import os
import shutil
import subprocess
import tempfile
import uuid

from measuring import DATA, compare, expect, once, timed_python

GOALS = {"compact_10000": "deltalake / silt ≥ 2.5"}
FILES, PARTITIONS, ROWS, COMMITS = 10000, 10, 100, 100


def small_files(path):
    import pyarrow as pa
    import pyarrow.parquet as pq
    table = os.path.join(path, "t")
    os.makedirs(table + "/_delta_log")
    fields = (("id", "long"), ("p", "integer"), ("at", "timestamp"), ("name", "string"), ("v", "double"))
    schema = {"type": "struct", "fields": [{"name": n, "type": t, "nullable": True, "metadata": {}} for n, t in fields]}
    adds = []
    for i in range(FILES):
        ids = range(i * ROWS, (i + 1) * ROWS)
        rows = pa.table({"id": pa.array(ids, pa.int64()), "at": pa.array([1700000000000000 + 1000000 * x for x in ids], pa.timestamp("us", tz="UTC")), "name": ["name %d" % (x % 997) for x in ids],
                         "v": pa.array([x / 7 for x in ids], pa.float64())})
        name = "p=%d/part-%05d-%s.c000.snappy.parquet" % (i % PARTITIONS, i % 100, uuid.uuid4())
        os.makedirs(os.path.join(table, os.path.dirname(name)), exist_ok=True)
        pq.write_table(rows, os.path.join(table, name))
        stats = {"numRecords": ROWS, "minValues": {"id": ids[0]}, "maxValues": {"id": ids[-1]}, "nullCount": {n: 0 for n, _ in fields if n != "p"}}
        adds.append({"add": {"path": name, "partitionValues": {"p": str(i % PARTITIONS)}, "size": os.path.getsize(os.path.join(table, name)), "modificationTime": 1700000000000, "dataChange": True, "stats": json.dumps(stats)}})
    for v in range(COMMITS):
        actions = [{"commitInfo": {"timestamp": 1700000000000 + v, "operation": "WRITE", "operationParameters": {"mode": "Append"}}}]
        if v == 0:
            actions += [{"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
                        {"metaData": {"id": str(uuid.uuid4()), "format": {"provider": "parquet", "options": {}}, "schemaString": json.dumps(schema), "partitionColumns": ["p"], "configuration": {}, "createdTime": 1700000000000}}]
        with open(table + "/_delta_log/%020d.json" % v, "w") as f:
            f.write("".join(json.dumps(a) + "\n" for a in actions + adds[v * FILES // COMMITS:(v + 1) * FILES // COMMITS]))


def fresh_copy(made, work, name):
    """A table of its own for one run: data files are links, since nothing writes into them."""
    def copy():
        shutil.rmtree(os.path.join(work, name), ignore_errors=True)
        shutil.copytree(os.path.join(made, "t"), os.path.join(work, name), copy_function=os.link)
    return copy


def compact(silt, rounds):
    made = once("compact_10000", small_files)
    work = tempfile.mkdtemp(dir=DATA)
    sums = "SELECT count(*), sum(id), count(DISTINCT _metadata.file_path) FROM delta.`%s/silt`" % work

    def check_silt(out):
        got = subprocess.run([silt, "sql", sums, "--format", "jsonl"], stdout=subprocess.PIPE, check=True).stdout.decode()
        expect("rows, sum, files", list(json.loads(got).values()), [FILES * ROWS, FILES * ROWS * (FILES * ROWS - 1) // 2, PARTITIONS])

    def check_peer(out):
        expect("files", out.split()[0], str(PARTITIONS))
    try:
        peer = timed_python("from deltalake import DeltaTable", "t = DeltaTable('%s/rs')\nprint(t.optimize.compact()['numFilesAdded'])" % work)
        return compare(rounds, [("silt", [silt, "sql", "OPTIMIZE delta.`%s/silt`" % work], fresh_copy(made, work, "silt"), check_silt), ("deltalake", peer, fresh_copy(made, work, "rs"), check_peer)])
    finally:
        shutil.rmtree(work, ignore_errors=True)


def steps(silt, rounds):
    """{name: run}"""
    return {"compact_10000": lambda: compact(silt, rounds)}
