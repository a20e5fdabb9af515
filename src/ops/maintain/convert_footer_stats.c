/*
 * What a footer tells of a column with certainty. Believed are
 *
 *   counts of nulls       of columns outside of lists and maps; inside of structs only from writers that are known to count a null struct's fields too
 *   integers, dates,      the pair in the column's own order where column_orders says so; the old pair of signed integers too
 *   times, decimals
 *   strings               only whole ones: marked as exact, or from writers that do not cut
 *   floats                from parquet-mr 1.10 to 1.16, whose maximum is NaN where there is one; others leave it out, and NaN is the greatest
 */
#include <math.h>

#include "ops/maintain/convert_stats.h"

/* ---- writers ---- */

typedef enum writer_kind { WRITER_OTHER, WRITER_PARQUET_MR, WRITER_PARQUET_CPP } writer_kind;

typedef struct writer {
    writer_kind kind;
    int64_t major, minor;
} writer;

static bool read_number(str *s, int64_t *out) {
    size_t n = 0;
    *out = 0;
    while (n < s->len && n < 6 && s->ptr[n] >= '0' && s->ptr[n] <= '9') *out = *out * 10 + (s->ptr[n++] - '0');
    *s = str_slice(*s, n, s->len);
    return n > 0;
}

/* "parquet-mr version 1.13.1 (build …)" */
static writer writer_of(str created_by) {
    writer w = {WRITER_OTHER, 0, 0};
    static const struct {
        const char *name;
        writer_kind kind;
    } known[] = {{"parquet-mr version ", WRITER_PARQUET_MR}, {"parquet-cpp-arrow version ", WRITER_PARQUET_CPP}, {"parquet-cpp version ", WRITER_PARQUET_CPP}};
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (!str_starts_with(created_by, str_of(known[i].name))) continue;
        str rest = str_slice(created_by, strlen(known[i].name), created_by.len);
        if (!read_number(&rest, &w.major) || rest.len == 0 || rest.ptr[0] != '.') return w;
        rest = str_slice(rest, 1, rest.len);
        if (read_number(&rest, &w.minor)) w.kind = known[i].kind;
    }
    return w;
}

static bool tells_nan(writer w) { return w.kind == WRITER_PARQUET_MR && w.major == 1 && w.minor >= 10 && w.minor <= 16; }

static bool keeps_strings_whole(writer w) {
    return (w.kind == WRITER_PARQUET_MR && (w.major > 1 || w.minor >= 10)) || (w.kind == WRITER_PARQUET_CPP && w.major >= 1);
}

static bool counts_nested_nulls(writer w) { return w.kind != WRITER_OTHER; }

/* ---- values ---- */

static bool read_little(str bytes, size_t width, int64_t *out) {
    uint64_t v = 0;
    if (bytes.len != width) return false;
    for (size_t i = 0; i < width; i++) v |= (uint64_t)(unsigned char)bytes.ptr[i] << (8 * i);
    *out = width == 4 ? (int64_t)(int32_t)(uint32_t)v : (int64_t)v;
    return true;
}

/* Two's complement, big endian, of at most 16 bytes that matter. */
static bool read_big(str bytes, int128 *out) {
    if (bytes.len == 0) return false;
    unsigned char sign = (bytes.ptr[0] & 0x80) ? 0xff : 0;
    unsigned __int128 v = sign ? ~(unsigned __int128)0 : 0;
    for (size_t i = 0; i < bytes.len; i++) {
        size_t from_end = bytes.len - i;
        if (from_end > 16 && (unsigned char)bytes.ptr[i] != sign) return false;
        v = v << 8 | (unsigned char)bytes.ptr[i];
    }
    *out = (int128)v;
    return true;
}

static bool fits_digits(int128 v, int precision) {
    int128 most = 1;
    for (int i = 0; i < precision; i++) most *= 10;
    return v < most && v > -most;
}

static bool decode_decimal(const parquet_element *e, str bytes, value *out) {
    int64_t i64;
    bool is_plain = e->physical == PARQUET_BYTES || e->physical == PARQUET_FIXED;
    if (is_plain) {
        if (!read_big(bytes, &out->as.decimal)) return false;
    } else {
        if (!read_little(bytes, e->physical == PARQUET_INT32 ? 4 : 8, &i64)) return false;
        out->as.decimal = i64;
        if (e->meaning == PARQUET_INTEGER) out->as.decimal = (int128)(uint64_t)i64; /* UINT_64 */
    }
    return fits_digits(out->as.decimal, out->type->precision);
}

static bool decode_integer(const parquet_element *e, str bytes, value *out) {
    int64_t v;
    if (e->physical != PARQUET_INT32 && e->physical != PARQUET_INT64) return false;
    if (!read_little(bytes, e->physical == PARQUET_INT32 ? 4 : 8, &v)) return false;
    if (e->meaning == PARQUET_INTEGER && !e->is_signed && e->physical == PARQUET_INT32) v = (int64_t)(uint32_t)v;
    out->as.i64 = v;
    switch (out->type->id) {
        case TYPE_BYTE: return v >= INT8_MIN && v <= INT8_MAX;
        case TYPE_SHORT: return v >= INT16_MIN && v <= INT16_MAX;
        case TYPE_INT:
        case TYPE_DATE: return v >= INT32_MIN && v <= INT32_MAX;
        default: return true;
    }
}

