/*
 * A commit file: any bytes. The bulk parser must agree with the tree parser: where both read a single action, they see the same
 * paths, sizes and vectors, and what the bulk parser takes can be walked through.
 */
#include <stdlib.h>

#include "delta/action_json.h"
#include "delta/json_walk.h"
#include "delta/log_door.h"
#include "delta/log_parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool claim) {
    if (!claim) abort();
}

static bool has_twice(const json_node *o, const char *key) {
    size_t n = 0;
    for (size_t i = 0; o && o->type == JSON_OBJECT && i < o->count; i++) n += str_eqz(o->keys[i], key);
    return n > 1;
}

/* One document that is one action: compare the row with the tree. */
static void compare(const file_batch *b, const json_node *root) {
    const json_node *add = json_get(root, "add"), *path = json_get(add, "path");
    int64_t size;
    if (root->type != JSON_OBJECT || root->count != 1 || !add || add->type != JSON_OBJECT) return;
    must(b->n_rows == 1 && !file_row_is_remove(&b->rows[0]));
    delta_add got;
    file_batch_get_add(b, 0, &got);
    must(path && path->type == JSON_STRING);
    if (!has_twice(add, "path")) must(str_eq(path->text, got.path));
    const json_node *bytes = json_get(add, "size");
    if (bytes && !has_twice(add, "size") && json_node_i64(bytes, &size)) must(size == got.size_bytes);
    const json_node *map = json_get(add, "partitionValues");
    if (map && map->type == JSON_OBJECT && !has_twice(add, "partitionValues")) {
        must(map->count == got.partition_values.count);
        for (size_t i = 0; i < map->count; i++) must(str_eq(map->keys[i], got.partition_values.keys[i]));
    }
    const json_node *dv = json_get(add, "deletionVector");
    if (!has_twice(add, "deletionVector")) must((dv && dv->type == JSON_OBJECT) == (got.dv.storage != 0));
}

static void walk_rare(const raw_actions *actions, arena *a) {
    delta_protocol p;
    delta_metadata m;
    delta_txn_id t;
    delta_domain d;
    delta_cdc c;
    silt_status status = SILT_OK;
    for (size_t i = 0; i < actions->count; i++) {
        str text = actions->items[i].text;
        if (actions->items[i].kind == ACTION_PROTOCOL) status = action_parse_protocol(text, a, &p, NULL);
        if (actions->items[i].kind == ACTION_METADATA) status = action_parse_metadata(text, a, &m, NULL);
        if (actions->items[i].kind == ACTION_TXN) status = action_parse_txn(text, a, &t, NULL);
        if (actions->items[i].kind == ACTION_DOMAIN) status = action_parse_domain(text, a, &d, NULL);
        if (actions->items[i].kind == ACTION_CDC) status = action_parse_cdc(text, a, &c, NULL);
        must(status != SILT_INTERNAL);
    }
}

static void walk_files(const file_batch *b, const char *text) {
    buf plain;
    buf_init(&plain, BUF_MAX_DEFAULT);
    for (uint32_t i = 0; i < b->n_rows; i++) {
        delta_add add;
        delta_remove remove;
        file_batch_get_add(b, i, &add);
        file_batch_get_remove(b, i, &remove);
        must(add.path.len > 0 && file_batch_source(b, i) == &b->sources[0]);
        must(file_batch_same_file(b, i, b, i) && b->keys[i] == file_key(add.path, &add.dv));
        const file_row *r = &b->rows[i];
        if (!(r->flags & ROW_HAS_STATS)) continue;
        must(text[r->stats_offset] == '"' && text[r->stats_offset + r->stats_len - 1] == '"');
        buf_clear(&plain);
        json_raw_unescape((str){text + r->stats_offset + 1, r->stats_len - 2}, &plain);
    }
    buf_dispose(&plain);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    arena *a = arena_new();
    log_parser *p = log_parser_new();
    file_batch *b = file_batch_new();
    raw_actions actions = {0};
    char *text = calloc(1, size + LOG_DOOR_PADDING);
    size_t bad;
    silt_error err = {0};
    must(a && p && b && text && file_batch_add_source(b, STR("/0.json"), 0, false));
    if (size) memcpy(text, data, size);
    log_piece piece = {.path = STR("/0.json"), .to = -1, .want_commit_info = true, .want_cdc = true};
    silt_status status = log_parse_text(p, text, size, &piece, 0, b, &actions, a, &bad, &err);
    must(status == SILT_OK || (status == SILT_CORRUPT && err.detail[0] && bad <= size));
    if (status == SILT_OK) {
        const json_node *root;
        walk_files(b, text);
        walk_rare(&actions, a);
        if (json_parse((str){text, size}, a, &root, NULL) == SILT_OK) compare(b, root);
    }
    file_batch_release(b);
    log_parser_free(p);
    arena_free(a);
    free(text);
    return 0;
}
