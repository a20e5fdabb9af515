/**
 * Planning and printing scans. The form, and why each part of it is as it is: docs/decisions/002-engine-rules.md.
 *
 *   (SELECT <c_i as the query sees them> FROM (
 *      SELECT c0, …, file_index AS fi, file_row_number AS rn
 *      FROM read_parquet(getvariable('silt_f7'), schema = getvariable('silt_s7'), explicit_cardinality = n)
 *      WHERE silt_live(7, file_index, file_row_number)))        -- alone in its block; only with deletion vectors
 *
 * One such block per group of files that agree in names and types; several are joined by UNION ALL.
 */
#include "engine/scan.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/scan_bundle.h"
#include "engine/scan_fetch.h"
#include "engine/scan_limit.h"
#include "engine/sources.h"

void scan_plan_dispose(scan_plan *plan) {
    for (size_t i = 0; i < plan->n_nodes; i++) scan_bundle_remove(plan->nodes[i]);
    for (size_t i = 0; i < plan->n_nodes; i++)
        for (size_t g = 0; g < plan->nodes[i]->n_groups; g++)
            if (plan->nodes[i]->groups[g].id) engine_unregister(plan->engine, &plan->engine->scans, plan->nodes[i]->groups[g].id);
    plan->n_nodes = 0;
}

/* ---- planning ---- */

static bool is_partition_column(const table_source *t, size_t column, size_t *out_index) {
    for (size_t i = 0; i < t->n_partition_columns; i++)
        if (t->partition_columns[i] == column) {
            *out_index = i;
            return true;
        }
    return false;
}

static bool uses_metadata(const relation *rel) {
    return rel->column_used && rel->n_columns > rel->source->schema->n_fields && rel->column_used[rel->source->schema->n_fields];
}

static bool has_row_id_column(const table_source *t) { return t->has_row_ids && t->row_id_column.len; }
static bool has_commit_version_column(const table_source *t) { return t->has_row_ids && t->row_commit_version_column.len; }

static silt_status collect_wanted(scan_node *node, arena *a, silt_error *err) {
    const relation *rel = node->rel;
    const data_type *schema = node->source->schema;
    node->wanted = ARENA_ARRAY(a, schema->n_fields + 2, wanted_column);
    node->wanted_of = ARENA_ARRAY(a, schema->n_fields + 1, int32_t);
    if (!node->wanted || !node->wanted_of) return error_no_memory(err);
    size_t unused;
    for (size_t i = 0; i < schema->n_fields; i++) {
        node->wanted_of[i] = -1;
        if (rel->column_used && !rel->column_used[i]) continue;
        if (is_partition_column(node->source, i, &unused) || schema->fields[i].type->id == TYPE_VOID) continue;
        wanted_column w = {.field = schema->fields[i], .alias = arena_printf(a, "c%zu", i)};
        if (!w.alias.ptr) return error_no_memory(err);
        node->wanted_of[i] = (int32_t)node->n_wanted;
        node->wanted[node->n_wanted++] = w;
    }
    if (!uses_metadata(rel)) return SILT_OK;
    if (has_row_id_column(node->source))
        node->wanted[node->n_wanted++] =
            (wanted_column){.field = field_make(node->source->row_id_column, &type_long, true), .alias = STR("m0")};
    if (has_commit_version_column(node->source))
        node->wanted[node->n_wanted++] =
            (wanted_column){.field = field_make(node->source->row_commit_version_column, &type_long, true), .alias = STR("m1")};
    return SILT_OK;
}

/* Any order that brings equal values together will do. */
static int compare_partitions(const void *a, const void *b, void *ctx) {
    const scan_file *x = a, *y = b;
    size_t n = *(const size_t *)ctx;
    for (size_t i = 0; x->partition && y->partition && i < n; i++) {
        const value *v = &x->partition[i], *w = &y->partition[i];
        if (v->is_null || w->is_null) {
            if (v->is_null != w->is_null) return v->is_null ? -1 : 1;
            continue;
        }
        bool comparable;
        int order = value_compare(v, w, &comparable);
        if (order != 0) return order;
    }
    return x->index < y->index ? -1 : x->index > y->index;
}

static silt_status order_files(scan_node *node, arena *a, silt_error *err) {
    size_t n = node->scan.n_files, n_values = node->source->n_partition_columns;
    if (n_values == 0 || n < 2) return SILT_OK;
    scan_file *files = ARENA_ARRAY(a, n, scan_file);
    if (!files) return error_no_memory(err);
    memcpy(files, node->scan.files, n * sizeof *files);
    qsort_r(files, n, sizeof *files, compare_partitions, &n_values);
    node->scan.files = files;
    return SILT_OK;
}

