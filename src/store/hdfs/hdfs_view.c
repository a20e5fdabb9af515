/*
 * viewfs: a tree of names whose branches lie on several HDFS clusters, as fs.viewfs.mounttable.<name>.link.<path> in Hadoop's configuration files or the session's settings says. A store in front of others: each path goes
 * to the store of the longest link that it is below, and what that store says of its paths is said of these. linkFallback and linkMergeSlash are links of "/".
 *
 * Links may lead to hdfs, webhdfs and swebhdfs; others are refused by name. What is above the links is folders that cannot be changed.
 */
#include <stdlib.h>

#include "base/uri.h"
#include "store/hdfs/hdfs.h"

#define LINKS_MAX 256

typedef struct view_link {
    str path;      /* "/data"; "" for "/" */
    str target;    /* path in the store; "" for its root */
    store *store;
    str authority; /* with its scheme: links of one share a store */
} view_link;

typedef struct view_store {
    store base;
    arena *a;
    str name; /* of the mount table */
    view_link links[LINKS_MAX];
    size_t n_links;
} view_store;

/* ---- paths ---- */

static bool is_below(str path, str dir) { return str_starts_with(path, dir) && (path.len == dir.len || path.ptr[dir.len] == '/'); }

static const view_link *find_link(const view_store *v, str path) {
    const view_link *best = NULL;
    for (size_t i = 0; i < v->n_links; i++)
        if (is_below(path, v->links[i].path) && (!best || v->links[i].path.len > best->path.len)) best = &v->links[i];
    return best;
}

static str in_store(const view_link *l, str path, arena *a) {
    str rest = str_slice(path, l->path.len, path.len);
    if (str_eqz(rest, "/") && l->target.len > 0) rest = STR("");
    str inner = arena_printf(a, "%.*s%.*s", STR_ARG(l->target), STR_ARG(rest));
    return inner.len == 0 && !str_is_null(inner) ? STR("/") : inner;
}

static str in_view(const view_link *l, str path, arena *a) {
    size_t skip = l->target.len < path.len ? l->target.len : path.len;
    return arena_printf(a, "%.*s%.*s", STR_ARG(l->path), (int)(path.len - skip), path.ptr + skip);
}

/* Is it a folder that leads to links? */
static bool is_above(const view_store *v, str path) {
    if (path.len == 1) path.len = 0;
    for (size_t i = 0; i < v->n_links; i++)
        if (v->links[i].path.len > path.len && is_below(v->links[i].path, path)) return true;
    return false;
}

/* ---- one call ---- */

typedef struct where {
    const view_link *link;
    str path; /* in its store */
} where;

typedef enum intent { LOOK, CHANGE } intent;

static silt_status leads_nowhere(const view_store *v, str path, intent why, silt_error *err) {
    silt_status status = store_path_error(&v->base, path, why == CHANGE ? err_PERMISSION_DENIED : err_FILE_NOT_FOUND, err);
    error_detail(err, "No link of the viewfs mount table %.*s leads there.", STR_ARG(v->name));
    return status;
}

static silt_status locate(const view_store *v, str path, intent why, arena *a, where *out, silt_error *err) {
    out->link = find_link(v, path);
    if (!out->link) return leads_nowhere(v, path, why, err);
    out->path = in_store(out->link, path, a);
    return str_is_null(out->path) ? error_no_memory(err) : SILT_OK;
}

/* Runs `call`, which sees w.link->store and w.path. */
#define FORWARD(s, path_, why, call)                                                              \
    arena *scratch = arena_new();                                                                 \
    where w;                                                                                      \
    silt_status status = scratch ? locate((const view_store *)(s), path_, why, scratch, &w, err) \
                                 : error_no_memory(err);                                          \
    if (status == SILT_OK) status = (call);                                                       \
    arena_free(scratch);                                                                          \
    return status

