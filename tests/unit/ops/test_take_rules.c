/* Which Parquet files a load may take as they are: one footer per rule, made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "expr/expr.h"
#include "ops/take_files.h"

#define LEAVES_MAX 4

/** A file of one column `v` below the root, and what the table says of it. */
typedef struct file_case {
    const char *why; /* part of the reason; NULL: it is taken */
    const char *columns; /* of the table, as DDL */
    parquet_element e[6];
    size_t n;
} file_case;

typedef struct world {
    arena *a;
    silt_error err;
    ops_env env;
    op o;
    write_target table;
    write_spec spec;
    parquet_element elements[8];
    parquet_chunk chunks[LEAVES_MAX * 8];
    parquet_footer footer;
} world;

static int set_up(void **state) {
    static world w;
    w = (world){.a = arena_new()};
    w.o = (op){&w.env, w.a, &w.err};
    *state = &w;
    return w.a ? 0 : -1;
}

static int tear_down(void **state) {
    arena_free(((world *)*state)->a);
    return 0;
}

/* The tree's numbers, as parsing gives them. */
static size_t link_elements(world *w, size_t at, uint32_t *leaf) {
    parquet_element *e = &w->elements[at];
    size_t next = at + 1;
    e->leaf = *leaf;
    if (e->n_children == 0) ++*leaf;
    else e->physical = PARQUET_GROUP;
    for (int32_t i = 0; i < e->n_children; i++) next = link_elements(w, next, leaf);
    e->next = (uint32_t)next;
    return next;
}

static void build(world *w, const char *columns, const parquet_element *e, size_t n, int32_t n_top, size_t groups) {
    uint32_t leaves = 0;
    memset(w->elements, 0, sizeof w->elements);
    w->elements[0] = (parquet_element){.name = STR("root"), .n_children = n_top, .physical = PARQUET_GROUP};
    memcpy(&w->elements[1], e, n * sizeof *e);
    for (size_t i = 0; i <= n; i++)
        if (!w->elements[i].name.ptr) w->elements[i].name = STR("v");
    assert_int_equal(link_elements(w, 0, &leaves), n + 1);
    assert_in_range(leaves * groups, 1, ARRAY_LEN(w->chunks));
    for (size_t i = 0; i < leaves * groups; i++)
        w->chunks[i] = (parquet_chunk){.values = 10000, .nulls = 1, .offset = 4 + (int64_t)i * 1000, .length = 1000, .codec = PARQUET_SNAPPY, .encodings = UINT32_C(1) << PARQUET_ENCODED_PLAIN | UINT32_C(1) << PARQUET_ENCODED_RLE};
    w->footer = (parquet_footer){.elements = w->elements, .n_elements = n + 1, .n_leaves = leaves, .n_rows = (int64_t)groups * 10000, .created_by = STR("parquet-mr version 1.15.2 (build x)"),
                                 .spark_schema = STR_NULL, .has_type_order = true, .chunks = w->chunks, .n_row_groups = groups};
    assert_int_equal(schema_parse_ddl(str_of(columns), w->a, &w->table.schema, &w->err), SILT_OK);
}

static const char *answer(world *w) {
    const take_rules r = {&w->o, &w->table, &w->spec, w->table.schema};
    str why;
    assert_int_equal(take_rules_file(&r, &w->footer, &why), SILT_OK);
    return str_is_null(why) ? NULL : arena_cstr(w->a, why);
}

static void expect(world *w, const char *why, const char *what) {
    const char *got = answer(w);
    bool same = why ? got && strstr(got, why) : !got;
    if (!same) fail_msg("%s: expected %s, got %s", what, why ? why : "taken", got ? got : "taken");
}

#define OPT .repetition = PARQUET_OPTIONAL
#define FORM "stored otherwise"

