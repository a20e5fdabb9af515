/*
 * The columns of a table: ADD, REPLACE, RENAME, DROP and ALTER COLUMN, at any depth. Each works on the schema alone; files keep their columns and are read by physical name
 * and type. What may be changed to what is Spark's rule first (a change must keep every value), then Delta's (type widening must be on).
 */
#include "ops/alter_run.h"

static str joined(name_parts path, arena *a) {
    str text = path.parts[0];
    for (size_t i = 1; i < path.count; i++) text = arena_printf(a, "%.*s.%.*s", STR_ARG(text), STR_ARG(path.parts[i]));
    return text;
}

static silt_status exhausted(const alter_run *run) { return error_no_memory(run->o->err); }

/* Backticks between the parts, as messages quote names. */
static str quoted_path(name_parts path, arena *a) {
    str text = path.parts[0];
    for (size_t i = 1; i < path.count; i++) text = arena_printf(a, "%.*s`.`%.*s", STR_ARG(text), STR_ARG(path.parts[i]));
    return text;
}

static silt_status find_in(const alter_run *run, const data_type *schema, name_parts names, schema_path *out) {
    name_parts part = {names.parts, 0};
    switch (schema_path_find(schema, names, out)) {
    case PATH_FOUND: return SILT_OK;
    case PATH_ABSENT:
        part.count = out->depth + 1;
        return err_UNRESOLVED_COLUMN(run->o->err, quoted_path(part, run->o->a));
    case PATH_NOT_A_STRUCT: break;
    }
    part.count = out->depth;
    return err_INVALID_FIELD_NAME(run->o->err, quoted_path(names, run->o->a), part.count ? quoted_path(part, run->o->a) : STR(""));
}

static silt_status find_column(const alter_run *run, name_parts names, schema_path *out) { return find_in(run, run->target.schema, names, out); }

static name_parts parent_of(name_parts names) { return (name_parts){names.parts, names.count - 1}; }

static silt_status set_type_at(alter_run *run, const schema_path *path, size_t depth, const data_type *type) {
    const data_type *schema = type ? schema_replace_type(run->target.schema, path->steps, depth, type, run->o->a) : NULL;
    if (!schema) return exhausted(run);
    run->target.schema = schema;
    return SILT_OK;
}

/* ---- commitInfo ---- */

void alter_column_json(buf *out, str name, const field *f) {
    static const char *const nested[] = {[TYPE_ARRAY - TYPE_ARRAY] = "array", [TYPE_MAP - TYPE_ARRAY] = "map", [TYPE_STRUCT - TYPE_ARRAY] = "struct"};
    bool first = true;
    buf_append_char(out, '{');
    json_write_key(out, &first, "name");
    json_write_str(out, name);
    json_write_key(out, &first, "type");
    if (type_is_nested(f->type)) json_write_str(out, str_of(nested[f->type->id - TYPE_ARRAY]));
    else schema_write_json(out, f->type);
    json_write_key(out, &first, "nullable");
    buf_append_z(out, f->nullable ? "true" : "false");
    json_write_key(out, &first, "metadata");
    buf_append(out, f->metadata.len ? f->metadata : STR("{}"));
    buf_append_char(out, '}');
}

/* VARCHAR(3) is shown as declared, not as a string with its declaration in the metadata. */
static silt_status declared_json(const alter_run *run, buf *out, str name, const field *given) {
    field f = *given;
    f.metadata = field_metadata_set(f.metadata, "__CHAR_VARCHAR_TYPE_STRING", STR_NULL, run->o->a);
    if (str_is_null(f.metadata)) return exhausted(run);
    if (f.type->id != TYPE_STRING || f.type->length == 0) {
        alter_column_json(out, name, &f);
        return SILT_OK;
    }
    bool first = true;
    buf_append_char(out, '{');
    json_write_key(out, &first, "name");
    json_write_str(out, name);
    json_write_key(out, &first, "type");
    json_write_str(out, type_simple(f.type, run->o->a));
    buf_printf(out, ",\"nullable\":%s,\"metadata\":%.*s}", f.nullable ? "true" : "false", STR_ARG(f.metadata));
    return SILT_OK;
}

