/*
 * Credentials that services grant for a while: the container's and the instance's metadata service, and STS.
 *
 * Metadata services speak plain HTTP and are on the machine: no proxy is used for them, and a URL that the environment gives has to be of the machine itself or of TLS. What they
 * answer is never repeated in an error.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/json.h"
#include "base/time.h"
#include "store/s3/s3.h"

#define ANSWER_MAX (64 << 10)

static str env_str(s3_env env, void *ctx, const char *name) {
    str value = str_trim(str_of(env(ctx, name)));
    return value.len ? value : STR_NULL;
}

silt_status s3_read_small_file(str path, arena *a, str *out, silt_error *err) {
    char *z = arena_cstr(a, path), *bytes = arena_alloc(a, ANSWER_MAX);
    size_t len = 0;
    if (!z || !bytes) return error_no_memory(err);
    int fd = open(z, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) return err_INVALID_PARAMETER_VALUE(err, STR("the token's file"), path, "a file that is there"); /* no reason to ask as somebody else */
    if (fd < 0) return error_from_errno(err, errno, "open", path);
    for (;;) {
        ssize_t n = read(fd, bytes + len, ANSWER_MAX - len);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        len += (size_t)n;
    }
    close(fd);
    *out = str_trim((str){bytes, len});
    return SILT_OK;
}

static silt_status refused(const char *service, const http_response *r, arena *a, silt_error *err) {
    s3_fault fault;
    silt_status status = err_S3_CREDENTIALS_REFUSED(err, service);
    if (s3_fault_parse(r->body, a, &fault)) error_detail(err, "HTTP status %d, %.*s", r->status, STR_ARG(fault.code));
    else error_detail(err, "HTTP status %d", r->status);
    return status;
}

static silt_status unreadable(const char *service, silt_error *err) {
    silt_status status = err_S3_CREDENTIALS_REFUSED(err, service);
    error_detail(err, "Its answer holds no credentials.");
    return status;
}

bool s3_grant_parse(str text, arena *a, s3_grant *out) {
    const json_node *root = NULL;
    if (json_parse(text, a, &root, NULL) != SILT_OK) return false;
    str token = json_get_str(root, "Token", json_get_str(root, "SessionToken", STR_NULL));
    *out = (s3_grant){{json_get_str(root, "AccessKeyId", STR_NULL), json_get_str(root, "SecretAccessKey", STR_NULL), token}, INT64_MAX};
    str ends = json_get_str(root, "Expiration", STR_NULL);
    if (!str_is_null(ends) && !rfc3339_parse(ends, &out->expires_ms)) return false;
    return out->identity.access_key.len > 0 && out->identity.secret_key.len > 0;
}

/* ---- metadata services ---- */

/* Not reachable: this machine has none. */
static silt_status ask_local(http_client *c, const char *method, str url, http_header header, arena *a, http_response *out, silt_error *err) {
    http_request r = {.method = method, .url = url, .headers = &header, .n_headers = str_is_null(header.value) ? 0 : 1, .repeatable = true, .max_body_bytes = ANSWER_MAX,
                      .what = "asking for credentials"};
    if (str_is_null(url)) return error_no_memory(err);
    silt_status status = http_send(c, &r, a, out, err);
    return status == SILT_IO ? SILT_NOT_FOUND : status;
}

static bool is_of_this_machine(str url) {
    static const char *const hosts[] = {"http://127.", "http://localhost/", "http://localhost:", "http://[::1]", "http://169.254.170.2/", "http://169.254.170.23/", "http://[fd00:ec2::23]"};
    if (str_starts_with(url, STR("https://"))) return true;
    for (size_t i = 0; i < ARRAY_LEN(hosts); i++)
        if (str_starts_with(url, str_of(hosts[i]))) return true;
    return false;
}

