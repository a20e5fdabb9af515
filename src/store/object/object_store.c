/*
 * Stores over services of objects by key: opening, errors, reading, removing. Writing is object_put.c's, listing object_list.c's.
 *
 * A path is "/" and the key. There are no folders: what a path leads to is an object, or a folder when other keys begin with it and '/'; making a folder does nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/thread.h"
#include "base/uri.h"
#include "store/object/object_internal.h"

/* ---- open and close ---- */

silt_status object_store_new(const object_driver *driver, size_t size, const http_options *options, object_store **out, silt_error *err) {
    object_store *o = calloc(1, size);
    if (!o) return error_no_memory(err);
    o->base.ops = driver->ops;
    o->driver = driver;
    o->piece_bytes = 16 << 20;
    pthread_mutex_init(&o->lock, NULL);
    o->settings = arena_new();
    silt_status status = o->settings ? http_client_new(options, &o->client, err) : error_no_memory(err);
    if (status != SILT_OK) {
        arena_free(o->settings);
        pthread_mutex_destroy(&o->lock);
        free(o);
        return status;
    }
    *out = o;
    return SILT_OK;
}

void object_store_patience(const store_settings *s, http_options *out) {
    int64_t ms;
    if (str_to_i64(str_trim(store_setting(s, "silt.http.stallTimeoutMs")), &ms) && ms >= 100 && ms <= 3600000) out->stall_timeout_ms = ms;
}

silt_status object_store_configure(object_store *o, const store_settings *s, silt_error *err) {
    str folder = str_trim(store_setting(s, "silt.temp.dir"));
    if (folder.len == 0) return SILT_OK;
    if (folder.ptr[0] != '/') return err_INVALID_PARAMETER_VALUE(err, STR("silt.temp.dir"), folder, "an absolute path");
    o->temp_base = arena_str(o->settings, folder);
    return str_is_null(o->temp_base) ? error_no_memory(err) : SILT_OK;
}

void object_store_close(store *s) {
    object_store *o = (object_store *)s;
    if (o->driver->dispose) o->driver->dispose(o);
    http_client_free(o->client);
    if (o->folder[0]) rmdir(o->folder); /* each file was its user's to remove; what is left was left by a crash of its user */
    arena_free(o->settings);
    pthread_mutex_destroy(&o->lock);
    free(o);
}

void object_store_identity(store *s, buf *out) { buf_append(out, ((object_store *)s)->where); }

/* ---- requests and errors ---- */

const char *object_key_refused(str key) {
    str rest = key, part;
    if (key.len == 0) return "the name of an object";
    if (!str_is_utf8(key)) return "a name in UTF-8";
    while (str_next(&rest, '/', &part))
        if (str_eqz(part, ".") || str_eqz(part, "..")) return "a name without a part . or ..";
    return NULL;
}

silt_status object_check_key(const object_store *o, str key, silt_error *err) {
    const char *wanted = object_key_refused(key);
    if (!wanted && o->driver->refuses) wanted = o->driver->refuses(key);
    return wanted ? err_INVALID_PARAMETER_VALUE(err, STR("path"), key, wanted) : SILT_OK;
}

#define LESSONS_MAX 3 /* of one request: a region, then a clock, then credentials */

/* Is the request worth sending once more, now that its answer taught something? */
static bool has_learned(object_store *o, const http_request *r, const http_response *answer, arena *a) {
    if (http_is_ok(answer)) return false;
    return o->driver->again && o->driver->again(o, r, answer, a);
}

silt_status object_send(object_store *o, http_request *r, const char *what, arena *a, http_response *out, silt_error *err) {
    bool maybe_applied = false;
    r->what = what;
    r->sign = o->sign;
    r->sign_ctx = o;
    for (int lesson = 0;; lesson++) {
        *out = (http_response){0};
        silt_status status = http_send(o->client, r, a, out, err);
        out->may_have_applied |= maybe_applied;
        if (status != SILT_OK || lesson == LESSONS_MAX || !has_learned(o, r, out, a)) return status;
        maybe_applied = out->may_have_applied;
    }
}

