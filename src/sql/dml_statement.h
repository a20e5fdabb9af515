/** DELETE, UPDATE and the REPLACE clause of INSERT as parsed. */
#ifndef SQL_DML_STATEMENT_H
#define SQL_DML_STATEMENT_H

#include "ops/dml.h"

typedef enum replace_kind { REPLACE_WHERE, REPLACE_ON, REPLACE_USING } replace_kind;

typedef struct dml_statement {
    expr *condition;          /**< WHERE, REPLACE WHERE, REPLACE ON; NULL: none */
    str condition_text;       /**< as written */
    const update_item *items; /**< SET */
    size_t n_items;
    replace_kind replace;     /**< of an INSERT */
    const str *using_columns;
    size_t n_using_columns;
    str source_alias;         /**< REPLACE ON … (query) AS alias */
} dml_statement;

#endif
