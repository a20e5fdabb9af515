/*
 * The SQLite file of the local catalog. SQLite's own locking makes it safe for several processes; a rollback journal is enough, a write is a few rows.
 *
 * A file that SQLite cannot read, or that holds something else, is never repaired or overwritten: CATALOG_DAMAGED names it. The tables themselves do not depend
 * on it.
 */
#include "catalog/local_file.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#define CATALOG_VERSION         1
#define CATALOG_BUSY_TIMEOUT_MS 60000

static const char schema_sql[] =
    "CREATE TABLE silt_catalog (version INTEGER NOT NULL);"
    "INSERT INTO silt_catalog VALUES (1);"
    "CREATE TABLE databases (name TEXT NOT NULL PRIMARY KEY, location TEXT NOT NULL, comment TEXT) WITHOUT ROWID;"
    "CREATE TABLE tables (database TEXT NOT NULL, name TEXT NOT NULL, provider TEXT, location TEXT, is_managed INTEGER NOT NULL,"
    " is_view INTEGER NOT NULL, view_text TEXT, comment TEXT, created_ms INTEGER NOT NULL, PRIMARY KEY (database, name)) WITHOUT "
    "ROWID;";

static silt_status failure(const catalog_txn *t, int code) {
    str path = str_of(t->path);
    silt_error *err = t->err;
    silt_status status;
    switch (code & 0xff) {
        case SQLITE_NOMEM: return error_no_memory(err);
        case SQLITE_FULL: return err_NO_SPACE_LEFT(err, path);
        case SQLITE_READONLY:
        case SQLITE_PERM:
        case SQLITE_AUTH: return err_PERMISSION_DENIED(err, path);
        case SQLITE_CANTOPEN:
            if (t->db && sqlite3_system_errno(t->db) != 0)
                return error_from_errno(err, sqlite3_system_errno(t->db), "open", path);
            return err_IO_ERROR(err, "Open", path);
        case SQLITE_BUSY:
            status = err_IO_ERROR(err, "Lock", path);
            error_detail(err, "another process held the catalog for %d seconds", CATALOG_BUSY_TIMEOUT_MS / 1000);
            return status;
        case SQLITE_IOERR:
            status = err_IO_ERROR(err, "Access", path);
            error_detail(err, "%s", t->db ? sqlite3_errmsg(t->db) : sqlite3_errstr(code));
            return status;
        default: /* NOTADB, CORRUPT, and any complaint about statements that never change: the file's structure is not ours */
            return err_CATALOG_DAMAGED(err, path, t->db ? sqlite3_errmsg(t->db) : sqlite3_errstr(code));
    }
}

silt_status catalog_prepare(catalog_txn *t, const char *sql, const str *texts, size_t n_texts, sqlite3_stmt **out) {
    *out = NULL;
    int code = sqlite3_prepare_v2(t->db, sql, -1, out, NULL);
    for (size_t i = 0; i < n_texts && code == SQLITE_OK; i++) {
        int at = (int)i + 1;
        code = str_is_null(texts[i]) ? sqlite3_bind_null(*out, at)
                                     : sqlite3_bind_text64(*out, at, texts[i].ptr, texts[i].len, SQLITE_TRANSIENT, SQLITE_UTF8);
    }
    if (code == SQLITE_OK) return SILT_OK;
    silt_status status = failure(t, code);
    sqlite3_finalize(*out);
    *out = NULL;
    return status;
}

silt_status catalog_step(catalog_txn *t, sqlite3_stmt *statement, bool *out_row) {
    int code = sqlite3_step(statement);
    *out_row = code == SQLITE_ROW;
    return code == SQLITE_ROW || code == SQLITE_DONE ? SILT_OK : failure(t, code);
}

silt_status catalog_has_row(catalog_txn *t, const char *sql, const str *texts, size_t n_texts, bool *out) {
    sqlite3_stmt *statement;
    TRY(catalog_prepare(t, sql, texts, n_texts, &statement));
    silt_status status = catalog_step(t, statement, out);
    sqlite3_finalize(statement);
    return status;
}

silt_status catalog_run(catalog_txn *t, const char *sql, const str *texts, size_t n_texts) {
    bool row;
    return catalog_has_row(t, sql, texts, n_texts, &row);
}

