/*
 * Checkpoints: classic (one Parquet file, the V1 specification) for every table, and where delta.checkpointPolicy asks for it a V2 checkpoint: a JSON file under
 * a unique name with all non-file actions, and a Parquet sidecar with the file actions (PROTOCOL.md "Checkpoints", "V2 Spec"). Multi-part checkpoints are
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

static silt_status write_rows(const delta_snapshot *s, const checkpoint_shape *shape, int64_t now_ms, str local, checkpoint_counts *out_counts,
                              silt_error *err) {
    parquet_service *parquet = delta_snapshot_env(s)->parquet;
    checkpoint_rows *rows;
    struct ArrowArrayStream stream;
    silt_error cause = {.status = SILT_OK};
    TRY(checkpoint_rows_begin(s, shape, now_ms, &rows, &stream, err));
    silt_status status = parquet->write(parquet, local, shape->type, &stream, err);
    if (stream.release) stream.release(&stream);
    silt_status reading = checkpoint_rows_end(rows, out_counts, &cause);
    bool is_cause = reading != SILT_OK && !(status != SILT_OK && reading == SILT_CANCELLED);
    if (is_cause && err) *err = cause;
    return is_cause ? reading : status;
}

/* Write `path` and tell its size and time. */
static silt_status write_file(const delta_snapshot *s, const checkpoint_shape *shape, int64_t now_ms, str path, arena *mem, store_entry *out_entry,
                              checkpoint_counts *out_counts, silt_error *err) {
    const delta_env *env = delta_snapshot_env(s);
    str local;
    if (!env->parquet) return err_UNSUPPORTED_FEATURE(err, "writing a checkpoint without a Parquet writer");
    TRY(begin_file(env->store, path, mem, &local, err));
    silt_status status = write_rows(s, shape, now_ms, local, out_counts, err);
    if (status == SILT_OK) status = store_write_finish(env->store, path, local, err);
    if (status != SILT_OK) {
        store_write_abort(env->store, path, local);
        return status;
    }
    return store_stat(env->store, path, mem, out_entry, err);
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
    TRY_OUT(write_file(s, &shape, time_now_ms(), path, mem, &entry, &counts, err));
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
    str sidecar_name, top_name;
    store_entry sidecar;
    checkpoint_counts counts;
    const data_type *sidecar_type;
} v2_parts;

static void write_metadata_action(buf *out, const v2_parts *p, int64_t version) {
    buf schema;
    buf_init(&schema, BUF_MAX_DEFAULT);
    schema_write_json(&schema, p->sidecar_type);
    buf_printf(out, "{\"checkpointMetadata\":{\"version\":%lld,\"tags\":{\"sidecarNumActions\":\"%lld\",\"sidecarSizeInBytes\":\"%lld\",\"numOfAddFiles\":\"%lld\"",
               (long long)version, (long long)(p->counts.adds + p->counts.removes), (long long)p->sidecar.size_bytes, (long long)p->counts.adds);
    if (schema.len <= 20000) {
        buf_append_z(out, ",\"sidecarFileSchema\":");
        json_write_str(out, buf_str(&schema));
    }
    if (!buf_ok(&schema)) out->failed = true;
    buf_append_z(out, "}}}\n");
    buf_dispose(&schema);
}

static void write_sidecar_object(buf *out, const v2_parts *p) {
    buf_append_z(out, "{\"path\":");
    json_write_str(out, p->sidecar_name);
    buf_printf(out, ",\"sizeInBytes\":%lld,\"modificationTime\":%lld}", (long long)p->sidecar.size_bytes, (long long)p->sidecar.modified_ms);
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
    write_sidecar_object(out, p);
    buf_append_z(out, "]}");
}

