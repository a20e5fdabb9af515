/* Running the checks over one table. */
#include "doctor/check.h"

#include "base/time.h"

const char *doctor_severity_name(doctor_severity s) {
    static const char *const names[] = {"info", "warning", "danger"};
    return names[s];
}

/* ---- what the checks ask for ---- */

silt_status doctor_survey(doctor *d, const survey **out, silt_error *err) {
    if (!d->survey) TRY(survey_take(d->snapshot, d->a, &d->survey, err));
    *out = d->survey;
    return SILT_OK;
}

silt_status doctor_heads(doctor *d, const log_heads **out, silt_error *err) {
    if (!d->heads) TRY(log_heads_read(d->subject->env, &d->log, d->a, &d->heads, err));
    *out = d->heads;
    return SILT_OK;
}

silt_status doctor_disk(doctor *d, const disk_survey **out, silt_error *err) {
    silt_status status = SILT_OK;
    if (!d->disk) status = disk_survey_take(d->snapshot, d->options->now_ms, d->a, &d->disk, err);
    /* What fails is told by the first check that asks; the others then find nothing, rather than walk the folder again. */
    if (status != SILT_OK) d->disk = ARENA_NEW(d->a, disk_survey);
    if (status == SILT_OK) *out = d->disk;
    return d->disk ? status : error_no_memory(err);
}

const str_map *doctor_configuration(const doctor *d) { return &delta_snapshot_metadata(d->snapshot)->configuration; }

str doctor_bytes(doctor *d, int64_t bytes) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
    double v = (double)bytes;
    size_t u = 0;
    while (v >= 1024 && u + 1 < ARRAY_LEN(units)) v /= 1024, u++;
    return u ? arena_printf(d->a, "%.1f %s", v, units[u]) : arena_printf(d->a, "%lld bytes", (long long)bytes);
}

str doctor_duration(doctor *d, int64_t ms) {
    static const struct {
        int64_t ms;
        const char *name;
    } units[] = {{86400000, "days"}, {3600000, "hours"}, {60000, "minutes"}, {1000, "seconds"}};
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (ms >= 2 * units[i].ms || (ms >= units[i].ms && ms % units[i].ms == 0)) {
            int64_t n = ms / units[i].ms;
            return arena_printf(d->a, "%lld %.*s", (long long)n, (int)strlen(units[i].name) - (n == 1), units[i].name);
        }
    return arena_printf(d->a, "%lld ms", (long long)ms);
}

static bool is_plain_word(str s) {
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '/' ||
                     c == '.' || c == '-' || c == ':' || c == '@';
        if (!plain) return false;
    }
    return s.len > 0 && s.ptr[0] != '-';
}

str doctor_shell_name(doctor *d) {
    str name = d->subject->name.ptr ? d->subject->sql_name : store_path_named(d->subject->env->store, d->subject->root, d->a);
    if (is_plain_word(name)) return name;
    buf b;
    buf_init(&b, 1 << 20);
    buf_append_char(&b, '\'');
    for (size_t i = 0; i < name.len; i++) buf_append(&b, name.ptr[i] == '\'' ? STR("'\\''") : str_slice(name, i, i + 1));
    buf_append_char(&b, '\'');
    return buf_take(&b, d->a);
}

/* ---- findings ---- */

doctor_finding *doctor_report(doctor *d, doctor_severity severity, int64_t items, const char *format, ...) {
    va_list args;
    va_start(args, format);
    str text = arena_vprintf(d->a, format, args);
    va_end(args);
    const doctor_check *c = d->now;
    doctor_finding f = {.check = c->name,
                        .severity = severity,
                        .finding = text,
                        .danger = str_of(c->danger),
                        .remedy = str_of(c->remedy),
                        .items = items,
                        .fixable = c->fix != NULL};
    if (!text.ptr || !ARENA_PUSH(d->a, d->findings, d->n_findings, d->capacity, f)) return NULL;
    return &d->findings[d->n_findings - 1];
}

silt_status doctor_command(doctor *d, doctor_finding *f, silt_error *err, const char *format, ...) {
    if (!f) return error_no_memory(err);
    va_list args;
    va_start(args, format);
    f->command = arena_vprintf(d->a, format, args);
    va_end(args);
    return f->command.ptr ? SILT_OK : error_no_memory(err);
}

silt_status doctor_example(doctor *d, doctor_finding *f, str example, silt_error *err) {
    if (!f) return error_no_memory(err);
    if (f->n_examples >= DOCTOR_EXAMPLES) return SILT_OK;
    str *grown = ARENA_ARRAY(d->a, f->n_examples + 1, str);
    if (!grown) return error_no_memory(err);
    for (size_t i = 0; i < f->n_examples; i++) grown[i] = f->examples[i];
    grown[f->n_examples] = arena_str(d->a, example);
    if (!grown[f->n_examples].ptr) return error_no_memory(err);
    f->examples = grown;
    f->n_examples++;
    return SILT_OK;
}

