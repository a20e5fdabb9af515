/** What changed between two schemas, column by column, and whether those who read by the older one break. */
#ifndef DOCTOR_SCHEMA_DIFF_H
#define DOCTOR_SCHEMA_DIFF_H

#include "table/type.h"

typedef enum schema_change_kind {
    SCHEMA_ADDED,
    SCHEMA_DROPPED,
    SCHEMA_RENAMED,
    SCHEMA_TYPE,
    SCHEMA_NULLABILITY,
    SCHEMA_ORDER,
    SCHEMA_METADATA
} schema_change_kind;
/** "added", "dropped", "renamed", "type", "nullability", "order", "metadata" */
const char *schema_change_name(schema_change_kind k);

typedef struct schema_change {
    schema_change_kind kind;
    str column;        /**< dotted path in the newer schema; of dropped ones in the older */
    str before, after; /**< type, name, "nullable" …; {NULL,0} where there is none */
    bool breaks;       /**< dropped, renamed, or a type that older values do not fit */
} schema_change;

/** Columns pair by their column mapping id where both have one and not `by_name`, else by name (exact first, then without case). In `a`. */
silt_status schema_diff(const data_type *before, const data_type *after, bool by_name, arena *a, schema_change **out,
                        size_t *out_n, silt_error *err) MUST_CHECK;

#endif
