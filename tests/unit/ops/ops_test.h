/** What the tests of operations share: a table in a fresh folder, statements over it in a few words, and its log read back as JSON. */
#ifndef OPS_TEST_H
#define OPS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"
#include "ops/ops.h"

#define N_SETTINGS 8

typedef struct world {
    char folder[64];
    char root[96]; /**< of the table `t` */
    arena *a;
    engine *engine;
    store *store;
    delta_env delta;
    table_resolver resolver;
    bind_env bind;
    ops_env env;
    const char *keys[N_SETTINGS], *values[N_SETTINGS]; /**< the session's configuration */
    ops_result done;                                   /**< of the last operation */
    silt_error err;
} world;

int world_setup(void **state);
int world_teardown(void **state);

/** CREATE with these columns ("a INT NOT NULL, b STRING"); NULL: from `query`. Lists are comma-separated, properties "k=v;k=v". */
typedef struct create_words {
    const char *columns, *partitioned_by, *cluster_by, *properties, *comment, *query;
    bool or_replace, replace_only, if_not_exists, is_managed, is_path, is_new_name;
} create_words;
silt_status world_create(world *w, create_words words);

typedef struct insert_words {
    const char *query, *columns; /**< the column list, comma-separated */
    bool overwrite, by_name, data_frame, reads_target;
    const char *partition; /**< "p=1,q": constants are SQL texts */
    write_options options;
} insert_words;
silt_status world_insert(world *w, insert_words words);
silt_status world_load(world *w, const char *query, save_mode mode, const char *partitioned_by, write_options options);

/** Rows of a query, "1|a\n2|NULL\n"; `t` is the table. Fails the test when it cannot run. */
const char *world_rows(world *w, const char *query);
/** A fresh snapshot; the caller releases it. */
delta_snapshot *world_snapshot(world *w);
/** Newest version, -1 without a table. */
int64_t world_version(world *w);
/** The commit file of a version as an array of its lines. */
const json_node *world_commit(world *w, int64_t version, size_t *out_count, const json_node ***out_lines);
/** The first action of that name in it, NULL without one. */
const json_node *world_action(world *w, int64_t version, const char *name);
/** How many actions of that name it has. */
size_t world_count(world *w, int64_t version, const char *name);
/** "commitInfo metaData protocol add add": the names of the actions in order. */
const char *world_actions(world *w, int64_t version);
/** operationParameters and operationMetrics of a commit, as text. */
const char *world_parameters(world *w, int64_t version);
/** Metrics with the byte counts left out: "numFiles=1 numOutputRows=3". */
const char *world_metrics(world *w, int64_t version);
/** How many data files lie in the table's folder. */
size_t world_data_files(world *w);
void world_set(world *w, const char *key, const char *text);

/** For store_fault_open: while it is armed, the nth call goes wrong. */
typedef struct injector {
    size_t nth; /**< from 1 */
    store_fault fault;
    atomic_size_t calls; /**< files are made durable by several threads */
    bool armed;
} injector;
store_fault world_inject(void *ctx, const char *call, str path, size_t nth_call);

#define WITH_WORLD(fn)   cmocka_unit_test_setup_teardown(fn, world_setup, world_teardown)
#define RUN_TESTS(tests) (cmocka_set_message_output(CM_OUTPUT_TAP), cmocka_run_group_tests(tests, NULL, NULL))
#define OK(call)                                                                                                        \
    do {                                                                                                                \
        silt_status ok_status_ = (call);                                                                                \
        if (ok_status_ != SILT_OK) print_message("# [%s] %s\n# %s\n", w->err.condition, w->err.message, w->err.detail); \
        assert_int_equal(ok_status_, SILT_OK);                                                                          \
    } while (0)
#define FAILS(condition_, call)                              \
    do {                                                     \
        assert_int_not_equal((call), SILT_OK);               \
        assert_string_equal(w->err.condition, (condition_)); \
    } while (0)

#endif
