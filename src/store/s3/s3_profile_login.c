/*
 * What a profile of the AWS CLI's files leads to: keys that stand in it, a role that is assumed by another profile or by a service of the machine, a role by a web identity, a login by IAM
 * Identity Center ("SSO"), or a program that prints keys. Sources: AWS SDKs and Tools Reference Guide ("Shared config and credentials files", "Assume role credential provider", "IAM Identity
 * Center credential provider", "Process credential provider").
 *
 * A chain of profiles ends at keys, a login or a program; keys of a source come before its own role, so that a profile may be its own source, as the CLI has it.
 */
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "base/time.h"
#include "store/s3/s3.h"

#define CHAIN_MAX      8
#define ANSWER_MAX     (64 << 10)
#define PROGRAM_MAX_MS 60000

extern char **environ;

static str value_of(const s3_profile *p, str name, const char *key) { return s3_profile_get(p->credentials, p->config, name, key); }

static str env_str(const s3_profile *p, const char *name) {
    str value = str_trim(str_of(p->env(p->env_ctx, name)));
    return value.len ? value : STR_NULL;
}

static silt_status keys_of(const s3_profile *p, str name, s3_grant *out) {
    *out = (s3_grant){{value_of(p, name, "aws_access_key_id"), value_of(p, name, "aws_secret_access_key"), value_of(p, name, "aws_session_token")}, INT64_MAX};
    return out->identity.access_key.len && out->identity.secret_key.len ? SILT_OK : SILT_NOT_FOUND;
}

/* ---- a program ---- */

/* Until it has written everything and closed its end. false: it took too long, or wrote too much. */
static bool read_all(int fd, buf *out) {
    int64_t until = time_monotonic_ms() + PROGRAM_MAX_MS;
    char block[4096];
    for (;;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int64_t left = until - time_monotonic_ms();
        int ready = left > 0 ? poll(&p, 1, (int)left) : 0;
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) return false;
        ssize_t n = read(fd, block, sizeof block);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n == 0 && buf_ok(out);
        buf_append_bytes(out, block, (size_t)n);
        if (!buf_ok(out)) return false;
    }
}

static bool start_program(const char *command, int out_fd, pid_t *out) {
    const char *const words[] = {"/bin/sh", "-c", command, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none; /* this thread's may be blocked */
    sigemptyset(&none);
    if (posix_spawn_file_actions_init(&actions) != 0) return false;
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return false;
    }
    bool ok = posix_spawnattr_setsigmask(&attributes, &none) == 0 && posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK) == 0 &&
              posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) == 0 &&
              posix_spawn_file_actions_adddup2(&actions, out_fd, STDOUT_FILENO) == 0 &&
              posix_spawn(out, words[0], &actions, &attributes, (char *const *)(uintptr_t)words, environ) == 0;
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return ok;
}

/* Where the process that Silt is part of ignores its children, their status is not to be had. */
static int end_of(pid_t pid) {
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    return status;
}

/* What it prints is never repeated: it may be a key. */
static silt_status run_program(const char *command, buf *out, silt_error *err) {
    static const char program[] = "The program of the AWS profile (credential_process)";
    int ends[2];
    pid_t pid;
    if (pipe2(ends, O_CLOEXEC) != 0) return error_from_errno(err, errno, "pipe", STR("credential_process"));
    bool started = start_program(command, ends[1], &pid);
    close(ends[1]);
    bool whole = started && read_all(ends[0], out);
    close(ends[0]);
    if (started && !whole) kill(pid, SIGKILL);
    int status = started ? end_of(pid) : -1;
    if (whole && status == 0) return SILT_OK;
    silt_status failed = err_S3_CREDENTIALS_REFUSED(err, program);
    error_hint(err, "Run the program by hand to see what it says.");
    if (started && whole && WIFEXITED(status)) error_detail(err, "It ended with status %d.", WEXITSTATUS(status));
    else error_detail(err, started ? "It did not end within a minute, or printed too much." : "It could not be started.");
    return failed;
}

static silt_status from_program(str command, arena *a, s3_grant *out, silt_error *err) {
    buf text;
    const char *z = arena_cstr(a, command);
    if (!z) return error_no_memory(err);
    buf_init(&text, ANSWER_MAX);
    silt_status status = run_program(z, &text, err);
    str copy = status == SILT_OK ? arena_str(a, buf_str(&text)) : STR_NULL;
    if (text.ptr) explicit_bzero(text.ptr, text.capacity);
    buf_dispose(&text);
    TRY(status);
    if (str_is_null(copy)) return error_no_memory(err);
    if (s3_grant_parse(copy, a, out)) return SILT_OK;
    status = err_S3_CREDENTIALS_REFUSED(err, "The program of the AWS profile (credential_process)");
    error_detail(err, "Its answer holds no credentials.");
    return status;
}

