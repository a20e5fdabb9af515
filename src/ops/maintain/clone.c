/*
 * CLONE. Metadata are the source's but for id, name and comment; TBLPROPERTIES come over them; the protocol is what source, properties and the table that is cloned into have
 * together. Of domains the clustering is cloned.
 */
#include "ops/maintain/clone.h"

#include "base/ident.h"
#include "delta/metadata_copy.h"
#include "delta/properties.h"
#include "ops/commit.h"
#include "ops/identity.h"
#include "ops/maintain/clone_run.h"

/* ---- metadata ---- */

static silt_status set_property(clone_run *r, str key, str text) {
    if (str_is_null(text)) return error_no_memory(r->o->err);
    return str_map_with(&r->metadata.configuration, key, text, r->o->a, &r->metadata.configuration) ? SILT_OK : error_no_memory(r->o->err);
}

/* What belongs to the life of a table and not to its definition: who commits for it, since when its commits have timestamps, what its row id columns are called. */
static bool is_a_tables_own(str key) {
    return str_starts_with(key, STR("delta.coordinatedCommits.")) || str_starts_with(key, STR("delta.inCommitTimestampEnablement")) ||
           str_starts_with(key, STR("delta.rowTracking.materialized"));
}

/* Those of the table that is cloned into stay. */
static silt_status keep_own_properties(clone_run *r) {
    const str_map *before = r->replaced ? &delta_snapshot_metadata(r->replaced)->configuration : &(str_map){NULL, NULL, 0};
    bool timestamps = delta_config_bool(&r->metadata.configuration, "delta.enableInCommitTimestamps");
    for (size_t i = 0; i < before->count; i++) {
        bool is_begin = str_starts_with(before->keys[i], STR("delta.inCommitTimestampEnablement"));
        if (is_a_tables_own(before->keys[i]) && (!is_begin || timestamps)) TRY(set_property(r, before->keys[i], before->values[i]));
    }
    return SILT_OK;
}

/* The columns of that name in cloned files hold ids that are not the clone's: its rows are numbered afresh, under names of its own. */
static silt_status name_row_id_columns(clone_run *r) {
    static const struct { const char *key, *prefix; } names[] = {{"delta.rowTracking.materializedRowIdColumnName", "_row-id-col-"},
                                                                 {"delta.rowTracking.materializedRowCommitVersionColumnName", "_row-commit-version-col-"}};
    if (!delta_protocol_has(&r->protocol, "rowTracking")) return SILT_OK;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        char id[37];
        if (!str_is_null(str_map_get(&r->metadata.configuration, str_of(names[i].key)))) continue;
        uuid_generate(id);
        TRY(set_property(r, str_of(names[i].key), arena_printf(r->o->a, "%s%s", names[i].prefix, id)));
    }
    return SILT_OK;
}

static silt_status clone_configuration(clone_run *r, const str_map *overrides) {
    const str_map *source = &r->source.metadata->configuration;
    r->metadata.configuration = (str_map){NULL, NULL, 0};
    for (size_t i = 0; i < source->count; i++)
        if (!is_a_tables_own(source->keys[i])) TRY(set_property(r, source->keys[i], source->values[i]));
    for (size_t i = 0; i < overrides->count; i++)
        if (!is_a_tables_own(overrides->keys[i])) TRY(set_property(r, overrides->keys[i], overrides->values[i]));
    return keep_own_properties(r);
}

/* Files of one mode cannot be read in another. */
static silt_status check_mapping(const clone_run *r, const delta_metadata *other) {
    str theirs = delta_config_str(&other->configuration, "delta.columnMapping.mode"),
        ours = delta_config_str(&r->metadata.configuration, "delta.columnMapping.mode");
    if (str_eq_ascii_fold(theirs, ours)) return SILT_OK;
    return err_DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE(r->o->err, theirs, ours);
}

static silt_status name_clone(clone_run *r) {
    char id[37];
    const delta_metadata *before = r->replaced ? delta_snapshot_metadata(r->replaced) : NULL;
    uuid_generate(id);
    r->metadata.id = before ? before->id : arena_str(r->o->a, str_of(id));
    r->metadata.name = before ? before->name : STR_NULL;
    r->metadata.description = before ? before->description : STR_NULL;
    return str_is_null(r->metadata.id) ? error_no_memory(r->o->err) : SILT_OK;
}

