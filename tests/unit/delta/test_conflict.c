/*
 * The conflict rules against what Spark 4.1 with Delta 4.3 did: a transaction is begun, a winner commits, then the first one tries. Files: f0 in partition p=0,
 * f1 in p=1.
 */
#include "write_support.h"

#include <stdlib.h>

#include "delta/metadata_copy.h"

static const char ok[] = "", append[] = "DELTA_CONCURRENT_APPEND", delete_read[] = "DELTA_CONCURRENT_DELETE_READ",
                  metadata_changed[] = "DELTA_METADATA_CHANGED", protocol_changed[] = "DELTA_PROTOCOL_CHANGED",
                  transaction[] = "DELTA_CONCURRENT_TRANSACTION", delete_delete[] = "DELTA_CONCURRENT_DELETE_DELETE";

typedef enum loser_kind { APPEND, DELETE_P1, UPDATE_P1, MERGE_ALL, SELF_READ_P1, OVERWRITE_P1, OVERWRITE_ALL, OPTIMIZE_P1, ALTER, SAME_APP, DELETE_NO_READ,
                         REPLACE } loser_kind;

typedef enum winner_kind {
    W_APPEND_P0, W_APPEND_P1, W_DELETE_P0, W_DELETE_P1, W_DELETE_ROWS_P1, W_UPDATE_P0, W_OPTIMIZE_P0, W_OPTIMIZE_P1, W_TRUNCATE, W_OVERWRITE_ALL, W_SET_PROPS,
    W_ADD_COLUMNS, W_COMMENT, W_ENABLE_DV, W_ENABLE_RT, W_MAPPING_NAME, W_ICT, W_CDF, W_CHECKPOINT_V2, W_FEATURE_ONLY, W_DROP_FEATURE, W_REPLACE, W_SAME_APP
} winner_kind;

typedef struct fixture {
    store *store;
    delta_env env;
    arena *arena;
    silt_error err;
} fixture;

/* ---- building blocks ---- */

static predicate *p_equals_one(arena *a) {
    predicate *p = ARENA_NEW(a, predicate);
    uint32_t *index = ARENA_NEW(a, uint32_t);
    value *literal = ARENA_NEW(a, value);
    *index = 1;
    *literal = (value){.type = &type_int, .as.i64 = 1};
    *p = (predicate){.kind = PRED_EQ, .column = {index, 1}, .column_type = &type_int, .literals = literal, .n_literals = 1};
    return p;
}

static silt_status replace_file(delta_txn *t, const delta_snapshot *s, const char *path, const char *with, bool data_change, fixture *f) {
    delta_add old = write_file(path, path[1] == '0' ? "0" : "1", 10, f->arena);
    (void)s;
    TRY(delta_txn_remove_file(t, &old, data_change, &f->err));
    if (!with) return SILT_OK;
    delta_add add = write_file(with, path[1] == '0' ? "0" : "1", 10, f->arena);
    add.data_change = data_change;
    return delta_txn_add(t, &add, &f->err);
}

static silt_status reads_p1(delta_txn *t, fixture *f) {
    TRY(delta_txn_read_predicate(t, p_equals_one(f->arena), &f->err));
    return delta_txn_read_file(t, STR("f1"), &f->err);
}

static silt_status upgrade(delta_txn *t, const delta_snapshot *s, const char *key, const char *text, bool only_protocol, fixture *f) {
    const str k = str_of(key), v = str_of(text);
    delta_protocol p;
    delta_metadata m = *delta_snapshot_metadata(s);
    str_map set;
    TRY(delta_protocol_for(delta_snapshot_protocol(s), m.schema, (str_map){&k, &v, 1}, false, f->arena, &p, &set, &f->err));
    TRY(delta_txn_set_protocol(t, &p, &f->err));
    if (only_protocol) return SILT_OK;
    for (size_t i = 0; i < set.count; i++)
        if (!str_map_with(&m.configuration, set.keys[i], set.values[i], f->arena, &m.configuration)) return error_no_memory(&f->err);
    return delta_txn_set_metadata(t, &m, &f->err);
}

