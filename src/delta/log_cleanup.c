/*
 * Clean-up of expired log files (PROTOCOL.md "Metadata Cleanup"). Let the cutoff be midnight UTC before now - delta.logRetentionDuration. The state as of the cutoff and
 * every later version must stay readable: the newest commit not newer than the cutoff is the first version to keep, and the newest complete checkpoint at or
 * before it is what it will be rebuilt from. Everything below that checkpoint goes; its own commit stays, for its commitInfo. Without such a checkpoint nothing goes.
 *
 * Files are removed from the oldest version up, so that a process that dies half-way leaves a log that only starts later. Commit times are those of the files,
 * made strictly increasing as for time travel: a clock that ran backwards cannot expire a version before an older one.
 */
#include "base/json.h"
#include "base/time.h"
#include "base/uri.h"
#include "delta/arrow_read.h"
#include "delta/checkpoint_read.h"
#include "delta/checkpoint_write.h"
#include "delta/features.h"
#include "delta/log_path.h"
#include "delta/path_set.h"
#include "delta/properties.h"
#include "delta/transaction.h"

#define DAY_MS INT64_C(86400000)

typedef struct listed_file {
    str path;
    log_file_name name;
    int64_t modified_ms;
} listed_file;

typedef struct cleanup {
    const delta_snapshot *snapshot;
    const delta_env *env;
    arena *arena;
    listed_file *files;
    size_t n_files, capacity;
    int64_t cutoff_ms;
    bool ignore_protection;
} cleanup;

static int64_t midnight_before(int64_t ms) {
    int64_t days = ms / DAY_MS - (ms % DAY_MS < 0 ? 1 : 0);
    return days * DAY_MS;
}

static silt_status list_log(cleanup *c, silt_error *err) {
    store_list_result listing = {0};
    str dir = log_path_dir(delta_snapshot_root(c->snapshot), c->arena);
    if (str_is_null(dir)) return error_no_memory(err);
    TRY(store_list(c->env->store, dir, STR_NULL, false, c->arena, &listing, err));
    for (size_t i = 0; i < listing.count; i++) {
        const store_entry *e = &listing.items[i];
        listed_file f = {e->path, log_path_parse(path_name(e->path)), e->modified_ms};
        if (e->is_dir || f.name.kind == LOG_OTHER) continue;
        if (!ARENA_PUSH(c->arena, c->files, c->n_files, c->capacity, f)) return error_no_memory(err);
    }
    return SILT_OK;
}

/* The newest commit whose adjusted time is not after the cutoff; -1 when there is none. The listing is in order of versions. */
static int64_t cutoff_commit(const cleanup *c) {
    int64_t last_ms = INT64_MIN, version = -1;
    for (size_t i = 0; i < c->n_files; i++) {
        if (c->files[i].name.kind != LOG_COMMIT) continue;
        int64_t ms = c->files[i].modified_ms;
        if (last_ms != INT64_MIN && ms <= last_ms) ms = last_ms + 1;
        last_ms = ms;
        if (ms > c->cutoff_ms) break;
        version = c->files[i].name.version;
    }
    return version;
}

static bool parts_are_complete(const cleanup *c, const listed_file *part) {
    int32_t found = 0;
    for (size_t i = 0; i < c->n_files; i++) {
        const log_file_name *n = &c->files[i].name;
        found += n->kind == LOG_CHECKPOINT_PART && n->version == part->name.version && n->parts == part->name.parts;
    }
    return found == part->name.parts;
}

static bool is_complete_checkpoint(const cleanup *c, const listed_file *f) {
    switch (f->name.kind) {
        case LOG_CHECKPOINT:
        case LOG_CHECKPOINT_V2_JSON:
        case LOG_CHECKPOINT_V2_PARQUET: return true;
        case LOG_CHECKPOINT_PART: return parts_are_complete(c, f);
        default: return false;
    }
}

static bool has_commit(const cleanup *c, int64_t version) {
    for (size_t i = 0; i < c->n_files; i++)
        if (c->files[i].name.kind == LOG_COMMIT && c->files[i].name.version == version) return true;
    return false;
}

/* The newest complete checkpoint that is not after `version`, with its commit there; -1 when there is none. Names sort by version. */
static int64_t checkpoint_up_to(const cleanup *c, int64_t version) {
    for (size_t i = c->n_files; i-- > 0;) {
        const listed_file *f = &c->files[i];
        if (f->name.version <= version && is_complete_checkpoint(c, f) && has_commit(c, f->name.version)) return f->name.version;
    }
    return -1;
}

