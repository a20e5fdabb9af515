/*
 * Which servers an HDFS location means: Hadoop's configuration files, settings over them, name services, tokens. The forms are those of Hadoop's documentation (HDFS High Availability,
 * WebHDFS REST API) and of its defaults (hdfs-default.xml); the credentials file was put together by hand after the form that Hadoop writes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/ident.h"
#include "store/hdfs/hdfs.h"

typedef struct pair {
    const char *key, *value;
} pair;

static str get_pair(void *ctx, const char *key) {
    for (const pair *p = ctx; p && p->key; p++)
        if (strcmp(p->key, key) == 0) return str_of(p->value);
    return STR_NULL;
}

static int set_up(void **state) {
    static const char *const variables[] = {"HADOOP_CONF_DIR", "HADOOP_HOME", "HADOOP_TOKEN", "HADOOP_TOKEN_FILE_LOCATION", "HADOOP_USER_NAME", "HADOOP_PROXY_USER"};
    for (size_t i = 0; i < ARRAY_LEN(variables); i++) unsetenv(variables[i]);
    *state = arena_new();
    return *state == NULL;
}

static int tear_down(void **state) {
    arena_free(*state);
    return 0;
}

static hdfs_conf conf_of(arena *a, pair *pairs, const char *xml) {
    store_settings *settings = arena_alloc(a, sizeof *settings);
    hdfs_conf c;
    silt_error err = {0};
    *settings = (store_settings){.get = get_pair, .ctx = pairs};
    assert_int_equal(hdfs_conf_load(settings, NULL, a, &c, NULL), SILT_OK);
    if (xml && hdfs_conf_parse(&c, str_of(xml), STR("/conf/hdfs-site.xml"), &err) != SILT_OK) fail_msg("%s %s", err.message, err.detail);
    return c;
}

#define PROPERTY(name, value) "<property><name>" name "</name><value>" value "</value></property>"
#define CONFIGURATION(properties) "<?xml version=\"1.0\"?><configuration>" properties "</configuration>"

/* ---- files ---- */

static void assert_value(const hdfs_conf *c, const char *key, const char *expected) {
    str value = hdfs_conf_get(c, key);
    if (!expected) {
        assert_true(str_is_null(value));
        return;
    }
    if (!str_eqz(value, expected)) fail_msg("%s: '%.*s' instead of '%s'", key, STR_ARG(value), expected);
}

static void properties_are_read_as_hadoop_writes_them(void **state) {
    hdfs_conf c = conf_of(*state, NULL,
                          "<?xml version=\"1.0\"?>\n<!-- a comment -->\n<configuration>\n<property>\n <name> a.b </name>\n <value>\n  one &amp; two </value>\n"
                          " <description>x</description></property>" PROPERTY("c", "<![CDATA[<d>]]>") "<property name=\"e\" value=\"f\"/>"
                          "<property><name>without.value</name></property>" PROPERTY("empty", "") PROPERTY("a.b", "later") "</configuration>");
    assert_value(&c, "a.b", "later");
    assert_value(&c, "c", "<d>");
    assert_value(&c, "e", "f");
    assert_value(&c, "empty", "");
    assert_value(&c, "without.value", NULL);
    assert_value(&c, "none", NULL);
}

static void final_properties_keep_their_value(void **state) {
    hdfs_conf c = conf_of(*state, NULL, CONFIGURATION("<property><name>k</name><value>first</value><final>true</final></property>" PROPERTY("k", "second")));
    assert_value(&c, "k", "first");
}

static void the_sessions_settings_come_first(void **state) {
    pair pairs[] = {{"k", "session"}, {"spark.hadoop.j", "spark"}, {NULL, NULL}};
    hdfs_conf c = conf_of(*state, pairs, CONFIGURATION(PROPERTY("k", "file") PROPERTY("j", "file") PROPERTY("i", "file")));
    assert_value(&c, "k", "session");
    assert_value(&c, "j", "spark");
    assert_value(&c, "i", "file");
}

