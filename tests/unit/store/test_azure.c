/*
 * Azure's parts without a server: what is signed, which credential counts, what lists and errors say.
 * Texts to sign are the examples of Microsoft's "Authorize with Shared Key"; the signature's vector is RFC 4231's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/ident.h"
#include "store/azure/azure.h"

/* ---- signing ---- */

static void assert_signs(const char *method, const char *url, const http_header *headers, size_t n, int64_t length, const char *expected) {
    arena *a = arena_new();
    buf b;
    buf_init(&b, 10000);
    azure_string_to_sign(&b, STR("myaccount"), method, str_of(url), headers, n, length, a);
    assert_string_equal(buf_cstr(&b), expected);
    buf_dispose(&b);
    arena_free(a);
}

static void the_documented_requests_are_signed_as_documented(void **state) {
    (void)state;
    const http_header headers[] = {{STR("x-ms-version"), STR("2015-02-21")}, {STR("x-ms-date"), STR("Fri, 26 Jun 2015 23:39:12 GMT")}};
    assert_signs("GET", "https://myaccount.blob.core.windows.net/mycontainer?restype=container&comp=metadata&timeout=20", headers, 2, 0,
                 "GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:Fri, 26 Jun 2015 23:39:12 GMT\nx-ms-version:2015-02-21\n/myaccount/mycontainer\ncomp:metadata\nrestype:container\ntimeout:20");
    assert_signs("GET", "http://myaccount.blob.core.windows.net/container?restype=container&comp=list&include=snapshots&include=metadata&include=uncommittedblobs", headers, 2, 0,
                 "GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:Fri, 26 Jun 2015 23:39:12 GMT\nx-ms-version:2015-02-21\n"
                 "/myaccount/container\ncomp:list\ninclude:metadata,snapshots,uncommittedblobs\nrestype:container");
}

static void each_header_has_its_line(void **state) {
    (void)state;
    const http_header headers[] = {{STR("Content-Type"), STR("text/plain; charset=UTF-8")}, {STR("If-None-Match"), STR("*")}, {STR("Range"), STR("bytes=0-9")},
                                   {STR("X-MS-Blob-Type"), STR(" BlockBlob ")}, {STR("Date"), STR("Sun, 11 Oct 2009 21:49:13 GMT")}, {STR("Accept"), STR("*/*")}};
    assert_signs("PUT", "https://myaccount.blob.core.windows.net/c/a%20b%2F", headers, 6, 11,
                 "PUT\n\n\n11\n\ntext/plain; charset=UTF-8\nSun, 11 Oct 2009 21:49:13 GMT\n\n\n*\n\nbytes=0-9\nx-ms-blob-type:BlockBlob\n/myaccount/c/a%20b%2F");
}

static void parameters_are_signed_decoded_and_in_order(void **state) {
    (void)state;
    assert_signs("GET", "http://127.0.0.1:10000/devstoreaccount1/c?Prefix=a%2Fb%20c&comp=list&delimiter=%2F&marker=x%3D%3D&empty=&", NULL, 0, 0,
                 "GET\n\n\n\n\n\n\n\n\n\n\n\n/myaccount/devstoreaccount1/c\ncomp:list\ndelimiter:/\nempty:\nmarker:x==\nprefix:a/b c");
    assert_signs("GET", "http://host", NULL, 0, 0, "GET\n\n\n\n\n\n\n\n\n\n\n\n/myaccount/");
}

static void a_signature_is_the_keyed_hash(void **state) {
    (void)state;
    arena *a = arena_new();
    buf b;
    buf_init(&b, 100);
    str signature = azure_signature(STR("Jefe"), STR("what do ya want for nothing?"), a); /* RFC 4231, test case 2 */
    assert_true(base64_decode(signature, &b));
    static const unsigned char expected[] = {0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e, 0x6a, 0x04, 0x24, 0x26, 0x08, 0x95, 0x75, 0xc7,
                                             0x5a, 0x00, 0x3f, 0x08, 0x9d, 0x27, 0x39, 0x83, 0x9d, 0xec, 0x58, 0xb9, 0x64, 0xec, 0x38, 0x43};
    assert_int_equal(b.len, sizeof expected);
    assert_memory_equal(b.ptr, expected, sizeof expected);
    buf_dispose(&b);
    arena_free(a);
}

