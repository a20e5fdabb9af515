/*
 * The HDFS store against a server of the test, which breaks where a real one does at the worst moments. What is asked of each put: exactly one of its bytes and another's is there afterwards, the
 * status says which, and no request is sent that could harm a later one. Requests are counted, because on HDFS they are what time is spent on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/uri.h"
#include "hdfs_fake.h"
#include "store/hdfs/hdfs.h"

typedef struct fixture {
    hdfs_fake *fake, *other; /* other: a second NameNode, where there is one */
    store *store;
    arena *arena;
    silt_error err;
} fixture;

static str services; /* of silt.hdfs.<authority>.http, null: the authority itself */

static str get_setting(void *ctx, const char *key) {
    (void)ctx;
    if (strcmp(key, "silt.hdfs.user") == 0) return STR("eve");
    if (strcmp(key, "silt.hdfs.retry.firstWaitMs") == 0) return STR("1");
    if (strcmp(key, "silt.hdfs.retry.maxWaitMs") == 0) return STR("4");
    if (strcmp(key, "silt.hdfs.stallTimeoutMs") == 0) return STR("300");
    if (strcmp(key, "dfs.replication") == 0) return STR("2");
    if (strstr(key, ".http") && strncmp(key, "silt.hdfs.", 10) == 0) return services;
    return STR_NULL;
}

static void open_store(fixture *f) {
    store_settings settings = {.get = get_setting, .ctx = NULL};
    if (store_webhdfs_open(hdfs_fake_authority(f->fake, f->arena), &settings, &f->store, &f->err) != SILT_OK) fail_msg("%s %s", f->err.message, f->err.detail);
}

static int set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    if (!f) return 1;
    unsetenv("HADOOP_CONF_DIR");
    unsetenv("HADOOP_HOME");
    f->arena = arena_new();
    f->fake = hdfs_fake_start();
    services = STR_NULL;
    open_store(f);
    *state = f;
    return 0;
}

/* Two NameNodes of one name service, the first of which is active. */
static int set_up_ha(void **state) {
    if (set_up(state) != 0) return 1;
    fixture *f = *state;
    store_close(f->store);
    f->other = hdfs_fake_start();
    services = arena_printf(f->arena, "%.*s,%.*s", STR_ARG(hdfs_fake_authority(f->fake, f->arena)), STR_ARG(hdfs_fake_authority(f->other, f->arena)));
    open_store(f);
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    store_close(f->store);
    if (f->fake) hdfs_fake_stop(f->fake);
    if (f->other) hdfs_fake_stop(f->other);
    arena_free(f->arena);
    free(f);
    return 0;
}

static silt_status put(fixture *f, const char *path, const char *bytes) {
    f->err = (silt_error){.status = SILT_OK};
    return store_put(f->store, str_of(path), str_of(bytes), STORE_PUT_IF_ABSENT, &f->err);
}

static silt_status put_over(fixture *f, const char *path, const char *bytes) {
    f->err = (silt_error){.status = SILT_OK};
    return store_put(f->store, str_of(path), str_of(bytes), STORE_PUT_REPLACE, &f->err);
}

static void assert_text(str found, const char *expected) {
    if (!str_eqz(found, expected)) fail_msg("'%.*s' instead of '%s'", STR_ARG(found), expected);
}

static void assert_log(fixture *f, const char *expected) { assert_text(hdfs_fake_log(f->fake, f->arena), expected); }
static void assert_files(fixture *f, const char *expected) { assert_text(hdfs_fake_files(f->fake, f->arena), expected); }

static void assert_bytes(fixture *f, const char *path, const char *expected) {
    buf b;
    buf_init(&b, 1 << 20);
    assert_int_equal(store_read(f->store, str_of(path), 0, -1, &b, &f->err), SILT_OK);
    assert_text(buf_str(&b), expected);
    buf_dispose(&b);
}

/* ---- requests ---- */

