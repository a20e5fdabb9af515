/**
 * The footer of a Parquet file: its schema, its rows, and what its row groups say of their columns. Read here, without any library, because statistics are
 * believed or not by marks that libraries do not hand out (which writer, exact or cut, which order), and because 10,000 files want 10,000 footers quickly.
 *
 * Any bytes are taken: whatever is not a footer is an error (see tests/fuzz/parquet_footer.c). Strings are borrowed from the bytes given.
 * Source: Apache Parquet's format (FileMetaData in Thrift's compact protocol).
 */
#ifndef TABLE_PARQUET_FOOTER_H
#define TABLE_PARQUET_FOOTER_H

#include "store/store.h"

typedef enum parquet_physical {
    PARQUET_BOOLEAN,
    PARQUET_INT32,
    PARQUET_INT64,
    PARQUET_INT96,
    PARQUET_FLOAT,
    PARQUET_DOUBLE,
    PARQUET_BYTES,
    PARQUET_FIXED,
    PARQUET_GROUP /**< no column: it has children */
} parquet_physical;

typedef enum parquet_repetition { PARQUET_REQUIRED, PARQUET_OPTIONAL, PARQUET_REPEATED } parquet_repetition;

/** What a column or group means, whether it is said in the old words (converted_type) or the new ones (logicalType). */
typedef enum parquet_meaning {
    PARQUET_PLAIN,
    PARQUET_STRING,
    PARQUET_ENUM,
    PARQUET_JSON,
    PARQUET_BSON,
    PARQUET_UUID,
    PARQUET_DECIMAL,
    PARQUET_DATE,
    PARQUET_TIME,
    PARQUET_TIMESTAMP,
    PARQUET_INTEGER,
    PARQUET_INTERVAL,
    PARQUET_FLOAT16,
    PARQUET_NULL,
    PARQUET_LIST,
    PARQUET_MAP,
    PARQUET_MAP_KEY_VALUE,
    PARQUET_VARIANT,
    PARQUET_GEOMETRY,
    PARQUET_GEOGRAPHY,
    PARQUET_UNKNOWN_MEANING
} parquet_meaning;

typedef enum parquet_unit { PARQUET_MILLIS, PARQUET_MICROS, PARQUET_NANOS } parquet_unit;

typedef struct parquet_element parquet_element;
struct parquet_element {
    str name;
    parquet_physical physical;
    parquet_repetition repetition;
    parquet_meaning meaning;
    int32_t length;           /**< of FIXED */
    int32_t precision, scale; /**< DECIMAL */
    int32_t bits;             /**< INTEGER */
    bool is_signed;           /**< INTEGER */
    bool is_utc;              /**< TIME, TIMESTAMP */
    parquet_unit unit;
    int32_t n_children; /**< as the footer says; the tree is consistent when parsing returns */
    uint32_t leaf;      /**< number of the column; of a group that of its first column */
    uint32_t next;      /**< index of the element after this one and everything below it */
};

/** By the format's own numbers. */
enum { PARQUET_UNCOMPRESSED, PARQUET_SNAPPY, PARQUET_GZIP, PARQUET_LZO, PARQUET_BROTLI, PARQUET_LZ4, PARQUET_ZSTD, PARQUET_LZ4_RAW };
enum {
    PARQUET_ENCODED_PLAIN,
    PARQUET_ENCODED_OLD_DICTIONARY = 2,
    PARQUET_ENCODED_RLE,
    PARQUET_ENCODED_BIT_PACKED,
    PARQUET_ENCODED_DELTA_BINARY,
    PARQUET_ENCODED_DELTA_LENGTH,
    PARQUET_ENCODED_DELTA_BYTES,
    PARQUET_ENCODED_DICTIONARY,
    PARQUET_ENCODED_SPLIT
};
#define PARQUET_ENCODING_UNKNOWN (UINT32_C(1) << 31)

/** Of one column in one row group. Bounds are in the PLAIN encoding, borrowed. */
typedef struct parquet_chunk {
    int64_t values; /**< nulls counted; -1 unknown */
    int64_t nulls;  /**< -1 unknown */
    str min, max;  /**< in the column's order; null when absent */
    str old_min, old_max; /**< the deprecated pair: signed order, whatever the type */
    bool min_is_exact, max_is_exact, exact_is_told;
    int64_t offset, length;             /**< where its pages are, dictionary included, as the footer says; 0, 0 where it does not */
    int64_t bloom_offset, bloom_length; /**< offset 0: none; length 0: not told */
    int64_t column_index_offset, offset_index_offset; /**< of the page index; 0: none */
    int32_t codec;      /**< of its pages, PARQUET_SNAPPY …; -1 unknown */
    uint32_t encodings; /**< that the footer tells of: bits 1 << PARQUET_ENCODED_… */
    bool is_encrypted;
} parquet_chunk;

typedef struct parquet_footer {
    const parquet_element *elements; /**< depth first; [0] is the root */
    size_t n_elements, n_leaves;
    int64_t n_rows;
    str created_by;        /**< null when absent */
    str spark_schema;      /**< key org.apache.spark.sql.parquet.row.metadata, null when absent */
    bool is_rebased;       /**< written by Spark's or Hive's old calendar: dates before 1582 and times before 1900 mean other days */
    bool has_type_order;   /**< bounds follow the order of the types (column_orders) */
    str schema_bytes;      /**< the encoded list of elements: equal bytes are equal schemas */
    const parquet_chunk *chunks; /**< row group by row group, n_leaves each */
    size_t n_row_groups;
} parquet_footer;

/**
 * Parse FileMetaData. with_chunks false leaves the row groups' columns out (chunks NULL).
 * @return CORRUPT (MALFORMED_PARQUET_FOOTER with the reason in the detail), NO_MEMORY
 */
silt_status parquet_footer_parse(str bytes, bool with_chunks, arena *a, parquet_footer *out, silt_error *err) MUST_CHECK;

/** What a file that has no Parquet footer looks like, for messages. */
typedef enum parquet_look { PARQUET_LOOKS_RIGHT, PARQUET_LOOKS_EMPTY, PARQUET_LOOKS_ENCRYPTED, PARQUET_LOOKS_ORC, PARQUET_LOOKS_AVRO, PARQUET_LOOKS_OTHER } parquet_look;

/**
 * Read and parse the footer of a file of that size; `bytes` is the reader's own buffer, which *out borrows from. *out_look tells, also of a failure, what the file is.
 * @return as above; IO, NOT_FOUND
 */
silt_status parquet_footer_read(store *s, str path, int64_t size, bool with_chunks, buf *bytes, arena *a, parquet_footer *out,
                                parquet_look *out_look, silt_error *err) MUST_CHECK;

#endif
