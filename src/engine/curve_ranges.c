/*
 * A value's range is found by a binary search over the bounds. Bounds are quantiles of the sample, so a value that many rows have is several bounds at once: it gets the middle of
 * what these would have been, and so a range of its own; a column of two values, too, thus uses the highest bit of its numbers and is not drowned by columns of many.
 */
#include "engine/curve_ranges.h"

#include <stdlib.h>
#include <string.h>

#define STEPS      4096
#define KEPT_BYTES 256 /* of a text: more than its order among sampled ones needs */

/* A text of the sample, or a bound. */
typedef struct text_bound {
    uint64_t head; /* first eight bytes, big-endian, zero-padded: decides most comparisons */
    str text;
} text_bound;

struct curve_ranges {
    range_form form;
    type_id type;
    /* the sample, row by row */
    size_t n_rows, capacity, n_nulls;
    uint8_t *is_null;
    int64_t *i64;
    int128 *i128;
    size_t *text_from; /* n_rows + 1 places in `bytes` */
    char *bytes;
    size_t n_bytes, bytes_capacity;
    /* the bounds: distinct, ascending */
    size_t n_bounds;
    int64_t *bounds_i64;
    uint32_t *steps; /* of bounds_i64: how many bounds lie below each of STEPS equal steps from the first to the last one */
    unsigned step_shift;
    int128 *bounds_i128;
    text_bound *bounds_text;
    uint32_t *at;      /* range of values equal to bound i */
    uint32_t *between; /* n_bounds + 1: of those below bound i and above the one before it */
    uint32_t null_range;
};

/* ---- values ---- */

bool curve_ranges_take(const data_type *type) {
    switch (type->id) {
        case TYPE_BOOLEAN:
        case TYPE_BYTE:
        case TYPE_SHORT:
        case TYPE_INT:
        case TYPE_LONG:
        case TYPE_FLOAT:
        case TYPE_DOUBLE:
        case TYPE_DECIMAL:
        case TYPE_STRING:
        case TYPE_BINARY:
        case TYPE_DATE:
        case TYPE_TIMESTAMP:
        case TYPE_TIMESTAMP_NTZ: return true;
        default: return false;
    }
}

/* Of a decimal whatever DuckDB computed with: only the physical width counts, since the scale is the same in all rows. */
static duckdb_type storage_of(duckdb_vector vector) {
    duckdb_logical_type t = duckdb_vector_get_column_type(vector);
    duckdb_type id = duckdb_get_type_id(t);
    if (id == DUCKDB_TYPE_DECIMAL) id = duckdb_decimal_internal_type(t);
    duckdb_destroy_logical_type(&t);
    return id;
}

/* -0.0 is 0.0, NaN the greatest; the bits of other floats are in order once the negative ones are turned round. */
static int64_t order_of(double d) {
    int64_t bits;
    if (d == 0) d = 0;
    if (d != d) return INT64_MAX;
    memcpy(&bits, &d, sizeof bits);
    return bits < 0 ? INT64_MIN - bits : bits;
}

#define LOAD(type, row_value)                                   \
    do {                                                        \
        const type *x = (const type *)data + from;              \
        for (size_t i = 0; i < n; i++) out[i] = (row_value);    \
    } while (0)

static void load_i64(duckdb_vector vector, size_t from, size_t n, int64_t *out) {
    const void *data = duckdb_vector_get_data(vector);
    switch (storage_of(vector)) {
        case DUCKDB_TYPE_BOOLEAN: LOAD(uint8_t, x[i] != 0); return;
        case DUCKDB_TYPE_TINYINT: LOAD(int8_t, x[i]); return;
        case DUCKDB_TYPE_SMALLINT: LOAD(int16_t, x[i]); return;
        case DUCKDB_TYPE_INTEGER:
        case DUCKDB_TYPE_DATE: LOAD(int32_t, x[i]); return;
        case DUCKDB_TYPE_FLOAT: LOAD(float, order_of((double)x[i])); return;
        case DUCKDB_TYPE_DOUBLE: LOAD(double, order_of(x[i])); return;
        default: LOAD(int64_t, x[i]); return;
    }
}

static int128 i128_at(duckdb_vector vector, size_t row) {
    int128 v;
    memcpy(&v, (const char *)duckdb_vector_get_data(vector) + row * sizeof v, sizeof v);
    return v;
}

static str text_at(duckdb_vector vector, size_t row) {
    duckdb_string_t *s = (duckdb_string_t *)duckdb_vector_get_data(vector) + row;
    return (str){duckdb_string_t_data(s), duckdb_string_t_length(*s)};
}

