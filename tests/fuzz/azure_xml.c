/* Azure's answers over any bytes: reading ends, keys are names, and what is taken once is taken again alike. */
#include <assert.h>

#include "store/azure/azure.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_page(str text, arena *a) {
    object_page page, again;
    if (!azure_page_parse(text, a, &page)) return;
    bool ok = azure_page_parse(text, a, &again);
    assert(ok && again.count == page.count && page.count < text.len);
    for (size_t i = 0; i < page.count; i++) {
        const object_info *info = &page.items[i];
        assert(info->key.len > 0 && info->key.len <= text.len && str_find_char(info->key, '\0') == SIZE_MAX && info->size_bytes >= 0);
        assert(str_eq(info->key, again.items[i].key));
    }
    assert(str_is_null(page.next) || page.next.len > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    str text = {(const char *)data, size};
    object_error e;
    int64_t ms;
    arena *a = arena_new();
    buf b;
    if (!a) return 0;
    check_page(text, a);
    azure_error_parse(text, a, &e);
    assert(str_find_char(e.message, '\n') == SIZE_MAX);
    if (http_date_parse(text, &ms)) assert(size == 29);
    buf_init(&b, 1 << 20);
    azure_string_to_sign(&b, STR("account"), "GET", text, NULL, 0, (int64_t)size, a);
    buf_dispose(&b);
    arena_free(a);
    return 0;
}