/* ---- IAM Identity Center ---- */

typedef struct login {
    str start_url, region, account, role, cache_key; /* of the profile, or of its sso_session */
} login;

static bool find_login(const s3_profile *p, str name, login *out) {
    str session = value_of(p, name, "sso_session");
    *out = (login){.account = value_of(p, name, "sso_account_id"), .role = value_of(p, name, "sso_role_name")};
    out->start_url = str_is_null(session) ? value_of(p, name, "sso_start_url") : s3_profile_session_get(p->config, session, "sso_start_url");
    out->region = str_is_null(session) ? value_of(p, name, "sso_region") : s3_profile_session_get(p->config, session, "sso_region");
    out->cache_key = str_is_null(session) ? out->start_url : session;
    return !str_is_null(session) || !str_is_null(out->start_url);
}

/* ~/.aws/sso/cache/<SHA-1 of the session's name or of the URL>.json: what "aws sso login" left. */
static str cache_path(const s3_profile *p, str cache_key, arena *a) {
    uint8_t digest[EVP_MAX_MD_SIZE];
    char text[41];
    str home = env_str(p, "HOME");
    if (str_is_null(home) || !EVP_Digest(cache_key.ptr, cache_key.len, digest, NULL, EVP_sha1(), NULL)) return STR_NULL;
    for (int i = 0; i < 20; i++) snprintf(text + 2 * i, 3, "%02x", digest[i]);
    return arena_printf(a, "%.*s/.aws/sso/cache/%s.json", STR_ARG(home), text);
}

static silt_status not_logged_in(const char *why, str name, silt_error *err) {
    silt_status status = err_S3_CREDENTIALS_REFUSED(err, "IAM Identity Center (SSO)");
    error_detail(err, "%s", why);
    error_hint(err, "Run: aws sso login --profile %.*s", STR_ARG(name));
    return status;
}

static silt_status read_token(const s3_profile *p, str name, const login *l, arena *a, str *out, silt_error *err) {
    const json_node *root = NULL;
    str path = cache_path(p, l->cache_key, a), text = STR_NULL;
    int64_t ends_ms;
    silt_status status = str_is_null(path) ? SILT_INVALID : s3_read_small_file(path, a, &text, err);
    if (status != SILT_OK && status != SILT_INVALID) return status;
    if (str_is_null(text) || json_parse(text, a, &root, NULL) != SILT_OK) return not_logged_in("There is no token of a login in ~/.aws/sso/cache.", name, err);
    *out = json_get_str(root, "accessToken", STR_NULL);
    str ends = json_get_str(root, "expiresAt", STR(""));
    if (str_ends_with(ends, STR("UTC"))) ends = arena_printf(a, "%.*sZ", STR_ARG(str_slice(ends, 0, ends.len - 3)));
    if (str_is_null(*out) || !rfc3339_parse(ends, &ends_ms)) return not_logged_in("The token of the login in ~/.aws/sso/cache cannot be read.", name, err);
    return ends_ms > time_now_ms() ? SILT_OK : not_logged_in("The login has ended.", name, err);
}

static bool parse_login(str body, arena *a, s3_grant *out) {
    const json_node *root = NULL;
    if (json_parse(body, a, &root, NULL) != SILT_OK) return false;
    const json_node *c = json_get(root, "roleCredentials");
    *out = (s3_grant){{json_get_str(c, "accessKeyId", STR_NULL), json_get_str(c, "secretAccessKey", STR_NULL), json_get_str(c, "sessionToken", STR_NULL)}, json_get_i64(c, "expiration", INT64_MAX)};
    return out->identity.access_key.len > 0 && out->identity.secret_key.len > 0;
}

/* The region becomes part of a host's name. */
static bool is_region(str region) {
    for (size_t i = 0; i < region.len; i++)
        if (!((region.ptr[i] >= 'a' && region.ptr[i] <= 'z') || (region.ptr[i] >= '0' && region.ptr[i] <= '9') || region.ptr[i] == '-')) return false;
    return region.len > 0;
}

