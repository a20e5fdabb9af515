/* DESCRIBE TABLE, DETAIL, HISTORY, DATABASE and FUNCTION. */
#include "expr/functions.h"
#include "sql/run.h"

static silt_status describe_row(run *r, str name, str type, str comment, silt_error *err) { return rows_add(r, (str[]){name, type, comment}, 3, err); }

/* CHAR and VARCHAR are strings with a note in the column's metadata; DESCRIBE shows what is stored, as Spark does for Delta tables. NULL on exhaustion. */
static const data_type *as_stored(const data_type *t, arena *a) {
    if (t->id == TYPE_STRING) return &type_string;
    if (!type_is_nested(t)) return t;
    data_type *copy = ARENA_NEW(a, data_type);
    field *fields = ARENA_ARRAY(a, t->n_fields + 1, field);
    if (!copy || !fields) return NULL;
    *copy = *t;
    if (t->key && !(copy->key = as_stored(t->key, a))) return NULL;
    if (t->element && !(copy->element = as_stored(t->element, a))) return NULL;
    for (size_t i = 0; i < t->n_fields; i++) {
        fields[i] = t->fields[i];
        if (!(fields[i].type = as_stored(t->fields[i].type, a))) return NULL;
    }
    if (t->id == TYPE_STRUCT) copy->fields = fields;
    return copy;
}

static silt_status describe_field(run *r, const field *f, silt_error *err) {
    const json_node *comment = field_metadata_get(f, "comment", r->a);
    const data_type *stored = as_stored(f->type, r->a);
    if (!stored) return error_no_memory(err);
    return describe_row(r, f->name, type_simple(stored, r->a), comment ? comment->text : STR_NULL, err);
}

static silt_status table_properties_text(run *r, const delta_snapshot *snapshot, str *out, silt_error *err) {
    const str_map *c = &delta_snapshot_metadata(snapshot)->configuration;
    const delta_protocol *p = delta_snapshot_protocol(snapshot);
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    buf_append_char(&b, '[');
    for (size_t i = 0; i < c->count; i++) buf_printf(&b, "%.*s=%.*s,", STR_ARG(c->keys[i]), STR_ARG(c->values[i]));
    buf_printf(&b, "delta.minReaderVersion=%d,delta.minWriterVersion=%d]", p->min_reader_version, p->min_writer_version);
    *out = buf_take(&b, r->a);
    return out->ptr ? SILT_OK : error_no_memory(err);
}

static silt_status describe_extended(run *r, const resolved_table *t, const delta_snapshot *snapshot, silt_error *err) {
    const delta_metadata *m = delta_snapshot_metadata(snapshot);
    str properties;
    TRY(table_properties_text(r, snapshot, &properties, err));
    TRY(describe_row(r, STR(""), STR(""), STR(""), err));
    TRY(describe_row(r, STR("# Detailed Table Information"), STR(""), STR(""), err));
    str name = t->in_catalog ? arena_printf(r->a, "spark_catalog.%.*s.%.*s", STR_ARG(t->database), STR_ARG(t->name)) : t->display;
    TRY(describe_row(r, STR("Name"), name, STR(""), err));
    TRY(describe_row(r, STR("Type"), t->in_catalog && t->entry.is_managed ? STR("MANAGED") : STR("EXTERNAL"), STR(""), err));
    if (m->description.ptr && m->description.len) TRY(describe_row(r, STR("Comment"), m->description, STR(""), err));
    TRY(describe_row(r, STR("Location"), t->location, STR(""), err));
    TRY(describe_row(r, STR("Provider"), STR("delta"), STR(""), err));
    TRY(describe_row(r, STR("Version"), arena_printf(r->a, "%lld", (long long)delta_snapshot_version(snapshot)), STR(""), err));
    return describe_row(r, STR("Table Properties"), properties, STR(""), err);
}

static silt_status describe_column(run *r, const data_type *schema, silt_error *err) {
    const field *f = NULL;
    const data_type *at = schema;
    for (size_t i = 0; i < r->st->name.count; i++) {
        int index = at->id == TYPE_STRUCT ? schema_find(at, r->st->name.parts[i]) : -1;
        if (index < 0) return err_UNRESOLVED_COLUMN(err, name_join(r->st->name, r->a));
        f = &at->fields[index];
        at = f->type;
    }
    const json_node *comment = field_metadata_get(f, "comment", r->a);
    TRY(rows_begin(r, "info_name STRING, info_value STRING", err));
    TRY(rows_add(r, (str[]){STR("col_name"), f->name}, 2, err));
    TRY(rows_add(r, (str[]){STR("data_type"), type_simple(f->type, r->a)}, 2, err));
    return rows_add(r, (str[]){STR("comment"), comment ? comment->text : STR("NULL")}, 2, err);
}

static silt_status describe_as_query(run *r, silt_error *err) {
    query *q = ARENA_NEW(r->a, query);
    expr **list = ARENA_ARRAY(r->a, 1, expr *);
    if (!q || !list || !(list[0] = expr_new(r->a, EXPR_STAR, r->st->table->span))) return error_no_memory(err);
    q->projections = list;
    q->n_projections = 1;
    q->from = r->st->table;
    TRY(query_bind(q, &r->bind, r->a, err));
    TRY(rows_begin(r, "col_name STRING, data_type STRING, comment STRING", err));
    for (size_t i = 0; i < q->n_columns; i++) TRY(describe_row(r, q->column_names[i], type_simple(q->column_types[i], r->a), STR_NULL, err));
    return SILT_OK;
}

