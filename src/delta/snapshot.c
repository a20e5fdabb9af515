/*
 * Snapshots: list → parse and read → check the protocol → reconcile → check against the version checksum.
 *
 * A snapshot is a list of views on batches (replay.h). Updating one shares every batch: only new commits are parsed, and only
 * views that lost a row get a new row list.
 */
#include "delta/snapshot.h"

#include <stdlib.h>

#include "delta/action_json.h"
#include "delta/commit_read.h"
#include "delta/features.h"
#include "delta/log_fetch.h"

/* ---- life ---- */

static delta_snapshot *snapshot_new(const delta_env *env, str root, int64_t version) {
    delta_snapshot *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->refs = 1;
    s->env = env;
    s->version = version;
    s->commit_time_ms = s->commit_size = s->commit_modified_ms = -1;
    s->arena = arena_new();
    if (s->arena) s->root = arena_str(s->arena, root);
    if (!s->arena || !s->root.ptr || pthread_mutex_init(&s->lock, NULL) != 0) {
        arena_free(s->arena);
        free(s);
        return NULL;
    }
    return s;
}

delta_snapshot *delta_snapshot_retain(const delta_snapshot *s) {
    delta_snapshot *m = (delta_snapshot *)(uintptr_t)s;
    __atomic_add_fetch(&m->refs, 1, __ATOMIC_RELAXED);
    return m;
}

void delta_snapshot_release(delta_snapshot *s) {
    if (!s || __atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL) != 0) return;
    for (size_t i = 0; i < s->n_views; i++) batch_view_release(&s->views[i]);
    free(s->views);
    free(s->first_file);
    table_state_release(s->table);
    app_state_release(s->apps);
    pthread_mutex_destroy(&s->lock);
    arena_free(s->arena);
    free(s);
}

/* ---- building ---- */

/* Views without live rows are dropped; numbers the files. */
static silt_status number_files(delta_snapshot *s, silt_error *err) {
    size_t kept = 0;
    for (size_t i = 0; i < s->n_views; i++) {
        if (s->views[i].n_adds + s->views[i].n_removes == 0)
            batch_view_release(&s->views[i]);
        else
            s->views[kept++] = s->views[i];
    }
    s->n_views = kept;
    s->first_file = calloc(kept + 1, sizeof *s->first_file);
    if (!s->first_file) return error_no_memory(err);
    for (size_t i = 0; i < kept; i++) {
        s->first_file[i + 1] = s->first_file[i] + s->views[i].n_adds;
        if (__builtin_add_overflow(s->size_bytes, s->views[i].add_bytes, &s->size_bytes)) s->size_bytes = INT64_MAX;
    }
    return SILT_OK;
}

static silt_status commit_timestamp(const delta_snapshot *s, str info, int64_t *out, silt_error *err) {
    arena *a = arena_new();
    if (!a) return error_no_memory(err);
    const json_node *node;
    silt_status status = SILT_OK;
    if (str_is_null(info)) status = delta_commit_info_read(s->env, s->root, s->version, a, &info, err);
    if (status == SILT_OK && info.ptr && json_parse(info, a, &node, NULL) == SILT_OK)
        *out = json_get_i64(node, "inCommitTimestamp", *out);
    arena_free(a);
    return status == SILT_NOT_FOUND ? SILT_OK : status; /* cleaned up: the file's time, or none, has to do */
}

/* Time and identity of the commit file. */
static silt_status set_commit(delta_snapshot *s, const log_file *commit, const log_file *fallback, const raw_actions *actions,
                              silt_error *err) {
    const log_file *f = commit ? commit : fallback;
    if (f) s->commit_time_ms = f->modified_ms;
    if (commit) {
        s->commit_size = commit->size_bytes;
        s->commit_modified_ms = commit->modified_ms;
    }
    if (!state_has_ict(&s->table->protocol, &s->table->metadata)) return SILT_OK;
    str info = STR_NULL;
    for (size_t i = 0; i < actions->count; i++)
        if (actions->items[i].kind == ACTION_COMMIT_INFO && actions->items[i].version == s->version)
            info = actions->items[i].text;
    return commit_timestamp(s, info, &s->commit_time_ms, err);
}

/* What loading holds until the snapshot owns it. */
typedef struct loading {
    const delta_env *env;
    str root;
    arena *arena;
    delta_segment segment;
    parsed_log parsed;
    checkpoint_state checkpoint;
    /* of a remote table, whose checkpoint is read beside its commits */
    bool checkpoint_read;
    arena *checkpoint_arena;
    silt_status checkpoint_status;
    silt_error checkpoint_error;
} loading;

