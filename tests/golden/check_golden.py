#!/usr/bin/env python3
"""Compares what silt reads from the golden tables with what Spark read when it wrote them.

usage: check_golden.py [--silt PATH] [--only GLOB] [--jobs N] [--timeout S]

Of each table in expected/*.json: the newest version (version, number of files, protocol, schema, partition columns, rows), every earlier
version (rows, number of files), and the listed queries (rows in order, or the condition of an error). Prints 'ok NAME' or
'not ok NAME: why', and last 'N passed, N failed, N skipped'. Exit status 1 if something failed. CATALOGUE.md tells the canonical form.
"""
import argparse
import base64
import concurrent.futures
import fnmatch
import glob
import hashlib
import json
import os
import re
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


# ---- the canonical form of a row ----------------------------------------------------------------------------------------------

def text(s):
    return '"' + re.sub(r'["\\\x00-\x1f]', lambda m: "\\" + m[0] if m[0] in '"\\' else "\\u%04x" % ord(m[0]), s) + '"'


def days(y, m, d):
    """Days since 1970-01-01 in the proleptic Gregorian calendar, any year."""
    y -= m <= 2
    era, yoe = y // 400, y % 400
    return era * 146097 + yoe * 365 + yoe // 4 - yoe // 100 + (153 * (m - 3 if m > 2 else m + 9) + 2) // 5 + d - 719469


def micros(s):
    m = re.fullmatch(r"([+-]?\d+)-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?Z?", s)
    if not m:
        raise ValueError("not a timestamp: " + s)
    seconds = ((days(int(m[1]), int(m[2]), int(m[3])) * 24 + int(m[4])) * 60 + int(m[5])) * 60 + int(m[6])
    return seconds * 1000000 + int((m[7] or "").ljust(6, "0"))


def variant(v):
    """A variant by value: keys sorted, a whole number without its fraction."""
    if isinstance(v, float) and v == int(v) and abs(v) < 1e15:
        v = int(v)
    if isinstance(v, list):
        return "[" + ",".join(map(variant, v)) + "]"
    if isinstance(v, dict):
        return "{" + ",".join(text(k) + ":" + variant(v[k]) for k in sorted(v)) + "}"
    return text(v) if isinstance(v, str) else json.dumps(v)


def canon(v, t):
    """The canonical text of a jsonl value of a Delta type (as in the table's schema)."""
    if v is None:
        return "null"
    kind = t["type"] if isinstance(t, dict) else t
    if kind == "struct":
        return "{" + ",".join(text(f["name"]) + ":" + canon(v.get(f["name"]), f["type"]) for f in t["fields"]) + "}"
    if kind == "array":
        return "[" + ",".join(canon(x, t["elementType"]) for x in v) + "]"
    if kind == "map":
        return "[" + ",".join(sorted("[%s,%s]" % (canon(k, t["keyType"]), canon(x, t["valueType"])) for k, x in v)) + "]"
    if kind == "boolean":
        return "true" if v else "false"
    if kind in ("byte", "short", "integer", "long"):
        return str(int(v))
    if kind in ("float", "double"):
        form, nan = (">f", "7fc00000") if kind == "float" else (">d", "7ff8000000000000")
        x = float(v)
        return '"0x%s"' % (nan if x != x else struct.pack(form, x).hex())
    if kind == "binary":
        return '"%s"' % base64.b64decode(v).hex()
    if kind in ("timestamp", "timestamp_ntz"):
        return str(micros(v))
    if kind == "variant":
        return text(variant(v))
    return text(v)                                                # string, char, varchar, date, decimal


def checksum(rows):
    """The sum mod 2^64 of the first 8 bytes of the SHA-256 of each row's text: the order does not matter."""
    return "%016x" % (sum(int.from_bytes(hashlib.sha256(r.encode()).digest()[:8], "big") for r in rows) % 2 ** 64)


def names_and_types(t):
    """A schema without nullability and metadata."""
    if not isinstance(t, dict):
        return t
    if t["type"] == "struct":
        return ["struct", [[f["name"], names_and_types(f["type"])] for f in t["fields"]]]
    if t["type"] == "array":
        return ["array", names_and_types(t["elementType"])]
    return ["map", names_and_types(t["keyType"]), names_and_types(t["valueType"])]


# ---- the checks ---------------------------------------------------------------------------------------------------------------

class Differs(Exception):
    pass


