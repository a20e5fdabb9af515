/*
 * SET and UNSET TBLPROPERTIES, COMMENT ON TABLE. A property may ask for more than its entry in the configuration: features in the protocol, ids for column mapping, row ids for
 * the files that are there, or files written anew where column mapping goes away.
 */
#include "delta/action_write.h"
#include "delta/properties.h"
#include "ops/alter_run.h"

#define MODE    "delta.columnMapping.mode"
#define MAX_ID  "delta.columnMapping.maxColumnId"
#define ROW_IDS "delta.enableRowTracking"

static silt_status exhausted(const alter_run *run) { return error_no_memory(run->o->err); }

static str mode_of(const str_map *configuration) {
    str mode = str_map_get(configuration, STR(MODE));
    return mode.len ? mode : STR("none");
}

/* ---- what the statement says ---- */

static silt_status check_reserved(const alter_run *run, str key) {
    static const struct { const char *key, *hint; } reserved[] = {
        {"provider", "please use the USING clause to specify it"},
        {"location", "please use the LOCATION clause to specify it"},
        {"owner", "it will be set to the current user"},
        {"external", "please use CREATE EXTERNAL TABLE"},
        {"is_managed_location", "it is set by the system"},
    };
    for (size_t i = 0; i < ARRAY_LEN(reserved); i++)
        if (str_eqz(key, reserved[i].key)) return err_SET_TABLE_PROPERTY(run->o->err, key, reserved[i].hint);
    return SILT_OK;
}

static str canonical(str key) {
    const delta_property *p = delta_property_find(key);
    return p ? str_of(p->name) : key;
}

/* The key as commitInfo shows it: of features in small letters, as Delta compares them. */
static void write_key(buf *out, bool *first, str key) {
    size_t from = out->len;
    json_write_key_str(out, first, canonical(key));
    if (!str_starts_with(key, STR("delta.feature."))) return;
    for (size_t i = from; i < out->len; i++)
        if (out->ptr[i] >= 'A' && out->ptr[i] <= 'Z') out->ptr[i] = (char)(out->ptr[i] | 0x20);
}

/* The comment is metadata.description; the rest goes the way of properties. */
static silt_status take_comment(alter_run *run, str_map *properties) {
    str *keys = ARENA_ARRAY(run->o->a, properties->count + 1, str), *values = ARENA_ARRAY(run->o->a, properties->count + 1, str);
    size_t n = 0;
    if (!keys || !values) return exhausted(run);
    for (size_t i = 0; i < properties->count; i++) {
        TRY(check_reserved(run, properties->keys[i]));
        if (str_eqz(properties->keys[i], "comment")) {
            run->target.metadata.description = properties->values[i];
            continue;
        }
        keys[n] = properties->keys[i];
        values[n++] = properties->values[i];
    }
    *properties = (str_map){keys, values, n};
    return SILT_OK;
}

/* ---- column mapping ---- */

static silt_status check_mode_change(const alter_run *run, str from, str to) {
    bool same = str_eq(from, to), on = str_eqz(from, "none") && str_eqz(to, "name"), off = str_eqz(to, "none");
    return same || on || off ? SILT_OK : err_DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE(run->o->err, from, to);
}

/* The columns keep the names that their files have. */
static silt_status map_columns(alter_run *run) {
    const op *o = run->o;
    write_target *t = &run->target;
    int64_t max_id;
    TRY(delta_assign_column_mapping(t->schema, delta_config_i64(&t->metadata.configuration, MAX_ID), false, o->a, &t->schema, &max_id, o->err));
    t->metadata.schema = t->schema;
    t->metadata.schema_json = STR_NULL;
    str text = arena_printf(o->a, "%lld", (long long)max_id);
    return str_is_null(text) ? exhausted(run) : alter_configuration_set(run, &t->metadata.configuration, STR(MAX_ID), text);
}

/* ---- SET ---- */

static silt_status properties_json(alter_run *run, const str_map *properties) {
    buf text;
    bool first = true;
    buf_init(&text, BUF_MAX_DEFAULT);
    buf_append_char(&text, '{');
    for (size_t i = 0; i < properties->count; i++) {
        write_key(&text, &first, properties->keys[i]);
        json_write_str(&text, properties->values[i]);
    }
    buf_append_char(&text, '}');
    json_object j;
    ops_json_object_begin(&j);
    if (!buf_ok(&text)) j.text.failed = true;
    ops_json_object_str(&j, "properties", buf_str(&text));
    run->parameters = ops_json_object_end(&j, run->o->a);
    buf_dispose(&text);
    return str_is_null(run->parameters) ? exhausted(run) : SILT_OK;
}

static silt_status check_configuration(const alter_run *run) {
    const op *o = run->o;
    const str_map *c = &run->target.metadata.configuration;
    if (delta_config_bool(c, ROW_IDS) && delta_config_bool(c, "delta.rowTrackingSuspended")) return err_DELTA_ROW_TRACKING_ILLEGAL_PROPERTY_COMBINATION(o->err);
    TRY(delta_properties_check_together(c, o->err));
    return ops_schema_check_change_feed(o, run->target.schema, c);
}

