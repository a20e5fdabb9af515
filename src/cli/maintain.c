/*
 * silt maintain: the rules of a policy, table by table, each a statement: compact, purge, checkpoint, vacuum, then the doctor.
 * What fails ends that table's work (its doctor still comes) and is told at the end; the other tables go on. --dry-run makes no
 * change: it prints the statements with what they would touch.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/maintain_report.h"
#include "cli/policy.h"

#define TARGET_BYTES ((int64_t)1 << 30) /* what OPTIMIZE makes unless the table says otherwise */

typedef struct maintaining {
    silt_session *session;
    const options *o;
    maintain_report *report;
    int worst; /* of the doctor, where it counts */
    bool failed;
} maintaining;

/* ---- statements ---- */

static char *statement(const char *verb_word, const policy_table *t) {
    text_buf sql = {0};
    text_add_z(&sql, verb_word);
    if (sql_table(&sql, t->name, "delta")) return sql.ptr;
    free(sql.ptr);
    return NULL;
}

static void append(char **sql, const char *text) {
    char *longer = text_of("%s%s", *sql, text);
    free(*sql);
    *sql = longer;
}

/* The days are counted here, in UTC: the predicate is then one of constants. */
static void recent_day(const policy_table *t, char out[32]) {
    time_t then = time(NULL) - (time_t)t->recent_days * 86400;
    struct tm tm;
    out[0] = '\0';
    if (gmtime_r(&then, &tm)) strftime(out, 32, "%Y-%m-%d", &tm);
}

static void add_recent(text_buf *sql, const policy_table *t) {
    char day[32];
    recent_day(t, day);
    text_add_z(sql, " WHERE ");
    (void)sql_name(sql, t->recent_column);
    text_printf(sql, " >= '%s'", day);
}

static char *optimize_statement(const policy_table *t) {
    text_buf tail = {0};
    char *sql = statement("OPTIMIZE ", t);
    text_add_z(&tail, t->full ? " FULL" : "");
    if (t->recent_days >= 0) add_recent(&tail, t);
    if (t->where) {
        text_add_z(&tail, " WHERE ");
        text_add_z(&tail, t->where);
        text_add_z(&tail, t->zorder.count ? "\n" : "");
    }
    for (size_t i = 0; i < t->zorder.count; i++) {
        text_add_z(&tail, i ? ", " : " ZORDER BY (");
        if (!sql_name(&tail, t->zorder.items[i])) sql_quoted(&tail, t->zorder.items[i], strlen(t->zorder.items[i]), '`');
    }
    if (t->zorder.count) text_add_z(&tail, ")");
    if (sql) append(&sql, tail.ptr);
    free(tail.ptr);
    return sql;
}

static char *vacuum_statement(const policy_table *t, bool dry_run) {
    char *sql = statement("VACUUM ", t);
    if (sql && t->retain) {
        text_buf retain = {0};
        (void)sql_retain(&retain, t->retain); /* the policy's reader has looked at it */
        append(&sql, retain.ptr);
        free(retain.ptr);
    }
    if (sql && dry_run) append(&sql, " DRY RUN");
    return sql;
}

static void add_doctor_list(text_buf *sql, const char *key, const string_list *l, bool *first) {
    text_buf joined = {0};
    if (l->count == 0) return;
    for (size_t i = 0; i < l->count; i++) {
        if (i) text_add_z(&joined, ",");
        text_add_z(&joined, l->items[i]);
    }
    text_printf(sql, "%s%s = ", *first ? " OPTIONS (" : ", ", key);
    sql_literal(sql, joined.ptr);
    free(joined.ptr);
    *first = false;
}

static char *doctor_statement(const policy_table *t) {
    text_buf sql = {0};
    bool first = true;
    text_add_z(&sql, "DOCTOR TABLE ");
    if (!sql_table(&sql, t->name, "delta")) {
        free(sql.ptr);
        return NULL;
    }
    add_doctor_list(&sql, "readers", &t->readers, &first);
    add_doctor_list(&sql, "filters", &t->filters, &first);
    if (t->longest_job) {
        string_list job = {0};
        list_add(&job, t->longest_job);
        add_doctor_list(&sql, "longestJob", &job, &first);
    }
    if (!first) text_add_z(&sql, ")");
    return sql.ptr;
}

