/* One writer: what the entries hold, what is refused before anything is written, lost replies, in-commit timestamps, row ids. */
#include "write_support.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/time.h"

typedef struct fixture {
    store *store;
    delta_env env;
    arena *arena;
    silt_error err;
} fixture;

static int setup(void **state) {
    fixture *f = calloc(1, sizeof *f);
    if (!f || store_memory_open(1700000000000, &f->store, NULL) != SILT_OK) return -1;
    f->env = (delta_env){.store = f->store, .n_threads = 1};
    f->arena = arena_new();
    *state = f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    arena_free(f->arena);
    store_close(f->store);
    free(f);
    return 0;
}

/* The nth line of a log file as JSON. */
static const json_node *line_of(fixture *f, const char *name, int n) {
    const char *text = write_log_text(f->store, name, f->arena);
    if (!text) fail_msg("%s is not there", name);
    str rest = str_of(text), line = STR_NULL;
    for (int i = 0; i <= n; i++) assert_true(str_next(&rest, '\n', &line));
    const json_node *root;
    assert_int_equal(json_parse(line, f->arena, &root, NULL), SILT_OK);
    return root;
}

static const json_node *commit_info_of(fixture *f, const char *name) {
    const json_node *info = json_get(line_of(f, name, 0), "commitInfo");
    assert_non_null(info);
    return info;
}

static void assert_keys(const json_node *object, const char *expected) {
    buf b;
    buf_init(&b, 4096);
    for (size_t i = 0; i < object->count; i++) {
        if (i) buf_append_char(&b, ',');
        buf_append(&b, object->keys[i]);
    }
    assert_string_equal(buf_cstr(&b), expected);
    buf_dispose(&b);
}

/* ---- entries ---- */

static void create_then_append(void **state) {
    fixture *f = *state;
    assert_created(&f->env, &(table_spec){.partition_by = "p"});
    assert_int_equal(assert_appended(&f->env, "x@1|y@"), 1);
    assert_live(&f->env, 1, "x,y");

    const json_node *info = commit_info_of(f, "00000000000000000000.json");
    assert_keys(info, "timestamp,operation,operationParameters,isolationLevel,isBlindAppend,operationMetrics,engineInfo,txnId");
    assert_true(str_eqz(json_get_str(info, "operation", STR("")), "CREATE TABLE"));
    assert_true(str_eqz(json_get_str(info, "isolationLevel", STR("")), "Serializable"));
    assert_true(json_get_bool(info, "isBlindAppend", false));
    assert_true(str_starts_with(json_get_str(info, "engineInfo", STR("")), STR("Silt/")));
    assert_int_equal(json_get_str(info, "txnId", STR("")).len, 36);
    assert_keys(line_of(f, "00000000000000000000.json", 1), "metaData");
    assert_keys(line_of(f, "00000000000000000000.json", 2), "protocol");

    info = commit_info_of(f, "00000000000000000001.json");
    assert_keys(info, "timestamp,operation,operationParameters,readVersion,isolationLevel,isBlindAppend,operationMetrics,engineInfo,txnId");
    assert_int_equal(json_get_i64(info, "readVersion", -1), 0);
    const json_node *add = json_get(line_of(f, "00000000000000000001.json", 2), "add");
    assert_keys(add, "path,partitionValues,size,modificationTime,dataChange,stats");
    assert_int_equal(json_get(json_get(add, "partitionValues"), "p")->type, JSON_NULL);
}

static void overwrite_is_not_blind(void **state) {
    fixture *f = *state;
    int64_t version;
    assert_created(&f->env, &(table_spec){0});
    assert_appended(&f->env, "x|y");
    assert_ok(write_overwrite(&f->env, "z", &version, &f->err), &f->err);
    assert_live(&f->env, 2, "z");
    const json_node *info = commit_info_of(f, "00000000000000000002.json");
    assert_false(json_get_bool(info, "isBlindAppend", true));
    assert_keys(json_get(line_of(f, "00000000000000000002.json", 2), "remove"),
                "path,deletionTimestamp,dataChange,extendedFileMetadata,partitionValues,size,stats");
    assert_true(str_eqz(json_get_str(json_get(line_of(f, "00000000000000000002.json", 2), "remove"), "stats", STR("")), "{\"numRecords\":10}"));
}

