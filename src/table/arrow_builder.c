/*
 * Building Arrow arrays row by row, for what the formats write themselves (checkpoints, small results). Arrow columnar format,
 * "Physical Memory Layout".
 *
 * Every column keeps a validity bit per row; the finished array names the bits only where a null occurred. Buffers grow by
 * doubling with malloc and move into the array as they are. Offsets have 32 bits: an append that would pass 2 GiB of text (or
 * 2^31 elements) in one array fails, and the caller starts the next batch earlier.
 */
#include <assert.h>
#include <stdlib.h>

#include "table/arrow.h"

typedef struct bytes {
    uint8_t *ptr;
    size_t len, capacity;
} bytes;

struct arrow_builder {
    const data_type *type;
    int64_t rows, nulls;
    bytes validity;           /* bits */
    bytes offsets;            /* int32, rows + 1, where the type has them */
    bytes data;               /* values, bits of booleans, or text */
    arrow_builder **children; /* STRUCT: the fields; ARRAY: element; MAP: key, value */
    size_t n_children;
};

static bool grow(bytes *b, size_t extra) {
    size_t need = b->len + extra, capacity = b->capacity ? b->capacity : 64;
    if (need <= b->capacity) return true;
    while (capacity < need) capacity *= 2;
    uint8_t *p = realloc(b->ptr, capacity);
    if (!p) return false;
    b->ptr = p;
    b->capacity = capacity;
    return true;
}

static bool put(bytes *b, const void *from, size_t n) {
    if (!grow(b, n)) return false;
    if (n) memcpy(b->ptr + b->len, from, n);
    b->len += n;
    return true;
}

/* Set bit number `at`, which is the next one. */
static bool put_bit(bytes *b, int64_t at, bool v) {
    static const uint8_t zero = 0;
    if (at % 8 == 0 && !put(b, &zero, 1)) return false;
    if (v) b->ptr[at / 8] |= (uint8_t)(1u << (at % 8));
    return true;
}

static bool has_offsets(type_id id) {
    return id == TYPE_STRING || id == TYPE_BINARY || id == TYPE_VARIANT || id == TYPE_ARRAY || id == TYPE_MAP;
}

/* Bytes of one value of the fixed-width types, 0 for the others. */
static size_t width_of(type_id id) {
    switch (id) {
        case TYPE_BYTE: return 1;
        case TYPE_SHORT: return 2;
        case TYPE_INT:
        case TYPE_DATE:
        case TYPE_FLOAT:
        case TYPE_INTERVAL_YM: return 4;
        case TYPE_LONG:
        case TYPE_DOUBLE:
        case TYPE_TIMESTAMP:
        case TYPE_TIMESTAMP_NTZ:
        case TYPE_INTERVAL_DT: return 8;
        case TYPE_DECIMAL: return 16;
        default: return 0;
    }
}

static void dispose_content(arrow_builder *b) {
    free(b->validity.ptr);
    free(b->offsets.ptr);
    free(b->data.ptr);
    b->validity = b->offsets = b->data = (bytes){0};
    b->rows = b->nulls = 0;
}

void arrow_builder_free(arrow_builder *b) {
    if (!b) return;
    for (size_t i = 0; i < b->n_children; i++) arrow_builder_free(b->children[i]);
    free(b->children);
    dispose_content(b);
    free(b);
}

static bool add_builder(arrow_builder *parent, const data_type *type) {
    arrow_builder *child = arrow_builder_new(type);
    if (!child) return false;
    parent->children[parent->n_children++] = child;
    return true;
}

static bool add_builders(arrow_builder *b, const data_type *type) {
    size_t n = type->id == TYPE_STRUCT ? type->n_fields : type->id == TYPE_MAP ? 2 : type->id == TYPE_ARRAY ? 1 : 0;
    if (n == 0) return true;
    b->children = calloc(n, sizeof *b->children);
    if (!b->children) return false;
    if (type->id == TYPE_ARRAY) return add_builder(b, type->element);
    if (type->id == TYPE_MAP) return add_builder(b, type->key) && add_builder(b, type->element);
    for (size_t i = 0; i < n; i++)
        if (!add_builder(b, type->fields[i].type)) return false;
    return true;
}

