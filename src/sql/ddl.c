/* CREATE and DROP of tables, views and databases; USE. The catalog entry and the table's log are two stores: the order of the two steps is chosen so that a crash
 * between them leaves something that running the statement again repairs (a table without an entry, or an entry without files on DROP). */
#include "base/time.h"
#include "sql/run.h"

static silt_status check_provider(run *r, str provider, silt_error *err) {
    if (!provider.ptr) provider = session_get(r->s, STR("spark.sql.sources.default"));
    if (str_eq_ascii_fold(provider, STR("delta"))) return SILT_OK;
    return err_UNSUPPORTED_FEATURE(err, "CREATE TABLE for providers other than delta");
}

/* Where the new table goes: LOCATION, the path of delta.`/p`, or the managed folder. */
static silt_status creation_target(run *r, resolved_table *t, bool *managed, silt_error *err) {
    const statement *st = r->st;
    *managed = false;
    if (!t->in_catalog) {
        if (st->has_location) {
            if (t->database.ptr == NULL && !str_eq(t->location, st->location)) return err_DELTA_PATH_AND_LOCATION(err, t->location, st->location);
            t->location = st->location;
        } else if (!t->location.ptr) {
            *managed = true;
            TRY(r->s->catalog->ops->managed_location(r->s->catalog, t->database, t->name, r->a, &t->location, err));
        }
    } else if (st->has_location && !str_eq(st->location, t->location)) {
        return err_TABLE_OR_VIEW_ALREADY_EXISTS(err, t->display);
    } else {
        *managed = t->entry.is_managed;
    }
    if (!str_eqz(t->format.ptr ? t->format : STR("delta"), "delta")) return err_UNSUPPORTED_FEATURE(err, "CREATE TABLE at a path of another format than delta");
    return resolve_location(r->s, t->location, r->a, &t->store, &t->root, err);
}

/* An absolute URI or path: what the catalog keeps must not depend on the current folder. */
static str absolute_location(run *r, const resolved_table *t) {
    bool has_scheme = str_find(t->location, STR("://")) != SIZE_MAX || str_starts_with(t->location, STR("file:"));
    return has_scheme ? t->location : arena_str(r->a, t->root);
}

/* may_be_there: the table at the location is this statement's work, and whoever told the catalog of it first has done no harm. */
static silt_status add_to_catalog(run *r, const resolved_table *t, bool managed, str comment, bool may_be_there, silt_error *err) {
    if (!t->name.ptr) return SILT_OK;
    catalog *c = r->s->catalog;
    catalog_table entry = {.database = t->database, .name = t->name, .provider = STR("delta"), .location = absolute_location(r, t), .is_managed = managed, .comment = comment, .created_ms = time_now_ms()};
    if (t->in_catalog) return c->ops->replace_table(c, &entry, err);
    silt_error taken = {0};
    catalog_table rival;
    silt_status status = c->ops->create_table(c, &entry, &taken);
    if (status == SILT_EXISTS && r->st && r->st->if_not_exists) return SILT_OK; /* another session was quicker: the table is there, as asked */
    bool is_the_same = status == SILT_EXISTS && may_be_there && c->ops->get_table(c, t->database, t->name, r->a, &rival, NULL) == SILT_OK && str_eq(rival.location, entry.location);
    if (is_the_same) return SILT_OK;
    if (status != SILT_OK && err) *err = taken;
    return status;
}

silt_status register_table(run *r, const resolved_table *t, bool managed, str comment, silt_error *err) {
    return add_to_catalog(r, t, managed, comment, true, err);
}

