/** Writing manifests. Internal to ops/maintain. */
#ifndef OPS_MAINTAIN_MANIFEST_WRITE_H
#define OPS_MAINTAIN_MANIFEST_WRITE_H

#include "delta/path_set.h"
#include "ops/internal.h"

/** The manifests' folder under a table's root, in o->a. */
silt_status manifest_folder(const op *o, str root, str *out) MUST_CHECK;
/** A partition's folder below it ("a=1/b=x", empty where the table has no partitions) from the values as the log has them; {NULL,0} on exhaustion. */
str manifest_partition(const delta_metadata *m, const str_map *values, arena *a);
/**
 * Write the manifests of the partitions in `only` (NULL: of all) and remove those of them that have no file (NULL: all that are there and should not be). The caller has
 * checked that the table may have manifests.
 */
silt_status manifest_write(const op *o, const delta_snapshot *s, const path_set *only) MUST_CHECK;
/** What no manifest can say: deletion vectors, names of column mapping. */
silt_status manifest_check(const op *o, const delta_snapshot *s) MUST_CHECK;

#endif