static silt_status view_read(store *s, str path, int64_t offset, int64_t length, buf *out, silt_error *err) {
    FORWARD(s, path, LOOK, store_read(w.link->store, w.path, offset, length, out, err));
}
static silt_status view_put(store *s, str path, str bytes, store_put_mode mode, silt_error *err) {
    FORWARD(s, path, CHANGE, store_put(w.link->store, w.path, bytes, mode, err));
}
static silt_status view_remove(store *s, str path, silt_error *err) { FORWARD(s, path, CHANGE, store_remove(w.link->store, w.path, err)); }
static silt_status view_make_dirs(store *s, str dir, silt_error *err) { FORWARD(s, dir, CHANGE, store_make_dirs(w.link->store, w.path, err)); }
static silt_status view_remove_dir(store *s, str dir, silt_error *err) { FORWARD(s, dir, CHANGE, store_remove_dir(w.link->store, w.path, err)); }
static silt_status view_local_read_path(store *s, str path, arena *a, str *out, silt_error *err) {
    FORWARD(s, path, LOOK, store_local_read_path(w.link->store, w.path, a, out, err));
}
static silt_status view_write_begin(store *s, str path, arena *a, str *out_local, silt_error *err) {
    FORWARD(s, path, CHANGE, store_write_begin(w.link->store, w.path, a, out_local, err));
}
static silt_status view_write_finish(store *s, str path, str local, silt_error *err) {
    FORWARD(s, path, CHANGE, store_write_finish(w.link->store, w.path, local, err));
}
static silt_status view_walk(store *s, str dir, const store_walker *walker, silt_error *err) { FORWARD(s, dir, LOOK, store_walk(w.link->store, w.path, walker, err)); }
static silt_status view_remove_below(store *s, str dir, const str *names, size_t n, silt_status *out, silt_error *err) {
    FORWARD(s, dir, CHANGE, store_remove_below(w.link->store, w.path, names, n, out, err));
}

static void view_write_abort(store *s, str path, str local) {
    arena *a = arena_new();
    where w;
    if (a && locate((const view_store *)s, path, CHANGE, a, &w, NULL) == SILT_OK) store_write_abort(w.link->store, w.path, local);
    arena_free(a);
}

/* The files of one commit lie below one link, as their table does. */
static silt_status finish_below(const view_link *l, const str *paths, const str *locals, size_t n, arena *a, silt_error *err) {
    str *inner = ARENA_ARRAY(a, n, str);
    if (!inner) return error_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        inner[i] = in_store(l, paths[i], a);
        if (str_is_null(inner[i])) return error_no_memory(err);
    }
    return store_write_finish_many(l->store, inner, locals, n, err);
}

static silt_status view_write_finish_many(store *s, const str *paths, const str *locals, size_t n, silt_error *err) {
    const view_store *v = (const view_store *)s;
    const view_link *l = n ? find_link(v, paths[0]) : NULL;
    for (size_t i = 0; i < n; i++)
        if (!l || find_link(v, paths[i]) != l) {
            for (size_t k = 0; k < n; k++) TRY(view_write_finish(s, paths[k], locals[k], err));
            return SILT_OK;
        }
    if (n == 0) return SILT_OK;
    arena *a = arena_new();
    silt_status status = a ? finish_below(l, paths, locals, n, a, err) : error_no_memory(err);
    arena_free(a);
    return status;
}

static silt_status move_within(const view_store *v, str from, str to, arena *a, silt_error *err) {
    where old, new;
    TRY(locate(v, from, CHANGE, a, &old, err));
    TRY(locate(v, to, CHANGE, a, &new, err));
    if (old.link->store == new.link->store) return store_move_dir(old.link->store, old.path, new.path, err);
    return err_UNSUPPORTED_FEATURE(err, "moving a folder from one link of viewfs to another's file system");
}

static silt_status view_move_dir(store *s, str from, str to, silt_error *err) {
    arena *a = arena_new();
    silt_status status = a ? move_within((const view_store *)s, from, to, a, err) : error_no_memory(err);
    arena_free(a);
    return status;
}

/* ---- what names paths in its answer ---- */

static silt_status view_stat(store *s, str path, arena *a, store_entry *out, silt_error *err) {
    const view_store *v = (const view_store *)s;
    where w;
    if (!find_link(v, path) && is_above(v, path)) {
        *out = (store_entry){.path = arena_str(a, path), .is_dir = true, .tag = STR_NULL};
        return str_is_null(out->path) ? error_no_memory(err) : SILT_OK;
    }
    TRY(locate(v, path, LOOK, a, &w, err));
    TRY(store_stat(w.link->store, w.path, a, out, err));
    out->path = arena_str(a, path);
    return str_is_null(out->path) ? error_no_memory(err) : SILT_OK;
}

static bool holds(const store_list_result *list, str path) {
    for (size_t i = 0; i < list->count; i++)
        if (str_eq(list->items[i].path, path)) return true;
    return false;
}