static uint64_t head_of(str s) {
    unsigned char bytes[8] = {0};
    uint64_t head = 0;
    memcpy(bytes, s.ptr, s.len < 8 ? s.len : 8);
    for (int i = 0; i < 8; i++) head = head << 8 | bytes[i];
    return head;
}

static int compare_text(const text_bound *a, const text_bound *b) {
    if (a->head != b->head) return a->head < b->head ? -1 : 1;
    size_t n = a->text.len < b->text.len ? a->text.len : b->text.len;
    int by = n ? memcmp(a->text.ptr, b->text.ptr, n) : 0;
    return by ? by : (a->text.len > b->text.len) - (a->text.len < b->text.len);
}

static bool row_is_null(const uint64_t *valid, size_t row) { return valid && !((valid[row / 64] >> (row % 64)) & 1); }

/* ---- the sample ---- */

curve_ranges *curve_ranges_new(const data_type *type) {
    curve_ranges *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->type = type->id;
    r->form = type->id == TYPE_STRING || type->id == TYPE_BINARY          ? RANGE_BYTES
              : type->id == TYPE_DECIMAL && type->precision > 18 ? RANGE_I128
                                                                          : RANGE_I64;
    return r;
}

void curve_ranges_free(curve_ranges *r) {
    if (!r) return;
    free(r->is_null);
    free(r->i64);
    free(r->i128);
    free(r->text_from);
    free(r->bytes);
    free(r->bounds_i64);
    free(r->steps);
    free(r->bounds_i128);
    free(r->bounds_text);
    free(r->at);
    free(r->between);
    free(r);
}

range_form curve_ranges_form(const curve_ranges *r) { return r->form; }
size_t curve_ranges_sample_rows(const curve_ranges *r) { return r->n_rows; }

static bool grow(void **at, size_t count, size_t size) {
    void *made = realloc(*at, (count ? count : 1) * size);
    if (made) *at = made;
    return made != NULL;
}

static bool reserve_rows(curve_ranges *r, size_t more) {
    if (r->n_rows + more <= r->capacity) return true;
    size_t capacity = r->capacity ? r->capacity : 4096;
    while (capacity < r->n_rows + more) capacity *= 2;
    bool ok = grow((void **)&r->is_null, capacity, 1);
    if (r->form == RANGE_I64) ok = ok && grow((void **)&r->i64, capacity, sizeof *r->i64);
    if (r->form == RANGE_I128) ok = ok && grow((void **)&r->i128, capacity, sizeof *r->i128);
    if (r->form == RANGE_BYTES) ok = ok && grow((void **)&r->text_from, capacity + 1, sizeof *r->text_from);
    if (ok) r->capacity = capacity;
    return ok;
}

static bool add_text(curve_ranges *r, str s) {
    size_t len = s.len < KEPT_BYTES ? s.len : KEPT_BYTES;
    if (r->n_bytes + len > r->bytes_capacity) {
        size_t capacity = 2 * (r->n_bytes + len) + 4096;
        if (!grow((void **)&r->bytes, capacity, 1)) return false;
        r->bytes_capacity = capacity;
    }
    if (len) memcpy(r->bytes + r->n_bytes, s.ptr, len);
    r->n_bytes += len;
    return true;
}

bool curve_ranges_sample(curve_ranges *r, duckdb_vector vector, size_t n) {
    const uint64_t *valid = duckdb_vector_get_validity(vector);
    if (!reserve_rows(r, n)) return false;
    if (r->form == RANGE_I64) load_i64(vector, 0, n, r->i64 + r->n_rows);
    if (r->form == RANGE_BYTES) r->text_from[r->n_rows] = r->n_bytes;
    for (size_t i = 0; i < n; i++) {
        bool null = row_is_null(valid, i);
        r->is_null[r->n_rows + i] = null;
        r->n_nulls += null;
        if (r->form == RANGE_I128) r->i128[r->n_rows + i] = null ? 0 : i128_at(vector, i);
        if (r->form != RANGE_BYTES) continue;
        if (!null && !add_text(r, text_at(vector, i))) return false;
        r->text_from[r->n_rows + i + 1] = r->n_bytes;
    }
    r->n_rows += n;
    return true;
}

/* ---- bounds ---- */

static int by_i64(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}
static int by_i128(const void *a, const void *b) {
    int128 x = *(const int128 *)a, y = *(const int128 *)b;
    return (x > y) - (x < y);
}
static int by_text(const void *a, const void *b) { return compare_text(a, b); }

