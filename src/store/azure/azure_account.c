/*
 * Whose container it is and by what right it is read: Hadoop's configuration keys first, then the environment.
 *
 * A location may come from a table's log, that is from others. So what is not the secret of one account (an access token, a credential of the environment) is used only for hosts
 * that are Azure's, and for the endpoint that the user set.
 */
#include "base/ident.h"
#include "store/azure/azure.h"

#define IDENTITY_SERVICE "http://169.254.169.254/metadata/identity/oauth2/token"
#define EMULATOR_ENDPOINT "http://127.0.0.1:10000/devstoreaccount1"
/* The emulator's account and key are the same everywhere and published: no secret. */
#define EMULATOR_KEY "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

typedef struct finder {
    const store_settings *settings;
    azure_env env;
    void *env_ctx;
    arena *a;
    azure_account *out;
    str dfs_host;  /* the host's name at the other endpoint of the account */
    bool own_host; /* Azure's, or set by the user */
    /* of the connection string */
    str c_account, c_key, c_sas, c_endpoint;
} finder;

/* ---- where values come from ---- */

static str env(const finder *f, const char *name) {
    const char *value = f->env(f->env_ctx, name);
    return value && *value ? str_of(value) : STR_NULL;
}

static str env_of(const finder *f, const char *const *names) {
    for (; *names; names++)
        if (!str_is_null(env(f, *names))) return env(f, *names);
    return STR_NULL;
}

static str setting_at(const finder *f, const char *key, str where) {
    str name = arena_printf(f->a, "%s.%.*s", key, STR_ARG(where));
    return str_is_null(name) || where.len == 0 ? STR_NULL : store_setting(f->settings, name.ptr);
}

/* By account, in its several spellings, then for all. */
static str setting(const finder *f, const char *key) {
    const str hosts[] = {f->dfs_host, f->out->host, f->out->account};
    for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
        str value = setting_at(f, key, hosts[i]);
        if (!str_is_null(value)) return value;
    }
    return store_setting(f->settings, key);
}

/* A value that is kept: settings are borrowed for the call. */
static silt_status keep(const finder *f, str value, str *out, silt_error *err) {
    *out = arena_str(f->a, value);
    return str_is_null(*out) ? error_no_memory(err) : SILT_OK;
}

/* ---- names and hosts ---- */

static bool is_of(str s, const char *more, size_t least, size_t most) {
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (!plain && !(c && strchr(more, c))) return false;
    }
    return s.len >= least && s.len <= most;
}

static bool is_azure_host(str host) {
    static const char *const ends[] = {".core.windows.net", ".core.chinacloudapi.cn", ".core.usgovcloudapi.net", ".core.cloudapi.de", ".storage.azure.net", ".fabric.microsoft.com"};
    for (size_t i = 0; i < ARRAY_LEN(ends); i++)
        if (str_ends_with(host, str_of(ends[i]))) return true;
    return false;
}

/* account.dfs.core.windows.net and account.blob.core.windows.net are two doors of one account. */
static str other_door(arena *a, str host, const char *from, const char *to) {
    size_t at = str_find(host, str_of(from));
    if (at == SIZE_MAX) return host;
    return arena_printf(a, "%.*s%s%.*s", STR_ARG(str_slice(host, 0, at)), to, STR_ARG(str_slice(host, at + strlen(from), host.len)));
}

static silt_status invalid(const char *name, str value, const char *expected, silt_error *err) {
    return err_INVALID_PARAMETER_VALUE(err, str_of(name), value, expected);
}

static silt_status split_authority(finder *f, str authority, silt_error *err) {
    azure_account *out = f->out;
    size_t at = str_find_char(authority, '@');
    str container = at == SIZE_MAX ? authority : str_slice(authority, 0, at), host = at == SIZE_MAX ? STR("") : str_slice(authority, at + 1, authority.len);
    TRY(keep(f, container, &out->container, err));
    if (!is_of(container, "-_$.ABCDEFGHIJKLMNOPQRSTUVWXYZ", 1, 255)) return invalid("container", container, "the name of a container, as in container@account.dfs.core.windows.net", err);
    if (at == SIZE_MAX) return SILT_OK;
    out->host = arena_str_lower(f->a, host);
    if (str_is_null(out->host)) return error_no_memory(err);
    if (!is_of(out->host, ".-", 1, 255)) return invalid("account", host, "a host name like account.dfs.core.windows.net", err);
    size_t dot = str_find_char(out->host, '.');
    out->account = dot == SIZE_MAX ? out->host : str_slice(out->host, 0, dot);
    if (dot == SIZE_MAX) out->host = STR("");
    return SILT_OK;
}

