#!/usr/bin/env python3
"""silt cache: what queries over remote files leave on this machine, what a second process makes of it, and clearing. The remote store is a web server of the test's own."""
import http.server, json, os, re, shutil, sys, threading
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import silt_script as s
from silt_script import equal, ok, silt, sql


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_): pass

    def do_HEAD(self): self.answer(False)

    def do_GET(self): self.answer(True)

    def answer(self, body):
        path = os.path.join(self.server.root, self.path.lstrip("/"))
        if not os.path.isfile(path): return self.reply(404, {}, b"", body)
        with open(path, "rb") as f: data = f.read()
        headers = {"ETag": '"%d-%d"' % (len(data), os.stat(path).st_mtime_ns)}
        m = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if not m: return self.reply(200, headers, data, body)
        first, last = int(m[1]), int(m[2]) if m[2] else len(data) - 1
        if first >= len(data): return self.reply(416, {"Content-Range": "bytes */%d" % len(data)}, b"", body)
        part = data[first:last + 1]
        headers["Content-Range"] = "bytes %d-%d/%d" % (first, first + len(part) - 1, len(data))
        self.reply(206, headers, part, body)

    def reply(self, code, headers, data, body):
        if body and code < 300: self.server.moved.append((self.path, len(data)))
        self.send_response(code)
        for k, v in dict(headers, **{"Content-Length": len(data)}).items(): self.send_header(k, str(v))
        self.end_headers()
        if body: self.wfile.write(data)


class Server:
    """Serves a folder; `moved` are the bodies sent: (path, bytes)."""

    def __init__(self, root):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.root, self.server.moved = os.path.abspath(root), []
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = "http://127.0.0.1:%d" % self.server.server_port

    def data(self):
        """Bytes of data files that were sent since the last call."""
        n = sum(size for path, size in self.server.moved if path.endswith(".parquet"))
        self.server.moved.clear()
        return n


def usage(*conf): return json.loads(ok("cache", "show", "--format", "json", *conf).out)


def table(name, rows=200000):
    sql("CREATE TABLE delta.`%s` USING delta AS SELECT id, concat('some longer text ', cast(id AS STRING)) AS s FROM range(%d)" % (os.path.abspath(name), rows))
    return sum(os.path.getsize(os.path.join(name, f)) for f in os.listdir(name) if f.endswith(".parquet"))


def total(server, name, *conf):
    done = ok("sql", "SELECT sum(id) AS n FROM delta.`%s/%s`" % (server.url, name), "--format", "jsonl", *conf)
    return done.rows()[0]["n"]


def test_a_second_process_finds_what_the_first_fetched():
    size = table("t")
    server = Server(".")
    equal(total(server, "t"), 19999900000)
    cold = server.data()
    assert 0 < cold < size / 2, (cold, size)
    equal(total(server, "t"), 19999900000)
    equal(server.data(), 0)
    u = usage()
    equal(u["folder"], os.path.join(os.getcwd(), ".cache/silt/data"))
    assert u["entries"] > 0 and u["hits"] > 0 and u["bytesFetched"] >= cold and u["bytes"] >= cold, u
    assert "hits" in ok("cache").out


def test_clear_removes_it():
    table("t")
    server = Server(".")
    total(server, "t")
    entries = usage()["entries"]
    done = ok("cache", "clear")
    assert done.out.startswith("%d entries removed" % entries), done
    u = usage()
    equal((u["entries"], u["bytes"], u["hits"], u["bytesFetched"]), (0, 0, 0, 0))
    server.data()
    total(server, "t")
    assert server.data() > 0


def test_folder_and_size_are_settings():
    size = table("a"), table("b")
    server = Server(".")
    folder = os.path.abspath("elsewhere")
    conf = ("--conf", "silt.cache.dir=" + folder, "--conf", "silt.cache.maxSize=%dk" % (min(size) // 1024 // 8))
    total(server, "a", *conf)
    total(server, "b", *conf)
    total(server, "a", *conf)
    assert usage(*conf)["bytes"] < sum(size) // 4
    assert os.path.isdir(folder) and not os.path.exists(".cache/silt/data")
    shutil.rmtree(folder)
    equal(total(server, "a", *conf), 19999900000)


def test_wrong_use():
    for argv in (("cache", "wipe"), ("cache", "show", "more"), ("cache", "--format", "csv")): equal(silt(*argv).code, 2)
    done = silt("cache", "--conf", "silt.cache.maxSize=much")
    equal((done.code, done.condition), (1, "INVALID_PARAMETER_VALUE"))
    done = silt("cache", "--conf", "silt.cache.dir=not/absolute")
    equal((done.code, done.condition), (1, "INVALID_PARAMETER_VALUE"))
    equal(usage()["entries"], 0)  # nothing there yet


def test_a_folder_that_cannot_be_used_is_named():
    table("t", 10)
    server = Server(".")
    with open("file", "w") as f: f.write("x")
    done = silt("sql", "SELECT sum(id) FROM delta.`%s/t`" % server.url, "--conf", "silt.cache.dir=" + os.path.abspath("file"))
    equal((done.code, done.condition), (1, "READ_CACHE_UNUSABLE"))
    assert "silt.cache.dir" in done.err


def test_without_a_cache():
    """No home that could hold one, or none is wanted: the answer is the same, and nothing is kept."""
    table("t", 1000)
    server = Server(".")
    equal(total(server, "t", "--conf", "silt.cache.maxSize=0"), 499500)
    assert not os.path.exists(".cache/silt/data")
    done = ok("sql", "SELECT sum(id) AS n FROM delta.`%s/t`" % server.url, "--format", "jsonl", env={"HOME": "/proc"})  # where root cannot make a folder either
    equal(done.rows(), [{"n": 499500}])


s.main(globals())
