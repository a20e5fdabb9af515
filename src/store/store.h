/**
 * The storage interface: bytes by path, on any back end. One contract suite (tests/contract) runs over every implementation.
 *
 * A store is one file system or bucket. Paths inside it are absolute ("/a/b.json" for local; "key/part" is written "/key/part" for object
 * stores), '/'-separated, already decoded (no percent-encoding). A store may be used by several threads at once; calls may block.
 * Errors: SILT_NOT_FOUND (FILE_NOT_FOUND), SILT_EXISTS, SILT_DENIED, SILT_NO_SPACE, SILT_IO, SILT_NO_MEMORY, SILT_UNKNOWN (put outcome).
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "base/base.h"
#include "base/thread.h"

typedef struct store store;

typedef struct store_entry {
    str path;            /**< absolute path in the store */
    int64_t size_bytes;  /**< 0 for folders */
    int64_t modified_ms; /**< ms since the epoch, UTC */
    bool is_dir;
    str tag; /**< changes whenever the bytes do: ETag, generation; as the store spells it. Null where the store has none or does not tell in a listing */
} store_entry;

typedef struct store_list_result {
    store_entry *items; /**< ascending by bytewise path order */
    size_t count, capacity;
} store_list_result;

typedef enum store_put_mode {
    STORE_PUT_IF_ABSENT, /**< atomic: the object appears whole or not at all, and only if nothing was there; else SILT_EXISTS */
    STORE_PUT_REPLACE,   /**< atomic replacement: readers see the old or the new bytes */
    STORE_PUT_IF_ABSENT_RELAXED /**< like STORE_PUT_IF_ABSENT, but not made durable: a crash of the machine may lose it or cut it short. For what
                                     readers must do without anyway. */
} store_put_mode;

/* ---- walking: a folder of millions of files without holding them ---- */

typedef enum store_kind {
    STORE_FILE,
    STORE_FOLDER,
    STORE_LINK /**< a symbolic link, whatever it leads to: never followed */
} store_kind;

/** Valid for the call that gets it. */
typedef struct store_walk_entry {
    str path; /**< relative to the walked folder */
    store_kind kind;
    int64_t size_bytes, modified_ms; /**< only in take; size 0 for folders and links */
    size_t n_files, n_folders;       /**< only in take, of a folder: what stands directly in it (n_files: all that is no folder, hidden entries too) */
} store_walk_entry;

typedef enum store_walk_wish {
    STORE_WALK_SKIP, /**< not wanted; a folder is not entered */
    STORE_WALK_PASS, /**< its name was enough, which saves the look at size and time; a folder is entered */
    STORE_WALK_TAKE  /**< `take` is to get it; a folder is entered, and taken when its own entries were looked at */
} store_walk_wish;

typedef struct store_walker {
    void *ctx;
    int n_threads;              /**< <= 0: default */
    const cancel_token *cancel; /**< may be NULL */
    store_walk_wish (*look)(void *ctx, const store_walk_entry *e);                                 /**< from several threads at once */
    silt_status (*take)(void *ctx, const store_walk_entry *e, silt_error *err);                    /**< one call at a time; a failure ends the walk */
} store_walker;

/* ---- many ranges at once ---- */

/** One piece of one file. */
typedef struct store_range {
    str path;
    int64_t offset, length; /**< as store_read takes them */
    str tag;                /**< null, or of what version the bytes must be, as store_entry tells it; looked at by stores that can tell (store_proves_tags). Bytes of another version are SILT_IO */
    buf *out;               /**< appended to; no two ranges of one call share one */
    silt_status status;     /**< out: how this range ended; SILT_CANCELLED where it was not begun */
} store_range;

typedef struct store_read_options {
    int in_flight;              /**< ranges at once; 0: what the back end says (store_ops.parallel) */
    const cancel_token *cancel; /**< may be NULL */
    /** May be NULL. Told of each range as soon as it is whole, by whatever thread read it: then its buffer may be used up and freed, which is what bounds the memory of a long list. A failure ends all. */
    silt_status (*done)(void *ctx, size_t i, silt_error *err);
    void *ctx;
    bool keep_going; /**< a missing file does not end the reading of the others: its status tells, and the call is SILT_OK */
} store_read_options;

