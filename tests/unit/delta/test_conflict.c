/*
 * The conflict rules against what Spark 4.1 with Delta 4.3 did: a transaction is begun, a winner commits, then the first one tries. Files: f0 in partition p=0,
 * f1 and f2 in p=1. Each case is a line of text, most of them as Spark's outcomes were recorded.
 */
#include "write_support.h"

#include <stdio.h>
#include <stdlib.h>

#include "delta/metadata_copy.h"

/* What SQL does, as files and reads: one letter a thing, separated by spaces.
 *   ?p=1 ?p=2 ?all   a predicate that was read          <f   a file that was read      *    the whole table was read
 *   -f ~f            f is removed; without data change   +f@p ^f@p   f is added; without data change
 *   %f               f gets a deletion vector            !what       metadata or protocol, see change_table
 *   ;                a commit of its own begins (winners only) */
typedef struct operation {
    const char *name, *recorded, *script;
} operation;

static const operation losers[] = {
    {"append", "WRITE", "+new@1"},
    {"appendselfread", "WRITE", "?p=1 <f1 +new@1"},
    {"selfread append", "WRITE", "?p=1 <f1 +new@1"},
    {"delete p=1", "DELETE", "?p=1 <f1 -f1"},
    {"delete", "DELETE", "?p=1 <f1 -f1 +new@1"},
    {"update p=1", "UPDATE", "?p=1 <f1 -f1 +new@1"},
    {"merge p=1", "MERGE", "?p=1 <f1 -f1 +new@1"},
    {"merge nopart", "MERGE", "?all <f0 <f1 -f1 +new@1"},
    {"overwrite p=1", "WRITE", "?p=1 <f1 -f1 +new@1"},
    {"overwrite all", "WRITE", "* -f0 -f1 +new@1"},
    {"OPTIMIZE", "OPTIMIZE", "?p=1 <f1 ~f1 ^new@1"},
    {"ALTER", "SET TBLPROPERTIES", "!mine"},
    {"txn same app", "WRITE", "!app +new@1"},
    {"ident insert", "WRITE", "!identity +new"},
    {"ident delete", "DELETE", "?all <f0 -f0 +new"},
    {"delete unpart", "DELETE", "?all <f0 -f0 +new"},
    {"DV delete row", "DELETE", "?p=1 <f1 %f1"},
    {"DV delete row file1", "DELETE", "?p=1 <f1 %f1"},
    /* not of the recorded matrix */
    {"remove f1 unread", "X", "-f1"},
    {"REPLACE TABLE", "REPLACE TABLE", "!replace"},
};

static const operation winners[] = {
    {"append p=0", "WRITE", "+w@0"},
    {"append p=1", "WRITE", "+w@1"},
    {"append", "WRITE", "+w@1"},
    {"delete p=0", "DELETE", "?p=0 <f0 -f0"},
    {"delete whole p=1", "DELETE", "?p=1 <f1 -f1"},
    {"delete rows p=1", "DELETE", "?p=1 <f1 -f1 +w@1"},
    {"delete id=1 (no part pred)", "DELETE", "?all <f0 <f1 -f1 +w@1"},
    {"update p=0", "UPDATE", "?p=0 <f0 -f0 +w@0"},
    {"update p=1", "UPDATE", "?p=1 <f1 -f1 +w@1"},
    {"update p=1 id=1", "UPDATE", "?p=1 <f1 -f1 +w@1"},
    {"optimize p=0", "OPTIMIZE", "?p=0 <f0 ~f0 ^w@0"},
    {"optimize p=1", "OPTIMIZE", "?p=1 <f1 ~f1 ^w@1"},
    {"overwrite", "WRITE", "* -f0 -f1 +w@1"},
    {"truncate", "TRUNCATE", "* -f0 -f1"},
    {"restore", "RESTORE", "-f1"},
    {"vacuum", "VACUUM START", "; "},
    {"set props", "SET TBLPROPERTIES", "!theirs"},
    {"add cols", "ADD COLUMNS", "!column"},
    {"add constraint", "ADD CONSTRAINT", "!constraint"},
    {"comment", "SET TBLPROPERTIES", "!comment"},
    {"replace table", "CREATE OR REPLACE TABLE AS SELECT", "* -f0 -f1 !replace +w@1"},
    {"enableDV", "SET TBLPROPERTIES", "!vectors"},
    {"enableRT", "SET TBLPROPERTIES", "!row-tracking ; #backfill ^f0@0 ^f1@1 ^f2@1 ; !row-ids"},
    {"cm name", "SET TBLPROPERTIES", "!mapping"},
    {"ICT", "SET TBLPROPERTIES", "!timestamps"},
    {"CDF", "SET TBLPROPERTIES", "!change-feed"},
    {"ckpt v2", "SET TBLPROPERTIES", "!checkpoints"},
    {"protocol feature only", "UPGRADE PROTOCOL", "!feature"},
    {"drop constraint-less protocol upgrade", "UPGRADE PROTOCOL", "!feature"},
    {"drop feature", "DROP FEATURE", "!drop !theirs"},
    {"same app", "WRITE", "!app +w@0"},
    {"ident insert", "WRITE", "!identity +w"},
    {"DV delete other row same file", "DELETE", "?p=1 <f1 %f1"},
    {"DV delete row file2 same part", "DELETE", "?p=1 <f2 %f2"},
    /* not of the recorded matrix */
    {"drop feature alone", "DROP FEATURE", "!drop"},
    {"materialize", "UPGRADE PROTOCOL", "!materialize"},
    {"rowTracking alone", "UPGRADE PROTOCOL", "!row-tracking"},
    {"backfill", "ROW TRACKING BACKFILL", "^f0 ^f1"},
};

