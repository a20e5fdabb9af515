/* Trees of vectors, and lists of strings as results. */
#include "engine/functions_nested.h"

#include <stdlib.h>

#include "base/time.h"

static bool build(nested *n, duckdb_vector v) {
    duckdb_logical_type t = duckdb_vector_get_column_type(v);
    n->id = n->internal = duckdb_get_type_id(t);
    n->data = duckdb_vector_get_data(v);
    n->valid = duckdb_vector_get_validity(v);
    bool ok = true;
    if (n->id == DUCKDB_TYPE_DECIMAL) {
        n->precision = duckdb_decimal_width(t);
        n->scale = duckdb_decimal_scale(t);
        n->internal = duckdb_decimal_internal_type(t);
    } else if (n->id == DUCKDB_TYPE_LIST || n->id == DUCKDB_TYPE_MAP) {
        n->n_children = 1;
        n->children = calloc(1, sizeof *n->children);
        ok = n->children && build(n->children, duckdb_list_vector_get_child(v));
    } else if (n->id == DUCKDB_TYPE_STRUCT) {
        n->n_children = duckdb_struct_type_child_count(t);
        n->children = calloc(n->n_children ? n->n_children : 1, sizeof *n->children);
        n->names = calloc(n->n_children ? n->n_children : 1, sizeof *n->names);
        ok = n->children && n->names;
        for (idx_t i = 0; ok && i < n->n_children; i++) {
            n->names[i] = duckdb_struct_type_child_name(t, i);
            ok = build(&n->children[i], duckdb_struct_vector_get_child(v, i));
        }
    }
    duckdb_destroy_logical_type(&t);
    return ok;
}

static void dispose(nested *n) {
    for (idx_t i = 0; n->children && i < n->n_children; i++) dispose(&n->children[i]);
    for (idx_t i = 0; n->names && i < n->n_children; i++) duckdb_free(n->names[i]);
    free(n->children);
    free(n->names);
}

const nested *call_nested(call *c, idx_t arg) {
    if (c->trees[arg]) return c->trees[arg];
    nested *n = calloc(1, sizeof *n);
    if (n && !build(n, c->in[arg])) {
        dispose(n);
        free(n);
        n = NULL;
    }
    return c->trees[arg] = n;
}

void call_nested_free(call *c) {
    for (idx_t i = 0; i < c->n_args; i++) {
        if (!c->trees[i]) continue;
        dispose(c->trees[i]);
        free(c->trees[i]);
    }
}

bool nested_exact(const nested *n, idx_t row, int128 *out) {
    switch (n->internal) {
        case DUCKDB_TYPE_TINYINT: *out = ((const int8_t *)n->data)[row]; return true;
        case DUCKDB_TYPE_SMALLINT: *out = ((const int16_t *)n->data)[row]; return true;
        case DUCKDB_TYPE_INTEGER: *out = ((const int32_t *)n->data)[row]; return true;
        case DUCKDB_TYPE_BIGINT: *out = ((const int64_t *)n->data)[row]; return true;
        case DUCKDB_TYPE_HUGEINT: memcpy(out, (const char *)n->data + row * 16, 16); return true;
        default: return false;
    }
}

void nested_write_scalar(buf *out, const nested *n, idx_t row, int64_t offset) {
    int128 v;
    switch (n->id) {
        case DUCKDB_TYPE_BOOLEAN: buf_append_z(out, ((const bool *)n->data)[row] ? "true" : "false"); return;
        case DUCKDB_TYPE_FLOAT: text_write_f32_java(out, ((const float *)n->data)[row]); return;
        case DUCKDB_TYPE_DOUBLE: text_write_f64_java(out, ((const double *)n->data)[row]); return;
        case DUCKDB_TYPE_DATE: time_write_date(out, ((const int32_t *)n->data)[row]); return;
        case DUCKDB_TYPE_TIMESTAMP: time_write_timestamp_short(out, ((const int64_t *)n->data)[row], ' '); return;
        case DUCKDB_TYPE_TIMESTAMP_TZ: time_write_timestamp_short(out, ((const int64_t *)n->data)[row] + offset, ' '); return;
        case DUCKDB_TYPE_INTERVAL: interval_write(out, ((const duckdb_interval *)n->data)[row], STR("dt")); return;
        case DUCKDB_TYPE_VARCHAR:
        case DUCKDB_TYPE_BLOB: buf_append(out, nested_str(n, row)); return;
        default:
            if (nested_exact(n, row, &v)) decimal_write(out, v, n->scale);
            return;
    }
}

/* ---- lists of strings ---- */

void ret_list_begin(call *c, idx_t row, list_writer *w) {
    w->list = c->out;
    w->child = duckdb_list_vector_get_child(c->out);
    w->at = duckdb_list_vector_get_size(c->out);
    ((duckdb_list_entry *)c->out_data)[row].offset = w->at;
}

bool ret_list_add(list_writer *w, str s) {
    if (duckdb_list_vector_reserve(w->list, w->at + 1) != DuckDBSuccess) return false;
    w->child = duckdb_list_vector_get_child(w->list);
    duckdb_list_vector_set_size(w->list, w->at + 1);
    duckdb_unsafe_vector_assign_string_element_len(w->child, w->at, s.ptr ? s.ptr : "", s.len);
    w->at++;
    return true;
}

void ret_list_end(call *c, idx_t row, list_writer *w) {
    duckdb_list_entry *e = &((duckdb_list_entry *)c->out_data)[row];
    e->length = w->at - e->offset;
}
