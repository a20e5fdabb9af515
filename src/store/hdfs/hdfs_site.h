/**
 * Which servers an HDFS location means and as whom they are asked: from the authority of its URI and Hadoop's configuration. Internal to store/.
 *
 * Hadoop's keys: fs.defaultFS, dfs.nameservices, dfs.ha.namenodes.<ns>, dfs.namenode.{rpc,http,https}-address[.<ns>[.<nn>]], dfs.http.policy, dfs.blocksize, dfs.replication,
 * fs.permissions.umask-mode, hadoop.security.authentication, hadoop.token.files. Environment: HADOOP_CONF_DIR, HADOOP_HOME, HADOOP_USER_NAME, HADOOP_PROXY_USER, HADOOP_TOKEN,
 * HADOOP_TOKEN_FILE_LOCATION. Silt's own: silt.hdfs.<authority>.http (addresses or URLs), silt.hdfs.user, silt.hdfs[.<authority>].token, silt.hdfs.caFile, silt.hdfs.proxy,
 * silt.hdfs.connections, silt.hdfs.connectTimeoutMs, silt.hdfs.stallTimeoutMs, silt.hdfs.retry.{attempts,firstWaitMs,maxWaitMs}.
 */
#ifndef STORE_HDFS_SITE_H
#define STORE_HDFS_SITE_H

#include "net/http.h"
#include "store/hdfs/hdfs_conf.h"

typedef enum hdfs_kind {
    HDFS_BY_RPC,  /**< hdfs: the authority is that of Hadoop's own protocol, the HTTP address is configured or derived */
    HDFS_BY_HTTP, /**< webhdfs */
    HDFS_BY_HTTPS /**< swebhdfs */
} hdfs_kind;

typedef struct hdfs_site {
    str name;       /**< "hdfs://nn:8020", for errors */
    str *services;  /**< URLs up to and with "/webhdfs/v1"; more than one: NameNodes of which one is active */
    size_t n_services;
    str login;      /**< "&user.name=…", "&delegation=…" …: the end of every URL. Secret; "" with SPNEGO */
    bool negotiate; /**< by Kerberos (SPNEGO) */
    str file_params, folder_params; /**< "&replication=3…": how new files and folders are made; "" as the server does */
    int attempts;                    /**< of a request, over all services */
    int64_t first_wait_ms, max_wait_ms;
    http_options http; /**< its strings are in the arena */
} hdfs_site;

/** Everything in `a`, nothing borrowed from the settings. INVALID: an authority or a value that is none; DENIED: a token file that cannot be read. */
silt_status hdfs_site_resolve(hdfs_kind kind, str authority, const hdfs_conf *c, arena *a, hdfs_site *out, silt_error *err) MUST_CHECK;

/** The services alone. */
silt_status hdfs_site_services(hdfs_kind kind, str authority, const hdfs_conf *c, arena *a, hdfs_site *out, silt_error *err) MUST_CHECK;
/** login and negotiate alone: a token of the settings, of HADOOP_TOKEN or of a token file, else Kerberos, else the user's name. */
silt_status hdfs_site_login(str authority, const hdfs_conf *c, arena *a, hdfs_site *out, silt_error *err) MUST_CHECK;
/**
 * The delegation token for `service` in a file of Hadoop's credentials (HADOOP_TOKEN_FILE_LOCATION), as WebHDFS takes it; of several the one whose service is `service`, else the first that
 * is of WebHDFS or HDFS. Null where there is none. CORRUPT is not told apart from none: another program's file is not ours to judge, and a missing token shows at the first request.
 */
str hdfs_token_find(str file, str service, arena *a);

/** "022" or "u=rwx,g=rx,o=rx" as Hadoop reads fs.permissions.umask-mode; false when it is neither. */
bool hdfs_umask_parse(str text, unsigned *out);
/** Splits "host:port", "[::1]:port", "host"; *port -1 where there is none. False when it is no authority. */
bool hdfs_authority_split(str authority, str *host, int64_t *port);

#endif