static silt_status map_by_name(delta_txn *t, const delta_snapshot *s, fixture *f) {
    const str k = STR("delta.columnMapping.mode"), v = STR("name");
    delta_protocol p;
    delta_metadata m = *delta_snapshot_metadata(s);
    str_map set;
    int64_t max;
    TRY(delta_protocol_for(delta_snapshot_protocol(s), m.schema, (str_map){&k, &v, 1}, false, f->arena, &p, &set, &f->err));
    TRY(delta_txn_set_protocol(t, &p, &f->err));
    TRY(delta_assign_column_mapping(m.schema, 0, false, f->arena, &m.schema, &max, &f->err));
    m.schema_json = STR_NULL;
    str max_text = arena_printf(f->arena, "%lld", (long long)max);
    if (!str_map_with(&m.configuration, k, v, f->arena, &m.configuration) ||
        !str_map_with(&m.configuration, STR("delta.columnMapping.maxColumnId"), max_text, f->arena, &m.configuration))
        return error_no_memory(&f->err);
    return delta_txn_set_metadata(t, &m, &f->err);
}

static silt_status add_column(delta_txn *t, const delta_snapshot *s, fixture *f) {
    delta_metadata m = *delta_snapshot_metadata(s);
    m.schema_json = STR("{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}},"
                        "{\"name\":\"p\",\"type\":\"integer\",\"nullable\":true,\"metadata\":{}},"
                        "{\"name\":\"n\",\"type\":\"integer\",\"nullable\":true,\"metadata\":{}}]}");
    return delta_txn_set_metadata(t, &m, &f->err);
}

static silt_status change_text(delta_txn *t, const delta_snapshot *s, bool new_id, fixture *f) {
    delta_metadata m = *delta_snapshot_metadata(s);
    if (new_id) m.id = STR("00000000-0000-0000-0000-000000000000");
    else m.description = STR("a comment");
    return delta_txn_set_metadata(t, &m, &f->err);
}

static silt_status drop_feature(delta_txn *t, fixture *f) {
    const delta_protocol plain = {.min_reader_version = 1, .min_writer_version = 2};
    return delta_txn_set_protocol(t, &plain, &f->err);
}

/* ---- the two sides ---- */

static const char *loser_operation(loser_kind k) {
    return k == OPTIMIZE_P1 ? "OPTIMIZE" : k == ALTER ? "SET TBLPROPERTIES" : k == DELETE_P1 ? "DELETE" : "WRITE";
}

static silt_status fill_loser(loser_kind k, delta_txn *t, const delta_snapshot *s, fixture *f) {
    switch (k) {
        case APPEND: return write_add_files(t, "new@1", &f->err);
        case DELETE_P1: TRY(reads_p1(t, f)); return replace_file(t, s, "f1", NULL, true, f);
        case UPDATE_P1: TRY(reads_p1(t, f)); return replace_file(t, s, "f1", "new", true, f);
        case MERGE_ALL: delta_txn_read_whole_table(t); return replace_file(t, s, "f1", "new", true, f);
        case SELF_READ_P1: TRY(reads_p1(t, f)); return write_add_files(t, "new@1", &f->err);
        case OVERWRITE_P1: TRY(reads_p1(t, f)); return replace_file(t, s, "f1", "new", true, f);
        case OVERWRITE_ALL:
            delta_txn_read_whole_table(t);
            TRY(replace_file(t, s, "f0", NULL, true, f));
            return replace_file(t, s, "f1", "new", true, f);
        case OPTIMIZE_P1: TRY(reads_p1(t, f)); return replace_file(t, s, "f1", "new", false, f);
        case ALTER: return write_set_property(t, s, "mine", "1", &f->err);
        case SAME_APP: TRY(delta_txn_set_txn_id(t, STR("app"), 1, &f->err)); return write_add_files(t, "new@1", &f->err);
        case DELETE_NO_READ: return replace_file(t, s, "f1", NULL, true, f);
        case REPLACE: return change_text(t, s, true, f);
    }
    return SILT_INTERNAL;
}

