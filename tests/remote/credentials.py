#!/usr/bin/env python3
"""Who asks S3, as a user says it: each source of keys that Silt reads, against a server and a front that checks signatures and session tokens. The services that give keys (an instance's and a container's metadata, STS,
IAM Identity Center) stand in this file, as their documentation describes them, and hand out the server's real keys; nothing else does."""
import datetime, hashlib, json, os, shutil, subprocess, sys, tempfile, urllib.parse
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib_remote as remote

LATER = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
EARLIER = "2020-01-01T00:00:00Z"
TOKEN = "session-token"  # signed along with the request; the server knows no sessions and passes over it


class Services(remote.Handler):
    """Each answers only to what its documentation asks for. server.keys: the real ones."""

    def grant(self):
        access, secret = self.server.keys
        self.answer(200, json.dumps({"Code": "Success", "AccessKeyId": access, "SecretAccessKey": secret, "Token": TOKEN, "Expiration": LATER}))

    def do_PUT(self):
        self.server.asked.append(self.path)
        if self.path == "/latest/api/token" and self.headers.get("X-aws-ec2-metadata-token-ttl-seconds"): return self.answer(200, "imds-session")
        return self.answer(400, "")

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        self.server.asked.append(self.path)
        if url.path.startswith("/latest/"):
            if self.headers.get("X-aws-ec2-metadata-token") != "imds-session": return self.answer(401, "")
            if url.path.endswith("/security-credentials/"): return self.answer(200, "the-role")
            return self.grant() if url.path.endswith("/the-role") else self.answer(404, "")
        if url.path == "/container": return self.grant() if self.headers.get("Authorization") == "for-the-container" else self.answer(401, "")
        if url.path == "/federation/credentials":
            query = dict(urllib.parse.parse_qsl(url.query))
            if self.headers.get("x-amz-sso_bearer_token") != "sso-token" or query != {"role_name": "Reader", "account_id": "123456789012"}: return self.answer(401, "")
            access, secret = self.server.keys
            return self.answer(200, json.dumps({"roleCredentials": {"accessKeyId": access, "secretAccessKey": secret, "sessionToken": TOKEN, "expiration": 4102444800000}}))
        return self.answer(404, "")

    def do_POST(self):
        form = dict(urllib.parse.parse_qsl(self.body().decode()))
        who = self.headers.get("Authorization", "").partition("Credential=")[2].partition("/")[0]
        self.server.asked.append("%s %s by %s" % (form["Action"], form["RoleArn"], who or form.get("WebIdentityToken")))
        last = form["RoleArn"].endswith("/last")  # who assumes a role before that gets keys that are good for STS alone
        access, secret = self.server.keys if last else ("ASIAHALFWAY", "half-way")
        self.answer(200, "<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>%s</AccessKeyId><SecretAccessKey>%s</SecretAccessKey><SessionToken>%s</SessionToken>"
                         "<Expiration>%s</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>" % (access, secret, TOKEN, LATER))


class Front(remote.Handler):
    """Before the server, which knows no sessions: checks a request's signature and its token, and passes it on with the server's own keys. server.session: keys are of a session, whose token
    has to be there."""

    def refused(self, status, code): return self.answer(status, "<Error><Code>%s</Code><Message>%s</Message></Error>" % (code, code))

    def do_GET(self):
        path, _, query = self.path.partition("?")
        told = remote.authorization(self.headers)[1]
        if not told: return self.refused(403, "AccessDenied")
        if told["Credential"].split("/")[0] != self.server.real["ACCESS_KEY"]: return self.refused(403, "InvalidAccessKeyId")
        if told["Signature"] != self.v4_signature(path, query, told, self.server.real["SECRET_KEY"]): return self.refused(403, "SignatureDoesNotMatch")
        if self.headers.get("x-amz-security-token") != (TOKEN if self.server.session else None): return self.refused(400, "InvalidToken")
        kept = {k: self.headers[k] for k in ("Range", "If-Match") if self.headers.get(k)}
        status, headers, body = remote.s3_request(self.server.real, self.command, urllib.parse.unquote(path), b"", kept, "&".join(sorted(query.split("&"))) if query else "")
        return self.answer(status, body, headers)

    def do_HEAD(self): return self.do_GET()


