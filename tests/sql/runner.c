/*
 * Runs SQL text tests (the form is in README.md): sql_runner FILE… prints one `ok FILE:LINE`, `not ok FILE:LINE: why` or `skip FILE:LINE: reason` per record.
 *
 * The self-check: every query runs a second time in a session whose scans prune nothing, push nothing down and answer nothing from the log; both answers must agree
 * with the expectation. SET, USE and temporary views run in both sessions, everything else in the first only.
 */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "cli/cli.h"
#include "silt/silt.h"

/* `differs`: the reason of a known difference, which must still be there. */
typedef struct record { int line; char *head, *sql, *differs; char **expected; size_t n_expected; } record;

typedef struct run_file {
    const char *path;
    char *folder;
    silt_session *session, *unpruned;
    size_t failed;
} run_file;

/* What the command's value printer wants of its program. */
char *text_of(const char *format, ...) {
    char *out = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&out, format, args) < 0) abort();
    va_end(args);
    return out;
}

static void report(run_file *f, const record *r, const char *why) {
    if (why && r->differs) {
        printf("skip %s:%d: differs from Spark: %s\n", f->path, r->line, r->differs);
        return;
    }
    if (!why && r->differs) why = "agrees with Spark by now: remove it from differences.txt";
    if (why) {
        f->failed++;
        printf("not ok %s:%d: %s\n", f->path, r->line, why);
    } else {
        printf("ok %s:%d\n", f->path, r->line);
    }
}

/* ---- reading a file ---- */

static char *next_line(FILE *in, int *line) {
    char *text = NULL;
    size_t capacity = 0;
    ssize_t n = getline(&text, &capacity, in);
    if (n < 0) {
        free(text);
        return NULL;
    }
    ++*line;
    while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == '\r')) text[--n] = '\0';
    return text;
}

static void append_line(char **text, const char *line) {
    char *joined = *text ? text_of("%s\n%s", *text, line) : text_of("%s", line);
    free(*text);
    *text = joined;
}

static bool read_record(FILE *in, int *line, record *r) {
    char *text;
    bool in_rows = false;
    *r = (record){0};
    while ((text = next_line(in, line))) {
        if (!r->head) {
            if (*text == '\0' || *text == '#') {
                free(text);
                continue;
            }
            r->line = *line;
            r->head = text;
        } else if (*text == '\0') {
            free(text);
            return true;
        } else if (!in_rows && strcmp(text, "----") == 0) {
            in_rows = true;
            free(text);
        } else if (in_rows) {
            r->expected = realloc(r->expected, (r->n_expected + 1) * sizeof *r->expected);
            r->expected[r->n_expected++] = text;
        } else {
            append_line(&r->sql, text);
            free(text);
        }
    }
    return r->head != NULL;
}

static void free_record(record *r) {
    for (size_t i = 0; i < r->n_expected; i++) free(r->expected[i]);
    free(r->expected);
    free(r->head);
    free(r->sql);
    free(r->differs);
}

/*
 * differences.txt beside a file: a reason, the statement in one line, an empty line. The generated files stay as Spark answered; what Silt is known to answer otherwise stands here.
 */
static char *known_difference(const char *path, const char *sql) {
    const char *slash = strrchr(path, '/');
    char *list = text_of("%.*sdifferences.txt", (int)(slash ? slash - path + 1 : 0), path), *reason = NULL, *found = NULL, *text;
    FILE *in = fopen(list, "r");
    int line = 0;
    free(list);
    while (in && !found && (text = next_line(in, &line))) {
        if (*text == '#' || *text == '\0') {
            free(text);
        } else if (!reason) {
            reason = text;
        } else {
            if (sql && strcmp(text, sql) == 0) found = text_of("%s", reason);
            free(reason);
            free(text);
            reason = NULL;
        }
    }
    free(reason);
    if (in) fclose(in);
    return found;
}

static char *replace(char *text, const char *name, const char *by) {
    char *at;
    while ((at = strstr(text, name))) {
        char *next = text_of("%.*s%s%s", (int)(at - text), text, by, at + strlen(name));
        free(text);
        text = next;
    }
    return text;
}

/* ---- comparing ---- */

static bool number_equal(const json_node *a, const json_node *b, bool approx) {
    if (str_eq(a->text, b->text)) return true;
    bool integers = str_find_char(a->text, '.') == SIZE_MAX && str_find_char(a->text, 'e') == SIZE_MAX && str_find_char(a->text, 'E') == SIZE_MAX;
    int64_t i, j;
    if (integers && json_node_i64(a, &i) && json_node_i64(b, &j)) return i == j;
    double x, y;
    if (!json_node_f64(a, &x) || !json_node_f64(b, &y)) return false;
    if (approx && x != y) {
        double scale = x < 0 ? -x : x, delta = x - y < 0 ? y - x : x - y;
        return delta <= scale * 1e-13;
    }
    return memcmp(&x, &y, sizeof x) == 0;
}

static bool equal(const struct ArrowSchema *s, const json_node *a, const json_node *b, bool approx);

