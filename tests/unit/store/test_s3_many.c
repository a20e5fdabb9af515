/* The S3 store with much under way at once: many ranges in one loop, and data files that are sent while they are being written. Whatever breaks, the bytes are right or the call fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/time.h"
#include "fake_s3.h"
#include "store/s3/s3.h"

#define RANGES 600
#define EACH   97
#define PIECE  100000
#define BIG    "/t/big.parquet"
#define BIGKEY "t/big.parquet"

typedef struct world {
    fake_s3 *fake;
    arena *a;
    store *s;
    silt_error err;
    str endpoint;
    const char *connections;
    store_range ranges[RANGES];
    buf bytes[RANGES];
    int told[RANGES];
    size_t n_told, fails_at; /* of `done` */
} world;

static str get_setting(void *ctx, const char *key) {
    const world *w = ctx;
    if (strcmp(key, "fs.s3a.endpoint") == 0) return w->endpoint;
    if (strcmp(key, "fs.s3a.access.key") == 0) return STR("AK");
    if (strcmp(key, "fs.s3a.secret.key") == 0) return STR("SK");
    if (strcmp(key, "fs.s3a.attempts.maximum") == 0) return STR("4");
    if (strcmp(key, "fs.s3a.connection.maximum") == 0 && w->connections) return str_of(w->connections);
    return STR_NULL;
}

static int setup(void **state) {
    world *w = calloc(1, sizeof *w);
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", "/nonexistent", 1);
    setenv("AWS_EC2_METADATA_DISABLED", "true", 1);
    w->a = arena_new();
    w->fake = fake_s3_start();
    w->endpoint = tiny_server_url(w->fake->server, "", w->a);
    w->fails_at = SIZE_MAX;
    *state = w;
    return 0;
}

static int teardown(void **state) {
    world *w = *state;
    store_close(w->s);
    fake_s3_stop(w->fake);
    for (size_t i = 0; i < RANGES; i++) buf_dispose(&w->bytes[i]);
    arena_free(w->a);
    free(w);
    return 0;
}

static void open_store(world *w) {
    store_settings settings = {.get = get_setting, .ctx = w};
    if (store_s3_open(STR("bucket"), &settings, &w->s, &w->err) != SILT_OK) fail_msg("%s %s", w->err.message, w->err.detail);
    ((s3_store *)w->s)->base.piece_bytes = PIECE;
}

static void break_nth(world *w, const char *method, int nth, tiny_way way) {
    snprintf(w->fake->faulty_method, sizeof w->fake->faulty_method, "%s", method);
    w->fake->faulty_nth = nth;
    w->fake->n_of_faulty = 0;
    w->fake->fault = way;
    w->fake->fault_after = true;
}

/* ---- many ranges ---- */

static char byte_of(size_t i) { return (char)('a' + i * 7 % 26); }

static void make_ranges(world *w) {
    char *text = calloc(1, RANGES * EACH + 1);
    for (size_t i = 0; i < RANGES * EACH; i++) text[i] = byte_of(i);
    fake_s3_set(w->fake, "t/x", text);
    free(text);
    for (size_t i = 0; i < RANGES; i++) {
        buf_init(&w->bytes[i], 1000);
        w->ranges[i] = (store_range){.path = STR("/t/x"), .offset = (int64_t)i * EACH, .length = EACH, .out = &w->bytes[i]};
    }
}

static silt_status told(void *ctx, size_t i, silt_error *err) {
    world *w = ctx;
    __atomic_add_fetch(&w->told[i], 1, __ATOMIC_RELAXED);
    size_t n = __atomic_add_fetch(&w->n_told, 1, __ATOMIC_RELAXED);
    return n > w->fails_at ? err_NO_SPACE_LEFT(err, STR("here")) : SILT_OK;
}

static silt_status read_ranges(world *w, bool keep_going, const cancel_token *cancel) {
    store_read_options o = {.done = told, .ctx = w, .keep_going = keep_going, .cancel = cancel};
    return store_read_many(w->s, w->ranges, RANGES, &o, &w->err);
}

