/**
 * csv.`path` with Spark's options over DuckDB's read_csv: every column is read as text and converted here, because Spark's rules of what is a number, and what a malformed
 * field becomes (null, an error, or no row at all, by `mode`), are not DuckDB's.
 */
#include <stdio.h>

#include "engine/source_file.h"

typedef struct csv_dialect {
    bool header, infer, multi_line;
    str separator, quote, escape, null_text, comment, mode;
    str date_format, timestamp_format; /* strptime's */
} csv_dialect;

/* ---- options ---- */

static str first_of(const source_options *o, const char *key, const char *other, str absent) {
    return source_option(o, key, source_option(o, other, absent));
}

static silt_status one_character(str key, str text, bool may_be_empty, silt_error *err) {
    size_t pos = 0;
    if (text.len) str_next_codepoint(text, &pos);
    if (pos == text.len && (text.len || may_be_empty)) return SILT_OK;
    return err_INVALID_PARAMETER_VALUE(err, key, text, "one character");
}

static silt_status read_dialect(const file_source *s, csv_dialect *d, arena *a, silt_error *err) {
    const source_options *o = &s->options;
    TRY(source_option_bool(o, "header", false, &d->header, err));
    TRY(source_option_bool(o, "inferSchema", false, &d->infer, err));
    TRY(source_option_bool(o, "multiLine", false, &d->multi_line, err));
    d->separator = first_of(o, "sep", "delimiter", STR(","));
    if (str_eqz(d->separator, "\\t")) d->separator = STR("\t");
    d->quote = source_option(o, "quote", STR("\""));
    d->escape = source_option(o, "escape", STR("\\"));
    d->null_text = source_option(o, "nullValue", STR(""));
    d->comment = source_option(o, "comment", STR(""));
    d->mode = source_option(o, "mode", STR("PERMISSIVE"));
    str encoding = first_of(o, "encoding", "charset", STR("UTF-8"));
    if (d->separator.len == 0 || d->separator.len > 4)
        return err_INVALID_PARAMETER_VALUE(err, STR("sep"), d->separator, "one to four characters");
    TRY(one_character(STR("quote"), d->quote, true, err));
    TRY(one_character(STR("escape"), d->escape, true, err));
    TRY(one_character(STR("comment"), d->comment, true, err));
    if (!str_eq_ascii_fold(encoding, STR("UTF-8")) && !str_eq_ascii_fold(encoding, STR("utf8")))
        return err_UNSUPPORTED_FEATURE(err, "a CSV encoding other than UTF-8");
    if (!str_eq_ascii_fold(d->mode, STR("PERMISSIVE")) && !str_eq_ascii_fold(d->mode, STR("FAILFAST")) &&
        !str_eq_ascii_fold(d->mode, STR("DROPMALFORMED")))
        return err_INVALID_PARAMETER_VALUE(err, STR("mode"), d->mode, "PERMISSIVE, DROPMALFORMED or FAILFAST");
    return source_read_formats(s, a, &d->date_format, &d->timestamp_format, err);
}

/* ---- the reader ---- */

static void write_reader(const csv_dialect *d, str paths, size_t n_columns, buf *out) {
    buf_printf(out, "read_csv(%.*s, auto_detect = false, header = %s, delim = ", STR_ARG(paths), d->header ? "true" : "false");
    engine_write_literal(out, d->separator);
    buf_append_z(out, ", quote = ");
    engine_write_literal(out, d->quote);
    buf_append_z(out, ", escape = ");
    engine_write_literal(out, d->quote.len ? d->escape : STR(""));
    buf_append_z(out, ", nullstr = [''");
    if (d->null_text.len) {
        buf_append_z(out, ", ");
        engine_write_literal(out, d->null_text);
    }
    buf_append_z(out, "], allow_quoted_nulls = false, null_padding = true, strict_mode = false");
    if (d->multi_line) buf_append_z(out, ", parallel = false"); /* a split of the file may fall inside of quotes */
    if (d->comment.len) {
        buf_append_z(out, ", comment = ");
        engine_write_literal(out, d->comment);
    }
    buf_append_z(out, ", columns = {");
    for (size_t i = 0; i < n_columns; i++) buf_printf(out, "%st%zu: 'VARCHAR'", i ? ", " : "", i);
    if (n_columns == 0) buf_append_z(out, "t0: 'VARCHAR'");
    buf_append_z(out, "})");
}

static void write_column(const file_source *s, const csv_dialect *d, size_t i, const data_type *type, buf *out) {
    char name[24];
    snprintf(name, sizeof name, "t%zu", i);
    source_write_conversion(s, str_of(name), type, d->date_format, d->timestamp_format, out);
}