static void names_of_every_kind_reach_the_server_whole(void **state) {
    fixture *f = *state;
    static const char *const names[] = {"/t/a@b", "/t/100% c+d", "/t/p=1%3A2;x", "/t/\xc3\xa9?#&=", "/t/q\"'`"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        assert_int_equal(put(f, names[i], names[i]), SILT_OK);
        assert_bytes(f, names[i], names[i]);
    }
}

static void a_put_is_three_requests(void **state) {
    fixture *f = *state;
    assert_int_equal(put(f, "/t/1.json", "one"), SILT_OK);
    assert_log(f, "CREATE CREATE2 RENAME");
    assert_files(f, "/t/1.json");
    str create = hdfs_fake_target(f->fake, "step2=1", f->arena);
    assert_true(str_find(create, STR("overwrite=false")) != SIZE_MAX);
    assert_true(str_find(create, STR("replication=2")) != SIZE_MAX);
    assert_true(str_find(create, STR("/t/.silt-")) != SIZE_MAX);
    assert_true(str_find(hdfs_fake_target(f->fake, "op=RENAME", f->arena), STR("destination=/t/1.json&renameoptions=NONE&user.name=eve")) != SIZE_MAX);
    assert_int_equal(put_over(f, "/t/1.json", "two"), SILT_OK);
    assert_log(f, "CREATE CREATE2 RENAME");
    assert_bytes(f, "/t/1.json", "two");
}

static void a_lost_put_leaves_nothing(void **state) {
    fixture *f = *state;
    assert_int_equal(put(f, "/t/1.json", "one"), SILT_OK);
    assert_log(f, "CREATE CREATE2 RENAME");
    assert_int_equal(put(f, "/t/1.json", "two"), SILT_EXISTS);
    assert_string_equal(f->err.condition, "PATH_ALREADY_EXISTS");
    assert_log(f, "CREATE CREATE2 RENAME DELETE");
    assert_files(f, "/t/1.json");
    assert_bytes(f, "/t/1.json", "one");
}

static void a_folder_is_not_written_over(void **state) {
    fixture *f = *state;
    hdfs_fake_file(f->fake, "/t/d/x", "x");
    assert_int_equal(put(f, "/t/d", "one"), SILT_EXISTS);
    assert_int_equal(put_over(f, "/t/d", "one"), SILT_EXISTS);
    assert_files(f, "/t/d/x");
}

static void reads_go_straight_to_the_data_node_once_it_is_known(void **state) {
    fixture *f = *state;
    hdfs_fake_file(f->fake, "/t/a", "0123456789");
    hdfs_fake_file(f->fake, "/t/b", "abc");
    assert_bytes(f, "/t/a", "0123456789");
    assert_log(f, "OPEN OPEN2");
    assert_bytes(f, "/t/b", "abc");
    assert_log(f, "OPEN2");
    buf b;
    buf_init(&b, 100);
    assert_int_equal(store_read(f->store, STR("/t/a"), 3, 4, &b, &f->err), SILT_OK);
    assert_text(buf_str(&b), "3456");
    assert_log(f, "OPEN2");
    str target = hdfs_fake_target(f->fake, "step2", f->arena);
    assert_true(str_ends_with(target, STR("&offset=3&length=4")));
    assert_true(str_find(target, STR("op=OPEN")) != SIZE_MAX);
    assert_int_equal(store_read(f->store, STR("/t/none"), 0, -1, &b, &f->err), SILT_NOT_FOUND);
    assert_log(f, "OPEN2");
    buf_dispose(&b);
}

