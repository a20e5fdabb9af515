/* silt doctor: the findings of DOCTOR as a report for people, or as rows for programs; the exit status tells the worst of them. */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/rows.h"

/* ---- the statement ---- */

static void add_option(text_buf *sql, bool *first, const char *key, const char *v) {
    text_printf(sql, "%s%s = ", *first ? " OPTIONS (" : ", ", key);
    sql_literal(sql, v);
    *first = false;
}

static void add_list(text_buf *sql, bool *first, const char *key, const string_list *l) {
    text_buf joined = {0};
    for (size_t i = 0; i < l->count; i++) {
        if (i) text_add_z(&joined, ",");
        text_add_z(&joined, l->items[i]);
    }
    if (l->count) add_option(sql, first, key, joined.ptr);
    free(joined.ptr);
}

static void add_options(text_buf *sql, const options *o) {
    bool first = true;
    add_list(sql, &first, "checks", &o->checks);
    add_list(sql, &first, "readers", &o->readers);
    add_list(sql, &first, "filters", &o->filters);
    if (o->longest_job) add_option(sql, &first, "longestJob", o->longest_job);
    if (o->fix) add_option(sql, &first, "fix", "true");
    if (!first) text_add_z(sql, ")");
}

static bool is_unknown_table(const silt_error *err) { return strcmp(err->condition, "TABLE_OR_VIEW_NOT_FOUND") == 0; }

/* A name is a table's, or else a database's. EXIT_DONE with the stream, or what the command ends with. */
static int run_doctor(silt_session *session, const options *o, struct ArrowArrayStream *out) {
    const char *target = o->arguments.items[0];
    text_buf sql = {0}, database = {0};
    silt_error err, other;
    text_add_z(&sql, "DOCTOR TABLE ");
    if (!sql_table(&sql, target, "delta")) {
        free(sql.ptr);
        return EXIT_USAGE;
    }
    add_options(&sql, o);
    silt_status status = silt_query(session, sql.ptr, NULL, out, &err);
    if (status != SILT_OK && is_unknown_table(&err) && !is_path(target)) {
        text_add_z(&database, "DOCTOR DATABASE ");
        (void)sql_name(&database, target);
        add_options(&database, o);
        status = silt_query(session, database.ptr, NULL, out, &other);
    }
    free(sql.ptr);
    free(database.ptr);
    return status == SILT_OK ? EXIT_DONE : report_table_error(o, &err);
}

/* ---- for people ---- */

typedef struct style {
    const char *danger, *warning, *info, *good, *bold, *dim, *end;
    int width;
} style;

static style choose_style(void) {
    const char *no_color = getenv("NO_COLOR");
    struct winsize size;
    bool terminal = isatty(STDOUT_FILENO);
    int width = terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 100;
    if (width < 40) width = 40;
    if (width > 110) width = 110; /* longer lines are hard to read */
    if (!terminal || (no_color && *no_color)) return (style){"", "", "", "", "", "", "", width};
    return (style){"\033[31m", "\033[33m", "\033[36m", "\033[32m", "\033[1m", "\033[2m", "\033[0m", width};
}

/* Words wrapped behind a label; continuation lines stand under the first word. Control characters of names never reach the terminal. */
static void print_wrapped(const char *label, const char *text, int indent, const style *s) {
    int width = s->width, column = indent + (int)strlen(label), begin = column;
    printf("%*s%s%s%s", indent, "", *label ? s->bold : "", label, *label ? s->end : "");
    bool first = true;
    while (*text) {
        int n = (int)strcspn(text, " "), shown = 0;
        for (int i = 0; i < n; i++) shown += ((unsigned char)text[i] & 0xC0) != 0x80;
        if (!first && column + 1 + shown > width) {
            printf("\n%*s", begin, "");
            column = begin;
        } else if (!first) {
            putchar(' ');
            column++;
        }
        for (int i = 0; i < n; i++) putchar((unsigned char)text[i] < 0x20 || text[i] == 0x7F ? '?' : text[i]);
        column += shown;
        first = false;
        text += n;
        while (*text == ' ') text++;
    }
    putchar('\n');
}

static void print_cell(const result_rows *r, int64_t row, const char *column, const char *label, const style *s, bool one_line) {
    char *text = rows_text(r, row, column);
    if (text && *text && one_line) {
        printf("      %s%s%s", s->bold, label, s->end);
        for (const char *p = text; *p; p++) putchar((unsigned char)*p < 0x20 ? '?' : *p);
        putchar('\n');
    } else if (text && *text) {
        print_wrapped(label, text, 6, s);
    }
    free(text);
}

