/*
 * Which columns have statistics, their text, and the way through the files: footers in parallel, a batch at a time; files whose footers leave something open are asked together.
 */
#include "ops/maintain/convert_stats.h"

#include "table/stats.h"

#define BATCH_FILES 2048

/* ---- which columns ---- */

typedef struct chooser {
    const op *o;
    const write_spec *spec;
    stats_plan *plan;
    int64_t left; /* leaves still to be counted; < 0: no limit */
    uint32_t path[64];
    str names[64];
    size_t depth;
} chooser;

static bool type_has_bounds(type_id id) {
    bool is_number = id >= TYPE_BYTE && id <= TYPE_STRING;
    return is_number || id == TYPE_DATE || id == TYPE_TIMESTAMP || id == TYPE_TIMESTAMP_NTZ;
}

static bool is_named(const chooser *c) {
    for (size_t i = 0; i < c->spec->n_stats_columns; i++) {
        const column_path *named = &c->spec->stats_columns[i];
        if (named->depth <= c->depth && memcmp(named->index, c->path, named->depth * sizeof *named->index) == 0) return true;
    }
    return false;
}

static bool take_leaf(chooser *c) {
    if (c->spec->has_stats_columns) return is_named(c);
    if (c->left < 0) return true;
    if (c->left == 0) return false;
    c->left--;
    return true;
}

static silt_status make_slot(chooser *c, stats_node *node, const data_type *type) {
    stats_slot slot = {.depth = c->depth, .type = type, .is_bounded = type_has_bounds(type->id)};
    str *path = ARENA_ARRAY(c->o->a, c->depth, str);
    if (!path) return error_no_memory(c->o->err);
    memcpy(path, c->names, c->depth * sizeof *path);
    slot.path = path;
    node->slot = c->plan->n_slots;
    node->is_bounded = slot.is_bounded;
    return ARENA_PUSH(c->o->a, c->plan->slots, c->plan->n_slots, c->plan->capacity, slot) ? SILT_OK : error_no_memory(c->o->err);
}

static bool is_partition_column(const write_spec *spec, size_t i) {
    for (size_t k = 0; k < spec->n_partition_columns; k++)
        if (spec->partition_columns[k] == i) return true;
    return false;
}

static silt_status make_children(chooser *c, stats_node *node, const data_type *type);

static silt_status make_node(chooser *c, stats_node *node, const data_type *type) {
    if (type->id == TYPE_STRUCT && c->depth < ARRAY_LEN(c->path)) return make_children(c, node, type);
    node->is_counted = take_leaf(c);
    return node->is_counted ? make_slot(c, node, type) : SILT_OK;
}

static silt_status make_children(chooser *c, stats_node *node, const data_type *type) {
    node->children = ARENA_ARRAY(c->o->a, type->n_fields + 1, stats_node);
    if (!node->children) return error_no_memory(c->o->err);
    node->n_children = type->n_fields;
    for (size_t i = 0; i < type->n_fields; i++) {
        stats_node *child = &node->children[i];
        child->name = type->fields[i].name;
        if (c->depth == 0 && is_partition_column(c->spec, i)) continue;
        c->path[c->depth] = (uint32_t)i;
        c->names[c->depth++] = child->name;
        silt_status status = make_node(c, child, type->fields[i].type);
        c->depth--;
        TRY(status);
        node->is_counted |= child->is_counted;
        node->is_bounded |= child->is_bounded;
    }
    return SILT_OK;
}

silt_status stats_plan_make(const op *o, const write_spec *spec, stats_plan *out) {
    *out = (stats_plan){.prefix = spec->string_prefix_length > 0 ? (size_t)spec->string_prefix_length : 32, .write_tight_bounds = spec->write_tight_bounds};
    chooser c = {.o = o, .spec = spec, .plan = out, .left = spec->num_indexed_columns};
    return make_children(&c, &out->root, spec->schema);
}

/* ---- the text ---- */

typedef enum stats_part { PART_MIN, PART_MAX, PART_NULLS } stats_part;

