/*
 * Credentials of the machine: the instance's metadata service (version 2) and the container's; and what profiles lead to. Source: EC2 User Guide, "Use IMDSv2"; ECS Developer Guide, "Task IAM role"; SDKs
 * Reference Guide, "Container credential provider".
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/time.h"
#include "store/s3/s3.h"
#include "support/tiny_server.h"

#define GRANT "{\"AccessKeyId\":\"ASIAX\",\"SecretAccessKey\":\"sx\",\"Token\":\"tx\",\"Expiration\":\"2099-05-17T15:09:54Z\"}"

typedef struct world {
    arena *a;
    tiny_server *server;
    http_client *client;
    silt_error err;
    const char *role;   /* NULL: the instance has none */
    const char *answer; /* to the question for credentials */
    bool other_cloud;
    int refused;
    const char *names[8], *values[8];
} world;

static void handle(void *ctx, const tiny_request *q, tiny_answer *a) {
    world *w = ctx;
    str token = tiny_header(q, "x-aws-ec2-metadata-token");
    if (str_starts_with(q->target, STR("/federation/credentials?"))) {
        bool good = str_eqz(tiny_header(q, "x-amz-sso_bearer_token"), "sso-token") && str_ends_with(q->target, STR("?role_name=R&account_id=1"));
        a->status = good ? 200 : 401;
        if (good) buf_append_z(&a->body, "{\"roleCredentials\":{\"accessKeyId\":\"ASIASSO\",\"secretAccessKey\":\"s\",\"sessionToken\":\"t\",\"expiration\":4082713794000}}");
        return;
    }
    if (str_eqz(q->target, "/")) { /* STS: who asks is told by what is granted */
        str by = tiny_header(q, "authorization");
        size_t at = str_find(by, STR("Credential="));
        str key = at == SIZE_MAX ? STR("nobody") : str_slice(by, at + 11, by.len);
        size_t slash = str_find_char(key, '/');
        buf_printf(&a->body, "<R><AccessKeyId>ROLE-BY-%.*s</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>2099-05-17T15:09:54Z</Expiration></R>",
                   STR_ARG(slash == SIZE_MAX ? key : str_slice(key, 0, slash)));
        return;
    }
    if (str_eqz(q->target, "/creds?id=1")) {
        if (!str_eqz(tiny_header(q, "authorization"), "secret-of-the-container")) a->status = 403, w->refused++;
        else buf_append_z(&a->body, w->answer);
        return;
    }
    if (w->other_cloud) {
        a->status = 404;
        return;
    }
    if (str_eqz(q->target, "/latest/api/token")) {
        bool good = str_eqz(q->method, "PUT") && str_eqz(tiny_header(q, "x-aws-ec2-metadata-token-ttl-seconds"), "21600");
        a->status = good ? 200 : 400;
        buf_append_z(&a->body, "session-token");
    } else if (!str_eqz(token, "session-token")) {
        a->status = 401;
        w->refused++;
    } else if (str_eqz(q->target, "/latest/meta-data/iam/security-credentials/")) {
        a->status = w->role ? 200 : 404;
        buf_append_z(&a->body, w->role ? w->role : "none");
    } else if (str_eqz(q->target, "/latest/meta-data/iam/security-credentials/my%20role")) {
        buf_append_z(&a->body, w->answer);
    } else {
        a->status = 404;
    }
}

static const char *get_env(void *ctx, const char *name) {
    const world *w = ctx;
    for (int i = 0; i < 8 && w->names[i]; i++)
        if (strcmp(w->names[i], name) == 0) return w->values[i];
    return NULL;
}

static void set(world *w, const char *name, const char *value) {
    int i = 0;
    while (w->names[i]) i++;
    w->names[i] = name;
    w->values[i] = value;
}

static int setup(void **state) {
    world *w = calloc(1, sizeof *w);
    http_options o = {.max_attempts = 1, .connect_timeout_ms = 500, .proxy = STR("")};
    w->a = arena_new();
    w->server = tiny_server_start(handle, w);
    w->role = "my role";
    w->answer = GRANT;
    assert_int_equal(http_client_new(&o, &w->client, NULL), SILT_OK);
    *state = w;
    return 0;
}

static int teardown(void **state) {
    world *w = *state;
    http_client_free(w->client);
    tiny_server_stop(w->server);
    arena_free(w->a);
    free(w);
    return 0;
}

static silt_status ask_instance(world *w, s3_grant *g) {
    set(w, "AWS_EC2_METADATA_SERVICE_ENDPOINT", tiny_server_url(w->server, "/", w->a).ptr);
    return s3_grant_instance(w->client, get_env, w, w->a, g, &w->err);
}

