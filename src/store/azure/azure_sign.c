/* Shared Key: the string to sign and its signature. Source: Microsoft, "Authorize with Shared Key", sections on Blob storage. */
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>

#include "base/ident.h"
#include "base/uri.h"
#include "store/azure/azure.h"

static str header_of(const http_header *headers, size_t n, const char *name) {
    for (size_t i = 0; i < n; i++)
        if (str_eq_ascii_fold(headers[i].name, str_of(name))) return headers[i].value;
    return STR("");
}

typedef struct pair {
    str name, value;
} pair;

static int compare_pairs(const void *x, const void *y) {
    const pair *p = x, *q = y;
    int c = str_cmp(p->name, q->name);
    return c ? c : str_cmp(p->value, q->value);
}

/* Every x-ms- header, names in lower case and ascending. */
static void write_headers(buf *out, const http_header *headers, size_t n, arena *a) {
    pair *pairs = ARENA_ARRAY(a, n + 1, pair);
    size_t count = 0;
    for (size_t i = 0; pairs && i < n; i++) {
        str name = arena_str_lower(a, headers[i].name);
        if (str_starts_with(name, STR("x-ms-"))) pairs[count++] = (pair){name, str_trim(headers[i].value)};
    }
    if (!pairs) out->failed = true;
    if (count > 1) qsort(pairs, count, sizeof *pairs, compare_pairs);
    for (size_t i = 0; i < count; i++) {
        buf_append(out, pairs[i].name);
        buf_append_char(out, ':');
        buf_append(out, pairs[i].value);
        buf_append_char(out, '\n');
    }
}

/* The path behind the host, and the query behind '?'. */
static void split_url(str url, str *out_path, str *out_query) {
    size_t scheme = str_find(url, STR("://"));
    str rest = scheme == SIZE_MAX ? url : str_slice(url, scheme + 3, url.len);
    size_t query = str_find_char(rest, '?');
    *out_query = query == SIZE_MAX ? STR_NULL : str_slice(rest, query + 1, rest.len);
    if (query != SIZE_MAX) rest = str_slice(rest, 0, query);
    size_t slash = str_find_char(rest, '/');
    *out_path = slash == SIZE_MAX ? STR("/") : str_slice(rest, slash, rest.len);
}

/* Parameters decoded, names in lower case and ascending; the values of one name in one line. */
static void write_query(buf *out, str query, arena *a) {
    pair *pairs = NULL;
    size_t count = 0, capacity = 0;
    str piece;
    while (str_next(&query, '&', &piece)) {
        size_t equals = str_find_char(piece, '=');
        str name = equals == SIZE_MAX ? piece : str_slice(piece, 0, equals), value = equals == SIZE_MAX ? STR("") : str_slice(piece, equals + 1, piece.len);
        pair p = {arena_str_lower(a, uri_decode(name, a)), uri_decode(value, a)};
        if (piece.len > 0 && !ARENA_PUSH(a, pairs, count, capacity, p)) out->failed = true;
    }
    if (count > 1) qsort(pairs, count, sizeof *pairs, compare_pairs);
    for (size_t i = 0; i < count; i++) {
        bool same = i > 0 && str_eq(pairs[i].name, pairs[i - 1].name);
        buf_append_char(out, same ? ',' : '\n');
        if (!same) {
            buf_append(out, pairs[i].name);
            buf_append_char(out, ':');
        }
        buf_append(out, pairs[i].value);
    }
}

void azure_string_to_sign(buf *out, str account, const char *method, str url, const http_header *headers, size_t n_headers, int64_t content_length, arena *a) {
    static const char *const after_length[] = {"Content-MD5", "Content-Type", "Date", "If-Modified-Since", "If-Match", "If-None-Match", "If-Unmodified-Since", "Range"};
    bool dated = header_of(headers, n_headers, "x-ms-date").len > 0; /* then it stands for Date */
    str path, query;
    buf_append_z(out, method);
    buf_append_char(out, '\n');
    buf_append(out, header_of(headers, n_headers, "Content-Encoding"));
    buf_append_char(out, '\n');
    buf_append(out, header_of(headers, n_headers, "Content-Language"));
    buf_append_char(out, '\n');
    if (content_length > 0) buf_append_i64(out, content_length); /* zero is empty since version 2015-02-21 */
    buf_append_char(out, '\n');
    for (size_t i = 0; i < ARRAY_LEN(after_length); i++) {
        bool left_out = dated && strcmp(after_length[i], "Date") == 0;
        if (!left_out) buf_append(out, header_of(headers, n_headers, after_length[i]));
        buf_append_char(out, '\n');
    }
    write_headers(out, headers, n_headers, a);
    split_url(url, &path, &query);
    buf_append_char(out, '/');
    buf_append(out, account);
    buf_append(out, path);
    write_query(out, query, a);
}

str azure_signature(str key, str text, arena *a) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    buf b;
    if (!HMAC(EVP_sha256(), key.ptr, (int)key.len, (const unsigned char *)text.ptr, text.len, digest, &length)) return STR_NULL;
    buf_init(&b, 256);
    base64_write(&b, digest, length);
    return buf_take(&b, a);
}