static silt_status plan_node(scan_plan *plan, const relation *rel, scan_node **out, silt_error *err) {
    arena *a = plan->arena;
    scan_node *node = ARENA_NEW(a, scan_node);
    if (!node || !ARENA_PUSH(a, plan->nodes, plan->n_nodes, plan->node_capacity, node)) return error_no_memory(err);
    *node = (scan_node){.engine = plan->engine, .rel = rel, .source = rel->source, .one_thread = plan->one_thread};
    const predicate *where = plan->engine->no_pruning ? NULL : rel->where;
    TRY(rel->source->ops->scan(rel->source, where, a, &node->scan, err));
    if (plan->by_partition) TRY(order_files(node, a, err));
    scan_limit_files(plan, node);
    TRY(scan_fetch_footers(node, plan->bundles_small ? SCAN_SMALL_BYTES : 0, a, err));
    TRY(collect_wanted(node, a, err));
    if (plan->bundles_small) TRY(scan_bundle(node, a, err));
    TRY(scan_make_groups(node, plan->engine, a, err));
    for (size_t i = 0; i < node->n_groups; i++)
        if (!engine_register(plan->engine, &plan->engine->scans, &node->groups[i], &node->groups[i].id))
            return error_no_memory(err);
    *out = node;
    return SILT_OK;
}

silt_status scan_plan_node(scan_plan *plan, const relation *rel, scan_node **out, silt_error *err) {
    for (size_t i = 0; i < plan->n_nodes; i++)
        if (plan->nodes[i]->rel == rel) {
            *out = plan->nodes[i];
            return SILT_OK;
        }
    return plan_node(plan, rel, out, err);
}

/* ---- nested columns whose names in the files are not the physical ones (id mode) ---- */

static bool same_shape(const data_type *read, const data_type *wanted) {
    if (read == wanted) return wanted->id != TYPE_STRUCT;
    if (read->id != wanted->id) return false;
    if (read->element && !same_shape(read->element, wanted->element)) return false;
    if (read->key && !same_shape(read->key, wanted->key)) return false;
    for (size_t i = 0; i < wanted->n_fields; i++)
        if (!str_eq(read->fields[i].name, wanted->fields[i].physical_name) ||
            !same_shape(read->fields[i].type, wanted->fields[i].type))
            return false;
    return true;
}

static void adapt(buf *out, str value_text, const data_type *read, const data_type *wanted, int depth);

static void adapt_struct(buf *out, str value_text, const data_type *read, const data_type *wanted, int depth) {
    buf part;
    buf_init(&part, BUF_MAX_DEFAULT);
    buf_printf(out, "CASE WHEN %.*s IS NOT NULL THEN struct_pack(", STR_ARG(value_text));
    for (size_t i = 0; i < wanted->n_fields; i++) {
        if (i) buf_append_z(out, ", ");
        engine_write_name(out, wanted->fields[i].physical_name);
        buf_append_z(out, " := ");
        buf_clear(&part);
        buf_append(&part, value_text);
        buf_append_char(&part, '.');
        engine_write_name(&part, read->fields[i].name);
        adapt(out, buf_str(&part), read->fields[i].type, wanted->fields[i].type, depth);
    }
    buf_append_z(out, ") END");
    buf_dispose(&part);
}

/* The value under the physical names, which is what the printer expects of a scan. Only id mode on files of foreign writers comes here. */
static void adapt(buf *out, str value_text, const data_type *read, const data_type *wanted, int depth) {
    char element[24];
    snprintf(element, sizeof element, "silt_e%d", depth);
    if (same_shape(read, wanted)) {
        buf_append(out, value_text);
    } else if (wanted->id == TYPE_STRUCT) {
        adapt_struct(out, value_text, read, wanted, depth);
    } else if (wanted->id == TYPE_ARRAY) {
        buf_printf(out, "list_transform(%.*s, lambda %s: ", STR_ARG(value_text), element);
        adapt(out, str_of(element), read->element, wanted->element, depth + 1);
        buf_append_char(out, ')');
    } else {
        char part[40];
        buf_printf(out, "map_from_entries(list_transform(map_entries(%.*s), lambda %s: struct_pack(k := ", STR_ARG(value_text),
                   element);
        snprintf(part, sizeof part, "%s.key", element);
        adapt(out, str_of(part), read->key, wanted->key, depth + 1);
        buf_append_z(out, ", v := ");
        snprintf(part, sizeof part, "%s.value", element);
        adapt(out, str_of(part), read->element, wanted->element, depth + 1);
        buf_append_z(out, ")))");
    }
}

/* ---- columns ---- */

static bool has_float(const data_type *type) {
    if (type->id == TYPE_FLOAT || type->id == TYPE_DOUBLE) return true;
    for (size_t i = 0; i < type->n_fields; i++)
        if (has_float(type->fields[i].type)) return true;
    return false; /* DuckDB prunes by no statistics below lists and maps */
}