static silt_status load_checkpoint(loading *l, silt_error *err) {
    if (l->segment.n_checkpoint == 0) return SILT_OK;
    if (!l->checkpoint_read) return checkpoint_read(l->env, l->root, &l->segment, l->arena, &l->checkpoint, err);
    if (l->checkpoint_status != SILT_OK && err) *err = l->checkpoint_error;
    return l->checkpoint_status;
}

/* The newest protocol, checked before anything else is believed, even before a commit that cannot be parsed is complained about.
 * */
static silt_status load_protocol(loading *l, const delta_protocol **out, silt_error *err) {
    str name = delta_table_name(l->env, l->root, l->arena);
    TRY(state_find_protocol(l->env, &l->parsed.actions, l->arena, out, err));
    if (*out) TRY(delta_protocol_check_read(*out, name, err));
    if (l->parsed.status != SILT_OK) {
        if (err) *err = l->parsed.error;
        return l->parsed.status;
    }
    TRY(load_checkpoint(l, err));
    if (*out) return SILT_OK;
    *out = l->checkpoint.protocol;
    if (!*out) return err_DELTA_STATE_RECOVER_ERROR(err, "protocol", l->segment.version);
    return delta_protocol_check_read(*out, name, err);
}

static silt_status load_metadata(loading *l, const delta_metadata **out, silt_error *err) {
    TRY(state_find_metadata(l->env, &l->parsed.actions, l->arena, out, err));
    if (*out) return SILT_OK;
    if (!l->checkpoint.metadata) return err_DELTA_STATE_RECOVER_ERROR(err, "metadata", l->segment.version);
    if (!l->checkpoint.metadata->schema) TRY(action_bind_schema(l->checkpoint.metadata, l->arena, err));
    *out = l->checkpoint.metadata;
    return SILT_OK;
}

static silt_status reconcile(loading *l, delta_snapshot *s, silt_error *err) {
    size_t n_old = l->checkpoint.n_batches, n_new = l->parsed.n_batches, n = n_old + n_new;
    file_batch **batches = ARENA_ARRAY(l->arena, n + 1, file_batch *);
    s->views = calloc(n + 1, sizeof *s->views);
    if (!batches || !s->views) return error_no_memory(err);
    if (n_old) memcpy(batches, l->checkpoint.batches, n_old * sizeof *batches);
    if (n_new) memcpy(batches + n_old, l->parsed.batches, n_new * sizeof *batches);
    TRY(replay_reconcile(batches, n, l->env->n_threads, s->views, err));
    s->n_views = n;
    return number_files(s, err);
}

static silt_status keep_checkpoint_files(delta_snapshot *s, const str *files, size_t n, silt_error *err) {
    str *copy = ARENA_ARRAY(s->arena, n, str);
    if (!copy) return error_no_memory(err);
    for (size_t i = 0; i < n; i++)
        if (!(copy[i] = arena_str(s->arena, files[i])).ptr) return error_no_memory(err);
    s->checkpoint_files = copy;
    s->n_checkpoint_files = n;
    return SILT_OK;
}

/* Beside the commits, so that it costs no round trip of its own; those are fetched again by none. */
static silt_status fetch_checksum(loading *l, silt_error *err) {
    const delta_segment *g = &l->segment;
    if (!g->checksum || l->env->skip_version_checksum || !store_is_remote(l->env->store)) return SILT_OK;
    log_file *files = ARENA_ARRAY(l->arena, g->n_commits + 1, log_file);
    if (!files) return error_no_memory(err);
    if (g->n_commits) memcpy(files, g->commits, g->n_commits * sizeof *files);
    files[g->n_commits] = *g->checksum;
    return log_fetch(l->env, files, g->n_commits + 1, l->arena, err);
}

static silt_status load_commits(loading *l, silt_error *err) {
    const delta_segment *g = &l->segment;
    TRY(fetch_checksum(l, err));
    return replay_parse(l->env, g->commits, g->n_commits, g->version, l->arena, &l->parsed, err);
}

/* What becomes of the checkpoint counts only when the commits are known (load_protocol). */
static silt_status load_nth(void *ctx, size_t i, silt_error *err) {
    loading *l = ctx;
    if (i == 0) return load_commits(l, err);
    l->checkpoint_status = checkpoint_read(l->env, l->root, &l->segment, l->checkpoint_arena, &l->checkpoint, &l->checkpoint_error);
    l->checkpoint_read = true;
    return SILT_OK;
}

