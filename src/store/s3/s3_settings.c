/* What is configured: Hadoop's fs.s3a.* keys (those of the bucket before those of all), then the AWS environment variables. */
#include <ctype.h>
#include <stdio.h>

#include "base/ident.h"
#include "store/s3/s3.h"

str s3_setting_of_bucket(const store_settings *s, str bucket, const char *rest) {
    char key[512];
    int n = snprintf(key, sizeof key, "fs.s3a.bucket.%.*s.%s", STR_ARG(bucket), rest);
    str value = n > 0 && (size_t)n < sizeof key ? str_trim(store_setting(s, key)) : STR_NULL;
    return value.len ? value : STR_NULL;
}

static str of_all(const store_settings *s, const char *rest) {
    char key[256];
    int n = snprintf(key, sizeof key, "fs.s3a.%s", rest);
    return n > 0 && (size_t)n < sizeof key ? store_setting(s, key) : STR_NULL;
}

str s3_setting(const store_settings *s, str bucket, const char *rest) {
    str value = s3_setting_of_bucket(s, bucket, rest);
    if (value.len == 0) value = str_trim(of_all(s, rest));
    return value.len ? value : STR_NULL;
}

static bool flag(const store_settings *s, str bucket, const char *rest, bool absent) {
    str value = s3_setting(s, bucket, rest);
    if (str_eq_ascii_fold(value, STR("true"))) return true;
    return str_eq_ascii_fold(value, STR("false")) ? false : absent;
}

static str env_str(s3_env env, void *ctx, const char *name) {
    str value = str_trim(str_of(env(ctx, name)));
    return value.len ? value : STR_NULL;
}

/* ---- the bucket ---- */

/* What stands before an '@' in a location is a secret in an old style of writing it: it is not repeated. */
static silt_status check_bucket(str bucket, silt_error *err) {
    if (str_find_char(bucket, '@') != SIZE_MAX)
        return err_INVALID_PARAMETER_VALUE(err, STR("bucket"), STR("…@…"), "a bucket's name alone; give credentials by fs.s3a.access.key and fs.s3a.secret.key");
    bool ok = bucket.len >= 3 && bucket.len <= 255 && isalnum((unsigned char)bucket.ptr[0]);
    for (size_t i = 0; ok && i < bucket.len; i++) ok = isalnum((unsigned char)bucket.ptr[i]) || strchr(".-_", bucket.ptr[i]) != NULL;
    return ok ? SILT_OK : err_INVALID_PARAMETER_VALUE(err, STR("bucket"), bucket, "letters, digits, '.', '-' and '_'");
}

/* ---- where it is ---- */

static bool is_ip_or_local(str host) {
    size_t colon = str_rfind_char(host, ':');
    if (host.len > 0 && host.ptr[0] == '[') return true;
    if (colon != SIZE_MAX) host = str_slice(host, 0, colon);
    bool digits = host.len > 0;
    for (size_t i = 0; i < host.len; i++) digits = digits && (isdigit((unsigned char)host.ptr[i]) || host.ptr[i] == '.');
    return digits || str_eqz(host, "localhost");
}

/* A name that can stand before a host, also in its TLS certificate. */
static bool is_dns_label(str bucket, bool tls) {
    for (size_t i = 0; i < bucket.len; i++) {
        char c = bucket.ptr[i];
        if (isupper((unsigned char)c) || c == '_' || (c == '.' && tls)) return false;
    }
    return true;
}

static bool is_amazon(str host) { return str_ends_with(host, STR(".amazonaws.com")) || str_ends_with(host, STR(".amazonaws.com.cn")); }

static bool is_of_google(str host) { return str_eqz(host, "storage.googleapis.com") || str_ends_with(host, STR(".storage.googleapis.com")); }

/* The region in "s3.eu-west-1.amazonaws.com" or "s3-eu-west-1.amazonaws.com"; null when there is none. */
static str region_of_host(str host) {
    size_t end = str_find(host, STR(".amazonaws.com"));
    if (end == SIZE_MAX || end < 4 || !str_starts_with(host, STR("s3"))) return STR_NULL;
    str region = str_slice(host, 3, end);
    if (str_starts_with(region, STR("dualstack."))) region = str_slice(region, 10, region.len);
    return str_find_char(region, '.') == SIZE_MAX && region.len && str_find_char(region, '-') != SIZE_MAX ? region : STR_NULL;
}

