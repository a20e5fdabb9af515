/**
 * Commits on S3 that several clusters may make at once: the protocol of Delta's S3DynamoDBLogStore, by which Spark jobs and Silt can write one table together. Internal to store/.
 */
#ifndef STORE_S3_DYNAMODB_H
#define STORE_S3_DYNAMODB_H

#include "store/s3/s3.h"

/** "…/_delta_log/<20 digits>.json" */
bool dynamodb_is_commit(str path);
/** "…/_delta_log" */
bool dynamodb_is_log(str dir);

/** What a writer through DynamoDB leaves in a table's log. */
typedef struct dynamodb_traces {
    bool any, mark; /**< mark: Silt's own, which stays */
} dynamodb_traces;
/** One request as a rule. */
silt_status dynamodb_look_for_traces(s3_store *s, str log_dir, arena *a, dynamodb_traces *out, silt_error *err) MUST_CHECK;

/**
 * By Delta's keys, each with the prefix io.delta.storage.S3DynamoDBLogStore or spark.io.delta.storage.S3DynamoDBLogStore: ddb.tableName (delta_log), ddb.region (us-east-1), ddb.ttl (a day, in
 * seconds), credentials.provider (the store's own), provisionedThroughput.rcu and .wcu (5). Of Silt: silt.s3.dynamodb.endpoint (or AWS_ENDPOINT_URL_DYNAMODB); silt.s3.dynamodb.scheme, by which
 * the others name the table: the entries' key is its full path (else the scheme used here if the LogStore is set for it, or the one for which it is set, or s3a).
 * The service is asked when it is first needed.
 */
silt_status dynamodb_open(s3_store *s, const store_settings *settings, s3_env env, void *env_ctx, dynamodb_log **out, silt_error *err) MUST_CHECK;
void dynamodb_close(dynamodb_log *d); /**< NULL is fine */

/** Put a commit. EXISTS where its version is taken. OK as soon as the entry is there: from then on every reader and writer completes it. */
silt_status dynamodb_commit(dynamodb_log *d, s3_store *s, str path, str bytes, silt_error *err) MUST_CHECK;
/** Was a table that others wrote without DynamoDB committed to, since this was last asked? */
bool dynamodb_take_first(dynamodb_log *d);
/** List the log, after the newest commit was completed if it was not. */
silt_status dynamodb_list(dynamodb_log *d, s3_store *s, str dir, str start_at, bool recursive, arena *a, store_list_result *out, silt_error *err) MUST_CHECK;

#endif