/* Of a remote store both are mostly a wait. */
static silt_status load_files(loading *l, silt_error *err) {
    if (l->segment.n_checkpoint == 0 || l->segment.n_commits == 0 || !store_is_remote(l->env->store)) return load_commits(l, err);
    l->checkpoint_arena = arena_new();
    return l->checkpoint_arena ? thread_for(2, 2, load_nth, l, err) : error_no_memory(err);
}

static silt_status fill(loading *l, delta_snapshot *s, silt_error *err) {
    const delta_segment *g = &l->segment;
    const delta_protocol *protocol;
    const delta_metadata *metadata;
    TRY(load_files(l, err));
    TRY(load_protocol(l, &protocol, err));
    TRY(load_metadata(l, &metadata, err));
    TRY(table_state_new(protocol, metadata, &s->table, err));
    TRY(app_state_new(l->env, l->checkpoint.txns, l->checkpoint.n_txns, l->checkpoint.domains, l->checkpoint.n_domains,
                      &l->parsed.actions, &s->apps, err));
    TRY(reconcile(l, s, err));
    TRY(keep_checkpoint_files(s, l->checkpoint.parquet_files, l->checkpoint.n_parquet_files, err));
    TRY(set_commit(s, g->last_commit, g->n_commits ? &g->commits[g->n_commits - 1] : g->checkpoint, &l->parsed.actions, err));
    return g->checksum && !l->env->skip_version_checksum ? checksum_verify(s, g->checksum, err) : SILT_OK;
}

static silt_status load_once(const delta_env *env, str root, int64_t version, arena *a, delta_snapshot **out, silt_error *err) {
    loading l = {.env = env, .root = root, .arena = a};
    TRY(segment_load(env, root, version, a, &l.segment, err));
    delta_snapshot *s = snapshot_new(env, root, l.segment.version);
    if (!s) return error_no_memory(err);
    silt_status status = fill(&l, s, err);
    parsed_log_release(&l.parsed);
    checkpoint_state_release(&l.checkpoint);
    arena_free(l.checkpoint_arena);
    if (status == SILT_OK)
        *out = s;
    else
        delta_snapshot_release(s);
    return status;
}

/* A file of the log that was listed and then is not there: it was cleaned up meanwhile, and a newer checkpoint stands for it. */
static bool was_cleaned_up(silt_status status, const silt_error *e) {
    return status == SILT_NOT_FOUND && strcmp(e->condition, "DELTA_LOG_FILE_NOT_FOUND") == 0;
}

silt_status delta_snapshot_load(const delta_env *env, str root, int64_t version, delta_snapshot **out, silt_error *err) {
    silt_error why = {0};
    silt_status status = SILT_NOT_FOUND;
    *out = NULL;
    for (int attempt = 0; attempt < 2; attempt++) {
        arena *a = arena_new();
        if (!a) return error_no_memory(err);
        status = load_once(env, root, version, a, out, &why);
        arena_free(a);
        if (!was_cleaned_up(status, &why)) break;
    }
    if (status != SILT_OK && err) *err = why;
    return status;
}

/* ---- updating ---- */

/* The commits after `older`, found by asking for one name after the other: a writer in a loop meets one or two, and a listing of
 * a long log costs more. */
#define PROBES 8

static silt_status stat_commit(const delta_env *env, str root, int64_t version, arena *a, store_entry *out, bool *out_found,
                               silt_error *err) {
    str path = log_path_file(root, version, ".json", a);
    if (!path.ptr) return error_no_memory(err);
    silt_error why;
    silt_status status = store_stat(env->store, path, a, out, &why);
    *out_found = status == SILT_OK;
    if (status != SILT_OK && status != SILT_NOT_FOUND && err) *err = why;
    return status == SILT_NOT_FOUND ? SILT_OK : status;
}

typedef enum update_plan { UPDATE_NOTHING, UPDATE_COMMITS, UPDATE_RELOAD } update_plan;