/* Maps are compared without order: every pair of one is in the other, and they are as many. */
static bool map_equal(const struct ArrowSchema *s, const json_node *a, const json_node *b, bool approx) {
    const struct ArrowSchema *pair = s->children[0];
    if (a->type != JSON_ARRAY || b->type != JSON_ARRAY || a->count != b->count) return false;
    for (size_t i = 0; i < a->count; i++) {
        bool found = false;
        for (size_t j = 0; j < b->count && !found; j++) {
            const json_node *x = &a->values[i], *y = &b->values[j];
            found = x->count == 2 && y->count == 2 && equal(pair->children[0], &x->values[0], &y->values[0], approx) && equal(pair->children[1], &x->values[1], &y->values[1], approx);
        }
        if (!found) return false;
    }
    return true;
}

/* s may be NULL: inside a variant. */
static bool equal(const struct ArrowSchema *s, const json_node *a, const json_node *b, bool approx) {
    if (a->type != b->type) return false;
    if (s && strcmp(s->format, "+m") == 0 && a->type == JSON_ARRAY) return map_equal(s, a, b, approx);
    switch (a->type) {
    case JSON_NULL: return true;
    case JSON_BOOL: return a->boolean == b->boolean;
    case JSON_NUMBER: return number_equal(a, b, approx);
    case JSON_STRING: return str_eq(a->text, b->text);
    default: break;
    }
    if (a->count != b->count) return false;
    for (size_t i = 0; i < a->count; i++) {
        const struct ArrowSchema *child = s && s->n_children > 0 ? s->children[a->type == JSON_OBJECT ? (int64_t)i % s->n_children : 0] : NULL;
        if (a->type == JSON_OBJECT && !str_eq(a->keys[i], b->keys[i])) return false;
        if (!equal(child, &a->values[i], &b->values[i], approx)) return false;
    }
    return true;
}

static bool row_equal(const struct ArrowSchema *s, const char *want, const char *got, bool approx) {
    arena *a = arena_new();
    const json_node *x, *y;
    bool same = json_parse(str_of(want), a, &x, NULL) == SILT_OK && json_parse(str_of(got), a, &y, NULL) == SILT_OK && x->type == JSON_ARRAY && y->type == JSON_ARRAY &&
                x->count == y->count && (int64_t)x->count == s->n_children;
    for (size_t i = 0; same && i < x->count; i++) same = equal(s->children[i], &x->values[i], &y->values[i], approx);
    arena_free(a);
    return same;
}

static int compare_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* ---- running ---- */

static char *row_text(const struct ArrowSchema *s, const struct ArrowArray *batch, int64_t i) {
    text_buf b = {0};
    text_add_z(&b, "[");
    for (int64_t c = 0; c < s->n_children; c++) {
        if (c) text_add_z(&b, ",");
        value_write_json(&b, s->children[c], batch->children[c], i + batch->offset);
    }
    text_add_z(&b, "]");
    return b.ptr;
}

/* Runs and collects; an error text, or NULL. */
static char *collect(silt_session *session, const char *sql, struct ArrowSchema *schema, char ***rows, size_t *n, silt_error *err) {
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    size_t capacity = 0;
    memset(err, 0, sizeof *err);
    *rows = NULL;
    *n = 0;
    schema->release = NULL;
    if (silt_query(session, sql, NULL, &stream, err) != SILT_OK) return text_of("[%s] %s %s", err->condition, err->message, err->detail);
    int code = stream.get_schema(&stream, schema);
    while (code == 0 && (code = stream.get_next(&stream, &batch)) == 0 && batch.release) {
        for (int64_t i = 0; schema->n_children > 0 && i < batch.length; i++) {
            if (*n == capacity) *rows = realloc(*rows, (capacity = capacity * 2 + 64) * sizeof **rows);
            (*rows)[(*n)++] = row_text(schema, &batch, i);
        }
        batch.release(&batch);
    }
    if (code != 0) silt_stream_error(&stream, err);
    stream.release(&stream);
    return code == 0 ? NULL : text_of("[%s] %s %s", err->condition, err->message, err->detail);
}

static void free_rows(char **rows, size_t n, struct ArrowSchema *schema) {
    for (size_t i = 0; i < n; i++) free(rows[i]);
    free(rows);
    if (schema->release) schema->release(schema);
}

static char *check_query(silt_session *session, const record *r, const char *sql) {
    bool rowsort = strstr(r->head, "rowsort") != NULL, approx = strstr(r->head, "approx") != NULL;
    struct ArrowSchema schema;
    char **rows;
    size_t n;
    silt_error err;
    char *why = collect(session, sql, &schema, &rows, &n, &err);
    if (!why && n != r->n_expected) why = text_of("%zu rows, expected %zu; first: %s", n, r->n_expected, n ? rows[0] : "none");
    if (!why && rowsort) {
        qsort(rows, n, sizeof *rows, compare_text);
        qsort(r->expected, n, sizeof *r->expected, compare_text);
    }
    for (size_t i = 0; !why && i < n; i++)
        if (!row_equal(&schema, r->expected[i], rows[i], approx)) why = text_of("row %zu is %s, expected %s", i + 1, rows[i], r->expected[i]);
    free_rows(rows, n, &schema);
    return why;
}