ROLE = "arn:aws:iam::123456789012:role/"
PROFILES = """[keys]
aws_access_key_id = {access}
aws_secret_access_key = {secret}
[wrong]
aws_access_key_id = AKIAWRONG
aws_secret_access_key = wrong
"""
CONFIG = """[default]
region = us-east-1
[profile program]
credential_process = sh "{home}/keys.sh" --quoted "an argument"
[profile program-fails]
credential_process = echo verysecretverysecret; exit 3
[profile program-says-nothing]
credential_process = echo verysecretverysecret
[profile by-role]
role_arn = {role}last
source_profile = wrong
[profile first]
role_arn = {role}first
source_profile = wrong
[profile chain]
role_arn = {role}last
source_profile = first
external_id = x
[profile chain-of-program]
role_arn = {role}last
source_profile = program
[profile loop]
role_arn = {role}last
source_profile = loop2
[profile loop2]
role_arn = {role}last
source_profile = loop
[profile of-instance]
role_arn = {role}last
credential_source = Ec2InstanceMetadata
[profile of-web-identity]
role_arn = {role}last
web_identity_token_file = {home}/web-token
[profile sso]
sso_session = my-sso
sso_account_id = 123456789012
sso_role_name = Reader
[profile sso-old]
sso_start_url = https://example.awsapps.com/start
sso_region = eu-west-1
sso_account_id = 123456789012
sso_role_name = Reader
[profile sso-ended]
sso_session = ended
sso_account_id = 123456789012
sso_role_name = Reader
[sso-session my-sso]
sso_start_url = https://other.awsapps.com/start
sso_region = eu-west-1
[sso-session ended]
sso_start_url = https://ended.awsapps.com/start
sso_region = eu-west-1
"""


class World:
    def __init__(self, s, services, front):
        self.s, self.services, self.front, self.home = s, services, front, tempfile.mkdtemp(prefix="silt-credentials-")
        access, secret = services.keys
        self.write(".aws/credentials", PROFILES.format(access=access, secret=secret))
        self.write(".aws/config", CONFIG.format(home=self.home, role=ROLE))
        self.write("other-credentials", "[mine]\naws_access_key_id=%s\naws_secret_access_key=%s\n" % services.keys)
        self.write("web-token", "a-web-token\n")
        self.write("container-token", "for-the-container\n")
        self.write("keys.sh", "[ \"$1$2\" = '--quotedan argument' ] && echo '%s'\n" % json.dumps(
            {"Version": 1, "AccessKeyId": access, "SecretAccessKey": secret, "SessionToken": TOKEN, "Expiration": LATER}))
        for key, until in (("my-sso", LATER), ("https://example.awsapps.com/start", LATER.replace("Z", "UTC")), ("ended", EARLIER)):
            self.write(".aws/sso/cache/%s.json" % hashlib.sha1(key.encode()).hexdigest(), json.dumps({"accessToken": "sso-token", "expiresAt": until, "region": "eu-west-1"}))

    def write(self, name, text):
        path = os.path.join(self.home, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f: f.write(text)

    def silt(self, env, conf):
        keys = {"fs.s3a.endpoint": self.front.url, "fs.s3a.path.style.access": "true", "fs.s3a.endpoint.region": "us-east-1", **conf}
        ours = {k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "SILT_"))}
        ours.update({"HOME": self.home, "AWS_EC2_METADATA_DISABLED": "true", "AWS_ENDPOINT_URL_STS": self.services.url, "AWS_ENDPOINT_URL_SSO": self.services.url, **env})
        words = [remote.SILT, "sql", "SELECT count(*) AS n FROM delta.`%s`" % remote.location(self.s, "credentials"), "--format", "jsonl"]
        del self.services.asked[:]
        return subprocess.run(words + [w for kv in keys.items() for w in ("--conf", "%s=%s" % kv)], env=ours, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=60, check=False)


HADOOP, PROVIDER = "org.apache.hadoop.fs.s3a.", "fs.s3a.aws.credentials.provider"