/* ---- accounts and credentials ---- */

typedef struct pair {
    const char *key, *value;
} pair;

static str get_setting(void *ctx, const char *key) {
    for (const pair *p = ctx; p->key; p++)
        if (strcmp(p->key, key) == 0) return str_of(p->value);
    return STR_NULL;
}

static const char *get_env(void *ctx, const char *name) {
    for (const pair *p = ctx; p->key; p++)
        if (strcmp(p->key, name) == 0) return p->value;
    return NULL;
}

#define PAIRS(...) ((const pair[]){__VA_ARGS__ __VA_OPT__(,) {NULL, NULL}})

static silt_status find(const char *authority, const pair *settings, const pair *env, arena *a, azure_account *out, silt_error *err) {
    store_settings s = {.get = get_setting, .ctx = (void *)(uintptr_t)settings};
    return azure_account_find(str_of(authority), &s, get_env, (void *)(uintptr_t)env, a, out, err);
}

static void assert_auth(const char *authority, const pair *settings, const pair *env, azure_auth auth, const char *secret) {
    arena *a = arena_new();
    azure_account c;
    silt_error err = {0};
    if (find(authority, settings, env, a, &c, &err) != SILT_OK) fail_msg("%s %s", err.message, err.detail);
    assert_int_equal(c.auth, auth);
    str found = auth == AZURE_SHARED_KEY ? c.key : auth == AZURE_SAS ? c.sas : auth == AZURE_CLIENT_SECRET ? c.client_secret : STR("");
    assert_true(str_eqz(found, secret));
    arena_free(a);
}

static void assert_endpoint(const char *authority, const pair *settings, const pair *env, const char *account, const char *endpoint) {
    arena *a = arena_new();
    azure_account c;
    silt_error err = {0};
    if (find(authority, settings, env, a, &c, &err) != SILT_OK) fail_msg("%s %s", err.message, err.detail);
    assert_true(str_eqz(c.account, account));
    assert_true(str_eqz(c.endpoint, endpoint));
    arena_free(a);
}

static void assert_refused(const char *authority, const pair *settings, const pair *env, silt_status status) {
    arena *a = arena_new();
    azure_account c;
    silt_error err = {0};
    assert_int_equal(find(authority, settings, env, a, &c, &err), status);
    assert_null(strstr(err.message, "c2VjcmV0"));
    assert_null(strstr(err.message, "sig=secret"));
    assert_null(strstr(err.detail, "c2VjcmV0"));
    arena_free(a);
}

#define DFS  "c@acct.dfs.core.windows.net"
#define BLOB "c@acct.blob.core.windows.net"

