/* Writing deletion vectors: the bytes of Spark 4.1 with Delta 4.3 for the same rows, packing, and what is read back. PROTOCOL.md "Deletion Vectors". */
#include <stdio.h>

#include "read_support.h"

#include "base/ident.h"
#include "delta/dv_write.h"

static bitmap *rows_of(const uint64_t *rows, size_t n) {
    bitmap *b = bitmap_new();
    for (size_t i = 0; i < n; i++) assert_true(bitmap_add(b, rows[i]));
    return b;
}

static void write_all(log_fixture *f, str prefix, delta_dv_job *jobs, size_t n, str **out_paths, size_t *out_n) {
    delta_dv_place place = {.root = LOG_ROOT, .random_prefix = prefix, .inline_max_bytes = 512};
    if (delta_dv_write(&f->env, &place, jobs, n, f->arena, out_paths, out_n, &f->err) != SILT_OK)
        fail_msg("%s", f->err.message);
}

static void reads_back(log_fixture *f, const delta_dv_job *job) {
    bitmap *b;
    assert_int_equal(delta_dv_load(&f->env, LOG_ROOT, &job->out, &b, &f->err), SILT_OK);
    assert_int_equal(bitmap_cardinality(b), bitmap_cardinality(job->rows));
    uint64_t row, from = 0;
    while (bitmap_next(job->rows, from, &row)) {
        assert_true(bitmap_contains(b, row));
        from = row + 1;
    }
    bitmap_free(b);
}

static const char *hex(log_fixture *f, str bytes) {
    char *out = arena_alloc(f->arena, 2 * bytes.len + 1);
    for (size_t i = 0; i < bytes.len; i++) snprintf(out + 2 * i, 3, "%02x", (unsigned)(uint8_t)bytes.ptr[i]);
    out[2 * bytes.len] = 0;
    return out;
}

/* The bodies of Spark's files of which the literal bytes are known. */
static void bytes_are_sparks(void **state) {
    log_fixture *f = *state;
    static const struct literal {
        uint64_t rows[4];
        size_t n;
        const char *body;
    } literals[] = {{{3, 4}, 2, "d1d339640100000000000000000000003a30000001000000000001001000000003000400"},
                    {{3, 4, 7}, 3, "d1d339640100000000000000000000003a300000010000000000020010000000030004000700"},
                    {{47}, 1, "d1d339640100000000000000000000003a3000000100000000000000100000002f00"},
                    {{2, 5}, 2, "d1d339640100000000000000000000003a30000001000000000001001000000002000500"}};
    for (size_t i = 0; i < ARRAY_LEN(literals); i++) {
        buf body;
        bitmap *b = rows_of(literals[i].rows, literals[i].n);
        buf_init(&body, BUF_MAX_DEFAULT);
        assert_int_equal(bitmap_write_portable(b, &body, &f->err), SILT_OK);
        assert_string_equal(hex(f, buf_str(&body)), literals[i].body);
        buf_dispose(&body);
        bitmap_free(b);
    }
}

/* 150,000 rows in a run: Spark writes run containers, 51 bytes in all. */
static void runs_are_sparks(void **state) {
    log_fixture *f = *state;
    bitmap *b = bitmap_new();
    for (uint64_t i = 0; i < 150000; i++) assert_true(bitmap_add(b, i));
    buf body;
    buf_init(&body, BUF_MAX_DEFAULT);
    assert_int_equal(bitmap_write_portable(b, &body, &f->err), SILT_OK);
    assert_string_equal(hex(f, buf_str(&body)),
                        "d1d339640100000000000000000000003b300200070000ffff0100ffff0200ef4901000000ffff01000000ffff01000000ef49");
    buf_dispose(&body);
    bitmap_free(b);
}

/* The one that a hand made for Spark, who reads it. */
static void small_ones_are_inline(void **state) {
    log_fixture *f = *state;
    delta_dv_job job = {.rows = rows_of((uint64_t[]){2, 5}, 2)};
    str *paths;
    size_t n;
    write_all(f, STR_NULL, &job, 1, &paths, &n);
    assert_int_equal(n, 0);
    assert_int_equal(job.out.storage, 'i');
    assert_int_equal(job.out.offset, -1);
    assert_int_equal(job.out.size_bytes, 36);
    assert_int_equal(job.out.cardinality, 2);
    assert_true(str_eqz(job.out.path_or_inline, "^Bg9^0rr910000000000iXQKl0rr91000315c8Xg0SSx7"));
    reads_back(f, &job);
    bitmap_free((bitmap *)(uintptr_t)job.rows);
}

/* Every second row: a bitset container, too large for the log. */
static bitmap *scattered(uint64_t n) {
    bitmap *b = bitmap_new();
    for (uint64_t i = 0; i < n; i++) assert_true(bitmap_add(b, 2 * i));
    return b;
}

