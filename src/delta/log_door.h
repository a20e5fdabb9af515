/**
 * The door to simdjson (C++) for the log's bulk parsing: it finds where the tokens of many JSON documents stand, and checks UTF-8
 * and the ends of strings. What the tokens mean is the business of json_walk.h.
 */
#ifndef DELTA_LOG_DOOR_H
#define DELTA_LOG_DOOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes that must be allocated behind the text, of any value. */
#define LOG_DOOR_PADDING 64
/** Longest text of one call. */
#define LOG_DOOR_MAX ((size_t)1 << 31)

typedef struct log_door log_door;

log_door *log_door_new(void);    /**< NULL on exhaustion */
void log_door_free(log_door *d); /**< NULL is fine */
/**
 * Index text[0, len). *out_positions holds *out_count ascending offsets: of each { } [ ] : , outside of strings, of each string's
 * opening quote and of the first byte of each other scalar; positions[count] == len. Borrowed until the next call.
 * @return NULL, or why it failed ("" when memory ran out): invalid UTF-8, an unclosed string or a control character in one.
 */
const char *log_door_index(log_door *d, const char *text, size_t len, const uint32_t **out_positions, size_t *out_count);

#ifdef __cplusplus
}
#endif
#endif