static silt_status fill_winner(winner_kind k, delta_txn *t, const delta_snapshot *s, fixture *f) {
    switch (k) {
        case W_APPEND_P0: return write_add_files(t, "w@0", &f->err);
        case W_APPEND_P1: return write_add_files(t, "w@1", &f->err);
        case W_DELETE_P0: return replace_file(t, s, "f0", NULL, true, f);
        case W_DELETE_P1: return replace_file(t, s, "f1", NULL, true, f);
        case W_DELETE_ROWS_P1: return replace_file(t, s, "f1", "w", true, f);
        case W_UPDATE_P0: return replace_file(t, s, "f0", "w", true, f);
        case W_OPTIMIZE_P0: return replace_file(t, s, "f0", "w", false, f);
        case W_OPTIMIZE_P1: return replace_file(t, s, "f1", "w", false, f);
        case W_TRUNCATE: TRY(replace_file(t, s, "f0", NULL, true, f)); return replace_file(t, s, "f1", NULL, true, f);
        case W_OVERWRITE_ALL: TRY(replace_file(t, s, "f0", NULL, true, f)); return replace_file(t, s, "f1", "w", true, f);
        case W_SET_PROPS: return write_set_property(t, s, "theirs", "1", &f->err);
        case W_ADD_COLUMNS: return add_column(t, s, f);
        case W_COMMENT: return change_text(t, s, false, f);
        case W_REPLACE: return change_text(t, s, true, f);
        case W_ENABLE_DV: return upgrade(t, s, "delta.enableDeletionVectors", "true", false, f);
        case W_ENABLE_RT: return upgrade(t, s, "delta.feature.rowTracking", "supported", true, f);
        case W_MAPPING_NAME: return map_by_name(t, s, f);
        case W_ICT: return upgrade(t, s, "delta.enableInCommitTimestamps", "true", false, f);
        case W_CDF: return upgrade(t, s, "delta.enableChangeDataFeed", "true", false, f);
        case W_CHECKPOINT_V2: return upgrade(t, s, "delta.checkpointPolicy", "v2", false, f);
        case W_FEATURE_ONLY: return upgrade(t, s, "delta.feature.vacuumProtocolCheck", "supported", true, f);
        case W_DROP_FEATURE: return drop_feature(t, f);
        case W_SAME_APP: TRY(delta_txn_set_txn_id(t, STR("app"), 2, &f->err)); return write_add_files(t, "w@0", &f->err);
    }
    return SILT_INTERNAL;
}

static void commit_winner(winner_kind k, fixture *f) {
    delta_snapshot *s;
    delta_txn *t;
    int64_t version;
    const char *operation = k == W_OPTIMIZE_P0 || k == W_OPTIMIZE_P1 ? "OPTIMIZE" : k == W_APPEND_P0 || k == W_APPEND_P1 ? "WRITE" : "DELETE";
    assert_ok(write_begin(&f->env, &s, &t, &f->err), &f->err);
    assert_ok(fill_winner(k, t, s, f), &f->err);
    assert_ok(write_commit(t, operation, &version, &f->err), &f->err);
    delta_txn_free(t);
    delta_snapshot_release(s);
}

static void open_fixture(fixture *f, const table_spec *spec) {
    *f = (fixture){.arena = arena_new()};
    assert_int_equal(store_memory_open(1700000000000, &f->store, NULL), SILT_OK);
    f->env = (delta_env){.store = f->store, .n_threads = 1};
    assert_created(&f->env, spec);
    assert_appended(&f->env, spec->partition_by ? "f0@0|f1@1" : "f0|f1");
}

static void close_fixture(fixture *f) {
    arena_free(f->arena);
    store_close(f->store);
}

typedef struct matrix_row {
    loser_kind loser;
    winner_kind winner;
    const char *expected;
} matrix_row;

