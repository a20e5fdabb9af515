/* The files of a dropped managed table: removed one by one, the log last, then the empty folders. */
#include "base/uri.h"
#include "ops/internal.h"

/* A root that is a folder of the system, or no folder at all, is never emptied. */
static silt_status check_root(const op *o, str root) {
    size_t depth = 0;
    for (size_t i = 0; i + 1 < root.len; i++) depth += root.ptr[i] == '/' && root.ptr[i + 1] != '/';
    if (depth >= 2 && root.ptr[0] == '/') return SILT_OK;
    return err_INVALID_PARAMETER_VALUE(o->err, STR("table location"), store_path_named(o->env->delta->store, root, o->a), "a folder below another one");
}

static bool is_inside(str path, str root) {
    return path.len > root.len + 1 && str_starts_with(path, root) && path.ptr[root.len] == '/';
}

static bool is_log(str path, str root) { return str_starts_with(str_slice(path, root.len + 1, path.len), STR("_delta_log/")); }

/* A file that somebody else removed meanwhile is gone, which is all that is wanted. */
static silt_status remove_files(const op *o, str root, const store_list_result *list, bool log) {
    for (size_t i = 0; i < list->count; i++) {
        const store_entry *e = &list->items[i];
        if (e->is_dir || !is_inside(e->path, root) || is_log(e->path, root) != log) continue;
        silt_error failed;
        silt_status status = store_remove(o->env->delta->store, e->path, &failed);
        if (status == SILT_OK || status == SILT_NOT_FOUND) continue;
        if (o->err) *o->err = failed;
        return status;
    }
    return SILT_OK;
}

/* Depth first; a folder that is not empty (another process writes there) stays. */
static silt_status remove_folders(const op *o, str dir, int depth) {
    store_list_result list = {0};
    silt_error failed;
    silt_status status = store_list(o->env->delta->store, dir, STR_NULL, false, o->a, &list, &failed);
    if (status == SILT_NOT_FOUND) return SILT_OK;
    if (status != SILT_OK) {
        if (o->err) *o->err = failed;
        return status;
    }
    for (size_t i = 0; i < list.count && depth < 100; i++)
        if (list.items[i].is_dir && is_inside(list.items[i].path, dir)) TRY(remove_folders(o, list.items[i].path, depth + 1));
    status = store_remove_dir(o->env->delta->store, dir, &failed);
    if (status == SILT_OK || status == SILT_NOT_FOUND || status == SILT_EXISTS) return SILT_OK;
    if (o->err) *o->err = failed;
    return status;
}

static silt_status drop_files(const op *o, str root) {
    store_list_result list = {0};
    silt_error failed;
    while (root.len > 1 && root.ptr[root.len - 1] == '/') root.len--;
    TRY(check_root(o, root));
    silt_status status = store_list(o->env->delta->store, root, STR_NULL, true, o->a, &list, &failed);
    if (status == SILT_NOT_FOUND) return SILT_OK;
    if (status != SILT_OK) {
        if (o->err) *o->err = failed;
        return status;
    }
    TRY(remove_files(o, root, &list, false));
    TRY(remove_files(o, root, &list, true));
    return remove_folders(o, root, 0);
}

silt_status ops_drop_files(const ops_env *env, str root, silt_error *err) {
    op o = {env, arena_new(), err};
    if (!o.a) return error_no_memory(err);
    silt_status status = drop_files(&o, root);
    arena_free(o.a);
    return status;
}
