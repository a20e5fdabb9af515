/** MERGE INTO as parsed. */
#ifndef SQL_MERGE_STATEMENT_H
#define SQL_MERGE_STATEMENT_H

#include "ops/merge.h"

typedef struct merge_statement {
    bool evolve;        /**< WITH SCHEMA EVOLUTION */
    relation *source;   /**< REL_TABLE or REL_SUBQUERY with its alias */
    expr *on;
    merge_clause *clauses;
    size_t n_clauses;
} merge_statement;

#endif
