/**
 * A running query dealt out to a sequence of COPY statements, one per data file.
 *
 * The query streams on a connection of its own; the table function silt_feed(id) hands its chunks to the COPY that is running, without copying them, and collects
 * the file's statistics on the way. When the file is full or the partition changes, silt_feed ends that COPY, and the next one goes on with the next row.
 */
#ifndef ENGINE_WRITE_FEED_H
#define ENGINE_WRITE_FEED_H

#include "engine/row_sorter.h"
#include "engine/run.h"
#include "engine/write_stats.h"

typedef struct write_feed write_feed;

/** `sql` gives one column per field of spec->schema, sorted by partition where there are partition columns. Both are borrowed. */
silt_status write_feed_open(running_query *source, const char *sql, const write_spec *spec, write_feed **out,
                            silt_error *err) MUST_CHECK;
/** The same over rows that were put in order (write_sorted.h); borrowed. */
silt_status write_feed_open_sorted(running_query *source, row_sorter *sorter, const write_spec *spec, write_feed **out,
                                   silt_error *err) MUST_CHECK;
void write_feed_close(write_feed *f); /**< NULL is fine; no COPY may be running */
uint64_t write_feed_id(const write_feed *f);

/** Is there another row? Then *out_partition (in `a`) holds its partition values, and the following COPY gets the rows that share them. */
silt_status write_feed_begin_file(write_feed *f, arena *a, bool *out_more, value **out_partition, silt_error *err) MUST_CHECK;
/** Where the COPY will write the file: its growth is watched. Borrowed until the next begin. */
void write_feed_set_path(write_feed *f, const char *local_path);
/** After the COPY: rows given, and the statistics' text appended to `stats` (nothing when not collected). `file_bytes` teaches how large the next file will be. */
silt_status write_feed_end_file(write_feed *f, int64_t file_bytes, int64_t *out_rows, buf *stats, silt_error *err) MUST_CHECK;
/** What ended the query (status SILT_OK: nothing did). */
const silt_error *write_feed_error(const write_feed *f);

silt_status engine_register_feed(engine *e, duckdb_connection connection, silt_error *err) MUST_CHECK;

#endif
