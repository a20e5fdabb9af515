/* Registering the C scalar functions and running them row by row. */
#include "engine/functions.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/functions_call.h"
#include "engine/functions_nested.h"

static const call_group *const groups[] = {&calls_core,          &calls_decimals, &calls_cast,     &calls_text,
                                           &calls_math,          &calls_string,   &calls_datetime, &calls_format,
                                           &calls_number_format, &calls_json,     &calls_hash,     &calls_digest};

/* ---- results ---- */

void ret_null(call *c, idx_t row) {
    if (!c->out_valid) {
        duckdb_vector_ensure_validity_writable(c->out);
        c->out_valid = duckdb_vector_get_validity(c->out);
    }
    duckdb_validity_set_row_invalid(c->out_valid, row);
}

void ret_str(call *c, idx_t row, str s) {
    duckdb_unsafe_vector_assign_string_element_len(c->out, row, s.ptr ? s.ptr : "", s.len);
}

void ret_text(call *c, idx_t row) {
    if (!buf_ok(&c->text)) {
        call_raise(c, "OUT_OF_MEMORY", "53200", "Out of memory");
        return;
    }
    ret_str(c, row, buf_str(&c->text));
}

const call_type *call_type_of(call *c, idx_t arg) {
    call_type *t = &c->types[arg];
    if (t->loaded) return t;
    duckdb_logical_type logical = duckdb_vector_get_column_type(c->in[arg]);
    t->loaded = true;
    t->id = duckdb_get_type_id(logical);
    t->internal = t->id;
    if (t->id == DUCKDB_TYPE_DECIMAL) {
        t->precision = duckdb_decimal_width(logical);
        t->scale = duckdb_decimal_scale(logical);
        t->internal = duckdb_decimal_internal_type(logical);
    }
    duckdb_destroy_logical_type(&logical);
    return t;
}

bool call_exact(call *c, idx_t arg, idx_t row, int128 *out, int *out_scale) {
    const call_type *t = call_type_of(c, arg);
    *out_scale = t->scale;
    switch (t->internal) {
        case DUCKDB_TYPE_TINYINT: *out = ((const int8_t *)c->data[arg])[row]; return true;
        case DUCKDB_TYPE_SMALLINT: *out = ((const int16_t *)c->data[arg])[row]; return true;
        case DUCKDB_TYPE_INTEGER: *out = ((const int32_t *)c->data[arg])[row]; return true;
        case DUCKDB_TYPE_BIGINT: *out = ((const int64_t *)c->data[arg])[row]; return true;
        case DUCKDB_TYPE_HUGEINT: *out = call_i128(c, arg, row); return true;
        default: return false;
    }
}

void call_raise(call *c, const char *condition, const char *sqlstate, const char *format, ...) {
    char message[2048];
    int at = snprintf(message, sizeof message, "[%s|%s] ", condition, sqlstate);
    va_list args;
    va_start(args, format);
    int n = vsnprintf(message + at, sizeof message - (size_t)at - 4, format, args);
    va_end(args);
    size_t len = (size_t)at + (n < 0                                         ? 0
                               : (size_t)n < sizeof message - (size_t)at - 4 ? (size_t)n
                                                                             : sizeof message - (size_t)at - 5);
    while (len > 0 && ((unsigned char)message[len - 1] & 0xC0) == 0x80 && (size_t)n >= sizeof message - (size_t)at - 4)
        len--; /* no half character */
    memcpy(message + len, "[/]", 4);
    duckdb_scalar_function_set_error(c->info, message);
    c->failed = true;
}

/* ---- running ---- */

static bool any_null(const call *c, idx_t row) {
    for (idx_t i = 0; i < c->n_args; i++)
        if (call_is_null(c, i, row)) return true;
    return false;
}

static void run(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output) {
    const call_def *def = duckdb_scalar_function_get_extra_info(info);
    call c = {.info = info, .n_args = duckdb_data_chunk_get_column_count(input), .out = output};
    if (c.n_args > CALL_MAX_ARGS) {
        duckdb_scalar_function_set_error(info,
                                         "[UNSUPPORTED_FEATURE|0A000] Silt does not support calls with so many arguments[/]");
        return;
    }
    idx_t n = duckdb_data_chunk_get_size(input);
    for (idx_t i = 0; i < c.n_args; i++) {
        c.in[i] = duckdb_data_chunk_get_vector(input, i);
        c.data[i] = duckdb_vector_get_data(c.in[i]);
        c.valid[i] = duckdb_vector_get_validity(c.in[i]);
    }
    c.out_data = duckdb_vector_get_data(output);
    buf_init(&c.text, (size_t)1 << 31);
    bool nulls = def->flags & CALL_NULLS;
    for (idx_t row = 0; row < n && !c.failed; row++) {
        if (!nulls && any_null(&c, row)) {
            ret_null(&c, row);
            continue;
        }
        buf_clear(&c.text);
        def->row(&c, row);
    }
    buf_dispose(&c.text);
    call_nested_free(&c);
}

