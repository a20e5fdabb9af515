/* The parts of the S3 store that need no server: signatures by AWS's published examples, profile files, settings, XML, answers of credential services. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "store/s3/dynamodb.h"
#include "store/s3/s3.h"
#include "store/s3/s3_dynamodb.h"

/* ---- Signature Version 4. Source: "Authenticating Requests: Using the Authorization Header (AWS Signature Version 4)", Examples ---- */

#define DAY      1369353600000 /* 20130524T000000Z */
#define EMPTY    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define TEXT_SUM "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072"

static const s3_identity example = {{"AKIAIOSFODNN7EXAMPLE", 20}, {"wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", 40}, {NULL, 0}};

static void assert_signature(const char *method, const char *url, http_header first, http_header second, const char *payload, const char *signature) {
    arena *a = arena_new();
    http_header headers[12] = {first, second};
    http_attempt at = {.arena = a, .headers = headers, .url = str_of(url)};
    while (at.n_headers < 2 && !str_is_null(headers[at.n_headers].name)) at.n_headers++;
    s3_signing s = {.identity = &example, .region = STR("us-east-1"), .service = "s3", .now_ms = DAY, .payload = str_of(payload)};
    assert_int_equal(s3_sign(&s, method, &at, NULL), SILT_OK);
    str authorization = headers[at.n_headers - 1].value, expected = arena_printf(a, "Signature=%s", signature);
    assert_true(str_eqz(headers[at.n_headers - 1].name, "Authorization"));
    if (!str_ends_with(authorization, expected)) fail_msg("%.*s", STR_ARG(authorization));
    arena_free(a);
}

