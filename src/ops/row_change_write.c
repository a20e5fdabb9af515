/*
 * Writing a planned row-level change: deletion vectors, data files, change files, and the actions that make them count. The kept rows of the rewritten files and the new rows
 * go through one write, so that a statement makes as few files as its rows need.
 */
#include "base/ident.h"
#include "base/uri.h"
#include "delta/properties.h"
#include "ops/row_change.h"
#include "table/json_scan.h"

#define CHANGE_FOLDER STR("_change_data")

/* Changed rows alone often fill less than one of DuckDB's groups, which one thread would encode while the others wait. */
#define PICKED_GROUP_ROWS 61440

/* ---- statistics of a file that gets a deletion vector ---- */

/*
 * The bounds stay, but may now be those of hidden rows: tightBounds is false. numRecords, the physical number, must be there (PROTOCOL.md "Per-file Statistics").
 * Text that is no JSON object is left behind.
 */
static silt_status loosen_stats(const op *o, str stats, int64_t physical, str *out) {
    json_scan scan;
    json_member m;
    bool ok = true, counted = false;
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    buf_append_char(&b, '{');
    if (!str_is_null(stats) && json_scan_object(stats, &scan))
        while (json_scan_next(&scan, &m, &ok)) {
            if (str_eqz(m.key, "tightBounds") || (str_eqz(m.key, "numRecords") && counted)) continue;
            counted |= str_eqz(m.key, "numRecords");
            buf_printf(&b, "\"%.*s\":%.*s,", STR_ARG(m.key), STR_ARG(m.value));
        }
    if (!ok) buf_clear(&b), buf_append_char(&b, '{'), counted = false;
    if (!counted) buf_printf(&b, "\"numRecords\":%lld,", (long long)physical);
    buf_append_z(&b, "\"tightBounds\":false}");
    *out = buf_take(&b, o->a);
    return str_is_null(*out) ? error_no_memory(o->err) : SILT_OK;
}

/* ---- deletion vectors ---- */

/* Two letters as for data files, so that a bucket's requests spread; empty for tables that do not ask for it. */
static silt_status random_prefix(const row_change *c, str *out) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    *out = STR_NULL;
    if (!delta_config_bool(&c->target.metadata.configuration, "delta.randomizeFilePrefixes")) return SILT_OK;
    uint8_t r[2];
    random_bytes(r, sizeof r);
    *out = arena_printf(c->o->a, "%c%c", letters[r[0] % (sizeof letters - 1)], letters[r[1] % (sizeof letters - 1)]);
    return str_is_null(*out) ? error_no_memory(c->o->err) : SILT_OK;
}

/* All rows that are hidden from now on; the caller frees it. */
static silt_status hidden_rows(const row_change *c, const touched_file *f, bitmap **out) {
    const op *o = c->o;
    *out = NULL;
    if (f->add.dv.storage)
        TRY(delta_dv_load(o->env->delta, c->root, &f->add.dv, out, o->err));
    else
        *out = bitmap_new();
    if (*out && bitmap_or(*out, row_set_of_file(c->gone, f->index))) return SILT_OK;
    return error_no_memory(o->err);
}

static silt_status write_dvs(row_change *c, delta_dv_job *jobs, bitmap **hidden) {
    const op *o = c->o;
    size_t n = 0;
    int64_t inline_max = 0;
    delta_dv_place place = {.root = c->root};
    for (size_t i = 0; i < c->n_files; i++) {
        if (c->files[i].fate != FATE_MASKED) continue;
        TRY(hidden_rows(c, &c->files[i], &hidden[n]));
        jobs[n].rows = hidden[n];
        n++;
    }
    TRY(random_prefix(c, &place.random_prefix));
    str text = ops_setting(o, "silt.deletionVectors.inlineMaxBytes");
    if (!str_is_null(text) && (!ops_parse_bytes(text, &inline_max) || inline_max < 0))
        return err_INVALID_PARAMETER_VALUE(o->err, STR("silt.deletionVectors.inlineMaxBytes"), text, "a size such as 512");
    place.inline_max_bytes = (size_t)inline_max;
    return delta_dv_write(o->env->delta, &place, jobs, n, o->a, &c->dv_paths, &c->n_dv_paths, o->err);
}

static silt_status mask_files(row_change *c, delta_dv_job **out) {
    const op *o = c->o;
    *out = ARENA_ARRAY(o->a, c->n_masked + 1, delta_dv_job);
    bitmap **hidden = ARENA_ARRAY(o->a, c->n_masked + 1, bitmap *);
    if (!*out || !hidden) return error_no_memory(o->err);
    if (c->n_masked == 0) return SILT_OK;
    silt_status status = write_dvs(c, *out, hidden);
    for (size_t i = 0; i < c->n_masked; i++) bitmap_free(hidden[i]);
    return status;
}

/* ---- data files ---- */

/* Constraints are the table's; the row ids behind its columns pass. */
static silt_status checked(const row_change *c, query *q, query **out) {
    write_target t = c->target;
    t.schema = c->row_schema;
    return ops_checks_wrap(c->o, &t, q, out);
}

static silt_status kept_rows(row_change *c, query **out) {
    relation *rows;
    expr *gone, *kept;
    *out = NULL;
    if (c->n_rewritten == 0) return SILT_OK;
    TRY(row_change_rows(c, c->rewritten, STR_NULL, &rows));
    TRY(row_change_is_gone(c, rows, &gone));
    TRY(ops_tree_call(c->o, "not", gone, NULL, &kept));
    kept->type = &type_boolean;
    return row_change_select(c, rows, kept, out);
}

