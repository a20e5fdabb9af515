/**
 * Bounds of one column. Loops are per storage type and have no branch but the comparison, so that the compiler can make them wide; strings are decided by their
 * first four bytes, which DuckDB keeps beside the length, in all but a few cases.
 *
 * Order is Spark's: NaN is the greatest, -0.0 equals 0.0 (the first seen is kept), strings by bytes.
 */
#include "engine/write_stats_leaf.h"

#include <math.h>
#include <stdlib.h>

#include "table/stats.h"

/* What stats_string_max_of looks at: twice the prefix in UTF-16 units and one character, of up to four bytes each. */
static size_t kept_bytes(const stats_leaf *l) { return 8 * l->prefix + 16; }

bool row_mask_combine(row_mask *out, const row_mask *parent, duckdb_vector vector, size_t from, size_t to) {
    const uint64_t *own = duckdb_vector_get_validity(vector), *above = parent ? parent->words : NULL;
    out->words = own ? own : above;
    if (!own || !above) return true;
    if (to > sizeof out->own * 8) return false;
    for (size_t w = from / 64; w < (to + 63) / 64; w++) out->own[w] = own[w] & above[w];
    out->words = out->own;
    return true;
}

static inline bool is_set(const uint64_t *words, size_t i) { return !words || (words[i >> 6] >> (i & 63) & 1); }

void stats_leaf_init(stats_leaf *l, const data_type *type, size_t prefix) {
    l->type = type;
    l->prefix = prefix;
    stats_leaf_reset(l);
}

void stats_leaf_dispose(stats_leaf *l) {
    free(l->text_low.bytes);
    free(l->text_high.bytes);
}

void stats_leaf_reset(stats_leaf *l) {
    l->nulls = 0;
    l->has_value = l->has_number = l->has_nan = false;
    l->text_low.len = l->text_high.len = 0;
}

/* ---- numbers ---- */

static void widen(stats_leaf *l, int128 low, int128 high) {
    if (!l->has_value || low < l->low) l->low = low;
    if (!l->has_value || high > l->high) l->high = high;
    l->has_value = true;
}

#define ADD_INTEGERS(name, type, greatest, least)                                                      \
    static void name(stats_leaf *l, const void *data, const uint64_t *words, size_t from, size_t to) { \
        const type *v = data;                                                                          \
        type low = greatest, high = least;                                                             \
        size_t n = 0;                                                                                  \
        if (!words) {                                                                                  \
            for (size_t i = from; i < to; i++) {                                                       \
                low = v[i] < low ? v[i] : low;                                                         \
                high = v[i] > high ? v[i] : high;                                                      \
            }                                                                                          \
            n = to - from;                                                                             \
        } else {                                                                                       \
            for (size_t i = from; i < to; i++) {                                                       \
                if (!is_set(words, i)) continue;                                                       \
                n++;                                                                                   \
                low = v[i] < low ? v[i] : low;                                                         \
                high = v[i] > high ? v[i] : high;                                                      \
            }                                                                                          \
        }                                                                                              \
        if (n) widen(l, low, high);                                                                    \
    }

#define INT128_GREATEST ((int128)(~(unsigned __int128)0 >> 1))

ADD_INTEGERS(add_i8, int8_t, INT8_MAX, INT8_MIN)
ADD_INTEGERS(add_i16, int16_t, INT16_MAX, INT16_MIN)
ADD_INTEGERS(add_i32, int32_t, INT32_MAX, INT32_MIN)
ADD_INTEGERS(add_i64, int64_t, INT64_MAX, INT64_MIN)

/* Read by memcpy: DuckDB aligns its 16-byte integers to 8. */
static void add_i128(stats_leaf *l, const void *data, const uint64_t *words, size_t from, size_t to) {
    int128 low = INT128_GREATEST, high = -INT128_GREATEST - 1;
    size_t n = 0;
    for (size_t i = from; i < to; i++) {
        if (!is_set(words, i)) continue;
        int128 v;
        memcpy(&v, (const char *)data + i * sizeof v, sizeof v);
        n++;
        low = v < low ? v : low;
        high = v > high ? v : high;
    }
    if (n) widen(l, low, high);
}