static void types(void **state) {
    world *w = *state;
    const file_case cases[] = {
        {NULL, "v BOOLEAN", {{OPT, .physical = PARQUET_BOOLEAN}}, 1},
        {NULL, "v INT", {{OPT, .physical = PARQUET_INT32}}, 1},
        {NULL, "v INT", {{OPT, .physical = PARQUET_INT32, .meaning = PARQUET_INTEGER, .bits = 32, .is_signed = true}}, 1},
        {FORM, "v BIGINT", {{OPT, .physical = PARQUET_INT32, .meaning = PARQUET_INTEGER, .bits = 32}}, 1},
        {FORM, "v BIGINT", {{OPT, .physical = PARQUET_INT32}}, 1},
        {NULL, "v BIGINT", {{OPT, .physical = PARQUET_INT64}}, 1},
        {FORM, "v INT", {{OPT, .physical = PARQUET_INT64}}, 1},
        {FORM, "v DECIMAL(20,0)", {{OPT, .physical = PARQUET_INT64, .meaning = PARQUET_INTEGER, .bits = 64}}, 1},
        {NULL, "v TINYINT", {{OPT, .physical = PARQUET_INT32, .meaning = PARQUET_INTEGER, .bits = 8, .is_signed = true}}, 1},
        {FORM, "v TINYINT", {{OPT, .physical = PARQUET_INT32}}, 1},
        {FORM, "v SMALLINT", {{OPT, .physical = PARQUET_INT32, .meaning = PARQUET_INTEGER, .bits = 8, .is_signed = true}}, 1},
        {NULL, "v SMALLINT", {{OPT, .physical = PARQUET_INT32, .meaning = PARQUET_INTEGER, .bits = 16, .is_signed = true}}, 1},
        {NULL, "v FLOAT", {{OPT, .physical = PARQUET_FLOAT}}, 1},
        {FORM, "v DOUBLE", {{OPT, .physical = PARQUET_FLOAT}}, 1},
        {NULL, "v DOUBLE", {{OPT, .physical = PARQUET_DOUBLE}}, 1},
        {NULL, "v STRING", {{OPT, .physical = PARQUET_BYTES, .meaning = PARQUET_STRING}}, 1},
        {FORM, "v STRING", {{OPT, .physical = PARQUET_BYTES}}, 1},
        {FORM, "v STRING", {{OPT, .physical = PARQUET_BYTES, .meaning = PARQUET_ENUM}}, 1},
        {FORM, "v STRING", {{OPT, .physical = PARQUET_BYTES, .meaning = PARQUET_JSON}}, 1},
        {FORM, "v VARCHAR(10)", {{OPT, .physical = PARQUET_BYTES, .meaning = PARQUET_STRING}}, 1},
        {NULL, "v BINARY", {{OPT, .physical = PARQUET_BYTES}}, 1},
        {FORM, "v BINARY", {{OPT, .physical = PARQUET_BYTES, .meaning = PARQUET_STRING}}, 1},
        {FORM, "v BINARY", {{OPT, .physical = PARQUET_BYTES, .meaning = PARQUET_BSON}}, 1},
        {FORM, "v BINARY", {{OPT, .physical = PARQUET_FIXED, .length = 16}}, 1},
        {"no table has", "v STRING", {{OPT, .physical = PARQUET_FIXED, .length = 16, .meaning = PARQUET_UUID}}, 1},
        {NULL, "v DATE", {{OPT, .physical = PARQUET_INT32, .meaning = PARQUET_DATE}}, 1},
        {NULL, "v TIMESTAMP", {{OPT, .physical = PARQUET_INT64, .meaning = PARQUET_TIMESTAMP, .unit = PARQUET_MICROS, .is_utc = true}}, 1},
        {FORM, "v TIMESTAMP", {{OPT, .physical = PARQUET_INT64, .meaning = PARQUET_TIMESTAMP, .unit = PARQUET_MICROS}}, 1},
        {FORM, "v TIMESTAMP", {{OPT, .physical = PARQUET_INT64, .meaning = PARQUET_TIMESTAMP, .unit = PARQUET_MILLIS, .is_utc = true}}, 1},
        {"no table has", "v TIMESTAMP", {{OPT, .physical = PARQUET_INT64, .meaning = PARQUET_TIMESTAMP, .unit = PARQUET_NANOS, .is_utc = true}}, 1},
        {FORM, "v TIMESTAMP", {{OPT, .physical = PARQUET_INT96}}, 1},
        {NULL, "v TIMESTAMP_NTZ", {{OPT, .physical = PARQUET_INT64, .meaning = PARQUET_TIMESTAMP, .unit = PARQUET_MICROS}}, 1},
        {FORM, "v TIMESTAMP_NTZ", {{OPT, .physical = PARQUET_INT64, .meaning = PARQUET_TIMESTAMP, .unit = PARQUET_MICROS, .is_utc = true}}, 1},
        {NULL, "v DECIMAL(9,2)", {{OPT, .physical = PARQUET_INT32, .meaning = PARQUET_DECIMAL, .precision = 9, .scale = 2}}, 1},
        {FORM, "v DECIMAL(9,3)", {{OPT, .physical = PARQUET_INT32, .meaning = PARQUET_DECIMAL, .precision = 9, .scale = 2}}, 1},
        {FORM, "v DECIMAL(10,2)", {{OPT, .physical = PARQUET_INT32, .meaning = PARQUET_DECIMAL, .precision = 9, .scale = 2}}, 1},
        {FORM, "v DECIMAL(9,2)", {{OPT, .physical = PARQUET_INT64, .meaning = PARQUET_DECIMAL, .precision = 9, .scale = 2}}, 1},
        {NULL, "v DECIMAL(18,2)", {{OPT, .physical = PARQUET_INT64, .meaning = PARQUET_DECIMAL, .precision = 18, .scale = 2}}, 1},
        {FORM, "v DECIMAL(18,2)", {{OPT, .physical = PARQUET_FIXED, .length = 8, .meaning = PARQUET_DECIMAL, .precision = 18, .scale = 2}}, 1},
        {NULL, "v DECIMAL(19,2)", {{OPT, .physical = PARQUET_FIXED, .length = 9, .meaning = PARQUET_DECIMAL, .precision = 19, .scale = 2}}, 1},
        {NULL, "v DECIMAL(38,2)", {{OPT, .physical = PARQUET_FIXED, .length = 16, .meaning = PARQUET_DECIMAL, .precision = 38, .scale = 2}}, 1},
        {FORM, "v DECIMAL(38,2)", {{OPT, .physical = PARQUET_FIXED, .length = 17, .meaning = PARQUET_DECIMAL, .precision = 38, .scale = 2}}, 1},
        {FORM, "v DECIMAL(20,2)", {{OPT, .physical = PARQUET_BYTES, .meaning = PARQUET_DECIMAL, .precision = 20, .scale = 2}}, 1},
        {"no table has", "v STRING", {{OPT, .physical = PARQUET_INT64, .meaning = PARQUET_TIME, .unit = PARQUET_MICROS}}, 1},
        {FORM, "v ARRAY<INT>", {{.repetition = PARQUET_REPEATED, .physical = PARQUET_INT32}}, 1},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char what[96];
        snprintf(what, sizeof what, "case %zu, %s", i, cases[i].columns);
        build(w, cases[i].columns, cases[i].e, cases[i].n, 1, 1);
        expect(w, cases[i].why, what);
    }
}

