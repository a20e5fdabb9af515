/**
 * Azure Blob Storage (and Data Lake Storage Gen2 by its Blob endpoint) over its REST interface. Internal to store/.
 * Source: "Blob service REST API", "Authorize with Shared Key", and the configuration keys of Hadoop's hadoop-azure.
 */
#ifndef STORE_AZURE_H
#define STORE_AZURE_H

#include "store/object/cloud_token.h"
#include "store/object/object_store.h"

typedef enum azure_auth {
    AZURE_ANONYMOUS,
    AZURE_SHARED_KEY,
    AZURE_SAS,
    AZURE_CLIENT_SECRET,      /**< OAuth client credentials */
    AZURE_WORKLOAD_IDENTITY,  /**< the same with a token file in place of the secret */
    AZURE_MANAGED_IDENTITY
} azure_auth;

/** Where a container is and who asks. All strings in the arena given to azure_account_find. */
typedef struct azure_account {
    str container, account;
    str host;     /**< of the account, as the location or the default says: account.blob.core.windows.net */
    str endpoint; /**< what stands before "/container/blob", without a slash at its end; path style has the account in it */
    azure_auth auth;
    str key;                       /**< AZURE_SHARED_KEY: decoded */
    str sas;                       /**< AZURE_SAS: the query, without '?' */
    str client_id, client_secret;  /**< OAuth; of AZURE_MANAGED_IDENTITY the id alone, may be null */
    str token_endpoint;            /**< OAuth: URL; of AZURE_MANAGED_IDENTITY its metadata service */
    str token_file;                /**< AZURE_WORKLOAD_IDENTITY */
    str identity_header;           /**< AZURE_MANAGED_IDENTITY in App Service: the secret that its service wants; else null */
} azure_account;

/** An environment: getenv, or a test's. */
typedef const char *(*azure_env)(void *ctx, const char *name);

/**
 * Find the account and the credential of "container@account.dfs.core.windows.net" or "container" (az://). For the credential the first of these that is set counts: what
 * fs.azure.account.auth.type says (by account, then for all); fs.azure.account.key; fs.azure.sas.fixed.token; OAuth keys; then the environment: AZURE_STORAGE_CONNECTION_STRING,
 * AZURE_STORAGE_KEY, AZURE_STORAGE_SAS_TOKEN, AZURE_CLIENT_SECRET, AZURE_FEDERATED_TOKEN_FILE, IDENTITY_ENDPOINT; else none.
 * Other settings: silt.azure.endpoint (an emulator's or a private one; also AZURE_STORAGE_ENDPOINT and the connection string's), silt.azure.account (for az://container),
 * silt.azure.caFile, silt.azure.proxy.
 * Credentials that are not of one account (tokens, the environment's) go to hosts of Azure alone, or to the endpoint that was set: a location in a log could name any host.
 * @return INVALID_PARAMETER_VALUE (no account, a host or key that is none), UNSUPPORTED_FEATURE (an auth type)
 */
silt_status azure_account_find(str authority, const store_settings *settings, azure_env env, void *env_ctx, arena *a, azure_account *out, silt_error *err) MUST_CHECK;

/**
 * The text that a Shared Key signature is of, for services since version 2009-09-19 ("Authorize with Shared Key", Blob). `headers` are those sent; Content-Length is given apart.
 */
void azure_string_to_sign(buf *out, str account, const char *method, str url, const http_header *headers, size_t n_headers, int64_t content_length, arena *a);
/** base64(HMAC-SHA256(key, text)), in `a`; null when memory ran out. */
str azure_signature(str key, str text, arena *a);

/** One page of List Blobs. @return false: not such a document. */
bool azure_page_parse(str xml, arena *a, object_page *out);
/** <Error><Code>…</Code><Message>…</Message></Error>; nulls where it is none. */
void azure_error_parse(str xml, arena *a, object_error *out);

#endif
