/*
 * INSERT and the DataFrame writer into an existing table: pair the columns, evolve the schema where that is allowed, write the files, remove what an overwrite
 * replaces, commit once. Nothing is visible before the commit; on any failure the written files go.
 */
#include "delta/properties.h"
#include "ops/commit.h"
#include "ops/generated.h"
#include "ops/identity.h"
#include "ops/replace.h"
#include "ops/take_files.h"

/** One write while it runs. */
typedef struct write_run {
    const op *o;
    const write_job *job;
    const insert_spec *spec;
    write_options options;
    bool asked_dynamic; /**< commitInfo says so of appends and unpartitioned tables too, as Spark has it */
    bool dynamic;       /**< an overwrite replaces only partitions that hold new rows */
    const value *fixed; /**< static overwrite: wanted value per partition column (type NULL: any); NULL: none is fixed */
    str predicate;      /**< how commitInfo names it */
    write_target target;
    bool schema_replaced; /**< by overwriteSchema */
    identity_run identity;
    bool metadata_changed; /**< other than by identity columns */
    delta_txn *txn;
    write_spec files;
    write_result written;
    removal removed;
    bool replaces;            /**< by a condition: replace.c finds, writes and stages instead */
    replace_run replacement;
    insert_spec own_spec;     /**< with the source of a replacement */
} write_run;

str ops_write_user_metadata(const op *o, const write_options *options) {
    return str_is_null(options->user_metadata) ? ops_setting(o, "spark.databricks.delta.commitInfo.userMetadata")
                                               : options->user_metadata;
}

/* ---- modes ---- */

static bool dynamic_mode(const write_run *w) {
    if (w->options.dynamic_known || w->options.dynamic_overwrite) return w->options.dynamic_overwrite;
    return str_eq_ascii_fold(ops_setting(w->o, "spark.sql.sources.partitionOverwriteMode"), STR("dynamic"));
}

static silt_status check_options(write_run *w) {
    w->replaces = replace_is_asked(w->spec, &w->options);
    bool append_only = delta_config_bool(&delta_snapshot_metadata(w->spec->snapshot)->configuration, "delta.appendOnly");
    if (append_only && (w->spec->overwrite || w->replaces)) return err_DELTA_CANNOT_MODIFY_APPEND_ONLY(w->o->err, w->spec->table_name); /* an empty one too */
    if (ops_setting_bool(w->o, "spark.databricks.delta.schema.autoMerge.enabled", false)) w->options.merge_schema = true;
    TRY(ops_idempotence_options(w->o, &w->options));
    w->asked_dynamic = dynamic_mode(w);
    w->dynamic = w->asked_dynamic && w->spec->overwrite && delta_snapshot_metadata(w->spec->snapshot)->n_partition_columns > 0;
    if (w->options.overwrite_schema && w->dynamic) return err_DELTA_OVERWRITE_SCHEMA_WITH_DYNAMIC_PARTITION_OVERWRITE(w->o->err);
    return SILT_OK;
}

/* ---- static partitions ---- */

/* (p <=> 'a'), (p IS NULL); each further column makes (… AND …) of it, as Spark writes the condition. */
static silt_status add_to_predicate(const op *o, str column, const value *v, str *text) {
    buf b;
    expr *literal = expr_literal(o->a, *v, (source_span){0, 0});
    if (!literal) return error_no_memory(o->err);
    literal->type = v->type;
    buf_init(&b, BUF_MAX_DEFAULT);
    if (!str_is_null(*text)) buf_printf(&b, "(%.*s AND ", STR_ARG(*text));
    buf_append_char(&b, '(');
    identifier_write(&b, column);
    buf_append_z(&b, v->is_null ? " IS NULL" : " <=> ");
    if (!v->is_null) expr_print_spark(literal, &b);
    buf_append_z(&b, str_is_null(*text) ? ")" : "))");
    *text = buf_take(&b, o->a);
    return str_is_null(*text) ? error_no_memory(o->err) : SILT_OK;
}

static silt_status fold_partition(const op *o, const field *f, expr *given, value *out) {
    expr *e;
    TRY(expr_coerce(given, f->type, CAST_STORE_ASSIGNMENT, f->name, o->env->bind, o->a, &e, o->err));
    TRY(expr_fold(e, o->env->bind, o->a, out, o->err));
    out->type = f->type;
    if (f->type->id == TYPE_STRING && !out->is_null && out->as.bytes.len == 0) out->is_null = true;
    return SILT_OK;
}

static expr *static_value(const insert_spec *spec, str column) {
    for (size_t i = 0; i < spec->n_partition; i++)
        if (str_eq_fold(spec->partition_names[i], column)) return spec->partition_values[i];
    return NULL;
}