static void user_metadata_and_txn(void **state) {
    fixture *f = *state;
    delta_snapshot *s;
    delta_txn *t;
    int64_t version;
    assert_created(&f->env, &(table_spec){0});
    assert_ok(write_begin(&f->env, &s, &t, &f->err), &f->err);
    assert_ok(delta_txn_set_txn_id(t, STR("app"), 7, &f->err), &f->err);
    assert_ok(write_add_files(t, "x", &f->err), &f->err);
    const delta_commit_info info = {.operation = "WRITE", .operation_parameters = STR("{\"mode\":\"Append\",\"partitionBy\":\"[]\"}"),
                                    .operation_metrics = STR("{\"numFiles\":\"1\"}"), .user_metadata = STR("um"), .engine_info = STR("E")};
    assert_ok(delta_txn_commit(t, &info, &version, &f->err), &f->err);
    assert_keys(commit_info_of(f, "00000000000000000001.json"),
                "timestamp,operation,operationParameters,readVersion,isolationLevel,isBlindAppend,operationMetrics,userMetadata,engineInfo,txnId");
    const json_node *txn = json_get(line_of(f, "00000000000000000001.json", 1), "txn");
    assert_keys(txn, "appId,version,lastUpdated");
    assert_keys(line_of(f, "00000000000000000001.json", 2), "add");
    delta_txn_free(t);
    delta_snapshot_release(s);
    assert_ok(delta_snapshot_load(&f->env, ROOT, DELTA_LATEST, &s, &f->err), &f->err);
    assert_int_equal(delta_snapshot_txn_version(s, STR("app")), 7);
    delta_snapshot_release(s);
}

/* dataChange=false and nothing but files: snapshot isolation is enough, as OPTIMIZE shows. */
static void isolation_levels(void **state) {
    fixture *f = *state;
    delta_snapshot *s;
    delta_txn *t;
    int64_t version;
    assert_created(&f->env, &(table_spec){0});
    assert_ok(write_begin(&f->env, &s, &t, &f->err), &f->err);
    delta_add add = write_file("x", NULL, 1, f->arena);
    add.data_change = false;
    assert_ok(delta_txn_add(t, &add, &f->err), &f->err);
    assert_ok(write_commit(t, "OPTIMIZE", &version, &f->err), &f->err);
    assert_true(str_eqz(json_get_str(commit_info_of(f, "00000000000000000001.json"), "isolationLevel", STR("")), "SnapshotIsolation"));
    delta_txn_free(t);
    delta_snapshot_release(s);
    assert_ok(write_begin(&f->env, &s, &t, &f->err), &f->err);
    assert_ok(write_set_property(t, s, "mine", "1", &f->err), &f->err);
    assert_ok(write_commit(t, "SET TBLPROPERTIES", &version, &f->err), &f->err);
    assert_true(str_eqz(json_get_str(commit_info_of(f, "00000000000000000002.json"), "isolationLevel", STR("")), "Serializable"));
    assert_true(json_get_bool(commit_info_of(f, "00000000000000000002.json"), "isBlindAppend", false));
    delta_txn_free(t);
    delta_snapshot_release(s);
}

/* ---- refused ---- */

