/**
 * The doctor: what makes a Delta table slow, large, unsafe or unreadable, found before it hurts. One table of checks (checks.c),
 * each with a severity, the danger it stands for and its remedy; docs/doctor.md has a section per check.
 *
 * Costs are bounded: the log is listed once, the newest version is loaded without statistics, the table's folder is listed once,
 * and statistics are read for samples of files only.
 */
#ifndef DOCTOR_DOCTOR_H
#define DOCTOR_DOCTOR_H

#include "catalog/catalog.h"
#include "delta/delta.h"

typedef enum doctor_severity {
    DOCTOR_INFO,    /**< worth knowing, nothing to do now */
    DOCTOR_WARNING, /**< it costs time, space or money, or will do harm one day */
    DOCTOR_DANGER   /**< data or readers are at risk */
} doctor_severity;
/** "info", "warning", "danger" */
const char *doctor_severity_name(doctor_severity s);

typedef struct doctor_finding {
    const char *check;
    doctor_severity severity;
    str finding;   /**< what was found, with its numbers */
    str danger;    /**< what it leads to */
    str remedy;    /**< what to do */
    str command;   /**< the statement that mends it, {NULL,0} where none can */
    int64_t items; /**< how many files, partitions, versions, columns … */
    const str *examples;
    size_t n_examples;
    bool fixable; /**< by doctor_options.fix */
    bool fixed;   /**< done */
} doctor_finding;

/** What is examined. */
typedef struct doctor_subject {
    const delta_env *env;
    str root;           /**< of the table in env->store */
    str sql_name;       /**< how statements name it: db.t, delta.`/path` */
    catalog *catalog;   /**< for tables that share its folder; may be NULL */
    str database, name; /**< its catalog entry; null for a path */
    bool is_managed;
} doctor_subject;

typedef struct doctor_options {
    const str *checks;
    size_t n_checks; /**< names; none: all */
    const str *readers;
    size_t n_readers; /**< engines that read the table: "trino-455", "hive", … */
    const str *filters;
    size_t n_filters;       /**< columns that queries filter by */
    int64_t longest_job_ms; /**< the longest time that one reader or writer works with a version; <= 0: a day */
    int64_t now_ms;
    bool fix; /**< mend what is harmless to mend: write a checkpoint */
} doctor_options;

/**
 * Examine one table. A table that cannot even be opened gives findings, not an error.
 * @param out  worst first, then in the order of the checks; in `a`
 * @return NOT_FOUND (no Delta log there), INVALID (an unknown check, reader or column), CANCELLED, NO_MEMORY. What else goes
 * wrong becomes a finding of the check that met it.
 */
silt_status doctor_examine(const doctor_subject *subject, const doctor_options *options, arena *a, doctor_finding **out,
                           size_t *out_n, silt_error *err) MUST_CHECK;

size_t doctor_check_count(void);
const char *doctor_check_name(size_t i);
const char *doctor_check_title(size_t i);

#endif