silt_status s3_grant_container(http_client *c, s3_env env, void *ctx, arena *a, s3_grant *out, silt_error *err) {
    static const char service[] = "The container's credential service";
    str relative = env_str(env, ctx, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"), url = env_str(env, ctx, "AWS_CONTAINER_CREDENTIALS_FULL_URI");
    str token = env_str(env, ctx, "AWS_CONTAINER_AUTHORIZATION_TOKEN"), file = env_str(env, ctx, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
    http_response r;
    if (!str_is_null(relative)) url = arena_printf(a, "http://169.254.170.2%.*s", STR_ARG(relative));
    else if (str_is_null(url)) return SILT_NOT_FOUND;
    if (!is_of_this_machine(url))
        return err_INVALID_PARAMETER_VALUE(err, STR("AWS_CONTAINER_CREDENTIALS_FULL_URI"), url, "an https URL, or one of this machine or its container service");
    if (!str_is_null(file)) TRY(s3_read_small_file(file, a, &token, err));
    TRY(ask_local(c, "GET", url, (http_header){STR("Authorization"), token}, a, &r, err));
    if (!http_is_ok(&r)) return refused(service, &r, a, err);
    return s3_grant_parse(r.body, a, out) ? SILT_OK : unreadable(service, err);
}

silt_status s3_grant_instance(http_client *c, s3_env env, void *ctx, arena *a, s3_grant *out, silt_error *err) {
    static const char service[] = "The instance's metadata service", folder[] = "/latest/meta-data/iam/security-credentials/";
    str base = env_str(env, ctx, "AWS_EC2_METADATA_SERVICE_ENDPOINT");
    http_response r;
    if (str_eq_ascii_fold(env_str(env, ctx, "AWS_EC2_METADATA_DISABLED"), STR("true"))) return SILT_NOT_FOUND;
    if (str_is_null(base)) base = STR("http://169.254.169.254");
    while (base.len && base.ptr[base.len - 1] == '/') base.len--;
    TRY(ask_local(c, "PUT", arena_printf(a, "%.*s/latest/api/token", STR_ARG(base)), (http_header){STR("X-aws-ec2-metadata-token-ttl-seconds"), STR("21600")}, a, &r, err));
    if (!http_is_ok(&r)) return SILT_NOT_FOUND; /* another cloud's metadata service stands at the same address */
    http_header token = {STR("X-aws-ec2-metadata-token"), r.body};
    TRY(ask_local(c, "GET", arena_printf(a, "%.*s%s", STR_ARG(base), folder), token, a, &r, err));
    if (r.status == 404) return SILT_NOT_FOUND; /* an instance without a role */
    if (!http_is_ok(&r)) return refused(service, &r, a, err);
    str rest = r.body, role = STR("");
    str_next(&rest, '\n', &role);
    role = http_encode(str_trim(role), false, a);
    TRY(ask_local(c, "GET", arena_printf(a, "%.*s%s%.*s", STR_ARG(base), folder, STR_ARG(role)), token, a, &r, err));
    if (!http_is_ok(&r)) return refused(service, &r, a, err);
    return s3_grant_parse(r.body, a, out) ? SILT_OK : unreadable(service, err);
}

/* ---- STS ---- */

typedef struct sts_call {
    const s3_role *role;
    const s3_identity *as; /* NULL: not signed */
    str body;
} sts_call;

static silt_status sign(void *ctx, const http_request *r, http_attempt *at, silt_error *err) {
    const sts_call *c = ctx;
    char payload[65];
    if (!c->as) return SILT_OK;
    s3_sha256_hex(c->body, payload);
    s3_signing s = {.identity = c->as, .region = c->role->region, .service = "sts", .now_ms = time_now_ms(), .payload = str_of(payload)};
    return s3_sign(&s, r->method, at, err);
}

static void add(buf *form, const char *name, str value, arena *a) {
    if (str_is_null(value)) return;
    str encoded = http_encode(value, false, a);
    if (str_is_null(encoded)) form->failed = true;
    else buf_printf(form, "&%s=%.*s", name, STR_ARG(encoded));
}

static str endpoint_of(const s3_role *role, arena *a) {
    str e = role->endpoint;
    if (str_is_null(e)) return arena_printf(a, "https://sts.%.*s.amazonaws.com%s/", STR_ARG(role->region), str_starts_with(role->region, STR("cn-")) ? ".cn" : "");
    while (e.len && e.ptr[e.len - 1] == '/') e.len--;
    return arena_printf(a, "%s%.*s/", str_find(e, STR("://")) == SIZE_MAX ? "https://" : "", STR_ARG(e));
}

static bool parse_sts(str xml, arena *a, s3_grant *out) {
    str ends = s3_xml_text(xml, "Expiration", a);
    out->identity = (s3_identity){s3_xml_text(xml, "AccessKeyId", a), s3_xml_text(xml, "SecretAccessKey", a), s3_xml_text(xml, "SessionToken", a)};
    return out->identity.access_key.len && out->identity.secret_key.len && out->identity.session_token.len && rfc3339_parse(ends, &out->expires_ms);
}

/* Asking twice makes two grants, which does no harm. */
static silt_status ask_sts(http_client *c, sts_call *call, buf *form, arena *a, s3_grant *out, silt_error *err) {
    static const char service[] = "The security token service (STS)";
    http_header type = {STR("Content-Type"), STR("application/x-www-form-urlencoded")};
    http_response r;
    http_request q = {.method = "POST", .url = endpoint_of(call->role, a), .headers = &type, .n_headers = 1, .body = buf_str(form), .repeatable = true, .sign = sign,
                      .sign_ctx = call, .max_body_bytes = ANSWER_MAX, .what = "asking for credentials"};
    if (!buf_ok(form) || str_is_null(q.url)) return error_no_memory(err);
    call->body = buf_str(form);
    TRY(http_send(c, &q, a, &r, err));
    if (!http_is_ok(&r)) return refused(service, &r, a, err);
    return parse_sts(r.body, a, out) ? SILT_OK : unreadable(service, err);
}

static void begin_form(buf *form, const char *action, const s3_role *role, arena *a) {
    buf_init(form, ANSWER_MAX);
    buf_printf(form, "Action=%s&Version=2011-06-15", action);
    add(form, "RoleArn", role->arn, a);
    add(form, "RoleSessionName", str_is_null(role->session_name) ? STR("silt") : role->session_name, a);
    add(form, "DurationSeconds", role->duration_s, a);
}

silt_status s3_grant_role(http_client *c, const s3_role *role, const s3_identity *as, arena *a, s3_grant *out, silt_error *err) {
    buf form;
    sts_call call = {.role = role, .as = as};
    begin_form(&form, "AssumeRole", role, a);
    add(&form, "ExternalId", role->external_id, a);
    silt_status status = ask_sts(c, &call, &form, a, out, err);
    buf_dispose(&form);
    return status;
}

silt_status s3_grant_web_identity(http_client *c, const s3_role *role, str token_file, arena *a, s3_grant *out, silt_error *err) {
    buf form;
    sts_call call = {.role = role};
    str token;
    TRY(s3_read_small_file(token_file, a, &token, err));
    begin_form(&form, "AssumeRoleWithWebIdentity", role, a);
    add(&form, "WebIdentityToken", token, a);
    silt_status status = ask_sts(c, &call, &form, a, out, err);
    buf_dispose(&form);
    return status;
}