static bool write_bound(const stats_plan *plan, const slot_stats *s, stats_part part, buf *out) {
    const value *v = part == PART_MIN ? &s->min : &s->max;
    if (!s->has_bounds) return false;
    if (v->type->id != TYPE_STRING) {
        value_write_stats_json(out, v);
        return true;
    }
    if (part == PART_MIN) {
        json_write_str(out, stats_string_min_of(v->as.bytes, plan->prefix));
        return true;
    }
    buf cut;
    buf_init(&cut, BUF_MAX_DEFAULT);
    bool known = stats_string_max_of(&cut, v->as.bytes, plan->prefix);
    if (known) json_write_str(out, buf_str(&cut));
    if (!buf_ok(&cut)) out->failed = true;
    buf_dispose(&cut);
    return known;
}

static void write_members(const stats_plan *plan, const stats_node *node, const slot_stats *stats, stats_part part, buf *out) {
    bool first = true;
    buf_append_char(out, '{');
    for (size_t i = 0; i < node->n_children; i++) {
        const stats_node *child = &node->children[i];
        if (part == PART_NULLS ? !child->is_counted : !child->is_bounded) continue;
        size_t before = out->len;
        bool was_first = first, written = true;
        json_write_key_str(out, &first, child->name);
        if (child->children) {
            write_members(plan, child, stats, part, out);
        } else if (part == PART_NULLS) {
            written = stats[child->slot].nulls >= 0;
            if (written) buf_append_i64(out, stats[child->slot].nulls);
        } else {
            written = write_bound(plan, &stats[child->slot], part, out);
        }
        if (written) continue;
        if (!out->failed) out->len = before; /* not known: the key goes too */
        first = was_first;
    }
    buf_append_char(out, '}');
}

void stats_plan_write(const stats_plan *plan, int64_t rows, const slot_stats *stats, buf *out) {
    static const char *const keys[] = {"minValues", "maxValues", "nullCount"};
    buf_append_z(out, "{\"numRecords\":");
    buf_append_i64(out, rows);
    for (size_t part = PART_MIN; part <= PART_NULLS; part++) {
        if (part == PART_NULLS ? !plan->root.is_counted : !plan->root.is_bounded) continue;
        buf_printf(out, ",\"%s\":", keys[part]);
        write_members(plan, &plan->root, stats, (stats_part)part, out);
    }
    if (plan->write_tight_bounds) buf_append_z(out, ",\"tightBounds\":true");
    buf_append_char(out, '}');
}

/* ---- where a schema has the slots ---- */

static bool find_own_type(const convert_variant *v, const stats_slot *slot, slot_column *c) {
    const data_type *t = v->type;
    for (size_t d = 0; d < slot->depth; d++) {
        int at = t->id == TYPE_STRUCT ? schema_find(t, slot->path[d]) : -1;
        if (at < 0) return false;
        c->path[d] = (uint32_t)at;
        t = t->fields[at].type;
    }
    c->depth = slot->depth;
    c->type = t;
    return true;
}

static void find_column(const parquet_footer *f, const convert_variant *v, const stats_slot *slot, slot_column *c) {
    const parquet_element *e = NULL;
    *c = (slot_column){.is_nested = slot->depth > 1};
    c->is_missing = !find_own_type(v, slot, c);
    for (size_t d = 0; d < slot->depth && !c->is_missing; d++) {
        e = parquet_find_child(f, e, slot->path[d]);
        c->is_missing = !e;
        if (e) c->is_optional |= e->repetition != PARQUET_REQUIRED;
    }
    if (c->is_missing) return;
    c->element = *e;
    c->element.name = STR_NULL;
    c->leaf = e->leaf;
}

/* ---- one file ---- */

typedef struct collecting {
    const op *o;
    convert_files *files;
    stats_plan plan;
    convert_pool *pool;
    const slot_column **columns; /* by variant */
    bool scans;
    size_t first; /* of the batch */
    bool *wanted; /* by file of the batch and slot: what the data is to tell */
    bool *is_pending;
    slot_stats *scanned; /* by file of the batch; NULL: not yet */
    stats_batch_fn fn;
    void *ctx;
} collecting;

