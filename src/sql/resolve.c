/*
 * Names to tables: temporary views, the catalog's tables and views, and path tables (delta.`/p`, parquet.`/p`, csv.`/p`, json.`/p`), with time travel by clause or by
 * the path forms `/p@v12` and `/p@20260131100000000`.
 */
#include <stdlib.h>

#include "base/time.h"
#include "sql/run.h"

str name_join(name_parts name, arena *a) {
    str joined = name.count ? name.parts[0] : STR("");
    for (size_t i = 1; i < name.count; i++) joined = arena_printf(a, "%.*s`.`%.*s", STR_ARG(joined), STR_ARG(name.parts[i]));
    return joined;
}

static str lower_name(str s, arena *a) {
    char *copy = arena_cstr(a, s);
    for (size_t i = 0; copy && i < s.len; i++)
        if (copy[i] >= 'A' && copy[i] <= 'Z') copy[i] = (char)(copy[i] | 0x20);
    return (str){copy, copy ? s.len : 0};
}

silt_status split_name(run *r, name_parts name, str *database, str *table, silt_error *err) {
    size_t n = name.count;
    if (n == 3 && str_eq_ascii_fold(name.parts[0], STR("spark_catalog"))) {
        name.parts++;
        n--;
    }
    if (n > 2) return err_TABLE_OR_VIEW_NOT_FOUND(err, name_join(name, r->a));
    *database = n == 2 ? lower_name(name.parts[0], r->a) : r->s->database;
    *table = lower_name(name.parts[n - 1], r->a);
    return database->ptr && table->ptr ? SILT_OK : error_no_memory(err);
}

silt_status resolve_location(session *s, str location, arena *a, store **out_store, str *out_root, silt_error *err) {
    TRY(store_registry_find(s->stores, location, a, out_store, out_root, err));
    while (out_root->len > 1 && out_root->ptr[out_root->len - 1] == '/') out_root->len--;
    return SILT_OK;
}

/* As they are now: SET may have changed them. */
static silt_status checkpoint_settings(session *s, delta_env *env, silt_error *err) {
    str format = session_get(s, STR("spark.databricks.delta.checkpointV2.topLevelFileFormat")), rows = session_get(s, STR("spark.databricks.delta.checkpoint.partSize"));
    env->checkpoint_top_parquet = str_eq_ascii_fold(format, STR("parquet"));
    env->checkpoint_part_rows = 0;
    if (format.len && !env->checkpoint_top_parquet && !str_eq_ascii_fold(format, STR("json")))
        return err_INVALID_PARAMETER_VALUE(err, STR("spark.databricks.delta.checkpointV2.topLevelFileFormat"), format, "json or parquet");
    bool good = rows.len == 0 || (str_to_i64(rows, &env->checkpoint_part_rows) && env->checkpoint_part_rows > 0);
    return good ? SILT_OK : err_INVALID_PARAMETER_VALUE(err, STR("spark.databricks.delta.checkpoint.partSize"), rows, "a whole number above 0");
}

silt_status session_env(session *s, store *st, delta_env **out, silt_error *err) {
    for (size_t i = 0; i < s->n_envs; i++) {
        if (s->envs[i]->store == st) {
            *out = s->envs[i];
            return checkpoint_settings(s, *out, err);
        }
    }
    TRY(session_need_engine(s, err));
    delta_env *env = ARENA_NEW(s->a, delta_env);
    if (!env) return error_no_memory(err);
    *env = (delta_env){.store = st, .stores = s->stores, .parquet = engine_parquet(s->engine), .cancel = s->cancel};
    if (!ARENA_PUSH(s->a, s->envs, s->n_envs, s->envs_capacity, env)) return error_no_memory(err);
    *out = env;
    return checkpoint_settings(s, env, err);
}

static bool is_path_format(str word) {
    static const char *const formats[] = {"delta", "parquet", "csv", "json", "text", "orc"};
    for (size_t i = 0; i < ARRAY_LEN(formats); i++)
        if (str_eq_ascii_fold(word, str_of(formats[i]))) return true;
    return false;
}

static const temp_view *find_view(const session *s, str name) {
    for (size_t i = 0; i < s->n_views; i++)
        if (str_eq_fold(s->views[i].name, name)) return &s->views[i];
    return NULL;
}

