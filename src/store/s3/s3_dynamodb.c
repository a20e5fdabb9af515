/*
 * The protocol of S3DynamoDBLogStore. Version N is committed by
 *
 *   0. _delta_log/N.json must not be there, and N-1 must be (an incomplete entry of it is completed first);
 *   1. prepare: the bytes go to _delta_log/.tmp/N.json.<uuid>, then an entry (complete=false) is put that must not be there yet: who puts it has version N;
 *   2. commit: the bytes go to _delta_log/N.json;
 *   3. acknowledge: the entry is put again with complete=true and the time after which it may go.
 *
 * From 1 on the commit is decided: whoever lists the log, or writes N+1, does 2 and 3 in place of a writer that died. So a failure of 2 or 3 is no failure of the commit. Writing
 * N.json twice writes the same bytes. Source: Delta Lake's open source (storage-s3-dynamodb) for the facts, its documentation "Multi-cluster setup".
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/ident.h"
#include "base/time.h"
#include "base/uri.h"
#include "store/s3/dynamodb.h"
#include "store/object/object_internal.h"
#include "store/s3/s3_dynamodb.h"

#define DAY_S 86400

/*
 * Of the two traces of this way of committing neither stays: entries end by themselves, and temporary files are what Delta's documentation lets the bucket's rules clean away. So that a
 * writer that is not so configured finds out at any time (s3_commit.c), Silt leaves a file in the log besides. Readers of tables pass over it, as over all that begins with a dot.
 */
#define MARK      ".dynamodb"
#define MARK_TEXT "This table is committed to through DynamoDB (S3DynamoDBLogStore): a writer that is not so configured could overwrite commits.\n"

struct dynamodb_log {
    dynamodb *client;
    http_client *http;
    s3_credentials *own; /* of credentials.provider; NULL: the store's */
    arena *a;
    str root;      /* "s3a://bucket" */
    int64_t ttl_s;
    bool first; /* atomic: see dynamodb_take_first */
};

/* ---- names ---- */

bool dynamodb_is_log(str dir) { return str_eqz(path_name(dir), "_delta_log"); }

bool dynamodb_is_commit(str path) {
    str name = path_name(path);
    if (name.len != 25 || !str_ends_with(name, STR(".json")) || !dynamodb_is_log(path_parent(path))) return false;
    for (size_t i = 0; i < 20; i++)
        if (name.ptr[i] < '0' || name.ptr[i] > '9') return false;
    return true;
}

/* As Hadoop's Path prints it: scheme, bucket and the path as it is. */
static str table_path_of(const dynamodb_log *d, str log_dir, arena *a) {
    str table = path_parent(log_dir);
    return table.len <= 1 ? arena_printf(a, "%.*s/", STR_ARG(d->root)) : arena_printf(a, "%.*s%.*s", STR_ARG(d->root), STR_ARG(table));
}

/* ---- traces ---- */

/* The names in the log that begin with a dot, folders as one each: few, however many temporary files there are. */
silt_status dynamodb_look_for_traces(s3_store *s, str log_dir, arena *a, dynamodb_traces *out, silt_error *err) {
    str folder = object_key(log_dir), mark = STR_NULL;
    object_listing l = {.prefix = arena_printf(a, "%.*s/.", STR_ARG(folder)), .start_at = STR_NULL, .by_folder = true};
    *out = (dynamodb_traces){false, false};
    if (str_is_null(l.prefix)) return error_no_memory(err);
    do {
        object_page page;
        TRY(object_list_page(&s->base, &l, mark, a, &page, err));
        for (size_t i = 0; i < page.count; i++) {
            str name = str_slice(page.items[i].key, l.prefix.len - 1, page.items[i].key.len);
            out->mark |= str_eqz(name, MARK);
            out->any |= out->mark || str_starts_with(name, STR(".tmp/"));
        }
        mark = page.next;
    } while (!out->mark && !str_is_null(mark));
    return SILT_OK;
}

/* ---- opening ---- */

static silt_status parameter(const store_settings *s, const char *name, str absent, str *out, silt_error *err) {
    char base[128], spark[128];
    snprintf(base, sizeof base, "io.delta.storage.S3DynamoDBLogStore.%s", name);
    snprintf(spark, sizeof spark, "spark.io.delta.storage.S3DynamoDBLogStore.%s", name);
    str x = store_setting(s, base), y = s && s->get ? s->get(s->ctx, spark) : STR_NULL;
    if (!str_is_null(x) && !str_is_null(y) && !str_eq(x, y)) return err_INVALID_PARAMETER_VALUE(err, str_of(spark), y, "the same value as without the prefix spark., or one of the two unset");
    *out = !str_is_null(y) ? y : !str_is_null(x) ? x : absent;
    return SILT_OK;
}

