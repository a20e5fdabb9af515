/* The commands about one table: show, history, files, checkpoint. Each is a thin face over the C API or a statement. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"

/* Parses, asks for exactly one TABLE and opens the session. A code other than EXIT_DONE ends the command. */
static int begin(int argc, char **argv, const char *groups, options *o, silt_session **session) {
    if (!options_parse(argc, argv, groups, o)) return EXIT_USAGE;
    if (o->help) {
        char *help[] = {(char *)"help", argv[0]};
        return command_help(2, help) == EXIT_DONE ? -1 : EXIT_USAGE;
    }
    if (o->arguments.count != 1) return usage_error("'silt %s' takes one TABLE (a name, a path or a URI)", argv[0]);
    if (o->format && strcmp(o->format, "parquet") == 0) return usage_error("'silt %s' has no Parquet output; use silt sql", argv[0]);
    *session = open_session(o);
    return *session ? EXIT_DONE : EXIT_FAILED;
}

static int open_table(silt_session *session, const options *o, silt_snapshot **out) {
    silt_error err;
    return silt_snapshot_open(session, o->arguments.items[0], o->version, o->timestamp, out, &err) == SILT_OK ? EXIT_DONE : report_table_error(o, &err);
}

static int print_rows(silt_session *session, const options *o, struct ArrowArrayStream *stream) {
    output *out = output_open(o->format ? o->format : "table", o->output, silt_session_get(session, "spark.sql.session.timeZone"));
    if (!out) {
        stream->release(stream);
        return EXIT_FAILED;
    }
    int code = output_stream(out, stream), closed = output_close(out, code == EXIT_DONE);
    return code ? code : closed;
}

static int finish(int code, silt_session *session, silt_snapshot *snapshot) {
    silt_snapshot_close(snapshot);
    silt_session_close(session);
    return code < 0 ? EXIT_DONE : code;
}

/* ---- show ---- */

static void print_size(FILE *f, int64_t bytes) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double v = (double)bytes;
    int u = 0;
    while (v >= 1024 && u < 4) v /= 1024, u++;
    fprintf(f, u ? "%.1f %s" : "%.0f %s", v, units[u]);
}

/* "key": value out of the description, as its JSON text; for the few lines that people read. */
static char *member(const char *json, const char *key) {
    char *pattern = text_of("\"%s\":", key);
    const char *at = strstr(json, pattern);
    size_t skip = strlen(pattern);
    free(pattern);
    if (!at) return NULL;
    at += skip;
    int depth = 0;
    bool in_string = false;
    const char *p = at;
    for (; *p; p++) {
        if (in_string) {
            if (*p == '\\' && p[1]) p++;
            else if (*p == '"') in_string = false;
            continue;
        }
        if (*p == '"') in_string = true;
        else if (*p == '{' || *p == '[') depth++;
        else if (*p == '}' || *p == ']') {
            if (depth-- == 0) break;
        } else if (*p == ',' && depth == 0) break;
    }
    return text_of("%.*s", (int)(p - at), at);
}

static void show_line(const char *label, const char *json, const char *key) {
    char *v = member(json, key);
    if (v && strcmp(v, "null") != 0 && strcmp(v, "{}") != 0 && strcmp(v, "[]") != 0) {
        size_t n = strlen(v);
        bool quoted = v[0] == '"';
        printf("%-12s %.*s\n", label, (int)(quoted ? n - 2 : n), quoted ? v + 1 : v);
    }
    free(v);
}

static void show_for_people(silt_snapshot *snapshot, const char *json) {
    int64_t ms = silt_snapshot_timestamp_ms(snapshot), records = silt_snapshot_num_records(snapshot, NULL);
    time_t seconds = (time_t)(ms / 1000);
    struct tm tm;
    char when[64] = "";
    if (gmtime_r(&seconds, &tm)) strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S UTC", &tm);
    show_line("location", json, "location");
    printf("%-12s %" PRId64 "  (%s)\n", "version", silt_snapshot_version(snapshot), when);
    if (records >= 0) printf("%-12s %" PRId64 "\n", "rows", records);
    else printf("%-12s unknown (a file has no statistics)\n", "rows");
    printf("%-12s %" PRId64 ", ", "files", silt_snapshot_num_files(snapshot));
    print_size(stdout, silt_snapshot_size_bytes(snapshot));
    putchar('\n');
    show_line("partitions", json, "partitionColumns");
    show_line("name", json, "name");
    show_line("description", json, "description");
    show_line("id", json, "id");
    show_line("protocol", json, "protocol");
    show_line("properties", json, "configuration");
    show_line("domains", json, "domainMetadata");
    show_line("transactions", json, "transactions");
    show_line("commits", json, "commitGuard");
}

