/**
 * A store over a service of objects by key (Azure Blob, GCS, plain HTTP). Internal to store/.
 *
 * Everything that such stores have in common is object_store.c's: keys and paths, ranges, listings by pages in path order, the outcome of a conditional put whose reply was
 * lost, temporary files, uploads side by side. A driver says how one request looks and what its answer means. It holds no state of an operation and may be called by several
 * threads at once.
 */
#ifndef STORE_OBJECT_STORE_H
#define STORE_OBJECT_STORE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/temp_folder.h"
#include "net/http.h"
#include "store/settings.h"
#include "store/store.h"

typedef struct object_store object_store;

typedef struct object_info {
    str key;
    int64_t size_bytes, modified_ms;
    str tag;        /**< null where the service has none */
    bool is_folder; /**< what stands for the keys below it: ends in '/' or not */
} object_info;

typedef struct object_page {
    object_info *items; /**< in the order of the service */
    size_t count, capacity;
    str next; /**< the mark of the next page; null: this is the last */
} object_page;

typedef struct object_listing {
    str prefix;   /**< "" or a folder's key with its '/' */
    str start_at; /**< null, or the least key wanted: a driver may leave it out where the service has no such thing */
    bool by_folder; /**< keys with another '/' behind the prefix are one entry, their folder */
    int limit;    /**< of items in a page; 0: as many as the service gives */
    const cancel_token *cancel; /**< of whoever waits; may be NULL */
} object_listing;

typedef enum object_verb { OBJECT_READ, OBJECT_STAT, OBJECT_PUT, OBJECT_PUT_IF_ABSENT, OBJECT_REMOVE } object_verb;

/** What a code of the service means. OBJECT_OTHER: nothing of what follows, or there is none. */
typedef enum object_meaning {
    OBJECT_OTHER,
    OBJECT_ABSENT,      /**< the object, or the upload, is not there */
    OBJECT_NO_BUCKET,   /**< nor the bucket or container: no answer to whether the object is */
    OBJECT_DENIED,      /**< about who asks, whatever the status */
    OBJECT_TOKEN_ENDED, /**< so is this */
    OBJECT_CLOCK        /**< and this: the signature's time is too far from the service's */
} object_meaning;

/** What a service says about an error; null where it says nothing. In the arena of the call. */
typedef struct object_error {
    str code, message;
    object_meaning meaning;
    const char *remark; /**< NULL or what the user should know besides, such as that no credential was found */
} object_error;

/** Hints that more than one service has use for. */
#define OBJECT_HINT_TOKEN "The session token has expired or is no valid one: get a new one, with the keys that belong to it."
#define OBJECT_HINT_CLOCK "Set the clock of this machine: requests are signed with its time."

#define OBJECT_CONNECTIONS 256 /**< to a service that many ask at once; see http_options.max_connections */
#define OBJECT_HEADERS 12 /**< room in http_request.headers that `request` is given */

struct object_early;
struct object_early_driver;

