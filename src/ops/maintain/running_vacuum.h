/** VACUUMs that told of their start and not yet of their end: which files may one of them be removing? Internal to ops/. */
#ifndef OPS_MAINTAIN_RUNNING_VACUUM_H
#define OPS_MAINTAIN_RUNNING_VACUUM_H

#include "ops/internal.h"

/**
 * Looks for a VACUUM START without its VACUUM END in the versions after `target` up to `newest`: what was in the table at `target` is garbage only to a VACUUM that began later. One
 * that began more than a day ago counts as dead. A VACUUM that writes no entries (spark.databricks.delta.vacuum.logging.enabled=false) cannot be seen.
 * @param chosen       flags by number in `target`: the files that are asked about
 * @param out_version  where it began, -1: none that may remove a chosen file
 * @param out_file     one of the files that it may remove, in o->a
 */
silt_status ops_vacuum_may_remove(const op *o, const delta_snapshot *current, const delta_snapshot *target, int64_t newest, const uint8_t *chosen, int64_t *out_version,
                                  str *out_file) MUST_CHECK;

#endif