/* What history still shows of dropped features may only go all at once. */
static bool is_protected(const cleanup *c, int64_t keep_from) {
    const delta_metadata *m = delta_snapshot_metadata(c->snapshot);
    return delta_protocol_has(delta_snapshot_protocol(c->snapshot), "checkpointProtection") &&
           keep_from < delta_config_i64(&m->configuration, "delta.requireCheckpointProtectionBeforeVersion");
}

/* A compacted file that begins before the kept checkpoint is of no use after it. */
static bool is_expired(const listed_file *f, int64_t keep_from) {
    return f->name.kind == LOG_COMPACTED ? f->name.version <= keep_from : f->name.version < keep_from;
}

static bool is_checkpoint(const listed_file *f) {
    return f->name.kind == LOG_CHECKPOINT || f->name.kind == LOG_CHECKPOINT_PART || f->name.kind == LOG_CHECKPOINT_V2_JSON ||
           f->name.kind == LOG_CHECKPOINT_V2_PARQUET;
}

/* Readers that do not know V2 checkpoints must find a classic one, to see the protocol that stops them. */
static silt_status keep_compatible(const cleanup *c, silt_error *err) {
    if (!checkpoint_is_v2(c->snapshot) || !c->env->parquet) return SILT_OK;
    for (size_t i = 0; i < c->n_files; i++)
        if (c->files[i].name.kind == LOG_CHECKPOINT && c->files[i].name.version == delta_snapshot_version(c->snapshot)) return SILT_OK;
    return checkpoint_write_classic(c->snapshot, false, err);
}

static silt_status remove_file(const cleanup *c, str path, size_t *removed, silt_error *err) {
    silt_status status = store_remove(c->env->store, path, err);
    if (status == SILT_NOT_FOUND) return SILT_OK; /* another process cleans up too */
    *removed += status == SILT_OK;
    return status;
}

static silt_status remove_expired(const cleanup *c, int64_t keep_from, size_t *removed, bool *out_checkpoints, silt_error *err) {
    for (size_t i = 0; i < c->n_files; i++) {
        const listed_file *f = &c->files[i];
        if (!is_expired(f, keep_from)) continue;
        TRY(cancel_check(c->env->cancel, err));
        *out_checkpoints |= is_checkpoint(f);
        TRY(remove_file(c, f->path, removed, err));
    }
    return SILT_OK;
}

/* ---- sidecars ---- */

static silt_status keep_name(const cleanup *c, path_set *kept, str path, silt_error *err) {
    bool added;
    str name = arena_str(c->arena, path_name(uri_decode(path, c->arena)));
    return !str_is_null(name) && path_set_add(kept, name, c->arena, &added) ? SILT_OK : error_no_memory(err);
}

/* Sidecars that a JSON top-level file names: one action per line. */
static silt_status keep_of_json(const cleanup *c, str path, path_set *kept, silt_error *err) {
    buf text;
    str line, rest;
    buf_init(&text, BUF_MAX_DEFAULT);
    silt_status status = store_read(c->env->store, path, 0, -1, &text, err);
    for (rest = buf_str(&text); status == SILT_OK && str_next(&rest, '\n', &line);) {
        const json_node *root = NULL;
        if (str_trim(line).len == 0) continue;
        status = json_parse(line, c->arena, &root, err);
        str name = json_get_str(json_get(root, "sidecar"), "path", STR_NULL);
        if (status == SILT_OK && !str_is_null(name)) status = keep_name(c, kept, name, err);
    }
    buf_dispose(&text);
    return status;
}

typedef struct parquet_sidecars {
    const cleanup *cleanup;
    path_set *kept;
} parquet_sidecars;

static silt_status keep_of_batch(void *ctx, const struct ArrowSchema *schema, const struct ArrowArray *batch, silt_error *err) {
    parquet_sidecars *p = ctx;
    arrow_column root = arrow_column_root(schema, batch), sidecar = arrow_column_field(&root, "sidecar");
    arrow_column path = arrow_column_field(&sidecar, "path");
    for (int64_t i = 0; i < batch->length; i++)
        if (!arrow_is_null(&path, i)) TRY(keep_name(p->cleanup, p->kept, arrow_str(&path, i), err));
    return SILT_OK;
}

