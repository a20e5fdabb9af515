#!/usr/bin/env python3
"""What a NameNode refuses, and what it is told of new files: rights, quotas, safe mode, snapshots, block size and replication, by a real one. A server of its own, since safe mode is everybody's."""
import json, os, subprocess, sys, tempfile, urllib.parse
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib_remote as remote

TABLE = "CREATE TABLE delta.`%(t)s` (id INT, p INT) USING delta PARTITIONED BY (p); INSERT INTO delta.`%(t)s` VALUES (1, 1), (2, 2); SELECT count(*) AS n FROM delta.`%(t)s`"


class World:
    def __init__(self, s): self.s, self.host = s, urllib.parse.urlsplit(s.endpoint).netloc

    def ask(self, method, path, op, user="hdfs", **params):
        """WebHDFS by hand. (status, answer)"""
        query = urllib.parse.urlencode(dict({"op": op, "user.name": user}, **params))
        status, _, body = remote.request(method, "%s/webhdfs/v1%s?%s" % (self.s.endpoint, path, query))
        return status, json.loads(body) if body else {}

    def must(self, method, path, op, **params):
        status, answer = self.ask(method, path, op, **params)
        assert status == 200, "%s %s: %d %s" % (op, path, status, answer)
        return answer

    def admin(self, *words):
        """Hadoop's own command."""
        jars = os.path.join(remote.services_home(), "hdfs/lib/*")
        subprocess.run(["java", "-cp", jars, "org.apache.hadoop.hdfs.tools.DFSAdmin", "-fs", "hdfs://" + self.s["RPC"], *words], env=dict(os.environ, HADOOP_USER_NAME="hdfs"), check=True, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, timeout=60)

    def table(self, name): return "webhdfs://%s/%s" % (self.host, name)

    def silt(self, sql, table, user="hdfs", **conf):
        with tempfile.TemporaryDirectory(prefix="silt-hdfs-") as home:
            env = dict({k: v for k, v in os.environ.items() if not k.startswith(("HADOOP_", "SILT_"))}, HOME=home)
            settings = {"silt.hdfs.user": user, "silt.hdfs.retry.attempts": "3", **conf}
            words = [remote.SILT, "sql", "--format", "jsonl"] + [w for kv in settings.items() for w in ("--conf", "%s=%s" % kv)] + [sql % {"t": self.table(table)}]
            return subprocess.run(words, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, check=False)

    def statuses(self, folder):
        """Everything below: [(path, status)]."""
        out = []
        for f in self.must("GET", folder, "LISTSTATUS")["FileStatuses"]["FileStatus"]:
            path = folder + "/" + f["pathSuffix"]
            out.append((path, f))
            if f["type"] == "DIRECTORY": out += self.statuses(path)
        return out


def refused(done, condition):
    return [] if done.returncode == 1 and condition in done.stderr else ["%s expected: status %d, %s%s" % (condition, done.returncode, done.stdout, done.stderr)]


def rights_of_new_folders(w):
    """Below a folder that everybody may write to, as a warehouse is: a table belongs to who made it."""
    w.must("PUT", "/open", "MKDIRS", permission="1777")
    done = w.silt(TABLE, "open/deep/t", user="ann")
    problems = [] if done.returncode == 0 and '"n":2' in done.stdout.replace(" ", "") else [done.stderr]
    for path, f in w.statuses("/open"):
        expected = ("755" if f["type"] == "DIRECTORY" else "644", "ann")
        if (f["permission"], f["owner"]) != expected: problems.append("%s: %s of %s" % (path, f["permission"], f["owner"]))
    problems += refused(w.silt("INSERT INTO delta.`%(t)s` VALUES (3, 1)", "open/deep/t", user="bob"), "PERMISSION_DENIED")
    return problems + refused(w.silt("INSERT INTO delta.`%(t)s` VALUES (3, 3)", "open/deep/t", user="bob"), "PERMISSION_DENIED")


