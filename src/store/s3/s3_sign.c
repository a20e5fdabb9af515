/*
 * Signature Version 4. Source: AWS, "Create a signed AWS API request", and for S3 "Authenticating Requests: Using the Authorization Header".
 * Google's ("Signatures", "Canonical requests" of Cloud Storage) is the same with other words. The URL's path and query are signed as they are sent: this store encodes them once, by RFC 3986, which is the canonical form for S3 (other services' paths are "/").
 */
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/time.h"
#include "store/s3/s3.h"

#define SHA256_BYTES 32
#define STAMP_BYTES  64 /* 20130524T000000Z; more, so that the compiler sees that any number fits */

static void hex(const uint8_t *bytes, char out[65]) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < SHA256_BYTES; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[64] = '\0';
}

void s3_sha256_hex(str bytes, char out[65]) {
    static const char of_nothing[65] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"; /* which reading sends */
    if (bytes.len == 0) {
        memcpy(out, of_nothing, sizeof of_nothing);
        return;
    }
    uint8_t digest[EVP_MAX_MD_SIZE];
    if (EVP_Digest(bytes.ptr, bytes.len, digest, NULL, EVP_sha256(), NULL)) hex(digest, out);
    else out[0] = '\0';
}

static void hmac(const uint8_t *key, size_t key_len, str text, uint8_t out[SHA256_BYTES]) {
    unsigned len = SHA256_BYTES;
    HMAC(EVP_sha256(), key, (int)key_len, (const uint8_t *)text.ptr, text.len, out, &len);
}

/* ---- the canonical request ---- */

static void split_url(str url, str *out_host, str *out_path, str *out_query) {
    size_t scheme = str_find(url, STR("://"));
    str rest = scheme == SIZE_MAX ? url : str_slice(url, scheme + 3, url.len);
    size_t query = str_find_char(rest, '?');
    *out_query = query == SIZE_MAX ? STR("") : str_slice(rest, query + 1, rest.len);
    if (query != SIZE_MAX) rest = str_slice(rest, 0, query);
    size_t slash = str_find_char(rest, '/');
    *out_host = slash == SIZE_MAX ? rest : str_slice(rest, 0, slash);
    *out_path = slash == SIZE_MAX ? STR("/") : str_slice(rest, slash, rest.len);
}

static int compare_headers(const void *x, const void *y) {
    const http_header *p = x, *q = y;
    int c = str_cmp(p->name, q->name);
    return c ? c : str_cmp(p->value, q->value);
}

/* Parameters ascending, each with its '='. */
static bool write_query(buf *out, str query, arena *a) {
    http_header *pairs = NULL;
    size_t n = 0, capacity = 0;
    str piece;
    while (str_next(&query, '&', &piece)) {
        if (piece.len == 0) continue;
        size_t equals = str_find_char(piece, '=');
        http_header p = {equals == SIZE_MAX ? piece : str_slice(piece, 0, equals), equals == SIZE_MAX ? STR("") : str_slice(piece, equals + 1, piece.len)};
        if (!ARENA_PUSH(a, pairs, n, capacity, p)) return false;
    }
    if (n > 1) qsort(pairs, n, sizeof *pairs, compare_headers);
    for (size_t i = 0; i < n; i++) buf_printf(out, "%s%.*s=%.*s", i ? "&" : "", STR_ARG(pairs[i].name), STR_ARG(pairs[i].value));
    return true;
}

/* Without white space at its ends, runs of spaces as one. */
static void write_value(buf *out, str value) {
    value = str_trim(value);
    for (size_t i = 0; i < value.len; i++)
        if (value.ptr[i] != ' ' || value.ptr[i - 1] != ' ') buf_append_char(out, value.ptr[i]);
}

static bool write_headers(buf *out, buf *names, const http_attempt *at, str host, arena *a) {
    size_t n = at->n_headers + 1;
    http_header *all = ARENA_ARRAY(a, n, http_header);
    if (!all) return false;
    all[0] = (http_header){STR("host"), host};
    for (size_t i = 0; i < at->n_headers; i++) {
        all[i + 1] = (http_header){arena_str_lower(a, at->headers[i].name), at->headers[i].value};
        if (str_is_null(all[i + 1].name)) return false;
    }
    qsort(all, n, sizeof *all, compare_headers);
    for (size_t i = 0; i < n; i++) {
        buf_append(out, all[i].name);
        buf_append_char(out, ':');
        write_value(out, all[i].value);
        buf_append_char(out, '\n');
        buf_printf(names, "%s%.*s", i ? ";" : "", STR_ARG(all[i].name));
    }
    return true;
}

static bool write_canonical(buf *out, buf *names, const char *method, const http_attempt *at, str payload) {
    str host, path, query;
    split_url(at->url, &host, &path, &query);
    buf_printf(out, "%s\n%.*s\n", method, STR_ARG(path));
    if (!write_query(out, query, at->arena)) return false;
    buf_append_char(out, '\n');
    if (!write_headers(out, names, at, host, at->arena)) return false;
    buf_append_char(out, '\n');
    buf_append(out, buf_str(names));
    buf_append_char(out, '\n');
    buf_append(out, payload);
    return buf_ok(out) && buf_ok(names);
}

/* ---- the signature ---- */

static void write_time(int64_t now_ms, char out[STAMP_BYTES]) {
    int64_t seconds = now_ms / 1000, days = seconds / 86400, of_day = seconds % 86400, year;
    int month, day;
    civil_from_days(days, &year, &month, &day);
    snprintf(out, STAMP_BYTES, "%04d%02d%02dT%02d%02d%02dZ", (int)(year % 10000), month, day, (int)(of_day / 3600), (int)(of_day / 60 % 60), (int)(of_day % 60));
}

