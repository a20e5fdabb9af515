/* Files that a load takes as they are: the commit, what changes meanwhile, and each call of the store failing. Which files may be taken: test_take_rules.c, tests/cli/load_as_is.py. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "ops/take_files.h"
#include "ops_test.h"

/* A source whose listing is told otherwise than it is. */
typedef struct told {
    table_source base;
    table_source *inner;
    int64_t more_bytes, later_ms;
    const char *tag;
} told;

static silt_status told_scan(const table_source *t, const predicate *where, arena *a, table_scan *out, silt_error *err) {
    const told *s = (const told *)t;
    TRY(s->inner->ops->scan(s->inner, where, a, out, err));
    scan_file *files = ARENA_ARRAY(a, out->n_files + 1, scan_file);
    if (!files) return error_no_memory(err);
    for (size_t i = 0; i < out->n_files; i++) {
        files[i] = out->files[i];
        files[i].size_bytes += s->more_bytes;
        files[i].modified_ms += s->later_ms;
        if (s->tag) files[i].tag = str_of(s->tag);
    }
    out->files = files;
    return SILT_OK;
}

static const table_source_ops told_ops = {.scan = told_scan};

#define ROWS "SELECT id, CAST(id AS STRING) AS v FROM range(40)"

/* A file of those rows beside the table, once. */
static void make_source(world *w, told *out) {
    char command[512], path[96];
    if (world_version(w) < 0) OK(world_create(w, (create_words){.query = ROWS}));
    snprintf(path, sizeof path, "%s/a.parquet", w->folder);
    snprintf(command, sizeof command, "[ -e %s ] || cp %s/*.parquet %s", path, w->root, path);
    assert_int_equal(system(command), 0);
    str at = arena_str(w->a, str_of(path));
    *out = (told){.base = {.ops = &told_ops}};
    OK(engine_file_source(w->engine, STR("parquet"), &at, 1, NULL, NULL, 0, NULL, &out->inner, &w->err));
    out->base.schema = out->inner->schema;
    out->base.format = STR("parquet");
}

static silt_status load(world *w, const told *source) { return world_load(w, ROWS, SAVE_APPEND, NULL, (write_options){.files = &source->base}); }

static void taken(void **state) {
    world *w = *state;
    told source;
    make_source(w, &source);
    OK(load(w, &source));
    assert_int_equal(w->done.files_taken, 1);
    assert_string_equal(w->done.why_rewritten, "");
    assert_int_equal(w->done.rows, 40);
    assert_string_equal(world_rows(w, "SELECT count(*), sum(id), count(DISTINCT v) FROM t"), "80|1560|40\n");
    source.inner->ops->release(source.inner);
}

static void a_file_that_changed(void **state) {
    world *w = *state;
    told source;
    make_source(w, &source);
    size_t files = world_data_files(w);
    source.later_ms = -1;
    FAILS("LOAD_FILE_CHANGED", load(w, &source));
    source.later_ms = 0;
    OK(load(w, &source));
    source.more_bytes = -7; /* it grew since: its footer is elsewhere, and reading its rows finds out what that means */
    OK(load(w, &source));
    assert_int_equal(w->done.files_taken, 0);
    assert_non_null(strstr(w->done.why_rewritten, "footer"));
    assert_int_equal(world_data_files(w), files + 2);
    source.inner->ops->release(source.inner);
}

/* ---- faults ---- */

static void walk(world *w, store_fault fault) {
    injector in = {.fault = fault};
    store *faulty;
    told source;
    make_source(w, &source);
    OK(store_fault_open(w->store, world_inject, &in, &faulty, &w->err));
    for (in.nth = 1;; in.nth++) {
        int64_t version = world_version(w);
        size_t files = world_data_files(w);
        in.calls = 0;
        in.armed = true;
        w->delta.store = faulty;
        silt_status status = load(w, &source);
        w->delta.store = w->store;
        in.armed = false;
        if (status == SILT_OK) {
            assert_int_equal(world_version(w), version + 1);
            assert_int_equal(world_data_files(w), files + 1);
            assert_int_equal(w->done.files_taken, 1);
        } else if (status != SILT_UNKNOWN) {
            assert_int_equal(world_version(w), version);
            assert_int_equal(world_data_files(w), files);
        }
        if (in.calls < in.nth) break;
    }
    assert_true(in.nth > 5);
    store_close(faulty);
    source.inner->ops->release(source.inner);
}

static void a_failed_load_leaves_nothing(void **state) { walk(*state, FAULT_FAIL); }
static void a_lost_reply_is_resolved_or_told(void **state) { walk(*state, FAULT_LOST_REPLY); }

int main(void) {
    const struct CMUnitTest tests[] = {WITH_WORLD(taken), WITH_WORLD(a_file_that_changed), WITH_WORLD(a_failed_load_leaves_nothing), WITH_WORLD(a_lost_reply_is_resolved_or_told)};
    return RUN_TESTS(tests);
}
