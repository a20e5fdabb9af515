/** What the engine's tests share: an open engine in a folder of its own, tables made of given files, and small bound queries over them. */
#ifndef TESTS_ENGINE_SUPPORT_H
#define TESTS_ENGINE_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/engine.h"
#include "expr/functions.h"

typedef struct fixture {
    engine *engine;
    store *store;
    arena *arena;
    char folder[64];
    cancel_token cancel;
} fixture;

extern fixture fix;
int fixture_open(void **state);
int fixture_close(void **state);

void assert_ok(silt_status status, const silt_error *err);
/** Fails unless `status` is the one of `condition`. */
void assert_condition(silt_status status, const silt_error *err, const char *condition);
/** A path in the fixture's folder. */
str in_folder(const char *name);
/** Run DuckDB SQL that gives no rows; "{}" in it is the folder. */
void run_sql(const char *sql);

/* ---- tables of given files ---- */
typedef struct fake_table {
    table_source base;
    scan_file *files;
    size_t n_files;
    int64_t rows;    /* row_count's answer, -1: unknown */
    bool has_bounds; /* column_bounds answers low and high for every column */
    int64_t low, high;
    size_t scans; /* how often ops->scan was called */
} fake_table;

/** A table with these columns ("a INT, b STRUCT<x: DOUBLE>"); files are added with add_file. */
fake_table *make_table(const char *ddl);
scan_file *add_file(fake_table *t, const char *name);
/** A bitmap of the given rows, freed with the fixture. */
const bitmap *deleted_rows(const int64_t *rows, size_t n);

/* ---- queries ---- */
/** relation over the table, all columns unused yet. */
relation *make_relation(fake_table *t);
relation *relation_over(table_source *t);
expr *column_of(relation *r, const char *name);
expr *long_literal(int64_t v);
/** A call of an operator with its result type. */
expr *call_of(const char *name, const data_type *type, expr *a, expr *b);
/** SELECT items FROM r WHERE where (may be NULL). Names are c0, c1, … */
query *make_query(relation *r, expr *const *items, size_t n, expr *where);
/** SELECT * */
query *select_all(relation *r);
extern const bind_env plain_env;

/** Rows of the query as text: values by ",", rows by "\n", in result order; null as "null". In the fixture's arena. */
const char *rows_of(query *q);
silt_status try_rows(query *q, const char **out, silt_error *err);
/** Rows of a DuckDB query, in the same form ("{}" is the folder). */
const char *duck_rows(const char *sql);
/** One array's value as text. */
void write_array_value(buf *out, const struct ArrowArray *array, const data_type *type, int64_t row);

#endif
