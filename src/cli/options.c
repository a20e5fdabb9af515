/* Options of all commands in one table; each command names the groups it takes. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

/* Lists live as long as the process; a chain through their blocks keeps them reachable, so that a leak checker reports real leaks only. */
typedef struct list_block { struct list_block *next; const char *items[]; } list_block;
static list_block *all_lists;

void list_add(string_list *l, const char *item) {
    if (l->count == l->capacity) {
        size_t capacity = l->capacity ? l->capacity * 2 : 8;
        list_block *block = malloc(sizeof *block + capacity * sizeof *block->items);
        if (!block) exit(EXIT_FAILED);
        if (l->count) memcpy(block->items, l->items, l->count * sizeof *l->items);
        block->next = all_lists;
        all_lists = block;
        l->items = block->items;
        l->capacity = capacity;
    }
    l->items[l->count++] = item;
}

char *text_of(const char *format, ...) {
    char *out = NULL;
    va_list args;
    va_start(args, format);
    int n = vasprintf(&out, format, args);
    va_end(args);
    if (n < 0) exit(EXIT_FAILED);
    return out;
}

int usage_error(const char *format, ...) {
    va_list args;
    va_start(args, format);
    fputs("silt: ", stderr);
    vfprintf(stderr, format, args);
    fputs("\nTry 'silt help'.\n", stderr);
    va_end(args);
    return EXIT_USAGE;
}

/* k=v into two lists. */
static bool add_pair(const char *option, const char *text, string_list *keys, string_list *values) {
    const char *eq = strchr(text, '=');
    if (!eq || eq == text) {
        usage_error("%s takes KEY=VALUE: there is no %s", option, eq ? "key before the '='" : "'='"); /* not what was written: it may be a secret */
        return false;
    }
    list_add(keys, text_of("%.*s", (int)(eq - text), text));
    list_add(values, eq + 1);
    return true;
}

static void add_commas(const char *text, string_list *out) {
    char *copy = text_of("%s", text), *state = NULL;
    for (char *piece = strtok_r(copy, ",", &state); piece; piece = strtok_r(NULL, ",", &state)) list_add(out, piece);
}

static bool whole_number(const char *option, const char *text, int64_t *out) {
    char *end;
    errno = 0;
    long long v = strtoll(text, &end, 10);
    if (*text == '\0' || *end != '\0' || errno || v < 0) {
        usage_error("%s takes a whole number, not '%s'", option, text);
        return false;
    }
    *out = v;
    return true;
}

/* spark-defaults.conf: key, white space or '=', value; # comments. Of a line that is none its place is told, not what it says: it may hold a secret. */
static bool properties_file(const char *path, options *o) {
    char *text = read_text(path), *rest = text;
    if (!text) return false;
    int number = 1;
    for (char *line; (line = strsep(&rest, "\n")); number++) {
        line += strspn(line, " \t");
        if (*line == '#' || *line == '\0' || *line == '\r') continue;
        size_t key = strcspn(line, " \t=");
        char *v = line + key + strspn(line + key, " \t=");
        size_t n = strlen(v);
        if (key == 0 || line[key] == '\0' || line[key] == '\r') {
            usage_error("%s, line %d: not KEY=VALUE, nor KEY and VALUE with a blank between", path, number);
            free(text);
            return false;
        }
        while (n && strchr(" \t\r", v[n - 1])) v[--n] = '\0';
        list_add(&o->conf_keys, text_of("%.*s", (int)key, line));
        list_add(&o->conf_values, v);
    }
    return true;
}

