/* ALTER COLUMN and CHANGE COLUMN: type, comment, place, nullability and default of columns that are there. */
#include "ops/alter_run.h"

static silt_status exhausted(const alter_run *run) { return error_no_memory(run->o->err); }

static str quoted_path(name_parts path, arena *a) {
    str text = path.parts[0];
    for (size_t i = 1; i < path.count; i++) text = arena_printf(a, "%.*s`.`%.*s", STR_ARG(text), STR_ARG(path.parts[i]));
    return text;
}

/* ---- what Spark lets a type become: every value is kept ---- */

/* The order of the numeric types: a later one takes an earlier one's values, be it with fewer digits (long → float). */
static int numeric_rank(const data_type *t) { return t->id >= TYPE_BYTE && t->id <= TYPE_DOUBLE ? (int)t->id : -1; }

static bool decimal_takes(const data_type *from, const data_type *to) {
    static const int digits[] = {3, 5, 10, 20};
    if (from->id == TYPE_DECIMAL) return to->precision - to->scale >= from->precision - from->scale && to->scale >= from->scale;
    return type_is_integral(from) && to->precision - to->scale >= digits[from->id - TYPE_BYTE];
}

static bool can_upcast(const data_type *from, const data_type *to) {
    if (from->id == TYPE_VOID || type_equal(from, to)) return true;
    if (to->id == TYPE_DECIMAL) return decimal_takes(from, to);
    if (to->id == TYPE_STRING) return !type_is_nested(from) && from->id != TYPE_BINARY && from->id != TYPE_VARIANT;
    if (from->id == TYPE_DATE) return to->id == TYPE_TIMESTAMP || to->id == TYPE_TIMESTAMP_NTZ;
    if (from->id == TYPE_TIMESTAMP || from->id == TYPE_TIMESTAMP_NTZ) return to->id == TYPE_TIMESTAMP || to->id == TYPE_TIMESTAMP_NTZ;
    return numeric_rank(from) >= 0 && numeric_rank(to) > numeric_rank(from);
}

/* A limited text may be given room, never less. */
static bool text_can_become(const data_type *from, const data_type *to) {
    if (to->length == 0) return true;
    if (from->length == 0 || from->is_char > to->is_char) return from->is_char && !to->is_char && from->length && from->length <= to->length;
    if (from->is_char && to->is_char) return from->length == to->length;
    return !to->is_char && from->length <= to->length;
}

static silt_status refuse_nested(const alter_run *run, const data_type *from, str column) {
    str table = run->spec->table_name;
    if (from->id == TYPE_STRUCT) return err_CANNOT_UPDATE_STRUCT(run->o->err, table, column);
    if (from->id == TYPE_ARRAY) return err_CANNOT_UPDATE_ARRAY(run->o->err, table, column);
    return err_CANNOT_UPDATE_MAP(run->o->err, table, column);
}

static silt_status check_type_change(const alter_run *run, const data_type *from, const data_type *to, str column) {
    const op *o = run->o;
    bool both_text = from->id == TYPE_STRING && to->id == TYPE_STRING;
    if (from->id == to->id && type_is_nested(from)) return refuse_nested(run, from, column);
    if (both_text ? !text_can_become(from, to) : !can_upcast(from, to) || (to->id == TYPE_STRING && to->length > 0))
        return err_NOT_SUPPORTED_CHANGE_COLUMN(o->err, run->spec->table_name, column, type_sql(from, o->a), type_sql(to, o->a));
    bool widening_on = str_eq_ascii_fold(str_map_get(&run->target.metadata.configuration, STR("delta.enableTypeWidening")), STR("true"));
    if (both_text || (widening_on && ops_schema_is_widening(from, to))) return SILT_OK;
    return err_DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP(o->err, column, type_sql(from, o->a), type_sql(to, o->a));
}

static bool same_type(const data_type *a, const data_type *b) {
    return type_equal(a, b) && (a->id != TYPE_STRING || (a->length == b->length && a->is_char == b->is_char));
}

/* ---- one column ---- */

/** The column that is being changed: the field that the path ends in, or the nearest above an element, key or value. */
typedef struct change {
    schema_path path;
    size_t field_depth;
    field f;
    str text;    /**< of the path */
    str old_metadata;
    bool is_field; /**< the path ends in the field itself */
    bool changed;
} change;

