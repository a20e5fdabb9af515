/* Looking for files in the store: what a listing does not show is asked for, one question per file, several at a time, since each waits for the store. */
#include "ops/maintain/presence.h"

typedef enum presence { IS_THERE, DATA_MISSING, VECTOR_MISSING } presence;

typedef struct search {
    const op *o;
    const delta_snapshot *s;
    const size_t *files; /* numbers in the snapshot */
    uint8_t *found;      /* a presence for each */
    path_set listed;
} search;

static silt_status is_missing(const search *c, str path, arena *a, bool *out, silt_error *err) {
    store *st;
    str absolute;
    store_entry entry;
    silt_error asked = {.status = SILT_OK};
    *out = false;
    TRY(delta_resolve_path(delta_snapshot_env(c->s), delta_snapshot_root(c->s), path, a, &st, &absolute, err));
    if (st == delta_snapshot_env(c->s)->store && ops_is_listed(&c->listed, delta_snapshot_root(c->s), absolute)) return SILT_OK;
    silt_status status = store_stat(st, absolute, a, &entry, &asked);
    *out = status == SILT_NOT_FOUND;
    if (status == SILT_OK || status == SILT_NOT_FOUND) return SILT_OK;
    if (err) *err = asked;
    return status;
}

static silt_status look(const search *c, size_t i, arena *a, silt_error *err) {
    delta_add add;
    bool missing;
    str vector;
    TRY(cancel_check(delta_snapshot_env(c->s)->cancel, err));
    TRY(delta_snapshot_file(c->s, c->files[i], false, a, &add, err));
    TRY(is_missing(c, add.path, a, &missing, err));
    if (missing) c->found[i] = DATA_MISSING;
    if (missing || !add.dv.storage) return SILT_OK;
    TRY(ops_vector_path(&add.dv, a, &vector, err));
    if (str_is_null(vector)) return SILT_OK;
    TRY(is_missing(c, vector, a, &missing, err));
    if (missing) c->found[i] = VECTOR_MISSING;
    return SILT_OK;
}

static silt_status look_for_one(void *ctx, size_t i, silt_error *err) {
    arena *a = arena_new();
    silt_status status = a ? look(ctx, i, a, err) : error_no_memory(err);
    arena_free(a);
    return status;
}

static silt_status name_missing(const search *c, size_t n, missing_files *out) {
    const op *o = c->o;
    size_t count = 0;
    for (size_t i = 0; i < n; i++) count += c->found[i] != IS_THERE;
    str *paths = ARENA_ARRAY(o->a, count + 1, str);
    if (!paths) return error_no_memory(o->err);
    *out = (missing_files){.paths = paths};
    for (size_t i = 0; i < n; i++) {
        delta_add add;
        if (c->found[i] == IS_THERE) continue;
        TRY(delta_snapshot_file(c->s, c->files[i], false, o->a, &add, o->err));
        str path = add.path;
        if (c->found[i] == VECTOR_MISSING) TRY(ops_vector_path(&add.dv, o->a, &path, o->err));
        paths[out->n++] = path;
    }
    return SILT_OK;
}

silt_status ops_find_missing(const op *o, const delta_snapshot *s, const uint8_t *chosen, missing_files *out) {
    size_t all = delta_snapshot_n_files(s), n = 0, *files = ARENA_ARRAY(o->a, all + 1, size_t);
    uint8_t *found = ARENA_ARRAY(o->a, all + 1, uint8_t);
    if (!files || !found) return error_no_memory(o->err);
    for (size_t i = 0; i < all; i++)
        if (!chosen || chosen[i]) files[n++] = i;
    memset(found, IS_THERE, n);
    search c = {.o = o, .s = s, .files = files, .found = found};
    TRY(ops_list_present(o, s, chosen, &c.listed));
    TRY(thread_for(store_threads(delta_snapshot_env(s)->store, delta_snapshot_env(s)->n_threads), n, look_for_one, &c, o->err));
    return name_missing(&c, n, out);
}