typedef struct fixture {
    store *store;
    delta_env env;
    arena *arena;
    silt_error err;
} fixture;

/* ---- building blocks ---- */

static predicate *p_equals(int64_t wanted, arena *a) {
    predicate *p = ARENA_NEW(a, predicate);
    uint32_t *index = ARENA_NEW(a, uint32_t);
    value *literal = ARENA_NEW(a, value);
    *index = 1;
    *literal = (value){.type = &type_int, .as.i64 = wanted};
    *p = (predicate){.kind = PRED_EQ, .column = {index, 1}, .column_type = &type_int, .literals = literal, .n_literals = 1};
    return p;
}

static predicate *all_rows(arena *a) {
    predicate *p = ARENA_NEW(a, predicate);
    *p = (predicate){.kind = PRED_TRUE};
    return p;
}

/* As it stands in the snapshot; f0 lies in p=0, the others in p=1. */
static delta_add file_of_table(const char *path, const delta_snapshot *s, fixture *f) {
    bool is_partitioned = delta_snapshot_metadata(s)->n_partition_columns > 0;
    return write_file(path, !is_partitioned ? NULL : path[1] == '0' ? "0" : "1", 10, f->arena);
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

/* What an INSERT into a table with an identity column leaves: a moved mark, in the schema's text. */
static silt_status move_identity(delta_txn *t, const delta_snapshot *s, fixture *f) {
    delta_metadata m = *delta_snapshot_metadata(s);
    m.schema_json = STR("{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"long\",\"nullable\":true,\"metadata\":{\"delta.identity.highWaterMark\":2}},"
                        "{\"name\":\"p\",\"type\":\"integer\",\"nullable\":true,\"metadata\":{}}]}");
    return delta_txn_set_metadata(t, &m, &f->err);
}

static silt_status change_table(const char *what, delta_txn *t, const delta_snapshot *s, fixture *f) {
    static const struct { const char *what, *key, *text; bool only_protocol; } upgrades[] = {
        {"vectors", "delta.enableDeletionVectors", "true", false}, {"row-tracking", "delta.feature.rowTracking", "supported", true},
        {"timestamps", "delta.enableInCommitTimestamps", "true", false}, {"change-feed", "delta.enableChangeDataFeed", "true", false},
        {"checkpoints", "delta.checkpointPolicy", "v2", false}, {"feature", "delta.feature.vacuumProtocolCheck", "supported", true},
        {"materialize", "delta.feature.materializePartitionColumns", "supported", true},
    };
    for (size_t i = 0; i < ARRAY_LEN(upgrades); i++)
        if (strcmp(what, upgrades[i].what) == 0) return upgrade(t, s, upgrades[i].key, upgrades[i].text, upgrades[i].only_protocol, f);
    if (strcmp(what, "mine") == 0 || strcmp(what, "theirs") == 0) return write_set_property(t, s, what, "1", &f->err);
    if (strcmp(what, "constraint") == 0) return write_set_property(t, s, "delta.constraints.c", "a > 0", &f->err);
    if (strcmp(what, "row-ids") == 0) return write_set_property(t, s, "delta.enableRowTracking", "true", &f->err);
    if (strcmp(what, "app") == 0) return delta_txn_set_txn_id(t, STR("app"), 1, &f->err);
    if (strcmp(what, "column") == 0) return add_column(t, s, f);
    if (strcmp(what, "comment") == 0 || strcmp(what, "replace") == 0) return change_text(t, s, *what == 'r', f);
    if (strcmp(what, "mapping") == 0) return map_by_name(t, s, f);
    if (strcmp(what, "drop") == 0) return drop_feature(t, f);
    if (strcmp(what, "identity") == 0) return move_identity(t, s, f);
    fail_msg("no change of that name: %s", what);
    return SILT_INTERNAL;
}

static silt_status add_to(delta_txn *t, const char *spec, bool data_change, fixture *f) {
    const char *at = strchr(spec, '@');
    delta_add add = write_file(arena_printf(f->arena, "%.*s", (int)(at ? at - spec : (ptrdiff_t)strlen(spec)), spec).ptr, at ? at + 1 : NULL, 10, f->arena);
    add.data_change = data_change;
    return delta_txn_add(t, &add, &f->err);
}

static silt_status add_vector(delta_txn *t, const char *path, const delta_snapshot *s, fixture *f) {
    delta_add add = file_of_table(path, s, f);
    TRY(delta_txn_remove_file(t, &add, true, &f->err));
    add.dv = (delta_dv){.storage = 'i', .path_or_inline = STR("wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L"), .offset = -1, .size_bytes = 40, .cardinality = 1};
    return delta_txn_add(t, &add, &f->err);
}

static silt_status do_word(const char *word, delta_txn *t, const delta_snapshot *s, fixture *f) {
    const char *rest = word + 1;
    delta_add old;
    switch (*word) {
        case '*': delta_txn_read_whole_table(t); return SILT_OK;
        case '?': return delta_txn_read_predicate(t, strcmp(rest, "all") == 0 ? all_rows(f->arena) : p_equals(rest[2] - '0', f->arena), &f->err);
        case '<': return delta_txn_read_file(t, str_of(rest), &f->err);
        case '-':
        case '~': old = file_of_table(rest, s, f); return delta_txn_remove_file(t, &old, *word == '-', &f->err);
        case '+':
        case '^': return add_to(t, rest, *word == '+', f);
        case '%': return add_vector(t, rest, s, f);
        case '!': return change_table(rest, t, s, f);
        default: return SILT_OK;
    }
}

/* The words up to ';' or the end; what is left of the script. */
static const char *fill(const char *script, delta_txn *t, const delta_snapshot *s, const char **out_operation, fixture *f) {
    char word[64];
    int n;
    while (sscanf(script, " %63s%n", word, &n) == 1) {
        script += n;
        if (*word == ';') return script;
        if (*word == '#') *out_operation = "ROW TRACKING BACKFILL";
        assert_ok(do_word(word, t, s, f), &f->err);
    }
    return NULL;
}

static const operation *find(const operation *list, size_t n, const char *name) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].name, name) == 0) return &list[i];
    fail_msg("no operation of that name: %s", name);
    return NULL;
}

