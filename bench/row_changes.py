"""Row-level changes of TPC-H lineitem SF1 (6,001,215 rows): Silt against deltalake, and against DuckDB's plain rewrite of the same rows, which bounds copy-on-write.

  merge_cow, delete_cow, update_cow   one file of 207 MB, rewritten
  merge_dv, delete_dv, update_dv      the same with deletion vectors (deltalake has none: its copy-on-write is the peer)
  merge_sorted                        the table as 200 files sorted by key: a MERGE into 4 of them
  merge_partitions                    400 partitions: a MERGE into 2 of them
  merge_memory                        60 million rows (2 GB), a source of 15 million, under silt.memory.limit=2GB: it spills and finishes
  appends                             200 appends of 10 rows by one process, each durable
"""
import os
import re
import shutil
import subprocess
import tempfile

from measuring import DATA, compare, expect, once, timed_python

GOALS = {"merge_cow": "deltalake / silt ≥ 1.4, silt / rewrite ≤ 1.15", "delete_cow": "deltalake / silt ≥ 1.4, silt / rewrite ≤ 1.15", "update_cow": "silt / rewrite ≤ 1.15",
         "merge_dv": "deltalake / silt ≥ 8", "delete_dv": "deltalake / silt ≥ 10", "update_dv": "deltalake / silt ≥ 8", "merge_sorted": "costs what the touched files cost",
         "merge_partitions": "costs what the 2 cost", "merge_memory": "peak < 2.5 GB",
         "appends": "deltalake / silt ≥ 6"}

DELETE, UPDATE = "l_suppkey % 16 = 3", "l_suppkey % 50 = 7"  # 6 % and 2 %, all over the table
ON = "t.l_orderkey = s.l_orderkey AND t.l_linenumber = s.l_linenumber"


# ---- tables and sources -------------------------------------------------------------------------------------------------------

def run_silt(silt, *statements):
    subprocess.run([silt, "sql", ";\n".join(statements)], stdout=subprocess.PIPE, check=True)


def plain_table(silt, lineitem, dv):
    properties = "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')" if dv else ""
    return once("changes_dv" if dv else "changes_cow", lambda path: run_silt(silt, "CREATE TABLE delta.`%s/t` USING DELTA %s AS SELECT * FROM parquet.`%s/lineitem.parquet`" % (path, properties, lineitem)))


def sorted_table(silt, lineitem):
    return once("changes_sorted", lambda path: run_silt(silt, "SET spark.sql.files.maxRecordsPerFile = 30007",
                                                         "CREATE TABLE delta.`%s/t` USING DELTA AS SELECT * FROM parquet.`%s/lineitem.parquet` ORDER BY l_orderkey, l_linenumber" % (path, lineitem)))


def partitioned_table(silt, lineitem):
    return once("changes_partitioned", lambda path: run_silt(silt, "CREATE TABLE delta.`%s/t` USING DELTA PARTITIONED BY (part) AS SELECT *, CAST(l_suppkey %% 400 AS INT) AS part FROM parquet.`%s/lineitem.parquet`" % (path, lineitem)))


def sources(lineitem):
    """Parquet files of what is merged: changed rows, and fewer new ones, with keys that lineitem leaves free (8 of 32 are used)."""
    def make(path):
        import duckdb
        con = duckdb.connect()
        base = "'%s/lineitem.parquet'" % lineitem
        changed = "SELECT * REPLACE (l_quantity + 1 AS l_quantity, 'changed' AS l_comment) %s FROM " + base + " WHERE %s"
        fresh = "SELECT * REPLACE (l_orderkey + 16 AS l_orderkey) %s FROM " + base + " WHERE %s"
        for name, more, old, new in (("spread", "", "l_partkey % 32 = 5", "l_partkey % 320 = 7"), ("near", "", "l_orderkey BETWEEN 3000000 AND 3090000 AND l_partkey % 4 = 1", "l_orderkey BETWEEN 3000000 AND 3010000 AND l_partkey % 8 = 1"),
                                     ("parts", ", CAST(l_suppkey % 400 AS INT) AS part", "l_suppkey % 400 IN (3, 7) AND l_partkey % 4 = 1", "l_suppkey % 400 IN (3, 7) AND l_partkey % 40 = 2")):
            con.execute("COPY (%s UNION ALL %s) TO '%s/%s.parquet' (FORMAT parquet)" % (changed % (more, old), fresh % (more, new), path, name))
    return once("changes_sources", make)


def large(lineitem, silt):
    """Ten lineitems with keys of their own, and a source of a quarter of them."""
    def make(path):
        import duckdb
        con = duckdb.connect(config={"temp_directory": path, "memory_limit": "4GB"})
        con.execute("SET preserve_insertion_order = false")
        ten = "(SELECT * REPLACE (l_orderkey + 10000000 * i AS l_orderkey) FROM '%s/lineitem.parquet', range(10) n(i))" % lineitem
        con.execute("COPY %s TO '%s/ten.parquet' (FORMAT parquet)" % (ten, path))
        con.execute("COPY (SELECT * REPLACE ('changed' AS l_comment) FROM '%s/ten.parquet' WHERE l_partkey %% 4 = 1) TO '%s/source.parquet' (FORMAT parquet)" % (path, path))
        run_silt(silt, "CREATE TABLE delta.`%s/t` USING DELTA AS SELECT * FROM parquet.`%s/ten.parquet`" % (path, path))
        os.remove(os.path.join(path, "ten.parquet"))
    return once("changes_large", make)


