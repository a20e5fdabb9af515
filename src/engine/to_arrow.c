/**
 * DuckDB's chunks as Arrow arrays in the one layout that arrow_schema_from_type describes. Own code rather than duckdb_data_chunk_to_arrow, whose layout follows
 * session settings (string views, large offsets, 1.5's decimals) and whose names are the query's.
 *
 * A chunk from a result is flat at every level. Fixed-width columns are one memcpy; lists copy only the entries in use, gathered through an index when they do
 * not lie in a row.
 */
#include "engine/internal.h"

#include <stdlib.h>

/* The rows of a vector to convert: `index` picks them when not NULL, else first … first + n. */
typedef struct row_set {
    const uint64_t *index;
    uint64_t first;
    size_t n;
} row_set;

static inline uint64_t row_at(const row_set *rows, size_t i) { return rows->index ? rows->index[i] : rows->first + i; }

/* ---- owned arrays ---- */

typedef struct owned {
    void *buffers[3];
    const void *views[3];
    struct ArrowArray *child_items;
    struct ArrowArray **child_pointers;
} owned;

static void release_array(struct ArrowArray *array) {
    owned *o = array->private_data;
    for (int64_t i = 0; i < array->n_children; i++)
        if (array->children[i]->release) array->children[i]->release(array->children[i]);
    for (size_t i = 0; i < 3; i++) free(o->buffers[i]);
    free(o->child_items);
    free(o->child_pointers);
    free(o);
    array->release = NULL;
}

/* An array of n rows whose validity and data buffers the caller fills; children zeroed (release == NULL). */
static bool array_init(struct ArrowArray *out, size_t n, int n_buffers, size_t n_children) {
    memset(out, 0, sizeof *out);
    owned *o = calloc(1, sizeof *o);
    if (!o) return false;
    *out = (struct ArrowArray){
        .length = (int64_t)n, .n_buffers = n_buffers, .buffers = o->views, .private_data = o, .release = release_array};
    if (n_children == 0) return true;
    o->child_items = calloc(n_children, sizeof *o->child_items);
    o->child_pointers = calloc(n_children, sizeof *o->child_pointers);
    if (!o->child_items || !o->child_pointers) return false;
    for (size_t i = 0; i < n_children; i++) o->child_pointers[i] = &o->child_items[i];
    out->children = o->child_pointers;
    out->n_children = (int64_t)n_children;
    return true;
}

static void *array_buffer(struct ArrowArray *array, int which, size_t bytes) {
    owned *o = array->private_data;
    o->buffers[which] = malloc(bytes ? bytes : 1);
    o->views[which] = o->buffers[which];
    return o->buffers[which];
}

/* ---- validity ---- */

static inline bool row_is_valid(const uint64_t *validity, uint64_t row) {
    return !validity || (validity[row >> 6] >> (row & 63) & 1);
}

/* Arrow's bitmap and null count; no bitmap when nothing is null. */
static bool copy_validity(duckdb_vector vector, const row_set *rows, struct ArrowArray *out) {
    const uint64_t *validity = duckdb_vector_get_validity(vector);
    if (!validity || !rows->n) return true;
    size_t nulls = 0;
    for (size_t i = 0; i < rows->n; i++) nulls += !row_is_valid(validity, row_at(rows, i));
    if (!nulls) return true;
    uint8_t *bits = array_buffer(out, 0, (rows->n + 7) / 8);
    if (!bits) return false;
    memset(bits, 0, (rows->n + 7) / 8);
    for (size_t i = 0; i < rows->n; i++)
        if (row_is_valid(validity, row_at(rows, i))) bits[i >> 3] = (uint8_t)(bits[i >> 3] | 1u << (i & 7));
    out->null_count = (int64_t)nulls;
    return true;
}

/* ---- fixed width ---- */

static bool copy_fixed(duckdb_vector vector, const row_set *rows, size_t width, struct ArrowArray *out) {
    const char *from = duckdb_vector_get_data(vector);
    char *to = array_buffer(out, 1, rows->n * width);
    if (!to) return false;
    if (!rows->index)
        memcpy(to, from + rows->first * width, rows->n * width);
    else
        for (size_t i = 0; i < rows->n; i++) memcpy(to + i * width, from + rows->index[i] * width, width);
    return true;
}

static bool copy_booleans(duckdb_vector vector, const row_set *rows, struct ArrowArray *out) {
    const uint8_t *from = duckdb_vector_get_data(vector);
    uint8_t *bits = array_buffer(out, 1, (rows->n + 7) / 8);
    if (!bits) return false;
    memset(bits, 0, (rows->n + 7) / 8);
    for (size_t i = 0; i < rows->n; i++)
        if (from[row_at(rows, i)]) bits[i >> 3] = (uint8_t)(bits[i >> 3] | 1u << (i & 7));
    return true;
}

