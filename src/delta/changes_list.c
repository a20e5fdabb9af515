/*
 * From commits to changed files. PROTOCOL.md "Add CDC File": with a change data file a commit's other file actions are not looked at. Commits are read in parallel, each
 * into an arena of its own.
 */
#include "delta/changes_list.h"

#include <stdlib.h>

#include "delta/commit_read.h"
#include "delta/commit_times.h"
#include "delta/properties.h"

#define FEED "delta.enableChangeDataFeed"

/** One commit's turn. */
typedef struct commit_changes {
    arena *arena;
    const delta_metadata *metadata; /* NULL: the commit has none */
    change_file *files;
    size_t n_files, capacity;
} commit_changes;

typedef struct reading {
    const delta_changes_spec *spec;
    const delta_env *env;
    str root;
    const int64_t *times_ms; /**< by version - from; of the commit files */
    commit_changes *commits;
    size_t n;
} reading;

/* ---- checks ---- */

static silt_status no_feed(const reading *r, int64_t version, silt_error *err) {
    return err_DELTA_MISSING_CHANGE_DATA(err, r->spec->from, r->spec->to, version);
}

static silt_status check_schema(const reading *r, const delta_metadata *m, int64_t version, bool is_change, arena *a,
                                silt_error *err) {
    const delta_metadata *read = delta_snapshot_metadata(r->spec->read);
    int64_t read_version = delta_snapshot_version(r->spec->read);
    if (r->spec->unsafe || delta_changes_schema_fits(m, version, read, read_version)) return SILT_OK;
    str text = type_simple(read->schema, a);
    return is_change ? err_DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_SCHEMA_CHANGE(err, r->spec->from, r->spec->to, text, version)
                     : err_DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_DATA_SCHEMA(err, r->spec->from, r->spec->to, text, read_version,
                                                                           version);
}

static silt_status check_metadata(const reading *r, const delta_metadata *m, int64_t version, bool is_change, arena *a,
                                  silt_error *err) {
    if (!delta_config_bool(&m->configuration, FEED)) return no_feed(r, version, err);
    return check_schema(r, m, version, is_change, a, err);
}

/* The commits tell the metadata at the start of the range where the first has it, or where none of them changes what is read by. */
static const delta_metadata *metadata_at_start(const reading *r) {
    if (r->commits[0].metadata) return r->commits[0].metadata;
    bool changes = r->spec->to != delta_snapshot_version(r->spec->read);
    for (size_t i = 1; i < r->n; i++) changes |= r->commits[i].metadata != NULL;
    return changes ? NULL : delta_snapshot_metadata(r->spec->read);
}

/* What held when the first version of the range was written: else its whole state has to be rebuilt. */
static silt_status check_start(const reading *r, arena *a, silt_error *err) {
    const delta_metadata *m = metadata_at_start(r);
    delta_snapshot *s;
    if (m) return check_metadata(r, m, r->spec->from, false, a, err);
    TRY(delta_snapshot_load(r->env, r->root, r->spec->from, &s, err));
    silt_status status = check_metadata(r, delta_snapshot_metadata(s), r->spec->from, false, a, err);
    delta_snapshot_release(s);
    return status;
}

static silt_status check_all(const reading *r, arena *a, silt_error *err) {
    TRY(check_start(r, a, err));
    for (size_t i = 0; i < r->n; i++)
        if (r->commits[i].metadata) TRY(check_metadata(r, r->commits[i].metadata, r->spec->from + (int64_t)i, true, a, err));
    return SILT_OK;
}

/* ---- file actions ---- */

static bool is_zero(const json_node *metrics, const char *key) { return str_eqz(json_get_str(metrics, key, STR_NULL), "0"); }

/* A MERGE that only copied rows changed none, whatever its actions say. */
static bool only_copied(str commit_info, arena *a) {
    const json_node *info;
    if (!commit_info.ptr || json_parse(commit_info, a, &info, NULL) != SILT_OK) return false;
    const json_node *metrics = json_get(info, "operationMetrics");
    return str_eqz(json_get_str(info, "operation", STR_NULL), "MERGE") && is_zero(metrics, "numTargetRowsInserted") &&
           is_zero(metrics, "numTargetRowsUpdated") && is_zero(metrics, "numTargetRowsDeleted");
}

static silt_status push(commit_changes *c, change_file f, silt_error *err) {
    return ARENA_PUSH(c->arena, c->files, c->n_files, c->capacity, f) ? SILT_OK : error_no_memory(err);
}

static change_file of_add(const delta_add *add, change_kind kind) {
    return (change_file){.kind = kind,
                         .path = add->path,
                         .partition_values = add->partition_values,
                         .size_bytes = add->size_bytes,
                         .modified_ms = add->modification_time_ms,
                         .stats = add->stats,
                         .without = add->dv};
}

static change_file of_remove(const delta_remove *remove) {
    return (change_file){.kind = CHANGE_DELETE,
                         .path = remove->path,
                         .partition_values = remove->partition_values,
                         .size_bytes = remove->size_bytes,
                         .stats = remove->stats,
                         .without = remove->dv};
}

/* The same file with another deletion vector: rows that went, rows that came back. */
static silt_status push_difference(commit_changes *c, const delta_add *add, const delta_remove *remove, silt_error *err) {
    change_file f = of_add(add, CHANGE_DELETE);
    f.only_difference = true;
    f.with = add->dv;
    f.without = remove->dv;
    if (f.with.storage) TRY(push(c, f, err));
    f.kind = CHANGE_INSERT;
    f.with = remove->dv;
    f.without = add->dv;
    return f.with.storage ? push(c, f, err) : SILT_OK;
}

