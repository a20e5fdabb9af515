#!/usr/bin/env python3
"""Each sick table of the zoo is found by its check and by no other; each check has a sick table and a section in docs/doctor.md."""
import json, os, re, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib_zoo as zoo
import silt_script as s

STATUS = {"info": 0, "warning": 3, "danger": 4}
RANK = ["info", "warning", "danger"]


def examine(target, *more):
    """(findings as dictionaries, exit status)"""
    done = s.silt("doctor", target, "--format", "jsonl", *more, statuses=(0, 3, 4))
    return done.rows(), done.code


def one(make):
    def test():
        target, more, expected = make()
        rows, status = examine(target, *more)
        found = {}
        for r in rows:
            if RANK.index(r["severity"]) >= RANK.index(found.get(r["check"], "info")): found[r["check"]] = r["severity"]
        s.equal(found, expected, json.dumps(rows, indent=1))
        s.equal(status, max([STATUS[v] for v in expected.values()] or [0]))
        for r in rows:
            assert r["finding"] and r["danger"] and r["remedy"], r
            s.equal(r["fixed"], False)
    return test


globals().update({"test_" + f.__name__: one(f) for f in zoo.ALL})


def test_every_check_has_a_sick_table():
    text = s.read(os.path.join(s.ROOT, "src", "doctor", "checks.c")).decode()
    checks = re.findall(r'^    \{"([a-z-]+)", "', text, re.M)
    sick = set(re.findall(r'"([a-z]+(?:-[a-z]+)*)": "(?:info|warning|danger)"', s.read(zoo.__file__).decode()))
    s.equal(sorted(set(checks)), sorted(sick))
    page = s.read(os.path.join(s.ROOT, "docs", "doctor.md")).decode()
    sections = re.findall(r"^## ([a-z-]+)$", page, re.M)
    s.equal(sections, checks, "the sections of docs/doctor.md and the table of checks")
    for section in re.split(r"^## ", page, flags=re.M)[1:]:
        if section.split("\n")[0] not in checks: continue
        for word in ("**Symptom.**", "**Danger.**", "**Remedy.**"): assert word in section, section[:60]


def test_healthy_table():
    s.ok("sql", "CREATE TABLE t (id BIGINT, day DATE) USING DELTA PARTITIONED BY (day); INSERT INTO t SELECT id, DATE'2026-01-01' FROM range(1000); DELETE FROM t WHERE id = 3")
    s.equal(examine("t"), ([], 0))
    s.equal(examine("./spark-warehouse/t", "--readers", "trino-455,spark-3.5,duckdb,deltalake,hive", "--filters", "id"), ([], 0))
    s.equal(examine("default"), ([], 0))


def test_fix_writes_a_checkpoint():
    zoo.checkpoint_never()
    rows, status = examine("./t", "--fix")
    s.equal([(r["check"], r["fixed"]) for r in rows], [("checkpoint-stale", True)])
    s.equal(status, 0)
    s.equal(examine("./t"), ([], 0))


def test_fix_mends_nothing_else():
    zoo.files_missing()
    before = sorted(os.listdir("t/_delta_log"))
    rows, status = examine("./t", "--fix")
    s.equal([(r["check"], r["fixed"]) for r in rows], [("files-missing", False)])
    s.equal((status, sorted(os.listdir("t/_delta_log"))), (4, before))


def test_only_the_named_checks():
    zoo.small_files()
    os.remove("t/day=0/part-0.parquet")
    s.equal({r["check"] for r in examine("./t")[0]}, {"small-files", "files-missing"})
    s.equal({r["check"] for r in examine("./t", "--check", "small-files")[0]}, {"small-files"})
    s.equal({r["check"] for r in examine("./t", "--check", "small-files,names", "--check", "files-missing")[0]}, {"small-files", "files-missing"})
    s.equal(examine("./t", "--check", "names"), ([], 0))
    s.fails("INVALID_PARAMETER_VALUE", "doctor", "./t", "--check", "smal-files")


