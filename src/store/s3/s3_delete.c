/* Removing many objects: DeleteObjects takes 1,000 keys in one request. A server that does not know it is asked for each object. */
#include <stdlib.h>

#include "base/ident.h"
#include "base/thread.h"
#include "base/uri.h"
#include "store/s3/s3.h"

#define BATCH    1000
#define REQUESTS 4

typedef struct removal {
    s3_store *s;
    str dir;
    const str *names;
    size_t n;
    silt_status *out;
    silt_error *first; /* under lock, as below */
    size_t first_at;
    pthread_mutex_t lock;
} removal;

static str key_of(const removal *r, size_t i, arena *a) {
    str path = path_join(a, r->dir, r->names[i]);
    return str_is_null(path) ? path : str_slice(path, 1, path.len);
}

static void note(removal *r, size_t i, silt_status status, const silt_error *why) {
    r->out[i] = status;
    if (status == SILT_OK || status == SILT_NOT_FOUND) return;
    pthread_mutex_lock(&r->lock);
    if (i < r->first_at) {
        r->first_at = i;
        if (r->first) *r->first = *why;
    }
    pthread_mutex_unlock(&r->lock);
}

static str md5_base64(str bytes, arena *a) {
    char hex[33];
    uint8_t raw[16];
    buf text;
    md5_hex(bytes.ptr, bytes.len, hex);
    for (int i = 0; i < 16; i++) {
        char pair[3] = {hex[2 * i], hex[2 * i + 1], '\0'};
        raw[i] = (uint8_t)strtoul(pair, NULL, 16);
    }
    buf_init(&text, 64);
    base64_write(&text, raw, sizeof raw);
    return buf_take(&text, a);
}

/* false: a name that XML cannot hold. */
static bool write_body(const removal *r, size_t from, size_t to, arena *a, str *keys, buf *out) {
    buf_append_z(out, "<Delete><Quiet>true</Quiet>");
    for (size_t i = from; i < to; i++) {
        keys[i - from] = key_of(r, i, a);
        buf_append_z(out, "<Object><Key>");
        if (str_is_null(keys[i - from]) || !s3_xml_write(out, keys[i - from])) return false;
        buf_append_z(out, "</Key></Object>");
    }
    buf_append_z(out, "</Delete>");
    return buf_ok(out);
}

static silt_status undeleted(removal *r, const s3_undeleted *u, silt_error *err) {
    char where[1100];
    size_t n = u->key.len < sizeof where ? u->key.len : sizeof where;
    memcpy(where, u->key.ptr, n);
    str key = {where, n};
    silt_status status = str_eqz(u->code, "AccessDenied") ? err_PERMISSION_DENIED(err, key) : err_STORE_REQUEST_FAILED(err, "Removing", r->s->base.where, 200);
    error_detail(err, "%.*s: %.*s", STR_ARG(key), STR_ARG(u->code));
    return status;
}

static void tell(removal *r, size_t from, size_t to, const str *keys, const s3_undeleted *left, size_t n_left) {
    silt_error none = {0};
    for (size_t i = from; i < to; i++) note(r, i, SILT_OK, &none);
    for (size_t k = 0; k < n_left; k++) {
        silt_error why = {0};
        silt_status status = str_eqz(left[k].code, "NoSuchKey") ? SILT_NOT_FOUND : undeleted(r, &left[k], &why);
        for (size_t i = from; i < to; i++)
            if (str_eq(keys[i - from], left[k].key)) note(r, i, status, &why);
    }
}

/* *done: whether the server took the request; otherwise each object has to be removed by itself. */
static silt_status send_batch(removal *r, size_t from, size_t to, arena *a, buf *body, bool *done, silt_error *err) {
    http_header headers[OBJECT_HEADERS];
    http_request q = {.method = "POST", .headers = headers, .repeatable = true};
    http_response answer;
    s3_undeleted *left;
    size_t n_left;
    str *keys = ARENA_ARRAY(a, to - from, str);
    *done = false;
    if (!keys) return error_no_memory(err);
    if (!write_body(r, from, to, a, keys, body)) return SILT_OK;
    str url = s3_url(r->s, STR(""), a);
    q.url = arena_printf(a, "%.*s?delete=", STR_ARG(url));
    q.body = buf_str(body);
    headers[0] = (http_header){STR("Content-MD5"), md5_base64(q.body, a)};
    headers[1] = (http_header){STR("Content-Type"), STR("application/xml")};
    headers[2] = (http_header){STR("x-amz-request-payer"), STR("requester")};
    q.n_headers = r->s->settings.requester_pays ? 3 : 2;
    if (str_is_null(url) || str_is_null(q.url) || str_is_null(headers[0].value)) return error_no_memory(err);
    TRY(object_send(&r->s->base, &q, "Removing", a, &answer, err));
    if (answer.status == 501 || answer.status == 405) return SILT_OK;
    if (!http_is_ok(&answer)) return object_error_of(&r->s->base, &answer, "Removing", STR(""), a, err);
    if (!s3_deletion_parse(answer.body, a, &left, &n_left)) return object_bad_answer(&r->s->base, "Removing", "it is no DeleteResult", err);
    tell(r, from, to, keys, left, n_left);
    *done = true;
    return SILT_OK;
}

static silt_status remove_batch(void *ctx, size_t batch, silt_error *err) {
    removal *r = ctx;
    size_t from = batch * BATCH, to = from + BATCH < r->n ? from + BATCH : r->n;
    bool done = false;
    silt_error why = {0};
    buf body;
    arena *a = arena_new();
    if (!a) return error_no_memory(err);
    buf_init(&body, BUF_MAX_DEFAULT);
    silt_status status = send_batch(r, from, to, a, &body, &done, &why);
    buf_dispose(&body);
    arena_free(a);
    for (size_t i = from; status != SILT_OK && i < to; i++) note(r, i, status, &why);
    return status != SILT_OK || done ? SILT_OK : object_store_remove_below(&r->s->base.base, r->dir, r->names + from, to - from, r->out + from, err);
}

silt_status s3_remove_below(store *s, str dir, const str *names, size_t n, silt_status *out, silt_error *err) {
    if (n == 0) return SILT_OK;
    if (n == 1 || ((s3_store *)s)->settings.google) return object_store_remove_below(s, dir, names, n, out, err);
    removal r = {.s = (s3_store *)s, .dir = dir, .names = names, .n = n, .out = out, .first = err, .first_at = SIZE_MAX};
    pthread_mutex_init(&r.lock, NULL);
    silt_status status = thread_for(REQUESTS, (n + BATCH - 1) / BATCH, remove_batch, &r, err);
    pthread_mutex_destroy(&r.lock);
    return status;
}
