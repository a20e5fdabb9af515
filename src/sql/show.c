/* SHOW: columns and texts as Spark prints them. */
#include <stdlib.h>

#include "expr/functions.h"
#include "sql/run.h"

silt_status run_show_databases(run *r, silt_error *err) {
    catalog_database *list;
    size_t n;
    TRY(r->s->catalog->ops->list_databases(r->s->catalog, r->a, &list, &n, err));
    TRY(rows_begin(r, "namespace STRING", err));
    for (size_t i = 0; i < n; i++)
        if (!r->st->has_pattern || like_pattern_matches(r->st->pattern, list[i].name)) TRY(rows_add(r, &list[i].name, 1, err));
    return SILT_OK;
}

static silt_status list_objects(run *r, bool views_only, silt_error *err) {
    session *s = r->s;
    catalog_table *list;
    catalog_database d;
    size_t n;
    str database = r->st->name.count ? r->st->name.parts[r->st->name.count - 1] : s->database;
    TRY(s->catalog->ops->get_database(s->catalog, database, r->a, &d, err));
    TRY(s->catalog->ops->list_tables(s->catalog, d.name, r->a, &list, &n, err));
    TRY(rows_begin(r, views_only ? "namespace STRING, viewName STRING, isTemporary BOOLEAN" : "namespace STRING, tableName STRING, isTemporary BOOLEAN", err));
    for (size_t i = 0; i < n + s->n_views; i++) {
        bool temporary = i >= n;
        str name = temporary ? s->views[i - n].name : list[i].name;
        if (views_only && !temporary && !list[i].is_view) continue;
        if (r->st->has_pattern && !like_pattern_matches(r->st->pattern, name)) continue;
        bool ok = arrow_append_str(rows_column(r, 0), temporary ? STR("") : d.name) && arrow_append_str(rows_column(r, 1), name) && arrow_append_bool(rows_column(r, 2), temporary) &&
                  arrow_finish_row(r->result->rows);
        if (!ok) return error_no_memory(err);
    }
    return SILT_OK;
}

silt_status run_show_tables(run *r, silt_error *err) { return list_objects(r, false, err); }
silt_status run_show_views(run *r, silt_error *err) { return list_objects(r, true, err); }

/* The table's columns: a Delta snapshot's schema, or what a view or file gives. */
static silt_status columns_of(run *r, relation *rel, const data_type **out, silt_error *err) {
    query *q = ARENA_NEW(r->a, query);
    expr *star = expr_new(r->a, EXPR_STAR, rel->span), **list = ARENA_ARRAY(r->a, 1, expr *);
    if (!q || !star || !list) return error_no_memory(err);
    list[0] = star;
    q->projections = list;
    q->n_projections = 1;
    q->from = rel;
    TRY(run_bind(r, err));
    TRY(query_bind(q, &r->bind, r->a, err));
    field *fields = ARENA_ARRAY(r->a, q->n_columns, field);
    if (!fields) return error_no_memory(err);
    for (size_t i = 0; i < q->n_columns; i++) fields[i] = field_make(q->column_names[i], q->column_types[i], q->column_nullable[i]);
    *out = type_struct(r->a, fields, q->n_columns);
    return *out ? SILT_OK : error_no_memory(err);
}

silt_status run_show_columns(run *r, silt_error *err) {
    const data_type *schema;
    relation *rel = r->st->table;
    if (r->st->name.count && rel->name.count == 1) { /* SHOW COLUMNS IN t IN db */
        str *parts = ARENA_ARRAY(r->a, 2, str);
        if (!parts) return error_no_memory(err);
        parts[0] = r->st->name.parts[r->st->name.count - 1];
        parts[1] = rel->name.parts[0];
        rel->name = (name_parts){parts, 2};
    }
    TRY(columns_of(r, rel, &schema, err));
    TRY(rows_begin(r, "col_name STRING", err));
    for (size_t i = 0; i < schema->n_fields; i++) TRY(rows_add(r, &schema->fields[i].name, 1, err));
    return SILT_OK;
}

static silt_status delta_snapshot_of(run *r, const char *statement_name, resolved_table *t, delta_snapshot **out, silt_error *err) {
    TRY(run_bind(r, err));
    return open_delta(r, r->st->table, statement_name, t, out, err);
}

static int compare_keys(const void *a, const void *b) { return str_cmp(((const setting *)a)->key, ((const setting *)b)->key); }

