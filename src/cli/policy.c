/* Reading the policy. A key that is not known, or of another type, is an error with its line: a mistyped rule must not be a rule that never runs. */
#include "cli/policy.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/toml_door.h"

static bool complain(const char *path, const toml_node *at, const char *format, ...) __attribute__((format(printf, 3, 4)));

static bool complain(const char *path, const toml_node *at, const char *format, ...) {
    va_list args;
    va_start(args, format);
    if (at && at->line > 0)
        fprintf(stderr, "silt: %s, line %d: ", path, at->line);
    else
        fprintf(stderr, "silt: %s: ", path);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return false;
}

/* ---- values ---- */

static bool want_text(const char *path, const toml_node *n, const char **out) {
    if (n->type != TOML_STRING || !*n->text) return complain(path, n, "%s takes a text", n->key);
    *out = n->text;
    return true;
}

static bool want_flag(const char *path, const toml_node *n, bool *out) {
    if (n->type != TOML_BOOLEAN) return complain(path, n, "%s takes true or false", n->key);
    *out = n->boolean;
    return true;
}

static bool want_list(const char *path, const toml_node *n, string_list *out) {
    *out = (string_list){0}; /* of a table replaces that of the defaults */
    if (n->type != TOML_ARRAY) return complain(path, n, "%s takes a list of texts", n->key);
    for (size_t i = 0; i < n->count; i++) {
        if (n->items[i].type != TOML_STRING || !*n->items[i].text || strchr(n->items[i].text, ','))
            return complain(path, &n->items[i], "%s takes a list of texts without commas", n->key);
        list_add(out, n->items[i].text);
    }
    return true;
}

static bool want_recent(const char *path, const toml_node *n, policy_table *t) {
    const toml_node *column = toml_get(n, "column"), *days = toml_get(n, "days");
    bool good = n->type == TOML_TABLE && n->count == 2 && column && column->type == TOML_STRING && days &&
                days->type == TOML_INTEGER && days->integer >= 0 && days->integer < 1000000;
    if (!good) return complain(path, n, "recent takes { column = \"day\", days = 7 }");
    t->recent_column = column->text;
    t->recent_days = days->integer;
    return true;
}

static bool want_fail_on(const char *path, const toml_node *n, fail_on *out) {
    static const char *const words[] = {"danger", "warning", "never"};
    for (int i = 0; n->type == TOML_STRING && i < 3; i++) {
        if (strcmp(n->text, words[i]) != 0) continue;
        *out = (fail_on)i;
        return true;
    }
    return complain(path, n, "fail_on takes \"danger\", \"warning\" or \"never\"");
}

/* ---- rules ---- */

static bool read_rule(const char *path, const toml_node *n, policy_table *t) {
    if (strcmp(n->key, "name") == 0) return want_text(path, n, &t->name);
    if (strcmp(n->key, "optimize") == 0) return want_flag(path, n, &t->optimize);
    if (strcmp(n->key, "full") == 0) return want_flag(path, n, &t->full);
    if (strcmp(n->key, "purge") == 0) return want_flag(path, n, &t->purge);
    if (strcmp(n->key, "checkpoint") == 0) return want_flag(path, n, &t->checkpoint);
    if (strcmp(n->key, "vacuum") == 0) return want_flag(path, n, &t->vacuum);
    if (strcmp(n->key, "doctor") == 0) return want_flag(path, n, &t->doctor);
    if (strcmp(n->key, "where") == 0) return want_text(path, n, &t->where);
    if (strcmp(n->key, "recent") == 0) return want_recent(path, n, t);
    if (strcmp(n->key, "zorder") == 0) return want_list(path, n, &t->zorder);
    if (strcmp(n->key, "readers") == 0) return want_list(path, n, &t->readers);
    if (strcmp(n->key, "filters") == 0) return want_list(path, n, &t->filters);
    if (strcmp(n->key, "retain") == 0) return want_text(path, n, &t->retain);
    if (strcmp(n->key, "longest_job") == 0) return want_text(path, n, &t->longest_job);
    if (strcmp(n->key, "fail_on") == 0) return want_fail_on(path, n, &t->fail_on);
    return complain(path, n, "there is no rule '%s' (silt help maintain lists them)", n->key);
}

