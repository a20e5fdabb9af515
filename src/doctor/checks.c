/*
 * The one table of checks, in the order in which they run: what explains why a table cannot be read comes first. docs/doctor.md
 * has a section for each, held to this table by a test.
 */
#include "doctor/check.h"

const doctor_check doctor_checks[] = {
    {"log-gaps", "versions missing from the log", DOCTOR_DANGER, 0, check_log_gaps, NULL,
     "A table whose log has a hole behind its newest checkpoint cannot be opened by any engine; a hole before it takes the "
     "versions below it from time travel.",
     "Restore the missing commit files from a backup or a replica of the table; do not write others in their place."},
    {"commit-empty", "commits that hold no action", DOCTOR_DANGER, 0, check_commit_empty, NULL,
     "Every engine reads such a version as one that changes nothing and goes on from it: what its writer added is missing, what it "
     "deleted is there, and nobody gets an error.",
     "Restore these commit files from a backup or a replica of the log; where there is none, find out what the writer had to say "
     "and run its job again. Look for what cuts files short: an upload that was broken off, a full disk, a copying tool."},
    {"checkpoint-corrupt", "checkpoints that cannot be read", DOCTOR_DANGER, 0, check_checkpoint_corrupt, NULL,
     "Engines that trust the checkpoint fail to open the table, or read an older state.",
     "Move the damaged file out of _delta_log; where the commits before it are still there, the table is rebuilt from them, and "
     "silt checkpoint writes a new one."},
    {"checkpoint-stale", "checkpoints missing or far behind", DOCTOR_WARNING, NEEDS_SNAPSHOT, check_checkpoint_stale,
     fix_checkpoint,
     "Every reader replays all commits behind the checkpoint; opening the table takes longer with each version, and log clean-up "
     "removes nothing.",
     "Write a checkpoint; look whether the writers are stopped from doing so, or delta.checkpointInterval is too high."},
    {"log-unreadable", "the newest version cannot be opened", DOCTOR_DANGER, 0, check_log_unreadable, NULL,
     "Nobody can read or write the table.", "Mend what the message names, from a backup or a replica of the log."},
    {"commit-clock", "commit times out of order", DOCTOR_WARNING, 0, check_commit_clock, NULL,
     "TIMESTAMP AS OF finds another version than the one that was current then; log clean-up may keep or drop the wrong "
     "versions.",
     "Keep the writers' clocks in step, copy tables with their times (cp -p, rsync -t), or let commits carry their time."},
    {"files-missing", "files of the log that are not on the disk", DOCTOR_DANGER, NEEDS_SNAPSHOT, check_files_missing, NULL,
     "Queries that need these files fail; their rows are lost unless the files come back.",
     "Bring the files back from a backup, or RESTORE an older version; FSCK REPAIR TABLE gives the rows up and takes the files "
     "out of the log."},
    {"files-orphaned", "files on the disk in no version", DOCTOR_WARNING, NEEDS_SNAPSHOT, check_files_orphaned, NULL,
     "They cost space, and readers that list the folder count their rows.",
     "VACUUM removes them once they are older than the retention."},
    {"vacuum-overdue", "removed files that VACUUM would free", DOCTOR_WARNING, NEEDS_SNAPSHOT, check_vacuum_overdue, NULL,
     "The table takes several times the space of its data, and deleted rows are still on the disk.", "Run VACUUM regularly."},
    {"file-retention", "removed files are kept too short a time", DOCTOR_WARNING, NEEDS_SNAPSHOT, check_file_retention, NULL,
     "VACUUM deletes files under readers and writers that still work with an older version: they fail, or a writer commits files "
     "that are gone.",
     "Keep removed files longer than the longest job runs."},
    {"log-retention", "the log is kept for less time than the files", DOCTOR_WARNING, NEEDS_SNAPSHOT, check_log_retention, NULL,
     "Files of versions whose log is gone cannot be read any more, and VACUUM LITE, which goes by the log, never finds them.",
     "Keep the log at least as long as the removed files."},
    {"small-files", "many small files", DOCTOR_WARNING, NEEDS_SNAPSHOT, check_small_files, NULL,
     "Each file costs a request, a footer and a line of the log at every query; thousands of small ones make queries slow and "
     "the log large.",
     "Compact the partitions, and let writers write fewer and larger files (delta.autoOptimize.optimizeWrite, "
     "delta.autoOptimize.autoCompact)."},
    {"partition-skew", "one partition far larger than the others", DOCTOR_WARNING, NEEDS_SNAPSHOT, check_partition_skew, NULL,
     "Work that is dealt out by partition waits for that one, and a filter by partition saves nothing there.",
     "Cluster the table by columns that divide its rows evenly, or Z-order within the partition."},
    {"partition-explosion", "too many partitions", DOCTOR_WARNING, NEEDS_SNAPSHOT, check_partition_explosion, NULL,
     "Files cannot grow beyond their partition: each write leaves a small file in each partition it touches, and listing, "
     "planning and VACUUM slow down.",
     "Cluster by these columns in place of partitioning by them: it prunes as well and lets files be as large as they should "
     "be."},
    {"deletion-vectors", "deleted rows that every query reads and throws away", DOCTOR_WARNING, NEEDS_SNAPSHOT,
     check_deletion_vectors, NULL, "Queries read the deleted rows, and the rows stay on the disk.",
     "Rewrite the files without them; VACUUM then frees the old ones."},
    {"statistics-missing", "no statistics for data skipping", DOCTOR_WARNING, NEEDS_SNAPSHOT, check_statistics_missing, NULL,
     "Queries that filter read every file.", "Let the columns be indexed, and rewrite the files that have no statistics."},
    {"schema-drift", "columns change from version to version", DOCTOR_WARNING, 0, check_schema_drift, NULL,
     "Jobs that read by name or position break or read nulls, and streams that read the table stop.",
     "Find the writer that sends changing data; silt schema --expect refuses a changed schema before the load."},
    {"reader-support", "a reader that cannot read the table as it is", DOCTOR_DANGER, NEEDS_SNAPSHOT, check_reader_support, NULL,
     "That engine refuses the table, or shows rows that are deleted.",
     "Drop the feature, give that reader a release that knows it, or publish a copy for it."},
    {"foreign-table", "the folder is registered as another format", DOCTOR_DANGER, 0, check_foreign_table, NULL,
     "Readers through that table list the folder: they see removed files and deleted rows, and what they write there Delta does "
     "not know.",
     "Drop that table from the catalog, and let its readers use the Delta table or a published copy."},
    {"shared-files", "DROP or VACUUM would delete files that others use", DOCTOR_DANGER, NEEDS_CATALOG, check_shared_files, NULL,
     "DROP TABLE of a managed table deletes its folder, and VACUUM what its own versions do not need: tables that share the "
     "files lose them.",
     "Give each table a folder of its own; make shallow clones that are to stay into deep ones."},
    {"files-outside", "files in another table's folder", DOCTOR_INFO, NEEDS_SNAPSHOT, check_files_outside, NULL,
     "The other table's VACUUM, DROP or rewriting deletes files that this table needs.",
     "Make a deep clone where the table is to outlive the other one."},
    {"names", "names and values that break other engines", DOCTOR_WARNING, NEEDS_SNAPSHOT, check_names, NULL,
     "Other engines, file systems or tools mix such names up, cut them off or refuse them.",
     "Rename the columns (delta.columnMapping.mode = name allows it without rewriting), and keep such values out of partition "
     "columns."},
};
const size_t doctor_n_checks = ARRAY_LEN(doctor_checks);

size_t doctor_check_count(void) { return doctor_n_checks; }
const char *doctor_check_name(size_t i) { return doctor_checks[i].name; }
const char *doctor_check_title(size_t i) { return doctor_checks[i].title; }
