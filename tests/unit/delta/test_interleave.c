/*
 * Every order of two (and three) writers over one table, with a crash, a failure, a lost reply or a short read at every call of one of them. Whatever happens:
 * versions are contiguous, what a writer was told is true, a committed transaction is in the log exactly once, and nothing else is.
 */
#include "write_support.h"

#include <stdio.h>

#include "delta/commit_read.h"

#include "support/schedule.h"

#define MAX_WRITERS 3

typedef enum writer_kind { APPEND, OVERWRITE, DELETE_ONE, SET_PROPERTY, ENABLE_DVS, CREATE, IDEMPOTENT, ADD_VECTOR, REWRITE_ONE } writer_kind;

typedef struct scenario {
    writer_kind kinds[MAX_WRITERS];
    size_t n;
    table_spec table;
    bool is_created;      /**< version 0 is there */
    const char *first;    /**< files of version 1, NULL: none */
    bool must_all_commit; /**< where no fault was ordered */
} scenario;

/* ---- writers ---- */

static const char *file_of(size_t writer) {
    static const char *const names[] = {"w0", "w1", "w2"};
    return names[writer];
}

/* A later change of metadata carries the earlier one along, so such commits are told apart by their operation. */
static const char *operation_of(writer_kind kind, size_t writer) {
    static const char *const names[] = {"SET w0", "SET w1", "SET w2"};
    return kind == SET_PROPERTY || kind == ENABLE_DVS ? names[writer] : "WRITE";
}

static silt_status run_create(const delta_env *env, const scenario *s, size_t writer, silt_error *err) {
    arena *a = arena_new();
    delta_protocol p;
    delta_metadata m;
    delta_txn *t = NULL;
    int64_t version;
    silt_status status = a ? write_definition(&s->table, a, &p, &m, err) : error_no_memory(err);
    if (status == SILT_OK) status = delta_txn_begin(env, NULL, ROOT, &t, err);
    if (status == SILT_OK) status = delta_txn_set_protocol(t, &p, err);
    if (status == SILT_OK) status = delta_txn_set_metadata(t, &m, err);
    if (status == SILT_OK) status = write_add_files(t, file_of(writer), err);
    if (status == SILT_OK) status = write_commit(t, "CREATE TABLE AS SELECT", &version, err);
    delta_txn_free(t);
    arena_free(a);
    return status;
}

static silt_status enable_dvs(delta_txn *t, const delta_snapshot *s, silt_error *err) {
    arena *a = arena_new();
    const str key = STR("delta.enableDeletionVectors"), on = STR("true");
    delta_protocol p;
    str_map stored;
    if (!a) return error_no_memory(err);
    silt_status status = delta_protocol_for(delta_snapshot_protocol(s), NULL, (str_map){&key, &on, 1}, false, a, &p, &stored, err);
    if (status == SILT_OK) status = delta_txn_set_protocol(t, &p, err);
    if (status == SILT_OK) status = write_set_property(t, s, "delta.enableDeletionVectors", "true", err);
    arena_free(a);
    return status;
}

typedef struct vector_job {
    size_t writer;
    delta_txn *txn;
    bool found;
} vector_job;

/* One more row of the file `first` is deleted: its vector, if it has one, gives way to a larger one. */
static silt_status enlarge_vector(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    static const char *const vectors[] = {"wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L", "wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{M",
                                          "wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{N"};
    vector_job *job = ctx;
    (void)i;
    if (!str_eqz(add->path, "first")) return SILT_OK;
    delta_add changed = *add;
    changed.dv = (delta_dv){.storage = 'i', .path_or_inline = str_of(vectors[job->writer]), .offset = -1, .size_bytes = 40, .cardinality = add->dv.cardinality + 1};
    job->found = true;
    TRY(delta_txn_read_file(job->txn, add->path, err));
    TRY(delta_txn_remove_file(job->txn, add, true, err));
    return delta_txn_add(job->txn, &changed, err);
}

static silt_status add_vector(size_t writer, const delta_snapshot *s, delta_txn *t, silt_error *err) {
    vector_job job = {writer, t, false};
    TRY(delta_snapshot_each_file(s, true, enlarge_vector, &job, err));
    return job.found ? SILT_OK : err_FILE_NOT_FOUND(err, STR("first"));
}