static void add(http_attempt *at, const char *name, str value) { at->headers[at->n_headers++] = (http_header){str_of(name), value}; }

static bool is_google(const s3_signing *s) { return strcmp(s->service, "storage") == 0; }

void s3_signing_key_init(s3_signing_key *k) {
    *k = (s3_signing_key){.made_of_len = 0};
    pthread_mutex_init(&k->lock, NULL);
}

void s3_signing_key_dispose(s3_signing_key *k) {
    pthread_mutex_destroy(&k->lock);
    explicit_bzero(k, sizeof *k);
}

/* What a key is made of; 0: too long to be kept. */
static size_t made_of(const s3_signing *s, str day, char *out, size_t size) {
    int n = snprintf(out, size, "%.*s/%.*s/%s/%.*s", STR_ARG(day), STR_ARG(s->region), s->service, STR_ARG(s->identity->secret_key));
    return n > 0 && (size_t)n < size ? (size_t)n : 0;
}

static bool find_key(s3_signing_key *k, const char *of, size_t of_len, uint8_t key[SHA256_BYTES]) {
    pthread_mutex_lock(&k->lock);
    bool same = of_len > 0 && k->made_of_len == of_len && memcmp(k->made_of, of, of_len) == 0;
    if (same) memcpy(key, k->key, SHA256_BYTES);
    pthread_mutex_unlock(&k->lock);
    return same;
}

static void keep_key(s3_signing_key *k, const char *of, size_t of_len, const uint8_t key[SHA256_BYTES]) {
    if (of_len == 0) return;
    pthread_mutex_lock(&k->lock);
    explicit_bzero(k->made_of, sizeof k->made_of);
    memcpy(k->made_of, of, of_len);
    k->made_of_len = of_len;
    memcpy(k->key, key, SHA256_BYTES);
    pthread_mutex_unlock(&k->lock);
}

static bool derive_key(const s3_signing *s, str day, arena *a, uint8_t key[SHA256_BYTES]) {
    str first = arena_printf(a, "%s%.*s", is_google(s) ? "GOOG4" : "AWS4", STR_ARG(s->identity->secret_key));
    if (str_is_null(first)) return false;
    hmac((const uint8_t *)first.ptr, first.len, day, key);
    hmac(key, SHA256_BYTES, s->region, key);
    hmac(key, SHA256_BYTES, str_of(s->service), key);
    hmac(key, SHA256_BYTES, is_google(s) ? STR("goog4_request") : STR("aws4_request"), key);
    return true;
}

static bool get_key(const s3_signing *s, str day, arena *a, uint8_t key[SHA256_BYTES]) {
    char of[sizeof s->kept->made_of];
    if (!s->kept) return derive_key(s, day, a, key);
    size_t n = made_of(s, day, of, sizeof of);
    bool ok = find_key(s->kept, of, n, key);
    if (!ok && (ok = derive_key(s, day, a, key))) keep_key(s->kept, of, n, key);
    explicit_bzero(of, sizeof of);
    return ok;
}

static bool authorize(const s3_signing *s, const char *method, http_attempt *at, const char *stamp, buf *canonical, buf *names) {
    arena *a = at->arena;
    uint8_t key[SHA256_BYTES];
    char digest[65];
    str day = {stamp, 8};
    if (!write_canonical(canonical, names, method, at, s->payload)) return false;
    s3_sha256_hex(buf_str(canonical), digest);
    const char *algorithm = is_google(s) ? "GOOG4-HMAC-SHA256" : "AWS4-HMAC-SHA256", *end = is_google(s) ? "goog4_request" : "aws4_request";
    str scope = arena_printf(a, "%.*s/%.*s/%s/%s", STR_ARG(day), STR_ARG(s->region), s->service, end);
    str text = arena_printf(a, "%s\n%s\n%.*s\n%s", algorithm, stamp, STR_ARG(scope), digest);
    if (str_is_null(scope) || str_is_null(text) || !get_key(s, day, a, key)) return false;
    hmac(key, SHA256_BYTES, text, key);
    hex(key, digest);
    str value = arena_printf(a, "%s Credential=%.*s/%.*s,SignedHeaders=%.*s,Signature=%s", algorithm, STR_ARG(s->identity->access_key), STR_ARG(scope),
                             STR_ARG(buf_str(names)), digest);
    if (str_is_null(value)) return false;
    add(at, "Authorization", value);
    return true;
}

silt_status s3_sign(const s3_signing *s, const char *method, http_attempt *at, silt_error *err) {
    char stamp[STAMP_BYTES];
    buf canonical, names;
    write_time(s->now_ms, stamp);
    str stamp_copy = arena_str(at->arena, str_of(stamp));
    if (str_is_null(stamp_copy)) return error_no_memory(err);
    add(at, is_google(s) ? "x-goog-date" : "x-amz-date", stamp_copy);
    if (is_google(s)) add(at, "x-goog-content-sha256", s->payload);
    if (strcmp(s->service, "s3") == 0) add(at, "x-amz-content-sha256", s->payload);
    if (!str_is_null(s->identity->session_token)) add(at, "x-amz-security-token", s->identity->session_token);
    buf_init(&canonical, BUF_MAX_DEFAULT);
    buf_init(&names, BUF_MAX_DEFAULT);
    bool ok = authorize(s, method, at, stamp, &canonical, &names);
    buf_dispose(&canonical);
    buf_dispose(&names);
    return ok ? SILT_OK : error_no_memory(err);
}
