/** What DELETE, UPDATE, TRUNCATE and REPLACE WHERE share. Internal to ops/. */
#ifndef OPS_DML_COMMON_H
#define OPS_DML_COMMON_H

#include "ops/dml.h"
#include "ops/internal.h"

/** DELTA_CANNOT_MODIFY_APPEND_ONLY, before anything is looked for. */
silt_status ops_check_not_append_only(const op *o, const dml_target *t) MUST_CHECK;
/** A bound condition as commitInfo shows it; {NULL,0} on exhaustion. */
str ops_condition_text(const op *o, const expr *condition);

#endif
