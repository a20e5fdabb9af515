/*
 * DynamoDB over HTTP: a POST per call, whose name is in a header. Errors are 400 with a type in the body; those of throttling pass by themselves. Before the first commit it is found
 * out whether the table is there.
 */
#include <stdlib.h>
#include <time.h>

#include "base/ident.h"
#include "base/json.h"
#include "base/time.h"
#include "store/s3/dynamodb.h"

#define ATTEMPTS_MAX   10
#define TABLE_WAITS    60 /* of a second, until a new table is ready */
#define PUT_ROUNDS     3

struct dynamodb {
    arena *a;
    str table, url, region;
    int64_t rcu, wcu;
    s3_credentials *credentials;
    http_client *client;
    pthread_mutex_t lock; /* over is_ready, also while the table is made */
    bool is_ready;
};

silt_status dynamodb_new(const dynamodb_options *o, dynamodb **out, silt_error *err) {
    dynamodb *d = calloc(1, sizeof *d);
    if (!d) return error_no_memory(err);
    pthread_mutex_init(&d->lock, NULL);
    d->credentials = o->credentials;
    d->client = o->client;
    d->rcu = o->rcu;
    d->wcu = o->wcu;
    d->a = arena_new();
    if (d->a) {
        const char *china = str_starts_with(o->region, STR("cn-")) ? ".cn" : "";
        d->table = arena_str(d->a, o->table);
        d->region = arena_str(d->a, o->region);
        d->url = str_is_null(o->endpoint) ? arena_printf(d->a, "https://dynamodb.%.*s.amazonaws.com%s/", STR_ARG(o->region), china)
                                          : arena_printf(d->a, "%.*s/", STR_ARG(o->endpoint));
    }
    if (!d->a || str_is_null(d->table) || str_is_null(d->region) || str_is_null(d->url)) {
        dynamodb_free(d);
        return error_no_memory(err);
    }
    *out = d;
    return SILT_OK;
}

void dynamodb_free(dynamodb *d) {
    if (!d) return;
    pthread_mutex_destroy(&d->lock);
    arena_free(d->a);
    free(d);
}

/* ---- one call ---- */

typedef struct call {
    dynamodb *d;
    str body;
} call;

static silt_status sign(void *ctx, const http_request *r, http_attempt *at, silt_error *err) {
    const call *c = ctx;
    s3_identity identity;
    char payload[65];
    TRY(s3_credentials_get(c->d->credentials, at->arena, &identity, err));
    if (str_is_null(identity.access_key)) return err_S3_NO_CREDENTIALS(err);
    s3_sha256_hex(c->body, payload);
    s3_signing s = {.identity = &identity, .region = c->d->region, .service = "dynamodb", .now_ms = time_now_ms(), .payload = str_of(payload)};
    return s3_sign(&s, r->method, at, err);
}

typedef struct reply {
    const json_node *root; /* of a good answer */
    str fault;             /* the error's type without its prefix, else null */
    bool may_have_applied;
} reply;

static str fault_of(const json_node *root) {
    str type = json_get_str(root, "__type", STR("unknown"));
    size_t hash = str_rfind_char(type, '#');
    return hash == SIZE_MAX ? type : str_slice(type, hash + 1, type.len);
}

static bool is_passing(str fault) {
    return str_eqz(fault, "ProvisionedThroughputExceededException") || str_eqz(fault, "ThrottlingException") || str_eqz(fault, "RequestLimitExceeded");
}

static bool has_ended(str fault) { return str_eqz(fault, "ExpiredTokenException") || str_eqz(fault, "UnrecognizedClientException"); }

static void pause_after(int attempt) {
    uint32_t random;
    random_bytes(&random, sizeof random);
    int64_t most = (int64_t)50 << (attempt < 5 ? attempt : 5);
    struct timespec t = {0, 0};
    int64_t ms = (int64_t)(random % (uint64_t)(most + 1));
    t.tv_sec = ms / 1000;
    t.tv_nsec = ms % 1000 * 1000000;
    nanosleep(&t, NULL);
}