static void a_data_node_that_fails_is_left_for_the_namenode(void **state) {
    fixture *f = *state;
    hdfs_fake_file(f->fake, "/t/a", "0123456789");
    assert_bytes(f, "/t/a", "0123456789");
    hdfs_fake_break(f->fake, (fake_break){.op = "OPEN2", .way = TINY_RESET});
    assert_bytes(f, "/t/a", "0123456789");
    hdfs_fake_break(f->fake, (fake_break){.op = "OPEN2", .way = TINY_CUT, .applied = true, .times = 3});
    assert_bytes(f, "/t/a", "0123456789");
    hdfs_fake_break(f->fake, (fake_break){.op = "OPEN2", .way = TINY_ANSWER, .status = 500, .times = 2});
    assert_bytes(f, "/t/a", "0123456789");
    assert_true(str_find(hdfs_fake_log(f->fake, f->arena), STR("OPEN OPEN2")) != SIZE_MAX);
    assert_false(str_is_null(hdfs_fake_target(f->fake, "excludedatanodes=127.0.0.1", f->arena)));
}

static void an_offset_beyond_the_end_is_no_error(void **state) {
    fixture *f = *state;
    buf b;
    buf_init(&b, 100);
    hdfs_fake_file(f->fake, "/t/a", "0123");
    assert_int_equal(store_read(f->store, STR("/t/a"), 4, 10, &b, &f->err), SILT_OK);
    assert_int_equal(store_read(f->store, STR("/t/a"), 1000, -1, &b, &f->err), SILT_OK);
    assert_int_equal(b.len, 0);
    buf_dispose(&b);
}

static void listings_follow_pages_and_hide_what_is_temporary(void **state) {
    fixture *f = *state;
    static const char *const files[] = {"/t/b", "/t/a", "/t/d/x", "/t/.silt-0.tmp", "/t/c", "/t/e", "/t/\xc3\xa9", "/t/Z"};
    store_list_result list;
    buf names;
    buf_init(&names, 1000);
    for (size_t i = 0; i < ARRAY_LEN(files); i++) hdfs_fake_file(f->fake, files[i], "12");
    assert_int_equal(store_list(f->store, STR("/t"), STR_NULL, false, f->arena, &list, &f->err), SILT_OK);
    for (size_t i = 0; i < list.count; i++) {
        if (i) buf_append_char(&names, ' ');
        buf_append(&names, list.items[i].path);
        if (list.items[i].is_dir) buf_append_char(&names, '/');
        else assert_int_equal(list.items[i].size_bytes, 2);
    }
    assert_text(buf_str(&names), "/t/Z /t/a /t/b /t/c /t/d/ /t/e /t/\xc3\xa9");
    assert_log(f, "LISTSTATUS_BATCH LISTSTATUS_BATCH LISTSTATUS_BATCH");
    assert_true(str_find(hdfs_fake_target(f->fake, "startafter=", f->arena), STR("startAfter=")) != SIZE_MAX); /* both spellings */
    buf_dispose(&names);
}

static void a_poll_for_a_new_version_is_one_request(void **state) {
    fixture *f = *state;
    char path[64];
    store_list_result list;
    for (int i = 0; i < 40; i++) {
        snprintf(path, sizeof path, "/t/_delta_log/%020d.json", i);
        hdfs_fake_file(f->fake, path, "{}");
    }
    assert_int_equal(store_list(f->store, STR("/t/_delta_log"), STR("00000000000000000039.json"), false, f->arena, &list, &f->err), SILT_OK);
    assert_int_equal(list.count, 1);
    assert_log(f, "LISTSTATUS_BATCH");
    assert_int_equal(store_list(f->store, STR("/t/_delta_log"), STR("00000000000000000040"), false, f->arena, &list, &f->err), SILT_OK);
    assert_int_equal(list.count, 0);
    assert_log(f, "LISTSTATUS_BATCH");
}

/* ---- lost replies ---- */