silt_status object_send_many(object_store *o, http_request *r, size_t n, int in_flight, const char *what, arena *a, http_response *out, silt_status *statuses, silt_error *err) {
    for (size_t i = 0; i < n; i++) {
        r[i].what = what;
        r[i].sign = o->sign;
        r[i].sign_ctx = o;
    }
    TRY(http_send_many(o->client, r, n, in_flight, a, out, statuses, err));
    for (size_t i = 0; i < n; i++) {
        if (!has_learned(o, &r[i], &out[i], a)) continue;
        bool maybe_applied = out[i].may_have_applied;
        TRY(object_send(o, &r[i], what, a, &out[i], err));
        out[i].may_have_applied |= maybe_applied;
    }
    return SILT_OK;
}

static str where_of(const object_store *o, str key, arena *a) {
    str text = arena_printf(a, "%.*s%s%.*s", STR_ARG(o->where), key.len ? "/" : "", STR_ARG(key));
    return str_is_null(text) ? o->where : text;
}

silt_status object_error_of(object_store *o, const http_response *r, const char *what, str key, arena *a, silt_error *err) {
    object_error e = {STR_NULL, STR_NULL};
    str where = where_of(o, key, a);
    silt_status status;
    if (o->driver->parse_error) o->driver->parse_error(r, a, &e);
    bool no_bucket = r->status == 404 && (str_eqz(e.code, "NoSuchBucket") || str_eqz(e.code, "ContainerNotFound"));
    if (no_bucket) status = err_STORE_BUCKET_NOT_FOUND(err, o->where); /* no answer to whether something is in it: "absent" would make a table that is there look as if it were not */
    else if (r->status == 404 || r->status == 410) status = err_FILE_NOT_FOUND(err, where);
    else if (r->status == 401 || r->status == 403 || r->status == 407) status = err_STORE_ACCESS_DENIED(err, what, where);
    else if (r->status == 507) status = err_NO_SPACE_LEFT(err, where);
    else status = err_STORE_REQUEST_FAILED(err, what, where, r->status);
    str_is_null(e.code) ? error_detail(err, "HTTP status %d", r->status)
                        : error_detail(err, "HTTP status %d, %.*s: %.*s", r->status, STR_ARG(e.code), STR_ARG(e.message));
    return status;
}

silt_status object_bad_answer(object_store *o, const char *what, const char *why, silt_error *err) {
    silt_status status = err_STORE_REQUEST_FAILED(err, what, o->where, 200);
    error_detail(err, "The answer cannot be used: %s", why);
    return status;
}

/* One request about one object, but for what goes with it. */
silt_status object_request_begin(object_store *o, object_verb verb, str key, http_header *headers, http_request *out, arena *a, silt_error *err) {
    TRY(object_check_key(o, key, err));
    *out = (http_request){.headers = headers};
    return o->driver->request(o, verb, key, headers, out, a, err);
}

bool object_add_header(http_request *r, const char *name, str value) {
    http_header *headers = (http_header *)(uintptr_t)r->headers; /* the caller's array, of OBJECT_HEADERS */
    if (str_is_null(value) || r->n_headers == OBJECT_HEADERS) return false;
    headers[r->n_headers++] = (http_header){str_of(name), value};
    return true;
}

/* ---- reading ---- */

typedef struct read_state {
    buf *out;
    size_t before; /* what was in it */
} read_state;

static silt_status take_bytes(void *ctx, int64_t offset, str bytes, silt_error *err) {
    read_state *state = ctx;
    if (offset == 0) state->out->len = state->before; /* another attempt */
    buf_append(state->out, bytes);
    return buf_ok(state->out) ? SILT_OK : error_no_memory(err);
}

/* "bytes 10-19/100"; an emulator says "bytes 10-9/10" for nothing behind the end. */
static bool parse_content_range(str text, int64_t *out_from, int64_t *out_to) {
    str head, size;
    if (!str_starts_with(text, STR("bytes "))) return false;
    str rest = str_slice(text, 6, text.len);
    if (!str_next(&rest, '-', &head) || !str_to_i64(head, out_from)) return false;
    if (!str_next(&rest, '/', &size) || !str_to_i64(size, out_to)) return false;
    return *out_from >= 0 && *out_to >= *out_from - 1 && *out_to < INT64_MAX;
}

