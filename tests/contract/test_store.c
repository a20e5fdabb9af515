/*
 * The contract of the storage interface (store/store.h), run over every implementation (stores.c). Expectations come from the header's text; where a test needs a world
 * of its own (a folder on disk) it works below `root`, which is fresh for each test.
 */
#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/ident.h"
#include "base/thread.h"
#include "base/uri.h"
#include "stores.h"

/* ---- helpers ---- */

static void put(fixture *f, const char *name, const char *text) {
    silt_error err = {0};
    silt_status status = store_put(f->store, at(f, name), str_of(text), STORE_PUT_IF_ABSENT, &err);
    if (status != SILT_OK) fail_msg("put of \"%s\": status %d, %s %s", name, (int)status, err.message, err.detail);
}

static silt_status read_all(fixture *f, str path, buf *out, silt_error *err) {
    buf_init(out, BUF_MAX_DEFAULT);
    return store_read(f->store, path, 0, -1, out, err);
}

static void assert_content(fixture *f, const char *name, const char *text) {
    buf b;
    silt_error err = {0};
    silt_status status = read_all(f, at(f, name), &b, &err);
    if (status != SILT_OK) fail_msg("read of \"%s\": status %d, %s %s", name, (int)status, err.message, err.detail);
    assert_string_equal(buf_cstr(&b), text);
    buf_dispose(&b);
}

/* The names below the root (or `dir`), separated by '|'; folders end in '/'. Where there are no folders, one without anything in it is none. */
static void assert_list(fixture *f, const char *dir, const char *start_at, bool recursive, const char *expected) {
    store_list_result list;
    buf names;
    buf_init(&names, 1 << 20);
    str folder = *dir ? at(f, dir) : str_of(f->root);
    silt_status status = store_list(f->store, folder, str_of(start_at), recursive, f->arena, &list, NULL);
    if (status == SILT_NOT_FOUND && !*expected && !has(f, HAS_FOLDERS)) list.count = 0;
    else assert_int_equal(status, SILT_OK);
    for (size_t i = 0; i < list.count; i++) {
        assert_true(str_starts_with(list.items[i].path, folder));
        if (i > 0) {
            assert_true(str_cmp(list.items[i - 1].path, list.items[i].path) < 0);
            buf_append_char(&names, '|');
        }
        buf_append(&names, str_slice(list.items[i].path, folder.len + 1, list.items[i].path.len));
        if (list.items[i].is_dir) buf_append_char(&names, '/');
    }
    assert_string_equal(buf_cstr(&names), expected);
    buf_dispose(&names);
}

/* ---- put and read ---- */

static void what_was_put_is_read(void **state) {
    fixture *f = *state;
    put(f, "a.json", "hello");
    assert_content(f, "a.json", "hello");
}

static void put_if_absent_keeps_what_was_there(void **state) {
    fixture *f = *state;
    silt_error err = {0};
    put(f, "a", "first");
    assert_int_equal(store_put(f->store, at(f, "a"), STR("second"), STORE_PUT_IF_ABSENT, &err), SILT_EXISTS);
    assert_int_equal(err.status, SILT_EXISTS);
    assert_string_equal(err.condition, "PATH_ALREADY_EXISTS");
    assert_content(f, "a", "first");
    assert_list(f, "", NULL, false, "a");
}

static void put_replace_replaces_or_creates(void **state) {
    fixture *f = *state;
    assert_int_equal(store_put(f->store, at(f, "a"), STR("long old text"), STORE_PUT_REPLACE, NULL), SILT_OK);
    assert_int_equal(store_put(f->store, at(f, "a"), STR("new"), STORE_PUT_REPLACE, NULL), SILT_OK);
    assert_content(f, "a", "new");
    assert_list(f, "", NULL, false, "a");
}

static void put_makes_missing_folders(void **state) {
    fixture *f = *state;
    put(f, "x/y/z/file", "1");
    assert_content(f, "x/y/z/file", "1");
    assert_list(f, "x", NULL, false, "y/");
    put(f, "x/y/second", "2");
    assert_list(f, "x", NULL, true, "y/second|y/z/file");
}

static void put_over_a_folder_says_exists(void **state) {
    fixture *f = *state;
    put(f, "d/file", "1");
    assert_int_equal(store_put(f->store, at(f, "d"), STR("x"), STORE_PUT_IF_ABSENT, NULL), SILT_EXISTS);
    assert_int_equal(store_put(f->store, at(f, "d"), STR("x"), STORE_PUT_REPLACE, NULL), SILT_EXISTS);
    assert_list(f, "", NULL, true, "d/file");
}

static void put_below_a_file_says_exists_and_names_it(void **state) {
    fixture *f = *state;
    silt_error err = {0};
    put(f, "file", "1");
    assert_int_equal(store_put(f->store, at(f, "file/below"), STR("x"), STORE_PUT_IF_ABSENT, &err), SILT_EXISTS);
    assert_non_null(strstr(err.message, f->root));
    assert_non_null(strstr(err.message, "/file"));
    assert_int_equal(store_put(f->store, at(f, "file/far/below"), STR("x"), STORE_PUT_REPLACE, NULL), SILT_EXISTS);
    assert_content(f, "file", "1");
}

static void read_of_ranges(void **state) {
    fixture *f = *state;
    static const struct {
        int64_t offset, length;
        const char *expected;
    } cases[] = {{0, -1, "0123456789"}, {0, 4, "0123"}, {3, 4, "3456"}, {8, 10, "89"}, {10, 5, ""}, {11, -1, ""}, {1000, 1, ""},
                 {9, -1, "9"}, {0, 0, ""}, {INT64_MAX, INT64_MAX, ""}, {2, INT64_MAX, "23456789"}};
    put(f, "digits", "0123456789");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        buf b;
        buf_init(&b, 1000);
        buf_append_z(&b, ">");
        silt_error err = {0};
        silt_status status = store_read(f->store, at(f, "digits"), cases[i].offset, cases[i].length, &b, &err);
        if (status != SILT_OK) fail_msg("range %zu: status %d, %s %s", i, (int)status, err.message, err.detail);
        assert_int_equal(buf_cstr(&b)[0], '>');
        assert_string_equal(buf_cstr(&b) + 1, cases[i].expected);
        buf_dispose(&b);
    }
}

