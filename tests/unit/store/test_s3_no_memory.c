/* The S3 store's own work when memory runs out: the call says so, nothing leaks, and nothing half made is used. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>

#include "store/s3/s3.h"
#include "support/no_memory.h"

typedef struct pair {
    const char *key, *value;
} pair;

static const pair pairs[] = {
    {"fs.s3a.endpoint", "https://s3.example.com/base"},
    {"fs.s3a.endpoint.region", "eu-west-1"},
    {"fs.s3a.encryption.algorithm", "SSE-C"},
    {"fs.s3a.encryption.key", "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="},
    {"fs.s3a.acl.default", "BucketOwnerFullControl"},
    {"fs.s3a.create.storage.class", "standard_ia"},
    {"fs.s3a.proxy.host", "proxy"},
    {"fs.s3a.proxy.username", "u"},
    {"fs.s3a.proxy.password", "p@"},
    {"fs.s3a.access.key", "AK"},
    {"fs.s3a.secret.key", "SK"},
    {"fs.s3a.session.token", "T"},
    {"spark.delta.logStore.s3a.impl", "io.delta.storage.S3SingleDriverLogStore"},
};

static str get_pair(void *ctx, const char *key) {
    (void)ctx;
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
        if (strcmp(pairs[i].key, key) == 0) return str_of(pairs[i].value);
    return STR_NULL;
}

static const char *get_env(void *ctx, const char *name) {
    (void)ctx;
    return strcmp(name, "HOME") == 0 ? "/nonexistent" : NULL;
}

static silt_status read_settings(void *ctx) {
    (void)ctx;
    store_settings s = {.get = get_pair, .ctx = NULL};
    s3_settings out;
    arena *a = arena_new();
    if (!a) return SILT_NO_MEMORY;
    silt_status status = s3_settings_read("s3a", STR("bucket"), &s, get_env, NULL, a, &out, NULL);
    if (status == SILT_OK) {
        assert_int_equal(out.n_customer_key, 3);
        assert_int_equal(out.n_fixed, 2);
        assert_true(str_eqz(out.proxy, "http://u:p%40@proxy"));
    }
    arena_free(a);
    return status;
}

static silt_status get_identity(void *ctx) {
    (void)ctx;
    store_settings s = {.get = get_pair, .ctx = NULL};
    s3_credentials_options o = {.bucket = STR("bucket"), .settings = &s, .env = get_env, .region = STR("eu-west-1"), .providers = STR_NULL};
    s3_credentials *c = NULL;
    s3_identity identity;
    arena *a = arena_new();
    silt_status status = a ? s3_credentials_new(&o, &c, NULL) : SILT_NO_MEMORY;
    if (status == SILT_OK) status = s3_credentials_get(c, a, &identity, NULL);
    if (status == SILT_OK) assert_true(str_eqz(identity.session_token, "T"));
    s3_credentials_free(c);
    arena_free(a);
    return status;
}

static void settings_without_memory(void **state) {
    (void)state;
    no_memory_torture(read_settings, NULL);
}

static void identity_without_memory(void **state) {
    (void)state;
    no_memory_torture(get_identity, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(settings_without_memory), cmocka_unit_test(identity_without_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
