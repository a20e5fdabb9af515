/*
 * Azure Blob Storage: requests, answers and uploads in blocks.
 *
 * Commits are Put Blob with If-None-Match: *. "Something was there" is 409 BlobAlreadyExists or 412, and 403 UnauthorizedBlobOverwrite for a token that may create but not
 * overwrite. Accounts with a hierarchical namespace are used through the same Blob endpoint, where Put Blob has the same condition; folders there are blobs that say so.
 * List Blobs has no start-after in the versions that all accounts have, so names before the wanted ones are passed over here: a page holds 5,000.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/ident.h"
#include "base/json.h"
#include "base/thread.h"
#include "base/time.h"
#include "base/uri.h"
#include "store/azure/azure.h"
#include "store/log_store.h"

#define SERVICE_VERSION "2021-12-02"
#define RESOURCE "https://storage.azure.com/"
#define BLOCKS_MAX 50000
#define BLOCKS_AT_ONCE 4 /* of one file; files are written side by side too */

typedef struct azure_store {
    object_store object;
    azure_account account;
    cloud_token token;
    http_client *identity; /* AZURE_MANAGED_IDENTITY: for the machine's own service, which no proxy leads to */
} azure_store;

/* ---- who asks ---- */

static silt_status sign_with_key(const azure_store *z, const http_request *r, http_attempt *at, silt_error *err) {
    buf text;
    buf_init(&text, 1 << 20);
    int64_t length = r->body_file ? r->body_length : (int64_t)r->body.len;
    azure_string_to_sign(&text, z->account.account, r->method, at->url, at->headers, at->n_headers, length, at->arena);
    str signature = buf_ok(&text) ? azure_signature(z->account.key, buf_str(&text), at->arena) : STR_NULL;
    buf_dispose(&text);
    str value = str_is_null(signature) ? STR_NULL : arena_printf(at->arena, "SharedKey %.*s:%.*s", STR_ARG(z->account.account), STR_ARG(signature));
    if (str_is_null(value)) return error_no_memory(err);
    at->headers[at->n_headers++] = (http_header){STR("Authorization"), value};
    return SILT_OK;
}

static silt_status sign_with_sas(const azure_store *z, http_attempt *at, silt_error *err) {
    const char *glue = str_find_char(at->url, '?') == SIZE_MAX ? "?" : "&";
    at->url = arena_printf(at->arena, "%.*s%s%.*s", STR_ARG(at->url), glue, STR_ARG(z->account.sas));
    return str_is_null(at->url) ? error_no_memory(err) : SILT_OK;
}

static silt_status read_token_file(str path, buf *out, silt_error *err) {
    char block[4096];
    size_t n;
    FILE *file = fopen(path.ptr, "rb");
    if (!file) return err_FILE_NOT_FOUND(err, path);
    while ((n = fread(block, 1, sizeof block, file)) > 0) buf_append_bytes(out, block, n);
    fclose(file);
    return buf_ok(out) ? SILT_OK : error_no_memory(err);
}

/* A directory of version 2 wants a scope where the older one wants a resource. */
static silt_status ask_directory(const azure_store *z, http_header *headers, http_request *out, arena *a, silt_error *err) {
    const azure_account *c = &z->account;
    bool v2 = str_find(c->token_endpoint, STR("/v2.0/")) != SIZE_MAX;
    silt_status status = SILT_OK;
    buf form, token;
    buf_init(&form, 1 << 20);
    buf_init(&token, 1 << 18);
    cloud_form_add(&form, "grant_type", STR("client_credentials"), a);
    cloud_form_add(&form, "client_id", c->client_id, a);
    cloud_form_add(&form, v2 ? "scope" : "resource", v2 ? STR(RESOURCE ".default") : STR(RESOURCE), a);
    if (c->auth == AZURE_WORKLOAD_IDENTITY) {
        status = read_token_file(c->token_file, &token, err);
        cloud_form_add(&form, "client_assertion_type", STR("urn:ietf:params:oauth:client-assertion-type:jwt-bearer"), a);
        cloud_form_add(&form, "client_assertion", str_trim(buf_str(&token)), a);
    } else {
        cloud_form_add(&form, "client_secret", c->client_secret, a);
    }
    out->method = "POST";
    out->url = c->token_endpoint;
    out->body = buf_ok(&form) ? arena_str(a, buf_str(&form)) : STR_NULL;
    headers[out->n_headers++] = (http_header){STR("Content-Type"), STR("application/x-www-form-urlencoded")};
    if (status == SILT_OK && str_is_null(out->body)) status = error_no_memory(err);
    if (form.ptr) explicit_bzero(form.ptr, form.capacity);
    if (token.ptr) explicit_bzero(token.ptr, token.capacity);
    buf_dispose(&form);
    buf_dispose(&token);
    return status;
}

