/*
 * From "hdfs://ns1" to the HTTP addresses of its NameNodes, as Hadoop's own clients read the configuration:
 *
 *   1. silt.hdfs.<authority>.http, a list of addresses or URLs (a gateway's path included), is obeyed alone;
 *   2. a name service with dfs.ha.namenodes.<name>: dfs.namenode.http-address.<name>.<node> of each;
 *   3. an RPC address that the configuration gives to a NameNode: that one's http-address; where it gives none, an http-address on the same host;
 *   4. otherwise the host with the port that Hadoop gives the NameNode's pages, 9870 or 9871 (TLS).
 *
 * 0.0.0.0 in an address is what the server listens on, not where it is: then the host is that of the RPC address.
 */
#include "store/hdfs/hdfs_site.h"

#include <stdio.h>

#define HTTP_PORT    9870
#define HTTPS_PORT   9871
#define SERVICES_MAX 32
#define ROOT         "/webhdfs/v1"

typedef struct resolver {
    const hdfs_conf *c;
    arena *a;
    hdfs_site *out;
    size_t capacity;
    hdfs_kind kind;
    bool tls;
} resolver;

/* A name and a password, if somebody wrote them there, are not said again. */
static silt_status bad_authority(str authority, silt_error *err) {
    size_t at = str_rfind_char(authority, '@');
    if (at != SIZE_MAX) authority = str_slice(authority, at, authority.len);
    return err_INVALID_PARAMETER_VALUE(err, STR("location"), authority, "a host, host:port or name service behind hdfs://");
}

bool hdfs_authority_split(str authority, str *host, int64_t *port) {
    for (size_t i = 0; i < authority.len; i++) {
        unsigned char c = (unsigned char)authority.ptr[i];
        if (c <= ' ' || c >= 0x7f || strchr("/@?#%\\\"<>{}|^`,&", c)) return false;
    }
    size_t bracket = str_rfind_char(authority, ']'), colon = str_rfind_char(authority, ':');
    bool has_port = colon != SIZE_MAX && (bracket == SIZE_MAX || colon > bracket);
    *host = has_port ? str_slice(authority, 0, colon) : authority;
    *port = -1;
    if (host->len == 0 || (host->ptr[0] == '[') != (bracket != SIZE_MAX && bracket == host->len - 1)) return false;
    if (host->ptr[0] != '[' && str_find_char(*host, ':') != SIZE_MAX) return false;
    if (!has_port) return true;
    str digits = str_slice(authority, colon + 1, authority.len);
    return digits.len > 0 && digits.ptr[0] != '+' && str_to_i64(digits, port) && *port > 0 && *port <= 65535;
}

static silt_status add_service(resolver *r, str url, silt_error *err) {
    while (url.len > 0 && url.ptr[url.len - 1] == '/') url.len--;
    str whole = str_ends_with(url, STR(ROOT)) ? arena_str(r->a, url) : arena_printf(r->a, "%.*s" ROOT, STR_ARG(url));
    if (str_is_null(whole)) return error_no_memory(err);
    if (r->out->n_services >= SERVICES_MAX) return err_INVALID_PARAMETER_VALUE(err, STR("NameNodes"), r->out->name, "at most 32 of them");
    return ARENA_PUSH(r->a, r->out->services, r->out->n_services, r->capacity, whole) ? SILT_OK : error_no_memory(err);
}

static silt_status add_host(resolver *r, str host, int64_t port, silt_error *err) {
    if (port < 0) port = r->tls ? HTTPS_PORT : HTTP_PORT;
    str url = arena_printf(r->a, "%s://%.*s:%lld", r->tls ? "https" : "http", STR_ARG(host), (long long)port);
    return str_is_null(url) ? error_no_memory(err) : add_service(r, url, err);
}

/* ---- 1: told outright ---- */

static silt_status add_told(resolver *r, str list, silt_error *err) {
    str rest = list, piece, host;
    int64_t port;
    while (str_next(&rest, ',', &piece)) {
        piece = str_trim(piece);
        if (piece.len == 0) continue;
        if (str_starts_with(piece, STR("http://")) || str_starts_with(piece, STR("https://"))) {
            if (str_find_char(piece, '@') != SIZE_MAX || str_find_char(piece, '?') != SIZE_MAX || str_find_char(piece, ' ') != SIZE_MAX) goto bad;
            TRY(add_service(r, piece, err));
            continue;
        }
        if (!hdfs_authority_split(piece, &host, &port)) goto bad;
        TRY(add_host(r, host, port, err));
    }
    if (r->out->n_services > 0) return SILT_OK;
    piece = list;
bad:
    if (str_find_char(piece, '@') != SIZE_MAX || str_find_char(piece, '?') != SIZE_MAX) piece = STR("…"); /* may hold a secret */
    return err_INVALID_PARAMETER_VALUE(err, STR("silt.hdfs.<authority>.http"), piece, "host:port or a URL without user and query, several separated by commas");
}

