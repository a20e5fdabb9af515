/* What answers of WebHDFS are taken for. The texts are those that Hadoop 3.5.0 gave (a NameNode and a DataNode with WebHDFS), stack traces shortened; where no server gave one, the line says so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "store/hdfs/hdfs.h"

static int set_up(void **state) {
    *state = arena_new();
    return *state == NULL;
}

static int tear_down(void **state) {
    arena_free(*state);
    return 0;
}

static hdfs_answer parse(arena *a, int status, const char *body) {
    hdfs_answer answer;
    const http_response r = {.status = status, .body = str_of(body)};
    assert_int_equal(hdfs_answer_parse(&r, a, &answer, NULL), SILT_OK);
    return answer;
}

#define REMOTE(class, message) "{\"RemoteException\":{\"exception\":\"" class "\",\"javaClassName\":\"x." class "\",\"message\":\"" message "\"}}"
#define TRACE                  "\\n\\tat org.apache.hadoop.hdfs.server.namenode.FSNamesystem.x(FSNamesystem.java:1687)\\n\\tat java.base/y(Z.java:1)\\n"

static void every_refusal_has_its_error(void **state) {
    static const struct {
        int http;
        const char *body, *condition;
        silt_status status;
        const char *detail; /* part of it */
    } cases[] = {
        {404, REMOTE("FileNotFoundException", "File /nope does not exist."), "FILE_NOT_FOUND", SILT_NOT_FOUND, "File /nope does not exist."},
        {403, REMOTE("FileAlreadyExistsException", "rename destination /t/a already exists"), "PATH_ALREADY_EXISTS", SILT_EXISTS, ""},
        {403, REMOTE("ParentNotDirectoryException", "/t/a (is not a directory)" TRACE), "PATH_ALREADY_EXISTS", SILT_EXISTS, "/t/a (is not a directory)"},
        {403, REMOTE("AccessControlException", "/t/a (is not a directory)"), "PATH_ALREADY_EXISTS", SILT_EXISTS, ""},
        {403, REMOTE("PathIsNotEmptyDirectoryException", "`/d is non empty': Directory is not empty"), "FOLDER_NOT_EMPTY", SILT_EXISTS, ""},
        {403, REMOTE("AccessControlException", "Permission denied: user=bob, access=EXECUTE, inode=\\\"/t\\\":hdfs:supergroup:drwx------" TRACE), "PERMISSION_DENIED", SILT_DENIED,
         "user=bob, access=EXECUTE"},
        {403, REMOTE("SnapshotAccessControlException", "Modification on a read-only snapshot is disallowed" TRACE), "HDFS_SNAPSHOT_READ_ONLY", SILT_DENIED, ""},
        {403, REMOTE("SafeModeException", "Cannot create file/x1. Name node is in safe mode.\\nIt was turned on manually." TRACE), "HDFS_SAFE_MODE", SILT_IO, "Cannot create file/x1"},
        {403, REMOTE("NSQuotaExceededException", "The NameSpace quota (directories and files) of directory /q is exceeded: quota=2 file count=3" TRACE), "HDFS_QUOTA_EXCEEDED", SILT_NO_SPACE,
         "quota=2 file count=3"},
        {403, REMOTE("DSQuotaExceededException", "The DiskSpace quota of /q is exceeded: quota = 10 B" TRACE), "HDFS_QUOTA_EXCEEDED", SILT_NO_SPACE, "quota = 10 B"},
        {403, REMOTE("QuotaByStorageTypeExceededException", "no server was asked"), "HDFS_QUOTA_EXCEEDED", SILT_NO_SPACE, ""},
        {403, REMOTE("AlreadyBeingCreatedException", "Failed to APPEND_FILE /lease1 for DFSClient_NONMAPREDUCE_1 on 127.0.0.1 because this file lease is currently owned by x" TRACE), "HDFS_LEASE",
         SILT_IO, "Failed to APPEND_FILE"},
        {403, REMOTE("LeaseExpiredException", "no server was asked"), "HDFS_LEASE", SILT_IO, ""},
        {403, REMOTE("StandbyException", "Operation category READ is not supported in state standby. Visit https://s.apache.org/sbnn-error"), "HDFS_NO_ACTIVE_NAMENODE", SILT_IO, "state standby"},
        {403, REMOTE("RetriableException", "Namenode is in startup mode"), "HDFS_NO_ACTIVE_NAMENODE", SILT_IO, "startup mode"},
        {400, REMOTE("InvalidPathException", "Invalid path name /t/a:b"), "INVALID_PARAMETER_VALUE", SILT_INVALID, "/t/a:b"},
        {403, REMOTE("IOException", "File /x could only be written to 0 of the 1 minReplication nodes. There are 0 datanode(s) running"), "HDFS_NO_DATANODE", SILT_NO_SPACE, "0 datanode(s)"},
        {403, REMOTE("IOException", "Source /t/b and destination /d must both be directories"), "HDFS_REMOTE_EXCEPTION", SILT_IO, "must both be"},
        {403, REMOTE("SecurityException", "Failed to obtain user group information: org.apache.hadoop.security.token.SecretManager$InvalidToken: Token for real user: , can't be found in cache"),
         "HDFS_AUTHENTICATION_FAILED", SILT_DENIED, "InvalidToken"},
        {403, REMOTE("InvalidToken", "no server was asked"), "HDFS_AUTHENTICATION_FAILED", SILT_DENIED, ""},
        {401, "<html>Authentication required</html>", "HDFS_AUTHENTICATION_FAILED", SILT_DENIED, ""},
        {404, "<html>Not found</html>", "HDFS_UNEXPECTED_ANSWER", SILT_IO, ""},
        {404, "", "HDFS_UNEXPECTED_ANSWER", SILT_IO, ""},
        {404, "{\"error\":\"x\"}", "HDFS_UNEXPECTED_ANSWER", SILT_IO, ""},
    };
    const hdfs_store s = {.base = {.uri_prefix = "hdfs://nn:8020"}, .site = {.name = STR("hdfs://nn:8020")}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        hdfs_answer answer = parse(*state, cases[i].http, cases[i].body);
        silt_error err = {.status = SILT_OK};
        silt_status status = hdfs_failure(&s, &answer, "writing", STR("/t/x"), &err);
        if (status != cases[i].status || strcmp(err.condition, cases[i].condition) != 0) fail_msg("%zu: %d %s", i, (int)status, err.condition);
        if (!strstr(err.detail, cases[i].detail)) fail_msg("%zu: %s", i, err.detail);
        assert_null(strstr(err.detail, "FSNamesystem.java"));
        if (strstr(err.message, "/t/x")) assert_non_null(strstr(err.message, "hdfs://nn:8020/t/x"));
        assert_int_equal(err.code, cases[i].http);
        assert_true(err.hint[0] != '\0');
    }
}

