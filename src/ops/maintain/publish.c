/*
 * PUBLISH TABLE. New folders are made beside the copy, complete and durable, and change places with the old ones. What left stays beside it, whole, until a later run: who opened a folder
 * before the change and lists it after must not find it emptied, or half of it. A run that is killed leaves a copy whose every folder is whole, and a folder beside it from which
 * the next run goes on.
 */
#include "ops/maintain/publish.h"

#include "base/ident.h"
#include "base/process.h"
#include "base/time.h"
#include "base/uri.h"
#include "ops/commit.h"
#include "ops/maintain/publish_run.h"

#define STAGE_AGE_MS ((int64_t)24 * 3600 * 1000) /* no run takes longer: an older stage is a dead one's */
#define KEEP_SECONDS 600                         /* what left is kept for readers; silt.publish.keepSeconds */

/* ---- the copy's schema ---- */

static silt_status check_type(const op *o, const data_type *t) {
    if (t->id == TYPE_VARIANT) return err_PUBLISH_UNSUPPORTED(o->err, "VARIANT columns");
    if (t->key) TRY(check_type(o, t->key));
    if (t->element) TRY(check_type(o, t->element));
    for (size_t i = 0; t->id == TYPE_STRUCT && i < t->n_fields; i++) TRY(check_type(o, t->fields[i].type));
    return SILT_OK;
}

static silt_status define_copy(publish_run *r) {
    const op *o = r->o;
    const delta_metadata *m = delta_snapshot_metadata(r->spec->snapshot);
    const data_type *logical = schema_use_logical_names(m->schema, o->a);
    field *fields = ARENA_ARRAY(o->a, m->schema->n_fields + 1, field);
    size_t n = 0;
    if (!logical || !fields) return error_no_memory(o->err);
    for (size_t i = 0; i < logical->n_fields; i++) {
        TRY(check_type(o, logical->fields[i].type));
        if (logical->fields[i].type->id != TYPE_VOID) fields[n++] = logical->fields[i];
    }
    r->schema = type_struct(o->a, fields, n);
    if (!r->schema) return error_no_memory(o->err);
    ops_write_target_init(&r->target, r->spec->snapshot);
    r->target.schema = r->target.metadata.schema = r->schema;
    r->target.metadata.configuration = (str_map){0}; /* no mapping, no random folders: plain */
    return SILT_OK;
}

/* ---- the stage ---- */

/* Best effort: what is left is hidden, and the next run but one removes it. */
static void drop_stage(const publish_run *r, str stage) {
    silt_error ignored = {0};
    op inner = *r->o;
    publish_run quiet = *r;
    inner.err = &ignored;
    quiet.o = &inner;
    (void)!publish_remove_tree(&quiet, stage);
}

static str hidden_prefix(const publish_run *r, const char *kind) {
    return arena_printf(r->o->a, ".%.*s%s", STR_ARG(path_name(r->spec->folder)), kind);
}

/* A place for what has left the copy, whose name tells when that was. */
static str left_folder(const publish_run *r, str number) {
    str prefix = hidden_prefix(r, PUBLISH_LEFT);
    return str_is_null(prefix) ? prefix
                               : arena_printf(r->o->a, "%.*s/%.*s%lld-%.*s", STR_ARG(path_parent(r->spec->folder)), STR_ARG(prefix), (long long)time_now_ms(), STR_ARG(number));
}

/* What cannot be taken over is made again. */
static void resume_quietly(publish_run *r, str dead) {
    silt_error ignored = {0};
    const op *loud = r->o;
    op inner = *loud;
    char number[37];
    uuid_generate(number);
    str left = left_folder(r, str_of(number));
    inner.err = &ignored;
    r->o = &inner;
    if (!str_is_null(left)) (void)!publish_resume(r, dead, left);
    r->o = loud;
}

/* Of this folder's stages those of processes that are dead, or so old that they must be. */
static bool is_dead(const store_entry *stage, str prefix, bool *out_by_name) {
    str name = path_name(stage->path), process = str_slice(name, prefix.len, name.len);
    size_t dash = str_find_char(process, '-');
    *out_by_name = dash != SIZE_MAX && process_is_gone(str_slice(process, 0, dash));
    return *out_by_name || stage->modified_ms < time_now_ms() - STAGE_AGE_MS;
}