static void read_beyond_the_buffers_maximum_fails_and_keeps_it(void **state) {
    fixture *f = *state;
    buf b;
    buf_init(&b, 4);
    put(f, "digits", "0123456789");
    assert_int_equal(store_read(f->store, at(f, "digits"), 0, -1, &b, NULL), SILT_NO_MEMORY);
    assert_int_equal(b.len, 0);
    buf_dispose(&b);
}

static void read_of_what_is_absent_says_not_found(void **state) {
    fixture *f = *state;
    silt_error err = {0};
    buf b;
    assert_int_equal(read_all(f, at(f, "nothing"), &b, &err), SILT_NOT_FOUND);
    assert_string_equal(err.condition, "FILE_NOT_FOUND");
    assert_non_null(strstr(err.message, "nothing"));
    assert_int_equal(read_all(f, at(f, "no/folder"), &b, NULL), SILT_NOT_FOUND);
    put(f, "d/file", "1");
    assert_int_equal(read_all(f, at(f, "d"), &b, NULL), SILT_NOT_FOUND); /* a folder is no object */
    assert_int_equal(read_all(f, at(f, "d/file/below"), &b, NULL), SILT_NOT_FOUND);
    buf_dispose(&b);
}

static void empty_objects_are_objects(void **state) {
    fixture *f = *state;
    store_entry entry;
    put(f, "empty", "");
    assert_content(f, "empty", "");
    assert_int_equal(store_stat(f->store, at(f, "empty"), f->arena, &entry, NULL), SILT_OK);
    assert_int_equal(entry.size_bytes, 0);
    assert_false(entry.is_dir);
    assert_int_equal(store_put(f->store, at(f, "empty"), STR("x"), STORE_PUT_IF_ABSENT, NULL), SILT_EXISTS);
    assert_int_equal(store_put(f->store, at(f, "null"), STR_NULL, STORE_PUT_IF_ABSENT, NULL), SILT_OK);
    assert_list(f, "", NULL, false, "empty|null");
}

static void objects_of_50_megabytes(void **state) {
    fixture *f = *state;
    const size_t size = 50 * 1000 * 1000;
    char *bytes = malloc(size);
    assert_non_null(bytes);
    for (size_t i = 0; i < size; i++) bytes[i] = (char)(i * 2654435761u >> 13);
    assert_int_equal(store_put(f->store, at(f, "large"), (str){bytes, size}, STORE_PUT_IF_ABSENT, NULL), SILT_OK);
    buf b;
    assert_int_equal(read_all(f, at(f, "large"), &b, NULL), SILT_OK);
    assert_int_equal(b.len, size);
    assert_memory_equal(b.ptr, bytes, size);
    buf_clear(&b);
    assert_int_equal(store_read(f->store, at(f, "large"), 49999990, 100, &b, NULL), SILT_OK);
    assert_int_equal(b.len, 10);
    assert_memory_equal(b.ptr, bytes + 49999990, 10);
    buf_dispose(&b);
    free(bytes);
}

/* ---- names ---- */

static void names_of_every_kind(void **state) {
    fixture *f = *state;
    static const char *const names[] = {
        "with space", "100%", "%41", "a+b&c=d", "quote'\"`", "back\\slash", "new\nline", "tab\tand\x01", "star*?[x]", "caf\xc3\xa9",
        "\xd0\x9f\xd1\x80\xd0\xb8\xd0\xb2\xd0\xb5\xd1\x82", "\xe8\xa1\xa8", "\xf0\x9f\x98\x80", "not utf8 \xff\xfe", "-rf", "~", "a:b", "#frag?query",
        "..hidden", "..", " lead", "trail "};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (strcmp(names[i], "..") == 0 || cannot_be_named(f, names[i])) continue;
        put(f, names[i], names[i]);
        str folder = arena_printf(f->arena, "%s/in %s/file", f->root, names[i]);
        assert_int_equal(store_put(f->store, folder, STR("x"), STORE_PUT_IF_ABSENT, NULL), SILT_OK);
    }
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (strcmp(names[i], "..") == 0 || cannot_be_named(f, names[i])) continue;
        store_entry entry;
        assert_content(f, names[i], names[i]);
        assert_int_equal(store_stat(f->store, at(f, names[i]), f->arena, &entry, NULL), SILT_OK);
        assert_true(str_eq(entry.path, at(f, names[i])));
        assert_int_equal(entry.size_bytes, strlen(names[i]));
    }
    store_list_result list;
    assert_int_equal(store_list(f->store, str_of(f->root), STR_NULL, true, f->arena, &list, NULL), SILT_OK);
    size_t n_named = 0;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (strcmp(names[i], "..") == 0 || cannot_be_named(f, names[i])) continue;
        n_named++;
        assert_int_equal(store_remove(f->store, at(f, names[i]), NULL), SILT_OK);
    }
    assert_int_equal(list.count, 2 * n_named);
}

/* What a service cannot keep under its very name is refused, not kept under another. */
static void names_that_cannot_be_are_refused(void **state) {
    fixture *f = *state;
    store_list_result list;
    for (const char *const *name = f->kind->no_names; *name; name++) {
        silt_status status = store_put(f->store, at(f, *name), STR("x"), STORE_PUT_IF_ABSENT, NULL);
        if (status == SILT_OK || status == SILT_EXISTS || status == SILT_UNKNOWN) fail_msg("\"%s\" gave status %d", *name, (int)status);
    }
    put(f, "one", "1");
    assert_int_equal(store_list(f->store, str_of(f->root), STR_NULL, true, f->arena, &list, NULL), SILT_OK);
    assert_int_equal(list.count, 1);
}

