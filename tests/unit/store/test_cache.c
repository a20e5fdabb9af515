/* The read cache: what is fetched and what is not, that a hole never passes for data whatever was killed, cut or written to, eviction, and several processes at once. */
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

#define MB ((int64_t)1 << 20)

static char folder[64];
static arena *a;
static store *memory, *remote, *cached;
static silt_error err;

static store *open_cache(store *around, int64_t max_bytes) {
    store *out;
    store_cache_settings settings = {.dir = str_of(folder), .max_bytes = max_bytes, .poison = true};
    assert_int_equal(store_cache_open(around, &settings, &out, &err), SILT_OK);
    return out;
}

static int begin(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/silt-cache-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    a = arena_new();
    if (store_memory_open(1000, &memory, NULL) != SILT_OK || remote_like_open(memory, "test://bucket", 0, &remote, NULL) != SILT_OK) return -1;
    cached = open_cache(remote, 1000 * MB);
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

/* A new process, as far as the cache can tell. The old arena's holds are over. */
static void reopen(int64_t max_bytes) {
    arena_reset(a);
    store_close(cached);
    assert_int_equal(remote_like_open(memory, "test://bucket", 0, &remote, NULL), SILT_OK);
    cached = open_cache(remote, max_bytes);
}

/* Byte i of object n. */
static char byte_of(int n, int64_t i) { return (char)((uint64_t)(i * 2654435761u + i / 251 + n * 97) >> 3); }

static void put_object(const char *path, int n, int64_t size) {
    char *bytes = malloc((size_t)size + 1);
    assert_non_null(bytes);
    for (int64_t i = 0; i < size; i++) bytes[i] = byte_of(n, i);
    assert_int_equal(store_put(memory, str_of(path), (str){bytes, (size_t)size}, STORE_PUT_REPLACE, NULL), SILT_OK);
    free(bytes);
}

static str local_of(const char *path, int64_t size, const store_span *spans, size_t n) {
    store_sparse file = {.path = str_of(path), .size_bytes = size, .spans = spans, .n_spans = n};
    str out = STR_NULL;
    silt_status status = store_local_ranges(cached, &file, 1, NULL, a, &out, NULL, &err);
    if (status != SILT_OK) fail_msg("%s: %s (%s)", path, err.message, err.detail);
    return out;
}

/* Do the bytes stand there? */
static bool right_at(str local, int n, int64_t offset, int64_t length) {
    FILE *f = fopen(local.ptr, "rb");
    assert_non_null(f);
    assert_int_equal(fseek(f, (long)offset, SEEK_SET), 0);
    bool right = true;
    for (int64_t i = 0; i < length && right; i++) right = fgetc(f) == (unsigned char)byte_of(n, offset + i);
    fclose(f);
    return right;
}

static int64_t bytes_read(void) { return remote_like_counts(remote).bytes; }
static uint64_t requests(void) { return remote_requests(remote_like_counts(remote)); }

/* ---- what is fetched ---- */

static void only_what_is_wanted_is_read(void **state) {
    (void)state;
    put_object("/t/x.parquet", 1, 3 * MB);
    const store_span wanted[] = {{100, 1000}, {2 * MB, 5000}};
    str local = local_of("/t/x.parquet", 3 * MB, wanted, 2);
    assert_true(right_at(local, 1, 100, 1000));
    assert_true(right_at(local, 1, 2 * MB, 5000));
    assert_int_equal(bytes_read(), 6000);
    assert_int_equal(requests(), 2); /* not one to learn its size */
    struct stat st;
    assert_int_equal(stat(local.ptr, &st), 0);
    assert_int_equal(st.st_size, 3 * MB);
    assert_true(str_ends_with(local, STR(".parquet")));
}

static void what_is_there_is_not_read_again(void **state) {
    (void)state;
    put_object("/x", 1, MB);
    const store_span first[] = {{0, 1000}}, more[] = {{500, 1000}};
    local_of("/x", MB, first, 1);
    reopen(1000 * MB);
    assert_true(right_at(local_of("/x", MB, first, 1), 1, 0, 1000));
    assert_int_equal(requests(), 0);
    assert_true(right_at(local_of("/x", MB, more, 1), 1, 0, 1500));
    assert_int_equal(bytes_read(), 500);
}

static void near_stretches_come_in_one_request(void **state) {
    (void)state;
    put_object("/x", 1, 4 * MB);
    const store_span wanted[] = {{0, 400000}, {401000, 400000}, {3 * MB, 100}}; /* a gap of 1,000 bytes and a wide one */
    local_of("/x", 4 * MB, wanted, 3);
    assert_int_equal(requests(), 3); /* 801,000 bytes in two, for two connections */
    assert_int_equal(bytes_read(), 801100);
}

static void gaps_do_not_outweigh_what_is_wanted(void **state) {
    (void)state;
    put_object("/x", 1, MB);
    const store_span wanted[] = {{0, 1000}, {5000, 1000}, {9000, 1000}};
    local_of("/x", MB, wanted, 3);
    assert_int_equal(bytes_read(), 3000);
}

static void whole_objects_of_unknown_size(void **state) {
    (void)state;
    put_object("/d/a.csv.gz", 3, 10 * MB);
    str local = STR_NULL;
    assert_int_equal(store_local_read_path(cached, STR("/d/a.csv.gz"), a, &local, &err), SILT_OK);
    assert_true(right_at(local, 3, 0, 10 * MB));
    assert_true(str_ends_with(local, STR(".csv.gz")));
    assert_int_equal(remote_like_counts(remote).stats, 1);
    assert_true(remote_like_counts(remote).reads > 4); /* in parallel */
    put_object("/d/a.csv.gz", 4, 10 * MB);             /* the same size: its tag tells */
    assert_int_equal(store_local_read_path(cached, STR("/d/a.csv.gz"), a, &local, &err), SILT_OK);
    assert_true(right_at(local, 4, 0, 10 * MB));
}

static void an_empty_object(void **state) {
    (void)state;
    put_object("/empty", 1, 0);
    str local = STR_NULL;
    assert_int_equal(store_local_read_path(cached, STR("/empty"), a, &local, &err), SILT_OK);
    struct stat st;
    assert_int_equal(stat(local.ptr, &st), 0);
    assert_int_equal(st.st_size, 0);
}

static void stretches_beyond_the_end_are_cut(void **state) {
    (void)state;
    put_object("/x", 1, 1000);
    const store_span wanted[] = {{900, 5000}, {2000, 10}, {-50, 60}};
    str local = local_of("/x", 1000, wanted, 3);
    assert_true(right_at(local, 1, 900, 100));
    assert_true(right_at(local, 1, 0, 10));
}

static void many_files_side_by_side(void **state) {
    (void)state;
    enum { N = 100 };
    store_sparse files[N];
    str paths[N];
    const store_span wanted[] = {{10, 50}};
    for (int i = 0; i < N; i++) {
        str path = arena_printf(a, "/many/%d", i);
        put_object(path.ptr, i, 1000);
        files[i] = (store_sparse){.path = path, .size_bytes = 1000, .spans = wanted, .n_spans = 1};
    }
    store_close(cached);
    assert_int_equal(remote_like_open(memory, "test://bucket", 2000, &remote, NULL), SILT_OK);
    cached = open_cache(remote, 1000 * MB);
    assert_int_equal(store_local_ranges(cached, files, N, NULL, a, paths, NULL, &err), SILT_OK);
    for (int i = 0; i < N; i++) assert_true(right_at(paths[i], i, 10, 50));
    assert_int_equal(requests(), N);
    assert_true(remote_like_counts(remote).most_in_flight > 8);
}

/* ---- failures ---- */

static void a_missing_object_is_named(void **state) {
    (void)state;
    put_object("/a", 1, 100);
    put_object("/c", 1, 100);
    const store_span wanted[] = {{0, 10}};
    store_sparse files[3] = {{.path = STR("/a"), .size_bytes = 100, .spans = wanted, .n_spans = 1},
                             {.path = STR("/b"), .size_bytes = 100, .spans = wanted, .n_spans = 1},
                             {.path = STR("/c"), .size_bytes = 100, .spans = wanted, .n_spans = 1}};
    str paths[3];
    size_t failed = 99;
    assert_int_equal(store_local_ranges(cached, files, 3, NULL, a, paths, &failed, &err), SILT_NOT_FOUND);
    assert_int_equal(failed, 1);
}

static void a_shorter_object_is_an_error(void **state) {
    (void)state;
    put_object("/a", 1, 100);
    store_sparse file = {.path = STR("/a"), .size_bytes = 200};
    str path;
    assert_int_equal(store_local_ranges(cached, &file, 1, NULL, a, &path, NULL, &err), SILT_IO);
    put_object("/a", 2, 200); /* and nothing of it was kept */
    assert_int_equal(store_local_ranges(cached, &file, 1, NULL, a, &path, NULL, &err), SILT_OK);
    assert_true(right_at(path, 2, 0, 200));
}

static void cancelled(void **state) {
    (void)state;
    cancel_token stop = {1};
    put_object("/a", 1, 100);
    store_sparse file = {.path = STR("/a"), .size_bytes = 100};
    str path;
    assert_int_equal(store_local_ranges(cached, &file, 1, &stop, a, &path, NULL, &err), SILT_CANCELLED);
}

static void a_folder_that_cannot_be_used(void **state) {
    (void)state;
    char file[96];
    str path;
    store *s, *other;
    snprintf(file, sizeof file, "%s/file", folder);
    close(open(file, O_CREAT | O_WRONLY, 0600));
    store_cache_settings settings = {.dir = str_of(file)};
    assert_int_equal(remote_like_open(memory, "x", 0, &other, NULL), SILT_OK);
    assert_int_equal(store_cache_open(other, &settings, &s, &err), SILT_OK);
    put_object("/a", 1, 100);
    assert_int_equal(store_local_read_path(s, STR("/a"), a, &path, &err), SILT_IO);
    assert_string_equal(err.condition, "READ_CACHE_UNUSABLE");
    store_close(s);
}

static void a_folder_that_others_may_write_to_is_refused(void **state) {
    (void)state;
    char path[96];
    str local;
    snprintf(path, sizeof path, "%s/v1", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(chmod(path, 0777), 0);
    put_object("/a", 1, 100);
    assert_int_equal(store_local_read_path(cached, STR("/a"), a, &local, &err), SILT_IO);
    assert_string_equal(err.condition, "READ_CACHE_UNUSABLE");
}

/* ---- damage ---- */

static str map_of(str local) { return str_is_null(local) ? local : arena_printf(a, "%.*s.map", STR_ARG(local)); }

static void write_byte(str path, int64_t at, char c) {
    int fd = open(path.ptr, O_WRONLY);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, &c, 1, at), 1);
    close(fd);
    usleep(20000); /* the clock of files */
}