static silt_status read_footer(const collecting *c, size_t i, convert_worker *w, parquet_footer *out, silt_error *err) {
    const convert_files *f = c->files;
    parquet_look look;
    str path = arena_printf(w->scratch, "%.*s/%.*s", STR_ARG(f->root), STR_ARG(f->files[i].path));
    if (str_is_null(path)) return error_no_memory(err);
    silt_status status = parquet_footer_read(f->store, path, f->files[i].size_bytes, true, &w->bytes, w->scratch, out, &look, err);
    bool same = status == SILT_OK && out->n_rows == f->files[i].rows && str_eq(out->schema_bytes, f->variants[f->files[i].variant].schema_bytes);
    if (status == SILT_NO_MEMORY || status == SILT_CANCELLED) return status;
    return same ? SILT_OK : store_path_error(f->store, path, err_CONVERT_FILE_CHANGED, err);
}

static silt_status write_file_stats(const collecting *c, convert_file *file, const slot_stats *stats, convert_worker *w, silt_error *err) {
    buf text;
    buf_init(&text, BUF_MAX_DEFAULT);
    stats_plan_write(&c->plan, file->rows, stats, &text);
    file->stats = buf_take(&text, w->keep);
    return str_is_null(file->stats) ? error_no_memory(err) : SILT_OK;
}

static silt_status collect_file(collecting *c, size_t i, convert_worker *w, silt_error *err) {
    convert_file *file = &c->files->files[i];
    size_t n = c->plan.n_slots, at = i - c->first;
    parquet_footer footer;
    slot_stats *stats = ARENA_ARRAY(w->scratch, n + 1, slot_stats);
    bool open = false;
    if (!stats) return error_no_memory(err);
    TRY(read_footer(c, i, w, &footer, err));
    for (size_t s = 0; s < n; s++) {
        const slot_column *column = &c->columns[file->variant][s];
        slot_stats_of_footer(&footer, column, &c->plan.slots[s], &stats[s]);
        bool *wanted = &c->wanted[at * n + s];
        if (c->scanned && *wanted) stats[s] = c->scanned[at * n + s];
        if (footer.is_rebased) slot_stats_drop_old_times(&stats[s], c->plan.slots[s].type);
        if (!c->scanned) *wanted = c->scans && stats[s].is_uncertain && file->rows > 0;
        open |= *wanted;
    }
    c->is_pending[at] = open && !c->scanned;
    return c->is_pending[at] ? SILT_OK : write_file_stats(c, file, stats, w, err);
}

static silt_status on_file(void *ctx, size_t k, silt_error *err) {
    collecting *c = ctx;
    size_t i = c->first + k;
    if (c->files->files[i].is_skipped || (c->scanned && !c->is_pending[k])) return SILT_OK;
    if (i % 64 == 0) TRY(cancel_check(c->o->env->delta->cancel, err));
    convert_worker *w = convert_pool_take(c->pool, err);
    if (!w) return SILT_NO_MEMORY;
    silt_status status = collect_file(c, i, w, err);
    convert_pool_give(c->pool, w);
    return status;
}

/* ---- a batch ---- */

/* The files of one schema that are open, asked together for whatever any of them wants. */
static silt_status scan_variant(collecting *c, const op *o, uint32_t variant, size_t n_batch) {
    size_t n = c->plan.n_slots, count = 0;
    size_t *files = ARENA_ARRAY(o->a, n_batch + 1, size_t);
    bool *wanted = ARENA_ARRAY(o->a, n + 1, bool);
    if (!files || !wanted) return error_no_memory(o->err);
    for (size_t k = 0; k < n_batch; k++) {
        if (!c->is_pending[k] || c->files->files[c->first + k].variant != variant) continue;
        files[count++] = c->first + k;
        for (size_t s = 0; s < n; s++) wanted[s] |= c->wanted[k * n + s];
    }
    if (count == 0) return SILT_OK;
    slot_stats *found = ARENA_ARRAY(o->a, count * n + 1, slot_stats);
    if (!found) return error_no_memory(o->err);
    TRY(convert_scan(o, c->files, &c->plan, c->columns[variant], files, count, wanted, found));
    for (size_t k = 0; k < count; k++) memcpy(&c->scanned[(files[k] - c->first) * n], &found[k * n], n * sizeof *found);
    return SILT_OK;
}

