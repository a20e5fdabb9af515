#!/usr/bin/env python3
"""Who asks Azure and Google: each source of access tokens that Silt reads, Google's HMAC keys, and SAS tokens' place in a request. The services that give tokens (directories, metadata
services) stand in this file as their documentation describes them. Before the real server (Azurite, fake-gcs-server; for HMAC versitygw) stands a front that lets pass only what is
authorized, in the server's own words."""
import base64, hashlib, json, os, subprocess, sys, tempfile, threading, time, urllib.parse
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib_remote as remote

BEARER = "an-access-token-of-the-service"


class Handler(remote.Handler):
    def do_GET(self): return self.handle_request()
    do_HEAD = do_PUT = do_POST = do_DELETE = do_GET


class Tokens(Handler):
    """Directories and metadata services. server.asked holds what was asked for, and for whom."""

    def token(self, who, **more):
        self.server.asked.append(who)
        return self.answer(200, json.dumps(dict({"access_token": BEARER, "token_type": "Bearer", "expires_in": 3599}, **more)))

    def handle_request(self):
        url, form = urllib.parse.urlsplit(self.path), dict(urllib.parse.parse_qsl(self.body().decode()))
        query = dict(urllib.parse.parse_qsl(url.query))
        if url.path == "/tenant/oauth2/token" and form.get("resource") == "https://storage.azure.com/" and form.get("client_secret") == "the-client-secret": return self.token("v1 " + form["client_id"], expires_in="3599")
        if url.path == "/tenant/oauth2/v2.0/token" and form.get("scope") == "https://storage.azure.com/.default":
            if form.get("client_secret") == "the-client-secret": return self.token("v2 " + form["client_id"])
            if form.get("client_assertion") == "a-federated-token" and form.get("client_assertion_type") == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer": return self.token("workload " + form["client_id"])
        if url.path == "/metadata/identity/oauth2/token" and self.headers.get("Metadata") == "true" and query["resource"] == "https://storage.azure.com/": return self.token("identity " + query.get("client_id", "system"))
        if url.path == "/msi/token" and self.headers.get("X-IDENTITY-HEADER") == "the-header" and query["api-version"] == "2019-08-01": return self.token("app " + query.get("client_id", "system"))
        if url.path == "/computeMetadata/v1/instance/service-accounts/default/token" and self.headers.get("Metadata-Flavor") == "Google": return self.token("machine")
        if url.path == "/google/token" and form.get("grant_type") == "urn:ietf:params:oauth:grant-type:jwt-bearer": return self.token("service account " + self.claims(form["assertion"]))
        if url.path == "/google/token" and form.get("grant_type") == "refresh_token" and form.get("refresh_token") == "the-refresh-token": return self.token("user " + form["client_id"])
        self.server.asked.append("refused " + self.path)
        return self.answer(400, json.dumps({"error": "invalid_request", "error_description": "no: " + json.dumps(form)}))

    def claims(self, assertion):
        """Verified by openssl with the public half of the key."""
        head, claims, signature = assertion.split(".")
        decode = lambda part: base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
        with tempfile.TemporaryDirectory() as folder:
            with open(folder + "/signature", "wb") as f: f.write(decode(signature))
            done = subprocess.run(["openssl", "dgst", "-sha256", "-verify", self.server.public, "-signature", folder + "/signature"], input=(head + "." + claims).encode(), stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, check=False)
        told = json.loads(decode(claims))
        good = done.returncode == 0 and told["aud"] == self.server.url + "/google/token" and told["exp"] - told["iat"] == 3600 and json.loads(decode(head))["alg"] == "RS256"
        return told["iss"] if good else "whose claim is wrong"


class AzureFront(Handler):
    """Azurite knows no tokens without TLS: what carries the right one is signed anew with the account's key."""

    def handle_request(self):
        body, url = self.body(), urllib.parse.urlsplit(self.path)
        if self.headers.get("Authorization") != "Bearer " + BEARER: return self.answer(403, "", {"x-ms-error-code": "AuthenticationFailed"})
        s, account = self.server.real, "/" + self.server.real["ACCOUNT"]
        kept = {k: v for k, v in self.headers.items() if k.lower().startswith("x-ms-") and k.lower() not in ("x-ms-date", "x-ms-version") or k.lower() in ("if-none-match", "if-match", "range")}
        path = urllib.parse.unquote(url.path)
        status, headers, answer = remote.azure_request(s, self.command, path[len(account):] if path.startswith(account) else path, dict(urllib.parse.parse_qsl(url.query)), kept, body)
        return self.answer(status, answer, headers)