/* *out_versions: how many commits it made. */
static void commit_winner(const operation *o, int *out_versions, fixture *f) {
    *out_versions = 0;
    for (const char *script = o->script; script; ++*out_versions) {
        delta_snapshot *s;
        delta_txn *t;
        int64_t version;
        const char *recorded = o->recorded;
        assert_ok(write_begin(&f->env, &s, &t, &f->err), &f->err);
        script = fill(script, t, s, &recorded, f);
        delta_commit_info info = {.operation = recorded, .operation_parameters = STR("{}"), .operation_metrics = STR("{}"), .no_pauses = true};
        if (strstr(o->script, "!identity")) info.tags = STR("{\"delta.identity.schemaUpdate\":\"true\"}");
        assert_ok(delta_txn_commit(t, &info, &version, &f->err), &f->err);
        delta_txn_free(t);
        delta_snapshot_release(s);
    }
}

static void open_fixture(fixture *f, const table_spec *spec) {
    *f = (fixture){.arena = arena_new()};
    assert_int_equal(store_memory_open(1700000000000, &f->store, NULL), SILT_OK);
    f->env = (delta_env){.store = f->store, .n_threads = 1};
    assert_created(&f->env, spec);
    assert_appended(&f->env, spec->partition_by ? "f0@0|f1@1|f2@1" : "f0|f1");
}

static void close_fixture(fixture *f) {
    arena_free(f->arena);
    store_close(f->store);
}

static bool uses_vectors(const char *row) { return strstr(row, "DV delete") != NULL; }