static silt_status number(const store_settings *s, const char *name, int64_t absent, int64_t least, int64_t *out, silt_error *err) {
    str text;
    TRY(parameter(s, name, STR_NULL, &text, err));
    *out = absent;
    if (str_is_null(text) || (str_to_i64(text, out) && *out >= least)) return SILT_OK;
    return err_INVALID_PARAMETER_VALUE(err, str_of(name), text, least ? "a whole number above 0" : "a whole number of seconds, not negative");
}

static bool is_by_dynamodb(const store_settings *s, const char *which) {
    char key[64];
    snprintf(key, sizeof key, "spark.delta.logStore.%s", which);
    return str_ends_with(str_trim(store_setting(s, key)), STR("S3DynamoDBLogStore"));
}

/*
 * The scheme in the entries' key. Delta takes the one by which a job names the table, and has a LogStore for each: so the scheme that is used here if its LogStore (or that of all) is this
 * one, else the one for which it is set, since jobs that guard the table must be using that.
 */
static str scheme_of(const store_settings *s, const char *used) {
    static const char *const schemes[] = {"s3a", "s3", "s3n"};
    char which[16];
    str told = str_trim(store_setting(s, "silt.s3.dynamodb.scheme"));
    if (told.len) return told;
    snprintf(which, sizeof which, "%s.impl", used);
    if (is_by_dynamodb(s, which)) return str_of(used);
    for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
        snprintf(which, sizeof which, "%s.impl", schemes[i]);
        if (is_by_dynamodb(s, which)) return str_of(schemes[i]);
    }
    return is_by_dynamodb(s, "class") ? str_of(used) : STR("s3a");
}

static silt_status open_client(dynamodb_log *d, s3_store *s, const store_settings *settings, s3_env env, void *env_ctx, silt_error *err) {
    dynamodb_options o = {.credentials = s->credentials};
    str provider, endpoint = str_trim(store_setting(settings, "silt.s3.dynamodb.endpoint"));
    TRY(parameter(settings, "ddb.tableName", STR("delta_log"), &o.table, err));
    TRY(parameter(settings, "ddb.region", STR("us-east-1"), &o.region, err));
    TRY(parameter(settings, "credentials.provider", STR_NULL, &provider, err));
    TRY(number(settings, "ddb.ttl", DAY_S, 0, &d->ttl_s, err));
    TRY(number(settings, "provisionedThroughput.rcu", 5, 1, &o.rcu, err));
    TRY(number(settings, "provisionedThroughput.wcu", 5, 1, &o.wcu, err));
    if (endpoint.len == 0) TRY(parameter(settings, "ddb.endpoint", STR(""), &endpoint, err));
    if (endpoint.len == 0) endpoint = str_trim(str_of(env(env_ctx, "AWS_ENDPOINT_URL_DYNAMODB")));
    while (endpoint.len && endpoint.ptr[endpoint.len - 1] == '/') endpoint.len--;
    o.endpoint = endpoint.len ? endpoint : STR_NULL;
    if (!str_is_null(provider)) {
        s3_credentials_options who = {.bucket = s->settings.bucket, .settings = settings, .env = env, .env_ctx = env_ctx, .region = o.region, .providers = provider};
        TRY(s3_credentials_new(&who, &d->own, err));
        o.credentials = d->own;
    }
    http_options http = {.ca_file = s->settings.ca_file, .proxy = s->settings.proxy, .waiter = settings ? settings->waiter : (http_waiter){.cancel = NULL}};
    TRY(http_client_new(&http, &d->http, err));
    o.client = d->http;
    return dynamodb_new(&o, &d->client, err);
}

silt_status dynamodb_open(s3_store *s, const store_settings *settings, s3_env env, void *env_ctx, dynamodb_log **out, silt_error *err) {
    dynamodb_log *d = calloc(1, sizeof *d);
    if (!d) return error_no_memory(err);
    d->a = arena_new();
    if (d->a) d->root = arena_printf(d->a, "%.*s://%.*s", STR_ARG(scheme_of(settings, s->settings.scheme)), STR_ARG(s->settings.bucket));
    silt_status status = d->a && !str_is_null(d->root) ? open_client(d, s, settings, env, env_ctx, err) : error_no_memory(err);
    if (status != SILT_OK) {
        dynamodb_close(d);
        return status;
    }
    *out = d;
    return SILT_OK;
}

void dynamodb_close(dynamodb_log *d) {
    if (!d) return;
    dynamodb_free(d->client);
    http_client_free(d->http);
    s3_credentials_free(d->own);
    arena_free(d->a);
    free(d);
}

/* ---- steps ---- */

