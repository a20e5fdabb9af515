/* DESCRIBE HISTORY: commitInfo of every commit still in the log, newest first, in Spark's columns. A commit without one, or with fields of other types, has NULLs. */
#include "ops/describe_rows.h"

static const char columns[] =
    "version BIGINT, timestamp TIMESTAMP, userId STRING, userName STRING, operation STRING, operationParameters MAP<STRING, "
    "STRING>, "
    "job STRUCT<jobId: STRING, jobName: STRING, jobRunId: STRING, runId: STRING, jobOwnerId: STRING, triggerType: STRING>, "
    "notebook STRUCT<notebookId: STRING>, clusterId STRING, readVersion BIGINT, isolationLevel STRING, isBlindAppend BOOLEAN, "
    "operationMetrics MAP<STRING, STRING>, userMetadata STRING, engineInfo STRING";

static void text_field(describe_row *r, const json_node *info, const char *key) {
    ops_describe_str(r, json_get_str(info, key, STR_NULL));
}

/* A string as it is, everything else as its JSON text. */
static silt_status value_text(const json_node *node, arena *a, str *out, silt_error *err) {
    buf b;
    *out = STR_NULL;
    if (node->type == JSON_NULL) return SILT_OK;
    if (node->type == JSON_STRING) {
        *out = node->text;
        return SILT_OK;
    }
    buf_init(&b, BUF_MAX_DEFAULT);
    json_write_node(&b, node);
    *out = buf_take(&b, a);
    return str_is_null(*out) ? error_no_memory(err) : SILT_OK;
}

static silt_status map_field(describe_row *r, const json_node *info, const char *key, arena *a, silt_error *err) {
    const json_node *map = json_get(info, key);
    if (!map || map->type != JSON_OBJECT) {
        ops_describe_null(r);
        return SILT_OK;
    }
    str *values = ARENA_ARRAY(a, map->count + 1, str);
    if (!values) return error_no_memory(err);
    for (size_t i = 0; i < map->count; i++) TRY(value_text(&map->values[i], a, &values[i], err));
    ops_describe_map(r, &(str_map){map->keys, values, map->count});
    return SILT_OK;
}

static void struct_field(describe_row *r, const json_node *info, const char *key, const char *const *names, size_t n) {
    const json_node *node = json_get(info, key);
    if (!node || node->type != JSON_OBJECT) {
        ops_describe_null(r);
        return;
    }
    arrow_builder *column = arrow_child(r->rows, r->column++);
    describe_row inner = {.rows = column};
    for (size_t i = 0; i < n; i++) text_field(&inner, node, names[i]);
    r->failed |= inner.failed || !arrow_finish_row(column);
}

static void number_field(describe_row *r, const json_node *info, const char *key) {
    int64_t v;
    const json_node *node = json_get(info, key);
    if (node && json_node_i64(node, &v))
        ops_describe_i64(r, v);
    else
        ops_describe_null(r);
}

static void bool_field(describe_row *r, const json_node *info, const char *key) {
    const json_node *node = json_get(info, key);
    if (node && node->type == JSON_BOOL)
        ops_describe_bool(r, node->boolean);
    else
        ops_describe_null(r);
}

static silt_status add_entry(const delta_history_entry *e, arena *a, describe_row *r, silt_error *err) {
    static const char *const job[] = {"jobId", "jobName", "jobRunId", "runId", "jobOwnerId", "triggerType"}, *const notebook[] = {
                                                                                                                 "notebookId"};
    const json_node *info = NULL;
    if (!str_is_null(e->commit_info)) TRY(json_parse(e->commit_info, a, &info, err));
    ops_describe_i64(r, e->version);
    ops_describe_timestamp_ms(r, e->timestamp_ms);
    text_field(r, info, "userId");
    text_field(r, info, "userName");
    text_field(r, info, "operation");
    TRY(map_field(r, info, "operationParameters", a, err));
    struct_field(r, info, "job", job, ARRAY_LEN(job));
    struct_field(r, info, "notebook", notebook, ARRAY_LEN(notebook));
    text_field(r, info, "clusterId");
    number_field(r, info, "readVersion");
    text_field(r, info, "isolationLevel");
    bool_field(r, info, "isBlindAppend");
    TRY(map_field(r, info, "operationMetrics", a, err));
    text_field(r, info, "userMetadata");
    text_field(r, info, "engineInfo");
    return ops_describe_finish(r, err);
}

static silt_status add_entries(const delta_env *env, str root, int64_t limit, arrow_builder *rows, silt_error *err) {
    arena *all = arena_new(), *each = arena_new();
    delta_history_entry *entries;
    size_t n;
    describe_row r = {.rows = rows};
    silt_status status = all && each ? delta_history(env, root, limit, all, &entries, &n, err) : error_no_memory(err);
    for (size_t i = 0; status == SILT_OK && i < n; i++) {
        arena_reset(each);
        status = add_entry(&entries[i], each, &r, err);
    }
    arena_free(all);
    arena_free(each);
    return status;
}

silt_status ops_history(const delta_env *env, str root, int64_t limit, arena *a, const data_type **out_type,
                        arrow_builder **out_rows, silt_error *err) {
    TRY(ops_describe_begin(columns, a, out_type, out_rows, err));
    silt_status status = add_entries(env, root, limit, *out_rows, err);
    if (status == SILT_OK) return SILT_OK;
    arrow_builder_free(*out_rows);
    *out_rows = NULL;
    return status;
}
