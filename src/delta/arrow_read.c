/* Readers over Arrow arrays. The children of a struct are not sliced with it: their rows count from the struct's own offset, so
 * the offsets add up on the way down (`base`). */
#include "delta/arrow_read.h"

static arrow_column column(const struct ArrowSchema *schema, const struct ArrowArray *array, int64_t base) {
    arrow_column c = {.schema = schema, .array = array, .base = base + array->offset};
    const char *f = schema->format;
    if (f[0] == '+') {
        c.kind = '+';
        c.nested = f[1];
    } else {
        c.kind = f[0] == 'z' ? 'u' : f[0] == 'Z' ? 'U' : f[0];
        if (f[0] == 't') c.kind = f[1] == 'd' && f[2] == 'D' ? 'i' : 'l'; /* dates in days; timestamps */
    }
    c.validity = array->n_buffers > 0 && array->null_count != 0 ? array->buffers[0] : NULL;
    return c;
}

arrow_column arrow_column_root(const struct ArrowSchema *schema, const struct ArrowArray *array) {
    return column(schema, array, 0);
}

arrow_column arrow_column_child(const arrow_column *parent, int64_t i) {
    return column(parent->schema->children[i], parent->array->children[i], parent->base);
}

arrow_column arrow_column_field(const arrow_column *parent, const char *name) {
    if (!parent->schema || parent->kind != '+' || parent->nested != 's') return (arrow_column){0};
    for (int64_t i = 0; i < parent->schema->n_children; i++)
        if (strcmp(parent->schema->children[i]->name, name) == 0) return arrow_column_child(parent, i);
    return (arrow_column){0};
}

arrow_column arrow_column_item(const arrow_column *parent, int which) {
    if (!parent->schema || parent->kind != '+' || parent->schema->n_children != 1) return (arrow_column){0};
    arrow_column item = column(parent->schema->children[0], parent->array->children[0], 0);
    if (parent->nested != 'm') return item;
    if (item.schema->n_children != 2) return (arrow_column){0};
    return column(item.schema->children[which], item.array->children[which], item.base);
}

static inline bool bit(const uint8_t *bits, int64_t i) { return bits[i >> 3] >> (i & 7) & 1; }

bool arrow_is_null(const arrow_column *c, int64_t row) {
    return !c->schema || c->schema->format[0] == 'n' || (c->validity && !bit(c->validity, row + c->base));
}

str arrow_str(const arrow_column *c, int64_t row) {
    if (arrow_is_null(c, row)) return STR_NULL;
    int64_t i = row + c->base;
    const char *bytes = c->array->buffers[2];
    if (c->kind == 'u') {
        const int32_t *offsets = c->array->buffers[1];
        return (str){bytes ? bytes + offsets[i] : "", (size_t)(offsets[i + 1] - offsets[i])};
    }
    if (c->kind == 'U') {
        const int64_t *offsets = c->array->buffers[1];
        return (str){bytes ? bytes + offsets[i] : "", (size_t)(offsets[i + 1] - offsets[i])};
    }
    return STR_NULL;
}

int64_t arrow_i64(const arrow_column *c, int64_t row, int64_t absent) {
    if (arrow_is_null(c, row)) return absent;
    int64_t i = row + c->base;
    const void *values = c->array->buffers[1];
    switch (c->kind) {
        case 'c': return ((const int8_t *)values)[i];
        case 'C': return ((const uint8_t *)values)[i];
        case 's': return ((const int16_t *)values)[i];
        case 'S': return ((const uint16_t *)values)[i];
        case 'i': return ((const int32_t *)values)[i];
        case 'I': return ((const uint32_t *)values)[i];
        case 'l':
        case 'L': return ((const int64_t *)values)[i];
        default: return absent;
    }
}

bool arrow_bool(const arrow_column *c, int64_t row, bool absent) {
    if (arrow_is_null(c, row) || c->kind != 'b') return absent;
    return bit(c->array->buffers[1], row + c->base);
}

bool arrow_list(const arrow_column *c, int64_t row, int64_t *from, int64_t *to) {
    if (arrow_is_null(c, row) || c->kind != '+') return false;
    int64_t i = row + c->base;
    if (c->nested == 'L') {
        const int64_t *offsets = c->array->buffers[1];
        *from = offsets[i];
        *to = offsets[i + 1];
        return true;
    }
    if (c->nested != 'l' && c->nested != 'm') return false;
    const int32_t *offsets = c->array->buffers[1];
    *from = offsets[i];
    *to = offsets[i + 1];
    return true;
}

/* ---- streams ---- */

static silt_status stream_failed(struct ArrowArrayStream *stream, str what, silt_error *err) {
    const char *why = stream->get_last_error(stream);
    silt_status s = err_DELTA_CHECKPOINT_CORRUPT(err, what);
    error_detail(err, "%s", why ? why : "its rows could not be read");
    return s;
}

silt_status arrow_each_batch(struct ArrowArrayStream *stream, str what,
                             silt_status (*fn)(void *ctx, const struct ArrowSchema *schema, const struct ArrowArray *batch,
                                               silt_error *err),
                             void *ctx, silt_error *err) {
    struct ArrowSchema schema = {0};
    silt_status status = SILT_OK;
    if (stream->get_schema(stream, &schema) != 0) status = stream_failed(stream, what, err);
    while (status == SILT_OK) {
        struct ArrowArray batch = {0};
        if (stream->get_next(stream, &batch) != 0) {
            status = stream_failed(stream, what, err);
            break;
        }
        if (!batch.release) break;
        status = fn(ctx, &schema, &batch, err);
        batch.release(&batch);
    }
    if (schema.release) schema.release(&schema);
    stream->release(stream);
    return status;
}
