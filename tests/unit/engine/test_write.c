/* Writing data files: statistics as Spark 4.1 with Delta 4.3 literally writes them for the same rows, folders, sizes, ids, and nothing left behind on failure. */
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

static size_t count_files(const char *folder) {
    DIR *d = opendir(folder);
    size_t n = 0;
    for (struct dirent *e; d && (e = readdir(d));) n += e->d_name[0] != '.';
    if (d) closedir(d);
    return n;
}

static int written; /* a folder of its own for each write */

static write_spec spec_of(const data_type *schema) {
    return (write_spec){.store = fix.store,
                        .root = arena_printf(fix.arena, "%s/t%d", fix.folder, ++written),
                        .schema = schema,
                        .collect_stats = true,
                        .num_indexed_columns = 32,
                        .string_prefix_length = 32,
                        .time_zone = STR("UTC")};
}

static fake_table *table_of(const char *ddl, const char *select) {
    run_sql(arena_printf(fix.arena, "COPY (%s) TO '{}/source.parquet'", select).ptr);
    fake_table *t = make_table(ddl);
    add_file(t, "source.parquet");
    return t;
}

/* A limit of records makes the write go through the feed, none lets COPY read the query itself: both must give the same. */
static bool by_feed;

static write_result write_table(fake_table *t, const write_spec *spec) {
    write_result r;
    silt_error err = {0};
    assert_ok(engine_write(fix.engine, select_all(make_relation(t)), &plain_env, spec, fix.arena, &r, &err), &err);
    return r;
}

/* Statistics of one column c over the rows of a DuckDB SELECT. */
static const char *stats_of(const char *type, const char *select) {
    fake_table *t = table_of(arena_printf(fix.arena, "c %s", type).ptr, select);
    write_spec spec = spec_of(t->base.schema);
    if (by_feed) spec.max_records_per_file = 1000000;
    write_result r = write_table(t, &spec);
    assert_int_equal(r.n_files, 1);
    return arena_cstr(fix.arena, r.files[0].stats);
}

static void assert_stats(const char *type, const char *values, const char *expected) {
    by_feed = !by_feed;
    assert_string_equal(stats_of(type, arena_printf(fix.arena, "SELECT unnest([%s]) AS c", values).ptr), expected);
    by_feed = !by_feed;
    assert_string_equal(stats_of(type, arena_printf(fix.arena, "SELECT unnest([%s]) AS c", values).ptr), expected);
}

/* ---- statistics ---- */

static void timestamps_are_floored_to_milliseconds(void **state) {
    (void)state;
    assert_stats("TIMESTAMP", "TIMESTAMPTZ '1969-12-31 23:59:59.123456+00'",
                 "{\"numRecords\":1,\"minValues\":{\"c\":\"1969-12-31T23:59:59.123Z\"},\"maxValues\":{\"c\":\"1969-12-31T23:59:"
                 "59.123Z\"},\"nullCount\":{\"c\":0}}");
    assert_stats("TIMESTAMP", "make_timestamptz(-302450400000000 + 1)",
                 "{\"numRecords\":1,\"minValues\":{\"c\":\"1960-06-01T10:00:00.000Z\"},\"maxValues\":{\"c\":\"1960-06-01T10:00:"
                 "00.000Z\"},\"nullCount\":{\"c\":0}}");
    assert_stats("TIMESTAMP", "make_timestamptz(-62135596799999999), make_timestamptz(253402300799999999)",
                 "{\"numRecords\":2,\"minValues\":{\"c\":\"0001-01-01T00:00:00.000Z\"},\"maxValues\":{\"c\":\"9999-12-31T23:59:"
                 "59.999Z\"},\"nullCount\":{\"c\":0}}");
    assert_stats("TIMESTAMP_NTZ", "TIMESTAMP '1969-12-31 23:59:59.123456'",
                 "{\"numRecords\":1,\"minValues\":{\"c\":\"1969-12-31T23:59:59.123\"},\"maxValues\":{\"c\":\"1969-12-31T23:59:59."
                 "123\"},\"nullCount\":{\"c\":0}}");
}

static void dates_of_any_year(void **state) {
    (void)state;
    assert_stats("DATE", "DATE '1970-01-01' + (-735525), DATE '1970-01-01' + 3789391",
                 "{\"numRecords\":2,\"minValues\":{\"c\":\"-0044-03-15\"},\"maxValues\":{\"c\":\"+12345-01-01\"},\"nullCount\":{"
                 "\"c\":0}}");
}

static void floats_have_nan_last_and_keep_signed_zeros(void **state) {
    (void)state;
    assert_stats("DOUBLE", "'nan'::DOUBLE, 1.5::DOUBLE",
                 "{\"numRecords\":2,\"minValues\":{\"c\":1.5},\"maxValues\":{\"c\":\"NaN\"},\"nullCount\":{\"c\":0}}");
    assert_stats("FLOAT", "'nan'::FLOAT",
                 "{\"numRecords\":1,\"minValues\":{\"c\":\"NaN\"},\"maxValues\":{\"c\":\"NaN\"},\"nullCount\":{\"c\":0}}");
    assert_stats(
        "DOUBLE", "'inf'::DOUBLE, '-inf'::DOUBLE",
        "{\"numRecords\":2,\"minValues\":{\"c\":\"-Infinity\"},\"maxValues\":{\"c\":\"Infinity\"},\"nullCount\":{\"c\":0}}");
    assert_stats("DOUBLE", "'-0'::DOUBLE, 0::DOUBLE",
                 "{\"numRecords\":2,\"minValues\":{\"c\":-0.0},\"maxValues\":{\"c\":-0.0},\"nullCount\":{\"c\":0}}");
    assert_stats(
        "DOUBLE", "'4.9E-324'::DOUBLE, '1.7976931348623157E308'::DOUBLE",
        "{\"numRecords\":2,\"minValues\":{\"c\":4.9E-324},\"maxValues\":{\"c\":1.7976931348623157E308},\"nullCount\":{\"c\":0}}");
    assert_stats("FLOAT", "0.1::FLOAT, 16777216::FLOAT",
                 "{\"numRecords\":2,\"minValues\":{\"c\":0.1},\"maxValues\":{\"c\":1.6777216E7},\"nullCount\":{\"c\":0}}");
    assert_stats("DOUBLE", "100::DOUBLE, 1e7::DOUBLE, 1e-5::DOUBLE",
                 "{\"numRecords\":3,\"minValues\":{\"c\":1.0E-5},\"maxValues\":{\"c\":1.0E7},\"nullCount\":{\"c\":0}}");
}