static str without_scheme(str endpoint, s3_settings *out) {
    if (str_starts_with(endpoint, STR("http://"))) out->tls = false;
    if (str_starts_with(endpoint, STR("https://"))) out->tls = true;
    size_t scheme = str_find(endpoint, STR("://"));
    if (scheme != SIZE_MAX) endpoint = str_slice(endpoint, scheme + 3, endpoint.len);
    while (endpoint.len && endpoint.ptr[endpoint.len - 1] == '/') endpoint.len--;
    /* The port that goes without saying is not sent in the Host header either, which is signed. */
    str usual = out->tls ? STR(":443") : STR(":80");
    return str_ends_with(endpoint, usual) ? str_slice(endpoint, 0, endpoint.len - usual.len) : endpoint;
}

static silt_status check_host(str host, silt_error *err) {
    bool ok = host.len > 0;
    for (size_t i = 0; ok && i < host.len; i++) ok = isalnum((unsigned char)host.ptr[i]) || strchr(".-_:[]/", host.ptr[i]) != NULL;
    bool may_be_secret = str_find_char(host, '?') != SIZE_MAX || str_find_char(host, '@') != SIZE_MAX;
    return ok ? SILT_OK : err_INVALID_PARAMETER_VALUE(err, STR("fs.s3a.endpoint"), may_be_secret ? STR("…") : host, "a host, with a port or not, or its http or https URL");
}

static silt_status read_place(const store_settings *s, s3_env env, void *ctx, arena *a, s3_settings *out, silt_error *err) {
    str endpoint = s3_setting(s, out->bucket, "endpoint"), region = s3_setting(s, out->bucket, "endpoint.region");
    if (str_is_null(endpoint)) endpoint = env_str(env, ctx, "AWS_ENDPOINT_URL_S3");
    if (str_is_null(endpoint)) endpoint = env_str(env, ctx, "AWS_ENDPOINT_URL");
    out->tls = flag(s, out->bucket, "connection.ssl.enabled", true);
    if (!str_is_null(endpoint)) {
        out->endpoint = arena_str(a, without_scheme(endpoint, out));
        if (str_is_null(out->endpoint)) return error_no_memory(err);
        TRY(check_host(out->endpoint, err));
        out->google = is_of_google(out->endpoint);
    }
    if (str_is_null(region)) region = region_of_host(out->endpoint);
    if (str_is_null(region)) region = env_str(env, ctx, "AWS_REGION");
    if (str_is_null(region)) region = env_str(env, ctx, "AWS_DEFAULT_REGION");
    if (str_is_null(region)) region = STR("us-east-1");
    out->region = arena_str(a, region);
    if (str_is_null(out->region)) return error_no_memory(err);
    if (is_amazon(out->endpoint) && (str_eqz(out->endpoint, "s3.amazonaws.com") || !str_is_null(region_of_host(out->endpoint)))) {
        bool plain = str_find(out->endpoint, STR("dualstack")) == SIZE_MAX && str_find(out->endpoint, STR("fips")) == SIZE_MAX;
        if (plain) out->endpoint = STR_NULL; /* AWS by region, which may be corrected later */
    }
    out->path_style = flag(s, out->bucket, "path.style.access", false) || !is_dns_label(out->bucket, out->tls) ||
                      (!str_is_null(out->endpoint) && (is_ip_or_local(out->endpoint) || str_find_char(out->endpoint, '/') != SIZE_MAX));
    return SILT_OK;
}

/* ---- headers of objects ---- */

static bool fix(http_header *headers, size_t *n, const char *name, str value) {
    headers[(*n)++] = (http_header){str_of(name), value};
    return !str_is_null(value);
}

