/** Rows that come from Arrow streams, and the table sources of files that are no tables. */
#ifndef ENGINE_SOURCES_H
#define ENGINE_SOURCES_H

#include "engine/internal.h"

/** One Arrow stream as DuckDB's table function silt_arrow(id): columns c0 … cn of the given type. Read once, by one thread at a time. */
typedef struct arrow_input arrow_input;

/** `rows` is borrowed until arrow_input_close and read to its end at most; `type` (struct) must fit the stream's schema by position, NULL: by the schema itself. */
silt_status arrow_input_open(engine *e, struct ArrowArrayStream *rows, const data_type *type, arrow_input **out,
                             silt_error *err) MUST_CHECK;
void arrow_input_close(arrow_input *input); /**< NULL is fine */
uint64_t arrow_input_id(const arrow_input *input);
const data_type *arrow_input_type(const arrow_input *input);
/** What went wrong while reading the stream (status SILT_OK: nothing). */
const silt_error *arrow_input_error(const arrow_input *input);

/** Prints the FROM item of a source that is not a set of Parquet files (columns c0 … cn); false when `source` is none of the engine's own. */
bool engine_source_is_own(const table_source *source);
silt_status engine_source_print(engine *e, const table_source *source, buf *out, silt_error *err) MUST_CHECK;

silt_status engine_register_arrow_input(engine *e, duckdb_connection connection, silt_error *err) MUST_CHECK;

/* ---- between source.c and the files of each kind ---- */
/** The head of the engine's own sources: `print` writes the FROM item. */
typedef struct own_source own_source;
struct own_source {
    table_source base;
    engine *engine;
    silt_status (*print)(const own_source *s, buf *out, silt_error *err);
    const silt_error *(*failure)(
        const own_source *s); /**< what went wrong in Silt's own code while it was read, or NULL; may be NULL */
};
silt_status own_source_scan(const table_source *t, const predicate *where, arena *a, table_scan *out, silt_error *err);
bool own_source_row_count(const table_source *t, int64_t *out);
bool own_source_bounds(const table_source *t, column_path column, arena *a, value *out_min, value *out_max);
#define OWN_SOURCE_OPS(release_) \
    { .scan = own_source_scan, .row_count = own_source_row_count, .column_bounds = own_source_bounds, .release = (release_) }
/** What the source itself knows of a failed statement, or NULL. */
const silt_error *engine_source_failure(const table_source *source);

#endif
