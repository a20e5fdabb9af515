/* The S3 store against a server that misbehaves in each way: nothing committed is lost, nothing is taken for committed that is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/time.h"
#include "fake_s3.h"
#include "store/s3/s3.h"
#include "store/s3/s3_dynamodb.h"

#define LOG     "/t/_delta_log/"
#define C0      LOG "00000000000000000000.json"
#define C1      LOG "00000000000000000001.json"
#define KEY0    "t/_delta_log/00000000000000000000.json"
#define KEY1    "t/_delta_log/00000000000000000001.json"
#define SETTINGS_MAX 20

typedef struct world {
    fake_s3 *fake;
    arena *a;
    store *s;
    silt_error err;
    char home[64];
    const char *keys[SETTINGS_MAX], *values[SETTINGS_MAX];
    int n;
} world;

static str get_setting(void *ctx, const char *key) {
    const world *w = ctx;
    for (int i = w->n - 1; i >= 0; i--)
        if (strcmp(w->keys[i], key) == 0) return str_of(w->values[i]);
    return STR_NULL;
}

static void set(world *w, const char *key, const char *value) {
    w->keys[w->n] = key;
    w->values[w->n++] = value;
}

static void open_store(world *w) {
    store_settings settings = {.get = get_setting, .ctx = w};
    store_close(w->s);
    w->s = NULL;
    if (store_s3_open(STR("bucket"), &settings, &w->s, &w->err) != SILT_OK) fail_msg("%s %s", w->err.message, w->err.detail);
}

static int setup(void **state) {
    static const char *const names[] = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ROLE_ARN",
                                        "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL_STS", "XDG_CACHE_HOME",
                                        "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"};
    world *w = calloc(1, sizeof *w);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) unsetenv(names[i]);
    strcpy(w->home, "/tmp/silt-s3-home-XXXXXX");
    assert_non_null(mkdtemp(w->home));
    setenv("HOME", w->home, 1);
    setenv("AWS_EC2_METADATA_DISABLED", "true", 1);
    w->a = arena_new();
    w->fake = fake_s3_start();
    set(w, "fs.s3a.endpoint", tiny_server_url(w->fake->server, "", w->a).ptr);
    set(w, "fs.s3a.access.key", "AK");
    set(w, "fs.s3a.secret.key", "SK");
    set(w, "fs.s3a.attempts.maximum", "4");
    *state = w;
    return 0;
}

static int teardown(void **state) {
    world *w = *state;
    char command[128];
    store_close(w->s);
    fake_s3_stop(w->fake);
    arena_free(w->a);
    snprintf(command, sizeof command, "rm -rf '%s'", w->home);
    if (system(command) != 0) return -1;
    free(w);
    return 0;
}

static silt_status commit(world *w, const char *path, const char *bytes) {
    w->err = (silt_error){0};
    return store_put(w->s, str_of(path), str_of(bytes), STORE_PUT_IF_ABSENT, &w->err);
}

static void assert_object(world *w, const char *key, const char *bytes) {
    const fake_object *o = fake_s3_find(w->fake, key);
    assert_non_null(o);
    assert_true(str_eqz(buf_str(&o->bytes), bytes));
}

static void break_nth(world *w, const char *method, int nth, tiny_way way, bool after) {
    snprintf(w->fake->faulty_method, sizeof w->fake->faulty_method, "%s", method);
    w->fake->n_of_faulty = 0;
    w->fake->faulty_nth = nth;
    w->fake->fault = way;
    w->fake->fault_after = after;
}

/* ---- the probe ---- */

static void a_good_server_is_asked_once(void **state) {
    world *w = *state;
    open_store(w);
    assert_int_equal(commit(w, C0, "zero"), SILT_OK);
    assert_int_equal(w->fake->n_puts, 4 + 1 + 1); /* racers, one more, the commit */
    assert_int_equal(commit(w, C0, "other"), SILT_EXISTS);
    assert_int_equal(commit(w, C1, "one"), SILT_OK);
    assert_int_equal(w->fake->n_puts, 8);
    assert_int_equal(w->fake->n_objects, 2); /* the probe's object is gone */
    assert_object(w, KEY0, "zero");
}

