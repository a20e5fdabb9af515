/* Damaged logs: each gives a clear error that names file and line, or the right answer; never a wrong one, never a crash. */
#include "read_support.h"

#include "delta/log_path.h"

typedef struct bad_line {
    const char *text;
    int line; /* of the whole commit, whose first two lines are good */
} bad_line;

static const bad_line bad_lines[] = {
    {"{'add':{'path':'f'", 3},                          /* torn at the end of the file */
    {"{'add':{'path':'f\n", 3},                         /* torn in a string */
    {"{'add':{'path':'f'}\n{'add':{'path':'g'}}\n", 3}, /* a brace is missing, and another line follows */
    {ADD("f") "{'add':{'path':'g'},}\n", 4},
    {ADD("f") "\n\n{'add' {'path':'g'}}\n", 6},
    {"[]\n", 3},
    {"'text'\n", 3},
    {"17\n", 3},
    {"{'add':[]}\n", 3},
    {"{'add':'f'}\n", 3},
    {"{'add':{}}\n", 3},
    {"{'add':{'path':null}}\n", 3},
    {"{'add':{'path':''}}\n", 3},
    {"{'add':{'path':1}}\n", 3},
    {"{'remove':{'deletionTimestamp':1}}\n", 3},
    {"{'add':{'path':'f','size':'big'}}\n", 3},
    {"{'add':{'path':'f','size':12x}}\n", 3},
    {"{'add':{'path':'f','size':99999999999999999999}}\n", 3},
    {"{'add':{'path':'f','dataChange':1}}\n", 3},
    {"{'add':{'path':'f','partitionValues':[]}}\n", 3},
    {"{'add':{'path':'f','partitionValues':{'p':{}}}}\n", 3},
    {"{'add':{'path':'f','deletionVector':{'storageType':'u'}}}\n", 3},
    {"{'add':{'path':'f','deletionVector':{'storageType':'uu','pathOrInlineDv':'x'}}}\n", 3},
    {"{'add':{'path':'f','deletionVector':{'storageType':'u','pathOrInlineDv':'x','offset':-2}}}\n", 3},
    {"{'add':{'path':'\\q'}}\n", 3},
    {"{'add':{'path':'\\u12g4'}}\n", 3},
    {"{'future':{'a':bogus}}\n", 3},
    {"{'future':{'a':01}}\n", 3},
    {"{'future':{'a':[1,]}}\n", 3},
    {"{'future':{'a':1]}\n", 3},
    {"{'commitInfo':{'timestamp':tru}}\n", 3},
    {"{'txn':{'appId':'x'}}\n", 3},
    {"{'protocol':{'minReaderVersion':'one'}}\n", 3},
    {"{'domainMetadata':{}}\n", 3},
    {"{'metaData':{'schemaString':'{`type`:`struct`'}}\n", 3},
    {"{} {}\n", 3},
    {"{'add':{'path':'f'}} garbage\n", 3},
    {"{'add':{'path':'\xff\xfe'}}\n", 3},
    {"{'add':{'path':'a\x01'}}\n", 3},
};

static void bad_lines_are_named(void **state) {
    log_fixture *f = *state;
    for (size_t i = 0; i < ARRAY_LEN(bad_lines); i++) {
        buf b;
        buf_init(&b, 1 << 20);
        buf_append_z(&b, START);
        buf_append_z(&b, bad_lines[i].text);
        log_commit(f, 0, buf_cstr(&b));
        buf_dispose(&b);
        delta_snapshot *s = NULL;
        f->err = (silt_error){0};
        if (delta_snapshot_load(&f->env, LOG_ROOT, DELTA_LATEST, &s, &f->err) == SILT_OK)
            fail_msg("accepted: %s", bad_lines[i].text);
        if (strcmp(f->err.condition, "DELTA_LOG_FILE_CORRUPT") != 0 && strcmp(f->err.condition, "DELTA_INVALID_SCHEMA") != 0)
            fail_msg("%s for %s", f->err.condition, bad_lines[i].text);
        const char *where = arena_printf(f->arena, "00000000000000000000.json, line %d", bad_lines[i].line).ptr;
        if (!strstr(f->err.message, where))
            fail_msg("expected \"%s\" in \"%s\" for %s", where, f->err.message, bad_lines[i].text);
        assert_true(f->err.detail[0] != '\0');
    }
}

/* Nesting without end: refused, not followed into the stack's end. */
static void deep_nesting(void **state) {
    log_fixture *f = *state;
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    buf_append_z(&b, START "{'future':");
    for (int i = 0; i < 100000; i++) buf_append_char(&b, '[');
    log_commit(f, 0, buf_cstr(&b));
    log_load_fails(f, DELTA_LATEST, "DELTA_LOG_FILE_CORRUPT");
    buf_dispose(&b);
}

static const char whole[] = "{'commitInfo':{'timestamp':1,'operation':'WRITE'}}\n" START ADD(
    "f1") "{'add':{'path':'p=1/"
          "x','partitionValues':{'p':'1'},'size':5,'modificationTime':1,'dataChange':true,'stats':'{`numRecords`:3}',"
          "'deletionVector':{'storageType':'u','pathOrInlineDv':'aaaaaaaaaaaaaaaaaaaa','offset':1,'sizeInBytes':3,'cardinality':"
          "1}}}\n" REMOVE(
              "f0") "{'txn':{'appId':'x','version':1}}\n{'domainMetadata':{'domain':'d','configuration':'c','removed':false}}\n";