/* ---- the run ---- */

static bool is_wanted(const doctor_options *o, const char *name) {
    for (size_t i = 0; i < o->n_checks; i++)
        if (str_eqz(o->checks[i], name)) return true;
    return o->n_checks == 0;
}

static silt_status check_names_known(const doctor_options *o, arena *a, silt_error *err) {
    for (size_t i = 0; i < o->n_checks; i++) {
        bool known = false;
        for (size_t c = 0; c < doctor_n_checks; c++) known |= str_eqz(o->checks[i], doctor_checks[c].name);
        if (known) continue;
        str list = STR("one of");
        for (size_t c = 0; c < doctor_n_checks; c++)
            list = arena_printf(a, "%.*s%s %s", STR_ARG(list), c ? "," : "", doctor_checks[c].name);
        char *z = list.ptr ? arena_cstr(a, list) : NULL;
        return z ? err_INVALID_PARAMETER_VALUE(err, STR("checks"), o->checks[i], z) : error_no_memory(err);
    }
    return SILT_OK;
}

static bool is_fatal(silt_status s) { return s == SILT_NO_MEMORY || s == SILT_CANCELLED || s == SILT_INVALID; }

static bool can_run(const doctor *d, const doctor_check *c) {
    if ((c->needs & NEEDS_SNAPSHOT) && !d->snapshot) return false;
    return !(c->needs & NEEDS_CATALOG) || d->subject->catalog;
}

/* What a check cannot look at is told, not passed over: a folder without permission is no healthy folder. */
static silt_status tell_failure(doctor *d, const silt_error *why, silt_error *err) {
    doctor_finding *f = doctor_report(d, DOCTOR_WARNING, 0, "this check could not be made: [%s] %s%s%s", why->condition,
                                      why->message, why->detail[0] ? "; " : "", why->detail);
    if (!f) return error_no_memory(err);
    f->danger = STR("What it looks for stays unseen.");
    f->remedy = arena_str(d->a, str_of(why->hint));
    f->fixable = false;
    return f->remedy.ptr ? SILT_OK : error_no_memory(err);
}

static silt_status mend(doctor *d, size_t from, silt_error *err) {
    if (!d->options->fix || !d->now->fix || d->n_findings == from) return SILT_OK;
    TRY(d->now->fix(d, err));
    for (size_t i = from; i < d->n_findings; i++) d->findings[i].fixed = d->findings[i].fixable;
    return SILT_OK;
}

static silt_status run_check(doctor *d, const doctor_check *c, silt_error *err) {
    silt_error why = {0};
    size_t from = d->n_findings;
    d->now = c;
    TRY(cancel_check(d->subject->env->cancel, err));
    silt_status status = c->run(d, &why);
    if (status == SILT_OK) status = mend(d, from, &why);
    if (status == SILT_OK) return SILT_OK;
    if (!is_fatal(status)) return tell_failure(d, &why, err);
    if (err) *err = why;
    return status;
}

/* Worst first; within a severity the order of the checks stays. */
static silt_status sort_findings(doctor *d, silt_error *err) {
    doctor_finding *sorted = ARENA_ARRAY(d->a, d->n_findings + 1, doctor_finding);
    size_t n = 0;
    if (!sorted) return error_no_memory(err);
    for (int s = DOCTOR_DANGER; s >= DOCTOR_INFO; s--)
        for (size_t i = 0; i < d->n_findings; i++)
            if ((int)d->findings[i].severity == s) sorted[n++] = d->findings[i];
    d->findings = sorted;
    return SILT_OK;
}

static silt_status open_newest(doctor *d, silt_error *err) {
    silt_status status = delta_snapshot_load(d->subject->env, d->subject->root, DELTA_LATEST, &d->snapshot, &d->open_error);
    if (!is_fatal(status) || status == SILT_INVALID) return SILT_OK;
    if (err) *err = d->open_error;
    return status;
}

silt_status doctor_examine(const doctor_subject *subject, const doctor_options *options, arena *a, doctor_finding **out,
                           size_t *out_n, silt_error *err) {
    doctor d = {.subject = subject, .options = options, .a = a};
    silt_status status;
    TRY(check_names_known(options, a, err));
    TRY(log_list(subject->env, subject->root, 0, a, &d.log, err));
    if (d.log.count == 0) return err_DELTA_TABLE_NOT_FOUND(err, subject->sql_name);
    TRY(open_newest(&d, err));
    for (size_t i = 0; i < doctor_n_checks; i++)
        if (is_wanted(options, doctor_checks[i].name) && can_run(&d, &doctor_checks[i]))
            TRY_OUT(run_check(&d, &doctor_checks[i], err));
    TRY_OUT(sort_findings(&d, err));
    *out = d.findings;
    *out_n = d.n_findings;
out:
    delta_snapshot_release(d.snapshot);
    return status;
}
