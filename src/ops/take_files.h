/**
 * A load that takes Parquet files as they are: their bytes are copied or uploaded under a new name instead of being decoded and encoded again, wherever that gives the table the same rows, and files
 * that every reader of the table understands. Internal to ops/.
 *
 * Otherwise, and wherever it is not certain, the rows are written as before; that way also decides about errors. Taken is a file when all of this holds:
 *
 *   the session     silt.load.rewrite is not true, and no other codec than the file's is asked for
 *   the table       no partition columns, column mapping, Iceberg compatibility, CHECK constraints or random prefixes; no column has metadata other than a comment (defaults, generated and
 *                   identity columns, invariants, CHAR and VARCHAR, collations, changed types are metadata)
 *   the columns     the file's are columns of the load, named exactly as the table's, in any order; one that the file lacks may be null; a NOT NULL column has no null by the footer's counts. Structs have
 *                   the table's fields in the table's order, lists and maps the standard three levels, all of them nullable in the table
 *   their types     stored in the one form that Spark, delta-rs and DuckDB all read as the table's type: see take_rules.c. No INT96, no times but microseconds, no unsigned integers, UUID, JSON, ENUM, VARIANT
 *   their bounds    FLOAT and DOUBLE have none in the footer, unless parquet-mr or DuckDB wrote it: others leave NaN out of them, and Spark would not find it
 *   the file        written by Spark, Hive or Trino (parquet-mr), Arrow, arrow-rs, delta-rs or DuckDB, not in the old calendar, not encrypted; Snappy, gzip, Zstandard or no compression, plain, run-length and dictionary
 *                   encodings alone; some rows; neither much larger than the table's files nor one of many small ones; row groups that are neither huge nor tiny
 *   its bytes       size, time and tag are after the copy what they were when it was listed, or the load fails (LOAD_FILE_CHANGED). The copy's footer meets the rules too, and its pages are whole as far as
 *                   table/parquet_pages.h tells; a page whose checksum is wrong fails the load (LOAD_FILE_DAMAGED). What only decoding could find out (bytes changed inside a page without a checksum, strings that are no UTF-8) stays unknown until a query reads it
 *
 * Statistics are those that CONVERT would give the file (maintain/convert_stats.h): bounds from the footer where its writer is known to be exact, else from the data, those columns alone.
 */
#ifndef OPS_TAKE_FILES_H
#define OPS_TAKE_FILES_H

#include "ops/internal.h"
#include "table/parquet_pages.h"

/**
 * ops_write_rows for a load: takes options->files as they are, or writes `rows`. out->files_taken says how many were taken; out->why_rewritten why none, where there were files to take.
 * Discard with engine_write_discard when the commit fails.
 */
silt_status ops_load_rows(const op *o, const write_target *t, const write_spec *spec, const write_options *options, query *rows, write_result *written, ops_result *out) MUST_CHECK;

/* ---- take_rules.c ---- */
typedef struct take_rules {
    const op *o;
    const write_target *table;
    const write_spec *spec;
    const data_type *source; /**< the load's columns */
} take_rules;

/** May the table take any file, and these in number and size? *out_why: why not, in o->a; null: yes. */
silt_status take_rules_table(const take_rules *r, const table_source *source, const table_scan *files, str *out_why) MUST_CHECK;
/** May it take the file of that footer? */
silt_status take_rules_file(const take_rules *r, const parquet_footer *f, str *out_why) MUST_CHECK;
/** What its pages must be, by leaf; in o->a, NULL on exhaustion. */
const parquet_pages_rules *take_rules_pages(const take_rules *r, const parquet_footer *f);

#endif
