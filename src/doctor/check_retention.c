/* How long removed files and the log are kept. */
#include "delta/properties.h"
#include "doctor/check.h"

#define DAY_MS ((int64_t)86400000)

/* Of the writers: commits tell how long their statement ran. */
static int64_t longest_seen_ms(const log_heads *h) {
    int64_t longest = 0, ms;
    for (size_t i = 0; i < h->count; i++) {
        const json_node *n = json_get(json_get(h->items[i].info, "operationMetrics"), "executionTimeMs");
        bool known = n && (json_node_i64(n, &ms) || (n->type == JSON_STRING && str_to_i64(n->text, &ms)));
        if (known && ms > longest) longest = ms;
    }
    return longest;
}

silt_status check_file_retention(doctor *d, silt_error *err) {
    const log_heads *h;
    TRY(doctor_heads(d, &h, err));
    int64_t retention = delta_config_interval_ms(doctor_configuration(d), "delta.deletedFileRetentionDuration");
    bool given = d->options->longest_job_ms > 0;
    int64_t job = given ? d->options->longest_job_ms : DAY_MS, seen = longest_seen_ms(h);
    if (seen > job) job = seen;
    if (retention < 0 || retention >= job) return SILT_OK;
    str kept = doctor_duration(d, retention), longest = doctor_duration(d, job);
    doctor_finding *f = doctor_report(
        d, DOCTOR_WARNING, 1, "removed files are kept for %.*s (delta.deletedFileRetentionDuration), %s for %.*s", STR_ARG(kept),
        seen == job ? "but a statement of this table ran"
        : given     ? "but the longest job works"
                    : "but a job may work with a version",
        STR_ARG(longest));
    int64_t hours = (job + 3600000 - 1) / 3600000, log = delta_config_interval_ms(doctor_configuration(d), "delta.logRetentionDuration");
    if (hours < 168) hours = 168;
    bool log_too = log >= 0 && log < hours * 3600000; /* files may not be kept for longer than the log */
    str more = log_too ? arena_printf(d->a, ", 'delta.logRetentionDuration' = 'interval %lld hours'", (long long)hours) : STR("");
    return doctor_command(d, f, err, "ALTER TABLE %.*s SET TBLPROPERTIES ('delta.deletedFileRetentionDuration' = 'interval %lld hours'%.*s)",
                          STR_ARG(d->subject->sql_name), (long long)hours, STR_ARG(more));
}

silt_status check_log_retention(doctor *d, silt_error *err) {
    const str_map *c = doctor_configuration(d);
    int64_t files = delta_config_interval_ms(c, "delta.deletedFileRetentionDuration"),
            log = delta_config_interval_ms(c, "delta.logRetentionDuration");
    if (files < 0 || log < 0 || log >= files) return SILT_OK;
    str kept = doctor_duration(d, log), longer = doctor_duration(d, files);
    doctor_finding *f =
        doctor_report(d, DOCTOR_WARNING, 1, "the log is kept for %.*s (delta.logRetentionDuration), removed files for %.*s",
                      STR_ARG(kept), STR_ARG(longer));
    int64_t hours = (files + 3600000 - 1) / 3600000;
    return doctor_command(d, f, err, "ALTER TABLE %.*s SET TBLPROPERTIES ('delta.logRetentionDuration' = 'interval %lld hours')",
                          STR_ARG(d->subject->sql_name), (long long)(hours > 720 ? hours : 720));
}
