/* Identifiers and checksums against the vectors of their specifications; the loop over threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <pthread.h>

#include "base/ident.h"
#include "base/thread.h"

static void uuids_are_version_4_and_differ(void **state) {
    (void)state;
    char first[37], second[37], again[37];
    uint8_t bytes[16];
    uuid_generate(first);
    uuid_generate(second);
    assert_string_not_equal(first, second);
    assert_int_equal(strlen(first), 36);
    assert_int_equal(first[14], '4');
    assert_non_null(strchr("89ab", first[19]));
    assert_true(uuid_parse(str_of(first), bytes));
    uuid_format(bytes, again);
    assert_string_equal(first, again);
    assert_true(uuid_parse(STR("F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6"), bytes));
    uuid_format(bytes, again);
    assert_string_equal(again, "f81d4fae-7dec-11d0-a765-00a0c91e6bf6");
    assert_false(uuid_parse(STR("f81d4fae-7dec-11d0-a765-00a0c91e6bf"), bytes));
    assert_false(uuid_parse(STR("f81d4fae-7dec-11d0-a765-00a0c91e6bfg"), bytes));
    assert_false(uuid_parse(STR("f81d4fae07dec-11d0-a765-00a0c91e6bf6"), bytes));
}

static void z85(void **state) {
    (void)state;
    static const uint8_t hello[] = {0x86, 0x4f, 0xd2, 0x6f, 0xb5, 0x59, 0xf7, 0x5b}; /* the RFC's vector */
    char text[11] = {0};
    uint8_t bytes[8];
    size_t len;
    assert_true(z85_encode(hello, 8, text));
    assert_string_equal(text, "HelloWorld");
    assert_true(z85_decode(STR("HelloWorld"), bytes, sizeof bytes, &len));
    assert_int_equal(len, 8);
    assert_memory_equal(bytes, hello, 8);
    assert_false(z85_encode(hello, 7, text));
    assert_false(z85_decode(STR("Hello"), bytes, 3, &len));
    assert_false(z85_decode(STR("Hell"), bytes, sizeof bytes, &len));
    assert_false(z85_decode(STR("Hell\""), bytes, sizeof bytes, &len));
    assert_false(z85_decode(STR("Hell\0"), bytes, sizeof bytes, &len));
    assert_false(z85_decode(STR("#####"), bytes, sizeof bytes, &len)); /* 85^5 - 1 does not fit 32 bits */
    assert_true(z85_decode(STR("%nSc0"), bytes, sizeof bytes, &len));
    assert_memory_equal(bytes, "\xff\xff\xff\xff", 4);
    assert_true(z85_decode(STR(""), bytes, 0, &len) && len == 0);
}

static void base64(void **state) {
    (void)state;
    static const char *const cases[][2] = {{"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"fooba", "Zm9vYmE="}, {"foobar", "Zm9vYmFy"},
                                           {"\xff\xfe\xfb", "//77"}}; /* RFC 4648, section 10 */
    static const char *const bad[] = {"Z", "Zg", "Zg=", "Zg===", "Z===", "Zh==", "Zm9=", "Zm9v=", "Zm 9", "Zg==Zg==", "Zm9-", "===="};
    buf b;
    buf_init(&b, 100);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        buf_clear(&b);
        base64_write(&b, (const uint8_t *)cases[i][0], strlen(cases[i][0]));
        assert_true(str_eqz(buf_str(&b), cases[i][1]));
        buf_clear(&b);
        assert_true(base64_decode(str_of(cases[i][1]), &b));
        assert_true(str_eqz(buf_str(&b), cases[i][0]));
    }
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        buf_clear(&b);
        if (base64_decode(str_of(bad[i]), &b)) fail_msg("accepted: %s", bad[i]);
    }
    buf_dispose(&b);
}

