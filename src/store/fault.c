/*
 * Faults on order, around any store. Every slot asks first, then calls through. A crash is remembered: the process that used this
 * store is then dead as far as storage can tell, whatever it still tries.
 */
#include <pthread.h>
#include <stdlib.h>

#include "store/store.h"

typedef struct fault_store {
    store base;
    store *inner; /* borrowed */
    store_fault_fn before;
    void *ctx;
    pthread_mutex_t lock;
    size_t calls; /* under lock, as below */
    bool crashed;
} fault_store;

static silt_status io_fault(const char *call, str path, const char *why, silt_error *err) {
    silt_status status = err_IO_ERROR(err, call, path);
    error_detail(err, "%s", why);
    return status;
}

/* The order for this call. A failure that comes before the call is returned and *out_fault is then FAULT_FAIL. */
static silt_status ask(fault_store *f, const char *call, str path, store_fault *out_fault, silt_error *err) {
    pthread_mutex_lock(&f->lock);
    size_t nth = ++f->calls;
    bool crashed = f->crashed;
    pthread_mutex_unlock(&f->lock);
    store_fault fault = crashed ? FAULT_CRASH : f->before(f->ctx, call, path, nth);
    if (fault == FAULT_CRASH || fault == FAULT_CRASH_AFTER) {
        pthread_mutex_lock(&f->lock);
        f->crashed = true;
        pthread_mutex_unlock(&f->lock);
    }
    *out_fault = fault;
    if (fault == FAULT_FAIL) return io_fault(call, path, "ordered by the test", err);
    if (fault == FAULT_CRASH) return io_fault(call, path, "the process has died", err);
    return SILT_OK;
}

/* What the caller learns of a call that was made. A lost reply to a put leaves its outcome open. */
static silt_status answer(store_fault fault, const char *call, str path, silt_status status, silt_error *err) {
    if (fault == FAULT_CRASH_AFTER) return io_fault(call, path, "the process has died", err);
    if (fault != FAULT_LOST_REPLY) return status;
    bool is_put = strcmp(call, "put") == 0 || strcmp(call, "write_finish") == 0;
    return is_put ? err_WRITE_OUTCOME_UNKNOWN(err, path) : io_fault(call, path, "the reply was lost", err);
}

#define AROUND(call, path, expression)                               \
    fault_store *f = (fault_store *)s;                               \
    store_fault fault;                                               \
    TRY(ask(f, call, path, &fault, err));                            \
    return answer(fault, call, path, (expression), err)

static silt_status fault_read(store *s, str path, int64_t offset, int64_t length, buf *out, silt_error *err) {
    fault_store *f = (fault_store *)s;
    store_fault fault;
    TRY(ask(f, "read", path, &fault, err));
    size_t before = out->len;
    silt_status status = store_read(f->inner, path, offset, length, out, err);
    if (fault == FAULT_SHORT) out->len = before + (out->len - before) / 2;
    if (fault == FAULT_LOST_REPLY || fault == FAULT_CRASH_AFTER) out->len = before;
    return answer(fault, "read", path, status, err);
}
static silt_status fault_stat(store *s, str path, arena *a, store_entry *out, silt_error *err) {
    AROUND("stat", path, store_stat(f->inner, path, a, out, err));
}

#define AROUND_TWICE(call, path, expression)                         \
    fault_store *f = (fault_store *)s;                               \
    store_fault fault;                                               \
    TRY(ask(f, call, path, &fault, err));                            \
    if (fault == FAULT_TWICE) (void)!(expression);                   \
    return answer(fault, call, path, (expression), err)

static silt_status fault_put(store *s, str path, str bytes, store_put_mode mode, silt_error *err) {
    AROUND_TWICE("put", path, store_put(f->inner, path, bytes, mode, err));
}
static silt_status fault_list(store *s, str dir, str start_at, bool recursive, arena *a, store_list_result *out, silt_error *err) {
    AROUND("list", dir, store_list(f->inner, dir, start_at, recursive, a, out, err));
}
static silt_status fault_remove(store *s, str path, silt_error *err) { AROUND_TWICE("remove", path, store_remove(f->inner, path, err)); }
static silt_status fault_make_dirs(store *s, str dir, silt_error *err) { AROUND("make_dirs", dir, store_make_dirs(f->inner, dir, err)); }
static silt_status fault_remove_dir(store *s, str dir, silt_error *err) { AROUND("remove_dir", dir, store_remove_dir(f->inner, dir, err)); }
static silt_status fault_local_read_path(store *s, str path, arena *a, str *out, silt_error *err) {
    AROUND("local_read_path", path, store_local_read_path(f->inner, path, a, out, err));
}
static silt_status fault_write_begin(store *s, str path, arena *a, str *out_local, silt_error *err) {
    AROUND("write_begin", path, store_write_begin(f->inner, path, a, out_local, err));
}
static silt_status fault_write_finish(store *s, str path, str local, silt_error *err) {
    AROUND("write_finish", path, store_write_finish(f->inner, path, local, err));
}