static int compare_entries(const void *x, const void *y) { return str_cmp(((const store_entry *)x)->path, ((const store_entry *)y)->path); }

/* The next names towards the links below `dir`. */
static silt_status list_above(const view_store *v, str dir, str start_at, arena *a, store_list_result *out, silt_error *err) {
    size_t skip = dir.len == 1 ? 1 : dir.len + 1;
    for (size_t i = 0; i < v->n_links; i++) {
        str path = v->links[i].path;
        if (path.len < skip || !is_below(path, dir.len == 1 ? STR("") : dir)) continue;
        size_t slash = str_find_char(str_slice(path, skip, path.len), '/');
        if (slash != SIZE_MAX) path.len = skip + slash;
        if (holds(out, path) || (!str_is_null(start_at) && str_cmp(path_name(path), start_at) < 0)) continue;
        if (!ARENA_PUSH(a, out->items, out->count, out->capacity, ((store_entry){.path = path, .is_dir = true, .tag = STR_NULL}))) return error_no_memory(err);
    }
    if (out->count > 1) qsort(out->items, out->count, sizeof *out->items, compare_entries);
    return SILT_OK;
}

static silt_status view_list(store *s, str dir, str start_at, bool recursive, arena *a, store_list_result *out, silt_error *err) {
    const view_store *v = (const view_store *)s;
    where w;
    if (!find_link(v, dir) && is_above(v, dir)) return recursive ? err_UNSUPPORTED_FEATURE(err, "listing what is above the links of viewfs") : list_above(v, dir, start_at, a, out, err);
    TRY(locate(v, dir, LOOK, a, &w, err));
    TRY(store_list(w.link->store, w.path, start_at, recursive, a, out, err));
    for (size_t i = 0; i < out->count; i++) {
        out->items[i].path = in_view(w.link, out->items[i].path, a);
        if (str_is_null(out->items[i].path)) return error_no_memory(err);
    }
    return SILT_OK;
}

static void view_identity(store *s, buf *out) {
    const view_store *v = (const view_store *)s;
    buf_append_z(out, "viewfs");
    for (size_t i = 0; i < v->n_links; i++) {
        buf_printf(out, " %.*s=%.*s in ", STR_ARG(v->links[i].path), STR_ARG(v->links[i].target));
        v->links[i].store->ops->identity(v->links[i].store, out);
    }
}

static bool is_first_of_its_store(const view_store *v, size_t link) {
    for (size_t i = 0; i < link; i++)
        if (v->links[i].store == v->links[link].store) return false;
    return true;
}

static void view_close(store *s) {
    view_store *v = (view_store *)s;
    for (size_t i = 0; i < v->n_links; i++)
        if (is_first_of_its_store(v, i)) store_close(v->links[i].store);
    arena_free(v->a);
    free(v);
}

static const store_ops view_ops = {
    .name = "viewfs",
    .close = view_close,
    .read = view_read,
    .stat = view_stat,
    .put = view_put,
    .list = view_list,
    .remove = view_remove,
    .make_dirs = view_make_dirs,
    .remove_dir = view_remove_dir,
    .local_read_path = view_local_read_path,
    .write_begin = view_write_begin,
    .write_finish = view_write_finish,
    .write_abort = view_write_abort,
    .write_finish_many = view_write_finish_many,
    .move_dir = view_move_dir,
    .walk = view_walk,
    .remove_below = view_remove_below,
    .parallel = 32,
    .identity = view_identity,
};

/* ---- opening ---- */

static silt_status open_target(view_store *v, const uri *target, const store_settings *settings, view_link *link, silt_error *err) {
    static const struct { const char *scheme; store_open_fn open; } back_ends[] = {
        {"hdfs", store_hdfs_open}, {"webhdfs", store_webhdfs_open}, {"swebhdfs", store_swebhdfs_open}};
    link->authority = arena_printf(v->a, "%.*s://%.*s", STR_ARG(target->scheme), STR_ARG(target->authority));
    if (str_is_null(link->authority)) return error_no_memory(err);
    for (size_t i = 0; i < v->n_links; i++)
        if (str_eq(v->links[i].authority, link->authority)) return link->store = v->links[i].store, SILT_OK;
    for (size_t i = 0; i < ARRAY_LEN(back_ends); i++) {
        if (!str_eqz(target->scheme, back_ends[i].scheme)) continue;
        TRY(back_ends[i].open(target->authority, (void *)(uintptr_t)settings, &link->store, err));
        link->store->uri_prefix = link->authority.ptr; /* its errors name the file where it lies */
        return SILT_OK;
    }
    str what = arena_printf(v->a, "links of viewfs that lead to %.*s:", STR_ARG(target->scheme));
    return str_is_null(what) ? error_no_memory(err) : err_UNSUPPORTED_FEATURE(err, what.ptr);
}

