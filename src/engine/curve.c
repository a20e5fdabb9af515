/*
 * Opening a curve by its sample, and the two C functions behind it: silt_curve(curve, c0, c1, …) gives a row's key, silt_sampled(every, file, row) chooses the sample's rows.
 * Both are pure and never raise, so DuckDB may evaluate them for any row and in any order.
 */
#include "engine/curve.h"

#include <stdlib.h>

#include "engine/curve_key.h"
#include "engine/run.h"
#include "expr/functions.h"

#define KEY_BITS 63
#define TEXT_BITS 14 /* of a single column whose values are no whole numbers of 64 bits */

bool engine_curve_takes(const data_type *type) { return curve_ranges_take(type); }

/* ---- the sample ---- */

static silt_status take_chunk(engine_curve *c, duckdb_data_chunk chunk, silt_error *err) {
    size_t n = duckdb_data_chunk_get_size(chunk);
    for (size_t i = 0; i < c->n_columns; i++)
        if (!curve_ranges_sample(c->columns[i], duckdb_data_chunk_get_vector(chunk, i), n)) return error_no_memory(err);
    return SILT_OK;
}

static silt_status take_sample(engine_curve *c, running_query *r, silt_error *err) {
    engine_stream stream;
    silt_status status = SILT_OK;
    TRY(running_query_print(r, false, err));
    const char *sql = buf_cstr(&r->sql);
    if (!sql) return error_no_memory(err);
    TRY(running_query_stream(r, sql, &stream, err));
    while (status == SILT_OK) {
        duckdb_data_chunk chunk;
        status = engine_stream_next(&stream, &chunk, err);
        if (status != SILT_OK) status = running_query_failure(r, status, err);
        if (status != SILT_OK || !chunk) break;
        status = take_chunk(c, chunk, err);
        duckdb_destroy_data_chunk(&chunk);
    }
    engine_stream_close(&stream);
    return status;
}

static int bits_for(int64_t ranges) {
    int bits = 1;
    while (bits < 20 && (int64_t)1 << bits < ranges) bits++;
    return bits;
}

static silt_status end_sample(engine_curve *c, int64_t ranges, silt_error *err) {
    bool alone = c->n_columns == 1;
    c->by_value = alone && curve_ranges_form(c->columns[0]) == RANGE_I64;
    c->bits = bits_for(ranges);
    if (alone && c->bits < TEXT_BITS) c->bits = TEXT_BITS;
    if (c->bits > (int)(KEY_BITS / c->n_columns)) c->bits = (int)(KEY_BITS / c->n_columns);
    if (alone) c->kind = CURVE_ZORDER;
    for (size_t i = 0; i < c->n_columns; i++)
        if (!curve_ranges_end(c->columns[i], c->bits)) return error_no_memory(err);
    if (!curve_take_quantiles(c)) return error_no_memory(err);
    for (size_t i = 0; i < c->n_columns; i++)
        if (!curve_ranges_drop_sample(c->columns[i])) return error_no_memory(err);
    return SILT_OK;
}

static engine_curve *curve_new(engine *e, const query *sample, curve_kind kind) {
    engine_curve *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    *c = (engine_curve){.engine = e, .kind = kind, .n_columns = sample->n_columns};
    for (size_t i = 0; i < c->n_columns; i++) {
        c->columns[i] = curve_ranges_new(sample->column_types[i]);
        if (c->columns[i]) continue;
        engine_curve_close(c);
        return NULL;
    }
    return c;
}

silt_status engine_curve_open(engine *e, query *sample, const bind_env *env, curve_kind kind, int64_t ranges, engine_curve **out, silt_error *err) {
    running_query r;
    silt_status status;
    *out = NULL;
    if (sample->n_columns == 0 || sample->n_columns > CURVE_MAX_COLUMNS) return err_INTERNAL_ERROR(err, "a curve of no columns, or of too many");
    engine_curve *c = curve_new(e, sample, kind);
    if (!c) return error_no_memory(err);
    TRY_OUT(running_query_init(&r, e, sample, env, err));
    status = take_sample(c, &r, err);
    running_query_dispose(&r);
    TRY_OUT(status);
    TRY_OUT(end_sample(c, ranges, err));
    if (!engine_register(e, &e->curves, c, &c->id)) TRY_OUT(error_no_memory(err));
    *out = c;
    return SILT_OK;
out:
    engine_curve_close(c);
    return status;
}

void engine_curve_close(engine_curve *c) {
    if (!c) return;
    if (c->id) engine_unregister(c->engine, &c->engine->curves, c->id);
    for (size_t i = 0; i < c->n_columns; i++) curve_ranges_free(c->columns[i]);
    free(c->quantiles);
    free(c);
}

/* ---- the expressions: not in the registry of functions, nobody can call them by name ---- */

static const function_row key_row = {.name = "silt_curve",
                                     .signature = "long, any* -> long",
                                     .sql = "silt_curve($*)",
                                     .doc = "",
                                     .kind = FUNCTION_SCALAR,
                                     .flags = FN_NEVER_NULL};
static const function_row sampled_row = {.name = "silt_sampled",
                                         .signature = "long, long, long -> bool",
                                         .sql = "silt_sampled($*)",
                                         .doc = "",
                                         .kind = FUNCTION_SCALAR,
                                         .flags = FN_NEVER_NULL};

