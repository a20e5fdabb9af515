/* State of a table from its log: reconciliation, newest protocol and metadata, transaction ids, domains, updates. PROTOCOL.md
 * "Action Reconciliation". */
#include "read_support.h"

#define ADD_DV(path, id)                                                                                                  \
    "{'add':{'path':'" path "','partitionValues':{},'size':10,'modificationTime':7,'dataChange':true,'deletionVector':{'" \
                            "storageType':'u','pathOrInlineDv':'" id "','offset':1,'sizeInBytes':34,'cardinality':2}}}\n"
#define REMOVE_DV(path, id)                                                                               \
    "{'remove':{'path':'" path                                                                            \
    "','deletionTimestamp':9,'dataChange':true,'deletionVector':{'storageType':'u','pathOrInlineDv':'" id \
    "','offset':1,'sizeInBytes':34,'cardinality':2}}}\n"

static void adds_and_removes(void **state) {
    log_fixture *f = *state;
    log_commit(f, 0, START ADD("f1") ADD("f2"));
    log_commit(f, 1, REMOVE("f1") ADD("f3"));
    log_commit(f, 2, REMOVE("f3") ADD("f1"));
    delta_snapshot *s = log_load(f, DELTA_LATEST);
    assert_int_equal(delta_snapshot_version(s), 2);
    assert_int_equal(delta_snapshot_n_files(s), 2);
    assert_int_equal(delta_snapshot_size_bytes(s), 20);
    assert_string_equal(log_files(f, s), "f2,f1");
    assert_string_equal(log_removes(f, s), "f3");
    delta_snapshot_release(s);
    s = log_load(f, 1);
    assert_string_equal(log_files(f, s), "f2,f3");
    assert_string_equal(log_removes(f, s), "f1");
    delta_snapshot_release(s);
    s = log_load(f, 0);
    assert_string_equal(log_files(f, s), "f1,f2");
    assert_string_equal(log_removes(f, s), "");
    delta_snapshot_release(s);
}

/* The newest add of a file replaces what was known of it. */
static void added_again(void **state) {
    log_fixture *f = *state;
    log_commit(f, 0, START ADD_STATS("f", "{`numRecords`:1}"));
    log_commit(f, 1, ADD_STATS("f", "{`numRecords`:5}"));
    delta_snapshot *s = log_load(f, DELTA_LATEST);
    delta_add add;
    assert_int_equal(delta_snapshot_n_files(s), 1);
    assert_int_equal(delta_snapshot_file(s, 0, true, f->arena, &add, &f->err), SILT_OK);
    assert_text("{\"numRecords\":5}", add.stats);
    delta_snapshot_release(s);
}

/* The key is (path, vector): a new vector is remove(old) and add(new) in one commit, in either order. */
static void deletion_vector_updates(void **state) {
    log_fixture *f = *state;
    log_commit(f, 0, START ADD("f"));
    log_commit(f, 1, REMOVE("f") ADD_DV("f", "aaaaaaaaaaaaaaaaaaaa"));
    log_commit(f, 2, ADD_DV("f", "bbbbbbbbbbbbbbbbbbbb") REMOVE_DV("f", "aaaaaaaaaaaaaaaaaaaa"));
    delta_snapshot *s = log_load(f, DELTA_LATEST);
    delta_add add;
    assert_int_equal(delta_snapshot_n_files(s), 1);
    assert_int_equal(delta_snapshot_file(s, 0, false, f->arena, &add, &f->err), SILT_OK);
    assert_int_equal(add.dv.storage, 'u');
    assert_text("bbbbbbbbbbbbbbbbbbbb", add.dv.path_or_inline);
    assert_int_equal(add.dv.offset, 1);
    assert_int_equal(add.dv.size_bytes, 34);
    assert_int_equal(add.dv.cardinality, 2);
    assert_text("ubbbbbbbbbbbbbbbbbbbb@1", delta_dv_unique_id(&add.dv, f->arena));
    assert_string_equal(log_removes(f, s), "f,f");
    delta_snapshot_release(s);
}