/* SSE-C: the service forgets the key; each request about the object brings it. */
static silt_status read_customer_key(str key, arena *a, s3_settings *out, silt_error *err) {
    buf raw, sum;
    char md5[33];
    uint8_t digest[16];
    buf_init(&raw, 4096);
    buf_init(&sum, 4096);
    bool ok = base64_decode(key, &raw) && raw.len == 32;
    if (ok) {
        md5_hex(raw.ptr, raw.len, md5);
        for (int i = 0; i < 16; i++) {
            unsigned byte = 0;
            sscanf(md5 + 2 * i, "%2x", &byte);
            digest[i] = (uint8_t)byte;
        }
        base64_write(&sum, digest, sizeof digest);
    }
    silt_status status = ok && buf_ok(&sum) ? SILT_OK : raw.capacity == 0 || sum.failed ? error_no_memory(err)
                         : err_INVALID_PARAMETER_VALUE(err, STR("fs.s3a.encryption.key"), STR("…"), "256 bits in base64");
    if (ok && !out->tls) status = err_INVALID_PARAMETER_VALUE(err, STR("fs.s3a.encryption.algorithm"), STR("SSE-C"), "a connection with TLS, because the key is sent along");
    if (status == SILT_OK) {
        bool kept = fix(out->customer_key, &out->n_customer_key, "x-amz-server-side-encryption-customer-algorithm", STR("AES256")) &&
                    fix(out->customer_key, &out->n_customer_key, "x-amz-server-side-encryption-customer-key", arena_str(a, key)) &&
                    fix(out->customer_key, &out->n_customer_key, "x-amz-server-side-encryption-customer-key-MD5", arena_str(a, buf_str(&sum)));
        if (!kept) status = error_no_memory(err);
    }
    buf_dispose(&raw);
    buf_dispose(&sum);
    return status;
}

static silt_status read_encryption(const store_settings *s, arena *a, s3_settings *out, silt_error *err) {
    str algorithm = s3_setting(s, out->bucket, "encryption.algorithm"), key = s3_setting(s, out->bucket, "encryption.key");
    if (str_is_null(algorithm)) algorithm = s3_setting(s, out->bucket, "server-side-encryption-algorithm");
    if (str_is_null(key)) key = s3_setting(s, out->bucket, "server-side-encryption.key");
    if (str_is_null(algorithm)) return SILT_OK;
    bool kms = str_eqz(algorithm, "SSE-KMS"), double_kms = str_eqz(algorithm, "DSSE-KMS");
    if (str_eqz(algorithm, "SSE-C")) return read_customer_key(key, a, out, err);
    if (str_eqz(algorithm, "CSE-KMS") || str_eqz(algorithm, "CSE-CUSTOM")) return err_UNSUPPORTED_FEATURE(err, "client-side encryption on S3 (fs.s3a.encryption.algorithm)");
    if (!kms && !double_kms && !str_eqz(algorithm, "AES256") && !str_eqz(algorithm, "SSE-S3"))
        return err_INVALID_PARAMETER_VALUE(err, STR("fs.s3a.encryption.algorithm"), algorithm, "AES256, SSE-KMS, DSSE-KMS or SSE-C");
    bool ok = fix(out->fixed, &out->n_fixed, "x-amz-server-side-encryption", kms ? STR("aws:kms") : double_kms ? STR("aws:kms:dsse") : STR("AES256"));
    if ((kms || double_kms) && !str_is_null(key)) ok = ok && fix(out->fixed, &out->n_fixed, "x-amz-server-side-encryption-aws-kms-key-id", arena_str(a, key));
    return ok ? SILT_OK : error_no_memory(err);
}

#define ACL_MAX 64

/* Hadoop writes the ACLs as Java's constants, "BucketOwnerFullControl"; S3 as "bucket-owner-full-control". */
static silt_status read_acl(const store_settings *s, arena *a, s3_settings *out, silt_error *err) {
    str acl = s3_setting(s, out->bucket, "acl.default");
    if (str_is_null(acl)) return SILT_OK;
    buf text;
    buf_init(&text, BUF_MAX_DEFAULT);
    for (size_t i = 0; i < acl.len && i <= ACL_MAX; i++) {
        if (isupper((unsigned char)acl.ptr[i]) && i > 0) buf_append_char(&text, '-');
        buf_append_char(&text, (char)tolower((unsigned char)acl.ptr[i]));
    }
    bool ok = buf_ok(&text) && fix(out->fixed, &out->n_fixed, "x-amz-acl", arena_str(a, buf_str(&text)));
    buf_dispose(&text);
    if (acl.len > ACL_MAX) return err_INVALID_PARAMETER_VALUE(err, STR("fs.s3a.acl.default"), acl, "the name of a canned ACL");
    return ok ? SILT_OK : error_no_memory(err);
}

/* Google refuses requests that hold headers of both families. */
static void rename_for_google(s3_settings *out) {
    for (size_t i = 0; i < out->n_fixed; i++) out->fixed[i].name = str_eqz(out->fixed[i].name, "x-amz-acl") ? STR("x-goog-acl") : STR("x-goog-storage-class");
    out->requester_pays = false;
}

