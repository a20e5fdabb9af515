/*
 * The local catalog: databases, tables and views in one SQLite file of the warehouse folder (local_file.c).
 *
 * `default` is not a row: it always exists and lies where the warehouse is now, also after that folder was moved. Dropping a database or a table here removes
 * names only; files are the session's business.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/time.h"
#include "base/uri.h"
#include "catalog/local_file.h"

#define TABLE_COLUMNS "database, name, provider, location, is_managed, is_view, view_text, comment, created_ms"

typedef struct local_catalog {
    catalog base;
    char *warehouse; /* an absolute path, or a URI: what managed tables lie below */
    char *folder;    /* of the SQLite file, absolute */
    char *path;      /* of the SQLite file */
    char *made;      /* news of a file made where nobody asked for it: beside a remote warehouse, in the working folder; NULL elsewhere */
} local_catalog;

static local_catalog *self(catalog *c) { return (local_catalog *)c; }

static void close_local(catalog *c) {
    free(self(c)->warehouse);
    free(self(c)->folder);
    free(self(c)->path);
    free(self(c)->made);
    free(c);
}

static silt_status begin(catalog *c, catalog_access access, catalog_txn *t, silt_error *err) {
    bool is_new = access == CATALOG_WRITE && self(c)->made && faccessat(AT_FDCWD, self(c)->path, F_OK, 0) != 0;
    TRY(catalog_txn_begin(self(c)->folder, self(c)->path, access, t, err));
    if (is_new) c->news = self(c)->made;
    return SILT_OK;
}

static bool is_default(str lower_name) { return str_eqz(lower_name, "default"); }

/* ---- names ---- */

/** A table's key: both parts in lower case. Its memory is its own, so that calls without an arena can use it. */
typedef struct table_key {
    arena *a;
    str parts[2];
} table_key;

static silt_status key_init(table_key *k, str database, str name, silt_error *err) {
    k->a = arena_new();
    if (!k->a) return error_no_memory(err);
    k->parts[0] = arena_str_lower(k->a, database);
    k->parts[1] = arena_str_lower(k->a, name);
    if (!str_is_null(k->parts[0]) && !str_is_null(k->parts[1])) return SILT_OK;
    arena_free(k->a);
    return error_no_memory(err);
}

/* For messages, which put backticks around it. */
static str key_text(const table_key *k) { return arena_printf(k->a, "%.*s`.`%.*s", STR_ARG(k->parts[0]), STR_ARG(k->parts[1])); }

/* ---- databases ---- */

static silt_status database_exists(catalog_txn *t, str lower_name, bool *out) {
    *out = is_default(lower_name);
    if (*out || !t->db) return SILT_OK;
    return catalog_has_row(t, "SELECT 1 FROM databases WHERE name = ?", &lower_name, 1, out);
}

static silt_status require_database(catalog_txn *t, str lower_name) {
    bool exists;
    TRY(database_exists(t, lower_name, &exists));
    return exists ? SILT_OK : err_SCHEMA_NOT_FOUND(t->err, lower_name);
}

static silt_status database_row(catalog_txn *t, sqlite3_stmt *s, arena *a, catalog_database *out) {
    TRY(catalog_text(t, s, 0, a, &out->name));
    TRY(catalog_text(t, s, 1, a, &out->location));
    return catalog_text(t, s, 2, a, &out->comment);
}

static silt_status default_database(const local_catalog *c, arena *a, catalog_database *out, silt_error *err) {
    *out = (catalog_database){
        .name = STR("default"), .location = arena_str(a, str_of(c->warehouse)), .comment = STR("Default database")};
    return str_is_null(out->location) ? error_no_memory(err) : SILT_OK;
}

static silt_status find_database(local_catalog *c, catalog_txn *t, str lower_name, arena *a, catalog_database *out) {
    if (is_default(lower_name)) return default_database(c, a, out, t->err);
    if (!t->db) return err_SCHEMA_NOT_FOUND(t->err, lower_name);
    sqlite3_stmt *s;
    TRY(catalog_prepare(t, "SELECT name, location, comment FROM databases WHERE name = ?", &lower_name, 1, &s));
    bool row;
    silt_status status = catalog_step(t, s, &row);
    if (status == SILT_OK) status = row ? database_row(t, s, a, out) : err_SCHEMA_NOT_FOUND(t->err, lower_name);
    sqlite3_finalize(s);
    return status;
}

