/* Settings of back ends, by Hadoop's names and by the names under which Spark hands them on. */
#include "store/settings.h"

#include <stdio.h>

str store_setting(const store_settings *s, const char *key) {
    if (!s || !s->get) return STR_NULL;
    str value = s->get(s->ctx, key);
    if (!str_is_null(value)) return value;
    char spark_key[512];
    int n = snprintf(spark_key, sizeof spark_key, "spark.hadoop.%s", key);
    return n > 0 && (size_t)n < sizeof spark_key ? s->get(s->ctx, spark_key) : STR_NULL;
}

bool store_setting_flag(const store_settings *s, const char *key, bool absent) {
    str value = store_setting(s, key);
    if (str_eq_ascii_fold(value, STR("true"))) return true;
    return str_eq_ascii_fold(value, STR("false")) ? false : absent;
}

silt_status store_setting_temp_dir(const store_settings *s, arena *a, str *out, silt_error *err) {
    str folder = str_trim(store_setting(s, "silt.temp.dir"));
    *out = STR_NULL;
    if (folder.len == 0) return SILT_OK;
    if (folder.ptr[0] != '/') return err_INVALID_PARAMETER_VALUE(err, STR("silt.temp.dir"), folder, "an absolute path");
    *out = arena_str(a, folder);
    return str_is_null(*out) ? error_no_memory(err) : SILT_OK;
}
