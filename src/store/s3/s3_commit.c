/*
 * Putting an object that must not be there yet, by the way that is configured.
 *
 * conditional: If-None-Match: *, by a server that proved to honour it. dynamodb: commits go through Delta's table (s3_dynamodb.c). single-writer: nothing guards; it is looked first,
 * written, and read back, and before the next commit the last one is looked at again: what another writer overwrote is told as an error, as soon as it can be seen.
 * In the last two ways only commits are worth that: the other objects put if absent have names of their own (vectors), or hold what any writer of that version would write.
 *
 * A table that was written through DynamoDB has traces of it in its log (s3_dynamodb.c); a writer that is not so configured would pass by the others' guard, and refuses.
 */
#include <stdlib.h>

#include "base/time.h"
#include "base/uri.h"
#include "store/object/object_internal.h"
#include "store/s3/s3.h"
#include "store/s3/s3_dynamodb.h"

#define LOOK_AGAIN_MS 60000 /* for other writers' traces */

/* Logs that this store committed to. */
typedef struct s3_last {
    struct s3_last *next;
    char *folder;      /* owned */
    size_t folder_len;
    int64_t looked_ms; /* monotonic: for traces of DynamoDB; 0: never */
    char *path;        /* of the last commit, owned; NULL: none */
    char digest[65];   /* of its bytes */
} s3_last;

void s3_last_free(s3_last *last) {
    while (last) {
        s3_last *next = last->next;
        free(last->folder);
        free(last->path);
        free(last);
        last = next;
    }
}

/* Under the lock. NULL: no memory. */
static s3_last *last_of(s3_store *s, str folder) {
    for (s3_last *l = s->last; l; l = l->next)
        if (str_eq((str){l->folder, l->folder_len}, folder)) return l;
    s3_last *l = calloc(1, sizeof *l);
    if (l) l->folder = strndup(folder.ptr, folder.len);
    if (!l || !l->folder) {
        free(l);
        return NULL;
    }
    l->folder_len = folder.len;
    l->next = s->last;
    s->last = l;
    return l;
}

/* ---- other writers' traces ---- */

static silt_status look_for_dynamodb(s3_store *s, str folder, silt_error *err) {
    dynamodb_traces traces;
    arena *a = arena_new();
    silt_status status = a ? dynamodb_look_for_traces(s, folder, a, &traces, err) : error_no_memory(err);
    arena_free(a);
    if (status != SILT_OK) return status;
    return traces.any ? store_path_error(&s->base.base, path_parent(folder), err_S3_LOG_STORE_MISMATCH, err) : SILT_OK;
}

static silt_status refuse_mismatch(s3_store *s, str folder, silt_error *err) {
    int64_t now = time_monotonic_ms();
    pthread_mutex_lock(&s->lock);
    s3_last *l = last_of(s, folder);
    bool known = l && l->looked_ms && now - l->looked_ms < LOOK_AGAIN_MS;
    pthread_mutex_unlock(&s->lock);
    if (!l) return error_no_memory(err);
    if (known) return SILT_OK;
    TRY(look_for_dynamodb(s, folder, err));
    pthread_mutex_lock(&s->lock);
    l->looked_ms = now;
    pthread_mutex_unlock(&s->lock);
    return SILT_OK;
}

/* ---- a single writer ---- */

static silt_status read_digest(s3_store *s, str path, char out[65], silt_error *err) {
    buf bytes;
    buf_init(&bytes, BUF_MAX_DEFAULT);
    silt_status status = object_store_read(&s->base.base, path, 0, -1, &bytes, err);
    if (status == SILT_OK) s3_sha256_hex(buf_str(&bytes), out);
    if (status == SILT_OK && !out[0]) status = error_no_memory(err);
    buf_dispose(&bytes);
    return status;
}

/* Is the commit before this one still what was written? Cleaned up by age is no loss. */
static silt_status check_last(s3_store *s, str folder, silt_error *err) {
    char path[1100] = "", digest[65], now[65];
    silt_error why = {0};
    pthread_mutex_lock(&s->lock);
    s3_last *l = last_of(s, folder);
    if (l && l->path && strlen(l->path) < sizeof path) {
        memcpy(path, l->path, strlen(l->path) + 1);
        memcpy(digest, l->digest, sizeof digest);
    }
    pthread_mutex_unlock(&s->lock);
    if (!path[0]) return SILT_OK;
    silt_status status = read_digest(s, str_of(path), now, &why);
    if (status == SILT_NOT_FOUND) return SILT_OK;
    if (status == SILT_OK) return strcmp(now, digest) == 0 ? SILT_OK : store_path_error(&s->base.base, str_of(path), err_S3_COMMIT_LOST, err);
    if (err) *err = why;
    return status;
}