silt_status catalog_text(catalog_txn *t, sqlite3_stmt *statement, int column, arena *a, str *out) {
    *out = STR_NULL;
    if (sqlite3_column_type(statement, column) == SQLITE_NULL) return SILT_OK;
    const char *text = (const char *)sqlite3_column_text(statement, column);
    if (text) *out = arena_str(a, (str){text, (size_t)sqlite3_column_bytes(statement, column)});
    return str_is_null(*out) ? error_no_memory(t->err) : SILT_OK;
}

static silt_status execute(catalog_txn *t, const char *sql) {
    int code = sqlite3_exec(t->db, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? SILT_OK : failure(t, code);
}

/* mkdir -p of an absolute path. */
static silt_status make_folder(const char *folder, silt_error *err) {
    char *path = strdup(folder);
    if (!path) return error_no_memory(err);
    silt_status status = SILT_OK;
    for (char *at = path + 1; status == SILT_OK; at++) {
        if (*at != '/' && *at != '\0') continue;
        bool last = *at == '\0';
        *at = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST) status = error_from_errno(err, errno, "mkdir", str_of(path));
        if (last) break;
        *at = '/';
    }
    free(path);
    return status;
}

/* The file's own version row; makes the tables of a new file. *out_empty: nothing is in it yet (read access). */
static silt_status check_schema(catalog_txn *t, catalog_access access, bool *out_empty) {
    bool ours, any;
    *out_empty = false;
    TRY(catalog_has_row(t, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'silt_catalog'", NULL, 0, &ours));
    if (!ours) {
        TRY(catalog_has_row(t, "SELECT 1 FROM sqlite_master", NULL, 0, &any));
        if (any) return err_CATALOG_DAMAGED(t->err, str_of(t->path), "it is an SQLite file of another program");
        if (access == CATALOG_WRITE) return execute(t, schema_sql);
        *out_empty = true;
        return SILT_OK;
    }
    sqlite3_stmt *statement;
    TRY(catalog_prepare(t, "SELECT version FROM silt_catalog", NULL, 0, &statement));
    silt_status status = catalog_step(t, statement, &any);
    int version = any ? sqlite3_column_int(statement, 0) : 0;
    sqlite3_finalize(statement);
    TRY(status);
    if (version > CATALOG_VERSION) return err_CATALOG_DAMAGED(t->err, str_of(t->path), "a newer release of Silt wrote it");
    if (version < CATALOG_VERSION) return err_CATALOG_DAMAGED(t->err, str_of(t->path), "its version row is missing");
    return SILT_OK;
}

static silt_status open_file(catalog_txn *t, catalog_access access) {
    int flags = SQLITE_OPEN_READWRITE | (access == CATALOG_WRITE ? SQLITE_OPEN_CREATE : 0);
    int code = sqlite3_open_v2(t->path, &t->db, flags, NULL);
    if (code == SQLITE_OK) {
        sqlite3_extended_result_codes(t->db, 1);
        code = sqlite3_busy_timeout(t->db, CATALOG_BUSY_TIMEOUT_MS);
    }
    return code == SQLITE_OK ? SILT_OK : failure(t, code);
}

silt_status catalog_txn_begin(const char *folder, const char *path, catalog_access access, catalog_txn *out, silt_error *err) {
    *out = (catalog_txn){.path = path, .err = err};
    if (access == CATALOG_WRITE) {
        TRY(make_folder(folder, err));
    } else {
        struct stat st;
        if (stat(path, &st) != 0) {
            if (errno == ENOENT || errno == ENOTDIR) return SILT_OK;
            return error_from_errno(err, errno, "stat", str_of(path));
        }
    }
    bool empty = false;
    silt_status status = open_file(out, access);
    if (status == SILT_OK) status = execute(out, access == CATALOG_WRITE ? "BEGIN IMMEDIATE" : "BEGIN");
    if (status == SILT_OK) status = check_schema(out, access, &empty);
    if (status != SILT_OK || empty) {
        sqlite3_close(out->db);
        out->db = NULL;
    }
    return status;
}

silt_status catalog_txn_end(catalog_txn *t, silt_status status) {
    if (!t->db) return status;
    if (status == SILT_OK) status = execute(t, "COMMIT");
    if (!sqlite3_get_autocommit(t->db))
        (void)sqlite3_exec(t->db, "ROLLBACK", NULL, NULL, NULL); /* best effort: closing rolls back too */
    sqlite3_close(t->db);
    t->db = NULL;
    return status;
}