static silt_status from_login(const s3_profile *p, str name, const login *l, arena *a, s3_grant *out, silt_error *err) {
    http_header token = {STR("x-amz-sso_bearer_token"), STR_NULL};
    str account = http_encode(l->account, false, a), role = http_encode(l->role, false, a), endpoint = env_str(p, "AWS_ENDPOINT_URL_SSO");
    if (!l->account.len || !l->role.len || !is_region(l->region))
        return err_INVALID_PARAMETER_VALUE(err, STR("AWS_PROFILE"), name, "a profile with sso_account_id, sso_role_name and sso_region (of its sso_session)");
    TRY(read_token(p, name, l, a, &token.value, err));
    if (str_is_null(endpoint)) endpoint = arena_printf(a, "https://portal.sso.%.*s.amazonaws.com%s", STR_ARG(l->region), str_starts_with(l->region, STR("cn-")) ? ".cn" : "");
    while (endpoint.len && endpoint.ptr[endpoint.len - 1] == '/') endpoint.len--;
    http_request q = {.method = "GET", .headers = &token, .n_headers = 1, .repeatable = true, .max_body_bytes = ANSWER_MAX, .what = "asking for credentials"};
    q.url = arena_printf(a, "%.*s/federation/credentials?role_name=%.*s&account_id=%.*s", STR_ARG(endpoint), STR_ARG(role), STR_ARG(account));
    http_response r;
    if (str_is_null(account) || str_is_null(role) || str_is_null(endpoint) || str_is_null(q.url)) return error_no_memory(err);
    TRY(http_send(p->client, &q, a, &r, err));
    if (r.status == 401) return not_logged_in("The token of the login is not taken any more.", name, err);
    if (http_is_ok(&r) && parse_login(r.body, a, out)) return SILT_OK;
    silt_status status = err_S3_CREDENTIALS_REFUSED(err, "IAM Identity Center (SSO)");
    error_detail(err, "HTTP status %d", r.status);
    return status;
}

/* ---- chains ---- */

/* Keys, a login or a program. NOT_FOUND: none of them. */
static silt_status without_role(const s3_profile *p, str name, arena *a, s3_grant *out, silt_error *err) {
    login l;
    if (keys_of(p, name, out) == SILT_OK) return SILT_OK;
    if (find_login(p, name, &l)) return from_login(p, name, &l, a, out, err);
    str command = value_of(p, name, "credential_process");
    return str_is_null(command) ? SILT_NOT_FOUND : from_program(command, a, out, err);
}

static silt_status bad_source(str source, silt_error *err) {
    return err_INVALID_PARAMETER_VALUE(err, STR("source_profile"), source, "a profile that leads to keys, for the role of the chosen profile");
}

static silt_status resolve(const s3_profile *p, str name, int depth, arena *a, s3_grant *out, silt_error *err);

static silt_status base_of(const s3_profile *p, str name, int depth, arena *a, s3_grant *out, silt_error *err) {
    str source = value_of(p, name, "source_profile"), service = value_of(p, name, "credential_source");
    if (str_is_null(source)) {
        silt_status status = str_is_null(service) ? SILT_NOT_FOUND : p->machine(p->machine_ctx, service, a, out, err);
        return status == SILT_NOT_FOUND ? err_INVALID_PARAMETER_VALUE(err, STR("credential_source"), service, "Environment, EcsContainer or Ec2InstanceMetadata, where there are credentials, or a source_profile") : status;
    }
    if (!s3_profile_exists(p->credentials, p->config, source) || depth == CHAIN_MAX) return bad_source(source, err);
    if (keys_of(p, source, out) == SILT_OK) return SILT_OK;
    if (str_eq(source, name)) return bad_source(source, err);
    silt_status status = resolve(p, source, depth + 1, a, out, err);
    return status == SILT_NOT_FOUND ? bad_source(source, err) : status;
}

static silt_status resolve(const s3_profile *p, str name, int depth, arena *a, s3_grant *out, silt_error *err) {
    s3_role role = {value_of(p, name, "role_arn"), value_of(p, name, "role_session_name"), value_of(p, name, "external_id"), value_of(p, name, "duration_seconds"),
                    env_str(p, "AWS_ENDPOINT_URL_STS"), p->region};
    str file = value_of(p, name, "web_identity_token_file");
    s3_grant base;
    if (str_is_null(role.arn)) return without_role(p, name, a, out, err);
    if (!str_is_null(value_of(p, name, "mfa_serial"))) return err_UNSUPPORTED_FEATURE(err, "mfa_serial in an AWS profile; it");
    if (!str_is_null(file)) return s3_grant_web_identity(p->client, &role, file, a, out, err);
    TRY(base_of(p, name, depth, a, &base, err));
    return s3_grant_role(p->client, &role, &base.identity, a, out, err);
}

silt_status s3_grant_profile(const s3_profile *p, str name, arena *a, s3_grant *out, silt_error *err) { return resolve(p, name, 1, a, out, err); }
