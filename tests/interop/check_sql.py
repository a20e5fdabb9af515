#!/usr/bin/env python3
"""Runs text tests (tests/sql/README.md) through the silt command and compares.

usage: check_sql.py [--silt PATH] [--jobs N] [-v] [--summary] [--store s3|hdfs|azure|gcs] [FILES…]       (default: tests/sql/spark/*.test)

With --store, warehouse and folder are in that store: the server of tests/services that the environment names, or one that is started for the run. Where Silt refuses to rename a managed table,
because the store moves no folders, that statement and what is asked of the table afterwards are skipped.
Each file has its own warehouse and folder; queries of a file that has no statements run one process each, in parallel.
Prints 'ok NAME', 'not ok NAME:LINE: why', and last 'N passed, N failed, N skipped'. Exit status 1 if something failed.
"""
import argparse
import concurrent.futures
import glob
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")


def read_tests(path):
    """dicts of kind (statement, error, query), sql, line; condition; rows, rowsort, approx, types"""
    lines = open(path, encoding="utf-8").read().split("\n")
    out, i, comment = [], 0, ""
    while i < len(lines):
        line = lines[i]
        if not line.strip():
            i += 1
            continue
        if line.startswith("#"):
            comment = line[1:].strip()
            i += 1
            continue
        words, start = line.split(), i + 1
        i += 1
        body = []
        while i < len(lines) and lines[i] != "" and lines[i] != "----":
            body.append(lines[i])
            i += 1
        test = {"here": os.path.dirname(os.path.abspath(path)), "line": start, "sql": "\n".join(body), "types": comment}
        comment = ""
        if words[:2] == ["statement", "ok"]:
            test["kind"] = "statement"
        elif words[:2] == ["statement", "error"]:
            test["kind"], test["condition"] = "error", words[2] if len(words) > 2 else ""
        elif words[0] == "query":
            test.update(kind="query", rowsort="rowsort" in words, approx="approx" in words, rows=[])
            i += 1                                                # the line of dashes
            while i < len(lines) and lines[i] != "":
                test["rows"].append(json.loads(lines[i]))
                i += 1
        else:
            raise SystemExit("%s:%d: not a record: %s" % (path, start, line))
        out.append(test)
    return out


def known_differences(path):
    """SQL → reason of differences.txt beside the file (tests/sql/README.md)."""
    try: text = open(os.path.join(os.path.dirname(path), "differences.txt"), encoding="utf-8").read()
    except FileNotFoundError: return {}
    lines = [line for line in text.split("\n") if line and not line.startswith("#")]
    return dict(zip(lines[1::2], lines[0::2]))


def same(got, want, approx=False, type_=""):
    if isinstance(want, bool) or isinstance(got, bool) or want is None or got is None or isinstance(want, str):
        return type(got) is type(want) and got == want
    if isinstance(want, (int, float)):
        if not isinstance(got, (int, float)):
            return False
        if isinstance(want, float) and want == 0 and isinstance(got, float) and math.copysign(1, got) != math.copysign(1, want):
            return False
        return got == want or (approx and abs(got - want) <= 1e-13 * max(abs(want), abs(got)))
    if isinstance(want, dict):
        return isinstance(got, dict) and list(got) == list(want) and all(same(got[k], want[k], approx) for k in want)
    if not isinstance(got, list) or len(got) != len(want):
        return False
    return all(same(g, w, approx) for g, w in zip(got, want))


def map_order(v, t):
    """Maps have no order: sort the entries of columns whose type is a map (only at the top level of the type)."""
    if isinstance(v, list) and t.startswith("map<"):
        return sorted(v, key=lambda e: json.dumps(e, sort_keys=True))
    return v


def top_types(text):
    out, depth, cur = [], 0, ""
    for c in text:
        depth += c in "<("
        depth -= c in ">)"
        if c == "," and depth == 0:
            out.append(cur.strip())
            cur = ""
        else:
            cur += c
    return out + [cur.strip()]


def run(silt, sql, warehouse, conf, timeout=60):
    cmd = [silt, "sql", sql, "--format", "jsonl"]
    for k, v in {"spark.sql.session.timeZone": "UTC", "spark.sql.warehouse.dir": warehouse, **conf}.items():
        cmd += ["--conf", "%s=%s" % (k, v)]
    try:
        p = subprocess.run(cmd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout)
    except subprocess.TimeoutExpired:
        return 124, "", "timed out"
    return p.returncode, p.stdout.decode("utf-8", "replace"), p.stderr.decode("utf-8", "replace")


def pairs_to_list(pairs):
    return [v for _, v in pairs]


def parse_row(line):
    """The values of one jsonl object, in order, even where two columns have one name; nested objects stay objects."""
    decoder = json.JSONDecoder(object_pairs_hook=list)
    def fix(v):
        if isinstance(v, Pairs):
            return {k: fix(x) for k, x in v}
        if isinstance(v, list):
            return [fix(x) for x in v]
        return v
    class Pairs(list):
        pass
    decoder = json.JSONDecoder(object_pairs_hook=Pairs)
    return [fix(v) for _, v in decoder.decode(line)]


