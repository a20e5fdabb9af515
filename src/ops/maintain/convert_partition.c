/*
 * What Hive's folders say: names and values from the innermost folder outwards, as Spark reads them. Escapes (%3A) are undone once; __HIVE_DEFAULT_PARTITION__ is no value. A value
 * is kept as it stands in the folder's name where the log's rules read it as the same value, and written anew where Spark's cast is wider than they are (" 7", "1.0" for an
 * integer) or where it depends on a zone: a timestamp without one would mean another instant to each reader.
 */
#include "base/uri.h"
#include "ops/maintain/convert_files.h"

#define HIVE_NULL   "__HIVE_DEFAULT_PARTITION__"
#define MAX_COLUMNS 256

typedef struct folder_values {
    str names[MAX_COLUMNS], values[MAX_COLUMNS]; /* innermost first; a null value is no value */
    size_t n;
} folder_values;

/* Escapes are of bytes where they give UTF-8 (pyarrow and DuckDB write é as %C3%A9), else of characters, as Hive's own are. */
static str unescape(const op *o, str s) {
    str bytes = hive_unescape(s, o->a);
    if (str_is_null(bytes) || str_is_utf8(bytes)) return bytes;
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    for (size_t i = 0; i < s.len; i++) {
        str one = i + 3 <= s.len && s.ptr[i] == '%' ? hive_unescape(str_slice(s, i, i + 3), o->a) : STR_NULL;
        if (one.len != 1) {
            buf_append_char(&b, s.ptr[i]);
            continue;
        }
        unsigned char c = (unsigned char)one.ptr[0];
        if (c >= 0x80) buf_append_char(&b, (char)(0xc0 | c >> 6));
        buf_append_char(&b, c >= 0x80 ? (char)(0x80 | (c & 0x3f)) : (char)c);
        i += 2;
    }
    return buf_take(&b, o->a);
}

static silt_status take_component(const op *o, str component, size_t at, folder_values *out) {
    str name = unescape(o, str_slice(component, 0, at)), text = unescape(o, str_slice(component, at + 1, component.len));
    if (str_is_null(name) || str_is_null(text)) return error_no_memory(o->err);
    if (name.len == 0) return err_PARTITION_FOLDER_INVALID(o->err, "name", component);
    if (text.len == 0) return err_PARTITION_FOLDER_INVALID(o->err, "value", component);
    if (out->n == MAX_COLUMNS) return err_UNSUPPORTED_FEATURE(o->err, "more than 256 levels of partition folders");
    out->names[out->n] = name;
    out->values[out->n++] = str_eqz(text, HIVE_NULL) ? STR_NULL : text;
    return SILT_OK;
}

/* A folder without '=' ends the search once a partition column was found; before that it is passed over. */
static silt_status parse_folder(const op *o, str path, folder_values *out) {
    out->n = 0;
    while (path.len > 0) {
        str component = path_name(path);
        size_t at = str_find_char(component, '=');
        if (at == SIZE_MAX && out->n > 0) break;
        if (at != SIZE_MAX) TRY(take_component(o, component, at, out));
        path = path.len > component.len ? str_slice(path, 0, path.len - component.len - 1) : STR("");
    }
    return SILT_OK;
}

static str join_names(const op *o, const str *names, size_t n, bool reversed) {
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    for (size_t i = 0; i < n; i++) {
        if (i) buf_append_z(&b, ", ");
        buf_append_char(&b, '`');
        buf_append(&b, names[reversed ? n - 1 - i : i]);
        buf_append_char(&b, '`');
    }
    return buf_take(&b, o->a);
}

static silt_status wrong_number(const op *o, const convert_files *f, const convert_folder *folder, const field *columns, size_t n,
                                const folder_values *found) {
    str *names = ARENA_ARRAY(o->a, n + 1, str);
    if (!names) return error_no_memory(o->err);
    for (size_t i = 0; i < n; i++) names[i] = columns[i].name;
    return err_DELTA_UNEXPECTED_NUM_PARTITION_COLUMNS_FROM_FILE_NAME(o->err, (int64_t)n, join_names(o, names, n, false), (int64_t)found->n,
                                                                     join_names(o, found->names, found->n, true), convert_file_name(o, f, folder->path));
}

