/** Writing deletion vectors (PROTOCOL.md "Deletion Vector Format", "Deletion Vector File Storage Format"). */
#ifndef DELTA_DV_WRITE_H
#define DELTA_DV_WRITE_H

#include "delta/delta.h"

/** The rows of one file to leave out, old and new ones. */
typedef struct delta_dv_job {
    const bitmap *rows; /**< not empty; borrowed */
    delta_dv out;
} delta_dv_job;

/** Where vectors go. */
typedef struct delta_dv_place {
    str root;
    str random_prefix; /**< of files: a folder of the root; null: none */
    size_t
        inline_max_bytes; /**< vectors of so many bytes stand in the log (storage 'i'); 0: none. Spark 4.3.1 reads those, but its VACUUM fails at them */
} delta_dv_place;

/**
 * Store each bitmap and describe it in job.out: packed into files deletion_vector_<uuid>.bin of about 2 MB each, or inside the log where the place says so. Durable on return.
 * @param out_paths  files made, absolute in the store, in `a`; also after a failure, for discarding
 */
silt_status delta_dv_write(const delta_env *env, const delta_dv_place *place, delta_dv_job *jobs, size_t n, arena *a,
                           str **out_paths, size_t *out_n, silt_error *err) MUST_CHECK;

#endif
