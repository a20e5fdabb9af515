/**
 * Google Cloud Storage over its JSON API. Internal to store/.
 * Source: "Cloud Storage JSON API", "Using OAuth 2.0 for server to server applications", and the configuration keys of Google's Hadoop connector.
 */
#ifndef STORE_GCS_H
#define STORE_GCS_H

#include "store/object/cloud_token.h"
#include "store/object/object_store.h"

typedef enum gcs_auth {
    GCS_ANONYMOUS,
    GCS_SERVICE_ACCOUNT, /**< a signed claim is exchanged for tokens */
    GCS_USER,            /**< a refresh token of gcloud's */
    GCS_HMAC,            /**< a key for the XML interface alone, which is S3's in other words: store/s3 speaks it */
    GCS_METADATA,        /**< the machine's service account */
    GCS_METADATA_IF_ANY  /**< nothing is configured: the machine's, where there is a metadata service, else anonymous */
} gcs_auth;

/** All strings in the arena given to gcs_account_find. */
typedef struct gcs_account {
    str bucket;
    str endpoint; /**< without a slash at its end */
    gcs_auth auth;
    str email, key, key_id;                      /**< GCS_SERVICE_ACCOUNT: key in PEM */
    str client_id, client_secret, refresh_token; /**< GCS_USER */
    str hmac_key, hmac_secret;                   /**< GCS_HMAC */
    str token_url;
} gcs_account;

typedef const char *(*gcs_env)(void *ctx, const char *name);

/**
 * The credential is the first of these that is set: an HMAC key (silt.gcs.hmac.accessKey, silt.gcs.hmac.secret); what fs.gs.auth.type says; a key file (fs.gs.auth.service.account.json.keyfile,
 * google.cloud.auth.service.account.json.keyfile); a service account's fs.gs.auth.service.account.email and .private.key; GOOGLE_APPLICATION_CREDENTIALS; an HMAC key by GS_ACCESS_KEY_ID
 * and GS_SECRET_ACCESS_KEY; gcloud's application default credentials; with an endpoint of one's own (silt.gcs.endpoint,
 * fs.gs.storage.root.url, STORAGE_EMULATOR_HOST) none; else the machine's.
 * Other settings: silt.gcs.caFile, silt.gcs.proxy.
 * @return INVALID, STORE_CREDENTIAL_INVALID, UNSUPPORTED_FEATURE (a kind of credential)
 */
silt_status gcs_account_find(str bucket, const store_settings *settings, gcs_env env, void *env_ctx, arena *a, gcs_account *out, silt_error *err) MUST_CHECK;
/** A key file's text into *out: service_account or authorized_user. `name` is for errors. */
silt_status gcs_key_parse(str json, str name, arena *a, gcs_account *out, silt_error *err) MUST_CHECK;

/** The claim that is exchanged for a token: header.claims.signature, RS256, valid for an hour from `now_s`. */
silt_status gcs_claim(const gcs_account *c, int64_t now_s, arena *a, str *out, silt_error *err) MUST_CHECK;

/** One page of objects.list. @return false: not such a document. */
bool gcs_page_parse(str json, arena *a, object_page *out);
/** One object resource. */
bool gcs_object_parse(str json, arena *a, object_info *out);
void gcs_error_parse(str json, arena *a, object_error *out);

#endif
