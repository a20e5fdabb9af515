"""The interop run's tables in a store instead of on local disk, for any case of the run.

A case goes on naming a table by its local path. A statement of Silt's or of Spark's has the paths below the work folder replaced by the store's locations (STORE + the local path); before it what the case
changed in the local folder goes to the store, after it what changed in the store comes to the local folder, so that a case may look into files, age or delete them. Spark works in the store by clients of
its own: Hadoop's for S3, HDFS and Azure (there by the blob endpoint, which is what the server has), Google's for Cloud Storage.

Modification times are kept on HDFS and S3 (whose server keeps objects as files); the other stores give their own, which the local copies then have, and empty folders are on HDFS alone.
"""
import datetime
import email.utils
import json
import os
import re
import shutil
import sys
import threading
import urllib.parse
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "remote"))
import lib_remote as remote
from report import Report
from silt_cli import Silt

os.environ.setdefault("HADOOP_USER_NAME", "hdfs")  # before the JVM of the session begins

AT_ONCE = ("hdfs", "gcs")  # where Spark's commits keep from replacing what another has committed


def location(server, name):
    """Where both engines find a table by plain HTTP; on HDFS Silt does."""
    return remote.location(server, name).replace("abfss:", "abfs:")


def spark_settings(server):
    """By which Spark's client finds the store."""
    if server.store == "s3": return {**remote.settings(server), "fs.s3a.connection.ssl.enabled": "false"}
    if server.store == "gcs":
        return {"fs.gs.impl": "com.google.cloud.hadoop.fs.gcs.GoogleHadoopFileSystem", "fs.gs.storage.root.url": server.endpoint + "/", "fs.gs.auth.service.account.enable": "false", "fs.gs.auth.null.enable": "true"}
    if server.store == "azure":
        return {"fs.azure.account.key.%s.dfs.core.windows.net" % server["ACCOUNT"]: server["KEY"], "fs.azure.abfs.endpoint": urllib.parse.urlsplit(server.endpoint).netloc, "fs.azure.always.use.https": "false",
                "fs.azure.account.hns.enabled": "false", "fs.azure.fns.account.service.type": "BLOB", "fs.azure.ingress.service.type": "BLOB"}
    return {}


# ---- files of a store: {path: stamp} of all below a folder, and what changes them ----

def entries_of(xml, tag):
    return [{c.tag.rsplit("}", 1)[-1]: c for c in e} for e in xml.iter() if e.tag.rsplit("}", 1)[-1] == tag]


def text(element, *path):
    for name in path: element = next(c for c in element if c.tag.rsplit("}", 1)[-1] == name)
    return element.text or ""


class Files:
    """What a mirror asks of a store, by other means than Silt's. Paths are below the bucket, container or folder of tests."""

    def __init__(self, server): self.s = server

    def body(self, path, answer):
        """None where it is gone since it was listed (both engines' temporary files)."""
        return None if answer[0] == 404 else self.ok("get " + path, answer)

    def ok(self, what, answer, *also):
        if answer[0] not in (200, 201, 202, 204, 206, *also): raise RuntimeError("%s: %s: status %d %s" % (self.s.store, what, answer[0], answer[2][:200]))
        return answer[2]

    keeps_times = False  # may a file be as old as a case wants it?

    def time_of(self, path, stamp): raise NotImplementedError
    def set_time(self, path, when): pass
    def make_folder(self, path): pass
    def remove_folder(self, path): pass


class S3(Files):
    folders, keeps_times = False, True

    def __init__(self, server): Files.__init__(self, server); self.data = server["DATA"]

    def list(self, prefix):
        out, token = {}, None
        while True:
            query = {"list-type": "2", "prefix": prefix, **({"continuation-token": token} if token else {})}
            query = "&".join("%s=%s" % (k, urllib.parse.quote(v, safe="-_.~")) for k, v in sorted(query.items()))
            page = xml.etree.ElementTree.fromstring(self.ok("list", remote.s3_request(self.s, "GET", "/" + self.s["BUCKET"], query=query)))
            for e in entries_of(page, "Contents"):
                if not e["Key"].text.endswith("/"): out[e["Key"].text] = (e["Size"].text, e["LastModified"].text, e["ETag"].text if "ETag" in e else "")
            token = next((e.text for e in page if e.tag.endswith("NextContinuationToken")), None)
            if not token: return out

    def key(self, path): return "/%s/%s" % (self.s["BUCKET"], path)
    def get(self, path): return self.body(path, remote.s3_request(self.s, "GET", self.key(path)))
    def delete(self, path): self.ok("delete " + path, remote.s3_request(self.s, "DELETE", self.key(path)), 404)

    def time_of(self, path, stamp): return os.stat(os.path.join(self.data, path)).st_mtime
    def set_time(self, path, when): os.utime(os.path.join(self.data, path), (when, when))


