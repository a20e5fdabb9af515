/**
 * json.`path`: one object per line, or whole documents and arrays with multiLine. The schema is inferred by DuckDB's json_group_structure over all records; its words are
 * turned into Spark's types, fields sorted by name as Spark sorts them.
 */
#include <stdlib.h>

#include "engine/source_file.h"

typedef struct json_dialect {
    bool multi_line;
    str date_format, timestamp_format;
} json_dialect;

static silt_status read_dialect(const file_source *s, json_dialect *d, arena *a, silt_error *err) {
    TRY(source_option_bool(&s->options, "multiLine", false, &d->multi_line, err));
    return source_read_formats(s, a, &d->date_format, &d->timestamp_format, err);
}

static const char *reader_format(const json_dialect *d) { return d->multi_line ? "auto" : "newline_delimited"; }

/* ---- reading ---- */

/* Dates and times go through Spark's rules, as text; what is nested is DuckDB's conversion. */
static bool goes_as_text(const data_type *type) {
    return type->id == TYPE_DATE || type->id == TYPE_TIMESTAMP || type->id == TYPE_TIMESTAMP_NTZ || type->id == TYPE_BINARY ||
           type->id == TYPE_VARIANT;
}

static silt_status print_block(const file_source *s, str paths, buf *out, silt_error *err) {
    json_dialect d;
    TRY(read_dialect(s, &d, s->arena, err));
    buf type;
    buf_init(&type, BUF_MAX_DEFAULT);
    for (size_t i = 0; i < s->columns->n_fields; i++) {
        const field *f = &s->columns->fields[i];
        if (i) buf_append_z(out, ", ");
        buf_clear(&type);
        engine_write_name(&type, f->name);
        if (f->type->id == TYPE_VARIANT)
            buf_printf(out, "CAST(%.*s AS VARIANT)", STR_ARG(buf_str(&type)));
        else if (goes_as_text(f->type))
            source_write_conversion(s, buf_str(&type), f->type, d.date_format, d.timestamp_format, out);
        else
            buf_append(out, buf_str(&type));
        buf_printf(out, " AS f%zu", i);
    }
    if (s->columns->n_fields == 0) buf_append_z(out, "0 AS none");
    buf_printf(out, " FROM read_json(%.*s, format = '%s', ignore_errors = %s, columns = {", STR_ARG(paths), reader_format(&d),
               d.multi_line ? "false" : "true");
    for (size_t i = 0; i < s->columns->n_fields; i++) {
        const field *f = &s->columns->fields[i];
        buf_clear(&type);
        if (f->type->id == TYPE_VARIANT)
            buf_append_z(&type, "JSON");
        else if (goes_as_text(f->type))
            buf_append_z(&type, "VARCHAR");
        else
            engine_write_type(&type, f->type, false);
        if (i) buf_append_z(out, ", ");
        engine_write_name(out, f->name);
        buf_append_z(out, ": ");
        engine_write_literal(out, buf_str(&type));
    }
    if (s->columns->n_fields == 0) buf_append_z(out, "\"none\": 'VARCHAR'");
    buf_append_z(out, "})");
    if (!buf_ok(&type)) out->failed = true;
    buf_dispose(&type);
    return SILT_OK;
}

static silt_status print(const own_source *s, buf *out, silt_error *err) {
    return source_print_blocks((const file_source *)s, print_block, out, err);
}

/* ---- schema ---- */

static silt_status type_of_structure(const json_node *node, arena *a, const data_type **out, silt_error *err);

typedef struct sorted_field {
    str name;
    const json_node *structure;
} sorted_field;

static int by_name(const void *a, const void *b) {
    return str_cmp(((const sorted_field *)a)->name, ((const sorted_field *)b)->name);
}

