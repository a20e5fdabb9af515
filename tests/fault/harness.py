#!/usr/bin/env python3
"""Many processes change one table at once, are stopped for moments and killed at random, and write down what they were told. Afterwards the commits are gone through in the
order of the log with a model of the table in Python, and everything is compared with it:

- what was acknowledged is in the log once, what was refused is not in it, what was killed is in it at most once, and nothing else is;
- the rows of the last version, and sums over the rows of many older ones;
- what a reader saw in the meantime: whole versions, in their order;
- the change feed of all versions, row by row, with the version of each change;
- row ids: a row keeps its id as long as it lives, no two share one, and the commit version of each row is that of its last change;
- statistics: numRecords and the bounds in the log against the data files themselves;
- files: without kills, no file lies there that no commit names.

usage: harness.py [--seconds 8] [--processes 8] [--seed N] [--variant NAME]... [--keep]

The same seed gives the same statements, not the same interleaving. Under `make test` it is a short run; a long one is `harness.py --seconds 300 --processes 16`.
"""
import argparse, json, os, random, shutil, signal, subprocess, sys, tempfile, threading, time
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import silt_script as s
from silt_script import SILT, ok, sql

KEYS = 6                                    # values of k, the partition column where there is one
COLUMNS = "id BIGINT, k INT, v BIGINT, s STRING"
VARIANTS = {
    "rewrite": {},
    "vectors": {"delta.enableDeletionVectors": "true"},
    "everything": {"delta.enableDeletionVectors": "true", "delta.enableRowTracking": "true", "delta.enableChangeDataFeed": "true", "delta.enableInCommitTimestamps": "true"},
    "calm": {"delta.enableRowTracking": "true", "delta.enableChangeDataFeed": "true"},
}
PARTITIONED = {"rewrite", "everything"}
CONFLICTS = ("DELTA_CONCURRENT_", "DELTA_METADATA_CHANGED", "DELTA_PROTOCOL_CHANGED", "DELTA_MAX_COMMIT_RETRIES_EXCEEDED")


# ---- the model ----

class Row:
    """One row while it lives: `born` and `changed` are versions."""
    __slots__ = ("k", "v", "s", "born", "changed")

    def __init__(self, k, v, s, born): self.k, self.v, self.s, self.born, self.changed = k, v, s, born, born
    def shown(self, id): return (id, self.k, self.v, self.s)


class Model:
    def __init__(self):
        self.rows, self.version, self.feed, self.sums = {}, 0, [], {0: (0, None, None)}

    def change(self, kind, id): self.feed.append((kind, self.version) + self.rows[id].shown(id))

    def insert(self, id, k, v, s):
        assert id not in self.rows, "the model was given row %d twice" % id
        self.rows[id] = Row(k, v, s, self.version)
        self.change("insert", id)

    def delete(self, id):
        self.change("delete", id)
        del self.rows[id]

    def update(self, id, **new):
        self.change("update_preimage", id)
        row = self.rows[id]
        for name, value in new.items(): setattr(row, name, value)
        row.changed = self.version
        self.change("update_postimage", id)

    def where(self, test): return sorted(id for id, r in self.rows.items() if test(id, r))

    def end_commit(self):
        self.sums[self.version] = (len(self.rows), sum(self.rows) if self.rows else None, sum(r.v for r in self.rows.values()) if self.rows else None)


class Operation:
    """A statement, what it does to the model, and what came of it."""

    def __init__(self, name, sql, apply, txn=None):
        self.name, self.sql, self.apply, self.txn = name, sql, apply, txn
        self.outcome = None                 # "ok", a condition name, "killed"; None: never begun
        self.attempts = 0


def quoted(text): return "'" + text + "'"
def remainder(a, b): return a % b if a >= 0 else -(-a % b)       # as SQL has it


