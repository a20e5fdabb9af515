/*
 * Who asks: the providers that are configured, in their order, and the identity that one of them gave, kept until shortly before it ends.
 *
 * Without fs.s3a.aws.credentials.provider the order is: keys in the settings, the environment, a web identity's token file, the
 * profile files, the container's service, the instance's; a role, where fs.s3a.assumed.role.arn names one, is assumed on top of them. The names of Hadoop's and of both AWS SDKs' classes are understood.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/time.h"
#include "base/uri.h"
#include "store/s3/s3.h"

#define RENEW_BEFORE_MS (5 * 60000)
#define FILE_MAX        (1 << 20)

typedef enum provider { P_SETTINGS, P_ENVIRONMENT, P_WEB_IDENTITY, P_PROFILE, P_CONTAINER, P_INSTANCE, P_ROLE, P_ANONYMOUS, P_COUNT } provider;

struct s3_credentials {
    arena *a; /* of what is set; read only after opening */
    s3_env env;
    void *env_ctx;
    provider order[32], base_order[32]; /* base: of those who may assume the role */
    size_t n_order, n_base;
    s3_identity keys;                   /* of the settings */
    s3_role role;                       /* to assume; arn null: none */
    str region;
    str profile_name, profile_file;     /* as Hadoop's keys name them; null: those of the environment, or the usual */
    bool has_keystore;                  /* keys may be in a Hadoop credential store, which is not read */
    pthread_mutex_t lock;               /* over what follows, also while somebody is asked */
    http_client *web, *local;           /* made when first needed */
    arena *held;                        /* of `grant` */
    s3_grant grant;
    bool has_grant;
    int64_t asked_ms;                   /* monotonic: of the last grant */
};

/* ---- which providers ---- */

typedef struct class_row {
    const char *name; /* of the class, without its package */
    provider providers[6];
    size_t n;
} class_row;

static const class_row classes[] = {
    {"SimpleAWSCredentialsProvider", {P_SETTINGS}, 1},
    {"TemporaryAWSCredentialsProvider", {P_SETTINGS}, 1},
    {"AnonymousAWSCredentialsProvider", {P_ANONYMOUS}, 1},
    {"AnonymousCredentialsProvider", {P_ANONYMOUS}, 1},
    {"EnvironmentVariableCredentialsProvider", {P_ENVIRONMENT}, 1},
    {"WebIdentityTokenCredentialsProvider", {P_WEB_IDENTITY}, 1},
    {"WebIdentityTokenFileCredentialsProvider", {P_WEB_IDENTITY}, 1},
    {"ProfileCredentialsProvider", {P_PROFILE}, 1},
    {"ProfileAWSCredentialsProvider", {P_PROFILE}, 1},
    {"ContainerCredentialsProvider", {P_CONTAINER}, 1},
    {"InstanceProfileCredentialsProvider", {P_INSTANCE}, 1},
    {"IAMInstanceCredentialsProvider", {P_CONTAINER, P_INSTANCE}, 2},
    {"SharedInstanceCredentialProvider", {P_CONTAINER, P_INSTANCE}, 2},
    {"EC2ContainerCredentialsProviderWrapper", {P_CONTAINER, P_INSTANCE}, 2},
    {"AssumedRoleCredentialProvider", {P_ROLE}, 1},
    {"DefaultCredentialsProvider", {P_ENVIRONMENT, P_WEB_IDENTITY, P_PROFILE, P_CONTAINER, P_INSTANCE}, 5},
    {"DefaultAWSCredentialsProviderChain", {P_ENVIRONMENT, P_WEB_IDENTITY, P_PROFILE, P_CONTAINER, P_INSTANCE}, 5},
};

static const class_row *find_class(str path) {
    size_t dot = str_rfind_char(path, '.');
    str name = dot == SIZE_MAX ? path : str_slice(path, dot + 1, path.len);
    for (size_t i = 0; i < ARRAY_LEN(classes); i++)
        if (str_eqz(name, classes[i].name)) return &classes[i];
    return NULL;
}