/** A remove that changes data, by path; `paired` with the add of the same file. */
typedef struct removed_path {
    const delta_remove *remove;
    bool paired;
} removed_path;

static int compare_paths(const void *x, const void *y) {
    return str_cmp(((const removed_path *)x)->remove->path, ((const removed_path *)y)->remove->path);
}

static removed_path *find_removed(removed_path *removed, size_t n, str path) {
    const delta_remove wanted = {.path = path};
    const removed_path key = {.remove = &wanted};
    return n ? bsearch(&key, removed, n, sizeof key, compare_paths) : NULL;
}

static silt_status take_actions(commit_changes *c, const delta_commit *commit, silt_error *err) {
    size_t n = 0;
    removed_path *removed = ARENA_ARRAY(c->arena, commit->n_removes + 1, removed_path);
    if (!removed) return error_no_memory(err);
    for (size_t i = 0; i < commit->n_removes; i++)
        if (commit->removes[i].data_change) removed[n++].remove = &commit->removes[i];
    if (n > 1) qsort(removed, n, sizeof *removed, compare_paths);
    for (size_t i = 0; i < commit->n_adds; i++) {
        const delta_add *add = &commit->adds[i];
        if (!add->data_change) continue;
        removed_path *same = find_removed(removed, n, add->path);
        if (same) same->paired = true;
        TRY(same ? push_difference(c, add, same->remove, err) : push(c, of_add(add, CHANGE_INSERT), err));
    }
    for (size_t i = 0; i < n; i++)
        if (!removed[i].paired) TRY(push(c, of_remove(removed[i].remove), err));
    return SILT_OK;
}

static silt_status take_change_files(commit_changes *c, const delta_commit *commit, silt_error *err) {
    for (size_t i = 0; i < commit->n_cdcs; i++) {
        const delta_cdc *cdc = &commit->cdcs[i];
        change_file f = {
            .kind = CHANGE_MIXED, .path = cdc->path, .partition_values = cdc->partition_values, .size_bytes = cdc->size_bytes};
        TRY(push(c, f, err));
    }
    return SILT_OK;
}

static silt_status read_commit(void *ctx, size_t i, silt_error *err) {
    const reading *r = ctx;
    commit_changes *c = &r->commits[i];
    int64_t version = r->spec->from + (int64_t)i;
    delta_commit commit;
    TRY(cancel_check(r->env->cancel, err));
    c->arena = arena_new();
    if (!c->arena) return error_no_memory(err);
    TRY(delta_commit_read(r->env, r->root, version, c->arena, &commit, err));
    c->metadata = commit.metadata;
    if (commit.n_cdcs > 0)
        TRY(take_change_files(c, &commit, err));
    else if (!only_copied(commit.commit_info, c->arena))
        TRY(take_actions(c, &commit, err));
    int64_t ms = commit.in_commit_timestamp_ms >= 0 ? commit.in_commit_timestamp_ms : r->times_ms[i];
    for (size_t k = 0; k < c->n_files; k++) {
        c->files[k].version = version;
        c->files[k].timestamp_us = ms * 1000;
    }
    return SILT_OK;
}

/* ---- all of them ---- */

static silt_status file_times(const reading *r, arena *a, const int64_t **out, silt_error *err) {
    log_listing l;
    commit_time *times;
    size_t n, range = (size_t)(r->spec->to - r->spec->from + 1);
    int64_t *by_version = ARENA_ARRAY(a, range, int64_t);
    if (!by_version) return error_no_memory(err);
    TRY(log_list(r->env, r->root, r->spec->from, a, &l, err));
    TRY(commit_times(&l, a, &times, &n, err));
    for (size_t i = 0; i < n; i++)
        if (times[i].version >= r->spec->from && times[i].version <= r->spec->to)
            by_version[times[i].version - r->spec->from] = times[i].time_ms;
    *out = by_version;
    return SILT_OK;
}

static silt_status gather(const reading *r, size_t n, arena *a, change_list *out, silt_error *err) {
    size_t total = 0;
    out->arenas = ARENA_ARRAY(a, n + 1, arena *);
    for (size_t i = 0; i < n; i++) total += r->commits[i].n_files;
    out->files = ARENA_ARRAY(a, total + 1, change_file);
    if (!out->arenas || !out->files) {
        for (size_t i = 0; i < n; i++) arena_free(r->commits[i].arena);
        return error_no_memory(err);
    }
    out->n_arenas = n;
    for (size_t i = 0; i < n; i++) {
        const commit_changes *c = &r->commits[i];
        out->arenas[i] = c->arena;
        if (c->n_files) memcpy(out->files + out->n_files, c->files, c->n_files * sizeof *c->files);
        out->n_files += c->n_files;
    }
    return SILT_OK;
}

silt_status change_list_load(const delta_changes_spec *spec, arena *a, change_list *out, silt_error *err) {
    reading r = {.spec = spec, .env = delta_snapshot_env(spec->read), .root = delta_snapshot_root(spec->read)};
    *out = (change_list){0};
    if (spec->to < spec->from) return SILT_OK;
    r.n = (size_t)(spec->to - spec->from + 1);
    TRY(file_times(&r, a, &r.times_ms, err));
    r.commits = ARENA_ARRAY(a, r.n, commit_changes);
    if (!r.commits) return error_no_memory(err);
    silt_status status = thread_for(r.env->n_threads, r.n, read_commit, &r, err);
    if (status == SILT_OK) status = check_all(&r, a, err);
    silt_status gathered = gather(&r, r.n, a, out, status == SILT_OK ? err : NULL);
    return status == SILT_OK ? gathered : status;
}

void change_list_dispose(change_list *l) {
    for (size_t i = 0; i < l->n_arenas; i++) arena_free(l->arenas[i]);
    l->n_arenas = 0;
}
