/* Partition value texts and folder names, against what Spark 4.1 with Delta 4.3 wrote for these values. */
#include "table_test.h"

#include <math.h>

#include "table/value.h"

static value parse_at(arena *a, const char *text, const data_type *type, int32_t offset) {
    value v;
    silt_error err = {0};
    silt_status s = partition_value_parse(str_of(text), text == NULL, type, offset, a, &v, &err);
    if (s != SILT_OK) print_error("'%s': %s\n", text, err.message);
    assert_int_equal(s, SILT_OK);
    assert_ptr_equal(v.type, type);
    return v;
}

static value parse(arena *a, const char *text, const data_type *type) { return parse_at(a, text, type, 0); }

static void assert_writes(arena *a, const value *v, const char *expected) {
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    assert_true(partition_value_write(&b, v));
    assert_string_equal(table_take_text(&b, a), expected);
}

static const char *folder(arena *a, const char *column, const value *v) {
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    partition_folder_write(&b, str_of(column), v, a);
    return table_take_text(&b, a);
}

/* The rows of one table partitioned by every type: the log's text, and the piece of the folder. */
static void spark_texts_round_trip(void **state) {
    arena *a = *state;
    const struct {
        const data_type *type;
        const char *text, *folder;
    } rows[] = {
        {&type_int, "-5", "c=-5"},
        {&type_int, "5", "c=5"},
        {&type_long, "-9223372036854775808", "c=-9223372036854775808"},
        {&type_byte, "-128", "c=-128"},
        {&type_double, "1.0E10", "c=1.0E10"},
        {&type_double, "-0.0", "c=-0.0"},
        {&type_float, "NaN", "c=NaN"},
        {&type_float, "Infinity", "c=Infinity"},
        {&type_double, "-Infinity", "c=-Infinity"},
        {&type_float, "1.5", "c=1.5"},
        {&type_float, "0.1", "c=0.1"},
        {type_decimal(a, 10, 2), "1.50", "c=1.50"},
        {type_decimal(a, 10, 2), "100.00", "c=100.00"},
        {type_decimal(a, 38, 0), "-99999999999999999999999999999999999999", "c=-99999999999999999999999999999999999999"},
        {&type_boolean, "true", "c=true"},
        {&type_boolean, "false", "c=false"},
        {&type_date, "0001-01-01", "c=0001-01-01"},
        {&type_date, "9999-12-31", "c=9999-12-31"},
        {&type_timestamp, "1969-12-31T23:59:59.000001Z", "c=1969-12-31 23%3A59%3A59.000001"},
        {&type_timestamp, "2024-01-01T00:00:00.000000Z", "c=2024-01-01 00%3A00%3A00"},
        {&type_timestamp_ntz, "1969-12-31 23:59:59.1", "c=1969-12-31 23%3A59%3A59.1"},
        {&type_timestamp_ntz, "2024-01-01 00:00:00", "c=2024-01-01 00%3A00%3A00"},
        {&type_string, "a/b c%:", "c=a%2Fb c%25%3A"},
        {&type_string, "é", "c=é"},
        {&type_binary, "éA", "c=éA"},
        {&type_binary, "AB", "c=AB"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        value v = parse(a, rows[i].text, rows[i].type);
        assert_false(v.is_null);
        assert_writes(a, &v, rows[i].text);
        assert_string_equal(folder(a, "c", &v), rows[i].folder);
    }
}

static void values_are_what_the_texts_say(void **state) {
    arena *a = *state;
    assert_true(parse(a, "true", &type_boolean).as.boolean);
    assert_int_equal(parse(a, "0001-01-01", &type_date).as.i64, -719162);
    assert_int_equal(parse(a, "1969-12-31T23:59:59.000001Z", &type_timestamp).as.i64, -999999);
    assert_int_equal(parse(a, "2024-01-01T05:00:00.000000Z", &type_timestamp).as.i64, 1704085200000000);
    assert_int_equal(parse(a, "2024-01-01T00:00:00-05:00", &type_timestamp).as.i64, 1704085200000000);
    assert_true(isnan(parse(a, "NaN", &type_float).as.f64));
    assert_true(parse(a, "0.1", &type_float).as.f64 == (double)0.1f);
    assert_true(signbit(parse(a, "-0.0", &type_double).as.f64) != 0);
    assert_true(parse(a, "1.50", type_decimal(a, 10, 2)).as.decimal == 150);
    assert_int_equal(parse(a, "éA", &type_binary).as.bytes.len, 3);
    /* written before the column was widened */
    assert_true(parse(a, "5", &type_double).as.f64 == 5);
    assert_true(parse(a, "5", type_decimal(a, 12, 2)).as.decimal == 500);
    assert_int_equal(parse(a, "2024-01-01", &type_timestamp_ntz).as.i64, 1704067200000000);
}

/* The old form has no zone: the reader's session decides. */
static void zoneless_timestamps_take_the_given_offset(void **state) {
    arena *a = *state;
    assert_int_equal(parse_at(a, "2024-01-01 00:00:00", &type_timestamp, 0).as.i64, 1704067200000000);
    assert_int_equal(parse_at(a, "2024-01-01 00:00:00", &type_timestamp, -5 * 3600).as.i64, 1704085200000000);
    assert_int_equal(parse_at(a, "2024-01-01T00:00:00.000000Z", &type_timestamp, -5 * 3600).as.i64, 1704067200000000);
    assert_int_equal(parse_at(a, "2024-01-01 00:00:00", &type_timestamp_ntz, -5 * 3600).as.i64, 1704067200000000);
}

static void nulls(void **state) {
    arena *a = *state;
    const data_type *types[] = {&type_string, &type_int, &type_timestamp, &type_binary, &type_void};
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        assert_true(parse(a, NULL, types[i]).is_null);
        assert_true(parse(a, "", types[i]).is_null);
        value v = parse(a, NULL, types[i]);
        buf b;
        buf_init(&b, 100);
        assert_false(partition_value_write(&b, &v));
        assert_int_equal(b.len, 0);
        assert_string_equal(folder(a, "p", &v), "p=__HIVE_DEFAULT_PARTITION__");
    }
    value empty = {.type = &type_string, .as.bytes = STR("")},
          marker = {.type = &type_string, .as.bytes = STR("__HIVE_DEFAULT_PARTITION__")};
    buf b;
    buf_init(&b, 100);
    assert_false(partition_value_write(&b, &empty));
    assert_false(partition_value_write(&b, &marker));
    assert_int_equal(b.len, 0);
    assert_string_equal(folder(a, "p", &empty), "p=__HIVE_DEFAULT_PARTITION__");
}

