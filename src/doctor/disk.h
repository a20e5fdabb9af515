/** One listing of the table's folder, held against the log: files that are missing, and files that nothing needs. */
#ifndef DOCTOR_DISK_H
#define DOCTOR_DISK_H

#include "delta/delta.h"

#define DISK_EXAMPLES 5

typedef struct disk_group {
    int64_t files, bytes;
    str examples[DISK_EXAMPLES];
    size_t n_examples;
} disk_group;

typedef struct disk_survey {
    disk_group missing;  /**< in the newest version, not on the disk; bytes by the log */
    disk_group resized;  /**< there, but of another size than the log has it */
    disk_group removed;  /**< on the disk, needed by no retained version, but known to the log; older than the retention */
    disk_group orphaned; /**< on the disk, in no version that the log knows; older than the retention */
    int64_t kept_files;  /**< on the disk, not in the newest version, but in one that is retained */
    int64_t young_files; /**< on the disk, in no retained version, younger than the retention */
    int64_t elsewhere_checked, elsewhere_files; /**< files outside of the folder: looked at one by one, at most a few hundred */
} disk_survey;

silt_status disk_survey_take(const delta_snapshot *snapshot, int64_t now_ms, arena *a, disk_survey **out,
                             silt_error *err) MUST_CHECK;

#endif
