#!/usr/bin/env python3
"""Four processes commit to one table through a proxy that resets, stalls, cuts, doubles and refuses: nothing is lost, nothing is there twice, and every acknowledged commit is there.

usage: commits.py [--store NAME]... [--level entries|sql] [--commits N] [--seed N]     N commits per store; default: 200 at the level of the store, 40 by SQL (2,000 and more: --commits 2000)

`entries` works with data files and log entries by store_put, as delta/commit.c does; `sql` with INSERT statements of a session. What the clients were told is compared with what a
fresh process finds without the proxy:
  "ok"        is there, once, at the version told
  "unknown"   is there once or not at all; rare
  "failed"    is not there
"""
import collections, json, os, re, subprocess, sys, tempfile
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib_remote as remote

WRITERS = 4
FAULTS = "reset=1.5 lost=2 stall=0.3 stall_after=0.3 cut=1 cut_request=1 e500=1.5 e503=2.5 e500_after=1 twice=2 twice_first=1"
MOST_PROBLEMS = 8
LEAST = 0.9  # of all commits are acknowledged
# Impatient, so that stalls are found out soon, and steadfast: a commit that gives up proves less.
PATIENCE = {"silt.http.stallTimeoutMs": "1000", "silt.hdfs.stallTimeoutMs": "1000"}


def client(mode, where, notes, writer, count, settings, **how):
    words = [remote.program("remote_commit_client"), mode, where, notes, str(writer), str(count)] + ["%s=%s" % kv for kv in settings.items()]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **how)


def read_notes(folder):
    """{id: (outcome, version, why)}"""
    notes, problems = {}, []
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as f:
            for line in f:
                outcome, version, id_, why = (line.rstrip("\n").split(" ", 3) + [""])[:4]
                if outcome == "broken": problems.append("writer %s: %s %s at version %s" % (name, id_, why, version))
                else: notes[id_] = (outcome, int(version), why)
    return notes, problems


def found_entries(s, name):
    """[(version, id)] and problems, by a fresh process without the proxy."""
    done = client("verify", remote.location(s, name), os.devnull, 0, 0, remote.settings(s))
    text = done.communicate(timeout=300)[0]
    rows = [line.split(" ") for line in text.splitlines() if line.count(" ") == 1 and line[0].isdigit()]
    return [(int(v), i) for v, i in rows], [] if done.returncode == 0 else [text[-500:]]


def silt(s, sql, settings=None):
    words = [remote.SILT, "sql", "--format", "jsonl"] + [w for kv in dict(remote.settings(s), **(settings or {})).items() for w in ("--conf", "%s=%s" % kv)] + [sql]
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300, check=False)


def found_rows(s, name):
    done = silt(s, "SELECT id FROM delta.`%s` ORDER BY id" % remote.location(s, name))
    return [(-1, str(json.loads(line)["id"])) for line in done.stdout.splitlines()], [] if done.returncode == 0 else [done.stderr[-500:]]


def compare(notes, found):
    times = collections.Counter(i for _, i in found)
    at = {i: v for v, i in found}
    for i, n in times.items():
        if n > 1: yield "%s is there %d times" % (i, n)
        if i not in notes: yield "%s is there and nobody was told of it" % i
    for i, (outcome, version, why) in notes.items():
        if outcome == "ok" and i not in times: yield "LOST: %s was acknowledged at version %d" % (i, version)
        elif outcome == "ok" and at[i] != version: yield "%s was acknowledged at version %d and is at %d" % (i, version, at[i])
        elif outcome == "failed" and i in times: yield "%s is there although it failed: %s" % (i, why)
    if [v for v, _ in found] not in (list(range(len(found))), [-1] * len(found)): yield "the versions found are not contiguous"


def reasons(notes):
    """What outcomes other than ok were told, each once, the most frequent first. Numbers that differ from one to the next are taken out."""
    told = collections.Counter((o, re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|\d+", "#", w)[:300]) for o, _, w in notes.values() if o != "ok")
    return ["%d %s: %s" % (n, o, w or "no reason was told") for (o, w), n in told.most_common()]


def commits(store, level, total, seed):
    s = remote.server(store)
    table, unspoilt = None, s.dynamodb
    if unspoilt:
        table = remote.Proxy(int(unspoilt.rsplit(":", 1)[1]), seed + 1)
        table.tell("faults " + FAULTS.replace("cut_request=1 ", ""))  # dynalite ends itself when a request is cut
    name = "commits-%s-%s-%d-%d" % (store, level, os.getpid(), seed)
    with remote.Proxy(s.port, seed) as proxy, tempfile.TemporaryDirectory() as folder:
        if store == "hdfs": proxy.tell("redirects on")
        proxy.tell("stall 1500")
        if level == "sql":
            made = silt(s, "CREATE TABLE delta.`%s` (id BIGINT, writer INT, text STRING) USING delta" % remote.location(s, name))
            if made.returncode: return [made.stderr]
        proxy.tell("faults " + FAULTS)
        if table: s.dynamodb = table.endpoint
        settings = dict(remote.settings(s, proxy.endpoint), **PATIENCE)
        where = remote.location(s, name, proxy.endpoint)
        clients = [client(level, where, os.path.join(folder, str(w)), w, total // WRITERS, settings) for w in range(1, WRITERS + 1)]
        texts = [c.communicate(timeout=1700)[0] for c in clients]
        problems = ["writer ended with %d: %s" % (c.returncode, t[-500:]) for c, t in zip(clients, texts) if c.returncode]
        counts = proxy.counts()
        if table:
            counts = {k: n + table.counts()[k] for k, n in counts.items()}
            table.close()
            s.dynamodb = unspoilt
        notes, broken = read_notes(folder)
    found, unread = (found_entries if level == "entries" else found_rows)(s, name)
    outcomes = collections.Counter(o for o, _, _ in notes.values())
    summary = ["%s/%s, seed %d: %s of %d; %d requests, %d faults" % (store, level, seed, dict(outcomes), total, counts["requests"], counts["faults"])] + reasons(notes)
    print("".join("# %s\n" % line for line in summary), end="")
    problems += broken + unread + list(compare(notes, found))
    if len(notes) != total // WRITERS * WRITERS: problems.append("%d outcomes of %d" % (len(notes), total))
    if outcomes["ok"] < total * LEAST: problems.append("only %d of %d were acknowledged" % (outcomes["ok"], total))
    if counts["faults"] < counts["requests"] / 20: problems.append("only %d faults in %d requests" % (counts["faults"], counts["requests"]))
    return problems[:MOST_PROBLEMS] + summary if problems else []  # what is printed after `not ok` is all that a log of the whole suite shows


def main():
    parser = remote.options_of(__doc__, remote.STORES)
    parser.add_argument("--level", action="append", choices=["entries", "sql"])
    parser.add_argument("--commits", type=int)
    parser.add_argument("--seed", type=int, default=20261130)
    options = parser.parse_args()
    results = remote.Results()
    for store in options.store or ["s3", "dynamodb", "azure", "gcs", "hdfs"]:
        for level in options.level or ["entries", "sql"]:
            results.run("commits/%s/%s" % (store, level), commits, store, level, options.commits or (200 if level == "entries" else 40), options.seed)
    results.exit()


if __name__ == "__main__": main()
