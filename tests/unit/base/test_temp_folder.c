/* Temporary folders: whose they are, and which of them a later process clears away. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/process.h"
#include "base/temp_folder.h"

typedef struct fixture {
    char base[64];
    silt_error err;
} fixture;

static int set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    strcpy(f->base, "/tmp/silt-temp-folder-test-XXXXXX");
    assert_non_null(mkdtemp(f->base));
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", f->base);
    int status = system(command);
    free(f);
    return status;
}

static bool is_there(const char *path) {
    struct stat st;
    return lstat(path, &st) == 0;
}

static void put_file(const char *folder, const char *name) {
    char path[TEMP_FOLDER_PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
}

/* A folder as another process would have made it; boot "" : of this one. */
static void make_folder(const fixture *f, const char *boot, const char *end, char *out, size_t size) {
    char ours[16];
    uint64_t number;
    assert_true(process_boot(&number));
    snprintf(ours, sizeof ours, "%08x", (unsigned)(number & 0xffffffff));
    snprintf(out, size, "%s/silt-%s-%s", f->base, *boot ? boot : ours, end);
    assert_int_equal(mkdir(out, 0700), 0);
}

static const char *another_boot(void) {
    uint64_t number;
    return process_boot(&number) && (number & 0xffffffff) == 0x12345678 ? "87654321" : "12345678";
}