static void an_instance_with_a_role(void **state) {
    world *w = *state;
    s3_grant g;
    assert_int_equal(ask_instance(w, &g), SILT_OK);
    assert_true(str_eqz(g.identity.access_key, "ASIAX") && str_eqz(g.identity.session_token, "tx"));
    assert_int_equal(g.expires_ms, 4082713794000);
    assert_int_equal(w->refused, 0);
}

static void an_instance_without_one(void **state) {
    world *w = *state;
    s3_grant g;
    w->role = NULL;
    assert_int_equal(ask_instance(w, &g), SILT_NOT_FOUND);
    w->other_cloud = true;
    assert_int_equal(ask_instance(w, &g), SILT_NOT_FOUND);
}

static void no_instance(void **state) {
    world *w = *state;
    s3_grant g;
    set(w, "AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://127.0.0.1:1");
    assert_int_equal(s3_grant_instance(w->client, get_env, w, w->a, &g, &w->err), SILT_NOT_FOUND);
    set(w, "AWS_EC2_METADATA_DISABLED", "true");
    assert_int_equal(s3_grant_instance(w->client, get_env, w, w->a, &g, &w->err), SILT_NOT_FOUND);
}

static void an_answer_without_credentials(void **state) {
    world *w = *state;
    s3_grant g;
    w->answer = "{\"Code\":\"AssumeRoleUnauthorizedAccess\",\"Message\":\"verysecret\"}";
    assert_int_equal(ask_instance(w, &g), SILT_DENIED);
    assert_string_equal(w->err.condition, "S3_CREDENTIALS_REFUSED");
    assert_null(strstr(w->err.detail, "verysecret"));
}