static silt_status scan_pending(collecting *c, const op *o, size_t n_batch) {
    c->scanned = ARENA_ARRAY(o->a, n_batch * c->plan.n_slots + 1, slot_stats);
    if (!c->scanned) return error_no_memory(o->err);
    for (uint32_t v = 0; v < c->files->n_variants; v++) TRY(scan_variant(c, o, v, n_batch));
    return thread_for(convert_pool_threads(o), n_batch, on_file, c, o->err);
}

static silt_status collect_batch(collecting *c, const op *o, size_t n_batch) {
    TRY(convert_pool_new(o, &c->pool)); /* what the threads keep of this batch ends with it */
    c->wanted = ARENA_ARRAY(o->a, n_batch * c->plan.n_slots + 1, bool);
    c->is_pending = ARENA_ARRAY(o->a, n_batch + 1, bool);
    c->scanned = NULL;
    if (!c->wanted || !c->is_pending) return error_no_memory(o->err);
    TRY(thread_for(convert_pool_threads(o), n_batch, on_file, c, o->err));
    bool any = false;
    for (size_t k = 0; k < n_batch; k++) any |= c->is_pending[k];
    return any ? scan_pending(c, o, n_batch) : SILT_OK;
}

static silt_status map_variants(collecting *c) {
    const op *o = c->o;
    c->columns = ARENA_ARRAY(o->a, c->files->n_variants + 1, const slot_column *);
    if (!c->columns) return error_no_memory(o->err);
    for (size_t v = 0; v < c->files->n_variants; v++) {
        slot_column *columns = ARENA_ARRAY(o->a, c->plan.n_slots + 1, slot_column);
        parquet_footer footer;
        convert_worker *w = convert_pool_take(c->pool, o->err);
        if (!columns || !w) return error_no_memory(o->err);
        silt_status status = read_footer(c, c->files->variants[v].sample, w, &footer, o->err);
        for (size_t s = 0; status == SILT_OK && s < c->plan.n_slots; s++)
            find_column(&footer, &c->files->variants[v], &c->plan.slots[s], &columns[s]);
        convert_pool_give(c->pool, w);
        TRY(status);
        c->columns[v] = columns;
    }
    return SILT_OK;
}

static silt_status collect_all(collecting *c) {
    const op *o = c->o;
    arena *batch = arena_new();
    op inner = {.env = o->env, .a = batch, .err = o->err};
    silt_status status = batch ? SILT_OK : error_no_memory(o->err);
    for (c->first = 0; status == SILT_OK && c->first < c->files->n_files; c->first += BATCH_FILES) {
        size_t left = c->files->n_files - c->first, n = left < BATCH_FILES ? left : BATCH_FILES;
        status = collect_batch(c, &inner, n);
        if (status == SILT_OK) status = c->fn(c->ctx, c->first, n);
        for (size_t k = 0; k < n; k++) c->files->files[c->first + k].stats = STR_NULL;
        arena_reset(batch);
        if (o->env->progress) o->env->progress(o->env->progress_ctx, "collecting statistics", (double)c->first / (double)c->files->n_files);
    }
    arena_free(batch);
    return status;
}

static silt_status collect(collecting *c, const write_spec *spec) {
    TRY(stats_plan_make(c->o, spec, &c->plan));
    TRY(convert_pool_new(c->o, &c->pool)); /* of the samples; each batch has one of its own */
    TRY(map_variants(c));
    return collect_all(c);
}

silt_status convert_stats_collect(const op *o, convert_files *f, const write_spec *spec, stats_batch_fn fn, void *ctx) {
    collecting c = {.o = o, .files = f, .fn = fn, .ctx = ctx};
    str mode = ops_setting(o, "silt.convert.stats");
    c.scans = mode.len == 0 || str_eq_ascii_fold(mode, STR("exact"));
    if (!c.scans && !str_eq_ascii_fold(mode, STR("footer")))
        return err_INVALID_PARAMETER_VALUE(o->err, STR("silt.convert.stats"), mode, "exact or footer");
    return collect(&c, spec);
}

silt_status convert_stats_collect_exactly(const op *o, convert_files *f, const write_spec *spec, stats_batch_fn fn, void *ctx) {
    collecting c = {.o = o, .files = f, .fn = fn, .ctx = ctx, .scans = true};
    return collect(&c, spec);
}
