#!/usr/bin/env python3
"""Random MERGE, UPDATE, DELETE, INSERT and ALTER on copies of one table, by Silt and by Spark: results, contents and change rows must agree.

usage: fuzz_dml.py [--cases N] [--ops N] [--seed N] [--only 3,7-12] [--seconds N] [--keep FOLDER]     (Spark's Python; SILT names the binary)

A case (fuzz_cases.py) is one table, made by either engine, whose folder is copied, and statements that run on both copies. Each statement's row of counts and error condition are
compared at once. After the last one Silt reads both tables at each version, with their change rows, and Spark reads Silt's table and its change rows; the metrics of each commitInfo
that count rows and, with row tracking, the version that each row was last changed by agree as well. A failure prints the seed, the case and the statements up to the one that differs.

Most of the time is Spark's, so it runs with one thread and without code generation here, and reads as little as it can.
"""
import argparse
import json
import os
import re
import shutil
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import delta_files
import spark_peer
from fuzz_cases import Case, for_silt, for_spark
from make_sql_tests import behind
from report import Differs
from silt_cli import Failed, Silt, row_values
from spark_peer import path_table

CHEAP = dict(spark_peer.LEAN, **{"spark.master": "local[1]"})
AMBIGUOUS = "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE"
# What Spark does not do and Silt does, by its condition and what the statement looks like: such statements are left out.
SPARK_REFUSES = (("DELTA_MERGE_UNRESOLVED_EXPRESSION", r"\bDEFAULT\b"),                   # left unresolved in NOT MATCHED BY SOURCE and in some INSERT lists; Spark lacks the condition's text
                 ("_LEGACY_ERROR_TEMP_2245", r"REPLACE WHERE .*\bcoalesce\("),            # a predicate with a function in it, which no source filter can say
                 ("_LEGACY_ERROR_TEMP_2245", r"REPLACE WHERE \w+ .*\b(true|false)\b"),   # a BOOLEAN column compared with a constant becomes the column alone, which no source filter can say
                 ("_LEGACY_ERROR_TEMP_2245", r"PARTITION \(p = (true|false)\)"),         # the same of a BOOLEAN partition column
                 ("USER_RAISED_EXCEPTION", "NOT MATCHED BY SOURCE"))                     # "Unexpected row: did not match any merge clause", an empty source over vectors: Delta's own check fails
ROW_METRICS = ("numTargetRowsInserted", "numTargetRowsUpdated", "numTargetRowsDeleted", "numTargetRowsMatchedUpdated", "numTargetRowsMatchedDeleted", "numTargetRowsNotMatchedBySourceUpdated",
               "numTargetRowsNotMatchedBySourceDeleted", "numSourceRows", "numUpdatedRows", "numDeletedRows")


def sorted_rows(rows):
    return sorted(spark_peer.dumps(normal(r)) for r in rows)


def normal(v):
    """-0.0 and 0.0 apart, NaN equal to itself, doubles as they are: what jsonl shows."""
    if isinstance(v, list):
        return [normal(x) for x in v]
    if isinstance(v, dict):
        return {k: normal(x) for k, x in v.items()}
    return repr(float(v)) if isinstance(v, float) else v


class Done:
    """A statement that ran on both sides: the versions that it wrote on Silt's table and on Spark's."""

    def __init__(self, sql, ours, theirs):
        self.sql, self.ours, self.theirs = sql, ours, theirs