static void refused(world *w) {
    fake_s3_set(w->fake, KEY0, "zero");
    open_store(w);
    assert_int_equal(commit(w, C1, "one"), SILT_UNSUPPORTED);
    assert_string_equal(w->err.condition, "S3_CONDITIONAL_PUT_IGNORED");
    assert_non_null(strstr(w->err.hint, "silt.s3.commit=dynamodb"));
    assert_non_null(strstr(w->err.hint, "single-writer"));
    assert_int_equal(commit(w, C0, "mine"), SILT_UNSUPPORTED); /* not remembered as good */
    assert_object(w, KEY0, "zero");
    assert_int_equal(w->fake->n_objects, 1);
}

static void a_server_that_overwrites_is_refused(void **state) {
    world *w = *state;
    w->fake->overwrites = true;
    refused(w);
}

static void a_server_without_conditions_is_refused(void **state) {
    world *w = *state;
    w->fake->refuses_header = true;
    refused(w);
}

static void a_server_that_lets_two_win_is_refused(void **state) {
    world *w = *state;
    w->fake->lets_two_win = true;
    open_store(w);
    assert_int_equal(commit(w, C0, "zero"), SILT_UNSUPPORTED);
    assert_null(fake_s3_find(w->fake, KEY0));
}

static void a_probe_without_an_answer_is_asked_again(void **state) {
    world *w = *state;
    open_store(w);
    break_nth(w, "PUT", 2, TINY_RESET, true);
    assert_int_equal(commit(w, C0, "zero"), SILT_OK);
    assert_int_equal(w->fake->n_objects, 1);
    w->fake->overwrites = true; /* an answer that is lost is no refusal */
    open_store(w);
    break_nth(w, "PUT", 5, TINY_RESET, true);
    assert_int_equal(commit(w, C1, "one"), SILT_UNSUPPORTED);
}

/* Of four racers one may stay silent, and the last question is put until it is answered: a bad network keeps nobody from writing. */
static void a_probe_does_with_what_is_answered(void **state) {
    world *w = *state;
    for (int nth = 1; nth <= 5; nth++) {
        char path[64];
        open_store(w);
        snprintf(path, sizeof path, "/t/_delta_log/%020d.json", nth - 1);
        break_nth(w, "PUT", nth, TINY_RESET, nth % 2 == 0);
        assert_int_equal(commit(w, path, "x"), SILT_OK);
        assert_int_equal(w->fake->n_of_faulty, nth < 5 ? 6 : 7); /* four, the question, once more where that had no answer; the commit */
    }
}

/* ---- lost replies ---- */

static void a_commit_whose_reply_is_lost_is_ours(void **state) {
    world *w = *state;
    open_store(w);
    assert_int_equal(commit(w, C0, "zero"), SILT_OK);
    break_nth(w, "PUT", 1, TINY_RESET, true);
    assert_int_equal(commit(w, C1, "one"), SILT_OK); /* the second attempt was told 412: read back */
    assert_object(w, KEY1, "one");
}

static void a_commit_that_broke_before_another_won_is_theirs(void **state) {
    world *w = *state;
    open_store(w);
    assert_int_equal(commit(w, C0, "zero"), SILT_OK);
    fake_s3_set(w->fake, KEY1, "theirs");
    break_nth(w, "PUT", 1, TINY_RESET, false);
    assert_int_equal(commit(w, C1, "ours"), SILT_EXISTS);
    assert_object(w, KEY1, "theirs");
}

static void an_undecided_conflict_is_tried_again(void **state) {
    world *w = *state;
    open_store(w);
    assert_int_equal(commit(w, C0, "zero"), SILT_OK);
    w->fake->conflicts = 1;
    assert_int_equal(commit(w, C1, "one"), SILT_OK);
    assert_object(w, KEY1, "one");
    w->fake->conflicts = 100;
    assert_int_equal(commit(w, LOG "00000000000000000002.json", "two"), SILT_UNKNOWN);
}

