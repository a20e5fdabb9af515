/* Files in a store by location: a file, a folder, or a pattern, whose folders without special characters are what is listed. */
#include <fnmatch.h>

#include "base/uri.h"
#include "engine/source_list.h"

static const char special[] = "*?[{";

static bool is_pattern(str path) {
    for (size_t i = 0; i < path.len; i++)
        if (path.ptr[i] && strchr(special, path.ptr[i])) return true;
    return false;
}

/* Such files may be written anew under their names: where the store has no tag, their times tell. */
static silt_status add(source_walk *w, store *s, const store_entry *e) {
    str tag = str_is_null(e->tag) ? arena_printf(w->a, "%lld", (long long)e->modified_ms) : e->tag;
    if (str_is_null(tag)) return error_no_memory(w->err);
    return source_add_file(w, (listed_file){.path = e->path, .local = STR_NULL, .store = s, .tag = tag, .size_bytes = e->size_bytes, .modified_ms = e->modified_ms});
}

/* Hidden files and what is in hidden folders below the walked one are passed over. */
static bool is_shown(str below) {
    str piece;
    while (str_next(&below, '/', &piece))
        if (source_is_hidden(piece)) return false;
    return true;
}

static silt_status add_below(source_walk *w, store *s, str folder) {
    store_list_result found;
    size_t skip = folder.len == 1 ? 1 : folder.len + 1;
    w->base = folder;
    TRY(store_list(s, folder, STR_NULL, true, w->a, &found, w->err));
    for (size_t i = 0; i < found.count; i++)
        if (found.items[i].path.len > skip && is_shown(str_slice(found.items[i].path, skip, found.items[i].path.len))) TRY(add(w, s, &found.items[i]));
    return SILT_OK;
}

static silt_status not_found(source_walk *w, silt_status status, str location) { return status == SILT_NOT_FOUND ? err_PATH_NOT_FOUND(w->err, location) : status; }

static silt_status add_path(source_walk *w, store *s, str path, str location) {
    store_entry e;
    silt_error why = {.status = SILT_OK};
    silt_status status = path.len == 1 ? SILT_NOT_FOUND : store_stat(s, path, w->a, &e, &why);
    if (status == SILT_OK && !e.is_dir) {
        w->base = path_parent(path);
        return add(w, s, &e);
    }
    if (status != SILT_OK && status != SILT_NOT_FOUND) {
        if (w->err) *w->err = why;
        return status;
    }
    size_t before = w->list->n_files; /* a folder of an object store is not there itself */
    TRY(not_found(w, add_below(w, s, path), location));
    return w->list->n_files == before && status == SILT_NOT_FOUND ? err_PATH_NOT_FOUND(w->err, location) : SILT_OK;
}

/* {a,b} is fnmatch's in no form: one pattern for each. */
static silt_status spread(arena *a, str pattern, str **out, size_t *n, size_t *capacity, silt_error *err) {
    size_t open = str_find_char(pattern, '{'), close = open == SIZE_MAX ? SIZE_MAX : open + str_find_char(str_slice(pattern, open, pattern.len), '}');
    if (open == SIZE_MAX || close >= pattern.len || *n > 1000) return ARENA_PUSH(a, *out, *n, *capacity, pattern) ? SILT_OK : error_no_memory(err);
    str choices = str_slice(pattern, open + 1, close), choice;
    while (str_next(&choices, ',', &choice)) {
        str one = arena_printf(a, "%.*s%.*s%.*s", (int)open, pattern.ptr, STR_ARG(choice), (int)(pattern.len - close - 1), pattern.ptr + close + 1);
        if (!one.ptr) return error_no_memory(err);
        TRY(spread(a, one, out, n, capacity, err));
    }
    return SILT_OK;
}

/* The match is the path itself or one of its folders: then all below it belongs to it, and its own folders may be partitions. */
static bool matches(const str *patterns, size_t n, str path, str *out_base) {
    char text[4096];
    if (path.len >= sizeof text) return false;
    for (size_t end = path.len; end != SIZE_MAX && end > 0; end = str_rfind_char(str_slice(path, 0, end), '/')) {
        memcpy(text, path.ptr, end);
        text[end] = '\0';
        for (size_t i = 0; i < n; i++)
            if (fnmatch(patterns[i].ptr, text, FNM_PATHNAME | FNM_PERIOD) == 0) {
                *out_base = end == path.len ? path_parent(path) : str_slice(path, 0, end);
                return true;
            }
    }
    return false;
}

static silt_status add_matches(source_walk *w, store *s, str path, str location) {
    size_t stop = 0, n = 0, capacity = 0, before = w->list->n_files;
    while (!strchr(special, path.ptr[stop])) stop++;
    str folder = str_slice(path, 0, str_rfind_char(str_slice(path, 0, stop), '/')), *patterns = NULL;
    if (folder.len == 0) folder = STR("/");
    store_list_result found;
    TRY(spread(w->a, path, &patterns, &n, &capacity, w->err));
    TRY(not_found(w, store_list(s, folder, STR_NULL, true, w->a, &found, w->err), location));
    for (size_t i = 0; i < found.count; i++) {
        str base;
        const store_entry *e = &found.items[i];
        if (!matches(patterns, n, e->path, &base) || !is_shown(str_slice(e->path, base.len == 1 ? 1 : base.len + 1, e->path.len))) continue;
        w->base = base;
        TRY(add(w, s, e));
    }
    return w->list->n_files > before ? SILT_OK : err_PATH_NOT_FOUND(w->err, location);
}

silt_status source_list_remote(source_walk *w, store_registry *stores, str location) {
    store *s;
    str path;
    TRY(store_registry_find(stores, location, w->a, &s, &path, w->err));
    while (path.len > 1 && path.ptr[path.len - 1] == '/') path.len--;
    path = arena_str(w->a, path);
    if (!path.ptr) return error_no_memory(w->err);
    return is_pattern(path) ? add_matches(w, s, path, location) : add_path(w, s, path, location);
}

/* ---- fetching ---- */

static silt_status fetch_of(engine *e, source_list *list, store *s, arena *a, silt_error *err) {
    store_sparse *files = ARENA_ARRAY(a, list->n_files, store_sparse);
    str *paths = ARENA_ARRAY(a, list->n_files, str);
    size_t n = 0;
    if (!files || !paths) return error_no_memory(err);
    for (size_t i = 0; i < list->n_files; i++)
        if (list->files[i].store == s) files[n++] = (store_sparse){.path = list->files[i].path, .size_bytes = list->files[i].size_bytes, .tag = list->files[i].tag};
    TRY(store_local_ranges(s, files, n, e->cancel, a, paths, NULL, err));
    n = 0;
    for (size_t i = 0; i < list->n_files; i++)
        if (list->files[i].store == s) list->files[i].local = paths[n++];
    return SILT_OK;
}

silt_status source_list_fetch(engine *e, source_list *list, arena *a, silt_error *err) {
    for (size_t i = 0; i < list->n_files; i++)
        if (list->files[i].store && !list->files[i].local.ptr) TRY(fetch_of(e, list, list->files[i].store, a, err));
    return SILT_OK;
}
