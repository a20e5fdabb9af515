/*
 * Copying rows between DuckDB's vectors and pages. Both ways go leaf by leaf over all rows of a chunk, so that the loops are over one type; a row's bytes stand together, so
 * that bringing rows into another order costs a few cache lines a row and not one for each of its columns.
 */
#include "engine/row_layout.h"

#include <stdlib.h>
#include <string.h>

#define HEADER  12 /* key and length */
#define INLINED 12 /* bytes of a text that DuckDB's string holds itself */

bool row_layout_takes(const data_type *type) {
    switch (type->id) {
        case TYPE_VARIANT:
        case TYPE_VOID:
        case TYPE_INTERVAL:
        case TYPE_INTERVAL_DT:
        case TYPE_INTERVAL_YM: return false;
        case TYPE_ARRAY: return row_layout_takes(type->element);
        case TYPE_MAP: return row_layout_takes(type->key) && row_layout_takes(type->element);
        case TYPE_STRUCT:
            for (size_t i = 0; i < type->n_fields; i++)
                if (!row_layout_takes(type->fields[i].type)) return false;
            return type->n_fields > 0;
        default: return true;
    }
}

/* ---- types ---- */

static duckdb_type storage_of(duckdb_logical_type type) {
    duckdb_type id = duckdb_get_type_id(type);
    return id == DUCKDB_TYPE_DECIMAL ? duckdb_decimal_internal_type(type) : id;
}

/* 0: not of a fixed width. */
static uint32_t width_of(duckdb_type storage) {
    switch (storage) {
        case DUCKDB_TYPE_BOOLEAN:
        case DUCKDB_TYPE_TINYINT: return 1;
        case DUCKDB_TYPE_SMALLINT: return 2;
        case DUCKDB_TYPE_INTEGER:
        case DUCKDB_TYPE_FLOAT:
        case DUCKDB_TYPE_DATE: return 4;
        case DUCKDB_TYPE_BIGINT:
        case DUCKDB_TYPE_DOUBLE:
        case DUCKDB_TYPE_TIMESTAMP:
        case DUCKDB_TYPE_TIMESTAMP_TZ: return 8;
        case DUCKDB_TYPE_HUGEINT: return 16;
        default: return 0;
    }
}

static bool is_text(duckdb_type storage) { return storage == DUCKDB_TYPE_VARCHAR || storage == DUCKDB_TYPE_BLOB; }

static size_t count_leaves(duckdb_logical_type type) {
    size_t n = 1;
    if (duckdb_get_type_id(type) != DUCKDB_TYPE_STRUCT) return n;
    for (idx_t i = 0; i < duckdb_struct_type_child_count(type); i++) {
        duckdb_logical_type child = duckdb_struct_type_child_type(type, i);
        n += count_leaves(child);
        duckdb_destroy_logical_type(&child);
    }
    return n;
}

static bool add_leaves(row_layout *l, duckdb_logical_type type) {
    row_leaf *leaf = &l->leaves[l->n_leaves++];
    duckdb_type id = storage_of(type);
    bool ok = true;
    leaf->width = width_of(id);
    leaf->kind = leaf->width ? LEAF_FIXED : is_text(id) ? LEAF_TEXT : id == DUCKDB_TYPE_STRUCT ? LEAF_STRUCT : LEAF_NESTED;
    if (leaf->kind == LEAF_TEXT || leaf->kind == LEAF_NESTED) leaf->width = sizeof(uint32_t);
    if (leaf->kind == LEAF_NESTED) return id == DUCKDB_TYPE_LIST || id == DUCKDB_TYPE_MAP;
    for (idx_t i = 0; ok && leaf->kind == LEAF_STRUCT && i < duckdb_struct_type_child_count(type); i++) {
        duckdb_logical_type child = duckdb_struct_type_child_type(type, i);
        ok = add_leaves(l, child);
        duckdb_destroy_logical_type(&child);
    }
    return ok;
}

