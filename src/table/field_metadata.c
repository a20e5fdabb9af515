/* A field's metadata: JSON object text that is parsed only when one of its keys is asked for. */
#include "table/type.h"

const json_node *field_metadata_get(const field *f, const char *key, arena *a) {
    const json_node *root;
    if (f->metadata.len <= 2 || json_parse(f->metadata, a, &root, NULL) != SILT_OK) return NULL;
    return json_get(root, key);
}

str field_metadata_set(str metadata, const char *key, str json_value, arena *a) {
    const json_node *root;
    if (json_parse(metadata.len ? metadata : STR("{}"), a, &root, NULL) != SILT_OK || root->type != JSON_OBJECT) return STR_NULL;

    buf b;
    bool first = true, done = str_is_null(json_value);
    buf_init(&b, BUF_MAX_DEFAULT);
    buf_append_char(&b, '{');
    for (size_t i = 0; i < root->count; i++) {
        bool same = str_eqz(root->keys[i], key);
        if (same && done) continue; /* removed, or a duplicate of what was replaced */
        json_write_key_str(&b, &first, root->keys[i]);
        if (same)
            buf_append(&b, json_value);
        else
            json_write_node(&b, &root->values[i]);
        done |= same;
    }
    if (!done) {
        json_write_key(&b, &first, key);
        buf_append(&b, json_value);
    }
    buf_append_char(&b, '}');
    return buf_take(&b, a);
}
