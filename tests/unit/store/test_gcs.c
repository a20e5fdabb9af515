/* GCS's parts without a server: the signed claim, which credential counts, pages, objects and errors as the JSON API's reference shows them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include "base/ident.h"
#include "base/json.h"
#include "store/gcs/gcs.h"

/* ---- the claim ---- */

static EVP_PKEY *key;

static str pem_of(EVP_PKEY *k, arena *a) {
    BIO *bio = BIO_new(BIO_s_mem());
    char *bytes;
    assert_int_equal(PEM_write_bio_PrivateKey(bio, k, NULL, NULL, 0, NULL, NULL), 1);
    long n = BIO_get_mem_data(bio, &bytes);
    str text = arena_str(a, (str){bytes, (size_t)n});
    BIO_free(bio);
    return text;
}

static int make_key(void **state) {
    (void)state;
    key = EVP_RSA_gen(2048);
    return key ? 0 : -1;
}

static int free_key(void **state) {
    (void)state;
    EVP_PKEY_free(key);
    return 0;
}

/* RFC 7515, 2: base64 of URLs without padding. */
static void decode_part(str part, buf *out) {
    buf text;
    buf_init(&text, 100000);
    for (size_t i = 0; i < part.len; i++) buf_append_char(&text, part.ptr[i] == '-' ? '+' : part.ptr[i] == '_' ? '/' : part.ptr[i]);
    while (text.len % 4) buf_append_char(&text, '=');
    assert_true(base64_decode(buf_str(&text), out));
    buf_dispose(&text);
}

static void the_claim_is_signed_and_says_who_and_how_long(void **state) {
    (void)state;
    arena *a = arena_new();
    gcs_account c = {.email = STR("me@project.iam.gserviceaccount.com"), .key_id = STR(""), .token_url = STR("https://oauth2.googleapis.com/token"), .key = pem_of(key, a)};
    str claim, part;
    buf claims, signature;
    const json_node *root;
    buf_init(&claims, 10000);
    buf_init(&signature, 10000);
    assert_int_equal(gcs_claim(&c, 1328550785, a, &claim, NULL), SILT_OK);
    size_t last = str_rfind_char(claim, '.');
    str signed_text = str_slice(claim, 0, last), rest = claim;
    assert_true(str_next(&rest, '.', &part));
    assert_true(str_eqz(part, "eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9")); /* the header of Google's own example */
    assert_true(str_next(&rest, '.', &part));
    decode_part(part, &claims);
    decode_part(rest, &signature);
    assert_int_equal(json_parse(buf_str(&claims), a, &root, NULL), SILT_OK);
    assert_true(str_eqz(json_get_str(root, "iss", STR("")), "me@project.iam.gserviceaccount.com"));
    assert_true(str_eqz(json_get_str(root, "aud", STR("")), "https://oauth2.googleapis.com/token"));
    assert_true(str_eqz(json_get_str(root, "scope", STR("")), "https://www.googleapis.com/auth/devstorage.read_write"));
    assert_int_equal(json_get_i64(root, "iat", 0), 1328550785);
    assert_int_equal(json_get_i64(root, "exp", 0), 1328554385);
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    assert_int_equal(EVP_DigestVerifyInit(ctx, NULL, EVP_sha256(), NULL, key), 1);
    assert_int_equal(EVP_DigestVerify(ctx, (const unsigned char *)signature.ptr, signature.len, (const unsigned char *)signed_text.ptr, signed_text.len), 1);
    EVP_MD_CTX_free(ctx);
    buf_dispose(&claims);
    buf_dispose(&signature);
    arena_free(a);
}

static void keys_that_cannot_sign_are_refused_and_not_shown(void **state) {
    (void)state;
    arena *a = arena_new();
    EVP_PKEY *curve = EVP_EC_gen("P-256");
    const str keys[] = {STR("-----BEGIN PRIVATE KEY-----\nsecretsecret\n-----END PRIVATE KEY-----\n"), STR(""), STR("secretsecret"), pem_of(curve, a)};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        gcs_account c = {.email = STR("me@x"), .key_id = STR(""), .token_url = STR("https://t"), .key = keys[i]};
        silt_error err = {0};
        str claim;
        assert_int_equal(gcs_claim(&c, 1, a, &claim, &err), SILT_INVALID);
        assert_string_equal(err.condition, "STORE_CREDENTIAL_INVALID");
        assert_null(strstr(err.message, "secretsecret"));
        assert_null(strstr(err.detail, "secretsecret"));
    }
    EVP_PKEY_free(curve);
    arena_free(a);
}

