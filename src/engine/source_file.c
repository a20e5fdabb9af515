/** engine_file_source, and what the readers of text files share: partition values by blocks, conversions of texts to types by Spark's rules. */
#include "engine/source_file.h"

#include <stdlib.h>

#include "base/time.h"

/* ---- the source ---- */

static bool is_partition(const file_source *s, str name, size_t *out_index) {
    for (size_t i = 0; i < s->list.n_columns; i++)
        if (str_eq_fold(s->list.columns[i], name)) {
            *out_index = i;
            return true;
        }
    return false;
}

/* A declared type wins over the inferred one. */
static silt_status retype_partition(file_source *s, size_t column, const data_type *type, silt_error *err) {
    if (type_equal(type, s->list.types[column])) return SILT_OK;
    s->list.types[column] = type;
    for (size_t f = 0; f < s->list.n_files; f++) {
        str text = s->list.files[f].partition[column];
        TRY(partition_value_parse(text, str_is_null(text), type, 0, s->arena, &s->list.values[f][column], err));
    }
    return SILT_OK;
}

/* A partition column that the files hold too is the folder's and stands where the file has it. */
silt_status file_source_set_schema(file_source *s, const data_type *columns, bool declared, silt_error *err) {
    arena *a = s->arena;
    field *fields = ARENA_ARRAY(a, columns->n_fields + s->list.n_columns + 1, field),
          *own = ARENA_ARRAY(a, columns->n_fields + 1, field);
    uint32_t *at = ARENA_ARRAY(a, s->list.n_columns + 1, uint32_t);
    bool *placed = ARENA_ARRAY(a, s->list.n_columns + 1, bool);
    if (!fields || !own || !at || !placed) return error_no_memory(err);
    size_t n = 0, n_own = 0, partition = 0;
    for (size_t i = 0; i < columns->n_fields; i++) {
        fields[n] = columns->fields[i];
        fields[n].physical_name = fields[n].name;
        if (is_partition(s, columns->fields[i].name, &partition)) {
            TRY(retype_partition(s, partition, declared ? fields[n].type : s->list.types[partition], err));
            fields[n].type = s->list.types[partition];
            at[partition] = (uint32_t)n;
            placed[partition] = true;
        } else
            own[n_own++] = fields[n];
        n++;
    }
    for (size_t i = 0; i < s->list.n_columns; i++) {
        if (placed[i]) continue;
        at[i] = (uint32_t)n;
        fields[n++] = field_make(s->list.columns[i], s->list.types[i], true);
    }
    s->columns = type_struct(a, own, n_own);
    s->own.base.schema = type_struct(a, fields, n);
    s->own.base.partition_columns = at;
    s->own.base.n_partition_columns = s->list.n_columns;
    return s->columns && s->own.base.schema ? SILT_OK : error_no_memory(err);
}

void file_source_release(table_source *t) {
    file_source *s = (file_source *)t;
    store_close(s->store);
    arena_free(s->arena);
}

static silt_status copy_texts(arena *a, const str *from, size_t n, const str **out, silt_error *err) {
    str *copy = ARENA_ARRAY(a, n + 1, str);
    if (!copy) return error_no_memory(err);
    for (size_t i = 0; i < n; i++)
        if (!(copy[i] = arena_str(a, from[i])).ptr) return error_no_memory(err);
    *out = copy;
    return SILT_OK;
}

static silt_status init(file_source *s, str format, const str *paths, size_t n_paths, const data_type *declared,
                        silt_error *err) {
    engine *e = s->own.engine;
    pthread_mutex_lock(&e->mutex);
    s->time_zone = arena_str(s->arena, str_of(e->time_zone));
    pthread_mutex_unlock(&e->mutex);
    TRY(source_list_files(e, paths, n_paths, s->arena, &s->list, err));
    if (!str_eqz(format, "parquet")) TRY(source_list_fetch(e, &s->list, s->arena, err));
    buf where;
    buf_init(&where, BUF_MAX_DEFAULT);
    buf_printf(&where, "%.*s.`%.*s`", STR_ARG(format), STR_ARG(n_paths ? paths[0] : STR("")));
    s->own.base = (table_source){.match = MATCH_BY_NAME,
                                 .format = arena_str(s->arena, format),
                                 .location = arena_str(s->arena, n_paths ? paths[0] : STR("")),
                                 .description = arena_str(s->arena, buf_str(&where)),
                                 .version = -1};
    buf_dispose(&where);
    if (str_eqz(format, "parquet")) return parquet_source_init(s, declared, err);
    if (str_eqz(format, "csv")) return csv_source_init(s, declared, err);
    if (str_eqz(format, "json")) return json_source_init(s, declared, err);
    return err_UNSUPPORTED_FEATURE(err, "this file format (parquet, csv and json are read)");
}

