"""A server that speaks enough of S3 and takes no notice of If-None-Match, as some do: the last writer of a name wins. Checks no signatures. No test by itself."""
import hashlib, http.server, threading, time, urllib.parse
from xml.sax.saxutils import escape


class Overwriting:
    """`with Overwriting() as server:` server.endpoint, server.objects {"/bucket/key": bytes}; server.change(path, bytes) gives the bytes that a PUT leaves there."""

    def __init__(self):
        self.objects, self.times, self.lock, self.change = {}, {}, threading.Lock(), None
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def reply(self, status, body=b"", headers=None):
                self.send_response(status)
                for k, v in (headers or {}).items(): self.send_header(k, v)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command != "HEAD": self.wfile.write(body)

            def error(self, status, code):
                self.reply(status, b"<Error><Code>%s</Code></Error>" % code.encode(), {"Content-Type": "application/xml"})

            def handle_any(self):
                url = urllib.parse.urlsplit(self.path)
                path, query = urllib.parse.unquote(url.path), dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True))
                length = int(self.headers.get("Content-Length") or 0)
                body = self.rfile.read(length)
                if self.command == "GET" and "list-type" in query: return self.list(path.strip("/"), query)
                if self.command == "POST" and "delete" in query: return self.error(501, "NotImplemented")
                if self.command == "PUT":
                    with outer.lock: outer.objects[path], outer.times[path] = outer.change(path, body) if outer.change else body, time.gmtime()
                    return self.reply(200, headers={"ETag": '"%s"' % hashlib.md5(body).hexdigest()})
                with outer.lock:
                    found = outer.objects.get(path)
                    if self.command == "DELETE": outer.objects.pop(path, None)
                if self.command == "DELETE": return self.reply(204)
                if found is None: return self.error(404, "NoSuchKey")
                headers = {"ETag": '"%s"' % hashlib.md5(found).hexdigest(), "Last-Modified": time.strftime("%a, %d %b %Y %H:%M:%S GMT", outer.times[path])}
                span = (self.headers.get("Range") or "").replace("bytes=", "")
                if not span or self.command == "HEAD": return self.reply(200, found, headers)
                first, last = span.split("-")
                first, last = (int(first), min(int(last or len(found) - 1), len(found) - 1)) if first else (max(0, len(found) - int(last)), len(found) - 1)
                if first >= len(found): return self.error(416, "InvalidRange")
                return self.reply(206, found[first:last + 1], dict(headers, **{"Content-Range": "bytes %d-%d/%d" % (first, last, len(found))}))

            def list(self, bucket, query):
                prefix, delimiter, after = query.get("prefix", ""), query.get("delimiter", ""), query.get("continuation-token") or query.get("start-after", "")
                with outer.lock: keys = sorted((k[len(bucket) + 2:], k, v) for k, v in outer.objects.items() if k.startswith("/%s/" % bucket))
                items, folders = [], []
                quote = (lambda t: urllib.parse.quote(t)) if query.get("encoding-type") == "url" else escape
                for key, path, found in keys:
                    if not key.startswith(prefix) or key <= after: continue
                    cut = key.find(delimiter, len(prefix)) if delimiter else -1
                    if cut >= 0:
                        if key[:cut + 1] not in folders: folders.append(key[:cut + 1])
                    else: items.append("<Contents><Key>%s</Key><Size>%d</Size><LastModified>%s</LastModified><ETag>&quot;%s&quot;</ETag></Contents>" % (
                        quote(key), len(found), time.strftime("%Y-%m-%dT%H:%M:%S.000Z", outer.times[path]), hashlib.md5(found).hexdigest()))
                text = "<ListBucketResult><Name>%s</Name><IsTruncated>false</IsTruncated>%s%s</ListBucketResult>" % (
                    bucket, "".join(items), "".join("<CommonPrefixes><Prefix>%s</Prefix></CommonPrefixes>" % quote(f) for f in folders))
                self.reply(200, text.encode(), {"Content-Type": "application/xml"})

            do_GET = do_PUT = do_HEAD = do_DELETE = do_POST = handle_any

            def log_message(self, *_): pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.endpoint = "http://127.0.0.1:%d" % self.server.server_port

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_): self.server.shutdown()