/* A Parquet checkpoint, under its classic name too, may be of the V2 kind: then it has a column for its sidecars. */
static silt_status keep_of_parquet(const cleanup *c, str path, path_set *kept, silt_error *err) {
    const data_type *file;
    struct ArrowArrayStream stream;
    TRY(checkpoint_schema(c->env, path, c->arena, &file, err));
    if (!checkpoint_column(file, "sidecar")) return SILT_OK;
    field *path_field = ARENA_NEW(c->arena, field), *sidecar_field = ARENA_NEW(c->arena, field);
    if (!path_field || !sidecar_field) return error_no_memory(err);
    *path_field = field_make(STR("path"), &type_string, true);
    *sidecar_field = field_make(STR("sidecar"), type_struct(c->arena, path_field, 1), true);
    const data_type *columns = sidecar_field->type ? type_struct(c->arena, sidecar_field, 1) : NULL;
    if (!columns) return error_no_memory(err);
    TRY(checkpoint_open(c->env, path, columns, c->arena, &stream, err));
    parquet_sidecars p = {c, kept};
    return arrow_each_batch(&stream, store_path_named(c->env->store, path, c->arena), keep_of_batch, &p, err);
}

static silt_status keep_referenced(const cleanup *c, int64_t keep_from, path_set *kept, silt_error *err) {
    for (size_t i = 0; i < c->n_files; i++) {
        const listed_file *f = &c->files[i];
        if (is_expired(f, keep_from)) continue;
        if (f->name.kind == LOG_CHECKPOINT_V2_JSON) TRY(keep_of_json(c, f->path, kept, err));
        if (f->name.kind == LOG_CHECKPOINT_V2_PARQUET || f->name.kind == LOG_CHECKPOINT) TRY(keep_of_parquet(c, f->path, kept, err));
    }
    return SILT_OK;
}

/* Sidecars that no remaining checkpoint names and that are old enough not to belong to one that is being written. */
static silt_status remove_sidecars(const cleanup *c, int64_t keep_from, int64_t now_ms, size_t *removed, silt_error *err) {
    if (!delta_protocol_has(delta_snapshot_protocol(c->snapshot), "v2Checkpoint") || !c->env->parquet) return SILT_OK;
    path_set kept = {NULL, 0, 0};
    TRY(keep_referenced(c, keep_from, &kept, err));
    store_list_result listing = {0};
    str dir = log_path_sidecars(delta_snapshot_root(c->snapshot), c->arena);
    if (str_is_null(dir)) return error_no_memory(err);
    silt_status status = store_list(c->env->store, dir, STR_NULL, false, c->arena, &listing, err);
    if (status != SILT_OK) return status == SILT_NOT_FOUND ? SILT_OK : status;
    int64_t before_ms = midnight_before(now_ms) - DAY_MS;
    if (c->cutoff_ms < before_ms) before_ms = c->cutoff_ms;
    for (size_t i = 0; i < listing.count; i++) {
        const store_entry *e = &listing.items[i];
        if (!e->is_dir && e->modified_ms < before_ms && !path_set_has(&kept, path_name(e->path))) TRY(remove_file(c, e->path, removed, err));
    }
    return SILT_OK;
}

static silt_status clean(cleanup *c, int64_t now_ms, size_t *removed, silt_error *err) {
    TRY(list_log(c, err));
    int64_t keep_from = checkpoint_up_to(c, cutoff_commit(c));
    if (keep_from <= 0 || (!c->ignore_protection && is_protected(c, keep_from))) return SILT_OK;
    bool any = false, checkpoints = false;
    for (size_t i = 0; i < c->n_files && !any; i++) any = is_expired(&c->files[i], keep_from);
    if (!any) return SILT_OK;
    TRY(keep_compatible(c, err));
    TRY(remove_expired(c, keep_from, removed, &checkpoints, err));
    return checkpoints ? remove_sidecars(c, keep_from, now_ms, removed, err) : SILT_OK;
}

silt_status delta_log_cleanup(const delta_snapshot *s, int64_t now_ms, size_t *out_removed, silt_error *err) {
    *out_removed = 0;
    cleanup c = {.snapshot = s, .env = delta_snapshot_env(s), .arena = arena_new()};
    if (!c.arena) return error_no_memory(err);
    c.cutoff_ms = midnight_before(now_ms - delta_config_interval_ms(&delta_snapshot_metadata(s)->configuration, "delta.logRetentionDuration"));
    silt_status status = clean(&c, now_ms, out_removed, err);
    arena_free(c.arena);
    return status;
}

silt_status delta_log_truncate(const delta_snapshot *s, int64_t cutoff_ms, size_t *out_removed, silt_error *err) {
    *out_removed = 0;
    cleanup c = {.snapshot = s, .env = delta_snapshot_env(s), .arena = arena_new(), .cutoff_ms = cutoff_ms, .ignore_protection = true};
    if (!c.arena) return error_no_memory(err);
    silt_status status = clean(&c, time_now_ms(), out_removed, err);
    arena_free(c.arena);
    return status;
}
