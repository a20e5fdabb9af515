#!/usr/bin/env python3
"""A server that takes the connection and never answers: Ctrl-C and SIGTERM end the statement at once, on every store, and a terminal is told what is waited for."""
import concurrent.futures, os, pty, select, signal, socket, subprocess, sys, threading, time

SILT = os.environ["SILT"]
STORES = {
    "s3": ("s3a://bucket/t", ["fs.s3a.endpoint=http://{}", "fs.s3a.endpoint.region=us-east-1", "fs.s3a.path.style.access=true", "fs.s3a.access.key=a", "fs.s3a.secret.key=b"]),
    "azure": ("abfss://container@account.dfs.core.windows.net/t", ["fs.azure.account.key.account.dfs.core.windows.net=aGVsbG8=", "silt.azure.endpoint=http://{}"]),
    "gcs": ("gs://bucket/t", ["fs.gs.storage.root.url=http://{}", "fs.gs.auth.type=UNAUTHENTICATED"]),
    "hdfs": ("webhdfs://{}/t", []),
}
SOON = 10  # seconds; it takes one on a machine that has nothing else to do


def silent(trickles):
    """The address of a server that says nothing, or one byte each second; and an event: it was asked."""
    server = socket.create_server(("127.0.0.1", 0))
    kept, asked = [], threading.Event()

    def answer(c):
        kept.append(c)
        try:
            c.recv(65536)
            asked.set()
            if trickles: c.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\nContent-Length: 100000\r\n\r\n")
            while trickles:
                c.sendall(b" ")
                time.sleep(1)
        except OSError: pass

    def accept():
        while True: threading.Thread(target=answer, args=(server.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return "127.0.0.1:%d" % server.getsockname()[1], asked


def words(store, address):
    where, settings = STORES[store]
    return [SILT, "show", where.format(address)] + [w for s in settings for w in ("--conf", s.format(address))]


def interrupted(store, trickles, number):
    address, asked = silent(trickles)
    process = subprocess.Popen(words(store, address), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    asked.wait(60)
    time.sleep(0.5)
    if process.poll() is not None: return "it ended by itself: %s" % process.communicate()[0]
    process.send_signal(number)
    began = time.monotonic()
    try: out = process.communicate(timeout=60)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        return "it did not end"
    took = time.monotonic() - began
    if took > SOON: return "it took %.1f s" % took
    return None if process.returncode == 1 and "[OPERATION_CANCELLED]" in out else "status %d: %s" % (process.returncode, out)


def told():
    master, slave = pty.openpty()
    process = subprocess.Popen(words("gcs", silent(False)[0]), stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    text, until = b"", time.monotonic() + 30
    while b"waiting for 127.0.0.1" not in text and time.monotonic() < until:
        if select.select([master], [], [], 1)[0]: text += os.read(master, 4096)
    process.send_signal(signal.SIGINT)
    process.wait(60)
    os.close(master)
    return None if b"attempt 1 of" in text else "the terminal shows %r" % text


def main():
    jobs = {"interrupt/%s" % s: (interrupted, s, False, signal.SIGINT) for s in STORES}
    jobs.update({"terminate/gcs": (interrupted, "gcs", False, signal.SIGTERM), "interrupt/trickling/s3": (interrupted, "s3", True, signal.SIGINT), "told": (told,)})
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(len(jobs)) as pool:
        for name, future in {n: pool.submit(*j) for n, j in jobs.items()}.items():
            why = future.result()
            failed += why is not None
            print("%s silent_server/%s%s" % ("not ok" if why else "ok", name, "\n  " + why if why else ""))
    sys.exit(1 if failed else 0)


if __name__ == "__main__": main()