static void published_signatures(void **state) {
    (void)state;
    const http_header none = {STR_NULL, STR_NULL};
    assert_signature("GET", "https://examplebucket.s3.amazonaws.com/test.txt", (http_header){STR("Range"), STR("bytes=0-9")}, none, EMPTY,
                     "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
    assert_signature("PUT", "https://examplebucket.s3.amazonaws.com/test%24file.text", (http_header){STR("Date"), STR("Fri, 24 May 2013 00:00:00 GMT")},
                     (http_header){STR("x-amz-storage-class"), STR("REDUCED_REDUNDANCY")}, TEXT_SUM, "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
    assert_signature("GET", "https://examplebucket.s3.amazonaws.com/?lifecycle", none, none, EMPTY, "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
    assert_signature("GET", "https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J", none, none, EMPTY,
                     "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
    assert_signature("GET", "https://examplebucket.s3.amazonaws.com/?prefix=J&max-keys=2", none, none, EMPTY,
                     "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"); /* in any order */
}

/* The signature of one request by `s`, in `a`. */
static str signature_of(s3_signing s, s3_signing_key *kept, arena *a) {
    http_header headers[12] = {{STR("Range"), STR("bytes=0-9")}};
    http_attempt at = {.arena = a, .headers = headers, .n_headers = 1, .url = STR("https://examplebucket.s3.amazonaws.com/test.txt")};
    s.payload = STR(EMPTY);
    s.kept = kept;
    assert_int_equal(s3_sign(&s, "GET", &at, NULL), SILT_OK);
    return headers[at.n_headers - 1].value;
}

static void a_kept_key_signs_as_a_derived_one(void **state) {
    (void)state;
    static char long_secret[600];
    memset(long_secret, 's', sizeof long_secret);
    const s3_identity other = {example.access_key, STR("another+secret"), STR_NULL}, longest = {example.access_key, {long_secret, sizeof long_secret}, STR_NULL};
    const s3_signing each[] = {
        {.identity = &example, .region = STR("us-east-1"), .service = "s3", .now_ms = DAY},      {.identity = &example, .region = STR("us-east-1"), .service = "s3", .now_ms = DAY + 5000},
        {.identity = &example, .region = STR("us-east-1"), .service = "s3", .now_ms = DAY + 86400000}, {.identity = &example, .region = STR("eu-west-1"), .service = "s3", .now_ms = DAY},
        {.identity = &example, .region = STR("eu-west-1"), .service = "sts", .now_ms = DAY},     {.identity = &other, .region = STR("eu-west-1"), .service = "sts", .now_ms = DAY},
        {.identity = &other, .region = STR("auto"), .service = "storage", .now_ms = DAY},        {.identity = &longest, .region = STR("us-east-1"), .service = "s3", .now_ms = DAY},
        {.identity = &example, .region = STR("us-east-1"), .service = "s3", .now_ms = DAY},
    };
    s3_signing_key kept;
    s3_signing_key_init(&kept);
    arena *a = arena_new();
    for (size_t i = 0; i < ARRAY_LEN(each); i++)
        for (int turn = 0; turn < 2; turn++) assert_true(str_eq(signature_of(each[i], &kept, a), signature_of(each[i], NULL, a)));
    assert_true(str_ends_with(signature_of(each[0], &kept, a), STR("f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")));
    assert_non_null(memmem(&kept, sizeof kept, example.secret_key.ptr, example.secret_key.len)); /* where it looks for it */
    s3_signing_key_dispose(&kept);
    for (size_t i = 0; i < sizeof kept; i++) assert_int_equal(((const unsigned char *)&kept)[i], 0);
    arena_free(a);
}

static void sums(void **state) {
    (void)state;
    char text[65];
    s3_sha256_hex(STR(""), text);
    assert_string_equal(text, EMPTY);
    s3_sha256_hex(STR("Welcome to Amazon S3."), text);
    assert_string_equal(text, TEXT_SUM);
}

/* ---- profiles. Source: "Configuration and credential file settings" of the AWS CLI ---- */

static void profiles(void **state) {
    (void)state;
    str credentials = STR("# a comment\n[default]\naws_access_key_id = AKD\naws_secret_access_key=SKD # not this\n\n[work]\r\naws_access_key_id=AKW\r\naws_secret_access_key = a=b\r\n");
    str config = STR("[default]\nregion = eu-west-1\n[profile work]\nregion=ap-south-1\ns3 =\n    region = nested\nrole_arn = arn:x\n[work]\nregion = wrong\n");
    assert_true(str_eqz(s3_profile_get(credentials, config, STR("default"), "aws_access_key_id"), "AKD"));
    assert_true(str_eqz(s3_profile_get(credentials, config, STR("default"), "aws_secret_access_key"), "SKD"));
    assert_true(str_eqz(s3_profile_get(credentials, config, STR("work"), "aws_secret_access_key"), "a=b"));
    assert_true(str_eqz(s3_profile_get(credentials, config, STR("default"), "region"), "eu-west-1"));
    assert_true(str_eqz(s3_profile_get(credentials, config, STR("work"), "region"), "ap-south-1"));
    assert_true(str_eqz(s3_profile_get(credentials, config, STR("work"), "role_arn"), "arn:x"));
    assert_true(str_is_null(s3_profile_get(credentials, config, STR("other"), "region")));
    assert_true(str_is_null(s3_profile_get(STR_NULL, STR_NULL, STR("default"), "region")));
    assert_true(str_is_null(s3_profile_get(STR("aws_access_key_id=x"), STR(""), STR("default"), "aws_access_key_id")));
}

/* ---- settings ---- */

typedef struct pair {
    const char *key, *value;
} pair;

static str get_pair(void *ctx, const char *key) {
    for (const pair *p = ctx; p->key; p++)
        if (strcmp(p->key, key) == 0) return str_of(p->value);
    return STR_NULL;
}

static const char *pair_env(void *ctx, const char *name) {
    for (const pair *p = ctx; p->key; p++)
        if (strcmp(p->key, name) == 0) return p->value;
    return NULL;
}

static const pair nothing[] = {{NULL, NULL}};

static silt_status read_settings(const char *bucket, const pair *pairs, const pair *env, arena *a, s3_settings *out, silt_error *err) {
    store_settings s = {.get = get_pair, .ctx = (void *)(uintptr_t)pairs};
    return s3_settings_read("s3a", str_of(bucket), &s, pair_env, (void *)(uintptr_t)env, a, out, err);
}

static void places(void **state) {
    (void)state;
    arena *a = arena_new();
    s3_settings s;
    assert_int_equal(read_settings("b-1", nothing, nothing, a, &s, NULL), SILT_OK);
    assert_true(s.tls && !s.path_style && str_is_null(s.endpoint) && str_eqz(s.region, "us-east-1"));
    const pair minio[] = {{"spark.hadoop.fs.s3a.endpoint", "http://127.0.0.1:9000/"}, {"fs.s3a.endpoint.region", "x"}, {NULL, NULL}};
    assert_int_equal(read_settings("b-1", minio, nothing, a, &s, NULL), SILT_OK);
    assert_true(!s.tls && s.path_style && str_eqz(s.endpoint, "127.0.0.1:9000") && str_eqz(s.region, "x"));
    const pair named[] = {{"fs.s3a.endpoint", "store.example.com:443"}, {NULL, NULL}};
    assert_int_equal(read_settings("b-1", named, nothing, a, &s, NULL), SILT_OK);
    assert_true(s.tls && !s.path_style && str_eqz(s.endpoint, "store.example.com")); /* the usual port is not in the Host header */
    const pair aws[] = {{"fs.s3a.endpoint", "s3.eu-central-1.amazonaws.com"}, {NULL, NULL}};
    assert_int_equal(read_settings("b-1", aws, nothing, a, &s, NULL), SILT_OK);
    assert_true(str_is_null(s.endpoint) && str_eqz(s.region, "eu-central-1"));
    const pair two[] = {{"fs.s3a.endpoint", "all.example.com"}, {"fs.s3a.bucket.b-1.endpoint", "mine.example.com"}, {"fs.s3a.path.style.access", "true"},
                        {"fs.s3a.connection.ssl.enabled", "false"}, {NULL, NULL}};
    assert_int_equal(read_settings("b-1", two, nothing, a, &s, NULL), SILT_OK);
    assert_true(str_eqz(s.endpoint, "mine.example.com") && s.path_style && !s.tls);
    assert_int_equal(read_settings("other", two, nothing, a, &s, NULL), SILT_OK);
    assert_true(str_eqz(s.endpoint, "all.example.com"));
    const pair env[] = {{"AWS_REGION", "eu-north-1"}, {"AWS_ENDPOINT_URL_S3", "https://env.example.com"}, {NULL, NULL}};
    assert_int_equal(read_settings("b-1", nothing, env, a, &s, NULL), SILT_OK);
    assert_true(str_eqz(s.region, "eu-north-1") && str_eqz(s.endpoint, "env.example.com"));
    assert_int_equal(read_settings("with.dots", nothing, nothing, a, &s, NULL), SILT_OK);
    assert_true(s.path_style); /* no certificate is of *.*.s3… */
    arena_free(a);
}

static void bad_settings(void **state) {
    (void)state;
    arena *a = arena_new();
    s3_settings s;
    silt_error err = {0};
    assert_int_equal(read_settings("AKIA:hunter2@bucket", nothing, nothing, a, &s, &err), SILT_INVALID);
    assert_null(strstr(err.message, "hunter2"));
    assert_int_equal(read_settings("", nothing, nothing, a, &s, &err), SILT_INVALID);
    assert_int_equal(read_settings("a b", nothing, nothing, a, &s, &err), SILT_INVALID);
    const pair endpoint[] = {{"fs.s3a.endpoint", "http://evil/?sig=hunter2"}, {NULL, NULL}}, login[] = {{"fs.s3a.endpoint", "http://x:hunter2@evil/"}, {NULL, NULL}}, way[] = {{"silt.s3.commit", "fast"}, {NULL, NULL}},
               cse[] = {{"fs.s3a.encryption.algorithm", "CSE-KMS"}, {NULL, NULL}}, sse[] = {{"fs.s3a.encryption.algorithm", "ROT13"}, {NULL, NULL}},
               sse_c[] = {{"fs.s3a.encryption.algorithm", "SSE-C"}, {"fs.s3a.encryption.key", "c2VjcmV0"}, {NULL, NULL}};
    assert_int_equal(read_settings("b-1", endpoint, nothing, a, &s, &err), SILT_INVALID);
    assert_null(strstr(err.message, "hunter2"));
    assert_int_equal(read_settings("b-1", login, nothing, a, &s, &err), SILT_INVALID);
    assert_null(strstr(err.message, "hunter2"));
    assert_int_equal(read_settings("b-1", way, nothing, a, &s, &err), SILT_INVALID);
    assert_int_equal(read_settings("b-1", cse, nothing, a, &s, &err), SILT_UNSUPPORTED);
    assert_int_equal(read_settings("b-1", sse, nothing, a, &s, &err), SILT_INVALID);
    assert_int_equal(read_settings("b-1", sse_c, nothing, a, &s, &err), SILT_INVALID);
    assert_null(strstr(err.message, "c2VjcmV0"));
    arena_free(a);
}

static void ways_of_committing(void **state) {
    (void)state;
    static const struct {
        const char *key, *value, *key2, *value2;
        s3_commit way;
    } rows[] = {
        {"x", "", "y", "", S3_COMMIT_CONDITIONAL},
        {"spark.delta.logStore.s3a.impl", "io.delta.storage.S3DynamoDBLogStore", "y", "", S3_COMMIT_DYNAMODB},
        {"spark.delta.logStore.s3.impl", "io.delta.storage.S3DynamoDBLogStore", "y", "", S3_COMMIT_DYNAMODB},
        {"spark.delta.logStore.s3a.impl", "io.delta.storage.S3SingleDriverLogStore", "y", "", S3_COMMIT_CONDITIONAL},
        {"spark.delta.logStore.s3a.impl", "io.delta.storage.S3SingleDriverLogStore", "silt.s3.commit", "single-writer", S3_COMMIT_SINGLE_WRITER},
        {"spark.delta.logStore.s3a.impl", "com.example.MyLogStore", "y", "", S3_COMMIT_UNKNOWN},
        {"spark.delta.logStore.s3a.impl", "com.example.MyLogStore", "silt.s3.commit", "conditional", S3_COMMIT_CONDITIONAL},
        {"silt.s3.commit", "dynamodb", "y", "", S3_COMMIT_DYNAMODB},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        arena *a = arena_new();
        s3_settings s;
        const pair pairs[] = {{rows[i].key, rows[i].value}, {rows[i].key2, rows[i].value2}, {NULL, NULL}};
        assert_int_equal(read_settings("b-1", pairs, nothing, a, &s, NULL), SILT_OK);
        assert_int_equal(s.commit, rows[i].way);
        arena_free(a);
    }
}

static void headers_of_objects(void **state) {
    (void)state;
    arena *a = arena_new();
    s3_settings s;
    const pair kms[] = {{"fs.s3a.encryption.algorithm", "SSE-KMS"}, {"fs.s3a.encryption.key", "arn:key"}, {"fs.s3a.acl.default", "BucketOwnerFullControl"},
                        {"fs.s3a.requester.pays.enabled", "true"}, {"fs.s3a.create.storage.class", "standard_ia"}, {NULL, NULL}};
    assert_int_equal(read_settings("b-1", kms, nothing, a, &s, NULL), SILT_OK);
    assert_int_equal(s.n_fixed, 4);
    assert_true(str_eqz(s.fixed[0].value, "aws:kms") && str_eqz(s.fixed[1].value, "arn:key") && str_eqz(s.fixed[2].value, "bucket-owner-full-control"));
    assert_true(str_eqz(s.fixed[3].value, "STANDARD_IA") && s.requester_pays);
    const pair customer[] = {{"fs.s3a.encryption.algorithm", "SSE-C"}, {"fs.s3a.encryption.key", "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="}, {NULL, NULL}};
    assert_int_equal(read_settings("b-1", customer, nothing, a, &s, NULL), SILT_OK);
    assert_int_equal(s.n_customer_key, 3);
    assert_true(str_eqz(s.customer_key[2].value, "KYvwGXoFFJ42a2u2GDWhwQ==")); /* openssl dgst -md5 -binary | base64 */
    arena_free(a);
}

/* ---- XML ---- */

static void pages(void **state) {
    (void)state;
    arena *a = arena_new();
    object_page p;
    /* Source: S3 API Reference, ListObjectsV2, response syntax */
    assert_true(s3_page_parse(STR("<?xml version=\"1.0\" encoding=\"UTF-8\"?><ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>b</Name><Prefix/>"
                                  "<IsTruncated>true</IsTruncated><NextContinuationToken>1/+=</NextContinuationToken><Contents><Key>a &amp; \xc3\xa9&#32;</Key>"
                                  "<LastModified>2009-10-12T17:50:30.000Z</LastModified><ETag>&quot;fba9&quot;</ETag><Size>434234</Size></Contents>"
                                  "<CommonPrefixes><Prefix>p/</Prefix></CommonPrefixes></ListBucketResult>"),
                              a, &p));
    assert_int_equal(p.count, 2);
    assert_true(str_eqz(p.items[0].key, "a & \xc3\xa9 ") && str_eqz(p.items[0].tag, "\"fba9\"") && p.items[0].size_bytes == 434234);
    assert_int_equal(p.items[0].modified_ms, 1255369830000);
    assert_true(p.items[1].is_folder && str_eqz(p.items[1].key, "p/") && str_eqz(p.next, "1/+="));
    static const char *const broken[] = {
        "", "no xml", "<Error><Code>x</Code></Error>", "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
        "<ListBucketResult><Contents><Key>k</Key></Contents></ListBucketResult>",
        "<ListBucketResult><Contents><Key>k</Key><Size>-1</Size><LastModified>2009-10-12T17:50:30.000Z</LastModified></Contents></ListBucketResult>",
        "<!DOCTYPE l [<!ENTITY a \"aaaa\">]><ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>",
        "<ListBucketResult><Contents><Key>k</Key><Size>1</Size><LastModified>2009-10-12T17:50:30.000Z</LastModified></Contents>",
    };
    for (size_t i = 0; i < ARRAY_LEN(broken); i++) assert_false(s3_page_parse(str_of(broken[i]), a, &p));
    arena_free(a);
}

static void faults(void **state) {
    (void)state;
    arena *a = arena_new();
    s3_fault f;
    assert_true(s3_fault_parse(STR("<Error><Code>AuthorizationHeaderMalformed</Code><Message>m</Message><Region>eu-west-1</Region></Error>"), a, &f));
    assert_true(str_eqz(f.code, "AuthorizationHeaderMalformed") && str_eqz(f.region, "eu-west-1"));
    assert_true(s3_fault_parse(STR("<ErrorResponse xmlns=\"x\"><Error><Type>Sender</Type><Code>AccessDenied</Code></Error></ErrorResponse>"), a, &f));
    assert_true(str_eqz(f.code, "AccessDenied") && str_is_null(f.message));
    assert_false(s3_fault_parse(STR("<html><body>502</body></html>"), a, &f));
    assert_true(str_eqz(s3_xml_text(STR("<a><b><c/><d>x</d></b><d>y</d></a>"), "d", a), "x"));
    assert_true(str_is_null(s3_xml_text(STR("<a><b/></a>"), "d", a)));
    buf b;
    buf_init(&b, 1000);
    assert_true(s3_xml_write(&b, STR("a<&>\"")));
    assert_true(str_eqz(buf_str(&b), "a&lt;&amp;&gt;\""));
    assert_false(s3_xml_write(&b, STR("\x01")));
    assert_false(s3_xml_write(&b, STR("\xff")));
    buf_dispose(&b);
    arena_free(a);
}

static void grants(void **state) {
    (void)state;
    arena *a = arena_new();
    s3_grant g;
    /* Source: EC2 User Guide, "Retrieve security credentials from instance metadata" */
    assert_true(s3_grant_parse(STR("{\"Code\":\"Success\",\"LastUpdated\":\"2012-04-26T16:39:16Z\",\"Type\":\"AWS-HMAC\",\"AccessKeyId\":\"ASIAIOSFODNN7EXAMPLE\","
                                   "\"SecretAccessKey\":\"wJalr\",\"Token\":\"token\",\"Expiration\":\"2017-05-17T15:09:54Z\"}"),
                               a, &g));
    assert_true(str_eqz(g.identity.session_token, "token") && g.expires_ms == 1495033794000);
    assert_false(s3_grant_parse(STR("{\"Code\":\"AssumeRoleUnauthorizedAccess\"}"), a, &g));
    assert_false(s3_grant_parse(STR("nonsense"), a, &g));
    assert_false(s3_grant_parse(STR("{\"AccessKeyId\":\"a\",\"SecretAccessKey\":\"b\",\"Expiration\":\"soon\"}"), a, &g));
    arena_free(a);
}

/* ---- DynamoDB ---- */

static void entries(void **state) {
    (void)state;
    arena *a = arena_new();
    const json_node *root;
    dynamodb_entry e, again;
    buf b;
    buf_init(&b, 10000);
    str text = STR("{\"tablePath\":{\"S\":\"s3a://b/t\"},\"fileName\":{\"S\":\"00000000000000000001.json\"},\"tempPath\":{\"S\":\".tmp/00000000000000000001.json.u\"},"
                   "\"complete\":{\"S\":\"true\"},\"expireTime\":{\"N\":\"1700000000\"}}");
    assert_int_equal(json_parse(text, a, &root, NULL), SILT_OK);
    assert_true(dynamodb_entry_parse(root, a, &e));
    assert_true(e.complete && e.expire_s == 1700000000 && str_eqz(e.table_path, "s3a://b/t"));
    dynamodb_entry_write(&e, &b);
    assert_true(str_eq(buf_str(&b), text)); /* the attributes are exactly these */
    e.complete = false;
    e.expire_s = -1;
    buf_clear(&b);
    dynamodb_entry_write(&e, &b);
    assert_true(str_find(buf_str(&b), STR("expireTime")) == SIZE_MAX && str_find(buf_str(&b), STR("\"complete\":{\"S\":\"false\"}")) != SIZE_MAX);
    assert_int_equal(json_parse(STR("{\"tablePath\":{\"S\":\"t\"}}"), a, &root, NULL), SILT_OK);
    assert_false(dynamodb_entry_parse(root, a, &again));
    buf_dispose(&b);
    arena_free(a);
}

static void names_of_commits(void **state) {
    (void)state;
    assert_true(dynamodb_is_commit(STR("/t/_delta_log/00000000000000000001.json")));
    assert_false(dynamodb_is_commit(STR("/t/_delta_log/00000000000000000001.crc")));
    assert_false(dynamodb_is_commit(STR("/t/_delta_log/0000000000000000001x.json")));
    assert_false(dynamodb_is_commit(STR("/t/00000000000000000001.json")));
    assert_false(dynamodb_is_commit(STR("/t/_delta_log/.tmp/00000000000000000001.json")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_signatures),
        cmocka_unit_test(a_kept_key_signs_as_a_derived_one), cmocka_unit_test(sums),   cmocka_unit_test(profiles),
        cmocka_unit_test(places),               cmocka_unit_test(bad_settings), cmocka_unit_test(ways_of_committing),
        cmocka_unit_test(headers_of_objects),   cmocka_unit_test(pages),  cmocka_unit_test(faults),
        cmocka_unit_test(grants),               cmocka_unit_test(entries), cmocka_unit_test(names_of_commits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
