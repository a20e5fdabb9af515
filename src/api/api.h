/** What the API's files share: handles' insides and the stream around a statement's result. */
#ifndef API_API_H
#define API_API_H

#include "api/stores.h"
#include "silt/silt.h"
#include "sql/sql.h"

struct silt_session {
    store_registry *stores;
    store_settings store_settings; /* what the remote stores are configured by */
    remote_store remotes[API_MAX_STORES];
    session *inner;
    cancel_token cancel;
    buf text; /* what silt_session_get gave last */
};

struct silt_snapshot {
    silt_session *session;
    delta_snapshot *inner;
    str requested;  /* the table as the caller named it */
    char *described; /* silt_snapshot_describe_json */
    char *schema_json;
};

/** Wrap a result as an Arrow stream; takes it over in every case. */
silt_status api_stream_from_result(statement_result *result, struct ArrowArrayStream *out, silt_error *err) MUST_CHECK;
/** Wrap rows of a builder; takes `rows` and `a` (the life of its type) over in every case. */
silt_status api_stream_from_rows(arena *a, const data_type *type, arrow_builder *rows, struct ArrowArrayStream *out, silt_error *err) MUST_CHECK;
/** A NULL-safe string of the caller. */
static inline str api_str(const char *z) { return str_of(z); }
/** Strings of the caller as an array in `a`; NULL on exhaustion. */
str *api_strs(arena *a, const char *const *strings, size_t n);

/** Read member `m` of a caller's options struct only if the caller's struct_size covers it. */
#define API_HAS(options, m) ((options) && (options)->struct_size >= offsetof(__typeof__(*(options)), m) + sizeof((options)->m))
#define API_GET(options, m, absent) (API_HAS(options, m) ? (options)->m : (absent))

#endif