static silt_status write_sidecar(const delta_snapshot *s, int64_t now_ms, arena *mem, v2_parts *out, silt_error *err) {
    checkpoint_shape shape;
    char id[37];
    uuid_generate(id);
    TRY(checkpoint_shape_of(s, CHECKPOINT_FILES, mem, &shape, err));
    out->sidecar_type = shape.type;
    out->sidecar_name = arena_printf(mem, "%020lld.checkpoint.%010d.%010d.%s.parquet", (long long)delta_snapshot_version(s), 1, 1, id);
    str dir = log_path_sidecars(delta_snapshot_root(s), mem);
    if (str_is_null(out->sidecar_name) || str_is_null(dir)) return error_no_memory(err);
    str path = path_join(mem, dir, out->sidecar_name);
    if (str_is_null(path)) return error_no_memory(err);
    return write_file(s, &shape, now_ms, path, mem, &out->sidecar, &out->counts, err);
}

static silt_status write_top(const delta_snapshot *s, str top, arena *mem, v2_parts *parts, store_entry *out_entry, silt_error *err) {
    const delta_env *env = delta_snapshot_env(s);
    char id[37];
    uuid_generate(id);
    parts->top_name = arena_printf(mem, "%020lld.checkpoint.%s.json", (long long)delta_snapshot_version(s), id);
    str dir = log_path_dir(delta_snapshot_root(s), mem);
    if (str_is_null(parts->top_name) || str_is_null(dir)) return error_no_memory(err);
    str path = path_join(mem, dir, parts->top_name);
    if (str_is_null(path)) return error_no_memory(err);
    TRY(store_put(env->store, path, top, STORE_PUT_REPLACE, err));
    return store_stat(env->store, path, mem, out_entry, err);
}

static silt_status checkpoint_write_v2(const delta_snapshot *s, silt_error *err) {
    arena *mem = arena_new();
    if (!mem) return error_no_memory(err);
    v2_parts parts = {.sidecar_name = STR_NULL};
    store_entry top_entry;
    buf top, state, hint_text;
    int64_t now_ms = time_now_ms(), n_state = 1; /* with checkpointMetadata */
    buf_init(&top, BUF_MAX_DEFAULT);
    buf_init(&state, BUF_MAX_DEFAULT);
    buf_init(&hint_text, BUF_MAX_DEFAULT);
    silt_status status = write_sidecar(s, now_ms, mem, &parts, err);
    if (status != SILT_OK) goto out;
    write_metadata_action(&state, &parts, delta_snapshot_version(s));
    write_state_actions(&state, s, now_ms, &n_state);
    buf_append_z(&top, "{\"sidecar\":");
    write_sidecar_object(&top, &parts);
    buf_append_z(&top, "}\n");
    buf_append(&top, buf_str(&state));
    if (!buf_ok(&top) || !buf_ok(&state)) TRY_OUT(error_no_memory(err));
    TRY_OUT(write_top(s, buf_str(&top), mem, &parts, &top_entry, err));
    write_v2_hint(&hint_text, &parts, buf_str(&state), n_state, &top_entry);
    if (!buf_ok(&hint_text)) TRY_OUT(error_no_memory(err));
    last_checkpoint hint = {.version = delta_snapshot_version(s),
                            .n_actions = parts.counts.adds + parts.counts.removes + n_state + 1,
                            .size_bytes = parts.sidecar.size_bytes + top_entry.size_bytes,
                            .n_adds = parts.counts.adds,
                            .v2_checkpoint = buf_str(&hint_text)};
    status = last_checkpoint_write(delta_snapshot_env(s), delta_snapshot_root(s), &hint, err);
out:
    buf_dispose(&top);
    buf_dispose(&state);
    buf_dispose(&hint_text);
    arena_free(mem);
    return status;
}

bool checkpoint_is_v2(const delta_snapshot *s) {
    return delta_protocol_has(delta_snapshot_protocol(s), "v2Checkpoint") &&
           str_eqz(delta_config_str(&delta_snapshot_metadata(s)->configuration, "delta.checkpointPolicy"), "v2");
}

silt_status delta_checkpoint_write(const delta_snapshot *s, silt_error *err) {
    return checkpoint_is_v2(s) ? checkpoint_write_v2(s, err) : checkpoint_write_classic(s, true, err);
}
