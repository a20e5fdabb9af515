/** What the tests of the writing half share: small tables in any store, one-file commits, and the names of the live files. */
#ifndef WRITE_SUPPORT_H
#define WRITE_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "delta/transaction.h"

#define ROOT STR("/t")
#define PLAIN_SCHEMA                                                                                     \
    "{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}}," \
    "{\"name\":\"p\",\"type\":\"integer\",\"nullable\":true,\"metadata\":{}}]}"

typedef struct table_spec {
    const char *schema;       /**< NULL: PLAIN_SCHEMA */
    const char *partition_by; /**< one column, or NULL */
    const char *properties;   /**< "key=value|key=value", or NULL */
} table_spec;

/* None of these asserts: they also run in the threads of a scheduled test. */

/** Commit version 0 of a new table. */
silt_status write_create(const delta_env *env, const table_spec *spec, silt_error *err) MUST_CHECK;
/** Protocol and metadata of such a table, for other transactions. */
silt_status write_definition(const table_spec *spec, arena *a, delta_protocol *p, delta_metadata *m, silt_error *err) MUST_CHECK;

/** A file of `rows` rows and 100 bytes, with p = partition where that is not NULL ("" = null). */
delta_add write_file(const char *path, const char *partition, int rows, arena *a);
/** Load the newest snapshot and append the files of the list "path[@partition]|…" (10 rows each). */
silt_status write_append(const delta_env *env, const char *files, int64_t *out_version, silt_error *err) MUST_CHECK;
silt_status write_overwrite(const delta_env *env, const char *files, int64_t *out_version, silt_error *err) MUST_CHECK;

/** Begin over the newest snapshot (or none: a new table); *out_snapshot is the caller's too. */
silt_status write_begin(const delta_env *env, delta_snapshot **out_snapshot, delta_txn **out, silt_error *err) MUST_CHECK;
silt_status write_add_files(delta_txn *t, const char *files, silt_error *err) MUST_CHECK;
/** Remove the live file of that path. */
silt_status write_remove_path(delta_txn *t, const delta_snapshot *s, const char *path, silt_error *err) MUST_CHECK;
silt_status write_commit(delta_txn *t, const char *operation, int64_t *out_version, silt_error *err) MUST_CHECK;
/** New metadata with one more property. */
silt_status write_set_property(delta_txn *t, const delta_snapshot *s, const char *key, const char *text, silt_error *err) MUST_CHECK;

/** The live files, sorted, joined by ','; in `a`. */
silt_status write_live_files(const delta_env *env, arena *a, const char **out, int64_t *out_version, silt_error *err) MUST_CHECK;
/** Text of one log file, or NULL. */
const char *write_log_text(store *s, const char *name, arena *a);

/** Asserting forms for tests in the test's own thread. */
void assert_created(const delta_env *env, const table_spec *spec);
int64_t assert_appended(const delta_env *env, const char *files);
void assert_live(const delta_env *env, int64_t version, const char *expected);
void assert_ok(silt_status status, const silt_error *err);

#endif