static void values_refer_to_others(void **state) {
    setenv("SILT_TEST_HOST", "h1", 1);
    hdfs_conf c = conf_of(*state, NULL, CONFIGURATION(PROPERTY("host", "${env.SILT_TEST_HOST}") PROPERTY("address", "${host}:${port}/${none}") PROPERTY("port", "98")
                                                          PROPERTY("loop", "x${loop}") PROPERTY("open", "${host")));
    assert_value(&c, "address", "h1:98/${none}");
    assert_value(&c, "open", "${host");
    assert_true(hdfs_conf_get(&c, "loop").len < 1000); /* ends */
    unsetenv("SILT_TEST_HOST");
}

static void what_is_no_configuration_is_refused(void **state) {
    static const char *const bad[] = {"", "x", "<configuration>", "<other/>", "<configuration><property></configuration>",
                                      "<configuration><xi:include xmlns:xi=\"http://www.w3.org/2001/XInclude\" href=\"http://x/y\"/></configuration>"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        hdfs_conf c = {.arena = *state};
        silt_error err = {0};
        assert_int_equal(hdfs_conf_parse(&c, str_of(bad[i]), STR("/conf/core-site.xml"), &err), SILT_INVALID);
        assert_string_equal(err.condition, "HDFS_CONFIGURATION_INVALID");
        assert_non_null(strstr(err.message, "/conf/core-site.xml"));
    }
}

/* A value must not become the content of another file. */
static void entities_are_not_followed(void **state) {
    hdfs_conf c = conf_of(*state, NULL, "<?xml version=\"1.0\"?><!DOCTYPE c [<!ENTITY secret SYSTEM \"file:///etc/hostname\">]>"
                                        "<configuration><property><name>k</name><value>a&secret;b</value></property></configuration>");
    assert_value(&c, "k", "ab");
}

static void write_file(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    assert_int_equal(fclose(f), 0);
}

static void files_of_the_folder_are_read_in_order(void **state) {
    arena *a = *state;
    char folder[] = "/tmp/silt-hadoop-XXXXXX";
    hdfs_conf c;
    silt_error err = {0};
    assert_non_null(mkdtemp(folder));
    setenv("HADOOP_CONF_DIR", "/nowhere/conf", 1);
    assert_int_equal(hdfs_conf_load(NULL, NULL, a, &c, &err), SILT_INVALID);
    assert_string_equal(err.condition, "HDFS_CONFIGURATION_INVALID");
    assert_non_null(strstr(err.message, "/nowhere/conf"));
    setenv("HADOOP_CONF_DIR", folder, 1);
    assert_int_equal(hdfs_conf_load(NULL, NULL, a, &c, NULL), SILT_OK); /* empty: nothing is set */
    assert_int_equal(c.count, 0);
    str core = arena_printf(a, "%s/core-site.xml", folder), hdfs = arena_printf(a, "%s/hdfs-site.xml", folder), more = arena_printf(a, "%s/more.xml", folder);
    write_file(core.ptr, CONFIGURATION(PROPERTY("fs.defaultFS", "hdfs://ns1") PROPERTY("k", "core")));
    write_file(hdfs.ptr, "<configuration><xi:include xmlns:xi=\"http://www.w3.org/2001/XInclude\" href=\"more.xml\"/>" PROPERTY("k", "hdfs") "</configuration>");
    assert_int_equal(hdfs_conf_load(NULL, NULL, a, &c, &err), SILT_INVALID); /* what is included is missing */
    assert_non_null(strstr(err.message, "more.xml"));
    write_file(more.ptr, CONFIGURATION(PROPERTY("m", "included")));
    assert_int_equal(hdfs_conf_load(NULL, NULL, a, &c, NULL), SILT_OK);
    assert_value(&c, "fs.defaultFS", "hdfs://ns1");
    assert_value(&c, "k", "hdfs");
    assert_value(&c, "m", "included");
    write_file(more.ptr, "<configuration><xi:include xmlns:xi=\"http://www.w3.org/2001/XInclude\" href=\"more.xml\"/></configuration>");
    assert_int_equal(hdfs_conf_load(NULL, NULL, a, &c, NULL), SILT_INVALID); /* a circle */
    unlink(core.ptr);
    unlink(hdfs.ptr);
    unlink(more.ptr);
    rmdir(folder);
    unsetenv("HADOOP_CONF_DIR");
}

