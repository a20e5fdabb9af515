#!/usr/bin/env python3
"""The same random MERGE, UPDATE, DELETE, INSERT and ALTER on one table in several layouts: rewritten files or deletion vectors, with row tracking and a change feed or without,
one file or many, with partitions or without. How a table keeps its rows must not show: counts, errors, the rows of every version and the change rows are compared.

usage: layouts.py [--seconds 5] [--cases N] [--ops N] [--seed N] [--only CASE]

The statements are those of tests/interop/fuzz_cases.py, which fuzz_dml.py there gives to Spark too. Whether several matches are an error depends on which rows share a file; such
statements are taken back in all layouts.
"""
import argparse, os, shutil, sys, tempfile, time
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "support"), os.path.join(HERE, "..", "interop")]
import silt_script as s
from fuzz_cases import Case, for_silt
from silt_cli import row_values

AMBIGUOUS = "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE"
RULES = ("DELTA_VIOLATE_CONSTRAINT_WITH_VALUES", "DELTA_NOT_NULL_CONSTRAINT_VIOLATED") # of several broken ones that of the first row is told, and the order of rows is each layout's own
FEED = {"delta.enableChangeDataFeed": "true"}
TRACKED = {"delta.enableRowTracking": "true"}
VECTORS = {"delta.enableDeletionVectors": "true"}
FEW = {"spark.sql.files.maxRecordsPerFile": "2"}
LAYOUTS = {                                     # properties, settings, partitions
    "plain": ({}, {}, True),
    "feed": ({**FEED, **TRACKED}, FEW, True),
    "vectors": ({**VECTORS, "delta.checkpointInterval": "3"}, FEW, True),
    "everything": ({**VECTORS, **FEED, **TRACKED, "delta.enableInCommitTimestamps": "true"}, {}, True),
    "flat": ({**VECTORS, **FEED}, {}, False),
}
WITH_FEED = ("feed", "everything", "flat")
BEGIN, END = "SELECT 1 AS `query begins`;\n", ";\nSELECT 1 AS `query ends`"


def answers(queries):
    """(rows of each query that ran, the condition of the one that failed or None)"""
    queries = [q if BEGIN in q else BEGIN + q + END for q in queries]
    done = s.silt("sql", "--format", "jsonl", "-f", "-", "--conf", "spark.sql.session.timeZone=UTC", stdin=";\n".join(queries))
    found, inside = [], False
    for line in done.out.split("\n"):
        if line in ('{"query begins":1}', '{"query ends":1}'):
            inside = "begins" in line
            if inside: found.append([])
        elif line and inside: found[-1].append(row_values(line))
    if done.code == 0: return found, None
    assert done.code == 1 and done.err.startswith("["), "status %d: %s\n%s" % (done.code, done.err, queries)
    return found[:-1], done.err[1:done.err.index("]")]


def ordered(rows): return sorted(repr(r) for r in rows)


class Differs(Exception): pass