static bool decode_time(const parquet_element *e, str bytes, value *out) {
    int64_t v;
    if (e->physical != PARQUET_INT64 || e->meaning != PARQUET_TIMESTAMP || !read_little(bytes, 8, &v)) return false;
    out->as.i64 = v;
    if (e->unit == PARQUET_MILLIS) return !__builtin_mul_overflow(v, (int64_t)1000, &out->as.i64);
    return e->unit == PARQUET_MICROS;
}

static bool decode_float(const parquet_element *e, str bytes, value *out) {
    if (e->physical == PARQUET_FLOAT && bytes.len == 4) {
        float f;
        memcpy(&f, bytes.ptr, 4);
        out->as.f64 = (double)f;
    } else if (e->physical == PARQUET_DOUBLE && bytes.len == 8) {
        memcpy(&out->as.f64, bytes.ptr, 8);
    } else {
        return false;
    }
    return !isnan(out->as.f64);
}

static bool decode(const parquet_element *e, const data_type *type, str bytes, value *out) {
    *out = (value){.type = type};
    switch (type->id) {
        case TYPE_BYTE:
        case TYPE_SHORT:
        case TYPE_INT:
        case TYPE_LONG:
        case TYPE_DATE: return decode_integer(e, bytes, out);
        case TYPE_TIMESTAMP:
        case TYPE_TIMESTAMP_NTZ: return decode_time(e, bytes, out);
        case TYPE_DECIMAL: return decode_decimal(e, bytes, out);
        case TYPE_FLOAT:
        case TYPE_DOUBLE: return decode_float(e, bytes, out);
        case TYPE_STRING: out->as.bytes = bytes; return e->physical == PARQUET_BYTES && str_is_utf8(bytes);
        default: return false;
    }
}

/* ---- belief ---- */

static bool is_signed_integer(const parquet_element *e) {
    bool is_integer = e->physical == PARQUET_INT32 || e->physical == PARQUET_INT64;
    return is_integer && !(e->meaning == PARQUET_INTEGER && !e->is_signed);
}

static bool may_believe(const parquet_footer *f, const parquet_element *e, const parquet_chunk *c, const data_type *type, writer w) {
    if (!f->has_type_order) return false;
    if (type->id == TYPE_STRING) return c->exact_is_told ? c->min_is_exact && c->max_is_exact : keeps_strings_whole(w);
    if (type->id == TYPE_FLOAT || type->id == TYPE_DOUBLE) return tells_nan(w);
    if (e->physical == PARQUET_BYTES || e->physical == PARQUET_FIXED) return w.kind != WRITER_OTHER || c->exact_is_told;
    return true;
}

static bool chunk_bounds(const parquet_footer *f, const parquet_element *e, const parquet_chunk *c, const data_type *type, writer w, value *min,
                         value *max) {
    bool has_new = !str_is_null(c->min) && !str_is_null(c->max), has_old = !str_is_null(c->old_min) && !str_is_null(c->old_max);
    bool comparable, found = false;
    if (has_new && may_believe(f, e, c, type, w))
        found = decode(e, type, c->min, min) && decode(e, type, c->max, max);
    else if (!has_new && has_old && is_signed_integer(e))
        found = decode(e, type, c->old_min, min) && decode(e, type, c->old_max, max);
    return found && value_compare(min, max, &comparable) <= 0 && comparable;
}

static void widen(slot_stats *s, const value *min, const value *max) {
    bool comparable;
    if (!s->has_bounds || value_compare(min, &s->min, &comparable) < 0) s->min = *min;
    if (!s->has_bounds || value_compare(max, &s->max, &comparable) > 0) s->max = *max;
    s->has_bounds = true;
}

void slot_stats_of_footer(const parquet_footer *f, const slot_column *c, const stats_slot *slot, slot_stats *out) {
    *out = (slot_stats){.nulls = c->is_missing ? f->n_rows : 0};
    if (c->is_missing) return;
    writer w = writer_of(f->created_by);
    bool is_column = c->element.physical != PARQUET_GROUP && c->element.repetition != PARQUET_REPEATED;
    bool bounds_known = true;
    if (!is_column) { /* of a list or map the footer counts something else */
        out->nulls = c->is_optional ? -1 : 0;
        return;
    }
    for (size_t g = 0; g < f->n_row_groups; g++) {
        const parquet_chunk *chunk = &f->chunks[g * f->n_leaves + c->leaf];
        int64_t nulls = !c->is_optional ? 0 : c->is_nested && !counts_nested_nulls(w) ? -1 : chunk->nulls;
        if (chunk->values >= 0 && nulls > chunk->values) nulls = -1;
        bool all_null = nulls >= 0 && nulls == chunk->values;
        value min, max;
        out->nulls = nulls < 0 || out->nulls < 0 ? -1 : out->nulls + nulls;
        if (!slot->is_bounded || all_null) continue;
        if (chunk_bounds(f, &c->element, chunk, slot->type, w, &min, &max))
            widen(out, &min, &max);
        else
            bounds_known = false;
    }
    if (!bounds_known) out->has_bounds = false;
    out->is_uncertain = out->nulls < 0 || !bounds_known;
}

#define OLD_CALENDAR_DAYS ((int64_t)-141427)             /* 1582-10-15 */
#define OLD_ZONES_US      ((int64_t)-2208988800000000LL) /* 1900-01-01 */

void slot_stats_drop_old_times(slot_stats *s, const data_type *type) {
    if (!s->has_bounds) return;
    bool is_time = type->id == TYPE_TIMESTAMP || type->id == TYPE_TIMESTAMP_NTZ;
    if ((type->id == TYPE_DATE && s->min.as.i64 < OLD_CALENDAR_DAYS) || (is_time && s->min.as.i64 < OLD_ZONES_US)) s->has_bounds = false;
}