static silt_status parse_order(str list, provider *order, size_t *n, silt_error *err) {
    str rest = list, piece;
    *n = 0;
    while (str_next(&rest, ',', &piece)) {
        piece = str_trim(piece);
        const class_row *row = find_class(piece);
        if (piece.len == 0) continue;
        if (!row) {
            char what[256];
            snprintf(what, sizeof what, "the credentials provider %.*s (fs.s3a.aws.credentials.provider); it", STR_ARG(piece));
            return err_UNSUPPORTED_FEATURE(err, what);
        }
        for (size_t i = 0; i < row->n && *n < 32; i++) order[(*n)++] = row->providers[i];
    }
    return SILT_OK;
}

static void default_order(provider *order, size_t *n) {
    static const provider usual[] = {P_SETTINGS, P_ENVIRONMENT, P_WEB_IDENTITY, P_PROFILE, P_CONTAINER, P_INSTANCE};
    memcpy(order, usual, sizeof usual);
    *n = ARRAY_LEN(usual);
}

/* ---- what is set ---- */

static bool keep(s3_credentials *c, str *out, str value) {
    *out = str_is_null(value) ? STR_NULL : arena_str(c->a, value);
    return str_is_null(value) == str_is_null(*out);
}

static str seconds_of(str duration, arena *a) {
    int64_t n, unit = 1;
    str digits = duration;
    if (duration.len && (duration.ptr[duration.len - 1] < '0' || duration.ptr[duration.len - 1] > '9')) {
        char c = duration.ptr[duration.len - 1];
        unit = c == 's' ? 1 : c == 'm' ? 60 : c == 'h' ? 3600 : 0;
        digits = str_slice(duration, 0, duration.len - 1);
    }
    return unit && str_to_i64(digits, &n) ? arena_printf(a, "%lld", (long long)(n * unit)) : STR_NULL;
}

/* A token is of its keys: that of all buckets is none for a bucket with keys of its own. */
static str session_token_of(const store_settings *s, str bucket) {
    return str_is_null(s3_setting_of_bucket(s, bucket, "access.key")) ? s3_setting(s, bucket, "session.token") : s3_setting_of_bucket(s, bucket, "session.token");
}

static silt_status read_settings(s3_credentials *c, const s3_credentials_options *o, silt_error *err) {
    const store_settings *s = o->settings;
    str duration = s3_setting(s, o->bucket, "assumed.role.session.duration"), region = s3_setting(s, o->bucket, "assumed.role.sts.endpoint.region");
    c->has_keystore = !str_is_null(store_setting(s, "hadoop.security.credential.provider.path")) || !str_is_null(s3_setting(s, o->bucket, "security.credential.provider.path"));
    c->role.duration_s = str_is_null(duration) ? STR_NULL : seconds_of(duration, c->a);
    bool ok = keep(c, &c->keys.access_key, s3_setting(s, o->bucket, "access.key")) && keep(c, &c->keys.secret_key, s3_setting(s, o->bucket, "secret.key")) &&
              keep(c, &c->keys.session_token, session_token_of(s, o->bucket)) && keep(c, &c->region, o->region) &&
              keep(c, &c->profile_name, s3_setting(s, o->bucket, "auth.profile.name")) && keep(c, &c->profile_file, s3_setting(s, o->bucket, "auth.profile.file")) &&
              keep(c, &c->role.arn, s3_setting(s, o->bucket, "assumed.role.arn")) &&
              keep(c, &c->role.session_name, s3_setting(s, o->bucket, "assumed.role.session.name")) &&
              keep(c, &c->role.external_id, s3_setting(s, o->bucket, "assumed.role.external.id")) &&
              keep(c, &c->role.endpoint, s3_setting(s, o->bucket, "assumed.role.sts.endpoint")) && keep(c, &c->role.region, str_is_null(region) ? o->region : region);
    return ok ? SILT_OK : error_no_memory(err);
}