static silt_status exists(s3_store *s, str path, arena *a, bool *out, silt_error *err) {
    store_entry entry;
    silt_error why = {0};
    silt_status status = object_store_stat(&s->base.base, path, a, &entry, &why);
    *out = status == SILT_OK && !entry.is_dir;
    if (status == SILT_OK || status == SILT_NOT_FOUND) return SILT_OK;
    if (err) *err = why;
    return status;
}

static silt_status acknowledge(dynamodb_log *d, const dynamodb_entry *entry, silt_error *err) {
    dynamodb_entry done = *entry;
    done.complete = true;
    done.expire_s = time_now_ms() / 1000 + d->ttl_s;
    return dynamodb_put(d->client, &done, true, err);
}

/* An entry's temporary file is below the log's folder and nowhere else. */
static silt_status temp_path_of(str log_dir, const dynamodb_entry *entry, arena *a, str *out, silt_error *err) {
    str joined = path_join(a, log_dir, entry->temp_path);
    *out = str_is_null(joined) ? joined : path_normalize(a, joined);
    str inside = arena_printf(a, "%.*s/", STR_ARG(log_dir));
    if (str_is_null(*out) || str_is_null(inside)) return error_no_memory(err);
    if (str_starts_with(*out, inside)) return SILT_OK;
    silt_status status = err_DELTA_LOG_FILE_NOT_FOUND(err, entry->file_name);
    error_detail(err, "Its entry in DynamoDB names a file outside of the log: %.*s", STR_ARG(entry->temp_path));
    return status;
}

static silt_status copy_temp(s3_store *s, str from, str to, silt_error *err) {
    buf bytes;
    buf_init(&bytes, BUF_MAX_DEFAULT);
    silt_status status = object_store_read(&s->base.base, from, 0, -1, &bytes, err);
    if (status == SILT_OK) status = object_store_put(&s->base.base, to, buf_str(&bytes), STORE_PUT_REPLACE, err);
    buf_dispose(&bytes);
    return status;
}

/* Commits are not all that Delta writes so: checksums are too. But only files of the log itself. */
static bool is_plain_name(str name) { return name.len > 0 && str_find_char(name, '/') == SIZE_MAX && !str_eqz(name, ".") && !str_eqz(name, ".."); }

/* Steps 2 and 3 in place of the writer. */
static silt_status complete(dynamodb_log *d, s3_store *s, str log_dir, const dynamodb_entry *entry, arena *a, silt_error *err) {
    str target = path_join(a, log_dir, entry->file_name), temp;
    bool there;
    if (str_is_null(target)) return error_no_memory(err);
    if (!is_plain_name(entry->file_name)) return store_path_error(&s->base.base, target, err_DELTA_LOG_FILE_NOT_FOUND, err);
    TRY(exists(s, target, a, &there, err));
    if (!there) {
        TRY(temp_path_of(log_dir, entry, a, &temp, err));
        TRY(copy_temp(s, temp, target, err));
    }
    return acknowledge(d, entry, err);
}

/* ---- committing ---- */

typedef struct commit {
    dynamodb_log *d;
    s3_store *s;
    str path, log_dir, name, table, bytes;
    int64_t version;
    arena *a;
    dynamodb_traces traces;
} commit;

/* The version before has to be in the log, or its writer died and it is put there now. */
static silt_status check_previous(commit *c, silt_error *err) {
    dynamodb_entry entry;
    silt_error why = {0};
    bool there;
    str name = arena_printf(c->a, "%020lld.json", (long long)(c->version - 1)), path = path_join(c->a, c->log_dir, name);
    if (str_is_null(name) || str_is_null(path)) return error_no_memory(err);
    silt_status status = dynamodb_get(c->d->client, c->table, name, c->a, &entry, &why);
    if (status == SILT_OK && !entry.complete) {
        c->traces.any = true; /* that entry */
        return complete(c->d, c->s, c->log_dir, &entry, c->a, err);
    }
    if (status != SILT_OK && status != SILT_NOT_FOUND) {
        if (err) *err = why;
        return status;
    }
    TRY(exists(c->s, path, c->a, &there, err));
    if (there && dynamodb_look_for_traces(c->s, c->log_dir, c->a, &c->traces, NULL) != SILT_OK) c->traces = (dynamodb_traces){true, true}; /* not to know it is no reason to fail */
    return there ? SILT_OK : store_path_error(&c->s->base.base, path, err_DELTA_LOG_FILE_NOT_FOUND, err);
}

/* A table that was dropped and is made again: entries of the old one would be taken for commits of the new. */
static silt_status check_first(commit *c, silt_error *err) {
    dynamodb_entry entry;
    silt_error why = {0};
    silt_status status = dynamodb_get(c->d->client, c->table, c->name, c->a, &entry, &why);
    if (status == SILT_NOT_FOUND) return SILT_OK;
    if (status == SILT_OK) return entry.complete ? err_S3_OLD_DYNAMODB_ENTRIES(err, c->table) : SILT_OK;
    if (err) *err = why;
    return status;
}