/* The machine's metadata service, or App Service's with its own header. */
static silt_status ask_identity(const azure_store *z, http_header *headers, http_request *out, arena *a, silt_error *err) {
    const azure_account *c = &z->account;
    bool app_service = !str_is_null(c->identity_header);
    buf query;
    buf_init(&query, 1 << 16);
    cloud_form_add(&query, "api-version", app_service ? STR("2019-08-01") : STR("2018-02-01"), a);
    cloud_form_add(&query, "resource", STR(RESOURCE), a);
    if (!str_is_null(c->client_id)) cloud_form_add(&query, "client_id", c->client_id, a);
    out->method = "GET";
    out->url = buf_ok(&query) ? arena_printf(a, "%.*s?%.*s", STR_ARG(c->token_endpoint), STR_ARG(buf_str(&query))) : STR_NULL;
    buf_dispose(&query);
    headers[out->n_headers++] = app_service ? (http_header){STR("X-IDENTITY-HEADER"), c->identity_header} : (http_header){STR("Metadata"), STR("true")};
    return str_is_null(out->url) ? error_no_memory(err) : SILT_OK;
}

static silt_status ask_token(void *ctx, http_header *headers, http_request *out, arena *a, silt_error *err) {
    const azure_store *z = ctx;
    return z->account.auth == AZURE_MANAGED_IDENTITY ? ask_identity(z, headers, out, a, err) : ask_directory(z, headers, out, a, err);
}

static silt_status azure_sign(void *ctx, const http_request *r, http_attempt *at, silt_error *err) {
    azure_store *z = ctx;
    char now[32];
    str token;
    http_date_write(time_now_ms(), now);
    at->headers[at->n_headers++] = (http_header){STR("x-ms-date"), arena_str(at->arena, str_of(now))};
    at->headers[at->n_headers++] = (http_header){STR("x-ms-version"), STR(SERVICE_VERSION)};
    if (str_is_null(at->headers[at->n_headers - 2].value)) return error_no_memory(err);
    switch (z->account.auth) {
        case AZURE_SHARED_KEY: return sign_with_key(z, r, at, err);
        case AZURE_SAS: return sign_with_sas(z, at, err);
        case AZURE_ANONYMOUS: return SILT_OK;
        case AZURE_CLIENT_SECRET:
        case AZURE_WORKLOAD_IDENTITY:
        case AZURE_MANAGED_IDENTITY: break;
    }
    TRY(cloud_token_get(&z->token, z->identity ? z->identity : z->object.client, ask_token, z, at->arena, &token, err));
    at->headers[at->n_headers++] = (http_header){STR("Authorization"), token};
    return SILT_OK;
}

/* A token can end before its time. */
static bool azure_again(object_store *o, const http_request *q, const http_response *r, arena *a) {
    (void)q;
    (void)a;
    return r->status == 401 && cloud_token_forget(&((azure_store *)o)->token);
}

/* ---- requests ---- */

static str blob_url(const azure_store *z, str key, arena *a) {
    str encoded = http_encode(key, true, a);
    if (str_is_null(encoded)) return STR_NULL;
    return arena_printf(a, "%.*s/%.*s/%.*s", STR_ARG(z->account.endpoint), STR_ARG(z->account.container), STR_ARG(encoded));
}

static void add(http_request *r, http_header *headers, const char *name, str value) { headers[r->n_headers++] = (http_header){str_of(name), value}; }

static silt_status azure_request(object_store *o, object_verb verb, str key, http_header *headers, http_request *out, arena *a, silt_error *err) {
    static const char *const methods[] = {[OBJECT_READ] = "GET", [OBJECT_STAT] = "HEAD", [OBJECT_PUT] = "PUT", [OBJECT_PUT_IF_ABSENT] = "PUT", [OBJECT_REMOVE] = "DELETE"};
    out->method = methods[verb];
    out->url = blob_url((azure_store *)o, key, a);
    if (verb == OBJECT_PUT || verb == OBJECT_PUT_IF_ABSENT) {
        add(out, headers, "Content-Type", STR("application/octet-stream"));
        add(out, headers, "x-ms-blob-type", STR("BlockBlob"));
    }
    if (verb == OBJECT_PUT_IF_ABSENT) add(out, headers, "If-None-Match", STR("*"));
    return str_is_null(out->url) ? error_no_memory(err) : SILT_OK;
}

