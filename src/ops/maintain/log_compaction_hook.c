/*
 * silt.logCompaction.interval = N: every N commits a log compaction file of the last N, where no checkpoint is made at that version. For tables whose
 * checkpoints are far apart because they are large: opening them reads the checkpoint and few files more.
 */
#include "delta/log_compaction.h"
#include "delta/properties.h"
#include "ops/commit.h"

silt_status log_compaction_hook(const op *o, const committed *c) {
    int64_t interval, checkpoints = delta_config_i64(&c->target->metadata->configuration, "delta.checkpointInterval");
    str text = ops_setting(o, "silt.logCompaction.interval");
    if (str_is_null(text)) return SILT_OK;
    if (!str_to_i64(text, &interval) || interval < 2)
        return err_INVALID_PARAMETER_VALUE(o->err, STR("silt.logCompaction.interval"), text, "a whole number above 1");
    if ((c->version + 1) % interval != 0 || (checkpoints > 0 && c->version % checkpoints == 0)) return SILT_OK;
    return delta_log_compact(o->env->delta, c->target->root, c->version + 1 - interval, c->version, o->err);
}
