/*
 * Multipart uploads: begun, its parts side by side, completed; aborted where anything fails, so that no part stays behind and costs. An object appears when the upload is completed
 * and not before.
 */
#include <stdio.h>
#include <time.h>

#include "store/object/object_early.h"
#include "store/s3/s3.h"

#define PARTS_MAX       10000
#define PARTS_IN_FLIGHT 8
#define COMPLETIONS     4
#define PART_ALIGN      ((int64_t)1 << 20)

typedef struct upload {
    s3_store *s;
    str key, local;
    int64_t size, part_size;
    size_t n_parts;
    str url;    /* of the object */
    str id;     /* encoded for a query */
    str *etags;
    arena *a;
} upload;

static object_store *base(const upload *u) { return &u->s->base; }

static bool add(http_request *r, const http_header *headers, size_t n) {
    http_header *to = (http_header *)(uintptr_t)r->headers;
    if (n) memcpy(to + r->n_headers, headers, n * sizeof *headers);
    r->n_headers += n;
    return true;
}

/* Beginning twice leaves an upload without parts, which costs nothing. */
static silt_status begin(upload *u, silt_error *err) {
    http_header headers[OBJECT_HEADERS];
    http_request r = {.headers = headers};
    http_response answer;
    TRY(s3_request(base(u), OBJECT_PUT, u->key, headers, &r, u->a, err));
    u->url = r.url;
    r.method = "POST";
    r.url = arena_printf(u->a, "%.*s?uploads=", STR_ARG(u->url));
    r.repeatable = true;
    if (str_is_null(r.url)) return error_no_memory(err);
    TRY(object_send(base(u), &r, "Beginning an upload", u->a, &answer, err));
    if (!http_is_ok(&answer)) return object_error_of(base(u), &answer, "Writing", u->key, u->a, err);
    str id = s3_xml_text(answer.body, "UploadId", u->a);
    if (id.len == 0) return object_bad_answer(base(u), "Beginning an upload", "no UploadId", err);
    u->id = http_encode(id, false, u->a);
    return str_is_null(u->id) ? error_no_memory(err) : SILT_OK;
}

static silt_status part_request(upload *u, size_t i, http_request *out, silt_error *err) {
    int64_t offset = (int64_t)i * u->part_size, left = u->size - offset;
    http_header *headers = ARENA_ARRAY(u->a, OBJECT_HEADERS, http_header);
    str url = arena_printf(u->a, "%.*s?partNumber=%zu&uploadId=%.*s", STR_ARG(u->url), i + 1, STR_ARG(u->id));
    if (!headers || str_is_null(url)) return error_no_memory(err);
    *out = (http_request){.method = "PUT", .url = url, .headers = headers, .body_file = u->local.ptr, .body_offset = offset,
                          .body_length = left < u->part_size ? left : u->part_size, .repeatable = true};
    add(out, u->s->settings.customer_key, u->s->settings.n_customer_key);
    if (u->s->settings.requester_pays) add(out, &(http_header){STR("x-amz-request-payer"), STR("requester")}, 1);
    return SILT_OK;
}

static silt_status etag_of(const upload *u, const http_response *answer, str *out, silt_error *err) {
    if (!http_is_ok(answer)) return object_error_of(base(u), answer, "Writing", u->key, u->a, err);
    *out = http_header_get(answer, "etag");
    return str_is_null(*out) ? object_bad_answer(base(u), "Uploading a part", "no ETag", err) : SILT_OK;
}

static silt_status make_parts(upload *u, silt_error *err) {
    u->etags = ARENA_ARRAY(u->a, u->n_parts, str);
    if (!u->etags) return error_no_memory(err);
    for (size_t i = 0; i < u->n_parts; i++) u->etags[i] = STR_NULL;
    return SILT_OK;
}

/* An upload that began while the file was being written, and what was sent of it. */
static silt_status go_on(upload *u, const object_early *early, silt_error *err) {
    u->id = early->id;
    u->url = s3_url(u->s, u->key, u->a);
    if (str_is_null(u->url)) return error_no_memory(err);
    TRY(make_parts(u, err));
    for (size_t i = 0; i < early->n_pieces; i++)
        if (early->pieces[i].sent) u->etags[i] = early->pieces[i].mark;
    return SILT_OK;
}

/* Those that have no ETag yet. */
static silt_status send_parts(upload *u, silt_error *err) {
    http_request *requests = ARENA_ARRAY(u->a, u->n_parts, http_request);
    http_response *answers = ARENA_ARRAY(u->a, u->n_parts, http_response);
    silt_status *statuses = ARENA_ARRAY(u->a, u->n_parts, silt_status);
    size_t *parts = ARENA_ARRAY(u->a, u->n_parts, size_t), n = 0;
    if (!requests || !answers || !statuses || !parts) return error_no_memory(err);
    for (size_t i = 0; i < u->n_parts; i++) {
        if (!str_is_null(u->etags[i])) continue;
        parts[n] = i;
        TRY(part_request(u, i, &requests[n++], err));
    }
    TRY(object_send_many(base(u), requests, n, PARTS_IN_FLIGHT, "Uploading a part", u->a, answers, statuses, err));
    for (size_t i = 0; i < n; i++) TRY(etag_of(u, &answers[i], &u->etags[parts[i]], err));
    return SILT_OK;
}

/* Was it completed by an attempt whose answer was lost, or by the first of two where something on the way sent it again? Its upload is gone then, and an object of that size is there. */
static bool is_there(upload *u) {
    store_entry entry;
    str path = arena_printf(u->a, "/%.*s", STR_ARG(u->key));
    return !str_is_null(path) && object_store_stat(&base(u)->base, path, u->a, &entry, NULL) == SILT_OK && !entry.is_dir && entry.size_bytes == u->size;
}