static void decimals_have_every_digit(void **state) {
    (void)state;
    assert_stats("DECIMAL(38,0)", "'-99999999999999999999999999999999999999'::DECIMAL(38,0), 1::DECIMAL(38,0)",
                 "{\"numRecords\":2,\"minValues\":{\"c\":-99999999999999999999999999999999999999},\"maxValues\":{\"c\":1},"
                 "\"nullCount\":{\"c\":0}}");
    assert_stats("DECIMAL(38,38)", "'0.00000000000000000000000000000000000001'::DECIMAL(38,38), '0.1'::DECIMAL(38,38)",
                 "{\"numRecords\":2,\"minValues\":{\"c\":1E-38},\"maxValues\":{\"c\":0.10000000000000000000000000000000000000},"
                 "\"nullCount\":{\"c\":0}}");
    assert_stats("DECIMAL(10,2)", "1::DECIMAL(10,2), 100.50::DECIMAL(10,2)",
                 "{\"numRecords\":2,\"minValues\":{\"c\":1.00},\"maxValues\":{\"c\":100.50},\"nullCount\":{\"c\":0}}");
    assert_stats("DECIMAL(4,1)", "-1.5::DECIMAL(4,1), NULL",
                 "{\"numRecords\":2,\"minValues\":{\"c\":-1.5},\"maxValues\":{\"c\":-1.5},\"nullCount\":{\"c\":1}}");
}

static void types_without_bounds_have_null_counts(void **state) {
    (void)state;
    assert_stats("BOOLEAN", "true, false", "{\"numRecords\":2,\"nullCount\":{\"c\":0}}");
    assert_stats("BINARY", "'\\x00'::BLOB, NULL", "{\"numRecords\":2,\"nullCount\":{\"c\":1}}");
    assert_stats("MAP<STRING, INT>", "MAP {'a': 1}", "{\"numRecords\":1,\"nullCount\":{\"c\":0}}");
    assert_stats("ARRAY<STRUCT<a: INT>>", "[{'a': 1}], NULL", "{\"numRecords\":2,\"nullCount\":{\"c\":1}}");
    assert_stats("INT", "NULL::INT, NULL::INT", "{\"numRecords\":2,\"minValues\":{},\"maxValues\":{},\"nullCount\":{\"c\":2}}");
}

static void null_structs_count_for_each_leaf(void **state) {
    (void)state;
    assert_stats("STRUCT<a: INT, b: STRUCT<c: INT>>", "NULL::STRUCT(a INT, b STRUCT(c INT))",
                 "{\"numRecords\":1,\"minValues\":{\"c\":{\"b\":{}}},\"maxValues\":{\"c\":{\"b\":{}}},\"nullCount\":{\"c\":{"
                 "\"a\":1,\"b\":{\"c\":1}}}}");
    assert_stats("STRUCT<a: INT, b: STRUCT<c: INT>>", "NULL::STRUCT(a INT, b STRUCT(c INT)), {'a': 1, 'b': NULL}",
                 "{\"numRecords\":2,\"minValues\":{\"c\":{\"a\":1,\"b\":{}}},\"maxValues\":{\"c\":{\"a\":1,\"b\":{}}},"
                 "\"nullCount\":{\"c\":{\"a\":1,\"b\":{\"c\":2}}}}");
}

#define A31   "repeat('a', 31)"
#define A32   "repeat('a', 32)"
#define T32   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define LAST  "\xf4\x8f\xbf\xbf"
#define SMILE "\xf0\x9f\x98\x80"

static void strings_are_cut_with_a_tie_breaker(void **state) {
    (void)state;
    assert_stats("STRING", A32,
                 "{\"numRecords\":1,\"minValues\":{\"c\":\"" T32 "\"},\"maxValues\":{\"c\":\"" T32
                 "\"},\"nullCount\":{\"c\":0}}");
    assert_stats("STRING", "repeat('a', 33)",
                 "{\"numRecords\":1,\"minValues\":{\"c\":\"" T32 "\"},\"maxValues\":{\"c\":\"" T32
                 "\x7f\"},\"nullCount\":{\"c\":0}}");
    assert_stats("STRING", "'', 'b'",
                 "{\"numRecords\":2,\"minValues\":{\"c\":\"\"},\"maxValues\":{\"c\":\"b\"},\"nullCount\":{\"c\":0}}");
    assert_stats("STRING", A32 " || chr(233)",
                 "{\"numRecords\":1,\"minValues\":{\"c\":\"" T32 "\"},\"maxValues\":{\"c\":\"" T32 LAST
                 "\"},\"nullCount\":{\"c\":0}}");
    assert_stats("STRING", A32 " || chr(128512)",
                 "{\"numRecords\":1,\"minValues\":{\"c\":\"" T32 "\"},\"maxValues\":{\"c\":\"" T32 LAST
                 "\"},\"nullCount\":{\"c\":0}}");
    assert_stats("STRING", A32 " || chr(0), " A32 " || 'zz'",
                 "{\"numRecords\":2,\"minValues\":{\"c\":\"" T32 "\"},\"maxValues\":{\"c\":\"" T32
                 "\x7f\"},\"nullCount\":{\"c\":0}}");
    assert_stats("STRING", "chr(65535), chr(128512)",
                 "{\"numRecords\":2,\"minValues\":{\"c\":\"\xef\xbf\xbf\"},\"maxValues\":{\"c\":\"" SMILE
                 "\"},\"nullCount\":{\"c\":0}}");
    assert_stats("STRING", "'a' || chr(10) || '\"' || chr(1)",
                 "{\"numRecords\":1,\"minValues\":{\"c\":\"a\\n\\\"\\u0001\"},\"maxValues\":{\"c\":\"a\\n\\\"\\u0001\"},"
                 "\"nullCount\":{\"c\":0}}");
    const char *none = stats_of("STRING", "SELECT repeat(chr(1114111), 40) AS c");
    assert_non_null(strstr(none, "\"maxValues\":{},\"nullCount\":{\"c\":0}"));
}

