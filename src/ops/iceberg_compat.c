/*
 * IcebergCompatV1 and V2 (PROTOCOL.md "Iceberg Compatibility"): a table that enables one keeps itself convertible to Apache Iceberg. Here is what they forbid, and the ids that V2
 * wants for array elements and map keys and values; that partition columns are in the files and timestamps are int64 is the writer's part.
 */
#include "delta/metadata_copy.h"
#include "delta/properties.h"
#include "ops/internal.h"

#define NESTED_IDS "delta.columnMapping.nested.ids"
#define MAX_ID     "delta.columnMapping.maxColumnId"

static bool is_on(const write_target *t, const char *key) { return delta_config_bool(&t->metadata.configuration, key); }

/* ---- what is forbidden ---- */

static const data_type *forbidden_type(const data_type *t, bool v1) {
    const data_type *found = NULL;
    if (t->id == TYPE_VOID || (!v1 && t->id == TYPE_VARIANT) || (v1 && (t->id == TYPE_ARRAY || t->id == TYPE_MAP))) return t;
    if (t->key) found = forbidden_type(t->key, v1);
    if (!found && t->element) found = forbidden_type(t->element, v1);
    for (size_t i = 0; !found && i < t->n_fields; i++) found = forbidden_type(t->fields[i].type, v1);
    return found;
}

static bool decimal_of(str text, int64_t *precision, int64_t *scale) {
    str rest = str_slice(text, sizeof "decimal(" - 1, text.len ? text.len - 1 : 0), piece;
    return str_starts_with(text, STR("decimal(")) && str_next(&rest, ',', &piece) && str_to_i64(str_trim(piece), precision) && str_to_i64(str_trim(rest), scale);
}

/* Iceberg widens int to long, float to double, and the precision of decimals. */
static bool iceberg_can_widen(str from, str to) {
    static const char *const integers[] = {"byte", "short", "integer", "long"};
    int64_t p, s, p2, s2;
    bool from_integer = false, to_integer = false;
    for (size_t i = 0; i < ARRAY_LEN(integers); i++) {
        from_integer |= str_eqz(from, integers[i]);
        to_integer |= str_eqz(to, integers[i]);
    }
    if (from_integer) return to_integer;
    if (str_eqz(from, "float")) return str_eqz(to, "double");
    return decimal_of(from, &p, &s) && decimal_of(to, &p2, &s2) && s == s2;
}

static silt_status check_type_changes(const op *o, const data_type *t, const char *which) {
    if (t->key) TRY(check_type_changes(o, t->key, which));
    if (t->element) TRY(check_type_changes(o, t->element, which));
    for (size_t i = 0; i < t->n_fields; i++) {
        const json_node *changes = field_metadata_get(&t->fields[i], "delta.typeChanges", o->a);
        for (size_t k = 0; changes && changes->type == JSON_ARRAY && k < changes->count; k++) {
            str from = json_get_str(&changes->values[k], "fromType", STR("")), to = json_get_str(&changes->values[k], "toType", STR(""));
            if (!iceberg_can_widen(from, to)) return err_ICEBERG_COMPAT_TYPE_WIDENING(o->err, which, from, to);
        }
        TRY(check_type_changes(o, t->fields[i].type, which));
    }
    return SILT_OK;
}

static silt_status has_dv(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    (void)i;
    (void)err;
    if (add->dv.storage) *(bool *)ctx = true;
    return SILT_OK;
}

static silt_status check_vectors(const op *o, const write_target *t, const delta_snapshot *before, const char *which) {
    bool any = is_on(t, "delta.enableDeletionVectors") || (before && delta_config_bool(&delta_snapshot_metadata(before)->configuration, "delta.enableDeletionVectors"));
    if (!any && before && delta_protocol_has(&t->protocol, "deletionVectors")) TRY(delta_snapshot_each_file(before, false, has_dv, &any, o->err));
    return any ? err_ICEBERG_COMPAT_DELETION_VECTORS(o->err, which) : SILT_OK;
}

/* Iceberg's readers take the partition columns by their names: they cannot change under it. */
static silt_status check_partitioning(const op *o, const write_target *t, const delta_snapshot *before, const char *which) {
    const delta_metadata *now = &t->metadata, *old = before ? delta_snapshot_metadata(before) : now;
    for (size_t i = 0; old->n_partition_columns == now->n_partition_columns && i < now->n_partition_columns; i++)
        if (!str_eq_fold(old->partition_columns[i], now->partition_columns[i]))
            return err_ICEBERG_COMPAT_PARTITION_NAMES(o->err, which, old->partition_columns[i], now->partition_columns[i]);
    return SILT_OK;
}

silt_status ops_iceberg_check(const op *o, const write_target *t, const delta_snapshot *before) {
    bool v1 = is_on(t, "delta.enableIcebergCompatV1"), v2 = is_on(t, "delta.enableIcebergCompatV2");
    const char *which = v1 ? "V1" : "V2";
    if (!v1 && !v2) return SILT_OK;
    if (v1 && v2) return err_ICEBERG_COMPAT_VERSIONS(o->err, which);
    str mode = delta_config_str(&t->metadata.configuration, "delta.columnMapping.mode");
    if (!str_eqz(mode, "name") && !str_eqz(mode, "id")) return err_ICEBERG_COMPAT_PROPERTY(o->err, which, mode.len ? mode : STR("none"));
    TRY(check_partitioning(o, t, before, which));
    TRY(check_vectors(o, t, before, which));
    const data_type *forbidden = forbidden_type(t->schema, v1);
    if (forbidden) return err_ICEBERG_COMPAT_DATA_TYPE(o->err, which, type_sql(forbidden, o->a));
    return check_type_changes(o, t->schema, which);
}

