/*
 * The local store under system calls that are interrupted, do half of the work, or fail. The calls are replaced by definitions in
 * this program, which the linker prefers to the C library's; they count, and fail on order.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/uri.h"
#include "store/store.h"

ssize_t write(int fd, const void *bytes, size_t n);
int fsync(int fd);
int linkat(int old_folder, const char *old, int new_folder, const char *new, int flags);
int renameat2(int old_folder, const char *old, int new_folder, const char *new, unsigned flags);
int renameat(int old_folder, const char *old, int new_folder, const char *new);
int openat(int folder, const char *path, int flags, ...);

/* What the next calls do; 0 everywhere: the real thing. */
static struct {
    bool armed;
    bool quiet; /* several threads sync: keep no sequence */
    size_t write_at_most;       /* bytes */
    size_t interrupt_every;     /* nth write or fsync gives EINTR */
    size_t n_calls;             /* of those two */
    int write_error;            /* after write_error_after bytes */
    size_t write_error_after;
    int file_fsync_error, folder_fsync_error;
    bool no_unnamed;            /* O_TMPFILE is not supported */
    int link_error, rename_error;
    bool link_lies;             /* the link is made and EEXIST returned, as NFS may */
    size_t file_fsyncs, folder_fsyncs, links, renames; /* counted */
    char sequence[64]; /* F: fsync of a file, D: of a folder, L: link, R: rename */
} order;

static void note(char what) {
    size_t len = strlen(order.sequence);
    if (len + 1 < sizeof order.sequence) order.sequence[len] = what;
}

ssize_t write(int fd, const void *bytes, size_t n) {
    if (order.armed) {
        if (order.interrupt_every && ++order.n_calls % order.interrupt_every == 0) return errno = EINTR, -1;
        if (order.write_error) {
            if (order.write_error_after == 0) return errno = order.write_error, -1;
            if (n > order.write_error_after) n = order.write_error_after;
            order.write_error_after -= n;
        }
        if (order.write_at_most && n > order.write_at_most) n = order.write_at_most;
    }
    return syscall(SYS_write, fd, bytes, n);
}

int fsync(int fd) {
    struct stat st;
    bool folder = fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
    if (order.armed) {
        if (order.interrupt_every && ++order.n_calls % order.interrupt_every == 0) return errno = EINTR, -1;
        int error = folder ? order.folder_fsync_error : order.file_fsync_error;
        if (error) return errno = error, -1;
        if (!order.quiet) note(folder ? 'D' : 'F');
        __atomic_add_fetch(folder ? &order.folder_fsyncs : &order.file_fsyncs, 1, __ATOMIC_RELAXED);
    }
    return (int)syscall(SYS_fsync, fd);
}

int linkat(int old_folder, const char *old, int new_folder, const char *new, int flags) {
    if (order.armed && order.link_error) return errno = order.link_error, -1;
    order.links++;
    note('L');
    int result = (int)syscall(SYS_linkat, old_folder, old, new_folder, new, flags);
    if (order.armed && order.link_lies && result == 0) return errno = EEXIST, -1;
    return result;
}

int renameat2(int old_folder, const char *old, int new_folder, const char *new, unsigned flags) {
    if (order.armed && order.rename_error) return errno = order.rename_error, -1;
    order.renames++;
    note('R');
    return (int)syscall(SYS_renameat2, old_folder, old, new_folder, new, flags);
}

int renameat(int old_folder, const char *old, int new_folder, const char *new) {
    note('R');
    return (int)syscall(SYS_renameat2, old_folder, old, new_folder, new, 0);
}

int openat(int folder, const char *path, int flags, ...) {
    va_list args;
    va_start(args, flags);
    mode_t mode = va_arg(args, mode_t);
    va_end(args);
    if (order.armed && order.no_unnamed && (flags & O_TMPFILE) == O_TMPFILE) return errno = EOPNOTSUPP, -1;
    return (int)syscall(SYS_openat, folder, path, flags, mode);
}

/* ---- fixture ---- */

static char root[64];
static store *local;
static arena *memory;

static int begin(void **state) {
    (void)state;
    memset(&order, 0, sizeof order);
    strcpy(root, "/tmp/silt-syscalls-XXXXXX");
    assert_non_null(mkdtemp(root));
    assert_int_equal(store_local_open(&local, NULL), SILT_OK);
    memory = arena_new();
    order.armed = true;
    return 0;
}