/** A stretch of a file. */
typedef struct store_span {
    int64_t offset, length;
} store_span;

/** Stretches of a file that are readable at its local path: ascending, apart. */
typedef struct store_present {
    const store_span *items;
    size_t n;
} store_present;

/** A file of which some stretches are to be readable at a local path. */
typedef struct store_sparse {
    str path;
    int64_t size_bytes; /**< as a log or a listing tells it; < 0: unknown, which costs a request */
    str tag;            /**< as a listing told it; null: path and size are enough, because such files are never overwritten (data files of a log) */
    const store_span *spans;
    size_t n_spans; /**< 0: the whole file */
    bool proves_tag; /**< it may be written again: see store_range.tag */
    store_present *present; /**< may be NULL. Out: what of it was there before this call, for as long as its path; a store that keeps no parts leaves it alone */
} store_sparse;

/** STORE_OBJECT_CHANGED: another version of a file was met than the one that was asked for. */
bool store_met_another_version(const silt_error *why);

/** What a back end implements. Every slot must exist unless its comment says otherwise. */
typedef struct store_ops {
    const char *name; /**< "local", "memory", "fault", … */
    void (*close)(store *s);
    silt_status (*read)(store *s, str path, int64_t offset, int64_t length, buf *out, silt_error *err);
    silt_status (*stat)(store *s, str path, arena *arena, store_entry *out, silt_error *err);
    silt_status (*put)(store *s, str path, str bytes, store_put_mode mode, silt_error *err);
    silt_status (*list)(store *s, str dir, str start_at, bool recursive, arena *arena, store_list_result *out, silt_error *err);
    silt_status (*remove)(store *s, str path, silt_error *err);
    silt_status (*make_dirs)(store *s, str dir, silt_error *err);  /**< may do nothing where folders do not exist */
    silt_status (*remove_dir)(store *s, str dir, silt_error *err); /**< only an empty one */
    silt_status (*local_read_path)(store *s, str path, arena *arena, str *out, silt_error *err);
    silt_status (*write_begin)(store *s, str path, arena *arena, str *out_local, silt_error *err);
    /** May be NULL: nothing is done. See store_write_follow. */
    void (*write_follow)(store *s, str path, str local);
    silt_status (*write_finish)(store *s, str path, str local, silt_error *err);
    void (*write_abort)(store *s, str path, str local);
    /** May be NULL: then store_write_finish_many calls write_finish for each. */
    silt_status (*write_finish_many)(store *s, const str *paths, const str *locals, size_t n, silt_error *err);
    /** May be NULL: the store has no folders that could be moved as a whole. */
    silt_status (*move_dir)(store *s, str from, str to, silt_error *err);
    /** May be NULL: two folders cannot change places at once. */
    silt_status (*swap_dirs)(store *s, str a, str b, silt_error *err);
    /** May be NULL: then store_walk lists by pages, or all at once. */
    silt_status (*walk)(store *s, str dir, const store_walker *w, silt_error *err);
    /** May be NULL. Up to `limit` files below `dir` whose paths are > `after` (absolute; null: from the first), ascending. One request to an object store. */
    silt_status (*list_page)(store *s, str dir, str after, size_t limit, arena *arena, store_list_result *out, silt_error *err);
    /** May be NULL: then store_remove_below removes them one by one. */
    silt_status (*remove_below)(store *s, str dir, const str *names, size_t n, silt_status *out, silt_error *err);
    /** May be NULL: no two paths of this store lead to one object. */
    silt_status (*real_path)(store *s, str path, arena *arena, str *out, silt_error *err);
    /** Ranges that this store is fast with at once: 0: 8. A back end over HTTP says 32 and lets its client have as many connections. */
    int parallel;
    /** May be NULL: then store_read_many reads on `parallel` threads. Only for a store that has something better than that. `done` and `keep_going` are to be obeyed. */
    silt_status (*read_many)(store *s, store_range *ranges, size_t n, const store_read_options *o, silt_error *err);
    /** May both be NULL: nobody can tell of which version bytes are. See store_range.tag and store_proves_tags. */
    silt_status (*read_tagged)(store *s, str path, int64_t offset, int64_t length, str tag, buf *out, silt_error *err);
    bool (*proves_tags)(store *s);
    /** May be NULL: then store_local_ranges gives local_read_path of each. The read cache has it; back ends do not. */
    silt_status (*local_ranges)(store *s, const store_sparse *files, size_t n, const cancel_token *cancel, arena *arena, str *out_paths, size_t *out_failed, silt_error *err);
    /** May be NULL: nothing is done. See store_drop_copy; the read cache has it. */
    void (*drop_copy)(store *s, str local);
    /** May be NULL: nothing is kept. See store_kept_ns; the read cache has it. */
    int64_t (*kept_ns)(store *s, const store_sparse *file);
    /** May both be NULL: nothing is remembered. See store_hint; the read cache has them. */
    int64_t (*hint)(store *s, str log_dir);
    void (*set_hint)(store *s, str log_dir, int64_t version);
    /** May be NULL: nothing is told. See store_list_first. */
    silt_status (*list_first)(store *s, str dir, const cancel_token *cancel, arena *arena, store_list_result *out, bool *out_all, silt_error *err);
    /** May be NULL: nothing is done. See store_fetch_ahead; the read cache has it. */
    silt_status (*fetch_ahead)(store *s, const store_sparse *files, size_t n, const cancel_token *cancel, arena *arena, silt_error *err);
    /**
     * May be NULL for stores of this process alone (memory). Append what tells this store from every other, for the read cache's keys: scheme, endpoint, bucket or
     * container, account; never a credential. Two sessions that see the same bytes under the same paths give the same text.
     */
    void (*identity)(store *s, buf *out);
    /** May be NULL: writers are always kept apart. Append, for people, what keeps them apart when they commit; begins with "unsafe: " where nothing does. */
    void (*guard)(store *s, buf *out);
    /** May be NULL: never. A text that lives as long as the process, once; else NULL. */
    const char *(*take_news)(store *s);
} store_ops;