static void take_dead_stages(publish_run *r, str prefix) {
    store_list_result list = {0};
    silt_error ignored = {0};
    if (store_list(r->spec->store, path_parent(r->spec->folder), STR_NULL, false, r->o->a, &list, &ignored) != SILT_OK) return;
    for (size_t i = 0; i < list.count; i++) {
        const store_entry *stage = &list.items[i];
        bool by_name;
        if (!stage->is_dir || !str_starts_with(path_name(stage->path), prefix) || !is_dead(stage, prefix, &by_name)) continue;
        if (by_name) resume_quietly(r, stage->path);
        else drop_stage(r, stage->path);
    }
}

static silt_status make_stage(publish_run *r) {
    const op *o = r->o;
    char number[37], process[PROCESS_NAME_LEN + 1];
    str prefix = hidden_prefix(r, PUBLISH_STAGE);
    uuid_generate(number);
    process_name(process);
    if (str_is_null(prefix)) return error_no_memory(o->err);
    r->stage = arena_printf(o->a, "%.*s/%.*s%s-%s", STR_ARG(path_parent(r->spec->folder)), STR_ARG(prefix), process, number);
    if (str_is_null(r->stage)) return error_no_memory(o->err);
    take_dead_stages(r, prefix);
    return store_make_dirs(r->spec->store, r->stage, o->err);
}

/* ---- what has left ---- */

/* Folders that left hold what their markers name. What somebody else has put there meanwhile stays, and is told of. */
static silt_status retire(const publish_run *r, str folder) {
    const op *o = r->o;
    store_list_result list = {0};
    TRY(store_list(r->spec->store, folder, STR_NULL, false, o->a, &list, o->err));
    for (size_t i = 0; i < list.count; i++)
        if (list.items[i].is_dir) TRY(retire(r, list.items[i].path));
    return publish_remove_folder(r, folder);
}

/* Never fails: the copy is right all the same. */
static void retire_or_tell(const publish_run *r, str folder) {
    silt_error failure = {0};
    op inner = *r->o;
    publish_run quiet = *r;
    inner.err = &failure;
    quiet.o = &inner;
    if (retire(&quiet, folder) == SILT_OK) return;
    str text = arena_printf(r->o->a, "what was in the copy before is still in %.*s: %s", STR_ARG(folder), failure.message);
    if (text.ptr) ops_note(r->o, text.ptr);
}

/* The stage, with what has left the copy, becomes hidden folder of its own, which tells when that was. */
static void leave_stage(const publish_run *r) {
    store_entry entry;
    silt_error failure = {0};
    if (store_stat(r->spec->store, r->stage, r->o->a, &entry, &failure) == SILT_NOT_FOUND)
        return; /* the whole stage has become the copy */
    if (!r->has_left) {
        retire_or_tell(r, r->stage);
        return;
    }
    str name = path_name(r->stage), number = str_slice(name, name.len - 36, name.len);
    str left = left_folder(r, number);
    if (!str_is_null(left))
        (void)!store_move_dir(r->spec->store, r->stage, left, &failure); /* where it stays, it counts as a dead run's */
}

static silt_status keep_ms(const publish_run *r, int64_t *out) {
    str text = ops_setting(r->o, "silt.publish.keepSeconds");
    int64_t seconds = KEEP_SECONDS;
    if (!str_is_null(text) && (!str_to_i64(text, &seconds) || seconds < 0))
        return err_INVALID_PARAMETER_VALUE(r->o->err, STR("silt.publish.keepSeconds"), text, "a number of seconds");
    *out = seconds < INT64_MAX / 1000 ? seconds * 1000 : INT64_MAX;
    return SILT_OK;
}

static silt_status drop_left(const publish_run *r) {
    store_list_result list = {0};
    silt_error ignored = {0};
    int64_t keep, left_ms;
    str prefix = hidden_prefix(r, PUBLISH_LEFT);
    TRY(keep_ms(r, &keep));
    if (str_is_null(prefix)) return error_no_memory(r->o->err);
    if (store_list(r->spec->store, path_parent(r->spec->folder), STR_NULL, false, r->o->a, &list, &ignored) != SILT_OK)
        return SILT_OK;
    for (size_t i = 0; i < list.count; i++) {
        str name = path_name(list.items[i].path);
        if (!list.items[i].is_dir || !str_starts_with(name, prefix)) continue;
        str rest = str_slice(name, prefix.len, name.len);
        size_t dash = str_find_char(rest, '-');
        if (dash == SIZE_MAX || !str_to_i64(str_slice(rest, 0, dash), &left_ms)) continue;
        if (time_now_ms() - left_ms >= keep) retire_or_tell(r, list.items[i].path);
    }
    return SILT_OK;
}