static silt_status set_metadata(const alter_run *run, field *f, const char *key, str text) {
    str json = STR_NULL;
    if (!str_is_null(text)) {
        buf b;
        buf_init(&b, BUF_MAX_DEFAULT);
        json_write_str(&b, text);
        json = buf_take(&b, run->o->a);
        if (str_is_null(json)) return exhausted(run);
    }
    f->metadata = field_metadata_set(f->metadata.len ? f->metadata : STR("{}"), key, json, run->o->a);
    return str_is_null(f->metadata) ? exhausted(run) : SILT_OK;
}

/* "element", "value.key": from the nearest field on. */
static str inner_path(const change *c, arena *a) {
    static const char *const words[] = {[STEP_ELEMENT] = "element", [STEP_KEY] = "key", [STEP_VALUE] = "value"};
    str text = STR("");
    for (size_t i = c->field_depth; i < c->path.depth; i++)
        text = text.len ? arena_printf(a, "%.*s.%s", STR_ARG(text), words[c->path.steps[i].kind]) : str_of(words[c->path.steps[i].kind]);
    return text;
}

static silt_status change_type(alter_run *run, change *c, const column_edit *e) {
    const op *o = run->o;
    const data_type *from = schema_type_at(run->target.schema, c->path.steps, c->path.depth);
    if (!e->type || same_type(from, e->type)) return SILT_OK;
    TRY(check_type_change(run, from, e->type, c->text));
    TRY(alter_check_dependents(run, e->path));
    c->changed = true;
    if (from->id == TYPE_STRING) {
        if (!c->is_field) return err_UNSUPPORTED_FEATURE(o->err, "changing CHAR and VARCHAR inside arrays and maps");
        TRY(set_metadata(run, &c->f, "__CHAR_VARCHAR_TYPE_STRING", e->type->length ? type_simple(e->type, o->a) : STR_NULL));
    } else {
        TRY(ops_schema_record_widening(o, c->f.metadata, inner_path(c, o->a), from, e->type, &c->f.metadata));
    }
    c->f.type = schema_replace_type(c->f.type, c->path.steps + c->field_depth, c->path.depth - c->field_depth, e->type, o->a);
    return c->f.type ? SILT_OK : exhausted(run);
}

static silt_status change_nullability(const alter_run *run, change *c, const column_edit *e) {
    if (!e->set_not_null && !e->drop_not_null) return SILT_OK;
    if (!c->is_field) return err_DELTA_OPERATION_NOT_ALLOWED(run->o->err, "NOT NULL of an element, key or value");
    if (e->set_not_null && c->f.nullable)
        return err_NOT_SUPPORTED_CHANGE_COLUMN(run->o->err, run->spec->table_name, c->text, STR("nullable"), STR("NOT NULL; add a CHECK constraint instead"));
    c->f.nullable = !e->set_not_null;
    return SILT_OK;
}

static silt_status change_default(const alter_run *run, change *c, const column_edit *e) {
    if (str_is_null(e->default_text) && !e->drop_default) return SILT_OK;
    if (c->path.depth != 1) return err_DELTA_OPERATION_NOT_ALLOWED(run->o->err, "DEFAULT of a nested field");
    return set_metadata(run, &c->f, "CURRENT_DEFAULT", e->drop_default ? STR_NULL : e->default_text);
}

static silt_status change_comment(const alter_run *run, change *c, const column_edit *e) {
    if (str_is_null(e->comment)) return SILT_OK;
    if (!c->is_field) return err_DELTA_UNSUPPORTED_COMMENT_MAP_ARRAY(run->o->err, c->text);
    return set_metadata(run, &c->f, "comment", e->comment);
}

