/*
 * Planning a row-level change: which files lose rows, and what becomes of each; and the FROM items and queries that its writers are made of.
 *
 *   no live row left                     the file is removed: nothing is read or written
 *   deletion vectors, few rows gone      added again with a vector of all rows that are gone, old and new
 *   otherwise                            the other rows are copied to new files
 *
 * A vector costs every later read of the file; when more rows are hidden than shown, copying the rest is the cheaper half. Not so with the change data feed: there
 * the vector itself tells what changed, and a copied file would need change files for all of it.
 */
#include "ops/row_change.h"

#include "delta/properties.h"
#include "table/stats.h"

#define HIDDEN_SHARE_MAX 0.5 /* of a file's rows, before it is rewritten; silt.deletionVectors.maxHiddenShare */
#define FETCH_ALONE_MAX  16  /* so few files are fetched one by one; more in one pass over the log */

static const str row_id_name = {"_silt_row_id", 12}, row_version_name = {"_silt_row_commit_version", 24},
                 change_type_name = {"_change_type", 12};

bool row_change_uses_dv(const op *o, const write_target *t, const char *operation) {
    if (!delta_protocol_has(&t->protocol, "deletionVectors") ||
        !delta_config_bool(&t->metadata.configuration, "delta.enableDeletionVectors"))
        return false;
    str key = arena_printf(o->a, "spark.databricks.delta.%s.deletionVectors.persistent", operation);
    return str_is_null(key) || ops_setting_bool(o, key.ptr, true);
}

bool row_change_has_feed(const write_target *t) {
    return delta_config_bool(&t->metadata.configuration, "delta.enableChangeDataFeed");
}

/* ---- what rows look like ---- */

/* The table's fields and n more. */
static silt_status widen_schema(const op *o, const data_type *schema, const field *more, size_t n, const data_type **out) {
    field *fields = ARENA_ARRAY(o->a, schema->n_fields + n, field);
    if (!fields) return error_no_memory(o->err);
    memcpy(fields, schema->fields, schema->n_fields * sizeof *fields);
    memcpy(fields + schema->n_fields, more, n * sizeof *fields);
    *out = type_struct(o->a, fields, schema->n_fields + n);
    return *out ? SILT_OK : error_no_memory(o->err);
}

silt_status row_change_shape(row_change *c) {
    const str_map *configuration = &c->target.metadata.configuration;
    field change_type = field_make(change_type_name, &type_string, true);
    TRY(widen_schema(c->o, c->target.schema, &change_type, 1, &c->change_schema));
    str id = delta_config_str(configuration, "delta.rowTracking.materializedRowIdColumnName");
    str version = delta_config_str(configuration, "delta.rowTracking.materializedRowCommitVersionColumnName");
    c->has_row_ids = delta_protocol_has(&c->target.protocol, "rowTracking") &&
                     delta_config_bool(configuration, "delta.enableRowTracking") && id.len && version.len;
    c->row_schema = c->target.schema;
    if (!c->has_row_ids) return SILT_OK;
    field ids[2] = {field_make(row_id_name, &type_long, true), field_make(row_version_name, &type_long, true)};
    ids[0].physical_name = id;
    ids[1].physical_name = version;
    if (delta_config_iceberg_compat(configuration) == 3) { /* Iceberg's readers find its row lineage by these ids */
        ids[0].field_id = ICEBERG_ROW_ID;
        ids[1].field_id = ICEBERG_LAST_UPDATED_SEQUENCE_NUMBER;
    }
    return widen_schema(c->o, c->target.schema, ids, 2, &c->row_schema);
}

/* ---- the touched files ---- */

static const bitmap *gone_of(const row_change *c, size_t file) { return c->gone ? row_set_of_file(c->gone, file) : NULL; }

static bool copy_str(str *s, arena *a) {
    if (str_is_null(*s)) return true;
    *s = arena_str(a, *s);
    return !str_is_null(*s);
}

static bool copy_strs(const str **items, size_t n, arena *a) {
    str *copy = ARENA_ARRAY(a, n + 1, str);
    for (size_t i = 0; copy && i < n; i++) {
        copy[i] = (*items)[i];
        if (!copy_str(&copy[i], a)) return false;
    }
    *items = copy;
    return copy != NULL;
}

static silt_status take_file(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    row_change *c = ctx;
    arena *a = c->o->a;
    if (!c->touched[i]) return SILT_OK;
    touched_file *f = &c->files[c->n_files++];
    *f = (touched_file){.index = i, .add = *add, .physical = -1, .gone = -1};
    bool ok = copy_str(&f->add.path, a) && copy_str(&f->add.stats, a) && copy_str(&f->add.tags, a) &&
              copy_str(&f->add.clustering_provider, a) && copy_str(&f->add.dv.path_or_inline, a) &&
              copy_strs(&f->add.partition_values.keys, add->partition_values.count, a) &&
              copy_strs(&f->add.partition_values.values, add->partition_values.count, a);
    return ok ? SILT_OK : error_no_memory(err);
}

