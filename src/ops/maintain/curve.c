/* The order of rows along a curve: its columns checked, the ranges of their values taken from a sample of the rows that the log says are there. */
#include "ops/maintain/curve.h"

#include "delta/stats_columns.h"

#define RANGES_KEY     "spark.databricks.io.skipping.mdc.rangeId.max"
#define DEFAULT_RANGES 1000
#define STATS_CHECK    "spark.databricks.delta.optimize.zorder.checkStatsCollection.enabled"
#define SAMPLE_ROWS    ((int64_t)100000) /* a hundred for each range, as Spark takes them: the ranges of equal size are that within a tenth */
#define ROW_BYTES      ((int64_t)32)     /* of a file, where nobody knows its rows: few, so that the sample is rather too small */

struct curve {
    const curve_columns *columns;
    size_t n_columns; /* as many as a key has room for */
    engine_curve *ranges;
};

/* ---- columns ---- */

static str columns_text(const op *o, const str *names, size_t n, const char *before, const char *behind) {
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    buf_append_z(&b, before);
    for (size_t i = 0; i < n; i++) {
        if (i) buf_append_z(&b, ", ");
        buf_append(&b, names[i]);
    }
    buf_append_z(&b, behind);
    return buf_take(&b, o->a);
}

/* As written, each part quoted where it must be. */
static silt_status curve_name(const op *o, const name_parts *column, str *out) {
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    for (size_t i = 0; i < column->count; i++) {
        if (i) buf_append_char(&b, '.');
        identifier_write(&b, column->parts[i]);
    }
    *out = buf_take(&b, o->a);
    return str_is_null(*out) ? error_no_memory(o->err) : SILT_OK;
}

silt_status curve_names(const op *o, const name_parts *columns, size_t n, str *out) {
    str *names = ARENA_ARRAY(o->a, n + 1, str);
    if (!names) return error_no_memory(o->err);
    for (size_t i = 0; i < n; i++) TRY(curve_name(o, &columns[i], &names[i]));
    *out = columns_text(o, names, n, "", "");
    return str_is_null(*out) ? error_no_memory(o->err) : SILT_OK;
}

/* The path of a name, and the type at its end; *out_type NULL where there is no such field. */
static silt_status find_path(const op *o, const data_type *schema, const str *parts, size_t n, bool physical, column_path *out, const data_type **out_type) {
    uint32_t *index = ARENA_ARRAY(o->a, n + 1, uint32_t);
    if (!index) return error_no_memory(o->err);
    *out_type = NULL;
    for (size_t i = 0; i < n; i++) {
        int at = -1;
        if (schema->id == TYPE_STRUCT && !physical) at = schema_find(schema, parts[i]);
        for (size_t k = 0; schema->id == TYPE_STRUCT && physical && k < schema->n_fields && at < 0; k++)
            if (str_eq(schema->fields[k].physical_name, parts[i])) at = (int)k;
        if (at < 0) return SILT_OK;
        index[i] = (uint32_t)at;
        schema = schema->fields[at].type;
    }
    *out = (column_path){index, n};
    *out_type = schema;
    return SILT_OK;
}

static bool has_stats(const data_type *schema, const data_type *counted, column_path path) {
    for (size_t i = 0; i < path.depth; i++) {
        int at = counted && counted->id == TYPE_STRUCT ? schema_find(counted, schema->fields[path.index[i]].physical_name) : -1;
        if (at < 0) return false;
        counted = counted->fields[at].type;
        schema = schema->fields[path.index[i]].type;
    }
    return true;
}

static silt_status check_type(const op *o, const data_type *type, str name) {
    if (engine_curve_takes(type)) return SILT_OK;
    silt_status status = err_UNSUPPORTED_FEATURE(o->err, "ZORDER BY a column of this type");
    error_detail(o->err, "%.*s is %.*s", STR_ARG(name), STR_ARG(type_sql(type, o->a)));
    error_hint(o->err, "Name columns of numbers, strings, dates or timestamps, or a field of the struct.");
    return status;
}

/* A field that its struct lacks is told as anywhere else. */
static silt_status no_such_column(const op *o, const data_type *schema, const name_parts *column, str name) {
    for (size_t i = 0; i < column->count && schema->id == TYPE_STRUCT; i++) {
        int at = schema_find(schema, column->parts[i]);
        if (at < 0 && i > 0) return err_FIELD_NOT_FOUND(o->err, column->parts[i], type_sql(schema, o->a));
        if (at < 0) break;
        schema = schema->fields[at].type;
    }
    return err_DELTA_ZORDERING_COLUMN_DOES_NOT_EXIST(o->err, name);
}

