/**
 * File actions (add and remove) in columns: one batch holds those of a run of commits, of a part of one large commit, or of one
 * checkpoint file, in the order of the log. Nothing is allocated per file: strings stand once in one byte buffer, partition
 * values in a dictionary of the distinct maps, and statistics stay where they are (an offset into the log file, or the row of the
 * checkpoint). About 60 bytes per action besides its path.
 *
 * A batch is filled by one thread, then frozen: immutable, reference-counted, shared by every snapshot that shows one of its
 * rows.
 */
#ifndef DELTA_FILE_BATCH_H
#define DELTA_FILE_BATCH_H

#include "delta/actions.h"

/** Number of records as far as loading the log told it without reading statistics. */
#define ROW_RECORDS_UNKNOWN ((int64_t)-1) /**< statistics must be read */
#define ROW_RECORDS_ABSENT  ((int64_t)-2) /**< there are none */

enum {
    ROW_REMOVE = 1, /**< otherwise an add */
    ROW_DATA_CHANGE = 2,
    ROW_EXTENDED = 4,      /**< remove.extendedFileMetadata */
    ROW_HAS_PARTITION = 8, /**< partitionValues was there */
    ROW_PLAIN_PATH = 16,   /**< the path is its own canonical form */
    ROW_HAS_STATS = 32
};

typedef struct file_row {
    uint32_t path, path_len; /**< in strings */
    uint32_t stats_len;      /**< JSON log: length of the raw string token with its quotes */
    uint32_t partition;      /**< index into partitions */
    uint32_t dv;             /**< 1-based index into dvs, 0 none */
    uint32_t flags;
    int64_t stats_offset; /**< JSON log: of the token in its file; checkpoint: row number */
    int64_t size_bytes;   /**< -1 when absent */
    int64_t time_ms;      /**< modificationTime, or deletionTimestamp (-1 when absent) */
    int64_t num_records;  /**< >= 0, or one of the two above */
} file_row;

/** What few tables have; a parallel array that exists only where some row of the batch has it. */
typedef struct file_extra {
    int64_t base_row_id, default_row_commit_version; /**< -1 when absent */
    uint32_t tags, tags_len;                         /**< JSON text in strings; len 0 = none */
    uint32_t clustering, clustering_len;
} file_extra;

typedef struct batch_dv {
    char storage;
    uint32_t path, path_len;
    int32_t offset, size_bytes;
    int64_t cardinality;
} batch_dv;

/** Rows from `first_row` on, up to the next segment, come from this file. */
typedef struct batch_source {
    str path; /**< absolute in the store; in the batch's arena */
    int64_t version;
    bool is_parquet;                       /**< stats_offset is a row number */
    bool has_stats_json, has_stats_parsed; /**< Parquet: which columns the file has */
    uint32_t first_row;
} batch_source;

typedef struct file_batch {
    int refs;     /* atomic */
    arena *arena; /* partitions, sources */
    file_row *rows;
    uint64_t *keys;     /**< hash of (canonical path, deletion vector id), parallel to rows */
    file_extra *extras; /**< NULL when no row has any */
    uint32_t n_rows, capacity;
    uint32_t n_removes;
    char *strings;
    size_t strings_len, strings_capacity;
    batch_dv *dvs;
    uint32_t n_dvs, dvs_capacity;
    str_map *partitions;
    str *partition_keys;
    uint32_t n_partitions, partitions_capacity; /**< partition_keys: the raw text each was interned by */
    uint32_t *partition_index;
    uint32_t partition_index_capacity; /* open addressing over partition_keys; freed by file_batch_freeze */
    uint32_t last_partition;
    batch_source *sources;
    size_t n_sources, sources_capacity;
} file_batch;

file_batch *file_batch_new(void); /**< NULL on exhaustion; one reference */
file_batch *file_batch_retain(const file_batch *b);
void file_batch_release(file_batch *b); /**< NULL is fine */
/** Give back what only filling needs. */
void file_batch_freeze(file_batch *b);

/* ---- filling; false on exhaustion (or 4 GiB of strings) ---- */
bool file_batch_add_source(file_batch *b, str path, int64_t version, bool is_parquet);
/** Copy into strings. */
bool file_batch_string(file_batch *b, str s, uint32_t *out_offset);
/** Append a row: path must be set in `row` (by file_batch_string) and dv; the key is computed here. */
bool file_batch_push(file_batch *b, const file_row *row, const file_extra *extra);
bool file_batch_push_dv(file_batch *b, const batch_dv *dv, uint32_t *out_number);
/** Index of the partition map interned under `raw` (any text that determines the map), or UINT32_MAX. */
uint32_t file_batch_find_partition(file_batch *b, str raw);
/** Intern a new map; strings of `map` are copied. UINT32_MAX on exhaustion. */
uint32_t file_batch_add_partition(file_batch *b, str raw, const str_map *map);

/* ---- reading ---- */
static inline str file_batch_text(const file_batch *b, uint32_t offset, uint32_t len) { return (str){b->strings + offset, len}; }
static inline str file_batch_path(const file_batch *b, uint32_t row) {
    return file_batch_text(b, b->rows[row].path, b->rows[row].path_len);
}
static inline bool file_row_is_remove(const file_row *r) { return (r->flags & ROW_REMOVE) != 0; }
const batch_source *file_batch_source(const file_batch *b, uint32_t row);
delta_dv file_batch_dv(const file_batch *b, uint32_t row); /**< storage 0 when none; strings borrowed */
/** Same (canonical path, deletion vector id)? To be asked only where the keys are equal. */
bool file_batch_same_file(const file_batch *a, uint32_t row_a, const file_batch *b, uint32_t row_b);
bool file_batch_is_file(const file_batch *b, uint32_t row, str path, const delta_dv *dv);

/** Fill the action from its row; strings are borrowed from the batch except stats (left null) and checkpoint tags. */
void file_batch_get_add(const file_batch *b, uint32_t row, delta_add *out);
void file_batch_get_remove(const file_batch *b, uint32_t row, delta_remove *out);

/** Replay key of a path and vector outside of a batch. */
uint64_t file_key(str path, const delta_dv *dv);

/**
 * Canonical text of an action's path for the replay key: percent-decoded once, doubled slashes joined, and an absolute path equal
 * to its file: URI. A relative path stays relative (Delta 4.3: an absolute URI of a file inside the table root does not cancel
 * its relative add). Writes at most path.len bytes to `out`.
 */
size_t path_canonical(str path, char *out);
bool path_is_plain(str path); /**< path_canonical would not change it */

#endif
