/* json_parse over any bytes: it ends, and what it accepts means the same after writing and parsing it again. */
#include <assert.h>

#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void compare(const json_node *x, const json_node *y) {
    assert(x->type == y->type && x->count == y->count);
    if (x->type == JSON_BOOL) assert(x->boolean == y->boolean);
    if (x->type == JSON_NUMBER || x->type == JSON_STRING) assert(str_eq(x->text, y->text));
    for (size_t i = 0; i < x->count; i++) {
        if (x->type == JSON_OBJECT) assert(str_eq(x->keys[i], y->keys[i]));
        compare(&x->values[i], &y->values[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    arena *a = arena_new();
    const json_node *root, *again;
    if (!a) return 0;
    if (json_parse((str){(const char *)data, size}, a, &root, NULL) == SILT_OK) {
        buf b;
        buf_init(&b, BUF_MAX_DEFAULT);
        json_write_node(&b, root);
        assert(buf_ok(&b) && str_is_utf8(buf_str(&b)));
        silt_status status = json_parse(buf_str(&b), a, &again, NULL);
        assert(status == SILT_OK);
        compare(root, again);
        double f;
        int64_t i;
        if (json_node_i64(root, &i)) assert(json_node_f64(root, &f));
        buf_dispose(&b);
    }
    arena_free(a);
    return 0;
}
