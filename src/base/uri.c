/*
 * Locations. A location is a URI where it starts with a scheme and ":/"; anything else is a path of the local file system, so
 * that a file may be called "a:b". Only file: URIs are percent-decoded (Hadoop's Path and java.net.URI do the same), and those of
 * http: and https:, which are written encoded; a key of an object store is taken as it stands.
 */
#include "base/uri.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Length of a scheme that ":/" follows, or 0. */
static size_t scheme_length(str s) {
    size_t i = 0;
    while (i < s.len && (is_alpha(s.ptr[i]) || (i > 0 && (is_digit(s.ptr[i]) || s.ptr[i] == '+' || s.ptr[i] == '-' || s.ptr[i] == '.'))))
        i++;
    return i > 0 && i + 1 < s.len && s.ptr[i] == ':' && s.ptr[i + 1] == '/' ? i : 0;
}

static silt_status invalid(silt_error *err, str text, const char *expected) {
    return err_INVALID_PARAMETER_VALUE(err, STR("location"), text, expected);
}

static silt_status absolute_path(str path, arena *a, str *out, silt_error *err) {
    if (path.ptr[0] != '/') {
        char *folder = getcwd(NULL, 0);
        if (!folder) return error_from_errno(err, errno, "getcwd", path);
        path = path_join(a, str_of(folder), path);
        free(folder);
        if (str_is_null(path)) return error_no_memory(err);
    }
    *out = path_normalize(a, path);
    return str_is_null(*out) ? error_no_memory(err) : SILT_OK;
}

static silt_status lower_case(str s, arena *a, str *out, silt_error *err) {
    char *p = arena_cstr(a, s);
    if (!p) return error_no_memory(err);
    for (size_t i = 0; i < s.len; i++)
        if (p[i] >= 'A' && p[i] <= 'Z') p[i] = (char)(p[i] + 32);
    *out = (str){p, s.len};
    return SILT_OK;
}

silt_status uri_parse(str text, arena *a, uri *out, silt_error *err) {
    if (text.len == 0) return invalid(err, text, "a path or a URI");
    if (str_find_char(text, '\0') != SIZE_MAX) return invalid(err, text, "a path without a NUL byte");
    size_t scheme = scheme_length(text);
    if (scheme == 0) {
        *out = (uri){.scheme = STR("file"), .authority = STR("")};
        return absolute_path(text, a, &out->path, err);
    }
    TRY(lower_case(str_slice(text, 0, scheme), a, &out->scheme, err));
    str rest = str_slice(text, scheme + 1, text.len);
    out->authority = STR("");
    if (str_starts_with(rest, STR("//"))) {
        rest = str_slice(rest, 2, rest.len);
        size_t slash = str_find_char(rest, '/');
        str authority = str_slice(rest, 0, slash == SIZE_MAX ? rest.len : slash);
        rest = slash == SIZE_MAX ? STR("/") : str_slice(rest, slash, rest.len);
        out->authority = arena_str(a, authority);
        if (str_is_null(out->authority)) return error_no_memory(err);
    }
    bool is_http = str_eqz(out->scheme, "http") || str_eqz(out->scheme, "https");
    if (!str_eqz(out->scheme, "file")) {
        out->path = is_http ? uri_decode(rest, a) : arena_str(a, rest);
        return str_is_null(out->path) ? error_no_memory(err) : SILT_OK;
    }
    if (str_eq_ascii_fold(out->authority, STR("localhost"))) out->authority = STR("");
    str decoded = uri_decode(rest, a);
    if (str_is_null(decoded)) return error_no_memory(err);
    if (str_find_char(decoded, '\0') != SIZE_MAX) return invalid(err, text, "a path without a NUL byte");
    return absolute_path(decoded, a, &out->path, err);
}

/* ---- escaping ---- */

