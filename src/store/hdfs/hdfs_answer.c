/*
 * Answers of WebHDFS: JSON, redirects, and errors as {"RemoteException":{"exception":…,"message":…}}, whose message is followed by a Java stack trace.
 *
 * An answer 404 is "not found" only where a FileNotFoundException says so: a proxy's page, or a port where no WebHDFS is, must not make a table look empty.
 */
#include "base/json.h"
#include "base/uri.h"
#include "store/hdfs/hdfs.h"

#define MESSAGE_MAX 600

/* ---- any answer ---- */

static str first_line(str message) {
    size_t end = str_find_char(message, '\n'), at = str_find(message, STR("\tat "));
    if (end == SIZE_MAX || at < end) end = at;
    if (end > message.len) end = message.len;
    return str_trim(str_slice(message, 0, end < MESSAGE_MAX ? end : MESSAGE_MAX));
}

static bool looks_like_json(str body) { return body.len > 0 && str_trim(body).len > 0 && str_trim(body).ptr[0] == '{'; }

static void read_json(hdfs_answer *out, arena *a) {
    const json_node *root;
    if (!looks_like_json(out->body) || json_parse(out->body, a, &root, NULL) != SILT_OK) return;
    const json_node *e = json_get(root, "RemoteException");
    if (e) {
        out->exception = json_get_str(e, "exception", STR("unknown"));
        out->message = first_line(json_get_str(e, "message", STR("")));
    } else if (out->status == 200) {
        out->location = json_get_str(root, "Location", STR_NULL);
    }
}

silt_status hdfs_answer_parse(const http_response *r, arena *a, hdfs_answer *out, silt_error *err) {
    *out = (hdfs_answer){.status = r->status, .body = r->body, .may_have_applied = r->may_have_applied};
    if (r->status == 307) out->location = http_header_get(r, "location"); /* 302 and others are a gateway's way to its login page, which is no data */
    else if (r->status != 200 || r->body.len < 65536) read_json(out, a);
    if (out->status == 200 && !str_is_null(out->exception)) return err_HDFS_ANSWER_INVALID(err, "an error with status 200");
    return SILT_OK;
}

bool hdfs_is_elsewhere(const hdfs_answer *a) {
    return hdfs_is(a, "StandbyException") || hdfs_is(a, "RetriableException") || hdfs_is(a, "ObserverRetryOnActiveException") ||
           hdfs_is(a, "ServerNotActiveException");
}

bool hdfs_answer_boolean(const hdfs_answer *answer, arena *scratch) {
    const json_node *root;
    return looks_like_json(answer->body) && json_parse(answer->body, scratch, &root, NULL) == SILT_OK && json_get_bool(root, "boolean", false);
}

/* ---- entries ---- */

static silt_status bad(const char *why, silt_error *err) { return err_HDFS_ANSWER_INVALID(err, why); }

/* A tag from the inode's number and what changes with its bytes. */
static str tag_of(const json_node *n, const store_entry *e, arena *a) {
    int64_t id = json_get_i64(n, "fileId", 0);
    return id == 0 ? STR_NULL : arena_printf(a, "%lld-%lld-%lld", (long long)id, (long long)e->modified_ms, (long long)e->size_bytes);
}

static silt_status parse_entry(const json_node *n, str path, arena *a, store_entry *out, silt_error *err) {
    str type = json_get_str(n, "type", STR_NULL);
    *out = (store_entry){.path = path, .size_bytes = json_get_i64(n, "length", -1), .modified_ms = json_get_i64(n, "modificationTime", -1), .tag = STR_NULL};
    out->is_dir = str_eqz(type, "DIRECTORY");
    if (!out->is_dir && !str_eqz(type, "FILE")) return bad("an entry that is neither file nor folder", err);
    if (out->size_bytes < 0 || out->modified_ms < 0) return bad("an entry without length or modificationTime", err);
    if (out->is_dir) out->size_bytes = 0;
    else out->tag = tag_of(n, out, a);
    return SILT_OK;
}

silt_status hdfs_parse_status(str body, str path, arena *a, store_entry *out, silt_error *err) {
    const json_node *root;
    if (json_parse(body, a, &root, NULL) != SILT_OK) return bad("a status that is no JSON", err);
    const json_node *n = json_get(root, "FileStatus");
    if (!n) return bad("a status without FileStatus", err);
    str copy = arena_str(a, path);
    return str_is_null(copy) ? error_no_memory(err) : parse_entry(n, copy, a, out, err);
}

int64_t hdfs_parse_file_id(str body, arena *scratch) {
    const json_node *root;
    return json_parse(body, scratch, &root, NULL) == SILT_OK ? json_get_i64(json_get(root, "FileStatus"), "fileId", 0) : 0;
}

/* ---- pages ---- */