/* ---- the connection string ---- */

static bool is_account_of(const finder *f, str account) { return str_is_null(account) || f->out->account.len == 0 || str_eq(account, f->out->account); }

/* Credentials of the environment are of its own account, where it names one. */
static void read_connection_string(finder *f) {
    str rest = env(f, "AZURE_STORAGE_CONNECTION_STRING"), part, suffix = STR("core.windows.net");
    bool emulator = false;
    while (str_next(&rest, ';', &part)) {
        size_t equals = str_find_char(part, '=');
        if (equals == SIZE_MAX) continue;
        str name = str_trim(str_slice(part, 0, equals)), value = str_trim(str_slice(part, equals + 1, part.len));
        if (str_eq_ascii_fold(name, STR("AccountName"))) f->c_account = value;
        else if (str_eq_ascii_fold(name, STR("AccountKey"))) f->c_key = value;
        else if (str_eq_ascii_fold(name, STR("SharedAccessSignature"))) f->c_sas = value;
        else if (str_eq_ascii_fold(name, STR("BlobEndpoint"))) f->c_endpoint = value;
        else if (str_eq_ascii_fold(name, STR("EndpointSuffix"))) suffix = value;
        else if (str_eq_ascii_fold(name, STR("UseDevelopmentStorage"))) emulator = str_eq_ascii_fold(value, STR("true"));
    }
    if (str_eqz(env(f, "AZURE_STORAGE_USE_EMULATOR"), "true")) emulator = true;
    if (emulator) {
        f->c_account = STR("devstoreaccount1");
        f->c_key = STR(EMULATOR_KEY);
        if (str_is_null(f->c_endpoint)) f->c_endpoint = STR(EMULATOR_ENDPOINT);
    } else if (str_is_null(f->c_endpoint) && !str_is_null(f->c_account) && !str_eqz(suffix, "core.windows.net")) {
        f->c_endpoint = arena_printf(f->a, "https://%.*s.blob.%.*s", STR_ARG(f->c_account), STR_ARG(suffix));
    }
}

/* ---- account and endpoint ---- */

static const char *const account_names[] = {"AZURE_STORAGE_ACCOUNT", "AZURE_STORAGE_ACCOUNT_NAME", NULL};

static str configured_endpoint(const finder *f) {
    str endpoint = setting(f, "silt.azure.endpoint");
    if (str_is_null(endpoint) && is_account_of(f, env_of(f, account_names))) endpoint = env(f, "AZURE_STORAGE_ENDPOINT");
    if (str_is_null(endpoint) && is_account_of(f, f->c_account)) endpoint = f->c_endpoint;
    return endpoint;
}

static bool is_name_of_account(str s) { return is_of(s, "-", 1, 63); }

/* http://127.0.0.1:10000/account: what is behind the host is the account. */
static silt_status use_endpoint(finder *f, str endpoint, silt_error *err) {
    azure_account *out = f->out;
    size_t scheme = str_starts_with(endpoint, STR("http://")) ? 7 : str_starts_with(endpoint, STR("https://")) ? 8 : 0;
    while (endpoint.len > scheme && endpoint.ptr[endpoint.len - 1] == '/') endpoint.len--;
    str rest = str_slice(endpoint, scheme, endpoint.len);
    bool odd = str_find_char(rest, '@') != SIZE_MAX || str_find_char(rest, '?') != SIZE_MAX || str_find_char(rest, '#') != SIZE_MAX || str_find_char(rest, ' ') != SIZE_MAX;
    if (scheme == 0 || rest.len == 0 || odd) return invalid("silt.azure.endpoint", STR("…"), "a URL like http://127.0.0.1:10000/devstoreaccount1, without a query", err);
    size_t slash = str_find_char(rest, '/');
    str host = slash == SIZE_MAX ? rest : str_slice(rest, 0, slash), path = slash == SIZE_MAX ? STR("") : str_slice(rest, slash + 1, rest.len);
    size_t dot = str_find_char(host, '.');
    bool named = dot != SIZE_MAX && str_find(host, STR(".blob.")) == dot; /* account.blob.… has its account in the host */
    if (out->account.len == 0) out->account = named ? str_slice(host, 0, dot) : path;
    if (!is_name_of_account(out->account)) return invalid("silt.azure.account", out->account, "the name of a storage account", err);
    if (named || path.len > 0) TRY(keep(f, endpoint, &out->endpoint, err));
    else out->endpoint = arena_printf(f->a, "%.*s/%.*s", STR_ARG(endpoint), STR_ARG(out->account));
    f->own_host = true;
    return str_is_null(out->endpoint) ? error_no_memory(err) : SILT_OK;
}

