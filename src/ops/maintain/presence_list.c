/*
 * Which of a table's files are there, by one listing of its folder: a page tells of a thousand files, a question of one. That a file is listed is proof enough; that it is not is none. A folder may hold
 * far more than the table does (what VACUUM has not yet removed), so the listing ends when it has cost as many pages as there are questions.
 */
#include "ops/maintain/presence.h"

#define FEW 8 /* questions that are asked at once anyway */

typedef struct listing {
    const op *o;
    path_set wanted, *found; /* below the root */
    size_t most, seen;       /* entries, a page of them for each request; seen by several threads */
    bool given_up;
} listing;

static str below(str root, str absolute) {
    bool is = absolute.len > root.len + 1 && str_starts_with(absolute, root) && absolute.ptr[root.len] == '/';
    return is ? str_slice(absolute, root.len + 1, absolute.len) : STR_NULL;
}

bool ops_is_listed(const path_set *listed, str root, str absolute) {
    str path = below(root, absolute);
    return listed->count > 0 && !str_is_null(path) && path_set_has(listed, path);
}

silt_status ops_vector_path(const delta_dv *dv, arena *a, str *out, silt_error *err) {
    *out = dv->storage == 'p' ? dv->path_or_inline : STR_NULL;
    return dv->storage == 'u' ? delta_dv_relative_path(dv, a, out, err) : SILT_OK;
}

static silt_status want(listing *l, const delta_snapshot *s, str path) {
    const op *o = l->o;
    store *st;
    str absolute;
    bool added;
    if (str_is_null(path)) return SILT_OK;
    TRY(delta_resolve_path(delta_snapshot_env(s), delta_snapshot_root(s), path, o->a, &st, &absolute, o->err));
    str inside = below(delta_snapshot_root(s), absolute);
    if (st != delta_snapshot_env(s)->store || str_is_null(inside)) return SILT_OK;
    return path_set_add(&l->wanted, inside, o->a, &added) ? SILT_OK : error_no_memory(o->err);
}

static silt_status collect(listing *l, const delta_snapshot *s, const uint8_t *chosen) {
    for (size_t i = 0; i < delta_snapshot_n_files(s); i++) {
        delta_add add;
        str vector;
        if (chosen && !chosen[i]) continue;
        TRY(delta_snapshot_file(s, i, false, l->o->a, &add, l->o->err));
        TRY(want(l, s, add.path));
        TRY(ops_vector_path(&add.dv, l->o->a, &vector, l->o->err));
        TRY(want(l, s, vector));
    }
    return SILT_OK;
}

static store_walk_wish look(void *ctx, const store_walk_entry *e) {
    listing *l = ctx;
    if (str_eqz(e->path, "_delta_log") || str_starts_with(e->path, STR("_delta_log/"))) return STORE_WALK_SKIP;
    size_t cost = e->kind == STORE_FOLDER ? STORE_PAGE : 1; /* where there are folders, each is a page of its own */
    bool too_many = __atomic_add_fetch(&l->seen, cost, __ATOMIC_RELAXED) > l->most;
    return too_many || (e->kind == STORE_FILE && path_set_has(&l->wanted, e->path)) ? STORE_WALK_TAKE : STORE_WALK_PASS;
}

static silt_status take(void *ctx, const store_walk_entry *e, silt_error *err) {
    listing *l = ctx;
    bool added;
    l->given_up = l->found->count == l->wanted.count || __atomic_load_n(&l->seen, __ATOMIC_RELAXED) > l->most;
    if (l->given_up) return SILT_CANCELLED;
    if (e->kind != STORE_FILE || !path_set_has(&l->wanted, e->path)) return SILT_OK;
    str path = arena_str(l->o->a, e->path);
    return !str_is_null(path) && path_set_add(l->found, path, l->o->a, &added) ? SILT_OK : error_no_memory(err);
}

silt_status ops_list_present(const op *o, const delta_snapshot *s, const uint8_t *chosen, path_set *out) {
    const delta_env *env = delta_snapshot_env(s);
    listing l = {.o = o, .found = out};
    silt_error why = {.status = SILT_OK};
    *out = (path_set){0};
    if (!store_is_remote(env->store)) return SILT_OK;
    TRY(collect(&l, s, chosen));
    if (l.wanted.count <= FEW) return SILT_OK;
    l.most = l.wanted.count * STORE_PAGE;
    const store_walker w = {.ctx = &l, .n_threads = env->n_threads, .cancel = env->cancel, .look = look, .take = take};
    silt_status status = store_walk(env->store, delta_snapshot_root(s), &w, &why);
    if (status == SILT_OK || l.given_up || status == SILT_NOT_FOUND) return SILT_OK;
    if (o->err) *o->err = why;
    return status;
}
