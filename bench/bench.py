#!/usr/bin/env python3
"""Times Silt and its peers in turn, each in a process of its own, and prints ratios with peak memory (/usr/bin/time -v).

usage: bench.py [--silt PATH] [--only NAME] [--rounds N] [--record]

  open_json        a log of 1,000,000 files in 1,000 JSON commits (524 MB): silt show against deltalake
  open_checkpoint  the same table from one checkpoint
  append           TPC-H lineitem SF1 (6,001,215 rows of Parquet) appended: silt load against DuckDB's COPY and deltalake
  small_appends    20 appends of 10 rows, one process each
  start            silt sql "SELECT 1", warm
  merge_cow …      row-level changes: see row_changes.py
  vacuum_dry_run   a dry run over 1,100,000 files: see vacuum.py
  compact_10000    many small files: see optimize.py
  convert …        CONVERT TO DELTA: see convert.py
  zorder …         Z-order: see zorder.py
  remote_open …    tables on S3, 20 ms away: see remote.py (servers of tests/services)

The rounds alternate; the least time of each counts (the machine is shared), and its peak. Ratios matter, not seconds.
"""
import argparse
import datetime
import glob
import json
import os
import platform
import random
import shutil
import subprocess
import sys
import tempfile

import convert
import optimize
import remote
import row_changes
import vacuum
import zorder
from measuring import DATA, compare, expect, once, python

HERE = os.path.dirname(os.path.abspath(__file__))
FILES, COMMITS = 1000000, 1000


# ---- data ---------------------------------------------------------------------------------------------------------------------

SCHEMA = {"type": "struct", "fields": [{"name": n, "type": t, "nullable": True, "metadata": {}} for n, t in
          [("id", "long"), ("name", "string"), ("amount", "decimal(10,2)"), ("at", "timestamp"), ("day", "date")]]}


def make_log(path):
    rng = random.Random(1)
    log = os.path.join(path, "_delta_log")
    os.makedirs(log)
    per = FILES // COMMITS
    for c in range(COMMITS):
        now = 1700000000000 + c * 60000
        day = (datetime.date(2023, 1, 1) + datetime.timedelta(days=c)).isoformat()
        lines = [json.dumps({"commitInfo": {"timestamp": now, "operation": "WRITE", "operationParameters": {"mode": "Append", "partitionBy": "[]"}, "isolationLevel": "Serializable", "isBlindAppend": True,
                                            "operationMetrics": {"numFiles": str(per), "numOutputRows": str(per * 1000), "numOutputBytes": str(per * 65536)}, "engineInfo": "Apache-Spark/4.1.2 Delta-Lake/4.3.1", "txnId": "%032x" % rng.getrandbits(128)}}, separators=(",", ":"))]
        if c == 0:
            lines.append('{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}')
            lines.append(json.dumps({"metaData": {"id": "5c1d2f0e-0000-4000-8000-000000000001", "format": {"provider": "parquet", "options": {}}, "schemaString": json.dumps(SCHEMA, separators=(",", ":")), "partitionColumns": ["day"], "configuration": {"delta.checkpointInterval": "100000"}, "createdTime": now}}, separators=(",", ":")))
        for i in range(per):
            n = (c * per + i) * 1000
            h = "%032x" % rng.getrandbits(128)
            uuid = "%s-%s-4%s-8%s-%s" % (h[:8], h[8:12], h[13:16], h[17:20], h[20:])
            stats = ('{\\"numRecords\\":1000,\\"minValues\\":{\\"id\\":%d,\\"name\\":\\"customer#%09d\\",\\"amount\\":%d.25,\\"at\\":\\"%sT00:00:%02d.000Z\\"},\\"maxValues\\":{\\"id\\":%d,\\"name\\":\\"customer#%09d\\",\\"amount\\":%d.75,\\"at\\":\\"%sT23:59:%02d.999Z\\"},'
                     '\\"nullCount\\":{\\"id\\":0,\\"name\\":%d,\\"amount\\":0,\\"at\\":0}}') % (n, n, i, day, i % 60, n + 999, n + 999, 10000 + i, day, i % 60, i % 7)
            lines.append('{"add":{"path":"day=%s/part-%05d-%s.c000.snappy.parquet","partitionValues":{"day":"%s"},"size":%d,"modificationTime":%d,"dataChange":true,"stats":"%s"}}' % (day, i, uuid, day, 60000 + rng.getrandbits(13), now, stats))
        with open(os.path.join(log, "%020d.json" % c), "w") as f:
            f.write("\n".join(lines) + "\n")