/* Bounds do not depend on how rows meet threads and chunks: 300,000 rows, the extremes in the middle, long common prefixes. */
static void bounds_over_many_chunks(void **state) {
    (void)state;
    fake_table *t =
        table_of("i BIGINT, s STRING, d DOUBLE, n STRING",
                 "SELECT i, CASE WHEN i = 150000 THEN 'zzz' WHEN i = 150001 THEN 'AAA' ELSE 'common prefix ' || i END AS s, "
                 "CASE WHEN i = 70000 THEN 'nan'::DOUBLE ELSE i / 7 END AS d, CASE WHEN i % 3 = 0 THEN NULL ELSE 'x' END AS n "
                 "FROM range(300000) t(i)");
    write_spec spec = spec_of(t->base.schema);
    write_result r = write_table(t, &spec);
    assert_int_equal(r.n_files, 1);
    assert_int_equal(r.rows, 300000);
    assert_string_equal(arena_cstr(fix.arena, r.files[0].stats),
                        "{\"numRecords\":300000,\"minValues\":{\"i\":0,\"s\":\"AAA\",\"d\":0.0,\"n\":\"x\"},\"maxValues\":{\"i\":"
                        "299999,\"s\":\"zzz\",\"d\":\"NaN\",\"n\":\"x\"},"
                        "\"nullCount\":{\"i\":0,\"s\":0,\"d\":0,\"n\":100000}}");
}

static void assert_both_ways_agree(const char *type, const char *select) {
    by_feed = true;
    const char *counted = stats_of(type, select);
    by_feed = false;
    assert_string_equal(stats_of(type, select), counted);
}

/* What the footer of the written file tells is what counting finds, over several row groups, with groups and columns without a value. */
static void a_footer_tells_what_counting_finds(void **state) {
    (void)state;
    static const struct {
        const char *type, *values; /* of i, 0 … 249,999 */
    } columns[] = {{"BOOLEAN", "i % 3 = 0"},
                   {"TINYINT", "CAST(i % 256 - 128 AS TINYINT)"},
                   {"SMALLINT", "CAST(i % 65536 - 32768 AS SMALLINT)"},
                   {"INT", "CAST(i * 14316 - 2147483648 AS INTEGER)"},
                   {"BIGINT", "CASE WHEN i = 7 THEN -9223372036854775808 WHEN i = 240000 THEN 9223372036854775807 ELSE i END"},
                   {"BIGINT", "CASE WHEN i < 200000 THEN NULL ELSE i END"},
                   {"BIGINT", "CAST(NULL AS BIGINT)"},
                   {"DATE", "DATE '1600-01-01' + CAST(i AS INTEGER)"},
                   {"TIMESTAMP", "make_timestamptz((i - 120000) * 1000001)"},
                   {"TIMESTAMP_NTZ", "make_timestamp((i - 120000) * 999999)"},
                   {"DECIMAL(4,1)", "CAST((i % 1999 - 999) / 10 AS DECIMAL(4,1))"},
                   {"DECIMAL(9,2)", "CAST(i - 150000 AS DECIMAL(9,2))"},
                   {"DECIMAL(18,3)", "CAST(i * 1000003 - 7 AS DECIMAL(18,3))"},
                   {"DECIMAL(38,3)", "CAST(i * 1000003 - 7 AS DECIMAL(38,3))"},
                   {"BINARY", "CASE WHEN i % 5 = 0 THEN NULL ELSE encode('x' || i) END"},
                   {"STRING", "CASE WHEN i % 7 = 0 THEN NULL ELSE 's' || i END"},
                   {"STRING", "CASE WHEN i = 5 THEN '' ELSE chr(CAST(40 + i % 2000 AS INTEGER)) END"},
                   {"STRING", "CASE WHEN i = 9 THEN 'Z' || repeat('z', 400) WHEN i = 11 THEN repeat('!', 300) ELSE 'm' || i END"},
                   {"STRING", "CASE WHEN i % 100000 = 9 THEN repeat('雪', 90 + CAST(i % 10 AS INTEGER)) || 'x' WHEN i % 100 = 1 THEN repeat('山', 100) ELSE '一' END"},
                   {"STRING", "CASE WHEN i = 9 THEN repeat(chr(1114111), 70) || 'a' WHEN i = 10 THEN repeat(chr(1114111), 80) ELSE 'a' END"},
                   {"STRING", "CASE WHEN i < 130000 THEN NULL WHEN i % 100 = 1 THEN chr(1114111) || repeat('é', 300) ELSE 'a' END"},
                   {"STRING", "CAST(NULL AS VARCHAR)"}};
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        assert_both_ways_agree(columns[i].type, arena_printf(fix.arena, "SELECT %s AS c FROM range(250000) r(i)", columns[i].values).ptr);
}

static void the_first_leaves_are_counted(void **state) {
    (void)state;
    fake_table *t = table_of("p INT, s STRUCT<a: INT, b: ARRAY<INT>, c: INT>, x INT",
                             "SELECT 1 AS p, {'a': 1, 'b': [2], 'c': 3} AS s, 4 AS x");
    write_spec spec = spec_of(t->base.schema);
    static const uint32_t partition[] = {0};
    spec.partition_columns = partition;
    spec.n_partition_columns = 1;
    spec.num_indexed_columns = 2;
    assert_string_equal(arena_cstr(fix.arena, write_table(t, &spec).files[0].stats),
                        "{\"numRecords\":1,\"minValues\":{\"s\":{\"a\":1}},\"maxValues\":{\"s\":{\"a\":1}},\"nullCount\":{\"s\":{"
                        "\"a\":0,\"b\":0}}}");
    spec.num_indexed_columns = 0;
    assert_string_equal(arena_cstr(fix.arena, write_table(t, &spec).files[0].stats), "{\"numRecords\":1}");
    spec.num_indexed_columns = -1;
    spec.write_tight_bounds = true;
    assert_string_equal(
        arena_cstr(fix.arena, write_table(t, &spec).files[0].stats),
        "{\"numRecords\":1,\"minValues\":{\"s\":{\"a\":1,\"c\":3},\"x\":4},\"maxValues\":{\"s\":{\"a\":1,\"c\":3},\"x\":4},"
        "\"nullCount\":{\"s\":{\"a\":0,\"b\":0,\"c\":0},\"x\":0},\"tightBounds\":true}");
    static const uint32_t path_x[] = {2}, path_c[] = {1, 2};
    static const column_path named[] = {{path_x, 1}, {path_c, 2}};
    spec.stats_columns = named;
    spec.n_stats_columns = 2;
    spec.has_stats_columns = true;
    spec.write_tight_bounds = false;
    assert_string_equal(arena_cstr(fix.arena, write_table(t, &spec).files[0].stats),
                        "{\"numRecords\":1,\"minValues\":{\"s\":{\"c\":3},\"x\":4},\"maxValues\":{\"s\":{\"c\":3},\"x\":4},"
                        "\"nullCount\":{\"s\":{\"c\":0},\"x\":0}}");
}