arrow_builder *arrow_builder_new(const data_type *type) {
    assert(type->id != TYPE_INTERVAL);
    arrow_builder *b = calloc(1, sizeof *b);
    if (!b) return NULL;
    b->type = type;
    if (add_builders(b, type)) return b;
    arrow_builder_free(b);
    return NULL;
}

arrow_builder *arrow_child(arrow_builder *b, size_t i) {
    assert(i < b->n_children);
    return b->children[i];
}

int64_t arrow_builder_rows(const arrow_builder *b) { return b->rows; }

/* Rows of text so far, or of list elements. */
static int64_t content_length(const arrow_builder *b) { return b->n_children ? b->children[0]->rows : (int64_t)b->data.len; }

/* The offset where the row ends; the first row also gets its beginning. */
static bool put_offset(arrow_builder *b) {
    static const int32_t zero = 0;
    int64_t at = content_length(b);
    if (at > INT32_MAX) return false;
    int32_t end = (int32_t)at;
    if (b->offsets.len == 0 && !put(&b->offsets, &zero, sizeof zero)) return false;
    return put(&b->offsets, &end, sizeof end);
}

static bool end_row(arrow_builder *b, bool valid) {
    if (!put_bit(&b->validity, b->rows, valid)) return false;
    b->rows++;
    b->nulls += !valid;
    return true;
}

bool arrow_append_null(arrow_builder *b) {
    static const uint8_t zeros[16] = {0};
    type_id id = b->type->id;
    if (id == TYPE_STRUCT) {
        for (size_t i = 0; i < b->n_children; i++)
            if (!arrow_append_null(b->children[i])) return false;
    } else if (has_offsets(id)) {
        if (!put_offset(b)) return false;
    } else if (id == TYPE_BOOLEAN) {
        if (!put_bit(&b->data, b->rows, false)) return false;
    } else if (!put(&b->data, zeros, width_of(id))) {
        return false;
    }
    return end_row(b, false);
}

bool arrow_append_bool(arrow_builder *b, bool v) {
    assert(b->type->id == TYPE_BOOLEAN);
    return put_bit(&b->data, b->rows, v) && end_row(b, true);
}

bool arrow_append_i64(arrow_builder *b, int64_t v) {
    assert(b->type->id != TYPE_FLOAT && b->type->id != TYPE_DOUBLE && b->type->id != TYPE_DECIMAL && width_of(b->type->id) > 0);
    return put(&b->data, &v, width_of(b->type->id)) && end_row(b, true); /* little-endian: the low bytes come first */
}

bool arrow_append_f64(arrow_builder *b, double v) {
    assert(b->type->id == TYPE_FLOAT || b->type->id == TYPE_DOUBLE);
    float f = (float)v;
    bool ok = b->type->id == TYPE_FLOAT ? put(&b->data, &f, sizeof f) : put(&b->data, &v, sizeof v);
    return ok && end_row(b, true);
}

bool arrow_append_decimal(arrow_builder *b, __int128 v) {
    assert(b->type->id == TYPE_DECIMAL);
    return put(&b->data, &v, sizeof v) && end_row(b, true);
}

bool arrow_append_str(arrow_builder *b, str v) {
    assert(has_offsets(b->type->id) && b->n_children == 0);
    if (v.len > (size_t)INT32_MAX - b->data.len) return false;
    return put(&b->data, v.ptr, v.len) && put_offset(b) && end_row(b, true);
}

bool arrow_finish_row(arrow_builder *b) {
    assert(type_is_nested(b->type));
    if (b->type->id == TYPE_STRUCT) {
        for (size_t i = 0; i < b->n_children; i++) assert(b->children[i]->rows == b->rows + 1);
    } else {
        assert(b->type->id != TYPE_MAP || b->children[0]->rows == b->children[1]->rows);
        if (!put_offset(b)) return false;
    }
    return end_row(b, true);
}