static void paths_that_are_none_are_refused(void **state) {
    fixture *f = *state;
    store_entry entry;
    store_list_result list;
    buf b;
    buf_init(&b, 100);
    assert_int_equal(store_put(f->store, STR("relative"), STR("x"), STORE_PUT_IF_ABSENT, NULL), SILT_INVALID);
    assert_int_equal(store_put(f->store, STR(""), STR("x"), STORE_PUT_IF_ABSENT, NULL), SILT_INVALID);
    assert_int_equal(store_put(f->store, STR_NULL, STR("x"), STORE_PUT_IF_ABSENT, NULL), SILT_INVALID);
    assert_int_equal(store_put(f->store, STR("/tmp/nul\0byte"), STR("x"), STORE_PUT_IF_ABSENT, NULL), SILT_INVALID);
    assert_int_equal(store_put(f->store, at(f, "folder/"), STR("x"), STORE_PUT_IF_ABSENT, NULL), SILT_INVALID);
    assert_int_equal(store_read(f->store, STR("relative"), 0, -1, &b, NULL), SILT_INVALID);
    assert_int_equal(store_stat(f->store, STR("x\0y"), f->arena, &entry, NULL), SILT_INVALID);
    assert_int_equal(store_list(f->store, STR("relative"), STR_NULL, false, f->arena, &list, NULL), SILT_INVALID);
    buf_dispose(&b);
}

static void folders_are_named_with_or_without_a_slash(void **state) {
    fixture *f = *state;
    store_list_result list;
    store_entry entry;
    put(f, "d/file", "1");
    assert_int_equal(store_list(f->store, at(f, "d/"), STR_NULL, false, f->arena, &list, NULL), SILT_OK);
    assert_int_equal(list.count, 1);
    assert_true(str_eq(list.items[0].path, at(f, "d/file")));
    assert_int_equal(store_stat(f->store, at(f, "d/"), f->arena, &entry, NULL), SILT_OK);
    assert_true(entry.is_dir);
    assert_int_equal(store_make_dirs(f->store, at(f, "e/f/"), NULL), SILT_OK);
    if (has(f, HAS_FOLDERS)) assert_int_equal(store_remove_dir(f->store, at(f, "e/f/"), NULL), SILT_OK);
}

static void deep_folders(void **state) {
    fixture *f = *state;
    buf path;
    buf_init(&path, 4000);
    buf_append_z(&path, f->root);
    for (int i = 0; i < 300 && (f->kind->max_name_bytes == 0 || path.len + 20 < (size_t)f->kind->max_name_bytes); i++) buf_printf(&path, "/level%d", i);
    buf_append_z(&path, "/file");
    assert_int_equal(store_put(f->store, buf_str(&path), STR("deep"), STORE_PUT_IF_ABSENT, NULL), SILT_OK);
    store_list_result list;
    assert_int_equal(store_list(f->store, str_of(f->root), STR_NULL, true, f->arena, &list, NULL), SILT_OK);
    assert_true(list.count > 0);
    assert_true(str_eq(list.items[0].path, buf_str(&path)));
    assert_int_equal(list.count, 1);
    buf_dispose(&path);
}

/* ---- stat and list ---- */

static void stat_tells_size_time_and_kind(void **state) {
    fixture *f = *state;
    store_entry entry;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    put(f, "d/file", "12345");
    assert_int_equal(store_stat(f->store, at(f, "d/file"), f->arena, &entry, NULL), SILT_OK);
    assert_true(str_eq(entry.path, at(f, "d/file")));
    assert_int_equal(entry.size_bytes, 5);
    assert_false(entry.is_dir);
    if (has(f, FIXED_CLOCK)) assert_int_equal(entry.modified_ms, 1700000000000); /* the first put */
    else assert_in_range(entry.modified_ms, (uint64_t)now.tv_sec * 1000 - 2000, (uint64_t)now.tv_sec * 1000 + 60000);
    assert_int_equal(store_stat(f->store, at(f, "d"), f->arena, &entry, NULL), SILT_OK);
    assert_true(entry.is_dir);
    assert_int_equal(entry.size_bytes, 0);
    assert_int_equal(store_stat(f->store, STR("/"), f->arena, &entry, NULL), SILT_OK);
    assert_true(entry.is_dir);
    assert_int_equal(store_stat(f->store, at(f, "nothing"), f->arena, &entry, NULL), SILT_NOT_FOUND);
    assert_int_equal(store_stat(f->store, at(f, "d/file/x"), f->arena, &entry, NULL), SILT_NOT_FOUND);
}

static void lists_are_in_bytewise_order_and_start_at_a_name(void **state) {
    fixture *f = *state;
    static const char *const names[] = {"00000000000000000010.json", "b", "a", "Z", "a-b", "ab", "00000000000000000002.json", "z", "a.b",
                                        "00000000000000000002.crc"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) put(f, names[i], "x");
    put(f, "a+folder/inside", "x");
    assert_list(f, "", NULL, false,
                "00000000000000000002.crc|00000000000000000002.json|00000000000000000010.json|Z|a|a+folder/|a-b|a.b|ab|b|z");
    assert_list(f, "", "00000000000000000002.json", false, "00000000000000000002.json|00000000000000000010.json|Z|a|a+folder/|a-b|a.b|ab|b|z");
    assert_list(f, "", "00000000000000000003", false, "00000000000000000010.json|Z|a|a+folder/|a-b|a.b|ab|b|z");
    assert_list(f, "", "a-", false, "a-b|a.b|ab|b|z");
    assert_list(f, "", "", false,
                "00000000000000000002.crc|00000000000000000002.json|00000000000000000010.json|Z|a|a+folder/|a-b|a.b|ab|b|z");
    assert_list(f, "", "\xff", false, "");
    put(f, "\xc3\xa9", "x");
    assert_list(f, "", "b", false, "b|z|\xc3\xa9");
    if (!has(f, OTHER_ORDER)) assert_list(f, "", "00000000000000000010.json", false, "00000000000000000010.json|Z|a|a+folder/|a-b|a.b|ab|b|z|\xc3\xa9");
}

