/** Where a back end finds its configuration when it is opened: the session's, by Spark's names. */
#ifndef STORE_SETTINGS_H
#define STORE_SETTINGS_H

#include "base/base.h"
#include "net/http.h"

/** The `config` of a remote back end's store_open_fn. Values are borrowed for the call that opens. */
typedef struct store_settings {
    str (*get)(void *ctx, const char *key); /**< null: not set */
    void *ctx;
    /** May be NULL. Tells each setting that was made. */
    void (*each)(void *ctx, void (*take)(void *taker, str key, str value), void *taker);
    http_waiter waiter; /**< the session's user */
} store_settings;

/** The value of `key`, else that of "spark.hadoop.<key>", which is how Spark's configuration passes Hadoop's keys on; null when neither is set. `s` may be NULL. */
str store_setting(const store_settings *s, const char *key);
/** true and false in any case; `absent` where it is not set or says neither. */
bool store_setting_flag(const store_settings *s, const char *key, bool absent);
/** silt.temp.dir, in `a`; null where it is not set. INVALID: no absolute path. */
silt_status store_setting_temp_dir(const store_settings *s, arena *a, str *out, silt_error *err) MUST_CHECK;

#endif