static bool read_rules(const char *path, const toml_node *table, policy_table *t) {
    if (table->type != TOML_TABLE) return complain(path, table, "expected a table of rules");
    bool good = true;
    for (size_t i = 0; i < table->count; i++) good &= read_rule(path, &table->items[i], t);
    return good;
}

static bool check_rules(const char *path, const toml_node *at, const policy_table *t) {
    if (!t->name) return complain(path, at, "a [[table]] needs a name");
    if (t->where && t->recent_days >= 0) return complain(path, at, "%s: give 'where' or 'recent', not both", t->name);
    if ((t->where || t->recent_days >= 0 || t->zorder.count || t->full) && !t->optimize)
        return complain(path, at, "%s: where, recent, zorder and full are rules of optimize; add optimize = true", t->name);
    text_buf scratch = {0};
    bool known = !t->retain || sql_retain(&scratch, t->retain);
    free(scratch.ptr);
    if (!known) return complain(path, at, "%s: retain takes hours or days, as \"168h\" or \"7d\"", t->name);
    if (t->retain && !t->vacuum) return complain(path, at, "%s: retain is a rule of vacuum; add vacuum = true", t->name);
    if (!(t->optimize || t->purge || t->checkpoint || t->vacuum || t->doctor))
        return complain(path, at, "%s: nothing is to be done (optimize, purge, checkpoint, vacuum, doctor)", t->name);
    return true;
}

static bool read_tables(const char *path, const toml_node *list, const policy_table *defaults, policy *out) {
    if (list->type != TOML_ARRAY || list->count == 0) return complain(path, list, "tables are written as [[table]]");
    out->tables = calloc(list->count, sizeof *out->tables);
    if (!out->tables) exit(EXIT_FAILED);
    bool good = true;
    for (size_t i = 0; i < list->count; i++) {
        policy_table *t = &out->tables[out->n_tables++];
        *t = *defaults;
        bool read = read_rules(path, &list->items[i], t);
        good &= read && check_rules(path, &list->items[i], t);
        for (size_t k = 0; read && t->name && k < i; k++)
            if (out->tables[k].name && strcmp(out->tables[k].name, t->name) == 0)
                good = complain(path, &list->items[i], "%s stands there twice", t->name);
    }
    return good;
}

static bool read_policy(const char *path, const toml_node *root, policy *out) {
    policy_table defaults = {.recent_days = -1};
    const toml_node *tables = NULL;
    bool good = true;
    for (size_t i = 0; i < root->count; i++) {
        const toml_node *n = &root->items[i];
        if (strcmp(n->key, "warehouse") == 0)
            good &= want_text(path, n, &out->warehouse);
        else if (strcmp(n->key, "defaults") == 0)
            good &= read_rules(path, n, &defaults);
        else if (strcmp(n->key, "table") == 0)
            tables = n;
        else
            good = complain(path, n, "there is no '%s' (warehouse, [defaults], [[table]])", n->key);
    }
    if (defaults.name) good = complain(path, NULL, "[defaults] has no name");
    if (!tables) return complain(path, NULL, "it has no [[table]]");
    return read_tables(path, tables, &defaults, out) && good;
}

bool policy_read(const char *path, policy *out) {
    char why[500];
    *out = (policy){0};
    char *text = read_text(path);
    if (!text) return false;
    out->tree = toml_parse(text, why, sizeof why);
    free(text);
    if (!out->tree) return complain(path, NULL, "%s", why);
    return read_policy(path, out->tree, out);
}

void policy_free(policy *p) {
    toml_free(p->tree);
    free(p->tables);
    *p = (policy){0};
}
