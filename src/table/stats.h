/**
 * Delta's per-file statistics (the JSON text in add.stats) and partition values as one stats_source.
 *
 * The text is checked once and then read in place, one column at a time, when a predicate asks for it: a scan of a million files that looks at one
 * column makes no object per file. Whatever is malformed or doubtful is "unknown": never an error, never a reason to skip the file.
 */
#ifndef TABLE_STATS_H
#define TABLE_STATS_H

#include "table/predicate.h"

typedef enum stats_bound { STATS_MIN, STATS_MAX } stats_bound;

/** Of one file; belongs to one thread at a time. */
typedef struct file_stats {
    const data_type *schema;                /**< borrowed; its physical names are the keys */
    arena *arena;                           /**< borrowed; only string bounds with escapes in their JSON are allocated */
    str min_values, max_values, null_count; /**< JSON objects, borrowed from the text; {NULL,0} when absent */
    int64_t num_records;                    /**< physical rows, -1 when unknown */
    bool tight_bounds;                      /**< true when not stated */
    const uint32_t *partition_columns;      /**< top-level field indexes */
    size_t n_partition_columns;
    const value *partition_values; /**< one per partition column; a value without type is unknown */
} file_stats;

/** Begin with the statistics text, which is borrowed for the life of *out; {NULL,0} or malformed text: everything unknown. */
void file_stats_parse(str json, const data_type *schema, arena *a, file_stats *out);
/** Add the file's partition values; both arrays are borrowed. */
void file_stats_set_partition(file_stats *s, const uint32_t *columns, size_t n, const value *values);
/** The bound as it was written, of a column with such a type; false when absent or not usable. Borrowed from the text, or in the arena. */
bool file_stats_bound(const file_stats *s, column_path column, stats_bound which, value *out);
bool file_stats_null_count(const file_stats *s, column_path column, int64_t *out);
/** The interface for predicates. Bounds are widened there where the writer may have rounded them (stats.c). Borrows `s`. */
void file_stats_source(const file_stats *s, stats_source *out);

/** What Delta's writer keeps of a string: the first 32 code points, borrowed. */
str stats_string_min(str s);
/** At most 32 UTF-16 units and a character that is not below what was cut off, appended to out; false when there is no such text (then no maximum is written). */
bool stats_string_max(buf *out, str s);
/** The same with another length than 32 (delta.dataSkippingStringPrefixLength). */
str stats_string_min_of(str s, size_t prefix);
bool stats_string_max_of(buf *out, str s, size_t prefix);

#endif
