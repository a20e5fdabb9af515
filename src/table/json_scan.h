/** Reading JSON text in place: members of objects by name, without a tree and without allocation. For statistics; json.h is the parser for everything else. */
#ifndef TABLE_JSON_SCAN_H
#define TABLE_JSON_SCAN_H

#include "base/base.h"

/** A place in a JSON text. */
typedef struct json_scan {
    const char *p, *end;
    bool inside; /**< a member was passed */
} json_scan;

/** One member of an object. */
typedef struct json_member {
    str key;   /**< as written between the quotes, escapes and all */
    str value; /**< the text of the value, without white space around */
} json_member;

/** Step into the object that starts at `text`; false when none does. */
bool json_scan_object(str text, json_scan *out);
/** The next member; false at the end of the object or where the text is malformed (*out_ok tells). After the end, scan->p stands behind the brace. */
bool json_scan_next(json_scan *scan, json_member *out, bool *out_ok);
/** Only white space is left. */
bool json_scan_at_end(json_scan *scan);
/** The value of the first member called `name` (compared unescaped). */
bool json_scan_find(str object, str name, str *out_value);
/** The string that `text` ("…" with quotes) stands for: borrowed when it has no escapes, else in `a`. false for a lone surrogate, or exhaustion. */
bool json_scan_string(str text, arena *a, str *out);

#endif