static void position_text(buf *out, const column_edit *e) {
    if (e->place == PLACE_FIRST) buf_append_z(out, "FIRST");
    if (e->place == PLACE_AFTER) buf_printf(out, "AFTER %.*s", STR_ARG(e->after));
}

static void position_member(buf *out, const column_edit *e) {
    buf text;
    if (e->place == PLACE_KEEP) return;
    buf_init(&text, BUF_MAX_DEFAULT);
    position_text(&text, e);
    if (!buf_ok(&text)) out->failed = true;
    buf_append_z(out, ",\"position\":");
    json_write_str(out, buf_str(&text));
    buf_dispose(&text);
}

/* {"key": "text"} with the text built in `text`, which is disposed. */
static silt_status one_parameter(alter_run *run, const char *key, buf *text) {
    json_object j;
    ops_json_object_begin(&j);
    if (!buf_ok(text)) j.text.failed = true;
    ops_json_object_str(&j, key, buf_str(text));
    run->parameters = ops_json_object_end(&j, run->o->a);
    buf_dispose(text);
    return str_is_null(run->parameters) ? exhausted(run) : SILT_OK;
}

/* ---- the schema as a whole ---- */

static silt_status check_reserved_names(const alter_run *run, const data_type *added) {
    static const char *const reserved[] = {"_change_type", "_commit_version", "_commit_timestamp"};
    if (!str_eq_ascii_fold(str_map_get(&run->target.metadata.configuration, STR("delta.enableChangeDataFeed")), STR("true"))) return SILT_OK;
    for (size_t i = 0; i < ARRAY_LEN(reserved); i++)
        if (schema_find(added, str_of(reserved[i])) >= 0) return err_RESERVED_CDC_COLUMNS_ON_WRITE(run->o->err, str_of(reserved[i]));
    return SILT_OK;
}

static silt_status take_schema(alter_run *run) {
    const data_type *schema = run->target.schema;
    run->target.schema = run->target.metadata.schema;
    TRY(check_reserved_names(run, schema));
    TRY(ops_write_target_set_schema(run->o, &run->target, schema));
    return ops_schema_check_defaults(run->o, run->target.schema, &run->target.protocol);
}

/* ---- ADD COLUMNS ---- */

static bool has_not_null(const data_type *t) {
    if (t->id == TYPE_ARRAY) return has_not_null(t->element);
    if (t->id == TYPE_MAP) return has_not_null(t->key) || has_not_null(t->element);
    for (size_t i = 0; t->id == TYPE_STRUCT && i < t->n_fields; i++)
        if (!t->fields[i].nullable || has_not_null(t->fields[i].type)) return true;
    return false;
}

static silt_status check_new_field(const alter_run *run, const field *f) {
    silt_error *err = run->o->err;
    if (!f->nullable || has_not_null(f->type)) return err_DELTA_OPERATION_NOT_ALLOWED(err, "NOT NULL in ALTER TABLE ADD COLUMNS");
    if (field_metadata_get(f, "CURRENT_DEFAULT", run->o->a)) return err_WRONG_COLUMN_DEFAULTS_FOR_DELTA_ALTER_TABLE_ADD_COLUMN_NOT_SUPPORTED(err);
    if (field_metadata_get(f, "delta.generationExpression", run->o->a) || field_metadata_get(f, "delta.identity.start", run->o->a))
        return err_DELTA_OPERATION_NOT_ALLOWED(err, "GENERATED in ALTER TABLE ADD COLUMNS");
    return SILT_OK;
}

/* Where in the struct? *out is counted in the struct as it is. */
static silt_status place_in(const alter_run *run, const data_type *parent, const column_edit *e, str column, size_t at_end, size_t *out) {
    *out = e->place == PLACE_FIRST ? 0 : at_end;
    if (e->place != PLACE_AFTER) return SILT_OK;
    int after = schema_find(parent, e->after);
    if (after < 0) return err_FIELD_NOT_FOUND(run->o->err, column, type_sql(parent, run->o->a));
    *out = (size_t)after + 1;
    return SILT_OK;
}

