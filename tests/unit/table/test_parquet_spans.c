/* Which stretches of a Parquet file hold its wanted columns: footers made by hand. Real files: tests/contract/test_remote_reads.c. */
#include "table_test.h"

#include "table/parquet_fetch.h"

enum { LEAVES = 5, GROUPS = 2 };

/* root { a, s { x, y { z } }, b, "weird.Name" } */
static const parquet_element elements[] = {
    {.name = {"root", 4}, .physical = PARQUET_GROUP, .n_children = 4, .leaf = 0, .next = 8}, {.name = {"a", 1}, .physical = PARQUET_INT64, .leaf = 0, .next = 2},
    {.name = {"s", 1}, .physical = PARQUET_GROUP, .n_children = 2, .leaf = 1, .next = 6},    {.name = {"x", 1}, .physical = PARQUET_INT64, .leaf = 1, .next = 4},
    {.name = {"y", 1}, .physical = PARQUET_GROUP, .n_children = 1, .leaf = 2, .next = 6},    {.name = {"z", 1}, .physical = PARQUET_BYTES, .leaf = 2, .next = 6},
    {.name = {"b", 1}, .physical = PARQUET_INT32, .leaf = 3, .next = 7},                     {.name = {"weird.Name", 10}, .physical = PARQUET_INT32, .leaf = 4, .next = 8},
};

typedef struct file {
    parquet_chunk chunks[LEAVES * GROUPS];
    parquet_footer footer;
    int64_t footer_offset;
} file;

/* Chunks of 1,000,000 bytes behind one another, then a Bloom filter for b of each group, then the footer. */
static void make(file *f) {
    *f = (file){.footer = {.elements = elements, .n_elements = ARRAY_LEN(elements), .n_leaves = LEAVES, .n_rows = 20, .n_row_groups = GROUPS}};
    int64_t at = 4;
    for (int i = 0; i < LEAVES * GROUPS; i++, at += 1000000) f->chunks[i] = (parquet_chunk){.values = 10, .nulls = 0, .offset = at, .length = 1000000};
    for (int g = 0; g < GROUPS; g++, at += 100) f->chunks[g * LEAVES + 3].bloom_offset = at, f->chunks[g * LEAVES + 3].bloom_length = 100;
    f->footer.chunks = f->chunks;
    f->footer_offset = at;
}

static arena *a;

static size_t spans_of(const file *f, const char *const *names, size_t n_names, store_span **out) {
    str parts[4];
    for (size_t i = 0; i < n_names; i++) parts[i] = str_of(names[i]);
    parquet_path path = {parts, n_names};
    size_t n;
    return parquet_spans(&f->footer, f->footer_offset, &path, n_names ? 1 : 0, a, out, &n) ? n : SIZE_MAX;
}
#define SPANS(f, out, ...) spans_of(f, (const char *const[]){__VA_ARGS__}, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *), out)

static void chunks_of_a_column(void **state) {
    (void)state;
    file f;
    store_span *s;
    make(&f);
    assert_int_equal(SPANS(&f, &s, "a"), 2);
    assert_int_equal(s[0].offset, 4);
    assert_int_equal(s[0].length, 1000000);
    assert_int_equal(s[1].offset, 5000004);
    assert_int_equal(spans_of(&f, NULL, 0, &s), 0);
    assert_int_equal(SPANS(&f, &s, "nothing"), 0);
    assert_int_equal(SPANS(&f, &s, "WEIRD.name"), 2); /* case does not matter, and a dot is a character */
}

static void groups_are_all_below_them(void **state) {
    (void)state;
    file f;
    store_span *s;
    make(&f);
    assert_int_equal(SPANS(&f, &s, "s"), 4);
    assert_int_equal(s[0].offset, 1000004);
    assert_int_equal(s[1].offset, 2000004);
    assert_int_equal(SPANS(&f, &s, "s", "y"), 2);
    assert_int_equal(s[0].offset, 2000004);
    assert_int_equal(SPANS(&f, &s, "s", "y", "z"), 2);
    assert_int_equal(SPANS(&f, &s, "a", "y"), 0);
}

static void bloom_filters_come_along(void **state) {
    (void)state;
    file f;
    store_span *s;
    make(&f);
    assert_int_equal(SPANS(&f, &s, "b"), 4);
    assert_int_equal(s[2].offset, 10000004);
    assert_int_equal(s[2].length, 100);
    f.chunks[3].bloom_length = f.chunks[8].bloom_length = 0; /* up to the next thing */
    assert_int_equal(SPANS(&f, &s, "b"), 4);
    assert_int_equal(s[2].length, 100);
    assert_int_equal(s[3].offset + s[3].length, f.footer_offset);
}

/* Old writers' lengths leave the dictionary's header out. */
static void a_few_bytes_that_nobody_names_belong_to_the_chunk_before(void **state) {
    (void)state;
    file f;
    store_span *s;
    make(&f);
    f.chunks[0].length -= 30;
    assert_int_equal(SPANS(&f, &s, "a"), 2);
    assert_int_equal(s[0].length, 1000000);
    f.chunks[0].length -= 500000; /* padding of a block */
    assert_int_equal(SPANS(&f, &s, "a"), 2);
    assert_int_equal(s[0].length, 499970);
}

static void impossible_places_need_the_whole_file(void **state) {
    (void)state;
    file f;
    store_span *s;
    static const int64_t offsets[] = {0, 3, -5, INT64_MAX, 11000000};
    for (size_t i = 0; i < ARRAY_LEN(offsets); i++) {
        make(&f);
        f.chunks[0].offset = offsets[i];
        assert_int_equal(SPANS(&f, &s, "a"), SIZE_MAX);
        assert_int_equal(SPANS(&f, &s, "s", "x"), 2); /* another column's are no concern */
    }
    static const int64_t lengths[] = {0, -1, INT64_MAX, 10001000};
    for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
        make(&f);
        f.chunks[0].length = lengths[i];
        assert_int_equal(SPANS(&f, &s, "a"), SIZE_MAX);
    }
    make(&f);
    f.chunks[0].length = f.chunks[0].values = f.chunks[0].offset = 0; /* no rows */
    assert_int_equal(SPANS(&f, &s, "a"), 1);
}

static int begin(void **state) {
    (void)state;
    a = arena_new();
    return a ? 0 : -1;
}

static int end(void **state) {
    (void)state;
    arena_free(a);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_of_a_column),
        cmocka_unit_test(groups_are_all_below_them),
        cmocka_unit_test(bloom_filters_come_along),
        cmocka_unit_test(a_few_bytes_that_nobody_names_belong_to_the_chunk_before),
        cmocka_unit_test(impossible_places_need_the_whole_file),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, begin, end);
}
