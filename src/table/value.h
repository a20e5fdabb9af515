/** Single typed values: literals of predicates, partition values, bounds of statistics. */
#ifndef TABLE_VALUE_H
#define TABLE_VALUE_H

#include "table/type.h"

typedef __int128 int128;

typedef struct value {
    const data_type *type; /**< never NULL for a set value */
    bool is_null;
    union {
        bool boolean;
        int64_t i64;   /**< BYTE…LONG; DATE: days; TIMESTAMP(_NTZ): microseconds */
        double f64;    /**< DOUBLE, and FLOAT (exactly representable) */
        int128 decimal; /**< unscaled */
        str bytes;     /**< STRING (UTF-8), BINARY */
    } as;
} value;

/**
 * Order as Spark sorts: NaN is the greatest and equals itself, -0.0 equals 0.0, strings bytewise. Both non-null and of comparable types: the numeric types compare
 * with each other exactly (decimal against double by the double's exact value), DATE with TIMESTAMP_NTZ; otherwise *out_comparable is false.
 */
int value_compare(const value *a, const value *b, bool *out_comparable);

/** partitionValues text → value (PROTOCOL.md "Partition Value Serialization"; notes/delta.md §8): empty string = null (for STRING too); zone-less timestamps are UTC plus
 * zone_offset_seconds (of the session); ISO with Z or offset as written. CORRUPT (DELTA_FAILED_CAST_PARTITION_VALUE) when malformed. */
silt_status partition_value_parse(str text, bool is_null, const data_type *type, int32_t zone_offset_seconds, arena *a, value *out, silt_error *err) MUST_CHECK;
/** The text that Spark 4.3 writes (timestamps ISO UTC with six digits and Z). A null value or empty string writes nothing and returns false. */
bool partition_value_write(buf *out, const value *v);
/** Append one folder name, `column=text`, both Hive-escaped; the text is __HIVE_DEFAULT_PARTITION__ where partition_value_write writes nothing, timestamps have the
 * `yyyy-MM-dd HH:mm:ss[.f]` form, UTC. Not percent-encoded: that is uri_encode_path's business, for add.path. */
void partition_folder_write(buf *out, str column, const value *v, arena *a);

/** A JSON statistics bound → value; false when it cannot be used (unknown). Decimals exactly, any exponent form; timestamps with any offset; "NaN", "Infinity". */
bool value_from_stats_json(const json_node *node, const data_type *type, value *out, arena *a);
/** The same from the value's own text: `quoted` tells that it was a JSON string (then `text` is unescaped and a STRING value borrows it). No allocation. */
bool value_from_stats_text(str text, bool quoted, const data_type *type, value *out);
/** Append the bound as Delta's statistics write it (numbers bare, strings quoted, timestamps floored to ms). */
void value_write_stats_json(buf *out, const value *v);
/** decimal text with scale, e.g. unscaled 12345 scale 2 → "123.45". */
void decimal_write(buf *out, int128 unscaled, int scale);
/** As java.math.BigDecimal.toString: like decimal_write, but "1E-38" for small magnitudes at large scales (what statistics hold). */
void decimal_write_java(buf *out, int128 unscaled, int scale);
/** Exact parse at the target scale, any exponent form; false when digits would be lost or it does not fit 38 digits. */
bool decimal_parse(str text, int scale, int128 *out_unscaled);

#endif
