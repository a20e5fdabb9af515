#!/usr/bin/env python3
"""The statements of tests/interop/write_cases.py with the table in a store: the log's every entry, the files beside it and the rows of every version are those of the same statements on local disk, which Spark
judges there. Each case on one store, or with --all on all. usage: writes.py [--store NAME]... [--only GLOB] [--all]"""
import fnmatch, glob, itertools, json, os, re, sys, tempfile, urllib.parse
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "interop")]
import delta_files
import lib_remote as remote
import remote_tables
from silt_cli import Failed, Silt
from write_cases import CASES

OWN = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")  # of one table, or of one file
OF_THE_DAY = ("timestamp", "modificationTime", "deletionTimestamp", "createdTime", "inCommitTimestamp", "delta.inCommitTimestampEnablementTimestamp", "size", "tags", "txnId")


def comparable(v):
    """Without times, names that are drawn, and sizes, in which these are."""
    if isinstance(v, dict):
        out = {OWN.sub("*", k): comparable(x) for k, x in v.items() if k not in OF_THE_DAY}
        if out.get("storageType") == "u": out["pathOrInlineDv"] = "*"
        if "operationMetrics" in out: out["operationMetrics"] = {k: x for k, x in out["operationMetrics"].items() if not re.search("Ms$|Bytes|FileSize$", k)}
        return out
    if isinstance(v, list): return [comparable(x) for x in v]
    if not isinstance(v, str): return v
    if v.startswith(("{", "[")):
        try: return comparable(json.loads(v))
        except ValueError: pass
    return re.sub(r"(^|/)[A-Za-z0-9]{2}/(part|cdc)-", r"\1*/\2-", OWN.sub("*", v))


def log_of(path):
    """{version: its actions as texts, "files": names in the folder}, columns by their logical names."""
    columns = {}
    for _, metadata in delta_files.actions(path, "metaData"): columns.update(delta_files.physical_names(json.loads(metadata["schemaString"])))
    logical = lambda action: comparable(json.loads(re.sub(r"col-" + OWN.pattern, lambda m: columns.get(m[0], m[0]), json.dumps(action))))
    entries = {v: sorted(json.dumps(logical(a), sort_keys=True, ensure_ascii=False) for a in actions) for v, actions in delta_files.commits(path).items()}
    files = sorted(OWN.sub("*", os.path.relpath(f, path)) for f in glob.glob(path + "/_delta_log/**", recursive=True) if os.path.isfile(f))
    return {**entries, "files": files}


def wrong_sizes(path):
    """Data files in which the log and the store differ."""
    for _, add in delta_files.actions(path, "add"):
        file = os.path.join(path, urllib.parse.unquote(add["path"]))
        if not os.path.exists(file) or os.path.getsize(file) != add["size"]: yield "%s is not a file of %d bytes" % (add["path"], add["size"])


def run_case(silt, case, table):
    """All statements, those of one configuration by one process. A refusal is an answer, too."""
    for conf, group in itertools.groupby(case.statements, lambda s: s[1]):
        try: silt.sql("; ".join(s for s, _ in group).replace("{t}", table), conf)
        except Failed as e: return e
    return None


def rows_of(silt, table, versions):
    text = "; ".join("SELECT %d AS `version`; SELECT * FROM %s VERSION AS OF %d" % (v, table, v) for v in versions)
    return sorted(silt.run("sql", text, "--format", "jsonl").splitlines())


def check(case, here, there, mirror, home):
    """The case on local disk, where that has not been done, and in the store."""
    path = {silt: os.path.join(silt.warehouse if case.managed else root, case.name) for silt, root in ((here, home + "/here"), (there, mirror.work))}
    refused = [run_case(silt, case, "delta.`%s`" % path[silt]) for silt in (here, there)]
    if any(refused): return ["on local disk: %s, in the store: %s" % tuple(e and e.message for e in refused)]
    mirror.pull(mirror.named(path[there]))
    a, b = log_of(path[there]), log_of(path[here])
    only = lambda one, other: [x for x in one or () if x not in (other or ())]
    problems = ["%s: %s, on local disk %s" % (k, only(a.get(k), b.get(k)), only(b.get(k), a.get(k))) for k in {**b, **a} if a.get(k) != b.get(k)] + list(wrong_sizes(path[there]))
    if not problems and rows_of(there, "delta.`%s`" % path[there], sorted(delta_files.commits(path[there]))) != rows_of(here, "delta.`%s`" % path[here], sorted(delta_files.commits(path[here]))):
        problems.append("the rows of some version differ")
    return problems


def main():
    parser = remote.options_of(__doc__, remote.FOUR)
    parser.add_argument("--only", default="*")
    parser.add_argument("--all", action="store_true")
    options, results = parser.parse_args(), remote.Results()
    cases = [c for c in CASES if fnmatch.fnmatch(c.name, options.only)]
    with tempfile.TemporaryDirectory(prefix="silt-writes-") as home:
        for server in remote.servers("writes", results, options.store):
            mirror = remote_tables.Mirror(server.store, "%s/at_%s" % (home, server.store))
            os.makedirs(mirror.work + "/silt-warehouse")
            here = Silt(remote.SILT, "%s/warehouse_beside_%s" % (home, server.store))
            there = remote_tables.RemoteSilt(here, mirror)
            os.makedirs(here.warehouse)
            mine = cases if options.all else cases[remote.FOUR.index(server.store)::4]
            for case in mine: results.run("writes/%s/%s" % (server.store, case.name), check, case, here, there, mirror, "%s/beside_%s" % (home, server.store))
    results.exit()


if __name__ == "__main__": main()