static bool is_in_quotes(const run *r, const relation *rel) {
    str text = r->bind.source_text;
    return rel->span.from < text.len && (text.ptr[rel->span.from] == '\'' || text.ptr[rel->span.from] == '"');
}

static silt_status path_table(run *r, const relation *rel, resolved_table *out, silt_error *err) {
    out->in_quotes = is_in_quotes(r, rel);
    out->format = lower_name(rel->name.parts[0], r->a);
    out->location = rel->name.parts[1];
    out->display = arena_printf(r->a, "%.*s.`%.*s`", STR_ARG(out->format), STR_ARG(out->location));
    if (str_eqz(out->format, "text") || str_eqz(out->format, "orc")) return err_UNSUPPORTED_FEATURE(err, "reading text and ORC files");
    bool is_glob = !str_eqz(out->format, "delta");
    return is_glob ? SILT_OK : resolve_location(r->s, out->location, r->a, &out->store, &out->root, err);
}

silt_status resolve_table(run *r, const relation *rel, bool may_be_absent, resolved_table *out, silt_error *err) {
    *out = (resolved_table){.display = name_join(rel->name, r->a)};
    if (rel->name.count == 1 && find_view(r->s, rel->name.parts[0])) {
        out->format = STR("view");
        out->entry.view_text = find_view(r->s, rel->name.parts[0])->text;
        return SILT_OK;
    }
    silt_error miss = {0};
    TRY(split_name(r, rel->name, &out->database, &out->name, err));
    silt_status found = r->s->catalog->ops->get_table(r->s->catalog, out->database, out->name, r->a, &out->entry, &miss);
    if (found == SILT_OK) {
        out->in_catalog = true;
        out->format = out->entry.is_view ? STR("view") : out->entry.provider;
        out->location = out->entry.location;
        return out->entry.is_view ? SILT_OK : resolve_location(r->s, out->location, r->a, &out->store, &out->root, err);
    }
    if (found != SILT_NOT_FOUND) {
        if (err) *err = miss;
        return found;
    }
    if (rel->name.count == 2 && is_path_format(rel->name.parts[0])) {
        out->database = out->name = STR_NULL;
        return path_table(r, rel, out, err);
    }
    if (may_be_absent) {
        if (strcmp(miss.condition, "SCHEMA_NOT_FOUND") != 0) return SILT_OK;
        if (err) *err = miss;
        return found;
    }
    silt_status s = err_TABLE_OR_VIEW_NOT_FOUND(err, out->display);
    if (rel->span.to > rel->span.from && r->bind.source_text.len >= rel->span.to) error_detail(err, "%.*s", STR_ARG(lexer_caret(r->bind.source_text, rel->span.from, r->a)));
    return s;
}

/* ---- time travel ---- */

/* yyyyMMddHHmmssSSS in the session's zone → text that the binder can cast. */
static bool compact_timestamp(str digits, arena *a, str *out) {
    if (digits.len != 17) return false;
    for (size_t i = 0; i < 17; i++)
        if (digits.ptr[i] < '0' || digits.ptr[i] > '9') return false;
    const char *d = digits.ptr;
    *out = arena_printf(a, "%.4s-%.2s-%.2s %.2s:%.2s:%.2s.%.3s", d, d + 4, d + 6, d + 8, d + 10, d + 12, d + 14);
    return out->ptr != NULL;
}

silt_status fold_timestamp_us(run *r, expr *e, int64_t *out_us, silt_error *err) {
    expr *bound;
    value v;
    TRY(expr_bind(e, NULL, &r->bind, r->a, &bound, err));
    str shown = bound->kind == EXPR_LITERAL && bound->type->id == TYPE_STRING ? bound->literal.as.bytes : str_slice(r->bind.source_text, e->span.from, e->span.to);
    bool numeric = type_is_numeric(bound->type);
    silt_error cast = {0};
    silt_status s = numeric ? SILT_INVALID : expr_coerce(bound, &type_timestamp, CAST_EXPLICIT, STR("timestamp"), &r->bind, r->a, &bound, &cast);
    if (s == SILT_OK) s = expr_fold(bound, &r->bind, r->a, &v, &cast);
    if (s == SILT_NO_MEMORY) return error_no_memory(err);
    if (s != SILT_OK || v.is_null) return err_DELTA_TIMESTAMP_INVALID(err, shown);
    *out_us = v.as.i64;
    return SILT_OK;
}

