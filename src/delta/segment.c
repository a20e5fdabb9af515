/*
 * Choosing the files of a version. The listing is the only truth: _last_checkpoint saves listing (and stat'ing) what lies before
 * the checkpoint, and where it is missing, unreadable, stale or points nowhere everything is listed instead. A multi-part
 * checkpoint counts only with all its parts.
 */
#include "delta/segment.h"

#include <pthread.h>
#include <time.h>

#include "base/thread.h"
#include "base/time.h"
#include "base/uri.h"
#include "delta/log_fetch.h"

#define MAX_LISTINGS 20

str delta_table_name(const delta_env *env, str root, arena *a) {
    return store_path_named(env->store, root, a);
}

/* ---- listing ---- */

static bool is_single_checkpoint(log_file_kind k) {
    return k == LOG_CHECKPOINT || k == LOG_CHECKPOINT_V2_JSON || k == LOG_CHECKPOINT_V2_PARQUET;
}

static silt_status take_entries(const delta_env *env, const store_list_result *found, int64_t asked_ms, arena *a, log_listing *out, silt_error *err) {
    for (size_t i = 0; i < found->count; i++) {
        const store_entry *e = &found->items[i];
        log_file f = {.path = e->path,
                      .name = log_path_parse(path_name(e->path)),
                      .size_bytes = e->size_bytes,
                      .modified_ms = e->modified_ms,
                      .listed_ms = asked_ms};
        if (e->is_dir || f.name.kind == LOG_OTHER || f.name.version < out->from_version) continue;
        TRY(log_file_tag(env, e, a, &f.tag, err));
        if (!ARENA_PUSH(a, out->files, out->count, out->capacity, f)) return error_no_memory(err);
    }
    return SILT_OK;
}

static silt_status list_once(const delta_env *env, str root, int64_t from_version, arena *a, log_listing *out, silt_error *err) {
    *out = (log_listing){.from_version = from_version};
    str dir = log_path_dir(root, a), start = STR_NULL;
    if (from_version > 0) start = arena_printf(a, "%020lld", (long long)from_version);
    if (!dir.ptr || (from_version > 0 && !start.ptr)) return error_no_memory(err);
    store_list_result found = {0};
    int64_t asked_ms = time_now_ms();
    silt_status status = store_list(env->store, dir, start, false, a, &found, err);
    if (status == SILT_NOT_FOUND) return err_DELTA_TABLE_NOT_FOUND(err, delta_table_name(env, root, a));
    TRY(status);
    return take_entries(env, &found, asked_ms, a, out, err);
}

/* The first version whose commit is missing behind a commit or checkpoint that is there, or behind where the listing began; -1: none. */
static int64_t first_gap(const log_listing *l) {
    int64_t last = l->from_version - 1;
    for (size_t i = 0; i < l->count; i++) {
        const log_file_name *n = &l->files[i].name;
        if (n->kind == LOG_COMMIT && last >= 0 && n->version > last + 1) return last + 1;
        if (n->kind == LOG_COMMIT || n->kind == LOG_CHECKPOINT_PART || is_single_checkpoint(n->kind)) last = n->version;
    }
    return -1;
}

/* A folder is not read at one moment: a commit that arrives behind the place where the reading stands is not shown, the next one may be. What was there before the reading began is
 * shown, so a gap is real when a second listing has it as well. Under a stream of commits the second may have another one, further on; MAX_LISTINGS only ends a dispute with a broken store. */
silt_status log_list(const delta_env *env, str root, int64_t from_version, arena *a, log_listing *out, silt_error *err) {
    int64_t gap = -1, before;
    int listings = 0;
    do {
        before = gap;
        TRY(list_once(env, root, from_version, a, out, err));
        gap = first_gap(out);
    } while (gap >= 0 && gap != before && ++listings < MAX_LISTINGS);
    return SILT_OK;
}