/* Delta's golden tables canonicalized-paths-*, and what its notes say of relative paths. */
static void canonical_paths(void **state) {
    log_fixture *f = *state;
    log_commit(f, 0, START ADD("/some/absolute/path") ADD("file:/x/p%20q") ADD("a%3Db/x") ADD("rel") ADD("s3a://bucket/k"));
    log_commit(f, 1,
               REMOVE("file:///some/absolute/path") REMOVE("/x//p%20q") REMOVE("a=b/x") REMOVE("file:/t/rel")
                   REMOVE("s3a://other/k"));
    delta_snapshot *s = log_load(f, DELTA_LATEST);
    assert_string_equal(log_files(f, s), "rel,s3a://bucket/k");
    delta_snapshot_release(s);
}

static void newest_protocol_and_metadata(void **state) {
    log_fixture *f = *state;
    log_commit(f, 0, START);
    log_commit(f, 1,
               METADATA_OF(SCHEMA(FIELD("a", "long") "," FIELD("b", "string")), "'b'", "'k':'v','delta.appendOnly':'true'"));
    log_commit(f, 2, "{'protocol':{'minReaderVersion':1,'minWriterVersion':4}}\n");
    delta_snapshot *s = log_load(f, DELTA_LATEST);
    assert_int_equal(delta_snapshot_protocol(s)->min_writer_version, 4);
    const delta_metadata *m = delta_snapshot_metadata(s);
    assert_int_equal(m->schema->n_fields, 2);
    assert_int_equal(m->n_partition_columns, 1);
    assert_text("b", m->partition_columns[0]);
    assert_text("v", delta_snapshot_property(s, "k"));
    assert_true(str_is_null(delta_snapshot_property(s, "absent")));
    assert_int_equal(m->created_time_ms, 5);
    delta_snapshot_release(s);
    s = log_load(f, 0);
    assert_int_equal(delta_snapshot_protocol(s)->min_writer_version, 2);
    assert_int_equal(delta_snapshot_metadata(s)->schema->n_fields, 1);
    delta_snapshot_release(s);
}

static void transactions_and_domains(void **state) {
    log_fixture *f = *state;
    log_commit(f, 0,
               START "{'txn':{'appId':'x','version':1,'lastUpdated':77}}\n{'txn':{'appId':'y','version':9}}\n"
                     "{'domainMetadata':{'domain':'d','configuration':'{`a`:1}','removed':false}}\n"
                     "{'domainMetadata':{'domain':'e','configuration':'','removed':false}}\n");
    log_commit(f, 1, "{'txn':{'appId':'x','version':0}}\n{'domainMetadata':{'domain':'e','configuration':'','removed':true}}\n");
    delta_snapshot *s = log_load(f, DELTA_LATEST);
    assert_int_equal(delta_snapshot_n_txns(s), 2);
    assert_int_equal(delta_snapshot_txn_version(s, STR("x")), 0);
    assert_int_equal(delta_snapshot_txn_version(s, STR("y")), 9);
    assert_int_equal(delta_snapshot_txn_version(s, STR("z")), -1);
    assert_int_equal(delta_snapshot_n_domains(s), 1);
    assert_text("{\"a\":1}", delta_snapshot_find_domain(s, STR("d"))->configuration);
    assert_null(delta_snapshot_find_domain(s, STR("e")));
    delta_snapshot_release(s);
}

static void every_field_of_add(void **state) {
    log_fixture *f = *state;
    log_commit(f, 0,
               START
               "{'add':{'path':'p=1/"
               "a%20b.parquet','partitionValues':{'p':'1','q':null,'r':''},'size':123,'modificationTime':456,'dataChange':false,"
               "'stats':'{`numRecords`:3,`minValues`:{`s`:`\\\\`x`}}','tags':{'k':'v'},'baseRowId':11,'defaultRowCommitVersion':"
               "2,'clusteringProvider':'liquid',"
               "'unknown':{'x':[1,{'y':null}]},'deletionVector':null}}\n");
    delta_snapshot *s = log_load(f, DELTA_LATEST);
    delta_add add;
    assert_int_equal(delta_snapshot_file(s, 0, true, f->arena, &add, &f->err), SILT_OK);
    assert_text("p=1/a%20b.parquet", add.path);
    assert_int_equal(add.size_bytes, 123);
    assert_int_equal(add.modification_time_ms, 456);
    assert_false(add.data_change);
    assert_text("1", str_map_get(&add.partition_values, STR("p")));
    assert_int_equal(add.partition_values.count, 3);
    assert_true(str_is_null(add.partition_values.values[1]));
    assert_text("", str_map_get(&add.partition_values, STR("r")));
    assert_text("{\"k\":\"v\"}", add.tags);
    assert_int_equal(add.base_row_id, 11);
    assert_int_equal(add.default_row_commit_version, 2);
    assert_text("liquid", add.clustering_provider);
    assert_int_equal(add.dv.storage, 0);
    bool known;
    int64_t records;
    assert_int_equal(delta_snapshot_num_records(s, &known, &records, &f->err), SILT_OK);
    assert_true(known);
    assert_int_equal(records, 3);
    delta_snapshot_release(s);
}

