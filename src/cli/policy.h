/** The policy of `silt maintain`: a TOML text as tables and what is to be done with each. */
#ifndef CLI_POLICY_H
#define CLI_POLICY_H

#include "cli/cli.h"

typedef enum fail_on { FAIL_ON_DANGER, FAIL_ON_WARNING, FAIL_NEVER } fail_on;

typedef struct policy_table {
    const char *name; /**< a catalog name, path or URI */
    bool optimize, full, purge, checkpoint, vacuum, doctor;
    const char *where; /**< partitions to optimize: a predicate */
    const char *recent_column;
    int64_t recent_days; /**< … or those of the last days; -1: not given */
    string_list zorder, readers, filters;
    const char *retain; /**< of vacuum: "168h", "7d"; NULL: the table's */
    const char *longest_job;
    fail_on fail_on;
} policy_table;

typedef struct policy {
    const char *warehouse;
    policy_table *tables;
    size_t n_tables;
    struct toml_node *tree; /**< where the strings are */
} policy;

/** false after an error, which it printed with the file's name and the line. End with policy_free in both cases. */
bool policy_read(const char *path, policy *out);
void policy_free(policy *p);

#endif
