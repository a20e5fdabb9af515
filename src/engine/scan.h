/**
 * The scan node: the one way to read a table (docs/decisions/002-engine-rules.md). Nothing else prints a list of data files.
 *
 * A scan_plan holds the scans of one statement. It prints each REL_TABLE as a parenthesised SELECT with the columns c0 … cn that are used, remembers the file
 * lists, and hands them to the connection as variables before the statement is prepared.
 */
#ifndef ENGINE_SCAN_H
#define ENGINE_SCAN_H

#include "engine/internal.h"
#include "table/parquet_fetch.h"

typedef struct scan_node scan_node;
typedef struct scan_remote scan_remote;

typedef struct scan_plan {
    engine *engine;
    arena *arena; /* borrowed; owns everything but the registrations */
    scan_node **nodes;
    size_t n_nodes, node_capacity;
    bool bundles_small; /* small files are read as few (scan_bundle.h), where nothing is asked of them but rows */
    const relation *limited; /* of this table the first rows_wanted rows are enough (scan_limit.h); NULL: of none */
    int64_t rows_wanted;
    bool only_explains; /* nothing will run: columns of remote files are not fetched */
    bool one_thread; /* a single file is not read by several: other statements use the processors */
    bool by_partition; /* files in the order of their partition values, for a write that takes rows partition by partition */
    scan_printer printer;
} scan_plan;

void scan_plan_init(scan_plan *plan, engine *e, arena *a);
/** Forgets the numbers of its groups. The statement that uses them must have ended. */
void scan_plan_dispose(scan_plan *plan);
/** The scan of a relation, planned at the first call. */
silt_status scan_plan_node(scan_plan *plan, const relation *rel, scan_node **out, silt_error *err) MUST_CHECK;
/** Gives the connection the file lists and schemas of everything printed so far. */
silt_status scan_plan_apply(scan_plan *plan, engine_connection *c, silt_error *err) MUST_CHECK;
/** One report per table, in `plan->arena`. */
silt_status scan_plan_reports(const scan_plan *plan, scan_report **out, size_t *out_count, silt_error *err) MUST_CHECK;
/** A failed statement's error, with the data file at fault named where it can be told. */
silt_status scan_plan_failure(const scan_plan *plan, silt_status status, silt_error *err);

silt_status engine_register_scan_functions(engine *e, duckdb_connection connection, silt_error *err) MUST_CHECK;

/* ---- between scan.c, scan_files.c, scan_footer.c and scan_functions.c ---- */

/** What one group of files gives for one wanted column: files of a group agree in these. */
typedef struct column_read {
    bool exists;           /**< false: NULL in every row */
    str name;              /**< the column's name in the files */
    const data_type *type; /**< wanted type with the files' own field names */
} column_read;

typedef struct scan_group {
    uint64_t id; /**< the number printed into the SQL */
    const scan_node *node;
    const uint32_t *files; /**< indexes in node->scan.files, in the order of DuckDB's file list; NULL: all, in order */
    size_t n_files;
    const column_read *reads; /**< by wanted column */
    str schema_map;           /**< the value of the schema variable as text: what files of a group have in common */
    bool binary_as_string;
} scan_group;

/** A column that must come out of the files. */
typedef struct wanted_column {
    field field; /**< with physical name and id */
    str alias;   /**< c0 …, or m0, m1 for materialised row ids */
} wanted_column;

struct scan_node {
    engine *engine;
    const relation *rel;
    const table_source *source;
    table_scan scan;
    str *local_paths; /**< by scan.files */
    parquet_want **wants; /**< by scan.files: what is to be fetched of it, NULL: it is local; NULL: all are */
    scan_remote *remotes; /**< the same by store (scan_fetch.c) */
    size_t n_remotes, remote_capacity;
    bool columns_are_there;
    wanted_column *wanted;
    size_t n_wanted;
    int32_t *wanted_of; /**< by field of the schema: its index in `wanted`, -1 */
    scan_group *groups;
    size_t n_groups;
    bool has_deleted, one_thread;
    str *bundles; /**< temporary files that are read in place of small ones */
    size_t n_bundles;
};

static inline const scan_file *group_file(const scan_group *g, uint64_t file_index) {
    if (file_index >= g->n_files) return NULL;
    return &g->node->scan.files[g->files ? g->files[file_index] : file_index];
}

/** Splits the node's files into groups that agree in how the wanted columns are found. Reads footers only where the log does not tell. */
silt_status scan_make_groups(scan_node *node, engine *e, arena *a, silt_error *err) MUST_CHECK;

/** Constants of a file that silt_file_… functions give, beside its partition values (0 …). */
enum {
    FILE_BASE_ROW_ID = -1,
    FILE_ROW_COMMIT_VERSION = -2,
    FILE_SIZE = -3,
    FILE_MODIFIED = -4,
    FILE_PATH = -5,
    FILE_NAME = -6,
    FILE_INDEX = -7
};

#endif
