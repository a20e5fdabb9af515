/**
 * File lists on their way to DuckDB, and what a failed scan was about.
 *
 * Lists and schemas go as variables with names of their own, bound as values: a literal of 100,000 paths takes longer to parse than to read. Paths are globbed
 * even in a list, so special characters are escaped, and where there were any the number of files is asserted: one more file would shift every later file_index.
 */
#include <stdio.h>
#include <unistd.h>

#include "engine/scan_fetch.h"

static void escape_glob(buf *out, str path) {
    for (size_t i = 0; i < path.len; i++) {
        char c = path.ptr[i];
        if (c == '[' || c == '*' || c == '?') {
            buf_append_char(out, '[');
            buf_append_char(out, c);
            buf_append_char(out, ']');
        } else
            buf_append_char(out, c);
    }
}

/* Below that one thread does as well: a row group of usual size, and its file is not worth another. */
#define PARALLEL_BYTES ((int64_t)2 << 20)

static bool wants_second_file(const scan_group *g) { return !g->node->one_thread && g->n_files == 1 && group_file(g, 0)->size_bytes >= PARALLEL_BYTES; }
static str group_path(const scan_group *g, size_t i) { return g->node->local_paths[g->files ? g->files[i] : i]; }

static duckdb_value path_value(str path, bool *out_escaped) {
    buf text;
    buf_init(&text, BUF_MAX_DEFAULT);
    escape_glob(&text, path);
    *out_escaped |= text.len != path.len;
    duckdb_value made = buf_ok(&text) ? duckdb_create_varchar_length(text.ptr, text.len) : NULL;
    buf_dispose(&text);
    return made;
}

/* The list as a DuckDB value, `second` (where not null) behind the files; *out_escaped: a path held a glob character. NULL when memory ran out. */
static duckdb_value list_value(const scan_group *g, str second, arena *a, bool *out_escaped) {
    size_t n = g->n_files + (second.ptr != NULL), made = 0;
    duckdb_value *items = ARENA_ARRAY(a, n + 1, duckdb_value);
    duckdb_logical_type text = duckdb_create_logical_type(DUCKDB_TYPE_VARCHAR);
    for (; items && made < n; made++) {
        items[made] = path_value(made < g->n_files ? group_path(g, made) : second, out_escaped);
        if (!items[made]) break;
    }
    duckdb_value list = items && made == n ? duckdb_create_list_value(text, items, n) : NULL;
    for (size_t i = 0; i < made; i++) duckdb_destroy_value(&items[i]);
    duckdb_destroy_logical_type(&text);
    return list;
}

static silt_status set_variable(engine_connection *c, char letter, uint64_t id, duckdb_value to, silt_error *err) {
    char sql[64];
    snprintf(sql, sizeof sql, "SET VARIABLE silt_%c%llu = $1", letter, (unsigned long long)id);
    duckdb_prepared_statement statement = NULL;
    duckdb_result result;
    silt_status status = SILT_OK;
    if (duckdb_prepare(c->duck, sql, &statement) != DuckDBSuccess)
        status = engine_failure(err, duckdb_prepare_error(statement), DUCKDB_ERROR_INVALID);
    if (status == SILT_OK && duckdb_bind_value(statement, 1, to) != DuckDBSuccess) status = error_no_memory(err);
    if (status == SILT_OK) {
        if (duckdb_execute_prepared(statement, &result) != DuckDBSuccess)
            status = engine_failure(err, duckdb_result_error(&result), duckdb_result_error_type(&result));
        duckdb_destroy_result(&result);
    }
    duckdb_destroy_prepare(&statement);
    return status;
}

/* ---- the schema: {name in the file: {name, type, default_value}} ---- */

static duckdb_value text_value(str s) { return duckdb_create_varchar_length(s.ptr ? s.ptr : "", s.len); }

static duckdb_value column_value(duckdb_logical_type type, str name, str type_text) {
    duckdb_value parts[3] = {text_value(name), text_value(type_text), duckdb_create_null_value()};
    duckdb_value made = duckdb_create_struct_value(type, parts);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) duckdb_destroy_value(&parts[i]);
    return made;
}

typedef struct schema_parts {
    duckdb_value *keys, *columns;
    size_t n;
} schema_parts;