silt_status fold_timestamp_ms(run *r, expr *e, int64_t *out_ms, silt_error *err) {
    int64_t us;
    TRY(fold_timestamp_us(r, e, &us, err));
    *out_ms = us >= 0 ? us / 1000 : -((999 - us) / 1000);
    return SILT_OK;
}

silt_status fold_version(run *r, const travel_spec *travel, int64_t *out, silt_error *err) {
    expr *bound;
    value v;
    TRY(expr_bind(travel->version, NULL, &r->bind, r->a, &bound, err));
    TRY(expr_fold(bound, &r->bind, r->a, &v, err));
    bool ok = !v.is_null && (type_is_integral(v.type) ? (*out = v.as.i64, true) : v.type->id == TYPE_STRING && str_to_i64(v.as.bytes, out));
    if (!ok || *out < 0) return err_INVALID_TIME_TRAVEL_VERSION(err, str_slice(r->bind.source_text, travel->version->span.from, travel->version->span.to));
    return SILT_OK;
}

/* path@v12 / path@timestamp, tried only where no table is at the whole path. */
static silt_status split_at_form(run *r, const delta_env *env, const resolved_table *t, str *root, travel_spec *travel, silt_error *err) {
    if (t->in_catalog) return SILT_OK;
    size_t at = str_rfind_char(t->root, '@');
    if (at == SIZE_MAX || at + 1 >= t->root.len) return SILT_OK;
    bool exists;
    TRY(delta_table_exists(env, t->root, &exists, err));
    if (exists) return SILT_OK;
    str tail = str_slice(t->root, at + 1, t->root.len), text;
    int64_t version;
    expr *e = NULL;
    bool is_version = (tail.ptr[0] | 0x20) == 'v' && str_to_i64(str_slice(tail, 1, tail.len), &version) && version >= 0;
    if (is_version) e = travel->version = expr_literal_i64(r->a, version);
    else if (compact_timestamp(tail, r->a, &text)) e = travel->timestamp = expr_literal_str(r->a, text);
    else return SILT_OK;
    if (!e) return error_no_memory(err);
    *root = str_slice(t->root, 0, at);
    return SILT_OK;
}

static cached_snapshot *find_cached(session *s, store *st, str root) {
    for (size_t i = 0; i < SNAPSHOT_CACHE_SIZE; i++)
        if (s->cache[i].snapshot && s->cache[i].store == st && str_eq(s->cache[i].root, root)) return &s->cache[i];
    return NULL;
}

/* The newest snapshot, by way of the one seen last: a session's next statement replays only what is new. */
static silt_status latest_snapshot(session *s, const delta_env *env, str root, delta_snapshot **out, silt_error *err) {
    cached_snapshot *c = find_cached(s, env->store, root);
    delta_snapshot *fresh;
    if (c) {
        silt_status status = delta_snapshot_update(env, c->snapshot, &fresh, err);
        if (status != SILT_OK) {
            delta_snapshot_release(c->snapshot);
            *c = (cached_snapshot){0};
            return status;
        }
        delta_snapshot_release(c->snapshot);
        c->snapshot = fresh;
    } else {
        TRY(delta_snapshot_load(env, root, DELTA_LATEST, &fresh, err));
        c = &s->cache[s->cache_next++ % SNAPSHOT_CACHE_SIZE];
        delta_snapshot_release(c->snapshot);
        *c = (cached_snapshot){.root = delta_snapshot_root(fresh), .store = env->store, .snapshot = fresh};
    }
    c->root = delta_snapshot_root(c->snapshot);
    *out = delta_snapshot_retain(c->snapshot);
    return SILT_OK;
}

void session_forget_snapshots(session *s) {
    for (size_t i = 0; i < SNAPSHOT_CACHE_SIZE; i++) {
        delta_snapshot_release(s->cache[i].snapshot);
        s->cache[i] = (cached_snapshot){0};
    }
}

const delta_snapshot *run_pinned(const run *r, const store *st, str root) {
    for (size_t i = 0; i < r->n_pinned; i++)
        if (r->pinned[i].store == st && str_eq(r->pinned[i].root, root)) return r->pinned[i].snapshot;
    return NULL;
}