typedef struct object_driver {
    const store_ops *ops; /**< those of object_store_ops, with the name; or fewer */
    void (*dispose)(object_store *o); /**< what the driver added to its struct */
    /** Method, URL and headers of one request about one object; headers has room for OBJECT_HEADERS. A range, the body and the rest is added by the caller. */
    silt_status (*request)(object_store *o, object_verb verb, str key, http_header *headers, http_request *out, arena *a, silt_error *err);
    /** May be NULL: it tells none. The tag in the answer to OBJECT_READ, as listings and parse_info have it; null: there is none. */
    str (*tag_of)(const http_response *r);
    /** From the answer to OBJECT_STAT. */
    silt_status (*parse_info)(object_store *o, const http_response *r, arena *a, object_info *out, silt_error *err);
    /** Does this answer to OBJECT_PUT_IF_ABSENT say that something was there? */
    bool (*is_taken)(const http_response *r, const object_error *e);
    /** May be NULL. Does it say that nobody can tell yet (another conditional put is under way)? Then it is put again. */
    bool (*is_unsettled)(const http_response *r, const object_error *e);
    /** May be NULL. Something was learned from this answer (a region, a clock, credentials that ended), so that the request should be sent once more. */
    bool (*again)(object_store *o, const http_request *q, const http_response *r, arena *a);
    /** NULL: no listing. The page behind `mark` (null: the first). */
    silt_status (*list_request)(object_store *o, const object_listing *l, str mark, http_header *headers, http_request *out, arena *a, silt_error *err);
    silt_status (*parse_page)(object_store *o, const object_listing *l, str body, arena *a, object_page *out, silt_error *err);
    /** A file that is longer than `piece_bytes`, in pieces; whole or not at all. NULL: no writing. */
    silt_status (*upload)(object_store *o, str key, str local, int64_t size, const struct object_early *early, arena *a, silt_error *err);
    /** May be NULL: pieces cannot be sent while their file is being written. What was sent is then given to `upload` (else NULL), of a file of one piece or more too: object_early.h. */
    const struct object_early_driver *early;
    /** NULL: the status tells all, and 404 is "not there". Else it is only with OBJECT_ABSENT, or where nothing at all was said (HEAD). */
    void (*parse_error)(object_store *o, const http_response *r, arena *a, object_error *out);
    /** NULL: any key. NULL or why the service cannot have this one. */
    const char *(*refuses)(str key);
    bool has_start_at; /**< list_request obeys start_at */
    bool has_one_absent; /**< the service, or one of its kind, may say the same of an absent object and of an absent bucket: see object_error_without */
} object_driver;

/** The head of every driver's struct. */
struct object_store {
    store base;
    const object_driver *driver;
    http_client *client;
    arena *settings; /**< what was copied when it was opened; read only from then on */
    str where;       /**< for errors and identity: scheme, host, container; never a credential */
    silt_status (*sign)(void *ctx, const http_request *r, http_attempt *at, silt_error *err); /**< NULL: nothing to sign */
    int64_t piece_bytes;   /**< of an upload in pieces */
    str log_store;         /**< that is configured and not known, so that nothing is committed; null: none */
    str temp_base;         /**< where the folder of temporary files is made, by silt.temp.dir; null: TMPDIR, else /tmp */
    struct object_tags {
        atomic_bool seen, odd; /**< see store_proves_tags: right ones; answers that have none, or spell them otherwise than listings: then they are not looked at any more */
        atomic_int others;     /**< answers of another version than was asked for */
    } tags;
    pthread_mutex_t lock;  /**< over what follows */
    temp_folder temp;      /**< not open until needed */
    struct object_early_pool *early; /**< made when needed */
};

/** The slots of a store that reads and writes; .name is the driver's to set. */
#define OBJECT_STORE_READING                                                                                                               \
    .close = object_store_close, .read = object_store_read, .stat = object_store_stat, .local_read_path = object_store_local_read_path,    \
    .identity = object_store_identity, .parallel = 32, .read_many = object_store_read_many, .read_tagged = object_store_read_tagged,              \
    .proves_tags = object_store_proves_tags
#define OBJECT_STORE_WRITING                                                                                                               \
    .put = object_store_put, .list = object_store_list, .list_first = object_store_list_first, .remove = object_store_remove,                \
    .make_dirs = object_store_make_dirs,                                                                                                   \
    .remove_dir = object_store_remove_dir, .write_begin = object_store_write_begin, .write_follow = object_store_write_follow,             \
    .write_finish = object_store_write_finish,                                                                                             \
    .write_abort = object_store_write_abort, .write_finish_many = object_store_write_finish_many, .walk = object_store_walk,               \
    .remove_below = object_store_remove_below

/**
 * Make the driver's struct of `size` bytes (zeroed, but for the head) with its arena and its client.
 * @return through *out; end with store_close, also when opening fails later
 */
silt_status object_store_new(const object_driver *driver, size_t size, const http_options *options, object_store **out, silt_error *err) MUST_CHECK;