/* The service may answer 200 and tell of a failure in the body: it sends the head before it is done. *out_again: such a one, which leaves the upload as it was. */
static silt_status judge(upload *u, const http_response *answer, bool *out_again, silt_error *err) {
    s3_fault f;
    bool failed = s3_fault_parse(answer->body, u->a, &f);
    if (http_is_ok(answer) && !failed && !str_is_null(s3_xml_text(answer->body, "ETag", u->a))) return SILT_OK;
    if ((answer->may_have_applied || (failed && str_eqz(f.code, "NoSuchUpload"))) && is_there(u)) return SILT_OK;
    if (!http_is_ok(answer)) return object_error_of(base(u), answer, "Writing", u->key, u->a, err);
    silt_status status = object_bad_answer(base(u), "Completing an upload", "no result", err);
    *out_again = failed;
    if (failed) error_detail(err, "HTTP status %d, %.*s", answer->status, STR_ARG(f.code));
    return status;
}

static silt_status send_completion(upload *u, http_request *r, silt_error *err) {
    http_response answer;
    for (int i = 1;; i++) {
        bool again = false;
        TRY(object_send(base(u), r, "Completing an upload", u->a, &answer, err));
        silt_status status = judge(u, &answer, &again, err);
        if (!again || i == COMPLETIONS) return status;
        nanosleep(&(struct timespec){0, (50 << i) * 1000000L}, NULL);
    }
}

static silt_status complete(upload *u, silt_error *err) {
    http_header headers[OBJECT_HEADERS];
    http_request r = {.method = "POST", .headers = headers, .repeatable = true};
    buf body;
    buf_init(&body, BUF_MAX_DEFAULT);
    buf_append_z(&body, "<CompleteMultipartUpload>");
    bool ok = true;
    for (size_t i = 0; i < u->n_parts; i++) {
        buf_printf(&body, "<Part><PartNumber>%zu</PartNumber><ETag>", i + 1);
        ok = ok && s3_xml_write(&body, u->etags[i]);
        buf_append_z(&body, "</ETag></Part>");
    }
    buf_append_z(&body, "</CompleteMultipartUpload>");
    r.url = arena_printf(u->a, "%.*s?uploadId=%.*s", STR_ARG(u->url), STR_ARG(u->id));
    r.body = buf_str(&body);
    add(&r, u->s->settings.customer_key, u->s->settings.n_customer_key);
    if (u->s->settings.requester_pays) add(&r, &(http_header){STR("x-amz-request-payer"), STR("requester")}, 1);
    silt_status status = !buf_ok(&body) || str_is_null(r.url) ? error_no_memory(err) : SILT_OK;
    if (status == SILT_OK && !ok) status = object_bad_answer(base(u), "Uploading a part", "an ETag that is no text", err);
    if (status == SILT_OK) status = send_completion(u, &r, err);
    buf_dispose(&body);
    return status;
}

/* Best effort: rules of the bucket's life cycle catch what is left by a crash. */
static void abort_upload(upload *u) {
    http_request r = {.method = "DELETE", .repeatable = true};
    http_response answer;
    r.url = arena_printf(u->a, "%.*s?uploadId=%.*s", STR_ARG(u->url), STR_ARG(u->id));
    if (!str_is_null(r.url)) (void)!object_send(base(u), &r, "Aborting an upload", u->a, &answer, NULL);
}

silt_status s3_upload(object_store *o, str key, str local, int64_t size, const object_early *early, arena *a, silt_error *err) {
    upload u = {.s = (s3_store *)o, .key = key, .local = local, .size = size, .part_size = o->piece_bytes, .a = a};
    if (!early && u.part_size < (size + PARTS_MAX - 1) / PARTS_MAX) u.part_size = ((size / PARTS_MAX) / PART_ALIGN + 1) * PART_ALIGN;
    u.n_parts = (size_t)((size + u.part_size - 1) / u.part_size);
    if (!early) TRY(begin(&u, err));
    silt_status status = early ? go_on(&u, early, err) : make_parts(&u, err);
    if (status == SILT_OK) status = send_parts(&u, err);
    if (status == SILT_OK) status = complete(&u, err);
    if (status != SILT_OK) abort_upload(&u);
    return status;
}

/* ---- while the file is being written ---- */

static silt_status early_begin(object_store *o, str key, arena *a, str *out_id, silt_error *err) {
    upload u = {.s = (s3_store *)o, .key = key, .a = a};
    TRY(begin(&u, err));
    *out_id = u.id;
    return SILT_OK;
}

static silt_status early_send(object_store *o, str key, str id, size_t index, str local, const cancel_token *cancel, arena *a, str *out_mark, silt_error *err) {
    upload u = {.s = (s3_store *)o, .key = key, .local = local, .size = INT64_MAX, .part_size = o->piece_bytes, .id = id, .url = s3_url((s3_store *)o, key, a), .a = a};
    http_request r;
    http_response answer;
    if (str_is_null(u.url)) return error_no_memory(err);
    TRY(part_request(&u, index, &r, err));
    r.cancel = cancel;
    TRY(object_send(o, &r, "Uploading a part", a, &answer, err));
    return etag_of(&u, &answer, out_mark, err);
}

static void early_abort(object_store *o, str key, str id, arena *a) {
    upload u = {.s = (s3_store *)o, .key = key, .id = id, .url = s3_url((s3_store *)o, key, a), .a = a};
    if (!str_is_null(u.url)) abort_upload(&u);
}

const object_early_driver s3_early = {.begin = early_begin, .send = early_send, .abort = early_abort};
