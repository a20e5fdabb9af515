/*
 * The change data feed in queries: table_changes('t', from [, to]) and table_changes_by_path('/p', from [, to]) as FROM items, and the reader options readChangeFeed,
 * startingVersion, startingTimestamp, endingVersion, endingTimestamp of a table. Versions are whole numbers, times are strings, timestamps or dates; both ends are included.
 *
 * The rows have the schema of the newest version; with column mapping that of the end of the range (spark.databricks.delta.changeDataFeed.
 * defaultSchemaModeForColumnMappingTable), because names may have changed since.
 */
#include "delta/changes.h"
#include "delta/properties.h"
#include "expr/tree_tools.h"
#include "sql/run.h"

#define FEED_CONF "spark.databricks.delta.changeDataFeed."

/** One end of a range; at most one of the two is set. */
typedef struct boundary {
    bool has_version, has_time;
    int64_t version, time_ms;
} boundary;

typedef struct changes_request {
    resolved_table table;
    boundary from, to;
} changes_request;

/* ---- the range ---- */

/* The time is behind the newest commit. */
static bool is_late(silt_status status, const silt_error *why) {
    return status != SILT_OK && strcmp(why->condition, "DELTA_TIMESTAMP_GREATER_THAN_COMMIT") == 0;
}

static silt_status first_version(const delta_snapshot *latest, const boundary *b, bool may_exceed, int64_t *out, silt_error *err) {
    silt_error why = {0};
    *out = b->version;
    if (!b->has_time) return SILT_OK;
    silt_status status = delta_changes_version_from(delta_snapshot_env(latest), delta_snapshot_root(latest), b->time_ms, out, &why);
    if (may_exceed && is_late(status, &why)) {
        *out = delta_snapshot_version(latest) + 1;
        return SILT_OK;
    }
    if (status != SILT_OK && err) *err = why;
    return status;
}

static silt_status last_version(const delta_snapshot *latest, const boundary *b, bool may_exceed, int64_t *out, silt_error *err) {
    int64_t newest = delta_snapshot_version(latest);
    silt_error why = {0};
    *out = b->has_version ? b->version : newest;
    if (!b->has_time) return SILT_OK;
    silt_status status = delta_version_at(delta_snapshot_env(latest), delta_snapshot_root(latest), b->time_ms, out, &why);
    if (may_exceed && is_late(status, &why)) {
        *out = newest;
        return SILT_OK;
    }
    if (status != SILT_OK && err) *err = why;
    return status;
}

static silt_status find_range(run *r, const delta_snapshot *latest, const changes_request *q, int64_t *from, int64_t *to, silt_error *err) {
    bool may_exceed = session_flag(r->s, FEED_CONF "timestampOutOfRange.enabled", false);
    int64_t newest = delta_snapshot_version(latest);
    TRY(first_version(latest, &q->from, may_exceed, from, err));
    TRY(last_version(latest, &q->to, may_exceed, to, err));
    if (*from < 0) return err_DELTA_LOG_FILE_NOT_FOUND(err, arena_printf(r->a, "_delta_log/%020lld.json", (long long)*from));
    if (*from > newest && may_exceed) {
        *to = *from - 1; /* no versions */
        return SILT_OK;
    }
    if (*from > newest) return err_DELTA_CDC_START_VERSION_AFTER_LATEST(err, *from, newest);
    if (*to < *from) return err_DELTA_INVALID_CDC_RANGE(err, *from, *to);
    if (*to > newest) *to = newest;
    return SILT_OK;
}

/* ---- the sources ---- */

static void release_source(void *source) {
    table_source *t = source;
    t->ops->release(t);
}

static bool is_mapped(const delta_snapshot *s) {
    str mode = delta_config_str(&delta_snapshot_metadata(s)->configuration, "delta.columnMapping.mode");
    return mode.len > 0 && !str_eq_ascii_fold(mode, STR("none"));
}

