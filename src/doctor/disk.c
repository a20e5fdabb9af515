/*
 * The folder against the log. What the newest version names stands in one table of 64-bit hashes of the decoded paths (24 bytes
 * a file: two different paths share one with a chance of 2⁻²⁴ in a table of a million files, which would hide a finding, never
 * delete a file). The folder is walked once, without holding its entries; what neither a live file nor a retained version
 * explains is looked up among the tombstones and, only where something is left, in the commits that the log still has.
 *
 * Hidden names are left alone by VACUUM's rules: '_' and '.' in front, but for _change_data and partition folders (_a=1).
 */
#include "doctor/disk.h"

#include <stdlib.h>

#include "base/uri.h"
#include "delta/commit_read.h"
#include "delta/properties.h"
#include "delta/retained.h"
#include "delta/segment.h"

#define ELSEWHERE_MAX 200 /* files outside of the folder that are looked at */
#define COMMITS_MAX   2000

enum { LIVE_DATA = 1, LIVE_VECTOR = 2, SEEN = 4 };

typedef struct known_file {
    uint64_t hash; /* 0: an empty slot */
    int64_t size;
    uint8_t flags;
} known_file;

typedef struct candidate {
    str path;
    int64_t size;
    bool known;
} candidate;

typedef struct surveying {
    disk_survey *s;
    const delta_snapshot *snapshot;
    const delta_env *env;
    str root;
    int64_t old_before_ms;
    delta_retained *retained;
    arena *a, *scratch, *work; /* `work` lives for the whole pass, `scratch` for a path */
    known_file *slots;
    size_t n_slots, count;
    candidate *candidates;
    size_t n_candidates, capacity;
    uint32_t *by_path;
    size_t n_by_path;
    size_t left; /* candidates that are not known yet */
} surveying;

/* ---- the table of live files ---- */

static uint64_t hash_path(str path) {
    uint64_t h = str_hash(path);
    return h ? h : 1;
}

static bool grow(surveying *w) {
    size_t n = w->n_slots ? w->n_slots * 2 : 1024;
    known_file *slots = calloc(n, sizeof *slots);
    if (!slots) return false;
    for (size_t i = 0; i < w->n_slots; i++) {
        if (!w->slots[i].hash) continue;
        size_t at = w->slots[i].hash & (n - 1);
        while (slots[at].hash) at = (at + 1) & (n - 1);
        slots[at] = w->slots[i];
    }
    free(w->slots);
    w->slots = slots;
    w->n_slots = n;
    return true;
}

/* The file's slot, NULL where it is not known. */
static known_file *find_slot(const surveying *w, str path) {
    uint64_t h = hash_path(path);
    if (w->n_slots == 0) return NULL;
    size_t at = h & (w->n_slots - 1);
    while (w->slots[at].hash && w->slots[at].hash != h) at = (at + 1) & (w->n_slots - 1);
    return w->slots[at].hash ? &w->slots[at] : NULL;
}

/* Made where it is not; NULL on exhaustion. */
static known_file *slot_of(surveying *w, str path) {
    if ((w->count + 1) * 3 >= w->n_slots * 2 && !grow(w)) return NULL;
    known_file *f = find_slot(w, path);
    if (f) return f;
    uint64_t h = hash_path(path);
    size_t at = h & (w->n_slots - 1);
    while (w->slots[at].hash) at = (at + 1) & (w->n_slots - 1);
    w->slots[at].hash = h;
    w->count++;
    return &w->slots[at];
}

/* ---- paths ---- */

/* A path of the log below the root, decoded; {NULL,0} for one elsewhere. Plain relative paths are themselves. */
static silt_status path_below(surveying *w, str action_path, str *out, silt_error *err) {
    store *where;
    str whole;
    bool plain = action_path.len > 0 && action_path.ptr[0] != '/' && !memchr(action_path.ptr, '%', action_path.len) &&
                 !memchr(action_path.ptr, ':', action_path.len);
    *out = action_path;
    if (plain) return SILT_OK;
    *out = STR_NULL;
    TRY(delta_resolve_path(w->env, w->root, action_path, w->scratch, &where, &whole, err));
    if (where == w->env->store && whole.len > w->root.len + 1 && str_starts_with(whole, w->root) && whole.ptr[w->root.len] == '/')
        *out = str_slice(whole, w->root.len + 1, whole.len);
    return SILT_OK;
}

static void count_in(surveying *w, disk_group *g, str path, int64_t bytes) {
    g->files++;
    g->bytes += bytes > 0 ? bytes : 0;
    if (g->n_examples == DISK_EXAMPLES) return;
    str copy = arena_str(w->a, path);
    if (copy.ptr) g->examples[g->n_examples++] = copy;
}

