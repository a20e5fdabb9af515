/*
 * Identity columns. Values are numbered along the rows of the write's query: start + step · row number, so the next mark is known from the number of rows alone and a row
 * that brings its own value only leaves a gap.
 */
#include "ops/identity.h"

#include "ops/generated.h"

#define START    "delta.identity.start"
#define STEP     "delta.identity.step"
#define MARK     "delta.identity.highWaterMark"
#define EXPLICIT "delta.identity.allowExplicitInsert"

static bool number(const field *f, const char *key, arena *a, int64_t *out) {
    const json_node *n = field_metadata_get(f, key, a);
    return n && json_node_i64(n, out);
}

bool ops_is_identity(const field *f, arena *a, identity *out) {
    identity i = {.start = 1, .step = 1};
    bool has_start = number(f, START, a, &i.start), has_step = number(f, STEP, a, &i.step);
    if (!has_start || !has_step) return false;
    i.has_mark = number(f, MARK, a, &i.mark);
    const json_node *allowed = field_metadata_get(f, EXPLICIT, a);
    i.allow_explicit = allowed && allowed->type == JSON_BOOL && allowed->boolean;
    if (out) *out = i;
    return true;
}

/* ---- rules ---- */

silt_status ops_identity_validate(const op *o, const data_type *schema, const str *partition_columns, size_t n_partition) {
    for (size_t i = 0; i < schema->n_fields; i++) {
        const field *f = &schema->fields[i];
        identity id;
        if (!ops_is_identity(f, o->a, &id)) continue;
        if (f->type->id != TYPE_LONG) return err_DELTA_IDENTITY_COLUMNS_UNSUPPORTED_DATA_TYPE(o->err, type_sql(f->type, o->a));
        if (id.step == 0) return err_DELTA_IDENTITY_COLUMNS_ILLEGAL_STEP(o->err);
        if (ops_is_generated(f, o->a, NULL) || field_metadata_get(f, "CURRENT_DEFAULT", o->a))
            return err_DELTA_IDENTITY_COLUMNS_WITH_GENERATED_EXPRESSION(o->err);
        for (size_t p = 0; p < n_partition; p++)
            if (str_eq_fold(partition_columns[p], f->name))
                return err_DELTA_IDENTITY_COLUMNS_PARTITION_NOT_SUPPORTED(o->err, f->name);
    }
    return SILT_OK;
}

silt_status ops_identity_check_insert(const op *o, const field *f) {
    identity id;
    bool refused = ops_is_identity(f, o->a, &id) && !id.allow_explicit;
    return refused ? err_DELTA_IDENTITY_COLUMNS_EXPLICIT_INSERT_NOT_SUPPORTED(o->err, f->name) : SILT_OK;
}

silt_status ops_identity_check_update(const op *o, const field *f) {
    return ops_is_identity(f, o->a, NULL) ? err_DELTA_IDENTITY_COLUMNS_UPDATE_NOT_SUPPORTED(o->err, f->name) : SILT_OK;
}

/* ---- giving values ---- */

static silt_status literal(const op *o, int64_t v, expr **out) {
    *out = expr_literal(o->a, (value){.type = &type_long, .as.i64 = v}, (source_span){0, 0});
    return *out ? SILT_OK : error_no_memory(o->err);
}

static silt_status overflow(const op *o, const field *f) { return err_DELTA_IDENTITY_COLUMNS_EXHAUSTED(o->err, f->name); }

/* first + step · number of the row: bound. */
static silt_status next_value(const op *o, const field *f, relation *rows, size_t column, const int32_t *in_rows, expr **out) {
    identity id;
    int64_t first;
    expr *e, *step, *row = expr_call(o->a, "monotonically_increasing_id", NULL, 0, (source_span){0, 0});
    (void)ops_is_identity(f, o->a, &id);
    first = id.start;
    if (id.has_mark && __builtin_add_overflow(id.mark, id.step, &first)) return overflow(o, f);
    if (!row) return error_no_memory(o->err);
    TRY(literal(o, first, &e));
    TRY(literal(o, id.step, &step));
    TRY(ops_tree_call(o, "*", row, step, &step));
    TRY(ops_tree_call(o, "+", e, step, &e));
    if (!in_rows || in_rows[column] < 0) return ops_rows_bind(o, rows, &column, 1, e, out);
    size_t used[2] = {column, (size_t)in_rows[column]};
    expr *given, *flag;
    TRY(ops_rows_name(o, rows, used[0], &given));
    TRY(ops_rows_name(o, rows, used[1], &flag));
    TRY(ops_tree_case(o, 1, given, out));
    (*out)->args[0] = flag;
    (*out)->args[1] = e;
    return ops_rows_bind(o, rows, used, 2, *out, out);
}