const log_file *log_listing_find(const log_listing *l, log_file_kind kind, int64_t version) {
    size_t lo = 0, hi = l->count;
    while (lo < hi) { /* names ascend, so versions do */
        size_t mid = lo + (hi - lo) / 2;
        if (l->files[mid].name.version < version)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (; lo < l->count && l->files[lo].name.version == version; lo++)
        if (l->files[lo].name.kind == kind) return &l->files[lo];
    return NULL;
}

/* ---- checkpoints ---- */

/* All parts of the set that files[first] (a part 1) begins. Parts of one set are neighbours only when no other set has the same
 * version, so each is looked for. */
static bool find_parts(const log_listing *l, size_t from, size_t to, int32_t parts, const log_file **out) {
    for (int32_t p = 1; p <= parts; p++) {
        const log_file *found = NULL;
        for (size_t i = from; i < to && !found; i++) {
            const log_file_name *n = &l->files[i].name;
            if (n->kind == LOG_CHECKPOINT_PART && n->parts == parts && n->part == p) found = &l->files[i];
        }
        if (!found) return false;
        if (out) out[p - 1] = found;
    }
    return true;
}

/* The best complete checkpoint among files [from, to) of one version: one file if there is one (a classic one first: it needs no
 * sidecars), else a complete set of parts. */
static bool version_checkpoint(const log_listing *l, size_t from, size_t to, size_t *out_first, int32_t *out_parts) {
    *out_parts = 0;
    for (size_t i = from; i < to; i++) {
        log_file_kind k = l->files[i].name.kind;
        if (!is_single_checkpoint(k)) continue;
        if (*out_parts == 0 || k == LOG_CHECKPOINT) *out_first = i;
        *out_parts = 1;
    }
    if (*out_parts) return true;
    for (size_t i = from; i < to; i++) {
        const log_file_name *n = &l->files[i].name;
        if (n->kind != LOG_CHECKPOINT_PART || n->part != 1 || (size_t)n->parts > to - from) continue;
        if (!find_parts(l, from, to, n->parts, NULL)) continue;
        *out_first = i;
        *out_parts = n->parts;
        return true;
    }
    return false;
}

/* Walks the versions of the listing downwards from `version`; [*from, *to) are the files of the next one. */
static bool version_before(const log_listing *l, int64_t version, size_t *from, size_t *to) {
    size_t end = *from;
    while (end > 0 && l->files[end - 1].name.version > version) end--;
    if (end == 0) return false;
    *to = end;
    int64_t v = l->files[end - 1].name.version;
    while (end > 0 && l->files[end - 1].name.version == v) end--;
    *from = end;
    return true;
}

bool segment_checkpoint(const log_listing *l, int64_t version, arena *a, const log_file **out, size_t *out_count) {
    size_t from = l->count, to, first = 0;
    int32_t parts;
    while (version_before(l, version, &from, &to)) {
        if (!version_checkpoint(l, from, to, &first, &parts)) continue;
        log_file *files = ARENA_ARRAY(a, (size_t)parts, log_file);
        const log_file **found = ARENA_ARRAY(a, (size_t)parts, const log_file *);
        if (!files || !found) return false;
        if (parts == 1 && l->files[first].name.kind != LOG_CHECKPOINT_PART)
            found[0] = &l->files[first];
        else
            find_parts(l, from, to, parts, found);
        for (int32_t i = 0; i < parts; i++) files[i] = *found[i];
        *out = files;
        *out_count = (size_t)parts;
        return true;
    }
    return false;
}

static bool has_checkpoint_at(const log_listing *l, int64_t version) {
    size_t from = l->count, to, first;
    int32_t parts;
    return version_before(l, version, &from, &to) && l->files[from].name.version == version &&
           version_checkpoint(l, from, to, &first, &parts);
}

/* ---- commits ---- */

/* The compacted file that starts at `from` and reaches farthest without passing `to`. */
static const log_file *compacted_at(const log_listing *l, int64_t from, int64_t to) {
    const log_file *best = NULL;
    const log_file *f = log_listing_find(l, LOG_COMPACTED, from);
    for (; f && f < l->files + l->count && f->name.version == from; f++)
        if (f->name.kind == LOG_COMPACTED && f->name.end_version <= to && (!best || f->name.end_version > best->name.end_version))
            best = f;
    return best;
}

/* The next version for which there is a commit, for the message about a gap. */
static int64_t next_commit(const log_listing *l, int64_t after) {
    for (size_t i = 0; i < l->count; i++)
        if (l->files[i].name.kind == LOG_COMMIT && l->files[i].name.version > after) return l->files[i].name.version;
    return -1;
}

silt_status segment_commits(const log_listing *l, int64_t after, int64_t to, bool use_compacted, arena *a, const log_file **out,
                            size_t *out_count, silt_error *err) {
    log_file *files = NULL;
    size_t count = 0, capacity = 0;
    for (int64_t v = after + 1; v <= to;) {
        const log_file *f = use_compacted ? compacted_at(l, v, to) : NULL;
        if (!f) f = log_listing_find(l, LOG_COMMIT, v);
        if (!f) return err_DELTA_VERSIONS_NOT_CONTIGUOUS(err, v - 1, next_commit(l, v));
        if (!ARENA_PUSH(a, files, count, capacity, *f)) return error_no_memory(err);
        v = f->name.end_version + 1;
    }
    *out = files;
    *out_count = count;
    return SILT_OK;
}

/* ---- versions of a listing ---- */

int64_t log_listing_latest(const log_listing *l) {
    size_t from = l->count, to, first;
    int32_t parts;
    while (version_before(l, INT64_MAX, &from, &to)) {
        for (size_t i = from; i < to; i++)
            if (l->files[i].name.kind == LOG_COMMIT) return l->files[i].name.version;
        if (version_checkpoint(l, from, to, &first, &parts)) return l->files[from].name.version;
    }
    return -1;
}

int64_t log_listing_earliest(const log_listing *l) {
    if (log_listing_find(l, LOG_COMMIT, 0)) return 0;
    for (size_t from = 0; from < l->count;) {
        size_t to = from, first;
        int32_t parts;
        while (to < l->count && l->files[to].name.version == l->files[from].name.version) to++;
        if (version_checkpoint(l, from, to, &first, &parts)) return l->files[from].name.version;
        from = to;
    }
    return -1;
}

/* ---- the segment ---- */

/* The version that _last_checkpoint names, -1 where it cannot be read. */
static int64_t checkpoint_hint(const delta_env *env, str root, arena *a) {
    str path = log_path_last_checkpoint(root, a);
    int64_t version = -1;
    buf text;
    buf_init(&text, (size_t)64 << 20);
    const json_node *hint;
    if (path.ptr && store_read(env->store, path, 0, -1, &text, NULL) == SILT_OK &&
        json_parse(buf_str(&text), a, &hint, NULL) == SILT_OK)
        version = json_get_i64(hint, "version", -1);
    buf_dispose(&text);
    return version;
}

/* A version that cannot be had: which are there? */
static silt_status not_found(const delta_env *env, str root, int64_t version, arena *a, silt_error *err) {
    log_listing all;
    TRY(log_list(env, root, 0, a, &all, err));
    int64_t latest = log_listing_latest(&all), earliest = log_listing_earliest(&all);
    if (latest < 0) return err_DELTA_TABLE_NOT_FOUND(err, delta_table_name(env, root, a));
    return err_DELTA_VERSION_NOT_FOUND(err, version, earliest < 0 ? latest : earliest, latest);
}

static silt_status choose(const delta_env *env, str root, const log_listing *l, int64_t wanted, arena *a, delta_segment *out,
                          silt_error *err) {
    int64_t latest = log_listing_latest(l);
    if (latest < 0) return err_DELTA_TABLE_NOT_FOUND(err, delta_table_name(env, root, a));
    int64_t version = wanted == DELTA_LATEST ? latest : wanted;
    if (version > latest) return not_found(env, root, version, a, err);
    *out = (delta_segment){.version = version, .checkpoint_version = -1};
    if (segment_checkpoint(l, version, a, &out->checkpoint, &out->n_checkpoint))
        out->checkpoint_version = out->checkpoint[0].name.version;
    if (out->n_checkpoint == 0 && !log_listing_find(l, LOG_COMMIT, 0) && !compacted_at(l, 0, version)) {
        if (wanted != DELTA_LATEST && log_listing_earliest(l) > wanted) return not_found(env, root, version, a, err);
        return err_DELTA_TRUNCATED_TRANSACTION_LOG(err, delta_table_name(env, root, a), version);
    }
    TRY(segment_commits(l, out->checkpoint_version, version, true, a, &out->commits, &out->n_commits, err));
    out->last_commit = log_listing_find(l, LOG_COMMIT, version);
    out->checksum = log_listing_find(l, LOG_CHECKSUM, version);
    return SILT_OK;
}

/* A checkpoint will be read: its reader is made ready while the log is listed and fetched. */
static void want_parquet(const delta_env *env) {
    if (env->parquet && env->parquet->soon) env->parquet->soon(env->parquet);
}

/* From a checkpoint on that was said to be there. *out_done: it is. */
static silt_status load_from(const delta_env *env, str root, int64_t hint, int64_t version, arena *a, delta_segment *out, bool *out_done, silt_error *err) {
    log_listing l;
    *out_done = false;
    if (hint <= 0 || (version != DELTA_LATEST && hint > version)) return SILT_OK;
    want_parquet(env);
    TRY(log_list(env, root, hint, a, &l, err));
    *out_done = has_checkpoint_at(&l, hint);
    return *out_done ? choose(env, root, &l, version, a, out, err) : SILT_OK;
}

/*
 * Of a remote table of which nothing is known: the listing from the beginning, and beside it the table's own hint with the listing from there on. The page is given up when the hint was enough. Logs are mostly short
 * enough for one page, and then nothing is left to ask for; the first page of a long one is a thousand files that nobody needs, which take their time.
 */
typedef struct first_look {
    const delta_env *env;
    str root;
    int64_t version; /* that is wanted */
    pthread_mutex_t lock;
    pthread_cond_t page_came;
    bool page_is_there; /* under lock: the first page, or why there is none */
    cancel_token no_page; /* nobody needs it any more */
    /* from the first page */
    arena *page_arena;
    silt_status listed;
    silt_error why_not;
    log_listing l;
    bool all;
    /* from the hint */
    arena *arena;
    int64_t hint;
    delta_segment *out;
    bool done; /* *out is there */
} first_look;

static silt_status list_first(first_look *f, arena *a, silt_error *err) {
    store_list_result found;
    str dir = log_path_dir(f->root, a);
    if (!dir.ptr) return error_no_memory(err);
    int64_t asked_ms = time_now_ms();
    silt_status status = store_list_first(f->env->store, dir, &f->no_page, a, &found, &f->all, err);
    if (status == SILT_NOT_FOUND) return err_DELTA_TABLE_NOT_FOUND(err, delta_table_name(f->env, f->root, a));
    TRY(status);
    TRY(take_entries(f->env, &found, asked_ms, a, &f->l, err));
    f->all = f->all && first_gap(&f->l) < 0; /* a gap asks for a second listing */
    return SILT_OK;
}

static silt_status look_at_page(first_look *f) {
    f->listed = list_first(f, f->page_arena, &f->why_not);
    pthread_mutex_lock(&f->lock);
    f->page_is_there = true;
    pthread_cond_signal(&f->page_came);
    pthread_mutex_unlock(&f->lock);
    return SILT_OK; /* what it is worth is seen when the hint's side has ended */
}

#define SHORT_LOG    500 /* versions, which may well be all of a page */
#define PATIENCE_PER 4

/* The page of a short log comes at about the time of the hint, and saves the listing behind it. Waits for a part of the time that the hint took. */
static bool is_page_enough(first_look *f, int64_t took_ms) {
    struct timespec until;
    int64_t wait_ms = f->hint < SHORT_LOG ? took_ms / PATIENCE_PER + 1 : 0;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += wait_ms / 1000;
    until.tv_nsec += wait_ms % 1000 * 1000000;
    if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
    pthread_mutex_lock(&f->lock);
    while (wait_ms > 0 && !f->page_is_there)
        if (pthread_cond_timedwait(&f->page_came, &f->lock, &until) != 0) break;
    bool enough = f->page_is_there && f->listed == SILT_OK && f->all;
    pthread_mutex_unlock(&f->lock);
    return enough;
}

static silt_status look_from_hint(first_look *f, silt_error *err) {
    int64_t began_ms = time_monotonic_ms();
    f->hint = checkpoint_hint(f->env, f->root, f->arena);
    if (f->hint <= 0 || is_page_enough(f, time_monotonic_ms() - began_ms)) return SILT_OK;
    TRY(load_from(f->env, f->root, f->hint, f->version, f->arena, f->out, &f->done, err));
    if (f->done) cancel_request(&f->no_page, true);
    return SILT_OK;
}

static silt_status look_nth(void *ctx, size_t i, silt_error *err) { return i == 0 ? look_at_page(ctx) : look_from_hint(ctx, err); }

static void free_arena(void *a) { arena_free(a); }

static silt_status look_first(first_look *f, silt_error *err) {
    silt_error why = {0};
    f->page_arena = arena_new();
    if (!f->page_arena) return error_no_memory(err);
    if (!arena_defer(f->arena, free_arena, f->page_arena)) {
        arena_free(f->page_arena);
        return error_no_memory(err);
    }
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->page_came, NULL);
    silt_status status = thread_for(2, 2, look_nth, f, &why);
    pthread_cond_destroy(&f->page_came);
    pthread_mutex_destroy(&f->lock);
    if (f->done || (f->listed == SILT_OK && f->all)) return SILT_OK;
    if (f->listed != SILT_OK) status = f->listed, why = f->why_not;
    if (status != SILT_OK && err) *err = why;
    return status;
}

