/* silt shell: statements line by line, with history, completion and dot commands. */
#include <ctype.h>
#include <editline/readline.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"

typedef struct shell {
    silt_session *session;
    options options;
    const char *format;
    bool timing, quit;
} shell;

/* ---- completion ---- */

/* The completion callback has no context argument. */
static shell *completing;
static string_list candidates;

static void add_first_column(const char *sql, int column) {
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct ArrowArray batch;
    if (silt_query(completing->session, sql, NULL, &stream, NULL) != SILT_OK) return;
    if (stream.get_schema(&stream, &schema) == 0) {
        while (stream.get_next(&stream, &batch) == 0 && batch.release) {
            for (int64_t i = 0; i < batch.length; i++) {
                text_buf b = {0};
                if (value_write_text(&b, schema.children[column], batch.children[column], i)) list_add(&candidates, b.ptr ? b.ptr : text_of("%s", ""));
            }
            batch.release(&batch);
        }
        schema.release(&schema);
    }
    stream.release(&stream);
}

static const char *const keywords[] = {
    "SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "HAVING", "LIMIT", "JOIN", "LEFT JOIN", "INSERT INTO", "INSERT OVERWRITE", "VALUES", "CREATE TABLE", "CREATE OR REPLACE TABLE",
    "CREATE DATABASE", "USING DELTA", "PARTITIONED BY", "TBLPROPERTIES", "LOCATION", "DROP TABLE", "DESCRIBE", "DESCRIBE HISTORY", "DESCRIBE DETAIL", "SHOW TABLES", "SHOW DATABASES",
    "EXPLAIN", "VERSION AS OF", "TIMESTAMP AS OF", "DISTINCT", "UNION ALL", "CASE WHEN", "BETWEEN", "LIKE", "IS NULL", "IS NOT NULL", "USE", "SET",
};

static char *next_candidate(const char *prefix, int state) {
    static size_t at;
    if (state == 0) {
        at = 0;
        if (candidates.count == 0) {
            for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) list_add(&candidates, keywords[i]);
            add_first_column("SHOW FUNCTIONS", 0);
        }
    }
    while (at < candidates.count) {
        const char *word = candidates.items[at++];
        if (*prefix && strncasecmp(word, prefix, strlen(prefix)) == 0) return text_of("%s", word);
    }
    return NULL;
}

static char **complete(const char *text, int start, int end) {
    (void)start;
    (void)end;
    rl_attempted_completion_over = 1;
    size_t fixed = candidates.count;
    if (fixed > 0) add_first_column("SHOW TABLES", 1); /* tables change: asked each time */
    char **matches = rl_completion_matches(text, next_candidate);
    if (fixed > 0) candidates.count = fixed;
    return matches;
}

/* ---- statements ---- */