static void print_finding(const result_rows *r, int64_t row, const style *s) {
    char *check = rows_text(r, row, "check"), *severity = rows_text(r, row, "severity");
    const char *color = strcmp(severity, "danger") == 0 ? s->danger : strcmp(severity, "warning") == 0 ? s->warning : s->info;
    printf("\n  %s%s%s  %s%s%s%s\n", color, severity, s->end, s->bold, check, s->end,
           rows_bool(r, row, "fixed") ? "  (mended)" : "");
    print_cell(r, row, "finding", "", s, false);
    int64_t n = rows_list_count(r, row, "examples");
    for (int64_t i = 0; i < n; i++) {
        char *example = rows_list_text(r, row, "examples", i);
        printf("        %s", s->dim);
        for (const char *p = example; *p; p++) putchar((unsigned char)*p < 0x20 ? '?' : *p);
        printf("%s\n", s->end);
        free(example);
    }
    print_cell(r, row, "danger", "Danger:  ", s, false);
    print_cell(r, row, "remedy", "Remedy:  ", s, false);
    print_cell(r, row, "command", "Command: ", s, true);
    free(check);
    free(severity);
}

static void print_report(const result_rows *r, const char *message, const style *s) {
    char *last = NULL;
    for (int64_t i = 0; i < r->count; i++) {
        char *table = rows_text(r, i, "table");
        if (!last || strcmp(last, table) != 0) printf("%s%s%s%s\n", last ? "\n" : "", s->bold, table, s->end);
        print_finding(r, i, s);
        free(last);
        last = table;
    }
    free(last);
    if (r->count)
        printf("\n%s\n", message);
    else
        printf("%shealthy%s: %s\n", s->good, s->end, message);
}

/* ---- exit status ---- */

static int worse(int code, const char *severity, size_t n) {
    if (n == 6 && memcmp(severity, "danger", n) == 0) return EXIT_DANGER;
    return n == 7 && memcmp(severity, "warning", n) == 0 && code < EXIT_WARNING ? EXIT_WARNING : code;
}

/* What was mended counts no more. */
static int worst_of(const result_rows *r) {
    int code = EXIT_DONE;
    for (int64_t i = 0; i < r->count; i++) {
        char *severity = rows_text(r, i, "severity");
        if (!rows_bool(r, i, "fixed")) code = worse(code, severity, strlen(severity));
        free(severity);
    }
    return code;
}

/* The rows once more, for a format of `output`. */
typedef struct replay {
    result_rows *rows;
    size_t next;
} replay;

static int replay_schema(struct ArrowArrayStream *self, struct ArrowSchema *out) {
    replay *r = self->private_data;
    *out = r->rows->schema;
    r->rows->schema.release = NULL;
    return 0;
}

static int replay_next(struct ArrowArrayStream *self, struct ArrowArray *out) {
    replay *r = self->private_data;
    out->release = NULL;
    if (r->next < r->rows->n_batches) *out = r->rows->batches[r->next++];
    return 0;
}

static const char *replay_error(struct ArrowArrayStream *self) { return (void)self, NULL; }
static void replay_release(struct ArrowArrayStream *self) { self->release = NULL; }

static int print_rows(result_rows *rows, const options *o, silt_session *session) {
    replay r = {rows, 0};
    struct ArrowArrayStream stream = {.get_schema = replay_schema,
                                      .get_next = replay_next,
                                      .get_last_error = replay_error,
                                      .release = replay_release,
                                      .private_data = &r};
    output *out =
        output_open(o->format ? o->format : "table", o->output, silt_session_get(session, "spark.sql.session.timeZone"));
    if (!out) return EXIT_FAILED;
    int code = output_stream(out, &stream), closed = output_close(out, code == EXIT_DONE);
    for (size_t i = r.next; i < rows->n_batches; i++)
        rows->batches[i].release(&rows->batches[i]); /* those before it were handed over */
    rows->n_batches = 0;
    return code ? code : closed;
}

int command_doctor(int argc, char **argv) {
    options o;
    struct ArrowArrayStream stream;
    result_rows rows = {0};
    if (!options_parse(argc, argv, "odp", &o)) return EXIT_USAGE;
    if (o.help) return command_help(2, (char *[]){(char *)"help", (char *)"doctor"});
    if (o.arguments.count != 1) return usage_error("'silt doctor' takes one TABLE, DATABASE or path");
    if (o.format && strcmp(o.format, "parquet") == 0) return usage_error("'silt doctor' has no Parquet output; use silt sql");
    silt_session *session = open_session(&o);
    if (!session) return EXIT_FAILED;
    int code = run_doctor(session, &o, &stream);
    if (code == EXIT_DONE) {
        char *message = text_of("%s", silt_stream_message(&stream));
        code = rows_read(&stream, &rows);
        int worst = code == EXIT_DONE ? worst_of(&rows) : code;
        if (code == EXIT_DONE && (o.format || o.output))
            code = print_rows(&rows, &o, session);
        else if (code == EXIT_DONE) {
            style s = choose_style();
            print_report(&rows, message, &s);
        }
        if (code == EXIT_DONE) code = worst;
        free(message);
    }
    rows_free(&rows);
    silt_session_close(session);
    return code;
}
