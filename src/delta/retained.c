/*
 * The paths that retained versions need. A version is retained when it was current at the cutoff or later, so its files are those of the newest version and
 * those that a commit after the cutoff took away. Delta finds the latter by the tombstones' deletion times; here the commits themselves count as well, because
 * a checkpoint drops tombstones by the table's retention (a longer RETAIN would lose files), and because the time in a tombstone may be missing, or be that of
 * the beginning of a long job.
 */
#include "delta/retained.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/uri.h"
#include "delta/features.h"
#include "delta/log_parse.h"
#include "delta/snapshot.h"
#include "delta/table_path.h"

/** Open addressing; 0 is an empty slot. */
typedef struct hash_set {
    uint64_t *slots;
    size_t n_slots, count;
} hash_set;

struct delta_retained {
    const delta_env *env;
    str root;
    arena *arena;   /* of paths */
    arena *scratch; /* of one path */
    size_t n_scratch;
    table_paths paths;
    hash_set set;
    int64_t cutoff_ms, first_version, at_cutoff, version;
};

static uint64_t hash_of(str path) {
    uint64_t h = str_hash(path);
    return h ? h : 1;
}

static uint64_t *slot_of(const hash_set *set, uint64_t hash) {
    size_t mask = set->n_slots - 1, i = (size_t)hash & mask;
    while (set->slots[i] && set->slots[i] != hash) i = (i + 1) & mask;
    return &set->slots[i];
}

static bool reserve(hash_set *set, size_t count) {
    size_t n = set->n_slots ? set->n_slots : 1024;
    while (count * 3 >= n * 2) n *= 2;
    if (n == set->n_slots) return true;
    hash_set larger = {calloc(n, sizeof(uint64_t)), n, set->count};
    if (!larger.slots) return false;
    for (size_t i = 0; i < set->n_slots; i++)
        if (set->slots[i]) *slot_of(&larger, set->slots[i]) = set->slots[i];
    free(set->slots);
    *set = larger;
    return true;
}

static silt_status keep(delta_retained *r, str path, silt_error *err) {
    if (!reserve(&r->set, r->set.count + 1)) return error_no_memory(err);
    uint64_t hash = hash_of(path), *slot = slot_of(&r->set, hash);
    r->set.count += *slot == 0;
    *slot = hash;
    return SILT_OK;
}

static void free_scratch(delta_retained *r) {
    if (++r->n_scratch % 1024 == 0) arena_reset(r->scratch);
}

/* A file may bear the undecoded name when a careless engine wrote it: both spellings are kept. */
static silt_status keep_path(delta_retained *r, str action_path, silt_error *err) {
    str path;
    if (table_path_is_plain(action_path)) return keep(r, action_path, err);
    free_scratch(r);
    TRY(table_path_relative(&r->paths, action_path, r->scratch, &path, err));
    if (!str_is_null(path)) TRY(keep(r, path, err));
    return keep(r, action_path, err);
}

static silt_status keep_dv(delta_retained *r, const delta_dv *dv, silt_error *err) {
    str path;
    if (dv->storage != 'u' && dv->storage != 'p') return SILT_OK;
    free_scratch(r);
    TRY(table_path_of_dv(&r->paths, dv, r->scratch, &path, err));
    return str_is_null(path) ? SILT_OK : keep(r, path, err);
}

static silt_status keep_row(delta_retained *r, const file_batch *b, uint32_t row, silt_error *err) {
    TRY(keep_path(r, file_batch_path(b, row), err));
    if (b->rows[row].dv == 0) return SILT_OK;
    delta_dv dv = file_batch_dv(b, row);
    return keep_dv(r, &dv, err);
}

/* ---- the snapshot ---- */

static silt_status keep_adds(delta_retained *r, const delta_snapshot *s, silt_error *err) {
    if (!reserve(&r->set, delta_snapshot_n_files(s))) return error_no_memory(err);
    for (size_t v = 0; v < s->n_views; v++)
        for (uint32_t i = 0; i < s->views[v].n_adds; i++) TRY(keep_row(r, s->views[v].batch, batch_view_add(&s->views[v], i), err));
    return SILT_OK;
}

