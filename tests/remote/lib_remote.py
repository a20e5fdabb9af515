"""What the tests of remote stores share: servers, the fault proxy, buckets, signed requests. No test by itself.

A server is the one that the environment names (SILT_TEST_S3=… as the starters in tests/services print), else one is started for this process alone and ended with it.
"""
import argparse, atexit, base64, contextlib, datetime, fcntl, hashlib, hmac, http.server, json, os, socket, subprocess, sys, tempfile, threading, time, urllib.error, urllib.parse, urllib.request

ROOT = os.environ.get("SILT_SOURCE_DIR") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("SILT_BUILD_DIR") or os.path.join(ROOT, "build/release")
SILT = os.environ.get("SILT") or os.path.join(BUILD, "silt")
SERVICES = os.path.join(ROOT, "tests/services")
# name of a store: (starter, its variable)
STORES = {"s3": ("s3", "SILT_TEST_S3"), "s3_weed": ("s3-weed", "SILT_TEST_S3_WEED"), "hdfs": ("hdfs", "SILT_TEST_HDFS"), "azure": ("azure", "SILT_TEST_AZURE"),
          "gcs": ("gcs", "SILT_TEST_GCS"), "dynamodb": ("dynamodb", "SILT_TEST_DYNAMODB")}
FOUR = ("s3", "azure", "gcs", "hdfs")
SERVERS = tuple(s for s in STORES if s != "dynamodb")  # dynamodb: another way of committing to s3


class Missing(Exception):
    """A server that cannot be had here; the text says why."""


def program(name):
    return os.path.join(BUILD, "tests", name)


# --- servers ---

def services_home():
    # The runner gives tests a HOME of their own; what is installed is in the user's.
    return os.environ.get("SILT_TEST_SERVICES") or os.environ.get("SILT_SERVICES") or os.path.expanduser("~/.cache/silt/services")


def starter(name, *arguments):
    return subprocess.run([os.path.join(SERVICES, name + ".sh"), *arguments], env=dict(os.environ, SILT_SERVICES=services_home()), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)