static void recursive_lists_hold_files_only_in_path_order(void **state) {
    fixture *f = *state;
    put(f, "a/b", "1");
    put(f, "a-c", "2"); /* '-' sorts before '/' */
    put(f, "a/b2/c", "3");
    put(f, "a0", "4"); /* '0' sorts after it */
    assert_int_equal(store_make_dirs(f->store, at(f, "empty/folder"), NULL), SILT_OK);
    assert_list(f, "", NULL, true, "a-c|a/b|a/b2/c|a0");
    assert_list(f, "", NULL, false, has(f, HAS_FOLDERS) ? "a/|a-c|a0|empty/" : "a/|a-c|a0");
    assert_list(f, "a", NULL, true, "b|b2/c");
    if (!has(f, HAS_FOLDERS)) return;
    assert_list(f, "empty", NULL, true, "");
    assert_list(f, "empty/folder", NULL, false, "");
}

static void list_of_what_is_no_folder_says_not_found(void **state) {
    fixture *f = *state;
    store_list_result list;
    put(f, "file", "1");
    assert_int_equal(store_list(f->store, at(f, "nothing"), STR_NULL, false, f->arena, &list, NULL), SILT_NOT_FOUND);
    assert_int_equal(store_list(f->store, at(f, "nothing"), STR_NULL, true, f->arena, &list, NULL), SILT_NOT_FOUND);
    assert_int_equal(store_list(f->store, at(f, "file"), STR_NULL, false, f->arena, &list, NULL), SILT_NOT_FOUND);
}

static void lists_tell_sizes(void **state) {
    fixture *f = *state;
    store_list_result list;
    put(f, "one", "1");
    put(f, "three", "333");
    assert_int_equal(store_list(f->store, str_of(f->root), STR_NULL, false, f->arena, &list, NULL), SILT_OK);
    assert_int_equal(list.count, 2);
    assert_int_equal(list.items[0].size_bytes, 1);
    assert_int_equal(list.items[1].size_bytes, 3);
    assert_true(list.items[1].modified_ms >= list.items[0].modified_ms);
}

static void lists_of_many(void **state) {
    fixture *f = *state;
    char name[32];
    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof name, "%020d.json", (i * 7919) % 300);
        put(f, name, "x");
    }
    store_list_result list;
    assert_int_equal(store_list(f->store, str_of(f->root), STR("00000000000000000100"), false, f->arena, &list, NULL), SILT_OK);
    assert_int_equal(list.count, 200);
    for (size_t i = 0; i < 200; i++) {
        snprintf(name, sizeof name, "%020zu.json", i + 100);
        assert_true(str_eqz(path_name(list.items[i].path), name));
    }
}

/* ---- removal and folders ---- */

static void removed_objects_are_gone(void **state) {
    fixture *f = *state;
    put(f, "d/a", "1");
    put(f, "d/b", "2");
    assert_int_equal(store_remove(f->store, at(f, "d/a"), NULL), SILT_OK);
    assert_list(f, "d", NULL, false, "b");
    silt_status gone = has(f, TELLS_REMOVED) ? SILT_NOT_FOUND : SILT_OK;
    assert_int_equal(store_remove(f->store, at(f, "d/a"), NULL), gone);
    assert_int_equal(store_remove(f->store, at(f, "none/a"), NULL), gone);
    assert_int_equal(store_remove(f->store, at(f, "d"), NULL), gone); /* a folder is no object */
    assert_content(f, "d/b", "2");
    put(f, "d/a", "again");
    assert_content(f, "d/a", "again");
}

static void only_empty_folders_are_removed(void **state) {
    fixture *f = *state;
    put(f, "d/e/file", "1");
    assert_int_equal(store_remove_dir(f->store, at(f, "d"), NULL), SILT_EXISTS);
    assert_int_equal(store_remove_dir(f->store, at(f, "d/e"), NULL), SILT_EXISTS);
    assert_int_equal(store_remove_dir(f->store, at(f, "d/e/file"), NULL), SILT_NOT_FOUND);
    assert_int_equal(store_remove_dir(f->store, at(f, "nothing"), NULL), SILT_NOT_FOUND);
    assert_int_equal(store_remove(f->store, at(f, "d/e/file"), NULL), SILT_OK);
    assert_list(f, "d", NULL, false, "e/"); /* a folder outlives its last file */
    assert_int_equal(store_remove_dir(f->store, at(f, "d/e"), NULL), SILT_OK);
    assert_int_equal(store_remove_dir(f->store, at(f, "d"), NULL), SILT_OK);
    assert_list(f, "", NULL, false, "");
}

static void a_folder_moves_with_all_in_it_and_covers_nothing(void **state) {
    fixture *f = *state;
    if (!store_can_move(f->store)) return; /* a store may leave this out: callers ask first */
    put(f, "from/a", "1");
    put(f, "from/deep/b", "2");
    put(f, "taken/c", "3");
    assert_int_equal(store_move_dir(f->store, at(f, "from"), at(f, "taken"), NULL), SILT_EXISTS);
    assert_content(f, "from/a", "1");
    assert_int_equal(store_move_dir(f->store, at(f, "from/"), at(f, "new/parents/to"), NULL), SILT_OK);
    assert_content(f, "new/parents/to/a", "1");
    assert_content(f, "new/parents/to/deep/b", "2");
    assert_list(f, "", NULL, false, "new/|taken/");
    assert_int_equal(store_move_dir(f->store, at(f, "from"), at(f, "other"), NULL), SILT_NOT_FOUND);
}

static void folders_are_made_once_or_again(void **state) {
    fixture *f = *state;
    assert_int_equal(store_make_dirs(f->store, at(f, "a/b/c"), NULL), SILT_OK);
    assert_int_equal(store_make_dirs(f->store, at(f, "a/b/c"), NULL), SILT_OK);
    assert_int_equal(store_make_dirs(f->store, at(f, "a"), NULL), SILT_OK);
    assert_int_equal(store_make_dirs(f->store, STR("/"), NULL), SILT_OK);
    assert_list(f, "a", NULL, false, "b/");
    put(f, "file", "1");
    assert_int_equal(store_make_dirs(f->store, at(f, "file"), NULL), SILT_EXISTS);
    assert_int_equal(store_make_dirs(f->store, at(f, "file/below"), NULL), SILT_EXISTS);
}

