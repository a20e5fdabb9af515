/*
 * Taking files as they are. First their footers are asked whether they may be; then each is copied to where a data file of the store is written, which on object stores is sent while it is copied. All that
 * the log will say of a file comes from the copy: its footer, its pages and its statistics are looked at there. Should anything about it be odd, the copies go and the rows are written as ever.
 */
#include "ops/take_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/ident.h"
#include "base/uri.h"
#include "ops/maintain/convert_stats.h"

/* One file on its way. */
typedef struct taken_file {
    const scan_file *source;
    str path, local; /* in the store; on this machine */
    int32_t codec;
    bool sent, finished;
} taken_file;

typedef struct take_run {
    const op *o;
    take_rules rules;
    const write_spec *spec;
    taken_file *files;
    size_t n, n_begun;
    store *local;
    convert_files copies; /* as CONVERT sees them */
    write_result *out;
    str why; /* not; null: nothing speaks against it */
} take_run;

static bool may_go_on(silt_status status) { return status != SILT_NO_MEMORY && status != SILT_CANCELLED && status != SILT_OK; }

/* ---- footers ---- */

/* The rules over a file at a path of a store; *out in `a`, its strings in `bytes`. A footer that cannot be read is for the engine to complain about. */
static silt_status ask_footer(take_run *t, store *s, str path, int64_t size, arena *a, buf *bytes, parquet_footer *out) {
    parquet_look look;
    silt_error why = {0};
    op inner = {t->o->env, a, t->o->err};
    take_rules rules = t->rules;
    rules.o = &inner;
    silt_status status = parquet_footer_read(s, path, size, true, bytes, a, out, &look, &why);
    if (status == SILT_OK) {
        str reason;
        TRY(take_rules_file(&rules, out, &reason));
        if (!str_is_null(reason) && str_is_null(t->why = arena_str(t->o->a, reason))) return error_no_memory(t->o->err);
        return SILT_OK;
    }
    if (may_go_on(status)) t->why = STR("the footer of a file cannot be read");
    else if (t->o->err) *t->o->err = why;
    return may_go_on(status) ? SILT_OK : status;
}

typedef silt_status (*file_work)(take_run *t, size_t i, arena *a, buf *bytes);

/* One after another, with memory that lasts for one file, until something speaks against it. */
static silt_status each_file(take_run *t, file_work work) {
    arena *a = arena_new();
    buf bytes;
    buf_init(&bytes, BUF_MAX_DEFAULT);
    silt_status status = a ? SILT_OK : error_no_memory(t->o->err);
    for (size_t i = 0; status == SILT_OK && i < t->n && str_is_null(t->why); i++) {
        status = work(t, i, a, &bytes);
        arena_reset(a);
    }
    buf_dispose(&bytes);
    arena_free(a);
    return status;
}

static silt_status ask_source(take_run *t, size_t i, arena *a, buf *bytes) {
    taken_file *f = &t->files[i];
    parquet_footer footer;
    TRY(ask_footer(t, f->source->store, f->source->path, f->source->size_bytes, a, bytes, &footer));
    if (str_is_null(t->why)) f->codec = footer.chunks[0].codec;
    return SILT_OK;
}

/* ---- copies ---- */

static const char *suffix_of(int32_t codec) {
    switch (codec) {
        case PARQUET_SNAPPY: return ".snappy.parquet";
        case PARQUET_GZIP: return ".gz.parquet";
        case PARQUET_ZSTD: return ".zstd.parquet";
        default: return ".parquet";
    }
}

static silt_status changed(const take_run *t, const scan_file *f) { return store_path_error(f->store, f->path, err_LOAD_FILE_CHANGED, t->o->err); }

/* What was copied was one file from its beginning to its end, and the one that was listed. */
static silt_status check_unchanged(const take_run *t, const scan_file *f, int64_t copied) {
    const op *o = t->o;
    store_entry now;
    if (copied != f->size_bytes) return changed(t, f);
    TRY(store_stat(f->store, f->path, o->a, &now, o->err));
    bool same = now.size_bytes == f->size_bytes && store_times_agree(f->store, now.modified_ms, f->modified_ms) && (str_is_null(now.tag) || str_is_null(f->tag) || str_eq(now.tag, f->tag));
    return same ? SILT_OK : changed(t, f);
}