/* From a listing; one that begins at the older version's own commit also tells whether that is still the same, so that a remote store is asked once. */
static silt_status list_newer(const delta_env *env, const delta_snapshot *older, int64_t from, arena *a, const log_file **out,
                              size_t *out_count, update_plan *plan, silt_error *err) {
    log_listing l;
    const log_file *checkpoint;
    size_t parts;
    *plan = UPDATE_RELOAD;
    TRY(log_list(env, older->root, from, a, &l, err));
    const log_file *same = from > older->version ? NULL : log_listing_find(&l, LOG_COMMIT, older->version);
    if (from <= older->version && (!same || same->size_bytes != older->commit_size || !store_times_agree(env->store, same->modified_ms, older->commit_modified_ms))) return SILT_OK;
    int64_t latest = log_listing_latest(&l);
    if (latest - older->version > 64 && segment_checkpoint(&l, latest, a, &checkpoint, &parts))
        return SILT_OK; /* the checkpoint is the shorter way */
    if (latest <= older->version) {
        if (same) *plan = UPDATE_NOTHING;
        return SILT_OK;
    }
    *plan = UPDATE_COMMITS;
    return segment_commits(&l, older->version, latest, true, a, out, out_count, err);
}

static silt_status plan_update(const delta_env *env, const delta_snapshot *older, arena *a, const log_file **out,
                               size_t *out_count, update_plan *plan, silt_error *err) {
    store_entry e;
    bool found;
    if (store_is_remote(env->store)) return list_newer(env, older, older->version, a, out, out_count, plan, err);
    *plan = UPDATE_RELOAD;
    TRY(stat_commit(env, older->root, older->version, a, &e, &found, err));
    if (!found || e.size_bytes != older->commit_size || !store_times_agree(env->store, e.modified_ms, older->commit_modified_ms))
        return SILT_OK; /* cleaned up, or another table */
    log_file *files = ARENA_ARRAY(a, PROBES, log_file);
    if (!files) return error_no_memory(err);
    for (size_t i = 0;; i++) {
        int64_t version = older->version + 1 + (int64_t)i;
        TRY(stat_commit(env, older->root, version, a, &e, &found, err));
        if (!found) {
            *plan = i == 0 ? UPDATE_NOTHING : UPDATE_COMMITS;
            *out = files;
            *out_count = i;
            return SILT_OK;
        }
        if (i == PROBES) return list_newer(env, older, older->version + 1, a, out, out_count, plan, err);
        files[i] = (log_file){.path = e.path,
                              .name = {.kind = LOG_COMMIT, .version = version, .end_version = version},
                              .size_bytes = e.size_bytes,
                              .modified_ms = e.modified_ms};
    }
}

static bool has_kind(const raw_actions *actions, action_kind a, action_kind b) {
    for (size_t i = 0; i < actions->count; i++)
        if (actions->items[i].kind == a || actions->items[i].kind == b) return true;
    return false;
}

static silt_status update_state(const delta_snapshot *older, const parsed_log *parsed, delta_snapshot *s, arena *a,
                                silt_error *err) {
    const delta_protocol *protocol;
    const delta_metadata *metadata;
    TRY(state_find_protocol(s->env, &parsed->actions, a, &protocol, err));
    if (protocol) TRY(delta_protocol_check_read(protocol, delta_table_name(s->env, s->root, a), err));
    if (parsed->status != SILT_OK) {
        if (err) *err = parsed->error;
        return parsed->status;
    }
    TRY(state_find_metadata(s->env, &parsed->actions, a, &metadata, err));
    if (protocol || metadata) {
        TRY(table_state_new(protocol ? protocol : &older->table->protocol, metadata ? metadata : &older->table->metadata,
                            &s->table, err));
    } else {
        s->table = older->table;
        __atomic_add_fetch(&s->table->refs, 1, __ATOMIC_RELAXED);
    }
    if (has_kind(&parsed->actions, ACTION_TXN, ACTION_DOMAIN))
        return app_state_new(s->env, older->apps->txns, older->apps->n_txns, older->apps->domains, older->apps->n_domains,
                             &parsed->actions, &s->apps, err);
    s->apps = older->apps;
    __atomic_add_fetch(&s->apps->refs, 1, __ATOMIC_RELAXED);
    return SILT_OK;
}

static silt_status update_fill(const delta_snapshot *older, const log_file *commits, size_t n, parsed_log *parsed,
                               delta_snapshot *s, arena *a, silt_error *err) {
    TRY(replay_parse(s->env, commits, n, s->version, a, parsed, err));
    TRY(update_state(older, parsed, s, a, err));
    s->views = calloc(older->n_views + parsed->n_batches + 1, sizeof *s->views);
    if (!s->views) return error_no_memory(err);
    TRY(replay_reconcile_onto(older->views, older->n_views, parsed->batches, parsed->n_batches, s->views, err));
    s->n_views = older->n_views + parsed->n_batches;
    TRY(number_files(s, err));
    TRY(keep_checkpoint_files(s, older->checkpoint_files, older->n_checkpoint_files, err));
    const log_file *last = &commits[n - 1];
    return set_commit(s, last->name.kind == LOG_COMMIT ? last : NULL, last, &parsed->actions, err);
}

