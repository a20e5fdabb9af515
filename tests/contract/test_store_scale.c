/*
 * The contract where it is large, crowded or refused: a race of processes, listings of many pages, objects of many parts, a key that the server does not know.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/thread.h"
#include "base/uri.h"
#include "stores.h"

/* ---- a race of processes ---- */

enum { PROCESSES = 12, NAMES = 15, TEXT = 3000 };

/* One racer: won[i] is 1, 0, or 2 for what must not be. Ends the process. */
static void race(fixture *f, int id, int report) {
    char won[NAMES], text[TEXT];
    store *own = NULL;
    bool opened = f->kind->open(f, &own, NULL) == SILT_OK;
    memset(text, 'a' + id, sizeof text);
    for (int i = 0; i < NAMES; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/race/%d", f->root, i);
        silt_status status = opened ? store_put(own, str_of(path), (str){text, sizeof text}, STORE_PUT_IF_ABSENT, NULL) : SILT_INTERNAL;
        won[i] = status == SILT_OK ? 1 : status == SILT_EXISTS ? 0 : 2;
    }
    _exit(write(report, won, sizeof won) == sizeof won ? 0 : 1);
}

static void of_12_processes_exactly_one_wins_each_name(void **state) {
    fixture *f = *state;
    int winner[NAMES], pipes[PROCESSES][2], ended;
    memset(winner, -1, sizeof winner);
    for (int p = 0; p < PROCESSES; p++) {
        assert_int_equal(pipe(pipes[p]), 0);
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) race(f, p, pipes[p][1]);
        close(pipes[p][1]);
    }
    for (int p = 0; p < PROCESSES; p++) {
        char won[NAMES];
        assert_int_equal(read(pipes[p][0], won, sizeof won), sizeof won);
        close(pipes[p][0]);
        for (int i = 0; i < NAMES; i++) {
            assert_in_range(won[i], 0, 1);
            if (!won[i]) continue;
            assert_int_equal(winner[i], -1);
            winner[i] = p;
        }
    }
    while (wait(&ended) > 0) assert_int_equal(ended, 0);
    for (int i = 0; i < NAMES; i++) {
        buf b;
        buf_init(&b, BUF_MAX_DEFAULT);
        assert_int_not_equal(winner[i], -1);
        assert_int_equal(store_read(f->store, arena_printf(f->arena, "%s/race/%d", f->root, i), 0, -1, &b, NULL), SILT_OK);
        assert_int_equal(b.len, TEXT);
        for (size_t k = 0; k < TEXT; k++) assert_int_equal(b.ptr[k], 'a' + winner[i]);
        buf_dispose(&b);
    }
}

/* ---- many pages ---- */

enum { PUTTERS = 16 };

static size_t keys(const fixture *f) { return has(f, SMALL_PAGES) ? 1000 : 5000; }
static str key_of(fixture *f, size_t i) { return arena_printf(f->arena, "%s/many/%020zu.json", f->root, i * 7919 % keys(f)); }

typedef struct putting {
    store *store;
    const str *paths;
} putting;

static silt_status put_one(void *ctx, size_t i, silt_error *err) {
    putting *p = ctx;
    return store_put(p->store, p->paths[i], STR("x"), STORE_PUT_IF_ABSENT_RELAXED, err);
}

static silt_status count_entry(void *ctx, const store_walk_entry *e, silt_error *err) {
    (void)err;
    *(size_t *)ctx += e->kind == STORE_FILE;
    return SILT_OK;
}

static store_walk_wish take_all(void *ctx, const store_walk_entry *e) {
    (void)ctx;
    (void)e;
    return STORE_WALK_TAKE;
}

static void assert_ascending(fixture *f, str start_at, bool recursive, size_t first) {
    store_list_result list;
    char name[32];
    assert_int_equal(store_list(f->store, at(f, "many"), start_at, recursive, f->arena, &list, NULL), SILT_OK);
    assert_int_equal(list.count, keys(f) - first);
    for (size_t i = 0; i < list.count; i++) {
        snprintf(name, sizeof name, "%020zu.json", first + i);
        if (!str_eqz(path_name(list.items[i].path), name)) fail_msg("entry %zu is %.*s", i, STR_ARG(list.items[i].path));
        assert_int_equal(list.items[i].size_bytes, 1);
    }
}

static void lists_of_thousands_are_whole_and_in_order(void **state) {
    fixture *f = *state;
    size_t n = keys(f);
    str *paths = calloc(n, sizeof *paths);
    silt_error err = {0};
    assert_non_null(paths);
    for (size_t i = 0; i < n; i++) paths[i] = key_of(f, i);
    putting p = {f->store, paths};
    if (thread_for(PUTTERS, n, put_one, &p, &err) != SILT_OK) fail_msg("%s %s", err.message, err.detail);
    free(paths);
    assert_ascending(f, STR_NULL, false, 0);
    assert_ascending(f, STR_NULL, true, 0);
    assert_ascending(f, STR("00000000000000000199.json"), false, 199);
    assert_ascending(f, STR("00000000000000000801"), false, 801);
    assert_ascending(f, arena_printf(f->arena, "%020zu.json", n - 1), false, n - 1);
    size_t walked = 0;
    const store_walker walker = {.ctx = &walked, .n_threads = 3, .look = take_all, .take = count_entry};
    assert_int_equal(store_walk(f->store, str_of(f->root), &walker, NULL), SILT_OK);
    assert_int_equal(walked, n);
}

