/*
 * ALTER TABLE | VIEW | DATABASE and COMMENT ON: what concerns a Delta table's log goes to ops, what concerns the catalog's entry is done here. A managed table that is renamed
 * takes its folder along, so that its old name is free again: the folder moves first, then the new entry is made, then the old one goes. A crash between the steps leaves
 * something that running the statement again, or DROP TABLE of the old name, puts right. Where a store cannot move a folder, the table keeps its name.
 */
#include "base/time.h"
#include "sql/alter_statement.h"
#include "sql/run.h"

static silt_status need_table(run *r, const char *what, resolved_table *t, silt_error *err) {
    TRY(resolve_table(r, r->st->table, false, t, err));
    return need_delta(t, what, err);
}

/* ---- the log ---- */

static const char *statement_name(alter_kind kind) {
    static const char *const names[] = {
        [ALTER_ADD_COLUMNS] = "ALTER TABLE ... ADD COLUMNS", [ALTER_REPLACE_COLUMNS] = "ALTER TABLE ... REPLACE COLUMNS", [ALTER_RENAME_COLUMN] = "ALTER TABLE ... RENAME COLUMN",
        [ALTER_DROP_COLUMNS] = "ALTER TABLE ... DROP COLUMNS", [ALTER_CHANGE_COLUMNS] = "ALTER TABLE ... ALTER COLUMN", [ALTER_SET_PROPERTIES] = "ALTER TABLE ... SET TBLPROPERTIES",
        [ALTER_UNSET_PROPERTIES] = "ALTER TABLE ... UNSET TBLPROPERTIES", [ALTER_COMMENT] = "COMMENT ON TABLE", [ALTER_ADD_CONSTRAINT] = "ALTER TABLE ... ADD CONSTRAINT",
        [ALTER_DROP_CONSTRAINT] = "ALTER TABLE ... DROP CONSTRAINT", [ALTER_CLUSTER_BY] = "ALTER TABLE ... CLUSTER BY", [ALTER_DROP_FEATURE] = "ALTER TABLE ... DROP FEATURE",
        [ALTER_SYNC_IDENTITY] = "ALTER TABLE ... SYNC IDENTITY"};
    return names[kind];
}

/* The catalog's copy of the comment follows the log's. */
static silt_status keep_entry_comment(run *r, const resolved_table *t, const alter_spec *spec, silt_error *err) {
    str comment = spec->comment;
    bool changed = spec->kind == ALTER_COMMENT;
    for (size_t i = 0; spec->kind == ALTER_SET_PROPERTIES && i < spec->properties.count; i++)
        if (str_eq_ascii_fold(spec->properties.keys[i], STR("comment"))) comment = spec->properties.values[i], changed = true;
    if (!changed || !t->in_catalog) return SILT_OK;
    catalog_table entry = t->entry;
    entry.comment = comment;
    return r->s->catalog->ops->replace_table(r->s->catalog, &entry, err);
}

static silt_status alter_log(run *r, silt_error *err) {
    alter_spec spec = r->st->alter->spec;
    resolved_table t;
    delta_snapshot *snapshot;
    TRY(run_bind(r, err));
    TRY(open_delta(r, r->st->table, statement_name(spec.kind), &t, &snapshot, err));
    spec.table_name = t.display;
    spec.root = delta_snapshot_root(snapshot);
    spec.snapshot = snapshot;
    ops_env env = run_ops_env(r, delta_snapshot_env(snapshot));
    ops_result done = {.version = -1};
    TRY(ops_alter(&env, &spec, &done, err));
    TRY(keep_entry_comment(r, &t, &spec, err));
    r->result->message = done.version < 0 ? arena_printf(r->a, "nothing to change") : arena_printf(r->a, "version %lld", (long long)done.version);
    return run_add_note(r, &done, err);
}

/* ---- entries of tables and views ---- */

static silt_status view_entry(run *r, const char *what, catalog_table *out, silt_error *err) {
    str database, name;
    TRY(split_name(r, r->st->table->name, &database, &name, err));
    TRY(r->s->catalog->ops->get_table(r->s->catalog, database, name, r->a, out, err));
    return out->is_view ? SILT_OK : err_EXPECT_VIEW_NOT_TABLE(err, what, name);
}

