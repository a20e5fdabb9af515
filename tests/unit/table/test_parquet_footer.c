/* Footers built byte by byte: what is read of them, and what is refused. Real files: tests/fuzz/corpus/parquet_footer and the interop run. */
#include "table_test.h"

#include "table/parquet_schema.h"

/* ---- Thrift's compact protocol, written ---- */

typedef struct writer {
    buf b;
    int last[16];
    int depth;
} writer;

static void put_varint(writer *w, uint64_t v) {
    for (; v >= 0x80; v >>= 7) buf_append_char(&w->b, (char)(v | 0x80));
    buf_append_char(&w->b, (char)v);
}

static void put_field(writer *w, int id, int type) {
    buf_append_char(&w->b, (char)((id - w->last[w->depth]) << 4 | type));
    w->last[w->depth] = id;
}

static void put_number(writer *w, int id, int type, int64_t v) {
    put_field(w, id, type);
    put_varint(w, (uint64_t)v << 1 ^ (uint64_t)(v >> 63));
}

static void put_text(writer *w, int id, const char *text) {
    put_field(w, id, 8);
    put_varint(w, strlen(text));
    buf_append_z(&w->b, text);
}

static void begin(writer *w) { w->last[++w->depth] = 0; }
static void end(writer *w) {
    buf_append_char(&w->b, 0);
    w->depth--;
}

static void put_list(writer *w, int id, int type, int n) {
    put_field(w, id, 9);
    buf_append_char(&w->b, (char)(n << 4 | type));
}

typedef struct column {
    const char *name;
    int physical, converted, children, length, scale, precision, repetition;
} column;

static void put_element(writer *w, const column *c) {
    begin(w);
    if (c->physical >= 0) put_number(w, 1, 5, c->physical);
    if (c->length) put_number(w, 2, 5, c->length);
    put_number(w, 3, 5, c->repetition);
    put_text(w, 4, c->name);
    if (c->children) put_number(w, 5, 5, c->children);
    if (c->converted >= 0) put_number(w, 6, 5, c->converted);
    if (c->scale) put_number(w, 7, 5, c->scale);
    if (c->precision) put_number(w, 8, 5, c->precision);
    end(w);
}

/* A footer without row groups. */
static str footer_of(arena *a, const column *columns, int n, int64_t rows) {
    writer w = {0};
    buf_init(&w.b, BUF_MAX_DEFAULT);
    put_number(&w, 1, 5, 2);
    put_list(&w, 2, 12, n);
    for (int i = 0; i < n; i++) put_element(&w, &columns[i]);
    put_number(&w, 3, 6, rows);
    put_list(&w, 4, 12, 0);
    buf_append_char(&w.b, 0);
    str bytes = arena_str(a, buf_str(&w.b));
    buf_dispose(&w.b);
    return bytes;
}

static const parquet_rules rules = {.int96_as_timestamp = true, .infer_ntz = true};

static const char *type_of(arena *a, const column *columns, int n) {
    parquet_footer f;
    const data_type *type;
    silt_error err = {0};
    assert_int_equal(parquet_footer_parse(footer_of(a, columns, n, 0), false, a, &f, &err), SILT_OK);
    if (parquet_schema_type(&f, &rules, a, &type, &err) != SILT_OK) return arena_cstr(a, str_of(err.condition));
    return arena_cstr(a, type_simple(type, a));
}