def is_installed(name):
    """Once a set-up that runs beside the tests has ended (.ci/run)."""
    if starter(name, "installed").returncode == 0: return True
    with contextlib.suppress(FileNotFoundError), open(os.path.join(services_home(), ".setup.lock"), encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
    return starter(name, "installed").returncode == 0


class Server:
    """endpoint and what else its starter told: server["ACCESS_KEY"]."""

    def __init__(self, store, told):
        self.store, self.variable, self.told = store, STORES[store][1], told
        self.endpoint = told[self.variable]
        self.port = int(urllib.parse.urlsplit(self.endpoint).port)

        self.dynamodb = None  # the endpoint by which commits go, if they do

    def __getitem__(self, what):
        return self.told["%s_%s" % (self.variable, what)]


def server(store, fresh=False):
    """The server of a store, its bucket made. Raises Missing."""
    name, variable = STORES[store]
    told = {k: v for k, v in os.environ.items() if k.startswith(variable)}
    if fresh or variable not in told:
        if not is_installed(name):
            raise Missing("%s is not installed (tests/services/setup.sh says why)" % name)
        folder = tempfile.mkdtemp(prefix="silt-%s-" % name)
        done = starter(name, "start", folder)
        atexit.register(starter, name, "stop", folder)
        if done.returncode != 0:
            raise RuntimeError("%s did not start: %s" % (name, done.stderr[-2000:]))
        told = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
        if not fresh: os.environ.update(told)  # one for the process
    s = Server(store, told)
    if store == "dynamodb":  # a way of committing to S3
        endpoint, s = s.endpoint, server("s3")
        s.dynamodb = endpoint
    make_bucket(s)
    return s


def options_of(doc, stores=SERVERS):
    """A parser with --store, which may be said more than once."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", action="append", choices=list(stores))
    return parser


def servers(area, results, stores):
    """The server of each store that was asked for, or of all four; one that cannot be had is skipped."""
    for store in stores or FOUR:
        try: yield server(store)
        except Missing as e: results.skip("%s/%s" % (area, store), e)


# --- requests that need a signature ---

def request(method, url, headers=None, body=b""):
    """(status, headers, body), of errors too."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data=body or None, method=method, headers=headers or {}), timeout=30) as r:
            return r.status, dict(r.headers), r.read()
    except urllib.error.HTTPError as e:
        return e.code, dict(e.headers), e.read()


def s3_request(s, method, path, body=b"", headers=None, query=""):
    """SigV4 by the book, to check Silt by something that is not Silt. path: /bucket/key, not encoded."""
    now = datetime.datetime.now(datetime.timezone.utc)
    stamp, day = now.strftime("%Y%m%dT%H%M%SZ"), now.strftime("%Y%m%d")
    host = urllib.parse.urlsplit(s.endpoint).netloc
    encoded, digest = urllib.parse.quote(path, safe="/-_.~"), hashlib.sha256(body).hexdigest()
    signed = dict({k.lower(): v for k, v in (headers or {}).items()}, host=host)
    signed.update({"x-amz-date": stamp, "x-amz-content-sha256": digest})
    names = ";".join(sorted(signed))
    canonical = "\n".join([method, encoded, query, "".join("%s:%s\n" % (k, signed[k]) for k in sorted(signed)), names, digest])
    scope = day + "/us-east-1/s3/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", stamp, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = ("AWS4" + s["SECRET_KEY"]).encode()
    for part in (day, "us-east-1", "s3", "aws4_request"): key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    signature = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
    signed["authorization"] = "AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s" % (s["ACCESS_KEY"], scope, names, signature)
    return request(method, s.endpoint + encoded + ("?" + query if query else ""), signed, body)


def azure_request(s, method, path, query=None, headers=None, body=b""):
    """Shared Key. path: /container/blob; query: a dict."""
    account, sent = s["ACCOUNT"], dict({k.lower(): v for k, v in (headers or {}).items()})
    sent.update({"x-ms-date": datetime.datetime.now(datetime.timezone.utc).strftime("%a, %d %b %Y %H:%M:%S GMT"), "x-ms-version": "2021-08-06"})
    if body: sent["content-type"] = "application/octet-stream"
    lines = [method, "", "", str(len(body)) if body else "", "", sent.get("content-type", ""), "", "", sent.get("if-match", ""), sent.get("if-none-match", ""), "", sent.get("range", "")]
    lines += ["%s:%s" % (k, sent[k]) for k in sorted(sent) if k.startswith("x-ms-")]
    encoded = urllib.parse.quote(path, safe="/-_.~")
    lines.append("/%s/%s%s" % (account, account, encoded) + "".join("\n%s:%s" % kv for kv in sorted((query or {}).items())))
    signature = base64.b64encode(hmac.new(base64.b64decode(s["KEY"]), "\n".join(lines).encode(), hashlib.sha256).digest()).decode()
    sent["authorization"] = "SharedKey %s:%s" % (account, signature)
    return request(method, "%s/%s%s%s" % (s.endpoint, account, encoded, "?" + urllib.parse.urlencode(query) if query else ""), sent, body)


# --- services that stand in a test ---

class Service(http.server.ThreadingHTTPServer):
    """An HTTP server of this process while it is entered; what is kept is its attributes. Its handler notes in `asked` what came."""

    def __init__(self, handler, **kept):
        self.asked = []
        self.__dict__.update(kept)
        super().__init__(("127.0.0.1", 0), handler)
        self.port = self.server_address[1]
        self.url = "http://127.0.0.1:%d" % self.port
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def __enter__(self): return self
    def __exit__(self, *_): self.shutdown()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_): pass

    def body(self): return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def answer(self, status, body=b"", headers=None):
        body = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        for k, v in (headers or {}).items():
            if k.lower() not in ("content-length", "transfer-encoding", "connection", "date", "server"): self.send_header(k, v)
        length = {k.lower(): v for k, v in (headers or {}).items()}.get("content-length") if self.command == "HEAD" else None
        self.send_header("Content-Length", length or str(len(body)))
        self.end_headers()
        if self.command != "HEAD": self.wfile.write(body)

    def v4_signature(self, path, query, told, secret, vendor="AWS4", headers="x-amz-"):
        """What the signature of this request must be, as AWS documents it (and Google, in other words), from what came."""
        names = told["SignedHeaders"]
        signed = "".join("%s:%s\n" % (n, " ".join(self.headers[n].split())) for n in names.split(";"))
        asked = "&".join(sorted(p if "=" in p else p + "=" for p in query.split("&") if p))
        canonical = "\n".join([self.command, path, asked, signed, names, self.headers[headers + "content-sha256"]])
        scope = told["Credential"].split("/")[1:]
        text = "\n".join([vendor + "-HMAC-SHA256", self.headers[headers + "date"], "/".join(scope), hashlib.sha256(canonical.encode()).hexdigest()])
        key = (vendor + secret).encode()
        for part in scope: key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def authorization(headers):
    """(scheme, {Credential, SignedHeaders, Signature}) of a request."""
    scheme, _, rest = headers.get("Authorization", "").partition(" ")
    return scheme, dict(p.strip().split("=", 1) for p in rest.split(",") if "=" in p)


def make_bucket(s):
    """Make what the tests work in, where it is not there; servers that have just begun may take a moment."""
    for _ in range(100):
        status = 200
        with contextlib.suppress(OSError):
            if s.store == "s3_weed": status = s3_request(s, "PUT", "/" + s["BUCKET"])[0]
            elif s.store == "azure": status = azure_request(s, "PUT", "/" + s["CONTAINER"], {"restype": "container"})[0]
            if status in (200, 201, 409): return
        time.sleep(0.2)
    raise RuntimeError("%s: no bucket, status %d" % (s.store, status))


