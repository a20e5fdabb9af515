/*
 * Google Cloud Storage: requests, answers and resumable uploads.
 *
 * Commits are uploads with ifGenerationMatch=0: the object must not be there; 412 says that it is. An object's generation is its tag. In the JSON API an object's name is one
 * part of the path, so its slashes are encoded too. objects.list has startOffset, so a log is listed from where it is wanted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/json.h"
#include "base/time.h"
#include "base/uri.h"
#include "store/gcs/gcs.h"
#include "store/log_store.h"
#include "store/object/object_internal.h"
#include "store/s3/s3.h"

#define UPLOAD_FAILURES_MAX 8    /* one after the other, with nothing gained */
#define UPLOAD_SESSIONS_MAX 3
#define UPLOAD_UNIT (256 * 1024) /* pieces are multiples of it */

typedef struct gcs_store {
    object_store object;
    gcs_account account;
    cloud_token token;
    http_client *metadata; /* for the machine's own service, which no proxy leads to; NULL where it is not asked */
} gcs_store;

/* ---- who asks ---- */

static silt_status ask_by_form(const gcs_store *g, http_header *headers, http_request *out, arena *a, silt_error *err) {
    const gcs_account *c = &g->account;
    silt_status status = SILT_OK;
    str claim = STR("");
    buf form;
    buf_init(&form, 1 << 18);
    if (c->auth == GCS_SERVICE_ACCOUNT) {
        status = gcs_claim(c, time_now_ms() / 1000, a, &claim, err);
        cloud_form_add(&form, "grant_type", STR("urn:ietf:params:oauth:grant-type:jwt-bearer"), a);
        cloud_form_add(&form, "assertion", claim, a);
    } else {
        cloud_form_add(&form, "grant_type", STR("refresh_token"), a);
        cloud_form_add(&form, "client_id", c->client_id, a);
        cloud_form_add(&form, "client_secret", c->client_secret, a);
        cloud_form_add(&form, "refresh_token", c->refresh_token, a);
    }
    out->method = "POST";
    out->url = c->token_url;
    out->body = buf_ok(&form) ? arena_str(a, buf_str(&form)) : STR_NULL;
    headers[out->n_headers++] = (http_header){STR("Content-Type"), STR("application/x-www-form-urlencoded")};
    if (status == SILT_OK && str_is_null(out->body)) status = error_no_memory(err);
    if (form.ptr) explicit_bzero(form.ptr, form.capacity);
    buf_dispose(&form);
    return status;
}

static silt_status ask_token(void *ctx, http_header *headers, http_request *out, arena *a, silt_error *err) {
    const gcs_store *g = ctx;
    if (!g->metadata) return ask_by_form(g, headers, out, a, err);
    out->method = "GET";
    out->url = g->account.token_url;
    headers[out->n_headers++] = (http_header){STR("Metadata-Flavor"), STR("Google")};
    return SILT_OK;
}

static silt_status get_token(gcs_store *g, arena *a, str *out, silt_error *err) {
    return cloud_token_get(&g->token, g->metadata ? g->metadata : g->object.client, ask_token, g, a, out, err);
}

static silt_status gcs_sign(void *ctx, const http_request *r, http_attempt *at, silt_error *err) {
    gcs_store *g = ctx;
    str token;
    (void)r;
    if (g->account.auth == GCS_ANONYMOUS) return SILT_OK;
    TRY(get_token(g, at->arena, &token, err));
    at->headers[at->n_headers++] = (http_header){STR("Authorization"), token};
    return SILT_OK;
}

/* A token can end before its time. */
static bool gcs_again(object_store *o, const http_request *q, const http_response *r, arena *a) {
    (void)q;
    (void)a;
    return r->status == 401 && cloud_token_forget(&((gcs_store *)o)->token);
}

/* ---- requests ---- */

static str object_url(const gcs_store *g, str key, const char *query, arena *a) {
    str name = http_encode(key, false, a);
    if (str_is_null(name)) return STR_NULL;
    return arena_printf(a, "%.*s/storage/v1/b/%.*s/o/%.*s%s", STR_ARG(g->account.endpoint), STR_ARG(g->account.bucket), STR_ARG(name), query);
}