/* Comparisons with NaN are false, so NaN takes no part in low and high. */
#define ADD_FLOATS(name, type)                                                                                  \
    static void name(stats_leaf *l, const void *data, const uint64_t *words, size_t from, size_t to) {          \
        const type *v = data;                                                                                   \
        double low = l->has_number ? l->float_low : INFINITY, high = l->has_number ? l->float_high : -INFINITY; \
        size_t n = 0, nans = 0;                                                                                 \
        for (size_t i = from; i < to; i++) {                                                                    \
            if (!is_set(words, i)) continue;                                                                    \
            double x = (double)v[i];                                                                            \
            n++;                                                                                                \
            nans += x != x;                                                                                     \
            low = x < low ? x : low;                                                                            \
            high = x > high ? x : high;                                                                         \
        }                                                                                                       \
        l->float_low = low;                                                                                     \
        l->float_high = high;                                                                                   \
        l->has_number |= n > nans;                                                                              \
        l->has_nan |= nans > 0;                                                                                 \
        l->has_value |= n > 0;                                                                                  \
    }

ADD_FLOATS(add_f32, float)
ADD_FLOATS(add_f64, double)

/* ---- strings ---- */

static bool keep_text(const stats_leaf *l, kept_text *k, str s, uint32_t head) {
    size_t len = s.len < kept_bytes(l) ? s.len : kept_bytes(l);
    if (len > k->capacity) {
        char *grown = realloc(k->bytes, len * 2);
        if (!grown) return false;
        k->bytes = grown;
        k->capacity = len * 2;
    }
    if (len) memcpy(k->bytes, s.ptr, len);
    k->len = len;
    k->head = head;
    return true;
}

static str kept_str(const kept_text *k) { return (str){k->bytes ? k->bytes : "", k->len}; }

static inline uint32_t head_of(const duckdb_string_t *s) {
    uint32_t raw;
    memcpy(&raw, s->value.pointer.prefix, sizeof raw); /* zero-padded when shorter; the same place in both forms */
    return __builtin_bswap32(raw);
}

static bool first_text(stats_leaf *l, duckdb_string_t *s) {
    str text = {duckdb_string_t_data(s), duckdb_string_t_length(*s)};
    l->has_value = true;
    return keep_text(l, &l->text_low, text, head_of(s)) && keep_text(l, &l->text_high, text, head_of(s));
}

static bool add_texts(stats_leaf *l, const void *data, const uint64_t *words, size_t from, size_t to) {
    duckdb_string_t *v = (duckdb_string_t *)(uintptr_t)data;
    for (size_t i = from; i < to; i++) {
        if (!is_set(words, i)) continue;
        if (!l->has_value) {
            if (!first_text(l, &v[i])) return false;
            continue;
        }
        uint32_t head = head_of(&v[i]);
        if (head > l->text_low.head && head < l->text_high.head) continue;
        str text = {duckdb_string_t_data(&v[i]), duckdb_string_t_length(v[i])};
        if (head <= l->text_low.head && str_cmp(text, kept_str(&l->text_low)) < 0 && !keep_text(l, &l->text_low, text, head))
            return false;
        if (head >= l->text_high.head && str_cmp(text, kept_str(&l->text_high)) > 0 && !keep_text(l, &l->text_high, text, head))
            return false;
    }
    return true;
}

/* ---- one vector ---- */

static size_t count_nulls(const uint64_t *words, size_t from, size_t to) {
    size_t nulls = 0;
    if (!words) return 0;
    for (size_t i = from; i < to;) {
        if ((i & 63) == 0 && to - i >= 64) {
            nulls += 64 - (size_t)__builtin_popcountll(words[i >> 6]);
            i += 64;
        } else {
            nulls += !is_set(words, i);
            i++;
        }
    }
    return nulls;
}

