/*
 * Which paths retained versions need: VACUUM keeps these and nothing else. Times by the store's clock; what must be kept follows from PROTOCOL.md and
 * from who was current when.
 */
#include "read_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "delta/retained.h"
#include "delta/table_path.h"

#define ADD(path)                "{'add':{'path':'" path "','partitionValues':{},'size':10,'modificationTime':7,'dataChange':true}}\n"
#define UNTIMED(path)            "{'remove':{'path':'" path "','dataChange':true}}\n"
#define REMOVED(path, time)      "{'remove':{'path':'" path "','deletionTimestamp':" #time ",'dataChange':true}}\n"
#define DV(type, text)           "'deletionVector':{'storageType':'" type "','pathOrInlineDv':'" text "','offset':1,'sizeInBytes':34,'cardinality':2}"
#define ADD_DV(path, type, text) "{'add':{'path':'" path "','partitionValues':{},'size':10,'modificationTime':7,'dataChange':true," DV(type, text) "}}\n"
#define CDC(path)                "{'cdc':{'path':'" path "','partitionValues':{},'size':10,'dataChange':false}}\n"
#define UUID                     "80a083e8-7026-4e79-81be-64bd76c43a11"

/* Z85 of 20 characters, and the name that it stands for (the protocol's example). */
#define Z85_NAME "^-aqEH.-t@S}K{vb[*k^"
#define DV_FILE  "deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin"

static void commit_at(log_fixture *f, int64_t version, int64_t ms, const char *text) {
    store_memory_set_clock(f->store, ms);
    log_commit(f, version, text);
}

static delta_retained *load(log_fixture *f, int64_t cutoff_ms) {
    delta_retained *r = NULL;
    delta_snapshot *s = log_load(f, DELTA_LATEST);
    silt_status status = delta_retained_load(s, cutoff_ms, &r, &f->err);
    if (status != SILT_OK) fail_msg("[%s] %s", f->err.condition, f->err.message);
    delta_snapshot_release(s);
    return r;
}

/* Every name of the list "a,b" is kept, or none. */
static void assert_all(const delta_retained *r, const char *names, bool kept) {
    str rest = str_of(names), name;
    while (str_next(&rest, ',', &name))
        if (delta_retained_has(r, name) != kept) fail_msg("%.*s is %skept", STR_ARG(name), kept ? "not " : "");
}

static void assert_retained(log_fixture *f, int64_t cutoff_ms, const char *kept, const char *lost) {
    delta_retained *r = load(f, cutoff_ms);
    assert_all(r, kept, true);
    assert_all(r, lost, false);
    delta_retained_free(r);
}

static void the_newest_version_and_those_that_were_current(void **state) {
    log_fixture *f = *state;
    commit_at(f, 0, 1000, PROTOCOL_12 METADATA ADD("a") ADD("b"));
    commit_at(f, 1, 2000, REMOVED("a", 2000) ADD("c"));
    commit_at(f, 2, 3000, REMOVED("c", 3000) ADD("d"));
    assert_retained(f, 10000, "b,d", "a,c");
    assert_retained(f, 3000, "b,d,c", "a"); /* removed at the cutoff itself */
    assert_retained(f, 2500, "b,d,c", "a"); /* version 1 was current then */
    assert_retained(f, 2000, "b,d,c,a", "x");
    assert_retained(f, 500, "b,d,c,a", "x");
}

static void the_first_retained_version_is_the_one_at_the_cutoff(void **state) {
    log_fixture *f = *state;
    static const struct { int64_t cutoff, first, at; } cases[] = {{500, 0, -1}, {1000, 0, 0}, {1999, 0, 0}, {2000, 1, 1}, {9999, 1, 1}};
    commit_at(f, 0, 1000, PROTOCOL_12 METADATA ADD("a"));
    commit_at(f, 1, 2000, ADD("b"));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        delta_retained *r = load(f, cases[i].cutoff);
        assert_int_equal(delta_retained_first_version(r), cases[i].first);
        assert_int_equal(delta_retained_version_at_cutoff(r), cases[i].at);
        delta_retained_free(r);
    }
}

/* A tombstone without a time, or with that of the beginning of a long job: the commit tells when readers lost the file. */
static void the_commit_counts_where_the_tombstones_time_does_not(void **state) {
    log_fixture *f = *state;
    commit_at(f, 0, 1000, PROTOCOL_12 METADATA ADD("a") ADD("b") ADD("c"));
    commit_at(f, 1, 5000, UNTIMED("a") REMOVED("b", 1500));
    assert_retained(f, 3000, "a,b,c", "x");
    assert_retained(f, 6000, "c", "a,b");
}

