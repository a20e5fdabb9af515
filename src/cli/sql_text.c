/*
 * What the user typed as parts of a statement: tables, columns, literals. Everything is quoted, so that a name can only ever be
 * a name; a predicate stays a predicate because silt_query runs one statement, and a line end behind it closes a comment.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static size_t without_blanks(const char *text, size_t n) {
    while (n && isspace((unsigned char)text[n - 1])) n--;
    return n;
}

char *script_statement(const char *script, size_t end) {
    end = without_blanks(script, end);
    if (end && script[end - 1] == ';') end = without_blanks(script, end - 1);
    return text_of("%.*s", (int)end, script);
}

void sql_quoted(text_buf *sql, const char *name, size_t n, char quote) {
    text_add(sql, &quote, 1);
    for (size_t i = 0; i < n; i++) {
        if (name[i] == quote || (quote == '\'' && name[i] == '\\')) text_add(sql, quote == '\'' ? "\\" : &quote, 1);
        text_add(sql, name + i, 1);
    }
    text_add(sql, &quote, 1);
}

void sql_literal(text_buf *sql, const char *text) { sql_quoted(sql, text, strlen(text), '\''); }

/* One part of a dotted name: in backticks already, or up to the next dot. The offset behind it; 0 for an open backtick or an empty part. */
static size_t name_part(const char *s) {
    size_t n = 0;
    if (*s != '`') return strcspn(s, ".");
    for (n = 1; s[n]; n++) {
        if (s[n] != '`') continue;
        if (s[n + 1] != '`') return n + 1;
        n++;
    }
    return 0;
}

bool sql_name(text_buf *sql, const char *name) {
    for (bool first = true;; first = false) {
        size_t n = name_part(name);
        if (n == 0 || (name[n] && name[n] != '.')) return false;
        if (!first) text_add_z(sql, ".");
        if (*name == '`')
            text_add(sql, name, n);
        else
            sql_quoted(sql, name, n, '`');
        if (!name[n]) return true;
        name += n + 1;
    }
}

bool is_path(const char *table) { return strchr(table, '/') != NULL || table[0] == '.'; }

bool sql_table(text_buf *sql, const char *table, const char *format) {
    size_t n = strlen(format);
    bool formatted = strncmp(table, format, n) == 0 && table[n] == '.' && table[n + 1] == '`';
    if (formatted || !is_path(table)) {
        if (sql_name(sql, table)) return true;
        usage_error("'%s' is no table name; a path has a slash in it", table);
        return false;
    }
    char *path = strstr(table, "://") ? text_of("%s", table) : realpath(table, NULL);
    if (!path) path = text_of("%s", table);
    text_printf(sql, "%s.", format);
    sql_quoted(sql, path, strlen(path), '`');
    free(path);
    return true;
}

bool sql_retain(text_buf *sql, const char *text) {
    char *end;
    double v = strtod(text, &end);
    bool decimal = strspn(text, "0123456789.") == (size_t)(end - text); /* no hexadecimal, no exponent */
    bool days = *end == 'd' || *end == 'D', hours = *end == 'h' || *end == 'H' || *end == '\0',
         plain = text[0] >= '0' && text[0] <= '9';
    if (!plain || !decimal || v > 1e7 || !(days || hours) || (*end && end[1])) return false;
    text_printf(sql, " RETAIN %.10g HOURS", days ? v * 24 : v);
    return true;
}