/* A field that is there but is no value of its column's type. */
static void write_malformed(const file_source *s, const csv_dialect *d, buf *out) {
    bool any = false;
    for (size_t i = 0; i < s->columns->n_fields; i++) {
        if (s->columns->fields[i].type->id == TYPE_STRING) continue;
        buf_printf(out, "%s(t%zu IS NOT NULL AND (", any ? " OR " : "", i);
        write_column(s, d, i, s->columns->fields[i].type, out);
        buf_append_z(out, ") IS NULL)");
        any = true;
    }
    if (!any) buf_append_z(out, "false");
}

static silt_status print_block(const file_source *s, str paths, buf *out, silt_error *err) {
    csv_dialect d;
    TRY(read_dialect(s, &d, s->arena, err));
    bool fail_fast = str_eq_ascii_fold(d.mode, STR("FAILFAST")), drop = str_eq_ascii_fold(d.mode, STR("DROPMALFORMED"));
    for (size_t i = 0; i < s->columns->n_fields; i++) {
        if (i) buf_append_z(out, ", ");
        write_column(s, &d, i, s->columns->fields[i].type, out);
        buf_printf(out, " AS f%zu", i);
    }
    if (s->columns->n_fields == 0) buf_append_z(out, "0 AS none");
    buf_append_z(out, " FROM ");
    write_reader(&d, paths, s->columns->n_fields, out);
    if (!fail_fast && !drop) return SILT_OK;
    buf_append_z(out, fail_fast ? " WHERE CASE WHEN " : " WHERE NOT (");
    write_malformed(s, &d, out);
    if (fail_fast) {
        buf_append_z(out, " THEN error(");
        buf message;
        buf_init(&message, BUF_MAX_DEFAULT);
        buf_printf(
            &message,
            "[MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION|22023] Malformed records are detected in record parsing of %.*s[/]",
            STR_ARG(s->own.base.location));
        engine_write_literal(out, buf_str(&message));
        buf_dispose(&message);
        buf_append_z(out, ")::BOOLEAN ELSE true END");
    } else
        buf_append_char(out, ')');
    return SILT_OK;
}

static silt_status print(const own_source *s, buf *out, silt_error *err) {
    return source_print_blocks((const file_source *)s, print_block, out, err);
}

/* ---- schema ---- */

/* The first line of the first file, as DuckDB decompresses it. */
static silt_status first_line(file_source *s, str *out, silt_error *err) {
    engine_connection *c;
    TRY(engine_connect(s->own.engine, &c, err));
    buf sql;
    buf_init(&sql, BUF_MAX_DEFAULT);
    buf_append_z(&sql, "SELECT l FROM read_csv(");
    engine_write_path(&sql, s->list.files[0].local);
    buf_append_z(
        &sql,
        ", auto_detect = false, header = false, delim = chr(1), quote = '', escape = '', strict_mode = false, columns = {l: 'VARCHAR'}) LIMIT 1");
    duckdb_result result;
    const char *text = buf_cstr(&sql);
    silt_status status = text ? engine_query(c, text, &result, err) : error_no_memory(err);
    buf_dispose(&sql);
    *out = STR("");
    if (status == SILT_OK) {
        duckdb_data_chunk chunk = duckdb_fetch_chunk(result);
        if (chunk && duckdb_data_chunk_get_size(chunk)) {
            duckdb_vector v = duckdb_data_chunk_get_vector(chunk, 0);
            uint64_t *validity = duckdb_vector_get_validity(v);
            duckdb_string_t *line = duckdb_vector_get_data(v);
            if (!validity || duckdb_validity_row_is_valid(validity, 0))
                *out = arena_str(s->arena, (str){duckdb_string_t_data(line), duckdb_string_t_length(*line)});
        }
        if (chunk) duckdb_destroy_data_chunk(&chunk);
        duckdb_destroy_result(&result);
        if (!out->ptr) status = error_no_memory(err);
    }
    engine_disconnect(c);
    return status;
}

/* Cuts the next field off; quotes and escapes are resolved. */
static str next_field(const csv_dialect *d, str *rest, arena *a) {
    buf out;
    buf_init(&out, BUF_MAX_DEFAULT);
    size_t i = 0;
    bool quoted = d->quote.len && str_starts_with(*rest, d->quote);
    if (quoted) i += d->quote.len;
    for (; i < rest->len;) {
        str here = str_slice(*rest, i, rest->len);
        if (quoted && d->escape.len && str_starts_with(here, d->escape) &&
            str_starts_with(str_slice(here, d->escape.len, here.len), d->quote)) {
            buf_append(&out, d->quote);
            i += d->escape.len + d->quote.len;
        } else if (quoted && str_starts_with(here, d->quote)) {
            quoted = false;
            i += d->quote.len;
        } else if (!quoted && str_starts_with(here, d->separator))
            break;
        else
            buf_append_char(&out, rest->ptr[i++]);
    }
    bool more = i < rest->len;
    *rest = more ? str_slice(*rest, i + d->separator.len, rest->len) : STR_NULL;
    return buf_take(&out, a);
}

static bool is_repeated(const str *names, size_t n, size_t i) {
    for (size_t k = 0; k < n; k++)
        if (k != i && str_eq_fold(names[k], names[i])) return true;
    return false;
}