/* INSERT OVERWRITE … PARTITION (p = constant, …): the part of the table that is replaced. */
static silt_status static_partitions(write_run *w) {
    const delta_metadata *m = delta_snapshot_metadata(w->spec->snapshot);
    value *values = ARENA_ARRAY(w->o->a, m->n_partition_columns + 1, value);
    if (!w->spec->overwrite || w->dynamic) return SILT_OK;
    if (!values) return error_no_memory(w->o->err);
    for (size_t i = 0; i < m->n_partition_columns; i++) {
        expr *given = static_value(w->spec, m->partition_columns[i]);
        if (!given) continue;
        const field *f = &m->schema->fields[schema_find(m->schema, m->partition_columns[i])];
        TRY(fold_partition(w->o, f, given, &values[i]));
        TRY(add_to_predicate(w->o, f->name, &values[i], &w->predicate));
        w->fixed = values;
    }
    return SILT_OK;
}

/* ---- the table's shape after the write ---- */

static silt_status check_partition_by(const write_run *w) {
    const delta_metadata *m = &w->target.metadata;
    if (w->job->n_partition_by == 0) return SILT_OK;
    bool same = w->job->n_partition_by == m->n_partition_columns;
    for (size_t i = 0; same && i < m->n_partition_columns; i++)
        same = str_eq_fold(w->job->partition_by[i], m->partition_columns[i]);
    return same ? SILT_OK : err_DELTA_METADATA_MISMATCH(w->o->err, STR("the partition columns of the write are not the table's"));
}

/* overwriteSchema: the data's columns replace the table's; id and properties stay. */
static silt_status replace_schema(write_run *w) {
    const op *o = w->o;
    const data_type *schema;
    const str *partition_columns;
    TRY(ops_new_table_schema_of(o, w->spec->source, &schema));
    TRY(ops_schema_check_partitioning(o, schema, w->job->partition_by, w->job->n_partition_by, &partition_columns));
    const data_type *old = w->target.schema;
    bool same = type_equal(old, schema) && w->job->n_partition_by == w->target.metadata.n_partition_columns;
    for (size_t i = 0; same && i < w->job->n_partition_by; i++)
        same = str_eq(partition_columns[i], w->target.metadata.partition_columns[i]);
    for (size_t i = 0; same && i < schema->n_fields; i++) same = old->fields[i].nullable;
    if (same) return SILT_OK;
    w->target.metadata.partition_columns = partition_columns;
    w->target.metadata.n_partition_columns = w->job->n_partition_by;
    w->schema_replaced = true;
    TRY(ops_write_target_set_schema(o, &w->target, schema));
    return ops_checks_validate(o, w->target.schema, &w->target.metadata.configuration);
}

/* Values that the statement leaves to the table: identity columns, then generated ones, which may depend on them. */
static silt_status fill_missing(write_run *w, const assignment *as, query *q, query **out) {
    const op *o = w->o;
    const data_type *schema = w->target.schema;
    bool *missing = ARENA_ARRAY(o->a, schema->n_fields + 1, bool), *computed = ARENA_ARRAY(o->a, schema->n_fields + 1, bool);
    if (!missing || !computed) return error_no_memory(o->err);
    for (size_t c = 0; c < schema->n_fields; c++) {
        missing[c] = as->values[c].origin == VALUE_DEFAULT;
        computed[c] = missing[c] && ops_is_generated(&schema->fields[c], o->a, NULL);
        if (!missing[c]) TRY(ops_identity_check_insert(o, &schema->fields[c]));
    }
    const generated_missing without = {.always = missing};
    TRY(ops_identity_wrap(o, schema, q, missing, NULL, &w->identity, &q));
    w->target.computed = computed;
    return ops_generated_wrap(o, schema, q, &without, out);
}

static silt_status plan_rows(write_run *w, query **out) {
    const op *o = w->o;
    const delta_metadata *m = &w->target.metadata;
    if (w->spec->overwrite && w->options.overwrite_schema)
        TRY(replace_schema(w));
    else
        TRY(check_partition_by(w));
    merge_rules rules = {.evolve = w->options.merge_schema,
                         .widen = w->options.merge_schema && delta_config_bool(&m->configuration, "delta.enableTypeWidening"),
                         .fields_by_name = w->spec->is_data_frame,
                         .strict_types = w->spec->is_data_frame,
                         .table_name = w->spec->table_name};
    assignment as;
    const data_type *schema;
    TRY(ops_assign_columns(o, w->spec, w->target.schema, rules.evolve, &as));
    TRY(ops_assign_merge_schema(o, w->spec, w->target.schema, &rules, &as, &schema));
    if (schema != w->target.schema) TRY(ops_write_target_set_schema(o, &w->target, schema));
    TRY(ops_assign_query(o, w->spec, w->target.schema, &as, out));
    return fill_missing(w, &as, *out, out);
}

