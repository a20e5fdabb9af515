/**
 * Rows kept outside of DuckDB, one after another in pages: how the vectors of a query are laid out in a row, and how rows are copied in and out.
 *
 * A row: its key (8 bytes), its length (4), a bit per leaf that tells a null, the leaves of fixed width and the lengths of the others, then the bytes of these in order.
 */
#ifndef ENGINE_ROW_LAYOUT_H
#define ENGINE_ROW_LAYOUT_H

#include <stdatomic.h>
#include <string.h>

#include "engine/internal.h"

#define ROW_MAX_ROWS 2048 /* of a chunk */

/** What of a column stands in a row by itself. A struct is one leaf for its own nulls, and those of its fields behind it. */
typedef enum leaf_kind {
    LEAF_STRUCT, /**< nulls alone */
    LEAF_FIXED,  /**< `width` bytes */
    LEAF_TEXT,   /**< text or bytes */
    LEAF_NESTED  /**< lists and maps, written value by value */
} leaf_kind;

typedef struct row_leaf {
    leaf_kind kind;
    uint32_t width, at; /**< of what stands in the row's fixed part; texts and nested values: their length, 4 bytes */
    atomic_bool has_null;
} row_leaf;

typedef struct row_layout {
    duckdb_logical_type *types; /**< of the columns */
    size_t n_columns;
    row_leaf *leaves; /**< columns in order, a struct before its fields */
    size_t n_leaves;
    uint32_t fixed_bytes; /**< of a row without texts and nested values */
} row_layout;

/** Columns of these types can be kept. */
bool row_layout_takes(const data_type *type);
/** The layout of such vectors. false on exhaustion (or a type that cannot be kept); to be disposed in every case. */
bool row_layout_init(row_layout *l, const duckdb_vector *columns, size_t n_columns);
void row_layout_dispose(row_layout *l);

static inline int64_t row_key(const char *row) {
    int64_t key;
    memcpy(&key, row, sizeof key);
    return key;
}
static inline uint32_t row_bytes(const char *row) {
    uint32_t n;
    memcpy(&n, row + 8, sizeof n);
    return n;
}

/** How many bytes each of the rows [0, n) of the flat vectors takes. false where one takes 4 GB or more. */
bool row_layout_measure(const row_layout *l, const duckdb_vector *columns, size_t n, uint32_t *out) MUST_CHECK;
/** Write the rows, row i to to[i]. */
void row_layout_write(row_layout *l, const duckdb_vector *columns, const int64_t *keys, const uint32_t *bytes, size_t n, char *const *to);
/** Put rows into the columns of a new chunk; `scratch` keeps its memory from call to call. false on exhaustion. */
bool row_layout_read(const row_layout *l, const char *const *rows, size_t n, buf *scratch, duckdb_data_chunk out) MUST_CHECK;

#endif