enum { OPT_CONF, OPT_PROPERTIES, OPT_PARAM, OPT_FORMAT, OPT_OUTPUT, OPT_VERSION, OPT_TIMESTAMP, OPT_FILE, OPT_INTO, OPT_MODE, OPT_INPUT_FORMAT, OPT_OPTION, OPT_SCHEMA,
       OPT_PARTITION_BY, OPT_MERGE, OPT_OVERWRITE_SCHEMA, OPT_REPLACE_WHERE, OPT_TXN_APP, OPT_TXN_VERSION, OPT_PROPERTY, OPT_USER_METADATA, OPT_LIMIT, OPT_FROM, OPT_TO, OPT_NO_PROGRESS, OPT_NO_UPGRADE, OPT_QUIET, OPT_HELP, OPT_WAREHOUSE,
       OPT_WHERE, OPT_ZORDER, OPT_FULL, OPT_LITE, OPT_RETAIN, OPT_DRY_RUN, OPT_PARTITIONED_BY, OPT_NO_STATISTICS, OPT_VERIFY, OPT_DEEP, OPT_REPLACE, OPT_CHECK, OPT_READERS, OPT_FILTERS,
       OPT_LONGEST_JOB, OPT_FIX, OPT_HTML, OPT_REPORT, OPT_TABLE, OPT_DIFF, OPT_EXPECT, OPT_REWRITE, OPT_VERBOSE };

/* groups: c configuration (all commands), q query, t travel, o output, l load, n limit, r range; w where, z optimize, f full, v vacuum, y dry run, k convert, e clone, d doctor, p readers, i inspect, m maintain,
 * s schema */
static const struct option_row { const char *name; char letter; bool takes_value; char group; int id; } rows[] = {
    {"--conf", 0, true, 'c', OPT_CONF}, {"--properties-file", 0, true, 'c', OPT_PROPERTIES}, {"--warehouse", 0, true, 'c', OPT_WAREHOUSE}, {"--no-progress", 0, false, 'c', OPT_NO_PROGRESS}, {"--no-protocol-upgrade", 0, false, 'c', OPT_NO_UPGRADE},
    {"--quiet", 'q', false, 'c', OPT_QUIET}, {"--help", 'h', false, 'c', OPT_HELP},
    {"--format", 0, true, 'o', OPT_FORMAT}, {"--output", 'o', true, 'o', OPT_OUTPUT},
    {"--param", 0, true, 'q', OPT_PARAM}, {"--file", 'f', true, 'q', OPT_FILE},
    {"--version", 0, true, 't', OPT_VERSION}, {"--timestamp", 0, true, 't', OPT_TIMESTAMP},
    {"--limit", 0, true, 'n', OPT_LIMIT},
    {"--from", 0, true, 'r', OPT_FROM}, {"--to", 0, true, 'r', OPT_TO},
    {"--into", 0, true, 'l', OPT_INTO}, {"--mode", 0, true, 'l', OPT_MODE}, {"--input-format", 0, true, 'l', OPT_INPUT_FORMAT}, {"--option", 0, true, 'l', OPT_OPTION},
    {"--schema", 0, true, 'l', OPT_SCHEMA}, {"--partition-by", 0, true, 'l', OPT_PARTITION_BY}, {"--merge-schema", 0, false, 'l', OPT_MERGE},
    {"--overwrite-schema", 0, false, 'l', OPT_OVERWRITE_SCHEMA}, {"--replace-where", 0, true, 'l', OPT_REPLACE_WHERE}, {"--txn-app", 0, true, 'l', OPT_TXN_APP}, {"--txn-version", 0, true, 'l', OPT_TXN_VERSION},
    {"--property", 0, true, 'l', OPT_PROPERTY}, {"--user-metadata", 0, true, 'l', OPT_USER_METADATA},
    {"--rewrite", 0, false, 'l', OPT_REWRITE}, {"--verbose", 0, false, 'l', OPT_VERBOSE},
    {"--where", 0, true, 'w', OPT_WHERE}, {"--zorder", 0, true, 'z', OPT_ZORDER}, {"--full", 0, false, 'f', OPT_FULL}, {"--lite", 0, false, 'v', OPT_LITE}, {"--retain", 0, true, 'v', OPT_RETAIN},
    {"--dry-run", 0, false, 'y', OPT_DRY_RUN}, {"--partitioned-by", 0, true, 'k', OPT_PARTITIONED_BY}, {"--no-statistics", 0, false, 'k', OPT_NO_STATISTICS}, {"--verify", 0, false, 'k', OPT_VERIFY},
    {"--deep", 0, false, 'e', OPT_DEEP}, {"--replace", 0, false, 'e', OPT_REPLACE},
    {"--check", 0, true, 'd', OPT_CHECK}, {"--filters", 0, true, 'p', OPT_FILTERS}, {"--readers", 0, true, 'p', OPT_READERS}, {"--longest-job", 0, true, 'p', OPT_LONGEST_JOB}, {"--fix", 0, false, 'd', OPT_FIX},
    {"--html", 0, true, 'i', OPT_HTML}, {"--report", 0, true, 'm', OPT_REPORT}, {"--table", 0, true, 'm', OPT_TABLE}, {"--diff", 0, true, 's', OPT_DIFF}, {"--expect", 0, true, 's', OPT_EXPECT},
};

