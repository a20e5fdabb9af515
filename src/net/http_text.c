/* Texts of HTTP: a header looked up, percent-encoding. */
#include "net/http.h"

str http_header_get(const http_response *r, const char *name) {
    for (size_t i = 0; i < r->n_headers; i++)
        if (str_eqz(r->headers[i].name, name)) return r->headers[i].value;
    return STR_NULL;
}

static bool is_unreserved(unsigned char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~';
}

str http_encode(str s, bool keep_slash, arena *a) {
    static const char digits[] = "0123456789ABCDEF";
    char *out = arena_alloc(a, s.len * 3 + 1), *p = out;
    if (!out) return STR_NULL;
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if (is_unreserved(c) || (c == '/' && keep_slash)) {
            *p++ = (char)c;
        } else {
            *p++ = '%';
            *p++ = digits[c >> 4];
            *p++ = digits[c & 15];
        }
    }
    *p = '\0';
    return (str){out, (size_t)(p - out)};
}