static silt_status find_touched(row_change *c) {
    const op *o = c->o;
    size_t total = delta_snapshot_n_files(c->snapshot), n = 0;
    c->touched = ARENA_ARRAY(o->a, total + 1, uint8_t);
    c->rewritten = ARENA_ARRAY(o->a, total + 1, uint8_t);
    if (!c->touched || !c->rewritten) return error_no_memory(o->err);
    for (size_t i = 0; i < total; i++) {
        c->touched[i] = (c->whole_files && c->whole_files[i]) || gone_of(c, i);
        n += c->touched[i];
    }
    c->files = ARENA_ARRAY(o->a, n + 1, touched_file);
    if (!c->files) return error_no_memory(o->err);
    if (n > FETCH_ALONE_MAX) return delta_snapshot_each_file(c->snapshot, true, take_file, c, o->err);
    for (size_t i = 0; i < total && c->n_files < n; i++) {
        delta_add add;
        if (!c->touched[i]) continue;
        TRY(delta_snapshot_file(c->snapshot, i, true, o->a, &add, o->err));
        TRY(take_file(c, i, &add, o->err));
    }
    return SILT_OK;
}

/* Rows in the file: from the log, or where the log does not say from the file itself. */
static silt_status count_rows(const row_change *c, touched_file *f, bool must_know) {
    const op *o = c->o;
    file_stats stats;
    file_stats_parse(f->add.stats, delta_snapshot_metadata(c->snapshot)->schema, o->a, &stats);
    f->physical = stats.num_records;
    if (f->physical >= 0 || !must_know) return SILT_OK;
    store *s;
    str path, local;
    const delta_env *env = o->env->delta;
    if (!env->parquet || !env->parquet->count_rows)
        return err_UNSUPPORTED_FEATURE(o->err, "changing rows of files whose number of rows is not in the log");
    TRY(delta_resolve_path(env, c->root, f->add.path, o->a, &s, &path, o->err));
    TRY(store_local_read_path(s, path, o->a, &local, o->err));
    return env->parquet->count_rows(env->parquet, local, &f->physical, o->err);
}

double row_change_hidden_share_max(const op *o) {
    double share;
    str text = ops_setting(o, "silt.deletionVectors.maxHiddenShare");
    return !str_is_null(text) && str_to_f64(text, &share) ? share : HIDDEN_SHARE_MAX;
}

static silt_status decide(row_change *c, touched_file *f, double share_max) {
    const bitmap *gone = gone_of(c, f->index);
    bool whole = c->whole_files && c->whole_files[f->index];
    int64_t hidden = f->add.dv.storage ? f->add.dv.cardinality : 0;
    TRY(count_rows(c, f, !whole));
    f->gone = !whole ? (int64_t)bitmap_cardinality(gone) : f->physical >= 0 ? f->physical - hidden : -1;
    f->fate = FATE_REMOVED;
    if (whole || f->gone >= f->physical - hidden) return SILT_OK;
    bool few = (double)(hidden + f->gone) <= share_max * (double)f->physical;
    f->fate = c->use_dv && (few || row_change_has_feed(&c->target)) ? FATE_MASKED : FATE_REWRITTEN;
    c->n_masked += f->fate == FATE_MASKED;
    c->n_rewritten += f->fate == FATE_REWRITTEN;
    c->rewritten[f->index] = f->fate == FATE_REWRITTEN;
    return SILT_OK;
}

static void count_file(row_change *c, const touched_file *f) {
    row_change_counts *n = &c->counts;
    bool had_dv = f->add.dv.storage != 0, masked = f->fate == FATE_MASKED;
    n->files_touched++;
    n->bytes_touched += f->add.size_bytes;
    if (!masked) {
        n->files_removed++;
        n->bytes_removed += f->add.size_bytes;
    }
    n->dvs_added += masked;
    n->dvs_removed += had_dv;
    n->dvs_updated += masked && had_dv;
    if (f->gone < 0)
        n->rows_gone_known = false;
    else
        n->rows_gone += f->gone;
    if (f->fate == FATE_REWRITTEN) n->rows_copied += f->physical - (had_dv ? f->add.dv.cardinality : 0) - f->gone;
}

