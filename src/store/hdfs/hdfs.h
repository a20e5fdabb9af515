/** The parts of the HDFS store. Internal to store/. */
#ifndef STORE_HDFS_H
#define STORE_HDFS_H

#include <pthread.h>

#include "base/temp_folder.h"
#include "net/http.h"
#include "store/hdfs/hdfs_site.h"
#include "store/store.h"

typedef struct hdfs_store {
    store base;
    arena *settings; /**< of site; read only from the opening on */
    hdfs_site site;
    http_client *client;
    str temp_base;        /**< silt.temp.dir; null: TMPDIR, else /tmp */
    str log_store;        /**< that is configured and not known, so that nothing is committed; null: none */
    pthread_mutex_t lock; /**< over what follows */
    size_t active;        /**< of site.services: the one that answered last */
    bool no_batch;        /**< the server does not know LISTSTATUS_BATCH */
    char *cookie;         /**< "hadoop.auth=…": the ticket of the last SPNEGO exchange, NULL none; secret */
    char *data_node;      /**< "http://host:port/webhdfs/v1" of a DataNode that served a read; NULL none */
    char *data_query;     /**< what it is asked by, from its redirect: secret where there are tokens */
    int64_t data_node_until_ms;
    temp_folder temp;     /**< not open until needed */
} hdfs_store;

/* ---- hdfs_answer.c: what answers say ---- */

/** One answer of a NameNode or a DataNode. Strings are in the call's arena. */
typedef struct hdfs_answer {
    int status;          /**< of HTTP */
    str body;
    str location;        /**< where the data is to be sent or fetched; null: nowhere */
    str exception;       /**< "FileNotFoundException"; null: it is no RemoteException */
    str message;         /**< its first line: stack traces are cut */
    bool may_have_applied; /**< an attempt before this answer, or the one that failed, may have been carried out */
} hdfs_answer;

/** Status, redirect and RemoteException of a response; a body that is neither is left to the caller. */
silt_status hdfs_answer_parse(const http_response *r, arena *a, hdfs_answer *out, silt_error *err) MUST_CHECK;
static inline bool hdfs_is_ok(const hdfs_answer *a) { return a->status >= 200 && a->status < 300; }
static inline bool hdfs_is(const hdfs_answer *a, const char *exception) { return str_eqz(a->exception, exception); }
/** The NameNode is not the one to ask now (standby, starting). */
bool hdfs_is_elsewhere(const hdfs_answer *a);
/** {"boolean":true}; false where it says so, or says nothing of the kind. */
bool hdfs_answer_boolean(const hdfs_answer *a, arena *scratch);
/** One entry of GETFILESTATUS: `path` is the entry's own. CORRUPT is told as IO: HDFS_ANSWER_INVALID. */
silt_status hdfs_parse_status(str body, str path, arena *a, store_entry *out, silt_error *err) MUST_CHECK;
/** Inode number of the same answer; 0 where it is not told. */
int64_t hdfs_parse_file_id(str body, arena *scratch);

/** One page of a folder. */
typedef struct hdfs_page {
    bool is_file;      /**< the path is that of a file */
    bool more;         /**< entries are left */
    str last;          /**< the last name of the page, before anything was left out */
    store_entry *items; /**< in the order of the server, which compares bytes as signed numbers */
    size_t count, capacity;
} hdfs_page;
/** LISTSTATUS_BATCH, or LISTSTATUS. Entry paths are below `dir`. */
silt_status hdfs_parse_page(str body, str dir, arena *a, hdfs_page *out, silt_error *err) MUST_CHECK;

/** A file stands where a folder of the path should be: for who looks, nothing is there; for who writes, something is. */
bool hdfs_is_below_a_file(const hdfs_answer *a);
/** The error that an answer stands for, whatever it is but 2xx; `what` the operation, for people. */
silt_status hdfs_failure(const hdfs_store *s, const hdfs_answer *answer, const char *what, str path, silt_error *err);

/* ---- hdfs_call.c: requests ---- */

typedef struct hdfs_request {
    const char *method, *op;
    str path;
    str params;      /**< "&a=b", encoded; may be null */
    bool repeatable; /**< see http_request */
    const char *what;
    const cancel_token *cancel;
    silt_status (*sink)(void *ctx, int64_t offset, str bytes, silt_error *err); /**< as http_request's: of an answer that is the data itself */
    void *sink_ctx;
} hdfs_request;

/**
 * Ask the NameNodes: the one that answered last first, the next where it is standby, starting or cannot be reached, in rounds with back-off. SILT_OK: *out is an answer, an
 * error of HDFS perhaps. IO: not carried out. UNKNOWN: the connection broke after it was sent, and it is not repeatable; out->may_have_applied.
 */
