/* Files that are no tables, and Arrow streams: what Spark's readers give for the same bytes and options. */
#include <sys/stat.h>

#include "support.h"

static void write_text(const char *name, const char *text) {
    str path = in_folder(name);
    FILE *f = fopen(path.ptr, "wb");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void make_folder(const char *name) { assert_int_equal(mkdir(in_folder(name).ptr, 0777), 0); }

static silt_status try_open(const char *format, const char *name, const char *options, const char *ddl, table_source **out,
                            silt_error *err) {
    str paths[1] = {in_folder(name)}, keys[8], values[8], rest = str_of(options), piece;
    size_t n = 0;
    while (rest.len && str_next(&rest, '&', &piece)) {
        size_t at = str_find_char(piece, '=');
        keys[n] = str_slice(piece, 0, at);
        values[n++] = str_slice(piece, at + 1, piece.len);
    }
    const data_type *declared = NULL;
    if (ddl) assert_ok(schema_parse_ddl(str_of(ddl), fix.arena, &declared, err), err);
    return engine_file_source(fix.engine, str_of(format), paths, 1, keys, values, n, declared, out, err);
}

static void release_source(void *t) { ((table_source *)t)->ops->release(t); }

static table_source *open_source(const char *format, const char *name, const char *options, const char *ddl) {
    table_source *t = NULL;
    silt_error err = {0};
    assert_ok(try_open(format, name, options, ddl, &t, &err), &err);
    arena_defer(fix.arena, release_source, t);
    return t;
}

static const char *schema_of(const table_source *t) { return type_simple(t->schema, fix.arena).ptr; }
static const char *content_of(table_source *t) { return rows_of(select_all(relation_over(t))); }

/* ---- csv ---- */

static void csv_is_text_without_header_by_default(void **state) {
    (void)state;
    write_text("plain.csv", "1,x\n2,\"a,b\"\n3,\n4\n5,\"\",more\n");
    table_source *t = open_source("csv", "plain.csv", "", NULL);
    assert_string_equal(schema_of(t), "struct<_c0:string,_c1:string>");
    assert_string_equal(content_of(t), "1,x\n2,a,b\n3,null\n4,null\n5,");
}

static void csv_infers_types_in_sparks_order(void **state) {
    (void)state;
    write_text("typed.csv", "i,l,d,dt,ts,b,s,mixed,none\n1,3000000000,1.5,2024-01-31,2024-01-31 "
                            "10:00:00,true,x,1,\n-2,4,1e3,2023-12-01,2024-01-31T10:00:00.25Z,FALSE,,y,\n");
    table_source *t = open_source("csv", "typed.csv", "header=true&inferSchema=true", NULL);
    assert_string_equal(schema_of(t),
                        "struct<i:int,l:bigint,d:double,dt:date,ts:timestamp,b:boolean,s:string,mixed:string,none:string>");
    assert_string_equal(content_of(t), "1,3000000000,1.5,2024-01-31,2024-01-31T10:00:00Z,true,x,1,null\n-2,4,1000.0,2023-12-01,"
                                       "2024-01-31T10:00:00.25Z,false,null,y,null");
}

static void csv_timestamps_without_a_zone_are_the_sessions(void **state) {
    (void)state;
    write_text("zone.csv", "2024-01-31 10:00:00\n2024-01-31 10:00:00Z\n");
    silt_error err = {0};
    assert_ok(engine_set_time_zone(fix.engine, STR("America/New_York"), &err), &err);
    assert_string_equal(content_of(open_source("csv", "zone.csv", "", "t TIMESTAMP")),
                        "2024-01-31T15:00:00Z\n2024-01-31T10:00:00Z");
    assert_ok(engine_set_time_zone(fix.engine, STR("+05:30"), &err), &err);
    assert_string_equal(content_of(open_source("csv", "zone.csv", "", "t TIMESTAMP")),
                        "2024-01-31T04:30:00Z\n2024-01-31T10:00:00Z");
    assert_ok(engine_set_time_zone(fix.engine, STR("UTC"), &err), &err);
}

static void csv_options(void **state) {
    (void)state;
    write_text("options.csv", "# a comment\na;b\n'x;y';NA\n'it\\'s';31/01/2024\n");
    table_source *t = open_source("csv", "options.csv", "sep=;&quote='&nullValue=NA&comment=#&HEADER=true&dateFormat=dd/MM/yyyy",
                                  "a STRING, b DATE");
    assert_string_equal(content_of(t), "x;y,null\nit's,2024-01-31");
}

/* java.time: '' is a quote, inside quotes and outside. */
static void csv_quotes_in_patterns(void **state) {
    (void)state;
    write_text("quotes.csv", "31'01 o'clock 2024\n");
    assert_string_equal(content_of(open_source("csv", "quotes.csv", "dateFormat=dd''MM 'o''clock' yyyy", "d DATE")), "2024-01-31");
}

static void csv_malformed_fields_by_mode(void **state) {
    (void)state;
    write_text("bad.csv", "1,1.5\nx,2\n3,2.0\n");
    assert_string_equal(content_of(open_source("csv", "bad.csv", "", "i INT, j DOUBLE")), "1,1.5\nnull,2.0\n3,2.0");
    assert_string_equal(content_of(open_source("csv", "bad.csv", "mode=DROPMALFORMED", "i INT, j DOUBLE")), "1,1.5\n3,2.0");
    assert_string_equal(content_of(open_source("csv", "bad.csv", "", "i INT, j INT")), "1,null\nnull,2\n3,null");
    const char *text;
    silt_error err = {0};
    table_source *strict = open_source("csv", "bad.csv", "mode=FAILFAST", "i INT, j DOUBLE");
    assert_condition(try_rows(select_all(relation_over(strict)), &text, &err), &err,
                     "MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION");
}

static void csv_header_names(void **state) {
    (void)state;
    write_text("names.csv", "a,,A,\"b \"\"c\"\"\"\n1,2,3,4\n");
    assert_string_equal(schema_of(open_source("csv", "names.csv", "header=true&escape=\"", NULL)),
                        "struct<a0:string,_c1:string,A2:string,b \"c\":string>");
}

/* ---- json ---- */

static void json_infers_sorted_fields(void **state) {
    (void)state;
    write_text("lines.json", "{\"z\": 1, \"b\": {\"y\": true, \"x\": [1, 2.5]}, \"d\": \"2024-01-31\"}\n{\"a\": \"t\", \"z\": "
                             "9007199254740993}\n{\"z\": null}\n");
    table_source *t = open_source("json", "lines.json", "", NULL);
    assert_string_equal(schema_of(t), "struct<a:string,b:struct<x:array<double>,y:boolean>,d:string,z:bigint>");
    assert_string_equal(content_of(t), "null,([1.0 2.5] true),2024-01-31,1\nt,null,null,9007199254740993\nnull,null,null,null");
}

static void json_with_a_given_schema(void **state) {
    (void)state;
    write_text("given.json",
               "{\"d\": \"2024-01-31\", \"t\": \"2024-01-31T10:00:00.5+02:00\", \"s\": {\"k\": 1}, \"n\": \"12\"}\nbroken\n");
    table_source *t = open_source("json", "given.json", "", "d DATE, t TIMESTAMP, s STRING, missing INT");
    assert_string_equal(content_of(t), "2024-01-31,2024-01-31T08:00:00.5Z,{\"k\":1},null\nnull,null,null,null");
}

static void json_documents_over_many_lines(void **state) {
    (void)state;
    write_text("array.json", "[\n {\"a\": 1},\n {\"a\":\n 2}\n]\n");
    assert_string_equal(content_of(open_source("json", "array.json", "multiLine=true", NULL)), "1\n2");
}

/* ---- parquet folders ---- */

static void folders_give_partition_columns(void **state) {
    (void)state;
    make_folder("events");
    make_folder("events/d=2024-01-31");
    make_folder("events/d=2024-02-01");
    make_folder("events/d=2024-01-31/k=1");
    make_folder("events/d=2024-01-31/k=__HIVE_DEFAULT_PARTITION__");
    make_folder("events/d=2024-02-01/k=22");
    make_folder("events/_temporary");
    run_sql("COPY (SELECT 1 AS x) TO '{}/events/d=2024-01-31/k=1/a.parquet'");
    run_sql("COPY (SELECT 2 AS x) TO '{}/events/d=2024-01-31/k=__HIVE_DEFAULT_PARTITION__/a.parquet'");
    run_sql("COPY (SELECT 3 AS x) TO '{}/events/d=2024-02-01/k=22/[b].parquet'");
    run_sql("COPY (SELECT 9 AS x) TO '{}/events/_temporary/c.parquet'");
    table_source *t = open_source("parquet", "events", "", NULL);
    assert_string_equal(schema_of(t), "struct<x:int,d:date,k:int>");
    assert_string_equal(content_of(t), "1,2024-01-31,1\n2,2024-01-31,null\n3,2024-02-01,22");
    assert_string_equal(content_of(open_source("parquet", "events", "", "k STRING, x BIGINT")),
                        "1,1,2024-01-31\nnull,2,2024-01-31\n22,3,2024-02-01");
    assert_string_equal(content_of(open_source("parquet", "events/d=2024-*/k=*", "", NULL)), "1\n2\n3");
}

static void int96_files_have_timestamps(void **state) {
    (void)state;
    const char *path = arena_printf(fix.arena, "%s/tests/unit/engine/data/int96.parquet", SILT_SOURCE_DIR).ptr;
    table_source *t = NULL;
    silt_error err = {0};
    str paths[1] = {str_of(path)};
    assert_ok(engine_file_source(fix.engine, STR("parquet"), paths, 1, NULL, NULL, 0, NULL, &t, &err), &err);
    assert_string_equal(schema_of(t), "struct<ts:timestamp,i:bigint>");
    t->ops->release(t);
}

static void schemas_are_merged_on_request(void **state) {
    (void)state;
    make_folder("merged");
    run_sql("COPY (SELECT 1 AS a) TO '{}/merged/1.parquet'");
    run_sql("COPY (SELECT 2 AS a, 'x' AS b) TO '{}/merged/2.parquet'");
    assert_string_equal(content_of(open_source("parquet", "merged", "", NULL)), "1\n2");
    assert_string_equal(content_of(open_source("parquet", "merged", "mergeSchema=true", NULL)), "1,null\n2,x");
}

static void wrong_paths_are_told(void **state) {
    (void)state;
    table_source *t;
    silt_error err = {0};
    make_folder("empty");
    assert_condition(try_open("parquet", "nowhere", "", NULL, &t, &err), &err, "PATH_NOT_FOUND");
    assert_condition(try_open("csv", "no*where", "", NULL, &t, &err), &err, "PATH_NOT_FOUND");
    assert_condition(try_open("parquet", "empty", "", NULL, &t, &err), &err, "UNABLE_TO_INFER_SCHEMA");
    assert_condition(try_open("orc", "empty", "", NULL, &t, &err), &err, "UNSUPPORTED_FEATURE");
    assert_condition(try_open("csv", "empty", "sep=", "a INT", &t, &err), &err, "INVALID_PARAMETER_VALUE");
    make_folder("clash");
    make_folder("clash/a=1");
    make_folder("clash/b=1");
    write_text("clash/a=1/x.csv", "1\n");
    write_text("clash/b=1/x.csv", "1\n");
    assert_condition(try_open("csv", "clash", "", NULL, &t, &err), &err, "CONFLICTING_PARTITION_COLUMN_NAMES");
}

/* ---- arrow ---- */

typedef struct one_batch {
    const data_type *type;
    struct ArrowArray array;
    int fail_with;
} one_batch;

static int batch_schema(struct ArrowArrayStream *s, struct ArrowSchema *out) {
    return arrow_schema_from_type(((one_batch *)s->private_data)->type, out, NULL) == SILT_OK ? 0 : 12;
}

static int batch_next(struct ArrowArrayStream *s, struct ArrowArray *out) {
    one_batch *b = s->private_data;
    *out = b->array;
    b->array.release = NULL;
    return out->release ? 0 : b->fail_with;
}

static const char *batch_error(struct ArrowArrayStream *s) {
    (void)s;
    return "the producer gave up";
}

static void batch_release(struct ArrowArrayStream *s) {
    one_batch *b = s->private_data;
    if (b->array.release) b->array.release(&b->array);
    s->release = NULL;
}

static table_source *arrow_table(one_batch *b, int64_t rows) {
    static field fields[3];
    fields[0] = field_make(STR("i"), &type_int, true);
    fields[1] = field_make(STR("s"), &type_string, true);
    fields[2] = field_make(STR("v"), &type_variant, true);
    b->type = type_struct(fix.arena, fields, 3);
    arrow_builder *builder = arrow_builder_new(b->type);
    for (int64_t i = 0; i < rows; i++) {
        arrow_append_i64(arrow_child(builder, 0), i);
        if (i % 2)
            arrow_append_null(arrow_child(builder, 1));
        else
            arrow_append_str(arrow_child(builder, 1), STR("a string longer than twelve bytes"));
        if (i % 3 == 1)
            arrow_append_null(arrow_child(builder, 2));
        else
            arrow_append_str(arrow_child(builder, 2), STR("{\"a\":[1,\"x\",null]}"));
        arrow_finish_row(builder);
    }
    assert_int_equal(arrow_builder_finish(builder, &b->array, NULL), SILT_OK);
    arrow_builder_free(builder);
    struct ArrowArrayStream stream = {batch_schema, batch_next, batch_error, batch_release, b};
    table_source *t = NULL;
    silt_error err = {0};
    assert_ok(engine_arrow_source(fix.engine, &stream, &t, &err), &err);
    assert_null(stream.release);
    return t;
}

static void arrow_streams_are_tables(void **state) {
    (void)state;
    one_batch b = {0};
    table_source *t = arrow_table(&b, 3);
    const char *variant = "{\"a\":[1,\"x\",null]}";
    assert_string_equal(
        content_of(t),
        arena_printf(fix.arena, "0,a string longer than twelve bytes,%s\n1,null,null\n2,a string longer than twelve bytes,%s",
                     variant, variant)
            .ptr);
    const char *text;
    silt_error err = {0};
    assert_condition(try_rows(select_all(relation_over(t)), &text, &err), &err, "UNSUPPORTED_FEATURE"); /* read once */
    t->ops->release(t);
}

static void a_failing_arrow_stream_is_told(void **state) {
    (void)state;
    one_batch b = {.fail_with = 5};
    table_source *t = arrow_table(&b, 5000);
    const char *text;
    silt_error err = {0};
    assert_condition(try_rows(select_all(relation_over(t)), &text, &err), &err, "FAILED_READ_FILE");
    assert_string_equal(err.detail, "the producer gave up");
    t->ops->release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_is_text_without_header_by_default),
        cmocka_unit_test(csv_infers_types_in_sparks_order),
        cmocka_unit_test(csv_timestamps_without_a_zone_are_the_sessions),
        cmocka_unit_test(csv_options),
        cmocka_unit_test(csv_quotes_in_patterns),
        cmocka_unit_test(csv_malformed_fields_by_mode),
        cmocka_unit_test(csv_header_names),
        cmocka_unit_test(json_infers_sorted_fields),
        cmocka_unit_test(json_with_a_given_schema),
        cmocka_unit_test(json_documents_over_many_lines),
        cmocka_unit_test(folders_give_partition_columns),
        cmocka_unit_test(int96_files_have_timestamps),
        cmocka_unit_test(schemas_are_merged_on_request),
        cmocka_unit_test(wrong_paths_are_told),
        cmocka_unit_test(arrow_streams_are_tables),
        cmocka_unit_test(a_failing_arrow_stream_is_told),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