static void check_row(const matrix_row *row, const table_spec *spec) {
    fixture f;
    delta_snapshot *s;
    delta_txn *t;
    int64_t version = -1;
    open_fixture(&f, spec);
    assert_ok(write_begin(&f.env, &s, &t, &f.err), &f.err);
    assert_ok(fill_loser(row->loser, t, s, &f), &f.err);
    commit_winner(row->winner, &f);
    f.err = (silt_error){0};
    silt_status status = write_commit(t, loser_operation(row->loser), &version, &f.err);
    if (strcmp(f.err.condition, row->expected) != 0)
        fail_msg("loser %d, winner %d: '%s' (%s), not '%s'", (int)row->loser, (int)row->winner, f.err.condition, f.err.message, row->expected);
    if (row->expected == ok) {
        assert_int_equal(version, 3);
        arena *a = f.arena;
        assert_non_null(strstr(write_log_text(f.store, "00000000000000000003.json", a), "\"readVersion\":1,")); /* what was read, not what it was rebased on */
    } else {
        assert_int_equal(status, SILT_CONFLICT);
        assert_string_equal(f.err.sqlstate, "2D521");
        assert_non_null(strstr(f.err.message, "version 2"));
        assert_null(write_log_text(f.store, "00000000000000000003.json", f.arena));
    }
    delta_txn_free(t);
    delta_snapshot_release(s);
    close_fixture(&f);
}

static void serializable(void **state) {
    (void)state;
    static const matrix_row rows[] = {
        {APPEND, W_APPEND_P1, ok}, {APPEND, W_APPEND_P0, ok}, {APPEND, W_DELETE_P0, ok}, {APPEND, W_DELETE_ROWS_P1, ok}, {APPEND, W_UPDATE_P0, ok},
        {APPEND, W_OPTIMIZE_P1, ok}, {APPEND, W_OPTIMIZE_P0, ok}, {APPEND, W_TRUNCATE, ok}, {APPEND, W_OVERWRITE_ALL, ok},
        {APPEND, W_SET_PROPS, metadata_changed}, {APPEND, W_ADD_COLUMNS, metadata_changed}, {APPEND, W_COMMENT, metadata_changed},
        {APPEND, W_CDF, metadata_changed}, {APPEND, W_REPLACE, metadata_changed},
        {APPEND, W_ENABLE_DV, ok}, {APPEND, W_ENABLE_RT, ok}, {APPEND, W_MAPPING_NAME, ok}, {APPEND, W_ICT, ok}, {APPEND, W_CHECKPOINT_V2, ok},
        {APPEND, W_FEATURE_ONLY, ok},
        {DELETE_P1, W_APPEND_P1, append}, {DELETE_P1, W_APPEND_P0, ok}, {DELETE_P1, W_DELETE_P0, ok}, {DELETE_P1, W_DELETE_ROWS_P1, append},
        {DELETE_P1, W_UPDATE_P0, ok}, {DELETE_P1, W_OPTIMIZE_P1, append}, {DELETE_P1, W_OPTIMIZE_P0, ok}, {DELETE_P1, W_SET_PROPS, metadata_changed},
        {DELETE_P1, W_ADD_COLUMNS, metadata_changed}, {DELETE_P1, W_ENABLE_DV, ok}, {DELETE_P1, W_MAPPING_NAME, ok}, {DELETE_P1, W_ICT, ok},
        {DELETE_P1, W_CDF, metadata_changed}, {DELETE_P1, W_CHECKPOINT_V2, ok}, {DELETE_P1, W_COMMENT, metadata_changed},
        {DELETE_P1, W_DELETE_P1, delete_read},
        {UPDATE_P1, W_APPEND_P1, append}, {UPDATE_P1, W_APPEND_P0, ok}, {UPDATE_P1, W_DELETE_P0, ok}, {UPDATE_P1, W_DELETE_ROWS_P1, append},
        {UPDATE_P1, W_UPDATE_P0, ok}, {UPDATE_P1, W_OPTIMIZE_P1, append}, {UPDATE_P1, W_OPTIMIZE_P0, ok}, {UPDATE_P1, W_TRUNCATE, delete_read},
        {MERGE_ALL, W_APPEND_P0, append}, {MERGE_ALL, W_APPEND_P1, append}, {MERGE_ALL, W_DELETE_P0, delete_read}, {MERGE_ALL, W_OPTIMIZE_P0, append},
        {SELF_READ_P1, W_APPEND_P0, ok}, {SELF_READ_P1, W_APPEND_P1, append}, {SELF_READ_P1, W_DELETE_P0, ok}, {SELF_READ_P1, W_OPTIMIZE_P0, ok},
        {SELF_READ_P1, W_OPTIMIZE_P1, append},
        {OVERWRITE_P1, W_APPEND_P0, ok}, {OVERWRITE_P1, W_APPEND_P1, append}, {OVERWRITE_P1, W_DELETE_P0, ok}, {OVERWRITE_P1, W_OPTIMIZE_P1, append},
        {OVERWRITE_P1, W_DELETE_P1, delete_read}, {OVERWRITE_ALL, W_APPEND_P0, append},
        {OPTIMIZE_P1, W_APPEND_P1, ok}, {OPTIMIZE_P1, W_APPEND_P0, ok}, {OPTIMIZE_P1, W_DELETE_ROWS_P1, delete_read}, {OPTIMIZE_P1, W_DELETE_P0, ok},
        {OPTIMIZE_P1, W_OPTIMIZE_P1, delete_read}, {OPTIMIZE_P1, W_ENABLE_DV, ok},
        {ALTER, W_APPEND_P1, ok}, {ALTER, W_DELETE_P0, ok}, {ALTER, W_DELETE_ROWS_P1, ok}, {ALTER, W_OPTIMIZE_P1, ok}, {ALTER, W_SET_PROPS, metadata_changed},
        {ALTER, W_ADD_COLUMNS, metadata_changed}, {ALTER, W_ENABLE_DV, metadata_changed},
        {SAME_APP, W_SAME_APP, transaction}, {SAME_APP, W_APPEND_P1, ok},
        {DELETE_NO_READ, W_DELETE_P1, delete_delete}, {DELETE_NO_READ, W_DELETE_P0, ok},
        /* rows of before must not turn up in the table that replaces it */
        {REPLACE, W_APPEND_P0, append}, {REPLACE, W_DELETE_P0, delete_read}, {REPLACE, W_SET_PROPS, metadata_changed},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) check_row(&rows[i], &(table_spec){.partition_by = "p"});
}

