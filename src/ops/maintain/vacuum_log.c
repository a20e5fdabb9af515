/*
 * VACUUM LITE: garbage by what commits took out of the table since the last VACUUM, as Delta does it: no listing, but files that were never committed
 * stay. Where the last one ended stands in _delta_log/_last_vacuum_info. Candidates that come from a text and not from the folder are looked at one by
 * one before they count.
 */
#include <stdlib.h>

#include "base/json.h"
#include "base/uri.h"
#include "delta/log_path.h"
#include "ops/maintain/vacuum_run.h"

#define LAST_VACUUM     "_last_vacuum_info"
#define LAST_VACUUM_KEY "latestCommitVersionOutsideOfRetentionWindow"

static str last_vacuum_path(const vacuum_run *v) {
    str dir = log_path_dir(v->spec->root, v->o->a);
    return str_is_null(dir) ? dir : path_join(v->o->a, dir, STR(LAST_VACUUM));
}

/* -1: not known. A text that is not understood is no information. */
static silt_status read_last(const vacuum_run *v, int64_t *out) {
    const json_node *node;
    buf text;
    silt_error why = {.status = SILT_OK};
    str path = last_vacuum_path(v);
    *out = -1;
    if (str_is_null(path)) return error_no_memory(v->o->err);
    buf_init(&text, 1 << 16);
    silt_status status = store_read(v->o->env->delta->store, path, 0, 1 << 16, &text, &why);
    if (status == SILT_OK && json_parse(str_trim(buf_str(&text)), v->o->a, &node, NULL) == SILT_OK) *out = json_get_i64(node, LAST_VACUUM_KEY, -1);
    buf_dispose(&text);
    if (status == SILT_OK || status == SILT_NOT_FOUND) return SILT_OK;
    if (v->o->err) *v->o->err = why;
    return status;
}

void vacuum_keep_last(const vacuum_run *v) {
    silt_error ignored = {.status = SILT_OK};
    str path = last_vacuum_path(v),
        text = v->lite_version >= 0 ? arena_printf(v->o->a, "{\"" LAST_VACUUM_KEY "\":%lld}\n", (long long)v->lite_version) : STR("{}\n");
    if (!str_is_null(path) && !str_is_null(text)) (void)!store_put(v->o->env->delta->store, path, text, STORE_PUT_REPLACE, &ignored);
}

/* ---- candidates ---- */

static silt_status take_removed(void *ctx, const removed_file *f, silt_error *err) {
    vacuum_run *v = ctx;
    if (f->removed_ms >= v->cutoff_ms || delta_retained_has(v->retained, f->path) || vacuum_is_hidden(v, f->path)) return SILT_OK;
    vacuum_file file = {.path = arena_str(v->o->a, f->path)};
    if (str_is_null(file.path) || !ARENA_PUSH(v->o->a, v->files, v->n_files, v->files_capacity, file)) return error_no_memory(err);
    return SILT_OK;
}

silt_status vacuum_find_in_log(vacuum_run *v) {
    const op *o = v->o;
    int64_t earliest, last;
    v->has_checksums = true;
    if (v->lite_version < 0) return SILT_OK; /* nothing is older than the retention */
    TRY(delta_earliest_commit(o->env->delta, v->spec->root, &earliest, o->err));
    TRY(read_last(v, &last));
    if (earliest != 0 && last < earliest) return err_DELTA_CANNOT_VACUUM_LITE(o->err);
    TRY(delta_each_removed_file(o->env->delta, v->spec->root, last >= 0 ? last + 1 : 0, v->lite_version, take_removed, v, o->err));
    return vacuum_confirm_files(v);
}

/* ---- looking at them ---- */

#define CHUNK 256

typedef struct confirmation {
    vacuum_run *v;
    str real_root;
    uint8_t *is_there;
    size_t chunk; /* files that one thread asks for one after the other */
} confirmation;