/* ---- removing and committing ---- */

/* The clustering columns were those of the old schema. */
static silt_status end_clustering(const write_run *w) {
    const delta_domain *d = delta_snapshot_find_domain(w->spec->snapshot, STR(CLUSTERING_DOMAIN));
    return !d || d->removed ? SILT_OK
                            : delta_txn_set_domain(w->txn, STR(CLUSTERING_DOMAIN), STR(CLUSTERING_NONE), false, w->o->err);
}

static silt_status stage(write_run *w) {
    const op *o = w->o;
    if (w->target.metadata_changed) TRY(delta_txn_set_metadata(w->txn, &w->target.metadata, o->err));
    if (w->target.protocol_changed) TRY(delta_txn_set_protocol(w->txn, &w->target.protocol, o->err));
    if (w->options.has_txn) TRY(delta_txn_set_txn_id(w->txn, w->options.txn_app_id, w->options.txn_version, o->err));
    if (w->schema_replaced) TRY(end_clustering(w));
    if (w->spec->reads_target) TRY(ops_note_scans(o, w->spec->source, w->spec->snapshot, w->txn));
    if (w->replaces) return SILT_OK;
    TRY(ops_write_add_files(o, &w->target, &w->written, w->txn));
    if (!w->spec->overwrite) return SILT_OK;
    if (w->dynamic) return ops_overwrite_written_partitions(o, w->spec->snapshot, &w->written, w->txn, &w->removed);
    if (w->fixed) return ops_overwrite_partition(o, w->spec->snapshot, w->fixed, w->txn, &w->removed);
    return ops_overwrite_all(o, w->spec->snapshot, w->txn, &w->removed);
}

/* A write that changes nothing makes no version, as Spark has it. */
static bool changes_nothing(const write_run *w) {
    return w->written.n_files == 0 && w->removed.files == 0 && !w->replacement.changed && !w->target.metadata_changed && !w->target.protocol_changed &&
           !w->options.has_txn;
}

static silt_status commit(write_run *w, ops_result *out) {
    const op *o = w->o;
    write_words words = {.mode = w->replaces ? "Overwrite" : w->job->mode,
                         .partition_by = w->job->partition_by,
                         .n_partition_by = w->job->n_partition_by,
                         .predicate = w->predicate,
                         .replace_on = w->replacement.on_text,
                         .replace_using = w->replacement.using_text,
                         .dynamic_overwrite = w->asked_dynamic,
                         .overwrite_schema = w->options.overwrite_schema,
                         .merge_schema = w->options.merge_schema};
    delta_commit_info info = {.operation = "WRITE",
                              .operation_parameters = ops_write_parameters(o, &words),
                              .operation_metrics =
                                  w->replaces ? replace_metrics(&w->replacement)
                                              : ops_write_metrics(o, &w->written, w->spec->overwrite ? &w->removed : NULL, w->fixed != NULL),
                              .user_metadata = ops_write_user_metadata(o, &w->options)};
    if (w->target.metadata_changed && !w->metadata_changed) info.tags = STR(IDENTITY_TAGS);
    if (w->replaces && w->replacement.change.has_row_ids) info.tags = STR(ROW_IDS_KEPT_TAGS);
    if (str_is_null(info.operation_parameters) || str_is_null(info.operation_metrics)) return error_no_memory(o->err);
    const commit_target table = {w->spec->table_name, w->spec->root, &w->target.metadata};
    return ops_commit(o, &table, w->txn, &info, &out->version);
}

/* An unknown outcome may be a commit: then its files must stay. */
static void discard(write_run *w, silt_status status) {
    if (status == SILT_OK || status == SILT_UNKNOWN) return;
    if (w->replaces)
        replace_discard(&w->replacement);
    else
        engine_write_discard(&w->files, &w->written);
}

static silt_status write_rows(write_run *w, query *rows, ops_result *out) {
    const op *o = w->o;
    if (!w->replaces) {
        TRY(ops_write_plan(o, &w->target, w->spec->root, &w->options, &w->files));
        silt_status loaded = ops_load_rows(o, &w->target, &w->files, &w->options, rows, &w->written, out);
        return w->fixed ? replace_told(o, w->predicate, loaded) : loaded;
    }
    silt_status status = replace_apply(&w->replacement, &w->target, w->txn, rows);
    if (!str_is_null(w->predicate) && !w->replacement.everything) status = replace_told(o, w->predicate, status);
    if (status != SILT_OK) discard(w, status);
    w->written = w->replacement.change.data;
    w->written.rows -= w->replacement.change.counts.rows_copied;
    return status;
}

