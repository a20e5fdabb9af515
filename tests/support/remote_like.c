#include "support/remote_like.h"

#include <stdlib.h>
#include <unistd.h>

typedef struct remote_like {
    store base;
    store *inner;
    const char *identity;
    int64_t latency_us;
    uint64_t n_reads; /* since the opening; atomic, as all below */
    remote_counts counts;
    int in_flight;
    void (*before_read)(void *ctx, uint64_t nth);
    void *ctx;
} remote_like;

static store *begin(store *s, uint64_t *counter) {
    remote_like *r = (remote_like *)s;
    __atomic_add_fetch(counter, 1, __ATOMIC_RELAXED);
    if (r->latency_us) usleep((useconds_t)r->latency_us);
    return r->inner;
}
#define COUNTER(s, name) (&((remote_like *)(s))->counts.name)

static void note_in_flight(remote_like *r) {
    int now = __atomic_add_fetch(&r->in_flight, 1, __ATOMIC_RELAXED), most = __atomic_load_n(&r->counts.most_in_flight, __ATOMIC_RELAXED);
    while (now > most && !__atomic_compare_exchange_n(&r->counts.most_in_flight, &most, now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
}

static silt_status like_read(store *s, str path, int64_t offset, int64_t length, buf *out, silt_error *err) {
    remote_like *r = (remote_like *)s;
    size_t before = out->len;
    note_in_flight(r);
    uint64_t nth = __atomic_add_fetch(&r->n_reads, 1, __ATOMIC_RELAXED);
    if (r->before_read) r->before_read(r->ctx, nth);
    silt_status status = store_read(begin(s, COUNTER(s, reads)), path, offset, length, out, err);
    __atomic_add_fetch(COUNTER(s, bytes), (int64_t)(out->len - before), __ATOMIC_RELAXED);
    __atomic_sub_fetch(&r->in_flight, 1, __ATOMIC_RELAXED);
    return status;
}
static silt_status like_stat(store *s, str path, arena *a, store_entry *out, silt_error *err) { return store_stat(begin(s, COUNTER(s, stats)), path, a, out, err); }
static silt_status like_put(store *s, str path, str bytes, store_put_mode mode, silt_error *err) { return store_put(begin(s, COUNTER(s, puts)), path, bytes, mode, err); }
static silt_status like_list(store *s, str dir, str start_at, bool recursive, arena *a, store_list_result *out, silt_error *err) {
    return store_list(begin(s, COUNTER(s, lists)), dir, start_at, recursive, a, out, err);
}
static silt_status like_remove(store *s, str path, silt_error *err) { return store_remove(begin(s, COUNTER(s, others)), path, err); }
static silt_status like_make_dirs(store *s, str dir, silt_error *err) { return store_make_dirs(begin(s, COUNTER(s, others)), dir, err); }
static silt_status like_remove_dir(store *s, str dir, silt_error *err) { return store_remove_dir(begin(s, COUNTER(s, others)), dir, err); }
static silt_status like_local_read_path(store *s, str path, arena *a, str *out, silt_error *err) {
    (void)s;
    (void)a;
    (void)out;
    return err_IO_ERROR(err, "a local path without the cache", path);
}
static silt_status like_write_begin(store *s, str path, arena *a, str *out_local, silt_error *err) { return store_write_begin(((remote_like *)s)->inner, path, a, out_local, err); }
static silt_status like_write_finish(store *s, str path, str local, silt_error *err) { return store_write_finish(begin(s, COUNTER(s, puts)), path, local, err); }
static void like_write_abort(store *s, str path, str local) { store_write_abort(((remote_like *)s)->inner, path, local); }
static void like_identity(store *s, buf *out) { buf_append_z(out, ((remote_like *)s)->identity); }
static void like_close(store *s) { free(s); }

static const store_ops like_ops = {
    .name = "remote-like",
    .close = like_close,
    .read = like_read,
    .stat = like_stat,
    .put = like_put,
    .list = like_list,
    .remove = like_remove,
    .make_dirs = like_make_dirs,
    .remove_dir = like_remove_dir,
    .local_read_path = like_local_read_path,
    .write_begin = like_write_begin,
    .write_finish = like_write_finish,
    .write_abort = like_write_abort,
    .parallel = 32,
    .identity = like_identity,
};

silt_status remote_like_open(store *inner, const char *identity, int64_t latency_us, store **out, silt_error *err) {
    remote_like *r = calloc(1, sizeof *r);
    if (!r) return error_no_memory(err);
    *r = (remote_like){.base.ops = &like_ops, .inner = inner, .identity = identity, .latency_us = latency_us};
    *out = &r->base;
    return SILT_OK;
}

remote_counts remote_like_counts(const store *s) { return ((const remote_like *)s)->counts; }
void remote_like_reset(store *s) { ((remote_like *)s)->counts = (remote_counts){0}; }

void remote_like_before_read(store *s, void (*fn)(void *ctx, uint64_t nth), void *ctx) {
    ((remote_like *)s)->before_read = fn;
    ((remote_like *)s)->ctx = ctx;
}