silt_status ops_identity_wrap(const op *o, const data_type *schema, query *q, const bool *always, const int32_t *in_rows,
                              identity_run *run, query **out) {
    size_t *columns = ARENA_ARRAY(o->a, schema->n_fields + 1, size_t);
    relation *rows;
    *run = (identity_run){.columns = columns};
    *out = q;
    if (!columns) return error_no_memory(o->err);
    for (size_t i = 0; i < schema->n_fields; i++) {
        bool missing = (always && always[i]) || (in_rows && in_rows[i] >= 0);
        if (missing && ops_is_identity(&schema->fields[i], o->a, NULL)) columns[run->n++] = i;
    }
    if (run->n == 0) return SILT_OK;
    TRY(ops_rows_over(o, q, NULL, &rows));
    field *fields = ARENA_ARRAY(o->a, q->n_columns + 1, field);
    expr **items = ARENA_ARRAY(o->a, q->n_columns + 1, expr *);
    if (!fields || !items) return error_no_memory(o->err);
    for (size_t i = 0; i < q->n_columns; i++) {
        fields[i] = (field){.name = q->column_names[i], .type = q->column_types[i]};
        TRY(ops_rows_column(o, rows, i, &items[i]));
    }
    for (size_t k = 0; k < run->n; k++) {
        size_t at = columns[k];
        TRY(next_value(o, &schema->fields[at], rows, at, always && always[at] ? NULL : in_rows, &items[at]));
    }
    const data_type all = {.id = TYPE_STRUCT, .fields = fields, .n_fields = q->n_columns};
    return ops_rows_select(o, rows, items, &all, out);
}

/* ---- marks ---- */

static silt_status set_mark(const op *o, const data_type *schema, size_t column, int64_t mark, const data_type **out) {
    field *fields = ARENA_ARRAY(o->a, schema->n_fields + 1, field);
    str text = arena_printf(o->a, "%lld", (long long)mark);
    if (!fields || str_is_null(text)) return error_no_memory(o->err);
    memcpy(fields, schema->fields, schema->n_fields * sizeof *fields);
    fields[column].metadata = field_metadata_set(fields[column].metadata, MARK, text, o->a);
    if (str_is_null(fields[column].metadata)) return error_no_memory(o->err);
    *out = type_struct(o->a, fields, schema->n_fields);
    return *out ? SILT_OK : error_no_memory(o->err);
}

silt_status ops_identity_finish(const op *o, const identity_run *run, int64_t n_rows, write_target *t) {
    if (n_rows <= 0) return SILT_OK;
    for (size_t i = 0; i < run->n; i++) {
        const field *f = &t->schema->fields[run->columns[i]];
        identity id;
        int64_t mark, way;
        (void)ops_is_identity(f, o->a, &id);
        bool too_far = __builtin_mul_overflow(id.step, id.has_mark ? n_rows : n_rows - 1, &way) ||
                       __builtin_add_overflow(id.has_mark ? id.mark : id.start, way, &mark);
        if (too_far) return overflow(o, f);
        TRY(set_mark(o, t->schema, run->columns[i], mark, &t->schema));
        t->metadata_changed = true;
    }
    if (!t->metadata_changed) return SILT_OK;
    t->metadata.schema = t->schema;
    t->metadata.schema_json = STR_NULL; /* written anew from the schema */
    return SILT_OK;
}

static const field *by_physical_name(const data_type *schema, str name) {
    for (size_t i = 0; schema && i < schema->n_fields; i++)
        if (str_eq(schema->fields[i].physical_name, name)) return &schema->fields[i];
    return NULL;
}

silt_status ops_identity_keep_marks(const op *o, const data_type *now, delta_metadata *m) {
    for (size_t i = 0; i < m->schema->n_fields; i++) {
        identity then, here;
        const field *f = by_physical_name(now, m->schema->fields[i].physical_name);
        if (!f || !ops_is_identity(&m->schema->fields[i], o->a, &then) || !ops_is_identity(f, o->a, &here) || !here.has_mark) continue;
        bool is_further = !then.has_mark || (then.step > 0 ? here.mark > then.mark : here.mark < then.mark);
        if (!is_further) continue;
        TRY(set_mark(o, m->schema, i, here.mark, &m->schema));
        m->schema_json = STR_NULL; /* written anew from the schema */
    }
    return SILT_OK;
}

/* ---- what another writer did ---- */

static str schema_without_marks(const op *o, const data_type *schema) {
    field *fields = ARENA_ARRAY(o->a, schema->n_fields + 1, field);
    if (!fields) return STR_NULL;
    for (size_t i = 0; i < schema->n_fields; i++) {
        fields[i] = schema->fields[i];
        if (ops_is_identity(&fields[i], o->a, NULL))
            fields[i].metadata = field_metadata_set(fields[i].metadata, MARK, STR_NULL, o->a);
        if (str_is_null(fields[i].metadata)) return STR_NULL;
    }
    const data_type *plain = type_struct(o->a, fields, schema->n_fields);
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    if (plain) schema_write_json(&b, plain);
    str text = plain && buf_ok(&b) ? arena_str(o->a, buf_str(&b)) : STR_NULL;
    buf_dispose(&b);
    return text;
}

static bool same_lists(const str *a, size_t n_a, const str *b, size_t n_b) {
    bool same = n_a == n_b;
    for (size_t i = 0; same && i < n_a; i++) same = str_eq(a[i], b[i]);
    return same;
}

bool ops_identity_moved_only(const op *o, const delta_metadata *before, const delta_metadata *now) {
    const str_map *c = &before->configuration, *d = &now->configuration;
    if (!str_eq(before->id, now->id) ||
        !same_lists(before->partition_columns, before->n_partition_columns, now->partition_columns, now->n_partition_columns))
        return false;
    if (!same_lists(c->keys, c->count, d->keys, d->count) || !same_lists(c->values, c->count, d->values, d->count)) return false;
    str was = schema_without_marks(o, before->schema), is = schema_without_marks(o, now->schema);
    return was.ptr && is.ptr && str_eq(was, is);
}
