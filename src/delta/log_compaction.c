/*
 * Compacting a run of commits: replay's reconciliation over these commits alone. Removes stay, for the files that they remove may be older than the run; so do
 * domains that were removed. What speaks of a single commit only (commitInfo, change data) is left to the commits themselves.
 */
#include "delta/log_compaction.h"

#include "base/json.h"
#include "delta/action_write.h"
#include "delta/log_path.h"
#include "delta/path_set.h"
#include "delta/replay.h"
#include "delta/stats_fetch.h"

typedef struct compaction {
    const delta_env *env;
    arena *arena;
    parsed_log log;
    batch_view *views;
    size_t n_views;
    buf text;
} compaction;

static silt_status list_commits(compaction *c, str root, int64_t from, int64_t to, const log_file **out, silt_error *err) {
    log_file *files = ARENA_ARRAY(c->arena, (size_t)(to - from + 1), log_file);
    if (!files) return error_no_memory(err);
    for (int64_t v = from; v <= to; v++) {
        store_entry e;
        str path = log_path_file(root, v, ".json", c->arena);
        if (str_is_null(path)) return error_no_memory(err);
        silt_status status = store_stat(c->env->store, path, c->arena, &e, err);
        if (status != SILT_OK) return status == SILT_NOT_FOUND ? store_path_error(c->env->store, path, err_DELTA_LOG_FILE_NOT_FOUND, err) : status;
        files[v - from] =
            (log_file){.path = path, .name = {.kind = LOG_COMMIT, .version = v, .end_version = v}, .size_bytes = e.size_bytes, .modified_ms = e.modified_ms};
    }
    *out = files;
    return SILT_OK;
}

/* ---- files ---- */

typedef struct view_writer {
    compaction *c;
    const batch_view *view;
} view_writer;

static silt_status write_add(void *ctx, uint32_t k, str stats, silt_error *err) {
    view_writer *w = ctx;
    delta_add add;
    file_batch_get_add(w->view->batch, batch_view_add(w->view, k), &add);
    add.stats = stats;
    delta_write_add(&w->c->text, &add);
    return buf_ok(&w->c->text) ? SILT_OK : error_no_memory(err);
}

static silt_status write_remove(void *ctx, uint32_t k, str stats, silt_error *err) {
    view_writer *w = ctx;
    delta_remove remove;
    file_batch_get_remove(w->view->batch, w->view->removes->rows[k], &remove);
    remove.stats = stats;
    delta_write_remove(&w->c->text, &remove);
    return buf_ok(&w->c->text) ? SILT_OK : error_no_memory(err);
}

static silt_status write_files(compaction *c, silt_error *err) {
    for (size_t i = 0; i < c->n_views; i++) {
        view_writer w = {c, &c->views[i]};
        const uint32_t *rows = w.view->adds ? w.view->adds->rows : NULL;
        TRY(cancel_check(c->env->cancel, err));
        if (w.view->n_adds) TRY(stats_fetch(c->env, w.view->batch, rows, w.view->n_adds, write_add, &w, err));
        if (w.view->n_removes) TRY(stats_fetch(c->env, w.view->batch, w.view->removes->rows, w.view->n_removes, write_remove, &w, err));
    }
    return SILT_OK;
}

/* ---- the other actions ---- */

static void write_raw(compaction *c, const char *name, const raw_action *action) { buf_printf(&c->text, "{\"%s\":%.*s}\n", name, STR_ARG(action->text)); }

static void write_newest(compaction *c, const char *name, action_kind kind) {
    for (size_t i = c->log.actions.count; i-- > 0;)
        if (c->log.actions.items[i].kind == kind) {
            write_raw(c, name, &c->log.actions.items[i]);
            return;
        }
}

/* The newest of each key, newest first: order has no meaning among them. */
static silt_status write_newest_of_each(compaction *c, const char *name, action_kind kind, const char *key, silt_error *err) {
    path_set seen = {NULL, 0, 0};
    for (size_t i = c->log.actions.count; i-- > 0;) {
        const raw_action *action = &c->log.actions.items[i];
        const json_node *node;
        bool added;
        if (action->kind != kind) continue;
        TRY(json_parse(action->text, c->arena, &node, err));
        if (!path_set_add(&seen, json_get_str(node, key, STR_NULL), c->arena, &added)) return error_no_memory(err);
        if (added) write_raw(c, name, action);
    }
    return SILT_OK;
}

static silt_status compact(compaction *c, str root, int64_t from, int64_t to, silt_error *err) {
    const log_file *commits;
    TRY(list_commits(c, root, from, to, &commits, err));
    TRY(replay_parse(c->env, commits, (size_t)(to - from + 1), -1, c->arena, &c->log, err));
    if (c->log.status != SILT_OK) {
        if (err) *err = c->log.error;
        return c->log.status;
    }
    c->views = ARENA_ARRAY(c->arena, c->log.n_batches + 1, batch_view);
    if (!c->views) return error_no_memory(err);
    TRY(replay_reconcile(c->log.batches, c->log.n_batches, c->env->n_threads, c->views, err));
    c->n_views = c->log.n_batches;
    write_newest(c, "protocol", ACTION_PROTOCOL);
    write_newest(c, "metaData", ACTION_METADATA);
    TRY(write_files(c, err));
    TRY(write_newest_of_each(c, "txn", ACTION_TXN, "appId", err));
    TRY(write_newest_of_each(c, "domainMetadata", ACTION_DOMAIN, "domain", err));
    if (!buf_ok(&c->text)) return error_no_memory(err);
    str dir = log_path_dir(root, c->arena);
    str path = arena_printf(c->arena, "%.*s/%020lld.%020lld.compacted.json", STR_ARG(dir), (long long)from, (long long)to);
    if (str_is_null(dir) || str_is_null(path)) return error_no_memory(err);
    silt_error why = {.status = SILT_OK};
    silt_status status = store_put(c->env->store, path, buf_str(&c->text), STORE_PUT_IF_ABSENT, &why);
    if (status != SILT_OK && status != SILT_EXISTS && err) *err = why;
    return status == SILT_EXISTS ? SILT_OK : status;
}

silt_status delta_log_compact(const delta_env *env, str root, int64_t from, int64_t to, silt_error *err) {
    if (from < 0 || to <= from) return err_INTERNAL_ERROR(err, "a log compaction needs two versions");
    compaction c = {.env = env, .arena = arena_new()};
    if (!c.arena) return error_no_memory(err);
    buf_init(&c.text, BUF_MAX_DEFAULT);
    silt_status status = compact(&c, root, from, to, err);
    for (size_t i = 0; i < c.n_views; i++) batch_view_release(&c.views[i]);
    parsed_log_release(&c.log);
    buf_dispose(&c.text);
    arena_free(c.arena);
    return status;
}