/* Every way to break, at every request of a put; afterwards the bytes are there or not, as the status says, and nothing is left beside. */
static void puts_survive_every_break(void **state) {
    fixture *f = *state;
    static const char *const ops[] = {"CREATE", "CREATE2", "RENAME"};
    static const fake_break ways[] = {
        {.way = TINY_RESET},
        {.way = TINY_RESET, .applied = true},
        {.way = TINY_CLOSE, .status = 500},
        {.way = TINY_ANSWER, .status = 500},
        {.way = TINY_ANSWER, .status = 500, .applied = true},
        {.way = TINY_ANSWER, .status = 503},
        {.way = TINY_STALL},
        {.way = TINY_STALL, .applied = true},
        {.way = TINY_CUT, .applied = true},
        {.way = TINY_ANSWER, .twice = true},
        {.way = TINY_RESET, .applied = true, .times = 2},
    };
    int number = 0;
    for (size_t o = 0; o < ARRAY_LEN(ops); o++)
        for (size_t w = 0; w < ARRAY_LEN(ways); w++)
            for (int mode = 0; mode < 3; mode++) { /* absent, replacing, something there */
                str path = arena_printf(f->arena, "/t%d/x", number++);
                fake_break b = ways[w];
                b.op = ops[o];
                if (mode > 0) hdfs_fake_file(f->fake, path.ptr, "old");
                hdfs_fake_break(f->fake, b);
                silt_status status = mode == 1 ? put_over(f, path.ptr, "new") : put(f, path.ptr, "new");
                silt_status expected = mode == 2 ? SILT_EXISTS : SILT_OK;
                if (status != expected) fail_msg("%s, way %zu, mode %d: status %d %s %s", b.op, w, mode, (int)status, f->err.message, f->err.detail);
                hdfs_fake_break(f->fake, (fake_break){.op = NULL});
                assert_bytes(f, path.ptr, mode == 2 ? "old" : "new");
                if (str_find(hdfs_fake_files(f->fake, f->arena), STR("TMP")) != SIZE_MAX) fail_msg("%s, way %zu, mode %d: something is left", b.op, w, mode);
            }
}

/* Nothing works any more after the rename was sent: that is told, not guessed. */
static void an_outcome_that_cannot_be_learned_is_unknown(void **state) {
    fixture *f = *state;
    hdfs_fake_break(f->fake, (fake_break){.op = "RENAME", .way = TINY_RESET, .applied = true, .times = 1});
    assert_int_equal(put(f, "/t/1", "one"), SILT_OK);
    store_close(f->store);
    services = STR_NULL;
    open_store(f);
    hdfs_fake_break(f->fake, (fake_break){.op = "OPEN", .way = TINY_ANSWER, .status = 500, .times = 1000});
    assert_int_equal(put(f, "/t/2", "two"), SILT_OK); /* nothing is in doubt, nothing is read */
    hdfs_fake_break(f->fake, (fake_break){.op = "RENAME", .way = TINY_RESET, .applied = false, .times = 1000});
    assert_int_equal(put(f, "/t/3", "three"), SILT_IO); /* its temporary file could be removed: it is not there, and never will be */
    assert_files(f, "/t/1 /t/2");
    hdfs_fake_break(f->fake, (fake_break){.op = NULL});
    assert_int_equal(store_put(f->store, STR("/t/1"), STR("other"), STORE_PUT_IF_ABSENT, &f->err), SILT_EXISTS);
}

static void the_bytes_of_another_that_won_meanwhile_are_kept(void **state) {
    fixture *f = *state;
    hdfs_fake_file(f->fake, "/t/1", "theirs");
    hdfs_fake_break(f->fake, (fake_break){.op = "RENAME", .way = TINY_RESET});
    assert_int_equal(put(f, "/t/1", "ours"), SILT_EXISTS);
    assert_bytes(f, "/t/1", "theirs");
    assert_files(f, "/t/1");
}

static void data_files_take_two_requests(void **state) {
    fixture *f = *state;
    str local;
    assert_int_equal(store_write_begin(f->store, STR("/t/p=1/x.parquet"), f->arena, &local, &f->err), SILT_OK);
    FILE *file = fopen(local.ptr, "wb");
    assert_non_null(file);
    fputs("PAR1", file);
    fclose(file);
    assert_int_equal(store_write_finish(f->store, STR("/t/p=1/x.parquet"), local, &f->err), SILT_OK);
    assert_log(f, "CREATE CREATE2");
    assert_bytes(f, "/t/p=1/x.parquet", "PAR1");
}

