/** Looking into vectors of any type: lists, maps and structs as trees of plain columns. */
#ifndef ENGINE_FUNCTIONS_NESTED_H
#define ENGINE_FUNCTIONS_NESTED_H

#include "engine/functions_call.h"

typedef struct nested nested;
struct nested {
    duckdb_type id, internal;
    uint8_t precision, scale;
    const void *data;
    uint64_t *valid;
    nested *children; /**< LIST: 1; MAP: 1 struct of key and value; STRUCT: its fields */
    idx_t n_children;
    char **names; /**< STRUCT: field names */
};

/** The tree of an argument; made at its first use in the call, freed with it. NULL on exhaustion. */
const nested *call_nested(call *c, idx_t arg);
void call_nested_free(call *c);

static inline bool nested_is_null(const nested *n, idx_t row) { return n->valid && !((n->valid[row / 64] >> (row % 64)) & 1); }
static inline duckdb_list_entry nested_list(const nested *n, idx_t row) { return ((const duckdb_list_entry *)n->data)[row]; }
static inline str nested_str(const nested *n, idx_t row) {
    duckdb_string_t *s = (duckdb_string_t *)(uintptr_t)n->data + row;
    return (str){duckdb_string_t_data(s), duckdb_string_t_length(*s)};
}
/** An integer or decimal of any width; false for other types. */
bool nested_exact(const nested *n, idx_t row, int128 *out);
/** A non-null value that is not nested, as CAST(x AS STRING) writes it. `offset`: of the session's zone, in us. */
void nested_write_scalar(buf *out, const nested *n, idx_t row, int64_t offset);
void interval_write(buf *out, duckdb_interval v, str kind); /**< functions_text.c */

/** Writing a VARCHAR[] result. */
typedef struct list_writer {
    duckdb_vector list, child;
    idx_t at;
} list_writer;
/** Appends one list to the result; rows must come in order. */
void ret_list_begin(call *c, idx_t row, list_writer *w);
bool ret_list_add(list_writer *w, str s);
void ret_list_end(call *c, idx_t row, list_writer *w);

#endif