static silt_status failure(const dynamodb *d, const char *what, str fault, int status, silt_error *err) {
    bool denied = str_eqz(fault, "AccessDeniedException") || str_eqz(fault, "UnrecognizedClientException") || str_eqz(fault, "MissingAuthenticationTokenException") ||
                  str_eqz(fault, "InvalidSignatureException") || str_eqz(fault, "ExpiredTokenException");
    silt_status s = denied ? err_STORE_ACCESS_DENIED(err, what, d->table) : err_STORE_REQUEST_FAILED(err, what, d->table, status);
    if (str_eqz(fault, "ExpiredTokenException")) error_hint(err, "%s", OBJECT_HINT_TOKEN);
    error_detail(err, "DynamoDB in %.*s answered with HTTP status %d, %.*s", STR_ARG(d->region), status, STR_ARG(fault));
    return s;
}

static silt_status send_once(call *c, const char *target, const char *what, arena *a, reply *out, int *status, silt_error *err) {
    http_header headers[2] = {{STR("Content-Type"), STR("application/x-amz-json-1.0")}, {STR("X-Amz-Target"), arena_printf(a, "DynamoDB_20120810.%s", target)}};
    http_request r = {.method = "POST", .url = c->d->url, .headers = headers, .n_headers = 2, .body = c->body, .repeatable = true, .sign = sign, .sign_ctx = c,
                      .max_body_bytes = 16 << 20, .what = what};
    http_response answer = {0};
    const json_node *root = NULL;
    if (str_is_null(headers[1].value)) return error_no_memory(err);
    silt_status s = http_send(c->d->client, &r, a, &answer, err);
    out->may_have_applied |= answer.may_have_applied;
    if (s != SILT_OK) return s;
    *status = answer.status;
    bool parsed = json_parse(answer.body, a, &root, NULL) == SILT_OK;
    if (http_is_ok(&answer) && !parsed) return failure(c->d, what, STR("no JSON"), answer.status, err);
    out->root = root;
    out->fault = http_is_ok(&answer) ? STR_NULL : fault_of(root);
    return SILT_OK;
}

/* Any answer that does not pass by itself is OK; *status is HTTP's. */
static silt_status send(dynamodb *d, const char *target, str body, const char *what, arena *a, reply *out, int *status, silt_error *err) {
    call c = {d, body};
    bool renewed = false;
    *out = (reply){.fault = STR_NULL};
    for (int attempt = 1;; attempt++) {
        TRY(send_once(&c, target, what, a, out, status, err));
        if (str_is_null(out->fault)) return SILT_OK;
        if (has_ended(out->fault) && !renewed && s3_credentials_expire(d->credentials)) {
            renewed = true;
            continue;
        }
        if (!is_passing(out->fault) || attempt == ATTEMPTS_MAX) return SILT_OK;
        pause_after(attempt);
    }
}

/* ---- the table ---- */

static str table_body(const dynamodb *d, arena *a) {
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    buf_append_z(&b, "{\"TableName\":");
    json_write_str(&b, d->table);
    buf_append_char(&b, '}');
    return buf_take(&b, a);
}

static silt_status create_table(dynamodb *d, arena *a, silt_error *err) {
    reply r;
    int status;
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    buf_append_z(&b, "{\"TableName\":");
    json_write_str(&b, d->table);
    buf_append_z(&b, ",\"AttributeDefinitions\":[{\"AttributeName\":\"tablePath\",\"AttributeType\":\"S\"},{\"AttributeName\":\"fileName\",\"AttributeType\":\"S\"}],"
                     "\"KeySchema\":[{\"AttributeName\":\"tablePath\",\"KeyType\":\"HASH\"},{\"AttributeName\":\"fileName\",\"KeyType\":\"RANGE\"}],");
    buf_printf(&b, "\"ProvisionedThroughput\":{\"ReadCapacityUnits\":%lld,\"WriteCapacityUnits\":%lld}}", (long long)d->rcu, (long long)d->wcu);
    str body = buf_take(&b, a);
    if (str_is_null(body)) return error_no_memory(err);
    TRY(send(d, "CreateTable", body, "making the table", a, &r, &status, err));
    if (str_is_null(r.fault) || str_eqz(r.fault, "ResourceInUseException")) return SILT_OK; /* made just now by somebody else */
    return failure(d, "Making the table", r.fault, status, err);
}

/* Entries go by themselves once they expired. Best effort: whoever made the table may set it by hand. */
static void set_time_to_live(dynamodb *d, arena *a) {
    reply r;
    int status;
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    buf_append_z(&b, "{\"TableName\":");
    json_write_str(&b, d->table);
    buf_append_z(&b, ",\"TimeToLiveSpecification\":{\"AttributeName\":\"expireTime\",\"Enabled\":true}}");
    str body = buf_take(&b, a);
    if (!str_is_null(body)) (void)!send(d, "UpdateTimeToLive", body, "setting the time to live", a, &r, &status, NULL);
}