static void paths_are_those_of_the_folder(void **state) {
    log_fixture *f = *state;
    commit_at(f, 0, 1000,
              PROTOCOL_12 METADATA ADD("p=a%252Fb/x%20y") ADD("file:/t/in/side") ADD("file:///t/in/three") ADD("/t/in/plain") ADD("file:/other/x")
                  ADD("q//double/./z") ADD("file:/t/../t/up") ADD("s3://bucket/t/x") ADD("p=10:30/t"));
    assert_retained(f, 9000, "p=a%2Fb/x y,in/side,in/three,in/plain,q/double/z,up,p=10:30/t", "x,side,other/x,three");
}

static void a_name_that_was_not_encoded_is_kept_too(void **state) {
    log_fixture *f = *state;
    commit_at(f, 0, 1000, PROTOCOL_12 METADATA ADD("100%25/x"));
    assert_retained(f, 9000, "100%/x,100%25/x", "x");
}

static void deletion_vectors_of_live_and_removed_files(void **state) {
    log_fixture *f = *state;
    commit_at(f, 0, 1000,
              PROTOCOL_12 METADATA ADD_DV("a", "u", Z85_NAME) ADD_DV("b", "u", "ab" Z85_NAME) ADD_DV("c", "p", "file:/t/vectors/v.bin")
                  ADD_DV("d", "i", "wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L"));
    assert_retained(f, 9000, DV_FILE ",ab/" DV_FILE ",vectors/v.bin,a,b,c,d", "v.bin");
    commit_at(f, 1, 2000, "{'remove':{'path':'a','deletionTimestamp':2000,'dataChange':true," DV("u", Z85_NAME) "}}\n");
    assert_retained(f, 2000, DV_FILE, "v.bin");
    assert_retained(f, 2001, "b,ab/" DV_FILE, DV_FILE ",a");
}

static void a_vector_without_a_name_stops_it(void **state) {
    log_fixture *f = *state;
    delta_retained *r = NULL;
    commit_at(f, 0, 1000, PROTOCOL_12 METADATA ADD_DV("a", "u", "short"));
    delta_snapshot *s = log_load(f, DELTA_LATEST);
    assert_int_equal(delta_retained_load(s, 0, &r, &f->err), SILT_CORRUPT);
    assert_null(r);
    delta_snapshot_release(s);
}

#define PROTOCOL_CDF "{'protocol':{'minReaderVersion':1,'minWriterVersion':4}}\n"

static void change_files_of_retained_versions(void **state) {
    log_fixture *f = *state;
    commit_at(f, 0, 1000, PROTOCOL_CDF METADATA ADD("a"));
    commit_at(f, 1, 2000, CDC("_change_data/one") ADD("b"));
    commit_at(f, 2, 3000, CDC("_change_data/two") ADD("c"));
    assert_retained(f, 2500, "_change_data/two,a,b,c", "_change_data/one");
    assert_retained(f, 1500, "_change_data/two,_change_data/one", "x");
}

/* A checkpoint drops tombstones by the table's own retention; a longer one finds them in the commits that are still there. */
static void removals_that_a_checkpoint_has_forgotten(void **state) {
    log_fixture *f = *state;
    commit_at(f, 0, 1000, PROTOCOL_12 METADATA ADD("a") ADD("b"));
    commit_at(f, 1, 2000, REMOVED("a", 2000) ADD("c"));
    commit_at(f, 2, 3000, ADD("d"));
    log_put(f, log_name(f, 2, ".checkpoint." UUID ".json"), "{'checkpointMetadata':{'version':2}}\n" PROTOCOL_12 METADATA ADD("b") ADD("c") ADD("d"));
    commit_at(f, 3, 4000, REMOVED("b", 4000));
    assert_retained(f, 3500, "b,c,d", "a");
    assert_retained(f, 1500, "a,b,c,d", "x");
}

static void commits_since_are_seen_by_an_update(void **state) {
    log_fixture *f = *state;
    commit_at(f, 0, 1000, PROTOCOL_12 METADATA ADD("a"));
    delta_retained *r = load(f, 9000);
    assert_int_equal(delta_retained_update(r, &f->err), SILT_OK);
    commit_at(f, 1, 2000, ADD("back") ADD_DV("more", "u", Z85_NAME) CDC("_change_data/x"));
    commit_at(f, 2, 2001, REMOVED("back", 2001));
    assert_false(delta_retained_has(r, STR("back")));
    assert_int_equal(delta_retained_update(r, &f->err), SILT_OK);
    assert_all(r, "a,back,more," DV_FILE ",_change_data/x", true);
    delta_retained_free(r);
}