static void duplicates_are_refused(void **state) {
    fixture *f = *state;
    delta_snapshot *s;
    delta_txn *t;
    int64_t version;
    assert_created(&f->env, &(table_spec){.properties = "delta.enableDeletionVectors=true"});
    assert_appended(&f->env, "x");
    assert_ok(write_begin(&f->env, &s, &t, &f->err), &f->err);
    assert_ok(write_add_files(t, "y|y", &f->err), &f->err);
    assert_int_not_equal(write_commit(t, "WRITE", &version, &f->err), SILT_OK);
    assert_string_equal(f->err.condition, "DELTA_DUPLICATE_ACTIONS_FOUND");
    delta_txn_free(t);

    /* remove and add of one path with another deletion vector is an update of it */
    assert_ok(delta_txn_begin(&f->env, s, ROOT, &t, &f->err), &f->err);
    assert_ok(write_remove_path(t, s, "x", &f->err), &f->err);
    delta_add add = write_file("x", NULL, 10, f->arena);
    assert_ok(delta_txn_add(t, &add, &f->err), &f->err);
    assert_int_not_equal(write_commit(t, "DELETE", &version, &f->err), SILT_OK);
    assert_string_equal(f->err.condition, "DELTA_DUPLICATE_ACTIONS_FOUND");
    delta_txn_free(t);
    assert_ok(delta_txn_begin(&f->env, s, ROOT, &t, &f->err), &f->err);
    assert_ok(write_remove_path(t, s, "x", &f->err), &f->err);
    add.dv = (delta_dv){'i', STR("^Bg9^0rr910000000000iXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L"), -1, 44, 2};
    assert_ok(delta_txn_add(t, &add, &f->err), &f->err);
    assert_ok(write_commit(t, "DELETE", &version, &f->err), &f->err);
    delta_txn_free(t);
    delta_snapshot_release(s);
}

static void append_only(void **state) {
    fixture *f = *state;
    int64_t version;
    assert_created(&f->env, &(table_spec){.properties = "delta.appendOnly=true"});
    assert_appended(&f->env, "x");
    assert_int_equal(write_overwrite(&f->env, "z", &version, &f->err), SILT_INVALID);
    assert_string_equal(f->err.condition, "DELTA_CANNOT_MODIFY_APPEND_ONLY");
    assert_live(&f->env, 1, "x");
    delta_snapshot *s;
    delta_txn *t;
    assert_ok(write_begin(&f->env, &s, &t, &f->err), &f->err);
    arena *a = f->arena;
    delta_add old = write_file("x", NULL, 10, a), compacted = write_file("xx", NULL, 10, a);
    compacted.data_change = false;
    assert_ok(delta_txn_remove_file(t, &old, false, &f->err), &f->err);
    assert_ok(delta_txn_add(t, &compacted, &f->err), &f->err);
    assert_ok(write_commit(t, "OPTIMIZE", &version, &f->err), &f->err); /* rearranging is no change of data */
    delta_txn_free(t);
    delta_snapshot_release(s);
}

static void domains_need_their_feature(void **state) {
    fixture *f = *state;
    delta_snapshot *s;
    delta_txn *t;
    int64_t version;
    assert_created(&f->env, &(table_spec){0});
    assert_ok(write_begin(&f->env, &s, &t, &f->err), &f->err);
    assert_ok(delta_txn_set_domain(t, STR("mine"), STR("{}"), false, &f->err), &f->err);
    assert_int_equal(write_commit(t, "DOMAIN", &version, &f->err), SILT_INVALID);
    assert_string_equal(f->err.condition, "DELTA_DOMAIN_METADATA_NOT_SUPPORTED");
    delta_txn_free(t);
    delta_snapshot_release(s);
}

static void partition_values_must_be_there(void **state) {
    fixture *f = *state;
    int64_t version;
    assert_created(&f->env, &(table_spec){.partition_by = "p"});
    assert_int_equal(write_append(&f->env, "x", &version, &f->err), SILT_INTERNAL);
    assert_live(&f->env, 0, "");
}

static void unwritable_features_are_refused_by_name(void **state) {
    fixture *f = *state;
    const char log[] = "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":7,\"writerFeatures\":[\"somethingNew\"]}}\n"
                       "{\"metaData\":{\"id\":\"i\",\"format\":{\"provider\":\"parquet\",\"options\":{}},\"schemaString\":\"{\\\"type\\\":\\\"struct\\\","
                       "\\\"fields\\\":[{\\\"name\\\":\\\"a\\\",\\\"type\\\":\\\"long\\\",\\\"nullable\\\":true,\\\"metadata\\\":{}}]}\","
                       "\"partitionColumns\":[],\"configuration\":{}}}\n";
    assert_ok(store_put(f->store, STR("/t/_delta_log/00000000000000000000.json"), str_of(log), STORE_PUT_IF_ABSENT, &f->err), &f->err);
    delta_snapshot *s;
    delta_txn *t;
    assert_int_equal(write_begin(&f->env, &s, &t, &f->err), SILT_UNSUPPORTED);
    assert_string_equal(f->err.condition, "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE");
    assert_non_null(strstr(f->err.message, "somethingNew"));
    delta_snapshot_release(s);
}

