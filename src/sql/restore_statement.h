/** RESTORE, CREATE TABLE … CLONE and GENERATE as parsed. Behind statement.restore; the table is statement.table, properties and location stand where CREATE has them. */
#ifndef SQL_RESTORE_STATEMENT_H
#define SQL_RESTORE_STATEMENT_H

#include "sql/statement.h"

typedef struct restore_statement {
    travel_spec travel; /**< RESTORE: to what; exactly one of the two */
    relation *source;   /**< CLONE: with its time travel */
    bool is_deep;       /**< DEEP CLONE */
    str mode;           /**< GENERATE mode FOR TABLE t */
} restore_statement;

#endif
