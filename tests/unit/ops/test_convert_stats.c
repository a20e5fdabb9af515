/* Which bounds of a footer are believed. One row per rule: what the footer says, who wrote it, and whether that is certain. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ops/maintain/convert_stats.h"

#define MR  "parquet-mr version 1.13.1 (build x)"
#define CPP "parquet-cpp-arrow version 17.0.0"
#define ANY "somebody's writer 1.0"

static str bytes_of(arena *a, const void *data, size_t n) { return arena_str(a, (str){data, n}); }

typedef struct column_case {
    parquet_element e;
    const data_type *type;
    parquet_chunk chunk;
    const char *writer;
    bool no_order, required, nested, rebased;
} column_case;

static slot_stats stats_of(const column_case *c) {
    slot_stats s;
    slot_column column = {.is_optional = !c->required, .is_nested = c->nested, .element = c->e};
    stats_slot slot = {.type = c->type, .is_bounded = c->type->id != TYPE_BOOLEAN && c->type->id != TYPE_BINARY};
    parquet_footer f = {.n_rows = 10, .n_leaves = 1, .n_row_groups = 1, .chunks = &c->chunk, .created_by = str_of(c->writer), .has_type_order = !c->no_order, .is_rebased = c->rebased};
    slot_stats_of_footer(&f, &column, &slot, &s);
    if (c->rebased) slot_stats_drop_old_times(&s, c->type);
    return s;
}

static parquet_chunk chunk_of(arena *a, const void *min, const void *max, size_t n) {
    return (parquet_chunk){.values = 10, .nulls = 2, .min = bytes_of(a, min, n), .max = bytes_of(a, max, n)};
}

static void certain(const column_case *c, int64_t nulls) {
    slot_stats s = stats_of(c);
    assert_true(s.has_bounds);
    assert_false(s.is_uncertain);
    assert_int_equal(s.nulls, nulls);
}

static void uncertain(const column_case *c) {
    slot_stats s = stats_of(c);
    assert_false(s.has_bounds);
    assert_true(s.is_uncertain);
}

static void numbers(void **state) {
    (void)state;
    arena *a = arena_new();
    int32_t low = -5, high = 7;
    uint32_t great = 4000000000u, little = 3;
    int64_t long_low = -5, long_high = 7;
    column_case c = {.e = {.physical = PARQUET_INT32}, .type = &type_int, .chunk = chunk_of(a, &low, &high, 4), .writer = ANY};
    certain(&c, 2);
    assert_int_equal(stats_of(&c).min.as.i64, -5);
    c.no_order = true;
    uncertain(&c);
    c.chunk.old_min = c.chunk.min, c.chunk.old_max = c.chunk.max, c.chunk.min = c.chunk.max = STR_NULL;
    certain(&c, 2); /* the old pair is in signed order, which is an integer's */
    c.e.meaning = PARQUET_INTEGER, c.e.bits = 32;
    uncertain(&c); /* but not an unsigned one's */
    c = (column_case){.e = {.physical = PARQUET_INT32, .meaning = PARQUET_INTEGER, .bits = 32}, .type = &type_long, .chunk = chunk_of(a, &little, &great, 4), .writer = ANY};
    certain(&c, 2);
    assert_int_equal(stats_of(&c).max.as.i64, 4000000000LL);
    c.chunk = chunk_of(a, &great, &little, 4);
    uncertain(&c); /* the least above the greatest */
    c = (column_case){.e = {.physical = PARQUET_INT64}, .type = &type_long, .chunk = chunk_of(a, &long_low, &long_high, 3), .writer = ANY};
    uncertain(&c); /* too few bytes */
    c = (column_case){.e = {.physical = PARQUET_INT32}, .type = &type_byte, .chunk = chunk_of(a, &little, &great, 4), .writer = ANY};
    uncertain(&c);
    c = (column_case){.e = {.physical = PARQUET_INT64, .meaning = PARQUET_TIMESTAMP, .unit = PARQUET_MILLIS}, .type = &type_timestamp, .chunk = chunk_of(a, &long_low, &long_high, 8), .writer = ANY};
    certain(&c, 2);
    assert_int_equal(stats_of(&c).max.as.i64, 7000);
    c.e.unit = PARQUET_NANOS;
    uncertain(&c);
    c = (column_case){.e = {.physical = PARQUET_INT96}, .type = &type_timestamp, .chunk = chunk_of(a, "123456789012", "123456789012", 12), .writer = MR};
    uncertain(&c);
    arena_free(a);
}

