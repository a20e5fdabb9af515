/*
 * Listing objects: pages followed, folders made of keys, path order.
 *
 * Services give keys in bytewise order, mostly. But a folder's key ends in '/', which sorts behind '-' and '.', while its path does not; keys and folders may come in two lists;
 * and a store with real folders may have an order of its own. So what was collected is looked at, and sorted where it has to be. Objects whose key ends in '/', or which the
 * service marks, stand for a folder; they are not told of in listings of files.
 */
#include <stdlib.h>

#include "base/thread.h"
#include "base/uri.h"
#include "store/object/object_internal.h"

/* ---- one page ---- */

silt_status object_list_page(object_store *o, const object_listing *l, str mark, arena *a, object_page *out, silt_error *err) {
    http_header headers[OBJECT_HEADERS];
    http_request r = {.method = "GET", .headers = headers, .repeatable = true, .cancel = l->cancel};
    http_response answer;
    str shown = l->prefix.len ? str_slice(l->prefix, 0, l->prefix.len - 1) : STR("");
    TRY(o->driver->list_request(o, l, mark, headers, &r, a, err));
    TRY(object_send(o, &r, "Listing", a, &answer, err));
    if (!http_is_ok(&answer)) return object_error_without(o, &answer, "Listing", shown, a, err);
    *out = (object_page){.next = STR_NULL};
    TRY(o->driver->parse_page(o, l, answer.body, a, out, err));
    if (!str_is_null(out->next) && str_eq(out->next, mark)) return object_bad_answer(o, "Listing", "its next page is itself", err);
    return SILT_OK;
}

static silt_status prefix_of(str dir, arena *a, str *out, silt_error *err) {
    *out = dir.len == 1 ? STR("") : arena_printf(a, "%.*s/", STR_ARG(object_key(dir)));
    return str_is_null(*out) ? error_no_memory(err) : SILT_OK;
}

/* What stands for a folder and not for itself. */
static bool is_marker(const object_info *info) { return info->is_folder || info->key.len == 0 || info->key.ptr[info->key.len - 1] == '/'; }

static bool is_below(str key, str prefix) { return str_starts_with(key, prefix); }

silt_status object_any_below(object_store *o, str key, arena *a, bool *out_any, silt_error *err) {
    object_listing l = {.limit = 1, .start_at = STR_NULL};
    str mark = STR_NULL;
    l.prefix = key.len ? arena_printf(a, "%.*s/", STR_ARG(key)) : STR("");
    if (str_is_null(l.prefix)) return error_no_memory(err);
    *out_any = false;
    do { /* a page may be empty and not the last */
        object_page page;
        TRY(object_list_page(o, &l, mark, a, &page, err));
        *out_any = page.count > 0;
        mark = page.next;
    } while (!*out_any && !str_is_null(mark));
    return SILT_OK;
}

/* ---- list ---- */

typedef struct listing {
    object_store *o;
    object_listing l;
    str start_at; /* a name, or null */
    bool recursive;
    bool exists; /* something was there, wanted or not */
    bool first;  /* one page is enough */
    bool all;    /* there was no page beyond */
    arena *a;    /* of the result */
    store_list_result *out;
} listing;

static silt_status add(listing *w, const object_info *info, silt_error *err) {
    store_entry entry;
    if (!is_below(info->key, w->l.prefix)) return SILT_OK;
    w->exists = true;
    str name = str_slice(info->key, w->l.prefix.len, info->key.len);
    while (name.len > 0 && name.ptr[name.len - 1] == '/') name.len--;
    if (name.len == 0 || (w->recursive && is_marker(info))) return SILT_OK;
    if (!str_is_null(w->start_at) && str_cmp(name, w->start_at) < 0) return SILT_OK;
    object_info shown = *info;
    shown.is_folder = is_marker(info);
    TRY(object_entry(&shown, w->a, &entry, err));
    return ARENA_PUSH(w->a, w->out->items, w->out->count, w->out->capacity, entry) ? SILT_OK : error_no_memory(err);
}

static int compare_entries(const void *x, const void *y) { return str_cmp(((const store_entry *)x)->path, ((const store_entry *)y)->path); }

/* A folder may be told of twice: by what stands for it and by what is in it. */
static void sort_and_merge(store_list_result *out) {
    bool ordered = true;
    size_t n = 0;
    for (size_t i = 1; i < out->count && ordered; i++) ordered = str_cmp(out->items[i - 1].path, out->items[i].path) < 0;
    if (ordered) return;
    qsort(out->items, out->count, sizeof *out->items, compare_entries);
    for (size_t i = 0; i < out->count; i++) {
        bool again = n > 0 && out->items[i].is_dir && out->items[n - 1].is_dir && str_eq(out->items[n - 1].path, out->items[i].path);
        if (!again) out->items[n++] = out->items[i];
    }
    out->count = n;
}

static silt_status list_pages(listing *w, arena *pages[2], silt_error *err) {
    str mark = STR_NULL;
    for (int turn = 0;; turn ^= 1) { /* the page before holds the mark */
        object_page page;
        arena_reset(pages[turn]);
        TRY(object_list_page(w->o, &w->l, mark, pages[turn], &page, err));
        for (size_t i = 0; i < page.count; i++) TRY(add(w, &page.items[i], err));
        w->all = str_is_null(page.next);
        if (w->all || (w->first && w->exists)) return SILT_OK;
        mark = page.next;
    }
}