bool row_layout_init(row_layout *l, const duckdb_vector *columns, size_t n_columns) {
    size_t n = 0;
    bool ok = true;
    *l = (row_layout){.n_columns = n_columns, .types = calloc(n_columns + 1, sizeof *l->types)};
    if (!l->types) return false;
    for (size_t i = 0; i < n_columns; i++) {
        l->types[i] = duckdb_vector_get_column_type(columns[i]);
        n += count_leaves(l->types[i]);
    }
    l->leaves = calloc(n + 1, sizeof *l->leaves);
    for (size_t i = 0; l->leaves && ok && i < n_columns; i++) ok = add_leaves(l, l->types[i]);
    l->fixed_bytes = HEADER + (uint32_t)((n + 7) / 8);
    for (size_t i = 0; l->leaves && i < l->n_leaves; i++) {
        l->leaves[i].at = l->fixed_bytes;
        l->fixed_bytes += l->leaves[i].width;
    }
    return ok && l->leaves;
}

void row_layout_dispose(row_layout *l) {
    for (size_t i = 0; l->types && i < l->n_columns; i++) duckdb_destroy_logical_type(&l->types[i]);
    free(l->types);
    free(l->leaves);
    *l = (row_layout){0};
}

static bool is_valid(const uint64_t *valid, idx_t row) { return !valid || (valid[row / 64] >> (row % 64) & 1); }

/* ---- values of lists and maps: a byte that tells null or not, then the value; a map is a list of entries, for which the C API names no type ---- */

/* A place that values are written to; counts alone where `at` is NULL. */
typedef struct value_out {
    char *at;
    uint64_t bytes;
} value_out;

static void put(value_out *o, const void *bytes, size_t n) {
    if (o->at && n) memcpy(o->at + o->bytes, bytes, n);
    o->bytes += n;
}

static void put_value(value_out *o, duckdb_vector v, duckdb_logical_type type, idx_t row);

static void put_fields(value_out *o, duckdb_vector v, duckdb_logical_type type, idx_t row) {
    for (idx_t i = 0; i < duckdb_struct_type_child_count(type); i++) {
        duckdb_logical_type child = duckdb_struct_type_child_type(type, i);
        put_value(o, duckdb_struct_vector_get_child(v, i), child, row);
        duckdb_destroy_logical_type(&child);
    }
}

static void put_list(value_out *o, duckdb_vector v, duckdb_logical_type type, idx_t row) {
    duckdb_list_entry e = ((duckdb_list_entry *)duckdb_vector_get_data(v))[row];
    duckdb_vector child = duckdb_list_vector_get_child(v);
    duckdb_logical_type element = duckdb_list_type_child_type(type);
    put(o, &e.length, sizeof e.length);
    for (idx_t i = 0; i < e.length; i++) put_value(o, child, element, e.offset + i);
    duckdb_destroy_logical_type(&element);
}

static void put_map(value_out *o, duckdb_vector v, duckdb_logical_type type, idx_t row) {
    duckdb_list_entry e = ((duckdb_list_entry *)duckdb_vector_get_data(v))[row];
    duckdb_vector child = duckdb_list_vector_get_child(v);
    duckdb_logical_type key = duckdb_map_type_key_type(type), item = duckdb_map_type_value_type(type);
    put(o, &e.length, sizeof e.length);
    for (idx_t i = 0; i < e.length; i++) {
        put_value(o, duckdb_struct_vector_get_child(child, 0), key, e.offset + i);
        put_value(o, duckdb_struct_vector_get_child(child, 1), item, e.offset + i);
    }
    duckdb_destroy_logical_type(&key);
    duckdb_destroy_logical_type(&item);
}

static void put_text(value_out *o, duckdb_vector v, idx_t row) {
    duckdb_string_t *s = (duckdb_string_t *)duckdb_vector_get_data(v) + row;
    uint32_t len = duckdb_string_t_length(*s);
    put(o, &len, sizeof len);
    put(o, duckdb_string_t_data(s), len);
}

static void put_value(value_out *o, duckdb_vector v, duckdb_logical_type type, idx_t row) {
    uint8_t valid = is_valid(duckdb_vector_get_validity(v), row);
    duckdb_type id = storage_of(type);
    uint32_t width = width_of(id);
    put(o, &valid, 1);
    if (!valid) return;
    if (width)
        put(o, (const char *)duckdb_vector_get_data(v) + row * width, width);
    else if (is_text(id))
        put_text(o, v, row);
    else if (id == DUCKDB_TYPE_STRUCT)
        put_fields(o, v, type, row);
    else if (id == DUCKDB_TYPE_MAP)
        put_map(o, v, type, row);
    else
        put_list(o, v, type, row);
}

