/*
 * Multipart uploads: begun, its parts side by side, completed; aborted where anything fails, so that no part stays behind and costs. An object appears when the upload is completed
 * and not before.
 */
#include <stdio.h>

#include "store/s3/s3.h"

#define PARTS_MAX       10000
#define PARTS_IN_FLIGHT 8
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

static silt_status check_part(upload *u, size_t i, const http_response *answer, silt_error *err) {
    if (!http_is_ok(answer)) return object_error_of(base(u), answer, "Writing", u->key, u->a, err);
    u->etags[i] = http_header_get(answer, "etag");
    return str_is_null(u->etags[i]) ? object_bad_answer(base(u), "Uploading a part", "no ETag", err) : SILT_OK;
}

static silt_status send_parts(upload *u, silt_error *err) {
    http_request *requests = ARENA_ARRAY(u->a, u->n_parts, http_request);
    http_response *answers = ARENA_ARRAY(u->a, u->n_parts, http_response);
    silt_status *statuses = ARENA_ARRAY(u->a, u->n_parts, silt_status);
    u->etags = ARENA_ARRAY(u->a, u->n_parts, str);
    if (!requests || !answers || !statuses || !u->etags) return error_no_memory(err);
    for (size_t i = 0; i < u->n_parts; i++) TRY(part_request(u, i, &requests[i], err));
    TRY(object_send_many(base(u), requests, u->n_parts, PARTS_IN_FLIGHT, "Uploading a part", u->a, answers, statuses, err));
    for (size_t i = 0; i < u->n_parts; i++) TRY(check_part(u, i, &answers[i], err));
    return SILT_OK;
}

/* Was it completed by an attempt whose answer was lost? Its upload is gone then, and an object of that size is there. */
static bool is_there(upload *u) {
    store_entry entry;
    str path = arena_printf(u->a, "/%.*s", STR_ARG(u->key));
    return !str_is_null(path) && object_store_stat(&base(u)->base, path, u->a, &entry, NULL) == SILT_OK && !entry.is_dir && entry.size_bytes == u->size;
}

/* The service may answer 200 and tell of a failure in the body: it sends the head before it is done. */
static silt_status judge(upload *u, const http_response *answer, silt_error *err) {
    s3_fault f;
    bool failed = s3_fault_parse(answer->body, u->a, &f);
    if (http_is_ok(answer) && !failed && !str_is_null(s3_xml_text(answer->body, "ETag", u->a))) return SILT_OK;
    if (answer->may_have_applied && is_there(u)) return SILT_OK;
    if (!http_is_ok(answer)) return object_error_of(base(u), answer, "Writing", u->key, u->a, err);
    silt_status status = object_bad_answer(base(u), "Completing an upload", "no result", err);
    if (failed) error_detail(err, "HTTP status %d, %.*s", answer->status, STR_ARG(f.code));
    return status;
}

static silt_status complete(upload *u, silt_error *err) {
    http_header headers[OBJECT_HEADERS];
    http_request r = {.method = "POST", .headers = headers, .repeatable = true};
    http_response answer;
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
    if (status == SILT_OK) status = object_send(base(u), &r, "Completing an upload", u->a, &answer, err);
    if (status == SILT_OK) status = judge(u, &answer, err);
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

silt_status s3_upload(object_store *o, str key, str local, int64_t size, arena *a, silt_error *err) {
    upload u = {.s = (s3_store *)o, .key = key, .local = local, .size = size, .part_size = o->piece_bytes, .a = a};
    if (u.part_size < (size + PARTS_MAX - 1) / PARTS_MAX) u.part_size = ((size / PARTS_MAX) / PART_ALIGN + 1) * PART_ALIGN;
    u.n_parts = (size_t)((size + u.part_size - 1) / u.part_size);
    TRY(begin(&u, err));
    silt_status status = send_parts(&u, err);
    if (status == SILT_OK) status = complete(&u, err);
    if (status != SILT_OK) abort_upload(&u);
    return status;
}
