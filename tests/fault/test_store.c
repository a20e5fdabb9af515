/*
 * The local store where the world is against it: no permission (root is dropped for the test), a full or read-only disk (a small
 * tmpfs), a process killed at any moment, several processes at once.
 */
#include <errno.h>
#include <grp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/ident.h"
#include "base/uri.h"
#include "store/store.h"

static char root[64];
static store *local;
static arena *memory;

static int begin(void **state) {
    (void)state;
    strcpy(root, "/tmp/silt-fault-XXXXXX");
    assert_non_null(mkdtemp(root));
    assert_int_equal(chmod(root, 0755), 0);
    assert_int_equal(store_local_open(&local, NULL), SILT_OK);
    memory = arena_new();
    return 0;
}

static int end(void **state) {
    (void)state;
    char command[128];
    umount2(root, MNT_DETACH);
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    if (system(command) != 0) fail();
    store_close(local);
    arena_free(memory);
    return 0;
}

static str at(const char *name) { return path_join(memory, str_of(root), str_of(name)); }

/* Run a function in a child; its answer is the exit status. _exit: no leak check in a child that may not look at itself. */
static int in_child(int (*fn)(void)) {
    pid_t pid = fork();
    assert_int_not_equal(pid, -1);
    if (pid == 0) _exit(fn());
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* ---- permission ---- */

static bool drop_root(void) {
    const uid_t nobody = 65534;
    if (geteuid() != 0) return true;
    return setgroups(0, NULL) == 0 && setresgid(nobody, nobody, nobody) == 0 && setresuid(nobody, nobody, nobody) == 0;
}

#define EXPECT_DENIED(call)                                                  \
    do {                                                                     \
        silt_error err = {0};                                                \
        line = __LINE__;                                                     \
        if ((call) != SILT_DENIED || err.status != SILT_DENIED) return line; \
        if (strcmp(err.condition, "PERMISSION_DENIED") != 0) return line;    \
    } while (0)

/* Below root: "shut" (mode 0), "fixed" (0555), "secret" (a file, mode 0). Returns the line that went wrong, cut to a byte, or 0. */
static int everything_is_denied(void) {
    int line = __LINE__;
    buf b;
    store_entry entry;
    store_list_result list;
    str path;
    buf_init(&b, 1000);
    if (!drop_root()) return line;
    EXPECT_DENIED(store_read(local, at("secret"), 0, -1, &b, &err));
    EXPECT_DENIED(store_local_read_path(local, at("secret"), memory, &path, &err));
    EXPECT_DENIED(store_read(local, at("shut/file"), 0, -1, &b, &err));
    EXPECT_DENIED(store_stat(local, at("shut/file"), memory, &entry, &err));
    EXPECT_DENIED(store_list(local, at("shut"), STR_NULL, false, memory, &list, &err));
    EXPECT_DENIED(store_list(local, str_of(root), STR_NULL, true, memory, &list, &err));
    EXPECT_DENIED(store_put(local, at("fixed/new"), STR("x"), STORE_PUT_IF_ABSENT, &err));
    EXPECT_DENIED(store_put(local, at("fixed/file"), STR("x"), STORE_PUT_REPLACE, &err));
    EXPECT_DENIED(store_put(local, at("fixed/deeper/new"), STR("x"), STORE_PUT_IF_ABSENT, &err));
    EXPECT_DENIED(store_remove(local, at("fixed/file"), &err));
    EXPECT_DENIED(store_make_dirs(local, at("fixed/folder"), &err));
    EXPECT_DENIED(store_remove_dir(local, at("fixed/empty"), &err));
    EXPECT_DENIED(store_write_begin(local, at("fixed/x"), memory, &path, &err));
    EXPECT_DENIED(store_write_begin(local, at("fixed/p=1/x"), memory, &path, &err));
    buf_dispose(&b);
    return 0;
}

static void without_permission_every_call_says_denied(void **state) {
    (void)state;
    assert_int_equal(store_put(local, at("shut/file"), STR("x"), STORE_PUT_IF_ABSENT, NULL), SILT_OK);
    assert_int_equal(store_put(local, at("fixed/file"), STR("x"), STORE_PUT_IF_ABSENT, NULL), SILT_OK);
    assert_int_equal(store_make_dirs(local, at("fixed/empty"), NULL), SILT_OK);
    assert_int_equal(store_put(local, at("secret"), STR("x"), STORE_PUT_IF_ABSENT, NULL), SILT_OK);
    assert_int_equal(chmod(at("shut").ptr, 0), 0);
    assert_int_equal(chmod(at("fixed").ptr, 0555), 0);
    assert_int_equal(chmod(at("secret").ptr, 0), 0);
    assert_int_equal(in_child(everything_is_denied), 0);
    assert_int_equal(chmod(at("shut").ptr, 0755), 0);
    assert_int_equal(chmod(at("fixed").ptr, 0755), 0);
}

/* ---- a small disk ---- */

static void mount_or_skip(const char *options) {
    if (mount("tmpfs", root, "tmpfs", 0, options) == 0) return;
    print_message("# skipped: no tmpfs can be mounted here (%s)\n", strerror(errno));
    skip();
}

static size_t count_files(void) {
    char command[128], text[32] = "";
    snprintf(command, sizeof command, "find '%s' -type f | wc -l", root);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_non_null(fgets(text, sizeof text, pipe));
    pclose(pipe);
    return (size_t)atoi(text);
}

static void a_full_disk_is_told_and_left_as_it_was(void **state) {
    (void)state;
    mount_or_skip("size=256k");
    static char bytes[400000];
    silt_error err = {0};
    assert_int_equal(store_put(local, at("small"), STR("kept"), STORE_PUT_IF_ABSENT, NULL), SILT_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(store_put(local, at("d/large"), (str){bytes, sizeof bytes}, STORE_PUT_IF_ABSENT, &err), SILT_NO_SPACE);
        assert_string_equal(err.condition, "NO_SPACE_LEFT");
        assert_int_equal(store_put(local, at("small"), (str){bytes, sizeof bytes}, STORE_PUT_REPLACE, NULL), SILT_NO_SPACE);
    }
    assert_int_equal(count_files(), 1);
    buf b;
    buf_init(&b, 100);
    assert_int_equal(store_read(local, at("small"), 0, -1, &b, NULL), SILT_OK);
    assert_string_equal(buf_cstr(&b), "kept");
    buf_dispose(&b);
    assert_int_equal(store_put(local, at("d/fits"), (str){bytes, 100000}, STORE_PUT_IF_ABSENT, NULL), SILT_OK);
}

static void a_disk_without_inodes_is_full(void **state) {
    (void)state;
    mount_or_skip("size=1m,nr_inodes=8");
    silt_status status = SILT_OK;
    char name[16];
    int n = 0;
    for (; status == SILT_OK && n < 20; n++) {
        snprintf(name, sizeof name, "f%d", n);
        status = store_put(local, at(name), STR("x"), STORE_PUT_IF_ABSENT, NULL);
    }
    assert_int_equal(status, SILT_NO_SPACE);
    assert_int_equal(count_files(), n - 1);
    assert_int_equal(store_make_dirs(local, at("folder"), NULL), SILT_NO_SPACE);
}

static void a_read_only_disk_says_denied(void **state) {
    (void)state;
    mount_or_skip("size=256k");
    assert_int_equal(store_put(local, at("a"), STR("1"), STORE_PUT_IF_ABSENT, NULL), SILT_OK);
    assert_int_equal(mount("tmpfs", root, "tmpfs", MS_REMOUNT | MS_RDONLY, "size=256k"), 0);
    assert_int_equal(store_put(local, at("b"), STR("1"), STORE_PUT_IF_ABSENT, NULL), SILT_DENIED);
    assert_int_equal(store_put(local, at("a"), STR("2"), STORE_PUT_REPLACE, NULL), SILT_DENIED);
    assert_int_equal(store_remove(local, at("a"), NULL), SILT_DENIED);
    assert_int_equal(count_files(), 1);
}

/* ---- kill -9 ---- */

/* A text whose wholeness shows: a CRC of what follows it. */
static void make_checked(buf *out, unsigned seed) {
    size_t n = 10 + (size_t)(seed * 2654435761u % 300000u);
    buf_clear(out);
    assert_true(buf_reserve(out, n + 4));
    for (size_t i = 0; i < n; i++) out->ptr[4 + i] = (char)(i * seed + (i >> 8));
    uint32_t crc = crc32_of(out->ptr + 4, n);
    memcpy(out->ptr, &crc, 4);
    out->len = n + 4;
}

static bool is_whole(str bytes) {
    uint32_t crc;
    if (bytes.len < 14) return false;
    memcpy(&crc, bytes.ptr, 4);
    return crc == crc32_of(bytes.ptr + 4, bytes.len - 4);
}

static unsigned round_seed;

static int put_for_ever(void) {
    buf b;
    char name[64];
    buf_init(&b, 1 << 20);
    for (unsigned i = 0;; i++) {
        make_checked(&b, round_seed + i);
        snprintf(name, sizeof name, "log/%u/%u", i % 3, round_seed + i);
        if (store_put(local, at(name), buf_str(&b), STORE_PUT_IF_ABSENT, NULL) != SILT_OK) return 1;
        if (store_put(local, at("hint"), buf_str(&b), STORE_PUT_REPLACE, NULL) != SILT_OK) return 2;
    }
}

static void check_everything_is_whole(size_t *files) {
    store_list_result list;
    buf b;
    buf_init(&b, 1 << 20);
    assert_int_equal(store_list(local, str_of(root), STR_NULL, true, memory, &list, NULL), SILT_OK);
    *files = list.count;
    for (size_t i = 0; i < list.count; i++) {
        buf_clear(&b);
        assert_int_equal(store_read(local, list.items[i].path, 0, -1, &b, NULL), SILT_OK);
        assert_true(is_whole(buf_str(&b)));
    }
    buf_dispose(&b);
}

static void a_killed_writer_leaves_no_torn_object(void **state) {
    (void)state;
    size_t files = 0;
    unsigned random = 12345;
    for (unsigned round = 0; round < 40 || (files <= 40 && round < 200); round++) { /* more on a slow disk */
        round_seed = 1 + round * 100000;
        pid_t pid = fork();
        assert_int_not_equal(pid, -1);
        if (pid == 0) _exit(put_for_ever());
        random = random * 1103515245u + 12345u;
        struct timespec pause = {0, 1000000 + (random >> 8) % (15000000 + 1000000 * round)}; /* 1 to 16 ms, growing */
        nanosleep(&pause, NULL);
        assert_int_equal(kill(pid, SIGKILL), 0);
        int status;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status));
        check_everything_is_whole(&files);
    }
    assert_true(files > 40);
}