def fresh_copy(made, work, name):
    """A table of its own for one run: data files are links, since nothing writes into them."""
    def copy():
        shutil.rmtree(os.path.join(work, name), ignore_errors=True)
        shutil.copytree(os.path.join(made, "t"), os.path.join(work, name), copy_function=os.link)
    return copy


def counted(lineitem, query):
    import duckdb
    return duckdb.connect().execute(query % ("'%s/lineitem.parquet'" % lineitem)).fetchone()[0]


# ---- contestants --------------------------------------------------------------------------------------------------------------

def rewrite(select, work):
    """DuckDB alone writes the rows that copy-on-write must write, and makes them durable."""
    return timed_python("import duckdb, os\ncon = duckdb.connect()\ncon.execute('SET enable_progress_bar = false')",
                        "con.execute(%r)\nfd = os.open('%s/plain.parquet', os.O_RDONLY)\nos.fsync(fd)" % ("COPY (%s) TO '%s/plain.parquet' (FORMAT parquet)" % (select, work), work))


def silt_change(silt, work, statement, rows):
    """The statement's answer begins with the number of affected rows."""
    def check(out):
        expect("rows", out.split()[1].split(",")[0], str(rows))
    return [silt, "sql", statement % ("delta.`%s/silt`" % work), "--format", "csv"], check


def silt_call(silt, work, statement):
    """The statement as a program runs it that has opened a session: the peer's call, too, comes after its packages are loaded."""
    library = os.path.join(os.path.dirname(os.path.realpath(silt)), "..", "lib", "libsilt.so")
    before = """import ctypes
silt = ctypes.CDLL(%r)
session, stream, error = ctypes.c_void_p(), (ctypes.c_void_p * 5)(), ctypes.create_string_buffer(1 << 16)
assert silt.silt_session_open(None, ctypes.byref(session), error) == 0
def run(sql):
    assert silt.silt_query(session, sql.encode(), None, stream, error) == 0, error.raw[:1000]
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(stream[3])(stream)
run('SELECT 1')""" % os.path.abspath(library)
    return timed_python(before, "run(%r)" % (statement % ("delta.`%s/silt`" % work)))


def delta_change(work, code):
    return timed_python("import pyarrow.parquet as pq, pyarrow.dataset as ds\nfrom deltalake import DeltaTable", "t = DeltaTable('%s/rs')\n%s" % (work, code))


def merge_statement(source, condition):
    return "MERGE INTO %%s t USING parquet.`%s` s ON %s WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *" % (source, condition)


def merge_code(source, condition):
    return "t.merge(pq.read_table(%r), %r, source_alias='s', target_alias='t').when_matched_update_all().when_not_matched_insert_all().execute()" % (source, condition)


def contest(silt, rounds, made, peer_made, statement, rows, code, plain):
    """`plain`: SELECT of the rows that are rewritten, None where there is no such bound. Silt is timed as a whole process, and as what the others are timed as: a call after all is loaded."""
    work = tempfile.mkdtemp(dir=DATA)
    try:
        command, check = silt_change(silt, work, statement, rows)
        contestants = [("silt", command, fresh_copy(made, work, "silt"), check), ("silt, a call", silt_call(silt, work, statement), fresh_copy(made, work, "silt"), None)]
        if plain:
            contestants.append(("DuckDB rewrite, synced", rewrite(plain, work), None, None))
        contestants.append(("deltalake", delta_change(work, code), fresh_copy(peer_made, work, "rs"), None))
        return compare(rounds, contestants)
    finally:
        shutil.rmtree(work, ignore_errors=True)


# ---- runs ---------------------------------------------------------------------------------------------------------------------

def merging(silt, lineitem, rounds, dv):
    source = os.path.join(sources(lineitem), "spread.parquet")
    rows = counted(lineitem, "SELECT count(*) FILTER (l_partkey %% 32 = 5) + count(*) FILTER (l_partkey %% 320 = 7) FROM %s")
    plain = None if dv else "SELECT * FROM '%s/lineitem.parquet'" % lineitem
    return contest(silt, rounds, plain_table(silt, lineitem, dv), plain_table(silt, lineitem, False), merge_statement(source, ON), rows, merge_code(source, ON), plain)


def deleting(silt, lineitem, rounds, dv):
    rows = counted(lineitem, "SELECT count(*) FROM %s WHERE " + DELETE.replace("%", "%%"))
    plain = None if dv else "SELECT * FROM '%s/lineitem.parquet' WHERE NOT (%s)" % (lineitem, DELETE)
    return contest(silt, rounds, plain_table(silt, lineitem, dv), plain_table(silt, lineitem, False), "DELETE FROM %%s WHERE %s" % DELETE.replace("%", "%%"), rows, "t.delete(%r)" % DELETE, plain)


