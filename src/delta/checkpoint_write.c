/*
 * Checkpoints: classic (one Parquet file, the V1 specification) for every table, and where delta.checkpointPolicy asks for it a V2 checkpoint: a JSON file under
 * a unique name, or a Parquet one, with all non-file actions, and Parquet sidecars with the file actions (PROTOCOL.md "Checkpoints", "V2 Spec"). Multi-part checkpoints are
 * never written: they cannot appear at once.
 *
 * A checkpoint file appears whole under its name or not at all, and _last_checkpoint follows only then.
 */
#include "base/ident.h"
#include "base/json.h"
#include "base/time.h"
#include "base/uri.h"
#include "delta/action_write.h"
#include "delta/checkpoint_rows.h"
#include "delta/checkpoint_write.h"
#include "delta/last_checkpoint.h"
#include "delta/log_path.h"
#include "delta/properties.h"
#include "delta/transaction.h"

/* ---- one Parquet file ---- */

/* A store whose data files are written under their final name would show a torn checkpoint: write beside it, under a name that listings hide, and let
 * store_write_finish move it. */
static silt_status begin_file(store *s, str path, arena *mem, str *out_local, silt_error *err) {
    TRY(store_write_begin(s, path, mem, out_local, err));
    if (!str_eq(*out_local, path)) return SILT_OK;
    char id[37];
    uuid_generate(id);
    str name = arena_printf(mem, ".silt-%s.tmp", id);
    if (!str_is_null(name)) *out_local = path_join(mem, path_parent(path), name);
    return str_is_null(name) || str_is_null(*out_local) ? error_no_memory(err) : SILT_OK;
}

/* One stream as the file `path`; tells its size and time. */
static silt_status write_stream(const delta_env *env, const data_type *type, struct ArrowArrayStream *stream, str path, arena *mem,
                                store_entry *out_entry, silt_error *err) {
    str local;
    silt_status status = begin_file(env->store, path, mem, &local, err);
    if (status == SILT_OK) {
        status = env->parquet->write(env->parquet, local, type, stream, err);
        if (status == SILT_OK) status = store_write_finish(env->store, path, local, err);
        if (status != SILT_OK) store_write_abort(env->store, path, local);
    }
    if (stream->release) stream->release(stream);
    return status == SILT_OK ? store_stat(env->store, path, mem, out_entry, err) : status;
}

/* Names the files that the rows go to, one after the other. */
typedef silt_status (*name_part_fn)(void *ctx, size_t part, str *out_path, silt_error *err);
typedef struct part_list {
    name_part_fn name;
    void *ctx;
    store_entry *entries; /* in the arena */
    size_t n, capacity;
} part_list;

static silt_status write_parts(const delta_snapshot *s, const checkpoint_shape *shape, checkpoint_rows *rows, part_list *parts, arena *mem, silt_error *err) {
    for (;;) {
        struct ArrowArrayStream stream;
        store_entry entry;
        str path;
        bool more;
        checkpoint_rows_part(rows, &stream, &more);
        if (!more) return SILT_OK;
        silt_status status = parts->name(parts->ctx, parts->n, &path, err);
        if (status != SILT_OK) {
            stream.release(&stream);
            return status;
        }
        TRY(write_stream(delta_snapshot_env(s), shape->type, &stream, path, mem, &entry, err));
        if (!ARENA_PUSH(mem, parts->entries, parts->n, parts->capacity, entry)) return error_no_memory(err);
    }
}

static silt_status write_rows(const delta_snapshot *s, const checkpoint_spec *spec, part_list *parts, arena *mem, checkpoint_counts *out_counts, silt_error *err) {
    checkpoint_rows *rows;
    silt_error cause = {.status = SILT_OK};
    if (!delta_snapshot_env(s)->parquet) return err_UNSUPPORTED_FEATURE(err, "writing a checkpoint without a Parquet writer");
    TRY(checkpoint_rows_begin(s, spec, &rows, err));
    silt_status status = write_parts(s, spec->shape, rows, parts, mem, err);
    silt_status reading = checkpoint_rows_end(rows, out_counts, &cause);
    bool is_cause = reading != SILT_OK && !(status != SILT_OK && reading == SILT_CANCELLED);
    if (is_cause && err) *err = cause;
    return is_cause ? reading : status;
}

static silt_status fixed_name(void *ctx, size_t part, str *out, silt_error *err) {
    (void)part, (void)err;
    *out = *(const str *)ctx;
    return SILT_OK;
}

