/*
 * Commits through DynamoDB: the steps and attributes of Delta's S3DynamoDBLogStore, what is made up for where a writer died between any two of them, and that two writers never both
 * have a version. Source: Delta Lake's open source (storage-s3-dynamodb).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/time.h"
#include "base/uri.h"
#include "fake_s3.h"
#include "store/s3/s3.h"

#define LOG   "/t/_delta_log"
#define NAME0 "00000000000000000000.json"
#define NAME1 "00000000000000000001.json"
#define NAME2 "00000000000000000002.json"
#define TABLE "s3a://bucket/t"
#define SETTINGS_MAX 20

typedef struct world {
    fake_s3 *fake;
    arena *a;
    store *s;
    silt_error err;
    const char *keys[SETTINGS_MAX], *values[SETTINGS_MAX];
    int n;
} world;

static str get_setting(void *ctx, const char *key) {
    const world *w = ctx;
    for (int i = w->n - 1; i >= 0; i--)
        if (strcmp(w->keys[i], key) == 0) return str_of(w->values[i]);
    return STR_NULL;
}

static void set(world *w, const char *key, const char *value) {
    w->keys[w->n] = key;
    w->values[w->n++] = value;
}

static void open_store_by(world *w, store_open_fn open) {
    store_settings settings = {.get = get_setting, .ctx = w};
    store_close(w->s);
    w->s = NULL;
    if (open(STR("bucket"), &settings, &w->s, &w->err) != SILT_OK) fail_msg("%s %s", w->err.message, w->err.detail);
}

static void open_store(world *w) { open_store_by(w, store_s3a_open); }

static int setup(void **state) {
    world *w = calloc(1, sizeof *w);
    unsetenv("AWS_ENDPOINT_URL_DYNAMODB");
    w->a = arena_new();
    w->fake = fake_s3_start();
    w->fake->overwrites = true; /* no conditional PUT here */
    const char *url = tiny_server_url(w->fake->server, "", w->a).ptr;
    set(w, "fs.s3a.endpoint", url);
    set(w, "fs.s3a.access.key", "AK");
    set(w, "fs.s3a.secret.key", "SK");
    set(w, "fs.s3a.attempts.maximum", "4");
    set(w, "spark.delta.logStore.s3a.impl", "io.delta.storage.S3DynamoDBLogStore");
    set(w, "silt.s3.dynamodb.endpoint", url);
    *state = w;
    open_store(w);
    return 0;
}

static int teardown(void **state) {
    world *w = *state;
    store_close(w->s);
    fake_s3_stop(w->fake);
    arena_free(w->a);
    free(w);
    return 0;
}

static silt_status commit(world *w, const char *name, const char *bytes) {
    w->err = (silt_error){0};
    return store_put(w->s, arena_printf(w->a, LOG "/%s", name), str_of(bytes), STORE_PUT_IF_ABSENT, &w->err);
}

static void assert_object(world *w, const char *key, const char *bytes) {
    const fake_object *o = fake_s3_find(w->fake, key);
    if (!o) fail_msg("%s is not there", key);
    assert_true(str_eqz(buf_str(&o->bytes), bytes));
}

static size_t list_log(world *w) {
    store_list_result list = {0};
    w->err = (silt_error){0};
    if (store_list(w->s, STR(LOG), STR_NULL, false, w->a, &list, &w->err) != SILT_OK) return SIZE_MAX;
    size_t n = 0;
    for (size_t i = 0; i < list.count; i++) n += !list.items[i].is_dir && path_name(list.items[i].path).ptr[0] == '0';
    return n;
}

static void entries_are_as_deltas(void **state) {
    world *w = *state;
    int64_t now = time_now_ms() / 1000;
    assert_int_equal(commit(w, NAME0, "zero\n"), SILT_OK);
    assert_true(w->fake->has_table); /* made, as it was missing */
    const fake_item *i = fake_s3_item(w->fake, TABLE, NAME0);
    assert_non_null(i);
    assert_string_equal(i->complete, "true");
    assert_int_equal(strncmp(i->temp_path, ".tmp/" NAME0 ".", 31), 0); /* and a UUID */
    assert_int_equal(strlen(i->temp_path), 31 + 36);
    assert_in_range(atoll(i->expire), now + 86400 - 1, now + 86400 + 60);
    char temp[300];
    snprintf(temp, sizeof temp, "t/_delta_log/%s", i->temp_path);
    assert_object(w, temp, "zero\n");
    assert_object(w, "t/_delta_log/" NAME0, "zero\n");
    assert_int_equal(commit(w, NAME0, "again"), SILT_EXISTS);
    assert_int_equal(commit(w, NAME1, "one"), SILT_OK);
}

