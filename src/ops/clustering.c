/* CLUSTER BY: the columns, and the domain in which Delta keeps them by their physical names (PROTOCOL.md "Clustered Table"). */
#include "delta/properties.h"
#include "delta/stats_columns.h"
#include "expr/parser.h"
#include "ops/internal.h"

#define DEFAULT_COLUMN_LIMIT 4

/* "c.d" → the path of field indexes; names as the schema spells them in *out_text. */
static silt_status resolve(const op *o, const data_type *schema, str text, uint32_t **out_path, size_t *out_depth,
                           str *out_text) {
    parser p;
    name_parts name;
    TRY(parser_init(&p, text, o->a, o->err));
    TRY(parser_name(&p, &name));
    TRY(parser_expect_end(&p));
    uint32_t *path = ARENA_ARRAY(o->a, name.count + 1, uint32_t);
    buf shown;
    if (!path) return error_no_memory(o->err);
    buf_init(&shown, BUF_MAX_DEFAULT);
    const data_type *at = schema;
    for (size_t i = 0; i < name.count; i++) {
        int index = at->id == TYPE_STRUCT ? schema_find(at, name.parts[i]) : -1;
        if (index < 0) {
            buf_dispose(&shown);
            return err_DELTA_COLUMN_NOT_FOUND_IN_SCHEMA(o->err, text);
        }
        path[i] = (uint32_t)index;
        if (i) buf_append_char(&shown, '.');
        identifier_write(&shown, at->fields[index].name);
        at = at->fields[index].type;
    }
    *out_text = buf_take(&shown, o->a);
    *out_path = path;
    *out_depth = name.count;
    return str_is_null(*out_text) ? error_no_memory(o->err) : SILT_OK;
}

static const field *field_at(const data_type *schema, const uint32_t *path, size_t depth) {
    const field *f = NULL;
    for (size_t i = 0; i < depth; i++) {
        f = &schema->fields[path[i]];
        schema = f->type;
    }
    return f;
}

/* Clustered files are found by their bounds: the column needs some. */
static silt_status check_statistics(const op *o, const data_type *schema, const data_type *bounds, const uint32_t *path,
                                    size_t depth, str text) {
    const field *f = field_at(schema, path, depth);
    bool no_bounds =
        type_is_nested(f->type) || f->type->id == TYPE_BOOLEAN || f->type->id == TYPE_BINARY || f->type->id == TYPE_VARIANT;
    if (no_bounds) {
        str shown = arena_printf(o->a, "%.*s : %.*s", STR_ARG(text), STR_ARG(type_sql(f->type, o->a)));
        return err_DELTA_CLUSTERING_COLUMNS_DATATYPE_NOT_SUPPORTED(o->err, shown);
    }
    for (size_t i = 0; i < depth; i++) {
        int at = bounds ? schema_find(bounds, schema->fields[path[i]].physical_name) : -1;
        if (at < 0) return err_DELTA_CLUSTERING_COLUMN_MISSING_STATS(o->err, text);
        bounds = bounds->fields[at].type;
        schema = schema->fields[path[i]].type;
    }
    return SILT_OK;
}

static void write_path(buf *out, const data_type *schema, const uint32_t *path, size_t depth) {
    buf_append_char(out, '[');
    for (size_t i = 0; i < depth; i++) {
        if (i) buf_append_char(out, ',');
        json_write_str(out, schema->fields[path[i]].physical_name);
        schema = schema->fields[path[i]].type;
    }
    buf_append_char(out, ']');
}

static silt_status check_count(const op *o, size_t n) {
    int64_t limit = DEFAULT_COLUMN_LIMIT;
    str text = ops_setting(o, "spark.databricks.delta.clusteredTable.numClusteringColumnsLimit");
    if (!str_is_null(text) && !str_to_i64(text, &limit)) limit = DEFAULT_COLUMN_LIMIT;
    return n > 0 && (int64_t)n > limit ? err_DELTA_CLUSTER_BY_INVALID_NUM_COLUMNS(o->err, limit, (int64_t)n) : SILT_OK;
}

static silt_status write_columns(const op *o, const data_type *schema, const data_type *bounds, const str *columns, size_t n,
                                 str *names, buf *out) {
    for (size_t i = 0; i < n; i++) {
        uint32_t *path;
        size_t depth;
        TRY(resolve(o, schema, columns[i], &path, &depth, &names[i]));
        for (size_t k = 0; k < i; k++)
            if (str_eq(names[k], names[i])) return err_COLUMN_ALREADY_EXISTS(o->err, names[i]);
        TRY(check_statistics(o, schema, bounds, path, depth, names[i]));
        if (i) buf_append_char(out, ',');
        write_path(out, schema, path, depth);
    }
    return SILT_OK;
}