static silt_status check_absent(const alter_run *run, const column_edit *e) {
    schema_path found;
    const data_type *before = delta_snapshot_metadata(run->snapshot)->schema;
    if (schema_path_find(before, e->path, &found) == PATH_FOUND)
        return err_FIELD_ALREADY_EXISTS(run->o->err, "add", quoted_path(e->path, run->o->a), type_sql(before, run->o->a));
    if (schema_path_find(run->target.schema, e->path, &found) == PATH_FOUND) return err_COLUMN_ALREADY_EXISTS(run->o->err, joined(e->path, run->o->a));
    return SILT_OK;
}

static silt_status add_column(alter_run *run, const column_edit *e) {
    schema_path parent;
    name_parts above = parent_of(e->path);
    TRY(find_in(run, delta_snapshot_metadata(run->snapshot)->schema, above, &parent)); /* not one that this statement adds */
    TRY(find_column(run, above, &parent));
    const data_type *in = schema_type_at(run->target.schema, parent.steps, parent.depth);
    if (in->id != TYPE_STRUCT) return err_INVALID_FIELD_NAME(run->o->err, quoted_path(e->path, run->o->a), quoted_path(above, run->o->a));
    TRY(check_absent(run, e));
    TRY(check_new_field(run, &e->column));
    size_t at;
    TRY(place_in(run, in, e, e->column.name, in->n_fields, &at));
    return set_type_at(run, &parent, parent.depth, struct_insert(in, at, &e->column, run->o->a));
}

static silt_status added_columns_json(const alter_run *run, buf *out) {
    buf_append_char(out, '[');
    for (size_t i = 0; i < run->spec->n_columns; i++) {
        const column_edit *e = &run->spec->columns[i];
        buf_append_z(out, i ? ",{\"column\":" : "{\"column\":");
        TRY(declared_json(run, out, joined(e->path, run->o->a), &e->column));
        position_member(out, e);
        buf_append_char(out, '}');
    }
    buf_append_char(out, ']');
    return SILT_OK;
}

static silt_status add_columns(alter_run *run) {
    buf text;
    run->operation = "ADD COLUMNS";
    for (size_t i = 0; i < run->spec->n_columns; i++) TRY(add_column(run, &run->spec->columns[i]));
    buf_init(&text, BUF_MAX_DEFAULT);
    silt_status status = added_columns_json(run, &text);
    silt_status made = one_parameter(run, "columns", &text);
    TRY(status);
    TRY(made);
    return take_schema(run);
}

/* ---- RENAME COLUMN ---- */

static silt_status rename_partition_column(alter_run *run, str from, str to) {
    delta_metadata *m = &run->target.metadata;
    str *names = ARENA_ARRAY(run->o->a, m->n_partition_columns + 1, str);
    if (!names) return exhausted(run);
    for (size_t i = 0; i < m->n_partition_columns; i++) names[i] = str_eq_fold(m->partition_columns[i], from) ? to : m->partition_columns[i];
    m->partition_columns = names;
    return SILT_OK;
}

static silt_status rename_column(alter_run *run) {
    const op *o = run->o;
    const column_edit *e = &run->spec->columns[0];
    schema_path path;
    TRY(find_column(run, e->path, &path));
    if (path.steps[path.depth - 1].kind != STEP_FIELD) return err_INVALID_FIELD_NAME(o->err, quoted_path(e->path, o->a), quoted_path(parent_of(e->path), o->a));
    const data_type *parent = schema_type_at(run->target.schema, path.steps, path.depth - 1);
    if (schema_find(parent, e->new_name) >= 0)
        return err_FIELD_ALREADY_EXISTS(o->err, "rename", e->new_name, type_sql(run->target.schema, o->a));
    if (!ops_write_target_is_mapped(&run->target)) return err_DELTA_UNSUPPORTED_RENAME_COLUMN(o->err);
    TRY(alter_check_dependents(run, e->path));
    str old_text = schema_path_text(run->target.schema, path.steps, path.depth, o->a);
    field f = parent->fields[path.steps[path.depth - 1].field];
    if (path.depth == 1) TRY(rename_partition_column(run, f.name, e->new_name));
    f.name = e->new_name;
    run->target.schema = schema_replace_field(run->target.schema, path.steps, path.depth, &f, o->a);
    if (!run->target.schema) return exhausted(run);
    TRY(alter_stats_columns(run, &run->target.metadata.configuration, e->path, e->new_name));
    json_object j;
    ops_json_object_begin(&j);
    ops_json_object_str(&j, "oldColumnPath", old_text);
    ops_json_object_str(&j, "newColumnPath", schema_path_text(run->target.schema, path.steps, path.depth, o->a));
    run->parameters = ops_json_object_end(&j, o->a);
    run->operation = "RENAME COLUMN";
    return str_is_null(run->parameters) ? exhausted(run) : take_schema(run);
}