static void assert_range(const world *w, size_t i) {
    assert_int_equal(w->ranges[i].status, SILT_OK);
    assert_int_equal(w->told[i], 1);
    if (w->bytes[i].len != EACH) fail_msg("range %zu has %zu bytes", i, w->bytes[i].len);
    for (size_t k = 0; k < EACH; k++) assert_int_equal(w->bytes[i].ptr[k], byte_of(i * EACH + k));
}

static void all_ranges_come_once(void **state) {
    world *w = *state;
    make_ranges(w);
    open_store(w);
    assert_int_equal(read_ranges(w, false, NULL), SILT_OK);
    for (size_t i = 0; i < RANGES; i++) assert_range(w, i);
    assert_int_equal(w->fake->n_gets, RANGES);
}

static void broken_answers_are_asked_for_again(void **state) {
    world *w = *state;
    static const tiny_way ways[] = {TINY_RESET, TINY_CUT, TINY_CLOSE, TINY_GARBAGE};
    make_ranges(w);
    open_store(w);
    for (size_t k = 0; k < ARRAY_LEN(ways); k++) {
        break_nth(w, "GET", 50 + (int)k * 100, ways[k]);
        w->n_told = 0;
        memset(w->told, 0, sizeof w->told);
        for (size_t i = 0; i < RANGES; i++) buf_clear(&w->bytes[i]);
        if (read_ranges(w, false, NULL) != SILT_OK) fail_msg("%zu: %s %s", k, w->err.message, w->err.detail);
        for (size_t i = 0; i < RANGES; i++) assert_range(w, i);
    }
}

static void few_connections_do(void **state) {
    world *w = *state;
    w->connections = "2";
    make_ranges(w);
    open_store(w);
    assert_int_equal(read_ranges(w, false, NULL), SILT_OK);
    for (size_t i = 0; i < RANGES; i++) assert_range(w, i);
}

static void missing_ones_are_told(void **state) {
    world *w = *state;
    make_ranges(w);
    open_store(w);
    for (size_t i = 0; i < RANGES; i += 10) w->ranges[i].path = STR("/t/none");
    assert_int_equal(read_ranges(w, true, NULL), SILT_OK);
    for (size_t i = 0; i < RANGES; i++)
        if (i % 10) assert_range(w, i);
        else assert_int_equal(w->ranges[i].status, SILT_NOT_FOUND);
    assert_int_equal(w->fake->n_gets, RANGES); /* each was asked for once */
    for (size_t i = 0; i < RANGES; i++) buf_clear(&w->bytes[i]);
    assert_int_equal(read_ranges(w, false, NULL), SILT_NOT_FOUND);
    assert_non_null(strstr(w->err.message, "t/none"));
}

static void beyond_the_end_is_what_is_there(void **state) {
    world *w = *state;
    make_ranges(w);
    open_store(w);
    w->ranges[3].offset = RANGES * EACH - 5;
    w->ranges[4].offset = (int64_t)1 << 40;
    w->ranges[5].length = 0;
    assert_int_equal(read_ranges(w, false, NULL), SILT_OK);
    assert_int_equal(w->bytes[3].len, 5);
    assert_int_equal(w->bytes[4].len, 0);
    assert_int_equal(w->bytes[5].len, 0);
    assert_range(w, 6);
}

static void who_takes_the_bytes_may_stop_it(void **state) {
    world *w = *state;
    make_ranges(w);
    open_store(w);
    w->fails_at = 100;
    assert_int_equal(read_ranges(w, false, NULL), SILT_NO_SPACE);
    assert_true(w->fake->n_gets < RANGES);
}

static void a_cancelled_call_ends(void **state) {
    world *w = *state;
    cancel_token stop = {1};
    make_ranges(w);
    open_store(w);
    assert_int_equal(read_ranges(w, false, &stop), SILT_CANCELLED);
    assert_int_equal(w->fake->n_gets, 0);
}

/* ---- of which version ---- */

/* n ranges that are to be of version "e". */
static silt_status read_tagged(world *w, size_t n) {
    store_read_options o = {.done = told, .ctx = w};
    for (size_t i = 0; i < n; i++) {
        w->ranges[i].tag = STR("\"e\"");
        w->told[i] = 0;
        buf_clear(&w->bytes[i]);
    }
    w->err = (silt_error){.status = SILT_OK};
    return store_read_many(w->s, w->ranges, n, &o, &w->err);
}

