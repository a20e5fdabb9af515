/* Which files of the log make up a version: checkpoints, the hint, compacted files, gaps. PROTOCOL.md "Checkpoints", "Last
 * Checkpoint File", "Log Compaction Files". */
#include "read_support.h"

#include <stdio.h>
#include <time.h>

#include "base/time.h"
#include "delta/segment.h"

static delta_segment segment(log_fixture *f, int64_t version) {
    delta_segment g;
    if (segment_load(&f->env, LOG_ROOT, version, f->arena, &g, &f->err) != SILT_OK)
        fail_msg("%s: %s", f->err.condition, f->err.message);
    return g;
}

static void segment_fails(log_fixture *f, int64_t version, const char *condition) {
    delta_segment g;
    assert_int_not_equal(segment_load(&f->env, LOG_ROOT, version, f->arena, &g, &f->err), SILT_OK);
    assert_condition(&f->err, condition);
}

static void commits(log_fixture *f, int64_t from, int64_t to) {
    for (int64_t v = from; v <= to; v++) log_commit(f, v, "{}\n");
}

#define UUID "80a083e8-7026-4e79-81be-64bd76c43a11"

static void commits_alone(void **state) {
    log_fixture *f = *state;
    commits(f, 0, 3);
    delta_segment g = segment(f, DELTA_LATEST);
    assert_int_equal(g.version, 3);
    assert_int_equal(g.n_checkpoint, 0);
    assert_int_equal(g.checkpoint_version, -1);
    assert_int_equal(g.n_commits, 4);
    assert_int_equal(segment(f, 1).n_commits, 2);
}

static void newest_checkpoint_not_above_the_version(void **state) {
    log_fixture *f = *state;
    commits(f, 0, 9);
    log_put(f, log_name(f, 3, ".checkpoint.parquet"), "x");
    log_put(f, log_name(f, 6, ".checkpoint.parquet"), "x");
    delta_segment g = segment(f, DELTA_LATEST);
    assert_int_equal(g.checkpoint_version, 6);
    assert_int_equal(g.n_commits, 3);
    assert_int_equal(g.commits[0].name.version, 7);
    g = segment(f, 5);
    assert_int_equal(g.checkpoint_version, 3);
    assert_int_equal(g.n_commits, 2);
    g = segment(f, 6);
    assert_int_equal(g.checkpoint_version, 6);
    assert_int_equal(g.n_commits, 0);
    assert_int_equal(g.last_commit->name.version, 6);
}

static void incomplete_parts_are_passed_over(void **state) {
    log_fixture *f = *state;
    commits(f, 0, 6);
    log_put(f, log_name(f, 2, ".checkpoint.0000000001.0000000002.parquet"), "x");
    log_put(f, log_name(f, 2, ".checkpoint.0000000002.0000000002.parquet"), "x");
    log_put(f, log_name(f, 4, ".checkpoint.0000000001.0000000003.parquet"), "x");
    log_put(f, log_name(f, 4, ".checkpoint.0000000003.0000000003.parquet"), "x");
    delta_segment g = segment(f, DELTA_LATEST);
    assert_int_equal(g.checkpoint_version, 2);
    assert_int_equal(g.n_checkpoint, 2);
    assert_int_equal(g.checkpoint[0].name.part, 1);
    assert_int_equal(g.checkpoint[1].name.part, 2);
    log_put(f, log_name(f, 4, ".checkpoint.0000000002.0000000003.parquet"), "x");
    assert_int_equal(segment(f, DELTA_LATEST).checkpoint_version, 4);
}

/* Parts of two writers with different counts, mixed: only the set that is whole counts. */
static void parts_of_two_sets(void **state) {
    log_fixture *f = *state;
    commits(f, 0, 1);
    log_put(f, log_name(f, 1, ".checkpoint.0000000001.0000000002.parquet"), "x");
    log_put(f, log_name(f, 1, ".checkpoint.0000000001.0000000003.parquet"), "x");
    log_put(f, log_name(f, 1, ".checkpoint.0000000002.0000000003.parquet"), "x");
    assert_int_equal(segment(f, DELTA_LATEST).n_checkpoint, 0);
    log_put(f, log_name(f, 1, ".checkpoint.0000000003.0000000003.parquet"), "x");
    assert_int_equal(segment(f, DELTA_LATEST).n_checkpoint, 3);
    log_put(f, log_name(f, 1, ".checkpoint." UUID ".json"), "x");
    assert_int_equal(segment(f, DELTA_LATEST).n_checkpoint, 1);
}

