/* A stored deletion vector: the first bytes are the descriptor, the rest the file. Every outcome is a bitmap of the promised size
 * or a named error. */
#include <stdlib.h>

#include "delta/delta.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HEAD 8
#define PATH "/t/deletion_vector_fe3558b8-be38-4580-bb2a-6c13650a9ca7.bin"

static void must(bool claim) {
    if (!claim) abort();
}

static void check(const delta_env *env, const delta_dv *dv) {
    bitmap *b = NULL;
    silt_error err = {0};
    silt_status status = delta_dv_load(env, STR("/t"), dv, &b, &err);
    if (status == SILT_OK)
        must((int64_t)bitmap_cardinality(b) == dv->cardinality);
    else
        must(!b && err.condition[0] && (status == SILT_CORRUPT || status == SILT_NOT_FOUND));
    bitmap_free(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    store *s;
    if (size < HEAD) return 0;
    must(store_memory_open(1, &s, NULL) == SILT_OK);
    delta_env env = {.store = s};
    str body = {(const char *)data + HEAD, size - HEAD};
    must(store_put(s, STR(PATH), body, STORE_PUT_REPLACE, NULL) == SILT_OK);
    delta_dv dv = {.storage = 'u',
                   .path_or_inline = STR("@XW//ZbOMiYddRgwEs%9"),
                   .offset = (int8_t)data[0],
                   .size_bytes = data[1] | data[2] << 8,
                   .cardinality = data[3] | data[4] << 8};
    check(&env, &dv);
    dv.storage = 'i';
    dv.path_or_inline = body;
    check(&env, &dv);
    dv.storage = (char)data[5];
    if (dv.storage != 'p') check(&env, &dv);
    store_close(s);
    return 0;
}
