/**
 * The parts of the read cache. Internal to store/.
 *
 * The folder (its form has a version in its name, so that a later one stands beside it):
 *
 *   <dir>/v1/lock                     locked shared while entries are looked up, exclusively while some are removed
 *   <dir>/v1/counts                   hits, misses, bytes; under a lock of its own
 *   <dir>/v1/leases/<uuid>            one per process and store, locked as long as it lives; its time is that of the oldest query under way
 *   <dir>/v1/objects/<xx>/<key>.map   which stretches of the object are there, see cache_entry.c; its time is that of the last use
 *   <dir>/v1/objects/<xx>/<key>[.ext] the object, sparse: the engine reads this one
 *   <dir>/v1/objects/<xx>/<key>.map   without the other: the small files of one log, see cache_pack.c; its time is that of the last use
 */
#ifndef STORE_CACHE_H
#define STORE_CACHE_H

#include <limits.h>
#include <pthread.h>

#include "store/store.h"

/* ---- the folder (cache_folder.c) ---- */

typedef struct cache_folder {
    char dir[PATH_MAX - 256]; /**< <dir>/v1 */
    uint64_t boot;            /**< of the machine: what an earlier one left was perhaps never on the disk */
    bool poison;              /**< tests: what is not there is filled with bytes that are no zeros */
} cache_folder;

/** Where it is; nothing is made. INVALID for a path that is too long. */
silt_status cache_folder_set(cache_folder *f, str dir, silt_error *err) MUST_CHECK;
/** Make what is missing of it. READ_CACHE_UNUSABLE also where it belongs to somebody else or others may write to it: they could put other data under a table. */
silt_status cache_folder_make(const cache_folder *f, silt_error *err) MUST_CHECK;
/** The folder's lock, shared or exclusive; a descriptor to close, or -1 (errno). */
int cache_folder_lock(const cache_folder *f, bool exclusive);
/** READ_CACHE_UNUSABLE with the reason; NO_SPACE stays what it is. */
silt_status cache_folder_failure(const cache_folder *f, int saved_errno, const char *call, silt_error *err);

/** What <dir>/v1/counts holds. */
typedef struct cache_counts {
    uint64_t hits, misses, bytes_hit, bytes_fetched;
    int64_t bytes; /**< on the disk: counted at the last eviction, and what was fetched since */
} cache_counts;
/** Adds to the counts of all processes and gives them. `add` may be NULL. Best effort: a folder that cannot be written counts nothing. */
void cache_counts_add(const cache_folder *f, const cache_counts *add, cache_counts *out);
/** Sets `bytes`; all others to 0 where reset. */
void cache_counts_set(const cache_folder *f, int64_t bytes, bool reset);

/* ---- what is in use (cache_lease.c) ---- */

typedef struct cache_lease cache_lease;
cache_lease *cache_lease_new(const cache_folder *f); /**< NULL on exhaustion */
void cache_lease_release(cache_lease *l);            /**< holds that are still there keep it */
/**
 * From now on, until `arena` is reset or freed, no process removes an entry that is used later than now. *out_ns: at least so late must uses be dated (ns since the epoch). Called under the folder's
 * shared lock, so that no eviction is under way.
 */
silt_status cache_lease_hold(cache_lease *l, arena *arena, int64_t *out_ns, silt_error *err) MUST_CHECK;
/** The time of the oldest query under way in any process; INT64_MAX: none. Under the folder's exclusive lock. Leases of dead processes are removed. */
int64_t cache_lease_oldest(const cache_folder *f);

/* ---- one object (cache_entry.c) ---- */

#define CACHE_NAME_LEN 32 /**< hex digits of an entry's name */

/** An object as it is kept. Strings in the arena given, ending in NUL. */
typedef struct cache_key {
    str text; /**< what the name was made of: store, path, size, tag */
    str map, data;
    int64_t size;
} cache_key;
silt_status cache_key_make(const cache_folder *f, str identity, const store_sparse *file, arena *a, cache_key *out, silt_error *err) MUST_CHECK;

bool cache_key_make_folder(const cache_key *k); /**< the two hex digits between objects/ and the name; false: errno */
/** All of it, or false. */
bool cache_read_at(int fd, char *p, size_t n, int64_t offset);
bool cache_write_at(int fd, const char *p, size_t n, int64_t offset);

/** Sorted, none touches another. */
typedef struct cache_spans {
    store_span *items; /**< in the arena given */
    size_t count, capacity;
} cache_spans;
bool cache_spans_add(cache_spans *s, int64_t offset, int64_t length, arena *a); /**< joins what touches; false on exhaustion */
bool cache_spans_cover(const cache_spans *s, int64_t offset, int64_t length);

