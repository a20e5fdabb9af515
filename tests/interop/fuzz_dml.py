#!/usr/bin/env python3
"""Random MERGE, UPDATE, DELETE and INSERT on copies of one table, by Silt and by Spark: results, contents and change rows must agree.

usage: fuzz_dml.py [--cases N] [--ops N] [--seed N] [--only CASE]     (Spark's Python; SILT names the binary)

A case makes one table with Spark (types, partitions, deletion vectors, change feed, column mapping, row tracking by chance), copies its folder, and runs the same statements
on both copies. After each: the statement's row of counts, its error condition, and the contents as each side reads its own copy. After the last: Spark reads Silt's copy, the
change rows of every statement agree (table_changes by both engines), and so do the metrics of commitInfo that count rows. A failure prints the seed, the case and the statements.
"""
import argparse
import json
import os
import random
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import delta_files
import spark_peer
from make_sql_tests import behind
from report import Differs
from silt_cli import Failed, Silt
from spark_peer import path_table

AMBIGUOUS = "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE"
ROW_METRICS = ("numTargetRowsInserted", "numTargetRowsUpdated", "numTargetRowsDeleted", "numTargetRowsMatchedUpdated", "numTargetRowsMatchedDeleted", "numTargetRowsNotMatchedBySourceUpdated",
               "numTargetRowsNotMatchedBySourceDeleted", "numSourceRows", "numUpdatedRows", "numDeletedRows")


class Column:
    def __init__(self, name, type_, values, orders=True):
        self.name, self.type, self.values, self.orders = name, type_, values, orders

    def value(self, r):
        return "NULL" if r.random() < 0.15 else r.choice(self.values)


COLUMNS = [
    Column("v", "INT", [str(i) for i in range(-3, 12)]),
    Column("s", "STRING", ["'a'", "'b'", "'B'", "''", "'zz'", "'ü'", "'x y'"]),
    Column("d", "DECIMAL(10,2)", ["0.00", "1.25", "-7.50", "100.00"]),
    Column("f", "DOUBLE", ["0.5D", "-0.0D", "1e10D", "double('NaN')", "3.0D"]),
    Column("b", "BOOLEAN", ["true", "false"]),
    Column("dt", "DATE", ["DATE'2024-02-29'", "DATE'1969-12-31'", "DATE'2030-01-01'"]),
    Column("ts", "TIMESTAMP", ["TIMESTAMP'2024-02-29 12:00:00.123456'", "TIMESTAMP'1960-01-01 00:00:00'"]),
    Column("n", "BIGINT", ["5", "-9000000000", "77"]),
    Column("st", "STRUCT<x: INT, y: STRING>", ["named_struct('x', 1, 'y', 'p')", "named_struct('x', CAST(NULL AS INT), 'y', 'q')", "named_struct('x', 7, 'y', CAST(NULL AS STRING))"], False),
    Column("ar", "ARRAY<INT>", ["array(1, 2)", "array()", "array(CAST(NULL AS INT))"], False),
    Column("m", "MAP<STRING, STRUCT<q: INT>>", ["map('k', named_struct('q', 1))", "map()", "map('a', CAST(NULL AS STRUCT<q: INT>))"], False),
]
PARTITIONS = [Column("p", "STRING", ["'a'", "'b'", "'c d'", "'é/1'"]), Column("p", "INT", ["1", "2", "3"]), Column("p", "DATE", ["DATE'2024-01-01'", "DATE'2024-01-02'"])]
KEYS = [str(i) for i in range(14)]