/* On an unpartitioned table every added file would have been read. */
static void unpartitioned(void **state) {
    (void)state;
    static const matrix_row rows[] = {{APPEND, W_APPEND_P0, ok}, {DELETE_NO_READ, W_APPEND_P0, append}, {MERGE_ALL, W_APPEND_P0, append}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) check_row(&rows[i], &(table_spec){0});
}

/* The level that Databricks writes into tables: blind appends of others do not disturb. It is set by hand, as no user may. */
static void write_serializable(void **state) {
    (void)state;
    static const matrix_row rows[] = {{UPDATE_P1, W_APPEND_P1, ok}, {DELETE_P1, W_APPEND_P1, ok}, {DELETE_P1, W_DELETE_ROWS_P1, append}, {DELETE_P1, W_OPTIMIZE_P1, append}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        fixture f;
        delta_snapshot *s;
        delta_txn *t;
        int64_t version;
        open_fixture(&f, &(table_spec){.partition_by = "p"});
        assert_ok(write_begin(&f.env, &s, &t, &f.err), &f.err);
        assert_ok(write_set_property(t, s, "delta.isolationLevel", "WriteSerializable", &f.err), &f.err);
        assert_ok(write_commit(t, "SET", &version, &f.err), &f.err);
        delta_txn_free(t);
        delta_snapshot_release(s);
        assert_ok(write_begin(&f.env, &s, &t, &f.err), &f.err);
        assert_ok(fill_loser(rows[i].loser, t, s, &f), &f.err);
        commit_winner(rows[i].winner, &f);
        f.err = (silt_error){0};
        silt_status status = write_commit(t, loser_operation(rows[i].loser), &version, &f.err);
        assert_string_equal(f.err.condition, rows[i].expected);
        if (status == SILT_OK)
            assert_non_null(strstr(write_log_text(f.store, "00000000000000000004.json", f.arena), "\"isolationLevel\":\"WriteSerializable\""));
        delta_txn_free(t);
        delta_snapshot_release(s);
        close_fixture(&f);
    }
}

