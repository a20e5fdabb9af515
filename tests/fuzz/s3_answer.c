/*
 * What S3, STS, metadata services and DynamoDB answer, and the AWS CLI's files: any bytes. The first byte says as what they are read. What is taken has every part that the store
 * relies on.
 */
#include <stdlib.h>

#include "base/json.h"
#include "store/s3/dynamodb.h"
#include "store/s3/s3.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool claim) {
    if (!claim) abort();
}

static void check_page(str text, arena *a) {
    object_page p;
    if (!s3_page_parse(text, a, &p)) return;
    must(str_is_null(p.next) || p.next.len > 0);
    for (size_t i = 0; i < p.count; i++) must(!str_is_null(p.items[i].key) && p.items[i].size_bytes >= 0 && strlen(p.items[i].key.ptr) == p.items[i].key.len);
}

static void check_deletion(str text, arena *a) {
    s3_undeleted *left;
    size_t n;
    if (!s3_deletion_parse(text, a, &left, &n)) return;
    for (size_t i = 0; i < n; i++) must(!str_is_null(left[i].key) && !str_is_null(left[i].code));
}

/* What is written as an element's text is read back. */
static void check_text(str text, arena *a) {
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    buf_append_z(&b, "<a><k>");
    bool written = s3_xml_write(&b, text);
    buf_append_z(&b, "</k></a>");
    str back = s3_xml_text(buf_str(&b), "k", a);
    if (written && !str_is_null(back)) must(str_eq(back, text)); /* null: a code point that XML does not have, as U+FFFE */
    buf_dispose(&b);
}

static void check_entry(str text, arena *a) {
    const json_node *root;
    dynamodb_entry e, again;
    buf b;
    if (json_parse(text, a, &root, NULL) != SILT_OK || !dynamodb_entry_parse(root, a, &e)) return;
    buf_init(&b, BUF_MAX_DEFAULT);
    dynamodb_entry_write(&e, &b);
    must(json_parse(buf_str(&b), a, &root, NULL) == SILT_OK && dynamodb_entry_parse(root, a, &again));
    must(str_eq(e.temp_path, again.temp_path) && e.complete == again.complete && e.expire_s == again.expire_s);
    buf_dispose(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    arena *a = arena_new();
    str text = {(const char *)data + 1, size - 1}, found;
    s3_fault fault;
    s3_grant grant;
    switch (data[0]) {
        case 'p': check_page(text, a); break;
        case 'd': check_deletion(text, a); break;
        case 't': check_text(text, a); break;
        case 'e': check_entry(text, a); break;
        case 'f': must(!s3_fault_parse(text, a, &fault) || !str_is_null(fault.code)); break;
        case 'g': must(!s3_grant_parse(text, a, &grant) || (grant.identity.access_key.len && grant.identity.secret_key.len)); break;
        case 'i':
            found = s3_profile_get(text, text, STR("p"), "aws_access_key_id");
            must(str_is_null(found) || (found.len > 0 && found.ptr >= text.ptr && found.ptr + found.len <= text.ptr + text.len));
            break;
        default: break;
    }
    arena_free(a);
    return 0;
}