static void make_damage(void (*damage)(str local)) {
    put_object("/d", 5, MB);
    const store_span two[] = {{0, 1000}, {500000, 1000}};
    str local = local_of("/d", MB, two, 2);
    usleep(20000);
    local = arena_str(a, local);
    damage(local);
    char kept[PATH_MAX];
    snprintf(kept, sizeof kept, "%s", local.ptr);
    reopen(1000 * MB);
    local = local_of("/d", MB, two, 2);
    assert_string_equal(local.ptr, kept);
    assert_true(right_at(local, 5, 0, 1000));
    assert_true(right_at(local, 5, 500000, 1000));
}

static void data_byte(str local) { write_byte(local, 500500, 'x'); }
static void data_cut(str local) { assert_int_equal(truncate(local.ptr, 700), 0); }
static void data_empty(str local) { assert_int_equal(truncate(local.ptr, 0), 0); }
static void data_gone(str local) { assert_int_equal(unlink(local.ptr), 0); }
static void data_longer(str local) { assert_int_equal(truncate(local.ptr, 2 * MB), 0); }
static void data_is_a_folder(str local) {
    assert_int_equal(unlink(local.ptr), 0);
    assert_int_equal(symlink("/etc/passwd", local.ptr), 0);
}
static void map_gone(str local) { assert_int_equal(unlink(map_of(local).ptr), 0); }
static void map_empty(str local) { assert_int_equal(truncate(map_of(local).ptr, 0), 0); }
static void map_head(str local) { write_byte(map_of(local), 10, 'x'); }
static void map_last_record(str local) {
    struct stat st;
    assert_int_equal(stat(map_of(local).ptr, &st), 0);
    write_byte(map_of(local), st.st_size - 40, 'x');
}