static void protocol_changes(void **state) {
    (void)state;
    /* a dropped feature stops everyone */
    check_row(&(matrix_row){APPEND, W_DROP_FEATURE, protocol_changed}, &(table_spec){.partition_by = "p", .properties = "delta.feature.vacuumProtocolCheck=supported"});
    /* two that change the protocol */
    fixture f;
    delta_snapshot *s;
    delta_txn *t;
    int64_t version;
    open_fixture(&f, &(table_spec){.partition_by = "p"});
    assert_ok(write_begin(&f.env, &s, &t, &f.err), &f.err);
    assert_ok(upgrade(t, s, "delta.enableTypeWidening", "true", false, &f), &f.err);
    commit_winner(W_FEATURE_ONLY, &f);
    assert_int_equal(write_commit(t, "SET TBLPROPERTIES", &version, &f.err), SILT_CONFLICT);
    assert_string_equal(f.err.condition, protocol_changed);
    delta_txn_free(t);
    delta_snapshot_release(s);
    close_fixture(&f);
}

static void domains(void **state) {
    (void)state;
    const char *const ours[] = {"mine", "mine"}, *const theirs[] = {"mine", "other"}, *const expected[] = {transaction, ok};
    for (size_t i = 0; i < 2; i++) {
        fixture f;
        delta_snapshot *s;
        delta_txn *t, *winner;
        int64_t version;
        open_fixture(&f, &(table_spec){.partition_by = "p", .properties = "delta.feature.domainMetadata=supported"});
        assert_ok(write_begin(&f.env, &s, &t, &f.err), &f.err);
        assert_ok(delta_txn_set_domain(t, str_of(ours[i]), STR("{}"), false, &f.err), &f.err);
        assert_ok(delta_txn_begin(&f.env, s, ROOT, &winner, &f.err), &f.err);
        assert_ok(delta_txn_set_domain(winner, str_of(theirs[i]), STR("{}"), false, &f.err), &f.err);
        assert_ok(write_commit(winner, "X", &version, &f.err), &f.err);
        f.err = (silt_error){0};
        (void)!write_commit(t, "X", &version, &f.err);
        assert_string_equal(f.err.condition, expected[i]);
        delta_txn_free(t);
        delta_txn_free(winner);
        delta_snapshot_release(s);
        close_fixture(&f);
    }
}

/* Row ids and in-commit timestamps are redone above the winner's. */
static void rebase(void **state) {
    (void)state;
    fixture f;
    delta_snapshot *s;
    delta_txn *t;
    int64_t version;
    open_fixture(&f, &(table_spec){.properties = "delta.enableRowTracking=true|delta.enableInCommitTimestamps=true"});
    assert_ok(write_begin(&f.env, &s, &t, &f.err), &f.err);
    assert_ok(write_add_files(t, "mine", &f.err), &f.err);
    assert_appended(&f.env, "w1|w2"); /* rows 20 to 39 */
    assert_appended(&f.env, "w3");    /* rows 40 to 49 */
    assert_ok(write_commit(t, "WRITE", &version, &f.err), &f.err);
    assert_int_equal(version, 4);
    const char *text = write_log_text(f.store, "00000000000000000004.json", f.arena);
    assert_non_null(strstr(text, "\"baseRowId\":50,\"defaultRowCommitVersion\":4"));
    assert_non_null(strstr(text, "\\\"rowIdHighWaterMark\\\":59"));
    const char *before = write_log_text(f.store, "00000000000000000003.json", f.arena);
    const char head[] = "{\"commitInfo\":{\"inCommitTimestamp\":";
    assert_true(strtoll(text + sizeof head - 1, NULL, 10) > strtoll(before + sizeof head - 1, NULL, 10));
    delta_txn_free(t);
    delta_snapshot_release(s);
    close_fixture(&f);
}