static void data_files_survive_breaks(void **state) {
    fixture *f = *state;
    static const fake_break ways[] = {{.way = TINY_RESET}, {.way = TINY_RESET, .applied = true}, {.way = TINY_ANSWER, .status = 500, .applied = true}, {.way = TINY_ANSWER, .twice = true}};
    for (size_t w = 0; w < ARRAY_LEN(ways); w++) {
        fake_break b = ways[w];
        str local, path = arena_printf(f->arena, "/t%zu/x", w);
        b.op = "CREATE2";
        assert_int_equal(store_write_begin(f->store, path, f->arena, &local, &f->err), SILT_OK);
        FILE *file = fopen(local.ptr, "wb");
        assert_non_null(file);
        fputs("PAR1", file);
        fclose(file);
        hdfs_fake_break(f->fake, b);
        if (store_write_finish(f->store, path, local, &f->err) != SILT_OK) fail_msg("way %zu: %s %s", w, f->err.message, f->err.detail);
        assert_bytes(f, path.ptr, "PAR1");
    }
    assert_files(f, "/t0/x /t1/x /t2/x /t3/x");
}

/* A large object is compared as it comes, not held. */
static void lost_renames_of_files_are_found_out_too(void **state) {
    fixture *f = *state;
    static char text[200000];
    char local[] = "/tmp/silt-body-XXXXXX";
    int fd = mkstemp(local);
    assert_true(fd >= 0);
    for (size_t i = 0; i < sizeof text; i++) text[i] = (char)('a' + i % 23);
    assert_int_equal(write(fd, text, sizeof text), sizeof text);
    close(fd);
    const hdfs_body body = {.file = local, .size = sizeof text};
    hdfs_fake_break(f->fake, (fake_break){.op = "RENAME", .way = TINY_RESET, .applied = true});
    assert_int_equal(hdfs_put_body((hdfs_store *)f->store, STR("/t/a"), &body, false, &f->err), SILT_OK);
    text[sizeof text - 1] ^= 1; /* another's, as long, different at its end */
    hdfs_fake_file(f->fake, "/t/b", arena_str(f->arena, (str){text, sizeof text}).ptr);
    hdfs_fake_break(f->fake, (fake_break){.op = "RENAME", .way = TINY_RESET});
    assert_int_equal(hdfs_put_body((hdfs_store *)f->store, STR("/t/b"), &body, false, &f->err), SILT_EXISTS);
    hdfs_fake_break(f->fake, (fake_break){.op = "RENAME", .way = TINY_RESET, .applied = true});
    assert_int_equal(hdfs_put_body((hdfs_store *)f->store, STR("/t/b"), &body, true, &f->err), SILT_OK);
    assert_files(f, "/t/a /t/b");
    unlink(local);
}

/* ---- NameNodes ---- */

static void the_active_namenode_is_found_and_remembered(void **state) {
    fixture *f = *state;
    store_entry e;
    hdfs_fake_state(f->fake, "StandbyException");
    hdfs_fake_file(f->other, "/t/a", "1");
    assert_int_equal(store_stat(f->store, STR("/t/a"), f->arena, &e, &f->err), SILT_OK);
    assert_log(f, "GETFILESTATUS");
    assert_int_equal(store_stat(f->store, STR("/t/a"), f->arena, &e, &f->err), SILT_OK);
    assert_log(f, ""); /* the other one alone is asked now */
    hdfs_fake_state(f->fake, NULL); /* and after a failover the first again, also to write */
    hdfs_fake_state(f->other, "RetriableException");
    assert_int_equal(put(f, "/t/b", "2"), SILT_OK);
    assert_log(f, "CREATE CREATE2 RENAME");
}