static bool add_column(schema_parts *parts, duckdb_logical_type column_type, str name_in_file, str alias, str type_text) {
    duckdb_value key = text_value(name_in_file), column = column_value(column_type, alias, type_text);
    parts->keys[parts->n] = key;
    parts->columns[parts->n++] = column;
    return key && column;
}

static bool add_columns(const scan_group *g, duckdb_logical_type column_type, schema_parts *parts) {
    const scan_node *node = g->node;
    bool ok = true;
    buf type;
    buf_init(&type, BUF_MAX_DEFAULT);
    for (size_t i = 0; ok && i < node->n_wanted; i++) {
        if (!g->reads[i].exists) continue;
        buf_clear(&type);
        engine_write_type(&type, g->reads[i].type, false);
        ok = buf_ok(&type) && add_column(parts, column_type, g->reads[i].name, node->wanted[i].alias, buf_str(&type));
    }
    buf_dispose(&type);
    return ok && (parts->n || add_column(parts, column_type, STR("silt:none"), STR("none"), STR("BOOLEAN")));
}

/* NULL when memory ran out. As SQL text the same takes a millisecond to parse, bind and fold. */
static duckdb_value schema_value(const scan_group *g, arena *a) {
    static const char *const names[] = {"name", "type", "default_value"};
    duckdb_logical_type text = duckdb_create_logical_type(DUCKDB_TYPE_VARCHAR);
    duckdb_logical_type texts[3] = {text, text, text}, column = duckdb_create_struct_type(texts, (const char **)(uintptr_t)names, 3), map = duckdb_create_map_type(text, column);
    schema_parts parts = {.keys = ARENA_ARRAY(a, g->node->n_wanted + 1, duckdb_value), .columns = ARENA_ARRAY(a, g->node->n_wanted + 1, duckdb_value)};
    bool ok = parts.keys && parts.columns && add_columns(g, column, &parts);
    duckdb_value made = ok ? duckdb_create_map_value(map, parts.keys, parts.columns, parts.n) : NULL;
    for (size_t i = 0; i < parts.n; i++) {
        duckdb_destroy_value(&parts.keys[i]);
        duckdb_destroy_value(&parts.columns[i]);
    }
    duckdb_destroy_logical_type(&map);
    duckdb_destroy_logical_type(&column);
    duckdb_destroy_logical_type(&text);
    return made;
}

static silt_status set_schema(engine_connection *c, const scan_group *g, silt_error *err) {
    arena *a = arena_new();
    duckdb_value schema = a ? schema_value(g, a) : NULL;
    silt_status status = schema ? set_variable(c, 's', g->id, schema, err) : error_no_memory(err);
    if (schema) duckdb_destroy_value(&schema);
    arena_free(a);
    return status;
}

static silt_status assert_count(engine_connection *c, const scan_group *g, silt_error *err) {
    char sql[96];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM glob(getvariable('silt_f%llu'))", (unsigned long long)g->id);
    duckdb_result result;
    TRY(engine_query(c, sql, &result, err));
    duckdb_data_chunk chunk = duckdb_fetch_chunk(result);
    int64_t found = chunk ? ((const int64_t *)duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk, 0)))[0] : -1;
    if (chunk) duckdb_destroy_data_chunk(&chunk);
    duckdb_destroy_result(&result);
    return found == (int64_t)g->n_files + wants_second_file(g)
               ? SILT_OK
               : err_INTERNAL_ERROR(err, "a file list stands for another number of files");
}

static silt_status apply_list(engine *e, engine_connection *c, const scan_group *g, bool *out_escaped, silt_error *err) {
    str second = STR_NULL;
    if (wants_second_file(g)) TRY(engine_empty_file(e, &second, err));
    arena *a = arena_new();
    duckdb_value list = a ? list_value(g, second, a, out_escaped) : NULL;
    silt_status status = list ? set_variable(c, 'f', g->id, list, err) : error_no_memory(err);
    if (list) duckdb_destroy_value(&list);
    arena_free(a);
    return status;
}

