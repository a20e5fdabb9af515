/*
 * _last_checkpoint with its checksum: the MD5 of the canonical form, which lists every scalar with its path, sorted by path, strings percent-encoded
 * (PROTOCOL.md "JSON checksum").
 */
#include "delta/last_checkpoint.h"

#include <stdlib.h>

#include "base/ident.h"
#include "base/json.h"
#include "delta/log_path.h"

#define MAX_SCHEMA_TEXT 20000 /* a longer checkpointSchema is left out, as Delta does */

/* ---- the canonical form ---- */

typedef struct leaf {
    str path, text;
} leaf;

typedef struct leaves {
    arena *arena;
    leaf *items;
    size_t count, capacity;
} leaves;

static bool is_unreserved(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~';
}

/* "text", percent-encoded between the quotes; {NULL,0} on exhaustion. */
static str encoded(str s, arena *mem) {
    static const char hex[] = "0123456789ABCDEF";
    if (s.len > (SIZE_MAX - 3) / 3) return STR_NULL;
    char *out = arena_alloc(mem, s.len * 3 + 3);
    if (!out) return STR_NULL;
    size_t n = 0;
    out[n++] = '"';
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if (is_unreserved((char)c)) {
            out[n++] = (char)c;
            continue;
        }
        out[n++] = '%';
        out[n++] = hex[c >> 4];
        out[n++] = hex[c & 15];
    }
    out[n++] = '"';
    return (str){out, n};
}

static str below(str path, str name, arena *mem) {
    return path.len ? arena_printf(mem, "%.*s+%.*s", STR_ARG(path), STR_ARG(name)) : name;
}

static str scalar(const json_node *node, arena *mem) {
    switch (node->type) {
        case JSON_STRING: return encoded(node->text, mem);
        case JSON_NUMBER: return node->text;
        case JSON_BOOL: return node->boolean ? STR("true") : STR("false");
        default: return STR("null");
    }
}

static silt_status collect(leaves *l, const json_node *node, str path, bool is_top, silt_error *err) {
    bool is_object = node->type == JSON_OBJECT;
    if (!is_object && node->type != JSON_ARRAY) {
        leaf item = {path, scalar(node, l->arena)};
        if (str_is_null(item.text)) return error_no_memory(err);
        return ARENA_PUSH(l->arena, l->items, l->count, l->capacity, item) ? SILT_OK : error_no_memory(err);
    }
    for (size_t i = 0; i < node->count; i++) {
        if (is_top && is_object && str_eqz(node->keys[i], "checksum")) continue;
        str name = is_object ? encoded(node->keys[i], l->arena) : arena_printf(l->arena, "%zu", i);
        str path_below = str_is_null(name) ? STR_NULL : below(path, name, l->arena);
        if (str_is_null(path_below)) return error_no_memory(err);
        TRY(collect(l, &node->values[i], path_below, false, err));
    }
    return SILT_OK;
}

static int by_path(const void *a, const void *b) { return str_cmp(((const leaf *)a)->path, ((const leaf *)b)->path); }

silt_status last_checkpoint_canonical(const json_node *object, buf *out, silt_error *err) {
    leaves l = {.arena = arena_new()};
    if (!l.arena) return error_no_memory(err);
    silt_status status = collect(&l, object, STR(""), true, err);
    if (status == SILT_OK && l.count) qsort(l.items, l.count, sizeof *l.items, by_path);
    for (size_t i = 0; status == SILT_OK && i < l.count; i++) {
        if (i) buf_append_char(out, ',');
        buf_append(out, l.items[i].path);
        buf_append_char(out, '=');
        buf_append(out, l.items[i].text);
    }
    arena_free(l.arena);
    if (status == SILT_OK && !buf_ok(out)) return error_no_memory(err);
    return status;
}

static silt_status checksum_of(str json, char out[33], silt_error *err) {
    buf canonical;
    const json_node *root;
    arena *scratch = arena_new();
    if (!scratch) return error_no_memory(err);
    buf_init(&canonical, BUF_MAX_DEFAULT);
    silt_status status = json_parse(json, scratch, &root, err);
    if (status == SILT_OK) status = last_checkpoint_canonical(root, &canonical, err);
    if (status == SILT_OK) md5_hex(buf_str(&canonical).ptr, canonical.len, out);
    buf_dispose(&canonical);
    arena_free(scratch);
    return status;
}

/* ---- the file ---- */

static void key_i64(buf *out, bool *first, const char *key, int64_t number) {
    json_write_key(out, first, key);
    json_write_i64(out, number);
}

static void write_schema(buf *out, bool *first, const data_type *schema) {
    buf text;
    buf_init(&text, BUF_MAX_DEFAULT);
    if (schema) schema_write_json(&text, schema);
    if (schema && buf_ok(&text) && text.len <= MAX_SCHEMA_TEXT) {
        json_write_key(out, first, "checkpointSchema");
        buf_append(out, buf_str(&text));
    }
    buf_dispose(&text);
}

/* Everything but the checksum and the closing brace. */
static void write_body(buf *out, const last_checkpoint *c) {
    bool first = true;
    buf_append_char(out, '{');
    key_i64(out, &first, "version", c->version);
    key_i64(out, &first, "size", c->n_actions);
    key_i64(out, &first, "sizeInBytes", c->size_bytes);
    key_i64(out, &first, "numOfAddFiles", c->n_adds);
    write_schema(out, &first, c->schema);
    if (!str_is_null(c->v2_checkpoint)) {
        json_write_key(out, &first, "v2Checkpoint");
        buf_append(out, c->v2_checkpoint);
    }
}

static silt_status write_text(buf *out, const last_checkpoint *c, silt_error *err) {
    char checksum[33];
    write_body(out, c);
    buf_append_char(out, '}');
    if (!buf_ok(out)) return error_no_memory(err);
    TRY(checksum_of(buf_str(out), checksum, err));
    out->len--;
    buf_printf(out, ",\"checksum\":\"%s\"}", checksum);
    return buf_ok(out) ? SILT_OK : error_no_memory(err);
}

/* Version of the hint that is there, -1 when there is none or it cannot be read. */
static int64_t version_there(const delta_env *env, str path, arena *scratch) {
    buf text;
    const json_node *root = NULL;
    int64_t version = -1;
    buf_init(&text, 64 << 20);
    if (store_read(env->store, path, 0, -1, &text, NULL) == SILT_OK && json_parse(buf_str(&text), scratch, &root, NULL) == SILT_OK)
        version = json_get_i64(root, "version", -1);
    buf_dispose(&text);
    return version;
}

silt_status last_checkpoint_write(const delta_env *env, str root, const last_checkpoint *c, silt_error *err) {
    buf text;
    arena *scratch = arena_new();
    if (!scratch) return error_no_memory(err);
    buf_init(&text, BUF_MAX_DEFAULT);
    str path = log_path_last_checkpoint(root, scratch);
    silt_status status = str_is_null(path) ? error_no_memory(err) : SILT_OK;
    if (status == SILT_OK && version_there(env, path, scratch) <= c->version) {
        status = write_text(&text, c, err);
        if (status == SILT_OK) status = store_put(env->store, path, buf_str(&text), STORE_PUT_REPLACE, err);
    }
    buf_dispose(&text);
    arena_free(scratch);
    return status;
}
