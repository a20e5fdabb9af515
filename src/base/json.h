/** JSON trees (parsed by simdjson behind json_door.cc, numbers kept as written) and JSON writing. For the log's bulk parsing see
 * delta/log_door.h. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum json_type { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT } json_type;

typedef struct json_node json_node;
struct json_node {
    json_type type;
    bool boolean;
    str text; /**< JSON_STRING: unescaped; JSON_NUMBER: the token as written; JSON_ARRAY/OBJECT: the source text of the value */
    size_t count;            /**< items or members */
    const str *keys;         /**< JSON_OBJECT: count keys, in order, duplicates kept */
    const json_node *values; /**< JSON_ARRAY/OBJECT: count values */
};

/** Parse one whole document (trailing white space allowed). The tree lives in `arena` and does not borrow `text`.
 * @return CORRUPT with the reason in detail (condition MALFORMED_JSON), NO_MEMORY. Depth is bounded. */
silt_status json_parse(str text, arena *arena, const json_node **out_root, silt_error *err) MUST_CHECK;
/** Last member of that name, or NULL; a NULL or non-object node gives NULL, so look-ups chain. */
const json_node *json_get(const json_node *object, const char *key);
/** The member's string / integer / bool, or the default where absent, null or of another type. */
str json_get_str(const json_node *object, const char *key, str absent);
int64_t json_get_i64(const json_node *object, const char *key, int64_t absent);
bool json_get_bool(const json_node *object, const char *key, bool absent);
bool json_node_i64(const json_node *node, int64_t *out);
bool json_node_f64(const json_node *node, double *out); /**< also the strings NaN, Infinity, -Infinity */

/** Append a JSON string with quotes; escapes only what JSON requires; invalid UTF-8 becomes U+FFFD. */
void json_write_str(buf *out, str s);
/** Append "key": with a leading comma unless *first (which it clears). */
void json_write_key(buf *out, bool *first, const char *key);
void json_write_key_str(buf *out, bool *first, str key);
void json_write_i64(buf *out, int64_t v);
/** Shortest text that reads back the same (Java's Double.toString form is not kept: 1.0, 1.0E10, …, see json_write_f64_java). NaN and
 * infinities as the strings "NaN", "Infinity", "-Infinity". */
void json_write_f64(buf *out, double v);
void json_write_f32(buf *out, float v);
/** Java's Double.toString / Float.toString, as Spark writes statistics, partition values and CAST(x AS STRING): "1.0", "1.0E10", "NaN". No quotes. */
void text_write_f64_java(buf *out, double v);
void text_write_f32_java(buf *out, float v);
/** Append the tree again, compact. */
void json_write_node(buf *out, const json_node *node);

#ifdef __cplusplus
}
#endif

#endif
