/** What a C scalar function sees: one row at a time, arguments by index, one result. Nulls in, null out, unless the row of the table says otherwise. */
#ifndef ENGINE_FUNCTIONS_CALL_H
#define ENGINE_FUNCTIONS_CALL_H

#include "engine/functions.h"
#include "table/value.h"

#define CALL_MAX_ARGS 32

/** DuckDB's type of an argument declared as any. */
typedef struct call_type {
    bool loaded;
    duckdb_type id, internal; /**< internal: how a decimal is stored, else id */
    uint8_t precision, scale;
} call_type;

typedef struct call {
    duckdb_function_info info;
    idx_t n_args;
    duckdb_vector in[CALL_MAX_ARGS];
    const void *data[CALL_MAX_ARGS];
    uint64_t *valid[CALL_MAX_ARGS];
    duckdb_vector out;
    void *out_data;
    uint64_t *out_valid;
    call_type types[CALL_MAX_ARGS];
    struct nested *trees[CALL_MAX_ARGS]; /**< functions_nested.h */
    uint8_t out_precision, out_scale;    /**< of a decimal result, once asked for */
    bool failed;
    buf text; /**< scratch for results and messages, cleared before every row */
} call;

typedef void (*call_fn)(call *c, idx_t row);

enum {
    CALL_VOLATILE = 1,
    CALL_NULLS = 2, /**< the function is called for null arguments too */
    CALL_RAISES =
        4 /**< registered as volatile: DuckDB runs other functions over all values of a dictionary, also those of rows that a filter took out */
};

/**
 * One function. Types by letter: b BOOLEAN, y TINYINT, h SMALLINT, i INTEGER, l BIGINT, H HUGEINT, f FLOAT, d DOUBLE, s VARCHAR, B BLOB, D DATE, t TIMESTAMP,
 * z TIMESTAMPTZ, v INTERVAL, * any, S VARCHAR[], + any number of any (last).
 */
typedef struct call_def {
    const char *name;
    call_fn row;
    const char *args;
    char result;
    int flags;
} call_def;

typedef struct call_group {
    const call_def *defs;
    size_t count;
} call_group;
extern const call_def calls_decimal[4]; /**< HUGEINT, BOOLEAN → decimals stored in 2, 4, 8 and 16 bytes */
extern const call_group calls_decimals, calls_core, calls_cast, calls_text, calls_math, calls_string, calls_datetime,
    calls_format, calls_number_format, calls_json, calls_hash, calls_digest;

static inline bool call_is_null(const call *c, idx_t arg, idx_t row) {
    return c->valid[arg] && !((c->valid[arg][row / 64] >> (row % 64)) & 1);
}
static inline int64_t call_i64(const call *c, idx_t arg, idx_t row) { return ((const int64_t *)c->data[arg])[row]; }
static inline int32_t call_i32(const call *c, idx_t arg, idx_t row) { return ((const int32_t *)c->data[arg])[row]; }
static inline double call_f64(const call *c, idx_t arg, idx_t row) { return ((const double *)c->data[arg])[row]; }
static inline float call_f32(const call *c, idx_t arg, idx_t row) { return ((const float *)c->data[arg])[row]; }
static inline bool call_bool(const call *c, idx_t arg, idx_t row) { return ((const bool *)c->data[arg])[row]; }
static inline int128 call_i128(const call *c, idx_t arg, idx_t row) {
    int128 v;
    memcpy(&v, (const char *)c->data[arg] + row * 16, 16);
    return v;
}
static inline str call_str(const call *c, idx_t arg, idx_t row) {
    duckdb_string_t *s = (duckdb_string_t *)(uintptr_t)c->data[arg] + row;
    return (str){duckdb_string_t_data(s), duckdb_string_t_length(*s)};
}
static inline duckdb_interval call_interval(const call *c, idx_t arg, idx_t row) {
    return ((const duckdb_interval *)c->data[arg])[row];
}

static inline void ret_bool(call *c, idx_t row, bool v) { ((bool *)c->out_data)[row] = v; }
static inline void ret_i8(call *c, idx_t row, int8_t v) { ((int8_t *)c->out_data)[row] = v; }
static inline void ret_i32(call *c, idx_t row, int32_t v) { ((int32_t *)c->out_data)[row] = v; }
static inline void ret_i64(call *c, idx_t row, int64_t v) { ((int64_t *)c->out_data)[row] = v; }
static inline void ret_f64(call *c, idx_t row, double v) { ((double *)c->out_data)[row] = v; }
static inline void ret_f32(call *c, idx_t row, float v) { ((float *)c->out_data)[row] = v; }
static inline void ret_i128(call *c, idx_t row, int128 v) { memcpy((char *)c->out_data + row * 16, &v, 16); }
static inline void ret_interval(call *c, idx_t row, duckdb_interval v) { ((duckdb_interval *)c->out_data)[row] = v; }
const call_type *call_type_of(call *c, idx_t arg);
/** An integer or decimal of any width as unscaled digits and scale; false for other types. */
bool call_exact(call *c, idx_t arg, idx_t row, int128 *out, int *out_scale);
void ret_null(call *c, idx_t row);
void ret_str(call *c, idx_t row, str s); /**< VARCHAR (valid UTF-8) or BLOB */
void ret_text(call *c, idx_t row);       /**< what is in c->text */
/** "[CONDITION|SQLSTATE] message[/]"; ends the call. */
void call_raise(call *c, const char *condition, const char *sqlstate, const char *format, ...) PRINTF(4, 5);

#endif