/* All of a statement reads one version of a table, whoever commits while its references are resolved one after another. */
static silt_status pinned_snapshot(run *r, const delta_env *env, str root, delta_snapshot **out, silt_error *err) {
    const delta_snapshot *pinned = run_pinned(r, env->store, root);
    if (pinned) {
        *out = delta_snapshot_retain(pinned);
        return SILT_OK;
    }
    TRY(latest_snapshot(r->s, env, root, out, err));
    cached_snapshot pin = {.root = delta_snapshot_root(*out), .store = env->store, .snapshot = *out}; /* lives as long as the statement, see open_snapshot */
    if (ARENA_PUSH(r->a, r->pinned, r->n_pinned, r->pinned_capacity, pin)) return SILT_OK;
    delta_snapshot_release(*out);
    return error_no_memory(err);
}

/*
 * Spark 4.3 refuses a version older than delta.deletedFileRetentionDuration even when its files are all there; Silt reads it (docs/decisions/005) unless Spark's own key
 * asks for the refusal. The newest version is never refused.
 */
static silt_status check_retention(session *s, const delta_env *env, str root, const delta_snapshot *snapshot, silt_error *err) {
    if (!session_flag(s, "spark.databricks.delta.vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration", false)) return SILT_OK;
    int64_t keep_ms = 7LL * 86400000, earliest, latest;
    str retention = delta_snapshot_property(snapshot, "delta.deletedFileRetentionDuration");
    if (retention.ptr && !time_parse_interval_ms(retention, &keep_ms)) return SILT_OK;
    if (delta_snapshot_commit_time_ms(snapshot) >= time_now_ms() - keep_ms) return SILT_OK;
    TRY(delta_version_range(env, root, &earliest, &latest, err));
    int64_t version = delta_snapshot_version(snapshot);
    return version == latest ? SILT_OK : err_DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_DELETED_FILE_RETENTION_DURATION(err, version);
}

/* The one that is kept, where that is of this version and the newest still. */
static silt_status snapshot_of_version(session *s, const delta_env *env, str root, int64_t version, delta_snapshot **out, silt_error *err) {
    const cached_snapshot *c = find_cached(s, env->store, root);
    if (c && delta_snapshot_version(c->snapshot) == version) {
        TRY(latest_snapshot(s, env, root, out, err));
        if (delta_snapshot_version(*out) == version) return SILT_OK;
        delta_snapshot_release(*out);
    }
    return delta_snapshot_load(env, root, version, out, err);
}

static silt_status load_at(run *r, const delta_env *env, str root, const travel_spec *travel, delta_snapshot **out, silt_error *err) {
    if (travel->version && travel->timestamp) return err_DELTA_ONEOF_IN_TIMETRAVEL(err);
    int64_t version = DELTA_LATEST;
    if (travel->version) {
        TRY(fold_version(r, travel, &version, err));
    } else if (travel->timestamp) {
        int64_t ms;
        TRY(fold_timestamp_ms(r, travel->timestamp, &ms, err));
        TRY(delta_version_at(env, root, ms, &version, err));
    } else {
        return pinned_snapshot(r, env, root, out, err);
    }
    TRY(snapshot_of_version(r->s, env, root, version, out, err));
    silt_status status = check_retention(r->s, env, root, *out, err);
    if (status != SILT_OK) delta_snapshot_release(*out);
    return status;
}

static void release_snapshot(void *s) { delta_snapshot_release(s); }

silt_status open_snapshot(run *r, const resolved_table *t, const travel_spec *travel, delta_snapshot **out, silt_error *err) {
    delta_env *env;
    str root = t->root;
    travel_spec at = travel ? *travel : (travel_spec){0};
    TRY(session_env(r->s, t->store, &env, err));
    travel_spec by_path = {0};
    TRY(split_at_form(r, env, t, &root, &by_path, err));
    if (by_path.version || by_path.timestamp) {
        if (at.version || at.timestamp) return err_DELTA_UNSUPPORTED_TIME_TRAVEL_MULTIPLE_FORMATS(err, t->display);
        at = by_path;
    }
    delta_snapshot *snapshot;
    TRY(load_at(r, env, root, &at, &snapshot, err));
    if (!arena_defer(r->a, release_snapshot, snapshot)) {
        delta_snapshot_release(snapshot);
        return error_no_memory(err);
    }
    *out = snapshot;
    return SILT_OK;
}

