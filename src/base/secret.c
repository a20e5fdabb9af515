/* Finding secrets by the names that stand before them. See secret.h. */
#include "base/base.h"
#include "base/secret.h"

typedef struct masker {
    char *text;
    size_t n;
    bool statement, any;
} masker;

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c; }
static bool is_word(char c) { return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-'; }
static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
static bool is_quote(char c) { return c == '\'' || c == '"' || c == '`'; }

static bool has_word(str text, str word) {
    for (size_t i = 0; i + word.len <= text.len; i++)
        if (str_eq_ascii_fold(str_slice(text, i, i + word.len), word)) return true;
    return false;
}

bool secret_is_key(str key) {
    static const char *const words[] = {"secret", "password", "passphrase", "token", "access.key", "accesskey", "account.key", "private.key", "credential", ".sas."};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (has_word(key, str_of(words[i]))) return true;
    return false;
}

/* Parameters of URLs that were signed. */
static bool is_signature(str key) {
    static const char *const names[] = {"sig", "signature", "x-amz-signature", "x-goog-signature"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_eq_ascii_fold(key, str_of(names[i]))) return true;
    return false;
}

static void cover(masker *m, size_t from, size_t to) {
    for (size_t i = from; i < to; i++) {
        if (m->text[i] == '\n') continue;
        m->text[i] = '*';
        m->any = true;
    }
}

static size_t skip_spaces(const masker *m, size_t at) {
    while (at < m->n && is_space(m->text[at]) && (m->statement || m->text[at] != '\n')) at++;
    return at;
}

/* To the quote that ends it, or to the end of all where it was forgotten. */
static size_t quoted_end(const masker *m, size_t at) {
    char quote = m->text[at++];
    while (at < m->n && m->text[at] != quote && (m->statement || m->text[at] != '\n')) at++;
    return at;
}

/* A setting's value may have blanks; a parameter's has none. */
static size_t bare_end(const masker *m, size_t at, bool setting) {
    for (; at < m->n; at++) {
        char c = m->text[at];
        if (c == ';' || (c == '\n' && !m->statement)) break;
        if (!setting && (is_space(c) || is_quote(c) || c == '&' || c == ',' || c == ')')) break;
    }
    return at;
}

/* Does a word like SET stand before the key? SETT too: what is misspelt is quoted in the error. */
static bool follows_set(const masker *m, size_t key) {
    size_t to = key;
    while (to > 0 && is_space(m->text[to - 1])) to--;
    size_t from = to;
    while (from > 0 && is_word(m->text[from - 1])) from--;
    return to < key && to - from >= 3 && str_eq_ascii_fold((str){m->text + from, 3}, STR("set"));
}

static void mask_value(masker *m, size_t key_from, size_t key_to) {
    str key = {m->text + key_from, key_to - key_from};
    bool setting = str_find_char(key, '.') != SIZE_MAX && !(key_from > 0 && (m->text[key_from - 1] == '&' || m->text[key_from - 1] == '?'));
    bool quoted = key_to < m->n && is_quote(m->text[key_to]);
    size_t at = skip_spaces(m, key_to + quoted);
    bool assigned = at < m->n && (m->text[at] == '=' || (quoted && m->text[at] == ':'));
    if (!assigned && !(m->statement && setting && at > key_to && follows_set(m, key_from - (key_from > 0 && is_quote(m->text[key_from - 1]))))) return;
    while (assigned && at < m->n && m->text[at] == m->text[at - 1]) at++;
    at = skip_spaces(m, at + assigned);
    if (at >= m->n) return;
    if (is_quote(m->text[at])) cover(m, at + 1, quoted_end(m, at));
    else cover(m, at, bare_end(m, at, setting));
}

/* A '?' as it is, or as it is where it was taken for a part of the path. */
static bool is_query(const masker *m, size_t i) {
    return m->text[i] == '?' || (m->n - i > 3 && m->text[i] == '%' && m->text[i + 1] == '3' && lower(m->text[i + 2]) == 'f');
}

/* Behind "://": what stands between ':' and '@', and of the web's own schemes what stands behind '?'. */
static void mask_url(masker *m, size_t colon) {
    size_t from = colon + 3, password = SIZE_MAX;
    bool web = (colon >= 4 && str_eq_ascii_fold((str){m->text + colon - 4, 4}, STR("http"))) || (colon >= 5 && str_eq_ascii_fold((str){m->text + colon - 5, 5}, STR("https")));
    bool in_host = true;
    for (size_t i = from; i < m->n && !is_space(m->text[i]) && !is_quote(m->text[i]); i++) {
        char c = m->text[i];
        if (in_host && c == ':' && password == SIZE_MAX) password = i + 1;
        if (in_host && c == '@' && password != SIZE_MAX) cover(m, password, i);
        if (c == '/' || c == '?' || c == '#') in_host = false;
        if (web && is_query(m, i)) {
            size_t query = i + (c == '?' ? 1 : 3), end = query;
            while (end < m->n && !is_space(m->text[end]) && !is_quote(m->text[end]) && !(m->text[end] == ')' && end + 1 == m->n)) end++;
            cover(m, query, end);
            return;
        }
    }
}

bool secret_mask(char *text, size_t n, bool statement) {
    masker m = {.text = text, .n = n, .statement = statement};
    for (size_t i = 0; i < n;) {
        if (!is_word(text[i])) {
            if (text[i] == ':' && n - i > 3 && text[i + 1] == '/' && text[i + 2] == '/') mask_url(&m, i);
            i++;
            continue;
        }
        size_t from = i;
        while (i < n && is_word(text[i])) i++;
        str word = {text + from, i - from};
        if (secret_is_key(word) || is_signature(word)) mask_value(&m, from, i);
    }
    return m.any;
}
