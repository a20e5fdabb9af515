/* Footers put together: offsets are moved, what cannot be moved is refused, what only speeds readers up is gone. Real footers: tests/fuzz/corpus/parquet_splice; real files: tests/sql/maintain/optimize.test. */
#include "table_test.h"

#include "table/parquet_splice.h"

enum { I32 = 5, I64 = 6, TEXT = 8, LIST = 9, STRUCT = 12 };

typedef struct writer {
    buf b;
    int last[8], depth;
} writer;

static void varint(writer *w, uint64_t v) {
    for (; v >= 0x80; v >>= 7) buf_append_char(&w->b, (char)(v | 0x80));
    buf_append_char(&w->b, (char)v);
}

static void head(writer *w, int id, int type) {
    buf_append_char(&w->b, (char)((id - w->last[w->depth]) << 4 | type));
    w->last[w->depth] = id;
}

static void number(writer *w, int id, int type, int64_t v) {
    head(w, id, type);
    varint(w, (uint64_t)v << 1 ^ (uint64_t)(v >> 63));
}

static void text(writer *w, int id, const char *s) {
    head(w, id, TEXT);
    varint(w, strlen(s));
    buf_append_z(&w->b, s);
}

static void begin(writer *w) { w->last[++w->depth] = 0; }

static void end(writer *w) {
    buf_append_char(&w->b, 0);
    w->depth--;
}

static void list(writer *w, int id, int type, size_t n) {
    head(w, id, LIST);
    buf_append_char(&w->b, (char)(n << 4 | (unsigned)type));
}

typedef struct shape {
    bool with_extras;      /* statistics, indexes, Bloom filter, the group's own offset */
    const char *file_path; /* of a column in another file */
    bool encrypted;
    const char *key; /* of the footer's own metadata */
} shape;

/* One column of one row group: its pages begin at 4, a dictionary at `dictionary`. */
static void write_chunk(writer *w, const shape *s, int64_t moved, int64_t dictionary) {
    begin(w);
    if (s->file_path) text(w, 1, s->file_path);
    number(w, 2, I64, 4 + moved);
    head(w, 3, STRUCT);
    begin(w);
    number(w, 1, I32, 1);
    list(w, 3, TEXT, 1);
    varint(w, 1);
    buf_append_z(&w->b, "a");
    number(w, 5, I64, 7);
    number(w, 9, I64, 100 + moved);
    number(w, 11, I64, dictionary ? dictionary + moved : 0);
    if (s->with_extras) {
        head(w, 12, STRUCT);
        begin(w);
        text(w, 5, "max");
        text(w, 6, "min");
        end(w);
        number(w, 14, I64, 500);
        number(w, 15, I32, 32);
    }
    end(w);
    if (s->with_extras) {
        number(w, 4, I64, 600);
        number(w, 5, I32, 10);
    }
    if (s->encrypted) {
        head(w, 8, STRUCT);
        begin(w);
        end(w);
    }
    end(w);
}

static void write_group(writer *w, const shape *s, int64_t moved, int64_t dictionary) {
    begin(w);
    list(w, 1, STRUCT, 1);
    write_chunk(w, s, moved, dictionary);
    number(w, 2, I64, 200);
    number(w, 3, I64, 7);
    if (s->with_extras) number(w, 5, I64, 4);
    end(w);
}

static str footer(writer *w, const shape *s, const char *column) {
    *w = (writer){0};
    buf_init(&w->b, BUF_MAX_DEFAULT);
    number(w, 1, I32, 2);
    list(w, 2, STRUCT, 1);
    begin(w);
    text(w, 4, column);
    end(w);
    number(w, 3, I64, 14);
    list(w, 4, STRUCT, 2);
    write_group(w, s, 0, 4);
    write_group(w, s, 0, 0);
    if (s->key) {
        list(w, 5, STRUCT, 1);
        begin(w);
        text(w, 1, s->key);
        end(w);
    }
    text(w, 6, "a writer");
    buf_append_char(&w->b, 0);
    return buf_str(&w->b);
}

static void offsets_are_moved_and_extras_left_out(void **state) {
    (void)state;
    const shape plain = {0}, extras = {.with_extras = true};
    writer w, expected = {0};
    buf groups;
    parquet_parts parts;
    buf_init(&groups, BUF_MAX_DEFAULT);
    buf_init(&expected.b, BUF_MAX_DEFAULT);
    write_group(&expected, &plain, 1000, 4);
    write_group(&expected, &plain, 1000, 0); /* no dictionary stays none */
    assert_true(parquet_splice_parse(footer(&w, &extras, "a"), 1000, &groups, &parts));
    assert_int_equal(parts.n_rows, 14);
    assert_int_equal(parts.n_groups, 2);
    assert_int_equal(groups.len, expected.b.len);
    assert_memory_equal(groups.ptr, expected.b.ptr, groups.len);
    buf_dispose(&groups);
    buf_dispose(&expected.b);
    buf_dispose(&w.b);
}

static void is_refused(const shape *s) {
    writer w;
    buf groups;
    parquet_parts parts;
    buf_init(&groups, BUF_MAX_DEFAULT);
    buf_append_z(&groups, "before");
    assert_false(parquet_splice_parse(footer(&w, s, "a"), 0, &groups, &parts));
    assert_int_equal(groups.len, 6);
    buf_dispose(&groups);
    buf_dispose(&w.b);
}

static void what_cannot_be_moved_is_refused(void **state) {
    (void)state;
    const shape elsewhere = {.file_path = "other.parquet"}, encrypted = {.encrypted = true}, geo = {.key = "geo"};
    is_refused(&elsewhere);
    is_refused(&encrypted);
    is_refused(&geo);
}

static void only_equal_schemas_fit(void **state) {
    (void)state;
    const shape plain = {0}, other_key = {.key = "spark"};
    writer w[3];
    buf groups;
    parquet_parts parts[3];
    buf_init(&groups, BUF_MAX_DEFAULT);
    assert_true(parquet_splice_parse(footer(&w[0], &plain, "a"), 0, &groups, &parts[0]));
    assert_true(parquet_splice_parse(footer(&w[1], &plain, "b"), 0, &groups, &parts[1]));
    assert_true(parquet_splice_parse(footer(&w[2], &other_key, "a"), 0, &groups, &parts[2]));
    assert_false(parquet_splice_fits(&parts[0], &parts[1]));
    assert_true(parquet_splice_fits(&parts[0], &parts[2]));
    for (size_t i = 0; i < 3; i++) buf_dispose(&w[i].b);
    buf_dispose(&groups);
}

static void a_footer_cut_anywhere_is_refused(void **state) {
    (void)state;
    const shape extras = {.with_extras = true};
    writer w;
    buf groups;
    parquet_parts parts;
    str whole = footer(&w, &extras, "a");
    buf_init(&groups, BUF_MAX_DEFAULT);
    for (size_t n = 0; n < whole.len; n++) assert_false(parquet_splice_parse((str){whole.ptr, n}, 0, &groups, &parts));
    assert_int_equal(groups.len, 0);
    buf_dispose(&groups);
    buf_dispose(&w.b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offsets_are_moved_and_extras_left_out),
        cmocka_unit_test(what_cannot_be_moved_is_refused),
        cmocka_unit_test(only_equal_schemas_fit),
        cmocka_unit_test(a_footer_cut_anywhere_is_refused),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