static silt_status move_column(alter_run *run, const change *c, const column_edit *e) {
    const op *o = run->o;
    if (e->place == PLACE_KEEP || !c->is_field) return SILT_OK; /* an element has no place among others */
    size_t depth = c->path.depth - 1, from = c->path.steps[depth].field, to = 0;
    const data_type *parent = schema_type_at(run->target.schema, c->path.steps, depth);
    if (e->place == PLACE_AFTER) {
        int after = schema_find(parent, e->after);
        str *sibling = ARENA_ARRAY(o->a, e->path.count, str);
        if (!sibling) return exhausted(run);
        memcpy(sibling, e->path.parts, e->path.count * sizeof *sibling);
        sibling[e->path.count - 1] = e->after;
        if (after < 0) return err_UNRESOLVED_COLUMN(o->err, quoted_path((name_parts){sibling, e->path.count}, o->a));
        to = (size_t)after == from ? from : (size_t)after < from ? (size_t)after + 1 : (size_t)after;
    }
    const data_type *moved = struct_move(parent, from, to, o->a);
    run->target.schema = moved ? schema_replace_type(run->target.schema, c->path.steps, depth, moved, o->a) : NULL;
    return run->target.schema ? SILT_OK : exhausted(run);
}

static silt_status locate(const alter_run *run, const column_edit *e, change *out) {
    const op *o = run->o;
    path_outcome found = schema_path_find(run->target.schema, e->path, &out->path);
    if (found != PATH_FOUND) {
        name_parts part = {e->path.parts, out->path.depth + (found == PATH_ABSENT ? 1 : 0)};
        if (found == PATH_ABSENT) return err_UNRESOLVED_COLUMN(o->err, quoted_path(part, o->a));
        return err_INVALID_FIELD_NAME(o->err, quoted_path(e->path, o->a), quoted_path(part, o->a));
    }
    out->f = *schema_nearest_field(run->target.schema, &out->path, &out->field_depth);
    out->old_metadata = out->f.metadata;
    out->is_field = out->field_depth == out->path.depth;
    out->text = schema_path_text(run->target.schema, out->path.steps, out->path.depth, o->a);
    return str_is_null(out->text) ? exhausted(run) : SILT_OK;
}

static silt_status change_one(alter_run *run, const column_edit *e, change *c) {
    TRY(locate(run, e, c));
    TRY(change_type(run, c, e));
    TRY(change_nullability(run, c, e));
    TRY(change_default(run, c, e));
    TRY(change_comment(run, c, e));
    run->target.schema = schema_replace_field(run->target.schema, c->path.steps, c->field_depth, &c->f, run->o->a);
    if (!run->target.schema) return exhausted(run);
    return move_column(run, c, e);
}

/* ---- all of them ---- */

static bool one_begins_the_other(name_parts a, name_parts b) {
    size_t n = a.count < b.count ? a.count : b.count;
    for (size_t i = 0; i < n; i++)
        if (!str_eq_fold(a.parts[i], b.parts[i])) return false;
    return true;
}

static silt_status check_distinct(const alter_run *run) {
    const alter_spec *spec = run->spec;
    for (size_t i = 0; i < spec->n_columns; i++)
        for (size_t k = 0; k < i; k++)
            if (one_begins_the_other(spec->columns[i].path, spec->columns[k].path))
                return err_NOT_SUPPORTED_CHANGE_SAME_COLUMN(run->o->err, spec->table_name, quoted_path(spec->columns[k].path, run->o->a));
    return SILT_OK;
}

/* commitInfo shows the column as it is afterwards, but the record of its types as it was; elements, keys and values have no metadata. */
static silt_status column_json(const alter_run *run, const change *c, buf *out) {
    field f = c->f;
    if (c->is_field) {
        field before = {.metadata = c->old_metadata};
        const json_node *types = field_metadata_get(&before, "delta.typeChanges", run->o->a);
        buf b;
        buf_init(&b, BUF_MAX_DEFAULT);
        if (types) json_write_node(&b, types);
        str text = types ? arena_str(run->o->a, buf_str(&b)) : STR_NULL;
        bool ok = buf_ok(&b) && (!types || text.ptr);
        buf_dispose(&b);
        if (!ok) return exhausted(run);
        f.metadata = field_metadata_set(f.metadata.len ? f.metadata : STR("{}"), "delta.typeChanges", text, run->o->a);
    } else {
        const data_type *type = schema_type_at(c->f.type, c->path.steps + c->field_depth, c->path.depth - c->field_depth);
        f = (field){.type = type, .nullable = c->path.steps[c->path.depth - 1].kind != STEP_KEY, .metadata = STR("{}")};
    }
    if (str_is_null(f.metadata)) return exhausted(run);
    alter_column_json(out, c->text, &f);
    return SILT_OK;
}

