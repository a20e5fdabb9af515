/* silt sql: statements from the command line, files or standard input. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

static bool is_blank(const char *s) {
    while (*s && isspace((unsigned char)*s)) s++;
    return *s == '\0';
}

/* Every statement of a script in turn; the first failure ends it. */
static int run_script(silt_session *session, const options *o, output *out, const char *script) {
    while (!is_blank(script)) {
        size_t end;
        bool blank;
        bool more = silt_script_next(script, &end, &blank);
        if (!blank) {
            char *statement = script_statement(script, end);
            int code = run_statement(session, o, out, statement);
            free(statement);
            if (code != EXIT_DONE) return code;
        }
        if (!more) break;
        script += end;
    }
    return EXIT_DONE;
}

static int export_parquet(silt_session *session, const options *o, const char *script) {
    silt_error err;
    if (!o->output) return usage_error("--format parquet needs -o FILE");
    char *text = text_of("%s", script), *temporary = text_of("%s.%ld.partial", o->output, (long)getpid());
    size_t n = strlen(text);
    while (n && (isspace((unsigned char)text[n - 1]) || text[n - 1] == ';')) text[--n] = '\0';
    int code = EXIT_DONE;
    if (silt_export_parquet(session, text, temporary, &err) != SILT_OK) {
        code = report_error(&err);
        unlink(temporary);
    } else if (rename(temporary, o->output) != 0) {
        fprintf(stderr, "silt: cannot write %s: %s\n", o->output, strerror(errno));
        unlink(temporary);
        code = EXIT_FAILED;
    }
    free(text);
    free(temporary);
    return code;
}

/* The statements of all files, arguments or standard input as one script; EXIT_DONE or what the command ends with. */
static int gather(const options *o, text_buf *script) {
    text_add_z(script, "");
    for (size_t i = 0; i < o->files.count + o->arguments.count; i++) {
        bool from_file = i < o->files.count;
        char *text = from_file ? read_text(o->files.items[i]) : text_of("%s", o->arguments.items[i - o->files.count]);
        if (!text) return EXIT_FAILED;
        text_add_z(script, text);
        text_add_z(script, "\n;\n"); /* the line end closes a comment */
        free(text);
    }
    if (o->files.count + o->arguments.count > 0) return EXIT_DONE;
    if (isatty(STDIN_FILENO)) return usage_error("give a statement, -f FILE, or statements on standard input");
    char *text = read_text("-");
    if (!text) return EXIT_FAILED;
    text_add_z(script, text);
    free(text);
    return EXIT_DONE;
}

static int run_all(silt_session *session, const options *o, const char *script) {
    if (o->format && strcmp(o->format, "parquet") == 0) return export_parquet(session, o, script);
    output *out = output_open(o->format ? o->format : "table", o->output, silt_session_get(session, "spark.sql.session.timeZone"));
    if (!out) return EXIT_FAILED;
    int code = run_script(session, o, out, script), closed = output_close(out, code == EXIT_DONE);
    return code ? code : closed;
}

int command_sql(int argc, char **argv) {
    options o;
    text_buf script = {0};
    if (!options_parse(argc, argv, "qo", &o)) return EXIT_USAGE;
    if (o.help) return command_help(2, (char *[]){(char *)"help", (char *)"sql"});
    int code = gather(&o, &script);
    silt_session *session = code == EXIT_DONE ? open_session(&o) : NULL;
    if (code == EXIT_DONE) code = session ? run_all(session, &o, script.ptr) : EXIT_FAILED;
    silt_session_close(session);
    free(script.ptr);
    return code;
}
