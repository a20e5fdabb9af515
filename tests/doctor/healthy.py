#!/usr/bin/env python3
"""No healthy table of another engine is accused of more than information: those of ../shared/data/delta that Spark reads, and the golden ones."""
import glob, json, os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import silt_script as s

DATA = os.path.normpath(os.environ.get("SILT_SHARED_DATA") or os.path.join(s.ROOT, "..", "shared", "data"))
# Readable, and yet sick by design.
SICK = {"golden__corrupted-last-checkpoint-kernel": {"checkpoint-corrupt"}, "krs-golden__corrupted-last-checkpoint-kernel": {"checkpoint-corrupt"},
        "sparkgen__shallow_clone": {"files-missing"}}  # a template, whose paths are filled in elsewhere


def accused(tables):
    """{name: checks above information}, of all tables in one session."""
    script = "".join("DOCTOR TABLE delta.`%s`;\n" % path.replace("`", "``") for path in tables.values())
    by_path = {"delta.`%s`" % path.replace("`", "``"): name for name, path in tables.items()}
    found = {}
    for r in s.ok("sql", "--format", "jsonl", "-f", "-", stdin=script).rows():
        if r["severity"] != "info": found.setdefault(by_path[r["table"]], set()).add(r["check"])
    return found


def test_tables_of_other_engines():
    expected = sorted(glob.glob(os.path.join(DATA, "delta", "expected", "*.json")))
    if not expected: raise s.Skip("%s is not here" % DATA)
    tables = {}
    for path in expected:
        with open(path, encoding="utf-8") as f: t = json.load(f)
        if t.get("result") == "ok": tables[t["table"]] = os.path.join(DATA, "delta", t["path"])
    assert len(tables) > 200, len(tables)
    s.equal(accused(tables), {name: checks for name, checks in SICK.items() if name in tables})


def test_golden_tables():
    tables = {os.path.basename(p): p for p in sorted(glob.glob(os.path.join(s.ROOT, "tests", "golden", "tables", "*"))) if os.path.isdir(os.path.join(p, "_delta_log"))}
    assert tables
    s.equal(accused(tables), {"checkpoint_incomplete": {"checkpoint-corrupt"}})


if __name__ == "__main__": s.main(globals())