static silt_status note_last(s3_store *s, str folder, str path, const char *digest, silt_error *err) {
    pthread_mutex_lock(&s->lock);
    s3_last *l = last_of(s, folder);
    char *copy = strndup(path.ptr, path.len);
    if (l && copy) {
        free(l->path);
        l->path = copy;
        memcpy(l->digest, digest, sizeof l->digest);
    } else {
        free(copy);
    }
    pthread_mutex_unlock(&s->lock);
    return l && copy ? SILT_OK : error_no_memory(err);
}

static silt_status exists(s3_store *s, str path, silt_error *err) {
    store_entry entry;
    arena *a = arena_new();
    silt_error why = {0};
    silt_status status = a ? s->base.base.ops->stat(&s->base.base, path, a, &entry, &why) : error_no_memory(&why);
    arena_free(a);
    if (status == SILT_OK) return entry.is_dir ? SILT_OK : store_path_error(&s->base.base, path, err_PATH_ALREADY_EXISTS, err);
    if (status == SILT_NOT_FOUND) return SILT_OK;
    if (err) *err = why;
    return status;
}

static silt_status put_unguarded(s3_store *s, str path, str bytes, silt_error *err) {
    TRY(exists(s, path, err));
    return object_store_put(&s->base.base, path, bytes, STORE_PUT_REPLACE, err);
}

static silt_status put_as_single_writer(s3_store *s, str path, str bytes, silt_error *err) {
    str folder = path_parent(path);
    char ours[65], there[65];
    s3_sha256_hex(bytes, ours);
    if (!ours[0]) return error_no_memory(err);
    TRY(check_last(s, folder, err));
    TRY(put_unguarded(s, path, bytes, err));
    silt_error why = {0};
    silt_status status = read_digest(s, path, there, &why);
    if (status == SILT_NOT_FOUND || (status == SILT_OK && strcmp(ours, there) != 0)) return store_path_error(&s->base.base, path, err_S3_COMMIT_LOST, err);
    if (status != SILT_OK) {
        status = store_path_error(&s->base.base, path, err_WRITE_OUTCOME_UNKNOWN, err);
        error_detail(err, "It was written and could not be read back: %s", why.message);
        return status;
    }
    return note_last(s, folder, path, ours, err);
}

/* ---- put ---- */

static silt_status refuse_unknown(const s3_store *s, silt_error *err) {
    silt_status status = err_UNSUPPORTED_FEATURE(err, "the configured LogStore (spark.delta.logStore.s3a.impl) for commits on S3; it");
    error_detail(err, "%.*s", STR_ARG(s->settings.log_store));
    error_hint(err, "Use io.delta.storage.S3DynamoDBLogStore, or set silt.s3.commit to conditional, dynamodb or single-writer.");
    return status;
}

silt_status s3_put(store *store_, str path, str bytes, store_put_mode mode, silt_error *err) {
    s3_store *s = (s3_store *)store_;
    bool commit = dynamodb_is_commit(path);
    if (mode == STORE_PUT_REPLACE) return object_store_put(store_, path, bytes, mode, err);
    if (s->settings.commit == S3_COMMIT_UNKNOWN) return refuse_unknown(s, err);
    if (commit && s->settings.commit != S3_COMMIT_DYNAMODB) TRY(refuse_mismatch(s, path_parent(path), err));
    switch (s->settings.commit) {
        case S3_COMMIT_DYNAMODB: return commit ? dynamodb_commit(s->dynamodb, s, path, bytes, err) : put_unguarded(s, path, bytes, err);
        case S3_COMMIT_SINGLE_WRITER: return commit ? put_as_single_writer(s, path, bytes, err) : put_unguarded(s, path, bytes, err);
        case S3_COMMIT_CONDITIONAL:
        case S3_COMMIT_UNKNOWN: break;
    }
    TRY(s3_probe(s, path, err));
    return object_store_put(store_, path, bytes, mode, err);
}
