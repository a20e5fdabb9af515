#!/usr/bin/env python3
"""What Silt prints about a table in a store names it so that the name can be used again: errors give the whole URI of a table, folder or file, never a path that would be one of the local disk, and
the doctor's commands work as they stand. usage: names.py [--store NAME]..."""
import json, os, re, shlex, subprocess, sys, tempfile
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib_remote as remote
from maintenance import fetch, remove

ZEROS = "_delta_log/%020d"


class Namer:
    def __init__(self, server, cwd):
        self.server, self.cwd, self.problems = server, cwd, []
        self.folder = "names-%d/a b" % os.getpid()
        self.words = [w for kv in remote.settings(server).items() for w in ("--conf", "%s=%s" % kv)]
        self.path = re.sub(r"^[a-z0-9]+://[^/]*", "", self.at(""))

    def at(self, name): return remote.location(self.server, self.folder + "/" + name)
    def put(self, name, body): remote.upload(self.server, self.folder + "/" + name, body)

    def run(self, *command, conf=()):
        done = subprocess.run([remote.SILT, *command, *self.words, *[w for c in conf for w in ("--conf", c)]], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120,
                              cwd=self.cwd, check=False)
        text = done.stdout + done.stderr
        for line in text.replace(self.at(""), "").splitlines():
            if self.path in line: self.problems.append("%s: a path without its store: %s" % (" ".join(command)[:100], line[:300]))
        return done

    def fails(self, condition, about, *command, conf=()):
        """`about`: below self.folder; its URI is in the message."""
        done = self.run(*command, conf=conf)
        first = done.stderr.split("\n")[0]
        if done.returncode != 1 or not first.startswith("[" + condition): self.problems.append("%s: %d, %s, not %s" % (" ".join(command)[:100], done.returncode, (done.stdout + done.stderr)[:300], condition))
        elif self.at(about) not in first: self.problems.append("%s: %s does not name %s" % (condition, first, self.at(about)))

    def ok(self, *command):
        done = self.run(*command)
        if done.returncode: self.problems.append("%s: %s" % (" ".join(command)[:100], done.stderr[:300]))
        return done.stdout

    def sql_fails(self, condition, about, statement, conf=()): self.fails(condition, about, "sql", statement, conf=conf)
    def table(self, name): return "delta.`%s`" % self.at(name)

    def make(self, name, rows=3):
        self.ok("sql", "CREATE TABLE %s (id BIGINT) USING delta; INSERT INTO %s SELECT id FROM range(%d)" % (self.table(name), self.table(name), rows))
        return self.data_files(name)

    def data_files(self, name): return [json.loads(line)["path"] for line in self.ok("files", self.at(name), "--format", "jsonl").splitlines()]

    def examine(self, name, *more):
        """The doctor's findings by check; each names the table as statements do."""
        done = self.run("doctor", self.at(name), "--format", "jsonl", *more)
        found = {}
        for line in done.stdout.splitlines():
            row = json.loads(line)
            found[row["check"]] = row
            if row["table"] != self.table(name): self.problems.append("doctor: the table is %s" % row["table"])
            if row["command"] and self.at(name) not in row["command"]: self.problems.append("doctor: the command is %s" % row["command"])
        if done.returncode not in (0, 3, 4): self.problems.append("doctor: " + done.stderr[:300])
        return found

    def obey(self, finding):
        command = finding["command"]
        return self.ok(*shlex.split(command)[1:]) if command.startswith("silt ") else self.ok("sql", command)


def doctor(n):
    """Sick tables whose remedy is run as the doctor writes it, until they are well."""
    file = n.make("sick")[0]
    n.put("sick/_delta_log/_last_checkpoint", b"{")
    n.obey(n.examine("sick")["checkpoint-corrupt"])
    if n.examine("sick"): n.problems.append("sick after its checkpoint")
    n.obey(n.examine("sick", "--longest-job", "60 days")["file-retention"])
    if n.examine("sick", "--longest-job", "60 days"): n.problems.append("sick after its ALTER TABLE")
    n.ok("clone", n.at("sick"), n.at("borrowed"))
    outside = n.examine("borrowed")["files-outside"]["command"]
    n.ok("sql", outside.replace("new_table", n.table("own")))
    remove(n.server, "%s/sick/%s" % (n.folder, file))
    n.obey(n.examine("sick")["files-missing"])
    n.obey({"command": n.examine("sick")["files-missing"]["command"].replace(" DRY RUN", "")})
    if "files-missing" in n.examine("sick"): n.problems.append("sick after FSCK")