/* The new configuration and the protocol that it needs. */
static silt_status work_out(alter_run *run, str_map given) {
    const op *o = run->o;
    write_target *t = &run->target;
    str from = mode_of(&t->metadata.configuration);
    str_map stored;
    delta_protocol needed;
    bool allow_arbitrary = ops_setting_bool(o, "spark.databricks.delta.allowArbitraryProperties.enabled", false);
    for (size_t i = 0; i < given.count; i++)
        if (str_eqz(canonical(given.keys[i]), MODE)) TRY(check_mode_change(run, from, given.values[i]));
    TRY(delta_protocol_for(&t->protocol, t->schema, given, allow_arbitrary, o->a, &needed, &stored, o->err));
    for (size_t i = 0; i < stored.count; i++) TRY(alter_configuration_set(run, &t->metadata.configuration, stored.keys[i], stored.values[i]));
    t->protocol_changed = !ops_protocol_equal(&needed, &t->protocol);
    t->protocol = needed;
    t->metadata_changed = true;
    if (str_eqz(from, "none") && str_eqz(mode_of(&t->metadata.configuration), "name")) TRY(map_columns(run));
    TRY(ops_iceberg_defaults(o, t, false));
    TRY(ops_iceberg_check(o, t, run->snapshot));
    TRY(ops_iceberg_check_enabling(o, t, &delta_snapshot_metadata(run->snapshot)->configuration));
    TRY(ops_iceberg_assign_ids(o, t));
    return check_configuration(run);
}

static bool enables_row_tracking(const alter_run *run) {
    return delta_config_bool(&run->target.metadata.configuration, ROW_IDS) && !delta_config_bool(&delta_snapshot_metadata(run->snapshot)->configuration, ROW_IDS);
}

static bool removes_mapping(const alter_run *run) {
    return !str_eqz(mode_of(&delta_snapshot_metadata(run->snapshot)->configuration), "none") && str_eqz(mode_of(&run->target.metadata.configuration), "none");
}

static bool same_metadata(const delta_metadata *a, const delta_metadata *b) {
    bool same = str_eq(a->id, b->id) && str_eq(a->schema_json, b->schema_json) && a->configuration.count == b->configuration.count;
    for (size_t i = 0; same && i < a->configuration.count; i++)
        same = str_eq(str_map_get(&b->configuration, a->configuration.keys[i]), a->configuration.values[i]);
    return same;
}

/* Row ids for the files that are there come first, in commits of their own; what the statement asked for is the last commit. */
static silt_status set_with_row_tracking(alter_run *run, const str_map *given) {
    const write_target wanted = run->target;
    TRY(alter_row_tracking_backfill(run));
    if (!same_metadata(delta_snapshot_metadata(run->spec->snapshot), delta_snapshot_metadata(run->snapshot)))
        return err_DELTA_METADATA_CHANGED(run->o->err, STR("while the rows got their ids; the table has them now, run the statement again"));
    run->target = wanted;
    run->target.protocol_changed = !ops_protocol_equal(&wanted.protocol, delta_snapshot_protocol(run->snapshot));
    run->operation = "SET TBLPROPERTIES";
    run->tags = given->count == 1 && !run->target.protocol_changed ? STR("{\"rowTrackingEnablementOnly\":\"true\"}") : STR_NULL;
    return properties_json(run, given);
}

static silt_status set_properties(alter_run *run, str_map given) {
    str_map properties = given;
    TRY(take_comment(run, &properties));
    TRY(work_out(run, properties));
    if (run->target.protocol_changed) TRY(ops_protocol_upgrade(run->o, delta_snapshot_protocol(run->snapshot), &run->target.protocol, run->out));
    if (removes_mapping(run)) return alter_remove_column_mapping(run);
    if (enables_row_tracking(run)) return set_with_row_tracking(run, &given);
    run->operation = "SET TBLPROPERTIES";
    return properties_json(run, &given);
}

/* ---- UNSET ---- */

static silt_status unset_json(alter_run *run) {
    json_object j;
    const alter_spec *spec = run->spec;
    str *keys = ARENA_ARRAY(run->o->a, spec->n_keys + 1, str);
    if (!keys) return exhausted(run);
    for (size_t i = 0; i < spec->n_keys; i++) keys[i] = canonical(spec->keys[i]);
    ops_json_object_begin(&j);
    ops_json_object_names(&j, "properties", keys, spec->n_keys);
    ops_json_object_true(&j, "ifExists"); /* Spark says so whether or not the statement does */
    run->parameters = ops_json_object_end(&j, run->o->a);
    return str_is_null(run->parameters) ? exhausted(run) : SILT_OK;
}

static silt_status unset_properties(alter_run *run) {
    const alter_spec *spec = run->spec;
    delta_metadata *m = &run->target.metadata;
    run->target.metadata_changed = true;
    for (size_t i = 0; i < spec->n_keys; i++) {
        str key = canonical(spec->keys[i]);
        const delta_property *p = delta_property_find(key);
        if (p && !p->user_settable) return err_DELTA_CANNOT_MODIFY_TABLE_PROPERTY(run->o->err, key);
        if (str_eqz(key, "comment")) m->description = STR_NULL;
        TRY(alter_configuration_set(run, &m->configuration, key, STR_NULL));
    }
    TRY(ops_iceberg_check(run->o, &run->target, run->snapshot));
    TRY(check_configuration(run));
    run->operation = "UNSET TBLPROPERTIES";
    return removes_mapping(run) ? alter_remove_column_mapping(run) : unset_json(run);
}

silt_status alter_properties(alter_run *run) {
    const alter_spec *spec = run->spec;
    if (spec->kind == ALTER_UNSET_PROPERTIES) return unset_properties(run);
    if (spec->kind == ALTER_SET_PROPERTIES) return set_properties(run, spec->properties);
    str key = STR("comment"), text = str_is_null(spec->comment) ? STR("") : spec->comment;
    return set_properties(run, (str_map){&key, &text, 1});
}