static silt_status load_unknown(const delta_env *env, str root, int64_t version, arena *a, delta_segment *out, silt_error *err) {
    first_look f = {.env = env, .root = root, .version = version, .arena = a, .out = out, .listed = SILT_OK, .hint = -1};
    TRY(look_first(&f, err));
    if (f.done) return SILT_OK;
    if (!f.all) TRY(log_list(env, root, 0, a, &f.l, err));
    return choose(env, root, &f.l, version, a, out, err);
}

/* What was seen here before saves the request for the table's own hint; 0: it was enough to list all. */
static silt_status load_from_hints(const delta_env *env, str root, int64_t kept, int64_t version, arena *a, delta_segment *out, silt_error *err) {
    log_listing l;
    int64_t hint = -1;
    bool done;
    if (kept < 0 && env->store->ops->list_first) return load_unknown(env, root, version, a, out, err);
    TRY(load_from(env, root, kept, version, a, out, &done, err));
    if (!done && kept != 0) hint = checkpoint_hint(env, root, a);
    if (!done && hint != kept) TRY(load_from(env, root, hint, version, a, out, &done, err));
    if (done) return SILT_OK;
    TRY(log_list(env, root, 0, a, &l, err));
    return choose(env, root, &l, version, a, out, err);
}

silt_status segment_load(const delta_env *env, str root, int64_t version, arena *a, delta_segment *out, silt_error *err) {
    if (version < DELTA_LATEST) return not_found(env, root, version, a, err);
    str dir = log_path_dir(root, a);
    if (!dir.ptr) return error_no_memory(err);
    while (dir.len > 1 && dir.ptr[dir.len - 1] == '/') dir.len--;
    int64_t kept = store_hint(env->store, dir);
    TRY(load_from_hints(env, root, kept, version, a, out, err));
    if (out->n_checkpoint) want_parquet(env);
    int64_t seen = out->checkpoint_version > 0 ? out->checkpoint_version : 0;
    if (version == DELTA_LATEST && seen != kept) store_set_hint(env->store, dir, seen);
    return SILT_OK;
}