static silt_status wait_for_table(dynamodb *d, arena *a, silt_error *err) {
    bool created = false;
    str body = table_body(d, a);
    if (str_is_null(body)) return error_no_memory(err);
    for (int i = 0; i < TABLE_WAITS; i++) {
        reply r;
        int status;
        TRY(send(d, "DescribeTable", body, "looking at the table", a, &r, &status, err));
        bool missing = str_eqz(r.fault, "ResourceNotFoundException");
        if (!missing && !str_is_null(r.fault)) return failure(d, "Looking at the table", r.fault, status, err);
        str state = json_get_str(json_get(r.root, "Table"), "TableStatus", STR(""));
        if (!missing && !str_eqz(state, "CREATING")) {
            if (created) set_time_to_live(d, a);
            return SILT_OK; /* one that is being deleted answers for itself */
        }
        if (missing && !created) {
            TRY(create_table(d, a, err));
            created = true;
        } else {
            struct timespec t = {i < 5 ? 0 : 1, i < 5 ? 200000000 : 0};
            nanosleep(&t, NULL);
        }
    }
    return failure(d, "Making the table", STR("it is not ready yet"), 200, err);
}

static silt_status ensure_table(dynamodb *d, silt_error *err) {
    silt_status status = SILT_OK;
    pthread_mutex_lock(&d->lock);
    if (!d->is_ready) {
        arena *a = arena_new();
        status = a ? wait_for_table(d, a, err) : error_no_memory(err);
        arena_free(a);
        d->is_ready = status == SILT_OK;
    }
    pthread_mutex_unlock(&d->lock);
    return status;
}

/* ---- entries ---- */

static str attribute(const json_node *item, const char *name, const char *type) { return json_get_str(json_get(item, name), type, STR_NULL); }

bool dynamodb_entry_parse(const json_node *item, arena *a, dynamodb_entry *out) {
    str complete = attribute(item, "complete", "S"), expire = attribute(item, "expireTime", "N");
    *out = (dynamodb_entry){attribute(item, "tablePath", "S"), attribute(item, "fileName", "S"), attribute(item, "tempPath", "S"), str_eqz(complete, "true"), -1};
    (void)a;
    if (str_is_null(out->table_path) || str_is_null(out->file_name) || str_is_null(out->temp_path) || str_is_null(complete)) return false;
    return str_is_null(expire) || (str_to_i64(expire, &out->expire_s) && out->expire_s >= 0);
}

static void write_text(buf *out, const char *name, str value) {
    buf_printf(out, "\"%s\":{\"S\":", name);
    json_write_str(out, value);
    buf_append_char(out, '}');
}

void dynamodb_entry_write(const dynamodb_entry *e, buf *out) {
    buf_append_char(out, '{');
    write_text(out, "tablePath", e->table_path);
    buf_append_char(out, ',');
    write_text(out, "fileName", e->file_name);
    buf_append_char(out, ',');
    write_text(out, "tempPath", e->temp_path);
    buf_append_char(out, ',');
    write_text(out, "complete", e->complete ? STR("true") : STR("false"));
    if (e->expire_s >= 0) buf_printf(out, ",\"expireTime\":{\"N\":\"%lld\"}", (long long)e->expire_s);
    buf_append_char(out, '}');
}

static silt_status parse_item(dynamodb *d, const json_node *item, str file_name, arena *a, dynamodb_entry *out, silt_error *err) {
    if (!item || item->type != JSON_OBJECT) return err_FILE_NOT_FOUND(err, file_name);
    return dynamodb_entry_parse(item, a, out) ? SILT_OK : failure(d, "Reading an entry", STR("it is no entry of S3DynamoDBLogStore"), 200, err);
}

silt_status dynamodb_get(dynamodb *d, str table_path, str file_name, arena *a, dynamodb_entry *out, silt_error *err) {
    reply r;
    int status;
    buf b;
    TRY(ensure_table(d, err));
    buf_init(&b, BUF_MAX_DEFAULT);
    buf_append_z(&b, "{\"TableName\":");
    json_write_str(&b, d->table);
    buf_append_z(&b, ",\"ConsistentRead\":true,\"Key\":{");
    write_text(&b, "tablePath", table_path);
    buf_append_char(&b, ',');
    write_text(&b, "fileName", file_name);
    buf_append_z(&b, "}}");
    str body = buf_take(&b, a);
    if (str_is_null(body)) return error_no_memory(err);
    TRY(send(d, "GetItem", body, "reading an entry", a, &r, &status, err));
    if (!str_is_null(r.fault)) return failure(d, "Reading an entry", r.fault, status, err);
    return parse_item(d, json_get(r.root, "Item"), file_name, a, out, err);
}

