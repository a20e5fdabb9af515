/** The schema of a Parquet file as Spark infers it, and the way back from a column's path to the file's own columns. */
#ifndef TABLE_PARQUET_SCHEMA_H
#define TABLE_PARQUET_SCHEMA_H

#include "table/parquet_footer.h"
#include "table/type.h"

/** Spark's settings that inference listens to. */
typedef struct parquet_rules {
    bool binary_as_string;   /**< spark.sql.parquet.binaryAsString, false */
    bool int96_as_timestamp; /**< spark.sql.parquet.int96AsTimestamp, true */
    bool infer_ntz;          /**< spark.sql.parquet.inferTimestampNTZ.enabled, true */
} parquet_rules;

/**
 * The struct type of the file's columns: Spark's own schema where its writer left one in the footer, otherwise what the elements mean. Everything is nullable, and of
 * the fields' metadata only comments stay. In `a`, borrowing nothing of the footer.
 * @return UNSUPPORTED (PARQUET_TYPE_ILLEGAL, PARQUET_TYPE_NOT_SUPPORTED, with the column named), NO_MEMORY
 */
silt_status parquet_schema_type(const parquet_footer *f, const parquet_rules *rules, arena *a, const data_type **out,
                                silt_error *err) MUST_CHECK;

/** The child of that name: exactly, else the only one without case; NULL where there is none or several. `parent` NULL: the root. */
const parquet_element *parquet_find_child(const parquet_footer *f, const parquet_element *parent, str name);

#endif