/* Listings tell the same tag without quotes. */
static str azure_tag_of(const http_response *r) { return tag_without_quotes(http_header_get(r, "etag")); }

static silt_status azure_parse_info(object_store *o, const http_response *r, arena *a, object_info *out, silt_error *err) {
    (void)a;
    out->is_folder = str_eqz(http_header_get(r, "x-ms-meta-hdi_isfolder"), "true") || str_eqz(http_header_get(r, "x-ms-resource-type"), "directory");
    out->tag = azure_tag_of(r);
    bool ok = str_to_i64(http_header_get(r, "content-length"), &out->size_bytes) && out->size_bytes >= 0;
    ok = ok && http_date_parse(http_header_get(r, "last-modified"), &out->modified_ms);
    return ok ? SILT_OK : object_bad_answer(o, "Looking at", "neither length nor time", err);
}

static bool azure_is_taken(const http_response *r, const object_error *e) {
    if (r->status == 412) return true;
    if (r->status == 409) return str_ends_with(e->code, STR("AlreadyExists"));
    return r->status == 403 && str_eqz(e->code, "UnauthorizedBlobOverwrite");
}

/* A container that is not public answers whom it does not know with ResourceNotFound, which is then no answer to whether something is there. */
static object_meaning azure_meaning_of(str code, bool anonymous) {
    if (str_eqz(code, "BlobNotFound") || str_eqz(code, "PathNotFound")) return OBJECT_ABSENT;
    if (str_eqz(code, "ResourceNotFound")) return anonymous ? OBJECT_DENIED : OBJECT_ABSENT;
    if (str_eqz(code, "ContainerNotFound") || str_eqz(code, "FilesystemNotFound")) return OBJECT_NO_BUCKET;
    return OBJECT_OTHER;
}

static void azure_parse_error(object_store *o, const http_response *r, arena *a, object_error *out) {
    bool anonymous = ((azure_store *)o)->account.auth == AZURE_ANONYMOUS;
    str code = http_header_get(r, "x-ms-error-code");
    azure_error_parse(r->body, a, out);
    if (!str_is_null(code)) out->code = code;
    out->meaning = azure_meaning_of(out->code, anonymous);
    if (anonymous) out->remark = "asked without a credential, since none is configured for this account";
}

static silt_status azure_list_request(object_store *o, const object_listing *l, str mark, http_header *headers, http_request *out, arena *a, silt_error *err) {
    const azure_account *c = &((azure_store *)o)->account;
    buf query;
    (void)headers;
    buf_init(&query, 1 << 16);
    cloud_form_add(&query, "restype", STR("container"), a);
    cloud_form_add(&query, "comp", STR("list"), a);
    cloud_form_add(&query, "include", STR("metadata"), a); /* tells what stands for a folder */
    if (l->prefix.len) cloud_form_add(&query, "prefix", l->prefix, a);
    if (l->by_folder) cloud_form_add(&query, "delimiter", STR("/"), a);
    if (l->limit) cloud_form_add(&query, "maxresults", arena_printf(a, "%d", l->limit), a);
    if (!str_is_null(mark)) cloud_form_add(&query, "marker", mark, a);
    out->url = buf_ok(&query) ? arena_printf(a, "%.*s/%.*s?%.*s", STR_ARG(c->endpoint), STR_ARG(c->container), STR_ARG(buf_str(&query))) : STR_NULL;
    buf_dispose(&query);
    return str_is_null(out->url) ? error_no_memory(err) : SILT_OK;
}

static silt_status azure_parse_page(object_store *o, const object_listing *l, str body, arena *a, object_page *out, silt_error *err) {
    (void)l;
    return azure_page_parse(body, a, out) ? SILT_OK : object_bad_answer(o, "Listing", "no list of blobs", err);
}

