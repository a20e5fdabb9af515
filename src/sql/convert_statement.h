/** CONVERT TO DELTA and PUBLISH TABLE as parsed. */
#ifndef SQL_CONVERT_STATEMENT_H
#define SQL_CONVERT_STATEMENT_H

#include "sql/statement.h"

typedef struct convert_statement {
    const field *partition; size_t n_partition; bool has_partition; /**< PARTITIONED BY (name type, …) */
    bool no_statistics;
    str directory; /**< PUBLISH TABLE t TO 'directory' */
    bool full;     /**< … FULL */
} convert_statement;

#endif