static silt_status get_database(catalog *c, str name, arena *a, catalog_database *out, silt_error *err) {
    str lower = arena_str_lower(a, name);
    if (str_is_null(lower)) return error_no_memory(err);
    catalog_txn t;
    TRY(begin(c, CATALOG_READ, &t, err));
    return catalog_txn_end(&t, find_database(self(c), &t, lower, a, out));
}

static silt_status insert_database(const local_catalog *c, catalog_txn *t, const catalog_database *d, arena *a) {
    str name = arena_str_lower(a, d->name), location = d->location;
    if (str_is_null(name)) return error_no_memory(t->err);
    if (str_is_null(location)) location = arena_printf(a, "%s/%.*s.db", c->warehouse, STR_ARG(name));
    if (str_is_null(location)) return error_no_memory(t->err);
    bool exists;
    TRY(database_exists(t, name, &exists));
    if (exists) return err_SCHEMA_ALREADY_EXISTS(t->err, name);
    str texts[] = {name, location, d->comment};
    return catalog_run(t, "INSERT INTO databases (name, location, comment) VALUES (?, ?, ?)", texts, ARRAY_LEN(texts));
}

static silt_status create_database(catalog *c, const catalog_database *d, silt_error *err) {
    catalog_txn t;
    TRY(begin(c, CATALOG_WRITE, &t, err));
    arena *a = arena_new();
    silt_status status = a ? insert_database(self(c), &t, d, a) : error_no_memory(err);
    arena_free(a);
    return catalog_txn_end(&t, status);
}

static silt_status update_database(catalog_txn *t, str name, const catalog_database *d) {
    TRY(require_database(t, name));
    str texts[] = {d->location, d->comment, name};
    return catalog_run(t, "UPDATE databases SET location = ?, comment = ? WHERE name = ?", texts, ARRAY_LEN(texts));
}

static silt_status replace_database(catalog *c, const catalog_database *d, silt_error *err) {
    table_key k;
    TRY(key_init(&k, d->name, STR(""), err));
    catalog_txn t;
    silt_status status = is_default(k.parts[0]) ? err_UNSUPPORTED_FEATURE(err, "changing the schema `default`") : begin(c, CATALOG_WRITE, &t, err);
    if (status == SILT_OK) status = catalog_txn_end(&t, update_database(&t, k.parts[0], d));
    arena_free(k.a);
    return status;
}

static silt_status remove_database(catalog_txn *t, str name, bool cascade) {
    TRY(require_database(t, name));
    if (cascade) {
        TRY(catalog_run(t, "DELETE FROM tables WHERE database = ?", &name, 1));
    } else {
        bool used;
        TRY(catalog_has_row(t, "SELECT 1 FROM tables WHERE database = ? LIMIT 1", &name, 1, &used));
        if (used) return err_SCHEMA_NOT_EMPTY(t->err, name);
    }
    return catalog_run(t, "DELETE FROM databases WHERE name = ?", &name, 1);
}

static silt_status drop_database(catalog *c, str name, bool cascade, silt_error *err) {
    table_key k;
    TRY(key_init(&k, name, STR(""), err));
    catalog_txn t;
    silt_status status =
        is_default(k.parts[0]) ? err_UNSUPPORTED_FEATURE(err, "dropping the schema `default`") : begin(c, CATALOG_WRITE, &t, err);
    if (status == SILT_OK) status = catalog_txn_end(&t, remove_database(&t, k.parts[0], cascade));
    arena_free(k.a);
    return status;
}

/* One more item at the end of a list of any row type; the sort order is the query's. */
typedef struct database_list {
    catalog_database *items;
    size_t count, capacity;
} database_list;

static silt_status push_database(database_list *list, arena *a, catalog_database d, silt_error *err) {
    return ARENA_PUSH(a, list->items, list->count, list->capacity, d) ? SILT_OK : error_no_memory(err);
}

