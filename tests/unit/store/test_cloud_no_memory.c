/* Parsers and settings of Azure and GCS when memory runs out: they say so or give nothing, and nothing leaks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "store/azure/azure.h"
#include "store/gcs/gcs.h"
#include "store/http/http_store.h"
#include "support/no_memory.h"

#define XML                                                                                                                                                   \
    "<EnumerationResults><Blobs><Blob><Name Encoded=\"true\">t%2Fa</Name><Properties><Last-Modified>Sun, 06 Nov 1994 08:49:37 GMT</Last-Modified><Etag>0x8</Etag>" \
    "<Content-Length>1</Content-Length></Properties></Blob><BlobPrefix><Name>t/p/</Name></BlobPrefix></Blobs><NextMarker>m</NextMarker></EnumerationResults>"
#define JSON "{\"nextPageToken\":\"x\",\"prefixes\":[\"t/p/\"],\"items\":[{\"name\":\"t/a\",\"size\":\"12\",\"updated\":\"2026-11-30T08:58:58Z\",\"generation\":\"1\"}]}"

static silt_status with_arena(silt_status (*use)(arena *a)) {
    arena *a = arena_new();
    silt_status status = a ? use(a) : SILT_NO_MEMORY;
    arena_free(a);
    return status;
}

/* A parser that gives nothing tells by that. */
static silt_status nothing_or(bool taken) { return taken ? SILT_OK : SILT_NO_MEMORY; }

static silt_status use_azure_page(arena *a) {
    object_page page;
    return nothing_or(azure_page_parse(STR(XML), a, &page) && page.count == 2 && page.next.len == 1);
}
static silt_status use_azure_error(arena *a) {
    object_error e;
    azure_error_parse(STR("<Error><Code>c</Code><Message>m</Message></Error>"), a, &e);
    return nothing_or(str_eqz(e.code, "c") && str_eqz(e.message, "m"));
}
static silt_status use_gcs_page(arena *a) {
    object_page page;
    return nothing_or(gcs_page_parse(STR(JSON), a, &page) && page.count == 2);
}
static silt_status use_gcs_key(arena *a) {
    gcs_account c = {.auth = GCS_ANONYMOUS};
    return nothing_or(gcs_key_parse(STR("{\"type\":\"service_account\",\"client_email\":\"e\",\"private_key\":\"k\"}"), STR("f"), a, &c, NULL) == SILT_OK);
}
static silt_status use_checkpoint(arena *a) {
    http_checkpoint c;
    return nothing_or(http_checkpoint_parse(STR("{\"version\":10,\"parts\":3}"), a, &c) && c.n_names == 4);
}

static const char *no_env(void *ctx, const char *name) {
    (void)ctx;
    (void)name;
    return NULL;
}

static silt_status use_azure_account(arena *a) {
    azure_account c;
    return azure_account_find(STR("c@acct.dfs.core.windows.net"), NULL, no_env, NULL, a, &c, NULL);
}
static silt_status use_gcs_account(arena *a) {
    gcs_account c;
    return gcs_account_find(STR("bucket"), NULL, no_env, NULL, a, &c, NULL);
}
static silt_status use_signature(arena *a) {
    const http_header headers[] = {{STR("x-ms-date"), STR("d")}, {STR("x-ms-version"), STR("v")}};
    buf b;
    buf_init(&b, 10000);
    azure_string_to_sign(&b, STR("acct"), "GET", STR("https://acct/c?comp=list&prefix=a%2F"), headers, 2, 0, a);
    silt_status status = nothing_or(buf_ok(&b));
    buf_dispose(&b);
    return status;
}

static silt_status run(void *ctx) { return with_arena(*(silt_status (**)(arena *))ctx); }

static void torture(silt_status (*use)(arena *a)) {
    assert_int_equal(with_arena(use), SILT_OK); /* what libraries keep for good is there then */
    no_memory_torture(run, &use);
}

static void azure_parsers(void **state) {
    (void)state;
    torture(use_azure_page);
    torture(use_azure_error);
}
static void gcs_parsers(void **state) {
    (void)state;
    torture(use_gcs_page);
    torture(use_gcs_key);
}
static void the_checkpoint_of_a_log(void **state) {
    (void)state;
    torture(use_checkpoint);
}
static void accounts(void **state) {
    (void)state;
    torture(use_azure_account);
    torture(use_gcs_account);
}
static void texts_to_sign(void **state) {
    (void)state;
    torture(use_signature);
}

int main(void) {
    cmocka_set_message_output(CM_OUTPUT_TAP);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(azure_parsers),
        cmocka_unit_test(gcs_parsers),
        cmocka_unit_test(the_checkpoint_of_a_log),
        cmocka_unit_test(accounts),
        cmocka_unit_test(texts_to_sign),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
