/* JSON text: paths as get_json_object reads them, to_json as Spark's Jackson writer writes it. */
#include "base/time.h"

#include <ctype.h>
#include <stdio.h>

#include "base/ident.h"
#include "engine/functions_call.h"
#include "engine/functions_nested.h"

/* One arena per row: documents are small, and nothing outlives the row. */
static const json_node *parse(str text, arena **out_arena) {
    const json_node *root = NULL;
    *out_arena = arena_new();
    if (*out_arena && json_parse(text, *out_arena, &root, NULL) != SILT_OK) root = NULL;
    return root;
}

/* A string without its quotes, null as nothing, all else as compact JSON. */
static bool write_plain(buf *out, const json_node *n) {
    if (!n || n->type == JSON_NULL) return false;
    if (n->type == JSON_STRING)
        buf_append(out, n->text);
    else
        json_write_node(out, n);
    return true;
}

/* ---- $.a.b[0]['c d'][*] ---- */

typedef struct step {
    str name;
    int64_t index;
    bool is_index, wildcard;
} step;

static bool next_step(str *path, step *out) {
    *out = (step){.index = -1};
    if (path->ptr[0] == '.') {
        *path = str_slice(*path, 1, path->len);
        size_t n = 0;
        while (n < path->len && path->ptr[n] != '.' && path->ptr[n] != '[') n++;
        if (n == 0) return false;
        out->name = str_slice(*path, 0, n);
        out->wildcard = str_eqz(out->name, "*");
        *path = str_slice(*path, n, path->len);
        return true;
    }
    if (path->ptr[0] != '[') return false;
    size_t close;
    if (path->len > 1 && path->ptr[1] == '\'') {
        close = str_find(str_slice(*path, 2, path->len), STR("']"));
        if (close == SIZE_MAX) return false;
        out->name = str_slice(*path, 2, 2 + close);
        *path = str_slice(*path, close + 4, path->len);
        return true;
    }
    close = str_find_char(*path, ']');
    if (close == SIZE_MAX) return false;
    str inner = str_slice(*path, 1, close);
    out->is_index = true;
    out->wildcard = str_eqz(inner, "*");
    if (!out->wildcard && (!str_to_i64(inner, &out->index) || out->index < 0)) return false;
    *path = str_slice(*path, close + 1, path->len);
    return true;
}

static const json_node *member(const json_node *object, str name) {
    for (size_t i = 0; object->type == JSON_OBJECT && i < object->count; i++)
        if (str_eq(object->keys[i], name)) return &object->values[i];
    return NULL;
}

/* Values at the path, as JSON pieces with commas between; the number of them. */
static size_t collect(buf *out, const json_node *n, str path, size_t found, bool raw_string_alone) {
    step s;
    if (path.len == 0) {
        if (n->type == JSON_NULL && found == 0 && raw_string_alone) return found;
        if (found) buf_append_char(out, ',');
        json_write_node(out, n);
        return found + 1;
    }
    if (!next_step(&path, &s)) return found;
    if (s.is_index) {
        if (n->type != JSON_ARRAY) return found;
        if (!s.wildcard)
            return (size_t)s.index < n->count ? collect(out, &n->values[s.index], path, found, raw_string_alone) : found;
        for (size_t i = 0; i < n->count; i++) found = collect(out, &n->values[i], path, found, false);
        return found;
    }
    if (n->type == JSON_ARRAY) { /* a name applies to every object of an array */
        for (size_t i = 0; i < n->count; i++) {
            const json_node *v = member(&n->values[i], s.name);
            if (v) found = collect(out, v, path, found, false);
        }
        return found;
    }
    if (s.wildcard && n->type == JSON_OBJECT) {
        for (size_t i = 0; i < n->count; i++) found = collect(out, &n->values[i], path, found, false);
        return found;
    }
    const json_node *v = member(n, s.name);
    return v ? collect(out, v, path, found, raw_string_alone) : found;
}

/* Straight paths first: they give strings without quotes. */
static const json_node *walk(const json_node *n, str path, bool *straight) {
    *straight = true;
    while (n && path.len) {
        step s;
        if (!next_step(&path, &s)) return NULL;
        if (s.wildcard || (!s.is_index && n->type == JSON_ARRAY)) {
            *straight = false;
            return NULL;
        }
        if (s.is_index)
            n = n->type == JSON_ARRAY && (size_t)s.index < n->count ? &n->values[s.index] : NULL;
        else
            n = member(n, s.name);
    }
    return n;
}

