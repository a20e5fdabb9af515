/* Texts from outside on their way into statements, pages and out of JSON and TOML. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/cli.h"
#include "cli/json_text.h"
#include "cli/page.h"
#include "cli/toml_door.h"

static void expect(text_buf *b, const char *text) {
    assert_string_equal(b->ptr ? b->ptr : "", text);
    free(b->ptr);
    *b = (text_buf){0};
}

static void names(void **state) {
    static const struct {
        const char *name, *sql;
    } good[] = {
        {"t", "`t`"},         {"db.t", "`db`.`t`"},     {"`a b`.c", "`a b`.`c`"},
        {"`a``b`", "`a``b`"}, {"a`b", "`a``b`"},        {"a; DROP TABLE x", "`a; DROP TABLE x`"},
        {"é.ü", "`é`.`ü`"},   {"`a.b`.c", "`a.b`.`c`"},
    };
    static const char *const bad[] = {"", ".", "a.", ".a", "a..b", "`a", "`a`b", "`a` FULL", "`a``"};
    text_buf b = {0};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(sql_name(&b, good[i].name));
        expect(&b, good[i].sql);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(sql_name(&b, bad[i]));
        free(b.ptr);
        b = (text_buf){0};
    }
}

static void literals(void **state) {
    text_buf b = {0};
    (void)state;
    sql_literal(&b, "it's \\ a \"text\"");
    expect(&b, "'it\\'s \\\\ a \"text\"'");
}

static void retention(void **state) {
    static const struct {
        const char *text, *sql;
    } good[] = {{"168", " RETAIN 168 HOURS"}, {"168h", " RETAIN 168 HOURS"}, {"7d", " RETAIN 168 HOURS"},
                {"0.5d", " RETAIN 12 HOURS"}, {"0", " RETAIN 0 HOURS"},      {"2D", " RETAIN 48 HOURS"}};
    static const char *const bad[] = {"", "h", "-1", "1w", "1 h", "0x1", "1e3", "nan", "inf", "99999999", "1dd", "1..2"};
    text_buf b = {0};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(sql_retain(&b, good[i].text));
        expect(&b, good[i].sql);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (sql_retain(&b, bad[i])) fail_msg("'%s' was taken: %s", bad[i], b.ptr);
    }
}

static void page_escapes(void **state) {
    text_buf b = {0};
    (void)state;
    page_text(&b, "<a href=\"x\">'&'</a>\x01\n\x7f");
    expect(&b, "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;\xEF\xBF\xBD \xEF\xBF\xBD");
    page_text(&b, NULL);
    assert_null(b.ptr);
    page_number(&b, 1234567);
    expect(&b, "1,234,567");
    page_number(&b, -1234);
    expect(&b, "-1,234");
    page_bytes(&b, 1536);
    expect(&b, "1.5 KiB");
    page_bytes(&b, 0);
    expect(&b, "0 B");
    page_time(&b, 0);
    expect(&b, "1970-01-01 00:00");
}

static void add_member(void *ctx, const char *key, const char *text) {
    text_buf *b = ctx;
    text_printf(b, "%s=%s;", key, text);
}

static void json(void **state) {
    static const char object[] = "{\"a\":\"x\\\"y\\\\\\n\\u00e9\",\"list\":[\"p\",\"q,r\",3],\"none\":null,\"o\":{\"k}\":\"v]\","
                                 "\"n\":7,\"t\":[]},\"e\":\"\",\"last\":true}";
    text_buf b = {0};
    char *text;
    (void)state;
    assert_string_equal(text = json_member_text(object, "a"), "x\"y\\\n\xC3\xA9");
    free(text);
    assert_string_equal(text = json_member_text(object, "list"), "p, q,r, 3");
    free(text);
    assert_string_equal(text = json_member(object, "o"), "{\"k}\":\"v]\",\"n\":7,\"t\":[]}");
    free(text);
    assert_string_equal(text = json_member_text(object, "last"), "true");
    free(text);
    assert_string_equal(text = json_member_text(object, "e"), "");
    free(text);
    assert_null(json_member_text(object, "none"));
    assert_null(json_member(object, "k}"));
    assert_null(json_member("", "a"));
    json_each_member(object, "o", add_member, &b);
    expect(&b, "k}=v];n=7;t=;");
}

static void toml(void **state) {
    char error[200] = "";
    toml_node *root = toml_parse("a = 'x'\n[[t]]\nn = 3\nb = true\nl = ['p', 'q']\nd = 1979-05-27\n[[t]]\n", error, sizeof error);
    (void)state;
    assert_non_null(root);
    const toml_node *t = toml_get(root, "t");
    assert_int_equal(t->type, TOML_ARRAY);
    assert_int_equal(t->count, 2);
    assert_int_equal(toml_get(&t->items[0], "n")->integer, 3);
    assert_int_equal(toml_get(&t->items[0], "n")->line, 3);
    assert_true(toml_get(&t->items[0], "b")->boolean);
    assert_string_equal(toml_get(&t->items[0], "l")->items[1].text, "q");
    assert_int_equal(toml_get(&t->items[0], "d")->type, TOML_OTHER);
    assert_string_equal(t->items[0].items[0].key, "n");
    assert_null(toml_get(root, "nope"));
    assert_string_equal(toml_get(root, "a")->text, "x");
    toml_free(root);
    static const char *const bad[] = {"a = ", "a = 1\na = 2", "[t\n", "a = 'x", "= 1", "a = \"\\q\""};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        error[0] = '\0';
        assert_null(toml_parse(bad[i], error, sizeof error));
        assert_memory_equal(error, "line ", 5);
    }
    toml_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),        cmocka_unit_test(literals), cmocka_unit_test(retention),
        cmocka_unit_test(page_escapes), cmocka_unit_test(json),     cmocka_unit_test(toml),
    };
    return cmocka_run_group_tests_name("cli_texts", tests, NULL, NULL);
}
