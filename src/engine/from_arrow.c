/**
 * Arrow arrays as DuckDB vectors: every layout that arrow_schema_to_type accepts, any offset, dictionaries, large and view types.
 *
 * A row_set names the rows of one array to write; where rows are scattered (dictionaries, lists below them) it carries an index, -1 for null. The offset of an
 * array counts for its own buffers and for the children of a struct, not for the elements of a list.
 */
#include "engine/internal.h"

#include <math.h>
#include <stdlib.h>

typedef struct row_set {
    const int64_t *index; /* logical rows, -1 = null; NULL: first … first + n */
    int64_t first;
    size_t n;
} row_set;

static inline int64_t row_at(const row_set *rows, size_t i) { return rows->index ? rows->index[i] : rows->first + (int64_t)i; }

static inline bool bit_is_set(const uint8_t *bits, int64_t i) { return bits[i >> 3] >> (i & 7) & 1; }

/* Is logical row `row` of the array a value? */
static inline bool is_valid(const struct ArrowArray *a, int64_t row) {
    if (row < 0) return false;
    const uint8_t *bits = a->n_buffers > 0 && a->null_count != 0 ? a->buffers[0] : NULL;
    return !bits || bit_is_set(bits, a->offset + row);
}

static silt_status fill(const struct ArrowSchema *schema, const struct ArrowArray *array, const row_set *rows,
                        const data_type *type, duckdb_vector out, size_t base, silt_error *err);

static void fill_validity(const struct ArrowArray *array, const row_set *rows, duckdb_vector out, size_t base) {
    if (!rows->index && (array->null_count == 0 || array->n_buffers == 0 || !array->buffers[0])) return;
    duckdb_vector_ensure_validity_writable(out);
    uint64_t *validity = duckdb_vector_get_validity(out);
    for (size_t i = 0; i < rows->n; i++)
        if (!is_valid(array, row_at(rows, i))) validity[(base + i) >> 6] &= ~((uint64_t)1 << ((base + i) & 63));
}

/* ---- numbers ---- */

static __int128 read_integer(char format, const void *data, int64_t i) {
    switch (format) {
        case 'c': return ((const int8_t *)data)[i];
        case 'C': return ((const uint8_t *)data)[i];
        case 's': return ((const int16_t *)data)[i];
        case 'S': return ((const uint16_t *)data)[i];
        case 'i': return ((const int32_t *)data)[i];
        case 'I': return ((const uint32_t *)data)[i];
        case 'L': return ((const uint64_t *)data)[i];
        default: return ((const int64_t *)data)[i];
    }
}

static void store_integer(void *data, size_t i, size_t width, __int128 v) { memcpy((char *)data + i * width, &v, width); }

static void fill_integers(char format, const struct ArrowArray *array, const row_set *rows, size_t width, duckdb_vector out,
                          size_t base) {
    void *to = duckdb_vector_get_data(out);
    for (size_t i = 0; i < rows->n; i++) {
        int64_t row = row_at(rows, i);
        store_integer(to, base + i, width, row < 0 ? 0 : read_integer(format, array->buffers[1], array->offset + row));
    }
}

static void fill_same_width(const struct ArrowArray *array, const row_set *rows, size_t width, duckdb_vector out, size_t base) {
    char *to = (char *)duckdb_vector_get_data(out) + base * width;
    const char *from = (const char *)array->buffers[1] + (size_t)array->offset * width;
    if (!rows->index) {
        if (rows->n) memcpy(to, from + (size_t)rows->first * width, rows->n * width);
        return;
    }
    for (size_t i = 0; i < rows->n; i++)
        if (rows->index[i] >= 0) memcpy(to + i * width, from + (size_t)rows->index[i] * width, width);
}

static void fill_booleans(const struct ArrowArray *array, const row_set *rows, duckdb_vector out, size_t base) {
    uint8_t *to = duckdb_vector_get_data(out);
    for (size_t i = 0; i < rows->n; i++) {
        int64_t row = row_at(rows, i);
        to[base + i] = row >= 0 && bit_is_set(array->buffers[1], array->offset + row);
    }
}

static float half_to_float(uint16_t h) {
    int exponent = h >> 10 & 31;
    float fraction = (float)(h & 1023) / 1024.0f;
    float magnitude = exponent == 0    ? ldexpf(fraction, -14)
                      : exponent == 31 ? (fraction != 0.0f ? NAN : INFINITY)
                                       : ldexpf(1.0f + fraction, exponent - 15);
    return h >> 15 ? -magnitude : magnitude;
}

