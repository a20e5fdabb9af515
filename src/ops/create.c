/*
 * CREATE TABLE in all its forms. What happens depends on what is at the location:
 *
 *   nothing        the table is made, with AS SELECT's rows in the same commit
 *   a Delta table  CREATE takes it over as it is if the definition fits (no commit); OR REPLACE gives it a new definition and removes its files in one commit,
 *                  so that readers see the old table or the new one
 *   other files    refused
 */
#include "delta/properties.h"
#include "ops/commit.h"
#include "ops/internal.h"
#include "ops/maintain/clone_run.h"
#include "ops/take_files.h"

/* ---- the definition against the table that is there ---- */

static bool same_type(const data_type *a, const data_type *b) {
    if (a->id != b->id || !type_equal(a, b)) return false;
    if (a->id == TYPE_ARRAY) return a->contains_null == b->contains_null && same_type(a->element, b->element);
    if (a->id == TYPE_MAP)
        return a->contains_null == b->contains_null && same_type(a->key, b->key) && same_type(a->element, b->element);
    for (size_t i = 0; a->id == TYPE_STRUCT && i < a->n_fields; i++)
        if (a->fields[i].nullable != b->fields[i].nullable || !same_type(a->fields[i].type, b->fields[i].type)) return false;
    return true;
}

static bool same_names(const str *a, size_t n_a, const str *b, size_t n_b) {
    if (n_a != n_b) return false;
    for (size_t i = 0; i < n_a; i++)
        if (!str_eq_fold(a[i], b[i])) return false;
    return true;
}

/* What Delta itself adds to the configuration does not have to be repeated. */
static bool is_internal_property(str key) {
    return str_starts_with(key, STR("delta.columnMapping.")) || str_starts_with(key, STR("delta.rowTracking.materialized"));
}

static bool contains_all(const str_map *a, const str_map *b) {
    for (size_t i = 0; i < a->count; i++)
        if (!is_internal_property(a->keys[i]) && !str_eq(str_map_get(b, a->keys[i]), a->values[i])) return false;
    return true;
}

static str location(const op *o, const create_spec *spec) { return store_path_named(o->env->delta->store, spec->root, o->a); }

static silt_status verify_properties(const op *o, const create_spec *spec, const delta_metadata *m) {
    delta_protocol ignored;
    str_map wanted;
    if (spec->properties.count == 0) return SILT_OK;
    TRY(delta_protocol_for(NULL, m->schema, spec->properties, true, o->a, &ignored, &wanted, o->err));
    bool same = contains_all(&wanted, &m->configuration) && contains_all(&m->configuration, &wanted);
    return same ? SILT_OK : err_DELTA_CREATE_TABLE_WITH_DIFFERENT_PROPERTY(o->err, location(o, spec));
}

static silt_status verify_existing(const op *o, const create_spec *spec, const delta_snapshot *s) {
    const delta_metadata *m = delta_snapshot_metadata(s);
    if (spec->schema) {
        if (!same_type(spec->schema, m->schema)) return err_DELTA_CREATE_TABLE_SCHEME_MISMATCH(o->err, location(o, spec));
        if (!same_names(spec->partition_columns, spec->n_partition_columns, m->partition_columns, m->n_partition_columns))
            return err_DELTA_CREATE_TABLE_WITH_DIFFERENT_PARTITIONING(o->err, location(o, spec));
        const str *clustered;
        size_t n;
        TRY(ops_clustering_columns(s, o->a, &clustered, &n, o->err));
        if (!same_names(spec->cluster_columns, spec->n_cluster_columns, clustered, n))
            return err_DELTA_CREATE_TABLE_WITH_DIFFERENT_CLUSTERING(o->err, location(o, spec));
    }
    return verify_properties(o, spec, m);
}

/* ---- making it ---- */

/** One CREATE while it runs. */
typedef struct create_run {
    const op *o;
    const create_spec *spec;
    const delta_snapshot *replaced; /**< NULL: the table is new */
    new_table table;
    delta_txn *txn;
    write_spec files;
    write_result written;
    removal removed;
} create_run;

static const char *operation_name(const create_spec *spec) {
    bool as_select = spec->source != NULL;
    if (spec->replace_only) return as_select ? "REPLACE TABLE AS SELECT" : "REPLACE TABLE";
    if (spec->or_replace) return as_select ? "CREATE OR REPLACE TABLE AS SELECT" : "CREATE OR REPLACE TABLE";
    return as_select ? "CREATE TABLE AS SELECT" : "CREATE TABLE";
}

