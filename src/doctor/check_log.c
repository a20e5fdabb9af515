/* Holes in the log, commits that say nothing, and a newest version that does not open. */
#include "doctor/check.h"

static int64_t newest_checkpoint(doctor *d) {
    const log_file *parts;
    size_t n;
    return segment_checkpoint(&d->log, INT64_MAX, d->a, &parts, &n) ? parts[0].name.version : -1;
}

typedef struct gap {
    int64_t from, to;
} gap; /* versions that are not there */

static silt_status report_gaps(doctor *d, const gap *gaps, size_t n, int64_t missing, bool is_fatal, silt_error *err) {
    int64_t checkpoint = newest_checkpoint(d);
    doctor_finding *f =
        is_fatal
            ? doctor_report(d, DOCTOR_DANGER, missing,
                            "the commits of %lld version%s are missing from the log, behind its newest checkpoint%s",
                            (long long)missing, missing == 1 ? "" : "s", checkpoint < 0 ? " (it has none)" : "")
            : doctor_report(d, DOCTOR_WARNING, missing,
                            "the commits of %lld version%s are missing from the log, before its newest checkpoint (version %lld)",
                            (long long)missing, missing == 1 ? "" : "s", (long long)checkpoint);
    if (!f) return error_no_memory(err);
    if (!is_fatal)
        f->danger = STR("The versions behind the hole, up to the next checkpoint, are gone from time travel, and a change feed "
                        "that spans it fails.");
    for (size_t i = 0; i < n; i++) {
        str text = gaps[i].from == gaps[i].to
                       ? arena_printf(d->a, "version %lld", (long long)gaps[i].from)
                       : arena_printf(d->a, "versions %lld to %lld", (long long)gaps[i].from, (long long)gaps[i].to);
        TRY(doctor_example(d, f, text, err));
    }
    if (is_fatal && !d->snapshot) d->explained = true;
    return SILT_OK;
}

/*
 * Commits are contiguous from the oldest one on; clean-up takes from below. The lone commit that clean-up leaves beside its
 * checkpoint is followed by what is behind it. A log that begins behind version 0 needs a checkpoint to begin with: that none is
 * there is log-unreadable's finding.
 */
silt_status check_log_gaps(doctor *d, silt_error *err) {
    gap *fatal = NULL, *harmless = NULL;
    size_t n_fatal = 0, fatal_capacity = 0, n_harmless = 0, harmless_capacity = 0;
    int64_t before = -1, checkpoint = newest_checkpoint(d), n_fatal_versions = 0, n_harmless_versions = 0;
    for (size_t i = 0; i < d->log.count; i++) {
        const log_file_name *n = &d->log.files[i].name;
        if (n->kind != LOG_COMMIT) continue;
        if (before < 0 && n->version > checkpoint + 1) before = checkpoint; /* the log begins behind what its checkpoint covers */
        if (before >= 0 && n->version > before + 1) {
            gap g = {before + 1, n->version - 1};
            bool is_fatal = g.to > checkpoint;
            if (is_fatal && g.from <= checkpoint) g.from = checkpoint + 1;
            *(is_fatal ? &n_fatal_versions : &n_harmless_versions) += g.to - g.from + 1;
            if (is_fatal ? !ARENA_PUSH(d->a, fatal, n_fatal, fatal_capacity, g)
                         : !ARENA_PUSH(d->a, harmless, n_harmless, harmless_capacity, g))
                return error_no_memory(err);
        }
        before = n->version;
    }
    if (n_fatal) TRY(report_gaps(d, fatal, n_fatal, n_fatal_versions, true, err));
    return n_harmless ? report_gaps(d, harmless, n_harmless, n_harmless_versions, false, err) : SILT_OK;
}

/* The shortest action is longer: what is read is a file of nothing, of line ends, or of the beginning of one. */
#define BLANK_BYTES ((int64_t)16)

static silt_status is_blank(doctor *d, const log_file *f, bool *out, silt_error *err) {
    buf text;
    *out = f->size_bytes == 0;
    if (f->size_bytes <= 0 || f->size_bytes > BLANK_BYTES) return SILT_OK;
    buf_init(&text, (size_t)BLANK_BYTES * 2);
    silt_status status = store_read(d->subject->env->store, f->path, 0, BLANK_BYTES, &text, err);
    *out = status == SILT_OK && str_trim(buf_str(&text)).len == 0;
    buf_dispose(&text);
    return status == SILT_NOT_FOUND ? SILT_OK : status; /* cleaned up meanwhile */
}

/* Readers take such a file for a version that changes nothing. No writer means that: even a commit without files tells its commitInfo. */
silt_status check_commit_empty(doctor *d, silt_error *err) {
    int64_t versions[DOCTOR_EXAMPLES], n = 0;
    for (size_t i = 0; i < d->log.count; i++) {
        const log_file *f = &d->log.files[i];
        bool blank = false;
        if (f->name.kind == LOG_COMMIT) TRY(is_blank(d, f, &blank, err));
        if (!blank) continue;
        if (n < DOCTOR_EXAMPLES) versions[n] = f->name.version;
        n++;
    }
    if (n == 0) return SILT_OK;
    doctor_finding *f = doctor_report(d, DOCTOR_DANGER, n, "%lld commit%s of the log hold%s no action at all", (long long)n, n == 1 ? "" : "s", n == 1 ? "s" : "");
    for (int64_t i = 0; i < n && i < DOCTOR_EXAMPLES; i++)
        TRY(doctor_example(d, f, arena_printf(d->a, "version %lld", (long long)versions[i]), err));
    return f ? SILT_OK : error_no_memory(err);
}

silt_status check_log_unreadable(doctor *d, silt_error *err) {
    if (d->snapshot || d->explained) return SILT_OK;
    const silt_error *why = &d->open_error;
    bool foreign = why->status == SILT_UNSUPPORTED;
    doctor_finding *f =
        doctor_report(d, foreign ? DOCTOR_WARNING : DOCTOR_DANGER, 1, "the newest version does not open: [%s] %s%s%s",
                      why->condition, why->message, why->detail[0] ? "; " : "", why->detail);
    if (!f) return error_no_memory(err);
    if (foreign)
        f->danger = STR("Silt cannot read it; engines that know these features may. The other checks of it are left out.");
    if (why->hint[0]) f->remedy = arena_str(d->a, str_of(why->hint));
    return f->remedy.ptr ? SILT_OK : error_no_memory(err);
}