static void damage_is_found_and_mended(void **state) {
    (void)state;
    void (*const all[])(str) = {data_byte, data_cut, data_empty, data_gone, data_longer, data_is_a_folder, map_gone, map_empty, map_head, map_last_record};
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        make_damage(all[i]);
        assert_true(remote_like_counts(remote).reads > 0);
    }
}

static void a_damaged_part_does_not_cost_the_others(void **state) {
    (void)state;
    make_damage(data_byte);
    assert_int_equal(bytes_read(), 1000);
}

/* Every length of a map that a kill may leave, and the same with what would follow replaced by zeros. */
static void a_map_cut_anywhere(void **state) {
    (void)state;
    put_object("/d", 5, MB);
    const store_span one[] = {{0, 300}}, two[] = {{5000, 300}}, three[] = {{800000, 300}}, all[] = {{0, 300}, {5000, 300}, {800000, 300}};
    local_of("/d", MB, one, 1);
    local_of("/d", MB, two, 1);
    str local = local_of("/d", MB, three, 1), map = map_of(local);
    struct stat st;
    assert_int_equal(stat(map.ptr, &st), 0);
    char *whole = malloc((size_t)st.st_size), name[PATH_MAX], data_name[PATH_MAX];
    snprintf(name, sizeof name, "%s", map.ptr);
    snprintf(data_name, sizeof data_name, "%s", local.ptr);
    int fd = open(name, O_RDONLY);
    assert_int_equal(read(fd, whole, (size_t)st.st_size), st.st_size);
    close(fd);
    for (off_t cut = 0; cut < st.st_size; cut += cut < 100 ? 7 : 5) {
        fd = open(name, O_WRONLY | O_TRUNC);
        assert_int_equal(write(fd, whole, (size_t)cut), cut);
        if (cut % 2) assert_int_equal(ftruncate(fd, st.st_size), 0);
        close(fd);
        reopen(1000 * MB);
        local = local_of("/d", MB, all, 3);
        for (int i = 0; i < 3; i++) assert_true(right_at(local, 5, all[i].offset, 300));
    }
    free(whole);
}

