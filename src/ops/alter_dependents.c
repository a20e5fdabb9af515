/* What speaks of a column by its name: CHECK constraints, generated columns and delta.dataSkippingStatsColumns. The first two stop a change of the column, the last follows it. */
#include "expr/parser.h"
#include "ops/alter_run.h"

/* ---- expressions ---- */

typedef struct name_search {
    name_parts path;
    bool found;
} name_search;

/* a.b speaks of a, of a.b and of a.b.c: one is the beginning of the other. */
static bool overlap(name_parts a, name_parts b) {
    size_t n = a.count < b.count ? a.count : b.count;
    for (size_t i = 0; i < n; i++)
        if (!str_eq_fold(a.parts[i], b.parts[i])) return false;
    return true;
}

static bool looks_at(void *ctx, expr *e) {
    name_search *s = ctx;
    if (e->kind == EXPR_COLUMN && e->name.count > 0 && overlap(e->name, s->path)) s->found = true;
    return !s->found;
}

static silt_status speaks_of(const op *o, str text, name_parts path, bool *out) {
    expr *e;
    name_search s = {path, false};
    TRY(expr_parse(text, o->a, &e, o->err));
    expr_walk(e, looks_at, &s);
    *out = s.found;
    return SILT_OK;
}

static silt_status note_if(const op *o, str what, str text, name_parts path, buf *list) {
    bool found;
    TRY(speaks_of(o, text, path, &found));
    if (found) buf_printf(list, "%s%.*s -> %.*s", list->len ? ", " : "", STR_ARG(what), STR_ARG(text));
    return SILT_OK;
}

static silt_status constraints_of(const alter_run *run, name_parts path, buf *list) {
    const str_map *c = &run->target.metadata.configuration;
    for (size_t i = 0; i < c->count; i++)
        if (str_starts_with(c->keys[i], STR("delta.constraints."))) TRY(note_if(run->o, c->keys[i], c->values[i], path, list));
    return SILT_OK;
}

static silt_status generated_from(const alter_run *run, name_parts path, buf *list) {
    const data_type *schema = run->target.schema;
    for (size_t i = 0; i < schema->n_fields; i++) {
        const json_node *text = field_metadata_get(&schema->fields[i], "delta.generationExpression", run->o->a);
        if (text && text->type == JSON_STRING) TRY(note_if(run->o, schema->fields[i].name, text->text, path, list));
    }
    return SILT_OK;
}

static str joined(name_parts path, arena *a) {
    str text = path.parts[0];
    for (size_t i = 1; i < path.count; i++) text = arena_printf(a, "%.*s.%.*s", STR_ARG(text), STR_ARG(path.parts[i]));
    return text;
}

silt_status alter_check_dependents(const alter_run *run, name_parts path) {
    const op *o = run->o;
    buf constraints, generated;
    buf_init(&constraints, BUF_MAX_DEFAULT);
    buf_init(&generated, BUF_MAX_DEFAULT);
    silt_status status = constraints_of(run, path, &constraints);
    if (status == SILT_OK) status = generated_from(run, path, &generated);
    if (status == SILT_OK && constraints.len) status = err_DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE(o->err, joined(path, o->a), buf_str(&constraints));
    if (status == SILT_OK && generated.len) status = err_DELTA_GENERATED_COLUMNS_DEPENDENT_COLUMN_CHANGE(o->err, joined(path, o->a), buf_str(&generated));
    buf_dispose(&constraints);
    buf_dispose(&generated);
    return status;
}

/* ---- the columns with statistics ---- */

static void write_name(buf *out, name_parts name, size_t renamed, str new_name) {
    if (out->len) buf_append_char(out, ',');
    for (size_t i = 0; i < name.count; i++) {
        if (i) buf_append_char(out, '.');
        identifier_write(out, i == renamed ? new_name : name.parts[i]);
    }
}

static silt_status rewrite_list(const alter_run *run, str text, name_parts path, str new_name, buf *out) {
    parser p;
    TRY(parser_init(&p, text, run->o->a, run->o->err));
    do {
        name_parts name;
        TRY(parser_name(&p, &name));
        bool below = name.count >= path.count && overlap(name, path);
        if (below && str_is_null(new_name)) continue;
        write_name(out, name, below ? path.count - 1 : SIZE_MAX, new_name);
    } while (parser_accept_op(&p, ","));
    return parser_expect_end(&p);
}

silt_status alter_stats_columns(const alter_run *run, str_map *configuration, name_parts path, str new_name) {
    static const char key[] = "delta.dataSkippingStatsColumns";
    str text = str_map_get(configuration, str_of(key)), changed;
    if (text.len == 0) return SILT_OK;
    buf out;
    buf_init(&out, BUF_MAX_DEFAULT);
    silt_status status = rewrite_list(run, text, path, new_name, &out);
    changed = buf_take(&out, run->o->a);
    TRY(status);
    return str_is_null(changed) ? error_no_memory(run->o->err) : alter_configuration_set(run, configuration, str_of(key), changed);
}