static const struct option_row *find_row(const char *arg, const char **out_value) {
    *out_value = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t n = strlen(rows[i].name);
        if (strncmp(arg, rows[i].name, n) == 0 && (arg[n] == '\0' || (arg[n] == '=' && rows[i].takes_value))) {
            if (arg[n] == '=') *out_value = arg + n + 1;
            return &rows[i];
        }
        if (rows[i].letter && arg[0] == '-' && arg[1] == rows[i].letter && (arg[2] == '\0' || rows[i].takes_value)) {
            if (arg[2] != '\0') *out_value = arg + 2;
            return &rows[i];
        }
    }
    return NULL;
}

/* --diff 3 7, or 3..7 in one word. */
static bool diff_versions(options *o, const char *v, const char *second) {
    const char *dots = strstr(v, "..");
    if (!dots) return whole_number("--diff", v, &o->diff_from) && whole_number("--diff", second, &o->diff_to);
    char *first = text_of("%.*s", (int)(dots - v), v);
    bool good = whole_number("--diff", first, &o->diff_from) && whole_number("--diff", dots + 2, &o->diff_to);
    free(first);
    return good;
}

/* `second`: what follows the value; only --diff takes it. */
static bool apply(options *o, const struct option_row *row, const char *v, const char *second) {
    switch (row->id) {
    case OPT_CONF: return add_pair("--conf", v, &o->conf_keys, &o->conf_values);
    case OPT_PROPERTIES: return properties_file(v, o);
    case OPT_WAREHOUSE: o->warehouse = v; return true;
    case OPT_PARAM: return add_pair("--param", v, &o->param_names, &o->param_values);
    case OPT_FORMAT:
        if (!output_format_name(v) && strcmp(v, "parquet") != 0) {
            usage_error("--format takes table, csv, json, jsonl, markdown or parquet, not '%s'", v);
            return false;
        }
        o->format = v;
        return true;
    case OPT_OUTPUT: o->output = v; return true;
    case OPT_VERSION: return whole_number("--version", v, &o->version);
    case OPT_TIMESTAMP: o->timestamp = v; return true;
    case OPT_FILE: list_add(&o->files, v); return true;
    case OPT_INTO: o->into = v; return true;
    case OPT_MODE: o->mode = v; return true;
    case OPT_INPUT_FORMAT: o->input_format = v; return true;
    case OPT_OPTION: return add_pair("--option", v, &o->reader_keys, &o->reader_values);
    case OPT_SCHEMA: o->schema = v; return true;
    case OPT_PARTITION_BY: add_commas(v, &o->partition_by); return true;
    case OPT_MERGE: o->merge_schema = true; return true;
    case OPT_OVERWRITE_SCHEMA: o->overwrite_schema = true; return true;
    case OPT_REPLACE_WHERE: o->replace_where = v; return true;
    case OPT_TXN_APP: o->txn_app = v; return true;
    case OPT_TXN_VERSION: o->txn_version = v; return true;
    case OPT_PROPERTY: return add_pair("--property", v, &o->property_keys, &o->property_values);
    case OPT_USER_METADATA: o->user_metadata = v; return true;
    case OPT_LIMIT: return whole_number("--limit", v, &o->limit);
    case OPT_FROM: o->from = v; return true;
    case OPT_TO: o->to = v; return true;
    case OPT_NO_PROGRESS: o->no_progress = true; return true;
    case OPT_NO_UPGRADE: return add_pair("--no-protocol-upgrade", "silt.protocol.noUpgrade=true", &o->conf_keys, &o->conf_values);
    case OPT_REWRITE: return add_pair("--rewrite", "silt.load.rewrite=true", &o->conf_keys, &o->conf_values);
    case OPT_VERBOSE: o->verbose = true; return true;
    case OPT_QUIET: o->quiet = true; return true;
    case OPT_WHERE: o->where = v; return true;
    case OPT_ZORDER: add_commas(v, &o->zorder); return true;
    case OPT_FULL: o->full = true; return true;
    case OPT_LITE: o->lite = true; return true;
    case OPT_RETAIN: o->retain = v; return true;
    case OPT_DRY_RUN: o->dry_run = true; return true;
    case OPT_PARTITIONED_BY: o->partitioned_by = v; return true;
    case OPT_NO_STATISTICS: o->no_statistics = true; return true;
    case OPT_VERIFY: o->verify = true; return true;
    case OPT_DEEP: o->deep = true; return true;
    case OPT_REPLACE: o->replace = true; return true;
    case OPT_CHECK: add_commas(v, &o->checks); return true;
    case OPT_READERS: add_commas(v, &o->readers); return true;
    case OPT_FILTERS: add_commas(v, &o->filters); return true;
    case OPT_LONGEST_JOB: o->longest_job = v; return true;
    case OPT_FIX: o->fix = true; return true;
    case OPT_HTML: o->html = v; return true;
    case OPT_REPORT: o->report = v; return true;
    case OPT_TABLE: o->policy_table = v; return true;
    case OPT_EXPECT: o->expect = v; return true;
    case OPT_DIFF: return diff_versions(o, v, second);
    default: o->help = true; return true;
    }
}

