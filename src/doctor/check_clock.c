/* The times of commits, by which TIMESTAMP AS OF and log clean-up go: those of the files, unless the commits carry their own. */
#include "base/time.h"
#include "delta/commit_times.h"
#include "doctor/check.h"

#define SLACK_MS  ((int64_t)1000)      /* file systems round */
#define COPIED_MS ((int64_t)86400000)  /* a log whose files are that much younger than its commits is a copy */
#define SKEW_MS   ((int64_t)5 * 60000) /* clocks of writers that differ by less disturb nobody */

static bool has_own_time(const log_head *h) { return h->info && json_get(h->info, "inCommitTimestamp"); }

static str shown_time(doctor *d, int64_t ms) {
    buf b;
    buf_init(&b, 64);
    time_write_timestamp(&b, ms * 1000, ' ', 3, "");
    return buf_take(&b, d->a);
}

typedef struct disorder {
    int64_t pairs, worst_ms;
    const log_head *before, *after; /* of the worst */
} disorder;

static void note_pair(disorder *o, const log_head *a, const log_head *b, int64_t a_ms, int64_t b_ms) {
    o->pairs++;
    if (a_ms - b_ms <= o->worst_ms) return;
    o->worst_ms = a_ms - b_ms;
    o->before = a;
    o->after = b;
}

static silt_status report_files(doctor *d, const disorder *o, bool is_copy, silt_error *err) {
    doctor_finding *f = doctor_report(
        d, is_copy ? DOCTOR_INFO : DOCTOR_WARNING, o->pairs,
        is_copy
            ? "the log is a copy that did not keep the files' times: %lld version%s bear an earlier time than the version before"
            : "%lld version%s bear an earlier time than the version before",
        (long long)o->pairs, o->pairs == 1 ? "" : "s");
    if (!f) return error_no_memory(err);
    str a = shown_time(d, o->before->modified_ms), b = shown_time(d, o->after->modified_ms);
    TRY(doctor_example(d, f,
                       arena_printf(d->a, "version %lld at %.*s UTC, version %lld at %.*s UTC", (long long)o->before->version,
                                    STR_ARG(a), (long long)o->after->version, STR_ARG(b)),
                       err));
    return doctor_command(d, f, err, "ALTER TABLE %.*s SET TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'true')",
                          STR_ARG(d->subject->sql_name));
}

static silt_status report_writers(doctor *d, const disorder *o, silt_error *err) {
    str by = doctor_duration(d, o->worst_ms);
    doctor_finding *f = doctor_report(d, DOCTOR_INFO, o->pairs,
                                      "the clocks of the writers differ: version %lld says it was made %.*s before version %lld",
                                      (long long)o->after->version, STR_ARG(by), (long long)o->before->version);
    if (!f) return error_no_memory(err);
    f->danger = STR("DESCRIBE HISTORY shows times that did not happen in that order.");
    f->remedy = STR("Keep the writers' clocks in step (NTP).");
    return SILT_OK;
}

silt_status check_commit_clock(doctor *d, silt_error *err) {
    const log_heads *h;
    disorder files = {0}, writers = {0};
    int64_t copied = 0, timed = 0;
    TRY(doctor_heads(d, &h, err));
    for (size_t i = 0; i < h->count; i++) {
        const log_head *b = &h->items[i], *a = i ? &h->items[i - 1] : NULL;
        if (b->timestamp_ms >= 0) timed++, copied += b->modified_ms - b->timestamp_ms > COPIED_MS;
        if (!a || a->version + 1 != b->version || has_own_time(b)) continue;
        if (b->modified_ms < a->modified_ms - SLACK_MS) note_pair(&files, a, b, a->modified_ms, b->modified_ms);
        if (a->timestamp_ms >= 0 && b->timestamp_ms >= 0 && b->timestamp_ms < a->timestamp_ms - SKEW_MS)
            note_pair(&writers, a, b, a->timestamp_ms, b->timestamp_ms);
    }
    if (files.before) TRY(report_files(d, &files, timed > 0 && copied * 2 > timed, err));
    return writers.before ? report_writers(d, &writers, err) : SILT_OK;
}
