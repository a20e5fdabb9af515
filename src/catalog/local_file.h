/** The local catalog's SQLite file: opening, its schema, transactions, failures. Internal to catalog/. */
#ifndef CATALOG_LOCAL_FILE_H
#define CATALOG_LOCAL_FILE_H

#include <sqlite3.h>

#include "catalog/catalog.h"

/**
 * One call's transaction. The file is opened for each call and closed after it: a catalog that was removed, restored or replaced between two statements
 * of a long session is then simply read as it is, and no lock outlives a call.
 */
typedef struct catalog_txn {
    sqlite3 *db;      /**< NULL: there is no catalog file yet, which reads as an empty one */
    const char *path; /**< borrowed */
    silt_error *err;
} catalog_txn;

typedef enum catalog_access { CATALOG_READ, CATALOG_WRITE } catalog_access;

/** Writers wait for each other here (up to a minute). CATALOG_WRITE makes folder and file where they are missing. End with catalog_txn_end. */
silt_status catalog_txn_begin(const char *folder, const char *path, catalog_access access, catalog_txn *out,
                              silt_error *err) MUST_CHECK;
/** Commits where `status` is OK, else rolls back; closes. Returns the status of all that. */
silt_status catalog_txn_end(catalog_txn *t, silt_status status) MUST_CHECK;

/** A prepared statement with its text parameters bound in order; a null text is NULL. */
silt_status catalog_prepare(catalog_txn *t, const char *sql, const str *texts, size_t n_texts, sqlite3_stmt **out) MUST_CHECK;
/** The next row; *out_row false at the end. */
silt_status catalog_step(catalog_txn *t, sqlite3_stmt *statement, bool *out_row) MUST_CHECK;
/** Prepare, run to the end, finalise. */
silt_status catalog_run(catalog_txn *t, const char *sql, const str *texts, size_t n_texts) MUST_CHECK;
/** Whether the query gives a row. */
silt_status catalog_has_row(catalog_txn *t, const char *sql, const str *texts, size_t n_texts, bool *out) MUST_CHECK;
/** Text of a column in the arena, {NULL,0} for NULL. */
silt_status catalog_text(catalog_txn *t, sqlite3_stmt *statement, int column, arena *a, str *out) MUST_CHECK;

#endif
