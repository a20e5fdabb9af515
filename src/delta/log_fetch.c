/* Files of the log → what the store's read cache is asked for. */
#include "delta/log_fetch.h"

#include "base/uri.h"
#include "table/parquet_fetch.h"

silt_status log_file_tag(const delta_env *env, const store_entry *e, arena *a, str *out, silt_error *err) {
    *out = STR_NULL;
    if (!store_is_remote(env->store)) return SILT_OK;
    *out = str_is_null(e->tag) ? arena_printf(a, "%lld", (long long)e->modified_ms) : arena_str(a, e->tag);
    return str_is_null(*out) ? error_no_memory(err) : SILT_OK;
}

/* Only what ends everything is an error of fetching ahead. */
static silt_status ahead(silt_status status, const silt_error *why, silt_error *err) {
    if (status != SILT_CANCELLED && status != SILT_NO_MEMORY) return SILT_OK;
    if (err) *err = *why;
    return status;
}

silt_status log_fetch(const delta_env *env, const log_file *files, size_t n, arena *a, silt_error *err) {
    silt_error why = {.status = SILT_OK};
    if (n == 0 || !store_is_remote(env->store)) return SILT_OK;
    store_sparse *wanted = ARENA_ARRAY(a, n, store_sparse);
    if (!wanted) return error_no_memory(err);
    for (size_t i = 0; i < n; i++) wanted[i] = (store_sparse){.path = files[i].path, .size_bytes = files[i].size_bytes, .tag = files[i].tag};
    return ahead(store_fetch_ahead(env->store, wanted, n, env->cancel, a, &why), &why, err);
}

/* ---- Parquet ---- */

typedef struct path_list {
    parquet_path *items;
    size_t count, capacity;
    arena *arena;
} path_list;

/* Structs field by field, since only the leaves that are named are read; below lists and maps everything. */
static bool add_columns(path_list *l, const data_type *t, const str *above, size_t depth) {
    bool ok = true;
    if (t->id != TYPE_STRUCT || t->n_fields == 0) {
        parquet_path p = {above, depth};
        return ARENA_PUSH(l->arena, l->items, l->count, l->capacity, p);
    }
    for (size_t i = 0; ok && i < t->n_fields; i++) {
        str *names = ARENA_ARRAY(l->arena, depth + 1, str);
        if (!names) return false;
        if (depth) memcpy(names, above, depth * sizeof *names);
        names[depth] = t->fields[i].name;
        ok = add_columns(l, t->fields[i].type, names, depth + 1);
    }
    return ok;
}

static bool add_dotted(path_list *l, str dotted) {
    str names[8], rest = dotted;
    parquet_path p = {.n_names = 0};
    while (p.n_names < ARRAY_LEN(names) && str_next(&rest, '.', &names[p.n_names])) p.n_names++;
    str *kept = ARENA_ARRAY(l->arena, p.n_names + 1, str);
    if (!kept) return false;
    memcpy(kept, names, p.n_names * sizeof *kept);
    p.names = kept;
    return ARENA_PUSH(l->arena, l->items, l->count, l->capacity, p);
}

/* Checkpoints have some forty leaves, of which their writers make few row groups. */
#define CHECKPOINT_LEAVES 60
/* One request for a footer and one for most of the file take longer than one for all of it. */
#define WHOLE_BYTES ((int64_t)512 << 10)

bool log_fetch_may_be_rewritten(str path) { return str_find_char(path_name(path), '-') == SIZE_MAX; }

static silt_status make_wants(const log_file *files, size_t n, const data_type *columns, const str *more, size_t n_more, arena *a, parquet_want **out, silt_error *err) {
    path_list l = {.arena = a};
    bool ok = !columns || columns->n_fields == 0 || add_columns(&l, columns, NULL, 0);
    for (size_t i = 0; ok && i < n_more; i++) ok = add_dotted(&l, more[i]);
    *out = ARENA_ARRAY(a, n + 1, parquet_want);
    if (!ok || !*out) return error_no_memory(err);
    for (size_t i = 0; i < n; i++)
        (*out)[i] = (parquet_want){.path = files[i].path,
                                   .size_bytes = files[i].size_bytes,
                                   .tag = files[i].tag,
                                   .proves_tag = log_fetch_may_be_rewritten(files[i].path),
                                   .whole = files[i].size_bytes <= WHOLE_BYTES,
                                   .footer_guess = parquet_footer_guess(CHECKPOINT_LEAVES, -1, files[i].size_bytes),
                                   .paths = l.items,
                                   .n_paths = l.count};
    return SILT_OK;
}