static void make_old(const char *path, int days) {
    struct timespec times[2] = {{.tv_sec = time(NULL) - days * 86400}, {.tv_sec = time(NULL) - days * 86400}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void come_and_go(fixture *f) {
    temp_folder t = {.path = ""};
    assert_int_equal(temp_folder_open(&t, str_of(f->base), &f->err), SILT_OK);
    temp_folder_close(&t);
    assert_int_equal(t.path[0], '\0');
}

static void a_folder_is_private_and_goes_with_all_that_is_in_it(void **state) {
    fixture *f = *state;
    temp_folder t = {.path = ""};
    char path[TEMP_FOLDER_PATH_MAX], below[TEMP_FOLDER_PATH_MAX + 8];
    struct stat st;
    assert_int_equal(temp_folder_open(&t, str_of(f->base), &f->err), SILT_OK);
    strcpy(path, t.path);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    snprintf(below, sizeof below, "%s/below", path);
    assert_int_equal(mkdir(below, 0700), 0);
    put_file(below, "x");
    put_file(path, "y");
    temp_folder_close(&t);
    assert_false(is_there(path));
    temp_folder_close(&t); /* once more is nothing */
}

static void names_are_fresh_and_end_as_the_path(void **state) {
    fixture *f = *state;
    arena *a = arena_new();
    temp_folder t = {.path = ""};
    str one, two, outside = str_of(f->base);
    char other[96];
    assert_int_equal(temp_folder_name(&t, str_of(f->base), STR("/a/b/part-0.snappy.parquet"), a, &one, &f->err), SILT_OK);
    assert_int_equal(temp_folder_name(&t, str_of(f->base), STR("/a/b/part-0.snappy.parquet"), a, &two, &f->err), SILT_OK);
    assert_false(str_eq(one, two));
    assert_true(str_ends_with(one, STR("-part-0.snappy.parquet")));
    assert_true(str_starts_with(one, str_of(t.path)));
    assert_false(is_there(one.ptr));
    put_file(t.path, one.ptr + strlen(t.path) + 1);
    temp_folder_remove(&t, one);
    assert_false(is_there(one.ptr));
    /* what is not in it is not its to remove, not even where the names begin alike */
    put_file(f->base, "foreign");
    snprintf(other, sizeof other, "%s/foreign", f->base);
    temp_folder_remove(&t, str_of(other));
    assert_true(is_there(other));
    temp_folder_remove(&t, outside);
    temp_folder_remove(&t, str_of(t.path));
    assert_true(is_there(t.path));
    temp_folder_close(&t);
    arena_free(a);
}

/* A process that has made its folder, told its path, and holds it until it is killed. */
static pid_t start_owner(const fixture *f, char *path, size_t size) {
    int told[2];
    assert_int_equal(pipe(told), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        temp_folder t = {.path = ""};
        if (temp_folder_open(&t, str_of(f->base), NULL) != SILT_OK) _exit(1);
        char file[TEMP_FOLDER_PATH_MAX + 8];
        snprintf(file, sizeof file, "%s/left", t.path);
        int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        if (fd < 0 || write(told[1], t.path, strlen(t.path) + 1) < 0) _exit(1);
        for (;;) pause();
    }
    close(told[1]);
    assert_true(read(told[0], path, size) > 1);
    close(told[0]);
    return child;
}

static void what_a_killed_process_left_goes_and_what_a_living_one_has_stays(void **state) {
    fixture *f = *state;
    char one[TEMP_FOLDER_PATH_MAX], two[TEMP_FOLDER_PATH_MAX];
    pid_t living = start_owner(f, one, sizeof one), killed = start_owner(f, two, sizeof two);
    assert_true(is_there(one) && is_there(two));
    come_and_go(f);
    assert_true(is_there(one) && is_there(two));
    assert_int_equal(kill(killed, SIGKILL), 0);
    assert_int_equal(waitpid(killed, NULL, 0), killed);
    make_old(one, 100); /* however long it did nothing */
    come_and_go(f);
    assert_true(is_there(one));
    assert_false(is_there(two));
    assert_int_equal(kill(living, SIGKILL), 0);
    assert_int_equal(waitpid(living, NULL, 0), living);
    come_and_go(f);
    assert_false(is_there(one));
}

static void of_two_in_one_process_both_stay(void **state) {
    fixture *f = *state;
    temp_folder one = {.path = ""}, two = {.path = ""};
    assert_int_equal(temp_folder_open(&one, str_of(f->base), &f->err), SILT_OK);
    assert_int_equal(temp_folder_open(&two, str_of(f->base), &f->err), SILT_OK);
    assert_string_not_equal(one.path, two.path);
    come_and_go(f);
    assert_true(is_there(one.path) && is_there(two.path));
    temp_folder_close(&one);
    assert_true(is_there(two.path));
    temp_folder_close(&two);
}

/* Locks say nothing of another machine's processes. */
static void of_another_boot_only_what_is_old_goes(void **state) {
    fixture *f = *state;
    char fresh[96], old[96], locked[96];
    make_folder(f, another_boot(), "fresh1", fresh, sizeof fresh);
    make_folder(f, another_boot(), "older1", old, sizeof old);
    make_folder(f, another_boot(), "locked", locked, sizeof locked);
    put_file(old, "x");
    make_old(old, 11);
    make_old(locked, 11);
    int fd = open(locked, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    come_and_go(f);
    assert_true(is_there(fresh));
    assert_false(is_there(old));
    assert_true(is_there(locked));
    close(fd);
}

static void what_only_looks_like_one_stays(void **state) {
    fixture *f = *state;
    char ours[96], target[96], link_name[160], file_name[160], odd[4][96];
    make_folder(f, "", "dead01", ours, sizeof ours);
    put_file(ours, "x");
    /* a link in its place, and one inside: what they lead to stays */
    snprintf(target, sizeof target, "%s/precious", f->base);
    assert_int_equal(mkdir(target, 0700), 0);
    put_file(target, "x");
    snprintf(link_name, sizeof link_name, "%s/link", ours);
    assert_int_equal(symlink(target, link_name), 0);
    memcpy(link_name, ours, strlen(ours) + 1);
    memcpy(link_name + strlen(link_name) - 6, "dead02", 6);
    assert_int_equal(symlink(target, link_name), 0);
    memcpy(file_name, link_name, strlen(link_name) + 1);
    memcpy(file_name + strlen(file_name) - 6, "dead03", 6);
    put_file(f->base, file_name + strlen(f->base) + 1);
    static const char *const names[] = {"silt-ABCDEF", "silt-zzzzzzzz-dead01", "silt-12345678-dead0", "silt-12345678-dead012"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        snprintf(odd[i], sizeof odd[i], "%s/%s", f->base, names[i]);
        assert_int_equal(mkdir(odd[i], 0700), 0);
        make_old(odd[i], 100);
    }
    come_and_go(f);
    assert_false(is_there(ours));
    assert_true(is_there(link_name));
    assert_true(is_there(file_name));
    snprintf(link_name, sizeof link_name, "%s/x", target);
    assert_true(is_there(link_name));
    for (size_t i = 0; i < ARRAY_LEN(names); i++) assert_true(is_there(odd[i]));
}

static void another_users_stays(void **state) {
    fixture *f = *state;
    char theirs[96];
    if (geteuid() != 0) skip();
    make_folder(f, "", "theirs", theirs, sizeof theirs);
    assert_int_equal(chown(theirs, 4711, 4711), 0);
    come_and_go(f);
    assert_true(is_there(theirs));
}

/* There, somebody could have given one of our folders such a name. */
static void nothing_goes_where_anybody_may_rename(void **state) {
    fixture *f = *state;
    char dead[96];
    make_folder(f, "", "dead01", dead, sizeof dead);
    assert_int_equal(chmod(f->base, 0777), 0);
    come_and_go(f);
    assert_true(is_there(dead));
    assert_int_equal(chmod(f->base, 01777), 0);
    come_and_go(f);
    assert_false(is_there(dead));
}

/* Cleaners of /tmp, and somebody who made the folder anew meanwhile without knowing of locks. */
static void a_folder_that_was_taken_away_is_made_again(void **state) {
    fixture *f = *state;
    char path[TEMP_FOLDER_PATH_MAX];
    arena *a = arena_new();
    temp_folder t = {.path = ""};
    str name;
    assert_int_equal(temp_folder_open(&t, str_of(f->base), &f->err), SILT_OK);
    strcpy(path, t.path);
    for (int made_anew = 0; made_anew < 2; made_anew++) {
        assert_int_equal(rmdir(path), 0);
        if (made_anew) assert_int_equal(mkdir(path, 0700), 0);
        assert_int_equal(temp_folder_name(&t, str_of(f->base), STR("/x"), a, &name, &f->err), SILT_OK);
        assert_string_equal(t.path, path);
        put_file(path, "kept");
        come_and_go(f); /* it is locked as the first one was */
        assert_true(is_there(path));
        char file[TEMP_FOLDER_PATH_MAX + 8];
        snprintf(file, sizeof file, "%s/kept", path);
        assert_int_equal(unlink(file), 0);
    }
    temp_folder_close(&t);
    assert_false(is_there(path));
    arena_free(a);
}

static void a_base_that_is_missing_is_made_and_one_that_cannot_be_is_told(void **state) {
    fixture *f = *state;
    temp_folder t = {.path = ""};
    char base[128];
    snprintf(base, sizeof base, "%s/new", f->base);
    assert_int_equal(temp_folder_open(&t, str_of(base), &f->err), SILT_OK);
    temp_folder_close(&t);
    snprintf(base, sizeof base, "%s/no/such", f->base);
    assert_int_equal(temp_folder_open(&t, str_of(base), &f->err), SILT_NOT_FOUND);
    assert_int_equal(t.path[0], '\0');
    put_file(f->base, "file");
    snprintf(base, sizeof base, "%s/file", f->base);
    assert_int_not_equal(temp_folder_open(&t, str_of(base), &f->err), SILT_OK);
    char *longer = malloc(5000);
    assert_non_null(longer);
    memset(longer, 'x', 5000);
    longer[0] = '/';
    assert_int_not_equal(temp_folder_open(&t, (str){longer, 5000}, &f->err), SILT_OK);
    assert_int_not_equal(temp_folder_open(&t, (str){longer, 4090}, &f->err), SILT_OK);
    assert_int_equal(t.path[0], '\0');
    free(longer);
}

/* Processes that come, go and are killed, all clearing away at once: none loses its own. */
static void many_at_once(void **state) {
    fixture *f = *state;
    enum { PROCESSES = 8, TIMES = 40 };
    for (int p = 0; p < PROCESSES; p++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child > 0) continue;
        for (int i = 0; i < TIMES; i++) {
            temp_folder t = {.path = ""};
            if (temp_folder_open(&t, str_of(f->base), NULL) != SILT_OK || !is_there(t.path)) _exit(1);
            if (i == TIMES - 1 && p % 2) raise(SIGKILL);
            if (!is_there(t.path)) _exit(2);
            temp_folder_close(&t);
        }
        _exit(0);
    }
    int status;
    while (wait(&status) > 0) assert_true(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 0);
    come_and_go(f);
    assert_int_equal(rmdir(f->base), 0);
    assert_int_equal(mkdir(f->base, 0700), 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(a_folder_is_private_and_goes_with_all_that_is_in_it),
        CASE(names_are_fresh_and_end_as_the_path),
        CASE(what_a_killed_process_left_goes_and_what_a_living_one_has_stays),
        CASE(of_two_in_one_process_both_stay),
        CASE(of_another_boot_only_what_is_old_goes),
        CASE(what_only_looks_like_one_stays),
        CASE(another_users_stays),
        CASE(nothing_goes_where_anybody_may_rename),
        CASE(a_folder_that_was_taken_away_is_made_again),
        CASE(a_base_that_is_missing_is_made_and_one_that_cannot_be_is_told),
        CASE(many_at_once),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
