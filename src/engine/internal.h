/** What the files of `engine` share. No other module includes it. */
#ifndef ENGINE_INTERNAL_H
#define ENGINE_INTERNAL_H

#include <pthread.h>

#include "base/temp_folder.h"
#include "engine/duckdb_extra.h"
#include "engine/engine.h"

typedef struct engine_connection engine_connection;
typedef struct scan_state scan_state;

/** One DuckDB connection in use. Interrupted by the engine's watcher when its cancel token is set. */
struct engine_connection {
    engine *engine;
    duckdb_connection duck;
    engine_connection *previous, *next; /* the engine's list of live connections */
};

/** Numbered objects that C functions inside DuckDB find by the number printed into the SQL. */
typedef struct engine_registry {
    void **items; /* id - first … */
    uint64_t *ids;
    size_t count, capacity;
} engine_registry;

struct engine {
    duckdb_database database; /* once is_open */
    parquet_service parquet;
    /* opening.c */
    _Atomic bool is_open;
    pthread_mutex_t opening; /* guards what follows, up to the next mutex; `ahead` itself looks only at options, and writes ahead_status and ahead_error, before it is joined */
    engine_options options;  /* strings in options_arena; they say how it is opened where it is not */
    arena *options_arena;
    pthread_t ahead;
    bool ahead_runs;          /* or has ended and is not joined yet */
    silt_status ahead_status; /* other than OK: it failed, which nobody was told of yet */
    silt_error ahead_error;
    pthread_mutex_t mutex; /* guards everything below */
    engine_connection *connections;
    uint64_t next_id;
    engine_registry scans, feeds, taps, row_sets, row_notes, curves, sorters;
    char *time_zone;      /* the session's, for folding */
    temp_folder temp;     /* for what is spilled; its path does not change */
    pthread_mutex_t decimals_mutex;
    uint64_t decimals[39]; /* by precision, a bit for each scale: which silt_decimal_<p>_<s> are registered; under decimals_mutex */
    char *empty_file; /* a Parquet file without rows, made when first wanted (engine_empty_file) */
    const cancel_token *cancel;
    store_registry *stores; /* may be NULL */
    bool no_pruning, ends_with_process;
    int threads;
    pthread_t watcher;
    bool watcher_runs, watcher_stop;
    pthread_cond_t watcher_wake;
};

/* ---- opening.c ---- */
/** The engine is open from here on: opened now, or waited for. Every public function that does more than note something down calls it first, as does engine_connect. */
silt_status engine_need(engine *e, silt_error *err) MUST_CHECK;
/** No thread is opening it any more. */
void engine_end_ahead(engine *e);
/** open.c: open the database by e->options; nothing is left of it where that fails. Only for opening.c. */
silt_status engine_open_database(engine *e, silt_error *err) MUST_CHECK;
/** engine_connect of an engine that is being opened. */
silt_status engine_connect_open(engine *e, engine_connection **out, silt_error *err) MUST_CHECK;

/** The folder of e->temp is there; cleaners may have taken it from a process that lives for weeks. */
silt_status engine_keep_temp(engine *e, silt_error *err) MUST_CHECK;

/** Registers the functions that make decimals which the text names (decimals.c). Whatever prepares a statement calls it first. */
silt_status engine_know_decimals(engine *e, const char *sql, silt_error *err) MUST_CHECK;

/* ---- connection.c ---- */
/** A connection of its own for one query or stream. End with engine_disconnect; another query on it closes its earlier stream (docs/decisions/002, rule 9). */
silt_status engine_connect(engine *e, engine_connection **out, silt_error *err) MUST_CHECK;
void engine_disconnect(engine_connection *c);
/** Run one statement and drop its result. */
silt_status engine_execute(engine_connection *c, const char *sql, silt_error *err) MUST_CHECK;
/** Run one statement and keep its materialised result; end with duckdb_destroy_result. */
silt_status engine_query(engine_connection *c, const char *sql, duckdb_result *out, silt_error *err) MUST_CHECK;

/**
 * engine_query for a statement that works for long, COPY for one. DuckDB's own way of waiting for its threads is to ask them without a pause: beside as many other statements as there are
 * processors, that took a fifth of them.
 */
silt_status engine_work(engine_connection *c, const char *sql, duckdb_result *out, silt_error *err) MUST_CHECK;

/** A statement whose rows are fetched chunk by chunk in bounded memory. */
typedef struct engine_stream {
    engine_connection *connection; /* owned */
    duckdb_prepared_statement statement;
    duckdb_pending_result pending;
    duckdb_result result;
    bool has_result, finished;
} engine_stream;
/** Prepares and starts `sql`; takes over `c` at once (closed on failure too). */
silt_status engine_stream_open(engine_connection *c, const char *sql, engine_stream *out, silt_error *err) MUST_CHECK;
/** NULL at the end. End a chunk with duckdb_destroy_data_chunk. */
silt_status engine_stream_next(engine_stream *s, duckdb_data_chunk *out, silt_error *err) MUST_CHECK;
void engine_stream_close(engine_stream *s);