/* Row-group bounds of floats leave NaN out in files of most writers (rule 6), so filters must not reach them; the self-check hides every column. */
static void print_data_column(buf *out, const scan_node *node, const scan_group *g, size_t w) {
    const wanted_column *wanted = &node->wanted[w];
    const column_read *read = &g->reads[w];
    const data_type *type = wanted->field.type;
    if (!read->exists) {
        buf_append_z(out, "NULL::");
        engine_write_type(out, type, true);
        return;
    }
    const char *hide = NULL;
    if (type->id == TYPE_FLOAT)
        hide = "silt_opaque_float(";
    else if (type->id == TYPE_DOUBLE)
        hide = "silt_opaque_double(";
    else if (has_float(type) || node->engine->no_pruning)
        hide = "CASE WHEN fi <> 18446744073709551615 THEN (";
    if (hide) buf_append_z(out, hide);
    adapt(out, wanted->alias, read->type, type, 0);
    if (hide) buf_append_z(out, hide[0] == 'C' ? ") END" : ")");
}

static void print_partition_column(buf *out, const scan_group *g, const data_type *type, size_t index) {
    static const struct {
        type_id id;
        const char *name;
        bool cast;
    } kinds[] = {{TYPE_BOOLEAN, "bool", false},     {TYPE_BYTE, "long", true},    {TYPE_SHORT, "long", true},
                 {TYPE_INT, "long", true},          {TYPE_LONG, "long", false},   {TYPE_FLOAT, "double", true},
                 {TYPE_DOUBLE, "double", false},    {TYPE_DECIMAL, "text", true}, {TYPE_STRING, "text", false},
                 {TYPE_BINARY, "blob", false},      {TYPE_DATE, "date", false},   {TYPE_TIMESTAMP, "timestamp", false},
                 {TYPE_TIMESTAMP_NTZ, "ntz", false}};
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (kinds[i].id != type->id) continue;
        buf_printf(out, "%ssilt_file_%s(%llu, %zu, fi)", kinds[i].cast ? "CAST(" : "", kinds[i].name, (unsigned long long)g->id,
                   index);
        if (kinds[i].cast) {
            buf_append_z(out, " AS ");
            engine_write_type(out, type, false);
            buf_append_char(out, ')');
        }
        return;
    }
    buf_append_z(out, "NULL::"); /* a type that cannot partition a table */
    engine_write_type(out, type, false);
}

static void print_file_constant(buf *out, const scan_group *g, const char *kind, int what) {
    buf_printf(out, "silt_file_%s(%llu, %d, fi)", kind, (unsigned long long)g->id, what);
}

static bool group_reads(const scan_node *node, const scan_group *g, const char *alias) {
    for (size_t i = 0; i < node->n_wanted; i++)
        if (str_eqz(node->wanted[i].alias, alias)) return g->reads[i].exists;
    return false;
}

static void print_metadata_field(buf *out, const scan_node *node, const scan_group *g, str name) {
    if (str_eqz(name, "file_path"))
        print_file_constant(out, g, "text", FILE_PATH);
    else if (str_eqz(name, "file_name"))
        print_file_constant(out, g, "text", FILE_NAME);
    else if (str_eqz(name, "file_size") || str_eqz(name, "file_block_length"))
        print_file_constant(out, g, "long", FILE_SIZE);
    else if (str_eqz(name, "file_block_start"))
        buf_append_z(out, "0::BIGINT");
    else if (str_eqz(name, "file_modification_time"))
        print_file_constant(out, g, "timestamp", FILE_MODIFIED);
    else if (str_eqz(name, "row_index"))
        buf_append_z(out, "rn");
    else if (str_eqz(name, "row_id")) {
        buf_append_z(out, group_reads(node, g, "m0") ? "coalesce(m0, " : "(");
        print_file_constant(out, g, "long", FILE_BASE_ROW_ID);
        buf_append_z(out, " + rn)");
    } else if (str_eqz(name, "row_commit_version")) {
        buf_append_z(out, group_reads(node, g, "m1") ? "coalesce(m1, " : "(");
        print_file_constant(out, g, "long", FILE_ROW_COMMIT_VERSION);
        buf_append_char(out, ')');
    } else
        buf_append_z(out, "NULL");
}

static void print_metadata(buf *out, const scan_node *node, const scan_group *g, const data_type *type) {
    buf_append_z(out, "struct_pack(");
    for (size_t i = 0; i < type->n_fields; i++) {
        if (i) buf_append_z(out, ", ");
        engine_write_name(out, type->fields[i].name);
        buf_append_z(out, " := ");
        print_metadata_field(out, node, g, type->fields[i].name);
    }
    buf_append_char(out, ')');
}

