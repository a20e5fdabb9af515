/* The log from version 0 on, and the folder. */
#include "support/table_files.h"

#include <stdio.h>

#include "base/uri.h"
#include "delta/commit_read.h"
#include "delta/path_set.h"

typedef struct known_files {
    path_set set;
    arena *a;
} known_files;

static silt_status know(known_files *k, str path, silt_error *err) {
    bool added;
    return path_set_add(&k->set, path, k->a, &added) ? SILT_OK : error_no_memory(err);
}

static silt_status know_commit(known_files *k, const delta_commit *c, silt_error *err) {
    for (size_t i = 0; i < c->n_adds; i++) {
        const delta_dv *dv = &c->adds[i].dv;
        str path = STR_NULL;
        TRY(know(k, uri_decode(c->adds[i].path, k->a), err));
        if (dv->storage == 'u') TRY(delta_dv_relative_path(dv, k->a, &path, err));
        if (path.ptr) TRY(know(k, path, err));
    }
    for (size_t i = 0; i < c->n_cdcs; i++) TRY(know(k, uri_decode(c->cdcs[i].path, k->a), err));
    return SILT_OK;
}

static silt_status know_log(const delta_env *env, str root, known_files *k, silt_error *err) {
    for (int64_t version = 0;; version++) {
        delta_commit c;
        silt_status status = delta_commit_read(env, root, version, k->a, &c, err);
        if (status == SILT_NOT_FOUND && version > 0) return SILT_OK;
        if (status == SILT_OK) status = know_commit(k, &c, err);
        if (status != SILT_OK) return status;
    }
}

static silt_status find_stray(store *s, str root, arena *a, str *out, silt_error *err) {
    store_list_result all = {0};
    known_files k = {.a = a};
    const delta_env env = {.store = s, .n_threads = 1};
    TRY(know_log(&env, root, &k, err));
    TRY(store_list(s, root, STR_NULL, true, a, &all, err));
    for (size_t i = 0; i < all.count && !out->ptr; i++) {
        str path = str_slice(all.items[i].path, root.len + 1, all.items[i].path.len);
        if (!str_starts_with(path, STR("_delta_log/")) && !path_set_has(&k.set, path)) *out = path;
    }
    return SILT_OK;
}

bool table_stray_file(const char *root, char *out, size_t capacity) {
    store *s = NULL;
    arena *a = arena_new();
    silt_error err = {0};
    str found = STR_NULL;
    silt_status status = store_local_open(&s, &err);
    if (status == SILT_OK) status = find_stray(s, str_of(root), a, &found, &err);
    if (status != SILT_OK) snprintf(out, capacity, "[%s] %s", err.condition, err.message);
    else if (found.ptr) snprintf(out, capacity, "%.*s", STR_ARG(found));
    store_close(s);
    arena_free(a);
    return status != SILT_OK || found.ptr != NULL;
}
