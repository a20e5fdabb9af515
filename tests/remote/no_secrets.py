#!/usr/bin/env python3
"""No key, signature or token in what Silt prints or leaves behind: results, errors, plans, settings, the table itself, its cache and temporary files. And no talk to a server whose
certificate is not trusted."""
import base64, os, re, shutil, subprocess, sys, tempfile, urllib.parse
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib_remote as remote

STATEMENTS = ["SET", "SET -v", "EXPLAIN SELECT id FROM delta.`%(t)s` WHERE id > 1", "EXPLAIN EXTENDED SELECT id FROM delta.`%(t)s`", "DESCRIBE DETAIL delta.`%(t)s`",
              "DESCRIBE HISTORY delta.`%(t)s`", "DESCRIBE EXTENDED delta.`%(t)s`", "SHOW TBLPROPERTIES delta.`%(t)s`", "CREATE TABLE named USING delta LOCATION '%(t)s'; SHOW CREATE TABLE named",
              "SELECT * FROM delta.`%(t)s/none`", "SELECT * FROM delta.`%(t)s` VERSION AS OF 99", "SELECT nothing FROM delta.`%(t)s`", "INSERT INTO delta.`%(t)s` VALUES ('x', 'y', 'z', 'a')",
              "SELECT count(*) FROM delta.`%(t)s`", "OPTIMIZE delta.`%(t)s`", "VACUUM delta.`%(t)s` DRY RUN"]


def forms(secret):
    """A secret as it may be written: as it is, percent-encoded, decoded, in base64."""
    out = {secret, urllib.parse.quote(secret, safe=""), urllib.parse.quote(secret), base64.b64encode(secret.encode()).decode().rstrip("=")}
    try: out.add(base64.b64decode(secret, validate=True).decode())
    except ValueError: pass
    return {f for f in out if len(f) > 7}


class World:
    """A home, a folder for temporary files and a working folder of its own, to be searched afterwards."""

    def __init__(self, settings, secrets, env=None):
        self.folder = tempfile.mkdtemp(prefix="silt-secrets-")
        for name in ("home", "tmp", "work"): os.mkdir(os.path.join(self.folder, name))
        self.conf = [w for kv in settings.items() for w in ("--conf", "%s=%s" % kv)]
        self.secrets = set().union(*map(forms, secrets))
        self.env = dict({k: v for k, v in os.environ.items() if not k.startswith("SILT_")}, HOME=self.folder + "/home", TMPDIR=self.folder + "/tmp", **(env or {}))
        self.env.pop("XDG_CACHE_HOME", None)
        self.problems, self.texts = [], 0

    def search(self, text, where):
        self.texts += 1
        for secret in self.secrets:
            if secret in text: self.problems.append("%s: tells %s…: %s" % (where, secret[:4], text[max(0, text.index(secret) - 80):][:120].replace("\n", " ")))
        if re.search(r"(Signature|sig|X-Amz-Signature)=[0-9a-zA-Z%/+]{20}", text): self.problems.append("%s: tells a signature" % where)

    def silt(self, *arguments, conf=None):
        done = subprocess.run([remote.SILT, *arguments, *(self.conf if conf is None else conf)], env=self.env, cwd=self.folder + "/work", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, errors="replace", timeout=120, check=False)
        self.search(done.stdout + done.stderr, " ".join(arguments)[:80])
        return done

    def end(self):
        for folder, _, files in os.walk(self.folder):
            for f in files:
                with open(os.path.join(folder, f), encoding="latin-1") as opened: self.search(opened.read(), "file " + f)
        shutil.rmtree(self.folder)
        return self.problems


def walk_through(world, table):
    made = world.silt("sql", "CREATE TABLE delta.`%s` (id BIGINT, p STRING) USING delta PARTITIONED BY (p); INSERT INTO delta.`%s` SELECT id, CAST(id %% 3 AS STRING) FROM range(30)" % (table, table))
    if made.returncode: world.problems.append("the table could not be made: " + made.stderr[-300:])
    for statement in STATEMENTS: world.silt("sql", statement % {"t": table})
    for words in (("show", table), ("show", table, "--format", "json"), ("history", table), ("files", table), ("schema", table), ("doctor", table), ("cache",), ("show", table + "/none")): world.silt(*words)


def wrong_ways(world, table, settings, endpoint_key):
    """A server that is not there, and one that is something else."""
    for endpoint in ("http://127.0.0.1:9", "http://127.0.0.1:9/path"):
        other = dict(settings, **{endpoint_key: endpoint})
        world.silt("show", table, conf=[w for kv in other.items() for w in ("--conf", "%s=%s" % kv)])


