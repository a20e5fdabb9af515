/*
 * As whom an HDFS is asked. WebHDFS takes a delegation token in the query, or the authentication of SPNEGO, or, on a cluster without security, whatever name the query
 * gives. Tokens stand only in the end of URLs, which no error and no log holds.
 *
 * Hadoop's credentials file: "HDTS", a version, then for version 0 a count of (alias, token), where a token is identifier, password (counted bytes), kind and
 * service (counted text), counts in Hadoop's variable-length form. What WebHDFS calls a token is that same form in URL-safe base64 without padding.
 */
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/ident.h"
#include "store/hdfs/hdfs_site.h"

#define TOKEN_FILE_BYTES_MAX (4 << 20)

/* ---- the credentials file ---- */

typedef struct reader {
    str rest;
    bool bad;
} reader;

static unsigned char next_byte(reader *r) {
    if (r->rest.len == 0) {
        r->bad = true;
        return 0;
    }
    unsigned char c = (unsigned char)r->rest.ptr[0];
    r->rest = str_slice(r->rest, 1, r->rest.len);
    return c;
}

/* WritableUtils.readVInt: one byte from -112 to 127 is the number; below, it tells sign and how many bytes follow. */
static size_t next_count(reader *r) {
    int first = (signed char)next_byte(r);
    uint64_t n = 0;
    if (first >= 0) return (size_t)first;
    if (first >= -112 || first < -120) { /* negative numbers are no counts */
        r->bad = true;
        return 0;
    }
    for (int left = -112 - first; left > 0; left--) n = n << 8 | next_byte(r);
    if (n > SIZE_MAX / 2) r->bad = true;
    return r->bad ? 0 : (size_t)n;
}

static str next_bytes(reader *r) {
    size_t n = next_count(r);
    if (n > r->rest.len) r->bad = true;
    if (r->bad) return STR("");
    str bytes = str_slice(r->rest, 0, n);
    r->rest = str_slice(r->rest, n, r->rest.len);
    return bytes;
}

static str url_safe(str bytes, arena *a) {
    buf b;
    buf_init(&b, TOKEN_FILE_BYTES_MAX * 2);
    base64_write(&b, (const uint8_t *)bytes.ptr, bytes.len);
    for (size_t i = 0; i < b.len; i++) b.ptr[i] = b.ptr[i] == '+' ? '-' : b.ptr[i] == '/' ? '_' : b.ptr[i];
    while (b.len > 0 && b.ptr[b.len - 1] == '=') b.len--;
    return buf_take(&b, a);
}

static bool is_of_hdfs(str kind) { return str_eqz(kind, "HDFS_DELEGATION_TOKEN") || str_eqz(kind, "WEBHDFS delegation") || str_eqz(kind, "SWEBHDFS delegation"); }

/* "ha-hdfs:ns1" names a name service, "10.0.0.1:8020" a server. */
static bool is_for(str token_service, str service) {
    if (str_starts_with(token_service, STR("ha-"))) {
        size_t colon = str_find_char(token_service, ':');
        if (colon != SIZE_MAX) token_service = str_slice(token_service, colon + 1, token_service.len);
    }
    return str_eq(token_service, service);
}

str hdfs_token_find(str file, str service, arena *a) {
    reader r = {.rest = file};
    str found = STR_NULL;
    if (!str_starts_with(file, STR("HDTS"))) return STR_NULL;
    r.rest = str_slice(file, 4, file.len);
    if (next_byte(&r) != 0) return STR_NULL;
    for (size_t n = next_count(&r); n > 0 && !r.bad; n--) {
        (void)next_bytes(&r); /* its alias */
        const char *from = r.rest.ptr;
        (void)next_bytes(&r); /* identifier */
        (void)next_bytes(&r); /* password */
        str kind = next_bytes(&r), token_service = next_bytes(&r);
        if (r.bad || !is_of_hdfs(kind)) continue;
        str token = {from, (size_t)(r.rest.ptr - from)};
        if (is_for(token_service, service)) return url_safe(token, a);
        if (str_is_null(found)) found = token;
    }
    return str_is_null(found) ? found : url_safe(found, a);
}