class GoogleFront(Handler):
    def handle_request(self):
        body = self.body()
        if self.headers.get("Authorization") != "Bearer " + BEARER: return self.answer(401, json.dumps({"error": {"code": 401, "message": "Invalid Credentials", "errors": [{"reason": "authError"}]}}))
        kept = {k: v for k, v in self.headers.items() if k.lower() in ("content-type", "range", "content-range", "x-upload-content-type", "x-upload-content-length")}
        status, headers, answer = remote.request(self.command, self.server.real.endpoint + self.path, kept, body)
        return self.answer(status, answer, headers)


class HmacFront(Handler):
    """The XML interface of Google Cloud Storage as documented ("Signatures", "Canonical requests", "HTTP headers"): V4 signatures in Google's words; a request of both families of headers is
    refused; If-None-Match is for reading; x-goog-if-generation-match guards a write; several objects are not removed at once."""

    def refused(self, status, code):
        self.server.asked.append("%s %s %s" % (code, self.command, self.path))
        return self.answer(status, "<?xml version='1.0'?><Error><Code>%s</Code><Message>%s</Message></Error>" % (code, code))

    def handle_request(self):
        body, url = self.body(), urllib.parse.urlsplit(self.path)  # as a proxy it is told the whole URL
        scheme, told = remote.authorization(self.headers)
        if scheme != "GOOG4-HMAC-SHA256" or told["Credential"].split("/")[0] != "GOOGTHEKEY": return self.refused(403, "AccessDenied")
        if told["Credential"].split("/")[1] != self.headers["x-goog-date"][:8] or not told["Credential"].endswith("/storage/goog4_request"): return self.refused(403, "AnotherScope")
        if told["Signature"] != self.v4_signature(url.path, url.query, told, "the-hmac-secret", "GOOG4", "x-goog-"): return self.refused(403, "SignatureDoesNotMatch")
        if any(k.lower().startswith("x-amz-") for k in self.headers): return self.refused(400, "ExcessHeaderValues")
        if self.command == "PUT" and "If-None-Match" in self.headers: return self.refused(400, "NotImplemented")
        if self.command == "POST" and "delete" in url.query: return self.refused(400, "NotImplemented")
        if self.headers["x-goog-content-sha256"] not in ("UNSIGNED-PAYLOAD", hashlib.sha256(body).hexdigest()): return self.refused(400, "XAmzContentSHA256Mismatch")
        kept = {k: v for k, v in self.headers.items() if k.lower() in ("range", "if-match", "content-type")}
        if self.headers.get("x-goog-if-generation-match") == "0": kept["If-None-Match"] = "*"
        elif "x-goog-if-generation-match" in self.headers: return self.refused(400, "InvalidArgument")
        query = "&".join(sorted(p if "=" in p else p + "=" for p in url.query.split("&") if p))
        status, headers, answer = remote.s3_request(self.server.real, self.command, urllib.parse.unquote(url.path), body, kept, query)
        return self.answer(status, answer, headers)


def silt(sql, settings, env=None):
    ours = {k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "AZURE_", "GOOGLE_", "GS_", "SILT_", "IDENTITY_"))}
    with tempfile.TemporaryDirectory(prefix="silt-tokens-") as home:
        ours.update({"HOME": home, **(env or {})})
        return subprocess.run([remote.SILT, "sql", "--format", "jsonl"] + [w for kv in settings.items() for w in ("--conf", "%s=%s" % kv)] + [sql], env=ours, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, check=False)


def writes_and_reads(where, settings, env=None):
    """A table is made, added to and read."""
    t = "delta.`%s`" % where
    done = silt("CREATE OR REPLACE TABLE %s (id INT) USING delta; INSERT INTO %s VALUES (1); INSERT INTO %s VALUES (2); SELECT count(*) AS n FROM %s" % (t, t, t, t), settings, env)
    problems = [] if done.returncode == 0 and '"n":2' in done.stdout.replace(" ", "") else ["status %d: %s%s" % (done.returncode, done.stdout, done.stderr[-600:])]
    for secret in (BEARER, "the-client-secret", "a-federated-token", "the-refresh-token", "the-hmac-secret"):
        if secret in done.stdout + done.stderr: problems.append("it tells " + secret)
    return problems