class Case:
    """One random table and its statements; {t} stands for the table, {s} for one that MERGE reads."""

    def __init__(self, seed, number, ops):
        self.r = random.Random("%d/%d" % (seed, number))
        r = self.r
        self.columns = [Column("id", "INT", KEYS)] + sorted(r.sample(COLUMNS, r.randint(2, 5)), key=lambda c: c.name)
        self.partition = r.choice(PARTITIONS) if r.random() < 0.5 else None
        if self.partition:
            self.columns.append(self.partition)
        self.properties = {}
        if r.random() < 0.5:
            self.properties["delta.enableDeletionVectors"] = "true"
        self.feed = r.random() < 0.6
        if self.feed:
            self.properties["delta.enableChangeDataFeed"] = "true"
        if r.random() < 0.25:
            self.properties["delta.columnMapping.mode"] = r.choice(["name", "id"])
        if r.random() < 0.25:
            self.properties["delta.enableRowTracking"] = "true"
        columns = ", ".join("%s %s" % (c.name, c.type) for c in self.columns)
        self.setup = ["CREATE TABLE {t} (%s) USING DELTA%s%s" % (columns, " PARTITIONED BY (p)" if self.partition else "", " TBLPROPERTIES (%s)" % ", ".join(
            "'%s' = '%s'" % kv for kv in self.properties.items()) if self.properties else "")]
        for _ in range(r.randint(1, 3)):
            self.setup.append("INSERT INTO {t} SELECT /*+ COALESCE(1) */ * FROM " + self.rows(r.randint(1, 12), "v"))
        self.source_columns = list(self.columns)
        self.setup.append("CREATE TABLE {s} USING DELTA AS SELECT /*+ COALESCE(1) */ * FROM " + self.rows(8, "v", r.sample(KEYS, 8)))
        self.statements = [self.statement() for _ in range(ops)]

    # ---- pieces ----

    def rows(self, n, alias, keys=None):
        r = self.r
        lines = []
        for i in range(n):
            values = [c.value(r) for c in self.columns]
            if keys:
                values[0] = keys[i]
            lines.append("(%s)" % ", ".join("CAST(%s AS %s)" % (v, c.type) for v, c in zip(values, self.columns)))
        return "VALUES %s AS %s(%s)" % (", ".join(lines), alias, ", ".join(c.name for c in self.columns))

    def atom(self, side):
        r = self.r
        c = r.choice(self.columns)
        name = "%s.%s" % (side, c.name) if side else c.name
        if c.name == "st" and r.random() < 0.6:
            return "%s.x %s %d" % (name, r.choice(["=", "<", ">="]), r.randint(0, 8))
        if not c.orders or r.random() < 0.15:
            return "%s IS %sNULL" % (name, r.choice(["", "NOT "]))
        if r.random() < 0.15:
            return "%s IN (%s)" % (name, ", ".join(r.choice(c.values) for _ in range(3)))
        return "%s %s %s" % (name, r.choice(["=", "<", ">=", "<>", "<=>"]), r.choice(c.values))

    def condition(self, sides):
        r = self.r
        atoms = [self.atom(r.choice(sides)) for _ in range(r.choice([1, 1, 2]))]
        if len(sides) > 1 and r.random() < 0.2:
            c = r.choice([c for c in self.columns if c.orders])
            atoms.append("t.%s %s s.%s" % (c.name, r.choice(["<", "<>", ">="]), c.name))
        text = r.choice([" AND ", " AND ", " OR "]).join(atoms)
        return ("NOT (%s)" % text) if r.random() < 0.1 else text if len(atoms) == 1 else "(%s)" % text

    def value(self, c, side):
        """A value for the column; `side`: what may be named."""
        r = self.r
        how = r.random()
        if how < 0.3:
            return "CAST(%s AS %s)" % (c.value(r), c.type)
        other = "%s.%s" % (side, c.name) if side else c.name
        if how < 0.6 or c.type not in ("INT", "STRING", "BIGINT", "DECIMAL(10,2)"):
            return other
        if c.type == "STRING":
            return "concat(%s, '+')" % other if r.random() < 0.5 else "coalesce(%s, 'none')" % other
        return "%s + %d" % (other, r.randint(1, 3))

    def assignments(self, side):
        r = self.r
        out, chosen = [], r.sample(self.columns, r.randint(1, min(3, len(self.columns))))
        for c in chosen:
            if c.name == "st" and r.random() < 0.5:
                out.append("st.x = %d" % r.randint(0, 9))
            else:
                out.append("%s = %s" % (c.name, self.value(c, side)))
        return ", ".join(out)

    # ---- statements ----

    def statement(self):
        return self.r.choices([self.merge, self.update, self.delete, self.insert], [6, 2, 2, 1])[0]()

    def insert(self):
        return "INSERT INTO {t} SELECT * FROM " + self.rows(self.r.randint(1, 5), "v")

    def update(self):
        return "UPDATE {t} SET %s%s" % (self.assignments(""), " WHERE " + self.condition([""]) if self.r.random() < 0.9 else "")

    def delete(self):
        return "DELETE FROM {t} WHERE " + self.condition([""]) if self.r.random() < 0.97 else "DELETE FROM {t}"

    def merge(self):
        r = self.r
        n = r.choice([0, 1, 3, 6, 10])
        keys = [r.choice(KEYS) for _ in range(n)] if r.random() < 0.15 else r.sample(KEYS, n)
        if n and r.random() < 0.2:
            keys[r.randrange(n)] = "NULL"
        source = "(SELECT * FROM %s)" % self.rows(n, "v", keys) if n else "(SELECT * FROM %s WHERE false)" % self.rows(1, "v")
        if len(self.columns) == len(self.source_columns) and r.random() < 0.2:
            source = "{s}"
        if r.random() < 0.08:
            return self.evolving_merge(source)
        on = "t.id %s s.id" % ("=" if r.random() < 0.9 else "<=>")
        if self.partition and r.random() < 0.4:
            on += " AND t.p = s.p"
        if r.random() < 0.3:
            on += " AND " + self.condition(r.choice([["t"], ["s"], ["t", "s"]]))
        clauses = []
        for _ in range(r.choice([0, 1, 1, 2, 3])):
            action = "DELETE" if r.random() < 0.35 else "UPDATE SET *" if r.random() < 0.3 else "UPDATE SET " + self.assignments(r.choice("ts"))
            clauses.append(["WHEN MATCHED", ["t", "s"], action])
        for _ in range(r.choice([0, 1, 1, 2])):
            some = [self.columns[0]] + r.sample(self.columns[1:], r.randint(0, len(self.columns) - 1))
            values = "INSERT (%s) VALUES (%s)" % (", ".join(c.name for c in some), ", ".join(self.value(c, "s") for c in some))
            clauses.append(["WHEN NOT MATCHED", ["s"], "INSERT *" if r.random() < 0.5 else values])
        for _ in range(r.choice([0, 0, 1, 2])):
            action = "DELETE" if r.random() < 0.5 else "UPDATE SET " + self.assignments("t")
            clauses.append(["WHEN NOT MATCHED BY SOURCE", ["t"], action])
        if not clauses:
            clauses.append(["WHEN NOT MATCHED", ["s"], "INSERT *"])
        for i, c in enumerate(clauses):
            last = i + 1 == len(clauses) or clauses[i + 1][0] != c[0]
            c[1] = None if last and r.random() < 0.5 else self.condition(c[1])
        return self.merge_text(source, on, clauses)

    def merge_text(self, source, on, clauses):
        """clauses: kind, condition or None, action"""
        return "MERGE INTO {t} t USING %s s ON %s %s" % (source, on, " ".join("%s%s THEN %s" % (when, " AND " + condition if condition else "", action) for when, condition, action in clauses))


    def evolving_merge(self, source):
        """A star brings a new column, or another field of the struct."""
        r = self.r
        name = "e%d" % len(self.columns)
        new = Column(name, r.choice(["INT", "STRING", "STRUCT<x: INT>"]), ["CAST(NULL AS VOID)"], False)
        new.values = {"INT": ["1", "2"], "STRING": ["'e'"], "STRUCT<x: INT>": ["named_struct('x', 3)"]}[new.type]
        self.columns.append(new)
        clauses = r.choice(["WHEN MATCHED THEN UPDATE SET *", "WHEN NOT MATCHED THEN INSERT *", "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *", "WHEN MATCHED THEN UPDATE SET %s = s.%s" % (name, name)])
        return "MERGE WITH SCHEMA EVOLUTION INTO {t} t USING (SELECT *, CAST(%s AS %s) AS %s FROM %s) s ON t.id = s.id %s" % (new.values[0], new.type, name, source, clauses)