/* ---- files for other libraries ---- */

static void write_text(str local, const char *text) {
    FILE *file = fopen(local.ptr, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static void data_files_are_written_by_others_and_finished(void **state) {
    fixture *f = *state;
    str local;
    assert_int_equal(store_write_begin(f->store, at(f, "part=1/x.parquet"), f->arena, &local, NULL), SILT_OK);
    assert_true(str_ends_with(local, STR(".parquet")));
    write_text(local, "PAR1");
    assert_int_equal(store_write_finish(f->store, at(f, "part=1/x.parquet"), local, NULL), SILT_OK);
    assert_content(f, "part=1/x.parquet", "PAR1");
    assert_list(f, "", NULL, true, "part=1/x.parquet");
}

/* Where the local name is the path itself, another name in its folder may be finished instead. */
static void data_files_written_beside_their_names_are_moved(void **state) {
    fixture *f = *state;
    str paths[2] = {at(f, "p=1/x"), at(f, "y")}, locals[2], hidden[2] = {at(f, "p=1/.silt-1.tmp"), at(f, ".silt-2.tmp")};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(store_write_begin(f->store, paths[i], f->arena, &locals[i], NULL), SILT_OK);
        if (str_eq(locals[i], paths[i])) locals[i] = hidden[i];
        write_text(locals[i], "PAR1");
    }
    assert_list(f, "", NULL, true, "");
    assert_int_equal(store_write_finish(f->store, paths[0], locals[0], NULL), SILT_OK);
    assert_list(f, "", NULL, true, "p=1/x");
    assert_int_equal(store_write_finish_many(f->store, paths + 1, locals + 1, 1, NULL), SILT_OK);
    assert_list(f, "", NULL, true, "p=1/x|y");
    assert_content(f, "y", "PAR1");
}

static void an_unwritten_data_file_cannot_be_finished(void **state) {
    fixture *f = *state;
    str local;
    assert_int_equal(store_write_begin(f->store, at(f, "x"), f->arena, &local, NULL), SILT_OK);
    assert_int_equal(store_write_finish(f->store, at(f, "x"), local, NULL), SILT_NOT_FOUND);
    store_write_abort(f->store, at(f, "x"), local);
}

static void aborted_data_files_leave_nothing(void **state) {
    fixture *f = *state;
    str local;
    assert_int_equal(store_write_begin(f->store, at(f, "d/x"), f->arena, &local, NULL), SILT_OK);
    write_text(local, "half");
    store_write_abort(f->store, at(f, "d/x"), local);
    store_write_abort(f->store, at(f, "d/x"), local); /* again does no harm */
    buf b;
    assert_int_equal(read_all(f, at(f, "d/x"), &b, NULL), SILT_NOT_FOUND);
    assert_list(f, "", NULL, true, "");
}

static void many_data_files_are_finished_together(void **state) {
    fixture *f = *state;
    enum { N = 60 };
    str paths[N], locals[N];
    for (size_t i = 0; i < N; i++) {
        paths[i] = arena_printf(f->arena, "%s/p=%zu/q=%zu/f%zu", f->root, i % 3, i % 4, i);
        assert_int_equal(store_write_begin(f->store, paths[i], f->arena, &locals[i], NULL), SILT_OK);
        write_text(locals[i], "data");
    }
    assert_int_equal(store_write_finish_many(f->store, paths, locals, N, NULL), SILT_OK);
    assert_int_equal(store_write_finish_many(f->store, paths, locals, 0, NULL), SILT_OK);
    store_list_result list;
    assert_int_equal(store_list(f->store, str_of(f->root), STR_NULL, true, f->arena, &list, NULL), SILT_OK);
    assert_int_equal(list.count, N);
    for (size_t i = 0; i < N; i++) assert_int_equal(list.items[i].size_bytes, 4);
    str missing = at(f, "missing");
    assert_int_equal(store_write_finish_many(f->store, &missing, &missing, 1, NULL), SILT_NOT_FOUND);
}

static void objects_can_be_read_as_local_files(void **state) {
    fixture *f = *state;
    str local;
    put(f, "d/x.json", "content");
    assert_int_equal(store_local_read_path(f->store, at(f, "d/x.json"), f->arena, &local, NULL), SILT_OK);
    char text[32] = {0};
    FILE *file = fopen(local.ptr, "rb");
    assert_non_null(file);
    assert_int_equal(fread(text, 1, sizeof text, file), 7);
    fclose(file);
    assert_string_equal(text, "content");
    assert_int_equal(store_local_read_path(f->store, at(f, "nothing"), f->arena, &local, NULL), SILT_NOT_FOUND);
    assert_int_equal(store_local_read_path(f->store, at(f, "d"), f->arena, &local, NULL), SILT_NOT_FOUND);
}

/* From any store into a file that another one asked for. */
static void objects_are_copied_out_whole(void **state) {
    fixture *f = *state;
    const size_t size = 20 * 1000 * 1000;
    char *bytes = malloc(size);
    int64_t copied;
    str local;
    cancel_token token = {0};
    assert_non_null(bytes);
    for (size_t i = 0; i < size; i++) bytes[i] = (char)(i * 2654435761u >> 11);
    assert_int_equal(store_put(f->store, at(f, "from"), (str){bytes, size}, STORE_PUT_IF_ABSENT, NULL), SILT_OK);
    assert_int_equal(store_write_begin(f->store, at(f, "d/to"), f->arena, &local, NULL), SILT_OK);
    assert_int_equal(store_copy_out(f->store, at(f, "from"), local, &token, &copied, NULL), SILT_OK);
    assert_int_equal(copied, size);
    assert_int_equal(store_write_finish(f->store, at(f, "d/to"), local, NULL), SILT_OK);
    buf b;
    assert_int_equal(read_all(f, at(f, "d/to"), &b, NULL), SILT_OK);
    assert_int_equal(b.len, size);
    assert_memory_equal(b.ptr, bytes, size);
    buf_dispose(&b);
    put(f, "empty", "");
    assert_int_equal(store_write_begin(f->store, at(f, "d/to"), f->arena, &local, NULL), SILT_OK);
    assert_int_equal(store_copy_out(f->store, at(f, "empty"), local, NULL, &copied, NULL), SILT_OK);
    assert_int_equal(copied, 0);
    assert_int_equal(store_write_finish(f->store, at(f, "d/to"), local, NULL), SILT_OK);
    assert_content(f, "d/to", "");
    cancel_request(&token, true);
    assert_int_equal(store_copy_out(f->store, at(f, "from"), local, &token, &copied, NULL), SILT_CANCELLED);
    assert_int_equal(store_copy_out(f->store, at(f, "nothing"), local, NULL, &copied, NULL), SILT_NOT_FOUND);
    silt_error err = {0}; /* what is full is where it goes, not where it comes from */
    assert_int_equal(store_copy_out(f->store, at(f, "from"), STR("/dev/full"), NULL, &copied, &err), SILT_NO_SPACE);
    assert_string_equal(err.message, "No space left while writing /dev/full");
    free(bytes);
}

/* ---- threads ---- */

enum { RACERS = 16, RACE_NAMES = 40 };

typedef struct racer {
    fixture *f;
    char id;
    int won[RACE_NAMES];
    int bad;
} racer;

static void *race(void *arg) {
    racer *r = arg;
    for (int i = 0; i < RACE_NAMES; i++) {
        char path[128], text[1000];
        snprintf(path, sizeof path, "%s/race %d/%d", r->f->root, i % 4, i);
        memset(text, r->id, sizeof text);
        silt_status status = store_put(r->f->store, str_of(path), (str){text, sizeof text}, STORE_PUT_IF_ABSENT, NULL);
        r->won[i] = status == SILT_OK;
        r->bad += status != SILT_OK && status != SILT_EXISTS;
        buf b; /* won or lost, the object is whole now */
        buf_init(&b, 10000);
        r->bad += store_read(r->f->store, str_of(path), 0, -1, &b, NULL) != SILT_OK || b.len != sizeof text ||
                  memcmp(b.ptr, b.ptr + 1, b.len - 1) != 0;
        buf_dispose(&b);
    }
    return NULL;
}

static void of_16_threads_exactly_one_wins_each_name(void **state) {
    fixture *f = *state;
    pthread_t threads[RACERS];
    racer racers[RACERS];
    for (int i = 0; i < RACERS; i++) {
        racers[i] = (racer){.f = f, .id = (char)('a' + i)};
        assert_int_equal(pthread_create(&threads[i], NULL, race, &racers[i]), 0);
    }
    for (int i = 0; i < RACERS; i++) pthread_join(threads[i], NULL);
    for (int n = 0; n < RACE_NAMES; n++) {
        int winner = -1;
        for (int i = 0; i < RACERS; i++) {
            if (!racers[i].won[n]) continue;
            assert_int_equal(winner, -1);
            winner = i;
        }
        assert_int_not_equal(winner, -1);
        buf b;
        str path = arena_printf(f->arena, "%s/race %d/%d", f->root, n % 4, n);
        assert_int_equal(read_all(f, path, &b, NULL), SILT_OK);
        assert_int_equal(b.ptr[0], 'a' + winner);
        buf_dispose(&b);
    }
    for (int i = 0; i < RACERS; i++) assert_int_equal(racers[i].bad, 0);
    store_list_result list; /* nothing but the names is left */
    assert_int_equal(store_list(f->store, str_of(f->root), STR_NULL, true, f->arena, &list, NULL), SILT_OK);
    assert_int_equal(list.count, RACE_NAMES);
}

static void *replace_often(void *arg) {
    racer *r = arg;
    char path[128], text[5000];
    snprintf(path, sizeof path, "%s/hot", r->f->root);
    memset(text, r->id, sizeof text);
    for (int i = 0; i < 60; i++) {
        r->bad += store_put(r->f->store, str_of(path), (str){text, (size_t)1000 + (size_t)r->id * 10}, STORE_PUT_REPLACE, NULL) != SILT_OK;
        buf b;
        buf_init(&b, 10000);
        r->bad += store_read(r->f->store, str_of(path), 0, -1, &b, NULL) != SILT_OK || b.len == 0 ||
                  b.len != (size_t)1000 + (size_t)b.ptr[0] * 10 || memcmp(b.ptr, b.ptr + 1, b.len - 1) != 0;
        buf_dispose(&b);
    }
    return NULL;
}

static void readers_see_the_old_or_the_new_bytes(void **state) {
    fixture *f = *state;
    pthread_t threads[4];
    racer racers[4];
    for (int i = 0; i < 4; i++) {
        racers[i] = (racer){.f = f, .id = (char)('a' + i)};
        assert_int_equal(pthread_create(&threads[i], NULL, replace_often, &racers[i]), 0);
    }
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 4; i++) assert_int_equal(racers[i].bad, 0);
    assert_list(f, "", NULL, false, "hot");
}

