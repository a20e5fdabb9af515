/*
 * Runs isolation specs (the form is in README.md): isolation_runner FILE… prints one `ok FILE:LINE` or `not ok FILE:LINE: why` per interleaving.
 *
 * Each session runs in a thread of its own, but only one of them moves at a time: a session stops where its item of the interleaving says, before the put that would make its
 * commit appear, and goes on when its name comes up again. So every interleaving is the same in every run.
 *
 * Beside the outcomes that a spec names, after each interleaving: what is in the table is what the successful steps give one after another (at Serializable in the order in which they
 * ended, at WriteSerializable in some order), and no failed step has left a file behind.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "isolation/world.h"

#define MAX_ITEMS    16
#define MAX_SESSIONS 4

typedef struct record { int line; char *head, *body; } record;

typedef struct spec {
    const char *path;
    record *setups, *steps;
    size_t n_setups, n_steps;
    bool failed;
    bool in_store, again; /* is this the run in a store; is there to be one */
} spec;

/* One item of an interleaving: session[:step][*][!lost][=CONDITION]. */
typedef struct item {
    char session[16], step[32], expected[96];
    bool starts, stops, loses_reply;
} item;

/* ---- reading ---- */

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
    char *joined = NULL;
    if (asprintf(&joined, "%s%s%s", *text ? *text : "", *text ? "\n" : "", line) < 0) abort();
    free(*text);
    *text = joined;
}

/* A head, the lines under it, an empty line. */
static bool read_record(FILE *in, int *line, record *r) {
    char *text;
    *r = (record){0};
    while ((text = next_line(in, line))) {
        bool is_end = *text == '\0' && r->head, is_nothing = *text == '\0' || (*text == '#' && !r->head);
        if (!is_nothing && !r->head) {
            r->head = text;
            r->line = *line;
            continue;
        }
        if (!is_nothing) append_line(&r->body, text);
        free(text);
        if (is_end) return true;
    }
    return r->head != NULL;
}

static void free_record(record *r) {
    free(r->head);
    free(r->body);
}

static const char *find_step(const spec *s, const char *name) {
    for (size_t i = 0; i < s->n_steps; i++)
        if (strcmp(s->steps[i].head + strlen("step "), name) == 0) return s->steps[i].body;
    return NULL;
}

static bool parse_item(const char *text, item *out) {
    size_t n = strcspn(text, ":*!=");
    *out = (item){0};
    if (n == 0 || n >= sizeof out->session) return false;
    memcpy(out->session, text, n);
    text += n;
    if (*text == ':') {
        n = strcspn(++text, "*!=");
        if (n == 0 || n >= sizeof out->step) return false;
        memcpy(out->step, text, n);
        out->starts = true;
        text += n;
    }
    for (; *text == '*' || *text == '!'; text++) {
        if (*text == '*') out->stops = true;
        if (*text == '!') out->loses_reply = true;
    }
    if (*text == '=') snprintf(out->expected, sizeof out->expected, "%s", ++text);
    else if (*text) return false;
    return true;
}

/* "loser <- winner: CONDITION" is a:loser* b:winner a=CONDITION. */
static bool parse_pair(const char *text, item *items, size_t *n) {
    *n = 3;
    items[0] = (item){.session = "a", .starts = true, .stops = true};
    items[1] = (item){.session = "b", .starts = true};
    items[2] = (item){.session = "a"};
    return sscanf(text, " %31s <- %31[^: ]: %95s", items[0].step, items[1].step, items[2].expected) >= 2;
}

static bool parse_items(const char *text, item *items, size_t *n) {
    char word[160];
    int used;
    for (*n = 0; sscanf(text, " %159s%n", word, &used) == 1; ++*n, text += used)
        if (*n == MAX_ITEMS || !parse_item(word, &items[*n])) return false;
    return *n > 0;
}

/* ---- one interleaving ---- */

typedef struct interleaving {
    const spec *spec;
    world *world;
    const char *level;
    actor *actors[MAX_SESSIONS];
    const char *running[MAX_SESSIONS]; /* the step that a session has begun and not ended */
    size_t n_actors;
    const char *done[MAX_ITEMS]; /* successful steps as they ended */
    size_t n_done;
    char why[2048];
} interleaving;