static void create_over_an_existing_table(void **state) {
    fixture *f = *state;
    assert_created(&f->env, &(table_spec){0});
    assert_int_equal(write_create(&f->env, &(table_spec){0}, &f->err), SILT_EXISTS);
    assert_string_equal(f->err.condition, "DELTA_TABLE_ALREADY_EXISTS");
    /* also where version 0 was cleaned up long ago */
    assert_appended(&f->env, "x");
    assert_ok(store_remove(f->store, STR("/t/_delta_log/00000000000000000000.json"), &f->err), &f->err);
    assert_int_equal(write_create(&f->env, &(table_spec){0}, &f->err), SILT_EXISTS);
    assert_null(write_log_text(f->store, "00000000000000000000.json", f->arena));
}

/* The table that was read is gone, or another one is in its place: nothing is written into it. */
static void a_table_replaced_underneath(void **state) {
    fixture *f = *state;
    for (int again = 0; again < 3; again++) { /* 0: only dropped; 1: a shorter one is there; 2: a longer one */
        delta_snapshot *s;
        delta_txn *t;
        int64_t version;
        store_list_result all = {0};
        assert_created(&f->env, &(table_spec){0});
        assert_appended(&f->env, "a");
        assert_appended(&f->env, "b");
        assert_ok(write_begin(&f->env, &s, &t, &f->err), &f->err);
        assert_ok(write_add_files(t, "mine", &f->err), &f->err);
        assert_ok(store_list(f->store, STR("/t"), STR_NULL, true, f->arena, &all, &f->err), &f->err);
        for (size_t i = 0; i < all.count; i++) assert_ok(store_remove(f->store, all.items[i].path, &f->err), &f->err);
        if (again > 0) assert_created(&f->env, &(table_spec){.properties = "other=1"});
        for (int i = 0; again == 2 && i < 3; i++) assert_appended(&f->env, i == 0 ? "x" : i == 1 ? "y" : "z");
        f->err = (silt_error){0};
        assert_int_equal(write_commit(t, "WRITE", &version, &f->err), SILT_CONFLICT);
        assert_string_equal(f->err.condition, "DELTA_TABLE_ID_MISMATCH");
        assert_string_equal(f->err.sqlstate, "KD007");
        delta_txn_free(t);
        delta_snapshot_release(s);
        if (again > 0) assert_live(&f->env, again == 1 ? 0 : 3, again == 1 ? "" : "x,y,z");
        all = (store_list_result){0};
        if (store_list(f->store, STR("/t"), STR_NULL, true, f->arena, &all, &f->err) == SILT_OK)
            for (size_t i = 0; i < all.count; i++) assert_ok(store_remove(f->store, all.items[i].path, &f->err), &f->err);
    }
}

typedef struct rewriter {
    store *store;
    const char *call, *suffix, *entry;
    int times;
} rewriter;

/* Before one call an entry is written again, with the same bytes: it has another time then. */
static store_fault write_again(void *ctx, const char *call, str path, size_t nth) {
    rewriter *r = ctx;
    (void)nth;
    if (r->times == 0 || strcmp(call, r->call) != 0 || !str_ends_with(path, str_of(r->suffix))) return FAULT_NONE;
    r->times--;
    buf bytes;
    buf_init(&bytes, BUF_MAX_DEFAULT);
    assert_int_equal(store_read(r->store, str_of(r->entry), 0, -1, &bytes, NULL), SILT_OK);
    assert_int_equal(store_put(r->store, str_of(r->entry), buf_str(&bytes), STORE_PUT_REPLACE, NULL), SILT_OK);
    buf_dispose(&bytes);
    return FAULT_NONE;
}

