/*
 * Reading: OPEN at the NameNode, which redirects to a DataNode that holds the block; HttpFS answers with the bytes at once.
 *
 * Any DataNode serves any file, by asking others for what it does not hold. Small reads (the log's files) therefore go straight to the DataNode of the last redirect, which
 * halves their round trips; large ones ask the NameNode, so that bytes come from where they are. A DataNode that fails is left out of the next try.
 */
#include <stdlib.h>

#include "base/time.h"
#include "base/uri.h"
#include "store/hdfs/hdfs.h"

#define SHORT_CUT_BYTES  ((int64_t)1 << 20) /* at most so many from a DataNode that may not hold them */
#define SHORT_CUT_MS     30000              /* and from the same one for so long */
#define FAULTS_MAX       4                  /* exceptions of DataNodes before one is believed */

/* ---- where bytes go ---- */

typedef struct into_buf {
    buf *out;
    size_t base; /* what was in it before */
} into_buf;

static silt_status append(void *ctx, int64_t offset, str bytes, silt_error *err) {
    into_buf *into = ctx;
    into->out->len = into->base + (size_t)offset;
    if (into->out->len > into->out->max || bytes.len > into->out->max - into->out->len || !buf_reserve(into->out, bytes.len)) {
        into->out->len = into->base;
        return error_no_memory(err);
    }
    buf_append(into->out, bytes);
    return SILT_OK;
}

/* ---- the short cut ---- */

/* What of the redirect's query is not about this one request. */
static bool keep_query(str query, buf *out) {
    str part;
    while (str_next(&query, '&', &part)) {
        if (str_starts_with(part, STR("op=")) || str_starts_with(part, STR("offset=")) || str_starts_with(part, STR("length="))) continue;
        buf_append_char(out, '&');
        buf_append(out, part);
    }
    return buf_ok(out);
}

static void remember(hdfs_store *s, str location) {
    size_t root = str_find(location, STR("/webhdfs/v1/")), question = str_find_char(location, '?');
    buf query;
    if (root == SIZE_MAX || question == SIZE_MAX || question < root) return;
    buf_init(&query, 16384);
    bool ok = keep_query(str_slice(location, question + 1, location.len), &query);
    char *node = strndup(location.ptr, root + strlen("/webhdfs/v1")), *rest = ok ? strndup(buf_str(&query).ptr, query.len) : NULL;
    buf_dispose(&query);
    pthread_mutex_lock(&s->lock);
    free(s->data_node);
    free(s->data_query);
    s->data_node = node && rest ? node : NULL;
    s->data_query = node && rest ? rest : NULL;
    s->data_node_until_ms = time_monotonic_ms() + SHORT_CUT_MS;
    if (!s->data_node) {
        free(node);
        free(rest);
    }
    pthread_mutex_unlock(&s->lock);
}

static void forget(hdfs_store *s) {
    pthread_mutex_lock(&s->lock);
    s->data_node_until_ms = 0;
    pthread_mutex_unlock(&s->lock);
}

/* Null: none is known. */
static str short_cut(hdfs_store *s, str path, str params, arena *a) {
    str encoded = http_encode(path, true, a), url = STR_NULL;
    pthread_mutex_lock(&s->lock);
    if (!str_is_null(encoded) && s->data_node && time_monotonic_ms() < s->data_node_until_ms)
        url = arena_printf(a, "%s%.*s?op=OPEN%s%.*s", s->data_node, STR_ARG(encoded), s->data_query, STR_ARG(params));
    pthread_mutex_unlock(&s->lock);
    return url;
}

/* ---- one read ---- */

typedef struct reading {
    hdfs_store *s;
    str path;
    int64_t offset, length; /* length < 0: to the end */
    silt_status (*sink)(void *ctx, int64_t offset, str bytes, silt_error *err);
    void *sink_ctx;
    arena *a;
    bool may_short_cut;
    str excluded; /* the host of a DataNode that failed */
} reading;

static str range_params(const reading *r) {
    str from = r->offset > 0 ? arena_printf(r->a, "&offset=%lld", (long long)r->offset) : STR("");
    str length = r->length >= 0 ? arena_printf(r->a, "&length=%lld", (long long)r->length) : STR("");
    return arena_printf(r->a, "%.*s%.*s", STR_ARG(from), STR_ARG(length));
}

static http_request data_request(const reading *r) {
    return (http_request){.method = "GET", .repeatable = true, .sink = r->sink, .sink_ctx = r->sink_ctx, .what = "reading"};
}

/* 1: read; 0: the NameNode is to be asked. */
static int try_short_cut(reading *r, silt_status *out, silt_error *err) {
    hdfs_answer answer;
    http_request request = data_request(r);
    str params = range_params(r), url = r->may_short_cut && !str_is_null(params) ? short_cut(r->s, r->path, params, r->a) : STR_NULL;
    if (str_is_null(url)) return 0;
    *out = hdfs_send_to(r->s, url, &request, r->a, &answer, err);
    if (*out == SILT_OK && answer.status == 200) return 1;
    if (*out == SILT_OK && hdfs_is(&answer, "FileNotFoundException")) {
        *out = hdfs_failure(r->s, &answer, "reading", r->path, err);
        return 1;
    }
    if (*out == SILT_NO_MEMORY || *out == SILT_CANCELLED) return 1;
    forget(r->s);
    return 0;
}

