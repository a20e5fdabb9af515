/**
 * Statistics of a file that one COPY writes straight from its query: a C function in the COPY's SELECT sees the vectors, counts them per thread, and gives one of the
 * columns through as it is.
 *
 * This is the fast way for a write that makes one file: the rows are not copied once more, as they are by a stream that is dealt out to several files (write_feed.h).
 */
#ifndef ENGINE_WRITE_TAP_H
#define ENGINE_WRITE_TAP_H

#include "engine/write_stats.h"

typedef struct write_tap write_tap;

/** Is there a column of a type that the function can give through? */
bool write_tap_is_possible(const write_spec *spec);
/** Only where that is so. `local_path` is watched while it grows; all is borrowed. */
silt_status write_tap_open(engine *e, const write_spec *spec, const char *local_path, write_tap **out,
                           silt_error *err) MUST_CHECK;
void write_tap_close(write_tap *t); /**< NULL is fine; the COPY must have ended */
/** The column that is to be selected as write_tap_print writes it. */
size_t write_tap_column(const write_tap *t);
void write_tap_print(const write_tap *t, buf *sql);
/** Rows that the function saw: the statistics are good only if COPY says that it wrote as many. */
int64_t write_tap_rows(write_tap *t);
/** The statistics' text, with what the file's footer tells; *out_done false: that is not as expected (write_footer_stats). `c` is idle. */
silt_status write_tap_finish(write_tap *t, engine_connection *c, str local_path, bool *out_done, buf *stats, silt_error *err) MUST_CHECK;

silt_status engine_register_tap(engine *e, duckdb_connection connection, silt_error *err) MUST_CHECK;

#endif