/* ---- walking ---- */

typedef struct walked {
    arena *arena;
    str *items; /* as text, in any order */
    size_t n, capacity;
    const char *skip; /* a name that is not wanted */
    size_t fail_at;   /* the nth taken entry is a failure, 0 none */
    size_t n_looks;   /* counted by several threads */
} walked;

static store_walk_wish look_at_all(void *ctx, const store_walk_entry *e) {
    walked *w = ctx;
    __atomic_add_fetch(&w->n_looks, 1, __ATOMIC_RELAXED);
    if (w->skip && str_eqz(path_name(e->path), w->skip)) return STORE_WALK_SKIP;
    return str_starts_with(path_name(e->path), STR("pass")) ? STORE_WALK_PASS : STORE_WALK_TAKE;
}

static silt_status take_entry(void *ctx, const store_walk_entry *e, silt_error *err) {
    static const char *const kinds[] = {[STORE_FILE] = "file", [STORE_FOLDER] = "folder", [STORE_LINK] = "link"};
    walked *w = ctx;
    if (w->fail_at && w->n + 1 == w->fail_at) return err_INTERNAL_ERROR(err, "the walker had enough");
    str text = e->kind == STORE_FOLDER ? arena_printf(w->arena, "folder %.*s %zu+%zu", STR_ARG(e->path), e->n_files, e->n_folders)
                                       : arena_printf(w->arena, "%s %.*s %lld", kinds[e->kind], STR_ARG(e->path), (long long)e->size_bytes);
    assert_true(e->modified_ms > INT64_C(1600000000000));
    return ARENA_PUSH(w->arena, w->items, w->n, w->capacity, text) ? SILT_OK : error_no_memory(err);
}

