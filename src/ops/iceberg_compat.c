/*
 * IcebergCompatV1 to V3 (PROTOCOL.md "Iceberg Compatibility"; V3 by its draft, protocol_rfcs/iceberg-compat-v3.md): a table that enables one keeps itself convertible to Apache
 * Iceberg. Here is what they forbid, and the ids that V2 and V3 want for array elements and map keys and values; that partition columns are in the files, timestamps are int64 and
 * row ids stand under Iceberg's own field ids is the writer's part.
 */
#include "delta/metadata_copy.h"
#include "delta/properties.h"
#include "expr/tree.h"
#include "ops/internal.h"

#define NESTED_IDS "delta.columnMapping.nested.ids"
#define MAX_ID     "delta.columnMapping.maxColumnId"
#define MODE       "delta.columnMapping.mode"
#define ROW_IDS    "delta.enableRowTracking"

static bool is_on(const write_target *t, const char *key) { return delta_config_bool(&t->metadata.configuration, key); }
static int version_of(const write_target *t) { return delta_config_iceberg_compat(&t->metadata.configuration); }

/* ---- what is forbidden ---- */

static const data_type *forbidden_type(const data_type *t, int version) {
    const data_type *found = NULL;
    if (t->id == TYPE_VOID || (version == 2 && t->id == TYPE_VARIANT) || (version == 1 && (t->id == TYPE_ARRAY || t->id == TYPE_MAP))) return t;
    if (t->key) found = forbidden_type(t->key, version);
    if (!found && t->element) found = forbidden_type(t->element, version);
    for (size_t i = 0; !found && i < t->n_fields; i++) found = forbidden_type(t->fields[i].type, version);
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

static silt_status check_type_changes(const op *o, const data_type *t, int version) {
    if (t->key) TRY(check_type_changes(o, t->key, version));
    if (t->element) TRY(check_type_changes(o, t->element, version));
    for (size_t i = 0; i < t->n_fields; i++) {
        const json_node *changes = field_metadata_get(&t->fields[i], "delta.typeChanges", o->a);
        for (size_t k = 0; changes && changes->type == JSON_ARRAY && k < changes->count; k++) {
            str from = json_get_str(&changes->values[k], "fromType", STR("")), to = json_get_str(&changes->values[k], "toType", STR(""));
            if (!iceberg_can_widen(from, to)) return err_ICEBERG_COMPAT_TYPE_WIDENING(o->err, version, from, to);
        }
        TRY(check_type_changes(o, t->fields[i].type, version));
    }
    return SILT_OK;
}

static silt_status has_dv(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    (void)i;
    (void)err;
    if (add->dv.storage) *(bool *)ctx = true;
    return SILT_OK;
}

static silt_status check_vectors(const op *o, const write_target *t, const delta_snapshot *before, int version) {
    bool any = is_on(t, "delta.enableDeletionVectors") || (before && delta_config_bool(&delta_snapshot_metadata(before)->configuration, "delta.enableDeletionVectors"));
    if (!any && before && delta_protocol_has(&t->protocol, "deletionVectors")) TRY(delta_snapshot_each_file(before, false, has_dv, &any, o->err));
    return any ? err_ICEBERG_COMPAT_DELETION_VECTORS(o->err, version) : SILT_OK;
}

/* Iceberg's readers take the partition columns by their names: they cannot change under it. */
static silt_status check_partitioning(const op *o, const write_target *t, const delta_snapshot *before, int version) {
    const delta_metadata *now = &t->metadata, *old = before ? delta_snapshot_metadata(before) : now;
    for (size_t i = 0; old->n_partition_columns == now->n_partition_columns && i < now->n_partition_columns; i++)
        if (!str_eq_fold(old->partition_columns[i], now->partition_columns[i]))
            return err_ICEBERG_COMPAT_PARTITION_NAMES(o->err, version, old->partition_columns[i], now->partition_columns[i]);
    return SILT_OK;
}

/* Iceberg keeps a default as a value: it has no expressions. */
static silt_status check_defaults(const op *o, const write_target *t, int version) {
    for (size_t i = 0; i < t->schema->n_fields; i++) {
        expr *e;
        TRY(ops_default_parse(o, &t->schema->fields[i], &e));
        if (e && e->kind == EXPR_CALL && e->n_args == 1 && str_eqz(e->function_name, "negative")) e = e->args[0];
        if (e && e->kind != EXPR_LITERAL) return err_ICEBERG_COMPAT_DEFAULT(o->err, version, t->schema->fields[i].name);
    }
    return SILT_OK;
}

static silt_status check_properties(const op *o, const write_target *t, int version) {
    str mode = delta_config_str(&t->metadata.configuration, MODE);
    if (!str_eqz(mode, "name") && !str_eqz(mode, "id")) return err_ICEBERG_COMPAT_PROPERTY(o->err, version, MODE, "name", mode.len ? mode : STR("none"));
    return version < 3 || is_on(t, ROW_IDS) ? SILT_OK : err_ICEBERG_COMPAT_PROPERTY(o->err, version, ROW_IDS, "true", STR("false"));
}

silt_status ops_iceberg_check_writable(const op *o, const write_target *t) {
    int version = version_of(t);
    return version == 3 ? check_properties(o, t, version) : SILT_OK;
}

silt_status ops_iceberg_check(const op *o, const write_target *t, const delta_snapshot *before) {
    int version = version_of(t);
    if (version == 0) return SILT_OK;
    if (is_on(t, "delta.enableIcebergCompatV1") + is_on(t, "delta.enableIcebergCompatV2") + is_on(t, "delta.enableIcebergCompatV3") > 1)
        return err_ICEBERG_COMPAT_VERSIONS(o->err, version);
    TRY(check_properties(o, t, version));
    TRY(check_partitioning(o, t, before, version));
    if (version < 3) TRY(check_vectors(o, t, before, version));
    const data_type *forbidden = forbidden_type(t->schema, version);
    if (forbidden) return err_ICEBERG_COMPAT_DATA_TYPE(o->err, version, type_sql(forbidden, o->a));
    if (version == 3) TRY(check_defaults(o, t, version));
    return check_type_changes(o, t->schema, version);
}

/* Nothing in the protocol forbids it, but Delta up to 4.3 could not write the table: it takes every decimal that partitions for a type unknown to V2. */
static silt_status check_partition_types(const op *o, const write_target *t) {
    for (size_t i = 0; i < t->metadata.n_partition_columns; i++) {
        int at = schema_find(t->schema, t->metadata.partition_columns[i]);
        const data_type *type = at >= 0 ? t->schema->fields[at].type : NULL;
        if (type && type->id == TYPE_DECIMAL) return err_ICEBERG_COMPAT_PARTITION_TYPE(o->err, 2, type_sql(type, o->a));
    }
    return SILT_OK;
}

silt_status ops_iceberg_check_enabling(const op *o, const write_target *t, const str_map *before) {
    int version = version_of(t);
    if (before && delta_config_iceberg_compat(before) == version) return SILT_OK;
    if (version == 2) return check_partition_types(o, t);
    /* The files of a table that tracks its rows may hold row ids that do not stand under Iceberg's field ids. Delta 4.4 refuses it, too. */
    if (version < 3 || !before || !delta_config_bool(before, ROW_IDS)) return SILT_OK;
    return err_UNSUPPORTED_FEATURE(o->err, "enabling IcebergCompatV3 on a table that tracks its rows; copy it into a new one with CREATE TABLE … AS SELECT");
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
    if (version_of(t) < 2) return SILT_OK;
    id_giver g = {o, delta_config_i64(&t->metadata.configuration, MAX_ID)};
    TRY(give_ids(&g, t->schema, &t->schema));
    t->metadata.schema = t->schema;
    t->metadata.schema_json = STR_NULL;
    str text = arena_printf(o->a, "%lld", (long long)g.max_id);
    bool ok = !str_is_null(text) && str_map_with(&t->metadata.configuration, STR(MAX_ID), text, o->a, &t->metadata.configuration);
    return ok ? SILT_OK : error_no_memory(o->err);
}

/* ---- what comes along with it ---- */

static silt_status set_if_absent(const op *o, str_map *configuration, const char *key, const char *text) {
    if (!str_is_null(str_map_get(configuration, str_of(key)))) return SILT_OK;
    return str_map_with(configuration, str_of(key), str_of(text), o->a, configuration) ? SILT_OK : error_no_memory(o->err);
}

silt_status ops_iceberg_defaults(const op *o, write_target *t, bool is_new) {
    int version = version_of(t);
    if (version == 3) TRY(set_if_absent(o, &t->metadata.configuration, ROW_IDS, "true"));
    if (version == 0 || !is_new) return SILT_OK;
    TRY(set_if_absent(o, &t->metadata.configuration, MODE, "name"));
    return set_if_absent(o, &t->metadata.configuration, "delta.universalFormat.iceberg.atomicConversion.supported", "true");
}

/* ---- files ---- */

silt_status ops_iceberg_file(const op *o, const write_target *t, delta_add *add) {
    int version = version_of(t);
    const json_node *stats;
    if (version == 0) return SILT_OK;
    if (version > 1) add->tags = version == 3 ? STR("{\"ICEBERG_COMPAT_VERSION\":\"3\"}") : STR("{\"ICEBERG_COMPAT_VERSION\":\"2\"}");
    bool counted = add->stats.ptr && json_parse(add->stats, o->a, &stats, NULL) == SILT_OK && json_get_i64(stats, "numRecords", -1) >= 0;
    return counted ? SILT_OK : err_ICEBERG_COMPAT_NO_STATISTICS(o->err, version, add->path);
}
