/**
 * Arrow streams as a DuckDB table function.
 *
 * silt_arrow(id) finds the stream by its number at bind time. Batches may be of any size; each call hands out up to 2,048 rows of the current one. One thread
 * reads (an ArrowArrayStream allows no more), and the order of rows is kept.
 */
#include "engine/internal.h"
#include "engine/sources.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct arrow_input {
    engine *engine;
    uint64_t id;
    struct ArrowArrayStream *stream;
    struct ArrowSchema schema;
    struct ArrowArray batch;
    int64_t at; /* next row of the batch */
    bool started, done;
    arena *arena;
    const data_type *type;
    silt_error error;
};

static silt_status stream_failed(struct ArrowArrayStream *stream, int code, silt_error *err) {
    const char *message = stream->get_last_error ? stream->get_last_error(stream) : NULL;
    silt_status status = code == ENOMEM      ? error_no_memory(err)
                         : code == ECANCELED ? err_OPERATION_CANCELLED(err)
                                             : err_FAILED_READ_FILE(err, STR("<Arrow stream>"), "the stream reports an error");
    error_detail(err, "%s", message ? message : "no message");
    return status;
}

/* The given type reads the stream's buffers: only integer widths may differ from what the stream says. */
static bool type_fits(const data_type *type, const data_type *stream) {
    if (type_is_integral(type) && type_is_integral(stream)) return true;
    if (type->id == TYPE_VARIANT && stream->id == TYPE_STRING) return true;
    if (type->id != stream->id) return false;
    if (type->id == TYPE_DECIMAL) return type->precision == stream->precision && type->scale == stream->scale;
    if (type->element && !type_fits(type->element, stream->element)) return false;
    if (type->key && !type_fits(type->key, stream->key)) return false;
    if (type->n_fields != stream->n_fields) return false;
    for (size_t i = 0; i < type->n_fields; i++)
        if (!type_fits(type->fields[i].type, stream->fields[i].type)) return false;
    return true;
}

silt_status arrow_input_open(engine *e, struct ArrowArrayStream *rows, const data_type *type, arrow_input **out,
                             silt_error *err) {
    arrow_input *input = calloc(1, sizeof *input);
    if (!input) return error_no_memory(err);
    input->engine = e;
    input->stream = rows;
    silt_status status = SILT_OK;
    if (!(input->arena = arena_new())) TRY_OUT(error_no_memory(err));
    int code = rows->get_schema(rows, &input->schema);
    if (code) TRY_OUT(stream_failed(rows, code, err));
    TRY_OUT(arrow_schema_to_type(&input->schema, input->arena, &input->type, err));
    if (type) {
        if (!type_fits(type, input->type)) TRY_OUT(err_INTERNAL_ERROR(err, "an Arrow stream has other columns than was said"));
        input->type = type;
    }
    if (!engine_register(e, &e->feeds, input, &input->id)) TRY_OUT(error_no_memory(err));
    *out = input;
    return SILT_OK;
out:
    arrow_input_close(input);
    return status;
}

void arrow_input_close(arrow_input *input) {
    if (!input) return;
    if (input->id) engine_unregister(input->engine, &input->engine->feeds, input->id);
    if (input->batch.release) input->batch.release(&input->batch);
    if (input->schema.release) input->schema.release(&input->schema);
    arena_free(input->arena);
    free(input);
}

uint64_t arrow_input_id(const arrow_input *input) { return input->id; }
const data_type *arrow_input_type(const arrow_input *input) { return input->type; }
const silt_error *arrow_input_error(const arrow_input *input) { return &input->error; }

/* ---- the table function ---- */

static void bind(duckdb_bind_info info) {
    engine *e = duckdb_bind_get_extra_info(info);
    duckdb_value id = duckdb_bind_get_parameter(info, 0);
    arrow_input *input = engine_find(e, &e->feeds, (uint64_t)duckdb_get_int64(id));
    duckdb_destroy_value(&id);
    if (!input) {
        duckdb_bind_set_error(info, "unknown Arrow stream");
        return;
    }
    for (size_t i = 0; i < input->type->n_fields; i++) {
        char name[24];
        snprintf(name, sizeof name, "c%zu", i);
        duckdb_logical_type type = engine_logical_type(input->type->fields[i].type, false);
        if (!type) {
            duckdb_bind_set_error(info, "out of memory");
            return;
        }
        duckdb_bind_add_result_column(info, name, type);
        duckdb_destroy_logical_type(&type);
    }
    duckdb_bind_set_bind_data(info, input, NULL);
}

static void init(duckdb_init_info info) {
    arrow_input *input = duckdb_init_get_bind_data(info);
    duckdb_init_set_max_threads(info, 1);
    if (input->started) {
        err_UNSUPPORTED_FEATURE(&input->error, "reading an Arrow stream twice in one statement");
        duckdb_init_set_error(info, input->error.message);
    }
    input->started = true;
}

/* Makes sure that the current batch has rows left; false at the end. */
static silt_status advance(arrow_input *input, silt_error *err) {
    while (!input->done && (!input->batch.release || input->at >= input->batch.length)) {
        if (input->batch.release) input->batch.release(&input->batch);
        memset(&input->batch, 0, sizeof input->batch);
        input->at = 0;
        int code = input->stream->get_next(input->stream, &input->batch);
        if (code) return stream_failed(input->stream, code, err);
        if (!input->batch.release) input->done = true;
    }
    return SILT_OK;
}

static void run(duckdb_function_info info, duckdb_data_chunk out) {
    arrow_input *input = duckdb_function_get_bind_data(info);
    silt_status status = advance(input, &input->error);
    int64_t n = 0;
    if (status == SILT_OK && !input->done) {
        n = input->batch.length - input->at;
        if (n > (int64_t)duckdb_vector_size()) n = (int64_t)duckdb_vector_size();
        status = engine_chunk_from_arrow(&input->schema, &input->batch, input->at, n, input->type, out, &input->error);
        input->at += n;
    }
    if (status == SILT_OK) {
        duckdb_data_chunk_set_size(out, (idx_t)n);
        return;
    }
    duckdb_data_chunk_set_size(out, 0);
    duckdb_function_set_error(info, input->error.message);
}

silt_status engine_register_arrow_input(engine *e, duckdb_connection connection, silt_error *err) {
    duckdb_table_function f = duckdb_create_table_function();
    duckdb_logical_type id = duckdb_create_logical_type(DUCKDB_TYPE_BIGINT);
    duckdb_table_function_set_name(f, "silt_arrow");
    duckdb_table_function_add_parameter(f, id);
    duckdb_table_function_set_extra_info(f, e, NULL);
    duckdb_table_function_set_bind(f, bind);
    duckdb_table_function_set_init(f, init);
    duckdb_table_function_set_function(f, run);
    bool ok = duckdb_register_table_function(connection, f) == DuckDBSuccess;
    duckdb_destroy_logical_type(&id);
    duckdb_destroy_table_function(&f);
    return ok ? SILT_OK : err_INTERNAL_ERROR(err, "silt_arrow cannot be registered");
}