static silt_status read_order(s3_credentials *c, const s3_credentials_options *o, silt_error *err) {
    str base = s3_setting(o->settings, o->bucket, "assumed.role.credentials.provider");
    default_order(c->order, &c->n_order);
    default_order(c->base_order, &c->n_base);
    if (str_is_null(o->providers) && !str_is_null(c->role.arn)) {
        c->order[0] = P_ROLE;
        c->n_order = 1;
    }
    if (o->keys) {
        c->keys = *o->keys;
        c->order[0] = P_SETTINGS;
        c->n_order = 1;
        return SILT_OK;
    }
    if (!str_is_null(o->providers)) TRY(parse_order(o->providers, c->order, &c->n_order, err));
    if (!str_is_null(base)) TRY(parse_order(base, c->base_order, &c->n_base, err));
    for (size_t i = 0; i < c->n_base; i++)
        if (c->base_order[i] == P_ROLE) return err_INVALID_PARAMETER_VALUE(err, STR("fs.s3a.assumed.role.credentials.provider"), base, "providers other than AssumedRoleCredentialProvider");
    for (size_t i = 0; i < c->n_order; i++)
        if (c->order[i] == P_ROLE && str_is_null(c->role.arn)) return err_INVALID_PARAMETER_VALUE(err, STR("fs.s3a.assumed.role.arn"), STR(""), "the ARN of the role to assume");
    return SILT_OK;
}

silt_status s3_credentials_new(const s3_credentials_options *o, s3_credentials **out, silt_error *err) {
    s3_credentials *c = calloc(1, sizeof *c);
    if (!c) return error_no_memory(err);
    c->env = o->env;
    c->env_ctx = o->env_ctx;
    c->a = arena_new();
    c->held = arena_new();
    pthread_mutex_init(&c->lock, NULL);
    silt_status status = c->a && c->held ? read_settings(c, o, err) : error_no_memory(err);
    if (status == SILT_OK) status = read_order(c, o, err);
    if (status != SILT_OK) {
        s3_credentials_free(c);
        return status;
    }
    *out = c;
    return SILT_OK;
}

void s3_credentials_free(s3_credentials *c) {
    if (!c) return;
    http_client_free(c->web);
    http_client_free(c->local);
    pthread_mutex_destroy(&c->lock);
    arena_free(c->held);
    arena_free(c->a);
    free(c);
}

/* ---- the providers; NOT_FOUND: it has none ---- */

static str env_str(const s3_credentials *c, const char *name) {
    str value = str_trim(str_of(c->env(c->env_ctx, name)));
    return value.len ? value : STR_NULL;
}

static silt_status client_of(s3_credentials *c, bool local, http_client **out, silt_error *err) {
    static const http_options near = {.max_attempts = 2, .connect_timeout_ms = 1000, .stall_timeout_ms = 3000, .proxy = {"", 0}};
    static const http_options far = {.max_attempts = 4, .stall_timeout_ms = 10000};
    http_client **slot = local ? &c->local : &c->web;
    if (!*slot) TRY(http_client_new(local ? &near : &far, slot, err));
    *out = *slot;
    return SILT_OK;
}

static silt_status from_settings(const s3_credentials *c, s3_grant *out) {
    *out = (s3_grant){c->keys, INT64_MAX};
    return c->keys.access_key.len && c->keys.secret_key.len ? SILT_OK : SILT_NOT_FOUND;
}

static silt_status from_environment(const s3_credentials *c, s3_grant *out) {
    *out = (s3_grant){{env_str(c, "AWS_ACCESS_KEY_ID"), env_str(c, "AWS_SECRET_ACCESS_KEY"), env_str(c, "AWS_SESSION_TOKEN")}, INT64_MAX};
    return out->identity.access_key.len && out->identity.secret_key.len ? SILT_OK : SILT_NOT_FOUND;
}

static silt_status from_web_identity(s3_credentials *c, arena *a, s3_grant *out, silt_error *err) {
    s3_role role = {env_str(c, "AWS_ROLE_ARN"), env_str(c, "AWS_ROLE_SESSION_NAME"), STR_NULL, STR_NULL, env_str(c, "AWS_ENDPOINT_URL_STS"), c->region};
    str file = env_str(c, "AWS_WEB_IDENTITY_TOKEN_FILE");
    http_client *client;
    if (str_is_null(role.arn) || str_is_null(file)) return SILT_NOT_FOUND;
    TRY(client_of(c, false, &client, err));
    return s3_grant_web_identity(client, &role, file, a, out, err);
}

