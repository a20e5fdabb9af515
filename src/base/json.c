/*
 * JSON trees: parsing (json_door.cc does the walk; single scalars are read here, since simdjson's on-demand parser has no
 * uniform way to a scalar document), look-ups, and writing.
 */
#include "base/json.h"

#include "base/json_door.h"

/* ---- scalars ---- */

bool json_is_number(str t) {
    size_t i = 0, from;
    if (i < t.len && t.ptr[i] == '-') i++;
    if (i == t.len) return false;
    if (t.ptr[i] == '0') i++;
    else {
        for (from = i; i < t.len && t.ptr[i] >= '0' && t.ptr[i] <= '9';) i++;
        if (i == from) return false;
    }
    if (i < t.len && t.ptr[i] == '.') {
        for (from = ++i; i < t.len && t.ptr[i] >= '0' && t.ptr[i] <= '9';) i++;
        if (i == from) return false;
    }
    if (i < t.len && (t.ptr[i] == 'e' || t.ptr[i] == 'E')) {
        i++;
        if (i < t.len && (t.ptr[i] == '+' || t.ptr[i] == '-')) i++;
        for (from = i; i < t.len && t.ptr[i] >= '0' && t.ptr[i] <= '9';) i++;
        if (i == from) return false;
    }
    return i == t.len;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* Four hexadecimal digits at s[at], or -1. */
static int32_t hex4(str s, size_t at) {
    int32_t value = 0;
    if (s.len < 4 || at > s.len - 4) return -1;
    for (size_t i = at; i < at + 4; i++) {
        int digit = hex_digit(s.ptr[i]);
        if (digit < 0) return -1;
        value = value << 4 | digit;
    }
    return value;
}

static size_t encode_utf8(uint32_t c, char *out) {
    if (c < 0x80) return out[0] = (char)c, 1;
    size_t len = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = len - 1; i > 0; i--, c >>= 6) out[i] = (char)(0x80 | (c & 0x3f));
    static const unsigned lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    out[0] = (char)(lead[len] | c);
    return len;
}

/* \uXXXX at s[*at] (the u), a surrogate pair taken as one; leaves *at behind it. */
static bool unescape_unicode(str s, size_t *at, uint32_t *out) {
    int32_t unit = hex4(s, *at + 1);
    if (unit < 0) return false;
    *at += 5;
    *out = (uint32_t)unit;
    if (unit < 0xd800 || unit > 0xdfff) return true;
    *out = 0xfffd; /* alone: Java writes such strings, UTF-8 has no form for them */
    if (unit < 0xdc00 && *at + 1 < s.len && s.ptr[*at] == '\\' && s.ptr[*at + 1] == 'u') {
        int32_t low = hex4(s, *at + 2);
        if (low >= 0xdc00 && low <= 0xdfff) {
            *out = 0x10000 + (((uint32_t)unit & 0x3ff) << 10 | ((uint32_t)low & 0x3ff));
            *at += 6;
        }
    }
    return true;
}

static bool unescape_into(str s, char *p, size_t *out_len) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    size_t len = 0;
    for (size_t i = 0; i < s.len;) {
        if (s.ptr[i] != '\\') {
            p[len++] = s.ptr[i++];
            continue;
        }
        if (++i == s.len) return false;
        if (s.ptr[i] == 'u') {
            uint32_t c;
            if (!unescape_unicode(s, &i, &c)) return false;
            len += encode_utf8(c, p + len); /* at most 4 bytes for 12, or 3 for 6 */
        } else {
            const char *known = s.ptr[i] ? strchr(from, s.ptr[i]) : NULL;
            if (!known) return false;
            p[len++] = to[known - from];
            i++;
        }
    }
    *out_len = len;
    return true;
}

bool json_unescape(str token, arena *a, str *out) {
    *out = STR_NULL;
    if (token.len < 2 || token.ptr[0] != '"' || token.ptr[token.len - 1] != '"') return false;
    str s = str_slice(token, 1, token.len - 1);
    if (str_find_char(s, '\\') == SIZE_MAX) return *out = s, true;
    char *p = arena_alloc(a, s.len + 1);
    if (!p) return true;
    size_t len;
    if (!unescape_into(s, p, &len)) return false;
    p[len] = '\0';
    *out = (str){p, len};
    return true;
}

/* ---- parsing ---- */

static silt_status malformed(silt_error *err, const char *why, size_t offset) {
    silt_status status = err_MALFORMED_JSON(err);
    int len = (int)strlen(why);
    if (len > 0 && why[len - 1] == '.') len--; /* simdjson's are sentences */
    error_detail(err, "%.*s, near byte %zu", len, why, offset);
    return status;
}

/* A document that is one string: no quote before the last, no control character. */
static const char *check_string(str token) {
    if (token.len < 2 || token.ptr[token.len - 1] != '"') return "unclosed string";
    for (size_t i = 1; i + 1 < token.len; i++) {
        if ((unsigned char)token.ptr[i] < 0x20) return "control character in a string";
        if (token.ptr[i] == '"') return "text after the end of the document";
        if (token.ptr[i] == '\\' && ++i + 1 >= token.len) return "unclosed string";
    }
    return NULL;
}

static const char *parse_scalar(str token, arena *a, json_node *out) {
    out->text = token;
    if (token.ptr[0] == '"') {
        out->type = JSON_STRING;
        const char *problem = check_string(token);
        if (problem) return problem;
        if (!json_unescape(token, a, &out->text)) return "invalid escape in a string";
        return out->text.ptr ? NULL : "";
    }
    if (str_eqz(token, "null")) return out->type = JSON_NULL, NULL;
    out->boolean = str_eqz(token, "true");
    if (out->boolean || str_eqz(token, "false")) return out->type = JSON_BOOL, NULL;
    out->type = JSON_NUMBER;
    return json_is_number(token) ? NULL : "not a JSON value";
}

