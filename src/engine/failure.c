/**
 * DuckDB's errors in Silt's words. What an expression raised carries its condition in its text and is decoded beside the functions (functions.h);
 * here are the failures of the machine and of files.
 */
#include "engine/internal.h"

#include "engine/functions.h"

/* The first '…' or "…" of a message that looks like a path, or the one behind a colon. */
static bool quoted_path(const char *message, str *out) {
    for (const char *at = strpbrk(message, "'\""); at; at = strpbrk(at + 1, "'\"")) {
        const char *end = strchr(at + 1, *at);
        if (!end) return false;
        if (at[1] == '/') {
            *out = (str){at + 1, (size_t)(end - at - 1)};
            return true;
        }
        at = end;
    }
    const char *bare = strstr(message, ": /"); /* "… outside file: /a/b, attempted range …" */
    size_t n = bare ? strcspn(bare + 2, ",\n") : 0;
    *out = n ? (str){bare + 2, n} : *out;
    return n > 0;
}

static bool mentions(const char *message, const char *what) { return strcasestr(message, what) != NULL; }

/* "TProtocolException: Invalid data", "Corrupt snappy data", "No magic bytes found", "too small to be a Parquet file", … */
static bool is_damaged_file(const char *message) {
    static const char *const signs[] = {"TProtocolException",
                                        "No magic bytes",
                                        "too small to be a Parquet",
                                        "Corrupt",
                                        "Footer length",
                                        "Invalid data",
                                        "decompress",
                                        "Unexpected end",
                                        "Failed to read Parquet",
                                        "TTransportException",
                                        "out of buffer",
                                        "Parquet file",
                                        "malformed",
                                        "Invalid page",
                                        "Page size",
                                        "read but not enough",
                                        "beyond",
                                        "Could not read all bytes",
                                        "could not read enough bytes",
                                        "outside file",
                                        "know what type"};
    for (size_t i = 0; i < ARRAY_LEN(signs); i++)
        if (mentions(message, signs[i])) return true;
    return false;
}

static silt_status io_failure(silt_error *err, const char *message) {
    str path = STR("a file");
    bool named = quoted_path(message, &path);
    silt_status status;
    if (mentions(message, "No space left") || mentions(message, "Disk quota") || mentions(message, "max_temp_directory_size"))
        status = err_NO_SPACE_LEFT(err, path);
    else if (mentions(message, "Permission denied"))
        status = err_PERMISSION_DENIED(err, path);
    else if (mentions(message, "No files found that match") || mentions(message, "No such file"))
        status = err_FILE_NOT_FOUND(err, path);
    else if (named && is_damaged_file(message))
        status = err_FAILED_READ_FILE(err, path, "it is damaged or not a Parquet file");
    else
        status = err_IO_ERROR(err, "Access", path);
    error_detail(err, "%s", message);
    return status;
}

silt_status engine_failure(silt_error *err, const char *message, duckdb_error_type type) {
    if (!message) message = "unknown error";
    switch ((int)type) {
        case DUCKDB_ERROR_INTERRUPT: return err_OPERATION_CANCELLED(err);
        case DUCKDB_ERROR_OUT_OF_MEMORY: {
            if (mentions(message, "max_temp_directory_size")) return io_failure(err, message);
            silt_status status = error_no_memory(err);
            error_detail(err, "%s", message);
            return status;
        }
        case DUCKDB_ERROR_IO: return io_failure(err, message);
        default: break;
    }
    if (strstr(message, "[/]")) return engine_error_from_text(err, message); /* what an expression raised may quote any text, paths too */
    if (mentions(message, "Max expression depth limit"))
        return err_UNSUPPORTED_FEATURE(err, "expressions of more than about 1000 levels, a chain of operators included");
    if (mentions(message, "quoted new lines")) return err_INVALID_PARAMETER_VALUE(err, STR("multiLine"), STR("false"), "true, since a quoted field of the CSV file goes over several lines");
    str path = STR("of the query"); /* the footer reader's own errors name none: DuckDB passes them on as "Invalid Error" */
    bool from_reader = (str_starts_with(str_of(message), STR("Invalid Error:")) && !strstr(message, "[/]")) || mentions(message, "in Parquet file");
    if ((is_damaged_file(message) && quoted_path(message, &path)) || from_reader) {
        silt_status status = err_FAILED_READ_FILE(err, path, "it is damaged or not a Parquet file");
        error_detail(err, "%s", message);
        return status;
    }
    return engine_error_from_text(err, message);
}

static silt_status damaged(silt_error *err, str named) { return err_FAILED_READ_FILE(err, named, "it is damaged or not a Parquet file"); }

/* The copy's name stays in the detail. */
silt_status engine_failure_of_copy(silt_status status, store *s, str path, str local, silt_error *err) {
    bool is_about = err && store_is_remote(s) && strcmp(err->condition, "FAILED_READ_FILE") == 0 && local.len && str_find(str_of(err->message), local) != SIZE_MAX;
    if (!is_about) return status;
    silt_error why = *err;
    status = store_path_error(s, path, damaged, err);
    error_detail(err, "%s", why.detail);
    error_hint(err, "The copy in the read cache was dropped: run the statement again, which fetches the file anew. If it fails again, the file is damaged where it is: restore it.");
    store_drop_copy(s, local);
    return status;
}