static silt_status new_names(run *r, const catalog_table *from, str *database, str *name, silt_error *err) {
    TRY(split_name(r, r->st->alter->new_name, database, name, err));
    if (r->st->alter->new_name.count == 1) *database = from->database;
    if (!str_eq_fold(*database, from->database)) return err_UNSUPPORTED_FEATURE(err, "RENAME TO another database");
    catalog_table taken;
    silt_error miss = {0};
    silt_status found = r->s->catalog->ops->get_table(r->s->catalog, *database, *name, r->a, &taken, &miss);
    if (found == SILT_OK) return err_TABLE_OR_VIEW_ALREADY_EXISTS(err, *name);
    if (found != SILT_NOT_FOUND && err) *err = miss;
    return found == SILT_NOT_FOUND ? SILT_OK : found;
}

/* The folder of a managed table that lies where its name says goes where its new name says. A table that was put elsewhere stays there. */
static silt_status move_managed(run *r, const resolved_table *t, str database, str name, catalog_table *entry, silt_error *err) {
    catalog *c = r->s->catalog;
    str old_place, new_place, old_root, new_root;
    store *st, *unused;
    if (!entry->is_managed) return SILT_OK;
    TRY(c->ops->managed_location(c, entry->database, entry->name, r->a, &old_place, err));
    TRY(resolve_location(r->s, old_place, r->a, &st, &old_root, err));
    if (st != t->store || !str_eq(old_root, t->root)) return SILT_OK;
    if (!store_can_move(st)) return err_RENAME_IN_OBJECT_STORE(err, entry->name, old_place); /* left in place, it would be written over by the next table of the old name, or dropped with it */
    TRY(c->ops->managed_location(c, database, name, r->a, &new_place, err));
    TRY(resolve_location(r->s, new_place, r->a, &unused, &new_root, err));
    store_entry there;
    bool moved_already = store_stat(st, old_root, r->a, &there, NULL) == SILT_NOT_FOUND && store_stat(st, new_root, r->a, &there, NULL) == SILT_OK;
    if (!moved_already) TRY(store_move_dir(st, old_root, new_root, err));
    entry->location = new_place;
    return SILT_OK;
}

static silt_status rename_table(run *r, silt_error *err) {
    catalog *c = r->s->catalog;
    resolved_table t;
    str database, name;
    TRY(need_table(r, "ALTER TABLE ... RENAME TO", &t, err));
    if (!t.in_catalog) return err_UNSUPPORTED_FEATURE(err, "RENAME TO of a table by path");
    TRY(new_names(r, &t.entry, &database, &name, err));
    catalog_table entry = t.entry;
    TRY(move_managed(r, &t, database, name, &entry, err));
    if (!str_eq(entry.location, t.entry.location)) TRY(c->ops->replace_table(c, &entry, err));
    TRY(c->ops->rename_table(c, entry.database, entry.name, database, name, err));
    r->result->message = arena_printf(r->a, "renamed to %.*s%s", STR_ARG(name), str_eq(entry.location, t.entry.location) ? "; its files stay where they are" : "");
    return SILT_OK;
}

static temp_view *temporary(const run *r, name_parts name) {
    for (size_t i = 0; name.count == 1 && i < r->s->n_views; i++)
        if (str_eq_fold(r->s->views[i].name, name.parts[0])) return &r->s->views[i];
    return NULL;
}

static silt_status rename_temporary(run *r, temp_view *view, silt_error *err) {
    name_parts to = r->st->alter->new_name;
    str name = arena_str(r->s->a, to.parts[to.count - 1]);
    if (to.count > 1) return err_UNSUPPORTED_FEATURE(err, "RENAME TO of a temporary view into a schema");
    if (temporary(r, to)) return err_TEMP_TABLE_OR_VIEW_ALREADY_EXISTS(err, name);
    if (!name.ptr) return error_no_memory(err);
    view->name = name;
    return SILT_OK;
}

static silt_status rename_view(run *r, silt_error *err) {
    temp_view *own = temporary(r, r->st->table->name);
    if (own) return rename_temporary(r, own, err);
    catalog_table view;
    str database, name;
    TRY(view_entry(r, "ALTER VIEW ... RENAME TO", &view, err));
    TRY(new_names(r, &view, &database, &name, err));
    return r->s->catalog->ops->rename_table(r->s->catalog, view.database, view.name, database, name, err);
}