/* Of an unconditional put, which may be repeated, the service asks for that by 409. */
static void an_aborted_put_is_tried_again(void **state) {
    world *w = *state;
    open_store(w);
    w->fake->aborts = 2;
    assert_int_equal(store_put(w->s, STR("/t/f"), STR("x"), STORE_PUT_REPLACE, &w->err), SILT_OK);
    assert_object(w, "t/f", "x");
    w->fake->aborts = 1; /* a commit by the only writer, beside another one who is none: that one's would be overwritten */
    assert_int_equal(store_put(w->s, STR(LOG "00000000000000000009.json"), STR("x"), STORE_PUT_REPLACE, &w->err), SILT_IO);
    w->fake->aborts = 100;
    assert_int_equal(store_put(w->s, STR("/t/f"), STR("y"), STORE_PUT_REPLACE, &w->err), SILT_IO);
    assert_object(w, "t/f", "x");
}

/* ---- what is learned ---- */

static void the_region_is_learned(void **state) {
    world *w = *state;
    w->fake->region = "eu-west-3";
    open_store(w);
    assert_int_equal(commit(w, C0, "zero"), SILT_OK);
    w->fake->region = NULL;
    w->fake->redirect_region = "ap-east-1"; /* by a header of an answer without a body */
    store_entry e;
    assert_int_equal(store_stat(w->s, STR(C0), w->a, &e, &w->err), SILT_OK);
    assert_int_equal(e.size_bytes, 4);
    w->fake->redirect_region = "evil.example.com/";
    assert_int_equal(store_stat(w->s, STR(C0), w->a, &e, &w->err), SILT_IO);
}

typedef struct looker {
    world *w;
    pthread_t thread;
    silt_status status;
} looker;

static void *look(void *ctx) {
    looker *l = ctx;
    arena *a = arena_new();
    store_entry e;
    l->status = store_stat(l->w->s, STR(C0), a, &e, NULL);
    arena_free(a);
    return NULL;
}

/* What one thread learned the others' requests, signed before, do not know. */
static void threads_learn_side_by_side(void **state) {
    world *w = *state;
    looker lookers[12] = {0};
    fake_s3_set(w->fake, KEY0, "zero");
    w->fake->redirect_region = "eu-west-3";
    open_store(w);
    for (int i = 0; i < 12; i++) {
        lookers[i].w = w;
        pthread_create(&lookers[i].thread, NULL, look, &lookers[i]);
    }
    for (int i = 0; i < 12; i++) {
        pthread_join(lookers[i].thread, NULL);
        assert_int_equal(lookers[i].status, SILT_OK);
    }
}

static void the_clock_is_learned(void **state) {
    world *w = *state;
    store_entry e;
    w->fake->clock_ahead_ms = -3600000;
    open_store(w);
    assert_int_equal(commit(w, C0, "zero"), SILT_OK);
    w->fake->clock_ahead_ms = 7200000;
    assert_int_equal(store_stat(w->s, STR(C0), w->a, &e, &w->err), SILT_OK);
}

static void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void a_web_identity_is_renewed_when_it_ended(void **state) {
    world *w = *state;
    char path[128];
    snprintf(path, sizeof path, "%s/token", w->home);
    write_text(path, "jwt+/=\n");
    set(w, "fs.s3a.access.key", "");
    set(w, "fs.s3a.secret.key", "");
    setenv("AWS_ROLE_ARN", "arn:aws:iam::1:role/r", 1);
    setenv("AWS_WEB_IDENTITY_TOKEN_FILE", path, 1);
    setenv("AWS_ENDPOINT_URL_STS", w->values[0], 1);
    open_store(w);
    assert_int_equal(commit(w, C0, "zero"), SILT_OK);
    assert_int_equal(w->fake->n_sts, 1); /* asked once for all requests */
    assert_non_null(strstr(w->fake->sts_bodies[0], "Action=AssumeRoleWithWebIdentity"));
    assert_non_null(strstr(w->fake->sts_bodies[0], "WebIdentityToken=jwt%2B%2F%3D"));
    assert_non_null(strstr(w->fake->last_authorization, "Credential=ASIA1/"));
    usleep(1100000); /* a fresh one is not asked for again within a second */
    w->fake->old_token = "session1";
    assert_int_equal(commit(w, C1, "one"), SILT_OK);
    assert_int_equal(w->fake->n_sts, 2);
    assert_non_null(strstr(w->fake->last_authorization, "Credential=ASIA2/"));
}