/* All rows as one file. */
static silt_status write_file(const delta_snapshot *s, const checkpoint_spec *spec, str path, arena *mem, store_entry *out_entry,
                              checkpoint_counts *out_counts, silt_error *err) {
    part_list parts = {.name = fixed_name, .ctx = &path};
    TRY(write_rows(s, spec, &parts, mem, out_counts, err));
    *out_entry = parts.entries[0];
    return SILT_OK;
}

/* ---- classic ---- */

silt_status checkpoint_write_classic(const delta_snapshot *s, bool update_hint, silt_error *err) {
    arena *mem = arena_new();
    if (!mem) return error_no_memory(err);
    checkpoint_shape shape;
    checkpoint_counts counts;
    store_entry entry;
    int64_t version = delta_snapshot_version(s);
    silt_status status = checkpoint_shape_of(s, CHECKPOINT_ALL, mem, &shape, err);
    if (status != SILT_OK) goto out;
    str path = log_path_file(delta_snapshot_root(s), version, ".checkpoint.parquet", mem);
    if (str_is_null(path)) TRY_OUT(error_no_memory(err));
    const checkpoint_spec spec = {.shape = &shape, .now_ms = time_now_ms()};
    TRY_OUT(write_file(s, &spec, path, mem, &entry, &counts, err));
    if (update_hint) {
        last_checkpoint hint = {.version = version,
                                .n_actions = counts.adds + counts.removes + counts.others,
                                .size_bytes = entry.size_bytes,
                                .n_adds = counts.adds,
                                .schema = shape.type};
        status = last_checkpoint_write(delta_snapshot_env(s), delta_snapshot_root(s), &hint, err);
    }
out:
    arena_free(mem);
    return status;
}

/* ---- V2 ---- */

typedef struct v2_parts {
    const delta_snapshot *snapshot;
    arena *arena;
    str top_name;
    sidecar_file *sidecars;
    size_t n_sidecars, n_parts; /* n_parts: planned, as the names say */
    int64_t sidecar_bytes;
    checkpoint_counts counts; /* of the sidecars */
    const data_type *sidecar_type;
    str_map tags; /* of checkpointMetadata */
} v2_parts;

#define MAX_SCHEMA_TEXT 20000 /* a longer one is not repeated in the tags */

static silt_status make_tags(v2_parts *p, silt_error *err) {
    buf schema;
    str *keys = ARENA_ARRAY(p->arena, 4, str), *values = ARENA_ARRAY(p->arena, 4, str);
    if (!keys || !values) return error_no_memory(err);
    buf_init(&schema, BUF_MAX_DEFAULT);
    schema_write_json(&schema, p->sidecar_type);
    keys[0] = STR("sidecarNumActions");
    values[0] = arena_printf(p->arena, "%lld", (long long)(p->counts.adds + p->counts.removes));
    keys[1] = STR("sidecarSizeInBytes");
    values[1] = arena_printf(p->arena, "%lld", (long long)p->sidecar_bytes);
    keys[2] = STR("numOfAddFiles");
    values[2] = arena_printf(p->arena, "%lld", (long long)p->counts.adds);
    keys[3] = STR("sidecarFileSchema");
    values[3] = buf_take(&schema, p->arena);
    for (size_t i = 0; i < 4; i++)
        if (str_is_null(values[i])) return error_no_memory(err);
    p->tags = (str_map){keys, values, values[3].len <= MAX_SCHEMA_TEXT ? 4 : 3};
    return SILT_OK;
}

static void write_metadata_action(buf *out, const v2_parts *p) {
    bool first = true;
    buf_printf(out, "{\"checkpointMetadata\":{\"version\":%lld,\"tags\":{", (long long)delta_snapshot_version(p->snapshot));
    for (size_t i = 0; i < p->tags.count; i++) {
        json_write_key_str(out, &first, p->tags.keys[i]);
        json_write_str(out, p->tags.values[i]);
    }
    buf_append_z(out, "}}}\n");
}

static void write_sidecar_object(buf *out, const sidecar_file *f) {
    buf_append_z(out, "{\"path\":");
    json_write_str(out, f->name);
    buf_printf(out, ",\"sizeInBytes\":%lld,\"modificationTime\":%lld}", (long long)f->size_bytes, (long long)f->modified_ms);
}