static void accounts_have_their_endpoints(void **state) {
    (void)state;
    assert_endpoint(DFS, PAIRS(), PAIRS(), "acct", "https://acct.blob.core.windows.net");
    assert_endpoint(BLOB, PAIRS(), PAIRS(), "acct", "https://acct.blob.core.windows.net");
    assert_endpoint("c@acct.dfs.core.chinacloudapi.cn", PAIRS(), PAIRS(), "acct", "https://acct.blob.core.chinacloudapi.cn");
    assert_endpoint("c@acct", PAIRS(), PAIRS(), "acct", "https://acct.blob.core.windows.net");
    assert_endpoint("c", PAIRS({"silt.azure.account", "own"}), PAIRS({"AZURE_STORAGE_ACCOUNT", "env"}), "own", "https://own.blob.core.windows.net");
    assert_endpoint("c", PAIRS(), PAIRS({"AZURE_STORAGE_ACCOUNT_NAME", "env"}), "env", "https://env.blob.core.windows.net");
    assert_endpoint("c", PAIRS(), PAIRS({"AZURE_STORAGE_CONNECTION_STRING", "DefaultEndpointsProtocol=https;AccountName=conn;AccountKey=c2VjcmV0;EndpointSuffix=core.usgovcloudapi.net"}), "conn",
                    "https://conn.blob.core.usgovcloudapi.net");
    assert_endpoint("c", PAIRS(), PAIRS({"AZURE_STORAGE_CONNECTION_STRING", "UseDevelopmentStorage=true"}), "devstoreaccount1", "http://127.0.0.1:10000/devstoreaccount1");
    assert_endpoint(DFS, PAIRS({"silt.azure.endpoint", "http://127.0.0.1:19501/acct/"}), PAIRS(), "acct", "http://127.0.0.1:19501/acct");
    assert_endpoint("c@acct", PAIRS({"silt.azure.endpoint", "http://azurite:10000"}), PAIRS(), "acct", "http://azurite:10000/acct");
    assert_endpoint("c", PAIRS(), PAIRS({"AZURE_STORAGE_ENDPOINT", "https://my.blob.core.windows.net/"}), "my", "https://my.blob.core.windows.net");
    assert_endpoint("c", PAIRS({"silt.azure.endpoint", "http://127.0.0.1:1/dev"}), PAIRS(), "dev", "http://127.0.0.1:1/dev");
}

static void accounts_that_are_none_are_refused(void **state) {
    (void)state;
    assert_refused("c", PAIRS(), PAIRS(), SILT_INVALID);
    assert_refused("", PAIRS({"silt.azure.account", "a"}), PAIRS(), SILT_INVALID);
    assert_refused("c@", PAIRS(), PAIRS(), SILT_INVALID);
    assert_refused("c/../d@acct", PAIRS(), PAIRS(), SILT_INVALID);
    assert_refused("c@evil.example:80@acct", PAIRS(), PAIRS(), SILT_INVALID);
    assert_refused("c@a b", PAIRS(), PAIRS(), SILT_INVALID);
    assert_refused("c@acct?x=", PAIRS(), PAIRS(), SILT_INVALID);
    assert_refused(DFS, PAIRS({"silt.azure.endpoint", "ftp://x"}), PAIRS(), SILT_INVALID);
    assert_refused(DFS, PAIRS({"silt.azure.endpoint", "http://u:p@h/acct"}), PAIRS(), SILT_INVALID);
    assert_refused(DFS, PAIRS({"silt.azure.endpoint", "https://h/acct?sig=secret"}), PAIRS(), SILT_INVALID);
    assert_refused(DFS, PAIRS({"fs.azure.account.key", "c2VjcmV0*"}), PAIRS(), SILT_INVALID);
    assert_refused(DFS, PAIRS({"fs.azure.account.key", ""}), PAIRS(), SILT_INVALID);
    assert_refused(DFS, PAIRS({"fs.azure.sas.fixed.token", "sig=secret and\nmore"}), PAIRS(), SILT_INVALID);
    assert_refused(DFS, PAIRS({"fs.azure.account.auth.type", "Custom"}), PAIRS(), SILT_UNSUPPORTED);
    assert_refused(DFS, PAIRS({"fs.azure.account.auth.type", "SharedKey"}), PAIRS(), SILT_INVALID);
    assert_refused(DFS, PAIRS({"fs.azure.account.auth.type", "SAS"}), PAIRS(), SILT_INVALID);
    assert_refused(DFS, PAIRS({"fs.azure.account.auth.type", "OAuth"}), PAIRS(), SILT_INVALID);
    assert_refused(DFS, PAIRS({"fs.azure.account.auth.type", "OAuth"}, {"fs.azure.account.oauth.provider.type", "x.UserPasswordTokenProvider"}), PAIRS(), SILT_UNSUPPORTED);
    assert_refused(DFS, PAIRS({"fs.azure.account.oauth2.client.secret", "s"}, {"fs.azure.account.oauth2.client.id", "i"}, {"fs.azure.account.oauth2.client.endpoint", "http://login.example/token"}),
                   PAIRS(), SILT_INVALID);
}