def s3(s):
    settings = remote.settings(s)
    table = remote.location(s, "secrets-%d" % os.getpid())
    world = World(dict(settings, **{"fs.s3a.attempts.maximum": "2"}), [s["SECRET_KEY"]])
    walk_through(world, table)
    wrong_ways(world, table, dict(settings, **{"fs.s3a.attempts.maximum": "1"}), "fs.s3a.endpoint")
    for key in ("fs.s3a.secret.key", "fs.s3a.session.token", "fs.s3a.bucket.silt-test.secret.key"):
        world.silt("sql", "SET %s" % key)
        world.silt("sql", "SET %s=%s" % (key, s["SECRET_KEY"]))
    # Keys in the location, as Hadoop once had them, and a wrong secret.
    world.silt("show", "s3a://%s:%s@%s/x" % (s["ACCESS_KEY"], urllib.parse.quote(s["SECRET_KEY"], safe=""), s["BUCKET"]))
    wrong = "wrong+" + s["SECRET_KEY"]
    world.secrets |= forms(wrong)
    done = world.silt("show", table, conf=[w for kv in dict(settings, **{"fs.s3a.secret.key": wrong}).items() for w in ("--conf", "%s=%s" % kv)])
    if done.returncode != 1: world.problems.append("a wrong secret: status %d" % done.returncode)
    for (status, _, body), what in [(remote.s3_request(s, "GET", "/%s/secrets-%d/_delta_log/%020d.json" % (s["BUCKET"], os.getpid(), v)), v) for v in range(4)]:
        if status == 200: world.search(body.decode("latin-1"), "commit %d" % what)
    return world.end() or ("only %d texts were searched" % world.texts if world.texts < 35 else [])


def s3_environment(s):
    """Keys by the environment and by a profile: not in the settings that are listed, nor in errors."""
    settings = {k: v for k, v in remote.settings(s).items() if not k.endswith(".key")}
    table = remote.location(s, "secrets-env-%d" % os.getpid())
    world = World(settings, [s["SECRET_KEY"]], {"AWS_ACCESS_KEY_ID": s["ACCESS_KEY"], "AWS_SECRET_ACCESS_KEY": s["SECRET_KEY"]})
    walk_through(world, table)
    for k in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"): world.env.pop(k)
    done = world.silt("show", table)
    if done.returncode != 1: world.problems.append("no key at all: status %d" % done.returncode)
    return world.end()


def azure(s):
    settings = remote.settings(s)
    table = remote.location(s, "secrets-%d" % os.getpid())
    world = World(settings, [s["KEY"]])
    walk_through(world, table)
    wrong_ways(world, table, settings, "silt.azure.endpoint")
    token = "sv=2021-08-06&ss=b&srt=co&sp=rwl&sig=c2lsdCBzYXMgdG9rZW4gb2Ygbm9ib2R5IQ%3D%3D"
    world.secrets |= forms("c2lsdCBzYXMgdG9rZW4gb2Ygbm9ib2R5IQ%3D%3D")
    sas = {"silt.azure.endpoint": s.endpoint, "fs.azure.account.auth.type": "SAS", "fs.azure.sas.fixed.token": token}
    done = world.silt("show", table, conf=[w for kv in sas.items() for w in ("--conf", "%s=%s" % kv)])
    if done.returncode != 1: world.problems.append("a wrong token: status %d, %s" % (done.returncode, done.stderr[-200:]))
    return world.end()


def tls(_):
    """A server with a certificate of its own making: refused, unless it is named as trusted; a certificate for another name is refused all the same."""
    if not shutil.which("openssl"): raise remote.Missing("no openssl to make a certificate with")
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        for name, subject in (("right", "IP:127.0.0.1"), ("other", "DNS:example.com")):
            cert, key = "%s/%s.pem" % (folder, name), "%s/%s.key" % (folder, name)
            subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=silt test", "-addext", "subjectAltName=" + subject, "-keyout", key,
                            "-out", cert], check=True, stderr=subprocess.DEVNULL)
            os.environ.update(CERT=cert, CERT_KEY=key)
            try: s = remote.server("s3", fresh=True)
            finally:
                for k in ("CERT", "CERT_KEY"): os.environ.pop(k)
            statement = "CREATE TABLE delta.`%s` (id INT) USING delta" % remote.location(s, "tls")
            conf = dict(remote.settings(s), **{"fs.s3a.attempts.maximum": "2"})
            for trusted in (False, True):
                world = World(conf, [s["SECRET_KEY"]], {"AWS_CA_BUNDLE": cert} if trusted else None)
                done = world.silt("sql", statement)
                expected = 0 if trusted and name == "right" else 1
                if done.returncode != expected: problems.append("%s certificate, %strusted: status %d %s" % (name, "" if trusted else "not ", done.returncode, done.stderr[-300:]))
                if expected and not re.search("certificate|SSL|TLS", done.stderr): problems.append("%s: the error does not say why: %s" % (name, done.stderr[-300:]))
                problems += world.end()
    return problems


def main():
    results = remote.Results()
    for name, store, test in (("s3", "s3", s3), ("s3_environment", "s3", s3_environment), ("azure", "azure", azure)):
        results.run("secrets/" + name, lambda st=store, t=test: t(remote.server(st)))
    results.run("secrets/tls", lambda: tls(remote.server("s3")))
    results.exit()


if __name__ == "__main__": main()