static void a_role_is_assumed(void **state) {
    world *w = *state;
    set(w, "fs.s3a.assumed.role.arn", "arn:aws:iam::1:role/x");
    set(w, "fs.s3a.assumed.role.sts.endpoint", w->values[0]);
    set(w, "fs.s3a.assumed.role.session.duration", "30m");
    open_store(w);
    assert_int_equal(commit(w, C0, "zero"), SILT_OK);
    assert_non_null(strstr(w->fake->sts_bodies[0], "Action=AssumeRole&"));
    assert_non_null(strstr(w->fake->sts_bodies[0], "DurationSeconds=1800"));
    assert_non_null(strstr(w->fake->last_authorization, "Credential=ASIA1/"));
}

static void profiles_are_read(void **state) {
    world *w = *state;
    char path[128];
    snprintf(path, sizeof path, "%s/.aws", w->home);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/.aws/credentials", w->home);
    write_text(path, "[default]\naws_access_key_id=AKPROFILE\naws_secret_access_key=s\n[sso]\n");
    set(w, "fs.s3a.access.key", "");
    open_store(w);
    assert_int_equal(commit(w, C0, "zero"), SILT_OK);
    assert_non_null(strstr(w->fake->last_authorization, "Credential=AKPROFILE/"));
    setenv("AWS_PROFILE", "absent", 1);
    open_store(w);
    assert_int_equal(commit(w, C1, "one"), SILT_INVALID);
    assert_non_null(strstr(w->err.message, "AWS_PROFILE"));
    assert_non_null(strstr(w->err.message, "absent"));
    setenv("AWS_PROFILE", "sso", 1);
    open_store(w);
    assert_int_equal(commit(w, C1, "one"), SILT_DENIED);
    assert_string_equal(w->err.condition, "S3_NO_CREDENTIALS");
}

/* Only what says that the object is not there means so: another 404 would make a table that is there look as if it were not. */
static void what_is_absent_and_what_is_not(void **state) {
    static const struct {
        const char *answer;
        silt_status status;
        const char *condition, *hint;
    } cases[] = {
        {"404 NoSuchKey", SILT_NOT_FOUND, "FILE_NOT_FOUND", ""},
        {"404", SILT_NOT_FOUND, "FILE_NOT_FOUND", ""},
        {"404 NoSuchBucket", SILT_INVALID, "STORE_BUCKET_NOT_FOUND", ""},
        {"404 XAdminUserNotFound", SILT_DENIED, "STORE_ACCESS_DENIED", ""}, /* versitygw at an unknown access key */
        {"404 InvalidAccessKeyId", SILT_DENIED, "STORE_ACCESS_DENIED", ""},
        {"404 SomethingElse", SILT_IO, "STORE_REQUEST_FAILED", ""},
        {"403 AccessDenied", SILT_DENIED, "STORE_ACCESS_DENIED", "docs/stores.md"},
        {"400 ExpiredToken", SILT_DENIED, "STORE_ACCESS_DENIED", "session token has expired"},
        {"400 InvalidToken", SILT_DENIED, "STORE_ACCESS_DENIED", "get a new one"},
        {"403 RequestTimeTooSkewed", SILT_DENIED, "STORE_ACCESS_DENIED", "clock"},
    };
    world *w = *state;
    buf b;
    store_list_result list = {0};
    buf_init(&b, 1000);
    open_store(w);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        w->fake->refusal = cases[i].answer;
        w->err = (silt_error){0};
        assert_int_equal(store_read(w->s, STR(C0), 0, -1, &b, &w->err), cases[i].status);
        assert_string_equal(w->err.condition, cases[i].condition);
        assert_non_null(strstr(w->err.hint, cases[i].hint));
        if (cases[i].answer[3]) assert_non_null(strstr(w->err.detail, cases[i].answer + 4));
        w->err = (silt_error){0};
        assert_int_equal(store_list(w->s, STR("/t/_delta_log"), STR_NULL, false, w->a, &list, &w->err), cases[i].status);
    }
    buf_dispose(&b);
}