/* The entry that was read is written again by somebody who makes up for its writer (commits by DynamoDB): the table is the same, and what was committed stays. */
static void an_entry_written_again(void **state) {
    fixture *f = *state;
    static const struct {
        const char *call, *suffix;
    } moments[] = {{"stat", "1.json"}, {"put", "2.json"}};
    for (size_t i = 0; i < ARRAY_LEN(moments); i++) {
        store *watched;
        delta_snapshot *s;
        delta_txn *t;
        int64_t version;
        store_list_result all = {0};
        rewriter order = {f->store, moments[i].call, moments[i].suffix, "/t/_delta_log/00000000000000000001.json", 1};
        assert_created(&f->env, &(table_spec){0});
        assert_appended(&f->env, "a");
        assert_ok(store_fault_open(f->store, write_again, &order, &watched, &f->err), &f->err);
        delta_env env = f->env;
        env.store = watched;
        order.times = 0;
        assert_ok(write_begin(&env, &s, &t, &f->err), &f->err);
        order.times = 1;
        assert_ok(write_add_files(t, "mine", &f->err), &f->err);
        assert_ok(write_commit(t, "WRITE", &version, &f->err), &f->err);
        assert_int_equal(order.times, 0);
        assert_int_equal(version, 2);
        delta_txn_free(t);
        delta_snapshot_release(s);
        store_close(watched);
        assert_live(&f->env, 2, "a,mine");
        assert_ok(store_list(f->store, STR("/t"), STR_NULL, true, f->arena, &all, &f->err), &f->err);
        for (size_t k = 0; k < all.count; k++) assert_ok(store_remove(f->store, all.items[k].path, &f->err), &f->err);
    }
}

/* The version that was read was cleaned up while the transaction was open, and the next one too: it is not written again. */
static void a_log_cleaned_up_meanwhile(void **state) {
    fixture *f = *state;
    delta_snapshot *s;
    delta_txn *t;
    int64_t version;
    assert_created(&f->env, &(table_spec){0});
    assert_ok(write_begin(&f->env, &s, &t, &f->err), &f->err);
    assert_ok(write_add_files(t, "mine", &f->err), &f->err);
    for (int i = 0; i < 3; i++) assert_appended(&f->env, i == 0 ? "x" : i == 1 ? "y" : "z");
    /* versions 0 and 1 are gone, a checkpoint of version 2 stands for them */
    const char checkpoint[] = "{\"checkpointMetadata\":{\"version\":2}}\n";
    assert_ok(store_put(f->store, STR("/t/_delta_log/00000000000000000002.checkpoint.00000000-0000-0000-0000-000000000001.json"), str_of(checkpoint),
                        STORE_PUT_IF_ABSENT, &f->err), &f->err);
    assert_ok(store_remove(f->store, STR("/t/_delta_log/00000000000000000000.json"), &f->err), &f->err);
    assert_ok(store_remove(f->store, STR("/t/_delta_log/00000000000000000001.json"), &f->err), &f->err);
    assert_int_equal(write_commit(t, "WRITE", &version, &f->err), SILT_CONFLICT);
    assert_string_equal(f->err.condition, "DELTA_CONCURRENT_WRITE");
    assert_null(write_log_text(f->store, "00000000000000000001.json", f->arena));
    delta_txn_free(t);
    delta_snapshot_release(s);
}

/* ---- faults ---- */

typedef struct one_fault {
    const char *call, *suffix;
    store_fault fault;
    int times;
} one_fault;

static store_fault before_call(void *ctx, const char *call, str path, size_t nth) {
    one_fault *o = ctx;
    (void)nth;
    if (o->times == 0 || strcmp(call, o->call) != 0 || !str_ends_with(path, str_of(o->suffix))) return FAULT_NONE;
    o->times--;
    return o->fault;
}