int command_show(int argc, char **argv) {
    options o;
    silt_session *session;
    silt_snapshot *snapshot = NULL;
    int code = begin(argc, argv, "to", &o, &session);
    if (code) return code < 0 ? EXIT_DONE : code;
    code = open_table(session, &o, &snapshot);
    const char *json;
    silt_error err;
    if (code == EXIT_DONE && silt_snapshot_describe_json(snapshot, &json, &err) != SILT_OK) code = report_error(&err);
    if (code == EXIT_DONE) {
        if (o.format && strcmp(o.format, "table") != 0) puts(json);
        else show_for_people(snapshot, json);
    }
    return finish(code, session, snapshot);
}

/* ---- history, files ---- */

int command_history(int argc, char **argv) {
    options o;
    silt_session *session;
    int code = begin(argc, argv, "on", &o, &session);
    if (code) return code < 0 ? EXIT_DONE : code;
    char *table = table_sql(o.arguments.items[0]);
    char *limit = o.limit >= 0 ? text_of(" LIMIT %" PRId64, o.limit) : text_of("%s", "");
    char *sql = text_of("DESCRIBE HISTORY %s%s", table, limit);
    struct ArrowArrayStream stream;
    silt_error err;
    if (silt_query(session, sql, NULL, &stream, &err) != SILT_OK) code = report_table_error(&o, &err);
    else code = print_rows(session, &o, &stream);
    free(sql);
    free(limit);
    free(table);
    return finish(code, session, NULL);
}

int command_files(int argc, char **argv) {
    options o;
    silt_session *session;
    silt_snapshot *snapshot = NULL;
    int code = begin(argc, argv, "to", &o, &session);
    if (code) return code < 0 ? EXIT_DONE : code;
    code = open_table(session, &o, &snapshot);
    struct ArrowArrayStream stream;
    silt_error err;
    if (code == EXIT_DONE) {
        if (silt_snapshot_files(snapshot, &stream, &err) != SILT_OK) code = report_error(&err);
        else code = print_rows(session, &o, &stream);
    }
    return finish(code, session, snapshot);
}

/* ---- changes ---- */

static void add_literal(text_buf *sql, const char *text) {
    text_add_z(sql, "'");
    for (const char *p = text; *p; p++) {
        if (*p == '\'' || *p == '\\') text_add_z(sql, "\\");
        text_add(sql, p, 1);
    }
    text_add_z(sql, "'");
}

/* A version as a number, all else as a string literal. */
static void add_boundary(text_buf *sql, const char *text) {
    bool is_version = *text && text[strspn(text, "0123456789")] == '\0';
    text_add_z(sql, ", ");
    if (is_version) text_printf(sql, "%sL", text);
    else add_literal(sql, text);
}

static void changes_query(text_buf *sql, const options *o) {
    char *table = table_sql(o->arguments.items[0]);
    text_add_z(sql, "SELECT * FROM table_changes(");
    add_literal(sql, table);
    add_boundary(sql, o->from);
    if (o->to) add_boundary(sql, o->to);
    text_add_z(sql, ") ORDER BY _commit_version");
    if (o->limit >= 0) text_printf(sql, " LIMIT %" PRId64, o->limit);
    free(table);
}

int command_changes(int argc, char **argv) {
    options o;
    silt_session *session;
    int code = begin(argc, argv, "onr", &o, &session);
    if (code) return code < 0 ? EXIT_DONE : code;
    if (!o.from) {
        silt_session_close(session);
        return usage_error("'silt changes' needs --from, a version or a time");
    }
    text_buf sql = {0};
    changes_query(&sql, &o);
    struct ArrowArrayStream stream;
    silt_error err;
    if (silt_query(session, sql.ptr, NULL, &stream, &err) != SILT_OK) code = report_table_error(&o, &err);
    else code = print_rows(session, &o, &stream);
    free(sql.ptr);
    return finish(code, session, NULL);
}

/* ---- checkpoint ---- */

int command_checkpoint(int argc, char **argv) {
    options o;
    silt_session *session;
    silt_snapshot *snapshot = NULL;
    int code = begin(argc, argv, "", &o, &session);
    if (code) return code < 0 ? EXIT_DONE : code;
    code = open_table(session, &o, &snapshot);
    silt_error err;
    if (code == EXIT_DONE && silt_snapshot_checkpoint(snapshot, &err) != SILT_OK) code = report_error(&err);
    if (code == EXIT_DONE && !o.quiet) printf("checkpoint of version %" PRId64 " written\n", silt_snapshot_version(snapshot));
    return finish(code, session, snapshot);
}
