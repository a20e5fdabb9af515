/*
 * The change data feed in queries: table_changes('t', from [, to]) and table_changes_by_path('/p', from [, to]) as FROM items, and the reader options readChangeFeed,
 * startingVersion, startingTimestamp, endingVersion, endingTimestamp of a table. Versions are whole numbers, times are strings or timestamps; both ends are included.
 */
#include "ops/changes.h"
#include "expr/tree_tools.h"
#include "sql/run.h"

typedef struct changes_request {
    resolved_table table;
    change_boundary from, to;
} changes_request;

static void release_source(void *source) {
    table_source *t = source;
    t->ops->release(t);
}

static silt_status load_changes(run *r, const changes_request *q, arena *a, table_source *out[2], size_t *out_n,
                                silt_error *err) {
    delta_snapshot *latest;
    if (!str_eqz(q->table.format, "delta")) return err_DELTA_TABLE_ONLY_OPERATION(err, q->table.display);
    silt_status opened = open_snapshot(r, &q->table, NULL, &latest, err);
    if (opened == SILT_NOT_FOUND && !q->table.in_catalog) return err_DELTA_MISSING_DELTA_TABLE(err, q->table.location);
    TRY(opened);
    const ops_env env = run_ops_env(r, delta_snapshot_env(latest));
    TRY(ops_changes(&env, &(changes_spec){.latest = latest, .from = q->from, .to = q->to}, out, out_n, err));
    for (size_t i = 0; i < *out_n; i++)
        if (!arena_defer(a, release_source, out[i])) {
            for (; i < *out_n; i++) release_source(out[i]);
            return error_no_memory(err);
        }
    return SILT_OK;
}

/* ---- as a function ---- */

static silt_status constant(run *r, str function, expr *e, value *out, silt_error *err) {
    expr *bound;
    TRY(expr_bind(e, NULL, &r->bind, r->a, &bound, err));
    TRY(expr_fold(bound, &r->bind, r->a, out, err));
    return out->is_null ? err_DELTA_CDC_READ_NULL_RANGE_BOUNDARY(err, function) : SILT_OK;
}

static silt_status boundary_argument(run *r, str function, expr *e, change_boundary *out, silt_error *err) {
    expr *again = expr_clone(e, r->a); /* binding is in place */
    value v;
    if (!again) return error_no_memory(err);
    TRY(constant(r, function, e, &v, err));
    if (type_is_integral(v.type)) {
        *out = (change_boundary){.has_version = true, .version = v.as.i64};
        return SILT_OK;
    }
    if (v.type->id != TYPE_STRING && v.type->id != TYPE_TIMESTAMP && v.type->id != TYPE_TIMESTAMP_NTZ)
        return err_DELTA_UNSUPPORTED_EXPRESSION(err, type_sql(v.type, r->a), function,
                                                "a version (a whole number) or a time (a string or a timestamp)");
    *out = (change_boundary){.has_time = true};
    return fold_timestamp_ms(r, again, &out->time_ms, err);
}

static silt_status function_table(run *r, bool by_path, const value *name, resolved_table *out, silt_error *err) {
    relation rel = {.kind = REL_TABLE};
    parser p;
    str text = name->as.bytes;
    if (!by_path) {
        TRY(parser_init(&p, text, r->a, err));
        TRY(parser_name(&p, &rel.name));
        TRY(parser_expect_end(&p));
        return resolve_table(r, &rel, false, out, err);
    }
    *out =
        (resolved_table){.format = STR("delta"), .location = text, .display = arena_printf(r->a, "delta.`%.*s`", STR_ARG(text))};
    if (str_is_null(out->display)) return error_no_memory(err);
    return resolve_location(r->s, text, r->a, &out->store, &out->root, err);
}

silt_status resolve_changes_function(table_resolver *self, str name, expr *const *args, size_t n_args, arena *a,
                                     table_source *out[2], size_t *out_n, silt_error *err) {
    run *r = self->ctx;
    changes_request q = {.from = {0}};
    value table;
    bool by_path = str_eq_ascii_fold(name, STR("table_changes_by_path"));
    *out_n = 0;
    if (!by_path && !str_eq_ascii_fold(name, STR("table_changes"))) return SILT_OK;
    if (n_args < 2 || n_args > 3) return err_WRONG_NUM_ARGS(err, name, STR("[2, 3]"), (int64_t)n_args);
    TRY(constant(r, name, args[0], &table, err));
    if (table.type->id != TYPE_STRING)
        return err_DELTA_UNSUPPORTED_EXPRESSION(err, type_sql(table.type, r->a), name, "the table's name or path as a string");
    TRY(function_table(r, by_path, &table, &q.table, err));
    TRY(boundary_argument(r, name, args[1], &q.from, err));
    if (n_args == 3) TRY(boundary_argument(r, name, args[2], &q.to, err));
    return load_changes(r, &q, a, out, out_n, err);
}

/* ---- as reader options ---- */

static str option(const relation *rel, const char *key) {
    for (size_t i = 0; i < rel->n_options; i++)
        if (str_eq_ascii_fold(rel->option_keys[i], str_of(key))) return rel->option_values[i];
    return STR_NULL;
}

static void write_quoted(buf *b, str text) {
    buf_append_char(b, '\'');
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '\'' || text.ptr[i] == '\\') buf_append_char(b, '\\');
        buf_append_char(b, text.ptr[i]);
    }
    buf_append_char(b, '\'');
}

/* , 3 or , 'time' */
static silt_status write_boundary(buf *b, const relation *rel, const char *version_key, const char *time_key, const char *what,
                                  bool *out_given, silt_error *err) {
    str version = option(rel, version_key), time = option(rel, time_key);
    int64_t number;
    *out_given = version.ptr || time.ptr;
    if (version.ptr && time.ptr) return err_DELTA_MULTIPLE_CDC_BOUNDARY(err, what);
    if (!*out_given) return SILT_OK;
    buf_append_z(b, ", ");
    if (time.ptr) {
        write_quoted(b, time);
    } else if (str_eq_ascii_fold(version, STR("latest"))) {
        return err_INVALID_PARAMETER_VALUE(err, str_of(version_key), version, "a version");
    } else if (str_to_i64(str_trim(version), &number) && number >= 0) {
        buf_printf(b, "%lldL", (long long)number);
    } else {
        return err_INVALID_PARAMETER_VALUE(err, str_of(version_key), version, "a version");
    }
    return SILT_OK;
}

bool relation_reads_changes(const relation *rel) {
    str on = option(rel, "readChangeFeed");
    if (!on.ptr) on = option(rel, "readChangeData");
    return str_eq_ascii_fold(on, STR("true"));
}

silt_status resolve_change_options(run *r, const resolved_table *t, const relation *rel, str *out_view, silt_error *err) {
    bool from, to;
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    if (rel->travel.version || rel->travel.timestamp) return err_DELTA_UNSUPPORTED_TIME_TRAVEL_MULTIPLE_FORMATS(err, t->display);
    buf_append_z(&b, "SELECT * FROM table_changes_by_path(");
    write_quoted(&b, t->location);
    silt_status status = write_boundary(&b, rel, "startingVersion", "startingTimestamp", "starting", &from, err);
    if (status == SILT_OK && !from) status = err_DELTA_NO_START_FOR_CDC_READ(err);
    if (status == SILT_OK) status = write_boundary(&b, rel, "endingVersion", "endingTimestamp", "ending", &to, err);
    buf_append_char(&b, ')');
    *out_view = buf_take(&b, r->a);
    TRY(status);
    return str_is_null(*out_view) ? error_no_memory(err) : SILT_OK;
}