class Azure(Files):
    folders = False

    def list(self, prefix):
        out, marker = {}, None
        while True:
            query = {"restype": "container", "comp": "list", "include": "metadata", "prefix": prefix, **({"marker": marker} if marker else {})}
            page = xml.etree.ElementTree.fromstring(self.ok("list", remote.azure_request(self.s, "GET", "/" + self.s["CONTAINER"], query)))
            for e in entries_of(page, "Blob"):
                if "Metadata" in e and any(m.tag == "hdi_isfolder" for m in e["Metadata"]): continue  # by which Hadoop's client tells a folder
                out[e["Name"].text] = (text(e["Properties"], "Content-Length"), text(e["Properties"], "Etag"), text(e["Properties"], "Last-Modified"))
            marker = next((e.text for e in page if e.tag == "NextMarker"), None)
            if not marker: return out

    def time_of(self, path, stamp): return email.utils.parsedate_to_datetime(stamp[2]).timestamp()
    def key(self, path): return "/%s/%s" % (self.s["CONTAINER"], path)
    def get(self, path): return self.body(path, remote.azure_request(self.s, "GET", self.key(path)))
    def delete(self, path): self.ok("delete " + path, remote.azure_request(self.s, "DELETE", self.key(path)), 404)


class Gcs(Files):
    folders = False

    def objects(self): return "%s/storage/v1/b/%s/o" % (self.s.endpoint, self.s["BUCKET"])

    def list(self, prefix):
        out, token = {}, None
        while True:
            page = json.loads(self.ok("list", remote.request("GET", self.objects() + "?" + urllib.parse.urlencode({"prefix": prefix, **({"pageToken": token} if token else {})}))))
            out.update({e["name"]: (e["size"], e["generation"], e["updated"]) for e in page.get("items", ()) if not e["name"].endswith("/")})  # by which Google's client tells a folder
            token = page.get("nextPageToken")
            if not token: return out

    def time_of(self, path, stamp): return datetime.datetime.fromisoformat(re.sub(r"(\.\d{1,6})\d*|(?<=:\d\d)(?=Z)", lambda m: (m[1] or ".0").ljust(7, "0"), stamp[2]).replace("Z", "+00:00")).timestamp()
    def key(self, path): return self.objects() + "/" + urllib.parse.quote(path, safe="")
    def get(self, path): return self.body(path, remote.request("GET", self.key(path) + "?alt=media"))
    def delete(self, path): self.ok("delete " + path, remote.request("DELETE", self.key(path)), 404)


class Hdfs(Files):
    folders = keeps_times = True

    def url(self, path, operation, **more):
        return "%s/webhdfs/v1%s/%s?%s" % (self.s.endpoint, self.s["FOLDER"], urllib.parse.quote(path, safe="/"), urllib.parse.urlencode({"op": operation, "user.name": "hdfs", **more}))

    def list(self, prefix):
        """Folders too, with their names ending in a slash."""
        status, _, body = remote.request("GET", self.url(prefix.rstrip("/"), "LISTSTATUS"))
        if status == 404: return {}
        out = {}
        for e in json.loads(self.ok("list " + prefix, (status, None, body)))["FileStatuses"]["FileStatus"]:
            path = prefix.rstrip("/") + "/" + e["pathSuffix"]
            if e["type"] == "DIRECTORY": out.update(self.list(path + "/"), **{path + "/": ()})
            else: out[path] = (e["length"], e["modificationTime"], e["fileId"])
        return out

    def get(self, path): return self.body(path, remote.request("GET", self.url(path, "OPEN")))
    def delete(self, path): self.ok("delete " + path, remote.request("DELETE", self.url(path, "DELETE", recursive="true")))
    def time_of(self, path, stamp): return stamp[1] / 1000
    def set_time(self, path, when): self.ok("times of " + path, remote.request("PUT", self.url(path, "SETTIMES", modificationtime=int(when * 1000))))
    def make_folder(self, path): self.ok("mkdirs " + path, remote.request("PUT", self.url(path, "MKDIRS")))
    remove_folder = delete


# ---- the mirror ----