static str upload_url(const gcs_store *g, str key, const char *query, arena *a) {
    str name = http_encode(key, false, a);
    if (str_is_null(name)) return STR_NULL;
    return arena_printf(a, "%.*s/upload/storage/v1/b/%.*s/o?name=%.*s&%s", STR_ARG(g->account.endpoint), STR_ARG(g->account.bucket), STR_ARG(name), query);
}

#define OBJECT_FIELDS "name,size,updated,generation"

static silt_status gcs_request(object_store *o, object_verb verb, str key, http_header *headers, http_request *out, arena *a, silt_error *err) {
    const gcs_store *g = (gcs_store *)o;
    out->method = verb == OBJECT_REMOVE ? "DELETE" : verb == OBJECT_READ || verb == OBJECT_STAT ? "GET" : "POST";
    switch (verb) {
        case OBJECT_READ: out->url = object_url(g, key, "?alt=media", a); break;
        case OBJECT_STAT: out->url = object_url(g, key, "?fields=" OBJECT_FIELDS, a); break;
        case OBJECT_PUT: out->url = upload_url(g, key, "uploadType=media", a); break;
        case OBJECT_PUT_IF_ABSENT: out->url = upload_url(g, key, "uploadType=media&ifGenerationMatch=0", a); break;
        case OBJECT_REMOVE: out->url = object_url(g, key, "", a); break;
    }
    if (out->method[0] == 'P') headers[out->n_headers++] = (http_header){STR("Content-Type"), STR("application/octet-stream")};
    return str_is_null(out->url) ? error_no_memory(err) : SILT_OK;
}

static str gcs_tag_of(const http_response *r) { return http_header_get(r, "x-goog-generation"); }

static silt_status gcs_parse_info(object_store *o, const http_response *r, arena *a, object_info *out, silt_error *err) {
    str key = out->key;
    bool ok = gcs_object_parse(r->body, a, out);
    out->key = key;
    return ok ? SILT_OK : object_bad_answer(o, "Looking at", "no object's resource", err);
}

static bool gcs_is_taken(const http_response *r, const object_error *e) {
    (void)e;
    return r->status == 412;
}

/* Reasons are the same for objects and buckets, the texts are not; media downloads answer with the text alone. */
static void gcs_parse_error(object_store *o, const http_response *r, arena *a, object_error *out) {
    bool anonymous = ((gcs_store *)o)->account.auth == GCS_ANONYMOUS;
    gcs_error_parse(r->body, a, out);
    str text = str_is_null(out->code) ? r->body : out->message;
    bool absent = str_eqz(out->code, "notFound") || str_starts_with(text, STR("No such object")) || str_starts_with(str_trim(text), STR("Not Found"));
    if (r->status == 404 && str_find(text, STR("bucket does not exist")) != SIZE_MAX) out->meaning = OBJECT_NO_BUCKET;
    else if (r->status == 404 && absent) out->meaning = OBJECT_ABSENT;
    if (anonymous) out->remark = "asked without a credential, since none was found";
}

static silt_status gcs_list_request(object_store *o, const object_listing *l, str mark, http_header *headers, http_request *out, arena *a, silt_error *err) {
    const gcs_account *c = &((gcs_store *)o)->account;
    buf query;
    (void)headers;
    buf_init(&query, 1 << 16);
    cloud_form_add(&query, "fields", STR("items(" OBJECT_FIELDS "),prefixes,nextPageToken"), a);
    if (l->prefix.len) cloud_form_add(&query, "prefix", l->prefix, a);
    if (l->by_folder) cloud_form_add(&query, "delimiter", STR("/"), a);
    if (!str_is_null(l->start_at)) cloud_form_add(&query, "startOffset", l->start_at, a);
    if (l->limit) cloud_form_add(&query, "maxResults", arena_printf(a, "%d", l->limit), a);
    if (!str_is_null(mark)) cloud_form_add(&query, "pageToken", mark, a);
    out->url = buf_ok(&query) ? arena_printf(a, "%.*s/storage/v1/b/%.*s/o?%.*s", STR_ARG(c->endpoint), STR_ARG(c->bucket), STR_ARG(buf_str(&query))) : STR_NULL;
    buf_dispose(&query);
    return str_is_null(out->url) ? error_no_memory(err) : SILT_OK;
}

