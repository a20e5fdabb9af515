#!/usr/bin/env python3
"""The fault proxy does what it says, against a server of Python's that counts what reaches it."""
import http.client, http.server, os, signal, subprocess, sys, threading, time
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib_remote as remote

seen = []


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        length = int(self.headers.get("Content-Length") or 0)
        try: body = self.rfile.read(length)
        except ConnectionError: return  # a request that was cut
        seen.append((self.command, self.path, len(body), self.headers.get("If-None-Match")))
        if len(body) < length: return
        if self.path.startswith("/redirect"):
            self.send_response(307)
            self.send_header("Location", "http://127.0.0.1:%d/there?x=1" % self.server.server_port)
            self.send_header("Content-Length", "0")
            return self.end_headers()
        text = b"%d" % len(seen) + b"x" * 1000
        self.send_response(200)
        if self.path == "/chunked":
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            return self.wfile.write(b"3e8\r\n" + b"y" * 1000 + b"\r\n0\r\n\r\n")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        if self.command != "HEAD": self.wfile.write(text)

    do_GET = do_PUT = do_HEAD = do_DELETE = answer

    def log_message(self, *_): pass


def ask(proxy, method="PUT", path="/a", body=b"b" * 5000, headers=None):
    """(status, body) or the name of the failure."""
    connection = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=5)
    try:
        connection.request(method, path, body if method == "PUT" else None, headers or {})
        r = connection.getresponse()
        return r.status, r.read()
    except (OSError, http.client.HTTPException) as e: return type(e).__name__, b""
    finally: connection.close()


def faults(proxy):
    # name: (what the client sees, how often the server sees the whole request)
    expected = {"reset": (("ConnectionResetError", "RemoteDisconnected"), 0), "lost": (("ConnectionResetError", "RemoteDisconnected"), 1), "stall": (("ConnectionResetError",), 0),
                "stall_after": (("ConnectionResetError",), 1), "cut": (("IncompleteRead", "ConnectionResetError"), 1), "cut_request": (("ConnectionResetError",), 0), "e500": ((500,), 0),
                "e503": ((503,), 0), "e500_after": ((500,), 1), "twice": ((200,), 2), "twice_first": ((200,), 2)}
    proxy.tell("stall 100")
    for name, (outcomes, times) in expected.items():
        proxy.tell("faults %s=100" % name)
        del seen[:]
        status, body = ask(proxy)
        time.sleep(0.05)
        whole = [s for s in seen if s[2] == 5000]
        if status not in outcomes or len(whole) != times: yield "%s: client %s, server %s" % (name, status, seen)
        if name == "twice" and body[:1] != b"2" or name == "twice_first" and body[:1] != b"1": yield "%s: answer %r" % (name, body[:4])
    proxy.tell("faults")
    if ask(proxy)[0] != 200: yield "no end to faults"


def passes(proxy):
    """Nothing is changed, connections are kept, and everything is counted."""
    proxy.tell("zero")
    connection = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=5)
    for method, path in (("GET", "/a"), ("HEAD", "/b"), ("GET", "/chunked"), ("PUT", "/c"), ("DELETE", "/d")):
        connection.request(method, path, b"z" * 100000 if method == "PUT" else None)
        r = connection.getresponse()
        body = r.read()
        if r.status != 200 or len(body) < 1000 and method != "HEAD": yield "%s %s: %d, %d bytes" % (method, path, r.status, len(body))
    counts = proxy.counts()
    if counts["requests"] != 5 or counts["in"] != 100000 or counts["out"] < 4000: yield str(counts)
    if [m for m, _ in proxy.log()] != ["GET", "HEAD", "GET", "PUT", "DELETE"]: yield str(proxy.log())
    connection.request("PUT", "/e", iter([b"a" * 10, b"b" * 20]))  # chunked
    if connection.getresponse().read() == b"": yield "chunked request"
    began = time.monotonic()
    proxy.tell("latency 50")
    ask(proxy)
    proxy.tell("latency 0")
    if time.monotonic() - began < 0.05: yield "no latency"
    proxy.tell("strip if-none-match")
    ask(proxy, headers={"If-None-Match": "*"})
    proxy.tell("strip")
    if seen[-1][3] is not None: yield "header not left away"
    proxy.tell("redirects on")
    connection = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=5)
    connection.request("PUT", "/redirect", b"")
    where = connection.getresponse().headers["Location"]
    proxy.tell("redirects off")
    if not where.startswith("http://127.0.0.1:%d/~" % proxy.port): yield where
    status, _ = ask(proxy, "GET", where[where.index("/~"):])
    if status != 200 or seen[-1][1] != "/there?x=1": yield "redirected to %s: %s" % (where, seen[-1])


def one_in_ten(proxy):
    """The seed decides; the share is about what was asked for."""
    outcomes = []
    for _ in range(2):
        proxy.tell("zero")
        proxy.tell("seed 7")
        proxy.tell("faults e500=10 e503=5")
        outcomes.append([ask(proxy, "GET")[0] for _ in range(400)])
    proxy.tell("faults")
    if outcomes[0] != outcomes[1]: yield "the same seed gave other faults"
    if not 25 < outcomes[0].count(500) < 60 or not 8 < outcomes[0].count(503) < 40: yield "%d and %d of 400" % (outcomes[0].count(500), outcomes[0].count(503))
    proxy.tell("only PUT /this")
    proxy.tell("faults e500=100")
    got = [ask(proxy, "PUT", "/this/one")[0], ask(proxy, "PUT", "/that")[0], ask(proxy, "GET", "/this")[0]]
    proxy.tell("faults")
    proxy.tell("only * *")
    if got != [500, 200, 200]: yield str(got)


def kills(proxy):
    for when, times in (("before", 0), ("half", 0), ("after", 1)):
        child = subprocess.Popen(["sleep", "30"])
        del seen[:]
        proxy.tell("kill 2 %s %d" % (when, child.pid))
        first, second, third = ask(proxy, path="/1")[0], ask(proxy, path="/2")[0], ask(proxy, path="/3")[0]
        time.sleep(0.05)
        if (first, third) != (200, 200) or second == 200: yield "%s: %s %s %s" % (when, first, second, third)
        if child.wait(5) != -signal.SIGKILL: yield "%s: not killed" % when
        if sum(s[1] == "/2" and s[2] == 5000 for s in seen) != times: yield "%s: the server saw %s" % (when, seen)


def main():
    results = remote.Results()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with remote.Proxy(server.server_port) as proxy:
        for test in (passes, faults, one_in_ten, kills): results.run("proxy/" + test.__name__, test, proxy)
    results.exit()


if __name__ == "__main__": main()