static text_bound sampled_text(const curve_ranges *r, size_t row) {
    str s = {r->bytes ? r->bytes + r->text_from[row] : "", r->text_from[row + 1] - r->text_from[row]};
    return (text_bound){head_of(s), s};
}

/* The values that are not null, sorted; they become the distinct bounds in place. NULL on exhaustion. */
static void *sorted_values(curve_ranges *r, size_t *out_size, int (**out_compare)(const void *, const void *)) {
    size_t n = r->n_rows - r->n_nulls, size, at = 0;
    size = r->form == RANGE_I64 ? sizeof *r->i64 : r->form == RANGE_I128 ? sizeof *r->i128 : sizeof *r->bounds_text;
    char *values = calloc(n ? n : 1, size);
    for (size_t i = 0; values && i < r->n_rows; i++) {
        if (r->is_null[i]) continue;
        text_bound t;
        if (r->form == RANGE_BYTES) t = sampled_text(r, i);
        const void *from = r->form == RANGE_I64 ? (const void *)&r->i64[i] : r->form == RANGE_I128 ? (const void *)&r->i128[i] : (const void *)&t;
        memcpy(values + at++ * size, from, size);
    }
    *out_size = size;
    *out_compare = r->form == RANGE_I64 ? by_i64 : r->form == RANGE_I128 ? by_i128 : by_text;
    if (values) qsort(values, n, size, *out_compare);
    return values;
}

static void keep_bounds(curve_ranges *r, void *values) {
    if (r->form == RANGE_I64) r->bounds_i64 = values;
    if (r->form == RANGE_I128) r->bounds_i128 = values;
    if (r->form == RANGE_BYTES) r->bounds_text = values;
}

static bool make_steps(curve_ranges *r) {
    r->steps = calloc(STEPS + 1, sizeof *r->steps);
    if (!r->steps || r->n_bounds == 0) return r->steps != NULL;
    uint64_t first = (uint64_t)r->bounds_i64[0], width = (uint64_t)r->bounds_i64[r->n_bounds - 1] - first;
    while (width >> r->step_shift >= STEPS) r->step_shift++;
    size_t below = 0;
    for (size_t step = 0; step <= STEPS; step++) {
        while (below < r->n_bounds && ((uint64_t)r->bounds_i64[below] - first) >> r->step_shift < step) below++;
        r->steps[step] = (uint32_t)below;
    }
    return true;
}

bool curve_ranges_end(curve_ranges *r, int bits) {
    size_t ranges = (size_t)1 << bits, size, quantile = 1;
    int (*compare)(const void *, const void *);
    char *values = sorted_values(r, &size, &compare);
    r->at = calloc(ranges, sizeof *r->at);
    r->between = calloc(ranges + 1, sizeof *r->between);
    if (values) keep_bounds(r, values);
    if (!values || !r->at || !r->between) return false;
    if (r->n_rows == 0) return true;
    while (quantile < ranges && quantile * r->n_rows / ranges < r->n_nulls) quantile++;
    r->null_range = (uint32_t)((quantile - 1) / 2);
    for (size_t end; quantile < ranges; quantile = end) { /* quantiles [quantile, end) are the same value: one bound */
        char *bound = values + (quantile * r->n_rows / ranges - r->n_nulls) * size;
        for (end = quantile + 1; end < ranges; end++)
            if (compare(bound, values + (end * r->n_rows / ranges - r->n_nulls) * size) != 0) break;
        r->between[r->n_bounds] = (uint32_t)(quantile - 1);
        r->at[r->n_bounds] = (uint32_t)((quantile + end - 2) / 2);
        memmove(values + r->n_bounds++ * size, bound, size);
    }
    r->between[r->n_bounds] = (uint32_t)(ranges - 1);
    return r->form != RANGE_I64 || make_steps(r);
}

/* ---- ranges of values ---- */

