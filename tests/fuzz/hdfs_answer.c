/* Answers of WebHDFS over any bytes: the first byte is the status' choice, the rest a body, read as every answer there is. What is taken from it stays within what listings may say. */
#include <assert.h>

#include "base/uri.h"
#include "store/hdfs/hdfs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_page(str body, arena *a) {
    hdfs_page page;
    if (hdfs_parse_page(body, STR("/d"), a, &page, NULL) != SILT_OK) return;
    assert(!page.is_file || page.count == 0);
    for (size_t i = 0; i < page.count; i++) {
        const store_entry *e = &page.items[i];
        assert(str_starts_with(e->path, STR("/d/")) && str_find_char(str_slice(e->path, 3, e->path.len), '/') == SIZE_MAX);
        assert(e->size_bytes >= 0 && e->modified_ms >= 0 && (!e->is_dir || e->size_bytes == 0));
    }
}

static void check_answer(int status, str body, arena *a) {
    const http_header location = {STR("location"), body};
    const http_response response = {.status = status, .body = body, .headers = (http_header *)(uintptr_t)&location, .n_headers = 1};
    hdfs_store s = {.base = {.uri_prefix = "hdfs://nn"}, .site = {.name = STR("hdfs://nn")}};
    hdfs_answer answer;
    silt_error err = {.status = SILT_OK};
    if (hdfs_answer_parse(&response, a, &answer, &err) != SILT_OK) return;
    if (!str_is_null(answer.location) && !hdfs_redirect_refused(STR("https://nn/webhdfs/v1"), answer.location)) assert(str_starts_with(answer.location, STR("https://")));
    assert(str_find_char(answer.message, '\n') == SIZE_MAX);
    (void)hdfs_answer_boolean(&answer, a);
    if (!hdfs_is_ok(&answer)) assert(hdfs_failure(&s, &answer, "reading", STR("/x"), &err) != SILT_OK && err.status != SILT_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const int statuses[] = {200, 201, 307, 400, 401, 403, 404, 500};
    if (size == 0) return 0;
    str body = {(const char *)data + 1, size - 1};
    arena *a = arena_new();
    store_entry e;
    if (!a) return 0;
    check_answer(statuses[data[0] % ARRAY_LEN(statuses)], body, a);
    check_page(body, a);
    if (hdfs_parse_status(body, STR("/x"), a, &e, NULL) == SILT_OK) assert(e.size_bytes >= 0 && str_eqz(e.path, "/x"));
    (void)hdfs_parse_file_id(body, a);
    arena_free(a);
    return 0;
}