silt_status dynamodb_latest(dynamodb *d, str table_path, arena *a, dynamodb_entry *out, silt_error *err) {
    reply r;
    int status;
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    buf_append_z(&b, "{\"TableName\":");
    json_write_str(&b, d->table);
    buf_append_z(&b, ",\"ConsistentRead\":true,\"ScanIndexForward\":false,\"Limit\":1,\"KeyConditionExpression\":\"tablePath = :t\",\"ExpressionAttributeValues\":{");
    write_text(&b, ":t", table_path);
    buf_append_z(&b, "}}");
    str body = buf_take(&b, a);
    if (str_is_null(body)) return error_no_memory(err);
    TRY(send(d, "Query", body, "reading the newest entry", a, &r, &status, err));
    if (str_eqz(r.fault, "ResourceNotFoundException")) return err_FILE_NOT_FOUND(err, table_path); /* no table, no entries: reading makes none */
    if (!str_is_null(r.fault)) return failure(d, "Reading the newest entry", r.fault, status, err);
    const json_node *items = json_get(r.root, "Items");
    bool any = items && items->type == JSON_ARRAY && items->count > 0;
    return parse_item(d, any ? &items->values[0] : NULL, table_path, a, out, err);
}

static str put_body(const dynamodb *d, const dynamodb_entry *e, bool overwrite, arena *a) {
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    buf_append_z(&b, "{\"TableName\":");
    json_write_str(&b, d->table);
    buf_append_z(&b, ",\"Item\":");
    dynamodb_entry_write(e, &b);
    if (!overwrite) buf_append_z(&b, ",\"ConditionExpression\":\"attribute_not_exists(fileName)\"");
    buf_append_char(&b, '}');
    return buf_take(&b, a);
}

/* OK: it is ours. EXISTS: another's. NOT_FOUND: neither. UNKNOWN. */
static silt_status look_back(dynamodb *d, const dynamodb_entry *e, arena *a, silt_error *err) {
    dynamodb_entry found;
    silt_error why = {0};
    silt_status status = dynamodb_get(d, e->table_path, e->file_name, a, &found, &why);
    if (status == SILT_OK) return str_eq(found.temp_path, e->temp_path) ? SILT_OK : err_PATH_ALREADY_EXISTS(err, e->file_name);
    if (status == SILT_NOT_FOUND) return status;
    status = err_WRITE_OUTCOME_UNKNOWN(err, e->file_name);
    error_detail(err, "%s", why.message);
    return status;
}

static silt_status put_rounds(dynamodb *d, const dynamodb_entry *e, bool overwrite, arena *a, silt_error *err) {
    str body = put_body(d, e, overwrite, a);
    if (str_is_null(body)) return error_no_memory(err);
    for (int round = 1;; round++) {
        reply r;
        int http_status = 0;
        silt_error why = {0};
        silt_status status = send(d, "PutItem", body, "writing an entry", a, &r, &http_status, &why);
        if (status == SILT_OK && str_is_null(r.fault)) return SILT_OK;
        /* Looked back at even where this is the first answer: something between may have sent the request twice, and whoever is told "taken" removes its temporary file. */
        bool taken = status == SILT_OK && str_eqz(r.fault, "ConditionalCheckFailedException");
        bool unsure = r.may_have_applied || http_status >= 500;
        if (!taken && (!unsure || overwrite)) {
            if (status == SILT_OK) return failure(d, "Writing an entry", r.fault, http_status, err);
            if (err) *err = why;
            return status;
        }
        status = look_back(d, e, a, err);
        if (status != SILT_NOT_FOUND) return status;
        if (round == PUT_ROUNDS) return err_WRITE_OUTCOME_UNKNOWN(err, e->file_name);
    }
}

silt_status dynamodb_put(dynamodb *d, const dynamodb_entry *e, bool overwrite, silt_error *err) {
    TRY(ensure_table(d, err));
    arena *a = arena_new();
    silt_status status = a ? put_rounds(d, e, overwrite, a, err) : error_no_memory(err);
    arena_free(a);
    return status;
}