static void set_null(duckdb_vector v, idx_t row) {
    duckdb_vector_ensure_validity_writable(v);
    duckdb_validity_set_row_invalid(duckdb_vector_get_validity(v), row);
}

/* What lies below a null is null too. */
static void take_null(duckdb_vector v, duckdb_logical_type type, idx_t row) {
    duckdb_type id = duckdb_get_type_id(type);
    set_null(v, row);
    if (id == DUCKDB_TYPE_LIST || id == DUCKDB_TYPE_MAP) ((duckdb_list_entry *)duckdb_vector_get_data(v))[row] = (duckdb_list_entry){0};
    for (idx_t i = 0; id == DUCKDB_TYPE_STRUCT && i < duckdb_struct_type_child_count(type); i++) {
        duckdb_logical_type child = duckdb_struct_type_child_type(type, i);
        take_null(duckdb_struct_vector_get_child(v, i), child, row);
        duckdb_destroy_logical_type(&child);
    }
}

/* Reads what put_value wrote; `at` moves behind it. false on exhaustion. */
static bool take_value(const char **at, duckdb_vector v, duckdb_logical_type type, idx_t row);

static bool take_fields(const char **at, duckdb_vector v, duckdb_logical_type type, idx_t row) {
    bool ok = true;
    for (idx_t i = 0; ok && i < duckdb_struct_type_child_count(type); i++) {
        duckdb_logical_type child = duckdb_struct_type_child_type(type, i);
        ok = take_value(at, duckdb_struct_vector_get_child(v, i), child, row);
        duckdb_destroy_logical_type(&child);
    }
    return ok;
}

/* Room for the entries behind those that are there; *out_child holds them. */
static bool take_entries(const char **at, duckdb_vector v, idx_t row, duckdb_list_entry *out, duckdb_vector *out_child) {
    duckdb_list_entry e = {.offset = duckdb_list_vector_get_size(v)};
    memcpy(&e.length, *at, sizeof e.length);
    *at += sizeof e.length;
    if (duckdb_list_vector_reserve(v, e.offset + e.length) != DuckDBSuccess || duckdb_list_vector_set_size(v, e.offset + e.length) != DuckDBSuccess) return false;
    ((duckdb_list_entry *)duckdb_vector_get_data(v))[row] = *out = e;
    *out_child = duckdb_list_vector_get_child(v);
    return true;
}

static bool take_list(const char **at, duckdb_vector v, duckdb_logical_type type, idx_t row) {
    duckdb_list_entry e;
    duckdb_vector child;
    if (!take_entries(at, v, row, &e, &child)) return false;
    duckdb_logical_type element = duckdb_list_type_child_type(type);
    bool ok = true;
    for (idx_t i = 0; ok && i < e.length; i++) ok = take_value(at, child, element, e.offset + i);
    duckdb_destroy_logical_type(&element);
    return ok;
}

static bool take_map(const char **at, duckdb_vector v, duckdb_logical_type type, idx_t row) {
    duckdb_list_entry e;
    duckdb_vector child;
    if (!take_entries(at, v, row, &e, &child)) return false;
    duckdb_logical_type key = duckdb_map_type_key_type(type), item = duckdb_map_type_value_type(type);
    bool ok = true;
    for (idx_t i = 0; ok && i < e.length; i++)
        ok = take_value(at, duckdb_struct_vector_get_child(child, 0), key, e.offset + i) &&
             take_value(at, duckdb_struct_vector_get_child(child, 1), item, e.offset + i);
    duckdb_destroy_logical_type(&key);
    duckdb_destroy_logical_type(&item);
    return ok;
}

static void take_text(const char **at, duckdb_vector v, idx_t row) {
    uint32_t len;
    memcpy(&len, *at, sizeof len);
    duckdb_unsafe_vector_assign_string_element_len(v, row, *at + sizeof len, len);
    *at += sizeof len + len;
}

