/** VACUUM and FSCK REPAIR TABLE as parsed. Behind statement.vacuum; the table is statement.table. */
#ifndef SQL_VACUUM_STATEMENT_H
#define SQL_VACUUM_STATEMENT_H

#include "ops/maintain/vacuum.h"
#include "sql/statement.h"

typedef struct vacuum_statement {
    vacuum_kind kind;
    bool has_retention, dry_run;
    double retention_hours;
    query *inventory; /**< USING INVENTORY (query), or of all rows of the table; NULL: none */
} vacuum_statement;

#endif