# ---- running ----

def sorted_rows(rows):
    return sorted(spark_peer.dumps(normal(r)) for r in rows)


def normal(v):
    """-0.0 and 0.0 apart, NaN equal to itself, doubles as they are: what jsonl shows."""
    if isinstance(v, list):
        return [normal(x) for x in v]
    if isinstance(v, dict):
        return {k: normal(x) for k, x in v.items()}
    return repr(float(v)) if isinstance(v, float) else v


class Runner:
    def __init__(self, spark, silt, work):
        self.spark, self.silt, self.work = spark, silt, work

    def by_spark(self, sql):
        try:
            df = self.spark.sql(sql)
            return (spark_peer.rows(df) if df.columns else []), None
        except Exception as e:
            found = behind(spark_peer.condition(e), str(e))
            if not found:
                raise
            return None, found

    def by_silt(self, sql):
        try:
            return self.silt.sql(sql), None
        except Failed as e:
            if e.status != 1:
                raise Differs("silt ended with %d: %s" % (e.status, e.message[:500]))
            return None, e.condition() or e.message

    def run(self, seed, number, ops):
        case = Case(seed, number, ops)
        base, ours, theirs, source = (os.path.join(self.work, "%s_%d" % (n, number)) for n in ("base", "silt", "spark", "source"))
        for p in (base, ours, theirs, source):
            shutil.rmtree(p, ignore_errors=True)
        case.setup = [s.replace("{s}", path_table(source)) for s in case.setup]
        case.statements = [s.replace("{s}", path_table(source)) for s in case.statements]
        for s in case.setup:
            self.spark.sql(s.replace("{t}", path_table(base)))
        shutil.copytree(base, ours)
        shutil.copytree(base, theirs)
        done = []
        try:
            self.statements(case, ours, theirs, done)
            self.judge(case, ours, theirs, done)
        except Differs as e:
            raise Differs("seed %d case %d: %s\n    %s" % (seed, number, e, "\n    ".join(case.setup + [d[0] for d in done])))
        for p in (base, ours, theirs, source):
            shutil.rmtree(p, ignore_errors=True)
        return len(done)

    def latest(self, path):
        return max(delta_files.commits(path))

    def statements(self, case, ours, theirs, done):
        for s in case.statements:
            before = self.latest(ours), self.latest(theirs)
            done.append([s, None, None])
            want, theirs_failed = self.by_spark(s.replace("{t}", path_table(theirs)))
            got, ours_failed = self.by_silt(s.replace("{t}", path_table(ours)))
            if AMBIGUOUS in (theirs_failed, ours_failed) and theirs_failed != ours_failed:
                done.pop()                        # whether rows of one file count depends on how rows lie in files, which is each engine's own
                return
            if (theirs_failed or "").split(".")[0] != (ours_failed or "").split(".")[0]:
                raise Differs("Spark: %s, Silt: %s" % (theirs_failed or want, ours_failed or got))
            if not s.startswith("INSERT") and want != got:
                raise Differs("counts: Spark %s, Silt %s" % (want, got))
            a, b = sorted_rows(self.silt.sql("SELECT * FROM " + path_table(ours))), sorted_rows(spark_peer.rows(self.spark.read.format("delta").load(theirs)))
            if a != b:
                raise Differs("contents: only Silt's %s, only Spark's %s" % (minus(a, b)[:5], minus(b, a)[:5]))
            done[-1][1:] = [(before[0] + 1, self.latest(ours)), (before[1] + 1, self.latest(theirs))]

    def judge(self, case, ours, theirs, done):
        a, b = sorted_rows(spark_peer.rows(self.spark.read.format("delta").load(ours))), sorted_rows(spark_peer.rows(self.spark.read.format("delta").load(theirs)))
        if a != b:
            raise Differs("Spark reads another table of Silt's: only Silt's %s, only Spark's %s" % (minus(a, b)[:5], minus(b, a)[:5]))
        for statement, mine, its in done:
            self.same_metrics(ours, theirs, statement, mine, its)
        if case.feed:
            self.same_changes(ours, theirs, done)

    def same_metrics(self, ours, theirs, statement, mine, its):
        infos = [commit_info(p, v) for p, v in ((ours, mine), (theirs, its))]
        if not all(infos) or statement.startswith("INSERT"):
            return
        a, b = (i.get("operationMetrics", {}) for i in infos)
        if sorted(a) != sorted(b):
            raise Differs("%s: metrics %s, Spark's %s" % (statement, sorted(a), sorted(b)))
        wrong = ["%s %s, Spark's %s" % (k, a[k], b[k]) for k in ROW_METRICS if k in a and a[k] != b[k]]
        if wrong:
            raise Differs("%s: %s" % (statement, "; ".join(wrong)))

    def changes(self, read, path, last):
        sql = "SELECT * FROM table_changes_by_path('%s', 1, %d)" % (path, last)
        rows = read(sql)
        by_version = {}
        for r in rows:                            # … _change_type, _commit_version, _commit_timestamp
            by_version.setdefault(r[-2], []).append(r[:-2])
        return by_version

    def same_changes(self, ours, theirs, done):
        last = self.latest(ours), self.latest(theirs)
        if not done:
            return
        spark_rows = lambda sql: spark_peer.rows(self.spark.sql(sql))
        want = self.changes(spark_rows, theirs, last[1])
        for name, got in (("Silt", self.changes(self.silt.sql, ours, last[0])), ("Spark on Silt's table", self.changes(spark_rows, ours, last[0]))):
            for statement, mine, its in done:
                a = sorted_rows([r for v in range(mine[0], mine[1] + 1) for r in got.get(v, [])])
                b = sorted_rows([r for v in range(its[0], its[1] + 1) for r in want.get(v, [])])
                if a != b:
                    raise Differs("change rows by %s of %s: only these %s, only Spark's %s" % (name, statement, minus(a, b)[:6], minus(b, a)[:6]))