/* A feature's fields that nobody knows yet, null actions, blank lines, Windows line ends, an action over several lines, no
 * newline at the end. */
static void forgiving_lines(void **state) {
    log_fixture *f = *state;
    log_commit(f, 0,
               "\n\r\n" START "  \n{'future':{'a':[]},'add':null}\n{}\n{'txn':null,'cdc':{'path':'c'}}\r\n"
               "{\n  'add': {\n 'path': 'f',\n 'partitionValues': {}, 'size': 1e1, 'modificationTime': 1, 'dataChange': "
               "true\n}\n}\n{'remove':{'path':'g'}}");
    delta_snapshot *s = log_load(f, DELTA_LATEST);
    assert_string_equal(log_files(f, s), "f");
    assert_string_equal(log_removes(f, s), "g");
    assert_int_equal(delta_snapshot_size_bytes(s), 10);
    delta_snapshot_release(s);
}

static void strings_with_escapes(void **state) {
    log_fixture *f = *state;
    log_commit(f, 0,
               START
               "{'add':{'path':'\\u00e9\\/"
               "\\ud83d\\ude00\\ud800x','partitionValues':{'a\\tb':'c`d'},'size':1,'modificationTime':1,'dataChange':true}}\n");
    delta_snapshot *s = log_load(f, DELTA_LATEST);
    delta_add add;
    assert_int_equal(delta_snapshot_file(s, 0, false, f->arena, &add, &f->err), SILT_OK);
    assert_text("\xc3\xa9/\xf0\x9f\x98\x80\xef\xbf\xbdx", add.path);
    assert_text("a\tb", add.partition_values.keys[0]);
    delta_snapshot_release(s);
}

static void missing_protocol_or_metadata(void **state) {
    log_fixture *f = *state;
    log_commit(f, 0, METADATA ADD("f"));
    log_load_fails(f, DELTA_LATEST, "DELTA_STATE_RECOVER_ERROR");
    assert_non_null(strstr(f->err.message, "protocol"));
    log_commit(f, 0, PROTOCOL_12 ADD("f"));
    log_load_fails(f, DELTA_LATEST, "DELTA_STATE_RECOVER_ERROR");
    assert_non_null(strstr(f->err.message, "metadata"));
}

/* The protocol is looked at first: what follows may be of a kind that this build cannot even parse. */
static void newer_protocol_before_anything_else(void **state) {
    log_fixture *f = *state;
    log_commit(f, 0, START ADD("f"));
    log_commit(
        f, 1,
        "{'protocol':{'minReaderVersion':3,'minWriterVersion':7,'readerFeatures':['martian'],'writerFeatures':['martian']}}\n");
    log_commit(f, 2, "{'add':{'path':{'martian':true}}}\n");
    log_load_fails(f, DELTA_LATEST, "DELTA_UNSUPPORTED_FEATURES_FOR_READ");
    delta_snapshot_release(log_load(f, 0));
}