static silt_status collect_databases(local_catalog *c, catalog_txn *t, arena *a, database_list *list) {
    catalog_database fallback, d;
    bool placed = false, row = t->db != NULL;
    TRY(default_database(c, a, &fallback, t->err));
    sqlite3_stmt *s = NULL;
    if (t->db) TRY(catalog_prepare(t, "SELECT name, location, comment FROM databases ORDER BY name", NULL, 0, &s));
    silt_status status = SILT_OK;
    while (status == SILT_OK && row) {
        status = catalog_step(t, s, &row);
        if (status != SILT_OK || !row) break;
        status = database_row(t, s, a, &d);
        if (status == SILT_OK && !placed && str_cmp(fallback.name, d.name) < 0) {
            placed = true;
            status = push_database(list, a, fallback, t->err);
        }
        if (status == SILT_OK) status = push_database(list, a, d, t->err);
    }
    sqlite3_finalize(s);
    if (status == SILT_OK && !placed) status = push_database(list, a, fallback, t->err);
    return status;
}

static silt_status list_databases(catalog *c, arena *a, catalog_database **out, size_t *out_count, silt_error *err) {
    catalog_txn t;
    TRY(begin(c, CATALOG_READ, &t, err));
    database_list list = {0};
    TRY(catalog_txn_end(&t, collect_databases(self(c), &t, a, &list)));
    *out = list.items;
    *out_count = list.count;
    return SILT_OK;
}

static silt_status managed_location(catalog *c, str database, str name, arena *a, str *out, silt_error *err) {
    catalog_database d;
    TRY(get_database(c, database, a, &d, err));
    str lower = arena_str_lower(a, name);
    if (!str_is_null(lower)) *out = path_join(a, d.location, lower);
    return str_is_null(lower) || str_is_null(*out) ? error_no_memory(err) : SILT_OK;
}

/* ---- tables ---- */

static silt_status table_row(catalog_txn *t, sqlite3_stmt *s, arena *a, catalog_table *out) {
    *out = (catalog_table){.is_managed = sqlite3_column_int(s, 4) != 0,
                           .is_view = sqlite3_column_int(s, 5) != 0,
                           .created_ms = sqlite3_column_int64(s, 8)};
    TRY(catalog_text(t, s, 0, a, &out->database));
    TRY(catalog_text(t, s, 1, a, &out->name));
    TRY(catalog_text(t, s, 2, a, &out->provider));
    TRY(catalog_text(t, s, 3, a, &out->location));
    TRY(catalog_text(t, s, 6, a, &out->view_text));
    return catalog_text(t, s, 7, a, &out->comment);
}

static silt_status find_table(catalog_txn *t, const table_key *k, arena *a, catalog_table *out) {
    if (!t->db) return err_TABLE_OR_VIEW_NOT_FOUND(t->err, key_text(k));
    sqlite3_stmt *s;
    TRY(catalog_prepare(t, "SELECT " TABLE_COLUMNS " FROM tables WHERE database = ? AND name = ?", k->parts, 2, &s));
    bool row;
    silt_status status = catalog_step(t, s, &row);
    if (status == SILT_OK) status = row ? table_row(t, s, a, out) : err_TABLE_OR_VIEW_NOT_FOUND(t->err, key_text(k));
    sqlite3_finalize(s);
    return status;
}

static silt_status get_table(catalog *c, str database, str name, arena *a, catalog_table *out, silt_error *err) {
    table_key k;
    TRY(key_init(&k, database, name, err));
    catalog_txn t;
    silt_status status = begin(c, CATALOG_READ, &t, err);
    if (status == SILT_OK) {
        status = require_database(&t, k.parts[0]);
        if (status == SILT_OK) status = find_table(&t, &k, a, out);
        status = catalog_txn_end(&t, status);
    }
    arena_free(k.a);
    return status;
}

static silt_status table_exists(catalog_txn *t, const table_key *k, bool *out) {
    return catalog_has_row(t, "SELECT 1 FROM tables WHERE database = ? AND name = ?", k->parts, 2, out);
}