static bool fail(interleaving *v, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool fail(interleaving *v, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(v->why, sizeof v->why, format, args);
    va_end(args);
    return false;
}

static bool find_actor(interleaving *v, const char *name, size_t *out) {
    for (*out = 0; *out < v->n_actors; ++*out)
        if (strcmp(world_actor_name(v->actors[*out]), name) == 0) return true;
    if (v->n_actors == MAX_SESSIONS) return fail(v, "more than %d sessions", MAX_SESSIONS);
    v->actors[v->n_actors++] = world_actor(v->world, name);
    return true;
}

static bool check_outcome(interleaving *v, const item *it, size_t a) {
    const silt_error *err = world_actor_outcome(v->actors[a]);
    const char *expected = strcmp(it->expected, "ok") == 0 ? "" : it->expected, *condition = err->status == SILT_OK ? "" : err->condition;
    if (strcmp(expected, condition) != 0)
        return fail(v, "%s ended with %s, expected %s: %s %s", v->running[a], *condition ? condition : "success", *expected ? expected : "success", err->message, err->detail);
    if (err->status == SILT_OK) v->done[v->n_done++] = v->running[a];
    v->running[a] = NULL;
    return true;
}

static bool move(interleaving *v, const item *it) {
    size_t a;
    if (!find_actor(v, it->session, &a)) return false;
    if (it->starts) {
        const char *sql = find_step(v->spec, it->step);
        if (!sql) return fail(v, "no step %s", it->step);
        if (v->running[a]) return fail(v, "%s has not ended its step", it->session);
        v->running[a] = it->step;
        world_actor_start(v->actors[a], sql, it->stops, it->loses_reply ? FAULT_LOST_REPLY : FAULT_NONE);
    } else {
        if (!v->running[a]) return fail(v, "%s has no step to go on with", it->session);
        world_actor_continue(v->actors[a], it->stops, it->loses_reply ? FAULT_LOST_REPLY : FAULT_NONE);
    }
    if (world_actor_is_stopped(v->actors[a])) return true;
    if (it->stops && it->starts) return fail(v, "%s ended without a commit to stop before: %s", it->step, world_actor_outcome(v->actors[a])->message);
    return check_outcome(v, it, a);
}

/* The table as these steps give it, one after another. */
static bool serially(interleaving *v, const size_t *order, char **out) {
    silt_error err = {0};
    if (!world_begin(v->world, true, v->level, &err)) return fail(v, "setup of the serial run: [%s] %s", err.condition, err.message);
    for (size_t i = 0; i < v->n_done; i++)
        if (!world_run_serially(v->world, find_step(v->spec, v->done[order[i]]), &err))
            return fail(v, "%s of the serial run: [%s] %s", v->done[order[i]], err.condition, err.message);
    *out = world_rows(v->world, true, &err);
    return *out ? true : fail(v, "rows of the serial run: [%s] %s", err.condition, err.message);
}

/* The next order in the sense of the dictionary; false after the last. */
static bool next_order(size_t *order, size_t n) {
    size_t i = n, j = n;
    while (i > 1 && order[i - 2] > order[i - 1]) i--;
    if (i < 2) return false;
    while (order[j - 1] < order[i - 2]) j--;
    size_t swap = order[i - 2];
    order[i - 2] = order[j - 1];
    order[j - 1] = swap;
    for (size_t a = i - 1, b = n - 1; a < b; a++, b--) {
        swap = order[a];
        order[a] = order[b];
        order[b] = swap;
    }
    return true;
}

static bool check_rows(interleaving *v) {
    silt_error err = {0};
    char *found = world_rows(v->world, false, &err), *first = NULL;
    size_t order[MAX_ITEMS];
    bool same = false, ran = true;
    if (!found) return fail(v, "rows: [%s] %s", err.condition, err.message);
    for (size_t i = 0; i < v->n_done; i++) order[i] = i;
    do {
        char *rows = NULL;
        ran = serially(v, order, &rows);
        same = ran && strcmp(rows, found) == 0;
        if (!first) first = rows;
        else free(rows);
    } while (ran && !same && strcmp(v->level, "WriteSerializable") == 0 && next_order(order, v->n_done));
    if (ran && !same) fail(v, "the rows are %s, but one after another the steps give %s", found, first);
    free(found);
    free(first);
    return same;
}

static bool run_items(interleaving *v, const item *items, size_t n) {
    silt_error err = {0};
    if (!world_begin(v->world, false, v->level, &err)) return fail(v, "setup: [%s] %s", err.condition, err.message);
    for (size_t i = 0; i < n; i++)
        if (!move(v, &items[i])) return false;
    for (size_t a = 0; a < v->n_actors; a++)
        if (v->running[a]) return fail(v, "%s has not ended", v->running[a]);
    return true;
}

static void end_all(interleaving *v) {
    for (size_t a = 0; a < v->n_actors; a++)
        while (world_actor_is_stopped(v->actors[a])) world_actor_continue(v->actors[a], false, FAULT_NONE);
}

static void run_line(spec *s, world *w, const char *level, const char *text, bool is_pair, int line) {
    item items[MAX_ITEMS];
    size_t n;
    interleaving v = {.spec = s, .world = w, .level = level};
    bool ok = is_pair ? parse_pair(text, items, &n) : parse_items(text, items, &n);
    if (!ok) fail(&v, "not an interleaving");
    ok = ok && run_items(&v, items, n);
    end_all(&v);
    char *stray = ok ? world_stray_files(w) : NULL;
    if (stray) ok = fail(&v, "files of no commit: %s", stray);
    ok = ok && check_rows(&v);
    const char *where = s->in_store ? " in a store," : "";
    if (ok) printf("ok %s:%d%s %s %s\n", s->path, line, where, level, text);
    else printf("not ok %s:%d%s %s %s: %s\n", s->path, line, where, level, text, v.why);
    fflush(stdout);
    free(stray);
    s->failed |= !ok;
}

/* ---- a file ---- */

static void run_lines(spec *s, world *w, const record *r) {
    bool is_pair = strncmp(r->head, "pairs", 5) == 0;
    char level[32] = "Serializable";
    if (sscanf(r->head, "%*s %31s", level) < 0) return;
    char *save = NULL;
    int line = r->line;
    for (char *text = strtok_r(r->body, "\n", &save); text; text = strtok_r(NULL, "\n", &save)) {
        ++line;
        if (*text != '#') run_line(s, w, level, text, is_pair, line);
    }
}

static void take_record(spec *s, world *w, record *r) {
    if (strcmp(r->head, "in a store too") == 0) {
        s->again = true;
        free_record(r);
        return;
    }
    if (strncmp(r->head, "setup", 5) == 0) world_add_setup(w, r->body);
    if (strncmp(r->head, "step ", 5) == 0) {
        s->steps = realloc(s->steps, (s->n_steps + 1) * sizeof *s->steps);
        s->steps[s->n_steps++] = *r;
        return;
    }
    if (strncmp(r->head, "pairs", 5) == 0 || strncmp(r->head, "interleavings", 13) == 0) {
        run_lines(s, w, r);
    } else if (strncmp(r->head, "setup", 5) != 0) {
        printf("not ok %s:%d: unknown record '%s'\n", s->path, r->line, r->head);
        s->failed = true;
    }
    free_record(r);
}

static bool run_path(const char *path, bool in_store, bool *out_again) {
    FILE *in = fopen(path, "r");
    spec s = {.path = path, .in_store = in_store};
    silt_error err = {0};
    world *w = world_open(in_store, &err);
    record r;
    int line = 0;
    if (!in || !w) {
        printf("not ok %s: cannot be opened: %s\n", path, err.message);
        return false;
    }
    while (read_record(in, &line, &r)) take_record(&s, w, &r);
    fclose(in);
    world_close(w);
    for (size_t i = 0; i < s.n_steps; i++) free_record(&s.steps[i]);
    free(s.steps);
    *out_again = s.again && !in_store;
    return !s.failed;
}

int main(int argc, char **argv) {
    bool ok = argc > 1;
    for (int i = 1; i < argc; i++) {
        bool again;
        ok &= run_path(argv[i], false, &again);
        if (again) ok &= run_path(argv[i], true, &again);
    }
    return ok ? 0 : 1;
}