/** What is there of the object, which is made (empty) where it is not; dates its use. Damaged parts are forgotten. */
silt_status cache_entry_look(const cache_folder *f, const cache_key *k, int64_t used_ns, arena *a, cache_spans *out, silt_error *err) MUST_CHECK;
/** Put bytes where they belong and, after that, note that they are there. Any number of threads and processes. */
silt_status cache_entry_add(const cache_folder *f, const cache_key *k, int64_t offset, str bytes, silt_error *err) MUST_CHECK;

/** A descriptor of the sparse file where that stretch is there (dates its use), else -1. The descriptor stays good, whatever is removed. */
int cache_entry_open(const cache_folder *f, const cache_key *k, int64_t offset, int64_t length, arena *a);

/* ---- files of logs (cache_known.c) ---- */

typedef struct cache_known cache_known;
cache_known *cache_known_new(void); /**< NULL on exhaustion */
void cache_known_free(cache_known *k);
/** What a listing or a stat told. Best effort. Any thread, as below. */
void cache_known_tell(cache_known *k, const store_entry *entries, size_t n);
void cache_known_forget(cache_known *k, str path);
void cache_known_clear(cache_known *k);
/** Size and tag (in `a`) of a file of a log, as they were told last. */
bool cache_known_find(cache_known *k, str path, arena *a, int64_t *out_size, str *out_tag);
/** The entry's tag, or in its place its time; null on exhaustion. */
str cache_tag_of(const store_entry *e, arena *a);

/* ---- small files of logs (cache_pack.c) ---- */

typedef struct cache_packs cache_packs;
/** A file to be added; borrowed. */
typedef struct cache_packed {
    const store_sparse *file;
    str bytes; /**< all of it */
} cache_packed;
cache_packs *cache_packs_new(void); /**< NULL on exhaustion */
void cache_packs_free(cache_packs *all);
/** Is this one kept in its log's pack? A small text of a log, whole, with size and tag. The functions below are for such alone; any thread. */
bool cache_packs_takes(const store_sparse *file);
/** Which of them are there; quickest where those of one folder follow each other. */
void cache_packs_look(cache_packs *all, const cache_folder *f, str identity, const store_sparse *files, size_t n, bool *out_there);
/** false: they are not all kept. */
bool cache_packs_add(cache_packs *all, const cache_folder *f, str identity, const cache_packed *files, size_t n);
/** Append the stretch, which lies within the file, to *out. false: it is not there. */
bool cache_packs_read(cache_packs *all, const store_sparse *file, int64_t offset, int64_t length, buf *out);

/** store_hint's number, which stands among the folder's files; -1: none. */
int64_t cache_packs_hint(cache_packs *all, const cache_folder *f, str identity, str folder);
void cache_packs_set_hint(cache_packs *all, const cache_folder *f, str identity, str folder, int64_t version);

/** cache_ahead.c: have those files (which cache_packs_takes) there, as far as they can be had. *out counts. @return CANCELLED, NO_MEMORY, and what ended the reading */
silt_status cache_ahead(cache_packs *all, store *inner, int in_flight, const cache_folder *f, str identity, const store_sparse *files, size_t n, const cancel_token *cancel, cache_counts *out, silt_error *err)
    MUST_CHECK;

/* ---- removal (cache_evict.c) ---- */

/** Remove entries, the longest unused first, until at most `keep_bytes` are left or all others are in use. *removed (may be NULL): what went. */
silt_status cache_evict(const cache_folder *f, int64_t keep_bytes, store_cache_usage *left, store_cache_usage *removed, silt_error *err) MUST_CHECK;

/* ---- fetching (cache_fetch.c) ---- */

/** How fast the store answers, learned from what was read; under `lock`. */
typedef struct cache_pace {
    pthread_mutex_t lock;
    double latency_us;   /**< until the first answer; 0: not known */
    double bytes_per_us; /**< of all connections together; 0: not known */
} cache_pace;

/** One file of a fetch. */
typedef struct cache_want {
    cache_key key;
    str path;
    str tag; /**< of which version the bytes must be; null: nothing is asked */
    cache_spans present;
    const store_span *spans;
    size_t n_spans; /**< 0: all of it */
    bool hit;
} cache_want;

/** Read what is wanted and not present from `inner` and keep it. *out_bytes: what was read; *out_failed: the file that an error is about, n: none. */
silt_status cache_fetch(store *inner, int in_flight, const cache_folder *f, cache_pace *pace, cache_want *wants, size_t n, const cancel_token *cancel, arena *a, int64_t *out_bytes, size_t *out_failed, silt_error *err)
    MUST_CHECK;

#endif
