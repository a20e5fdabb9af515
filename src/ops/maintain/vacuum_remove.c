/* The last look at the log, and removing: files in pages, each after another look, on several threads; then empty folders, from the deepest up. */
#include <stdio.h>
#include <stdlib.h>

#include "base/uri.h"
#include "ops/maintain/vacuum_run.h"

#define PART 128 /* files that one thread removes at a time */

static int compare_files(const void *x, const void *y) { return str_cmp(((const vacuum_file *)x)->path, ((const vacuum_file *)y)->path); }
static int compare_folders(const void *x, const void *y) { return str_cmp(((const vacuum_folder *)x)->path, ((const vacuum_folder *)y)->path); }

/* ---- what is settled before anything goes ---- */

static bool is_at_or_below(str path, str folder) { return str_starts_with(path, folder) && (path.len == folder.len || path.ptr[folder.len] == '/'); }

static bool is_in_use(const vacuum_run *v, str path) {
    for (size_t i = 0; i < v->n_in_use; i++)
        if (is_at_or_below(path, v->in_use[i]) || is_at_or_below(v->in_use[i], path)) return true;
    return false;
}

static int compare_paths(const void *x, const void *y) { return str_cmp(*(const str *)x, *(const str *)y); }

/* Other tables in the folder are in use. */
static silt_status settle_tables(vacuum_run *v) {
    char text[1024];
    size_t n = 0;
    if (v->n_tables > 1) qsort(v->tables, v->n_tables, sizeof *v->tables, compare_paths);
    for (size_t i = 0; i < v->n_tables; i++) {
        if (i > 0 && str_eq(v->tables[i], v->tables[i - 1])) continue;
        if (!ARENA_PUSH(v->o->a, v->in_use, v->n_in_use, v->in_use_capacity, v->tables[i])) return error_no_memory(v->o->err);
        n++;
    }
    if (n == 0) return SILT_OK;
    (void)snprintf(text, sizeof text, "%zu folders in it are Delta tables of their own and were left alone, such as %.*s", n, STR_ARG(v->tables[0]));
    ops_note(v->o, text);
    return SILT_OK;
}

/* Whatever named it: the log is nobody's garbage. */
static bool is_log(str path) { return is_at_or_below(path, STR("_delta_log")); }

static void settle_files(vacuum_run *v) {
    size_t n = 0;
    for (size_t i = 0; i < v->n_files; i++) {
        str path = v->files[i].path;
        if (!delta_retained_has(v->retained, path) && !is_in_use(v, path) && !is_log(path)) v->files[n++] = v->files[i];
    }
    v->n_files = n;
    if (n > 1) qsort(v->files, n, sizeof *v->files, compare_files);
}

static vacuum_folder *parent_of(vacuum_run *v, str path) {
    size_t slash = str_rfind_char(path, '/');
    if (slash == SIZE_MAX || v->n_folders == 0) return NULL;
    vacuum_folder key = {.path = str_slice(path, 0, slash)};
    return bsearch(&key, v->folders, v->n_folders, sizeof key, compare_folders);
}

/* A folder is empty when all folders in it are. Descending order comes to children before their parents. */
static void settle_folders(vacuum_run *v) {
    size_t n = 0;
    if (v->n_folders > 1) qsort(v->folders, v->n_folders, sizeof *v->folders, compare_folders);
    for (size_t i = v->n_folders; i-- > 0;) {
        vacuum_folder *f = &v->folders[i], *parent = parent_of(v, f->path);
        f->is_old = f->is_old && f->n_empty == f->n_folders && !is_in_use(v, f->path);
        if (f->is_old && parent) parent->n_empty++;
    }
    for (size_t i = 0; i < v->n_folders; i++)
        if (v->folders[i].is_old && (n == 0 || !str_eq(v->folders[n - 1].path, v->folders[i].path))) v->folders[n++] = v->folders[i];
    v->n_folders = n;
}

silt_status vacuum_settle(vacuum_run *v) {
    TRY(delta_retained_update(v->retained, v->o->err));
    TRY(settle_tables(v));
    settle_files(v);
    settle_folders(v);
    v->out->files = (int64_t)v->n_files;
    v->out->folders = (int64_t)v->n_folders;
    v->out->folders_visited = v->n_folders_seen;
    v->out->bytes = 0;
    for (size_t i = 0; i < v->n_files; i++) v->out->bytes += v->files[i].size_bytes;
    return SILT_OK;
}

/* ---- removing ---- */

typedef struct page {
    vacuum_run *v;
    str *names;
    silt_status *outcomes;
    silt_error *errors; /* one per part */
    size_t n;
} page;

static str checksum_name(arena *a, str path) {
    size_t slash = str_rfind_char(path, '/'), from = slash == SIZE_MAX ? 0 : slash + 1;
    return arena_printf(a, "%.*s.%.*s.crc", STR_ARG(str_slice(path, 0, from)), STR_ARG(str_slice(path, from, path.len)));
}