/* Number of bounds below the value: the step that it is in leaves few to look at, unless values are very unevenly spread. */
static size_t place_i64(const curve_ranges *r, int64_t v) {
    const int64_t *bounds = r->bounds_i64;
    if (r->n_bounds == 0 || v <= bounds[0]) return 0;
    if (v > bounds[r->n_bounds - 1]) return r->n_bounds;
    size_t step = (size_t)(((uint64_t)v - (uint64_t)bounds[0]) >> r->step_shift), low = r->steps[step], high = r->steps[step + 1];
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (bounds[middle] < v)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static size_t place_i128(const curve_ranges *r, int128 v) {
    size_t low = 0, high = r->n_bounds;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (r->bounds_i128[middle] < v)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static size_t place_text(const curve_ranges *r, const text_bound *v) {
    size_t low = 0, high = r->n_bounds;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (compare_text(&r->bounds_text[middle], v) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint32_t range_at(const curve_ranges *r, size_t place, bool is_bound) { return is_bound ? r->at[place] : r->between[place]; }

static uint32_t range_of_i64(const curve_ranges *r, int64_t v) {
    size_t place = place_i64(r, v);
    return range_at(r, place, place < r->n_bounds && r->bounds_i64[place] == v);
}

static uint32_t range_of_i128(const curve_ranges *r, int128 v) {
    size_t place = place_i128(r, v);
    return range_at(r, place, place < r->n_bounds && r->bounds_i128[place] == v);
}

static uint32_t range_of_text(const curve_ranges *r, str s) {
    if (s.len > KEPT_BYTES) s.len = KEPT_BYTES; /* as bounds are */
    text_bound v = {head_of(s), s};
    size_t place = place_text(r, &v);
    return range_at(r, place, place < r->n_bounds && compare_text(&r->bounds_text[place], &v) == 0);
}

static void ranges_of_i64(const curve_ranges *r, duckdb_vector vector, size_t n, uint32_t *out) {
    int64_t values[256];
    for (size_t from = 0, more; from < n; from += more) {
        more = n - from < ARRAY_LEN(values) ? n - from : ARRAY_LEN(values);
        load_i64(vector, from, more, values);
        for (size_t i = 0; i < more; i++) out[from + i] = range_of_i64(r, values[i]);
    }
}

void curve_ranges_of(const curve_ranges *r, duckdb_vector vector, size_t n, uint32_t *out) {
    const uint64_t *valid = duckdb_vector_get_validity(vector);
    if (r->form == RANGE_I64) ranges_of_i64(r, vector, n, out);
    for (size_t i = 0; i < n; i++) {
        if (row_is_null(valid, i))
            out[i] = r->null_range;
        else if (r->form == RANGE_I128)
            out[i] = range_of_i128(r, i128_at(vector, i));
        else if (r->form == RANGE_BYTES)
            out[i] = range_of_text(r, text_at(vector, i));
    }
}

void curve_ranges_of_sample(const curve_ranges *r, uint32_t *out) {
    for (size_t i = 0; i < r->n_rows; i++) {
        if (r->is_null[i])
            out[i] = r->null_range;
        else if (r->form == RANGE_I64)
            out[i] = range_of_i64(r, r->i64[i]);
        else
            out[i] = r->form == RANGE_I128 ? range_of_i128(r, r->i128[i]) : range_of_text(r, sampled_text(r, i).text);
    }
}

/* Bounds of texts stand in the sample: they move into memory of their own. */
static bool own_bounds(curve_ranges *r) {
    size_t n = 0, at = 0;
    for (size_t i = 0; i < r->n_bounds; i++) n += r->bounds_text[i].text.len;
    char *bytes = malloc(n ? n : 1);
    if (!bytes) return false;
    for (size_t i = 0; i < r->n_bounds; i++) {
        str *s = &r->bounds_text[i].text;
        memcpy(bytes + at, s->ptr, s->len);
        s->ptr = bytes + at;
        at += s->len;
    }
    free(r->bytes);
    r->bytes = bytes;
    return true;
}

static bool shrink(void **at, size_t n, size_t size) { return !*at || grow(at, n, size); }

bool curve_ranges_drop_sample(curve_ranges *r) {
    if (r->form == RANGE_BYTES && !own_bounds(r)) return false;
    free(r->is_null);
    free(r->i64);
    free(r->i128);
    free(r->text_from);
    r->is_null = NULL;
    r->i64 = NULL;
    r->i128 = NULL;
    r->text_from = NULL;
    r->n_rows = r->n_nulls = r->capacity = 0;
    return shrink((void **)&r->bounds_i64, r->n_bounds, sizeof *r->bounds_i64) &&
           shrink((void **)&r->bounds_i128, r->n_bounds, sizeof *r->bounds_i128) &&
           shrink((void **)&r->bounds_text, r->n_bounds, sizeof *r->bounds_text);
}

void curve_ranges_values(duckdb_vector vector, size_t n, int64_t *out) {
    const uint64_t *valid = duckdb_vector_get_validity(vector);
    load_i64(vector, 0, n, out);
    for (size_t i = 0; valid && i < n; i++)
        if (row_is_null(valid, i)) out[i] = INT64_MIN;
}

void curve_ranges_sample_values(const curve_ranges *r, int64_t *out) {
    for (size_t i = 0; i < r->n_rows; i++) out[i] = r->is_null[i] ? INT64_MIN : r->i64[i];
}
