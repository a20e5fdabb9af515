#!/usr/bin/env python3
"""silt maintain: policies, plans, reports, and tables that fail beside others that do not."""
import json, os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import silt_script as s
from silt_script import equal, ok, silt, sql, value, versions


def maintain(policy, *argv, code=0):
    """(report, what was printed)"""
    s.write("policy.toml", policy)
    done = silt("maintain", "policy.toml", "--report", "report.json", *argv, statuses=(code,))
    return json.loads(s.read("report.json")), done


def wrong(policy, *texts):
    s.write("policy.toml", policy)
    done = silt("maintain", "policy.toml", "--report", "report.json", statuses=(2,))
    for text in texts: assert text in done.err, (text, done.err)
    assert not os.path.exists("report.json") and not os.path.exists("spark-warehouse")


def make(name, n=5, warehouse="spark-warehouse"):
    ok("sql", "--warehouse", warehouse, ";".join(["CREATE TABLE %s (id BIGINT, day DATE) USING DELTA PARTITIONED BY (day)" % name] + ["INSERT INTO %s VALUES (%d, DATE'2026-01-0%d')" % (name, i, 1 + i % 2) for i in range(n)]))


def steps(report, table):
    (t,) = [t for t in report["tables"] if t["table"] == table]
    return {p["step"]: p for p in t["steps"]}


def test_everything():
    make("t")
    report, done = maintain('[[table]]\nname = "t"\noptimize = true\nzorder = ["id"]\npurge = true\ncheckpoint = true\nvacuum = true\ndoctor = true\n')
    equal([p["step"] for p in report["tables"][0]["steps"]], ["optimize", "purge", "checkpoint", "vacuum", "doctor"])
    equal({p["status"] for p in report["tables"][0]["steps"]}, {"done"})
    equal((report["exitStatus"], report["failedSteps"], report["dryRun"], report["tables"][0]["ok"], report["tables"][0]["findings"]), (0, 0, False, True, []))
    equal(steps(report, "t")["optimize"]["statement"], "OPTIMIZE `t` ZORDER BY (`id`)")
    equal(value("SELECT count(*) FROM t"), 5)
    equal(len(s.live_files("spark-warehouse/t")), 2)
    assert any(n.endswith(".checkpoint.parquet") for n in os.listdir("spark-warehouse/t/_delta_log"))
    assert "5 files" in done.out and "healthy" in done.out, done.out


def test_dry_run_changes_nothing():
    make("t")
    before = sorted(os.listdir("spark-warehouse/t/_delta_log"))
    report, done = maintain('[[table]]\nname = "t"\noptimize = true\nrecent = { column = "day", days = 100000 }\ncheckpoint = true\nvacuum = true\nretain = "7d"\ndoctor = true\n', "--dry-run")
    equal(sorted(os.listdir("spark-warehouse/t/_delta_log")), before)
    plan = steps(report, "t")
    equal([(k, v["status"]) for k, v in plan.items()], [("optimize", "planned"), ("checkpoint", "planned"), ("vacuum", "done"), ("doctor", "done")])
    equal((plan["optimize"]["cost"]["files"], plan["optimize"]["cost"]["atMost"]), (5, True))
    assert plan["optimize"]["statement"].startswith("OPTIMIZE `t` WHERE `day` >= '17"), plan["optimize"]
    equal(plan["vacuum"]["statement"], "VACUUM `t` RETAIN 168 HOURS DRY RUN")
    equal(plan["vacuum"]["files"], 0)
    assert "nothing was changed" in done.out and "OPTIMIZE `t`" in done.out, done.out


def test_recent_partitions():
    ok("sql", "CREATE TABLE t (id BIGINT, day DATE) USING DELTA PARTITIONED BY (day);" + ";".join("INSERT INTO t VALUES (%d, %s)" % (i, d) for i, d in enumerate(["date_add(current_date(), -1)"] * 3 + ["DATE'2020-01-01'"] * 3)))
    policy = '[[table]]\nname = "t"\noptimize = true\nrecent = { column = "day", days = 3 }\n'
    equal(steps(maintain(policy, "--dry-run")[0], "t")["optimize"]["cost"]["files"], 3)
    maintain(policy)
    equal(len(s.live_files("spark-warehouse/t")), 4)


def test_one_failure_does_not_stop_the_rest():
    make("a")
    make("c")
    report, done = maintain('[defaults]\noptimize = true\ndoctor = true\n[[table]]\nname = "a"\n[[table]]\nname = "nope"\n[[table]]\nname = "c"\nwhere = "id = 1"\ncheckpoint = true\n[[table]]\nname = "c2"\n', code=1)
    equal([(t["table"], t["ok"]) for t in report["tables"]], [("a", True), ("nope", False), ("c", False), ("c2", False)])
    assert steps(report, "nope")["optimize"]["error"]["condition"] in ("DELTA_TABLE_NOT_FOUND", "TABLE_OR_VIEW_NOT_FOUND"), report
    equal([p["step"] for p in report["tables"][2]["steps"]], ["optimize", "doctor"], "what fails ends the table's work, but for the doctor")
    equal(report["exitStatus"], 1)
    equal(len(s.live_files("spark-warehouse/a")), 2)


