/* One handler, under the server's lock. Only what the tests ask of it. Source: the S3, STS and DynamoDB API references. */
#include "fake_s3.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/time.h"
#include "base/uri.h"
#include "store/object/object_store.h"

#define BUCKET "bucket"

/* ---- objects ---- */

fake_object *fake_s3_find(fake_s3 *f, const char *key) {
    for (int i = 0; i < f->n_objects; i++)
        if (strcmp(f->objects[i].key, key) == 0) return &f->objects[i];
    return NULL;
}

static void set(fake_s3 *f, const char *key, str bytes) {
    fake_object *o = fake_s3_find(f, key);
    if (!o) {
        int at = 0;
        if (f->n_objects == 256) abort();
        while (at < f->n_objects && strcmp(f->objects[at].key, key) < 0) at++;
        memmove(&f->objects[at + 1], &f->objects[at], (size_t)(f->n_objects - at) * sizeof f->objects[0]);
        f->n_objects++;
        o = &f->objects[at];
        snprintf(o->key, sizeof o->key, "%s", key);
        buf_init(&o->bytes, BUF_MAX_DEFAULT);
    }
    buf_clear(&o->bytes);
    buf_append(&o->bytes, bytes);
}

void fake_s3_set(fake_s3 *f, const char *key, const char *bytes) { set(f, key, str_of(bytes)); }

static void drop(fake_s3 *f, const char *key) {
    fake_object *o = fake_s3_find(f, key);
    if (!o) return;
    buf_dispose(&o->bytes);
    memmove(o, o + 1, (size_t)(&f->objects[f->n_objects] - (o + 1)) * sizeof *o);
    f->n_objects--;
}

/* ---- answers ---- */

typedef struct exchange {
    fake_s3 *f;
    const tiny_request *q;
    tiny_answer *a;
    arena *arena;
    str key, query;
} exchange;

static void fault(exchange *x, int status, const char *code, const char *more) {
    x->a->status = status;
    buf_clear(&x->a->body);
    buf_printf(&x->a->body, "<?xml version=\"1.0\"?>\n<Error><Code>%s</Code><Message>no secret here</Message>%s</Error>", code, more);
}

static void add_header(exchange *x, const char *line) { x->a->headers = arena_printf(x->arena, "%.*s%s\r\n", STR_ARG(x->a->headers), line); }

static str parameter(exchange *x, const char *name) {
    str rest = x->query, piece;
    while (str_next(&rest, '&', &piece)) {
        size_t equals = str_find_char(piece, '=');
        if (equals != SIZE_MAX && str_eqz(str_slice(piece, 0, equals), name)) return uri_decode(str_slice(piece, equals + 1, piece.len), x->arena);
    }
    return STR_NULL;
}

static bool has_parameter(exchange *x, const char *name) { return !str_is_null(parameter(x, name)); }

static const char *key_z(exchange *x) { return arena_cstr(x->arena, x->key); }

/* ---- who asks ---- */

static bool is_refused(exchange *x) {
    fake_s3 *f = x->f;
    str authorization = tiny_header(x->q, "authorization"), date = tiny_header(x->q, "x-amz-date");
    if (f->refusal) {
        int status = atoi(f->refusal);
        if (f->refusal[3] == ' ' && !str_eqz(x->q->method, "HEAD")) fault(x, status, f->refusal + 4, "");
        x->a->status = status;
        return true;
    }
    if (f->old_token && str_eqz(tiny_header(x->q, "x-amz-security-token"), f->old_token)) return fault(x, 400, "ExpiredToken", ""), true;
    if (f->region && str_find(authorization, arena_printf(x->arena, "/%s/s3/", f->region)) == SIZE_MAX) {
        char more[128];
        snprintf(more, sizeof more, "<Region>%s</Region>", f->region);
        return fault(x, 400, "AuthorizationHeaderMalformed", more), true;
    }
    if (f->redirect_region && str_find(authorization, arena_printf(x->arena, "/%s/s3/", f->redirect_region)) == SIZE_MAX) {
        char line[128];
        snprintf(line, sizeof line, "x-amz-bucket-region: %s", f->redirect_region);
        add_header(x, line);
        x->a->status = 301;
        return true;
    }
    if (f->clock_ahead_ms && date.len == 16) {
        char iso[32], text[32];
        int64_t sent = 0, now = time_now_ms() + f->clock_ahead_ms;
        snprintf(iso, sizeof iso, "%.4s-%.2s-%.2sT%.2s:%.2s:%.2sZ", date.ptr, date.ptr + 4, date.ptr + 6, date.ptr + 9, date.ptr + 11, date.ptr + 13);
        rfc3339_parse(str_of(iso), &sent);
        http_date_write(now, text);
        add_header(x, arena_printf(x->arena, "Date: %s", text).ptr);
        if (now - sent > 900000 || sent - now > 900000) return fault(x, 403, "RequestTimeTooSkewed", ""), true;
    }
    return false;
}