silt_status curve_zorder_columns(const op *o, const delta_snapshot *s, const name_parts *columns, size_t n, curve_columns *out) {
    const delta_metadata *m = delta_snapshot_metadata(s);
    const data_type *bounds, *counted, *type;
    bool checks = ops_setting_bool(o, STATS_CHECK, true);
    str *names = ARENA_ARRAY(o->a, n + 1, str), *bare = ARENA_ARRAY(o->a, n + 1, str);
    column_path *paths = ARENA_ARRAY(o->a, n + 1, column_path);
    size_t n_bare = 0;
    if (!names || !bare || !paths) return error_no_memory(o->err);
    TRY(delta_stats_types(m, o->a, &bounds, &counted, o->err));
    for (size_t i = 0; i < n; i++) {
        TRY(curve_name(o, &columns[i], &names[i]));
        for (size_t k = 0; columns[i].count == 1 && k < m->n_partition_columns; k++)
            if (str_eq_fold(m->partition_columns[k], columns[i].parts[0])) return err_DELTA_ZORDERING_ON_PARTITION_COLUMN(o->err, names[i]);
        TRY(find_path(o, m->schema, columns[i].parts, columns[i].count, false, &paths[i], &type));
        if (!type) return no_such_column(o, m->schema, &columns[i], names[i]);
        TRY(check_type(o, type, names[i]));
        if (checks && !has_stats(m->schema, counted, paths[i])) bare[n_bare++] = names[i];
    }
    if (n_bare) return err_DELTA_ZORDERING_ON_COLUMN_WITHOUT_STATS(o->err, columns_text(o, bare, n_bare, "[", "]"));
    *out = (curve_columns){names, paths, n};
    return SILT_OK;
}

silt_status curve_clustering_columns(const op *o, const delta_snapshot *s, curve_columns *out) {
    const json_node *columns;
    *out = (curve_columns){0};
    TRY(ops_clustering_columns(s, o->a, &out->names, &out->n, o->err));
    TRY(ops_clustering_paths(s, o->a, &columns, o->err));
    column_path *paths = ARENA_ARRAY(o->a, out->n + 1, column_path);
    if (!paths) return error_no_memory(o->err);
    for (size_t i = 0; i < out->n; i++) {
        const json_node *path = &columns->values[i];
        const data_type *type;
        str *parts = ARENA_ARRAY(o->a, path->count + 1, str);
        if (!parts) return error_no_memory(o->err);
        for (size_t k = 0; k < path->count; k++) parts[k] = path->values[k].text;
        TRY(find_path(o, delta_snapshot_metadata(s)->schema, parts, path->count, true, &paths[i], &type));
        if (!type) return err_DELTA_COLUMN_NOT_FOUND_IN_SCHEMA(o->err, out->names[i]);
        TRY(check_type(o, type, out->names[i]));
    }
    out->paths = paths;
    return SILT_OK;
}

/* ---- expressions over rows ---- */

static silt_status column_at(const op *o, relation *rows, column_path path, expr **out) {
    TRY(ops_rows_column(o, rows, path.index[0], out));
    for (size_t i = 1; i < path.depth; i++) {
        const data_type *type = (*out)->type;
        expr *e = expr_new(o->a, EXPR_FIELD, (source_span){0, 0});
        if (!e || !(e->args = ARENA_ARRAY(o->a, 1, expr *))) return error_no_memory(o->err);
        e->args[0] = *out;
        e->n_args = 1;
        e->field_index = (int32_t)path.index[i];
        e->field_name = type->fields[path.index[i]].name;
        e->type = type->fields[path.index[i]].type;
        e->nullable = true;
        *out = e;
    }
    return SILT_OK;
}

static silt_status columns_of(const op *o, const curve_columns *columns, size_t n, relation *rows, expr ***out) {
    *out = ARENA_ARRAY(o->a, n + 1, expr *);
    if (!*out) return error_no_memory(o->err);
    for (size_t i = 0; i < n; i++) TRY(column_at(o, rows, columns->paths[i], &(*out)[i]));
    return SILT_OK;
}

/* ---- the sample ---- */

typedef struct row_estimate {
    const uint8_t *keep;
    int64_t rows;
} row_estimate;