static silt_status call_with(const function_row *row, int64_t first, expr *const *rest, size_t n_rest, const data_type *type, arena *a,
                             expr **out, silt_error *err) {
    expr **args = ARENA_ARRAY(a, n_rest + 1, expr *), *number = expr_new(a, EXPR_LITERAL, (source_span){0, 0});
    if (!args || !number) return error_no_memory(err);
    number->literal = (value){.type = &type_long, .as.i64 = first};
    number->type = &type_long;
    args[0] = number;
    for (size_t i = 0; i < n_rest; i++) args[i + 1] = rest[i];
    expr *call = expr_call(a, row->name, args, n_rest + 1, (source_span){0, 0});
    if (!call) return error_no_memory(err);
    call->function = row;
    call->type = type;
    *out = call;
    return SILT_OK;
}

silt_status engine_curve_key(const engine_curve *c, expr *const *columns, arena *a, expr **out, silt_error *err) {
    return call_with(&key_row, (int64_t)c->id, columns, c->n_columns, &type_long, a, out, err);
}

const engine_curve *curve_of_key(engine *e, const expr *made) {
    bool is_key = made->kind == EXPR_CALL && made->function == &key_row;
    return is_key ? engine_find(e, &e->curves, (uint64_t)made->args[0]->literal.as.i64) : NULL;
}

silt_status engine_curve_sampled(int64_t every, expr *file, expr *row, arena *a, expr **out, silt_error *err) {
    expr *const place[2] = {file, row};
    return call_with(&sampled_row, every < 1 ? 1 : every, place, 2, &type_boolean, a, out, err);
}

/* ---- the functions ---- */

static void key(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out) {
    engine *e = duckdb_scalar_function_get_extra_info(info);
    size_t n = duckdb_data_chunk_get_size(in);
    if (n == 0) return;
    const int64_t *id = duckdb_vector_get_data(duckdb_data_chunk_get_vector(in, 0));
    const engine_curve *c = engine_find(e, &e->curves, (uint64_t)id[0]);
    if (!c || duckdb_data_chunk_get_column_count(in) != c->n_columns + 1) {
        duckdb_scalar_function_set_error(info, "[INTERNAL_ERROR|XX000] a curve's number is unknown[/]");
        return;
    }
    duckdb_vector columns[CURVE_MAX_COLUMNS];
    for (size_t i = 0; i < c->n_columns; i++) columns[i] = duckdb_data_chunk_get_vector(in, i + 1);
    if (!curve_keys(c, columns, n, duckdb_vector_get_data(out)))
        duckdb_scalar_function_set_error(info, "Out of Memory Error: keys of a curve");
}

/* Rows that follow each other must not be chosen together, and no period of the data may meet that of the choice. */
static uint64_t scatter(uint64_t x) {
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static void sampled(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out) {
    (void)info;
    size_t n = duckdb_data_chunk_get_size(in);
    const int64_t *every = duckdb_vector_get_data(duckdb_data_chunk_get_vector(in, 0)),
                  *files = duckdb_vector_get_data(duckdb_data_chunk_get_vector(in, 1)),
                  *rows = duckdb_vector_get_data(duckdb_data_chunk_get_vector(in, 2));
    uint8_t *chosen = duckdb_vector_get_data(out);
    if (n == 0) return;
    uint64_t most = UINT64_MAX / (uint64_t)every[0], seed = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || files[i] != files[i - 1]) seed = scatter((uint64_t)files[i] + 0x9e3779b97f4a7c15u);
        chosen[i] = scatter(seed + (uint64_t)rows[i]) <= most;
    }
}

static bool register_one(engine *e, duckdb_connection connection, const char *name, size_t n_longs, bool more, duckdb_type result,
                         duckdb_scalar_function_t run) {
    duckdb_scalar_function f = duckdb_create_scalar_function();
    duckdb_logical_type number = duckdb_create_logical_type(DUCKDB_TYPE_BIGINT), any = duckdb_create_logical_type(DUCKDB_TYPE_ANY),
                        given = duckdb_create_logical_type(result);
    duckdb_scalar_function_set_name(f, name);
    for (size_t i = 0; i < n_longs; i++) duckdb_scalar_function_add_parameter(f, number);
    if (more) duckdb_scalar_function_set_varargs(f, any);
    duckdb_scalar_function_set_return_type(f, given);
    duckdb_scalar_function_set_special_handling(f); /* nulls have a key too */
    duckdb_scalar_function_set_extra_info(f, e, NULL);
    duckdb_scalar_function_set_function(f, run);
    bool ok = duckdb_register_scalar_function(connection, f) == DuckDBSuccess;
    duckdb_destroy_logical_type(&number);
    duckdb_destroy_logical_type(&any);
    duckdb_destroy_logical_type(&given);
    duckdb_destroy_scalar_function(&f);
    return ok;
}

silt_status engine_register_curves(engine *e, duckdb_connection connection, silt_error *err) {
    bool ok = register_one(e, connection, "silt_curve", 1, true, DUCKDB_TYPE_BIGINT, key) &&
              register_one(e, connection, "silt_sampled", 3, false, DUCKDB_TYPE_BOOLEAN, sampled);
    return ok ? SILT_OK : err_INTERNAL_ERROR(err, "the functions of curves cannot be registered");
}
