/* Taking a feature out of use before it leaves the protocol: properties off, files that need it written anew, its domains ended. Each in commits of its own, as Spark does. */
#include "base/time.h"
#include "delta/properties.h"
#include "ops/drop_feature.h"
#include "ops/file_rewrite.h"

static silt_status exhausted(const alter_run *run) { return error_no_memory(run->o->err); }

/* ---- commits ---- */

static silt_status commit_now(alter_run *run, const char *operation, str parameters) {
    run->operation = operation;
    run->parameters = parameters;
    if (str_is_null(parameters)) return exhausted(run);
    TRY(alter_commit(run, NULL, NULL));
    return alter_move_on(run);
}

static silt_status unset_property(alter_run *run, const char *key) {
    run->target.metadata_changed = true;
    TRY(alter_configuration_set(run, &run->target.metadata.configuration, str_of(key), STR_NULL));
    return commit_now(run, "UNSET TBLPROPERTIES", arena_printf(run->o->a, "{\"properties\":\"[\\\"%s\\\"]\",\"ifExists\":true}", key));
}

static bool is_on(const alter_run *run, const char *key) { return delta_config_bool(&run->target.metadata.configuration, key); }
static bool is_set(const alter_run *run, const char *key) { return !str_is_null(str_map_get(&run->target.metadata.configuration, str_of(key))); }

/* ---- files written anew ---- */

static silt_status stage_rewrite(alter_run *run, delta_txn *txn, void *ctx) {
    TRY(file_rewrite_apply(ctx, txn));
    run->metrics = file_rewrite_metrics(ctx);
    return str_is_null(run->metrics) ? exhausted(run) : SILT_OK;
}

/* What REORG TABLE … APPLY (PURGE) does to these files. */
static silt_status rewrite_files(alter_run *run, const uint8_t *files) {
    file_rewrite rewrite = {.o = run->o, .table_name = run->spec->table_name, .root = run->spec->root, .snapshot = run->snapshot, .read = run->target, .target = run->target, .files = files};
    run->operation = "REORG";
    run->parameters = STR("{\"predicate\":\"[]\",\"applyPurge\":true}");
    run->tags = file_rewrite_tags(&run->target);
    silt_status status = alter_commit(run, stage_rewrite, &rewrite);
    if (status != SILT_OK && status != SILT_UNKNOWN) file_rewrite_discard(&rewrite);
    file_rewrite_end(&rewrite);
    return status == SILT_OK ? alter_move_on(run) : status;
}

/* ---- checkConstraints ---- */

silt_status retire_constraints(alter_run *run, bool *out_changed) {
    const str_map *c = &run->target.metadata.configuration;
    str names = STR("");
    for (size_t i = 0; i < c->count; i++) {
        str prefix = STR("delta.constraints.");
        if (!str_starts_with(c->keys[i], prefix)) continue;
        names = arena_printf(run->o->a, "%.*s%s`%.*s`", STR_ARG(names), names.len ? ", " : "", STR_ARG(str_slice(c->keys[i], prefix.len, c->keys[i].len)));
        if (str_is_null(names)) return exhausted(run);
    }
    *out_changed = false;
    return names.len ? err_DELTA_CANNOT_DROP_CHECK_CONSTRAINT_FEATURE(run->o->err, names) : SILT_OK;
}

/* ---- columnMapping ---- */

silt_status retire_column_mapping(alter_run *run, bool *out_changed) {
    *out_changed = ops_write_target_is_mapped(&run->target);
    if (!*out_changed) return SILT_OK;
    TRY(alter_configuration_set(run, &run->target.metadata.configuration, STR("delta.columnMapping.mode"), STR_NULL));
    TRY(alter_remove_column_mapping(run));
    return alter_move_on(run);
}

/* ---- deletionVectors ---- */

typedef struct vector_files {
    arena *arena;
    uint8_t *files; /**< flags: active files that have one */
    bool any;
    str *paths; /**< of the .bin files, each once, as a remove action names them */
    size_t n_paths, capacity;
    const delta_env *env;
    str root;
} vector_files;

/* deletion_vector_<uuid>.bin relative to the root; vectors at absolute paths belong to another table. */
static silt_status note_vector(vector_files *v, const delta_dv *dv, silt_error *err) {
    if (dv->storage != 'u') return SILT_OK;
    str path;
    TRY(delta_dv_relative_path(dv, v->arena, &path, err));
    for (size_t i = 0; i < v->n_paths; i++)
        if (str_eq(v->paths[i], path)) return SILT_OK;
    return ARENA_PUSH(v->arena, v->paths, v->n_paths, v->capacity, path) ? SILT_OK : error_no_memory(err);
}