static void lost_reply_is_read_back(void **state) {
    fixture *f = *state;
    store *faulty;
    one_fault order = {"put", "1.json", FAULT_LOST_REPLY, 1};
    assert_created(&f->env, &(table_spec){0});
    assert_ok(store_fault_open(f->store, before_call, &order, &faulty, &f->err), &f->err);
    delta_env env = f->env;
    env.store = faulty;
    assert_int_equal(assert_appended(&env, "x"), 1);
    assert_live(&f->env, 1, "x");
    store_close(faulty);
}

static void failed_puts_are_tried_again(void **state) {
    fixture *f = *state;
    store *faulty;
    one_fault order = {"put", "1.json", FAULT_FAIL, 3};
    assert_created(&f->env, &(table_spec){0});
    assert_ok(store_fault_open(f->store, before_call, &order, &faulty, &f->err), &f->err);
    delta_env env = f->env;
    env.store = faulty;
    assert_int_equal(assert_appended(&env, "x"), 1);
    store_close(faulty);
}

static void unknown_outcome_is_never_guessed(void **state) {
    fixture *f = *state;
    store *faulty;
    int64_t version;
    one_fault order = {"put", "1.json", FAULT_CRASH_AFTER, 1}; /* the store cannot be asked after that */
    assert_created(&f->env, &(table_spec){0});
    assert_ok(store_fault_open(f->store, before_call, &order, &faulty, &f->err), &f->err);
    delta_env env = f->env;
    env.store = faulty;
    assert_int_equal(write_append(&env, "x", &version, &f->err), SILT_UNKNOWN);
    assert_string_equal(f->err.condition, "COMMIT_OUTCOME_UNKNOWN");
    assert_string_equal(f->err.sqlstate, "40003");
    store_close(faulty);
}

static void a_failed_checksum_does_not_fail_the_commit(void **state) {
    fixture *f = *state;
    store *faulty;
    one_fault order = {"put", "1.crc", FAULT_FAIL, 1};
    delta_snapshot *s;
    delta_txn *t;
    int64_t version;
    assert_created(&f->env, &(table_spec){0});
    assert_ok(store_fault_open(f->store, before_call, &order, &faulty, &f->err), &f->err);
    delta_env env = f->env;
    env.store = faulty;
    assert_ok(write_begin(&env, &s, &t, &f->err), &f->err);
    assert_ok(write_add_files(t, "x", &f->err), &f->err);
    assert_ok(write_commit(t, "WRITE", &version, &f->err), &f->err);
    assert_non_null(delta_txn_post_commit_error(t));
    delta_txn_free(t);
    delta_snapshot_release(s);
    store_close(faulty);
    assert_live(&f->env, 1, "x");
}

/* ---- in-commit timestamps ---- */

static void timestamps_from_the_first_commit(void **state) {
    fixture *f = *state;
    assert_created(&f->env, &(table_spec){.properties = "delta.enableInCommitTimestamps=true"});
    assert_appended(&f->env, "x");
    const json_node *first = commit_info_of(f, "00000000000000000000.json"), *second = commit_info_of(f, "00000000000000000001.json");
    assert_true(str_eqz(first->keys[0], "inCommitTimestamp"));
    assert_true(json_get_i64(second, "inCommitTimestamp", 0) > json_get_i64(first, "inCommitTimestamp", 0));
    const char *text = write_log_text(f->store, "00000000000000000000.json", f->arena);
    assert_null(strstr(text, "inCommitTimestampEnablement"));
}

/* A clock that runs behind: one millisecond after the version before. */
static void timestamps_never_go_back(void **state) {
    fixture *f = *state;
    int64_t ahead = time_now_ms() + 3600000;
    assert_created(&f->env, &(table_spec){.properties = "delta.enableInCommitTimestamps=true"});
    const char *text = write_log_text(f->store, "00000000000000000000.json", f->arena);
    const char *rest = strchr(strstr(text, "inCommitTimestamp"), ',');
    str moved = arena_printf(f->arena, "{\"commitInfo\":{\"inCommitTimestamp\":%lld%s", (long long)ahead, rest);
    assert_ok(store_put(f->store, STR("/t/_delta_log/00000000000000000000.json"), moved, STORE_PUT_REPLACE, &f->err), &f->err);
    assert_ok(store_remove(f->store, STR("/t/_delta_log/00000000000000000000.crc"), &f->err), &f->err);
    assert_appended(&f->env, "x");
    assert_int_equal(json_get_i64(commit_info_of(f, "00000000000000000001.json"), "inCommitTimestamp", 0), ahead + 1);
}

