/*
 * Walking a folder, removing many files and real paths, for stores that have nothing special for it. An object store has no folders: its pages are asked one
 * after the other, each from the last path of the one before.
 */
#include "store/store.h"

#include <assert.h>

#include "base/thread.h"
#include "base/uri.h"

static silt_status check_folder(str dir, silt_error *err) {
    if (dir.len > 0 && dir.ptr[0] == '/' && str_find_char(dir, '\0') == SIZE_MAX) return SILT_OK;
    return err_INVALID_PARAMETER_VALUE(err, STR("path"), dir, "an absolute path without a NUL byte");
}

static str without_slash(str dir) {
    while (dir.len > 1 && dir.ptr[dir.len - 1] == '/') dir.len--;
    return dir;
}

/* Files of a listing; what is not below the folder is left out. */
static silt_status tell(const store_walker *w, str dir, const store_list_result *list, silt_error *err) {
    size_t skip = dir.len == 1 ? 1 : dir.len + 1;
    for (size_t i = 0; i < list->count; i++) {
        const store_entry *item = &list->items[i];
        if (item->is_dir || item->path.len <= skip) continue;
        store_walk_entry e = {
            .path = str_slice(item->path, skip, item->path.len), .kind = STORE_FILE, .size_bytes = item->size_bytes, .modified_ms = item->modified_ms};
        if (w->look(w->ctx, &e) == STORE_WALK_TAKE) TRY(w->take(w->ctx, &e, err));
    }
    return SILT_OK;
}

static silt_status walk_pages(store *s, str dir, const store_walker *w, arena *a[2], silt_error *err) {
    str after = STR_NULL;
    for (int turn = 0;; turn ^= 1) { /* the page before holds `after` */
        store_list_result page = {0};
        TRY(cancel_check(w->cancel, err));
        arena_reset(a[turn]);
        TRY(s->ops->list_page(s, dir, after, STORE_PAGE, a[turn], &page, err));
        TRY(tell(w, dir, &page, err));
        if (page.count < STORE_PAGE) return SILT_OK;
        after = page.items[page.count - 1].path;
    }
}

static silt_status walk_list(store *s, str dir, const store_walker *w, arena *a, silt_error *err) {
    store_list_result list = {0};
    TRY(s->ops->list(s, dir, STR_NULL, true, a, &list, err));
    return tell(w, dir, &list, err);
}

silt_status store_walk(store *s, str dir, const store_walker *w, silt_error *err) {
    TRY(check_folder(dir, err));
    dir = without_slash(dir);
    if (s->ops->walk) return s->ops->walk(s, dir, w, err);
    arena *a[2] = {arena_new(), arena_new()};
    silt_status status = !a[0] || !a[1] ? error_no_memory(err) : s->ops->list_page ? walk_pages(s, dir, w, a, err) : walk_list(s, dir, w, a[0], err);
    arena_free(a[0]);
    arena_free(a[1]);
    return status;
}

/* ---- removing ---- */

/* No part of a name may be "." or "..", which would lead elsewhere. */
static bool is_plain_name(str name) {
    str rest = name, part;
    if (name.len == 0 || name.ptr[name.len - 1] == '/' || str_find_char(name, '\0') != SIZE_MAX) return false;
    while (str_next(&rest, '/', &part))
        if (part.len == 0 || str_eqz(part, ".") || str_eqz(part, "..")) return false;
    return true;
}

static silt_status remove_each(store *s, str dir, const str *names, size_t n, silt_status *out, silt_error *err) {
    arena *a = arena_new();
    bool told = false;
    if (!a) return error_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        silt_error why = {.status = SILT_OK};
        arena_reset(a);
        str path = path_join(a, dir, names[i]);
        out[i] = str_is_null(path) ? error_no_memory(&why) : s->ops->remove(s, path, &why);
        if (!told && out[i] != SILT_OK && out[i] != SILT_NOT_FOUND && err) *err = why, told = true;
    }
    arena_free(a);
    return SILT_OK;
}

silt_status store_remove_below(store *s, str dir, const str *names, size_t n, silt_status *out, silt_error *err) {
    TRY(check_folder(dir, err));
    for (size_t i = 0; i < n; i++)
        if (!is_plain_name(names[i])) return err_INVALID_PARAMETER_VALUE(err, STR("path"), names[i], "a path below the folder");
    dir = without_slash(dir);
    if (s->ops->remove_below) return s->ops->remove_below(s, dir, names, n, out, err);
    return remove_each(s, dir, names, n, out, err);
}

silt_status store_real_path(store *s, str path, arena *a, str *out, silt_error *err) {
    TRY(check_folder(path, err));
    if (s->ops->real_path) return s->ops->real_path(s, without_slash(path), a, out, err);
    *out = arena_str(a, without_slash(path));
    return str_is_null(*out) ? error_no_memory(err) : SILT_OK;
}