/* ---- changing places ---- */

static silt_status exists(const publish_run *r, str path, bool *out) {
    store_entry entry;
    silt_error failure = {0};
    silt_status status = store_stat(r->spec->store, path, r->o->a, &entry, &failure);
    *out = status == SILT_OK;
    if (status == SILT_OK || status == SILT_NOT_FOUND) return SILT_OK;
    if (r->o->err) *r->o->err = failure;
    return status;
}

static silt_status put_in_place(publish_run *r, str made, str place) {
    bool is_there;
    TRY(exists(r, place, &is_there));
    r->has_left |= is_there;
    return is_there ? store_swap_dirs(r->spec->store, made, place, r->o->err)
                    : store_move_dir(r->spec->store, made, place, r->o->err);
}

/* Folders above it that are empty now. */
static void drop_empty_parents(const publish_run *r, str folder) {
    silt_error ignored = {0};
    for (folder = path_parent(folder); folder.len > r->spec->folder.len; folder = path_parent(folder))
        if (store_remove_dir(r->spec->store, folder, &ignored) != SILT_OK) return;
}

static silt_status take_away(publish_run *r, size_t i) {
    const op *o = r->o;
    str from = path_join(o->a, r->spec->folder, r->leaving[i]), to = arena_printf(o->a, "%.*s/.gone/%zu", STR_ARG(r->stage), i);
    if (str_is_null(from) || str_is_null(to)) return error_no_memory(o->err);
    TRY(store_move_dir(r->spec->store, from, to, o->err));
    r->has_left = true;
    drop_empty_parents(r, from);
    return SILT_OK;
}

static silt_status change_partitions(publish_run *r) {
    const op *o = r->o;
    for (size_t i = 0; i < r->n_folders; i++) {
        const publish_folder *f = &r->folders[i];
        if (!f->is_changed) continue;
        str made = path_join(o->a, r->stage, f->path), place = path_join(o->a, r->spec->folder, f->path);
        if (str_is_null(made) || str_is_null(place)) return error_no_memory(o->err);
        TRY(put_in_place(r, made, place));
    }
    for (size_t i = 0; i < r->n_leaving; i++) TRY(take_away(r, i));
    return publish_marker_write(r, r->spec->folder, STR_NULL, NULL, 0);
}

static silt_status change(publish_run *r) { return r->whole ? put_in_place(r, r->stage, r->spec->folder) : change_partitions(r); }

/* ---- the whole ---- */

static void count(const publish_run *r, size_t n_changed) {
    publish_result *out = r->out;
    out->partitions_written = (int64_t)n_changed;
    out->partitions_unchanged = (int64_t)(r->n_folders - n_changed);
    out->partitions_removed = (int64_t)r->n_leaving;
}

static silt_status publish(publish_run *r) {
    size_t n_changed = 0;
    TRY(define_copy(r));
    TRY(publish_list_table(r));
    TRY(publish_compare(r));
    TRY(drop_left(r));
    for (size_t i = 0; i < r->n_folders; i++) n_changed += r->folders[i].is_changed;
    count(r, n_changed);
    bool empty_first = r->whole && r->n_folders == 0; /* a partitioned table without rows */
    if (n_changed == 0 && r->n_leaving == 0 && !empty_first) return SILT_OK;
    TRY(make_stage(r));
    silt_status status = publish_build(r);
    if (status != SILT_OK) {
        drop_stage(r, r->stage);
        return status;
    }
    status = change(r);
    leave_stage(r);
    return status;
}

silt_status ops_publish(const ops_env *env, const publish_spec *spec, arena *a, publish_result *out, silt_error *err) {
    op o = {.env = env, .a = a, .err = err};
    publish_run r = {.o = &o, .spec = spec, .out = out};
    *out = (publish_result){.version = delta_snapshot_version(spec->snapshot)};
    if (!store_can_swap(spec->store) || !store_can_move(spec->store))
        return err_UNSUPPORTED_FEATURE(err, "publishing into anything but a local folder");
    return publish(&r);
}