static void a_log_that_cannot_be_read_stops_an_update(void **state) {
    log_fixture *f = *state;
    commit_at(f, 0, 1000, PROTOCOL_12 METADATA ADD("a"));
    delta_retained *r = load(f, 9000);
    commit_at(f, 1, 2000, "{'add':\n");
    assert_int_equal(delta_retained_update(r, &f->err), SILT_CORRUPT);
    delta_retained_free(r);
}

/* ---- what commits took away ---- */

static silt_status note_removed(void *ctx, const removed_file *file, silt_error *err) {
    (void)err;
    buf_printf(ctx, "%.*s:%lld:%lld,", STR_ARG(file->path), (long long)file->size_bytes, (long long)file->removed_ms);
    return SILT_OK;
}

static void removed_files_of_a_range(void **state) {
    log_fixture *f = *state;
    buf b;
    commit_at(f, 0, 1000, PROTOCOL_12 METADATA ADD("a"));
    commit_at(f, 1, 2000,
              "{'remove':{'path':'p%20q','deletionTimestamp':1999,'size':12,'dataChange':true," DV("u", Z85_NAME) "}}\n" CDC("_change_data/x") ADD("b"));
    commit_at(f, 2, 3000, UNTIMED("file:/elsewhere/x") UNTIMED("b"));
    commit_at(f, 3, 4000, UNTIMED("c"));
    buf_init(&b, BUF_MAX_DEFAULT);
    assert_int_equal(delta_each_removed_file(&f->env, LOG_ROOT, 1, 2, note_removed, &b, &f->err), SILT_OK);
    assert_string_equal(buf_cstr(&b), "p q:12:1999," DV_FILE ":-1:1999,_change_data/x:10:0,b:-1:0,");
    buf_dispose(&b);
    buf_init(&b, BUF_MAX_DEFAULT);
    assert_int_equal(delta_each_removed_file(&f->env, LOG_ROOT, 3, 4, note_removed, &b, &f->err), SILT_NOT_FOUND);
    buf_dispose(&b);
    int64_t earliest;
    assert_int_equal(delta_earliest_commit(&f->env, LOG_ROOT, &earliest, &f->err), SILT_OK);
    assert_int_equal(earliest, 0);
}

/* ---- links ---- */

static void shell(const char *format, const char *folder) {
    char command[512];
    snprintf(command, sizeof command, format, folder, folder, folder, folder);
    assert_int_equal(system(command), 0);
}

/* An absolute path through a link to the table's folder means a file in it. */
static void absolute_paths_through_links(void **state) {
    (void)state;
    char folder[] = "/tmp/silt-retained-XXXXXX";
    silt_error err = {.status = SILT_OK};
    store *s;
    str out;
    arena *a = arena_new();
    assert_non_null(mkdtemp(folder));
    shell("mkdir -p %s/real/t/sub %s/other && ln -s real %s/link && ln -s ../../other %s/real/t/away", folder);
    assert_int_equal(store_local_open(&s, &err), SILT_OK);
    const delta_env env = {.store = s};
    table_paths p;
    table_paths_init(&p, &env, arena_printf(a, "%s/real/t/", folder), a);
    const struct {
        const char *path, *expected; /* NULL: outside */
    } cases[] = {{"file:%s/link/t/sub/x", "sub/x"},   {"%s/link/t/y", "y"},    {"file:%s/link/t/sub/z", "sub/z"}, {"file:%s/other/x", NULL},
                 {"file:%s/real/t/away/x", "away/x"}, {"file:%s/gone/x", NULL}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char path[256];
        str expected = str_of(cases[i].expected);
        snprintf(path, sizeof path, cases[i].path, folder);
        assert_int_equal(table_path_relative(&p, str_of(path), a, &out, &err), SILT_OK);
        if (str_is_null(out) != str_is_null(expected) || !str_eq(out, expected)) fail_msg("%s is '%.*s'", path, STR_ARG(out));
    }
    shell("rm -rf %s", folder);
    store_close(s);
    arena_free(a);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, log_setup, log_teardown)

int main(void) {
    cmocka_set_message_output(CM_OUTPUT_TAP);
    const struct CMUnitTest tests[] = {
        TEST(the_newest_version_and_those_that_were_current),
        TEST(the_first_retained_version_is_the_one_at_the_cutoff),
        TEST(the_commit_counts_where_the_tombstones_time_does_not),
        TEST(paths_are_those_of_the_folder),
        TEST(a_name_that_was_not_encoded_is_kept_too),
        TEST(deletion_vectors_of_live_and_removed_files),
        TEST(a_vector_without_a_name_stops_it),
        TEST(change_files_of_retained_versions),
        TEST(removals_that_a_checkpoint_has_forgotten),
        TEST(commits_since_are_seen_by_an_update),
        TEST(a_log_that_cannot_be_read_stops_an_update),
        TEST(removed_files_of_a_range),
        cmocka_unit_test(absolute_paths_through_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
