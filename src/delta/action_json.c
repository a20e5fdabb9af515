/* The rare actions from their JSON text, PROTOCOL.md "Actions". They are few, so they are parsed to a tree; an absent required
 * member is an error, an unknown one is ignored. */
#include "delta/action_json.h"

static silt_status invalid(silt_error *err, const char *action, const char *why) {
    silt_status s = err_DELTA_LOG_FILE_CORRUPT(err, STR("the log"), 0);
    error_detail(err, "%s: %s", action, why);
    return s;
}

static bool is_null(const json_node *n) { return !n || n->type == JSON_NULL; }

silt_status action_str_map(const json_node *object, arena *a, str_map *out, silt_error *err) {
    *out = (str_map){0};
    if (is_null(object)) return SILT_OK;
    if (object->type != JSON_OBJECT) return invalid(err, "map", "an object was expected");
    str *values = ARENA_ARRAY(a, object->count, str);
    if (!values) return error_no_memory(err);
    for (size_t i = 0; i < object->count; i++) {
        const json_node *v = &object->values[i];
        if (v->type == JSON_BOOL)
            values[i] = v->boolean ? STR("true") : STR("false");
        else if (v->type != JSON_NULL)
            values[i] = v->text; /* an object or array keeps its JSON text */
    }
    *out = (str_map){.keys = object->keys, .values = values, .count = object->count};
    return SILT_OK;
}

static silt_status string_list(const json_node *array, const char *action, arena *a, const str **out, size_t *out_count,
                               silt_error *err) {
    *out = NULL;
    *out_count = 0;
    if (is_null(array)) return SILT_OK;
    if (array->type != JSON_ARRAY) return invalid(err, action, "a list of names was expected");
    str *names = ARENA_ARRAY(a, array->count, str);
    if (!names) return error_no_memory(err);
    for (size_t i = 0; i < array->count; i++) {
        if (array->values[i].type != JSON_STRING) return invalid(err, action, "a list of names was expected");
        names[i] = array->values[i].text;
    }
    *out = names;
    *out_count = array->count;
    return SILT_OK;
}

static silt_status parse_object(str text, const char *action, arena *a, const json_node **out, silt_error *err) {
    TRY(json_parse(text, a, out, err));
    return (*out)->type == JSON_OBJECT ? SILT_OK : invalid(err, action, "an object was expected");
}

/* ---- protocol ---- */

static bool version_number(const json_node *object, const char *key, int32_t *out) {
    int64_t v;
    const json_node *n = json_get(object, key);
    if (!n || !json_node_i64(n, &v) || v < INT32_MIN || v > INT32_MAX) return false;
    *out = (int32_t)v;
    return true;
}

silt_status action_parse_protocol(str text, arena *a, delta_protocol *out, silt_error *err) {
    const json_node *o;
    *out = (delta_protocol){0};
    TRY(parse_object(text, "protocol", a, &o, err));
    if (!version_number(o, "minReaderVersion", &out->min_reader_version) ||
        !version_number(o, "minWriterVersion", &out->min_writer_version))
        return invalid(err, "protocol", "it needs the whole numbers minReaderVersion and minWriterVersion");
    const json_node *reader = json_get(o, "readerFeatures"), *writer = json_get(o, "writerFeatures");
    out->has_reader_features = !is_null(reader);
    out->has_writer_features = !is_null(writer);
    TRY(string_list(reader, "protocol", a, &out->reader_features, &out->n_reader_features, err));
    return string_list(writer, "protocol", a, &out->writer_features, &out->n_writer_features, err);
}

/* ---- metaData ---- */

silt_status action_bind_schema(delta_metadata *m, arena *a, silt_error *err) {
    if (m->schema_json.len == 0) {
        m->schema = type_struct(a, NULL, 0);
        return m->schema ? SILT_OK : error_no_memory(err);
    }
    TRY(schema_parse_json(m->schema_json, a, &m->schema, err));
    str mode = str_map_get(&m->configuration, STR("delta.columnMapping.mode"));
    if (str_is_null(mode) || str_eq_ascii_fold(mode, STR("none"))) {
        m->schema = schema_use_logical_names(m->schema, a);
        if (!m->schema) return error_no_memory(err);
    }
    return SILT_OK;
}

silt_status action_parse_metadata(str text, arena *a, delta_metadata *out, silt_error *err) {
    const json_node *o;
    TRY(parse_object(text, "metaData", a, &o, err));
    const json_node *format = json_get(o, "format");
    *out = (delta_metadata){.id = json_get_str(o, "id", STR("")),
                            .name = json_get_str(o, "name", STR_NULL),
                            .description = json_get_str(o, "description", STR_NULL),
                            .format_provider = json_get_str(format, "provider", STR("parquet")),
                            .schema_json = json_get_str(o, "schemaString", STR_NULL),
                            .created_time_ms = json_get_i64(o, "createdTime", -1)};
    TRY(action_str_map(json_get(format, "options"), a, &out->format_options, err));
    TRY(action_str_map(json_get(o, "configuration"), a, &out->configuration, err));
    TRY(string_list(json_get(o, "partitionColumns"), "metaData", a, &out->partition_columns, &out->n_partition_columns, err));
    return action_bind_schema(out, a, err);
}

/* ---- txn and domainMetadata ---- */

silt_status action_parse_txn(str text, arena *a, delta_txn_id *out, silt_error *err) {
    const json_node *o;
    TRY(parse_object(text, "txn", a, &o, err));
    *out = (delta_txn_id){.app_id = json_get_str(o, "appId", STR_NULL), .last_updated_ms = json_get_i64(o, "lastUpdated", -1)};
    const json_node *version = json_get(o, "version");
    if (str_is_null(out->app_id) || !version || !json_node_i64(version, &out->version))
        return invalid(err, "txn", "it needs appId and version");
    return SILT_OK;
}

silt_status action_parse_domain(str text, arena *a, delta_domain *out, silt_error *err) {
    const json_node *o;
    TRY(parse_object(text, "domainMetadata", a, &o, err));
    *out = (delta_domain){.domain = json_get_str(o, "domain", STR_NULL),
                          .configuration = json_get_str(o, "configuration", STR("")),
                          .removed = json_get_bool(o, "removed", false)};
    if (str_is_null(out->domain)) return invalid(err, "domainMetadata", "it needs a domain");
    return SILT_OK;
}

/* ---- cdc ---- */

silt_status action_parse_cdc(str text, arena *a, delta_cdc *out, silt_error *err) {
    const json_node *o;
    TRY(parse_object(text, "cdc", a, &o, err));
    *out = (delta_cdc){.path = json_get_str(o, "path", STR_NULL), .size_bytes = json_get_i64(o, "size", 0)};
    if (str_is_null(out->path)) return invalid(err, "cdc", "it needs a path");
    return action_str_map(json_get(o, "partitionValues"), a, &out->partition_values, err);
}