static void anonymous_requests_are_not_signed(void **state) {
    world *w = *state;
    store_entry e;
    set(w, "fs.s3a.aws.credentials.provider", "org.apache.hadoop.fs.s3a.AnonymousAWSCredentialsProvider");
    open_store(w);
    fake_s3_set(w->fake, KEY0, "zero");
    assert_int_equal(store_stat(w->s, STR(C0), w->a, &e, &w->err), SILT_OK);
    assert_string_equal(w->fake->last_authorization, "");
    set(w, "fs.s3a.aws.credentials.provider", "com.example.Mine");
    store_settings settings = {.get = get_setting, .ctx = w};
    store *s = NULL;
    assert_int_equal(store_s3_open(STR("bucket"), &settings, &s, &w->err), SILT_UNSUPPORTED);
}

/* ---- a single writer ---- */

static void a_lost_commit_is_told(void **state) {
    world *w = *state;
    w->fake->overwrites = true;
    set(w, "silt.s3.commit", "single-writer");
    open_store(w);
    assert_int_equal(commit(w, C0, "zero"), SILT_OK);
    assert_int_equal(commit(w, C0, "again"), SILT_EXISTS);
    w->fake->steals = KEY1;
    assert_int_equal(commit(w, C1, "one"), SILT_IO);
    assert_string_equal(w->err.condition, "S3_COMMIT_LOST");
    buf text;
    buf_init(&text, 1000);
    store_guard(w->s, &text);
    assert_true(str_starts_with(buf_str(&text), STR("unsafe: ")));
    buf_dispose(&text);
}

static void a_commit_overwritten_later_is_told_by_the_next(void **state) {
    world *w = *state;
    set(w, "silt.s3.commit", "single-writer");
    open_store(w);
    assert_int_equal(commit(w, C0, "zero"), SILT_OK);
    fake_s3_set(w->fake, KEY0, "another writer's");
    assert_int_equal(commit(w, C1, "one"), SILT_IO);
    assert_string_equal(w->err.condition, "S3_COMMIT_LOST");
    assert_null(fake_s3_find(w->fake, KEY1));
}

/* Without the setting the name of Delta's default does not lower the guard. */
static void a_single_driver_by_name_alone_is_guarded(void **state) {
    world *w = *state;
    w->fake->overwrites = true;
    set(w, "spark.delta.logStore.s3a.impl", "io.delta.storage.S3SingleDriverLogStore");
    open_store(w);
    assert_int_equal(commit(w, C0, "zero"), SILT_UNSUPPORTED);
    assert_int_equal(w->fake->n_objects, 0);
}

static void an_unknown_log_store_commits_nothing(void **state) {
    world *w = *state;
    set(w, "spark.delta.logStore.s3a.impl", "com.example.Other");
    open_store(w);
    fake_s3_set(w->fake, KEY0, "zero");
    assert_int_equal(commit(w, C1, "one"), SILT_UNSUPPORTED);
    assert_non_null(strstr(w->err.detail, "com.example.Other"));
    buf b;
    buf_init(&b, 100);
    assert_int_equal(store_read(w->s, STR(C0), 0, -1, &b, NULL), SILT_OK); /* reading needs no guard */
    buf_dispose(&b);
}

