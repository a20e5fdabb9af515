/*
 * The files of a clone. Row ids are not cloned: the clone gives its own.
 *
 * In a deep clone a file is called as in the source, behind 16 digits of a hash over the source's id and the path there: the same file of the same source has the same name in every
 * run, which is how a later run knows what it has, and files of two sources that are called alike do not meet.
 */
#include "base/ident.h"
#include "base/uri.h"
#include "delta/stats_fetch.h"
#include "ops/maintain/clone_run.h"

static bool has_scheme(str path) {
    size_t colon = str_find_char(path, ':'), slash = str_find_char(path, '/');
    return colon != SIZE_MAX && colon < slash;
}

/* ---- shallow ---- */

static str absolute(const clone_run *r, str path) {
    bool is_absolute = has_scheme(path) || (path.len && path.ptr[0] == '/');
    return is_absolute ? path : path_join(r->o->a, r->clone->source_base, path);
}

static silt_status absolute_vector(const clone_run *r, delta_dv *dv) {
    const op *o = r->o;
    str path;
    if (dv->storage != 'u') return SILT_OK;
    TRY(delta_dv_relative_path(dv, o->a, &path, o->err));
    str encoded = uri_encode_path(path, o->a);
    dv->storage = 'p';
    dv->path_or_inline = str_is_null(encoded) ? encoded : path_join(o->a, r->clone->source_base, encoded);
    return str_is_null(dv->path_or_inline) ? error_no_memory(o->err) : SILT_OK;
}

static silt_status add_clone(clone_run *r, const delta_add *add, str path, const delta_dv *dv, silt_error *err) {
    delta_add clone = *add;
    clone.path = path;
    clone.dv = *dv;
    clone.data_change = true;
    clone.base_row_id = clone.default_row_commit_version = -1;
    int64_t rows;
    bool needs_rows = delta_protocol_has(&r->protocol, "rowTracking");
    if (needs_rows && !stats_num_records(add->stats, r->o->a, &rows)) return err_DELTA_CLONE_WITH_ROW_TRACKING_WITHOUT_STATS(err, add->path);
    return str_is_null(path) ? error_no_memory(err) : delta_txn_add(r->txn, &clone, err);
}

static silt_status stage_shallow(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    clone_run *r = ctx;
    delta_dv dv = add->dv;
    (void)i;
    TRY(absolute_vector(r, &dv));
    return add_clone(r, add, absolute(r, add->path), &dv, err);
}

silt_status clone_stage_shallow(clone_run *r) { return clone_source_each(r, true, stage_shallow, r); }

/* ---- deep ---- */

typedef struct planner {
    clone_run *r;
    deep_plan *plan;
    path_set have;   /* path and vector of the replaced table's files */
    path_set wanted; /* the same of the source's, as they will be */
} planner;

static str key_of(const op *o, str path, const delta_dv *dv) {
    str vector = dv->storage ? delta_dv_unique_id(dv, o->a) : STR("");
    return str_is_null(vector) ? vector : arena_printf(o->a, "%.*s\n%.*s", STR_ARG(path), STR_ARG(vector));
}

/* In a folder that is no table a file may be written over: there size and time are part of what it is. */
static str identity_of(const clone_run *r, const delta_add *add) {
    str id = r->source.metadata->id;
    if (r->source.snapshot) return arena_printf(r->o->a, "%.*s\n%.*s", STR_ARG(id), STR_ARG(add->path));
    return arena_printf(r->o->a, "%.*s\n%.*s\n%lld\n%lld", STR_ARG(id), STR_ARG(add->path), (long long)add->size_bytes, (long long)add->modification_time_ms);
}

static str deep_path(const clone_run *r, const delta_add *add) {
    arena *a = r->o->a;
    str path = add->path, both = identity_of(r, add);
    if (str_is_null(both)) return STR_NULL;
    char hash[33];
    md5_hex(both.ptr, both.len, hash);
    bool is_absolute = has_scheme(path) || (path.len && path.ptr[0] == '/');
    size_t slash = str_rfind_char(path, '/');
    str folder = is_absolute || slash == SIZE_MAX ? STR("") : str_slice(path, 0, slash + 1), name = path_name(path);
    return arena_printf(a, "%.*s%.16s-%.*s", STR_ARG(folder), hash, STR_ARG(name));
}

static silt_status push_task(planner *p, str from, str to, int64_t bytes) {
    const op *o = p->r->o;
    copy_task task = {from, to, bytes};
    bool added;
    if (str_is_null(to) || !path_set_add(&p->plan->targets, to, o->a, &added)) return error_no_memory(o->err);
    if (!added) return SILT_OK; /* several vectors share a file */
    return ARENA_PUSH(o->a, p->plan->tasks, p->plan->n_tasks, p->plan->tasks_capacity, task) ? SILT_OK : error_no_memory(o->err);
}

