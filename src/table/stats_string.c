/*
 * What Delta's writer keeps of long strings: 32 characters of the minimum, and of the maximum 32 and a tie-breaker. Delta
 * protocol, "Per-file Statistics", note on string columns; the numbers are Spark's.
 *
 * A cut minimum is a prefix and thus below its string. A cut maximum would be below too, so a character is appended that sorts
 * (in UTF-8 bytes) at or above the first one cut off: U+007F below it, U+10FFFF else. Where that one is U+10FFFF itself it joins
 * the prefix. Lengths of the maximum count UTF-16 units, those of the minimum code points.
 */
#include "table/stats.h"

#define PREFIX         32 /* code points of a minimum, UTF-16 units of a maximum; U+10FFFF may extend that to twice as many units */
#define LAST_ASCII     0x7fu
#define LAST_CODEPOINT 0x10ffffu

static size_t utf16_units(uint32_t codepoint) { return codepoint > 0xffff ? 2 : 1; }

str stats_string_min(str s) { return stats_string_min_of(s, PREFIX); }
bool stats_string_max(buf *out, str s) { return stats_string_max_of(out, s, PREFIX); }

str stats_string_min_of(str s, size_t prefix) {
    size_t pos = 0;
    for (size_t i = 0; i < prefix && pos < s.len; i++) str_next_codepoint(s, &pos);
    return (str){s.ptr, pos};
}

bool stats_string_max_of(buf *out, str s, size_t prefix) {
    size_t pos = 0, units = 0;
    while (pos < s.len && units < prefix) units += utf16_units(str_next_codepoint(s, &pos));
    while (pos < s.len) {
        size_t next = pos;
        uint32_t dropped = str_next_codepoint(s, &next);
        if (dropped != LAST_CODEPOINT) {
            buf_append(out, str_slice(s, 0, pos));
            buf_append(out, dropped < LAST_ASCII ? STR("\x7f") : STR("\xf4\x8f\xbf\xbf"));
            return true;
        }
        units += utf16_units(dropped);
        pos = next;
        if (units > 2 * prefix) return false;
    }
    buf_append(out, s);
    return true;
}
