/*
 * What REORG TABLE … APPLY (PURGE) rewrites: files with deleted rows, and files that still hold columns which the table does not have any more. The log does not tell the
 * latter, so the footer of each file is read, several at a time.
 */
#include "ops/maintain/optimize_run.h"
#include "table/parquet_footer.h"

static const field *find_physical(const data_type *type, str name) {
    for (size_t i = 0; i < type->n_fields; i++)
        if (str_eq_fold(type->fields[i].physical_name, name)) return &type->fields[i];
    return NULL;
}

/* An element of a footer and what is below it. */
typedef struct file_node {
    const parquet_footer *footer;
    uint32_t at;
} file_node;

static const parquet_element *element_of(file_node n) { return &n.footer->elements[n.at]; }

/* Children follow their parent, each after everything below the one before. */
static file_node child_of(file_node n, int32_t which) {
    file_node child = {n.footer, n.at + 1};
    for (int32_t i = 0; i < which; i++) child.at = element_of(child)->next;
    return child;
}

static bool has_more(file_node in_file, const data_type *in_table);

static bool struct_has_more(file_node in_file, const data_type *in_table) {
    for (int32_t i = 0; i < element_of(in_file)->n_children; i++) {
        file_node child = child_of(in_file, i);
        const field *f = find_physical(in_table, element_of(child)->name);
        if (!f || has_more(child, f->type)) return true;
    }
    return false;
}

/* list → repeated group → element; older writers leave out one of the two. */
static bool list_has_more(file_node in_file, const data_type *element) {
    if (element_of(in_file)->n_children != 1) return false;
    file_node repeated = child_of(in_file, 0);
    bool is_wrapper = element_of(repeated)->n_children == 1 && (element->id != TYPE_STRUCT || !find_physical(element, element_of(child_of(repeated, 0))->name));
    return has_more(is_wrapper ? child_of(repeated, 0) : repeated, element);
}

static bool map_has_more(file_node in_file, const data_type *in_table) {
    if (element_of(in_file)->n_children != 1) return false;
    file_node entries = child_of(in_file, 0);
    if (element_of(entries)->n_children != 2) return false;
    return has_more(child_of(entries, 0), in_table->key) || has_more(child_of(entries, 1), in_table->element);
}

/* Does the file's type have a field that the table's type lacks? Types that differ otherwise are older ones of a widened column, or a variant's group. */
static bool has_more(file_node in_file, const data_type *in_table) {
    if (element_of(in_file)->physical != PARQUET_GROUP) return false;
    switch (in_table->id) {
        case TYPE_STRUCT: return struct_has_more(in_file, in_table);
        case TYPE_ARRAY: return list_has_more(in_file, in_table->element);
        case TYPE_MAP: return map_has_more(in_file, in_table);
        default: return false;
    }
}

typedef struct footer_check {
    optimize_run *run;
    const data_type *schema; /**< the table's, and the materialised row ids */
    size_t *files;           /**< numbers in run->files */
    str *paths;
    size_t n_files;
} footer_check;

static silt_status check_footer(void *ctx, size_t i, silt_error *err) {
    const footer_check *c = ctx;
    const delta_env *env = c->run->o->env->delta;
    optimize_file *f = &c->run->files[c->files[i]];
    arena *a = arena_new();
    store *st;
    str path;
    buf bytes;
    parquet_footer footer;
    parquet_look look;
    if (!a) return error_no_memory(err);
    buf_init(&bytes, BUF_MAX_DEFAULT);
    silt_status status = delta_resolve_path(env, c->run->spec->root, c->paths[i], a, &st, &path, err);
    if (status == SILT_OK) status = parquet_footer_read(st, path, f->bytes, false, &bytes, a, &footer, &look, err);
    if (status == SILT_OK) f->is_candidate = has_more((file_node){&footer, 0}, c->schema);
    buf_dispose(&bytes);
    arena_free(a);
    return status;
}

static silt_status add_column(const op *o, const data_type *schema, str physical_name, const data_type **out) {
    field *fields = ARENA_ARRAY(o->a, schema->n_fields + 1, field);
    if (!fields) return error_no_memory(o->err);
    memcpy(fields, schema->fields, schema->n_fields * sizeof *fields);
    fields[schema->n_fields] = field_make(physical_name, &type_long, true);
    *out = type_struct(o->a, fields, schema->n_fields + 1);
    return *out ? SILT_OK : error_no_memory(o->err);
}

static silt_status known_columns(const optimize_run *r, const data_type **out) {
    static const char *const materialized[] = {"delta.rowTracking.materializedRowIdColumnName", "delta.rowTracking.materializedRowCommitVersionColumnName"};
    const delta_metadata *m = delta_snapshot_metadata(r->snapshot);
    *out = m->schema;
    for (size_t i = 0; i < ARRAY_LEN(materialized); i++) {
        str name = str_map_get(&m->configuration, str_of(materialized[i]));
        if (!str_is_null(name)) TRY(add_column(r->o, *out, name, out));
    }
    return SILT_OK;
}

static silt_status take_path(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    footer_check *c = ctx;
    optimize_file *f = &c->run->files[i];
    if (f->is_candidate || !c->run->partitions[f->partition].is_wanted) return SILT_OK;
    c->files[c->n_files] = i;
    c->paths[c->n_files] = arena_str(c->run->o->a, add->path);
    return str_is_null(c->paths[c->n_files++]) ? error_no_memory(err) : SILT_OK;
}

silt_status optimize_choose_purged(optimize_run *r) {
    const op *o = r->o;
    footer_check c = {.run = r, .files = ARENA_ARRAY(o->a, r->n_files + 1, size_t), .paths = ARENA_ARRAY(o->a, r->n_files + 1, str)};
    if (!c.files || !c.paths) return error_no_memory(o->err);
    for (size_t i = 0; i < r->n_files; i++) r->files[i].is_candidate = r->files[i].is_hiding;
    TRY(known_columns(r, &c.schema));
    TRY(delta_snapshot_each_file(r->snapshot, false, take_path, &c, o->err));
    return thread_for(0, c.n_files, check_footer, &c, o->err);
}