static void column_mapping(void **state) {
    log_fixture *f = *state;
#define MAPPED(mode)                                                                                                            \
    METADATA_OF("{`type`:`struct`,`fields`:[{`name`:`a`,`type`:`long`,`nullable`:true,`metadata`:{`delta.columnMapping.id`:4,`" \
                "delta.columnMapping.physicalName`:`col-1`}}]}",                                                                \
                "", "'delta.columnMapping.mode':'" mode "'")
    log_commit(f, 0, "{'protocol':{'minReaderVersion':2,'minWriterVersion':5}}\n" MAPPED("name"));
    log_commit(f, 1, MAPPED("none"));
    log_commit(f, 2, MAPPED("id"));
    delta_snapshot *s = log_load(f, 0);
    assert_text("col-1", delta_snapshot_metadata(s)->schema->fields[0].physical_name);
    delta_snapshot_release(s);
    s = log_load(f, 1);
    assert_text("a", delta_snapshot_metadata(s)->schema->fields[0].physical_name);
    delta_snapshot_release(s);
    s = log_load(f, 2);
    table_source *t;
    assert_int_equal(delta_table_source(s, &t, &f->err), SILT_OK);
    assert_int_equal(t->match, MATCH_BY_FIELD_ID);
    assert_int_equal(t->schema->fields[0].field_id, 4);
    t->ops->release(t);
    delta_snapshot_release(s);
    log_commit(f, 3, PROTOCOL_12); /* a mode that the protocol does not have would be read differently by others */
    log_load_fails(f, 3, "DELTA_FEATURES_PROTOCOL_METADATA_MISMATCH");
}

static void commit_times(void **state) {
    log_fixture *f = *state;
    store_memory_set_clock(f->store, 5000);
    log_commit(f, 0, "{'commitInfo':{'timestamp':1}}\n" START);
    store_memory_set_clock(f->store, 6000);
    log_commit(f, 1,
               "{'commitInfo':{'inCommitTimestamp':4242,'timestamp':1}}\n{'protocol':{'minReaderVersion':1,'minWriterVersion':7,'"
               "writerFeatures':['inCommitTimestamp']}}\n" METADATA_OF(SCHEMA(FIELD("a", "long")), "",
                                                                       "'delta.enableInCommitTimestamps':'true'"));
    delta_snapshot *s = log_load(f, 0);
    assert_int_equal(delta_snapshot_commit_time_ms(s), 5000);
    delta_snapshot_release(s);
    s = log_load(f, 1);
    assert_int_equal(delta_snapshot_commit_time_ms(s), 4242);
    delta_snapshot_release(s);
}

/* ---- updates ---- */

static delta_snapshot *update(log_fixture *f, const delta_snapshot *s) {
    delta_snapshot *out;
    if (delta_snapshot_update(&f->env, s, &out, &f->err) != SILT_OK) fail_msg("%s: %s", f->err.condition, f->err.message);
    return out;
}

/* Step by step, an updated snapshot is what a fresh one would be. */
static void updates_equal_loads(void **state) {
    static const char *const commits[] = {
        START ADD("f0") ADD("f1") ADD("f2"),
        ADD("f3") REMOVE("f1"),
        REMOVE("f3"),
        ADD("f1") "{'txn':{'appId':'x','version':1}}\n",
        METADATA_OF(SCHEMA(FIELD("b", "string")), "", ""),
        REMOVE("f0") REMOVE("f1") REMOVE(
            "f2") "{'txn':{'appId':'x','version':2}}\n{'domainMetadata':{'domain':'d','configuration':'c','removed':false}}\n",
        ADD("f0") "{'domainMetadata':{'domain':'d','configuration':'c','removed':true}}\n",
    };
    log_fixture *f = *state;
    log_commit(f, 0, commits[0]);
    delta_snapshot *s = log_load(f, DELTA_LATEST);
    for (size_t v = 1; v < ARRAY_LEN(commits); v++) {
        log_commit(f, (int64_t)v, commits[v]);
        delta_snapshot *next = update(f, s), *fresh = log_load(f, DELTA_LATEST);
        assert_int_equal(delta_snapshot_version(next), v);
        assert_string_equal(log_files(f, next), log_files(f, fresh));
        assert_string_equal(log_removes(f, next), log_removes(f, fresh));
        assert_int_equal(delta_snapshot_size_bytes(next), delta_snapshot_size_bytes(fresh));
        assert_int_equal(delta_snapshot_txn_version(next, STR("x")), delta_snapshot_txn_version(fresh, STR("x")));
        assert_int_equal(delta_snapshot_n_domains(next), delta_snapshot_n_domains(fresh));
        assert_int_equal(delta_snapshot_commit_time_ms(next), delta_snapshot_commit_time_ms(fresh));
        assert_true(type_equal(delta_snapshot_metadata(next)->schema, delta_snapshot_metadata(fresh)->schema));
        delta_snapshot_release(fresh);
        delta_snapshot_release(s);
        s = next;
    }
    delta_snapshot *same = update(f, s);
    assert_ptr_equal(same, s);
    delta_snapshot_release(same);
    delta_snapshot_release(s);
}