def minus(a, b):
    rest = list(b)
    out = []
    for x in a:
        if x in rest:
            rest.remove(x)
        else:
            out.append(x)
    return out


def commit_info(path, versions):
    if versions[0] != versions[1]:
        return None
    found = [a["commitInfo"] for a in delta_files.commits(path)[versions[0]] if "commitInfo" in a]
    return found[0] if found else None


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--cases", type=int, default=20)
    p.add_argument("--ops", type=int, default=12)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--only", type=int)
    args = p.parse_args()
    work = tempfile.mkdtemp(prefix="silt-fuzz-")
    spark = spark_peer.session(work)
    silt = Silt(os.path.abspath(os.environ.get("SILT", os.path.join(HERE, "..", "..", "build", "silt"))), os.path.join(work, "silt-warehouse"))
    runner = Runner(spark, silt, work)
    failed = total = 0
    try:
        for i in [args.only] if args.only is not None else range(args.cases):
            try:
                total += runner.run(args.seed, i, args.ops)
                print("ok fuzz/%d" % i)
            except Differs as e:
                failed += 1
                print("not ok fuzz/%d: %s" % (i, e))
            sys.stdout.flush()
    finally:
        spark.stop()
        shutil.rmtree(work, ignore_errors=True)
    print("%d statements in %d cases, %d cases failed" % (total, args.cases if args.only is None else 1, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