static void types_as_spark(void **state) {
    (void)state;
    /* columns: physical, converted type, …; types as ParquetToSparkSchemaConverter gives them */
    static const struct {
        column c;
        const char *type;
    } cases[] = {
        {{"c", 0, -1, 0, 0, 0, 0, 1}, "struct<c:boolean>"},
        {{"c", 1, -1, 0, 0, 0, 0, 1}, "struct<c:int>"},
        {{"c", 1, 15, 0, 0, 0, 0, 1}, "struct<c:tinyint>"},
        {{"c", 1, 11, 0, 0, 0, 0, 1}, "struct<c:smallint>"},
        {{"c", 1, 12, 0, 0, 0, 0, 1}, "struct<c:int>"},
        {{"c", 1, 13, 0, 0, 0, 0, 1}, "struct<c:bigint>"},
        {{"c", 2, 14, 0, 0, 0, 0, 1}, "struct<c:decimal(20,0)>"},
        {{"c", 1, 6, 0, 0, 0, 0, 1}, "struct<c:date>"},
        {{"c", 1, 5, 0, 0, 2, 9, 1}, "struct<c:decimal(9,2)>"},
        {{"c", 1, 5, 0, 0, 2, 10, 1}, "PARQUET_TYPE_ILLEGAL"},
        {{"c", 2, 5, 0, 0, 0, 18, 1}, "struct<c:decimal(18,0)>"},
        {{"c", 7, 5, 0, 5, 3, 11, 1}, "struct<c:decimal(11,3)>"},
        {{"c", 7, 5, 0, 5, 3, 12, 1}, "PARQUET_TYPE_ILLEGAL"},
        {{"c", 6, 5, 0, 0, 10, 38, 1}, "struct<c:decimal(38,10)>"},
        {{"c", 2, 9, 0, 0, 0, 0, 1}, "struct<c:timestamp>"},
        {{"c", 2, 10, 0, 0, 0, 0, 1}, "struct<c:timestamp>"},
        {{"c", 3, -1, 0, 0, 0, 0, 1}, "struct<c:timestamp>"},
        {{"c", 1, 7, 0, 0, 0, 0, 1}, "PARQUET_TYPE_ILLEGAL"},
        {{"c", 2, 8, 0, 0, 0, 0, 1}, "PARQUET_TYPE_NOT_SUPPORTED"},
        {{"c", 4, -1, 0, 0, 0, 0, 1}, "struct<c:float>"},
        {{"c", 6, -1, 0, 0, 0, 0, 1}, "struct<c:binary>"},
        {{"c", 6, 0, 0, 0, 0, 0, 1}, "struct<c:string>"},
        {{"c", 6, 4, 0, 0, 0, 0, 1}, "struct<c:string>"},
        {{"c", 6, 19, 0, 0, 0, 0, 1}, "struct<c:string>"},
        {{"c", 6, 20, 0, 0, 0, 0, 1}, "struct<c:binary>"},
        {{"c", 7, -1, 0, 16, 0, 0, 1}, "struct<c:binary>"},
        {{"c", 7, 21, 0, 12, 0, 0, 1}, "PARQUET_TYPE_NOT_SUPPORTED"},
        {{"c", 1, -1, 0, 0, 0, 0, 2}, "struct<c:array<int>>"}};
    arena *a = arena_new();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        column columns[] = {{"root", -1, -1, 1, 0, 0, 0, 0}, cases[i].c};
        assert_string_equal(type_of(a, columns, 2), cases[i].type);
    }
    arena_free(a);
}

/* The backward compatibility rules of lists and maps. */
static void old_shapes(void **state) {
    (void)state;
    arena *a = arena_new();
    const column three[] = {{"r", -1, -1, 1, 0, 0, 0, 0}, {"l", -1, 3, 1, 0, 0, 0, 1}, {"list", -1, -1, 1, 0, 0, 0, 2}, {"element", 1, -1, 0, 0, 0, 0, 1}};
    const column hive[] = {{"r", -1, -1, 1, 0, 0, 0, 0}, {"l", -1, 3, 1, 0, 0, 0, 1}, {"bag", -1, -1, 1, 0, 0, 0, 2}, {"array_element", 1, -1, 0, 0, 0, 0, 1}};
    const column two[] = {{"r", -1, -1, 1, 0, 0, 0, 0}, {"l", -1, 3, 1, 0, 0, 0, 1}, {"array", 1, -1, 0, 0, 0, 0, 2}};
    const column avro[] = {{"r", -1, -1, 1, 0, 0, 0, 0}, {"l", -1, 3, 1, 0, 0, 0, 1}, {"array", -1, -1, 1, 0, 0, 0, 2}, {"x", 1, -1, 0, 0, 0, 0, 0}};
    const column thrift[] = {{"r", -1, -1, 1, 0, 0, 0, 0}, {"l", -1, 3, 1, 0, 0, 0, 1}, {"l_tuple", -1, -1, 1, 0, 0, 0, 2}, {"x", 1, -1, 0, 0, 0, 0, 0}};
    const column pair[] = {{"r", -1, -1, 1, 0, 0, 0, 0}, {"m", -1, 2, 1, 0, 0, 0, 1}, {"map", -1, -1, 2, 0, 0, 0, 2}, {"key", 6, 0, 0, 0, 0, 0, 0}, {"value", 2, -1, 0, 0, 0, 0, 1}};
    const column bad[] = {{"r", -1, -1, 1, 0, 0, 0, 0}, {"l", -1, 3, 1, 0, 0, 0, 1}, {"list", 1, -1, 0, 0, 0, 0, 1}};
    assert_string_equal(type_of(a, three, 4), "struct<l:array<int>>");
    assert_string_equal(type_of(a, hive, 4), "struct<l:array<int>>");
    assert_string_equal(type_of(a, two, 3), "struct<l:array<int>>");
    assert_string_equal(type_of(a, avro, 4), "struct<l:array<struct<x:int>>>");
    assert_string_equal(type_of(a, thrift, 4), "struct<l:array<struct<x:int>>>");
    assert_string_equal(type_of(a, pair, 5), "struct<m:map<string,bigint>>");
    assert_string_equal(type_of(a, bad, 3), "PARQUET_TYPE_ILLEGAL");
    arena_free(a);
}

