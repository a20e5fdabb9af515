/* Statistics text: bounds as Spark 4.1 with Delta 4.3 writes them, the texts of whole files, and what must count as unknown. */
#include "table_test.h"

#include <math.h>

#include "base/time.h"
#include "table/stats.h"

static const data_type *type_named(arena *a, const char *name) {
    const data_type *t;
    str json = arena_printf(a, "{\"type\":\"struct\",\"fields\":[{\"name\":\"c\",\"type\":\"%s\"}]}", name);
    assert_int_equal(schema_parse_json(json, a, &t, NULL), SILT_OK);
    return t->fields[0].type;
}

static const char *written(arena *a, const value *v) {
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    value_write_stats_json(&b, v);
    return table_take_text(&b, a);
}

/* The value by its partition text, and the bound that Spark wrote for a file holding only it (or as one of its two ends). */
static const struct {
    const char *type, *value, *json;
} bounds[] = {
    {"timestamp", "1969-12-31T23:59:59.123456Z", "\"1969-12-31T23:59:59.123Z\""},
    {"timestamp", "1969-12-31T23:59:59.999999Z", "\"1969-12-31T23:59:59.999Z\""},
    {"timestamp", "1960-06-01T10:00:00.000001Z", "\"1960-06-01T10:00:00.000Z\""},
    {"timestamp", "0001-01-01T00:00:00.000001Z", "\"0001-01-01T00:00:00.000Z\""},
    {"timestamp", "9999-12-31T23:59:59.999999Z", "\"9999-12-31T23:59:59.999Z\""},
    {"timestamp", "-0044-03-15T00:00:00Z", "\"-0044-03-15T00:00:00.000Z\""},
    {"timestamp", "+12345-01-01T00:00:00Z", "\"+12345-01-01T00:00:00.000Z\""},
    {"timestamp", "1582-10-04T00:00:00Z", "\"1582-10-04T00:00:00.000Z\""},
    {"timestamp", "2024-01-01T00:00:00Z", "\"2024-01-01T00:00:00.000Z\""},
    {"timestamp_ntz", "1969-12-31 23:59:59.123456", "\"1969-12-31T23:59:59.123\""},
    {"timestamp_ntz", "2024-01-01 00:00:00", "\"2024-01-01T00:00:00.000\""},
    {"date", "-0044-03-15", "\"-0044-03-15\""},
    {"date", "+12345-01-01", "\"+12345-01-01\""},
    {"float", "1.5", "1.5"},
    {"float", "NaN", "\"NaN\""},
    {"double", "Infinity", "\"Infinity\""},
    {"double", "-Infinity", "\"-Infinity\""},
    {"double", "-0.0", "-0.0"},
    {"double", "4.9E-324", "4.9E-324"},
    {"double", "1.7976931348623157E308", "1.7976931348623157E308"},
    {"float", "0.1", "0.1"},
    {"float", "16777217", "1.6777216E7"},
    {"double", "1e-5", "1.0E-5"},
    {"double", "1e7", "1.0E7"},
    {"decimal(38,0)", "-99999999999999999999999999999999999999", "-99999999999999999999999999999999999999"},
    {"decimal(38,38)", "0.00000000000000000000000000000000000001", "1E-38"},
    {"decimal(38,38)", "0.1", "0.10000000000000000000000000000000000000"},
    {"decimal(10,2)", "1", "1.00"},
    {"decimal(10,2)", "100.50", "100.50"},
    {"byte", "-128", "-128"},
    {"short", "32767", "32767"},
    {"integer", "-2147483648", "-2147483648"},
    {"long", "-9223372036854775808", "-9223372036854775808"},
    {"string", "a\n\"\x01", "\"a\\n\\\"\\u0001\""},
};

static void bounds_are_written_as_spark_writes_them(void **state) {
    arena *a = *state;
    for (size_t i = 0; i < ARRAY_LEN(bounds); i++) {
        value v;
        const data_type *type = type_named(a, bounds[i].type);
        assert_int_equal(partition_value_parse(str_of(bounds[i].value), false, type, 0, a, &v, NULL), SILT_OK);
        assert_string_equal(written(a, &v), bounds[i].json);
    }
}