static void make_write_serializable(fixture *f) {
    delta_snapshot *s;
    delta_txn *t;
    int64_t version;
    assert_ok(write_begin(&f->env, &s, &t, &f->err), &f->err);
    assert_ok(write_set_property(t, s, "delta.isolationLevel", "WriteSerializable", &f->err), &f->err);
    assert_ok(write_commit(t, "SET", &version, &f->err), &f->err);
    delta_txn_free(t);
    delta_snapshot_release(s);
}

static void check_commit(const fixture *f, int64_t version, int64_t read_version, const char *isolation) {
    char name[32], read[48], level[48];
    snprintf(name, sizeof name, "%020lld.json", (long long)version);
    snprintf(read, sizeof read, "\"readVersion\":%lld,", (long long)read_version); /* what was read, not what it was rebased on */
    snprintf(level, sizeof level, "\"isolationLevel\":\"%s\"", isolation);
    const char *text = write_log_text(f->store, name, f->arena);
    assert_non_null(strstr(text, read));
    if (!strstr(text, level)) fail_msg("not at %s: %s", isolation, text);
}

/* "loser <- winner: CONDITION", with nothing behind the colon for success. */
static void check_row(const char *row, const table_spec *spec) {
    fixture f;
    delta_snapshot *s;
    delta_txn *t;
    char loser_name[64], winner_name[64], expected[64] = "";
    int64_t version = -1;
    int n_winners;
    bool write_serializable = strncmp(row, "WS ", 3) == 0;
    assert_true(sscanf(row + (write_serializable ? 3 : 0), "%63[^<]<- %63[^:]: %63s", loser_name, winner_name, expected) >= 2);
    loser_name[strlen(loser_name) - 1] = '\0';
    const operation *loser = find(losers, ARRAY_LEN(losers), loser_name), *winner = find(winners, ARRAY_LEN(winners), winner_name);
    table_spec changed = *spec;
    if (uses_vectors(row)) changed.properties = "delta.enableDeletionVectors=true";
    open_fixture(&f, &changed);
    if (write_serializable) make_write_serializable(&f);
    int64_t read_version = write_serializable ? 2 : 1;
    const char *recorded = loser->recorded;
    assert_ok(write_begin(&f.env, &s, &t, &f.err), &f.err);
    fill(loser->script, t, s, &recorded, &f);
    commit_winner(winner, &n_winners, &f);
    f.err = (silt_error){0};
    silt_status status = write_commit(t, recorded, &version, &f.err);
    if (strcmp(f.err.condition, expected) != 0) fail_msg("%s: found '%s' (%s)", row, f.err.condition, f.err.message);
    if (*expected) {
        char winning[32];
        snprintf(winning, sizeof winning, "version %lld", (long long)read_version + 1);
        assert_int_equal(status, SILT_CONFLICT);
        assert_string_equal(f.err.sqlstate, "2D521");
        if (!strstr(f.err.message, winning) || !strstr(f.err.message, winner->recorded)) fail_msg("%s: does not name the winner: %s", row, f.err.message);
        assert_int_equal(version, -1);
    } else {
        assert_int_equal(status, SILT_OK);
        assert_int_equal(version, read_version + n_winners + 1);
        check_commit(&f, version, read_version, strcmp(recorded, "OPTIMIZE") == 0 ? "SnapshotIsolation" : write_serializable ? "WriteSerializable" : "Serializable");
    }
    delta_txn_free(t);
    delta_snapshot_release(s);
    close_fixture(&f);
}

static void check_rows(const char *const *rows, size_t n, const table_spec *spec) {
    for (size_t i = 0; i < n; i++) check_row(rows[i], spec);
}

/* Spark 4.1 with Delta 4.3.1, all at Serializable. It survives a change of metadata under OPTIMIZE by beginning a new transaction, which is the operation's business and no rule
 * of a commit. */