/* Non-file actions, a line each; *n counts them. */
static void write_state_actions(buf *out, const delta_snapshot *s, int64_t now_ms, int64_t *n) {
    for (size_t i = 0; i < delta_snapshot_n_txns(s); i++) {
        if (!checkpoint_keeps_txn(delta_snapshot_metadata(s), delta_snapshot_txn(s, i), now_ms)) continue;
        delta_write_txn(out, delta_snapshot_txn(s, i));
        ++*n;
    }
    for (size_t i = 0; i < delta_snapshot_n_domains(s); i++) {
        if (delta_snapshot_domain(s, i)->removed) continue;
        delta_write_domain(out, delta_snapshot_domain(s, i));
        ++*n;
    }
    delta_write_protocol(out, delta_snapshot_protocol(s));
    delta_write_metadata(out, delta_snapshot_metadata(s));
    *n += 2;
}

/* Lines → the elements of a JSON array. */
static void append_lines_as_list(buf *out, str lines) {
    bool first = true;
    str line;
    while (str_next(&lines, '\n', &line)) {
        if (line.len == 0) continue;
        if (!first) buf_append_char(out, ',');
        first = false;
        buf_append(out, line);
    }
}

#define MAX_HINTED_ACTIONS 30 /* beyond it the hint does not repeat them, as Delta does */

static void write_v2_hint(buf *out, const v2_parts *p, str state, int64_t n_state, const store_entry *top) {
    buf_append_z(out, "{\"path\":");
    json_write_str(out, p->top_name);
    buf_printf(out, ",\"sizeInBytes\":%lld,\"modificationTime\":%lld", (long long)top->size_bytes, (long long)top->modified_ms);
    if (n_state <= MAX_HINTED_ACTIONS) {
        buf_append_z(out, ",\"nonFileActions\":[");
        append_lines_as_list(out, state);
        buf_append_char(out, ']');
    }
    buf_append_z(out, ",\"sidecarFiles\":[");
    for (size_t i = 0; i < p->n_sidecars; i++) {
        if (i) buf_append_char(out, ',');
        write_sidecar_object(out, &p->sidecars[i]);
    }
    buf_append_z(out, "]}");
}

static silt_status name_sidecar(void *ctx, size_t part, str *out_path, silt_error *err) {
    v2_parts *p = ctx;
    char id[37];
    uuid_generate(id);
    str name = arena_printf(p->arena, "%020lld.checkpoint.%010zu.%010zu.%s.parquet", (long long)delta_snapshot_version(p->snapshot), part + 1, p->n_parts, id);
    str dir = log_path_sidecars(delta_snapshot_root(p->snapshot), p->arena);
    if (str_is_null(name) || str_is_null(dir) || part >= p->n_parts) return error_no_memory(err);
    p->sidecars[part].name = name;
    *out_path = path_join(p->arena, dir, name);
    return str_is_null(*out_path) ? error_no_memory(err) : SILT_OK;
}

static silt_status write_sidecars(v2_parts *p, int64_t now_ms, silt_error *err) {
    const delta_env *env = delta_snapshot_env(p->snapshot);
    checkpoint_shape shape;
    int64_t rows;
    TRY(checkpoint_shape_of(p->snapshot, CHECKPOINT_FILES, p->arena, &shape, err));
    TRY(checkpoint_count_files(p->snapshot, now_ms, &rows, err));
    const checkpoint_spec spec = {.shape = &shape, .now_ms = now_ms, .part_rows = env->checkpoint_part_rows};
    p->sidecar_type = shape.type;
    p->n_parts = spec.part_rows > 0 && rows > 0 ? (size_t)((rows + spec.part_rows - 1) / spec.part_rows) : 1;
    p->sidecars = ARENA_ARRAY(p->arena, p->n_parts, sidecar_file);
    if (!p->sidecars) return error_no_memory(err);
    part_list parts = {.name = name_sidecar, .ctx = p};
    TRY(write_rows(p->snapshot, &spec, &parts, p->arena, &p->counts, err));
    p->n_sidecars = parts.n;
    for (size_t i = 0; i < parts.n; i++) {
        p->sidecars[i].size_bytes = parts.entries[i].size_bytes;
        p->sidecars[i].modified_ms = parts.entries[i].modified_ms;
        p->sidecar_bytes += parts.entries[i].size_bytes;
    }
    return make_tags(p, err);
}

