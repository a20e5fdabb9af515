/* Writers that start from an older version: what the read declarations of each kind of write let through (notes on Delta's conflict rules, conflict_matrix.txt). */
#include "ops_test.h"

#define ROWS(query, text) assert_string_equal(world_rows(w, (query)), (text))

static const write_options dynamic = {.dynamic_known = true, .dynamic_overwrite = true};

/** A write planned over the snapshot `s`, which may be older than the table is now. */
typedef struct stale_write {
    const char *query;
    bool overwrite, reads_target;
    int static_p; /**< PARTITION (p = n) where >= 0 */
    write_options options;
} stale_write;

static silt_status write_from(world *w, const delta_snapshot *s, stale_write words) {
    str name = STR("p");
    expr *constant = expr_literal_i64(w->a, words.static_p);
    insert_spec spec = {.table_name = STR("t"),
                        .root = str_of(w->root),
                        .snapshot = s,
                        .overwrite = words.overwrite,
                        .reads_target = words.reads_target,
                        .options = words.options};
    OK(expr_bind(constant, NULL, &w->bind, w->a, &constant, &w->err));
    if (words.static_p >= 0) {
        spec.partition_names = &name;
        spec.partition_values = &constant;
        spec.n_partition = 1;
    }
    w->bind.source_text = str_of(words.query);
    OK(query_parse(str_of(words.query), w->a, &spec.source, &w->err));
    OK(query_bind(spec.source, &w->bind, w->a, &w->err));
    return ops_insert(&w->env, &spec, &w->done, &w->err);
}

static delta_snapshot *partitioned_table(world *w) {
    OK(world_create(w,
                    (create_words){.query = "SELECT * FROM VALUES (1, 1), (2, 2), (3, 3) AS v(id, p)", .partitioned_by = "p"}));
    return world_snapshot(w);
}

static void appends_never_disturb_each_other(void **state) {
    world *w = *state;
    delta_snapshot *s = partitioned_table(w);
    OK(write_from(w, s, (stale_write){.query = "VALUES (10, 1)", .static_p = -1}));
    OK(write_from(w, s, (stale_write){.query = "VALUES (11, 1)", .static_p = -1}));
    assert_int_equal(w->done.version, 2);
    assert_int_equal(json_get_i64(world_action(w, 2, "commitInfo"), "readVersion", -1), 0);
    OK(write_from(w, s, (stale_write){.query = "SELECT 12", .overwrite = true, .static_p = 2})); /* another partition */
    OK(write_from(w, s, (stale_write){.query = "VALUES (13, 9)", .static_p = -1})); /* after an overwrite: its rows stay */
    delta_snapshot_release(s);
}

static void a_whole_overwrite_conflicts_with_any_append(void **state) {
    world *w = *state;
    delta_snapshot *s = partitioned_table(w);
    OK(write_from(w, s, (stale_write){.query = "VALUES (10, 1)", .static_p = -1}));
    size_t files = world_data_files(w);
    FAILS("DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT",
          write_from(w, s, (stale_write){.query = "VALUES (11, 5)", .overwrite = true, .static_p = -1}));
    assert_int_equal(world_data_files(w), files); /* what was written is gone */
    ROWS("SELECT count(*) FROM t", "4\n");
    delta_snapshot_release(s);
}

static void partition_overwrites_conflict_in_their_partition_only(void **state) {
    world *w = *state;
    delta_snapshot *s = partitioned_table(w);
    OK(write_from(w, s, (stale_write){.query = "VALUES (10, 1)", .static_p = -1}));
    OK(write_from(w, s, (stale_write){.query = "SELECT 20", .overwrite = true, .static_p = 2}));
    FAILS("DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT", write_from(w, s, (stale_write){.query = "SELECT 11", .overwrite = true, .static_p = 1}));
    OK(write_from(w, s, (stale_write){.query = "VALUES (30, 3)", .overwrite = true, .static_p = -1, .options = dynamic}));
    FAILS("DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT",
          write_from(w, s, (stale_write){.query = "VALUES (12, 1)", .overwrite = true, .static_p = -1, .options = dynamic}));
    ROWS("SELECT id, p FROM t ORDER BY id", "1|1\n10|1\n20|2\n30|3\n");
    delta_snapshot_release(s);
}

static void a_write_that_reads_its_table_conflicts_with_an_append(void **state) {
    world *w = *state;
    delta_snapshot *s = partitioned_table(w);
    OK(write_from(w, s, (stale_write){.query = "VALUES (10, 1)", .static_p = -1}));
    FAILS("DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT",
          write_from(w, s, (stale_write){.query = "SELECT id, p FROM t", .reads_target = true, .static_p = -1}));
    delta_snapshot_release(s);
}

static void a_changed_schema_stops_writers_that_did_not_see_it(void **state) {
    world *w = *state;
    delta_snapshot *s = partitioned_table(w);
    OK(world_insert(
        w, (insert_words){.query = "SELECT 1 AS id, 1 AS p, 'x' AS fresh", .by_name = true, .options = {.merge_schema = true}}));
    FAILS("DELTA_METADATA_CHANGED", write_from(w, s, (stale_write){.query = "VALUES (10, 1)", .static_p = -1}));
    delta_snapshot_release(s);
}

static void one_application_writes_a_number_once(void **state) {
    world *w = *state;
    delta_snapshot *s = partitioned_table(w);
    const write_options txn = {.has_txn = true, .txn_app_id = STR("app"), .txn_version = 1};
    OK(write_from(w, s, (stale_write){.query = "VALUES (10, 1)", .static_p = -1, .options = txn}));
    FAILS("DELTA_CONCURRENT_TRANSACTION",
          write_from(w, s, (stale_write){.query = "VALUES (10, 1)", .static_p = -1, .options = txn}));
    ROWS("SELECT count(*) FROM t", "4\n");
    delta_snapshot_release(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_WORLD(appends_never_disturb_each_other),
        WITH_WORLD(a_whole_overwrite_conflicts_with_any_append),
        WITH_WORLD(partition_overwrites_conflict_in_their_partition_only),
        WITH_WORLD(a_write_that_reads_its_table_conflicts_with_an_append),
        WITH_WORLD(a_changed_schema_stops_writers_that_did_not_see_it),
        WITH_WORLD(one_application_writes_a_number_once),
    };
    return RUN_TESTS(tests);
}