static silt_status add_entry(const json_node *n, str dir, arena *a, hdfs_page *out, silt_error *err) {
    str name = json_get_str(n, "pathSuffix", STR_NULL);
    store_entry entry;
    if (str_is_null(name)) return bad("an entry without pathSuffix", err);
    if (str_find_char(name, '/') != SIZE_MAX || str_find_char(name, '\0') != SIZE_MAX) return bad("a name with a slash", err);
    if (str_eqz(json_get_str(n, "type", STR_NULL), "SYMLINK")) return SILT_OK; /* leads elsewhere: never followed */
    str path = path_join(a, dir, name);
    if (str_is_null(path)) return error_no_memory(err);
    TRY(parse_entry(n, path, a, &entry, err));
    return ARENA_PUSH(a, out->items, out->count, out->capacity, entry) ? SILT_OK : error_no_memory(err);
}

silt_status hdfs_parse_page(str body, str dir, arena *a, hdfs_page *out, silt_error *err) {
    const json_node *root;
    *out = (hdfs_page){.last = STR_NULL};
    if (json_parse(body, a, &root, NULL) != SILT_OK) return bad("a listing that is no JSON", err);
    const json_node *batch = json_get(root, "DirectoryListing");
    const json_node *list = json_get(json_get(batch ? json_get(batch, "partialListing") : root, "FileStatuses"), "FileStatus");
    if (!list || list->type != JSON_ARRAY) return bad("a listing without FileStatus", err);
    out->more = json_get_i64(batch, "remainingEntries", 0) > 0;
    if (list->count == 1 && json_get_str(&list->values[0], "pathSuffix", STR("-")).len == 0) {
        out->is_file = true;
        return SILT_OK;
    }
    for (size_t i = 0; i < list->count; i++) TRY(add_entry(&list->values[i], dir, a, out, err));
    if (list->count) out->last = json_get_str(&list->values[list->count - 1], "pathSuffix", STR_NULL);
    if (out->more && list->count == 0) return bad("an empty page that is not the last", err);
    return SILT_OK;
}

/* ---- errors ---- */

bool hdfs_is_below_a_file(const hdfs_answer *a) {
    return hdfs_is(a, "ParentNotDirectoryException") ||
           (hdfs_is(a, "AccessControlException") && str_ends_with(a->message, STR("(is not a directory)")));
}

static silt_status failure_of(const hdfs_store *s, const hdfs_answer *a, const char *what, str path, silt_error *err) {
    str name = s->site.name;
    if (str_is_null(a->exception)) {
        if (a->status == 401) return err_HDFS_AUTHENTICATION_FAILED(err, name);
        return err_HDFS_UNEXPECTED_ANSWER(err, name, a->status, what, path);
    }
    if (hdfs_is(a, "FileNotFoundException")) return err_FILE_NOT_FOUND(err, path);
    if (hdfs_is(a, "FileAlreadyExistsException") || hdfs_is_below_a_file(a)) return err_PATH_ALREADY_EXISTS(err, path);
    if (hdfs_is(a, "PathIsNotEmptyDirectoryException")) return err_FOLDER_NOT_EMPTY(err, path);
    if (hdfs_is(a, "SnapshotAccessControlException")) return err_HDFS_SNAPSHOT_READ_ONLY(err, path);
    if (a->status == 401 || hdfs_is(a, "InvalidToken") || str_find(a->message, STR("InvalidToken:")) != SIZE_MAX) return err_HDFS_AUTHENTICATION_FAILED(err, name);
    if (hdfs_is(a, "AccessControlException") || hdfs_is(a, "SecurityException") || hdfs_is(a, "AuthorizationException")) return err_PERMISSION_DENIED(err, path);
    if (hdfs_is(a, "SafeModeException")) return err_HDFS_SAFE_MODE(err, name, what, path);
    if (str_ends_with(a->exception, STR("QuotaExceededException")) || hdfs_is(a, "QuotaByStorageTypeExceededException")) return err_HDFS_QUOTA_EXCEEDED(err, path);
    if (hdfs_is(a, "LeaseExpiredException") || hdfs_is(a, "AlreadyBeingCreatedException") || hdfs_is(a, "RecoveryInProgressException"))
        return err_HDFS_LEASE(err, path);
    if (hdfs_is_elsewhere(a)) return err_HDFS_NO_ACTIVE_NAMENODE(err, name);
    if (hdfs_is(a, "InvalidPathException") || hdfs_is(a, "MaxDirectoryItemsExceededException") || hdfs_is(a, "PathComponentTooLongException"))
        return err_INVALID_PARAMETER_VALUE(err, STR("path"), path, "a path that HDFS allows");
    if (str_find(a->message, STR("could only be written to 0 of")) != SIZE_MAX || str_find(a->message, STR("could only be replicated to 0 nodes")) != SIZE_MAX)
        return err_HDFS_NO_DATANODE(err, path);
    return err_HDFS_REMOTE_EXCEPTION(err, name, what, path);
}

silt_status hdfs_failure(const hdfs_store *s, const hdfs_answer *a, const char *what, str path, silt_error *err) {
    arena *named = err ? arena_new() : NULL;
    silt_status status = failure_of(s, a, what, named ? store_path_named(&s->base, path, named) : path, err);
    arena_free(named);
    if (!str_is_null(a->exception)) error_detail(err, "%.*s: %.*s", STR_ARG(a->exception), STR_ARG(a->message));
    if (err) err->code = a->status;
    return status;
}