static silt_status fault_walk(store *s, str dir, const store_walker *w, silt_error *err) {
    AROUND("list", dir, store_walk(f->inner, dir, w, err));
}
static silt_status fault_list_page(store *s, str dir, str after, size_t limit, arena *a, store_list_result *out, silt_error *err) {
    AROUND("list", dir, f->inner->ops->list_page(f->inner, dir, after, limit, a, out, err));
}
/* Asked for each file, as if they were removed one by one. */
static silt_status fault_remove_below(store *s, str dir, const str *names, size_t n, silt_status *out, silt_error *err) {
    fault_store *f = (fault_store *)s;
    bool told = false;
    for (size_t i = 0; i < n; i++) {
        store_fault fault;
        silt_error why = {.status = SILT_OK};
        out[i] = ask(f, "remove", names[i], &fault, &why);
        if (out[i] == SILT_OK) TRY(store_remove_below(f->inner, dir, &names[i], 1, &out[i], &why));
        if (fault == FAULT_TWICE) TRY(store_remove_below(f->inner, dir, &names[i], 1, &out[i], &why));
        if (fault != FAULT_FAIL && fault != FAULT_CRASH) out[i] = answer(fault, "remove", names[i], out[i], &why);
        if (!told && out[i] != SILT_OK && out[i] != SILT_NOT_FOUND && err) *err = why, told = true;
    }
    return SILT_OK;
}
static silt_status fault_real_path(store *s, str path, arena *a, str *out, silt_error *err) {
    AROUND("real_path", path, store_real_path(f->inner, path, a, out, err));
}

/* A dead process removes nothing. */
static void fault_write_abort(store *s, str path, str local) {
    fault_store *f = (fault_store *)s;
    store_fault fault;
    if (ask(f, "write_abort", path, &fault, NULL) == SILT_OK) store_write_abort(f->inner, path, local);
}

static void fault_close(store *s) {
    fault_store *f = (fault_store *)s;
    pthread_mutex_destroy(&f->lock);
    free(f);
}

static const store_ops fault_ops = {
    .name = "fault",
    .close = fault_close,
    .read = fault_read,
    .stat = fault_stat,
    .put = fault_put,
    .list = fault_list,
    .remove = fault_remove,
    .make_dirs = fault_make_dirs,
    .remove_dir = fault_remove_dir,
    .local_read_path = fault_local_read_path,
    .write_begin = fault_write_begin,
    .write_finish = fault_write_finish,
    .write_abort = fault_write_abort,
    .walk = fault_walk,
    .remove_below = fault_remove_below,
    .real_path = fault_real_path,
};

/* Around a store of pages every page is a call. */
static const store_ops fault_page_ops = {
    .name = "fault",
    .close = fault_close,
    .read = fault_read,
    .stat = fault_stat,
    .put = fault_put,
    .list = fault_list,
    .remove = fault_remove,
    .make_dirs = fault_make_dirs,
    .remove_dir = fault_remove_dir,
    .local_read_path = fault_local_read_path,
    .write_begin = fault_write_begin,
    .write_finish = fault_write_finish,
    .write_abort = fault_write_abort,
    .list_page = fault_list_page,
    .remove_below = fault_remove_below,
    .real_path = fault_real_path,
};

silt_status store_fault_open(store *inner, store_fault_fn before, void *ctx, store **out, silt_error *err) {
    fault_store *f = calloc(1, sizeof *f);
    if (!f) return error_no_memory(err);
    *f = (fault_store){.base.ops = inner->ops->list_page ? &fault_page_ops : &fault_ops, .inner = inner, .before = before, .ctx = ctx};
    pthread_mutex_init(&f->lock, NULL);
    *out = &f->base;
    return SILT_OK;
}