/** The head of every implementation's struct. */
struct store {
    const store_ops *ops;
    const char *uri_prefix; /**< what stands before its paths in a URI ("file:", "s3a://bucket"); set by the registry that opened it, NULL otherwise */
    store *inner;           /**< of a store in front of another one, with the same paths: that one, which the registry names with it; NULL otherwise */
};

/** What makes a URI of a path of this store when put before it: "file:", "s3a://bucket"; "" where it has none. Borrowed from the store. */
const char *store_uri_prefix(const store *s);

/** The path as messages name it: a URI of a remote store, the plain path of a local one (and where memory is short). In `a`. */
str store_path_named(const store *s, str path, arena *a);
/** The error that `make` (a row of errors.def about one path) makes of a path of this store, which is named so. */
silt_status store_path_error(const store *s, str path, silt_status (*make)(silt_error *err, str named), silt_error *err);

/** What keeps writers apart when they commit (see store_ops.guard); nothing is appended by stores that always do. */
void store_guard(store *s, buf *out);
/** What users should know since a commit of this store changed it for other writers, told once; else NULL. The store's, or that of one behind it. */
const char *store_take_news(store *s);

void store_close(store *s); /**< NULL is fine */
/** Append bytes [offset, offset+length) to out; length < 0 = to the end; a range beyond the end gives what is there. */
silt_status store_read(store *s, str path, int64_t offset, int64_t length, buf *out, silt_error *err) MUST_CHECK;
/**
 * Read many ranges of any files, several at once. Each range ends in its `status`; the call returns the first failure in their order, after which those not begun are not sent
 * (see keep_going). Memory: all buffers, unless `done` frees them. o may be NULL. Cost on a remote store: n / in_flight round trips.
 */