static void fill_halves(const struct ArrowArray *array, const row_set *rows, duckdb_vector out, size_t base) {
    float *to = duckdb_vector_get_data(out);
    const uint16_t *from = array->buffers[1];
    for (size_t i = 0; i < rows->n; i++) {
        int64_t row = row_at(rows, i);
        to[base + i] = row < 0 ? 0.0f : half_to_float(from[array->offset + row]);
    }
}

static silt_status fill_decimals(const struct ArrowSchema *schema, const struct ArrowArray *array, const row_set *rows,
                                 const data_type *type, duckdb_vector out, size_t base, silt_error *err) {
    size_t to_width = type->precision <= 4 ? 2 : type->precision <= 9 ? 4 : type->precision <= 18 ? 8 : 16;
    int bits = 128;
    const char *comma = strchr(schema->format, ',');
    if (comma && (comma = strchr(comma + 1, ','))) bits = atoi(comma + 1);
    size_t from_width = (size_t)bits / 8;
    void *to = duckdb_vector_get_data(out);
    for (size_t i = 0; i < rows->n; i++) {
        int64_t row = row_at(rows, i);
        __int128 v = 0;
        if (is_valid(array, row)) {
            const char *from = (const char *)array->buffers[1] + (size_t)(array->offset + row) * from_width;
            memcpy(&v, from, from_width < 16 ? from_width : 16);
            if (from_width < 16) v = (v << (128 - bits)) >> (128 - bits);
            if (from_width == 32) { /* 256 bits: the upper half must be the sign */
                __int128 upper;
                memcpy(&upper, from + 16, 16);
                if (upper != (v < 0 ? -1 : 0))
                    return err_ARITHMETIC_OVERFLOW(err, STR("A decimal of the Arrow stream has more than 38 digits"));
            }
        }
        store_integer(to, base + i, to_width, v);
    }
    return SILT_OK;
}

/* ---- dates and times ---- */

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

static silt_status fill_timestamps(char unit, const struct ArrowArray *array, const row_set *rows, duckdb_vector out, size_t base,
                                   silt_error *err) {
    if (unit == 'u') {
        fill_same_width(array, rows, 8, out, base);
        return SILT_OK;
    }
    int64_t *to = duckdb_vector_get_data(out);
    int64_t factor = unit == 's' ? 1000000 : unit == 'm' ? 1000 : 0;
    for (size_t i = 0; i < rows->n; i++) {
        int64_t row = row_at(rows, i);
        to[base + i] = 0;
        if (!is_valid(array, row)) continue;
        int64_t v = ((const int64_t *)array->buffers[1])[array->offset + row];
        if (!factor)
            to[base + i] = floor_div(v, 1000);
        else if (__builtin_mul_overflow(v, factor, &to[base + i]))
            return err_ARITHMETIC_OVERFLOW(err, STR("A timestamp of the Arrow stream is out of range"));
    }
    return SILT_OK;
}

static void fill_dates(const struct ArrowArray *array, const row_set *rows, bool milliseconds, duckdb_vector out, size_t base) {
    if (!milliseconds) {
        fill_same_width(array, rows, 4, out, base);
        return;
    }
    int32_t *to = duckdb_vector_get_data(out);
    for (size_t i = 0; i < rows->n; i++) {
        int64_t row = row_at(rows, i);
        to[base + i] = row < 0 ? 0 : (int32_t)floor_div(((const int64_t *)array->buffers[1])[array->offset + row], 86400000);
    }
}

static duckdb_interval interval_at(const char *format, const void *data, int64_t at) {
    struct {
        int32_t months, days;
        int64_t ns;
    } calendar;
    struct {
        int32_t days, ms;
    } day_time;
    if (format[1] == 'D') { /* a duration in s, ms, us or ns */
        int64_t v = ((const int64_t *)data)[at];
        int64_t us = format[2] == 's' ? v * 1000000 : format[2] == 'm' ? v * 1000 : format[2] == 'n' ? floor_div(v, 1000) : v;
        return (duckdb_interval){.micros = us};
    }
    switch (format[2]) {
        case 'M': return (duckdb_interval){.months = ((const int32_t *)data)[at]};
        case 'D':
            memcpy(&day_time, (const char *)data + (size_t)at * sizeof day_time, sizeof day_time);
            return (duckdb_interval){.days = day_time.days, .micros = (int64_t)day_time.ms * 1000};
        default:
            memcpy(&calendar, (const char *)data + (size_t)at * sizeof calendar, sizeof calendar);
            return (duckdb_interval){calendar.months, calendar.days, calendar.ns / 1000};
    }
}