static void update_over_many_commits(void **state) {
    log_fixture *f = *state;
    log_commit(f, 0, START ADD("f0"));
    delta_snapshot *s = log_load(f, DELTA_LATEST);
    for (int64_t v = 1; v <= 40; v++)
        log_commit(f, v, arena_printf(f->arena, "{'add':{'path':'g%lld','size':1}}\n", (long long)v).ptr);
    delta_snapshot *next = update(f, s);
    assert_int_equal(delta_snapshot_version(next), 40);
    assert_int_equal(delta_snapshot_n_files(next), 41);
    delta_snapshot_release(next);
    delta_snapshot_release(s);
}

/* The log that the snapshot came from is gone: another table stands there, or the clean-up went past it. */
static void update_of_a_replaced_table(void **state) {
    log_fixture *f = *state;
    log_commit(f, 0, START ADD("old"));
    delta_snapshot *s = log_load(f, DELTA_LATEST);
    log_commit(f, 0, START ADD("new"));
    delta_snapshot *next = update(f, s);
    assert_string_equal(log_files(f, next), "new");
    assert_string_equal(log_files(f, s), "old");
    delta_snapshot_release(s);
    log_remove(f, log_name(f, 0, ".json"));
    assert_int_equal(delta_snapshot_update(&f->env, next, &s, &f->err), SILT_NOT_FOUND);
    assert_condition(&f->err, "DELTA_TABLE_NOT_FOUND");
    delta_snapshot_release(next);
}

static void update_refuses_a_newer_protocol(void **state) {
    log_fixture *f = *state;
    log_commit(f, 0, START);
    delta_snapshot *s = log_load(f, DELTA_LATEST), *next;
    log_commit(
        f, 1,
        "{'protocol':{'minReaderVersion':3,'minWriterVersion':7,'readerFeatures':['martian'],'writerFeatures':['martian']}}\n");
    assert_int_equal(delta_snapshot_update(&f->env, s, &next, &f->err), SILT_UNSUPPORTED);
    assert_condition(&f->err, "DELTA_UNSUPPORTED_FEATURES_FOR_READ");
    delta_snapshot_release(s);
}

/* ---- checksums ---- */

#define CRC(files, bytes, more) "{'tableSizeBytes':" bytes ",'numFiles':" files ",'numMetadata':1,'numProtocol':1" more "}"

static void checksums(void **state) {
    static const struct {
        const char *crc, *condition;
    } cases[] = {
        {CRC("2", "20", ""), NULL},
        {CRC("2", "20", ",'protocol':{'minReaderVersion':1,'minWriterVersion':2}"), NULL},
        {CRC("3", "20", ""), "DELTA_TXN_LOG_FAILED_INTEGRITY"},
        {CRC("2", "21", ""), "DELTA_TXN_LOG_FAILED_INTEGRITY"},
        {CRC("2", "20", ",'protocol':{'minReaderVersion':1,'minWriterVersion':3}"), "DELTA_TXN_LOG_FAILED_INTEGRITY"},
        {CRC("2", "20",
             ",'metadata':{'id':'other','format':{'provider':'parquet','options':{}},'partitionColumns':[],'configuration':{}}"),
         "DELTA_TXN_LOG_FAILED_INTEGRITY"},
        {"", NULL},
        {"{'tableSizeBytes':1,", NULL},
        {"{}", NULL},
        {"{'numFiles':9}", NULL},
        {CRC("9", "20", ",'inCommitTimestampOpt':5,'protocol':{'minReaderVersion':1,'minWriterVersion':2},'metadata':{'id':'m'}"),
         NULL}, /* breaks its own specification */
    };
    log_fixture *f = *state;
    log_commit(f, 0, START ADD("f1") ADD("f2"));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        log_put(f, log_name(f, 0, ".crc"), cases[i].crc);
        if (cases[i].condition)
            log_load_fails(f, DELTA_LATEST, cases[i].condition);
        else
            delta_snapshot_release(log_load(f, DELTA_LATEST));
    }
    f->env.skip_version_checksum = true;
    log_put(f, log_name(f, 0, ".crc"), CRC("3", "20", ""));
    delta_snapshot_release(log_load(f, DELTA_LATEST));
}