static int compare_texts(const void *x, const void *y) { return str_cmp(*(const str *)x, *(const str *)y); }

static silt_status walk(fixture *f, walked *w, const char *dir, silt_error *err) {
    const store_walker walker = {.ctx = w, .n_threads = 3, .look = look_at_all, .take = take_entry};
    w->arena = f->arena;
    return store_walk(f->store, *dir ? at(f, dir) : str_of(f->root), &walker, err);
}

/* What was taken, ascending, separated by '|'. */
static void assert_walk(fixture *f, const char *skip, const char *expected) {
    walked w = {.skip = skip};
    buf text;
    buf_init(&text, 1 << 20);
    assert_int_equal(walk(f, &w, "", NULL), SILT_OK);
    if (w.n > 1) qsort(w.items, w.n, sizeof *w.items, compare_texts);
    for (size_t i = 0; i < w.n; i++) {
        if (i) buf_append_char(&text, '|');
        buf_append(&text, w.items[i]);
    }
    assert_string_equal(buf_cstr(&text), expected);
    buf_dispose(&text);
}

/* Of those that have folders, the one in memory lists its files when it is walked. */
static bool walks_folders(const fixture *f) { return has(f, HAS_FOLDERS) && !has(f, FIXED_CLOCK); }

static void a_walk_tells_of_everything_below(void **state) {
    fixture *f = *state;
    put(f, "a.txt", "12345");
    put(f, "pass.txt", "1");
    put(f, "p=1/x", "1");
    put(f, "p=1/q=2/y", "22");
    put(f, "hidden/z", "1");
    assert_int_equal(store_make_dirs(f->store, at(f, "empty/inner"), NULL), SILT_OK);
    if (walks_folders(f))
        assert_walk(f, "hidden", "file a.txt 5|file p=1/q=2/y 2|file p=1/x 1|folder empty 0+1|folder empty/inner 0+0|folder p=1 1+1|folder p=1/q=2 1+0");
    else
        assert_walk(f, "hidden", "file a.txt 5|file hidden/z 1|file p=1/q=2/y 2|file p=1/x 1");
}

static void a_walk_of_what_is_no_folder_says_not_found(void **state) {
    fixture *f = *state;
    walked w = {0};
    assert_int_equal(walk(f, &w, "nothing", NULL), SILT_NOT_FOUND);
}

static void a_walk_ends_with_the_walkers_failure(void **state) {
    fixture *f = *state;
    walked w = {.fail_at = 3};
    silt_error err = {.status = SILT_OK};
    char name[32];
    for (int i = 0; i < 50; i++) {
        snprintf(name, sizeof name, "d%d/f%d", i % 7, i);
        put(f, name, "x");
    }
    assert_int_equal(walk(f, &w, "", &err), SILT_INTERNAL);
    assert_int_equal(w.n, 2);
}

static void a_walk_can_be_cancelled(void **state) {
    fixture *f = *state;
    walked w = {.arena = f->arena};
    const cancel_token cancelled = {1};
    const store_walker walker = {.ctx = &w, .n_threads = 2, .cancel = &cancelled, .look = look_at_all, .take = take_entry};
    put(f, "a/b", "x");
    assert_int_equal(store_walk(f->store, str_of(f->root), &walker, NULL), SILT_CANCELLED);
    assert_int_equal(w.n, 0);
}

static void a_walk_of_more_than_a_page_misses_nothing(void **state) {
    fixture *f = *state;
    walked w = {0};
    char name[32];
    const int n = has(f, SMALL_PAGES) ? 450 : 2 * STORE_PAGE + 1;
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "d%d/f%05d", i % 3, i);
        assert_int_equal(store_put(f->store, at(f, name), STR("x"), STORE_PUT_IF_ABSENT_RELAXED, NULL), SILT_OK);
    }
    assert_int_equal(walk(f, &w, "", NULL), SILT_OK);
    size_t files = 0;
    qsort(w.items, w.n, sizeof *w.items, compare_texts);
    for (size_t i = 0; i < w.n; i++) {
        files += str_starts_with(w.items[i], STR("file "));
        if (i) assert_true(str_cmp(w.items[i - 1], w.items[i]) < 0);
    }
    assert_int_equal(files, n);
}

static void links_are_told_of_and_never_followed(void **state) {
    fixture *f = *state;
    put(f, "real/x", "1");
    assert_int_equal(symlink(f->root, at(f, "loop").ptr), 0);
    assert_int_equal(symlink("real/x", at(f, "to_file").ptr), 0);
    assert_int_equal(symlink("nowhere", at(f, "dangling").ptr), 0);
    assert_walk(f, NULL, "file real/x 1|folder real 1+0|link dangling 0|link loop 0|link to_file 0");
}

/* ---- removing below a folder ---- */

static void files_are_removed_by_their_names_below(void **state) {
    fixture *f = *state;
    const str names[] = {STR("a"), STR("p=1/x"), STR("p=1/none"), STR("none/y"), STR("p=1/y"), STR("keep/z")};
    silt_status out[5];
    put(f, "a", "1");
    put(f, "p=1/x", "1");
    put(f, "p=1/y", "1");
    put(f, "keep/z", "1");
    silt_error err = {.status = SILT_OK};
    assert_int_equal(store_remove_below(f->store, str_of(f->root), names, 5, out, &err), SILT_OK);
    assert_int_equal(err.status, SILT_OK);
    const silt_status gone = has(f, TELLS_REMOVED) ? SILT_NOT_FOUND : SILT_OK;
    const silt_status expected[] = {SILT_OK, SILT_OK, gone, gone, SILT_OK};
    for (size_t i = 0; i < 5; i++) assert_int_equal(out[i], expected[i]);
    assert_list(f, "", NULL, true, "keep/z");
}

