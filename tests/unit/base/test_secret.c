/* What is covered in a text that may be shown, and what is left as it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/error.h"
#include "base/secret.h"

typedef struct text_case {
    const char *before, *after;
} text_case;

static void assert_masked(const text_case *cases, size_t n, bool statement) {
    char text[512];
    for (size_t i = 0; i < n; i++) {
        snprintf(text, sizeof text, "%s", cases[i].before);
        bool any = secret_mask(text, strlen(text), statement);
        assert_string_equal(text, cases[i].after);
        assert_int_equal(any, strcmp(cases[i].before, cases[i].after) != 0);
    }
}

static void statements(void **state) {
    static const text_case cases[] = {
        {"SET fs.s3a.secret.key=hush;", "SET fs.s3a.secret.key=****;"},
        {"SETT fs.s3a.secret.key = hush hush", "SETT fs.s3a.secret.key = *********"},
        {"set FS.S3A.SECRET.KEY='hush", "set FS.S3A.SECRET.KEY='****"},
        {"SET `fs.s3a.secret.key`=hush", "SET `fs.s3a.secret.key`=****"},
        {"SET fs.s3a.secret.key hush", "SET fs.s3a.secret.key ****"},
        {"SET fs.azure.sas.fixed.token=sv=1&sig=a; SELECT 1", "SET fs.azure.sas.fixed.token=**********; SELECT 1"},
        {"SET k.private.key=one\ntwo;", "SET k.private.key=***\n***;"},
        {"OPTIONS ('password' = 'hush', 'user' 'u')", "OPTIONS ('password' = '****', 'user' 'u')"},
        {"SELECT * FROM delta.`https://h/t?sv=1&sig=x` WHERE a", "SELECT * FROM delta.`https://h/t?**********` WHERE a"},
        {"SELECT * FROM delta.`s3a://key:hush@b/t`", "SELECT * FROM delta.`s3a://key:****@b/t`"},
        {"SET fs.s3a.secret.key", "SET fs.s3a.secret.key"},
        {"SET fs.s3a.secret.key=", "SET fs.s3a.secret.key="},
        {"SELECT token FROM t WHERE id = 1", "SELECT token FROM t WHERE id = 1"},
        {"SELECT * FROM delta.`abfss://c@a.dfs.core.windows.net/t?x`", "SELECT * FROM delta.`abfss://c@a.dfs.core.windows.net/t?x`"},
        {"SET fs.s3a.endpoint=http://h:1/", "SET fs.s3a.endpoint=http://h:1/"},
        {"", ""},
        {"://", "://"},
        {"secret", "secret"},
        {"secret=", "secret="},
        {"http://", "http://"},
    };
    (void)state;
    assert_masked(cases, ARRAY_LEN(cases), true);
}

static void lines(void **state) {
    static const text_case cases[] = {
        {"SET fs.s3a.secret.key=a b\n    ^", "SET fs.s3a.secret.key=***\n    ^"},
        {"Set fs.s3a.access.key and fs.s3a.secret.key, or a profile", "Set fs.s3a.access.key and fs.s3a.secret.key, or a profile"},
        {"GET https://h:8/x?X-Amz-Signature=aa failed", "GET https://h:8/x?****************** failed"},
        {"failed (Reading https://h/x%3Fsig%3Daa/_delta_log)", "failed (Reading https://h/x%3F*******************)"},
        {"x?list&X-Amz-Signature=aabb&y=1", "x?list&X-Amz-Signature=****&y=1"},
        {"{\"client_secret\":\"hush\"}", "{\"client_secret\":\"****\"}"},
        {"a token: expected )", "a token: expected )"},
    };
    (void)state;
    assert_masked(cases, ARRAY_LEN(cases), false);
}

static void errors_cover_them(void **state) {
    silt_error err;
    (void)state;
    (void)err_FILE_NOT_FOUND(&err, STR("https://h/t?sig=hush"));
    error_detail(&err, "SET fs.s3a.secret.key=hush\n  ^");
    assert_null(strstr(err.message, "hush"));
    assert_non_null(strstr(err.message, "https://h/t?"));
    assert_string_equal(err.detail, "SET fs.s3a.secret.key=****\n  ^");
}

int main(void) {
    cmocka_set_message_output(CM_OUTPUT_TAP);
    const struct CMUnitTest tests[] = {cmocka_unit_test(statements), cmocka_unit_test(lines), cmocka_unit_test(errors_cover_them)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
