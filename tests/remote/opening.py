#!/usr/bin/env python3
"""How often a store is asked when a table is opened: with a checkpoint, nothing cached, in three rounds (the hint beside the first page of the listing; the listing from the checkpoint on; the checkpoint, whole
and by one request, beside the commits behind it), and nothing is asked about the checkpoint afterwards where the store's answers tell of which version their bytes are.
usage: opening.py [--store NAME]..."""
import collections, os, re, subprocess, sys, tempfile, urllib.parse
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib_remote as remote

COMMITS, BEHIND = 40, 4  # in all, and behind the checkpoint
STORES = [s for s in remote.SERVERS if s != "hdfs"]  # whose answers have tags


class Opener:
    def __init__(self, server, proxy):
        self.server, self.proxy = server, proxy
        self.table = remote.location(server, "opening-%d/t" % os.getpid(), proxy.endpoint)
        self.words = [w for kv in remote.settings(server, proxy.endpoint).items() for w in ("--conf", "%s=%s" % kv)]

    def silt(self, *command):
        done = subprocess.run([remote.SILT, *command, *self.words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
        if done.returncode: raise AssertionError("%s: %s" % (" ".join(command)[:100], done.stderr[-300:]))
        return done.stdout

    def make(self):
        t = "delta.`%s`" % self.table
        insert = "INSERT INTO %s VALUES (%%d)" % t
        self.silt("sql", "; ".join(["CREATE TABLE %s (id INT) USING delta TBLPROPERTIES ('delta.checkpointInterval' = '1000')" % t] + [insert % i for i in range(COMMITS - BEHIND - 1)]))
        self.silt("checkpoint", self.table)
        self.silt("sql", "; ".join(insert % i for i in range(BEHIND)))

    def asked(self, cache):
        """What opening asked for: {what: how often}."""
        self.proxy.tell("zero")
        if not re.search(r"\bid\b.*\bint\b", self.silt("schema", self.table, "--conf", "silt.cache.dir=" + cache)): raise AssertionError("the schema is not that of the table")
        return collections.Counter(kind(*line) for line in self.proxy.log())


def kind(method, target):
    path, query = urllib.parse.urlsplit(target)[2:4]
    name = urllib.parse.unquote(path).rsplit("/", 1)[-1]
    if method == "HEAD" or (method == "GET" and "alt=media" not in query and "/o/" in path and "/b/" in path): return "look"  # Google's JSON interface looks by GET
    if re.search(r"(list-type=2|comp=list|prefix=)", query): return "listing"
    return name if name == "_last_checkpoint" else name.split(".", 1)[-1]


def opening(server):
    with remote.Proxy(server.port) as proxy, tempfile.TemporaryDirectory() as cache:
        o, problems = Opener(server, proxy), []
        o.make()
        cold, warm = o.asked(cache), o.asked(cache)
        expected = {"_last_checkpoint": 1, "checkpoint.parquet": 1, "json": BEHIND, "look": 0}
        for what, n in expected.items():
            if cold[what] != n: problems.append("nothing cached: %d times %s, not %d (%s)" % (cold[what], what, n, dict(cold)))
        if not 1 <= cold["listing"] <= 2 or sum(cold.values()) > sum(expected.values()) + 3: problems.append("nothing cached: %s" % dict(cold))
        if warm["listing"] != 1 or warm["checkpoint.parquet"] + warm["json"] + warm["_last_checkpoint"]: problems.append("cached: %s" % dict(warm))
        return problems


def main():
    results = remote.Results()
    asked = remote.options_of(__doc__, STORES).parse_args().store
    for server in remote.servers("opening", results, asked or [s for s in remote.FOUR if s in STORES]): results.run("opening/" + server.store, opening, server)
    results.exit()


if __name__ == "__main__": main()
