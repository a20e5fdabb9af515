/*
 * The text of a manifest is one absolute path per line, as Hadoop prints paths (decoded, `file:/a/b` for local files). Partition folders are named from the values as the log
 * has them, like Hive's. A manifest is replaced at once, so a reader sees the old list or the new one; those of several partitions do not change together, as everywhere.
 */
#include "ops/maintain/manifest_write.h"

#include <stdlib.h>

#include "base/uri.h"
#include "delta/properties.h"
#include "ops/maintain/manifest.h"

#define MANIFESTS     "_symlink_format_manifest"
#define MANIFEST      "manifest"
#define HIVE_NULL     "__HIVE_DEFAULT_PARTITION__"
#define CHECKSUM_FILE ".manifest.crc"

silt_status manifest_folder(const op *o, str root, str *out) {
    *out = path_join(o->a, root, STR(MANIFESTS));
    return str_is_null(*out) ? error_no_memory(o->err) : SILT_OK;
}

str manifest_partition(const delta_metadata *m, const str_map *values, arena *a) {
    str out = STR("");
    for (size_t i = 0; i < m->n_partition_columns; i++) {
        int at = schema_find(m->schema, m->partition_columns[i]);
        str text = str_map_get(values, at >= 0 ? m->schema->fields[at].physical_name : m->partition_columns[i]);
        str name = hive_escape(m->partition_columns[i], a), escaped = text.len ? hive_escape(text, a) : STR(HIVE_NULL);
        if (str_is_null(name) || str_is_null(escaped)) return STR_NULL;
        out = arena_printf(a, "%.*s%s%.*s=%.*s", STR_ARG(out), i ? "/" : "", STR_ARG(name), STR_ARG(escaped));
        if (str_is_null(out)) return STR_NULL;
    }
    return out;
}

/* ---- what goes into them ---- */

typedef struct line {
    str partition, path;
} line;

typedef struct group {
    size_t from, to; /* lines */
} group;

typedef struct manifests {
    const op *o;
    const delta_snapshot *s;
    const path_set *only;
    str folder;
    line *lines;
    size_t n_lines, lines_capacity;
    group *groups;
    size_t n_groups, groups_capacity;
} manifests;

/* As org.apache.hadoop.fs.Path prints it. */
static str path_text(const delta_snapshot *s, str path, arena *a) {
    str decoded = uri_decode(path, a);
    if (str_is_null(decoded)) return STR_NULL;
    if (str_starts_with(decoded, STR("file:///"))) return arena_printf(a, "file:%.*s", STR_ARG(str_slice(decoded, 7, decoded.len)));
    if (str_find(path, STR(":/")) != SIZE_MAX && str_find_char(path, '/') > str_find_char(path, ':')) return decoded;
    const char *scheme = store_uri_prefix(delta_snapshot_env(s)->store);
    if (decoded.len && decoded.ptr[0] == '/') return arena_printf(a, "%s%.*s", scheme, STR_ARG(decoded));
    return arena_printf(a, "%s%.*s/%.*s", scheme, STR_ARG(delta_snapshot_root(s)), STR_ARG(decoded));
}

static silt_status take_file(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    manifests *m = ctx;
    arena *a = m->o->a;
    (void)i;
    line l = {.partition = manifest_partition(delta_snapshot_metadata(m->s), &add->partition_values, a)};
    if (str_is_null(l.partition)) return error_no_memory(err);
    if (m->only && !path_set_has(m->only, l.partition)) return SILT_OK;
    l.path = path_text(m->s, add->path, a);
    return !str_is_null(l.path) && ARENA_PUSH(a, m->lines, m->n_lines, m->lines_capacity, l) ? SILT_OK : error_no_memory(err);
}

static int compare_lines(const void *a, const void *b) {
    const line *x = a, *y = b;
    int by_partition = str_cmp(x->partition, y->partition);
    return by_partition ? by_partition : str_cmp(x->path, y->path);
}

static silt_status group_lines(manifests *m) {
    const op *o = m->o;
    TRY(delta_snapshot_each_file(m->s, false, take_file, m, o->err));
    if (m->n_lines) qsort(m->lines, m->n_lines, sizeof *m->lines, compare_lines);
    for (size_t i = 0, from = 0; i < m->n_lines; i++) {
        if (i + 1 < m->n_lines && str_eq(m->lines[i + 1].partition, m->lines[from].partition)) continue;
        group g = {from, i + 1};
        if (!ARENA_PUSH(o->a, m->groups, m->n_groups, m->groups_capacity, g)) return error_no_memory(o->err);
        from = i + 1;
    }
    bool empty = m->n_lines == 0 && delta_snapshot_metadata(m->s)->n_partition_columns == 0; /* its one manifest says so */
    return !empty || ARENA_PUSH(o->a, m->groups, m->n_groups, m->groups_capacity, ((group){0, 0})) ? SILT_OK : error_no_memory(o->err);
}

/* ---- writing ---- */

/* Hadoop's local file system keeps checksums beside files that it wrote: one that is left over would make the new text unreadable for it. */
static void remove_checksum(store *st, str folder, arena *a) {
    if (strcmp(store_uri_prefix(st), "file:") != 0) return;
    str path = path_join(a, folder, STR(CHECKSUM_FILE));
    if (!str_is_null(path)) (void)!store_remove(st, path, NULL);
}

