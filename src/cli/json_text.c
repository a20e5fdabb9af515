/* A walk over the members of one object of compact JSON. */
#include "cli/json_text.h"

#include <stdlib.h>
#include <string.h>

/* Behind the value at p. */
static const char *value_end(const char *p) {
    int depth = 0;
    bool in_string = false;
    for (; *p; p++) {
        if (in_string) {
            if (*p == '\\' && p[1])
                p++;
            else if (*p == '"')
                in_string = false;
            if (!in_string && depth == 0) return p + 1;
            continue;
        }
        if (*p == '"')
            in_string = true;
        else if (*p == '{' || *p == '[')
            depth++;
        else if (*p == '}' || *p == ']') {
            if (depth-- == 0) return p;
            if (depth == 0) return p + 1;
        } else if (*p == ',' && depth == 0)
            return p;
    }
    return p;
}

static void add_code_point(text_buf *b, unsigned c) {
    char utf8[4];
    size_t n = 0;
    if (c < 0x80)
        utf8[n++] = (char)c;
    else if (c < 0x800)
        utf8[n++] = (char)(0xC0 | c >> 6), utf8[n++] = (char)(0x80 | (c & 63));
    else
        utf8[n++] = (char)(0xE0 | c >> 12), utf8[n++] = (char)(0x80 | (c >> 6 & 63)), utf8[n++] = (char)(0x80 | (c & 63));
    text_add(b, utf8, n);
}

/* A string without its quotes and escapes; what the library escapes is below U+0020, a quote or a backslash. */
static void add_string(text_buf *b, const char *from, const char *end) {
    for (const char *p = from + 1; p + 1 < end; p++) {
        if (*p != '\\') {
            text_add(b, p, 1);
            continue;
        }
        p++;
        char hex[5] = {0};
        switch (*p) {
            case 'n': text_add_z(b, "\n"); break;
            case 't': text_add_z(b, "\t"); break;
            case 'r': text_add_z(b, "\r"); break;
            case 'b': text_add_z(b, "\b"); break;
            case 'f': text_add_z(b, "\f"); break;
            case 'u':
                if (end - p < 6) return;
                memcpy(hex, p + 1, 4);
                add_code_point(b, (unsigned)strtoul(hex, NULL, 16));
                p += 4;
                break;
            default: text_add(b, p, 1);
        }
    }
}

static void add_plain(text_buf *b, const char *from, const char *end) {
    if (*from == '"') {
        add_string(b, from, end);
    } else if (*from == '[') {
        for (const char *p = from + 1; p < end && *p != ']';) {
            const char *next = value_end(p);
            add_plain(b, p, next);
            p = next + (*next == ',');
            if (p < end && *p != ']') text_add_z(b, ", ");
        }
    } else {
        text_add(b, from, (size_t)(end - from));
    }
}

/* Steps to the next member of an object: *key is its token, *from its value; false at the end. `p` stands behind '{' or a value. */
static bool next_member(const char **p, const char **key, const char **key_end, const char **from, const char **end) {
    while (**p == ',' || **p == ' ') (*p)++;
    if (**p != '"') return false;
    *key = *p;
    *key_end = value_end(*p);
    if (**key_end != ':') return false;
    *from = *key_end + 1;
    *end = value_end(*from);
    *p = *end;
    return true;
}

static bool find_member(const char *object, const char *name, const char **from, const char **end) {
    const char *p = object && *object == '{' ? object + 1 : "", *key, *key_end;
    size_t n = strlen(name);
    while (next_member(&p, &key, &key_end, from, end))
        if ((size_t)(key_end - key) == n + 2 && strncmp(key + 1, name, n) == 0) return true;
    return false;
}

char *json_member(const char *object, const char *key) {
    const char *from, *end;
    return find_member(object, key, &from, &end) ? text_of("%.*s", (int)(end - from), from) : NULL;
}

char *json_member_text(const char *object, const char *key) {
    const char *from, *end;
    text_buf b = {0};
    if (!find_member(object, key, &from, &end) || strncmp(from, "null", 4) == 0) return NULL;
    text_add_z(&b, "");
    add_plain(&b, from, end);
    return b.ptr;
}

void json_each_member(const char *object, const char *name, void (*fn)(void *ctx, const char *key, const char *text), void *ctx) {
    const char *p, *end, *key, *key_end, *from, *stop;
    text_buf k = {0}, v = {0};
    if (!find_member(object, name, &p, &end) || *p != '{') return;
    p++;
    while (p < end && next_member(&p, &key, &key_end, &from, &stop)) {
        k.len = v.len = 0;
        text_add_z(&k, "");
        text_add_z(&v, "");
        add_string(&k, key, key_end);
        add_plain(&v, from, stop);
        fn(ctx, k.ptr, v.ptr);
    }
    free(k.ptr);
    free(v.ptr);
}
