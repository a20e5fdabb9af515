/**
 * Amazon S3 and what speaks its interface: a driver of object_store.h. Internal to store/.
 * Source: the S3 API Reference, "Signature Version 4 signing process", and the configuration keys of Hadoop's hadoop-aws.
 */
#ifndef STORE_S3_H
#define STORE_S3_H

#include "store/object/object_store.h"

/** An environment: getenv, or a test's. */
typedef const char *(*s3_env)(void *ctx, const char *name);

/* ---- signing: s3_sign.c ---- */

typedef struct s3_identity {
    str access_key, secret_key; /**< access_key null: nobody, requests are not signed */
    str session_token;          /**< null: none */
} s3_identity;

/** The key that was derived last from a secret, for as long as secret, day, region and service stay: four hashes fewer per request. It is as secret as what it was made of. Any thread, once begun. */
typedef struct s3_signing_key {
    pthread_mutex_t lock; /**< over what follows */
    size_t made_of_len;   /**< 0: there is none yet */
    char made_of[512];
    uint8_t key[32];
} s3_signing_key;
void s3_signing_key_init(s3_signing_key *k);
void s3_signing_key_dispose(s3_signing_key *k); /**< nothing stays of it in memory */

typedef struct s3_signing {
    const s3_identity *identity;
    str region;
    const char *service; /**< "s3", "sts", "dynamodb"; "storage": Google's, with its own words for the same (GOOG4-HMAC-SHA256, x-goog-…) */
    int64_t now_ms;
    str payload; /**< sha256 of the body in hex, or "UNSIGNED-PAYLOAD" */
    s3_signing_key *kept; /**< NULL: the key is derived each time */
} s3_signing;

/** Adds x-amz-date, x-amz-content-sha256 (services s3 and storage), x-amz-security-token and Authorization to the attempt's headers; signs its URL, method and all headers. At most 4 headers. */
silt_status s3_sign(const s3_signing *s, const char *method, http_attempt *at, silt_error *err) MUST_CHECK;
/** "" when memory ran out. */
void s3_sha256_hex(str bytes, char out[65]);

/* ---- credentials: s3_credentials.c ---- */

typedef struct s3_credentials s3_credentials;

typedef struct s3_credentials_options {
    str bucket;
    const store_settings *settings; /**< read while opening only */
    s3_env env;
    void *env_ctx;
    str region;    /**< for STS */
    str providers; /**< fs.s3a.aws.credentials.provider as set, null: the usual order */
    const s3_identity *keys; /**< these and nobody else; NULL: as the settings say */
} s3_credentials_options;

/** Which providers are asked, in which order; none is asked yet. @return UNSUPPORTED_FEATURE (a class that is not known), INVALID */
silt_status s3_credentials_new(const s3_credentials_options *options, s3_credentials **out, silt_error *err) MUST_CHECK;
void s3_credentials_free(s3_credentials *c); /**< NULL is fine */
/** The identity of the moment, in `a`: fetched when there is none, anew shortly before it ends; for several threads. @return DENIED (S3_NO_CREDENTIALS: nobody has any), IO */
silt_status s3_credentials_get(s3_credentials *c, arena *a, s3_identity *out, silt_error *err) MUST_CHECK;
/** The service says that what a request was signed with has ended. true: there is, or may be, a newer identity now; false: there is none to be had. */
bool s3_credentials_expire(s3_credentials *c);

/** What one provider gave. */
typedef struct s3_grant {
    s3_identity identity;
    int64_t expires_ms; /**< INT64_MAX: never */
} s3_grant;

/** s3_profile.c: one key of a profile of the AWS CLI's two files (their texts; null where there is none); null when it is not there. */
str s3_profile_get(str credentials_file, str config_file, str profile, const char *key);
/** One key of a section [sso-session name] of the config file. */
str s3_profile_session_get(str config_file, str name, const char *key);
/** Has either file a section of that profile? */
bool s3_profile_exists(str credentials_file, str config_file, str profile);