static void timestamps_enabled_later_tell_from_where(void **state) {
    fixture *f = *state;
    delta_snapshot *s;
    delta_txn *t;
    int64_t version;
    assert_created(&f->env, &(table_spec){0});
    assert_appended(&f->env, "x");
    assert_ok(write_begin(&f->env, &s, &t, &f->err), &f->err);
    const str key = STR("delta.enableInCommitTimestamps"), on = STR("true");
    delta_protocol p;
    str_map stored;
    assert_ok(delta_protocol_for(delta_snapshot_protocol(s), delta_snapshot_metadata(s)->schema, (str_map){&key, &on, 1}, false, f->arena, &p, &stored,
                                 &f->err),
              &f->err);
    assert_ok(delta_txn_set_protocol(t, &p, &f->err), &f->err);
    assert_ok(write_set_property(t, s, "delta.enableInCommitTimestamps", "true", &f->err), &f->err);
    assert_ok(write_commit(t, "SET TBLPROPERTIES", &version, &f->err), &f->err);
    const json_node *info = commit_info_of(f, "00000000000000000002.json");
    const json_node *configuration = json_get(json_get(line_of(f, "00000000000000000002.json", 1), "metaData"), "configuration");
    str at = arena_printf(f->arena, "%lld", (long long)json_get_i64(info, "inCommitTimestamp", 0));
    assert_true(str_eqz(json_get_str(configuration, "delta.inCommitTimestampEnablementVersion", STR("")), "2"));
    assert_true(str_eq(json_get_str(configuration, "delta.inCommitTimestampEnablementTimestamp", STR("")), at));
    assert_true(json_get_i64(info, "inCommitTimestamp", 0) > delta_snapshot_commit_time_ms(s));
    delta_txn_free(t);
    delta_snapshot_release(s);
}

/* ---- row tracking ---- */

static const json_node *row_id_domain(fixture *f, const char *name, int line) {
    const json_node *d = json_get(line_of(f, name, line), "domainMetadata");
    assert_non_null(d);
    return d;
}

static void fresh_row_ids(void **state) {
    fixture *f = *state;
    assert_created(&f->env, &(table_spec){.properties = "delta.enableRowTracking=true"});
    assert_appended(&f->env, "x|y");
    const json_node *x = json_get(line_of(f, "00000000000000000001.json", 1), "add"), *y = json_get(line_of(f, "00000000000000000001.json", 2), "add");
    assert_int_equal(json_get_i64(x, "baseRowId", -1), 0);
    assert_int_equal(json_get_i64(y, "baseRowId", -1), 10);
    assert_int_equal(json_get_i64(y, "defaultRowCommitVersion", -1), 1);
    assert_true(str_eqz(json_get_str(row_id_domain(f, "00000000000000000001.json", 3), "configuration", STR("")),
                        "{\"rowIdHighWaterMark\":19,\"domainName\":\"delta.rowTracking\"}"));
    int64_t version;
    assert_ok(write_overwrite(&f->env, "z", &version, &f->err), &f->err);
    const json_node *z = json_get(line_of(f, "00000000000000000002.json", 1), "add"), *gone = json_get(line_of(f, "00000000000000000002.json", 2), "remove");
    assert_int_equal(json_get_i64(z, "baseRowId", -1), 20);
    assert_int_equal(json_get_i64(z, "defaultRowCommitVersion", -1), 2);
    assert_true(json_get_i64(gone, "baseRowId", -1) >= 0);
    assert_int_equal(json_get_i64(gone, "defaultRowCommitVersion", -1), 1);
    delta_snapshot *s;
    assert_ok(delta_snapshot_load(&f->env, ROOT, DELTA_LATEST, &s, &f->err), &f->err);
    assert_non_null(delta_snapshot_find_domain(s, STR("delta.rowTracking")));
    delta_snapshot_release(s);
}