/* ---- S3 ---- */

static void put(exchange *x) {
    fake_s3 *f = x->f;
    const char *key = key_z(x);
    bool conditional = !str_is_null(tiny_header(x->q, "if-none-match"));
    snprintf(f->put_headers, sizeof f->put_headers, "%.*s", STR_ARG(x->q->head));
    f->n_puts++;
    if (f->fail_key && strstr(key, f->fail_key)) return fault(x, 403, "AccessDenied", "");
    if (conditional && f->refuses_header) return fault(x, 501, "NotImplemented", "");
    if (conditional && f->conflicts > 0) {
        f->conflicts--;
        return fault(x, 409, "ConditionalRequestConflict", "");
    }
    if (!conditional && f->aborts > 0) {
        f->aborts--;
        return fault(x, 409, "OperationAborted", "");
    }
    if (conditional && f->lets_two_win && fake_s3_find(f, key)) {
        f->lets_two_win = false;
        conditional = false;
    }
    if (conditional && !f->overwrites && fake_s3_find(f, key)) return fault(x, 412, "PreconditionFailed", "");
    set(f, key, f->steals && strcmp(key, f->steals) == 0 ? STR("another writer's") : x->q->body);
    add_header(x, "ETag: \"e\"");
}

static void upload(exchange *x) {
    fake_s3 *f = x->f;
    if (has_parameter(x, "uploads")) {
        f->uploads_open++;
        buf_printf(&x->a->body, "<InitiateMultipartUploadResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><UploadId>u/1+&amp;</UploadId></InitiateMultipartUploadResult>");
        return;
    }
    if (!str_eqz(parameter(x, "uploadId"), "u/1+&") || f->uploads_open == 0) return fault(x, 404, "NoSuchUpload", "");
    char part[600];
    if (str_eqz(x->q->method, "PUT")) {
        str number = parameter(x, "partNumber");
        __atomic_add_fetch(&f->n_parts, 1, __ATOMIC_RELAXED);
        if (f->part_fails && str_eqz(number, "2")) return fault(x, 403, "AccessDenied", "");
        snprintf(part, sizeof part, "\x01part %05d", atoi(number.ptr));
        set(f, part, x->q->body);
        add_header(x, "ETag: \"p\"");
        return;
    }
    if (str_eqz(x->q->method, "POST") && f->completions_fail_in_body > 0) {
        f->completions_fail_in_body--;
        buf_printf(&x->a->body, "<Error><Code>InternalError</Code></Error>");
        return;
    }
    buf whole;
    buf_init(&whole, BUF_MAX_DEFAULT);
    while (f->n_objects && f->objects[0].key[0] == '\x01') { /* they sort first */
        buf_append(&whole, buf_str(&f->objects[0].bytes));
        drop(f, f->objects[0].key);
    }
    f->uploads_open--;
    if (str_eqz(x->q->method, "POST") && f->aborts_itself) {
        fault(x, 404, "NoSuchUpload", "");
    } else if (str_eqz(x->q->method, "POST")) {
        set(f, key_z(x), buf_str(&whole));
        if (f->complete_comes_twice) fault(x, 404, "NoSuchUpload", "");
        else buf_printf(&x->a->body, "<CompleteMultipartUploadResult><ETag>\"w\"</ETag></CompleteMultipartUploadResult>");
    } else {
        x->a->status = 204;
    }
    buf_dispose(&whole);
}

static void escape(buf *out, const char *text) {
    for (; *text; text++) {
        if (*text == '&') buf_append_z(out, "&amp;");
        else if (*text == '<') buf_append_z(out, "&lt;");
        else buf_append_char(out, *text);
    }
}