static silt_status configuration_text(const op *o, const str_map *configuration, str *out) {
    buf b;
    bool first = true;
    buf_init(&b, BUF_MAX_DEFAULT);
    buf_append_char(&b, '{');
    for (size_t i = 0; i < configuration->count; i++) {
        json_write_key_str(&b, &first, configuration->keys[i]);
        json_write_str(&b, configuration->values[i]);
    }
    buf_append_char(&b, '}');
    *out = buf_take(&b, o->a);
    return str_is_null(*out) ? error_no_memory(o->err) : SILT_OK;
}

static silt_status parameters(const create_run *c, str *out) {
    const delta_metadata *m = &c->table.target.metadata;
    str properties;
    json_object j;
    TRY(configuration_text(c->o, &m->configuration, &properties));
    ops_json_object_begin(&j);
    ops_json_object_names(&j, "partitionBy", m->partition_columns, m->n_partition_columns);
    ops_json_object_names(&j, "clusterBy", c->table.cluster_names, c->table.n_cluster_names);
    ops_json_object_str(&j, "description", m->description);
    ops_json_object_str(&j, "isManaged", c->spec->is_managed ? STR("true") : STR("false"));
    ops_json_object_str(&j, "properties", properties);
    *out = ops_json_object_end(&j, c->o->a);
    return str_is_null(*out) ? error_no_memory(c->o->err) : SILT_OK;
}

static silt_status define(create_run *c) {
    const create_spec *spec = c->spec;
    table_definition d = {.table_name = spec->table_name,
                          .schema = spec->schema,
                          .partition_columns = spec->partition_columns,
                          .n_partition_columns = spec->n_partition_columns,
                          .cluster_columns = spec->cluster_columns,
                          .n_cluster_columns = spec->n_cluster_columns,
                          .comment = spec->comment,
                          .properties = spec->properties};
    if (spec->source) TRY(ops_new_table_schema_of(c->o, spec->source, &d.schema));
    return ops_new_table_define(c->o, &d, c->replaced, &c->table);
}

static silt_status stage(create_run *c) {
    const op *o = c->o;
    const write_options *options = &c->spec->options;
    TRY(ops_new_table_stage(o, &c->table, c->replaced, c->txn));
    if (options->has_txn) TRY(delta_txn_set_txn_id(c->txn, options->txn_app_id, options->txn_version, o->err));
    TRY(ops_write_add_files(o, &c->table.target, &c->written, c->txn));
    return c->replaced ? ops_overwrite_all(o, c->replaced, c->txn, &c->removed) : SILT_OK;
}

static silt_status commit(create_run *c, ops_result *out) {
    const op *o = c->o;
    delta_commit_info info = {.operation = operation_name(c->spec),
                              .operation_metrics = STR("{}"),
                              .user_metadata = ops_write_user_metadata(o, &c->spec->options)};
    TRY(parameters(c, &info.operation_parameters));
    if (c->spec->source) info.operation_metrics = ops_write_metrics(o, &c->written, c->replaced ? &c->removed : NULL, false);
    if (str_is_null(info.operation_metrics)) return error_no_memory(o->err);
    const commit_target table = {c->spec->table_name, c->spec->root, &c->table.target.metadata};
    return ops_commit(o, &table, c->txn, &info, &out->version);
}

static silt_status write_and_commit(create_run *c, ops_result *out) {
    const op *o = c->o;
    TRY(delta_protocol_check_write(&c->table.target.protocol, &c->table.target.metadata, c->spec->table_name, o->err));
    TRY(ops_protocol_upgrade(o, c->replaced ? delta_snapshot_protocol(c->replaced) : NULL, &c->table.target.protocol, out));
    if (c->spec->source) {
        TRY(ops_write_plan(o, &c->table.target, c->spec->root, &c->spec->options, &c->files));
        TRY(ops_load_rows(o, &c->table.target, &c->files, &c->spec->options, c->spec->source, &c->written, out));
    }
    silt_status status = stage(c);
    if (status == SILT_OK) status = commit(c, out);
    if (status != SILT_OK && status != SILT_UNKNOWN && c->spec->source) engine_write_discard(&c->files, &c->written);
    if (status != SILT_OK) return status;
    out->rows = c->written.rows;
    out->bytes = c->written.bytes;
    out->files = (int64_t)c->written.n_files;
    return SILT_OK;
}