/* ---- DROP COLUMNS ---- */

static silt_status check_droppable(const alter_run *run, const data_type *schema, const schema_path *path, str text) {
    const op *o = run->o;
    const delta_metadata *m = &run->target.metadata;
    const str *clustered;
    size_t n;
    const field *f = schema_nearest_field(schema, path, NULL);
    for (size_t i = 0; path->depth == 1 && i < m->n_partition_columns; i++)
        if (str_eq_fold(m->partition_columns[i], f->name)) return err_DELTA_UNSUPPORTED_DROP_PARTITION_COLUMN(o->err, f->name);
    TRY(ops_clustering_columns(run->snapshot, o->a, &clustered, &n, o->err));
    for (size_t i = 0; i < n; i++) { /* a clustering column, or the struct that holds it */
        bool below = str_starts_with(clustered[i], text) && clustered[i].len > text.len && clustered[i].ptr[text.len] == '.';
        if (str_eq_fold(clustered[i], text) || below) return err_DELTA_UNSUPPORTED_DROP_CLUSTERING_COLUMN(o->err, clustered[i]);
    }
    return SILT_OK;
}

static silt_status drop_column(alter_run *run, const column_edit *e) {
    const op *o = run->o;
    schema_path path;
    TRY(find_column(run, e->path, &path));
    if (path.steps[path.depth - 1].kind != STEP_FIELD)
        return err_DELTA_UNSUPPORTED_DROP_NESTED_COLUMN_FROM_NON_STRUCT_TYPE(o->err, type_sql(schema_type_at(run->target.schema, path.steps, path.depth), o->a));
    const data_type *parent = schema_type_at(run->target.schema, path.steps, path.depth - 1);
    str text = schema_path_text(run->target.schema, path.steps, path.depth, o->a);
    if (str_is_null(text)) return exhausted(run);
    TRY(check_droppable(run, run->target.schema, &path, text));
    if (parent->n_fields == 1) return err_DELTA_DROP_COLUMN_ON_SINGLE_FIELD_SCHEMA(o->err);
    TRY(alter_check_dependents(run, e->path));
    TRY(alter_stats_columns(run, &run->target.metadata.configuration, e->path, STR_NULL));
    return set_type_at(run, &path, path.depth - 1, struct_remove(parent, path.steps[path.depth - 1].field, o->a));
}

static silt_status drop_columns(alter_run *run) {
    const op *o = run->o;
    const alter_spec *spec = run->spec;
    str *names = ARENA_ARRAY(o->a, spec->n_columns + 1, str);
    size_t n = 0;
    schema_path path;
    if (!names) return exhausted(run);
    for (size_t i = 0; i < spec->n_columns; i++) {
        path_outcome found = schema_path_find(run->target.schema, spec->columns[i].path, &path);
        if (found != PATH_FOUND && !spec->if_exists) TRY(find_column(run, spec->columns[i].path, &path));
        if (found == PATH_FOUND) names[n++] = joined(spec->columns[i].path, o->a);
    }
    if (n == 0) {
        run->nothing = true;
        return SILT_OK;
    }
    if (!ops_write_target_is_mapped(&run->target)) return err_DELTA_UNSUPPORTED_DROP_COLUMN(o->err);
    for (size_t i = 0; i < spec->n_columns; i++)
        if (!spec->if_exists || schema_path_find(run->target.schema, spec->columns[i].path, &path) == PATH_FOUND) TRY(drop_column(run, &spec->columns[i]));
    json_object j;
    ops_json_object_begin(&j);
    ops_json_object_names(&j, "columns", names, n);
    run->parameters = ops_json_object_end(&j, o->a);
    run->operation = "DROP COLUMNS";
    return str_is_null(run->parameters) ? exhausted(run) : take_schema(run);
}