/* ---- kills ---- */

typedef struct death {
    uint64_t at;
} death;

static void die_at(void *ctx, uint64_t nth) {
    if (nth == ((death *)ctx)->at) kill(getpid(), SIGKILL);
}

/* Two killed processes may have done anything between two reads; a third finds only what is whole. */
static void killed_while_it_fetches(void **state) {
    (void)state;
    enum { SIZE = 6 * 1024 * 1024 };
    put_object("/k", 7, SIZE);
    store_span wanted[24];
    for (int i = 0; i < 24; i++) wanted[i] = (store_span){(int64_t)i * 260000, 100000};
    for (uint64_t at = 1; at <= 24; at += 3) {
        pid_t child = fork();
        if (child == 0) {
            death d = {at};
            remote_like_before_read(remote, die_at, &d);
            store_sparse file = {.path = STR("/k"), .size_bytes = SIZE, .spans = wanted, .n_spans = at > 12 ? 24 : 8};
            str path;
            (void)!store_local_ranges(cached, &file, 1, NULL, a, &path, NULL, NULL);
            _exit(0);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
    }
    reopen(1000 * MB);
    str local = local_of("/k", SIZE, wanted, 24);
    for (int i = 0; i < 24; i++) assert_true(right_at(local, 7, wanted[i].offset, wanted[i].length));
}

/* Killed at moments that the clock chooses, so also between bytes and record. */
static void killed_at_any_moment(void **state) {
    (void)state;
    enum { SIZE = 3 * 1024 * 1024 };
    put_object("/k", 7, SIZE);
    store_span wanted[300];
    for (int i = 0; i < 300; i++) wanted[i] = (store_span){(int64_t)i * 10000, 1000};
    for (useconds_t us = 200; us < 12000; us += 700) {
        pid_t child = fork();
        if (child == 0) {
            store_sparse file = {.path = STR("/k"), .size_bytes = SIZE, .spans = wanted, .n_spans = 300};
            str path;
            (void)!store_local_ranges(cached, &file, 1, NULL, a, &path, NULL, NULL);
            _exit(0);
        }
        usleep(us);
        kill(child, SIGKILL);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        if (us % 1400) continue;
        arena_reset(a);
        const store_span half = {0, SIZE / 2};
        str local = local_of("/k", SIZE, &half, 1); /* what is there, and what is not */
        assert_true(right_at(local, 7, 0, SIZE / 2));
    }
}

static int in_child(void (*work)(int n), int n) {
    pid_t child = fork();
    if (child) return child;
    work(n);
    _exit(0);
}

static void read_shared(int n) {
    arena *own = arena_new();
    for (int round = 0; round < 20; round++) {
        store_span wanted[10];
        for (int i = 0; i < 10; i++) wanted[i] = (store_span){((int64_t)(round * 37 + n * 11 + i * 53) % 300) * 10000, 9000};
        store_sparse file = {.path = STR("/s"), .size_bytes = 3 * MB, .spans = wanted, .n_spans = 10};
        str path;
        arena_reset(own);
        if (store_local_ranges(cached, &file, 1, NULL, own, &path, NULL, NULL) != SILT_OK) _exit(1);
        for (int i = 0; i < 10; i++)
            if (!right_at(path, 7, wanted[i].offset, 9000)) _exit(2);
    }
}

static void several_processes_share_one_object(void **state) {
    (void)state;
    put_object("/s", 7, 3 * MB);
    int children[4], status;
    for (int i = 0; i < 4; i++) children[i] = in_child(read_shared, i);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    const store_span all = {0, 3 * MB};
    local_of("/s", 3 * MB, &all, 1);
    assert_true(bytes_read() < 3 * MB);
}

/* ---- room ---- */

static bool is_there(const char *path, int64_t size) {
    reopen(1000 * MB);
    local_of(path, size, NULL, 0);
    return requests() == 0;
}

static void the_longest_unused_goes(void **state) {
    (void)state;
    for (int i = 0; i < 5; i++) {
        char path[16];
        snprintf(path, sizeof path, "/o%d", i);
        put_object(path, i, MB);
        reopen(1000 * MB);
        local_of(path, MB, NULL, 0);
        usleep(20000);
    }
    reopen(4 * MB);
    local_of("/o0", MB, NULL, 0); /* used again */
    usleep(20000);
    put_object("/o5", 5, MB);
    arena_reset(a);
    local_of("/o5", MB, NULL, 0); /* 6 MB are more than 4 */
    store_cache_usage usage;
    assert_int_equal(store_cache_show(str_of(folder), &usage, &err), SILT_OK);
    assert_true(usage.bytes <= 4 * MB);
    assert_true(is_there("/o5", MB));
    assert_true(is_there("/o0", MB));
    assert_true(is_there("/o4", MB));
    assert_false(is_there("/o1", MB));
}

static void what_a_query_uses_stays(void **state) {
    (void)state;
    reopen(2 * MB);
    str paths[6];
    for (int i = 0; i < 6; i++) { /* one query, whose arena lives on */
        char path[16];
        snprintf(path, sizeof path, "/u%d", i);
        put_object(path, i, MB);
        paths[i] = local_of(path, MB, NULL, 0);
    }
    store_cache_usage gone;
    assert_int_equal(store_cache_clear(str_of(folder), &gone, &err), SILT_OK);
    assert_int_equal(gone.entries, 0);
    for (int i = 0; i < 6; i++) assert_true(right_at(paths[i], i, 0, MB));
    char kept[PATH_MAX];
    snprintf(kept, sizeof kept, "%s", paths[0].ptr);
    arena_reset(a);
    assert_int_equal(store_cache_clear(str_of(folder), &gone, &err), SILT_OK);
    assert_int_equal(gone.entries, 6);
    assert_int_equal(access(kept, F_OK), -1);
}

static void another_process_s_query_keeps_its_files(void **state) {
    (void)state;
    put_object("/p", 1, MB);
    int ready[2], finish[2];
    char c;
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(finish), 0);
    pid_t child = fork();
    if (child == 0) {
        local_of("/p", MB, NULL, 0);
        (void)!write(ready[1], "x", 1);
        (void)!read(finish[0], &c, 1);
        kill(getpid(), SIGKILL);
    }
    assert_int_equal(read(ready[0], &c, 1), 1);
    store_cache_usage gone;
    assert_int_equal(store_cache_clear(str_of(folder), &gone, &err), SILT_OK);
    assert_int_equal(gone.entries, 0);
    assert_int_equal(write(finish[1], "x", 1), 1);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(store_cache_clear(str_of(folder), &gone, &err), SILT_OK); /* it is dead, and its lease with it */
    assert_int_equal(gone.entries, 1);
    close(ready[0]), close(ready[1]), close(finish[0]), close(finish[1]);
}