/* The hint may be missing, damaged, stale, or point nowhere: the answer is the same. */
static void hint_is_only_a_hint(void **state) {
    static const char *const hints[] = {
        "",
        "{",
        "[]",
        "\"x\"",
        "{'version':'x'}",
        "{'version':-5}",
        "{'version':3}",
        "{'version':6}",
        "{'version':4}",
        "{'version':999}",
        "{'version':6,'parts':2}",
        "{'version':1e3}",
        "not json at all",
    };
    log_fixture *f = *state;
    commits(f, 0, 9);
    log_put(f, log_name(f, 3, ".checkpoint.parquet"), "x");
    log_put(f, log_name(f, 6, ".checkpoint.parquet"), "x");
    for (size_t i = 0; i < ARRAY_LEN(hints); i++) {
        log_put(f, "_last_checkpoint", hints[i]);
        delta_segment g = segment(f, DELTA_LATEST);
        assert_int_equal(g.version, 9);
        assert_int_equal(g.checkpoint_version, 6);
        assert_int_equal(g.n_commits, 3);
        assert_int_equal(segment(f, 2).n_commits, 3);
        assert_int_equal(segment(f, 4).checkpoint_version, 3);
    }
}

static void compacted_files_replace_their_commits(void **state) {
    log_fixture *f = *state;
    commits(f, 0, 9);
    log_put(f, "00000000000000000001.00000000000000000003.compacted.json", "");
    log_put(f, "00000000000000000001.00000000000000000005.compacted.json", "");
    log_put(f, "00000000000000000004.00000000000000000009.compacted.json", "");
    delta_segment g = segment(f, DELTA_LATEST);
    assert_int_equal(g.n_commits, 1 + 1 + 4); /* 0, 1–5, 6 7 8 9 */
    assert_int_equal(g.commits[1].name.end_version, 5);
    g = segment(f, 4);
    assert_int_equal(g.n_commits, 3); /* 0, 1–3, 4 */
    assert_int_equal(g.commits[1].name.end_version, 3);
    log_remove(f, log_name(f, 2, ".json")); /* covered: no gap */
    assert_int_equal(segment(f, DELTA_LATEST).n_commits, 6);
    segment_fails(f, 2, "DELTA_VERSIONS_NOT_CONTIGUOUS");
}

static void gap_is_named(void **state) {
    log_fixture *f = *state;
    commits(f, 0, 2);
    commits(f, 5, 6);
    segment_fails(f, DELTA_LATEST, "DELTA_VERSIONS_NOT_CONTIGUOUS");
    assert_non_null(strstr(f->err.message, "2 is followed by 5"));
    assert_int_equal(segment(f, 2).version, 2);
    log_put(f, log_name(f, 5, ".checkpoint.parquet"), "x"); /* a checkpoint behind the gap */
    assert_int_equal(segment(f, DELTA_LATEST).n_commits, 1);
}

/* ---- a folder that changes while it is read ---- */

typedef struct late_commits {
    log_fixture *log;
    size_t listings;
    int64_t missed[3]; /* the version that the nth listing does not show; -1: all are shown */
} late_commits;

static store_fault miss_one(void *ctx, const char *call, str path, size_t nth) {
    late_commits *late = ctx;
    (void)path;
    (void)nth;
    if (strcmp(call, "list") != 0) return FAULT_NONE;
    for (int64_t v = 1; v <= 9; v++) log_commit(late->log, v, "{}\n");
    if (late->listings < ARRAY_LEN(late->missed) && late->missed[late->listings] > 0) log_remove(late->log, log_name(late->log, late->missed[late->listings], ".json"));
    late->listings++;
    return FAULT_NONE;
}