static const char *azure_refuses(str key) {
    str rest = key, part;
    size_t parts = 0;
    while (str_next(&rest, '/', &part)) parts++;
    for (size_t i = 0; i < key.len; i++)
        if ((unsigned char)key.ptr[i] < ' ' || key.ptr[i] == 127) return "a name without control characters, which a listing could not tell of";
    if (key.len > 1024 * 4) return "a name of at most 1,024 characters";
    if (parts > 254) return "a name of at most 254 parts";
    if (key.ptr[key.len - 1] == '.') return "a name that does not end in a dot, which the service takes away";
    return NULL;
}

/* ---- uploads in blocks ---- */

/* Blocks are named by this upload and their number, all of one length, as the service wants them. Those of an upload that came to nothing are dropped by the service after a week. */
static str block_name(const char *upload, size_t i, arena *a) {
    char name[64];
    buf b;
    buf_init(&b, 256);
    int n = snprintf(name, sizeof name, "%.36s-%05zu", upload, i);
    base64_write(&b, (const uint8_t *)name, (size_t)n);
    return buf_take(&b, a);
}

static silt_status block_request(const char *upload, str url, str local, int64_t size, int64_t piece, size_t i, http_request *out, arena *a, silt_error *err) {
    static const http_header headers[] = {{{"Content-Type", 12}, {"application/octet-stream", 24}}};
    str name = block_name(upload, i, a), encoded = str_is_null(name) ? STR_NULL : http_encode(name, false, a);
    int64_t offset = (int64_t)i * piece;
    *out = (http_request){.method = "PUT", .headers = headers, .n_headers = 1, .body_file = local.ptr, .body_offset = offset, .repeatable = true};
    out->body_length = size - offset < piece ? size - offset : piece;
    out->url = str_is_null(encoded) ? STR_NULL : arena_printf(a, "%.*s?comp=block&blockid=%.*s", STR_ARG(url), STR_ARG(encoded));
    return str_is_null(out->url) ? error_no_memory(err) : SILT_OK;
}

static silt_status put_blocks(azure_store *z, const char *upload, str key, str local, int64_t size, int64_t piece, size_t n, arena *a, silt_error *err) {
    http_request *requests = ARENA_ARRAY(a, n, http_request);
    http_response *answers = ARENA_ARRAY(a, n, http_response);
    silt_status *statuses = ARENA_ARRAY(a, n, silt_status);
    str url = blob_url(z, key, a);
    if (!requests || !answers || !statuses || str_is_null(url)) return error_no_memory(err);
    for (size_t i = 0; i < n; i++) TRY(block_request(upload, url, local, size, piece, i, &requests[i], a, err));
    TRY(object_send_many(&z->object, requests, n, BLOCKS_AT_ONCE, "Writing", a, answers, statuses, err));
    for (size_t i = 0; i < n; i++)
        if (!http_is_ok(&answers[i])) return object_error_of(&z->object, &answers[i], "Writing", key, a, err);
    return SILT_OK;
}

static silt_status put_block_list(azure_store *z, const char *upload, str key, size_t n, bool *out_unsure, arena *a, silt_error *err) {
    http_header headers[] = {{STR("Content-Type"), STR("text/plain; charset=UTF-8")}, {STR("x-ms-blob-content-type"), STR("application/octet-stream")}};
    http_request r = {.method = "PUT", .headers = headers, .n_headers = ARRAY_LEN(headers), .repeatable = true};
    http_response answer;
    str url = blob_url(z, key, a);
    buf body;
    buf_init(&body, 64 << 20);
    buf_append_z(&body, "<?xml version=\"1.0\" encoding=\"utf-8\"?><BlockList>");
    for (size_t i = 0; i < n; i++) {
        str name = block_name(upload, i, a);
        if (str_is_null(name)) body.failed = true;
        buf_printf(&body, "<Latest>%.*s</Latest>", STR_ARG(name));
    }
    buf_append_z(&body, "</BlockList>");
    r.body = buf_take(&body, a);
    r.url = str_is_null(url) ? STR_NULL : arena_printf(a, "%.*s?comp=blocklist", STR_ARG(url));
    if (str_is_null(r.body) || str_is_null(r.url)) return error_no_memory(err);
    silt_status status = object_send(&z->object, &r, "Writing", a, &answer, err);
    *out_unsure = answer.may_have_applied || answer.status == 400;
    if (status != SILT_OK || http_is_ok(&answer)) return status;
    return object_error_of(&z->object, &answer, "Writing", key, a, err);
}

