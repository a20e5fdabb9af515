/** What the checks share: the table under examination, what was learned about it so far, and how a finding is made. No other module includes it. */
#ifndef DOCTOR_CHECK_H
#define DOCTOR_CHECK_H

#include "delta/segment.h"
#include "doctor/disk.h"
#include "doctor/doctor.h"
#include "doctor/log_heads.h"
#include "doctor/survey.h"

#define DOCTOR_EXAMPLES 5

typedef struct doctor doctor;

/** What a check must have; one that lacks it is passed over. */
enum { NEEDS_SNAPSHOT = 1, NEEDS_CATALOG = 2 };

typedef struct doctor_check {
    const char *name, *title;
    doctor_severity severity; /**< at its worst */
    int needs;
    silt_status (*run)(doctor *d, silt_error *err);
    silt_status (*fix)(doctor *d, silt_error *err); /**< NULL: nothing harmless mends it */
    const char *danger, *remedy;
} doctor_check;

extern const doctor_check doctor_checks[];
extern const size_t doctor_n_checks;

struct doctor {
    const doctor_subject *subject;
    const doctor_options *options;
    arena *a;
    log_listing log;
    delta_snapshot *snapshot; /**< the newest version; NULL: it cannot be opened, for this reason: */
    silt_error open_error;
    bool explained;          /**< a check has told why it does not open */
    const doctor_check *now; /**< the check that runs */
    doctor_finding *findings;
    size_t n_findings, capacity;
    survey *survey; /**< learned when first asked for */
    log_heads *heads;
    disk_survey *disk;
};

/* ---- learned once ---- */
silt_status doctor_survey(doctor *d, const survey **out, silt_error *err) MUST_CHECK;
silt_status doctor_heads(doctor *d, const log_heads **out, silt_error *err) MUST_CHECK;
silt_status doctor_disk(doctor *d, const disk_survey **out, silt_error *err) MUST_CHECK;

/** A finding of the running check with its danger and remedy; the caller may change it. NULL on exhaustion. */
doctor_finding *doctor_report(doctor *d, doctor_severity severity, int64_t items, const char *format, ...) PRINTF(4, 5);
/** Sets finding->command; {NULL,0} counts as exhaustion. */
silt_status doctor_command(doctor *d, doctor_finding *f, silt_error *err, const char *format, ...) PRINTF(4, 5) MUST_CHECK;
/** Keep at most DOCTOR_EXAMPLES; copied. */
silt_status doctor_example(doctor *d, doctor_finding *f, str example, silt_error *err) MUST_CHECK;
/** "1.5 GiB", "12 minutes": in d->a. */
str doctor_bytes(doctor *d, int64_t bytes);
str doctor_duration(doctor *d, int64_t ms);
/** The table as an argument of a shell command: a name or a path, quoted where it must be. In d->a. */
str doctor_shell_name(doctor *d);
/** A value's configuration: delta_config_… of the newest version. */
const str_map *doctor_configuration(const doctor *d);

/* ---- the checks, one row each in checks.c ---- */
silt_status check_log_gaps(doctor *d, silt_error *err) MUST_CHECK;
silt_status check_commit_empty(doctor *d, silt_error *err) MUST_CHECK;
silt_status check_checkpoint_corrupt(doctor *d, silt_error *err) MUST_CHECK;
silt_status check_checkpoint_stale(doctor *d, silt_error *err) MUST_CHECK;
silt_status fix_checkpoint(doctor *d, silt_error *err) MUST_CHECK;
silt_status check_log_unreadable(doctor *d, silt_error *err) MUST_CHECK;
silt_status check_commit_clock(doctor *d, silt_error *err) MUST_CHECK;
silt_status check_files_missing(doctor *d, silt_error *err) MUST_CHECK;
silt_status check_files_orphaned(doctor *d, silt_error *err) MUST_CHECK;
silt_status check_vacuum_overdue(doctor *d, silt_error *err) MUST_CHECK;
silt_status check_file_retention(doctor *d, silt_error *err) MUST_CHECK;
silt_status check_log_retention(doctor *d, silt_error *err) MUST_CHECK;
silt_status check_small_files(doctor *d, silt_error *err) MUST_CHECK;
silt_status check_partition_skew(doctor *d, silt_error *err) MUST_CHECK;
silt_status check_partition_explosion(doctor *d, silt_error *err) MUST_CHECK;
silt_status check_deletion_vectors(doctor *d, silt_error *err) MUST_CHECK;
silt_status check_statistics_missing(doctor *d, silt_error *err) MUST_CHECK;
silt_status check_schema_drift(doctor *d, silt_error *err) MUST_CHECK;
silt_status check_reader_support(doctor *d, silt_error *err) MUST_CHECK;
silt_status check_foreign_table(doctor *d, silt_error *err) MUST_CHECK;
silt_status check_shared_files(doctor *d, silt_error *err) MUST_CHECK;
silt_status check_files_outside(doctor *d, silt_error *err) MUST_CHECK;
silt_status check_names(doctor *d, silt_error *err) MUST_CHECK;

#endif