#define KEY      "c2VjcmV0" /* secret */
#define HOST_KEY "aG9zdA==" /* host */

static void hadoops_keys_come_first_and_those_of_the_account_before_those_of_all(void **state) {
    (void)state;
    assert_auth(DFS, PAIRS(), PAIRS(), AZURE_ANONYMOUS, "");
    assert_auth(DFS, PAIRS({"fs.azure.account.key", KEY}), PAIRS(), AZURE_SHARED_KEY, "secret");
    assert_auth(DFS, PAIRS({"fs.azure.account.key", KEY}, {"fs.azure.account.key.acct.dfs.core.windows.net", HOST_KEY}), PAIRS(), AZURE_SHARED_KEY, "host");
    assert_auth(DFS, PAIRS({"fs.azure.account.key.acct.blob.core.windows.net", HOST_KEY}), PAIRS(), AZURE_SHARED_KEY, "host");
    assert_auth(BLOB, PAIRS({"fs.azure.account.key.acct.dfs.core.windows.net", HOST_KEY}), PAIRS(), AZURE_SHARED_KEY, "host");
    assert_auth(DFS, PAIRS({"spark.hadoop.fs.azure.account.key.acct.dfs.core.windows.net", HOST_KEY}), PAIRS(), AZURE_SHARED_KEY, "host");
    assert_auth(DFS, PAIRS({"fs.azure.account.key.other.dfs.core.windows.net", HOST_KEY}), PAIRS(), AZURE_ANONYMOUS, "");
    assert_auth(DFS, PAIRS({"fs.azure.sas.fixed.token.acct.dfs.core.windows.net", "?sv=1&sig=s"}), PAIRS(), AZURE_SAS, "sv=1&sig=s");
    assert_auth(BLOB, PAIRS({"fs.azure.sas.c.acct.blob.core.windows.net", "sig=s"}), PAIRS(), AZURE_SAS, "sig=s");
    assert_auth(DFS, PAIRS({"fs.azure.account.key", KEY}, {"fs.azure.sas.fixed.token", "sig=s"}, {"fs.azure.account.auth.type", "sas"}), PAIRS(), AZURE_SAS, "sig=s");
    assert_auth(DFS, PAIRS({"fs.azure.account.key", KEY}), PAIRS({"AZURE_STORAGE_SAS_TOKEN", "sig=e"}), AZURE_SHARED_KEY, "secret");
}

static void oauth_is_found_by_hadoops_keys(void **state) {
    (void)state;
    const pair settings[] = {{"fs.azure.account.auth.type.acct.dfs.core.windows.net", "OAuth"},
                             {"fs.azure.account.oauth.provider.type.acct.dfs.core.windows.net", "org.apache.hadoop.fs.azurebfs.oauth2.ClientCredsTokenProvider"},
                             {"fs.azure.account.oauth2.client.id.acct.dfs.core.windows.net", "id"},
                             {"fs.azure.account.oauth2.client.secret.acct.dfs.core.windows.net", "hush"},
                             {"fs.azure.account.oauth2.client.endpoint.acct.dfs.core.windows.net", "https://login.microsoftonline.com/t/oauth2/token"},
                             {NULL, NULL}};
    assert_auth(DFS, settings, PAIRS(), AZURE_CLIENT_SECRET, "hush");
    assert_auth(DFS, PAIRS({"fs.azure.account.auth.type", "OAuth"}, {"fs.azure.account.oauth.provider.type", "org.apache.hadoop.fs.azurebfs.oauth2.MsiTokenProvider"}), PAIRS(), AZURE_MANAGED_IDENTITY, "");
}