static silt_status top_path(v2_parts *p, const char *suffix, str *out, silt_error *err) {
    char id[37];
    uuid_generate(id);
    p->top_name = arena_printf(p->arena, "%020lld.checkpoint.%s.%s", (long long)delta_snapshot_version(p->snapshot), id, suffix);
    str dir = log_path_dir(delta_snapshot_root(p->snapshot), p->arena);
    if (str_is_null(p->top_name) || str_is_null(dir)) return error_no_memory(err);
    *out = path_join(p->arena, dir, p->top_name);
    return str_is_null(*out) ? error_no_memory(err) : SILT_OK;
}

static silt_status write_top_json(v2_parts *p, str state, store_entry *out_entry, silt_error *err) {
    const delta_env *env = delta_snapshot_env(p->snapshot);
    str path;
    buf top;
    TRY(top_path(p, "json", &path, err));
    buf_init(&top, BUF_MAX_DEFAULT);
    for (size_t i = 0; i < p->n_sidecars; i++) {
        buf_append_z(&top, "{\"sidecar\":");
        write_sidecar_object(&top, &p->sidecars[i]);
        buf_append_z(&top, "}\n");
    }
    buf_append(&top, state);
    silt_status status = buf_ok(&top) ? store_put(env->store, path, buf_str(&top), STORE_PUT_REPLACE, err) : error_no_memory(err);
    buf_dispose(&top);
    return status == SILT_OK ? store_stat(env->store, path, p->arena, out_entry, err) : status;
}

static silt_status write_top_parquet(v2_parts *p, int64_t now_ms, const data_type **out_type, store_entry *out_entry, silt_error *err) {
    checkpoint_shape shape;
    checkpoint_counts counts;
    str path;
    TRY(top_path(p, "parquet", &path, err));
    TRY(checkpoint_shape_of(p->snapshot, CHECKPOINT_TOP, p->arena, &shape, err));
    const checkpoint_spec spec = {.shape = &shape, .now_ms = now_ms, .tags = p->tags, .sidecars = p->sidecars, .n_sidecars = p->n_sidecars};
    *out_type = shape.type;
    return write_file(p->snapshot, &spec, path, p->arena, out_entry, &counts, err);
}

static silt_status write_v2(v2_parts *p, buf *state, buf *hint_text, silt_error *err) {
    const delta_snapshot *s = p->snapshot;
    const delta_env *env = delta_snapshot_env(s);
    int64_t now_ms = time_now_ms(), n_state = 1; /* with checkpointMetadata */
    const data_type *top_type = NULL;
    store_entry top;
    TRY(write_sidecars(p, now_ms, err));
    write_metadata_action(state, p);
    write_state_actions(state, s, now_ms, &n_state);
    if (!buf_ok(state)) return error_no_memory(err);
    if (env->checkpoint_top_parquet)
        TRY(write_top_parquet(p, now_ms, &top_type, &top, err));
    else
        TRY(write_top_json(p, buf_str(state), &top, err));
    write_v2_hint(hint_text, p, buf_str(state), n_state, &top);
    if (!buf_ok(hint_text)) return error_no_memory(err);
    last_checkpoint hint = {.version = delta_snapshot_version(s),
                            .n_actions = p->counts.adds + p->counts.removes + n_state + (int64_t)p->n_sidecars,
                            .size_bytes = p->sidecar_bytes + top.size_bytes,
                            .n_adds = p->counts.adds,
                            .schema = top_type,
                            .v2_checkpoint = buf_str(hint_text)};
    return last_checkpoint_write(env, delta_snapshot_root(s), &hint, err);
}

static silt_status checkpoint_write_v2(const delta_snapshot *s, silt_error *err) {
    v2_parts parts = {.snapshot = s, .arena = arena_new()};
    buf state, hint_text;
    if (!parts.arena) return error_no_memory(err);
    buf_init(&state, BUF_MAX_DEFAULT);
    buf_init(&hint_text, BUF_MAX_DEFAULT);
    silt_status status = write_v2(&parts, &state, &hint_text, err);
    buf_dispose(&state);
    buf_dispose(&hint_text);
    arena_free(parts.arena);
    return status;
}

bool checkpoint_is_v2(const delta_snapshot *s) {
    return delta_protocol_has(delta_snapshot_protocol(s), "v2Checkpoint") &&
           str_eqz(delta_config_str(&delta_snapshot_metadata(s)->configuration, "delta.checkpointPolicy"), "v2");
}

silt_status delta_checkpoint_write(const delta_snapshot *s, silt_error *err) {
    return checkpoint_is_v2(s) ? checkpoint_write_v2(s, err) : checkpoint_write_classic(s, true, err);
}