class Runner:
    def __init__(self, spark, silt, work, at=str):
        """at: where Spark finds a folder (run_interop.py)."""
        self.spark, self.silt, self.work, self.at = spark, silt, work, at
        self.left_out = 0

    def by_spark(self, sql, conf):
        try:
            for k, v in conf.items():
                self.spark.conf.set(k, v)
            df = self.spark.sql(sql)
            return ([list(r) for r in df.collect()] if df.columns else []), None
        except Exception as e:
            found = behind(spark_peer.condition(e), str(e))
            if not found:
                raise
            return None, found
        finally:
            for k in conf:
                self.spark.conf.unset(k)

    def by_silt(self, sql, conf):
        try:
            return self.silt.sql(sql, conf), None
        except Failed as e:
            if e.status != 1:
                raise Differs("silt ended with %d: %s" % (e.status, e.message[:500]))
            return None, e.condition() or e.message

    def silt_answers(self, queries):
        """The rows of each query, all by one process."""
        out = []
        for line in self.silt.run("sql", "; ".join("SELECT 1 AS `next query`; " + q for q in queries), "--format", "jsonl").split("\n") if queries else []:
            if line == '{"next query":1}':
                out.append([])
            elif line:
                out[-1].append(row_values(line))
        return out

    def run(self, seed, number, ops):
        """Returns how many statements ran."""
        case = Case(seed, number, ops)
        self.folder = os.path.join(self.work, "case_%d" % number)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.history, self.segment = [], 0
        self.make(case)
        try:
            self.statements(case)
        except Differs as e:
            text = "%s\n%s\n    %s" % (case.create, case.source, "\n    ".join(case.setup + [d.sql for d in self.history]))
            raise Differs("seed %d case %d%s: %s\n    %s" % (seed, number, " (made by Silt)" if case.by_silt else "", e, text))
        shutil.rmtree(self.folder, ignore_errors=True)
        return len(self.history)

    def make(self, case):
        base, source = (os.path.join(self.folder, n) for n in ("base", "source"))
        case.statements = [(s.replace("{s}", path_table(source)), conf) for s, conf in case.statements]
        self.silt.sql(case.source.replace("{s}", path_table(source)))
        for i, s in enumerate([case.create] + case.setup):
            answer, failed = (self.by_silt if case.by_silt else self.by_spark)(s.replace("{t}", path_table(base)), {})
            if failed and i <= bool(case.constraint):
                raise Differs("setup: %s: %s" % (failed, s))                                  # an INSERT may meet the constraint

    def copies(self, origin):
        """Fresh folders for both sides: what Spark remembers of a path must stay true."""
        self.segment += 1
        ours, theirs = (os.path.join(self.folder, "%s_%d" % (n, self.segment)) for n in ("silt", "spark"))
        for p in (ours, theirs):
            shutil.copytree(os.path.join(self.folder, origin), p)
        return ours, theirs

    def latest(self, path):
        return max(int(n[:20]) for n in os.listdir(os.path.join(path, "_delta_log")) if n.endswith(".json") and n[:20].isdigit())

    def statements(self, case):
        ours, theirs = self.copies("base")
        done = []
        for s, conf in case.statements:
            before = self.latest(ours), self.latest(theirs)
            this = Done(s, (before[0] + 1, before[0]), (before[1] + 1, before[1]))
            self.history.append(this)
            want, theirs_failed = self.by_spark(for_spark(s).replace("{t}", path_table(theirs)), conf)
            if any((theirs_failed or "").startswith(condition) and re.search(form, s) for condition, form in SPARK_REFUSES):
                self.history.pop()
                self.left_out += 1
                continue
            got, ours_failed = self.by_silt(for_silt(s).replace("{t}", path_table(ours)), conf)
            if AMBIGUOUS in (theirs_failed, ours_failed) and theirs_failed != ours_failed:
                self.history.pop()                # whether rows of one file count depends on how rows lie in files, which is each engine's own
                self.judge(case, ours, theirs, done)
                (ours, theirs), done = self.copies(os.path.basename(theirs)), []
                continue
            if (theirs_failed or "").split(".")[0] != (ours_failed or "").split(".")[0]:
                raise Differs("Spark: %s, Silt: %s" % (theirs_failed or want, ours_failed or got))
            if not s.startswith(("INSERT", "TRUNCATE", "ALTER")) and want != got:
                raise Differs("counts: Spark %s, Silt %s" % (want, got))
            this.ours, this.theirs = (this.ours[0], self.latest(ours)), (this.theirs[0], self.latest(theirs))
            done.append(this)
        self.judge(case, ours, theirs, done)

    # ---- comparing ----

    def judge(self, case, ours, theirs, done):
        if not done:
            return
        self.same_versions(case, ours, theirs, done)
        for d in done:
            self.same_metrics(ours, theirs, d)
        shown = self.silt_answers(["SELECT * FROM " + path_table(ours)])[0]
        same("Spark reads another table of Silt's", shown, spark_peer.rows(self.spark.read.format("delta").load(self.at(ours))), "Silt's", "Spark's")
        if case.feed:
            self.same_changes(case, ours, theirs, done)
        if case.tracked:
            self.same_row_versions(ours, theirs, done)

    def columns(self, case):
        return "*" if not case.hidden else "* EXCEPT (%s)" % ", ".join(case.hidden)

    def same_versions(self, case, ours, theirs, done):
        queries = ["SELECT %s FROM %s VERSION AS OF %d" % (self.columns(case), path_table(path), v) for d in done for path, v in ((ours, d.ours[1]), (theirs, d.theirs[1]))]
        answers = self.silt_answers(queries)
        for d, a, b in zip(done, answers[::2], answers[1::2]):
            self.same_after(d, "contents", a, b)

    def same_after(self, d, what, a, b):
        try:
            same(what, a, b)
        except Differs:
            del self.history[self.history.index(d) + 1:]
            raise

    def same_metrics(self, ours, theirs, d):
        infos = [commit_info(p, v) for p, v in ((ours, d.ours), (theirs, d.theirs))]
        if not all(infos):
            changed = [k for i in infos if i for k in ROW_METRICS if k != "numSourceRows" and i.get("operationMetrics", {}).get(k, "0") != "0"]
            if changed:                                                                       # a statement that changes no row is a commit for one engine and none for the other
                raise Differs("commits: Silt %s, Spark %s of %s" % (d.ours, d.theirs, d.sql))
            return
        if infos[0]["operation"] != infos[1]["operation"]:
            raise Differs("%s: operation %s, Spark's %s" % (d.sql, infos[0]["operation"], infos[1]["operation"]))
        for part in ("operationMetrics", "operationParameters"):
            a, b = (i.get(part, {}) for i in infos)
            if sorted(a) != sorted(b):
                raise Differs("%s: %s %s, Spark's %s" % (d.sql, part, sorted(a), sorted(b)))
        a, b = (i.get("operationMetrics", {}) for i in infos)
        wrong = ["%s %s, Spark's %s" % (k, a[k], b[k]) for k in ROW_METRICS if k in a and a[k] != b[k]]
        if wrong:
            raise Differs("%s: %s" % (d.sql, "; ".join(wrong)))

    def same_changes(self, case, ours, theirs, done):
        """Change rows since the last statement that took or renamed a column: across it neither engine reads them."""
        start = max([i + 1 for i, d in enumerate(done) if d.sql.startswith("ALTER") and (" RENAME " in d.sql or " DROP COLUMN " in d.sql or " TYPE " in d.sql)], default=0)
        done = done[start:]
        if not done or done[-1].ours[1] < done[0].ours[0]:
            return
        text = lambda path, first, last: "SELECT %s FROM table_changes_by_path('%s', %d, %d)" % (self.columns(case), path, first, last)
        mine, its = text(ours, done[0].ours[0], done[-1].ours[1]), text(theirs, done[0].theirs[0], done[-1].theirs[1])
        a, b = self.silt_answers([mine, its])
        a, b, c = by_version(a), by_version(b), by_version(spark_peer.rows(self.spark.sql(mine)))
        for d in done:
            want = of_versions(b, d.theirs)
            self.same_after(d, "change rows", of_versions(a, d.ours), want)
            self.same_after(d, "change rows by Spark of Silt's table", of_versions(c, d.ours), of_versions(a, d.ours))

    def same_row_versions(self, ours, theirs, done):
        """Row ids are each engine's own; the version of a row's last change is not, but for how many commits a statement made."""
        text = "SELECT _metadata.row_id, _metadata.row_commit_version, * FROM "
        a, b = self.silt_answers([text + path_table(ours), text + path_table(theirs)])
        same("row ids by Spark of Silt's table", a, spark_peer.rows(self.spark.sql(text + path_table(ours))), "Silt's", "Spark's")
        for name, rows in (("Silt's", a), ("Spark's", b)):
            if len({r[0] for r in rows}) < len(rows) or any(r[0] is None for r in rows):
                raise Differs("row ids of %s table are not distinct" % name)
        if all(d.ours == d.theirs for d in done):
            same("commit versions of rows", [r[1:2] for r in a], [r[1:2] for r in b])


