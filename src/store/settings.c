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