static silt_status gcs_parse_page(object_store *o, const object_listing *l, str body, arena *a, object_page *out, silt_error *err) {
    (void)l;
    return gcs_page_parse(body, a, out) ? SILT_OK : object_bad_answer(o, "Listing", "no list of objects", err);
}

static const char *gcs_refuses(str key) {
    if (key.len > 1024) return "a name of at most 1,024 bytes";
    if (str_find_char(key, '\r') != SIZE_MAX || str_find_char(key, '\n') != SIZE_MAX) return "a name without line breaks";
    if (str_starts_with(key, STR(".well-known/acme-challenge/"))) return "a name that does not begin with .well-known/acme-challenge/";
    return NULL;
}

/* ---- resumable uploads ---- */

typedef struct session {
    gcs_store *g;
    str key, local, url;
    int64_t size, done; /* bytes that the service has told to hold */
    bool complete;
    bool lost; /* the service no longer knows it */
} session;

/* An upload goes where the store's requests go, whatever host the answer names: of its Location the path and the query are used. */
static str session_url(const gcs_store *g, str location, arena *a) {
    size_t scheme = str_find(location, STR("://"));
    str rest = scheme == SIZE_MAX ? location : str_slice(location, scheme + 3, location.len);
    size_t slash = str_find_char(rest, '/');
    if (slash == SIZE_MAX || str_find_char(rest, ' ') != SIZE_MAX) return STR_NULL;
    str endpoint = g->account.endpoint;
    size_t host = str_find(endpoint, STR("://")) + 3, path = str_find_char(str_slice(endpoint, host, endpoint.len), '/');
    if (path != SIZE_MAX) endpoint = str_slice(endpoint, 0, host + path);
    return arena_printf(a, "%.*s%.*s", STR_ARG(endpoint), STR_ARG(str_slice(rest, slash, rest.len)));
}

static silt_status session_begin(session *s, arena *a, silt_error *err) {
    gcs_store *g = s->g;
    http_header headers[] = {{STR("Content-Type"), STR("application/json; charset=UTF-8")},
                             {STR("X-Upload-Content-Type"), STR("application/octet-stream")},
                             {STR("X-Upload-Content-Length"), arena_printf(a, "%lld", (long long)s->size)}};
    http_request r = {.method = "POST", .headers = headers, .n_headers = ARRAY_LEN(headers), .body = STR("{}"), .repeatable = true};
    http_response answer;
    r.url = upload_url(g, s->key, "uploadType=resumable", a);
    if (str_is_null(r.url) || str_is_null(headers[2].value)) return error_no_memory(err);
    TRY(object_send(&g->object, &r, "Writing", a, &answer, err));
    if (!http_is_ok(&answer)) return object_error_without(&g->object, &answer, "Writing", s->key, a, err);
    s->url = session_url(g, http_header_get(&answer, "location"), a);
    s->done = 0;
    s->lost = false;
    return str_is_null(s->url) ? object_bad_answer(&g->object, "Writing", "an upload without its Location", err) : SILT_OK;
}

/* The object as it came to be. An upload that was closed too early (an emulator does that when it is asked how far it got) is made again. */
static void take_end(session *s, const http_response *r, arena *a) {
    object_info made;
    s->complete = gcs_object_parse(r->body, a, &made) && made.size_bytes == s->size;
    s->lost = !s->complete;
}