/* ---- values ---- */

/* Spark's cast of the text; null where there is no such value. */
static silt_status cast_text(const op *o, str text, const data_type *type, value *out) {
    expr *e, *cast, *bound;
    TRY(ops_tree_text(o, text, &e));
    TRY(ops_tree_cast(o, e, type, &cast));
    cast->is_try = true;
    TRY(expr_bind(cast, NULL, o->env->bind, o->a, &bound, o->err));
    return engine_fold(o->env->engine, bound, o->a, out, o->err);
}

static silt_status write_value(const op *o, const value *v, str *out) {
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    bool set = partition_value_write(&b, v);
    *out = set && buf_ok(&b) ? arena_str(o->a, buf_str(&b)) : STR_NULL;
    bool failed = !buf_ok(&b) || (set && str_is_null(*out));
    buf_dispose(&b);
    return failed ? error_no_memory(o->err) : SILT_OK;
}

static silt_status take_value(const op *o, str text, const data_type *type, str *out) {
    value v;
    *out = text;
    bool is_text = type->id == TYPE_STRING || type->id == TYPE_BINARY;
    if (str_is_null(text) || is_text) return SILT_OK;
    if (type->id != TYPE_TIMESTAMP && partition_value_parse(text, false, type, 0, o->a, &v, NULL) == SILT_OK) return SILT_OK;
    TRY(cast_text(o, text, type, &v));
    if (!v.is_null) return write_value(o, &v, out);
    if (ops_setting_bool(o, "spark.databricks.delta.convert.partitionValues.ignoreCastFailure", false)) {
        *out = STR_NULL;
        return SILT_OK;
    }
    silt_status status = err_DELTA_FAILED_CAST_PARTITION_VALUE(o->err, text, type_sql(type, o->a));
    error_hint(o->err, "%s", "Give the partition column a type that all folders have values of; SET spark.databricks.delta.convert.partitionValues.ignoreCastFailure=true "
                             "takes such values as NULL.");
    return status;
}

/* Folders of one value after the other repeat the outer columns' texts. */
typedef struct last_value {
    str text, taken;
    bool known;
} last_value;

static silt_status take_values(const op *o, const convert_files *f, convert_folder *folder, const field *columns, size_t n, last_value *last) {
    folder_values found;
    TRY(parse_folder(o, folder->path, &found));
    if (found.n != n) return wrong_number(o, f, folder, columns, n, &found);
    str *keys = ARENA_ARRAY(o->a, n + 1, str), *values = ARENA_ARRAY(o->a, n + 1, str);
    if (!keys || !values) return error_no_memory(o->err);
    for (size_t i = 0; i < n; i++) {
        str name = found.names[n - 1 - i], text = found.values[n - 1 - i];
        if (!str_eq_fold(name, columns[i].name))
            return err_DELTA_UNEXPECTED_PARTITION_COLUMN_FROM_FILE_NAME(o->err, columns[i].name, name, convert_file_name(o, f, folder->path));
        bool same = last[i].known && str_is_null(last[i].text) == str_is_null(text) && str_eq(last[i].text, text);
        if (!same) TRY(take_value(o, text, columns[i].type, &last[i].taken));
        last[i].text = text;
        last[i].known = true;
        keys[i] = columns[i].name;
        values[i] = last[i].taken;
    }
    folder->values = (str_map){keys, values, n};
    return SILT_OK;
}

silt_status convert_files_partition(const op *o, convert_files *f, const field *columns, size_t n) {
    last_value *last = ARENA_ARRAY(o->a, n + 1, last_value);
    if (!last) return error_no_memory(o->err);
    for (size_t i = 0; i < f->n_folders; i++) TRY(take_values(o, f, &f->folders[i], columns, n, last));
    return SILT_OK;
}