static silt_status note_file(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    vector_files *v = ctx;
    if (!add->dv.storage) return SILT_OK;
    v->files[i] = 1;
    v->any = true;
    return note_vector(v, &add->dv, err);
}

static silt_status note_tombstone(void *ctx, const delta_remove *remove, silt_error *err) { return note_vector(ctx, &remove->dv, err); }

static silt_status find_vectors(alter_run *run, vector_files *out) {
    const op *o = run->o;
    *out = (vector_files){.arena = o->a, .files = ARENA_ARRAY(o->a, delta_snapshot_n_files(run->snapshot) + 1, uint8_t)};
    if (!out->files) return exhausted(run);
    TRY(delta_snapshot_each_file(run->snapshot, false, note_file, out, o->err));
    return delta_snapshot_each_remove(run->snapshot, note_tombstone, out, o->err);
}

static silt_status stage_tombstones(alter_run *run, delta_txn *txn, void *ctx) {
    const vector_files *v = ctx;
    for (size_t i = 0; i < v->n_paths; i++) {
        delta_remove r = {.path = v->paths[i], .deletion_timestamp_ms = time_now_ms(), .size_bytes = -1, .dv = {.offset = -1}, .base_row_id = -1, .default_row_commit_version = -1};
        TRY(delta_txn_remove(txn, &r, run->o->err));
    }
    return SILT_OK;
}

/*
 * Writers that do not know deletion vectors would take the .bin files for garbage while older versions still need them: as removed files they are kept for the retention
 * period like all others. The commit is made where there are none, too, as Spark does.
 */
static silt_status bury_vectors(alter_run *run, const vector_files *v) {
    run->operation = "Deletion Vector Tombstones";
    run->parameters = STR("{}");
    TRY(alter_commit(run, stage_tombstones, (void *)(uintptr_t)v));
    return alter_move_on(run);
}

silt_status retire_deletion_vectors(alter_run *run, bool *out_changed) {
    vector_files v;
    bool was_on = is_set(run, "delta.enableDeletionVectors");
    if (was_on) TRY(unset_property(run, "delta.enableDeletionVectors"));
    TRY(find_vectors(run, &v));
    *out_changed = was_on || v.any;
    if (v.any) {
        TRY(rewrite_files(run, v.files));
        TRY(find_vectors(run, &v));
    }
    return *out_changed || !run->spec->truncate_history ? bury_vectors(run, &v) : SILT_OK;
}

/* ---- rowTracking ---- */

static silt_status stage_without_ids(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    delta_txn *txn = ctx;
    (void)i;
    if (add->base_row_id < 0 && add->default_row_commit_version < 0) return SILT_OK;
    delta_add again = *add;
    again.data_change = false;
    again.base_row_id = again.default_row_commit_version = -1;
    TRY(delta_txn_read_file(txn, add->path, err));
    return delta_txn_add(txn, &again, err);
}

static silt_status stage_unbackfill(alter_run *run, delta_txn *txn, void *ctx) {
    (void)ctx;
    return delta_snapshot_each_file(run->snapshot, true, stage_without_ids, txn, run->o->err);
}

static silt_status has_row_id(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    (void)i;
    (void)err;
    if (add->base_row_id >= 0) *(bool *)ctx = true;
    return SILT_OK;
}

static silt_status suspend_row_tracking(alter_run *run) {
    str_map *c = &run->target.metadata.configuration;
    run->target.metadata_changed = true;
    TRY(alter_configuration_set(run, c, STR("delta.enableRowTracking"), STR("false")));
    TRY(alter_configuration_set(run, c, STR("delta.rowTrackingSuspended"), STR("true")));
    return commit_now(run, "SET TBLPROPERTIES", STR("{\"properties\":\"{\\\"delta.enableRowTracking\\\":\\\"false\\\",\\\"delta.rowTrackingSuspended\\\":\\\"true\\\"}\"}"));
}

