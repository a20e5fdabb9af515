#!/usr/bin/env python3
"""Data files and deletion vectors through a proxy that resets, cuts, doubles and refuses: files so large that they go up in pieces are there whole, and no statement fails.

usage: uploads.py [--store NAME]... [--times N] [--seed N]

Each time: an INSERT of a file of about 50 MB, and a DELETE that leaves a vector. A fresh process counts without the proxy; each row holds a digest of its number.
"""
import json, os, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import commits
import lib_remote as remote

ROWS = 400000
FAULTS = "reset=4 lost=5 cut=2 cut_request=4 e500=4 e503=2 e500_after=4 twice=8 twice_first=4"


def uploads(store, times, seed):
    s = remote.server(store)
    name, problems = "uploads-%s-%d" % (store, os.getpid()), []
    with remote.Proxy(s.port, seed) as proxy:
        if store == "hdfs": proxy.tell("redirects on")
        proxied = dict(remote.settings(s, proxy.endpoint), **commits.PATIENCE)
        where = remote.location(s, name, proxy.endpoint)
        made = commits.silt(s, "CREATE TABLE delta.`%s` (id BIGINT, text STRING) USING delta TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')" % remote.location(s, name))
        if made.returncode: return [made.stderr]
        proxy.tell("faults " + FAULTS)
        for i in range(times):
            for sql in ("INSERT INTO delta.`%s` SELECT id, sha2(CAST(id AS STRING), 512) FROM range(%d, %d)" % (where, i * ROWS, (i + 1) * ROWS),
                        "DELETE FROM delta.`%s` WHERE id %% 10 = 0 AND id >= %d" % (where, i * ROWS)):
                done = commits.silt(s, sql, proxied)
                if done.returncode: problems.append("%s: %s" % (sql.split(" ")[0], done.stderr[-300:]))
        counts = proxy.counts()
    found = commits.silt(s, "SELECT count(*) AS n, count(DISTINCT id) AS ids, sum(CAST(text = sha2(CAST(id AS STRING), 512) AS INT)) AS whole FROM delta.`%s`" % remote.location(s, name))
    if found.returncode: return problems + [found.stderr[-500:]]
    got, wanted = json.loads(found.stdout), times * ROWS * 9 // 10
    if any(got[k] != wanted for k in ("n", "ids", "whole")): problems.append("%s, and not %d of each" % (got, wanted))
    print("# %s, seed %d: %d requests, %d faults, %d MB" % (store, seed, counts["requests"], counts["faults"], counts["in"] >> 20))
    if not counts["faults"]: problems.append("no fault")
    return problems


def main():
    parser = remote.options_of(__doc__, remote.STORES)
    parser.add_argument("--times", type=int, default=2)
    parser.add_argument("--seed", type=int, default=20261130)
    options = parser.parse_args()
    results = remote.Results()
    for store in options.store or ["s3", "azure", "gcs", "hdfs"]:
        results.run("uploads/%s" % store, uploads, store, options.times, options.seed)
    results.exit()


if __name__ == "__main__": main()
