/**
 * The few calls of DynamoDB that Delta's S3DynamoDBLogStore needs, over its JSON interface. Internal to store/.
 * Source: "Amazon DynamoDB API Reference"; the shape of the table: Delta Lake's documentation, "Multi-cluster setup", and its open source.
 */
#ifndef STORE_DYNAMODB_H
#define STORE_DYNAMODB_H

#include "store/s3/s3.h"

typedef struct dynamodb dynamodb;

/** One commit of one Delta table. Key: table_path (hash), file_name (range). */
typedef struct dynamodb_entry {
    str table_path; /**< "s3a://bucket/path" */
    str file_name;  /**< "00000000000000000007.json" */
    str temp_path;  /**< of the commit's bytes, relative to _delta_log: ".tmp/<file_name>.<uuid>" */
    bool complete;  /**< the bytes are at _delta_log/<file_name>; stored as the text "true" or "false" */
    int64_t expire_s; /**< seconds since the epoch, after which the entry may go; -1: none (an incomplete one) */
} dynamodb_entry;

typedef struct dynamodb_options {
    str table, region;
    str endpoint;             /**< URL without a slash at its end; null: AWS by region */
    int64_t rcu, wcu;         /**< of a table that has to be made */
    s3_credentials *credentials; /**< borrowed */
    http_client *client;      /**< borrowed */
} dynamodb_options;

/** Strings are copied. */
silt_status dynamodb_new(const dynamodb_options *options, dynamodb **out, silt_error *err) MUST_CHECK;
void dynamodb_free(dynamodb *d); /**< NULL is fine */

/** dynamodb_get and dynamodb_put make the table when it is missing, and wait until it is ready. From several threads. Strings of entries are in `a`. */
silt_status dynamodb_get(dynamodb *d, str table_path, str file_name, arena *a, dynamodb_entry *out, silt_error *err) MUST_CHECK; /**< NOT_FOUND: no such entry */
/** That of the greatest file name. NOT_FOUND where there is none, or no table. */
silt_status dynamodb_latest(dynamodb *d, str table_path, arena *a, dynamodb_entry *out, silt_error *err) MUST_CHECK;
/**
 * EXISTS where there is one of that key and `overwrite` does not allow for it. Where an answer was lost the entry is read back: its temp_path, unique to this writer, tells whose it is.
 * UNKNOWN where that fails.
 */
silt_status dynamodb_put(dynamodb *d, const dynamodb_entry *entry, bool overwrite, silt_error *err) MUST_CHECK;

/** One item of an answer, {"tablePath": {"S": …}, …}; false: not such an item. */
struct json_node;
bool dynamodb_entry_parse(const struct json_node *item, arena *a, dynamodb_entry *out);
void dynamodb_entry_write(const dynamodb_entry *entry, buf *out);

#endif