static silt_status fetch_wants(const delta_env *env, parquet_want *wants, size_t n, arena *a, silt_error *err) {
    TRY(parquet_fetch_footers(env->store, wants, n, env->cancel, a, NULL, err));
    return wants[0].n_paths ? parquet_fetch_columns(env->store, wants, n, env->cancel, a, NULL, err) : SILT_OK;
}

silt_status log_fetch_parquets(const delta_env *env, const log_file *files, size_t n, const data_type *columns, const str *more, size_t n_more, arena *a, silt_error *err) {
    silt_error why = {.status = SILT_OK};
    parquet_want *wants;
    if (n == 0 || !env->store->ops->local_ranges) return SILT_OK;
    TRY(make_wants(files, n, columns, more, n_more, a, &wants, err));
    return ahead(fetch_wants(env, wants, n, a, &why), &why, err);
}

#define CLOCK_STEP_MS 2000 /* that a clock may be set back by meanwhile */

static bool was_kept_when_listed(const delta_env *env, const log_file *f) {
    store_sparse file = {.path = f->path, .size_bytes = f->size_bytes, .tag = f->tag};
    int64_t kept_ns = f->listed_ms > 0 && !str_is_null(f->tag) ? store_kept_ns(env->store, &file) : INT64_MAX;
    return kept_ns / 1000000 < f->listed_ms - CLOCK_STEP_MS;
}

static silt_status look_at(const delta_env *env, log_file *f, arena *a, silt_error *err) {
    store_entry e;
    TRY(store_stat(env->store, f->path, a, &e, err));
    f->size_bytes = e.size_bytes;
    f->modified_ms = e.modified_ms;
    f->listed_ms = 0;
    return log_file_tag(env, &e, a, &f->tag, err);
}

silt_status log_fetch_check(const delta_env *env, log_file *f, bool met_another, arena *a, bool *same, silt_error *err) {
    log_file now = *f;
    *same = true;
    if (!log_fetch_may_be_rewritten(f->path) || (!met_another && (store_proves_tags(env->store) || was_kept_when_listed(env, f)))) return SILT_OK;
    TRY(look_at(env, &now, a, err));
    bool same_time = store_is_remote(env->store) || now.modified_ms == f->modified_ms; /* listings and single answers of services round it differently */
    *same = now.size_bytes == f->size_bytes && same_time && str_eq(now.tag, f->tag);
    *f = now;
    return SILT_OK;
}

static silt_status fetch_as_told(const delta_env *env, const log_file *f, const data_type *columns, const str *more, size_t n_more, arena *a, str *out, silt_error *err) {
    parquet_want *want;
    TRY(make_wants(f, 1, columns, more, n_more, a, &want, err));
    TRY(fetch_wants(env, want, 1, a, err));
    *out = want->local;
    return SILT_OK;
}

/* Of a file that nobody listed: what it is, what is wanted of it, and whether it is still the same. */
static silt_status fetch_unlisted(const delta_env *env, log_file f, const data_type *columns, const str *more, size_t n_more, arena *a, str *out, silt_error *err) {
    TRY(look_at(env, &f, a, err));
    for (int i = 0; i < LOG_REWRITES_MAX; i++) {
        bool same;
        silt_error why = {.status = SILT_OK};
        silt_status status = fetch_as_told(env, &f, columns, more, n_more, a, out, &why);
        bool another = store_met_another_version(&why);
        TRY(log_fetch_check(env, &f, another, a, &same, err));
        if (!same || another) continue;
        if (status != SILT_OK && err) *err = why;
        return status;
    }
    return err_IO_ERROR(err, "read a whole version of", store_path_named(env->store, f.path, a));
}

static silt_status fetch_one(const delta_env *env, const log_file *f, const data_type *columns, const str *more, size_t n_more, arena *a, str *out, silt_error *err) {
    if (!store_is_remote(env->store)) return store_local_read_path(env->store, f->path, a, out, err);
    return f->size_bytes < 0 ? fetch_unlisted(env, *f, columns, more, n_more, a, out, err) : fetch_as_told(env, f, columns, more, n_more, a, out, err);
}

silt_status log_fetch_parquet(const delta_env *env, const log_file *f, const data_type *columns, const str *more, size_t n_more, arena *a, str *out, silt_error *err) {
    if (!env->parquet) return err_UNSUPPORTED_FEATURE(err, "Parquet checkpoints where no Parquet reader is given");
    silt_status status = fetch_one(env, f, columns, more, n_more, a, out, err);
    return status == SILT_NOT_FOUND ? store_path_error(env->store, f->path, err_DELTA_LOG_FILE_NOT_FOUND, err) : status;
}
