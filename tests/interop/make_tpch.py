#!/usr/bin/env python3
"""Makes the data, the Delta tables' load and Spark's answers of tests/sql/tpch: the 22 TPC-H queries at a tiny scale.

usage: make_tpch.py                       (run it with the Python that setup.sh made)

The data come from DuckDB's own dbgen (deterministic), one Zstandard Parquet file per table. The queries are q01.sql … q22.sql, with the
parameters chosen so that each has an answer at this scale. tpch.test holds the load and the answers in the form of tests/sql/README.md.
"""
import glob
import os
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import spark_peer
from spark_peer import dumps

OUT = os.path.realpath(os.path.join(HERE, "..", "sql", "tpch"))
TABLES = ["region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem"]
SCALE = 0.003


def generate(out, scale, compression="zstd"):
    """Writes OUT/TABLE.parquet for each table at a scale, rows in key order."""
    import duckdb
    import duckdb_extension_tpch
    extension = glob.glob(os.path.join(os.path.dirname(duckdb_extension_tpch.__file__), "extensions", "**", "*.duckdb_extension"), recursive=True)[0]
    con = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    con.execute("LOAD '%s'" % extension)
    con.execute("CALL dbgen(sf=%s)" % scale)
    for table in TABLES:
        con.execute("COPY %s TO '%s' (FORMAT parquet, COMPRESSION %s)" % (table, os.path.join(out, table + ".parquet"), compression))


def queries():
    return [(os.path.basename(p)[:-4], open(p, encoding="utf-8").read().strip()) for p in sorted(glob.glob(os.path.join(OUT, "q*.sql")))]


def main():
    if not os.path.exists(os.path.join(OUT, "lineitem.parquet")):
        generate(OUT, SCALE)
    warehouse = tempfile.mkdtemp(prefix="silt-tpch-")
    spark = spark_peer.session(warehouse)
    try:
        text = "# Spark 4.1.2's answers to the 22 TPC-H queries at scale %s, recorded by tests/interop/make_tpch.py: do not edit.\n" % SCALE
        text += "# ${HERE} is the folder of this file.\n\n"
        for table in TABLES:
            sql = "CREATE TABLE %s USING DELTA AS SELECT * FROM parquet.`${HERE}/%s.parquet`" % (table, table)
            spark.sql(sql.replace("${HERE}", OUT))
            text += "statement ok\n%s\n\n" % sql
        for name, sql in queries():
            df = spark.sql(sql)
            rows = spark_peer.rows(df)
            types = ", ".join(f.dataType.simpleString() for f in df.schema.fields)
            text += "# %s\n# %s\nquery\n%s\n----\n%s\n" % (name, types, sql, "".join(dumps(r) + "\n" for r in rows))
            print(name, len(rows), rows[0] if rows else "NO ROWS")
        with open(os.path.join(OUT, "tpch.test"), "w", encoding="utf-8") as f:
            f.write(text.rstrip("\n") + "\n")
    finally:
        spark.stop()
        shutil.rmtree(warehouse, ignore_errors=True)


if __name__ == "__main__":
    main()