static silt_status read_file(str path, arena *a, str *out, silt_error *err) {
    char *z = arena_cstr(a, path);
    if (!z) return error_no_memory(err);
    FILE *file = fopen(z, "rb");
    *out = STR_NULL;
    if (!file) return errno == ENOENT || errno == ENOTDIR ? SILT_OK : error_from_errno(err, errno, "open", path);
    char *bytes = arena_alloc(a, FILE_MAX);
    if (bytes) *out = (str){bytes, fread(bytes, 1, FILE_MAX, file)};
    fclose(file);
    return bytes ? SILT_OK : error_no_memory(err);
}

static str file_path(const s3_credentials *c, const char *variable, const char *name, arena *a) {
    str path = env_str(c, variable), home = env_str(c, "HOME");
    if (!str_is_null(path) || str_is_null(home)) return path;
    return arena_printf(a, "%.*s/.aws/%s", STR_ARG(home), name);
}

/* A file that Hadoop's key names stands for both. */
static silt_status read_profiles(const s3_credentials *c, arena *a, s3_profile *out, silt_error *err) {
    str credentials = file_path(c, "AWS_SHARED_CREDENTIALS_FILE", "credentials", a), config = file_path(c, "AWS_CONFIG_FILE", "config", a);
    out->credentials = out->config = STR_NULL;
    if (!str_is_null(c->profile_file)) {
        TRY(read_file(c->profile_file, a, &out->credentials, err));
        return str_is_null(out->credentials) ? err_INVALID_PARAMETER_VALUE(err, STR("fs.s3a.auth.profile.file"), c->profile_file, "a file that is there") : SILT_OK;
    }
    if (!str_is_null(credentials)) TRY(read_file(credentials, a, &out->credentials, err));
    return str_is_null(config) ? SILT_OK : read_file(config, a, &out->config, err);
}

static silt_status ask(s3_credentials *c, provider p, arena *a, s3_grant *out, silt_error *err);

static silt_status ask_source(void *ctx, str source, arena *a, s3_grant *out, silt_error *err) {
    s3_credentials *c = ctx;
    if (str_eqz(source, "Environment")) return from_environment(c, out);
    if (str_eqz(source, "EcsContainer")) return ask(c, P_CONTAINER, a, out, err);
    return str_eqz(source, "Ec2InstanceMetadata") ? ask(c, P_INSTANCE, a, out, err) : SILT_NOT_FOUND;
}

static silt_status from_profile(s3_credentials *c, arena *a, s3_grant *out, silt_error *err) {
    s3_profile p = {.env = c->env, .env_ctx = c->env_ctx, .region = c->region, .machine = ask_source, .machine_ctx = c};
    str chosen = str_is_null(c->profile_name) ? env_str(c, "AWS_PROFILE") : c->profile_name, name = str_is_null(chosen) ? STR("default") : chosen;
    TRY(read_profiles(c, a, &p, err));
    bool is_missing = !str_is_null(chosen) && !s3_profile_exists(p.credentials, p.config, chosen);
    if (is_missing) return err_INVALID_PARAMETER_VALUE(err, str_is_null(c->profile_name) ? STR("AWS_PROFILE") : STR("fs.s3a.auth.profile.name"), chosen, "a profile of ~/.aws/credentials or ~/.aws/config");
    TRY(client_of(c, false, &p.client, err));
    return s3_grant_profile(&p, name, a, out, err);
}

static silt_status ask_first(s3_credentials *c, const provider *order, size_t n, arena *a, s3_grant *out, silt_error *err) {
    for (size_t i = 0; i < n; i++) {
        silt_status status = ask(c, order[i], a, out, err);
        if (status != SILT_NOT_FOUND) return status;
    }
    return SILT_NOT_FOUND;
}

static silt_status from_role(s3_credentials *c, arena *a, s3_grant *out, silt_error *err) {
    s3_grant base;
    http_client *client;
    TRY(ask_first(c, c->base_order, c->n_base, a, &base, err));
    TRY(client_of(c, false, &client, err));
    return s3_grant_role(client, &c->role, &base.identity, a, out, err);
}