silt_status store_read_many(store *s, store_range *ranges, size_t n, const store_read_options *o, silt_error *err) MUST_CHECK;
/** For back ends' read_many: one of the ranges, as the options say, waited for. */
silt_status store_read_range(store *s, store_range *ranges, size_t i, const store_read_options *o, silt_error *err) MUST_CHECK;
/**
 * Do answers tell of which version the bytes are, so that a range with a tag that was read is of that version, without another question? Only what was seen of this store counts: false before anything
 * with a tag was read, and where answers came without one.
 */
bool store_proves_tags(store *s);
/** The strings of *out are in arena. NOT_FOUND when absent. */
silt_status store_stat(store *s, str path, arena *arena, store_entry *out, silt_error *err) MUST_CHECK;
/** May two modified_ms be of one and the same write? Services tell milliseconds in listings and leave them out elsewhere (S3's Last-Modified header has none): there a whole second agrees with all of it. */
bool store_times_agree(const store *s, int64_t a_ms, int64_t b_ms);
/** Durable when it returns SILT_OK (local: file and folder fsynced). Makes missing parent folders. SILT_UNKNOWN: the outcome could not be learned. */
silt_status store_put(store *s, str path, str bytes, store_put_mode mode, silt_error *err) MUST_CHECK;
/**
 * store_put of what is not there, under a name that is the writer's own (random): a put that was carried out twice, or whose answer was lost, is told from what is there.
 * @return never SILT_UNKNOWN: where it cannot be settled, SILT_IO. EXISTS: other bytes have the name
 */
silt_status store_put_own(store *s, str path, str bytes, silt_error *err) MUST_CHECK;
/**
 * Entries of folder `dir` (with or without a slash at its end), ascending; names (last component) >= start_at where that is not null (non-recursive only). recursive: every file below, no
 * folders; otherwise files and folders. A missing folder is SILT_NOT_FOUND. Temporary files of this store's own puts are not shown. From a name on that begins with a digit, a store whose server
 * has another order (HDFS) may leave out names whose first different character is outside ASCII.
 */
silt_status store_list(store *s, str dir, str start_at, bool recursive, arena *arena, store_list_result *out, silt_error *err) MUST_CHECK;
/**
 * The first of what store_list tells of a folder, as much as one request gives; *out_all: it is all. For who asks before it is known from where on to list. Where one request is not what listing is made of:
 * nothing at once, and not all. NOT_FOUND as store_list; CANCELLED soon after `cancel` (may be NULL) says so
 */
silt_status store_list_first(store *s, str dir, const cancel_token *cancel, arena *arena, store_list_result *out, bool *out_all, silt_error *err) MUST_CHECK;
/** NOT_FOUND when absent; OK where the store does not tell (S3). */
silt_status store_remove(store *s, str path, silt_error *err) MUST_CHECK;
silt_status store_make_dirs(store *s, str dir, silt_error *err) MUST_CHECK;
silt_status store_remove_dir(store *s, str dir, silt_error *err) MUST_CHECK;
/** A path of the local file system at which the whole object can be read by other libraries (the engine) until `arena` is reset or freed. Local: the path itself. */
silt_status store_local_read_path(store *s, str path, arena *arena, str *out, silt_error *err) MUST_CHECK;
/**
 * Local paths (in arena) at which the given stretches of each file, and at least those, can be read; what is not asked for may be anything. Local: the path itself. Behind a read cache: a sparse
 * file as long as the object, fetched as far as it was not yet there, which stays until `arena` is reset or freed. *out_failed (may be NULL): the file that the error is about, n where it is about none.
 * @return NOT_FOUND, IO (also where an object is shorter than size_bytes says), NO_SPACE, CANCELLED, …
 */
silt_status store_local_ranges(store *s, const store_sparse *files, size_t n, const cancel_token *cancel, arena *arena, str *out_paths, size_t *out_failed, silt_error *err) MUST_CHECK;
/**
 * Have whole files at hand for store_read, fetched in as few round trips as the store can do it in; spans are not looked at. Best effort: what could not be had is for its reader to complain about. Files may be
 * kept until `arena` ends. @return CANCELLED, NO_MEMORY, or what stopped the fetching, of which nothing follows
 */
