/**
 * A cursor over the tokens of an indexed JSON text (log_door.h): reads known members, skips and checks the rest. It allocates
 * nothing. Strings are handed out raw, with their quotes and escapes, because most are only passed on or skipped.
 */
#ifndef DELTA_JSON_WALK_H
#define DELTA_JSON_WALK_H

#include "base/base.h"

typedef struct json_walk {
    const char *text;
    const uint32_t *positions; /**< ends with the text's length */
    size_t count, at;          /**< positions[at] is the next token */
    const char *error;         /**< set once something was wrong; every later call fails */
    size_t error_at;           /**< offset in the text */
} json_walk;

#define JSON_WALK_DEPTH 512

json_walk json_walk_start(const char *text, const uint32_t *positions, size_t count);
static inline bool json_walk_done(const json_walk *w) { return w->at >= w->count; }
static inline size_t json_walk_offset(const json_walk *w) { return w->positions[w->at]; }
/** First byte of the next token, 0 at the end. */
static inline char json_walk_peek(const json_walk *w) { return w->at < w->count ? w->text[w->positions[w->at]] : '\0'; }

bool json_walk_fail(json_walk *w, const char *why); /**< returns false */
/** Step over that one character. */
bool json_walk_expect(json_walk *w, char c);
/**
 * Members of an object: `for (more = json_walk_begin(&w, &key); more; more = json_walk_next(&w, &key)) { read or skip the value
 * }`, then look at w.error. `key` is raw, between its quotes. The value must be consumed.
 */
bool json_walk_begin(json_walk *w, str *out_key);
bool json_walk_next(json_walk *w, str *out_key);
/** Step over any value, checking its grammar (but not the escapes of its strings). */
bool json_walk_skip(json_walk *w);
/** The same, giving its text. */
bool json_walk_value(json_walk *w, str *out_text);
/** A string, raw between its quotes; or null, which gives {NULL,0}. */
bool json_walk_string(json_walk *w, str *out_raw);
/** A whole number that fits; null leaves *out alone. */
bool json_walk_i64(json_walk *w, int64_t *out);
bool json_walk_bool(json_walk *w, bool *out);
/** null: steps over it and returns true; otherwise false without stepping. */
bool json_walk_null(json_walk *w);

/**
 * Append the content of a raw string, escapes resolved; lone surrogates become U+FFFD. false on an unknown escape (or exhaustion:
 * see out->failed).
 */
bool json_raw_unescape(str raw, buf *out);
static inline bool json_raw_is_plain(str raw) { return raw.len == 0 || memchr(raw.ptr, '\\', raw.len) == NULL; }

#endif