silt_status run_describe_table(run *r, silt_error *err) {
    resolved_table t;
    delta_snapshot *snapshot;
    TRY(run_bind(r, err));
    TRY(resolve_table(r, r->st->table, false, &t, err));
    if (!str_eqz(t.format, "delta")) return describe_as_query(r, err);
    TRY(open_delta(r, r->st->table, "DESCRIBE TABLE", &t, &snapshot, err));
    const delta_metadata *m = delta_snapshot_metadata(snapshot);
    if (r->st->name.count) return describe_column(r, m->schema, err);
    TRY(rows_begin(r, "col_name STRING, data_type STRING, comment STRING", err));
    for (size_t i = 0; i < m->schema->n_fields; i++) TRY(describe_field(r, &m->schema->fields[i], err));
    if (m->n_partition_columns) {
        TRY(describe_row(r, STR("# Partition Information"), STR(""), STR(""), err));
        TRY(describe_row(r, STR("# col_name"), STR("data_type"), STR("comment"), err));
    }
    for (size_t i = 0; i < m->n_partition_columns; i++) {
        int at = schema_find(m->schema, m->partition_columns[i]);
        if (at >= 0) TRY(describe_field(r, &m->schema->fields[at], err));
    }
    return r->st->extended ? describe_extended(r, &t, snapshot, err) : SILT_OK;
}

/* '/path' without a table: what is there has a place to tell of. */
static silt_status detail_of_path(run *r, const resolved_table *t, bool *out_done, silt_error *err) {
    delta_env *env;
    store_entry entry;
    bool is_table;
    TRY(session_env(r->s, t->store, &env, err));
    TRY(delta_table_exists(env, t->root, &is_table, err));
    *out_done = !is_table && str_rfind_char(t->root, '@') == SIZE_MAX;
    if (!*out_done) return SILT_OK;
    silt_status status = store_stat(t->store, t->root, r->a, &entry, err);
    if (status == SILT_NOT_FOUND) return err_DELTA_FILE_NOT_FOUND(err, t->location);
    return status == SILT_OK ? ops_detail_of_folder(t->location, r->a, &r->result->type, &r->result->rows, err) : status;
}

silt_status run_describe_detail(run *r, silt_error *err) {
    resolved_table t;
    delta_snapshot *snapshot;
    bool done = false;
    TRY(run_bind(r, err));
    TRY(resolve_table(r, r->st->table, false, &t, err));
    if (t.in_quotes) TRY(detail_of_path(r, &t, &done, err));
    if (done) return SILT_OK;
    TRY(open_delta(r, r->st->table, "DESCRIBE DETAIL", &t, &snapshot, err));
    str name = t.in_catalog ? arena_printf(r->a, "spark_catalog.%.*s.%.*s", STR_ARG(t.database), STR_ARG(t.name)) : STR_NULL;
    return ops_detail(snapshot, name, r->a, &r->result->type, &r->result->rows, err);
}

silt_status run_describe_history(run *r, silt_error *err) {
    resolved_table t;
    delta_env *env;
    silt_error cause = {.status = SILT_OK};
    TRY(run_bind(r, err));
    TRY(resolve_table(r, r->st->table, false, &t, err));
    TRY(need_delta(&t, "DESCRIBE HISTORY", err));
    TRY(session_env(r->s, t.store, &env, err));
    silt_status status = ops_history(env, t.root, r->st->has_limit ? r->st->limit : -1, r->a, &r->result->type, &r->result->rows, &cause);
    if (status == SILT_OK) return SILT_OK;
    if (!t.in_catalog && strcmp(cause.condition, "DELTA_TABLE_NOT_FOUND") == 0) return err_DELTA_TABLE_ONLY_OPERATION(err, t.location);
    if (err) *err = cause;
    return status;
}

silt_status run_describe_database(run *r, silt_error *err) {
    catalog_database d;
    TRY(r->s->catalog->ops->get_database(r->s->catalog, r->st->name.parts[r->st->name.count - 1], r->a, &d, err));
    TRY(rows_begin(r, "info_name STRING, info_value STRING", err));
    TRY(rows_add(r, (str[]){STR("Catalog Name"), STR("spark_catalog")}, 2, err));
    TRY(rows_add(r, (str[]){STR("Namespace Name"), d.name}, 2, err));
    TRY(rows_add(r, (str[]){STR("Comment"), d.comment.ptr ? d.comment : STR("")}, 2, err));
    return rows_add(r, (str[]){STR("Location"), d.location}, 2, err);
}

silt_status run_describe_function(run *r, silt_error *err) {
    str name = r->st->name.parts[r->st->name.count - 1];
    const function_row *f = NULL;
    for (size_t g = 0; !f && g < function_group_count; g++)
        for (size_t i = 0; !f && i < function_groups[g]->count; i++)
            if (str_eq_ascii_fold(name, str_of(function_groups[g]->rows[i].name))) f = &function_groups[g]->rows[i];
    if (!f) return err_UNRESOLVED_ROUTINE(err, name);
    TRY(rows_begin(r, "function_desc STRING", err));
    str lines[] = {arena_printf(r->a, "Function: %s", f->name), arena_printf(r->a, "Usage: %s(%s): %s", f->name, f->signature, f->doc)};
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) TRY(rows_add(r, &lines[i], 1, err));
    return SILT_OK;
}