silt_status store_fetch_ahead(store *s, const store_sparse *files, size_t n, const cancel_token *cancel, arena *arena, silt_error *err) MUST_CHECK;
/**
 * When something was last added to what is kept on the local disk of this file (path, size_bytes and tag as given to store_local_ranges), in ns since the epoch by the local clock; INT64_MAX: nothing is kept, or
 * it cannot be told. What was there before a listing was asked for, and has the tag that it then told, is all of one version.
 */
int64_t store_kept_ns(store *s, const store_sparse *file);
/** What stands at a path that store_local_ranges gave proved useless: it is fetched anew the next time it is wanted. Best effort. */
void store_drop_copy(store *s, str local);
/**
 * A number that was remembered on the local disk for a folder of a log: the version of a checkpoint that was seen there, from which on it may be enough to list, or 0 where there was none, so that all is to be
 * listed. It may be old, or of another table that was there; -1: none. Saves a request for _last_checkpoint, which is no more than a hint either.
 */
int64_t store_hint(store *s, str log_dir);
void store_set_hint(store *s, str log_dir, int64_t version); /**< best effort */
/** Are local paths of this store's files the files themselves? Otherwise reading a part costs less than reading all, and requests cost time: see store_local_ranges. */
bool store_is_remote(const store *s);
/** How many requests at once this store is fast with. */
int store_parallel(const store *s);
/** Threads for work of which each piece waits for this store: as many as it is fast with where it is remote, else `n_threads`. */
int store_threads(const store *s, int n_threads);
/** The whole object into a local file (one that store_write_begin gave, of this or another store), which is made or emptied; not durable by that. *out_bytes is what was copied. */
silt_status store_copy_out(store *s, str path, str local, const struct cancel_token *cancel, int64_t *out_bytes, silt_error *err) MUST_CHECK;
/** Begin a data file: *out_local is where another library (the engine's COPY) is to write it; parents exist. */
silt_status store_write_begin(store *s, str path, arena *arena, str *out_local, silt_error *err) MUST_CHECK;
/**
 * The file that store_write_begin gave is written from its front to its end from now on: a remote store may send what is there of it meanwhile. Nothing is readable before store_write_finish, which sends all
 * again where something else became of the file. Best effort.
 */
void store_write_follow(store *s, str path, str local);
/** Make it durable under `path` (fsync, or upload). Where *out_local is `path` itself, the writer may have used another name in the same folder (say, one that
 * listings hide, .silt-<x>.tmp): it is moved to `path` at once, over what is there, so that readers never see a part of it. Never SILT_UNKNOWN: an outcome that could not be learned is SILT_IO, and
 * the file may be there. */
silt_status store_write_finish(store *s, str path, str local, silt_error *err) MUST_CHECK;
/** write_finish for the files of one commit together: files are made durable side by side and each folder once, which for 1,000 files in 100
 * folders is 900 fewer waits for the disk. On failure any of them may be durable; abort them all. */
silt_status store_write_finish_many(store *s, const str *paths, const str *locals, size_t n, silt_error *err) MUST_CHECK;
/** Remove what was written. Best effort, never fails. */
void store_write_abort(store *s, str path, str local);

/** Can a folder be moved at once, whatever is in it? */
bool store_can_move(const store *s);
/** Move a folder with all that is in it, at once and durably; the parents of `to` are made. EXISTS where something is at `to` already. Only where store_can_move says so. */
silt_status store_move_dir(store *s, str from, str to, silt_error *err) MUST_CHECK;
/** Can two folders change places at once? */
bool store_can_swap(const store *s);
/** Two folders of one file system change places, durably: whoever opens either name gets the one or the other, never neither. NOT_FOUND where one is missing; UNSUPPORTED where the file
 * system has no such step. Only where store_can_swap says so. */
silt_status store_swap_dirs(store *s, str a, str b, silt_error *err) MUST_CHECK;

/**
 * Every entry below folder `dir`, in no order, nothing kept: memory is that of the folders still to visit. Folders are told of only where the store has them.
 * Entries that vanish meanwhile are left out; this store's own temporary files (.silt-*.tmp) are told of like others. A missing `dir` is SILT_NOT_FOUND.
 * Cost: local: one open per folder, a stat only for what is taken; object stores: one request per STORE_PAGE files, whatever the folders.
 */