static silt_status copy_one(take_run *t, size_t i) {
    const op *o = t->o;
    taken_file *f = &t->files[i];
    char uuid[37];
    int64_t copied;
    uuid_generate(uuid);
    str name = arena_printf(o->a, "part-%05zu-%s-c000%s", i, uuid, suffix_of(f->codec));
    if (str_is_null(name)) return error_no_memory(o->err);
    f->path = path_join(o->a, t->spec->root, name);
    if (str_is_null(f->path)) return error_no_memory(o->err);
    TRY(store_write_begin(t->spec->store, f->path, o->a, &f->local, o->err));
    t->n_begun = i + 1;
    store_write_follow(t->spec->store, f->path, f->local);
    TRY(store_copy_out(f->source->store, f->source->path, f->local, o->env->delta->cancel, &copied, o->err));
    t->out->files[i] = (written_file){.path = name, .size_bytes = copied, .partition = ARENA_ARRAY(o->a, 1, value), .stats = STR_NULL};
    if (!t->out->files[i].partition) return error_no_memory(o->err);
    return check_unchanged(t, f->source, copied);
}

/* ---- pages ---- */

typedef struct page_check {
    int fd;
    int64_t end;
    const parquet_footer *footer;
    const parquet_pages_rules *rules;
    const char **wrong; /* by leaf */
} page_check;

static silt_status check_leaf(void *ctx, size_t leaf, silt_error *err) {
    const page_check *p = ctx;
    for (size_t g = 0; g < p->footer->n_row_groups && !p->wrong[leaf]; g++)
        TRY(parquet_pages_check(p->fd, p->end, &p->footer->chunks[g * p->footer->n_leaves + leaf], &p->rules[leaf], &p->wrong[leaf], err));
    return SILT_OK;
}

static silt_status check_pages(take_run *t, const scan_file *f, int fd, int64_t size, const parquet_footer *footer, arena *a) {
    op inner = {t->o->env, a, t->o->err};
    take_rules rules = t->rules;
    rules.o = &inner;
    page_check p = {.fd = fd, .footer = footer, .rules = take_rules_pages(&rules, footer), .wrong = ARENA_ARRAY(a, footer->n_leaves + 1, const char *)};
    const char *wrong;
    if (!p.rules || !p.wrong) return error_no_memory(t->o->err);
    TRY(parquet_pages_end(fd, size, &p.end, &wrong, t->o->err));
    if (!wrong) TRY(thread_for(convert_pool_threads(t->o), footer->n_leaves, check_leaf, &p, t->o->err));
    for (size_t leaf = 0; leaf < footer->n_leaves && !wrong; leaf++) wrong = p.wrong[leaf];
    if (wrong == parquet_page_damaged) return store_path_error(f->store, f->path, err_LOAD_FILE_DAMAGED, t->o->err);
    t->why = str_of(wrong);
    return SILT_OK;
}

static silt_status check_copy(take_run *t, size_t i, arena *a, buf *bytes) {
    const op *o = t->o;
    taken_file *f = &t->files[i];
    int64_t size = t->out->files[i].size_bytes;
    parquet_footer footer;
    TRY(ask_footer(t, t->local, f->local, size, a, bytes, &footer));
    if (!str_is_null(t->why)) return SILT_OK;
    t->out->files[i].num_records = footer.n_rows;
    const char *z = arena_cstr(a, f->local);
    int fd = z ? open(z, O_RDONLY | O_CLOEXEC) : -1;
    if (!z) return error_no_memory(o->err);
    if (fd < 0) return error_from_errno(o->err, errno, "open", f->local);
    silt_status status = check_pages(t, f->source, fd, size, &footer, a);
    close(fd);
    return status;
}

/* ---- statistics ---- */

static silt_status keep_stats(void *ctx, size_t first, size_t n) {
    take_run *t = ctx;
    for (size_t i = first; i < first + n; i++) {
        t->out->files[i].stats = arena_str(t->o->a, t->copies.files[i].stats);
        if (str_is_null(t->out->files[i].stats)) return error_no_memory(t->o->err);
    }
    return SILT_OK;
}

static silt_status collect(take_run *t, const op *quiet) {
    TRY(convert_files_footers(quiet, &t->copies));
    if (t->copies.n_skipped) return err_INTERNAL_ERROR(quiet->err, "a footer that was read is none");
    return convert_stats_collect_exactly(quiet, &t->copies, t->spec, keep_stats, t);
}