/* ---- addresses ---- */

#define HA                                                                                                                                  \
    PROPERTY("dfs.nameservices", "ns1, ns2")                                                                                                 \
    PROPERTY("dfs.ha.namenodes.ns1", "nn1,nn2")                                                                                              \
    PROPERTY("dfs.namenode.rpc-address.ns1.nn1", "a:8020") PROPERTY("dfs.namenode.rpc-address.ns1.nn2", "b:8020")                            \
    PROPERTY("dfs.namenode.http-address.ns1.nn1", "a:50070") PROPERTY("dfs.namenode.http-address.ns1.nn2", "0.0.0.0:50071")                  \
    PROPERTY("dfs.namenode.https-address.ns1.nn1", "a:50470")                                                                                \
    PROPERTY("dfs.namenode.rpc-address.ns2", "c:8020") PROPERTY("dfs.namenode.http-address.ns2", "c:1234")
#define ONE PROPERTY("fs.defaultFS", "hdfs://n:9000") PROPERTY("dfs.namenode.http-address", "0.0.0.0:9999")

static void services_by_authority_and_configuration(void **state) {
    static const struct {
        hdfs_kind kind;
        const char *authority, *xml, *key, *value, *expected;
    } cases[] = {
        {HDFS_BY_RPC, "nn:8020", "", NULL, NULL, "http://nn:9870/webhdfs/v1"},
        {HDFS_BY_RPC, "nn", "", NULL, NULL, "http://nn:9870/webhdfs/v1"},
        {HDFS_BY_RPC, "nn:8020", PROPERTY("dfs.http.policy", "HTTPS_ONLY"), NULL, NULL, "https://nn:9871/webhdfs/v1"},
        {HDFS_BY_HTTP, "nn:1234", "", NULL, NULL, "http://nn:1234/webhdfs/v1"},
        {HDFS_BY_HTTP, "nn", "", NULL, NULL, "http://nn:9870/webhdfs/v1"},
        {HDFS_BY_HTTPS, "nn", "", NULL, NULL, "https://nn:9871/webhdfs/v1"},
        {HDFS_BY_HTTPS, "[::1]:99", "", NULL, NULL, "https://[::1]:99/webhdfs/v1"},
        {HDFS_BY_RPC, "[fe80::1]", "", NULL, NULL, "http://[fe80::1]:9870/webhdfs/v1"},
        {HDFS_BY_RPC, "ns1", HA, NULL, NULL, "http://a:50070/webhdfs/v1 http://b:50071/webhdfs/v1"},
        {HDFS_BY_HTTP, "ns1", HA, NULL, NULL, "http://a:50070/webhdfs/v1 http://b:50071/webhdfs/v1"},
        {HDFS_BY_HTTPS, "ns1", HA, NULL, NULL, "https://a:50470/webhdfs/v1 https://b:9871/webhdfs/v1"},
        {HDFS_BY_RPC, "b:8020", HA, NULL, NULL, "http://b:50071/webhdfs/v1"}, /* one of the two, by its own address */
        {HDFS_BY_RPC, "c:8020", HA, NULL, NULL, "http://c:1234/webhdfs/v1"},
        {HDFS_BY_RPC, "ns2", HA, NULL, NULL, "http://c:1234/webhdfs/v1"},
        {HDFS_BY_RPC, "d:8020", HA, NULL, NULL, "http://d:9870/webhdfs/v1"},
        {HDFS_BY_RPC, "n:9000", ONE, NULL, NULL, "http://n:9999/webhdfs/v1"},
        {HDFS_BY_RPC, "", ONE, NULL, NULL, "http://n:9999/webhdfs/v1"}, /* hdfs:///x */
        {HDFS_BY_RPC, "other:9000", ONE, NULL, NULL, "http://other:9870/webhdfs/v1"},
        {HDFS_BY_RPC, "nn:8020", "", "dfs.namenode.http-address", "nn:9999", "http://nn:9999/webhdfs/v1"}, /* nothing else is told */
        {HDFS_BY_RPC, "other:8020", "", "dfs.namenode.http-address", "nn:9999", "http://other:9870/webhdfs/v1"},
        {HDFS_BY_RPC, "nn:8020", "", "silt.hdfs.nn:8020.http", "gw:14000", "http://gw:14000/webhdfs/v1"},
        {HDFS_BY_RPC, "nn:8020", "", "spark.hadoop.silt.hdfs.nn.http", "https://knox:8443/gateway/default/", "https://knox:8443/gateway/default/webhdfs/v1"},
        {HDFS_BY_RPC, "ns1", HA, "silt.hdfs.ns1.http", "http://x:1/webhdfs/v1, y:2", "http://x:1/webhdfs/v1 http://y:2/webhdfs/v1"},
    };
    arena *a = *state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        pair pairs[] = {{cases[i].key, cases[i].value}, {NULL, NULL}};
        str xml = arena_printf(a, "<configuration>%s</configuration>", cases[i].xml);
        hdfs_conf c = conf_of(a, pairs, xml.ptr);
        hdfs_site site = {0};
        silt_error err = {0};
        if (hdfs_site_services(cases[i].kind, str_of(cases[i].authority), &c, a, &site, &err) != SILT_OK) fail_msg("%zu: %s", i, err.message);
        buf text;
        buf_init(&text, 10000);
        for (size_t k = 0; k < site.n_services; k++) {
            if (k) buf_append_char(&text, ' ');
            buf_append(&text, site.services[k]);
        }
        assert_string_equal(buf_cstr(&text), cases[i].expected);
        buf_dispose(&text);
    }
}

