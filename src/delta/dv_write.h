/** Writing deletion vectors (PROTOCOL.md "Deletion Vector Format", "Deletion Vector File Storage Format"). */
#ifndef DELTA_DV_WRITE_H
#define DELTA_DV_WRITE_H

#include "delta/delta.h"

/** The rows of one file to leave out, old and new ones. */
typedef struct delta_dv_job {
    const bitmap *rows; /**< not empty; borrowed */
    delta_dv out;
} delta_dv_job;

/**
 * Store each bitmap and describe it in job.out: inside the log where it is small (storage 'i'), the others packed into files deletion_vector_<uuid>.bin of about 2 MB each at the
 * table root, or in a folder `random_prefix` of it (null: none). Durable on return.
 * @param out_paths  files made, absolute in the store, in `a`; also after a failure, for discarding
 */
silt_status delta_dv_write(const delta_env *env, str root, str random_prefix, delta_dv_job *jobs, size_t n, arena *a,
                           str **out_paths, size_t *out_n, silt_error *err) MUST_CHECK;

#endif