silt_status engine_file_source(engine *e, str format, const str *paths, size_t n_paths, const str *option_keys,
                               const str *option_values, size_t n_options, const data_type *declared, table_source **out,
                               silt_error *err) {
    TRY(engine_need(e, err)); /* its zone is read below */
    arena *a = arena_new();
    file_source *s = a ? ARENA_NEW(a, file_source) : NULL;
    if (!s) {
        arena_free(a);
        return error_no_memory(err);
    }
    s->arena = a;
    s->own.engine = e;
    s->options.count = n_options;
    silt_status status = copy_texts(a, option_keys, n_options, &s->options.keys, err);
    if (status == SILT_OK) status = copy_texts(a, option_values, n_options, &s->options.values, err);
    if (status == SILT_OK) status = init(s, format, paths, n_paths, declared, err);
    if (status != SILT_OK) {
        file_source_release(&s->own.base);
        return status;
    }
    *out = &s->own.base;
    return SILT_OK;
}

/* ---- blocks ---- */

static bool same_partition(const file_source *s, size_t a, size_t b) {
    for (size_t i = 0; i < s->list.n_columns; i++) {
        str x = s->list.files[a].partition[i], y = s->list.files[b].partition[i];
        if (str_is_null(x) != str_is_null(y) || !str_eq(x, y)) return false;
    }
    return true;
}

void source_write_paths(const file_source *s, size_t first, bool *done, buf *out) {
    buf_append_char(out, '[');
    for (size_t i = first; i < s->list.n_files; i++) {
        if (done[i] || !same_partition(s, first, i)) continue;
        done[i] = true;
        if (i > first) buf_append_z(out, ", ");
        engine_write_path(out, s->list.files[i].local);
    }
    buf_append_char(out, ']');
}

void source_write_all_paths(const file_source *s, buf *out) {
    buf_append_char(out, '[');
    for (size_t i = 0; i < s->list.n_files; i++) {
        if (i) buf_append_z(out, ", ");
        engine_write_path(out, s->list.files[i].local);
    }
    buf_append_char(out, ']');
}

static void write_partition_literal(const value *v, buf *out) {
    buf_append_z(out, "CAST(");
    if (v->is_null)
        buf_append_z(out, "NULL");
    else if (v->type->id == TYPE_STRING)
        engine_write_literal(out, v->as.bytes);
    else if (v->type->id == TYPE_DATE)
        buf_printf(out, "DATE '1970-01-01' + (%lld)", (long long)v->as.i64);
    else if (v->type->id == TYPE_TIMESTAMP)
        buf_printf(out, "make_timestamptz(%lld)", (long long)v->as.i64);
    else if (v->type->id == TYPE_DOUBLE)
        buf_printf(out, "'%.17g'", v->as.f64);
    else
        buf_printf(out, "%lld", (long long)v->as.i64);
    buf_append_z(out, " AS ");
    engine_write_type(out, v->type, false);
    buf_append_char(out, ')');
}

/* SELECT c0, …, with the folders' values in their places, FROM (SELECT … AS f0, f1, … FROM reader). */
static silt_status print_block(const file_source *s, size_t first, bool *done, print_block_fn print, buf *out, silt_error *err) {
    const data_type *schema = s->own.base.schema;
    buf_append_z(out, "SELECT ");
    for (size_t i = 0, file_column = 0; i < schema->n_fields; i++) {
        if (i) buf_append_z(out, ", ");
        size_t partition;
        if (is_partition(s, schema->fields[i].name, &partition))
            write_partition_literal(&s->list.values[first][partition], out);
        else
            buf_printf(out, "f%zu", file_column++);
        buf_printf(out, " AS c%zu", i);
    }
    buf_append_z(out, " FROM (SELECT ");
    buf paths;
    buf_init(&paths, BUF_MAX_DEFAULT);
    source_write_paths(s, first, done, &paths);
    silt_status status = buf_ok(&paths) ? print(s, buf_str(&paths), out, err) : error_no_memory(err);
    buf_dispose(&paths);
    buf_append_char(out, ')');
    return status;
}