/* *done tells of a table at the location also when it is the reason of the refusal. */
static silt_status create_once(run *r, resolved_table *t, create_spec *spec, ops_result *done, silt_error *err) {
    const statement *st = r->st;
    bool managed;
    if (t->in_catalog && !st->or_replace) {
        if (!st->if_not_exists) return err_TABLE_OR_VIEW_ALREADY_EXISTS(err, t->display);
        r->result->message = arena_printf(r->a, "the table exists already");
        return SILT_OK;
    }
    if (st->replace_only && !t->in_catalog && t->name.ptr) return err_TABLE_OR_VIEW_NOT_FOUND(err, t->display);
    TRY(creation_target(r, t, &managed, err));
    delta_env *env;
    TRY(session_env(r->s, t->store, &env, err));
    spec->table_name = t->display;
    spec->root = t->root;
    spec->snapshot = run_pinned(r, t->store, t->root);
    spec->comment = st->has_comment ? st->comment : STR_NULL;
    spec->properties = (str_map){st->properties.keys, st->properties.values, st->properties.count};
    spec->or_replace = st->or_replace;
    spec->replace_only = st->replace_only;
    spec->if_not_exists = st->if_not_exists;
    spec->is_managed = managed;
    spec->is_path = !t->name.ptr;
    spec->is_new_name = t->name.ptr && !t->in_catalog;
    ops_env ops = run_ops_env(r, env);
    TRY(ops_create(&ops, spec, done, err));
    TRY(add_to_catalog(r, t, managed, st->comment, managed && !done->existed, err));
    r->result->message = done->version < 0 ? arena_printf(r->a, "the table exists already")
                                           : arena_printf(r->a, "%s, version %lld%s", st->query ? "created from the query" : done->existed ? "registered" : "created", (long long)done->version,
                                                          managed ? "" : " (external)");
    return run_add_note(r, done, err);
}

/* Is the name known by now? A rival that has made the table may still be on its way to the catalog, which takes a moment. */
static silt_status known_meanwhile(run *r, resolved_table *t, bool waits, bool *out_known, silt_error *err) {
    for (int64_t waited_ms = 0, step_ms = 5;; waited_ms += step_ms, step_ms *= 2) {
        TRY(resolve_table(r, r->st->table, true, t, err));
        *out_known = t->in_catalog;
        if (*out_known || !waits || waited_ms > 1000) return SILT_OK;
        TRY(session_pause(r->s, step_ms, err));
    }
}

/* AS SELECT, bound: from the text on each time, since planning leaves its marks in a tree. */
static silt_status bind_source(run *r, create_spec *spec, silt_error *err) {
    statement *again = ARENA_NEW(r->a, statement);
    if (!again) return error_no_memory(err);
    TRY(statement_parse(r->bind.source_text, r->a, again, err));
    spec->source = again->query;
    return query_bind(again->query, &r->bind, r->a, err);
}

/* A table that was not in the catalog when the statement began may get there while it runs; the statement is then one about a table that exists. */
silt_status create_table_at(run *r, resolved_table *t, create_spec *spec, ops_result *done, silt_error *err) {
    silt_error refused = {.status = SILT_OK};
    bool is_new = t->name.ptr && !t->in_catalog, known = false;
    silt_status status = create_once(r, t, spec, done, &refused);
    bool is_taken = status == SILT_EXISTS || (status != SILT_OK && strcmp(refused.condition, "DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION") == 0);
    bool by_rival = done->existed || spec->is_managed; /* nobody but a table of that name has files in its folder */
    if (is_new && is_taken) TRY(known_meanwhile(r, t, by_rival, &known, err));
    if (known && spec->source) TRY(bind_source(r, spec, err));
    if (known) return create_once(r, t, spec, done, err);
    if (status != SILT_OK && err) *err = refused;
    return status;
}

static silt_status create_at(run *r, resolved_table *t, create_spec *spec, silt_error *err) {
    ops_result done = {0};
    return create_table_at(r, t, spec, &done, err);
}

silt_status run_create_table(run *r, silt_error *err) {
    const statement *st = r->st;
    resolved_table t;
    TRY(run_bind(r, err));
    TRY(check_provider(r, st->provider, err));
    TRY(resolve_table(r, st->table, true, &t, err));
    create_spec spec = {.partition_columns = st->partition_columns, .n_partition_columns = st->n_partition_columns, .cluster_columns = st->cluster_columns, .n_cluster_columns = st->n_cluster_columns};
    if (st->has_columns) {
        spec.schema = type_struct(r->a, st->columns, st->n_columns);
        if (!spec.schema) return error_no_memory(err);
    }
    if (st->query) {
        if (st->has_columns) return err_UNSUPPORTED_FEATURE(err, "CREATE TABLE … AS SELECT with a column list; name the columns in the query");
        TRY(query_bind(st->query, &r->bind, r->a, err));
        spec.source = st->query;
    }
    return create_at(r, &t, &spec, err);
}

