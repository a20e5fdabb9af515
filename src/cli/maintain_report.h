/** What `silt maintain` did: printed as it goes for people, and as one JSON object for schedulers. */
#ifndef CLI_MAINTAIN_REPORT_H
#define CLI_MAINTAIN_REPORT_H

#include "cli/rows.h"

typedef struct maintain_report maintain_report;

/** `as_json`: standard output gets the JSON at the end, and nothing before. */
maintain_report *report_open(bool dry_run, bool quiet, bool as_json);
void report_table_begin(maintain_report *r, const char *name);
/** `statement` may be NULL. Ended by one of the three below. */
void report_step_begin(maintain_report *r, const char *step, const char *statement);
/** files and bytes that it would read, as far as that is known (files >= 0). */
void report_step_planned(maintain_report *r, int64_t files, int64_t bytes, bool at_most);
/** rows may be NULL. */
void report_step_done(maintain_report *r, const result_rows *rows);
void report_step_failed(maintain_report *r, const char *condition, const char *message, const char *hint);
void report_findings(maintain_report *r, const result_rows *rows);
void report_table_end(maintain_report *r, bool good);
/** Writes the JSON to `file` (NULL: nowhere), whole or not at all; false when that failed. Frees. */
bool report_close(maintain_report *r, const char *file, int exit_status);

#endif