/** s3_grant.c: grants over HTTP. NOT_FOUND: there is no such service here. */
silt_status s3_grant_container(http_client *c, s3_env env, void *env_ctx, arena *a, s3_grant *out, silt_error *err) MUST_CHECK;
silt_status s3_grant_instance(http_client *c, s3_env env, void *env_ctx, arena *a, s3_grant *out, silt_error *err) MUST_CHECK;
typedef struct s3_role {
    str arn, session_name, external_id; /**< external_id may be null */
    str duration_s;                     /**< null: the service's choice */
    str endpoint, region;               /**< endpoint null: STS of the region */
} s3_role;
silt_status s3_grant_role(http_client *c, const s3_role *role, const s3_identity *as, arena *a, s3_grant *out, silt_error *err) MUST_CHECK;
silt_status s3_grant_web_identity(http_client *c, const s3_role *role, str token_file, arena *a, s3_grant *out, silt_error *err) MUST_CHECK;
/** {"AccessKeyId": …, "SecretAccessKey": …, "Token" or "SessionToken": …, "Expiration": …} */
bool s3_grant_parse(str json, arena *a, s3_grant *out);

/** Of at most 64 KB, trimmed, in `a`. INVALID: there is none. */
silt_status s3_read_small_file(str path, arena *a, str *out, silt_error *err) MUST_CHECK;

/** s3_profile_login.c: what the profiles stand for. */
typedef struct s3_profile {
    str credentials, config; /**< the texts of the two files; null: there is none */
    s3_env env;
    void *env_ctx;
    http_client *client;
    str region; /**< for STS */
    /** credential_source: "Environment", "EcsContainer", "Ec2InstanceMetadata". NOT_FOUND: it has none, or there is no such source. */
    silt_status (*machine)(void *ctx, str source, arena *a, s3_grant *out, silt_error *err);
    void *machine_ctx;
} s3_profile;
/** Asks what the profile leads to, over other profiles and services where it says so. @return NOT_FOUND (it leads to nothing), INVALID, DENIED, IO */
silt_status s3_grant_profile(const s3_profile *p, str name, arena *a, s3_grant *out, silt_error *err) MUST_CHECK;

/* ---- XML answers: s3_xml.c. All strings in the arena; false: not such a document ---- */

bool s3_page_parse(str xml, arena *a, object_page *out);
typedef struct s3_fault {
    str code, message, region; /**< null where the answer does not tell */
} s3_fault;
bool s3_fault_parse(str xml, arena *a, s3_fault *out);
/** The text of the first element of that name, in document order; null when there is none. */
str s3_xml_text(str xml, const char *name, arena *a);
typedef struct s3_undeleted {
    str key, code;
} s3_undeleted;
bool s3_deletion_parse(str xml, arena *a, s3_undeleted **out, size_t *out_n);
/** Append text so that it can stand in an element; false: XML cannot hold it (control characters). */
bool s3_xml_write(buf *out, str text);

/* ---- the store ---- */

typedef enum s3_commit {
    S3_COMMIT_CONDITIONAL,   /**< If-None-Match: *, once the server proved to honour it */
    S3_COMMIT_DYNAMODB,      /**< Delta's S3DynamoDBLogStore */
    S3_COMMIT_SINGLE_WRITER, /**< nothing guards; by explicit setting alone */
    S3_COMMIT_UNKNOWN        /**< another LogStore is configured: nothing is committed */
} s3_commit;

/** As the settings say. Strings in the arena given to s3_settings_read. */
typedef struct s3_settings {
    const char *scheme; /**< by which the table is named: "s3", "s3a", "s3n"; "gs" */
    bool google;        /**< the XML interface of Google Cloud Storage, whose headers have other names */
    s3_identity keys;   /**< of "gs"; access_key null: fs.s3a.* and the environment tell */
    str bucket;
    bool tls, path_style;
    str endpoint; /**< "host[:port]", null: AWS, by region */
    str region;   /**< never null; may be a guess */
    bool anonymous;
    http_header fixed[6]; /**< of each request that writes an object: encryption, storage class, ACL */
    size_t n_fixed;
    http_header customer_key[3]; /**< SSE-C: of each request that writes or reads one */
    size_t n_customer_key;
    bool requester_pays;
    s3_commit commit;
    str log_store; /**< the class that was configured, for S3_COMMIT_UNKNOWN */
    str ca_file, proxy; /**< null: none */
    int max_connections, max_attempts; /**< 0: the client's own */
    str memory_folder; /**< where the outcome of the probe is remembered; null: nowhere */
} s3_settings;

