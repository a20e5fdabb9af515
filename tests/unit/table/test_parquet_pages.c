/* Pages built byte by byte: what is whole, and what is found out. Real files: tests/cli/load_as_is.py. */
#include "table_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/ident.h"
#include "table/parquet_pages.h"

typedef struct page_case {
    int kind, encoding;
    int64_t values, bytes, plain; /* by the header */
    const char *body;
    size_t body_length;
    bool with_crc, wrong_crc;
    int definition_encoding;
} page_case;

static void put_varint(buf *b, uint64_t v) {
    for (; v >= 0x80; v >>= 7) buf_append_char(b, (char)(v | 0x80));
    buf_append_char(b, (char)v);
}

static void put_number(buf *b, int step, int64_t v) {
    buf_append_char(b, (char)(step << 4 | 5));
    put_varint(b, (uint64_t)v << 1 ^ (uint64_t)(v >> 63));
}

static void put_page(buf *b, const page_case *p) {
    static const int kinds[] = {5, 6, 7, 8};
    uint32_t crc = crc32_of(p->body, p->body_length) ^ (p->wrong_crc ? 1 : 0);
    put_number(b, 1, p->kind);
    put_number(b, 1, p->plain);
    put_number(b, 1, p->bytes);
    if (p->with_crc) put_number(b, 1, (int32_t)crc);
    buf_append_char(b, (char)((kinds[p->kind & 3] - (p->with_crc ? 4 : 3)) << 4 | 12));
    put_number(b, 1, p->values);
    if (p->kind == 3) put_number(b, 3, p->encoding);
    else put_number(b, 1, p->encoding);
    if (p->kind == 0) put_number(b, 1, p->definition_encoding), put_number(b, 1, PARQUET_ENCODED_RLE);
    buf_append_char(b, 0);
    buf_append_char(b, 0);
    buf_append_bytes(b, p->body, p->body_length);
}

static FILE *file_of(const buf *b) {
    FILE *f = tmpfile();
    assert_non_null(f);
    assert_int_equal(fwrite(b->ptr, 1, b->len, f), b->len);
    assert_int_equal(fflush(f), 0);
    return f;
}

static const parquet_pages_rules rules = {.encodings = UINT32_C(1) << PARQUET_ENCODED_PLAIN | UINT32_C(1) << PARQUET_ENCODED_DICTIONARY, .has_definitions = true};

/* What is wrong with a chunk of those pages; `change` is applied to it. */
static const char *check(const page_case *pages, size_t n, parquet_chunk change) {
    buf b;
    const char *wrong;
    buf_init(&b, BUF_MAX_DEFAULT);
    buf_append_z(&b, "PAR1");
    for (size_t i = 0; i < n; i++) put_page(&b, &pages[i]);
    parquet_chunk c = {.offset = 4 + change.offset, .length = (int64_t)b.len - 4 + change.length, .values = change.values, .codec = change.codec};
    FILE *f = file_of(&b);
    assert_int_equal(parquet_pages_check(fileno(f), (int64_t)b.len, &c, &rules, &wrong, NULL), SILT_OK);
    fclose(f);
    buf_dispose(&b);
    return wrong;
}

/* A page of the first form, as it should be. */
static page_case data_page(int64_t values) { return (page_case){.values = values, .bytes = 4, .plain = 4, .body = "abcd", .body_length = 4, .definition_encoding = PARQUET_ENCODED_RLE}; }

static void chains(void **state) {
    (void)state;
    page_case two[] = {data_page(3), data_page(4)};
    two[0].with_crc = true;
    assert_null(check(two, 2, (parquet_chunk){.values = 7}));
    assert_non_null(check(two, 2, (parquet_chunk){.values = 8}));
    assert_non_null(check(two, 2, (parquet_chunk){.values = 7, .length = 1}));
    assert_non_null(check(two, 2, (parquet_chunk){.values = 7, .length = -1}));
    assert_non_null(check(two, 2, (parquet_chunk){.values = 7, .offset = 1, .length = -1}));
    assert_non_null(check(two, 2, (parquet_chunk){.values = 7, .offset = -1}));
    assert_non_null(check(two, 2, (parquet_chunk){.values = 7, .offset = INT64_MAX / 2}));
    assert_non_null(check(two, 2, (parquet_chunk){.values = 7, .length = INT64_MAX / 2}));
    page_case dictionary[] = {{.kind = 2, .values = 1, .bytes = 1, .plain = 1, .body = "x", .body_length = 1}, data_page(3)};
    dictionary[1].encoding = PARQUET_ENCODED_DICTIONARY;
    assert_null(check(dictionary, 2, (parquet_chunk){.values = 3}));
    const page_case late[] = {dictionary[1], dictionary[0]};
    assert_non_null(check(late, 2, (parquet_chunk){.values = 3}));
    const page_case second[] = {{.kind = 3, .values = 5, .bytes = 4, .plain = 9, .body = "abcd", .body_length = 4, .with_crc = true}};
    assert_null(check(second, 1, (parquet_chunk){.values = 5, .codec = PARQUET_SNAPPY}));
}