static void the_environment_comes_last(void **state) {
    (void)state;
    assert_auth(DFS, PAIRS(), PAIRS({"AZURE_STORAGE_KEY", KEY}), AZURE_SHARED_KEY, "secret");
    assert_auth(DFS, PAIRS(), PAIRS({"AZURE_STORAGE_ACCOUNT", "acct"}, {"AZURE_STORAGE_KEY", KEY}), AZURE_SHARED_KEY, "secret");
    assert_auth(DFS, PAIRS(), PAIRS({"AZURE_STORAGE_ACCOUNT", "other"}, {"AZURE_STORAGE_KEY", KEY}), AZURE_ANONYMOUS, "");
    assert_auth(DFS, PAIRS(), PAIRS({"AZURE_STORAGE_CONNECTION_STRING", "AccountName=acct;AccountKey=" HOST_KEY}, {"AZURE_STORAGE_KEY", KEY}), AZURE_SHARED_KEY, "host");
    assert_auth(DFS, PAIRS(), PAIRS({"AZURE_STORAGE_CONNECTION_STRING", "AccountName=other;AccountKey=" HOST_KEY}), AZURE_ANONYMOUS, "");
    assert_auth(DFS, PAIRS(), PAIRS({"AZURE_STORAGE_SAS_TOKEN", "sig=e"}), AZURE_SAS, "sig=e");
    assert_auth(DFS, PAIRS(), PAIRS({"AZURE_CLIENT_ID", "i"}, {"AZURE_TENANT_ID", "t"}, {"AZURE_CLIENT_SECRET", "hush"}), AZURE_CLIENT_SECRET, "hush");
    assert_auth(DFS, PAIRS(), PAIRS({"AZURE_CLIENT_ID", "i"}, {"AZURE_TENANT_ID", "t"}, {"AZURE_FEDERATED_TOKEN_FILE", "/f"}), AZURE_WORKLOAD_IDENTITY, "");
    assert_auth(DFS, PAIRS(), PAIRS({"IDENTITY_ENDPOINT", "http://127.0.0.1:41/token"}, {"IDENTITY_HEADER", "h"}), AZURE_MANAGED_IDENTITY, "");
}

/* A location in somebody's log must not send credentials to a host of its own choice. */
static void other_hosts_get_only_what_was_set_for_them(void **state) {
    (void)state;
    const char *other = "c@acct.blob.core.windows.net.evil.example";
    assert_auth(other, PAIRS({"fs.azure.sas.fixed.token", "sig=s"}, {"fs.azure.account.oauth2.client.secret", "hush"}, {"fs.azure.account.key", KEY}),
                PAIRS({"AZURE_STORAGE_KEY", KEY}, {"AZURE_CLIENT_ID", "i"}, {"AZURE_TENANT_ID", "t"}, {"AZURE_CLIENT_SECRET", "hush"}), AZURE_ANONYMOUS, "");
    assert_auth(other, PAIRS({"fs.azure.account.key.acct.blob.core.windows.net.evil.example", HOST_KEY}), PAIRS(), AZURE_SHARED_KEY, "host");
    assert_auth(other, PAIRS({"fs.azure.account.key", KEY}, {"silt.azure.endpoint", "https://proxy.example/acct"}), PAIRS(), AZURE_SHARED_KEY, "secret");
}

static void the_directorys_endpoint_is_put_together(void **state) {
    (void)state;
    arena *a = arena_new();
    azure_account c;
    assert_int_equal(find(DFS, PAIRS(), PAIRS({"AZURE_CLIENT_ID", "i"}, {"AZURE_TENANT_ID", "ten-ant"}, {"AZURE_CLIENT_SECRET", "hush"}), a, &c, NULL), SILT_OK);
    assert_true(str_eqz(c.token_endpoint, "https://login.microsoftonline.com/ten-ant/oauth2/v2.0/token"));
    assert_int_equal(find(DFS, PAIRS(), PAIRS({"AZURE_CLIENT_ID", "i"}, {"AZURE_TENANT_ID", "t"}, {"AZURE_CLIENT_SECRET", "s"}, {"AZURE_AUTHORITY_HOST", "https://login.chinacloudapi.cn/"}), a, &c, NULL),
                     SILT_OK);
    assert_true(str_eqz(c.token_endpoint, "https://login.chinacloudapi.cn/t/oauth2/v2.0/token"));
    arena_free(a);
}

