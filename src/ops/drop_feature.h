/** DROP FEATURE: the table of features that can be dropped and the work before that. Internal to ops/. */
#ifndef OPS_DROP_FEATURE_H
#define OPS_DROP_FEATURE_H

#include "ops/alter_run.h"

/** One feature that can be dropped. */
typedef struct removable_feature {
    const char *name;
    /**
     * Readers had to know the feature: old versions of the table cannot be rebuilt without it. Then either the history stays, protected by checkpoints (checkpointProtection),
     * or it is truncated, which takes a retention period. Features of writers alone go at once.
     */
    bool history;
    /** Takes the feature out of use, in commits of its own; *out_changed: there was something to do. NULL: nothing ever is. */
    silt_status (*retire)(alter_run *run, bool *out_changed);
    const char *property; /**< is removed with the feature; NULL for none */
    const char *traces[3]; /**< texts of which a commit that uses the feature has one */
} removable_feature;

const removable_feature *removable_feature_find(str name); /**< NULL: cannot be dropped */

/* ---- drop_feature_retire.c ---- */
silt_status retire_constraints(alter_run *run, bool *out_changed) MUST_CHECK;
silt_status retire_column_mapping(alter_run *run, bool *out_changed) MUST_CHECK;
silt_status retire_deletion_vectors(alter_run *run, bool *out_changed) MUST_CHECK;
silt_status retire_row_tracking(alter_run *run, bool *out_changed) MUST_CHECK;
silt_status retire_domains(alter_run *run, bool *out_changed) MUST_CHECK;
silt_status retire_v2_checkpoint(alter_run *run, bool *out_changed) MUST_CHECK;
silt_status retire_type_widening(alter_run *run, bool *out_changed) MUST_CHECK;
silt_status retire_in_commit_timestamps(alter_run *run, bool *out_changed) MUST_CHECK;
silt_status retire_partition_columns(alter_run *run, bool *out_changed) MUST_CHECK;

#endif