static silt_status write_and_commit(write_run *w, query *rows, ops_result *out) {
    const op *o = w->o;
    if (w->target.protocol_changed) TRY(ops_protocol_upgrade(o, delta_snapshot_protocol(w->spec->snapshot), &w->target.protocol, out));
    TRY(write_rows(w, rows, out));
    w->metadata_changed = w->target.metadata_changed;
    silt_status status = ops_identity_finish(o, &w->identity, w->written.rows, &w->target);
    if (status == SILT_OK) status = stage(w);
    if (status == SILT_OK && !changes_nothing(w)) status = commit(w, out);
    discard(w, status);
    if (status != SILT_OK) return status;
    out->rows = w->written.rows;
    out->bytes = w->written.bytes;
    out->files = (int64_t)w->written.n_files;
    return SILT_OK;
}

static silt_status begin_replacement(write_run *w) {
    if (!w->replaces) return SILT_OK;
    w->own_spec = *w->spec;
    w->spec = &w->own_spec;
    w->own_spec.overwrite = w->asked_dynamic = false; /* its condition says what leaves */
    w->replacement = (replace_run){.o = w->o, .spec = w->spec, .options = &w->options};
    TRY(replace_begin(&w->replacement, &w->own_spec.source));
    w->predicate = w->replacement.predicate;
    return SILT_OK;
}

/* One attempt; *out_gives: identity columns get values by it. */
static silt_status write_once(const op *o, const write_job *job, ops_result *out, bool *out_gives) {
    write_run w = {.o = o, .job = job, .spec = job->insert, .options = job->insert->options};
    *out = (ops_result){.version = -1, .existed = true};
    TRY(check_options(&w));
    if (ops_idempotence_seen(&w.options, w.spec->snapshot)) return SILT_OK;
    ops_write_target_init(&w.target, w.spec->snapshot);
    TRY(delta_txn_begin(o->env->delta, w.spec->snapshot, w.spec->root, &w.txn,
                        o->err)); /* refuses what this build must not write */
    query *rows;
    silt_status status = begin_replacement(&w);
    if (status == SILT_OK) status = plan_rows(&w, &rows);
    if (status == SILT_OK) status = static_partitions(&w);
    if (status == SILT_OK) status = write_and_commit(&w, rows, out);
    if (w.replaces) replace_end(&w.replacement);
    delta_txn_free(w.txn);
    *out_gives = w.identity.n > 0;
    return status;
}

/* ---- identity values anew ---- */

#define MAX_IDENTITY_ATTEMPTS 50

static bool is_read_once(void *ctx, relation *r) {
    bool *found = ctx;
    *found |= r->kind == REL_TABLE && r->source && str_eqz(r->source->format, "arrow");
    return !*found;
}

/* May the rows be written once more over a newer table? An append that looks at nothing of the table, from a source that can be read again. */
static bool may_repeat(const write_job *job) {
    const insert_spec *spec = job->insert;
    bool once = false;
    (void)query_walk_relations(spec->source, is_read_once, &once);
    return !once && !spec->overwrite && !spec->reads_target && spec->replace.kind == REPLACE_NOTHING && str_is_null(spec->options.replace_where);
}

/*
 * Another writer moved the mark first: the values of this one are taken, and its files hold them. Where nothing else of the table changed, the rows are written again with the
 * values that follow, as row ids are given anew at each attempt; the files of the failed attempt are gone.
 */
silt_status ops_write_into_table(const op *o, const write_job *job, ops_result *out) {
    insert_spec spec = *job->insert;
    write_job again = *job;
    silt_error lost = {.status = SILT_OK};
    const op attempt = {o->env, o->a, &lost};
    delta_snapshot *fresh = NULL;
    silt_status status;
    again.insert = &spec;
    for (int n = 1;; n++) {
        bool gives = false;
        delta_snapshot *next;
        status = write_once(&attempt, &again, out, &gives);
        bool marked = status == SILT_CONFLICT && gives && strcmp(lost.condition, "DELTA_METADATA_CHANGED") == 0;
        if (!marked || n == MAX_IDENTITY_ATTEMPTS || !may_repeat(&again)) break;
        if (delta_snapshot_update(o->env->delta, spec.snapshot, &next, NULL) != SILT_OK) break;
        bool only = ops_identity_moved_only(o, delta_snapshot_metadata(spec.snapshot), delta_snapshot_metadata(next));
        delta_snapshot_release(fresh);
        spec.snapshot = fresh = next;
        if (!only) break;
    }
    delta_snapshot_release(fresh);
    if (status != SILT_OK && o->err) *o->err = lost;
    return status;
}

silt_status ops_insert(const ops_env *env, const insert_spec *spec, ops_result *out, silt_error *err) {
    op o = {env, arena_new(), err};
    if (!o.a) return error_no_memory(err);
    write_job job = {.insert = spec, .mode = spec->overwrite ? "Overwrite" : "Append"};
    silt_status status = ops_write_into_table(&o, &job, out);
    arena_free(o.a);
    return status;
}