static silt_status struct_of(const json_node *node, arena *a, const data_type **out, silt_error *err) {
    sorted_field *sorted = ARENA_ARRAY(a, node->count + 1, sorted_field);
    field *fields = ARENA_ARRAY(a, node->count + 1, field);
    if (!sorted || !fields) return error_no_memory(err);
    for (size_t i = 0; i < node->count; i++) sorted[i] = (sorted_field){node->keys[i], &node->values[i]};
    qsort(sorted, node->count, sizeof *sorted, by_name);
    for (size_t i = 0; i < node->count; i++) {
        const data_type *type;
        TRY(type_of_structure(sorted[i].structure, a, &type, err));
        fields[i] = field_make(sorted[i].name, type, true);
    }
    *out = type_struct(a, fields, node->count);
    return *out ? SILT_OK : error_no_memory(err);
}

/* "BIGINT", ["VARCHAR"], {"a": "DOUBLE"}; mixed values are "JSON", Spark's string. */
static silt_status type_of_structure(const json_node *node, arena *a, const data_type **out, silt_error *err) {
    if (node->type == JSON_OBJECT) return struct_of(node, a, out, err);
    if (node->type == JSON_ARRAY) {
        const data_type *element = &type_string;
        if (node->count) TRY(type_of_structure(&node->values[0], a, &element, err));
        *out = type_array(a, element, true);
        return *out ? SILT_OK : error_no_memory(err);
    }
    static const struct {
        const char *word;
        const data_type *type;
    } words[] = {{"BIGINT", &type_long}, {"UBIGINT", &type_long}, {"DOUBLE", &type_double}, {"BOOLEAN", &type_boolean}};
    *out = &type_string;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_eqz(node->text, words[i].word)) *out = words[i].type;
    return SILT_OK;
}

static silt_status read_structure(file_source *s, str *out, silt_error *err) {
    json_dialect d;
    TRY(read_dialect(s, &d, s->arena, err));
    engine_connection *c;
    TRY(engine_connect(s->own.engine, &c, err));
    buf sql;
    buf_init(&sql, BUF_MAX_DEFAULT);
    buf_append_z(&sql, "SELECT CAST(json_group_structure(json) AS VARCHAR) FROM read_json_objects(");
    source_write_all_paths(s, &sql);
    buf_printf(&sql, ", format = '%s', ignore_errors = %s)", reader_format(&d), d.multi_line ? "false" : "true");
    duckdb_result result;
    const char *text = buf_cstr(&sql);
    silt_status status = text ? engine_query(c, text, &result, err) : error_no_memory(err);
    buf_dispose(&sql);
    if (status == SILT_OK) {
        duckdb_data_chunk chunk = duckdb_fetch_chunk(result);
        duckdb_vector v = duckdb_data_chunk_get_vector(chunk, 0);
        uint64_t *validity = duckdb_vector_get_validity(v);
        duckdb_string_t *structure = duckdb_vector_get_data(v);
        bool known = !validity || duckdb_validity_row_is_valid(validity, 0);
        *out =
            known ? arena_str(s->arena, (str){duckdb_string_t_data(structure), duckdb_string_t_length(*structure)}) : STR("{}");
        duckdb_destroy_data_chunk(&chunk);
        duckdb_destroy_result(&result);
        if (!out->ptr) status = error_no_memory(err);
    }
    engine_disconnect(c);
    return status;
}

static silt_status infer(file_source *s, const data_type **out, silt_error *err) {
    str text;
    const json_node *root;
    if (s->list.n_files == 0) return err_UNABLE_TO_INFER_SCHEMA(err, STR("JSON"));
    TRY(read_structure(s, &text, err));
    TRY(json_parse(text, s->arena, &root, err));
    if (root->type != JSON_OBJECT) return err_UNABLE_TO_INFER_SCHEMA(err, STR("JSON"));
    return struct_of(root, s->arena, out, err);
}

silt_status json_source_init(file_source *s, const data_type *declared, silt_error *err) {
    static const table_source_ops ops = OWN_SOURCE_OPS(file_source_release);
    json_dialect d;
    const data_type *columns = declared;
    TRY(read_dialect(s, &d, s->arena, err));
    if (!columns) TRY(infer(s, &columns, err));
    TRY(file_source_set_schema(s, columns, declared != NULL, err));
    s->own.base.ops = &ops;
    s->own.print = print;
    return SILT_OK;
}