static void who_looks_below_a_file_finds_nothing(void **state) {
    const hdfs_store s = {.base = {.uri_prefix = "hdfs://nn:8020"}, .site = {.name = STR("hdfs://nn:8020")}};
    hdfs_answer answer = parse(*state, 403, REMOTE("AccessControlException", "/t/a (is not a directory)"));
    assert_int_equal(hdfs_failure_to_find(&s, &answer, "listing", STR("/t/a/x"), NULL), SILT_NOT_FOUND);
    answer = parse(*state, 403, REMOTE("AccessControlException", "Permission denied: user=bob"));
    assert_int_equal(hdfs_failure_to_find(&s, &answer, "listing", STR("/t/a/x"), NULL), SILT_DENIED);
}

static void redirects_in_both_forms(void **state) {
    const http_header location = {STR("location"), STR("http://dn:9864/webhdfs/v1/x?op=OPEN")};
    const http_response r = {.status = 307, .headers = (http_header *)(uintptr_t)&location, .n_headers = 1, .body = STR("")};
    hdfs_answer answer;
    assert_int_equal(hdfs_answer_parse(&r, *state, &answer, NULL), SILT_OK);
    assert_true(str_eqz(answer.location, "http://dn:9864/webhdfs/v1/x?op=OPEN"));
    answer = parse(*state, 200, "{\"Location\":\"http://dn:9864/webhdfs/v1/x?op=CREATE\"}");
    assert_true(str_eqz(answer.location, "http://dn:9864/webhdfs/v1/x?op=CREATE"));
    answer = parse(*state, 201, "{\"Location\":\"http://dn\"}");
    assert_true(str_is_null(answer.location));
    const http_response login = {.status = 302, .headers = (http_header *)(uintptr_t)&location, .n_headers = 1, .body = STR("")};
    assert_int_equal(hdfs_answer_parse(&login, *state, &answer, NULL), SILT_OK);
    assert_true(str_is_null(answer.location)); /* a gateway's login page is not the data */
}