static void fill_intervals(const char *format, const struct ArrowArray *array, const row_set *rows, duckdb_vector out,
                           size_t base) {
    duckdb_interval *to = duckdb_vector_get_data(out);
    for (size_t i = 0; i < rows->n; i++) {
        int64_t row = row_at(rows, i);
        to[base + i] = is_valid(array, row) ? interval_at(format, array->buffers[1], array->offset + row) : (duckdb_interval){0};
    }
}

/* ---- strings ---- */

/* One binary view (16 bytes: length, then 12 inline or prefix, buffer, offset). */
static str view_at(const struct ArrowArray *array, int64_t at) {
    const char *view = (const char *)array->buffers[1] + (size_t)at * 16;
    int32_t length, buffer, offset;
    memcpy(&length, view, 4);
    if (length <= 12) return (str){view + 4, (size_t)length};
    memcpy(&buffer, view + 8, 4);
    memcpy(&offset, view + 12, 4);
    return (str){(const char *)array->buffers[2 + buffer] + offset, (size_t)length};
}

static str bytes_at(const char *format, const struct ArrowArray *array, int64_t row) {
    int64_t at = array->offset + row;
    const char *data = array->n_buffers > 2 ? array->buffers[2] : NULL;
    switch (format[0]) {
        case 'v': return view_at(array, at);
        case 'w': {
            size_t width = (size_t)atoi(format + 2);
            return (str){(const char *)array->buffers[1] + (size_t)at * width, width};
        }
        case 'U':
        case 'Z': {
            const int64_t *offsets = array->buffers[1];
            return (str){data ? data + offsets[at] : "", (size_t)(offsets[at + 1] - offsets[at])};
        }
        default: {
            const int32_t *offsets = array->buffers[1];
            return (str){data ? data + offsets[at] : "", (size_t)(offsets[at + 1] - offsets[at])};
        }
    }
}

static silt_status fill_strings(const struct ArrowSchema *schema, const struct ArrowArray *array, const row_set *rows,
                                const data_type *type, duckdb_vector out, size_t base, silt_error *err) {
    bool check = type->id != TYPE_BINARY;
    for (size_t i = 0; i < rows->n; i++) {
        int64_t row = row_at(rows, i);
        if (!is_valid(array, row)) continue;
        str s = bytes_at(schema->format, array, row);
        if (check && !str_is_utf8(s)) {
            silt_status status = err_FAILED_READ_FILE(err, STR("<Arrow stream>"), "a string is not valid UTF-8");
            error_detail(err, "column %s", schema->name ? schema->name : "");
            return status;
        }
        duckdb_unsafe_vector_assign_string_element_len(out, base + i, s.ptr, s.len);
    }
    return SILT_OK;
}

/* ---- nested ---- */

static silt_status fill_struct(const struct ArrowSchema *schema, const struct ArrowArray *array, const row_set *rows,
                               const data_type *type, duckdb_vector out, size_t base, silt_error *err) {
    int64_t *index = NULL;
    row_set child = {.first = rows->first + array->offset, .n = rows->n};
    if (rows->index && array->offset) {
        index = malloc((rows->n ? rows->n : 1) * sizeof *index);
        if (!index) return error_no_memory(err);
        for (size_t i = 0; i < rows->n; i++) index[i] = rows->index[i] < 0 ? -1 : rows->index[i] + array->offset;
        child.index = index;
    } else {
        child.index = rows->index;
    }
    silt_status status = SILT_OK;
    for (size_t i = 0; status == SILT_OK && i < type->n_fields; i++)
        status = fill(schema->children[i], array->children[i], &child, type->fields[i].type,
                      duckdb_struct_vector_get_child(out, i), base, err);
    free(index);
    return status;
}

typedef struct list_span {
    int64_t from, length;
} list_span;

/* "+l" and "+L" have offsets, "+vl" and "+vL" offsets and sizes, "+w:n" a width. */
static list_span span_at(const char *format, const struct ArrowArray *array, int64_t row) {
    int64_t at = array->offset + row;
    if (format[1] == 'w') {
        int64_t width = atoi(format + 3);
        return (list_span){at * width, width};
    }
    bool view = format[1] == 'v', large = format[view ? 2 : 1] == 'L';
    if (large) {
        const int64_t *offsets = array->buffers[1];
        return (list_span){offsets[at], view ? ((const int64_t *)array->buffers[2])[at] : offsets[at + 1] - offsets[at]};
    }
    const int32_t *offsets = array->buffers[1];
    return (list_span){offsets[at], view ? ((const int32_t *)array->buffers[2])[at] : offsets[at + 1] - offsets[at]};
}