#define LEAF(name_) {OPT, .name = STR(name_), .physical = PARQUET_INT32}
#define GROUP(meaning_, n) {OPT, .meaning = (meaning_), .n_children = (n), .physical = PARQUET_GROUP}
#define MIDDLE(name_, n) {.name = STR(name_), .repetition = PARQUET_REPEATED, .n_children = (n), .physical = PARQUET_GROUP}

static void nested(void **state) {
    world *w = *state;
    const parquet_element key = {.name = STR("key"), .physical = PARQUET_INT32}, nullable_key = LEAF("key");
    const file_case cases[] = {
        {NULL, "v STRUCT<a: INT, b: INT>", {GROUP(PARQUET_PLAIN, 2), LEAF("a"), LEAF("b")}, 3},
        {FORM, "v STRUCT<b: INT, a: INT>", {GROUP(PARQUET_PLAIN, 2), LEAF("a"), LEAF("b")}, 3},
        {FORM, "v STRUCT<a: INT>", {GROUP(PARQUET_PLAIN, 2), LEAF("a"), LEAF("b")}, 3},
        {FORM, "v STRUCT<a: INT, b: INT, c: INT>", {GROUP(PARQUET_PLAIN, 2), LEAF("a"), LEAF("b")}, 3},
        {FORM, "v STRUCT<A: INT, b: INT>", {GROUP(PARQUET_PLAIN, 2), LEAF("a"), LEAF("b")}, 3},
        {FORM, "v STRUCT<a: INT NOT NULL, b: INT>", {GROUP(PARQUET_PLAIN, 2), LEAF("a"), LEAF("b")}, 3},
        {NULL, "v ARRAY<INT>", {GROUP(PARQUET_LIST, 1), MIDDLE("list", 1), LEAF("element")}, 3},
        {FORM, "v ARRAY<INT>", {GROUP(PARQUET_LIST, 1), MIDDLE("list", 1), LEAF("item")}, 3},
        {FORM, "v ARRAY<INT>", {GROUP(PARQUET_LIST, 1), MIDDLE("bag", 1), LEAF("array_element")}, 3},
        {FORM, "v ARRAY<INT>", {GROUP(PARQUET_LIST, 1), {.name = STR("array"), .repetition = PARQUET_REPEATED, .physical = PARQUET_INT32}}, 2},
        {FORM, "v ARRAY<BIGINT>", {GROUP(PARQUET_LIST, 1), MIDDLE("list", 1), LEAF("element")}, 3},
        {NULL, "v MAP<INT, INT>", {GROUP(PARQUET_MAP, 1), MIDDLE("key_value", 2), key, LEAF("value")}, 4},
        {FORM, "v MAP<INT, INT>", {GROUP(PARQUET_MAP, 1), MIDDLE("key_value", 2), nullable_key, LEAF("value")}, 4},
        {FORM, "v MAP<INT, INT>", {GROUP(PARQUET_MAP, 1), MIDDLE("map", 2), key, LEAF("value")}, 4},
        {FORM, "v INT", {GROUP(PARQUET_PLAIN, 1), LEAF("a")}, 2},
        {FORM, "v STRUCT<a: INT>", {LEAF("v")}, 1},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char what[96];
        snprintf(what, sizeof what, "case %zu, %s", i, cases[i].columns);
        build(w, cases[i].columns, cases[i].e, cases[i].n, 1, 1);
        expect(w, cases[i].why, what);
    }
    build(w, "v ARRAY<INT>", (parquet_element[]){GROUP(PARQUET_LIST, 1), MIDDLE("list", 1), LEAF("element")}, 3, 1, 1);
    data_type list = *w->table.schema->fields[0].type;
    field column = w->table.schema->fields[0];
    list.contains_null = false;
    column.type = &list;
    w->table.schema = type_struct(w->a, &column, 1);
    expect(w, FORM, "elements that must not be null");
}