/* ---- accounts ---- */

typedef struct pair {
    const char *key, *value;
} pair;

static str get_setting(void *ctx, const char *name) {
    for (const pair *p = ctx; p->key; p++)
        if (strcmp(p->key, name) == 0) return str_of(p->value);
    return STR_NULL;
}

static const char *get_env(void *ctx, const char *name) {
    for (const pair *p = ctx; p->key; p++)
        if (strcmp(p->key, name) == 0) return p->value;
    return NULL;
}

#define PAIRS(...) ((const pair[]){__VA_ARGS__ __VA_OPT__(,) {NULL, NULL}})

static silt_status find(const char *bucket, const pair *settings, const pair *env, arena *a, gcs_account *out, silt_error *err) {
    store_settings s = {.get = get_setting, .ctx = (void *)(uintptr_t)settings};
    return gcs_account_find(str_of(bucket), &s, get_env, (void *)(uintptr_t)env, a, out, err);
}

static void assert_auth(const pair *settings, const pair *env, gcs_auth auth, const char *endpoint) {
    arena *a = arena_new();
    gcs_account c;
    silt_error err = {0};
    if (find("bucket", settings, env, a, &c, &err) != SILT_OK) fail_msg("%s %s", err.message, err.detail);
    assert_int_equal(c.auth, auth);
    assert_true(str_eqz(c.endpoint, endpoint));
    arena_free(a);
}

static void assert_refused(const char *bucket, const pair *settings, const pair *env, silt_status status) {
    arena *a = arena_new();
    gcs_account c;
    silt_error err = {0};
    assert_int_equal(find(bucket, settings, env, a, &c, &err), status);
    assert_null(strstr(err.message, "secretsecret"));
    assert_null(strstr(err.detail, "secretsecret"));
    arena_free(a);
}

static char folder[64];
static char files[4][128];
enum { SERVICE, USER, OTHER, BROKEN };

static void write_file(int which, const char *name, const char *text) {
    snprintf(files[which], sizeof files[which], "%s/%s", folder, name);
    FILE *f = fopen(files[which], "wb");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int make_files(void **state) {
    (void)state;
    strcpy(folder, "/tmp/silt-gcs-XXXXXX");
    assert_non_null(mkdtemp(folder));
    write_file(SERVICE, "service.json", "{\"type\":\"service_account\",\"client_email\":\"me@x\",\"private_key\":\"secretsecret\",\"private_key_id\":\"1\",\"token_uri\":\"https://oauth2.googleapis.com/token\"}");
    write_file(USER, "application_default_credentials.json", "{\"type\":\"authorized_user\",\"client_id\":\"i\",\"client_secret\":\"secretsecret\",\"refresh_token\":\"r\"}");
    write_file(OTHER, "other.json", "{\"type\":\"external_account\",\"secret\":\"secretsecret\"}");
    write_file(BROKEN, "broken.json", "{\"private_key\":\"secretsecret");
    return 0;
}

static int remove_files(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(files); i++) unlink(files[i]);
    return rmdir(folder);
}

#define GOOGLE "https://storage.googleapis.com"

static void the_connectors_keys_come_first(void **state) {
    (void)state;
    assert_auth(PAIRS({"fs.gs.auth.service.account.json.keyfile", files[SERVICE]}), PAIRS({"GOOGLE_APPLICATION_CREDENTIALS", files[USER]}), GCS_SERVICE_ACCOUNT, GOOGLE);
    assert_auth(PAIRS({"google.cloud.auth.service.account.json.keyfile", files[SERVICE]}), PAIRS(), GCS_SERVICE_ACCOUNT, GOOGLE);
    assert_auth(PAIRS({"spark.hadoop.google.cloud.auth.service.account.json.keyfile", files[SERVICE]}), PAIRS(), GCS_SERVICE_ACCOUNT, GOOGLE);
    assert_auth(PAIRS({"fs.gs.auth.type", "UNAUTHENTICATED"}, {"fs.gs.auth.service.account.json.keyfile", files[SERVICE]}), PAIRS(), GCS_ANONYMOUS, GOOGLE);
    assert_auth(PAIRS({"fs.gs.auth.type", "COMPUTE_ENGINE"}), PAIRS(), GCS_METADATA, GOOGLE);
    assert_auth(PAIRS({"fs.gs.auth.type", "APPLICATION_DEFAULT"}), PAIRS({"GOOGLE_APPLICATION_CREDENTIALS", files[USER]}), GCS_USER, GOOGLE);
    assert_auth(PAIRS({"fs.gs.auth.type", "USER_CREDENTIALS"}, {"fs.gs.auth.client.id", "i"}, {"fs.gs.auth.client.secret", "s"}, {"fs.gs.auth.refresh.token", "r"}), PAIRS(), GCS_USER, GOOGLE);
}

