/** One pass over the files of the newest version, without statistics: sizes by partition, deletion vectors, files elsewhere. */
#ifndef DOCTOR_SURVEY_H
#define DOCTOR_SURVEY_H

#include "delta/delta.h"

#define SURVEY_TARGET_BYTES ((int64_t)128 << 20) /**< a good file's size where the table does not name one */
#define SURVEY_SAMPLE       1000                 /**< files whose statistics a check may read */

typedef struct partition_survey {
    str key;        /**< "day=2026-01-31/city=Oslo", logical names; "" for the one partition of an unpartitioned table */
    str_map values; /**< by physical names; borrowed from the snapshot */
    int64_t files, bytes, small_files, small_bytes, largest_bytes;
} partition_survey;

typedef struct survey {
    partition_survey *partitions;
    size_t n_partitions, capacity;
    int64_t files, bytes;
    int64_t target_bytes, small_below_bytes;
    int64_t dv_files, dv_rows;
    size_t dv_sample[SURVEY_SAMPLE], n_dv_sample; /**< numbers of files with deletion vectors, the first ones */
    int64_t files_outside;
    str outside_example; /**< absolute paths */
    uint32_t *slots;
    size_t n_slots; /* open addressing over partitions */
} survey;

/** Files that compaction would take away from a partition. */
int64_t survey_saved_files(const survey *s, const partition_survey *p);
silt_status survey_take(const delta_snapshot *snapshot, arena *a, survey **out, silt_error *err) MUST_CHECK;

#endif