static void what_names_no_server_is_refused(void **state) {
    static const char *const bad[] = {"user@host", "host:0", "host:65536", "host:x", "host:", ":8020", "ho st", "h/x", "h?x", "[::1", "::1", "h\n", "a,b", "[]x:1"};
    arena *a = *state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        hdfs_conf c = conf_of(a, NULL, NULL);
        hdfs_site site = {0};
        silt_error err = {0};
        assert_int_equal(hdfs_site_services(HDFS_BY_RPC, str_of(bad[i]), &c, a, &site, &err), SILT_INVALID);
        assert_null(strstr(err.message, "user"));
    }
    hdfs_conf c = conf_of(a, NULL, CONFIGURATION(PROPERTY("fs.defaultFS", "file:///")));
    hdfs_site site = {0};
    silt_error err = {0};
    assert_int_equal(hdfs_site_services(HDFS_BY_RPC, STR(""), &c, a, &site, &err), SILT_INVALID);
    assert_string_equal(err.condition, "HDFS_NO_NAMENODE");
    pair secret[] = {{"silt.hdfs.h.http", "http://u:p@x:1"}, {NULL, NULL}};
    c = conf_of(a, secret, NULL);
    assert_int_equal(hdfs_site_services(HDFS_BY_RPC, STR("h"), &c, a, &site, &err), SILT_INVALID);
    assert_null(strstr(err.message, "u:p"));
}

/* ---- how files are made ---- */

static void umasks_in_both_forms(void **state) {
    static const struct {
        const char *text;
        int expected; /* -1: none */
    } cases[] = {{"022", 022}, {"0027", 027}, {"0", 0}, {"777", 0777}, {"u=rwx,g=rx,o=rx", 022}, {"u=rwx,g=r-x,o=---", 027}, {"u=rwx,g=,o=", 077},
                 {"a=rwx", 0}, {"go=", 077}, {"8", -1}, {"", -1}, {"u=q", -1}, {"x=r", -1}, {"07777", -1}, {"-1", -1}, {"=r", -1}};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        unsigned mask = 0;
        bool ok = hdfs_umask_parse(str_of(cases[i].text), &mask);
        if (ok != (cases[i].expected >= 0) || (ok && mask != (unsigned)cases[i].expected)) fail_msg("%s: %o", cases[i].text, mask);
    }
}

