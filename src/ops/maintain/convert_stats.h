/**
 * Statistics of files that others wrote. Internal to ops/.
 *
 * Spark reads all data for them. Here the footer tells what it tells with certainty; what it does not (INT96 times have no bounds, most writers leave NaN out of a maximum, strings are
 * cut without a word) is asked of the data, those columns alone, or left out. A bound that is too narrow would hide rows, so nothing is believed that is not known of its writer.
 */
#ifndef OPS_MAINTAIN_CONVERT_STATS_H
#define OPS_MAINTAIN_CONVERT_STATS_H

#include "ops/maintain/convert_files.h"

/** A counted leaf of the table's schema. */
typedef struct stats_slot {
    const str *path; /**< names from the top level down */
    size_t depth;
    const data_type *type;
    bool is_bounded; /**< has minimum and maximum */
} stats_slot;

typedef struct stats_node stats_node;
struct stats_node {
    str name;
    bool is_counted, is_bounded; /**< a struct: has such a leaf below */
    size_t slot;                 /**< of a counted leaf */
    stats_node *children;        /**< of a struct, else NULL */
    size_t n_children;
};

typedef struct stats_plan {
    stats_slot *slots;
    size_t n_slots, capacity;
    stats_node root;
    size_t prefix; /**< of strings, in characters */
    bool write_tight_bounds;
} stats_plan;

/** Which columns, by the rules of a write (dataSkippingNumIndexedCols, dataSkippingStatsColumns). */
silt_status stats_plan_make(const op *o, const write_spec *spec, stats_plan *out) MUST_CHECK;

/** How one schema's files give a slot. */
typedef struct slot_column {
    bool is_missing;  /**< NULL in every row */
    bool is_optional; /**< it or something above it may be null */
    bool is_nested;
    uint32_t leaf;
    parquet_element element;    /**< without its name */
    const data_type *type;      /**< the files' own */
    uint32_t path[64];          /**< in the files' own type */
    size_t depth;
} slot_column;

/** What is known of a slot in one file. */
typedef struct slot_stats {
    int64_t nulls; /**< -1 unknown */
    bool has_bounds;
    value min, max;
    bool is_uncertain; /**< the data could tell more */
} slot_stats;

/** From a footer of that schema; strings are borrowed from it. */
void slot_stats_of_footer(const parquet_footer *f, const slot_column *c, const stats_slot *slot, slot_stats *out);
/** Dates before 1582 and times before 1900 of a file in the old calendar have no certain meaning. */
void slot_stats_drop_old_times(slot_stats *s, const data_type *type);
/** add.stats. */
void stats_plan_write(const stats_plan *plan, int64_t rows, const slot_stats *stats, buf *out);

/** Files [first, first + n) have their statistics; gone when the call returns. */
typedef silt_status (*stats_batch_fn)(void *ctx, size_t first, size_t n);
/** The statistics of every file, some thousands at a time, in order. silt.convert.stats = exact (default) or footer. */
silt_status convert_stats_collect(const op *o, convert_files *f, const write_spec *spec, stats_batch_fn fn, void *ctx) MUST_CHECK;
/** The same whatever the setting says: exact. */
silt_status convert_stats_collect_exactly(const op *o, convert_files *f, const write_spec *spec, stats_batch_fn fn, void *ctx) MUST_CHECK;

/* ---- convert_scan.c: what the data says ---- */
/**
 * For files (indexes into f->files) of one schema and the wanted slots: out[i * plan->n_slots + slot], in o->a. Only wanted slots are filled in.
 */
silt_status convert_scan(const op *o, const convert_files *f, const stats_plan *plan, const slot_column *columns, const size_t *files, size_t n,
                         const bool *wanted, slot_stats *out) MUST_CHECK;
/** Rows of each of the files, by reading them as a table would; in o->a. */
silt_status convert_count_rows(const op *o, const convert_files *f, int64_t **out) MUST_CHECK;

#endif