/* A version of IcebergCompat that the source has not: what it forbids, and ids for what has none. */
static silt_status begin_iceberg_compat(clone_run *r) {
    if (delta_config_iceberg_compat(&r->metadata.configuration) == delta_config_iceberg_compat(&r->source.metadata->configuration)) return SILT_OK;
    write_target t = {.metadata = r->metadata, .protocol = r->protocol, .schema = r->metadata.schema};
    TRY(ops_iceberg_check(r->o, &t, NULL));
    TRY(ops_iceberg_check_enabling(r->o, &t, NULL)); /* its rows get ids of their own */
    TRY(ops_iceberg_assign_ids(r->o, &t));
    r->metadata = t.metadata;
    return SILT_OK;
}

static silt_status define(clone_run *r) {
    const op *o = r->o;
    delta_protocol asked;
    str_map overrides;
    bool allow_arbitrary = ops_setting_bool(o, "spark.databricks.delta.allowArbitraryProperties.enabled", false);
    r->metadata = *r->source.metadata;
    r->protocol = *r->source.protocol;
    TRY(name_clone(r));
    TRY(delta_protocol_for(NULL, r->metadata.schema, r->spec->properties, allow_arbitrary, o->a, &asked, &overrides, o->err));
    TRY(clone_configuration(r, &overrides));
    TRY(check_mapping(r, r->source.metadata));
    if (r->replaced) TRY(check_mapping(r, delta_snapshot_metadata(r->replaced)));
    if (r->replaced) TRY(ops_identity_keep_marks(o, delta_snapshot_metadata(r->replaced)->schema, &r->metadata));
    if (r->spec->properties.count) TRY(ops_protocol_merge(o, &r->protocol, &asked, &r->protocol));
    if (r->replaced) TRY(ops_protocol_merge(o, delta_snapshot_protocol(r->replaced), &r->protocol, &r->protocol));
    TRY(name_row_id_columns(r));
    TRY(begin_iceberg_compat(r));
    TRY(ops_checks_validate(o, r->metadata.schema, &r->metadata.configuration));
    return delta_protocol_check_write(&r->protocol, &r->metadata, r->spec->table_name, o->err);
}

static silt_status stage_definition(clone_run *r, ops_result *out) {
    const op *o = r->o;
    const delta_domain *ours = r->source.clustering,
                       *before = r->replaced ? delta_snapshot_find_domain(r->replaced, STR(CLUSTERING_DOMAIN)) : NULL;
    TRY(ops_protocol_upgrade(o, r->replaced ? delta_snapshot_protocol(r->replaced) : NULL, &r->protocol, out));
    TRY(delta_txn_set_metadata(r->txn, &r->metadata, o->err));
    TRY(delta_txn_set_protocol(r->txn, &r->protocol, o->err));
    if (ours) return delta_txn_set_domain(r->txn, STR(CLUSTERING_DOMAIN), ours->configuration, false, o->err);
    return before ? delta_txn_end_domain(r->txn, before, o->err) : SILT_OK;
}

/* ---- commit ---- */

static silt_status parameters(const clone_run *r, str *out) {
    json_object j;
    ops_json_object_begin(&j);
    ops_json_object_str(&j, "source", r->clone->source_name);
    ops_json_object_number(&j, "sourceVersion", r->source.version);
    if (r->clone->is_deep) ops_json_object_str(&j, "isShallow", STR("false"));
    *out = ops_json_object_end(&j, r->o->a);
    return str_is_null(*out) ? error_no_memory(r->o->err) : SILT_OK;
}

static silt_status metrics(const clone_run *r, str *out) {
    const clone_numbers *n = &r->clone->numbers;
    json_object j;
    ops_json_object_begin(&j);
    ops_json_object_count(&j, "removedFilesSize", n->removed_bytes);
    ops_json_object_count(&j, "numRemovedFiles", n->removed_files);
    ops_json_object_count(&j, "sourceTableSize", n->source_bytes);
    ops_json_object_count(&j, "numCopiedFiles", n->copied_files);
    ops_json_object_count(&j, "copiedFilesSize", n->copied_bytes);
    ops_json_object_count(&j, "sourceNumOfFiles", n->source_files);
    *out = ops_json_object_end(&j, r->o->a);
    return str_is_null(*out) ? error_no_memory(r->o->err) : SILT_OK;
}