/* A path where nothing is at all: PATH_NOT_FOUND, as Spark says; where something is, the caller's error stands. */
static silt_status check_path_exists(run *r, const resolved_table *t, silt_error *err) {
    store_entry entry;
    bool absent = str_rfind_char(t->root, '@') == SIZE_MAX && store_stat(t->store, t->root, r->a, &entry, NULL) == SILT_NOT_FOUND;
    return absent ? err_PATH_NOT_FOUND(err, t->location) : SILT_OK;
}

silt_status open_rows(run *r, const resolved_table *t, const travel_spec *travel, delta_snapshot **out, silt_error *err) {
    silt_status opened = open_snapshot(r, t, travel, out, err);
    if (opened == SILT_NOT_FOUND && !t->in_catalog) TRY(check_path_exists(r, t, err));
    return opened;
}

silt_status need_delta(const resolved_table *t, const char *statement_name, silt_error *err) {
    if (str_eqz(t->format, "delta")) return SILT_OK;
    if (str_eqz(t->format, "view")) return err_EXPECT_TABLE_NOT_VIEW(err, statement_name, t->display);
    return t->in_catalog ? err_DELTA_ONLY_OPERATION(err, statement_name) : err_DELTA_TABLE_ONLY_OPERATION(err, t->display);
}

silt_status open_delta(run *r, const relation *rel, const char *statement_name, resolved_table *t, delta_snapshot **out, silt_error *err) {
    silt_error cause = {.status = SILT_OK};
    TRY(resolve_table(r, rel, false, t, err));
    TRY(need_delta(t, statement_name, err));
    silt_status status = open_snapshot(r, t, NULL, out, &cause);
    bool is_absent = status == SILT_NOT_FOUND && !t->in_catalog && strcmp(cause.condition, "DELTA_TABLE_NOT_FOUND") == 0;
    if (is_absent) return t->in_quotes ? err_DELTA_TABLE_ONLY_OPERATION(err, t->location) : err_DELTA_MISSING_DELTA_TABLE(err, t->location);
    if (status != SILT_OK && err) *err = cause;
    return status;
}

/* ---- the binder's resolver ---- */

static void release_source(void *source) {
    table_source *t = source;
    t->ops->release(t);
}

static bool is_being_defined(const run *r, const relation *rel, const resolved_table *view) {
    if (str_is_null(r->defining_name)) return false;
    if (!view->in_catalog) return str_is_null(r->defining_database) && str_eq_fold(r->defining_name, rel->name.parts[0]);
    return !str_is_null(r->defining_database) && str_eq_fold(r->defining_database, view->entry.database) && str_eq_fold(r->defining_name, view->entry.name);
}

static silt_status resolve(table_resolver *self, const relation *rel, arena *a, table_source **out_source, str *out_view, silt_error *err) {
    run *r = self->ctx;
    resolved_table t;
    *out_source = NULL;
    *out_view = STR_NULL;
    TRY(resolve_table(r, rel, false, &t, err));
    if (str_eqz(t.format, "view")) {
        if (is_being_defined(r, rel, &t)) return err_RECURSIVE_VIEW(err, t.display);
        *out_view = t.entry.view_text;
        return SILT_OK;
    }
    table_source *source;
    if (str_eqz(t.format, "delta") && relation_reads_changes(rel)) return resolve_change_options(r, &t, rel, out_view, err);
    if (str_eqz(t.format, "delta")) {
        delta_snapshot *snapshot;
        TRY(open_rows(r, &t, &rel->travel, &snapshot, err));
        TRY(delta_table_source(snapshot, &source, err));
    } else {
        if (rel->travel.version || rel->travel.timestamp) return err_UNSUPPORTED_FEATURE(err, "time travel of tables other than Delta's");
        TRY(session_need_engine(r->s, err));
        TRY(engine_file_source(r->s->engine, t.format, &t.location, 1, rel->option_keys, rel->option_values, rel->n_options, NULL, &source, err));
    }
    if (!arena_defer(a, release_source, source)) {
        release_source(source);
        return error_no_memory(err);
    }
    *out_source = source;
    return SILT_OK;
}