def check(silt, test, warehouse, directory, conf={}, setup=""):
    sql = test["sql"].replace("${DIR}", directory).replace("${HERE}", test["here"])
    rc, out, err = run(silt, setup + sql, warehouse, conf)
    if rc > 1:
        return "exit status %d: %s" % (rc, err.strip()[:200])
    if test["kind"] == "error":
        if rc == 0:
            return "succeeded, expected %s" % (test["condition"] or "an error")
        if test["condition"].split(".")[0] not in err:
            return "expected %s, got: %s" % (test["condition"], err.strip().split("\n")[0][:200])
        return None
    if rc:
        return err.strip().replace("\n", " ")[:300] or "failed without a word"
    if test["kind"] == "statement":
        return None
    try:
        got = [parse_row(line) for line in out.split("\n") if line]
    except Exception as e:
        return "unreadable output %r: %s" % (e, out[:200])
    types = top_types(test["types"])
    got = [[map_order(v, t) for v, t in zip(r, types)] if len(r) == len(types) else r for r in got]
    want = [[map_order(v, t) for v, t in zip(r, types)] if len(r) == len(types) else r for r in test["rows"]]
    if test["rowsort"]:
        got, want = (sorted(x, key=lambda r: json.dumps(r, sort_keys=True)) for x in (got, want))
    if not same(got, want, test["approx"]):
        text = lambda x: json.dumps(x, ensure_ascii=False, separators=(",", ":"))[:300]
        return "got %s, expected %s" % (text(got), text(want))
    return None


class Place:
    """A store: its settings, and the locations of paths in it."""

    def __init__(self, name):
        sys.path.append(os.path.join(HERE, "..", "remote"))
        import lib_remote as remote
        self.remote, self.server = remote, remote.server(name)
        self.settings = remote.settings(self.server)

    def at(self, path):
        return self.remote.location(self.server, path.lstrip("/"))

    def make_folder(self, path):
        """One in which there is nothing that counts."""
        self.remote.upload(self.server, path.lstrip("/") + "/_there", b"")
        return self.at(path)


class Renames:
    """The tables that a store did not let be renamed."""

    def __init__(self):
        self.names = set()

    def not_run(self, sql, why):
        """Did the statement fail because it asks for such a rename, or for a table that one would have made?"""
        rename = re.match(r"\s*ALTER\s+TABLE\s+(\S+)\s+RENAME\s+TO\s+(\S+)", sql, re.I)
        if why and rename and "RENAME_IN_OBJECT_STORE" in why:
            self.names |= {name.strip("`").split(".")[-1] for name in rename.groups()}
        return why is not None and bool(self.names & set(re.findall(r"\w+", sql)))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--silt", default=os.environ.get("SILT", os.path.join(ROOT, "build", "silt")))
    ap.add_argument("--jobs", type=int, default=2)
    ap.add_argument("-v", action="store_true", help="print the tests that pass, too")
    ap.add_argument("--summary", action="store_true", help="one line per file and the most frequent reasons only")
    ap.add_argument("--store")
    ap.add_argument("files", nargs="*")
    a = ap.parse_args()
    if not os.access(a.silt, os.X_OK):
        print("no executable at", a.silt)
        return 2
    good = bad = skipped = 0
    reasons, place = {}, Place(a.store) if a.store else None
    for path in a.files or sorted(glob.glob(os.path.join(HERE, "..", "sql", "spark", "*.test"))):
        tests, name, passed, apart = read_tests(path), os.path.basename(path)[:-5], 0, 0
        known = known_differences(path)
        work = tempfile.mkdtemp(prefix="silt-sqltest-")
        warehouse, directory = os.path.join(work, "warehouse"), os.path.join(work, "dir")
        os.makedirs(directory)
        os.makedirs(warehouse)
        settings, renames = {**place.settings, "silt.catalog.dir": work + "/names"} if place else {}, Renames()
        if place: warehouse, directory = place.at(warehouse), place.make_folder(directory)
        if any(t["kind"] == "statement" for t in tests):          # in order; SET and USE hold for the statements after them
            results, conf, setup = [], dict(settings), ""
            for t in tests:
                results.append(check(a.silt, t, warehouse, directory, conf, setup))
                if t["kind"] == "statement" and results[-1] is None and t["sql"].startswith("SET "):
                    key, value = t["sql"][4:].split("=", 1)
                    conf[key.strip()] = value.strip()
                if t["kind"] == "statement" and results[-1] is None and t["sql"].startswith("RESET "):
                    conf.pop(t["sql"][6:].strip(), None)
                if t["kind"] == "statement" and results[-1] is None and t["sql"].startswith("USE "):
                    setup = t["sql"] + "; "
        else:
            with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
                results = list(pool.map(lambda t: check(a.silt, t, warehouse, directory, settings), tests))
        for t, why in zip(tests, results):
            if why is not None and t["sql"] in known:
                apart += 1
                print("skip %s:%d: differs from Spark: %s" % (name, t["line"], known[t["sql"]]))
            elif renames.not_run(t["sql"], why):
                apart += 1
                print("skip %s:%d: the store moves no folders, and the table keeps its name" % (name, t["line"]))
            elif why is None:
                passed += 1
                if a.v and not a.summary:
                    print("ok %s:%d" % (name, t["line"]))
            else:
                key = re.sub(r"'[^']*'|`[^`]*`|[0-9]+", "…", why)[:90]
                reasons.setdefault(key, []).append(t["sql"])
                if not a.summary:
                    print("not ok %s:%d: %s  [%s]" % (name, t["line"], why, t["sql"].replace("\n", " ")[:200]))
        print("# %s: %d of %d" % (name, passed, len(tests)))
        sys.stdout.flush()
        good, bad, skipped = good + passed, bad + len(tests) - passed - apart, skipped + apart
        shutil.rmtree(work, ignore_errors=True)
    if a.summary:
        for key, sqls in sorted(reasons.items(), key=lambda x: -len(x[1]))[:40]:
            print("%4d  %s   e.g. %s" % (len(sqls), key, sqls[0].replace("\n", " ")[:100]))
    print("%d passed, %d failed, %d skipped" % (good, bad, skipped))
    return 1 if bad or not good else 0


if __name__ == "__main__":
    sys.exit(main())
