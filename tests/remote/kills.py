#!/usr/bin/env python3
"""A process that commits is killed (SIGKILL) at every one of its requests, before the server sees it, at half of its body, or when the server has answered; then a fresh process commits.

usage: kills.py [--store NAME]... [--level entries|sql] [--all]     --all: each request in all three ways; otherwise one of them, by turns

What the killed process was told is there, what it was not told of is there whole and once or not at all; the fresh process goes on, and all of it is there at the end.
"""
import contextlib, itertools, os, subprocess, sys, tempfile
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import commits
import lib_remote as remote

WAYS = ("after", "before", "half")
MOST = 80  # requests of one commit: more are not tried


def killed(proxy, level, where, notes, writer, settings, nth, way):
    """Whether the commit was killed; otherwise it had fewer requests. Raises where it failed by itself."""
    c = commits.client(level, where, notes, writer, 1, settings, stdin=subprocess.PIPE, env=dict(os.environ, COMMIT_CLIENT_WAIT="1"))
    proxy.tell("kill %d %s %d" % (nth, way, c.pid))
    text = c.communicate("\n", timeout=120)[0]
    proxy.tell("kill 0 before 0")
    if c.returncode not in (0, -9): raise RuntimeError("request %d: status %d, %s" % (nth, c.returncode, text[-500:]))
    return c.returncode == -9


def one_table(store, level, ways, proxy, killer, s, folder):
    """`proxy` leads to the store; `killer` is the one at whose requests processes die: itself, or that of DynamoDB's table."""
    name = "kills-%s-%s-%d%s" % (store, level, os.getpid(), "" if killer is proxy else "-table")
    settings = remote.settings(s, proxy.endpoint)
    if level == "sql":
        made = commits.silt(s, "CREATE TABLE delta.`%s` (id BIGINT, writer INT, text STRING) USING delta" % remote.location(s, name))
        if made.returncode: return [made.stderr]
    deaths, done, problems, pairs, table = 0, 0, [], {}, name
    for nth, way in itertools.product(range(1, MOST + 1), ways):
        way, writer = way or WAYS[nth % 3], 10 + done
        if level == "entries": table = "%s-%d" % (name, done)  # a client begins at version 0, so that a long log would be all it sees
        done += 1
        notes = os.path.join(folder, "%d-killed" % done)
        died = killed(killer, level, remote.location(s, table, proxy.endpoint), notes, writer, settings, nth, way)
        deaths += died
        fresh = commits.client(level, remote.location(s, table), os.path.join(folder, "%d-fresh" % done), 10000 + writer, 1, remote.settings(s))
        text = fresh.communicate(timeout=120)[0]
        if fresh.returncode: problems.append("after a kill at request %d (%s) a fresh process failed: %s" % (nth, way, text[-300:]))
        told, _ = commits.read_notes(folder)
        if died: told.setdefault("%d-000000" % writer if level == "entries" else str(writer * 1000000), ("unknown", -1, ""))
        pairs.update(told)
        if level == "entries":
            found, unread = commits.found_entries(s, table)
            here = {i: n for i, n in pairs.items() if i.split("-")[0] in (str(writer), str(10000 + writer))}
            problems += ["request %d, %s: %s" % (nth, way, p) for p in unread + list(commits.compare(here, found))]
        if not died: break
    if level == "sql":
        found, unread = commits.found_rows(s, name)
        problems += unread + list(commits.compare(pairs, found))
    failed = [n for n in pairs.values() if n[0] == "failed"]
    print("# %s/%s%s: killed %d times, %d commits, %d of them failed" % (store, level, "" if killer is proxy else ", at requests to its table", deaths, len(pairs), len(failed)))
    if failed: problems += commits.reasons(pairs)
    if deaths < 2: problems.append("only %d kills" % deaths)
    if nth == MOST: problems.append("more than %d requests in one commit" % MOST)
    return problems


def kills(store, level, ways):
    s = remote.server(store)
    with contextlib.ExitStack() as open_ones:
        folder = open_ones.enter_context(tempfile.TemporaryDirectory())
        proxy = open_ones.enter_context(remote.Proxy(s.port))
        if store == "hdfs": proxy.tell("redirects on")
        problems = one_table(store, level, ways, proxy, proxy, s, folder)
        if s.dynamodb:
            table = open_ones.enter_context(remote.Proxy(int(s.dynamodb.rsplit(":", 1)[1])))
            s.dynamodb = table.endpoint
            problems += one_table(store, level, [w for w in ("after", "before") if w in ways] or ["after"], proxy, table, s, open_ones.enter_context(tempfile.TemporaryDirectory()))
        return problems


def main():
    parser = remote.options_of(__doc__, remote.STORES)
    parser.add_argument("--level", action="append", choices=["entries", "sql"])
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    results = remote.Results()
    for store in options.store or ["s3", "dynamodb", "azure", "gcs", "hdfs"]:
        for level in options.level or ["entries", "sql"]: results.run("kills/%s/%s" % (store, level), kills, store, level, WAYS if options.all else (None,))
    results.exit()


if __name__ == "__main__": main()
