/** What the parts of object stores (object_*.c) share. Internal to them. */
#ifndef STORE_OBJECT_INTERNAL_H
#define STORE_OBJECT_INTERNAL_H

#include "store/object/object_store.h"

#define OBJECT_REQUESTS 16 /**< at once, where many objects are removed or written */

/** A path without its first slash. */
static inline str object_key(str path) { return str_slice(path, 1, path.len); }

/** INVALID for a key that no object of this service can have. */
silt_status object_check_key(const object_store *o, str key, silt_error *err) MUST_CHECK;
/** Checks the key and lets the driver fill the request; `headers` has OBJECT_HEADERS. */
silt_status object_request_begin(object_store *o, object_verb verb, str key, http_header *headers, http_request *out, arena *a, silt_error *err) MUST_CHECK;
/** false: no memory was there for `value` (it is null). */
bool object_add_header(http_request *r, const char *name, str value);
/** The whole of a local file (its path ends in a NUL) as one request, replacing what is there. */
silt_status object_put_file(object_store *o, str key, str local, int64_t size, arena *a, silt_error *err) MUST_CHECK;
/** One look at one object. NOT_FOUND when there is none. */
silt_status object_head(object_store *o, str key, arena *a, object_info *out, silt_error *err) MUST_CHECK;
/** Path and the rest, in arena. */
silt_status object_entry(const object_info *info, arena *a, store_entry *out, silt_error *err) MUST_CHECK;
/** One page of a listing, behind `mark` (null: the first); a page may be empty and not the last. */
silt_status object_list_page(object_store *o, const object_listing *l, str mark, arena *a, object_page *out, silt_error *err) MUST_CHECK;
/** Is there any key that begins with `key` and '/'? One request. */
silt_status object_any_below(object_store *o, str key, arena *a, bool *out_any, silt_error *err) MUST_CHECK;
/** Returns its status. */
silt_status object_copy_error(const silt_error *from, silt_error *err) MUST_CHECK;

#endif
