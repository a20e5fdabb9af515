/** Plain HTTP(S), to read. Internal to store/. */
#ifndef STORE_HTTP_STORE_H
#define STORE_HTTP_STORE_H

#include "store/object/object_internal.h"

/** From the headers of HEAD: length, Last-Modified (0 where it is not told), ETag, else Last-Modified, as tag. false: no length. */
bool http_info_parse(const http_response *r, arena *a, object_info *out);

/** What _last_checkpoint says of the checkpoint's files. */
typedef struct http_checkpoint {
    int64_t version;          /**< -1: there is none */
    str *names;               /**< file names that it may have */
    size_t n_names, capacity;
} http_checkpoint;
/** false: no such text. */
bool http_checkpoint_parse(str json, arena *a, http_checkpoint *out);

/** The slot `list`: of a folder _delta_log, by asking for its files by their names; any other folder is refused. */
silt_status http_log_list(store *s, str dir, str start_at, bool recursive, arena *a, store_list_result *out, silt_error *err) MUST_CHECK;

#endif