static void decimals(void **state) {
    (void)state;
    arena *a = arena_new();
    const data_type *d = type_decimal(a, 5, 2), *wide = type_decimal(a, 38, 0);
    column_case c = {.e = {.physical = PARQUET_FIXED, .meaning = PARQUET_DECIMAL}, .type = d, .chunk = chunk_of(a, "\xff\xff\xfe", "\x00\x01\x00", 3), .writer = MR};
    certain(&c, 2);
    assert_true(stats_of(&c).min.as.decimal == -2 && stats_of(&c).max.as.decimal == 256);
    c.writer = ANY;
    uncertain(&c); /* some writers compare these bytes without their sign */
    c = (column_case){.e = {.physical = PARQUET_BYTES, .meaning = PARQUET_DECIMAL}, .type = d, .chunk = chunk_of(a, "\x00\x00\x00\x00", "\x7f\xff\xff\xff", 4), .writer = MR};
    uncertain(&c); /* more digits than the type has */
    c = (column_case){.e = {.physical = PARQUET_BYTES, .meaning = PARQUET_DECIMAL}, .type = wide, .chunk = chunk_of(a, "\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01", "\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x02", 17), .writer = MR};
    uncertain(&c); /* more bytes than a number has */
    arena_free(a);
}

static void floats(void **state) {
    (void)state;
    arena *a = arena_new();
    double low = -1.5, high = 2.5, nan = __builtin_nan("");
    column_case c = {.e = {.physical = PARQUET_DOUBLE}, .type = &type_double, .chunk = chunk_of(a, &low, &high, 8), .writer = MR};
    certain(&c, 2);
    c.chunk = chunk_of(a, &low, &nan, 8);
    uncertain(&c);
    c.chunk = chunk_of(a, &low, &high, 8);
    static const char *const others[] = {CPP, ANY, "parquet-mr version 1.8.1", "parquet-mr version 1.17.0", "parquet-mr", "parquet-mr version 2.0.0", "DuckDB version v1.5.6", ""};
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        c.writer = others[i];
        uncertain(&c);
    }
    arena_free(a);
}

static void strings(void **state) {
    (void)state;
    arena *a = arena_new();
    column_case c = {.e = {.physical = PARQUET_BYTES, .meaning = PARQUET_STRING}, .type = &type_string, .chunk = chunk_of(a, "ab", "zz", 2), .writer = MR};
    certain(&c, 2);
    c.writer = CPP;
    certain(&c, 2);
    c.writer = ANY;
    uncertain(&c); /* it may have cut them without a word */
    c.chunk.exact_is_told = c.chunk.min_is_exact = c.chunk.max_is_exact = true;
    certain(&c, 2);
    c.chunk.max_is_exact = false;
    uncertain(&c);
    c.writer = MR;
    uncertain(&c);
    c.chunk = chunk_of(a, "\xff\xfe", "\xff\xff", 2);
    uncertain(&c); /* no text */
    arena_free(a);
}

static void nulls(void **state) {
    (void)state;
    arena *a = arena_new();
    int32_t v = 1;
    column_case c = {.e = {.physical = PARQUET_INT32}, .type = &type_int, .chunk = chunk_of(a, &v, &v, 4), .writer = ANY};
    c.chunk.nulls = -1;
    assert_true(stats_of(&c).is_uncertain);
    assert_int_equal(stats_of(&c).nulls, -1);
    c.required = true;
    certain(&c, 0);
    c.required = false, c.chunk.nulls = 11;
    assert_int_equal(stats_of(&c).nulls, -1); /* more nulls than values */
    c.chunk.nulls = 10, c.chunk.min = c.chunk.max = STR_NULL;
    assert_false(stats_of(&c).is_uncertain); /* nothing but nulls: no bounds, and nothing to ask for */
    assert_int_equal(stats_of(&c).nulls, 10);
    c.chunk = chunk_of(a, &v, &v, 4), c.nested = true;
    assert_int_equal(stats_of(&c).nulls, -1);
    c.writer = CPP;
    certain(&c, 2);
    c.e.repetition = PARQUET_REPEATED;
    assert_int_equal(stats_of(&c).nulls, -1);
    assert_false(stats_of(&c).is_uncertain); /* of a list nothing is asked */
    arena_free(a);
}

static void old_calendar(void **state) {
    (void)state;
    arena *a = arena_new();
    int32_t day = -150000, recent = -100000, last = 20000;
    column_case c = {.e = {.physical = PARQUET_INT32, .meaning = PARQUET_DATE}, .type = &type_date, .chunk = chunk_of(a, &day, &last, 4), .writer = MR};
    certain(&c, 2);
    c.rebased = true;
    assert_false(stats_of(&c).has_bounds);
    c.chunk = chunk_of(a, &recent, &last, 4);
    certain(&c, 2);
    arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers), cmocka_unit_test(decimals), cmocka_unit_test(floats), cmocka_unit_test(strings), cmocka_unit_test(nulls), cmocka_unit_test(old_calendar)};
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