static hdfs_site resolve(arena *a, pair *pairs, const char *xml, const char *authority) {
    hdfs_conf c = conf_of(a, pairs, xml);
    hdfs_site site;
    silt_error err = {0};
    if (hdfs_site_resolve(HDFS_BY_RPC, str_of(authority), &c, a, &site, &err) != SILT_OK) fail_msg("%s %s", err.message, err.detail);
    return site;
}

static void new_files_get_the_settings_of_hadoop(void **state) {
    pair pairs[] = {{"dfs.blocksize", "64m"}, {"spark.hadoop.dfs.replication", "2"}, {"fs.permissions.umask-mode", "027"}, {NULL, NULL}};
    hdfs_site site = resolve(*state, pairs, NULL, "nn:8020");
    assert_string_equal(site.file_params.ptr, "&blocksize=67108864&replication=2&permission=640&unmaskedpermission=666");
    assert_string_equal(site.folder_params.ptr, "&permission=750&unmaskedpermission=777");
    site = resolve(*state, NULL, NULL, "nn:8020");
    assert_string_equal(site.file_params.ptr, ""); /* the server's own */
    static const pair bad[] = {{"dfs.blocksize", "many"}, {"dfs.blocksize", "-1"}, {"dfs.replication", "0"}, {"fs.permissions.umask-mode", "u+x"}};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        pair one[] = {bad[i], {NULL, NULL}};
        hdfs_conf c = conf_of(*state, one, NULL);
        assert_int_equal(hdfs_site_resolve(HDFS_BY_RPC, STR("nn"), &c, *state, &site, NULL), SILT_INVALID);
    }
}

/* ---- who asks ---- */

static void the_user_is_told_by_setting_and_environment(void **state) {
    pair pairs[] = {{"silt.hdfs.user", "an a&b"}, {NULL, NULL}};
    setenv("HADOOP_USER_NAME", "eve", 1);
    assert_string_equal(resolve(*state, pairs, NULL, "nn").login.ptr, "&user.name=an%20a%26b");
    assert_string_equal(resolve(*state, NULL, NULL, "nn").login.ptr, "&user.name=eve");
    setenv("HADOOP_PROXY_USER", "bob", 1);
    assert_string_equal(resolve(*state, NULL, NULL, "nn").login.ptr, "&user.name=eve&doas=bob");
    unsetenv("HADOOP_USER_NAME");
    unsetenv("HADOOP_PROXY_USER");
    assert_true(str_starts_with(resolve(*state, NULL, NULL, "nn").login, STR("&user.name="))); /* the login name */
    hdfs_site site = resolve(*state, NULL, CONFIGURATION(PROPERTY("hadoop.security.authentication", "kerberos")), "nn");
    assert_true(site.negotiate);
    assert_string_equal(site.login.ptr, "");
}

static void a_token_stands_for_the_user(void **state) {
    pair pairs[] = {{"silt.hdfs.nn:8020.token", "its+own"}, {"silt.hdfs.token", "all"}, {"hadoop.security.authentication", "kerberos"}, {NULL, NULL}};
    hdfs_site site = resolve(*state, pairs, NULL, "nn:8020");
    assert_string_equal(site.login.ptr, "&delegation=its%2Bown");
    assert_false(site.negotiate);
    assert_string_equal(resolve(*state, pairs, NULL, "other:8020").login.ptr, "&delegation=all");
    setenv("HADOOP_TOKEN", "environment", 1);
    assert_string_equal(resolve(*state, NULL, NULL, "nn").login.ptr, "&delegation=environment");
    unsetenv("HADOOP_TOKEN");
}

static void append_counted(buf *b, const char *text) {
    buf_append_char(b, (char)strlen(text));
    buf_append_z(b, text);
}