/* ---- steps ---- */

/* One statement, its rows into the report. */
static bool run_step(maintaining *m, const char *name, const char *sql, result_rows *out_rows) {
    struct ArrowArrayStream stream;
    silt_error err;
    result_rows rows = {0};
    *out_rows = rows;
    report_step_begin(m->report, name, sql);
    if (!sql) {
        m->failed = true;
        report_step_failed(m->report, "INVALID_PARAMETER_VALUE", "the table's name is none", "");
        return false;
    }
    if (silt_query(m->session, sql, NULL, &stream, &err) != SILT_OK || !rows_collect(&stream, &rows, &err)) {
        m->failed = true;
        rows_free(&rows);
        report_step_failed(m->report, err.condition, err.message, err.hint);
        return false;
    }
    report_step_done(m->report, &rows);
    *out_rows = rows;
    return true;
}

/* Is a file of a day that is too old? Only where its partition values tell (column mapping calls the column otherwise). */
static bool is_older(const result_rows *rows, int64_t row, const policy_table *t) {
    char day[32], *values = t->recent_days >= 0 ? rows_text(rows, row, "partitionValues") : NULL;
    char *needle = text_of("{%s -> ", t->recent_column ? t->recent_column : "");
    char *at = values ? strstr(values, needle) : NULL;
    recent_day(t, day);
    bool older = at && strncmp(at + strlen(needle), day, strlen(day)) < 0;
    free(needle);
    free(values);
    return older;
}

/*
 * What the statement would read: the files below the target size, all of them where rows are put in order. A predicate is not
 * weighed: the plan then says "at most".
 */
static bool plan_rewrite(maintaining *m, const policy_table *t, const char *name, char *sql) {
    struct ArrowArrayStream stream;
    silt_snapshot *snapshot = NULL;
    silt_error err;
    result_rows rows = {0};
    int64_t files = 0, bytes = 0;
    bool purge = strcmp(name, "purge") == 0, all = t->full || t->zorder.count;
    report_step_begin(m->report, name, sql);
    bool good = silt_snapshot_open(m->session, t->name, SILT_LATEST, NULL, &snapshot, &err) == SILT_OK &&
                silt_snapshot_files(snapshot, &stream, &err) == SILT_OK && rows_collect(&stream, &rows, &err);
    for (int64_t i = 0; i < rows.count; i++) {
        int64_t size = rows_i64(&rows, i, "size", 0);
        char *vector = purge ? rows_text(&rows, i, "deletionVector") : NULL;
        bool taken = purge ? vector != NULL : (all || size < TARGET_BYTES) && !is_older(&rows, i, t);
        if (taken) files++, bytes += size;
        free(vector);
    }
    if (good)
        report_step_planned(m->report, files, bytes, !purge && (t->where || t->recent_days >= 0));
    else
        report_step_failed(m->report, err.condition, err.message, err.hint);
    m->failed |= !good;
    rows_free(&rows);
    silt_snapshot_close(snapshot);
    free(sql);
    return good;
}

static bool checkpoint_step(maintaining *m, const policy_table *t) {
    silt_snapshot *snapshot;
    silt_error err;
    report_step_begin(m->report, "checkpoint", NULL);
    if (m->o->dry_run) {
        report_step_planned(m->report, -1, 0, false);
        return true;
    }
    silt_status status = silt_snapshot_open(m->session, t->name, SILT_LATEST, NULL, &snapshot, &err);
    if (status == SILT_OK) {
        status = silt_snapshot_checkpoint(snapshot, &err);
        silt_snapshot_close(snapshot);
    }
    if (status == SILT_OK)
        report_step_done(m->report, NULL);
    else
        report_step_failed(m->report, err.condition, err.message, err.hint);
    m->failed |= status != SILT_OK;
    return status == SILT_OK;
}