static silt_status fill(writer_kind kind, size_t writer, const delta_snapshot *s, delta_txn *t, silt_error *err) {
    switch (kind) {
        case SET_PROPERTY: return write_set_property(t, s, file_of(writer), "1", err);
        case ENABLE_DVS: return enable_dvs(t, s, err);
        case IDEMPOTENT: TRY(delta_txn_set_txn_id(t, STR("app"), (int64_t)writer + 1, err)); return write_add_files(t, file_of(writer), err);
        case DELETE_ONE:
            TRY(delta_txn_read_file(t, STR("first"), err));
            TRY(write_remove_path(t, s, "first", err));
            return write_add_files(t, file_of(writer), err);
        case ADD_VECTOR: TRY(add_vector(writer, s, t, err)); return write_add_files(t, file_of(writer), err);
        case REWRITE_ONE:
            TRY(delta_txn_read_file(t, STR("first"), err));
            TRY(write_remove_path(t, s, "first", err));
            return write_add_files(t, file_of(writer), err);
        default: return write_add_files(t, file_of(writer), err);
    }
}

static silt_status run_writer(void *ctx, size_t writer, store *s, silt_error *err) {
    const scenario *sc = ctx;
    const delta_env env = {.store = s, .n_threads = 1};
    int64_t version;
    if (sc->kinds[writer] == CREATE) return run_create(&env, sc, writer, err);
    if (sc->kinds[writer] == OVERWRITE) return write_overwrite(&env, file_of(writer), &version, err);
    delta_snapshot *snapshot;
    delta_txn *t;
    silt_status status = write_begin(&env, &snapshot, &t, err);
    if (status == SILT_OK) status = fill(sc->kinds[writer], writer, snapshot, t, err);
    if (status == SILT_OK) status = write_commit(t, operation_of(sc->kinds[writer], writer), &version, err);
    delta_txn_free(t);
    delta_snapshot_release(snapshot);
    return status;
}

static store *new_world(void *ctx) {
    const scenario *sc = ctx;
    store *s = NULL;
    int64_t version;
    if (store_memory_open(1700000000000, &s, NULL) != SILT_OK) return NULL;
    const delta_env env = {.store = s, .n_threads = 1};
    if (sc->is_created && write_create(&env, &sc->table, NULL) != SILT_OK) return NULL;
    if (sc->first && write_append(&env, sc->first, &version, NULL) != SILT_OK) return NULL;
    return s;
}

static void close_world(void *ctx, store *s) {
    (void)ctx;
    store_close(s);
}

/* ---- what must hold ---- */

