/*
 * Recording: what a transaction read and what it wants to write, copied into its own arena. Nothing here does I/O; commit.c writes the entry.
 */
#include "base/ident.h"
#include "base/time.h"
#include "base/uri.h"
#include "delta/metadata_copy.h"
#include "delta/properties.h"
#include "delta/segment.h"
#include "delta/stats_fetch.h"
#include "delta/txn_state.h"

str txn_table_name(const delta_txn *t) { return delta_table_name(t->env, t->root, t->arena); }

static void take_snapshot(delta_txn *t, const delta_snapshot *snapshot) {
    t->snapshot = delta_snapshot_retain(snapshot);
    t->read_version = t->base_version = delta_snapshot_version(snapshot);
    t->base_time_ms = delta_snapshot_commit_time_ms(snapshot);
    t->protocol = delta_snapshot_protocol(snapshot);
    t->metadata = delta_snapshot_metadata(snapshot);
    const delta_domain *mark = delta_snapshot_find_domain(snapshot, STR(ROW_TRACKING_DOMAIN));
    t->row_id_high_water = mark ? row_tracking_high_water(mark, 1) : -1;
}

silt_status delta_txn_begin(const delta_env *env, const delta_snapshot *snapshot, str root, delta_txn **out, silt_error *err) {
    arena *a = arena_new();
    if (!a) return error_no_memory(err);
    silt_status status = snapshot ? delta_protocol_check_write(delta_snapshot_protocol(snapshot), delta_snapshot_metadata(snapshot), delta_table_name(env, root, a), err) : SILT_OK;
    if (status != SILT_OK) {
        arena_free(a);
        return status;
    }
    delta_txn *t = ARENA_NEW(a, delta_txn);
    str root_copy = arena_str(a, root);
    if (!t || str_is_null(root_copy)) {
        arena_free(a);
        return error_no_memory(err);
    }
    t->env = env;
    t->root = root_copy;
    t->arena = a;
    t->read_version = t->base_version = -1;
    t->base_time_ms = t->timestamp_ms = t->row_id_high_water = t->row_id_floor = -1;
    uuid_generate(t->uuid);
    if (snapshot) take_snapshot(t, snapshot);
    *out = t;
    return SILT_OK;
}

void delta_txn_free(delta_txn *t) {
    if (!t) return;
    delta_snapshot_release(t->snapshot);
    arena_free(t->arena); /* holds t itself */
}

silt_status delta_txn_set_protocol(delta_txn *t, const delta_protocol *p, silt_error *err) {
    t->new_protocol = delta_protocol_copy(p, t->arena);
    return t->new_protocol ? SILT_OK : error_no_memory(err);
}

silt_status delta_txn_set_metadata(delta_txn *t, const delta_metadata *m, silt_error *err) {
    delta_metadata *copy;
    TRY(delta_metadata_copy(m, t->arena, &copy, err));
    t->new_metadata = copy;
    return SILT_OK;
}

static bool copy_opt(str *s, arena *mem) {
    if (str_is_null(*s)) return true;
    *s = arena_str(mem, *s);
    return !str_is_null(*s);
}

static bool copy_add(delta_add *a, arena *mem) {
    return copy_opt(&a->path, mem) && copy_opt(&a->stats, mem) && copy_opt(&a->tags, mem) && copy_opt(&a->clustering_provider, mem) &&
           copy_opt(&a->dv.path_or_inline, mem) && str_map_copy(&a->partition_values, mem, &a->partition_values);
}

static bool copy_remove(delta_remove *r, arena *mem) {
    return copy_opt(&r->path, mem) && copy_opt(&r->stats, mem) && copy_opt(&r->tags, mem) && copy_opt(&r->dv.path_or_inline, mem) &&
           str_map_copy(&r->partition_values, mem, &r->partition_values);
}

static silt_status push_file(delta_txn *t, const file_action *f, silt_error *err) {
    return ARENA_PUSH(t->arena, t->files, t->n_files, t->files_capacity, *f) ? SILT_OK : error_no_memory(err);
}

silt_status delta_txn_add(delta_txn *t, const delta_add *add, silt_error *err) {
    if (add->path.len == 0) return err_INTERNAL_ERROR(err, "an added file without a path");
    file_action f = {.is_remove = false, .as.add = *add};
    if (!copy_add(&f.as.add, t->arena)) return error_no_memory(err);
    f.fresh_row_ids = add->base_row_id < 0;
    f.fresh_version = add->default_row_commit_version < 0;
    return push_file(t, &f, err);
}

void delta_txn_raise_row_id_mark(delta_txn *t, const delta_snapshot *older) {
    const delta_domain *mark = delta_snapshot_find_domain(older, STR(ROW_TRACKING_DOMAIN));
    t->row_id_floor = mark ? row_tracking_high_water(mark, 1) : -1;
}