static void as_recorded(void **state) {
    (void)state;
    static const char *const rows[] = {
        "append <- append p=1: ",
        "append <- append p=0: ",
        "append <- delete p=0: ",
        "append <- delete rows p=1: ",
        "append <- delete id=1 (no part pred): ",
        "append <- update p=0: ",
        "append <- update p=1 id=1: ",
        "append <- optimize p=1: ",
        "append <- optimize p=0: ",
        "append <- set props: DELTA_METADATA_CHANGED",
        "append <- add cols: DELTA_METADATA_CHANGED",
        "append <- enableDV: ",
        "append <- enableRT: ",
        "append <- cm name: ",
        "append <- ICT: ",
        "append <- CDF: DELTA_METADATA_CHANGED",
        "append <- ckpt v2: ",
        "append <- comment: DELTA_METADATA_CHANGED",
        "delete p=1 <- append p=1: DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT",
        "delete p=1 <- append p=0: ",
        "delete p=1 <- delete p=0: ",
        "delete p=1 <- delete rows p=1: DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT",
        "delete p=1 <- delete id=1 (no part pred): DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT",
        "delete p=1 <- update p=0: ",
        "delete p=1 <- update p=1 id=1: DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT",
        "delete p=1 <- optimize p=1: DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT",
        "delete p=1 <- optimize p=0: ",
        "delete p=1 <- set props: DELTA_METADATA_CHANGED",
        "delete p=1 <- add cols: DELTA_METADATA_CHANGED",
        "delete p=1 <- enableDV: ",
        "delete p=1 <- enableRT: ",
        "delete p=1 <- cm name: ",
        "delete p=1 <- ICT: ",
        "delete p=1 <- CDF: DELTA_METADATA_CHANGED",
        "delete p=1 <- ckpt v2: ",
        "delete p=1 <- comment: DELTA_METADATA_CHANGED",
        "update p=1 <- append p=1: DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT",
        "update p=1 <- append p=0: ",
        "update p=1 <- delete p=0: ",
        "update p=1 <- delete rows p=1: DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT",
        "update p=1 <- delete id=1 (no part pred): DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT",
        "update p=1 <- update p=0: ",
        "update p=1 <- update p=1 id=1: DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT",
        "update p=1 <- optimize p=1: DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT",
        "update p=1 <- optimize p=0: ",
        "update p=1 <- set props: DELTA_METADATA_CHANGED",
        "update p=1 <- add cols: DELTA_METADATA_CHANGED",
        "merge p=1 <- append p=1: DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT",
        "merge p=1 <- append p=0: ",
        "merge p=1 <- delete p=0: ",
        "merge p=1 <- delete rows p=1: DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT",
        "merge p=1 <- delete id=1 (no part pred): DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT",
        "merge p=1 <- update p=0: ",
        "merge p=1 <- update p=1 id=1: DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT",
        "merge p=1 <- optimize p=1: DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT",
        "merge p=1 <- optimize p=0: ",
        "merge p=1 <- set props: DELTA_METADATA_CHANGED",
        "merge p=1 <- add cols: DELTA_METADATA_CHANGED",
        "merge p=1 <- enableDV: ",
        "merge p=1 <- enableRT: ",
        "merge p=1 <- cm name: ",
        "merge p=1 <- ICT: ",
        "merge p=1 <- CDF: DELTA_METADATA_CHANGED",
        "merge p=1 <- ckpt v2: ",
        "merge p=1 <- comment: DELTA_METADATA_CHANGED",
        "merge nopart <- append p=0: DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT",
        "merge nopart <- append p=1: DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT",
        "merge nopart <- delete p=0: DELTA_CONCURRENT_DELETE_READ.WITH_PARTITION_HINT",
        "merge nopart <- optimize p=0: DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT",
        "merge nopart <- optimize p=1: DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT",
        "appendselfread <- append p=0: ",
        "appendselfread <- append p=1: DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT",
        "appendselfread <- delete p=0: ",
        "appendselfread <- optimize p=0: ",
        "appendselfread <- optimize p=1: DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT",
        "overwrite p=1 <- append p=0: ",
        "overwrite p=1 <- append p=1: DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT",
        "overwrite p=1 <- delete p=0: ",
        "overwrite p=1 <- optimize p=0: ",
        "overwrite p=1 <- optimize p=1: DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT",
        "OPTIMIZE <- append p=1: ",
        "OPTIMIZE <- append p=0: ",
        "OPTIMIZE <- delete rows p=1: DELTA_CONCURRENT_DELETE_READ.WITH_PARTITION_HINT",
        "OPTIMIZE <- delete p=0: ",
        "OPTIMIZE <- update p=1: DELTA_CONCURRENT_DELETE_READ.WITH_PARTITION_HINT",
        "OPTIMIZE <- optimize p=1: DELTA_CONCURRENT_DELETE_READ.WITH_PARTITION_HINT",
        "ALTER <- append p=1: ",
        "ALTER <- delete p=0: ",
        "ALTER <- update p=1 id=1: ",
        "ALTER <- optimize p=1: ",
        "ALTER <- set props: DELTA_METADATA_CHANGED",
        "ALTER <- add cols: DELTA_METADATA_CHANGED",
        "ALTER <- enableDV: DELTA_METADATA_CHANGED",
        "txn same app <- same app: DELTA_CONCURRENT_TRANSACTION",
        "DV delete row <- DV delete other row same file: DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT",
        "DV delete row file1 <- DV delete row file2 same part: DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT",
        "append <- drop feature: DELTA_METADATA_CHANGED",
        "delete <- drop constraint-less protocol upgrade: ",
        "append <- protocol feature only: ",
        "append <- overwrite: ",
        "append <- replace table: DELTA_METADATA_CHANGED",
        "append <- truncate: ",
        "append <- vacuum: ",
        "append <- restore: ",
        "append <- add constraint: DELTA_METADATA_CHANGED",
        "delete <- restore: DELTA_CONCURRENT_DELETE_READ.WITH_PARTITION_HINT",
        "delete p=1 <- delete whole p=1: DELTA_CONCURRENT_DELETE_READ.WITH_PARTITION_HINT",
        "update p=1 <- truncate: DELTA_CONCURRENT_DELETE_READ.WITH_PARTITION_HINT",
        "overwrite p=1 <- delete whole p=1: DELTA_CONCURRENT_DELETE_READ.WITH_PARTITION_HINT",
        "overwrite all <- append: DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT",
        "selfread append <- delete p=0: ",
        "selfread append <- append p=1: DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT",
    };
    check_rows(rows, ARRAY_LEN(rows), &(table_spec){.partition_by = "p"});
}