static void json_path(call *c, idx_t row) {
    arena *a;
    const json_node *root = parse(call_str(c, 0, row), &a), *n = NULL;
    str path = call_str(c, 1, row);
    bool straight = true, ok = false;
    if (root && path.len && path.ptr[0] == '$') {
        path = str_slice(path, 1, path.len);
        n = walk(root, path, &straight);
        if (straight)
            ok = write_plain(&c->text, n);
        else {
            buf pieces;
            buf_init(&pieces, (size_t)1 << 30);
            size_t found = collect(&pieces, root, path, 0, false);
            bool wild_end = str_find(path, STR("[*]")) != SIZE_MAX;
            if (found > 1 || (found == 1 && wild_end)) {
                bool list = found > 1;
                if (list) buf_append_char(&c->text, '[');
                buf_append(&c->text, buf_str(&pieces));
                if (list) buf_append_char(&c->text, ']');
                ok = true;
            } else if (found == 1) {
                str one = buf_str(&pieces);
                buf_append(&c->text, one.len > 1 && one.ptr[0] == '"' ? str_slice(one, 1, one.len - 1) : one);
                ok = true;
            }
            buf_dispose(&pieces);
        }
    }
    arena_free(a);
    if (ok)
        ret_text(c, row);
    else
        ret_null(c, row);
}

static void json_field(call *c, idx_t row) {
    arena *a;
    const json_node *root = parse(call_str(c, 0, row), &a);
    bool ok = root && write_plain(&c->text, member(root, call_str(c, 1, row)));
    arena_free(a);
    if (ok)
        ret_text(c, row);
    else
        ret_null(c, row);
}

static void json_array_length(call *c, idx_t row) {
    arena *a;
    const json_node *root = parse(call_str(c, 0, row), &a);
    if (root && root->type == JSON_ARRAY)
        ret_i32(c, row, (int32_t)root->count);
    else
        ret_null(c, row);
    arena_free(a);
}

static void json_keys(call *c, idx_t row) {
    arena *a;
    const json_node *root = parse(call_str(c, 0, row), &a);
    list_writer w;
    ret_list_begin(c, row, &w);
    bool ok = true;
    for (size_t i = 0; root && root->type == JSON_OBJECT && i < root->count; i++) ok = ok && ret_list_add(&w, root->keys[i]);
    ret_list_end(c, row, &w);
    if (!root || root->type != JSON_OBJECT) ret_null(c, row);
    arena_free(a);
    if (!ok) call_raise(c, "OUT_OF_MEMORY", "53200", "Out of memory");
}

static void check_json(call *c, idx_t row) {
    arena *a;
    str text = call_str(c, 0, row);
    const json_node *root = parse(text, &a);
    if (root)
        ret_str(c, row, text);
    else
        call_raise(c, "MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION", "22023",
                   "Malformed records are detected in record parsing: %.*s.", (int)(text.len > 200 ? 200 : text.len), text.ptr);
    arena_free(a);
}

static void json_compact(call *c, idx_t row) {
    arena *a;
    str text = call_str(c, 0, row);
    const json_node *root = parse(text, &a);
    if (root)
        json_write_node(&c->text, root);
    else
        buf_append(&c->text, text);
    arena_free(a);
    ret_text(c, row);
}

/* CAST(variant AS STRING): strings without quotes; the JSON null is NULL. */
static void variant_text(call *c, idx_t row) {
    arena *a;
    const json_node *root = parse(call_str(c, 0, row), &a);
    bool ok = write_plain(&c->text, root);
    arena_free(a);
    if (ok)
        ret_text(c, row);
    else
        ret_null(c, row);
}

/* ---- schema_of_json, schema_of_variant ---- */

/* The type of one value as DDL. Numbers: BIGINT when whole, DOUBLE else (a variant: DECIMAL by its digits). Arrays are typed by their first element that is not null. */
static void write_schema(buf *out, const json_node *n, bool variant) {
    switch (n->type) {
        case JSON_NULL: buf_append_z(out, variant ? "VOID" : "STRING"); return;
        case JSON_BOOL: buf_append_z(out, "BOOLEAN"); return;
        case JSON_STRING: buf_append_z(out, "STRING"); return;
        case JSON_NUMBER: {
            int64_t whole;
            buf_append_z(out, str_to_i64(n->text, &whole) ? "BIGINT" : "DOUBLE");
            return;
        }
        case JSON_ARRAY: {
            const json_node *first = NULL;
            for (size_t i = 0; i < n->count && !first; i++)
                if (n->values[i].type != JSON_NULL) first = &n->values[i];
            buf_append_z(out, "ARRAY<");
            if (first)
                write_schema(out, first, variant);
            else
                buf_append_z(out, variant ? "VOID" : "STRING");
            buf_append_char(out, '>');
            return;
        }
        case JSON_OBJECT:
            buf_append_z(out, variant ? "OBJECT<" : "STRUCT<");
            for (size_t i = 0; i < n->count; i++) {
                buf_append_z(out, i ? ", " : "");
                buf_append(out, n->keys[i]);
                buf_append_z(out, ": ");
                write_schema(out, &n->values[i], variant);
            }
            buf_append_char(out, '>');
            return;
    }
}

static void json_schema(call *c, idx_t row) {
    arena *a;
    str text = call_str(c, 0, row);
    const json_node *root = parse(text, &a);
    if (root) write_schema(&c->text, root, call_bool(c, 1, row));
    arena_free(a);
    if (root)
        ret_text(c, row);
    else
        call_raise(c, "MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION", "22023",
                   "Malformed records are detected in record parsing: %.*s.", (int)(text.len > 200 ? 200 : text.len), text.ptr);
}