def test_findings_make_the_status():
    make("t", 1)
    for n in s.data_files("spark-warehouse/t"): os.remove("spark-warehouse/t/" + n)
    make("u", 1)
    ok("sql", "ALTER TABLE u SET TBLPROPERTIES ('delta.deletedFileRetentionDuration' = 'interval 1 hours')")
    report, _ = maintain('[[table]]\nname = "t"\ndoctor = true\n', code=4)
    equal([f["check"] for f in report["tables"][0]["findings"]], ["files-missing"])
    equal(report["tables"][0]["ok"], True)
    maintain('[[table]]\nname = "t"\ndoctor = true\nfail_on = "never"\n')
    maintain('[[table]]\nname = "u"\ndoctor = true\n')
    maintain('[[table]]\nname = "u"\ndoctor = true\nfail_on = "warning"\n', code=3)
    maintain('[[table]]\nname = "u"\ndoctor = true\nfail_on = "warning"\n[[table]]\nname = "t"\ndoctor = true\n', code=4)


def test_one_table_of_the_policy():
    make("a")
    make("b")
    policy = '[defaults]\ncheckpoint = true\n[[table]]\nname = "a"\n[[table]]\nname = "b"\n'
    report, _ = maintain(policy, "--table", "b")
    equal([t["table"] for t in report["tables"]], ["b"])
    s.write("policy.toml", policy)
    assert "no table 'x'" in silt("maintain", "policy.toml", "--table", "x").err


def test_warehouse_and_paths():
    make("t", warehouse="elsewhere")
    report, _ = maintain('warehouse = "elsewhere"\n[defaults]\ncheckpoint = true\n[[table]]\nname = "t"\n[[table]]\nname = "./elsewhere/t"\n[[table]]\nname = "delta.`%s/elsewhere/t`"\n' % os.getcwd())
    equal([t["ok"] for t in report["tables"]], [True] * 3)


def test_json_on_standard_output():
    make("t")
    s.write("policy.toml", '[[table]]\nname = "t"\ncheckpoint = true\n')
    equal(json.loads(ok("maintain", "policy.toml", "--format", "json").out)["exitStatus"], 0)
    equal(ok("maintain", "policy.toml", "-q").out, "")


def test_report_that_cannot_be_written():
    make("t")
    s.write("policy.toml", '[[table]]\nname = "t"\ncheckpoint = true\n')
    assert silt("maintain", "policy.toml", "--report", "no/such/folder/r.json").code == 1


def test_wrong_policies():
    wrong('[[table]]\nname = "t"\nvaccum = true\n', "line 3", "no rule 'vaccum'")
    wrong('[[table]]\nname = "t"\nvacuum = "yes"\n', "line 3", "true or false")
    wrong('[[table]]\nvacuum = true\n', "needs a name")
    wrong('[[table]]\nname = "t"\n', "nothing is to be done")
    wrong('[[table]]\nname = "t"\nretain = "7d"\ndoctor = true\n', "add vacuum = true")
    wrong('[[table]]\nname = "t"\nvacuum = true\nretain = "a week"\n', "retain takes")
    wrong('[[table]]\nname = "t"\nvacuum = true\nretain = "-7d"\n', "retain takes")
    wrong('[[table]]\nname = "t"\nzorder = ["a"]\ndoctor = true\n', "add optimize = true")
    wrong('[[table]]\nname = "t"\noptimize = true\nwhere = "a"\nrecent = { column = "d", days = 1 }\n', "not both")
    wrong('[[table]]\nname = "t"\noptimize = true\nrecent = { column = "d" }\n', "recent takes")
    wrong('[[table]]\nname = "t"\ndoctor = true\nfail_on = "sometimes"\n', "fail_on takes")
    wrong('[[table]]\nname = "t"\ndoctor = true\n[[table]]\nname = "t"\ndoctor = true\n', "line 4", "twice")
    wrong('[defaults]\nname = "t"\n[[table]]\nname = "t"\ndoctor = true\n', "no name")
    wrong('tables = 3\n', "line 1", "no 'tables'")
    wrong('', "no [[table]]")
    wrong('[[table]\nname = "t"\n', "line 1")
    assert silt("maintain", "nope.toml").code == 2
    assert silt("maintain").code == 2


if __name__ == "__main__": s.main(globals())
