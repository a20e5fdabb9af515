/** Folding: a bound expression without columns, evaluated by DuckDB. For time zones, date texts and functions over literals that the binder does not compute itself. */
#include <stdlib.h>

#include "base/time.h"
#include "engine/internal.h"

static int128 integer_at(duckdb_vector vector, duckdb_type type) {
    const void *data = duckdb_vector_get_data(vector);
    int128 wide;
    switch (type) {
        case DUCKDB_TYPE_TINYINT: return *(const int8_t *)data;
        case DUCKDB_TYPE_SMALLINT: return *(const int16_t *)data;
        case DUCKDB_TYPE_INTEGER: return *(const int32_t *)data;
        case DUCKDB_TYPE_BIGINT: return *(const int64_t *)data;
        default: memcpy(&wide, data, sizeof wide); return wide;
    }
}

static silt_status text_value(duckdb_vector vector, arena *a, value *out, silt_error *err) {
    duckdb_string_t *s = duckdb_vector_get_data(vector);
    out->as.bytes = arena_str(a, (str){duckdb_string_t_data(s), duckdb_string_t_length(*s)});
    return out->as.bytes.ptr ? SILT_OK : error_no_memory(err);
}

/* Row 0 of the vector. */
static silt_status vector_value(duckdb_vector vector, const data_type *type, arena *a, value *out, silt_error *err) {
    *out = (value){.type = type};
    uint64_t *validity = duckdb_vector_get_validity(vector);
    if (type->id == TYPE_VOID || (validity && !duckdb_validity_row_is_valid(validity, 0))) {
        out->is_null = true;
        return SILT_OK;
    }
    const void *data = duckdb_vector_get_data(vector);
    const duckdb_interval *interval = data;
    switch (type->id) {
        case TYPE_BOOLEAN: out->as.boolean = *(const uint8_t *)data != 0; return SILT_OK;
        case TYPE_BYTE: out->as.i64 = (int64_t)integer_at(vector, DUCKDB_TYPE_TINYINT); return SILT_OK;
        case TYPE_SHORT: out->as.i64 = (int64_t)integer_at(vector, DUCKDB_TYPE_SMALLINT); return SILT_OK;
        case TYPE_INT:
        case TYPE_DATE: out->as.i64 = (int64_t)integer_at(vector, DUCKDB_TYPE_INTEGER); return SILT_OK;
        case TYPE_LONG:
        case TYPE_TIMESTAMP:
        case TYPE_TIMESTAMP_NTZ: out->as.i64 = (int64_t)integer_at(vector, DUCKDB_TYPE_BIGINT); return SILT_OK;
        case TYPE_FLOAT: out->as.f64 = (double)*(const float *)data; return SILT_OK;
        case TYPE_DOUBLE: out->as.f64 = *(const double *)data; return SILT_OK;
        case TYPE_DECIMAL:
            out->as.decimal = integer_at(vector, type->precision <= 4    ? DUCKDB_TYPE_SMALLINT
                                                 : type->precision <= 9  ? DUCKDB_TYPE_INTEGER
                                                 : type->precision <= 18 ? DUCKDB_TYPE_BIGINT
                                                                         : DUCKDB_TYPE_HUGEINT);
            return SILT_OK;
        case TYPE_STRING:
        case TYPE_BINARY: return text_value(vector, a, out, err);
        case TYPE_INTERVAL_YM: out->as.i64 = interval->months; return SILT_OK;
        case TYPE_INTERVAL_DT: out->as.i64 = interval->micros + (int64_t)interval->days * 86400000000; return SILT_OK;
        default: return err_UNSUPPORTED_FEATURE(err, "folding a constant of a nested type");
    }
}

/* DuckDB's type must be the bound one: a folded value is used without another look. */
static bool type_is_expected(duckdb_vector vector, const data_type *type) {
    duckdb_logical_type found = duckdb_vector_get_column_type(vector), wanted = engine_logical_type(type, false);
    bool same = wanted && duckdb_get_type_id(found) == duckdb_get_type_id(wanted);
    if (same && type->id == TYPE_DECIMAL)
        same = duckdb_decimal_scale(found) == type->scale &&
               duckdb_decimal_internal_type(found) == duckdb_decimal_internal_type(wanted);
    duckdb_destroy_logical_type(&found);
    if (wanted) duckdb_destroy_logical_type(&wanted);
    return same;
}

static silt_status evaluate(engine *e, const char *sql, const data_type *type, arena *a, value *out, silt_error *err) {
    engine_connection *c;
    duckdb_result result;
    TRY(engine_connect(e, &c, err));
    silt_status status = engine_query(c, sql, &result, err);
    if (status == SILT_OK) {
        duckdb_data_chunk chunk = duckdb_fetch_chunk(result);
        if (!chunk || duckdb_data_chunk_get_size(chunk) != 1)
            status = err_INTERNAL_ERROR(err, "a constant gave no value");
        else if (!type_is_expected(duckdb_data_chunk_get_vector(chunk, 0), type))
            status = err_INTERNAL_ERROR(err, "a constant has another type than was bound");
        else
            status = vector_value(duckdb_data_chunk_get_vector(chunk, 0), type, a, out, err);
        if (chunk) duckdb_destroy_data_chunk(&chunk);
        duckdb_destroy_result(&result);
    }
    engine_disconnect(c);
    return status;
}

silt_status engine_fold(void *engine_ctx, expr *e, arena *a, value *out, silt_error *err) {
    engine *en = engine_ctx;
    TRY(engine_need(en, err));
    pthread_mutex_lock(&en->mutex);
    bind_env env = {.time_zone = arena_str(a, str_of(en->time_zone)), .ansi = true, .now_us = time_now_us()};
    pthread_mutex_unlock(&en->mutex);
    if (!env.time_zone.ptr) return error_no_memory(err);
    if (e->type->id == TYPE_VOID) {
        *out = (value){.type = e->type, .is_null = true};
        return SILT_OK;
    }
    buf sql;
    buf_init(&sql, BUF_MAX_DEFAULT);
    buf_append_z(&sql, "SELECT ");
    silt_status status = expr_print_duckdb(e, &env, NULL, &sql, err);
    const char *text = buf_cstr(&sql);
    if (status == SILT_OK) status = text ? evaluate(en, text, e->type, a, out, err) : error_no_memory(err);
    buf_dispose(&sql);
    return status;
}
