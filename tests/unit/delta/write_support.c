/* Small tables for the tests of transactions. */
#include "write_support.h"

#include <stdlib.h>

#include "base/ident.h"
#include "base/time.h"
#include "delta/metadata_copy.h"

static str_map properties_of(const char *text, arena *a) {
    str rest = str_of(text ? text : ""), piece;
    str *keys = ARENA_ARRAY(a, 16, str), *values = ARENA_ARRAY(a, 16, str);
    size_t n = 0;
    while (n < 16 && str_next(&rest, '|', &piece)) {
        size_t eq = str_find_char(piece, '=');
        if (eq == SIZE_MAX) continue;
        keys[n] = str_slice(piece, 0, eq);
        values[n++] = str_slice(piece, eq + 1, piece.len);
    }
    return (str_map){keys, values, n};
}

silt_status write_definition(const table_spec *spec, arena *a, delta_protocol *p, delta_metadata *m, silt_error *err) {
    const data_type *schema;
    char *id = arena_alloc(a, 37);
    if (!id) return error_no_memory(err);
    uuid_generate(id);
    *m = (delta_metadata){.id = str_of(id), .format_provider = STR("parquet"), .created_time_ms = time_now_ms()};
    m->schema_json = str_of(spec->schema ? spec->schema : PLAIN_SCHEMA);
    TRY(schema_parse_json(m->schema_json, a, &schema, err));
    TRY(delta_protocol_for(NULL, schema, properties_of(spec->properties, a), false, a, p, &m->configuration, err));
    if (spec->partition_by) {
        str *column = ARENA_NEW(a, str);
        if (!column) return error_no_memory(err);
        *column = str_of(spec->partition_by);
        m->partition_columns = column;
        m->n_partition_columns = 1;
    }
    m->schema = schema;
    return SILT_OK;
}

silt_status write_create(const delta_env *env, const table_spec *spec, silt_error *err) {
    arena *a = arena_new();
    delta_txn *t = NULL;
    delta_protocol p;
    delta_metadata m;
    int64_t version;
    silt_status status = a ? write_definition(spec, a, &p, &m, err) : error_no_memory(err);
    if (status == SILT_OK) status = delta_txn_begin(env, NULL, ROOT, &t, err);
    if (status == SILT_OK) status = delta_txn_set_protocol(t, &p, err);
    if (status == SILT_OK) status = delta_txn_set_metadata(t, &m, err);
    if (status == SILT_OK) status = write_commit(t, "CREATE TABLE", &version, err);
    delta_txn_free(t);
    arena_free(a);
    return status;
}

delta_add write_file(const char *path, const char *partition, int rows, arena *a) {
    delta_add add = {.path = arena_str(a, str_of(path)), .size_bytes = 100, .modification_time_ms = 1700000000000, .data_change = true, .base_row_id = -1,
                     .default_row_commit_version = -1};
    add.stats = arena_printf(a, "{\"numRecords\":%d,\"minValues\":{\"a\":1},\"maxValues\":{\"a\":%d},\"nullCount\":{\"a\":0}}", rows, rows);
    if (!partition) return add;
    str *key = ARENA_NEW(a, str), *text = ARENA_NEW(a, str);
    *key = STR("p");
    *text = *partition ? arena_str(a, str_of(partition)) : STR_NULL;
    add.partition_values = (str_map){key, text, 1};
    return add;
}

silt_status write_add_files(delta_txn *t, const char *files, silt_error *err) {
    arena *a = arena_new();
    if (!a) return error_no_memory(err);
    str rest = str_of(files), piece;
    silt_status status = SILT_OK;
    while (status == SILT_OK && str_next(&rest, '|', &piece)) {
        if (piece.len == 0) continue;
        size_t at = str_find_char(piece, '@');
        const char *path = arena_cstr(a, at == SIZE_MAX ? piece : str_slice(piece, 0, at));
        const char *partition = at == SIZE_MAX ? NULL : arena_cstr(a, str_slice(piece, at + 1, piece.len));
        delta_add add = write_file(path, partition, 10, a);
        status = delta_txn_add(t, &add, err);
    }
    arena_free(a);
    return status;
}

silt_status write_commit(delta_txn *t, const char *operation, int64_t *out_version, silt_error *err) {
    const delta_commit_info info = {.operation = operation, .operation_parameters = STR("{}"), .operation_metrics = STR("{}"), .no_pauses = true};
    return delta_txn_commit(t, &info, out_version, err);
}

silt_status write_begin(const delta_env *env, delta_snapshot **out_snapshot, delta_txn **out, silt_error *err) {
    *out = NULL;
    *out_snapshot = NULL;
    TRY(delta_snapshot_load(env, ROOT, DELTA_LATEST, out_snapshot, err));
    return delta_txn_begin(env, *out_snapshot, ROOT, out, err);
}

