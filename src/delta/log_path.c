/* Names in _delta_log: strict, so that a foreign file ("…json.tmp", ".…json.crc", a name with 19 digits) is never taken for part
 * of the log. */
#include "delta/log_path.h"

#include "base/uri.h"

#define VERSION_DIGITS 20
#define PART_DIGITS    10

/* Exactly n digits at the front of *rest, as a number that fits 63 bits. */
static bool take_number(str *rest, size_t n, int64_t *out) {
    if (rest->len < n) return false;
    uint64_t value = 0;
    for (size_t i = 0; i < n; i++) {
        char c = rest->ptr[i];
        if (c < '0' || c > '9') return false;
        if (value > (uint64_t)INT64_MAX / 10) return false;
        value = value * 10 + (uint64_t)(c - '0');
    }
    if (value > (uint64_t)INT64_MAX) return false;
    *out = (int64_t)value;
    *rest = str_slice(*rest, n, rest->len);
    return true;
}

static bool take_char(str *rest, char c) {
    if (rest->len == 0 || rest->ptr[0] != c) return false;
    *rest = str_slice(*rest, 1, rest->len);
    return true;
}

/* 8-4-4-4-12 hexadecimal digits. */
static bool is_uuid(str s) {
    if (s.len != 36) return false;
    for (size_t i = 0; i < 36; i++) {
        char c = s.ptr[i];
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
        if (dash ? c != '-' : !hex) return false;
    }
    return true;
}

/* What follows "<version>.checkpoint." */
static void parse_checkpoint(str rest, log_file_name *out) {
    if (str_eqz(rest, "parquet")) {
        out->kind = LOG_CHECKPOINT;
        return;
    }
    size_t dot = str_find_char(rest, '.');
    if (dot != SIZE_MAX && is_uuid(str_slice(rest, 0, dot))) {
        str extension = str_slice(rest, dot + 1, rest.len);
        if (str_eqz(extension, "json")) out->kind = LOG_CHECKPOINT_V2_JSON;
        if (str_eqz(extension, "parquet")) out->kind = LOG_CHECKPOINT_V2_PARQUET;
        return;
    }
    int64_t part, parts;
    if (take_number(&rest, PART_DIGITS, &part) && take_char(&rest, '.') && take_number(&rest, PART_DIGITS, &parts) &&
        str_eqz(rest, ".parquet") && part >= 1 && part <= parts && parts <= INT32_MAX) {
        out->kind = LOG_CHECKPOINT_PART;
        out->part = (int32_t)part;
        out->parts = (int32_t)parts;
    }
}

log_file_name log_path_parse(str name) {
    log_file_name out = {.kind = LOG_OTHER};
    str rest = name;
    int64_t version;
    if (!take_number(&rest, VERSION_DIGITS, &version) || !take_char(&rest, '.')) return out;
    out.version = out.end_version = version;
    int64_t end;
    str after = rest;
    if (str_eqz(rest, "json"))
        out.kind = LOG_COMMIT;
    else if (str_eqz(rest, "crc"))
        out.kind = LOG_CHECKSUM;
    else if (str_starts_with(rest, STR("checkpoint.")))
        parse_checkpoint(str_slice(rest, strlen("checkpoint."), rest.len), &out);
    else if (take_number(&after, VERSION_DIGITS, &end) && str_eqz(after, ".compacted.json") && end > version) {
        out.kind = LOG_COMPACTED;
        out.end_version = end;
    }
    return out;
}

str log_path_dir(str root, arena *a) { return path_join(a, root, STR("_delta_log")); }

str log_path_file(str root, int64_t version, const char *suffix, arena *a) {
    str name = arena_printf(a, "_delta_log/%020lld%s", (long long)version, suffix);
    return name.ptr ? path_join(a, root, name) : STR_NULL;
}

str log_path_last_checkpoint(str root, arena *a) { return path_join(a, root, STR("_delta_log/_last_checkpoint")); }
str log_path_sidecars(str root, arena *a) { return path_join(a, root, STR("_delta_log/_sidecars")); }
