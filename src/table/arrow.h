/** The Arrow C data and stream interfaces (their public ABI), and small builders for the arrays that the formats write. */
#ifndef TABLE_ARROW_H
#define TABLE_ARROW_H

#include "silt/arrow.h"
#include "table/type.h"

/** Arrow schema of a Spark type (timestamps us with zone "UTC", ntz without; decimals 128; maps as map<struct<key,value>>; variants as their JSON text with the field
 * metadata "silt.type"="variant"). The result owns itself: call out->release. */
silt_status arrow_schema_from_type(const data_type *struct_type, struct ArrowSchema *out, silt_error *err) MUST_CHECK;
/** The reverse: dictionaries are their value type, uint8 → short, uint16 → int, uint32 → long, uint64 → decimal(20,0), large types like the plain ones; others refused by name. */
silt_status arrow_schema_to_type(const struct ArrowSchema *schema, arena *a, const data_type **out_struct, silt_error *err) MUST_CHECK;

/** Column builder for one array of any type; nested by children. Memory is its own (malloc) and moves into the finished ArrowArray. */
typedef struct arrow_builder arrow_builder;
arrow_builder *arrow_builder_new(const data_type *type); /**< NULL on exhaustion; `type` must outlive it; INTERVAL is not built */
void arrow_builder_free(arrow_builder *b);
bool arrow_append_null(arrow_builder *b);  /**< a null struct appends nulls to its children */
bool arrow_append_bool(arrow_builder *b, bool v);
bool arrow_append_i64(arrow_builder *b, int64_t v); /**< BYTE…LONG, DATE, TIMESTAMP */
bool arrow_append_f64(arrow_builder *b, double v);
bool arrow_append_decimal(arrow_builder *b, __int128 v);
bool arrow_append_str(arrow_builder *b, str v);
arrow_builder *arrow_child(arrow_builder *b, size_t i); /**< STRUCT: field i; ARRAY: 0 = element; MAP: 0 = key, 1 = value */
bool arrow_finish_row(arrow_builder *b); /**< STRUCT: one non-null row whose children were appended; ARRAY/MAP: closes one list with the child rows since the last */
int64_t arrow_builder_rows(const arrow_builder *b);
/** Moves the content out; the builder is empty again. */
silt_status arrow_builder_finish(arrow_builder *b, struct ArrowArray *out, silt_error *err) MUST_CHECK;

#endif