static void row_ids_need_row_counts(void **state) {
    fixture *f = *state;
    delta_snapshot *s;
    delta_txn *t;
    int64_t version;
    assert_created(&f->env, &(table_spec){.properties = "delta.feature.rowTracking=supported"});
    assert_ok(write_begin(&f->env, &s, &t, &f->err), &f->err);
    delta_add add = write_file("x", NULL, 1, f->arena);
    add.stats = STR_NULL;
    assert_ok(delta_txn_add(t, &add, &f->err), &f->err);
    assert_int_equal(write_commit(t, "WRITE", &version, &f->err), SILT_INVALID);
    assert_string_equal(f->err.condition, "DELTA_ROW_ID_ASSIGNMENT_WITHOUT_STATS");
    delta_txn_free(t);
    delta_snapshot_release(s);
}

static void suspended_row_tracking_gives_no_ids(void **state) {
    fixture *f = *state;
    assert_created(&f->env, &(table_spec){.properties = "delta.feature.rowTracking=supported|delta.rowTrackingSuspended=true"});
    assert_appended(&f->env, "x");
    assert_keys(json_get(line_of(f, "00000000000000000001.json", 1), "add"), "path,partitionValues,size,modificationTime,dataChange,stats");
}

static void enabling_on_untracked_files_is_refused(void **state) {
    fixture *f = *state;
    delta_snapshot *s;
    delta_txn *t;
    int64_t version;
    const str key = STR("delta.enableRowTracking"), on = STR("true");
    delta_protocol p;
    str_map stored;
    assert_created(&f->env, &(table_spec){0});
    assert_appended(&f->env, "x");
    assert_ok(write_begin(&f->env, &s, &t, &f->err), &f->err);
    assert_ok(delta_protocol_for(delta_snapshot_protocol(s), NULL, (str_map){&key, &on, 1}, false, f->arena, &p, &stored, &f->err), &f->err);
    assert_ok(delta_txn_set_protocol(t, &p, &f->err), &f->err);
    assert_ok(write_set_property(t, s, "delta.enableRowTracking", "true", &f->err), &f->err);
    assert_int_equal(write_commit(t, "SET TBLPROPERTIES", &version, &f->err), SILT_UNSUPPORTED);
    delta_txn_free(t);
    delta_snapshot_release(s);
}

#define WITH_TABLE(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_TABLE(create_then_append),
        WITH_TABLE(overwrite_is_not_blind),
        WITH_TABLE(user_metadata_and_txn),
        WITH_TABLE(isolation_levels),
        WITH_TABLE(duplicates_are_refused),
        WITH_TABLE(append_only),
        WITH_TABLE(domains_need_their_feature),
        WITH_TABLE(partition_values_must_be_there),
        WITH_TABLE(unwritable_features_are_refused_by_name),
        WITH_TABLE(create_over_an_existing_table),
        WITH_TABLE(a_table_replaced_underneath),
        WITH_TABLE(an_entry_written_again),
        WITH_TABLE(a_log_cleaned_up_meanwhile),
        WITH_TABLE(lost_reply_is_read_back),
        WITH_TABLE(failed_puts_are_tried_again),
        WITH_TABLE(unknown_outcome_is_never_guessed),
        WITH_TABLE(a_failed_checksum_does_not_fail_the_commit),
        WITH_TABLE(timestamps_from_the_first_commit),
        WITH_TABLE(timestamps_never_go_back),
        WITH_TABLE(timestamps_enabled_later_tell_from_where),
        WITH_TABLE(fresh_row_ids),
        WITH_TABLE(row_ids_need_row_counts),
        WITH_TABLE(suspended_row_tracking_gives_no_ids),
        WITH_TABLE(enabling_on_untracked_files_is_refused),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