def settings_of_new_files(w):
    done = w.silt(TABLE, "open/set", user="ann", **{"fs.permissions.umask-mode": "027", "dfs.blocksize": "1m", "dfs.replication": "3"})
    problems = [] if done.returncode == 0 else [done.stderr]
    for path, f in w.statuses("/open/set"):
        folder = f["type"] == "DIRECTORY"
        if f["permission"] != ("750" if folder else "640"): problems.append("%s: %s" % (path, f["permission"]))
        if not folder and (f["blockSize"], f["replication"]) != (1 << 20, 3): problems.append("%s: %s" % (path, f))
    return problems


def a_private_folder(w):
    w.must("PUT", "/private", "MKDIRS", permission="700")
    return refused(w.silt("SELECT * FROM delta.`%(t)s`", "private/t", user="bob"), "PERMISSION_DENIED") + refused(w.silt(TABLE, "private/t", user="bob"), "PERMISSION_DENIED")


def another_log_store(w):
    """A class that is not Delta's may keep commits apart in a way of its own."""
    made = w.silt(TABLE, "logs/t", **{"spark.delta.logStore.webhdfs.impl": "io.delta.storage.HDFSLogStore"})
    done = w.silt("INSERT INTO delta.`%(t)s` VALUES (3, 3)", "logs/t", **{"spark.delta.logStore.hdfs.impl": "com.example.Mine"})
    return [made.stderr] * (made.returncode != 0) + refused(done, "com.example.Mine")


def quotas(w):
    w.must("PUT", "/few", "MKDIRS", permission="777")
    w.must("PUT", "/few", "SETQUOTA", namespacequota="3")
    problems = refused(w.silt(TABLE, "few/t"), "HDFS_QUOTA_EXCEEDED")
    w.must("PUT", "/small", "MKDIRS", permission="777")
    w.must("PUT", "/small", "SETQUOTA", storagespacequota="1024")
    return problems + refused(w.silt(TABLE, "small/t"), "HDFS_QUOTA_EXCEEDED")


def snapshots(w):
    w.silt(TABLE, "snap/t")
    w.must("PUT", "/snap", "ALLOWSNAPSHOT")
    w.must("PUT", "/snap", "CREATESNAPSHOT", snapshotname="monday")
    w.silt("DELETE FROM delta.`%(t)s`", "snap/t")
    now, then = (w.silt("SELECT count(*) AS n FROM delta.`%(t)s`", t) for t in ("snap/t", "snap/.snapshot/monday/t"))
    problems = [] if '"n":0' in now.stdout.replace(" ", "") and '"n":2' in then.stdout.replace(" ", "") else [now.stdout + now.stderr + then.stdout + then.stderr]
    return problems + refused(w.silt("INSERT INTO delta.`%(t)s` VALUES (3, 3)", "snap/.snapshot/monday/t"), "HDFS_SNAPSHOT_READ_ONLY")


def safe_mode(w):
    """Reading goes on."""
    w.silt(TABLE, "safe/t")
    w.admin("-safemode", "enter")
    try:
        problems = refused(w.silt("INSERT INTO delta.`%(t)s` VALUES (3, 3)", "safe/t"), "HDFS_SAFE_MODE")
        done = w.silt("SELECT count(*) AS n FROM delta.`%(t)s`", "safe/t")
        if '"n":2' not in done.stdout.replace(" ", ""): problems.append(done.stderr)
    finally: w.admin("-safemode", "leave")
    done = w.silt("INSERT INTO delta.`%(t)s` VALUES (3, 3)", "safe/t")
    return problems + ([done.stderr] if done.returncode else [])


def main():
    results = remote.Results()
    try: world = World(remote.server("hdfs", fresh=True))
    except remote.Missing as e: return results.skip("hdfs", e)
    for test in (rights_of_new_folders, settings_of_new_files, a_private_folder, another_log_store, quotas, snapshots, safe_mode): results.run("hdfs/" + test.__name__, test, world)
    return results.exit()


if __name__ == "__main__": main()