silt_status retire_row_tracking(alter_run *run, bool *out_changed) {
    static const char *const keys[] = {"delta.enableRowTracking", "delta.rowTrackingSuspended", "delta.rowTracking.materializedRowIdColumnName",
                                       "delta.rowTracking.materializedRowCommitVersionColumnName"};
    const op *o = run->o;
    bool ids = false;
    if (!is_on(run, "delta.rowTrackingSuspended")) TRY(suspend_row_tracking(run));
    TRY(delta_snapshot_each_file(run->snapshot, false, has_row_id, &ids, o->err));
    if (ids) {
        run->operation = "ROW TRACKING UNBACKFILL";
        run->parameters = STR("{\"batchId\":\"0\"}");
        TRY(alter_commit(run, stage_unbackfill, NULL));
        TRY(alter_move_on(run));
    }
    *out_changed = true;
    run->ended_domain = delta_snapshot_find_domain(run->snapshot, STR("delta.rowTracking"));
    if (run->ended_domain && run->ended_domain->removed) run->ended_domain = NULL;
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) TRY(alter_configuration_set(run, &run->target.metadata.configuration, str_of(keys[i]), STR_NULL));
    return SILT_OK; /* the rest goes with the drop itself */
}

/* ---- domainMetadata ---- */

static silt_status end_domains(alter_run *run, delta_txn *txn, void *ctx) {
    (void)ctx;
    for (size_t i = 0; i < delta_snapshot_n_domains(run->snapshot); i++) {
        const delta_domain *d = delta_snapshot_domain(run->snapshot, i);
        if (!d->removed) TRY(delta_txn_end_domain(txn, d, run->o->err));
    }
    return SILT_OK;
}

silt_status retire_domains(alter_run *run, bool *out_changed) {
    bool any = false;
    for (size_t i = 0; i < delta_snapshot_n_domains(run->snapshot); i++) any |= !delta_snapshot_domain(run->snapshot, i)->removed;
    *out_changed = any;
    if (!any) return SILT_OK;
    run->operation = "DOMAIN METADATA CLEANUP";
    run->parameters = STR("{}");
    TRY(alter_commit(run, end_domains, NULL));
    return alter_move_on(run);
}

/* ---- v2Checkpoint ---- */

silt_status retire_v2_checkpoint(alter_run *run, bool *out_changed) {
    *out_changed = str_eqz(delta_config_str(&run->target.metadata.configuration, "delta.checkpointPolicy"), "v2");
    if (!*out_changed) return SILT_OK;
    run->target.metadata_changed = true;
    TRY(alter_configuration_set(run, &run->target.metadata.configuration, STR("delta.checkpointPolicy"), STR("classic")));
    return commit_now(run, "SET TBLPROPERTIES", STR("{\"properties\":\"{\\\"delta.checkpointPolicy\\\":\\\"classic\\\"}\"}"));
}

/* ---- typeWidening ---- */

static bool has_type_changes(const data_type *t) {
    if (t->element && has_type_changes(t->element)) return true;
    if (t->key && has_type_changes(t->key)) return true;
    for (size_t i = 0; i < t->n_fields; i++)
        if (str_find(t->fields[i].metadata, STR("delta.typeChanges")) != SIZE_MAX || has_type_changes(t->fields[i].type)) return true;
    return false;
}

static silt_status changed_columns(const alter_run *run, const data_type *t, str above, size_t *n, buf *out) {
    for (size_t i = 0; i < t->n_fields; i++) {
        const field *f = &t->fields[i];
        str name = above.len ? arena_printf(run->o->a, "%.*s.%.*s", STR_ARG(above), STR_ARG(f->name)) : f->name;
        if (str_is_null(name)) return exhausted(run);
        if (str_find(f->metadata, STR("delta.typeChanges")) != SIZE_MAX) {
            if ((*n)++) buf_append_char(out, ',');
            alter_column_json(out, name, f);
        }
        TRY(changed_columns(run, f->type, name, n, out));
    }
    if (t->key) TRY(changed_columns(run, t->key, above, n, out));
    return t->element ? changed_columns(run, t->element, above, n, out) : SILT_OK;
}

static silt_status widening_parameters(alter_run *run) {
    buf columns;
    json_object j;
    size_t n = 0;
    buf_init(&columns, BUF_MAX_DEFAULT);
    buf_append_char(&columns, '[');
    silt_status status = changed_columns(run, run->target.schema, STR(""), &n, &columns);
    buf_append_char(&columns, ']');
    ops_json_object_begin(&j);
    if (!buf_ok(&columns)) j.text.failed = true;
    ops_json_object_str(&j, "columns", buf_str(&columns));
    run->parameters = ops_json_object_end(&j, run->o->a);
    buf_dispose(&columns);
    return status == SILT_OK && str_is_null(run->parameters) ? exhausted(run) : status;
}