size_t delta_txn_n_files(const delta_txn *t) { return t->n_files; }

const delta_add *delta_txn_added(const delta_txn *t, size_t i) { return t->files[i].is_remove ? NULL : &t->files[i].as.add; }

silt_status delta_txn_remove(delta_txn *t, const delta_remove *remove, silt_error *err) {
    if (remove->path.len == 0) return err_INTERNAL_ERROR(err, "a removed file without a path");
    file_action f = {.is_remove = true, .as.remove = *remove};
    if (!copy_remove(&f.as.remove, t->arena)) return error_no_memory(err);
    return push_file(t, &f, err);
}

silt_status delta_txn_remove_file(delta_txn *t, const delta_add *add, bool data_change, silt_error *err) {
    delta_remove r = {.path = add->path,
                      .deletion_timestamp_ms = time_now_ms(),
                      .data_change = data_change,
                      .extended_file_metadata = true,
                      .partition_values = add->partition_values,
                      .size_bytes = add->size_bytes,
                      .tags = add->tags,
                      .dv = add->dv,
                      .base_row_id = add->base_row_id,
                      .default_row_commit_version = add->default_row_commit_version};
    int64_t n;
    if (stats_num_records(add->stats, t->arena, &n)) r.stats = arena_printf(t->arena, "{\"numRecords\":%lld}", (long long)n);
    return delta_txn_remove(t, &r, err);
}

silt_status delta_txn_add_cdc(delta_txn *t, const delta_cdc *cdc, silt_error *err) {
    if (cdc->path.len == 0) return err_INTERNAL_ERROR(err, "a change data file without a path");
    delta_cdc c = *cdc;
    if (!copy_opt(&c.path, t->arena) || !copy_opt(&c.tags, t->arena) || !str_map_copy(&c.partition_values, t->arena, &c.partition_values))
        return error_no_memory(err);
    return ARENA_PUSH(t->arena, t->cdcs, t->n_cdcs, t->cdcs_capacity, c) ? SILT_OK : error_no_memory(err);
}

silt_status delta_txn_set_txn_id(delta_txn *t, str app_id, int64_t version, silt_error *err) {
    delta_txn_id id = {arena_str(t->arena, app_id), version, time_now_ms()};
    if (str_is_null(id.app_id)) return error_no_memory(err);
    return ARENA_PUSH(t->arena, t->txn_ids, t->n_txn_ids, t->txn_ids_capacity, id) ? SILT_OK : error_no_memory(err);
}

silt_status delta_txn_set_domain(delta_txn *t, str domain, str configuration, bool removed, silt_error *err) {
    if (str_eqz(domain, ROW_TRACKING_DOMAIN)) return err_INTERNAL_ERROR(err, "delta.rowTracking is written by the transaction itself");
    delta_domain d = {arena_str(t->arena, domain), arena_str(t->arena, configuration), removed};
    if (str_is_null(d.domain) || str_is_null(d.configuration)) return error_no_memory(err);
    return ARENA_PUSH(t->arena, t->domains, t->n_domains, t->domains_capacity, d) ? SILT_OK : error_no_memory(err);
}

silt_status delta_txn_end_domain(delta_txn *t, const delta_domain *domain, silt_error *err) {
    delta_domain d = {arena_str(t->arena, domain->domain), arena_str(t->arena, domain->configuration), true};
    if (str_is_null(d.domain) || str_is_null(d.configuration)) return error_no_memory(err);
    return ARENA_PUSH(t->arena, t->domains, t->n_domains, t->domains_capacity, d) ? SILT_OK : error_no_memory(err);
}

void delta_txn_read_whole_table(delta_txn *t) { t->read_whole_table = true; }

void delta_txn_before_retry(delta_txn *t, silt_status (*fn)(void *ctx, int64_t newest_version, silt_error *err), void *ctx) {
    t->before_retry = fn;
    t->before_retry_ctx = ctx;
}

silt_status delta_txn_read_predicate(delta_txn *t, const predicate *p, silt_error *err) {
    if (!t->snapshot) return SILT_OK; /* nothing was there to read */
    return ARENA_PUSH(t->arena, t->read_predicates, t->n_read_predicates, t->read_predicates_capacity, p) ? SILT_OK : error_no_memory(err);
}

silt_status delta_txn_read_file(delta_txn *t, str path, silt_error *err) {
    bool added;
    str copy = uri_decode(arena_str(t->arena, path), t->arena);
    if (str_is_null(copy) || !path_set_add(&t->read_files, copy, t->arena, &added)) return error_no_memory(err);
    return SILT_OK;
}

const silt_error *delta_txn_post_commit_error(const delta_txn *t) { return t->post_commit.status == SILT_OK ? NULL : &t->post_commit; }

str delta_txn_uuid(const delta_txn *t) { return str_of(t->uuid); }