static silt_status write_one(const manifests *m, const group *g, arena *a, silt_error *err) {
    store *st = m->o->env->delta->store;
    buf text;
    str folder = g->to > g->from ? path_join(a, m->folder, m->lines[g->from].partition) : m->folder;
    str path = str_is_null(folder) ? STR_NULL : path_join(a, folder, STR(MANIFEST));
    TRY(cancel_check(m->o->env->delta->cancel, err));
    if (str_is_null(path)) return error_no_memory(err);
    buf_init(&text, BUF_MAX_DEFAULT);
    for (size_t i = g->from; i < g->to; i++) {
        buf_append(&text, m->lines[i].path);
        buf_append_char(&text, '\n');
    }
    remove_checksum(st, folder, a);
    silt_status status = buf_ok(&text) ? store_put(st, path, buf_str(&text), STORE_PUT_REPLACE, err) : error_no_memory(err);
    buf_dispose(&text);
    return status;
}

static silt_status write_group(void *ctx, size_t i, silt_error *err) {
    const manifests *m = ctx;
    arena *a = arena_new();
    silt_status status = a ? write_one(m, &m->groups[i], a, err) : error_no_memory(err);
    arena_free(a);
    return status;
}

/* ---- removing ---- */

static silt_status remove_one(const manifests *m, str partition) {
    const op *o = m->o;
    store *st = o->env->delta->store;
    silt_error failure = {.status = SILT_OK};
    str folder = path_join(o->a, m->folder, partition), path = str_is_null(folder) ? STR_NULL : path_join(o->a, folder, STR(MANIFEST));
    if (str_is_null(path)) return error_no_memory(o->err);
    remove_checksum(st, folder, o->a);
    silt_status status = store_remove(st, path, &failure);
    if (status != SILT_OK && status != SILT_NOT_FOUND) {
        if (o->err) *o->err = failure;
        return status;
    }
    while (folder.len > m->folder.len && store_remove_dir(st, folder, NULL) == SILT_OK) folder = path_parent(folder);
    return SILT_OK;
}

static silt_status written_partitions(const manifests *m, path_set *out) {
    bool added;
    for (size_t i = 0; i < m->n_groups; i++) {
        str partition = m->groups[i].to > m->groups[i].from ? m->lines[m->groups[i].from].partition : STR("");
        if (!path_set_add(out, partition, m->o->a, &added)) return error_no_memory(m->o->err);
    }
    return SILT_OK;
}

/* Every manifest that is there and was not written now. */
static silt_status remove_stale(const manifests *m, const path_set *written) {
    const op *o = m->o;
    store_list_result found = {0};
    silt_error failure = {.status = SILT_OK};
    silt_status status = store_list(o->env->delta->store, m->folder, STR_NULL, true, o->a, &found, &failure);
    if (status == SILT_NOT_FOUND) return SILT_OK;
    if (status != SILT_OK) {
        if (o->err) *o->err = failure;
        return status;
    }
    for (size_t i = 0; i < found.count; i++) {
        str path = found.items[i].path, folder = path_parent(path);
        if (!str_eqz(path_name(path), MANIFEST) || folder.len < m->folder.len) continue;
        str partition = folder.len > m->folder.len ? str_slice(folder, m->folder.len + 1, folder.len) : STR("");
        if (!path_set_has(written, partition)) TRY(remove_one(m, partition));
    }
    return SILT_OK;
}

static silt_status remove_emptied(const manifests *m, const path_set *written) {
    for (size_t i = 0; i < m->only->n_slots; i++) {
        str partition = m->only->slots[i];
        if (!str_is_null(partition) && !path_set_has(written, partition)) TRY(remove_one(m, partition));
    }
    return SILT_OK;
}

silt_status manifest_write(const op *o, const delta_snapshot *s, const path_set *only) {
    manifests m = {.o = o, .s = s, .only = only};
    path_set written = {NULL, 0, 0};
    TRY(manifest_folder(o, delta_snapshot_root(s), &m.folder));
    TRY(group_lines(&m));
    TRY(thread_for(store_threads(delta_snapshot_env(s)->store, delta_snapshot_env(s)->n_threads), m.n_groups, write_group, &m, o->err));
    TRY(written_partitions(&m, &written));
    return only ? remove_emptied(&m, &written) : remove_stale(&m, &written);
}

/* ---- GENERATE ---- */

static silt_status refuse_vector(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    (void)ctx;
    (void)i;
    return add->dv.storage ? err_DELTA_UNSUPPORTED_GENERATE_WITH_DELETION_VECTORS(err) : SILT_OK;
}

silt_status manifest_check(const op *o, const delta_snapshot *s) {
    str mode = delta_config_str(&delta_snapshot_metadata(s)->configuration, "delta.columnMapping.mode");
    bool mapped = mode.len > 0 && !str_eq_ascii_fold(mode, STR("none"));
    if (delta_protocol_has(delta_snapshot_protocol(s), "deletionVectors")) TRY(delta_snapshot_each_file(s, false, refuse_vector, NULL, o->err));
    return mapped ? err_DELTA_UNSUPPORTED_MANIFEST_GENERATION_WITH_COLUMN_MAPPING(o->err) : SILT_OK;
}

silt_status ops_generate_manifest(const ops_env *env, const delta_snapshot *snapshot, silt_error *err) {
    op o = {env, arena_new(), err};
    if (!o.a) return error_no_memory(err);
    silt_status status = manifest_check(&o, snapshot);
    if (status == SILT_OK) status = manifest_write(&o, snapshot, NULL);
    arena_free(o.a);
    return status;
}