/* ---- processes ---- */

enum { CLAIMANTS = 8, CLAIMS = 25 };
static int claimant;

static int claim_numbers(void) {
    char name[32], owner = (char)('a' + claimant);
    for (int mine = 0, n = 0; mine < CLAIMS; n++) {
        snprintf(name, sizeof name, "log/%05d", n);
        silt_status status = store_put(local, at(name), (str){&owner, 1}, STORE_PUT_IF_ABSENT, NULL);
        if (status == SILT_OK) mine++;
        else if (status != SILT_EXISTS) return 1;
    }
    return 0;
}

static void processes_that_claim_numbers_lose_none(void **state) {
    (void)state;
    pid_t pids[CLAIMANTS];
    for (claimant = 0; claimant < CLAIMANTS; claimant++) {
        pids[claimant] = fork();
        assert_int_not_equal(pids[claimant], -1);
        if (pids[claimant] == 0) _exit(claim_numbers());
    }
    for (int i = 0; i < CLAIMANTS; i++) {
        int status;
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    store_list_result list;
    int owned[CLAIMANTS] = {0};
    assert_int_equal(store_list(local, at("log"), STR_NULL, false, memory, &list, NULL), SILT_OK);
    assert_int_equal(list.count, CLAIMANTS * CLAIMS);
    for (size_t i = 0; i < list.count; i++) {
        char expected[32];
        buf b;
        buf_init(&b, 10);
        snprintf(expected, sizeof expected, "%05zu", i);
        assert_true(str_eqz(path_name(list.items[i].path), expected)); /* no gap */
        assert_int_equal(store_read(local, list.items[i].path, 0, -1, &b, NULL), SILT_OK);
        owned[b.ptr[0] - 'a']++;
        buf_dispose(&b);
    }
    for (int i = 0; i < CLAIMANTS; i++) assert_int_equal(owned[i], CLAIMS);
}

/* ---- links ---- */

static void links_to_files_count_and_links_to_folders_are_not_followed(void **state) {
    (void)state;
    store_list_result list;
    assert_int_equal(store_put(local, at("real/file"), STR("12345"), STORE_PUT_IF_ABSENT, NULL), SILT_OK);
    assert_int_equal(symlink("file", at("real/link").ptr), 0);
    assert_int_equal(symlink("nothing", at("real/dangling").ptr), 0);
    assert_int_equal(symlink("..", at("real/up").ptr), 0);
    assert_int_equal(symlink("self", at("real/self").ptr), 0);
    assert_int_equal(mkfifo(at("real/pipe").ptr, 0600), 0);
    assert_int_equal(store_list(local, str_of(root), STR_NULL, true, memory, &list, NULL), SILT_OK);
    assert_int_equal(list.count, 2);
    assert_true(str_eq(list.items[1].path, at("real/link")));
    assert_int_equal(list.items[1].size_bytes, 5);
    assert_int_equal(store_list(local, at("real"), STR_NULL, false, memory, &list, NULL), SILT_OK);
    assert_int_equal(list.count, 3); /* file, link, up */
    assert_true(list.items[2].is_dir);

    buf b;
    buf_init(&b, 100);
    assert_int_equal(store_read(local, at("real/pipe"), 0, -1, &b, NULL), SILT_IO); /* and does not hang */
    buf_dispose(&b);
}

static void a_name_that_is_too_long_is_an_error(void **state) {
    (void)state;
    char name[300];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    silt_error err = {0};
    assert_int_equal(store_put(local, at(name), STR("x"), STORE_PUT_IF_ABSENT, &err), SILT_IO);
    assert_int_equal(err.code, ENAMETOOLONG);
    char *path = arena_alloc(memory, 6000);
    memset(path, 'x', 6000);
    for (size_t i = 0; i < 6000; i += 100) path[i] = '/';
    assert_int_equal(store_put(local, (str){path, 6000}, STR("x"), STORE_PUT_IF_ABSENT, &err), SILT_IO);
    assert_int_equal(err.code, ENAMETOOLONG);
}

int main(void) {
    cmocka_set_message_output(CM_OUTPUT_TAP);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_permission_every_call_says_denied, begin, end),
        cmocka_unit_test_setup_teardown(a_full_disk_is_told_and_left_as_it_was, begin, end),
        cmocka_unit_test_setup_teardown(a_disk_without_inodes_is_full, begin, end),
        cmocka_unit_test_setup_teardown(a_read_only_disk_says_denied, begin, end),
        cmocka_unit_test_setup_teardown(a_killed_writer_leaves_no_torn_object, begin, end),
        cmocka_unit_test_setup_teardown(processes_that_claim_numbers_lose_none, begin, end),
        cmocka_unit_test_setup_teardown(links_to_files_count_and_links_to_folders_are_not_followed, begin, end),
        cmocka_unit_test_setup_teardown(a_name_that_is_too_long_is_an_error, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