static __int128 read_integer(const void *data, uint64_t row, duckdb_type type) {
    switch (type) {
        case DUCKDB_TYPE_TINYINT: return ((const int8_t *)data)[row];
        case DUCKDB_TYPE_UTINYINT: return ((const uint8_t *)data)[row];
        case DUCKDB_TYPE_SMALLINT: return ((const int16_t *)data)[row];
        case DUCKDB_TYPE_USMALLINT: return ((const uint16_t *)data)[row];
        case DUCKDB_TYPE_INTEGER: return ((const int32_t *)data)[row];
        case DUCKDB_TYPE_UINTEGER: return ((const uint32_t *)data)[row];
        case DUCKDB_TYPE_BIGINT: return ((const int64_t *)data)[row];
        case DUCKDB_TYPE_UBIGINT: return ((const uint64_t *)data)[row];
        default: {
            __int128 wide;
            memcpy(&wide, (const char *)data + row * sizeof wide, sizeof wide);
            return wide;
        }
    }
}

static bool is_integer_type(duckdb_type type) {
    return (type >= DUCKDB_TYPE_TINYINT && type <= DUCKDB_TYPE_UBIGINT) || type == DUCKDB_TYPE_HUGEINT ||
           type == DUCKDB_TYPE_UHUGEINT;
}

static bool widen_integers(duckdb_vector vector, const row_set *rows, duckdb_type from, size_t width, struct ArrowArray *out) {
    const void *data = duckdb_vector_get_data(vector);
    char *to = array_buffer(out, 1, rows->n * width);
    if (!to) return false;
    for (size_t i = 0; i < rows->n; i++) {
        __int128 v = read_integer(data, row_at(rows, i), from);
        memcpy(to + i * width, &v, width); /* little endian: the low bytes */
    }
    return true;
}

static bool convert_intervals(duckdb_vector vector, const row_set *rows, type_id id, struct ArrowArray *out) {
    const duckdb_interval *from = duckdb_vector_get_data(vector);
    size_t width = id == TYPE_INTERVAL_YM ? 4 : id == TYPE_INTERVAL_DT ? 8 : 16;
    char *to = array_buffer(out, 1, rows->n * width);
    if (!to) return false;
    memset(to, 0, rows->n * width);
    const uint64_t *validity = duckdb_vector_get_validity(vector);
    for (size_t i = 0; i < rows->n; i++) {
        uint64_t row = row_at(rows, i);
        if (!row_is_valid(validity, row)) continue;
        const duckdb_interval *v = &from[row];
        int64_t us = v->micros + (int64_t)v->days * 86400000000;
        struct {
            int32_t months, days;
            int64_t ns;
        } calendar = {v->months, v->days, v->micros * 1000};
        if (id == TYPE_INTERVAL_YM)
            memcpy(to + i * width, &v->months, width);
        else if (id == TYPE_INTERVAL_DT)
            memcpy(to + i * width, &us, width);
        else
            memcpy(to + i * width, &calendar, width);
    }
    return true;
}

/* ---- strings ---- */

static bool copy_strings(duckdb_vector vector, const row_set *rows, struct ArrowArray *out) {
    duckdb_string_t *from = duckdb_vector_get_data(vector);
    const uint64_t *validity = duckdb_vector_get_validity(vector);
    int32_t *offsets = array_buffer(out, 1, (rows->n + 1) * sizeof *offsets);
    if (!offsets) return false;
    size_t total = 0;
    for (size_t i = 0; i < rows->n; i++) {
        uint64_t row = row_at(rows, i);
        offsets[i] = (int32_t)total;
        if (row_is_valid(validity, row)) total += duckdb_string_t_length(from[row]);
        if (total > INT32_MAX) return false;
    }
    offsets[rows->n] = (int32_t)total;
    char *bytes = array_buffer(out, 2, total);
    if (!bytes) return false;
    for (size_t i = 0; i < rows->n; i++) {
        uint64_t row = row_at(rows, i);
        size_t length = (size_t)(offsets[i + 1] - offsets[i]);
        if (length) memcpy(bytes + offsets[i], duckdb_string_t_data(&from[row]), length);
    }
    return true;
}

/* ---- nested ---- */

static silt_status convert(duckdb_vector vector, const data_type *type, const row_set *rows, struct ArrowArray *out,
                           silt_error *err);