silt_status row_change_plan(row_change *c) {
    if (c->planned) return SILT_OK;
    TRY(row_change_shape(c));
    TRY(find_touched(c));
    double share_max = row_change_hidden_share_max(c->o);
    c->counts = (row_change_counts){.rows_gone_known = true};
    for (size_t i = 0; i < c->n_files; i++) {
        TRY(decide(c, &c->files[i], share_max));
        count_file(c, &c->files[i]);
    }
    c->needs_changes = row_change_has_feed(&c->target) && (c->updates || c->n_rewritten > 0);
    c->planned = true;
    return SILT_OK;
}

/* ---- FROM items and queries ---- */

static void release_source(void *source) {
    table_source *t = source;
    t->ops->release(t);
}

silt_status row_change_rows(row_change *c, const uint8_t *keep, str alias, relation **out) {
    const op *o = c->o;
    table_source *source;
    TRY(delta_table_source_files(c->snapshot, keep ? keep : c->touched, &source, o->err));
    if (!arena_defer(o->a, release_source, source)) {
        release_source(source);
        return error_no_memory(o->err);
    }
    source->schema = c->target.schema; /* of the end of the statement: columns that it adds are read as NULL */
    return ops_rows_of_source(o, source, true, alias, out);
}

silt_status row_change_is_gone(row_change *c, relation *rows, expr **out) {
    const op *o = c->o;
    size_t n = rows->source->schema->n_fields;
    expr *file, *row;
    if (!c->row_set_id) TRY(engine_row_set_register(o->env->engine, c->gone, &c->row_set_id, o->err));
    TRY(ops_rows_column(o, rows, n + 1, &file));
    TRY(ops_rows_column(o, rows, n + 2, &row));
    return engine_in_row_set(c->row_set_id, file, row, o->a, out, o->err);
}

static silt_status metadata_field(const op *o, relation *rows, const char *name, expr **out) {
    size_t n = rows->source->schema->n_fields;
    int at = schema_find(rows->columns[n].type, str_of(name));
    expr *metadata;
    if (at < 0) return err_INTERNAL_ERROR(o->err, "row ids of a table without them");
    TRY(ops_rows_column(o, rows, n, &metadata));
    TRY(ops_tree_field(o, metadata, str_of(name), out));
    (*out)->field_index = at;
    (*out)->type = &type_long;
    (*out)->nullable = true;
    return SILT_OK;
}

silt_status row_change_row_ids(row_change *c, relation *rows, expr **out_id, expr **out_version) {
    TRY(metadata_field(c->o, rows, "row_id", out_id));
    return metadata_field(c->o, rows, "row_commit_version", out_version);
}

static silt_status table_columns(const row_change *c, relation *rows, size_t more, expr ***out) {
    size_t n = c->target.schema->n_fields;
    *out = ARENA_ARRAY(c->o->a, n + more, expr *);
    if (!*out) return error_no_memory(c->o->err);
    for (size_t i = 0; i < n; i++) TRY(ops_rows_column(c->o, rows, i, &(*out)[i]));
    return SILT_OK;
}

silt_status row_change_select(row_change *c, relation *rows, expr *condition, query **out) {
    size_t n = c->target.schema->n_fields;
    expr **items;
    TRY(table_columns(c, rows, 2, &items));
    if (c->has_row_ids) TRY(row_change_row_ids(c, rows, &items[n], &items[n + 1]));
    TRY(ops_rows_select(c->o, rows, items, c->row_schema, out));
    (*out)->where = condition;
    return SILT_OK;
}

silt_status row_change_select_changes(row_change *c, relation *rows, expr *condition, const char *change_type, query **out) {
    const op *o = c->o;
    size_t n = c->target.schema->n_fields;
    expr **items, *type;
    TRY(table_columns(c, rows, 1, &items));
    TRY(ops_tree_text(o, str_of(change_type), &type));
    TRY(expr_bind(type, NULL, o->env->bind, o->a, &items[n], o->err));
    TRY(ops_rows_select(o, rows, items, c->change_schema, out));
    (*out)->where = condition;
    return SILT_OK;
}

silt_status row_change_union(const op *o, query *a, query *b, query **out) {
    *out = a ? a : b;
    if (!a || !b) return SILT_OK;
    query *q = ARENA_NEW(o->a, query);
    if (!q || !(q->column_nullable = ARENA_ARRAY(o->a, a->n_columns + 1, bool))) return error_no_memory(o->err);
    q->set = SET_UNION;
    q->set_all = true;
    q->left = a;
    q->right = b;
    q->id = (a->id > b->id ? a->id : b->id) + 1;
    q->n_columns = a->n_columns;
    q->column_names = a->column_names;
    q->column_types = a->column_types;
    for (size_t i = 0; i < q->n_columns; i++) q->column_nullable[i] = a->column_nullable[i] || b->column_nullable[i];
    *out = q;
    return SILT_OK;
}