/* Best effort: one that stays is garbage that nobody reads. */
static silt_status remove_checksums(const page *p, size_t from, size_t to, silt_error *err) {
    arena *a = arena_new();
    str names[PART];
    silt_status ignored[PART];
    silt_error why = {.status = SILT_OK};
    size_t n = 0;
    if (!a) return error_no_memory(err);
    for (size_t i = from; i < to; i++) {
        str name = p->outcomes[i] == SILT_OK ? checksum_name(a, p->names[i]) : STR_NULL;
        if (!str_is_null(name)) names[n++] = name;
    }
    (void)!store_remove_below(p->v->o->env->delta->store, p->v->spec->root, names, n, ignored, &why);
    arena_free(a);
    return SILT_OK;
}

static silt_status remove_part(void *ctx, size_t part, silt_error *err) {
    const page *p = ctx;
    size_t from = part * PART, to = from + PART < p->n ? from + PART : p->n;
    TRY(cancel_check(p->v->o->env->delta->cancel, err));
    silt_status status = store_remove_below(p->v->o->env->delta->store, p->v->spec->root, p->names + from, to - from, p->outcomes + from, &p->errors[part]);
    if (status != SILT_OK) {
        if (err) *err = p->errors[part];
        return status;
    }
    return p->v->has_checksums ? remove_checksums(p, from, to, err) : SILT_OK;
}

static void note_failures(const vacuum_run *v, const silt_error *first) {
    char text[2048];
    (void)snprintf(text, sizeof text, "%lld files could not be removed and will be tried again by the next VACUUM; the first: [%s] %s",
                   (long long)v->out->failed, first->condition, first->message);
    ops_note(v->o, text);
}

static void count_page(const page *p, silt_error *first) {
    vacuum_run *v = p->v;
    for (size_t i = 0; i < p->n; i++) {
        v->out->files += p->outcomes[i] == SILT_OK;
        v->out->failed += p->outcomes[i] != SILT_OK && p->outcomes[i] != SILT_NOT_FOUND;
    }
    for (size_t k = 0; k * PART < p->n && first->status == SILT_OK; k++)
        if (p->errors[k].status != SILT_OK) *first = p->errors[k];
}

/* Files that a commit has taken back since the last look are no longer garbage. */
static silt_status remove_page(vacuum_run *v, page *p, size_t from, size_t to, silt_error *first) {
    TRY(delta_retained_update(v->retained, v->o->err));
    p->n = 0;
    for (size_t i = from; i < to; i++)
        if (!delta_retained_has(v->retained, v->files[i].path)) p->names[p->n++] = v->files[i].path;
    memset(p->errors, 0, (STORE_PAGE / PART + 1) * sizeof *p->errors);
    TRY(thread_for(v->o->env->delta->n_threads, (p->n + PART - 1) / PART, remove_part, p, v->o->err));
    count_page(p, first);
    return SILT_OK;
}

static silt_status remove_files(vacuum_run *v) {
    const op *o = v->o;
    silt_error first = {.status = SILT_OK};
    page p = {.v = v,
              .names = ARENA_ARRAY(o->a, STORE_PAGE, str),
              .outcomes = ARENA_ARRAY(o->a, STORE_PAGE, silt_status),
              .errors = ARENA_ARRAY(o->a, STORE_PAGE / PART + 1, silt_error)};
    if (!p.names || !p.outcomes || !p.errors) return error_no_memory(o->err);
    for (size_t from = 0; from < v->n_files; from += STORE_PAGE) {
        size_t to = from + STORE_PAGE < v->n_files ? from + STORE_PAGE : v->n_files;
        if (o->env->progress) o->env->progress(o->env->progress_ctx, "removing files", (double)from / (double)v->n_files);
        TRY(remove_page(v, &p, from, to, &first));
    }
    if (v->out->failed > 0) note_failures(v, &first);
    return SILT_OK;
}

/* A folder into which somebody has written by now stays, as does one that may not be removed. */
static silt_status remove_folders(vacuum_run *v) {
    const op *o = v->o;
    for (size_t i = v->n_folders; i-- > 0;) {
        silt_error why = {.status = SILT_OK};
        str path = path_join(o->a, v->spec->root, v->folders[i].path);
        if (str_is_null(path)) return error_no_memory(o->err);
        TRY(cancel_check(o->env->delta->cancel, o->err));
        v->out->folders += store_remove_dir(o->env->delta->store, path, &why) == SILT_OK;
    }
    return SILT_OK;
}

silt_status vacuum_remove(vacuum_run *v) {
    v->out->files = v->out->folders = 0;
    TRY(remove_files(v));
    return remove_folders(v);
}