static str without_slashes(str path) {
    while (path.len > 0 && path.ptr[path.len - 1] == '/') path.len--;
    return path;
}

static silt_status add_link(view_store *v, str path, str target, const store_settings *settings, silt_error *err) {
    uri parsed;
    if (v->n_links == LINKS_MAX) return err_INVALID_PARAMETER_VALUE(err, STR("fs.viewfs.mounttable"), v->name, "at most 256 links");
    if (path.len > 0 && path.ptr[0] != '/') return err_INVALID_PARAMETER_VALUE(err, STR("fs.viewfs.mounttable"), path, "links of absolute paths");
    TRY(uri_parse(target, v->a, &parsed, err));
    view_link link = {.path = without_slashes(path), .target = without_slashes(parsed.path)};
    TRY(open_target(v, &parsed, settings, &link, err));
    v->links[v->n_links++] = link;
    return SILT_OK;
}

/* Links of the session's settings, beside those of the files. Where both have one, hdfs_conf_get takes the session's. */
typedef struct adding {
    hdfs_conf *c;
    arena *a;
    str prefix;
    bool no_memory;
} adding;

static void add_setting(void *ctx, str key, str value) {
    adding *x = ctx;
    if (str_starts_with(key, STR("spark.hadoop."))) key = str_slice(key, 13, key.len);
    if (!str_starts_with(key, x->prefix)) return;
    for (size_t i = 0; i < x->c->count; i++)
        if (str_eq(x->c->items[i].name, key)) return;
    hdfs_property p = {.name = arena_str(x->a, key), .value = arena_str(x->a, value)};
    if (str_is_null(p.name) || str_is_null(p.value) || !ARENA_PUSH(x->a, x->c->items, x->c->count, x->c->capacity, p)) x->no_memory = true;
}

static silt_status read_table(view_store *v, const store_settings *settings, silt_error *err) {
    hdfs_conf c;
    TRY(hdfs_conf_load(settings, NULL, v->a, &c, err));
    str prefix = arena_printf(v->a, "fs.viewfs.mounttable.%.*s.", STR_ARG(v->name));
    adding add = {&c, v->a, prefix, false};
    if (str_is_null(prefix)) return error_no_memory(err);
    if (settings && settings->each) settings->each(settings->ctx, add_setting, &add);
    if (add.no_memory) return error_no_memory(err);
    for (size_t i = 0; i < c.count; i++) {
        if (!str_starts_with(c.items[i].name, prefix)) continue;
        str key = str_slice(c.items[i].name, prefix.len, c.items[i].name.len), target = hdfs_conf_get(&c, arena_cstr(v->a, c.items[i].name));
        bool is_root = str_eqz(key, "linkFallback") || str_starts_with(key, STR("linkMergeSlash"));
        if (is_root) TRY(add_link(v, STR(""), target, settings, err));
        else if (str_starts_with(key, STR("link./"))) TRY(add_link(v, str_slice(key, 5, key.len), target, settings, err));
        else if (str_starts_with(key, STR("linkMerge.")) || str_starts_with(key, STR("linkNfly")) || str_starts_with(key, STR("linkRegex")))
            return err_UNSUPPORTED_FEATURE(err, "linkMerge, linkNfly and linkRegex of viewfs");
    }
    if (v->n_links > 0) return SILT_OK;
    return err_INVALID_PARAMETER_VALUE(err, STR("fs.viewfs.mounttable"), v->name, "the name of a mount table of Hadoop's configuration files (HADOOP_CONF_DIR) or of the settings");
}

silt_status store_viewfs_open(str authority, void *config, store **out, silt_error *err) {
    view_store *v = calloc(1, sizeof *v);
    if (!v) return error_no_memory(err);
    v->base.ops = &view_ops;
    v->a = arena_new();
    v->name = v->a ? arena_str(v->a, authority.len ? authority : STR("default")) : STR_NULL;
    silt_status status = str_is_null(v->name) ? error_no_memory(err) : read_table(v, config, err);
    if (status == SILT_OK) *out = &v->base;
    else view_close(&v->base);
    return status;
}
