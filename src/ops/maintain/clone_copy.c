/*
 * Copying for a deep clone, many files at a time, each under a hidden name first and renamed when it is whole and on disk: what has a file's name is that file. A run that is
 * interrupted therefore leaves files that the next one need not copy, and nothing that a reader sees, because no log names them.
 */
#include <stdio.h>

#include "base/ident.h"
#include "base/uri.h"
#include "ops/maintain/clone_run.h"

#define BATCH 256 /* copied files that are made durable together */

typedef struct batch {
    const clone_run *r;
    const copy_task *tasks;
    size_t n;
    str paths[BATCH], locals[BATCH];
    bool was_there[BATCH];
} batch;

/* The name under which it is written: a hidden one of its own beside the path where the store writes in place. */
static str hidden(str path, str local, arena *a) {
    char uuid[37];
    uuid_generate(uuid);
    return str_eq(path, local) ? arena_printf(a, "%.*s/.silt-%s.tmp", STR_ARG(path_parent(path)), uuid) : local;
}

static silt_status begin_batch(batch *b) {
    const op *o = b->r->o;
    for (size_t i = 0; i < b->n; i++) {
        str local;
        b->paths[i] = path_join(o->a, b->r->spec->root, b->tasks[i].to);
        if (str_is_null(b->paths[i])) return error_no_memory(o->err);
        TRY(store_write_begin(o->env->delta->store, b->paths[i], o->a, &local, o->err));
        b->locals[i] = hidden(b->paths[i], local, o->a);
        if (str_is_null(b->locals[i])) return error_no_memory(o->err);
    }
    return SILT_OK;
}

/* The object that is there is whole if its size is the source's. */
static silt_status look(const batch *b, size_t i, store *from, str source, arena *a, bool *out, silt_error *err) {
    store_entry here, there;
    int64_t bytes = b->tasks[i].bytes;
    silt_error asked = {.status = SILT_OK};
    silt_status status = store_stat(b->r->o->env->delta->store, b->paths[i], a, &here, &asked);
    *out = false;
    if (status == SILT_NOT_FOUND) return SILT_OK;
    if (status != SILT_OK) {
        if (err) *err = asked;
        return status;
    }
    if (bytes < 0) {
        TRY(store_stat(from, source, a, &there, err));
        bytes = there.size_bytes;
    }
    *out = here.size_bytes == bytes;
    return SILT_OK;
}

static silt_status copy_in(batch *b, size_t i, arena *a, silt_error *err) {
    const clone_run *r = b->r;
    const copy_task *t = &b->tasks[i];
    store *from;
    str source;
    int64_t bytes;
    TRY(delta_resolve_path(r->source.env, r->source.root, t->from, a, &from, &source, err));
    TRY(look(b, i, from, source, a, &b->was_there[i], err));
    if (b->was_there[i]) return SILT_OK;
    TRY(store_copy_out(from, source, b->locals[i], r->o->env->delta->cancel, &bytes, err));
    return t->bytes < 0 || bytes == t->bytes ? SILT_OK : err_CLONE_FILE_CHANGED(err, t->from, t->bytes, bytes);
}

static silt_status copy_one(void *ctx, size_t i, silt_error *err) {
    arena *a = arena_new();
    silt_status status = a ? copy_in(ctx, i, a, err) : error_no_memory(err);
    arena_free(a);
    return status;
}

static silt_status finish_batch(batch *b) {
    const op *o = b->r->o;
    size_t n = 0;
    for (size_t i = 0; i < b->n; i++) {
        if (b->was_there[i]) continue;
        b->paths[n] = b->paths[i];
        b->locals[n++] = b->locals[i];
    }
    b->n = n;
    return store_write_finish_many(o->env->delta->store, b->paths, b->locals, n, o->err);
}

static silt_status run_batch(batch *b) {
    const op *o = b->r->o;
    size_t n = b->n;
    silt_status status = begin_batch(b);
    if (status == SILT_OK) status = thread_for(store_threads(o->env->delta->store, o->env->delta->n_threads), n, copy_one, b, o->err);
    if (status == SILT_OK) status = finish_batch(b);
    if (status == SILT_OK) return SILT_OK;
    for (size_t i = 0; i < b->n; i++)
        if (b->locals[i].ptr) store_write_abort(o->env->delta->store, b->paths[i], b->locals[i]);
    return status;
}

static void tell_progress(const op *o, size_t done, size_t all) {
    char text[64];
    if (!o->env->progress) return;
    (void)snprintf(text, sizeof text, "copying files: %zu of %zu", done, all);
    o->env->progress(o->env->progress_ctx, text, (double)done / (double)all);
}

silt_status clone_copy(clone_run *r, const deep_plan *plan) {
    const op *o = r->o;
    batch *b = ARENA_NEW(o->a, batch);
    if (!b) return error_no_memory(o->err);
    for (size_t at = 0; at < plan->n_tasks; at += BATCH) {
        TRY(cancel_check(o->env->delta->cancel, o->err));
        *b = (batch){.r = r, .tasks = plan->tasks + at, .n = plan->n_tasks - at < BATCH ? plan->n_tasks - at : BATCH};
        TRY(run_batch(b));
        for (size_t i = 0; i < BATCH && at + i < plan->n_tasks; i++) r->clone->numbers.found_files += b->was_there[i] && plan->tasks[at + i].bytes >= 0;
        tell_progress(o, at + BATCH < plan->n_tasks ? at + BATCH : plan->n_tasks, plan->n_tasks);
    }
    return SILT_OK;
}

/* ---- the folder of a new clone ---- */

static bool is_hidden(str relative) {
    str rest = relative, part;
    while (str_next(&rest, '/', &part))
        if (part.len && (part.ptr[0] == '.' || part.ptr[0] == '_')) return true;
    return false;
}

silt_status clone_check_folder(const clone_run *r, const deep_plan *plan) {
    const op *o = r->o;
    store_list_result found = {0};
    silt_error asked = {.status = SILT_OK};
    str root = r->spec->root;
    silt_status status = store_list(o->env->delta->store, root, STR_NULL, true, o->a, &found, &asked);
    if (status == SILT_NOT_FOUND) return SILT_OK;
    if (status != SILT_OK) {
        if (o->err) *o->err = asked;
        return status;
    }
    for (size_t i = 0; i < found.count; i++) {
        str relative = str_slice(found.items[i].path, root.len + 1, found.items[i].path.len);
        if (is_hidden(relative) || path_set_has(&plan->targets, relative)) continue;
        status = err_DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION(o->err, r->spec->table_name, store_path_named(o->env->delta->store, root, o->a));
        error_detail(o->err, "%.*s is not one of the files that the clone would have", STR_ARG(relative));
        return status;
    }
    return SILT_OK;
}
