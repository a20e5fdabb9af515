/* GCS's JSON: pages of objects, one object, errors. Numbers of 64 bits come as text. */
#include "base/json.h"
#include "store/gcs/gcs.h"

static bool take_object(const json_node *node, object_info *out) {
    *out = (object_info){.key = json_get_str(node, "name", STR_NULL), .tag = json_get_str(node, "generation", STR_NULL)};
    str updated = json_get_str(node, "updated", STR_NULL);
    if (out->key.len == 0 || str_find_char(out->key, '\0') != SIZE_MAX) return false;
    if (!str_to_i64(json_get_str(node, "size", STR("")), &out->size_bytes) || out->size_bytes < 0) return false;
    return rfc3339_parse(updated, &out->modified_ms);
}

bool gcs_object_parse(str json, arena *a, object_info *out) {
    const json_node *root;
    return json_parse(json, a, &root, NULL) == SILT_OK && take_object(root, out);
}

bool gcs_page_parse(str json, arena *a, object_page *out) {
    const json_node *root;
    *out = (object_page){.next = STR_NULL};
    if (json_parse(json, a, &root, NULL) != SILT_OK || root->type != JSON_OBJECT) return false;
    const json_node *items = json_get(root, "items"), *prefixes = json_get(root, "prefixes");
    if ((items && items->type != JSON_ARRAY) || (prefixes && prefixes->type != JSON_ARRAY)) return false;
    for (size_t i = 0; items && i < items->count; i++) {
        object_info info;
        if (!take_object(&items->values[i], &info) || !ARENA_PUSH(a, out->items, out->count, out->capacity, info)) return false;
    }
    for (size_t i = 0; prefixes && i < prefixes->count; i++) {
        object_info info = {.key = prefixes->values[i].text, .tag = STR_NULL, .is_folder = true};
        bool ok = prefixes->values[i].type == JSON_STRING && info.key.len > 0 && str_find_char(info.key, '\0') == SIZE_MAX;
        if (!ok || !ARENA_PUSH(a, out->items, out->count, out->capacity, info)) return false;
    }
    str next = json_get_str(root, "nextPageToken", STR_NULL);
    if (next.len) out->next = next;
    return true;
}

/* {"error": {"code": 412, "message": …, "errors": [{"reason": "conditionNotMet"}]}} */
void gcs_error_parse(str json, arena *a, object_error *out) {
    const json_node *root = NULL, *error, *errors;
    *out = (object_error){.code = STR_NULL, .message = STR_NULL};
    if (json_parse(json, a, &root, NULL) != SILT_OK) return;
    error = json_get(root, "error");
    errors = json_get(error, "errors");
    out->message = json_get_str(error, "message", STR_NULL);
    if (errors && errors->type == JSON_ARRAY && errors->count > 0) out->code = json_get_str(&errors->values[0], "reason", STR_NULL);
    if (str_is_null(out->code)) out->code = json_get_str(error, "status", STR_NULL);
}