static void as_recorded_without_partitions(void **state) {
    (void)state;
    static const char *const rows[] = {
        "ident insert <- ident insert: DELTA_METADATA_CHANGED",
        "ident delete <- ident insert: DELTA_CONCURRENT_APPEND.WITHOUT_HINT",
        "delete unpart <- append: DELTA_CONCURRENT_APPEND.WITHOUT_HINT",
    };
    check_rows(rows, ARRAY_LEN(rows), &(table_spec){0});
}

/* The level that Databricks writes into tables: blind appends of others do not disturb. It is set by hand, as no user may. */
static void as_recorded_write_serializable(void **state) {
    (void)state;
    static const char *const rows[] = {
        "WS update p=1 <- append p=1: ",
        "WS delete p=1 <- append p=1: ",
        "WS delete p=1 <- delete rows p=1: DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT",
        "WS delete p=1 <- optimize p=1: DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT",
    };
    check_rows(rows, ARRAY_LEN(rows), &(table_spec){.partition_by = "p"});
}

/* Pairs that were not recorded, by the rules. */
static void by_the_rules(void **state) {
    (void)state;
    static const char *const rows[] = {
        "remove f1 unread <- delete whole p=1: DELTA_CONCURRENT_DELETE_DELETE.WITH_PARTITION_HINT",
        "remove f1 unread <- delete p=0: ",
        "txn same app <- append p=1: ",
        "OPTIMIZE <- delete whole p=1: DELTA_CONCURRENT_DELETE_READ.WITH_PARTITION_HINT",
        /* rows of before must not turn up in the table that replaces it */
        "REPLACE TABLE <- append p=0: DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT",
        "REPLACE TABLE <- delete p=0: DELTA_CONCURRENT_DELETE_READ.WITH_PARTITION_HINT",
        "REPLACE TABLE <- set props: DELTA_METADATA_CHANGED",
        "overwrite all <- delete p=0: DELTA_CONCURRENT_DELETE_READ.WITH_PARTITION_HINT",
        "overwrite p=1 <- set props: DELTA_METADATA_CHANGED",
        "ALTER <- protocol feature only: ",
        "append <- materialize: DELTA_PROTOCOL_CHANGED",
        "ALTER <- materialize: ",
        /* a blind append and one that moves no data are left alone at the weaker level, a change of the table's columns is not */
        "WS update p=1 <- delete whole p=1: DELTA_CONCURRENT_DELETE_READ.WITH_PARTITION_HINT",
        "WS append <- append p=1: ",
        "WS overwrite all <- append p=1: ",
        "WS merge nopart <- append p=0: ",
        "WS merge nopart <- update p=0: DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT",
        "WS REPLACE TABLE <- append p=0: DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT",
        "WS OPTIMIZE <- append p=1: ",
        "WS OPTIMIZE <- optimize p=1: DELTA_CONCURRENT_DELETE_READ.WITH_PARTITION_HINT",
        "WS update p=1 <- set props: DELTA_METADATA_CHANGED",
        "WS appendselfread <- append p=1: ",
    };
    static const char *const dropped[] = {"append <- drop feature alone: DELTA_PROTOCOL_CHANGED", "ALTER <- drop feature alone: DELTA_PROTOCOL_CHANGED"};
    check_rows(rows, ARRAY_LEN(rows), &(table_spec){.partition_by = "p"});
    check_rows(dropped, ARRAY_LEN(dropped), &(table_spec){.partition_by = "p", .properties = "delta.feature.vacuumProtocolCheck=supported"});
}