silt_status run_bind(run *r, silt_error *err) {
    session *s = r->s;
    TRY(session_need_engine(s, err));
    r->resolver = (table_resolver){.ctx = r, .resolve = resolve, .resolve_function = resolve_changes_function};
    r->bind.resolver = &r->resolver;
    r->bind.time_zone = session_get(s, STR("spark.sql.session.timeZone"));
    r->bind.ansi = session_flag(s, "spark.sql.ansi.enabled", true);
    r->bind.case_sensitive = session_flag(s, "spark.sql.caseSensitive", false);
    r->bind.now_us = time_now_us();
    r->bind.current_database = s->database;
    r->bind.current_catalog = STR("spark_catalog");
    r->bind.current_user = str_of(getenv("USER") ? getenv("USER") : "root");
    r->bind.fold = engine_fold;
    r->bind.fold_ctx = s->engine;
    return SILT_OK;
}

silt_status run_bind_rows(run *r, silt_error *err) {
    TRY(run_bind(r, err));
    engine_open_ahead(r->s->engine);
    return SILT_OK;
}

static void take_note(void *ctx, const char *text) { run_note(ctx, text); }

static str ops_setting(void *ctx, const char *key) { return session_get(ctx, str_of(key)); }

/* Told with the first statement that may commit to such a store. */
static void note_guard(run *r, store *st) {
    buf text;
    if (r->s->unguarded == st) return;
    buf_init(&text, 1024);
    buf_append_z(&text, "warning: commits to this store are kept apart by ");
    size_t head = text.len;
    store_guard(st, &text);
    str guard = str_slice(buf_str(&text), head, text.len);
    if (str_starts_with(guard, STR("unsafe: "))) {
        memmove(text.ptr + head, text.ptr + head + 8, text.len - head - 8);
        text.len -= 8;
        const char *z = buf_cstr(&text);
        if (z) run_note(r, z);
        r->s->unguarded = st;
    }
    buf_dispose(&text);
}

ops_env run_ops_env(run *r, const delta_env *env) {
    note_guard(r, env->store);
    return (ops_env){.engine = r->s->engine, .delta = env, .bind = &r->bind, .setting = ops_setting, .setting_ctx = r->s, .progress = r->s->progress, .progress_ctx = r->s->progress_ctx,
                     .note = take_note, .note_ctx = r};
}

silt_status resolve_text(run *r, str table, resolved_table *out, silt_error *err) {
    relation rel = {.kind = REL_TABLE};
    parser p;
    *out = (resolved_table){0};
    bool is_name = parser_init(&p, table, r->a, NULL) == SILT_OK && parser_name(&p, &rel.name) == SILT_OK && parser_expect_end(&p) == SILT_OK;
    bool is_path = str_find_char(table, '/') != SIZE_MAX || str_starts_with(table, STR("."));
    if (is_name && (!is_path || rel.name.count == 2)) TRY(resolve_table(r, &rel, true, out, err));
    if (out->location.ptr || (out->name.ptr && !is_path)) return SILT_OK;
    *out = (resolved_table){.display = table, .location = table, .format = STR("delta")};
    return resolve_location(r->s, table, r->a, &out->store, &out->root, err);
}

silt_status session_open_table(session *s, str table, int64_t version, str timestamp, delta_snapshot **out, silt_error *err) {
    arena *a = arena_new();
    run *r = a ? ARENA_NEW(a, run) : NULL;
    silt_status status = SILT_OK;
    if (!r) {
        status = error_no_memory(err);
        goto out;
    }
    *r = (run){.s = s, .a = a};
    r->bind.source_text = table;
    TRY_OUT(run_bind(r, err));
    resolved_table t;
    TRY_OUT(resolve_text(r, table, &t, err));
    if (!t.location.ptr) { /* a name that the catalog does not know may be a folder here */
        t = (resolved_table){.display = table, .location = table, .format = STR("delta")};
        TRY_OUT(resolve_location(s, table, a, &t.store, &t.root, err));
    }
    if (!str_eqz(t.format, "delta")) {
        status = err_DELTA_TABLE_ONLY_OPERATION(err, table);
        goto out;
    }
    travel_spec travel = {0};
    if (version >= 0) travel.version = expr_literal_i64(a, version);
    if (timestamp.ptr) travel.timestamp = expr_literal_str(a, timestamp);
    delta_snapshot *snapshot;
    TRY_OUT(open_snapshot(r, &t, &travel, &snapshot, err));
    *out = delta_snapshot_retain(snapshot);
out:
    arena_free(a);
    return status;
}
