/*
 * The listing of a table's log over HTTP, which has none: the names of its files are known.
 *
 * Commits are numbered without a gap, so they are asked for one after the other (32 at once) until one is missing that lies behind the last checkpoint; the last checkpoint is
 * what _last_checkpoint says. Commits before it may have been cleaned up: those missing there are passed over. What is not found this way: older checkpoints, checksums and
 * compacted commits, which readers do without, at a cost. Cost: a request per commit from where the listing begins, a round trip per 32.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/uri.h"
#include "store/http/http_store.h"

#define AT_ONCE        32
#define COMMITS_MAX    20000
#define PARTS_MAX      10000
#define CHECKPOINT_MAX (16 << 20)

static silt_status refuse(const object_store *o, str dir, const char *why, silt_error *err) {
    silt_status status = err_UNSUPPORTED_FEATURE(err, "listing this folder over plain HTTP");
    error_detail(err, "%.*s%.*s: %s", STR_ARG(o->where), STR_ARG(dir), why);
    error_hint(err, "Read the table from the store that the server publishes, or from a copy.");
    return status;
}

/* ---- _last_checkpoint ---- */

static bool add_name(http_checkpoint *c, arena *a, str name) {
    return !str_is_null(name) && ARENA_PUSH(a, c->names, c->n_names, c->capacity, name);
}

bool http_checkpoint_parse(str json, arena *a, http_checkpoint *out) {
    const json_node *root;
    *out = (http_checkpoint){.version = -1};
    if (json_parse(json, a, &root, NULL) != SILT_OK || root->type != JSON_OBJECT) return false;
    int64_t version = json_get_i64(root, "version", -1), parts = json_get_i64(root, "parts", 0);
    str path = json_get_str(json_get(root, "v2Checkpoint"), "path", STR_NULL);
    if (version < 0 || parts < 0 || parts > PARTS_MAX) return false;
    if (path.len && str_find_char(path, '/') == SIZE_MAX && !add_name(out, a, path)) return false;
    if (!add_name(out, a, arena_printf(a, "%020lld.checkpoint.parquet", (long long)version))) return false;
    for (int64_t i = 1; i <= parts; i++)
        if (!add_name(out, a, arena_printf(a, "%020lld.checkpoint.%010lld.%010lld.parquet", (long long)version, (long long)i, (long long)parts))) return false;
    out->version = version;
    return true;
}

static silt_status read_checkpoint(object_store *o, str dir, arena *a, http_checkpoint *out, silt_error *err) {
    silt_error why = {0};
    buf text;
    str path = path_join(a, dir, STR("_last_checkpoint"));
    *out = (http_checkpoint){.version = -1};
    if (str_is_null(path)) return error_no_memory(err);
    buf_init(&text, CHECKPOINT_MAX);
    silt_status status = o->base.ops->read(&o->base, path, 0, -1, &text, &why);
    bool unreadable = status == SILT_OK && !http_checkpoint_parse(buf_str(&text), a, out);
    buf_dispose(&text);
    if (unreadable) *out = (http_checkpoint){.version = -1}; /* it is a hint: without it the log is asked for from where the listing begins */
    return status == SILT_OK || status == SILT_NOT_FOUND ? SILT_OK : object_copy_error(&why, err);
}

/* ---- asking for names ---- */

typedef struct asking {
    object_store *o;
    str dir;
    arena *a; /* of the result */
    store_list_result *out;
    bool found[AT_ONCE];
} asking;

static silt_status take_answer(asking *k, str name, const http_response *r, arena *a, bool *out_found, silt_error *err) {
    object_info info = {.key = STR_NULL};
    store_entry entry;
    *out_found = false;
    if (r->status == 404 || r->status == 410) return SILT_OK;
    str path = path_join(k->a, k->dir, name);
    if (str_is_null(path)) return error_no_memory(err);
    if (!http_is_ok(r)) return object_error_of(k->o, r, "Looking at", object_key(path), a, err);
    info.key = object_key(path);
    if (!http_info_parse(r, a, &info)) return object_bad_answer(k->o, "Looking at", "it does not tell the length (Content-Length)", err);
    TRY(object_entry(&info, k->a, &entry, err));
    *out_found = true;
    return ARENA_PUSH(k->a, k->out->items, k->out->count, k->out->capacity, entry) ? SILT_OK : error_no_memory(err);
}

