/*
 * Credentials of the machine: the instance's metadata service (version 2) and the container's. Source: EC2 User Guide, "Use IMDSv2"; ECS Developer Guide, "Task IAM role"; SDKs
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

#define GRANT_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        GRANT_TEST(an_instance_with_a_role),       GRANT_TEST(an_instance_without_one), GRANT_TEST(no_instance),
        GRANT_TEST(an_answer_without_credentials), GRANT_TEST(a_container),             GRANT_TEST(a_container_service_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