silt_status store_walk(store *s, str dir, const store_walker *w, silt_error *err) MUST_CHECK;
#define STORE_PAGE 1000
/**
 * Remove files by their paths relative to `dir`, which no link below `dir` may lead out of: such a name is SILT_DENIED. out[i]: OK, NOT_FOUND or why not; err tells of the first that is
 * neither. Not durable. May be called by several threads for different names.
 * @return OK, however single removals ended; a status of its own where nothing could be tried
 */
silt_status store_remove_below(store *s, str dir, const str *names, size_t n, silt_status *out, silt_error *err) MUST_CHECK;
/** `path` without links, in `arena`: two paths of one object get the same text. NOT_FOUND when absent. */
silt_status store_real_path(store *s, str path, arena *arena, str *out, silt_error *err) MUST_CHECK;

/* ---- implementations ---- */
/** The local file system. Commits: O_TMPFILE or temp file + fsync + link/renameat2(RENAME_NOREPLACE) + fsync(dir). */
silt_status store_local_open(store **out, silt_error *err) MUST_CHECK;
/** In memory, for tests; deterministic clock: modified_ms counts up from `first_ms` by 1 per put unless store_memory_set_clock. */
silt_status store_memory_open(int64_t first_ms, store **out, silt_error *err) MUST_CHECK;
void store_memory_set_clock(store *s, int64_t next_ms);

/* Remote ones have the form of store_open_fn; config: const struct store_settings *. */
/** Amazon S3 and what speaks its interface (s3, s3a, s3n). Authority: the bucket. Settings: Hadoop's fs.s3a.* keys and the AWS environment; silt.s3.commit = conditional (default), dynamodb
 * or single-writer says how commits are kept apart, as does Delta's spark.delta.logStore.s3a.impl. */
silt_status store_s3_open(str authority, void *config, store **out, silt_error *err) MUST_CHECK;
silt_status store_s3a_open(str authority, void *config, store **out, silt_error *err) MUST_CHECK;
silt_status store_s3n_open(str authority, void *config, store **out, silt_error *err) MUST_CHECK;
/** Azure Blob Storage; authority "container@account.dfs.core.windows.net" (or .blob., or the account alone), or "container" with silt.azure.account. See azure.h for settings. */
silt_status store_azure_open(str authority, void *config, store **out, silt_error *err) MUST_CHECK;
/** Google Cloud Storage; authority: the bucket. See gcs.h for settings. */
silt_status store_gcs_open(str authority, void *config, store **out, silt_error *err) MUST_CHECK;
/**
 * HDFS by WebHDFS or HttpFS: hdfs (the authority is a NameNode's RPC address or a name service; the HTTP address is configured or derived), webhdfs, swebhdfs (HTTP and HTTPS addresses), with Hadoop's
 * configuration of HADOOP_CONF_DIR and of the settings. config: const store_settings *. Commits: a temporary file that is renamed without replacing.
 */
silt_status store_hdfs_open(str authority, void *config, store **out, silt_error *err) MUST_CHECK;
silt_status store_webhdfs_open(str authority, void *config, store **out, silt_error *err) MUST_CHECK;
silt_status store_swebhdfs_open(str authority, void *config, store **out, silt_error *err) MUST_CHECK;
/** A mount table of Hadoop's configuration files (fs.viewfs.mounttable.<authority>.link.…) over those three. */
silt_status store_viewfs_open(str authority, void *config, store **out, silt_error *err) MUST_CHECK;
/** Plain HTTP and HTTPS, to read; authority "host" or "host:port". Of folders, only _delta_log can be listed. */
silt_status store_http_open(str authority, void *config, store **out, silt_error *err) MUST_CHECK;
silt_status store_https_open(str authority, void *config, store **out, silt_error *err) MUST_CHECK;