/* The snapshot whose schema the rows have. */
static silt_status read_snapshot(run *r, const resolved_table *t, delta_snapshot *latest, int64_t to, delta_snapshot **out, silt_error *err) {
    str mode = session_get(r->s, STR(FEED_CONF "defaultSchemaModeForColumnMappingTable"));
    bool by_end = is_mapped(latest) && (mode.len == 0 || str_eq_ascii_fold(mode, STR("endVersion")));
    *out = latest;
    if (!by_end || to == delta_snapshot_version(latest)) return SILT_OK;
    travel_spec travel = {.version = expr_literal_i64(r->a, to)};
    return travel.version ? open_snapshot(r, t, &travel, out, err) : error_no_memory(err);
}

static silt_status load_changes(run *r, const changes_request *q, arena *a, table_source *out[2], size_t *out_n, silt_error *err) {
    delta_snapshot *latest;
    delta_changes_spec spec = {.unsafe = session_flag(r->s, FEED_CONF "unsafeBatchReadOnIncompatibleSchemaChanges.enabled", false)};
    if (!str_eqz(q->table.format, "delta")) return err_DELTA_TABLE_ONLY_OPERATION(err, q->table.display);
    silt_status opened = open_snapshot(r, &q->table, NULL, &latest, err);
    if (opened == SILT_NOT_FOUND && !q->table.in_catalog) return err_DELTA_MISSING_DELTA_TABLE(err, q->table.location);
    TRY(opened);
    TRY(find_range(r, latest, q, &spec.from, &spec.to, err));
    delta_snapshot *read;
    TRY(read_snapshot(r, &q->table, latest, spec.to < spec.from ? delta_snapshot_version(latest) : spec.to, &read, err));
    spec.read = read;
    TRY(delta_changes_load(&spec, out, out_n, err));
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

static silt_status boundary_argument(run *r, str function, expr *e, boundary *out, silt_error *err) {
    expr *again = expr_clone(e, r->a); /* binding is in place */
    value v;
    if (!again) return error_no_memory(err);
    TRY(constant(r, function, e, &v, err));
    if (type_is_integral(v.type)) {
        *out = (boundary){.has_version = true, .version = v.as.i64};
        return SILT_OK;
    }
    if (v.type->id != TYPE_STRING && v.type->id != TYPE_TIMESTAMP && v.type->id != TYPE_TIMESTAMP_NTZ)
        return err_DELTA_UNSUPPORTED_EXPRESSION(err, type_sql(v.type, r->a), function, "a version (a whole number) or a time (a string or a timestamp)");
    *out = (boundary){.has_time = true};
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
    *out = (resolved_table){.format = STR("delta"), .location = text, .display = arena_printf(r->a, "delta.`%.*s`", STR_ARG(text))};
    if (str_is_null(out->display)) return error_no_memory(err);
    return resolve_location(r->s, text, r->a, &out->store, &out->root, err);
}

silt_status resolve_changes_function(table_resolver *self, str name, expr *const *args, size_t n_args, arena *a, table_source *out[2],
                                     size_t *out_n, silt_error *err) {
    run *r = self->ctx;
    changes_request q = {.from = {0}};
    value table;
    bool by_path = str_eq_ascii_fold(name, STR("table_changes_by_path"));
    *out_n = 0;
    if (!by_path && !str_eq_ascii_fold(name, STR("table_changes"))) return SILT_OK;
    if (n_args < 2 || n_args > 3) return err_WRONG_NUM_ARGS(err, name, STR("[2, 3]"), (int64_t)n_args);
    TRY(constant(r, name, args[0], &table, err));
    if (table.type->id != TYPE_STRING) return err_DELTA_UNSUPPORTED_EXPRESSION(err, type_sql(table.type, r->a), name, "the table's name or path as a string");
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
static silt_status write_boundary(buf *b, const relation *rel, const char *version_key, const char *time_key, const char *what, bool *out_given, silt_error *err) {
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
    *out_view = buf_ok(&b) ? arena_str(r->a, buf_str(&b)) : STR_NULL;
    buf_dispose(&b);
    TRY(status);
    return str_is_null(*out_view) ? error_no_memory(err) : SILT_OK;
}