/** What all object stores let be set of their client before it is made: silt.http.stallTimeoutMs. A value that is none of 100 to 3600000 counts as not set. */
void object_store_patience(const store_settings *s, http_options *out);
/** The settings that all object stores have: silt.temp.dir. */
silt_status object_store_configure(object_store *o, const store_settings *s, silt_error *err) MUST_CHECK;
void object_store_close(store *s);
silt_status object_store_read(store *s, str path, int64_t offset, int64_t length, buf *out, silt_error *err) MUST_CHECK;
silt_status object_store_read_tagged(store *s, str path, int64_t offset, int64_t length, str tag, buf *out, silt_error *err) MUST_CHECK;
bool object_store_proves_tags(store *s);
silt_status object_store_read_many(store *s, store_range *ranges, size_t n, const store_read_options *options, silt_error *err) MUST_CHECK;
silt_status object_store_stat(store *s, str path, arena *a, store_entry *out, silt_error *err) MUST_CHECK;
silt_status object_store_put(store *s, str path, str bytes, store_put_mode mode, silt_error *err) MUST_CHECK;
silt_status object_store_list(store *s, str dir, str start_at, bool recursive, arena *a, store_list_result *out, silt_error *err) MUST_CHECK;
silt_status object_store_list_first(store *s, str dir, const cancel_token *cancel, arena *a, store_list_result *out, bool *out_all, silt_error *err) MUST_CHECK;
silt_status object_store_walk(store *s, str dir, const store_walker *w, silt_error *err) MUST_CHECK;
silt_status object_store_remove(store *s, str path, silt_error *err) MUST_CHECK;
silt_status object_store_remove_below(store *s, str dir, const str *names, size_t n, silt_status *out, silt_error *err) MUST_CHECK;
silt_status object_store_make_dirs(store *s, str dir, silt_error *err) MUST_CHECK;
silt_status object_store_remove_dir(store *s, str dir, silt_error *err) MUST_CHECK;
silt_status object_store_local_read_path(store *s, str path, arena *a, str *out, silt_error *err) MUST_CHECK;
silt_status object_store_write_begin(store *s, str path, arena *a, str *out_local, silt_error *err) MUST_CHECK;
silt_status object_store_write_finish(store *s, str path, str local, silt_error *err) MUST_CHECK;
silt_status object_store_write_finish_many(store *s, const str *paths, const str *locals, size_t n, silt_error *err) MUST_CHECK;
void object_store_write_follow(store *s, str path, str local);
void object_store_write_abort(store *s, str path, str local);
void object_store_identity(store *s, buf *out);

/* ---- for drivers ---- */

/** Send with the store's signature; `what` for errors. */
silt_status object_send(object_store *o, http_request *r, const char *what, arena *a, http_response *out, silt_error *err) MUST_CHECK;
/** Several at once: see http_send_many. */
silt_status object_send_many(object_store *o, http_request *r, size_t n, int in_flight, const char *what, arena *a, http_response *out, silt_status *statuses, silt_error *err) MUST_CHECK;
/**
 * The error of an answer that is not 2xx to a request about `key` ("" for the container). By the service's code where it has a meaning; else 401 and 403 are DENIED, 507 is NO_SPACE,
 * 404 and 410 without a word are NOT_FOUND (with a code that is not known they are IO: "absent" would make a table that is there look as if it were not). Fills err, returns its status.
 */
silt_status object_error_of(object_store *o, const http_response *r, const char *what, str key, arena *a, silt_error *err) MUST_CHECK;
/** The same for a request that needs no object to be there (listing, putting): with has_one_absent what is absent is the bucket. */
silt_status object_error_without(object_store *o, const http_response *r, const char *what, str key, arena *a, silt_error *err) MUST_CHECK;
/** IO: an answer that breaks the protocol. */
silt_status object_bad_answer(object_store *o, const char *what, const char *why, silt_error *err) MUST_CHECK;
static inline bool http_is_ok(const http_response *r) { return r->status >= 200 && r->status < 300; }

/** A tag as it is between its quotes, where it has some. */
str tag_without_quotes(str tag);
/** "Sun, 06 Nov 1994 08:49:37 GMT" and "1994-11-06T08:49:37.123Z" to ms since the epoch; false when malformed. */
bool http_date_parse(str text, int64_t *out_ms);
bool rfc3339_parse(str text, int64_t *out_ms);
/** The current time as HTTP's headers have it: 29 characters and a NUL. */
void http_date_write(int64_t now_ms, char out[32]);
/** `text` is neither a key with a segment "." or "..", which clients and proxies take out of URLs, nor outside UTF-8. NULL or why not. */
const char *object_key_refused(str key);

#endif