class Tables:
    """The case's table in each layout."""

    def __init__(self, case, folder):
        self.case, self.folder, self.ran = case, folder, []
        needs = {k: v for k, v in case.properties.items() if k.startswith(("delta.columnMapping", "delta.enableTypeWidening", "delta.feature."))}
        by_partition = any("PARTITION (" in sql or conf for sql, conf in case.statements)
        emptied = any("''" in c.values for c in case.partitions)      # a partition's '' is NULL, a plain column's is not
        self.names = [n for n in LAYOUTS if n != "flat" or (case.partitions and not by_partition and not emptied)]
        assert answers([case.source.replace("{s}", self.path("source"))])[1] is None, case.source
        for n in self.names:
            failed = answers([case.create_text({**needs, **LAYOUTS[n][0]}, LAYOUTS[n][2]).replace("{t}", self.path(n))])[1]
            if failed: raise Differs("setup: %s: %s" % (failed, case.create))
        for text in case.setup: self.on_all(text, {})

    def path(self, name): return "delta.`%s/%s`" % (self.folder, name)

    def versions(self): return {n: max(int(f[:20]) for f in os.listdir("%s/%s/_delta_log" % (self.folder, n)) if f.endswith(".json") and f[:20].isdigit()) for n in self.names}

    def text(self, n, sql, conf):
        conf = {**LAYOUTS[n][1], **conf}
        return "".join("SET %s = %s;\n" % kv for kv in conf.items()) + BEGIN + for_silt(sql).replace("{t}", self.path(n)).replace("{s}", self.path("source")) + END + "".join(";\nRESET %s" % k for k in conf)

    def on_all(self, sql, conf):
        """The rows that each layout answered, and its error."""
        rows, failed = answers([self.text(n, sql, conf) for n in self.names])
        errors = [None] * len(rows) + [failed]
        for n in self.names[len(rows) + 1:] if failed else ():
            more, why = answers([self.text(n, sql, conf)])
            errors.append(why)
            rows += more
        return rows, errors[:len(self.names)]

    def run(self, sql, conf):
        before = self.versions()
        rows, errors = self.on_all(sql, conf)
        if AMBIGUOUS in errors:
            for n, error in zip(self.names, errors):
                if error is None and self.versions()[n] != before[n]: answers(["RESTORE TABLE %s TO VERSION AS OF %d" % (self.path(n), before[n])])
            return
        self.ran.append((sql, before, self.versions()))
        if len({"a rule" if e in RULES else e for e in errors}) > 1: raise Differs("errors: %s" % dict(zip(self.names, errors)))
        counted = not sql.startswith(("INSERT", "TRUNCATE", "ALTER"))
        if counted and len({repr(r) for r in rows}) > 1: raise Differs("counts: %s" % dict(zip(self.names, rows)))

    def columns(self): return "*" if not self.case.hidden else "* EXCEPT (%s)" % ", ".join(self.case.hidden)

    def compare(self):
        # Across a column that was taken, renamed or widened no change rows are read.
        first_fed = max([i + 1 for i, (sql, _, _) in enumerate(self.ran) if sql.startswith("ALTER") and (" RENAME " in sql or " DROP COLUMN " in sql or " TYPE " in sql)], default=0)
        queries, owners = [], []
        for i, (sql, before, after) in enumerate(self.ran):
            queries += ["SELECT %s FROM %s VERSION AS OF %d" % (self.columns(), self.path(n), after[n]) for n in self.names]
            owners += [(i, n, "rows") for n in self.names]
            for n in self.names:
                if n in WITH_FEED and i >= first_fed and after[n] > before[n]:
                    queries.append("SELECT * EXCEPT (_commit_version, _commit_timestamp) FROM (SELECT %s FROM table_changes_by_path('%s/%s', %d, %d))" % (self.columns(), self.folder, n, before[n] + 1, after[n]))
                    owners.append((i, n, "change rows"))
        found, failed = answers(queries)
        if failed: raise Differs("%s for %s" % (failed, queries[len(found)]))
        seen = {}
        for (i, n, what), rows in zip(owners, found):
            first = seen.setdefault((i, what), (n, rows))
            if ordered(first[1]) != ordered(rows):
                del self.ran[i + 1:]
                raise Differs("%s: %s has %s, %s has %s" % ((what,) + tuple(x for name, mine, other in ((first[0], first[1], rows), (n, rows, first[1])) for x in (name, only(mine, other)))))


def only(a, b):
    rest = ordered(b)
    return [x for x in ordered(a) if not (x in rest and not rest.remove(x))][:5]


def run(seed, number, ops, folder):
    case = Case(seed, number, ops)
    tables = None
    try:
        tables = Tables(case, folder)
        for sql, conf in case.statements: tables.run(sql, conf)
        tables.compare()
    except Differs as e:
        raise Differs("seed %d case %d: %s\n    %s" % (seed, number, e, "\n    ".join([case.create] + case.setup + [r[0] for r in (tables.ran if tables else [])])))
    return len(tables.ran) * len(tables.names)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--seconds", type=float, default=5)
    p.add_argument("--cases", type=int, default=10**6)
    p.add_argument("--ops", type=int, default=10)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--only", type=int)
    p.add_argument("--keep", action="store_true")
    o = p.parse_args()
    until, total, failed, cases = time.time() + o.seconds, 0, 0, 0
    for i in [o.only] if o.only is not None else range(o.cases):
        if time.time() > until and cases: break
        folder, cases = tempfile.mkdtemp(prefix="silt-layouts-"), cases + 1
        try: total += run(o.seed, i, o.ops, folder)
        except Differs as e:
            failed += 1
            print("not ok case_%d: %s" % (i, e), flush=True)
        finally:
            if o.keep: print("# " + folder)
            else: shutil.rmtree(folder, ignore_errors=True)
    if not failed: print("ok the_layouts_agree\n# seed %d: %d statements in %d cases" % (o.seed, total, cases))
    sys.exit(1 if failed else 0)


if __name__ == "__main__": main()