static void usage_is_told(void **state) {
    (void)state;
    store_cache_usage usage;
    assert_int_equal(store_cache_show(STR("/tmp/no-such-folder-of-silt"), &usage, &err), SILT_OK);
    assert_int_equal(usage.entries, 0);
    put_object("/a", 1, 1000);
    local_of("/a", 1000, NULL, 0);
    local_of("/a", 1000, NULL, 0);
    assert_int_equal(store_cache_show(str_of(folder), &usage, &err), SILT_OK);
    assert_int_equal(usage.entries, 1);
    assert_int_equal(usage.hits, 1);
    assert_int_equal(usage.misses, 1);
    assert_int_equal(usage.bytes_fetched, 1000);
    assert_int_equal(usage.bytes_hit, 1000);
    assert_true(usage.bytes > 0);
}

/* ---- spans ---- */

static void spans_join(void **state) {
    (void)state;
    cache_spans s = {0};
    bool there[200] = {false};
    unsigned seed = 7;
    for (int i = 0; i < 400; i++) {
        seed = seed * 1103515245u + 12345u;
        int64_t offset = (seed >> 16) % 190, length = (seed >> 8) % 8;
        assert_true(cache_spans_add(&s, offset, length, a));
        for (int64_t k = offset; k < offset + length; k++) there[k] = true;
        for (size_t k = 1; k < s.count; k++) assert_true(s.items[k - 1].offset + s.items[k - 1].length < s.items[k].offset);
        for (int64_t k = 0; k < 199; k++) assert_int_equal(cache_spans_cover(&s, k, 1), there[k]);
        for (int64_t k = 0; k < 190; k++) assert_int_equal(cache_spans_cover(&s, k, 3), there[k] && there[k + 1] && there[k + 2]);
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(only_what_is_wanted_is_read),
        TEST(what_is_there_is_not_read_again),
        TEST(near_stretches_come_in_one_request),
        TEST(gaps_do_not_outweigh_what_is_wanted),
        TEST(whole_objects_of_unknown_size),
        TEST(an_empty_object),
        TEST(stretches_beyond_the_end_are_cut),
        TEST(many_files_side_by_side),
        TEST(a_missing_object_is_named),
        TEST(a_shorter_object_is_an_error),
        TEST(cancelled),
        TEST(a_folder_that_cannot_be_used),
        TEST(a_folder_that_others_may_write_to_is_refused),
        TEST(damage_is_found_and_mended),
        TEST(a_damaged_part_does_not_cost_the_others),
        TEST(a_map_cut_anywhere),
        TEST(killed_while_it_fetches),
        TEST(killed_at_any_moment),
        TEST(several_processes_share_one_object),
        TEST(the_longest_unused_goes),
        TEST(what_a_query_uses_stays),
        TEST(another_process_s_query_keeps_its_files),
        TEST(usage_is_told),
        TEST(spans_join),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