static void two_change_the_protocol(void **state) {
    (void)state;
    fixture f;
    delta_snapshot *s;
    delta_txn *t;
    int64_t version;
    int n;
    open_fixture(&f, &(table_spec){.partition_by = "p"});
    assert_ok(write_begin(&f.env, &s, &t, &f.err), &f.err);
    assert_ok(upgrade(t, s, "delta.enableTypeWidening", "true", false, &f), &f.err);
    commit_winner(find(winners, ARRAY_LEN(winners), "protocol feature only"), &n, &f);
    assert_int_equal(write_commit(t, "SET TBLPROPERTIES", &version, &f.err), SILT_CONFLICT);
    assert_string_equal(f.err.condition, "DELTA_PROTOCOL_CHANGED");
    delta_txn_free(t);
    delta_snapshot_release(s);
    close_fixture(&f);
}

static void domains(void **state) {
    (void)state;
    const char *const ours[] = {"mine", "mine"}, *const theirs[] = {"mine", "other"}, *const expected[] = {"DELTA_CONCURRENT_TRANSACTION", ""};
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
    static const char *const names[] = {"rowTracking alone", "ICT"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        int n;
        fixture f;
        delta_snapshot *s;
        delta_txn *t;
        int64_t version;
        open_fixture(&f, &(table_spec){0});
        assert_ok(write_begin(&f.env, &s, &t, &f.err), &f.err);
        assert_ok(write_add_files(t, "mine", &f.err), &f.err);
        commit_winner(find(winners, ARRAY_LEN(winners), names[i]), &n, &f);
        assert_ok(write_commit(t, "WRITE", &version, &f.err), &f.err);
        const char *text = write_log_text(f.store, "00000000000000000003.json", f.arena);
        if (i == 0) assert_non_null(strstr(text, "\"baseRowId\":0,\"defaultRowCommitVersion\":3"));
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
    assert_string_equal(f.err.condition, "DELTA_CONCURRENT_DELETE_DELETE.WITH_PARTITION_HINT");
    delta_txn_free(t);
    delta_txn_free(winner);
    delta_snapshot_release(s);
    close_fixture(&f);
}

/* A file that gains a deletion vector while a backfill gives it row ids keeps those ids, in the remove as in the add. */
static void backfill_by_the_winner(void **state) {
    (void)state;
    fixture f;
    delta_snapshot *s;
    delta_txn *t;
    int64_t version;
    int n;
    const char *recorded;
    open_fixture(&f, &(table_spec){.properties = "delta.enableDeletionVectors=true"});
    assert_ok(write_begin(&f.env, &s, &t, &f.err), &f.err);
    fill("?all <f0 <f1 %f1 +new", t, s, &recorded, &f);
    commit_winner(find(winners, ARRAY_LEN(winners), "rowTracking alone"), &n, &f);
    commit_winner(find(winners, ARRAY_LEN(winners), "backfill"), &n, &f);
    assert_ok(write_commit(t, "DELETE", &version, &f.err), &f.err);
    assert_int_equal(version, 4);
    const char *text = write_log_text(f.store, "00000000000000000004.json", f.arena);
    const char *removed = strstr(text, "{\"remove\":{\"path\":\"f1\""), *vector = strstr(text, "{\"add\":{\"path\":\"f1\""), *fresh = strstr(text, "{\"add\":{\"path\":\"new\"");
    assert_non_null(removed);
    assert_true(vector && strstr(vector, "\"baseRowId\":10,\"defaultRowCommitVersion\":3"));
    assert_true(strstr(removed, "\"baseRowId\":10,\"defaultRowCommitVersion\":3") < vector);
    assert_true(fresh && strstr(fresh, "\"baseRowId\":20,\"defaultRowCommitVersion\":4"));
    delta_txn_free(t);
    delta_snapshot_release(s);
    close_fixture(&f);
}

/* The other way round: what somebody removed meanwhile does not come back by the backfill. */
static void backfill_by_the_loser(void **state) {
    (void)state;
    fixture f;
    delta_snapshot *s;
    delta_txn *t;
    int64_t version;
    int n;
    const char *recorded;
    open_fixture(&f, &(table_spec){.partition_by = "p"});
    commit_winner(find(winners, ARRAY_LEN(winners), "rowTracking alone"), &n, &f);
    assert_ok(write_begin(&f.env, &s, &t, &f.err), &f.err);
    fill("* ^f0@0 ^f1@1", t, s, &recorded, &f);
    commit_winner(find(winners, ARRAY_LEN(winners), "delete whole p=1"), &n, &f);
    commit_winner(find(winners, ARRAY_LEN(winners), "append p=0"), &n, &f);
    assert_ok(write_commit(t, "ROW TRACKING BACKFILL", &version, &f.err), &f.err);
    assert_live(&f.env, 5, "f0,f2,w");
    delta_txn_free(t);
    delta_snapshot_release(s);
    close_fixture(&f);
}

/* A feature is not dropped from under a commit that uses it. */
static void dropped_feature_is_used(void **state) {
    (void)state;
    static const char *const winner_names[] = {"DV delete other row same file", "append"};
    for (size_t i = 0; i < ARRAY_LEN(winner_names); i++) {
        fixture f;
        delta_snapshot *s;
        delta_txn *t;
        int64_t version;
        int n;
        open_fixture(&f, &(table_spec){.partition_by = "p", .properties = "delta.enableDeletionVectors=true"});
        assert_ok(write_begin(&f.env, &s, &t, &f.err), &f.err);
        delta_metadata m = *delta_snapshot_metadata(s);
        const str key = STR("delta.requireCheckpointProtectionBeforeVersion"), two = STR("2");
        m.configuration = (str_map){&key, &two, 1};
        assert_ok(drop_feature(t, &f), &f.err);
        assert_ok(delta_txn_set_metadata(t, &m, &f.err), &f.err);
        commit_winner(find(winners, ARRAY_LEN(winners), winner_names[i]), &n, &f);
        f.err = (silt_error){0};
        silt_status status = write_commit(t, "DROP FEATURE", &version, &f.err);
        if (i == 0) {
            assert_int_equal(status, SILT_CONFLICT);
            assert_string_equal(f.err.condition, "DELTA_FEATURE_DROP_CONFLICT_REVALIDATION_FAIL");
            assert_string_equal(f.err.sqlstate, "40000");
        } else { /* history is protected up to the version that it became, not the one that it hoped for */
            assert_ok(status, &f.err);
            assert_non_null(strstr(write_log_text(f.store, "00000000000000000003.json", f.arena), "\"delta.requireCheckpointProtectionBeforeVersion\":\"3\""));
        }
        delta_txn_free(t);
        delta_snapshot_release(s);
        close_fixture(&f);
    }
}

static void errors_say_who_won(void **state) {
    (void)state;
    fixture f;
    delta_snapshot *s;
    delta_txn *t;
    int64_t version;
    open_fixture(&f, &(table_spec){.partition_by = "p"});
    assert_ok(write_begin(&f.env, &s, &t, &f.err), &f.err);
    int n;
    const char *recorded;
    fill("?p=1 <f1 -f1 +new@1", t, s, &recorded, &f);
    commit_winner(find(winners, ARRAY_LEN(winners), "append p=1"), &n, &f);
    assert_int_equal(write_commit(t, "UPDATE", &version, &f.err), SILT_CONFLICT);
    assert_string_equal(f.err.message, "A concurrent WRITE (version 2) added data to table /t, partition [p=1], which this transaction should have read");
    assert_non_null(strstr(f.err.detail, "txnId"));
    assert_non_null(strstr(f.err.detail, "file w;"));
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
        cmocka_unit_test(as_recorded),
        cmocka_unit_test(as_recorded_without_partitions),
        cmocka_unit_test(as_recorded_write_serializable),
        cmocka_unit_test(by_the_rules),
        cmocka_unit_test(two_change_the_protocol),
        cmocka_unit_test(domains),
        cmocka_unit_test(rebase),
        cmocka_unit_test(takes_over_what_the_winner_enabled),
        cmocka_unit_test(paths_are_compared_decoded),
        cmocka_unit_test(backfill_by_the_winner),
        cmocka_unit_test(backfill_by_the_loser),
        cmocka_unit_test(dropped_feature_is_used),
        cmocka_unit_test(errors_say_who_won),
        cmocka_unit_test(attempts_are_bounded),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