static int run_one(shell *s, const char *sql) {
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    output *out = output_open(s->format, NULL, silt_session_get(s->session, "spark.sql.session.timeZone"));
    int code = run_statement(s->session, &s->options, out, sql);
    int closed = output_close(out, code == EXIT_DONE);
    clock_gettime(CLOCK_MONOTONIC, &to);
    if (interrupt_seen()) silt_session_resume(s->session);
    if (s->timing) fprintf(stderr, "%.3f s\n", (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9);
    return code ? code : closed;
}

/* The first failure ends a text of several statements. */
static int run_text(shell *s, const char *text) {
    for (;;) {
        size_t end;
        bool blank;
        bool more = silt_script_next(text, &end, &blank);
        if (!blank) {
            char *statement = script_statement(text, end);
            int code = run_one(s, statement);
            free(statement);
            if (code != EXIT_DONE) return code;
        }
        if (!more) return EXIT_DONE;
        text += end;
    }
}

/* ---- dot commands ---- */

static void dot_help(shell *s, const char *arg);
static void dot_quit(shell *s, const char *arg) { (void)arg; s->quit = true; }
static void dot_tables(shell *s, const char *arg) { (void)arg; run_one(s, "SHOW TABLES"); }

static void on_table(shell *s, const char *arg, const char *format) {
    if (!*arg) {
        fputs("name a table\n", stderr);
        return;
    }
    char *table = table_sql(arg), *sql = text_of(format, table);
    run_one(s, sql);
    free(sql);
    free(table);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void dot_schema(shell *s, const char *arg) { on_table(s, arg, "DESCRIBE TABLE %s"); }
static void dot_history(shell *s, const char *arg) { on_table(s, arg, "DESCRIBE HISTORY %s"); }
#pragma GCC diagnostic pop

static void dot_format(shell *s, const char *arg) {
    if (output_format_name(arg)) s->format = output_format_name(arg);
    else fprintf(stderr, "formats: table, csv, json, jsonl, markdown (now %s)\n", s->format);
}

static void dot_timing(shell *s, const char *arg) {
    s->timing = *arg ? strcmp(arg, "on") == 0 : !s->timing;
    fprintf(stderr, "timing is %s\n", s->timing ? "on" : "off");
}

static void dot_read(shell *s, const char *arg) {
    char *text = read_text(arg);
    if (text) run_text(s, text);
    free(text);
}

static const struct { const char *name, *argument, *help; void (*run)(shell *, const char *); } dots[] = {
    {".help", "", "this list", dot_help},
    {".tables", "", "the tables of the current database", dot_tables},
    {".schema", "TABLE", "a table's columns", dot_schema},
    {".history", "TABLE", "a table's versions", dot_history},
    {".format", "NAME", "table, csv, json, jsonl or markdown", dot_format},
    {".timing", "on|off", "show how long each statement took", dot_timing},
    {".read", "FILE", "run the statements of a file", dot_read},
    {".quit", "", "leave (or Ctrl-D)", dot_quit},
};

static void dot_help(shell *s, const char *arg) {
    (void)s;
    (void)arg;
    for (size_t i = 0; i < sizeof dots / sizeof *dots; i++) printf("%-9s %-7s %s\n", dots[i].name, dots[i].argument, dots[i].help);
    puts("Statements end with ';' and may span lines. Ctrl-C stops a running statement, or forgets the one being typed.\n"
         "A table is a name of the catalog or delta.`/path`; VERSION AS OF n and TIMESTAMP AS OF t travel in time.");
}

static void run_dot(shell *s, char *line) {
    char *arg = line + strcspn(line, " \t");
    if (*arg) *arg++ = '\0';
    arg += strspn(arg, " \t");
    size_t n = strlen(arg);
    while (n && (isspace((unsigned char)arg[n - 1]) || arg[n - 1] == ';')) arg[--n] = '\0';
    if (strcmp(line, ".exit") == 0) line = (char *)".quit";
    if (strcmp(line, ".mode") == 0) line = (char *)".format";
    for (size_t i = 0; i < sizeof dots / sizeof *dots; i++) {
        if (strcmp(line, dots[i].name) == 0) {
            dots[i].run(s, arg);
            return;
        }
    }
    fprintf(stderr, "unknown command %s; .help lists them\n", line);
}

/* ---- the loop ---- */

/* Kept for the arrow keys and for the next time, unless it has a secret, as where a key is set. */
static void remember(const char *statement) {
    if (!silt_script_has_secret(statement)) add_history(statement);
}

static char *history_file(void) {
    const char *home = getenv("HOME");
    return home ? text_of("%s/.silt_history", home) : NULL;
}

static bool blank_line(const char *s) {
    while (isspace((unsigned char)*s)) s++;
    return *s == '\0';
}

static bool is_word(const char *text, const char *word) {
    size_t n = strlen(word);
    return strncasecmp(text, word, n) == 0 && (text[n] == '\0' || text[n] == ';' || isspace((unsigned char)text[n]));
}

static void loop(shell *s, bool interactive) {
    text_buf pending = {0};
    while (!s->quit) {
        char *line = readline(interactive ? (pending.len ? "   -> " : "silt> ") : "");
        bool interrupted = interrupt_seen();
        if (!line && !interrupted) break;
        if (interrupted) { /* Ctrl-C may end the read itself */
            silt_session_resume(s->session);
            pending.len = 0;
        }
        if (!line) {
            clearerr(stdin);
            putchar('\n');
            continue;
        }
        if (pending.len == 0 && blank_line(line)) {
            free(line);
            continue;
        }
        if (pending.len == 0 && line[0] == '.') {
            remember(line);
            run_dot(s, line);
            free(line);
            continue;
        }
        if (pending.len) text_add_z(&pending, "\n");
        text_add_z(&pending, line);
        free(line);
        size_t end;
        bool blank;
        if (pending.len && (is_word(pending.ptr, "quit") || is_word(pending.ptr, "exit"))) break;
        if (!silt_script_next(pending.ptr, &end, &blank)) continue;
        remember(pending.ptr);
        run_text(s, pending.ptr);
        pending.len = 0;
    }
    if (pending.len && !s->quit && !blank_line(pending.ptr) && !is_word(pending.ptr, "quit") && !is_word(pending.ptr, "exit")) run_text(s, pending.ptr);
    free(pending.ptr);
}

int command_shell(int argc, char **argv) {
    shell s = {.format = "table"};
    if (!options_parse(argc, argv, "o", &s.options)) return EXIT_USAGE;
    if (s.options.help) return command_help(2, (char *[]){(char *)"help", (char *)"shell"});
    if (s.options.arguments.count) return usage_error("'silt shell' takes no arguments; 'silt sql' runs a statement");
    if (s.options.format) s.format = s.options.format;
    s.session = open_session(&s.options);
    if (!s.session) return EXIT_FAILED;
    int code = EXIT_DONE;
    bool interactive = isatty(STDIN_FILENO);
    if (!interactive) { /* silt < script.sql */
        char *text = read_text("-");
        code = text ? run_text(&s, text) : EXIT_FAILED;
        free(text);
    } else {
        printf("Silt %s. Statements end with ';'. .help for help.\n", silt_version());
        completing = &s;
        rl_initialize();
        rl_attempted_completion_function = complete;
        char *history = history_file();
        using_history();
        if (history) read_history(history);
        loop(&s, true);
        if (history) write_history(history);
        free(history);
        putchar('\n');
    }
    silt_session_close(s.session);
    return code;
}
