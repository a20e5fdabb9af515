"""The silt command as the interop run drives it, and Spark in its place (SILT=spark) to try the run itself."""
import json
import os
import re
import subprocess


class Failed(Exception):
    """A command that failed: its exit status and what it said."""

    def __init__(self, status, message):
        self.status, self.message = status, message.strip()
        super().__init__("exit status %d: %s" % (status, self.message[:400]))

    def condition(self):
        found = re.search(r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+(\.[A-Z0-9_]+)*", self.message)
        return found[0] if found else None


class Pairs(list):
    pass


def row_values(line):
    """The values of a jsonl row in order, even where two columns have one name; nested objects stay objects."""
    def plain(v):
        if isinstance(v, Pairs):
            return {k: plain(x) for k, x in v}
        return [plain(x) for x in v] if isinstance(v, list) else v
    return [plain(v) for _, v in json.JSONDecoder(object_pairs_hook=Pairs).decode(line)]


class Silt:
    name = "silt"

    def __init__(self, binary, warehouse):
        self.binary, self.warehouse = binary, warehouse

    def command(self, *args, conf=()):
        cmd = [self.binary, *args]
        if args[0] in ("sql", "load"):
            for k, v in {"spark.sql.session.timeZone": "UTC", "spark.sql.warehouse.dir": self.warehouse, **dict(conf)}.items():
                cmd += ["--conf", "%s=%s" % (k, v)]
        return cmd

    def run(self, *args, conf=(), timeout=300):
        p = subprocess.run(self.command(*args, conf=conf), stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout)
        if p.returncode:
            raise Failed(p.returncode, p.stderr.decode("utf-8", "replace"))
        return p.stdout.decode("utf-8")

    def start(self, *args, conf=()):
        return subprocess.Popen(self.command(*args, conf=conf), stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def sql(self, statements, conf=()):
        """The rows of the last statement as lists of jsonl values."""
        return [row_values(line) for line in self.run("sql", statements, "--format", "jsonl", conf=conf).split("\n") if line]

    def show(self, path, version=None):
        return json.loads(self.run("show", path, "--format", "json", *(("--version", str(version)) if version is not None else ())))


class SparkAsSilt:
    """The same calls answered by Spark: what fails here is a mistake of the run, not of Silt."""
    name = "spark"

    def __init__(self, spark, warehouse):
        self.spark, self.warehouse = spark, warehouse

    def sql(self, statements, conf=()):
        import spark_peer
        session = self.spark.newSession()
        for k, v in dict(conf).items():
            session.conf.set(k, v)
        out = []
        try:
            for s in split_statements(statements):
                out = spark_peer.rows(session.sql(s))
        except Exception as e:
            raise Failed(1, (spark_peer.condition(e) or "") + " " + str(e))
        return out

    def show(self, path, version=None):
        log = self.spark._jvm.org.apache.spark.sql.delta.DeltaLog.forTable(self.spark._jsparkSession, path)
        if version is None:
            snapshot = log.update(False, getattr(log, "update$default$2")(), getattr(log, "update$default$3")())
        else:
            snapshot = log.getSnapshotAt(version, getattr(log, "getSnapshotAt$default$2")(), getattr(log, "getSnapshotAt$default$3")(), False)
        m, p = snapshot.metadata(), snapshot.protocol()
        return {"version": snapshot.version(), "numFiles": snapshot.allFiles().count(), "schema": json.loads(m.schemaString()),
                "partitionColumns": list(self.spark._jvm.scala.jdk.javaapi.CollectionConverters.asJava(m.partitionColumns())),
                "protocol": {"minReaderVersion": p.minReaderVersion(), "minWriterVersion": p.minWriterVersion()}}

    def run(self, verb, *args, conf=()):
        import spark_peer
        if verb == "checkpoint":
            self.spark._jvm.org.apache.spark.sql.delta.DeltaLog.forTable(self.spark._jsparkSession, args[0]).checkpoint()
        elif verb == "load":
            files = [a for a in args if not a.startswith("--")][:-1]
            options = dict(zip(args, args[1:]))
            reader = self.spark.read.format(files[0].rsplit(".", 1)[1])
            if files[0].endswith(".csv"):
                reader = reader.option("header", "true").option("inferSchema", "true")
            w = reader.load(files[:1]).write.format("delta").mode(options.get("--mode", "append"))
            if "--partition-by" in options:
                w = w.partitionBy(*options["--partition-by"].split(","))
            try:
                w.save(options["--into"])
            except Exception as e:
                raise Failed(1, str(e))
        elif verb == "sql":
            return "".join(spark_peer.dumps(r) + "\n" for r in self.sql(args[0], conf))
        elif verb == "history":
            return json.dumps([r.asDict() for r in self.spark.sql("DESCRIBE HISTORY " + spark_peer.path_table(args[0])).collect()], default=str)
        else:
            raise Failed(2, "not played by Spark: " + verb)
        return ""


def split_statements(text):
    out, start, i = [], 0, 0
    while i < len(text):
        if text[i] in "'\"`":
            j = i + 1
            while j < len(text) and text[j] != text[i]:
                j += 2 if text[j] == "\\" and text[i] != "`" else 1
            i = j
        elif text[i] == ";":
            out.append(text[start:i])
            start = i + 1
        i += 1
    return [s for s in out + [text[start:]] if s.strip()]