/**
 * Fault injection around a store: `before` is asked before each call (nth_call counts from 1; calls of several threads may ask at once) and may
 * order a fault. The wrapper does not own `inner`. After a crash `before` is not asked again. write_finish_many asks once per file.
 * FAULT_FAIL: the call fails, nothing happens. FAULT_LOST_REPLY: the call happens, then SILT_IO/UNKNOWN is returned. FAULT_CRASH: this and every later call
 * fails as if the process had died before it; FAULT_CRASH_AFTER: the call happens, then the same. FAULT_SHORT: a read returns half of its bytes as if the file were torn.
 * FAULT_TWICE: a put or a removal happens twice, and the second outcome is told (something between sent the request again); other calls go through.
 */
typedef enum store_fault { FAULT_NONE, FAULT_FAIL, FAULT_LOST_REPLY, FAULT_CRASH, FAULT_CRASH_AFTER, FAULT_SHORT, FAULT_TWICE } store_fault;
typedef store_fault (*store_fault_fn)(void *ctx, const char *call, str path, size_t nth_call);
silt_status store_fault_open(store *inner, store_fault_fn before, void *ctx, store **out, silt_error *err) MUST_CHECK;

/** What a read cache is given; copied. */
typedef struct store_cache_settings {
    str dir;           /**< folder on a local disk, made when missing (0700); shared by any number of processes of one user */
    int64_t max_bytes; /**< kept after eviction; what running queries use is kept beyond it. <= 0: a tenth of the free disk, at most 10 GB */
    bool poison;       /**< tests: what is not there is filled with bytes that are no zeros, so that a read of it shows */
} store_cache_settings;
/**
 * A read cache around a remote store (cache.h has its parts): local_read_path and local_ranges give sparse files under `dir`; everything else is passed through. Takes over `inner` when it returns
 * SILT_OK. A folder that cannot be used is an error at the first read that needs it, not here.
 */
struct store_settings;
/** From the session's silt.cache.dir and silt.cache.maxSize ("10gb", bytes; settings.h), else the defaults; strings in arena. A null dir: none is wanted (a size of 0), or there is no home that could hold it: no cache. INVALID (a size that is none). */
silt_status store_cache_settings_get(const struct store_settings *s, arena *arena, store_cache_settings *out, silt_error *err) MUST_CHECK;
silt_status store_cache_open(store *inner, const store_cache_settings *settings, store **out, silt_error *err) MUST_CHECK;
typedef struct store_cache_usage {
    int64_t bytes;              /**< on the disk */
    int64_t entries;            /**< objects of which something is held */
    uint64_t hits, misses;      /**< files asked for that were there as far as needed, and that were not */
    uint64_t bytes_hit, bytes_fetched;
} store_cache_usage;
/** Of the whole folder, all processes together. A folder that is not there is empty. */
silt_status store_cache_show(str dir, store_cache_usage *out, silt_error *err) MUST_CHECK;
/** Remove every entry that no running query uses. *out: what went. */
silt_status store_cache_clear(str dir, store_cache_usage *out, silt_error *err) MUST_CHECK;
/** Silt's default folder: $XDG_CACHE_HOME/silt/data, else ~/.cache/silt/data; null where neither is set. */
str store_cache_default_dir(arena *arena);

/** Opens stores by scheme: the one place that knows the back ends (filled by the api). Stores are shared per scheme+authority and counted. */
typedef struct store_registry store_registry;
typedef silt_status (*store_open_fn)(str authority, void *config, store **out, silt_error *err);
silt_status store_registry_new(store_registry **out, silt_error *err) MUST_CHECK;
void store_registry_free(store_registry *r); /**< closes every store it opened */
/** Schemes added with the same `open` and `config` share their stores (s3, s3a). */
silt_status store_registry_add(store_registry *r, const char *scheme, store_open_fn open, void *config, silt_error *err) MUST_CHECK;
/** Settings have changed: locations found from now on of stores that have any (config not NULL) open their store anew. Those already opened stay valid. */
void store_registry_renew(store_registry *r);
/** Resolve a path or URI to its store (borrowed from the registry, until it is freed) and the path in it (in arena). */
silt_status store_registry_find(store_registry *r, str location, arena *arena, store **out_store, str *out_path, silt_error *err) MUST_CHECK;

#endif
