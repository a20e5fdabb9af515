/*
 * Is a VACUUM under way? History tells: VACUUM START stands before the first file is removed, VACUUM END after the last. Between the two its last look at the log may lie behind, so that it
 * does not see a commit which takes a file back. What it may remove follows from its start and its retention, as it follows for VACUUM itself.
 */
#include "ops/maintain/running_vacuum.h"

#include "base/json.h"
#include "base/time.h"
#include "delta/commit_read.h"
#include "delta/retained.h"
#include "delta/table_path.h"

#define MAY_RUN_MS INT64_C(86400000) /* longer than any VACUUM takes to remove what it found */
#define CHUNK      64                /* entries that are read at a time */

typedef enum entry_kind { ENTRY_OTHER, ENTRY_START, ENTRY_END, ENTRY_GONE } entry_kind;

typedef struct entry {
    entry_kind kind;
    int64_t time_ms; /* -1 unknown */
    int64_t cutoff_ms;
} entry;

typedef struct log_reader {
    const delta_env *env;
    str root;
    int64_t newest; /* of the chunk; entries[i] is that of newest - i */
    entry *entries;
} log_reader;

static int64_t number_of(const json_node *parameters, const char *key) {
    int64_t n = -1;
    const json_node *node = json_get(parameters, key);
    if (!node || json_node_i64(node, &n)) return n;
    return node->type == JSON_STRING && str_to_i64(node->text, &n) ? n : -1;
}

static entry entry_of(const json_node *info) {
    str operation = json_get_str(info, "operation", STR(""));
    const json_node *parameters = json_get(info, "operationParameters");
    entry e = {.kind = str_eqz(operation, "VACUUM START") ? ENTRY_START : str_eqz(operation, "VACUUM END") ? ENTRY_END : ENTRY_OTHER,
               .time_ms = json_get_i64(info, "timestamp", -1)};
    int64_t specified = number_of(parameters, "specifiedRetentionMillis"), usual = number_of(parameters, "defaultRetentionMillis");
    int64_t retention = specified >= 0 ? specified : usual >= 0 ? usual : 0;
    e.cutoff_ms = e.time_ms < 0 ? INT64_MAX : e.time_ms - retention;
    return e;
}

static silt_status read_entry(void *ctx, size_t i, silt_error *err) {
    const log_reader *r = ctx;
    arena *a = arena_new();
    str text;
    const json_node *info = NULL;
    silt_error why = {.status = SILT_OK};
    if (!a) return error_no_memory(err);
    silt_status status = delta_commit_info_read(r->env, r->root, r->newest - (int64_t)i, a, &text, &why);
    if (status == SILT_OK && !str_is_null(text)) (void)!json_parse(text, a, &info, NULL);
    r->entries[i] = status == SILT_NOT_FOUND ? (entry){.kind = ENTRY_GONE} : entry_of(info);
    arena_free(a);
    if (status == SILT_OK || status == SILT_NOT_FOUND) return SILT_OK;
    if (err) *err = why;
    return status;
}

typedef struct search {
    int64_t version, cutoff_ms; /* of the running one that may remove most; version -1: none */
    int64_t n_ends;             /* whose start was not met yet */
} search;

/* false: no need to look further back. */
static bool take_entry(search *s, const entry *e, int64_t version, int64_t now_ms) {
    if (e->kind == ENTRY_GONE || (e->time_ms >= 0 && e->time_ms < now_ms - MAY_RUN_MS)) return false;
    if (e->kind == ENTRY_END) s->n_ends++;
    if (e->kind != ENTRY_START) return true;
    if (s->n_ends > 0) s->n_ends--;
    else if (s->version < 0 || e->cutoff_ms > s->cutoff_ms) *s = (search){version, e->cutoff_ms, 0};
    return true;
}

static silt_status find_running(const op *o, const delta_snapshot *target, int64_t newest, search *out) {
    entry entries[CHUNK];
    log_reader r = {.env = delta_snapshot_env(target), .root = delta_snapshot_root(target), .entries = entries};
    int64_t now_ms = time_now_ms(), oldest = delta_snapshot_version(target) + 1;
    *out = (search){.version = -1};
    for (r.newest = newest; r.newest >= oldest; r.newest -= CHUNK) {
        size_t n = r.newest - oldest + 1 < CHUNK ? (size_t)(r.newest - oldest + 1) : CHUNK;
        TRY(thread_for(r.env->n_threads, n, read_entry, &r, o->err));
        for (size_t i = 0; i < n; i++)
            if (!take_entry(out, &entries[i], r.newest - (int64_t)i, now_ms)) return SILT_OK;
    }
    return SILT_OK;
}

/* ---- the files ---- */

typedef struct files {
    const op *o;
    const delta_retained *retained;
    const uint8_t *chosen;
    table_paths paths;
    str found; /* {NULL,0} */
} files;

static silt_status look_at(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    files *f = ctx;
    str data, vector;
    if (!f->chosen[i] || !str_is_null(f->found)) return SILT_OK;
    TRY(table_path_relative(&f->paths, add->path, f->o->a, &data, err));
    TRY(table_path_of_dv(&f->paths, &add->dv, f->o->a, &vector, err));
    if (!str_is_null(data) && !delta_retained_has(f->retained, data)) f->found = arena_str(f->o->a, data);
    else if (!str_is_null(vector) && !delta_retained_has(f->retained, vector)) f->found = arena_str(f->o->a, vector);
    return SILT_OK;
}

silt_status ops_vacuum_may_remove(const op *o, const delta_snapshot *current, const delta_snapshot *target, int64_t newest, const uint8_t *chosen, int64_t *out_version,
                                  str *out_file) {
    search running;
    delta_retained *retained;
    *out_version = -1;
    TRY(find_running(o, target, newest, &running));
    if (running.version < 0) return SILT_OK;
    TRY(delta_retained_load(current, running.cutoff_ms, &retained, o->err));
    files f = {.o = o, .retained = retained, .chosen = chosen};
    table_paths_init(&f.paths, delta_snapshot_env(target), delta_snapshot_root(target), o->a);
    silt_status status = delta_snapshot_each_file(target, false, look_at, &f, o->err);
    delta_retained_free(retained);
    if (status != SILT_OK || str_is_null(f.found)) return status;
    *out_version = running.version;
    *out_file = f.found;
    return SILT_OK;
}
