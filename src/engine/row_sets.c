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

silt_status engine_place_call(const function_row *function, uint64_t id, expr *file, expr *row, arena *a, expr **out, silt_error *err) {
    expr *number = expr_new(a, EXPR_LITERAL, (source_span){0, 0});
    if (!number) return error_no_memory(err);
    number->literal = (value){.type = &type_long, .as.i64 = (int64_t)id};
    number->type = &type_long;
    expr *const args[3] = {number, file, row};
    expr *call = expr_call(a, function->name, args, 3, (source_span){0, 0});
    if (!call) return error_no_memory(err);
    call->function = function;
    call->type = &type_boolean;
    *out = call;
    return SILT_OK;
}

silt_status engine_in_row_set(uint64_t id, expr *file, expr *row, arena *a, expr **out, silt_error *err) {
    return engine_place_call(&in_rows_row, id, file, row, a, out, err);
}

/* ---- the function ---- */

place_chunk place_chunk_of(duckdb_data_chunk in) {
    duckdb_vector files = duckdb_data_chunk_get_vector(in, 1), rows = duckdb_data_chunk_get_vector(in, 2);
    return (place_chunk){.files = duckdb_vector_get_data(files),
                         .rows = duckdb_vector_get_data(rows),
                         .file_valid = duckdb_vector_get_validity(files),
                         .row_valid = duckdb_vector_get_validity(rows)};
}

/* How far the places from `from` on are of the same file, and none is null. */
static size_t run_end(const place_chunk *p, size_t from, size_t n) {
    size_t to = from + 1;
    int64_t file = p->files[from];
    if (!p->file_valid && !p->row_valid)
        while (to < n && p->files[to] == file && p->rows[to] >= 0) to++;
    else
        while (to < n && p->files[to] == file && place_chunk_has(p, to)) to++;
    return to;
}

static void fill(const row_set *s, const place_chunk *p, size_t n, uint8_t *out) {
    for (size_t from = 0, to; from < n; from = to) {
        to = from + 1;
        out[from] = 0;
        if (!place_chunk_has(p, from)) continue;
        to = run_end(p, from, n);
        const bitmap *b = row_set_of_file(s, (size_t)p->files[from]);
        if (!b) memset(out + from, 0, to - from);
        else bitmap_fill_held_at(b, p->rows + from, to - from, out + from);
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
    place_chunk p = place_chunk_of(in);
    fill(s, &p, n, duckdb_vector_get_data(out));
}

bool engine_register_place_function(engine *e, duckdb_connection connection, const char *name, duckdb_scalar_function_t run, bool is_volatile) {
    duckdb_scalar_function f = duckdb_create_scalar_function();
    duckdb_logical_type number = duckdb_create_logical_type(DUCKDB_TYPE_BIGINT),
                        truth = duckdb_create_logical_type(DUCKDB_TYPE_BOOLEAN);
    duckdb_scalar_function_set_name(f, name);
    for (int i = 0; i < 3; i++) duckdb_scalar_function_add_parameter(f, number);
    duckdb_scalar_function_set_return_type(f, truth);
    duckdb_scalar_function_set_special_handling(f); /* a null place is an answer */
    if (is_volatile) duckdb_scalar_function_set_volatile(f);
    duckdb_scalar_function_set_extra_info(f, e, NULL);
    duckdb_scalar_function_set_function(f, run);
    bool ok = duckdb_register_scalar_function(connection, f) == DuckDBSuccess;
    duckdb_destroy_logical_type(&number);
    duckdb_destroy_logical_type(&truth);
    duckdb_destroy_scalar_function(&f);
    return ok;
}

silt_status engine_register_row_sets(engine *e, duckdb_connection connection, silt_error *err) {
    bool ok = engine_register_place_function(e, connection, in_rows_row.name, in_rows, false);
    return ok ? SILT_OK : err_INTERNAL_ERROR(err, "silt_in_rows cannot be registered");
}
