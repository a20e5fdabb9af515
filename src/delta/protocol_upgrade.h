/** Additions to features.h for callers that add features by name (CLUSTER BY, ADD CONSTRAINT) rather than by property. */
#ifndef DELTA_PROTOCOL_UPGRADE_H
#define DELTA_PROTOCOL_UPGRADE_H

#include "delta/features.h"

/** `old` (NULL: a new table, 1/2) with these features and what they depend on; never lower than `old`. Strings in `arena` or borrowed from `old`. */
silt_status delta_protocol_add_features(const delta_protocol *old, const char *const *names, size_t n, arena *arena, delta_protocol *out,
                                        silt_error *err) MUST_CHECK;

#endif
