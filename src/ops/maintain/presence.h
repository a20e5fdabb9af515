/** Are the files of a table there? Asked before a commit makes them part of it again. Internal to ops/. */
#ifndef OPS_MAINTAIN_PRESENCE_H
#define OPS_MAINTAIN_PRESENCE_H

#include "ops/internal.h"

/** What is not there. */
typedef struct missing_files {
    const str *paths; /**< as the log names them; for a deletion vector its own file */
    size_t n;
} missing_files;

/** Looks for the data file of every chosen file (flags by number; NULL: all) and the file of its deletion vector, many at a time. In o->a. */
silt_status ops_find_missing(const op *o, const delta_snapshot *s, const uint8_t *chosen, missing_files *out) MUST_CHECK;

#endif