/* A winner that switches row tracking on: this commit's files get ids too. One that switches timestamps on: this commit has one. */
static void takes_over_what_the_winner_enabled(void **state) {
    (void)state;
    const winner_kind winners[] = {W_ENABLE_RT, W_ICT};
    for (size_t i = 0; i < ARRAY_LEN(winners); i++) {
        fixture f;
        delta_snapshot *s;
        delta_txn *t;
        int64_t version;
        open_fixture(&f, &(table_spec){0});
        assert_ok(write_begin(&f.env, &s, &t, &f.err), &f.err);
        assert_ok(write_add_files(t, "mine", &f.err), &f.err);
        commit_winner(winners[i], &f);
        assert_ok(write_commit(t, "WRITE", &version, &f.err), &f.err);
        const char *text = write_log_text(f.store, "00000000000000000003.json", f.arena);
        if (winners[i] == W_ENABLE_RT) assert_non_null(strstr(text, "\"baseRowId\":0,\"defaultRowCommitVersion\":3"));
        else assert_non_null(strstr(text, "{\"commitInfo\":{\"inCommitTimestamp\":"));
        delta_txn_free(t);
        delta_snapshot_release(s);
        close_fixture(&f);
    }
}

/* Another engine encodes the same path in its own way. */
static void paths_are_compared_decoded(void **state) {
    (void)state;
    fixture f;
    delta_snapshot *s;
    delta_txn *t, *winner;
    int64_t version;
    open_fixture(&f, &(table_spec){.partition_by = "p"});
    assert_appended(&f.env, "a%20b+c@1");
    assert_ok(write_begin(&f.env, &s, &t, &f.err), &f.err);
    assert_ok(write_remove_path(t, s, "a%20b+c", &f.err), &f.err);
    assert_ok(delta_txn_begin(&f.env, s, ROOT, &winner, &f.err), &f.err);
    delta_add same = write_file("a%20b%2Bc", "1", 10, f.arena);
    assert_ok(delta_txn_remove_file(winner, &same, true, &f.err), &f.err);
    assert_ok(write_commit(winner, "DELETE", &version, &f.err), &f.err);
    assert_int_equal(write_commit(t, "DELETE", &version, &f.err), SILT_CONFLICT);
    assert_string_equal(f.err.condition, delete_delete);
    delta_txn_free(t);
    delta_txn_free(winner);
    delta_snapshot_release(s);
    close_fixture(&f);
}

static void errors_say_who_won(void **state) {
    (void)state;
    fixture f;
    delta_snapshot *s;
    delta_txn *t;
    int64_t version;
    open_fixture(&f, &(table_spec){.partition_by = "p"});
    assert_ok(write_begin(&f.env, &s, &t, &f.err), &f.err);
    assert_ok(fill_loser(UPDATE_P1, t, s, &f), &f.err);
    commit_winner(W_APPEND_P1, &f);
    assert_int_equal(write_commit(t, "UPDATE", &version, &f.err), SILT_CONFLICT);
    assert_non_null(strstr(f.err.message, "version 2 (WRITE) added w of partition [p=1]"));
    assert_non_null(strstr(f.err.detail, "txnId"));
    delta_txn_free(t);
    delta_snapshot_release(s);
    close_fixture(&f);
}

static void attempts_are_bounded(void **state) {
    (void)state;
    fixture f;
    delta_snapshot *s;
    delta_txn *t;
    int64_t version;
    const delta_commit_info info = {.operation = "WRITE", .max_attempts = 1};
    open_fixture(&f, &(table_spec){0});
    assert_ok(write_begin(&f.env, &s, &t, &f.err), &f.err);
    assert_ok(write_add_files(t, "mine", &f.err), &f.err);
    assert_appended(&f.env, "w1");
    assert_int_equal(delta_txn_commit(t, &info, &version, &f.err), SILT_CONFLICT);
    assert_string_equal(f.err.condition, "DELTA_MAX_COMMIT_RETRIES_EXCEEDED");
    delta_txn_free(t);
    delta_snapshot_release(s);
    close_fixture(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(serializable),
        cmocka_unit_test(unpartitioned),
        cmocka_unit_test(write_serializable),
        cmocka_unit_test(protocol_changes),
        cmocka_unit_test(domains),
        cmocka_unit_test(rebase),
        cmocka_unit_test(takes_over_what_the_winner_enabled),
        cmocka_unit_test(paths_are_compared_decoded),
        cmocka_unit_test(errors_say_who_won),
        cmocka_unit_test(attempts_are_bounded),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