silt_status write_append(const delta_env *env, const char *files, int64_t *out_version, silt_error *err) {
    delta_snapshot *s;
    delta_txn *t;
    silt_status status = write_begin(env, &s, &t, err);
    if (status == SILT_OK) status = write_add_files(t, files, err);
    if (status == SILT_OK) status = write_commit(t, "WRITE", out_version, err);
    delta_txn_free(t);
    delta_snapshot_release(s);
    return status;
}

static silt_status remove_one(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    (void)i;
    return delta_txn_remove_file(ctx, add, true, err);
}

silt_status write_overwrite(const delta_env *env, const char *files, int64_t *out_version, silt_error *err) {
    delta_snapshot *s;
    delta_txn *t;
    silt_status status = write_begin(env, &s, &t, err);
    if (status == SILT_OK) {
        delta_txn_read_whole_table(t);
        status = write_add_files(t, files, err);
    }
    if (status == SILT_OK) status = delta_snapshot_each_file(s, true, remove_one, t, err);
    if (status == SILT_OK) status = write_commit(t, "WRITE", out_version, err);
    delta_txn_free(t);
    delta_snapshot_release(s);
    return status;
}

typedef struct search {
    delta_txn *txn;
    str path;
    bool found;
} search;

static silt_status remove_if_named(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    search *s = ctx;
    (void)i;
    if (!str_eq(add->path, s->path)) return SILT_OK;
    s->found = true;
    return delta_txn_remove_file(s->txn, add, true, err);
}

silt_status write_remove_path(delta_txn *t, const delta_snapshot *s, const char *path, silt_error *err) {
    search find = {t, str_of(path), false};
    TRY(delta_snapshot_each_file(s, true, remove_if_named, &find, err));
    return find.found ? SILT_OK : err_FILE_NOT_FOUND(err, find.path);
}

silt_status write_set_property(delta_txn *t, const delta_snapshot *s, const char *key, const char *text, silt_error *err) {
    arena *a = arena_new();
    if (!a) return error_no_memory(err);
    delta_metadata m = *delta_snapshot_metadata(s);
    silt_status status = str_map_with(&m.configuration, str_of(key), str_of(text), a, &m.configuration) ? delta_txn_set_metadata(t, &m, err)
                                                                                                       : error_no_memory(err);
    arena_free(a);
    return status;
}

typedef struct names {
    arena *arena;
    const char **items;
    size_t count, capacity;
} names;

static silt_status take_name(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    names *n = ctx;
    (void)i;
    const char *copy = arena_cstr(n->arena, add->path);
    return copy && ARENA_PUSH(n->arena, n->items, n->count, n->capacity, copy) ? SILT_OK : error_no_memory(err);
}

static int by_text(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

silt_status write_live_files(const delta_env *env, arena *a, const char **out, int64_t *out_version, silt_error *err) {
    delta_snapshot *s;
    names n = {a, NULL, 0, 0};
    TRY(delta_snapshot_load(env, ROOT, DELTA_LATEST, &s, err));
    *out_version = delta_snapshot_version(s);
    silt_status status = delta_snapshot_each_file(s, false, take_name, &n, err);
    delta_snapshot_release(s);
    if (status != SILT_OK) return status;
    if (n.count) qsort(n.items, n.count, sizeof *n.items, by_text);
    str text = arena_str(a, STR(""));
    for (size_t i = 0; i < n.count; i++) text = arena_printf(a, "%.*s%s%s", STR_ARG(text), i ? "," : "", n.items[i]);
    *out = text.ptr;
    return SILT_OK;
}

const char *write_log_text(store *s, const char *name, arena *a) {
    buf b;
    buf_init(&b, 1 << 24);
    str path = arena_printf(a, "/t/_delta_log/%s", name);
    const char *text = store_read(s, path, 0, -1, &b, NULL) == SILT_OK ? arena_cstr(a, buf_str(&b)) : NULL;
    buf_dispose(&b);
    return text;
}

/* ---- asserting forms ---- */

void assert_ok(silt_status status, const silt_error *err) {
    if (status != SILT_OK) fail_msg("status %d: %s %s (%s)", (int)status, err->condition, err->message, err->detail);
}

void assert_created(const delta_env *env, const table_spec *spec) {
    silt_error err = {0};
    assert_ok(write_create(env, spec, &err), &err);
}

int64_t assert_appended(const delta_env *env, const char *files) {
    silt_error err = {0};
    int64_t version = -1;
    assert_ok(write_append(env, files, &version, &err), &err);
    return version;
}

void assert_live(const delta_env *env, int64_t version, const char *expected) {
    arena *a = arena_new();
    silt_error err = {0};
    const char *found;
    int64_t at;
    assert_ok(write_live_files(env, a, &found, &at, &err), &err);
    assert_string_equal(found, expected);
    assert_int_equal(at, version);
    arena_free(a);
}
