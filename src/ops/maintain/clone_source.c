/* What a clone is made of. A folder of Parquet files has no partition columns, because nothing says what the values in its folders' names are: such a folder is refused by name. */
#include "base/time.h"
#include "ops/maintain/clone_run.h"

static void open_table(clone_run *r) {
    const delta_snapshot *s = r->clone->source;
    r->source = (clone_source){.snapshot = s,
                               .env = delta_snapshot_env(s),
                               .root = delta_snapshot_root(s),
                               .metadata = delta_snapshot_metadata(s),
                               .protocol = delta_snapshot_protocol(s),
                               .clustering = delta_snapshot_find_domain(s, STR(CLUSTERING_DOMAIN)),
                               .version = delta_snapshot_version(s),
                               .n_files = delta_snapshot_n_files(s),
                               .bytes = delta_snapshot_size_bytes(s)};
}

/* The lowest protocol that the columns need: 1/1, as Spark, where that is enough. */
static silt_status folder_protocol(const op *o, const data_type *schema, delta_protocol *out) {
    str_map ignored;
    TRY(delta_protocol_for(NULL, schema, (str_map){NULL, NULL, 0}, true, o->a, out, &ignored, o->err));
    if (out->min_writer_version == 2 && !out->has_writer_features) out->min_writer_version = 1;
    return SILT_OK;
}

static silt_status folder_metadata(const op *o, const clone_run *r, delta_metadata *out) {
    *out = (delta_metadata){.id = r->clone->folder, .name = STR_NULL, .description = STR_NULL, .format_provider = STR("parquet"), .created_time_ms = time_now_ms()};
    TRY(convert_files_schema(o, r->source.files, NULL, 0, &out->schema));
    return ops_schema_check(o, out->schema, false);
}

static silt_status open_folder(clone_run *r) {
    ops_env env = *r->o->env;
    env.delta = r->clone->folder_env;
    const op o = {&env, r->o->a, r->o->err}; /* reads where the folder is */
    delta_metadata *m = ARENA_NEW(o.a, delta_metadata);
    delta_protocol *p = ARENA_NEW(o.a, delta_protocol);
    convert_files *f = ARENA_NEW(o.a, convert_files);
    if (!m || !p || !f) return error_no_memory(o.err);
    TRY(convert_files_list(&o, r->clone->folder, f));
    TRY(convert_files_partition(&o, f, NULL, 0));
    TRY(convert_files_footers(&o, f));
    if (f->n_files == f->n_skipped) return err_DELTA_EMPTY_DIRECTORY(o.err, store_path_named(env.delta->store, r->clone->folder, o.a));
    r->source = (clone_source){.files = f,
                               .env = env.delta,
                               .root = r->clone->folder,
                               .metadata = m,
                               .protocol = p,
                               .version = -1,
                               .n_files = f->n_files - f->n_skipped,
                               .bytes = f->bytes};
    TRY(folder_metadata(&o, r, m));
    return folder_protocol(&o, m->schema, p);
}

silt_status clone_source_open(clone_run *r) {
    if (!r->clone->source) return open_folder(r);
    open_table(r);
    return SILT_OK;
}

silt_status clone_source_each(const clone_run *r, bool with_stats, silt_status (*fn)(void *ctx, size_t i, const delta_add *add, silt_error *err), void *ctx) {
    const op *o = r->o;
    const convert_files *f = r->source.files;
    if (r->source.snapshot) return delta_snapshot_each_file(r->source.snapshot, with_stats, fn, ctx, o->err);
    for (size_t i = 0, n = 0; i < f->n_files; i++) {
        delta_add add;
        if (f->files[i].is_skipped) continue;
        TRY(convert_files_add(o, f, i, &add));
        add.stats = STR_NULL;
        TRY(fn(ctx, n++, &add, o->err));
    }
    return SILT_OK;
}