/* Before the entry, so that it is there whenever an entry is. Whoever cannot write it may still commit: the next one tries again. */
static void leave_mark(const commit *c) {
    str path = path_join(c->a, c->log_dir, STR(MARK));
    if (!c->traces.mark && !str_is_null(path)) (void)!object_store_put(&c->s->base.base, path, STR(MARK_TEXT), STORE_PUT_REPLACE, NULL);
}

static void remove_temp(commit *c, str temp) { (void)!object_store_remove(&c->s->base.base, temp, NULL); }

/* Who lost reads the winner's commit next, by its name: it must be there even where the winner died between deciding and writing. */
static void finish_winner(commit *c) {
    dynamodb_entry entry;
    if (dynamodb_get(c->d->client, c->table, c->name, c->a, &entry, NULL) == SILT_OK && !entry.complete) (void)!complete(c->d, c->s, c->log_dir, &entry, c->a, NULL);
}

static silt_status prepare(commit *c, dynamodb_entry *entry, silt_error *err) {
    char id[37];
    uuid_generate(id);
    str relative = arena_printf(c->a, ".tmp/%.*s.%s", STR_ARG(c->name), id), temp = path_join(c->a, c->log_dir, relative);
    if (str_is_null(relative) || str_is_null(temp)) return error_no_memory(err);
    *entry = (dynamodb_entry){c->table, c->name, relative, false, -1};
    TRY(object_store_put(&c->s->base.base, temp, c->bytes, STORE_PUT_REPLACE, err));
    silt_status status = dynamodb_put(c->d->client, entry, false, err);
    if (status == SILT_EXISTS) {
        remove_temp(c, temp);
        finish_winner(c);
        return store_path_error(&c->s->base.base, c->path, err_PATH_ALREADY_EXISTS, err);
    }
    return status;
}

static silt_status run(commit *c, silt_error *err) {
    dynamodb_entry entry;
    bool there;
    TRY(exists(c->s, c->path, c->a, &there, err));
    if (there) return store_path_error(&c->s->base.base, c->path, err_PATH_ALREADY_EXISTS, err);
    c->traces.any = c->version == 0; /* no news of a new table */
    TRY(c->version > 0 ? check_previous(c, err) : check_first(c, err));
    leave_mark(c);
    TRY(prepare(c, &entry, err));
    if (!c->traces.any) __atomic_store_n(&c->d->first, true, __ATOMIC_RELAXED);
    /* Decided. What fails from here on is made up for by the next who lists the log. */
    if (object_store_put(&c->s->base.base, c->path, c->bytes, STORE_PUT_REPLACE, NULL) == SILT_OK) (void)!acknowledge(c->d, &entry, NULL);
    return SILT_OK;
}

silt_status dynamodb_commit(dynamodb_log *d, s3_store *s, str path, str bytes, silt_error *err) {
    commit c = {.d = d, .s = s, .path = path, .log_dir = path_parent(path), .name = path_name(path), .bytes = bytes, .a = arena_new()};
    if (!c.a) return error_no_memory(err);
    c.table = table_path_of(d, c.log_dir, c.a);
    bool known = str_to_i64(str_slice(c.name, 0, 20), &c.version);
    silt_status status = str_is_null(c.table) ? error_no_memory(err) : known ? run(&c, err) : err_INVALID_PARAMETER_VALUE(err, STR("version"), c.name, "a version");
    arena_free(c.a);
    return status;
}

bool dynamodb_take_first(dynamodb_log *d) { return __atomic_exchange_n(&d->first, false, __ATOMIC_RELAXED); }

/* ---- listing ---- */

static silt_status complete_newest(dynamodb_log *d, s3_store *s, str dir, arena *a, silt_error *err) {
    dynamodb_entry entry;
    silt_error why = {0};
    str table = table_path_of(d, dir, a);
    if (str_is_null(table)) return error_no_memory(err);
    silt_status status = dynamodb_latest(d->client, table, a, &entry, &why);
    if (status == SILT_NOT_FOUND) return SILT_OK;
    if (status == SILT_OK) return entry.complete ? SILT_OK : complete(d, s, dir, &entry, a, err);
    if (err) *err = why;
    return status;
}

silt_status dynamodb_list(dynamodb_log *d, s3_store *s, str dir, str start_at, bool recursive, arena *a, store_list_result *out, silt_error *err) {
    arena *own = arena_new();
    silt_status status = own ? complete_newest(d, s, dir, own, err) : error_no_memory(err);
    arena_free(own);
    return status == SILT_OK ? object_store_list(&s->base.base, dir, start_at, recursive, a, out, err) : status;
}