static char *check_statement(silt_session *session, const record *r, const char *sql) {
    struct ArrowSchema schema;
    char **rows;
    size_t n;
    silt_error err;
    char *failure = collect(session, sql, &schema, &rows, &n, &err), *why = NULL;
    free_rows(rows, n, &schema);
    const char *want = strncmp(r->head, "statement error", 15) == 0 ? r->head + 15 : NULL;
    if (!want) return failure;
    while (isspace((unsigned char)*want)) want++;
    size_t base = strcspn(want, ".");
    if (!failure) why = text_of("succeeded, expected %s", want);
    else if (*want && (strncmp(err.condition, want, base) != 0 || (err.condition[base] != '\0' && err.condition[base] != '.'))) why = text_of("failed with %s, expected [%s]", failure, want);
    free(failure);
    return why;
}

static bool sets_session(const char *sql) {
    static const char *const words[] = {"SET ", "RESET", "USE ", "CREATE TEMP", "CREATE OR REPLACE TEMP", "CREATE GLOBAL TEMP"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strncasecmp(sql, words[i], strlen(words[i])) == 0) return true;
    return false;
}

/* Statements that give rows and change a table: running them again is not asking again. */
static bool changes_rows(const char *sql) {
    static const char *const words[] = {"DELETE ", "UPDATE ", "MERGE ", "INSERT "};
    const char *at = strncasecmp(sql, "WITH ", 5) == 0 ? strstr(sql, ") ") : NULL;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        size_t n = strlen(words[i]);
        if (strncasecmp(sql, words[i], n) == 0) return true;
        for (const char *p = at; p; p = strstr(p + 1, ") "))
            if (strncasecmp(p + 2, words[i], n) == 0) return true;
    }
    return false;
}

static void run_record(run_file *f, record *r) {
    if (!r->sql) {
        report(f, r, "no SQL");
        return;
    }
    char *here = text_of("%.*s", (int)(strrchr(f->path, '/') ? strrchr(f->path, '/') - f->path : 1), strrchr(f->path, '/') ? f->path : ".");
    char *absolute = realpath(here, NULL), *sql = replace(replace(text_of("%s", r->sql), "${DIR}", f->folder), "${HERE}", absolute ? absolute : here), *why = NULL;
    free(absolute);
    free(here);
    bool is_query = strncmp(r->head, "query", 5) == 0;
    if (!is_query && strcmp(r->head, "statement ok") != 0 && strncmp(r->head, "statement error", 15) != 0) {
        why = text_of("unknown record '%s'", r->head);
    } else if (is_query) {
        why = check_query(f->session, r, sql);
        char *unpruned = why || changes_rows(sql) ? NULL : check_query(f->unpruned, r, sql);
        if (unpruned) {
            why = text_of("self-check (no pruning): %s", unpruned);
            free(unpruned);
        }
    } else {
        why = check_statement(f->session, r, sql);
        if (!why && sets_session(sql) && strcmp(r->head, "statement ok") == 0) why = check_statement(f->unpruned, r, sql);
    }
    report(f, r, why);
    free(why);
    free(sql);
}

static silt_session *open_for(const char *folder, bool unpruned) {
    char *warehouse = text_of("%s/warehouse", folder);
    const char *keys[] = {"spark.sql.warehouse.dir", "spark.sql.session.timeZone", "silt.selfcheck.unpruned"}, *values[] = {warehouse, "UTC", unpruned ? "true" : "false"};
    silt_session_options o = {.struct_size = sizeof o, .keys = keys, .values = values, .n_settings = 3};
    silt_session *session = NULL;
    silt_error err;
    if (silt_session_open(&o, &session, &err) != SILT_OK) printf("not ok session: [%s] %s\n", err.condition, err.message);
    free(warehouse);
    return session;
}

static bool run_path(const char *path) {
    FILE *in = fopen(path, "r");
    const char *tmp = getenv("TMPDIR");
    run_file f = {.path = path, .folder = text_of("%s/silt-sql-XXXXXX", tmp ? tmp : "/tmp")};
    if (!in || !mkdtemp(f.folder)) {
        printf("not ok %s: cannot be opened\n", path);
        return false;
    }
    f.session = open_for(f.folder, false);
    f.unpruned = open_for(f.folder, true);
    record r;
    int line = 0;
    while (f.session && f.unpruned && read_record(in, &line, &r)) {
        r.differs = known_difference(path, r.sql);
        run_record(&f, &r);
        free_record(&r);
        fflush(stdout);
    }
    bool ok = f.session && f.unpruned && f.failed == 0;
    silt_session_close(f.session);
    silt_session_close(f.unpruned);
    fclose(in);
    char *command = text_of("rm -rf -- '%s'", f.folder);
    if (system(command) != 0) ok = false;
    free(command);
    free(f.folder);
    return ok;
}

int main(int argc, char **argv) {
    bool ok = argc > 1;
    setenv("TZ", "UTC", 1);
    for (int i = 1; i < argc; i++) ok = run_path(argv[i]) && ok;
    return ok ? 0 : 1;
}