static silt_status refuse_for_google(const store_settings *s, const s3_settings *out, silt_error *err) {
    static const char *const keys[] = {"encryption.algorithm", "server-side-encryption-algorithm", "requester.pays.enabled"};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        str value = s3_setting(s, out->bucket, keys[i]);
        if (str_is_null(value) || str_eq_ascii_fold(value, STR("false"))) continue;
        return err_UNSUPPORTED_FEATURE(err, "encryption and requester pays by fs.s3a.* on Google Cloud Storage; use gs://, or leave that to the bucket; it");
    }
    return SILT_OK;
}

static silt_status read_headers(const store_settings *s, arena *a, s3_settings *out, silt_error *err) {
    if (out->google) TRY(refuse_for_google(s, out, err));
    TRY(read_encryption(s, a, out, err));
    TRY(read_acl(s, a, out, err));
    str storage = s3_setting(s, out->bucket, "create.storage.class");
    out->requester_pays = flag(s, out->bucket, "requester.pays.enabled", false);
    if (str_is_null(storage)) return SILT_OK;
    str upper = arena_str(a, storage);
    if (str_is_null(upper)) return error_no_memory(err);
    for (size_t i = 0; i < upper.len; i++) ((char *)(uintptr_t)upper.ptr)[i] = (char)toupper((unsigned char)upper.ptr[i]);
    return fix(out->fixed, &out->n_fixed, "x-amz-storage-class", upper) ? SILT_OK : error_no_memory(err);
}

/* ---- committing ---- */

/* Of this scheme, of another (one table is named by several), or of all. */
str s3_log_store(const store_settings *s, const char *scheme) {
    static const char *const keys[] = {"spark.delta.logStore.s3a.impl", "spark.delta.logStore.s3.impl", "spark.delta.logStore.s3n.impl", "spark.delta.logStore.class"};
    char own[64];
    snprintf(own, sizeof own, "spark.delta.logStore.%s.impl", scheme);
    str value = str_trim(store_setting(s, own));
    for (size_t i = 0; i < ARRAY_LEN(keys) && value.len == 0; i++) value = str_trim(store_setting(s, keys[i]));
    return value.len ? value : STR_NULL;
}

static str class_name(str path) {
    size_t dot = str_rfind_char(path, '.');
    return dot == SIZE_MAX ? path : str_slice(path, dot + 1, path.len);
}

static silt_status read_commit(const store_settings *s, arena *a, s3_settings *out, silt_error *err) {
    str way = str_trim(store_setting(s, "silt.s3.commit")), log_store = s3_log_store(s, out->scheme), name = class_name(log_store);
    out->commit = S3_COMMIT_CONDITIONAL;
    if (way.len == 0 && str_eqz(name, "S3DynamoDBLogStore")) out->commit = S3_COMMIT_DYNAMODB;
    /* Delta's default, and its name by hand: more than one writer is not asked for by that, so the safe way is taken. */
    else if (way.len == 0 && !str_is_null(log_store) && !str_eqz(name, "S3SingleDriverLogStore")) out->commit = S3_COMMIT_UNKNOWN;
    if (way.len == 0 || str_eqz(way, "conditional")) {
        out->log_store = str_is_null(log_store) ? STR_NULL : arena_str(a, log_store);
        return str_is_null(log_store) == str_is_null(out->log_store) ? SILT_OK : error_no_memory(err);
    }
    if (str_eqz(way, "dynamodb")) out->commit = S3_COMMIT_DYNAMODB;
    else if (str_eqz(way, "single-writer")) out->commit = S3_COMMIT_SINGLE_WRITER;
    else return err_INVALID_PARAMETER_VALUE(err, STR("silt.s3.commit"), way, "conditional, dynamodb or single-writer");
    return SILT_OK;
}

/* ---- the connection ---- */

static silt_status read_proxy(const store_settings *s, arena *a, s3_settings *out, silt_error *err) {
    str host = s3_setting(s, out->bucket, "proxy.host"), port = s3_setting(s, out->bucket, "proxy.port");
    str user = s3_setting(s, out->bucket, "proxy.username"), password = s3_setting(s, out->bucket, "proxy.password");
    const char *scheme = flag(s, out->bucket, "proxy.ssl.enabled", false) ? "https" : "http";
    if (str_is_null(host)) return SILT_OK;
    str login = STR("");
    if (!str_is_null(user)) {
        str name = http_encode(user, false, a), word = http_encode(password, false, a);
        login = str_is_null(name) || str_is_null(word) ? STR_NULL : arena_printf(a, "%.*s:%.*s@", STR_ARG(name), STR_ARG(word));
    }
    out->proxy = arena_printf(a, "%s://%.*s%.*s%s%.*s", scheme, STR_ARG(login), STR_ARG(host), str_is_null(port) ? "" : ":", STR_ARG(port));
    return str_is_null(login) || str_is_null(out->proxy) ? error_no_memory(err) : SILT_OK;
}

