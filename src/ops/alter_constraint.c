/*
 * ADD CONSTRAINT … CHECK and DROP CONSTRAINT. A constraint is a table property, delta.constraints.<name in lower case>, whose text is kept as it was written (Spark writes its
 * tokens joined by spaces, which changes string literals). Before it is added every row of the table must satisfy it: TRUE, not NULL.
 */
#include "delta/protocol_upgrade.h"
#include "ops/alter_run.h"

#define PREFIX "delta.constraints."

static str constraint_key(const op *o, str name) {
    str lower = arena_str_lower(o->a, name);
    return str_is_null(lower) ? STR_NULL : arena_printf(o->a, PREFIX "%.*s", STR_ARG(lower));
}

/* Keys of another writer may not be in lower case. */
static str stored_key(const alter_run *run, str key) {
    const str_map *c = &run->target.metadata.configuration;
    for (size_t i = 0; i < c->count; i++)
        if (str_eq_fold(c->keys[i], key)) return c->keys[i];
    return STR_NULL;
}

/* ---- the rows that violate it ---- */

static silt_status count_rows(const alter_run *run, query *q, int64_t *out) {
    const op *o = run->o;
    engine_result *rows;
    TRY(engine_run(o->env->engine, q, o->env->bind, &rows, o->err));
    silt_status status = SILT_OK;
    *out = 0;
    for (;;) {
        struct ArrowArray batch;
        status = engine_result_next(rows, &batch, o->err);
        if (status != SILT_OK || !batch.release) break;
        *out += batch.length;
        batch.release(&batch);
    }
    engine_result_free(rows);
    return status;
}

static silt_status columns_of(const op *o, relation *rows, const data_type *schema, expr *e, expr **out) {
    size_t *all = ARENA_ARRAY(o->a, schema->n_fields + 1, size_t);
    if (!all) return error_no_memory(o->err);
    for (size_t i = 0; i < schema->n_fields; i++) all[i] = i;
    return ops_rows_bind(o, rows, all, schema->n_fields, e, out);
}

/* SELECT 1 FROM table WHERE NOT (constraint is TRUE) */
static silt_status violating_rows(const alter_run *run, table_source *source, query **out) {
    const op *o = run->o;
    const data_type *schema = run->target.schema;
    relation *rows;
    query *q;
    expr *condition, *one = expr_literal_i64(o->a, 1);
    const field column = field_make(STR("one"), &type_int, false);
    const data_type *output = type_struct(o->a, &column, 1);
    if (!one || !output) return error_no_memory(o->err);
    TRY(ops_rows_of_source(o, source, false, STR_NULL, &rows));
    TRY(expr_parse(run->spec->expression, o->a, &condition, o->err));
    TRY(ops_tree_is_true(o, condition, &condition));
    TRY(ops_tree_call(o, "not", condition, NULL, &condition));
    TRY(columns_of(o, rows, schema, condition, &condition));
    if (condition->is_aggregate) return err_INVALID_WHERE_CONDITION(o->err, run->spec->expression);
    TRY(expr_bind(one, NULL, o->env->bind, o->a, &one, o->err));
    expr **items = ARENA_ARRAY(o->a, 1, expr *);
    if (!items) return error_no_memory(o->err);
    items[0] = one;
    TRY(ops_rows_select(o, rows, items, output, &q));
    q->where = condition;
    *out = q;
    return expr_push_predicates(q, o->env->bind, o->a, o->err);
}

static silt_status check_rows(const alter_run *run) {
    const op *o = run->o;
    table_source *source;
    query *q;
    int64_t n = 0;
    TRY(delta_table_source(run->snapshot, &source, o->err));
    silt_status status = violating_rows(run, source, &q);
    if (status == SILT_OK) status = count_rows(run, q, &n);
    source->ops->release(source);
    if (status == SILT_OK && n > 0) status = err_DELTA_NEW_CHECK_CONSTRAINT_VIOLATION(o->err, n, run->spec->table_name, run->spec->expression);
    return status;
}

/* ---- the statements ---- */

static silt_status add_constraint(alter_run *run) {
    const op *o = run->o;
    const alter_spec *spec = run->spec;
    delta_metadata *m = &run->target.metadata;
    str key = constraint_key(o, spec->name), old = STR_NULL;
    if (str_is_null(key)) return error_no_memory(o->err);
    old = stored_key(run, key);
    if (!str_is_null(old)) return err_DELTA_CONSTRAINT_ALREADY_EXISTS(o->err, spec->name, str_map_get(&m->configuration, old));
    str_map alone = {&key, &spec->expression, 1};
    silt_status valid = ops_checks_validate(o, m->schema, &alone);
    if (valid != SILT_OK && o->err && strncmp(o->err->condition, "DATATYPE_MISMATCH.FILTER", 24) == 0)
        return err_DELTA_NON_BOOLEAN_CHECK_CONSTRAINT(o->err, spec->name, spec->expression);
    TRY(valid);
    const char *feature = "checkConstraints";
    delta_protocol with;
    TRY(delta_protocol_add_features(&run->target.protocol, &feature, 1, o->a, &with, o->err));
    run->target.protocol_changed = !ops_protocol_equal(&with, &run->target.protocol);
    if (run->target.protocol_changed) TRY(ops_protocol_upgrade(o, &run->target.protocol, &with, NULL)); /* before the work of reading the table */
    run->target.protocol = with;
    TRY(check_rows(run));
    TRY(alter_configuration_set(run, &m->configuration, key, spec->expression));
    run->target.metadata_changed = run->rewrites = true;
    json_object j;
    ops_json_object_begin(&j);
    ops_json_object_str(&j, "name", spec->name);
    ops_json_object_str(&j, "expr", spec->expression);
    run->parameters = ops_json_object_end(&j, o->a);
    run->operation = "ADD CONSTRAINT";
    return str_is_null(run->parameters) ? error_no_memory(o->err) : SILT_OK;
}

static silt_status drop_constraint(alter_run *run) {
    const op *o = run->o;
    const alter_spec *spec = run->spec;
    delta_metadata *m = &run->target.metadata;
    str key = constraint_key(o, spec->name);
    if (str_is_null(key)) return error_no_memory(o->err);
    key = stored_key(run, key);
    bool existed = !str_is_null(key);
    bool lenient = spec->if_exists || ops_setting_bool(o, "spark.databricks.delta.constraints.assumesDropIfExists.enabled", false);
    if (!existed && !lenient) return err_DELTA_CONSTRAINT_DOES_NOT_EXIST(o->err, spec->name, spec->table_name);
    json_object j;
    ops_json_object_begin(&j);
    ops_json_object_str(&j, "name", spec->name);
    if (existed) ops_json_object_str(&j, "expr", str_map_get(&m->configuration, key));
    ops_json_object_str(&j, "existed", existed ? STR("true") : STR("false"));
    run->parameters = ops_json_object_end(&j, o->a);
    if (str_is_null(run->parameters)) return error_no_memory(o->err);
    if (existed) TRY(alter_configuration_set(run, &m->configuration, key, STR_NULL));
    run->target.metadata_changed = true; /* Spark makes this commit too when nothing was there */
    run->operation = "DROP CONSTRAINT";
    return SILT_OK;
}

silt_status alter_constraint(alter_run *run) { return run->spec->kind == ALTER_ADD_CONSTRAINT ? add_constraint(run) : drop_constraint(run); }