/* ---- pages and errors ---- */

#define BLOB_XML(name, more) "<Blob><Name>" name "</Name><Properties><Last-Modified>Sun, 06 Nov 1994 08:49:37 GMT</Last-Modified><Etag>0x8D</Etag><Content-Length>12</Content-Length>" more "</Blob>"
#define PAGE(blobs)          "<?xml version=\"1.0\" encoding=\"utf-8\"?><EnumerationResults ServiceEndpoint=\"https://a\" ContainerName=\"c\"><Blobs>" blobs "</Blobs><NextMarker /></EnumerationResults>"

static void pages_tell_blobs_and_folders(void **state) {
    (void)state;
    arena *a = arena_new();
    object_page p;
    const char *xml = "\xef\xbb\xbf<?xml version=\"1.0\" encoding=\"utf-8\"?><EnumerationResults ServiceEndpoint=\"x\" ContainerName=\"c\"><Prefix>t/</Prefix><Blobs>"
                      BLOB_XML("t/a&amp;b &lt;c&gt; \xc3\xa9&#x41;", "</Properties>") BLOB_XML("t/dir", "<ResourceType>directory</ResourceType></Properties>")
                      BLOB_XML("t/old", "</Properties><Metadata><hdi_isfolder>true</hdi_isfolder></Metadata>") "<BlobPrefix><Name>t/p=1/</Name></BlobPrefix>"
                      "<Blob><Name Encoded=\"true\">t%2Fa%EF%BF%BE</Name><Properties><Content-Length>0</Content-Length><Last-Modified>Sun, 06 Nov 1994 08:49:37 GMT</Last-Modified></Properties></Blob>"
                      "</Blobs><NextMarker>2!100!MDAw=</NextMarker></EnumerationResults>";
    assert_true(azure_page_parse(str_of(xml), a, &p));
    assert_int_equal(p.count, 5);
    assert_true(str_eqz(p.items[0].key, "t/a&b <c> \xc3\xa9" "A"));
    assert_int_equal(p.items[0].size_bytes, 12);
    assert_true(p.items[0].modified_ms == INT64_C(784111777000));
    assert_true(str_eqz(p.items[0].tag, "0x8D"));
    assert_false(p.items[0].is_folder);
    assert_true(p.items[1].is_folder && p.items[2].is_folder && p.items[3].is_folder);
    assert_true(str_eqz(p.items[3].key, "t/p=1/"));
    assert_true(str_eqz(p.items[4].key, "t/a\xef\xbf\xbe"));
    assert_true(str_eqz(p.next, "2!100!MDAw="));
    assert_true(azure_page_parse(STR(PAGE("")), a, &p));
    assert_int_equal(p.count, 0);
    assert_true(str_is_null(p.next));
    arena_free(a);
}

static void what_is_no_page_is_refused(void **state) {
    (void)state;
    static const char *const odd[] = {"", "no xml", "<html></html>", "<EnumerationResults><Blobs><Blob>", "<EnumerationResults><Blobs><Blob></Blob></Blobs></EnumerationResults>",
                                      "<EnumerationResults><Blobs><Blob><Name>x</Name><Properties><Content-Length>-1</Content-Length></Properties></Blob></Blobs></EnumerationResults>",
                                      "<EnumerationResults><Blobs><Blob><Name>x</Name><Properties><Last-Modified>yesterday</Last-Modified></Properties></Blob></Blobs></EnumerationResults>",
                                      "<!DOCTYPE x [<!ENTITY e \"y\">]><EnumerationResults><Blobs><Blob><Name>&e;</Name></Blob></Blobs></EnumerationResults>",
                                      "<a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a>",
                                      "<EnumerationResults><Blobs><Blob><Name Encoded=\"true\">a%00b</Name></Blob></Blobs></EnumerationResults>", "<EnumerationResults></EnumerationResults>trailing"};
    arena *a = arena_new();
    object_page p;
    for (size_t i = 0; i < ARRAY_LEN(odd); i++)
        if (azure_page_parse(str_of(odd[i]), a, &p)) fail_msg("taken: %s", odd[i]);
    arena_free(a);
}

