/*
 * Making files.
 *
 * HDFS has no conditional put, but its rename refuses a name that is taken, in one step under the NameNode's lock (renameoptions=NONE). So an object is written under a name of its
 * own in the same folder, closed, and renamed. Three requests: NameNode, DataNode, NameNode. Creating the object under its final name was rejected: readers would see
 * a part of it, and a writer that dies leaves that part.
 *
 * Why each temporary name is used for one request only, and never with overwrite=true: a request whose connection broke may reach the DataNode late. If it could empty a file that
 * another attempt has written and that is about to be renamed, a commit would lose its bytes. As it is, it makes at most a hidden file that nobody refers to.
 *
 * Durability is the cluster's: a closed file is in the memory or on the disk of dfs.replication DataNodes (dfs.datanode.synconclose makes it the disk).
 */
#include <stdio.h>

#include "base/ident.h"
#include "base/uri.h"
#include "store/hdfs/hdfs.h"
#include "store/log_store.h"

#define FOLDER_ROUNDS 3

bool hdfs_is_temporary(str name) { return str_starts_with(name, STR(".silt-")) && str_ends_with(name, STR(".tmp")); }

static str temporary_path(str path, arena *a) {
    char uuid[37];
    uuid_generate(uuid);
    str parent = path_parent(path);
    return arena_printf(a, "%.*s%s.silt-%s.tmp", STR_ARG(parent), parent.len == 1 ? "" : "/", uuid);
}

/* ---- one new file ---- */

static silt_status create_once(hdfs_store *s, str path, const hdfs_body *body, arena *a, hdfs_answer *out, silt_error *err) {
    const http_header type = {STR("Content-Type"), STR("application/octet-stream")};
    str params = arena_printf(a, "&overwrite=false&createparent=false%.*s", STR_ARG(s->site.file_params));
    const hdfs_request create = {.method = "PUT", .op = "CREATE", .path = path, .params = params, .repeatable = true, .what = "creating"};
    if (str_is_null(params)) return error_no_memory(err);
    TRY(hdfs_call(s, &create, a, out, err)); /* repeatable: it only asks for a DataNode */
    out->may_have_applied = false;
    if (str_is_null(out->location)) return hdfs_is_ok(out) ? err_HDFS_ANSWER_INVALID(err, "no address to write to") : hdfs_failure(s, out, "creating", path, err);
    http_request data = {.method = "PUT", .headers = &type, .n_headers = 1, .what = "writing"};
    if (body->file) {
        data.body_file = body->file;
        data.body_length = body->size;
    } else {
        data.body = body->bytes;
    }
    str location = out->location;
    silt_status status = hdfs_send_to(s, location, &data, a, out, err);
    if (status != SILT_OK) {
        bool never_sent = status == SILT_IO && strcmp(err->condition, "HTTP_REQUEST_FAILED") == 0;
        silt_error why = *err;
        if (never_sent) {
            status = err_HDFS_DATANODE_UNREACHABLE(err, hdfs_host_of(location), path);
            error_detail(err, "%s: %s", why.message, why.detail);
        }
        return status;
    }
    if (out->status == 201) return SILT_OK;
    out->may_have_applied = true; /* an empty file, say, when a quota was met on the way */
    return hdfs_failure(s, out, "writing", path, err);
}

/*
 * Folders that a NameNode makes along with a file take the rights of the folder above them, so that below one that everybody may write to (a warehouse) everybody could change the table.
 * They are made for themselves instead, with the rights that the umask leaves, as Spark makes them; which costs something only where one is missing. HttpFS makes its own.
 */
silt_status hdfs_create(hdfs_store *s, str path, const hdfs_body *body, arena *a, hdfs_answer *out, silt_error *err) {
    silt_error why = {.status = SILT_OK};
    silt_status status = SILT_OK;
    for (int i = 0; i < FOLDER_ROUNDS; i++) { /* somebody may remove the empty folder meanwhile */
        why = (silt_error){.status = SILT_OK};
        status = create_once(s, path, body, a, out, &why);
        if (status != SILT_NOT_FOUND || !hdfs_is(out, "FileNotFoundException")) break;
        if (i + 1 < FOLDER_ROUNDS) TRY(hdfs_make_dirs(&s->base, path_parent(path), err));
    }
    if (status != SILT_OK && err) *err = why;
    return status;
}

silt_status hdfs_discard(hdfs_store *s, str path, bool *out_was_there) {
    hdfs_answer answer;
    arena *a = arena_new();
    const hdfs_request remove = {.method = "DELETE", .op = "DELETE", .path = path, .params = STR("&recursive=false"), .repeatable = true, .what = "removing"};
    *out_was_there = false;
    silt_status status = a ? hdfs_call_ok(s, &remove, a, &answer, NULL) : SILT_NO_MEMORY;
    if (status == SILT_OK) *out_was_there = hdfs_answer_boolean(&answer, a);
    arena_free(a);
    return status;
}

/* Worth another try under another name? */
static bool is_passing(silt_status status, const hdfs_answer *answer) {
    if (status == SILT_UNKNOWN) return true; /* what it left is a hidden file */
    if (status != SILT_IO) return hdfs_is(answer, "FileAlreadyExistsException"); /* our own name, taken by our own request, sent twice by what is between */
    return str_is_null(answer->exception) || hdfs_is_elsewhere(answer) || hdfs_is(answer, "IOException") || hdfs_is(answer, "LeaseExpiredException");
}

/* *out_path: the new file, whole. */
static silt_status not_written(silt_error *err, str path) { return err_IO_ERROR(err, "write", path); }

static silt_status create_temporary(hdfs_store *s, str path, const hdfs_body *body, arena *a, str *out_path, silt_error *err) {
    silt_status status = SILT_OK;
    hdfs_answer answer = {.exception = STR_NULL};
    for (int i = 1; i <= s->site.attempts; i++) {
        silt_error why = {.status = SILT_OK};
        bool was_there;
        if (i > 1) hdfs_wait(s, i);
        *out_path = temporary_path(path, a);
        if (str_is_null(*out_path)) return error_no_memory(err);
        status = hdfs_create(s, *out_path, body, a, &answer, &why);
        if (status == SILT_OK) return SILT_OK;
        if (answer.may_have_applied) (void)hdfs_discard(s, *out_path, &was_there);
        if (err) *err = why;
        if (!is_passing(status, &answer)) break;
    }
    if (status == SILT_UNKNOWN) { /* nothing is under the object's name: that much is known */
        silt_error why = err ? *err : (silt_error){.status = SILT_OK};
        status = store_path_error(&s->base, path, not_written, err);
        error_detail(err, "%s: %s", why.message, why.detail);
    }
    return status;
}

/* ---- the slot ---- */

silt_status hdfs_put_body(hdfs_store *s, str path, const hdfs_body *body, bool replace, silt_error *err) {
    arena *a = arena_new();
    str temporary;
    silt_status status;
    if (!a) return error_no_memory(err);
    TRY_OUT(create_temporary(s, path, body, a, &temporary, err));
    TRY_OUT(hdfs_give_name(s, temporary, path, body, replace, a, err));
out:
    arena_free(a);
    return status;
}

silt_status hdfs_put(store *s, str path, str bytes, store_put_mode mode, silt_error *err) {
    const hdfs_body body = {.bytes = bytes};
    if (mode != STORE_PUT_REPLACE && !str_is_null(((hdfs_store *)s)->log_store)) return log_store_refuse(((hdfs_store *)s)->log_store, err);
    TRY(hdfs_check_path(path, err));
    return hdfs_put_body((hdfs_store *)s, path, &body, mode == STORE_PUT_REPLACE, err);
}