/* Up to AT_ONCE names; k->found tells which were there. */
static silt_status ask(asking *k, const str *names, size_t n, arena *a, silt_error *err) {
    http_request requests[AT_ONCE];
    http_header headers[OBJECT_HEADERS];
    http_response answers[AT_ONCE];
    silt_status statuses[AT_ONCE];
    for (size_t i = 0; i < n; i++) {
        str path = path_join(a, k->dir, names[i]);
        if (str_is_null(path)) return error_no_memory(err);
        TRY(object_request_begin(k->o, OBJECT_STAT, object_key(path), headers, &requests[i], a, err));
        requests[i].repeatable = true;
    }
    TRY(object_send_many(k->o, requests, n, AT_ONCE, "Looking at", a, answers, statuses, err));
    for (size_t i = 0; i < n; i++) TRY(take_answer(k, names[i], &answers[i], a, &k->found[i], err));
    return SILT_OK;
}

static silt_status ask_all(asking *k, const str *names, size_t n, arena *a, silt_error *err) {
    for (size_t i = 0; i < n; i += AT_ONCE) {
        size_t some = n - i < AT_ONCE ? n - i : AT_ONCE;
        TRY(ask(k, names + i, some, a, err));
    }
    return SILT_OK;
}

static silt_status commit_name(int64_t version, arena *a, str *out, silt_error *err) {
    *out = arena_printf(a, "%020lld.json", (long long)version);
    return str_is_null(*out) ? error_no_memory(err) : SILT_OK;
}

/* What was found behind the first missing commit is not part of the log. */
static silt_status drop_rest(asking *k, size_t i, size_t n) {
    for (; i < n; i++) k->out->count -= k->found[i];
    return SILT_OK;
}

/* Few at first where nothing is expected: a table that is looked at again and again has mostly nothing new. */
static silt_status ask_commits(asking *k, int64_t from, int64_t last_checkpoint, arena *a, silt_error *err) {
    size_t n = from > last_checkpoint ? 1 : AT_ONCE;
    for (;;) {
        str names[AT_ONCE];
        arena_reset(a);
        for (size_t i = 0; i < n; i++) TRY(commit_name(from + (int64_t)i, a, &names[i], err));
        TRY(ask(k, names, n, a, err));
        for (size_t i = 0; i < n; i++)
            if (!k->found[i] && from + (int64_t)i > last_checkpoint) return drop_rest(k, i, n);
        from += (int64_t)n;
        if (n < AT_ONCE) n *= 2;
    }
}

static int compare_entries(const void *x, const void *y) { return str_cmp(((const store_entry *)x)->path, ((const store_entry *)y)->path); }

/* "00000000000000000012" and what may follow; 0 where it is no version. */
static int64_t first_version(str start_at) {
    int64_t version;
    return start_at.len >= 20 && str_to_i64(str_slice(start_at, 0, 20), &version) && version >= 0 ? version : 0;
}

static silt_status list_log(asking *k, str start_at, arena *a, silt_error *err) {
    int64_t from = first_version(start_at);
    http_checkpoint c;
    arena *batch = arena_new();
    silt_status status = batch ? read_checkpoint(k->o, k->dir, a, &c, err) : error_no_memory(err);
    if (status == SILT_OK && c.version - from > COMMITS_MAX) status = refuse(k->o, k->dir, "the log has too many commits to be asked for one by one", err);
    if (status == SILT_OK && c.version >= from) status = ask_all(k, c.names, c.n_names, a, err);
    if (status == SILT_OK) status = ask_commits(k, from, c.version, batch, err);
    arena_free(batch);
    if (status != SILT_OK) return status;
    store_list_result *out = k->out;
    if (out->count > 1) qsort(out->items, out->count, sizeof *out->items, compare_entries);
    size_t n = 0;
    for (size_t i = 0; i < out->count; i++)
        if (str_is_null(start_at) || str_cmp(path_name(out->items[i].path), start_at) >= 0) out->items[n++] = out->items[i];
    bool exists = out->count > 0 || c.version >= 0;
    out->count = n;
    return exists || from > 0 ? SILT_OK : store_path_error(&k->o->base, k->dir, err_FILE_NOT_FOUND, err);
}

silt_status http_log_list(store *s, str dir, str start_at, bool recursive, arena *a, store_list_result *out, silt_error *err) {
    asking k = {.o = (object_store *)s, .dir = dir, .a = a, .out = out};
    if (recursive || !str_eqz(path_name(dir), "_delta_log")) return refuse(k.o, dir, "only the log of a Delta table can be, because the names of its files are known", err);
    arena *scratch = arena_new();
    silt_status status = scratch ? list_log(&k, start_at, scratch, err) : error_no_memory(err);
    arena_free(scratch);
    return status;
}