static silt_status keep_tombstone(void *ctx, const delta_remove *remove, silt_error *err) {
    delta_retained *r = ctx;
    if (remove->deletion_timestamp_ms < r->cutoff_ms) return SILT_OK;
    TRY(keep_path(r, remove->path, err));
    return keep_dv(r, &remove->dv, err);
}

/* ---- commits ---- */

static silt_status keep_change_files(delta_retained *r, const raw_actions *actions, arena *a, silt_error *err) {
    for (size_t i = 0; i < actions->count; i++) {
        const json_node *cdc;
        if (actions->items[i].kind != ACTION_CDC) continue;
        TRY(json_parse(actions->items[i].text, a, &cdc, err));
        str path = json_get_str(cdc, "path", STR_NULL);
        if (!str_is_null(path)) TRY(keep_path(r, path, err));
    }
    return SILT_OK;
}

typedef struct parsed_commit {
    arena *arena;
    file_batch *batch;
    raw_actions actions;
} parsed_commit;

static silt_status parse_commit(const delta_env *env, str path, int64_t version, parsed_commit *out, silt_error *err) {
    log_piece piece = {.path = path, .version = version, .to = -1, .want_cdc = true};
    *out = (parsed_commit){.arena = arena_new(), .batch = file_batch_new()};
    log_parser *parser = log_parser_new();
    silt_status status = out->arena && out->batch && parser ? SILT_OK : error_no_memory(err);
    if (status == SILT_OK) status = log_parse_file(parser, env->store, &piece, out->batch, &out->actions, out->arena, err);
    if (status == SILT_OK) file_batch_freeze(out->batch);
    log_parser_free(parser);
    return status;
}

static void parsed_commit_end(parsed_commit *c) {
    file_batch_release(c->batch);
    arena_free(c->arena);
}

/* All that a commit speaks of: what it added it did not have to add, but it is cheap to keep. */
static silt_status keep_commit(delta_retained *r, str path, int64_t version, silt_error *err) {
    parsed_commit c;
    silt_status status = parse_commit(r->env, path, version, &c, err);
    for (uint32_t i = 0; status == SILT_OK && i < c.batch->n_rows; i++) status = keep_row(r, c.batch, i, err);
    if (status == SILT_OK) status = keep_change_files(r, &c.actions, c.arena, err);
    parsed_commit_end(&c);
    return status;
}

/* The first version whose commit is in the snapshot's batches as it was written, as are all after it. */
static int64_t first_in_batches(const delta_snapshot *s) {
    int64_t first = s->version + 1;
    for (size_t v = s->n_views; v-- > 0;)
        for (size_t k = s->views[v].batch->n_sources; k-- > 0;) {
            const batch_source *source = &s->views[v].batch->sources[k];
            if (log_path_parse(path_name(source->path)).kind != LOG_COMMIT) return first;
            if (source->version < first - 1) return first;
            if (source->version == first - 1) first--;
        }
    return first;
}

static silt_status keep_removes_of_batches(delta_retained *r, const delta_snapshot *s, int64_t from, silt_error *err) {
    for (size_t v = 0; v < s->n_views; v++)
        for (uint32_t i = 0; i < s->views[v].n_removes; i++) {
            const file_batch *b = s->views[v].batch;
            uint32_t row = s->views[v].removes->rows[i];
            if (file_batch_source(b, row)->version >= from) TRY(keep_row(r, b, row, err));
        }
    return SILT_OK;
}

static bool has_change_feed(const delta_snapshot *s) { return delta_protocol_has(delta_snapshot_protocol(s), "changeDataFeed"); }