/* After the list was carried out, a second one fails (400, InvalidBlockList): its blocks are no longer loose. It may be ours, because an answer was lost, or one
 * that something on the way sent. Then what is there tells. */
static silt_status finish_blocks(azure_store *z, const char *upload, str key, int64_t size, size_t n, arena *a, silt_error *err) {
    silt_error why = {0}, ignored = {0};
    store_entry entry;
    bool unsure = false;
    silt_status status = put_block_list(z, upload, key, n, &unsure, a, &why);
    if (status == SILT_OK) return SILT_OK;
    str path = unsure ? arena_printf(a, "/%.*s", STR_ARG(key)) : STR_NULL;
    if (!str_is_null(path) && object_store_stat(&z->object.base, path, a, &entry, &ignored) == SILT_OK && !entry.is_dir && entry.size_bytes == size) return SILT_OK;
    if (err) *err = why;
    return status;
}

static silt_status azure_upload(object_store *o, str key, str local, int64_t size, const struct object_early *early, arena *a, silt_error *err) {
    (void)early; /* none, without object_driver.early */
    char upload[37];
    int64_t piece = o->piece_bytes;
    while (size / piece >= BLOCKS_MAX) piece *= 2;
    size_t n = (size_t)((size + piece - 1) / piece);
    uuid_generate(upload);
    TRY(put_blocks((azure_store *)o, upload, key, local, size, piece, n, a, err));
    return finish_blocks((azure_store *)o, upload, key, size, n, a, err);
}

/* ---- the store ---- */

static void azure_dispose(object_store *o) {
    azure_store *z = (azure_store *)o;
    if (z->account.key.len) explicit_bzero((char *)(uintptr_t)z->account.key.ptr, z->account.key.len);
    if (z->account.client_secret.len) explicit_bzero((char *)(uintptr_t)z->account.client_secret.ptr, z->account.client_secret.len);
    cloud_token_dispose(&z->token);
    http_client_free(z->identity);
}

static const store_ops azure_ops = {.name = "azure", OBJECT_STORE_READING, OBJECT_STORE_WRITING};

static const object_driver azure_driver = {
    .ops = &azure_ops,
    .dispose = azure_dispose,
    .request = azure_request,
    .parse_info = azure_parse_info,
    .tag_of = azure_tag_of,
    .is_taken = azure_is_taken,
    .list_request = azure_list_request,
    .parse_page = azure_parse_page,
    .upload = azure_upload,
    .parse_error = azure_parse_error,
    .refuses = azure_refuses,
    .again = azure_again,
};

static const char *process_env(void *ctx, const char *name) {
    (void)ctx;
    return getenv(name);
}

static silt_status set_up(azure_store *z, str authority, const store_settings *settings, silt_error *err) {
    object_store *o = &z->object;
    TRY(object_store_configure(o, settings, err));
    TRY(azure_account_find(authority, settings, process_env, NULL, o->settings, &z->account, err));
    static const char *const schemes[] = {"abfss", "abfs", "wasbs", "wasb", "az", NULL};
    TRY(log_store_find_unknown(settings, schemes, o->settings, &o->log_store, err));
    o->sign = azure_sign;
    o->where = arena_printf(o->settings, "%.*s/%.*s", STR_ARG(z->account.endpoint), STR_ARG(z->account.container));
    if (str_is_null(o->where)) return error_no_memory(err);
    const http_options near = {.max_attempts = 4, .connect_timeout_ms = 2000, .proxy = STR("")};
    return z->account.auth == AZURE_MANAGED_IDENTITY ? http_client_new(&near, &z->identity, err) : SILT_OK;
}

silt_status store_azure_open(str authority, void *config, store **out, silt_error *err) {
    http_options options = {.max_connections = OBJECT_CONNECTIONS, .ca_file = store_setting(config, "silt.azure.caFile"), .proxy = store_setting(config, "silt.azure.proxy")};
    object_store *o;
    object_store_patience(config, &options);
    TRY(object_store_new(&azure_driver, sizeof(azure_store), &options, &o, err));
    cloud_token_init(&((azure_store *)o)->token);
    silt_status status = set_up((azure_store *)o, authority, config, err);
    if (status == SILT_OK) status = object_store_configure(o, config, err);
    if (status != SILT_OK) {
        store_close(&o->base);
        return status;
    }
    *out = &o->base;
    return SILT_OK;
}
