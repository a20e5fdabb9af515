/* silt schema: the columns of a version, what changed between two, and a gate that lets only the expected schema pass. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/rows.h"

static int open_version(silt_session *session, const options *o, int64_t version, const char *timestamp, silt_snapshot **out) {
    silt_error err;
    return silt_snapshot_open(session, o->arguments.items[0], version, timestamp, out, &err) == SILT_OK ? EXIT_DONE
                                                                                                        : report_error(&err);
}

static int print_stream(silt_session *session, const options *o, struct ArrowArrayStream *stream) {
    output *out =
        output_open(o->format ? o->format : "table", o->output, silt_session_get(session, "spark.sql.session.timeZone"));
    if (!out) {
        stream->release(stream);
        return EXIT_FAILED;
    }
    int code = output_stream(out, stream), closed = output_close(out, code == EXIT_DONE);
    return code ? code : closed;
}

/* ---- the columns ---- */

/* As SQL shows them. SILT_LATEST: of the newest version. */
static silt_status describe(silt_session *session, const options *o, int64_t version, struct ArrowArrayStream *out, silt_error *err) {
    char *table = table_sql(o->arguments.items[0]), *at = version == SILT_LATEST ? NULL : text_of(" VERSION AS OF %" PRId64, version);
    char *sql = text_of("DESCRIBE QUERY SELECT * FROM %s%s", table, at ? at : "");
    silt_status status = silt_query(session, sql, NULL, out, err);
    free(sql);
    free(at);
    free(table);
    return status;
}

static int show_columns(silt_session *session, const options *o) {
    silt_snapshot *snapshot;
    struct ArrowArrayStream stream;
    silt_error err;
    bool as_json = o->format && strncmp(o->format, "json", 4) == 0;
    /* The table is opened once where it can be; what is wrong with it is told in the words of opening it. */
    if (!as_json && !o->timestamp && describe(session, o, o->version, &stream, &err) == SILT_OK) return print_stream(session, o, &stream);
    int code = open_version(session, o, o->version, o->timestamp, &snapshot);
    if (code != EXIT_DONE) return code;
    if (as_json) puts(silt_snapshot_schema_json(snapshot));
    else code = describe(session, o, silt_snapshot_version(snapshot), &stream, &err) == SILT_OK ? print_stream(session, o, &stream) : report_error(&err);
    silt_snapshot_close(snapshot);
    return code;
}

/* ---- changes ---- */

static void print_change(const result_rows *r, int64_t row) {
    char *column = rows_text(r, row, "column"), *change = rows_text(r, row, "change"), *before = rows_text(r, row, "before"),
         *after = rows_text(r, row, "after");
    const char *mark = rows_bool(r, row, "breaking") ? "  (breaks readers)" : "";
    if (strcmp(change, "added") == 0)
        printf("+ %s  %s%s\n", column, after ? after : "", mark);
    else if (strcmp(change, "dropped") == 0)
        printf("- %s  %s%s\n", column, before ? before : "", mark);
    else if (strcmp(change, "renamed") == 0)
        printf("~ %s  renamed from %s%s\n", column, before ? before : "", mark);
    else if (strcmp(change, "order") == 0)
        printf("~ %s  moved\n", column);
    else
        printf("~ %s  %s%s: %s, now %s%s\n", column, change, strcmp(change, "metadata") == 0 ? "" : " changed",
               before ? before : "none", after ? after : "none", mark);
    free(column);
    free(change);
    free(before);
    free(after);
}

/* Does a change of this kind keep the gate shut? The order of columns and their comments do not matter to who reads by name. */
static bool matters(const result_rows *r, int64_t row) {
    char *change = rows_text(r, row, "change");
    bool yes = strcmp(change, "order") != 0 && strcmp(change, "metadata") != 0;
    free(change);
    return yes;
}

static int compare(silt_session *session, const options *o, const char *before, const char *after, bool by_name,
                   int64_t *out_matter, int64_t *out_all) {
    struct ArrowArrayStream stream;
    result_rows rows;
    silt_error err;
    *out_matter = *out_all = 0;
    if (silt_schema_compare(before, after, by_name, &stream, &err) != SILT_OK) return report_error(&err);
    if (o->format || o->output) { /* once for the rows, once for their number */
        int code = print_stream(session, o, &stream);
        if (code != EXIT_DONE) return code;
        if (silt_schema_compare(before, after, by_name, &stream, &err) != SILT_OK) return report_error(&err);
    }
    int code = rows_read(&stream, &rows);
    for (int64_t i = 0; code == EXIT_DONE && i < rows.count; i++) {
        bool shown = matters(&rows, i);
        *out_matter += shown;
        if (!(o->format || o->output) && (shown || !by_name)) print_change(&rows, i);
    }
    *out_all = rows.count;
    rows_free(&rows);
    return code;
}

static int show_diff(silt_session *session, const options *o) {
    silt_snapshot *from = NULL, *to = NULL;
    int64_t matter, all;
    int code = open_version(session, o, o->diff_from, NULL, &from);
    if (code == EXIT_DONE) code = open_version(session, o, o->diff_to, NULL, &to);
    if (code == EXIT_DONE)
        code = compare(session, o, silt_snapshot_schema_json(from), silt_snapshot_schema_json(to), false, &matter, &all);
    if (code == EXIT_DONE && all == 0 && !o->format && !o->output)
        printf("versions %" PRId64 " and %" PRId64 " have the same columns\n", o->diff_from, o->diff_to);
    silt_snapshot_close(from);
    silt_snapshot_close(to);
    return code;
}

static int check_expected(silt_session *session, const options *o) {
    silt_snapshot *snapshot;
    int64_t matter = 0, all;
    char *expected = read_text(o->expect);
    if (!expected) return EXIT_FAILED;
    int code = open_version(session, o, o->version, o->timestamp, &snapshot);
    if (code == EXIT_DONE) {
        code = compare(session, o, expected, silt_snapshot_schema_json(snapshot), true, &matter, &all);
        silt_snapshot_close(snapshot);
    }
    free(expected);
    if (code != EXIT_DONE) return code;
    if (!o->format && !o->output && !o->quiet)
        printf(matter ? "the table does not have the expected columns: %" PRId64 " difference%s\n"
                      : "the table has the expected columns\n",
               matter, matter == 1 ? "" : "s");
    return matter ? EXIT_WARNING : EXIT_DONE;
}

int command_schema(int argc, char **argv) {
    options o;
    if (!options_parse(argc, argv, "tos", &o)) return EXIT_USAGE;
    if (o.help) return command_help(2, (char *[]){(char *)"help", (char *)"schema"});
    if (o.arguments.count != 1) return usage_error("'silt schema' takes one TABLE (a name, a path or a URI)");
    if (o.format && strcmp(o.format, "parquet") == 0) return usage_error("'silt schema' has no Parquet output; use silt sql");
    if (o.diff_from >= 0 && (o.expect || o.version >= 0 || o.timestamp))
        return usage_error("--diff names its versions; leave out --expect, --version and --timestamp");
    silt_session *session = open_session(&o);
    if (!session) return EXIT_FAILED;
    int code = o.diff_from >= 0 ? show_diff(session, &o) : o.expect ? check_expected(session, &o) : show_columns(session, &o);
    silt_session_close(session);
    return code;
}