def azure(results):
    s = remote.server("azure")
    account = s["ACCOUNT"]
    where = "abfss://%s@%s.dfs.core.windows.net/tokens" % (s["CONTAINER"], account)
    at, o = ".%s.dfs.core.windows.net" % account, "fs.azure.account.oauth2."
    abfs = "org.apache.hadoop.fs.azurebfs.oauth2."
    with remote.Service(Tokens) as tokens, remote.Service(AzureFront, real=s) as front, tempfile.NamedTemporaryFile("w", suffix=".token") as federated:
        federated.write("a-federated-token\n")
        federated.flush()
        base = {"silt.azure.endpoint": front.url + "/" + account}
        client = {o + "client.id": "the-client", o + "client.secret": "the-client-secret"}
        cases = {
            "client_secret": ({"fs.azure.account.auth.type": "OAuth", "fs.azure.account.oauth.provider.type": abfs + "ClientCredsTokenProvider", **client, o + "client.endpoint": tokens.url + "/tenant/oauth2/token"}, {}, "v1 the-client"),
            "client_secret_of_the_account": ({"fs.azure.account.auth.type" + at: "OAuth", "fs.azure.account.oauth.provider.type" + at: abfs + "ClientCredsTokenProvider", **{k + at: v for k, v in client.items()},
                                              o + "client.endpoint" + at: tokens.url + "/tenant/oauth2/v2.0/token"}, {}, "v2 the-client"),
            "client_secret_of_the_environment": ({}, {"AZURE_CLIENT_ID": "env-client", "AZURE_CLIENT_SECRET": "the-client-secret", "AZURE_TENANT_ID": "tenant", "AZURE_AUTHORITY_HOST": tokens.url}, "v2 env-client"),
            "workload_identity": ({"fs.azure.account.auth.type": "OAuth", "fs.azure.account.oauth.provider.type": abfs + "WorkloadIdentityTokenProvider", o + "client.id": "the-client", o + "token.file": federated.name,
                                   o + "client.endpoint": tokens.url + "/tenant/oauth2/v2.0/token"}, {}, "workload the-client"),
            "managed_identity": ({"fs.azure.account.auth.type": "OAuth", "fs.azure.account.oauth.provider.type": abfs + "MsiTokenProvider", o + "msi.endpoint": tokens.url + "/metadata/identity/oauth2/token"}, {}, "identity system"),
            "managed_identity_of_a_client": ({"fs.azure.account.auth.type": "OAuth", "fs.azure.account.oauth.provider.type": abfs + "MsiTokenProvider", o + "msi.endpoint": tokens.url + "/metadata/identity/oauth2/token",
                                              o + "client.id": "the-client"}, {}, "identity the-client"),
            "managed_identity_of_an_app": ({}, {"IDENTITY_ENDPOINT": tokens.url + "/msi/token", "IDENTITY_HEADER": "the-header"}, "app system"),
        }

        def run(settings, env, asked):
            del tokens.asked[:]
            problems = writes_and_reads(where, dict(base, **settings), env)
            return problems if tokens.asked == [asked] else problems + ["asked: %s" % tokens.asked]

        for name, case in cases.items(): results.run("tokens/azure_" + name, run, *case)

        def refused():
            done = silt("SELECT * FROM delta.`%s`" % where, dict(base, **{"fs.azure.account.auth.type": "OAuth", o + "client.id": "x", o + "client.secret": "verysecret", o + "client.endpoint": tokens.url + "/tenant/oauth2/token"}))
            good = done.returncode == 1 and "STORE_TOKEN_REFUSED" in done.stderr and "verysecret" not in done.stderr
            return [] if good else [done.stderr]

        results.run("tokens/azure_a_secret_that_is_refused", refused)


def google(results):
    s = remote.server("gcs")
    where = "gs://%s/tokens" % s["BUCKET"]
    with tempfile.TemporaryDirectory() as folder, remote.Service(Tokens, public=folder + "/public.pem") as tokens, remote.Service(GoogleFront, real=s) as front:
        subprocess.run(["openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", folder + "/private.pem"], check=True, stderr=subprocess.DEVNULL)
        subprocess.run(["openssl", "pkey", "-in", folder + "/private.pem", "-pubout", "-out", folder + "/public.pem"], check=True)
        with open(folder + "/private.pem", encoding="ascii") as f: pem = f.read()
        with open(folder + "/key.json", "w", encoding="ascii") as f:
            json.dump({"type": "service_account", "client_email": "silt@project", "private_key": pem, "private_key_id": "k1", "token_uri": tokens.url + "/google/token"}, f)
        with open(folder + "/user.json", "w", encoding="ascii") as f:
            json.dump({"type": "authorized_user", "client_id": "the-user", "client_secret": "x", "refresh_token": "the-refresh-token", "token_uri": tokens.url + "/google/token"}, f)
        base, machine = {"fs.gs.storage.root.url": front.url}, {"GCE_METADATA_HOST": "127.0.0.1:%d" % tokens.port}
        cases = {
            "key_file": ({"fs.gs.auth.service.account.json.keyfile": folder + "/key.json"}, {}, "service account silt@project"),
            "key_file_by_its_type": ({"fs.gs.auth.type": "SERVICE_ACCOUNT_JSON_KEYFILE", "fs.gs.auth.service.account.json.keyfile": folder + "/key.json"}, {}, "service account silt@project"),
            "key_file_of_the_environment": ({}, {"GOOGLE_APPLICATION_CREDENTIALS": folder + "/key.json"}, "service account silt@project"),
            "user": ({}, {"GOOGLE_APPLICATION_CREDENTIALS": folder + "/user.json"}, "user the-user"),
            "machine": ({"fs.gs.auth.type": "COMPUTE_ENGINE"}, machine, "machine"),
        }

        def run(settings, env, asked):
            del tokens.asked[:]
            problems = writes_and_reads(where, dict(base, **settings), env)
            return problems if tokens.asked == [asked] else problems + ["asked: %s" % tokens.asked]

        for name, case in cases.items(): results.run("tokens/google_" + name, run, *case)