static silt_status update_with(const delta_env *env, const delta_snapshot *older, const log_file *commits, size_t n, arena *a,
                               delta_snapshot **out, silt_error *err) {
    delta_snapshot *s = snapshot_new(env, older->root, commits[n - 1].name.end_version);
    if (!s) return error_no_memory(err);
    parsed_log parsed = {0};
    silt_status status = update_fill(older, commits, n, &parsed, s, a, err);
    parsed_log_release(&parsed);
    if (status == SILT_OK)
        *out = s;
    else
        delta_snapshot_release(s);
    return status;
}

silt_status delta_snapshot_update(const delta_env *env, const delta_snapshot *older, delta_snapshot **out, silt_error *err) {
    arena *a = arena_new();
    const log_file *commits = NULL;
    size_t n = 0;
    update_plan plan;
    silt_error why = {0};
    *out = NULL;
    if (!a) return error_no_memory(err);
    silt_status status = plan_update(env, older, a, &commits, &n, &plan, &why);
    if (status == SILT_OK && plan == UPDATE_COMMITS) status = update_with(env, older, commits, n, a, out, &why);
    arena_free(a);
    if (was_cleaned_up(status, &why)) {
        status = SILT_OK;
        plan = UPDATE_RELOAD;
    }
    if (status == SILT_OK && plan == UPDATE_RELOAD) return delta_snapshot_load(env, older->root, DELTA_LATEST, out, err);
    if (status == SILT_OK && plan == UPDATE_NOTHING) *out = delta_snapshot_retain(older);
    if (status != SILT_OK && err) *err = why;
    return status;
}

silt_status delta_table_exists(const delta_env *env, str root, bool *out, silt_error *err) {
    arena *a = arena_new();
    if (!a) return error_no_memory(err);
    log_listing l;
    silt_error why = {0};
    silt_status status = log_list(env, root, 0, a, &l, &why);
    *out = status == SILT_OK && log_listing_latest(&l) >= 0;
    arena_free(a);
    if (status == SILT_OK || status == SILT_NOT_FOUND) return SILT_OK;
    if (err) *err = why;
    return status;
}

/* ---- reading ---- */

int64_t delta_snapshot_version(const delta_snapshot *s) { return s->version; }
str delta_snapshot_root(const delta_snapshot *s) { return s->root; }
const delta_env *delta_snapshot_env(const delta_snapshot *s) { return s->env; }
const delta_protocol *delta_snapshot_protocol(const delta_snapshot *s) { return &s->table->protocol; }
const delta_metadata *delta_snapshot_metadata(const delta_snapshot *s) { return &s->table->metadata; }
size_t delta_snapshot_n_files(const delta_snapshot *s) { return s->first_file[s->n_views]; }
int64_t delta_snapshot_size_bytes(const delta_snapshot *s) { return s->size_bytes; }
int64_t delta_snapshot_commit_time_ms(const delta_snapshot *s) { return s->commit_time_ms; }
str delta_snapshot_property(const delta_snapshot *s, const char *key) {
    return str_map_get(&s->table->metadata.configuration, str_of(key));
}
size_t delta_snapshot_n_txns(const delta_snapshot *s) { return s->apps->n_txns; }
const delta_txn_id *delta_snapshot_txn(const delta_snapshot *s, size_t i) { return &s->apps->txns[i]; }
size_t delta_snapshot_n_domains(const delta_snapshot *s) { return s->apps->n_domains; }
const delta_domain *delta_snapshot_domain(const delta_snapshot *s, size_t i) { return &s->apps->domains[i]; }

int64_t delta_snapshot_txn_version(const delta_snapshot *s, str app_id) {
    for (size_t i = 0; i < s->apps->n_txns; i++)
        if (str_eq(s->apps->txns[i].app_id, app_id)) return s->apps->txns[i].version;
    return -1;
}

const delta_domain *delta_snapshot_find_domain(const delta_snapshot *s, str domain) {
    for (size_t i = 0; i < s->apps->n_domains; i++)
        if (str_eq(s->apps->domains[i].domain, domain)) return &s->apps->domains[i];
    return NULL;
}