static void add_decimals(stats_leaf *l, const void *data, const uint64_t *words, size_t from, size_t to) {
    if (l->type->precision <= 4)
        add_i16(l, data, words, from, to);
    else if (l->type->precision <= 9)
        add_i32(l, data, words, from, to);
    else if (l->type->precision <= 18)
        add_i64(l, data, words, from, to);
    else
        add_i128(l, data, words, from, to);
}

bool stats_leaf_add(stats_leaf *l, duckdb_vector vector, const row_mask *mask, size_t from, size_t to, bool bounded) {
    l->nulls += (int64_t)count_nulls(mask->words, from, to);
    if (!bounded) return true;
    const void *data = duckdb_vector_get_data(vector);
    switch (l->type->id) {
        case TYPE_BYTE: add_i8(l, data, mask->words, from, to); return true;
        case TYPE_SHORT: add_i16(l, data, mask->words, from, to); return true;
        case TYPE_INT:
        case TYPE_DATE: add_i32(l, data, mask->words, from, to); return true;
        case TYPE_LONG:
        case TYPE_TIMESTAMP:
        case TYPE_TIMESTAMP_NTZ: add_i64(l, data, mask->words, from, to); return true;
        case TYPE_FLOAT: add_f32(l, data, mask->words, from, to); return true;
        case TYPE_DOUBLE: add_f64(l, data, mask->words, from, to); return true;
        case TYPE_DECIMAL: add_decimals(l, data, mask->words, from, to); return true;
        case TYPE_STRING: return add_texts(l, data, mask->words, from, to);
        default: return true;
    }
}

bool stats_leaf_merge(stats_leaf *into, const stats_leaf *other) {
    into->nulls += other->nulls;
    if (!other->has_value) return true;
    if (into->type->id == TYPE_STRING) {
        bool first = !into->has_value;
        into->has_value = true;
        if ((first || str_cmp(kept_str(&other->text_low), kept_str(&into->text_low)) < 0) &&
            !keep_text(into, &into->text_low, kept_str(&other->text_low), other->text_low.head))
            return false;
        return (!first && str_cmp(kept_str(&other->text_high), kept_str(&into->text_high)) <= 0) ||
               keep_text(into, &into->text_high, kept_str(&other->text_high), other->text_high.head);
    }
    if (into->type->id == TYPE_FLOAT || into->type->id == TYPE_DOUBLE) {
        if (other->has_number && (!into->has_number || other->float_low < into->float_low)) into->float_low = other->float_low;
        if (other->has_number && (!into->has_number || other->float_high > into->float_high))
            into->float_high = other->float_high;
        into->has_number |= other->has_number;
        into->has_nan |= other->has_nan;
        into->has_value = true;
        return true;
    }
    widen(into, other->low, other->high);
    return true;
}

/* ---- writing ---- */

static bool write_text(const stats_leaf *l, bool is_max, buf *out) {
    if (!is_max) {
        json_write_str(out, stats_string_min_of(kept_str(&l->text_low), l->prefix));
        return true;
    }
    buf cut;
    buf_init(&cut, BUF_MAX_DEFAULT);
    bool known = stats_string_max_of(&cut, kept_str(&l->text_high), l->prefix);
    if (known) json_write_str(out, buf_str(&cut));
    if (!buf_ok(&cut)) out->failed = true;
    buf_dispose(&cut);
    return known;
}

bool stats_leaf_write(const stats_leaf *l, bool is_max, buf *out) {
    if (!l->has_value) return false;
    value v = {.type = l->type};
    switch (l->type->id) {
        case TYPE_STRING: return write_text(l, is_max, out);
        case TYPE_FLOAT:
        case TYPE_DOUBLE:
            v.as.f64 = is_max ? (l->has_nan ? (double)NAN : l->float_high) : (l->has_number ? l->float_low : (double)NAN);
            break;
        case TYPE_DECIMAL: v.as.decimal = is_max ? l->high : l->low; break;
        default: v.as.i64 = (int64_t)(is_max ? l->high : l->low); break;
    }
    value_write_stats_json(out, &v);
    return true;
}
