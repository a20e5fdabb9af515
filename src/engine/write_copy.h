/** The COPY statement of one data file. */
#ifndef ENGINE_WRITE_COPY_H
#define ENGINE_WRITE_COPY_H

#include "engine/internal.h"

typedef struct copy_format {
    const char *codec;  /**< DuckDB's name */
    const char *suffix; /**< ".snappy.parquet", as Spark names files */
} copy_format;

/** null: snappy. INVALID_PARAMETER_VALUE for a codec that the engine does not write. */
silt_status copy_choose_format(str compression, copy_format *out, silt_error *err) MUST_CHECK;
/** COPY (SELECT … FROM silt_feed(feed)) TO 'local' (…): physical names, field ids, no partition columns unless wanted. */
void copy_write_statement(buf *sql, const write_spec *spec, const copy_format *format, uint64_t feed, str local_path);

#endif