static delta_segment segment_of_late(log_fixture *f, late_commits *late, int64_t version) {
    store *faulty;
    delta_segment g;
    assert_int_equal(store_fault_open(f->store, miss_one, late, &faulty, &f->err), SILT_OK);
    delta_env env = f->env;
    env.store = faulty;
    if (segment_load(&env, LOG_ROOT, version, f->arena, &g, &f->err) != SILT_OK) fail_msg("%s: %s", f->err.condition, f->err.message);
    store_close(faulty);
    return g;
}

/* Commit 5 arrived where the reading of the folder had been already, commit 6 behind it: no gap of the log. */
static void commits_that_arrive_during_the_listing(void **state) {
    log_fixture *f = *state;
    commits(f, 0, 4);
    late_commits once = {f, 0, {5, -1, -1}}, twice = {f, 0, {5, 8, -1}}, first = {f, 0, {5, -1, -1}};
    assert_int_equal(segment_of_late(f, &once, DELTA_LATEST).version, 9);
    assert_int_equal(once.listings, 2);
    assert_int_equal(segment_of_late(f, &twice, DELTA_LATEST).n_commits, 10);
    assert_int_equal(twice.listings, 3);
    log_put(f, log_name(f, 4, ".checkpoint.parquet"), "x");
    log_put(f, "_last_checkpoint", "{'version':4}");
    log_remove(f, log_name(f, 4, ".json"));
    assert_int_equal(segment_of_late(f, &first, DELTA_LATEST).n_commits, 5);
}

/* ---- a store that lists by pages, and remembers what was seen ---- */

typedef struct paged {
    store base;
    store_ops ops;
    store *inner;
    size_t page;      /* entries */
    int64_t kept;     /* the hint on the local disk */
    int page_ms, hint_ms; /* how long a first page and _last_checkpoint take */
    int firsts, lists, hints; /* requests: a first page, a listing, _last_checkpoint; from two threads */
    bool abandoned;   /* nobody waited for the first page any more */
} paged;

static void sleep_ms(int ms) { nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L}, NULL); }

static silt_status paged_read(store *s, str path, int64_t offset, int64_t length, buf *out, silt_error *err) {
    paged *p = (paged *)s;
    if (str_ends_with(path, STR("_last_checkpoint"))) {
        p->hints++;
        sleep_ms(p->hint_ms);
    }
    return store_read(p->inner, path, offset, length, out, err);
}

static silt_status paged_list(store *s, str dir, str start_at, bool recursive, arena *a, store_list_result *out, silt_error *err) {
    paged *p = (paged *)s;
    p->lists++;
    return store_list(p->inner, dir, start_at, recursive, a, out, err);
}

static silt_status paged_first(store *s, str dir, const cancel_token *cancel, arena *a, store_list_result *out, bool *out_all, silt_error *err) {
    paged *p = (paged *)s;
    p->firsts++;
    for (int64_t began_ms = time_monotonic_ms(); time_monotonic_ms() < began_ms + p->page_ms && !p->abandoned;) {
        sleep_ms(1);
        p->abandoned = cancel_is_requested(cancel);
    }
    if (p->abandoned) return err_OPERATION_CANCELLED(err);
    silt_status status = store_list(p->inner, dir, STR_NULL, false, a, out, err);
    *out_all = out->count <= p->page;
    if (!*out_all) out->count = p->page;
    return status;
}

static int64_t paged_hint(store *s, str log_dir) {
    (void)log_dir;
    return ((paged *)s)->kept;
}

static void paged_set_hint(store *s, str log_dir, int64_t version) {
    (void)log_dir;
    ((paged *)s)->kept = version;
}

/* requests: "first pages, listings, hints read" that it took; NULL: whatever it took. */
static delta_segment segment_of_pages(log_fixture *f, paged *p, int64_t version, const char *requests) {
    delta_segment g = {0};
    char found[32];
    p->inner = f->store;
    p->ops = *f->store->ops;
    p->base = *f->store;
    p->base.ops = &p->ops;
    p->ops.read = paged_read;
    p->ops.list = paged_list;
    p->ops.list_first = paged_first;
    p->ops.hint = paged_hint;
    p->ops.set_hint = paged_set_hint;
    p->firsts = p->lists = p->hints = 0;
    p->abandoned = false;
    delta_env env = f->env;
    env.store = &p->base;
    f->err = (silt_error){0};
    (void)!segment_load(&env, LOG_ROOT, version, f->arena, &g, &f->err);
    snprintf(found, sizeof found, "%d, %d, %d", p->firsts, p->lists, p->hints);
    if (requests) assert_string_equal(found, requests);
    return g;
}

