/** Names → locations. One interface for every catalog kind; the embedded default is the local catalog (one SQLite file in the warehouse folder). */
#ifndef CATALOG_CATALOG_H
#define CATALOG_CATALOG_H

#include "base/base.h"

typedef struct catalog catalog;

typedef struct catalog_table {
    str database, name;
    str provider;      /**< "delta", "parquet", … */
    str location;      /**< URI or path */
    bool is_managed;   /**< DROP removes the files */
    bool is_view; str view_text;
    str comment;
    int64_t created_ms;
} catalog_table;

typedef struct catalog_database { str name, location, comment; } catalog_database;

/** Every slot must exist. Names compare without case; stored in lower case as Spark does. Calls may block; any thread, one at a time per catalog. */
typedef struct catalog_ops {
    const char *name;
    void (*close)(catalog *c);
    silt_status (*get_table)(catalog *c, str database, str name, arena *a, catalog_table *out, silt_error *err);    /**< TABLE_OR_VIEW_NOT_FOUND, SCHEMA_NOT_FOUND */
    silt_status (*create_table)(catalog *c, const catalog_table *t, silt_error *err);                               /**< TABLE_OR_VIEW_ALREADY_EXISTS, SCHEMA_NOT_FOUND */
    silt_status (*replace_table)(catalog *c, const catalog_table *t, silt_error *err);
    silt_status (*drop_table)(catalog *c, str database, str name, silt_error *err);
    silt_status (*rename_table)(catalog *c, str database, str name, str new_database, str new_name, silt_error *err);
    silt_status (*list_tables)(catalog *c, str database, arena *a, catalog_table **out, size_t *out_count, silt_error *err); /**< by name */
    silt_status (*create_database)(catalog *c, const catalog_database *d, silt_error *err);
    silt_status (*replace_database)(catalog *c, const catalog_database *d, silt_error *err);                        /**< location and comment of one that exists */
    silt_status (*drop_database)(catalog *c, str name, bool cascade, silt_error *err);                              /**< SCHEMA_NOT_EMPTY */
    silt_status (*get_database)(catalog *c, str name, arena *a, catalog_database *out, silt_error *err);
    silt_status (*list_databases)(catalog *c, arena *a, catalog_database **out, size_t *out_count, silt_error *err);
    /** Folder a managed table of that name is put in: <warehouse>/<name> for `default`, <database location>/<name> otherwise. */
    silt_status (*managed_location)(catalog *c, str database, str name, arena *a, str *out, silt_error *err);
} catalog_ops;

struct catalog {
    const catalog_ops *ops;
    const char *news; /**< NULL, or what the user should be told once: set by the catalog, set to NULL by who has told it */
};

void catalog_close(catalog *c);
/**
 * The names in <names>/.silt-catalog.sqlite, made when first written to; `default` always exists. Safe for several processes (SQLite's locking, busy time-out, WAL not needed).
 * @param warehouse  what managed tables lie below: a path, or the URI of a folder in any store
 * @param names      a local folder; null: the warehouse itself where it is local, else spark-warehouse in the current folder
 */
silt_status catalog_local_open(str warehouse, str names, catalog **out, silt_error *err) MUST_CHECK;

#endif