static int hex_value(char c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

str uri_decode(str s, arena *a) {
    char *p = arena_cstr(a, s);
    if (!p) return STR_NULL;
    size_t len = 0;
    for (size_t i = 0; i < s.len; i++) {
        int high = s.ptr[i] == '%' && i + 2 < s.len ? hex_value(s.ptr[i + 1]) : -1;
        int low = high >= 0 ? hex_value(s.ptr[i + 2]) : -1;
        if (low >= 0) {
            p[len++] = (char)(high << 4 | low);
            i += 2;
        } else {
            p[len++] = s.ptr[i];
        }
    }
    p[len] = '\0';
    return (str){p, len};
}

str hive_unescape(str s, arena *a) { return uri_decode(s, a); }

static size_t write_escaped(char *out, const char *bytes, size_t n) {
    static const char hex[] = "0123456789ABCDEF";
    for (size_t i = 0; i < n; i++) {
        *out++ = '%';
        *out++ = hex[(unsigned char)bytes[i] >> 4];
        *out++ = hex[(unsigned char)bytes[i] & 15];
    }
    return 3 * n;
}

/* What java.net.URI quotes in a path: beyond ASCII the controls and the space characters; the rest of Unicode stays. */
static bool java_quotes(uint32_t c) {
    if (c < 0x80) return !(is_alpha((char)c) || is_digit((char)c) || (c && strchr("_-!.~'()*:@&=+$,;/", (int)c)));
    return c < 0xa1 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f ||
           c == 0x3000;
}

str uri_encode_path(str s, arena *a) {
    size_t most;
    if (__builtin_mul_overflow(s.len, (size_t)3, &most)) return STR_NULL;
    char *p = arena_alloc(a, most + 1);
    if (!p) return STR_NULL;
    size_t len = 0;
    for (size_t i = 0; i < s.len;) {
        size_t from = i;
        uint32_t c = str_next_codepoint(s, &i);
        bool invalid_byte = c == 0xfffd && i == from + 1;
        if (invalid_byte || java_quotes(c)) {
            len += write_escaped(p + len, s.ptr + from, i - from);
        } else {
            memcpy(p + len, s.ptr + from, i - from);
            len += i - from;
        }
    }
    p[len] = '\0';
    return (str){p, len};
}

str hive_escape(str s, arena *a) {
    size_t most;
    if (__builtin_mul_overflow(s.len, (size_t)3, &most)) return STR_NULL;
    char *p = arena_alloc(a, most + 1);
    if (!p) return STR_NULL;
    size_t len = 0;
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if (c < 0x20 || c == 0x7f || strchr("\"#%'*/:=?\\{[]^", c)) len += write_escaped(p + len, s.ptr + i, 1);
        else p[len++] = s.ptr[i];
    }
    p[len] = '\0';
    return (str){p, len};
}

/* ---- paths ---- */

str path_join(arena *a, str parent, str child) {
    while (parent.len > 0 && parent.ptr[parent.len - 1] == '/') parent.len--;
    while (child.len > 0 && child.ptr[0] == '/') child = str_slice(child, 1, child.len);
    char *p = parent.len <= SIZE_MAX - 2 - child.len ? arena_alloc(a, parent.len + child.len + 2) : NULL;
    if (!p) return STR_NULL;
    if (parent.len) memcpy(p, parent.ptr, parent.len);
    p[parent.len] = '/';
    if (child.len) memcpy(p + parent.len + 1, child.ptr, child.len);
    p[parent.len + 1 + child.len] = '\0';
    return (str){p, parent.len + 1 + child.len};
}

str path_parent(str path) {
    while (path.len > 1 && path.ptr[path.len - 1] == '/') path.len--;
    size_t slash = str_rfind_char(path, '/');
    if (slash == SIZE_MAX) return STR("");
    while (slash > 1 && path.ptr[slash - 1] == '/') slash--;
    return str_slice(path, 0, slash == 0 ? 1 : slash);
}

str path_name(str path) {
    while (path.len > 0 && path.ptr[path.len - 1] == '/') path.len--;
    size_t slash = str_rfind_char(path, '/');
    return slash == SIZE_MAX ? path : str_slice(path, slash + 1, path.len);
}

/* Where the component before `len` in p[0, len) starts; p holds "/a/b" or "a/b" without a slash at the end. */
static size_t last_component(const char *p, size_t len) {
    size_t slash = str_rfind_char((str){p, len}, '/');
    return slash == SIZE_MAX ? 0 : slash + 1;
}

str path_normalize(arena *a, str path) {
    bool absolute = path.len > 0 && path.ptr[0] == '/';
    char *p = arena_alloc(a, path.len + 2);
    if (!p) return STR_NULL;
    size_t root = absolute ? 1 : 0, len = 0;
    if (absolute) p[len++] = '/';
    str rest = path, piece;
    while (str_next(&rest, '/', &piece)) {
        if (piece.len == 0 || str_eq(piece, STR("."))) continue;
        if (str_eq(piece, STR(".."))) {
            size_t from = last_component(p, len);
            bool nothing_to_leave = len == root || str_eq((str){p + from, len - from}, STR(".."));
            if (!nothing_to_leave) {
                len = from > root ? from - 1 : root;
                continue;
            }
            if (absolute) continue; /* "/.." is "/" */
        }
        if (len > root) p[len++] = '/';
        memcpy(p + len, piece.ptr, piece.len);
        len += piece.len;
    }
    if (len == 0) p[len++] = '.';
    p[len] = '\0';
    return (str){p, len};
}
