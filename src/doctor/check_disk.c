/* What the folder has and what the log needs. */
#include "doctor/check.h"

static silt_status add_examples(doctor *d, doctor_finding *f, const disk_group *g, silt_error *err) {
    for (size_t i = 0; i < g->n_examples; i++) TRY(doctor_example(d, f, g->examples[i], err));
    return SILT_OK;
}

static const char *plural(int64_t n) { return n == 1 ? "" : "s"; }

silt_status check_files_missing(doctor *d, silt_error *err) {
    const disk_survey *s;
    TRY(doctor_disk(d, &s, err));
    if (s->missing.files) {
        str bytes = doctor_bytes(d, s->missing.bytes);
        doctor_finding *f = doctor_report(
            d, DOCTOR_DANGER, s->missing.files, "%lld file%s (%.*s) of the newest version %s not on the disk",
            (long long)s->missing.files, plural(s->missing.files), STR_ARG(bytes), s->missing.files == 1 ? "is" : "are");
        TRY(doctor_command(d, f, err, "FSCK REPAIR TABLE %.*s DRY RUN", STR_ARG(d->subject->sql_name)));
        TRY(add_examples(d, f, &s->missing, err));
    }
    if (s->resized.files == 0) return SILT_OK;
    doctor_finding *f =
        doctor_report(d, DOCTOR_DANGER, s->resized.files, "%lld file%s on the disk %s another size than the log says",
                      (long long)s->resized.files, plural(s->resized.files), s->resized.files == 1 ? "has" : "have");
    if (!f) return error_no_memory(err);
    f->danger = STR("They were cut short or overwritten: queries fail on them or read other rows than were written.");
    f->remedy = STR("Bring the files back from a backup, or RESTORE an older version.");
    return add_examples(d, f, &s->resized, err);
}

#define ORPHANS_MANY  ((int64_t)10) /* fewer are the normal left-overs of writers that failed */
#define ORPHANS_SHARE 20            /* 1/20 of the table's bytes */
#define ORPHANS_BYTES ((int64_t)10 << 30)
#define OVERDUE_FILES ((int64_t)100)
#define OVERDUE_BYTES ((int64_t)10 << 30)

silt_status check_files_orphaned(doctor *d, silt_error *err) {
    const disk_survey *s;
    TRY(doctor_disk(d, &s, err));
    if (s->orphaned.files == 0) return SILT_OK;
    int64_t live = delta_snapshot_size_bytes(d->snapshot);
    bool many =
        s->orphaned.bytes >= ORPHANS_BYTES || (s->orphaned.files >= ORPHANS_MANY && s->orphaned.bytes >= live / ORPHANS_SHARE);
    str bytes = doctor_bytes(d, s->orphaned.bytes);
    doctor_finding *f =
        doctor_report(d, many ? DOCTOR_WARNING : DOCTOR_INFO, s->orphaned.files,
                      "%lld file%s (%.*s) in the folder belong%s to no version that the log knows", (long long)s->orphaned.files,
                      plural(s->orphaned.files), STR_ARG(bytes), s->orphaned.files == 1 ? "s" : "");
    TRY(doctor_command(d, f, err, "VACUUM %.*s DRY RUN", STR_ARG(d->subject->sql_name)));
    return add_examples(d, f, &s->orphaned, err);
}

static bool was_vacuumed(const log_heads *h) {
    for (size_t i = 0; i < h->count; i++)
        if (str_starts_with(h->items[i].operation, STR("VACUUM"))) return true;
    return false;
}

silt_status check_vacuum_overdue(doctor *d, silt_error *err) {
    const disk_survey *s;
    const log_heads *h;
    TRY(doctor_disk(d, &s, err));
    TRY(doctor_heads(d, &h, err));
    int64_t files = s->removed.files, bytes = s->removed.bytes;
    bool much = bytes >= OVERDUE_BYTES || (files >= OVERDUE_FILES && bytes > delta_snapshot_size_bytes(d->snapshot));
    if (!much) return SILT_OK;
    str size = doctor_bytes(d, bytes), live = doctor_bytes(d, delta_snapshot_size_bytes(d->snapshot));
    const char *when = was_vacuumed(h) ? "since the last VACUUM"
                       : h->is_whole   ? "VACUUM was never run"
                                       : "no VACUUM is among the last versions";
    doctor_finding *f =
        doctor_report(d, DOCTOR_WARNING, files,
                      "%lld removed files (%.*s, beside %.*s of data) are older than the retention and still on the disk; %s",
                      (long long)files, STR_ARG(size), STR_ARG(live), when);
    return doctor_command(d, f, err, "VACUUM %.*s", STR_ARG(d->subject->sql_name));
}