/* Whatever is loaded can be walked through. */
static void load_anything(log_fixture *f) {
    delta_snapshot *s;
    f->err = (silt_error){0};
    if (delta_snapshot_load(&f->env, LOG_ROOT, DELTA_LATEST, &s, &f->err) != SILT_OK) {
        assert_true(f->err.condition[0] != '\0' && f->err.message[0] != '\0');
        return;
    }
    (void)log_files(f, s);
    (void)log_removes(f, s);
    bool known;
    int64_t n;
    silt_status ignored = delta_snapshot_num_records(s, &known, &n, &f->err);
    (void)ignored;
    delta_snapshot_release(s);
}

static void put_raw(log_fixture *f, str bytes) {
    assert_int_equal(store_put(f->store, log_path_file(LOG_ROOT, 0, ".json", f->arena), bytes, STORE_PUT_REPLACE, &f->err),
                     SILT_OK);
}

/* A file cut off anywhere: the lines before the cut count only when the cut is at a line's end. */
static void truncated_anywhere(void **state) {
    log_fixture *f = *state;
    str text = log_text(f, whole);
    for (size_t n = 0; n <= text.len; n++) {
        delta_snapshot *s;
        put_raw(f, str_slice(text, 0, n));
        silt_status status = delta_snapshot_load(&f->env, LOG_ROOT, DELTA_LATEST, &s, &f->err);
        bool at_line_end = n == text.len || n == 0 || text.ptr[n - 1] == '\n' || text.ptr[n] == '\n';
        if (!at_line_end) {
            assert_int_equal(status, SILT_CORRUPT);
        } else if (status == SILT_OK) {
            delta_snapshot_release(s);
        } else {
            assert_condition(&f->err, "DELTA_STATE_RECOVER_ERROR");
        }
    }
}

static void flipped_bits(void **state) {
    log_fixture *f = *state;
    str text = log_text(f, whole);
    char *bytes = arena_cstr(f->arena, text);
    for (size_t i = 0; i < text.len; i++)
        for (int bit = 0; bit < 8; bit++) {
            bytes[i] = (char)(bytes[i] ^ (1 << bit));
            put_raw(f, (str){bytes, text.len});
            load_anything(f);
            bytes[i] = (char)(bytes[i] ^ (1 << bit));
        }
}

static void foreign_files_in_the_log(void **state) {
    log_fixture *f = *state;
    log_commit(f, 0, START ADD("f"));
    log_put(f, "00000000000000000001.json.tmp", "garbage");
    log_put(f, ".00000000000000000001.json.crc", "garbage");
    log_put(f, "_staged_commits/00000000000000000001.80a083e8-7026-4e79-81be-64bd76c43a11.json", "garbage");
    log_put(f, "00000000000000000009.checkpoint.parquet.tmp", "garbage");
    log_put(f, "notes.json", "garbage");
    log_put(f, "00000000000000000005.json/part", "garbage"); /* a folder of that name */
    delta_snapshot *s = log_load(f, DELTA_LATEST);
    assert_int_equal(delta_snapshot_version(s), 0);
    assert_string_equal(log_files(f, s), "f");
    delta_snapshot_release(s);
}

/* Every store call fails once: an error each time, and all is given back (the sanitizers watch). */
static store_fault fail_nth(void *ctx, const char *call, str path, size_t nth) {
    (void)call;
    (void)path;
    return nth == *(size_t *)ctx ? FAULT_FAIL : FAULT_NONE;
}

static store_fault short_nth(void *ctx, const char *call, str path, size_t nth) {
    return fail_nth(ctx, call, path, nth) == FAULT_FAIL ? FAULT_SHORT : FAULT_NONE;
}

static void store_calls_fail(void **state) {
    log_fixture *f = *state;
    log_commit(f, 0, START ADD("f0"));
    log_commit(f, 1, ADD("f1"));
    log_put(f, log_name(f, 1, ".crc"), "{'tableSizeBytes':20,'numFiles':2}");
    for (int kind = 0; kind < 2; kind++)
        for (size_t n = 0; n < 40; n++) {
            store *faulty;
            assert_int_equal(store_fault_open(f->store, kind ? short_nth : fail_nth, &n, &faulty, &f->err), SILT_OK);
            delta_env env = f->env;
            env.store = faulty;
            delta_snapshot *s = NULL;
            silt_status status = delta_snapshot_load(&env, LOG_ROOT, DELTA_LATEST, &s, &f->err);
            if (status == SILT_OK) assert_string_equal(log_files(f, s), "f0,f1"); /* what failed was only a hint or a checksum */
            delta_snapshot_release(s);
            store_close(faulty);
        }
}

static void empty_commit(void **state) {
    log_fixture *f = *state;
    log_commit(f, 0, START ADD("f"));
    log_commit(f, 1, "");
    log_commit(f, 2, "\n \n");
    delta_snapshot *s = log_load(f, DELTA_LATEST);
    assert_int_equal(delta_snapshot_version(s), 2);
    assert_string_equal(log_files(f, s), "f");
    delta_snapshot_release(s);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, log_setup, log_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(bad_lines_are_named),      TEST(deep_nesting),     TEST(truncated_anywhere), TEST(flipped_bits),
        TEST(foreign_files_in_the_log), TEST(store_calls_fail), TEST(empty_commit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
