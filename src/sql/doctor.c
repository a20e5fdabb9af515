/*
 * DOCTOR: the findings of src/doctor/ as rows, worst first. Options come from OPTIONS (…), else from the session:
 * silt.doctor.checks, .readers, .filters (lists with commas), .longestJob (an interval), .fix. A table of a database that cannot
 * be examined is a row of its own; the others are examined all the same.
 */
#include "doctor/doctor.h"

#include "base/time.h"
#include "sql/run.h"

static const char columns[] = "table STRING, check STRING, severity STRING, finding STRING, danger STRING, remedy STRING, "
                              "command STRING, items BIGINT, examples ARRAY<STRING>, fixable BOOLEAN, fixed BOOLEAN";

/* ---- options ---- */

static str option_text(run *r, const char *key) {
    for (size_t i = 0; i < r->st->options.count; i++)
        if (str_eq_ascii_fold(r->st->options.keys[i], str_of(key))) return r->st->options.values[i];
    str name = arena_printf(r->a, "silt.doctor.%s", key);
    return name.ptr ? session_get(r->s, name) : STR_NULL;
}

static silt_status option_list(run *r, const char *key, const str **out, size_t *out_n, silt_error *err) {
    str rest = option_text(r, key), piece, *items = NULL;
    size_t n = 0, capacity = 0;
    while (rest.len && str_next(&rest, ',', &piece)) {
        piece = str_trim(piece);
        if (piece.len && !ARENA_PUSH(r->a, items, n, capacity, piece)) return error_no_memory(err);
    }
    *out = items;
    *out_n = n;
    return SILT_OK;
}

static silt_status option_names_known(run *r, silt_error *err) {
    static const char *const known[] = {"checks", "readers", "filters", "longestJob", "fix"};
    for (size_t i = 0; i < r->st->options.count; i++) {
        bool found = false;
        for (size_t k = 0; k < ARRAY_LEN(known); k++) found |= str_eq_ascii_fold(r->st->options.keys[i], str_of(known[k]));
        if (!found)
            return err_INVALID_PARAMETER_VALUE(err, STR("OPTIONS"), r->st->options.keys[i],
                                               "checks, readers, filters, longestJob or fix");
    }
    return SILT_OK;
}

static silt_status read_options(run *r, doctor_options *o, silt_error *err) {
    *o = (doctor_options){.now_ms = time_now_ms()};
    TRY(option_names_known(r, err));
    TRY(option_list(r, "checks", &o->checks, &o->n_checks, err));
    TRY(option_list(r, "readers", &o->readers, &o->n_readers, err));
    TRY(option_list(r, "filters", &o->filters, &o->n_filters, err));
    str job = option_text(r, "longestJob"), fix = option_text(r, "fix");
    if (job.len && !time_parse_interval_ms(job, &o->longest_job_ms))
        return err_INVALID_PARAMETER_VALUE(err, STR("longestJob"), job, "an interval, such as 36 hours");
    o->fix = str_eq_ascii_fold(fix, STR("true"));
    bool good = fix.len == 0 || o->fix || str_eq_ascii_fold(fix, STR("false"));
    return good ? SILT_OK : err_INVALID_PARAMETER_VALUE(err, STR("fix"), fix, "true or false");
}

/* ---- rows ---- */

static bool append_text(arrow_builder *b, str s) { return s.ptr ? arrow_append_str(b, s) : arrow_append_null(b); }

static silt_status add_finding(run *r, str table, const doctor_finding *f, silt_error *err) {
    const str texts[] = {table,     str_of(f->check), str_of(doctor_severity_name(f->severity)), f->finding, f->danger,
                         f->remedy, f->command};
    bool good = true;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) good &= append_text(rows_column(r, i), texts[i]);
    good &= arrow_append_i64(rows_column(r, 7), f->items);
    for (size_t i = 0; i < f->n_examples; i++) good &= arrow_append_str(arrow_child(rows_column(r, 8), 0), f->examples[i]);
    good &= arrow_finish_row(rows_column(r, 8));
    good &= arrow_append_bool(rows_column(r, 9), f->fixable) && arrow_append_bool(rows_column(r, 10), f->fixed);
    return good && arrow_finish_row(r->result->rows) ? SILT_OK : error_no_memory(err);
}

typedef struct tally {
    int64_t tables, findings;
} tally;

static silt_status examine(run *r, const doctor_subject *subject, const doctor_options *o, tally *t, silt_error *err) {
    doctor_finding *findings;
    size_t n;
    TRY(doctor_examine(subject, o, r->a, &findings, &n, err));
    for (size_t i = 0; i < n; i++) TRY(add_finding(r, subject->sql_name, &findings[i], err));
    t->tables++;
    t->findings += (int64_t)n;
    return SILT_OK;
}

