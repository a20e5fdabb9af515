/* One commit file as plain actions. The bulk parser reads it; here its columns become structs, with their statistics. */
#include "delta/commit_read.h"

#include "delta/action_json.h"
#include "delta/json_walk.h"
#include "delta/log_door.h"
#include "delta/log_parse.h"
#include "delta/log_path.h"

/* Everything that lives for the call only. */
typedef struct reading {
    const delta_env *env;
    str path;
    buf text;
    log_parser *parser;
    file_batch *batch;
    raw_actions actions;
    arena *arena;
    delta_txn_id *txns;
    size_t n_txns, txns_capacity;
    delta_domain *domains;
    size_t n_domains, domains_capacity;
    delta_cdc *cdcs;
    size_t n_cdcs, cdcs_capacity;
} reading;

static silt_status bad_action(const reading *r, const raw_action *action, const silt_error *why, silt_error *err) {
    return log_parse_bad_line(r->env->store, r->path, action->line_offset, why->detail[0] ? why->detail : why->message, err);
}

static silt_status take_raw(reading *r, const raw_action *action, delta_commit *out, silt_error *err) {
    delta_protocol *protocol;
    delta_metadata *metadata;
    delta_txn_id txn;
    delta_domain domain;
    delta_cdc cdc;
    arena *a = r->arena;
    switch (action->kind) {
        case ACTION_PROTOCOL:
            if (!(protocol = ARENA_NEW(a, delta_protocol))) return error_no_memory(err);
            out->protocol = protocol;
            return action_parse_protocol(action->text, a, protocol, err);
        case ACTION_METADATA:
            if (!(metadata = ARENA_NEW(a, delta_metadata))) return error_no_memory(err);
            out->metadata = metadata;
            return action_parse_metadata(action->text, a, metadata, err);
        case ACTION_TXN:
            TRY(action_parse_txn(action->text, a, &txn, err));
            return ARENA_PUSH(a, r->txns, r->n_txns, r->txns_capacity, txn) ? SILT_OK : error_no_memory(err);
        case ACTION_DOMAIN:
            TRY(action_parse_domain(action->text, a, &domain, err));
            return ARENA_PUSH(a, r->domains, r->n_domains, r->domains_capacity, domain) ? SILT_OK : error_no_memory(err);
        case ACTION_COMMIT_INFO: out->commit_info = action->text; return SILT_OK;
        case ACTION_CDC:
            TRY(action_parse_cdc(action->text, a, &cdc, err));
            return ARENA_PUSH(a, r->cdcs, r->n_cdcs, r->cdcs_capacity, cdc) ? SILT_OK : error_no_memory(err);
        case ACTION_SIDECAR: break; /* not allowed in a commit; ignored as unknown actions are */
    }
    return SILT_OK;
}

/* The statistics text of a row, unescaped. */
static silt_status row_stats(const reading *r, uint32_t row, str *out, silt_error *err) {
    const file_row *f = &r->batch->rows[row];
    *out = STR_NULL;
    if (!(f->flags & ROW_HAS_STATS)) return SILT_OK;
    str raw = {r->text.ptr + f->stats_offset + 1, f->stats_len - 2};
    buf plain;
    buf_init(&plain, BUF_MAX_DEFAULT);
    bool good = json_raw_unescape(raw, &plain);
    if (good) *out = arena_str(r->arena, buf_str(&plain));
    bool no_memory = plain.failed || (good && !out->ptr);
    buf_dispose(&plain);
    return no_memory ? error_no_memory(err) : SILT_OK; /* a bad escape: no statistics */
}

static silt_status take_files(const reading *r, delta_commit *out, silt_error *err) {
    const file_batch *b = r->batch;
    delta_add *adds = ARENA_ARRAY(r->arena, b->n_rows - b->n_removes, delta_add);
    delta_remove *removes = ARENA_ARRAY(r->arena, b->n_removes, delta_remove);
    if (!adds || !removes) return error_no_memory(err);
    for (uint32_t i = 0; i < b->n_rows; i++) {
        if (file_row_is_remove(&b->rows[i])) {
            delta_remove *m = &removes[out->n_removes++];
            file_batch_get_remove(b, i, m);
            TRY(row_stats(r, i, &m->stats, err));
        } else {
            delta_add *m = &adds[out->n_adds++];
            file_batch_get_add(b, i, m);
            TRY(row_stats(r, i, &m->stats, err));
        }
    }
    out->adds = adds;
    out->removes = removes;
    return SILT_OK;
}

static void release_batch(void *batch) { file_batch_release(batch); }