/* ---- size ---- */

/* Enough rows for several threads, several batches, and the split key space; every second file removed again. */
static void many_files(void **state) {
    enum { COMMITS = 40, FILES = 2500 };
    log_fixture *f = *state;
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    f->env.n_threads = 4;
    log_commit(f, 0, START);
    for (int v = 1; v <= COMMITS; v++) {
        buf_clear(&b);
        for (int i = 0; i < FILES; i++)
            buf_printf(&b, "{'add':{'path':'d=%d/part-%d-%d','partitionValues':{'d':'%d'},'size':%d}}\n", i % 3, v, i, i % 3, i);
        for (int i = 1; v > 1 && i < FILES; i += 2) buf_printf(&b, "{'remove':{'path':'d=%d/part-%d-%d'}}\n", i % 3, v - 1, i);
        log_commit(f, v, buf_cstr(&b));
    }
    buf_dispose(&b);
    delta_snapshot *s = log_load(f, DELTA_LATEST);
    assert_int_equal(delta_snapshot_n_files(s), (COMMITS - 1) * FILES / 2 + FILES);
    int64_t even = 0, all = 0;
    for (int i = 0; i < FILES; i++) {
        all += i;
        even += i % 2 ? 0 : i;
    }
    assert_int_equal(delta_snapshot_size_bytes(s), even * (COMMITS - 1) + all);
    delta_add add;
    assert_int_equal(delta_snapshot_file(s, 0, false, f->arena, &add, &f->err), SILT_OK);
    assert_text("d=0/part-1-0", add.path);
    assert_int_equal(delta_snapshot_file(s, delta_snapshot_n_files(s) - 1, false, f->arena, &add, &f->err), SILT_OK);
    assert_text("0", str_map_get(&add.partition_values, STR("d")));
    delta_snapshot_release(s);
}

/* One commit of many megabytes is cut into pieces at line ends. */
static void one_large_commit(void **state) {
    enum { FILES = 60000 };
    log_fixture *f = *state;
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    f->env.n_threads = 3;
    buf_append_z(&b, START);
    for (int i = 0; i < FILES; i++)
        buf_printf(&b,
                   "{'add':{'path':'part-%d','partitionValues':{},'size':1,'modificationTime':1,'dataChange':true,'stats':'{`"
                   "numRecords`:%d,`x`:`%0*d`}'}}\n",
                   i, i % 7, i % 90 + 1, i);
    log_commit(f, 0, buf_cstr(&b));
    buf_dispose(&b);
    delta_snapshot *s = log_load(f, DELTA_LATEST);
    assert_int_equal(delta_snapshot_n_files(s), FILES);
    for (int i = 0; i < FILES; i += 997) {
        delta_add add;
        assert_int_equal(delta_snapshot_file(s, (size_t)i, true, f->arena, &add, &f->err), SILT_OK);
        assert_text(arena_printf(f->arena, "part-%d", i).ptr, add.path);
        assert_text(arena_printf(f->arena, "{\"numRecords\":%d,\"x\":\"%0*d\"}", i % 7, i % 90 + 1, i).ptr, add.stats);
    }
    delta_snapshot_release(s);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, log_setup, log_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(adds_and_removes),
        TEST(added_again),
        TEST(deletion_vector_updates),
        TEST(canonical_paths),
        TEST(newest_protocol_and_metadata),
        TEST(transactions_and_domains),
        TEST(every_field_of_add),
        TEST(forgiving_lines),
        TEST(strings_with_escapes),
        TEST(missing_protocol_or_metadata),
        TEST(newer_protocol_before_anything_else),
        TEST(column_mapping),
        TEST(commit_times),
        TEST(updates_equal_loads),
        TEST(update_over_many_commits),
        TEST(update_of_a_replaced_table),
        TEST(update_refuses_a_newer_protocol),
        TEST(checksums),
        TEST(many_files),
        TEST(one_large_commit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