/* ---- registering ---- */

static duckdb_logical_type type_of(char letter) {
    static const struct {
        char letter;
        duckdb_type type;
    } types[] = {
        {'b', DUCKDB_TYPE_BOOLEAN},      {'y', DUCKDB_TYPE_TINYINT},  {'h', DUCKDB_TYPE_SMALLINT}, {'i', DUCKDB_TYPE_INTEGER},
        {'l', DUCKDB_TYPE_BIGINT},       {'H', DUCKDB_TYPE_HUGEINT},  {'f', DUCKDB_TYPE_FLOAT},    {'d', DUCKDB_TYPE_DOUBLE},
        {'s', DUCKDB_TYPE_VARCHAR},      {'B', DUCKDB_TYPE_BLOB},     {'D', DUCKDB_TYPE_DATE},     {'t', DUCKDB_TYPE_TIMESTAMP},
        {'z', DUCKDB_TYPE_TIMESTAMP_TZ}, {'v', DUCKDB_TYPE_INTERVAL}, {'*', DUCKDB_TYPE_ANY},      {'+', DUCKDB_TYPE_ANY},
    };
    if (letter == 'S') {
        duckdb_logical_type element = duckdb_create_logical_type(DUCKDB_TYPE_VARCHAR), list = duckdb_create_list_type(element);
        duckdb_destroy_logical_type(&element);
        return list;
    }
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (types[i].letter == letter) return duckdb_create_logical_type(types[i].type);
    return duckdb_create_logical_type(DUCKDB_TYPE_INVALID);
}

static bool register_typed(duckdb_connection connection, const char *name, const call_def *def, duckdb_logical_type result) {
    duckdb_scalar_function f = duckdb_create_scalar_function();
    duckdb_scalar_function_set_name(f, name);
    for (const char *at = def->args; *at; at++) {
        duckdb_logical_type t = type_of(*at);
        if (*at == '+')
            duckdb_scalar_function_set_varargs(f, t);
        else
            duckdb_scalar_function_add_parameter(f, t);
        duckdb_destroy_logical_type(&t);
    }
    duckdb_scalar_function_set_return_type(f, result);
    duckdb_scalar_function_set_function(f, run);
    duckdb_scalar_function_set_extra_info(f, (void *)(uintptr_t)def, NULL);
    duckdb_scalar_function_set_special_handling(f);
    if (def->flags & (CALL_VOLATILE | CALL_RAISES)) duckdb_scalar_function_set_volatile(f);
    bool ok = duckdb_register_scalar_function(connection, f) == DuckDBSuccess;
    duckdb_destroy_scalar_function(&f);
    return ok;
}

static bool register_one(duckdb_connection connection, const call_def *def) {
    duckdb_logical_type result = type_of(def->result);
    bool ok = register_typed(connection, def->name, def, result);
    duckdb_destroy_logical_type(&result);
    return ok;
}

bool engine_register_decimal(duckdb_connection connection, uint8_t precision, uint8_t scale) {
    const call_def *by_width = calls_decimal + (precision <= 4 ? 0 : precision <= 9 ? 1 : precision <= 18 ? 2 : 3);
    char name[32];
    snprintf(name, sizeof name, "silt_decimal_%d_%d", precision, scale);
    duckdb_logical_type type = duckdb_create_decimal_type(precision, scale);
    bool ok = register_typed(connection, name, by_width, type);
    duckdb_destroy_logical_type(&type);
    return ok;
}

silt_status engine_register_functions(duckdb_connection connection, silt_error *err) {
    for (size_t g = 0; g < ARRAY_LEN(groups); g++) {
        for (size_t i = 0; i < groups[g]->count; i++) {
            const call_def *def = &groups[g]->defs[i];
            if (!register_one(connection, def)) {
                silt_status status = err_INTERNAL_ERROR(err, "a function cannot be registered");
                error_detail(err, "%s", def->name);
                return status;
            }
        }
    }
    return engine_register_modulo(connection, err);
}