/* Reading the text and writing it again changes nothing (the texts are fixed points of the cut to milliseconds). */
static void bounds_are_read_exactly(void **state) {
    arena *a = *state;
    for (size_t i = 0; i < ARRAY_LEN(bounds); i++) {
        const json_node *node;
        value v;
        const data_type *type = type_named(a, bounds[i].type);
        assert_int_equal(json_parse(str_of(bounds[i].json), a, &node, NULL), SILT_OK);
        if (!value_from_stats_json(node, type, &v, a)) fail_msg("%s as %s", bounds[i].json, bounds[i].type);
        assert_ptr_equal(v.type, type);
        assert_string_equal(written(a, &v), bounds[i].json);
    }
}

static void every_zone_offset_is_understood(void **state) {
    value v;
    (void)state;
    assert_true(value_from_stats_text(STR("2024-01-01T00:00:00.500-05:00"), true, &type_timestamp, &v)); /* a New York session */
    assert_int_equal(v.as.i64, 1704085200500000);
    assert_true(value_from_stats_text(STR("2024-01-01T05:30:00.500+05:30"), true, &type_timestamp, &v));
    assert_int_equal(v.as.i64, 1704067200500000);
    assert_true(value_from_stats_text(STR("2024-01-01"), true, &type_timestamp_ntz, &v)); /* a DATE before it was widened */
    assert_int_equal(v.as.i64, 1704067200000000);
}

