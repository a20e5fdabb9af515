/* Schema JSON: any bytes. A schema that is taken must be the same when it is written and parsed again. */
#include <stdlib.h>

#include "table/type.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool claim) {
    if (!claim) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    arena *a = arena_new();
    const data_type *t, *again;
    silt_error err = {0};
    if (!a) abort();
    if (schema_parse_json((str){(const char *)data, size}, a, &t, &err) == SILT_OK) {
        buf first, second;
        buf_init(&first, BUF_MAX_DEFAULT);
        buf_init(&second, BUF_MAX_DEFAULT);
        schema_write_json(&first, t);
        must(schema_parse_json(buf_str(&first), a, &again, NULL) == SILT_OK);
        must(type_equal(t, again));
        schema_write_json(&second, again);
        must(str_eq(buf_str(&first), buf_str(&second)));
        must(str_eq(type_simple(t, a), type_simple(again, a)) && type_sql(t, a).ptr);
        must(type_leaf_count(schema_use_logical_names(t, a)) == type_leaf_count(again));
        for (size_t i = 0; i < t->n_fields; i++) {
            must(schema_find(t, t->fields[i].name) >= 0);
            field_metadata_get(&t->fields[i], "comment", a);
            must(!str_is_null(field_metadata_set(t->fields[i].metadata, "comment", STR("\"x\""), a)));
        }
        buf_dispose(&first);
        buf_dispose(&second);
    } else {
        must(err.condition[0] != 0);
    }
    arena_free(a);
    return 0;
}