static void then_what_googles_clients_look_for(void **state) {
    (void)state;
    assert_auth(PAIRS(), PAIRS({"GOOGLE_APPLICATION_CREDENTIALS", files[SERVICE]}, {"CLOUDSDK_CONFIG", folder}), GCS_SERVICE_ACCOUNT, GOOGLE);
    assert_auth(PAIRS(), PAIRS({"CLOUDSDK_CONFIG", folder}), GCS_USER, GOOGLE);
    assert_auth(PAIRS(), PAIRS({"HOME", "/nowhere"}), GCS_METADATA_IF_ANY, GOOGLE);
}

static void hmac_keys_and_keys_in_the_settings(void **state) {
    (void)state;
    assert_auth(PAIRS({"silt.gcs.hmac.accessKey", "GOOGX"}, {"silt.gcs.hmac.secret", "s"}, {"fs.gs.auth.type", "COMPUTE_ENGINE"}), PAIRS(), GCS_HMAC, GOOGLE);
    assert_auth(PAIRS(), PAIRS({"GS_ACCESS_KEY_ID", "GOOGX"}, {"GS_SECRET_ACCESS_KEY", "s"}, {"CLOUDSDK_CONFIG", folder}), GCS_HMAC, GOOGLE);
    assert_auth(PAIRS(), PAIRS({"GS_ACCESS_KEY_ID", "GOOGX"}, {"GS_SECRET_ACCESS_KEY", "s"}, {"GOOGLE_APPLICATION_CREDENTIALS", files[SERVICE]}), GCS_SERVICE_ACCOUNT, GOOGLE);
    assert_auth(PAIRS(), PAIRS({"GS_ACCESS_KEY_ID", "GOOGX"}, {"GS_SECRET_ACCESS_KEY", "s"}, {"STORAGE_EMULATOR_HOST", "127.0.0.1:4443"}), GCS_ANONYMOUS, "http://127.0.0.1:4443");
    assert_auth(PAIRS({"fs.gs.auth.service.account.email", "e@p"}, {"fs.gs.auth.service.account.private.key", "-----BEGIN\\nx"}), PAIRS(), GCS_SERVICE_ACCOUNT, GOOGLE);
    assert_refused("bucket", PAIRS({"silt.gcs.hmac.accessKey", "GOOGX"}), PAIRS(), SILT_INVALID);
    assert_refused("bucket", PAIRS(), PAIRS({"GS_ACCESS_KEY_ID", "GOOGX"}), SILT_INVALID);
}

static void emulators_are_told_nothing_unless_that_is_set(void **state) {
    (void)state;
    assert_auth(PAIRS(), PAIRS({"STORAGE_EMULATOR_HOST", "127.0.0.1:4443"}, {"CLOUDSDK_CONFIG", folder}), GCS_ANONYMOUS, "http://127.0.0.1:4443");
    assert_auth(PAIRS(), PAIRS({"STORAGE_EMULATOR_HOST", "http://127.0.0.1:4443/"}), GCS_ANONYMOUS, "http://127.0.0.1:4443");
    assert_auth(PAIRS({"silt.gcs.endpoint", "http://127.0.0.1:1"}), PAIRS({"STORAGE_EMULATOR_HOST", "http://127.0.0.1:2"}), GCS_ANONYMOUS, "http://127.0.0.1:1");
    assert_auth(PAIRS({"fs.gs.storage.root.url", "https://storage.example/"}, {"fs.gs.auth.service.account.json.keyfile", files[SERVICE]}), PAIRS(), GCS_SERVICE_ACCOUNT, "https://storage.example");
}