static silt_status convert_struct(duckdb_vector vector, const data_type *type, const row_set *rows, struct ArrowArray *out,
                                  silt_error *err) {
    if (!array_init(out, rows->n, 1, type->n_fields) || !copy_validity(vector, rows, out)) return error_no_memory(err);
    for (size_t i = 0; i < type->n_fields; i++)
        TRY(convert(duckdb_struct_vector_get_child(vector, i), type->fields[i].type, rows, out->children[i], err));
    return SILT_OK;
}

/* Arrow's offsets from DuckDB's entries; *out_rows says where the child rows are (index malloc'd when they are scattered). */
static bool list_offsets(duckdb_vector vector, const row_set *rows, struct ArrowArray *out, row_set *out_rows,
                         uint64_t **out_index) {
    const duckdb_list_entry *entries = duckdb_vector_get_data(vector);
    const uint64_t *validity = duckdb_vector_get_validity(vector);
    int32_t *offsets = array_buffer(out, 1, (rows->n + 1) * sizeof *offsets);
    if (!offsets) return false;
    uint64_t total = 0, first = 0;
    bool contiguous = true;
    for (size_t i = 0; i < rows->n; i++) {
        uint64_t row = row_at(rows, i);
        offsets[i] = (int32_t)total;
        if (!row_is_valid(validity, row) || entries[row].length == 0) continue;
        if (total == 0)
            first = entries[row].offset;
        else if (entries[row].offset != first + total)
            contiguous = false;
        total += entries[row].length;
        if (total > INT32_MAX) return false;
    }
    offsets[rows->n] = (int32_t)total;
    *out_rows = (row_set){.first = first, .n = (size_t)total};
    if (contiguous) return true;
    uint64_t *index = malloc((size_t)total * sizeof *index);
    if (!index) return false;
    for (size_t i = 0; i < rows->n; i++) {
        uint64_t from = entries[row_at(rows, i)].offset;
        for (int32_t k = offsets[i]; k < offsets[i + 1]; k++) index[k] = from++;
    }
    *out_index = index;
    out_rows->index = index;
    return true;
}

static silt_status convert_list(duckdb_vector vector, const data_type *type, const row_set *rows, struct ArrowArray *out,
                                silt_error *err) {
    uint64_t *index = NULL;
    row_set child_rows;
    if (!array_init(out, rows->n, 2, 1) || !copy_validity(vector, rows, out) ||
        !list_offsets(vector, rows, out, &child_rows, &index))
        return error_no_memory(err);
    duckdb_vector child = duckdb_list_vector_get_child(vector);
    silt_status status;
    if (type->id == TYPE_ARRAY)
        status = convert(child, type->element, &child_rows, out->children[0], err);
    else {
        const field entry[2] = {field_make(STR("key"), type->key, false), field_make(STR("value"), type->element, true)};
        const data_type entries = {.id = TYPE_STRUCT, .fields = entry, .n_fields = 2};
        status = convert_struct(child, &entries, &child_rows, out->children[0], err);
    }
    free(index);
    return status;
}

/* ---- one column ---- */

static size_t fixed_width(type_id id) {
    switch (id) {
        case TYPE_BYTE: return 1;
        case TYPE_SHORT: return 2;
        case TYPE_INT:
        case TYPE_FLOAT:
        case TYPE_DATE: return 4;
        case TYPE_LONG:
        case TYPE_DOUBLE:
        case TYPE_TIMESTAMP:
        case TYPE_TIMESTAMP_NTZ: return 8;
        default: return 0;
    }
}

static duckdb_type wanted_type(type_id id) {
    switch (id) {
        case TYPE_BYTE: return DUCKDB_TYPE_TINYINT;
        case TYPE_SHORT: return DUCKDB_TYPE_SMALLINT;
        case TYPE_INT: return DUCKDB_TYPE_INTEGER;
        case TYPE_LONG: return DUCKDB_TYPE_BIGINT;
        case TYPE_FLOAT: return DUCKDB_TYPE_FLOAT;
        case TYPE_DOUBLE: return DUCKDB_TYPE_DOUBLE;
        case TYPE_DATE: return DUCKDB_TYPE_DATE;
        case TYPE_TIMESTAMP: return DUCKDB_TYPE_TIMESTAMP_TZ;
        case TYPE_TIMESTAMP_NTZ: return DUCKDB_TYPE_TIMESTAMP;
        default: return DUCKDB_TYPE_INVALID;
    }
}

static silt_status wrong_type(const data_type *type, duckdb_type found, silt_error *err) {
    silt_status status = err_INTERNAL_ERROR(err, "the engine gave a column of another type than was bound");
    arena *a = arena_new();
    if (a) error_detail(err, "bound %.*s, DuckDB type number %d", STR_ARG(type_simple(type, a)), (int)found);
    arena_free(a);
    return status;
}