/* Configuration, and the protocol as Spark shows it: delta.feature.*, delta.minReaderVersion, delta.minWriterVersion. */
silt_status run_show_tblproperties(run *r, silt_error *err) {
    resolved_table t;
    delta_snapshot *snapshot;
    TRY(delta_snapshot_of(r, "SHOW TBLPROPERTIES", &t, &snapshot, err));
    const str_map *c = &delta_snapshot_metadata(snapshot)->configuration;
    const delta_protocol *p = delta_snapshot_protocol(snapshot);
    setting *list = ARENA_ARRAY(r->a, c->count + p->n_writer_features + 2, setting);
    if (!list) return error_no_memory(err);
    size_t n = 0;
    for (size_t i = 0; i < c->count; i++) list[n++] = (setting){c->keys[i], c->values[i]};
    for (size_t i = 0; i < p->n_writer_features; i++) list[n++] = (setting){arena_printf(r->a, "delta.feature.%.*s", STR_ARG(p->writer_features[i])), STR("supported")};
    list[n++] = (setting){STR("delta.minReaderVersion"), arena_printf(r->a, "%d", p->min_reader_version)};
    list[n++] = (setting){STR("delta.minWriterVersion"), arena_printf(r->a, "%d", p->min_writer_version)};
    qsort(list, n, sizeof *list, compare_keys);
    TRY(rows_begin(r, "key STRING, value STRING", err));
    bool found = false;
    for (size_t i = 0; i < n; i++) {
        if (r->st->has_key && !str_eq(r->st->key, list[i].key)) continue;
        TRY(rows_add(r, (str[]){list[i].key, list[i].value}, 2, err));
        found = true;
    }
    if (!r->st->has_key || found) return SILT_OK;
    str shown = t.in_catalog ? arena_printf(r->a, "spark_catalog.%.*s.%.*s", STR_ARG(t.database), STR_ARG(t.name)) : t.display;
    str absent = arena_printf(r->a, "Table %.*s does not have property: %.*s", STR_ARG(shown), STR_ARG(r->st->key));
    return rows_add(r, (str[]){r->st->key, absent}, 2, err);
}

static void write_quoted(buf *b, str s) {
    buf_append_char(b, '\'');
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] == '\'' || s.ptr[i] == '\\') buf_append_char(b, '\\');
        buf_append_char(b, s.ptr[i]);
    }
    buf_append_char(b, '\'');
}

static void write_name(buf *b, str s) {
    bool plain = s.len > 0;
    for (size_t i = 0; i < s.len; i++) plain = plain && (s.ptr[i] == '_' || (s.ptr[i] >= 'a' && s.ptr[i] <= 'z') || (s.ptr[i] >= 'A' && s.ptr[i] <= 'Z') || (i && s.ptr[i] >= '0' && s.ptr[i] <= '9'));
    if (plain) {
        buf_append(b, s);
        return;
    }
    buf_append_char(b, '`');
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] == '`') buf_append_char(b, '`');
        buf_append_char(b, s.ptr[i]);
    }
    buf_append_char(b, '`');
}

/* What stands behind a column's type: where its values come from, and its comment. */
static void write_column_clauses(buf *b, const field *f, arena *a) {
    const json_node *comment = field_metadata_get(f, "comment", a), *value_text = field_metadata_get(f, "CURRENT_DEFAULT", a),
                    *generation = field_metadata_get(f, "delta.generationExpression", a), *start = field_metadata_get(f, "delta.identity.start", a),
                    *step = field_metadata_get(f, "delta.identity.step", a), *may_give = field_metadata_get(f, "delta.identity.allowExplicitInsert", a);
    if (value_text) buf_printf(b, " DEFAULT %.*s", STR_ARG(value_text->text));
    if (generation) buf_printf(b, " GENERATED ALWAYS AS (%.*s)", STR_ARG(generation->text));
    if (start && step)
        buf_printf(b, " GENERATED %s AS IDENTITY (START WITH %.*s INCREMENT BY %.*s)", may_give && may_give->boolean ? "BY DEFAULT" : "ALWAYS", STR_ARG(start->text),
                   STR_ARG(step->text));
    if (!comment) return;
    buf_append_z(b, " COMMENT ");
    write_quoted(b, comment->text);
}