/* A table written by conditional puts until now is closed to such writers from here on: that is told, once, and not of a table that was so from its beginning. */
static void the_first_commit_by_dynamodb_is_told(void **state) {
    world *w = *state;
    fake_s3_set(w->fake, "t/_delta_log/" NAME0, "zero");
    assert_null(store_take_news(w->s));
    assert_int_equal(commit(w, NAME1, "one"), SILT_OK);
    const char *news = store_take_news(w->s);
    assert_non_null(news);
    assert_non_null(strstr(news, "every writer of this table"));
    assert_null(store_take_news(w->s));
    assert_int_equal(commit(w, NAME2, "two"), SILT_OK);
    assert_null(store_take_news(w->s));
    open_store(w);
    w->fake->n_items = 0; /* as time does */
    assert_int_equal(commit(w, "00000000000000000003.json", "three"), SILT_OK);
    assert_null(store_take_news(w->s));
}

/* Two writers between whom only the entry decides: the object is not there yet for either. */
static void the_entry_decides(void **state) {
    world *w = *state;
    assert_int_equal(commit(w, NAME0, "zero"), SILT_OK);
    fake_s3_set(w->fake, "t/_delta_log/.tmp/" NAME1 ".theirs", "theirs");
    fake_s3_set_item(w->fake, TABLE, NAME1, ".tmp/" NAME1 ".theirs", false);
    int before = w->fake->n_objects;
    assert_int_equal(commit(w, NAME1, "ours"), SILT_EXISTS);
    assert_object(w, "t/_delta_log/" NAME1, "theirs"); /* completed for them: we read it next, by its name */
    assert_int_equal(w->fake->n_objects, before + 1);  /* our temporary file is gone */
    assert_int_equal(list_log(w), 2);
    assert_string_equal(fake_s3_item(w->fake, TABLE, NAME1)->complete, "true");
    assert_true(atoll(fake_s3_item(w->fake, TABLE, NAME1)->expire) > 0);
    assert_int_equal(commit(w, NAME2, "ours"), SILT_OK);
}

static void the_next_writer_completes_too(void **state) {
    world *w = *state;
    assert_int_equal(commit(w, NAME0, "zero"), SILT_OK);
    fake_s3_set(w->fake, "t/_delta_log/.tmp/" NAME1 ".u", "one");
    fake_s3_set_item(w->fake, TABLE, NAME1, ".tmp/" NAME1 ".u", false);
    assert_int_equal(commit(w, NAME2, "two"), SILT_OK);
    assert_null(store_take_news(w->s)); /* they committed so before us */
    assert_object(w, "t/_delta_log/" NAME1, "one");
    assert_string_equal(fake_s3_item(w->fake, TABLE, NAME1)->complete, "true");
}

static void copied_but_not_acknowledged(void **state) {
    world *w = *state;
    fake_s3_set(w->fake, "t/_delta_log/" NAME0, "zero");
    fake_s3_set_item(w->fake, TABLE, NAME0, ".tmp/" NAME0 ".u", false); /* its temporary file may be gone by now */
    w->fake->has_table = true;
    assert_int_equal(list_log(w), 1);
    assert_object(w, "t/_delta_log/" NAME0, "zero");
    assert_string_equal(fake_s3_item(w->fake, TABLE, NAME0)->complete, "true");
}

