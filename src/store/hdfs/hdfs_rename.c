/*
 * Giving a whole file its name: the step that commits.
 *
 * A NameNode renames without replacing, or replacing, as it is told (renameoptions), and answers with an empty body or an exception. HttpFS does not know the option: it renames as the
 * old call does, which never replaces a file, and answers {"boolean":…}. There an object is replaced by removing it first: readers may see none for a moment, never a part.
 *
 * An answer that was lost, or that belongs to a second sending by something between, is resolved by what is there. The temporary file was whole before, and nobody else knows its
 * name. Where it can still be deleted, the rename has not happened, and now never will. Then, in any case, the object's bytes are compared: every commit's are its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "store/hdfs/hdfs.h"

typedef struct naming {
    hdfs_store *s;
    str path, temporary;
    const hdfs_body *body;
    bool replace;
    bool in_doubt; /* a rename may have been carried out whose answer did not come */
    arena *a;
} naming;

/* ---- what is there ---- */

/* Bytes of the object beside those that were to be put, as they come. */
typedef struct comparison {
    const hdfs_body *body;
    int fd; /* of body->file, -1: bytes */
    int64_t size, end;
    bool same;
} comparison;

static bool is_same_piece(const comparison *c, int64_t offset, str bytes) {
    char block[65536];
    if (offset > c->size || (uint64_t)bytes.len > (uint64_t)(c->size - offset)) return false;
    if (c->fd < 0) return bytes.len == 0 || memcmp(c->body->bytes.ptr + offset, bytes.ptr, bytes.len) == 0;
    for (size_t at = 0; at < bytes.len;) {
        size_t want = bytes.len - at < sizeof block ? bytes.len - at : sizeof block;
        ssize_t got = pread(c->fd, block, want, offset + (int64_t)at);
        if (got <= 0 || memcmp(block, bytes.ptr + at, (size_t)got) != 0) return false;
        at += (size_t)got;
    }
    return true;
}

static silt_status compare_piece(void *ctx, int64_t offset, str bytes, silt_error *err) {
    comparison *c = ctx;
    (void)err;
    if (offset == 0) c->same = true; /* the first, or once more from the beginning */
    c->same = c->same && is_same_piece(c, offset, bytes);
    c->end = offset + (int64_t)bytes.len;
    return SILT_OK;
}

/* Is what is under the object's name what was to be put there? NOT_FOUND: nothing is. */
static silt_status compare(const naming *n, bool *out_same, silt_error *err) {
    const hdfs_body *body = n->body;
    comparison c = {.body = body, .fd = -1, .size = body->file ? body->size : (int64_t)body->bytes.len};
    *out_same = false;
    if (body->file) c.fd = open(body->file, O_RDONLY | O_CLOEXEC);
    if (body->file && c.fd < 0) return error_from_errno(err, errno, "open", str_of(body->file));
    silt_status status = hdfs_read_to(n->s, n->path, compare_piece, &c, err);
    if (c.fd >= 0) close(c.fd);
    *out_same = status == SILT_OK && c.same && c.end == c.size;
    return status;
}

/* After a doubt: what was to be put is there. The temporary file may still be there too, where another had put the same bytes. */
static bool is_there_already(const naming *n) {
    silt_error ignored;
    bool same, was_there;
    if (compare(n, &same, &ignored) != SILT_OK || !same) return false;
    (void)hdfs_discard(n->s, n->temporary, &was_there);
    return true;
}

/* ---- giving up, but not without knowing ---- */

static silt_status told_as(silt_status (*row)(silt_error *, str), const naming *n, const silt_error *why, silt_error *err) {
    silt_status status = store_path_error(&n->s->base, n->path, row, err);
    error_detail(err, "%s: %s", why->message, why->detail);
    return status;
}

static silt_status not_renamed(silt_error *err, str path) { return err_IO_ERROR(err, "rename", path); }

/* `was_there`: the temporary file could still be deleted. */
static silt_status judge_by_content(const naming *n, bool was_there, const silt_error *cause, silt_error *err) {
    silt_error why = {.status = SILT_OK};
    bool same;
    silt_status status = compare(n, &same, &why);
    if (status == SILT_OK && same) return SILT_OK;
    if (status == SILT_OK && !n->replace) return store_path_error(&n->s->base, n->path, err_PATH_ALREADY_EXISTS, err);
    if (was_there && (status == SILT_OK || status == SILT_NOT_FOUND)) return told_as(not_renamed, n, cause, err);
    return told_as(err_WRITE_OUTCOME_UNKNOWN, n, status == SILT_OK || status == SILT_NOT_FOUND ? cause : &why, err);
}