static str told(const resolver *r, str authority, str host) {
    str key = arena_printf(r->a, "silt.hdfs.%.*s.http", STR_ARG(authority));
    str value = str_is_null(key) ? key : hdfs_conf_get(r->c, key.ptr);
    if (!str_is_null(value) || host.len == authority.len) return value;
    key = arena_printf(r->a, "silt.hdfs.%.*s.http", STR_ARG(host));
    return str_is_null(key) ? key : hdfs_conf_get(r->c, key.ptr);
}

/* ---- 2 and 3: configured ---- */

static str http_address(const resolver *r, str service, str node) {
    return hdfs_conf_get_of(r->c, r->tls ? "dfs.namenode.https-address" : "dfs.namenode.http-address", service, node);
}

static str rpc_address(const resolver *r, str service, str node) { return hdfs_conf_get_of(r->c, "dfs.namenode.rpc-address", service, node); }

/* The HTTP address of one NameNode; where that is not told, or is a wildcard, its host is taken from `rpc`. */
static silt_status add_node(resolver *r, str http, str rpc, silt_error *err) {
    str host, rpc_host = STR_NULL;
    int64_t port = -1, rpc_port;
    bool has_rpc = rpc.len > 0 && hdfs_authority_split(rpc, &rpc_host, &rpc_port);
    if (http.len > 0 && !hdfs_authority_split(http, &host, &port)) return bad_authority(http, err);
    bool wildcard = http.len > 0 && (str_eqz(host, "0.0.0.0") || str_eqz(host, "[::]"));
    if (http.len == 0 || (wildcard && has_rpc)) {
        if (!has_rpc) return bad_authority(rpc, err);
        host = rpc_host;
    }
    return add_host(r, host, port, err);
}

static silt_status add_nodes(resolver *r, str service, str nodes, silt_error *err) {
    str rest = nodes, node;
    while (str_next(&rest, ',', &node)) {
        node = str_trim(node);
        if (node.len == 0) continue;
        str http = http_address(r, service, node), rpc = rpc_address(r, service, node);
        if (http.len == 0 && rpc.len == 0) {
            silt_status status = err_INVALID_PARAMETER_VALUE(err, STR("dfs.ha.namenodes"), node, "NameNodes whose dfs.namenode.http-address is set");
            return status;
        }
        TRY(add_node(r, http, rpc, err));
    }
    return SILT_OK;
}

/* The NameNode whose RPC address is `authority`, among those of all name services. */
static silt_status add_by_rpc(resolver *r, str authority, silt_error *err) {
    str services = hdfs_conf_get(r->c, "dfs.nameservices"), service, node;
    while (str_next(&services, ',', &service)) {
        service = str_trim(service);
        str nodes = hdfs_conf_get_of(r->c, "dfs.ha.namenodes", service, STR(""));
        str rpc = rpc_address(r, service, STR(""));
        if (str_eq(service, authority) || (rpc.len > 0 && str_eq(rpc, authority)))
            return add_node(r, http_address(r, service, STR("")), rpc.len ? rpc : authority, err);
        while (str_next(&nodes, ',', &node)) {
            node = str_trim(node);
            if (str_eq(rpc_address(r, service, node), authority)) return add_node(r, http_address(r, service, node), authority, err);
        }
    }
    return SILT_OK;
}

/* Is `authority` the one NameNode of a configuration without name services? Where neither its RPC address nor a default file system is told, it is if its pages are on the same host. */
static bool is_the_namenode(const resolver *r, str authority, str host) {
    str rpc = hdfs_conf_get(r->c, "dfs.namenode.rpc-address"), fs = hdfs_conf_get(r->c, "fs.defaultFS"), at;
    int64_t port;
    if (str_eq(rpc, authority)) return true;
    if (rpc.len > 0) return false;
    if (!str_starts_with(fs, STR("hdfs://"))) return hdfs_authority_split(http_address(r, STR(""), STR("")), &at, &port) && str_eq(at, host);
    str rest = str_slice(fs, 7, fs.len);
    return str_next(&rest, '/', &at) && str_eq(at, authority);
}