silt_status hdfs_call(hdfs_store *s, const hdfs_request *r, arena *a, hdfs_answer *out, silt_error *err) MUST_CHECK;
/** Where an answer that is not 2xx is an error. */
silt_status hdfs_call_ok(hdfs_store *s, const hdfs_request *r, arena *a, hdfs_answer *out, silt_error *err) MUST_CHECK;
/** Send one request to where a redirect leads, once. Status as hdfs_call's. */
silt_status hdfs_send_to(hdfs_store *s, str url, http_request *r, arena *a, hdfs_answer *out, silt_error *err) MUST_CHECK;
/** Sleep before attempt `number` (2: the second …), doubled each time, with full jitter. */
void hdfs_wait(const hdfs_store *s, int number);
/** The URL of an operation at one service; null on exhaustion. Secret. */
str hdfs_url(const hdfs_site *site, str service, const hdfs_request *r, arena *a);
/** May this redirect be followed from `service`? Never from TLS to none. NULL or why not. */
const char *hdfs_redirect_refused(str service, str location);
/** "host:port" of a URL, "" where it is none. */
str hdfs_host_of(str url);
/** NULL, or why HDFS cannot have this path. */
const char *hdfs_path_refused(str path);
silt_status hdfs_check_path(str path, silt_error *err) MUST_CHECK;

/* ---- the operations ---- */

/** hdfs_failure for who looks: below a file nothing is there. */
static inline silt_status hdfs_failure_to_find(const hdfs_store *s, const hdfs_answer *a, const char *what, str path, silt_error *err) {
    return hdfs_is_below_a_file(a) ? store_path_error(&s->base, path, err_FILE_NOT_FOUND, err) : hdfs_failure(s, a, what, path, err);
}

silt_status hdfs_read(store *s, str path, int64_t offset, int64_t length, buf *out, silt_error *err) MUST_CHECK;
/** The whole of a file, to `sink`, whose offset begins at 0 anew with each attempt. */
silt_status hdfs_read_to(hdfs_store *s, str path, silt_status (*sink)(void *, int64_t, str, silt_error *), void *ctx, silt_error *err) MUST_CHECK;
silt_status hdfs_stat(store *s, str path, arena *a, store_entry *out, silt_error *err) MUST_CHECK;
silt_status hdfs_make_dirs(store *s, str dir, silt_error *err) MUST_CHECK;
silt_status hdfs_put(store *s, str path, str bytes, store_put_mode mode, silt_error *err) MUST_CHECK;
silt_status hdfs_list(store *s, str dir, str start_at, bool recursive, arena *a, store_list_result *out, silt_error *err) MUST_CHECK;
silt_status hdfs_walk(store *s, str dir, const store_walker *w, silt_error *err) MUST_CHECK;
silt_status hdfs_remove_below(store *s, str dir, const str *names, size_t n, silt_status *out, silt_error *err) MUST_CHECK;
silt_status hdfs_local_read_path(store *s, str path, arena *a, str *out, silt_error *err) MUST_CHECK;
silt_status hdfs_write_begin(store *s, str path, arena *a, str *out_local, silt_error *err) MUST_CHECK;
void hdfs_write_abort(store *s, str path, str local);
silt_status hdfs_write_finish(store *s, str path, str local, silt_error *err) MUST_CHECK;
silt_status hdfs_write_finish_many(store *s, const str *paths, const str *locals, size_t n, silt_error *err) MUST_CHECK;

/** One page of a folder from behind `after` (null: the first). */
silt_status hdfs_list_page(hdfs_store *s, str dir, str after, const cancel_token *cancel, arena *a, hdfs_page *out, silt_error *err) MUST_CHECK;
/** Where a listing of names >= start_at may begin: a name that no wanted one is before. In HDFS's order; null: at the first. */
str hdfs_before(str start_at, arena *a);
/** Names of this store's own temporary files. */
bool hdfs_is_temporary(str name);

/** What is to become a file. */
typedef struct hdfs_body {
    str bytes;
    const char *file; /**< a local file of `size` bytes instead; NULL: bytes */
    int64_t size;
} hdfs_body;
/**
 * Make a new file, whole, at `path`, where nothing is: NameNode, then DataNode. EXISTS, IO (not made), UNKNOWN (a part of it, or all, may be there), …
 * out->may_have_applied: something may be at `path`, whatever is returned.
 */
silt_status hdfs_create(hdfs_store *s, str path, const hdfs_body *body, arena *a, hdfs_answer *out, silt_error *err) MUST_CHECK;
/**
 * Rename a whole file that this store made, in one step; replacing what has the name, or EXISTS. What was to be renamed is removed where it failed.
 * @return EXISTS; IO …: not renamed, and never will be; UNKNOWN: could not be learned
 */
silt_status hdfs_give_name(hdfs_store *s, str temporary, str path, const hdfs_body *body, bool replace, arena *a, silt_error *err) MUST_CHECK;
/** Put what `body` holds under `path` at once: by a temporary file beside it that is renamed. */
silt_status hdfs_put_body(hdfs_store *s, str path, const hdfs_body *body, bool replace, silt_error *err) MUST_CHECK;
/** Remove, best effort. *out_was_there: it was, and was removed by this. */
silt_status hdfs_discard(hdfs_store *s, str path, bool *out_was_there);

#endif
