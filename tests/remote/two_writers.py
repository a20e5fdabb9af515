#!/usr/bin/env python3
"""Two writers on an S3 server that overwrites what is there, which is how commits are lost: Silt finds such a server out and refuses to commit to it; only an explicit setting lets
it, with a warning, and then a commit that another writer wrote over is an error and not silence."""
import json, os, re, subprocess, sys, tempfile
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib_remote as remote
from lib_overwriting_s3 import Overwriting

TABLE = "s3a://lake/table"
LOG = "/lake/table/_delta_log/"
SINGLE = {"silt.s3.commit": "single-writer"}


def silt(server, sql, conf=None):
    settings = {"fs.s3a.endpoint": server.endpoint, "fs.s3a.endpoint.region": "us-east-1", "fs.s3a.path.style.access": "true", "fs.s3a.access.key": "a", "fs.s3a.secret.key": "b", **(conf or {})}
    words = [remote.SILT, "sql", "--format", "jsonl"] + [w for kv in settings.items() for w in ("--conf", "%s=%s" % kv)] + [sql]
    return subprocess.run(words, env=dict(os.environ, HOME=tempfile.gettempdir()), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, check=False)


def log_of(server): return sorted(k for k in server.objects if k.startswith(LOG) and re.search(r"\d{20}\.json$", k))


def by_default(_):
    """Nothing is committed, nothing that was there is changed, whatever statement tries."""
    problems = []
    with Overwriting() as server:
        done = silt(server, "CREATE TABLE delta.`%s` (id INT) USING delta" % TABLE)
        if done.returncode != 1 or log_of(server): problems.append("CREATE: status %d, log %s" % (done.returncode, log_of(server)))
        if "silt.s3.commit" not in done.stderr and "conditional" not in done.stderr.lower(): problems.append("the error does not say why: " + done.stderr)
        if [k for k in server.objects if "_delta_log" in k]: problems.append("left behind: %s" % list(server.objects))
        made = silt(server, "CREATE TABLE delta.`%s` (id INT) USING delta; INSERT INTO delta.`%s` VALUES (1), (2)" % (TABLE, TABLE), SINGLE)
        if made.returncode: return problems + ["with the setting: " + made.stderr]
        before = {k: server.objects[k] for k in log_of(server)}
        for sql in ("INSERT INTO delta.`%s` VALUES (3)", "DELETE FROM delta.`%s` WHERE id = 1", "OPTIMIZE delta.`%s`", "ALTER TABLE delta.`%s` SET TBLPROPERTIES ('a' = 'b')", "RESTORE delta.`%s` TO VERSION AS OF 0"):
            done = silt(server, sql % TABLE)
            after = {k: server.objects[k] for k in log_of(server)}
            if done.returncode != 1 and after != before or after != before: problems.append("%s: status %d, log %s" % (sql, done.returncode, list(after)))
        done = silt(server, "SELECT count(*) AS n FROM delta.`%s`" % TABLE)
        if done.returncode or json.loads(done.stdout)["n"] != 2: problems.append("reading: %s%s" % (done.stdout, done.stderr))
    return problems


def with_the_setting(_):
    """It works."""
    with Overwriting() as server:
        made = silt(server, "CREATE TABLE delta.`%s` (id INT) USING delta; INSERT INTO delta.`%s` VALUES (1); INSERT INTO delta.`%s` VALUES (2)" % (TABLE, TABLE, TABLE), SINGLE)
        if made.returncode: return made.stderr
        found = silt(server, "SELECT count(*) AS n FROM delta.`%s`" % TABLE)
        problems = [] if found.returncode == 0 and json.loads(found.stdout)["n"] == 2 and len(log_of(server)) == 3 else [found.stdout + found.stderr]
    return problems


def the_setting_warns(_):
    """Each process that commits says what can be lost."""
    with Overwriting() as server:
        made = silt(server, "CREATE TABLE delta.`%s` (id INT) USING delta; INSERT INTO delta.`%s` VALUES (1)" % (TABLE, TABLE), SINGLE)
    return [] if re.search(r"warning|can be lost|one writer|single", made.stderr, re.I) else ["no warning: %r" % made.stderr]


def a_lost_commit_is_never_silent(_):
    """Both look, neither finds the next version, both write it: the first one's entry is gone. It commits again as a later version, or says that it could not."""
    problems = []
    with Overwriting() as server:
        made = silt(server, "CREATE TABLE delta.`%s` (id INT) USING delta" % TABLE, SINGLE)
        if made.returncode: return made.stderr
        entry, ours = LOG + "%020d.json" % 1, []

        def write_over(path, body):
            """Another writer's entry is there as soon as the first one has put its own."""
            if path != entry: return body
            ours.append(body)
            return body.replace(b'"txnId":"', b'"txnId":"another-')

        server.change = write_over
        done = silt(server, "INSERT INTO delta.`%s` VALUES (1)" % TABLE, SINGLE)
        if not ours: return ["no entry was put: " + done.stderr]
        mark = b'"txnId":"%s"' % json.loads(ours[0].splitlines()[0])["commitInfo"]["txnId"].encode()
        there = [k for k in log_of(server) if mark in server.objects[k]]  # again, as a later version
        if done.returncode == 0 and not there: problems.append("LOST in silence: status 0, log %s, %s" % (log_of(server), done.stderr))
        if done.returncode == 1 and (there or not re.search(r"lost|unknown|another|conflict", done.stderr, re.I)): problems.append("the error: " + done.stderr)
    return problems


def main():
    results = remote.Results()
    for test in (by_default, with_the_setting, the_setting_warns, a_lost_commit_is_never_silent): results.run("two_writers/" + test.__name__, test, None)
    results.exit()


if __name__ == "__main__": main()
