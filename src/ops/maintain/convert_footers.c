/*
 * Every footer once, side by side. Files of one writer have one schema: schemas are told apart by the bytes that decide them, and only the first of each is looked at.
 */
#include <pthread.h>

#include "ops/maintain/convert_files.h"

typedef struct footer_reading {
    const op *o;
    convert_files *files;
    convert_pool *pool;
    parquet_rules rules;
    bool skips_corrupt;
    pthread_mutex_t lock; /* over the variants, the counts and o->a */
    size_t done;
} footer_reading;

/* The caller has the lock. */
static silt_status find_variant(footer_reading *r, const parquet_footer *footer, size_t file, uint32_t *out, silt_error *err) {
    convert_files *f = r->files;
    uint64_t hash = str_hash(footer->schema_bytes) ^ (str_is_null(footer->spark_schema) ? 0 : 31 * str_hash(footer->spark_schema));
    for (size_t i = 0; i < f->n_variants; i++) {
        const convert_variant *v = &f->variants[i];
        bool same = v->hash == hash && str_eq(v->schema_bytes, footer->schema_bytes) && str_eq(v->spark_schema, footer->spark_schema) &&
                    str_is_null(v->spark_schema) == str_is_null(footer->spark_schema);
        if (!same) continue;
        if (file < v->sample) f->variants[i].sample = file;
        *out = (uint32_t)i;
        return SILT_OK;
    }
    arena *a = r->o->a;
    convert_variant v = {.hash = hash, .schema_bytes = arena_str(a, footer->schema_bytes), .spark_schema = STR_NULL, .sample = file};
    if (!str_is_null(footer->spark_schema)) v.spark_schema = arena_str(a, footer->spark_schema);
    if (str_is_null(v.schema_bytes) || (footer->spark_schema.ptr && str_is_null(v.spark_schema))) return error_no_memory(err);
    TRY(parquet_schema_type(footer, &r->rules, a, &v.type, err));
    *out = (uint32_t)f->n_variants;
    return ARENA_PUSH(a, f->variants, f->n_variants, f->variants_capacity, v) ? SILT_OK : error_no_memory(err);
}

static silt_status take_footer(footer_reading *r, size_t i, const parquet_footer *footer, silt_error *err) {
    convert_file *file = &r->files->files[i];
    file->rows = footer->n_rows;
    pthread_mutex_lock(&r->lock);
    silt_status status = find_variant(r, footer, i, &file->variant, err);
    r->files->rows += footer->n_rows;
    pthread_mutex_unlock(&r->lock);
    return status;
}

/* Detail: the file, and why. An ORC file is named for what it is. */
static silt_status bad_file(footer_reading *r, size_t i, parquet_look look, const silt_error *why, convert_worker *w, silt_error *err) {
    static const char *const sources[] = {[PARQUET_LOOKS_ORC] = "orc", [PARQUET_LOOKS_AVRO] = "avro", [PARQUET_LOOKS_OTHER] = NULL};
    const convert_file *file = &r->files->files[i];
    const op scratch = {.env = r->o->env, .a = w->scratch};
    str name = convert_file_name(&scratch, r->files, file->path);
    if (look >= PARQUET_LOOKS_ORC && sources[look]) return err_DELTA_CONVERT_NON_PARQUET_TABLE(err, str_of(sources[look]), name);
    silt_status status = err_DELTA_FAILED_READ_FILE_FOOTER(err, name);
    error_detail(err, "%s", why->detail[0] ? why->detail : why->message);
    return status;
}

static bool is_of_the_file(silt_status status) { return status == SILT_CORRUPT || status == SILT_NOT_FOUND || status == SILT_IO || status == SILT_DENIED; }

static silt_status read_one(footer_reading *r, size_t i, convert_worker *w, silt_error *err) {
    convert_file *file = &r->files->files[i];
    parquet_footer footer;
    parquet_look look;
    silt_error why = {0};
    str path = arena_printf(w->scratch, "%.*s/%.*s", STR_ARG(r->files->root), STR_ARG(file->path));
    if (str_is_null(path)) return error_no_memory(err);
    silt_status status = parquet_footer_read(r->files->store, path, file->size_bytes, false, &w->bytes, w->scratch, &footer, &look, &why);
    if (status == SILT_OK) status = take_footer(r, i, &footer, &why);
    if (status == SILT_OK) return SILT_OK;
    if (status == SILT_UNSUPPORTED || !is_of_the_file(status)) {
        if (err) *err = why;
        if (status == SILT_UNSUPPORTED) error_detail(err, "In the file %.*s.", STR_ARG(file->path)); /* a type: which file has it */
        return status;
    }
    if (!r->skips_corrupt) return bad_file(r, i, look, &why, w, err);
    file->is_skipped = true;
    return SILT_OK;
}

static void tell_progress(footer_reading *r) {
    const ops_env *env = r->o->env;
    pthread_mutex_lock(&r->lock);
    bool due = ++r->done % 512 == 0;
    if (due && env->progress) env->progress(env->progress_ctx, "reading footers", (double)r->done / (double)r->files->n_files);
    pthread_mutex_unlock(&r->lock);
}

static silt_status on_file(void *ctx, size_t i, silt_error *err) {
    footer_reading *r = ctx;
    if (i % 64 == 0) TRY(cancel_check(r->o->env->delta->cancel, err));
    convert_worker *w = convert_pool_take(r->pool, err);
    if (!w) return SILT_NO_MEMORY;
    silt_status status = read_one(r, i, w, err);
    convert_pool_give(r->pool, w);
    tell_progress(r);
    return status;
}

silt_status convert_files_footers(const op *o, convert_files *f) {
    footer_reading r = {.o = o,
                        .files = f,
                        .rules = {.binary_as_string = ops_setting_bool(o, "spark.sql.parquet.binaryAsString", false),
                                  .int96_as_timestamp = ops_setting_bool(o, "spark.sql.parquet.int96AsTimestamp", true),
                                  .infer_ntz = ops_setting_bool(o, "spark.sql.parquet.inferTimestampNTZ.enabled", true)},
                        .skips_corrupt = ops_setting_bool(o, "spark.sql.files.ignoreCorruptFiles", false)};
    TRY(convert_pool_new(o, &r.pool));
    pthread_mutex_init(&r.lock, NULL);
    silt_status status = thread_for(convert_pool_askers(o), f->n_files, on_file, &r, o->err);
    pthread_mutex_destroy(&r.lock);
    for (size_t i = 0; i < f->n_files; i++) f->n_skipped += f->files[i].is_skipped;
    return status;
}