/* hdfs:///path: the file system of the configuration. */
static str default_authority(const resolver *r) {
    static const char *const prefixes[] = {[HDFS_BY_RPC] = "hdfs://", [HDFS_BY_HTTP] = "webhdfs://", [HDFS_BY_HTTPS] = "swebhdfs://"};
    str fs = hdfs_conf_get(r->c, "fs.defaultFS"), authority, prefix = str_of(prefixes[r->kind]);
    if (str_is_null(fs)) fs = hdfs_conf_get(r->c, "fs.default.name");
    if (!str_starts_with(fs, prefix)) return STR_NULL;
    str rest = str_slice(fs, prefix.len, fs.len);
    return str_next(&rest, '/', &authority) ? authority : STR_NULL;
}

static silt_status resolve(resolver *r, str authority, silt_error *err) {
    str host;
    int64_t port;
    if (!hdfs_authority_split(authority, &host, &port)) return bad_authority(authority, err);
    str list = told(r, authority, host), nodes = hdfs_conf_get_of(r->c, "dfs.ha.namenodes", authority, STR(""));
    if (!str_is_null(list)) return add_told(r, list, err);
    if (nodes.len > 0) return add_nodes(r, authority, nodes, err);
    if (r->kind != HDFS_BY_RPC) return add_host(r, host, port, err);
    TRY(add_by_rpc(r, authority, err));
    if (r->out->n_services > 0) return SILT_OK;
    if (is_the_namenode(r, authority, host)) return add_node(r, http_address(r, STR(""), STR("")), authority, err);
    return add_host(r, host, -1, err);
}

silt_status hdfs_site_services(hdfs_kind kind, str authority, const hdfs_conf *c, arena *a, hdfs_site *out, silt_error *err) {
    static const char *const schemes[] = {[HDFS_BY_RPC] = "hdfs", [HDFS_BY_HTTP] = "webhdfs", [HDFS_BY_HTTPS] = "swebhdfs"};
    resolver r = {.c = c, .a = a, .out = out, .kind = kind};
    r.tls = kind == HDFS_BY_HTTPS || (kind == HDFS_BY_RPC && str_eq_ascii_fold(hdfs_conf_get(c, "dfs.http.policy"), STR("HTTPS_ONLY")));
    if (authority.len == 0) authority = default_authority(&r);
    if (authority.len == 0) return err_HDFS_NO_NAMENODE(err, str_of(schemes[kind]));
    out->name = arena_printf(a, "%s://%.*s", schemes[kind], STR_ARG(authority));
    return str_is_null(out->name) ? error_no_memory(err) : resolve(&r, authority, err);
}

/* ---- how new files are made ---- */

/* One class of "u=rwx,g=rx,o=": the bits that stay. */
static bool symbolic_bits(str text, unsigned *out) {
    *out = 0;
    for (size_t i = 0; i < text.len; i++) {
        const char *at = strchr("xwr", text.ptr[i]);
        if (text.ptr[i] == '-') continue;
        if (!at || text.ptr[i] == '\0') return false;
        *out |= 1u << (at - "xwr");
    }
    return true;
}

static bool symbolic_umask(str text, unsigned *out) {
    unsigned mask = 022, bits;
    str part;
    while (str_next(&text, ',', &part)) {
        part = str_trim(part);
        size_t equals = str_find_char(part, '=');
        if (equals == SIZE_MAX || equals == 0 || !symbolic_bits(str_slice(part, equals + 1, part.len), &bits)) return false;
        for (size_t i = 0; i < equals; i++) {
            const char *who = strchr("ogu", part.ptr[i]);
            bool all = part.ptr[i] == 'a';
            if (!all && (!who || part.ptr[i] == '\0')) return false;
            for (int c = 0; c < 3; c++)
                if (all || c == who - "ogu") mask = (mask & ~(7u << (3 * c))) | ((7u & ~bits) << (3 * c));
        }
    }
    *out = mask;
    return true;
}

bool hdfs_umask_parse(str text, unsigned *out) {
    unsigned mask = 0;
    text = str_trim(text);
    if (text.len == 0) return false;
    if (str_find_char(text, '=') != SIZE_MAX) return symbolic_umask(text, out);
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '7') return false;
        mask = mask * 8 + (unsigned)(text.ptr[i] - '0');
        if (mask > 01777) return false;
    }
    *out = mask & 0777;
    return true;
}