static uint32_t big_endian(str s, size_t at) {
    const uint8_t *p = (const uint8_t *)s.ptr + at;
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void several_share_a_file(void **state) {
    log_fixture *f = *state;
    delta_dv_job jobs[3] = {{.rows = scattered(1000)}, {.rows = rows_of((uint64_t[]){1}, 1)}, {.rows = scattered(3000)}};
    str *paths;
    size_t n;
    write_all(f, STR_NULL, jobs, 3, &paths, &n);
    assert_int_equal(n, 1);
    assert_int_equal(jobs[0].out.storage, 'u');
    assert_int_equal(jobs[1].out.storage, 'i');
    assert_int_equal(jobs[0].out.offset, 1);
    assert_int_equal(jobs[2].out.offset, 1 + 8 + jobs[0].out.size_bytes);
    assert_true(str_eq(jobs[0].out.path_or_inline, jobs[2].out.path_or_inline));
    assert_int_equal(jobs[0].out.path_or_inline.len, 20);
    for (size_t i = 0; i < 3; i++) reads_back(f, &jobs[i]);

    buf file;
    buf_init(&file, BUF_MAX_DEFAULT);
    assert_int_equal(store_read(f->store, paths[0], 0, -1, &file, &f->err), SILT_OK);
    str bytes = buf_str(&file);
    size_t size = (size_t)jobs[0].out.size_bytes;
    assert_int_equal(bytes.ptr[0], 1);
    assert_int_equal(big_endian(bytes, 1), size);
    assert_int_equal(big_endian(bytes, 5 + size), crc32_of(bytes.ptr + 5, size));
    assert_int_equal(bytes.len, 1 + 8 + size + 8 + (size_t)jobs[2].out.size_bytes);
    buf_dispose(&file);
    for (size_t i = 0; i < 3; i++) bitmap_free((bitmap *)(uintptr_t)jobs[i].rows);
}

static void a_file_has_about_two_megabytes(void **state) {
    log_fixture *f = *state;
    delta_dv_job jobs[4];
    str *paths;
    size_t n;
    for (size_t i = 0; i < 4; i++) jobs[i] = (delta_dv_job){.rows = scattered(4000000)}; /* 1 MB each */
    write_all(f, STR_NULL, jobs, 4, &paths, &n);
    assert_int_equal(n, 2);
    for (size_t i = 0; i < 4; i++) {
        bitmap *b;
        assert_int_equal(delta_dv_load(&f->env, LOG_ROOT, &jobs[i].out, &b, &f->err), SILT_OK);
        bitmap_free(b);
        bitmap_free((bitmap *)(uintptr_t)jobs[i].rows);
    }
}

static void a_prefix_is_a_folder(void **state) {
    log_fixture *f = *state;
    delta_dv_job job = {.rows = scattered(1000)};
    str *paths;
    size_t n;
    write_all(f, STR("aB"), &job, 1, &paths, &n);
    assert_true(str_starts_with(job.out.path_or_inline, STR("aB")));
    assert_int_equal(job.out.path_or_inline.len, 22);
    assert_true(str_starts_with(paths[0], STR("/t/aB/deletion_vector_")));
    reads_back(f, &job);
    bitmap_free((bitmap *)(uintptr_t)job.rows);
}

static void rows_beyond_32_bits(void **state) {
    log_fixture *f = *state;
    delta_dv_job job = {.rows = rows_of((uint64_t[]){1, (uint64_t)5 << 32, ((uint64_t)7 << 32) + 9}, 3)};
    str *paths;
    size_t n;
    write_all(f, STR_NULL, &job, 1, &paths, &n);
    reads_back(f, &job);
    bitmap_free((bitmap *)(uintptr_t)job.rows);
}

/* What something between this process and the store, or the store itself, does with each put. */
static store_fault order(void *ctx, const char *call, str path, size_t nth) {
    (void)path, (void)nth;
    return strcmp(call, "put") == 0 ? *(const store_fault *)ctx : FAULT_NONE;
}

/* A name is its writer's own: where something is there already, it is this very file. */
static void a_put_that_came_twice_or_lost_its_answer_is_settled(void **state) {
    log_fixture *f = *state;
    static const store_fault faults[] = {FAULT_TWICE, FAULT_LOST_REPLY};
    store *inner = f->store;
    for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
        store_fault fault = faults[i];
        delta_dv_job job = {.rows = scattered(1000)};
        str *paths;
        size_t n;
        assert_int_equal(store_fault_open(inner, order, &fault, &f->env.store, &f->err), SILT_OK);
        write_all(f, STR_NULL, &job, 1, &paths, &n);
        store_close(f->env.store);
        f->env.store = inner;
        assert_int_equal(n, 1);
        reads_back(f, &job);
        bitmap_free((bitmap *)(uintptr_t)job.rows);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, log_setup, log_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(bytes_are_sparks),
                                       TEST(runs_are_sparks),
                                       TEST(small_ones_are_inline),
                                       TEST(several_share_a_file),
                                       TEST(a_file_has_about_two_megabytes),
                                       TEST(a_prefix_is_a_folder),
                                       TEST(rows_beyond_32_bits),
                                       TEST(a_put_that_came_twice_or_lost_its_answer_is_settled)};
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