static void one_page_is_enough(void **state) {
    log_fixture *f = *state;
    paged p = {.page = 100, .kept = -1, .hint_ms = 30};
    commits(f, 0, 9);
    assert_int_equal(segment_of_pages(f, &p, DELTA_LATEST, "1, 0, 1").n_commits, 10);
    assert_int_equal(p.kept, 0); /* all is to be listed, and nothing else to be asked for */
    assert_int_equal(segment_of_pages(f, &p, DELTA_LATEST, "0, 1, 0").n_commits, 10);
    log_put(f, log_name(f, 6, ".checkpoint.parquet"), "x");
    log_put(f, "_last_checkpoint", "{'version':6}");
    assert_int_equal(segment_of_pages(f, &p, DELTA_LATEST, "0, 1, 0").n_commits, 3);
    assert_int_equal(p.kept, 6);
    assert_int_equal(segment_of_pages(f, &p, DELTA_LATEST, "0, 1, 0").n_commits, 3);
    p.kept = -1;
    assert_int_equal(segment_of_pages(f, &p, DELTA_LATEST, "1, 0, 1").n_commits, 3);
    p.kept = -1;
    assert_int_equal(segment_of_pages(f, &p, 5, "1, 0, 1").n_commits, 6); /* before the hint's checkpoint */
    assert_int_equal(p.kept, -1);
    p.kept = 3; /* of a checkpoint that is gone */
    assert_int_equal(segment_of_pages(f, &p, DELTA_LATEST, "0, 2, 1").n_commits, 3);
}

static void one_page_is_not_enough(void **state) {
    log_fixture *f = *state;
    paged p = {.page = 4, .kept = -1};
    commits(f, 0, 9);
    assert_int_equal(segment_of_pages(f, &p, DELTA_LATEST, "1, 1, 1").version, 9);
    p.kept = -1;
    log_put(f, log_name(f, 6, ".checkpoint.parquet"), "x");
    log_put(f, "_last_checkpoint", "{'version':6}");
    delta_segment g = segment_of_pages(f, &p, DELTA_LATEST, "1, 1, 1");
    assert_int_equal(g.checkpoint_version, 6);
    assert_int_equal(g.n_commits, 3);
    p.kept = -1;
    log_put(f, "_last_checkpoint", "{'version':7}");
    assert_int_equal(segment_of_pages(f, &p, DELTA_LATEST, "1, 2, 1").version, 9);
}

/* The first page of a long log takes its time: who knows where the checkpoint is does not wait for it. */
static void the_hint_is_quicker_than_the_page(void **state) {
    log_fixture *f = *state;
    paged p = {.page = 4, .kept = -1, .page_ms = 20000};
    commits(f, 0, 9);
    log_put(f, log_name(f, 6, ".checkpoint.parquet"), "x");
    log_put(f, "_last_checkpoint", "{'version':6}");
    delta_segment g = segment_of_pages(f, &p, DELTA_LATEST, "1, 1, 1");
    assert_true(p.abandoned);
    assert_int_equal(g.checkpoint_version, 6);
    assert_int_equal(g.n_commits, 3);
    assert_int_equal(p.kept, 6);
    p = (paged){.page = 100, .kept = -1, .page_ms = 50, .hint_ms = 1};
    log_put(f, "_last_checkpoint", "{'version':7}"); /* where no checkpoint is: then the page is waited for */
    assert_int_equal(segment_of_pages(f, &p, DELTA_LATEST, "1, 1, 1").checkpoint_version, 6);
    assert_false(p.abandoned);
}