/** @return INVALID_PARAMETER_VALUE (a bucket name or setting that cannot be), UNSUPPORTED_FEATURE (client-side encryption, …) */
silt_status s3_settings_read(const char *scheme, str authority, const store_settings *settings, s3_env env, void *env_ctx, arena *a, s3_settings *out, silt_error *err) MUST_CHECK;
/** gs:// with an HMAC key, which Google takes for its XML interface alone: store_gcs_open opens this one then. */
typedef struct s3_google {
    str bucket, endpoint; /**< endpoint: its URL */
    s3_identity keys;
} s3_google;
silt_status s3_settings_google(const s3_google *g, const store_settings *settings, s3_env env, void *env_ctx, arena *a, s3_settings *out, silt_error *err) MUST_CHECK;
silt_status s3_google_open(const s3_google *g, const store_settings *settings, store **out, silt_error *err) MUST_CHECK;
/** The LogStore that Delta would use for that scheme: spark.delta.logStore.<scheme>.impl, else that of another scheme, else spark.delta.logStore.class; null: none is set. */
str s3_log_store(const store_settings *s, const char *scheme);
/** fs.s3a.bucket.<bucket>.<rest>, else fs.s3a.<rest>; null when not set or empty. */
str s3_setting(const store_settings *s, str bucket, const char *rest);
/** fs.s3a.bucket.<bucket>.<rest> alone. */
str s3_setting_of_bucket(const store_settings *s, str bucket, const char *rest);

typedef struct dynamodb_log dynamodb_log;

typedef struct s3_store {
    object_store base;
    s3_settings settings;
    s3_credentials *credentials; /**< NULL: anonymous */
    s3_signing_key signing_key;  /**< has a lock of its own */
    pthread_mutex_t lock;        /**< over what follows */
    char region[64];             /**< in use: as set, then as the service corrected it */
    int64_t clock_ahead_ms;      /**< of the service's clock before ours */
    int proof;                   /**< of conditional puts: s3_probe.c */
    struct s3_last *last;        /**< of single writers: s3_commit.c */
    dynamodb_log *dynamodb;      /**< S3_COMMIT_DYNAMODB; else NULL */
    pthread_mutex_t prover_lock; /**< over what follows */
    struct s3_prover *prover;    /**< asks ahead of the commit: s3_probe_ahead; NULL: nobody */
    bool asked_ahead;            /**< once */
} s3_store;

/** "https://bucket.s3.eu-west-1.amazonaws.com" or "http://127.0.0.1:9000/bucket", as of now; in `a`. */
str s3_base_url(s3_store *s, arena *a);
/** Object's URL; key "" is the bucket's. */
str s3_url(s3_store *s, str key, arena *a);
/** One request about `key` with the fixed headers of that kind; headers has room for OBJECT_HEADERS. */
silt_status s3_request(object_store *o, object_verb verb, str key, http_header *headers, http_request *out, arena *a, silt_error *err) MUST_CHECK;

/** s3_upload.c */
silt_status s3_upload(object_store *o, str key, str local, int64_t size, const struct object_early *early, arena *a, silt_error *err) MUST_CHECK;
extern const struct object_early_driver s3_early;
/** s3_delete.c */
silt_status s3_remove_below(store *s, str dir, const str *names, size_t n, silt_status *out, silt_error *err) MUST_CHECK;
/** s3_commit.c: put by the way of committing that is set. */
silt_status s3_put(store *s, str path, str bytes, store_put_mode mode, silt_error *err) MUST_CHECK;
void s3_last_free(struct s3_last *last);
/** s3_probe.c: does this server honour If-None-Match: *? Asked with objects beside `path`, once, and remembered. @return S3_CONDITIONAL_PUT_IGNORED where it does not */
silt_status s3_probe(s3_store *s, str path, silt_error *err) MUST_CHECK;
typedef struct s3_prover s3_prover;
/** A data file is being written at `path`, and a commit will probably follow: ask from another thread, so that it does not wait. s3_probe waits for that one. */
void s3_probe_ahead(s3_store *s, str path);
void s3_probe_wait(s3_store *s);

#endif