/* ---- the finished array ---- */

typedef struct array_memory {
    const void *buffers[3];
    void *owned[3];
} array_memory;

static void release_array(struct ArrowArray *array) {
    array_memory *m = array->private_data;
    for (int64_t i = 0; i < array->n_children; i++) {
        struct ArrowArray *child = array->children[i];
        if (child && child->release) child->release(child);
        free(child);
    }
    free(array->children);
    for (size_t i = 0; i < ARRAY_LEN(m->owned); i++) free(m->owned[i]);
    free(m);
    array->release = NULL;
}

static bool init_array(struct ArrowArray *out, int64_t rows, int64_t nulls, size_t n_children) {
    array_memory *m = calloc(1, sizeof *m);
    *out = (struct ArrowArray){.length = rows, .null_count = nulls, .release = release_array, .private_data = m};
    if (!m) return false;
    out->buffers = m->buffers;
    if (n_children == 0) return true;
    out->children = calloc(n_children, sizeof *out->children);
    if (!out->children) {
        free(m);
        return false;
    }
    return true;
}

static void give_buffer(struct ArrowArray *out, bytes *from) {
    array_memory *m = out->private_data;
    int64_t i = out->n_buffers++;
    m->owned[i] = from->ptr;
    m->buffers[i] = from->ptr;
    *from = (bytes){0};
}

static bool finish(arrow_builder *b, struct ArrowArray *out);

static bool finish_child(arrow_builder *b, struct ArrowArray *parent) {
    struct ArrowArray *child = calloc(1, sizeof *child);
    if (!child || !finish(b, child)) {
        free(child);
        return false;
    }
    parent->children[parent->n_children++] = child;
    return true;
}

/* A map's one child: the struct of keys and values, without nulls of its own. */
static bool finish_entries(arrow_builder *b, struct ArrowArray *parent) {
    struct ArrowArray *entries = calloc(1, sizeof *entries);
    if (!entries || !init_array(entries, b->children[0]->rows, 0, 2)) {
        free(entries);
        return false;
    }
    parent->children[parent->n_children++] = entries;
    entries->n_buffers = 1;
    return finish_child(b->children[0], entries) && finish_child(b->children[1], entries);
}

static bool finish_children(arrow_builder *b, struct ArrowArray *out) {
    if (b->type->id == TYPE_MAP) return finish_entries(b, out);
    for (size_t i = 0; i < b->n_children; i++)
        if (!finish_child(b->children[i], out)) return false;
    return true;
}

/* Consumers want memory behind every buffer, also of an empty array, and one offset at least. */
static bool prepare_buffers(arrow_builder *b) {
    static const int32_t zero = 0;
    if (has_offsets(b->type->id) && b->offsets.len == 0 && !put(&b->offsets, &zero, sizeof zero)) return false;
    return type_is_nested(b->type) || b->type->id == TYPE_VOID || grow(&b->data, 1);
}

static bool finish(arrow_builder *b, struct ArrowArray *out) {
    size_t n_children = b->type->id == TYPE_MAP ? 1 : b->n_children;
    if (!prepare_buffers(b) || !init_array(out, b->rows, b->nulls, n_children)) return false;
    if (!finish_children(b, out)) {
        release_array(out);
        return false;
    }
    if (b->type->id != TYPE_VOID) {
        if (b->nulls == 0) {
            free(b->validity.ptr);
            b->validity = (bytes){0};
        }
        give_buffer(out, &b->validity);
    }
    if (has_offsets(b->type->id)) give_buffer(out, &b->offsets);
    if (!type_is_nested(b->type) && b->type->id != TYPE_VOID) give_buffer(out, &b->data);
    dispose_content(b);
    return true;
}

silt_status arrow_builder_finish(arrow_builder *b, struct ArrowArray *out, silt_error *err) {
    return finish(b, out) ? SILT_OK : error_no_memory(err);
}
