/* Arrow batches → values. */
#include "ops/query_values.h"

static bool arrow_bit(const void *bits, int64_t i) { return (((const uint8_t *)bits)[i / 8] >> (i % 8)) & 1; }

static silt_status arrow_value(const op *o, const struct ArrowArray *c, int64_t row, const data_type *t, value *out) {
    int64_t i = row + c->offset;
    const void *data = c->n_buffers > 1 ? c->buffers[1] : NULL;
    *out = (value){.type = t};
    out->is_null = c->null_count != 0 && c->buffers[0] && !arrow_bit(c->buffers[0], i);
    if (out->is_null) return SILT_OK;
    switch (t->id) {
        case TYPE_BOOLEAN: out->as.boolean = arrow_bit(data, i); break;
        case TYPE_BYTE: out->as.i64 = ((const int8_t *)data)[i]; break;
        case TYPE_SHORT: out->as.i64 = ((const int16_t *)data)[i]; break;
        case TYPE_INT:
        case TYPE_DATE: out->as.i64 = ((const int32_t *)data)[i]; break;
        case TYPE_LONG:
        case TYPE_TIMESTAMP:
        case TYPE_TIMESTAMP_NTZ: out->as.i64 = ((const int64_t *)data)[i]; break;
        case TYPE_FLOAT: out->as.f64 = (double)((const float *)data)[i]; break;
        case TYPE_DOUBLE: out->as.f64 = ((const double *)data)[i]; break;
        case TYPE_DECIMAL: memcpy(&out->as.decimal, (const char *)data + 16 * i, 16); break;
        default: {
            const int32_t *ends = data;
            str s = {(const char *)c->buffers[2] + ends[i], (size_t)(ends[i + 1] - ends[i])};
            out->as.bytes = arena_str(o->a, s);
            if (str_is_null(out->as.bytes)) return error_no_memory(o->err);
        }
    }
    return SILT_OK;
}

static silt_status take_batch(const op *o, const struct ArrowArray *batch, const data_type *type, query_values *out) {
    for (int64_t r = 0; r < batch->length; r++)
        for (size_t i = 0; i < type->n_fields; i++) {
            value v;
            TRY(arrow_value(o, batch->children[i], r, type->fields[i].type, &v));
            if (!ARENA_PUSH(o->a, out->items, out->n, out->capacity, v)) return error_no_memory(o->err);
        }
    return SILT_OK;
}

silt_status ops_query_values(const op *o, query *q, query_values *out) {
    engine_result *result;
    *out = (query_values){.n_columns = q->n_columns};
    TRY(expr_push_predicates(q, o->env->bind, o->a, o->err));
    TRY(engine_run(o->env->engine, q, o->env->bind, &result, o->err));
    silt_status status = SILT_OK;
    for (;;) {
        struct ArrowArray batch = {.release = NULL};
        status = engine_result_next(result, &batch, o->err);
        if (status != SILT_OK || !batch.release) break;
        status = take_batch(o, &batch, engine_result_type(result), out);
        batch.release(&batch);
        if (status != SILT_OK) break;
    }
    engine_result_free(result);
    return status;
}