static silt_status set_temporary_query(run *r, temp_view *view, silt_error *err) {
    str text = arena_str(r->s->a, r->st->view_text);
    r->defining_name = view->name;
    TRY(query_bind(r->st->query, &r->bind, r->a, err));
    if (!text.ptr) return error_no_memory(err);
    view->text = text;
    return SILT_OK;
}

static silt_status set_view_query(run *r, silt_error *err) {
    catalog_table view;
    TRY(run_bind(r, err));
    temp_view *own = temporary(r, r->st->table->name);
    if (own) return set_temporary_query(r, own, err);
    TRY(view_entry(r, "ALTER VIEW ... AS", &view, err));
    r->defining_database = view.database;
    r->defining_name = view.name;
    TRY(query_bind(r->st->query, &r->bind, r->a, err)); /* a view that cannot be read is refused now */
    view.view_text = r->st->view_text;
    return r->s->catalog->ops->replace_table(r->s->catalog, &view, err);
}

static silt_status set_location(run *r, silt_error *err) {
    resolved_table t, there = {.format = STR("delta"), .location = r->st->location, .display = r->st->location};
    delta_snapshot *old, *new;
    delta_env *env;
    bool exists;
    TRY(run_bind(r, err));
    TRY(need_table(r, "ALTER TABLE ... SET LOCATION", &t, err));
    if (!t.in_catalog) return err_DELTA_CANNOT_SET_LOCATION_ON_PATH_IDENTIFIER(err);
    TRY(resolve_location(r->s, there.location, r->a, &there.store, &there.root, err));
    TRY(session_env(r->s, there.store, &env, err));
    TRY(delta_table_exists(env, there.root, &exists, err));
    if (!exists) return err_DELTA_MISSING_DELTA_TABLE(err, there.location);
    TRY(open_snapshot(r, &there, NULL, &new, err));
    ops_env ops = run_ops_env(r, env);
    /* A table whose files are gone may be pointed elsewhere: that is what the statement is for. */
    if (open_snapshot(r, &t, NULL, &old, NULL) == SILT_OK) TRY(ops_alter_check_location(&ops, old, new, err));
    catalog_table entry = t.entry;
    bool has_scheme = str_find(there.location, STR("://")) != SIZE_MAX || str_starts_with(there.location, STR("file:"));
    entry.location = has_scheme ? there.location : there.root;
    return r->s->catalog->ops->replace_table(r->s->catalog, &entry, err);
}

/* ---- databases ---- */

static silt_status alter_database(run *r, silt_error *err) {
    catalog *c = r->s->catalog;
    const statement *st = r->st;
    catalog_database d;
    TRY(c->ops->get_database(c, st->name.parts[st->name.count - 1], r->a, &d, err));
    if (st->alter->entry == ENTRY_PROPERTIES) return err_UNSUPPORTED_FEATURE(err, "properties of databases");
    if (st->alter->entry == ENTRY_COMMENT) {
        d.comment = st->comment;
    } else {
        store *unused;
        str root;
        TRY(resolve_location(r->s, st->location, r->a, &unused, &root, err));
        d.location = str_find(st->location, STR("://")) != SIZE_MAX ? st->location : root;
    }
    return c->ops->replace_database(c, &d, err);
}

silt_status run_alter(run *r, silt_error *err) {
    const alter_statement *alter = r->st->alter;
    bool view = alter->object == ALTER_OF_VIEW;
    if (alter->object == ALTER_OF_DATABASE) return alter_database(r, err);
    switch (alter->entry) {
    case ENTRY_RENAME: return view ? rename_view(r, err) : rename_table(r, err);
    case ENTRY_LOCATION: return view ? err_UNSUPPORTED_FEATURE(err, "ALTER VIEW … SET LOCATION") : set_location(r, err);
    case ENTRY_VIEW_QUERY: return set_view_query(r, err);
    default: return view ? err_UNSUPPORTED_FEATURE(err, "properties of views") : alter_log(r, err);
    }
}
