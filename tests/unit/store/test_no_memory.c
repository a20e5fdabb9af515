/* The stores when memory runs out: the call says so, nothing leaks, and the store still works. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/uri.h"
#include "store/store.h"
#include "support/no_memory.h"

static char root[64];

/* One life of a store: put, list, read, data files, removal. */
static silt_status use(store *s, arena *a) {
    str folder = path_join(a, str_of(root), STR("new/folder")), local;
    if (str_is_null(folder)) return SILT_NO_MEMORY;
    store_list_result list;
    store_entry entry;
    buf b;
    silt_status status;
    buf_init(&b, 10000);
    for (int i = 0; i < 100; i++) {
        str path = arena_printf(a, "%.*s/%03d", STR_ARG(folder), i);
        if (str_is_null(path)) return SILT_NO_MEMORY;
        TRY_OUT(store_put(s, path, STR("bytes"), STORE_PUT_REPLACE, NULL));
    }
    TRY_OUT(store_list(s, str_of(root), STR_NULL, true, a, &list, NULL));
    assert_int_equal(list.count, 100);
    TRY_OUT(store_read(s, list.items[7].path, 0, -1, &b, NULL));
    TRY_OUT(store_stat(s, folder, a, &entry, NULL));
    TRY_OUT(store_local_read_path(s, list.items[7].path, a, &local, NULL));
    str data = path_join(a, folder, STR("p=1/data"));
    if (str_is_null(data)) return SILT_NO_MEMORY;
    TRY_OUT(store_write_begin(s, data, a, &local, NULL));
    store_write_abort(s, data, local);
out:
    buf_dispose(&b);
    return status;
}

static void clean(void) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'/new", root);
    if (system(command) != 0) fail();
}

static silt_status live(void *ctx) {
    silt_status (*open)(store **out) = *(silt_status (**)(store **))ctx;
    store *s = NULL;
    arena *a = arena_new();
    silt_status status = a ? open(&s) : SILT_NO_MEMORY;
    if (status == SILT_OK) status = use(s, a);
    no_memory_from(-1); /* closing takes temporary files down, which needs some */
    arena_free(a);
    store_close(s);
    clean();
    return status;
}

static silt_status open_local(store **out) { return store_local_open(out, NULL); }
static silt_status open_memory(store **out) { return store_memory_open(1, out, NULL); }

static void the_local_store(void **state) {
    (void)state;
    silt_status (*open)(store **out) = open_local;
    no_memory_torture(live, &open);
}

static void the_memory_store(void **state) {
    (void)state;
    silt_status (*open)(store **out) = open_memory;
    no_memory_torture(live, &open);
}

int main(void) {
    cmocka_set_message_output(CM_OUTPUT_TAP);
    strcpy(root, "/tmp/silt-memory-test-XXXXXX");
    if (!mkdtemp(root)) return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_local_store), cmocka_unit_test(the_memory_store)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command) != 0 || failed;
}
