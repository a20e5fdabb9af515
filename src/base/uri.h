/** Locations: URIs and plain paths, percent-encoding, and the two layers of escaping of Delta paths (notes: Hive, then URI). */
#ifndef BASE_URI_H
#define BASE_URI_H

#include "base/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct uri {
    str scheme;    /**< lower case; "file" for a plain path */
    str authority; /**< host[:port] or bucket; empty for local */
    str path;      /**< starts with '/' for local; never percent-decoded for object stores; decoded once for file:, http: and https: */
} uri;

/** Accepts plain paths (relative ones are made absolute by the current folder), file:/x, file:///x, s3a://b/k, …; in `arena`. */
silt_status uri_parse(str text, arena *arena, uri *out, silt_error *err) MUST_CHECK;
/** Percent-decode once; malformed escapes are kept as they are. */
str uri_decode(str s, arena *arena);
/** add.path encoding as Java's URI(path) does it: escapes space < > | } { ` ^ \ " % # ? [ ] control and other illegal characters, keeps + & ! $ ~ é … (notes/delta.md §8). */
str uri_encode_path(str s, arena *arena);
/** Hive's partition folder escaping: " # % ' * / : = ? \ { [ ] ^ DEL and controls as %XX. */
str hive_escape(str s, arena *arena);
str hive_unescape(str s, arena *arena);
/** Join with exactly one '/'; an absolute `child` is NOT special. */
str path_join(arena *arena, str parent, str child);
str path_parent(str path);
str path_name(str path);
/** Lexical: removes //, /./ and /../ */
str path_normalize(arena *arena, str path);

#ifdef __cplusplus
}
#endif

#endif