/* DuckDB folds functions of constants, and calls others once for a chunk of them. */
static void constant_columns_are_counted_row_by_row(void **state) {
    (void)state;
    fake_table *t = table_of("x BIGINT", "SELECT i AS x FROM range(5000) t(i)");
    relation *r = make_relation(t);
    r->column_used[0] = true;
    expr *items[] = {long_literal(7), long_literal(8)};
    fake_table *target = make_table("a BIGINT, b BIGINT");
    static const int64_t records[] = {0, 1000000};
    for (size_t i = 0; i < 2; i++) {
        write_spec spec = spec_of(target->base.schema);
        spec.max_records_per_file = records[i];
        write_result out;
        silt_error err = {0};
        assert_ok(engine_write(fix.engine, make_query(r, items, 2, NULL), &plain_env, &spec, fix.arena, &out, &err), &err);
        assert_string_equal(arena_cstr(fix.arena, out.files[0].stats),
                            "{\"numRecords\":5000,\"minValues\":{\"a\":7,\"b\":8},\"maxValues\":{\"a\":7,\"b\":8},\"nullCount\":{"
                            "\"a\":0,\"b\":0}}");
    }
}

static void no_statistics_when_not_asked(void **state) {
    (void)state;
    fake_table *t = table_of("x INT", "SELECT 1 AS x");
    write_spec spec = spec_of(t->base.schema);
    spec.collect_stats = false;
    assert_null(write_table(t, &spec).files[0].stats.ptr);
}

/* ---- files ---- */

static void names_sizes_and_content(void **state) {
    (void)state;
    fake_table *t = table_of("i BIGINT, s STRING", "SELECT i, 'v' || i AS s FROM range(5000) t(i)");
    write_spec spec = spec_of(t->base.schema);
    write_result r = write_table(t, &spec);
    assert_int_equal(r.n_files, 1);
    str name = r.files[0].path;
    assert_true(str_starts_with(name, STR("part-00000-")));
    assert_true(str_ends_with(name, STR("-c000.snappy.parquet")));
    assert_int_equal(name.len, strlen("part-00000-") + 36 + strlen("-c000.snappy.parquet"));
    struct stat sb;
    assert_int_equal(stat(arena_printf(fix.arena, "%.*s/%.*s", STR_ARG(spec.root), STR_ARG(name)).ptr, &sb), 0);
    assert_int_equal(sb.st_size, r.files[0].size_bytes);
    assert_true(r.files[0].modified_ms > 0);
    const char *content =
        arena_printf(fix.arena, "SELECT count(*), sum(i), count(DISTINCT s) FROM '%.*s/*.parquet'", STR_ARG(spec.root)).ptr;
    assert_string_equal(duck_rows(content), "5000,12497500,5000");
    assert_string_equal(
        duck_rows(arena_printf(fix.arena, "SELECT list(i) = list(i ORDER BY i) FROM '%.*s/*.parquet'", STR_ARG(spec.root)).ptr),
        "true");
}

static void no_rows_no_files(void **state) {
    (void)state;
    fake_table *t = table_of("x INT", "SELECT 1 AS x WHERE false");
    write_spec spec = spec_of(t->base.schema);
    write_result r = write_table(t, &spec);
    assert_int_equal(r.n_files, 0);
    assert_int_equal(count_files(spec.root.ptr), 0);
}

static void files_end_at_the_target_size(void **state) {
    (void)state;
    fake_table *t = table_of("i BIGINT, s STRING", "SELECT i, md5(i::VARCHAR) AS s FROM range(600000) t(i)");
    write_spec spec = spec_of(t->base.schema);
    spec.target_file_bytes = 4 << 20;
    write_result r = write_table(t, &spec);
    assert_true(r.n_files >= 3 && r.n_files <= 12);
    int64_t rows = 0, next = 0;
    for (size_t i = 0; i < r.n_files; i++) {
        assert_true(r.files[i].size_bytes < (i == 0 ? 10 : 5) << 20); /* the first file teaches what a row takes */
        const char *from = strstr(arena_cstr(fix.arena, r.files[i].stats), "\"minValues\":{\"i\":");
        assert_int_equal(atoll(from + strlen("\"minValues\":{\"i\":")), next); /* each goes on where the other ended */
        rows += r.files[i].num_records;
        next += r.files[i].num_records;
    }
    assert_int_equal(rows, 600000);
    assert_string_equal(
        duck_rows(arena_printf(fix.arena, "SELECT count(*), sum(i) FROM '%.*s/*.parquet'", STR_ARG(spec.root)).ptr),
        "600000,179999700000");
}

static void variants_are_written_unshredded(void **state) {
    (void)state;
    fake_table *t = table_of("v VARIANT", "SELECT variant_to_parquet_variant(v) AS v FROM (SELECT unnest([CAST(CAST('{\"a\":1}' "
                                          "AS JSON) AS VARIANT), NULL]) AS v)");
    write_spec spec = spec_of(t->base.schema);
    write_result r = write_table(t, &spec);
    assert_string_equal(arena_cstr(fix.arena, r.files[0].stats),
                        "{\"numRecords\":2,\"minValues\":{},\"maxValues\":{},\"nullCount\":{\"v\":1}}");
    assert_string_equal(
        duck_rows(arena_printf(fix.arena,
                               "SELECT name FROM parquet_schema('%.*s/*.parquet') WHERE type = 'BYTE_ARRAY' ORDER BY 1",
                               STR_ARG(spec.root))
                      .ptr),
        "metadata\nvalue");
    assert_string_equal(
        duck_rows(arena_printf(fix.arena, "SELECT CAST(CAST(v AS JSON) AS VARCHAR) FROM '%.*s/*.parquet' WHERE v IS NOT NULL",
                               STR_ARG(spec.root))
                      .ptr),
        "{\"a\":1}");
}

static void void_columns_are_not_written(void **state) {
    (void)state;
    fake_table *t = table_of("x INT, n INT", "SELECT 1 AS x");
    field *fields = ARENA_ARRAY(fix.arena, 2, field);
    fields[0] = t->base.schema->fields[0];
    fields[1] = field_make(STR("n"), &type_void, true);
    t->base.schema = type_struct(fix.arena, fields, 2);
    write_spec spec = spec_of(t->base.schema);
    write_result r = write_table(t, &spec);
    assert_string_equal(arena_cstr(fix.arena, r.files[0].stats),
                        "{\"numRecords\":1,\"minValues\":{\"x\":1},\"maxValues\":{\"x\":1},\"nullCount\":{\"x\":0,\"n\":1}}");
    assert_string_equal(
        duck_rows(arena_printf(fix.arena, "SELECT name FROM parquet_schema('%.*s/*.parquet') WHERE num_children IS NULL",
                               STR_ARG(spec.root))
                      .ptr),
        "x");
}