static void malformed_texts_are_errors(void **state) {
    arena *a = *state;
    const struct {
        const data_type *type;
        const char *text;
    } bad[] = {
        {&type_int, "x"},
        {&type_int, "2147483648"},
        {&type_byte, "128"},
        {&type_short, "-32769"},
        {&type_long, "9223372036854775808"},
        {&type_boolean, "maybe"},
        {&type_double, "1.2.3"},
        {&type_double, "x"},
        {type_decimal(a, 5, 2), "1000.00"},
        {type_decimal(a, 5, 2), "1.001"},
        {&type_date, "yesterday"},
        {&type_date, "2024-13-01"},
        {&type_timestamp, "2024-01-01 25:00:00"},
        {&type_timestamp, "2024-01-01 00:00:00 Europe/Paris"},
        {&type_timestamp_ntz, "2024-01-01T00:00:00+01:00"},
        {&type_void, "x"},
        {&type_variant, "1"},
        {type_array(a, &type_int, true), "[]"},
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        value v;
        silt_error err = {0};
        silt_status s = partition_value_parse(str_of(bad[i].text), false, bad[i].type, 0, a, &v, &err);
        if (s != SILT_CORRUPT) fail_msg("'%s' as %s was taken", bad[i].text, type_sql(bad[i].type, a).ptr);
        assert_string_equal(err.condition, "DELTA_FAILED_CAST_PARTITION_VALUE");
        assert_non_null(strstr(err.message, bad[i].text));
    }
}

/* Every ASCII character in a folder name: escaped by Hive's rule, or left alone. */
static void folder_names_escape_as_hive_does(void **state) {
    arena *a = *state;
    for (char c = 1; c > 0; c++) {
        char text[] = {'x', c, 0};
        bool escaped = c < 0x20 || c == 0x7f || strchr("\"#%'*/:=?\\{[]^", c) != NULL;
        str expected = escaped ? arena_printf(a, "p=x%%%02X", c) : arena_printf(a, "p=x%c", c);
        value v = parse(a, text, &type_string);
        assert_string_equal(folder(a, "p", &v), expected.ptr);
        if (c == 0x7f) break;
    }
    value v = parse(a, "a%2Fb", &type_string);
    assert_string_equal(folder(a, "p", &v), "p=a%252Fb");
    v = parse(a, "\xC2\x85\xC2\xA0😀", &type_string);
    assert_string_equal(folder(a, "a b=c", &v), "a b%3Dc=\xC2\x85\xC2\xA0😀");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_ARENA(spark_texts_round_trip),
        WITH_ARENA(values_are_what_the_texts_say),
        WITH_ARENA(zoneless_timestamps_take_the_given_offset),
        WITH_ARENA(nulls),
        WITH_ARENA(malformed_texts_are_errors),
        WITH_ARENA(folder_names_escape_as_hive_does),
    };
    return RUN_TESTS(tests);
}