def test_wrong_options():
    zoo.Table("t").fill(1)
    s.fails("INVALID_PARAMETER_VALUE", "doctor", "./t", "--readers", "excel")
    s.fails("INVALID_PARAMETER_VALUE", "doctor", "./t", "--readers", "trino-x")
    s.fails("INVALID_PARAMETER_VALUE", "doctor", "./t", "--longest-job", "long")
    s.fails("UNRESOLVED_COLUMN", "doctor", "./t", "--filters", "nope")
    s.fails("INVALID_PARAMETER_VALUE", "sql", "DOCTOR './t' OPTIONS (chekcs = 'names')")
    s.fails("INVALID_PARAMETER_VALUE", "sql", "DOCTOR './t' OPTIONS (fix = 'maybe')")
    s.fails("TABLE_OR_VIEW_NOT_FOUND", "doctor", "nope")
    s.fails("DELTA_TABLE_NOT_FOUND", "doctor", "./nope")
    s.fails(None, "doctor", code=2)
    s.fails(None, "doctor", "a", "b", code=2)


def test_statement():
    zoo.files_missing()
    here = os.getcwd()
    rows = s.sql("DOCTOR TABLE delta.`%s/t`" % here)
    s.equal(list(rows[0]), ["table", "check", "severity", "finding", "danger", "remedy", "command", "items", "examples", "fixable", "fixed"])
    s.equal((rows[0]["items"], rows[0]["examples"], rows[0]["command"]), (1, ["part-00002.parquet"], "FSCK REPAIR TABLE delta.`%s/t` DRY RUN" % here))
    s.equal(s.sql("DOCTOR '%s/t'" % here), rows)
    s.equal(s.sql("SET silt.doctor.checks = names; DOCTOR '%s/t'" % here)[1:], [])
    s.equal(s.sql("DOCTOR '%s/t' OPTIONS (checks = 'names')" % here), [])


def test_database_goes_on():
    s.ok("sql", "CREATE DATABASE d; USE d; CREATE TABLE a (id BIGINT) USING DELTA; CREATE TABLE b (id BIGINT) USING DELTA; INSERT INTO b VALUES (1); CREATE TABLE c (id BIGINT) USING DELTA; INSERT INTO c VALUES (1);"
                "CREATE VIEW v AS SELECT 1 AS one")
    for name in s.data_files("spark-warehouse/d.db/c"): os.remove("spark-warehouse/d.db/c/" + name)
    import shutil
    shutil.rmtree("spark-warehouse/d.db/a")
    rows, status = examine("d")
    s.equal([(r["table"], r["check"]) for r in rows], [("d.a", "log-unreadable"), ("d.c", "files-missing")])
    s.equal(status, 4)


def test_commands_can_be_pasted():
    """A shell command names the table so that the shell leaves it alone."""
    folder = "it's `a` $b"
    t = zoo.Table(folder).fill(1)
    for i in range(120): t.commit("WRITE", [])
    (row,), _ = examine("./" + folder)
    s.equal(row["command"], "silt checkpoint '%s/it'\\''s `a` $b'" % os.getcwd())
    import subprocess
    subprocess.run(["bash", "-c", row["command"].replace("silt", s.SILT, 1)], check=True, capture_output=True, env=s.environment())
    s.equal(examine("./" + folder), ([], 0))


def test_report_for_people():
    zoo.files_missing()
    done = s.silt("doctor", "./t", statuses=(4,))
    for text in ("danger  files-missing", "part-00002.parquet", "Danger:", "Remedy:", "Command: FSCK REPAIR TABLE", "1 table examined, 1 finding"): assert text in done.out, (text, done.out)
    assert "\033" not in done.out, "colours only on a terminal"
    assert max(map(len, (l for l in done.out.splitlines() if "Command" not in l and "delta.`" not in l))) <= 100


def test_names_cannot_reach_the_terminal():
    t = zoo.Table("t").fill(1)
    t.commit("WRITE", [t.add("a\x1b[31m.parquet", on_disk=False)])
    done = s.silt("doctor", "./t", statuses=(4,))
    assert "\x1b" not in done.out, done.out


def test_folder_that_may_not_be_listed():
    if os.geteuid() == 0: raise s.Skip("runs as root, who may read everything")
    t = zoo.Table("t").fill(1)
    os.chmod("t", 0o311)
    rows, status = examine("./t")
    assert any("could not be made" in r["finding"] for r in rows), rows
    s.equal(status, 3)


if __name__ == "__main__": s.main(globals())
