/** Additions to features.h for callers that add features by name (CLUSTER BY, ADD CONSTRAINT) rather than by property. */
#ifndef DELTA_PROTOCOL_UPGRADE_H
#define DELTA_PROTOCOL_UPGRADE_H

#include "delta/features.h"

/** `old` (NULL: a new table, 1/2) with these features and what they depend on; never lower than `old`. Strings in `arena` or borrowed from `old`. */
silt_status delta_protocol_add_features(const delta_protocol *old, const char *const *names, size_t n, arena *arena, delta_protocol *out,
                                        silt_error *err) MUST_CHECK;

/**
 * The lowest protocol for the features of `old` without one of them (DROP FEATURE); with_protection adds checkpointProtection. Fails where another feature of the table depends
 * on it: the caller has asked delta_protocol_dependents before.
 */
silt_status delta_protocol_without(const delta_protocol *old, const char *feature, bool with_protection, arena *arena, delta_protocol *out, silt_error *err) MUST_CHECK;
/** Names of the features of `p` that depend on this one, ", " between them; empty for none. In `arena`, {NULL,0} on exhaustion. */
str delta_protocol_dependents(const delta_protocol *p, const char *feature, arena *arena);

#endif