silt_status run_create_table_like(run *r, silt_error *err) {
    const statement *st = r->st;
    resolved_table t, like;
    delta_snapshot *snapshot;
    TRY(run_bind(r, err));
    TRY(check_provider(r, st->provider, err));
    TRY(resolve_table(r, st->table, true, &t, err));
    TRY(resolve_table(r, st->like, false, &like, err));
    if (!str_eqz(like.format, "delta")) return err_UNSUPPORTED_FEATURE(err, "CREATE TABLE LIKE a table that is not Delta");
    TRY(open_snapshot(r, &like, NULL, &snapshot, err));
    const delta_metadata *m = delta_snapshot_metadata(snapshot);
    create_spec spec = {.schema = m->schema, .partition_columns = m->partition_columns, .n_partition_columns = m->n_partition_columns};
    return create_at(r, &t, &spec, err);
}

silt_status run_drop_table(run *r, silt_error *err) {
    const statement *st = r->st;
    resolved_table t;
    TRY(resolve_table(r, st->table, true, &t, err));
    if (!t.in_catalog) {
        if (st->if_exists) return SILT_OK;
        if (t.format.ptr && !str_eqz(t.format, "view")) return err_UNSUPPORTED_FEATURE(err, "DROP TABLE of a path; remove the folder yourself");
        return err_TABLE_OR_VIEW_NOT_FOUND(err, t.display);
    }
    if (t.entry.is_view) return err_WRONG_COMMAND_FOR_OBJECT_TYPE(err, t.display, "VIEW", "DROP VIEW");
    catalog *c = r->s->catalog;
    TRY(c->ops->drop_table(c, t.database, t.name, err));
    if (!t.entry.is_managed) {
        r->result->message = arena_printf(r->a, "dropped; the files at %.*s stay (external table)", STR_ARG(t.location));
        return SILT_OK;
    }
    delta_env *env;
    TRY(run_bind(r, err));
    TRY(session_env(r->s, t.store, &env, err));
    ops_env ops = run_ops_env(r, env);
    TRY(ops_drop_files(&ops, t.root, err));
    r->result->message = arena_printf(r->a, "dropped with its files");
    return SILT_OK;
}

/* ---- views ---- */

static silt_status view_text(run *r, str *out, silt_error *err) {
    const statement *st = r->st;
    r->defining_name = st->table->name.parts[st->table->name.count - 1];
    if (!st->temporary) TRY(split_name(r, st->table->name, &r->defining_database, &r->defining_name, err));
    *out = st->view_text;
    TRY(run_bind(r, err));
    TRY(query_bind(st->query, &r->bind, r->a, err)); /* a view that cannot be read is refused now */
    if (st->n_view_columns == 0) return SILT_OK;
    if (st->n_view_columns != st->query->n_columns) return err_CREATE_VIEW_COLUMN_ARITY_MISMATCH(err, (int64_t)st->n_view_columns, (int64_t)st->query->n_columns);
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    buf_printf(&b, "SELECT * FROM (%.*s) AS v(", STR_ARG(st->view_text));
    for (size_t i = 0; i < st->n_view_columns; i++) {
        buf_append_z(&b, i ? ", `" : "`");
        for (size_t j = 0; j < st->view_columns[i].len; j++) {
            if (st->view_columns[i].ptr[j] == '`') buf_append_char(&b, '`');
            buf_append_char(&b, st->view_columns[i].ptr[j]);
        }
        buf_append_char(&b, '`');
    }
    buf_append_char(&b, ')');
    *out = buf_take(&b, r->a);
    return out->ptr ? SILT_OK : error_no_memory(err);
}

static silt_status create_temp_view(run *r, str text, silt_error *err) {
    session *s = r->s;
    str name = r->st->table->name.parts[r->st->table->name.count - 1];
    temp_view view = {arena_str(s->a, name), arena_str(s->a, text)};
    if (!view.name.ptr || !view.text.ptr) return error_no_memory(err);
    for (size_t i = 0; i < s->n_views; i++) {
        if (!str_eq_fold(s->views[i].name, name)) continue;
        if (r->st->if_not_exists) return SILT_OK;
        if (!r->st->or_replace) return err_TEMP_TABLE_OR_VIEW_ALREADY_EXISTS(err, name);
        s->views[i] = view;
        return SILT_OK;
    }
    return ARENA_PUSH(s->a, s->views, s->n_views, s->views_capacity, view) ? SILT_OK : error_no_memory(err);
}