static void what_cannot_be_used_is_refused(void **state) {
    (void)state;
    assert_refused("", PAIRS(), PAIRS(), SILT_INVALID);
    assert_refused("b/../c", PAIRS(), PAIRS(), SILT_INVALID);
    assert_refused("UPPER", PAIRS(), PAIRS(), SILT_INVALID);
    assert_refused("bucket?x", PAIRS(), PAIRS(), SILT_INVALID);
    assert_refused("user:pw@bucket", PAIRS(), PAIRS(), SILT_INVALID);
    assert_refused("bucket", PAIRS({"silt.gcs.endpoint", "ftp://x"}), PAIRS(), SILT_INVALID);
    assert_refused("bucket", PAIRS({"silt.gcs.endpoint", "http://u:secretsecret@x"}), PAIRS(), SILT_INVALID);
    assert_refused("bucket", PAIRS({"fs.gs.auth.type", "MAGIC"}), PAIRS(), SILT_INVALID);
    assert_refused("bucket", PAIRS({"fs.gs.auth.type", "SERVICE_ACCOUNT_JSON_KEYFILE"}), PAIRS(), SILT_INVALID);
    assert_refused("bucket", PAIRS({"fs.gs.auth.type", "USER_CREDENTIALS"}), PAIRS(), SILT_INVALID);
    assert_refused("bucket", PAIRS(), PAIRS({"GOOGLE_APPLICATION_CREDENTIALS", "/nowhere/key.json"}), SILT_INVALID);
    assert_refused("bucket", PAIRS(), PAIRS({"GOOGLE_APPLICATION_CREDENTIALS", files[OTHER]}), SILT_UNSUPPORTED);
    assert_refused("bucket", PAIRS(), PAIRS({"GOOGLE_APPLICATION_CREDENTIALS", files[BROKEN]}), SILT_INVALID);
}

static void key_files_must_be_whole_and_their_token_service_secure(void **state) {
    (void)state;
    static const char *const odd[] = {"[]", "{}x", "{\"type\":\"service_account\"}", "{\"type\":\"service_account\",\"client_email\":\"e\",\"private_key\":\"\"}", "{\"type\":\"authorized_user\",\"client_id\":\"i\"}",
                                      "{\"type\":\"service_account\",\"client_email\":\"e\",\"private_key\":\"k\",\"token_uri\":\"http://evil.example/token\"}"};
    arena *a = arena_new();
    for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
        gcs_account c = {0};
        assert_int_equal(gcs_key_parse(str_of(odd[i]), STR("f"), a, &c, NULL), SILT_INVALID);
    }
    arena_free(a);
}

/* ---- pages and errors ---- */

static void pages_tell_objects_and_folders(void **state) {
    (void)state;
    arena *a = arena_new();
    object_page p;
    const char *json = "{\"kind\":\"storage#objects\",\"nextPageToken\":\"CgYx\",\"prefixes\":[\"t/p=1/\"],\"items\":[{\"name\":\"t/a b\\u00e9\",\"size\":\"12\",\"updated\":\"2026-11-30T08:58:58.243Z\","
                       "\"generation\":\"1764493138243386\"},{\"name\":\"t/big\",\"size\":\"9000000000000\",\"updated\":\"2026-11-30T08:58:58Z\",\"generation\":\"1\"}]}";
    assert_true(gcs_page_parse(str_of(json), a, &p));
    assert_int_equal(p.count, 3);
    assert_true(str_eqz(p.items[0].key, "t/a b\xc3\xa9"));
    assert_int_equal(p.items[0].size_bytes, 12);
    assert_true(p.items[0].modified_ms == INT64_C(1796029138243));
    assert_true(str_eqz(p.items[0].tag, "1764493138243386"));
    assert_true(p.items[1].size_bytes == INT64_C(9000000000000));
    assert_true(p.items[2].is_folder && str_eqz(p.items[2].key, "t/p=1/"));
    assert_true(str_eqz(p.next, "CgYx"));
    assert_true(gcs_page_parse(STR("{\"kind\":\"storage#objects\"}"), a, &p));
    assert_true(p.count == 0 && str_is_null(p.next));
    arena_free(a);
}