/* "128m" as Hadoop writes sizes. */
static bool parse_size(str text, int64_t *out) {
    static const char units[] = "kmgtpe";
    int64_t factor = 1, n;
    text = str_trim(text);
    const char *unit = text.len ? strchr(units, text.ptr[text.len - 1] | 0x20) : NULL;
    if (unit && *unit) {
        factor = INT64_C(1) << (10 * (unit - units + 1));
        text.len--;
    }
    return str_to_i64(text, &n) && n > 0 && n <= INT64_MAX / factor && (*out = n * factor, true);
}

static silt_status file_settings(const hdfs_conf *c, arena *a, hdfs_site *out, silt_error *err) {
    str block = hdfs_conf_get(c, "dfs.blocksize"), copies = hdfs_conf_get(c, "dfs.replication"), umask = hdfs_conf_get(c, "fs.permissions.umask-mode");
    int64_t block_size, replication;
    unsigned mask;
    buf file;
    out->file_params = out->folder_params = STR("");
    buf_init(&file, 1000);
    if (!str_is_null(block) && !parse_size(block, &block_size))
        return err_INVALID_PARAMETER_VALUE(err, STR("dfs.blocksize"), block, "a number of bytes, or one with k, m, g");
    if (!str_is_null(copies) && (!str_to_i64(copies, &replication) || replication < 1 || replication > 32767))
        return err_INVALID_PARAMETER_VALUE(err, STR("dfs.replication"), copies, "a number of copies");
    if (!str_is_null(umask) && !hdfs_umask_parse(umask, &mask))
        return err_INVALID_PARAMETER_VALUE(err, STR("fs.permissions.umask-mode"), umask, "022 or u=rwx,g=rx,o=rx");
    if (!str_is_null(block)) buf_printf(&file, "&blocksize=%lld", (long long)block_size);
    if (!str_is_null(copies)) buf_printf(&file, "&replication=%lld", (long long)replication);
    if (!str_is_null(umask)) {
        buf_printf(&file, "&permission=%o&unmaskedpermission=666", 0666 & ~mask);
        out->folder_params = arena_printf(a, "&permission=%o&unmaskedpermission=777", 0777 & ~mask);
    }
    out->file_params = buf_take(&file, a);
    return !str_is_null(out->file_params) && !str_is_null(out->folder_params) ? SILT_OK : error_no_memory(err);
}

static int64_t number(const hdfs_conf *c, const char *key, int64_t absent, int64_t max) {
    str text = hdfs_conf_get(c, key);
    int64_t n;
    return !str_is_null(text) && str_to_i64(str_trim(text), &n) && n > 0 && n <= max ? n : absent;
}

static silt_status copy_text(arena *a, str text, str *out, silt_error *err) {
    *out = str_is_null(text) ? STR_NULL : arena_str(a, text);
    return str_is_null(*out) && !str_is_null(text) ? error_no_memory(err) : SILT_OK;
}

/* Requests go once through the client and are repeated here, over the NameNodes there are. */
static silt_status http_settings(const hdfs_conf *c, arena *a, hdfs_site *out, silt_error *err) {
    bool ha = out->n_services > 1;
    out->attempts = (int)number(c, "silt.hdfs.retry.attempts", ha ? 15 : 8, 1000);
    out->first_wait_ms = number(c, "silt.hdfs.retry.firstWaitMs", ha ? 200 : 50, 60000);
    out->max_wait_ms = number(c, "silt.hdfs.retry.maxWaitMs", 10000, 600000);
    out->http = (http_options){.max_connections = (int)number(c, "silt.hdfs.connections", 32, 1000),
                               .max_attempts = 1,
                               .connect_timeout_ms = number(c, "silt.hdfs.connectTimeoutMs", 0, 3600000),
                               .stall_timeout_ms = number(c, "silt.hdfs.stallTimeoutMs", 60000, 3600000)};
    TRY(copy_text(a, hdfs_conf_get(c, "silt.hdfs.caFile"), &out->http.ca_file, err));
    return copy_text(a, hdfs_conf_get(c, "silt.hdfs.proxy"), &out->http.proxy, err);
}

silt_status hdfs_site_resolve(hdfs_kind kind, str authority, const hdfs_conf *c, arena *a, hdfs_site *out, silt_error *err) {
    *out = (hdfs_site){.login = STR("")};
    TRY(hdfs_site_services(kind, authority, c, a, out, err));
    TRY(hdfs_site_login(str_slice(out->name, str_find(out->name, STR("://")) + 3, out->name.len), c, a, out, err));
    TRY(file_settings(c, a, out, err));
    return http_settings(c, a, out, err);
}
