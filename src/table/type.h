/** Schemas: Spark's data types, their Delta JSON and DDL texts. Types are immutable, live in an arena and may be shared. */
#ifndef TABLE_TYPE_H
#define TABLE_TYPE_H

#include "base/base.h"
#include "base/json.h"

typedef enum type_id {
    TYPE_VOID, TYPE_BOOLEAN, TYPE_BYTE, TYPE_SHORT, TYPE_INT, TYPE_LONG, TYPE_FLOAT, TYPE_DOUBLE, TYPE_DECIMAL, TYPE_STRING, TYPE_BINARY,
    TYPE_DATE, TYPE_TIMESTAMP, TYPE_TIMESTAMP_NTZ, TYPE_INTERVAL_YM, TYPE_INTERVAL_DT, TYPE_INTERVAL, TYPE_VARIANT, TYPE_ARRAY, TYPE_MAP, TYPE_STRUCT
} type_id;

typedef struct data_type data_type;
typedef struct field field;

struct data_type {
    type_id id;
    uint8_t precision, scale;  /**< DECIMAL: 1..38, 0..precision */
    int32_t length;            /**< STRING declared as CHAR(n)/VARCHAR(n) in DDL: n; 0 for STRING */
    bool is_char;              /**< CHAR(n) rather than VARCHAR(n) */
    bool contains_null;        /**< ARRAY elements / MAP values may be null */
    const data_type *element;  /**< ARRAY element; MAP value */
    const data_type *key;      /**< MAP key */
    const field *fields;       /**< STRUCT */
    size_t n_fields;
};

struct field {
    str name;              /**< logical name, as written */
    const data_type *type;
    bool nullable;
    str metadata;          /**< the field's metadata as JSON object text; "{}" when empty */
    str physical_name;     /**< name in files, statistics and partition values; equals `name` without column mapping */
    int32_t field_id;      /**< delta.columnMapping.id, or -1 */
};

extern const data_type type_void, type_boolean, type_byte, type_short, type_int, type_long, type_float, type_double, type_string, type_binary, type_date,
    type_timestamp, type_timestamp_ntz, type_interval_ym, type_interval_dt, type_interval, type_variant;

const data_type *type_decimal(arena *a, int precision, int scale);
const data_type *type_array(arena *a, const data_type *element, bool contains_null);
const data_type *type_map(arena *a, const data_type *key, const data_type *value, bool value_contains_null);
const data_type *type_struct(arena *a, const field *fields, size_t n_fields); /**< borrows `fields` */
/** STRING declared as CHAR(length) or VARCHAR(length); length >= 1. Stored as string: a writer also keeps the declaration in the column's metadata. */
const data_type *type_text_limited(arena *a, int32_t length, bool is_char);
field field_make(str name, const data_type *type, bool nullable);             /**< metadata "{}", physical name = name, id -1 */

/** Equal but for nullability, metadata, ids and CHAR/VARCHAR lengths; names compared exactly. */
bool type_equal(const data_type *a, const data_type *b);
/** Deep equality that also ignores letter case of names. */
bool type_equal_fold(const data_type *a, const data_type *b);
static inline bool type_is_nested(const data_type *t) { return t->id >= TYPE_ARRAY; }
static inline bool type_is_numeric(const data_type *t) { return t->id >= TYPE_BYTE && t->id <= TYPE_DECIMAL; }
static inline bool type_is_integral(const data_type *t) { return t->id >= TYPE_BYTE && t->id <= TYPE_LONG; }

/**
 * Delta's schemaString → struct type. Type names as in PROTOCOL.md "Schema Serialization Format" ("decimal(10,2)", "timestamp_ntz", "variant", "void"; unknown names
 * are refused by name). CHAR/VARCHAR columns come from __CHAR_VARCHAR_TYPE_STRING in the metadata (top level). physical_name and field_id are taken from the
 * metadata where present (schema_use_logical_names undoes that when the mapping mode is none).
 */
silt_status schema_parse_json(str json, arena *a, const data_type **out_struct, silt_error *err) MUST_CHECK;
/** A copy whose physical names are the logical ones, at every depth. */
const data_type *schema_use_logical_names(const data_type *schema, arena *a);
/** Delta's JSON, field order and nullability kept, metadata verbatim. */
void schema_write_json(buf *out, const data_type *type);
/** Spark's simpleString: "struct<a:int,b:array<string>>", "decimal(10,2)", "bigint". */
void type_write_simple(buf *out, const data_type *type);
str type_simple(const data_type *type, arena *a);
/** Spark's SQL text: "STRUCT<a: INT, b: ARRAY<STRING>>", "DECIMAL(10,2)", "BIGINT"; what error messages show. */
void type_write_sql(buf *out, const data_type *type);
str type_sql(const data_type *type, arena *a);

/** A name as SQL text: bare where it is a plain identifier, else in backticks (doubled inside). */
void identifier_write(buf *out, str name);

/** Index of the field with that name, exact first, then without case; -1 when absent. */
int schema_find(const data_type *struct_type, str name);
/** Number of leaf columns below (arrays and maps count as one). */
size_t type_leaf_count(const data_type *type);
/** One value of the field's metadata, or NULL. Parses the metadata text. */
const json_node *field_metadata_get(const field *f, const char *key, arena *a);
/** The metadata text with `key` set to the JSON text `json_value`, or without it where that is {NULL,0}; order kept, new keys at the end. {NULL,0} on exhaustion or
 * when the metadata is not a JSON object. */
str field_metadata_set(str metadata, const char *key, str json_value, arena *a);

#endif
