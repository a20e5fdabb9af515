/** What Parquet footers say of their columns: names, ids and nesting. */
#ifndef ENGINE_SCAN_FOOTER_H
#define ENGINE_SCAN_FOOTER_H

#include "engine/internal.h"

typedef struct footer_node footer_node;
struct footer_node {
    str name;
    int32_t field_id; /**< -1: none */
    bool is_repeated;
    bool is_int96; /**< a timestamp of Impala, Hive and old Spark: an instant, although DuckDB calls it zoneless */
    footer_node *children;
    size_t n_children;
};

/** Calls fn with the root of each file, in order; the tree is gone when it returns. */
silt_status footers_read(engine *e, const str *local_paths, size_t n,
                         silt_status (*fn)(void *ctx, size_t file, const footer_node *root, silt_error *err), void *ctx,
                         silt_error *err) MUST_CHECK;
bool footer_has_ids(const footer_node *node);
/** Element node of a LIST group (three levels, or the two of old writers); NULL when the node is none. */
const footer_node *footer_list_element(const footer_node *node);
/** Key (0) or value (1) node of a MAP group. */
const footer_node *footer_map_part(const footer_node *node, size_t part);

#endif