/* The page of a short log comes a moment behind the hint, and is worth that moment: nothing more is asked for. */
static void a_page_that_is_a_little_late(void **state) {
    log_fixture *f = *state;
    paged p = {.page = 100, .kept = -1, .page_ms = 840, .hint_ms = 800};
    commits(f, 0, 9);
    log_put(f, log_name(f, 6, ".checkpoint.parquet"), "x");
    log_put(f, "_last_checkpoint", "{'version':6}");
    delta_segment g = segment_of_pages(f, &p, DELTA_LATEST, "1, 0, 1");
    assert_int_equal(g.checkpoint_version, 6);
    assert_int_equal(g.n_commits, 3);
}

static void pages_of_what_is_no_whole_log(void **state) {
    log_fixture *f = *state;
    paged p = {.page = 100, .kept = -1};
    (void)segment_of_pages(f, &p, DELTA_LATEST, NULL);
    assert_condition(&f->err, "DELTA_TABLE_NOT_FOUND");
    commits(f, 0, 2);
    commits(f, 4, 5);
    (void)segment_of_pages(f, &p, DELTA_LATEST, "1, 2, 1"); /* a gap is looked at twice */
    assert_condition(&f->err, "DELTA_VERSIONS_NOT_CONTIGUOUS");
    (void)segment_of_pages(f, &p, 9, "1, 4, 1");
    assert_condition(&f->err, "DELTA_VERSION_NOT_FOUND");
}

static void cleaned_up_log(void **state) {
    log_fixture *f = *state;
    commits(f, 6, 9);
    segment_fails(f, DELTA_LATEST, "DELTA_TRUNCATED_TRANSACTION_LOG");
    log_put(f, log_name(f, 6, ".checkpoint.parquet"), "x");
    assert_int_equal(segment(f, DELTA_LATEST).version, 9);
    segment_fails(f, 5, "DELTA_VERSION_NOT_FOUND");
    assert_non_null(strstr(f->err.message, "[6, 9]"));
    segment_fails(f, 10, "DELTA_VERSION_NOT_FOUND");
    assert_non_null(strstr(f->err.message, "[6, 9]"));
    segment_fails(f, -7, "DELTA_VERSION_NOT_FOUND");
}

static void no_table(void **state) {
    log_fixture *f = *state;
    segment_fails(f, DELTA_LATEST, "DELTA_TABLE_NOT_FOUND");
    log_put(f, "_last_checkpoint", "{'version':3}");
    log_put(f, log_name(f, 3, ".crc"), "{}");
    log_put(f, "readme.txt", "");
    log_put(f, log_name(f, 0, ".json.tmp"), "");
    segment_fails(f, DELTA_LATEST, "DELTA_TABLE_NOT_FOUND");
    bool exists = true;
    assert_int_equal(delta_table_exists(&f->env, LOG_ROOT, &exists, &f->err), SILT_OK);
    assert_false(exists);
    commits(f, 0, 0);
    assert_int_equal(delta_table_exists(&f->env, LOG_ROOT, &exists, &f->err), SILT_OK);
    assert_true(exists);
}

static void version_range(void **state) {
    log_fixture *f = *state;
    int64_t earliest, latest;
    commits(f, 0, 4);
    assert_int_equal(delta_version_range(&f->env, LOG_ROOT, &earliest, &latest, &f->err), SILT_OK);
    assert_int_equal(earliest, 0);
    assert_int_equal(latest, 4);
    log_put(f, log_name(f, 3, ".checkpoint.parquet"), "x");
    log_remove(f, log_name(f, 0, ".json"));
    assert_int_equal(delta_version_range(&f->env, LOG_ROOT, &earliest, &latest, &f->err), SILT_OK);
    assert_int_equal(earliest, 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, log_setup, log_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(commits_alone),
        TEST(newest_checkpoint_not_above_the_version),
        TEST(incomplete_parts_are_passed_over),
        TEST(parts_of_two_sets),
        TEST(hint_is_only_a_hint),
        TEST(compacted_files_replace_their_commits),
        TEST(gap_is_named),
        TEST(commits_that_arrive_during_the_listing),
        TEST(one_page_is_enough),
        TEST(one_page_is_not_enough),
        TEST(the_hint_is_quicker_than_the_page),
        TEST(a_page_that_is_a_little_late),
        TEST(pages_of_what_is_no_whole_log),
        TEST(cleaned_up_log),
        TEST(no_table),
        TEST(version_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