static void columns(void **state) {
    world *w = *state;
    const parquet_element two[] = {{OPT, .name = STR("a"), .physical = PARQUET_INT32}, {OPT, .name = STR("b"), .physical = PARQUET_INT32}};
    const parquet_element twice[] = {two[0], two[0]};
    build(w, "b INT, a INT, c INT", two, 2, 2, 1);
    expect(w, NULL, "another order, and one that is missing");
    build(w, "a INT", two, 2, 2, 1);
    expect(w, "column b", "one that the table lacks");
    build(w, "a INT, B INT", two, 2, 2, 1);
    expect(w, "column b", "another case");
    build(w, "a INT", twice, 2, 2, 1);
    expect(w, "two columns a", "one name twice");
    build(w, "a INT, b INT, c INT NOT NULL", two, 2, 2, 1);
    expect(w, "lacks the column c", "NOT NULL and missing");
    build(w, "a INT, b INT NOT NULL", two, 2, 2, 2);
    expect(w, "column b has no nulls", "NOT NULL and a null");
    w->chunks[1].nulls = w->chunks[3].nulls = 0;
    expect(w, NULL, "NOT NULL and none");
    w->chunks[3].nulls = -1;
    expect(w, "column b has no nulls", "NOT NULL and not told of one group");
    w->elements[2].repetition = PARQUET_REQUIRED;
    expect(w, NULL, "required");

    build(w, "a INT, b INT", two, 2, 2, 1);
    const data_type *less;
    assert_int_equal(schema_parse_ddl(STR("a INT"), w->a, &less, &w->err), SILT_OK);
    const take_rules r = {&w->o, &w->table, &w->spec, less};
    str why;
    assert_int_equal(take_rules_file(&r, &w->footer, &why), SILT_OK);
    assert_false(str_is_null(why)); /* the load has a schema of its own, without b */

    build(w, "a INT, b INT", two, 2, 2, 1);
    w->footer.spark_schema = STR("{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"integer\",\"nullable\":true,\"metadata\":{}},{\"name\":\"b\",\"type\":\"date\",\"nullable\":true,\"metadata\":{}}]}");
    expect(w, "column b", "its writer says another type");
}