static void doubtful_bounds_are_unknown(void **state) {
    arena *a = *state;
    static const struct {
        const char *type, *text;
        bool quoted;
    } cases[] = {
        {"timestamp", "2024-01-01T00:00:00.000", true},
        {"timestamp", "2024-01-01 00:00:00 Europe/Paris", true},
        {"timestamp", "1704067200000", false},
        {"timestamp_ntz", "2024-01-01T00:00:00.000+01:00", true},
        {"date", "20x4", true},
        {"date", "19000", false},
        {"integer", "2147483648", false},
        {"byte", "-129", false},
        {"integer", "1.5", false},
        {"integer", "5", true},
        {"long", "9223372036854775808", false},
        {"long", "1e400", false},
        {"double", "1.5", true},
        {"double", "nan", true},
        {"double", "inf", true},
        {"double", "1e999", false},
        {"float", "1e39", false},
        {"decimal(5,2)", "1.005", false},
        {"decimal(5,2)", "1000", false},
        {"decimal(5,2)", "NaN", true},
        {"boolean", "true", true},
        {"boolean", "null", false},
        {"string", "5", false},
        {"string", "null", false},
        {"integer", "null", false},
        {"binary", "AB", true},
        {"variant", "0S&u501fk+ze0", true},
        {"void", "1", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        value v;
        if (value_from_stats_text(str_of(cases[i].text), cases[i].quoted, type_named(a, cases[i].type), &v))
            fail_msg("%s as %s was taken", cases[i].text, cases[i].type);
    }
    assert_true(value_from_stats_text(STR("1E3"), false, &type_int, &(value){0}));
    assert_false(value_from_stats_json(NULL, &type_int, &(value){0}, a));
}

#define MAX_CP "\xF4\x8F\xBF\xBF"
#define EMOJI  "\xF0\x9F\x98\x80"

static str repeat(arena *a, const char *piece, int n, const char *tail) {
    str s = STR("");
    for (int i = 0; i < n; i++) s = arena_printf(a, "%s%s", s.ptr, piece);
    return arena_printf(a, "%s%s", s.ptr, tail);
}

static void long_strings_are_cut_as_spark_cuts_them(void **state) {
    arena *a = *state;
    static const struct {
        const char *piece, *tail; /* the value: piece × n + tail */
        int n;
        int min_n; /* minimum: piece × min_n + min_tail */
        const char *min_tail;
        int max_n; /* maximum: piece × max_n + max_tail; NULL tail: none */
        const char *max_tail;
    } cases[] = {
        {"a", "", 31, 31, "", 31, ""},
        {"a", "", 32, 32, "", 32, ""},
        {"a", "", 33, 32, "", 32, "\x7f"},
        {"a", "\x7f", 32, 32, "", 32, MAX_CP},
        {"a", "\xC2\x80", 32, 32, "", 32, MAX_CP},
        {"a", "é", 32, 32, "", 32, MAX_CP},
        {"a", EMOJI "zz", 31, 31, EMOJI, 31, EMOJI "\x7f"},
        {"a", EMOJI, 32, 32, "", 32, MAX_CP},
        {EMOJI, "", 16, 16, "", 16, ""},
        {EMOJI, "", 17, 17, "", 16, MAX_CP},
        {"a", EMOJI, 31, 31, EMOJI, 31, EMOJI},
        {"a", EMOJI, 30, 30, EMOJI, 30, EMOJI},
        {"a", "zz", 32, 32, "", 32, "\x7f"},
        {"a", MAX_CP, 32, 32, "", 32, MAX_CP},
        {MAX_CP, "", 40, 32, "", 0, NULL},
        {"a", MAX_CP "b", 32, 32, "", 32, MAX_CP "\x7f"},
        {"z", "", 45, 32, "", 32, "\x7f"},
        {"", "", 0, 0, "", 0, ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        str s = repeat(a, cases[i].piece, cases[i].n, cases[i].tail);
        assert_true(str_eq(stats_string_min(s), repeat(a, cases[i].piece, cases[i].min_n, cases[i].min_tail)));
        buf b;
        buf_init(&b, BUF_MAX_DEFAULT);
        bool has_max = stats_string_max(&b, s);
        assert_int_equal(has_max, cases[i].max_tail != NULL);
        if (has_max)
            assert_string_equal(table_take_text(&b, a), repeat(a, cases[i].piece, cases[i].max_n, cases[i].max_tail).ptr);
        buf_dispose(&b);
    }
}

/* ---- whole files ---- */

static column_path path1(const uint32_t *index) { return (column_path){index, 1}; }
static column_path path2(const uint32_t *index) { return (column_path){index, 2}; }

/* struct<c:long, s:struct<a:int,b:string>, `x"é`:string, d:double, p:int> with physical names of its own for s. */
static const data_type *sample_schema(arena *a) {
    const data_type *t;
    const char *json = "{\"type\":\"struct\",\"fields\":[{\"name\":\"c\",\"type\":\"long\"},"
                       "{\"name\":\"s\",\"type\":{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"integer\","
                       "\"metadata\":{\"delta.columnMapping.physicalName\":\"col-2\"}},"
                       "{\"name\":\"b\",\"type\":\"string\",\"metadata\":{\"delta.columnMapping.physicalName\":\"col-3\"}}]},"
                       "\"metadata\":{\"delta.columnMapping.physicalName\":\"col-1\"}},"
                       "{\"name\":\"x\\\"é\",\"type\":\"string\"},{\"name\":\"d\",\"type\":\"double\",\"metadata\":{\"delta."
                       "typeChanges\":[{\"toType\":\"double\",\"fromType\":\"float\"}]}},"
                       "{\"name\":\"p\",\"type\":\"integer\"},{\"name\":\"dec\",\"type\":\"decimal(20,2)\"}]}";
    assert_int_equal(schema_parse_json(str_of(json), a, &t, NULL), SILT_OK);
    return t;
}

static const uint32_t C[] = {0}, S[] = {1}, SA[] = {1, 0}, SB[] = {1, 1}, X
[] = {2}, D[] = {3}, P[] = {4}, DEC[] = {5};

static void a_files_text_answers_by_column(void **state) {
    arena *a = *state;
    file_stats f;
    value v;
    int64_t n;
    file_stats_parse(STR(" {\"numRecords\":10,\"minValues\":{\"c\":-3,\"col-1\":{\"col-2\":1,\"col-3\":\"q\"},\"x\\\"\\u00e9\":"
                         "\"\\ud83d\\ude00\\n\"},"
                         "\"maxValues\":{\"c\":7,\"col-1\":{\"col-2\":2}},\"nullCount\":{\"c\":0,\"col-1\":{\"col-2\":4,\"col-"
                         "3\":10},\"x\\\"é\":1},\"tightBounds\":false} "),
                     sample_schema(a), a, &f);
    assert_int_equal(f.num_records, 10);
    assert_false(f.tight_bounds);
    assert_true(file_stats_bound(&f, path1(C), STATS_MIN, &v) && v.as.i64 == -3 && v.type == &type_long);
    assert_true(file_stats_bound(&f, path1(C), STATS_MAX, &v) && v.as.i64 == 7);
    assert_true(file_stats_bound(&f, path2(SA), STATS_MAX, &v) && v.as.i64 == 2);
    assert_true(file_stats_bound(&f, path2(SB), STATS_MIN, &v) && str_eqz(v.as.bytes, "q"));
    assert_false(file_stats_bound(&f, path2(SB), STATS_MAX, &v));
    assert_true(file_stats_bound(&f, path1(X), STATS_MIN, &v) && str_eqz(v.as.bytes, EMOJI "\n"));
    assert_false(file_stats_bound(&f, path1(X), STATS_MAX, &v));
    assert_false(file_stats_bound(&f, path1(S), STATS_MIN, &v));
    assert_true(file_stats_null_count(&f, path2(SB), &n) && n == 10);
    assert_true(file_stats_null_count(&f, path1(X), &n) && n == 1);
    assert_false(file_stats_null_count(&f, path1(S), &n)); /* a struct has no count of its own */
    assert_false(file_stats_null_count(&f, path1(D), &n));
}

/* All from Spark: no bounds at all, empty objects for all-null columns and structs, only numRecords. */
static void absent_parts_are_unknown(void **state) {
    arena *a = *state;
    static const struct {
        const char *json;
        int64_t records;
    } cases[] = {
        {"{\"numRecords\":2,\"nullCount\":{\"c\":0}}", 2},
        {"{\"numRecords\":2,\"minValues\":{},\"maxValues\":{},\"nullCount\":{\"c\":2}}", 2},
        {"{\"numRecords\":1,\"minValues\":{\"col-1\":{\"col-3\":{}}},\"maxValues\":{\"col-1\":{}},\"nullCount\":{\"col-1\":{"
         "\"col-2\":1}}}",
         1},
        {"{\"numRecords\":1}", 1},
        {"{}", -1},
        {"{\"minValues\":null,\"maxValues\":null,\"nullCount\":null,\"numRecords\":null,\"tightBounds\":null}", -1},
        {"{\"numRecords\":-1,\"minValues\":{\"c\":null},\"maxValues\":{\"c\":null}}", -1},
        {"{\"minValues\":[1],\"maxValues\":5,\"numRecords\":\"3\"}", -1},
        {NULL, -1},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        file_stats f;
        value v;
        file_stats_parse(str_of(cases[i].json), sample_schema(a), a, &f);
        assert_int_equal(f.num_records, cases[i].records);
        assert_true(f.tight_bounds);
        assert_false(file_stats_bound(&f, path1(C), STATS_MIN, &v));
        assert_false(file_stats_bound(&f, path1(C), STATS_MAX, &v));
        assert_false(file_stats_bound(&f, path2(SA), STATS_MIN, &v));
        assert_false(file_stats_bound(&f, path2(SB), STATS_MIN, &v));
    }
}

static void malformed_texts_are_unknown_as_a_whole(void **state) {
    arena *a = *state;
    static const char whole[] = "{\"numRecords\":10,\"minValues\":{\"c\":1},\"maxValues\":{\"c\":2},\"nullCount\":{\"c\":0}}";
    file_stats f;
    value v;
    for (size_t cut = 0; cut < sizeof whole - 1; cut++) {
        file_stats_parse((str){whole, cut}, sample_schema(a), a, &f);
        assert_int_equal(f.num_records, -1);
        assert_false(file_stats_bound(&f, path1(C), STATS_MIN, &v));
    }
    static const char *const bad[] = {
        "{\"numRecords\":10}x",
        "{\"numRecords\":10}}",
        "[{\"numRecords\":10}]",
        "{\"numRecords\":10,}",
        "{\"numRecords\":10 \"a\":1}",
        "{\"numRecords\":01}",
        "{\"numRecords\":10{\"a\":1}",
        "{\"numRecords\":10,\"a\":tru}",
        "{\"numRecords\":10,\"a\":\"\\x\"}",
        "{\"numRecords\":10,\"a\":\"\\u12g4\"}",
        "{\"numRecords\":10,\"a\":[1,]}",
        "{\"numRecords\":10,\"a\":.5}",
        "{\"numRecords\":10,\"a\":1.}",
        "{\"numRecords\":10,\"a\":1e}",
        "{\"numRecords\":10,\"a\":NaN}",
        "{\"numRecords\":10,\"a\":\"\n\"}",
        "{numRecords:10}",
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        file_stats_parse(str_of(bad[i]), sample_schema(a), a, &f);
        if (f.num_records != -1) fail_msg("%s was taken", bad[i]);
    }
    file_stats_parse(STR("{\"minValues\":{\"x\\\"é\":\"\\ud83d\"}}"), sample_schema(a), a, &f);
    assert_false(file_stats_bound(&f, path1(X), STATS_MIN, &v)); /* half a surrogate pair */
}

static void partition_values_join_as_constants(void **state) {
    arena *a = *state;
    file_stats f;
    stats_source s;
    value v, values[] = {{.type = &type_int, .as.i64 = 7}};
    int64_t n;
    file_stats_parse(STR("{\"numRecords\":3,\"minValues\":{\"p\":1},\"nullCount\":{\"p\":1}}"), sample_schema(a), a, &f);
    file_stats_set_partition(&f, P, 1, values);
    file_stats_source(&f, &s);
    assert_true(s.min(&s, path1(P), &type_int, &v) && v.as.i64 == 7);
    assert_true(s.max(&s, path1(P), &type_int, &v) && v.as.i64 == 7);
    assert_true(s.null_count(&s, path1(P), &n) && n == 0);
    assert_true(s.constant(&s, path1(P), &type_int, &v) && v.as.i64 == 7);
    assert_false(s.constant(&s, path1(C), &type_long, &v));

    values[0].is_null = true;
    assert_false(s.min(&s, path1(P), &type_int, &v));
    assert_true(s.null_count(&s, path1(P), &n) && n == 3);
    assert_true(s.constant(&s, path1(P), &type_int, &v) && v.is_null);

    values[0] = (value){0};
    assert_false(s.constant(&s, path1(P), &type_int, &v));
    assert_false(s.null_count(&s, path1(P), &n));
}

static void possibly_rounded_bounds_give_way(void **state) {
    arena *a = *state;
    file_stats f;
    stats_source s;
    value v;
    file_stats_parse(STR("{\"minValues\":{\"d\":0.1,\"dec\":12345678901234568,\"x\\\"é\":\"a\"},\"maxValues\":{\"d\":0.1,\"dec\":"
                         "12345678901234568,\"x\\\"é\":\"a\xEF\xBF\xBD\"}}"),
                     sample_schema(a), a, &f);
    file_stats_source(&f, &s);
    assert_true(s.min(&s, path1(D), &type_double, &v) && v.as.f64 == 0.1);
    assert_true(s.max(&s, path1(D), &type_double, &v) && v.as.f64 == (double)0.1f); /* above 0.1 */
    assert_true(s.min(&s, path1(DEC), &type_double, &v) && v.as.decimal < (int128)1234567890123456700);
    assert_true(s.max(&s, path1(DEC), &type_double, &v) && v.as.decimal > (int128)1234567890123456900);
    assert_false(s.max(&s, path1(X), &type_string, &v));
    assert_true(s.min(&s, path1(X), &type_string, &v));
    assert_true(file_stats_bound(&f, path1(DEC), STATS_MAX, &v) && v.as.decimal == (int128)1234567890123456800);

    file_stats_parse(STR("{\"minValues\":{\"dec\":-123.45},\"maxValues\":{\"dec\":123456789012345678.91}}"), sample_schema(a), a,
                     &f);
    assert_true(s.min(&s, path1(DEC), &type_double, &v) && v.as.decimal == -12345);
    assert_true(s.max(&s, path1(DEC), &type_double, &v) && v.as.decimal == (int128)12345678901234567891u);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_ARENA(bounds_are_written_as_spark_writes_them),
        WITH_ARENA(bounds_are_read_exactly),
        WITH_ARENA(every_zone_offset_is_understood),
        WITH_ARENA(doubtful_bounds_are_unknown),
        WITH_ARENA(long_strings_are_cut_as_spark_cuts_them),
        WITH_ARENA(a_files_text_answers_by_column),
        WITH_ARENA(absent_parts_are_unknown),
        WITH_ARENA(malformed_texts_are_unknown_as_a_whole),
        WITH_ARENA(partition_values_join_as_constants),
        WITH_ARENA(possibly_rounded_bounds_give_way),
    };
    return RUN_TESTS(tests);
}