static void weigh_findings(maintaining *m, const policy_table *t, const result_rows *rows) {
    for (int64_t i = 0; i < rows->count; i++) {
        char *severity = rows_text(rows, i, "severity");
        int code = strcmp(severity, "danger") == 0 ? EXIT_DANGER : strcmp(severity, "warning") == 0 ? EXIT_WARNING : EXIT_DONE;
        bool counts = t->fail_on == FAIL_NEVER        ? false
                      : t->fail_on == FAIL_ON_WARNING ? code >= EXIT_WARNING
                                                      : code >= EXIT_DANGER;
        if (counts && code > m->worst) m->worst = code;
        free(severity);
    }
}

static bool doctor_step(maintaining *m, const policy_table *t) {
    result_rows rows;
    char *sql = doctor_statement(t);
    bool good = run_step(m, "doctor", sql, &rows);
    if (good) {
        weigh_findings(m, t, &rows);
        report_findings(m->report, &rows);
    }
    rows_free(&rows);
    free(sql);
    return good;
}

static bool statement_step(maintaining *m, const char *name, char *sql) {
    result_rows rows;
    bool good = run_step(m, name, sql, &rows);
    rows_free(&rows);
    free(sql);
    return good;
}

static void maintain_table(maintaining *m, const policy_table *t) {
    bool dry = m->o->dry_run, good = true;
    report_table_begin(m->report, t->name);
    if (t->optimize)
        good = dry ? plan_rewrite(m, t, "optimize", optimize_statement(t)) : statement_step(m, "optimize", optimize_statement(t));
    if (t->purge && good) {
        char *sql = statement("REORG TABLE ", t);
        if (sql) append(&sql, " APPLY (PURGE)");
        good = dry ? plan_rewrite(m, t, "purge", sql) : statement_step(m, "purge", sql);
    }
    if (t->checkpoint && good) good = checkpoint_step(m, t);
    if (t->vacuum && good) good = statement_step(m, "vacuum", vacuum_statement(t, dry)); /* it has a dry run of its own */
    if (t->doctor) good = doctor_step(m, t) && good;
    report_table_end(m->report, good);
}

/* ---- the command ---- */

static bool is_wanted(const options *o, const policy_table *t) {
    return !o->policy_table || strcmp(o->policy_table, t->name) == 0;
}

static int run_policy(const options *o, const policy *p) {
    options with = *o;
    size_t n = 0;
    if (p->warehouse && !o->warehouse) with.warehouse = p->warehouse;
    for (size_t i = 0; i < p->n_tables; i++) n += is_wanted(o, &p->tables[i]);
    if (n == 0) return usage_error("the policy has no table '%s'", o->policy_table);
    maintaining m = {.o = o, .session = open_session(&with)};
    if (!m.session) return EXIT_FAILED;
    m.report = report_open(o->dry_run, o->quiet, o->format && strncmp(o->format, "json", 4) == 0);
    for (size_t i = 0; i < p->n_tables && !interrupt_seen(); i++)
        if (is_wanted(o, &p->tables[i])) maintain_table(&m, &p->tables[i]);
    int code = m.failed ? EXIT_FAILED : m.worst;
    if (!report_close(m.report, o->report, code)) code = EXIT_FAILED;
    silt_session_close(m.session);
    return code;
}

int command_maintain(int argc, char **argv) {
    options o;
    policy p;
    if (!options_parse(argc, argv, "omy", &o)) return EXIT_USAGE;
    if (o.help) return command_help(2, (char *[]){(char *)"help", (char *)"maintain"});
    if (o.arguments.count != 1) return usage_error("'silt maintain' takes one policy file");
    if (o.output || (o.format && strcmp(o.format, "table") != 0 && strcmp(o.format, "json") != 0))
        return usage_error("'silt maintain' prints a report; --format json or --report FILE for programs");
    int code = policy_read(o.arguments.items[0], &p) ? run_policy(&o, &p) : EXIT_USAGE;
    policy_free(&p);
    return code;
}