static void nan_in_bounds(void **state) {
    world *w = *state;
    const parquet_element number = {OPT, .name = STR("v"), .physical = PARQUET_DOUBLE};
    static const char *const writers[] = {"parquet-mr version 1.15.2", "DuckDB version v1.5.6", "parquet-cpp-arrow version 22.0.0", "parquet-rs version 57.0.0", "delta-rs version py-1.6.6"};
    for (size_t i = 0; i < ARRAY_LEN(writers); i++) {
        build(w, "v DOUBLE", &number, 1, 1, 2);
        w->footer.created_by = str_of(writers[i]);
        expect(w, NULL, writers[i]);
        w->chunks[1].max = STR("12345678");
        expect(w, i < 2 ? NULL : "NaN", writers[i]);
    }
}

static void many_bytes(parquet_chunk *c) {
    c->values = 100;
    c->length = 8 << 20;
}

static void files(void **state) {
    world *w = *state;
    const parquet_element one = LEAF("v");
#define CHANGED(why, what, change)                     \
    do {                                               \
        build(w, "v INT", &one, 1, 1, 6);              \
        change;                                        \
        expect(w, why, what);                          \
        w->spec = (write_spec){0};                     \
    } while (0)
    CHANGED(NULL, "as it is", (void)0);
    CHANGED("no rows", "no rows", w->footer.n_rows = 0);
    CHANGED("who wrote it", "another writer", w->footer.created_by = STR("someone 1.0"));
    CHANGED("who wrote it", "no writer", w->footer.created_by = STR_NULL);
    CHANGED(NULL, "DuckDB", w->footer.created_by = STR("DuckDB version v1.5.6 (build x)"));
    CHANGED(NULL, "Arrow", w->footer.created_by = STR("parquet-cpp-arrow version 22.0.0"));
    CHANGED(NULL, "arrow-rs", w->footer.created_by = STR("parquet-rs version 57.0.0"));
    CHANGED(NULL, "delta-rs", w->footer.created_by = STR("delta-rs version py-1.6.6"));
    CHANGED("old calendar", "the old calendar", w->footer.is_rebased = true);
    CHANGED("encrypted", "an encrypted column", w->chunks[3].is_encrypted = true);
    CHANGED("not tell where", "no place", w->chunks[3].offset = 0);
    CHANGED("not tell where", "no length", w->chunks[3].length = 0);
    CHANGED("compressed in a way", "LZ4", w->chunks[3].codec = PARQUET_LZ4);
    CHANGED("compressed in a way", "LZ4 without frames", w->chunks[3].codec = PARQUET_LZ4_RAW);
    CHANGED("compressed in a way", "Brotli", w->chunks[3].codec = PARQUET_BROTLI);
    CHANGED("compressed in a way", "not told", w->chunks[3].codec = -1);
    CHANGED(NULL, "Zstandard", w->chunks[3].codec = PARQUET_ZSTD);
    CHANGED(NULL, "gzip", w->chunks[3].codec = PARQUET_GZIP);
    CHANGED(NULL, "none", w->chunks[3].codec = PARQUET_UNCOMPRESSED);
    CHANGED("as is asked for", "another codec is asked for", w->spec.compression = STR("zstd"));
    CHANGED(NULL, "this codec is asked for", w->spec.compression = STR("snappy"));
    CHANGED("encoded in a way", "deltas", w->chunks[3].encodings |= UINT32_C(1) << PARQUET_ENCODED_DELTA_BINARY);
    CHANGED("encoded in a way", "split streams", w->chunks[3].encodings |= UINT32_C(1) << PARQUET_ENCODED_SPLIT);
    CHANGED("encoded in a way", "an encoding of the future", w->chunks[3].encodings |= PARQUET_ENCODING_UNKNOWN);
    CHANGED(NULL, "bit-packed levels that are not there", w->chunks[3].encodings |= UINT32_C(1) << PARQUET_ENCODED_BIT_PACKED);
    CHANGED("as many values", "values that are not the rows", w->chunks[3].values = 9999);
    CHANGED("more rows", "more rows than a file is to have", w->spec.max_records_per_file = 59999);
    CHANGED(NULL, "as many rows as a file is to have", w->spec.max_records_per_file = 60000);
    CHANGED("huge", "a huge row group", w->chunks[3].length = (int64_t)600 << 20);
    CHANGED("huge", "an impossible length", w->chunks[3].length = INT64_MAX);
    CHANGED("tiny", "tiny row groups", for (size_t i = 0; i < 6; i++) w->chunks[i].values = 100; w->footer.n_rows = 600);
    CHANGED(NULL, "few rows of many bytes", for (size_t i = 0; i < 6; i++) many_bytes(&w->chunks[i]); w->footer.n_rows = 600);
}