static void append_token(buf *b, const char *alias, const char *identifier, const char *kind, const char *service) {
    append_counted(b, alias);
    append_counted(b, identifier);
    append_counted(b, "pw");
    append_counted(b, kind);
    append_counted(b, service);
}

/* What the token is to WebHDFS: its bytes in URL-safe base64. */
static str expected_token(arena *a, const char *identifier, const char *kind, const char *service) {
    buf b, text;
    buf_init(&b, 10000);
    buf_init(&text, 10000);
    append_counted(&b, identifier);
    append_counted(&b, "pw");
    append_counted(&b, kind);
    append_counted(&b, service);
    base64_write(&text, (const uint8_t *)b.ptr, b.len);
    while (text.len && text.ptr[text.len - 1] == '=') text.len--;
    for (size_t i = 0; i < text.len; i++) text.ptr[i] = text.ptr[i] == '+' ? '-' : text.ptr[i] == '/' ? '_' : text.ptr[i];
    str out = arena_str(a, buf_str(&text));
    buf_dispose(&b);
    buf_dispose(&text);
    return out;
}

static void tokens_are_found_in_a_credentials_file(void **state) {
    arena *a = *state;
    buf b;
    buf_init(&b, 10000);
    buf_append_bytes(&b, "HDTS\0\x04", 6);
    append_token(&b, "x", "yarn?>~", "YARN_AM_RM_TOKEN", "nn:8020");
    append_token(&b, "ha-hdfs:ns9", "one", "HDFS_DELEGATION_TOKEN", "ha-hdfs:ns9");
    append_token(&b, "y", "two\xfb\xff\xfe", "WEBHDFS delegation", "nn:8020");
    append_token(&b, "z", "three", "HDFS_DELEGATION_TOKEN", "c:8020");
    str file = buf_str(&b);
    assert_true(str_eq(hdfs_token_find(file, STR("nn:8020"), a), expected_token(a, "two\xfb\xff\xfe", "WEBHDFS delegation", "nn:8020")));
    assert_true(str_eq(hdfs_token_find(file, STR("c:8020"), a), expected_token(a, "three", "HDFS_DELEGATION_TOKEN", "c:8020")));
    assert_true(str_eq(hdfs_token_find(file, STR("ns9"), a), expected_token(a, "one", "HDFS_DELEGATION_TOKEN", "ha-hdfs:ns9")));
    assert_true(str_eq(hdfs_token_find(file, STR("unknown"), a), expected_token(a, "one", "HDFS_DELEGATION_TOKEN", "ha-hdfs:ns9"))); /* the first */
    for (size_t n = 0; n < file.len; n++) { /* cut anywhere: a whole token before the cut, or none */
        char *copy = malloc(n ? n : 1);
        assert_non_null(copy);
        memcpy(copy, file.ptr, n);
        (void)hdfs_token_find((str){copy, n}, STR("c:8020"), a);
        free(copy);
    }
    assert_true(str_is_null(hdfs_token_find(STR("HDTS\x01"), STR("x"), a))); /* another version */
    assert_true(str_is_null(hdfs_token_find(STR("PK\x03\x04"), STR("x"), a)));
    buf_dispose(&b);
}

/* ---- URLs ---- */

static void urls_hold_encoded_paths_and_the_login_last(void **state) {
    arena *a = *state;
    const hdfs_site site = {.login = STR("&user.name=u")};
    const hdfs_request r = {.op = "OPEN", .path = STR("/a b/p=1%25/c+d;e?f#g"), .params = STR("&offset=5")};
    assert_string_equal(hdfs_url(&site, STR("http://h:1/webhdfs/v1"), &r, a).ptr,
                        "http://h:1/webhdfs/v1/a%20b/p%3D1%2525/c%2Bd%3Be%3Ff%23g?op=OPEN&offset=5&user.name=u");
    const hdfs_request root = {.op = "LISTSTATUS", .path = STR("/")};
    assert_string_equal(hdfs_url(&site, STR("http://h:1/webhdfs/v1"), &root, a).ptr, "http://h:1/webhdfs/v1/?op=LISTSTATUS&user.name=u");
}