class Mirror:
    """Keeps the folders below `work` and their counterparts in the store the same; only those that a statement names, or all that were ever named where it names none."""

    def __init__(self, store, work):
        self.server, self.work, self.store = remote.server(store), work, store
        self.files, self.lock = {"s3": S3, "azure": Azure, "gcs": Gcs, "hdfs": Hdfs}[store](self.server), threading.RLock()
        self.base = "hdfs://%s%s" % (self.server["RPC"], self.server["FOLDER"]) if store == "hdfs" else location(self.server, "").rstrip("/")
        self.settings = dict(remote.settings(self.server))
        if store == "hdfs": self.settings["silt.hdfs.%s.http" % self.server["RPC"]] = urllib.parse.urlsplit(self.server.endpoint).netloc
        self.elsewhere = os.path.join(os.path.dirname(work), "local") + "/"  # tables of the run that are not in the store
        self.known, self.here, self.there = set(), {}, {}  # folders; {path below work: what it was when both were the same}
        self.inside = re.compile("(?<!%s)%s(?=/)" % (re.escape(self.base), re.escape(work)))

    def located(self, statement): return self.inside.sub(lambda m: self.base + m[0], statement)

    def named(self, *texts):
        found = {m[1] for t in texts for m in re.finditer(re.escape(self.work) + r"/([^/`'\";,\s]+)", t)}
        self.known |= found
        return found

    def folders(self, *texts): return self.named(*texts) or (set() if any(self.elsewhere in t for t in texts) else set(self.known))

    def at(self, path):
        """Where a client of the store finds a path, and what is there is what is here."""
        self.push(self.named(path))
        return self.located(path)

    def found_here(self, folder):
        out, top = {}, os.path.join(self.work, folder)
        for d, names, files in os.walk(top):
            inside = os.path.relpath(d, self.work)
            for f in files:
                if f.startswith(".") and f.endswith(".crc"): continue  # of Spark's local file system alone
                stat = os.stat(os.path.join(d, f))
                out[inside + "/" + f] = (stat.st_size, stat.st_mtime_ns, stat.st_ino)
            if self.files.folders and d != top: out[inside + "/"] = ()
        return out

    def key(self, path): return self.work.lstrip("/") + "/" + path
    def of(self, state, folder): return {p for p in state if p.startswith(folder + "/")}

    def push(self, folders):
        with self.lock:
            for folder in folders:
                now, sent = self.found_here(folder), []
                for p in self.of(self.here, folder) - set(now):
                    if p in self.there:
                        (self.files.remove_folder if p.endswith("/") else self.files.delete)(self.key(p))
                    self.here.pop(p), self.there.pop(p, None)
                for p, state in now.items():
                    if self.here.get(p) == state: continue
                    sent.append(p)
                    self.here[p] = state
                    if p.endswith("/"): self.files.make_folder(self.key(p)); continue
                    with open(os.path.join(self.work, p), "rb") as f: remote.upload(self.server, self.key(p), f.read())
                    self.files.set_time(self.key(p), state[1] / 1e9)
                for p in sorted(sent, reverse=True):
                    if p.endswith("/"): self.files.set_time(self.key(p).rstrip("/"), os.stat(os.path.join(self.work, p)).st_mtime)
                if sent:
                    stamps = self.files.list(self.key(folder) + "/")
                    for p in sent: self.keep(p, stamps[self.key(p)])

    def pull(self, folders):
        with self.lock:
            for folder in folders:
                cut = len(self.key(""))
                now = {k[cut:]: stamp for k, stamp in self.files.list(self.key(folder) + "/").items()}
                for p in self.of(self.there, folder) - set(now): self.gone(p)
                for p, stamp in now.items():
                    if self.there.get(p) != stamp: self.come(p, stamp)
                if now or os.path.isdir(os.path.join(self.work, folder)): self.tidy(folder, now)

    def gone(self, p):
        self.there.pop(p), self.here.pop(p, None)
        path = os.path.join(self.work, p)
        if p.endswith("/"): shutil.rmtree(path, ignore_errors=True)
        else: self.remove(path), self.remove(self.checksum(path))

    def come(self, p, stamp):
        path, body = os.path.join(self.work, p), None if p.endswith("/") else self.files.get(self.key(p))
        if body is None and not p.endswith("/"): return
        self.there[p] = stamp
        os.makedirs(path if p.endswith("/") else os.path.dirname(path), exist_ok=True)
        if p.endswith("/"): self.here[p] = (); return
        self.remove(self.checksum(path))
        with open(path, "wb") as f: f.write(body)
        self.keep(p, stamp)

    def keep(self, p, stamp):
        """Both are the same now, and have one time."""
        self.there[p] = stamp
        if p.endswith("/"): return
        path, when = os.path.join(self.work, p), self.files.time_of(self.key(p), stamp)
        os.utime(path, (when, when))
        stat = os.stat(path)
        self.here[p] = (stat.st_size, stat.st_mtime_ns, stat.st_ino)

    def tidy(self, folder, now):
        """Folders that hold nothing are nowhere but on HDFS."""
        for d, _, _ in os.walk(os.path.join(self.work, folder), topdown=False):
            inside = os.path.relpath(d, self.work) + "/"
            if not os.listdir(d) and inside not in now: os.rmdir(d); self.here.pop(inside, None)

    def checksum(self, path): return os.path.join(os.path.dirname(path), ".%s.crc" % os.path.basename(path))

    def remove(self, path):
        if os.path.exists(path): os.remove(path)

    def deltalake(self, path):
        """What DeltaTable takes: location and storage options; the local copy where it has no client."""
        s, inside = self.server, path.lstrip("/")
        if self.store == "s3":
            return "s3://%s/%s" % (s["BUCKET"], inside), {"AWS_ENDPOINT_URL": s.endpoint, "AWS_ACCESS_KEY_ID": s["ACCESS_KEY"], "AWS_SECRET_ACCESS_KEY": s["SECRET_KEY"], "AWS_REGION": "us-east-1", "AWS_ALLOW_HTTP": "true"}
        if self.store == "azure":
            return "az://%s/%s" % (s["CONTAINER"], inside), {"account_name": s["ACCOUNT"], "account_key": s["KEY"], "azure_storage_endpoint": s.endpoint + "/" + s["ACCOUNT"], "allow_http": "true"}
        if self.store == "gcs":
            key = {"gcs_base_url": s.endpoint, "disable_oauth": True, "client_email": "", "private_key": "", "private_key_id": ""}
            return "gs://%s/%s" % (s["BUCKET"], inside), {"google_service_account_key": json.dumps(key), "allow_http": "true"}
        return path, None