static silt_status give_up(const naming *n, silt_status status, const silt_error *why, silt_error *err) {
    bool was_there;
    silt_status discarded = hdfs_discard(n->s, n->temporary, &was_there);
    if (n->in_doubt) return judge_by_content(n, discarded == SILT_OK && was_there, why, err);
    if (err) *err = *why;
    return status;
}

static silt_status taken(const naming *n, silt_error *err) {
    silt_error why = {.status = SILT_OK};
    if (n->in_doubt && is_there_already(n)) return SILT_OK; /* by our own rename, whose answer was lost */
    silt_status status = store_path_error(&n->s->base, n->path, err_PATH_ALREADY_EXISTS, &why);
    return give_up(n, status, &why, err);
}

/* ---- answers ---- */

static bool is_folder(const naming *n) {
    store_entry e;
    return hdfs_stat(&n->s->base, n->path, n->a, &e, NULL) == SILT_OK && e.is_dir;
}

/* An exception ends it, one way or the other. */
static silt_status judge_exception(naming *n, const hdfs_answer *answer, silt_error *err) {
    silt_error why = {.status = SILT_OK};
    if (hdfs_is(answer, "FileAlreadyExistsException")) return taken(n, err);
    if (hdfs_is(answer, "IOException") && is_folder(n)) return taken(n, err); /* "must both be directories" */
    silt_status status = hdfs_failure(n->s, answer, "renaming to", n->path, &why);
    if (hdfs_is(answer, "FileNotFoundException")) n->in_doubt = true; /* it was there: this rename was carried out before, or somebody removed the folder */
    return give_up(n, status, &why, err);
}

typedef enum reply { REPLY_RENAMED, REPLY_REFUSED, REPLY_EXCEPTION } reply;

static reply reply_of(const hdfs_answer *answer, arena *scratch) {
    if (!hdfs_is_ok(answer)) return REPLY_EXCEPTION;
    return str_trim(answer->body).len == 0 || hdfs_answer_boolean(answer, scratch) ? REPLY_RENAMED : REPLY_REFUSED;
}

/* HttpFS says no, and not why. *out_again: the way was cleared. */
static silt_status judge_refusal(naming *n, bool *out_again, silt_error *err) {
    silt_error why = {.status = SILT_OK};
    store_entry there;
    bool was_there;
    silt_status status = hdfs_stat(&n->s->base, n->path, n->a, &there, &why);
    if (status == SILT_OK && n->replace && !there.is_dir && !n->in_doubt && hdfs_discard(n->s, n->path, &was_there) == SILT_OK) return *out_again = true, SILT_OK;
    if (status == SILT_OK) return taken(n, err);
    n->in_doubt = true;
    return give_up(n, status, &why, err);
}

static silt_status rename_once(const naming *n, hdfs_answer *out, silt_error *err) {
    str params = arena_printf(n->a, "&destination=%.*s&renameoptions=%s", STR_ARG(http_encode(n->path, true, n->a)), n->replace ? "OVERWRITE" : "NONE");
    const hdfs_request rename = {.method = "PUT", .op = "RENAME", .path = n->temporary, .params = params, .what = "renaming"};
    return str_is_null(params) ? error_no_memory(err) : hdfs_call(n->s, &rename, n->a, out, err);
}

static silt_status give_name(naming *n, silt_error *err) {
    silt_error why = {.status = SILT_OK};
    silt_status status = SILT_OK;
    for (int i = 1; i <= n->s->site.attempts; i++) {
        hdfs_answer answer = {.exception = STR_NULL};
        bool again = false;
        if (i > 1) hdfs_wait(n->s, i);
        status = rename_once(n, &answer, &why);
        n->in_doubt |= answer.may_have_applied || (status != SILT_OK && status != SILT_IO);
        if (status == SILT_OK) {
            reply r = reply_of(&answer, n->a);
            if (r == REPLY_RENAMED) return SILT_OK;
            if (r == REPLY_EXCEPTION) return judge_exception(n, &answer, err);
            status = judge_refusal(n, &again, err);
            if (!again) return status;
            status = not_renamed(&why, n->path);
            continue;
        }
        if (status != SILT_UNKNOWN) break;
        if (is_there_already(n)) return SILT_OK;
    }
    return give_up(n, status, &why, err);
}

silt_status hdfs_give_name(hdfs_store *s, str temporary, str path, const hdfs_body *body, bool replace, arena *a, silt_error *err) {
    naming n = {.s = s, .path = path, .temporary = temporary, .body = body, .replace = replace, .a = a};
    return give_name(&n, err);
}