def upload(s, path, body):
    """Put an object below the bucket (HDFS: the folder of tests) by other means than Silt's."""
    if s.store.startswith("s3"): status = s3_request(s, "PUT", "/%s/%s" % (s["BUCKET"], path), body)[0]
    elif s.store == "azure": status = azure_request(s, "PUT", "/%s/%s" % (s["CONTAINER"], path), None, {"x-ms-blob-type": "BlockBlob"}, body)[0]
    elif s.store == "gcs": status = request("POST", "%s/upload/storage/v1/b/%s/o?uploadType=media&name=%s" % (s.endpoint, s["BUCKET"], urllib.parse.quote(path, safe="")),
                                            {"Content-Type": "application/octet-stream"}, body)[0]
    else:
        url = "%s/webhdfs/v1%s/%s?op=CREATE&overwrite=true&noredirect=true&user.name=hdfs" % (s.endpoint, s["FOLDER"], urllib.parse.quote(path, safe="/"))
        there = urllib.parse.quote(json.loads(request("PUT", url)[2])["Location"], safe="%/:?=&+;,@!$'()*[]~")  # the NameNode leaves letters beyond ASCII as they are
        status = request("PUT", there, {"Content-Type": "application/octet-stream"}, body)[0]
    if status not in (200, 201): raise RuntimeError("%s: upload of %s: status %d" % (s.store, path, status))


# --- the proxy ---

class Proxy:
    """tests/support/fault_proxy.c before a server; what `tell` takes is written there."""

    def __init__(self, port, seed=1):
        self.process = subprocess.Popen([program("fault_proxy"), str(port), str(seed)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port, control = map(int, self.process.stdout.readline().split())
        self.control = socket.create_connection(("127.0.0.1", control)).makefile("rw")
        self.endpoint = "http://127.0.0.1:%d" % self.port

    def tell(self, line):
        self.control.write(line + "\n")
        self.control.flush()
        answer = self.control.readline().strip()
        if answer == "not understood": raise ValueError(line)
        return answer

    def counts(self):
        return {k: int(v) for k, v in (pair.split("=") for pair in self.tell("counts").split())}

    def log(self):
        return [line.split(" ", 1) for line in self.tell("log").split("|") if line]

    def close(self):
        self.process.stdin.close()
        self.process.wait(10)

    def __enter__(self): return self
    def __exit__(self, *_): self.close()


# --- tables ---

DELTA = "spark.io.delta.storage.S3DynamoDBLogStore."

def location(s, name, endpoint=None):
    """The URI of a table in the store; of HDFS it holds the endpoint."""
    if s.store.startswith("s3"): return "s3a://%s/%s" % (s["BUCKET"], name)
    if s.store == "azure": return "abfss://%s@%s.dfs.core.windows.net/%s" % (s["CONTAINER"], s["ACCOUNT"], name)
    if s.store == "gcs": return "gs://%s/%s" % (s["BUCKET"], name)
    return "webhdfs://%s%s/%s" % (urllib.parse.urlsplit(endpoint or s.endpoint).netloc, s["FOLDER"], name)


def settings(s, endpoint=None):
    """Spark's configuration keys, by which Silt finds the store; through `endpoint` (a proxy's) where that is given."""
    endpoint = endpoint or s.endpoint
    if s.store.startswith("s3"):
        ways = {"silt.s3.commit": "dynamodb", "silt.s3.dynamodb.endpoint": s.dynamodb, DELTA + "ddb.tableName": "silt_tests", DELTA + "ddb.region": "us-east-1"} if s.dynamodb else {}
        return {**ways, "fs.s3a.endpoint": endpoint, "fs.s3a.endpoint.region": "us-east-1", "fs.s3a.path.style.access": "true", "fs.s3a.access.key": s["ACCESS_KEY"],
                "fs.s3a.secret.key": s["SECRET_KEY"]}
    if s.store == "azure": return {"fs.azure.account.key.%s.dfs.core.windows.net" % s["ACCOUNT"]: s["KEY"], "silt.azure.endpoint": endpoint}
    if s.store == "gcs": return {"fs.gs.storage.root.url": endpoint, "fs.gs.auth.type": "UNAUTHENTICATED"}
    return {"silt.hdfs.user": "hdfs"}


# --- results ---

class Results:
    """Prints `ok`, `not ok` and `skip` lines; status 1 where one failed."""

    def __init__(self): self.failed = 0

    def check(self, name, problems):
        """problems: a list of what is wrong, or one text; empty: ok."""
        problems = [problems] if isinstance(problems, str) and problems else list(problems or [])
        print(("not ok " if problems else "ok ") + name)
        for p in problems[:20]: print("  " + str(p))
        self.failed += bool(problems)
        sys.stdout.flush()

    def skip(self, name, reason):
        print("skip %s: %s" % (name, reason), flush=True)

    def run(self, name, function, *arguments):
        """A test function returns problems; Missing skips it."""
        try: problems = function(*arguments)
        except Missing as e: return self.skip(name, e)
        except Exception as e:  # pylint: disable=broad-except
            import traceback
            problems = traceback.format_exc().splitlines()[-12:] if not isinstance(e, AssertionError) else [str(e) or traceback.format_exc()]
        return self.check(name, problems)

    def exit(self): sys.exit(1 if self.failed else 0)