static silt_status find_account(finder *f, silt_error *err) {
    azure_account *out = f->out;
    if (out->account.len > 0) return SILT_OK;
    str account = store_setting(f->settings, "silt.azure.account");
    if (str_is_null(account)) account = env_of(f, account_names);
    if (str_is_null(account)) account = f->c_account;
    return str_is_null(account) ? SILT_OK : keep(f, account, &out->account, err);
}

static silt_status find_endpoint(finder *f, silt_error *err) {
    azure_account *out = f->out;
    TRY(find_account(f, err));
    f->dfs_host = out->host.len ? other_door(f->a, out->host, ".blob.", ".dfs.") : arena_printf(f->a, "%.*s.dfs.core.windows.net", STR_ARG(out->account));
    out->host = out->host.len ? other_door(f->a, out->host, ".dfs.", ".blob.") : arena_printf(f->a, "%.*s.blob.core.windows.net", STR_ARG(out->account));
    if (str_is_null(f->dfs_host) || str_is_null(out->host)) return error_no_memory(err);
    str endpoint = configured_endpoint(f);
    if (!str_is_null(endpoint)) return use_endpoint(f, endpoint, err);
    if (out->account.len == 0) return invalid("silt.azure.account", STR(""), "the account of the container: write container@account.dfs.core.windows.net, or set silt.azure.account", err);
    if (!is_name_of_account(out->account)) return invalid("account", out->account, "the name of a storage account", err);
    f->own_host = is_azure_host(out->host);
    out->endpoint = arena_printf(f->a, "https://%.*s", STR_ARG(out->host));
    return str_is_null(out->endpoint) ? error_no_memory(err) : SILT_OK;
}

/* ---- credentials ---- */

static silt_status use_key(finder *f, str text, silt_error *err) {
    buf key;
    buf_init(&key, 1024);
    f->out->auth = AZURE_SHARED_KEY;
    bool ok = base64_decode(str_trim(text), &key) && key.len > 0;
    silt_status status = ok ? keep(f, buf_str(&key), &f->out->key, err) : invalid("fs.azure.account.key", STR("…"), "the account's key in base64", err);
    if (key.ptr) explicit_bzero(key.ptr, key.capacity);
    buf_dispose(&key);
    return status;
}

static silt_status use_sas(finder *f, str text, silt_error *err) {
    text = str_trim(text);
    if (text.len > 0 && (text.ptr[0] == '?' || text.ptr[0] == '&')) text = str_slice(text, 1, text.len);
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] <= ' ' || (unsigned char)text.ptr[i] >= 127 || text.ptr[i] == '#') return invalid("fs.azure.sas.fixed.token", STR("…"), "a SAS token, as the query of a URL", err);
    f->out->auth = AZURE_SAS;
    return keep(f, text, &f->out->sas, err);
}

static str or_env(str value, const finder *f, const char *name) { return str_is_null(value) ? env(f, name) : value; }

/* The directory's token endpoint; what the environment says by tenant is put together. */
static silt_status token_endpoint(finder *f, silt_error *err) {
    str endpoint = setting(f, "fs.azure.account.oauth2.client.endpoint"), tenant = env(f, "AZURE_TENANT_ID"), host = env(f, "AZURE_AUTHORITY_HOST");
    if (str_is_null(endpoint) && !str_is_null(tenant)) {
        if (str_is_null(host)) host = STR("https://login.microsoftonline.com");
        while (host.len > 0 && host.ptr[host.len - 1] == '/') host.len--;
        endpoint = arena_printf(f->a, "%s%.*s/%.*s/oauth2/v2.0/token", str_find(host, STR("://")) == SIZE_MAX ? "https://" : "", STR_ARG(host), STR_ARG(tenant));
    }
    bool loopback = str_starts_with(endpoint, STR("http://127.0.0.1:")) || str_starts_with(endpoint, STR("http://localhost:"));
    if (!str_starts_with(endpoint, STR("https://")) && !loopback)
        return invalid("fs.azure.account.oauth2.client.endpoint", endpoint, "the https URL of the token endpoint", err);
    return keep(f, endpoint, &f->out->token_endpoint, err);
}