static void records_per_file_are_limited(void **state) {
    (void)state;
    fake_table *t = table_of("i BIGINT, p INT", "SELECT i, (i // 4000)::INT AS p FROM range(8000) t(i)");
    write_spec spec = spec_of(t->base.schema);
    spec.max_records_per_file = 3000;
    write_result r = write_table(t, &spec);
    assert_int_equal(r.n_files, 3);
    assert_int_equal(r.files[0].num_records, 3000);
    assert_int_equal(r.files[2].num_records, 2000);
    static const uint32_t partition[] = {1};
    spec = spec_of(t->base.schema);
    spec.partition_columns = partition;
    spec.n_partition_columns = 1;
    spec.max_records_per_file = 3000;
    r = write_table(t, &spec);
    assert_int_equal(r.n_files, 4);
    assert_int_equal(r.rows, 8000);
    assert_non_null(strstr(arena_cstr(fix.arena, r.files[0].path), ".c000.snappy.parquet"));
    assert_string_equal(
        duck_rows(arena_printf(fix.arena, "SELECT count(DISTINCT i) FROM '%.*s/*/*.parquet'", STR_ARG(spec.root)).ptr), "8000");
}

static void the_prefix_of_strings_may_be_another(void **state) {
    (void)state;
    fake_table *t = table_of("s STRING", "SELECT 'abcdef' AS s");
    write_spec spec = spec_of(t->base.schema);
    spec.string_prefix_length = 3;
    assert_string_equal(
        arena_cstr(fix.arena, write_table(t, &spec).files[0].stats),
        "{\"numRecords\":1,\"minValues\":{\"s\":\"abc\"},\"maxValues\":{\"s\":\"abc\x7f\"},\"nullCount\":{\"s\":0}}");
}

static void parquet_types_are_what_spark_expects(void **state) {
    (void)state;
    fake_table *t =
        table_of("b TINYINT, s SMALLINT, ts TIMESTAMP, tn TIMESTAMP_NTZ, d5 DECIMAL(5,2), d18 DECIMAL(18,2), d38 DECIMAL(38,2), "
                 "a ARRAY<INT>, m MAP<STRING, INT>, dt DATE",
                 "SELECT 1::TINYINT AS b, 2::SMALLINT AS s, TIMESTAMPTZ '2024-01-01 00:00:00+00' AS ts, TIMESTAMP '2024-01-01' "
                 "AS tn, 1::DECIMAL(5,2) AS d5, "
                 "1::DECIMAL(18,2) AS d18, 1::DECIMAL(38,2) AS d38, [1] AS a, MAP {'k': 1} AS m, DATE '2024-01-01' AS dt");
    write_spec spec = spec_of(t->base.schema);
    write_table(t, &spec);
    const char *sql =
        "SELECT name, type, coalesce(regexp_extract(logical_type, 'isAdjustedToUTC=.') , '') || ' ' || coalesce(converted_type, "
        "'') FROM parquet_schema('%.*s/*.parquet') WHERE num_children IS NULL OR converted_type IS NOT NULL";
    assert_string_equal(duck_rows(arena_printf(fix.arena, sql, STR_ARG(spec.root)).ptr),
                        "b,INT32, INT_8\ns,INT32, INT_16\nts,INT64,isAdjustedToUTC=1 "
                        "TIMESTAMP_MICROS\ntn,INT64,isAdjustedToUTC=0 TIMESTAMP_MICROS\nd5,INT32, DECIMAL\n"
                        "d18,INT64, DECIMAL\nd38,FIXED_LEN_BYTE_ARRAY, DECIMAL\na,null, LIST\nelement,INT32, INT_32\nm,null, "
                        "MAP\nkey,BYTE_ARRAY, UTF8\nvalue,INT32, INT_32\ndt,INT32, DATE");
}

static void mapped_columns_have_physical_names_and_ids(void **state) {
    (void)state;
    fake_table *t =
        table_of("a INT, l ARRAY<STRUCT<x: INT>>, m MAP<STRING, INT>", "SELECT 1 AS a, [{'x': 2}] AS l, MAP {'k': 3} AS m");
    field *top = ARENA_ARRAY(fix.arena, 3, field), *inner = ARENA_ARRAY(fix.arena, 1, field);
    for (size_t i = 0; i < 3; i++) {
        top[i] = t->base.schema->fields[i];
        top[i].physical_name = arena_printf(fix.arena, "col-%zu", i);
        top[i].field_id = (int32_t)i + 1;
    }
    inner[0] = field_make(STR("x"), &type_int, true);
    inner[0].physical_name = STR("col-x");
    inner[0].field_id = 9;
    top[1].type = type_array(fix.arena, type_struct(fix.arena, inner, 1), true);
    write_spec spec = spec_of(type_struct(fix.arena, top, 3));
    spec.write_field_ids = true;
    spec.random_prefix = true;
    write_result r = write_table(t, &spec);
    assert_int_equal(r.files[0].path.ptr[2], '/');
    assert_string_equal(arena_cstr(fix.arena, r.files[0].stats),
                        "{\"numRecords\":1,\"minValues\":{\"col-0\":1},\"maxValues\":{\"col-0\":1},\"nullCount\":{\"col-0\":0,"
                        "\"col-1\":0,\"col-2\":0}}");
    const char *sql = "SELECT name, field_id FROM parquet_schema('%.*s/*/*.parquet') WHERE field_id IS NOT NULL";
    assert_string_equal(duck_rows(arena_printf(fix.arena, sql, STR_ARG(spec.root)).ptr), "col-0,1\ncol-1,2\ncol-x,9\ncol-2,3");
}

/* ---- partitions ---- */

/* ---- rewrites: rows that stay beside new ones ---- */

static query *union_of(query *left, query *right) {
    query *q = ARENA_NEW(fix.arena, query);
    *q = (query){.set = SET_UNION,
                 .set_all = true,
                 .left = left,
                 .right = right,
                 .column_names = left->column_names,
                 .column_types = left->column_types,
                 .column_nullable = left->column_nullable,
                 .n_columns = left->n_columns,
                 .id = 9};
    return q;
}

static relation *second_relation(table_source *t) {
    relation *r = relation_over(t);
    r->id = 2;
    return r;
}

/* SELECT * of the rows whose place is not in the set. */
static query *rows_outside(table_source *t, uint64_t set) {
    relation *r = relation_over(t);
    silt_error err = {0};
    expr *in;
    r->needs_row_id = true;
    assert_ok(relation_bind_columns(r, fix.arena, &err), &err);
    assert_ok(engine_in_row_set(set, column_of(r, "silt_file"), column_of(r, "silt_row"), fix.arena, &in, &err), &err);
    query *q = select_all(r);
    q->where = call_of("not", &type_boolean, in, NULL);
    return q;
}

