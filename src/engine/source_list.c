/**
 * Listing files as Spark's readers do: a folder stands for every file below it, `k=v` folders are partition columns, and their types come from all the values.
 */
#include "engine/source_list.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/time.h"
#include "base/uri.h"

#define HIVE_NULL "__HIVE_DEFAULT_PARTITION__"

/* ---- options ---- */

str source_option(const source_options *o, const char *key, str absent) {
    for (size_t i = o->count; i-- > 0;)
        if (str_eq_ascii_fold(o->keys[i], str_of(key))) return o->values[i];
    return absent;
}

silt_status source_option_bool(const source_options *o, const char *key, bool absent, bool *out, silt_error *err) {
    str text = source_option(o, key, STR_NULL);
    *out = absent;
    if (str_is_null(text)) return SILT_OK;
    *out = str_eq_ascii_fold(text, STR("true"));
    if (*out || str_eq_ascii_fold(text, STR("false"))) return SILT_OK;
    return err_INVALID_PARAMETER_VALUE(err, str_of(key), text, "true or false");
}

/* ---- walking ---- */

typedef source_walk walk;

bool source_is_hidden(str name) {
    if (name.len == 0 || name.ptr[0] == '.') return true;
    return name.ptr[0] == '_' && str_find_char(name, '=') == SIZE_MAX;
}

/* `k=v` components between base and file name. */
static silt_status split_partitions(walk *w, str path, listed_file *file) {
    str rest = str_slice(path, w->base.len, path.len), piece;
    str names[64], values[64];
    size_t n = 0;
    while (str_next(&rest, '/', &piece)) {
        size_t at = str_find_char(piece, '=');
        if (rest.len == 0 || at == SIZE_MAX || at == 0) continue;
        if (n == ARRAY_LEN(names)) return err_UNSUPPORTED_FEATURE(w->err, "more than 64 levels of partition folders");
        names[n] = hive_unescape(str_slice(piece, 0, at), w->a);
        values[n] = hive_unescape(str_slice(piece, at + 1, piece.len), w->a);
        if (!names[n].ptr || !values[n].ptr) return error_no_memory(w->err);
        if (str_eqz(values[n], HIVE_NULL)) values[n] = STR_NULL;
        n++;
    }
    if (w->list->n_files == 0) {
        w->list->columns = ARENA_ARRAY(w->a, n + 1, str);
        if (!w->list->columns) return error_no_memory(w->err);
        memcpy(w->list->columns, names, n * sizeof *names);
        w->list->n_columns = n;
    }
    bool same = n == w->list->n_columns;
    for (size_t i = 0; same && i < n; i++) same = str_eq(names[i], w->list->columns[i]);
    if (!same) return err_CONFLICTING_PARTITION_COLUMN_NAMES(w->err, file->store ? store_path_named(file->store, w->base, w->a) : w->base);
    str *kept = ARENA_ARRAY(w->a, n + 1, str);
    if (!kept) return error_no_memory(w->err);
    memcpy(kept, values, n * sizeof *values);
    file->partition = kept;
    return SILT_OK;
}

silt_status source_add_file(walk *w, listed_file file) {
    TRY(split_partitions(w, file.path, &file));
    return ARENA_PUSH(w->a, w->list->files, w->list->n_files, w->list->capacity, file) ? SILT_OK : error_no_memory(w->err);
}