static silt_status parse_all(reading *r, int64_t version, delta_commit *out, silt_error *err) {
    log_piece piece = {.path = r->path, .version = version, .to = -1, .want_commit_info = true, .want_cdc = true};
    size_t bad;
    silt_error why = {0};
    silt_status status = log_parse_text(r->parser, r->text.ptr, r->text.len - LOG_DOOR_PADDING, &piece, 0, r->batch, &r->actions,
                                        r->arena, &bad, &why);
    if (status == SILT_CORRUPT) return log_parse_bad_line(r->env->store, r->path, (int64_t)bad, why.detail, err);
    if (status != SILT_OK) return error_no_memory(err);
    for (size_t i = 0; i < r->actions.count; i++) {
        status = take_raw(r, &r->actions.items[i], out, &why);
        if (status == SILT_CORRUPT) return bad_action(r, &r->actions.items[i], &why, err);
        if (status != SILT_OK) {
            if (err) *err = why;
            return status;
        }
    }
    out->txns = r->txns;
    out->n_txns = r->n_txns;
    out->domains = r->domains;
    out->n_domains = r->n_domains;
    out->cdcs = r->cdcs;
    out->n_cdcs = r->n_cdcs;
    TRY(take_files(r, out, err));
    const json_node *info;
    if (out->commit_info.ptr && json_parse(out->commit_info, r->arena, &info, NULL) == SILT_OK)
        out->in_commit_timestamp_ms = json_get_i64(info, "inCommitTimestamp", -1);
    return SILT_OK;
}

static silt_status read_file(reading *r, int64_t length, silt_error *err) {
    silt_status status = store_read(r->env->store, r->path, 0, length, &r->text, err);
    return status == SILT_NOT_FOUND ? store_path_error(r->env->store, r->path, err_DELTA_LOG_FILE_NOT_FOUND, err) : status;
}

silt_status delta_commit_read(const delta_env *env, str root, int64_t version, arena *a, delta_commit *out, silt_error *err) {
    *out = (delta_commit){.version = version, .in_commit_timestamp_ms = -1};
    reading r = {.env = env,
                 .path = log_path_file(root, version, ".json", a),
                 .arena = a,
                 .parser = log_parser_new(),
                 .batch = file_batch_new()};
    buf_init(&r.text, BUF_MAX_DEFAULT);
    silt_status status = r.path.ptr && r.parser && r.batch ? read_file(&r, -1, err) : error_no_memory(err);
    static const char padding[LOG_DOOR_PADDING];
    if (status == SILT_OK) buf_append_bytes(&r.text, padding, sizeof padding);
    if (status == SILT_OK && !buf_ok(&r.text)) status = error_no_memory(err);
    if (status == SILT_OK) status = parse_all(&r, version, out, err);
    buf_dispose(&r.text);
    log_parser_free(r.parser);
    if (r.batch && !arena_defer(a, release_batch, r.batch)) { /* the actions borrow its strings */
        file_batch_release(r.batch);
        if (status == SILT_OK) status = error_no_memory(err);
    }
    return status;
}

/* ---- commitInfo alone ---- */

#define FIRST_BYTES (64 << 10)

/* The commitInfo of the first line, where it is that: *out_found. */
static silt_status first_line_info(reading *r, str *out, bool *out_found, silt_error *err) {
    const char *newline = memchr(r->text.ptr ? r->text.ptr : "", '\n', r->text.len);
    size_t len = newline ? (size_t)(newline - r->text.ptr) : r->text.len;
    const json_node *root;
    *out_found = false;
    if (len == 0 || json_parse((str){r->text.ptr, len}, r->arena, &root, NULL) != SILT_OK) return SILT_OK;
    const json_node *info = json_get(root, "commitInfo");
    if (!info || info->type != JSON_OBJECT) return SILT_OK;
    *out_found = true;
    *out = arena_str(r->arena, info->text);
    return out->ptr ? SILT_OK : error_no_memory(err);
}

silt_status delta_commit_info_read(const delta_env *env, str root, int64_t version, arena *a, str *out, silt_error *err) {
    *out = STR_NULL;
    reading r = {.env = env, .path = log_path_file(root, version, ".json", a), .arena = a};
    if (!r.path.ptr) return error_no_memory(err);
    buf_init(&r.text, BUF_MAX_DEFAULT);
    bool found = false;
    silt_status status = read_file(&r, FIRST_BYTES, err);
    if (status == SILT_OK) status = first_line_info(&r, out, &found, err);
    buf_dispose(&r.text);
    if (status != SILT_OK || found) return status;
    delta_commit commit; /* not on the first line, or that is longer than what was read: the whole file */
    TRY(delta_commit_read(env, root, version, a, &commit, err));
    *out = commit.commit_info;
    return SILT_OK;
}