static bool take_value(const char **at, duckdb_vector v, duckdb_logical_type type, idx_t row) {
    duckdb_type id = storage_of(type);
    uint32_t width = width_of(id);
    if (!*(*at)++) {
        take_null(v, type, row);
        return true;
    }
    if (width) {
        memcpy((char *)duckdb_vector_get_data(v) + row * width, *at, width);
        *at += width;
        return true;
    }
    if (is_text(id)) {
        take_text(at, v, row);
        return true;
    }
    if (id == DUCKDB_TYPE_STRUCT) return take_fields(at, v, type, row);
    return id == DUCKDB_TYPE_MAP ? take_map(at, v, type, row) : take_list(at, v, type, row);
}

/* ---- columns, leaf by leaf ---- */

/* One pass over the leaves of a chunk. */
typedef struct row_pass {
    row_layout *layout;
    size_t n, leaf;
    void (*fn)(struct row_pass *p, size_t leaf, duckdb_vector v, duckdb_logical_type type);
    /* measuring */
    uint64_t *sizes;
    /* writing */
    char *const *to;
    uint32_t *behind; /* where a row's next text goes, or comes from */
    /* reading */
    const char *const *rows;
    buf *scratch;
    bool ok;
} row_pass;

static void each_leaf(row_pass *p, duckdb_vector v, duckdb_logical_type type) {
    size_t leaf = p->leaf++;
    p->fn(p, leaf, v, type);
    for (idx_t i = 0; p->layout->leaves[leaf].kind == LEAF_STRUCT && i < duckdb_struct_type_child_count(type); i++) {
        duckdb_logical_type child = duckdb_struct_type_child_type(type, i);
        each_leaf(p, duckdb_struct_vector_get_child(v, i), child);
        duckdb_destroy_logical_type(&child);
    }
}

/* ---- measuring ---- */

static uint64_t nested_bytes(duckdb_vector v, duckdb_logical_type type, idx_t row) {
    value_out o = {0};
    put_value(&o, v, type, row);
    return o.bytes;
}

static void measure_leaf(row_pass *p, size_t leaf, duckdb_vector v, duckdb_logical_type type) {
    const uint64_t *valid = duckdb_vector_get_validity(v);
    const duckdb_string_t *texts = duckdb_vector_get_data(v);
    leaf_kind kind = p->layout->leaves[leaf].kind;
    if (kind == LEAF_TEXT)
        for (size_t i = 0; i < p->n; i++) p->sizes[i] += is_valid(valid, i) ? texts[i].value.inlined.length : 0;
    if (kind == LEAF_NESTED)
        for (size_t i = 0; i < p->n; i++) p->sizes[i] += is_valid(valid, i) ? nested_bytes(v, type, i) : 0;
}

bool row_layout_measure(const row_layout *l, const duckdb_vector *columns, size_t n, uint32_t *out) {
    uint64_t sizes[ROW_MAX_ROWS];
    row_pass p = {.layout = (row_layout *)(uintptr_t)l, .n = n, .fn = measure_leaf, .sizes = sizes};
    for (size_t i = 0; i < n; i++) sizes[i] = l->fixed_bytes;
    for (size_t i = 0; i < l->n_columns; i++) each_leaf(&p, columns[i], l->types[i]);
    for (size_t i = 0; i < n; i++) {
        if (sizes[i] > UINT32_MAX) return false;
        out[i] = (uint32_t)sizes[i];
    }
    return true;
}

/* ---- writing ---- */

static void write_nulls(row_pass *p, size_t leaf, const uint64_t *valid) {
    size_t at = HEADER + leaf / 8;
    char bit = (char)(1 << (leaf % 8));
    bool any = false;
    if (!valid) return;
    for (size_t i = 0; i < p->n; i++) {
        if (is_valid(valid, i)) continue;
        p->to[i][at] = (char)(p->to[i][at] | bit);
        any = true;
    }
    if (any) atomic_store_explicit(&p->layout->leaves[leaf].has_null, true, memory_order_relaxed);
}

#define WRITE_ROWS(width)                                                                                     \
    for (size_t i = 0; i < p->n; i++) memcpy(p->to[i] + at, data + i * (width), (width))

