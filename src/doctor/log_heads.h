/**
 * The first lines of the newest commits: commitInfo and metaData stand there, so that the history of operations and schemas
 * costs one short read per version.
 */
#ifndef DOCTOR_LOG_HEADS_H
#define DOCTOR_LOG_HEADS_H

#include "base/json.h"
#include "delta/segment.h"

#define LOG_HEADS_MAX 500 /**< versions looked at, the newest ones */

typedef struct log_head {
    int64_t version;
    int64_t modified_ms;            /**< of the file */
    const json_node *info;          /**< commitInfo, NULL when it has none */
    str operation;                  /**< {NULL,0} when unknown */
    int64_t timestamp_ms;           /**< commitInfo.timestamp, -1 when absent */
    str schema_json;                /**< of the metaData action, {NULL,0} when the commit has none */
    const json_node *configuration; /**< likewise */
} log_head;

typedef struct log_heads {
    log_head *items;
    size_t count;  /**< ascending by version */
    bool is_whole; /**< every commit of the log is among them */
} log_heads;

silt_status log_heads_read(const delta_env *env, const log_listing *log, arena *a, log_heads **out, silt_error *err) MUST_CHECK;

#endif
