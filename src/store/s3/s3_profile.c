/*
 * The AWS CLI's files. ~/.aws/credentials has sections [name]; ~/.aws/config has [default] and [profile name], and [sso-session name]. Lines are "key = value"; '#' and ';' begin comment lines, and
 * " #" ends a value. Lines that begin with white space belong to a nested table, which nothing here needs.
 */
#include "store/s3/s3.h"

static str section_of(str line) {
    size_t end = str_find_char(line, ']');
    return line.len && line.ptr[0] == '[' && end != SIZE_MAX ? str_trim(str_slice(line, 1, end)) : STR_NULL;
}

static str value_of(str line, const char *key) {
    size_t equals = str_find_char(line, '=');
    if (equals == SIZE_MAX || !str_eq_ascii_fold(str_trim(str_slice(line, 0, equals)), str_of(key))) return STR_NULL;
    str value = str_slice(line, equals + 1, line.len);
    size_t comment = str_find(value, STR(" #"));
    value = str_trim(comment == SIZE_MAX ? value : str_slice(value, 0, comment));
    return value.len ? value : STR_NULL;
}

/* Which sections: of the credentials file, of the config file, and there those of logins. */
typedef enum kind { CREDENTIALS, CONFIG, LOGINS } kind;

static bool is_section(str section, str profile, kind k) {
    str word = k == LOGINS ? STR("sso-session") : STR("profile");
    if (k == CREDENTIALS) return str_eq(section, profile);
    bool named = str_starts_with(section, word) && section.len > word.len && (section.ptr[word.len] == ' ' || section.ptr[word.len] == '\t');
    if (!named) return k == CONFIG && str_eqz(section, "default") && str_eq(section, profile);
    return str_eq(str_trim(str_slice(section, word.len, section.len)), profile);
}

static str look_up(str text, str profile, const char *key, kind k) {
    bool inside = false;
    str line, found = STR_NULL;
    while (str_next(&text, '\n', &line)) {
        if (line.len == 0 || line.ptr[0] == '#' || line.ptr[0] == ';' || line.ptr[0] == ' ' || line.ptr[0] == '\t') continue;
        str section = section_of(line);
        if (!str_is_null(section)) inside = is_section(section, profile, k);
        else if (inside && str_is_null(found)) found = value_of(line, key);
    }
    return found;
}

str s3_profile_get(str credentials_file, str config_file, str profile, const char *key) {
    str found = look_up(credentials_file, profile, key, CREDENTIALS);
    return str_is_null(found) ? look_up(config_file, profile, key, CONFIG) : found;
}

str s3_profile_session_get(str config_file, str name, const char *key) { return look_up(config_file, name, key, LOGINS); }

static bool has_section(str text, str profile, kind k) {
    str line;
    while (str_next(&text, '\n', &line)) {
        str section = section_of(line);
        if (!str_is_null(section) && is_section(section, profile, k)) return true;
    }
    return false;
}

bool s3_profile_exists(str credentials_file, str config_file, str profile) {
    return has_section(credentials_file, profile, CREDENTIALS) || has_section(config_file, profile, CONFIG);
}