/* Of one file a literal: a condition on the places of rows is then one on a single column, which DuckDB tests inside its Parquet reader, before it reads the others. */
static void print_file_number(buf *out, const scan_group *g) {
    if (g->n_files == 1)
        buf_printf(out, "%zu::BIGINT", group_file(g, 0)->index);
    else
        print_file_constant(out, g, "long", FILE_INDEX);
}

static void print_column(buf *out, const scan_node *node, const scan_group *g, size_t i) {
    const data_type *schema = node->source->schema;
    size_t partition;
    if (i == schema->n_fields) {
        print_metadata(out, node, g, node->rel->columns[i].type);
    } else if (i == schema->n_fields + 1) {
        print_file_number(out, g);
    } else if (i == schema->n_fields + 2) {
        buf_append_z(out, "rn");
    } else if (schema->fields[i].type->id == TYPE_VOID) {
        buf_append_z(out, "NULL::INTEGER");
    } else if (is_partition_column(node->source, i, &partition)) {
        print_partition_column(out, g, schema->fields[i].type, partition);
    } else {
        print_data_column(out, node, g, (size_t)node->wanted_of[i]);
    }
}

/* The schema's columns, `_metadata`, and the two places of a row where they are asked for. */
static size_t column_count(const scan_node *node) { return node->source->schema->n_fields + (node->rel->needs_row_id ? 3 : 1); }

static bool column_is_used(const relation *rel, size_t i) {
    if (i == rel->source->schema->n_fields) return uses_metadata(rel);
    return !rel->column_used || rel->column_used[i];
}

/* ---- blocks ---- */

static int64_t group_rows(const scan_group *g) {
    int64_t rows = 0;
    for (size_t i = 0; i < g->n_files; i++) {
        const scan_file *f = group_file(g, i);
        if (f->num_records < 0) return -1;
        rows += f->num_records;
    }
    return rows;
}

static void print_inner(buf *out, const scan_node *node, const scan_group *g) {
    buf_append_z(out, "(SELECT ");
    for (size_t i = 0; i < node->n_wanted; i++)
        if (g->reads[i].exists) buf_printf(out, "%.*s, ", STR_ARG(node->wanted[i].alias));
    buf_append_z(out, "file_index AS fi, file_row_number AS rn FROM read_parquet(");
    buf_printf(out, "getvariable('silt_f%llu'), schema = getvariable('silt_s%llu')", (unsigned long long)g->id,
               (unsigned long long)g->id);
    if (g->binary_as_string) buf_append_z(out, ", binary_as_string = true");
    int64_t rows = group_rows(g);
    if (rows > 0) buf_printf(out, ", explicit_cardinality = %lld", (long long)rows);
    buf_append_char(out, ')');
    if (node->has_deleted) buf_printf(out, " WHERE silt_live(%llu, file_index, file_row_number)", (unsigned long long)g->id);
    buf_append_char(out, ')');
}

static void print_block(buf *out, const scan_node *node, const scan_group *g) {
    bool any = false;
    buf_append_z(out, "SELECT ");
    for (size_t i = 0; i < column_count(node); i++) {
        if (!column_is_used(node->rel, i)) continue;
        if (any) buf_append_z(out, ", ");
        any = true;
        print_column(out, node, g, i);
        buf_printf(out, " AS c%zu", i);
    }
    if (!any) buf_append_z(out, "0 AS none");
    buf_append_z(out, " FROM ");
    print_inner(out, node, g);
}

static void print_no_rows(buf *out, const scan_node *node) {
    bool any = false;
    buf_append_z(out, "SELECT ");
    for (size_t i = 0; i < column_count(node); i++) {
        if (!column_is_used(node->rel, i)) continue;
        if (any) buf_append_z(out, ", ");
        any = true;
        buf_append_z(out, "NULL::");
        engine_write_type(out, node->rel->columns[i].type, true);
        buf_printf(out, " AS c%zu", i);
    }
    if (!any) buf_append_z(out, "0 AS none");
    buf_append_z(out, " WHERE false");
}

static silt_status print_scan(scan_printer *p, const relation *rel, buf *out, silt_error *err) {
    scan_plan *plan = p->ctx;
    if (engine_source_is_own(rel->source)) return engine_source_print(plan->engine, rel->source, out, err);
    scan_node *node;
    TRY(scan_plan_node(plan, rel, &node, err));
    buf_append_char(out, '(');
    if (node->scan.n_files == 0) print_no_rows(out, node);
    for (size_t i = 0; node->scan.n_files && i < node->n_groups; i++) {
        if (i) buf_append_z(out, " UNION ALL ");
        print_block(out, node, &node->groups[i]);
    }
    buf_append_char(out, ')');
    return buf_ok(out) ? SILT_OK : error_no_memory(err);
}

void scan_plan_init(scan_plan *plan, engine *e, arena *a) {
    *plan = (scan_plan){.engine = e, .arena = a, .printer = {.ctx = plan, .print = print_scan}};
}