silt_status ops_clustering_plan(const op *o, const data_type *schema, const str_map *configuration, const str *columns, size_t n,
                                str *out_domain, const str **out_names) {
    delta_metadata m = {.schema = schema, .configuration = *configuration};
    const data_type *bounds, *null_counts;
    str *names = ARENA_ARRAY(o->a, n + 1, str);
    buf text;
    if (!names) return error_no_memory(o->err);
    TRY(check_count(o, n));
    TRY(delta_stats_types(&m, o->a, &bounds, &null_counts, o->err));
    buf_init(&text, BUF_MAX_DEFAULT);
    buf_append_z(&text, "{\"clusteringColumns\":[");
    silt_status status = write_columns(o, schema, bounds, columns, n, names, &text);
    buf_append_z(&text, "],\"domainName\":\"" CLUSTERING_DOMAIN "\"}");
    if (status == SILT_OK) {
        *out_domain = buf_ok(&text) ? arena_str(o->a, buf_str(&text)) : STR_NULL;
        if (str_is_null(*out_domain)) status = error_no_memory(o->err);
    }
    buf_dispose(&text);
    *out_names = names;
    return status;
}

/* ---- reading ---- */

/* The next part of a path of physical names by its logical one; unknown names stand as they are. */
static str logical_name(const data_type **schema, str physical) {
    const field *found = NULL;
    for (size_t k = 0; *schema && (*schema)->id == TYPE_STRUCT && k < (*schema)->n_fields && !found; k++)
        if (str_eq((*schema)->fields[k].physical_name, physical)) found = &(*schema)->fields[k];
    *schema = found ? found->type : NULL;
    return found ? found->name : physical;
}

/* ["c","d"] by physical names → c.d by logical ones. */
static str logical_path(const data_type *schema, const json_node *path, arena *a) {
    buf text;
    buf_init(&text, BUF_MAX_DEFAULT);
    for (size_t i = 0; i < path->count; i++) {
        if (i) buf_append_char(&text, '.');
        identifier_write(&text, logical_name(&schema, path->values[i].text));
    }
    return buf_take(&text, a);
}

silt_status ops_clustering_paths(const delta_snapshot *s, arena *a, const json_node **out, silt_error *err) {
    *out = NULL;
    const delta_domain *domain = delta_snapshot_find_domain(s, STR(CLUSTERING_DOMAIN));
    const json_node *root;
    if (!domain || domain->removed) return SILT_OK;
    TRY(json_parse(domain->configuration, a, &root, err));
    const json_node *columns = json_get(root, "clusteringColumns");
    *out = columns && columns->type == JSON_ARRAY ? columns : NULL;
    return SILT_OK;
}

silt_status ops_clustering_by_names(const delta_snapshot *s, arena *a, str *out_domain, silt_error *err) {
    const json_node *columns;
    buf text;
    *out_domain = STR_NULL;
    TRY(ops_clustering_paths(s, a, &columns, err));
    if (!columns || columns->count == 0) return SILT_OK;
    buf_init(&text, BUF_MAX_DEFAULT);
    buf_append_z(&text, "{\"clusteringColumns\":[");
    for (size_t i = 0; i < columns->count; i++) {
        const json_node *path = &columns->values[i];
        const data_type *schema = delta_snapshot_metadata(s)->schema;
        buf_append_z(&text, i ? ",[" : "[");
        for (size_t k = 0; k < path->count; k++) {
            if (k) buf_append_char(&text, ',');
            json_write_str(&text, logical_name(&schema, path->values[k].text));
        }
        buf_append_char(&text, ']');
    }
    buf_append_z(&text, "],\"domainName\":\"" CLUSTERING_DOMAIN "\"}");
    *out_domain = buf_take(&text, a);
    return str_is_null(*out_domain) ? error_no_memory(err) : SILT_OK;
}

silt_status ops_clustering_columns(const delta_snapshot *s, arena *a, const str **out, size_t *out_n, silt_error *err) {
    *out = NULL;
    *out_n = 0;
    const json_node *columns;
    TRY(ops_clustering_paths(s, a, &columns, err));
    if (!columns) return SILT_OK;
    str *names = ARENA_ARRAY(a, columns->count + 1, str);
    if (!names) return error_no_memory(err);
    for (size_t i = 0; i < columns->count; i++) {
        names[i] = logical_path(delta_snapshot_metadata(s)->schema, &columns->values[i], a);
        if (str_is_null(names[i])) return error_no_memory(err);
    }
    *out = names;
    *out_n = columns->count;
    return SILT_OK;
}
