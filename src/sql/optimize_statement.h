/** OPTIMIZE and REORG TABLE as parsed. Behind statement.optimize; the table is statement.table. */
#ifndef SQL_OPTIMIZE_STATEMENT_H
#define SQL_OPTIMIZE_STATEMENT_H

#include "sql/statement.h"

typedef struct optimize_statement {
    bool full, purge; /**< OPTIMIZE … FULL; REORG … APPLY (PURGE) */
    expr *where;      /**< unbound, NULL for none */
    str where_text;   /**< as written */
    const name_parts *zorder_by;
    size_t n_zorder_by;
} optimize_statement;

#endif