/* ---- one table ---- */

static str quoted_name(run *r, str database, str name) {
    buf b;
    buf_init(&b, 1 << 16);
    identifier_write(&b, database);
    buf_append_char(&b, '.');
    identifier_write(&b, name);
    return buf_take(&b, r->a);
}

static str quoted_path(run *r, str path) {
    buf b;
    buf_init(&b, 1 << 20);
    buf_append_z(&b, "delta.`");
    for (size_t i = 0; i < path.len; i++) {
        if (path.ptr[i] == '`') buf_append_char(&b, '`');
        buf_append_char(&b, path.ptr[i]);
    }
    buf_append_char(&b, '`');
    return buf_take(&b, r->a);
}

static silt_status examine_resolved(run *r, const resolved_table *t, const doctor_options *o, tally *done, silt_error *err) {
    delta_env *env;
    if (!str_eqz(t->format, "delta")) return err_DELTA_TABLE_ONLY_OPERATION(err, t->display);
    TRY(session_env(r->s, t->store, &env, err));
    doctor_subject subject = {
        .env = env, .root = t->root, .catalog = r->s->catalog, .is_managed = t->in_catalog && t->entry.is_managed};
    if (t->in_catalog) {
        subject.database = t->database;
        subject.name = t->name;
        subject.sql_name = quoted_name(r, t->database, t->name);
    } else {
        subject.sql_name = quoted_path(r, store_path_named(env->store, t->root, r->a));
    }
    return subject.sql_name.ptr ? examine(r, &subject, o, done, err) : error_no_memory(err);
}

/* ---- a database ---- */

static silt_status examine_entry(run *r, const catalog_table *entry, const doctor_options *o, tally *done, silt_error *err) {
    resolved_table t = {.database = entry->database,
                        .name = entry->name,
                        .in_catalog = true,
                        .entry = *entry,
                        .format = entry->provider,
                        .location = entry->location};
    silt_error why = {0};
    if (entry->is_view || !str_eq_ascii_fold(entry->provider, STR("delta"))) return SILT_OK;
    t.format = STR("delta");
    silt_status status = resolve_location(r->s, t.location, r->a, &t.store, &t.root, &why);
    if (status == SILT_OK) status = examine_resolved(r, &t, o, done, &why);
    if (status == SILT_OK) return SILT_OK;
    if (status == SILT_NO_MEMORY || status == SILT_CANCELLED || status == SILT_INVALID) {
        if (err) *err = why;
        return status;
    }
    doctor_finding f = {.check = "log-unreadable",
                        .severity = DOCTOR_DANGER,
                        .items = 1,
                        .finding = arena_printf(r->a, "the table cannot be examined: [%s] %s", why.condition, why.message),
                        .danger = STR("Nobody can read or write the table."),
                        .remedy = arena_str(r->a, str_of(why.hint))};
    str name = quoted_name(r, entry->database, entry->name);
    if (!f.finding.ptr || !f.remedy.ptr || !name.ptr) return error_no_memory(err);
    done->tables++;
    done->findings++;
    return add_finding(r, name, &f, err);
}

static silt_status examine_database(run *r, const doctor_options *o, tally *done, silt_error *err) {
    str database = r->st->name.count ? arena_str_lower(r->a, r->st->name.parts[r->st->name.count - 1]) : r->s->database;
    catalog_table *tables;
    size_t n;
    if (!database.ptr) return error_no_memory(err);
    TRY(r->s->catalog->ops->list_tables(r->s->catalog, database, r->a, &tables, &n, err));
    for (size_t i = 0; i < n; i++) TRY(examine_entry(r, &tables[i], o, done, err));
    return SILT_OK;
}

silt_status run_doctor(run *r, silt_error *err) {
    doctor_options o;
    tally done = {0};
    TRY(run_bind(r, err));
    TRY(read_options(r, &o, err));
    TRY(rows_begin(r, columns, err));
    if (r->st->table) {
        resolved_table t;
        TRY(resolve_table(r, r->st->table, false, &t, err));
        TRY(examine_resolved(r, &t, &o, &done, err));
    } else {
        TRY(examine_database(r, &o, &done, err));
    }
    r->result->message = arena_printf(r->a, "%lld table%s examined, %lld finding%s", (long long)done.tables,
                                      done.tables == 1 ? "" : "s", (long long)done.findings, done.findings == 1 ? "" : "s");
    return r->result->message.ptr ? SILT_OK : error_no_memory(err);
}
