/**
 * Are the pages of a Parquet file where its footer says, and whole as far as that can be told without decoding them?
 *
 * Looked at are: the chunk's place in the file; the chain of page headers, which must fill the chunk exactly and hold as many values as the footer says; the encodings; how the compressed bytes
 * begin (Snappy's length, the magic of gzip and Zstandard); and the checksum of each page that has one. Not looked at: what the values are. A page without a checksum, of which bytes in the
 * middle were changed, is not found out.
 *
 * Any bytes are taken (see tests/fuzz/parquet_pages.c). Source: Apache Parquet's format (PageHeader in Thrift's compact protocol; crc).
 */
#ifndef TABLE_PARQUET_PAGES_H
#define TABLE_PARQUET_PAGES_H

#include "table/parquet_footer.h"

/** What the caller knows of a chunk's column, and asks of its pages. */
typedef struct parquet_pages_rules {
    uint32_t encodings;                   /**< that values may have: bits 1 << PARQUET_ENCODED_… */
    bool has_definitions, has_repetitions; /**< levels, which must not be in the old bit-packed form */
} parquet_pages_rules;

/** One page's header. */
typedef struct parquet_page {
    int32_t kind; /**< 0 data, 1 index, 2 dictionary, 3 data of the second form */
    int64_t bytes, plain_bytes; /**< compressed and not, without the header */
    int64_t values;
    int32_t encoding, definition_encoding, repetition_encoding;
    bool has_crc;
    uint32_t crc;
} parquet_page;

/** Parse a header; *out_length is its own length. false: none, or more bytes are needed. */
bool parquet_page_parse(str bytes, parquet_page *out, size_t *out_length);

/** The one finding that says for certain that a file is damaged: a page's checksum is not that of its bytes. Compared by address. */
extern const char parquet_page_damaged[];

/** Where the footer begins; *out_wrong as below. */
silt_status parquet_pages_end(int fd, int64_t size, int64_t *out_end, const char **out_wrong, silt_error *err) MUST_CHECK;
/**
 * Check one chunk of the file `fd`, whose footer begins at `end`. Cost: one read per page, and the page's own bytes where it has a checksum. May be called by several threads.
 * @param out_wrong  what is not right; NULL: nothing
 * @return IO, NO_MEMORY
 */
silt_status parquet_pages_check(int fd, int64_t end, const parquet_chunk *chunk, const parquet_pages_rules *rules, const char **out_wrong, silt_error *err) MUST_CHECK;

#endif