/* deletion_vector_<uuid>.bin as a relative vector at the table's root names it; false for any other file. */
static bool name_by_uuid(delta_dv *dv, str name, arena *a) {
    const str before = STR("deletion_vector_"), after = STR(".bin");
    uint8_t bytes[16];
    char *text = arena_calloc(a, 21, 1);
    bool ok = text && str_starts_with(name, before) && name.len == before.len + 36 + after.len && str_ends_with(name, after) &&
              uuid_parse(str_slice(name, before.len, before.len + 36), bytes) && z85_encode(bytes, sizeof bytes, text);
    if (!ok) return false;
    dv->storage = 'u';
    dv->path_or_inline = (str){text, 20};
    return true;
}

/* Where the vector's file goes, and how the clone names it: as in the source where that is relative, else by its uuid. */
static silt_status plan_vector(planner *p, delta_dv *dv) {
    const op *o = p->r->o;
    str from;
    if (dv->storage == 'u') {
        TRY(delta_dv_relative_path(dv, o->a, &from, o->err));
        str encoded = uri_encode_path(from, o->a);
        return str_is_null(encoded) ? error_no_memory(o->err) : push_task(p, encoded, from, -1);
    }
    if (dv->storage != 'p') return SILT_OK;
    from = dv->path_or_inline;
    str name = uri_decode(path_name(from), o->a);
    if (str_is_null(name)) return error_no_memory(o->err);
    if (!name_by_uuid(dv, name, o->a)) return err_DELTA_UNSUPPORTED_DEEP_CLONE(o->err, "the source has a deletion vector whose file is not called deletion_vector_<uuid>.bin");
    return push_task(p, from, name, -1);
}

static silt_status note_replaced(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    planner *p = ctx;
    bool added;
    (void)i;
    str key = key_of(p->r->o, add->path, &add->dv);
    return !str_is_null(key) && path_set_add(&p->have, key, p->r->o->a, &added) ? SILT_OK : error_no_memory(err);
}

static silt_status plan_file(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    planner *p = ctx;
    const op *o = p->r->o;
    deep_file *f = &p->plan->files[i];
    bool added;
    size_t n_tasks = p->plan->n_tasks;
    *f = (deep_file){.path = deep_path(p->r, add), .dv = add->dv};
    str decoded = str_is_null(f->path) ? STR_NULL : uri_decode(f->path, o->a);
    TRY(push_task(p, add->path, decoded, add->size_bytes));
    TRY(plan_vector(p, &f->dv));
    str key = key_of(o, f->path, &f->dv);
    if (str_is_null(key) || !path_set_add(&p->wanted, key, o->a, &added)) return error_no_memory(err);
    f->is_kept = path_set_has(&p->have, key);
    if (!f->is_kept) return SILT_OK;
    p->plan->n_tasks = n_tasks; /* all of it is there */
    p->plan->n_kept++;
    return SILT_OK;
}

static silt_status plan_replaced(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    planner *p = ctx;
    str key = key_of(p->r->o, add->path, &add->dv);
    if (str_is_null(key)) return error_no_memory(err);
    p->plan->leaves[i] = !path_set_has(&p->wanted, key);
    p->plan->n_leaving += p->plan->leaves[i];
    return SILT_OK;
}

silt_status clone_plan_deep(clone_run *r, deep_plan *plan) {
    const op *o = r->o;
    planner p = {.r = r, .plan = plan};
    *plan = (deep_plan){.files = ARENA_ARRAY(o->a, r->source.n_files + 1, deep_file),
                        .leaves = ARENA_ARRAY(o->a, (r->replaced ? delta_snapshot_n_files(r->replaced) : 0) + 1, uint8_t)};
    if (!plan->files || !plan->leaves) return error_no_memory(o->err);
    if (r->replaced) TRY(delta_snapshot_each_file(r->replaced, false, note_replaced, &p, o->err));
    TRY(clone_source_each(r, false, plan_file, &p));
    return r->replaced ? delta_snapshot_each_file(r->replaced, false, plan_replaced, &p, o->err) : SILT_OK;
}

typedef struct deep_stage {
    clone_run *r;
    const deep_plan *plan;
} deep_stage;

static silt_status stage_deep(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    const deep_stage *s = ctx;
    const deep_file *f = &s->plan->files[i];
    if (f->is_kept) return SILT_OK;
    s->r->clone->numbers.copied_files++;
    s->r->clone->numbers.copied_bytes += add->size_bytes;
    return add_clone(s->r, add, f->path, &f->dv, err);
}

static silt_status stage_leaving(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    const deep_stage *s = ctx;
    if (!s->plan->leaves[i]) return SILT_OK;
    s->r->clone->numbers.removed_files++;
    s->r->clone->numbers.removed_bytes += add->size_bytes;
    return delta_txn_remove_file(s->r->txn, add, true, err);
}

silt_status clone_stage_deep(clone_run *r, const deep_plan *plan) {
    deep_stage s = {r, plan};
    const op *o = r->o;
    if (r->source.n_files > plan->n_kept) TRY(clone_source_each(r, true, stage_deep, &s));
    return plan->n_leaving ? delta_snapshot_each_file(r->replaced, true, stage_leaving, &s, o->err) : SILT_OK;
}