/* No link stands before the file: its folder's real path is the one that its name says. */
static silt_status is_below_root(const confirmation *c, str folder, arena *a, bool *out, silt_error *err) {
    silt_error why = {.status = SILT_OK};
    str real, whole = path_join(a, c->v->spec->root, folder), wanted = folder.len ? path_join(a, c->real_root, folder) : c->real_root;
    if (str_is_null(whole) || str_is_null(wanted)) return error_no_memory(err);
    silt_status status = store_real_path(c->v->o->env->delta->store, whole, a, &real, &why);
    *out = status == SILT_OK && str_eq(real, wanted);
    if (status == SILT_OK || status == SILT_NOT_FOUND) return SILT_OK;
    if (err) *err = why;
    return status;
}

static silt_status confirm_file(const confirmation *c, vacuum_file *f, arena *a, bool *out, silt_error *err) {
    store_entry e;
    silt_error why = {.status = SILT_OK};
    str path = path_join(a, c->v->spec->root, f->path);
    *out = false;
    if (str_is_null(path)) return error_no_memory(err);
    silt_status status = store_stat(c->v->o->env->delta->store, path, a, &e, &why);
    if (status != SILT_OK) {
        if (status != SILT_NOT_FOUND && err) *err = why;
        return status == SILT_NOT_FOUND ? SILT_OK : status;
    }
    *out = !e.is_dir && e.modified_ms < c->v->cutoff_ms;
    f->size_bytes = e.size_bytes;
    return SILT_OK;
}

static silt_status confirm_chunk(void *ctx, size_t chunk, silt_error *err) {
    const confirmation *c = ctx;
    arena *a = arena_new();
    str folder = STR_NULL;
    bool below = false;
    silt_status status = a ? SILT_OK : error_no_memory(err);
    for (size_t i = chunk * c->chunk; status == SILT_OK && i < (chunk + 1) * c->chunk && i < c->v->n_files; i++) {
        vacuum_file *f = &c->v->files[i];
        bool there = false;
        size_t slash = str_rfind_char(f->path, '/');
        str its = slash == SIZE_MAX ? STR("") : str_slice(f->path, 0, slash);
        if (str_is_null(folder) || !str_eq(folder, its)) {
            status = is_below_root(c, its, a, &below, err);
            folder = its;
        }
        if (status == SILT_OK && below) status = confirm_file(c, f, a, &there, err);
        c->is_there[i] = there;
    }
    arena_free(a);
    return status == SILT_OK ? cancel_check(c->v->o->env->delta->cancel, err) : status;
}

static int compare_files(const void *x, const void *y) { return str_cmp(((const vacuum_file *)x)->path, ((const vacuum_file *)y)->path); }

static void keep_each_once(vacuum_run *v) {
    size_t n = 0;
    if (v->n_files > 1) qsort(v->files, v->n_files, sizeof *v->files, compare_files);
    for (size_t i = 0; i < v->n_files; i++)
        if (n == 0 || !str_eq(v->files[n - 1].path, v->files[i].path)) v->files[n++] = v->files[i];
    v->n_files = n;
}

silt_status vacuum_confirm_files(vacuum_run *v) {
    const op *o = v->o;
    keep_each_once(v);
    if (v->n_files == 0) return SILT_OK;
    store *s = o->env->delta->store;
    confirmation c = {.v = v, .chunk = store_is_remote(s) ? 1 : CHUNK, .is_there = ARENA_ARRAY(o->a, v->n_files, uint8_t)};
    if (!c.is_there) return error_no_memory(o->err);
    TRY(store_real_path(s, v->spec->root, o->a, &c.real_root, o->err));
    TRY(thread_for(store_threads(s, o->env->delta->n_threads), (v->n_files + c.chunk - 1) / c.chunk, confirm_chunk, &c, o->err));
    size_t n = 0;
    for (size_t i = 0; i < v->n_files; i++)
        if (c.is_there[i]) v->files[n++] = v->files[i];
    v->n_files = n;
    return SILT_OK;
}
