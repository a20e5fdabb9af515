/* Each call of the store fails once, or loses its reply: a write then either is a whole version or left nothing, and the next one works. */
#include "ops_test.h"

typedef silt_status (*write_fn)(world *w, size_t round);

static silt_status append(world *w, size_t round) {
    (void)round;
    return world_insert(w, (insert_words){.query = "SELECT id, CAST(id % 2 AS INT) FROM range(4)"});
}

static silt_status overwrite(world *w, size_t round) {
    (void)round;
    return world_insert(w, (insert_words){.query = "SELECT id, CAST(id % 2 AS INT) FROM range(4)", .overwrite = true});
}

static silt_status replace(world *w, size_t round) {
    (void)round;
    return world_create(
        w,
        (create_words){.query = "SELECT id, CAST(id % 2 AS INT) AS p FROM range(4)", .partitioned_by = "p", .or_replace = true});
}

static const char *count_rows(world *w) { return world_rows(w, "SELECT count(*) FROM t"); }

/* Runs the write until no call is left that could fail. */
static void walk(world *w, store_fault fault, write_fn write) {
    injector in = {.fault = fault};
    store *faulty;
    OK(store_fault_open(w->store, world_inject, &in, &faulty, &w->err));
    OK(replace(w, 0));
    for (in.nth = 1;; in.nth++) {
        int64_t version = world_version(w);
        size_t files = world_data_files(w);
        const char *rows = count_rows(w);
        in.calls = 0;
        in.armed = true;
        w->delta.store = faulty;
        silt_status status = write(w, in.nth);
        w->delta.store = w->store;
        in.armed = false;
        if (status == SILT_OK) {
            assert_int_equal(world_version(w), version + 1);
        } else if (status != SILT_UNKNOWN) { /* unknown: it may be there or not, and says so */
            assert_int_equal(world_version(w), version);
            assert_string_equal(count_rows(w), rows);
            assert_int_equal(world_data_files(w), files);
        }
        if (in.calls < in.nth) break; /* nothing went wrong any more */
    }
    assert_true(in.nth > 10);
    store_close(faulty);
}

static void a_failed_append_leaves_nothing(void **state) { walk(*state, FAULT_FAIL, append); }
static void a_failed_overwrite_leaves_nothing(void **state) { walk(*state, FAULT_FAIL, overwrite); }
static void a_failed_replace_leaves_nothing(void **state) { walk(*state, FAULT_FAIL, replace); }
static void a_lost_reply_is_resolved_or_told(void **state) { walk(*state, FAULT_LOST_REPLY, append); }

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_WORLD(a_failed_append_leaves_nothing),
        WITH_WORLD(a_failed_overwrite_leaves_nothing),
        WITH_WORLD(a_failed_replace_leaves_nothing),
        WITH_WORLD(a_lost_reply_is_resolved_or_told),
    };
    return RUN_TESTS(tests);
}
