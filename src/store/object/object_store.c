/*
 * Stores over services of objects by key: opening, errors, removing. Reading is object_read.c's, writing object_put.c's, listing object_list.c's.
 *
 * A path is "/" and the key. There are no folders: what a path leads to is an object, or a folder when other keys begin with it and '/'; making a folder does nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/thread.h"
#include "base/uri.h"
#include "store/object/object_early.h"
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
    if (s) out->waiter = s->waiter;
    if (str_to_i64(str_trim(store_setting(s, "silt.http.stallTimeoutMs")), &ms) && ms >= 100 && ms <= 3600000) out->stall_timeout_ms = ms;
}

silt_status object_store_configure(object_store *o, const store_settings *s, silt_error *err) {
    return store_setting_temp_dir(s, o->settings, &o->temp_base, err);
}

void object_store_close(store *s) {
    object_store *o = (object_store *)s;
    object_early_close(o);
    if (o->driver->dispose) o->driver->dispose(o);
    http_client_free(o->client);
    temp_folder_close(&o->temp);
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

/* By the status alone, where the service's code does not tell. */
static silt_status error_by_status(const object_store *o, const http_response *r, const object_error *e, const char *what, str where, silt_error *err) {
    bool mute = str_is_null(e->code) && (!o->driver->parse_error || r->body.len == 0);
    switch (r->status) {
        case 404:
        case 410: return mute ? err_FILE_NOT_FOUND(err, where) : err_STORE_REQUEST_FAILED(err, what, where, r->status);
        case 401:
        case 403:
        case 407: return err_STORE_ACCESS_DENIED(err, what, where);
        case 507: return err_NO_SPACE_LEFT(err, where);
        default: return err_STORE_REQUEST_FAILED(err, what, where, r->status);
    }
}

static silt_status error_by_meaning(const object_store *o, const http_response *r, const object_error *e, const char *what, str where, silt_error *err) {
    silt_status status;
    switch (e->meaning) {
        case OBJECT_ABSENT: return err_FILE_NOT_FOUND(err, where);
        case OBJECT_NO_BUCKET: return err_STORE_BUCKET_NOT_FOUND(err, o->where);
        case OBJECT_DENIED: return err_STORE_ACCESS_DENIED(err, what, where);
        case OBJECT_TOKEN_ENDED:
        case OBJECT_CLOCK:
            status = err_STORE_ACCESS_DENIED(err, what, where);
            error_hint(err, "%s", e->meaning == OBJECT_CLOCK ? OBJECT_HINT_CLOCK : OBJECT_HINT_TOKEN);
            return status;
        case OBJECT_OTHER: break;
    }
    return error_by_status(o, r, e, what, where, err);
}

static silt_status error_of(object_store *o, const http_response *r, const char *what, str key, bool needs_object, arena *a, silt_error *err) {
    object_error e = {.code = STR_NULL, .message = STR_NULL};
    if (o->driver->parse_error) o->driver->parse_error(o, r, a, &e);
    if (!needs_object && o->driver->has_one_absent && e.meaning == OBJECT_ABSENT) e.meaning = OBJECT_NO_BUCKET;
    silt_status status = error_by_meaning(o, r, &e, what, where_of(o, key, a), err);
    const char *glue = e.remark ? "; " : "", *remark = e.remark ? e.remark : "";
    str_is_null(e.code) ? error_detail(err, "HTTP status %d%s%s", r->status, glue, remark)
                        : error_detail(err, "HTTP status %d, %.*s: %.*s%s%s", r->status, STR_ARG(e.code), STR_ARG(e.message), glue, remark);
    return status;
}

silt_status object_error_of(object_store *o, const http_response *r, const char *what, str key, arena *a, silt_error *err) { return error_of(o, r, what, key, true, a, err); }

silt_status object_error_without(object_store *o, const http_response *r, const char *what, str key, arena *a, silt_error *err) { return error_of(o, r, what, key, false, a, err); }

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