bool options_parse(int argc, char **argv, const char *allowed, options *o) {
    *o = (options){.command = argc > 0 ? argv[0] : "", .version = -1, .limit = -1, .diff_from = -1, .diff_to = -1};
    bool only_arguments = false;
    for (int i = 1; i < argc; i++) {
        const char *arg = argv[i], *v;
        bool is_comment = strncmp(arg, "--", 2) == 0 && isspace((unsigned char)arg[2]); /* silt sql "-- today's rows⏎SELECT …" */
        if (only_arguments || arg[0] != '-' || arg[1] == '\0' || is_comment) {
            list_add(&o->arguments, arg);
            continue;
        }
        if (strcmp(arg, "--") == 0) {
            only_arguments = true;
            continue;
        }
        const struct option_row *row = find_row(arg, &v);
        if (!row || (row->group != 'c' && !strchr(allowed, row->group))) {
            usage_error("'silt %s' has no option %.*s", o->command, (int)strcspn(arg, "="), arg);
            return false;
        }
        if (row->takes_value && !v) {
            if (i + 1 >= argc) {
                usage_error("%s needs a value", arg);
                return false;
            }
            v = argv[++i];
        }
        bool two = row->id == OPT_DIFF && !strstr(v, "..");
        if (two && i + 1 >= argc) {
            usage_error("--diff takes two versions");
            return false;
        }
        if (!apply(o, row, v, two ? argv[++i] : NULL)) return false;
    }
    if (o->version >= 0 && o->timestamp) {
        usage_error("give --version or --timestamp, not both");
        return false;
    }
    return true;
}

/* ---- what every command does with them ---- */

static bool shown_progress; /* a progress line stands on the terminal */

void clear_progress(void) {
    if (shown_progress) fputs("\r\033[K", stderr);
    shown_progress = false;
}

static void show_progress(void *ctx, const char *text, double fraction) {
    (void)ctx;
    if (fraction >= 0) fprintf(stderr, "\r\033[K%s … %d %%", text, (int)(fraction * 100));
    else fprintf(stderr, "\r\033[K%s", text);
    fflush(stderr);
    shown_progress = true;
}

/* Who looks for leaks wants to see everything closed. */
#ifdef __SANITIZE_ADDRESS__
#define ENDS_WITH_PROCESS false
#else
#define ENDS_WITH_PROCESS true
#endif

