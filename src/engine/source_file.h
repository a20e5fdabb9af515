/** Table sources over files: parquet.`path`, csv.`path`, json.`path`. */
#ifndef ENGINE_SOURCE_FILE_H
#define ENGINE_SOURCE_FILE_H

#include "engine/source_list.h"
#include "engine/sources.h"

/** What all three have in common; the source is allocated in its own arena. */
typedef struct file_source {
    own_source own; /**< csv and json; of Parquet only own.base is used */
    arena *arena;
    store *store; /**< Parquet: what the scan node opens files by */
    source_list list;
    source_options options;
    str time_zone;            /**< of the session, for texts without a zone */
    const data_type *columns; /**< columns of the files, without those of the folders */
    scan_file *files;         /**< Parquet */
} file_source;

/** The source's schema: `columns`, then the partition columns that are not among them. `declared`: by the user, whose types then hold for partition columns too. */
silt_status file_source_set_schema(file_source *s, const data_type *columns, bool declared, silt_error *err) MUST_CHECK;

silt_status parquet_source_init(file_source *s, const data_type *declared, silt_error *err) MUST_CHECK;
silt_status csv_source_init(file_source *s, const data_type *declared, silt_error *err) MUST_CHECK;
silt_status json_source_init(file_source *s, const data_type *declared, silt_error *err) MUST_CHECK;

void file_source_release(table_source *t);

/* ---- texts (csv and json) ---- */
/** [path, …] of the files whose partition values are those of file `first`, from `first` on; marks them done. */
void source_write_paths(const file_source *s, size_t first, bool *done, buf *out);
/** All files. */
void source_write_all_paths(const file_source *s, buf *out);
/**
 * Prints the FROM item: for each set of partition values one SELECT with the columns c0 … cn. `print` writes "<select list> FROM <reader>" of the files' own columns
 * for one list of paths.
 */
typedef silt_status (*print_block_fn)(const file_source *s, str paths, buf *out, silt_error *err);
silt_status source_print_blocks(const file_source *s, print_block_fn print, buf *out, silt_error *err) MUST_CHECK;
/** An expression of the type over a text column, NULL where the text is no such value. Formats are strptime's or null. */
void source_write_conversion(const file_source *s, str text, const data_type *type, str date_format, str timestamp_format,
                             buf *out);
/** The options dateFormat and timestampFormat as strptime's patterns; empty: Spark's own forms. INVALID_PARAMETER_VALUE for letters that have no such. */
silt_status source_read_formats(const file_source *s, arena *a, str *date_format, str *timestamp_format, silt_error *err) MUST_CHECK;

#endif