/* Delta's LogStore puts checksums the same way: when the commit's own entry has ended, that of its checksum is the newest. */
static void an_entry_of_another_file_is_completed(void **state) {
    world *w = *state;
    assert_int_equal(commit(w, NAME0, "zero"), SILT_OK);
    w->fake->n_items = 0; /* as time does */
    fake_s3_set(w->fake, "t/_delta_log/.tmp/00000000000000000000.crc.u", "sum");
    fake_s3_set_item(w->fake, TABLE, "00000000000000000000.crc", ".tmp/00000000000000000000.crc.u", false);
    assert_int_equal(list_log(w), 2);
    assert_object(w, "t/_delta_log/00000000000000000000.crc", "sum");
    assert_string_equal(fake_s3_item(w->fake, TABLE, "00000000000000000000.crc")->complete, "true");
    fake_s3_set_item(w->fake, TABLE, "1/../../escape", ".tmp/00000000000000000000.crc.u", false);
    assert_int_equal(list_log(w), SIZE_MAX);
    assert_null(fake_s3_find(w->fake, "t/escape"));
}

static void an_entry_without_its_file_is_an_error(void **state) {
    world *w = *state;
    w->fake->has_table = true;
    fake_s3_set(w->fake, "t/_delta_log/" NAME0, "zero");
    fake_s3_set_item(w->fake, TABLE, NAME1, ".tmp/" NAME1 ".u", false);
    assert_int_equal(list_log(w), SIZE_MAX);
    assert_int_equal(w->err.status, SILT_NOT_FOUND);
    fake_s3_set(w->fake, "secret", "bytes");
    fake_s3_set_item(w->fake, TABLE, NAME1, "../../secret", false);
    assert_int_equal(list_log(w), SIZE_MAX);
    assert_null(fake_s3_find(w->fake, "t/_delta_log/" NAME1));
}

static void a_gap_is_refused(void **state) {
    world *w = *state;
    assert_int_equal(commit(w, NAME0, "zero"), SILT_OK);
    assert_int_equal(commit(w, NAME2, "two"), SILT_NOT_FOUND);
    assert_null(fake_s3_item(w->fake, TABLE, NAME2));
}

static void entries_of_a_dropped_table_are_told(void **state) {
    world *w = *state;
    w->fake->has_table = true;
    fake_s3_set_item(w->fake, TABLE, NAME0, ".tmp/" NAME0 ".u", true);
    assert_int_equal(commit(w, NAME0, "zero"), SILT_UNSUPPORTED);
    assert_string_equal(w->err.condition, "S3_OLD_DYNAMODB_ENTRIES");
}

/* Every request of a commit breaks in turn, before or after it was carried out. What is acknowledged is there; what is not is there once, whole, or not at all. */
static void every_request_of_a_commit_breaks(void **state) {
    world *w = *state;
    static const char *const methods[] = {"HEAD", "POST", "PUT"};
    assert_int_equal(commit(w, NAME0, "v0"), SILT_OK);
    int version = 0;
    for (int m = 0; m < 3; m++)
        for (int nth = 1; nth <= 4; nth++)
            for (int after = 0; after < 2; after++) {
                char name[64], bytes[32];
                snprintf(name, sizeof name, "%020d.json", version + 1);
                snprintf(bytes, sizeof bytes, "v%d", version + 1);
                snprintf(w->fake->faulty_method, sizeof w->fake->faulty_method, "%s", methods[m]);
                w->fake->n_of_faulty = 0;
                w->fake->faulty_nth = nth;
                w->fake->fault = TINY_RESET;
                w->fake->fault_after = after;
                silt_status status = commit(w, name, bytes);
                w->fake->faulty_nth = 0;
                if (status != SILT_OK) fail_msg("%s %d %d: %s %s", methods[m], nth, after, w->err.message, w->err.detail);
                version++;
                assert_int_equal(list_log(w), (size_t)version + 1);
                snprintf(name, sizeof name, "t/_delta_log/%020d.json", version);
                assert_object(w, name, bytes);
            }
}

/* The object's PUT fails for good after the entry is there: the commit stands, and is completed by the next reader. */
static void a_decided_commit_is_no_failure(void **state) {
    world *w = *state;
    assert_int_equal(commit(w, NAME0, "zero"), SILT_OK);
    w->fake->fail_key = "_delta_log/" NAME1;
    assert_int_equal(commit(w, NAME1, "one"), SILT_OK);
    assert_null(fake_s3_find(w->fake, "t/_delta_log/" NAME1));
    assert_string_equal(fake_s3_item(w->fake, TABLE, NAME1)->complete, "false");
    w->fake->fail_key = NULL;
    assert_int_equal(list_log(w), 2);
    assert_object(w, "t/_delta_log/" NAME1, "one");
}