def google_hmac(results):
    s = remote.server("s3")
    with remote.Service(HmacFront, real=s) as front:
        keys = {"silt.gcs.endpoint": front.url, "silt.gcs.hmac.accessKey": "GOOGTHEKEY", "silt.gcs.hmac.secret": "the-hmac-secret"}
        where = "gs://%s/hmac" % s["BUCKET"]

        def small():
            problems = writes_and_reads(where, keys)
            done = silt("INSERT INTO delta.`%s` SELECT 3; OPTIMIZE delta.`%s`; SET spark.databricks.delta.retentionDurationCheck.enabled=false; VACUUM delta.`%s` RETAIN 0 HOURS; SELECT count(*) AS n FROM delta.`%s`" % (where, where, where, where), keys)
            if done.returncode or '"n":3' not in done.stdout.replace(" ", ""): problems.append("vacuum: " + done.stdout + done.stderr)
            return problems + front.asked

        def a_large_file():
            """In pieces."""
            t = "delta.`%s_large`" % where
            done = silt("CREATE OR REPLACE TABLE %s AS SELECT id, uuid() AS u FROM range(700000); SELECT count(*) AS n FROM %s" % (t, t), keys)
            return [] if done.returncode == 0 and '"n":700000' in done.stdout.replace(" ", "") else [done.stderr]

        def two_creators():
            """One of several first commits wins."""
            t = "delta.`%s_race_%d_%d`" % (where, os.getpid(), time.time())
            threads, ends = [], []
            for i in range(4):
                threads.append(threading.Thread(target=lambda n=i: ends.append(silt("CREATE TABLE %s (c%d INT) USING delta" % (t, n), keys).returncode)))
                threads[-1].start()
            for thread in threads: thread.join()
            return [] if sorted(ends) == [0, 1, 1, 1] else [str(ends)]

        def by_s3a():
            """The same service named as an S3 endpoint, reached here through a proxy."""
            settings = {"fs.s3a.endpoint": "http://storage.googleapis.com", "fs.s3a.path.style.access": "true", "fs.s3a.access.key": "GOOGTHEKEY", "fs.s3a.secret.key": "the-hmac-secret",
                        "fs.s3a.proxy.host": "127.0.0.1", "fs.s3a.proxy.port": str(front.port)}
            return writes_and_reads("s3a://%s/hmac_s3a" % s["BUCKET"], settings) + front.asked

        def a_wrong_secret():
            done = silt("SELECT * FROM delta.`%s`" % where, dict(keys, **{"silt.gcs.hmac.secret": "verysecret"}))
            return [] if done.returncode == 1 and "STORE_ACCESS_DENIED" in done.stderr and "verysecret" not in done.stderr else [done.stderr]

        def half_a_key():
            done = silt("SELECT * FROM delta.`%s`" % where, {"silt.gcs.hmac.accessKey": "GOOGTHEKEY"})
            return [] if done.returncode == 1 and "silt.gcs.hmac.secret" in done.stderr else [done.stderr]

        for test in (small, a_large_file, two_creators, by_s3a, half_a_key, a_wrong_secret): results.run("tokens/google_hmac_" + test.__name__, test)


def main():
    results = remote.Results()
    for name, test in (("azure", azure), ("google", google), ("google_hmac", google_hmac)):
        try: test(results)
        except remote.Missing as e: results.skip("tokens/" + name, e)
    results.exit()


if __name__ == "__main__": main()