static silt_status read_token_file(str path, str service, arena *a, str *out, silt_error *err) {
    char block[4096];
    buf bytes;
    ssize_t n = 0;
    *out = STR_NULL;
    const char *z = arena_cstr(a, path);
    int fd = z ? open(z, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (fd < 0) return z ? error_from_errno(err, errno, "open", path) : error_no_memory(err);
    buf_init(&bytes, TOKEN_FILE_BYTES_MAX);
    while ((n = read(fd, block, sizeof block)) > 0 || (n < 0 && errno == EINTR))
        if (n > 0) buf_append_bytes(&bytes, block, (size_t)n);
    silt_status status = n < 0 ? error_from_errno(err, errno, "read", path) : SILT_OK;
    if (status == SILT_OK) *out = hdfs_token_find(buf_str(&bytes), service, a);
    close(fd);
    buf_dispose(&bytes);
    return status;
}

/* ---- which ---- */

static str told_token(str authority, const hdfs_conf *c, arena *a) {
    str key = arena_printf(a, "silt.hdfs.%.*s.token", STR_ARG(authority));
    str token = str_is_null(key) ? key : hdfs_conf_get(c, key.ptr);
    if (str_is_null(token)) token = hdfs_conf_get(c, "silt.hdfs.token");
    return str_is_null(token) ? str_of(getenv("HADOOP_TOKEN")) : token;
}

static silt_status find_token(str authority, const hdfs_conf *c, arena *a, str *out, silt_error *err) {
    *out = str_trim(told_token(authority, c, a));
    if (out->len > 0) return SILT_OK;
    str files[2] = {hdfs_conf_get(c, "hadoop.token.files"), str_of(getenv("HADOOP_TOKEN_FILE_LOCATION"))}, path;
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        while (str_next(&files[i], ',', &path)) {
            TRY(read_token_file(str_trim(path), authority, a, out, err));
            if (out->len > 0) return SILT_OK;
        }
    return SILT_OK;
}

static str login_name(arena *a) {
    char text[4096];
    struct passwd p, *found = NULL;
    if (getpwuid_r(geteuid(), &p, text, sizeof text, &found) == 0 && found) return arena_str(a, str_of(p.pw_name));
    const char *user = getenv("USER");
    return arena_str(a, str_of(user && *user ? user : "silt"));
}

static str user_name(const hdfs_conf *c, arena *a) {
    str user = str_trim(hdfs_conf_get(c, "silt.hdfs.user"));
    if (user.len == 0) user = str_of(getenv("HADOOP_USER_NAME"));
    return user.len == 0 ? login_name(a) : user;
}

silt_status hdfs_site_login(str authority, const hdfs_conf *c, arena *a, hdfs_site *out, silt_error *err) {
    str token, do_as = str_of(getenv("HADOOP_PROXY_USER"));
    TRY(find_token(authority, c, a, &token, err));
    out->negotiate = token.len == 0 && str_eq_ascii_fold(str_trim(hdfs_conf_get(c, "hadoop.security.authentication")), STR("kerberos"));
    if (token.len > 0) {
        out->login = arena_printf(a, "&delegation=%.*s", STR_ARG(http_encode(token, false, a)));
        return str_is_null(out->login) ? error_no_memory(err) : SILT_OK;
    }
    str name = out->negotiate ? STR("") : arena_printf(a, "&user.name=%.*s", STR_ARG(http_encode(user_name(c, a), false, a)));
    str as = do_as.len ? arena_printf(a, "&doas=%.*s", STR_ARG(http_encode(do_as, false, a))) : STR("");
    out->login = arena_printf(a, "%.*s%.*s", STR_ARG(name), STR_ARG(as));
    return str_is_null(name) || str_is_null(as) || str_is_null(out->login) ? error_no_memory(err) : SILT_OK;
}