class Maker:
    """Random statements of one worker, each with its meaning in the model. Statements never depend on time, chance or row order."""

    def __init__(self, worker, seed, variant):
        self.random, self.worker, self.n, self.variant = random.Random(seed * 1000 + worker), worker, 0, variant
        self.ids = []                       # some that may be there
        self.added = 0                      # columns

    def fresh(self):
        self.n += 1
        return (self.worker + 1) * 10**9 + self.n * 1000

    def make(self):
        kinds = [("append", 5), ("idempotent", 1), ("copy", 2), ("update", 5), ("delete", 3), ("merge", 5), ("replace", 1), ("overwrite", 1), ("property", 1), ("column", 1), ("optimize", 2)]
        kind = self.random.choices([k for k, _ in kinds], [w for _, w in kinds])[0]
        op = getattr(self, kind)()
        op.name = "w%d-%d-%s" % (self.worker, self.n, op.name)
        return op

    def key(self): return self.random.randrange(KEYS)

    def values(self):
        base, k = self.fresh(), self.key()
        rows = [(base + i, k if self.random.random() < 0.7 else self.key(), self.random.randrange(1000), "a%d" % self.random.randrange(50)) for i in range(self.random.randint(1, 20))]
        self.ids = (self.ids + [r[0] for r in rows])[-200:]
        return rows

    def append(self, txn=None):
        rows = self.values()
        text = "INSERT INTO t (id, k, v, s) VALUES " + ", ".join("(%d, %d, %d, '%s')" % r for r in rows)
        def apply(m):
            for r in rows: m.insert(*r)
        return Operation("append", text, apply, txn)

    def idempotent(self):
        op = self.append(txn=("app%d" % self.worker, self.n + 1))
        op.name = "idempotent"
        return op

    def copy(self):
        base, k, part = self.fresh(), self.key(), self.random.randrange(5)
        text = "INSERT INTO t (id, k, v, s) SELECT %d + row_number() OVER (ORDER BY id), %d, v + 1, concat('c', s) FROM t WHERE k = %d AND id %% 5 = %d" % (base, (k + 1) % KEYS, k, part)
        def apply(m):
            found = [(m.rows[id].v, m.rows[id].s) for id in m.where(lambda id, r: r.k == k and id % 5 == part)]
            for i, (v, text) in enumerate(found): m.insert(base + i + 1, (k + 1) % KEYS, v + 1, ("c" + text)[:100])
        return Operation("copy", text.replace("concat('c', s)", "left(concat('c', s), 100)"), apply)

    def update(self):
        self.n += 1
        k, part, add, mark = self.key(), self.random.randrange(4), self.random.randint(-5, 9), "u%d" % self.n
        def apply(m):
            for id in m.where(lambda id, r: r.k == k and remainder(r.v, 4) == part): m.update(id, v=m.rows[id].v + add, s=mark)
        return Operation("update", "UPDATE t SET v = v + %d, s = '%s' WHERE k = %d AND v %% 4 = %d" % (add, mark, k, part), apply)

    def delete(self):
        self.n += 1
        k, part = self.key(), self.random.randrange(6)
        if self.random.random() < 0.15:
            def apply(m):
                for id in m.where(lambda id, r: r.k == k): m.delete(id)
            return Operation("delete", "DELETE FROM t WHERE k = %d" % k, apply)
        def apply(m):
            for id in m.where(lambda id, r: r.k == k and id % 6 == part): m.delete(id)
        return Operation("delete", "DELETE FROM t WHERE k = %d AND id %% 6 = %d" % (k, part), apply)

    def old(self, but=()): return sorted(set(self.random.sample(self.ids, min(len(self.ids), 15))) - set(but))

    def merge(self):
        """Over the whole table: new rows come in, old ones change, go, or are marked where no source row speaks of them."""
        if self.random.random() < 0.5: return self.merge_key()
        source = self.values()
        source += [(id, self.key(), self.random.randrange(1000), "m") for id in self.old(but=[r[0] for r in source])]
        drops, marks, k = self.random.random() < 0.4, self.random.random() < 0.2, self.key()
        text = "MERGE INTO t USING (SELECT * FROM VALUES " + ", ".join("(%dL, %d, %dL, '%s')" % r for r in source) + " AS x(id, k, v, s)) AS x ON t.id = x.id"
        if drops: text += " WHEN MATCHED AND x.v > 800 THEN DELETE"
        text += " WHEN MATCHED AND x.v > 200 THEN UPDATE SET v = t.v + x.v, s = x.s WHEN NOT MATCHED AND x.v < 950 THEN INSERT (id, k, v, s) VALUES (x.id, x.k, x.v, x.s)"
        if marks: text += " WHEN NOT MATCHED BY SOURCE AND t.k = %d AND t.v < 20 THEN UPDATE SET s = 'gone'" % k
        def apply(m):
            matched = [r for r in source if r[0] in m.rows]
            fresh = [r for r in source if r[0] not in m.rows and r[2] < 950]
            lonely = m.where(lambda id, r: marks and r.k == k and r.v < 20 and all(id != x[0] for x in matched))
            for id, _, v, text in matched:
                if drops and v > 800: m.delete(id)
                elif v > 200: m.update(id, v=m.rows[id].v + v, s=text)
            for id in lonely: m.update(id, s="gone")
            for row in fresh: m.insert(*row)
        return Operation("merge", text, apply)

    def merge_key(self):
        """Over one value of k, so that others may go on beside it in a partitioned table."""
        self.n += 1
        k, source = self.key(), [(id, self.random.randrange(1000)) for id in self.old()] or [(0, 0)]
        text = ("MERGE INTO t USING (SELECT * FROM VALUES " + ", ".join("(%dL, %dL)" % r for r in source) + " AS x(id, v)) AS x ON t.id = x.id AND t.k = %d" % k +
                " WHEN MATCHED AND x.v % 3 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET v = x.v - t.v")
        def apply(m):
            for id, v in source:
                if id not in m.rows or m.rows[id].k != k: continue
                if v % 3 == 0: m.delete(id)
                else: m.update(id, v=v - m.rows[id].v)
        return Operation("merge", text, apply)

    def replace(self):
        base, k = self.fresh(), self.key()
        rows = [(base + i, k, i, "r") for i in range(self.random.randint(0, 8))] or [(base, k, 0, "r")]
        # REPLACE WHERE takes no list of columns; those that another worker added are filled from a row that is not there.
        text = ("INSERT INTO t REPLACE WHERE k = %d SELECT x.*, o.* EXCEPT (id, k, v, s) FROM VALUES " % k + ", ".join("(%dL, %d, %dL, '%s')" % r for r in rows) +
                " AS x(id, k, v, s) LEFT JOIN (SELECT * FROM t WHERE false) AS o ON true")
        def apply(m):
            for id in m.where(lambda id, r: r.k == k): m.delete(id)
            for r in rows: m.insert(*r)
        return Operation("replace", text, apply)

    def overwrite(self):
        rows = self.values()
        if self.random.random() < 0.8: return self.append()
        text = "INSERT OVERWRITE t (id, k, v, s) VALUES " + ", ".join("(%d, %d, %d, '%s')" % r for r in rows)
        def apply(m):
            for id in sorted(m.rows): m.delete(id)
            for r in rows: m.insert(*r)
        return Operation("overwrite", text, apply)

    def property(self):
        self.n += 1
        return Operation("property", "ALTER TABLE t SET TBLPROPERTIES ('harness.w%d' = '%d')" % (self.worker, self.n), lambda m: None)

    def column(self):
        """Another column, which is NULL in every row; at most three a worker, for each such commit makes all others begin anew."""
        if self.added == 3: return self.property()
        self.n += 1
        self.added += 1
        return Operation("column", "ALTER TABLE t ADD COLUMN w%d_%d INT" % (self.worker, self.n), lambda m: None)


    def optimize(self):
        """The same rows in other files."""
        self.n += 1
        texts = ["OPTIMIZE t", "OPTIMIZE t ZORDER BY (id, v)", "REORG TABLE t APPLY (PURGE)"] + ["OPTIMIZE t WHERE k = %d" % self.key()] * (3 if self.variant in PARTITIONED else 0)
        return Operation("optimize", self.random.choice(texts), lambda m: None)