static void print_no_rows(const file_source *s, buf *out) {
    const data_type *schema = s->own.base.schema;
    buf_append_z(out, "SELECT ");
    for (size_t i = 0; i < schema->n_fields; i++) {
        buf_append_z(out, i ? ", NULL::" : "NULL::");
        engine_write_type(out, schema->fields[i].type, false);
        buf_printf(out, " AS c%zu", i);
    }
    buf_append_z(out, " WHERE false");
}

silt_status source_print_blocks(const file_source *s, print_block_fn print, buf *out, silt_error *err) {
    arena *a = arena_new();
    bool *done = a ? ARENA_ARRAY(a, s->list.n_files + 1, bool) : NULL;
    silt_status status = done ? SILT_OK : error_no_memory(err);
    bool any = false;
    buf_append_char(out, '(');
    for (size_t i = 0; status == SILT_OK && i < s->list.n_files; i++) {
        if (done[i]) continue;
        if (any) buf_append_z(out, " UNION ALL ");
        any = true;
        status = print_block(s, i, done, print, out, err);
    }
    if (status == SILT_OK && !any) print_no_rows(s, out);
    buf_append_char(out, ')');
    arena_free(a);
    return status;
}

/* ---- conversions ---- */

#define WHOLE    "'[+-]?[0-9]+'"
#define FRACTION "'[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?'"
#define DAY      "'[+-]?[0-9]{4,6}-[0-9]{1,2}-[0-9]{1,2}'"
#define ZONE     "'.*(Z|[+-][0-9]{2}(:?[0-9]{2})?)'"
#define MOMENT \
    "'[0-9]{4,6}-[0-9]{1,2}-[0-9]{1,2}([ T][0-9]{1,2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,9})?)?(Z|[+-][0-9]{2}(:?[0-9]{2})?)?)?'"

static void when_matches(buf *out, str text, const char *pattern, const data_type *type) {
    buf_printf(out, "CASE WHEN regexp_full_match(%.*s, %s) THEN TRY_CAST(%.*s AS ", STR_ARG(text), pattern, STR_ARG(text));
    engine_write_type(out, type, false);
    buf_append_z(out, ") END");
}

static void write_zoned(const file_source *s, buf *out, const char *local) {
    int32_t offset;
    if (time_zone_fixed_offset(s->time_zone, &offset))
        buf_printf(out, "timezone('UTC', %s - to_seconds(%d))", local, offset);
    else {
        buf_append_z(out, "timezone(");
        engine_write_literal(out, s->time_zone);
        buf_printf(out, ", %s)", local);
    }
}

static void write_local_timestamp(str text, str format, buf *out) {
    if (!format.len) {
        buf_printf(out, "TRY_CAST(%.*s AS TIMESTAMP)", STR_ARG(text));
        return;
    }
    buf_printf(out, "try_strptime(%.*s, ", STR_ARG(text));
    engine_write_literal(out, format);
    buf_append_char(out, ')');
}

/* A text with a zone is an instant; without one it is the session's local time. */
static void write_timestamp(const file_source *s, str text, bool zoned, str format, buf *out) {
    buf local;
    buf_init(&local, BUF_MAX_DEFAULT);
    write_local_timestamp(text, format, &local);
    const char *expression = buf_cstr(&local);
    if (!expression)
        out->failed = true;
    else {
        if (!format.len) buf_printf(out, "CASE WHEN NOT regexp_full_match(%.*s, " MOMENT ") THEN NULL ", STR_ARG(text));
        if (!format.len && zoned)
            buf_printf(out, "WHEN regexp_full_match(%.*s, " ZONE ") THEN TRY_CAST(%.*s AS TIMESTAMPTZ) ", STR_ARG(text),
                       STR_ARG(text));
        if (!format.len) buf_append_z(out, "ELSE ");
        if (zoned)
            write_zoned(s, out, expression);
        else
            buf_append_z(out, expression);
        if (!format.len) buf_append_z(out, " END");
    }
    buf_dispose(&local);
}

