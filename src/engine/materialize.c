/**
 * A query's rows kept as a table of the in-memory database, read as a table source: what a MERGE finds is used several times (rows that leave, rows that are written, the change
 * feed), and must be evaluated once. DuckDB writes the table's blocks to the temp directory when memory runs short.
 *
 * Columns are c0 … cn whatever the query calls them: names may clash. Rows are stored as they come, without an order of their own.
 */
#include <stdio.h>
#include <stdlib.h>

#include "engine/run.h"
#include "engine/sources.h"

typedef struct kept_rows {
    own_source own;
    arena *arena;
    uint64_t id; /* of the table silt_m<id> */
    bool created;
    int64_t rows;
} kept_rows;

/* ---- the source ---- */

static silt_status print(const own_source *s, buf *out, silt_error *err) {
    const kept_rows *k = (const kept_rows *)s;
    (void)err;
    buf_printf(out, "silt_m%llu", (unsigned long long)k->id);
    return SILT_OK;
}

static bool row_count(const table_source *t, int64_t *out) {
    *out = ((const kept_rows *)t)->rows;
    return true;
}

/* On a plain connection: a cancelled statement interrupts the engine's own ones, and the table must go all the same. */
static void drop_table(const kept_rows *k) {
    char sql[64];
    duckdb_connection c;
    snprintf(sql, sizeof sql, "DROP TABLE IF EXISTS silt_m%llu", (unsigned long long)k->id);
    if (duckdb_connect(k->own.engine->database, &c) != DuckDBSuccess) return;
    (void)duckdb_query(c, sql, NULL);
    duckdb_disconnect(&c);
}

static void release(table_source *t) {
    kept_rows *k = (kept_rows *)t;
    if (!k) return;
    if (k->created) drop_table(k);
    arena_free(k->arena);
    free(k);
}

/* ---- filling it ---- */

/* The struct type of the query's rows: nested names are the logical ones, as the printer gives them. */
static silt_status describe(kept_rows *k, const query *q, silt_error *err) {
    static const table_source_ops ops = {
        .scan = own_source_scan, .row_count = row_count, .column_bounds = own_source_bounds, .release = release};
    field *fields = ARENA_ARRAY(k->arena, q->n_columns + 1, field);
    const data_type *type = fields ? type_struct(k->arena, fields, q->n_columns) : NULL;
    if (!type) return error_no_memory(err);
    for (size_t i = 0; i < q->n_columns; i++) {
        str name = arena_str(k->arena, q->column_names[i]);
        const data_type *t = q->column_types[i]->id == TYPE_STRING ? &type_string : q->column_types[i];
        if (!name.ptr) return error_no_memory(err);
        fields[i] = field_make(name, t, q->column_nullable ? q->column_nullable[i] : true);
    }
    type = schema_use_logical_names(type, k->arena);
    if (!type) return error_no_memory(err);
    k->own.base = (table_source){.ops = &ops,
                                 .schema = type,
                                 .match = MATCH_BY_NAME,
                                 .description = STR("rows kept by the statement"),
                                 .format = STR("rows"),
                                 .location = STR(""),
                                 .version = -1};
    k->own.print = print;
    return SILT_OK;
}

static silt_status write_statement(const kept_rows *k, const running_query *r, buf *sql, silt_error *err) {
    buf_printf(sql, "CREATE TABLE silt_m%llu AS ", (unsigned long long)k->id);
    buf_append(sql, buf_str(&r->sql));
    return buf_cstr(sql) ? SILT_OK : error_no_memory(err);
}

/* CREATE TABLE AS answers with the number of its rows. */
static int64_t rows_told(duckdb_result *result) {
    duckdb_data_chunk chunk = duckdb_fetch_chunk(*result);
    if (!chunk) return 0;
    int64_t rows =
        duckdb_data_chunk_get_size(chunk) ? *(const int64_t *)duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk, 0)) : 0;
    duckdb_destroy_data_chunk(&chunk);
    return rows;
}

static silt_status fill(kept_rows *k, running_query *r, silt_error *err) {
    engine_connection *c;
    duckdb_result result;
    buf sql;
    buf_init(&sql, BUF_MAX_DEFAULT);
    silt_status status = write_statement(k, r, &sql, err);
    if (status == SILT_OK) status = running_query_connect(r, &c, err);
    if (status != SILT_OK) goto out;
    status = engine_execute(c, "SET SESSION preserve_insertion_order = false", err);
    if (status == SILT_OK) status = engine_work(c, buf_cstr(&sql), &result, err);
    if (status == SILT_OK) {
        k->created = true;
        k->rows = rows_told(&result);
        duckdb_destroy_result(&result);
    } else
        status = running_query_failure(r, status, err);
    engine_disconnect(c);
out:
    buf_dispose(&sql);
    return status;
}

silt_status engine_materialize(engine *e, query *q, const bind_env *env, table_source **out, silt_error *err) {
    running_query r = {0};
    kept_rows *k = calloc(1, sizeof *k);
    if (!k) return error_no_memory(err);
    k->own.engine = e;
    k->id = engine_take_number(e);
    k->arena = arena_new();
    silt_status status = k->arena ? SILT_OK : error_no_memory(err);
    if (status == SILT_OK) status = describe(k, q, err);
    if (status == SILT_OK) status = running_query_init(&r, e, q, env, err);
    if (status == SILT_OK) status = running_query_print(&r, false, err);
    if (status == SILT_OK) status = fill(k, &r, err);
    running_query_dispose(&r);
    if (status == SILT_OK)
        *out = &k->own.base;
    else
        release(&k->own.base);
    return status;
}