/* A column that has to be read for its bounds, and cannot be: the engine's own reading of the source will say why. */
static silt_status collect_stats(take_run *t) {
    const op *o = t->o;
    silt_error why = {0};
    const op quiet = {o->env, o->a, &why};
    if (!t->spec->collect_stats) return SILT_OK;
    t->copies = (convert_files){.store = t->local, .root = STR("")};
    t->copies.files = ARENA_ARRAY(o->a, t->n + 1, convert_file);
    if (!t->copies.files) return error_no_memory(o->err);
    for (size_t i = 0; i < t->n; i++) /* below the root of all, which has no name */
        t->copies.files[i] = (convert_file){.path = str_slice(t->files[i].local, 1, t->files[i].local.len), .size_bytes = t->out->files[i].size_bytes, .rows = -1, .variant = UINT32_MAX, .stats = STR_NULL};
    t->copies.n_files = t->n;
    silt_status status = collect(t, &quiet);
    if (may_go_on(status)) t->why = STR("a file's columns cannot be read");
    else if (status != SILT_OK && o->err) *o->err = why;
    return may_go_on(status) ? SILT_OK : status;
}

/* ---- durability ---- */

static silt_status finish_one(void *ctx, size_t i, silt_error *err) {
    take_run *t = ctx;
    taken_file *f = &t->files[i];
    store_entry entry;
    f->sent = true;
    TRY(store_write_finish(t->spec->store, f->path, f->local, err));
    f->finished = true;
    arena *a = arena_new();
    silt_status status = a ? store_stat(t->spec->store, f->path, a, &entry, err) : error_no_memory(err);
    if (status == SILT_OK) t->out->files[i].modified_ms = entry.modified_ms;
    arena_free(a);
    return status;
}

static void remove_copies(take_run *t) {
    for (size_t i = 0; i < t->n_begun; i++) {
        const taken_file *f = &t->files[i];
        if (!f->finished) store_write_abort(t->spec->store, f->path, f->local);
        if (f->finished || (f->sent && store_is_remote(t->spec->store))) (void)!store_remove(t->spec->store, f->path, NULL); /* it may have arrived */
    }
}

/* ---- the whole ---- */

static silt_status make_copies(take_run *t) {
    const op *o = t->o;
    if (o->env->progress) o->env->progress(o->env->progress_ctx, "copying data files", -1);
    for (size_t i = 0; i < t->n; i++) TRY(copy_one(t, i));
    TRY(each_file(t, check_copy));
    if (str_is_null(t->why)) TRY(collect_stats(t));
    if (!str_is_null(t->why)) return SILT_OK;
    TRY(thread_for(16, t->n, finish_one, t, o->err)); /* each waits for the disk or the network */
    t->out->n_files = t->n;
    for (size_t i = 0; i < t->n; i++) {
        t->out->rows += t->out->files[i].num_records;
        t->out->bytes += t->out->files[i].size_bytes;
    }
    return SILT_OK;
}

static silt_status take(take_run *t, const table_source *source) {
    const op *o = t->o;
    table_scan scan;
    TRY(source->ops->scan(source, NULL, o->a, &scan, o->err));
    TRY(take_rules_table(&t->rules, source, &scan, &t->why));
    if (!str_is_null(t->why)) return SILT_OK;
    t->n = scan.n_files;
    t->files = ARENA_ARRAY(o->a, t->n + 1, taken_file);
    t->out->files = ARENA_ARRAY(o->a, t->n + 1, written_file);
    if (!t->files || !t->out->files) return error_no_memory(o->err);
    for (size_t i = 0; i < t->n; i++) t->files[i] = (taken_file){.source = &scan.files[i]};
    TRY(each_file(t, ask_source));
    if (!str_is_null(t->why)) return SILT_OK;
    TRY(store_local_open(&t->local, o->err));
    silt_status status = make_copies(t);
    if (status != SILT_OK || !str_is_null(t->why)) remove_copies(t);
    store_close(t->local);
    return status;
}

silt_status ops_load_rows(const op *o, const write_target *t, const write_spec *spec, const write_options *options, query *rows, write_result *written, ops_result *out) {
    if (!options->files) return ops_write_rows(o, t, spec, rows, written);
    take_run run = {.o = o, .rules = {o, t, spec, options->files->schema}, .spec = spec, .out = written};
    *written = (write_result){0};
    silt_status status = take(&run, options->files);
    if (status != SILT_OK) {
        *written = (write_result){0};
        return status;
    }
    if (str_is_null(run.why)) {
        out->files_taken = (int64_t)run.n;
        return SILT_OK;
    }
    snprintf(out->why_rewritten, sizeof out->why_rewritten, "%.*s", STR_ARG(run.why));
    return ops_write_rows(o, t, spec, rows, written);
}