static int end(void **state) {
    (void)state;
    char command[128];
    order.armed = false;
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    if (system(command) != 0) fail();
    store_close(local);
    arena_free(memory);
    return 0;
}

static str at(const char *name) { return path_join(memory, str_of(root), str_of(name)); }

static void assert_content(const char *name, str expected) {
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    assert_int_equal(store_read(local, at(name), 0, -1, &b, NULL), SILT_OK);
    assert_int_equal(b.len, expected.len);
    assert_memory_equal(b.ptr, expected.ptr, b.len);
    buf_dispose(&b);
}

/* Everything in the folder, temporary files too. */
static size_t count_entries(void) {
    char command[128], text[32] = "";
    snprintf(command, sizeof command, "find '%s' -mindepth 1 -type f | wc -l", root);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_non_null(fgets(text, sizeof text, pipe));
    pclose(pipe);
    return (size_t)atoi(text);
}

static str pattern(size_t n) {
    char *p = arena_alloc(memory, n);
    for (size_t i = 0; i < n; i++) p[i] = (char)(i % 251);
    return (str){p, n};
}

/* ---- tests ---- */

static void short_and_interrupted_writes_are_continued(void **state) {
    (void)state;
    order.write_at_most = 1000;
    order.interrupt_every = 3;
    str bytes = pattern(100001);
    assert_int_equal(store_put(local, at("a"), bytes, STORE_PUT_IF_ABSENT, NULL), SILT_OK);
    assert_int_equal(store_put(local, at("b"), bytes, STORE_PUT_REPLACE, NULL), SILT_OK);
    assert_content("a", bytes);
    assert_content("b", bytes);
}

static void a_full_disk_leaves_nothing(void **state) {
    (void)state;
    static const int errors[] = {ENOSPC, EDQUOT};
    for (size_t i = 0; i < ARRAY_LEN(errors); i++)
        for (int mode = STORE_PUT_IF_ABSENT; mode <= STORE_PUT_REPLACE; mode++)
            for (int unnamed = 0; unnamed < 2; unnamed++) {
                silt_error err = {0};
                order.write_error = errors[i];
                order.write_error_after = 500;
                order.no_unnamed = unnamed;
                assert_int_equal(store_put(local, at("a"), pattern(1000), (store_put_mode)mode, &err), SILT_NO_SPACE);
                assert_string_equal(err.condition, "NO_SPACE_LEFT");
                assert_int_equal(err.code, errors[i]);
                assert_int_equal(count_entries(), 0);
            }
}

static void a_full_disk_keeps_what_was_to_be_replaced(void **state) {
    (void)state;
    assert_int_equal(store_put(local, at("a"), STR("old"), STORE_PUT_REPLACE, NULL), SILT_OK);
    order.write_error = ENOSPC;
    assert_int_equal(store_put(local, at("a"), STR("new"), STORE_PUT_REPLACE, NULL), SILT_NO_SPACE);
    order.write_error = 0;
    order.file_fsync_error = EIO;
    assert_int_equal(store_put(local, at("a"), STR("new"), STORE_PUT_REPLACE, NULL), SILT_IO);
    assert_content("a", STR("old"));
    assert_int_equal(count_entries(), 1);
}

static void a_failed_fsync_of_the_file_leaves_nothing(void **state) {
    (void)state;
    silt_error err = {0};
    order.file_fsync_error = EIO;
    assert_int_equal(store_put(local, at("a"), STR("x"), STORE_PUT_IF_ABSENT, &err), SILT_IO);
    assert_int_equal(err.code, EIO);
    assert_non_null(strstr(err.detail, "fsync"));
    assert_int_equal(count_entries(), 0);
}

static void a_failed_fsync_of_the_folder_is_an_unknown_outcome(void **state) {
    (void)state;
    silt_error err = {0};
    order.folder_fsync_error = EIO;
    assert_int_equal(store_put(local, at("a"), STR("x"), STORE_PUT_IF_ABSENT, &err), SILT_UNKNOWN);
    assert_string_equal(err.sqlstate, "40003");
    assert_int_equal(err.code, EIO);
    assert_content("a", STR("x"));
}

