/** A session over a folder of its own, and what its statements left in the logs of its tables. One world per test (cmocka's setup and teardown). */
#ifndef SUPPORT_SQL_WORLD_H
#define SUPPORT_SQL_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/json.h"
#include "sql/sql.h"

typedef struct sql_world {
    char folder[64]; /**< the warehouse: table t is <folder>/t */
    arena *a;        /**< what the functions below return is in it */
    store_registry *stores;
    store *files;    /**< the local file system */
    session *session;
    silt_error err;
    const char *message, *note; /**< of the last statement */
} sql_world;

int sql_world_setup(void **state);
int sql_world_teardown(void **state);
silt_status sql_world_run(sql_world *w, const char *text);

/* With `w` in scope. */
#define OK(text)                                                                                                                       \
    do {                                                                                                                               \
        if (sql_world_run(w, (text)) != SILT_OK) fail_msg("%s: [%s] %s %s", (text), w->err.condition, w->err.message, w->err.detail);  \
    } while (0)
#define FAILS(condition_, text)                                  \
    do {                                                         \
        assert_int_not_equal(sql_world_run(w, (text)), SILT_OK); \
        assert_string_equal(w->err.condition, (condition_));     \
    } while (0)

/** A commit's lines; null: there is none. */
str sql_world_commit(sql_world *w, const char *table, int64_t version);
/** The newest version. */
int64_t sql_world_latest(sql_world *w, const char *table);
/** Its actions by name, in order: "commitInfo metaData protocol". */
const char *sql_world_actions(sql_world *w, const char *table, int64_t version);
/** Its first action of that name; NULL: it has none. */
const json_node *sql_world_action(sql_world *w, const char *table, int64_t version, const char *name);

#endif