def same(what, a, b, one="Silt's", other="Spark's"):
    a, b = sorted_rows(a), sorted_rows(b)
    if a != b:
        raise Differs("%s: only %s %s, only %s %s" % (what, one, minus(a, b)[:5], other, minus(b, a)[:5]))


def minus(a, b):
    rest = list(b)
    out = []
    for x in a:
        if x in rest:
            rest.remove(x)
        else:
            out.append(x)
    return out


def by_version(rows):
    """{version: change rows}; a row ends in _change_type, _commit_version, _commit_timestamp."""
    found = {}
    for r in rows:
        found.setdefault(r[-2], []).append(r[:-2])
    return found


def of_versions(found, versions):
    return [r for v in range(versions[0], versions[1] + 1) for r in found.get(v, [])]


def commit_info(path, versions):
    """Of a statement that made one commit."""
    if versions[0] != versions[1]:
        return None
    with open(os.path.join(path, "_delta_log", "%020d.json" % versions[0]), encoding="utf-8") as f:
        return next((a["commitInfo"] for a in map(json.loads, f) if "commitInfo" in a), None)


def numbers(text):
    """3,7-12"""
    ends = [[int(x) for x in part.split("-")] for part in text.split(",")]
    return [i for e in ends for i in range(e[0], e[-1] + 1)]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--cases", type=int, default=20)
    p.add_argument("--ops", type=int, default=12)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--only", type=numbers, help="these cases")
    p.add_argument("--seconds", type=float, default=1e9, help="begin no case after that")
    p.add_argument("--keep", help="make the tables in this folder and leave those of failed cases there")
    args = p.parse_args()
    until = time.time() + args.seconds
    work = args.keep or tempfile.mkdtemp(prefix="silt-fuzz-")
    spark = spark_peer.session(os.path.join(work, "spark-warehouse"), **CHEAP)
    silt = Silt(os.path.abspath(os.environ.get("SILT", os.path.join(HERE, "..", "..", "build", "silt"))), os.path.join(work, "silt-warehouse"))
    runner = Runner(spark, silt, work)
    failed = total = cases = 0
    try:
        for i in args.only or range(args.cases):
            if time.time() > until:
                break
            cases += 1
            began = time.time()
            try:
                total += runner.run(args.seed, i, args.ops)
                print("ok fuzz/%d # %.1f s" % (i, time.time() - began))
            except Differs as e:
                failed += 1
                total += len(runner.history)
                print("not ok fuzz/%d: %s" % (i, e))
            sys.stdout.flush()
    finally:
        spark.stop()
        if not args.keep:
            shutil.rmtree(work, ignore_errors=True)
    print("%d statements in %d cases, %d cases failed; %d more statements are none of Spark's" % (total, cases, failed, runner.left_out))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