static void a_table_of_dynamodb_is_refused(void **state) {
    world *w = *state;
    fake_s3_set(w->fake, KEY0, "zero");
    fake_s3_set(w->fake, "t/_delta_log/.tmp/00000000000000000000.json.u", "zero");
    open_store(w);
    assert_int_equal(commit(w, C1, "one"), SILT_UNSUPPORTED);
    assert_string_equal(w->err.condition, "S3_LOG_STORE_MISMATCH");
    set(w, "silt.s3.commit", "single-writer");
    open_store(w);
    assert_int_equal(commit(w, C1, "one"), SILT_UNSUPPORTED);
    assert_null(fake_s3_find(w->fake, KEY1));
    assert_int_equal(store_put(w->s, STR("/u/_delta_log/00000000000000000000.json"), STR("z"), STORE_PUT_IF_ABSENT, &w->err), SILT_OK); /* another table */
}

/* ---- uploads ---- */

static void write_local(world *w, const char *path, size_t size, str *local) {
    assert_int_equal(store_write_begin(w->s, str_of(path), w->a, local, &w->err), SILT_OK);
    FILE *file = fopen(local->ptr, "w");
    assert_non_null(file);
    for (size_t i = 0; i < size; i++) fputc((int)(i * 31 % 251), file);
    fclose(file);
}

static void assert_pattern(world *w, const char *key, size_t size) {
    const fake_object *o = fake_s3_find(w->fake, key);
    assert_non_null(o);
    assert_int_equal(o->bytes.len, size);
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)o->bytes.ptr[i] != i * 31 % 251) fail_msg("byte %zu", i);
}

static void large_files_go_in_parts(void **state) {
    world *w = *state;
    str local;
    open_store(w);
    ((s3_store *)w->s)->base.piece_bytes = 100000;
    write_local(w, "/t/big.parquet", 1050001, &local);
    break_nth(w, "PUT", 3, TINY_RESET, false);
    assert_int_equal(store_write_finish(w->s, STR("/t/big.parquet"), local, &w->err), SILT_OK);
    assert_pattern(w, "t/big.parquet", 1050001);
    assert_int_equal(w->fake->uploads_open, 0);
    assert_int_equal(access(local.ptr, F_OK), -1);
    write_local(w, "/t/small.parquet", 100000, &local);
    assert_int_equal(store_write_finish(w->s, STR("/t/small.parquet"), local, &w->err), SILT_OK);
    assert_pattern(w, "t/small.parquet", 100000);
    assert_int_equal(w->fake->n_objects, 2);
}

static void a_failed_upload_leaves_nothing(void **state) {
    world *w = *state;
    str local;
    open_store(w);
    ((s3_store *)w->s)->base.piece_bytes = 100000;
    write_local(w, "/t/big.parquet", 500000, &local);
    w->fake->part_fails = true;
    assert_int_equal(store_write_finish(w->s, STR("/t/big.parquet"), local, &w->err), SILT_DENIED);
    assert_int_equal(w->fake->n_objects, 0);
    w->fake->part_fails = false;
    w->fake->completions_fail_in_body = 100;
    assert_int_equal(store_write_finish(w->s, STR("/t/big.parquet"), local, &w->err), SILT_IO);
    assert_non_null(strstr(w->err.detail, "InternalError"));
    assert_null(fake_s3_find(w->fake, "t/big.parquet"));
    assert_int_equal(w->fake->uploads_open, 0);
    w->fake->completions_fail_in_body = 2;
    assert_int_equal(store_write_finish(w->s, STR("/t/big.parquet"), local, &w->err), SILT_OK);
}

static void a_completed_upload_whose_reply_is_lost(void **state) {
    world *w = *state;
    str local;
    open_store(w);
    ((s3_store *)w->s)->base.piece_bytes = 100000;
    write_local(w, "/t/big.parquet", 250000, &local);
    break_nth(w, "POST", 2, TINY_RESET, true);
    assert_int_equal(store_write_finish(w->s, STR("/t/big.parquet"), local, &w->err), SILT_OK);
    assert_pattern(w, "t/big.parquet", 250000);
}