/* ---- ids of elements, keys and values ---- */

typedef struct id_giver {
    const op *o;
    int64_t max_id;
} id_giver;

static void keep_or_give(id_giver *g, const json_node *old, str path, bool *first, buf *out) {
    int64_t id = old ? json_get_i64(old, path.ptr, -1) : -1; /* made by printf: ends in a NUL */
    if (id < 0) id = ++g->max_id;
    json_write_key_str(out, first, path);
    json_write_i64(out, id);
}

static bool ids_below(id_giver *g, const data_type *t, const json_node *old, str path, bool *first, buf *out) {
    static const char *const parts[] = {"key", "value", "element"};
    const data_type *types[] = {t->id == TYPE_MAP ? t->key : NULL, t->id == TYPE_MAP ? t->element : NULL, t->id == TYPE_ARRAY ? t->element : NULL};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        if (!types[i]) continue;
        str below = arena_printf(g->o->a, "%.*s.%s", STR_ARG(path), parts[i]);
        if (str_is_null(below)) return false;
        keep_or_give(g, old, below, first, out);
        if (!ids_below(g, types[i], old, below, first, out)) return false;
    }
    return true;
}

static silt_status give_ids(id_giver *g, const data_type *type, const data_type **out);

static silt_status give_field_ids(id_giver *g, field *f) {
    const op *o = g->o;
    bool first = true;
    buf text;
    buf_init(&text, BUF_MAX_DEFAULT);
    buf_append_char(&text, '{');
    bool ok = ids_below(g, f->type, field_metadata_get(f, NESTED_IDS, o->a), f->physical_name, &first, &text);
    buf_append_char(&text, '}');
    f->metadata = ok && buf_ok(&text) ? field_metadata_set(f->metadata.len ? f->metadata : STR("{}"), NESTED_IDS, buf_str(&text), o->a) : STR_NULL;
    buf_dispose(&text);
    return str_is_null(f->metadata) ? error_no_memory(o->err) : give_ids(g, f->type, &f->type);
}

static silt_status give_ids(id_giver *g, const data_type *type, const data_type **out) {
    *out = type;
    if (!type_is_nested(type)) return SILT_OK;
    data_type *copy = ARENA_NEW(g->o->a, data_type);
    field *fields = ARENA_ARRAY(g->o->a, type->n_fields + 1, field);
    if (!copy || !fields) return error_no_memory(g->o->err);
    *copy = *type;
    if (type->key) TRY(give_ids(g, type->key, &copy->key));
    if (type->element) TRY(give_ids(g, type->element, &copy->element));
    for (size_t i = 0; i < type->n_fields; i++) {
        fields[i] = type->fields[i];
        TRY(give_field_ids(g, &fields[i]));
    }
    if (type->id == TYPE_STRUCT) copy->fields = fields;
    *out = copy;
    return SILT_OK;
}

silt_status ops_iceberg_assign_ids(const op *o, write_target *t) {
    if (!is_on(t, "delta.enableIcebergCompatV2")) return SILT_OK;
    id_giver g = {o, delta_config_i64(&t->metadata.configuration, MAX_ID)};
    TRY(give_ids(&g, t->schema, &t->schema));
    t->metadata.schema = t->schema;
    t->metadata.schema_json = STR_NULL;
    str text = arena_printf(o->a, "%lld", (long long)g.max_id);
    bool ok = !str_is_null(text) && str_map_with(&t->metadata.configuration, STR(MAX_ID), text, o->a, &t->metadata.configuration);
    return ok ? SILT_OK : error_no_memory(o->err);
}

/* ---- what a new table gets along with it ---- */

static silt_status set_if_absent(const op *o, str_map *configuration, const char *key, const char *text) {
    if (!str_is_null(str_map_get(configuration, str_of(key)))) return SILT_OK;
    return str_map_with(configuration, str_of(key), str_of(text), o->a, configuration) ? SILT_OK : error_no_memory(o->err);
}

silt_status ops_iceberg_defaults(const op *o, write_target *t) {
    if (!is_on(t, "delta.enableIcebergCompatV1") && !is_on(t, "delta.enableIcebergCompatV2")) return SILT_OK;
    TRY(set_if_absent(o, &t->metadata.configuration, "delta.columnMapping.mode", "name"));
    return set_if_absent(o, &t->metadata.configuration, "delta.universalFormat.iceberg.atomicConversion.supported", "true");
}

/* ---- files ---- */

silt_status ops_iceberg_file(const op *o, const write_target *t, delta_add *add) {
    bool v1 = is_on(t, "delta.enableIcebergCompatV1"), v2 = is_on(t, "delta.enableIcebergCompatV2");
    const json_node *stats;
    if (!v1 && !v2) return SILT_OK;
    if (v2) add->tags = STR("{\"ICEBERG_COMPAT_VERSION\":\"2\"}");
    bool counted = add->stats.ptr && json_parse(add->stats, o->a, &stats, NULL) == SILT_OK && json_get_i64(stats, "numRecords", -1) >= 0;
    return counted ? SILT_OK : err_ICEBERG_COMPAT_NO_STATISTICS(o->err, v1 ? "V1" : "V2", add->path);
}
