/*
 * From the spellings of the log to paths below the table's root. Comparing texts is not enough for absolute paths: /data and a link to it lead to the
 * same files.
 */
#include "delta/table_path.h"

#include "base/uri.h"

void table_paths_init(table_paths *p, const delta_env *env, str root, arena *a) {
    while (root.len > 1 && root.ptr[root.len - 1] == '/') root.len--;
    *p = (table_paths){.env = env, .root = root, .arena = a};
}

/* "", "." and ".." as a part of a path make it another spelling of a simpler one. */
static bool has_odd_parts(str path) {
    size_t from = 0;
    for (size_t i = 0; i <= path.len; i++) {
        if (i < path.len && path.ptr[i] != '/') continue;
        size_t n = i - from;
        if (n == 0 || (path.ptr[from] == '.' && (n == 1 || (n == 2 && path.ptr[from + 1] == '.')))) return true;
        from = i + 1;
    }
    return false;
}

bool table_path_is_plain(str path) {
    for (size_t i = 0; i < path.len; i++)
        if (path.ptr[i] == '%' || path.ptr[i] == ':') return false;
    return !has_odd_parts(path);
}

/* The part of `path` below `root`, {NULL,0} when it is not below. */
static str below(str path, str root) {
    size_t n = root.len == 1 ? 0 : root.len;
    if (path.len <= n + 1 || !str_starts_with(path, str_slice(root, 0, n)) || path.ptr[n] != '/') return STR_NULL;
    return str_slice(path, n + 1, path.len);
}

/* {NULL,0} in *out: it is not there, or may not be looked at. */
static silt_status real_path(store *s, str path, arena *a, str *out, silt_error *err) {
    silt_error why = {.status = SILT_OK};
    *out = STR_NULL;
    silt_status status = store_real_path(s, path, a, out, &why);
    if (status == SILT_OK || status == SILT_NOT_FOUND || status == SILT_DENIED || status == SILT_INVALID) return SILT_OK;
    if (err) *err = why;
    return status;
}

/* The real folder of a path; null where it has none. */
static silt_status real_folder(table_paths *p, store *s, str folder, arena *a, str *out, silt_error *err) {
    if (p->last_folder_len && str_eq((str){p->last_folder, p->last_folder_len}, folder)) {
        *out = p->last_real_len ? (str){p->last_real, p->last_real_len} : STR_NULL;
        return SILT_OK;
    }
    TRY(real_path(s, folder, a, out, err));
    p->last_folder_len = 0;
    if (folder.len >= sizeof p->last_folder || out->len >= sizeof p->last_real) return SILT_OK;
    memcpy(p->last_folder, folder.ptr, folder.len);
    if (out->len) memcpy(p->last_real, out->ptr, out->len);
    p->last_folder_len = folder.len;
    p->last_real_len = out->len;
    return SILT_OK;
}

/* An absolute path that does not begin with the root may still be in it. */
static silt_status through_links(table_paths *p, store *s, str path, arena *a, str *out, silt_error *err) {
    str folder;
    if (str_is_null(p->real_root)) TRY(real_path(p->env->store, p->root, p->arena, &p->real_root, err));
    if (str_is_null(p->real_root)) return SILT_OK;
    TRY(real_folder(p, s, path_parent(path), a, &folder, err));
    if (str_is_null(folder)) return SILT_OK;
    str whole = path_join(a, folder, path_name(path));
    if (str_is_null(whole)) return error_no_memory(err);
    *out = below(whole, p->real_root);
    return SILT_OK;
}

silt_status table_path_relative(table_paths *p, str action_path, arena *a, str *out, silt_error *err) {
    store *s;
    str path;
    silt_error why = {.status = SILT_OK};
    *out = STR_NULL;
    if (table_path_is_plain(action_path)) {
        *out = action_path;
        return SILT_OK;
    }
    silt_status status = delta_resolve_path(p->env, p->root, action_path, a, &s, &path, &why);
    if (status == SILT_UNSUPPORTED) return SILT_OK; /* a store that this process has nothing to do with */
    if (status != SILT_OK) {
        if (err) *err = why;
        return status;
    }
    path = path_normalize(a, path);
    if (str_is_null(path)) return error_no_memory(err);
    *out = below(path, p->root);
    bool is_absolute = action_path.len > 0 && (action_path.ptr[0] == '/' || str_find_char(action_path, ':') != SIZE_MAX);
    return str_is_null(*out) && is_absolute && path.len > 1 ? through_links(p, s, path, a, out, err) : SILT_OK;
}

silt_status table_path_of_dv(table_paths *p, const delta_dv *dv, arena *a, str *out, silt_error *err) {
    *out = STR_NULL;
    if (dv->storage == 'p') return table_path_relative(p, dv->path_or_inline, a, out, err);
    if (dv->storage != 'u') return SILT_OK;
    TRY(delta_dv_relative_path(dv, a, out, err));
    *out = below(path_normalize(a, path_join(a, STR("/"), *out)), STR("/"));
    return str_is_null(*out) ? error_no_memory(err) : SILT_OK;
}
