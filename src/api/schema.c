/* Comparing schemas. */
#include "api/api.h"

#include "doctor/schema_diff.h"
#include "expr/parser.h"

static const char columns[] = "column STRING, change STRING, before STRING, after STRING, breaking BOOLEAN";

static silt_status parse_schema(const char *text, arena *a, const data_type **out, silt_error *err) {
    str s = str_trim(api_str(text));
    if (s.len && s.ptr[0] == '{') return schema_parse_json(s, a, out, err);
    return schema_parse_ddl(s, a, out, err);
}

static bool append_text(arrow_builder *b, str s) { return s.ptr ? arrow_append_str(b, s) : arrow_append_null(b); }

static silt_status build_rows(const schema_change *changes, size_t n, arrow_builder *rows, silt_error *err) {
    for (size_t i = 0; i < n; i++) {
        const schema_change *c = &changes[i];
        bool good = append_text(arrow_child(rows, 0), c->column) &&
                    append_text(arrow_child(rows, 1), str_of(schema_change_name(c->kind))) &&
                    append_text(arrow_child(rows, 2), c->before) && append_text(arrow_child(rows, 3), c->after) &&
                    arrow_append_bool(arrow_child(rows, 4), c->breaks) && arrow_finish_row(rows);
        if (!good) return error_no_memory(err);
    }
    return SILT_OK;
}

silt_status silt_schema_compare(const char *before, const char *after, bool by_name, struct ArrowArrayStream *out,
                                silt_error *err) {
    const data_type *old, *new, *type;
    schema_change *changes;
    size_t n;
    arrow_builder *rows = NULL;
    arena *a = arena_new();
    silt_status status = SILT_OK;
    out->release = NULL;
    if (!a) return error_no_memory(err);
    TRY_OUT(parse_schema(before, a, &old, err));
    TRY_OUT(parse_schema(after, a, &new, err));
    TRY_OUT(schema_diff(old, new, by_name, a, &changes, &n, err));
    TRY_OUT(schema_parse_ddl(str_of(columns), a, &type, err));
    rows = arrow_builder_new(type);
    status = rows ? build_rows(changes, n, rows, err) : error_no_memory(err);
    if (status == SILT_OK) return api_stream_from_rows(a, type, rows, out, err);
out:
    arrow_builder_free(rows);
    arena_free(a);
    return status;
}
