/** What the tests of the binder and printers share: a resolver over declared tables, and one call from text to bound query. */
#ifndef TEST_EXPR_SUPPORT_H
#define TEST_EXPR_SUPPORT_H

#include "expr/expr.h"

/** Tables: t (id INT, name STRING, amount DECIMAL(10,2), price DOUBLE, day DATE, at TIMESTAMP, flag BOOLEAN, s STRUCT<a: INT, b: STRING>, m MAP<STRING, INT>, xs ARRAY<INT>,
 * code CHAR(4)); u (id INT, big BIGINT, name STRING); `odd name` (`select` INT, `a.b` INT). All columns are nullable but id. */
table_resolver *test_resolver(void);
/** Session UTC, ANSI, 2020-06-15 12:00:00. */
bind_env test_env(str text);
silt_status test_bind(const char *sql, arena *a, query **out, silt_error *err);
/** "int, decimal(3,1)": the types of the query's columns, or "ERROR <condition>". */
str test_types(const char *sql, arena *a);
/** Prints the scan of a table as (SCAN name c0 c3). */
scan_printer *test_scans(void);

#endif