static void refused(arena *a, str bytes, const char *why) {
    parquet_footer f;
    silt_error err = {0};
    assert_int_equal(parquet_footer_parse(bytes, true, a, &f, &err), SILT_CORRUPT);
    assert_string_equal(err.condition, "MALFORMED_PARQUET_FOOTER");
    assert_non_null(strstr(err.detail, why));
}

static void broken_bytes(void **state) {
    (void)state;
    arena *a = arena_new();
    const column good[] = {{"root", -1, -1, 2, 0, 0, 0, 0}, {"a", 1, -1, 0, 0, 0, 0, 1}, {"b", 6, 0, 0, 0, 0, 0, 1}};
    const column few[] = {{"root", -1, -1, 3, 0, 0, 0, 0}, {"a", 1, -1, 0, 0, 0, 0, 1}};
    const column many[] = {{"root", -1, -1, 1, 0, 0, 0, 0}, {"a", 1, -1, 0, 0, 0, 0, 1}, {"b", 1, -1, 0, 0, 0, 0, 1}};
    str bytes = footer_of(a, good, 3, 0);
    refused(a, STR(""), "cut short");
    refused(a, footer_of(a, few, 2, 0), "ends early");
    refused(a, footer_of(a, many, 3, 0), "not one tree");
    refused(a, footer_of(a, good, 3, 5), "not the sum");
    refused(a, footer_of(a, good, 3, -1), "");
    for (size_t n = 0; n < bytes.len; n++) { /* a footer that ends anywhere */
        parquet_footer f;
        str cut = arena_str(a, str_slice(bytes, 0, n));
        assert_int_equal(parquet_footer_parse(cut, true, a, &f, NULL), SILT_CORRUPT);
    }
    for (size_t n = 0; n < bytes.len; n++) /* and one with any byte changed: parsed or refused, never read beyond */
        for (int bit = 0; bit < 8; bit++) {
            parquet_footer f;
            char *copy = arena_alloc(a, bytes.len);
            memcpy(copy, bytes.ptr, bytes.len);
            copy[n] = (char)(copy[n] ^ 1 << bit);
            (void)!parquet_footer_parse((str){copy, bytes.len}, true, a, &f, NULL);
        }
    arena_free(a);
}

static void names_without_case(void **state) {
    (void)state;
    arena *a = arena_new();
    parquet_footer f;
    const column columns[] = {{"root", -1, -1, 4, 0, 0, 0, 0}, {"Ab", 1, -1, 0, 0, 0, 0, 1}, {"x", -1, -1, 1, 0, 0, 0, 1}, {"Ab", 2, -1, 0, 0, 0, 0, 1}, {"c", 1, -1, 0, 0, 0, 0, 1}, {"C", 2, -1, 0, 0, 0, 0, 1}};
    assert_int_equal(parquet_footer_parse(footer_of(a, columns, 6, 0), false, a, &f, NULL), SILT_OK);
    assert_int_equal(f.n_leaves, 4);
    assert_int_equal(parquet_find_child(&f, NULL, STR("aB"))->leaf, 0);
    const parquet_element *x = parquet_find_child(&f, NULL, STR("X"));
    assert_int_equal(parquet_find_child(&f, x, STR("ab"))->leaf, 1);
    assert_int_equal(parquet_find_child(&f, NULL, STR("C"))->leaf, 3);
    assert_null(parquet_find_child(&f, NULL, STR("nothing")));
    arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(types_as_spark), cmocka_unit_test(old_shapes), cmocka_unit_test(broken_bytes), cmocka_unit_test(names_without_case)};
    return RUN_TESTS(tests);
}