/* Reading a table of whom nobody committed through DynamoDB yet. */
static void reading_makes_no_table(void **state) {
    world *w = *state;
    fake_s3_set(w->fake, "t/_delta_log/" NAME0, "zero");
    assert_int_equal(list_log(w), 1);
    assert_false(w->fake->has_table);
    assert_int_equal(commit(w, NAME1, "one"), SILT_OK); /* the first that goes through it */
    assert_int_equal(list_log(w), 2);
}

static void throttling_passes(void **state) {
    world *w = *state;
    w->fake->throttles = 3;
    assert_int_equal(commit(w, NAME0, "zero"), SILT_OK);
}

static void deltas_settings(void **state) {
    world *w = *state;
    set(w, "spark.io.delta.storage.S3DynamoDBLogStore.ddb.ttl", "60");
    set(w, "silt.s3.dynamodb.scheme", "s3");
    open_store(w);
    assert_int_equal(commit(w, NAME0, "zero"), SILT_OK);
    const fake_item *i = fake_s3_item(w->fake, "s3://bucket/t", NAME0);
    assert_non_null(i);
    assert_in_range(atoll(i->expire), time_now_ms() / 1000 + 30, time_now_ms() / 1000 + 61);
    store_settings settings = {.get = get_setting, .ctx = w};
    store *s = NULL;
    set(w, "io.delta.storage.S3DynamoDBLogStore.ddb.ttl", "61"); /* two that differ */
    assert_int_equal(store_s3_open(STR("bucket"), &settings, &s, &w->err), SILT_INVALID);
    set(w, "io.delta.storage.S3DynamoDBLogStore.ddb.ttl", "-1");
    set(w, "spark.io.delta.storage.S3DynamoDBLogStore.ddb.ttl", "-1");
    assert_int_equal(store_s3_open(STR("bucket"), &settings, &s, &w->err), SILT_INVALID);
}