#define FILE_A                                                                                                                                                                   \
    "{\"accessTime\":1796028293531,\"blockSize\":134217728,\"childrenNum\":0,\"fileId\":16387,\"group\":\"supergroup\",\"length\":3,\"modificationTime\":1796028294574,"         \
    "\"owner\":\"hdfs\",\"pathSuffix\":\"%\",\"permission\":\"644\",\"replication\":1,\"storagePolicy\":0,\"type\":\"FILE\"}"

static const char *file_named(arena *a, const char *name) {
    str text = STR(FILE_A);
    size_t at = str_find_char(text, '%');
    return arena_printf(a, "%.*s%s%s", (int)at, text.ptr, name, text.ptr + at + 1).ptr;
}

static void statuses_tell_size_time_kind_and_tag(void **state) {
    arena *a = *state;
    store_entry e;
    str body = arena_printf(a, "{\"FileStatus\":%s}", file_named(a, ""));
    assert_int_equal(hdfs_parse_status(body, STR("/t/a"), a, &e, NULL), SILT_OK);
    assert_true(str_eqz(e.path, "/t/a"));
    assert_int_equal(e.size_bytes, 3);
    assert_int_equal(e.modified_ms, 1796028294574);
    assert_false(e.is_dir);
    assert_true(str_eqz(e.tag, "16387-1796028294574-3"));
    assert_int_equal(hdfs_parse_file_id(body, a), 16387);
    assert_int_equal(hdfs_parse_status(STR("{\"FileStatus\":{\"length\":0,\"modificationTime\":0,\"type\":\"DIRECTORY\"}}"), STR("/"), a, &e, NULL), SILT_OK);
    assert_true(e.is_dir);
    static const char *const bad[] = {"", "[]", "{}", "{\"FileStatus\":{}}", "{\"FileStatus\":{\"length\":-1,\"modificationTime\":0,\"type\":\"FILE\"}}",
                                      "{\"FileStatus\":{\"length\":1,\"modificationTime\":0,\"type\":\"PIPE\"}}", "{\"FileStatus\":{\"length\":1,\"type\":\"FILE\"}}"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        silt_error err = {0};
        assert_int_equal(hdfs_parse_status(str_of(bad[i]), STR("/x"), a, &e, &err), SILT_IO);
        assert_string_equal(err.condition, "HDFS_ANSWER_INVALID");
    }
}

static void pages_tell_whether_more_follow(void **state) {
    arena *a = *state;
    hdfs_page page;
    str body = arena_printf(a, "{\"DirectoryListing\":{\"partialListing\":{\"FileStatuses\":{\"FileStatus\":[%s,%s]}},\"remainingEntries\":7}}", file_named(a, "a"), file_named(a, "b c"));
    assert_int_equal(hdfs_parse_page(body, STR("/t"), a, &page, NULL), SILT_OK);
    assert_int_equal(page.count, 2);
    assert_true(page.more && !page.is_file);
    assert_true(str_eqz(page.last, "b c"));
    assert_true(str_eqz(page.items[1].path, "/t/b c"));
    assert_int_equal(hdfs_parse_page(body, STR("/"), a, &page, NULL), SILT_OK);
    assert_true(str_eqz(page.items[0].path, "/a"));
    body = arena_printf(a, "{\"FileStatuses\":{\"FileStatus\":[%s]}}", file_named(a, ""));
    assert_int_equal(hdfs_parse_page(body, STR("/t/a"), a, &page, NULL), SILT_OK);
    assert_true(page.is_file);
    assert_int_equal(hdfs_parse_page(STR("{\"FileStatuses\":{\"FileStatus\":[]}}"), STR("/t"), a, &page, NULL), SILT_OK);
    assert_int_equal(page.count, 0);
    const char *const bad[] = {"", "{}", "{\"FileStatuses\":{\"FileStatus\":1}}", "{\"DirectoryListing\":{\"partialListing\":{\"FileStatuses\":{\"FileStatus\":[]}},\"remainingEntries\":1}}",
                               arena_printf(a, "{\"FileStatuses\":{\"FileStatus\":[%s]}}", file_named(a, "../x")).ptr};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) assert_int_equal(hdfs_parse_page(str_of(bad[i]), STR("/t"), a, &page, NULL), SILT_IO);
}

int main(void) {
    cmocka_set_message_output(CM_OUTPUT_TAP);
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(every_refusal_has_its_error), CASE(who_looks_below_a_file_finds_nothing), CASE(redirects_in_both_forms), CASE(statuses_tell_size_time_kind_and_tag),
        CASE(pages_tell_whether_more_follow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