/* Writes the entries and the index of the element rows (malloc'd). */
static bool plan_list(const struct ArrowSchema *schema, const struct ArrowArray *array, const row_set *rows, duckdb_vector out,
                      size_t base, int64_t **out_index, size_t *out_n) {
    size_t start = duckdb_list_vector_get_size(out), total = 0;
    duckdb_list_entry *entries = duckdb_vector_get_data(out);
    size_t capacity = 0;
    int64_t *index = NULL;
    for (size_t i = 0; i < rows->n; i++) {
        int64_t row = row_at(rows, i);
        list_span span = {0, 0};
        if (is_valid(array, row)) span = span_at(schema->format, array, row);
        if (span.length < 0) span.length = 0;
        entries[base + i] = (duckdb_list_entry){start + total, (uint64_t)span.length};
        while (total + (size_t)span.length > capacity) {
            capacity = capacity ? capacity * 2 : 4096;
            if (capacity < total + (size_t)span.length) capacity = total + (size_t)span.length;
            int64_t *grown = realloc(index, capacity * sizeof *index);
            if (!grown) {
                free(index);
                return false;
            }
            index = grown;
        }
        for (int64_t k = 0; k < span.length; k++) index[total++] = span.from + k;
    }
    *out_index = index;
    *out_n = total;
    return true;
}

static silt_status fill_list(const struct ArrowSchema *schema, const struct ArrowArray *array, const row_set *rows,
                             const data_type *type, duckdb_vector out, size_t base, silt_error *err) {
    int64_t *index = NULL;
    size_t n = 0;
    size_t start = duckdb_list_vector_get_size(out);
    if (!plan_list(schema, array, rows, out, base, &index, &n)) return error_no_memory(err);
    silt_status status = SILT_OK;
    if (duckdb_list_vector_reserve(out, start + n) != DuckDBSuccess ||
        duckdb_list_vector_set_size(out, start + n) != DuckDBSuccess)
        status = error_no_memory(err);
    row_set child_rows = {.index = index, .n = n};
    duckdb_vector child = duckdb_list_vector_get_child(out);
    if (status == SILT_OK && n) {
        if (type->id == TYPE_ARRAY)
            status = fill(schema->children[0], array->children[0], &child_rows, type->element, child, start, err);
        else {
            const field entry[2] = {field_make(STR("key"), type->key, false), field_make(STR("value"), type->element, true)};
            const data_type entries = {.id = TYPE_STRUCT, .fields = entry, .n_fields = 2};
            status = fill_struct(schema->children[0], array->children[0], &child_rows, &entries, child, start, err);
        }
    }
    free(index);
    return status;
}

static silt_status fill_dictionary(const struct ArrowSchema *schema, const struct ArrowArray *array, const row_set *rows,
                                   const data_type *type, duckdb_vector out, size_t base, silt_error *err) {
    int64_t *index = malloc((rows->n ? rows->n : 1) * sizeof *index);
    if (!index) return error_no_memory(err);
    for (size_t i = 0; i < rows->n; i++) {
        int64_t row = row_at(rows, i);
        index[i] = is_valid(array, row) ? (int64_t)read_integer(schema->format[0], array->buffers[1], array->offset + row) : -1;
        if (index[i] >= array->dictionary->length) index[i] = -1;
    }
    row_set through = {.index = index, .n = rows->n};
    silt_status status = fill(schema->dictionary, array->dictionary, &through, type, out, base, err);
    free(index);
    return status;
}

/* Run ends are ascending: the run of a logical row is the first whose end lies behind it. */
static silt_status fill_run_ends(const struct ArrowSchema *schema, const struct ArrowArray *array, const row_set *rows,
                                 const data_type *type, duckdb_vector out, size_t base, silt_error *err) {
    int64_t *index = malloc((rows->n ? rows->n : 1) * sizeof *index);
    if (!index) return error_no_memory(err);
    const struct ArrowArray *ends = array->children[0];
    char format = schema->children[0]->format[0];
    for (size_t i = 0; i < rows->n; i++) {
        int64_t row = row_at(rows, i), low = 0, high = ends->length;
        while (row >= 0 && low < high) {
            int64_t middle = low + (high - low) / 2;
            if ((int64_t)read_integer(format, ends->buffers[1], ends->offset + middle) <= array->offset + row)
                low = middle + 1;
            else
                high = middle;
        }
        index[i] = row < 0 || low >= array->children[1]->length ? -1 : low;
    }
    row_set through = {.index = index, .n = rows->n};
    silt_status status = fill(schema->children[1], array->children[1], &through, type, out, base, err);
    free(index);
    return status;
}