def make_checkpointed(path):
    from deltalake import DeltaTable
    source = os.path.join(DATA, "log_json")
    work = os.path.join(path, "_delta_log")
    shutil.copytree(os.path.join(source, "_delta_log"), work)
    DeltaTable(path).create_checkpoint()
    for f in sorted(glob.glob(os.path.join(work, "*.json")))[:-1]:
        os.remove(f)


def make_lineitem(path):
    import duckdb
    import duckdb_extension_tpch
    extension = glob.glob(os.path.join(os.path.dirname(duckdb_extension_tpch.__file__), "extensions", "**", "*.duckdb_extension"), recursive=True)[0]
    con = duckdb.connect(config={"allow_unsigned_extensions": "true", "temp_directory": path})
    con.execute("LOAD '%s'" % extension)
    con.execute("CALL dbgen(sf=1)")
    con.execute("COPY lineitem TO '%s/lineitem.parquet' (FORMAT parquet)" % path)


# ---- measuring ----------------------------------------------------------------------------------------------------------------

def opening(silt, path, version, rounds):
    def check_silt(out):
        s = json.loads(out)
        expect("version", s["version"], version)
        expect("numFiles", s["numFiles"], FILES)
        expect("numRecords", s["numRecords"], FILES * 1000)

    def check_delta(out):
        expect("answer", out.split(), [str(version), str(FILES)])
    return compare(rounds, [("silt schema (opens only, as deltalake here)", [silt, "schema", path, "--format", "json"], None, None),
                            ("silt show (counts rows too)", [silt, "show", path, "--format", "json"], None, check_silt),
                            ("deltalake", python("from deltalake import DeltaTable\nt = DeltaTable(%r)\nprint(t.version(), len(t.file_uris()))" % path), None, check_delta)])


def appending(silt, lineitem, rounds):
    work = tempfile.mkdtemp(dir=DATA)
    file = os.path.join(lineitem, "lineitem.parquet")
    fresh = lambda name: (lambda: shutil.rmtree(os.path.join(work, name), ignore_errors=True))
    os.makedirs(os.path.join(work, "duck"))
    try:
        result = compare(rounds, [
            ("silt load", [silt, "load", file, "--into", os.path.join(work, "silt"), "--mode", "append"], fresh("silt"), None),
            ("silt INSERT", [silt, "sql", "CREATE TABLE delta.`%s` USING DELTA AS SELECT * FROM parquet.`%s`" % (os.path.join(work, "ctas"), file)], fresh("ctas"), None),
            ("DuckDB COPY", python("import duckdb\ncon = duckdb.connect()\ncon.execute(\"COPY (SELECT * FROM '%s') TO '%s/duck/out.parquet' (FORMAT parquet)\")" % (file, work)), None, None),
            ("DuckDB COPY, synced", python("import duckdb, os\ncon = duckdb.connect()\ncon.execute(\"COPY (SELECT * FROM '%s') TO '%s/duck/out2.parquet' (FORMAT parquet)\")\nfd = os.open('%s/duck/out2.parquet', os.O_RDONLY)\nos.fsync(fd)" % (file, work, work)), None, None),
            ("deltalake", python("import pyarrow.parquet as pq, pyarrow as pa\nfrom deltalake import write_deltalake\nf = pq.ParquetFile(%r)\nwrite_deltalake('%s/rs', pa.RecordBatchReader.from_batches(f.schema_arrow, f.iter_batches(122880)), mode='append')" % (file, work)), fresh("rs"), None)])
        for name, folder in (("silt load", "silt"), ("silt INSERT", "ctas")):
            if not isinstance(result[name], str):
                rows = subprocess.run([silt, "sql", "SELECT count(*), sum(l_quantity) FROM delta.`%s`" % os.path.join(work, folder), "--format", "csv"], stdout=subprocess.PIPE).stdout.decode()
                if "6001215" not in rows:
                    result[name] = "wrote other rows: " + rows[:100]
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return result