static silt_status need(str value, const char *name, silt_error *err) {
    return str_is_null(value) || value.len == 0 ? invalid(name, STR(""), "a value, because OAuth is asked for", err) : SILT_OK;
}

static silt_status use_client_secret(finder *f, silt_error *err) {
    str id = or_env(setting(f, "fs.azure.account.oauth2.client.id"), f, "AZURE_CLIENT_ID");
    str secret = or_env(setting(f, "fs.azure.account.oauth2.client.secret"), f, "AZURE_CLIENT_SECRET");
    f->out->auth = AZURE_CLIENT_SECRET;
    TRY(need(id, "fs.azure.account.oauth2.client.id", err));
    TRY(need(secret, "fs.azure.account.oauth2.client.secret", err));
    TRY(keep(f, id, &f->out->client_id, err));
    TRY(keep(f, secret, &f->out->client_secret, err));
    return token_endpoint(f, err);
}

static silt_status use_workload_identity(finder *f, silt_error *err) {
    str id = or_env(setting(f, "fs.azure.account.oauth2.client.id"), f, "AZURE_CLIENT_ID");
    str file = or_env(setting(f, "fs.azure.account.oauth2.token.file"), f, "AZURE_FEDERATED_TOKEN_FILE");
    f->out->auth = AZURE_WORKLOAD_IDENTITY;
    TRY(need(id, "fs.azure.account.oauth2.client.id", err));
    TRY(need(file, "fs.azure.account.oauth2.token.file", err));
    TRY(keep(f, id, &f->out->client_id, err));
    TRY(keep(f, file, &f->out->token_file, err));
    return token_endpoint(f, err);
}

static silt_status use_managed_identity(finder *f, silt_error *err) {
    str id = or_env(setting(f, "fs.azure.account.oauth2.client.id"), f, "AZURE_CLIENT_ID"), service = setting(f, "fs.azure.account.oauth2.msi.endpoint");
    str header = STR_NULL;
    f->out->auth = AZURE_MANAGED_IDENTITY;
    if (str_is_null(service) && !str_is_null(env(f, "IDENTITY_ENDPOINT"))) {
        service = env(f, "IDENTITY_ENDPOINT");
        header = env(f, "IDENTITY_HEADER");
    }
    if (str_is_null(service)) service = STR(IDENTITY_SERVICE);
    TRY(keep(f, service, &f->out->token_endpoint, err));
    if (!str_is_null(header)) TRY(keep(f, header, &f->out->identity_header, err));
    return str_is_null(id) ? SILT_OK : keep(f, id, &f->out->client_id, err);
}

static silt_status use_provider(finder *f, silt_error *err) {
    str provider = setting(f, "fs.azure.account.oauth.provider.type");
    if (str_is_null(provider) || str_ends_with(provider, STR("ClientCredsTokenProvider"))) return use_client_secret(f, err);
    if (str_ends_with(provider, STR("MsiTokenProvider"))) return use_managed_identity(f, err);
    if (str_ends_with(provider, STR("WorkloadIdentityTokenProvider"))) return use_workload_identity(f, err);
    silt_status status = err_UNSUPPORTED_FEATURE(err, "this provider of Azure's access tokens");
    error_detail(err, "fs.azure.account.oauth.provider.type is %.*s.", STR_ARG(provider));
    error_hint(err, "Set ClientCredsTokenProvider, MsiTokenProvider or WorkloadIdentityTokenProvider.");
    return status;
}

static str configured_sas(const finder *f) {
    const str hosts[] = {f->out->host, f->dfs_host};
    for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
        str wasb = arena_printf(f->a, "fs.azure.sas.%.*s.%.*s", STR_ARG(f->out->container), STR_ARG(hosts[i]));
        str abfs = arena_printf(f->a, "fs.azure.sas.fixed.token.%.*s.%.*s", STR_ARG(f->out->container), STR_ARG(hosts[i]));
        str value = str_is_null(wasb) ? STR_NULL : store_setting(f->settings, wasb.ptr);
        if (str_is_null(value) && !str_is_null(abfs)) value = store_setting(f->settings, abfs.ptr);
        if (!str_is_null(value)) return value;
    }
    return setting(f, "fs.azure.sas.fixed.token");
}