silt_status run_show_create_table(run *r, silt_error *err) {
    resolved_table t;
    delta_snapshot *snapshot;
    TRY(delta_snapshot_of(r, "SHOW CREATE TABLE", &t, &snapshot, err));
    const delta_metadata *m = delta_snapshot_metadata(snapshot);
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    buf_append_z(&b, "CREATE TABLE ");
    for (size_t i = 0; i < r->st->table->name.count; i++) {
        if (i) buf_append_char(&b, '.');
        write_name(&b, r->st->table->name.parts[i]);
    }
    buf_append_z(&b, " (");
    for (size_t i = 0; i < m->schema->n_fields; i++) {
        const field *f = &m->schema->fields[i];
        buf_append_z(&b, i ? ",\n  " : "\n  ");
        write_name(&b, f->name);
        buf_append_char(&b, ' ');
        type_write_sql(&b, f->type);
        if (!f->nullable) buf_append_z(&b, " NOT NULL");
        write_column_clauses(&b, f, r->a);
    }
    buf_append_z(&b, ")\nUSING delta");
    for (size_t i = 0; i < m->n_partition_columns; i++) {
        buf_append_z(&b, i ? ", " : "\nPARTITIONED BY (");
        write_name(&b, m->partition_columns[i]);
    }
    if (m->n_partition_columns) buf_append_char(&b, ')');
    if (t.in_catalog && !t.entry.is_managed) {
        buf_append_z(&b, "\nLOCATION ");
        write_quoted(&b, t.location);
    }
    if (m->description.ptr && m->description.len) {
        buf_append_z(&b, "\nCOMMENT ");
        write_quoted(&b, m->description);
    }
    for (size_t i = 0; i < m->configuration.count; i++) {
        buf_append_z(&b, i ? ",\n  " : "\nTBLPROPERTIES (\n  ");
        write_quoted(&b, m->configuration.keys[i]);
        buf_append_z(&b, " = ");
        write_quoted(&b, m->configuration.values[i]);
    }
    if (m->configuration.count) buf_append_char(&b, ')');
    silt_status status = buf_ok(&b) ? rows_begin(r, "createtab_stmt STRING", err) : error_no_memory(err);
    str text = buf_str(&b);
    if (status == SILT_OK) status = rows_add(r, &text, 1, err);
    buf_dispose(&b);
    return status;
}

/* ---- SHOW PARTITIONS ---- */

typedef struct partition_rows { run *r; const delta_metadata *m; str *seen; size_t n, capacity; } partition_rows;

static silt_status collect_partition(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    partition_rows *p = ctx;
    (void)i;
    str text = STR("");
    for (size_t c = 0; c < p->m->n_partition_columns; c++) {
        int at = schema_find(p->m->schema, p->m->partition_columns[c]);
        str v = str_map_get(&add->partition_values, at >= 0 ? p->m->schema->fields[at].physical_name : p->m->partition_columns[c]);
        text = arena_printf(p->r->a, "%.*s%s%.*s=%.*s", STR_ARG(text), c ? "/" : "", STR_ARG(p->m->partition_columns[c]), STR_ARG(v.ptr && v.len ? v : STR("null")));
        if (!text.ptr) return error_no_memory(err);
    }
    return ARENA_PUSH(p->r->a, p->seen, p->n, p->capacity, text) ? SILT_OK : error_no_memory(err);
}

static int compare_str(const void *a, const void *b) { return str_cmp(*(const str *)a, *(const str *)b); }

/* Spark refuses this for Delta; the log has the answer, so Silt gives it. */
silt_status run_show_partitions(run *r, silt_error *err) {
    resolved_table t;
    delta_snapshot *snapshot;
    TRY(delta_snapshot_of(r, "SHOW PARTITIONS", &t, &snapshot, err));
    partition_rows p = {.r = r, .m = delta_snapshot_metadata(snapshot)};
    if (p.m->n_partition_columns == 0) return err_NOT_A_PARTITIONED_TABLE(err, t.display);
    TRY(delta_snapshot_each_file(snapshot, false, collect_partition, &p, err));
    qsort(p.seen, p.n, sizeof *p.seen, compare_str);
    TRY(rows_begin(r, "partition STRING", err));
    for (size_t i = 0; i < p.n; i++)
        if (i == 0 || !str_eq(p.seen[i], p.seen[i - 1])) TRY(rows_add(r, &p.seen[i], 1, err));
    return SILT_OK;
}

silt_status run_show_functions(run *r, silt_error *err) {
    TRY(rows_begin(r, "function STRING", err));
    str *names = NULL;
    size_t n = 0, capacity = 0;
    for (size_t g = 0; g < function_group_count; g++) {
        for (size_t i = 0; i < function_groups[g]->count; i++) {
            str name = str_of(function_groups[g]->rows[i].name);
            if ((!r->st->has_pattern || like_pattern_matches(r->st->pattern, name)) && !ARENA_PUSH(r->a, names, n, capacity, name)) return error_no_memory(err);
        }
    }
    qsort(names, n, sizeof *names, compare_str);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || !str_eq(names[i], names[i - 1])) TRY(rows_add(r, &names[i], 1, err));
    return SILT_OK;
}

silt_status run_show_current(run *r, silt_error *err) {
    TRY(rows_begin(r, "catalog STRING, namespace STRING", err));
    return rows_add(r, (str[]){STR("spark_catalog"), r->s->database}, 2, err);
}