static void a_namenode_that_is_gone_is_passed_over(void **state) {
    fixture *f = *state;
    store_entry e;
    hdfs_fake_stop(f->fake);
    hdfs_fake_file(f->other, "/t/a", "1");
    assert_int_equal(store_stat(f->store, STR("/t/a"), f->arena, &e, &f->err), SILT_OK);
    hdfs_fake_stop(f->other);
    assert_int_equal(store_stat(f->store, STR("/t/a"), f->arena, &e, &f->err), SILT_IO);
    assert_non_null(strstr(f->err.detail, "the last of several attempts"));
    f->fake = f->other = NULL;
}

static void no_active_namenode_is_told(void **state) {
    fixture *f = *state;
    hdfs_fake_state(f->fake, "StandbyException");
    hdfs_fake_state(f->other, "StandbyException");
    assert_int_equal(put(f, "/t/a", "1"), SILT_IO);
    assert_string_equal(f->err.condition, "HDFS_NO_ACTIVE_NAMENODE");
    assert_null(strstr(f->err.detail, "\tat "));
    assert_non_null(strstr(f->err.detail, "StandbyException"));
}

/* ---- HttpFS ---- */

static void httpfs_is_understood(void **state) {
    fixture *f = *state;
    store_list_result list;
    hdfs_fake_be_httpfs(f->fake);
    assert_int_equal(put(f, "/t/1", "one"), SILT_OK);
    assert_int_equal(put(f, "/t/1", "two"), SILT_EXISTS);
    assert_bytes(f, "/t/1", "one");
    assert_int_equal(put_over(f, "/t/1", "three"), SILT_OK);
    assert_bytes(f, "/t/1", "three");
    assert_int_equal(put_over(f, "/t/2", "four"), SILT_OK);
    assert_files(f, "/t/1 /t/2");
    (void)hdfs_fake_log(f->fake, f->arena);
    assert_int_equal(store_list(f->store, STR("/t"), STR_NULL, false, f->arena, &list, &f->err), SILT_OK);
    assert_int_equal(list.count, 2);
    assert_log(f, "LISTSTATUS_BATCH LISTSTATUS");
    assert_int_equal(store_list(f->store, STR("/t"), STR_NULL, false, f->arena, &list, &f->err), SILT_OK);
    assert_log(f, "LISTSTATUS");
    hdfs_fake_file(f->fake, "/t/json", "{\"RemoteException\":{\"exception\":\"FileNotFoundException\",\"message\":\"x\"}}"); /* a file's content is not an answer */
    assert_bytes(f, "/t/json", "{\"RemoteException\":{\"exception\":\"FileNotFoundException\",\"message\":\"x\"}}");
}

/* ---- what is no WebHDFS ---- */

static void another_servers_404_is_not_an_empty_table(void **state) {
    fixture *f = *state;
    store_list_result list;
    hdfs_fake_break(f->fake, (fake_break){.op = "LISTSTATUS_BATCH", .way = TINY_ANSWER, .status = 404});
    assert_int_equal(store_list(f->store, STR("/t"), STR_NULL, false, f->arena, &list, &f->err), SILT_IO);
    assert_string_equal(f->err.condition, "HDFS_UNEXPECTED_ANSWER");
    assert_int_equal(f->err.code, 404);
    hdfs_fake_break(f->fake, (fake_break){.op = "LISTSTATUS_BATCH", .way = TINY_ANSWER, .status = 200});
    assert_int_equal(store_list(f->store, STR("/t"), STR_NULL, false, f->arena, &list, &f->err), SILT_IO);
    assert_string_equal(f->err.condition, "HDFS_ANSWER_INVALID");
    hdfs_fake_break(f->fake, (fake_break){.op = "LISTSTATUS_BATCH", .way = TINY_ANSWER, .status = 401});
    assert_int_equal(store_list(f->store, STR("/t"), STR_NULL, false, f->arena, &list, &f->err), SILT_DENIED);
    assert_string_equal(f->err.condition, "HDFS_AUTHENTICATION_FAILED");
}

