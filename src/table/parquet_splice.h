/**
 * Parquet files put together without decoding a value: the bytes of the column chunks behind one another, and one footer that has the row groups of all, their offsets moved.
 * For files whose schemas are the same bytes. What only speeds a reader up (statistics, indexes, Bloom filters) is left out.
 *
 * Any bytes are taken: what is not a footer, or has something that cannot be moved (encryption, columns in other files), is refused (see tests/fuzz/parquet_splice.c).
 * Source: Apache Parquet's format (FileMetaData in Thrift's compact protocol).
 */
#ifndef TABLE_PARQUET_SPLICE_H
#define TABLE_PARQUET_SPLICE_H

#include "base/base.h"

/** Parts of a footer, encoded; borrowed from its bytes. {NULL,0}: not there. */
typedef struct parquet_parts {
    int64_t version;
    str schema;        /**< the list of elements */
    str created_by;    /**< with its length in front */
    str column_orders; /**< the list */
    int64_t n_rows;
    uint32_t n_groups;
} parquet_parts;

/** What the files of one spliced file share, and what comes of each. */
typedef struct parquet_splice {
    parquet_parts first;
    buf groups; /**< encoded row groups */
    int64_t n_rows, n_groups;
} parquet_splice;

void parquet_splice_init(parquet_splice *s);
void parquet_splice_dispose(parquet_splice *s);
/** The parts, and the row groups appended to `groups` with every offset moved by `delta`. false: not a footer, or one that cannot be moved; `groups` is as it was. */
bool parquet_splice_parse(str footer, int64_t delta, buf *groups, parquet_parts *out);
/** May files of these footers be one file? */
bool parquet_splice_fits(const parquet_parts *a, const parquet_parts *b);
/** The footer of the whole, its length and the magic. */
void parquet_splice_write_end(const parquet_splice *s, buf *out);

#endif
