/** Engines that read Delta tables, by name and release: which features of a table each of them cannot read. */
#ifndef DOCTOR_READERS_H
#define DOCTOR_READERS_H

#include "delta/actions.h"

typedef enum reader_kind {
    READER_DELTA,    /**< reads the log */
    READER_MANIFEST, /**< reads the symlink manifest: Hive, Presto, Athena, Redshift through it */
    READER_FOLDER    /**< lists the folder and reads every Parquet file in it */
} reader_kind;

typedef struct reader {
    str name; /**< as given */
    reader_kind kind;
    const void *row; /**< inside of readers.c */
    int release;     /**< as the row counts releases, 0: not given, the newest */
} reader;

/**
 * "trino-455", "spark-3.5", "delta-2.4", "deltalake", "duckdb", "polars", "hive", "manifest", "parquet"; INVALID_PARAMETER_VALUE
 * names the known ones.
 */
silt_status reader_parse(str name, reader *out, silt_error *err) MUST_CHECK;
/** Features of the protocol that this reader cannot read: names in `a`. A legacy reader version that it does not know counts as its feature. */
silt_status reader_refuses(const reader *r, const delta_protocol *p, arena *a, const char ***out, size_t *out_n,
                           silt_error *err) MUST_CHECK;

#endif