/* ---- registry (open.c) ---- */
/** Gives the object a number; false on exhaustion. */
bool engine_register(engine *e, engine_registry *r, void *object, uint64_t *out_id);
void engine_unregister(engine *e, engine_registry *r, uint64_t id);
/** A number that no object has or will have. */
uint64_t engine_take_number(engine *e);
/** NULL when unknown. The object must be kept alive by a running statement. */
void *engine_find(engine *e, engine_registry *r, uint64_t id);

/* ---- row_sets.c, row_notes.c: functions of (number, file, row) ---- */
silt_status engine_register_row_sets(engine *e, duckdb_connection connection, silt_error *err) MUST_CHECK;
silt_status engine_register_row_notes(engine *e, duckdb_connection connection, silt_error *err) MUST_CHECK;
bool engine_register_place_function(engine *e, duckdb_connection connection, const char *name, duckdb_scalar_function_t run, bool is_volatile) MUST_CHECK;
/** The bound call of such a function. */
silt_status engine_place_call(const function_row *function, uint64_t id, expr *file, expr *row, arena *a, expr **out, silt_error *err) MUST_CHECK;

/** Places as such a function is given them. */
typedef struct place_chunk {
    const int64_t *files, *rows;
    uint64_t *file_valid, *row_valid; /**< NULL: all */
} place_chunk;
place_chunk place_chunk_of(duckdb_data_chunk in);
/** Neither null nor below 0. */
static inline bool place_chunk_has(const place_chunk *p, size_t i) {
    return (!p->file_valid || duckdb_validity_row_is_valid(p->file_valid, i)) && (!p->row_valid || duckdb_validity_row_is_valid(p->row_valid, i)) && p->files[i] >= 0 && p->rows[i] >= 0;
}

/* ---- curve.c ---- */
silt_status engine_register_curves(engine *e, duckdb_connection connection, silt_error *err) MUST_CHECK;

/* ---- empty_file.c ---- */
/** Path of a Parquet file without rows, borrowed from the engine. */
silt_status engine_empty_file(engine *e, str *out, silt_error *err) MUST_CHECK;
void engine_remove_empty_file(engine *e);

/* ---- failure.c ---- */
/** The error of a failed DuckDB call. Recognises interruption, memory, disk, missing and damaged files, and raised conditions. */
silt_status engine_failure(silt_error *err, const char *message, duckdb_error_type type);
/** FAILED_READ_FILE about the local copy of a remote file, told of the file itself; anything else as it is. */
silt_status engine_failure_of_copy(silt_status status, store *s, str path, str local, silt_error *err);

/* ---- duck_type.c ---- */
/** `'text'` with quotes doubled. */
void engine_write_literal(buf *out, str text);
/** `"name"` with quotes doubled. */
void engine_write_name(buf *out, str name);
/** A path for read_parquet and its like: glob characters escaped, as a literal (rule 3). */
void engine_write_path(buf *out, str path);
/** DuckDB's SQL name of a Spark type; struct fields by their physical or logical names. */
void engine_write_type(buf *out, const data_type *type, bool physical_names);
/** The same as a logical type object; end with duckdb_destroy_logical_type. NULL when memory ran out or the type cannot be carried. */
duckdb_logical_type engine_logical_type(const data_type *type, bool physical_names);
/** Does a vector of the found type hold what `type` says, whatever the names? */
bool engine_type_fits(duckdb_logical_type found, const data_type *type);
/** Spark's type for a DuckDB type as a reader meets it in files; UNSUPPORTED by name. */
silt_status engine_type_from_duck(duckdb_logical_type type, arena *a, const data_type **out, silt_error *err) MUST_CHECK;

/* ---- to_arrow.c ---- */
/** Chunk → one struct array of the wanted type, by position. The chunk's DuckDB types must be those of engine_logical_type (decimal and integer widths may differ). */
silt_status engine_chunk_to_arrow(duckdb_data_chunk chunk, const data_type *struct_type, struct ArrowArray *out,
                                  silt_error *err) MUST_CHECK;

/* ---- from_arrow.c ---- */
/** Rows [from, from + n) of a struct array → chunk columns; `schema` is the stream's own. n ≤ duckdb_vector_size(). */
silt_status engine_chunk_from_arrow(const struct ArrowSchema *schema, const struct ArrowArray *array, int64_t from, int64_t n,
                                    const data_type *struct_type, duckdb_data_chunk out, silt_error *err) MUST_CHECK;

/* ---- parquet.c ---- */
void engine_parquet_init(engine *e);

#endif