/* A commit that clean-up took meanwhile is of no version that can still be read. */
static silt_status keep_commits(delta_retained *r, const log_listing *l, int64_t from, int64_t to, silt_error *err) {
    for (size_t i = 0; i < l->count; i++) {
        const log_file *f = &l->files[i];
        silt_error why = {.status = SILT_OK};
        if (f->name.kind != LOG_COMMIT || f->name.version < from || f->name.version > to) continue;
        TRY(cancel_check(r->env->cancel, err));
        silt_status status = keep_commit(r, f->path, f->name.version, &why);
        if (status == SILT_OK || status == SILT_NOT_FOUND) continue;
        if (err) *err = why;
        return status;
    }
    return SILT_OK;
}

/* The commits of the retained versions but the first. */
static silt_status keep_window(delta_retained *r, const delta_snapshot *s, silt_error *err) {
    int64_t from = r->first_version + 1, in_batches = first_in_batches(s);
    log_listing l;
    TRY(keep_removes_of_batches(r, s, from, err));
    int64_t to = has_change_feed(s) ? s->version : in_batches - 1;
    if (from > to) return SILT_OK;
    TRY(log_list(r->env, r->root, from, r->arena, &l, err));
    return keep_commits(r, &l, from, to, err);
}

/* The version that was current at the cutoff; before all commits: the oldest that can be rebuilt, less one. */
static silt_status find_first_version(delta_retained *r, const delta_snapshot *s, silt_error *err) {
    silt_error why = {.status = SILT_OK};
    int64_t latest;
    silt_status status = delta_version_at(r->env, r->root, r->cutoff_ms, &r->first_version, &why);
    if (status == SILT_OK) {
        if (r->first_version > s->version) r->first_version = s->version;
        r->at_cutoff = r->first_version;
        return SILT_OK;
    }
    r->first_version = r->at_cutoff = s->version;
    if (status == SILT_NOT_FOUND && strcmp(why.condition, "DELTA_TIMESTAMP_GREATER_THAN_COMMIT") == 0) return SILT_OK;
    r->at_cutoff = -1;
    if (status == SILT_NOT_FOUND && strcmp(why.condition, "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION") == 0)
        return delta_version_range(r->env, r->root, &r->first_version, &latest, err);
    if (err) *err = why;
    return status;
}

static silt_status load(delta_retained *r, const delta_snapshot *s, silt_error *err) {
    TRY(find_first_version(r, s, err));
    TRY(keep_adds(r, s, err));
    TRY(delta_snapshot_each_remove(s, keep_tombstone, r, err));
    return keep_window(r, s, err);
}

silt_status delta_retained_load(const delta_snapshot *s, int64_t cutoff_ms, delta_retained **out, silt_error *err) {
    delta_retained *r = calloc(1, sizeof *r);
    if (!r) return error_no_memory(err);
    *r = (delta_retained){.env = s->env, .arena = arena_new(), .scratch = arena_new(), .cutoff_ms = cutoff_ms, .version = s->version};
    silt_status status = r->arena && r->scratch ? SILT_OK : error_no_memory(err);
    if (status == SILT_OK) r->root = arena_str(r->arena, s->root);
    if (status == SILT_OK && str_is_null(r->root)) status = error_no_memory(err);
    if (status == SILT_OK) table_paths_init(&r->paths, r->env, r->root, r->arena);
    if (status == SILT_OK) status = load(r, s, err);
    if (status == SILT_OK)
        *out = r;
    else
        delta_retained_free(r);
    return status;
}

void delta_retained_free(delta_retained *r) {
    if (!r) return;
    free(r->set.slots);
    arena_free(r->scratch);
    arena_free(r->arena);
    free(r);
}

silt_status delta_retained_update(delta_retained *r, silt_error *err) {
    log_listing l;
    arena *a = arena_new();
    if (!a) return error_no_memory(err);
    silt_status status = log_list(r->env, r->root, r->version + 1, a, &l, err);
    int64_t latest = status == SILT_OK ? log_listing_latest(&l) : -1;
    if (status == SILT_OK && latest > r->version) status = keep_commits(r, &l, r->version + 1, latest, err);
    if (status == SILT_OK && latest > r->version) r->version = latest;
    arena_free(a);
    return status;
}