static void write_fixed(row_pass *p, const row_leaf *leaf, const char *data) {
    size_t at = leaf->at;
    switch (leaf->width) {
        case 1: WRITE_ROWS(1); return;
        case 2: WRITE_ROWS(2); return;
        case 4: WRITE_ROWS(4); return;
        case 8: WRITE_ROWS(8); return;
        default: WRITE_ROWS(16); return;
    }
}

static void write_bytes(row_pass *p, const row_leaf *leaf, size_t i, const char *bytes, uint32_t len) {
    memcpy(p->to[i] + leaf->at, &len, sizeof len);
    if (len) memcpy(p->to[i] + p->behind[i], bytes, len);
    p->behind[i] += len;
}

static void write_nested(row_pass *p, const row_leaf *leaf, size_t i, duckdb_vector v, duckdb_logical_type type) {
    value_out o = {.at = p->to[i] + p->behind[i]};
    put_value(&o, v, type, i);
    uint32_t len = (uint32_t)o.bytes;
    memcpy(p->to[i] + leaf->at, &len, sizeof len);
    p->behind[i] += len;
}

static void write_leaf(row_pass *p, size_t number, duckdb_vector v, duckdb_logical_type type) {
    const row_leaf *leaf = &p->layout->leaves[number];
    const uint64_t *valid = duckdb_vector_get_validity(v);
    duckdb_string_t *texts = duckdb_vector_get_data(v);
    write_nulls(p, number, valid);
    if (leaf->kind == LEAF_FIXED) write_fixed(p, leaf, duckdb_vector_get_data(v));
    for (size_t i = 0; (leaf->kind == LEAF_TEXT || leaf->kind == LEAF_NESTED) && i < p->n; i++) {
        if (!is_valid(valid, i))
            write_bytes(p, leaf, i, NULL, 0);
        else if (leaf->kind == LEAF_NESTED)
            write_nested(p, leaf, i, v, type);
        else {
            uint32_t len = texts[i].value.inlined.length;
            write_bytes(p, leaf, i, len <= INLINED ? texts[i].value.inlined.inlined : texts[i].value.pointer.ptr, len);
        }
    }
}

void row_layout_write(row_layout *l, const duckdb_vector *columns, const int64_t *keys, const uint32_t *bytes, size_t n, char *const *to) {
    uint32_t behind[ROW_MAX_ROWS];
    size_t nulls = (l->n_leaves + 7) / 8;
    row_pass p = {.layout = l, .n = n, .fn = write_leaf, .to = to, .behind = behind};
    for (size_t i = 0; i < n; i++) {
        memcpy(to[i], &keys[i], sizeof keys[i]);
        memcpy(to[i] + 8, &bytes[i], sizeof bytes[i]);
        memset(to[i] + HEADER, 0, nulls);
        behind[i] = l->fixed_bytes;
    }
    for (size_t i = 0; i < l->n_columns; i++) each_leaf(&p, columns[i], l->types[i]);
}

/* ---- reading ---- */

static bool row_has_null(const char *row, size_t leaf) { return row[HEADER + leaf / 8] >> (leaf % 8) & 1; }

static void read_nulls(row_pass *p, size_t leaf, duckdb_vector v) {
    uint64_t *valid = NULL;
    if (!atomic_load_explicit(&p->layout->leaves[leaf].has_null, memory_order_relaxed)) return;
    for (size_t i = 0; i < p->n; i++) {
        if (!row_has_null(p->rows[i], leaf)) continue;
        if (!valid) {
            duckdb_vector_ensure_validity_writable(v);
            valid = duckdb_vector_get_validity(v);
        }
        duckdb_validity_set_row_invalid(valid, i);
    }
}

#define READ_ROWS(width)                                                                                      \
    for (size_t i = 0; i < p->n; i++) memcpy(data + i * (width), p->rows[i] + at, (width))

static void read_fixed(row_pass *p, const row_leaf *leaf, char *data) {
    size_t at = leaf->at;
    switch (leaf->width) {
        case 1: READ_ROWS(1); return;
        case 2: READ_ROWS(2); return;
        case 4: READ_ROWS(4); return;
        case 8: READ_ROWS(8); return;
        default: READ_ROWS(16); return;
    }
}

