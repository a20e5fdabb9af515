/** Java's datetime patterns (the letters of Spark's "Datetime Patterns" page), for writing and reading. */
#ifndef ENGINE_FUNCTIONS_PATTERN_H
#define ENGINE_FUNCTIONS_PATTERN_H

#include "base/base.h"

/** A letter or piece of the pattern that Spark refuses: false and *out_bad. */
bool pattern_write(buf *out, str pattern, int64_t local_us, int64_t offset_us, str zone, char *out_bad);
/** Reads the whole text. *out_us is local time, or UTC when a zone stood in the text (*out_has_zone). */
typedef enum pattern_outcome { PATTERN_OK, PATTERN_MISMATCH, PATTERN_BAD } pattern_outcome;
pattern_outcome pattern_read(str text, str pattern, int64_t *out_us, bool *out_has_zone, char *out_bad);

#endif