static void a_path_that_leads_elsewhere_is_never_sent(void **state) {
    fixture *f = *state;
    buf b;
    buf_init(&b, 10);
    assert_int_equal(put(f, "/t/../x", "1"), SILT_INVALID);
    assert_int_equal(store_read(f->store, STR("/t/./x"), 0, -1, &b, &f->err), SILT_INVALID);
    assert_int_equal(store_make_dirs(f->store, STR("/t/.."), &f->err), SILT_INVALID);
    assert_int_equal(store_remove(f->store, STR("/t/\xff"), &f->err), SILT_INVALID);
    assert_log(f, "");
    buf_dispose(&b);
}

/* ---- viewfs ---- */

static str view_target;

static void each_setting(void *ctx, void (*take)(void *taker, str key, str value), void *taker) {
    (void)ctx;
    take(taker, STR("spark.sql.ansi.enabled"), STR("true"));
    take(taker, STR("spark.hadoop.fs.viewfs.mounttable.c3.link./s"), view_target);
}

static int set_up_view(void **state) {
    if (set_up_ha(state) != 0) return 1;
    fixture *f = *state;
    static char folder[] = "/tmp/silt-view-XXXXXX";
    store_settings settings = {.get = get_setting, .ctx = NULL};
    services = STR_NULL;
    strcpy(folder, "/tmp/silt-view-XXXXXX");
    if (!mkdtemp(folder)) return 1;
    str path = arena_printf(f->arena, "%s/core-site.xml", folder);
    FILE *file = fopen(path.ptr, "w");
    if (!file) return 1;
    fprintf(file,
            "<configuration><property><name>fs.viewfs.mounttable.c1.link./data/one</name><value>webhdfs://%s/deep/in</value></property>"
            "<property><name>fs.viewfs.mounttable.c1.link./data/two</name><value>webhdfs://%s/</value></property>"
            "<property><name>fs.viewfs.mounttable.c1.link./more</name><value>webhdfs://%s/more</value></property>"
            "<property><name>fs.viewfs.mounttable.c2.link./x</name><value>s3a://bucket/x</value></property></configuration>",
            hdfs_fake_authority(f->fake, f->arena).ptr, hdfs_fake_authority(f->other, f->arena).ptr, hdfs_fake_authority(f->fake, f->arena).ptr);
    fclose(file);
    setenv("HADOOP_CONF_DIR", folder, 1);
    store_close(f->store);
    f->store = NULL;
    if (store_viewfs_open(STR("c1"), &settings, &f->store, &f->err) != SILT_OK) fail_msg("%s %s", f->err.message, f->err.detail);
    store *none;
    assert_int_equal(store_viewfs_open(STR("c2"), &settings, &none, &f->err), SILT_UNSUPPORTED); /* not another file system than these */
    assert_non_null(strstr(f->err.message, "s3a"));
    assert_int_equal(store_viewfs_open(STR("c3"), &settings, &none, &f->err), SILT_INVALID);
    view_target = arena_printf(f->arena, "webhdfs://%s/of-settings", hdfs_fake_authority(f->fake, f->arena).ptr);
    settings.each = each_setting; /* and links that no file tells of */
    assert_int_equal(store_viewfs_open(STR("c3"), &settings, &none, &f->err), SILT_OK);
    assert_int_equal(store_put(none, STR("/s/a"), STR("1"), STORE_PUT_IF_ABSENT, &f->err), SILT_OK);
    assert_int_equal(store_remove(none, STR("/s/a"), &f->err), SILT_OK);
    store_close(none);
    unlink(path.ptr);
    rmdir(folder);
    return 0;
}