static uint32_t length_at(const row_pass *p, const row_leaf *leaf, size_t i) {
    uint32_t len;
    memcpy(&len, p->rows[i] + leaf->at, sizeof len);
    return len;
}

/* Long texts one after another, handed to the vector as a single one whose memory all of them then point into: an allocation for each would cost more than its copy. */
static void share_heap(row_pass *p, duckdb_vector v, duckdb_string_t *out) {
    duckdb_string_t first = out[0];
    duckdb_unsafe_vector_assign_string_element_len(v, 0, p->scratch->ptr, p->scratch->len);
    char *heap = (char *)(uintptr_t)duckdb_string_t_data(&out[0]);
    out[0] = first;
    for (size_t i = 0; i < p->n; i++)
        if (out[i].value.inlined.length > INLINED) out[i].value.pointer.ptr = heap + (uintptr_t)out[i].value.pointer.ptr;
}

static void read_text(row_pass *p, size_t i, uint32_t len, duckdb_string_t *out) {
    const char *text = p->rows[i] + p->behind[i];
    p->behind[i] += len;
    memset(out, 0, sizeof *out);
    out->value.inlined.length = len;
    if (len <= INLINED) {
        memcpy(out->value.inlined.inlined, text, len);
        return;
    }
    memcpy(out->value.pointer.prefix, text, sizeof out->value.pointer.prefix);
    out->value.pointer.ptr = (char *)(uintptr_t)p->scratch->len;
    buf_append_bytes(p->scratch, text, len);
}

#define MOST_SHARED ((uint64_t)1 << 30)

static void read_texts(row_pass *p, const row_leaf *leaf, duckdb_vector v) {
    duckdb_string_t *out = duckdb_vector_get_data(v);
    uint64_t all = 0;
    for (size_t i = 0; i < p->n; i++) all += length_at(p, leaf, i);
    buf_clear(p->scratch);
    for (size_t i = 0; i < p->n; i++) {
        uint32_t len = length_at(p, leaf, i);
        if (all <= MOST_SHARED) {
            read_text(p, i, len, &out[i]);
            continue;
        }
        duckdb_unsafe_vector_assign_string_element_len(v, i, p->rows[i] + p->behind[i], len);
        p->behind[i] += len;
    }
    p->ok &= buf_ok(p->scratch);
    if (p->ok && p->scratch->len) share_heap(p, v, out);
}

static void read_nested(row_pass *p, const row_leaf *leaf, size_t number, duckdb_vector v, duckdb_logical_type type) {
    for (size_t i = 0; p->ok && i < p->n; i++) {
        const char *at = p->rows[i] + p->behind[i];
        p->behind[i] += length_at(p, leaf, i);
        if (row_has_null(p->rows[i], number))
            take_null(v, type, i);
        else
            p->ok = take_value(&at, v, type, i);
    }
}

static void read_leaf(row_pass *p, size_t number, duckdb_vector v, duckdb_logical_type type) {
    const row_leaf *leaf = &p->layout->leaves[number];
    read_nulls(p, number, v);
    if (leaf->kind == LEAF_FIXED) read_fixed(p, leaf, duckdb_vector_get_data(v));
    if (leaf->kind == LEAF_TEXT) read_texts(p, leaf, v);
    if (leaf->kind == LEAF_NESTED) read_nested(p, leaf, number, v, type);
}

bool row_layout_read(const row_layout *l, const char *const *rows, size_t n, buf *scratch, duckdb_data_chunk out) {
    uint32_t behind[ROW_MAX_ROWS];
    row_pass p = {.layout = (row_layout *)(uintptr_t)l, .n = n, .fn = read_leaf, .behind = behind, .rows = rows, .scratch = scratch, .ok = true};
    for (size_t i = 0; i < n; i++) behind[i] = l->fixed_bytes;
    for (size_t i = 0; p.ok && i < l->n_columns; i++) each_leaf(&p, duckdb_data_chunk_get_vector(out, i), l->types[i]);
    duckdb_data_chunk_set_size(out, n);
    return p.ok;
}
