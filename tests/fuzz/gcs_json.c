/* GCS's answers, key files and tokens, and _last_checkpoint over HTTP, over any bytes: reading ends, and what is taken is usable. */
#include <assert.h>

#include "store/gcs/gcs.h"
#include "store/http/http_store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_info(const object_info *info) {
    assert(info->key.len > 0 && str_find_char(info->key, '\0') == SIZE_MAX && info->size_bytes >= 0);
}

static void check_token(str text, arena *a) {
    str token;
    int64_t seconds;
    if (!cloud_token_parse(text, a, &token, &seconds)) return;
    assert(token.len > 0 && seconds >= 0);
    for (size_t i = 0; i < token.len; i++) assert(token.ptr[i] > ' ' && token.ptr[i] < 127);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    str text = {(const char *)data, size};
    object_page page;
    object_info info;
    object_error e;
    gcs_account account = {.auth = GCS_ANONYMOUS};
    http_checkpoint checkpoint;
    arena *a = arena_new();
    if (!a) return 0;
    if (gcs_page_parse(text, a, &page))
        for (size_t i = 0; i < page.count; i++) check_info(&page.items[i]);
    if (gcs_object_parse(text, a, &info)) check_info(&info);
    gcs_error_parse(text, a, &e);
    if (gcs_key_parse(text, STR("file"), a, &account, NULL) == SILT_OK) assert(account.auth == GCS_USER ? account.refresh_token.len > 0 : account.key.len > 0);
    check_token(text, a);
    if (http_checkpoint_parse(text, a, &checkpoint))
        for (size_t i = 0; i < checkpoint.n_names; i++) assert(checkpoint.version >= 0 && checkpoint.names[i].len > 0 && str_find_char(checkpoint.names[i], '/') == SIZE_MAX);
    arena_free(a);
    return 0;
}
