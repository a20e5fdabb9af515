/* The session's configuration as operations read it. */
#include "ops/internal.h"

str ops_setting(const op *o, const char *key) {
    if (!o->env->setting) return STR_NULL;
    str text = o->env->setting(o->env->setting_ctx, key);
    return text.len ? text : STR_NULL;
}

bool ops_setting_bool(const op *o, const char *key, bool absent) {
    str text = ops_setting(o, key);
    return str_is_null(text) ? absent : str_eq_ascii_fold(str_trim(text), STR("true"));
}

bool ops_parse_bytes(str text, int64_t *out) {
    static const struct unit {
        const char *name;
        int shift;
    } units[] = {{"b", 0}, {"kb", 10}, {"k", 10}, {"mb", 20}, {"m", 20}, {"gb", 30}, {"g", 30}, {"tb", 40}, {"t", 40}, {"", 0}};
    text = str_trim(text);
    size_t digits = 0;
    while (digits < text.len && text.ptr[digits] >= '0' && text.ptr[digits] <= '9') digits++;
    if (!str_to_i64(str_slice(text, 0, digits), out)) return false;
    str unit = str_trim(str_slice(text, digits, text.len));
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        if (!str_eq_ascii_fold(unit, str_of(units[i].name))) continue;
        if (*out > INT64_MAX >> units[i].shift) return false;
        *out <<= units[i].shift;
        return true;
    }
    return false;
}