static row_set *first_rows(size_t n_files, uint64_t rows, uint64_t *out_id) {
    row_set *s = row_set_new(n_files);
    silt_error err = {0};
    for (size_t f = 0; f < n_files; f++)
        for (uint64_t i = 0; i < rows; i++) assert_true(row_set_add(s, f, i, NULL));
    assert_ok(engine_row_set_register(fix.engine, s, out_id, &err), &err);
    return s;
}

static void kept_and_new_rows_are_one_file(void **state) {
    (void)state;
    static const char expected[] = "{\"numRecords\":9990,\"minValues\":{\"a\":15,\"s\":\"new\"},\"maxValues\":{\"a\":100004,"
                                   "\"s\":\"old\"},\"nullCount\":{\"a\":0,\"s\":0}}";
    fake_table *t = table_of("a BIGINT, s STRING", "SELECT i AS a, 'old' AS s FROM range(10000) t(i)"),
               *fresh = make_table("a BIGINT, s STRING");
    run_sql("COPY (SELECT 100000 + i AS a, 'new' AS s FROM range(5) t(i)) TO '{}/fresh.parquet'");
    add_file(fresh, "fresh.parquet");
    silt_error err = {0};
    uint64_t id;
    row_set *gone = first_rows(1, 15, &id);
    for (int way = 0; way < 3; way++) { /* straight, in any order, and by the feed */
        table_source *kept;
        write_result r;
        assert_ok(engine_materialize(fix.engine, select_all(make_relation(fresh)), &plain_env, &kept, &err), &err);
        write_spec spec = spec_of(t->base.schema);
        spec.any_order = way == 1;
        if (way == 2) spec.max_records_per_file = 1000000;
        query *q = union_of(rows_outside(&t->base, id), select_all(second_relation(kept)));
        assert_ok(engine_write(fix.engine, q, &plain_env, &spec, fix.arena, &r, &err), &err);
        assert_int_equal(r.n_files, 1);
        assert_int_equal(r.rows, 9990);
        assert_string_equal(arena_cstr(fix.arena, r.files[0].stats), expected);
        assert_string_equal(
            duck_rows(arena_printf(
                          fix.arena,
                          "SELECT count(*), count(DISTINCT a), count(*) FILTER (s = 'new') FROM read_parquet('%.*s/*.parquet')",
                          STR_ARG(spec.root))
                          .ptr),
            "9990,9990,5");
        kept->ops->release(kept);
    }
    engine_row_set_unregister(fix.engine, id);
    row_set_free(gone);
}

/* Files of a partitioned table come in any order; a rewrite reads them by partition and sorts nothing but the new rows. */
static void partitions_are_rewritten_one_after_another(void **state) {
    (void)state;
    static const uint32_t partition[] = {1};
    static const char *const names[] = {"y", "x", NULL, "y", "x"};
    fake_table *t = make_table("a BIGINT, p STRING"),
               *fresh = table_of("a BIGINT, p STRING", "SELECT unnest([1000, 1001, 1002]) AS a, unnest(['x', 'z', 'x']) AS p");
    t->base.partition_columns = partition;
    t->base.n_partition_columns = 1;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        char name[32];
        snprintf(name, sizeof name, "part%zu.parquet", i);
        run_sql(arena_printf(fix.arena, "COPY (SELECT %zu * 100 + i AS a FROM range(10) t(i)) TO '{}/%s'", i, name).ptr);
        scan_file *f = add_file(t, name);
        f->size_bytes = 20 << 20;
        value *v = ARENA_NEW(fix.arena, value);
        *v = (value){.type = &type_string, .is_null = !names[i], .as.bytes = names[i] ? str_of(names[i]) : STR_NULL};
        f->partition = v;
    }
    silt_error err = {0};
    uint64_t id;
    row_set *gone = first_rows(5, 9, &id);
    table_source *kept;
    write_result r;
    assert_ok(engine_materialize(fix.engine, select_all(make_relation(fresh)), &plain_env, &kept, &err), &err);
    write_spec spec = spec_of(t->base.schema);
    spec.partition_columns = partition;
    spec.n_partition_columns = 1;
    spec.any_order = true;
    assert_ok(engine_write(fix.engine, rows_outside(&t->base, id), &plain_env, &spec, fix.arena, &r, &err), &err);
    assert_int_equal(r.n_files, 3);
    assert_int_equal(r.rows, 5);
    spec = spec_of(t->base.schema);
    spec.partition_columns = partition;
    spec.n_partition_columns = 1;
    spec.any_order = true;
    assert_ok(engine_write(fix.engine, union_of(rows_outside(&t->base, id), select_all(second_relation(kept))), &plain_env, &spec,
                           fix.arena, &r, &err),
              &err);
    assert_int_equal(r.n_files, 5); /* null, x, y, and the new x and z */
    assert_string_equal(duck_rows(arena_printf(fix.arena,
                                               "SELECT p, string_agg(a, ' ' ORDER BY a) FROM read_parquet('%.*s/*/*.parquet', "
                                               "hive_partitioning = true) GROUP BY p ORDER BY p NULLS FIRST",
                                               STR_ARG(spec.root))
                                      .ptr),
                        "null,209\nx,109 409 1000 1002\ny,9 309\nz,1001");
    kept->ops->release(kept);
    engine_row_set_unregister(fix.engine, id);
    row_set_free(gone);
}