/* ---- REPLACE COLUMNS ---- */

static silt_status cannot_replace(const alter_run *run, const char *why, str what) {
    return err_DELTA_UNSUPPORTED_ALTER_TABLE_REPLACE_COL_OP(run->o->err, arena_printf(run->o->a, "%s %.*s", why, STR_ARG(what)));
}

/** One field's new type and the metadata that records it. */
typedef struct replaced_field {
    field out;
    str path; /**< inside the field: "element", "value.key" … */
} replaced_field;

static silt_status replace_struct(alter_run *run, const data_type *old, const data_type *new, const data_type **out);

static silt_status replace_type(alter_run *run, replaced_field *f, const data_type *old, const data_type *new, const data_type **out);

static silt_status replace_inside(alter_run *run, replaced_field *f, const char *step, const data_type *old, const data_type *new, const data_type **out) {
    str kept = f->path;
    f->path = kept.len ? arena_printf(run->o->a, "%.*s.%s", STR_ARG(kept), step) : str_of(step);
    if (str_is_null(f->path)) return exhausted(run);
    TRY(replace_type(run, f, old, new, out));
    f->path = kept;
    return SILT_OK;
}

static bool may_widen(const alter_run *run, const data_type *from, const data_type *to) {
    return str_eq_ascii_fold(str_map_get(&run->target.metadata.configuration, STR("delta.enableTypeWidening")), STR("true")) && ops_schema_is_widening(from, to);
}

static silt_status replace_type(alter_run *run, replaced_field *f, const data_type *old, const data_type *new, const data_type **out) {
    *out = old;
    if (old->id == TYPE_STRUCT && new->id == TYPE_STRUCT) return replace_struct(run, old, new, out);
    if ((old->id == TYPE_ARRAY || old->id == TYPE_MAP) && new->id == old->id) {
        data_type *copy = ARENA_NEW(run->o->a, data_type);
        if (!copy) return exhausted(run);
        *copy = *old;
        if (old->id == TYPE_MAP) TRY(replace_inside(run, f, "key", old->key, new->key, &copy->key));
        TRY(replace_inside(run, f, old->id == TYPE_MAP ? "value" : "element", old->element, new->element, &copy->element));
        *out = copy;
        return SILT_OK;
    }
    if (type_equal(old, new)) return SILT_OK;
    if (!may_widen(run, old, new)) return cannot_replace(run, "changing data type of", f->out.name);
    *out = new;
    return ops_schema_record_widening(run->o, f->out.metadata, f->path, old, new, &f->out.metadata);
}

/* A field that was there keeps its metadata; a new comment takes the place of the old one. */
static silt_status replace_field(alter_run *run, const field *old, const field *new, field *out) {
    replaced_field f = {.out = *old, .path = STR("")};
    if (old->nullable && !new->nullable) return cannot_replace(run, "tightening nullability of", old->name);
    f.out.nullable = new->nullable;
    TRY(replace_type(run, &f, old->type, new->type, &f.out.type));
    const json_node *comment = field_metadata_get(new, "comment", run->o->a);
    if (comment) {
        buf b;
        buf_init(&b, BUF_MAX_DEFAULT);
        json_write_str(&b, comment->text);
        f.out.metadata = buf_ok(&b) ? field_metadata_set(f.out.metadata, "comment", buf_str(&b), run->o->a) : STR_NULL;
        buf_dispose(&b);
    }
    *out = f.out;
    return str_is_null(out->metadata) ? exhausted(run) : SILT_OK;
}

