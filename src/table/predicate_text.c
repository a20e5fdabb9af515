/* Predicates as text for EXPLAIN: Spark SQL in form, for people; what could not be used for skipping shows as "…". */
#include "base/time.h"
#include "table/predicate.h"

static void write_sql_string(buf *out, str s, const char *suffix) {
    buf_append_char(out, '\'');
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] == '\'' || s.ptr[i] == '\\') buf_append_char(out, '\\');
        buf_append_char(out, s.ptr[i]);
    }
    buf_append_z(out, suffix);
    buf_append_char(out, '\'');
}

static void write_literal(buf *out, const value *v) {
    if (v->is_null) {
        buf_append_z(out, "NULL");
        return;
    }
    switch (v->type->id) {
        case TYPE_STRING: write_sql_string(out, v->as.bytes, ""); break;
        case TYPE_BINARY:
            buf_append_z(out, "X'");
            for (size_t i = 0; i < v->as.bytes.len; i++) buf_printf(out, "%02X", (unsigned char)v->as.bytes.ptr[i]);
            buf_append_char(out, '\'');
            break;
        case TYPE_DATE:
            buf_append_z(out, "DATE '");
            time_write_date(out, v->as.i64);
            buf_append_char(out, '\'');
            break;
        case TYPE_TIMESTAMP:
        case TYPE_TIMESTAMP_NTZ:
            buf_append_z(out, v->type->id == TYPE_TIMESTAMP ? "TIMESTAMP '" : "TIMESTAMP_NTZ '");
            time_write_timestamp_short(out, v->as.i64, ' ');
            buf_append_z(out, v->type->id == TYPE_TIMESTAMP ? "Z'" : "'");
            break;
        case TYPE_DECIMAL: decimal_write(out, v->as.decimal, v->type->scale); break;
        case TYPE_FLOAT: text_write_f32_java(out, (float)v->as.f64); break;
        case TYPE_DOUBLE: text_write_f64_java(out, v->as.f64); break;
        case TYPE_BOOLEAN: buf_append_z(out, v->as.boolean ? "true" : "false"); break;
        default: buf_append_i64(out, v->as.i64);
    }
}

static void write_column(buf *out, column_path column, const data_type *schema) {
    for (size_t i = 0; i < column.depth; i++) {
        if (schema->id != TYPE_STRUCT || column.index[i] >= schema->n_fields) {
            buf_append_z(out, "?");
            return;
        }
        if (i) buf_append_char(out, '.');
        identifier_write(out, schema->fields[column.index[i]].name);
        schema = schema->fields[column.index[i]].type;
    }
}

static const char *operator_of(predicate_kind kind) {
    switch (kind) {
        case PRED_EQ: return " = ";
        case PRED_NE: return " <> ";
        case PRED_LT: return " < ";
        case PRED_LE: return " <= ";
        case PRED_GT: return " > ";
        case PRED_GE: return " >= ";
        default: return " <=> ";
    }
}

static void write_children(buf *out, const predicate *p, const data_type *schema) {
    if (p->n_children == 0) {
        buf_append_z(out, p->kind == PRED_AND ? "true" : "false");
        return;
    }
    buf_append_char(out, '(');
    for (size_t i = 0; i < p->n_children; i++) {
        if (i) buf_append_z(out, p->kind == PRED_AND ? " AND " : " OR ");
        predicate_write(out, p->children[i], schema);
    }
    buf_append_char(out, ')');
}

static void write_in(buf *out, const predicate *p) {
    buf_append_z(out, " IN (");
    for (size_t i = 0; i < p->n_literals; i++) {
        if (i) buf_append_z(out, ", ");
        write_literal(out, &p->literals[i]);
    }
    if (p->has_null) buf_append_z(out, p->n_literals ? ", NULL" : "NULL");
    buf_append_char(out, ')');
}

void predicate_write(buf *out, const predicate *p, const data_type *schema) {
    switch (p->kind) {
        case PRED_UNKNOWN: buf_append_z(out, "…"); return;
        case PRED_TRUE: buf_append_z(out, "true"); return;
        case PRED_FALSE: buf_append_z(out, "false"); return;
        case PRED_AND:
        case PRED_OR: write_children(out, p, schema); return;
        case PRED_NOT:
            buf_append_z(out, "NOT (");
            predicate_write(out, p->children[0], schema);
            buf_append_char(out, ')');
            return;
        default: break;
    }
    write_column(out, p->column, schema);
    switch (p->kind) {
        case PRED_IS_NULL: buf_append_z(out, " IS NULL"); return;
        case PRED_IS_NOT_NULL: buf_append_z(out, " IS NOT NULL"); return;
        case PRED_IN: write_in(out, p); return;
        case PRED_STARTS_WITH:
            buf_append_z(out, " LIKE ");
            write_sql_string(out, p->literals[0].is_null ? STR("") : p->literals[0].as.bytes, "%");
            return;
        default: buf_append_z(out, operator_of(p->kind)); write_literal(out, &p->literals[0]);
    }
}