/* ---- the table and the number of files ---- */

static const char *table_answer(world *w, const table_source *source, size_t n, int64_t bytes) {
    const take_rules r = {&w->o, &w->table, &w->spec, w->table.schema};
    scan_file *list = ARENA_ARRAY(w->a, n + 1, scan_file);
    assert_non_null(list);
    for (size_t i = 0; i < n; i++) list[i].size_bytes = bytes;
    const table_scan scan = {.files = list, .n_files = n};
    str why;
    assert_int_equal(take_rules_table(&r, source, &scan, &why), SILT_OK);
    return str_is_null(why) ? NULL : arena_cstr(w->a, why);
}

static void tables(void **state) {
    world *w = *state;
    const parquet_element one = LEAF("v");
    table_source source = {0};
    build(w, "v INT COMMENT 'a'", &one, 1, 1, 1);
    w->spec.target_file_bytes = (int64_t)256 << 20;
    assert_null(table_answer(w, &source, 1, 1000));
    assert_null(table_answer(w, &source, 4, 1000));
    assert_non_null(table_answer(w, &source, 5, 1000));
    assert_non_null(table_answer(w, &source, 0, 0));
    assert_null(table_answer(w, &source, 100, (int64_t)200 << 20));
    assert_non_null(table_answer(w, &source, 100, (int64_t)20 << 20));
    assert_null(table_answer(w, &source, 1, (int64_t)512 << 20));
    assert_non_null(table_answer(w, &source, 1, (int64_t)600 << 20));
    static const char *const keys[] = {"delta.constraints.c", "delta.columnMapping.mode", "delta.enableIcebergCompatV2"}, *const values[] = {"v > 1", "id", "true"};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        str key = str_of(keys[i]), text = str_of(values[i]);
        w->table.metadata.configuration = (str_map){&key, &text, 1};
        assert_non_null(table_answer(w, &source, 1, 1000));
    }
    w->table.metadata.configuration = (str_map){NULL, NULL, 0};
    w->spec.random_prefix = true;
    assert_non_null(table_answer(w, &source, 1, 1000));
    w->spec.random_prefix = false;
    w->table.metadata.n_partition_columns = 1;
    assert_non_null(table_answer(w, &source, 1, 1000));
    w->table.metadata.n_partition_columns = 0;
    source.n_partition_columns = 1;
    assert_non_null(table_answer(w, &source, 1, 1000));
    source.n_partition_columns = 0;
    field column = w->table.schema->fields[0], inner = column;
    static const char *const metadata[] = {"{\"CURRENT_DEFAULT\":\"1\"}", "{\"delta.invariants\":\"{}\"}", "{\"delta.typeChanges\":[]}", "{\"__COLLATIONS\":{}}", "{\"comment\":\"a\",\"delta.identity.start\":1}", "{"};
    for (size_t i = 0; i < ARRAY_LEN(metadata); i++) {
        column.metadata = str_of(metadata[i]);
        w->table.schema = type_struct(w->a, &column, 1);
        assert_non_null(table_answer(w, &source, 1, 1000));
        inner.metadata = str_of("{}");
        inner.type = type_array(w->a, type_struct(w->a, &column, 1), true);
        w->table.schema = type_struct(w->a, &inner, 1);
        assert_non_null(table_answer(w, &source, 1, 1000));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(types, set_up, tear_down),   cmocka_unit_test_setup_teardown(nested, set_up, tear_down),
        cmocka_unit_test_setup_teardown(columns, set_up, tear_down), cmocka_unit_test_setup_teardown(files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tables, set_up, tear_down),  cmocka_unit_test_setup_teardown(nan_in_bounds, set_up, tear_down),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