/* Change files: a folder and a name of their own, and columns that are none of the table's. */
static void extra_columns_and_another_folder(void **state) {
    (void)state;
    fake_table *t =
        table_of("a BIGINT, p STRING, _change_type STRING, _row_id BIGINT",
                 "SELECT unnest([1, 2, 3]) AS a, unnest(['x', 'y', 'x']) AS p, 'insert' AS _change_type, 7::BIGINT AS _row_id");
    field *fields = ARENA_ARRAY(fix.arena, 4, field);
    memcpy(fields, t->base.schema->fields, 4 * sizeof *fields);
    fields[0].field_id = 1;
    fields[3].field_id = 2147483540; /* Iceberg's of row ids; a column without one gets none */
    static const uint32_t partition[] = {1};
    write_spec spec = spec_of(type_struct(fix.arena, fields, 4));
    spec.partition_columns = partition;
    spec.n_partition_columns = 1;
    spec.folder = STR("_change_data");
    spec.file_prefix = "cdc";
    spec.n_extra_columns = 2;
    spec.write_field_ids = true;
    write_result r = write_table(t, &spec);
    assert_int_equal(r.n_files, 2);
    assert_true(str_starts_with(r.files[0].path, STR("_change_data/p=x/cdc-00000-")));
    assert_true(str_ends_with(r.files[0].path, STR(".c000.snappy.parquet")));
    assert_true(str_starts_with(r.files[1].path, STR("_change_data/p=y/cdc-00001-")));
    assert_string_equal(arena_cstr(fix.arena, r.files[0].stats),
                        "{\"numRecords\":2,\"minValues\":{\"a\":1},\"maxValues\":{\"a\":3},\"nullCount\":{\"a\":0}}");
    assert_string_equal(
        duck_rows(arena_printf(fix.arena,
                               "FROM read_parquet('%.*s/_change_data/*/*.parquet', hive_partitioning = false) ORDER BY a",
                               STR_ARG(spec.root))
                      .ptr),
        "1,insert,7\n2,insert,7\n3,insert,7");
    assert_string_equal(
        duck_rows(
            arena_printf(fix.arena,
                         "SELECT name, field_id FROM parquet_schema('%.*s/_change_data/p=y/*.parquet') WHERE type IS NOT NULL",
                         STR_ARG(spec.root))
                .ptr),
        "a,1\n_change_type,null\n_row_id,2147483540");
    engine_write_discard(&spec, &r);
    assert_int_equal(count_files(arena_printf(fix.arena, "%.*s/_change_data/p=x", STR_ARG(spec.root)).ptr), 0);
}

/* The same without partitions, once by each way. */
static void an_unpartitioned_change_file(void **state) {
    (void)state;
    for (int feed = 0; feed < 2; feed++) {
        fake_table *t = table_of("a BIGINT, _change_type STRING", "SELECT i AS a, 'delete' AS _change_type FROM range(3) t(i)");
        write_spec spec = spec_of(t->base.schema);
        spec.folder = STR("_change_data");
        spec.file_prefix = "cdc";
        spec.n_extra_columns = 1;
        if (feed) spec.max_records_per_file = 100;
        write_result r = write_table(t, &spec);
        assert_int_equal(r.n_files, 1);
        assert_true(str_starts_with(r.files[0].path, STR("_change_data/cdc-00000-")));
        assert_string_equal(arena_cstr(fix.arena, r.files[0].stats),
                            "{\"numRecords\":3,\"minValues\":{\"a\":0},\"maxValues\":{\"a\":2},\"nullCount\":{\"a\":0}}");
    }
}

static void partitions_get_folders_and_values(void **state) {
    (void)state;
    fake_table *t = table_of("x INT, p STRING", "SELECT i::INT AS x, ['a b', NULL, '', 'c/d:e', '__HIVE_DEFAULT_PARTITION__', 'a "
                                                "b'][1 + i % 6] AS p FROM range(12) t(i)");
    write_spec spec = spec_of(t->base.schema);
    static const uint32_t partition[] = {1};
    spec.partition_columns = partition;
    spec.n_partition_columns = 1;
    write_result r = write_table(t, &spec);
    assert_int_equal(r.n_files, 3);
    assert_int_equal(r.rows, 12);
    bool seen_null = false, seen_ab = false, seen_special = false;
    for (size_t i = 0; i < r.n_files; i++) {
        const written_file *f = &r.files[i];
        if (f->partition[0].is_null) {
            seen_null = true;
            assert_true(str_starts_with(f->path, STR("p=__HIVE_DEFAULT_PARTITION__/part-")));
            assert_int_equal(f->num_records, 6);
        } else if (str_eqz(f->partition[0].as.bytes, "a b")) {
            seen_ab = true;
            assert_true(str_starts_with(f->path, STR("p=a b/part-")));
            assert_int_equal(f->num_records, 4);
        } else {
            seen_special = true;
            assert_true(str_eqz(f->partition[0].as.bytes, "c/d:e"));
            assert_true(str_starts_with(f->path, STR("p=c%2Fd%3Ae/part-")));
        }
        assert_null(strstr(arena_cstr(fix.arena, f->stats), "\"p\""));
    }
    assert_true(seen_null && seen_ab && seen_special);
    assert_string_equal(
        duck_rows(arena_printf(fix.arena,
                               "SELECT count(*), sum(x) FROM read_parquet('%.*s/*/*.parquet', hive_partitioning = false)",
                               STR_ARG(spec.root))
                      .ptr),
        "12,66");
    assert_string_equal(
        duck_rows(arena_printf(fix.arena,
                               "SELECT DISTINCT name FROM parquet_schema('%.*s/*/*.parquet') WHERE num_children IS NULL",
                               STR_ARG(spec.root))
                      .ptr),
        "x");
    spec.write_partition_columns = true;
    spec.root = in_folder("with_partition_columns");
    write_table(t, &spec);
    assert_string_equal(
        duck_rows(
            arena_printf(fix.arena,
                         "SELECT DISTINCT name FROM parquet_schema('%.*s/*/*.parquet') WHERE num_children IS NULL ORDER BY 1",
                         STR_ARG(spec.root))
                .ptr),
        "p\nx");
}

static void signed_zeros_and_nan_are_partitions_of_their_own(void **state) {
    (void)state;
    fake_table *t =
        table_of("x INT, p DOUBLE",
                 "SELECT i::INT AS x, [0::DOUBLE, '-0'::DOUBLE, 'nan'::DOUBLE, 1.5, NULL][1 + i % 5] AS p FROM range(10) t(i)");
    write_spec spec = spec_of(t->base.schema);
    static const uint32_t partition[] = {1};
    spec.partition_columns = partition;
    spec.n_partition_columns = 1;
    write_result r = write_table(t, &spec);
    assert_int_equal(r.n_files, 5);
    for (size_t i = 0; i < 5; i++) assert_int_equal(r.files[i].num_records, 2);
}

static void many_partitions_over_many_chunks(void **state) {
    (void)state;
    fake_table *t = table_of("x BIGINT, a INT, b DATE",
                             "SELECT i AS x, (i % 25)::INT AS a, DATE '2024-01-01' + (i % 4)::INT AS b FROM range(50000) t(i)");
    write_spec spec = spec_of(t->base.schema);
    static const uint32_t partition[] = {1, 2};
    spec.partition_columns = partition;
    spec.n_partition_columns = 2;
    write_result r = write_table(t, &spec);
    assert_int_equal(r.n_files, 100);
    for (size_t i = 0; i < r.n_files; i++) assert_int_equal(r.files[i].num_records, 500);
    assert_string_equal(
        duck_rows(arena_printf(fix.arena,
                               "SELECT count(*), sum(x) FROM read_parquet('%.*s/*/*/*.parquet', hive_partitioning = false)",
                               STR_ARG(spec.root))
                      .ptr),
        "50000,1249975000");
}