static silt_status use_named(finder *f, str type, silt_error *err) {
    if (str_eq_ascii_fold(type, STR("SharedKey"))) {
        str key = setting(f, "fs.azure.account.key");
        return str_is_null(key) ? invalid("fs.azure.account.key", STR(""), "the account's key, because SharedKey is asked for", err) : use_key(f, key, err);
    }
    if (str_eq_ascii_fold(type, STR("SAS"))) {
        str sas = configured_sas(f);
        return str_is_null(sas) ? invalid("fs.azure.sas.fixed.token", STR(""), "a token, because SAS is asked for", err) : use_sas(f, sas, err);
    }
    if (str_eq_ascii_fold(type, STR("OAuth"))) return use_provider(f, err);
    silt_status status = err_UNSUPPORTED_FEATURE(err, "this way to prove who asks Azure");
    error_detail(err, "fs.azure.account.auth.type is %.*s.", STR_ARG(type));
    error_hint(err, "Set SharedKey, SAS or OAuth.");
    return status;
}

static silt_status use_environment(finder *f, silt_error *err) {
    static const char *const keys[] = {"AZURE_STORAGE_KEY", "AZURE_STORAGE_ACCOUNT_KEY", "AZURE_STORAGE_ACCESS_KEY", NULL};
    static const char *const tokens[] = {"AZURE_STORAGE_SAS_TOKEN", "AZURE_STORAGE_SAS_KEY", NULL};
    bool mine = is_account_of(f, env_of(f, account_names));
    if (is_account_of(f, f->c_account) && !str_is_null(f->c_key)) return use_key(f, f->c_key, err);
    if (is_account_of(f, f->c_account) && !str_is_null(f->c_sas)) return use_sas(f, f->c_sas, err);
    if (mine && !str_is_null(env_of(f, keys))) return use_key(f, env_of(f, keys), err);
    if (mine && !str_is_null(env_of(f, tokens))) return use_sas(f, env_of(f, tokens), err);
    if (!str_is_null(env(f, "AZURE_CLIENT_ID")) && !str_is_null(env(f, "AZURE_CLIENT_SECRET"))) return use_client_secret(f, err);
    if (!str_is_null(env(f, "AZURE_CLIENT_ID")) && !str_is_null(env(f, "AZURE_FEDERATED_TOKEN_FILE"))) return use_workload_identity(f, err);
    if (!str_is_null(env(f, "IDENTITY_ENDPOINT"))) return use_managed_identity(f, err);
    return SILT_OK;
}

static silt_status find_credential(finder *f, silt_error *err) {
    str type = setting(f, "fs.azure.account.auth.type"), key = setting(f, "fs.azure.account.key"), sas = configured_sas(f);
    if (!f->own_host) { /* only what is set for this very host */
        key = setting_at(f, "fs.azure.account.key", f->out->host);
        if (str_is_null(key)) key = setting_at(f, "fs.azure.account.key", f->dfs_host);
        return str_is_null(key) ? SILT_OK : use_key(f, key, err);
    }
    if (!str_is_null(type)) return use_named(f, type, err);
    if (!str_is_null(key)) return use_key(f, key, err);
    if (!str_is_null(sas)) return use_sas(f, sas, err);
    if (!str_is_null(setting(f, "fs.azure.account.oauth.provider.type"))) return use_provider(f, err);
    if (!str_is_null(setting(f, "fs.azure.account.oauth2.client.secret"))) return use_client_secret(f, err);
    return use_environment(f, err);
}

silt_status azure_account_find(str authority, const store_settings *settings, azure_env environment, void *env_ctx, arena *a, azure_account *out, silt_error *err) {
    finder f = {.settings = settings, .env = environment, .env_ctx = env_ctx, .a = a, .out = out, .c_account = STR_NULL, .c_key = STR_NULL, .c_sas = STR_NULL, .c_endpoint = STR_NULL};
    *out = (azure_account){.account = STR(""), .host = STR("")};
    read_connection_string(&f);
    TRY(split_authority(&f, authority, err));
    TRY(find_endpoint(&f, err));
    return find_credential(&f, err);
}
