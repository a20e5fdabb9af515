/** One query on its way through the engine: its scans, its printed SQL and how its failures are told. */
#ifndef ENGINE_RUN_H
#define ENGINE_RUN_H

#include "engine/scan.h"

typedef struct running_query {
    engine *engine;
    query *query; /* bound; borrowed */
    const bind_env *env;
    arena *arena;
    scan_plan scans;
    buf sql;
} running_query;

/** The struct must not move afterwards. */
silt_status running_query_init(running_query *r, engine *e, query *q, const bind_env *env, silt_error *err) MUST_CHECK;
/** Every statement that uses it must have ended. */
void running_query_dispose(running_query *r);
/** r->sql: the query's DuckDB text, columns c0 … cn. */
silt_status running_query_print(running_query *r, bool for_output, silt_error *err) MUST_CHECK;
/** Output names and Arrow-able types, in r->arena; NULL with err filled. */
const data_type *running_query_type(const running_query *r, silt_error *err);
/** A connection that knows the query's file lists. */
silt_status running_query_connect(running_query *r, engine_connection **out, silt_error *err) MUST_CHECK;
silt_status running_query_stream(running_query *r, const char *sql, engine_stream *out, silt_error *err) MUST_CHECK;
/** The status and error to report for a statement that failed with `status`. */
silt_status running_query_failure(const running_query *r, silt_status status, silt_error *err);

#endif
