/** The door to simdjson (C++): internal to base, use json.h. */
#ifndef BASE_JSON_DOOR_H
#define BASE_JSON_DOOR_H

#include "base/json.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Objects and arrays inside one another. */
#define JSON_DEPTH_MAX 500
/** Bytes that must be allocated behind the text, of any value: the parser reads ahead. */
#define JSON_DOOR_PADDING 64

/** Parse text[0, len), which the tree then borrows. @return NULL, or why it failed ("" when memory ran out); *out_offset is where. */
const char *json_door_parse(const char *text, size_t len, arena *a, const json_node **out_root, size_t *out_offset);

/** The content of a string token between its quotes; false on an escape that JSON does not know. Lone surrogates become U+FFFD.
 * Without escapes it borrows the token. {NULL, 0} in *out and true: memory ran out. */
bool json_unescape(str token, arena *a, str *out);
/** Does the whole text match JSON's grammar of numbers? */
bool json_is_number(str token);

#ifdef __cplusplus
}
#endif
#endif