/* ---- one column ---- */

static silt_status fill_leaf(const struct ArrowSchema *schema, const struct ArrowArray *array, const row_set *rows,
                             const data_type *type, duckdb_vector out, size_t base, silt_error *err) {
    const char *format = schema->format;
    switch (type->id) {
        case TYPE_BOOLEAN: fill_booleans(array, rows, out, base); return SILT_OK;
        case TYPE_BYTE: fill_integers(format[0], array, rows, 1, out, base); return SILT_OK;
        case TYPE_SHORT: fill_integers(format[0], array, rows, 2, out, base); return SILT_OK;
        case TYPE_INT:
            if (format[0] == 'i')
                fill_same_width(array, rows, 4, out, base);
            else
                fill_integers(format[0], array, rows, 4, out, base);
            return SILT_OK;
        case TYPE_LONG:
            if (format[0] == 'l')
                fill_same_width(array, rows, 8, out, base);
            else
                fill_integers(format[0], array, rows, 8, out, base);
            return SILT_OK;
        case TYPE_FLOAT:
            if (format[0] == 'e')
                fill_halves(array, rows, out, base);
            else
                fill_same_width(array, rows, 4, out, base);
            return SILT_OK;
        case TYPE_DOUBLE: fill_same_width(array, rows, 8, out, base); return SILT_OK;
        case TYPE_DECIMAL:
            if (format[0] == 'L') { /* unsigned 64-bit integers are decimal(20,0) */
                fill_integers('L', array, rows, 16, out, base);
                return SILT_OK;
            }
            return fill_decimals(schema, array, rows, type, out, base, err);
        case TYPE_DATE: fill_dates(array, rows, format[2] == 'm', out, base); return SILT_OK;
        case TYPE_TIMESTAMP:
        case TYPE_TIMESTAMP_NTZ: return fill_timestamps(format[2], array, rows, out, base, err);
        case TYPE_INTERVAL_YM:
        case TYPE_INTERVAL_DT:
        case TYPE_INTERVAL: fill_intervals(format, array, rows, out, base); return SILT_OK;
        default: return fill_strings(schema, array, rows, type, out, base, err);
    }
}

static void fill_nulls(size_t n, duckdb_vector out, size_t base) {
    duckdb_vector_ensure_validity_writable(out);
    uint64_t *validity = duckdb_vector_get_validity(out);
    for (size_t i = base; i < base + n; i++) validity[i >> 6] &= ~((uint64_t)1 << (i & 63));
}

static silt_status fill(const struct ArrowSchema *schema, const struct ArrowArray *array, const row_set *rows,
                        const data_type *type, duckdb_vector out, size_t base, silt_error *err) {
    if (schema->dictionary) return fill_dictionary(schema, array, rows, type, out, base, err);
    if (strcmp(schema->format, "+r") == 0) return fill_run_ends(schema, array, rows, type, out, base, err);
    if (type->id == TYPE_VOID) {
        fill_nulls(rows->n, out, base);
        return SILT_OK;
    }
    fill_validity(array, rows, out, base);
    switch (type->id) {
        case TYPE_STRUCT: return fill_struct(schema, array, rows, type, out, base, err);
        case TYPE_ARRAY:
        case TYPE_MAP: return fill_list(schema, array, rows, type, out, base, err);
        default: return fill_leaf(schema, array, rows, type, out, base, err);
    }
}

silt_status engine_chunk_from_arrow(const struct ArrowSchema *schema, const struct ArrowArray *array, int64_t from, int64_t n,
                                    const data_type *struct_type, duckdb_data_chunk out, silt_error *err) {
    if (schema->n_children < (int64_t)struct_type->n_fields || array->n_children < (int64_t)struct_type->n_fields)
        return err_INTERNAL_ERROR(err, "an Arrow array has fewer columns than its schema");
    row_set rows = {.first = array->offset + from, .n = (size_t)n};
    for (size_t i = 0; i < struct_type->n_fields; i++)
        TRY(fill(schema->children[i], array->children[i], &rows, struct_type->fields[i].type,
                 duckdb_data_chunk_get_vector(out, i), 0, err));
    duckdb_data_chunk_set_size(out, (idx_t)n);
    return SILT_OK;
}