/* 308 tells how much is held: "Range: bytes=0-N", or nothing is. */
static silt_status take_progress(session *s, const http_response *r, arena *a, silt_error *err) {
    str range = http_header_get(r, "range");
    int64_t last = -1;
    if (http_is_ok(r)) {
        take_end(s, r, a);
        return SILT_OK;
    }
    s->lost = r->status == 404 || r->status == 410;
    if (s->lost) return SILT_OK;
    if (r->status != 308) return object_error_of(&s->g->object, r, "Writing", s->key, a, err);
    bool told = str_starts_with(range, STR("bytes=0-"));
    bool ok = str_is_null(range) || (told && str_to_i64(str_slice(range, 8, range.len), &last));
    if (!ok || last < -1 || last >= s->size) return object_bad_answer(&s->g->object, "Writing", "no Range of what was taken", err);
    s->done = last + 1;
    return SILT_OK;
}

static silt_status session_send(session *s, str range, int64_t length, arena *a, silt_error *err) {
    http_header headers[] = {{STR("Content-Range"), range}};
    http_request r = {.method = "PUT", .url = s->url, .headers = headers, .n_headers = 1, .repeatable = length == 0};
    http_response answer;
    if (str_is_null(range)) return error_no_memory(err);
    if (length > 0) {
        r.body_file = s->local.ptr;
        r.body_offset = s->done;
        r.body_length = length;
    }
    TRY(object_send(&s->g->object, &r, "Writing", a, &answer, err));
    return take_progress(s, &answer, a, err);
}

static silt_status session_ask(session *s, arena *a, silt_error *err) {
    return session_send(s, arena_printf(a, "bytes */%lld", (long long)s->size), 0, a, err);
}

static silt_status session_piece(session *s, arena *a, silt_error *err) {
    int64_t piece = s->g->object.piece_bytes / UPLOAD_UNIT * UPLOAD_UNIT, left = s->size - s->done;
    if (left <= piece) piece = left;
    return session_send(s, arena_printf(a, "bytes %lld-%lld/%lld", (long long)s->done, (long long)(s->done + piece - 1), (long long)s->size), piece, a, err);
}

static bool is_passing(silt_status status) { return status == SILT_IO || status == SILT_UNKNOWN; }

static void wait_before(int failures) {
    int64_t ms = 50 << (failures < 6 ? failures : 6);
    usleep((useconds_t)(ms * 1000));
}

/* A piece whose answer did not come is not sent again blindly: the service is asked how far it got. */
static silt_status session_run(session *s, arena *a, silt_error *err) {
    int failures = 0;
    while (!s->complete && !s->lost) {
        silt_error why = {0};
        int64_t before = s->done;
        arena_reset(a);
        silt_status status = session_piece(s, a, &why);
        if (status == SILT_OK && !s->complete && !s->lost && s->done <= before) status = object_bad_answer(&s->g->object, "Writing", "a piece that was taken and is not there", &why);
        if (status == SILT_OK) {
            failures = 0;
            continue;
        }
        if (!is_passing(status) || ++failures > UPLOAD_FAILURES_MAX) {
            if (err) *err = why;
            return status == SILT_UNKNOWN ? err_WRITE_OUTCOME_UNKNOWN(err, s->key) : status;
        }
        wait_before(failures);
        TRY(session_ask(s, a, err));
        if (s->done > before) failures = 0;
    }
    return SILT_OK;
}

static silt_status gcs_upload(object_store *o, str key, str local, int64_t size, const struct object_early *early, arena *a, silt_error *err) {
    (void)early; /* none, without object_driver.early */
    session s = {.g = (gcs_store *)o, .key = key, .local = local, .size = size};
    arena *pieces = arena_new();
    silt_status status = pieces ? SILT_OK : error_no_memory(err);
    for (int i = 0; status == SILT_OK && !s.complete && i < UPLOAD_SESSIONS_MAX; i++) {
        status = session_begin(&s, a, err);
        if (status == SILT_OK) status = session_run(&s, pieces, err);
    }
    arena_free(pieces);
    return status == SILT_OK && !s.complete ? object_put_file(o, key, local, size, a, err) : status; /* a service that loses its uploads */
}

/* ---- the store ---- */

static void wipe(str secret) {
    if (secret.len) explicit_bzero((char *)(uintptr_t)secret.ptr, secret.len);
}

