/* Log compaction files: what is written stands for the commits, whatever is in them. PROTOCOL.md "Log Compaction Files", "Action Reconciliation". */
#include "read_support.h"

#include "delta/log_compaction.h"

#define SIZED(path, size) \
    "{'add':{'path':'" path "','partitionValues':{},'size':" #size ",'modificationTime':7,'dataChange':true,'stats':'{`numRecords`:3}'}}\n"
#define REMOVED(path)                  "{'remove':{'path':'" path "','deletionTimestamp':99,'dataChange':true,'extendedFileMetadata':true,'partitionValues':{},'size':5}}\n"
#define TXN(app, v)                    "{'txn':{'appId':'" app "','version':" #v "}}\n"
#define DOMAIN_OF(name, text, removed) "{'domainMetadata':{'domain':'" name "','configuration':'" text "','removed':" removed "}}\n"
#define PROTOCOL_17                    "{'protocol':{'minReaderVersion':1,'minWriterVersion':7,'writerFeatures':['domainMetadata']}}\n"

static void five_commits(log_fixture *f) {
    log_commit(f, 0, PROTOCOL_17 METADATA SIZED("a", 1) DOMAIN_OF("d", "zero", "false") DOMAIN_OF("e", "zero", "false"));
    log_commit(f, 1, "{'commitInfo':{'operation':'WRITE'}}\n" SIZED("b", 2) SIZED("c", 3) TXN("app", 1));
    log_commit(f, 2, REMOVED("a") REMOVED("b") TXN("app", 2) TXN("other", 7) DOMAIN_OF("d", "two", "false") DOMAIN_OF("e", "zero", "true"));
    log_commit(f, 3, METADATA_OF(SCHEMA(FIELD("a", "long") "," FIELD("z", "string")), "", "'k':'v'") SIZED("d", 4) REMOVED("c") SIZED("c", 33));
    log_commit(f, 4, SIZED("e", 5));
}

static const char *name_of(log_fixture *f, int from, int to) { return arena_printf(f->arena, "%020d.%020d.compacted.json", from, to).ptr; }

static bool is_there(log_fixture *f, const char *name) {
    store_entry e;
    return store_stat(f->store, arena_printf(f->arena, "/t/_delta_log/%s", name), f->arena, &e, NULL) == SILT_OK;
}

static void assert_state(log_fixture *f) {
    delta_snapshot *s = log_load(f, DELTA_LATEST);
    int64_t rows;
    bool known;
    assert_int_equal(delta_snapshot_version(s), 4);
    assert_int_equal(delta_snapshot_n_files(s), 3);
    assert_int_equal(delta_snapshot_size_bytes(s), 33 + 4 + 5);
    assert_int_equal(delta_snapshot_num_records(s, &known, &rows, &f->err), SILT_OK);
    assert_true(known);
    assert_int_equal(rows, 9);
    assert_int_equal(delta_snapshot_metadata(s)->schema->n_fields, 2);
    assert_text("v", delta_snapshot_property(s, "k"));
    assert_int_equal(delta_snapshot_txn_version(s, STR("app")), 2);
    assert_int_equal(delta_snapshot_txn_version(s, STR("other")), 7);
    assert_text("two", delta_snapshot_find_domain(s, STR("d"))->configuration);
    assert_null(delta_snapshot_find_domain(s, STR("e")));
    const char *removes = log_removes(f, s);
    assert_non_null(strstr(removes, "a"));
    assert_non_null(strstr(removes, "b"));
    delta_snapshot_release(s);
}

static void a_compaction_stands_for_its_commits(void **state) {
    log_fixture *f = *state;
    five_commits(f);
    assert_state(f);
    assert_int_equal(delta_log_compact(&f->env, LOG_ROOT, 1, 3, &f->err), SILT_OK);
    assert_true(is_there(f, name_of(f, 1, 3)));
    assert_state(f);
    log_put(f, log_name(f, 1, ".json"), "{'add':\n"); /* readers do not look at it */
    log_put(f, log_name(f, 2, ".json"), "{'add':\n");
    log_put(f, log_name(f, 3, ".json"), "{'add':\n");
    assert_state(f);
}

static void from_the_first_version_on(void **state) {
    log_fixture *f = *state;
    five_commits(f);
    assert_int_equal(delta_log_compact(&f->env, LOG_ROOT, 0, 3, &f->err), SILT_OK);
    for (int v = 0; v < 4; v++) log_put(f, log_name(f, v, ".json"), "{'add':\n");
    assert_state(f);
}

static void the_text_is_the_protocols(void **state) {
    log_fixture *f = *state;
    buf b;
    five_commits(f);
    assert_int_equal(delta_log_compact(&f->env, LOG_ROOT, 1, 2, &f->err), SILT_OK);
    buf_init(&b, BUF_MAX_DEFAULT);
    assert_int_equal(store_read(f->store, arena_printf(f->arena, "/t/_delta_log/%s", name_of(f, 1, 2)), 0, -1, &b, &f->err), SILT_OK);
    str rest = buf_str(&b), line;
    int adds = 0, removes = 0, txns = 0, domains = 0, others = 0;
    while (str_next(&rest, '\n', &line)) {
        if (line.len == 0) continue;
        if (str_starts_with(line, STR("{\"add\":")))
            adds++;
        else if (str_starts_with(line, STR("{\"remove\":")))
            removes++;
        else if (str_starts_with(line, STR("{\"txn\":")))
            txns++;
        else if (str_starts_with(line, STR("{\"domainMetadata\":")))
            domains++;
        else
            others++;
    }
    buf_dispose(&b);
    assert_int_equal(adds, 1);    /* c; b is gone within the range */
    assert_int_equal(removes, 2); /* a, which is older, and b, which an older checkpoint may hold */
    assert_int_equal(txns, 2);
    assert_int_equal(domains, 2); /* the removed one too: it ends one of an older version */
    assert_int_equal(others, 0);
}

static void twice_is_once(void **state) {
    log_fixture *f = *state;
    five_commits(f);
    assert_int_equal(delta_log_compact(&f->env, LOG_ROOT, 1, 3, &f->err), SILT_OK);
    assert_int_equal(delta_log_compact(&f->env, LOG_ROOT, 1, 3, &f->err), SILT_OK);
    assert_state(f);
}

static void a_missing_commit_is_an_error(void **state) {
    log_fixture *f = *state;
    five_commits(f);
    assert_int_equal(delta_log_compact(&f->env, LOG_ROOT, 3, 5, &f->err), SILT_NOT_FOUND);
    assert_condition(&f->err, "DELTA_LOG_FILE_NOT_FOUND");
    assert_false(is_there(f, name_of(f, 3, 5)));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, log_setup, log_teardown)

int main(void) {
    cmocka_set_message_output(CM_OUTPUT_TAP);
    const struct CMUnitTest tests[] = {
        TEST(a_compaction_stands_for_its_commits), TEST(from_the_first_version_on), TEST(the_text_is_the_protocols), TEST(twice_is_once),
        TEST(a_missing_commit_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