def call(a, *args):
    try:
        p = subprocess.run([a.silt, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=a.timeout)
    except subprocess.TimeoutExpired:
        raise Differs("timed out: " + " ".join(args)[:200])
    return p.returncode, p.stdout.decode("utf-8", "replace"), p.stderr.decode("utf-8", "replace").strip()


def sql(a, statement):
    return call(a, "sql", statement, "--format", "jsonl", "--conf", "spark.sql.session.timeZone=UTC")


def show(a, path, *args):
    rc, out, err = call(a, "show", path, "--format", "json", *args)
    if rc:
        raise Differs("show failed (%d): %s" % (rc, err[:300]))
    return json.loads(out)


def equal(what, got, want):
    if got != want:
        raise Differs("%s is %s, expected %s" % (what, str(got)[:300], str(want)[:300]))


class Pairs(list):
    pass


def values(line):
    """The values of a jsonl row in order, even where two columns have one name; nested objects stay objects."""
    def plain(v):
        if isinstance(v, Pairs):
            return {k: plain(x) for k, x in v}
        return [plain(x) for x in v] if isinstance(v, list) else v
    return [plain(v) for _, v in json.JSONDecoder(object_pairs_hook=Pairs).decode(line)]


def check_rows(a, statement, schema, want, what):
    rc, out, err = sql(a, statement)
    if rc:
        raise Differs("%s: exit status %d: %s" % (what, rc, err[:300]))
    rows = [json.loads(line) for line in out.split("\n") if line]
    equal(what + ": row count", len(rows), want["row_count"])
    names = [f["name"] for f in schema["fields"]]
    for r in rows[:1]:
        equal(what + ": columns", list(r), names)
    if checksum([canon(r, schema) for r in rows]) != want["sum64"]:
        raise Differs("%s: rows differ" % what)


def check(a, e):
    path = os.path.join(HERE, e["path"])
    table = "delta.`%s`" % path
    s = show(a, path)
    equal("version", s.get("version"), e["version"])
    equal("numFiles", s.get("numFiles"), e["num_files"])
    equal("partitionColumns", s.get("partitionColumns"), e["partition_columns"])
    for k in ("minReaderVersion", "minWriterVersion"):
        equal(k, s["protocol"].get(k), e["protocol"][k])
    equal("schema", names_and_types(s["schema"]), names_and_types(e["delta_schema"]))
    check_rows(a, "SELECT * FROM " + table, e["delta_schema"], e, "newest version")
    for v, want in e["versions"].items():
        schema = want.get("delta_schema", e["delta_schema"])
        equal("numFiles of version " + v, show(a, path, "--version", v).get("numFiles"), want["num_files"])
        check_rows(a, "SELECT * FROM %s VERSION AS OF %s" % (table, v), schema, want, "version " + v)
    for q in e.get("queries", []):
        rc, out, err = sql(a, q["sql"].replace("{table}", table))
        if "error" in q:
            if rc != 1 or q["error"].split(".")[0] not in err:
                raise Differs("%s: expected %s, got status %d: %s" % (q["sql"], q["error"], rc, err[:200]))
            continue
        if rc:
            raise Differs("%s: exit status %d: %s" % (q["sql"], rc, err[:200]))
        equal(q["sql"], [values(line) for line in out.split("\n") if line], q["rows"])


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--silt", default=os.environ.get("SILT", os.path.join(HERE, "..", "..", "build", "silt")))
    ap.add_argument("--only", default="*")
    ap.add_argument("--jobs", type=int, default=2)
    ap.add_argument("--timeout", type=float, default=60)
    a = ap.parse_args()
    if not os.access(a.silt, os.X_OK):
        print("no executable at", a.silt)
        return 2

    def one(path):
        e = json.load(open(path, encoding="utf-8"))
        try:
            check(a, e)
        except Differs as d:
            return e["table"], str(d).replace("\n", " ")
        except Exception as x:
            return e["table"], repr(x)
        return e["table"], None

    files = [f for f in sorted(glob.glob(os.path.join(HERE, "expected", "*.json"))) if fnmatch.fnmatch(os.path.basename(f)[:-5], a.only)]
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        for name, why in pool.map(one, files):
            print("ok " + name if why is None else "not ok %s: %s" % (name, why))
            bad += why is not None
    print("%d passed, %d failed, 0 skipped" % (len(files) - bad, bad))
    return 1 if bad or not files else 0


if __name__ == "__main__":
    sys.exit(main())