static void folders_that_cannot_be_synced_are_no_failure(void **state) {
    (void)state;
    order.folder_fsync_error = EINVAL;
    assert_int_equal(store_put(local, at("a"), STR("x"), STORE_PUT_IF_ABSENT, NULL), SILT_OK);
}

static void without_unnamed_files_a_hidden_name_is_used(void **state) {
    (void)state;
    order.no_unnamed = true;
    assert_int_equal(store_put(local, at("a"), STR("1"), STORE_PUT_IF_ABSENT, NULL), SILT_OK);
    assert_int_equal(store_put(local, at("a"), STR("2"), STORE_PUT_IF_ABSENT, NULL), SILT_EXISTS);
    assert_content("a", STR("1"));
    assert_int_equal(count_entries(), 1);
    struct stat st;
    assert_int_equal(stat(at("a").ptr, &st), 0);
    assert_int_equal(st.st_nlink, 1);
}

static void without_links_a_rename_that_does_not_replace_is_used(void **state) {
    (void)state;
    order.link_error = EPERM;
    assert_int_equal(store_put(local, at("a"), STR("1"), STORE_PUT_IF_ABSENT, NULL), SILT_OK);
    assert_int_equal(order.renames, 1);
    assert_int_equal(store_put(local, at("a"), STR("2"), STORE_PUT_IF_ABSENT, NULL), SILT_EXISTS);
    assert_content("a", STR("1"));
    assert_int_equal(count_entries(), 1);
}

static void without_either_the_put_is_refused(void **state) {
    (void)state;
    silt_error err = {0};
    order.link_error = EPERM;
    order.rename_error = EINVAL;
    assert_int_equal(store_put(local, at("a"), STR("1"), STORE_PUT_IF_ABSENT, &err), SILT_UNSUPPORTED);
    assert_int_equal(count_entries(), 0);
}

static void a_link_that_was_made_but_reported_as_existing_is_ours(void **state) {
    (void)state;
    order.link_lies = true;
    assert_int_equal(store_put(local, at("a"), STR("1"), STORE_PUT_IF_ABSENT, NULL), SILT_OK);
    order.no_unnamed = true;
    assert_int_equal(store_put(local, at("b"), STR("2"), STORE_PUT_IF_ABSENT, NULL), SILT_OK);
    order.link_lies = false;
    assert_int_equal(store_put(local, at("b"), STR("3"), STORE_PUT_IF_ABSENT, NULL), SILT_EXISTS);
    assert_content("a", STR("1"));
    assert_content("b", STR("2"));
}

static void temporary_files_of_dead_writers_are_not_listed(void **state) {
    (void)state;
    store_list_result list;
    assert_int_equal(store_put(local, at("a"), STR("1"), STORE_PUT_IF_ABSENT, NULL), SILT_OK);
    assert_int_equal(store_put(local, at(".silt-0f8fad5b-d9cb-469f-a165-70867728950e.tmp"), STR("x"), STORE_PUT_IF_ABSENT, NULL), SILT_OK);
    for (int recursive = 0; recursive < 2; recursive++) {
        assert_int_equal(store_list(local, str_of(root), STR_NULL, recursive, memory, &list, NULL), SILT_OK);
        assert_int_equal(list.count, 1);
    }
}

/* ---- how often the disk is waited for ---- */

static void a_put_syncs_the_file_and_its_folder(void **state) {
    (void)state;
    assert_int_equal(store_put(local, at("a"), STR("1"), STORE_PUT_IF_ABSENT, NULL), SILT_OK);
    assert_int_equal(order.file_fsyncs, 1);
    assert_int_equal(order.folder_fsyncs, 1);
}

static void the_name_comes_between_the_two_syncs(void **state) {
    (void)state;
    assert_int_equal(store_put(local, at("a"), STR("1"), STORE_PUT_IF_ABSENT, NULL), SILT_OK);
    assert_string_equal(order.sequence, "FLD");
    memset(order.sequence, 0, sizeof order.sequence);
    assert_int_equal(store_put(local, at("a"), STR("1"), STORE_PUT_REPLACE, NULL), SILT_OK);
    assert_string_equal(order.sequence, "FRD");
    memset(order.sequence, 0, sizeof order.sequence);
    order.no_unnamed = true;
    assert_int_equal(store_put(local, at("x/b"), STR("1"), STORE_PUT_IF_ABSENT, NULL), SILT_OK);
    assert_string_equal(order.sequence, "FLDD");
}