/* A server may send all although a part was asked for; then the part is cut out of it. */
static silt_status cut_range(read_state *state, int64_t offset, int64_t length) {
    size_t got = state->out->len - state->before;
    size_t from = (uint64_t)offset < got ? (size_t)offset : got, n = got - from;
    if (length >= 0 && (uint64_t)length < n) n = (size_t)length;
    if (n > 0 && from > 0) memmove(state->out->ptr + state->before, state->out->ptr + state->before + from, n);
    state->out->len = state->before + n;
    return SILT_OK;
}

/* What is in the buffer could be of an attempt before, where the last one had no bytes at all. */
static bool is_whole(const http_response *r, const read_state *state) {
    int64_t told;
    str length = http_header_get(r, "content-length");
    if (str_is_null(length) || !str_is_null(http_header_get(r, "content-encoding"))) return true;
    return str_to_i64(length, &told) && (uint64_t)told == state->out->len - state->before;
}

static silt_status check_part(object_store *o, const http_response *r, const read_state *state, int64_t offset, int64_t length, silt_error *err) {
    int64_t from, to;
    int64_t got = (int64_t)(state->out->len - state->before);
    if (!parse_content_range(http_header_get(r, "content-range"), &from, &to)) return object_bad_answer(o, "Reading", "a part without Content-Range", err);
    bool right = from == offset && to - from + 1 == got && (length < 0 || got <= length);
    return right ? SILT_OK : object_bad_answer(o, "Reading", "another part of the object than was asked for", err);
}

/* The Range header; null: all of it. A range that ends beyond what a number can tell ends at the end. */
static str range_header(int64_t offset, int64_t length, arena *a) {
    if (length < 0 || length > INT64_MAX - offset) return arena_printf(a, "bytes=%lld-", (long long)offset);
    return arena_printf(a, "bytes=%lld-%lld", (long long)offset, (long long)(offset + length - 1));
}

static silt_status read_object(object_store *o, str key, int64_t offset, int64_t length, buf *out, arena *a, silt_error *err) {
    http_header headers[OBJECT_HEADERS];
    http_request r;
    http_response answer;
    read_state state = {out, out->len};
    bool part = offset > 0 || length >= 0;
    TRY(object_request_begin(o, OBJECT_READ, key, headers, &r, a, err));
    if (part && !object_add_header(&r, "Range", range_header(offset, length, a))) return error_no_memory(err);
    r.sink = take_bytes;
    r.sink_ctx = &state;
    r.repeatable = true;
    silt_status status = object_send(o, &r, "Reading", a, &answer, err);
    if (status == SILT_OK && answer.status == 416 && part) { /* the object is there, and ends before */
        out->len = state.before;
        return SILT_OK;
    }
    if (status == SILT_OK && !http_is_ok(&answer)) status = object_error_of(o, &answer, "Reading", key, a, err);
    if (status == SILT_OK && !is_whole(&answer, &state)) status = object_bad_answer(o, "Reading", "not as long as it says", err);
    if (status == SILT_OK && answer.status == 206) status = check_part(o, &answer, &state, offset, length, err);
    else if (status == SILT_OK && part) status = cut_range(&state, offset, length);
    if (status != SILT_OK) {
        if (state.before == 0) buf_clear(out);
        out->len = state.before;
        out->failed = false;
    }
    return status;
}

/* A part that no object reaches is not asked for: services differ in what they make of such numbers. */
#define OBJECT_MAX_BYTES (INT64_C(1) << 52)

silt_status object_store_read(store *s, str path, int64_t offset, int64_t length, buf *out, silt_error *err) {
    store_entry entry;
    arena *a = arena_new();
    if (!a) return error_no_memory(err);
    silt_status status;
    if (length == 0 || offset >= OBJECT_MAX_BYTES) {
        status = s->ops->stat(s, path, a, &entry, err);
        if (status == SILT_OK && entry.is_dir) status = err_FILE_NOT_FOUND(err, path);
    } else {
        status = read_object((object_store *)s, object_key(path), offset, length > OBJECT_MAX_BYTES ? -1 : length, out, a, err);
    }
    arena_free(a);
    return status;
}

/* ---- stat ---- */

silt_status object_head(object_store *o, str key, arena *a, object_info *out, silt_error *err) {
    http_header headers[OBJECT_HEADERS];
    http_request r;
    http_response answer;
    TRY(object_request_begin(o, OBJECT_STAT, key, headers, &r, a, err));
    r.repeatable = true;
    TRY(object_send(o, &r, "Looking at", a, &answer, err));
    if (!http_is_ok(&answer)) return object_error_of(o, &answer, "Looking at", key, a, err);
    *out = (object_info){.key = key};
    return o->driver->parse_info(o, &answer, a, out, err);
}