static silt_status make_table(const op *o, const create_spec *spec, const delta_snapshot *replaced, ops_result *out) {
    if (spec->clone) return clone_make(o, spec, replaced, out);
    create_run c = {.o = o, .spec = spec, .replaced = replaced};
    TRY(define(&c));
    TRY(delta_txn_begin(o->env->delta, replaced, spec->root, &c.txn, o->err));
    silt_status status = write_and_commit(&c, out);
    delta_txn_free(c.txn);
    return status;
}

/* ---- which of the cases ---- */

static silt_status create_over(const op *o, const create_spec *spec, const delta_snapshot *s, ops_result *out) {
    out->existed = true;
    bool is_defined = spec->schema || spec->source || spec->clone, makes_rows = spec->source || spec->clone;
    bool takes_over = spec->is_new_name && spec->or_replace && !makes_rows;
    if ((spec->or_replace || spec->replace_only) && !takes_over) {
        if (!is_defined)
            return err_DELTA_CREATE_TABLE_MISSING_TABLE_NAME_OR_LOCATION(o->err, spec->table_name);
        return make_table(o, spec, s, out);
    }
    if (spec->is_path && spec->if_not_exists) return SILT_OK;
    if (spec->is_path && !spec->clone) return err_TABLE_OR_VIEW_ALREADY_EXISTS(o->err, spec->table_name);
    if (makes_rows || spec->is_managed)
        return err_DELTA_CREATE_TABLE_OVER_TABLE(o->err, spec->table_name, location(o, spec));
    return verify_existing(o, spec, s);
}

static silt_status create_at_table(const op *o, const create_spec *spec, ops_result *out) {
    delta_snapshot *s;
    if (spec->snapshot) s = delta_snapshot_retain(spec->snapshot); /* what was committed since is for the conflict rules to judge */
    else TRY(delta_snapshot_load(o->env->delta, spec->root, DELTA_LATEST, &s, o->err));
    silt_status status = create_over(o, spec, s, out);
    delta_snapshot_release(s);
    return status;
}

/* Somebody else made a table here while this one was being made: what would have happened had the statement come a moment later, but for rows that are lost now. */
static silt_status created_meanwhile(const op *o, const create_spec *spec, const silt_error *lost, ops_result *out) {
    *out = (ops_result){.version = -1, .existed = true};
    if (spec->if_not_exists) return SILT_OK;
    if (!spec->source) return create_at_table(o, spec, out);
    silt_status status = spec->or_replace ? err_DELTA_PROTOCOL_CHANGED(o->err, STR("the table was created meanwhile"))
                                          : err_TABLE_OR_VIEW_ALREADY_EXISTS(o->err, spec->table_name);
    error_detail(o->err, "%s", lost->detail);
    return status;
}

silt_status ops_create_new(const op *o, const create_spec *spec, ops_result *out) {
    if (spec->replace_only) return err_TABLE_OR_VIEW_NOT_FOUND(o->err, spec->table_name);
    if (!spec->schema && !spec->source && !spec->clone) return err_DELTA_CREATE_TABLE_MISSING_TABLE_NAME_OR_LOCATION(o->err, spec->table_name);
    silt_error lost = {.status = SILT_OK};
    const op attempt = {o->env, o->a, &lost};
    silt_status status = make_table(&attempt, spec, NULL, out);
    if (status == SILT_EXISTS) return created_meanwhile(o, spec, &lost, out);
    if (status != SILT_OK && o->err) *o->err = lost;
    return status;
}

static silt_status create(const op *o, const create_spec *spec, ops_result *out) {
    bool exists;
    *out = (ops_result){.version = -1};
    bool looks_itself = spec->clone && spec->clone->is_deep; /* an interrupted deep clone leaves files */
    if (spec->replace_only || looks_itself) TRY(delta_table_exists(o->env->delta, spec->root, &exists, o->err));
    else TRY(ops_new_table_look(o, spec->table_name, spec->root, &exists));
    return exists ? create_at_table(o, spec, out) : ops_create_new(o, spec, out);
}

silt_status ops_create(const ops_env *env, const create_spec *spec, ops_result *out, silt_error *err) {
    op o = {env, arena_new(), err};
    if (!o.a) return error_no_memory(err);
    silt_status status = create(&o, spec, out);
    arena_free(o.a);
    return status;
}