silt_session *open_session(const options *o) {
    string_list keys = o->conf_keys, values = o->conf_values;
    if (o->warehouse) {
        list_add(&keys, "spark.sql.warehouse.dir");
        list_add(&values, o->warehouse);
    }
    bool progress = !o->no_progress && !o->quiet && isatty(STDERR_FILENO) && isatty(STDOUT_FILENO);
    silt_session_options so = {.struct_size = sizeof so, .keys = keys.items, .values = values.items, .n_settings = keys.count, .progress = progress ? show_progress : NULL, .ends_with_process = ENDS_WITH_PROCESS};
    silt_session *session;
    silt_error err;
    if (silt_session_open(&so, &session, &err) != SILT_OK) {
        report_error(&err);
        return NULL;
    }
    interrupt_attach(session);
    return session;
}

int report_error(const silt_error *err) {
    clear_progress();
    fflush(stdout);
    fprintf(stderr, "[%s] %s\n", err->condition[0] ? err->condition : "ERROR", err->message);
    if (err->detail[0]) fprintf(stderr, "%s\n", err->detail);
    if (err->hint[0]) fprintf(stderr, "hint: %s\n", err->hint);
    if (err->sqlstate[0]) fprintf(stderr, "SQLSTATE: %s\n", err->sqlstate);
    return EXIT_FAILED;
}

int report_table_error(const options *o, const silt_error *err) {
    int code = report_error(err);
    struct stat there;
    for (size_t i = 0; i < o->arguments.count && strcmp(err->condition, "TABLE_OR_VIEW_NOT_FOUND") == 0; i++) {
        const char *name = o->arguments.items[i];
        if (!strchr(name, '/') && stat(name, &there) == 0 && S_ISDIR(there.st_mode)) fprintf(stderr, "hint: %s is a folder here: a path is written with a slash, ./%s\n", name, name);
    }
    return code;
}

char *table_sql(const char *table) {
    if (strncmp(table, "delta.", 6) == 0) return text_of("%s", table);
    if (!strchr(table, '/') && table[0] != '.') return text_of("%s", table);
    char *path = strstr(table, "://") ? text_of("%s", table) : realpath(table, NULL);
    if (!path) path = text_of("%s", table);
    text_buf b = {0};
    text_add_z(&b, "delta.`");
    for (const char *p = path; *p; p++) text_add(&b, *p == '`' ? "``" : p, *p == '`' ? 2 : 1);
    text_add_z(&b, "`");
    free(path);
    return b.ptr;
}

char *read_text(const char *path) {
    FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    if (!f) {
        fprintf(stderr, "silt: cannot read %s: %s\n", path, strerror(errno));
        return NULL;
    }
    text_buf b = {0};
    char chunk[65536];
    size_t n;
    text_add_z(&b, "");
    while ((n = fread(chunk, 1, sizeof chunk, f)) > 0) text_add(&b, chunk, n);
    bool failed = ferror(f);
    if (failed) fprintf(stderr, "silt: cannot read %s: %s\n", path, strerror(errno));
    if (f != stdin) fclose(f);
    return failed ? NULL : b.ptr;
}

int run_statement(silt_session *session, const options *o, output *out, const char *sql) {
    silt_error err;
    struct ArrowArrayStream stream;
    silt_query_options qo = {.struct_size = sizeof qo, .parameter_names = o->param_names.items, .parameter_values = o->param_values.items, .n_parameters = o->param_names.count};
    if (silt_query(session, sql, &qo, &stream, &err) != SILT_OK) return report_error(&err);
    clear_progress();
    char *message = text_of("%s", silt_stream_message(&stream)), *note = text_of("%s", silt_stream_note(&stream));
    int code = output_stream(out, &stream);
    if (code == EXIT_DONE && *message && !o->quiet && isatty(STDERR_FILENO)) fprintf(stderr, "%s\n", message);
    if (code == EXIT_DONE && *note && !o->quiet) fprintf(stderr, "note: %s\n", note);
    free(message);
    free(note);
    return code;
}