static void what_is_no_page_is_refused(void **state) {
    (void)state;
    static const char *const odd[] = {"", "[]", "<html>", "{\"items\":{}}", "{\"items\":[{}]}", "{\"items\":[{\"name\":\"x\",\"size\":12,\"updated\":\"2026-11-30T08:58:58Z\"}]}x",
                                      "{\"items\":[{\"name\":\"x\",\"size\":\"-1\",\"updated\":\"2026-11-30T08:58:58Z\"}]}", "{\"items\":[{\"name\":\"x\",\"size\":\"1\",\"updated\":\"then\"}]}", "{\"prefixes\":[1]}",
                                      "{\"items\":[{\"name\":\"a\\u0000b\",\"size\":\"1\",\"updated\":\"2026-11-30T08:58:58Z\"}]}"};
    arena *a = arena_new();
    object_page p;
    for (size_t i = 0; i < ARRAY_LEN(odd); i++)
        if (gcs_page_parse(str_of(odd[i]), a, &p)) fail_msg("taken: %s", odd[i]);
    arena_free(a);
}

static void errors_tell_reason_and_message(void **state) {
    (void)state;
    arena *a = arena_new();
    object_error e;
    gcs_error_parse(STR("{\"error\":{\"code\":412,\"message\":\"At least one of the pre-conditions you specified did not hold.\",\"errors\":[{\"message\":\"m\",\"domain\":\"global\",\"reason\":\"conditionNotMet\"}]}}"), a,
                    &e);
    assert_true(str_eqz(e.code, "conditionNotMet"));
    assert_true(str_starts_with(e.message, STR("At least one")));
    gcs_error_parse(STR("Not Found"), a, &e);
    assert_true(str_is_null(e.code) && str_is_null(e.message));
    gcs_error_parse(STR("{\"error\":\"invalid_grant\"}"), a, &e);
    assert_true(str_is_null(e.message));
    arena_free(a);
}

static void token_answers(void **state) {
    (void)state;
    arena *a = arena_new();
    str token;
    int64_t seconds;
    assert_true(cloud_token_parse(STR("{\"access_token\":\"1/8xbJqaOZXSUZbHLl5EOtu1pxz3fmmetKx9W8CV4t79M\",\"scope\":\"s\",\"token_type\":\"Bearer\",\"expires_in\":3600}"), a, &token, &seconds));
    assert_true(str_eqz(token, "1/8xbJqaOZXSUZbHLl5EOtu1pxz3fmmetKx9W8CV4t79M") && seconds == 3600);
    assert_true(cloud_token_parse(STR("{\"access_token\":\"t\",\"expires_in\":\"3599\"}"), a, &token, &seconds) && seconds == 3599); /* the older directory of Azure */
    assert_true(cloud_token_parse(STR("{\"access_token\":\"t\",\"expires_in\":\"soon\"}"), a, &token, &seconds) && seconds == 0);
    assert_false(cloud_token_parse(STR("{\"access_token\":\"\"}"), a, &token, &seconds));
    assert_false(cloud_token_parse(STR("{\"access_token\":\"a\\r\\nX-Evil: 1\"}"), a, &token, &seconds));
    assert_false(cloud_token_parse(STR("{\"error\":\"invalid_grant\"}"), a, &token, &seconds));
    assert_false(cloud_token_parse(STR(""), a, &token, &seconds));
    arena_free(a);
}

int main(void) {
    cmocka_set_message_output(CM_OUTPUT_TAP);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_claim_is_signed_and_says_who_and_how_long, make_key, free_key),
        cmocka_unit_test(keys_that_cannot_sign_are_refused_and_not_shown),
        cmocka_unit_test_setup_teardown(the_connectors_keys_come_first, make_files, remove_files),
        cmocka_unit_test_setup_teardown(then_what_googles_clients_look_for, make_files, remove_files),
        cmocka_unit_test_setup_teardown(hmac_keys_and_keys_in_the_settings, make_files, remove_files),
        cmocka_unit_test_setup_teardown(emulators_are_told_nothing_unless_that_is_set, make_files, remove_files),
        cmocka_unit_test_setup_teardown(what_cannot_be_used_is_refused, make_files, remove_files),
        cmocka_unit_test(key_files_must_be_whole_and_their_token_service_secure),
        cmocka_unit_test(pages_tell_objects_and_folders),
        cmocka_unit_test(what_is_no_page_is_refused),
        cmocka_unit_test(errors_tell_reason_and_message),
        cmocka_unit_test(token_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