static silt_status read_count(const store_settings *s, str bucket, const char *rest, int most, int *out, silt_error *err) {
    str value = s3_setting(s, bucket, rest);
    int64_t n = 0;
    if (str_is_null(value)) return SILT_OK;
    if (!str_to_i64(value, &n) || n < 1) return err_INVALID_PARAMETER_VALUE(err, str_of(rest), value, "a whole number above 0");
    *out = n > most ? most : (int)n;
    return SILT_OK;
}

static silt_status read_memory_folder(s3_env env, void *ctx, arena *a, s3_settings *out, silt_error *err) {
    str cache = env_str(env, ctx, "XDG_CACHE_HOME"), home = env_str(env, ctx, "HOME");
    if (!str_is_null(cache)) out->memory_folder = arena_printf(a, "%.*s/silt", STR_ARG(cache));
    else if (!str_is_null(home)) out->memory_folder = arena_printf(a, "%.*s/.cache/silt", STR_ARG(home));
    return (str_is_null(cache) && str_is_null(home)) || !str_is_null(out->memory_folder) ? SILT_OK : error_no_memory(err);
}

static silt_status read_connection(const store_settings *s, s3_env env, void *ctx, arena *a, s3_settings *out, silt_error *err) {
    str ca = str_trim(store_setting(s, "silt.s3.caFile"));
    TRY(read_proxy(s, a, out, err));
    TRY(read_count(s, out->bucket, "connection.maximum", 1000, &out->max_connections, err));
    TRY(read_count(s, out->bucket, "attempts.maximum", 20, &out->max_attempts, err));
    if (ca.len == 0) ca = env_str(env, ctx, "AWS_CA_BUNDLE");
    if (!str_is_null(ca)) out->ca_file = arena_str(a, ca);
    return str_is_null(ca) == str_is_null(out->ca_file) ? read_memory_folder(env, ctx, a, out, err) : error_no_memory(err);
}
silt_status s3_settings_read(const char *scheme, str authority, const store_settings *s, s3_env env, void *ctx, arena *a, s3_settings *out, silt_error *err) {
    *out = (s3_settings){.scheme = scheme, .keys.access_key = STR_NULL, .endpoint = STR_NULL, .log_store = STR_NULL, .ca_file = STR_NULL, .proxy = STR_NULL, .memory_folder = STR_NULL};
    TRY(check_bucket(authority, err));
    out->bucket = arena_str(a, authority);
    if (str_is_null(out->bucket)) return error_no_memory(err);
    TRY(read_place(s, env, ctx, a, out, err));
    TRY(read_headers(s, a, out, err));
    if (out->google) rename_for_google(out);
    TRY(read_commit(s, a, out, err));
    return read_connection(s, env, ctx, a, out, err);
}

static bool keep(arena *a, str value, str *out) {
    *out = str_is_null(value) ? STR_NULL : arena_str(a, value);
    return str_is_null(value) == str_is_null(*out);
}

silt_status s3_settings_google(const s3_google *g, const store_settings *s, s3_env env, void *ctx, arena *a, s3_settings *out, silt_error *err) {
    *out = (s3_settings){.scheme = "gs", .google = true, .path_style = true, .tls = true, .region = STR("auto"), .log_store = STR_NULL, .memory_folder = STR_NULL, .keys.session_token = STR_NULL};
    str ca = str_trim(store_setting(s, "silt.gcs.caFile")), proxy = str_trim(store_setting(s, "silt.gcs.proxy"));
    bool ok = keep(a, g->bucket, &out->bucket) && keep(a, without_scheme(g->endpoint, out), &out->endpoint) && keep(a, ca.len ? ca : STR_NULL, &out->ca_file) &&
              keep(a, proxy.len ? proxy : STR_NULL, &out->proxy) && keep(a, g->keys.access_key, &out->keys.access_key) && keep(a, g->keys.secret_key, &out->keys.secret_key);
    return ok ? read_memory_folder(env, ctx, a, out, err) : error_no_memory(err);
}