static silt_status add_bytes(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    row_estimate *e = ctx;
    (void)err;
    if (e->keep[i]) e->rows += add->size_bytes / ROW_BYTES;
    return SILT_OK;
}

/* How many rows there are, for the sample's sake. */
static silt_status count_rows(const op *o, const delta_snapshot *s, const uint8_t *keep, const table_source *source, int64_t *out) {
    row_estimate e = {.keep = keep};
    if (source->ops->row_count(source, out)) return SILT_OK;
    TRY(delta_snapshot_each_file(s, false, add_bytes, &e, o->err));
    *out = e.rows;
    return SILT_OK;
}

static void release_source(void *source) {
    table_source *t = source;
    t->ops->release(t);
}

static silt_status kept_source(const op *o, const delta_snapshot *s, const uint8_t *keep, table_source **out) {
    TRY(delta_table_source_files(s, keep, out, o->err));
    if (arena_defer(o->a, release_source, *out)) return SILT_OK;
    release_source(*out);
    return error_no_memory(o->err);
}

static silt_status sample_query(const op *o, const curve *c, relation *rows, int64_t every, query **out) {
    expr **items, *file, *row;
    size_t n_fields = rows->source->schema->n_fields;
    field *fields = ARENA_ARRAY(o->a, c->n_columns + 1, field);
    if (!fields) return error_no_memory(o->err);
    TRY(columns_of(o, c->columns, c->n_columns, rows, &items));
    for (size_t i = 0; i < c->n_columns; i++) fields[i] = field_make(c->columns->names[i], items[i]->type, true);
    const data_type *schema = type_struct(o->a, fields, c->n_columns);
    if (!schema) return error_no_memory(o->err);
    TRY(ops_rows_select(o, rows, items, schema, out));
    if (every > 1) {
        TRY(ops_rows_column(o, rows, n_fields + 1, &file));
        TRY(ops_rows_column(o, rows, n_fields + 2, &row));
        TRY(engine_curve_sampled(every, file, row, o->a, &(*out)->where, o->err));
    }
    return expr_push_predicates(*out, o->env->bind, o->a, o->err);
}

static silt_status range_count(const op *o, int64_t *out) {
    str text = ops_setting(o, RANGES_KEY);
    *out = DEFAULT_RANGES;
    if (str_is_null(text)) return SILT_OK;
    return str_to_i64(text, out) && *out > 1 ? SILT_OK : err_INVALID_PARAMETER_VALUE(o->err, STR(RANGES_KEY), text, "a whole number above 1");
}

silt_status curve_open(const op *o, const delta_snapshot *s, const uint8_t *keep, const curve_columns *columns, curve_kind kind, curve **out) {
    curve *c = ARENA_NEW(o->a, curve);
    table_source *source;
    relation *rows;
    query *sample;
    int64_t n_rows, ranges;
    *out = NULL;
    if (!c) return error_no_memory(o->err);
    *c = (curve){.columns = columns, .n_columns = columns->n < CURVE_MAX_COLUMNS ? columns->n : CURVE_MAX_COLUMNS};
    TRY(range_count(o, &ranges));
    TRY(kept_source(o, s, keep, &source));
    TRY(count_rows(o, s, keep, source, &n_rows));
    TRY(ops_rows_of_source(o, source, true, STR_NULL, &rows));
    TRY(sample_query(o, c, rows, n_rows / SAMPLE_ROWS, &sample));
    if (o->env->progress) o->env->progress(o->env->progress_ctx, "looking at a sample of the rows", -1);
    TRY(engine_curve_open(o->env->engine, sample, o->env->bind, kind, ranges, &c->ranges, o->err));
    *out = c;
    return SILT_OK;
}

silt_status curve_order(const op *o, const curve *c, relation *rows, sort_key **out, size_t *out_n) {
    expr **items;
    sort_key *k = ARENA_NEW(o->a, sort_key);
    if (!k) return error_no_memory(o->err);
    TRY(columns_of(o, c->columns, c->n_columns, rows, &items));
    TRY(engine_curve_key(c->ranges, items, o->a, &k->value, o->err));
    k->nulls_first = true;
    *out = k;
    *out_n = 1;
    return SILT_OK;
}

void curve_close(const op *o, curve *c) {
    (void)o;
    if (!c) return;
    engine_curve_close(c->ranges);
    c->ranges = NULL;
}