#define MUST(condition)                                             \
    do {                                                            \
        if (!(condition)) {                                         \
            fprintf(stderr, "does not hold: %s\n", #condition);     \
            return false;                                           \
        }                                                           \
    } while (0)

static size_t occurrences(const char *text, const char *needle) {
    size_t n = 0;
    for (const char *at = strstr(text, needle); at; at = strstr(at + 1, needle)) n++;
    return n;
}

/* All entries one after another; *out_versions how many, from 0 on without a gap. */
static const char *whole_log(store *s, arena *a, size_t *out_versions) {
    str all = STR("");
    for (*out_versions = 0;; ++*out_versions) {
        char name[32];
        snprintf(name, sizeof name, "%020zu.json", *out_versions);
        const char *text = write_log_text(s, name, a);
        if (!text) return *out_versions ? all.ptr : "";
        all = arena_printf(a, "%.*s%s", STR_ARG(all), text);
    }
}

/* Entries of the whole folder: no version beyond the contiguous ones. */
static bool no_gap(store *s, arena *a, size_t versions) {
    store_list_result found = {0};
    silt_status status = store_list(s, STR("/t/_delta_log"), STR_NULL, false, a, &found, NULL);
    if (status == SILT_NOT_FOUND) return versions == 0;
    size_t commits = 0;
    for (size_t i = 0; i < found.count; i++) commits += str_ends_with(found.items[i].path, STR(".json"));
    return status == SILT_OK && commits == versions;
}

/* How often this writer's work stands in the log. */
static size_t times_committed(const scenario *sc, size_t writer, const char *log) {
    char needle[64];
    const char *operation = operation_of(sc->kinds[writer], writer);
    if (strcmp(operation, "WRITE") != 0) snprintf(needle, sizeof needle, "\"operation\":\"%s\"", operation);
    else snprintf(needle, sizeof needle, "{\"add\":{\"path\":\"%s\"", file_of(writer));
    return occurrences(log, needle);
}

static bool is_documented(const silt_error *e) {
    static const char *const conditions[] = {"DELTA_CONCURRENT_APPEND.WITHOUT_HINT", "DELTA_CONCURRENT_DELETE_READ.WITHOUT_HINT", "DELTA_CONCURRENT_DELETE_DELETE.WITHOUT_HINT",
                                             "DELTA_CONCURRENT_TRANSACTION", "DELTA_METADATA_CHANGED", "DELTA_PROTOCOL_CHANGED", "DELTA_TABLE_ALREADY_EXISTS",
                                             "FILE_NOT_FOUND" /* DELETE_ONE came after the other: nothing is there to delete */};
    for (size_t i = 0; i < ARRAY_LEN(conditions); i++)
        if (strcmp(e->condition, conditions[i]) == 0) return true;
    return false;
}

static bool told_the_truth(const scenario *sc, const schedule_result *r, const char *log) {
    for (size_t i = 0; i < sc->n; i++) {
        size_t times = times_committed(sc, i, log);
        silt_status status = r->writers[i].status;
        MUST(times <= 1);
        if (r->writers[i].crashed || status == SILT_UNKNOWN) {
            MUST(r->n_faults > 0);
            continue;
        }
        MUST((status == SILT_OK) == (times == 1));
        if (status != SILT_OK && r->n_faults == 0) MUST(is_documented(&r->writers[i].error));
        if (r->n_faults == 0 && sc->must_all_commit) MUST(status == SILT_OK);
    }
    return true;
}

/* ---- rows and their ids ---- */

typedef struct id_range {
    str path;
    int64_t first, count;
} id_range;

typedef struct log_facts {
    arena *a;
    id_range *ranges;
    size_t n_ranges, capacity;
    int64_t last_time_ms;
    size_t vector_commits;  /* how many gave `first` another vector */
    int64_t vector_size;    /* of the last of them */
    bool first_is_live;
    const char *broken;     /* what does not hold, or NULL */
} log_facts;

/* A file that comes again (with another vector) has the ids that it had; a new one has ids of its own. */
static void take_ids(log_facts *f, const delta_add *add) {
    if (add->base_row_id < 0) return;
    for (size_t i = 0; i < f->n_ranges; i++) {
        const id_range *r = &f->ranges[i];
        bool overlaps = add->base_row_id < r->first + r->count && r->first < add->base_row_id + 10;
        if (str_eq(r->path, add->path) && add->base_row_id != r->first) f->broken = "a file has other row ids than before";
        if (!str_eq(r->path, add->path) && overlaps) f->broken = "two files share row ids";
    }
    id_range own = {add->path, add->base_row_id, 10};
    (void)!ARENA_PUSH(f->a, f->ranges, f->n_ranges, f->capacity, own);
}

static void take_commit(log_facts *f, const delta_commit *c) {
    if (c->in_commit_timestamp_ms >= 0 && c->in_commit_timestamp_ms <= f->last_time_ms) f->broken = "in-commit timestamps do not rise";
    if (c->in_commit_timestamp_ms >= 0) f->last_time_ms = c->in_commit_timestamp_ms;
    for (size_t i = 0; i < c->n_removes; i++) {
        if (!str_eqz(c->removes[i].path, "first")) continue;
        if (!f->first_is_live) f->broken = "a file is removed that is not there";
        if (c->removes[i].dv.storage && c->removes[i].dv.cardinality != f->vector_size) f->broken = "another vector is removed than the one that is there";
        if (!c->removes[i].dv.storage && f->vector_size > 0) f->broken = "the file is removed without its vector";
        f->first_is_live = false;
    }
    for (size_t i = 0; i < c->n_adds; i++) {
        take_ids(f, &c->adds[i]);
        if (!str_eqz(c->adds[i].path, "first")) continue;
        if (f->first_is_live) f->broken = "a file is added twice";
        f->first_is_live = true;
        f->vector_size = c->adds[i].dv.storage ? c->adds[i].dv.cardinality : 0;
        f->vector_commits += c->adds[i].dv.storage != 0;
    }
}

/* Every commit built on the one before: deletions of one are never undone by another. */
static bool log_holds_together(const delta_env *env, size_t versions, arena *a) {
    log_facts f = {.a = a, .last_time_ms = -1};
    for (size_t v = 0; v < versions; v++) {
        delta_commit c;
        MUST(delta_commit_read(env, ROOT, (int64_t)v, a, &c, NULL) == SILT_OK);
        take_commit(&f, &c);
    }
    if (f.broken) fprintf(stderr, "does not hold: %s\n", f.broken);
    MUST(f.vector_size == 0 || (size_t)f.vector_size == f.vector_commits);
    return f.broken == NULL;
}

/* Without a fault somebody always gets through. */
static bool somebody_commits(const scenario *sc, const schedule_result *r) {
    for (size_t i = 0; i < sc->n; i++)
        if (r->n_faults > 0 || r->writers[i].status == SILT_OK) return true;
    return false;
}

static bool check_run(void *ctx, store *s, const schedule_result *r) {
    const scenario *sc = ctx;
    const delta_env env = {.store = s, .n_threads = 1};
    arena *a = arena_new();
    size_t versions;
    int64_t at;
    const char *live;
    const char *log = whole_log(s, a, &versions);
    bool ok = no_gap(s, a, versions) && told_the_truth(sc, r, log) && somebody_commits(sc, r);
    /* the table opens, with its checksums verified where they were written */
    if (ok && versions > 0) ok = write_live_files(&env, a, &live, &at, NULL) == SILT_OK && at == (int64_t)versions - 1;
    /* every entry is one transaction */
    if (ok) ok = occurrences(log, "\"txnId\"") == versions && occurrences(log, "{\"commitInfo\"") == versions;
    if (ok) ok = log_holds_together(&env, versions, a);
    arena_free(a);
    return ok;
}

/* ---- scenarios ---- */

static bool is_commit_call(void *ctx, const char *call, str path) {
    (void)ctx;
    (void)call;
    return str_ends_with(path, STR(".json"));
}

static void explore(scenario *sc, unsigned faults, bool commits_only) {
    const schedule_options o = {.n_writers = sc->n, .ctx = sc, .begin = new_world, .writer = run_writer, .check = check_run, .end = close_world,
                                .faults = faults, .max_faults = faults ? 1 : 0, .is_point = commits_only ? is_commit_call : NULL};
    schedule_stats stats;
    assert_true(schedule_explore(&o, &stats));
    assert_true(stats.complete);
    print_message("# %zu runs, %zu left out, up to %zu steps\n", stats.runs, stats.left_out, stats.most_steps);
}

static void explore_pair(writer_kind a, writer_kind b, const char *first, bool must_all_commit) {
    scenario sc = {.kinds = {a, b}, .n = 2, .is_created = true, .first = first, .must_all_commit = must_all_commit};
    explore(&sc, 0, false);
    explore(&sc, SCHEDULE_ALL_FAULTS, true);
}

static void append_append(void **state) {
    (void)state;
    explore_pair(APPEND, APPEND, NULL, true);
}
static void overwrite_append(void **state) {
    (void)state;
    explore_pair(OVERWRITE, APPEND, "first", false);
}
static void overwrite_overwrite(void **state) {
    (void)state;
    explore_pair(OVERWRITE, OVERWRITE, "first", false);
}
static void delete_delete(void **state) {
    (void)state;
    explore_pair(DELETE_ONE, DELETE_ONE, "first|other", false);
}
static void metadata_append(void **state) {
    (void)state;
    explore_pair(SET_PROPERTY, APPEND, NULL, false);
}
static void metadata_metadata(void **state) {
    (void)state;
    explore_pair(SET_PROPERTY, SET_PROPERTY, NULL, false);
}
static void tolerated_metadata_append(void **state) {
    (void)state;
    explore_pair(ENABLE_DVS, APPEND, NULL, true);
}
static void same_application(void **state) {
    (void)state;
    explore_pair(IDEMPOTENT, IDEMPOTENT, NULL, false);
}

#define VECTORS "delta.enableDeletionVectors=true"

static void explore_with(writer_kind a, writer_kind b, const char *properties) {
    scenario sc = {.kinds = {a, b}, .n = 2, .table = {.properties = properties}, .is_created = true, .first = "first|other"};
    explore(&sc, 0, false);
    explore(&sc, SCHEDULE_ALL_FAULTS, true);
}

static void vector_vector(void **state) {
    (void)state;
    explore_pair(ADD_VECTOR, APPEND, "first", false); /* the protocol does not matter to the rules */
    explore_with(ADD_VECTOR, ADD_VECTOR, VECTORS);
}
static void vector_rewrite(void **state) {
    (void)state;
    explore_with(ADD_VECTOR, REWRITE_ONE, VECTORS);
    explore_with(ADD_VECTOR, OVERWRITE, VECTORS);
}
static void vectors_keep_row_ids(void **state) {
    (void)state;
    explore_with(ADD_VECTOR, APPEND, VECTORS "|delta.enableRowTracking=true|delta.enableInCommitTimestamps=true");
    explore_with(ADD_VECTOR, ADD_VECTOR, VECTORS "|delta.enableRowTracking=true|delta.enableInCommitTimestamps=true");
    explore_with(REWRITE_ONE, APPEND, "delta.enableRowTracking=true|delta.enableInCommitTimestamps=true");
}

/* Two may lose to one another's winners in turn; a third stands by. */
static void three_change_one_file(void **state) {
    (void)state;
    scenario sc = {.kinds = {ADD_VECTOR, ADD_VECTOR, REWRITE_ONE}, .n = 3, .table = {.properties = VECTORS}, .is_created = true, .first = "first|other"};
    explore(&sc, 0, true);
    scenario mixed = {.kinds = {ADD_VECTOR, APPEND, ENABLE_DVS}, .n = 3, .table = {.properties = "delta.enableRowTracking=true"}, .is_created = true, .first = "first|other"};
    const schedule_options random = {.n_writers = 3, .ctx = &mixed, .begin = new_world, .writer = run_writer, .check = check_run, .end = close_world,
                                     .faults = SCHEDULE_ALL_FAULTS, .max_faults = 2, .random_runs = 300, .seed = 11};
    schedule_stats stats;
    assert_true(schedule_explore(&random, &stats));
}

static void create_create(void **state) {
    (void)state;
    scenario sc = {.kinds = {CREATE, CREATE}, .n = 2};
    explore(&sc, 0, false);
    explore(&sc, SCHEDULE_ALL_FAULTS, true);
}

static void row_ids_of_appends(void **state) {
    (void)state;
    scenario sc = {.kinds = {APPEND, APPEND}, .n = 2, .table = {.properties = "delta.enableRowTracking=true"}, .is_created = true, .must_all_commit = true};
    explore(&sc, SCHEDULE_LOST_REPLY | SCHEDULE_CRASH_AFTER, true);
}

static void timestamps_of_appends(void **state) {
    (void)state;
    scenario sc = {.kinds = {APPEND, APPEND}, .n = 2, .table = {.properties = "delta.enableInCommitTimestamps=true"}, .is_created = true, .must_all_commit = true};
    explore(&sc, SCHEDULE_LOST_REPLY | SCHEDULE_CRASH_AFTER, true);
}

/* One writer, every fault at every call: nothing half-done. */
static void one_writer(void **state) {
    (void)state;
    const writer_kind kinds[] = {APPEND, OVERWRITE, CREATE};
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        scenario sc = {.kinds = {kinds[i]}, .n = 1, .is_created = kinds[i] != CREATE, .first = kinds[i] == CREATE ? NULL : "first", .must_all_commit = true};
        const schedule_options o = {.n_writers = 1, .ctx = &sc, .begin = new_world, .writer = run_writer, .check = check_run, .end = close_world,
                                    .faults = SCHEDULE_ALL_FAULTS, .max_faults = 2};
        schedule_stats stats;
        assert_true(schedule_explore(&o, &stats));
        assert_true(stats.complete);
    }
}