static silt_status look_elsewhere(surveying *w, const delta_add *add, silt_error *err) {
    store *where;
    str path;
    store_entry e;
    if (++w->s->elsewhere_files > ELSEWHERE_MAX) return SILT_OK;
    TRY(delta_resolve_path(w->env, w->root, add->path, w->scratch, &where, &path, err));
    w->s->elsewhere_checked++;
    silt_status status = store_stat(where, path, w->scratch, &e, err);
    if (status == SILT_NOT_FOUND)
        count_in(w, &w->s->missing, add->path, add->size_bytes);
    else if (status != SILT_OK)
        return status;
    else if (add->size_bytes >= 0 && e.size_bytes != add->size_bytes)
        count_in(w, &w->s->resized, add->path, e.size_bytes);
    return SILT_OK;
}

static silt_status take_live(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    surveying *w = ctx;
    str path;
    (void)i;
    arena_reset(w->scratch);
    TRY(path_below(w, add->path, &path, err));
    if (!path.ptr) TRY(look_elsewhere(w, add, err));
    if (path.ptr) {
        known_file *f = slot_of(w, path);
        if (!f) return error_no_memory(err);
        f->flags |= LIVE_DATA;
        f->size = add->size_bytes;
    }
    if (add->dv.storage != 'u') return SILT_OK;
    TRY(delta_dv_relative_path(&add->dv, w->scratch, &path, err));
    known_file *f = slot_of(w, path);
    if (!f) return error_no_memory(err);
    f->flags |= LIVE_VECTOR;
    return SILT_OK;
}

/* ---- the folder ---- */

static bool is_hidden(str path) {
    size_t from = 0;
    while (from < path.len) {
        str rest = str_slice(path, from, path.len);
        size_t slash = str_find_char(rest, '/');
        str name = str_slice(rest, 0, slash == SIZE_MAX ? rest.len : slash);
        bool allowed = str_eqz(name, "_change_data") ||
                       (slash != SIZE_MAX && name.len && name.ptr[0] == '_' && memchr(name.ptr, '=', name.len));
        if (name.len && (name.ptr[0] == '_' || name.ptr[0] == '.') && !allowed) return true;
        if (slash == SIZE_MAX) break;
        from += slash + 1;
    }
    return false;
}

/* From several threads: by the name alone. */
static store_walk_wish look(void *ctx, const store_walk_entry *e) {
    (void)ctx;
    if (e->kind == STORE_FOLDER) return str_eqz(e->path, "_delta_log") ? STORE_WALK_SKIP : STORE_WALK_PASS;
    return STORE_WALK_TAKE;
}

static silt_status take_entry(void *ctx, const store_walk_entry *e, silt_error *err) {
    surveying *w = ctx;
    known_file *f = find_slot(w, e->path);
    if (f) {
        f->flags |= SEEN;
        bool resized = (f->flags & LIVE_DATA) && f->size >= 0 && f->size != e->size_bytes && e->kind == STORE_FILE;
        if (resized) count_in(w, &w->s->resized, e->path, e->size_bytes);
        return SILT_OK;
    }
    if (is_hidden(e->path) || e->kind != STORE_FILE) return SILT_OK;
    bool kept = delta_retained_has(w->retained, e->path), young = e->modified_ms >= w->old_before_ms;
    w->s->kept_files += kept;
    w->s->young_files += !kept && young;
    if (kept || young) return SILT_OK;
    candidate c = {.path = arena_str(w->work, e->path), .size = e->size_bytes};
    if (!c.path.ptr) return error_no_memory(err);
    w->left++;
    return ARENA_PUSH(w->work, w->candidates, w->n_candidates, w->capacity, c) ? SILT_OK : error_no_memory(err);
}

static silt_status walk_folder(surveying *w, silt_error *err) {
    store_walker walker = {.ctx = w, .n_threads = w->env->n_threads, .cancel = w->env->cancel, .look = look, .take = take_entry};
    silt_status status = store_walk(w->env->store, w->root, &walker, err);
    return status == SILT_NOT_FOUND ? SILT_OK : status;
}

/* Which live files were not seen: only where the counts say that there are some. */
static silt_status take_missing(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    surveying *w = ctx;
    str path;
    (void)i;
    arena_reset(w->scratch);
    TRY(path_below(w, add->path, &path, err));
    if (path.ptr && !(find_slot(w, path)->flags & SEEN)) count_in(w, &w->s->missing, path, add->size_bytes);
    if (add->dv.storage != 'u') return SILT_OK;
    TRY(delta_dv_relative_path(&add->dv, w->scratch, &path, err));
    known_file *f = find_slot(w, path);
    if (f->flags & SEEN) return SILT_OK;
    f->flags |= SEEN; /* several files share one */
    count_in(w, &w->s->missing, path, 0);
    return SILT_OK;
}

static bool some_unseen(const surveying *w) {
    for (size_t i = 0; i < w->n_slots; i++)
        if ((w->slots[i].flags & (LIVE_DATA | LIVE_VECTOR)) && !(w->slots[i].flags & SEEN)) return true;
    return false;
}

/* ---- what the log knows of the rest ---- */