def small(silt, rounds):
    work = tempfile.mkdtemp(dir=DATA)
    values = ",".join("(%d,'v')" % i for i in range(10))
    t = "delta.`%s/silt`" % work
    loop = "set -e\nfor i in $(seq 20); do %s sql \"INSERT INTO %s VALUES %s\" >/dev/null; done" % (silt, t.replace("`", "\\`"), values)
    fresh = lambda: (shutil.rmtree(work + "/silt", ignore_errors=True), subprocess.run([silt, "sql", "CREATE TABLE %s (id INT, v STRING) USING DELTA" % t], stdout=subprocess.PIPE, check=True))
    try:
        return compare(rounds, [("silt, a process each", ["bash", "-c", loop], fresh, None),
                                ("deltalake, one process", python("import pyarrow as pa\nfrom deltalake import write_deltalake\nfor i in range(20): write_deltalake('%s/rs', pa.table({'id': pa.array(range(10), pa.int32()), 'v': ['v'] * 10}), mode='append')" % work), lambda: shutil.rmtree(work + "/rs", ignore_errors=True), None)])
    finally:
        shutil.rmtree(work, ignore_errors=True)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--silt", default=os.environ.get("SILT", os.path.join(HERE, "..", "build", "silt")))
    ap.add_argument("--only")
    ap.add_argument("--rounds", type=int, default=3)
    ap.add_argument("--record", action="store_true")
    a = ap.parse_args()
    a.silt = os.path.abspath(a.silt)
    os.makedirs(DATA, exist_ok=True)
    steps = {"open_json": lambda: opening(a.silt, once("log_json", make_log), COMMITS - 1, a.rounds),
             "open_checkpoint": lambda: (once("log_json", make_log), opening(a.silt, once("log_checkpoint", make_checkpointed), COMMITS - 1, a.rounds))[1],
             "append": lambda: appending(a.silt, once("lineitem", make_lineitem), a.rounds),
             "small_appends": lambda: small(a.silt, a.rounds),
             "start": lambda: compare(max(5, a.rounds), [("silt SELECT 1", [a.silt, "sql", "SELECT 1"], None, None), ("python + duckdb SELECT 1", python("import duckdb\nduckdb.connect().execute('SELECT 1').fetchall()"), None, None)])}
    steps.update(row_changes.steps(a.silt, lambda: once("lineitem", make_lineitem), a.rounds))
    steps.update(vacuum.steps(a.silt, a.rounds))
    steps.update(optimize.steps(a.silt, a.rounds))
    steps.update(convert.steps(a.silt, a.rounds))
    steps.update(zorder.steps(a.silt, lambda: once("lineitem", make_lineitem), a.rounds))
    steps.update(remote.steps(a.silt, lambda: once("lineitem", make_lineitem), a.rounds))
    goals = {"open_json": "deltalake / silt ≥ 10, peak < 400 MB", "open_checkpoint": "deltalake / silt ≥ 6, peak < 300 MB", "append": "silt / DuckDB COPY ≤ 1.2", "small_appends": "", "start": "< 0.1 s", **row_changes.GOALS, **vacuum.GOALS, **optimize.GOALS, **convert.GOALS, **zorder.GOALS, **remote.GOALS}
    lines = ["| run | who | seconds | peak MB | peer's time / Silt's |", "|---|---|---|---|---|"]
    failed = False
    for name, step in steps.items():
        if a.only and a.only != name:
            continue
        result = step()
        ours = [v for k, v in result.items() if k.startswith("silt") and not isinstance(v, str)]
        for who, r in result.items():
            if isinstance(r, str):
                failed |= who.startswith("silt")
                lines.append("| %s | %s | failed: %s | | |" % (name, who, " ".join(r.split())[:160].replace("|", "/")))
            else:
                ratio = "" if who.startswith("silt") or not ours else "%.2f" % (r[0] / min(o[0] for o in ours))
                lines.append("| %s | %s | %.*f | %.0f | %s |" % (name, who, 3 if r[0] < 0.2 else 2, r[0], r[1], ratio))
        print("\n".join(lines[-len(result):]) + ("   (goal: %s)" % goals[name] if goals[name] else ""))
        sys.stdout.flush()
    if a.record:
        cpu = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.machine())
        load = os.getloadavg()[0]
        with open(os.path.join(HERE, "RESULTS.md"), "w", encoding="utf-8") as f:
            f.write("# Measured\n\nMade by `make bench` (bench.py --record): %s, %s, %d cores, load average %.1f at the end; deltalake 1.6.6, DuckDB 1.5.5 (Python). The least of %d alternating rounds; peak is the\n"
                    "resident size of the whole process. Seconds differ from machine to machine: compare the ratios.\n\nGoals: %s.\n\n%s\n" %
                    (datetime.date.today().isoformat(), cpu, os.cpu_count(), load, a.rounds, "; ".join("%s: %s" % g for g in goals.items() if g[1]), "\n".join(lines)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