static void names_that_lead_elsewhere_are_refused(void **state) {
    fixture *f = *state;
    static const char *const odd[] = {"../x", "a/../../x", "./x", "/x", "a//x", "", "a/", ".."};
    put(f, "d/x", "1");
    for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
        str name = str_of(odd[i]);
        silt_status out;
        assert_int_equal(store_remove_below(f->store, at(f, "d"), &name, 1, &out, NULL), SILT_INVALID);
    }
    assert_content(f, "d/x", "1");
}

static void no_link_leads_a_removal_out(void **state) {
    fixture *f = *state;
    const str names[] = {STR("link/x"), STR("link_to_file")};
    silt_status out[2];
    silt_error err = {.status = SILT_OK};
    put(f, "outside/x", "1");
    put(f, "outside/y", "1");
    assert_int_equal(store_make_dirs(f->store, at(f, "table"), NULL), SILT_OK);
    assert_int_equal(symlink(at(f, "outside").ptr, at(f, "table/link").ptr), 0);
    assert_int_equal(symlink(at(f, "outside/y").ptr, at(f, "table/link_to_file").ptr), 0);
    assert_int_equal(store_remove_below(f->store, at(f, "table"), names, 2, out, &err), SILT_OK);
    assert_int_equal(out[0], SILT_DENIED);
    assert_int_equal(err.status, SILT_DENIED);
    assert_int_equal(out[1], SILT_OK); /* the link itself */
    assert_content(f, "outside/x", "1");
    assert_content(f, "outside/y", "1");
}

static void a_folder_is_not_removed_as_a_file(void **state) {
    fixture *f = *state;
    const str name = STR("d");
    silt_status out;
    put(f, "d/x", "1");
    assert_int_equal(store_remove_below(f->store, str_of(f->root), &name, 1, &out, NULL), SILT_OK);
    if (has(f, TELLS_REMOVED)) assert_int_not_equal(out, SILT_OK);
    assert_content(f, "d/x", "1");
}

/* ---- real paths ---- */

static void real_paths_are_those_without_links(void **state) {
    fixture *f = *state;
    str real;
    put(f, "d/x", "1");
    assert_int_equal(store_real_path(f->store, at(f, "d/x"), f->arena, &real, NULL), SILT_OK);
    assert_true(str_eq(real, at(f, "d/x")));
    if (!f->is_local) return;
    assert_int_equal(symlink("d", at(f, "link").ptr), 0);
    assert_int_equal(store_real_path(f->store, at(f, "link/x"), f->arena, &real, NULL), SILT_OK);
    assert_true(str_eq(real, at(f, "d/x")));
    assert_int_equal(store_real_path(f->store, at(f, "none"), f->arena, &real, NULL), SILT_NOT_FOUND);
}

/* ---- the suite ---- */

int main(void) {
    static const contract_test tests[] = {
        CONTRACT(what_was_put_is_read),
        CONTRACT(put_if_absent_keeps_what_was_there),
        CONTRACT(put_replace_replaces_or_creates),
        CONTRACT(put_makes_missing_folders),
        CONTRACT_OF(put_over_a_folder_says_exists, HAS_FOLDERS),
        CONTRACT_OF(put_below_a_file_says_exists_and_names_it, HAS_FOLDERS),
        CONTRACT(read_of_ranges),
        CONTRACT(read_beyond_the_buffers_maximum_fails_and_keeps_it),
        CONTRACT(read_of_what_is_absent_says_not_found),
        CONTRACT(empty_objects_are_objects),
        CONTRACT(objects_of_50_megabytes),
        CONTRACT(names_of_every_kind),
        CONTRACT(names_that_cannot_be_are_refused),
        CONTRACT(paths_that_are_none_are_refused),
        CONTRACT(folders_are_named_with_or_without_a_slash),
        CONTRACT(deep_folders),
        CONTRACT(stat_tells_size_time_and_kind),
        CONTRACT(lists_are_in_bytewise_order_and_start_at_a_name),
        CONTRACT(recursive_lists_hold_files_only_in_path_order),
        CONTRACT(list_of_what_is_no_folder_says_not_found),
        CONTRACT(lists_tell_sizes),
        CONTRACT(lists_of_many),
        CONTRACT(removed_objects_are_gone),
        CONTRACT_OF(only_empty_folders_are_removed, HAS_FOLDERS),
        CONTRACT(a_folder_moves_with_all_in_it_and_covers_nothing),
        CONTRACT_OF(folders_are_made_once_or_again, HAS_FOLDERS),
        CONTRACT(data_files_are_written_by_others_and_finished),
        CONTRACT(data_files_written_beside_their_names_are_moved),
        CONTRACT(an_unwritten_data_file_cannot_be_finished),
        CONTRACT(aborted_data_files_leave_nothing),
        CONTRACT(many_data_files_are_finished_together),
        CONTRACT(objects_can_be_read_as_local_files),
        CONTRACT(objects_are_copied_out_whole),
        CONTRACT(of_16_threads_exactly_one_wins_each_name),
        CONTRACT(readers_see_the_old_or_the_new_bytes),
        CONTRACT(a_walk_tells_of_everything_below),
        CONTRACT(a_walk_of_what_is_no_folder_says_not_found),
        CONTRACT(a_walk_ends_with_the_walkers_failure),
        CONTRACT(a_walk_can_be_cancelled),
        CONTRACT(a_walk_of_more_than_a_page_misses_nothing),
        CONTRACT_OF(links_are_told_of_and_never_followed, IS_LOCAL),
        CONTRACT(files_are_removed_by_their_names_below),
        CONTRACT(names_that_lead_elsewhere_are_refused),
        CONTRACT_OF(no_link_leads_a_removal_out, IS_LOCAL),
        CONTRACT(a_folder_is_not_removed_as_a_file),
        CONTRACT(real_paths_are_those_without_links),
    };
    return contract_run(tests, ARRAY_LEN(tests));
}