static void a_container(void **state) {
    world *w = *state;
    s3_grant g;
    char path[] = "/tmp/silt-grant-XXXXXX";
    int fd = mkstemp(path);
    assert_int_equal(write(fd, "secret-of-the-container\n", 24), 24);
    close(fd);
    assert_int_equal(s3_grant_container(w->client, get_env, w, w->a, &g, &w->err), SILT_NOT_FOUND);
    set(w, "AWS_CONTAINER_CREDENTIALS_FULL_URI", tiny_server_url(w->server, "/creds?id=1", w->a).ptr);
    assert_int_equal(s3_grant_container(w->client, get_env, w, w->a, &g, &w->err), SILT_DENIED);
    set(w, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", path);
    assert_int_equal(s3_grant_container(w->client, get_env, w, w->a, &g, &w->err), SILT_OK);
    assert_true(str_eqz(g.identity.secret_key, "sx"));
    unlink(path);
}

/* The token goes nowhere but to this machine, or through TLS. */
static void a_container_service_elsewhere(void **state) {
    world *w = *state;
    s3_grant g;
    set(w, "AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://evil.example.com/creds");
    assert_int_equal(s3_grant_container(w->client, get_env, w, w->a, &g, &w->err), SILT_INVALID);
}

/* ---- profiles. Source: AWS SDKs and Tools Reference Guide ---- */

static silt_status no_machine(void *ctx, str source, arena *a, s3_grant *out, silt_error *err) {
    (void)ctx, (void)a, (void)err;
    if (!str_eqz(source, "Environment")) return SILT_NOT_FOUND;
    *out = (s3_grant){{STR("AKENV"), STR("s"), STR_NULL}, INT64_MAX};
    return SILT_OK;
}

static const char profiles[] =
    "[profile program]\ncredential_process = echo '{\"Version\":1,\"AccessKeyId\":\"AKPROGRAM\",\"SecretAccessKey\":\"s\",\"SessionToken\":\"t\"}'\n"
    "[profile fails]\ncredential_process = echo verysecret; exit 3\n"
    "[profile silent]\ncredential_process = echo verysecret\n"
    "[profile keys]\naws_access_key_id = AKKEYS\naws_secret_access_key = s\n"
    "[profile one]\nrole_arn = a\nsource_profile = keys\n"
    "[profile two]\nrole_arn = a\nsource_profile = one\n"
    "[profile three]\nrole_arn = a\nsource_profile = program\n"
    "[profile self]\nrole_arn = a\nsource_profile = self\naws_access_key_id = AKSELF\naws_secret_access_key = s\n"
    "[profile environment]\nrole_arn = a\ncredential_source = Environment\n"
    "[profile instance]\nrole_arn = a\ncredential_source = Ec2InstanceMetadata\n"
    "[profile loop]\nrole_arn = a\nsource_profile = pool\n[profile pool]\nrole_arn = a\nsource_profile = loop\n"
    "[profile gone]\nrole_arn = a\nsource_profile = none\n"
    "[profile mfa]\nrole_arn = a\nsource_profile = keys\nmfa_serial = x\n"
    "[profile sso]\nsso_session = s\nsso_account_id = 1\nsso_role_name = R\n[sso-session s]\nsso_region = eu-west-1\nsso_start_url = https://x\n"
    "[profile ended]\nsso_start_url = https://ended\nsso_region = eu-west-1\nsso_account_id = 1\nsso_role_name = R\n"
    "[profile stranger]\nsso_start_url = https://stranger\nsso_region = eu-west-1\nsso_account_id = 1\nsso_role_name = R\n"
    "[profile nothing]\nregion = eu-west-1\n";

static void write_file(const world *w, const char *folder, const char *name, const char *text) {
    FILE *file = fopen(arena_printf(w->a, "%s/%s", folder, name).ptr, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void profiles_lead_to_keys(void **state) {
    world *w = *state;
    static const struct { const char *name; silt_status status; const char *expected; } rows[] = {
        {"program", SILT_OK, "AKPROGRAM"}, {"keys", SILT_OK, "AKKEYS"}, {"one", SILT_OK, "ROLE-BY-AKKEYS"}, {"two", SILT_OK, "ROLE-BY-ROLE-BY-AKKEYS"}, {"three", SILT_OK, "ROLE-BY-AKPROGRAM"},
        {"self", SILT_OK, "ROLE-BY-AKSELF"}, {"environment", SILT_OK, "ROLE-BY-AKENV"}, {"sso", SILT_OK, "ASIASSO"},
        {"fails", SILT_DENIED, "status 3"}, {"silent", SILT_DENIED, "no credentials"}, {"instance", SILT_INVALID, ""}, {"loop", SILT_INVALID, ""}, {"gone", SILT_INVALID, ""},
        {"mfa", SILT_UNSUPPORTED, ""}, {"ended", SILT_DENIED, "ended"}, {"stranger", SILT_DENIED, "no token"}, {"nothing", SILT_NOT_FOUND, ""},
    };
    char home[] = "/tmp/silt-profiles-XXXXXX";
    assert_non_null(mkdtemp(home));
    const char *cache = arena_printf(w->a, "%s/.aws/sso/cache", home).ptr;
    assert_int_equal(system(arena_printf(w->a, "mkdir -p %s", cache).ptr), 0);
    write_file(w, cache, "a0f1490a20d0211c997b44bc357e1972deab8ae3.json", "{\"accessToken\":\"sso-token\",\"expiresAt\":\"2099-01-01T00:00:00UTC\"}"); /* SHA-1 of "s" */
    write_file(w, cache, "4b00c85916cdb81a954a4249b68e13c4dff4a965.json", "{\"accessToken\":\"sso-token\",\"expiresAt\":\"2020-01-01T00:00:00Z\"}");
    const char *url = tiny_server_url(w->server, "/", w->a).ptr;
    set(w, "HOME", home);
    set(w, "AWS_ENDPOINT_URL_STS", url);
    set(w, "AWS_ENDPOINT_URL_SSO", url);
    s3_profile p = {.credentials = STR_NULL, .config = str_of(profiles), .env = get_env, .env_ctx = w, .client = w->client, .region = STR("eu-west-1"), .machine = no_machine};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        s3_grant g = {.expires_ms = 0};
        w->err = (silt_error){0};
        silt_status status = s3_grant_profile(&p, str_of(rows[i].name), w->a, &g, &w->err);
        if (status != rows[i].status) fail_msg("%s: status %d, %s %s", rows[i].name, (int)status, w->err.message, w->err.detail);
        if (status == SILT_OK && !str_eqz(g.identity.access_key, rows[i].expected)) fail_msg("%s: %.*s", rows[i].name, STR_ARG(g.identity.access_key));
        if (status != SILT_OK && !strstr(w->err.detail, rows[i].expected)) fail_msg("%s: %s", rows[i].name, w->err.detail);
        assert_null(strstr(w->err.detail, "verysecret"));
    }
    assert_int_equal(system(arena_printf(w->a, "rm -r %s", home).ptr), 0);
}

#define GRANT_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        GRANT_TEST(an_instance_with_a_role),       GRANT_TEST(an_instance_without_one), GRANT_TEST(no_instance),
        GRANT_TEST(an_answer_without_credentials), GRANT_TEST(a_container),             GRANT_TEST(a_container_service_elsewhere),
        GRANT_TEST(profiles_lead_to_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