static silt_status list(listing *w, str dir, arena *pages[2], silt_error *err) {
    TRY(list_pages(w, pages, err));
    if (!w->exists && !str_is_null(w->start_at) && w->o->driver->has_start_at) {
        arena_reset(pages[0]);
        TRY(object_any_below(w->o, object_key(dir), pages[0], &w->exists, err));
    }
    if (!w->exists && dir.len > 1) return store_path_error(&w->o->base, dir, err_FILE_NOT_FOUND, err);
    sort_and_merge(w->out);
    return SILT_OK;
}

static silt_status list_with_pages(listing *w, str dir, silt_error *err) {
    TRY(prefix_of(dir, w->a, &w->l.prefix, err));
    w->l.by_folder = !w->recursive;
    w->l.start_at = STR_NULL;
    if (!str_is_null(w->start_at)) {
        w->l.start_at = arena_printf(w->a, "%.*s%.*s", STR_ARG(w->l.prefix), STR_ARG(w->start_at));
        if (str_is_null(w->l.start_at)) return error_no_memory(err);
    }
    arena *pages[2] = {arena_new(), arena_new()};
    silt_status status = pages[0] && pages[1] ? list(w, dir, pages, err) : error_no_memory(err);
    arena_free(pages[0]);
    arena_free(pages[1]);
    return status;
}

silt_status object_store_list(store *s, str dir, str start_at, bool recursive, arena *a, store_list_result *out, silt_error *err) {
    listing w = {.o = (object_store *)s, .start_at = start_at, .recursive = recursive, .a = a, .out = out};
    return list_with_pages(&w, dir, err);
}

silt_status object_store_list_first(store *s, str dir, const cancel_token *cancel, arena *a, store_list_result *out, bool *out_all, silt_error *err) {
    listing w = {.o = (object_store *)s, .start_at = STR_NULL, .l.cancel = cancel, .first = true, .a = a, .out = out};
    TRY(list_with_pages(&w, dir, err));
    *out_all = w.all;
    return SILT_OK;
}

/* ---- walk ---- */

static silt_status tell(const store_walker *w, str prefix, const object_page *page, bool *exists, silt_error *err) {
    for (size_t i = 0; i < page->count; i++) {
        const object_info *info = &page->items[i];
        if (!is_below(info->key, prefix)) continue;
        *exists = true;
        if (is_marker(info) || info->key.len == prefix.len) continue;
        store_walk_entry e = {.path = str_slice(info->key, prefix.len, info->key.len), .kind = STORE_FILE, .size_bytes = info->size_bytes, .modified_ms = info->modified_ms};
        if (w->look(w->ctx, &e) == STORE_WALK_TAKE) TRY(w->take(w->ctx, &e, err));
    }
    return SILT_OK;
}

static silt_status walk(object_store *o, str dir, const store_walker *w, arena *a, arena *pages[2], silt_error *err) {
    object_listing l = {.start_at = STR_NULL};
    bool exists = dir.len == 1;
    str mark = STR_NULL;
    TRY(prefix_of(dir, a, &l.prefix, err));
    for (int turn = 0;; turn ^= 1) {
        object_page page;
        TRY(cancel_check(w->cancel, err));
        arena_reset(pages[turn]);
        TRY(object_list_page(o, &l, mark, pages[turn], &page, err));
        TRY(tell(w, l.prefix, &page, &exists, err));
        if (str_is_null(page.next)) return exists ? SILT_OK : store_path_error(&o->base, dir, err_FILE_NOT_FOUND, err);
        mark = page.next;
    }
}

silt_status object_store_walk(store *s, str dir, const store_walker *w, silt_error *err) {
    arena *a = arena_new(), *pages[2] = {arena_new(), arena_new()};
    silt_status status = a && pages[0] && pages[1] ? walk((object_store *)s, dir, w, a, pages, err) : error_no_memory(err);
    arena_free(a);
    arena_free(pages[0]);
    arena_free(pages[1]);
    return status;
}

/* ---- folders ---- */

silt_status object_store_make_dirs(store *s, str dir, silt_error *err) {
    (void)s;
    (void)dir;
    (void)err;
    return SILT_OK;
}

/* A folder is there as long as something is in it, so an empty one is gone already; what stands for it, where another program put such an object, is removed. */
static silt_status remove_dir(object_store *o, str dir, arena *a, silt_error *err) {
    object_listing l = {.limit = 2, .start_at = STR_NULL};
    object_page page;
    silt_error ignored = {0};
    bool marked = false;
    str mark = STR_NULL;
    TRY(prefix_of(dir, a, &l.prefix, err));
    do {
        TRY(object_list_page(o, &l, mark, a, &page, err));
        for (size_t i = 0; i < page.count; i++) {
            bool itself = str_eq(page.items[i].key, l.prefix);
            if (!itself) return err_FOLDER_NOT_EMPTY(err, dir);
            marked = true;
        }
        mark = page.next;
    } while (!str_is_null(mark));
    if (!marked) return SILT_OK;
    str path = arena_printf(a, "/%.*s", STR_ARG(l.prefix));
    if (str_is_null(path)) return error_no_memory(err);
    silt_status status = o->base.ops->remove(&o->base, path, &ignored);
    return status == SILT_OK || status == SILT_NOT_FOUND ? SILT_OK : object_copy_error(&ignored, err);
}

silt_status object_store_remove_dir(store *s, str dir, silt_error *err) {
    arena *a = arena_new();
    silt_status status = a ? remove_dir((object_store *)s, dir, a, err) : error_no_memory(err);
    arena_free(a);
    return status;
}