static void errors_tell_code_and_the_first_line(void **state) {
    (void)state;
    arena *a = arena_new();
    object_error e;
    azure_error_parse(STR("\xef\xbb\xbf<?xml version=\"1.0\"?><Error><Code>BlobAlreadyExists</Code><Message>The specified blob already exists.\nRequestId:1\nTime:2</Message>"
                          "<AuthenticationErrorDetail>The MAC signature found ... 'PUT...secret'</AuthenticationErrorDetail></Error>"),
                      a, &e);
    assert_true(str_eqz(e.code, "BlobAlreadyExists"));
    assert_true(str_eqz(e.message, "The specified blob already exists."));
    azure_error_parse(STR("<html>502</html>"), a, &e);
    assert_true(str_is_null(e.code));
    azure_error_parse(STR("not xml"), a, &e);
    assert_true(str_is_null(e.code) && str_is_null(e.message));
    arena_free(a);
}

static void dates_of_http(void **state) {
    (void)state;
    int64_t ms;
    char text[32];
    assert_true(http_date_parse(STR("Sun, 06 Nov 1994 08:49:37 GMT"), &ms) && ms == INT64_C(784111777000)); /* RFC 9110's example */
    http_date_write(INT64_C(784111777123), text);
    assert_string_equal(text, "Sun, 06 Nov 1994 08:49:37 GMT");
    http_date_write(0, text);
    assert_string_equal(text, "Thu, 01 Jan 1970 00:00:00 GMT");
    assert_false(http_date_parse(STR("Sunday, 06-Nov-94 08:49:37 GMT"), &ms));
    assert_false(http_date_parse(STR("Sun, 06 Nov 1994 24:49:37 GMT"), &ms));
    assert_false(http_date_parse(STR("Sun, 06 Nix 1994 08:49:37 GMT"), &ms));
    assert_false(http_date_parse(STR(""), &ms));
    assert_true(rfc3339_parse(STR("1985-04-12T23:20:50.52Z"), &ms) && ms == INT64_C(482196050520)); /* RFC 3339's example */
    assert_false(rfc3339_parse(STR("1985-04-12"), &ms));
}

int main(void) {
    cmocka_set_message_output(CM_OUTPUT_TAP);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_documented_requests_are_signed_as_documented),
        cmocka_unit_test(each_header_has_its_line),
        cmocka_unit_test(parameters_are_signed_decoded_and_in_order),
        cmocka_unit_test(a_signature_is_the_keyed_hash),
        cmocka_unit_test(accounts_have_their_endpoints),
        cmocka_unit_test(accounts_that_are_none_are_refused),
        cmocka_unit_test(hadoops_keys_come_first_and_those_of_the_account_before_those_of_all),
        cmocka_unit_test(oauth_is_found_by_hadoops_keys),
        cmocka_unit_test(the_environment_comes_last),
        cmocka_unit_test(other_hosts_get_only_what_was_set_for_them),
        cmocka_unit_test(the_directorys_endpoint_is_put_together),
        cmocka_unit_test(pages_tell_blobs_and_folders),
        cmocka_unit_test(what_is_no_page_is_refused),
        cmocka_unit_test(errors_tell_code_and_the_first_line),
        cmocka_unit_test(dates_of_http),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