/* One try by the NameNode. SILT_OK: *out is an answer. *out_host: the DataNode, "" where it was not its turn. */
static silt_status by_namenode(reading *r, hdfs_answer *out, str *out_host, silt_error *err) {
    str range = range_params(r);
    str without = r->excluded.len ? arena_printf(r->a, "&excludedatanodes=%.*s", STR_ARG(http_encode(r->excluded, false, r->a))) : STR("");
    str params = arena_printf(r->a, "%.*s%.*s", STR_ARG(range), STR_ARG(without));
    if (str_is_null(range) || str_is_null(without) || str_is_null(params)) return error_no_memory(err);
    const hdfs_request open = {.method = "GET", .op = "OPEN", .path = r->path, .params = params, .repeatable = true, .what = "reading", .sink = r->sink, .sink_ctx = r->sink_ctx};
    *out_host = STR("");
    TRY(hdfs_call(r->s, &open, r->a, out, err));
    if (str_is_null(out->location)) return SILT_OK;
    http_request request = data_request(r);
    str location = out->location;
    *out_host = hdfs_host_of(location);
    TRY(hdfs_send_to(r->s, location, &request, r->a, out, err));
    if (out->status == 200) remember(r->s, location);
    return SILT_OK;
}

static bool is_beyond_the_end(const hdfs_answer *a) {
    return str_find(a->message, STR("out of the range")) != SIZE_MAX || str_find(a->message, STR("Cannot seek after EOF")) != SIZE_MAX;
}

/* Nothing better comes of asking again. */
static bool is_final(const hdfs_answer *a, str host) {
    if (hdfs_is_elsewhere(a)) return false;
    return host.len == 0 || hdfs_is(a, "FileNotFoundException") || hdfs_is(a, "AccessControlException") || hdfs_is(a, "InvalidToken") || a->status == 401;
}

typedef enum next_step { READ_DONE, READ_AGAIN } next_step;

/* What an exception of HDFS means for this read. */
static next_step judge_answer(reading *r, const hdfs_answer *answer, str host, int *faults, silt_status *out, silt_error *err) {
    bool none_other = r->excluded.len > 0 && host.len == 0 && hdfs_is(answer, "IOException");
    r->excluded = STR("");
    if (is_beyond_the_end(answer)) return *out = SILT_OK, READ_DONE;
    *out = hdfs_failure_to_find(r->s, answer, "reading", r->path, err);
    if (none_other) return READ_AGAIN; /* no other DataNode holds it */
    return is_final(answer, host) || ++*faults >= FAULTS_MAX ? READ_DONE : READ_AGAIN;
}

/* A connection that failed: the NameNodes' was tried often enough, a DataNode is left out of the next try. */
static next_step judge_failure(reading *r, str host, silt_status status, const silt_error *why, silt_status *out, silt_error *err) {
    str name;
    int64_t port;
    *out = status;
    if (err) *err = *why;
    if (status != SILT_IO || host.len == 0 || strcmp(why->condition, "HTTP_REQUEST_FAILED") != 0) return READ_DONE;
    *out = err_HDFS_DATANODE_UNREACHABLE(err, host, r->path);
    error_detail(err, "%s: %s", why->message, why->detail);
    r->excluded = hdfs_authority_split(host, &name, &port) ? name : STR("");
    return READ_AGAIN;
}

static silt_status read_file(reading *r, silt_error *err) {
    hdfs_answer answer;
    silt_status status = SILT_OK;
    int faults = 0;
    str host;
    if (try_short_cut(r, &status, err)) return status;
    for (int i = 1; i <= r->s->site.attempts; i++) {
        silt_error why = {.status = SILT_OK};
        next_step next;
        if (i > 1) hdfs_wait(r->s, i);
        TRY(r->sink(r->sink_ctx, 0, STR(""), err)); /* what a broken try left is forgotten */
        silt_status tried = by_namenode(r, &answer, &host, &why);
        if (tried == SILT_OK && answer.status == 200) return SILT_OK;
        if (tried == SILT_OK) next = judge_answer(r, &answer, host, &faults, &status, err);
        else next = judge_failure(r, host, tried, &why, &status, err);
        if (next == READ_DONE) return status;
    }
    return status;
}

/* ---- the slots ---- */

static silt_status read_in(reading *r, silt_error *err) {
    r->a = arena_new();
    if (!r->a) return error_no_memory(err);
    silt_status status = read_file(r, err);
    arena_free(r->a);
    return status;
}

/* Nothing is wanted: is it there? */
static silt_status read_nothing(hdfs_store *s, str path, silt_error *err) {
    arena *a = arena_new();
    store_entry e;
    silt_status status = a ? hdfs_stat(&s->base, path, a, &e, err) : error_no_memory(err);
    if (status == SILT_OK && e.is_dir) status = store_path_error(&s->base, path, err_FILE_NOT_FOUND, err);
    arena_free(a);
    return status;
}

silt_status hdfs_read(store *base, str path, int64_t offset, int64_t length, buf *out, silt_error *err) {
    hdfs_store *s = (hdfs_store *)base;
    into_buf into = {out, out->len};
    TRY(hdfs_check_path(path, err));
    if (length == 0) return read_nothing(s, path, err);
    if (length > INT64_MAX - offset) length = -1;
    reading r = {.s = s, .path = path, .offset = offset, .length = length, .sink = append, .sink_ctx = &into, .excluded = STR("")};
    r.may_short_cut = length <= SHORT_CUT_BYTES;
    silt_status status = read_in(&r, err);
    if (status != SILT_OK) out->len = into.base;
    return status;
}

silt_status hdfs_read_to(hdfs_store *s, str path, silt_status (*sink)(void *, int64_t, str, silt_error *), void *ctx, silt_error *err) {
    reading r = {.s = s, .path = path, .length = -1, .sink = sink, .sink_ctx = ctx, .excluded = STR("")};
    TRY(hdfs_check_path(path, err));
    return read_in(&r, err);
}