static void bad_pages(void **state) {
    (void)state;
    page_case cases[11];
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) cases[i] = data_page(3);
    cases[0].with_crc = cases[0].wrong_crc = true;
    cases[1].values = -1;
    cases[2].bytes = 5;
    cases[3].bytes = -1;
    cases[4].plain = -1;
    cases[5].plain = 5;
    cases[6].encoding = PARQUET_ENCODED_SPLIT;
    cases[7].encoding = 77;
    cases[8].encoding = -5;
    cases[9].definition_encoding = PARQUET_ENCODED_BIT_PACKED;
    cases[10].kind = 1;
    assert_ptr_equal(check(&cases[0], 1, (parquet_chunk){.values = 3}), parquet_page_damaged);
    for (size_t i = 1; i < ARRAY_LEN(cases); i++) assert_non_null(check(&cases[i], 1, (parquet_chunk){.values = cases[i].values}));
}

static void compressed(void **state) {
    (void)state;
    static const struct {
        int32_t codec;
        const char *body;
        size_t length;
        int64_t plain;
        bool good;
    } cases[] = {{PARQUET_SNAPPY, "\x05\x10hello", 7, 5, true}, {PARQUET_SNAPPY, "\x06\x10hello", 7, 5, false}, {PARQUET_SNAPPY, "\0\0\0\0\0\0\0", 7, 5, false}, {PARQUET_GZIP, "\x1f\x8b\x08", 3, 5, true},
                 {PARQUET_GZIP, "\0\0\0", 3, 5, false}, {PARQUET_ZSTD, "\x28\xb5\x2f\xfd\0", 5, 5, true}, {PARQUET_ZSTD, "\0\0\0\0\0", 5, 5, false}, {PARQUET_ZSTD, "\x28", 1, 5, false}, {PARQUET_UNCOMPRESSED, "abcde", 5, 5, true}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        page_case p = data_page(2);
        p.bytes = (int64_t)cases[i].length;
        p.plain = cases[i].plain;
        p.body = cases[i].body;
        p.body_length = cases[i].length;
        assert_int_equal(check(&p, 1, (parquet_chunk){.values = 2, .codec = cases[i].codec}) == NULL, cases[i].good);
    }
}

/* A header that is longer than what is read at first: bounds are kept in it. */
static void long_headers(void **state) {
    (void)state;
    const page_case plain = data_page(3);
    buf b;
    const char *wrong;
    buf_init(&b, BUF_MAX_DEFAULT);
    buf_append_z(&b, "PAR1");
    put_page(&b, &plain);
    b.len -= plain.body_length + 2; /* back to the end of the inner structure */
    buf_append_char(&b, 1 << 4 | 12); /* statistics */
    buf_append_char(&b, 1 << 4 | 8);
    put_varint(&b, 20000);
    for (int i = 0; i < 20000; i++) buf_append_char(&b, 'm');
    buf_append_bytes(&b, "\0\0\0", 3);
    buf_append_bytes(&b, plain.body, plain.body_length);
    const parquet_chunk c = {.offset = 4, .length = (int64_t)b.len - 4, .values = 3};
    FILE *f = file_of(&b);
    assert_int_equal(parquet_pages_check(fileno(f), (int64_t)b.len, &c, &rules, &wrong, NULL), SILT_OK);
    assert_null(wrong);
    assert_int_equal(parquet_pages_check(fileno(f), (int64_t)b.len - 1, &c, &rules, &wrong, NULL), SILT_OK);
    assert_non_null(wrong); /* reaches into the footer */
    fclose(f);
    buf_dispose(&b);
}

static void every_cut_header(void **state) {
    (void)state;
    page_case p = data_page(3);
    p.with_crc = true;
    buf b;
    parquet_page page;
    size_t length;
    buf_init(&b, BUF_MAX_DEFAULT);
    put_page(&b, &p);
    assert_true(parquet_page_parse(buf_str(&b), &page, &length));
    assert_int_equal(length, b.len - p.body_length);
    assert_true(page.has_crc && page.values == 3 && page.bytes == 4 && page.kind == 0 && page.definition_encoding == PARQUET_ENCODED_RLE);
    for (size_t n = 0; n < length; n++) assert_false(parquet_page_parse((str){b.ptr, n}, &page, &(size_t){0}));
    buf_dispose(&b);
}

static void ends_of_files(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        int64_t end;
    } cases[] = {{"PAR1abcdef\x02\0\0\0PAR1", 18, 8}, {"PAR1\0\0\0\0PAR1", 12, 4}, {"PAR1\1\0\0\0PAR1", 12, -1}, {"XAR1abcdef\x02\0\0\0PAR1", 18, -1}, {"PAR1abcdef\x02\0\0\0PARE", 18, -1}, {"PAR1\xff\xff\xff\xffPAR1", 12, -1}, {"PAR1PAR1", 8, -1}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        buf b;
        int64_t end = -1;
        const char *wrong;
        buf_init(&b, BUF_MAX_DEFAULT);
        buf_append_bytes(&b, cases[i].bytes, cases[i].n);
        FILE *f = file_of(&b);
        assert_int_equal(parquet_pages_end(fileno(f), (int64_t)b.len, &end, &wrong, NULL), SILT_OK);
        assert_int_equal(wrong == NULL, cases[i].end >= 0);
        if (!wrong) assert_int_equal(end, cases[i].end);
        fclose(f);
        buf_dispose(&b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(chains), cmocka_unit_test(bad_pages), cmocka_unit_test(compressed), cmocka_unit_test(long_headers), cmocka_unit_test(every_cut_header), cmocka_unit_test(ends_of_files)};
    return RUN_TESTS(tests);
}
