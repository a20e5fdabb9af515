/** Rows that DESCRIBE DETAIL and DESCRIBE HISTORY are made of: one struct builder, columns appended in order. Internal to ops/. */
#ifndef OPS_DESCRIBE_ROWS_H
#define OPS_DESCRIBE_ROWS_H

#include "ops/internal.h"

/** The row being built. A failed append is remembered; ops_describe_finish reports it. */
typedef struct describe_row {
    arrow_builder *rows;
    size_t column;
    bool failed;
} describe_row;

/** Columns as DDL text; the builder is the caller's. */
silt_status ops_describe_begin(const char *columns_ddl, arena *a, const data_type **out_type, arrow_builder **out_rows,
                               silt_error *err) MUST_CHECK;
void ops_describe_null(describe_row *r);
void ops_describe_str(describe_row *r, str s); /**< null → NULL */
void ops_describe_i64(describe_row *r, int64_t v);
void ops_describe_bool(describe_row *r, bool v);
void ops_describe_timestamp_ms(describe_row *r, int64_t ms); /**< < 0 → NULL */
void ops_describe_list(describe_row *r, const str *items, size_t n);
void ops_describe_map(describe_row *r, const str_map *map);
/** Ends the row, the next begins at the first column. */
silt_status ops_describe_finish(describe_row *r, silt_error *err) MUST_CHECK;

#endif
