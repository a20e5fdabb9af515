"""CONVERT TO DELTA: 10,000 Parquet files of 100 rows in 400 partitions, six columns (a double and strings among them).

  convert            the statement, statistics exact: what the footers do not tell is asked of the data
  convert_footer     the same with silt.convert.stats=footer: nothing but footers is read
  convert_none       NO STATISTICS

Peer: Spark with Delta in local[2], of which the statement alone is timed in a session that has converted a small folder before; Silt's time is that of its process. deltalake has
convert_to_deltalake, which collects no statistics: it is the peer of convert_none.
"""
import os
import shutil
import subprocess
import tempfile

from measuring import DATA, compare, expect, once, timed_python

GOALS = {"convert": "Spark / silt ≥ 5", "convert_footer": "Spark / silt ≥ 5", "convert_none": "Spark / silt ≥ 5"}
PARTITIONS, FILES = 400, 25


def folder():
    def make(path):
        import pyarrow as pa
        import pyarrow.parquet as pq
        for p in range(PARTITIONS):
            os.makedirs("%s/t/p=%d" % (path, p))
            for f in range(FILES):
                n = (p * FILES + f) * 100
                t = pa.table({"id": pa.array(range(n, n + 100), pa.int64()), "day": pa.array([p] * 100, pa.int32()), "name": ["name %d" % i for i in range(n, n + 100)],
                              "amount": [i / 7 for i in range(n, n + 100)], "at": pa.array([1700000000000000 + i * 1000001 for i in range(n, n + 100)], pa.timestamp("us", tz="UTC")), "kind": ["abc"[i % 3] for i in range(100)]})
                pq.write_table(t, "%s/t/p=%d/part-%05d.parquet" % (path, p, f))
    return once("convert", make)


def fresh_copy(made, work, name):
    """Data files are links: nothing writes into them."""
    def copy():
        shutil.rmtree(os.path.join(work, name), ignore_errors=True)
        shutil.copytree(os.path.join(made, "t"), os.path.join(work, name), copy_function=os.link)
    return copy


def statement(path, clause):
    return "CONVERT TO DELTA parquet.`%s` %s PARTITIONED BY (p INT)" % (path, clause)


def spark(work, clause, services):
    """The peer of tests/interop; None where it is not set up."""
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "interop")
    python = os.path.join(services, "venv", "bin", "python")
    if not os.path.exists(python):
        return None
    before = ("import sys, os\nsys.path.insert(0, %r)\nimport spark_peer\nspark = spark_peer.session()\nspark.range(10).write.mode('overwrite').parquet('%s/warm')\nspark.sql('CONVERT TO DELTA parquet.`%s/warm`')"
              % (here, work, work))
    return [python] + timed_python(before, "spark.sql(%r)" % statement(os.path.join(work, "spark"), clause))[1:]


def contest(silt, rounds, clause="", mode="exact"):
    work = tempfile.mkdtemp(dir=DATA)
    made = folder()
    services = os.environ.get("SILT_SERVICES") or os.path.expanduser("~/.cache/silt/services")

    def check(out):
        count = subprocess.run([silt, "sql", "SELECT count(*), max(id) FROM delta.`%s/silt`" % work, "--format", "csv"], stdout=subprocess.PIPE, check=True).stdout.decode().split()[-1]
        expect("rows", count, "1000000,999999")

    def fresh_spark():
        shutil.rmtree(os.path.join(work, "warm"), ignore_errors=True)
        fresh_copy(made, work, "spark")()
    contestants = [("silt", [silt, "sql", "--conf", "silt.convert.stats=" + mode, statement(os.path.join(work, "silt"), clause)], fresh_copy(made, work, "silt"), check)]
    peer = spark(work, clause, services)
    if peer:
        contestants.append(("Spark, the statement", peer, fresh_spark, None))
    if clause:
        code = "convert_to_deltalake('%s/rs', partition_by=pa.schema([('p', pa.int32())]), partition_strategy='hive')" % work
        contestants.append(("deltalake", timed_python("import pyarrow as pa\nfrom deltalake import convert_to_deltalake", code), fresh_copy(made, work, "rs"), None))
    try:
        return compare(rounds, contestants)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def steps(silt, rounds):
    return {"convert": lambda: contest(silt, rounds), "convert_footer": lambda: contest(silt, rounds, mode="footer"), "convert_none": lambda: contest(silt, rounds, "NO STATISTICS")}