def updating(silt, lineitem, rounds, dv):
    rows = counted(lineitem, "SELECT count(*) FROM %s WHERE " + UPDATE.replace("%", "%%"))
    plain = None if dv else "SELECT * REPLACE (CASE WHEN %s THEN CAST(l_quantity + 1 AS DECIMAL(15,2)) ELSE l_quantity END AS l_quantity) FROM '%s/lineitem.parquet'" % (UPDATE, lineitem)
    return contest(silt, rounds, plain_table(silt, lineitem, dv), plain_table(silt, lineitem, False), "UPDATE %%s SET l_quantity = l_quantity + 1 WHERE %s" % UPDATE.replace("%", "%%"), rows,
                   "t.update(updates={'l_quantity': 'l_quantity + 1'}, predicate=%r)" % UPDATE, plain)


def merging_sorted(silt, lineitem, rounds):
    source = os.path.join(sources(lineitem), "near.parquet")
    rows = counted(lineitem, "SELECT count(*) FILTER (l_orderkey BETWEEN 3000000 AND 3090000 AND l_partkey %% 4 = 1) + count(*) FILTER (l_orderkey BETWEEN 3000000 AND 3010000 AND l_partkey %% 8 = 1) FROM %s")
    made = sorted_table(silt, lineitem)
    plain = "SELECT * FROM '%s/lineitem.parquet' WHERE l_orderkey BETWEEN 2980000 AND 3100000" % lineitem
    return contest(silt, rounds, made, made, merge_statement(source, ON), rows, merge_code(source, ON), plain)


def merging_partitions(silt, lineitem, rounds):
    source, condition = os.path.join(sources(lineitem), "parts.parquet"), ON + " AND t.part = s.part AND t.part IN (3, 7)"
    rows = counted(lineitem, "SELECT count(*) FILTER (l_suppkey %% 400 IN (3, 7) AND l_partkey %% 4 = 1) + count(*) FILTER (l_suppkey %% 400 IN (3, 7) AND l_partkey %% 40 = 2) FROM %s")
    made = partitioned_table(silt, lineitem)
    plain = "SELECT * FROM '%s/lineitem.parquet' WHERE l_suppkey %% 400 IN (3, 7)" % lineitem
    return contest(silt, rounds, made, made, merge_statement(source, condition), rows, merge_code(source, condition), plain)


def merging_large(silt, lineitem):
    made = large(lineitem, silt)
    work = tempfile.mkdtemp(dir=DATA)
    rows = 10 * counted(lineitem, "SELECT count(*) FROM %s WHERE l_partkey %% 4 = 1")
    command, _ = silt_change(silt, work, merge_statement(os.path.join(made, "source.parquet"), ON), rows)
    command[2] = "SET silt.memory.limit = 2GB; " + command[2]

    def check(out):
        expect("rows", str(rows) in re.findall(r"\d+", out), True)
    try:
        return compare(1, [("silt, 2 GB", command, fresh_copy(made, work, "silt"), check)])
    finally:
        shutil.rmtree(work, ignore_errors=True)


def appending(silt, rounds):
    work = tempfile.mkdtemp(dir=DATA)
    values = ",".join("(%d,'v')" % i for i in range(10))
    script = os.path.join(work, "appends.sql")
    with open(script, "w") as f:
        f.write("".join("INSERT INTO delta.`%s/silt` VALUES %s;\n" % (work, values) for _ in range(200)))

    def fresh():
        shutil.rmtree(os.path.join(work, "silt"), ignore_errors=True)
        run_silt(silt, "CREATE TABLE delta.`%s/silt` (id INT, v STRING) USING DELTA" % work)
    code = "for i in range(200): write_deltalake('%s/rs', pa.table({'id': pa.array(range(10), pa.int32()), 'v': ['v'] * 10}), mode='append')" % work
    try:
        return compare(rounds, [("silt", [silt, "sql", "-f", script], fresh, None),
                                ("deltalake", timed_python("import pyarrow as pa\nfrom deltalake import write_deltalake", code), lambda: shutil.rmtree(os.path.join(work, "rs"), ignore_errors=True), None)])
    finally:
        shutil.rmtree(work, ignore_errors=True)


def steps(silt, lineitem, rounds):
    """{name: run}; `lineitem` gives the folder of the Parquet file."""
    made = {}
    for name, run in (("merge", merging), ("delete", deleting), ("update", updating)):
        for dv in (False, True):
            made[name + ("_dv" if dv else "_cow")] = lambda run=run, dv=dv: run(silt, lineitem(), rounds, dv)
    made["merge_sorted"] = lambda: merging_sorted(silt, lineitem(), rounds)
    made["merge_partitions"] = lambda: merging_partitions(silt, lineitem(), rounds)
    made["merge_memory"] = lambda: merging_large(silt, lineitem())
    made["appends"] = lambda: appending(silt, rounds)
    return made