static void each_link_leads_to_its_cluster(void **state) {
    fixture *f = *state;
    store_list_result list;
    store_entry e;
    assert_int_equal(put(f, "/data/one/t/a", "1"), SILT_OK);
    assert_int_equal(put(f, "/data/two/t/b", "2"), SILT_OK);
    assert_int_equal(put(f, "/more/c", "3"), SILT_OK);
    assert_files(f, "/deep/in/t/a /more/c");
    assert_text(hdfs_fake_files(f->other, f->arena), "/t/b");
    assert_bytes(f, "/data/two/t/b", "2");
    assert_int_equal(store_list(f->store, STR("/data/one/t"), STR_NULL, false, f->arena, &list, &f->err), SILT_OK);
    assert_int_equal(list.count, 1);
    assert_text(list.items[0].path, "/data/one/t/a");
    assert_int_equal(store_list(f->store, STR("/data/two"), STR_NULL, true, f->arena, &list, &f->err), SILT_OK);
    assert_int_equal(list.count, 1);
    assert_text(list.items[0].path, "/data/two/t/b");
    assert_int_equal(store_list(f->store, STR("/"), STR_NULL, false, f->arena, &list, &f->err), SILT_OK);
    assert_int_equal(list.count, 2);
    assert_text(list.items[0].path, "/data");
    assert_text(list.items[1].path, "/more");
    assert_int_equal(store_stat(f->store, STR("/data"), f->arena, &e, &f->err), SILT_OK);
    assert_true(e.is_dir);
    assert_int_equal(store_stat(f->store, STR("/data/one/t/a"), f->arena, &e, &f->err), SILT_OK);
    assert_text(e.path, "/data/one/t/a");
    assert_int_equal(put(f, "/data/x", "1"), SILT_DENIED); /* below no link */
    assert_int_equal(put(f, "/data/one/t/a", "2"), SILT_EXISTS);
    str where = arena_printf(f->arena, "webhdfs://%s/deep/in/t/a", hdfs_fake_authority(f->fake, f->arena).ptr);
    if (!strstr(f->err.message, where.ptr)) fail_msg("%s", f->err.message);
    assert_int_equal(store_stat(f->store, STR("/datax/y"), f->arena, &e, &f->err), SILT_NOT_FOUND);
    assert_int_equal(store_move_dir(f->store, STR("/data/one/t"), STR("/data/two/u"), &f->err), SILT_UNSUPPORTED);
    assert_int_equal(store_remove(f->store, STR("/data/two/t/b"), &f->err), SILT_OK);
    assert_text(hdfs_fake_files(f->other, f->arena), "");
}

int main(void) {
    cmocka_set_message_output(CM_OUTPUT_TAP);
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define HA_CASE(name) cmocka_unit_test_setup_teardown(name, set_up_ha, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(names_of_every_kind_reach_the_server_whole),
        CASE(a_put_is_three_requests),
        CASE(a_lost_put_leaves_nothing),
        CASE(a_folder_is_not_written_over),
        CASE(reads_go_straight_to_the_data_node_once_it_is_known),
        CASE(a_data_node_that_fails_is_left_for_the_namenode),
        CASE(an_offset_beyond_the_end_is_no_error),
        CASE(listings_follow_pages_and_hide_what_is_temporary),
        CASE(a_poll_for_a_new_version_is_one_request),
        CASE(puts_survive_every_break),
        CASE(an_outcome_that_cannot_be_learned_is_unknown),
        CASE(the_bytes_of_another_that_won_meanwhile_are_kept),
        CASE(data_files_take_two_requests),
        CASE(data_files_survive_breaks),
        CASE(lost_renames_of_files_are_found_out_too),
        HA_CASE(the_active_namenode_is_found_and_remembered),
        HA_CASE(a_namenode_that_is_gone_is_passed_over),
        HA_CASE(no_active_namenode_is_told),
        cmocka_unit_test_setup_teardown(each_link_leads_to_its_cluster, set_up_view, tear_down),
        CASE(httpfs_is_understood),
        CASE(another_servers_404_is_not_an_empty_table),
        CASE(a_path_that_leads_elsewhere_is_never_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