static silt_status write_table(catalog_txn *t, const table_key *k, const catalog_table *table, bool replace) {
    bool exists;
    TRY(require_database(t, k->parts[0]));
    TRY(table_exists(t, k, &exists));
    if (exists && !replace) return err_TABLE_OR_VIEW_ALREADY_EXISTS(t->err, key_text(k));
    int64_t created_ms = table->created_ms ? table->created_ms : time_now_ms();
    str created = arena_printf(k->a, "%lld", (long long)created_ms);
    if (str_is_null(created)) return error_no_memory(t->err);
    str texts[] = {k->parts[0],
                   k->parts[1],
                   table->provider,
                   table->location,
                   table->is_managed ? STR("1") : STR("0"),
                   table->is_view ? STR("1") : STR("0"),
                   table->view_text,
                   table->comment,
                   created};
    return catalog_run(t, "INSERT OR REPLACE INTO tables (" TABLE_COLUMNS ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", texts,
                       ARRAY_LEN(texts));
}

static silt_status put_table(catalog *c, const catalog_table *table, bool replace, silt_error *err) {
    table_key k;
    TRY(key_init(&k, table->database, table->name, err));
    catalog_txn t;
    silt_status status = begin(c, CATALOG_WRITE, &t, err);
    if (status == SILT_OK) status = catalog_txn_end(&t, write_table(&t, &k, table, replace));
    arena_free(k.a);
    return status;
}

static silt_status create_table(catalog *c, const catalog_table *table, silt_error *err) {
    return put_table(c, table, false, err);
}

static silt_status replace_table(catalog *c, const catalog_table *table, silt_error *err) {
    return put_table(c, table, true, err);
}

static silt_status remove_table(catalog_txn *t, const table_key *k) {
    bool exists;
    TRY(require_database(t, k->parts[0]));
    TRY(table_exists(t, k, &exists));
    if (!exists) return err_TABLE_OR_VIEW_NOT_FOUND(t->err, key_text(k));
    return catalog_run(t, "DELETE FROM tables WHERE database = ? AND name = ?", k->parts, 2);
}

static silt_status drop_table(catalog *c, str database, str name, silt_error *err) {
    table_key k;
    TRY(key_init(&k, database, name, err));
    catalog_txn t;
    silt_status status = begin(c, CATALOG_WRITE, &t, err);
    if (status == SILT_OK) status = catalog_txn_end(&t, remove_table(&t, &k));
    arena_free(k.a);
    return status;
}

static silt_status move_table(catalog_txn *t, const table_key *from, const table_key *to) {
    bool exists;
    TRY(require_database(t, from->parts[0]));
    TRY(require_database(t, to->parts[0]));
    TRY(table_exists(t, from, &exists));
    if (!exists) return err_TABLE_OR_VIEW_NOT_FOUND(t->err, key_text(from));
    TRY(table_exists(t, to, &exists));
    if (exists) return err_TABLE_OR_VIEW_ALREADY_EXISTS(t->err, key_text(to));
    str texts[] = {to->parts[0], to->parts[1], from->parts[0], from->parts[1]};
    return catalog_run(t, "UPDATE tables SET database = ?, name = ? WHERE database = ? AND name = ?", texts, ARRAY_LEN(texts));
}

static silt_status rename_table(catalog *c, str database, str name, str new_database, str new_name, silt_error *err) {
    table_key from, to;
    TRY(key_init(&from, database, name, err));
    silt_status status = key_init(&to, new_database, new_name, err);
    if (status == SILT_OK) {
        catalog_txn t;
        status = begin(c, CATALOG_WRITE, &t, err);
        if (status == SILT_OK) status = catalog_txn_end(&t, move_table(&t, &from, &to));
        arena_free(to.a);
    }
    arena_free(from.a);
    return status;
}

typedef struct table_list {
    catalog_table *items;
    size_t count, capacity;
} table_list;

