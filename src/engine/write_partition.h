/** Partition values in vectors: comparing rows, taking values out, the sort order that brings equal ones together. */
#ifndef ENGINE_WRITE_PARTITION_H
#define ENGINE_WRITE_PARTITION_H

#include "engine/internal.h"

/** Are rows i and j of the flat vector one partition value? Null, '' and Hive's null marker are one. */
bool partition_rows_equal(duckdb_vector vector, const data_type *type, size_t i, duckdb_vector other, size_t j);
/** The value of one row; its bytes are in `a`. */
silt_status partition_row_value(duckdb_vector vector, const data_type *type, size_t row, arena *a, value *out,
                                silt_error *err) MUST_CHECK;
/** An expression over column `c<column>` that is equal exactly where partition_rows_equal is true. */
void partition_write_sort_key(buf *out, const data_type *type, size_t column);
/** Folder of a file with these values, ending in '/', the write's own folder first; "" for an unpartitioned table without one. */
void partition_write_folder(buf *out, const write_spec *spec, const value *values, arena *a);

#endif