static silt_status commit(clone_run *r, ops_result *out) {
    const op *o = r->o;
    commit_target target = {r->spec->table_name, r->spec->root, &r->metadata};
    delta_commit_info info = {.operation = "CLONE",
                              .user_metadata = ops_setting(o, "spark.databricks.delta.commitInfo.userMetadata"),
                              .isolation_level = STR("Serializable"),
                              .is_blind_append_known = true};
    TRY(parameters(r, &info.operation_parameters));
    TRY(metrics(r, &info.operation_metrics));
    return ops_commit(o, &target, r->txn, &info, &out->version);
}

/* ---- the two kinds ---- */

static bool same_maps(const str_map *a, const str_map *b) {
    if (a->count != b->count) return false;
    for (size_t i = 0; i < a->count; i++)
        if (!str_eq(str_map_get(b, a->keys[i]), a->values[i])) return false;
    return true;
}

static str schema_text(const op *o, const delta_metadata *m) {
    buf b;
    if (!str_is_null(m->schema_json)) return m->schema_json;
    buf_init(&b, BUF_MAX_DEFAULT);
    schema_write_json(&b, m->schema);
    return buf_take(&b, o->a);
}

/* The clone is what it would become: no commit says so again. */
static bool is_up_to_date(const clone_run *r, const deep_plan *plan) {
    if (!r->replaced || plan->n_leaving > 0 || plan->n_kept < r->source.n_files) return false;
    const delta_metadata *m = delta_snapshot_metadata(r->replaced);
    str before = schema_text(r->o, m), now = schema_text(r->o, &r->metadata);
    return !str_is_null(now) && str_eq(before, now) && same_maps(&m->configuration, &r->metadata.configuration) &&
           ops_protocol_equal(&r->protocol, delta_snapshot_protocol(r->replaced));
}

static silt_status make_deep(clone_run *r, ops_result *out) {
    deep_plan plan;
    TRY(clone_plan_deep(r, &plan));
    if (is_up_to_date(r, &plan)) return SILT_OK;
    if (!r->replaced) TRY(clone_check_folder(r, &plan));
    TRY(clone_copy(r, &plan));
    TRY(stage_definition(r, out));
    TRY(clone_stage_deep(r, &plan));
    return commit(r, out);
}

static silt_status make_shallow(clone_run *r, ops_result *out) {
    if (r->replaced && delta_snapshot_n_files(r->replaced) > 0) return err_DELTA_UNSUPPORTED_NON_EMPTY_CLONE(r->o->err);
    TRY(stage_definition(r, out));
    TRY(clone_stage_shallow(r));
    return commit(r, out);
}

/* A clone inside of its source would be stray files to the source's VACUUM, and the other way round. A table cloned into itself would be all of its files copied. */
static silt_status check_place(const clone_run *r) {
    const op *o = r->o;
    str from = r->source.root, to = r->spec->root;
    str shorter = from.len < to.len ? from : to, longer = from.len < to.len ? to : from;
    if (r->source.env->store != o->env->delta->store || !str_starts_with(longer, shorter)) return SILT_OK;
    if (str_eq(from, to)) return r->clone->is_deep ? err_DELTA_UNSUPPORTED_DEEP_CLONE(o->err, "a table into itself; RESTORE brings an older version back") : SILT_OK;
    bool is_inside = longer.ptr[shorter.len] == '/';
    return is_inside ? err_INVALID_PARAMETER_VALUE(o->err, STR("the clone's place"), to, "a folder that is not inside of the source's and does not hold it") : SILT_OK;
}

static silt_status make(clone_run *r, ops_result *out) {
    const op *o = r->o;
    TRY(clone_source_open(r));
    TRY(check_place(r));
    r->clone->numbers = (clone_numbers){.source_bytes = r->source.bytes, .source_files = (int64_t)r->source.n_files};
    TRY(define(r));
    TRY(delta_txn_begin(o->env->delta, r->replaced, r->spec->root, &r->txn, o->err));
    if (r->replaced) delta_txn_read_whole_table(r->txn);
    return r->clone->is_deep ? make_deep(r, out) : make_shallow(r, out);
}

silt_status clone_make(const op *o, const create_spec *spec, const delta_snapshot *replaced, ops_result *out) {
    clone_run r = {.o = o, .spec = spec, .clone = spec->clone, .replaced = replaced};
    silt_status status = make(&r, out);
    delta_txn_free(r.txn);
    return status;
}
