/** Deep copies of protocol and metadata into another arena. */
#ifndef DELTA_METADATA_COPY_H
#define DELTA_METADATA_COPY_H

#include "delta/actions.h"

/** NULL on exhaustion. */
const delta_protocol *delta_protocol_copy(const delta_protocol *p, arena *arena);
/** The copy's schema is parsed anew from schemaString (written from `schema` where only that is given). */
silt_status delta_metadata_copy(const delta_metadata *m, arena *arena, delta_metadata **out, silt_error *err) MUST_CHECK;
bool str_map_copy(const str_map *map, arena *arena, str_map *out);
/** A copy of `map` with key set to value, at its old place or at the end. */
bool str_map_with(const str_map *map, str key, str value, arena *arena, str_map *out);

#endif