static void paths_that_another_would_be_read_for_are_refused(void **state) {
    (void)state;
    assert_non_null(hdfs_path_refused(STR("/a/../b")));
    assert_non_null(hdfs_path_refused(STR("/.")));
    assert_non_null(hdfs_path_refused(STR("/a\xff")));
    assert_null(hdfs_path_refused(STR("/..a/b..")));
    assert_null(hdfs_path_refused(STR("/.snapshot/s1/x")));
    assert_null(hdfs_path_refused(STR("/")));
}

static void redirects_stay_within_what_was_asked_for(void **state) {
    (void)state;
    assert_null(hdfs_redirect_refused(STR("http://nn:9870/webhdfs/v1"), STR("http://dn1:9864/webhdfs/v1/x?op=OPEN")));
    assert_null(hdfs_redirect_refused(STR("http://nn:9870/webhdfs/v1"), STR("https://dn1:9864/webhdfs/v1/x")));
    assert_non_null(hdfs_redirect_refused(STR("https://nn:9871/webhdfs/v1"), STR("http://dn1:9864/webhdfs/v1/x")));
    assert_non_null(hdfs_redirect_refused(STR("http://nn"), STR("file:///etc/passwd")));
    assert_non_null(hdfs_redirect_refused(STR("http://nn"), STR("/relative")));
    assert_non_null(hdfs_redirect_refused(STR("http://nn"), STR("")));
    assert_non_null(hdfs_redirect_refused(STR("http://nn"), STR("http://u:p@h/x")));
    assert_non_null(hdfs_redirect_refused(STR("http://nn"), STR("http://h/x\r\nHost: y")));
    assert_true(str_eqz(hdfs_host_of(STR("http://h:1/x?y")), "h:1"));
    assert_true(str_eqz(hdfs_host_of(STR("http://h?y")), "h"));
    assert_true(str_eqz(hdfs_host_of(STR("http://u:p@h/x")), "h")); /* for messages */
    assert_null(hdfs_redirect_refused(STR("http://nn"), STR("http://dn:1/webhdfs/v1/a@b?x=@"))); /* in a path it is a character */
}

/* Every name >= start_at is behind the mark, in bytewise order. */
static void a_listing_begins_before_what_is_wanted(void **state) {
    static const char *const starts[] = {"00000000000000000012.json", "0", "00000000000000000010", "9", "1-", "00000000000000000000."};
    for (size_t i = 0; i < ARRAY_LEN(starts); i++) {
        str start = str_of(starts[i]), before = hdfs_before(start, *state);
        assert_false(str_is_null(before));
        assert_true(str_cmp(before, start) < 0);
        assert_true(before.ptr[0] != '/');
    }
    assert_true(str_is_null(hdfs_before(STR("abc"), *state)));
    assert_true(str_is_null(hdfs_before(STR(""), *state)));
    assert_true(str_is_null(hdfs_before(STR("0\xc3\xa9"), *state)));
}

int main(void) {
    cmocka_set_message_output(CM_OUTPUT_TAP);
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(properties_are_read_as_hadoop_writes_them),
        CASE(final_properties_keep_their_value),
        CASE(the_sessions_settings_come_first),
        CASE(values_refer_to_others),
        CASE(what_is_no_configuration_is_refused),
        CASE(entities_are_not_followed),
        CASE(files_of_the_folder_are_read_in_order),
        CASE(services_by_authority_and_configuration),
        CASE(what_names_no_server_is_refused),
        CASE(umasks_in_both_forms),
        CASE(new_files_get_the_settings_of_hadoop),
        CASE(the_user_is_told_by_setting_and_environment),
        CASE(a_token_stands_for_the_user),
        CASE(tokens_are_found_in_a_credentials_file),
        CASE(urls_hold_encoded_paths_and_the_login_last),
        CASE(paths_that_another_would_be_read_for_are_refused),
        CASE(redirects_stay_within_what_was_asked_for),
        CASE(a_listing_begins_before_what_is_wanted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