static void new_folders_are_synced_into_theirs(void **state) {
    (void)state;
    assert_int_equal(store_put(local, at("x/y/a"), STR("1"), STORE_PUT_IF_ABSENT, NULL), SILT_OK);
    assert_int_equal(order.folder_fsyncs, 3); /* y has a, x has y, the root has x */
    assert_int_equal(store_put(local, at("x/y/b"), STR("1"), STORE_PUT_IF_ABSENT, NULL), SILT_OK);
    assert_int_equal(order.folder_fsyncs, 4);
    assert_int_equal(store_make_dirs(local, at("x/z"), NULL), SILT_OK);
    assert_int_equal(order.folder_fsyncs, 5);
    assert_int_equal(store_make_dirs(local, at("x/z"), NULL), SILT_OK);
    assert_int_equal(order.folder_fsyncs, 5);
}

static void a_batch_syncs_each_folder_once(void **state) {
    (void)state;
    enum { FOLDERS = 10, FILES = 100 };
    order.quiet = true;
    str paths[FILES], locals[FILES];
    for (size_t i = 0; i < FILES; i++) {
        paths[i] = arena_printf(memory, "%s/t/p=%zu/%zu.parquet", root, i % FOLDERS, i);
        assert_int_equal(store_write_begin(local, paths[i], memory, &locals[i], NULL), SILT_OK);
        FILE *file = fopen(locals[i].ptr, "wb");
        assert_non_null(file);
        fclose(file);
    }
    assert_int_equal(order.folder_fsyncs, 0);
    assert_int_equal(store_write_finish_many(local, paths, locals, FILES, NULL), SILT_OK);
    assert_int_equal(order.file_fsyncs, FILES);
    assert_int_equal(order.folder_fsyncs, FOLDERS + 2); /* and t, which has them, and the root, which has t */
}

static void a_failed_sync_of_a_new_folder_is_tried_again(void **state) {
    (void)state;
    str local_path, path = at("x/f");
    assert_int_equal(store_write_begin(local, path, memory, &local_path, NULL), SILT_OK);
    FILE *file = fopen(local_path.ptr, "wb");
    assert_non_null(file);
    fclose(file);
    order.folder_fsync_error = EIO;
    assert_int_equal(store_write_finish(local, path, local_path, NULL), SILT_IO);
    order.folder_fsync_error = 0;
    assert_int_equal(store_write_finish(local, path, local_path, NULL), SILT_OK);
    assert_int_equal(order.folder_fsyncs, 2);
}

int main(void) {
    cmocka_set_message_output(CM_OUTPUT_TAP);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(short_and_interrupted_writes_are_continued, begin, end),
        cmocka_unit_test_setup_teardown(a_full_disk_leaves_nothing, begin, end),
        cmocka_unit_test_setup_teardown(a_full_disk_keeps_what_was_to_be_replaced, begin, end),
        cmocka_unit_test_setup_teardown(a_failed_fsync_of_the_file_leaves_nothing, begin, end),
        cmocka_unit_test_setup_teardown(a_failed_fsync_of_the_folder_is_an_unknown_outcome, begin, end),
        cmocka_unit_test_setup_teardown(folders_that_cannot_be_synced_are_no_failure, begin, end),
        cmocka_unit_test_setup_teardown(without_unnamed_files_a_hidden_name_is_used, begin, end),
        cmocka_unit_test_setup_teardown(without_links_a_rename_that_does_not_replace_is_used, begin, end),
        cmocka_unit_test_setup_teardown(without_either_the_put_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(a_link_that_was_made_but_reported_as_existing_is_ours, begin, end),
        cmocka_unit_test_setup_teardown(temporary_files_of_dead_writers_are_not_listed, begin, end),
        cmocka_unit_test_setup_teardown(a_put_syncs_the_file_and_its_folder, begin, end),
        cmocka_unit_test_setup_teardown(the_name_comes_between_the_two_syncs, begin, end),
        cmocka_unit_test_setup_teardown(new_folders_are_synced_into_theirs, begin, end),
        cmocka_unit_test_setup_teardown(a_batch_syncs_each_folder_once, begin, end),
        cmocka_unit_test_setup_teardown(a_failed_sync_of_a_new_folder_is_tried_again, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