static silt_status apply_group(scan_plan *plan, engine_connection *c, const scan_group *g, silt_error *err) {
    bool escaped = false;
    TRY(apply_list(plan->engine, c, g, &escaped, err));
    TRY(set_schema(c, g, err));
    if (!escaped) return SILT_OK;
    silt_error counted; /* a missing file is told by the statement itself */
    if (assert_count(c, g, &counted) != SILT_INTERNAL) return SILT_OK;
    if (err) *err = counted;
    return scan_plan_failure(plan, SILT_INTERNAL, err);
}

silt_status scan_plan_apply(scan_plan *plan, engine_connection *c, silt_error *err) {
    for (size_t i = 0; i < plan->n_nodes; i++) {
        scan_node *node = plan->nodes[i];
        if (!plan->only_explains) TRY(scan_fetch_columns(node, plan->arena, err));
        for (size_t g = 0; node->scan.n_files && g < node->n_groups; g++) TRY(apply_group(plan, c, &node->groups[g], err));
    }
    return SILT_OK;
}

/* ---- reports ---- */

silt_status scan_plan_reports(const scan_plan *plan, scan_report **out, size_t *out_count, silt_error *err) {
    arena *a = plan->arena;
    scan_report *reports = ARENA_ARRAY(a, plan->n_nodes + 1, scan_report);
    if (!reports) return error_no_memory(err);
    for (size_t i = 0; i < plan->n_nodes; i++) {
        const scan_node *node = plan->nodes[i];
        const table_scan *scan = &node->scan;
        reports[i] = (scan_report){.description = node->source->description,
                                   .files_total = scan->total_files,
                                   .files_read = scan->n_files,
                                   .pruned_by_partition = scan->pruned_by_partition,
                                   .pruned_by_stats = scan->pruned_by_stats,
                                   .bytes_total = scan->total_bytes,
                                   .bytes_read = scan->read_bytes};
        if (!scan->used) continue;
        buf text;
        buf_init(&text, BUF_MAX_DEFAULT);
        predicate_write(&text, scan->used, node->source->schema);
        reports[i].predicate = buf_take(&text, a);
        if (!reports[i].predicate.ptr) return error_no_memory(err);
    }
    *out = reports;
    *out_count = plan->n_nodes;
    return SILT_OK;
}

/* ---- failures ---- */

/* The first file of the plan that is not there: DuckDB's message shows the escaped path, or none. */
static const scan_node *missing_file(const scan_plan *plan, const scan_file **out) {
    buf path;
    buf_init(&path, BUF_MAX_DEFAULT);
    const scan_node *found = NULL;
    for (size_t i = 0; !found && i < plan->n_nodes; i++)
        for (size_t f = 0; !found && f < plan->nodes[i]->scan.n_files; f++) {
            buf_clear(&path);
            buf_append(&path, plan->nodes[i]->local_paths[f]);
            const char *z = buf_cstr(&path);
            if (!z || access(z, F_OK) == 0) continue;
            *out = &plan->nodes[i]->scan.files[f];
            found = plan->nodes[i];
        }
    buf_dispose(&path);
    return found;
}

static silt_status name_damaged(const scan_plan *plan, silt_status status, silt_error *err) {
    for (size_t i = 0; i < plan->n_nodes; i++)
        for (size_t f = 0; plan->nodes[i]->local_paths && f < plan->nodes[i]->scan.n_files; f++) {
            const scan_file *file = &plan->nodes[i]->scan.files[f];
            if (file->store) status = engine_failure_of_copy(status, file->store, file->path, plan->nodes[i]->local_paths[f], err);
        }
    return status;
}

silt_status scan_plan_failure(const scan_plan *plan, silt_status status, silt_error *err) {
    if (status != SILT_NOT_FOUND && status != SILT_IO && status != SILT_INTERNAL && status != SILT_INVALID) return status;
    const scan_file *file;
    const scan_node *node = missing_file(plan, &file);
    if (!node) return name_damaged(plan, status, err);
    bool is_delta = str_eqz(node->source->format, "delta");
    if (file->store) return store_path_error(file->store, file->path, is_delta ? err_DELTA_FILE_NOT_FOUND_DETAILED : err_FILE_NOT_FOUND, err);
    return is_delta ? err_DELTA_FILE_NOT_FOUND_DETAILED(err, file->path) : err_FILE_NOT_FOUND(err, file->path);
}