static silt_status ask(s3_credentials *c, provider p, arena *a, s3_grant *out, silt_error *err) {
    http_client *client;
    switch (p) {
        case P_SETTINGS: return from_settings(c, out);
        case P_ENVIRONMENT: return from_environment(c, out);
        case P_WEB_IDENTITY: return from_web_identity(c, a, out, err);
        case P_PROFILE: return from_profile(c, a, out, err);
        case P_ROLE: return from_role(c, a, out, err);
        case P_ANONYMOUS: *out = (s3_grant){.identity = {STR_NULL, STR_NULL, STR_NULL}, .expires_ms = INT64_MAX}; return SILT_OK;
        case P_CONTAINER:
        case P_INSTANCE:
            TRY(client_of(c, true, &client, err));
            return p == P_CONTAINER ? s3_grant_container(client, c->env, c->env_ctx, a, out, err) : s3_grant_instance(client, c->env, c->env_ctx, a, out, err);
        case P_COUNT: break;
    }
    return SILT_NOT_FOUND;
}

/* ---- the identity of the moment ---- */

static bool copy_identity(const s3_identity *from, arena *a, s3_identity *out) {
    const str *in[] = {&from->access_key, &from->secret_key, &from->session_token};
    str *to[] = {&out->access_key, &out->secret_key, &out->session_token};
    for (size_t i = 0; i < ARRAY_LEN(in); i++) {
        *to[i] = str_is_null(*in[i]) ? STR_NULL : arena_str(a, *in[i]);
        if (str_is_null(*to[i]) != str_is_null(*in[i])) return false;
    }
    return true;
}

static silt_status fetch(s3_credentials *c, silt_error *err) {
    arena *a = arena_new();
    s3_grant grant;
    silt_error why = {0};
    if (!a) return error_no_memory(err);
    silt_status status = ask_first(c, c->order, c->n_order, a, &grant, &why);
    if (status == SILT_NOT_FOUND) {
        status = err_S3_NO_CREDENTIALS(&why);
        if (c->has_keystore) error_detail(&why, "Hadoop's credential stores (hadoop.security.credential.provider.path) are not read.");
    }
    if (status == SILT_OK) {
        arena_reset(c->held);
        c->has_grant = copy_identity(&grant.identity, c->held, &c->grant.identity);
        c->grant.expires_ms = grant.expires_ms;
        c->asked_ms = time_monotonic_ms();
        if (!c->has_grant) status = error_no_memory(&why);
    }
    arena_free(a);
    if (status != SILT_OK && err) *err = why;
    return status;
}

static silt_status get_locked(s3_credentials *c, arena *a, s3_identity *out, silt_error *err) {
    int64_t now = time_now_ms();
    bool ends_soon = c->has_grant && c->grant.expires_ms != INT64_MAX && c->grant.expires_ms - now < RENEW_BEFORE_MS;
    if (!c->has_grant || ends_soon) {
        silt_status status = fetch(c, err);
        if (status != SILT_OK && !(c->has_grant && c->grant.expires_ms > now)) return status; /* the old one still serves */
    }
    return copy_identity(&c->grant.identity, a, out) ? SILT_OK : error_no_memory(err);
}

silt_status s3_credentials_get(s3_credentials *c, arena *a, s3_identity *out, silt_error *err) {
    pthread_mutex_lock(&c->lock);
    silt_status status = get_locked(c, a, out, err);
    pthread_mutex_unlock(&c->lock);
    return status;
}

#define ASK_AGAIN_AFTER_MS 1000

/* A grant of a moment ago is not asked for again: another thread was told the same of the one before. */
bool s3_credentials_expire(s3_credentials *c) {
    pthread_mutex_lock(&c->lock);
    bool ends = c->has_grant && !str_is_null(c->grant.identity.session_token);
    if (ends && time_monotonic_ms() - c->asked_ms >= ASK_AGAIN_AFTER_MS) c->has_grant = false;
    pthread_mutex_unlock(&c->lock);
    return ends;
}
