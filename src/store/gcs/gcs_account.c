/* By what right a bucket is read: the connector's configuration keys, then what Google's own clients look for. */
#include <stdio.h>

#include "base/json.h"
#include "store/gcs/gcs.h"

#define TOKEN_URL "https://oauth2.googleapis.com/token"
#define KEY_FILE_MAX (1 << 20)

typedef struct finder {
    const store_settings *settings;
    gcs_env env;
    void *env_ctx;
    arena *a;
    gcs_account *out;
} finder;

static str env(const finder *f, const char *name) {
    const char *value = f->env(f->env_ctx, name);
    return value && *value ? str_of(value) : STR_NULL;
}

static str setting_of(const finder *f, const char *const *keys) {
    for (; *keys; keys++) {
        str value = store_setting(f->settings, *keys);
        if (value.len) return value;
    }
    return STR_NULL;
}

static silt_status keep(arena *a, str value, str *out, silt_error *err) {
    *out = arena_str(a, value);
    return str_is_null(*out) ? error_no_memory(err) : SILT_OK;
}

static bool is_loopback(str url) { return str_starts_with(url, STR("http://127.0.0.1:")) || str_starts_with(url, STR("http://localhost:")); }

/* ---- the bucket and the endpoint ---- */

static silt_status check_bucket(str bucket, silt_error *err) {
    bool ok = bucket.len >= 3 && bucket.len <= 222;
    for (size_t i = 0; i < bucket.len; i++) {
        char c = bucket.ptr[i];
        ok &= (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
    }
    return ok ? SILT_OK : err_INVALID_PARAMETER_VALUE(err, STR("bucket"), bucket, "the name of a bucket: 3 to 222 lower-case letters, digits, '-', '_' and '.'");
}

static silt_status find_endpoint(finder *f, bool *out_own, silt_error *err) {
    static const char *const keys[] = {"silt.gcs.endpoint", "fs.gs.storage.root.url", NULL};
    str endpoint = setting_of(f, keys);
    if (str_is_null(endpoint)) endpoint = env(f, "STORAGE_EMULATOR_HOST");
    *out_own = !str_is_null(endpoint);
    if (!*out_own) endpoint = STR("https://storage.googleapis.com");
    while (endpoint.len > 0 && endpoint.ptr[endpoint.len - 1] == '/') endpoint.len--;
    bool bare = str_find(endpoint, STR("://")) == SIZE_MAX; /* emulators are named by host and port */
    bool odd = str_find_char(endpoint, '@') != SIZE_MAX || str_find_char(endpoint, '?') != SIZE_MAX || str_find_char(endpoint, '#') != SIZE_MAX || str_find_char(endpoint, ' ') != SIZE_MAX;
    bool http = str_starts_with(endpoint, STR("http://")) || str_starts_with(endpoint, STR("https://"));
    if (odd || endpoint.len == 0 || (!bare && !http)) return err_INVALID_PARAMETER_VALUE(err, STR("silt.gcs.endpoint"), STR("…"), "a URL like http://127.0.0.1:4443, without a query");
    f->out->endpoint = arena_printf(f->a, "%s%.*s", bare ? "http://" : "", STR_ARG(endpoint));
    return str_is_null(f->out->endpoint) ? error_no_memory(err) : SILT_OK;
}

/* ---- key files ---- */

static silt_status take_service_account(const json_node *root, str name, arena *a, gcs_account *out, silt_error *err) {
    str email = json_get_str(root, "client_email", STR_NULL), key = json_get_str(root, "private_key", STR_NULL);
    if (email.len == 0 || key.len == 0) return err_STORE_CREDENTIAL_INVALID(err, name, "it has no client_email or no private_key");
    out->auth = GCS_SERVICE_ACCOUNT;
    TRY(keep(a, email, &out->email, err));
    TRY(keep(a, key, &out->key, err));
    return keep(a, json_get_str(root, "private_key_id", STR("")), &out->key_id, err);
}

static silt_status take_user(const json_node *root, str name, arena *a, gcs_account *out, silt_error *err) {
    str id = json_get_str(root, "client_id", STR_NULL), secret = json_get_str(root, "client_secret", STR_NULL), refresh = json_get_str(root, "refresh_token", STR_NULL);
    if (id.len == 0 || secret.len == 0 || refresh.len == 0) return err_STORE_CREDENTIAL_INVALID(err, name, "it has no client_id, client_secret or refresh_token");
    out->auth = GCS_USER;
    TRY(keep(a, id, &out->client_id, err));
    TRY(keep(a, secret, &out->client_secret, err));
    return keep(a, refresh, &out->refresh_token, err);
}

silt_status gcs_key_parse(str json, str name, arena *a, gcs_account *out, silt_error *err) {
    const json_node *root;
    if (json_parse(json, a, &root, NULL) != SILT_OK || root->type != JSON_OBJECT) return err_STORE_CREDENTIAL_INVALID(err, name, "it is no JSON object");
    str type = json_get_str(root, "type", STR(""));
    str url = json_get_str(root, "token_uri", STR(TOKEN_URL));
    if (!str_starts_with(url, STR("https://")) && !is_loopback(url)) return err_STORE_CREDENTIAL_INVALID(err, name, "its token_uri is no https URL");
    TRY(keep(a, url, &out->token_url, err));
    if (str_eqz(type, "service_account")) return take_service_account(root, name, a, out, err);
    if (str_eqz(type, "authorized_user")) return take_user(root, name, a, out, err);
    silt_status status = err_UNSUPPORTED_FEATURE(err, "this kind of Google credential");
    error_detail(err, "%.*s has the type %.*s.", STR_ARG(name), STR_ARG(type));
    error_hint(err, "Use the key file of a service account, or gcloud auth application-default login.");
    return status;
}

static silt_status read_key_file(const finder *f, str path, bool *out_missing, silt_error *err) {
    buf text;
    char block[4096];
    size_t n;
    str z = arena_str(f->a, path);
    if (str_is_null(z)) return error_no_memory(err);
    FILE *file = fopen(z.ptr, "rb");
    *out_missing = !file;
    if (!file) return SILT_OK;
    buf_init(&text, KEY_FILE_MAX);
    while ((n = fread(block, 1, sizeof block, file)) > 0) buf_append_bytes(&text, block, n);
    fclose(file);
    silt_status status = buf_ok(&text) ? gcs_key_parse(buf_str(&text), path, f->a, f->out, err) : err_STORE_CREDENTIAL_INVALID(err, path, "it is too long");
    explicit_bzero(block, sizeof block);
    if (text.ptr) explicit_bzero(text.ptr, text.capacity);
    buf_dispose(&text);
    return status;
}

static silt_status use_key_file(const finder *f, str path, silt_error *err) {
    bool missing;
    TRY(read_key_file(f, path, &missing, err));
    return missing ? err_STORE_CREDENTIAL_INVALID(err, path, "the file cannot be opened") : SILT_OK;
}

/* ---- which credential ---- */

static const char *const key_files[] = {"fs.gs.auth.service.account.json.keyfile", "google.cloud.auth.service.account.json.keyfile", NULL};

static silt_status use_metadata(const finder *f, gcs_auth auth, silt_error *err) {
    str host = env(f, "GCE_METADATA_HOST");
    f->out->auth = auth;
    f->out->token_url = arena_printf(f->a, "http://%.*s/computeMetadata/v1/instance/service-accounts/default/token", STR_ARG(str_is_null(host) ? STR("metadata.google.internal") : host));
    return str_is_null(f->out->token_url) ? error_no_memory(err) : SILT_OK;
}

static silt_status use_hmac(const finder *f, str key, str secret, silt_error *err) {
    if (key.len == 0 || secret.len == 0) return err_INVALID_PARAMETER_VALUE(err, STR("silt.gcs.hmac.secret"), STR(""), "both silt.gcs.hmac.accessKey and silt.gcs.hmac.secret");
    f->out->auth = GCS_HMAC;
    TRY(keep(f->a, key, &f->out->hmac_key, err));
    return keep(f->a, secret, &f->out->hmac_secret, err);
}

/* A key in the configuration itself, as the connector had it up to version 2: its line breaks may be written as \\n. */
static silt_status use_inline_key(const finder *f, str email, str pem, silt_error *err) {
    buf text;
    buf_init(&text, KEY_FILE_MAX);
    for (size_t i = 0; i < pem.len; i++) {
        bool is_break = pem.ptr[i] == '\\' && i + 1 < pem.len && pem.ptr[i + 1] == 'n';
        buf_append_char(&text, is_break ? '\n' : pem.ptr[i]);
        i += is_break;
    }
    f->out->auth = GCS_SERVICE_ACCOUNT;
    f->out->key_id = STR("");
    silt_status status = buf_ok(&text) ? keep(f->a, buf_str(&text), &f->out->key, err) : err_STORE_CREDENTIAL_INVALID(err, email, "it is too long");
    if (text.ptr) explicit_bzero(text.ptr, text.capacity);
    buf_dispose(&text);
    TRY(status);
    TRY(keep(f->a, email, &f->out->email, err));
    return keep(f->a, STR(TOKEN_URL), &f->out->token_url, err);
}

static silt_status use_default(const finder *f, bool own_endpoint, silt_error *err) {
    str file = env(f, "GOOGLE_APPLICATION_CREDENTIALS"), folder = env(f, "CLOUDSDK_CONFIG"), home = env(f, "HOME");
    bool missing = true;
    if (!str_is_null(file)) return use_key_file(f, file, err);
    if (!own_endpoint && !str_is_null(env(f, "GS_ACCESS_KEY_ID"))) return use_hmac(f, env(f, "GS_ACCESS_KEY_ID"), env(f, "GS_SECRET_ACCESS_KEY"), err);
    if (own_endpoint) return SILT_OK; /* an emulator is not told who asks unless that was set for it */
    if (!str_is_null(folder)) file = arena_printf(f->a, "%.*s/application_default_credentials.json", STR_ARG(folder));
    else if (!str_is_null(home)) file = arena_printf(f->a, "%.*s/.config/gcloud/application_default_credentials.json", STR_ARG(home));
    if (!str_is_null(file)) TRY(read_key_file(f, file, &missing, err));
    return missing ? use_metadata(f, GCS_METADATA_IF_ANY, err) : SILT_OK;
}

static silt_status use_user(const finder *f, silt_error *err) {
    static const char *const id[] = {"fs.gs.auth.client.id", NULL}, *const secret[] = {"fs.gs.auth.client.secret", NULL}, *const refresh[] = {"fs.gs.auth.refresh.token", NULL};
    if (str_is_null(setting_of(f, id)) || str_is_null(setting_of(f, secret)) || str_is_null(setting_of(f, refresh)))
        return err_INVALID_PARAMETER_VALUE(err, STR("fs.gs.auth.refresh.token"), STR(""), "a value, as well as fs.gs.auth.client.id and fs.gs.auth.client.secret, because USER_CREDENTIALS is asked for");
    f->out->auth = GCS_USER;
    TRY(keep(f->a, setting_of(f, id), &f->out->client_id, err));
    TRY(keep(f->a, setting_of(f, secret), &f->out->client_secret, err));
    TRY(keep(f->a, setting_of(f, refresh), &f->out->refresh_token, err));
    return keep(f->a, STR(TOKEN_URL), &f->out->token_url, err);
}

static silt_status use_named(const finder *f, str type, bool own_endpoint, silt_error *err) {
    str file = setting_of(f, key_files);
    if (str_eq_ascii_fold(type, STR("UNAUTHENTICATED"))) return SILT_OK;
    if (str_eq_ascii_fold(type, STR("COMPUTE_ENGINE"))) return use_metadata(f, GCS_METADATA, err);
    if (str_eq_ascii_fold(type, STR("APPLICATION_DEFAULT"))) return use_default(f, own_endpoint, err);
    if (str_eq_ascii_fold(type, STR("USER_CREDENTIALS"))) return use_user(f, err);
    if (str_eq_ascii_fold(type, STR("SERVICE_ACCOUNT_JSON_KEYFILE"))) {
        if (!str_is_null(file)) return use_key_file(f, file, err);
        return err_INVALID_PARAMETER_VALUE(err, STR("fs.gs.auth.service.account.json.keyfile"), STR(""), "the path of the key file, because SERVICE_ACCOUNT_JSON_KEYFILE is asked for");
    }
    return err_INVALID_PARAMETER_VALUE(err, STR("fs.gs.auth.type"), type, "SERVICE_ACCOUNT_JSON_KEYFILE, APPLICATION_DEFAULT, COMPUTE_ENGINE, USER_CREDENTIALS or UNAUTHENTICATED");
}

silt_status gcs_account_find(str bucket, const store_settings *settings, gcs_env environment, void *env_ctx, arena *a, gcs_account *out, silt_error *err) {
    finder f = {settings, environment, env_ctx, a, out};
    bool own = false;
    *out = (gcs_account){.auth = GCS_ANONYMOUS};
    TRY(check_bucket(bucket, err));
    TRY(keep(a, bucket, &out->bucket, err));
    TRY(find_endpoint(&f, &own, err));
    str type = store_setting(settings, "fs.gs.auth.type"), file = setting_of(&f, key_files);
    str hmac = str_trim(store_setting(settings, "silt.gcs.hmac.accessKey")), secret = str_trim(store_setting(settings, "silt.gcs.hmac.secret"));
    str email = store_setting(settings, "fs.gs.auth.service.account.email"), pem = store_setting(settings, "fs.gs.auth.service.account.private.key");
    if (hmac.len || secret.len) return use_hmac(&f, hmac, secret, err);
    if (type.len) return use_named(&f, type, own, err);
    if (!str_is_null(file)) return use_key_file(&f, file, err);
    if (email.len && pem.len) return use_inline_key(&f, email, pem, err);
    return use_default(&f, own, err);
}