/* Something on the way sent the request again: to us it is the first answer. */
static void a_completion_that_came_twice(void **state) {
    world *w = *state;
    str local;
    open_store(w);
    ((s3_store *)w->s)->base.piece_bytes = 100000;
    write_local(w, "/t/big.parquet", 250000, &local);
    w->fake->complete_comes_twice = true;
    assert_int_equal(store_write_finish(w->s, STR("/t/big.parquet"), local, &w->err), SILT_OK);
    assert_pattern(w, "t/big.parquet", 250000);
}

/* The upload is gone and nothing is there: somebody aborted it. */
static void an_upload_that_was_aborted_is_no_success(void **state) {
    world *w = *state;
    str local;
    open_store(w);
    ((s3_store *)w->s)->base.piece_bytes = 100000;
    write_local(w, "/t/big.parquet", 250000, &local);
    fake_s3_set(w->fake, "t/big.parquet", "of another length");
    w->fake->aborts_itself = true;
    assert_int_not_equal(store_write_finish(w->s, STR("/t/big.parquet"), local, &w->err), SILT_OK);
    store_write_abort(w->s, STR("/t/big.parquet"), local);
}

static void headers_of_writes(void **state) {
    world *w = *state;
    set(w, "fs.s3a.encryption.algorithm", "SSE-KMS");
    set(w, "fs.s3a.encryption.key", "arn:key");
    set(w, "fs.s3a.requester.pays.enabled", "true");
    open_store(w);
    assert_int_equal(store_put(w->s, STR("/x"), STR("1"), STORE_PUT_REPLACE, &w->err), SILT_OK);
    assert_non_null(strstr(w->fake->put_headers, "x-amz-server-side-encryption: aws:kms\r\n"));
    assert_non_null(strstr(w->fake->put_headers, "x-amz-server-side-encryption-aws-kms-key-id: arn:key\r\n"));
    assert_non_null(strstr(w->fake->put_headers, "x-amz-request-payer: requester\r\n"));
    assert_non_null(strstr(w->fake->put_headers, "x-amz-content-sha256: 6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b\r\n")); /* sha256 of "1" */
}

/* ---- lists and removals ---- */

static void a_log_is_listed_from_a_version_on(void **state) {
    world *w = *state;
    store_list_result list;
    char key[64];
    open_store(w);
    for (int i = 0; i < 60; i++) {
        snprintf(key, sizeof key, "t/_delta_log/%020d.json", i);
        fake_s3_set(w->fake, key, "x");
    }
    assert_int_equal(store_list(w->s, STR("/t/_delta_log"), STR("00000000000000000055."), false, w->a, &list, &w->err), SILT_OK);
    assert_int_equal(list.count, 5);
    assert_true(str_eqz(list.items[0].path, LOG "00000000000000000055.json"));
    assert_true(str_eqz(list.items[0].tag, "\"e\""));
    assert_int_equal(w->fake->n_lists, 1);
    assert_string_equal(w->fake->last_start_after, "t/_delta_log/00000000000000000055-~"); /* right before what is wanted */
}

static void many_are_removed_at_once(void **state) {
    world *w = *state;
    str names[40];
    silt_status statuses[40];
    char key[64];
    open_store(w);
    for (int i = 0; i < 40; i++) {
        snprintf(key, sizeof key, "t/a & b <%d>", i); /* to be escaped, then what the fake finds */
        names[i] = arena_printf(w->a, "f%d", i);
        snprintf(key, sizeof key, "t/f%d", i);
        fake_s3_set(w->fake, key, "x");
    }
    w->fake->fail_key = "f7";
    assert_int_equal(store_remove_below(w->s, STR("/t"), names, 40, statuses, &w->err), SILT_OK);
    assert_int_equal(w->fake->n_multi_deletes, 1);
    assert_int_equal(w->fake->n_objects, 1);
    assert_int_equal(statuses[7], SILT_DENIED);
    assert_int_equal(statuses[8], SILT_OK);
    assert_string_equal(w->err.condition, "PERMISSION_DENIED");
}