static silt_status replace_struct(alter_run *run, const data_type *old, const data_type *new, const data_type **out) {
    const op *o = run->o;
    field *fields = ARENA_ARRAY(o->a, new->n_fields + 1, field);
    if (!fields) return exhausted(run);
    bool mapped = ops_write_target_is_mapped(&run->target);
    size_t gone = 0, added = 0;
    for (size_t i = 0; i < old->n_fields; i++) {
        if (schema_find(new, old->fields[i].name) >= 0) continue;
        gone++;
        if (!mapped) return cannot_replace(run, "dropping column(s)", old->fields[i].name);
    }
    for (size_t i = 0; i < new->n_fields; i++) added += schema_find(old, new->fields[i].name) < 0;
    if (gone && added) return cannot_replace(run, "it both removes and adds columns, which may be meant as renaming, in", type_sql(old, o->a));
    for (size_t i = 0; i < new->n_fields; i++) {
        int at = schema_find(old, new->fields[i].name);
        if (at >= 0) {
            TRY(replace_field(run, &old->fields[at], &new->fields[i], &fields[i]));
        } else {
            fields[i] = new->fields[i];
            if (!fields[i].nullable) return cannot_replace(run, "adding the NOT NULL column", fields[i].name);
        }
    }
    *out = type_struct(o->a, fields, new->n_fields);
    return *out ? SILT_OK : exhausted(run);
}

/* What is gone must be what may be dropped. */
static silt_status check_missing(const alter_run *run, const data_type *old, const data_type *new) {
    for (size_t i = 0; i < old->n_fields; i++) {
        if (schema_find(new, old->fields[i].name) >= 0) continue;
        schema_path path = {.steps = {{STEP_FIELD, i}}, .depth = 1};
        TRY(check_droppable(run, old, &path, old->fields[i].name));
        TRY(alter_check_dependents(run, (name_parts){(str[]){old->fields[i].name}, 1}));
    }
    return SILT_OK;
}

static silt_status replaced_columns_json(const alter_run *run, buf *out) {
    buf_append_char(out, '[');
    for (size_t i = 0; i < run->spec->n_columns; i++) {
        if (i) buf_append_char(out, ',');
        TRY(declared_json(run, out, run->spec->columns[i].column.name, &run->spec->columns[i].column));
    }
    buf_append_char(out, ']');
    return SILT_OK;
}

static silt_status replace_columns(alter_run *run) {
    const op *o = run->o;
    const alter_spec *spec = run->spec;
    const data_type *old = run->target.schema;
    field *fields = ARENA_ARRAY(o->a, spec->n_columns + 1, field);
    if (!fields) return exhausted(run);
    for (size_t i = 0; i < spec->n_columns; i++) {
        if (spec->columns[i].path.count > 1 || spec->columns[i].place != PLACE_KEEP)
            return err_DELTA_OPERATION_NOT_ALLOWED(o->err, "nested names and positions in ALTER TABLE REPLACE COLUMNS");
        fields[i] = spec->columns[i].column;
        TRY(check_new_field(run, &(field){.metadata = fields[i].metadata, .type = &type_int, .nullable = true}));
    }
    const data_type *wanted = type_struct(o->a, fields, spec->n_columns);
    if (!wanted) return exhausted(run);
    TRY(ops_schema_check(o, wanted, true)); /* duplicates would pair with one column twice */
    TRY(replace_struct(run, old, wanted, &run->target.schema));
    TRY(check_missing(run, old, wanted));
    run->operation = "REPLACE COLUMNS";
    buf text;
    buf_init(&text, BUF_MAX_DEFAULT);
    silt_status status = replaced_columns_json(run, &text);
    silt_status made = one_parameter(run, "columns", &text);
    TRY(status);
    TRY(made);
    return take_schema(run);
}

silt_status alter_columns(alter_run *run) {
    switch (run->spec->kind) {
    case ALTER_ADD_COLUMNS: return add_columns(run);
    case ALTER_RENAME_COLUMN: return rename_column(run);
    case ALTER_DROP_COLUMNS: return drop_columns(run);
    case ALTER_REPLACE_COLUMNS: return replace_columns(run);
    default: return alter_change_columns(run);
    }
}