# ---- workers ----

class Worker(threading.Thread):
    def __init__(self, run, number):
        super().__init__(daemon=True)
        self.run_of, self.number, self.maker = run, number, Maker(number, run.seed, run.variant)
        self.random = random.Random(run.seed * 77 + number)
        self.operations, self.trouble = [], None

    def run(self):
        try:
            while time.monotonic() < self.run_of.until and not self.trouble: self.session()
        except Exception as e: self.trouble = "worker %d: %r" % (self.number, e)

    def session(self):
        """One process that runs a few statements, perhaps not to its end."""
        again = [o for o in self.operations[-3:] if o.txn and o.outcome == "killed" and o.attempts < 5]
        batch = again + [self.maker.make() for _ in range(self.random.randint(1, 5))]
        self.operations += [o for o in batch if o not in again]
        text = "SET silt.threads = 1;\nSET silt.commit.rerun = %d;\n" % self.random.choice((0, 0, 3, 10))
        for i, o in enumerate(batch):
            text += "SET spark.databricks.delta.commitInfo.userMetadata = %s;\n" % quoted(o.name)
            if o.txn: text += "SET spark.databricks.delta.write.txnAppId = %s;\nSET spark.databricks.delta.write.txnVersion = %d;\n" % (quoted(o.txn[0]), o.txn[1])
            text += o.sql + ";\n"
            if o.txn: text += "RESET spark.databricks.delta.write.txnAppId;\nRESET spark.databricks.delta.write.txnVersion;\n"
            text += "SELECT %d AS acknowledged;\n" % i
        process = subprocess.Popen([SILT, "sql", "--format", "jsonl", "-f", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.run_of.folder, env=self.run_of.env)
        disturber = threading.Thread(target=self.disturb, args=(process,), daemon=True)
        disturber.start()
        try: out, err = process.communicate(text.encode(), timeout=s.TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            self.trouble = "worker %d: a process did not end: %s" % (self.number, text)
            return
        disturber.join()
        self.note(batch, process.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))

    def disturb(self, process):
        if self.run_of.variant == "calm": return
        if self.random.random() < 0.4:
            time.sleep(self.random.random() * 0.3)
            self.signal(process, signal.SIGSTOP)
            time.sleep(self.random.random() * 0.3)
            self.signal(process, signal.SIGCONT)
        if self.random.random() < 0.3:
            time.sleep(self.random.random() * 0.3)
            self.signal(process, signal.SIGKILL)

    def signal(self, process, which):
        if process.poll() is None:
            try: process.send_signal(which)
            except ProcessLookupError: pass

    def note(self, batch, code, out, err):
        told = set()
        for line in out.splitlines():
            try: told.add(json.loads(line)["acknowledged"])
            except (ValueError, KeyError, TypeError): pass
        begun = True
        for i, o in enumerate(batch):
            if i in told: o.outcome = "ok"
            elif begun:
                begun = False
                condition = err[1:err.index("]")] if err.startswith("[") and "]" in err else None
                o.outcome = "killed" if code < 0 else condition or "killed"
                if code >= 0 and not (condition or "").startswith(CONFLICTS): self.trouble = "worker %d, %s: status %d, %s" % (self.number, o.sql[:300], code, err[:1500])
            else: continue
            o.attempts += 1


class Reader(threading.Thread):
    """Reads all the while. What it sees are whole versions, each at least as new as the one before."""

    def __init__(self, run):
        super().__init__(daemon=True)
        self.run_of, self.seen, self.trouble = run, [], None

    def run(self):
        text = "SELECT count(*) AS n, sum(id) AS ids, sum(v) AS vs FROM t;" * 3
        while time.monotonic() < self.run_of.until and not self.trouble:
            p = subprocess.run([SILT, "sql", "--format", "jsonl", text], capture_output=True, cwd=self.run_of.folder, env=self.run_of.env, timeout=s.TIMEOUT)
            if p.returncode: self.trouble = "reader: %s" % p.stderr.decode("utf-8", "replace")[:1500]
            else: self.seen += [tuple(json.loads(line)[c] for c in ("n", "ids", "vs")) for line in p.stdout.decode().splitlines()]


# ---- checking ----

class Log:
    """The table's log as JSON, without any help of the program under test."""

    def __init__(self, table):
        self.commits = []
        for n, name in enumerate(s.log_files(table)):
            assert int(name[:20]) == n, "version %d is missing" % n
            with open(os.path.join(table, "_delta_log", name), encoding="utf-8") as f: self.commits.append([json.loads(line) for line in f])

    def info(self, version): return next(a["commitInfo"] for a in self.commits[version] if "commitInfo" in a)

    def live(self):
        from urllib.parse import unquote
        files = {}
        for commit in self.commits:
            for a in commit:
                if "remove" in a: files.pop((unquote(a["remove"]["path"]), json.dumps(a["remove"].get("deletionVector"), sort_keys=True)), None)
            for a in commit:
                if "add" in a: files[(unquote(a["add"]["path"]), json.dumps(a["add"].get("deletionVector"), sort_keys=True))] = a["add"]
        return files

    def named(self):
        from urllib.parse import unquote
        return {unquote(a[kind]["path"]) for commit in self.commits for a in commit for kind in ("add", "cdc") if kind in a}


def check_acknowledgements(operations, log):
    """Returns version → operation."""
    by_name, at, done = {o.name: o for o in operations}, {}, set()
    for version in range(1, len(log.commits)):
        name = log.info(version).get("userMetadata")
        assert name in by_name, "version %d is nobody's: %s" % (version, log.info(version))
        assert name not in done, "%s is there twice, again as version %d" % (name, version)
        at[version] = by_name[name]
        done.add(name)
    for o in operations:
        if o.outcome == "ok": assert o.name in done or o.nothing_to_do, "%s was acknowledged and is not in the log: %s" % (o.name, o.sql)
        elif o.outcome != "killed": assert o.name not in done, "%s was told %s and is in the log: %s" % (o.name, o.outcome, o.sql)
    return at


def replay(at, model):
    for version in sorted(at):
        model.version = version
        at[version].apply(model)
        model.end_commit()


def check_sums(model):
    wanted = sorted(random.Random(1).sample(sorted(model.sums), min(60, len(model.sums))))
    rows = sql(";".join("SELECT count(*) AS n, sum(id) AS ids, sum(v) AS vs FROM t VERSION AS OF %d" % v for v in wanted))
    for version, row in zip(wanted, rows): s.equal((row["n"], row["ids"], row["vs"]), model.sums[version], "version %d" % version)


def check_seen(seen, model):
    version, last = 0, max(model.sums)
    for row in seen:
        before = version
        while version <= last and model.sums.get(version) != row: version += 1
        assert version <= last, "a reader saw %r, which is no version from %d on" % (row, before)


def difference(got, expected):
    extra, missing = [x for x in got if x not in expected], [x for x in expected if x not in got]
    return "%d too many, first %s; %d missing, first %s" % (len(extra), extra[:3], len(missing), missing[:3])


def check_rows(model):
    got = {(r["id"], r["k"], r["v"], r["s"]) for r in sql("SELECT id, k, v, s FROM t")}
    expected = {row.shown(id) for id, row in model.rows.items()}
    assert got == expected, "rows: " + difference(got, expected)
    s.equal(s.value("SELECT count(*) FROM t"), len(model.rows), "the count")


def check_feed(model, last):
    got = sorted((r["_change_type"], r["_commit_version"], r["id"], r["k"], r["v"], r["s"]) for r in sql("SELECT * FROM table_changes('t', 1, %d)" % last))
    expected = sorted(model.feed)
    if got == expected: return
    for version in range(1, last + 1):
        g, e = [x for x in got if x[1] == version], [x for x in expected if x[1] == version]
        if g != e: raise AssertionError("change feed of version %d: %s" % (version, difference(g, e)))


def check_row_ids(at, last):
    """Ids as of many versions, oldest first: known[(id, born)] must not change, and no row id serves two of them."""
    known, owner, shadow = {}, {}, Model()
    every = max(1, last // 25)
    wanted = [v for v in sorted(at) if v % every == 0 or v == last]
    states = {}
    for version in sorted(at):
        shadow.version = version
        at[version].apply(shadow)
        if version in wanted: states[version] = {id: (r.born, r.changed) for id, r in shadow.rows.items()}
    for version in wanted:
        rows = sql("SELECT id, _metadata.row_id AS r, _metadata.row_commit_version AS c FROM t VERSION AS OF %d" % version)
        s.equal(len({r["r"] for r in rows}), len(rows), "distinct row ids in version %d" % version)
        for r in rows:
            born, changed = states[version][r["id"]]
            s.equal(r["c"], changed, "row commit version of id %d in version %d" % (r["id"], version))
            s.equal(known.setdefault((r["id"], born), r["r"]), r["r"], "row id of id %d in version %d" % (r["id"], version))
            s.equal(owner.setdefault(r["r"], (r["id"], born)), (r["id"], born), "owner of row id %d in version %d" % (r["r"], version))


def check_statistics(table, log, partitioned):
    files = sorted(log.live().items())
    columns = ("id", "v", "s") if partitioned else ("id", "k", "v", "s")
    for start in range(0, len(files), 50):
        part = files[start:start + 50]
        texts = ["SELECT count(*) AS n, " + ", ".join("min(%s) AS min_%s, max(%s) AS max_%s, count(*) - count(%s) AS nulls_%s" % ((c,) * 6) for c in columns) + " FROM parquet.`%s`" % os.path.abspath(os.path.join(table, path)) for (path, _), _ in part]
        for ((path, vector), add), row in zip(part, sql(";".join(texts))):
            stats = json.loads(add["stats"])
            s.equal(stats["numRecords"], row["n"], "numRecords of %s" % path)
            for c in columns:
                s.equal(stats["nullCount"][c], row["nulls_" + c], "nulls of %s in %s" % (c, path))
                if c == "s" and any(len(row[m] or "") > 32 for m in ("min_s", "max_s")): continue
                for bound, name in (("minValues", "min_"), ("maxValues", "max_")): s.equal(stats[bound].get(c), row[name + c], "%s of %s in %s" % (bound, c, path))


def check_files(table, log):
    stray = [f for f in s.data_files(table) if f.endswith(".parquet") and f not in log.named()]
    assert not stray, "files of no commit: %s" % stray


class Run:
    def __init__(self, variant, options):
        self.variant, self.seed, self.folder = variant, options.seed, os.getcwd()
        self.env = s.environment()
        self.until = time.monotonic() + options.seconds
        properties = dict(VARIANTS[variant], **{"delta.checkpointInterval": "7"})
        ok("sql", "CREATE TABLE t (%s) USING DELTA%s TBLPROPERTIES (%s)" % (COLUMNS, " PARTITIONED BY (k)" if variant in PARTITIONED else "",
                                                                           ", ".join("'%s' = '%s'" % p for p in properties.items())))
        workers, self.reader = [Worker(self, n) for n in range(options.processes)], Reader(self)
        for w in [*workers, self.reader]: w.start()
        for w in [*workers, self.reader]: w.join()
        for w in [*workers, self.reader]: assert not w.trouble, w.trouble
        self.operations = [o for w in workers for o in w.operations]

    def check(self):
        table, variant = "spark-warehouse/t", self.variant
        log, model = Log(table), Model()
        last = len(log.commits) - 1
        # Statements that change nothing make no commit: an UPDATE, DELETE, MERGE or copy without a row, and a second try of an idempotent write.
        for o in self.operations: o.nothing_to_do = not o.name.endswith(("-append", "-idempotent", "-overwrite", "-property", "-replace", "-column"))
        at = check_acknowledgements(self.operations, log)
        replay(at, model)
        check_rows(model)
        check_sums(model)
        check_seen(self.reader.seen, model)
        if "delta.enableChangeDataFeed" in VARIANTS[variant]: check_feed(model, last)
        if "delta.enableRowTracking" in VARIANTS[variant]: check_row_ids(at, last)
        check_statistics(table, log, variant in PARTITIONED)
        if variant == "calm": check_files(table, log)
        counts = {}
        for o in self.operations: counts[o.outcome] = counts.get(o.outcome, 0) + 1
        return "%d commits, %d rows, read %d times; %s" % (last, len(model.rows), len(self.reader.seen), ", ".join("%s %d" % (k, v) for k, v in sorted(counts.items(), key=lambda x: -x[1]) if k))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--variant", action="append", choices=sorted(VARIANTS))
    parser.add_argument("--keep", action="store_true", help="leave the table behind and print where it is")
    options = parser.parse_args()
    failed, home = False, os.getcwd()
    for variant in options.variant or list(VARIANTS):
        folder = tempfile.mkdtemp(prefix="silt-harness-%s-" % variant)
        os.chdir(folder)
        try:
            said = Run(variant, options).check()
            print("ok %s\n# seed %d: %s" % (variant, options.seed, said))
        except Exception as e:
            failed = True
            lines = str(e).splitlines() or [type(e).__name__]
            print("not ok %s: seed %d: %s" % (variant, options.seed, lines[0]))
            for line in lines[1:]: print("    " + line)
            if not isinstance(e, AssertionError): raise
        finally:
            os.chdir(home)
            if options.keep: print("# %s" % folder)
            else: shutil.rmtree(folder, ignore_errors=True)
        sys.stdout.flush()
    sys.exit(1 if failed else 0)


if __name__ == "__main__": main()