bool delta_retained_has(const delta_retained *r, str path) { return r->set.n_slots > 0 && *slot_of(&r->set, hash_of(path)) != 0; }
int64_t delta_retained_first_version(const delta_retained *r) { return r->first_version; }
int64_t delta_retained_version_at_cutoff(const delta_retained *r) { return r->at_cutoff; }

/* ---- what commits took away ---- */

typedef struct each_removed {
    table_paths paths;
    silt_status (*fn)(void *ctx, const removed_file *f, silt_error *err);
    void *ctx;
} each_removed;

static silt_status tell_path(each_removed *e, str path, int64_t size_bytes, int64_t removed_ms, silt_error *err) {
    if (str_is_null(path)) return SILT_OK;
    return e->fn(e->ctx, &(removed_file){path, size_bytes, removed_ms}, err);
}

static silt_status tell_remove(each_removed *e, const file_batch *b, uint32_t row, arena *a, silt_error *err) {
    delta_remove remove;
    str path;
    file_batch_get_remove(b, row, &remove);
    int64_t ms = remove.deletion_timestamp_ms < 0 ? 0 : remove.deletion_timestamp_ms;
    TRY(table_path_relative(&e->paths, remove.path, a, &path, err));
    TRY(tell_path(e, path, remove.size_bytes, ms, err));
    TRY(table_path_of_dv(&e->paths, &remove.dv, a, &path, err));
    return tell_path(e, path, -1, ms, err);
}

static silt_status tell_commit(each_removed *e, const parsed_commit *c, silt_error *err) {
    for (uint32_t i = 0; i < c->batch->n_rows; i++)
        if (file_row_is_remove(&c->batch->rows[i])) TRY(tell_remove(e, c->batch, i, c->arena, err));
    for (size_t i = 0; i < c->actions.count; i++) {
        const json_node *cdc;
        str path = STR_NULL;
        if (c->actions.items[i].kind != ACTION_CDC) continue;
        TRY(json_parse(c->actions.items[i].text, c->arena, &cdc, err));
        str written = json_get_str(cdc, "path", STR_NULL);
        if (!str_is_null(written)) TRY(table_path_relative(&e->paths, written, c->arena, &path, err));
        TRY(tell_path(e, path, json_get_i64(cdc, "size", -1), 0, err));
    }
    return SILT_OK;
}

silt_status delta_each_removed_file(const delta_env *env, str root, int64_t from, int64_t to,
                                    silt_status (*fn)(void *ctx, const removed_file *f, silt_error *err), void *ctx, silt_error *err) {
    arena *a = arena_new();
    silt_status status = a ? SILT_OK : error_no_memory(err);
    each_removed e = {.fn = fn, .ctx = ctx};
    if (a) table_paths_init(&e.paths, env, root, a);
    for (int64_t v = from; v <= to && status == SILT_OK; v++) {
        parsed_commit c;
        str path = log_path_file(root, v, ".json", a);
        status = str_is_null(path) ? error_no_memory(err) : cancel_check(env->cancel, err);
        if (status != SILT_OK) break;
        status = parse_commit(env, path, v, &c, err);
        if (status == SILT_OK) status = tell_commit(&e, &c, err);
        parsed_commit_end(&c);
    }
    arena_free(a);
    return status;
}

silt_status delta_earliest_commit(const delta_env *env, str root, int64_t *out, silt_error *err) {
    arena *a = arena_new();
    log_listing l = {0};
    if (!a) return error_no_memory(err);
    *out = -1;
    silt_status status = log_list(env, root, 0, a, &l, err);
    for (size_t i = 0; status == SILT_OK && i < l.count && *out < 0; i++)
        if (l.files[i].name.kind == LOG_COMMIT) *out = l.files[i].name.version;
    arena_free(a);
    return status;
}