static void list(exchange *x) {
    fake_s3 *f = x->f;
    str prefix = parameter(x, "prefix"), after = parameter(x, "start-after"), token = parameter(x, "continuation-token"), most = parameter(x, "max-keys");
    bool by_folder = has_parameter(x, "delimiter"), more = false;
    int64_t max = 1000, n = 0;
    char folder[600] = "", last[600] = "";
    f->n_lists++;
    snprintf(f->last_start_after, sizeof f->last_start_after, "%.*s", STR_ARG(after));
    if (!str_is_null(most)) (void)str_to_i64(most, &max);
    if (!str_is_null(token)) after = token;
    buf *b = &x->a->body;
    buf_printf(b, "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">");
    for (int i = 0; i < f->n_objects; i++) {
        fake_object *o = &f->objects[i];
        str key = str_of(o->key);
        if (!str_starts_with(key, prefix) || (!str_is_null(after) && str_cmp(key, after) <= 0)) continue;
        size_t slash = by_folder ? str_find_char(str_slice(key, prefix.len, key.len), '/') : SIZE_MAX;
        if (slash != SIZE_MAX && strncmp(folder, o->key, prefix.len + slash + 1) == 0 && strlen(folder) == prefix.len + slash + 1) {
            snprintf(last, sizeof last, "%s", o->key);
            continue;
        }
        if (n == max) {
            more = true;
            break;
        }
        n++;
        snprintf(last, sizeof last, "%s", o->key);
        if (slash != SIZE_MAX) {
            snprintf(folder, sizeof folder, "%.*s", (int)(prefix.len + slash + 1), o->key);
            buf_append_z(b, "<CommonPrefixes><Prefix>");
            escape(b, folder);
            buf_append_z(b, "</Prefix></CommonPrefixes>");
        } else {
            buf_append_z(b, "<Contents><Key>");
            escape(b, o->key);
            buf_printf(b, "</Key><LastModified>2026-11-30T08:00:00.123Z</LastModified><ETag>&#34;e&#34;</ETag><Size>%zu</Size></Contents>", o->bytes.len);
        }
    }
    buf_printf(b, "<IsTruncated>%s</IsTruncated>", more ? "true" : "false");
    if (more) {
        buf_append_z(b, "<NextContinuationToken>");
        escape(b, last);
        buf_append_z(b, "</NextContinuationToken>");
    }
    buf_append_z(b, "</ListBucketResult>");
}

static void delete_many(exchange *x) {
    fake_s3 *f = x->f;
    str rest = x->q->body;
    f->n_multi_deletes++;
    buf_append_z(&x->a->body, "<DeleteResult>");
    for (size_t at; (at = str_find(rest, STR("<Key>"))) != SIZE_MAX;) {
        rest = str_slice(rest, at + 5, rest.len);
        size_t end = str_find(rest, STR("</Key>"));
        const char *key = arena_cstr(x->arena, str_slice(rest, 0, end));
        if (f->fail_key && strstr(key, f->fail_key)) buf_printf(&x->a->body, "<Error><Key>%s</Key><Code>AccessDenied</Code></Error>", key);
        else drop(f, key);
    }
    buf_append_z(&x->a->body, "</DeleteResult>");
}

static void get(exchange *x) {
    fake_object *o = fake_s3_find(x->f, key_z(x));
    str range = tiny_header(x->q, "range");
    bool head = str_eqz(x->q->method, "HEAD");
    head ? x->f->n_heads++ : x->f->n_gets++;
    if (!o && head) {
        x->a->status = 404;
        return;
    }
    if (!o) return fault(x, 404, "NoSuchKey", "");
    size_t from = 0, to = o->bytes.len;
    if (!str_is_null(range)) {
        size_t first = 0, last = SIZE_MAX;
        int n = sscanf(range.ptr, "bytes=%zu-%zu", &first, &last);
        if (n < 1 || first >= o->bytes.len) return fault(x, 416, "InvalidRange", "");
        from = first;
        if (n == 2 && last + 1 < to) to = last + 1;
        x->a->status = 206;
        add_header(x, arena_printf(x->arena, "Content-Range: bytes %zu-%zu/%zu", from, to - 1, o->bytes.len).ptr);
    }
    add_header(x, "Last-Modified: Mon, 30 Nov 2026 08:00:00 GMT");
    const char *tag = x->f->tag ? x->f->tag : "e";
    if (*tag) add_header(x, arena_printf(x->arena, "ETag: \"%s\"", tag).ptr);
    buf_append_bytes(&x->a->body, o->bytes.ptr + from, to - from);
}

static void serve_s3(exchange *x) {
    if (is_refused(x)) return;
    bool post = str_eqz(x->q->method, "POST"), is_put = str_eqz(x->q->method, "PUT"), is_delete = str_eqz(x->q->method, "DELETE");
    x->f->n_posts += post;
    if (has_parameter(x, "uploads") || has_parameter(x, "uploadId")) return upload(x);
    if (post && has_parameter(x, "delete")) return delete_many(x);
    if (has_parameter(x, "list-type")) return list(x);
    if (is_put) return put(x);
    if (is_delete) {
        x->f->n_deletes++;
        drop(x->f, key_z(x));
        x->a->status = 204;
        return;
    }
    get(x);
}

/* ---- DynamoDB ---- */

fake_item *fake_s3_item(fake_s3 *f, const char *table_path, const char *file_name) {
    for (int i = 0; i < f->n_items; i++)
        if (strcmp(f->items[i].table_path, table_path) == 0 && strcmp(f->items[i].file_name, file_name) == 0) return &f->items[i];
    return NULL;
}

fake_item *fake_s3_set_item(fake_s3 *f, const char *table_path, const char *file_name, const char *temp_path, bool complete) {
    fake_item *i = fake_s3_item(f, table_path, file_name);
    if (!i) i = &f->items[f->n_items++];
    *i = (fake_item){"", "", "", "", ""};
    snprintf(i->table_path, sizeof i->table_path, "%s", table_path);
    snprintf(i->file_name, sizeof i->file_name, "%s", file_name);
    snprintf(i->temp_path, sizeof i->temp_path, "%s", temp_path);
    snprintf(i->complete, sizeof i->complete, "%s", complete ? "true" : "false");
    return i;
}

static const char *attribute(exchange *x, const json_node *item, const char *name, const char *type) {
    return arena_cstr(x->arena, json_get_str(json_get(item, name), type, STR("")));
}

static void ddb_fault(exchange *x, const char *type) {
    x->a->status = 400;
    buf_printf(&x->a->body, "{\"__type\":\"com.amazonaws.dynamodb.v20120810#%s\",\"message\":\"m\"}", type);
}

static void write_item(buf *b, const fake_item *i) {
    buf_printf(b, "{\"tablePath\":{\"S\":\"%s\"},\"fileName\":{\"S\":\"%s\"},\"tempPath\":{\"S\":\"%s\"},\"complete\":{\"S\":\"%s\"}", i->table_path, i->file_name, i->temp_path,
               i->complete);
    if (i->expire[0]) buf_printf(b, ",\"expireTime\":{\"N\":\"%s\"}", i->expire);
    buf_append_char(b, '}');
}

static void put_item(exchange *x, const json_node *root) {
    const json_node *item = json_get(root, "Item");
    const char *table = attribute(x, item, "tablePath", "S"), *name = attribute(x, item, "fileName", "S");
    x->f->n_put_items++;
    bool conditional = !str_is_null(json_get_str(root, "ConditionExpression", STR_NULL));
    if (conditional && fake_s3_item(x->f, table, name)) return ddb_fault(x, "ConditionalCheckFailedException");
    if (!x->f->items_vanish) {
        fake_item *i = fake_s3_set_item(x->f, table, name, attribute(x, item, "tempPath", "S"), strcmp(attribute(x, item, "complete", "S"), "true") == 0);
        snprintf(i->expire, sizeof i->expire, "%s", attribute(x, item, "expireTime", "N"));
    }
    buf_append_z(&x->a->body, "{}");
}

static void query(exchange *x, const json_node *root) {
    const char *table = attribute(x, json_get(root, "ExpressionAttributeValues"), ":t", "S");
    const fake_item *newest = NULL;
    x->f->n_queries++;
    for (int i = 0; i < x->f->n_items; i++)
        if (strcmp(x->f->items[i].table_path, table) == 0 && (!newest || strcmp(newest->file_name, x->f->items[i].file_name) < 0)) newest = &x->f->items[i];
    buf_append_z(&x->a->body, "{\"Items\":[");
    if (newest) write_item(&x->a->body, newest);
    buf_append_z(&x->a->body, "]}");
}

static void serve_dynamodb(exchange *x, str target) {
    const json_node *root = NULL;
    buf *b = &x->a->body;
    if (json_parse(x->q->body, x->arena, &root, NULL) != SILT_OK) return ddb_fault(x, "SerializationException");
    if (x->f->throttles > 0) {
        x->f->throttles--;
        return ddb_fault(x, "ProvisionedThroughputExceededException");
    }
    if (str_ends_with(target, STR(".CreateTable"))) {
        if (x->f->has_table) return ddb_fault(x, "ResourceInUseException");
        x->f->has_table = true;
        x->f->creating = 1;
        buf_append_z(b, "{}");
        return;
    }
    if (!x->f->has_table) return ddb_fault(x, "ResourceNotFoundException");
    if (str_ends_with(target, STR(".DescribeTable"))) {
        buf_printf(b, "{\"Table\":{\"TableStatus\":\"%s\"}}", x->f->creating > 0 ? "CREATING" : "ACTIVE");
        if (x->f->creating > 0) x->f->creating--;
    } else if (str_ends_with(target, STR(".PutItem"))) {
        put_item(x, root);
    } else if (str_ends_with(target, STR(".Query"))) {
        query(x, root);
    } else if (str_ends_with(target, STR(".GetItem"))) {
        const json_node *key = json_get(root, "Key");
        fake_item *i = fake_s3_item(x->f, attribute(x, key, "tablePath", "S"), attribute(x, key, "fileName", "S"));
        buf_append_z(b, i ? "{\"Item\":" : "{");
        if (i) write_item(b, i);
        buf_append_char(b, '}');
    } else {
        ddb_fault(x, "UnknownOperationException");
    }
}

/* ---- STS ---- */

static void serve_sts(exchange *x) {
    fake_s3 *f = x->f;
    if (f->n_sts < 4) snprintf(f->sts_bodies[f->n_sts], sizeof f->sts_bodies[0], "%.*s", STR_ARG(x->q->body));
    f->n_sts++;
    snprintf(f->last_authorization, sizeof f->last_authorization, "%.*s", STR_ARG(tiny_header(x->q, "authorization")));
    buf_printf(&x->a->body,
               "<AssumeRoleResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><AssumeRoleResult><Credentials><AccessKeyId>ASIA%d</AccessKeyId>"
               "<SecretAccessKey>granted</SecretAccessKey><SessionToken>session%d</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials>"
               "</AssumeRoleResult></AssumeRoleResponse>",
               f->n_sts, f->n_sts);
}

/* ---- one request ---- */

static bool breaks(fake_s3 *f, const tiny_request *q) {
    if (!f->faulty_nth || !str_eqz(q->method, f->faulty_method)) return false;
    return ++f->n_of_faulty == f->faulty_nth;
}

static void handle(void *ctx, const tiny_request *q, tiny_answer *a) {
    fake_s3 *f = ctx;
    exchange x = {.f = f, .q = q, .a = a, .arena = arena_new(), .query = STR("")};
    bool broken = breaks(f, q);
    if (broken) a->way = f->fault;
    a->headers = STR("");
    snprintf(f->last_host, sizeof f->last_host, "%.*s", STR_ARG(tiny_header(q, "host")));
    if (!broken || f->fault_after) {
        str path = q->target, target = tiny_header(q, "x-amz-target");
        size_t mark = str_find_char(path, '?');
        if (mark != SIZE_MAX) {
            x.query = str_slice(path, mark + 1, path.len);
            path = str_slice(path, 0, mark);
        }
        snprintf(f->last_query, sizeof f->last_query, "%.*s", STR_ARG(x.query));
        x.key = str_starts_with(path, STR("/" BUCKET "/")) ? uri_decode(str_slice(path, sizeof BUCKET + 1, path.len), x.arena) : STR("");
        if (target.len) serve_dynamodb(&x, target);
        else if (str_starts_with(q->body, STR("Action="))) serve_sts(&x);
        else {
            snprintf(f->last_authorization, sizeof f->last_authorization, "%.*s", STR_ARG(tiny_header(q, "authorization")));
            serve_s3(&x);
        }
    }
    static _Thread_local char headers[4096]; /* the arena ends here, the answer goes out later on this thread */
    snprintf(headers, sizeof headers, "%.*s", STR_ARG(a->headers));
    a->headers = str_of(headers);
    arena_free(x.arena);
}

fake_s3 *fake_s3_start(void) {
    fake_s3 *f = calloc(1, sizeof *f);
    if (!f) abort();
    f->server = tiny_server_start(handle, f);
    return f;
}

void fake_s3_stop(fake_s3 *f) {
    tiny_server_stop(f->server);
    for (int i = 0; i < f->n_objects; i++) buf_dispose(&f->objects[i].bytes);
    free(f);
}
