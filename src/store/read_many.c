/*
 * Many ranges at once, for stores that have nothing special for it: threads that each read the next range. A store over HTTP spends its time waiting, so that many threads on few
 * processors are right, and blocking calls keep a back end's retries and signatures in one place.
 */
#include <stdlib.h>

#include "store/store.h"

#define DEFAULT_PARALLEL 8
#define REMOTE_PARALLEL  32

typedef struct many {
    store *s;
    store_range *ranges;
    const store_read_options *o;
} many;

static silt_status read_one(store *s, const store_range *r, silt_error *err) {
    bool tagged = !str_is_null(r->tag) && s->ops->read_tagged;
    return tagged ? s->ops->read_tagged(s, r->path, r->offset, r->length, r->tag, r->out, err) : store_read(s, r->path, r->offset, r->length, r->out, err);
}

silt_status store_read_range(store *s, store_range *ranges, size_t i, const store_read_options *o, silt_error *err) {
    store_range *r = &ranges[i];
    silt_error why = {.status = SILT_OK};
    silt_status status = cancel_check(o->cancel, &why);
    if (status == SILT_OK) status = read_one(s, r, &why);
    if (status == SILT_OK && !buf_ok(r->out)) status = error_no_memory(&why);
    if (status == SILT_OK && o->done) status = o->done(o->ctx, i, &why);
    r->status = status;
    if (status == SILT_OK || (status == SILT_NOT_FOUND && o->keep_going)) return SILT_OK;
    if (err) *err = why;
    return status;
}

static silt_status read_nth(void *ctx, size_t i, silt_error *err) {
    const many *m = ctx;
    return store_read_range(m->s, m->ranges, i, m->o, err);
}

silt_status store_read_many(store *s, store_range *ranges, size_t n, const store_read_options *o, silt_error *err) {
    static const store_read_options none = {0};
    if (!o) o = &none;
    for (size_t i = 0; i < n; i++) ranges[i].status = SILT_CANCELLED;
    if (s->ops->read_many) return s->ops->read_many(s, ranges, n, o, err);
    many m = {s, ranges, o};
    return thread_for(o->in_flight > 0 ? o->in_flight : store_parallel(s), n, read_nth, &m, err);
}

bool store_met_another_version(const silt_error *why) { return strcmp(why->condition, "STORE_OBJECT_CHANGED") == 0; }

bool store_proves_tags(store *s) { return s->ops->proves_tags && s->ops->proves_tags(s); }

int store_parallel(const store *s) { return s->ops->parallel > 0 ? s->ops->parallel : s->ops->local_ranges ? REMOTE_PARALLEL : DEFAULT_PARALLEL; }

int store_threads(const store *s, int n_threads) { return store_is_remote(s) ? store_parallel(s) : n_threads; }

bool store_is_remote(const store *s) { return s->ops->local_ranges != NULL || s->ops->parallel > 0; }

static silt_status local_paths(store *s, const store_sparse *files, size_t n, const cancel_token *cancel, arena *a, str *out_paths, size_t *out_failed, silt_error *err) {
    for (size_t i = 0; i < n; i++) {
        *out_failed = i;
        TRY(cancel_check(cancel, err));
        TRY(store_local_read_path(s, files[i].path, a, &out_paths[i], err));
    }
    *out_failed = n;
    return SILT_OK;
}

silt_status store_local_ranges(store *s, const store_sparse *files, size_t n, const cancel_token *cancel, arena *a, str *out_paths, size_t *out_failed, silt_error *err) {
    size_t unused;
    if (!out_failed) out_failed = &unused;
    *out_failed = n;
    if (!s->ops->local_ranges) return local_paths(s, files, n, cancel, a, out_paths, out_failed, err);
    return s->ops->local_ranges(s, files, n, cancel, a, out_paths, out_failed, err);
}

silt_status store_fetch_ahead(store *s, const store_sparse *files, size_t n, const cancel_token *cancel, arena *a, silt_error *err) {
    return n && s->ops->fetch_ahead ? s->ops->fetch_ahead(s, files, n, cancel, a, err) : SILT_OK;
}

int64_t store_kept_ns(store *s, const store_sparse *file) { return s->ops->kept_ns ? s->ops->kept_ns(s, file) : INT64_MAX; }

void store_drop_copy(store *s, str local) {
    if (s->ops->drop_copy) s->ops->drop_copy(s, local);
}

int64_t store_hint(store *s, str log_dir) { return s->ops->hint ? s->ops->hint(s, log_dir) : -1; }

void store_set_hint(store *s, str log_dir, int64_t version) {
    if (s->ops->set_hint) s->ops->set_hint(s, log_dir, version);
}