static void gcs_dispose(object_store *o) {
    gcs_store *g = (gcs_store *)o;
    wipe(g->account.key);
    wipe(g->account.client_secret);
    wipe(g->account.refresh_token);
    cloud_token_dispose(&g->token);
    http_client_free(g->metadata);
}

static const store_ops gcs_ops = {.name = "gcs", OBJECT_STORE_READING, OBJECT_STORE_WRITING};

static const object_driver gcs_driver = {
    .ops = &gcs_ops,
    .dispose = gcs_dispose,
    .request = gcs_request,
    .parse_info = gcs_parse_info,
    .tag_of = gcs_tag_of,
    .is_taken = gcs_is_taken,
    .list_request = gcs_list_request,
    .parse_page = gcs_parse_page,
    .upload = gcs_upload,
    .parse_error = gcs_parse_error,
    .refuses = gcs_refuses,
    .again = gcs_again,
    .has_start_at = true,
    .has_one_absent = true,
};

static const char *process_env(void *ctx, const char *name) {
    (void)ctx;
    return getenv(name);
}

/* The machine's own service answers at once, or is not there. */
static silt_status use_metadata(gcs_store *g, silt_error *err) {
    const http_options near = {.max_attempts = 3, .connect_timeout_ms = 1000, .stall_timeout_ms = 5000, .proxy = STR("")};
    str token;
    TRY(http_client_new(&near, &g->metadata, err));
    if (g->account.auth == GCS_METADATA) return SILT_OK;
    arena *a = arena_new();
    if (!a) return error_no_memory(err);
    if (get_token(g, a, &token, NULL) != SILT_OK) g->account.auth = GCS_ANONYMOUS;
    arena_free(a);
    return SILT_OK;
}

static silt_status set_up(gcs_store *g, str bucket, const store_settings *settings, silt_error *err) {
    object_store *o = &g->object;
    TRY(object_store_configure(o, settings, err));
    TRY(gcs_account_find(bucket, settings, process_env, NULL, o->settings, &g->account, err));
    static const char *const schemes[] = {"gs", NULL};
    TRY(log_store_find_unknown(settings, schemes, o->settings, &o->log_store, err));
    o->sign = gcs_sign;
    o->where = arena_printf(o->settings, "%.*s/%.*s", STR_ARG(g->account.endpoint), STR_ARG(bucket));
    if (str_is_null(o->where)) return error_no_memory(err);
    bool asks_machine = g->account.auth == GCS_METADATA || g->account.auth == GCS_METADATA_IF_ANY;
    return asks_machine ? use_metadata(g, err) : SILT_OK;
}

/* *out NULL: the account has no HMAC key. */
static silt_status open_by_hmac(str bucket, const store_settings *settings, store **out, silt_error *err) {
    gcs_account account;
    arena *a = arena_new();
    *out = NULL;
    silt_status status = a ? gcs_account_find(bucket, settings, process_env, NULL, a, &account, err) : error_no_memory(err);
    if (status == SILT_OK && account.auth == GCS_HMAC)
        status = s3_google_open(&(s3_google){bucket, account.endpoint, {account.hmac_key, account.hmac_secret, STR_NULL}}, settings, out, err);
    arena_free(a);
    return status;
}

silt_status store_gcs_open(str authority, void *config, store **out, silt_error *err) {
    TRY(open_by_hmac(authority, config, out, err));
    if (*out) return SILT_OK;
    http_options options = {.max_connections = OBJECT_CONNECTIONS, .ca_file = store_setting(config, "silt.gcs.caFile"), .proxy = store_setting(config, "silt.gcs.proxy")};
    object_store *o;
    object_store_patience(config, &options);
    TRY(object_store_new(&gcs_driver, sizeof(gcs_store), &options, &o, err));
    cloud_token_init(&((gcs_store *)o)->token);
    silt_status status = set_up((gcs_store *)o, authority, config, err);
    if (status == SILT_OK) status = object_store_configure(o, config, err);
    if (status != SILT_OK) {
        store_close(&o->base);
        return status;
    }
    *out = &o->base;
    return SILT_OK;
}