static void a_partition_is_split_by_size_too(void **state) {
    (void)state;
    fake_table *t =
        table_of("x BIGINT, s STRING, p INT", "SELECT i AS x, md5(i::VARCHAR) AS s, (i % 2)::INT AS p FROM range(200000) t(i)");
    write_spec spec = spec_of(t->base.schema);
    static const uint32_t partition[] = {2};
    spec.partition_columns = partition;
    spec.n_partition_columns = 1;
    spec.target_file_bytes = 1 << 20;
    write_result r = write_table(t, &spec);
    assert_true(r.n_files >= 6);
    int64_t rows[2] = {0, 0};
    for (size_t i = 0; i < r.n_files; i++) rows[r.files[i].partition[0].as.i64] += r.files[i].num_records;
    assert_int_equal(rows[0], 100000);
    assert_int_equal(rows[1], 100000);
}

/* ---- failure ---- */

static void a_failed_write_leaves_nothing(void **state) {
    (void)state;
    fake_table *t = table_of("x BIGINT", "SELECT i AS x FROM range(400000) t(i)");
    static const int64_t targets[] = {100000, 0}; /* several files by the feed, and one straight from the query */
    for (size_t i = 0; i < 2; i++) {
        relation *r = make_relation(t);
        expr *x = call_of("div", &type_long, long_literal(1), call_of("-", &type_long, column_of(r, "x"), long_literal(390000)));
        write_spec spec = spec_of(t->base.schema);
        spec.target_file_bytes = targets[i];
        write_result result;
        silt_error err = {0};
        assert_condition(engine_write(fix.engine, make_query(r, &x, 1, NULL), &plain_env, &spec, fix.arena, &result, &err), &err,
                         "DIVIDE_BY_ZERO");
        assert_int_equal(result.n_files, 0);
        assert_int_equal(count_files(spec.root.ptr), 0);
    }
}

/* COPY would write whatever the query gives. */
static void columns_of_another_type_are_refused(void **state) {
    (void)state;
    fake_table *t = table_of("x BIGINT, y INT", "SELECT 1::BIGINT AS x, 2::INT AS y");
    fake_table *other = make_table("x BIGINT, y BIGINT");
    static const int64_t records[] = {0, 1000};
    for (size_t i = 0; i < 2; i++) {
        write_spec spec = spec_of(other->base.schema);
        spec.max_records_per_file = records[i];
        write_result result;
        silt_error err = {0};
        assert_condition(engine_write(fix.engine, select_all(make_relation(t)), &plain_env, &spec, fix.arena, &result, &err),
                         &err, "INTERNAL_ERROR");
        assert_int_equal(count_files(spec.root.ptr), 0);
    }
}

static void a_cancelled_write_leaves_nothing(void **state) {
    (void)state;
    fake_table *t = table_of("x BIGINT", "SELECT i AS x FROM range(10) t(i)");
    write_spec spec = spec_of(t->base.schema);
    write_result result;
    silt_error err = {0};
    cancel_request(&fix.cancel, true);
    silt_status status = engine_write(fix.engine, select_all(make_relation(t)), &plain_env, &spec, fix.arena, &result, &err);
    cancel_request(&fix.cancel, false);
    assert_condition(status, &err, "OPERATION_CANCELLED");
    assert_int_equal(count_files(spec.root.ptr), 0);
}

static void discarding_removes_the_files(void **state) {
    (void)state;
    fake_table *t = table_of("x BIGINT", "SELECT i AS x FROM range(10) t(i)");
    write_spec spec = spec_of(t->base.schema);
    write_result r = write_table(t, &spec);
    assert_int_equal(count_files(spec.root.ptr), 1);
    engine_write_discard(&spec, &r);
    assert_int_equal(count_files(spec.root.ptr), 0);
}

static void unknown_codecs_are_refused(void **state) {
    (void)state;
    fake_table *t = table_of("x BIGINT", "SELECT i AS x FROM range(10) t(i)");
    write_spec spec = spec_of(t->base.schema);
    write_result result;
    silt_error err = {0};
    spec.compression = STR("lzo");
    assert_condition(engine_write(fix.engine, select_all(make_relation(t)), &plain_env, &spec, fix.arena, &result, &err), &err,
                     "INVALID_PARAMETER_VALUE");
    spec.compression = STR("ZSTD");
    result = write_table(t, &spec);
    assert_true(str_ends_with(result.files[0].path, STR("-c000.zstd.parquet")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timestamps_are_floored_to_milliseconds),
        cmocka_unit_test(dates_of_any_year),
        cmocka_unit_test(floats_have_nan_last_and_keep_signed_zeros),
        cmocka_unit_test(decimals_have_every_digit),
        cmocka_unit_test(types_without_bounds_have_null_counts),
        cmocka_unit_test(null_structs_count_for_each_leaf),
        cmocka_unit_test(strings_are_cut_with_a_tie_breaker),
        cmocka_unit_test(bounds_over_many_chunks),
        cmocka_unit_test(a_footer_tells_what_counting_finds),
        cmocka_unit_test(the_first_leaves_are_counted),
        cmocka_unit_test(constant_columns_are_counted_row_by_row),
        cmocka_unit_test(no_statistics_when_not_asked),
        cmocka_unit_test(names_sizes_and_content),
        cmocka_unit_test(no_rows_no_files),
        cmocka_unit_test(files_end_at_the_target_size),
        cmocka_unit_test(variants_are_written_unshredded),
        cmocka_unit_test(void_columns_are_not_written),
        cmocka_unit_test(records_per_file_are_limited),
        cmocka_unit_test(the_prefix_of_strings_may_be_another),
        cmocka_unit_test(parquet_types_are_what_spark_expects),
        cmocka_unit_test(mapped_columns_have_physical_names_and_ids),
        cmocka_unit_test(kept_and_new_rows_are_one_file),
        cmocka_unit_test(partitions_are_rewritten_one_after_another),
        cmocka_unit_test(extra_columns_and_another_folder),
        cmocka_unit_test(an_unpartitioned_change_file),
        cmocka_unit_test(partitions_get_folders_and_values),
        cmocka_unit_test(signed_zeros_and_nan_are_partitions_of_their_own),
        cmocka_unit_test(many_partitions_over_many_chunks),
        cmocka_unit_test(a_partition_is_split_by_size_too),
        cmocka_unit_test(a_failed_write_leaves_nothing),
        cmocka_unit_test(columns_of_another_type_are_refused),
        cmocka_unit_test(a_cancelled_write_leaves_nothing),
        cmocka_unit_test(discarding_removes_the_files),
        cmocka_unit_test(unknown_codecs_are_refused),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