/* ---- hosts ---- */

static void hosts(void **state) {
    world *w = *state;
    set(w, "fs.s3a.endpoint", "");
    set(w, "fs.s3a.endpoint.region", "eu-west-1");
    open_store(w);
    assert_true(str_eqz(s3_url((s3_store *)w->s, STR("a b/c"), w->a), "https://bucket.s3.eu-west-1.amazonaws.com/a%20b/c"));
    set(w, "fs.s3a.path.style.access", "true");
    set(w, "fs.s3a.endpoint.region", "cn-north-1");
    open_store(w);
    assert_true(str_eqz(s3_url((s3_store *)w->s, STR("k"), w->a), "https://s3.cn-north-1.amazonaws.com.cn/bucket/k"));
    set(w, "fs.s3a.path.style.access", "false");
    set(w, "fs.s3a.endpoint", "minio.example.com:9000");
    open_store(w);
    assert_true(str_eqz(s3_url((s3_store *)w->s, STR("k"), w->a), "https://bucket.minio.example.com:9000/k"));
}

static void errors_hold_no_secret(void **state) {
    world *w = *state;
    set(w, "fs.s3a.secret.key", "verysecret");
    set(w, "fs.s3a.session.token", "tokensecret");
    open_store(w);
    w->fake->fail_key = "forbidden";
    assert_int_equal(store_put(w->s, STR("/forbidden"), STR("1"), STORE_PUT_REPLACE, &w->err), SILT_DENIED);
    const char *texts[] = {w->err.message, w->err.detail, w->err.hint};
    for (int i = 0; i < 3; i++) assert_true(!strstr(texts[i], "secret") || strstr(texts[i], "no secret here"));
    assert_non_null(strstr(w->err.message, "s3://bucket"));
}

#define S3_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        S3_TEST(what_is_absent_and_what_is_not),
        S3_TEST(a_good_server_is_asked_once),
        S3_TEST(a_server_that_overwrites_is_refused),
        S3_TEST(a_server_without_conditions_is_refused),
        S3_TEST(a_server_that_lets_two_win_is_refused),
        S3_TEST(a_probe_without_an_answer_is_asked_again),
        S3_TEST(a_probe_does_with_what_is_answered),
        S3_TEST(a_commit_whose_reply_is_lost_is_ours),
        S3_TEST(a_commit_that_broke_before_another_won_is_theirs),
        S3_TEST(an_undecided_conflict_is_tried_again),
        S3_TEST(an_aborted_put_is_tried_again),
        S3_TEST(the_region_is_learned),
        S3_TEST(threads_learn_side_by_side),
        S3_TEST(the_clock_is_learned),
        S3_TEST(a_web_identity_is_renewed_when_it_ended),
        S3_TEST(a_role_is_assumed),
        S3_TEST(profiles_are_read),
        S3_TEST(anonymous_requests_are_not_signed),
        S3_TEST(a_lost_commit_is_told),
        S3_TEST(a_commit_overwritten_later_is_told_by_the_next),
        S3_TEST(a_single_driver_by_name_alone_is_guarded),
        S3_TEST(an_unknown_log_store_commits_nothing),
        S3_TEST(a_table_of_dynamodb_is_refused),
        S3_TEST(large_files_go_in_parts),
        S3_TEST(a_failed_upload_leaves_nothing),
        S3_TEST(a_completed_upload_whose_reply_is_lost),
        S3_TEST(a_completion_that_came_twice),
        S3_TEST(an_upload_that_was_aborted_is_no_success),
        S3_TEST(headers_of_writes),
        S3_TEST(a_log_is_listed_from_a_version_on),
        S3_TEST(many_are_removed_at_once),
        S3_TEST(hosts),
        S3_TEST(errors_hold_no_secret),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