silt_status object_entry(const object_info *info, arena *a, store_entry *out, silt_error *err) {
    str key = info->key;
    while (info->is_folder && key.len > 0 && key.ptr[key.len - 1] == '/') key.len--;
    *out = (store_entry){.path = arena_printf(a, "/%.*s", STR_ARG(key)), .is_dir = info->is_folder};
    if (str_is_null(out->path)) return error_no_memory(err);
    if (info->is_folder) return SILT_OK;
    out->size_bytes = info->size_bytes;
    out->modified_ms = info->modified_ms;
    if (str_is_null(info->tag)) return SILT_OK;
    out->tag = arena_str(a, info->tag);
    return str_is_null(out->tag) ? error_no_memory(err) : SILT_OK;
}

silt_status object_store_stat(store *s, str path, arena *a, store_entry *out, silt_error *err) {
    object_store *o = (object_store *)s;
    str key = object_key(path);
    object_info info;
    bool any = false;
    *out = (store_entry){.path = STR("/"), .is_dir = true};
    if (key.len == 0) return SILT_OK;
    silt_status status = object_head(o, key, a, &info, err);
    if (status == SILT_OK) return object_entry(&info, a, out, err);
    if (status != SILT_NOT_FOUND || !o->driver->list_request) return status;
    silt_error ignored = {0};
    TRY(object_any_below(o, key, a, &any, &ignored) == SILT_OK ? SILT_OK : object_copy_error(&ignored, err));
    if (!any) return status;
    return object_entry(&(object_info){.key = key, .is_folder = true}, a, out, err);
}

silt_status object_copy_error(const silt_error *from, silt_error *err) {
    if (err) *err = *from;
    return from->status;
}

/* ---- removing ---- */

static silt_status remove_object(object_store *o, str key, arena *a, silt_error *err) {
    http_header headers[OBJECT_HEADERS];
    http_request r;
    http_response answer;
    TRY(object_request_begin(o, OBJECT_REMOVE, key, headers, &r, a, err));
    r.repeatable = true;
    TRY(object_send(o, &r, "Removing", a, &answer, err));
    if (http_is_ok(&answer) || (answer.status == 404 && answer.may_have_applied)) return SILT_OK; /* gone by an attempt whose answer was lost */
    return object_error_of(o, &answer, "Removing", key, a, err);
}

silt_status object_store_remove(store *s, str path, silt_error *err) {
    arena *a = arena_new();
    silt_status status = a ? remove_object((object_store *)s, object_key(path), a, err) : error_no_memory(err);
    arena_free(a);
    return status;
}

typedef struct removal {
    object_store *o;
    str dir;
    const str *names;
    silt_status *out;
    silt_error *first; /* under lock, as below */
    pthread_mutex_t lock;
    size_t first_at;
} removal;

static silt_status remove_one(void *ctx, size_t i, silt_error *err) {
    removal *r = ctx;
    silt_error why = {0};
    arena *a = arena_new();
    if (!a) return error_no_memory(err);
    str path = path_join(a, r->dir, r->names[i]);
    silt_status status = str_is_null(path) ? error_no_memory(&why) : remove_object(r->o, object_key(path), a, &why);
    arena_free(a);
    r->out[i] = status;
    if (status == SILT_OK || status == SILT_NOT_FOUND) return SILT_OK;
    pthread_mutex_lock(&r->lock);
    if (i < r->first_at && r->first) *r->first = why;
    if (i < r->first_at) r->first_at = i;
    pthread_mutex_unlock(&r->lock);
    return SILT_OK;
}

silt_status object_store_remove_below(store *s, str dir, const str *names, size_t n, silt_status *out, silt_error *err) {
    removal r = {.o = (object_store *)s, .dir = dir, .names = names, .out = out, .first = err, .first_at = SIZE_MAX};
    pthread_mutex_init(&r.lock, NULL);
    silt_status status = thread_for(OBJECT_REQUESTS, n, remove_one, &r, err);
    pthread_mutex_destroy(&r.lock);
    return status;
}