static silt_status all_rows(row_change *c, query **out) {
    query *fresh = c->rewritten_rows ? c->rewritten_rows : c->new_rows, *kept = NULL;
    if (fresh) TRY(checked(c, fresh, &fresh));
    if (!c->rewritten_rows) TRY(kept_rows(c, &kept));
    return row_change_union(c->o, kept, fresh, out);
}

static silt_status write_query(const op *o, query *q, const write_spec *spec, const char *what, write_result *out) {
    TRY(expr_push_predicates(q, o->env->bind, o->a, o->err));
    if (o->env->progress) o->env->progress(o->env->progress_ctx, what, -1);
    return engine_write(o->env->engine, q, o->env->bind, spec, o->a, out, o->err);
}

static silt_status write_rows(row_change *c, query *q) {
    TRY(ops_write_plan(c->o, &c->target, c->root, &c->options, &c->data_spec));
    c->data_spec.schema = c->row_schema;
    c->data_spec.any_order = true;
    c->data_spec.group_rows = c->n_rewritten ? 0 : PICKED_GROUP_ROWS;
    c->data_spec.n_extra_columns = c->row_schema->n_fields - c->target.schema->n_fields;
    return write_query(c->o, q, &c->data_spec, "writing data files", &c->data);
}

static silt_status write_data(row_change *c) {
    query *q;
    if (c->written_ahead) return SILT_OK;
    TRY(all_rows(c, &q));
    return q ? write_rows(c, q) : SILT_OK;
}

silt_status row_change_write_ahead(row_change *c, int64_t *out_rows) {
    query *q;
    TRY(row_change_shape(c));
    TRY(checked(c, c->new_rows, &q));
    TRY(write_rows(c, q));
    c->written_ahead = true;
    *out_rows = c->data.rows;
    return SILT_OK;
}

static silt_status write_changes(row_change *c) {
    if (!c->needs_changes || !c->changes) return SILT_OK;
    TRY(ops_write_plan(c->o, &c->target, c->root, &c->options, &c->change_spec));
    c->change_spec.schema = c->change_schema;
    c->change_spec.any_order = true;
    c->change_spec.n_extra_columns = 1;
    c->change_spec.folder = CHANGE_FOLDER;
    c->change_spec.file_prefix = "cdc";
    c->change_spec.collect_stats = false;
    return write_query(c->o, c->changes, &c->change_spec, "writing change data files", &c->change_data);
}

/* ---- actions ---- */

static silt_status stage_touched(row_change *c, const delta_dv_job *dvs) {
    const op *o = c->o;
    size_t masked = 0;
    for (size_t i = 0; i < c->n_files; i++) {
        const touched_file *f = &c->files[i];
        if (f->fate == FATE_MASKED) {
            delta_add add = f->add;
            add.data_change = true;
            add.dv = dvs[masked++].out;
            TRY(loosen_stats(o, f->add.stats, f->physical, &add.stats));
            TRY(delta_txn_add(c->txn, &add, o->err));
        }
        TRY(delta_txn_remove_file(c->txn, &f->add, true, o->err));
    }
    return SILT_OK;
}

static silt_status stage_changes(row_change *c) {
    const op *o = c->o;
    for (size_t i = 0; i < c->change_data.n_files; i++) {
        const written_file *f = &c->change_data.files[i];
        delta_cdc cdc = {.path = uri_encode_path(f->path, o->a), .size_bytes = f->size_bytes};
        if (str_is_null(cdc.path)) return error_no_memory(o->err);
        TRY(ops_write_partition_values(o, &c->target, f, &cdc.partition_values));
        TRY(delta_txn_add_cdc(c->txn, &cdc, o->err));
    }
    return SILT_OK;
}

static void count_written(row_change *c) {
    c->counts.files_added = (int64_t)c->data.n_files;
    c->counts.bytes_added = c->data.bytes;
    c->counts.rows_written = c->data.rows;
    c->counts.change_files = (int64_t)c->change_data.n_files;
}

silt_status row_change_apply(row_change *c) {
    delta_dv_job *dvs;
    TRY(row_change_plan(c));
    TRY(mask_files(c, &dvs));
    TRY(write_data(c));
    TRY(write_changes(c));
    count_written(c);
    TRY(stage_touched(c, dvs));
    TRY(ops_write_add_files(c->o, &c->target, &c->data, c->txn));
    return stage_changes(c);
}

void row_change_discard(row_change *c) {
    if (c->data.n_files > 0) engine_write_discard(&c->data_spec, &c->data);
    if (c->change_data.n_files > 0) engine_write_discard(&c->change_spec, &c->change_data);
    for (size_t i = 0; i < c->n_dv_paths; i++) {
        silt_status gone = store_remove(c->o->env->delta->store, c->dv_paths[i], NULL);
        (void)gone; /* what stays is VACUUM's */
    }
    c->data = c->change_data = (write_result){0};
    c->n_dv_paths = 0;
    c->written_ahead = false;
}

void row_change_end(row_change *c) {
    engine_row_set_unregister(c->o->env->engine, c->row_set_id);
    c->row_set_id = 0;
}