static void checksums(void **state) {
    (void)state;
    static const char *const md5[][2] = {{"", "d41d8cd98f00b204e9800998ecf8427e"}, {"abc", "900150983cd24fb0d6963f7d28e17f72"},
                                         {"message digest", "f96b697d7cb7938d525a2f31aaf161d0"},
                                         {"12345678901234567890123456789012345678901234567890123456789012345678901234567890", "57edf4a22be3c955ac49da2e2107b67a"},
                                         {"1234567890123456789012345678901234567890123456789012345", "c9ccf168914a1bcfc3229f1948e67da0"},
                                         {"12345678901234567890123456789012345678901234567890123456", "49f193adce178490e34d1b3a4ec0064c"}};
    char hex[33];
    for (size_t i = 0; i < 4; i++) {
        md5_hex(md5[i][0], strlen(md5[i][0]), hex);
        assert_string_equal(hex, md5[i][1]); /* RFC 1321, appendix 5 */
    }
    for (size_t i = 4; i < ARRAY_LEN(md5); i++) { /* md5sum: the padding's edge */
        md5_hex(md5[i][0], strlen(md5[i][0]), hex);
        assert_string_equal(hex, md5[i][1]);
    }
    assert_int_equal(crc32_of("123456789", 9), 0xcbf43926);
    assert_int_equal(crc32_of(NULL, 0), 0);
}

/* ---- threads ---- */

typedef struct counts {
    unsigned char seen[5000];
    size_t fail_from;
    pthread_mutex_t lock;
} counts;

static silt_status visit(void *ctx, size_t i, silt_error *err) {
    counts *c = ctx;
    pthread_mutex_lock(&c->lock);
    c->seen[i]++;
    pthread_mutex_unlock(&c->lock);
    if (i >= c->fail_from) return err_DELTA_NO_COMMITS_FOUND(err, i == c->fail_from ? STR("first") : STR("later"));
    return SILT_OK;
}

static void every_index_is_visited_once(void **state) {
    (void)state;
    for (int threads = 0; threads <= 16; threads += 4) {
        counts c = {.fail_from = SIZE_MAX, .lock = PTHREAD_MUTEX_INITIALIZER};
        assert_int_equal(thread_for(threads, ARRAY_LEN(c.seen), visit, &c, NULL), SILT_OK);
        for (size_t i = 0; i < ARRAY_LEN(c.seen); i++) assert_int_equal(c.seen[i], 1);
        assert_int_equal(thread_for(threads, 0, visit, &c, NULL), SILT_OK);
        assert_int_equal(thread_for(threads, 1, visit, &c, NULL), SILT_OK);
        assert_int_equal(c.seen[0], 2);
    }
}

static void the_lowest_failure_is_returned_and_ends_it(void **state) {
    (void)state;
    for (int threads = 1; threads <= 8; threads++) {
        counts c = {.fail_from = 100, .lock = PTHREAD_MUTEX_INITIALIZER};
        silt_error err = {0};
        assert_int_equal(thread_for(threads, ARRAY_LEN(c.seen), visit, &c, &err), SILT_NOT_FOUND);
        assert_non_null(strstr(err.message, "first"));
        for (size_t i = 0; i <= 100; i++) assert_int_equal(c.seen[i], 1);
        size_t beyond = 0;
        for (size_t i = 101; i < ARRAY_LEN(c.seen); i++) beyond += c.seen[i];
        assert_true(beyond < 100); /* at most what was under way */
        assert_int_equal(thread_for(threads, ARRAY_LEN(c.seen), visit, &c, NULL), SILT_NOT_FOUND);
    }
}

static void cancellation(void **state) {
    (void)state;
    cancel_token token = {0};
    silt_error err = {0};
    assert_int_equal(cancel_check(NULL, &err), SILT_OK);
    assert_int_equal(cancel_check(&token, &err), SILT_OK);
    cancel_request(&token, true);
    assert_int_equal(cancel_check(&token, &err), SILT_CANCELLED);
    assert_string_equal(err.condition, "OPERATION_CANCELLED");
    assert_true(thread_count_default() >= 1);
}

int main(void) {
    cmocka_set_message_output(CM_OUTPUT_TAP);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uuids_are_version_4_and_differ),
        cmocka_unit_test(z85),
        cmocka_unit_test(base64),
        cmocka_unit_test(checksums),
        cmocka_unit_test(every_index_is_visited_once),
        cmocka_unit_test(the_lowest_failure_is_returned_and_ends_it),
        cmocka_unit_test(cancellation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