static bool index_candidates(surveying *w) {
    size_t n = 64;
    while (n < w->n_candidates * 2) n *= 2;
    w->by_path = arena_alloc(w->work, n * sizeof *w->by_path);
    if (!w->by_path) return false;
    memset(w->by_path, 0xFF, n * sizeof *w->by_path);
    w->n_by_path = n;
    for (uint32_t i = 0; i < w->n_candidates; i++) {
        size_t at = hash_path(w->candidates[i].path) & (n - 1);
        while (w->by_path[at] != UINT32_MAX) at = (at + 1) & (n - 1);
        w->by_path[at] = i;
    }
    return true;
}

static void mark_known(surveying *w, str path) {
    for (size_t at = hash_path(path) & (w->n_by_path - 1); w->by_path[at] != UINT32_MAX; at = (at + 1) & (w->n_by_path - 1)) {
        candidate *c = &w->candidates[w->by_path[at]];
        if (!str_eq(c->path, path)) continue;
        if (!c->known) w->left--;
        c->known = true;
        return;
    }
}

static silt_status mark_action(surveying *w, str action_path, const delta_dv *dv, silt_error *err) {
    str path;
    TRY(path_below(w, action_path, &path, err));
    if (path.ptr) mark_known(w, path);
    if (!dv || dv->storage != 'u') return SILT_OK;
    TRY(delta_dv_relative_path(dv, w->scratch, &path, err));
    mark_known(w, path);
    return SILT_OK;
}

static silt_status take_remove(void *ctx, const delta_remove *r, silt_error *err) {
    surveying *w = ctx;
    arena_reset(w->scratch);
    return mark_action(w, r->path, &r->dv, err);
}

static silt_status mark_commit(surveying *w, int64_t version, silt_error *err) {
    delta_commit c;
    arena_reset(w->scratch);
    TRY(delta_commit_read(w->env, w->root, version, w->scratch, &c, err));
    for (size_t i = 0; i < c.n_adds; i++) TRY(mark_action(w, c.adds[i].path, &c.adds[i].dv, err));
    for (size_t i = 0; i < c.n_removes; i++) TRY(mark_action(w, c.removes[i].path, &c.removes[i].dv, err));
    for (size_t i = 0; i < c.n_cdcs; i++) TRY(mark_action(w, c.cdcs[i].path, NULL, err));
    return SILT_OK;
}

/* Newest first, until everything is explained. A commit that cannot be read explains nothing. */
static silt_status mark_commits(surveying *w, silt_error *err) {
    log_listing log;
    size_t read = 0;
    TRY(log_list(w->env, w->root, 0, w->work, &log, err));
    for (size_t i = log.count; i > 0 && w->left > 0 && read < COMMITS_MAX; i--) {
        if (log.files[i - 1].name.kind != LOG_COMMIT) continue;
        TRY(cancel_check(w->env->cancel, err));
        silt_status status = mark_commit(w, log.files[i - 1].name.version, err);
        if (status == SILT_NO_MEMORY || status == SILT_CANCELLED) return status;
        read++;
    }
    return SILT_OK;
}

static silt_status sort_candidates(surveying *w, silt_error *err) {
    if (w->n_candidates == 0) return SILT_OK;
    if (!index_candidates(w)) return error_no_memory(err);
    TRY(delta_snapshot_each_remove(w->snapshot, take_remove, w, err));
    TRY(mark_commits(w, err));
    for (size_t i = 0; i < w->n_candidates; i++)
        count_in(w, w->candidates[i].known ? &w->s->removed : &w->s->orphaned, w->candidates[i].path, w->candidates[i].size);
    return SILT_OK;
}

static silt_status take(surveying *w, int64_t now_ms, silt_error *err) {
    int64_t retention =
        delta_config_interval_ms(&delta_snapshot_metadata(w->snapshot)->configuration, "delta.deletedFileRetentionDuration");
    w->old_before_ms = now_ms - (retention > 0 ? retention : 0);
    TRY(delta_snapshot_each_file(w->snapshot, false, take_live, w, err));
    TRY(delta_retained_load(w->snapshot, w->old_before_ms, &w->retained, err));
    TRY(walk_folder(w, err));
    if (some_unseen(w)) TRY(delta_snapshot_each_file(w->snapshot, false, take_missing, w, err));
    return sort_candidates(w, err);
}

silt_status disk_survey_take(const delta_snapshot *snapshot, int64_t now_ms, arena *a, disk_survey **out, silt_error *err) {
    surveying w = {.s = ARENA_NEW(a, disk_survey),
                   .snapshot = snapshot,
                   .env = delta_snapshot_env(snapshot),
                   .root = delta_snapshot_root(snapshot),
                   .a = a,
                   .scratch = arena_new(),
                   .work = arena_new()};
    silt_status status = w.s && w.scratch && w.work ? take(&w, now_ms, err) : error_no_memory(err);
    *out = w.s;
    free(w.slots);
    delta_retained_free(w.retained);
    arena_free(w.scratch);
    arena_free(w.work);
    return status;
}
