/** Are the files of a table there? Asked before a commit makes them part of it again. Internal to ops/. */
#ifndef OPS_MAINTAIN_PRESENCE_H
#define OPS_MAINTAIN_PRESENCE_H

#include "delta/path_set.h"
#include "ops/internal.h"

/** What is not there. */
typedef struct missing_files {
    const str *paths; /**< as the log names them; for a deletion vector its own file */
    size_t n;
} missing_files;

/** Looks for the data file of every chosen file (flags by number; NULL: all) and the file of its deletion vector, many at a time. In o->a. */
silt_status ops_find_missing(const op *o, const delta_snapshot *s, const uint8_t *chosen, missing_files *out) MUST_CHECK;

/**
 * Of those files, the ones that a listing of a remote table's folder shows, by their paths below the root; empty where asking for each costs less. What it does not show may still be there: ask.
 * Costs no more requests than there are files. In o->a.
 */
silt_status ops_list_present(const op *o, const delta_snapshot *s, const uint8_t *chosen, path_set *out) MUST_CHECK;
/** Is an absolute path of the table's store in such a set? */
bool ops_is_listed(const path_set *listed, str root, str absolute);

/** The path of a vector's file as an action has it; null for a vector that is written in the log. */
silt_status ops_vector_path(const delta_dv *dv, arena *a, str *out, silt_error *err) MUST_CHECK;

#endif
