/**
 * silt_in_rows(set, file, row): is the row in the row set of that number? What the second pass of a row-level change asks about rows that its first pass found.
 *
 * Pure and never raising, so it may be evaluated for any row and in any order, also below a deletion vector's filter. It takes two columns, so DuckDB neither runs it over the
 * values of one dictionary nor hands it to the Parquet reader. A null place (the null-extended side of an outer join) is in no set.
 */
#include "engine/functions.h"
#include "engine/internal.h"
#include "expr/functions.h"

/* ---- the number ---- */

silt_status engine_row_set_register(engine *e, const row_set *s, uint64_t *out_id, silt_error *err) {
    bool ok = engine_register(e, &e->row_sets, (void *)(uintptr_t)s, out_id);
    return ok ? SILT_OK : error_no_memory(err);
}

void engine_row_set_unregister(engine *e, uint64_t id) {
    if (id) engine_unregister(e, &e->row_sets, id);
}

/* ---- the expression ---- */

/* Not in the registry of functions: nobody can call it by name. */
static const function_row in_rows_row = {.name = "silt_in_rows",
                                         .signature = "long, long, long -> bool",
                                         .sql = "silt_in_rows($1, $2, $3)",
                                         .doc = "",
                                         .kind = FUNCTION_SCALAR,
                                         .flags = FN_NEVER_NULL};

silt_status engine_in_row_set(uint64_t id, expr *file, expr *row, arena *a, expr **out, silt_error *err) {
    expr *number = expr_new(a, EXPR_LITERAL, (source_span){0, 0});
    if (!number) return error_no_memory(err);
    number->literal = (value){.type = &type_long, .as.i64 = (int64_t)id};
    number->type = &type_long;
    expr *const args[3] = {number, file, row};
    expr *call = expr_call(a, in_rows_row.name, args, 3, (source_span){0, 0});
    if (!call) return error_no_memory(err);
    call->function = &in_rows_row;
    call->type = &type_boolean;
    *out = call;
    return SILT_OK;
}

/* ---- the function ---- */

typedef struct places {
    const int64_t *files, *rows;
    uint64_t *file_valid, *row_valid; /* NULL: all */
} places;

static bool is_place(const places *p, size_t i) {
    return (!p->file_valid || duckdb_validity_row_is_valid(p->file_valid, i)) &&
           (!p->row_valid || duckdb_validity_row_is_valid(p->row_valid, i)) && p->files[i] >= 0 && p->rows[i] >= 0;
}

static void fill(const row_set *s, const places *p, size_t n, uint8_t *out) {
    for (size_t from = 0, to; from < n; from = to) {
        to = from + 1;
        out[from] = 0;
        if (!is_place(p, from)) continue;
        while (to < n && p->files[to] == p->files[from] && is_place(p, to)) to++;
        const bitmap *b = row_set_of_file(s, (size_t)p->files[from]);
        if (b) bitmap_fill_live_at(b, p->rows + from, to - from, out + from);
        for (size_t i = from; i < to; i++) out[i] = b && !out[i];
    }
}

static void in_rows(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out) {
    engine *e = duckdb_scalar_function_get_extra_info(info);
    size_t n = duckdb_data_chunk_get_size(in);
    if (n == 0) return;
    const int64_t *id = duckdb_vector_get_data(duckdb_data_chunk_get_vector(in, 0));
    const row_set *s = engine_find(e, &e->row_sets, (uint64_t)id[0]);
    if (!s) {
        duckdb_scalar_function_set_error(info, "[INTERNAL_ERROR|XX000] a row set's number is unknown[/]");
        return;
    }
    duckdb_vector files = duckdb_data_chunk_get_vector(in, 1), rows = duckdb_data_chunk_get_vector(in, 2);
    places p = {.files = duckdb_vector_get_data(files),
                .rows = duckdb_vector_get_data(rows),
                .file_valid = duckdb_vector_get_validity(files),
                .row_valid = duckdb_vector_get_validity(rows)};
    fill(s, &p, n, duckdb_vector_get_data(out));
}

silt_status engine_register_row_sets(engine *e, duckdb_connection connection, silt_error *err) {
    duckdb_scalar_function f = duckdb_create_scalar_function();
    duckdb_logical_type number = duckdb_create_logical_type(DUCKDB_TYPE_BIGINT),
                        truth = duckdb_create_logical_type(DUCKDB_TYPE_BOOLEAN);
    duckdb_scalar_function_set_name(f, "silt_in_rows");
    for (int i = 0; i < 3; i++) duckdb_scalar_function_add_parameter(f, number);
    duckdb_scalar_function_set_return_type(f, truth);
    duckdb_scalar_function_set_special_handling(f); /* a null place is an answer */
    duckdb_scalar_function_set_extra_info(f, e, NULL);
    duckdb_scalar_function_set_function(f, in_rows);
    bool ok = duckdb_register_scalar_function(connection, f) == DuckDBSuccess;
    duckdb_destroy_logical_type(&number);
    duckdb_destroy_logical_type(&truth);
    duckdb_destroy_scalar_function(&f);
    return ok ? SILT_OK : err_INTERNAL_ERROR(err, "silt_in_rows cannot be registered");
}
