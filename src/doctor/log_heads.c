/*
 * A head is the part of a commit that fits into one short read. Spark and Silt write commitInfo first and metaData before the
 * files; delta-rs writes commitInfo last, so that a small commit, which was read whole, gives it too. A metaData line that is
 * cut off is read to its end.
 */
#include "doctor/log_heads.h"

#define HEAD_BYTES     (64 << 10)
#define METADATA_BYTES (64 << 20)

static silt_status take_line(str line, arena *a, log_head *h, silt_error *err) {
    const json_node *node = NULL;
    bool is_info = str_starts_with(line, STR("{\"commitInfo\""));
    if (!is_info && !str_starts_with(line, STR("{\"metaData\""))) return SILT_OK;
    silt_status status = json_parse(line, a, &node, NULL);
    if (status == SILT_NO_MEMORY) return error_no_memory(err);
    if (status != SILT_OK) return SILT_OK; /* a bad line is the replay's finding */
    if (is_info) {
        h->info = json_get(node, "commitInfo");
        h->operation = json_get_str(h->info, "operation", STR_NULL);
        h->timestamp_ms = json_get_i64(h->info, "timestamp", -1);
    } else {
        const json_node *m = json_get(node, "metaData");
        h->schema_json = json_get_str(m, "schemaString", STR_NULL);
        h->configuration = json_get(m, "configuration");
    }
    return SILT_OK;
}

/* *out_cut: the text ends inside of a metaData line. */
static silt_status take_text(str text, bool is_whole, arena *a, log_head *h, bool *out_cut, silt_error *err) {
    *out_cut = false;
    while (text.len > 0) {
        size_t end = str_find_char(text, '\n');
        if (end == SIZE_MAX && !is_whole) {
            *out_cut = str_starts_with(text, STR("{\"metaData\""));
            return SILT_OK;
        }
        str line = str_slice(text, 0, end == SIZE_MAX ? text.len : end);
        TRY(take_line(line, a, h, err));
        text = str_slice(text, end == SIZE_MAX ? text.len : end + 1, text.len);
    }
    return SILT_OK;
}

static silt_status read_head(const delta_env *env, const log_file *file, buf *text, arena *a, log_head *h, silt_error *err) {
    bool cut;
    buf_clear(text);
    *h = (log_head){.version = file->name.version, .modified_ms = file->modified_ms, .timestamp_ms = -1};
    silt_status status = store_read(env->store, file->path, 0, HEAD_BYTES, text, err);
    if (status != SILT_OK)
        return status == SILT_NO_MEMORY || status == SILT_CANCELLED ? status
                                                                    : SILT_OK; /* gone meanwhile, or unreadable: no head */
    TRY(take_text(buf_str(text), text->len < HEAD_BYTES, a, h, &cut, err));
    if (!cut) return SILT_OK;
    buf_clear(text);
    if (store_read(env->store, file->path, 0, METADATA_BYTES, text, NULL) != SILT_OK) return SILT_OK;
    return take_text(buf_str(text), text->len < METADATA_BYTES, a, h, &cut, err);
}

silt_status log_heads_read(const delta_env *env, const log_listing *log, arena *a, log_heads **out, silt_error *err) {
    log_heads *heads = ARENA_NEW(a, log_heads);
    size_t n = 0, seen = 0;
    for (size_t i = 0; i < log->count; i++) n += log->files[i].name.kind == LOG_COMMIT;
    size_t wanted = n < LOG_HEADS_MAX ? n : LOG_HEADS_MAX;
    if (!heads || !(heads->items = ARENA_ARRAY(a, wanted + 1, log_head))) return error_no_memory(err);
    heads->is_whole = wanted == n;
    buf text;
    buf_init(&text, BUF_MAX_DEFAULT);
    silt_status status = SILT_OK;
    for (size_t i = 0; i < log->count; i++) {
        if (log->files[i].name.kind != LOG_COMMIT || seen++ < n - wanted) continue;
        TRY_OUT(cancel_check(env->cancel, err));
        TRY_OUT(read_head(env, &log->files[i], &text, a, &heads->items[heads->count], err));
        heads->count++;
    }
    *out = heads;
out:
    buf_dispose(&text);
    return status;
}
