/* The readers that the user named, against the table's protocol and the state of its folder. */
#include "doctor/check.h"
#include "doctor/readers.h"

static str join(doctor *d, const char **names, size_t n) {
    str s = STR("");
    for (size_t i = 0; i < n && s.ptr; i++) s = arena_printf(d->a, "%.*s%s%s", STR_ARG(s), i ? ", " : "", names[i]);
    return s;
}

/* A listed feature that the table does not use yet stands in the way of a reader of the log all the same; not so for one that goes by the files. */
static bool is_in_use(const doctor *d, const survey *s, const char *feature) {
    if (strcmp(feature, "deletionVectors") == 0) return s->dv_files > 0;
    return !str_is_null(delta_snapshot_property(d->snapshot, "delta.columnMapping.mode")) &&
           !str_eqz(delta_snapshot_property(d->snapshot, "delta.columnMapping.mode"), "none");
}

static silt_status report_features(doctor *d, const reader *r, const survey *s, silt_error *err) {
    const char **names;
    size_t n, kept = 0;
    TRY(reader_refuses(r, delta_snapshot_protocol(d->snapshot), d->a, &names, &n, err));
    for (size_t i = 0; i < n; i++)
        if (r->kind == READER_DELTA || is_in_use(d, s, names[i])) names[kept++] = names[i];
    if (kept == 0) return SILT_OK;
    str list = join(d, names, kept);
    doctor_finding *f = doctor_report(d, DOCTOR_DANGER, (int64_t)kept, "%.*s cannot read %.*s", STR_ARG(r->name), STR_ARG(list));
    if (r->kind != READER_DELTA) return doctor_command(d, f, err, "PUBLISH TABLE %.*s TO '…'", STR_ARG(d->subject->sql_name));
    return doctor_command(d, f, err, "ALTER TABLE %.*s DROP FEATURE %s", STR_ARG(d->subject->sql_name), names[0]);
}

static silt_status check_manifest(doctor *d, const reader *r, silt_error *err) {
    store_list_result found = {0};
    str dir = arena_printf(d->a, "%.*s/_symlink_format_manifest", STR_ARG(d->subject->root));
    if (!dir.ptr) return error_no_memory(err);
    silt_status status = store_list(d->subject->env->store, dir, STR_NULL, false, d->a, &found, err);
    if (status != SILT_NOT_FOUND) return status;
    doctor_finding *f =
        doctor_report(d, DOCTOR_DANGER, 1, "%.*s goes by the symlink manifest, and the table has none", STR_ARG(r->name));
    if (f)
        f->remedy =
            STR("Generate it, and set delta.compatibility.symlinkFormatManifest.enabled so that each commit keeps it current.");
    return doctor_command(d, f, err, "GENERATE symlink_format_manifest FOR TABLE %.*s", STR_ARG(d->subject->sql_name));
}

static silt_status check_folder(doctor *d, const reader *r, silt_error *err) {
    const disk_survey *s;
    TRY(doctor_disk(d, &s, err));
    int64_t strangers = s->removed.files + s->orphaned.files + s->kept_files + s->young_files;
    if (strangers == 0) return SILT_OK;
    doctor_finding *f = doctor_report(d, DOCTOR_DANGER, strangers,
                                      "%.*s lists the folder, which has %lld file%s that the newest version does not have",
                                      STR_ARG(r->name), (long long)strangers, strangers == 1 ? "" : "s");
    if (!f) return error_no_memory(err);
    f->danger = STR("That reader counts deleted and uncommitted rows.");
    f->remedy = STR("Publish a plain copy for it; VACUUM alone helps until the next write.");
    return doctor_command(d, f, err, "PUBLISH TABLE %.*s TO '…'", STR_ARG(d->subject->sql_name));
}

silt_status check_reader_support(doctor *d, silt_error *err) {
    const survey *s;
    TRY(doctor_survey(d, &s, err));
    for (size_t i = 0; i < d->options->n_readers; i++) {
        reader r;
        TRY(reader_parse(d->options->readers[i], &r, err));
        TRY(report_features(d, &r, s, err));
        if (r.kind == READER_MANIFEST) TRY(check_manifest(d, &r, err));
        if (r.kind == READER_FOLDER) TRY(check_folder(d, &r, err));
    }
    return SILT_OK;
}
