/**
 * What the tests of the reading half share: logs written line by line into a memory store, and a Parquet service whose "Parquet"
 * is JSON.
 */
#ifndef READ_SUPPORT_H
#define READ_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "delta/delta.h"

#define LOG_ROOT STR("/t")

/** A log in memory. */
typedef struct log_fixture {
    store *store;
    delta_env env;
    parquet_service parquet;
    arena *arena;
    silt_error err;
} log_fixture;

/** cmocka setup and teardown; the fixture is *state. The store's clock starts at 1000 ms and counts up by 1 per file. */
int log_setup(void **state);
int log_teardown(void **state);

/** Put /t/_delta_log/<name>. In `text`, ' stands for " and ` for \" (a quote inside of a JSON string). */
void log_put(log_fixture *f, const char *name, const char *text);
/** <version>.json */
void log_commit(log_fixture *f, int64_t version, const char *text);
/** A "Parquet" file: its first line is the schema (Delta's JSON of a struct), then one row a line. */
void log_remove(log_fixture *f, const char *name);
const char *log_name(log_fixture *f, int64_t version, const char *suffix);
/** The quotes translated; in the fixture's arena. */
str log_text(log_fixture *f, const char *text);

/** Load, which must succeed. */
delta_snapshot *log_load(log_fixture *f, int64_t version);
/** Load, which must fail with that condition; f->err holds the error. */
void log_load_fails(log_fixture *f, int64_t version, const char *condition);
/** Paths of the live files in order, joined by ','. */
const char *log_files(log_fixture *f, const delta_snapshot *s);
/** Paths of the tombstones, joined by ','. */
const char *log_removes(log_fixture *f, const delta_snapshot *s);
void assert_condition(const silt_error *err, const char *condition);
void assert_text(const char *expected, str got);

#define PROTOCOL_12       "{'protocol':{'minReaderVersion':1,'minWriterVersion':2}}\n"
#define FIELD(name, type) "{`name`:`" name "`,`type`:`" type "`,`nullable`:true,`metadata`:{}}"
#define SCHEMA(fields)    "{`type`:`struct`,`fields`:[" fields "]}"
#define METADATA_OF(schema, partition_by, configuration)                                         \
    "{'metaData':{'id':'m','format':{'provider':'parquet','options':{}},'schemaString':'" schema \
    "','partitionColumns':[" partition_by "],"                                                   \
    "'configuration':{" configuration "},'createdTime':5}}\n"
#define METADATA     METADATA_OF(SCHEMA(FIELD("a", "long")), "", "")
#define ADD(path)    "{'add':{'path':'" path "','partitionValues':{},'size':10,'modificationTime':7,'dataChange':true}}\n"
#define REMOVE(path) "{'remove':{'path':'" path "','deletionTimestamp':9,'dataChange':true}}\n"
#define ADD_STATS(path, stats) \
    "{'add':{'path':'" path "','partitionValues':{},'size':10,'modificationTime':7,'dataChange':true,'stats':'" stats "'}}\n"
#define START PROTOCOL_12 METADATA

#endif