static silt_status add_file(walk *w, const char *path, const struct stat *sb) {
    str copy = arena_str(w->a, str_of(path));
    if (!copy.ptr) return error_no_memory(w->err);
    return source_add_file(w, (listed_file){.path = copy,
                                            .local = copy,
                                            .size_bytes = (int64_t)sb->st_size,
                                            .modified_ms = (int64_t)sb->st_mtim.tv_sec * 1000 + (int64_t)sb->st_mtim.tv_nsec / 1000000});
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static silt_status walk_folder(walk *w, const char *folder, int depth);

static silt_status walk_entry(walk *w, const char *path, int depth) {
    struct stat sb;
    if (stat(path, &sb) != 0) return error_from_errno(w->err, errno, "stat", str_of(path));
    if (S_ISDIR(sb.st_mode)) return walk_folder(w, path, depth + 1);
    return add_file(w, path, &sb);
}

static silt_status list_folder(walk *w, const char *folder, char ***out_paths, size_t *out_count) {
    DIR *d = opendir(folder);
    if (!d) return error_from_errno(w->err, errno, "opendir", str_of(folder));
    char **paths = NULL;
    size_t n = 0, capacity = 0;
    bool ok = true;
    for (struct dirent *entry; ok && (entry = readdir(d));) {
        if (source_is_hidden(str_of(entry->d_name))) continue;
        str path = path_join(w->a, str_of(folder), str_of(entry->d_name));
        ok = path.ptr && ARENA_PUSH(w->a, paths, n, capacity, arena_cstr(w->a, path)) && paths[n - 1];
    }
    closedir(d);
    *out_paths = paths;
    *out_count = n;
    return ok ? SILT_OK : error_no_memory(w->err);
}

static silt_status walk_folder(walk *w, const char *folder, int depth) {
    if (depth > 100) return err_UNSUPPORTED_FEATURE(w->err, "folders nested that deeply");
    char **paths;
    size_t n;
    TRY(list_folder(w, folder, &paths, &n));
    if (n) qsort(paths, n, sizeof *paths, by_name);
    for (size_t i = 0; i < n; i++) TRY(walk_entry(w, paths[i], depth));
    return SILT_OK;
}

static silt_status walk_root(walk *w, const char *path) {
    struct stat sb;
    if (stat(path, &sb) != 0)
        return errno == ENOENT ? err_PATH_NOT_FOUND(w->err, str_of(path)) : error_from_errno(w->err, errno, "stat", str_of(path));
    if (S_ISDIR(sb.st_mode)) {
        w->base = str_of(path);
        return walk_folder(w, path, 0);
    }
    w->base = path_parent(str_of(path));
    return add_file(w, path, &sb);
}

/* A path that exists is that file or folder, whatever characters it has; only else is it a pattern. */
static silt_status walk_pattern(walk *w, const char *path) {
    struct stat sb;
    if (stat(path, &sb) == 0 || !strpbrk(path, "*?[{")) return walk_root(w, path);
    glob_t found = {0};
    int code = glob(path, GLOB_BRACE, NULL, &found);
    silt_status status = code == 0              ? SILT_OK
                         : code == GLOB_NOSPACE ? error_no_memory(w->err)
                                                : err_PATH_NOT_FOUND(w->err, str_of(path));
    for (size_t i = 0; status == SILT_OK && i < found.gl_pathc; i++)
        if (!source_is_hidden(path_name(str_of(found.gl_pathv[i])))) status = walk_root(w, arena_cstr(w->a, str_of(found.gl_pathv[i])));
    globfree(&found);
    return status;
}

/* ---- types of partition columns ---- */

/* Spark's order: int, long, decimal for longer whole numbers, double, date, timestamp, string; of several values the type that holds all. */
typedef enum text_kind { KIND_NONE, KIND_INT, KIND_LONG, KIND_DOUBLE, KIND_DATE, KIND_TIMESTAMP, KIND_STRING } text_kind;

static text_kind kind_of(str s) {
    int64_t i64;
    double f64;
    bool zone;
    if (str_to_i64(s, &i64)) return i64 >= INT32_MIN && i64 <= INT32_MAX ? KIND_INT : KIND_LONG;
    if (str_to_f64(s, &f64)) return KIND_DOUBLE;
    if (s.len == 10 && s.ptr[4] == '-' && time_parse_date(s, &i64)) return KIND_DATE;
    if (s.len >= 16 && s.ptr[4] == '-' && time_parse_timestamp(s, &i64, &zone)) return KIND_TIMESTAMP;
    return KIND_STRING;
}

static text_kind common_kind(text_kind a, text_kind b) {
    if (a == KIND_NONE || a == b) return b;
    if (b == KIND_NONE) return a;
    text_kind low = a < b ? a : b, high = a < b ? b : a;
    if (high <= KIND_DOUBLE) return high;
    return low == KIND_DATE && high == KIND_TIMESTAMP ? KIND_TIMESTAMP : KIND_STRING;
}

static const data_type *type_of_kind(text_kind kind) {
    switch (kind) {
        case KIND_INT: return &type_int;
        case KIND_LONG: return &type_long;
        case KIND_DOUBLE: return &type_double;
        case KIND_DATE: return &type_date;
        case KIND_TIMESTAMP: return &type_timestamp;
        case KIND_NONE:
        case KIND_STRING: break;
    }
    return &type_string;
}

static silt_status type_partitions(source_list *list, arena *a, silt_error *err) {
    list->types = ARENA_ARRAY(a, list->n_columns + 1, const data_type *);
    list->values = ARENA_ARRAY(a, list->n_files + 1, value *);
    if (!list->types || !list->values) return error_no_memory(err);
    for (size_t c = 0; c < list->n_columns; c++) {
        text_kind kind = KIND_NONE;
        for (size_t f = 0; f < list->n_files; f++)
            if (!str_is_null(list->files[f].partition[c])) kind = common_kind(kind, kind_of(list->files[f].partition[c]));
        list->types[c] = type_of_kind(kind);
    }
    for (size_t f = 0; f < list->n_files; f++) {
        list->values[f] = ARENA_ARRAY(a, list->n_columns + 1, value);
        if (!list->values[f]) return error_no_memory(err);
        for (size_t c = 0; c < list->n_columns; c++) {
            str text = list->files[f].partition[c];
            TRY(partition_value_parse(text, str_is_null(text), list->types[c], 0, a, &list->values[f][c], err));
        }
    }
    return SILT_OK;
}

silt_status source_list_files(engine *e, const str *paths, size_t n_paths, arena *a, source_list *out, silt_error *err) {
    *out = (source_list){0};
    walk w = {.a = a, .list = out, .err = err};
    for (size_t i = 0; i < n_paths; i++) {
        uri u;
        TRY(uri_parse(paths[i], a, &u, err));
        if (!str_eqz(u.scheme, "file")) {
            if (!e->stores) return err_UNSUPPORTED_FEATURE(err, "reading files that are not on the local disk");
            TRY(source_list_remote(&w, e->stores, paths[i]));
            continue;
        }
        char *path = arena_cstr(a, path_normalize(a, u.path));
        if (!path) return error_no_memory(err);
        TRY(walk_pattern(&w, path));
    }
    return type_partitions(out, a, err);
}
