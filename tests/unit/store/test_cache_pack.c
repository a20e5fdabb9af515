/* The small files of a log in the read cache: one file of the cache for all of them, whose contents are right or not there, whatever was killed, cut, overwritten or added at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/cache/cache.h"
#include "support/remote_like.h"

#define LOG     "/t/_delta_log"
#define COMMITS 300

static char folder[64];
static arena *a;
static store *memory, *remote, *cached;
static silt_error err;
static int n_found;
static char found[PATH_MAX];

static void open_cached(int64_t max_bytes) {
    store_cache_settings settings = {.dir = str_of(folder), .max_bytes = max_bytes, .poison = true};
    assert_int_equal(remote_like_open(memory, "test://bucket", 0, &remote, &err), SILT_OK);
    assert_int_equal(store_cache_open(remote, &settings, &cached, &err), SILT_OK);
}

/* A new process, as far as the cache can tell. */
static void reopen(void) {
    arena_reset(a);
    store_close(cached);
    open_cached(1000 << 20);
}

static int begin(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/silt-packs-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    a = arena_new();
    if (store_memory_open(1000, &memory, NULL) != SILT_OK) return -1;
    open_cached(1000 << 20);
    return 0;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw) {
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

static int end(void **state) {
    (void)state;
    store_close(cached);
    store_close(memory);
    arena_free(a);
    return nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static str text_of(int i, size_t n) {
    char *text = arena_alloc(a, n + 1);
    for (size_t k = 0; k < n; k++) text[k] = (char)('a' + (k * 7 + (size_t)i * 13 + k / 26) % 26);
    return (str){text, n};
}

static str path_of(int i) { return arena_printf(a, LOG "/%020d.json", i); }
static size_t size_of(int i) { return (size_t)(200 + i % 50 * 10); }

static void put_commits(int from, int to) {
    for (int i = from; i < to; i++) assert_int_equal(store_put(memory, path_of(i), text_of(i, size_of(i)), STORE_PUT_REPLACE, &err), SILT_OK);
}

static size_t list(store_sparse **out) {
    store_list_result l = {0};
    assert_int_equal(store_list(cached, STR(LOG), STR_NULL, false, a, &l, &err), SILT_OK);
    *out = ARENA_ARRAY(a, l.count + 1, store_sparse);
    for (size_t i = 0; i < l.count; i++) (*out)[i] = (store_sparse){.path = l.items[i].path, .size_bytes = l.items[i].size_bytes, .tag = cache_tag_of(&l.items[i], a)};
    return l.count;
}

/* As a table is opened: a listing, all of it ahead, then each file. */
static void read_all(int n) {
    store_sparse *files;
    assert_int_equal(list(&files), n);
    assert_int_equal(store_fetch_ahead(cached, files, (size_t)n, NULL, a, &err), SILT_OK);
    for (int i = 0; i < n; i++) {
        buf out;
        buf_init(&out, 1 << 20);
        assert_int_equal(store_read(cached, path_of(i), 0, -1, &out, &err), SILT_OK);
        assert_true(str_eq(buf_str(&out), text_of(i, size_of(i))));
        buf_clear(&out);
        assert_int_equal(store_read(cached, path_of(i), 50, 100, &out, &err), SILT_OK); /* its statistics, later */
        assert_true(str_eq(buf_str(&out), str_slice(text_of(i, size_of(i)), 50, 150)));
        buf_dispose(&out);
    }
}

static uint64_t reads(void) { return remote_like_counts(remote).reads; }

static int count_one(const char *path, const struct stat *st, int flag, struct FTW *ftw) {
    (void)st;
    (void)ftw;
    if (flag == FTW_F && strstr(path, "/objects/")) snprintf(found, sizeof found, "%s", path), n_found++;
    return 0;
}

/* The one file of the cache; *out_files how many there are. */
static const char *pack(int *out_files) {
    n_found = 0;
    assert_int_equal(nftw(folder, count_one, 16, FTW_PHYS), 0);
    if (out_files) *out_files = n_found;
    return found;
}

static void a_log_is_one_file(void **state) {
    (void)state;
    int files;
    put_commits(0, COMMITS);
    read_all(COMMITS);
    assert_int_equal(reads(), COMMITS);
    assert_int_equal(remote_like_counts(remote).stats, 0);
    pack(&files);
    assert_int_equal(files, 1);
    reopen();
    read_all(COMMITS);
    assert_int_equal(reads(), 0);
    put_commits(COMMITS, COMMITS + 5);
    read_all(COMMITS + 5);
    assert_int_equal(reads(), 5);
    read_all(COMMITS + 5);
    assert_int_equal(reads(), 5);
}

static void another_version_of_a_file_is_another_file(void **state) {
    (void)state;
    put_commits(0, 3);
    read_all(3);
    str other = text_of(77, size_of(1)); /* of the same size: its tag tells */
    assert_int_equal(store_put(memory, path_of(1), other, STORE_PUT_REPLACE, &err), SILT_OK);
    store_sparse *files;
    size_t n = list(&files);
    assert_int_equal(store_fetch_ahead(cached, files, n, NULL, a, &err), SILT_OK);
    buf out;
    buf_init(&out, 1 << 20);
    assert_int_equal(store_read(cached, path_of(1), 0, -1, &out, &err), SILT_OK);
    assert_true(str_eq(buf_str(&out), other));
    buf_dispose(&out);
}

static void a_missing_file_is_its_reader_s(void **state) {
    (void)state;
    put_commits(0, 20);
    store_sparse *files;
    size_t n = list(&files);
    assert_int_equal(store_remove(memory, path_of(7), &err), SILT_OK);
    assert_int_equal(store_fetch_ahead(cached, files, n, NULL, a, &err), SILT_OK);
    buf out;
    buf_init(&out, 1 << 20);
    assert_int_equal(store_read(cached, path_of(7), 0, -1, &out, &err), SILT_NOT_FOUND);
    assert_int_equal(store_read(cached, path_of(8), 0, -1, &out, &err), SILT_OK);
    assert_true(str_eq(buf_str(&out), text_of(8, size_of(8))));
    buf_dispose(&out);
}

static void damage_is_found(void **state) {
    (void)state;
    struct stat st;
    char kept[PATH_MAX];
    put_commits(0, 40);
    read_all(40);
    snprintf(kept, sizeof kept, "%s", pack(NULL));
    assert_int_equal(stat(kept, &st), 0);
    for (off_t at = 0; at < st.st_size; at += at < 400 ? 7 : 997) {
        int fd = open(kept, O_RDWR);
        char c;
        assert_int_equal(pread(fd, &c, 1, at), 1);
        c = (char)(c ^ 0x20);
        assert_int_equal(pwrite(fd, &c, 1, at), 1);
        close(fd);
        reopen();
        read_all(40);
        assert_true(reads() > 0);
        reopen();
        read_all(40); /* mended */
        assert_int_equal(reads(), 0);
    }
}

static void every_length_that_a_kill_may_leave(void **state) {
    (void)state;
    struct stat st;
    char kept[PATH_MAX];
    put_commits(0, 10);
    read_all(10);
    snprintf(kept, sizeof kept, "%s", pack(NULL));
    assert_int_equal(stat(kept, &st), 0);
    for (off_t n = st.st_size - 1; n >= 0; n -= n > 300 ? 31 : 1) {
        assert_int_equal(truncate(kept, n), 0);
        reopen();
        read_all(10);
        assert_int_equal(stat(kept, &st), 0);
        assert_int_equal(truncate(kept, st.st_size), 0);
    }
}

/* What was cut while it is open. */
static void cut_under_a_reader(void **state) {
    (void)state;
    put_commits(0, 10);
    read_all(10);
    assert_int_equal(truncate(pack(NULL), 300), 0);
    read_all(10);
    assert_int_equal(unlink(pack(NULL)), 0);
    read_all(10);
}

static void large_files_have_an_entry_of_their_own(void **state) {
    (void)state;
    int files;
    assert_int_equal(store_put(memory, path_of(0), text_of(1, 300000), STORE_PUT_REPLACE, &err), SILT_OK);
    store_sparse *list_of;
    assert_int_equal(list(&list_of), 1);
    assert_int_equal(store_fetch_ahead(cached, list_of, 1, NULL, a, &err), SILT_OK);
    buf out;
    buf_init(&out, 1 << 20);
    assert_int_equal(store_read(cached, path_of(0), 1000, 300, &out, &err), SILT_OK);
    assert_true(str_eq(buf_str(&out), str_slice(text_of(1, 300000), 1000, 1300)));
    buf_dispose(&out);
    pack(&files);
    assert_int_equal(files, 2);
}

/* It begins anew at 8 MB: what is read through by each process stays small. */
static void a_pack_does_not_grow_for_ever(void **state) {
    (void)state;
    struct stat st;
    for (int round = 0; round < 15; round++) {
        for (int i = 0; i < 20; i++) assert_int_equal(store_put(memory, path_of(i), text_of(round * 20 + i, 100000), STORE_PUT_REPLACE, &err), SILT_OK);
        store_sparse *files;
        size_t n = list(&files);
        assert_int_equal(store_fetch_ahead(cached, files, n, NULL, a, &err), SILT_OK);
        uint64_t before = reads();
        buf out;
        buf_init(&out, 1 << 20);
        assert_int_equal(store_read(cached, path_of(3), 0, -1, &out, &err), SILT_OK);
        assert_true(str_eq(buf_str(&out), text_of(round * 20 + 3, 100000)));
        buf_dispose(&out);
        assert_int_equal(reads(), before);
        assert_int_equal(stat(pack(NULL), &st), 0);
        assert_true(st.st_size < 12 << 20);
        arena_reset(a);
    }
}

static void removed_when_there_is_no_room(void **state) {
    (void)state;
    put_commits(0, 50);
    read_all(50);
    store_cache_usage gone;
    assert_int_equal(store_cache_clear(str_of(folder), &gone, &err), SILT_OK);
    assert_int_equal(gone.entries, 1);
    read_all(50);
    reopen();
    read_all(50);
}

static void a_hint_is_the_last_that_was_given(void **state) {
    (void)state;
    struct stat st;
    assert_int_equal(store_hint(cached, STR(LOG)), -1);
    store_set_hint(cached, STR(LOG), 10);
    assert_int_equal(store_hint(cached, STR(LOG)), 10);
    store_set_hint(cached, STR(LOG), 7);
    reopen();
    assert_int_equal(store_hint(cached, STR(LOG)), 7);
    assert_int_equal(store_hint(cached, STR("/other/_delta_log")), -1);
    assert_int_equal(stat(pack(NULL), &st), 0);
    assert_int_equal(truncate(found, st.st_size - 1), 0); /* then the one before is what there is: an old hint, no wrong one */
    reopen();
    assert_int_equal(store_hint(cached, STR(LOG)), 10);
    put_commits(0, 5);
    read_all(5);
}

static void several_processes_add_at_once(void **state) {
    (void)state;
    enum { CHILDREN = 6 };
    pid_t children[CHILDREN];
    put_commits(0, COMMITS);
    for (int c = 0; c < CHILDREN; c++) {
        children[c] = fork();
        if (children[c]) continue;
        reopen();
        store_sparse *files;
        size_t n = list(&files);
        for (size_t i = (size_t)c * 20; i + 10 < n; i += 25) /* overlapping parts, by and by */
            if (store_fetch_ahead(cached, files + i, 10, NULL, a, &err) != SILT_OK) _exit(1);
        read_all(COMMITS);
        _exit(0);
    }
    for (int c = 0; c < CHILDREN; c++) {
        int status;
        assert_int_equal(waitpid(children[c], &status, 0), children[c]);
        assert_int_equal(status, 0);
    }
    reopen();
    read_all(COMMITS);
    reopen();
    read_all(COMMITS);
    assert_int_equal(reads(), 0);
}

static void killed_while_adding(void **state) {
    (void)state;
    put_commits(0, COMMITS);
    for (int round = 0; round < 12; round++) {
        pid_t child = fork();
        if (child == 0) {
            reopen();
            store_sparse *files;
            size_t n = list(&files);
            for (size_t i = 0; i + 3 <= n; i += 3) (void)!store_fetch_ahead(cached, files + i, 3, NULL, a, &err);
            pause();
        }
        usleep((useconds_t)(500 + round * 1500));
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, NULL, 0), child);
        reopen();
        read_all(COMMITS);
        if (round % 4 == 3) assert_int_equal(unlink(pack(NULL)), 0);
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_log_is_one_file),
        TEST(another_version_of_a_file_is_another_file),
        TEST(a_missing_file_is_its_reader_s),
        TEST(damage_is_found),
        TEST(every_length_that_a_kill_may_leave),
        TEST(cut_under_a_reader),
        TEST(large_files_have_an_entry_of_their_own),
        TEST(a_pack_does_not_grow_for_ever),
        TEST(removed_when_there_is_no_room),
        TEST(a_hint_is_the_last_that_was_given),
        TEST(several_processes_add_at_once),
        TEST(killed_while_adding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