/* Spark's entries hold the table's name as each job writes it, and each scheme has a LogStore of its own. */
static void the_scheme_of_the_entries_is_that_of_the_table(void **state) {
    world *w = *state;
    static const struct {
        store_open_fn open;
        const char *key, *expected;
    } rows[] = {
        {store_s3_open, "spark.delta.logStore.s3.impl", "s3://bucket/t0"},
        {store_s3a_open, "spark.delta.logStore.s3.impl", "s3a://bucket/t1"},
        {store_s3n_open, "spark.delta.logStore.s3.impl", "s3a://bucket/t2"},
        {store_s3_open, "spark.delta.logStore.class", "s3://bucket/t3"},
        {store_s3n_open, "spark.delta.logStore.class", "s3n://bucket/t4"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const char *before = w->keys[w->n - 2];
        if (i >= 3) w->keys[w->n - 2] = "spark.delta.logStore.none.impl"; /* the class alone says it */
        set(w, rows[i].key, "io.delta.storage.S3DynamoDBLogStore");
        open_store_by(w, rows[i].open);
        assert_int_equal(store_put(w->s, arena_printf(w->a, "/t%zu/_delta_log/" NAME0, i), STR("zero"), STORE_PUT_IF_ABSENT, &w->err), SILT_OK);
        if (!fake_s3_item(w->fake, rows[i].expected, NAME0)) fail_msg("row %zu: no entry of %s", i, rows[i].expected);
        w->n--;
        w->keys[w->n - 2] = before;
    }
}

/* Temporary files may be cleaned away by the bucket's rules, entries end by themselves: that the table is written through DynamoDB stays known. */
static void a_mark_outlives_the_temporary_files(void **state) {
    world *w = *state;
    assert_int_equal(commit(w, NAME0, "zero"), SILT_OK);
    fake_s3_set(w->fake, "t/_delta_log/.silt-probe-x", "left behind");
    for (int i = 0; i < w->fake->n_objects; i++) {
        const char *tmp = strstr(w->fake->objects[i].key, ".tmp/");
        if (tmp) assert_int_equal(store_remove(w->s, arena_printf(w->a, "/%s", w->fake->objects[i].key), &w->err), SILT_OK);
    }
    w->fake->n_items = 0;
    w->fake->overwrites = false;
    set(w, "silt.s3.commit", "conditional");
    open_store(w);
    assert_int_equal(commit(w, NAME1, "one"), SILT_UNSUPPORTED);
    assert_string_equal(w->err.condition, "S3_LOG_STORE_MISMATCH");
    set(w, "silt.s3.commit", "dynamodb");
    open_store(w);
    assert_int_equal(commit(w, NAME1, "one"), SILT_OK);
    assert_null(store_take_news(w->s)); /* no news */
}

/* What Spark began is marked too, and what only left an old probe behind is no table of DynamoDB. */
static void a_table_of_sparks_is_marked(void **state) {
    world *w = *state;
    fake_s3_set(w->fake, "t/_delta_log/" NAME0, "zero");
    fake_s3_set(w->fake, "t/_delta_log/.silt-probe-x", "left behind");
    assert_int_equal(commit(w, NAME1, "one"), SILT_OK);
    assert_non_null(store_take_news(w->s));
    assert_non_null(fake_s3_find(w->fake, "t/_delta_log/.dynamodb"));
}

/* ---- racing writers ---- */

typedef struct racer {
    world *w;
    pthread_t thread;
    int number, won;
} racer;

static void *race(void *ctx) {
    racer *r = ctx;
    for (int version = 0; version < 12; version++) {
        char path[64], bytes[32];
        snprintf(path, sizeof path, LOG "/%020d.json", version);
        snprintf(bytes, sizeof bytes, "v%d of %d", version, r->number);
        silt_status status = store_put(r->w->s, str_of(path), str_of(bytes), STORE_PUT_IF_ABSENT, NULL);
        if (status == SILT_OK) r->won |= 1 << version;
    }
    return NULL;
}

static void each_version_has_one_writer(void **state) {
    world *w = *state;
    racer racers[6] = {0};
    int all = 0;
    for (int i = 0; i < 6; i++) {
        racers[i] = (racer){.w = w, .number = i};
        pthread_create(&racers[i].thread, NULL, race, &racers[i]);
    }
    for (int i = 0; i < 6; i++) {
        pthread_join(racers[i].thread, NULL);
        assert_int_equal(all & racers[i].won, 0);
        all |= racers[i].won;
    }
    assert_int_equal(all, (1 << 12) - 1);
    assert_int_equal(list_log(w), 12);
    for (int version = 0; version < 12; version++)
        for (int i = 0; i < 6; i++) {
            char key[64], bytes[32];
            snprintf(key, sizeof key, "t/_delta_log/%020d.json", version);
            snprintf(bytes, sizeof bytes, "v%d of %d", version, i);
            if (racers[i].won >> version & 1) assert_object(w, key, bytes);
        }
}

#define DDB_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        DDB_TEST(entries_are_as_deltas),
        DDB_TEST(the_first_commit_by_dynamodb_is_told),
        DDB_TEST(the_entry_decides),
        DDB_TEST(the_next_writer_completes_too),
        DDB_TEST(copied_but_not_acknowledged),
        DDB_TEST(an_entry_of_another_file_is_completed),
        DDB_TEST(an_entry_without_its_file_is_an_error),
        DDB_TEST(a_gap_is_refused),
        DDB_TEST(entries_of_a_dropped_table_are_told),
        DDB_TEST(every_request_of_a_commit_breaks),
        DDB_TEST(a_decided_commit_is_no_failure),
        DDB_TEST(reading_makes_no_table),
        DDB_TEST(throttling_passes),
        DDB_TEST(deltas_settings),
        DDB_TEST(the_scheme_of_the_entries_is_that_of_the_table),
        DDB_TEST(a_mark_outlives_the_temporary_files),
        DDB_TEST(a_table_of_sparks_is_marked),
        DDB_TEST(each_version_has_one_writer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
