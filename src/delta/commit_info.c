/*
 * commitInfo, the first line of every entry. Key order and null handling as Spark 4.1 with Delta 4.3 writes it: inCommitTimestamp first where on, readVersion
 * absent for the first commit, metrics as strings.
 */
#include "delta/txn_state.h"

#include "base/json.h"
#include "base/time.h"

#ifndef SILT_BUILD_VERSION
#define SILT_BUILD_VERSION "0"
#endif

static void key_str(buf *out, bool *first, const char *key, str val) {
    json_write_key(out, first, key);
    json_write_str(out, val);
}

static void key_i64(buf *out, bool *first, const char *key, int64_t val) {
    json_write_key(out, first, key);
    json_write_i64(out, val);
}

/* Every commit of a row tracking table says whether the ids of moved rows were kept; a commit that moves none keeps them all. Spark tags only
 * commits that remove files. */
static void write_tags(buf *out, bool *first, const delta_txn *t, str tags) {
    if (!str_is_null(tags) && !t->row_tracking_enabled_by_winner) {
        json_write_key(out, first, "tags");
        buf_append(out, tags);
    } else if (t->row_tracking_enabled_by_winner) {
        json_write_key(out, first, "tags");
        buf_append_z(out, "{\"delta.rowTracking.preserved\":\"false\"}");
    }
}

void commit_info_write(buf *out, const delta_txn *t, const delta_commit_info *info) {
    bool first = true;
    buf_append_z(out, "{\"commitInfo\":{");
    if (t->timestamp_ms >= 0) key_i64(out, &first, "inCommitTimestamp", t->timestamp_ms);
    key_i64(out, &first, "timestamp", time_now_ms());
    key_str(out, &first, "operation", str_of(info->operation));
    json_write_key(out, &first, "operationParameters");
    buf_append(out, info->operation_parameters.len ? info->operation_parameters : STR("{}"));
    bool shows_none = strcmp(info->operation, "CLONE") == 0 || strcmp(info->operation, "CONVERT") == 0; /* as Spark: -1 in these two */
    if (t->read_version >= 0 || shows_none) key_i64(out, &first, "readVersion", t->read_version);
    key_str(out, &first, "isolationLevel", t->isolation);
    json_write_key(out, &first, "isBlindAppend");
    buf_append_z(out, (info->is_blind_append_known ? info->is_blind_append : t->is_blind) ? "true" : "false");
    json_write_key(out, &first, "operationMetrics");
    buf_append(out, info->operation_metrics.len ? info->operation_metrics : STR("{}"));
    if (!str_is_null(info->user_metadata)) key_str(out, &first, "userMetadata", info->user_metadata);
    write_tags(out, &first, t, info->tags);
    key_str(out, &first, "engineInfo", str_is_null(info->engine_info) ? STR("Silt/" SILT_BUILD_VERSION) : info->engine_info);
    key_str(out, &first, "txnId", str_of(t->uuid));
    buf_append_z(out, "}}\n");
}

str commit_info_operation(str commit_info, arena *mem) {
    const json_node *root = NULL;
    if (!str_is_null(commit_info) && json_parse(commit_info, mem, &root, NULL) == SILT_OK) {
        str operation = json_get_str(root, "operation", STR_NULL);
        if (!str_is_null(operation)) return operation;
    }
    return STR("an unknown operation");
}
