/** ALTER and COMMENT ON as parsed. */
#ifndef SQL_ALTER_STATEMENT_H
#define SQL_ALTER_STATEMENT_H

#include "ops/alter.h"

typedef enum alter_object { ALTER_OF_TABLE, ALTER_OF_VIEW, ALTER_OF_DATABASE } alter_object;
/** What is done to the catalog's entry rather than to a Delta table. */
typedef enum alter_entry { ENTRY_NONE, ENTRY_RENAME, ENTRY_LOCATION, ENTRY_VIEW_QUERY, ENTRY_COMMENT, ENTRY_PROPERTIES } alter_entry;

typedef struct alter_statement {
    alter_object object;
    alter_entry entry;
    name_parts new_name; /**< RENAME TO */
    alter_spec spec;     /**< entry == ENTRY_NONE; without table and snapshot */
} alter_statement;

#endif
