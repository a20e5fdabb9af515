/** A small S3, STS and DynamoDB inside a test, which can be told to be a bad one. Over tests/support/tiny_server. */
#ifndef TESTS_UNIT_STORE_FAKE_S3_H
#define TESTS_UNIT_STORE_FAKE_S3_H

#include "base/base.h"
#include "support/tiny_server.h"

typedef struct fake_object {
    char key[512];
    buf bytes;
} fake_object;

typedef struct fake_item {
    char table_path[256], file_name[64], temp_path[256], complete[8], expire[32];
} fake_item;

typedef struct fake_s3 {
    tiny_server *server;
    fake_object objects[256];
    int n_objects;
    fake_item items[64]; /* of DynamoDB */
    int n_items;
    bool has_table;
    int creating; /* DescribeTable says CREATING so often */
    /* how it behaves */
    bool overwrites;      /* ignores If-None-Match */
    bool refuses_header;  /* 501 for If-None-Match */
    bool lets_two_win;    /* of conditional puts of one key two succeed */
    const char *region;   /* another one in a signature: 400 with the right one; NULL: any */
    const char *old_token; /* this session token has ended */
    const char *refusal; /* "404 NoSuchKey": the answer to every request; "404": without a body */
    const char *fail_key; /* PUT of a key that holds this: 403 AccessDenied */
    const char *redirect_region; /* 301 with x-amz-bucket-region, while signatures name another */
    int64_t clock_ahead_ms; /* of its clock; requests further than 15 minutes from it are refused */
    bool part_fails;
    const char *steals; /* another writer overwrites what was just put under this key */
    int completions_fail_in_body; /* so many: 200, and an error in the body; the upload stays as it is */
    bool aborts_itself; /* the upload is gone when it is to be completed */
    bool complete_comes_twice; /* and what is told is the answer to the second: the upload is gone */
    /* the nth request (from 1) of `faulty_method` breaks so: after it was carried out, or before */
    char faulty_method[8];
    int faulty_nth;
    tiny_way fault;
    bool fault_after;
    int conflicts; /* so many conditional puts get 409 ConditionalRequestConflict */
    int aborts; /* so many other puts get 409 OperationAborted */
    int throttles; /* so many DynamoDB calls are throttled */
    bool items_vanish; /* PutItem is answered, but nothing is kept */
    const char *tag; /* ETag of what is read; NULL: "e"; empty: none */
    /* what it saw */
    int n_puts, n_parts, n_gets, n_heads, n_lists, n_deletes, n_multi_deletes, n_posts, n_of_faulty, uploads_open;
    int n_put_items, n_queries;
    char last_authorization[512], last_start_after[256], last_query[1024], last_host[128];
    char put_headers[4096]; /* of the last PUT of an object */
    char sts_bodies[4][2048];
    int n_sts;
} fake_s3;

fake_s3 *fake_s3_start(void);
void fake_s3_stop(fake_s3 *f);
/** NULL when absent. Not while requests run. */
fake_object *fake_s3_find(fake_s3 *f, const char *key);
void fake_s3_set(fake_s3 *f, const char *key, const char *bytes);
fake_item *fake_s3_item(fake_s3 *f, const char *table_path, const char *file_name);
fake_item *fake_s3_set_item(fake_s3 *f, const char *table_path, const char *file_name, const char *temp_path, bool complete);

#endif