/* Does a file hold an older type of a column whose types have changed? What cannot be compared counts as older. */
static bool is_older(const data_type *wanted, const data_type *file, bool changed) {
    if (wanted->id != file->id) return changed || type_is_nested(wanted);
    if (wanted->id == TYPE_DECIMAL) return changed && (wanted->precision != file->precision || wanted->scale != file->scale);
    if (wanted->key && is_older(wanted->key, file->key, changed)) return true;
    if (wanted->element && is_older(wanted->element, file->element, changed)) return true;
    for (size_t i = 0; i < wanted->n_fields; i++) {
        const field *f = &wanted->fields[i];
        bool here = str_find(f->metadata, STR("delta.typeChanges")) != SIZE_MAX;
        for (size_t k = 0; k < file->n_fields; k++)
            if (str_eq(file->fields[k].name, f->physical_name) && is_older(f->type, file->fields[k].type, here)) return true;
    }
    return false;
}

typedef struct older_files {
    const alter_run *run;
    uint8_t *files;
    bool any, all; /**< all: columns are found by id, names in files say nothing */
} older_files;

static silt_status note_older(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    older_files *o = ctx;
    const delta_env *env = o->run->o->env->delta;
    arena *a = arena_new();
    store *s;
    str path, local;
    const data_type *file = NULL;
    if (!a) return error_no_memory(err);
    silt_status status = o->all ? SILT_OK : delta_resolve_path(env, o->run->spec->root, add->path, a, &s, &path, err);
    if (status == SILT_OK && !o->all) status = store_local_read_path(s, path, a, &local, err);
    if (status == SILT_OK && !o->all) status = env->parquet->read_schema(env->parquet, local, a, &file, err);
    if (status == SILT_OK) o->files[i] = o->all || is_older(o->run->target.schema, file, false);
    o->any |= o->files[i];
    arena_free(a);
    return status;
}

/* Which files hold an older type only their footers tell. */
static silt_status rewrite_older(alter_run *run) {
    older_files o = {.run = run, .files = ARENA_ARRAY(run->o->a, delta_snapshot_n_files(run->snapshot) + 1, uint8_t)};
    if (!o.files) return exhausted(run);
    o.all = str_eqz(delta_config_str(&run->target.metadata.configuration, "delta.columnMapping.mode"), "id") || !run->o->env->delta->parquet;
    TRY(delta_snapshot_each_file(run->snapshot, false, note_older, &o, run->o->err));
    return o.any ? rewrite_files(run, o.files) : SILT_OK;
}

silt_status retire_type_widening(alter_run *run, bool *out_changed) {
    static const char *const keys[] = {"delta.typeChanges"};
    bool was_on = is_set(run, "delta.enableTypeWidening"), widened = has_type_changes(run->target.schema);
    *out_changed = was_on || widened;
    if (was_on) TRY(unset_property(run, "delta.enableTypeWidening"));
    if (!widened) return SILT_OK;
    TRY(rewrite_older(run));
    TRY(widening_parameters(run));
    write_target *t = &run->target;
    t->schema = schema_strip(t->schema, keys, 1, false, run->o->a);
    if (!t->schema) return exhausted(run);
    t->metadata.schema = t->schema;
    t->metadata.schema_json = STR_NULL;
    t->metadata_changed = true;
    return commit_now(run, "DROP FEATURE", run->parameters);
}

/* ---- inCommitTimestamp ---- */

silt_status retire_in_commit_timestamps(alter_run *run, bool *out_changed) {
    static const char *const keys[] = {"delta.inCommitTimestampEnablementTimestamp", "delta.inCommitTimestampEnablementVersion", "delta.enableInCommitTimestamps"};
    str names[ARRAY_LEN(keys)];
    size_t n = 0;
    str_map *c = &run->target.metadata.configuration;
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        bool is_switch = i == ARRAY_LEN(keys) - 1;
        if (is_switch ? !is_on(run, keys[i]) : !is_set(run, keys[i])) continue;
        names[n++] = str_of(keys[i]);
        TRY(alter_configuration_set(run, c, str_of(keys[i]), is_switch ? STR("false") : STR_NULL)); /* off by name, as Spark leaves it */
    }
    *out_changed = n > 0;
    if (n == 0) return SILT_OK;
    json_object j;
    ops_json_object_begin(&j);
    ops_json_object_names(&j, "properties", names, n);
    ops_json_object_true(&j, "ifExists");
    run->target.metadata_changed = true;
    return commit_now(run, "UNSET TBLPROPERTIES", ops_json_object_end(&j, run->o->a));
}