def logs(n):
    """The log and what it names: lines, checkpoints, files that are gone."""
    n.make("line")
    n.put("line/" + ZEROS % 2 + ".json", b'{"add":{"pa')
    n.sql_fails("DELTA_LOG_FILE_CORRUPT", "line/" + ZEROS % 2 + ".json", "SELECT * FROM " + n.table("line"))
    n.make("checkpoint")
    n.ok("checkpoint", n.at("checkpoint"))
    whole = fetch(n.server, "%s/checkpoint/%s.checkpoint.parquet" % (n.folder, ZEROS % 1))
    n.put("checkpoint/" + ZEROS % 1 + ".checkpoint.parquet", whole[:len(whole) // 2])
    for v in (0, 1): remove(n.server, "%s/checkpoint/%s.json" % (n.folder, ZEROS % v))
    n.sql_fails("DELTA_CHECKPOINT_CORRUPT", "checkpoint/" + ZEROS % 1 + ".checkpoint.parquet", "SELECT * FROM " + n.table("checkpoint"))
    n.run("doctor", n.at("checkpoint"))
    file = n.make("file")[0]
    remove(n.server, "%s/file/%s" % (n.folder, file))
    n.sql_fails("DELTA_FILE_NOT_FOUND_DETAILED", "file/" + file, "SELECT * FROM " + n.table("file"))
    file = n.make("bytes")[0]
    n.put("bytes/" + file, b"PAR1 this is no Parquet file, for all its length" * 40)
    n.sql_fails("FAILED_READ_FILE", "bytes/" + file, "SELECT * FROM " + n.table("bytes"))
    n.sql_fails("DELTA_TABLE_ONLY_OPERATION", "none", "DESCRIBE HISTORY " + n.table("none"))
    n.fails("DELTA_TABLE_NOT_FOUND", "none", "doctor", n.at("none"))


def locations(n):
    """Where a statement would put a table, or read files."""
    n.make("there")
    n.put("files/one.txt", b"x")
    n.put("plain/bad.parquet", b"no Parquet at all")
    n.put("_hidden/_x", b"x")
    columns = "CREATE TABLE x (other STRING) USING delta LOCATION '%s'"
    n.sql_fails("DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION", "files", columns % n.at("files"))
    n.sql_fails("DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION", "files", "CREATE TABLE %s DEEP CLONE %s" % (n.table("files"), n.table("there")))
    n.sql_fails("DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION", "there", "CREATE TABLE x USING delta LOCATION '%s' AS SELECT 1 AS id" % n.at("there"))
    n.sql_fails("DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION", "there", "CREATE TABLE %s SHALLOW CLONE %s" % (n.table("there"), n.table("there")))
    n.sql_fails("DELTA_CREATE_TABLE_SCHEME_MISMATCH", "there", columns % n.at("there"))
    n.sql_fails("DELTA_CREATE_TABLE_WITH_DIFFERENT_PARTITIONING", "there", "CREATE TABLE x (id BIGINT) USING delta PARTITIONED BY (id) LOCATION '%s'" % n.at("there"))
    n.sql_fails("DELTA_CREATE_TABLE_WITH_DIFFERENT_CLUSTERING", "there", "CREATE TABLE x (id BIGINT) USING delta CLUSTER BY (id) LOCATION '%s'" % n.at("there"))
    n.sql_fails("DELTA_CREATE_TABLE_WITH_DIFFERENT_PROPERTY", "there", "CREATE TABLE x (id BIGINT) USING delta TBLPROPERTIES ('a' = 'b') LOCATION '%s'" % n.at("there"))
    n.sql_fails("DELTA_DIRECTORY_NOT_FOUND", "none", "CONVERT TO DELTA parquet.`%s`" % n.at("none"))
    n.sql_fails("DELTA_EMPTY_DIRECTORY", "_hidden", "CONVERT TO DELTA parquet.`%s`" % n.at("_hidden"))
    n.sql_fails("DELTA_FAILED_READ_FILE_FOOTER", "plain/bad.parquet", "CONVERT TO DELTA parquet.`%s`" % n.at("plain"))
    n.sql_fails("FAILED_READ_FILE", "plain/bad.parquet", "SELECT * FROM parquet.`%s`" % n.at("plain"))
    n.sql_fails("PATH_NOT_FOUND", "none", "SELECT * FROM parquet.`%s`" % n.at("none"))


def dynamodb_traces(n):
    """Another writer's way of committing to S3."""
    if n.server.store != "s3": return
    n.make("traces")
    n.put("traces/_delta_log/.tmp/%020d.json.abc" % 0, b"{}")
    n.sql_fails("S3_LOG_STORE_MISMATCH", "traces", "INSERT INTO %s VALUES (1)" % n.table("traces"))


def warehouse(n):
    """The names of a warehouse in a store are kept in a folder of the local disk, which is told when it is made there unasked."""
    where, made = ("--warehouse", n.at("warehouse")), os.path.join(n.cwd, "spark-warehouse", ".silt-catalog.sqlite")
    done = n.run("sql", "CREATE TABLE kept (id INT) USING delta", "--conf", "silt.catalog.dir=" + os.path.join(n.cwd, "chosen"), *where)
    if done.returncode or "kept in" in done.stderr: n.problems.append("a folder that was asked for: " + done.stderr)
    done = n.run("sql", "CREATE TABLE first (id INT) USING delta", *where)
    if done.returncode or made not in done.stderr: n.problems.append("the first table: " + done.stderr)
    done = n.run("sql", "CREATE TABLE second (id INT) USING delta", *where)
    if done.returncode or "kept in" in done.stderr: n.problems.append("the second table: " + done.stderr)
    n.sql_fails("DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION", "warehouse/kept", "CREATE TABLE kept (id INT) USING delta", conf=("spark.sql.warehouse.dir=" + n.at("warehouse"),))


STEPS = (doctor, logs, locations, dynamodb_traces, warehouse)


def main():
    options, results = remote.options_of(__doc__).parse_args(), remote.Results()
    for server in remote.servers("names", results, options.store):
        with tempfile.TemporaryDirectory() as cwd:
            n = Namer(server, cwd)
            for step in STEPS:
                n.problems = []
                results.run("names/%s/%s" % (server.store, step.__name__), lambda: step(n) or n.problems)  # pylint: disable=cell-var-from-loop
    results.exit()


if __name__ == "__main__": main()
