/* Which LogStore is configured. Source: Delta Lake's documentation, "Storage configuration", and the classes of its delta-storage. */
#include "store/log_store.h"

#include <stdio.h>

/* Those that S3 alone has a use for overwrite elsewhere: they count only where they are set for all schemes. */
static bool is_deltas(str class, bool of_scheme) {
    static const char *const names[] = {"AzureLogStore", "GCSLogStore", "HDFSLogStore", "HadoopFileSystemLogStore", "LocalLogStore", "DelegatingLogStore", "S3SingleDriverLogStore", "S3DynamoDBLogStore"};
    size_t dot = str_rfind_char(class, '.');
    str name = dot == SIZE_MAX ? class : str_slice(class, dot + 1, class.len);
    for (size_t i = 0; i < ARRAY_LEN(names) - (of_scheme ? 2 : 0); i++)
        if (str_eqz(name, names[i])) return true;
    return false;
}

silt_status log_store_find_unknown(const store_settings *s, const char *const *schemes, arena *a, str *out, silt_error *err) {
    str found = STR_NULL;
    bool any = false;
    *out = STR_NULL;
    for (; *schemes && str_is_null(found); schemes++) {
        char key[96];
        snprintf(key, sizeof key, "spark.delta.logStore.%s.impl", *schemes);
        str class = str_trim(store_setting(s, key));
        any |= class.len > 0;
        if (class.len && !is_deltas(class, true)) found = class;
    }
    str of_all = str_trim(store_setting(s, "spark.delta.logStore.class"));
    if (!any && of_all.len && !is_deltas(of_all, false)) found = of_all;
    if (str_is_null(found)) return SILT_OK;
    *out = arena_str(a, found);
    return str_is_null(*out) ? error_no_memory(err) : SILT_OK;
}

silt_status log_store_refuse(str log_store, silt_error *err) {
    silt_status status = err_UNSUPPORTED_FEATURE(err, "the configured LogStore (spark.delta.logStore.<scheme>.impl) for commits; it");
    error_detail(err, "%.*s", STR_ARG(log_store));
    error_hint(err, "Where it refuses to overwrite as Delta's own does, unset it for Silt; else all writers of the table need the same one.");
    return status;
}
