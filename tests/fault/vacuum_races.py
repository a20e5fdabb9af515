#!/usr/bin/env python3
"""VACUUM, FULL and LITE, over and over beside writers and readers, everything killed at random. The retention is a few seconds, and longer than any statement takes (else the run tells
nothing and is skipped). No reader of a version that was current within it may fail or see other rows than the last one who read it; no file of the newest version may be missing at the
end; and a last VACUUM without anybody beside it leaves the files of the newest version and nothing else.

usage: vacuum_races.py [--seconds 8] [--retention 5] [--processes 3] [--seed N] [--keep]
"""
import argparse, json, os, random, shutil, signal, subprocess, sys, tempfile, threading, time
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import silt_script as s
from silt_script import SILT, ok, sql, value

OFF = "SET spark.databricks.delta.retentionDurationCheck.enabled = false;\n"
T = "spark-warehouse/t"
CONFLICTS = ("DELTA_CONCURRENT_", "DELTA_METADATA_CHANGED", "DELTA_PROTOCOL_CHANGED", "DELTA_MAX_COMMIT_RETRIES_EXCEEDED")


class Loop(threading.Thread):
    """Runs one session after the other until the time is over."""

    def __init__(self, run, number, kills):
        super().__init__(daemon=True)
        self.of, self.random, self.kills, self.number = run, random.Random(run.seed * 100 + number), kills, number
        self.trouble, self.done, self.longest = None, 0, 0

    def run(self):
        try:
            while time.monotonic() < self.of.until and not self.trouble and not self.of.stop: self.turn()
        except Exception as e: self.trouble = repr(e)
        if self.trouble: self.of.stop = True

    def session(self, text):
        """(status, rows, error); a killed one has status < 0."""
        began = time.monotonic()
        p = subprocess.Popen([SILT, "sql", "--format", "jsonl", "-f", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.of.env)
        if self.random.random() < self.kills: threading.Timer(self.random.random() * 0.4, lambda: p.poll() is None and p.kill()).start()
        out, err = p.communicate(text.encode(), timeout=s.TIMEOUT)
        self.longest = max(self.longest, time.monotonic() - began)
        self.done += p.returncode == 0
        return p.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace")


class Writer(Loop):
    n = 0

    def turn(self):
        k, part = self.random.randrange(4), self.random.randrange(5)
        base = (self.number + 1) * 10**7 + self.n * 1000
        self.n += 1
        statement = self.random.choice(["INSERT INTO t SELECT id + %d, CAST(id %% 4 AS INT), 0 FROM range(900)" % base, "DELETE FROM t WHERE k = %d AND id %% 5 = %d" % (k, part),
                                        "UPDATE t SET v = v + 1 WHERE k = %d AND id %% 5 = %d" % (k, part), "DELETE FROM t WHERE k = %d" % k])
        status, _, err = self.session("SET silt.threads = 1; SET silt.commit.rerun = 3;\n" + statement)
        if status > 0 and not err[1:].startswith(CONFLICTS): self.trouble = "%s: %s" % (statement, err[:1000])


class Reader(Loop):
    def turn(self):
        """A version that was current within half of the retention, read in less than the other half."""
        log = T + "/_delta_log/%020d.json"
        newest = max(s.versions(T))
        version = newest
        for _ in range(self.random.randrange(12)):
            if version > 0 and os.stat(log % version).st_mtime > time.time() - self.of.retention / 2: version -= 1
        began = time.monotonic()
        status, out, err = self.session("SET silt.threads = 1;\nSELECT count(*) AS n, CAST(sum(id + v) AS BIGINT) AS total FROM t VERSION AS OF %d" % version)
        if time.monotonic() - began > self.of.retention / 2 or status < 0: return
        if status: self.trouble = "version %d of %d: %s" % (version, newest, err[:1000])
        else:
            row = json.loads(out.splitlines()[-1])
            seen = (row["n"], row["total"])
            if self.of.seen.setdefault(version, seen) != seen: self.trouble = "version %d was %r and is %r" % (version, self.of.seen[version], seen)


class Cleaner(Loop):
    def turn(self):
        kind = self.random.choice(["FULL", "FULL", "LITE"])
        status, _, err = self.session(OFF + "SET silt.threads = 1;\nVACUUM t %s RETAIN %.7f HOURS" % (kind, self.of.retention / 3600))
        if status > 0: self.trouble = "VACUUM %s: %s" % (kind, err[:1000])


class Run:
    def __init__(self, o):
        self.seed, self.retention, self.stop, self.seen, self.env = o.seed, o.retention, False, {}, s.environment()
        ok("sql", "CREATE TABLE t (id BIGINT, k INT, v INT) USING DELTA PARTITIONED BY (k) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true', 'delta.enableChangeDataFeed' = 'true', "
           "'delta.checkpointInterval' = '9'); INSERT INTO t SELECT id, CAST(id % 4 AS INT), 0 FROM range(900)")
        self.until = time.monotonic() + o.seconds
        self.loops = [Writer(self, n, 0.3) for n in range(o.processes)] + [Reader(self, 50, 0), Reader(self, 51, 0), Cleaner(self, 60, 0.4), Cleaner(self, 61, 0.1)]
        for loop in self.loops: loop.start()
        for loop in self.loops: loop.join()

    def check(self):
        slowest = max(loop.longest for loop in self.loops if isinstance(loop, Writer))
        if slowest > self.retention * 0.8: raise s.Skip("a statement took %.1f s, which the retention of %.1f s does not allow" % (slowest, self.retention))
        for loop in self.loops: assert not loop.trouble, loop.trouble
        s.equal(sql("FSCK REPAIR TABLE t DRY RUN"), [], "files of the newest version that are gone")
        before = sql("SELECT count(*) AS n, sum(id + v) AS total FROM t")
        for _ in range(2): ok("sql", OFF + "VACUUM t RETAIN 0 HOURS")
        s.equal(sql("SELECT count(*) AS n, sum(id + v) AS total FROM t"), before, "rows after the last VACUUM")
        live = {f["path"] for f in ok("files", "t", "--format", "jsonl").rows()}
        left = [f for f in s.data_files(T) if f not in live and not f.startswith("deletion_vector")]
        s.equal(left, [], "files that are nobody's")
        done = {kind.__name__: sum(loop.done for loop in self.loops if isinstance(loop, kind)) for kind in (Writer, Reader, Cleaner)}
        return "%d versions; done: %s; the slowest write took %.1f s" % (max(s.versions(T)), ", ".join("%s %d" % x for x in done.items()), slowest)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--retention", type=float, default=20 if s.SANITIZED else 5)
    parser.add_argument("--processes", type=int, default=3)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--keep", action="store_true", help="leave the table behind and print where it is")
    o = parser.parse_args()
    home, folder, failed = os.getcwd(), tempfile.mkdtemp(prefix="silt-vacuum-races-"), False
    os.chdir(folder)
    try: print("ok vacuum_races\n# seed %d: %s" % (o.seed, Run(o).check()))
    except s.Skip as e: print("skip vacuum_races: %s" % e)
    except AssertionError as e:
        failed = True
        print("not ok vacuum_races: seed %d: %s" % (o.seed, str(e).replace("\n", "\n    ")))
    finally:
        os.chdir(home)
        if o.keep: print("# %s" % folder)
        else: shutil.rmtree(folder, ignore_errors=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__": main()
