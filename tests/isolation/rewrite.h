/** Transactions that SQL does not make: the same rows in other files, and the isolation level that no user may set. */
#ifndef ISOLATION_REWRITE_H
#define ISOLATION_REWRITE_H

#include "silt/silt.h"

/** "!rewrite p=1": as OPTIMIZE does, every file of that partition becomes another with the same rows. */
bool rewrite_is_meant(const char *sql);
silt_status rewrite_run(silt_session *by, const char *sql, silt_error *err);
/** delta.isolationLevel of `t`, as Databricks writes it. */
silt_status rewrite_set_level(silt_session *by, const char *level, silt_error *err);

#endif