/* ---- to_json: fields that are null are left out ---- */

static void write_offset(buf *out, int64_t offset_us) {
    int64_t m = offset_us / 60000000, mag = m < 0 ? -m : m;
    if (m == 0)
        buf_append_char(out, 'Z');
    else
        buf_printf(out, "%c%02d:%02d", m < 0 ? '-' : '+', (int)(mag / 60), (int)(mag % 60));
}

static void write_json(buf *out, const nested *n, idx_t row, int64_t offset);

static void write_json_scalar(buf *out, const nested *n, idx_t row, int64_t offset) {
    int64_t us;
    double d;
    switch (n->id) {
        case DUCKDB_TYPE_VARCHAR: json_write_str(out, nested_str(n, row)); return;
        case DUCKDB_TYPE_BLOB:
            buf_append_char(out, '"');
            base64_write(out, (const uint8_t *)nested_str(n, row).ptr, nested_str(n, row).len);
            buf_append_char(out, '"');
            return;
        case DUCKDB_TYPE_FLOAT:
        case DUCKDB_TYPE_DOUBLE:
            d = n->id == DUCKDB_TYPE_DOUBLE ? ((const double *)n->data)[row] : (double)((const float *)n->data)[row];
            if (d - d != 0) {
                buf_append_char(out, '"');
                nested_write_scalar(out, n, row, offset);
                buf_append_char(out, '"');
            } else
                nested_write_scalar(out, n, row, offset);
            return;
        case DUCKDB_TYPE_TIMESTAMP:
        case DUCKDB_TYPE_TIMESTAMP_TZ:
            us = ((const int64_t *)n->data)[row] + (n->id == DUCKDB_TYPE_TIMESTAMP_TZ ? offset : 0);
            buf_append_char(out, '"');
            time_write_timestamp(out, us, 'T', us % 1000 ? 6 : 3, "");
            if (n->id == DUCKDB_TYPE_TIMESTAMP_TZ) write_offset(out, offset);
            buf_append_char(out, '"');
            return;
        case DUCKDB_TYPE_DATE:
        case DUCKDB_TYPE_INTERVAL:
            buf_append_char(out, '"');
            nested_write_scalar(out, n, row, offset);
            buf_append_char(out, '"');
            return;
        default: nested_write_scalar(out, n, row, offset); return;
    }
}

static void write_json_key(buf *out, const nested *n, idx_t row, int64_t offset) {
    buf key;
    buf_init(&key, (size_t)1 << 30);
    nested_write_scalar(&key, n, row, offset);
    json_write_str(out, buf_str(&key));
    buf_dispose(&key);
}

static void write_json(buf *out, const nested *n, idx_t row, int64_t offset) {
    if (nested_is_null(n, row)) {
        buf_append_z(out, "null");
        return;
    }
    if (n->id == DUCKDB_TYPE_LIST || n->id == DUCKDB_TYPE_MAP) {
        duckdb_list_entry e = nested_list(n, row);
        bool map = n->id == DUCKDB_TYPE_MAP;
        buf_append_char(out, map ? '{' : '[');
        for (idx_t i = 0; i < e.length; i++) {
            if (i) buf_append_char(out, ',');
            if (map) {
                write_json_key(out, &n->children[0].children[0], e.offset + i, offset);
                buf_append_char(out, ':');
            }
            write_json(out, map ? &n->children[0].children[1] : &n->children[0], e.offset + i, offset);
        }
        buf_append_char(out, map ? '}' : ']');
        return;
    }
    if (n->id != DUCKDB_TYPE_STRUCT) {
        write_json_scalar(out, n, row, offset);
        return;
    }
    bool first = true;
    buf_append_char(out, '{');
    for (idx_t i = 0; i < n->n_children; i++) {
        if (nested_is_null(&n->children[i], row)) continue;
        json_write_key(out, &first, n->names[i]);
        write_json(out, &n->children[i], row, offset);
    }
    buf_append_char(out, '}');
}

static void to_json(call *c, idx_t row) {
    const nested *n = call_nested(c, 0);
    if (!n) {
        call_raise(c, "OUT_OF_MEMORY", "53200", "Out of memory");
        return;
    }
    write_json(&c->text, n, row, call_i64(c, 1, row));
    ret_text(c, row);
}

static const call_def defs[] = {
    {"silt_json_path", json_path, "ss", 's', 0},
    {"silt_json_field", json_field, "ss", 's', 0},
    {"silt_json_array_length", json_array_length, "s", 'i', 0},
    {"silt_json_keys", json_keys, "s", 'S', 0},
    {"silt_check_json", check_json, "s", 's', CALL_RAISES},
    {"silt_json_compact", json_compact, "s", 's', 0},
    {"silt_json_schema", json_schema, "sb", 's', CALL_RAISES},
    {"silt_variant_text", variant_text, "s", 's', 0},
    {"silt_to_json", to_json, "*l", 's', 0},
};

const call_group calls_json = {defs, ARRAY_LEN(defs)};