void source_write_conversion(const file_source *s, str text, const data_type *type, str date_format, str timestamp_format,
                             buf *out) {
    switch (type->id) {
        case TYPE_STRING: buf_append(out, text); return;
        case TYPE_BINARY: buf_printf(out, "encode(%.*s)", STR_ARG(text)); return;
        case TYPE_BOOLEAN:
            buf_printf(out, "CASE lower(%.*s) WHEN 'true' THEN true WHEN 'false' THEN false END", STR_ARG(text));
            return;
        case TYPE_BYTE:
        case TYPE_SHORT:
        case TYPE_INT:
        case TYPE_LONG: when_matches(out, text, WHOLE, type); return;
        case TYPE_DECIMAL: when_matches(out, text, FRACTION, type); return;
        case TYPE_FLOAT:
        case TYPE_DOUBLE:
            buf_printf(out,
                       "CASE %.*s WHEN 'NaN' THEN 'nan' WHEN 'Inf' THEN 'inf' WHEN '-Inf' THEN '-inf' WHEN 'Infinity' THEN 'inf' "
                       "WHEN '-Infinity' THEN '-inf' ELSE ",
                       STR_ARG(text));
            when_matches(out, text, FRACTION, type);
            buf_append_z(out, " END");
            return;
        case TYPE_DATE:
            if (date_format.len) {
                buf_printf(out, "CAST(try_strptime(%.*s, ", STR_ARG(text));
                engine_write_literal(out, date_format);
                buf_append_z(out, ") AS DATE)");
            } else
                when_matches(out, text, DAY, type);
            return;
        case TYPE_TIMESTAMP: write_timestamp(s, text, true, timestamp_format, out); return;
        case TYPE_TIMESTAMP_NTZ: write_timestamp(s, text, false, timestamp_format, out); return;
        default:
            buf_append_z(out, "NULL::");
            engine_write_type(out, type, false);
            return;
    }
}

/* ---- Java's patterns ---- */

/* Java's date pattern → strptime's. */
static silt_status java_format(str pattern, arena *a, str *out, silt_error *err) {
    static const struct {
        const char *java, *strptime;
    } known[] = {{"yyyy", "%Y"},   {"uuuu", "%Y"}, {"yy", "%y"}, {"MMMM", "%B"}, {"MMM", "%b"},  {"MM", "%m"}, {"M", "%-m"},
                 {"dd", "%d"},     {"d", "%-d"},   {"HH", "%H"}, {"H", "%-H"},   {"hh", "%I"},   {"mm", "%M"}, {"ss", "%S"},
                 {"SSSSSS", "%f"}, {"SSS", "%g"},  {"a", "%p"},  {"XXX", "%z"},  {"EEEE", "%A"}, {"EEE", "%a"}};
    buf made;
    buf_init(&made, 4096);
    bool quoted = false;
    for (size_t i = 0; i < pattern.len;) {
        char c = pattern.ptr[i];
        if (c == '\'' && i + 1 < pattern.len && pattern.ptr[i + 1] == '\'') { /* two are one, inside quotes and outside */
            buf_append_char(&made, c);
            i += 2;
            continue;
        }
        if (c == '\'') {
            quoted = !quoted;
            i++;
            continue;
        }
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (quoted || !letter) {
            if (c == '%') buf_append_char(&made, '%');
            buf_append_char(&made, c);
            i++;
            continue;
        }
        size_t end = i, k = 0;
        while (end < pattern.len && pattern.ptr[end] == c) end++;
        while (k < ARRAY_LEN(known) && !str_eqz(str_slice(pattern, i, end), known[k].java)) k++;
        if (k == ARRAY_LEN(known)) {
            buf_dispose(&made);
            return err_INVALID_PARAMETER_VALUE(err, STR("date format"), pattern,
                                               "a pattern of y, M, d, H, h, m, s, S, a, E and XXX");
        }
        buf_append_z(&made, known[k].strptime);
        i = end;
    }
    *out = buf_take(&made, a);
    return out->ptr ? SILT_OK : error_no_memory(err);
}

silt_status source_read_formats(const file_source *s, arena *a, str *date_format, str *timestamp_format, silt_error *err) {
    str date = source_option(&s->options, "dateFormat", STR("")), timestamp = source_option(&s->options, "timestampFormat", STR(""));
    *date_format = *timestamp_format = STR("");
    if (date.len && !str_eqz(date, "yyyy-MM-dd")) TRY(java_format(date, a, date_format, err));
    if (timestamp.len && str_find_char(timestamp, '[') == SIZE_MAX) TRY(java_format(timestamp, a, timestamp_format, err));
    return SILT_OK;
}
