/*
 * The two texts of a type that people see: Spark's catalog string ("struct<a:int>", what DESCRIBE shows) and its SQL text
 * ("STRUCT<a: INT>", what DDL and messages show). Neither is cut at 25 fields as Spark's simpleString is: a schema that is
 * compared or typed again must be whole.
 */
#include "table/type.h"

static const struct {
    const char *simple, *sql;
} names[] = {
    [TYPE_VOID] = {"void", "VOID"},
    [TYPE_BOOLEAN] = {"boolean", "BOOLEAN"},
    [TYPE_BYTE] = {"tinyint", "TINYINT"},
    [TYPE_SHORT] = {"smallint", "SMALLINT"},
    [TYPE_INT] = {"int", "INT"},
    [TYPE_LONG] = {"bigint", "BIGINT"},
    [TYPE_FLOAT] = {"float", "FLOAT"},
    [TYPE_DOUBLE] = {"double", "DOUBLE"},
    [TYPE_DECIMAL] = {"decimal", "DECIMAL"},
    [TYPE_STRING] = {"string", "STRING"},
    [TYPE_BINARY] = {"binary", "BINARY"},
    [TYPE_DATE] = {"date", "DATE"},
    [TYPE_TIMESTAMP] = {"timestamp", "TIMESTAMP"},
    [TYPE_TIMESTAMP_NTZ] = {"timestamp_ntz", "TIMESTAMP_NTZ"},
    [TYPE_INTERVAL_YM] = {"interval year to month", "INTERVAL YEAR TO MONTH"},
    [TYPE_INTERVAL_DT] = {"interval day to second", "INTERVAL DAY TO SECOND"},
    [TYPE_INTERVAL] = {"interval", "INTERVAL"},
    [TYPE_VARIANT] = {"variant", "VARIANT"},
    [TYPE_ARRAY] = {"array", "ARRAY"},
    [TYPE_MAP] = {"map", "MAP"},
    [TYPE_STRUCT] = {"struct", "STRUCT"},
};

/* True where the type has no parameters in its text. */
static bool write_scalar(buf *out, const data_type *type, bool sql) {
    if (type_is_nested(type)) return false;
    const char *name = sql ? names[type->id].sql : names[type->id].simple;
    if (type->id == TYPE_DECIMAL) {
        buf_printf(out, "%s(%d,%d)", name, type->precision, type->scale);
    } else if (type->id == TYPE_STRING && type->length > 0) {
        const char *limited = sql ? (type->is_char ? "CHAR" : "VARCHAR") : (type->is_char ? "char" : "varchar");
        buf_printf(out, "%s(%d)", limited, (int)type->length);
    } else {
        buf_append_z(out, name);
    }
    return true;
}

void type_write_simple(buf *out, const data_type *type) {
    if (write_scalar(out, type, false)) return;
    buf_append_z(out, names[type->id].simple);
    buf_append_char(out, '<');
    if (type->id == TYPE_STRUCT) {
        for (size_t i = 0; i < type->n_fields; i++) {
            if (i) buf_append_char(out, ',');
            buf_append(out, type->fields[i].name);
            buf_append_char(out, ':');
            type_write_simple(out, type->fields[i].type);
        }
    } else {
        if (type->id == TYPE_MAP) {
            type_write_simple(out, type->key);
            buf_append_char(out, ',');
        }
        type_write_simple(out, type->element);
    }
    buf_append_char(out, '>');
}

static bool is_plain_identifier(str s) {
    if (s.len == 0 || (s.ptr[0] >= '0' && s.ptr[0] <= '9')) return false;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_')) return false;
    }
    return true;
}

void identifier_write(buf *out, str name) {
    if (is_plain_identifier(name)) {
        buf_append(out, name);
        return;
    }
    buf_append_char(out, '`');
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] == '`') buf_append_char(out, '`');
        buf_append_char(out, name.ptr[i]);
    }
    buf_append_char(out, '`');
}

void type_write_sql(buf *out, const data_type *type) {
    if (write_scalar(out, type, true)) return;
    buf_append_z(out, names[type->id].sql);
    buf_append_char(out, '<');
    if (type->id == TYPE_STRUCT) {
        for (size_t i = 0; i < type->n_fields; i++) {
            if (i) buf_append_z(out, ", ");
            identifier_write(out, type->fields[i].name);
            buf_append_z(out, ": ");
            type_write_sql(out, type->fields[i].type);
            if (!type->fields[i].nullable) buf_append_z(out, " NOT NULL");
        }
    } else {
        if (type->id == TYPE_MAP) {
            type_write_sql(out, type->key);
            buf_append_z(out, ", ");
        }
        type_write_sql(out, type->element);
    }
    buf_append_char(out, '>');
}

static str text_in_arena(void (*write)(buf *, const data_type *), const data_type *type, arena *a) {
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    write(&b, type);
    return buf_take(&b, a);
}

str type_simple(const data_type *type, arena *a) { return text_in_arena(type_write_simple, type, a); }
str type_sql(const data_type *type, arena *a) { return text_in_arena(type_write_sql, type, a); }
