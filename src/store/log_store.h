/** Delta's setting of how a scheme's commits are kept apart, for the stores that have one way of it. Internal to store/. */
#ifndef STORE_LOG_STORE_H
#define STORE_LOG_STORE_H

#include "store/settings.h"

/**
 * The LogStore that is set for one of `schemes` (spark.delta.logStore.<scheme>.impl, else spark.delta.logStore.class; ends in NULL), if it is none of Delta's that refuse to overwrite there: in `a`,
 * else null. Who wrote it may keep commits apart in another way than this store, so that the two could overwrite each other's.
 */
silt_status log_store_find_unknown(const store_settings *s, const char *const *schemes, arena *a, str *out, silt_error *err) MUST_CHECK;
/** UNSUPPORTED, naming it. */
silt_status log_store_refuse(str log_store, silt_error *err) MUST_CHECK;

#endif