/* _c0, _c1, … without a header; an empty name is _c<i>, a name that occurs twice gets its place as suffix. */
static silt_status name_columns(file_source *s, const csv_dialect *d, str line, field **out, size_t *out_count, silt_error *err) {
    str *names = NULL;
    size_t n = 0, capacity = 0;
    do {
        str name = next_field(d, &line, s->arena);
        if (!name.ptr || !ARENA_PUSH(s->arena, names, n, capacity, name)) return error_no_memory(err);
    } while (line.ptr);
    field *fields = ARENA_ARRAY(s->arena, n + 1, field);
    if (!fields) return error_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        str name = names[i];
        if (!d->header || name.len == 0)
            name = arena_printf(s->arena, "_c%zu", i);
        else if (is_repeated(names, n, i))
            name = arena_printf(s->arena, "%.*s%zu", STR_ARG(name), i);
        if (!name.ptr) return error_no_memory(err);
        fields[i] = field_make(name, &type_string, true);
    }
    *out = fields;
    *out_count = n;
    return SILT_OK;
}

/* Spark's order; a column takes the first type that all its values have. */
static const data_type *const candidates[] = {&type_int, &type_long, &type_double, &type_date, &type_timestamp, &type_boolean};

static void write_inference(const file_source *s, const csv_dialect *d, size_t n, buf *sql) {
    buf paths;
    buf_init(&paths, BUF_MAX_DEFAULT);
    source_write_all_paths(s, &paths);
    buf_append_z(sql, "SELECT ");
    for (size_t i = 0; i < n; i++) {
        buf_printf(sql, "%scount(t%zu)", i ? ", " : "", i);
        for (size_t k = 0; k < ARRAY_LEN(candidates); k++) {
            buf_append_z(sql, ", count(");
            write_column(s, d, i, candidates[k], sql);
            buf_append_char(sql, ')');
        }
    }
    buf_append_z(sql, " FROM ");
    write_reader(d, buf_str(&paths), n, sql);
    if (!buf_ok(&paths)) sql->failed = true;
    buf_dispose(&paths);
}

static silt_status infer_types(file_source *s, const csv_dialect *d, field *fields, size_t n, silt_error *err) {
    engine_connection *c;
    TRY(engine_connect(s->own.engine, &c, err));
    buf sql;
    buf_init(&sql, BUF_MAX_DEFAULT);
    write_inference(s, d, n, &sql);
    duckdb_result result;
    const char *text = buf_cstr(&sql);
    silt_status status = text ? engine_query(c, text, &result, err) : error_no_memory(err);
    buf_dispose(&sql);
    if (status == SILT_OK) {
        duckdb_data_chunk chunk = duckdb_fetch_chunk(result);
        for (size_t i = 0, at = 0; chunk && i < n; i++, at += 1 + ARRAY_LEN(candidates)) {
            int64_t all = *(const int64_t *)duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk, at));
            for (size_t k = 0; all > 0 && k < ARRAY_LEN(candidates); k++) {
                int64_t fit = *(const int64_t *)duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk, at + 1 + k));
                if (fit != all) continue;
                fields[i].type = candidates[k];
                break;
            }
        }
        if (chunk) duckdb_destroy_data_chunk(&chunk);
        duckdb_destroy_result(&result);
    }
    engine_disconnect(c);
    return status;
}

static silt_status infer(file_source *s, const data_type **out, silt_error *err) {
    csv_dialect d;
    str line;
    field *fields = NULL;
    size_t n = 0;
    if (s->list.n_files == 0) return err_UNABLE_TO_INFER_SCHEMA(err, STR("CSV"));
    TRY(read_dialect(s, &d, s->arena, err));
    TRY(first_line(s, &line, err));
    if (line.len) TRY(name_columns(s, &d, line, &fields, &n, err));
    if (d.infer && n) TRY(infer_types(s, &d, fields, n, err));
    *out = type_struct(s->arena, fields, n);
    return *out ? SILT_OK : error_no_memory(err);
}

static silt_status check_declared(const data_type *declared, silt_error *err) {
    for (size_t i = 0; i < declared->n_fields; i++)
        if (type_is_nested(declared->fields[i].type) || declared->fields[i].type->id == TYPE_VARIANT)
            return err_UNSUPPORTED_FEATURE(err, "a nested column in a CSV file");
    return SILT_OK;
}

silt_status csv_source_init(file_source *s, const data_type *declared, silt_error *err) {
    static const table_source_ops ops = OWN_SOURCE_OPS(file_source_release);
    csv_dialect d;
    const data_type *columns = declared;
    TRY(read_dialect(s, &d, s->arena, err));
    if (declared)
        TRY(check_declared(declared, err));
    else
        TRY(infer(s, &columns, err));
    TRY(file_source_set_schema(s, columns, declared != NULL, err));
    s->own.base.ops = &ops;
    s->own.print = print;
    return SILT_OK;
}