static void tags_in_answers_prove_the_version(void **state) {
    world *w = *state;
    make_ranges(w);
    open_store(w);
    assert_false(store_proves_tags(w->s)); /* nothing was seen */
    assert_int_equal(read_tagged(w, 1), SILT_OK);
    assert_range(w, 0);
    assert_true(store_proves_tags(w->s));
    assert_int_equal(read_tagged(w, RANGES), SILT_OK);
    for (size_t i = 0; i < RANGES; i++) assert_range(w, i);
    assert_true(store_proves_tags(w->s));
    assert_int_equal(w->fake->n_heads, 0);
    assert_int_equal(w->fake->n_gets, RANGES + 1);
}

static void bytes_of_another_version_are_an_error(void **state) {
    world *w = *state;
    make_ranges(w);
    open_store(w);
    assert_int_equal(read_tagged(w, 1), SILT_OK);
    w->fake->tag = "f";
    assert_int_equal(read_tagged(w, 1), SILT_IO);
    assert_string_equal(w->err.condition, "STORE_OBJECT_CHANGED");
    assert_non_null(strstr(w->err.message, "/t/x"));
    assert_int_equal(w->bytes[0].len, 0);
    assert_true(store_proves_tags(w->s)); /* they do tell */
    assert_int_equal(read_tagged(w, RANGES), SILT_IO); /* many at once */
    assert_string_equal(w->err.condition, "STORE_OBJECT_CHANGED");
}

static void answers_without_a_tag_prove_nothing(void **state) {
    world *w = *state;
    make_ranges(w);
    open_store(w);
    w->fake->tag = "";
    assert_int_equal(read_tagged(w, RANGES), SILT_OK);
    assert_range(w, RANGES - 1);
    assert_false(store_proves_tags(w->s));
    w->fake->tag = NULL;
    assert_int_equal(read_tagged(w, 1), SILT_OK);
    assert_false(store_proves_tags(w->s));
    assert_int_equal(w->fake->n_heads, 0);
}

/* A proxy that spells the tags of bodies its own way: the object can be read as ever. */
static void tags_that_are_spelt_otherwise_prove_nothing(void **state) {
    world *w = *state;
    make_ranges(w);
    open_store(w);
    w->fake->tag = "e-gzip";
    assert_int_equal(read_tagged(w, RANGES), SILT_OK);
    for (size_t i = 0; i < RANGES; i++) assert_range(w, i);
    assert_false(store_proves_tags(w->s));
    assert_int_equal(w->fake->n_gets, RANGES);
}

/* A service whose answers to reading have tags of another kind is not told from one where something is written anew again and again: after a few times all is left to who reads. */
static void tags_of_another_kind_prove_nothing(void **state) {
    world *w = *state;
    int refused = 0;
    make_ranges(w);
    open_store(w);
    w->fake->tag = "other";
    while (read_tagged(w, 1) != SILT_OK) refused++;
    assert_int_equal(refused, 6);
    assert_range(w, 0);
    assert_false(store_proves_tags(w->s));
}

/* Of an object that became shorter a range may lie beyond the end, and the answer to that has no tag. */
static void a_shorter_version_is_an_error(void **state) {
    world *w = *state;
    make_ranges(w);
    open_store(w);
    fake_s3_set(w->fake, "t/x", "short");
    w->fake->tag = "f";
    w->ranges[0].offset = 1000;
    assert_int_equal(read_tagged(w, 1), SILT_IO);
    assert_string_equal(w->err.condition, "STORE_OBJECT_CHANGED");
}

/* ---- files that are sent while they are written ---- */

static unsigned char pattern(size_t i) { return (unsigned char)(i * 31 % 251); }

static void assert_big(world *w, size_t size, size_t changed) {
    const fake_object *o = fake_s3_find(w->fake, BIGKEY);
    assert_non_null(o);
    assert_int_equal(o->bytes.len, size);
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)o->bytes.ptr[i] != (i == changed ? 255 : pattern(i))) fail_msg("byte %zu", i);
}

/* Writes on, and waits until as many pieces as are whole were sent (or given up). */
static void write_slowly(world *w, FILE *file, size_t from, size_t to, int pieces) {
    for (size_t i = from; i < to; i++) fputc(pattern(i), file);
    fflush(file);
    for (int i = 0; i < 300 && __atomic_load_n(&w->fake->n_parts, __ATOMIC_RELAXED) < pieces; i++) usleep(10000);
}