static void add_position(buf *out, const column_edit *e, bool in_object) {
    if (e->place == PLACE_KEEP) return;
    if (in_object) out->len--; /* the closing brace comes behind it */
    str text = e->after;
    buf_append_z(out, ",\"position\":");
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    if (e->place == PLACE_FIRST) buf_append_z(&b, "FIRST");
    else buf_printf(&b, "AFTER %.*s", STR_ARG(text));
    json_write_str(out, buf_str(&b));
    buf_dispose(&b);
    if (in_object) buf_append_char(out, '}');
}

static silt_status one_parameter(alter_run *run, const change *c) {
    buf column;
    json_object j;
    buf_init(&column, BUF_MAX_DEFAULT);
    silt_status status = column_json(run, c, &column);
    ops_json_object_begin(&j);
    ops_json_object_str(&j, "column", buf_str(&column));
    add_position(&j.text, &run->spec->columns[0], false);
    run->parameters = ops_json_object_end(&j, run->o->a);
    buf_dispose(&column);
    TRY(status);
    return str_is_null(run->parameters) ? exhausted(run) : SILT_OK;
}

static silt_status many_parameters(alter_run *run, const change *changes) {
    buf list;
    json_object j;
    silt_status status = SILT_OK;
    buf_init(&list, BUF_MAX_DEFAULT);
    buf_append_char(&list, '[');
    for (size_t i = 0; status == SILT_OK && i < run->spec->n_columns; i++) {
        if (i) buf_append_char(&list, ',');
        status = column_json(run, &changes[i], &list);
        add_position(&list, &run->spec->columns[i], true);
    }
    buf_append_char(&list, ']');
    ops_json_object_begin(&j);
    if (!buf_ok(&list)) j.text.failed = true;
    ops_json_object_str(&j, "columns", buf_str(&list));
    run->parameters = ops_json_object_end(&j, run->o->a);
    buf_dispose(&list);
    TRY(status);
    return str_is_null(run->parameters) ? exhausted(run) : SILT_OK;
}

/* A default that gives another value each time would make the rows of one INSERT differ for no visible reason; Spark refuses it. */
static bool is_steady(void *ctx, expr *e) {
    static const char *const unsteady[] = {"rand", "random", "randn", "uuid", "shuffle", "monotonically_increasing_id", "spark_partition_id", "randstr", "uniform", "input_file_name"};
    (void)ctx;
    for (size_t i = 0; e->kind == EXPR_CALL && i < ARRAY_LEN(unsteady); i++)
        if (str_eq_ascii_fold(e->function_name, str_of(unsteady[i]))) return false;
    return true;
}

static silt_status refuse_changing_defaults(const alter_run *run) {
    for (size_t i = 0; i < run->spec->n_columns; i++) {
        const column_edit *e = &run->spec->columns[i];
        expr *parsed;
        if (str_is_null(e->default_text)) continue;
        TRY(expr_parse(e->default_text, run->o->a, &parsed, run->o->err));
        if (expr_walk(parsed, is_steady, NULL)) continue;
        return err_INVALID_DEFAULT_NON_DETERMINISTIC(run->o->err, e->path.parts[0], e->default_text);
    }
    return SILT_OK;
}

silt_status alter_change_columns(alter_run *run) {
    size_t n = run->spec->n_columns;
    change *changes = ARENA_ARRAY(run->o->a, n + 1, change);
    bool redundant = true;
    if (!changes) return exhausted(run);
    TRY(check_distinct(run));
    TRY(refuse_changing_defaults(run));
    for (size_t i = 0; i < n; i++) {
        TRY(change_one(run, &run->spec->columns[i], &changes[i]));
        redundant = redundant && run->spec->columns[i].is_redundant && !changes[i].changed;
    }
    run->nothing = redundant;
    if (redundant) return SILT_OK;
    run->operation = n == 1 ? "CHANGE COLUMN" : "CHANGE COLUMNS";
    TRY(n == 1 ? one_parameter(run, &changes[0]) : many_parameters(run, changes));
    const data_type *schema = run->target.schema;
    run->target.schema = run->target.metadata.schema;
    TRY(ops_write_target_set_schema(run->o, &run->target, schema));
    return ops_schema_check_defaults(run->o, run->target.schema, &run->target.protocol);
}