# ---- the two engines ----

READS = re.compile(r"\s*(SELECT|WITH|DESCRIBE|DESC|SHOW|EXPLAIN|show|history)\b", re.I)


class RemoteSilt(Silt):
    def __init__(self, silt, mirror):
        Silt.__init__(self, silt.binary, os.path.join(mirror.work, "silt-warehouse"))
        self.mirror, self.names = mirror, ("--conf", "silt.catalog.dir=%s/names" % os.path.dirname(mirror.elsewhere.rstrip("/")))
        mirror.known.add("silt-warehouse")

    def command(self, *args, conf=()):
        sources = 1 if args[0] == "load" else 0  # the file that is loaded stays where it is
        args = [a if i and i <= sources else self.mirror.located(a) for i, a in enumerate(args)]
        words = [self.mirror.located(w) if w.startswith("spark.sql.warehouse.dir=") else w for w in Silt.command(self, *args, conf=conf)]
        return [*words, *(self.names if args[0] == "sql" else ()), *(w for kv in self.mirror.settings.items() for w in ("--conf", "%s=%s" % kv))]

    def run(self, *args, conf=(), timeout=300):
        folders = self.mirror.folders(*args[2 if args[0] == "load" else 1:])
        self.mirror.push(folders)
        try: return Silt.run(self, *args, conf=conf, timeout=timeout)
        finally:
            statements = args[1].split(";") if args[0] == "sql" else [args[0]]
            if not all(READS.match(s) for s in statements): self.mirror.pull(folders)

    def start(self, *args, conf=()):
        mirror, folders = self.mirror, self.mirror.folders(*args[1:])
        mirror.push(folders)
        process = Silt.start(self, *args, conf=conf)

        class Started:
            def communicate(self):
                told = process.communicate()
                self.returncode = process.returncode
                mirror.pull(folders)
                return told
        return Started()


class RemoteSpark:
    """A session whose SQL works in the store."""

    def __init__(self, spark, mirror):
        self.session, self.mirror = spark, mirror
        for k, v in spark_settings(mirror.server).items(): spark.conf.set(k, v)

    def __getattr__(self, name): return getattr(self.session, name)

    def sql(self, statement):
        folders = self.mirror.folders(statement)
        self.mirror.push(folders)
        try: return self.session.sql(self.mirror.located(statement))
        finally:
            if not READS.match(statement): self.mirror.pull(folders)


class Part:
    """A run's report under a prefix, with cases of its own to choose from."""

    def __init__(self, report, prefix, only): self.report, self.prefix, self.chosen = report, prefix, Report(only)
    def __getattr__(self, name): return getattr(self.report, name)
    def wants(self, name): return self.chosen.wants(name) and self.report.wants(self.prefix + name)
    def wants_any(self, group): return self.chosen.wants_any(group)
    def ok(self, name): self.report.ok(self.prefix + name)
    def not_ok(self, name, why): self.report.not_ok(self.prefix + name, why)
    def skip(self, name, reason): self.report.skip(self.prefix + name, reason)
    case = Report.case


def run_at(run, store, prefix, only):
    """The run with its tables in a store. Raises Missing."""
    there, work = object.__new__(type(run)), os.path.join(run.work, "at_" + store)
    mirror = Mirror(store, work)
    there.__dict__.update(run.__dict__, work=work, mirror=mirror, silt=RemoteSilt(run.silt, mirror), spark=RemoteSpark(run.spark, mirror), report=Part(run.report, prefix, only))
    there.at, there.written = mirror.at, lambda path: mirror.pull(mirror.named(path))
    os.makedirs(there.silt.warehouse)
    return there