static FILE *begin_file(world *w, str *local) {
    assert_int_equal(store_write_begin(w->s, STR(BIG), w->a, local, &w->err), SILT_OK);
    store_write_follow(w->s, STR(BIG), *local);
    FILE *file = fopen(local->ptr, "w+");
    assert_non_null(file);
    return file;
}

static void open_proved(world *w) {
    open_store(w);
    ((s3_store *)w->s)->asked_ahead = true; /* so that what is counted is pieces */
}

static void pieces_go_out_early(void **state) {
    world *w = *state;
    str local;
    open_proved(w);
    FILE *file = begin_file(w, &local);
    write_slowly(w, file, 0, 350000, 3);
    assert_int_equal(w->fake->n_parts, 3);
    assert_null(fake_s3_find(w->fake, BIGKEY)); /* nothing is to be seen of it */
    write_slowly(w, file, 350000, 420000, 4);
    fclose(file);
    assert_int_equal(store_write_finish(w->s, STR(BIG), local, &w->err), SILT_OK);
    assert_big(w, 420000, SIZE_MAX);
    assert_int_equal(w->fake->n_parts, 5);
    assert_int_equal(w->fake->uploads_open, 0);
    assert_int_equal(access(local.ptr, F_OK), -1);
}

static void a_file_of_whole_pieces(void **state) {
    world *w = *state;
    str local;
    open_proved(w);
    FILE *file = begin_file(w, &local);
    write_slowly(w, file, 0, PIECE, 1);
    fclose(file);
    assert_int_equal(store_write_finish(w->s, STR(BIG), local, &w->err), SILT_OK);
    assert_big(w, PIECE, SIZE_MAX);
    assert_int_equal(w->fake->uploads_open, 0);
}

static void a_small_file_goes_as_ever(void **state) {
    world *w = *state;
    str local;
    open_proved(w);
    FILE *file = begin_file(w, &local);
    write_slowly(w, file, 0, 5000, 0);
    fclose(file);
    assert_int_equal(store_write_finish(w->s, STR(BIG), local, &w->err), SILT_OK);
    assert_big(w, 5000, SIZE_MAX);
    assert_int_equal(w->fake->n_posts, 0);
}

/* Whoever writes to the front again, after it went out. */
static void a_file_that_changed_is_sent_anew(void **state) {
    world *w = *state;
    str local;
    open_proved(w);
    FILE *file = begin_file(w, &local);
    write_slowly(w, file, 0, 250000, 2);
    fseek(file, 150000, SEEK_SET);
    fputc(255, file);
    fclose(file);
    assert_int_equal(store_write_finish(w->s, STR(BIG), local, &w->err), SILT_OK);
    assert_big(w, 250000, 150000);
    assert_int_equal(w->fake->uploads_open, 0);
}

static void a_file_that_became_shorter_is_sent_anew(void **state) {
    world *w = *state;
    str local;
    open_proved(w);
    FILE *file = begin_file(w, &local);
    write_slowly(w, file, 0, 250000, 2);
    fclose(file);
    assert_int_equal(truncate(local.ptr, 120000), 0);
    assert_int_equal(store_write_finish(w->s, STR(BIG), local, &w->err), SILT_OK);
    assert_big(w, 120000, SIZE_MAX);
    assert_int_equal(w->fake->uploads_open, 0);
}

static void a_file_given_up_leaves_nothing(void **state) {
    world *w = *state;
    str local;
    open_proved(w);
    FILE *file = begin_file(w, &local);
    write_slowly(w, file, 0, 250000, 2);
    fclose(file);
    assert_int_equal(w->fake->uploads_open, 1);
    store_write_abort(w->s, STR(BIG), local);
    assert_int_equal(w->fake->uploads_open, 0);
    assert_int_equal(w->fake->n_objects, 0);
}

static void a_store_that_closes_leaves_nothing(void **state) {
    world *w = *state;
    str local;
    open_proved(w);
    FILE *file = begin_file(w, &local);
    write_slowly(w, file, 0, 250000, 2);
    fclose(file);
    unlink(local.ptr);
    store_close(w->s);
    w->s = NULL;
    assert_int_equal(w->fake->uploads_open, 0);
    assert_int_equal(w->fake->n_objects, 0);
}