static silt_status collect_tables(catalog_txn *t, str database, arena *a, table_list *list) {
    TRY(require_database(t, database));
    if (!t->db) return SILT_OK;
    sqlite3_stmt *s;
    TRY(catalog_prepare(t, "SELECT " TABLE_COLUMNS " FROM tables WHERE database = ? ORDER BY name", &database, 1, &s));
    silt_status status;
    bool row;
    while ((status = catalog_step(t, s, &row)) == SILT_OK && row) {
        catalog_table table;
        status = table_row(t, s, a, &table);
        if (status == SILT_OK && !ARENA_PUSH(a, list->items, list->count, list->capacity, table))
            status = error_no_memory(t->err);
        if (status != SILT_OK) break;
    }
    sqlite3_finalize(s);
    return status;
}

static silt_status list_tables(catalog *c, str database, arena *a, catalog_table **out, size_t *out_count, silt_error *err) {
    str lower = arena_str_lower(a, database);
    if (str_is_null(lower)) return error_no_memory(err);
    catalog_txn t;
    TRY(begin(c, CATALOG_READ, &t, err));
    table_list list = {0};
    TRY(catalog_txn_end(&t, collect_tables(&t, lower, a, &list)));
    *out = list.items;
    *out_count = list.count;
    return SILT_OK;
}

static const catalog_ops local_ops = {
    .name = "local",
    .close = close_local,
    .get_table = get_table,
    .create_table = create_table,
    .replace_table = replace_table,
    .drop_table = drop_table,
    .rename_table = rename_table,
    .list_tables = list_tables,
    .create_database = create_database,
    .replace_database = replace_database,
    .drop_database = drop_database,
    .get_database = get_database,
    .list_databases = list_databases,
    .managed_location = managed_location,
};

static str without_slash(str folder) {
    while (folder.len > 1 && folder.ptr[folder.len - 1] == '/') folder.len--;
    return folder;
}

/* A folder as an absolute path. */
static silt_status local_folder(const char *key, str text, arena *a, str *out, silt_error *err) {
    uri u;
    TRY(uri_parse(text, a, &u, err));
    if (!str_eqz(u.scheme, "file") || u.authority.len > 0) return err_INVALID_PARAMETER_VALUE(err, str_of(key), text, "a folder of the local file system");
    *out = without_slash(u.path);
    return SILT_OK;
}

/* A warehouse in an object store keeps the tables, and the names stay here: SQLite wants a file system with locks. */
static silt_status find_folders(str warehouse, str names, arena *a, str *out_warehouse, str *out_names, silt_error *err) {
    uri u;
    TRY(uri_parse(warehouse, a, &u, err));
    bool remote = !str_eqz(u.scheme, "file");
    if (remote) *out_warehouse = without_slash(warehouse);
    else TRY(local_folder("spark.sql.warehouse.dir", warehouse, a, out_warehouse, err));
    if (names.len == 0 && !remote) *out_names = *out_warehouse;
    else TRY(local_folder("silt.catalog.dir", names.len ? names : STR("spark-warehouse"), a, out_names, err));
    return SILT_OK;
}

silt_status catalog_local_open(str warehouse, str names, catalog **out, silt_error *err) {
    *out = NULL;
    arena *a = arena_new();
    if (!a) return error_no_memory(err);
    str tables, folder;
    local_catalog *c = NULL;
    silt_status status = find_folders(warehouse, names, a, &tables, &folder, err);
    if (status == SILT_OK) {
        c = calloc(1, sizeof *c);
        str path = path_join(a, folder, STR(".silt-catalog.sqlite"));
        if (c && !str_is_null(path)) {
            c->base.ops = &local_ops;
            c->warehouse = strndup(tables.ptr, tables.len);
            c->folder = strndup(folder.ptr, folder.len);
            c->path = strndup(path.ptr, path.len);
            bool is_beside = names.len == 0 && !str_eq(tables, folder);
            str made = is_beside ? arena_printf(a, "the names of this warehouse's tables are kept in %.*s (--conf silt.catalog.dir=FOLDER chooses another folder)", STR_ARG(path)) : STR_NULL;
            if (is_beside && (str_is_null(made) || !(c->made = strndup(made.ptr, made.len)))) status = error_no_memory(err);
        }
        if (!c || !c->warehouse || !c->folder || !c->path) status = error_no_memory(err);
    }
    arena_free(a);
    if (status == SILT_OK)
        *out = &c->base;
    else if (c)
        close_local(&c->base);
    return status;
}
