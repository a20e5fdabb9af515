/*
 * A folder that a Spark stream wrote has a log of its own, _spark_metadata: one file per batch, and every few batches a compacted one with all before it. Files of batches that failed
 * are in the folder and not in the log, so the log decides. Lines are JSON behind a version line; `delete` takes a file out.
 */
#include <stdlib.h>

#include "base/uri.h"
#include "ops/maintain/convert_files.h"

#define LOG_FOLDER "_spark_metadata"

typedef struct sink_log {
    const op *o;
    convert_files *files;
    str folder;
    const json_node **entries; /* of the lines, in order */
    size_t n_entries, capacity;
} sink_log;

/* "12" or "12.compact"; -1 for other names. */
static int64_t batch_number(str name, bool *out_compact) {
    int64_t n;
    *out_compact = str_ends_with(name, STR(".compact"));
    if (*out_compact) name = str_slice(name, 0, name.len - 8);
    return str_to_i64(name, &n) && n >= 0 && name.ptr[0] != '+' ? n : -1;
}

static silt_status corrupt(const sink_log *l, str path, const char *why) {
    (void)l;
    silt_status status = err_FAILED_READ_FILE(l->o->err, path, why);
    error_hint(l->o->err, "%s", "The stream's log is damaged; SET spark.databricks.delta.convert.useMetadataLog=false converts all files of the folder instead.");
    return status;
}

static silt_status read_batch(sink_log *l, str path) {
    const op *o = l->o;
    buf bytes;
    buf_init(&bytes, BUF_MAX_DEFAULT);
    silt_status status = store_read(l->files->store, path, 0, -1, &bytes, o->err);
    str text = status == SILT_OK && buf_ok(&bytes) ? arena_str(o->a, buf_str(&bytes)) : STR_NULL, line;
    buf_dispose(&bytes);
    TRY(status);
    if (str_is_null(text)) return error_no_memory(o->err);
    if (!str_next(&text, '\n', &line) || !str_eqz(str_trim(line), "v1")) return corrupt(l, path, "not version v1 of a stream's log");
    while (str_next(&text, '\n', &line)) {
        const json_node *entry;
        if (str_trim(line).len == 0) continue;
        if (json_parse(line, o->a, &entry, NULL) != SILT_OK || entry->type != JSON_OBJECT) return corrupt(l, path, "a line is no JSON object");
        if (!ARENA_PUSH(o->a, l->entries, l->n_entries, l->capacity, entry)) return error_no_memory(o->err);
    }
    return SILT_OK;
}

typedef struct batch_file {
    int64_t number;
    bool compact;
    str path;
} batch_file;

static int by_number(const void *a, const void *b) {
    const batch_file *x = a, *y = b;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    return (int)x->compact - (int)y->compact;
}

/* The newest compacted batch and those behind it. */
static silt_status read_batches(sink_log *l, const store_list_result *list) {
    const op *o = l->o;
    batch_file *batches = ARENA_ARRAY(o->a, list->count + 1, batch_file);
    size_t n = 0, from = 0;
    if (!batches) return error_no_memory(o->err);
    for (size_t i = 0; i < list->count; i++) {
        batch_file b = {.path = list->items[i].path};
        b.number = batch_number(path_name(b.path), &b.compact);
        if (b.number >= 0 && !list->items[i].is_dir) batches[n++] = b;
    }
    if (n > 1) qsort(batches, n, sizeof *batches, by_number);
    for (size_t i = 0; i < n; i++)
        if (batches[i].compact) from = i;
    for (size_t i = from; i < n; i++) TRY(read_batch(l, batches[i].path));
    return SILT_OK;
}

static int by_path(const void *a, const void *b) { return str_cmp(((const convert_file *)a)->path, ((const convert_file *)b)->path); }

static str relative_path(const sink_log *l, str text) {
    uri location;
    const convert_files *f = l->files;
    if (uri_parse(text, l->o->a, &location, NULL) != SILT_OK) return STR_NULL;
    bool inside = str_starts_with(location.path, f->root) && location.path.len > f->root.len + 1 && location.path.ptr[f->root.len] == '/';
    return inside ? str_slice(location.path, f->root.len + 1, location.path.len) : STR_NULL;
}

static silt_status take_entry(sink_log *l, const json_node *entry, convert_file **list, size_t *n, size_t *capacity) {
    const op *o = l->o;
    str text = json_get_str(entry, "path", STR_NULL), path = relative_path(l, text);
    if (str_is_null(path)) return corrupt(l, l->folder, "it names a file outside of the folder, which may have been moved");
    convert_file file = {.path = path,
                         .size_bytes = json_get_i64(entry, "size", -1),
                         .modified_ms = json_get_i64(entry, "modificationTime", 0),
                         .rows = -1,
                         .variant = UINT32_MAX,
                         .is_skipped = str_eqz(json_get_str(entry, "action", STR("add")), "delete")};
    return ARENA_PUSH(o->a, *list, *n, *capacity, file) ? SILT_OK : error_no_memory(o->err);
}

/* The last word on each path counts. */
static silt_status take_entries(sink_log *l) {
    const op *o = l->o;
    convert_file *list = NULL;
    size_t n = 0, capacity = 0;
    for (size_t i = 0; i < l->n_entries; i++)
        if (!json_get_bool(l->entries[i], "isDir", false)) TRY(take_entry(l, l->entries[i], &list, &n, &capacity));
    for (size_t i = 0; i < n; i++) list[i].variant = (uint32_t)i; /* the order of the log among equal paths */
    if (n > 1) qsort(list, n, sizeof *list, by_path);
    for (size_t i = 0, end; i < n; i = end) {
        convert_file last = list[i];
        for (end = i + 1; end < n && str_eq(list[end].path, list[i].path); end++)
            if (list[end].variant > last.variant) last = list[end];
        if (last.is_skipped) continue;
        last.variant = UINT32_MAX;
        str folder = path_parent(arena_printf(o->a, "/%.*s", STR_ARG(last.path)));
        TRY(convert_folder_of(o, l->files, folder.len > 1 ? str_slice(folder, 1, folder.len) : STR(""), &last.folder));
        if (!ARENA_PUSH(o->a, l->files->files, l->files->n_files, l->files->files_capacity, last)) return error_no_memory(o->err);
    }
    return SILT_OK;
}

silt_status convert_sink_log(const op *o, convert_files *f, bool *out_found) {
    sink_log l = {.o = o, .files = f, .folder = arena_printf(o->a, "%.*s/" LOG_FOLDER, STR_ARG(f->root))};
    store_list_result list = {0};
    silt_error failure = {0};
    *out_found = false;
    if (str_is_null(l.folder)) return error_no_memory(o->err);
    silt_status status = store_list(f->store, l.folder, STR_NULL, false, o->a, &list, &failure);
    if (status == SILT_NOT_FOUND) return SILT_OK;
    if (status != SILT_OK) {
        if (o->err) *o->err = failure;
        return status;
    }
    TRY(read_batches(&l, &list));
    TRY(take_entries(&l));
    f->from_sink_log = *out_found = true;
    return SILT_OK;
}