static void pieces_that_fail_are_sent_at_the_end(void **state) {
    world *w = *state;
    str local;
    open_proved(w);
    w->fake->part_fails = true;
    FILE *file = begin_file(w, &local);
    write_slowly(w, file, 0, 350000, 1);
    usleep(50000);
    w->fake->part_fails = false;
    fclose(file);
    assert_int_equal(store_write_finish(w->s, STR(BIG), local, &w->err), SILT_OK);
    assert_big(w, 350000, SIZE_MAX);
    assert_int_equal(w->fake->uploads_open, 0);
    w->fake->part_fails = true; /* and where they fail for good, that is told */
    file = begin_file(w, &local);
    write_slowly(w, file, 0, 350000, 0);
    fclose(file);
    assert_int_equal(store_write_finish(w->s, STR(BIG), local, &w->err), SILT_DENIED);
    store_write_abort(w->s, STR(BIG), local);
    assert_int_equal(w->fake->uploads_open, 0);
}

/* ---- the probe, asked meanwhile ---- */

static void a_commit_does_not_wait_for_the_probe(void **state) {
    world *w = *state;
    str local;
    open_store(w);
    FILE *file = begin_file(w, &local);
    fputs("data", file);
    fclose(file);
    assert_int_equal(store_write_finish(w->s, STR(BIG), local, &w->err), SILT_OK);
    s3_probe_wait((s3_store *)w->s);
    int puts = w->fake->n_puts;
    assert_int_equal(puts, 4 + 1 + 1); /* racers, one more, the file */
    assert_int_equal(store_put(w->s, STR("/t/_delta_log/00000000000000000000.json"), STR("zero"), STORE_PUT_IF_ABSENT, &w->err), SILT_OK);
    assert_int_equal(w->fake->n_puts, puts + 1);
    assert_int_equal(w->fake->n_objects, 2); /* the probe's object is gone */
}

static void a_probe_asked_ahead_refuses_as_ever(void **state) {
    world *w = *state;
    str local;
    w->fake->overwrites = true;
    open_store(w);
    FILE *file = begin_file(w, &local);
    fputs("data", file);
    fclose(file);
    assert_int_equal(store_write_finish(w->s, STR(BIG), local, &w->err), SILT_OK);
    assert_int_not_equal(store_put(w->s, STR("/t/_delta_log/00000000000000000000.json"), STR("zero"), STORE_PUT_IF_ABSENT, &w->err), SILT_OK);
    assert_string_equal(w->err.condition, "S3_CONDITIONAL_PUT_IGNORED");
    assert_null(fake_s3_find(w->fake, "t/_delta_log/00000000000000000000.json"));
}

#define S3_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        S3_TEST(all_ranges_come_once),
        S3_TEST(broken_answers_are_asked_for_again),
        S3_TEST(few_connections_do),
        S3_TEST(missing_ones_are_told),
        S3_TEST(beyond_the_end_is_what_is_there),
        S3_TEST(who_takes_the_bytes_may_stop_it),
        S3_TEST(a_cancelled_call_ends),
        S3_TEST(tags_in_answers_prove_the_version),
        S3_TEST(bytes_of_another_version_are_an_error),
        S3_TEST(answers_without_a_tag_prove_nothing),
        S3_TEST(tags_that_are_spelt_otherwise_prove_nothing),
        S3_TEST(tags_of_another_kind_prove_nothing),
        S3_TEST(a_shorter_version_is_an_error),
        S3_TEST(pieces_go_out_early),
        S3_TEST(a_file_of_whole_pieces),
        S3_TEST(a_small_file_goes_as_ever),
        S3_TEST(a_file_that_changed_is_sent_anew),
        S3_TEST(a_file_that_became_shorter_is_sent_anew),
        S3_TEST(a_file_given_up_leaves_nothing),
        S3_TEST(a_store_that_closes_leaves_nothing),
        S3_TEST(pieces_that_fail_are_sent_at_the_end),
        S3_TEST(a_commit_does_not_wait_for_the_probe),
        S3_TEST(a_probe_asked_ahead_refuses_as_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
