#include "support.h"

static const char *const tables[][2] = {
    {"t", "id INT NOT NULL, name STRING, amount DECIMAL(10,2), price DOUBLE, day DATE, at TIMESTAMP, flag BOOLEAN, s STRUCT<a: "
          "INT, b: STRING>, m MAP<STRING, INT>, xs ARRAY<INT>, code "
          "CHAR(4)"},
    {"u", "id INT NOT NULL, big BIGINT, name STRING"},
    {"odd name", "`select` INT, `a.b` INT"},
};

static silt_status resolve(table_resolver *r, const relation *rel, arena *a, table_source **out_source, str *out_view,
                           silt_error *err) {
    (void)r;
    str name = rel->name.parts[rel->name.count - 1];
    if (str_eqz(name, "v")) {
        *out_view = STR("SELECT id AS k, name FROM t WHERE id > 10");
        return SILT_OK;
    }
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        if (!str_eq_ascii_fold(name, str_of(tables[i][0]))) continue;
        const data_type *schema;
        TRY(schema_parse_ddl(str_of(tables[i][1]), a, &schema, err));
        table_source *s = ARENA_NEW(a, table_source);
        if (!s) return error_no_memory(err);
        s->schema = schema;
        *out_source = s;
        return SILT_OK;
    }
    return err_TABLE_OR_VIEW_NOT_FOUND(err, name);
}

table_resolver *test_resolver(void) {
    static table_resolver r = {.resolve = resolve};
    return &r;
}

bind_env test_env(str text) {
    return (bind_env){.resolver = test_resolver(),
                      .time_zone = STR("UTC"),
                      .ansi = true,
                      .now_us = 1592222400000000,
                      .current_database = STR("default"),
                      .current_user = STR("ann"),
                      .source_text = text};
}

silt_status test_bind(const char *sql, arena *a, query **out, silt_error *err) {
    bind_env env = test_env(str_of(sql));
    TRY(query_parse(str_of(sql), a, out, err));
    return query_bind(*out, &env, a, err);
}

str test_types(const char *sql, arena *a) {
    query *q;
    silt_error err = {0};
    if (test_bind(sql, a, &q, &err) != SILT_OK) return arena_printf(a, "ERROR %s", err.condition);
    str text = STR("");
    for (size_t i = 0; i < q->n_columns; i++) {
        str type = type_simple(q->column_types[i], a);
        text = arena_printf(a, "%.*s%s%.*s", STR_ARG(text), i ? ", " : "", STR_ARG(type));
    }
    return text;
}

static silt_status print_scan(scan_printer *p, const relation *r, buf *out, silt_error *err) {
    (void)p;
    (void)err;
    buf_printf(out, "(SCAN %.*s", STR_ARG(r->name.parts[r->name.count - 1]));
    for (size_t i = 0; i < r->n_columns; i++)
        if (r->column_used[i]) buf_printf(out, " c%zu", i);
    buf_append_char(out, ')');
    return SILT_OK;
}

scan_printer *test_scans(void) {
    static scan_printer p = {NULL, print_scan};
    return &p;
}