# name: (environment, configuration, what has to have been asked, in this order). {url}, {home}, {access}, {secret}, {bucket} are filled in.
WORKS = {
    "settings": ({}, {"fs.s3a.access.key": "{access}", "fs.s3a.secret.key": "{secret}"}, []),
    "settings_of_spark": ({}, {"spark.hadoop.fs.s3a.access.key": "{access}", "spark.hadoop.fs.s3a.secret.key": "{secret}"}, []),
    "settings_of_the_bucket": ({}, {"fs.s3a.access.key": "AKIAWRONG", "fs.s3a.secret.key": "wrong", "fs.s3a.bucket.{bucket}.access.key": "{access}", "fs.s3a.bucket.{bucket}.secret.key": "{secret}"}, []),
    "settings_before_the_environment": ({"AWS_ACCESS_KEY_ID": "AKIAWRONG", "AWS_SECRET_ACCESS_KEY": "wrong"}, {"fs.s3a.access.key": "{access}", "fs.s3a.secret.key": "{secret}"}, []),
    "environment": ({"AWS_ACCESS_KEY_ID": "{access}", "AWS_SECRET_ACCESS_KEY": "{secret}"}, {}, []),
    "environment_before_the_profile": ({"AWS_ACCESS_KEY_ID": "{access}", "AWS_SECRET_ACCESS_KEY": "{secret}", "AWS_PROFILE": "wrong"}, {}, []),
    "profile": ({"AWS_PROFILE": "keys"}, {}, []),
    "profile_by_hadoops_keys": ({"AWS_PROFILE": "wrong"}, {PROVIDER: HADOOP + "auth.ProfileAWSCredentialsProvider", "fs.s3a.auth.profile.name": "mine", "fs.s3a.auth.profile.file": "{home}/other-credentials"}, []),
    "profile_in_another_file": ({"AWS_PROFILE": "mine", "AWS_SHARED_CREDENTIALS_FILE": "{home}/other-credentials"}, {}, []),
    "profile_with_a_program": ({"AWS_PROFILE": "program"}, {}, []),
    "profile_with_a_role": ({"AWS_PROFILE": "by-role"}, {}, ["AssumeRole " + ROLE + "last by AKIAWRONG"]),
    "profile_with_a_chain": ({"AWS_PROFILE": "chain"}, {}, ["AssumeRole " + ROLE + "first by AKIAWRONG", "AssumeRole " + ROLE + "last by ASIAHALFWAY"]),
    "profile_with_a_chain_to_a_program": ({"AWS_PROFILE": "chain-of-program"}, {}, ["AssumeRole " + ROLE + "last by {access}"]),
    "profile_with_a_role_of_the_instance": ({"AWS_PROFILE": "of-instance", "AWS_EC2_METADATA_DISABLED": "", "AWS_EC2_METADATA_SERVICE_ENDPOINT": "{url}"}, {},
                                            ["/latest/api/token", "AssumeRole " + ROLE + "last by {access}"]),
    "profile_with_a_web_identity": ({"AWS_PROFILE": "of-web-identity"}, {}, ["AssumeRoleWithWebIdentity " + ROLE + "last by a-web-token"]),
    "profile_with_a_login": ({"AWS_PROFILE": "sso"}, {}, ["/federation/credentials?role_name=Reader&account_id=123456789012"]),
    "profile_with_a_login_of_the_old_kind": ({"AWS_PROFILE": "sso-old"}, {}, ["/federation/credentials?role_name=Reader&account_id=123456789012"]),
    "web_identity": ({"AWS_ROLE_ARN": ROLE + "last", "AWS_WEB_IDENTITY_TOKEN_FILE": "{home}/web-token"}, {}, ["AssumeRoleWithWebIdentity " + ROLE + "last by a-web-token"]),
    "container": ({"AWS_CONTAINER_CREDENTIALS_FULL_URI": "{url}/container", "AWS_CONTAINER_AUTHORIZATION_TOKEN": "for-the-container"}, {}, ["/container"]),
    "container_with_a_token_in_a_file": ({"AWS_CONTAINER_CREDENTIALS_FULL_URI": "{url}/container", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": "{home}/container-token"}, {}, ["/container"]),
    "instance": ({"AWS_EC2_METADATA_DISABLED": "", "AWS_EC2_METADATA_SERVICE_ENDPOINT": "{url}"}, {},
                 ["/latest/api/token", "/latest/meta-data/iam/security-credentials/", "/latest/meta-data/iam/security-credentials/the-role"]),
    "instance_by_hadoops_class": ({"AWS_EC2_METADATA_DISABLED": "", "AWS_EC2_METADATA_SERVICE_ENDPOINT": "{url}", "AWS_PROFILE": "wrong"}, {PROVIDER: HADOOP + "SharedInstanceCredentialProvider"}, ["/latest/api/token"]),
    "assumed_role": ({}, {"fs.s3a.access.key": "AKIAWRONG", "fs.s3a.secret.key": "wrong", "fs.s3a.assumed.role.arn": ROLE + "last", PROVIDER: HADOOP + "auth.AssumedRoleCredentialProvider",
                          "fs.s3a.assumed.role.sts.endpoint": "{url}", "fs.s3a.assumed.role.credentials.provider": HADOOP + "SimpleAWSCredentialsProvider"}, ["AssumeRole " + ROLE + "last by AKIAWRONG"]),
    "classes_in_their_order": ({"AWS_ACCESS_KEY_ID": "{access}", "AWS_SECRET_ACCESS_KEY": "{secret}"},
                               {PROVIDER: HADOOP + "TemporaryAWSCredentialsProvider," + HADOOP + "SimpleAWSCredentialsProvider , software.amazon.awssdk.auth.credentials.EnvironmentVariableCredentialsProvider"}, []),
}

# name: (environment, configuration, what the error has to say)
FAILS = {
    "nobody": ({}, {}, "No credentials for S3"),
    "wrong_keys": ({"AWS_PROFILE": "wrong"}, {}, "STORE_ACCESS_DENIED"),
    "an_unknown_class": ({}, {"fs.s3a.aws.credentials.provider": "com.example.Mine"}, "com.example.Mine"),
    "no_such_profile": ({"AWS_PROFILE": "none"}, {}, "AWS_PROFILE"),
    "profiles_in_a_loop": ({"AWS_PROFILE": "loop"}, {}, "source_profile"),
    "a_program_that_fails": ({"AWS_PROFILE": "program-fails"}, {}, "status 3"),
    "a_program_that_says_nothing": ({"AWS_PROFILE": "program-says-nothing"}, {}, "credential_process"),
    "a_login_that_ended": ({"AWS_PROFILE": "sso-ended"}, {}, "aws sso login --profile sso-ended"),
    "a_web_identity_without_its_file": ({"AWS_ROLE_ARN": ROLE + "last", "AWS_WEB_IDENTITY_TOKEN_FILE": "{home}/none", "AWS_EC2_METADATA_DISABLED": "", "AWS_EC2_METADATA_SERVICE_ENDPOINT": "{url}"}, {}, "/none"),
    "a_profile_file_that_is_not_there": ({}, {"fs.s3a.auth.profile.file": "{home}/none"}, "fs.s3a.auth.profile.file"),
}


def main():
    results, s = remote.Results(), None
    try: s = remote.server("s3")
    except remote.Missing as e: return results.skip("credentials", e)
    with remote.Service(Services, keys=(s["ACCESS_KEY"], s["SECRET_KEY"])) as services, remote.Service(Front, real=s, session=False) as front:
        world = World(s, services, front)
        fill = lambda v: v.replace("{url}", services.url).replace("{home}", world.home).replace("{access}", services.keys[0]).replace("{secret}", services.keys[1]).replace("{bucket}", s["BUCKET"])
        filled = lambda d: {fill(k): fill(v) for k, v in d.items()}
        conf = [w for kv in remote.settings(s).items() for w in ("--conf", "%s=%s" % kv)]
        table = "CREATE OR REPLACE TABLE delta.`%s` (id INT) USING delta" % remote.location(s, "credentials")
        made = subprocess.run([remote.SILT, "sql", table, *conf], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
        results.check("credentials/table", made.stderr if made.returncode else "")

        def works(env, conf, asked):
            front.session = bool(asked) or env.get("AWS_PROFILE") == "program"
            done = world.silt(filled(env), filled(conf))
            problems = [] if done.returncode == 0 and '"n":0' in done.stdout.replace(" ", "") else ["status %d: %s" % (done.returncode, done.stderr[-600:])]
            came = list(services.asked)
            for one in map(fill, asked):
                if one not in came: problems.append("not asked for %s: %s" % (one, services.asked))
                else: came = came[came.index(one) + 1:]
            if not asked and came: problems.append("asked for %s" % came)
            return problems

        def fails(env, conf, word):
            done = world.silt(filled(env), filled(conf))
            problems = [] if done.returncode == 1 and fill(word) in done.stderr else ["status %d: %s" % (done.returncode, done.stderr[-600:])]
            for secret in (services.keys[1], "verysecret", "sso-token", "a-web-token"):
                if secret in done.stdout + done.stderr: problems.append("it tells " + secret[:4])
            return problems

        for name, case in WORKS.items(): results.run("credentials/" + name, works, *case)
        for name, case in FAILS.items(): results.run("credentials/not_" + name, fails, *case)
        shutil.rmtree(world.home, ignore_errors=True)
    return results.exit()


if __name__ == "__main__": main()