static bool is_json_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

silt_status json_parse(str text, arena *a, const json_node **out_root, silt_error *err) {
    size_t from = 0, to = text.len;
    while (to > 0 && is_json_space(text.ptr[to - 1])) to--;
    while (from < to && is_json_space(text.ptr[from])) from++;
    if (from == to) return malformed(err, "the text is empty", 0);
    size_t len = to - from, offset = 0;
    if (len > SIZE_MAX - JSON_DOOR_PADDING) return error_no_memory(err);
    char *copy = arena_alloc(a, len + JSON_DOOR_PADDING);
    if (!copy) return error_no_memory(err);
    memcpy(copy, text.ptr + from, len);
    memset(copy + len, ' ', JSON_DOOR_PADDING);

    const char *problem;
    if (copy[0] == '{' || copy[0] == '[') {
        problem = json_door_parse(copy, len, a, out_root, &offset);
    } else if (!str_is_utf8((str){copy, len})) {
        problem = "invalid UTF-8";
    } else {
        json_node *node = ARENA_NEW(a, json_node);
        if (!node) return error_no_memory(err);
        problem = parse_scalar((str){copy, len}, a, node);
        *out_root = node;
    }
    if (!problem) return SILT_OK;
    *out_root = NULL;
    return problem[0] ? malformed(err, problem, from + offset) : error_no_memory(err);
}

/* ---- look-ups ---- */

const json_node *json_get(const json_node *object, const char *key) {
    if (!object || object->type != JSON_OBJECT) return NULL;
    str wanted = str_of(key);
    for (size_t i = object->count; i > 0; i--)
        if (str_eq(object->keys[i - 1], wanted)) return &object->values[i - 1];
    return NULL;
}

str json_get_str(const json_node *object, const char *key, str absent) {
    const json_node *node = json_get(object, key);
    return node && node->type == JSON_STRING ? node->text : absent;
}

int64_t json_get_i64(const json_node *object, const char *key, int64_t absent) {
    int64_t value;
    return json_node_i64(json_get(object, key), &value) ? value : absent;
}

bool json_get_bool(const json_node *object, const char *key, bool absent) {
    const json_node *node = json_get(object, key);
    return node && node->type == JSON_BOOL ? node->boolean : absent;
}

bool json_node_i64(const json_node *node, int64_t *out) { return node && node->type == JSON_NUMBER && str_to_i64(node->text, out); }

bool json_node_f64(const json_node *node, double *out) {
    if (!node) return false;
    if (node->type == JSON_NUMBER) return str_to_f64(node->text, out);
    if (node->type != JSON_STRING) return false;
    bool named = str_eqz(node->text, "NaN") || str_eqz(node->text, "Infinity") || str_eqz(node->text, "-Infinity");
    return named && str_to_f64(node->text, out);
}

/* ---- writing ---- */

static void write_escape(buf *out, unsigned char c) {
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
    const char *known = c ? strchr(from, c) : NULL;
    if (known) {
        buf_append_char(out, '\\');
        buf_append_char(out, to[known - from]);
    } else {
        buf_printf(out, "\\u%04x", c);
    }
}

void json_write_str(buf *out, str s) {
    buf_append_char(out, '"');
    size_t start = 0, i = 0; /* bytes from `start` wait to be copied as they are */
    while (i < s.len) {
        unsigned char c = (unsigned char)s.ptr[i];
        if (c >= 0x20 && c < 0x80 && c != '"' && c != '\\') {
            i++;
            continue;
        }
        size_t from = i;
        bool plain = c >= 0x80 && !(str_next_codepoint(s, &i) == 0xfffd && i == from + 1);
        if (plain) continue;
        i = from + 1;
        buf_append(out, str_slice(s, start, from));
        if (c >= 0x80) buf_append(out, STR("\xef\xbf\xbd"));
        else write_escape(out, c);
        start = i;
    }
    if (s.len > start) buf_append(out, str_slice(s, start, s.len));
    buf_append_char(out, '"');
}

void json_write_key_str(buf *out, bool *first, str key) {
    if (!*first) buf_append_char(out, ',');
    *first = false;
    json_write_str(out, key);
    buf_append_char(out, ':');
}

void json_write_key(buf *out, bool *first, const char *key) { json_write_key_str(out, first, str_of(key)); }

void json_write_i64(buf *out, int64_t v) { buf_append_i64(out, v); }

static void write_children(buf *out, const json_node *node) {
    bool first = true;
    buf_append_char(out, node->type == JSON_OBJECT ? '{' : '[');
    for (size_t i = 0; i < node->count; i++) {
        if (node->type == JSON_OBJECT) json_write_key_str(out, &first, node->keys[i]);
        else if (i > 0) buf_append_char(out, ',');
        json_write_node(out, &node->values[i]);
    }
    buf_append_char(out, node->type == JSON_OBJECT ? '}' : ']');
}

void json_write_node(buf *out, const json_node *node) {
    switch (node->type) {
        case JSON_NULL: buf_append(out, STR("null")); break;
        case JSON_BOOL: buf_append_z(out, node->boolean ? "true" : "false"); break;
        case JSON_NUMBER: buf_append(out, node->text); break;
        case JSON_STRING: json_write_str(out, node->text); break;
        case JSON_ARRAY:
        case JSON_OBJECT: write_children(out, node); break;
    }
}