/* ---- many parts ---- */

#define LARGE_BYTES (INT64_C(256) << 20)

static uint64_t word_at(uint64_t i) { return (i + 1) * UINT64_C(0x9e3779b97f4a7c15); }

static void write_large(str local, int64_t size) {
    enum { WORDS = 8192 };
    uint64_t words[WORDS];
    FILE *file = fopen(local.ptr, "wb");
    assert_non_null(file);
    for (uint64_t i = 0; i < (uint64_t)size / 8; i += WORDS) {
        for (uint64_t k = 0; k < WORDS; k++) words[k] = word_at(i + k);
        assert_int_equal(fwrite(words, 8, WORDS, file), WORDS);
    }
    assert_int_equal(fclose(file), 0);
}

static void assert_range(fixture *f, str path, int64_t offset, int64_t length, int64_t expected) {
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    assert_int_equal(store_read(f->store, path, offset, length, &b, NULL), SILT_OK);
    assert_int_equal(b.len, expected);
    for (size_t i = 0; i + 8 <= b.len; i += 8) {
        uint64_t word;
        memcpy(&word, b.ptr + i, 8);
        if (word != word_at(((uint64_t)offset + i) / 8)) fail_msg("wrong bytes at %lld", (long long)offset + (long long)i);
    }
    buf_dispose(&b);
}

static void objects_of_256_megabytes(void **state) {
    fixture *f = *state;
    str path = at(f, "large.parquet"), local;
    store_entry entry;
    silt_error err = {0};
    assert_int_equal(store_write_begin(f->store, path, f->arena, &local, NULL), SILT_OK);
    write_large(local, LARGE_BYTES);
    if (store_write_finish(f->store, path, local, &err) != SILT_OK) fail_msg("%s %s", err.message, err.detail);
    assert_int_equal(store_stat(f->store, path, f->arena, &entry, NULL), SILT_OK);
    assert_int_equal(entry.size_bytes, LARGE_BYTES);
    assert_range(f, path, 0, 4096, 4096);
    assert_range(f, path, LARGE_BYTES / 2 - 8192, 16384, 16384);
    assert_range(f, path, LARGE_BYTES - 4096, 100000, 4096);
    assert_int_equal(store_write_begin(f->store, at(f, "copy"), f->arena, &local, NULL), SILT_OK);
    int64_t copied;
    assert_int_equal(store_copy_out(f->store, path, local, NULL, &copied, NULL), SILT_OK);
    assert_int_equal(copied, LARGE_BYTES);
    FILE *file = fopen(local.ptr, "rb");
    uint64_t word;
    assert_non_null(file);
    for (uint64_t i = 0; i < (uint64_t)LARGE_BYTES / 8; i++)
        if (fread(&word, 8, 1, file) != 1 || word != word_at(i)) fail_msg("wrong bytes at %llu of the copy", (unsigned long long)i * 8);
    fclose(file);
    store_write_abort(f->store, at(f, "copy"), local);
}

/* ---- refusals ---- */

static void assert_denied(silt_status status, const silt_error *err, const char *call) {
    if (status != SILT_DENIED) fail_msg("%s: status %d, %s", call, (int)status, err->message);
    if (strstr(err->message, "d3Jvbmcga2V5") || strstr(err->detail, "d3Jvbmcga2V5")) fail_msg("%s tells the key", call);
}

static void a_wrong_key_is_denied_everything(void **state) {
    fixture *f = *state;
    store *wrong = NULL;
    store_entry entry;
    store_list_result list;
    silt_error err = {0};
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    assert_int_equal(store_put(f->store, at(f, "there"), STR("1"), STORE_PUT_IF_ABSENT, NULL), SILT_OK);
    f->wrong_key = true;
    silt_status status = f->kind->open(f, &wrong, &err);
    if (status != SILT_OK) { /* found out at once */
        assert_denied(status, &err, "open");
        return;
    }
    assert_denied(store_read(wrong, at(f, "there"), 0, -1, &b, &err), &err, "read");
    assert_denied(store_put(wrong, at(f, "new"), STR("1"), STORE_PUT_IF_ABSENT, &err), &err, "put");
    assert_denied(store_put(wrong, at(f, "there"), STR("2"), STORE_PUT_REPLACE, &err), &err, "replace");
    assert_denied(store_stat(wrong, at(f, "there"), f->arena, &entry, &err), &err, "stat");
    assert_denied(store_list(wrong, str_of(f->root), STR_NULL, true, f->arena, &list, &err), &err, "list");
    assert_denied(store_remove(wrong, at(f, "there"), &err), &err, "remove");
    store_close(wrong);
    assert_int_equal(store_list(f->store, str_of(f->root), STR_NULL, true, f->arena, &list, NULL), SILT_OK);
    assert_int_equal(list.count, 1);
    buf_dispose(&b);
}

int main(void) {
    static const contract_test tests[] = {
        CONTRACT_OF(of_12_processes_exactly_one_wins_each_name, IS_SHARED),
        CONTRACT(lists_of_thousands_are_whole_and_in_order),
        CONTRACT_OF(objects_of_256_megabytes, IS_SERVER),
        CONTRACT_OF(a_wrong_key_is_denied_everything, CHECKS_KEYS),
    };
    return contract_run(tests, ARRAY_LEN(tests));
}