static silt_status convert_fixed(duckdb_vector vector, const data_type *type, duckdb_type found, const row_set *rows,
                                 struct ArrowArray *out, silt_error *err) {
    size_t width = fixed_width(type->id);
    bool ok;
    if (found == wanted_type(type->id))
        ok = copy_fixed(vector, rows, width, out);
    else if (type_is_integral(type) && is_integer_type(found))
        ok = widen_integers(vector, rows, found, width, out);
    else
        return wrong_type(type, found, err);
    return ok ? SILT_OK : error_no_memory(err);
}

static silt_status convert_decimal(duckdb_vector vector, const data_type *type, duckdb_logical_type found, const row_set *rows,
                                   struct ArrowArray *out, silt_error *err) {
    duckdb_type id = duckdb_get_type_id(found);
    bool integer = is_integer_type(id) && type->scale == 0;
    if (!integer && (id != DUCKDB_TYPE_DECIMAL || duckdb_decimal_scale(found) != type->scale)) return wrong_type(type, id, err);
    duckdb_type storage = integer ? id : duckdb_decimal_internal_type(found);
    bool ok = storage == DUCKDB_TYPE_HUGEINT ? copy_fixed(vector, rows, 16, out) : widen_integers(vector, rows, storage, 16, out);
    return ok ? SILT_OK : error_no_memory(err);
}

static silt_status convert_leaf(duckdb_vector vector, const data_type *type, const row_set *rows, struct ArrowArray *out,
                                silt_error *err) {
    if (type->id == TYPE_VOID) {
        if (!array_init(out, rows->n, 0, 0)) return error_no_memory(err);
        out->null_count = (int64_t)rows->n;
        return SILT_OK;
    }
    bool is_text = type->id == TYPE_STRING || type->id == TYPE_BINARY || type->id == TYPE_VARIANT;
    if (!array_init(out, rows->n, is_text ? 3 : 2, 0) || !copy_validity(vector, rows, out)) return error_no_memory(err);
    duckdb_logical_type found = duckdb_vector_get_column_type(vector);
    duckdb_type id = duckdb_get_type_id(found);
    silt_status status = SILT_OK;
    if (is_text) {
        if (id != DUCKDB_TYPE_VARCHAR && id != DUCKDB_TYPE_BLOB)
            status = wrong_type(type, id, err);
        else if (!copy_strings(vector, rows, out))
            status = error_no_memory(err);
    } else if (type->id == TYPE_BOOLEAN) {
        if (id != DUCKDB_TYPE_BOOLEAN)
            status = wrong_type(type, id, err);
        else if (!copy_booleans(vector, rows, out))
            status = error_no_memory(err);
    } else if (type->id == TYPE_DECIMAL) {
        status = convert_decimal(vector, type, found, rows, out, err);
    } else if (type->id == TYPE_INTERVAL || type->id == TYPE_INTERVAL_YM || type->id == TYPE_INTERVAL_DT) {
        if (id != DUCKDB_TYPE_INTERVAL)
            status = wrong_type(type, id, err);
        else if (!convert_intervals(vector, rows, type->id, out))
            status = error_no_memory(err);
    } else {
        status = convert_fixed(vector, type, id, rows, out, err);
    }
    duckdb_destroy_logical_type(&found);
    return status;
}

static silt_status convert(duckdb_vector vector, const data_type *type, const row_set *rows, struct ArrowArray *out,
                           silt_error *err) {
    switch (type->id) {
        case TYPE_STRUCT: return convert_struct(vector, type, rows, out, err);
        case TYPE_ARRAY:
        case TYPE_MAP: return convert_list(vector, type, rows, out, err);
        default: return convert_leaf(vector, type, rows, out, err);
    }
}

silt_status engine_chunk_to_arrow(duckdb_data_chunk chunk, const data_type *struct_type, struct ArrowArray *out,
                                  silt_error *err) {
    row_set rows = {.n = duckdb_data_chunk_get_size(chunk)};
    if (duckdb_data_chunk_get_column_count(chunk) < struct_type->n_fields)
        return err_INTERNAL_ERROR(err, "the engine gave too few columns");
    silt_status status = array_init(out, rows.n, 1, struct_type->n_fields) ? SILT_OK : error_no_memory(err);
    for (size_t i = 0; status == SILT_OK && i < struct_type->n_fields; i++)
        status = convert(duckdb_data_chunk_get_vector(chunk, i), struct_type->fields[i].type, &rows, out->children[i], err);
    if (status != SILT_OK && out->release) out->release(out);
    return status;
}