silt_status run_create_view(run *r, silt_error *err) {
    const statement *st = r->st;
    str text;
    TRY(view_text(r, &text, err));
    if (st->temporary) return create_temp_view(r, text, err);
    catalog *c = r->s->catalog;
    catalog_table entry = {.is_view = true, .view_text = text, .comment = st->comment, .created_ms = time_now_ms()}, existing;
    TRY(split_name(r, st->table->name, &entry.database, &entry.name, err));
    silt_error miss = {0};
    silt_status found = c->ops->get_table(c, entry.database, entry.name, r->a, &existing, &miss);
    if (found == SILT_OK && existing.is_view && st->or_replace) return c->ops->replace_table(c, &entry, err);
    if (found == SILT_OK && st->if_not_exists) return SILT_OK;
    return c->ops->create_table(c, &entry, err);
}

silt_status run_drop_view(run *r, silt_error *err) {
    const statement *st = r->st;
    session *s = r->s;
    name_parts name = st->table->name;
    for (size_t i = 0; name.count == 1 && i < s->n_views; i++) {
        if (!str_eq_fold(s->views[i].name, name.parts[0])) continue;
        s->views[i] = s->views[--s->n_views];
        return SILT_OK;
    }
    str database, table;
    catalog_table entry;
    silt_error miss = {0};
    TRY(split_name(r, name, &database, &table, err));
    silt_status found = s->catalog->ops->get_table(s->catalog, database, table, r->a, &entry, &miss);
    if (found != SILT_OK) {
        if (found == SILT_NOT_FOUND && st->if_exists) return SILT_OK;
        if (err) *err = miss;
        return found;
    }
    if (!entry.is_view) return err_WRONG_COMMAND_FOR_OBJECT_TYPE(err, name_join(name, r->a), "TABLE", "DROP TABLE");
    return s->catalog->ops->drop_table(s->catalog, database, table, err);
}

/* ---- databases ---- */

static str database_name(run *r) {
    name_parts n = r->st->name;
    return n.count ? n.parts[n.count - 1] : r->s->database;
}

silt_status run_create_database(run *r, silt_error *err) {
    const statement *st = r->st;
    catalog *c = r->s->catalog;
    catalog_database d = {.name = database_name(r), .comment = st->comment}, existing;
    if (st->has_location) {
        store *unused;
        TRY(resolve_location(r->s, st->location, r->a, &unused, &d.location, err));
        if (str_find(st->location, STR("://")) != SIZE_MAX) d.location = st->location;
    }
    if (st->if_not_exists && c->ops->get_database(c, d.name, r->a, &existing, NULL) == SILT_OK) return SILT_OK;
    return c->ops->create_database(c, &d, err);
}

static silt_status drop_tables_of(run *r, str database, silt_error *err) {
    catalog *c = r->s->catalog;
    catalog_table *tables;
    size_t n;
    TRY(c->ops->list_tables(c, database, r->a, &tables, &n, err));
    for (size_t i = 0; i < n; i++) {
        TRY(c->ops->drop_table(c, database, tables[i].name, err));
        if (!tables[i].is_managed || tables[i].is_view) continue;
        store *st;
        str root;
        delta_env *env;
        TRY(run_bind(r, err));
        TRY(resolve_location(r->s, tables[i].location, r->a, &st, &root, err));
        TRY(session_env(r->s, st, &env, err));
        ops_env ops = run_ops_env(r, env);
        TRY(ops_drop_files(&ops, root, err));
    }
    return SILT_OK;
}

silt_status run_drop_database(run *r, silt_error *err) {
    catalog *c = r->s->catalog;
    catalog_database d;
    str name = database_name(r);
    silt_error miss = {0};
    silt_status found = c->ops->get_database(c, name, r->a, &d, &miss);
    if (found != SILT_OK) {
        if (found == SILT_NOT_FOUND && r->st->if_exists) return SILT_OK;
        if (err) *err = miss;
        return found;
    }
    if (r->st->cascade) TRY(drop_tables_of(r, d.name, err));
    TRY(c->ops->drop_database(c, name, r->st->cascade, err));
    if (str_eq_fold(r->s->database, name)) r->s->database = STR("default");
    return SILT_OK;
}

silt_status run_use(run *r, silt_error *err) {
    catalog_database d;
    TRY(r->s->catalog->ops->get_database(r->s->catalog, database_name(r), r->a, &d, err));
    str name = arena_str(r->s->a, d.name);
    if (!name.ptr) return error_no_memory(err);
    r->s->database = name;
    return SILT_OK;
}
