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
/* write_variant.c */
bool write_holds_variant(const data_type *type);
/** A value (SQL text) of the type as it goes into the file: its variants as groups of metadata and value, struct fields under their physical names. */
void write_variant_print(buf *out, str value_text, const data_type *type, int depth);

/** One column of the COPY's SELECT that is not the plain one. */
typedef struct copy_override {
    size_t column;
    str text;
} copy_override;
/**
 * COPY (SELECT … FROM rows) TO 'local' (…): physical names, field ids, no partition columns unless wanted. `rows` is a FROM item with the columns c0 … cn; `override` may be
 * NULL.
 */
void copy_write_statement(buf *sql, const write_spec *spec, const copy_format *format, str rows, const copy_override *override,
                          str local_path);

#endif