static void three_writers(void **state) {
    (void)state;
    scenario appends = {.kinds = {APPEND, APPEND, APPEND}, .n = 3, .is_created = true, .must_all_commit = true};
    explore(&appends, 0, true);
    scenario mixed = {.kinds = {OVERWRITE, APPEND, SET_PROPERTY}, .n = 3, .is_created = true, .first = "first"};
    explore(&mixed, 0, true);
    const schedule_options random = {.n_writers = 3, .ctx = &mixed, .begin = new_world, .writer = run_writer, .check = check_run, .end = close_world,
                                     .faults = SCHEDULE_ALL_FAULTS, .max_faults = 2, .random_runs = 300, .seed = 7};
    schedule_stats stats;
    assert_true(schedule_explore(&random, &stats));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_writer),
        cmocka_unit_test(append_append),
        cmocka_unit_test(overwrite_append),
        cmocka_unit_test(overwrite_overwrite),
        cmocka_unit_test(delete_delete),
        cmocka_unit_test(metadata_append),
        cmocka_unit_test(metadata_metadata),
        cmocka_unit_test(tolerated_metadata_append),
        cmocka_unit_test(same_application),
        cmocka_unit_test(vector_vector),
        cmocka_unit_test(vector_rewrite),
        cmocka_unit_test(vectors_keep_row_ids),
        cmocka_unit_test(three_change_one_file),
        cmocka_unit_test(create_create),
        cmocka_unit_test(row_ids_of_appends),
        cmocka_unit_test(timestamps_of_appends),
        cmocka_unit_test(three_writers),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
