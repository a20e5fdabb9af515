/** Inside of writing checkpoints; the outside is delta_checkpoint_write. */
#ifndef DELTA_CHECKPOINT_WRITE_H
#define DELTA_CHECKPOINT_WRITE_H

#include "delta/delta.h"

/** The table's policy and protocol ask for V2 checkpoints. */
bool checkpoint_is_v2(const delta_snapshot *s);
/** <v>.checkpoint.parquet; update_hint: _last_checkpoint too. */
silt_status checkpoint_write_classic(const delta_snapshot *s, bool update_hint, silt_error *err) MUST_CHECK;

#endif
