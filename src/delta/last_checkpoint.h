/** Writing _last_checkpoint, the hint to the newest checkpoint (PROTOCOL.md "Last Checkpoint File Schema"). */
#ifndef DELTA_LAST_CHECKPOINT_H
#define DELTA_LAST_CHECKPOINT_H

#include "delta/delta.h"

typedef struct last_checkpoint {
    int64_t version;
    int64_t n_actions;          /**< size */
    int64_t size_bytes;
    int64_t n_adds;
    const data_type *schema;    /**< checkpointSchema, NULL: left out */
    str v2_checkpoint;          /**< the v2Checkpoint object's JSON text, {NULL,0} for a classic one */
} last_checkpoint;

/** Write it with its checksum, unless a newer one is there already. */
silt_status last_checkpoint_write(const delta_env *env, str root, const last_checkpoint *c, silt_error *err) MUST_CHECK;

/** The canonical form of PROTOCOL.md "JSON checksum" of a JSON object, without its top-level "checksum". */
silt_status last_checkpoint_canonical(const json_node *object, buf *out, silt_error *err) MUST_CHECK;

#endif
